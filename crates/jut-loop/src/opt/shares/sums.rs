//! What a loop in shares adds up: terms, in rounds, and the additions behind each round.
//!
//! ```text
//! terms = alloc f64[..]                                      no more than a round has iterations
//! (s, c_2) = for up (round in 0 .. rounds) carry (s_1 = 0.0, c_1 = first) {
//!   start = ..; end = ..                                     the iterations of the round
//!   call f.share0(.., terms, terms_1, start, start, end) shares 16
//!   (s_3) = for up (block in 0 .. blocks) carry (s_2 = s_1) {
//!     (b) = lanes (i in begin .. last) carry (a) { .. a + terms[i - start] }
//!     s_4 = s_2 + b
//!     (s_4)
//!   }
//!   (c_4) = for up (i in start .. end) carry (c_3 = c_1) { .. c_3 + terms_1[i - start] }
//!   (s_3, c_4)
//! }
//! ```
//!
//! A loop of any length takes the memory of a round. Sums by lanes go on from one block to the next one as the loop of them all
//! does: a block of a loop of its own begins at 0.0, as the loop did.

use jut_ir::Literal;
use jut_ir::prim::{self, Prim};

use super::find::{CellSum, Found};
use crate::analysis::Sum;
use crate::form::{
    Arena, Atom, BLOCK, Block, Cell, For, Kind, Lanes, LoopFuncId, Order, Site, Stmt, Value,
};
use crate::values::{Values, trips};

/// Iterations of a round: 2 to this power, whole blocks.
const ROUND: u32 = 16;

const _: () = assert!((1 << ROUND) % BLOCK == 0 && BLOCK.count_ones() == 1);

fn int(k: i64) -> Atom {
    Atom::Lit(Literal::I64(k))
}

/// A loop that adds up, whose iterations have become a function.
pub(super) struct Rounds<'r, 'v> {
    pub values: &'r mut Values<'v>,
    /// The function, what it is given before the buffers of terms, and the shortest range that is cut.
    pub callee: LoopFuncId,
    pub given: Vec<Atom>,
    pub least: u32,
    /// Where an error says that memory has run out.
    pub site: Site,
    pub found: &'r Found,
}

impl Rounds<'_, '_> {
    fn integer(&mut self, hint: &str, prim: Prim, args: [Atom; 2], out: &mut Vec<Stmt>) -> Atom {
        self.values.prim(hint, Kind::I64, prim, &args, out)
    }

    /// Writes everything, in the place of the loop. Cells are there for certain only if the loop runs.
    pub fn write(&mut self, stmt: &Stmt, out: &mut Vec<Stmt>) {
        let Some(counted) = stmt.counted() else { return };
        let (low, high) = (counted.low, counted.high);
        if self.found.cells.is_empty() {
            return self.rounds(stmt, [low, high], stmt.bound().to_vec(), out);
        }
        let inner: Vec<Value> = stmt.bound().iter().map(|sum| self.values.like(*sum)).collect();
        let mut then = Block::default();
        self.rounds(stmt, [low, high], inner.clone(), &mut then.stmts);
        then.results = inner.into_iter().map(Atom::Value).collect();
        let sums = self.found.sums.iter();
        let untouched = sums.map(|sum| initial(stmt, sum)).collect();
        let other = Block { stmts: Vec::new(), results: untouched };
        let cond = self.values.prim("runs", Kind::BOOL, prim::ILT, &[low, high], out);
        out.push(Stmt::If { dst: stmt.bound().to_vec(), cond, then, other });
    }

    /// The rounds of a loop; `dst` is what its sums are called behind it.
    fn rounds(
        &mut self,
        stmt: &Stmt,
        [low, high]: [Atom; 2],
        mut dst: Vec<Value>,
        out: &mut Vec<Stmt>,
    ) {
        let top = self.values.fresh("top", Kind::I64);
        out.push(Stmt::Mark { dst: top, arena: Arena::Temp });
        let trips = trips([low, high], &mut |hint, kind, prim, args| {
            self.values.prim(hint, kind, prim, args, out)
        });
        let most = int(1 << ROUND);
        let len = self.integer("len", prim::IMIN, [trips, most], out);
        let mut terms = Vec::new();
        for _ in self.found.sums.iter().chain(self.found.cells.iter().map(|cell| &cell.sum)) {
            let dst = self.values.fresh("terms", Kind::Buffer(Cell::F64));
            let (cell, arena) = (Cell::F64, Arena::Temp);
            out.push(Stmt::Alloc { dst, cell, len, arena, site: self.site });
            terms.push(dst);
        }
        let less = self.integer("less", prim::ISUB, [trips, int(1)], out);
        let rounds = self.integer("rounds", prim::SHR, [less, int(ROUND.into())], out);
        let rounds = self.integer("rounds", prim::IADD, [rounds, int(1)], out);
        let carry = self.begin(stmt, out);

        let round = self.values.fresh("round", Kind::I64);
        let mut body = Block::default();
        let begin =
            self.integer("begin", prim::SHL, [round.into(), int(ROUND.into())], &mut body.stmts);
        let start = self.integer("start", prim::IADD, [low, begin], &mut body.stmts);
        let left = self.integer("left", prim::ISUB, [trips, begin], &mut body.stmts);
        let taken = self.integer("taken", prim::IMIN, [left, most], &mut body.stmts);
        let end = self.integer("end", prim::IADD, [start, taken], &mut body.stmts);
        let mut args = self.given.clone();
        args.extend(terms.iter().map(|terms| Atom::Value(*terms)));
        args.extend([start, start, end]);
        let shares = Some(self.least);
        body.stmts.push(Stmt::Call { dst: Vec::new(), func: self.callee, args, shares });
        let before: Vec<Atom> = carry.iter().map(|(value, _)| Atom::Value(*value)).collect();
        let (of_loop, of_cells) = terms.split_at(self.found.sums.len());
        let (loop_before, cells_before) = before.split_at(of_loop.len());
        let range = [start, end];
        body.results = match stmt {
            _ if of_loop.is_empty() => Vec::new(),
            Stmt::Lanes(l) => {
                self.in_lanes(l, of_loop, loop_before, (range, taken), &mut body.stmts)
            }
            _ => {
                let sums: Vec<&Sum> = self.found.sums.iter().collect();
                self.in_order(stmt, &sums, of_loop, loop_before, range, &mut body.stmts)
            }
        };
        let cells: Vec<&Sum> = self.found.cells.iter().map(|cell| &cell.sum).collect();
        if !cells.is_empty() {
            let sums = self.in_order(stmt, &cells, of_cells, cells_before, range, &mut body.stmts);
            body.results.extend(sums);
        }

        let sums = self.found.cells.iter().map(|cell| self.values.like(cell.sum.next));
        let of_cells: Vec<Value> = sums.collect();
        dst.extend(&of_cells);
        let (order, low, high) = (order(stmt), int(0), rounds);
        out.push(Stmt::from(For {
            dst,
            order,
            vector: None,
            index: round,
            low,
            high,
            carry,
            body,
        }));
        for (CellSum { buffer, index, .. }, sum) in self.found.cells.iter().zip(of_cells) {
            out.push(Stmt::Store { buffer: *buffer, index: *index, value: sum.into() });
        }
        out.push(Stmt::Release { mark: top, arena: Arena::Temp });
    }

    /// What all sums are before the first round, and what they are called in it.
    fn begin(&mut self, stmt: &Stmt, out: &mut Vec<Stmt>) -> Vec<(Value, Atom)> {
        let mut carry = Vec::new();
        for sum in &self.found.sums {
            carry.push((self.values.like(sum.carry), initial(stmt, sum)));
        }
        for cell in &self.found.cells {
            let first = self.values.fresh("first", Kind::F64);
            out.push(Stmt::Load { dst: first, buffer: cell.buffer, index: cell.index });
            carry.push((self.values.like(cell.sum.carry), first.into()));
        }
        carry
    }

    /// A body that adds the terms of an iteration, each to what is carried for it.
    fn additions(&mut self, index: Value, start: Atom, sums: &[&Sum], terms: &[Value]) -> Block {
        let mut body = Block::default();
        let at = self.integer("number", prim::ISUB, [index.into(), start], &mut body.stmts);
        for (sum, terms) in sums.iter().zip(terms) {
            let term = self.values.fresh("term", Kind::F64);
            body.stmts.push(Stmt::Load { dst: term, buffer: *terms, index: at });
            body.stmts.push(sum.addition(term.into()));
            body.results.push(sum.next.into());
        }
        body
    }

    /// Adds the terms of a round one after the other; gives the sums.
    fn in_order(
        &mut self,
        stmt: &Stmt,
        sums: &[&Sum],
        terms: &[Value],
        before: &[Atom],
        [low, high]: [Atom; 2],
        out: &mut Vec<Stmt>,
    ) -> Vec<Atom> {
        let index = self.values.fresh("i", Kind::I64);
        let body = self.additions(index, low, sums, terms);
        let carry = sums.iter().zip(before).map(|(sum, before)| (sum.carry, *before)).collect();
        let dst: Vec<Value> = sums.iter().map(|sum| self.values.like(sum.next)).collect();
        let results = dst.iter().map(|sum| Atom::Value(*sum)).collect();
        let order = order(stmt);
        out.push(Stmt::from(For { dst, order, vector: None, index, low, high, carry, body }));
        results
    }

    /// Adds the terms of a round in the blocks and lanes of the whole loop; gives the sums.
    fn in_lanes(
        &mut self,
        l: &Lanes,
        terms: &[Value],
        before: &[Atom],
        ([start, end], taken): ([Atom; 2], Atom),
        out: &mut Vec<Stmt>,
    ) -> Vec<Atom> {
        let shift = int(BLOCK.trailing_zeros().into());
        let less = self.integer("less", prim::ISUB, [taken, int(1)], out);
        let blocks = self.integer("blocks", prim::SHR, [less, shift], out);
        let blocks = self.integer("blocks", prim::IADD, [blocks, int(1)], out);
        let number = self.values.fresh("block", Kind::I64);
        let mut body = Block::default();
        let offset = self.integer("offset", prim::SHL, [number.into(), shift], &mut body.stmts);
        let low = self.integer("low", prim::IADD, [start, offset], &mut body.stmts);
        let behind = self.integer("behind", prim::IADD, [low, int(BLOCK)], &mut body.stmts);
        let high = self.integer("high", prim::IMIN, [behind, end], &mut body.stmts);
        let sums: Vec<&Sum> = self.found.sums.iter().collect();
        let inner = self.additions(l.index, start, &sums, terms);
        let dst: Vec<Value> = sums.iter().map(|sum| self.values.like(sum.next)).collect();
        let of_block = dst.clone();
        let (index, carry) = (l.index, l.carry.clone());
        body.stmts.push(Stmt::from(Lanes {
            dst,
            vector: None,
            index,
            low,
            high,
            carry,
            body: inner,
        }));
        let mut carry = Vec::new();
        for ((sum, before), of_block) in sums.iter().zip(before).zip(of_block) {
            let value = self.values.like(sum.carry);
            let args = [value.into(), of_block.into()];
            let next = self.values.prim("s", Kind::F64, prim::ADD, &args, &mut body.stmts);
            body.results.push(next);
            carry.push((value, *before));
        }
        let dst: Vec<Value> = sums.iter().map(|sum| self.values.like(sum.next)).collect();
        let results = dst.iter().map(|sum| Atom::Value(*sum)).collect();
        let (order, low, high) = (Order::Up, int(0), blocks);
        out.push(Stmt::from(For {
            dst,
            order,
            vector: None,
            index: number,
            low,
            high,
            carry,
            body,
        }));
        results
    }
}

/// What a sum is before the loop.
fn initial(stmt: &Stmt, sum: &Sum) -> Atom {
    let carried = match stmt {
        Stmt::For(f) => f.carry.get(sum.number).map(|(_, initial)| *initial),
        _ => None,
    };
    carried.unwrap_or(Atom::Lit(Literal::F64(0.0)))
}

/// The order in which a loop that adds up one after the other does so.
fn order(stmt: &Stmt) -> Order {
    match stmt {
        Stmt::For(f) if f.order == Order::Down => Order::Down,
        _ => Order::Up,
    }
}

//! Loops whose iterations may run on several threads: each becomes a function of a range, that is called for shares of it.
//!
//! The loops that are looked at stand in no other loop, in functions that no loop calls, and do enough in an iteration: there
//! is a loop in it, or a kernel, or a call. Their iterations must not meet (see below). What they add up, in lanes or in order,
//! becomes an array of what is to be added, and a loop behind it adds: in the order in which it was added before, so not a
//! bit of any result changes, whatever the shares are.
//!
//! ```text
//! (s, t) = lanes (i in 0 .. n) carry (a) {        loop def f.share0(x: in f64[], terms: out f64[], from: i64, to: i64) = {
//!   ..                                              for par (i in from .. to) {
//!   b = a + c                                         ..
//!   (b)                                               terms[i] = c
//! }                                                 }
//!                                                 }
//!                                                 top = mark
//!                                                 terms = alloc f64[n]
//!                                                 call f.share0(x, terms, 0, n) shares 16
//!                                                 (s) = lanes (i_1 in 0 .. n) carry (a) {
//!                                                   c_1 = terms[i_1]
//!                                                   b = a + c_1
//!                                                   (b)
//!                                                 }
//!                                                 release top
//! ```
//!
//! **When iterations do not meet.** Each buffer of outside that the loop writes to is
//! - one of which every iteration touches [its own row](OwnRows) only, or
//! - one of which the loop only adds to certain cells, once in each iteration; these are sums in order, too.
//!
//! and no other buffer that the loop touches may be the same memory. Memory of its own an iteration takes from the arena of the
//! thread that it runs on; what it takes there it gives back. A loop that leaves anything on the tape's arena, prints, or
//! calls a function that calls itself, stays as it is.
//!
//! **Errors.** That of the earliest share is the error of the call, and in a share iterations run in their order: so it is the
//! error of the loop.
//!
//! *Requires*: a well-formed program, on its way to a backend that can run shares ([`crate::target`]). *Ensures*: the same
//! results and errors, bit for bit. *Cost*: linear; at run time a number stored and loaded for each term.

mod body;
mod find;

use cranelift_entity::{EntityRef, SecondaryMap};
use jut_ir::Literal;
use jut_ir::prim;

use crate::analysis::{OwnRows, Roots, Sum};
use crate::form::{
    Arena, Atom, Block, Cell, For, Kind, LoopFuncId, LoopFunction, LoopProgram, Order, Site, Stmt,
    Value,
};
use crate::insert::{self, Moving};
use crate::split::memory_site;
use crate::values::Values;
use find::{CellSum, Found};

/// Runs the pass; ranges that are shorter than `least` are never cut.
pub(super) fn run(program: &mut LoopProgram, least: u32) {
    let outside = outside_of_loops(program);
    if !program.funcs.iter().any(|(id, func)| outside[id] && func.body.any(&mut Stmt::is_loop)) {
        return;
    }
    let site = memory_site(program);
    // By the new places.
    let mut anywhere: SecondaryMap<LoopFuncId, bool> = SecondaryMap::new();
    insert::before(program, &mut |Moving { id, base, is_recursive, func }| {
        let runs = !is_recursive && find::runs_anywhere(func, &anywhere);
        let mut made = Vec::new();
        if !is_recursive && outside[id] && func.body.any(&mut Stmt::is_loop) {
            let (roots, rows) = (Roots::of(func), OwnRows::of(func));
            let mut body = std::mem::take(&mut func.body);
            let mut shares = Shares {
                func,
                roots,
                rows,
                anywhere: &anywhere,
                base,
                made: Vec::new(),
                site,
                least,
            };
            shares.block(&mut body);
            made = shares.made;
            func.body = body;
        }
        anywhere[LoopFuncId::new(base + made.len())] = runs;
        made
    });
}

/// The functions that some call hands over with a range.
pub fn shared(program: &LoopProgram) -> SecondaryMap<LoopFuncId, bool> {
    let mut shared = SecondaryMap::new();
    for function in program.funcs.values() {
        function.body.for_each(&mut |stmt| {
            if let Stmt::Call { func, shares: Some(_), .. } = stmt {
                shared[*func] = true;
            }
        });
    }
    shared
}

/// Functions of which no call stands in a loop, nor is made by one that a loop calls.
fn outside_of_loops(program: &LoopProgram) -> SecondaryMap<LoopFuncId, bool> {
    let mut outside = SecondaryMap::with_default(true);
    for (id, func) in program.funcs.iter().rev() {
        let mut in_loops = !outside[id];
        calls(&func.body, &mut in_loops, &mut |callee, in_loop| {
            if in_loop {
                outside[callee] = false;
            }
        });
    }
    outside
}

fn calls(block: &Block, in_loop: &mut bool, visit: &mut impl FnMut(LoopFuncId, bool)) {
    for stmt in &block.stmts {
        if let Stmt::Call { func, .. } = stmt {
            visit(*func, *in_loop);
        }
        let mut inside = *in_loop || stmt.is_loop();
        stmt.blocks().into_iter().for_each(|inner| calls(inner, &mut inside, visit));
    }
}

/// A function whose loops become functions.
struct Shares<'a> {
    func: &'a mut LoopFunction,
    roots: Roots,
    rows: OwnRows,
    /// Functions that may run on any thread.
    anywhere: &'a SecondaryMap<LoopFuncId, bool>,
    /// The number of the first one that is made.
    base: usize,
    made: Vec<LoopFunction>,
    /// Where an error says that memory has run out.
    site: Site,
    least: u32,
}

impl Shares<'_> {
    /// The loops of a block that no loop is round.
    fn block(&mut self, block: &mut Block) {
        let mut out = Vec::with_capacity(block.stmts.len());
        for mut stmt in std::mem::take(&mut block.stmts) {
            if stmt.is_loop() {
                match self.found(&stmt) {
                    Some(found) => self.share(stmt, found, &mut out),
                    None => out.push(stmt),
                }
                continue;
            }
            stmt.blocks_mut().into_iter().for_each(|inner| self.block(inner));
            out.push(stmt);
        }
        block.stmts = out;
    }

    /// Writes the call that a loop becomes, with the sums behind it, and the function.
    fn share(&mut self, mut stmt: Stmt, found: Found, out: &mut Vec<Stmt>) {
        let Some(counted) = stmt.counted() else { return out.push(stmt) };
        let (index, low, high) = (counted.index, counted.low, counted.high);
        let name = format!("{}.share{}", self.func.name, self.made.len());
        let (function, given) = body::function(self, name, &stmt, &found);
        let callee = LoopFuncId::new(self.base + self.made.len());
        self.made.push(function);

        let mut values = Values::new(&mut self.func.values);
        let sums = found.sums.len() + found.cells.len();
        let top = (sums > 0).then(|| values.fresh("top", Kind::I64));
        let mut terms = Vec::with_capacity(sums);
        if let Some(dst) = top {
            out.push(Stmt::Mark { dst, arena: Arena::Temp });
            let count = match low {
                Atom::Lit(Literal::I64(0)) => high,
                _ => values.prim("count", Kind::I64, prim::ISUB, &[high, low], out),
            };
            for _ in 0..sums {
                let dst = values.fresh("terms", Kind::Buffer(Cell::F64));
                let (cell, arena) = (Cell::F64, Arena::Temp);
                out.push(Stmt::Alloc { dst, cell, len: count, arena, site: self.site });
                terms.push(dst);
            }
        }
        let mut args: Vec<Atom> = given.into_iter().map(Atom::Value).collect();
        args.extend(terms.iter().map(|terms| Atom::Value(*terms)));
        args.extend([low, high]);
        out.push(Stmt::Call { dst: Vec::new(), func: callee, args, shares: Some(self.least) });

        let (of_loop, of_cells) = terms.split_at(found.sums.len());
        let adding = Adding { index, low, high };
        if !of_loop.is_empty() {
            let body = adding.body(&mut values, found.sums.iter().zip(of_loop), index);
            match &mut stmt {
                Stmt::For(f) => f.body = body,
                Stmt::Lanes(l) => l.body = body,
                _ => {}
            }
        }
        let order = match &stmt {
            Stmt::For(f) => f.order,
            _ => Order::Up,
        };
        if !of_loop.is_empty() {
            out.push(stmt);
        }
        adding.cells(&mut values, order, &found.cells, of_cells, out);
        if let Some(mark) = top {
            out.push(Stmt::Release { mark, arena: Arena::Temp });
        }
    }
}

/// The loops that add up terms, over the range of the loop that computed them.
struct Adding {
    index: Value,
    low: Atom,
    high: Atom,
}

impl Adding {
    /// A body that adds the terms of an iteration, each to what is carried for it.
    fn body<'s>(
        &self,
        values: &mut Values,
        sums: impl Iterator<Item = (&'s Sum, &'s Value)>,
        index: Value,
    ) -> Block {
        let mut body = Block::default();
        let at = term_number(values, index, self.low, &mut body.stmts);
        for (sum, terms) in sums {
            let term = values.fresh("term", Kind::F64);
            body.stmts.push(Stmt::Load { dst: term, buffer: *terms, index: at });
            body.stmts.push(sum.addition(term.into()));
            body.results.push(sum.next.into());
        }
        body
    }

    /// Adds terms to cells, one iteration's after the other's.
    fn cells(
        &self,
        values: &mut Values,
        order: Order,
        cells: &[CellSum],
        terms: &[Value],
        out: &mut Vec<Stmt>,
    ) {
        if cells.is_empty() {
            return;
        }
        let mut carry = Vec::with_capacity(cells.len());
        for cell in cells {
            let first = values.fresh("first", Kind::F64);
            out.push(Stmt::Load { dst: first, buffer: cell.buffer, index: cell.index });
            carry.push((cell.sum.carry, first.into()));
        }
        let index = values.like(self.index);
        let body = self.body(values, cells.iter().map(|cell| &cell.sum).zip(terms), index);
        let dst: Vec<Value> = cells.iter().map(|cell| values.like(cell.sum.next)).collect();
        for (cell, sum) in cells.iter().zip(&dst) {
            let value = (*sum).into();
            out.push(Stmt::Store { buffer: cell.buffer, index: cell.index, value });
        }
        let stores = out.split_off(out.len() - cells.len());
        let (low, high) = (self.low, self.high);
        let order = if order == Order::Par { Order::Up } else { order };
        out.push(Stmt::from(For { dst, order, vector: None, index, low, high, carry, body }));
        out.extend(stores);
    }
}

/// The number of an iteration's term, from 0.
fn term_number(values: &mut Values, index: Value, low: Atom, out: &mut Vec<Stmt>) -> Atom {
    match low {
        Atom::Lit(Literal::I64(0)) => index.into(),
        _ => values.prim("number", Kind::I64, prim::ISUB, &[index.into(), low], out),
    }
}

/// What a loop carries.
fn carries(stmt: &Stmt) -> Vec<Value> {
    match stmt {
        Stmt::For(f) => f.carry.iter().map(|(carry, _)| *carry).collect(),
        Stmt::Lanes(l) => l.carry.clone(),
        _ => Vec::new(),
    }
}

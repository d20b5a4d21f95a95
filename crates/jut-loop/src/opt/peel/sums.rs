//! Ends that a loop of sums by lanes leaves out.
//!
//! A coefficient of a stencil is due something of every cell but those at the ends of the grid:
//!
//! ```text
//! (s) = lanes (i in 0 .. n)          (s) = for up (block in 0 .. blocks) carry (s_3 = 0.0) {
//!     carry (s_1) {                    start = 1024 block
//!   end = i == 0 || i == n - 1         end = min(start + 1024, n)
//!   (s_2) = if end {                   first = max(start, 1)
//!     (s_1)                            last = min(end, n - 1)
//!   } else {                           (t) = lanes (i in first .. last) carry (s_1) {
//!     .. (s_1 + f(i))                    .. (s_1 + f(i))
//!   }                                  }
//!   (s_2)                              s_4 = s_3 + t
//! }                                    (s_4)
//!                                    }
//! ```
//!
//! The iterations at the ends give what they are given, so they are not missed, but for the lanes of those behind: without the first, each
//! belongs to the lane before its own. The tree that adds up lanes pairs each with the one that is half of them away, then with the one that
//! is half of these away, and so on, which are the same pairs when all have moved on by one. So the sum of a block has the bits that it had.
//! Blocks stay where they were, which is why there is a loop over them.
//!
//! Only in loops: a sum that stands alone may go by shares, on several threads.

use std::collections::HashSet;

use jut_ir::Literal;
use jut_ir::prim;

use super::{Copier, Peel};
use crate::form::{Atom, BLOCK, Block, For, Kind, Lanes, Order, Stmt, Value};

/// The first results of the loops of sums that stand in other loops.
pub(super) fn in_loops(body: &Block) -> HashSet<Value> {
    let mut found = HashSet::new();
    body.for_each(&mut |stmt| {
        if stmt.is_loop() {
            for inner in stmt.blocks() {
                inner.for_each(&mut |stmt| {
                    if let Stmt::Lanes(source) = stmt {
                        found.extend(source.dst.first());
                    }
                });
            }
        }
    });
    found
}

fn int(k: i64) -> Atom {
    Atom::Lit(Literal::I64(k))
}

impl Peel<'_> {
    /// Writes a loop of sums, without its ends if they add nothing and that helps.
    pub(super) fn sums(&mut self, source: Box<Lanes>, out: &mut Vec<Stmt>) {
        let Some(mut source) = self.terms_first(source, out) else { return };
        let inside = source.dst.first().is_some_and(|dst| self.in_loops.contains(dst));
        let find =
            |walk: &Self| walk.ends_of(source.index, [source.low, source.high], &source.body);
        let Some((from, to, range)) = inside.then(|| find(self)).flatten() else {
            out.push(Stmt::Lanes(source));
            return;
        };
        let mut stmts = Vec::new();
        let last = self.shift("last", source.high, -1, &mut stmts);
        let nothing_at = |walk: &mut Self, at: Atom| {
            let (mut found, state) = (Vec::new(), source.carry.iter().map(|v| (*v).into()));
            let state: Vec<Atom> = state.collect();
            let left =
                walk.copied(&source.body, source.index, at, &source.carry, &state, &mut found);
            let mut acts = |stmt: &Stmt| matches!(stmt, Stmt::Store { .. } | Stmt::Check { .. });
            left == state && !found.iter().any(|stmt| stmt.any(&mut acts))
        };
        let missed = [(from, source.low), (to, last)]
            .into_iter()
            .any(|(taken, at)| taken == 1 && !nothing_at(self, at));
        if missed {
            out.push(Stmt::Lanes(source));
            return;
        }
        self.changed = true;
        let results = source.dst.clone();
        let state = self.in_blocks(&source, (from, to, last), range, &mut stmts);
        let Some(cond) = self.far_from_wrapping(source.high, out) else {
            out.append(&mut stmts);
            let all = results.into_iter().zip(state);
            out.extend(all.map(|(dst, src)| Stmt::Copy { dst, src }));
            return;
        };
        source.dst = source.dst.iter().map(|v| self.values.like(*v)).collect();
        let whole = source.dst.iter().map(|v| Atom::Value(*v)).collect();
        let other = Block { stmts: vec![Stmt::Lanes(source)], results: whole };
        let then = Block { stmts, results: state };
        out.push(Stmt::If { dst: results, cond, then, other });
    }

    /// Writes the loop over blocks, without an iteration at the beginning or the end; gives its results.
    fn in_blocks(
        &mut self,
        source: &Lanes,
        (from, to, last): (i64, i64, Atom),
        range: super::Range,
        out: &mut Vec<Stmt>,
    ) -> Vec<Atom> {
        let Lanes { low, high, .. } = *source;
        let shift = int(i64::from(BLOCK.trailing_zeros()));
        let mut integer = |hint: &str, prim, args: [Atom; 2], out: &mut Vec<Stmt>| {
            self.values.prim(hint, Kind::I64, prim, &args, out)
        };
        let begin = integer("begin", prim::IADD, [low, int(from)], out);
        let trips = integer("trips", prim::ISUB, [high, low], out);
        let less = integer("less", prim::ISUB, [trips, int(1)], out);
        let blocks = integer("blocks", prim::SHR, [less, shift], out);
        let blocks = integer("blocks", prim::IADD, [blocks, int(1)], out);
        let mut stmts = Vec::new();
        let number = self.values.fresh("block", Kind::I64);
        let mut integer = |hint: &str, prim, args: [Atom; 2]| {
            self.values.prim(hint, Kind::I64, prim, &args, &mut stmts)
        };
        let offset = integer("offset", prim::SHL, [number.into(), shift]);
        let start = integer("start", prim::IADD, [low, offset]);
        let behind = integer("behind", prim::IADD, [start, int(BLOCK)]);
        let first = integer("first", prim::IMAX, [start, begin]);
        let end = integer("end", prim::IMIN, [behind, if to == 0 { high } else { last }]);
        let mut middle = Copier::new(self, Some(range));
        let index = middle.fresh(source.index);
        let carry: Vec<Value> = source.carry.iter().map(|v| middle.fresh(*v)).collect();
        let body = middle.block(&source.body);
        let fresh = |walk: &mut Self| -> Vec<Value> {
            source.dst.iter().map(|v| walk.values.like(*v)).collect()
        };
        let (sums, before, dst) = (fresh(self), fresh(self), fresh(self));
        let lanes =
            Lanes { dst: sums.clone(), vector: None, index, low: first, high: end, carry, body };
        stmts.push(Stmt::Lanes(Box::new(lanes)));
        let mut results = Vec::with_capacity(sums.len());
        for (before, sum) in before.iter().zip(sums) {
            let args = [(*before).into(), sum.into()];
            results.push(self.values.prim("sum", Kind::F64, prim::ADD, &args, &mut stmts));
        }
        let zero = Atom::Lit(Literal::F64(0.0));
        out.push(Stmt::from(For {
            dst: dst.clone(),
            order: Order::Up,
            vector: None,
            index: number,
            low: int(0),
            high: blocks,
            carry: before.into_iter().map(|v| (v, zero)).collect(),
            body: Block { stmts, results },
        }));
        dst.into_iter().map(Atom::Value).collect()
    }
}

//! Sums whose terms are computed first.
//!
//! What a loop of sums by lanes takes from its neighbours on a ring, or with the ends doubled, is a selection in every iteration, and its ends
//! cannot be taken out: each iteration has its lane. Those of a loop in any order can:
//!
//! ```text
//! (s) = lanes (i in 0 .. n)          for par (i in 0 .. n) {
//!     carry (s_1) {                    l = select(i == 0, n - 1, i - 1)
//!   l = select(i == 0, n - 1, i - 1)   t[i] = f(x[l], x[i])
//!   t = f(x[l], x[i])                }
//!   s_2 = s_1 + t                    (s) = lanes (i in 0 .. n) carry (s_1) {
//!   (s_2)                              s_2 = s_1 + t[i]
//! }                                    (s_2)
//!                                    }
//! ```
//!
//! A number is stored and loaded for each term; in turn the first loop has no selection but at its ends, and both are loops for vectors.
//!
//! *Requires*: a loop from 0 that stores nothing, whose integers are decided away from its ends, and whose sums are each the one
//! before plus a term; an array of as many elements as it has iterations. *Ensures*: the same sums; a check that fails is the same. *Cost*: linear; memory
//! for as many numbers, for each sum.

use jut_ir::Literal;
use jut_ir::prim;

use super::Peel;
use crate::form::{Arena, Atom, Block, Cell, For, Kind, Lanes, Order, Site, Stmt, Value};

/// As many terms have room anywhere.
const FEW: i64 = 1 << 16;

impl Peel<'_> {
    /// Whether there is an array of as many elements as a loop has iterations, or more: the terms take no more memory then.
    fn has_an_array(&self, source: &Lanes) -> bool {
        let own = Atom::Value(source.index);
        let mut loads = |stmt: &Stmt| matches!(stmt, Stmt::Load { index, .. } if *index == own);
        let few = match source.high {
            Atom::Lit(Literal::I64(n)) => n <= FEW,
            high => self.is_small(high),
        };
        few || source.body.stmts.iter().any(&mut loads)
    }

    /// The terms of the sums of such a loop, in their order.
    fn terms(&self, source: &Lanes) -> Option<Vec<Atom>> {
        let is_first = matches!(source.low, Atom::Lit(Literal::I64(0)));
        let mut stores = |stmt: &Stmt| matches!(stmt, Stmt::Store { .. });
        if !self.adds || !is_first || source.body.any(&mut stores) || !self.has_an_array(source) {
            return None;
        }
        let ends = self.ends_of(source.index, [source.low, source.high], &source.body)?;
        if !self.chooses(&source.body, &ends.2) {
            return None;
        }
        // Nothing else names a sum, as it was or as it is then.
        let is_named_once = |value: Atom| {
            let mut times = 0;
            source.body.atoms(&mut |a| times += usize::from(a == value));
            times == 1
        };
        let term = |(sum, result): (&Value, &Atom)| {
            source.body.stmts.iter().find_map(|stmt| match stmt {
                Stmt::Prim { dst, prim: prim::ADD, args } if *result == Atom::Value(*dst) => {
                    match args[..] {
                        [a, b] if a == Atom::Value(*sum) => Some(b),
                        _ => None,
                    }
                }
                _ => None,
            })
        };
        let results = &source.body.results;
        let terms = source.carry.iter().zip(results).map(term).collect::<Option<Vec<Atom>>>()?;
        let sums = source.carry.iter().map(|sum| Atom::Value(*sum));
        sums.chain(results.iter().copied()).all(is_named_once).then_some(terms)
    }

    /// Writes a loop of sums as a loop for its terms and one that adds them up; the loop itself if it is no such loop.
    pub(super) fn terms_first(
        &mut self,
        source: Box<Lanes>,
        out: &mut Vec<Stmt>,
    ) -> Option<Box<Lanes>> {
        let Some(terms) = self.terms(&source) else { return Some(source) };
        self.changed = true;
        let Lanes { index, low, high, mut body, .. } = (*source).clone();
        let is_sum = |stmt: &Stmt| match stmt {
            Stmt::Prim { dst, .. } => body.results.contains(&Atom::Value(*dst)),
            _ => false,
        };
        let sums: Vec<bool> = body.stmts.iter().map(is_sum).collect();
        let mut sums = sums.into_iter();
        body.stmts.retain(|_| sums.next() == Some(false));
        body.results.clear();

        let top = self.values.fresh("top", Kind::I64);
        out.push(Stmt::Mark { dst: top, arena: Arena::Temp });
        let args = [high, Atom::Lit(Literal::I64(0))];
        let len = self.values.prim("len", Kind::I64, prim::IMAX, &args, out);
        let at = self.values.like(index);
        let mut adding = Block { stmts: Vec::new(), results: Vec::new() };
        for (sum, term) in source.carry.iter().zip(terms) {
            let buffer = self.values.fresh("terms", Kind::Buffer(Cell::F64));
            let (cell, site) = (Cell::F64, Site::from_u32(0));
            out.push(Stmt::Alloc { dst: buffer, cell, len, arena: Arena::Temp, site });
            body.stmts.push(Stmt::Store { buffer, index: index.into(), value: term });
            let dst = self.values.fresh("term", Kind::F64);
            adding.stmts.push(Stmt::Load { dst, buffer, index: at.into() });
            let args = [(*sum).into(), dst.into()];
            let sum = self.values.prim("sum", Kind::F64, prim::ADD, &args, &mut adding.stmts);
            adding.results.push(sum);
        }
        let (order, carry) = (Order::Par, Vec::new());
        let terms = For { dst: Vec::new(), order, vector: None, index, low, high, carry, body };
        self.peel(Box::new(terms), out);
        out.push(Stmt::from(Lanes { index: at, body: adding, ..*source }));
        out.push(Stmt::Release { mark: top, arena: Arena::Temp });
        None
    }
}

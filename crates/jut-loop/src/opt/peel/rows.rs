//! Rows of a grid whose neighbours are known.
//!
//! A loop over the rows of a grid whose edges are doubled, or that is a ring, chooses the rows above and below in every iteration. In the middle of the
//! grid they are the one before and the one behind, and so they are other rows than the row itself, which is what the loop inside may be
//! taken apart for:
//!
//! ```text
//! for par (i in 0 .. n) {            for par (i in 0 .. n) {
//!   up = max(i - 1, 0)                 if 1 <= i {
//!   above = x[up m ..]                   above = x[(i - 1) m ..]
//!   for par (j in 0 .. m) { .. }         for par (j in 0 .. m) { .. }
//! }                                    } else {
//!                                        up = max(i - 1, 0)
//!                                        ..
//!                                      }
//!                                    }
//! ```
//!
//! *Requires*: a loop from 0 with a loop inside, before which integers are chosen. *Ensures*: the same statements run. *Cost*: linear; a body
//! is written twice. What stands at the edges stays as it is.

use std::collections::HashSet;

use jut_ir::Literal;
use jut_ir::prim;

use super::{Copier, Peel};
use crate::form::{Atom, Block, For, Kind, Lanes, Stmt, Value};

/// Statements of a body that is written twice.
const LARGEST: usize = 128;

/// Whether a statement is a loop over rows that it chooses.
pub(super) fn may_have_edges(stmt: &Stmt) -> bool {
    let has = |body: &Block| {
        body.stmts.iter().any(|stmt| stmt.may_choose().is_some())
            && body.stmts.iter().any(|stmt| stmt.any(&mut Stmt::is_loop))
    };
    stmt.is_loop() && stmt.blocks().into_iter().any(has)
}

impl Peel<'_> {
    /// Runs over a function; gives the indices of the loops that run at edges only.
    pub(super) fn rows(&mut self, body: &mut Block) -> HashSet<Value> {
        let mut edges = HashSet::new();
        body.rewrite(&mut |mut stmt, out| {
            self.learn(&stmt);
            match &mut stmt {
                Stmt::For(f) if !f.may_end_early() => {
                    let For { index, low, high, body, .. } = &mut **f;
                    self.row((*index, [*low, *high]), body, &mut edges, out);
                }
                Stmt::Lanes(l) => {
                    let Lanes { index, low, high, body, .. } = &mut **l;
                    self.row((*index, [*low, *high]), body, &mut edges, out);
                }
                _ => {}
            }
            out.push(stmt);
        });
        edges
    }

    /// Writes the body of a loop once more, for the iterations in which its neighbours are known.
    fn row(
        &mut self,
        (index, bounds): (Value, [Atom; 2]),
        body: &mut Block,
        edges: &mut HashSet<Value>,
        out: &mut Vec<Stmt>,
    ) {
        let mut asks_back = |stmt: &Stmt| matches!(stmt, Stmt::Previous { .. });
        let may_be = body.size() <= LARGEST && body.any(&mut Stmt::is_loop);
        // What asks for the iteration before names what comes behind it.
        if !may_be || body.any(&mut asks_back) {
            return;
        }
        let Some((from, to, range)) = self.fewest_ends(index, bounds, body) else { return };
        if !self.chooses(body, &range) {
            return;
        }
        self.changed = true;
        let [_, high] = bounds;
        let mut asked = self.far_from_wrapping(high, out);
        let last = if to == 1 { self.shift("last", high, -1, out) } else { high };
        let mut inside = Vec::new();
        let first = Atom::Lit(Literal::I64(from));
        for (wanted, prim, args) in [
            (from == 1, prim::ILE, [first, index.into()]),
            (to == 1, prim::ILT, [index.into(), last]),
        ] {
            if wanted {
                let holds = self.values.prim("inside", Kind::BOOL, prim, &args, &mut inside);
                asked = Some(match asked {
                    Some(before) => {
                        let both = [before, holds];
                        self.values.prim("inside", Kind::BOOL, prim::AND, &both, &mut inside)
                    }
                    None => holds,
                });
            }
        }
        let Some(cond) = asked else { return };
        let mut copier = Copier::new(self, Some(range));
        let then = copier.block(body);
        let dst: Vec<Value> = body
            .results
            .iter()
            .map(|a| {
                let kind = self.values.kind_of(*a);
                self.values.fresh("next", kind)
            })
            .collect();
        let results = dst.iter().map(|v| (*v).into()).collect();
        let other = std::mem::replace(body, Block { stmts: inside, results });
        other.for_each(&mut |stmt| match stmt {
            Stmt::For(f) => drop(edges.insert(f.index)),
            Stmt::Lanes(l) => drop(edges.insert(l.index)),
            _ => {}
        });
        body.stmts.push(Stmt::If { dst, cond, then, other });
    }
}

//! Common subexpressions within E: unless everything is to be stored, nothing is computed twice.
//!
//! J writes each partial derivative where it is needed, so that `sin(u) * sin(u)` gives two
//! cosines. The second one becomes another name of the first, which is stored or recomputed once.
//! This concerns E alone: the residual recomputes what U decides, and nothing joins the halves
//! behind U's back, because that would turn recomputation into storage.
//!
//! An expression is known as long as the level that computes it is open, so a level sees what the
//! levels round it have computed. *Cost*: one table look-up per statement.

use super::{How, Planner};
use jut_ir::prim::Prim;
use jut_ir::*;

/// An operation whose value depends on nothing but its operands, region results replaced.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) enum Key {
    Prim(Prim, Vec<Atom>),
    Structured(Structured, Vec<Atom>, Vec<Size>),
    Proj(NVar, u32),
    Size(NVar, u32),
    Index(NVar, Vec<Step>),
}

impl Planner<'_, '_> {
    /// What a statement is found by, if it is an expression. (A check that it rests on remains.)
    pub(super) fn key(&self, stmt: &Stmt) -> Option<Key> {
        let same = &self.plan.same;
        Some(match &stmt.rhs {
            Rhs::Prim(prim, args) => Key::Prim(*prim, args.iter().map(|a| same.atom(*a)).collect()),
            Rhs::Structured(op, args, sizes) => {
                let args = args.iter().map(|a| same.atom(*a)).collect();
                Key::Structured(*op, args, sizes.clone())
            }
            Rhs::Proj(v, k) => Key::Proj(same.nvar(*v)?, *k),
            Rhs::Size(v, k) => Key::Size(same.nvar(*v)?, *k),
            Rhs::Index(v, path) => {
                // Whether an access is marked as proved does not change what it reads.
                let step = |step: &Step| match *step {
                    Step::Index { index, .. } => {
                        Step::Index { index: same.atom(index), proved: true }
                    }
                    Step::Slice { lo, len, .. } => {
                        Step::Slice { lo: same.atom(lo), len: same.atom(len), proved: true }
                    }
                    Step::Field(k) => Step::Field(k),
                };
                Key::Index(same.nvar(*v)?, path.iter().map(step).collect())
            }
            _ => return None,
        })
    }

    /// Whether an expression has been computed; then `v` becomes another name of its value.
    pub(super) fn is_computed(&mut self, key: &Key, v: NVar) -> bool {
        let Some(earlier) = self.computed.get(key).copied() else { return false };
        let transparent = |v: NVar| self.func.nvars[v].def.is_some();
        let same = self.plan.sites[v].how != How::Result
            && transparent(v) == transparent(earlier)
            && self.type_of(v) == self.type_of(earlier);
        if same {
            self.plan.same.values[v] = Some(Atom::Var(earlier));
        }
        same
    }
}

//! Sizes that no polynomial gives: `n / 2`, `min(n, m)`.
//!
//! **Written twice, they are one.** Two sizes are equal iff their normal forms are, and that of a quotient is its name. So
//! `n / 2` is computed once: what is written again, where the first one is still known, is a copy of it, and
//! copies are transparent.
//!
//! ```text
//! a = build (i < n / 2) e         t = n / 2
//! b = build (i < n / 2) f         a = scan par (i < t) { .. }
//!                                 t_1 = t
//!                                 b = scan par (i < t) { .. }
//! ```
//!
//! **Those of what a loop collects** must be known outside. `build (i < n, j < m / 2) e` collects arrays of `m / 2` elements, and that
//! number is computed in the loop over i, as whatever stands there. If nothing of it depends on the iteration, it moves out:
//!
//! ```text
//! y = scan par (i < n) {        t = m / 2
//!   t = m / 2                   y = scan par (i < n) {
//!   z = scan par (j < t) {        z = scan par (j < t) {
//!     ..                            ..
//!   }                             }
//!   z                             z
//! }                             }
//! ```
//!
//! If it can fail, it now fails before the loop, also before one that runs no time: there is no result without that size.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};

use jut_ir::entity::EntityRef;
use jut_ir::prim::Prim;
use jut_ir::{Atom, Function, NVar, Rhs, Scalar, Size, Stmt, Type};

/// An operation and the normal forms of its operands.
type Operation = (Prim, Vec<Size>);

/// Operations on integers that are no polynomials and whose results are known in the block being made.
#[derive(Default)]
pub(super) struct Opaque {
    results: HashMap<Operation, NVar>,
    /// Newest last.
    order: Vec<Operation>,
}

impl Opaque {
    /// The result of an operation, if it is known. `func`: what is being made.
    pub fn known(&self, prim: Prim, args: &[Atom], func: &Function) -> Option<NVar> {
        if !is_opaque(prim) {
            return None;
        }
        self.results.get(&(prim, forms(args, func))).copied()
    }

    /// Remembers what a statement computes.
    pub fn remember(&mut self, rhs: &Rhs, names: &[NVar], func: &Function) {
        if let (Rhs::Prim(prim, args), [v]) = (rhs, names)
            && is_opaque(*prim)
            && func.nvars[*v].def.is_none()
        {
            let operation = (*prim, forms(args, func));
            if let Entry::Vacant(entry) = self.results.entry(operation.clone()) {
                entry.insert(*v);
                self.order.push(operation);
            }
        }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.order.len()
    }

    /// Forgets all but so many, at the end of a block.
    pub fn keep(&mut self, count: usize) {
        for operation in self.order.drain(count..) {
            self.results.remove(&operation);
        }
    }
}

fn forms(args: &[Atom], func: &Function) -> Vec<Size> {
    args.iter().map(|a| func.size_of(*a)).collect()
}

/// Whether both operands and result are integers.
fn is_opaque(prim: Prim) -> bool {
    let row = prim.row();
    row.result == Scalar::I64 && row.params.iter().all(|param| *param == Scalar::I64)
}

/// Statements that stand before a loop, and what they bind.
#[derive(Default)]
pub(super) struct Outside {
    pub stmts: Vec<Stmt>,
    names: HashSet<NVar>,
}

impl Outside {
    /// Takes what computes the sizes in a type out of the body of a loop, if nothing of it depends on the iteration.
    /// `locals`: how many variables there were before the loop.
    pub fn take(&mut self, stmts: &mut Vec<Stmt>, ty: &Type, locals: usize) {
        for size in ty.size_names().into_iter().filter(|v| v.index() >= locals) {
            if let Some(moving) = self.invariant(stmts, size, locals) {
                let moves = |stmt: &mut Stmt| stmt.nl.iter().any(|v| moving.contains(v));
                self.stmts.extend(stmts.extract_if(.., moves));
                self.names.extend(moving);
            }
        }
    }

    /// The first size in a type that the body computes.
    pub fn missing(&self, ty: &Type, locals: usize) -> Option<NVar> {
        ty.size_names().into_iter().find(|v| v.index() >= locals && !self.names.contains(v))
    }

    /// What has to stand before a value is known, and itself, if that can stand outside.
    fn invariant(&self, stmts: &[Stmt], value: NVar, locals: usize) -> Option<HashSet<NVar>> {
        let mut moving = HashSet::new();
        let mut open = vec![value];
        while let Some(v) = open.pop() {
            if v.index() < locals || self.names.contains(&v) || !moving.insert(v) {
                continue;
            }
            // An index, an element and what a loop carries are bound by no statement.
            match &stmts.iter().find(|stmt| stmt.nl.contains(&v))?.rhs {
                Rhs::Atom(a) => open.extend(a.var()),
                Rhs::Prim(_, args) => open.extend(args.iter().filter_map(|a: &Atom| a.var())),
                Rhs::Size(array, _) => open.push(*array),
                _ => return None,
            }
        }
        Some(moving)
    }
}

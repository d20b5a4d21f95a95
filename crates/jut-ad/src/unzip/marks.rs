//! Marks of proved accesses in a residual.
//!
//! Checks stay in `f.nonlin`, and so do most arrays, whose dimensions tell that sizes are not
//! negative. An access of the residual that is no longer covered without them was covered where
//! it comes from; it is marked (`x[!i]`), and T copies the mark.
//!
//! *Cost*: one walk.

use jut_ir::cover::accesses::{each_statement, each_step};
use jut_ir::{Function, Step};

/// Marks every access of a function that the range rule does not cover.
pub(crate) fn prove_accesses(func: &mut Function) {
    each_statement(func, &mut |func, facts, stmt, _| {
        each_step(func, facts, &mut stmt.rhs, &mut |step, _, covered| {
            if let Step::Index { proved, .. } | Step::Slice { proved, .. } = step {
                *proved |= !covered;
            }
        });
    });
}

//! Which statements of a function [`super::replay`] makes functions of.
//!
//! A statement counts if the text says a word before it that fits (`@recompute` before what has a body or is called, a schedule
//! before a loop that carries something), and if it has a linear part (else there is nothing to store):
//!
//! ```text
//! def path(depth: i64, x: f64) -> f64 = {
//!   y = @segment(2) for (i < 5) carry (y = x) { sin(y) }          a function of its own
//!   if depth == 0 { y } else { @recompute path(depth - 1, y) }    another one, which calls `path` and is called by it
//! }
//! ```
//!
//! A loop with a schedule that calls the function that it stands in again stays: its tape is a part of that of the function.
//!
//! *Requires*: a checked function. *Cost*: linear in the text, times the nesting.

use crate::linearity;
use jut_ir::*;

/// What of a function is to be computed again, or has a schedule.
pub(super) struct Again<'a> {
    pub program: &'a Program,
    /// The function and those that call it and that it calls, if it calls itself.
    pub circle: &'a [FuncId],
}

impl Again<'_> {
    /// Whether a statement of both halves is.
    pub fn is(&self, func: &Function, stmt: &Stmt) -> bool {
        let linear = || {
            !stmt.lin.is_empty()
                || linearity::is_linear_leaf(self.program, func, stmt)
                || stmt.rhs.blocks().into_iter().any(|block| self.has_linear(func, block))
        };
        let wanted = match stmt.loc.tape {
            TapePolicy::Free | TapePolicy::Store => false,
            TapePolicy::Recompute => {
                matches!(&stmt.rhs, Rhs::Scan(_) | Rhs::Case(_) | Rhs::Call(_) | Rhs::Region(_))
            }
            tape => matches!(&stmt.rhs, Rhs::Scan(scan) if scan.has_schedule(tape)),
        };
        wanted && linear() && (stmt.loc.tape == TapePolicy::Recompute || !self.calls_back(stmt))
    }

    fn has_linear(&self, func: &Function, block: &Block) -> bool {
        block.stmts.iter().any(|stmt| {
            linearity::is_linear_leaf(self.program, func, stmt)
                || stmt.rhs.blocks().into_iter().any(|block| self.has_linear(func, block))
        })
    }

    /// Whether a statement calls a function of the circle: what it stores is a tape of the circle's own.
    pub fn calls_back(&self, stmt: &Stmt) -> bool {
        let called = matches!(&stmt.rhs, Rhs::Call(call) if self.circle.contains(&call.func));
        let inside = |block: &Block| block.stmts.iter().any(|stmt| self.calls_back(stmt));
        !self.circle.is_empty() && (called || stmt.rhs.blocks().into_iter().any(inside))
    }

    pub fn any(&self, func: &Function, block: &Block) -> bool {
        block.stmts.iter().any(|stmt| {
            self.is(func, stmt) || stmt.rhs.blocks().into_iter().any(|block| self.any(func, block))
        })
    }

    /// How many statements of a block and those in it are.
    pub fn count(&self, func: &Function, block: &Block) -> usize {
        let inner = |stmt: &Stmt| {
            stmt.rhs.blocks().into_iter().map(|block| self.count(func, block)).sum::<usize>()
        };
        block.stmts.iter().map(|stmt| usize::from(self.is(func, stmt)) + inner(stmt)).sum()
    }
}

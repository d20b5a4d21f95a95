//! What has been computed or read already.
//!
//! Lowering spells out the address of every access, so the same index arithmetic stands many times
//! in a body; and a reverse sweep reads and adds to the same cell several times. Two small memories
//! avoid doing that again:
//!
//! - **Expressions.** Integer arithmetic and addresses by operation and operands. What an outer block
//!   computed is known in inner blocks, not the other way round.
//! - **Cells.** The last value stored to or loaded from a cell, in a stretch of statements without
//!   loops, calls or joins. A store to one cell forgets all others of its kind but those that are
//!   certainly different: same buffer, same index up to another constant.
//!
//! Floats are not compared here: common subexpressions of the program itself are the optimiser's.
//! *Cost*: constant per statement.

use cranelift_codegen::ir;
use jut_ir::hash::HashMap;
use jut_ir::prim::Prim;
use jut_loop::form::Cell;

/// An integer as a machine value plus a constant.
pub(crate) type Index = (Option<ir::Value>, i64);

/// A computation that gives the same whenever it is done.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Expression {
    /// Integer arithmetic.
    Integer(Prim, Index, Index),
    /// Address of a cell of so many bytes.
    Address(ir::Value, i64, Index),
}

/// A cell of a buffer.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    pub cell: Cell,
    pub buffer: ir::Value,
    pub index: Index,
}

impl Place {
    fn is_apart_from(&self, other: &Place) -> bool {
        let ((base, offset), (other_base, other_offset)) = (self.index, other.index);
        self.cell != other.cell
            || (self.buffer == other.buffer && base == other_base && offset != other_offset)
    }
}

/// Cells that are remembered at once.
const CELLS: usize = 16;

/// What is known at the current statement.
#[derive(Default)]
pub(crate) struct Known {
    expressions: HashMap<Expression, ir::Value>,
    /// The expressions in the order in which they became known.
    order: Vec<Expression>,
    cells: Vec<(Place, ir::Value)>,
}

/// How much was known at the beginning of a block.
pub(crate) struct Scope(usize);

impl Known {
    /// Begins a branch inside the current block.
    pub(crate) fn enter(&self) -> Scope {
        Scope(self.order.len())
    }

    /// Begins the body of a loop: every earlier iteration may have written any cell.
    pub(crate) fn enter_loop(&mut self) -> Scope {
        self.cells.clear();
        self.enter()
    }

    /// Ends it: forgets what was computed there, and all cells.
    pub(crate) fn leave(&mut self, scope: Scope) {
        for expression in self.order.drain(scope.0..) {
            self.expressions.remove(&expression);
        }
        self.cells.clear();
    }

    pub(crate) fn expression(&self, expression: &Expression) -> Option<ir::Value> {
        self.expressions.get(expression).copied()
    }

    pub(crate) fn computed(&mut self, expression: Expression, value: ir::Value) {
        if self.expressions.insert(expression, value).is_none() {
            self.order.push(expression);
        }
    }

    pub(crate) fn cell(&self, place: &Place) -> Option<ir::Value> {
        self.cells.iter().find(|(known, _)| known == place).map(|(_, value)| *value)
    }

    pub(crate) fn loaded(&mut self, place: Place, value: ir::Value) {
        if self.cells.len() == CELLS {
            self.cells.remove(0);
        }
        self.cells.push((place, value));
    }

    pub(crate) fn stored(&mut self, place: Place, value: ir::Value) {
        self.cells.retain(|(known, _)| known.is_apart_from(&place));
        self.loaded(place, value);
    }

    /// Forgets all cells: something may have written them.
    pub(crate) fn forget_cells(&mut self) {
        self.cells.clear();
    }

    /// The cells that are known, to be known again in another branch.
    pub(crate) fn cells(&self) -> Vec<(Place, ir::Value)> {
        self.cells.clone()
    }

    pub(crate) fn set_cells(&mut self, cells: Vec<(Place, ir::Value)>) {
        self.cells = cells;
    }
}

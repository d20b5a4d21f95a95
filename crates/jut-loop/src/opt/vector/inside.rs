//! Loops in the body of a loop of which several iterations are taken at once: they run as often for all of them.
//!
//! *Requires*: a body that is being [surveyed](super::Survey). *Cost*: linear.

use super::{Memory, Survey, of_sums};
use crate::analysis::Class;
use crate::form::{Atom, Block, For, Kind, Lanes, Order, Stmt, Value};
use jut_ir::prim::Lowering;

/// Statements of a loop of sums by lanes in a body, at most: they are written several times.
const LONGEST_SUM: usize = 12;

/// The same of a loop that carries from one iteration to the next.
const LONGEST_IN_ORDER: usize = 96;

/// Lets stores stand behind everything else in the bodies of loops inside, where nothing is loaded that they may have stored: products of derivatives are
/// looked at before the first of them.
pub(super) fn stores_last(body: &mut Block, memory: &Memory) {
    for stmt in &mut body.stmts {
        let Stmt::For(f) = stmt else { continue };
        let mut stored: Vec<Value> = Vec::new();
        let mut overlaps = false;
        f.body.for_each(&mut |stmt| match stmt {
            Stmt::Store { buffer, .. } => stored.push(*buffer),
            Stmt::Load { buffer, .. } => {
                overlaps |= stored.iter().any(|other| memory.roots.may_overlap(*other, *buffer));
            }
            _ => {}
        });
        if !overlaps {
            let (stores, mut others): (Vec<Stmt>, Vec<Stmt>) = std::mem::take(&mut f.body.stmts)
                .into_iter()
                .partition(|stmt| matches!(stmt, Stmt::Store { .. }));
            others.extend(stores);
            f.body.stmts = others;
        }
    }
}

impl Survey<'_> {
    /// Whether the target can take a loop of sums by lanes in the body.
    pub(super) fn sums_inside(&mut self, l: &Lanes) -> bool {
        self.as_long_for_all(l.index, [l.low, l.high], &l.carry)
            && !l.body.any(&mut |stmt| matches!(stmt, Stmt::Store { .. }))
            && self.simple(&l.body)
            && l.body.size() <= LONGEST_SUM
            && self.along_neighbours(&l.body)
    }

    /// Whether the target can take a loop in the body that carries something in order.
    pub(super) fn steps_inside(&mut self, f: &For) -> bool {
        let stores = f.body.any(&mut |stmt| matches!(stmt, Stmt::Store { .. }));
        if stores {
            // What has been stored is not stored once more where a check fails later; and what goes along its own rows is a better vector by itself.
            let checks = f.body.any(&mut |stmt| matches!(stmt, Stmt::Check { .. }));
            if checks || of_sums(self.values, self.memory, self.target, f).is_some() {
                return false;
            }
            (self.stores_inside, self.loads_first) = (true, false);
        }
        let carry: Vec<Value> = f.carry.iter().map(|(carried, _)| *carried).collect();
        matches!(f.order, Order::Up | Order::Down)
            && !f.may_end_early()
            && self.as_long_for_all(f.index, [f.low, f.high], &carry)
            && self.simple(&f.body)
            && f.body.size() <= LONGEST_IN_ORDER
    }

    /// Whether a loop in the body carries floats, and its bounds are the same for all iterations around it.
    fn as_long_for_all(&mut self, index: Value, bounds: [Atom; 2], carry: &[Value]) -> bool {
        self.nested = true;
        self.target.nested
            && !carry.is_empty()
            && carry.iter().all(|carried| self.values[*carried].kind == Kind::F64)
            && bounds.iter().all(|bound| self.classes.class(*bound) == Class::Same)
            && self.classes.class(index) == Class::Same
    }

    /// Whether the body of a loop inside has nothing that is slow or may not be there: no call but of a function that takes a vector.
    fn simple(&mut self, body: &Block) -> bool {
        let not_simple = body.any(&mut |stmt| match stmt {
            Stmt::Load { buffer, index, .. } => self.classes.place(*buffer, *index) == Class::Wide,
            Stmt::Prim { prim, .. } => match prim.row().lowering {
                Lowering::Opcode(_) => false,
                Lowering::Runtime(symbol) => !(self.target.wide)(symbol),
            },
            Stmt::Copy { .. }
            | Stmt::Offset { .. }
            | Stmt::Check { .. }
            | Stmt::If { .. }
            | Stmt::Store { .. } => false,
            _ => true,
        });
        !not_simple && self.block(body, false).is_some()
    }

    /// Whether what a loop of sums by lanes loads is the same for the iterations around it, or side by side: of what is side by side
    /// for its own iterations these make a better vector.
    fn along_neighbours(&self, body: &Block) -> bool {
        let mut neighbours = false;
        let others = body.any(&mut |stmt| match stmt {
            Stmt::Load { buffer, index, .. } => match self.classes.place(*buffer, *index) {
                Class::Same => false,
                Class::Step(1) => {
                    neighbours = true;
                    false
                }
                _ => true,
            },
            _ => false,
        });
        neighbours && !others
    }
}

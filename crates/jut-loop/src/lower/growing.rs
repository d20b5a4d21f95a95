//! Stacked results of loops that may end early: their length is known at the end only.
//!
//! The loop carries its buffers, for how many rows they have room, and how many iterations there were. Where
//! there is no room for another row, the buffers move to ones of twice the size, on the tape arena. They do so
//! before the body begins, so what the body allocates can be given back at its end as in any loop.
//!
//! ```text
//! (go1, .., room1, y1, trips) = for while (i in 0 .. n) carry (go = c, .., room = 0, y = none, done = 0) {
//!   full = room <= i
//!   (room2, y2) = if full {
//!     more = max(room + room, 4); new = alloc tape f64[more]; copy new[room] = y; (more, new)
//!   } else { (room, y) }
//!   ..; y2[i] = a
//!   count = i + 1
//!   (go2, .., room2, y2, count)
//! }
//! ```
//!
//! So n rows cost O(n), in time and in memory (at most four times what they need, while the loop runs).

use jut_ir::{Span, prim};

use super::emit::int;
use super::loops::Stack;
use super::{Lowering, Res, Slot};
use crate::flatten::Level;
use crate::form::{self, Arena, Atom, Kind, Value};

/// For how many rows there is room at first.
const FIRST: i64 = 4;

/// What a loop that may end early does before and after its body.
pub(super) struct Growing {
    /// Makes room for another row.
    before: Vec<form::Stmt>,
    /// Room and buffers after that.
    grown: Vec<Value>,
}

impl Lowering<'_> {
    /// Adds room and buffers to what the loop carries; the stacks get the buffers that the body writes to.
    pub(super) fn grow(
        &mut self,
        index: Value,
        stacks: &mut [Stack],
        carry: &mut Vec<(Value, Atom)>,
        span: Span,
    ) -> Res<Growing> {
        let done = self.value("done", Kind::I64);
        let mut old = Vec::new();
        if !stacks.is_empty() {
            let room = self.value("room", Kind::I64);
            carry.push((room, int(0)));
            old.push(room);
        }
        for stack in stacks.iter_mut() {
            for (c, slot) in stack.array.iter().zip(&stack.slots) {
                let buffer = self.component_value(&stack.hint, c);
                carry.push((buffer, slot.atom));
                old.push(buffer);
            }
        }
        carry.push((done, int(0)));
        let Some((room, buffers)) = old.split_first() else {
            return Ok(Growing { before: Vec::new(), grown: Vec::new() });
        };
        let (before, grown) = self.nested(|this| {
            let full = this.prim("full", prim::ILE, vec![(*room).into(), index.into()]);
            let (then, grown) = this.nested(|this| this.twice(*room, buffers, stacks, span))?;
            let dst: Vec<Value> = old.iter().map(|v| this.like(*v)).collect();
            let atoms = |values: &[Value]| values.iter().map(|v| Atom::Value(*v)).collect();
            this.push(form::Stmt::If {
                dst: dst.clone(),
                cond: full,
                then: Self::form_block(then, grown),
                other: Self::form_block(Vec::new(), atoms(&old)),
            });
            Ok(dst)
        })?;
        let mut now = grown.iter().skip(1).copied();
        for stack in stacks {
            stack.buffers = now.by_ref().take(stack.array.len()).collect();
        }
        Ok(Growing { before, grown })
    }

    /// Room for twice as many rows, and the buffers with what was in the old ones.
    fn twice(
        &mut self,
        room: Value,
        buffers: &[Value],
        stacks: &[Stack],
        span: Span,
    ) -> Res<Vec<Atom>> {
        let double = self.prim("more", prim::IADD, vec![room.into(), room.into()]);
        let more = self.prim("more", prim::IMAX, vec![double, int(FIRST)]);
        let mut grown = vec![more];
        let rows = stacks.iter().flat_map(|s| s.array.iter().map(|c| (s.hint.clone(), c.clone())));
        let rows: Vec<_> = rows.collect();
        for ((hint, c), old) in rows.iter().zip(buffers) {
            let Some(level) = c.levels.first() else {
                return Err(self.bug(span, "a stacked result is an array"));
            };
            self.fits(more, level, span)?;
            let row = self.cells(level, 1, &[], span)?;
            let (len, used) = (self.mul("cells", more, row), self.mul("used", room.into(), row));
            let (dst, cell) = (self.component_value(hint, c), c.cell());
            self.alloc(dst, cell, len, Arena::Tape, span);
            self.push(form::Stmt::CopyCells { dst, src: *old, len: used, cell });
            grown.push(dst.into());
        }
        Ok(grown)
    }

    /// The memory limit is reached where so many rows have a number of cells that wraps around.
    fn fits(&mut self, rows: Atom, level: &Level, span: Span) -> Res<()> {
        let dims = level.dims.get(1..).unwrap_or_default();
        if dims.iter().all(|d| d.as_constant().is_some_and(|k| k < 1 << 16)) && dims.len() < 2 {
            return Ok(());
        }
        let rows = self.prim("cells", prim::FLOAT, vec![rows]);
        self.check_product(rows, dims, span)
    }

    /// What the loop gives at its end, behind the carries of the source: the buffers go to the stacks; how many
    /// iterations there were.
    pub(super) fn ended_growing(ends: Vec<Value>, stacks: &mut [Stack]) -> Option<Value> {
        let mut ends = ends.into_iter();
        if !stacks.is_empty() {
            ends.next();
        }
        for stack in stacks {
            let buffers = ends.by_ref().take(stack.array.len());
            stack.slots = buffers.map(|v| Slot { atom: v.into(), on_tape: true }).collect();
        }
        ends.next()
    }

    fn like(&mut self, value: Value) -> Value {
        let data = &self.out.values[value];
        let (name, kind) = (data.name.clone(), data.kind);
        self.value(&name, kind)
    }
}

impl Growing {
    /// Puts the statements in front of an iteration, and its carries behind the others.
    pub(super) fn complete(
        &self,
        lowering: &mut Lowering<'_>,
        stmts: &mut Vec<form::Stmt>,
        next: &mut Vec<Atom>,
        index: Value,
    ) {
        stmts.splice(0..0, self.before.iter().cloned());
        let count = lowering.value("count", Kind::I64);
        let args = vec![index.into(), int(1)];
        stmts.push(form::Stmt::Prim { dst: count, prim: prim::IADD, args });
        next.extend(self.grown.iter().map(|v| Atom::Value(*v)));
        next.push(count.into());
    }
}

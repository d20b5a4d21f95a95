//! Accumulator regions.
//!
//! A scalar part of the total is a register; an array part is a buffer, built where the total shall be, or the
//! buffer that the sum starts from. `acc lanes` marks its accumulator for the loop that
//! stands directly in the region ([`super::loops`]).

use jut_ir::{Block, Cap, Operand, Region, Rhs, Stmt};
use std::collections::BTreeSet;

use super::emit::zero;
use super::{CapView, Dest, Lowering, Register, Res, Slot, Storage};
use crate::form::{self, Arena, Atom, Kind};

/// The accumulators that a block adds to, itself or by a call or a slice.
pub(super) fn touched(block: &Block, caps: &mut BTreeSet<Cap>) {
    for stmt in &block.stmts {
        match &stmt.rhs {
            Rhs::Inc(place, _) => {
                caps.insert(place.root);
            }
            Rhs::Call(call) => caps.extend(call.places.iter().flatten().map(|p| p.root)),
            Rhs::Scan(scan) => caps.extend(scan.cap_slices.iter().map(|(_, p)| p.root)),
            _ => {}
        }
        for inner in stmt.rhs.blocks() {
            touched(inner, caps);
        }
    }
}

/// Whether a block gives an accumulator to a call.
fn passed(block: &Block, cap: Cap) -> bool {
    block.stmts.iter().any(|stmt| {
        let here = match &stmt.rhs {
            Rhs::Call(call) => call.places.iter().flatten().any(|p| p.root == cap),
            _ => false,
        };
        here || stmt.rhs.blocks().into_iter().any(|inner| passed(inner, cap))
    })
}

impl Lowering<'_> {
    /// Lowers `(.., total) = acc r: t { .. }`, and `acc r: t = start { .. }`.
    pub(super) fn acc_region(&mut self, stmt: &Stmt, region: &Region) -> Res<()> {
        let Region { cap, start, ref body, .. } = *region;
        let span = stmt.loc.span;
        let start = match start {
            Some(Operand::N(start)) => Some(self.slots(start, span)?),
            Some(Operand::L(_)) => return Err(self.bug(span, "a linear start is left over")),
            None => None,
        };
        let data = &self.src.caps[cap];
        let (ty, name, lanes) = (data.ty.clone(), data.name.clone(), data.lanes);
        let in_place = stmt.nl.last().is_some_and(|total| self.reuse.taken(*total).is_some());
        let mut dests = self.pattern_dests(stmt);
        let total_dests = if dests.len() > body.nl.len() { dests.pop() } else { None };
        let components = self.cx.layouts.of(&ty);
        let mut storage = Vec::with_capacity(components.len());
        let mut on_tape = Vec::with_capacity(components.len());
        for (k, c) in components.iter().enumerate() {
            if c.is_scalar() {
                let cell = passed(body, cap).then(|| {
                    let cell = self.value(&format!("{name}_cell"), Kind::Buffer(c.scalar_cell()));
                    let one = super::emit::int(1);
                    self.alloc(cell, c.scalar_cell(), one, Arena::Temp, span);
                    cell
                });
                let now = match &start {
                    None => zero(c.scalar),
                    Some(start) => match start.get(k) {
                        Some(slot) => slot.atom,
                        None => return Err(self.bug(span, "a start lacks a component")),
                    },
                };
                self.registers.push(Register { now, cell });
                storage.push(Storage::Register(self.registers.len() - 1));
                on_tape.push(false);
                continue;
            }
            let dest = total_dests.as_ref().and_then(|d| d.get(k)).copied().unwrap_or(Dest::Any);
            if c.levels.len() > 1 {
                return Err(self.bug(span, "an accumulator of ragged arrays"));
            }
            let slot = match &start {
                Some(start) if in_place => self.settle(&name, &components, start, k, dest, span)?,
                Some(start) => self.fresh_copy(&name, &components, start, k, dest, span)?,
                None => self.buffer_for(&name, c, &[], dest, span)?,
            };
            let (Atom::Value(buffer), Some(level)) = (slot.atom, c.levels.first()) else {
                return Err(self.bug(span, "an array is a buffer"));
            };
            if start.is_none() {
                let len = self.cells(level, 0, &[], span)?;
                self.push(form::Stmt::Fill { buffer, len, value: zero(c.scalar) });
            }
            on_tape.push(slot.on_tape);
            storage.push(Storage::Block(buffer));
        }
        self.caps[cap] = Some(CapView { ty, storage: storage.clone() });
        if lanes {
            self.lane_caps.push(cap);
        }
        let mut results = self.block_into(body, &dests, span)?;
        if lanes {
            self.lane_caps.retain(|c| *c != cap);
        }
        self.caps[cap] = None;
        let total = storage
            .into_iter()
            .zip(on_tape)
            .map(|(target, on_tape)| match target {
                Storage::Register(r) => Slot::scalar(self.registers[r].now),
                Storage::Cell(buffer, _) | Storage::Block(buffer) => {
                    Slot { atom: buffer.into(), on_tape }
                }
            })
            .collect();
        results.push(total);
        for (v, slots) in stmt.nl.iter().zip(results) {
            self.bind(*v, slots);
        }
        Ok(())
    }
}

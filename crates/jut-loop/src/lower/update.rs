//! Arrays with another part: the old one itself, if nobody reads it any more ([`jut_ir::reuse`]), or a copy,
//! into which the part is stored.

use jut_ir::{Atom as Operand, NVar, Span, Step, Stmt, Type};

use super::{Dest, Lowering, Res, Slot, Storage};
use crate::form::{self, Atom};

impl Lowering<'_> {
    /// Lowers `y = x with [i] = v`.
    pub(super) fn update(
        &mut self,
        stmt: &Stmt,
        array: NVar,
        path: &[Step],
        value: Operand,
    ) -> Res<()> {
        let span = stmt.loc.span;
        let Some(v) = stmt.nl.first().copied() else {
            return Err(self.bug(span, "an array has no name"));
        };
        let (ty, hint) = (self.type_of(v), self.name_of(v));
        let in_place = self.reuse.taken(v).is_some();
        let old = self.slots(array.into(), span)?;
        let dests = self.take_dests(v);
        let components = self.cx.layouts.of(&ty);
        let mut slots = Vec::with_capacity(components.len());
        let mut roots = Vec::with_capacity(components.len());
        for k in 0..components.len() {
            let dest = dests.get(k).copied().unwrap_or(Dest::Any);
            let slot = match in_place {
                true => self.settle(&hint, &components, &old, k, dest, span)?,
                false => self.fresh_copy(&hint, &components, &old, k, dest, span)?,
            };
            let Atom::Value(buffer) = slot.atom else {
                return Err(self.bug(span, "an array is a buffer"));
            };
            slots.push(slot);
            roots.push(Storage::Block(buffer));
        }
        let reached = self.navigate(&ty, &roots, path, &hint, span)?;
        let part = self.part_type(&ty, path);
        let components = self.cx.layouts.of(&part);
        let value = self.slots(value, span)?;
        for (k, target) in reached.storage.into_iter().enumerate() {
            match target {
                Storage::Cell(buffer, index) => {
                    let slot = self.settle(&hint, &components, &value, k, Dest::Tape, span)?;
                    self.push(form::Stmt::Store { buffer, index, value: slot.atom });
                }
                Storage::Block(buffer) => {
                    self.settle(&hint, &components, &value, k, Dest::Into(buffer), span)?;
                }
                Storage::Register(_) => return Err(self.bug(span, "an array is no register")),
            }
        }
        self.bind(v, slots);
        Ok(())
    }

    /// Binds a row or slice with cells of its own: the array is going to change.
    pub(super) fn bind_copy(&mut self, v: NVar, view: &[Slot], span: Span) -> Res<()> {
        let (components, hint) = (self.cx.layouts.of(&self.type_of(v)), self.name_of(v));
        let dests = self.take_dests(v);
        let mut slots = Vec::with_capacity(components.len());
        for k in 0..components.len() {
            let dest = dests.get(k).copied().unwrap_or(Dest::Any);
            let slot = match components[k].is_scalar() {
                true => self.settle(&hint, &components, view, k, dest, span)?,
                false => self.fresh_copy(&hint, &components, view, k, dest, span)?,
            };
            slots.push(slot);
        }
        self.bind(v, slots);
        Ok(())
    }

    /// The type of what a path leads to.
    fn part_type(&self, ty: &Type, path: &[Step]) -> Type {
        path.iter().fold(ty.clone(), |ty, step| match (step, ty) {
            (Step::Slice { len, .. }, Type::Array(_, element)) => {
                Type::Array(self.src.size_of(*len), element)
            }
            (Step::Field(k), Type::Tuple(mut items)) if (*k as usize) < items.len() => {
                items.swap_remove(*k as usize)
            }
            (_, Type::Array(_, element)) => *element,
            (_, ty) => ty,
        })
    }
}

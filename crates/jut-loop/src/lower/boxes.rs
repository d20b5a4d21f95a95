//! Boxes: values of large data types behind one pointer ([`crate::flatten`]).
//!
//! A constructor allocates the box on the tape arena and stores its words; what the words point to is
//! brought to the tape arena first. Opening, projection and `case` load words where they stand, and
//! what nobody reads is not loaded in the end ([`crate::opt`]).
//!
//! Example: `t = K(a, b, inner)` with boxed `K` becomes
//! `t = alloc tape word[3]; t[0] = a; t[1] = b; t[2] = inner`, and `K(a, b, inner) = t` becomes
//! `a: f64 = t[0]; b: f64 = t[1]; inner: word[] = t[2]`.

use jut_ir::{Atom as Operand, Case, ConRef, Span, Type};

use super::emit::int;
use super::{Dest, Lowering, Res, Slot};
use crate::flatten::DataLayout;
use crate::form::{Arena, Atom, Cell, Kind, Stmt, Value};

impl Lowering<'_> {
    /// Asks for the arguments of a boxed constructor on the tape arena.
    pub(super) fn want_in_box(&mut self, layout: &DataLayout, con: ConRef, items: &[Operand]) {
        let ranges = layout.fields.get(con.index as usize);
        for (item, part) in items.iter().zip(ranges.into_iter().flatten()) {
            let dest = |k: usize| match layout.components.get(k) {
                Some(c) if !c.is_scalar() => Dest::Tape,
                _ => Dest::Any,
            };
            let dests: Vec<Dest> = part.clone().map(dest).collect();
            self.want(*item, &dests);
        }
    }

    /// `K(args)` for a boxed type.
    pub(super) fn make_box(
        &mut self,
        layout: &DataLayout,
        con: ConRef,
        args: &[Operand],
        span: Span,
    ) -> Res<Vec<Slot>> {
        let index = con.index as usize;
        let first = layout.fields.get(index).and_then(|f| f.first()).map_or(0, |r| r.start);
        // The components from the constructor's first on: sizes of later ones are among them.
        let mut value: Vec<Slot> = vec![Slot::scalar(int(0)); first];
        if let (true, Some(tag)) = (layout.tagged, value.first_mut()) {
            *tag = Slot::scalar(int(con.index as i64));
        }
        for a in args {
            value.extend(self.slots(*a, span)?.iter());
        }
        let pointer = self.value("boxed", Kind::Buffer(Cell::Word));
        let mut stores = Vec::with_capacity(value.len());
        if layout.tagged {
            stores.push((0, int(con.index as i64)));
        }
        for k in first..value.len() {
            let slot = self.settle("part", &layout.components, &value, k, Dest::Tape, span)?;
            stores.push((layout.word(index, k), slot.atom));
        }
        let words = int(layout.words(index) as i64);
        self.alloc(pointer, Cell::Word, words, Arena::Tape, span);
        for (word, value) in stores {
            self.push(Stmt::Store { buffer: pointer, index: int(word as i64), value });
        }
        Ok(vec![Slot { atom: pointer.into(), on_tape: true }])
    }

    /// Field `k` of a boxed value whose constructor is known.
    pub(super) fn load_field(
        &mut self,
        con: ConRef,
        value: &[Slot],
        k: usize,
        hint: &str,
        span: Span,
    ) -> Res<Vec<Slot>> {
        let layout = self.cx.layouts.data(con.data);
        let index = con.index as usize;
        let range = layout.fields.get(index).and_then(|f| f.get(k)).cloned();
        let ([Slot { atom: Atom::Value(buffer), .. }], Some(range)) = (value, range) else {
            return Err(self.bug(span, "a box is expected"));
        };
        let mut slots = Vec::with_capacity(range.len());
        for k in range {
            let c = &layout.components[k];
            // The name of a part says which part of the field it is, not of the whole.
            let dst = self.value(hint, c.kind());
            let word = int(layout.word(index, k) as i64);
            self.push(Stmt::Load { dst, buffer: *buffer, index: word });
            slots.push(Slot { atom: dst.into(), on_tape: !c.is_scalar() });
        }
        Ok(slots)
    }

    /// What a `case` decides by, if it has to decide: the truth value or the tag.
    pub(super) fn tag(&mut self, case: &Case, value: &[Slot]) -> Option<Atom> {
        let first = value.first()?.atom;
        match self.src.type_of(case.scrutinee) {
            Type::Data(id) if self.cx.layouts.data(id).boxed => {
                let Atom::Value(buffer) = first else { return None };
                if case.arms.len() < 2 {
                    return Some(int(0));
                }
                let dst: Value = self.value("tag", Kind::I64);
                self.push(Stmt::Load { dst, buffer, index: int(0) });
                Some(dst.into())
            }
            _ => Some(first),
        }
    }
}

//! Index arithmetic: from a path (`x[i, j]`, `dx[lo ..+ m].0`) to buffers and cells.
//!
//! A path consumes leading dimensions of the outermost buffer of every component. Indices of all but
//! the last dimension become one `offset`, so that a row is computed once where its index is
//! invariant; the index of the last dimension becomes the cell of a load or store. A slice consumes
//! nothing: it only moves the beginning.

use jut_ir::prim;
use jut_ir::{Atom as Operand, Literal, Place, Span, Step, Type};
use std::ops::Range;
use std::rc::Rc;

use super::emit::int;
use super::{Lowering, Res, Slot, Storage};
use crate::flatten::Component;
use crate::form::{Atom, For, Kind, Order, Stmt, Value};

/// Where a path leads.
pub(super) struct Reached {
    /// The components of the root that belong to it.
    pub range: Range<usize>,
    /// Of each of them, how many dimensions of the outermost buffer are consumed.
    pub used: usize,
    /// Of each of them, where it is.
    pub storage: Vec<Storage>,
}

impl Lowering<'_> {
    /// The components of a variable or literal.
    pub(super) fn slots(&mut self, atom: Operand, span: Span) -> Res<Rc<[Slot]>> {
        match atom {
            Operand::Lit(l) => Ok([Slot::scalar(Atom::Lit(l))].into()),
            Operand::Var(v) => match self.values.get(v).and_then(|s| s.clone()) {
                Some(slots) => Ok(slots),
                None => Err(self.bug(span, "a variable has no value")),
            },
        }
    }

    /// A scalar operand.
    pub(super) fn scalar(&mut self, atom: Operand, span: Span) -> Res<Atom> {
        if let Operand::Lit(l) = atom {
            return Ok(Atom::Lit(l));
        }
        match *self.slots(atom, span)? {
            [slot] => Ok(slot.atom),
            _ => Err(self.bug(span, "a scalar is expected")),
        }
    }

    /// Follows a path from a root whose components are at `roots`.
    pub(super) fn navigate(
        &mut self,
        ty: &Type,
        roots: &[Storage],
        path: &[Step],
        hint: &str,
        span: Span,
    ) -> Res<Reached> {
        let components = self.cx.layouts.of(ty);
        let mut ty = ty;
        let mut range = 0..components.len();
        let mut used = 0;
        // (dimension, first element or index)
        let mut moves: Vec<(usize, Atom)> = Vec::new();
        for step in path {
            match (step, ty) {
                (Step::Index { index, .. }, Type::Array(_, element)) => {
                    moves.push((used, self.scalar(*index, span)?));
                    used += 1;
                    ty = element;
                }
                (Step::Slice { lo, .. }, Type::Array(..)) => {
                    moves.push((used, self.scalar(*lo, span)?));
                }
                (Step::Field(k), Type::Tuple(items)) => {
                    let Some(item) = items.get(*k as usize) else {
                        return Err(self.bug(span, "a tuple lacks a component"));
                    };
                    let part = self.cx.layouts.item(items, *k as usize);
                    range = range.start + part.start..range.start + part.end;
                    ty = item;
                }
                _ => return Err(self.bug(span, "a path does not fit its type")),
            }
        }
        let mut storage = Vec::with_capacity(range.len());
        for (c, root) in components[range.clone()].iter().zip(&roots[range.clone()]) {
            storage.push(self.reach(c, *root, &moves, used, hint, span)?);
        }
        Ok(Reached { range, used, storage })
    }

    fn reach(
        &mut self,
        c: &Component,
        root: Storage,
        moves: &[(usize, Atom)],
        used: usize,
        hint: &str,
        span: Span,
    ) -> Res<Storage> {
        let (Storage::Block(buffer), Some(level)) = (root, c.levels.first()) else {
            return Ok(root);
        };
        // The innermost dimension, when it is consumed, is the cell; everything else an offset.
        let inner = if used == level.dims.len() { used.checked_sub(1) } else { None };
        let (mut offset, mut cell) = (int(0), int(0));
        for (dim, by) in moves {
            if Some(*dim) == inner {
                cell = self.add("cell", cell, *by);
            } else {
                let stride = self.cells(level, dim + 1, &[], span)?;
                let by = self.mul("row", *by, stride);
                offset = self.add("row", offset, by);
            }
        }
        let buffer = if offset == int(0) {
            buffer
        } else {
            let dst = self.value(hint, c.kind());
            self.push(Stmt::Offset { dst, buffer, index: offset });
            dst
        };
        Ok(if inner.is_some() { Storage::Cell(buffer, cell) } else { Storage::Block(buffer) })
    }

    /// Reads an element, row or slice of a variable.
    pub(super) fn read(
        &mut self,
        ty: &Type,
        value: &[Slot],
        path: &[Step],
        hint: &str,
        span: Span,
    ) -> Res<Vec<Slot>> {
        let mut roots = Vec::with_capacity(value.len());
        for slot in value {
            match slot.atom {
                Atom::Value(buffer) => roots.push(Storage::Block(buffer)),
                Atom::Lit(_) => return Err(self.bug(span, "a literal has no elements")),
            }
        }
        let components = self.cx.layouts.of(ty);
        let reached = self.navigate(ty, &roots, path, hint, span)?;
        let mut slots = Vec::with_capacity(reached.storage.len());
        for (target, k) in reached.storage.into_iter().zip(reached.range) {
            let c = &components[k];
            slots.push(match target {
                Storage::Block(buffer) => Slot { atom: buffer.into(), on_tape: value[k].on_tape },
                Storage::Cell(buffer, index) => {
                    let kind = c.kind_at(1);
                    let dst = self.value(&format!("{hint}{}", c.suffix), kind);
                    self.push(Stmt::Load { dst, buffer, index });
                    // Cells hold only pointers to the tape.
                    Slot { atom: dst.into(), on_tape: true }
                }
                Storage::Register(_) => return Err(self.bug(span, "a variable is no register")),
            });
        }
        Ok(slots)
    }

    /// Stores a value as element `index` of the array whose components are `buffers`. Components
    /// that were written in place are already there.
    pub(super) fn write_element(
        &mut self,
        element: &Type,
        buffers: &[Value],
        index: Atom,
        value: &[Slot],
        hint: &str,
        span: Span,
    ) -> Res<()> {
        let components = self.cx.layouts.of(element);
        for (k, (c, buffer)) in components.iter().zip(buffers).enumerate() {
            if c.is_scalar() || c.is_pinned() {
                let slot = self.settle(hint, &components, value, k, super::Dest::Tape, span)?;
                self.push(Stmt::Store { buffer: *buffer, index, value: slot.atom });
            } else {
                let row = self.row(c, *buffer, index, hint, span)?;
                self.settle(hint, &components, value, k, super::Dest::Into(row), span)?;
            }
        }
        Ok(())
    }

    /// Row `index` of a buffer whose rows are the element component `c`.
    pub(super) fn row(
        &mut self,
        c: &Component,
        buffer: Value,
        index: Atom,
        hint: &str,
        span: Span,
    ) -> Res<Value> {
        let Some(level) = c.levels.first() else {
            return Err(self.bug(span, "a scalar has no rows"));
        };
        let cells = self.cells(level, 0, &[], span)?;
        let offset = self.mul("row", index, cells);
        if offset == int(0) {
            return Ok(buffer);
        }
        let dst = self.component_value(hint, c);
        self.push(Stmt::Offset { dst, buffer, index: offset });
        Ok(dst)
    }

    /// Where a place is.
    pub(super) fn place(&mut self, place: &Place, span: Span) -> Res<(Type, Reached)> {
        let Some(view) = self.caps.get(place.root).and_then(|v| v.clone()) else {
            return Err(self.bug(span, "an accumulator is not in scope"));
        };
        let name = self.src.caps[place.root].name.clone();
        let reached = self.navigate(&view.ty, &view.storage, &place.path, &name, span)?;
        Ok((view.ty, reached))
    }

    /// `place += value`.
    pub(super) fn increment(&mut self, place: &Place, value: &[Slot], span: Span) -> Res<()> {
        let hint = self.src.caps[place.root].name.clone();
        let (ty, reached) = self.place(place, span)?;
        let components = self.cx.layouts.of(&ty);
        for ((target, k), slot) in reached.storage.iter().zip(reached.range).zip(value) {
            let c = &components[k];
            match *target {
                Storage::Register(r) => {
                    let now = self.sum(&hint, c.scalar, self.registers[r].now, slot.atom, span)?;
                    self.registers[r].now = now;
                }
                Storage::Cell(buffer, index) => {
                    self.add_to_cell(&hint, c.scalar, buffer, index, slot.atom, span)?;
                }
                Storage::Block(buffer) => {
                    let (Atom::Value(src), Some(level)) = (slot.atom, c.levels.first()) else {
                        return Err(self.bug(span, "an array is expected"));
                    };
                    // A slice has fewer elements than the type of the accumulator says.
                    let len = match place.path.last() {
                        Some(Step::Slice { len, .. }) => {
                            let element = self.cells(level, reached.used + 1, &[], span)?;
                            let len = self.scalar(*len, span)?;
                            self.mul("cells", len, element)
                        }
                        _ => self.cells(level, reached.used, &[], span)?,
                    };
                    let index = self.value("k", Kind::I64);
                    let (stmts, ()) = self.nested(|this| {
                        let item = this.value("item", c.scalar);
                        this.push(Stmt::Load { dst: item, buffer: src, index: index.into() });
                        this.add_to_cell(&hint, c.scalar, buffer, index.into(), item.into(), span)
                    })?;
                    self.push(Stmt::from(For {
                        dst: Vec::new(),
                        order: Order::Up,
                        vector: None,
                        index,
                        low: int(0),
                        high: len,
                        carry: Vec::new(),
                        body: crate::form::Block { stmts, results: Vec::new() },
                    }));
                }
            }
        }
        Ok(())
    }

    /// `buffer[index] += by`.
    pub(super) fn add_to_cell(
        &mut self,
        hint: &str,
        kind: Kind,
        buffer: Value,
        index: Atom,
        by: Atom,
        span: Span,
    ) -> Res<()> {
        let old = self.value(hint, kind);
        self.push(Stmt::Load { dst: old, buffer, index });
        let value = self.sum(hint, kind, old.into(), by, span)?;
        self.push(Stmt::Store { buffer, index, value });
        Ok(())
    }

    /// `a + b` for what an accumulator holds. Nothing is simplified: 0.0 + -0.0 is 0.0.
    pub(super) fn sum(
        &mut self,
        hint: &str,
        kind: Kind,
        a: Atom,
        b: Atom,
        span: Span,
    ) -> Res<Atom> {
        match kind {
            Kind::F64 => Ok(self.prim(hint, prim::ADD, vec![a, b])),
            // The sum of 64 bits, rounded once, is the sum of 32 bits.
            Kind::F32 => {
                let wide = [a, b].map(|x| self.prim(hint, prim::DOUBLE, vec![x]));
                let sum = self.prim(hint, prim::ADD, wide.to_vec());
                Ok(self.prim(hint, prim::SINGLE, vec![sum]))
            }
            Kind::I64 => Ok(self.prim(hint, prim::IADD, vec![a, b])),
            Kind::I32 => {
                let wide = [a, b].map(|x| self.prim(hint, prim::WIDEN, vec![x]));
                let sum = self.prim(hint, prim::IADD, wide.to_vec());
                Ok(self.prim(hint, prim::NARROW, vec![sum]))
            }
            Kind::BOOL | Kind::Buffer(_) => Err(self.bug(span, "this cannot be added")),
        }
    }

    /// Whether a literal is the zero that an accumulator starts from.
    pub(super) fn is_start(atom: Atom) -> bool {
        atom == Atom::Lit(Literal::F64(0.0)) || atom == Atom::Lit(Literal::F32(0.0))
    }
}

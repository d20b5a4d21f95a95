//! Calls of functions of other languages.
//!
//! ```text
//! y = p.erased(n, v, x)              of extern def p(n: i64, v: [n]f64; x': [n]f64) -> (; [n]f64)
//!
//! integers = [n]                     all integers in order, those of arrays too
//! floats = [v.., x..]                all floats
//! results = [0.0, ..]                as many as there are in all results
//! kernel foreign(results, floats, integers, failed, .., number)
//! check failed == 0
//! ```
//!
//! So one kernel calls all of them, and no backend has a rule for them. What they are given is memory of the call alone.

use jut_ir::foreign::Numbers;
use jut_ir::{RuntimeErrorKind, Size, Span, Type, prim};

use super::emit::{float, int};
use super::{Dest, Lowering, Res, Slot};
use crate::form::{self, Arena, Atom, Cell, Check, Kind, Value};
use crate::kernel;

/// Numbers of one kind, one after the other.
struct Packed {
    buffer: Value,
    count: Atom,
}

impl Lowering<'_> {
    /// A call of the function of another language with a number: what it gives.
    pub(super) fn foreign(
        &mut self,
        number: u32,
        args: &[jut_ir::Atom],
        results: &[Type],
        dests: &[Vec<Dest>],
        span: Span,
    ) -> Res<Vec<Vec<Slot>>> {
        let mut checked: Vec<Size> = Vec::new();
        for ty in results {
            for size in ty.dimensions() {
                let known = size.as_constant().is_some_and(|n| n >= 0) || checked.contains(&size);
                if !known {
                    let value = self.size(&size, span)?;
                    self.check(Check::NonNegative(value), RuntimeErrorKind::NegativeSize, span);
                    checked.push(size);
                }
            }
        }
        let integers = self.packed(Numbers::Integers, args, span)?;
        let floats = self.packed(Numbers::Floats, args, span)?;
        let mut counts = Vec::with_capacity(results.len());
        let mut count = int(0);
        for ty in results {
            self.bound_dimensions(&ty.dimensions(), span)?;
            let cells = self.cells_in(ty, span)?;
            counts.push(count);
            count = self.add("count", count, cells);
            // One array is allocated or not; the sum of several could wrap around to a small number.
            if results.len() > 1 && count.integer().is_none() {
                self.check_cells(count, span);
            }
        }
        let made = self.value("results", Kind::Buffer(Cell::F64));
        self.alloc(made, Cell::F64, count, Arena::Temp, span);
        self.push(form::Stmt::Fill { buffer: made, len: count, value: float(0.0) });
        let failed = self.value("failed", Kind::Buffer(Cell::F64));
        self.alloc(failed, Cell::F64, int(1), Arena::Temp, span);
        self.push(form::Stmt::Fill { buffer: failed, len: int(1), value: float(0.0) });
        let buffers = [made, floats.buffer, integers.buffer, failed].map(Atom::from);
        let counted = [count, floats.count, integers.count, int(i64::from(number))];
        let given = buffers.into_iter().chain(counted).collect();
        self.push(form::Stmt::Kernel { kernel: kernel::FOREIGN, args: given });
        let failed = self.loaded("failed", failed, int(0));
        let failed = self.prim("failed", prim::INT, vec![failed]);
        self.check(Check::Equal(failed, int(0)), RuntimeErrorKind::Foreign, span);
        let mut slots = Vec::with_capacity(results.len());
        for (k, (ty, at)) in results.iter().zip(counts).enumerate() {
            let components = self.cx.layouts.of(ty);
            let slot = match ty {
                Type::Array(..) => {
                    let dst = self.value("result", Kind::Buffer(Cell::F64));
                    self.push(form::Stmt::Offset { dst, buffer: made, index: at });
                    Slot { atom: dst.into(), on_tape: false }
                }
                _ => Slot::scalar(self.loaded("result", made, at)),
            };
            let dest = dests.get(k).and_then(|d| d.first()).copied().unwrap_or(Dest::Any);
            slots.push(vec![self.settle("result", &components, &[slot], 0, dest, span)?]);
        }
        Ok(slots)
    }

    /// All arguments of one kind of numbers in one buffer.
    fn packed(&mut self, kind: Numbers, args: &[jut_ir::Atom], span: Span) -> Res<Packed> {
        let (name, cell) = match kind {
            Numbers::Integers => ("integers", Cell::I64),
            Numbers::Floats => ("floats", Cell::F64),
        };
        let mut parts = Vec::with_capacity(args.len());
        let mut count = int(0);
        for arg in args {
            let ty = self.src.type_of(*arg);
            if Numbers::of(&ty) != Some(kind) {
                continue;
            }
            let cells = self.cells_in(&ty, span)?;
            let value = self.slots(*arg, span)?.first().map(|slot| slot.atom);
            let Some(value) = value else { return Err(self.bug(span, "a number has no value")) };
            parts.push((matches!(ty, Type::Array(..)), value, count, cells));
            count = self.add("count", count, cells);
        }
        let buffer = self.value(name, Kind::Buffer(cell));
        self.alloc(buffer, cell, count, Arena::Temp, span);
        for (is_array, value, index, len) in parts {
            match value {
                Atom::Value(src) if is_array => {
                    let dst = self.value(name, Kind::Buffer(cell));
                    self.push(form::Stmt::Offset { dst, buffer, index });
                    self.push(form::Stmt::CopyCells { dst, src, len, cell });
                }
                value => self.push(form::Stmt::Store { buffer, index, value }),
            }
        }
        Ok(Packed { buffer, count })
    }

    /// How many numbers a value of a type is.
    fn cells_in(&mut self, ty: &Type, span: Span) -> Res<Atom> {
        let mut cells = int(1);
        for size in ty.dimensions() {
            let size = self.size(&size, span)?;
            cells = self.mul("cells", cells, size);
        }
        Ok(cells)
    }

    fn loaded(&mut self, name: &str, buffer: Value, index: Atom) -> Atom {
        let dst = self.value(name, Kind::Scalar(jut_ir::Scalar::F64));
        self.push(form::Stmt::Load { dst, buffer, index });
        dst.into()
    }
}

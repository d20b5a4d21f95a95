//! Emitting statements: fresh values, integer arithmetic with the obvious simplifications, sizes,
//! allocations.
//!
//! Sizes are polynomials; each is computed once per scope and remembered, and a transparent name of
//! the source (`m = n - 1`) is remembered as the value of its polynomial.

use jut_ir::prim::{self, Prim};
use jut_ir::{Literal, NVar, Name, RuntimeErrorKind, Size, Span};

use super::{Dest, Lowering, Res, Slot};
use crate::flatten::{Component, Level, Scope};
use crate::form::{Arena, Atom, Cell, Check, Kind, Site, Stmt, Value, ValueData};

/// No allocation may have more cells than this: a product of dimensions that passes the test has
/// not wrapped around.
const MAX_CELLS: i64 = jut_ir::cover::MAX_CELLS;

pub(super) fn int(k: i64) -> Atom {
    Atom::Lit(Literal::I64(k))
}

pub(super) fn float(x: f64) -> Atom {
    Atom::Lit(Literal::F64(x))
}

/// Zero, false.
pub(super) fn zero(kind: Kind) -> Atom {
    match kind {
        Kind::Scalar(scalar) => Atom::Lit(scalar.zero()),
        Kind::Buffer(_) => int(0),
    }
}

fn literal(a: Atom) -> Option<i64> {
    match a {
        Atom::Lit(Literal::I64(k)) => Some(k),
        _ => None,
    }
}

impl Lowering<'_> {
    /// A new value with a name like `hint`.
    pub(super) fn value(&mut self, hint: &str, kind: Kind) -> Value {
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let name = if hint.chars().all(plain) && !hint.is_empty() {
            self.namer.fresh(hint)
        } else {
            let clean: String = hint.chars().map(|c| if plain(c) { c } else { '_' }).collect();
            self.namer.fresh(if clean.is_empty() { "t" } else { &clean })
        };
        self.out.values.push(ValueData { name, kind })
    }

    /// A new value for a component of a variable.
    pub(super) fn component_value(&mut self, hint: &str, c: &Component) -> Value {
        if c.suffix.is_empty() {
            self.value(hint, c.kind())
        } else {
            self.value(&format!("{hint}{}", c.suffix), c.kind())
        }
    }

    pub(super) fn name_of(&self, v: NVar) -> Name {
        self.src.nvars.get(v).map_or_else(|| "t".into(), |d| d.name.clone())
    }

    pub(super) fn push(&mut self, stmt: Stmt) {
        self.stmts.push(stmt);
    }

    /// `hint = p(args)`.
    pub(super) fn prim(&mut self, hint: &str, prim: Prim, args: Vec<Atom>) -> Atom {
        let kind = Kind::Scalar(prim.row().result);
        let dst = self.value(hint, kind);
        self.push(Stmt::Prim { dst, prim, args });
        dst.into()
    }

    pub(super) fn add(&mut self, hint: &str, a: Atom, b: Atom) -> Atom {
        match (literal(a), literal(b)) {
            (Some(0), _) => b,
            (_, Some(0)) => a,
            (Some(x), Some(y)) => int(x.wrapping_add(y)),
            _ => self.prim(hint, prim::IADD, vec![a, b]),
        }
    }

    pub(super) fn sub(&mut self, hint: &str, a: Atom, b: Atom) -> Atom {
        match (literal(a), literal(b)) {
            (_, Some(0)) => a,
            (Some(x), Some(y)) => int(x.wrapping_sub(y)),
            _ => self.prim(hint, prim::ISUB, vec![a, b]),
        }
    }

    pub(super) fn mul(&mut self, hint: &str, a: Atom, b: Atom) -> Atom {
        match (literal(a), literal(b)) {
            (Some(1), _) => b,
            (_, Some(1)) => a,
            (Some(0), _) | (_, Some(0)) => int(0),
            (Some(x), Some(y)) => int(x.wrapping_mul(y)),
            _ => self.prim(hint, prim::IMUL, vec![a, b]),
        }
    }

    /// A place that can fail.
    pub(super) fn site(&mut self, kind: RuntimeErrorKind, span: Span) -> Site {
        let out = &mut self.cx.out;
        *self.cx.sites.entry((kind, span)).or_insert_with(|| out.sites.push((kind, span)))
    }

    pub(super) fn check(&mut self, check: Check, kind: RuntimeErrorKind, span: Span) {
        let site = self.site(kind, span);
        self.push(Stmt::Check { check, site });
    }

    /// The value of a polynomial whose names have the given values.
    fn polynomial(
        &mut self,
        size: &Size,
        name: &mut dyn FnMut(NVar) -> Option<Atom>,
    ) -> Option<Atom> {
        let mut sum = int(0);
        for (names, c) in size.terms() {
            let mut product = int(1);
            for v in names {
                let factor = name(*v)?;
                product = self.mul("size", product, factor);
            }
            if *c == -1 && !names.is_empty() {
                sum = self.sub("size", sum, product);
            } else {
                let term = self.mul("size", product, int(*c));
                sum = self.add("size", sum, term);
            }
        }
        Some(sum)
    }

    /// The value of a size over the function's variables, computed once per scope.
    pub(super) fn size(&mut self, size: &Size, span: Span) -> Res<Atom> {
        if let Some(k) = size.as_constant() {
            return Ok(int(k));
        }
        if let Some(known) = self.sizes.get(size) {
            return Ok(*known);
        }
        // A clone of the table would cost more than the few names of a size.
        let names: Vec<(NVar, Option<Atom>)> =
            size.names().into_iter().map(|v| (v, self.scalar_of(v))).collect();
        let mut of = |v: NVar| names.iter().find(|(n, _)| *n == v).and_then(|(_, a)| *a);
        let Some(value) = self.polynomial(size, &mut of) else {
            return Err(self.bug(span, "a size names a variable without a value"));
        };
        self.remember_size(size.clone(), value);
        Ok(value)
    }

    fn scalar_of(&self, v: NVar) -> Option<Atom> {
        self.values.get(v)?.as_ref()?.first().map(|s| s.atom)
    }

    pub(super) fn remember_size(&mut self, size: Size, value: Atom) {
        if size.as_constant().is_none() && !self.sizes.contains_key(&size) {
            self.size_log.push(size.clone());
            self.sizes.insert(size, value);
        }
    }

    /// The number of cells of a buffer below its first `from` dimensions. `value` is what the
    /// level belongs to: sizes that are fields are read from it.
    pub(super) fn cells(
        &mut self,
        level: &Level,
        from: usize,
        value: &[Slot],
        span: Span,
    ) -> Res<Atom> {
        self.size_in(level, &level.cells_from(from), value, span)
    }

    /// A size of a level, of `value`.
    pub(super) fn size_in(
        &mut self,
        level: &Level,
        size: &Size,
        value: &[Slot],
        span: Span,
    ) -> Res<Atom> {
        match &level.scope {
            Scope::Function => self.size(size, span),
            Scope::Fields(fields) => {
                let fields = fields.clone();
                let mut of = |v: NVar| {
                    let k = fields.get(cranelift_entity::EntityRef::index(v))?;
                    value.get(*k).map(|s| s.atom)
                };
                match self.polynomial(size, &mut of) {
                    Some(size) => Ok(size),
                    None => Err(self.bug(span, "a size names a field without a value")),
                }
            }
        }
    }

    /// The number of cells of the buffer of a component of `value`, whose outermost level is given: none where the value
    /// is of another constructor.
    fn cells_of(&mut self, c: &Component, level: &Level, value: &[Slot], span: Span) -> Res<Atom> {
        let mut cells = self.cells(level, 0, value, span)?;
        for (tag, con) in &c.only_if {
            let Some(Slot { atom, .. }) = value.get(*tag).copied() else {
                return Err(self.bug(span, "a sum has no tag"));
            };
            cells = match literal(atom) {
                Some(known) if known == *con => cells,
                Some(_) => int(0),
                None => {
                    let has = self.prim("is", prim::IEQ, vec![atom, int(*con)]);
                    self.prim("cells", prim::ISELECT, vec![has, cells, int(0)])
                }
            };
        }
        Ok(cells)
    }

    /// A new buffer for a component, of the arena that the destination asks for, or the
    /// destination itself.
    pub(super) fn buffer_for(
        &mut self,
        hint: &str,
        c: &Component,
        value: &[Slot],
        dest: Dest,
        span: Span,
    ) -> Res<Slot> {
        if let Some(buffer) = dest.buffer() {
            return Ok(Slot { atom: buffer.into(), on_tape: false });
        }
        let Some(level) = c.levels.first() else {
            return Err(self.bug(span, "a scalar is not a buffer"));
        };
        let len = self.cells_of(c, level, value, span)?;
        self.bound_product(level, span)?;
        let arena = if dest == Dest::Tape { Arena::Tape } else { Arena::Temp };
        let dst = self.component_value(hint, c);
        self.alloc(dst, c.cell(), len, arena, span);
        Ok(Slot { atom: dst.into(), on_tape: dest == Dest::Tape })
    }

    pub(super) fn alloc(&mut self, dst: Value, cell: Cell, len: Atom, arena: Arena, span: Span) {
        self.allocates(arena);
        let site = self.site(RuntimeErrorKind::Memory, span);
        self.push(Stmt::Alloc { dst, cell, len, arena, site });
    }

    /// A product of several dimensions could wrap around to a small number of cells: then the
    /// memory limit is reached, and this says so before anything is allocated. The test is in
    /// floats, which saturate, and of the dimensions themselves: that another array has `n * m`
    /// cells says nothing of an array of n rows of m.
    fn bound_product(&mut self, level: &Level, span: Span) -> Res<()> {
        match level.scope {
            Scope::Function => self.bound_dimensions(&level.dims, span),
            Scope::Fields(_) => Ok(()),
        }
    }

    /// The same of the dimensions of an array, which are sizes of the function.
    pub(super) fn bound_dimensions(&mut self, dims: &[Size], span: Span) -> Res<()> {
        let constant = dims.iter().try_fold(1i64, |product, d| {
            product.checked_mul(d.as_constant()?).filter(|cells| *cells < MAX_CELLS)
        });
        if dims.len() < 2 || constant.is_some() || self.bounded.contains(dims) {
            return Ok(());
        }
        self.check_product(float(1.0), dims, span)?;
        self.assume_bounded(dims.to_vec());
        Ok(())
    }

    /// The memory limit is reached unless a float times some dimensions is a number of cells.
    pub(super) fn check_product(&mut self, first: Atom, dims: &[Size], span: Span) -> Res<()> {
        let mut product = first;
        for d in dims {
            let d = self.size(d, span)?;
            let d = self.prim("cells", prim::FLOAT, vec![d]);
            product = self.prim("cells", prim::MUL, vec![product, d]);
        }
        let cells = self.prim("cells", prim::INT, vec![product]);
        self.check_cells(cells, span);
        Ok(())
    }

    /// The memory limit is reached unless an integer is a number of cells.
    pub(super) fn check_cells(&mut self, cells: Atom, span: Span) {
        self.check(Check::Below(cells, int(MAX_CELLS)), RuntimeErrorKind::Memory, span);
    }

    /// Notes that the product of dimensions does not wrap: an array with them exists.
    pub(super) fn assume_bounded(&mut self, dims: Vec<Size>) {
        if self.bounded.insert(dims.clone()) {
            self.bounded_log.push(dims);
        }
    }

    /// A buffer without cells, for components that a constructor does not have.
    pub(super) fn empty_buffer(&mut self, cell: Cell, span: Span) -> Slot {
        let known = self.empty.get(&cell).copied();
        let buffer = known.unwrap_or_else(|| {
            let dst = self.value("none", Kind::Buffer(cell));
            let site = self.site(RuntimeErrorKind::Memory, span);
            self.prologue.push(Stmt::Alloc { dst, cell, len: int(0), arena: Arena::Tape, site });
            self.empty.insert(cell, dst);
            dst
        });
        Slot { atom: buffer.into(), on_tape: true }
    }

    /// Brings component `k` of a value to where it shall be: copies it unless it is there.
    pub(super) fn settle(
        &mut self,
        hint: &str,
        components: &[Component],
        value: &[Slot],
        k: usize,
        dest: Dest,
        span: Span,
    ) -> Res<Slot> {
        let (Some(slot), Some(c)) = (value.get(k).copied(), components.get(k)) else {
            return Err(self.bug(span, "a component is missing"));
        };
        let (Atom::Value(src), false) = (slot.atom, c.is_scalar()) else { return Ok(slot) };
        let there = match dest {
            Dest::Any => true,
            Dest::Into(buffer) => buffer == src,
            Dest::Next { now, .. } => self.spare.get(&src).is_some_and(|pair| pair.carry == now),
            Dest::Tape => slot.on_tape,
        };
        if there {
            return Ok(slot);
        }
        self.fresh_copy(hint, components, value, k, dest, span)
    }

    /// A copy of component `k` of a value, an array, where it shall be.
    pub(super) fn fresh_copy(
        &mut self,
        hint: &str,
        components: &[Component],
        value: &[Slot],
        k: usize,
        dest: Dest,
        span: Span,
    ) -> Res<Slot> {
        let (Some(Slot { atom: Atom::Value(src), .. }), Some(c)) =
            (value.get(k).copied(), components.get(k))
        else {
            return Err(self.bug(span, "an array is a buffer"));
        };
        let copy = self.buffer_for(hint, c, value, dest, span)?;
        if let (Atom::Value(dst), Some(level)) = (copy.atom, c.levels.first()) {
            let len = self.cells_of(c, level, value, span)?;
            self.push(Stmt::CopyCells { dst, src, len, cell: c.cell() });
        }
        Ok(copy)
    }

    /// Runs `body` with an empty block and gives back its statements.
    pub(super) fn nested<T>(
        &mut self,
        body: impl FnOnce(&mut Self) -> Res<T>,
    ) -> Res<(Vec<Stmt>, T)> {
        let outer = std::mem::take(&mut self.stmts);
        let (sizes, bounds) = (self.size_log.len(), self.bounded_log.len());
        let result = body(self)?;
        let stmts = std::mem::replace(&mut self.stmts, outer);
        for size in self.size_log.drain(sizes..) {
            self.sizes.remove(&size);
        }
        for size in self.bounded_log.drain(bounds..) {
            self.bounded.remove(&size);
        }
        Ok((stmts, result))
    }

    /// Notes that the current function or loop body allocates.
    pub(super) fn allocates(&mut self, arena: Arena) {
        self.allocated[arena as usize] = true;
    }

    /// Like [`Lowering::nested`], for a function or loop body: what it allocates is given back at
    /// its end; what it allocates on the tape only if no pointer leaves it.
    pub(super) fn iteration<T>(
        &mut self,
        keeps_tape: bool,
        body: impl FnOnce(&mut Self) -> Res<T>,
    ) -> Res<(Vec<Stmt>, T)> {
        let outer = std::mem::take(&mut self.allocated);
        let (mut stmts, result) = self.nested(body)?;
        let [temp, tape] = std::mem::replace(&mut self.allocated, outer);
        if temp {
            self.bracket(&mut stmts, Arena::Temp);
        }
        if tape && keeps_tape {
            self.allocates(Arena::Tape);
        } else if tape {
            self.bracket(&mut stmts, Arena::Tape);
        }
        Ok((stmts, result))
    }

    fn bracket(&mut self, stmts: &mut Vec<Stmt>, arena: Arena) {
        let hint = if arena == Arena::Temp { "top" } else { "tape_top" };
        let mark = self.value(hint, Kind::I64);
        stmts.insert(0, Stmt::Mark { dst: mark, arena });
        stmts.push(Stmt::Release { mark, arena });
    }
}

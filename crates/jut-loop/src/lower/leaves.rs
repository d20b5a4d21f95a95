//! Statements without blocks: names, primitives, tuples, data values, accesses, casts, checks.

use jut_ir::prim::{self, Prim};
use jut_ir::{
    Atom as Operand, Check as SourceCheck, ConRef, NVar, Name, Rhs, RuntimeErrorKind, Scalar,
    Shown, Span, Stmt, Type, WRAPPED, linear_operation,
};
use jut_runtime::print::code;

use super::emit::{int, zero};
use super::{Dest, Lowering, Res, Slot};
use crate::form::{self, Arena, Atom, Cell, Check, Kind, Value};
use crate::kernel;

impl Lowering<'_> {
    /// Lowers one statement.
    pub(super) fn stmt(&mut self, stmt: &Stmt) -> Res<()> {
        let span = stmt.loc.span;
        match &stmt.rhs {
            Rhs::Atom(a) => {
                let slots = self.slots(*a, span)?;
                self.bind_one(stmt, slots.to_vec())
            }
            Rhs::Prim(prim, args) => {
                let mut operands = Vec::with_capacity(args.len());
                for a in args {
                    operands.push(self.scalar(*a, span)?);
                }
                let fails = prim.can_fail_by(operands.last().and_then(|a| a.integer()));
                if let (true, Some(divisor)) = (fails, operands.last()) {
                    let check = Check::NonZero(*divisor);
                    self.check(check, RuntimeErrorKind::DivisionByZero, span);
                }
                let hint = self.pattern_name(stmt);
                let value = self.prim(&hint, *prim, operands);
                self.bind_one(stmt, vec![Slot::scalar(value)])
            }
            Rhs::Structured(op, args, sizes) => self.structured(stmt, *op, args, sizes),
            Rhs::Tuple(items) => {
                let mut all = Vec::new();
                for a in items {
                    all.extend(self.slots(*a, span)?.iter().copied());
                }
                self.bind_one(stmt, all)
            }
            Rhs::Untuple(v) => {
                let Type::Tuple(items) = self.type_of(*v) else {
                    return Err(self.bug(span, "a tuple is expected"));
                };
                let slots = self.slots((*v).into(), span)?;
                for (to, part) in stmt.nl.iter().zip(self.cx.layouts.items(&items)) {
                    self.bind(*to, slots[part].to_vec());
                }
                Ok(())
            }
            Rhs::Proj(v, k) => {
                let slots = self.slots((*v).into(), span)?;
                let part = match self.type_of(*v) {
                    Type::Data(d) if self.cx.layouts.data(d).boxed => {
                        let con = ConRef { data: d, index: 0 };
                        let hint = self.pattern_name(stmt);
                        let field = self.load_field(con, &slots, *k as usize, &hint, span)?;
                        return self.bind_one(stmt, field);
                    }
                    Type::Tuple(items) => self.cx.layouts.item(&items, *k as usize),
                    Type::Data(d) => {
                        let layout = self.cx.layouts.data(d);
                        match layout.fields.first().and_then(|f| f.get(*k as usize)) {
                            Some(range) => range.clone(),
                            None => return Err(self.bug(span, "no such field")),
                        }
                    }
                    _ => return Err(self.bug(span, "a projection of what has no fields")),
                };
                self.bind_part(stmt, slots[part].to_vec(), span)
            }
            Rhs::Con(con, args) => {
                let slots = self.construct(*con, args, span)?;
                self.bind_one(stmt, slots)
            }
            Rhs::Open { con, value, eqs, proved } => {
                let slots = self.slots((*value).into(), span)?;
                let mut names = stmt.nl.iter();
                let fields: Vec<(Option<NVar>, Option<Operand>)> = eqs
                    .iter()
                    .map(
                        |eq| if eq.is_some() { (None, *eq) } else { (names.next().copied(), None) },
                    )
                    .collect();
                self.open(*con, &slots, &fields, *proved, span)
            }
            Rhs::ArrayLit(items) => self.array_literal(stmt, items),
            Rhs::Size(v, k) => {
                let mut ty = &self.src.nvars[*v].ty;
                for _ in 0..*k {
                    let Some(element) = ty.element() else {
                        return Err(self.bug(span, "an array lacks a dimension"));
                    };
                    ty = element;
                }
                let Some(size) = ty.size() else {
                    return Err(self.bug(span, "only arrays have sizes"));
                };
                let value = self.size(size, span)?;
                self.bind_one(stmt, vec![Slot::scalar(value)])
            }
            Rhs::Index(v, path) => {
                let slots = self.slots((*v).into(), span)?;
                let hint = self.pattern_name(stmt);
                let ty = self.type_of(*v);
                let value = self.read(&ty, &slots, path, &hint, span)?;
                self.bind_part(stmt, value, span)
            }
            Rhs::Update { array, path, value } => self.update(stmt, *array, path, *value),
            Rhs::Cast { value, ty, proved } => {
                if !proved {
                    let from = self.type_of(*value);
                    self.check_sizes(&from, ty, span)?;
                }
                let slots = self.slots((*value).into(), span)?;
                self.bind_one(stmt, slots.to_vec())
            }
            Rhs::Check(check) => self.source_check(*check, span),
            Rhs::Inc(place, jut_ir::Operand::N(a)) => {
                if self.add_waiting(place, *a, span)?.is_some() {
                    return Ok(());
                }
                let value = self.slots(*a, span)?;
                self.increment(place, &value, span)
            }
            Rhs::Region(region) if !region.is_linear() => self.acc_region(stmt, region),
            Rhs::Scan(scan) => self.scan(stmt, scan),
            Rhs::Case(case) => self.case(stmt, case),
            Rhs::Call(call) => self.call(stmt, call),
            linear_operation!() | Rhs::Inc(_, jut_ir::Operand::L(_)) | Rhs::Region(_) => {
                Err(self.bug(span, "a linear operation is left over"))
            }
        }
    }

    /// Binds a part of a value: where that is, or to a copy if it changes there while the part is read.
    fn bind_part(&mut self, stmt: &Stmt, part: Vec<Slot>, span: Span) -> Res<()> {
        match stmt.nl.first().copied().filter(|v| self.reuse.is_copied(*v)) {
            Some(v) => self.bind_copy(v, &part, span),
            None => self.bind_one(stmt, part),
        }
    }

    pub(super) fn type_of(&self, v: NVar) -> Type {
        self.src.nvars[v].ty.clone()
    }

    /// The name of the first variable that a statement binds.
    pub(super) fn pattern_name(&self, stmt: &Stmt) -> Name {
        stmt.nl.first().map_or_else(|| "t".into(), |v| self.name_of(*v))
    }

    /// Gives a variable its value. A transparent name also is the value of its polynomial.
    pub(super) fn bind(&mut self, v: NVar, slots: Vec<Slot>) {
        if let (Some(def), [slot]) = (&self.src.nvars[v].def, slots.as_slice()) {
            self.remember_size(def.clone(), slot.atom);
        }
        self.values[v] = Some(slots.into());
    }

    pub(super) fn bind_one(&mut self, stmt: &Stmt, slots: Vec<Slot>) -> Res<()> {
        if let Some(v) = stmt.nl.first() {
            self.bind(*v, slots);
        }
        Ok(())
    }

    fn construct(&mut self, con: ConRef, args: &[Operand], span: Span) -> Res<Vec<Slot>> {
        let layout = self.cx.layouts.data(con.data);
        let Some(fields) = layout.fields.get(con.index as usize) else {
            return Err(self.bug(span, "no such constructor"));
        };
        if layout.boxed {
            return self.make_box(&layout, con, args, span);
        }
        let mut all = Vec::with_capacity(layout.components.len());
        for c in layout.components.iter() {
            all.push(match c.kind() {
                Kind::Buffer(_) => None,
                kind => Some(Slot::scalar(zero(kind))),
            });
        }
        if layout.tagged {
            all[0] = Some(Slot::scalar(int(con.index as i64)));
        }
        for (a, range) in args.iter().zip(fields) {
            let slots = self.slots(*a, span)?;
            for (to, from) in all[range.clone()].iter_mut().zip(slots.iter()) {
                *to = Some(*from);
            }
        }
        let mut slots = Vec::with_capacity(all.len());
        for (slot, c) in all.into_iter().zip(layout.components.iter()) {
            slots.push(match slot {
                Some(slot) => slot,
                None => self.empty_buffer(c.cell(), span),
            });
        }
        Ok(slots)
    }

    /// Binds the fields of a constructor. `=n` is tested unless a pass made it.
    pub(super) fn open(
        &mut self,
        con: ConRef,
        value: &[Slot],
        fields: &[(Option<NVar>, Option<Operand>)],
        proved: bool,
        span: Span,
    ) -> Res<()> {
        let layout = self.cx.layouts.data(con.data);
        let Some(ranges) = layout.fields.get(con.index as usize) else {
            return Err(self.bug(span, "no such constructor"));
        };
        for (k, ((name, eq), range)) in fields.iter().zip(ranges).enumerate() {
            let loaded;
            let part = if layout.boxed {
                let hint = name.map_or_else(|| "size".into(), |v| self.name_of(v));
                loaded = self.load_field(con, value, k, &hint, span)?;
                &loaded[..]
            } else {
                let Some(part) = value.get(range.clone()) else {
                    return Err(self.bug(span, "a data value lacks a component"));
                };
                part
            };
            if let Some(v) = name {
                self.bind(*v, part.to_vec());
            }
            if let (Some(n), [slot], false) = (eq, part, proved) {
                let n = self.scalar(*n, span)?;
                self.check(Check::Equal(slot.atom, n), RuntimeErrorKind::SizeMismatch, span);
            }
        }
        Ok(())
    }

    /// The buffers that an array variable is built in.
    pub(super) fn array_buffers(
        &mut self,
        hint: &str,
        ty: &Type,
        dests: &[Dest],
        span: Span,
    ) -> Res<(Vec<Slot>, Vec<Value>)> {
        let components = self.cx.layouts.of(ty);
        let (mut slots, mut buffers) = (Vec::new(), Vec::new());
        for (k, c) in components.iter().enumerate() {
            let dest = dests.get(k).copied().unwrap_or(Dest::Any);
            let slot = self.buffer_for(hint, c, &[], dest, span)?;
            let Atom::Value(buffer) = slot.atom else {
                return Err(self.bug(span, "an array is a buffer"));
            };
            slots.push(slot);
            buffers.push(buffer);
        }
        Ok((slots, buffers))
    }

    /// A cast that a user wrote: every size that is not equal by its form is compared.
    fn check_sizes(&mut self, from: &Type, to: &Type, span: Span) -> Res<()> {
        match (from, to) {
            (Type::Array(m, a), Type::Array(n, b)) => {
                if m != n {
                    let (m, n) = (self.size(m, span)?, self.size(n, span)?);
                    self.check(Check::Equal(m, n), RuntimeErrorKind::SizeMismatch, span);
                }
                self.check_sizes(a, b, span)
            }
            (Type::Tuple(a), Type::Tuple(b)) => {
                a.iter().zip(b).try_for_each(|(a, b)| self.check_sizes(a, b, span))
            }
            _ => Ok(()),
        }
    }

    fn source_check(&mut self, check: SourceCheck, span: Span) -> Res<()> {
        let (check, kind) = match check {
            SourceCheck::Exact(operation, a, b) => {
                let (a, b) = (self.scalar(a, span)?, self.scalar(b, span)?);
                return self.exact(operation, a, b, span);
            }
            SourceCheck::Below(i, n) => {
                let (i, n) = (self.scalar(i, span)?, self.scalar(n, span)?);
                (Check::Below(i, n), RuntimeErrorKind::Index)
            }
            SourceCheck::Within { lo, len, size } => {
                let (lo, len) = (self.scalar(lo, span)?, self.scalar(len, span)?);
                (Check::Within(lo, len, self.scalar(size, span)?), RuntimeErrorKind::Slice)
            }
            SourceCheck::NonNegative(n) => {
                (Check::NonNegative(self.scalar(n, span)?), RuntimeErrorKind::NegativeSize)
            }
            SourceCheck::Show(shown) => return self.show(shown, span),
        };
        self.check(check, kind, span);
        Ok(())
    }

    /// Calls what prints: integers and truth values are words, floats lie in memory.
    fn show(&mut self, shown: Shown, span: Span) -> Res<()> {
        let (what, word) = match shown {
            Shown::Text(bytes) => (code::TEXT, int(i64::from_le_bytes(bytes))),
            Shown::End => (code::END, int(0)),
            Shown::Before(i) => (code::BEFORE, self.scalar(i, span)?),
            Shown::Value(a) => {
                let a = self.scalar(a, span)?;
                match a.kind(&self.out.values) {
                    Kind::Scalar(Scalar::I64) => (code::I64, a),
                    Kind::Scalar(Scalar::I32) => {
                        (code::I64, self.prim("word", prim::WIDEN, vec![a]))
                    }
                    Kind::Scalar(Scalar::Bool) => {
                        (code::BOOL, self.prim("word", prim::ISELECT, vec![a, int(1), int(0)]))
                    }
                    Kind::Scalar(Scalar::F64) => return self.show_float(a, code::F64, span),
                    Kind::Scalar(Scalar::F32) => {
                        let a = self.prim("x", prim::DOUBLE, vec![a]);
                        return self.show_float(a, code::F32, span);
                    }
                    Kind::Buffer(_) => return Err(self.bug(span, "a buffer is printed")),
                }
            }
        };
        self.push(form::Stmt::Kernel { kernel: kernel::PRINT, args: vec![int(what), word] });
        Ok(())
    }

    fn show_float(&mut self, x: Atom, what: i64, span: Span) -> Res<()> {
        let mark = self.value("top", Kind::I64);
        self.push(form::Stmt::Mark { dst: mark, arena: Arena::Temp });
        let cell = self.value("cell", Kind::Buffer(Cell::F64));
        self.alloc(cell, Cell::F64, int(1), Arena::Temp, span);
        self.push(form::Stmt::Store { buffer: cell, index: int(0), value: x });
        let args = vec![cell.into(), int(what)];
        self.push(form::Stmt::Kernel { kernel: kernel::PRINT_FLOAT, args });
        self.push(form::Stmt::Release { mark, arena: Arena::Temp });
        Ok(())
    }

    /// The same operation in floats is near to the value of an operation that has not wrapped, and
    /// at least 2^62 away from that of one that has.
    fn exact(&mut self, operation: Prim, a: Atom, b: Atom, span: Span) -> Res<()> {
        let floats = match operation {
            prim::IADD => prim::ADD,
            prim::ISUB => prim::SUB,
            _ => prim::MUL,
        };
        let (first, second) = (a, b);
        if let (prim::IMUL, Atom::Lit(jut_ir::Literal::I64(times @ 1..))) = (operation, b) {
            let low = self.prim("low", prim::ILE, vec![int(i64::MIN / times), a]);
            let high = self.prim("high", prim::ILE, vec![a, int(i64::MAX / times)]);
            let exact = self.prim("exact", prim::AND, vec![low, high]);
            return self.exact_if(exact, operation, (first, second), span);
        }
        let value = self.prim("size", operation, vec![a, b]);
        let value = self.prim("size", prim::FLOAT, vec![value]);
        let [a, b] = [a, b].map(|x| self.prim("size", prim::FLOAT, vec![x]));
        let expected = self.prim("size", floats, vec![a, b]);
        let apart = self.prim("apart", prim::SUB, vec![expected, value]);
        let apart = self.prim("apart", prim::ABS, vec![apart]);
        let apart = self.prim("apart", prim::INT, vec![apart]);
        let exact = self.prim("exact", prim::ILT, vec![apart, int(1 << 62)]);
        self.exact_if(exact, operation, (first, second), span)
    }

    /// A size that is no i64 unless `exact` holds: the error names the operation and its operands.
    fn exact_if(
        &mut self,
        exact: Atom,
        operation: Prim,
        (first, second): (Atom, Atom),
        span: Span,
    ) -> Res<()> {
        // A slice that is in range if the size is exact, and else begins below 0: so an error has the
        // operation and its operands with it.
        let wrapped = WRAPPED + SourceCheck::number_of(operation);
        let [operation, a, b] = [int(wrapped), first, second]
            .map(|left| self.prim("left", prim::ISELECT, vec![exact, int(0), left]));
        self.check(Check::Within(operation, a, b), RuntimeErrorKind::Memory, span);
        Ok(())
    }

    /// A block of the loop form.
    pub(super) fn form_block(stmts: Vec<form::Stmt>, results: Vec<Atom>) -> form::Block {
        form::Block { stmts, results }
    }
}

//! Functions and calls: the calling convention of [`crate::signature`], from both sides.
//!
//! A scalar `acc` parameter is a cell in memory. It is held in a register only if it is the
//! function's sole accumulator: two accumulators of one call may be the same memory.

use jut_ir::hash::HashMap;
use jut_ir::prim;
use jut_ir::{
    Block, Call, FuncId, Function, Loc, NVar, Place, Program, Rhs, RuntimeErrorKind, Scalar, Size,
    Span, Stmt, Type, VarData,
};

use super::emit::{int, zero};
use super::{CapView, Context, Dest, Lowering, Register, Res, Slot, Storage};
use crate::flatten::{Component, Scope};
use crate::form::{self, Arena, Atom, Kind, LoopFunction, Param, Role, Value};
use crate::recursion::LEVELS;
use crate::signature::{AbiComponent, Parameter, Signature};

/// Lowers one function. The entry gives nothing back at its end: the arenas are reset before the
/// next call, and a call that might leave the function there would keep results out of registers.
///
/// One that calls itself, which is in a circle, has a last parameter that callers from outside do not know: see
/// [`crate::recursion`].
pub(super) fn function(
    src: &Function,
    is_entry: bool,
    circle: usize,
    cx: &mut Context,
) -> Res<(LoopFunction, Signature)> {
    let mut this = Lowering::new(src, cx);
    let (signature, dests) = this.head()?;
    if circle != 0 {
        let levels = this.value("levels", Kind::I64);
        this.parameter(levels, Role::In);
        (this.circle, this.levels) = (circle, Some(levels));
    }
    let body = |this: &mut Lowering<'_>| {
        if is_entry {
            this.given_dimensions()?;
        }
        let sole = this.enter_accumulators();
        let results = match src.foreign {
            Some(foreign) => {
                let args: Vec<jut_ir::Atom> = src.params.iter().map(|v| (*v).into()).collect();
                let results: Vec<Type> = src.results.iter().map(|r| r.ty.clone()).collect();
                this.foreign(foreign.number, &args, &results, &dests, src.span)?
            }
            None => this.block_into(&src.body, &dests, src.span)?,
        };
        if let Some((r, cell)) = sole {
            let value = this.registers[r].now;
            this.push(form::Stmt::Store { buffer: cell, index: int(0), value });
        }
        Ok(results)
    };
    let (stmts, results) =
        if is_entry { this.nested(body)? } else { this.iteration(keeps_tape(&signature), body)? };
    let mut returned = Vec::new();
    for (result, slots) in signature.results.iter().zip(results) {
        for (c, slot) in result.components.iter().zip(slots) {
            if c.role.is_none() {
                returned.push(slot.atom);
            }
        }
    }
    let mut all = std::mem::take(&mut this.prologue);
    all.extend(stmts);
    this.out.body = form::Block { stmts: all, results: returned };
    Ok((this.out, signature))
}

/// How a function is called.
pub(super) fn signature(src: &Function, cx: &mut Context) -> Res<Signature> {
    Ok(Lowering::new(src, cx).head()?.0)
}

/// A function that does nothing but call another one.
pub(super) fn from_outside(program: &Program, callee: FuncId) -> Function {
    let mut func = program.funcs[callee].signature();
    func.foreign = None;
    let mut nl = Vec::with_capacity(func.results.len());
    let mut names: HashMap<NVar, NVar> = HashMap::default();
    for (k, result) in func.results.clone().into_iter().enumerate() {
        let ty = result.ty.subst(&mut |v| names.get(&v).map(|v| Size::var(*v)));
        let name = format!("result{k}").into();
        let v = func.nvars.push(VarData { name, ty, def: None, span: func.span });
        names.extend(result.name.map(|name| (name, v)));
        nl.push(v);
    }
    let args = func.params.iter().map(|v| jut_ir::Atom::Var(*v)).collect();
    let places = func.cap_params.iter().map(|c| Some(Place::root(*c))).collect();
    let rhs = Rhs::Call(Box::new(Call { func: callee, args, lin_args: Vec::new(), places }));
    let results = nl.iter().map(|v| jut_ir::Atom::Var(*v)).collect();
    let loc = Loc::source(func.span);
    let stmt = Stmt { nl, lin: Vec::new(), rhs, annotated: false, loc };
    func.body = Block { stmts: vec![stmt], nl: results, lin: Vec::new() };
    func
}

impl Lowering<'_> {
    /// Compares the dimensions of arrays of several dimensions that come from outside: an array without elements may be said to
    /// have any of them, and the range rule takes it that they are less than 2^48. (One dimension is that of memory.)
    fn given_dimensions(&mut self) -> Res<()> {
        let src = self.src;
        let mut compared: Vec<Size> = Vec::new();
        for v in &src.params {
            let slots = self.slots(jut_ir::Atom::Var(*v), src.span)?;
            for c in self.cx.layouts.of(&src.nvars[*v].ty).iter() {
                let Some(level) = c.levels.first().filter(|level| level.dims.len() > 1) else {
                    continue;
                };
                for size in level.dims.iter().filter(|size| size.as_constant().is_none()) {
                    let shared = level.scope == Scope::Function;
                    if shared && compared.contains(size) {
                        continue;
                    }
                    let mut n = self.size_in(level, size, &slots, src.span)?;
                    // What is said of the part of a constructor that was not taken is nothing.
                    for (tag, constructor) in &c.only_if {
                        let Some(tag) = slots.get(*tag).map(|slot| slot.atom) else { continue };
                        let taken = self.prim("taken", prim::IEQ, vec![tag, int(*constructor)]);
                        n = self.prim("n", prim::ISELECT, vec![taken, n, int(0)]);
                    }
                    self.check_cells(n, src.span);
                    compared.extend(shared.then(|| size.clone()));
                }
            }
        }
        Ok(())
    }

    /// Declares the parameters; gives the signature and the destinations of the results.
    fn head(&mut self) -> Res<(Signature, Vec<Vec<Dest>>)> {
        let src = self.src;
        let mut signature = Signature { name: src.name.clone(), ..Signature::default() };
        for v in &src.params {
            let data = &src.nvars[*v];
            let mut numbers = Vec::new();
            let mut slots = Vec::new();
            for c in self.cx.layouts.of(&data.ty).iter() {
                let value = self.component_value(&data.name, c);
                numbers.push(self.parameter(value, Role::In));
                slots.push(Slot::given(value, c));
                if let Some(level) = c.levels.first()
                    && level.scope == Scope::Function
                {
                    self.assume_bounded(level.dims.clone());
                }
            }
            if data.ty == Type::I64 {
                signature.sizes.extend(numbers.first().map(|n| (*v, *n)));
            }
            self.bind(*v, slots);
            let parameter =
                self.describe(&signature, &data.name, &data.ty, &numbers, |_| Some(Role::In));
            signature.params.push(parameter);
        }
        for cap in &src.cap_params {
            let data = &src.caps[*cap];
            let (mut numbers, mut storage) = (Vec::new(), Vec::new());
            for c in self.cx.layouts.of(&data.ty).iter() {
                let name = format!("{}{}", data.name, c.suffix);
                let kind = if c.is_scalar() { Kind::Buffer(c.scalar_cell()) } else { c.kind() };
                let value = self.value(&name, kind);
                numbers.push(self.parameter(value, Role::InOut));
                storage.push(if c.is_scalar() {
                    Storage::Cell(value, int(0))
                } else {
                    Storage::Block(value)
                });
            }
            self.caps[*cap] = Some(CapView { ty: data.ty.clone(), storage });
            let mut parameter =
                self.describe(&signature, &data.name, &data.ty, &numbers, |_| Some(Role::InOut));
            for c in &mut parameter.components {
                if let (false, kind) = (matches!(c.kind, Kind::Buffer(_)), c.kind) {
                    c.kind = Kind::Buffer(form::Cell::of(kind));
                }
            }
            signature.params.push(parameter);
        }
        let dests = self.results(&mut signature);
        for number in 0..self.out.params.len() {
            let all = signature.params.iter().chain(&signature.results);
            let found = all.flat_map(|p| &p.components).find(|c| c.number == number);
            if let Some(c) = found.filter(|c| matches!(c.kind, Kind::Buffer(_))) {
                self.out.params[number].len = Some(c.cells());
            }
        }
        Ok((signature, dests))
    }

    fn parameter(&mut self, value: Value, role: Role) -> usize {
        self.out.params.push(Param { value, role, len: None });
        self.out.params.len() - 1
    }

    fn describe(
        &mut self,
        signature: &Signature,
        name: &str,
        ty: &Type,
        numbers: &[usize],
        role: impl Fn(usize) -> Option<Role>,
    ) -> Parameter {
        let abi = |tags: &[(usize, i64)]| {
            let tags = tags.iter().filter_map(|(tag, con)| Some((*numbers.get(*tag)?, *con)));
            tags.collect()
        };
        let components = self.cx.layouts.of(ty);
        let components = components
            .iter()
            .zip(numbers)
            .enumerate()
            .map(|(k, (c, number))| AbiComponent {
                layout: c.clone(),
                kind: c.kind(),
                number: *number,
                role: role(k),
                dims: signature.abi_dims(c, numbers),
                only_if: abi(&c.only_if),
            })
            .collect();
        Parameter { name: name.to_string(), ty: ty.clone(), components }
    }

    /// Decides which results the caller allocates.
    fn results(&mut self, signature: &mut Signature) -> Vec<Vec<Dest>> {
        let src = self.src;
        let mut dests = Vec::new();
        for (k, result) in src.results.iter().enumerate() {
            let hint = match result.name {
                Some(name) => self.name_of(name),
                None if src.results.len() == 1 => "result".into(),
                None => format!("result{k}").into(),
            };
            let mut wanted = Vec::new();
            for c in self.cx.layouts.of(&result.ty).iter() {
                wanted.push(if c.is_scalar() {
                    Dest::Any
                } else if caller_sizes(c, &|v| signature.sizes.contains_key(&v)) {
                    let value = self.component_value(&hint, c);
                    self.parameter(value, Role::Out);
                    Dest::Into(value)
                } else {
                    Dest::Tape
                });
            }
            dests.push(wanted);
        }
        let (mut returned, count) = (self.out.params.len(), self.out.params.len());
        signature.param_count = count;
        let mut out = self.out.params.iter().position(|p| p.role == Role::Out).unwrap_or(count);
        let mut numbers: Vec<Vec<usize>> = Vec::new();
        for (result, wanted) in src.results.iter().zip(&dests) {
            let mut own = Vec::new();
            for dest in wanted {
                let next = if let Dest::Into(_) = dest { &mut out } else { &mut returned };
                own.push(*next);
                *next += 1;
            }
            if let (Some(name), Type::I64) = (result.name, &result.ty) {
                signature.sizes.extend(own.first().map(|n| (name, *n)));
            }
            numbers.push(own);
        }
        for ((result, wanted), numbers) in src.results.iter().zip(&dests).zip(&numbers) {
            let name = result.name.map(|v| self.name_of(v)).unwrap_or_default();
            let role = |k: usize| match wanted.get(k) {
                Some(Dest::Into(_)) => Some(Role::Out),
                _ => None,
            };
            let parameter = self.describe(signature, &name, &result.ty, numbers, role);
            signature.results.push(parameter);
        }
        dests
    }

    /// If there is just one accumulator and it is a scalar, it becomes a register that starts from
    /// the cell.
    fn enter_accumulators(&mut self) -> Option<(usize, Value)> {
        let lanes = self.src.cap_params.iter().filter(|c| self.src.caps[**c].lanes);
        self.lane_caps = lanes.copied().collect();
        let [cap] = self.src.cap_params.as_slice() else { return None };
        let view = self.caps[*cap].as_mut()?;
        let [Storage::Cell(cell, index)] = *view.storage.as_slice() else { return None };
        view.storage = vec![Storage::Register(self.registers.len())];
        let Kind::Buffer(of) = self.out.values[cell].kind else { return None };
        let form::Cell::Scalar(scalar @ (Scalar::Float(_) | Scalar::I64 | Scalar::I32)) = of else {
            return None;
        };
        let kind = Kind::Scalar(scalar);
        let name = self.src.caps[*cap].name.clone();
        let dst = self.value(&name, kind);
        self.push(form::Stmt::Load { dst, buffer: cell, index });
        self.registers.push(Register { now: dst.into(), cell: Some(cell) });
        Some((self.registers.len() - 1, cell))
    }

    /// Lowers a call.
    pub(super) fn call(&mut self, stmt: &Stmt, call: &Call) -> Res<()> {
        let span = stmt.loc.span;
        if let Some((number, span)) = self.cx.foreign.get(&call.func).copied() {
            let results: Vec<Type> = stmt.nl.iter().map(|v| self.type_of(*v)).collect();
            let dests = self.pattern_dests(stmt);
            let slots = self.foreign(number, &call.args, &results, &dests, span)?;
            stmt.nl.iter().zip(slots).for_each(|(v, slots)| self.bind(*v, slots));
            return Ok(());
        }
        let Some(found) = self.cx.lowered.get(&call.func).cloned() else {
            return Err(self.bug(span, "a function is called before it is lowered"));
        };
        let (func, callee) = (found.id, found.signature);
        if found.keeps_tape {
            self.allocates(Arena::Tape);
        }
        let mut args = Vec::with_capacity(callee.param_count);
        for a in &call.args {
            args.extend(self.slots(*a, span)?.iter().map(|s| s.atom));
        }
        let caps = callee.params.iter().skip(call.args.len());
        let mut reload = Vec::new();
        for (place, parameter) in call.places.iter().zip(caps) {
            self.argument_place(place.as_ref(), parameter, &mut args, &mut reload, span)?;
        }
        let dests = self.pattern_dests(stmt);
        let mut dst = Vec::new();
        let mut bound = Vec::new();
        for ((v, wanted), result) in stmt.nl.iter().zip(&dests).zip(&callee.results) {
            let components = self.cx.layouts.of(&self.type_of(*v));
            let hint = self.name_of(*v);
            let mut slots = Vec::with_capacity(components.len());
            for (k, (c, abi)) in components.iter().zip(&result.components).enumerate() {
                slots.push(if abi.role == Some(Role::Out) {
                    let dest = wanted.get(k).copied().unwrap_or(Dest::Any);
                    let slot = self.buffer_for(&hint, c, &[], dest, span)?;
                    args.push(slot.atom);
                    slot
                } else {
                    let value = self.component_value(&hint, c);
                    dst.push(value);
                    // What a function returns by pointer is on the tape.
                    Slot { atom: value.into(), on_tape: !c.is_scalar() }
                });
            }
            bound.push((*v, components, slots, wanted, hint));
        }
        if found.circle != 0 {
            let levels = match self.levels.filter(|_| found.circle == self.circle) {
                Some(levels) => {
                    let check = form::Check::Below(int(0), levels.into());
                    self.check(check, RuntimeErrorKind::Recursion, span);
                    self.sub("rest", levels.into(), int(1))
                }
                None => int(LEVELS),
            };
            args.push(levels);
        }
        self.push(form::Stmt::Call { dst, func, args, shares: None });
        for (r, cell) in reload {
            let kind = self.out.kind_of(self.registers[r].now);
            let value = self.value("s", kind);
            self.push(form::Stmt::Load { dst: value, buffer: cell, index: int(0) });
            self.registers[r].now = value.into();
        }
        // Results are bound in order: sizes of later ones name earlier ones.
        for (v, components, slots, wanted, hint) in bound {
            self.bind(v, slots.clone());
            let mut settled = Vec::with_capacity(slots.len());
            for k in 0..slots.len() {
                let dest = wanted.get(k).copied().unwrap_or(Dest::Any);
                settled.push(self.settle(&hint, &components, &slots, k, dest, span)?);
            }
            self.bind(v, settled);
        }
        Ok(())
    }

    /// The buffers that stand for a place (or `null`) in a call.
    fn argument_place(
        &mut self,
        place: Option<&Place>,
        parameter: &Parameter,
        args: &mut Vec<Atom>,
        reload: &mut Vec<(usize, Value)>,
        span: Span,
    ) -> Res<()> {
        let Some(place) = place else {
            for c in &parameter.components {
                if !c.layout.is_scalar() {
                    return Err(self.bug(span, "null for an array"));
                }
                let cell = self.value("null", c.kind);
                self.alloc(cell, c.layout.scalar_cell(), int(1), Arena::Temp, span);
                let value = zero(c.layout.scalar);
                self.push(form::Stmt::Store { buffer: cell, index: int(0), value });
                args.push(cell.into());
            }
            return Ok(());
        };
        let (_, reached) = self.place(place, span)?;
        for (target, c) in reached.storage.into_iter().zip(&parameter.components) {
            let buffer = match target {
                Storage::Block(buffer) => buffer,
                Storage::Cell(buffer, index) if index == int(0) => buffer,
                Storage::Cell(buffer, index) => {
                    let dst = self.value(&parameter.name, c.kind);
                    self.push(form::Stmt::Offset { dst, buffer, index });
                    dst
                }
                Storage::Register(r) => match reload.iter().find(|(known, _)| *known == r) {
                    Some((_, cell)) => *cell,
                    None => {
                        let cell = self.cell_of_register(r, span);
                        let value = self.registers[r].now;
                        self.push(form::Stmt::Store { buffer: cell, index: int(0), value });
                        reload.push((r, cell));
                        cell
                    }
                },
            };
            args.push(buffer.into());
        }
        Ok(())
    }
}

/// Whether a function gives its caller pointers: returned buffers, or buffers of buffers.
pub(super) fn keeps_tape(signature: &Signature) -> bool {
    let components = signature.results.iter().flat_map(|r| &r.components);
    components
        .into_iter()
        .any(|c| has_pointers(&c.layout) || (c.role.is_none() && !c.layout.is_scalar()))
}

/// Whether a component in place holds pointers to further buffers.
pub(super) fn has_pointers(c: &Component) -> bool {
    c.is_pinned() || c.levels.len() > 1
}

/// Whether the number of cells of a result follows from the parameters.
fn caller_sizes(c: &Component, known: &dyn Fn(NVar) -> bool) -> bool {
    let Some(level) = c.levels.first() else { return false };
    let names = |d: &Size| d.names().into_iter().all(known);
    !level.pinned && level.dims.iter().all(names)
}

//! Loops.
//!
//! `scan` becomes `for`, or `lanes` when it stands directly in an `acc lanes` region that it adds to.
//!
//! - A stacked result is one buffer per component, made before the loop; the body writes row i. Of a loop
//!   that may end early the buffers grow ([`super::growing`]).
//! - A carried array is two buffers: the body reads one and builds its next value in the other, and
//!   the loop swaps them by carrying both. A branch that leaves the array as it is gives the first buffer,
//!   so that nothing is copied: which is which is then the result of the `if`. Arrays that change places change their
//!   buffers.
//! - A carried array that iterations only change in place ([`jut_ir::reuse`]) is one buffer, which the loop does
//!   not carry at all: that of its initial value, if nobody reads that afterwards, or a copy.
//! - A register that the body adds to is carried. Around `lanes` it is put in a cell instead, for
//!   `lanes` carries only its sums.

use jut_ir::{Atom as Operand, Cap, Dir, Place, Scan, Span, Step, Stmt, Type};
use std::collections::BTreeSet;
use std::rc::Rc;

use super::emit::int;
use super::{CapView, Dest, Lowering, Pair, Register, Res, Slot, Storage, calls, regions};
use crate::flatten::Component;
use crate::form::{self, Arena, Atom, Cell, For, Kind, Lanes, Order, Value};

/// A stacked result.
pub(super) struct Stack {
    pub(super) hint: String,
    /// The components of one element, and of the array.
    element: Rc<[Component]>,
    pub(super) array: Rc<[Component]>,
    pub(super) buffers: Vec<Value>,
    pub(super) slots: Vec<Slot>,
}

/// What becomes of one component of a carry.
enum Carry {
    /// Carried value, whether it is a pointer to the tape.
    Value(Slot),
    /// Two buffers, current and next.
    Swap { now: Value, next: Value },
    /// One buffer, in which every iteration works.
    Stays(Slot),
}

/// The carries of a loop: the loop form's, and how they make up those of the source.
#[derive(Default)]
struct Carries {
    /// Per carry of the source, per component.
    parts: Vec<Vec<Carry>>,
    /// Name in the body, initial value.
    form: Vec<(Value, Atom)>,
    /// Per component, whether it brings pointers out of the body.
    pointers: Vec<bool>,
}

/// Whether a loop body hands on pointers to what it allocates.
fn keeps_tape(carries: &[bool], stacks: &[Stack]) -> bool {
    let mut stacked = stacks.iter().flat_map(|s| s.element.iter());
    carries.contains(&true) || stacked.any(calls::has_pointers)
}

impl Lowering<'_> {
    /// Lowers `scan`.
    pub(super) fn scan(&mut self, stmt: &Stmt, scan: &Scan) -> Res<()> {
        let span = stmt.loc.span;
        let high = self.scalar(scan.bound, span)?;
        let mut dests = self.pattern_dests(stmt);
        let split = scan.carry.len().min(dests.len());
        let stack_dests = dests.split_off(split);
        let carries = self.carries(scan, &dests, span)?;
        let early = scan.dir == Dir::While;
        let mut stacks = Vec::new();
        for (v, wanted) in stmt.nl.iter().skip(split).zip(&stack_dests) {
            let (hint, ty) = (self.name_of(*v), self.type_of(*v));
            stacks.push(match early {
                true => self.empty_stack(&hint, &ty, span)?,
                false => self.stack(&hint, &ty, wanted, span)?,
            });
        }
        let mut touched = BTreeSet::new();
        regions::touched(&scan.body, &mut touched);
        touched.retain(|c| self.caps.get(*c).is_some_and(|view| view.is_some()));

        let around = std::mem::take(&mut self.lane_caps);
        let lanes: Vec<Cap> = if scan.dir == Dir::Par && scan.carry.is_empty() {
            around.iter().copied().filter(|c| touched.contains(c) && self.has_lanes(*c)).collect()
        } else {
            Vec::new()
        };
        let (mut finals, ends) = if lanes.is_empty() {
            let independent =
                scan.carry.is_empty() && touched.is_empty() && !self.cx.prints(&scan.body);
            let order = match scan.dir {
                Dir::Down => Order::Down,
                // The rows of stacks and of sliced accumulators are the iteration's own.
                Dir::Up | Dir::Par if independent => Order::Par,
                Dir::Up | Dir::Par => Order::Up,
                Dir::While => Order::While,
            };
            self.for_loop(scan, high, order, carries, &mut stacks, &touched, span)?
        } else {
            self.lanes_loop(scan, high, &lanes, &stacks, &touched, span)?;
            (Vec::new(), Vec::new())
        };
        self.lane_caps = around;
        if early {
            let trips = Self::ended_growing(ends, &mut stacks);
            let (Some(trips), Some(first)) = (trips, finals.first_mut()) else {
                return Err(self.bug(span, "a loop that may end early counts its iterations"));
            };
            *first = vec![Slot::scalar(trips)];
            // Nobody waits for more. But a backend may know how often a loop would run without running it, and how often is the size
            // of an array that nobody reads: no array has more elements.
            if stmt.nl.first().is_some_and(|v| self.uses[*v] > 0) {
                self.check_cells(trips.into(), span);
            }
        }

        for ((v, slots), wanted) in stmt.nl.iter().zip(finals).zip(&dests) {
            let components = self.cx.layouts.of(&self.type_of(*v));
            let hint = self.name_of(*v);
            let mut settled = Vec::with_capacity(slots.len());
            for k in 0..slots.len() {
                let dest = wanted.get(k).copied().unwrap_or(Dest::Any);
                settled.push(self.settle(&hint, &components, &slots, k, dest, span)?);
            }
            self.bind(*v, settled);
        }
        for ((v, stack), wanted) in stmt.nl.iter().skip(split).zip(stacks).zip(stack_dests) {
            let mut slots = stack.slots;
            if early {
                for (k, dest) in wanted.into_iter().enumerate() {
                    slots[k] = self.settle(&stack.hint, &stack.array, &slots, k, dest, span)?;
                }
            }
            self.bind(*v, slots);
        }
        Ok(())
    }

    fn has_lanes(&self, cap: Cap) -> bool {
        self.src.caps[cap].ty == Type::F64
    }

    fn carries(&mut self, scan: &Scan, dests: &[Vec<Dest>], span: Span) -> Res<Carries> {
        let mut carries = Carries::default();
        for (number, (v, init)) in scan.carry.iter().enumerate() {
            let (stays, taken) = (self.reuse.stays(*v), self.reuse.taken(*v).is_some());
            let components = self.cx.layouts.of(&self.type_of(*v));
            let init = self.slots(*init, span)?;
            let hint = self.name_of(*v);
            let mut parts = Vec::with_capacity(components.len());
            for (k, c) in components.iter().enumerate() {
                carries.pointers.push(calls::has_pointers(c));
                let Some(slot) = init.get(k) else {
                    return Err(self.bug(span, "a carry lacks a component"));
                };
                if c.is_scalar() || c.is_pinned() {
                    let value = self.component_value(&hint, c);
                    carries.form.push((value, slot.atom));
                    parts.push(Carry::Value(Slot {
                        atom: value.into(),
                        on_tape: slot.on_tape || c.is_box(),
                    }));
                    continue;
                }
                if stays {
                    let dest = dests.get(number).and_then(|d| d.get(k)).copied();
                    let dest = dest.unwrap_or(Dest::Any);
                    let slot = match taken {
                        true => self.settle(&hint, &components, &init, k, dest, span)?,
                        false => self.fresh_copy(&hint, &components, &init, k, dest, span)?,
                    };
                    parts.push(Carry::Stays(slot));
                    continue;
                }
                // A copy, so that the loop may change it ([`jut_ir::reuse`]).
                let first = self.fresh_copy(&hint, &components, &init, k, Dest::Any, span)?;
                let second = self.buffer_for(&hint, c, &init, Dest::Any, span)?;
                let now = self.component_value(&hint, c);
                let next = self.component_value(&format!("{hint}_next"), c);
                carries.form.push((now, first.atom));
                carries.form.push((next, second.atom));
                parts.push(Carry::Swap { now, next });
            }
            carries.parts.push(parts);
        }
        Ok(carries)
    }

    fn stack(&mut self, hint: &str, ty: &Type, dests: &[Dest], span: Span) -> Res<Stack> {
        let Some(element) = ty.element() else {
            return Err(self.bug(span, "a stacked result is an array"));
        };
        let (element, array) = (self.cx.layouts.of(element), self.cx.layouts.of(ty));
        let (slots, buffers) = self.array_buffers(hint, ty, dests, span)?;
        Ok(Stack { hint: hint.to_string(), element, array, buffers, slots })
    }

    /// A stacked result without memory: that comes as the loop goes on.
    fn empty_stack(&mut self, hint: &str, ty: &Type, span: Span) -> Res<Stack> {
        let Some(element) = ty.element() else {
            return Err(self.bug(span, "a stacked result is an array"));
        };
        let (element, array) = (self.cx.layouts.of(element), self.cx.layouts.of(ty));
        let slots: Vec<Slot> = array.iter().map(|c| self.empty_buffer(c.cell(), span)).collect();
        Ok(Stack { hint: hint.to_string(), element, array, buffers: Vec::new(), slots })
    }

    /// Binds index and slices, runs the body, writes the stacked rows; gives the components of the
    /// body's first `carries` results.
    fn body(
        &mut self,
        scan: &Scan,
        index: Value,
        carries: &[Vec<Carry>],
        stacks: &[Stack],
        span: Span,
    ) -> Res<Vec<Vec<Slot>>> {
        self.bind(scan.index, vec![Slot::scalar(index)]);
        let mut dests = Vec::new();
        for ((v, _), parts) in scan.carry.iter().zip(carries) {
            let mut wanted = Vec::new();
            let mut slots = Vec::new();
            for part in parts {
                match part {
                    // Pointers that are carried outlive the iteration.
                    Carry::Value(slot) => {
                        slots.push(*slot);
                        wanted.push(Dest::Tape);
                    }
                    Carry::Stays(Slot { atom, .. }) => {
                        let Atom::Value(buffer) = *atom else {
                            return Err(self.bug(span, "an array is a buffer"));
                        };
                        slots.push(Slot::scalar(buffer));
                        wanted.push(Dest::Into(buffer));
                    }
                    Carry::Swap { now, next } => {
                        slots.push(Slot::scalar(*now));
                        wanted.push(Dest::Next { now: *now, next: *next });
                        self.spare.insert(*now, Pair { carry: *now, other: *next });
                        self.spare.insert(*next, Pair { carry: *now, other: *now });
                    }
                }
            }
            self.bind(*v, slots);
            dests.push(wanted);
        }
        let places = self.places(scan, carries);
        let mut dests: Vec<Vec<Dest>> =
            places.into_iter().filter_map(|k| dests.get(k).cloned()).collect();
        let here = Step::Index { index: Operand::Var(scan.index), proved: true };
        for (v, array) in &scan.slices {
            let slots = self.slots((*array).into(), span)?;
            let ty = self.type_of(*array);
            let value = self.read(&ty, &slots, &[here], &self.name_of(*v), span)?;
            self.bind(*v, value);
        }
        for (cap, place) in &scan.cap_slices {
            let (_, reached) = self.place(&place.then(here), span)?;
            let ty = self.src.caps[*cap].ty.clone();
            self.caps[*cap] = Some(CapView { ty, storage: reached.storage });
        }
        let first_stack = dests.len();
        for stack in stacks {
            let mut wanted = Vec::new();
            for (c, buffer) in stack.element.iter().zip(&stack.buffers) {
                wanted.push(if c.is_scalar() || c.is_pinned() {
                    Dest::Tape
                } else {
                    Dest::Into(self.row(c, *buffer, index.into(), &stack.hint, span)?)
                });
            }
            dests.push(wanted);
        }
        let mut results = self.block_into(&scan.body, &dests, span)?;
        for (stack, value) in stacks.iter().zip(results.drain(first_stack..)) {
            for ((c, buffer), slot) in stack.element.iter().zip(&stack.buffers).zip(value) {
                if c.is_scalar() || c.is_pinned() {
                    let (buffer, index) = (*buffer, index.into());
                    self.push(form::Stmt::Store { buffer, index, value: slot.atom });
                }
            }
        }
        for (cap, _) in &scan.cap_slices {
            self.caps[*cap] = None;
        }
        Ok(results)
    }

    /// By carry, the one in whose buffers the next value is best: that which is handed on or changed in place, so that
    /// arrays that change places are not copied. What is made anew takes the buffers that are left.
    fn places(&self, scan: &Scan, carries: &[Vec<Carry>]) -> Vec<usize> {
        let names = || scan.carry.iter().map(|(v, _)| *v);
        let swaps = |k: usize| {
            let parts = carries.get(k).map_or(&[][..], Vec::as_slice);
            !parts.is_empty() && parts.iter().all(|part| matches!(part, Carry::Swap { .. }))
        };
        let alike = |a: usize, b: usize| {
            let ty = |k: usize| scan.carry.get(k).map(|(v, _)| &self.src.nvars[*v].ty);
            swaps(a) && swaps(b) && ty(a) == ty(b)
        };
        let own: Vec<usize> = (0..scan.carry.len()).collect();
        let mut places: Vec<Option<usize>> = Vec::with_capacity(own.len());
        for (k, next) in own.iter().zip(&scan.body.nl) {
            let origin = next.var().map(|v| self.reuse.origin(v));
            let from = names().position(|v| Some(v) == origin);
            places.push(from.filter(|from| alike(*k, *from) && !places.contains(&Some(*from))));
        }
        for k in &own {
            if places.get(*k) == Some(&None) {
                let is_left = |p: &usize| !places.contains(&Some(*p)) && (p == k || alike(*k, *p));
                places[*k] = [*k].into_iter().chain(own.iter().copied()).find(is_left);
            }
        }
        places.into_iter().collect::<Option<Vec<usize>>>().unwrap_or(own)
    }

    /// Emits a `for`; gives the components of the final carries, and what is carried besides by a loop that
    /// may end early.
    #[allow(clippy::too_many_arguments)]
    fn for_loop(
        &mut self,
        scan: &Scan,
        high: Atom,
        order: Order,
        mut carries: Carries,
        stacks: &mut [Stack],
        touched: &BTreeSet<Cap>,
        span: Span,
    ) -> Res<(Vec<Vec<Slot>>, Vec<Value>)> {
        let registers = self.registers_of(touched);
        for r in &registers {
            let kind = self.out.kind_of(self.registers[*r].now);
            let value = self.value("s", kind);
            carries.form.push((value, self.registers[*r].now));
            self.registers[*r].now = value.into();
        }
        let index = self.value(&self.name_of(scan.index), Kind::I64);
        let growing = match order {
            Order::While => Some(self.grow(index, stacks, &mut carries.form, span)?),
            _ => None,
        };
        let keeps_tape = keeps_tape(&carries.pointers, stacks);
        let stacks = &*stacks;
        let (mut stmts, mut next) = self.iteration(keeps_tape, |this| {
            let results = this.body(scan, index, &carries.parts, stacks, span)?;
            let mut next = Vec::with_capacity(carries.form.len());
            for (parts, slots) in carries.parts.iter().zip(results) {
                for (part, slot) in parts.iter().zip(slots) {
                    match part {
                        Carry::Stays(_) => {}
                        Carry::Value(_) => next.push(slot.atom),
                        Carry::Swap { .. } => {
                            let pair = match slot.atom {
                                Atom::Value(v) => this.spare.get(&v),
                                Atom::Lit(_) => None,
                            };
                            let Some(Pair { other, .. }) = pair.copied() else {
                                return Err(this.bug(span, "a carry is in neither buffer"));
                            };
                            next.push(slot.atom);
                            next.push(other.into());
                        }
                    }
                }
            }
            next.extend(registers.iter().map(|r| this.registers[*r].now));
            Ok(next)
        })?;
        if let Some(growing) = &growing {
            growing.complete(self, &mut stmts, &mut next, index);
        }
        let dst: Vec<Value> = carries
            .form
            .iter()
            .map(|(v, _)| {
                let data = &self.out.values[*v];
                let (name, kind) = (data.name.clone(), data.kind);
                self.value(&name, kind)
            })
            .collect();
        let mut ends = dst.iter().copied();
        let mut finals = Vec::with_capacity(carries.parts.len());
        for parts in &carries.parts {
            let mut slots = Vec::with_capacity(parts.len());
            for part in parts {
                let mut end = || ends.next().ok_or_else(|| self.bug(span, "a carry has no end"));
                slots.push(match part {
                    Carry::Value(slot) => Slot { atom: end()?.into(), on_tape: slot.on_tape },
                    Carry::Swap { .. } => {
                        let now = end()?;
                        end()?;
                        Slot::scalar(now)
                    }
                    Carry::Stays(slot) => *slot,
                });
            }
            finals.push(slots);
        }
        for (r, end) in registers.iter().zip(ends.by_ref()) {
            self.registers[*r].now = end.into();
        }
        let ends: Vec<Value> = ends.collect();
        self.push(form::Stmt::from(For {
            dst,
            order,
            vector: None,
            index,
            low: int(0),
            high,
            carry: carries.form,
            body: Self::form_block(stmts, next),
        }));
        Ok((finals, ends))
    }

    /// Emits a `lanes` loop for the given accumulators.
    ///
    /// The folded lanes of every block are added to the total one after the other. A total that
    /// starts from 0.0 is the sum that `lanes` gives; any other needs a loop over the blocks.
    fn lanes_loop(
        &mut self,
        scan: &Scan,
        high: Atom,
        lanes: &[Cap],
        stacks: &[Stack],
        touched: &BTreeSet<Cap>,
        span: Span,
    ) -> Res<()> {
        let others: Vec<Cap> = touched.iter().copied().filter(|c| !lanes.contains(c)).collect();
        let spilled = self.spill(&others, span);
        let registers = self.registers_of(lanes);
        let fresh = registers.len() == lanes.len()
            && registers.iter().all(|r| Self::is_start(self.registers[*r].now));
        // The sum of the loop starts at zero, and is added to what was there.
        let sums = self.lanes_block(scan, int(0), high, lanes, stacks, span)?;
        if fresh {
            for (r, sum) in registers.iter().zip(sums) {
                self.registers[*r].now = sum.into();
            }
        } else {
            for (cap, sum) in lanes.iter().zip(sums) {
                self.increment(&Place::root(*cap), &[Slot::scalar(sum)], span)?;
            }
        }
        self.unspill(spilled);
        Ok(())
    }

    /// Emits `lanes (i in low .. high)` and gives its sums.
    fn lanes_block(
        &mut self,
        scan: &Scan,
        low: Atom,
        high: Atom,
        lanes: &[Cap],
        stacks: &[Stack],
        span: Span,
    ) -> Res<Vec<Value>> {
        let (mut carry, mut dst, mut before) = (Vec::new(), Vec::new(), Vec::new());
        for cap in lanes {
            let Some(view) = self.caps[*cap].clone() else {
                return Err(self.bug(span, "an accumulator is not there"));
            };
            let name = self.src.caps[*cap].name.clone();
            let value = self.value(&name, Kind::F64);
            dst.push(self.value(&name, Kind::F64));
            let cell = match view.storage.first() {
                Some(Storage::Register(r)) => self.registers[*r].cell,
                _ => None,
            };
            self.registers.push(Register { now: value.into(), cell });
            let register = self.registers.len() - 1;
            let storage = vec![Storage::Register(register)];
            self.caps[*cap] = Some(CapView { ty: view.ty.clone(), storage });
            carry.push(value);
            before.push((*cap, view, register));
        }
        let index = self.value(&self.name_of(scan.index), Kind::I64);
        let (stmts, next) = self.iteration(keeps_tape(&[], stacks), |this| {
            this.body(scan, index, &[], stacks, span)?;
            Ok(before.iter().map(|(.., r)| this.registers[*r].now).collect())
        })?;
        for (cap, view, _) in before {
            self.caps[cap] = Some(view);
        }
        let body = Self::form_block(stmts, next);
        let all = Lanes { dst: dst.clone(), vector: None, index, low, high, carry, body };
        self.push(form::Stmt::from(all));
        Ok(dst)
    }

    /// Moves the registers of some accumulators to cells.
    fn spill(&mut self, caps: &[Cap], span: Span) -> Vec<(Cap, CapView)> {
        let mut spilled = Vec::new();
        for cap in caps {
            let Some(view) = self.caps[*cap].clone() else { continue };
            let mut moved = view.clone();
            for target in &mut moved.storage {
                if let Storage::Register(r) = *target {
                    let cell = self.cell_of_register(r, span);
                    self.push(form::Stmt::Store {
                        buffer: cell,
                        index: int(0),
                        value: self.registers[r].now,
                    });
                    *target = Storage::Cell(cell, int(0));
                }
            }
            self.caps[*cap] = Some(moved);
            spilled.push((*cap, view));
        }
        spilled
    }

    fn unspill(&mut self, spilled: Vec<(Cap, CapView)>) {
        for (cap, view) in spilled {
            let moved = self.caps[cap].take();
            for (target, cell) in view.storage.iter().zip(moved.iter().flat_map(|m| &m.storage)) {
                if let (Storage::Register(r), Storage::Cell(buffer, index)) = (*target, *cell) {
                    let kind = self.out.kind_of(self.registers[r].now);
                    let dst = self.value("s", kind);
                    self.push(form::Stmt::Load { dst, buffer, index });
                    self.registers[r].now = dst.into();
                }
            }
            self.caps[cap] = Some(view);
        }
    }

    /// A cell for a register; its content is whatever was stored last.
    pub(super) fn cell_of_register(&mut self, r: usize, span: Span) -> Value {
        if let Some(cell) = self.registers[r].cell {
            return cell;
        }
        let cell = Cell::of(self.out.kind_of(self.registers[r].now));
        let dst = self.value("cell", Kind::Buffer(cell));
        self.alloc(dst, cell, int(1), Arena::Temp, span);
        dst
    }
}

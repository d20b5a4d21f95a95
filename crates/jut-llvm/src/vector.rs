//! Eight iterations at once.
//!
//! Loops that are [marked](jut_loop::form::Vector) are taken eight iterations at a time, each in its
//! lane of a vector of eight: every lane computes exactly what the scalar operation computes. What is
//! [the same](Class::Same) for all is one scalar, the scalar of the first lane stands for what
//! [steps](Class::Step), a load at a step by one is one load of eight neighbours, and one at an index
//! that differs gathers.
//!
//! **Failing.** Where a check does not hold for all eight, the loop is left for the one that takes
//! single iterations, with the lanes as they were before: that one fails at the right iteration.
//!
//! **Products of derivatives** are looked at [together](crate::products).
//!
//! **Branches.** Both sides are computed, and the results selected. A side that loads or checks is a branch for all eight, taken if one
//! of them takes it; its loads leave out the cells of the others, which may be outside of the array, and it is not asked
//! whether checks hold for them.
//!
//! **Fewer than eight.** The last iterations of a block may be taken as eight of which only the first
//! ones count: loads and stores leave the other cells alone, checks are not asked about them. What is loaded and stored again is not done so
//! with a mask, but in pieces of four, two and one: a load of what has just been stored with a mask waits until that is in the cache, and in gradients by short
//! rows the next iteration of the loop around adds to the same cells.
//!
//! Example: `x = xs[i]; p = x * x; t[i] = p; s + p` is one load, one multiplication, one store and one
//! addition per eight iterations.

use crate::function::{Result, Translator};
use crate::text::{BOOLS, Body, EIGHT, FLOAT, INTS, LANE, Label, Operand, Scalar, Type, scalar};
use cranelift_entity::SecondaryMap;
use jut_ir::hash::HashSet;
use jut_ir::prim::{Lowering, Opcode};
use jut_loop::analysis::{Class, Classes, Pending};
use jut_loop::form::{Atom, Block, Check, For, Lanes, Stmt, Value, Vector};

/// How a body is to be translated.
pub(crate) struct EightPlan {
    pub(crate) classes: Classes,
    wide: SecondaryMap<Value, Option<Operand>>,
    /// Which of the eight iterations count, if not all do.
    mask: Option<Operand>,
    /// How many count, if these are the first.
    first: Option<Operand>,
    /// Arrays that the body loads from and stores to.
    updated: HashSet<Value>,
    /// Whether the first of them may be one that does not count.
    guarded: bool,
    /// What is loaded for those that do not count: a number that mathematical functions like.
    filler: Operand,
    pub(crate) pending: Pending,
}

/// What lanes are ahead of the first.
const STEPS: &str = "<i64 0, i64 1, i64 2, i64 3, i64 4, i64 5, i64 6, i64 7>";

/// Cells that are so far apart at most are loaded with those between them.
const NEAR: u64 = 4;

impl Translator<'_> {
    /// Translates the body for eight iterations from `index` on; gives the next lanes. Where a check
    /// does not hold for all of them, `leave` says where to go.
    pub(crate) fn eight(
        &mut self,
        plan: &mut EightPlan,
        source: &Lanes,
        lanes: &[Operand],
        leave: &mut dyn FnMut(&mut Self, Operand),
    ) -> Result<Vec<Operand>> {
        for (carry, lanes) in source.carry.iter().zip(lanes) {
            plan.wide[*carry] = Some(*lanes);
        }
        let results = self.eight_block(plan, &source.body, leave)?;
        self.stores_that_wait(plan, leave)?;
        Ok(results)
    }

    /// The stores of a body that wait for its end.
    pub(crate) fn stores_that_wait(
        &mut self,
        plan: &mut EightPlan,
        leave: &mut dyn FnMut(&mut Self, Operand),
    ) -> Result<()> {
        for stmt in std::mem::take(&mut plan.pending.stores) {
            self.eight_alone(plan, &stmt, leave)?;
        }
        Ok(())
    }

    fn eight_block(
        &mut self,
        plan: &mut EightPlan,
        block: &Block,
        leave: &mut dyn FnMut(&mut Self, Operand),
    ) -> Result<Vec<Operand>> {
        for stmt in &block.stmts {
            self.eight_stmt(plan, stmt, leave)?;
        }
        self.look(plan)?;
        block.results.iter().map(|atom| self.spread(plan, *atom)).collect()
    }

    pub(crate) fn eight_stmt(
        &mut self,
        plan: &mut EightPlan,
        stmt: &Stmt,
        leave: &mut dyn FnMut(&mut Self, Operand),
    ) -> Result<()> {
        if self.waits(plan, stmt)? {
            return Ok(());
        }
        let products = plan.pending.set_aside();
        let done = self.eight_alone(plan, stmt, leave);
        plan.pending.take_up(products);
        done
    }

    /// A statement that does not wait, and does not read what does.
    fn eight_alone(
        &mut self,
        plan: &mut EightPlan,
        stmt: &Stmt,
        leave: &mut dyn FnMut(&mut Self, Operand),
    ) -> Result<()> {
        match stmt {
            Stmt::Prim { dst, prim, args } if plan.class(&(*dst).into()) == Class::Wide => {
                let mut operands = Vec::with_capacity(args.len());
                for atom in args {
                    operands.push(self.spread(plan, *atom)?);
                }
                let result = match prim.row().lowering {
                    Lowering::Opcode(op) => {
                        let selected = scalar(self.kind(*dst));
                        crate::operation::operation(&mut self.body, op, &operands, true, selected)?
                    }
                    Lowering::Runtime(symbol) => self.eight_calls(symbol, &operands)?,
                };
                plan.wide[*dst] = Some(result);
                Ok(())
            }
            Stmt::Copy { dst, src } if plan.class(&(*dst).into()) == Class::Wide => {
                plan.wide[*dst] = Some(self.spread(plan, *src)?);
                Ok(())
            }
            Stmt::Previous { dst, src, .. } => {
                let now = self.spread(plan, *src)?;
                plan.wide[*dst] = Some(self.before_eight(*dst, now)?);
                Ok(())
            }
            Stmt::Load { dst, buffer, index } if plan.class(&(*dst).into()) == Class::Wide => {
                let ty = scalar(self.kind(*dst)).wide();
                let place = plan.classes.place(*buffer, *index);
                let stored = self.beside.stored(*dst).filter(|_| ty == LANE);
                let value = match (place, plan.mask) {
                    (Class::Step(1), None) if let Some((stored, behind)) = stored => {
                        self.load_beside(plan, (*buffer, *index), stored, behind)?
                    }
                    (Class::Step(1), mask) => {
                        let index = self.atom(*index)?;
                        let at = match plan.guarded {
                            true => self.address_anywhere(*buffer, index)?,
                            false => self.address(*buffer, index)?,
                        };
                        match (mask, plan.in_pieces(*buffer, ty, false)) {
                            (Some(_), Some(first)) => self.load_first(at, first, plan.filler),
                            (Some(mask), None) => self.load_some(at, ty, mask, plan.filler(ty)),
                            (None, _) => self.load_from(at, ty),
                        }
                    }
                    (Class::Step(step), None)
                        if step.unsigned_abs() <= NEAR && self.beside.is_alone(*dst) =>
                    {
                        self.load_near((*buffer, *index), step, ty)?
                    }
                    (Class::Step(_) | Class::Row(_), None) => {
                        self.load_apart(*buffer, *index, place, ty)?
                    }
                    (Class::Step(_) | Class::Row(_), Some(_)) => {
                        let first = self.atom(*index)?;
                        let indices = self.steps(first, INTS, place)?;
                        self.gather(plan, *buffer, indices, ty)?
                    }
                    _ => {
                        let indices = self.spread(plan, *index)?;
                        self.gather(plan, *buffer, indices, ty)?
                    }
                };
                plan.wide[*dst] = Some(value);
                Ok(())
            }
            Stmt::Store { buffer, index, value } => {
                let ty = scalar(self.source.kind_of(*value)).wide();
                let place = plan.classes.place(*buffer, *index);
                let (index, value) = (self.atom(*index)?, self.spread(plan, *value)?);
                if place != Class::Step(1) {
                    return self.store_apart(plan, *buffer, index, place, value, ty);
                }
                let at = self.address(*buffer, index)?;
                let slow = self.imports.instructions.slow_masks;
                match (plan.mask, plan.in_pieces(*buffer, ty, slow)) {
                    (Some(_), Some(first)) => self.store_first(at, value, first),
                    (Some(mask), None) => self.store_some(at, value, ty, mask),
                    (None, _) => self.store_to(at, value, ty),
                }
                Ok(())
            }
            Stmt::Check { check, .. } => {
                let holds = self.hold(plan, *check)?;
                leave(self, holds);
                Ok(())
            }
            Stmt::If { dst, cond, then, other } => {
                let cond = self.spread(plan, *cond)?;
                let then = self.arm(plan, then, cond, true, leave)?;
                let other = self.arm(plan, other, cond, false, leave)?;
                for (value, (a, b)) in dst.iter().zip(then.into_iter().zip(other)) {
                    let selected = scalar(self.kind(*value));
                    let args = [cond, a, b];
                    let op = Opcode::Select;
                    let result =
                        crate::operation::operation(&mut self.body, op, &args, true, selected)?;
                    plan.wide[*value] = Some(result);
                }
                Ok(())
            }
            Stmt::Lanes(inner) => self.eight_lanes(plan, inner, leave),
            Stmt::For(inner) => self.eight_in_order(plan, inner, leave),
            // What is the same for all, and steps, are as in a single iteration.
            other => self.stmt(other),
        }
    }

    /// One side of a branch. If it loads or checks, that counts for those that take it, and it is left out if none does.
    fn arm(
        &mut self,
        plan: &mut EightPlan,
        block: &Block,
        cond: Operand,
        on: bool,
        leave: &mut dyn FnMut(&mut Self, Operand),
    ) -> Result<Vec<Operand>> {
        if !block.any(&mut |stmt| matches!(stmt, Stmt::Load { .. } | Stmt::Check { .. })) {
            return self.eight_block(plan, block, leave);
        }
        let mut taking = cond;
        if !on {
            taking = self.body.two("xor", BOOLS, cond, Operand::Bool(true));
        }
        if let Some(mask) = plan.mask {
            taking = self.body.two("and", BOOLS, mask, taking);
        }
        let any = format_args!("call i1 @llvm.vector.reduce.or.v8i1({BOOLS} {})", taking.of(BOOLS));
        let any = self.body.value(any);
        let [inside, after] = self.body.labels();
        let before = self.body.current();
        self.body.branch(any, inside, after);

        self.body.begin(inside);
        let outside = (plan.mask.replace(taking), std::mem::replace(&mut plan.guarded, true));
        let results = self.eight_block(plan, block, leave);
        (plan.mask, plan.guarded) = outside;
        let results = results?;
        let end = self.body.current();
        self.body.jump(after);

        self.body.begin(after);
        let kinds = block.results.iter().map(|atom| scalar(self.source.kind_of(*atom)).wide());
        let incoming = kinds.zip(results).map(|(ty, result)| {
            let nothing = match ty.scalar {
                Scalar::F64 | Scalar::F32 => Operand::ZERO,
                Scalar::Bool => Operand::Bool(false),
                _ => Operand::I64(0),
            };
            (ty, [(result, end), (nothing, before)])
        });
        let incoming: Vec<(Type, [(Operand, Label); 2])> = incoming.collect();
        Ok(incoming.into_iter().map(|(ty, incoming)| self.body.join(ty, &incoming)).collect())
    }

    /// A value for eight iterations.
    pub(crate) fn spread(&mut self, plan: &EightPlan, atom: Atom) -> Result<Operand> {
        if let Atom::Value(value) = atom
            && let Some(wide) = plan.wide[value]
            && plan.classes.class(value) == Class::Wide
        {
            return Ok(wide);
        }
        let operand = self.atom(atom)?;
        let Operand::Temp(_) = operand else { return Ok(operand) };
        let one = scalar(self.source.kind_of(atom)).one();
        let wide = one.scalar.wide();
        match plan.class(&atom) {
            class @ (Class::Step(_) | Class::Row(_)) => self.steps(operand, wide, class),
            Class::Same | Class::Wide => Ok(self.body.splat(operand, wide)),
        }
    }

    /// Eight integers that begin with one and grow as the class says.
    fn steps(&mut self, first: Operand, wide: Type, class: Class) -> Result<Operand> {
        let all = self.body.splat(first, wide);
        if let Class::Row(by) = class {
            let by = self.atom(by)?;
            let by = self.body.splat(by, wide);
            let steps = self.body.value(format_args!("mul {wide} {}, {STEPS}", by.of(wide)));
            return Ok(self.body.two("add", wide, all, steps));
        }
        let step = if let Class::Step(step) = class { step } else { 0 };
        let steps = (0..EIGHT).map(|k| format!("i64 {}", k.wrapping_mul(step)));
        let steps = steps.collect::<Vec<_>>().join(", ");
        Ok(self.body.value(format_args!("add {wide} {}, <{steps}>", all.of(wide))))
    }

    /// The index of a lane, where that of the first lane grows as the class says.
    fn index_of_lane(&mut self, first: Operand, class: Class, lane: i64) -> Result<Operand> {
        let distance = match class {
            Class::Row(by) => {
                let by = self.atom(by)?;
                self.body.int("mul", by, lane)
            }
            Class::Step(step) => Operand::I64(lane.wrapping_mul(step)),
            Class::Same | Class::Wide => Operand::I64(0),
        };
        Ok(self.body.int("add", first, distance))
    }

    /// Eight results of a mathematical function.
    fn eight_calls(&mut self, symbol: &'static str, args: &[Operand]) -> Result<Operand> {
        if self.imports.wide(symbol).is_some_and(|form| form.params == args.len()) {
            let args: Vec<String> = args.iter().map(|x| format!("{LANE} {}", x.of(LANE))).collect();
            let line = format_args!("call {LANE} @{symbol}.8({})", args.join(", "));
            return Ok(self.body.value(line));
        }
        let params = crate::imports::params_of(symbol)?;
        let mut all = None;
        for k in 0..EIGHT {
            let one =
                args.iter().zip(params).map(|(arg, param)| self.body.lane(*arg, param.wide(), k));
            let one: Vec<Operand> = one.collect();
            let result = self.mathematics(symbol, &one)?;
            all = Some(self.body.with_lane(all, LANE, k, result));
        }
        Ok(all.unwrap_or(Operand::ZERO))
    }

    /// Loads from eight cells that are a few cells apart: all from the first to the last, in vectors of neighbours, of which the eight are taken.
    fn load_near(
        &mut self,
        (buffer, index): (Value, Atom),
        step: i64,
        ty: Type,
    ) -> Result<Operand> {
        let first = self.atom(index)?;
        let (cell, from) = (ty.scalar.in_memory(), self.value(buffer)?);
        let span = (EIGHT - 1) * step.abs() + 1;
        // Where the vectors begin, from the lowest cell on. The last one ends with the highest cell, so they may overlap.
        let mut begins: Vec<i64> = (0..span / EIGHT).map(|k| k * EIGHT).collect();
        if span % EIGHT != 0 {
            begins.push(span - EIGHT);
        }
        let lowest = if step < 0 { (EIGHT - 1) * step } else { 0 };
        let mut all: Option<(Operand, i64)> = None;
        for begin in begins {
            // Not `nuw`: see `gather`.
            let at = self.body.int("add", first, lowest + begin);
            let at = self.body.element("inbounds ", cell, from, at);
            let loaded = self.load_from(at, ty);
            let inside = |lane: i64| {
                Some(lane * step - lowest - begin).filter(|place| (0..EIGHT).contains(place))
            };
            let before = all.map_or(0, |(_, end)| end);
            let lanes = (0..EIGHT).map(|lane| match inside(lane) {
                Some(place) => format!("i32 {}", EIGHT + place),
                None if lane * step - lowest < before => format!("i32 {lane}"),
                None => "i32 poison".to_owned(),
            });
            let lanes = lanes.collect::<Vec<_>>().join(", ");
            let so_far = all.map_or("poison".to_owned(), |(all, _)| all.to_string());
            let mixed = self.body.value(format_args!(
                "shufflevector {ty} {so_far}, {ty} {loaded}, <8 x i32> <{lanes}>"
            ));
            all = Some((mixed, begin + EIGHT));
        }
        Ok(all.map_or(Operand::ZERO, |(all, _)| all))
    }

    /// Loads from eight cells that are the same distance apart: one by one, which is faster than gathering.
    fn load_apart(
        &mut self,
        buffer: Value,
        index: Atom,
        place: Class,
        ty: Type,
    ) -> Result<Operand> {
        let first = self.atom(index)?;
        let (cell, from) = (ty.scalar.in_memory(), self.value(buffer)?);
        let mut all = None;
        for k in 0..EIGHT {
            let index = self.index_of_lane(first, place, k)?;
            // Not `nuw`: see `gather`.
            let at = self.body.element("inbounds ", cell, from, index);
            let loaded = self.load_from(at, ty.scalar.one());
            all = Some(self.body.with_lane(all, ty, k, loaded));
        }
        Ok(all.unwrap_or(Operand::ZERO))
    }

    /// Loads eight neighbours, of which all but a few have just been stored, beside: those are what was stored, and the others are loaded one by one. A
    /// processor would wait for the store.
    fn load_beside(
        &mut self,
        plan: &EightPlan,
        (buffer, index): (Value, Atom),
        stored: Atom,
        behind: i64,
    ) -> Result<Operand> {
        let stored = self.spread(plan, stored)?.of(LANE).to_string();
        let of_stored = |lane: i64| Some(lane + behind).filter(|from| (0..EIGHT).contains(from));
        let lanes = (0..EIGHT).map(|lane| match of_stored(lane) {
            Some(from) => format!("i32 {from}"),
            None => "i32 poison".to_owned(),
        });
        let lanes = lanes.collect::<Vec<_>>().join(", ");
        let mut all = self.body.value(format_args!(
            "shufflevector {LANE} {stored}, {LANE} poison, <8 x i32> <{lanes}>"
        ));
        let first = self.atom(index)?;
        for lane in (0..EIGHT).filter(|lane| of_stored(*lane).is_none()) {
            let at = self.body.int("add", first, lane);
            let at = self.address(buffer, at)?;
            let one = self.load_from(at, FLOAT);
            all = self.body.with_lane(Some(all), LANE, lane, one);
        }
        Ok(all)
    }

    /// Stores to eight cells that are the same distance apart.
    fn store_apart(
        &mut self,
        plan: &EightPlan,
        buffer: Value,
        first: Operand,
        place: Class,
        value: Operand,
        ty: Type,
    ) -> Result<()> {
        let (cell, from) = (ty.scalar.in_memory(), self.value(buffer)?);
        if let Some(mask) = plan.mask {
            let indices = self.steps(first, INTS, place)?;
            let places = self.places(cell, from, indices);
            let (mask, value) = (mask.of(BOOLS), value.of(ty));
            self.body.line(format_args!(
                "call void @llvm.masked.scatter.{suffix}.v8p0({ty} {value}, \
                 <8 x ptr> align {align} {places}, <8 x i1> {mask})",
                suffix = ty.suffix(),
                align = ty.scalar.bytes()
            ));
            return Ok(());
        }
        for k in 0..EIGHT {
            let part = self.body.lane(value, ty, k);
            let index = self.index_of_lane(first, place, k)?;
            // Not `nuw`: see `gather`.
            let at = self.body.element("inbounds ", cell, from, index);
            self.store_to(at, part, ty.scalar.one());
        }
        Ok(())
    }

    /// Loads from eight cells that are in range.
    fn gather(
        &mut self,
        plan: &EightPlan,
        buffer: Value,
        at: Operand,
        ty: Type,
    ) -> Result<Operand> {
        let from = self.value(buffer)?;
        let places = self.places(ty.scalar.in_memory(), from, at);
        let mask = plan.mask.unwrap_or(Operand::Bool(true)).of(BOOLS);
        let filler = plan.filler(ty).of(ty);
        Ok(self.body.value(format_args!(
            "call {ty} @llvm.masked.gather.{suffix}.v8p0(<8 x ptr> align {align} {places}, \
             {BOOLS} {mask}, {ty} {filler})",
            suffix = ty.suffix(),
            align = ty.scalar.bytes()
        )))
    }

    /// The addresses of eight cells.
    fn places(&mut self, cell: &str, from: Operand, indices: Operand) -> Operand {
        // Not `nuw`: the place may be that of the first lane, and those of the others before it.
        let indices = indices.of(INTS);
        let line = format_args!("getelementptr inbounds {cell}, ptr {from}, {INTS} {indices}");
        self.body.value(line)
    }

    /// Whether a check holds for eight iterations.
    fn hold(&mut self, plan: &EightPlan, check: Check) -> Result<Operand> {
        let atoms = check.atoms();
        if atoms.iter().all(|atom| plan.class(atom) == Class::Same) {
            let operands = self.atoms(&atoms)?;
            return self.holds(check, &operands);
        }
        let mut operands = Vec::with_capacity(atoms.len());
        for atom in &atoms {
            operands.push(self.spread(plan, *atom)?);
        }
        let body = &mut self.body;
        let not_negative = |body: &mut Body, a: &Operand| {
            let a = a.of(INTS);
            body.value(format_args!("icmp sge {INTS} {a}, zeroinitializer"))
        };
        let parts = match (check, operands.as_slice()) {
            (Check::Below(..), [i, n]) => {
                vec![body.two("icmp slt", INTS, *i, *n), not_negative(body, i)]
            }
            (Check::Equal(..), [a, b]) => vec![body.two("icmp eq", INTS, *a, *b)],
            (Check::NonNegative(_), [n]) => vec![not_negative(body, n)],
            (Check::NonZero(_), [a]) => {
                let a = a.of(INTS);
                vec![body.value(format_args!("icmp ne {INTS} {a}, zeroinitializer"))]
            }
            (Check::Within(..), [low, len, n]) => {
                let signs = [low, len, n].map(|x| not_negative(body, x));
                let end = body.two("add", INTS, *low, *len);
                signs.into_iter().chain([body.two("icmp ule", INTS, end, *n)]).collect()
            }
            _ => return Err("a check has another number of operands".to_owned()),
        };
        let all = parts.into_iter().reduce(|all, part| body.two("and", BOOLS, all, part));
        let mut all = all.ok_or("a check says nothing")?;
        if plan.mask.is_some() {
            all = plan.counted(body, BOOLS, all, Operand::Bool(true));
        }
        let all = all.of(BOOLS);
        Ok(body.value(format_args!("call i1 @llvm.vector.reduce.and.v8i1({BOOLS} {all})")))
    }

    /// Loads those of eight neighbours that count; the others are `filler`.
    fn load_some(&mut self, at: Operand, ty: Type, mask: Operand, filler: Operand) -> Operand {
        let (access, mask) = (self.access(), mask.of(BOOLS));
        if ty.scalar == Scalar::Bool {
            let bytes = self.body.value(format_args!(
                "call <8 x i8> @llvm.masked.load.v8i8.p0(ptr align 1 {at}, {BOOLS} {mask}, \
                 <8 x i8> zeroinitializer){access}"
            ));
            return self.body.value(format_args!("trunc <8 x i8> {bytes} to {BOOLS}"));
        }
        let (suffix, filler, align) = (ty.suffix(), filler.of(ty), ty.scalar.bytes());
        self.body.value(format_args!(
            "call {ty} @llvm.masked.load.{suffix}.p0(ptr align {align} {at}, {BOOLS} {mask}, \
             {ty} {filler}){access}"
        ))
    }

    /// Loads so many of eight neighbours in pieces, as they are [stored](Self::store_first).
    fn load_first(&mut self, at: Operand, first: Operand, filler: Operand) -> Operand {
        let filler = filler.of(LANE);
        self.imports.pieces = true;
        let line =
            format_args!("call {LANE} @jut.load.first(ptr {at}, i64 {first}, {LANE} {filler})");
        self.body.value(line)
    }

    /// Stores so many of eight neighbours in pieces of four, two and one.
    fn store_first(&mut self, at: Operand, value: Operand, first: Operand) {
        let value = value.of(LANE);
        self.imports.pieces = true;
        let line =
            format_args!("call void @jut.store.first(ptr {at}, i64 {first}, {LANE} {value})");
        self.body.line(line);
    }

    /// Stores those of eight neighbours that count.
    fn store_some(&mut self, at: Operand, value: Operand, ty: Type, mask: Operand) {
        let (access, mask, value) = (self.access(), mask.of(BOOLS), value.of(ty));
        if ty.scalar == Scalar::Bool {
            let bytes = self.body.value(format_args!("zext {BOOLS} {value} to <8 x i8>"));
            return self.body.line(format_args!(
                "call void @llvm.masked.store.v8i8.p0(<8 x i8> {bytes}, ptr align 1 {at}, \
                 {BOOLS} {mask}){access}"
            ));
        }
        let (suffix, align) = (ty.suffix(), ty.scalar.bytes());
        self.body.line(format_args!(
            "call void @llvm.masked.store.{suffix}.p0({ty} {value}, ptr align {align} {at}, \
             {BOOLS} {mask}){access}"
        ));
    }
}

impl EightPlan {
    /// Lets only the first `left` of eight iterations count.
    pub(crate) fn count_first(&mut self, body: &mut Body, left: Operand) {
        let all = body.splat(left, INTS).of(INTS);
        self.first = Some(left);
        self.mask = Some(body.value(format_args!("icmp slt {INTS} {STEPS}, {all}")));
    }

    /// How many of eight neighbours count, if they are to be loaded and stored in pieces. What the body stores with a mask it would have to wait for
    /// where the loop around it loads the same cells once more; a piece is handed on at once, since all iterations around have the same pieces.
    /// `anyway` asks for pieces where that is not so, either.
    fn in_pieces(&self, buffer: Value, ty: Type, anyway: bool) -> Option<Operand> {
        let pieces = anyway || self.updated.contains(&buffer);
        self.first.filter(|_| pieces && ty == LANE && !self.guarded)
    }

    /// Whether only some of eight iterations count.
    pub(crate) fn is_masked(&self) -> bool {
        self.mask.is_some()
    }

    /// A vector where iterations count, another elsewhere.
    pub(crate) fn counted(
        &self,
        body: &mut Body,
        ty: Type,
        counting: Operand,
        other: Operand,
    ) -> Operand {
        let mask = self.mask.unwrap_or(Operand::Bool(true)).of(BOOLS);
        let (counting, other) = (counting.of(ty), other.of(ty));
        body.value(format_args!("select {BOOLS} {mask}, {ty} {counting}, {ty} {other}"))
    }

    pub(crate) fn of(source: &Lanes) -> EightPlan {
        let classes = Classes::of(source.index, &source.carry, &source.body);
        EightPlan::of_body(classes, &source.body, source.vector)
    }

    /// How the body of a loop is to be translated that carries what is the same for all, and sums.
    pub(crate) fn of_loop(source: &For) -> EightPlan {
        let classes = Classes::of(source.index, &[], &source.body);
        EightPlan::of_body(classes, &source.body, source.vector)
    }

    fn of_body(classes: Classes, body: &Block, vector: Option<Vector>) -> EightPlan {
        let calls = body.any(&mut |stmt| match stmt {
            Stmt::Prim { dst, prim, .. } => {
                matches!(prim.row().lowering, Lowering::Runtime(_))
                    && classes.class(*dst) == Class::Wide
            }
            _ => false,
        });
        let filler = if calls { Operand::float(1.0) } else { Operand::ZERO };
        let (mut loaded, mut stored) = (HashSet::default(), HashSet::default());
        body.for_each(&mut |stmt| match stmt {
            Stmt::Load { buffer, .. } => {
                loaded.insert(*buffer);
            }
            Stmt::Store { buffer, .. } => {
                stored.insert(*buffer);
            }
            _ => {}
        });
        stored.retain(|buffer| loaded.contains(buffer));
        let pending = Pending::of(body, vector.is_some_and(|vector| vector.stores_last));
        EightPlan {
            classes,
            wide: SecondaryMap::new(),
            mask: None,
            first: None,
            updated: stored,
            guarded: false,
            filler,
            pending,
        }
    }

    /// What a value is for eight iterations, if it differs between them.
    pub(crate) fn wide(&self, value: Value) -> Option<Operand> {
        self.wide[value].filter(|_| self.classes.class(value) == Class::Wide)
    }

    pub(crate) fn set(&mut self, value: Value, wide: Operand) {
        self.wide[value] = Some(wide);
    }

    fn filler(&self, ty: Type) -> Operand {
        match ty.scalar {
            Scalar::F64 | Scalar::F32 => self.filler,
            _ => Operand::I64(0),
        }
    }

    fn class(&self, atom: &Atom) -> Class {
        self.classes.class(*atom)
    }
}

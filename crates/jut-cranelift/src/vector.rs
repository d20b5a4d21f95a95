//! Two iterations at once.
//!
//! Iterations k and k + 1 of a [marked](jut_loop::form::Vector) loop share vector registers of two
//! floats. Each half computes exactly what the scalar operation computes. A load at the index plus a
//! constant is one load of two neighbours, a store one store of two. Floats of 32 bits stand in the lower half of a register,
//! and are made to ones of 64 bits before anything is computed from them or selected. What is compared gives a mask, all ones or all zeros in
//! each half, which selects; of a branch both sides are computed.
//!
//! Floats of 64 bits that lie so many cells apart as is written down, coordinates of points, are loaded and stored one by one, and stand side
//! by side in between.
//!
//! Example: `x = xs[i]; p = x * x; t[i] = p; s + p` is one load, one multiplication, one store, one
//! addition per two iterations.

use crate::operation;
use crate::translate::{Place, Result, Translator};
use cranelift_codegen::ir::{self, InstBuilder, MemFlagsData, types};
use cranelift_entity::SecondaryMap;
use jut_ir::Literal;
use jut_ir::prim::{self, Lowering, Opcode};
use jut_loop::analysis::{Class, Classes, shown_by};
use jut_loop::form::{Atom, Block, Cell, Kind, Stmt, Value, Vector};
use std::collections::HashSet;

/// How the body is to be translated.
pub(crate) struct PairPlan {
    classes: Classes,
    /// Whether cells of neighbouring iterations lie apart.
    strides: bool,
    /// What the body binds.
    inside: HashSet<Value>,
    /// Floats from outside that stand in both halves of a register before the loop.
    outside: Vec<(Atom, ir::Value)>,
    /// How many pairs make a [group](crate::group), if it may be made.
    pub(crate) together: Option<usize>,
    /// Where it shows that a product of derivatives is NaN.
    shown: HashSet<Value>,
}

/// So many floats from outside are kept in registers.
const KEPT: usize = 6;

/// Values of a group that wait for the branch, at most, if a group is more than one pair: they are in
/// registers.
const WAITING: usize = 8;

/// A store of a pair that waits.
pub(crate) struct Waiting {
    pub(crate) to: Cells,
    pub(crate) value: ir::Value,
}

/// Where a pair lies.
#[derive(Clone, Copy)]
pub(crate) enum Cells {
    /// Side by side.
    Neighbours(Place),
    /// One by one.
    Apart([Place; 2]),
}

/// How the products of derivatives of some pairs are computed, and what becomes of stores.
pub(crate) enum Way {
    /// Each as it is defined; stores happen where they stand.
    Direct,
    /// As plain products; what shows that one of them is NaN is noted, and stores wait.
    Plain { shown: Vec<ir::Value>, stores: Vec<Waiting> },
    /// As they are defined, without a branch, after they have been computed as plain products; stores
    /// wait.
    Again { stores: Vec<Waiting> },
}

impl Way {
    pub(crate) fn stores(self) -> Vec<Waiting> {
        match self {
            Way::Direct => Vec::new(),
            Way::Plain { stores, .. } | Way::Again { stores } => stores,
        }
    }
}

/// How many pairs make a group in which so many values of each wait.
fn pairs_of(waiting: usize) -> usize {
    [4, 2].into_iter().find(|pairs| pairs * waiting <= WAITING).unwrap_or(1)
}

/// What is carried into a pair.
pub(crate) type Carried = Vec<(Value, ir::Value)>;

impl Translator<'_> {
    /// Puts floats from outside into registers of two, before the loop.
    pub(crate) fn spread(&mut self, body: &Block, plan: &mut PairPlan) -> Result<()> {
        for stmt in nested(body) {
            let Stmt::Prim { dst, args, prim } = stmt else { continue };
            if plan.classes.class(*dst) != Class::Wide {
                continue;
            }
            let sign = self.literals.sign().filter(|_| *prim == prim::NEG);
            for atom in args.iter().chain(&sign) {
                let new = plan.is_outside(atom) && plan.kept(atom).is_none();
                if new && plan.outside.len() < KEPT {
                    let value = self.atom(*atom)?;
                    let pair = self.both(value);
                    plan.outside.push((*atom, pair));
                }
            }
        }
        Ok(())
    }

    /// Translates the body for iterations `index + k` and `index + k + 1`, given what is carried.
    pub(crate) fn pair(
        &mut self,
        body: &Block,
        plan: &PairPlan,
        (index, k): (ir::Value, i64),
        carried: &Carried,
        way: &mut Way,
    ) -> Result<Vec<ir::Value>> {
        let mut pairs = SecondaryMap::new();
        for (carry, lanes) in carried {
            pairs[*carry] = Some(*lanes);
        }
        self.pair_block(body, plan, (index, k), &mut pairs, way)
    }

    /// Translates the body, or a side of a branch in it: both are computed, and one of the results is selected.
    fn pair_block(
        &mut self,
        body: &Block,
        plan: &PairPlan,
        (index, k): (ir::Value, i64),
        pairs: &mut SecondaryMap<Value, Option<ir::Value>>,
        way: &mut Way,
    ) -> Result<Vec<ir::Value>> {
        // What is one value for all pairs has been bound then.
        let again = matches!(way, Way::Again { .. });
        for stmt in &body.stmts {
            match stmt {
                Stmt::Prim { dst, prim, args } if plan.classes.class(*dst) == Class::Wide => {
                    let mut operands = Vec::with_capacity(args.len());
                    for atom in args {
                        operands.push(self.operand(plan, pairs, atom)?);
                    }
                    let Lowering::Opcode(op) = prim.row().lowering else {
                        return Err("a call in a body of pairs".to_owned());
                    };
                    let limit = operation::limit(op, args).filter(|_| self.literals.x86);
                    let sign = self.literals.sign().filter(|_| op == Opcode::FNeg);
                    let sign = sign.and_then(|sign| plan.kept(&sign));
                    let result = match (op, operands.as_slice(), &mut *way) {
                        (Opcode::FNeg, [a], _) if let Some(sign) = sign => {
                            self.builder.ins().bxor(*a, sign)
                        }
                        (_, operands, _) if let Some((x, k)) = limit => {
                            let limit = self.operand(plan, pairs, &Atom::Lit(Literal::F64(x)))?;
                            operation::extremum(&mut self.builder, op, (x, limit), operands[k])
                        }
                        (Opcode::FTimes, [a, b], Way::Plain { .. }) => {
                            self.builder.ins().fmul(*a, *b)
                        }
                        (Opcode::FTimes, [a, b], Way::Again { .. }) => {
                            operation::times_at_once(&mut self.builder, *a, *b)
                        }
                        (Opcode::FToS, [a], _) => self.builder.ins().fvdemote(*a),
                        (Opcode::SToF, [a], _) => self.builder.ins().fvpromote_low(*a),
                        _ => operation::operation(&mut self.builder, op, &operands, None)?,
                    };
                    if let Way::Plain { shown, .. } = &mut *way
                        && plan.shown.contains(dst)
                    {
                        shown.push(match self.kind(*dst) {
                            Kind::F32 => self.builder.ins().fvpromote_low(result),
                            _ => result,
                        });
                    }
                    pairs[*dst] = Some(result);
                }
                Stmt::Copy { dst, src } if plan.classes.class(*dst) == Class::Wide => {
                    pairs[*dst] = Some(self.operand(plan, pairs, src)?);
                }
                Stmt::Previous { dst, src, .. } => {
                    let now = self.operand(plan, pairs, src)?;
                    pairs[*dst] = Some(self.before_pair(*dst, now)?);
                }
                Stmt::Load { dst, buffer, index: at }
                    if plan.classes.class(*dst) == Class::Wide =>
                {
                    let cells = self.cells(plan, *buffer, *at, (index, k))?;
                    pairs[*dst] = Some(self.load_pair(self.kind(*dst), cells));
                }
                Stmt::Load { dst, buffer, index: at } => {
                    if !again {
                        self.load(*dst, *buffer, *at)?;
                    }
                    if matches!(self.kind(*dst), Kind::F64 | Kind::F32) {
                        let value = self.value(*dst)?;
                        pairs[*dst] = Some(self.both(value));
                    }
                }
                Stmt::Store { buffer, index: at, value } => {
                    let to = self.cells(plan, *buffer, *at, (index, k))?;
                    let mut value = self.operand(plan, pairs, value)?;
                    if self.builder.func.dfg.value_type(value) == types::F32X4 {
                        // Both are as long as one float.
                        value = self.builder.ins().bitcast(types::F64X2, in_order(), value);
                        value = self.builder.ins().extractlane(value, 0);
                    }
                    match way {
                        Way::Direct => self.store_pair(&Waiting { to, value }),
                        Way::Plain { stores, .. } | Way::Again { stores } => {
                            stores.push(Waiting { to, value });
                        }
                    }
                }
                // The index plus a constant is part of addresses. Of what else grows the first iteration's is what all places are counted from.
                Stmt::Prim { dst, .. } | Stmt::Copy { dst, .. } | Stmt::Offset { dst, .. }
                    if matches!(plan.classes.class(*dst), Class::Step(_)) =>
                {
                    if again || k != 0 || !plan.strides {
                        continue;
                    }
                    self.stmt(stmt)?;
                }
                Stmt::If { dst, cond, then, other } => {
                    let mask = self.operand(plan, pairs, cond)?;
                    let then = self.pair_block(then, plan, (index, k), pairs, way)?;
                    let other = self.pair_block(other, plan, (index, k), pairs, way)?;
                    for (value, (a, b)) in dst.iter().zip(then.into_iter().zip(other)) {
                        pairs[*value] = Some(operation::select(&mut self.builder, mask, a, b));
                    }
                }
                // What is the same for all iterations.
                other if !again => self.stmt(other)?,
                _ => {}
            }
        }
        body.results.iter().map(|atom| self.operand(plan, pairs, atom)).collect()
    }

    /// A float, or a mask, for both iterations.
    fn operand(
        &mut self,
        plan: &PairPlan,
        pairs: &SecondaryMap<Value, Option<ir::Value>>,
        atom: &Atom,
    ) -> Result<ir::Value> {
        if let Atom::Value(value) = atom
            && let Some(Some(pair)) = pairs.get(*value)
        {
            return Ok(*pair);
        }
        if let Some(pair) = plan.kept(atom) {
            return Ok(pair);
        }
        let value = self.atom(*atom)?;
        Ok(self.both(value))
    }

    /// A float, or as a mask a truth value, that is the same for both iterations.
    fn both(&mut self, value: ir::Value) -> ir::Value {
        match self.builder.func.dfg.value_type(value) {
            types::F32 => self.builder.ins().splat(types::F32X4, value),
            types::I8 => {
                let bit = self.builder.ins().uextend(types::I64, value);
                let mask = self.builder.ins().ineg(bit);
                self.builder.ins().splat(types::I64X2, mask)
            }
            _ => self.builder.ins().splat(types::F64X2, value),
        }
    }

    /// The cells of iterations `index + k` and `index + k + 1`.
    fn cells(
        &mut self,
        plan: &PairPlan,
        buffer: Value,
        at: Atom,
        (index, k): (ir::Value, i64),
    ) -> Result<Cells> {
        let (cell, machine) = (self.cell(buffer)?, self.value(buffer)?);
        if let Some(offset) = beside(&plan.classes, buffer, at) {
            let index = (Some(index), offset.wrapping_add(k));
            return Ok(Cells::Neighbours(Place { cell, buffer: machine, index }));
        }
        let (Class::Step(step), Cell::F64) = (plan.classes.place(buffer, at), cell) else {
            return Err("pairs at another index".to_owned());
        };
        let (variable, constant) = self.index(at)?;
        Ok(Cells::Apart([k, k + 1].map(|k| {
            let constant = constant.wrapping_add(step.wrapping_mul(k));
            Place { cell, buffer: machine, index: (variable, constant) }
        })))
    }

    fn load_pair(&mut self, kind: Kind, cells: Cells) -> ir::Value {
        match cells {
            Cells::Neighbours(place) if kind == Kind::F32 => {
                let (address, offset) = self.address(&place);
                let both = self.builder.ins().load(types::F64, anywhere(), address, offset);
                let low = self.builder.ins().scalar_to_vector(types::F64X2, both);
                self.builder.ins().bitcast(types::F32X4, in_order(), low)
            }
            Cells::Neighbours(place) => {
                let (address, offset) = self.address(&place);
                self.builder.ins().load(types::F64X2, anywhere(), address, offset)
            }
            Cells::Apart(places) => {
                let [first, second] = places.map(|place| {
                    let (address, offset) = self.address(&place);
                    self.builder.ins().load(types::F64, anywhere(), address, offset)
                });
                let low = self.builder.ins().scalar_to_vector(types::F64X2, first);
                self.builder.ins().insertlane(low, second, 1)
            }
        }
    }

    pub(crate) fn store_pair(&mut self, store: &Waiting) {
        match store.to {
            Cells::Neighbours(place) => {
                let (address, offset) = self.address(&place);
                self.builder.ins().store(anywhere(), store.value, address, offset);
            }
            Cells::Apart(places) => {
                for (lane, place) in (0..).zip(places) {
                    let one = self.builder.ins().extractlane(store.value, lane);
                    let (address, offset) = self.address(&place);
                    self.builder.ins().store(anywhere(), one, address, offset);
                }
            }
        }
    }
}

impl PairPlan {
    /// A plan for the body of a loop that is marked.
    pub(crate) fn of(index: Value, carry: &[Value], body: &Block, vector: Vector) -> PairPlan {
        let all = nested(body);
        let inside = all.iter().flat_map(|stmt| stmt.bound()).copied().collect();
        let stores = body.stmts.iter().filter(|stmt| matches!(stmt, Stmt::Store { .. })).count();
        let waiting = stores + body.results.len();
        let classes = Classes::of(index, carry, body);
        // What stands in a register is noted, which the result of a copy does not.
        let wide = all.into_iter().filter(|stmt| match stmt {
            Stmt::Prim { dst, .. } => classes.class(*dst) == Class::Wide,
            _ => false,
        });
        let shown = shown_by(wide).into_iter().collect();
        let strides = body.stmts.iter().any(|stmt| match stmt {
            Stmt::Load { buffer, index, .. } | Stmt::Store { buffer, index, .. } => {
                let steps = matches!(classes.place(*buffer, *index), Class::Step(_));
                steps && beside(&classes, *buffer, *index).is_none()
            }
            _ => false,
        });
        PairPlan {
            classes,
            strides,
            shown,
            inside,
            outside: Vec::new(),
            together: vector.stores_last.then(|| pairs_of(waiting)),
        }
    }

    fn kept(&self, atom: &Atom) -> Option<ir::Value> {
        self.outside.iter().find(|(known, _)| known == atom).map(|(_, pair)| *pair)
    }

    /// Whether a float is there before the loop.
    fn is_outside(&self, atom: &Atom) -> bool {
        match atom {
            Atom::Lit(_) => true,
            Atom::Value(value) => {
                self.classes.class(*value) == Class::Same && !self.inside.contains(value)
            }
        }
    }
}

/// The statements of a body, with those of its branches.
fn nested(body: &Block) -> Vec<&Stmt> {
    let mut all = Vec::with_capacity(body.stmts.len());
    body.for_each(&mut |stmt| all.push(stmt));
    all
}

/// How far the cells of a pair, if they lie side by side in an array, are from the index of the loop.
fn beside(classes: &Classes, buffer: Value, at: Atom) -> Option<i64> {
    let offset = classes.offset(at)?;
    (classes.class(buffer) == Class::Same).then_some(offset)
}

/// Lanes have the order in which their cells lie.
fn in_order() -> MemFlagsData {
    MemFlagsData::new().with_endianness(ir::Endianness::Little)
}

/// Two floats are aligned to one float only.
fn anywhere() -> MemFlagsData {
    MemFlagsData::new().with_notrap()
}

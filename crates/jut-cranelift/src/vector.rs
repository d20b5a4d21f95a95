//! Two iterations at once.
//!
//! Iterations k and k + 1 of a [marked](jut_loop::form::Vector) loop share vector registers of two
//! floats. Each half computes exactly what the scalar operation computes. A load at the index plus a
//! constant is one load of two neighbours, a store one store of two. Floats of 32 bits stand in the lower half of a register,
//! and are made to ones of 64 bits before anything is computed from them or selected. What is compared gives a mask, all ones or all zeros in
//! each half, which selects; of a branch both sides are computed.
//!
//! Floats of 64 bits that lie so many cells apart as is written down, coordinates of points, or in rows of their own, are loaded and stored one by one, and
//! stand side by side in between.
//!
//! Example: `x = xs[i]; p = x * x; t[i] = p; s + p` is one load, one multiplication, one store, one
//! addition per two iterations.

use crate::operation;
use crate::translate::{Place, Result, Translator};
use cranelift_codegen::ir::{self, ConstantData, InstBuilder, MemFlagsData, types};
use jut_ir::Literal;
use jut_ir::hash::HashMap;
use jut_ir::prim::{self, Lowering, Opcode};
use jut_loop::analysis::{Class, Classes, shown_by};
use jut_loop::form::{Atom, Block, Cell, Kind, Stmt, Value, Vector};
use std::collections::HashSet;
use std::rc::Rc;

/// How the body is to be translated.
#[derive(Clone)]
pub(crate) struct PairPlan {
    classes: Rc<Classes>,
    /// Whether cells of neighbouring iterations lie apart, or what grows is an operand.
    strides: bool,
    /// What the body binds, indices of loops in it included.
    inside: Rc<HashSet<Value>>,
    /// How many iterations are taken at once.
    width: i64,
    /// How many bytes lie between the rows of the first iteration and of each one after it, by the length of a row.
    rows: Vec<(Atom, Vec<ir::Value>)>,
    /// Numbers and truth values from outside that stand in both halves of a register before the loop.
    outside: Vec<(Atom, ir::Value)>,
    /// How many pairs make a [group](crate::group), if it may be made.
    pub(crate) together: Option<usize>,
    /// Where it shows that a product of derivatives is NaN.
    shown: HashSet<Value>,
    /// Whether there is a loop in the body.
    pub(crate) nested: bool,
}

/// So many of them are kept in registers.
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

/// What a pair has computed.
pub(crate) type Pair = HashMap<Value, ir::Value>;

impl Translator<'_> {
    /// Puts what is from outside into registers of two, before the loop, and finds how far rows are apart.
    pub(crate) fn spread(&mut self, body: &Block, plan: &mut PairPlan) -> Result<()> {
        self.find_rows(body, plan)?;
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
        let mut pair = carried.iter().copied().collect();
        self.pair_block(body, plan, (index, k), &mut pair, way)
    }

    /// Translates the body, or a side of a branch in it: both are computed, and one of the results is selected.
    fn pair_block(
        &mut self,
        body: &Block,
        plan: &PairPlan,
        place: (ir::Value, i64),
        pair: &mut Pair,
        way: &mut Way,
    ) -> Result<Vec<ir::Value>> {
        for stmt in &body.stmts {
            self.pair_stmt(stmt, plan, place, pair, way)?;
        }
        body.results.iter().map(|atom| self.operand(plan, pair, atom)).collect()
    }

    /// Translates a statement for a pair.
    pub(crate) fn pair_stmt(
        &mut self,
        stmt: &Stmt,
        plan: &PairPlan,
        (index, k): (ir::Value, i64),
        pairs: &mut Pair,
        way: &mut Way,
    ) -> Result<()> {
        // What is one value for all pairs is bound with the first, and not once more.
        let first = k == 0 && !matches!(way, Way::Again { .. });
        match stmt {
            Stmt::Prim { dst, prim, args } if plan.classes.class(*dst) == Class::Wide => {
                let Lowering::Opcode(op) = prim.row().lowering else {
                    return Err("a call in a body of pairs".to_owned());
                };
                let mut operands = Vec::with_capacity(args.len());
                for atom in args {
                    operands.push(match op {
                        Opcode::IToF => self.counted_pair(plan, *atom, k)?,
                        _ if operation::compares_integers(op) => {
                            self.integer_pair(plan, *atom, k)?
                        }
                        _ => self.operand(plan, pairs, atom)?,
                    });
                }
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
                    (Opcode::FTimes, [a, b], Way::Plain { .. }) => self.builder.ins().fmul(*a, *b),
                    (Opcode::FTimes, [a, b], Way::Again { .. }) => {
                        operation::times_at_once(&mut self.builder, *a, *b)
                    }
                    (Opcode::IToF, [a], _) => *a,
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
                pairs.insert(*dst, result);
            }
            Stmt::Copy { dst, src } if plan.classes.class(*dst) == Class::Wide => {
                pairs.insert(*dst, self.operand(plan, pairs, src)?);
            }
            Stmt::Previous { dst, src, .. } => {
                let now = self.operand(plan, pairs, src)?;
                pairs.insert(*dst, self.before_pair(*dst, now)?);
            }
            Stmt::Load { dst, buffer, index: at } if plan.classes.class(*dst) == Class::Wide => {
                let cells = self.cells(plan, *buffer, *at, (index, k))?;
                pairs.insert(*dst, self.load_pair(self.kind(*dst), cells));
            }
            Stmt::Load { dst, buffer, index: at } => {
                if first {
                    self.load(*dst, *buffer, *at)?;
                    if matches!(self.kind(*dst), Kind::F64 | Kind::F32) {
                        let value = self.value(*dst)?;
                        let both = self.both(value);
                        self.same_for_all.insert(*dst, both);
                    }
                }
                if let Some(both) = self.same_for_all.get(dst) {
                    pairs.insert(*dst, *both);
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
                if matches!(plan.classes.class(*dst), Class::Step(_)) && !plan.strides => {}
            Stmt::If { dst, cond, then, other } => {
                let mask = self.operand(plan, pairs, cond)?;
                let then = self.pair_block(then, plan, (index, k), pairs, way)?;
                let other = self.pair_block(other, plan, (index, k), pairs, way)?;
                for (value, (a, b)) in dst.iter().zip(then.into_iter().zip(other)) {
                    pairs.insert(*value, operation::select(&mut self.builder, mask, a, b));
                }
            }
            // What is the same for all iterations.
            other if first => self.stmt(other)?,
            _ => {}
        }
        Ok(())
    }

    /// A float, or a mask, for both iterations.
    pub(crate) fn operand(
        &mut self,
        plan: &PairPlan,
        pairs: &Pair,
        atom: &Atom,
    ) -> Result<ir::Value> {
        if let Atom::Value(value) = atom
            && let Some(pair) = pairs.get(value)
        {
            return Ok(*pair);
        }
        if let Some(pair) = plan.kept(atom) {
            return Ok(pair);
        }
        let value = self.atom(*atom)?;
        Ok(self.both(value))
    }

    /// An integer of the iterations `index + k` and `index + k + 1`, one that is the same for both or grows.
    fn integers(&mut self, plan: &PairPlan, atom: Atom, k: i64) -> Result<[ir::Value; 2]> {
        let first = self.atom(atom)?;
        let mut both = [first; 2];
        for (k, one) in (k..).zip(&mut both).filter(|(k, _)| *k > 0) {
            match plan.classes.class(atom) {
                Class::Same => {}
                Class::Step(step) => {
                    *one = self.builder.ins().iadd_imm_s(first, step.wrapping_mul(k));
                }
                Class::Row(by) => {
                    let by = self.atom(by)?;
                    let distance = self.builder.ins().imul_imm_s(by, k);
                    *one = self.builder.ins().iadd(first, distance);
                }
                Class::Wide => return Err("an integer for each of a pair".to_owned()),
            }
        }
        Ok(both)
    }

    /// The same, side by side.
    fn integer_pair(&mut self, plan: &PairPlan, atom: Atom, k: i64) -> Result<ir::Value> {
        if let Some(pair) = plan.kept(&atom) {
            return Ok(pair);
        }
        let Class::Step(step) = plan.classes.class(atom) else {
            let [first, second] = self.integers(plan, atom, k)?;
            let both = self.builder.ins().splat(types::I64X2, first);
            return Ok(match first == second {
                true => both,
                false => self.builder.ins().insertlane(both, second, 1),
            });
        };
        let first = self.atom(atom)?;
        let first = self.builder.ins().splat(types::I64X2, first);
        let ahead = [k, k + 1].map(|k| step.wrapping_mul(k).to_le_bytes()).concat();
        let ahead = self.builder.func.dfg.constants.insert(ConstantData::from(&ahead[..]));
        let ahead = self.builder.ins().vconst(types::I64X2, ahead);
        Ok(self.builder.ins().iadd(first, ahead))
    }

    /// The same, as floats.
    fn counted_pair(&mut self, plan: &PairPlan, atom: Atom, k: i64) -> Result<ir::Value> {
        let both = self.integers(plan, atom, k)?;
        let [first, second] = both.map(|k| self.builder.ins().fcvt_from_sint(types::F64, k));
        let low = self.builder.ins().scalar_to_vector(types::F64X2, first);
        Ok(self.builder.ins().insertlane(low, second, 1))
    }

    /// A number, or as a mask a truth value, that is the same for both iterations.
    pub(crate) fn both(&mut self, value: ir::Value) -> ir::Value {
        match self.builder.func.dfg.value_type(value) {
            types::F32 => self.builder.ins().splat(types::F32X4, value),
            types::I64 => self.builder.ins().splat(types::I64X2, value),
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
        let (variable, constant) = self.index(at)?;
        match (plan.classes.place(buffer, at), cell) {
            (Class::Step(1), Cell::F64) => {
                let index = (variable, constant.wrapping_add(k));
                Ok(Cells::Neighbours(Place { cell, buffer: machine, index }))
            }
            (Class::Step(step), Cell::F64) => Ok(Cells::Apart([k, k + 1].map(|k| {
                let constant = constant.wrapping_add(step.wrapping_mul(k));
                Place { cell, buffer: machine, index: (variable, constant) }
            }))),
            (Class::Row(length), Cell::F64) => {
                let mut first = machine;
                if let Some(index) = variable {
                    let bytes = self.builder.ins().ishl_imm_u(index, 3);
                    first = self.builder.ins().iadd(first, bytes);
                }
                let mut places = [first; 2];
                for (k, place) in (k..).zip(&mut places).filter(|(k, _)| *k > 0) {
                    let bytes = self.rows_apart(plan, length, k)?;
                    *place = self.builder.ins().iadd(first, bytes);
                }
                let index = (None, constant);
                Ok(Cells::Apart(places.map(|buffer| Place { cell, buffer, index })))
            }
            _ => Err("pairs at another index".to_owned()),
        }
    }

    /// The bytes between the rows of the first iteration and of the k-th after it, before the loop where the length of a row is known there.
    fn find_rows(&mut self, body: &Block, plan: &mut PairPlan) -> Result<()> {
        for stmt in nested(body) {
            let (Stmt::Load { buffer, index, .. } | Stmt::Store { buffer, index, .. }) = stmt
            else {
                continue;
            };
            let Class::Row(length) = plan.classes.place(*buffer, *index) else { continue };
            if !plan.is_outside(&length) || plan.rows.iter().any(|(known, _)| *known == length) {
                continue;
            }
            let mut apart = Vec::with_capacity(plan.width as usize);
            for k in 1..plan.width {
                apart.push(self.rows_apart(plan, length, k)?);
            }
            plan.rows.push((length, apart));
        }
        Ok(())
    }

    fn rows_apart(&mut self, plan: &PairPlan, length: Atom, k: i64) -> Result<ir::Value> {
        let known = plan.rows.iter().find(|(known, _)| *known == length);
        if let Some(bytes) = known.and_then(|(_, apart)| apart.get(k as usize - 1)) {
            return Ok(*bytes);
        }
        let length = self.atom(length)?;
        Ok(self.builder.ins().imul_imm_s(length, 8 * k))
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
        let mut inside: HashSet<Value> =
            all.iter().flat_map(|stmt| stmt.bound()).copied().collect();
        inside.extend(all.iter().filter_map(|stmt| match stmt {
            Stmt::For(inner) => Some(inner.index),
            Stmt::Lanes(inner) => Some(inner.index),
            _ => None,
        }));
        let stores = body.stmts.iter().filter(|stmt| matches!(stmt, Stmt::Store { .. })).count();
        let waiting = stores + body.results.len();
        let classes = Rc::new(Classes::of(index, carry, body));
        let strides = all.iter().any(|stmt| match stmt {
            Stmt::Load { buffer, index, .. } | Stmt::Store { buffer, index, .. } => {
                let steps = matches!(classes.place(*buffer, *index), Class::Step(_));
                steps && beside(&classes, *buffer, *index).is_none()
            }
            Stmt::Prim { dst, args, .. } => {
                let counted = matches!(classes.class(*dst), Class::Wide | Class::Row(_));
                counted && args.iter().any(|a| matches!(classes.class(*a), Class::Step(_)))
            }
            Stmt::Offset { dst, .. } => matches!(classes.class(*dst), Class::Row(_)),
            _ => false,
        });
        let nested = all.iter().any(|stmt| stmt.is_loop());
        // What stands in a register is noted, which the result of a copy does not.
        let wide = all.into_iter().filter(|stmt| match stmt {
            Stmt::Prim { dst, .. } => classes.class(*dst) == Class::Wide,
            _ => false,
        });
        let shown = shown_by(wide).into_iter().collect();
        PairPlan {
            classes,
            strides,
            shown,
            inside: Rc::new(inside),
            width: i64::from(vector.width),
            rows: Vec::new(),
            outside: Vec::new(),
            nested,
            together: vector.stores_last.then(|| pairs_of(waiting)),
        }
    }

    /// A plan for the body of a loop inside, of which every iteration is taken for all the pairs.
    pub(crate) fn inside(&self, body: &Block) -> PairPlan {
        let wide = nested(body).into_iter().filter(|stmt| match stmt {
            Stmt::Prim { dst, .. } => self.classes.class(*dst) == Class::Wide,
            _ => false,
        });
        let shown: HashSet<Value> = shown_by(wide).into_iter().collect();
        // Stores wait for the end, so nothing may stand behind one.
        let is_store = |stmt: &Stmt| matches!(stmt, Stmt::Store { .. });
        let stores = body.stmts.iter().filter(|stmt| is_store(stmt)).count();
        let last = body.stmts.iter().rev().take(stores).all(is_store);
        let waiting = stores + body.results.len();
        let together = (!shown.is_empty() && last).then(|| pairs_of(waiting));
        PairPlan { shown, together, nested: false, ..self.clone() }
    }

    fn kept(&self, atom: &Atom) -> Option<ir::Value> {
        self.outside.iter().find(|(known, _)| known == atom).map(|(_, pair)| *pair)
    }

    /// Whether something is there before the loop.
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

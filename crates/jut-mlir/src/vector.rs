//! Eight iterations of a sum at once.
//!
//! The lanes of a `lanes` loop are independent, so eight iterations may share a vector: each part
//! computes exactly what the scalar operation computes. A body qualifies if it consists of
//!
//! - float arithmetic, comparisons, selections and calls of mathematical functions, on values of the
//!   body, carried lanes and values from outside,
//! - loads of floats at `index + constant`, which become one load of eight neighbours, or at an index
//!   from outside,
//! - stores of floats at `index + constant` to memory that this function allocated, at most one per
//!   allocation, provided that every load is known to be from other memory: then it does not matter
//!   that eight iterations take their steps together.
//!
//! Example: `x = xs[i]; p = x * x; t[i] = p; s + p` is one load, one multiplication, one store, one
//! addition per eight iterations.

use crate::function::{Emitter, Operand, Result, Width, kind_type};
use crate::program::readable;
use cranelift_entity::SecondaryMap;
use jut_ir::ir::Literal;
use jut_ir::prim::{Lowering, Machine};
use jut_loop::form::{Atom, Cell, Kind, Lanes, Stmt, Value};
use jut_runtime::symbols::{self, Math};
use std::collections::HashMap;

/// Where the memory of a buffer comes from, as far as is known.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) enum Root {
    /// Not known.
    #[default]
    Unknown,
    /// A parameter of the function.
    Param,
    /// The allocation that the value names.
    Fresh(Value),
}

/// What a value is to eight iterations.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
enum Class {
    /// The same for all.
    #[default]
    Same,
    /// The loop's index plus a constant.
    Index(i64),
    /// A float or truth value for each.
    Each,
}

/// How the body is to be translated.
pub(crate) struct Plan {
    classes: SecondaryMap<Value, Class>,
}

/// Longer bodies are not repeated.
const LONGEST: usize = 200;

impl Plan {
    fn class(&self, atom: &Atom) -> Class {
        match atom {
            Atom::Lit(_) => Class::Same,
            Atom::Value(value) => self.classes.get(*value).copied().unwrap_or_default(),
        }
    }

    fn index(&self, atom: &Atom) -> Option<i64> {
        match self.class(atom) {
            Class::Index(k) => Some(k),
            Class::Same | Class::Each => None,
        }
    }
}

/// Values in the making, of eight iterations.
struct Eight {
    /// Values of the body: those that are the same as scalars.
    values: HashMap<Value, Operand>,
    /// Scalars in all lanes.
    spread: HashMap<Operand, Operand>,
    /// The index plus a constant.
    indices: HashMap<i64, Operand>,
}

impl Emitter<'_> {
    /// A plan for the body, if it qualifies.
    pub(crate) fn plan(&self, source: &Lanes) -> Option<Plan> {
        if source.body.stmts.len() > LONGEST {
            return None;
        }
        let mut plan = Plan { classes: SecondaryMap::new() };
        plan.classes[source.index] = Class::Index(0);
        for carry in &source.carry {
            plan.classes[*carry] = Class::Each;
        }
        let (mut loaded, mut stored) = (Vec::new(), Vec::new());
        for stmt in &source.body.stmts {
            match stmt {
                Stmt::Prim { dst, prim, args } => {
                    let classes: Vec<Class> = args.iter().map(|a| plan.class(a)).collect();
                    plan.classes[*dst] = match (prim.row().lowering, args.as_slice()) {
                        (Lowering::Machine(Machine::IAdd), [a, Atom::Lit(Literal::I64(k))])
                        | (Lowering::Machine(Machine::IAdd), [Atom::Lit(Literal::I64(k)), a]) => {
                            Class::Index(plan.index(a)?.wrapping_add(*k))
                        }
                        (Lowering::Machine(Machine::ISub), [a, Atom::Lit(Literal::I64(k))]) => {
                            Class::Index(plan.index(a)?.wrapping_sub(*k))
                        }
                        (Lowering::Machine(Machine::Copy), [a]) => plan.class(a),
                        _ if classes.iter().any(|c| matches!(c, Class::Index(_))) => return None,
                        (Lowering::Machine(op), _) if is_lanewise(op) => {
                            if op == Machine::Select && self.kind(*dst) == Kind::I64 {
                                return None;
                            }
                            Class::Each
                        }
                        (Lowering::Runtime(symbol), _) => match symbols::math(symbol)? {
                            Math::Unary(_) | Math::Binary(_) => Class::Each,
                            Math::Integer(_) | Math::Order(_) => return None,
                        },
                        _ => return None,
                    };
                }
                Stmt::Copy { dst, src } => plan.classes[*dst] = plan.class(src),
                Stmt::Load { dst, buffer, index } => {
                    let is_float = self.kind(*buffer) == Kind::Buffer(Cell::F64);
                    if !is_float || plan.class(index) == Class::Each {
                        return None;
                    }
                    loaded.push(self.roots[*buffer]);
                    plan.classes[*dst] = match plan.class(index) {
                        Class::Same => Class::Same,
                        _ => Class::Each,
                    };
                }
                Stmt::Store { buffer, index, value } => {
                    plan.index(index)?;
                    let is_float = self.kind(*buffer) == Kind::Buffer(Cell::F64);
                    if !is_float || matches!(plan.class(value), Class::Index(_)) {
                        return None;
                    }
                    stored.push(self.roots[*buffer]);
                }
                _ => return None,
            }
        }
        let results = &source.body.results;
        let floats = results.iter().all(|atom| !matches!(plan.class(atom), Class::Index(_)));
        let apart = stored.iter().enumerate().all(|(k, root)| {
            matches!(root, Root::Fresh(_))
                && !stored[..k].contains(root)
                && loaded.iter().all(|other| other != root && *other != Root::Unknown)
        });
        (floats && apart).then_some(plan)
    }

    /// Translates the body for eight iterations from `index` on; gives the next lanes.
    pub(crate) fn eight(
        &mut self,
        source: &Lanes,
        plan: &Plan,
        index: &Operand,
        carried: &[Operand],
    ) -> Result<Vec<Operand>> {
        let mut eight = Eight {
            values: source.carry.iter().copied().zip(carried.iter().cloned()).collect(),
            spread: HashMap::new(),
            indices: HashMap::from([(0, index.clone())]),
        };
        for stmt in &source.body.stmts {
            match stmt {
                Stmt::Prim { dst, prim, args }
                    if prim.row().lowering == Lowering::Machine(Machine::Copy) =>
                {
                    self.copy_eight(&mut eight, plan, *dst, &args[0])?;
                }
                Stmt::Copy { dst, src } => self.copy_eight(&mut eight, plan, *dst, src)?,
                Stmt::Prim { dst, prim, args } if plan.classes[*dst] == Class::Each => {
                    let mut operands = Vec::with_capacity(args.len());
                    for atom in args {
                        operands.push(self.lanes_of(&mut eight, plan, atom)?);
                    }
                    let text = match prim.row().lowering {
                        Lowering::Machine(op) => {
                            let kind = self.kind(*dst);
                            self.operation(op, &operands, kind, Width::Eight, None)?
                        }
                        Lowering::Runtime(symbol) => {
                            self.runtime(symbol, &operands, Width::Eight)?
                        }
                    };
                    let name = self.name_for_eight(*dst);
                    self.line(format_args!("{name} = {text}"));
                    eight.values.insert(*dst, name);
                }
                Stmt::Load { dst, buffer, index: at } => {
                    let ty = self.type_of(*buffer);
                    let name = self.name_for_eight(*dst);
                    match plan.index(at) {
                        Some(k) => {
                            let at = self.index_of(&mut eight, k);
                            let buffer = self.value(*buffer)?;
                            self.line(format_args!(
                                "{name} = vector.load {buffer}[{at}] : {ty}, vector<8xf64>"
                            ));
                        }
                        None => {
                            let at = self.scalar_or_lanes(&eight, at)?;
                            let buffer = self.value(*buffer)?;
                            self.line(format_args!("{name} = memref.load {buffer}[{at}] : {ty}"));
                        }
                    }
                    eight.values.insert(*dst, name);
                }
                Stmt::Store { buffer, index: at, value } => {
                    let k = plan.index(at).ok_or("a store of eight floats at another index")?;
                    let value = self.lanes_of(&mut eight, plan, value)?;
                    let at = self.index_of(&mut eight, k);
                    let ty = self.type_of(*buffer);
                    let buffer = self.value(*buffer)?;
                    self.line(format_args!(
                        "vector.store {value}, {buffer}[{at}] : {ty}, vector<8xf64>"
                    ));
                }
                // The index plus a constant stands where it is used.
                _ => {}
            }
        }
        let results = &source.body.results;
        results.iter().map(|atom| self.lanes_of(&mut eight, plan, atom)).collect()
    }

    fn copy_eight(&mut self, eight: &mut Eight, plan: &Plan, dst: Value, src: &Atom) -> Result<()> {
        if plan.index(src).is_none() {
            let operand = self.scalar_or_lanes(eight, src)?;
            eight.values.insert(dst, operand);
        }
        Ok(())
    }

    fn name_for_eight(&mut self, value: Value) -> Operand {
        let name = readable(&self.source.values[value].name, "");
        self.fresh_name(&format!("{name}.8"))
    }

    fn index_of(&mut self, eight: &mut Eight, k: i64) -> Operand {
        if let Some(index) = eight.indices.get(&k) {
            return index.clone();
        }
        let (first, constant) = (eight.indices[&0].clone(), self.int(k));
        let index = self.sum("at", &first, &constant);
        eight.indices.insert(k, index.clone());
        index
    }

    fn scalar_or_lanes(&mut self, eight: &Eight, atom: &Atom) -> Result<Operand> {
        if let Atom::Value(value) = atom
            && let Some(operand) = eight.values.get(value)
        {
            return Ok(operand.clone());
        }
        self.atom(*atom)
    }

    /// A float or truth value for each of eight iterations.
    fn lanes_of(&mut self, eight: &mut Eight, plan: &Plan, atom: &Atom) -> Result<Operand> {
        if let Atom::Lit(Literal::F64(x)) = atom {
            return Ok(self.float(*x, Width::Eight));
        }
        let operand = self.scalar_or_lanes(eight, atom)?;
        if plan.class(atom) == Class::Each {
            return Ok(operand);
        }
        if let Some(spread) = eight.spread.get(&operand) {
            return Ok(spread.clone());
        }
        let kind = self.source.kind_of(*atom);
        let (one, all) = (kind_type(kind, Width::One), kind_type(kind, Width::Eight));
        let spread =
            self.define_as("all", format_args!("vector.broadcast {operand} : {one} to {all}"));
        eight.spread.insert(operand, spread.clone());
        Ok(spread)
    }
}

/// Operations that vectors have too, with the same meaning for each lane.
fn is_lanewise(op: Machine) -> bool {
    matches!(
        op,
        Machine::FAdd
            | Machine::FSub
            | Machine::FMul
            | Machine::FTimes
            | Machine::FDiv
            | Machine::FNeg
            | Machine::FAbs
            | Machine::FSqrt
            | Machine::FMin
            | Machine::FMax
            | Machine::FFloor
            | Machine::FCeil
            | Machine::FTrunc
            | Machine::FRound
            | Machine::FSign
            | Machine::FInf
            | Machine::FNan
            | Machine::FRelu
            | Machine::FEq
            | Machine::FNe
            | Machine::FLt
            | Machine::FLe
            | Machine::FGt
            | Machine::FGe
            | Machine::And
            | Machine::Or
            | Machine::Not
            | Machine::BEq
            | Machine::BNe
            | Machine::Select
    )
}

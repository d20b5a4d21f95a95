//! Eight iterations of a sum at once.
//!
//! Eight iterations of a [marked](jut_loop::form::Vector) sum share a vector: each part computes exactly
//! what the scalar operation computes. What is the same for all is one scalar; a load at the index plus
//! a constant is one load of eight neighbours, a store one store of eight.
//!
//! Example: `x = xs[i]; p = x * x; t[i] = p; s + p` is one load, one multiplication, one store, one
//! addition per eight iterations.

use crate::function::{Emitter, Operand, Result, Width, kind_type};
use crate::names::readable;
use jut_ir::ir::Literal;
use jut_ir::prim::{Lowering, Opcode};
use jut_loop::analysis::{Class, Classes};
use jut_loop::form::{Atom, Lanes, Stmt, Value};
use jut_loop::target::{Loops, Reach, StripMine, Target, Vectors};
use jut_runtime::symbols::{self, Math};
use std::collections::HashMap;

/// What is taken of the loop form.
pub(crate) const TARGET: Target = Target {
    strip_mine: StripMine::No,
    vectors: Some(Vectors {
        loops: Loops::None,
        together: 8,
        longest: 200,
        masked: false,
        stores_last: false,
        reach: Reach::Neighbours,
        integers: false,
        narrow: false,
        halves: false,
        checks: false,
        branches: false,
        guarded: false,
        in_order: false,
        conjunctions: false,
        nested: false,
        operation: is_lanewise,
        function: |symbol| matches!(symbols::math(symbol), Some(Math::Unary(_) | Math::Binary(_))),
        wide: |_| false,
    }),
    shares: None,
};

/// Values in the making, of eight iterations.
struct EightPlan {
    classes: Classes,
    /// Values of the body that are not the same for all.
    values: HashMap<Value, Operand>,
    /// Scalars in all lanes.
    spread: HashMap<Operand, Operand>,
    /// The index plus a constant.
    indices: HashMap<i64, Operand>,
}

impl Emitter<'_> {
    /// Translates the body for eight iterations from `index` on; gives the next lanes.
    pub(crate) fn eight(
        &mut self,
        source: &Lanes,
        index: &Operand,
        carried: &[Operand],
    ) -> Result<Vec<Operand>> {
        let mut eight = EightPlan {
            classes: Classes::of(source.index, &source.carry, &source.body),
            values: source.carry.iter().copied().zip(carried.iter().cloned()).collect(),
            spread: HashMap::new(),
            indices: HashMap::from([(0, index.clone())]),
        };
        for stmt in &source.body.stmts {
            match stmt {
                Stmt::Prim { dst, prim, args } if eight.classes.class(*dst) == Class::Wide => {
                    let mut operands = Vec::with_capacity(args.len());
                    for atom in args {
                        operands.push(self.lanes_of(&mut eight, atom)?);
                    }
                    let text = match prim.row().lowering {
                        Lowering::Opcode(op) => {
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
                Stmt::Copy { dst, src } if eight.classes.class(*dst) == Class::Wide => {
                    let operand = self.lanes_of(&mut eight, src)?;
                    eight.values.insert(*dst, operand);
                }
                Stmt::Previous { dst, src, .. } => {
                    let now = self.lanes_of(&mut eight, src)?;
                    let before = self.before_eight(*dst, &now)?;
                    eight.values.insert(*dst, before);
                }
                Stmt::Load { dst, buffer, index: at }
                    if eight.classes.class(*dst) == Class::Wide =>
                {
                    let ty = self.type_of(*buffer);
                    let name = self.name_for_eight(*dst);
                    let at = self.index_of(&mut eight, *at)?;
                    let buffer = self.value(*buffer)?;
                    self.line(format_args!(
                        "{name} = vector.load {buffer}[{at}] : {ty}, vector<8xf64>"
                    ));
                    eight.values.insert(*dst, name);
                }
                Stmt::Store { buffer, index: at, value } => {
                    let value = self.lanes_of(&mut eight, value)?;
                    let at = self.index_of(&mut eight, *at)?;
                    let ty = self.type_of(*buffer);
                    let buffer = self.value(*buffer)?;
                    self.line(format_args!(
                        "vector.store {value}, {buffer}[{at}] : {ty}, vector<8xf64>"
                    ));
                }
                // The index plus a constant stands where it is used.
                Stmt::Prim { dst, .. } | Stmt::Copy { dst, .. }
                    if matches!(eight.classes.class(*dst), Class::Step(_)) => {}
                other => self.stmt(other)?,
            }
        }
        let results = &source.body.results;
        results.iter().map(|atom| self.lanes_of(&mut eight, atom)).collect()
    }

    fn name_for_eight(&mut self, value: Value) -> Operand {
        let name = readable(&self.source.values[value].name, "");
        self.fresh_name(&format!("{name}.8"))
    }

    fn index_of(&mut self, eight: &mut EightPlan, at: Atom) -> Result<Operand> {
        let k = eight.classes.offset(at).ok_or("eight neighbours at another index")?;
        if let Some(index) = eight.indices.get(&k) {
            return Ok(index.clone());
        }
        let (first, constant) = (eight.indices[&0].clone(), self.int(k));
        let index = self.sum("at", &first, &constant);
        eight.indices.insert(k, index.clone());
        Ok(index)
    }

    /// A float or truth value for each of eight iterations.
    fn lanes_of(&mut self, eight: &mut EightPlan, atom: &Atom) -> Result<Operand> {
        if let Atom::Lit(Literal::F64(x)) = atom {
            return Ok(self.float(*x, Width::Eight));
        }
        if let Atom::Value(value) = atom
            && let Some(operand) = eight.values.get(value)
        {
            return Ok(operand.clone());
        }
        let operand = self.atom(*atom)?;
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
fn is_lanewise(op: Opcode) -> bool {
    matches!(
        op,
        Opcode::FAdd
            | Opcode::FSub
            | Opcode::FMul
            | Opcode::FTimes
            | Opcode::FDiv
            | Opcode::FNeg
            | Opcode::FAbs
            | Opcode::FSqrt
            | Opcode::FMin
            | Opcode::FMax
            | Opcode::FFloor
            | Opcode::FCeil
            | Opcode::FTrunc
            | Opcode::FRound
            | Opcode::FSign
            | Opcode::FInf
            | Opcode::FNan
            | Opcode::FRelu
            | Opcode::FEq
            | Opcode::FNe
            | Opcode::FLt
            | Opcode::FLe
            | Opcode::FGt
            | Opcode::FGe
            | Opcode::And
            | Opcode::Or
            | Opcode::Not
            | Opcode::BEq
            | Opcode::BNe
            | Opcode::Select
    )
}

//! Two iterations at once.
//!
//! The lanes of a `lanes` loop are independent, and so are the iterations of a `for par`: lanes, or
//! iterations, k and k + 1 may share vector registers of two floats. Each half computes exactly what
//! the scalar operation computes. A body qualifies if it consists of
//!
//! - float arithmetic on values of the body, carried lanes and values from outside,
//! - loads of floats at `index + constant`, which become one load of two neighbours, or at an index
//!   from outside,
//! - stores of floats at `index + constant`. In a sum, whose iterations run in order, they must go to
//!   memory that this function allocated or was given to write, at most one to each, and every load
//!   must be known to be from other memory, or be from the same cell: then it does not matter that two iterations take their steps together. In a
//!   `for par` it never matters.
//!
//! Example: `x = xs[i]; p = x * x; t[i] = p; s + p` is one load, one multiplication, one store, one
//! addition per two iterations.

use crate::group::{self, Carried, Waiting, Way};
use crate::machine;
use crate::translate::{Result, Translator};
use cranelift_codegen::ir::{self, InstBuilder, MemFlagsData, types};
use cranelift_entity::SecondaryMap;
use jut_ir::ir::Literal;
use jut_ir::prim::{Lowering, Machine};
use jut_loop::form::{Atom, Block, Cell, For, Kind, Lanes, Order, Stmt, Value};

/// Where the memory of a buffer comes from, as far as is known.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Root {
    /// Not known.
    #[default]
    Unknown,
    /// A parameter of the function that is read or added to.
    Param,
    /// The allocation, or the parameter for results, that the value names.
    Fresh(Value),
}

/// What a value is to two iterations.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
enum Class {
    /// Defined outside of the body, the same for both.
    #[default]
    Outside,
    /// The loop's index plus a constant.
    Index(i64),
    /// One float for each.
    Pair,
}

/// How the body is to be translated.
pub(crate) struct Plan {
    classes: SecondaryMap<Value, Class>,
    /// Floats from outside that stand in both halves of a register before the loop.
    outside: Vec<(Atom, ir::Value)>,
    /// How many pairs make a [group](crate::group), if there are products of derivatives and it may be
    /// made.
    pub(crate) together: Option<usize>,
}

/// What is read or written: where the memory comes from, the buffer, the index.
type Access = (Root, Value, Atom);

/// So many floats from outside are kept in registers.
const KEPT: usize = 6;

/// Statements of a body that is repeated for four pairs of lanes.
const SMALL: usize = 40;

impl Translator<'_> {
    /// A plan for the body of a sum, if it qualifies.
    pub(crate) fn plan(&self, source: &Lanes) -> Option<Plan> {
        self.plan_body(source.index, &source.carry, &source.body, false)
    }

    /// A plan for the body of a loop whose iterations are independent, if it qualifies.
    pub(crate) fn plan_parallel(&self, source: &For) -> Option<Plan> {
        match source.order {
            Order::Par => self.plan_body(source.index, &[], &source.body, true),
            Order::Up | Order::Down => None,
        }
    }

    fn plan_body(
        &self,
        index: Value,
        carry: &[Value],
        body: &Block,
        independent: bool,
    ) -> Option<Plan> {
        if !self.has_vectors || body.stmts.len() > SMALL {
            return None;
        }
        let mut plan = Plan { classes: SecondaryMap::new(), outside: Vec::new(), together: None };
        plan.classes[index] = Class::Index(0);
        for carry in carry {
            plan.classes[*carry] = Class::Pair;
        }
        let (mut loaded, mut stored): (Vec<Access>, Vec<Access>) = Default::default();
        // Whether there are products of derivatives; whether stores may wait until all is loaded.
        let (mut products, mut may_wait) = (false, true);
        let apart = |a: Root, b: Root| a != b && a != Root::Unknown && b != Root::Unknown;
        for stmt in &body.stmts {
            if self.invariants.is_moved(stmt) {
                continue;
            }
            match stmt {
                Stmt::Prim { dst, prim, args } => {
                    let Lowering::Machine(op) = prim.row().lowering else { return None };
                    plan.classes[*dst] = match (op, args.as_slice()) {
                        (Machine::IAdd, [a, Atom::Lit(Literal::I64(k))])
                        | (Machine::IAdd, [Atom::Lit(Literal::I64(k)), a]) => {
                            Class::Index(plan.index(a)?.wrapping_add(*k))
                        }
                        (Machine::ISub, [a, Atom::Lit(Literal::I64(k))]) => {
                            Class::Index(plan.index(a)?.wrapping_sub(*k))
                        }
                        (Machine::Copy, [a]) => plan.class(a),
                        _ if is_lanewise(op) && args.iter().all(|a| plan.is_float(a)) => {
                            products |= op == Machine::FTimes;
                            Class::Pair
                        }
                        _ => return None,
                    };
                }
                Stmt::Copy { dst, src } => plan.classes[*dst] = plan.class(src),
                Stmt::Load { dst, buffer, index } => {
                    let is_float = self.kind(*buffer) == Kind::Buffer(Cell::F64);
                    if !is_float || plan.classes[*buffer] != Class::Outside {
                        return None;
                    }
                    if plan.class(index) == Class::Pair {
                        return None;
                    }
                    let root = self.roots[*buffer];
                    may_wait &= stored.iter().all(|(other, ..)| apart(root, *other));
                    loaded.push((root, *buffer, *index));
                    plan.classes[*dst] = Class::Pair;
                }
                Stmt::Store { buffer, index, value } => {
                    let is_float = self.kind(*buffer) == Kind::Buffer(Cell::F64);
                    plan.index(index)?;
                    if !is_float || !plan.is_float(value) {
                        return None;
                    }
                    stored.push((self.roots[*buffer], *buffer, *index));
                }
                _ => return None,
            }
        }
        let results_are_floats = body.results.iter().all(|atom| plan.is_float(atom));
        let steps_together = independent
            || stored.iter().enumerate().all(|(k, store)| {
                let (root, buffer, index) = *store;
                matches!(root, Root::Fresh(_))
                    && stored[..k].iter().all(|other| apart(root, other.0))
                    && loaded.iter().all(|(other, from, at)| {
                        apart(root, *other) || (*from, *at) == (buffer, index)
                    })
            });
        if products && may_wait {
            plan.together = Some(group::pairs_of(stored.len() + body.results.len()));
        }
        (results_are_floats && steps_together).then_some(plan)
    }

    /// Puts floats from outside into registers of two, before the loop.
    pub(crate) fn spread(&mut self, body: &Block, plan: &mut Plan) -> Result<()> {
        for stmt in &body.stmts {
            let Stmt::Prim { dst, args, .. } = stmt else { continue };
            if self.invariants.is_moved(stmt) || plan.classes[*dst] != Class::Pair {
                continue;
            }
            for atom in args {
                let new = plan.class(atom) == Class::Outside && plan.kept(atom).is_none();
                if new && plan.outside.len() < KEPT {
                    let value = self.atom(*atom)?;
                    let pair = self.builder.ins().splat(types::F64X2, value);
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
        plan: &Plan,
        (index, k): (ir::Value, i64),
        carried: &Carried,
        way: &mut Way,
    ) -> Result<Vec<ir::Value>> {
        let mut pairs = SecondaryMap::new();
        for (carry, lanes) in carried {
            pairs[*carry] = Some(*lanes);
        }
        // What is one value for all pairs has been bound then.
        let again = matches!(way, Way::Again { .. });
        for stmt in &body.stmts {
            if self.invariants.is_moved(stmt) {
                continue;
            }
            match stmt {
                Stmt::Prim { dst, prim, args } if plan.classes[*dst] == Class::Pair => {
                    let mut operands = Vec::with_capacity(args.len());
                    for atom in args {
                        operands.push(self.operand(plan, &pairs, atom)?);
                    }
                    let Lowering::Machine(op) = prim.row().lowering else {
                        return Err("a call in a body of pairs".to_owned());
                    };
                    let result = match (op, operands.as_slice(), &mut *way) {
                        (Machine::FTimes, [a, b], Way::Plain { products, .. }) => {
                            let product = self.builder.ins().fmul(*a, *b);
                            products.push(product);
                            product
                        }
                        (Machine::FTimes, [a, b], Way::Again { .. }) => {
                            machine::times_at_once(&mut self.builder, *a, *b)
                        }
                        _ => machine::operation(&mut self.builder, op, &operands, None)?,
                    };
                    pairs[*dst] = Some(result);
                }
                Stmt::Copy { dst, src } if plan.classes[*dst] == Class::Pair => {
                    pairs[*dst] = Some(self.operand(plan, &pairs, src)?);
                }
                Stmt::Copy { dst, src } if plan.classes[*dst] == Class::Outside && !again => {
                    let value = self.atom(*src)?;
                    self.bind(*dst, value);
                }
                Stmt::Load { dst, buffer, index: at } => {
                    let loaded = match plan.index(at) {
                        Some(offset) => {
                            let (address, offset) =
                                self.neighbours(*buffer, index, offset.wrapping_add(k))?;
                            self.builder.ins().load(types::F64X2, anywhere(), address, offset)
                        }
                        None => {
                            if !again {
                                self.load(*dst, *buffer, *at)?;
                            }
                            let value = self.value(*dst)?;
                            self.builder.ins().splat(types::F64X2, value)
                        }
                    };
                    pairs[*dst] = Some(loaded);
                }
                Stmt::Store { buffer, index: at, value } => {
                    let offset = plan.index(at).ok_or("a store of pairs at another index")?;
                    let value = self.operand(plan, &pairs, value)?;
                    let (buffer, offset) = (*buffer, offset.wrapping_add(k));
                    match way {
                        Way::Direct => {
                            let (address, offset) = self.neighbours(buffer, index, offset)?;
                            self.builder.ins().store(anywhere(), value, address, offset);
                        }
                        Way::Plain { stores, .. } | Way::Again { stores } => {
                            stores.push(Waiting { buffer, offset, value });
                        }
                    }
                }
                // The index plus a constant is part of addresses.
                _ => {}
            }
        }
        body.results.iter().map(|atom| self.operand(plan, &pairs, atom)).collect()
    }

    /// A float for both iterations.
    fn operand(
        &mut self,
        plan: &Plan,
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
        Ok(self.builder.ins().splat(types::F64X2, value))
    }

    /// Address of the float at `index + k`.
    pub(crate) fn neighbours(
        &mut self,
        buffer: Value,
        index: ir::Value,
        k: i64,
    ) -> Result<(ir::Value, i32)> {
        let place = crate::known::Place {
            cell: Cell::F64,
            buffer: self.value(buffer)?,
            index: (Some(index), k),
        };
        Ok(self.address(&place))
    }
}

impl Plan {
    fn class(&self, atom: &Atom) -> Class {
        match atom {
            Atom::Lit(_) => Class::Outside,
            Atom::Value(value) => self.classes.get(*value).copied().unwrap_or_default(),
        }
    }

    fn index(&self, atom: &Atom) -> Option<i64> {
        match self.class(atom) {
            Class::Index(k) => Some(k),
            Class::Outside | Class::Pair => None,
        }
    }

    fn kept(&self, atom: &Atom) -> Option<ir::Value> {
        self.outside.iter().find(|(known, _)| known == atom).map(|(_, pair)| *pair)
    }

    fn is_float(&self, atom: &Atom) -> bool {
        !matches!(self.class(atom), Class::Index(_))
    }
}

/// Operations on floats that vectors have too, with the same meaning for each half.
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
    )
}

/// Two floats are aligned to one float only.
pub(crate) fn anywhere() -> MemFlagsData {
    MemFlagsData::new().with_notrap()
}

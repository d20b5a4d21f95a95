//! Eight iterations of a sum at once.
//!
//! The lanes of a `lanes` loop are independent, so iterations i, .., i + 7 may be taken together, each
//! in its lane of a vector of eight: every lane computes exactly what the scalar operation computes.
//! To eight iterations a value is one of three things:
//!
//! - *the same* for all (defined outside, or made of such): one scalar;
//! - *a step*: an integer that grows by one from lane to lane (the index, the index plus something
//!   that is the same): the scalar of the first lane stands for it, and a load at a step is one load
//!   of eight neighbours;
//! - *wide*: a vector of eight. A load at a wide index gathers.
//!
//! A body qualifies if it consists of operations, loads and checks, of branches that only compute
//! (both sides are computed, and the results selected), and of stores at steps to memory that nothing
//! else in the body reads or writes, but for the same cell: then it does not matter that eight
//! iterations take their steps together.
//!
//! **Failing.** A check holds for eight iterations if it holds for all. If not, the loop is left for
//! the one that takes single iterations, with the lanes as they were before: that one fails at the
//! right iteration. So no check may stand behind a store.
//!
//! Example: `x = xs[i]; p = x * x; t[i] = p; s + p` is one load, one multiplication, one store and one
//! addition per eight iterations.

use crate::function::{Result, Root, Translator, scalar};
use crate::loops::LANE;
use crate::text::{Operand, Scalar, Type};
use cranelift_entity::SecondaryMap;
use jut_ir::prim::{Lowering, Machine};
use jut_loop::form::{Atom, Block, Cell, Check, Kind, Lanes, Stmt, Value};

/// What a value is to eight iterations.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
enum Class {
    #[default]
    Same,
    Step,
    Wide,
}

/// How a body is to be translated.
pub(crate) struct Plan {
    classes: SecondaryMap<Value, Class>,
    wide: SecondaryMap<Value, Option<Operand>>,
}

/// Statements of a body that is taken eight at a time.
const SMALL: usize = 200;

/// A place in memory: root, buffer, cell.
type Place = (Root, Value, Atom);

/// What is known while a plan is made.
#[derive(Default)]
struct Survey {
    classes: SecondaryMap<Value, Class>,
    loads: Vec<Place>,
    stores: Vec<Place>,
    /// Roots of buffers that the body makes of others.
    roots: SecondaryMap<Value, Option<Root>>,
    statements: usize,
}

impl Survey {
    fn class(&self, atom: &Atom) -> Class {
        match atom {
            Atom::Lit(_) => Class::Same,
            Atom::Value(value) => self.classes.get(*value).copied().unwrap_or_default(),
        }
    }

    fn all_same(&self, atoms: &[Atom]) -> bool {
        atoms.iter().all(|atom| self.class(atom) == Class::Same)
    }
}

impl Translator<'_> {
    /// A plan for the body, if it qualifies.
    pub(crate) fn plan(&self, source: &Lanes) -> Option<Plan> {
        let mut survey = Survey::default();
        survey.classes[source.index] = Class::Step;
        for carry in &source.carry {
            survey.classes[*carry] = Class::Wide;
        }
        self.survey(&source.body, &mut survey, false)?;
        let apart = |a: Root, b: Root| match (a, b) {
            (Root::Own(a), Root::Own(b)) => a != b,
            _ => false,
        };
        let Survey { classes, loads, stores, .. } = survey;
        let fits = stores.iter().enumerate().all(|(k, store)| {
            let others = loads.iter().chain(&stores[..k]);
            others
                .into_iter()
                .all(|other| apart(store.0, other.0) || (store.1, store.2) == (other.1, other.2))
        });
        fits.then(|| Plan { classes, wide: SecondaryMap::new() })
    }

    /// Classifies what a block binds; `None` if it does not qualify. `guarded` is what may not run.
    fn survey(&self, block: &Block, survey: &mut Survey, guarded: bool) -> Option<()> {
        for stmt in &block.stmts {
            survey.statements += 1;
            if survey.statements > SMALL {
                return None;
            }
            match stmt {
                Stmt::Prim { dst, prim, args } => {
                    survey.classes[*dst] = match (prim.row().lowering, args.as_slice()) {
                        (Lowering::Machine(Machine::IDiv | Machine::IRem), _) if guarded => {
                            return None;
                        }
                        (Lowering::Machine(_), _) if survey.all_same(args) => Class::Same,
                        (Lowering::Machine(op), _) if self.imports.called(op).is_some() => {
                            return None;
                        }
                        (Lowering::Machine(Machine::IDiv | Machine::IRem), _) => return None,
                        (Lowering::Machine(Machine::Copy), [a]) => survey.class(a),
                        (Lowering::Machine(Machine::IAdd), [a, b]) => {
                            match (survey.class(a), survey.class(b)) {
                                (Class::Step, Class::Same) | (Class::Same, Class::Step) => {
                                    Class::Step
                                }
                                _ => Class::Wide,
                            }
                        }
                        (Lowering::Machine(Machine::ISub), [a, b]) => {
                            match (survey.class(a), survey.class(b)) {
                                (Class::Step, Class::Same) => Class::Step,
                                _ => Class::Wide,
                            }
                        }
                        (Lowering::Machine(_), _) => Class::Wide,
                        (Lowering::Runtime(_), _) if guarded => return None,
                        (Lowering::Runtime(_), _) if survey.all_same(args) => Class::Same,
                        (Lowering::Runtime(_), _) => Class::Wide,
                    };
                }
                Stmt::Copy { dst, src } => {
                    survey.classes[*dst] = survey.class(src);
                    if let Atom::Value(value) = src {
                        survey.roots[*dst] = Some(self.root(survey, *value));
                    }
                }
                Stmt::Load { dst, buffer, index } if !guarded => {
                    let cell = self.cell(*buffer).ok()?;
                    let at = survey.class(index);
                    let fits = match at {
                        Class::Same => true,
                        Class::Step => matches!(cell, Cell::F64 | Cell::I64 | Cell::Bool),
                        Class::Wide => matches!(cell, Cell::F64 | Cell::I64),
                    };
                    if !fits || survey.class(&Atom::Value(*buffer)) != Class::Same {
                        return None;
                    }
                    survey.classes[*dst] = if at == Class::Same { at } else { Class::Wide };
                    survey.loads.push((self.root(survey, *buffer), *buffer, *index));
                }
                Stmt::Offset { dst, buffer, index } if !guarded => {
                    let same = survey.all_same(&[Atom::Value(*buffer), *index]);
                    if !same {
                        return None;
                    }
                    survey.classes[*dst] = Class::Same;
                    survey.roots[*dst] = Some(self.root(survey, *buffer));
                }
                Stmt::Store { buffer, index, .. } if !guarded => {
                    let cell = self.cell(*buffer).ok()?;
                    let same = survey.class(&Atom::Value(*buffer)) == Class::Same;
                    let fits = matches!(cell, Cell::F64 | Cell::I64 | Cell::Bool);
                    if !same || !fits || survey.class(index) != Class::Step {
                        return None;
                    }
                    survey.stores.push((self.root(survey, *buffer), *buffer, *index));
                }
                Stmt::Check { .. } if !guarded && survey.stores.is_empty() => {}
                Stmt::If { dst, then, other, .. } => {
                    let kinds = dst.iter().map(|value| self.kind(*value));
                    if kinds.into_iter().any(|kind| matches!(kind, Kind::Buffer(_))) {
                        return None;
                    }
                    self.survey(then, survey, true)?;
                    self.survey(other, survey, true)?;
                    for value in dst {
                        survey.classes[*value] = Class::Wide;
                    }
                }
                _ => return None,
            }
        }
        Some(())
    }

    fn root(&self, survey: &Survey, buffer: Value) -> Root {
        survey.roots.get(buffer).copied().flatten().unwrap_or(self.roots[buffer])
    }

    /// Translates the body for eight iterations from `index` on; gives the next lanes. Where a check
    /// does not hold for all of them, `leave` says where to go.
    pub(crate) fn eight(
        &mut self,
        plan: &mut Plan,
        source: &Lanes,
        lanes: &[Operand],
        leave: &mut dyn FnMut(&mut Self, Operand),
    ) -> Result<Vec<Operand>> {
        for (carry, lanes) in source.carry.iter().zip(lanes) {
            plan.wide[*carry] = Some(*lanes);
        }
        self.eight_block(plan, &source.body, leave)
    }

    fn eight_block(
        &mut self,
        plan: &mut Plan,
        block: &Block,
        leave: &mut dyn FnMut(&mut Self, Operand),
    ) -> Result<Vec<Operand>> {
        for stmt in &block.stmts {
            self.eight_stmt(plan, stmt, leave)?;
        }
        block.results.iter().map(|atom| self.spread(plan, *atom)).collect()
    }

    fn eight_stmt(
        &mut self,
        plan: &mut Plan,
        stmt: &Stmt,
        leave: &mut dyn FnMut(&mut Self, Operand),
    ) -> Result<()> {
        match stmt {
            Stmt::Prim { dst, prim, args } if plan.classes[*dst] == Class::Wide => {
                let mut operands = Vec::with_capacity(args.len());
                for atom in args {
                    operands.push(self.spread(plan, *atom)?);
                }
                let result = match prim.row().lowering {
                    Lowering::Machine(op) => {
                        let selected = scalar(self.kind(*dst));
                        crate::machine::operation(&mut self.body, op, &operands, true, selected)?
                    }
                    Lowering::Runtime(symbol) => self.eight_calls(symbol, &operands)?,
                };
                plan.wide[*dst] = Some(result);
                Ok(())
            }
            Stmt::Copy { dst, src } if plan.classes[*dst] == Class::Wide => {
                plan.wide[*dst] = Some(self.spread(plan, *src)?);
                Ok(())
            }
            Stmt::Load { dst, buffer, index } if plan.classes[*dst] == Class::Wide => {
                let ty = scalar(self.kind(*dst)).wide();
                let value = match plan.class(index) {
                    Class::Wide => self.gather(plan, *buffer, *index, ty)?,
                    Class::Step | Class::Same => {
                        let index = self.atom(*index)?;
                        let at = self.address(*buffer, index)?;
                        self.load_from(at, ty)
                    }
                };
                plan.wide[*dst] = Some(value);
                Ok(())
            }
            Stmt::Store { buffer, index, value } => {
                let ty = scalar(self.source.kind_of(*value)).wide();
                let (index, value) = (self.atom(*index)?, self.spread(plan, *value)?);
                let at = self.address(*buffer, index)?;
                self.store_to(at, value, ty);
                Ok(())
            }
            Stmt::Check { check, .. } => {
                let holds = self.hold(plan, *check)?;
                leave(self, holds);
                Ok(())
            }
            Stmt::If { dst, cond, then, other } => {
                let cond = self.spread(plan, *cond)?;
                let then = self.eight_block(plan, then, leave)?;
                let other = self.eight_block(plan, other, leave)?;
                for (value, (a, b)) in dst.iter().zip(then.into_iter().zip(other)) {
                    let selected = scalar(self.kind(*value));
                    let args = [cond, a, b];
                    let op = Machine::Select;
                    let result =
                        crate::machine::operation(&mut self.body, op, &args, true, selected)?;
                    plan.wide[*value] = Some(result);
                }
                Ok(())
            }
            // What is the same for all, and steps, are as in a single iteration.
            other => self.stmt(other),
        }
    }

    /// A value for eight iterations.
    fn spread(&mut self, plan: &Plan, atom: Atom) -> Result<Operand> {
        if let Atom::Value(value) = atom
            && let Some(wide) = plan.wide[value]
            && plan.classes[value] == Class::Wide
        {
            return Ok(wide);
        }
        let operand = self.atom(atom)?;
        let Operand::Temp(_) = operand else { return Ok(operand) };
        let one = scalar(self.source.kind_of(atom)).one();
        let wide = one.scalar.wide();
        let first = operand.of(one);
        let line = format_args!("insertelement {wide} poison, {one} {first}, i64 0");
        let first = self.body.value(line).of(one);
        let line =
            format_args!("shufflevector {wide} {first}, {wide} poison, <8 x i32> zeroinitializer");
        let all = self.body.value(line);
        if plan.class(&atom) != Class::Step {
            return Ok(all);
        }
        let steps = "<i64 0, i64 1, i64 2, i64 3, i64 4, i64 5, i64 6, i64 7>";
        let all = all.of(wide);
        Ok(self.body.value(format_args!("add {wide} {all}, {steps}")))
    }

    /// Eight results of a mathematical function.
    fn eight_calls(&mut self, symbol: &'static str, args: &[Operand]) -> Result<Operand> {
        if let [x] = args
            && self.imports.wide(symbol).is_some()
        {
            let x = x.of(LANE);
            return Ok(self.body.value(format_args!("call {LANE} @{symbol}.8({LANE} {x})")));
        }
        let params = crate::function::params_of(symbol)?;
        let mut all = "poison".to_owned();
        let mut last = Operand::ZERO;
        for k in 0..jut_loop::form::LANES {
            let mut one = Vec::with_capacity(args.len());
            for (arg, param) in args.iter().zip(params) {
                one.push(match arg {
                    Operand::Temp(_) => {
                        let (ty, arg) = (param.wide(), arg.of(param.wide()));
                        self.body.value(format_args!("extractelement {ty} {arg}, i64 {k}"))
                    }
                    constant => *constant,
                });
            }
            let result = self.mathematics(symbol, &one)?.of(Scalar::F64.one());
            let line = format_args!("insertelement {LANE} {all}, double {result}, i64 {k}");
            last = self.body.value(line);
            all = last.of(LANE).to_string();
        }
        Ok(last)
    }

    /// Loads from eight cells that are in range.
    fn gather(&mut self, plan: &Plan, buffer: Value, index: Atom, ty: Type) -> Result<Operand> {
        let index = self.spread(plan, index)?.of(Scalar::I64.wide());
        let from = self.value(buffer)?.of(Scalar::Ptr.one());
        let cell = ty.scalar.in_memory();
        let line = format_args!("getelementptr inbounds nuw {cell}, ptr {from}, <8 x i64> {index}");
        let places = self.body.value(line).of(ty);
        let (suffix, mask) = (ty.suffix(), "<8 x i1> splat (i1 true)");
        Ok(self.body.value(format_args!(
            "call {ty} @llvm.masked.gather.{suffix}.v8p0(<8 x ptr> align 8 {places}, {mask}, \
             {ty} poison)"
        )))
    }

    /// Whether a check holds for eight iterations.
    fn hold(&mut self, plan: &Plan, check: Check) -> Result<Operand> {
        let atoms = check.atoms();
        if atoms.iter().all(|atom| plan.class(atom) == Class::Same) {
            let operands = self.atoms(&atoms)?;
            return self.holds(check, &operands);
        }
        let mut operands = Vec::with_capacity(atoms.len());
        for atom in &atoms {
            operands.push(self.spread(plan, *atom)?.of(Scalar::I64.wide()).to_string());
        }
        let body = &mut self.body;
        let bool = Scalar::Bool.wide();
        let mut compare = |how: &str, a: &str, b: &str| {
            body.value(format_args!("icmp {how} <8 x i64> {a}, {b}")).of(bool).to_string()
        };
        let zero = "zeroinitializer";
        let parts: Vec<String> = match (check, operands.as_slice()) {
            (Check::Below(..), [i, n]) => vec![compare("slt", i, n), compare("sge", i, zero)],
            (Check::Equal(..), [a, b]) => vec![compare("eq", a, b)],
            (Check::NonNegative(_), [n]) => vec![compare("sge", n, zero)],
            (Check::NonZero(_), [a]) => vec![compare("ne", a, zero)],
            (Check::Within(..), [low, len, n]) => {
                let signs = [low, len, n].map(|x| compare("sge", x, zero));
                let line = format_args!("add <8 x i64> {low}, {len}");
                let end = body.value(line).of(bool).to_string();
                let line = format_args!("icmp ule <8 x i64> {end}, {n}");
                let fits = body.value(line).of(bool).to_string();
                signs.into_iter().chain([fits]).collect()
            }
            _ => return Err("a check has another number of operands".to_owned()),
        };
        let mut all = String::new();
        for part in parts {
            all = match all.as_str() {
                "" => part,
                before => {
                    body.value(format_args!("and {bool} {before}, {part}")).of(bool).to_string()
                }
            };
        }
        Ok(body.value(format_args!("call i1 @llvm.vector.reduce.and.v8i1({bool} {all})")))
    }
}

impl Plan {
    fn class(&self, atom: &Atom) -> Class {
        match atom {
            Atom::Lit(_) => Class::Same,
            Atom::Value(value) => self.classes.get(*value).copied().unwrap_or_default(),
        }
    }
}

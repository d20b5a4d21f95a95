//! What each stage of a derivative costs on given arguments, beside the bounds of the paper: the
//! report behind `jut explain cost`.
//!
//! | bound | what it says |
//! |---|---|
//! | J, Theorem 5.1 | `W[f.jvp] <= c (W[f] + control[f]) + in`, with c from the table of primitives |
//! | U, Theorem 6.2 | `W[f.nonlin] + W[f.lin] = W[f.jvp]` if everything is stored; otherwise the difference is what is computed again, less what is computed once instead of often |
//! | T, Theorem 7.1 | `W[f.linT] + in <= W[f.lin] + out` |
//! | all three: the cheap gradient | `W[f.nonlin] + W[f.linT] <= c (W[f] + control[f]) + out + again` |
//!
//! Where `f.linT` opens zeros of declared tangent types, the scalars of these come to the right of Theorem 7.1
//! ([`Counters::zeros`]).
//!
//! `in` and `out` are the scalars of the tangents that are passed by value. W here is work without
//! copies and integer arithmetic (see [`Counters`]): f.lin repeats sizes and indices, and stacking
//! a carry is a copy in name only. `again` is what the policy computes again: the left side of
//! Theorem 6.2 less its right side, if that is positive.
//!
//! Control, free in W, counts in the bound of J: where a loop runs no time or an arm gives one of its
//! inputs, the function does no work, but a tangent is read or dropped.
//!
//! *c* is the largest factor of a primitive that the function uses: the primitive, its partials,
//! a multiplication for each, the additions, and two for a tangent that a region reads and an arm
//! drops. So c depends on the text alone, never on the input: that is the cheap gradient principle.
//!
//! *Requires*: the stages of one function. *Cost*: one run of each stage.

use crate::value::Value;
use crate::{Counters, EvalError, Interpreter};
use jut_ir::entity::FuncId;
use jut_ir::ir::{Block, Program, Rhs};
use jut_ir::prim::{Formula, Partial, Prim};
use jut_ir::structured::{self, Rule, Step};
use std::collections::HashSet;
use std::fmt;

/// The stages of a derivative, and how the halves fit together.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Stages {
    /// The function.
    pub func: FuncId,
    /// `f.jvp`.
    pub jvp: FuncId,
    /// `f.nonlin`.
    pub nonlin: FuncId,
    /// `f.lin`.
    pub lin: FuncId,
    /// `f.linT`.
    pub transposed: FuncId,
    /// Positions of the parameters of f that `f.lin` takes first.
    pub forwarded: Vec<usize>,
    /// Positions of the results of f that it takes next.
    pub result_sizes: Vec<usize>,
    /// Whether it takes a tape then, the last result of `f.nonlin`.
    pub has_tape: bool,
}

/// The cost of one stage.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StageCost {
    /// Its name.
    pub name: String,
    /// What the run counted.
    pub counters: Counters,
    /// Scalars of linear parameters.
    pub inputs: u64,
    /// Scalars of linear results.
    pub outputs: u64,
}

/// The costs of all stages on given arguments.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CostReport {
    /// f, f.jvp, f.nonlin, f.lin, f.linT.
    pub stages: [StageCost; 5],
    /// Value and gradient as they are compiled, composed and optimised, if that was run too.
    pub gradient: Option<StageCost>,
    /// The factor of Theorem 5.1 for the primitives that f uses.
    pub factor: Factor,
    /// Bytes of the tape.
    pub tape: u64,
}

/// The factor c of Theorem 5.1 for one function, and which primitive decides it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Factor {
    /// The work of the primitive and all its tangents.
    pub largest: u64,
    /// The primitive with the most, by name; `None` if reads and sums cost as much.
    pub operation: Option<&'static str>,
}

impl Factor {
    /// c: two more, for a tangent that a region reads and an arm drops.
    pub fn value(&self) -> u64 {
        self.largest + 2
    }

    /// What bounds the work of `f.jvp`, but for the scalars of tangents that are passed by value,
    /// when f has cost this much: c times its work, copies and control.
    pub fn times(&self, f: Counters) -> u64 {
        self.value().saturating_mul(f.work + f.copied + f.control())
    }
}

impl fmt::Display for Factor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Factor { largest, operation } = self;
        let what = match operation {
            Some(name) => format!("`{}` with its tangents", name),
            None => "a read or an addition with its tangent".to_string(),
        };
        write!(f, "c = {} = {largest} (the work of {what}) + 2", self.value())
    }
}

/// A bound with its two sides.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Bound {
    /// Which theorem.
    pub theorem: &'static str,
    /// What is bounded, in symbols.
    pub says: &'static str,
    /// The left side.
    pub left: u64,
    /// The right side.
    pub right: u64,
    /// Whether the sides are to be equal under the policy that stores everything.
    pub equality: bool,
}

impl Bound {
    /// Whether the bound holds. An equality is one only under the policy that stores everything.
    pub fn holds(&self) -> bool {
        if self.equality { self.left == self.right } else { self.left <= self.right }
    }
}

impl CostReport {
    /// The bounds of the paper with their measured sides.
    pub fn bounds(&self) -> [Bound; 4] {
        let [f, jvp, nonlin, lin, transposed] = &self.stages;
        let work = |stage: &StageCost| stage.counters.work;
        let times = self.factor.times(f.counters);
        let again = (work(nonlin) + work(lin)).saturating_sub(work(jvp));
        [
            Bound {
                theorem: "J, Theorem 5.1",
                says: "W[f.jvp] <= c (W[f] + control[f]) + in",
                left: work(jvp),
                right: times.saturating_add(jvp.inputs),
                equality: false,
            },
            Bound {
                theorem: "U, Theorem 6.2",
                says: "W[f.nonlin] + W[f.lin] = W[f.jvp]",
                left: work(nonlin) + work(lin),
                right: work(jvp),
                equality: true,
            },
            Bound {
                theorem: "T, Theorem 7.1",
                says: "W[f.linT] + in <= W[f.lin] + out",
                left: work(transposed) + lin.inputs,
                right: work(lin) + lin.outputs + transposed.counters.zeros,
                equality: false,
            },
            Bound {
                theorem: "all three",
                says: "W[f.nonlin] + W[f.linT] <= c (W[f] + control[f]) + out + again",
                left: work(nonlin) + work(transposed),
                right: times
                    .saturating_add(lin.outputs)
                    .saturating_add(again)
                    .saturating_add(transposed.counters.zeros),
                equality: false,
            },
        ]
    }

    /// The work of value and gradient relative to that of the value.
    pub fn gradient_factor(&self) -> f64 {
        let [f, _, nonlin, _, transposed] = &self.stages;
        (nonlin.counters.work + transposed.counters.work) as f64 / f.counters.work.max(1) as f64
    }
}

impl fmt::Display for CostReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rows = || self.stages.iter().chain(&self.gradient);
        let width = rows().map(|s| s.name.chars().count()).max().unwrap_or(0).max(5);
        let head = ["W", "integers", "copied", "moved", "in", "out"];
        write!(f, "{:width$}", "stage")?;
        head.iter().try_for_each(|name| write!(f, " {name:>10}"))?;
        writeln!(f)?;
        for stage in rows() {
            let c = &stage.counters;
            write!(f, "{:width$}", stage.name)?;
            let cells = [c.work, c.integers, c.copied, c.moved, stage.inputs, stage.outputs];
            cells.iter().try_for_each(|cell| write!(f, " {cell:>10}"))?;
            writeln!(f)?;
        }
        let bounds = self.bounds();
        let theorem = bounds.iter().map(|b| b.theorem.len()).max().unwrap_or(0);
        let says = bounds.iter().map(|b| b.says.len()).max().unwrap_or(0);
        for bound in bounds {
            let Bound { left, right, equality, .. } = &bound;
            let verdict = match (bound.holds(), equality) {
                (true, _) => "holds".to_string(),
                (false, true) if left > right => format!("{} computed again", left - right),
                (false, true) => format!("{} saved", right - left),
                (false, false) => "does not hold".to_string(),
            };
            let relation = if *equality { "and" } else { "<=" };
            let (theorem_is, it_says) = (bound.theorem, bound.says);
            writeln!(
                f,
                "{theorem_is:theorem$}  {it_says:says$}  {left} {relation} {right}: {verdict}"
            )?;
        }
        writeln!(f, "{}", self.factor)?;
        writeln!(f, "tape: {} bytes", self.tape)?;
        writeln!(f, "value and gradient: {:.2} times the work of f", self.gradient_factor())
    }
}

/// The largest factor of Theorem 5.1 among the primitives that a function and its callees use.
pub fn jvp_factor(program: &Program, func: FuncId) -> Factor {
    let mut seen = HashSet::new();
    let mut work = vec![func];
    // Reads, additions into sums, copies: one more for the tangent.
    let mut factor = Factor { largest: 2, operation: None };
    while let Some(func) = work.pop() {
        if seen.insert(func) {
            largest_in(&program.funcs[func].body, &mut factor, &mut work);
            // Of another language: a call for the tangents, as for an operand in which an operation is linear; what it names as its derivative is as
            // dear as it may be, twice.
            let stated = program.foreign_derivative(func);
            let own = if stated.is_some() { 8 } else { 4 };
            if program.funcs[func].is_foreign() && factor.largest < own {
                factor = Factor { largest: own, operation: Some("extern") };
            }
            work.extend(stated);
        }
    }
    factor
}

fn largest_in(block: &Block, factor: &mut Factor, callees: &mut Vec<FuncId>) {
    for stmt in &block.stmts {
        match &stmt.rhs {
            Rhs::Prim(prim, _) => {
                let work = primitive_factor(*prim);
                if work > factor.largest {
                    *factor = Factor { largest: work, operation: Some(prim.row().text) };
                }
            }
            Rhs::Structured(op, ..) => {
                let rules = op.row().partials.iter();
                let work = 1 + rules.map(structured_factor).sum::<u64>();
                if work > factor.largest {
                    *factor = Factor { largest: work, operation: Some(op.row().name) };
                }
            }
            Rhs::Call(call) => callees.push(call.func),
            _ => {}
        }
        stmt.rhs.blocks().into_iter().for_each(|b| largest_in(b, factor, callees));
    }
}

/// What the tangent of an operand costs, if an operation costs 1: for a linear one an operation as dear as itself and its
/// addition to the others, for a formula all that it applies, which is no dearer, and as many additions.
fn structured_factor(rule: &Rule) -> u64 {
    fn applied(formula: &structured::Formula) -> u64 {
        match formula {
            structured::Formula::Apply(_, args) => 1 + args.iter().map(applied).sum::<u64>(),
            structured::Formula::Operand(_) | structured::Formula::Result => 0,
        }
    }
    match rule {
        Rule::Linear(_) => 3,
        Rule::Formulas(chains) => {
            let steps = chains.iter().flat_map(|chain| chain.steps);
            let work = |step: &Step| 1 + step.others.iter().map(applied).sum::<u64>();
            steps.map(work).sum::<u64>() + 3 * chains.len() as u64
        }
    }
}

/// The work of a primitive with all its tangents.
fn primitive_factor(prim: Prim) -> u64 {
    let tangents = prim.row().partials.iter().filter_map(|partial| match partial {
        Partial::Zero => None,
        Partial::One => Some(0),
        Partial::Convert(_) | Partial::MinusOne | Partial::IfTrue | Partial::IfFalse => Some(1),
        Partial::Times(formula) => Some(formula_work(formula) + 1),
    });
    // Each tangent may be added to the others.
    1 + tangents.map(|work| work + 1).sum::<u64>()
}

fn formula_work(formula: &Formula) -> u64 {
    match formula {
        Formula::Apply(_, args) => 1 + args.iter().map(formula_work).sum::<u64>(),
        Formula::Arg(_) | Formula::Result | Formula::Num(_) | Formula::Int(_) => 0,
    }
}

impl Interpreter {
    /// Runs every stage on the same arguments (sizes included) and random tangents, and reports
    /// what they cost. `program` is the program that the interpreter was made of.
    pub fn costs(
        &self,
        program: &Program,
        stages: &Stages,
        args: &[Value],
        rng: &mut fastrand::Rng,
    ) -> Result<CostReport, EvalError> {
        let mut run =
            |func: FuncId, args: &[Value]| -> Result<(StageCost, Vec<Value>), EvalError> {
                let (linear, caps) = self.linear_inputs(func, args, rng)?;
                let outcome = self.call(func, args, &linear, &caps)?;
                let scalars = |values: &[Value]| values.iter().map(Value::scalars).sum();
                let cost = StageCost {
                    name: program.funcs[func].name.clone(),
                    counters: outcome.counters,
                    inputs: scalars(&linear),
                    outputs: scalars(&outcome.linear),
                };
                Ok((cost, outcome.results))
            };
        let (value, _) = run(stages.func, args)?;
        let (jvp, _) = run(stages.jvp, args)?;
        let (nonlin, mut results) = run(stages.nonlin, args)?;
        let tape = if stages.has_tape { results.pop() } else { None };
        let given = stages.forwarded.iter().filter_map(|k| args.get(*k));
        let sizes = stages.result_sizes.iter().filter_map(|k| results.get(*k));
        let lin_args: Vec<Value> = given.chain(sizes).chain(&tape).cloned().collect();
        let (lin, _) = run(stages.lin, &lin_args)?;
        let (transposed, _) = run(stages.transposed, &lin_args)?;
        let tape = nonlin.counters.tape.saturating_sub(value.counters.tape);
        Ok(CostReport {
            gradient: None,
            factor: jvp_factor(program, stages.func),
            stages: [value, jvp, nonlin, lin, transposed],
            tape,
        })
    }
}

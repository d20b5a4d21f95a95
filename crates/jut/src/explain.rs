//! Reports on a derivative: what is stored, and what the stages cost.
//!
//! Both are about the function as it is compiled: optimised, then differentiated. `jut explain tape`
//! and `jut explain cost` print them; [`Function::explain_tape`] and [`Function::explain_cost`] are the
//! same from Rust.
//!
//! ```text
//! stage                W   integers     copied      moved         in        out
//! f                    5 ..
//! ..
//! J, Theorem 5.1  W[f.jvp] <= c (W[f] + control[f]) + in  12 <= 31: holds
//! ```
//!
//! *Requires*: a function without linear parameters. *Cost*: the tape is read off the program, in time
//! linear in its text; the costs are counted by one run of each stage in the interpreter.

use crate::backends::Engine;
use crate::error::{Error, Result};
use crate::foreign;
use crate::load::with_large_stack;
use crate::model::Function;
use crate::pipeline::{mask, refusal, start_optimised};
use crate::value::Arg;
use jut_ad::unzip::TapeReport;
use jut_ad::{Derivatives, Policy, Unzipped, forward, transpose, unzip};
use jut_eval::Interpreter;
use jut_eval::cost::{CostReport, StageCost, Stages};
use jut_ir::{Diagnostic, FuncId, Span, TapePolicy};

impl Function {
    /// With a schedule for its loops by which the tape of its gradient takes at most so many bytes when it is called with
    /// these arguments: none if it does without, else the fewest levels of segments
    /// (`@levels(d)` in the language), else the most checkpoints in binomial order (`@revolve(c)`, and `@online(c)` for
    /// loops that may end early). Loops with a policy of their own keep it.
    ///
    /// ```
    /// # fn main() -> jut::Result<()> {
    /// let model = jut::Model::from_text(
    ///     "def f(n: i64, a: f64) -> f64 = for (i < n) carry (x = a) { x - 0.001 * sin(x) * exp(x) }",
    /// )?;
    /// let (n, a) = (1_000_000.into(), 0.3.into());
    /// let f = model.function("f")?.tape_within(100_000, &[n, a])?;
    /// f.value_and_gradient()?;
    /// assert!(model.function("f")?.tape_within(100, &[1_000_000.into(), 0.3.into()]).is_err());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// J808 if no schedule does, with the least that the tape would need, or if that cannot be known before
    /// the function runs; and as [`Function::compile`].
    pub fn tape_within(self, bytes: usize, args: &[Arg<'_>]) -> Result<Function> {
        self::within(&self, bytes, args)
    }

    /// What goes on the tape of the gradient: every stored value with its bytes as a formula in the
    /// sizes, what needs it and why it is stored; what is computed again instead; and the bytes that the
    /// other [policies](crate::Policy) would take. This is what `jut explain tape` prints.
    ///
    /// ```
    /// # fn main() -> jut::Result<()> {
    /// let model = jut::Model::from_text("def f(u: f64) -> f64 = -sin(u)")?;
    /// assert!(model.function("f")?.explain_tape()?.starts_with("tape of f: 8 bytes"));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`Function::compile`].
    pub fn explain_tape(&self) -> Result<String> {
        self::tape_text(self)
    }

    /// The same as data.
    ///
    /// # Errors
    /// As [`Function::compile`].
    pub fn tape_report(&self) -> Result<TapeReport> {
        self::tape(self)
    }

    /// What goes on the tape under the policies that the function does not have, as data.
    ///
    /// # Errors
    /// As [`Function::compile`].
    pub fn tape_alternatives(&self) -> Result<Vec<(Policy, TapeReport)>> {
        self::alternatives(self)
    }

    /// What each stage costs for the given arguments (f, f.jvp, f.nonlin, f.lin, f.linT, and the
    /// gradient as it is compiled), counted in the interpreter, beside the bounds of the paper's theorems.
    /// This is what `jut explain cost` prints.
    ///
    /// ```
    /// # fn main() -> jut::Result<()> {
    /// let model = jut::Model::from_text("def f(u: f64) -> f64 = -sin(u)")?;
    /// let report = model.function("f")?.explain_cost(&[1.0.into()])?;
    /// assert!(report.bounds().iter().all(|bound| bound.holds()));
    /// assert!(report.to_string().contains("J, Theorem 5.1  W[f.jvp] <= c (W[f] + control[f]) + in"));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`Function::compile`], [`Error::Argument`] and [`Error::Run`] as a call, and
    /// [`Error::Request`] for a function with linear parameters.
    pub fn explain_cost(&self, args: &[Arg<'_>]) -> Result<CostReport> {
        self::cost(self, args)
    }
}

/// A function with what J and U make of it.
struct Halves {
    derivatives: Derivatives,
    func: FuncId,
    jvp: FuncId,
    unzipped: Unzipped,
}

fn halves(function: &Function) -> Result<Halves> {
    let refused = |d: Diagnostic| refusal(function, d);
    let (mut d, func) = start_optimised(function);
    let wrt = mask(function, &d.program, func);
    let jvp = match d.program.funcs[func].is_nonlinear() {
        true => forward::forward(&mut d, func, &wrt).map_err(refused)?,
        false => func,
    };
    let unzipped = unzip::unzip(&mut d, jvp, function.tape_policy()).map_err(refused)?;
    Ok(Halves { derivatives: d, func, jvp, unzipped })
}

/// What goes on the tape of the function's gradient, and why.
fn tape(function: &Function) -> Result<TapeReport> {
    with_large_stack(|| {
        let made = halves(function)?;
        unzip::explain(&made.derivatives, made.jvp, function.tape_policy())
            .map_err(|d| refusal(function, d))
    })
}

/// The same as text, with what the tape would be under the other policies.
fn tape_text(function: &Function) -> Result<String> {
    let sources = function.model().sources();
    let place = |span: Span| (span != Span::NONE).then(|| sources.of(span).place(span));
    let report = tape(function)?;
    let mut text = report.text(&place);
    if !report.parts.is_empty() {
        text.push_str(&format!("at one moment together: {}\n", together(&report)));
    }
    text.push_str("other policies:\n");
    for (policy, report) in alternatives(function)? {
        text.push_str(&format!("  {:<11}  {} bytes\n", policy.name(), report.formula()));
    }
    let schedules = [TapePolicy::Levels(2), TapePolicy::Levels(3), TapePolicy::Revolve(20)];
    for schedule in schedules {
        let other = tape(&function.clone().with_schedule(schedule))?;
        if other.formula() == report.formula() {
            continue;
        }
        let (name, more) = match schedule {
            TapePolicy::Levels(2) => ("levels(2)", "once more"),
            TapePolicy::Levels(_) => ("levels(3)", "twice more"),
            _ => ("revolve(20)", "again as seldom as 20 states allow"),
        };
        let together = together(&other);
        text.push_str(&format!(
            "  {name:<11}  {together}; iterations run {more}, and once for what a loop collects\n"
        ));
    }
    Ok(text)
}

/// What a tape and those that come and go take at most: a number, because no formula that people read says how long the
/// segments of a loop are.
fn together(report: &TapeReport) -> String {
    const EXAMPLE: i64 = 1_000_000;
    match report.peak(&|_| Some(EXAMPLE)) {
        Some(bytes) => format!("at most {bytes} bytes where integers are {EXAMPLE}"),
        None => format!("{} bytes and a segment", report.formula()),
    }
}

/// The function with a schedule by which the tapes of its gradient take no more than so many bytes: none, the fewest levels of
/// segments, or the most checkpoints in binomial order.
fn within(function: &Function, bytes: usize, args: &[Arg<'_>]) -> Result<Function> {
    /// Tapes of more levels do not get smaller.
    const MOST: u32 = 8;
    /// With fewer, loops are run again too often.
    const CHECKPOINTS: [u32; 4] = [256, 64, 32, 16];
    let value = function.clone().engine(Engine::Interpreter).value()?;
    let args = value.entered(args)?;
    let argument = |k: usize| args.get(k).and_then(jut_eval::Value::as_i64);
    let mut least: Option<i64> = None;
    let levels = (1..=MOST).map(TapePolicy::Levels);
    for schedule in levels.chain(CHECKPOINTS.map(TapePolicy::Revolve)) {
        let candidate = function.clone().with_schedule(schedule);
        let Some(peak) = tape(&candidate)?.peak(&argument) else { continue };
        if usize::try_from(peak).is_ok_and(|peak| peak <= bytes) {
            return Ok(candidate);
        }
        least = Some(least.map_or(peak, |least| least.min(peak)));
    }
    let (name, span) = (function.name(), function.model().program().funcs[function.id()].span);
    let (message, help) = match least {
        Some(least) => (
            format!("the tape of the gradient of `{name}` takes at least {least} bytes with these arguments, and may take {bytes}"),
            format!("allow {least} bytes, or say `@recompute` of what `jut explain tape` lists as large"),
        ),
        None => (
            format!("how much the tape of the gradient of `{name}` takes is not known before it runs"),
            "set a limit for the run, `memory_limit`, and schedules in the text, `@levels(2) for ..`".to_string(),
        ),
    };
    Err(refusal(function, Diagnostic::error("J808", span, message).help(help)))
}

/// What goes on the tape under the policies that the function does not have.
fn alternatives(function: &Function) -> Result<Vec<(Policy, TapeReport)>> {
    let others = Policy::ALL.into_iter().filter(|policy| *policy != function.tape_policy());
    others.map(|policy| Ok((policy, tape(&function.clone().policy(policy))?))).collect()
}

/// What every stage of the gradient costs for given arguments, beside the bounds of the paper.
fn cost(function: &Function, args: &[Arg<'_>]) -> Result<CostReport> {
    let refused = |d: Diagnostic| refusal(function, d);
    if !function.model().program().funcs[function.id()].is_nonlinear() {
        let name = function.name();
        return Err(Error::Request(format!(
            "`{name}` has linear parameters; costs are those of the stages of a function without any"
        )));
    }
    let value = function.clone().engine(Engine::Interpreter).value()?;
    let args = value.entered(args)?;
    // A function that is not one number has stages all the same.
    let gradient = function.clone().engine(Engine::Interpreter).value_and_gradient().ok();
    with_large_stack(|| {
        let mut made = halves(function)?;
        let Unzipped { nonlin, lin, .. } = made.unzipped;
        let transposed = transpose::transpose(&mut made.derivatives, lin).map_err(refused)?;
        let stages = Stages {
            func: made.func,
            jvp: made.jvp,
            nonlin,
            lin,
            transposed,
            forwarded: made.unzipped.forwarded.clone(),
            result_sizes: made.unzipped.result_sizes.clone(),
            has_tape: made.unzipped.tape.is_some(),
        };
        let program = &made.derivatives.program;
        let mut rng = fastrand::Rng::with_seed(0x6a75);
        let failed = |error| value.failed(error);
        let all = [stages.func, stages.jvp, stages.nonlin, stages.lin, stages.transposed];
        let functions = foreign::functions(function.model(), program, &all)?;
        let interpreter = Interpreter::new(program).foreign(functions);
        let mut report = interpreter.costs(program, &stages, &args, &mut rng).map_err(failed)?;
        if let Some(gradient) = &gradient {
            let (program, root) = gradient.root();
            let functions = foreign::functions(function.model(), program, &[root])?;
            let interpreter = Interpreter::new(program).foreign(functions);
            let outcome = interpreter.call(root, &args, &[], &[]).map_err(failed)?;
            let name = format!("{}, compiled", program.funcs[root].name);
            let counters = outcome.counters;
            report.gradient = Some(StageCost { name, counters, inputs: 0, outputs: 0 });
        }
        Ok(report)
    })
}

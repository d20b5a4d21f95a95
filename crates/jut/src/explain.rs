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
use crate::model::Function;
use crate::pipeline::{mask, refusal, start_optimised, with_large_stack};
use crate::value::Arg;
use jut_ad::unzip::TapeReport;
use jut_ad::{Derivatives, Policy, Unzipped, forward, transpose, unzip};
use jut_eval::Interpreter;
use jut_eval::cost::{CostReport, StageCost, Stages};
use jut_ir::{Diagnostic, FuncId, Span, TapePolicy};

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
pub(crate) fn tape(function: &Function) -> Result<TapeReport> {
    with_large_stack(|| {
        let made = halves(function)?;
        unzip::explain(&made.derivatives, made.jvp, function.tape_policy())
            .map_err(|d| refusal(function, d))
    })
}

/// The same as text, with what the tape would be under the other policies.
pub(crate) fn tape_text(function: &Function) -> Result<String> {
    let sources = function.model().sources();
    let place = |span: Span| (span != Span::NONE).then(|| sources.of(span).place(span));
    let mut text = tape(function)?.text(&place);
    text.push_str("other policies:\n");
    for (policy, report) in alternatives(function)? {
        text.push_str(&format!("  {:<9}  {} bytes\n", policy.name(), report.formula()));
    }
    let now = tape(function)?.formula();
    for levels in 2..=3 {
        let report = tape(&function.clone().with_schedule(TapePolicy::Levels(levels)))?;
        if report.formula() != now {
            let (bytes, more) = (report.formula(), levels - 1);
            text.push_str(&format!(
                "  levels({levels})  {bytes} bytes, and one segment; loops run {more} more time(s), and once more for what they collect\n"
            ));
        }
    }
    let revolved = tape(&function.clone().with_schedule(TapePolicy::Revolve(20)))?;
    if revolved.formula() != now {
        text.push_str(&format!("  revolve(20) {} bytes, and 20 states\n", revolved.formula()));
    }
    Ok(text)
}

/// The function with a schedule by which the tapes of its gradient take no more than so many bytes: none, the fewest levels of
/// segments, or the most checkpoints in binomial order.
pub(crate) fn within(function: &Function, bytes: usize, args: &[Arg<'_>]) -> Result<Function> {
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
pub(crate) fn alternatives(function: &Function) -> Result<Vec<(Policy, TapeReport)>> {
    let others = Policy::ALL.into_iter().filter(|policy| *policy != function.tape_policy());
    others.map(|policy| Ok((policy, tape(&function.clone().policy(policy))?))).collect()
}

/// What every stage of the gradient costs for given arguments, beside the bounds of the paper.
pub(crate) fn cost(function: &Function, args: &[Arg<'_>]) -> Result<CostReport> {
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
        let mut report =
            Interpreter::new(program).costs(program, &stages, &args, &mut rng).map_err(failed)?;
        if let Some(gradient) = &gradient {
            let (program, root) = gradient.root();
            let outcome = Interpreter::new(program).call(root, &args, &[], &[]).map_err(failed)?;
            let name = format!("{}, compiled", program.funcs[root].name);
            let counters = outcome.counters;
            report.gradient = Some(StageCost { name, counters, inputs: 0, outputs: 0 });
        }
        Ok(report)
    })
}

//! The laws that hold for every program, every input and every tape policy.
//!
//! | law | what it says | where it is tested |
//! |---|---|---|
//! | P1 | the checker accepts what every pass makes, and every printed stage reads back and prints the same | [`verify`] |
//! | P2 | J's non-linear results are those of the function, bit for bit | [`verify`] |
//! | P3 | J is linear in the tangents: exactly so over a prime field, and exactly 0 at 0 in floats | [`verify`] |
//! | P4 | J agrees with central differences, where no kink is nearby | [`verify`] |
//! | P5 | `W[J e] <= c (W[e] + control[e]) + in`, c from the table of primitives | [`verify`] |
//! | P6 | `f.nonlin` and `f.lin` together are `f.jvp`, bit for bit; under `store_all` with the same work | [`verify`] |
//! | P7 | `f.nonlin` has nothing linear; `f.lin` is in Linear B and computes, under `store_all`, no float that is not linear | [`verify`] |
//! | P8 | every policy gives the same bits; the tape has the bytes that the report says | [`verify`] |
//! | P9 | the transpose law, within rounding and exactly over a prime field | [`verify`] |
//! | P10 | Theorem 7.1: `W[T e] + in <= W[e] + out + zeros[T e]`, also of T e and T (T e); the zeros are those that `T e` opens in tangents of declared types | [`verify`] |
//! | P11 | `T (T e)` is `e` up to names and order, and the same map exactly over a prime field | [`verify`] |
//! | P12 | L changes no result, raises work at most by what `rd` reads and blocks hand on, and ends in J's domain | [`verify`] |
//! | P13 | the gradient is that of the halves, bit for bit, so by P9 and P4 that of differences | [`verify`] |
//! |     | its cost, W and B, grows no faster than the function's in size, row length, depth and trips | `tests/cost.rs` |
//! | P14 | Hessians are symmetric, and the differences of gradients | `tests/second.rs` |
//! | P15 | the optimiser changes no bit of value and gradient, and raises no work | [`verify`] |
//! | P16 | interpreter, loop form and machine code give the same bits, or the same error | [`crate::engines`], `tests/engines.rs` |
//! | P17 | all derived code is a constant multiple of the source | [`verify`], `tests/cost.rs` |
//! | P18 | a batch is the loop over its elements: the same bits and errors, no more work; J, U, T and L take it, and its cotangents are the batch of cotangents | [`verify`] |
//! | errors | a function that fails at run time fails in every derivative with the same error at the same place of the text | [`verify`] |
//!
//! A function with linear parameters is taken by U as it is: for it J's laws say nothing, and all
//! others hold. `tests/files.rs` asks for all this on the programs of `tests/programs`, `tests/laws.rs` on the
//! examples, and a thousand random programs; `tests/faults.rs` puts faults into the passes, one at
//! a time, and each is caught by the law that it breaks.

mod batch;
mod runs;
mod stages;

pub use runs::{expect_same, same_bits};
pub use stages::Stages;

pub use crate::programs::load;
use jut_ad::Policy;
use jut_eval::{EvalError, Interpreter, Outcome, Value};
use jut_ir::{FuncId, Program, RuntimeError};

/// What a program computed, for further tests.
#[derive(Clone, Debug)]
pub struct Verified {
    /// The program with everything derived from it.
    pub program: Program,
    /// The function tested.
    pub func: FuncId,
    /// The composition: value and gradient with respect to every float parameter. For a function
    /// with linear parameters, or without exactly one f64 result: its erasure.
    pub value_and_grad: FuncId,
    /// All arguments, sizes included.
    pub args: Vec<Value>,
    /// What `value_and_grad` gives, or the error of the function.
    pub outcome: Result<Outcome, RuntimeError>,
    /// Statements of everything derived, relative to those of the source.
    pub growth: f64,
}

/// What a law is tested on, in the order in which it is made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pass {
    /// `f.jvp`, before U takes it.
    Forward,
    /// `f.nonlin`.
    NonLinear,
    /// `f.lin`, before T takes it.
    Linear,
    /// `f.linT`.
    Transpose,
    /// The transpose of `f.linT`.
    Twice,
    /// `f.jvp` erased.
    Erase,
    /// The optimised value and gradient.
    Optimise,
    /// `f.vmap`.
    Batch,
}

/// Changes what a pass has made, to see whether a law notices.
pub type Fault<'a> = &'a dyn Fn(Pass, &mut Program, FuncId);

/// How much to ask for.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// The function has no kink at or near its arguments, so that central differences have to agree
    /// within this relative error. Otherwise they have to where one-sided differences agree.
    pub smooth: Option<f64>,
}

/// Tests all laws for one function and one list of arguments (without the sizes in brackets),
/// under all tape policies.
///
/// # Errors
/// The first law that does not hold, with the numbers.
pub fn verify(
    text: &str,
    func: &str,
    args: &[Value],
    options: Options,
) -> Result<Verified, String> {
    verify_with(text, func, args, options, &|_, _, _| {})
}

/// [`verify`], with a fault in what the passes make.
///
/// # Errors
/// The first law that does not hold, with the numbers.
pub fn verify_with(
    text: &str,
    func: &str,
    args: &[Value],
    options: Options,
    fault: Fault<'_>,
) -> Result<Verified, String> {
    let program = load(text)?;
    let name = func;
    let func = program.find_func(func).ok_or_else(|| format!("no function {func}"))?;
    reads_back(&program).map_err(|e| format!("core: {e}"))?;
    let args = Interpreter::new(&program).with_sizes(func, args).map_err(|e| e.to_string())?;
    let mut last: Option<Verified> = None;
    for policy in Policy::ALL {
        let under = |e: String| format!("{name} under {policy:?}: {e}");
        let stages = Stages::new(&program, func, policy, fault).map_err(under)?;
        let next = runs::verify(&stages, &args, options, fault).map_err(under)?;
        if let Some(before) = &last {
            runs::same_policy(before, &next).map_err(under)?;
        }
        last = Some(next);
    }
    batch::verify(&program, func, &args, fault).map_err(|e| format!("{name} over a batch: {e}"))?;
    last.ok_or_else(|| "no policy".into())
}

pub(crate) type Run = Result<Outcome, RuntimeError>;

/// Runs a function; only errors of the running program are a result, everything else is a failure.
pub(crate) fn run(
    interpreter: &Interpreter,
    func: FuncId,
    args: &[Value],
    linear: &[Value],
    caps: &[Value],
) -> Result<Run, String> {
    match interpreter.call(func, args, linear, caps) {
        Ok(outcome) => Ok(Ok(outcome)),
        Err(EvalError::Runtime(error)) => Ok(Err(error)),
        Err(error) => Err(format!("{error:?}")),
    }
}

fn check(program: &Program) -> Result<(), String> {
    jut_ir::check::check_program(program).map_err(|diagnostics| {
        let all: Vec<String> = diagnostics.iter().map(|d| d.to_string()).collect();
        let text = jut_ir::print::print_program(program);
        format!("P1: the checker refuses it: {}\n{text}", all.join("; "))
    })
}

/// P1: the checker accepts a program, and its text reads back and prints the same. But what is read is
/// tested: in the place of a mark there is a check, unless the access is covered.
///
/// # Errors
/// What is refused, or the first line that differs.
pub fn reads_back(program: &Program) -> Result<Program, String> {
    check(program)?;
    let text = jut_ir::print::print_program(program);
    let again = load(&text).map_err(|e| format!("P1: does not read back: {e}\n{text}"))?;
    check(&again)?;
    let printed = jut_ir::print::print_program(&again);
    let unmarked = text.replace("[!", "[").replace(", !", ", ").replace("= proved cast", "= cast");
    let is_marked = unmarked != text;
    let mut found = printed.lines();
    for line in unmarked.lines() {
        // What is new stands before the line that it guards.
        match found.by_ref().find(|f| *f == line || !is_marked || !is_guard(f)) {
            Some(other) if other == line => {}
            other => {
                let other = other.unwrap_or_default();
                return Err(format!("P1: prints differently after reading back:\n{line}\n{other}"));
            }
        }
    }
    match found.next() {
        Some(more) => Err(format!("P1: there is more after reading back:\n{more}")),
        None => Ok(again),
    }
}

/// A check, or arithmetic of its size.
fn is_guard(line: &str) -> bool {
    let line = line.trim();
    let operation = |(name, value): (&str, &str)| {
        let operands = value.split([' ', '+', '-', '*']).filter(|part| !part.is_empty());
        name.starts_with('s') && operands.clone().count() <= 2
    };
    line.starts_with("check ") || line.split_once(" = ").is_some_and(operation)
}

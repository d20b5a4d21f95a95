//! The laws that hold for every program, every input and every tape policy.
//!
//! | law | what it says |
//! |---|---|
//! | P1 | the checker accepts what every pass makes, and every printed stage reads back and prints the same |
//! | P2 | J's non-linear results are those of the function, bit for bit |
//! | P3 | J is linear in the tangents, and exactly 0 at 0 |
//! | P4 | J agrees with central differences (asked for where there is no kink nearby) |
//! | P6 | `f.nonlin` and `f.lin` together are `f.jvp`, bit for bit; under `store_all` with the same work |
//! | P9 | the transpose law, within rounding and exactly over a prime field |
//! | P10 | Theorem 7.1: `W[T e] + in <= W[e] + out` |
//! | P12 | L changes neither results nor, by more than the scalars that `rd` read, work |
//! | P15 | the optimiser changes no bit of value and gradient, and raises no work |
//!
//! A function that fails at run time fails in every derivative with the same error at the same
//! place of the user's text.

use jut_ad::{Derivatives, Mask, Policy, compose, erase, forward, transpose, unzip};
use jut_eval::{EvalError, Interpreter, LinearScalar, Outcome, Value, vector};
use jut_ir::{FuncId, Mode, Program, RuntimeError};

/// What a program computed, for further tests.
#[derive(Clone, Debug)]
pub struct Verified {
    /// The program with everything derived from it.
    pub program: Program,
    /// The function tested.
    pub func: FuncId,
    /// The composition: value and gradient with respect to every float parameter.
    pub value_and_grad: FuncId,
    /// All arguments, sizes included.
    pub args: Vec<Value>,
    /// What `value_and_grad` gives, or the error of the function.
    pub outcome: Result<Outcome, RuntimeError>,
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
    /// `f.jvp` erased.
    Erase,
    /// The optimised value and gradient.
    Optimise,
}

/// Changes what a pass has made, to see whether a law notices.
pub type Fault<'a> = &'a dyn Fn(Pass, &mut Program, FuncId);

/// How much to ask for.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// Compare with central differences, within this relative error (P4).
    pub differences: Option<f64>,
}

/// Loads a text, with all its diagnostics as the error.
///
/// # Errors
/// The diagnostics, one per line.
pub fn load(text: &str) -> Result<Program, String> {
    let loaded = jut_text::load(text, 0);
    let say = |d: &jut_ir::Diagnostic| d.to_string();
    let all = || loaded.diagnostics.iter().map(say).collect::<Vec<_>>().join("\n");
    loaded.program.ok_or_else(all)
}

/// Tests all laws for one function and one list of arguments (without the sizes in brackets),
/// under both tape policies.
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
    let interpreter = Interpreter::new(&program);
    let args = interpreter.with_sizes(func, args).map_err(|e| e.to_string())?;
    let primal = run(&interpreter, func, &args, &[], &[])?;
    let mut last = None;
    for policy in Policy::ALL {
        let under = |e: String| format!("{name} under {policy:?}: {e}");
        last = Some(
            verify_policy(&program, func, &args, &primal, policy, options, fault).map_err(under)?,
        );
    }
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

/// P1: the checker accepts a program, and its text reads back and prints the same.
///
/// # Errors
/// What is refused, or the first line that differs.
pub fn reads_back(program: &Program) -> Result<Program, String> {
    check(program)?;
    let text = jut_ir::print::print_program(program);
    let again = load(&text).map_err(|e| format!("does not read back: {e}\n{text}"))?;
    let printed = jut_ir::print::print_program(&again);
    match text.lines().zip(printed.lines()).find(|(a, b)| a != b) {
        Some((a, b)) => Err(format!("prints differently after reading back:\n{a}\n{b}")),
        None => Ok(again),
    }
}

/// Same bits, any NaN being as good as any other.
pub fn same_bits(a: &[Value], b: &[Value]) -> bool {
    let bits = |values: &[Value]| {
        let mut all = Vec::new();
        for value in values {
            value.for_each_f64(&mut |x| all.push(if x.is_nan() { u64::MAX } else { x.to_bits() }));
        }
        all
    };
    a.len() == b.len() && bits(a) == bits(b)
}

fn expect_same(what: &str, a: &[Value], b: &[Value]) -> Result<(), String> {
    if same_bits(a, b) { Ok(()) } else { Err(format!("{what}:\n  {a:?}\n  {b:?}")) }
}

/// The same error at the same place, for two runs of which the first failed.
fn expect_error(what: &str, error: &RuntimeError, run: Run) -> Result<(), String> {
    match run {
        Err(other) if other.kind == error.kind && other.span == error.span => Ok(()),
        Err(other) => {
            Err(format!("errors: {what} fails otherwise: {other:?} instead of {error:?}"))
        }
        Ok(_) => Err(format!("errors: {what} does not fail, the function does: {error:?}")),
    }
}

fn scalars(values: &[Value]) -> u64 {
    values.iter().map(Value::scalars).sum()
}

fn dot(a: &[Value], b: &[Value]) -> Result<f64, String> {
    a.iter()
        .zip(b)
        .map(|(x, y)| vector::dot(x, y))
        .sum::<Option<f64>>()
        .ok_or("shapes differ".into())
}

fn field_dot(a: &[Value], b: &[Value]) -> Result<i64, String> {
    a.iter()
        .zip(b)
        .try_fold(0, |sum, (x, y)| Some(jut_eval::scalar::add(sum, vector::dot_field(x, y)?)))
        .ok_or("shapes differ".into())
}

fn verify_policy(
    program: &Program,
    func: FuncId,
    args: &[Value],
    primal: &Run,
    policy: Policy,
    options: Options,
    fault: Fault<'_>,
) -> Result<Verified, String> {
    let say = |d: jut_ir::Diagnostic| d.to_string();
    let mut derivatives = Derivatives::new(program.clone());
    let mask = Mask::full(program, func);
    let jvp = forward::forward(&mut derivatives, func, &mask).map_err(say)?;
    // An erroneous stage is refused here, before the next pass is given it.
    let apply = |derivatives: &mut Derivatives, pass, func| {
        fault(pass, &mut derivatives.program, func);
        check(&derivatives.program)
    };
    apply(&mut derivatives, Pass::Forward, jvp)?;
    let halves = unzip::unzip(&mut derivatives, jvp, policy).map_err(say)?;
    apply(&mut derivatives, Pass::NonLinear, halves.nonlin)?;
    apply(&mut derivatives, Pass::Linear, halves.lin)?;
    let transposed = transpose::transpose(&mut derivatives, halves.lin).map_err(say)?;
    apply(&mut derivatives, Pass::Transpose, transposed)?;
    let erased = erase::erase(&mut derivatives, jvp).map_err(say)?;
    apply(&mut derivatives, Pass::Erase, erased)?;
    let value_and_grad =
        compose::value_and_grad(&mut derivatives, func, &mask, policy).map_err(say)?;
    let all = &derivatives.program;
    let again = reads_back(all)?;
    for linear in [halves.lin, transposed] {
        jut_ir::check::check_linear_b(all, linear).map_err(|e| format!("not Linear B: {e:?}"))?;
    }

    let interpreter = Interpreter::new(all);
    // The tangent of a scalar is a linear argument, that of an array a capability.
    let mut rng = fastrand::Rng::with_seed(7);
    let (mut values, mut arrays) = (Vec::new(), Vec::new());
    for k in mask.positions() {
        match &args[k] {
            Value::Array(_) => arrays.push(args[k].clone()),
            other => values.push(other.clone()),
        }
    }
    let random = |like: &[Value], rng: &mut fastrand::Rng| -> Vec<Value> {
        like.iter().map(|v| vector::random_like(v, rng)).collect()
    };
    let zeros = |like: &[Value]| -> Vec<Value> { like.iter().map(vector::zero_like).collect() };
    let (dv, da) = (random(&values, &mut rng), random(&arrays, &mut rng));

    let forward_run = run(&interpreter, jvp, args, &dv, &da)?;
    let gradient_run = run(&interpreter, value_and_grad, args, &[], &[])?;
    let verified = |outcome| Verified {
        program: all.clone(),
        func,
        value_and_grad,
        args: args.to_vec(),
        outcome,
    };
    let primal = match primal {
        Ok(primal) => primal,
        Err(error) => {
            expect_error("f.jvp", error, forward_run)?;
            expect_error("f.nonlin", error, run(&interpreter, halves.nonlin, args, &[], &[])?)?;
            expect_error("value and gradient", error, gradient_run.clone())?;
            optimised(all, value_and_grad, args, &gradient_run, fault)?;
            return Ok(verified(gradient_run));
        }
    };
    let forward_run =
        forward_run.map_err(|e| format!("f.jvp fails, the function does not: {e}"))?;
    expect_same("P2: values of f.jvp", &primal.results, &forward_run.results)?;

    // P3
    let at_zero = run(&interpreter, jvp, args, &zeros(&values), &zeros(&arrays))?
        .map_err(|e| format!("f.jvp at 0: {e}"))?;
    let mut finite = true;
    for value in forward_run.linear.iter().chain(&primal.results) {
        value.for_each_f64(&mut |x| finite &= x.is_finite());
    }
    if finite {
        for value in &at_zero.linear {
            let mut zero = true;
            value.for_each_f64(&mut |x| zero &= x == 0.0);
            if !zero {
                return Err(format!("P3: not zero at zero: {value:?}"));
            }
        }
    }

    // P4. A step of a difference is lost beside arguments that are large.
    let mut largest: f64 = 0.0;
    args.iter().for_each(|v| v.for_each_f64(&mut |x| largest = largest.max(x.abs())));
    if let (Some(tolerance), true) = (options.differences, finite && largest < 1e4) {
        let slope = difference(&interpreter, func, args, &mask, &dv, &da)?;
        for (value, slope) in forward_run.linear.iter().zip(&slope) {
            let (Value::F64(value), Some(slope)) = (value, slope) else { continue };
            if (value - slope).abs() > tolerance * (1.0 + value.abs()) {
                return Err(format!("P4: derivative {value}, central difference {slope}"));
            }
        }
    }

    // P6
    let half = run(&interpreter, halves.nonlin, args, &[], &[])?
        .map_err(|e| format!("f.nonlin fails: {e}"))?;
    let count = primal.results.len();
    expect_same("P6: values of f.nonlin", &primal.results, &half.results[..count])?;
    let mut lin_args: Vec<Value> = halves.forwarded.iter().map(|k| args[*k].clone()).collect();
    lin_args.extend(halves.result_sizes.iter().map(|k| half.results[*k].clone()));
    lin_args.extend(half.results[count..].iter().cloned());
    let linear_run = run(&interpreter, halves.lin, &lin_args, &dv, &da)?
        .map_err(|e| format!("f.lin fails: {e}"))?;
    expect_same("P6: tangents of f.lin", &forward_run.linear, &linear_run.linear)?;
    if policy == Policy::StoreAll {
        let together = half.counters.work + linear_run.counters.work;
        if together != forward_run.counters.work {
            let whole = forward_run.counters.work;
            return Err(format!("P6: W of f.nonlin and f.lin is {together}, of f.jvp {whole}"));
        }
    }
    let text = again.find_func(&all.funcs[halves.lin].name).ok_or("f.lin did not read back")?;
    let reread = run(&Interpreter::new(&again), text, &lin_args, &dv, &da)?;
    let reread = reread.map_err(|e| format!("f.lin read back fails: {e}"))?;
    expect_same("P1: f.lin read back", &linear_run.linear, &reread.linear)?;

    // P9
    let cotangents = random(&linear_run.linear, &mut rng);
    let back = run(&interpreter, transposed, &lin_args, &cotangents, &zeros(&arrays))?
        .map_err(|e| format!("f.linT fails: {e}"))?;
    let left = dot(&linear_run.linear, &cotangents)?;
    let right = dot(&dv, &back.linear)? + dot(&da, &back.buffers)?;
    if finite && left.is_finite() && (left - right).abs() > 1e-9 * (1.0 + left.abs()) {
        return Err(format!("P9: <lin(x), y> = {left}, <x, linT(y)> = {right}"));
    }
    let exact = Interpreter::new(all).linear_scalar(LinearScalar::Field);
    let field = |values: &[Value]| -> Vec<Value> { values.iter().map(vector::to_field).collect() };
    let (fv, fa, fy) = (field(&dv), field(&da), field(&cotangents));
    let image = run(&exact, halves.lin, &lin_args, &fv, &fa)?.map_err(|e| e.to_string())?;
    let zero = field(&zeros(&arrays));
    let back_image = run(&exact, transposed, &lin_args, &fy, &zero)?.map_err(|e| e.to_string())?;
    let left = field_dot(&image.linear, &fy)?;
    let right = jut_eval::scalar::add(
        field_dot(&fv, &back_image.linear)?,
        field_dot(&fa, &back_image.buffers)?,
    );
    if left != right {
        return Err(format!("P9: over the prime field {left} is not {right}"));
    }

    // P10. A capability belongs to the caller's region: it counts neither as input nor as output.
    let forth = linear_run.counters.w() + scalars(&linear_run.linear);
    let return_way = back.counters.w() + scalars(&dv);
    if return_way > forth {
        return Err(format!("P10: W[linT] + in = {return_way}, W[lin] + out = {forth}"));
    }

    // P12
    let flat = &all.funcs[erased];
    let reads = all.funcs[jvp].cap_params.iter().all(|c| all.funcs[jvp].caps[*c].mode == Mode::Rd);
    if reads && flat.cap_params.is_empty() {
        let everything: Vec<Value> = args.iter().chain(&dv).chain(&da).cloned().collect();
        let flat_run = run(&interpreter, erased, &everything, &[], &[])?
            .map_err(|e| format!("f.jvp erased fails: {e}"))?;
        let both: Vec<Value> =
            forward_run.results.iter().chain(&forward_run.linear).cloned().collect();
        expect_same("P12: f.jvp erased", &both, &flat_run.results)?;
    }

    let gradient = gradient_run
        .as_ref()
        .map_err(|e| format!("value and gradient fails, the function does not: {e}"))?;
    expect_same("value of value and gradient", &primal.results, &gradient.results[..count])?;
    // A result that depends on no float has no cotangent.
    let seed = vec![Value::F64(1.0); linear_run.linear.len()];
    let one = run(&interpreter, transposed, &lin_args, &seed, &zeros(&arrays))?
        .map_err(|e| format!("f.linT fails: {e}"))?;
    let (mut by_value, mut by_place) = (one.linear.into_iter(), one.buffers.into_iter());
    let expected: Option<Vec<Value>> = mask
        .positions()
        .map(|k| match &args[k] {
            Value::Array(_) => by_place.next(),
            _ => by_value.next(),
        })
        .collect();
    let expected = expected.ok_or("f.linT returns too little")?;
    expect_same("gradient", &expected, &gradient.results[count..])?;
    optimised(all, value_and_grad, args, &gradient_run, fault)?;
    Ok(verified(gradient_run))
}

/// P15: the optimised program is accepted, gives the same bits or the same error, and works no more.
fn optimised(
    program: &Program,
    func: FuncId,
    args: &[Value],
    expected: &Run,
    fault: Fault<'_>,
) -> Result<(), String> {
    let mut fast = jut_opt::optimise(program, func, true);
    fault(Pass::Optimise, &mut fast, func);
    reads_back(&fast).map_err(|e| format!("P15: optimised: {e}"))?;
    let outcome = run(&Interpreter::new(&fast), func, args, &[], &[])?;
    let text = jut_ir::print::print_program(&fast);
    match (expected, outcome) {
        (Ok(slow), Ok(fast_run)) => {
            expect_same("P15: optimised", &slow.results, &fast_run.results)?;
            // What moves out of a loop that runs zero times is run once.
            let moved = text.lines().count() as u64;
            let (before, after) = (slow.counters.w(), fast_run.counters.w());
            if after > before + moved {
                return Err(format!("P15: W was {before}, optimised it is {after}\n{text}"));
            }
            Ok(())
        }
        (Err(error), outcome) => expect_error("P15: the optimised program", error, outcome),
        (Ok(_), Err(error)) => Err(format!("P15: optimised it fails: {error}")),
    }
}

/// Central difference of every float scalar result in the direction of the tangents.
fn difference(
    interpreter: &Interpreter,
    func: FuncId,
    args: &[Value],
    mask: &Mask,
    dv: &[Value],
    da: &[Value],
) -> Result<Vec<Option<f64>>, String> {
    let step = 1e-6;
    let shifted = |h: f64| -> Result<Vec<Value>, String> {
        let (mut dv, mut da) = (dv.iter(), da.iter());
        let mut moved = args.to_vec();
        for k in mask.positions() {
            let tangent = match &args[k] {
                Value::Array(_) => da.next(),
                _ => dv.next(),
            };
            let tangent = tangent.cloned().ok_or("too few tangents")?;
            let tangent = vector::scale(h, tangent).ok_or("not a vector")?;
            moved[k] =
                vector::add(args[k].clone(), &tangent, LinearScalar::F64).ok_or("shapes differ")?;
        }
        let outcome = run(interpreter, func, &moved, &[], &[])?.map_err(|e| e.to_string())?;
        Ok(outcome.results)
    };
    let (up, down) = (shifted(step)?, shifted(-step)?);
    let slopes = up.iter().zip(&down).filter(|(u, _)| !matches!(u, Value::I64(_) | Value::Bool(_)));
    Ok(slopes
        .map(|(u, d)| match (u, d) {
            (Value::F64(u), Value::F64(d)) => Some((u - d) / (2.0 * step)),
            _ => None,
        })
        .collect())
}

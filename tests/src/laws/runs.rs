//! The laws of what stages compute and what it costs, on one list of arguments.

use super::stages::Stages;
use super::{Fault, Options, Pass, Run, Verified, reads_back, run};
use jut_ad::{Policy, unzip};
use jut_eval::{Interpreter, LinearScalar, Outcome, Value, cost, vector};
use jut_ir::{FuncId, Mode, Program, RuntimeError};
use jut_runtime::math;

/// Same bits, any NaN being as good as any other.
pub fn same_bits(a: &[Value], b: &[Value]) -> bool {
    let bits = |values: &[Value]| {
        let mut all = Vec::new();
        for value in values {
            value.for_each_f64(&mut |x| all.push(math::bits(x)));
        }
        all
    };
    a.len() == b.len() && bits(a) == bits(b)
}

/// Says what differs if the bits do.
///
/// # Errors
/// As said.
pub fn expect_same(what: &str, a: &[Value], b: &[Value]) -> Result<(), String> {
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

/// P8: what is computed does not depend on the policy.
pub(super) fn same_policy(one: &Verified, other: &Verified) -> Result<(), String> {
    match (&one.outcome, &other.outcome) {
        (Ok(a), Ok(b)) => expect_same("P8: under another policy", &a.results, &b.results),
        (Err(a), b) => expect_error("P8: another policy", a, b.clone()),
        (Ok(_), Err(e)) => Err(format!("P8: fails under this policy alone: {e}")),
    }
}

/// The tangents of one run: linear arguments, and what capabilities start from.
struct Tangents {
    values: Vec<Value>,
    caps: Vec<Value>,
}

impl Tangents {
    fn map(&self, f: impl Fn(&Value) -> Value) -> Tangents {
        Tangents {
            values: self.values.iter().map(&f).collect(),
            caps: self.caps.iter().map(&f).collect(),
        }
    }
}

/// All laws of one policy.
pub(super) fn verify(
    stages: &Stages,
    args: &[Value],
    options: Options,
    fault: Fault<'_>,
) -> Result<Verified, String> {
    let program = stages.program();
    let again = reads_back(program)?;
    stages.form()?;
    let interpreter = Interpreter::new(program);
    let mut rng = fastrand::Rng::with_seed(7);
    let (values, caps) = interpreter
        .linear_inputs(stages.jvp, args, &mut rng)
        .map_err(|e| format!("random tangents: {e}"))?;
    let x = Tangents { values, caps };
    let root = stages.gradient.unwrap_or(stages.erased);
    let root_run = match stages.gradient {
        Some(_) => run(&interpreter, root, args, &[], &[])?,
        None => erased_run(&interpreter, stages, args, &x)?,
    };
    let verified = |outcome| Verified {
        program: program.clone(),
        func: stages.func,
        value_and_grad: root,
        args: args.to_vec(),
        outcome,
        growth: stages.growth,
    };
    let forward = run(&interpreter, stages.jvp, args, &x.values, &x.caps)?;
    let primal = match stages.is_nonlinear() {
        true => run(&interpreter, stages.func, args, &[], &[])?,
        false => forward.clone(),
    };
    let primal = match primal {
        Ok(primal) => primal,
        Err(error) => {
            expect_error("f.jvp", &error, forward)?;
            let half = run(&interpreter, stages.halves.nonlin, args, &[], &[])?;
            expect_error("f.nonlin", &error, half)?;
            expect_error("value and gradient", &error, root_run.clone())?;
            if stages.gradient.is_some() {
                optimised(program, root, args, &root_run, fault)?;
            }
            return Ok(verified(root_run));
        }
    };
    let forward = forward.map_err(|e| format!("f.jvp fails, the function does not: {e}"))?;
    expect_same("P2: values of f.jvp", &primal.results, &forward.results)?;
    let laws = Laws { stages, program, interpreter, args, x, primal, forward };
    laws.linear_in_tangents()?;
    laws.differences(options)?;
    laws.work_of_forward()?;
    let halves = laws.halves(&again)?;
    laws.transposed(&halves, &mut rng)?;
    laws.erased()?;
    if stages.gradient.is_some() {
        laws.gradient(&halves, &root_run)?;
        optimised(program, root, args, &root_run, fault)?;
    }
    Ok(verified(root_run))
}

/// `f.jvp` erased, on the same inputs: what it read is a parameter, what it added to an accumulator.
fn erased_run(
    interpreter: &Interpreter,
    stages: &Stages,
    args: &[Value],
    x: &Tangents,
) -> Result<Run, String> {
    let func = &stages.program().funcs[stages.jvp];
    let is_read = |k: usize| func.caps[func.cap_params[k]].mode == Mode::Rd;
    let (read, added): (Vec<_>, Vec<_>) = x.caps.iter().enumerate().partition(|(k, _)| is_read(*k));
    let values = |all: Vec<(usize, &Value)>| all.into_iter().map(|(_, v)| v.clone()).collect();
    let read: Vec<Value> = values(read);
    let everything: Vec<Value> = args.iter().chain(&x.values).chain(&read).cloned().collect();
    let added: Vec<Value> = values(added);
    run(interpreter, stages.erased, &everything, &[], &added)
}

/// One run of the function and of its jvp, for the laws about them.
struct Laws<'a> {
    stages: &'a Stages,
    program: &'a Program,
    interpreter: Interpreter,
    args: &'a [Value],
    x: Tangents,
    primal: Outcome,
    forward: Outcome,
}

/// What a run of the halves gave.
struct Halves {
    /// The non-linear arguments of `f.lin`.
    args: Vec<Value>,
}

impl Laws<'_> {
    /// Whether values and tangents are finite: if not, rounding has no bound.
    fn finite(&self) -> bool {
        let mut finite = true;
        for value in self.forward.linear.iter().chain(&self.primal.results) {
            value.for_each_f64(&mut |x| finite &= x.is_finite());
        }
        finite
    }

    /// P3: exactly over the field, e(a u + b v) = a e(u) + b e(v); 0 at 0 in floats.
    fn linear_in_tangents(&self) -> Result<(), String> {
        let Laws { stages, interpreter, args, x, .. } = self;
        let zero = x.map(vector::zero_like);
        let at_zero = run(interpreter, stages.jvp, args, &zero.values, &zero.caps)?
            .map_err(|e| format!("f.jvp at 0: {e}"))?;
        if self.finite() {
            for value in at_zero.linear.iter().chain(&at_zero.buffers) {
                let mut zero = true;
                value.for_each_f64(&mut |x| zero &= x == 0.0);
                if !zero {
                    return Err(format!("P3: not zero at zero: {value:?}"));
                }
            }
        }
        let exact = interpreter.clone().linear_scalar(LinearScalar::Field);
        let at = |x: &Tangents| -> Result<Outcome, String> {
            run(&exact, stages.jvp, args, &x.values, &x.caps)?
                .map_err(|e| format!("f.jvp over the field: {e}"))
        };
        let [a, b] = [0.37, -2.5];
        let combine = |u: &Value, v: &Value| -> Option<Value> {
            vector::add(
                vector::scale(a, u.clone())?,
                &vector::scale(b, v.clone())?,
                LinearScalar::Field,
            )
        };
        let combined = |u: &[Value], v: &[Value]| -> Result<Vec<Value>, String> {
            let all = u.iter().zip(v).map(|(u, v)| combine(u, v));
            all.collect::<Option<Vec<_>>>().ok_or_else(|| "P3: shapes differ".into())
        };
        let u = x.map(vector::to_field);
        // Another vector of the same shape.
        let v =
            x.map(|v| vector::to_field(&v.map_f64(&mut |x| if x == 0.0 { 0.0 } else { x + 1.5 })));
        let both =
            Tangents { values: combined(&u.values, &v.values)?, caps: combined(&u.caps, &v.caps)? };
        let (at_u, at_v, at_both) = (at(&u)?, at(&v)?, at(&both)?);
        let expected = combined(&at_u.linear, &at_v.linear)?;
        let buffers = combined(&at_u.buffers, &at_v.buffers)?;
        if expected != at_both.linear || buffers != at_both.buffers {
            return Err("P3: over the prime field e(a u + b v) is not a e(u) + b e(v)".into());
        }
        Ok(())
    }

    /// P4. A step of a difference is lost beside arguments that are large. Numbers of 32 bits want a longer one, by which
    /// slopes have two digits, of functions that are smooth.
    fn differences(&self, options: Options) -> Result<(), String> {
        let (step, smooth) = match (crate::programs::has_single(self.program), options.smooth) {
            (false, tolerance) => (1e-6, tolerance),
            (true, Some(_)) => (1e-3, Some(1e-2)),
            (true, None) => return Ok(()),
        };
        let mut largest: f64 = 0.0;
        self.args.iter().for_each(|v| v.for_each_f64(&mut |x| largest = largest.max(x.abs())));
        if !self.stages.is_nonlinear() || !self.finite() || largest >= 1e4 || self.stages.stops() {
            return Ok(());
        }
        // With a kink or a bound nearby there may be nothing on the other side.
        let (Ok(up), Ok(down)) = (self.moved(step)?, self.moved(-step)?) else {
            return match smooth {
                Some(_) => Err("P4: fails nearby".into()),
                None => Ok(()),
            };
        };
        let floats = |outcome: &Outcome| -> Vec<f64> {
            outcome.results.iter().filter_map(Value::as_f64).collect()
        };
        let (up, at, down) = (floats(&up), floats(&self.primal), floats(&down));
        let slopes = up.iter().zip(&at).zip(&down);
        let active = self.forward.linear.iter().filter_map(Value::as_f64);
        // Results that depend on no float have no tangent: with those, positions do not match.
        if active.clone().count() != at.len() {
            return Ok(());
        }
        for (value, ((up, at), down)) in active.zip(slopes) {
            let slope = (up - down) / (2.0 * step);
            let scale = 1.0 + value.abs() + at.abs();
            let bend = ((up - at) - (at - down)).abs() / step;
            let bound = match smooth {
                Some(tolerance) => tolerance * (1.0 + value.abs()),
                None if bend.is_nan() || bend > 1e-3 * scale => continue,
                None => bend + 1e-6 * scale,
            };
            let off = (value - slope).abs();
            if off.is_nan() || off > bound {
                return Err(format!("P4: derivative {value}, central difference {slope}"));
            }
        }
        Ok(())
    }

    /// The function at its arguments, moved along the tangents.
    fn moved(&self, step: f64) -> Result<Run, String> {
        let (mut values, mut caps) = (self.x.values.iter(), self.x.caps.iter());
        let mut moved = self.args.to_vec();
        for k in self.stages.mask.positions() {
            // The tangent of a parameter with arrays is a capability.
            let tangent = match values.as_slice().first() {
                Some(v) if same_shape(v, &moved[k]) => values.next(),
                _ => caps.next(),
            };
            let tangent = tangent.cloned().ok_or("too few tangents")?;
            let tangent = vector::scale(step, tangent).ok_or("not a vector")?;
            moved[k] = vector::add(moved[k].clone(), &tangent, LinearScalar::F64)
                .ok_or("shapes differ")?;
        }
        run(&self.interpreter, self.stages.func, &moved, &[], &[])
    }

    /// P5.
    fn work_of_forward(&self) -> Result<(), String> {
        if !self.stages.is_nonlinear() {
            return Ok(());
        }
        let factor = cost::jvp_factor(self.program, self.stages.func);
        let bound = factor.times(self.primal.counters) + scalars(&self.x.values);
        let work = self.forward.counters.work;
        if work > bound {
            return Err(format!("P5: W[f.jvp] is {work}, the bound {bound} ({factor})"));
        }
        Ok(())
    }

    /// P6, and the bytes of the tape (P8).
    fn halves(&self, again: &Program) -> Result<Halves, String> {
        let Laws { stages, program, interpreter, args, x, primal, forward } = self;
        let halves = &stages.halves;
        let half = run(interpreter, halves.nonlin, args, &[], &[])?
            .map_err(|e| format!("f.nonlin fails: {e}"))?;
        let count = primal.results.len();
        expect_same("P6: values of f.nonlin", &primal.results, &half.results[..count])?;
        let mut lin_args: Vec<Value> = halves.forwarded.iter().map(|k| args[*k].clone()).collect();
        lin_args.extend(halves.result_sizes.iter().map(|k| half.results[*k].clone()));
        lin_args.extend(half.results[count..].iter().cloned());
        let linear = run(interpreter, halves.lin, &lin_args, &x.values, &x.caps)?
            .map_err(|e| format!("f.lin fails: {e}"))?;
        expect_same("P6: tangents of f.lin", &forward.linear, &linear.linear)?;
        expect_same("P6: sums of f.lin", &forward.buffers, &linear.buffers)?;
        if stages.policy == Policy::StoreAll {
            let together = half.counters.work + linear.counters.work;
            let whole = forward.counters.work;
            if together != whole {
                return Err(format!("P6: W of f.nonlin and f.lin is {together}, of f.jvp {whole}"));
            }
        }
        let text = again.find_func(&program.funcs[halves.lin].name);
        let text = text.ok_or("P1: f.lin did not read back")?;
        let reread = run(&Interpreter::new(again), text, &lin_args, &x.values, &x.caps)?;
        let reread = reread.map_err(|e| format!("P1: f.lin read back fails: {e}"))?;
        expect_same("P1: f.lin read back", &linear.linear, &reread.linear)?;

        let tape = match halves.tape {
            Some(_) => half.results.last().map_or(0, Value::bytes),
            None => 0,
        };
        let report = unzip::explain(&stages.derivatives, stages.jvp, stages.policy)
            .map_err(|e| format!("P8: no report: {e}"))?;
        let said = report.bytes(&|k| args.get(k).and_then(Value::as_i64));
        if said.is_some_and(|said| u64::try_from(said) != Ok(tape)) {
            return Err(format!("P8: a tape of {tape} bytes, the report says {said:?}\n{report}"));
        }
        Ok(Halves { args: lin_args })
    }

    /// P9, P10 and P11.
    fn transposed(&self, halves: &Halves, rng: &mut fastrand::Rng) -> Result<(), String> {
        let Laws { stages, interpreter, .. } = self;
        let say = |e: jut_eval::EvalError| e.to_string();
        let chain = [stages.halves.lin, stages.transposed, stages.twice];
        for (law, pair) in ["P9", "P11"].iter().zip(chain.windows(2)) {
            let [e, t] = pair else { continue };
            let exact = interpreter.transposes_exactly(*e, *t, &halves.args, rng).map_err(say)?;
            if !exact {
                return Err(format!("{law}: over the prime field <e(x), y> is not <x, T e(y)>"));
            }
            let sample = interpreter.transposition(*e, *t, &halves.args, rng).map_err(say)?;
            let rounding = if crate::programs::has_single(self.program) { 1e-5 } else { 1e-9 };
            let apart = (sample.forward - sample.backward).abs();
            let near = apart <= rounding * (1.0 + sample.scale);
            if self.finite() && sample.scale.is_finite() && !near {
                let (left, right) = (sample.forward, sample.backward);
                return Err(format!("{law}: <e(x), y> = {left}, <x, T e(y)> = {right}"));
            }
            if sample.slack() < 0 {
                return Err(format!(
                    "P10: W[T e] + in is {} more than W[e] + out",
                    -sample.slack()
                ));
            }
        }
        let exact = interpreter.clone().linear_scalar(LinearScalar::Field);
        let x = self.x.map(vector::to_field);
        let image = |func: FuncId| -> Result<Outcome, String> {
            run(&exact, func, &halves.args, &x.values, &x.caps)?.map_err(|e| e.to_string())
        };
        let (once, twice) = (image(stages.halves.lin)?, image(stages.twice)?);
        if once.linear != twice.linear || once.buffers != twice.buffers {
            return Err("P11: transposed twice it is another map".into());
        }
        stages.twice_is_once()
    }

    /// P12.
    fn erased(&self) -> Result<(), String> {
        let Laws { stages, interpreter, args, x, forward, .. } = self;
        let flat = erased_run(interpreter, stages, args, x)?
            .map_err(|e| format!("P12: f.jvp erased fails: {e}"))?;
        let both: Vec<Value> = forward.results.iter().chain(&forward.linear).cloned().collect();
        expect_same("P12: f.jvp erased", &both, &flat.results)?;
        expect_same("P12: sums of f.jvp erased", &forward.buffers, &flat.buffers)?;
        let (before, after) = (forward.counters, flat.counters);
        if after.w() > before.w() + before.reads + before.handed {
            let (w, reads, handed) = (before.w(), before.reads, before.handed);
            let before = format!("{w}, {reads} reads and {handed} handed on");
            return Err(format!("P12: W was {before}, erased it is {}", after.w()));
        }
        Ok(())
    }

    /// P13: the composition gives what the halves give.
    fn gradient(&self, halves: &Halves, gradient: &Run) -> Result<(), String> {
        let Laws { stages, interpreter, args, x, primal, forward, .. } = self;
        let gradient = gradient
            .as_ref()
            .map_err(|e| format!("the gradient fails, the function does not: {e}"))?;
        let count = primal.results.len();
        expect_same(
            "P13: value of value and gradient",
            &primal.results,
            &gradient.results[..count],
        )?;
        // The gradient is of the one f64; a result that depends on no float has no cotangent.
        let one = |tangent: &Value| match tangent {
            Value::F64(_) => Value::F64(1.0),
            Value::F32(_) => Value::F32(1.0),
            other => vector::zero_like(other),
        };
        let seed: Vec<Value> = forward.linear.iter().map(one).collect();
        let zero = x.map(vector::zero_like);
        let one = run(interpreter, stages.transposed, &halves.args, &seed, &zero.caps)?
            .map_err(|e| format!("f.linT fails: {e}"))?;
        let (mut by_value, mut by_place) = (one.linear.into_iter(), one.buffers.into_iter());
        let expected: Option<Vec<Value>> = stages
            .mask
            .positions()
            .map(|k| match &args[k] {
                Value::Array(_) => by_place.next(),
                _ => by_value.next(),
            })
            .collect();
        let expected = expected.ok_or("f.linT returns too little")?;
        expect_same("P13: gradient", &expected, &gradient.results[count..])
    }
}

fn same_shape(a: &Value, b: &Value) -> bool {
    matches!(
        (a, b),
        (Value::F64(_), Value::F64(_))
            | (Value::F32(_), Value::F32(_))
            | (Value::Tuple(_), Value::Tuple(_) | Value::Data(..))
    )
}

/// P15: the optimised program is accepted, gives the same bits or the same error, and works no more, up to the elements
/// of slices, which a loop gives away and straight-line code reads, and branches that become selections, of which both sides are computed.
fn optimised(
    program: &Program,
    func: FuncId,
    args: &[Value],
    expected: &Run,
    fault: Fault<'_>,
) -> Result<(), String> {
    let mut refused = None;
    let mut watch = |pass: &str, program: &Program| {
        if let (None, Err(errors)) = (&refused, jut_ir::check::check_program(program)) {
            refused =
                errors.first().map(|e| format!("P15: the checker refuses what {pass} made: {e}"));
        }
    };
    let mut fast = jut_opt::optimise_watched(program.clone(), func, true, &mut watch);
    if let Some(refused) = refused {
        return Err(refused);
    }
    fault(Pass::Optimise, &mut fast, func);
    reads_back(&fast).map_err(|e| format!("P15: optimised: {e}"))?;
    let outcome = run(&Interpreter::new(&fast), func, args, &[], &[])?;
    let text = jut_ir::print::print_program(&fast);
    match (expected, outcome) {
        (Ok(slow), Ok(fast_run)) => {
            expect_same("P15: optimised", &slow.results, &fast_run.results)?;
            // What moves out of a loop that runs zero times is run once, in each round of the loops around: of a few, or of
            // those over arrays that are not empty beside one that is.
            let empty = args.iter().any(|arg| matches!(arg, Value::I64(0)));
            let rounds = if empty { 2 * slow.counters.w() } else { slow.counters.w() / 64 };
            let moved = text.lines().count() as u64 + rounds;
            let selected = 2 * slow.counters.branches;
            let before = slow.counters.w() + slow.counters.elements + selected;
            let after = fast_run.counters.w() + fast_run.counters.elements;
            if after > before + moved {
                return Err(format!("P15: W was {before}, optimised it is {after}\n{text}"));
            }
            Ok(())
        }
        (Err(error), outcome) => expect_error("P15: the optimised program", error, outcome),
        (Ok(_), Err(error)) => Err(format!("P15: optimised it fails: {error}")),
    }
}

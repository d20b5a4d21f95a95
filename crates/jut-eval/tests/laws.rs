//! The stages of the worked examples, as they stand in the text, run and obey the laws; and the
//! laws notice when they are broken.

use crate::support::{floats, load};
use jut_eval::laws::{floats as all_floats, relative_error};
use jut_eval::{Interpreter, Value};
use jut_ir::{FuncId, Program};
use std::path::Path;

/// A program of printed stages, and what is needed to run them.
struct Stages {
    program: Program,
    interpreter: Interpreter,
}

impl Stages {
    fn new(text: &str) -> Stages {
        let program = load(text);
        let interpreter = Interpreter::new(&program);
        Stages { program, interpreter }
    }

    /// The printed stages of a worked example, after its source.
    fn of(example: &str) -> Stages {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/worked");
        let file = folder.join(format!("{example}.stages.jut"));
        let text = std::fs::read_to_string(&file);
        Stages::new(&text.unwrap_or_else(|e| panic!("{}: {e}", file.display())))
    }

    fn func(&self, name: &str) -> FuncId {
        self.program.find_func(name).unwrap_or_else(|| panic!("`{name}` is not there"))
    }

    /// The non-linear arguments of `f.lin`: by name from those of `f`, else from its results.
    fn residual_args(&self, f: &str, args: &[Value], results: &[Value]) -> Vec<Value> {
        let names = |func: &str| -> Vec<String> {
            let func = &self.program.funcs[self.func(func)];
            func.params.iter().map(|v| func.nvars[*v].name.to_string()).collect()
        };
        let jvp = format!("{f}.jvp");
        let with_parameters = if self.program.find_func(f).is_some() { f } else { &jvp };
        let (known, inner) = (names(with_parameters), names(&format!("{f}.lin")));
        inner
            .iter()
            .map(|name| match known.iter().position(|k| k == name) {
                Some(k) => args[k].clone(),
                None if name == "tape" => results.last().expect("a tape").clone(),
                None => results[0].clone(),
            })
            .collect()
    }

    /// Runs `f`, `f.jvp`, `f.nonlin`, `f.lin` and `f.linT` on one list of arguments.
    fn check(&self, f: &str, args: &[Value]) {
        let rng = &mut fastrand::Rng::with_seed(11);
        let run = |name: &str, args: &[Value], linear: &[Value], caps: &[Value]| {
            let outcome = self.interpreter.call(self.func(name), args, linear, caps);
            outcome.unwrap_or_else(|e| panic!("{name}: {e}"))
        };
        let name = |stage: &str| format!("{f}.{stage}");
        let primal = if self.program.find_func(&name("nonlin")).is_some() {
            run(&name("nonlin"), args, &[], &[]).results
        } else {
            run(f, args, &[], &[]).results
        };
        let residual = self.residual_args(f, args, &primal);

        // f.lin and f.linT are each other's transposes, at no more work.
        let (lin, transposed) = (self.func(&name("lin")), self.func(&name("linT")));
        let law = self.interpreter.transposition(lin, transposed, &residual, rng).expect("runs");
        assert!(law.error() < 1e-12, "{f}: {law:?}");
        assert!(law.slack() >= 0, "{f}: {law:?}");
        let exact = self.interpreter.transposes_exactly(lin, transposed, &residual, rng);
        assert_eq!(exact, Ok(true), "{f} over the prime field");

        // f.jvp gives the value of f and the tangents of f.lin, and agrees with differences.
        if self.program.find_func(&name("jvp")).is_none() {
            return;
        }
        let jvp = &self.program.funcs[self.func(&name("jvp"))];
        let is_float = |v: &&Value| matches!(v, Value::F64(_));
        let of_array = |v: &&Value| v.as_array().is_some_and(|a| a.f64s().is_some());
        let ones = |v: &Value| v.map_f64(&mut |_| 1.0);
        let linear: Vec<Value> = args.iter().filter(is_float).map(ones).collect();
        let caps: Vec<Value> = args.iter().filter(of_array).map(ones).collect();
        assert_eq!((linear.len(), caps.len()), (jvp.lin_params.len(), jvp.cap_params.len()));
        let forward = run(&name("jvp"), args, &linear, &caps);
        let half = run(&name("lin"), &residual, &linear, &caps);
        assert_eq!(forward.linear, half.linear, "{f}");
        assert_eq!(forward.results[..], primal[..forward.results.len()], "{f}");
        if let Some(primal) = self.program.find_func(f) {
            let direction = vec![1.0; all_floats(args).len()];
            let slope = self.interpreter.directional_difference(primal, args, &direction, 1e-6);
            let error = relative_error(&slope.expect("runs"), &all_floats(&forward.linear));
            assert!(error < 1e-7, "{f}: {error}");
        }
    }
}

fn size(n: i64) -> Value {
    Value::I64(n)
}

#[test]
fn straight_line_code_and_records() {
    Stages::of("sine").check("f", &[0.7.into()]);
    let polar = Stages::of("polar");
    polar.check("polar", &[0.3.into(), (-1.1).into()]);
    polar.check("usepolar", &[0.3.into(), (-1.1).into()]);
}

#[test]
fn loops_with_any_number_of_trips() {
    let power = Stages::of("power");
    for n in [-2, 0, 1, 5] {
        power.check("power", &[1.3.into(), size(n)]);
    }
}

#[test]
fn sums_over_arrays_and_rows() {
    let neighbours = Stages::of("neighbours");
    for n in [0, 1, 2, 9] {
        let x: Vec<f64> = (0..n).map(|k| (k as f64).sin()).collect();
        neighbours.check("nb", &[size(n), Value::floats(x)]);
    }
    let x = Value::matrix(2, 3, [0.1, -0.4, 0.3, 0.8, 0.2, -0.9]).expect("six cells");
    Stages::of("rows").check("rows", &[size(2), size(3), x]);
    Stages::of("rows").check("norm2", &[size(3), floats(&[0.1, -0.4, 0.3])]);
}

#[test]
fn triangular_loops_and_branches_with_ragged_tapes() {
    for n in [0, 1, 5] {
        let x: Vec<f64> = (0..n).map(|k| ((3 * k) as f64).cos()).collect();
        Stages::of("triangle").check("pairs", &[size(n), Value::floats(x.clone())]);
        Stages::of("branch").check("br", &[size(n), Value::floats(x)]);
    }
}

#[test]
fn array_carries_and_captured_matrices() {
    let w = Value::matrix(2, 2, [0.1, -0.4, 0.3, 0.8]).expect("four cells");
    let x = Value::matrix(3, 2, [0.5, 0.1, -0.2, 0.9, 0.4, -0.7]).expect("six cells");
    let args = [size(2), size(3), w, floats(&[0.2, -0.1]), x];
    Stages::of("rnn").check("rnn", &args);
}

#[test]
fn result_sizes_computed_inside() {
    let half = Stages::of("half");
    for n in [0, 1, 5] {
        let x: Vec<f64> = (0..n).map(|k| (k as f64).cos()).collect();
        half.check("firsthalf", &[size(n), Value::floats(x.clone())]);
        half.check("usehalf", &[size(n), Value::floats(x)]);
    }
}

#[test]
fn a_wrong_transpose_is_noticed() {
    let stages = Stages::new(
        "core def f(c: f64; x': f64) -> (; f64) = { y' = c * x'; (; y') }
        core def g(c: f64; y': f64) -> (; f64) = { d = c + 1.0e-9; x' = d * y'; (; x') }",
    );
    let rng = &mut fastrand::Rng::with_seed(1);
    let (f, g) = (stages.func("f"), stages.func("g"));
    let args = [Value::F64(0.5)];
    let law = stages.interpreter.transposition(f, g, &args, rng).expect("runs");
    assert!(law.error() > 1e-10 && law.slack() == -1, "{law:?}");
    assert_eq!(stages.interpreter.transposes_exactly(f, g, &args, rng), Ok(false));
    assert_eq!(stages.interpreter.transposes_exactly(f, f, &args, rng), Ok(true));
}

#[test]
fn gradients_by_differences_have_one_entry_per_float() {
    let program = load("def f[n](a: f64, x: [n]f64, k: i64) -> f64 = a * sum (v <- x) { v * v }");
    let interpreter = Interpreter::new(&program);
    let f = program.find_func("f").expect("f");
    let args = interpreter.with_sizes(f, &[2.0.into(), floats(&[1.0, -3.0]), 7i64.into()]);
    let gradient = interpreter.gradient_by_differences(f, &args.expect("sizes"), 1e-6);
    let error = relative_error(&gradient.expect("runs"), &[10.0, 4.0, -12.0]);
    assert!(error < 1e-8, "{error}");
    assert_eq!(relative_error(&[1.0], &[1.0, 2.0]), f64::INFINITY);
    assert_eq!(relative_error(&[f64::NAN], &[1.0]), f64::INFINITY);
    assert_eq!(relative_error(&[f64::NAN, 1.0], &[f64::NAN, 1.0]), 0.0);
}

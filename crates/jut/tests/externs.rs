//! Functions of other languages, given as closures: what they are asked for, and what becomes of their errors.

use jut::foreign::Function;
use jut::{Arg, Batched, Engine, Error, Model, Value};
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A product with a matrix that the host has, and what is made of it.
const PROGRAM: &str = "
extern def apply(n: i64, m: i64; x': [m]f64) -> (; [n]f64) transpose apply_back
extern def apply_back(n: i64, m: i64; y': [n]f64) -> (; [m]f64) transpose apply

def energy(n: i64, m: i64, x: [m]f64) -> f64 = sum (y <- apply(n, m, x)) { y^2 }
def last(n: i64, m: i64, x: [m]f64) -> f64 = apply(n, m, x)[n - 1]
def none(n: i64, m: i64, x: [m]f64) -> f64 = { y = apply(n, m, x); x[0]^2 }
def rows[k](n: i64, m: i64, x: [k, m]f64) -> f64 = sum (i < k) { energy(n, m, x[i]) * sin(x[i, 0]) }
";

const MATRIX: [[f64; 2]; 3] = [[1.0, 0.5], [-2.0, 0.25], [0.125, 3.0]];

/// How often each function was called.
#[derive(Default)]
struct Calls([AtomicUsize; 2]);

impl Calls {
    fn taken(&self) -> [usize; 2] {
        self.0.each_ref().map(|count| count.swap(0, Ordering::Relaxed))
    }
}

fn model(calls: &Arc<Calls>) -> Model {
    let (forth, back) = (calls.clone(), calls.clone());
    Model::from_text(PROGRAM)
        .unwrap_or_else(|e| panic!("{e}"))
        .with_extern("apply", move |given, results| {
            forth.0[0].fetch_add(1, Ordering::Relaxed);
            assert_eq!((given.integer(0), given.integers(1)), (3, &[2][..]));
            // What no parameter has is empty.
            assert_eq!((given.floats(0).len(), given.integer(9)), (0, 0));
            let x = given.floats(2);
            for (y, row) in results[0].iter_mut().zip(MATRIX) {
                assert_eq!(*y, 0.0);
                *y = row[0] * x[0] + row[1] * x[1];
            }
            Ok(())
        })
        .expect("it is declared")
        .with_extern("apply_back", move |given, results| {
            back.0[1].fetch_add(1, Ordering::Relaxed);
            let y = given.floats(2);
            for (k, x) in results[0].iter_mut().enumerate() {
                *x = MATRIX.iter().zip(y).map(|(row, y)| row[k] * y).sum();
            }
            Ok(())
        })
        .expect("it is declared")
}

fn engines() -> impl Iterator<Item = Engine> {
    Engine::all().filter(|engine| engine.is_built_in())
}

fn args(x: &[f64]) -> [Arg<'_>; 3] {
    [3.into(), 2.into(), x.into()]
}

#[test]
fn all_engines_call_the_closures_and_give_the_same_bits() {
    let calls = Arc::new(Calls::default());
    let model = model(&calls);
    let x = [0.3, -1.7];
    let y = MATRIX.map(|row| row[0] * x[0] + row[1] * x[1]);
    let gradient: Vec<f64> =
        (0..2).map(|k| (0..3).map(|i| 2.0 * y[i] * MATRIX[i][k]).sum()).collect();
    for engine in engines() {
        let function = model.function("energy").expect("there").engine(engine);
        let results = function.value_and_gradient().expect("it compiles").call(&args(&x));
        let results = results.unwrap_or_else(|e| panic!("{engine:?}: {e}"));
        assert_eq!(results[0].floats(), [y.iter().map(|y| y * y).sum::<f64>()], "{engine:?}");
        for (found, expected) in results[1].floats().iter().zip(&gradient) {
            assert!((found - expected).abs() < 1e-12, "{engine:?}: {results:?}");
        }
        assert_eq!(calls.taken(), [1, 1], "{engine:?}");
    }
}

#[test]
fn what_nobody_needs_is_not_asked_for() {
    let calls = Arc::new(Calls::default());
    let model = model(&calls);
    let function = |name: &str| model.function(name).expect("there");
    // The function is linear: its gradient is that of the last number alone.
    let gradient = function("last").gradient().expect("it compiles");
    assert_eq!(gradient.call(&args(&[0.3, -1.7])).expect("it runs")[0].floats(), MATRIX[2]);
    assert_eq!(calls.taken(), [0, 1]);
    function("none").value_and_gradient().expect("it compiles").call(&args(&[0.3, 1.0])).unwrap();
    assert_eq!(calls.taken(), [0, 0]);
}

#[test]
fn a_kept_derivative_calls_each_once_for_each_application() {
    let calls = Arc::new(Calls::default());
    let model = model(&calls);
    for engine in engines() {
        let linearized = model
            .function("energy")
            .expect("there")
            .engine(engine)
            .linearize()
            .expect("it compiles");
        let mut tape = linearized.tape();
        tape.record(&args(&[0.3, -1.7])).expect("it runs");
        assert_eq!(calls.taken(), [1, 0]);
        let mut session = linearized.session();
        let forward = session.apply(&tape, &[(&[1.0, 0.0]).into()]).expect("it runs").values();
        assert_eq!(calls.taken(), [1, 0]);
        let back = session.apply_transposed(&tape, &[1.0.into()]).expect("it runs").values();
        assert_eq!(calls.taken(), [0, 1]);
        assert!((forward[0].floats()[0] - back[0].floats()[0]).abs() < 1e-12, "{engine:?}");
    }
}

#[test]
fn a_function_that_is_missing_or_not_declared_is_said_before_anything_is_compiled() {
    let model = || Model::from_text(PROGRAM).expect("it is a program");
    let error =
        model().function("energy").expect("there").gradient().err().expect("one is missing");
    assert!(matches!(error, Error::Request(_)), "{error}");
    assert!(error.to_string().contains("`apply`"), "{error}");
    assert!(error.to_string().contains("with_extern"), "{error}");
    let error = model().with_extern("aply", |_, _| Ok(())).err().expect("it is not declared");
    assert!(error.to_string().contains("there is apply, apply_back"), "{error}");
    let error = model().with_extern("energy", |_, _| Ok(())).err().expect("it is no extern");
    assert!(error.to_string().contains("`energy`"), "{error}");
    // A value alone needs no transpose.
    let half = model().with_extern("apply", |_, _| Ok(())).expect("it is declared");
    assert!(half.function("energy").expect("there").value().is_ok());
    assert!(half.function("energy").expect("there").gradient().is_err());
    // What is not called is not missing.
    assert_eq!(half.externs().collect::<Vec<_>>(), ["apply", "apply_back"]);
}

#[test]
fn errors_and_panics_end_the_call_and_nothing_else() {
    let fails = |reason: Option<&'static str>| {
        move |given: &jut::foreign::Given<'_>, _: &mut [&mut [f64]]| match (reason, given.floats(2))
        {
            (Some(reason), [x, _]) if *x > 0.0 => Err(reason.to_string()),
            (None, [x, _]) if *x > 0.0 => panic!("x is {x}"),
            _ => Ok(()),
        }
    };
    for (reason, expected) in [
        (Some("out of luck"), "`apply` failed: out of luck"),
        (None, "`apply` failed: it panicked: x is 1"),
    ] {
        let model = Model::from_text(PROGRAM).expect("it is a program");
        let model = model.with_extern("apply", fails(reason)).expect("it is declared");
        for engine in engines() {
            let value = model.function("energy").expect("there").engine(engine).value().unwrap();
            let mut session = value.session();
            for _ in 0..2 {
                let error = session.call(&args(&[1.0, 0.0])).err().expect("it fails");
                assert_eq!(error.code(), Some("R09"), "{engine:?}: {error}");
                assert!(error.to_string().contains(expected), "{engine:?}: {error}");
                assert!(error.to_string().contains("program:2:"), "{engine:?}: {error}");
                let zero = session.call(&args(&[-1.0, 0.0])).expect("it runs").values();
                assert_eq!(zero[0].floats(), [0.0]);
            }
        }
    }
}

#[test]
fn what_crosses_counts_against_the_memory_limit() {
    let text = "
extern def twice(n: i64; x': [n]f64) -> (; [n]f64) transpose twice
def f[n](x: [n]f64) -> f64 = sum (y <- twice(n, x)) { y }
def g(n: i64) -> f64 = sum (y <- twice(n, build (i < n) { 1.0 })) { y }
";
    let model =
        Model::from_text(text).expect("it is a program").with_extern("twice", |given, results| {
            results[0].iter_mut().zip(given.floats(1)).for_each(|(y, x)| *y = 2.0 * x);
            Ok(())
        });
    let model = model.expect("it is declared");
    for engine in engines() {
        let function = |name: &str| model.function(name).expect("there").engine(engine);
        let g = function("g").memory_limit(1 << 16).value().expect("it compiles");
        assert_eq!(g.call(&[100.into()]).expect("it fits")[0].floats(), [200.0]);
        let error = g.call(&[(1 << 20).into()]).expect_err("it does not fit");
        assert_eq!(error.code(), Some("R06"), "{engine:?}: {error}");
        let empty: [f64; 0] = [];
        let f = function("f").value_and_gradient().expect("it compiles");
        assert_eq!(f.call(&[(&empty).into()]).expect("it runs")[0].floats(), [0.0], "{engine:?}");
        assert_eq!(f.call(&[(&[1.5]).into()]).expect("it runs")[1].floats(), [2.0], "{engine:?}");
    }
}

#[test]
fn loops_and_batches_of_calls_give_the_bits_of_one_thread() {
    let calls = Arc::new(Calls::default());
    let model = model(&calls);
    let x: Vec<f64> = (0..2000).map(|i| (i * 7 % 11) as f64 / 8.0 - 0.3).collect();
    let rows = |parallel: bool| {
        let function = model.function("rows").expect("there").parallel(parallel);
        let args = [3.into(), 2.into(), (&x[..], &[1000, 2]).into()];
        let results =
            function.value_and_gradient().expect("it compiles").call(&args).expect("it runs");
        results.iter().flat_map(Value::floats).collect::<Vec<f64>>()
    };
    assert_eq!(rows(true), rows(false));
    assert_eq!(calls.taken()[1], 2000);

    let gradient = model.function("energy").expect("there").gradient().expect("it compiles");
    let each = [
        Batched::Same(3.into()),
        Batched::Same(2.into()),
        Batched::Each((&x[..], &[1000, 2]).into()),
    ];
    let all = gradient.call_batch(&each, None).expect("it runs");
    let first = gradient.call(&args(&x[..2])).expect("it runs");
    assert_eq!(all[0].floats()[..2], first[0].floats());
}

/// A closure that waits for work of the pool may be given a part of the very batch that it is called by.
#[test]
fn a_closure_may_wait_for_the_pool_that_its_batch_runs_on() {
    let text = "
extern def twice(n: i64; x': [n]f64) -> (; [n]f64) transpose twice
def f[n](x: [n]f64) -> f64 = sum (y <- twice(n, x)) { y^2 }
";
    let model =
        Model::from_text(text).expect("it is a program").with_extern("twice", |given, results| {
            let middle = results[0].len() / 2;
            let (low, high) = results[0].split_at_mut(middle);
            let [x, z] = [&given.floats(1)[..middle], &given.floats(1)[middle..]];
            let double = |from: &[f64], to: &mut [f64]| {
                to.iter_mut().zip(from).for_each(|(y, x)| *y = 2.0 * x);
            };
            rayon::join(|| double(x, low), || double(z, high));
            Ok(())
        });
    let model = model.expect("it is declared");
    let x: Vec<f64> = (0..4000).map(|i| (i * 7 % 11) as f64 / 8.0 - 0.3).collect();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().expect("a pool");
    for engine in engines() {
        let function = model.function("f").expect("there").engine(engine);
        let gradient = function.value_and_gradient().expect("it compiles");
        let each = [Batched::Each((&x[..], &[1000, 4]).into())];
        let expected = gradient.call_batch(&each, NonZeroUsize::new(1)).expect("it runs");
        // From the second one on it is known how long an element takes.
        for _ in 0..4 {
            let inside = pool.install(|| gradient.call_batch(&each, None));
            assert_eq!(inside.expect("it runs"), expected, "{engine:?}");
            assert_eq!(gradient.call_batch(&each, None).expect("it runs"), expected, "{engine:?}");
        }
    }
}

#[test]
fn a_declaration_alone_is_the_function_on_ordinary_values() {
    let calls = Arc::new(Calls::default());
    let model = model(&calls);
    let y = model.function("apply").expect("there").value().expect("it compiles");
    let y = y.call(&args(&[1.0, 0.0])).expect("it runs");
    assert_eq!(y[0].floats(), MATRIX.map(|row| row[0]));
    let vjp = model.function("apply").expect("there").vjp().expect("it compiles");
    let results = vjp.call(&[3.into(), 2.into(), (&[1.0, 0.0]).into(), (&[0.0, 1.0, 0.0]).into()]);
    assert_eq!(results.expect("it runs").last().map(Value::floats), Some(MATRIX[1].to_vec()));
}

#[test]
fn a_module_declares_functions_under_its_name() {
    let model = Model::from_sources(&[
        ("main.jut", "use blas\ndef f[n](x: [n]f64) -> f64 = sum (y <- blas.twice(n, x)) { y^2 }"),
        ("blas.jut", "extern def twice(n: i64; x': [n]f64) -> (; [n]f64) transpose twice"),
    ]);
    let model = model.unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(model.functions().collect::<Vec<_>>(), ["blas.twice", "f"]);
    let model = model.with_extern("blas.twice", |given, results| {
        results[0].iter_mut().zip(given.floats(1)).for_each(|(y, x)| *y = 2.0 * x);
        Ok(())
    });
    let gradient = model.expect("it is declared").function("f").expect("there").gradient();
    let results = gradient.expect("it compiles").call(&[(&[1.5, -1.0]).into()]).expect("it runs");
    assert_eq!(results[0].floats(), [12.0, -8.0]);
}

#[test]
fn results_whose_cells_wrap_around_are_refused_before_the_call() {
    let text = "
extern def wide(n: i64, m: i64; x': f64) -> (; [n, m]f64) transpose narrow
extern def narrow(n: i64, m: i64; y': [n, m]f64) -> (; f64) transpose wide

def corner(n: i64, m: i64, x: f64) -> f64 = wide(n, m, x)[n - 1, m - 1]
";
    let model = Model::from_text(text).expect("it is accepted");
    // What takes lists as they cross is told no shapes that it could compare.
    let nothing = |name: &str| Function::new(name, |_, _, _| Ok(()));
    let model = model.with_whole_extern(nothing("wide")).expect("it is declared");
    let model = model.with_whole_extern(nothing("narrow")).expect("it is declared");
    for engine in engines() {
        let function = model.function("corner").expect("there").engine(engine);
        let compiled = function.value_and_gradient().expect("it compiles");
        let called = |n: i64| compiled.call(&[n.into(), n.into(), 1.0.into()]);
        assert_eq!(called(2).expect("it runs")[0].floats(), [0.0]);
        for n in [1i64 << 32, (1 << 31) + 1, i64::MAX] {
            let error = called(n).expect_err("there is no such array");
            assert_eq!(error.code(), Some("R06"), "{engine:?}, {n}: {error}");
        }
    }
}

#[test]
fn results_that_wrap_around_together_are_refused_before_the_call() {
    let text = "
extern def four(n: i64; x': f64) -> (; [n]f64, [n]f64, [n]f64, [n]f64) transpose ruof
extern def ruof(n: i64; a': [n]f64, b': [n]f64, c': [n]f64, d': [n]f64) -> (; f64) transpose four

def last(n: i64, x: f64) -> f64 = { (a, b, c, d) = four(n, x); a[n - 1] + d[n - 1] }
";
    let model = Model::from_text(text).unwrap_or_else(|e| panic!("{e}"));
    let nothing = |name: &str| Function::new(name, |_, _, _| Ok(()));
    let model = model.with_whole_extern(nothing("four")).expect("it is declared");
    let model = model.with_whole_extern(nothing("ruof")).expect("it is declared");
    for engine in engines() {
        let function = model.function("last").expect("there").engine(engine);
        let compiled = function.value().expect("it compiles");
        let called = |n: i64| compiled.call(&[n.into(), 1.0.into()]);
        assert_eq!(called(2).expect("it runs")[0].floats(), [0.0]);
        // Four times 2^62 cells are 2^64.
        for n in [1i64 << 62, (1 << 62) + 1, i64::MAX] {
            let error = called(n).expect_err("there are no such arrays");
            assert_eq!(error.code(), Some("R06"), "{engine:?}, {n}: {error}");
        }
    }
}

#[test]
fn a_derivative_may_be_taken_above_the_definition_that_is_named() {
    let text = "
extern def weigh(v: f64; x': f64) -> (; f64) transpose weigh derivative by_weight

def slope(v: f64, x: f64) -> f64 = grad(fn (w) -> weigh(w, x)^2)(v)
def by_weight(v: f64, x: f64, dv: f64) -> f64 = halved(dv) * x
def halved(x: f64) -> f64 = 0.5 * x
";
    let model = Model::from_text(text).unwrap_or_else(|e| panic!("{e}"));
    let model = model.with_extern("weigh", |given, results| {
        results[0][0] = 0.5 * given.float(0) * given.float(1);
        Ok(())
    });
    let model = model.expect("it is declared");
    for engine in engines() {
        let slope = model.function("slope").expect("there").engine(engine);
        let results = slope.value().expect("it compiles").call(&[3.0.into(), 2.0.into()]);
        // The derivative of (v x / 2)^2 by v is v x^2 / 2.
        assert_eq!(results.expect("it runs")[0].floats(), [6.0], "{engine:?}");
    }
}

#[test]
fn a_derivative_that_needs_itself_is_refused() {
    let text = "
extern def weigh(v: f64; x': f64) -> (; f64) transpose weigh derivative by_weight
def by_weight(v: f64, x: f64, dv: f64) -> f64 = dv * grad(fn (w) -> weigh(w, x))(v)
";
    let error = Model::from_text(text).err().expect("it needs itself").to_string();
    assert!(error.contains("J813") && error.contains("takes a derivative through"), "{error}");
}

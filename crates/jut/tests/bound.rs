//! Calls that are bound to the sizes of their arguments: the results of sessions, without allocation,
//! and nothing but what was bound.

use jut::{Arg, BoundCall, Cancellation, Engine, Error, Model, Out};

const PROGRAM: &str = "
def f[n, m](x: [n]f64, ix: [m]i64, k: i64, mask: [n]bool) -> f64 = {
  y = for (t < k) carry (y = x) { build (i < n) { if mask[i] { sin(y[i]) } else { 0.5 * y[i] } } }
  sum (i < m) { y[ix[i]] * exp(x[ix[i]]) }
}
def half[n](x: [n]f64) -> (m: i64, y: [m]f64) = {
  m = n / 2
  y = build (i < m) { x[2 * i] * x[2 * i] }
  (m, y)
}
def range(n: i64, scale: f64) -> [n]f64 = build (i < n) { scale * f64(i) }
def flip(a: f64, b: bool, k: i64) -> (c: f64, d: bool, j: i64) = (if b { -a } else { a }, !b, k + 1)
def rows[n, m](a: [n, m]f64) -> [n]f64 = build (i < n) { sum (j < m) { a[i, j] } }
def pair(p: #(f64, f64)) -> f64 = p.0 * p.1
";

const ENGINES: [Engine; 2] = [Engine::Cranelift, Engine::Interpreter];

fn function(name: &str, engine: Engine) -> jut::Function {
    let model = Model::from_text(PROGRAM).expect("a program");
    model.function(name).expect("a function").engine(engine)
}

fn bits(numbers: &[f64]) -> Vec<u64> {
    numbers.iter().map(|x| x.to_bits()).collect()
}

#[test]
fn a_bound_call_gives_what_a_session_gives() {
    let ix: [i64; 3] = [0, 3, 3];
    let mask = [true, false, true, true];
    for engine in ENGINES {
        let gradient = function("f", engine).value_and_gradient().expect("a gradient");
        let mut session = gradient.session();
        let start = [0.1, 0.2, 0.3, 0.4];
        let args: [Arg<'_>; 4] = [(&start).into(), (&ix).into(), 1.into(), (&mask).into()];
        let mut bound = gradient.bind(&args).expect("it binds");
        // Integers that say no size may change, and so may all elements.
        for k in 0..5 {
            let x = start.map(|x| x * f64::from(k as i32) - 0.3);
            let args: [Arg<'_>; 4] = [(&x).into(), (&ix).into(), k.into(), (&mask).into()];
            let (mut value, mut dx) = (0.0, [0.0; 4]);
            bound.call(&args, &mut [(&mut value).into(), (&mut dx).into()]).expect("it fits");
            let results = session.call(&args).expect("it runs");
            assert_eq!(results.f64("value").map(f64::to_bits).ok(), Some(value.to_bits()));
            assert_eq!(results.f64s("x").map(bits).ok(), Some(bits(&dx)));
        }
    }
}

#[test]
fn scalars_of_every_type_go_in_and_out() {
    for engine in ENGINES {
        let flip = function("flip", engine).value().expect("flip");
        let mut bound = flip.bind(&[0.0.into(), false.into(), 0.into()]).expect("it binds");
        let (mut c, mut d, mut j) = (0.0, true, 0);
        let mut outs = [Out::F64(&mut c), Out::Bool(&mut d), Out::I64(&mut j)];
        bound.call(&[1.5.into(), true.into(), 41.into()], &mut outs).expect("it fits");
        assert_eq!((c, d, j), (-1.5, false, 42));
    }
}

#[test]
fn a_matrix_is_bound_with_its_shape_and_called_without() {
    for engine in ENGINES {
        let rows = function("rows", engine).value().expect("rows");
        let a = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
        let mut bound = rows.bind(&[(&a[..], &[2, 3]).into()]).expect("it binds");
        let mut sums = [0.0; 2];
        bound.call(&[(&a).into()], &mut [(&mut sums).into()]).expect("it fits");
        assert_eq!(sums, [6.0, 15.0]);
        bound.call(&[(&a[..], &[2, 3]).into()], &mut [(&mut sums).into()]).expect("it fits");
        let turned = bound.call(&[(&a[..], &[3, 2]).into()], &mut [(&mut sums).into()]);
        assert_eq!(code(turned), Some("A03"));
    }
}

#[test]
fn results_of_computed_size_are_copied_if_they_fit() {
    for engine in ENGINES {
        let half = function("half", engine).value().expect("half");
        let x: Vec<f64> = (0..9).map(f64::from).collect();
        let mut bound = half.bind(&[(&x).into()]).expect("it binds");
        let (mut m, mut y, mut short) = (0, [0.0; 4], [0.0; 3]);
        bound.call(&[(&x).into()], &mut [(&mut m).into(), (&mut y).into()]).expect("it fits");
        assert_eq!((m, y), (4, [0.0, 4.0, 16.0, 36.0]));
        let error = bound.call(&[(&x).into()], &mut [(&mut m).into(), (&mut short).into()]);
        assert_eq!(code(error), Some("A05"));
    }
}

fn code<T>(result: jut::Result<T>) -> Option<&'static str> {
    result.err().and_then(|error| error.code())
}

#[test]
fn only_what_was_bound_fits() {
    for engine in ENGINES {
        let gradient = function("f", engine).value_and_gradient().expect("a gradient");
        let (x, ix, mask) = ([0.5; 4], [0i64, 3, 3], [true; 4]);
        let good: [Arg<'_>; 4] = [(&x).into(), (&ix).into(), 1.into(), (&mask).into()];
        let mut bound = gradient.bind(&good).expect("it binds");
        let (mut value, mut dx) = (0.0, [0.0; 5]);
        let dx = &mut dx[..4];
        let (long, other) = ([0.5; 5], [1i64; 4]);
        let wrong: [(usize, Arg<'_>, &str, &str); 9] = [
            (0, (&long).into(), "A03", "the call is bound to 4 elements"),
            (0, (&x[..3]).into(), "A03", "expected [n]f64, got a slice of 3 f64"),
            (0, (&[0.0; 0]).into(), "A03", "a slice of 0 f64"),
            (0, (&other).into(), "A02", "a slice of 4 i64"),
            (0, 1.0.into(), "A02", "got an f64"),
            (0, Arg::Tuple(&[]), "A02", "a tuple of 0"),
            (1, (&ix[..2]).into(), "A03", "the call is bound to 3 elements"),
            (2, 1.5.into(), "A02", "expected i64, got an f64"),
            (3, (&x).into(), "A02", "expected [n]bool"),
        ];
        for (k, arg, number, words) in wrong {
            let mut args = good;
            args[k] = arg;
            let error = bound.call(&args, &mut [(&mut value).into(), (&mut *dx).into()]);
            let error = error.expect_err(words);
            assert_eq!(error.code(), Some(number), "{error}");
            assert!(error.to_string().contains(words), "{error}");
        }
        assert_eq!(code(bound.call(&good[..3], &mut [])), Some("A01"));
        assert_eq!(code(bound.call(&good, &mut [(&mut value).into()])), Some("A01"));
        let [x, ix, n, mask] = good;
        for wrong in [&good[..3], &[x, ix, n, mask, 1.0.into()], &[x, ix, n, mask, mask]] {
            let outs = &mut [(&mut value).into(), (&mut *dx).into()];
            assert_eq!(code(bound.call(wrong, outs)), Some("A01"));
        }
        let mut outs = [Out::F64(&mut value), Out::F64s(&mut dx[..3])];
        let Err(Error::Argument(error)) = bound.call(&good, &mut outs) else { panic!("short") };
        assert_eq!((error.code(), error.parameter()), ("A05", "x"));
        let (mut first, mut second) = (0.0, [0i64; 4]);
        let outs = &mut [Out::F64(&mut first), Out::I64s(&mut second)];
        assert_eq!(code(bound.call(&good, outs)), Some("A05"));
        let outs = &mut [Out::I64s(&mut second), Out::F64s(dx)];
        assert_eq!(code(bound.call(&good, outs)), Some("A05"));
        bound.call(&good, &mut [(&mut value).into(), (&mut *dx).into()]).expect("it still works");
    }
}

#[test]
fn an_integer_that_says_a_size_does_not_change() {
    for engine in ENGINES {
        let range = function("range", engine).value().expect("range");
        let mut bound = range.bind(&[3.into(), 0.0.into()]).expect("it binds");
        let mut y = [0.0; 3];
        bound.call(&[3.into(), 2.0.into()], &mut [(&mut y).into()]).expect("it fits");
        assert_eq!(y, [0.0, 2.0, 4.0]);
        for n in [4, 1 << 40, -1, i64::MIN] {
            let error = bound.call(&[n.into(), 2.0.into()], &mut [(&mut y).into()]);
            let error = error.expect_err("another size");
            assert!(error.to_string().contains("bound to 3, which is a size"), "{error}");
        }
    }
}

#[test]
fn what_has_parts_is_not_bound() {
    for engine in ENGINES {
        let pair = function("pair", engine).value_and_gradient().expect("pair");
        let parts = [2.0.into(), 3.0.into()];
        assert_eq!(code(pair.bind(&[Arg::Tuple(&parts)])), Some("A06"));
        assert_eq!(
            code(function("rows", engine).value().expect("rows").bind(&[1.into()])),
            Some("A02")
        );
    }
}

#[test]
fn bound_calls_allocate_nothing_also_after_an_error() {
    let gradient = function("f", Engine::Cranelift).value_and_gradient().expect("a gradient");
    let (x, mask) = ([0.5; 40], [true; 40]);
    let (good, bad) = ([0i64, 3, 3], [0i64, 40, 3]);
    let args = |ix| -> [Arg<'_>; 4] { [(&x).into(), Arg::from(ix), 9.into(), (&mask).into()] };
    let mut bound = gradient.bind(&args(&good)).expect("it binds");
    let (mut value, mut dx) = (0.0, [0.0; 40]);
    let mut call = |bound: &mut BoundCall, ix| {
        bound.call(&args(ix), &mut [(&mut value).into(), (&mut dx).into()])
    };
    for _ in 0..3 {
        call(&mut bound, &good).expect("good");
    }
    let count = |work: &mut dyn FnMut()| allocation_counter::measure(work).count_total;
    assert_eq!(count(&mut || (0..10).for_each(|_| call(&mut bound, &good).expect("good"))), 0);
    assert_eq!(code(call(&mut bound, &bad)), Some("R01"));
    assert_eq!(count(&mut || call(&mut bound, &good).expect("good")), 0);
}

#[test]
fn limits_and_cancellation_hold() {
    for engine in ENGINES {
        let gradient = function("f", engine).memory_limit(1 << 20).value_and_gradient();
        let gradient = gradient.expect("a gradient");
        let (x, ix, mask) = ([0.5; 1000], [3i64], [true; 1000]);
        let args =
            |k: i64| -> [Arg<'_>; 4] { [(&x).into(), (&ix).into(), k.into(), (&mask).into()] };
        let mut bound = gradient.bind(&args(0)).expect("it binds");
        let (mut value, mut dx) = (0.0, [0.0; 1000]);
        let mut call = |bound: &mut BoundCall, k| {
            code(bound.call(&args(k), &mut [(&mut value).into(), (&mut dx).into()]))
        };
        assert_eq!(call(&mut bound, 3), None);
        assert_eq!(call(&mut bound, 100_000), Some("R06"));
        let shutdown = Cancellation::new();
        bound.set_cancellation(&shutdown);
        assert_eq!(call(&mut bound, 3), None);
        bound.cancellation().cancel();
        assert!(shutdown.is_cancelled());
        assert_eq!(call(&mut bound, 3), Some("R07"));
        shutdown.reset();
        assert_eq!(call(&mut bound, 3), None);
    }
}

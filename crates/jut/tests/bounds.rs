//! No access outside of its array, whatever the indices are: every product of every program fails exactly
//! where its function does, with the same error, on every engine; where nothing fails, the bits are the
//! same. Compiled code that reads before the check would end the test with a signal.

use crate::support::{args_of, direction, ints, like, matrix, vector};
use jut::request::Seeds;
use jut::{Engine, Error, Function, Model, Request, Value};

const ENGINES: [Engine; 2] = [Engine::Cranelift, Engine::Interpreter];

fn requests() -> impl Iterator<Item = Request> {
    // A transpose is of other functions, and a batch has other arguments.
    let others = [Request::Transposed, Request::Batched];
    Request::all().filter(move |request| !others.contains(request))
}

/// Far enough away that nothing is mapped there, and near enough that something might be.
const HOSTILE: [i64; 10] =
    [100_000_000, -100_000_000, 1 << 32, 1 << 61, i64::MAX, i64::MIN, -1, 0, 1, 2];

/// Programs `f` with an integer parameter `k` that comes last.
const PROGRAMS: &[(&str, &str)] = &[
    ("an access that nothing depends on", "def f[n](a: f64, x: [n]f64, k: i64) -> f64 = { y = x[k]; a * y }"),
    (
        "an access in a loop behind another check",
        "def f[n, m](x: [n]f64, w: [m]f64, ix: [n]i64, k: i64) -> f64 =
           sum (i < n) { y = x[ix[i]]; y * w[k] * y }",
    ),
    (
        "an accumulator behind another check",
        "def f[n, m](x: [n]f64, w: [m]f64, ix: [n]i64, k: i64) -> f64 = {
           h = acc h: [m]f64 { for (i < n) { y = x[ix[i]]; h[k] += y * y } }
           sum (i < m) { h[i] * w[i] } }",
    ),
    (
        "a check inside an accumulator, written out",
        "core def f(n: i64, x: [n]f64, k: i64) -> f64 = {
           s = acc s: f64 { check k < n; y = x[k]; z = y * y; s += z }
           s }",
    ),
    (
        "an access in a function",
        "def at[n](x: [n]f64, k: i64) -> f64 = x[k]
         def f[n](x: [n]f64, k: i64) -> f64 = sum (i < n) { at(x, k) * x[i] * at(x, i) }",
    ),
    (
        "an access in a function that is called in two places, in a loop of known length",
        "def at[n](x: [n]f64, k: i64) -> f64 = { s = for (j < 3) carry (s = 1.0) { s * x[k] }; s }
         def f[n](x: [n]f64, k: i64) -> f64 = for (i < n) carry (s = 0.5) {
           a = at(x, k); b = at(x, k - 1); sin(s * a) + b }",
    ),
    (
        "rows",
        "def f[n, m](x: [n, m]f64, k: i64) -> f64 = sum (i < n) { s = sum (j < m) { x[k, j]^2 }; s * x[i, k] }",
    ),
    ("a slice", "def f[n](x: [n]f64, k: i64) -> f64 = { y = x[k ..+ 1]; sum (i < n) { sum (v <- y) { v * v * x[i] } } }"),
    (
        "a branch",
        "def f[n](x: [n]f64, k: i64) -> f64 = sum (i < n) {
           if x[i] > 0.1 { for (j < i) carry (a = x[i]) { a * x[k] } } else { x[k - 1] * x[i]^2 } }",
    ),
    (
        "a carried array",
        "def f[n](x: [n]f64, k: i64) -> f64 = {
           y = for (t < 2) carry (y = x) { build (i < n) { sin(y[i]) * y[k] } }
           sum (v <- y) { v * v } }",
    ),
    ("a largest element", "def f[n](x: [n]f64, k: i64) -> f64 = max (i < n) { x[i] * x[k] }"),
    (
        "a window",
        "def f[n](x: [n]f64, k: i64) -> f64 = sum (i < n - 1) { x[i + 1] * x[i] * x[i + k] }",
    ),
    (
        "a range that is computed",
        "def f[n](x: [n]f64, k: i64) -> f64 = sum (i < n - k) { x[i + k]^3 * x[0] }",
    ),
    ("a quotient", "def f[n](x: [n]f64, k: i64) -> f64 = sum (i < n) { x[i]^2 * f64(7 / k) }"),
    ("a quotient outside", "def f[n](x: [n]f64, k: i64) -> f64 = { q = 7 / k; sum (i < n) { x[i]^2 * f64(q) } }"),
    (
        "a cast",
        "def f[n](x: [n]f64, k: i64) -> f64 = { y = cast x : [k]f64; sum (i < k) { y[i]^2 } }",
    ),
];

fn function(text: &str) -> Function {
    let model = Model::from_text(text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    model.function("f").expect("it exists")
}

/// Arguments for the parameters of `f`, by their types: arrays of `n` or of none.
fn arguments(f: &Function, n: usize, k: i64) -> Vec<Value> {
    let value = |(name, ty): &(String, String)| match ty.as_str() {
        "f64" => Value::F64(0.7),
        "i64" if name == "n" => Value::I64(n as i64),
        "i64" => Value::I64(k),
        ty if ty.ends_with("i64") => ints(&(0..n as i64).rev().collect::<Vec<_>>()),
        ty if ty.contains(',') => matrix(n, n),
        _ => like(&vector(&vec![0.0; n]), 3),
    };
    f.parameters().iter().map(value).collect()
}

/// What a request takes.
fn inputs(request: Request, args: &[Value]) -> Vec<Value> {
    let mut all = args.to_vec();
    match request.row().seeds {
        Seeds::Tangents => all.extend(direction(args, 5)),
        Seeds::Cotangents => all.push(Value::F64(1.3)),
        Seeds::None => {}
    }
    all
}

fn results_of(
    f: &Function,
    request: Request,
    engine: Engine,
    args: &[Value],
) -> Result<Vec<Value>, Error> {
    let compiled = f.clone().engine(engine).compile(request);
    compiled.unwrap_or_else(|e| panic!("{request:?}: {e}")).call(&args_of(args))
}

#[test]
fn every_product_fails_exactly_where_its_function_does() {
    for (what, text) in PROGRAMS {
        let f = function(text);
        for request in requests() {
            let compiled = ENGINES.map(|engine| {
                let made = f.clone().engine(engine).compile(request);
                made.unwrap_or_else(|e| panic!("{what}: {request:?}: {e}"))
            });
            for (n, k) in [0, 3].into_iter().flat_map(|n| HOSTILE.map(|k| (n, k))) {
                let args = arguments(&f, n, k);
                let value = results_of(&f, Request::Value, Engine::Interpreter, &args);
                let inputs = inputs(request, &args);
                let [native, interpreted] = compiled.each_ref().map(|c| c.call(&args_of(&inputs)));
                let here = format!("{what}: {request:?} with {n} elements and k = {k}");
                match (native, interpreted, value) {
                    (Ok(a), Ok(b), Ok(_)) => {
                        let same = a.iter().zip(&b).all(|(a, b)| a.same_bits(b));
                        assert!(same && a.len() == b.len(), "{here}: {a:?} and {b:?}");
                    }
                    (Err(a), Err(b), Err(value)) => {
                        assert_eq!(a.to_string(), b.to_string(), "{here}");
                        assert_eq!(a.code(), value.code(), "{here}: {a}");
                        assert!(a.code().is_some_and(|code| code.starts_with('R')), "{here}: {a}");
                    }
                    (a, b, value) => panic!("{here}: {a:?}; {b:?}; the function: {value:?}"),
                }
            }
        }
    }
}

/// A text never removes a test: what passes mark in printed stages is tested where it is read.
#[test]
fn marks_written_by_hand_are_tested() {
    let texts = [
        "core def f(n: i64, x: [n]f64, k: i64) -> f64 = { y = x[!k]; z = y * y; z }",
        "core def f(n: i64, x: [n]f64, k: i64) -> f64 = {
           y = x[!k ..+ 1]
           z = y[0]
           z }",
        "core def f(n: i64, x: [n]f64, k: i64) -> f64 = {
           s = acc s: [n]f64 { s[!k] += 1.0 }
           t = acc t: f64 { scan par (i < n) slice (a <- s) { t += a } }
           t }",
        "core def f(n: i64, x: [n]f64, k: i64) -> f64 = {
           y = proved cast x : [k]f64
           t = acc t: f64 { scan par (i < k) slice (a <- y) { t += a } }
           t }",
        "data B = B(m: i64, w: [m]i64)
         core def f(n: i64, s: f64, x: [n]i64, k: i64) -> f64 = {
           b = B(n, x)
           B(=k, w) = b
           t = acc t: f64 { scan par (i < k) slice (a <- w) { c = f64(a); d = s * c; t += d } }
           t }",
        "data B = A | B(m: i64, w: [m]i64)
         core def f(n: i64, s: f64, x: [n]i64, k: i64) -> f64 = {
           none = n < 0
           b = case none { true -> { a = A(); a }; false -> { b = B(n, x); b } }
           t = case b {
             A -> { 0.0 }
             B(=k, w) -> {
               t = acc t: f64 { scan par (i < k) slice (a <- w) { c = f64(a); d = s * c; t += d } }
               t } }
           t }",
    ];
    for text in texts {
        let f = function(text);
        for request in [Request::Value, Request::Gradient, Request::Hessian, Request::Vjp] {
            for k in HOSTILE {
                let args = inputs(request, &arguments(&f, 2, k));
                let [native, interpreted] =
                    ENGINES.map(|engine| results_of(&f, request, engine, &args));
                match (native, interpreted) {
                    (Ok(a), Ok(b)) => {
                        assert!(a.iter().zip(&b).all(|(a, b)| a.same_bits(b)), "{text}")
                    }
                    (Err(a), Err(b)) => assert_eq!(a.to_string(), b.to_string(), "{text}"),
                    (a, b) => panic!("k = {k}: {a:?} and {b:?}\n{text}"),
                }
            }
            let beyond =
                results_of(&f, request, Engine::Cranelift, &inputs(request, &arguments(&f, 2, 3)));
            assert!(beyond.is_err(), "{request:?}: {beyond:?}\n{text}");
        }
    }
}

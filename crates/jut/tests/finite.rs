//! Results that have to be finite: what made the first number that is not, by the interpreter and by native code, and by every way to call.

use jut::{Arg, Array, Compiled, Engine, Error, Model, Out, Request, Result, Value};
use std::sync::{Arc, Mutex};

const ENGINES: [Engine; 2] = [Engine::Interpreter, Engine::Cranelift];

/// A function, a request, its arguments, and what is said; the first line is empty.
const CALLS: &[(&str, Request, &[f64], &str)] = &[
    (
        "def f(x: f64) -> f64 = x * log(x - 1.0)",
        Request::Value,
        &[0.5],
        "`log(-0.5)` is NaN at program:2:",
    ),
    (
        "def f(x: f64) -> f64 = x * log(x - 1.0)",
        Request::Gradient,
        &[0.5],
        "`log(-0.5)` is NaN at program:2:",
    ),
    // The value is finite, and its slope is not.
    ("def f(x: f64) -> f64 = sqrt(x) + 1.0", Request::Gradient, &[0.0], "` is inf at program:2:"),
    ("def f(x: f64) -> f64 = sqrt(x) + 1.0", Request::Jvp, &[0.0, 1.0], "` is inf at program:2:"),
    // Of the two that are not finite the first one.
    (
        "def f(x: f64) -> f64 = {\n  y = exp(x)\n  z = 1.0 / (x - x)\n  y * z\n}",
        Request::Value,
        &[1e3],
        "`exp(1000.0)` is inf at program:3:",
    ),
    (
        "def f(x: f64) -> f64 = {\n  y = sum (i < 3) { 1.0 / (f64(i) - x) }\n  y\n}",
        Request::Value,
        &[2.0],
        "`1.0 / 0.0` is inf at program:3:",
    ),
    (
        "def f(x: f64) -> f64 = x ^ 2",
        Request::Gradient,
        &[f64::NAN],
        "the argument `x` is not finite",
    ),
    ("def f(x: f64) -> f64 = x * x", Request::Value, &[1e200], "`1e200 * 1e200` is inf"),
];

fn compiled(text: &str, request: Request, engine: Engine) -> Result<Compiled> {
    let model = Model::from_text(&format!("\n{text}"))?;
    model.function("f")?.engine(engine).finite(true).compile(request)
}

fn floats(data: [f64; 2]) -> Value {
    Value::F64s(Array { shape: vec![2], data: data.to_vec() })
}

fn said<T>(result: Result<T>) -> String {
    result.err().map_or("it is finite".to_string(), |error| {
        assert_eq!(error.code(), Some("R10"), "{error}");
        assert!(matches!(error, Error::Run(_)) && error.render(false).contains("R10"));
        error.to_string()
    })
}

#[test]
fn the_first_operation_is_named_by_every_way_to_call() -> Result<()> {
    for (text, request, numbers, expected) in CALLS {
        let args: Vec<Arg<'_>> = numbers.iter().map(|x| Arg::F64(*x)).collect();
        for engine in ENGINES {
            let compiled = compiled(text, *request, engine)?;
            let mut session = compiled.session();
            let (mut a, mut b) = (0.0, 0.0);
            let mut outs = [Out::F64(&mut a), Out::F64(&mut b)];
            let outs = &mut outs[..compiled.outputs().count()];
            let all = [
                said(session.call(&args)),
                said(session.call(&args)),
                said(session.call_into(&args, outs)),
                said(compiled.bind(&args)?.call(&args, outs)),
                said(compiled.call(&args)),
            ];
            for said in all {
                assert!(said.contains(expected), "{text}, {engine:?}: {said}");
            }
        }
    }
    Ok(())
}

#[test]
fn finite_results_are_what_they_are_without() -> Result<()> {
    let text = "def f[n](x: [n]f64) -> f64 = sum (i < n) { log(1.0 + x[i] ^ 2) / x[i] }";
    let function = Model::from_text(text)?.function("f")?;
    let x: Vec<f64> = (1..50).map(|i| f64::from(i) * 0.3).collect();
    for engine in ENGINES {
        let function = function.clone().engine(engine);
        let plain = function.clone().value_and_gradient()?.call(&[(&x).into()])?;
        let looked_at = function.finite(true).value_and_gradient()?;
        let mut session = looked_at.session();
        for _ in 0..3 {
            assert_eq!(session.call(&[(&x).into()])?.values(), plain);
        }
        // One that is not leaves the session as it was.
        assert!(said(session.call(&[(&[1.0, 0.0]).into()])).contains("`0.0 / 0.0` is NaN"));
        assert_eq!(session.call(&[(&x).into()])?.values(), plain);
    }
    Ok(())
}

#[test]
fn arrays_and_records_are_looked_at() -> Result<()> {
    let text = "data Pair = Pair(left: f64, right: [2]f64)
def of_a_pair(p: Pair) -> Pair = Pair(log(p.left), p.right)
def root(a: [2, 2]f64) -> [2, 2]f64 = cholesky(a)
def short(x: f32) -> f32 = f32(1.0) / x
def logs(x: [2, 2]f64) -> [2, 2]f64 = log(x)";
    let model = Model::from_text(text)?;
    let finite = |name: &str| -> Result<Compiled> { model.function(name)?.finite(true).value() };
    let pair = [Value::F64(-1.0), floats([1.0, 2.0])];
    let made = said(finite("of_a_pair")?.call(&[Arg::Values(&pair)]));
    assert!(made.contains("`log(-1.0)` is NaN at program:2:"), "{made}");
    let pair = [Value::F64(1.0), floats([1.0, f64::INFINITY])];
    let made = said(finite("of_a_pair")?.call(&[Arg::Values(&pair)]));
    assert!(made.contains("the argument `p`"), "{made}");
    let negative = Arg::from((&[-1.0, 0.0, 0.0, 1.0][..], &[2, 2]));
    let made = said(finite("root")?.call(&[negative]));
    assert!(made.contains("`cholesky` is not finite at program:3:"), "{made}");
    let (matrix, mut out) = ([1.0, 2.0, 3.0, -4.0], [0.0; 4]);
    let mut bound = finite("logs")?.bind(&[(&matrix[..], &[2, 2]).into()])?;
    let made = said(bound.call(&[(&matrix).into()], &mut [(&mut out).into()]));
    assert!(made.contains("`log(-4.0)` is NaN at program:5:"), "{made}");
    assert!(said(finite("short")?.call(&[Arg::F32(0.0)])).contains("`1.0 / 0.0` is inf"));
    Ok(())
}

#[test]
fn what_a_call_prints_it_prints_once() -> Result<()> {
    let lines = Arc::new(Mutex::new(Vec::new()));
    let taken = lines.clone();
    let text = "def f(x: f64) -> f64 = { print \"x =\", x; 1.0 / x }";
    let mut session = compiled(text, Request::Value, Engine::Cranelift)?.session();
    session.set_printer(move |line| taken.lock().unwrap().push(line.to_string()));
    assert!(said(session.call(&[0.0.into()])).contains("`1.0 / 0.0` is inf"));
    assert_eq!(*lines.lock().unwrap(), ["x = 0.0"]);
    Ok(())
}

#[test]
fn arguments_by_name_are_those_in_order() -> Result<()> {
    let text = "def f[n](x: [n]f64, scale: f64, k: i64) -> f64 = scale * x[k]";
    let gradient = Model::from_text(text)?.function("f")?.value_and_gradient()?;
    let x = [1.0, 2.0, 3.0];
    let expected = gradient.call(&[(&x).into(), 0.5.into(), 2.into()])?;
    let (x, scale, k) = (("x", Arg::from(&x)), ("scale", 0.5.into()), ("k", Arg::size(2)));
    for args in [[x, scale, k], [k, x, scale], [scale, k, x]] {
        assert_eq!(gradient.call_named(&args)?, expected);
    }
    let wrong: [(&[(&str, Arg<'_>)], &str); 4] = [
        (&[x, scale], "no argument for `k`"),
        (&[x, scale, k, x], "`x` is given twice"),
        (&[x, scale, ("i", 2.into())], "the function has no parameter `i`"),
        (&[x, scale, k, ("n", 3.into())], "the function has no parameter `n`"),
    ];
    for (args, expected) in wrong {
        let error = gradient.call_named(args).unwrap_err();
        assert_eq!(error.code(), Some("A01"));
        assert!(error.to_string().contains(expected), "{error}");
    }
    Ok(())
}

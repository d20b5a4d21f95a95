//! The code of typed functions: which engine runs, waiting for it, and choosing it.
#![cfg(all(feature = "macros", feature = "program"))]

use jut::{Engine, Error, JacobianMode, Request, differentiable};

mod model {
    jut::program! {
        def energy[n](x: [n]f64) -> f64 = sum (v <- x) { v * v * v }
        def chosen(x: f64) -> f64 = sin(x)
    }
}

#[differentiable]
fn energy(x: &[f64]) -> f64 {
    x.iter().map(|v| v * v * v).sum()
}

/// The engine with which code begins.
fn first() -> Engine {
    match Engine::default() {
        Engine::Tiered => Engine::Cranelift,
        other => other,
    }
}

#[test]
fn code_is_that_of_the_typed_functions() {
    let (value, gradient) = energy::value_and_gradient(&[1.0, 2.0]).unwrap();
    let code = energy::compiled(Request::ValueAndGradient).unwrap();
    assert_eq!(code.engine(), first());
    assert_eq!(code.outputs().count(), 2);
    code.prewarm();
    // LLVM's code where it is built in, with the same bits.
    let last = if Engine::default() == Engine::Tiered { Engine::Llvm } else { first() };
    assert_eq!(energy::compiled(Request::ValueAndGradient).unwrap().engine(), last);
    assert_eq!(energy::value_and_gradient(&[1.0, 2.0]).unwrap(), (value, gradient));
    // It may be there before the first call, also of a program of the language.
    model::energy::compiled(Request::Gradient).unwrap().prewarm();
    assert_eq!(model::energy::gradient(&[1.0, 2.0]).unwrap(), [3.0, 12.0]);
}

#[test]
fn what_no_typed_function_calls_is_an_error() {
    for request in [Request::Directional, Request::Jacobian(JacobianMode::Forward)] {
        let error = energy::compiled(request).map(|_| ()).unwrap_err().to_string();
        assert!(error.contains("no typed function"), "{error}");
    }
    // A number has no gradient of an array.
    assert_eq!(listed::compiled(Request::Gradient).map(|_| ()).unwrap_err().code(), Some("J802"));
}

#[differentiable]
fn listed(x: f64) -> Vec<f64> {
    vec![x; 2]
}

#[differentiable]
fn interpreted(x: f64) -> f64 {
    x * x
}

#[test]
fn an_engine_is_chosen_before_the_first_call() {
    interpreted::configure(|f| f.engine(Engine::Interpreter)).unwrap();
    assert_eq!(interpreted::gradient(3.0).unwrap(), 6.0);
    for request in [Request::Value, Request::Gradient, Request::Jvp] {
        assert_eq!(interpreted::compiled(request).unwrap().engine(), Engine::Interpreter);
    }
    model::chosen::configure(|f| f.engine(Engine::Interpreter)).unwrap();
    assert_eq!(model::chosen::compiled(Request::Value).unwrap().engine(), Engine::Interpreter);
    // What is asked for otherwise is as it was.
    let other = interpreted::function().unwrap().gradient().unwrap();
    assert_eq!(other.engine(), first());
}

#[differentiable]
fn limited(n: usize, x: f64) -> f64 {
    let mut v = vec![x; n];
    for i in 1..n {
        v[i] = v[i - 1].sin();
    }
    v[n - 1]
}

#[test]
fn memory_is_limited() {
    limited::configure(|f| f.memory_limit(1 << 16)).unwrap();
    assert_eq!(limited::value(100_000, 0.5).unwrap_err().code(), Some("R06"));
    assert_eq!(limited::value(1, 0.5).unwrap(), 0.5);
}

#[differentiable]
fn twice(x: f64) -> f64 {
    2.0 * x
}

#[test]
fn what_is_compiled_is_settled() {
    twice::value(1.0).unwrap();
    let late = twice::configure(|f| f.engine(Engine::Interpreter));
    assert!(matches!(&late, Err(Error::Request(said)) if said.contains("twice")), "{late:?}");
    assert_eq!(twice::compiled(Request::Gradient).unwrap().engine(), first());
}

#[differentiable]
fn first_of<const N: usize>(x: &[f64; N]) -> f64 {
    x[0]
}

#[test]
fn functions_of_lengths_have_one_code() {
    first_of::configure(|f| f.engine(Engine::Interpreter)).unwrap();
    assert_eq!(first_of::gradient(&[1.0, 2.0]).unwrap(), [1.0, 0.0]);
    assert_eq!(first_of::value(&[1.5]).unwrap(), first_of(&[1.5]));
    assert_eq!(first_of::compiled(Request::Gradient).unwrap().engine(), Engine::Interpreter);
}

#[differentiable]
fn growth(x: f64, years: f64) -> f64 {
    let rate = (x - 1.0).ln(); // GROWTH
    (rate * years).exp()
}

#[test]
fn results_that_are_not_finite_are_errors_in_rust_if_they_shall_be() {
    growth::configure(|function| function.finite(true)).unwrap();
    let years = 2.0;
    assert!(growth::gradient(1.5, years).is_ok());
    let place = format!("`log(-0.5)` is NaN at {}:{}:26", file!(), line_of("// GROWTH"));
    // The first call of a derivative, and those behind it.
    for _ in 0..2 {
        let error = growth::value_and_gradient(0.5, years).unwrap_err();
        assert_eq!(error.code(), Some("R10"));
        assert!(error.to_string().contains(&place), "{error}");
        assert!(growth::value_and_gradient(1.5, years).is_ok());
    }
    // .. and what is asked for by the function says the same.
    let gradient = growth::function().unwrap().finite(true).gradient().unwrap();
    let error = gradient.call(&[0.5.into(), years.into()]).unwrap_err();
    assert!(error.to_string().contains(&place), "{error}");
}

/// A line of this file, from 1.
fn line_of(mark: &str) -> usize {
    let text = include_str!("typed_code.rs");
    1 + text.lines().position(|line| line.ends_with(mark)).unwrap()
}

#[differentiable]
fn many(x: &[f64], a: f64) -> f64 {
    let mut s = 0.0;
    for v in x {
        s += a / v; // SUM
    }
    let root = f64::sqrt(s); // ROOT
    root + x.iter().map(|v| v.powf(a)).sum::<f64>() // POWER
}

#[test]
fn operations_calls_and_methods_have_places() {
    let gradient = many::function().unwrap().finite(true).value().unwrap();
    let said = |x: &[f64], a: f64| gradient.call(&[x.into(), a.into()]).unwrap_err().to_string();
    for (x, a, what, mark, column) in [
        (&[1.0, 0.0][..], 1.0, "`1.0 / 0.0` is inf", "// SUM", 14),
        (&[-1.0], 1.0, "`sqrt(-1.0)` is NaN", "// ROOT", 16),
        (&[-1e-300, 1e-300], 1e300, "", "// SUM", 14),
        (&[1e300], 1.5, "`pow(1e300, 1.5)` is inf", "// POWER", 31),
    ] {
        let said = said(x, a);
        let place = format!("{}:{}:{column}", file!(), line_of(mark));
        assert!(said.contains(what) && said.ends_with(&place), "{said}, not {what} at {place}");
    }
}

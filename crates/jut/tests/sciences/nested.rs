//! Second derivatives of a Rust function by its text, in all nestings, and on all engines.

use super::AT;
use jut::{Arg, Engine, Function, Model, Request, Value};

/// A tangent.
const ALONG: [f64; 6] = [0.5, -0.25, 1.0, 0.75, -1.5, 0.125];

/// The Hessian times a tangent: forward over reverse, reverse over forward, reverse over reverse; and the product with the tangent once more, forward
/// over forward.
const NESTINGS: &str = "
def nested_jr[n](x: [n]f64, d: [n]f64) -> [n]f64 = {
  (g, h) = jvp(grad(F))(x, d)
  h
}
def nested_rj[n](x: [n]f64, d: [n]f64) -> [n]f64 = grad(fn (y) -> directional(F)(y, d))(x)
def nested_rr[n](x: [n]f64, d: [n]f64) -> [n]f64 = {
  (g, h) = vjp(grad(F))(x, d)
  h
}
def nested_jj[n](x: [n]f64, d: [n]f64) -> f64 = directional(fn (y) -> directional(F)(y, d))(x, d)
";

/// What finds something by halving: its first derivative is that of the steps that it took, which are others nearby.
const JUMPS: [&str; 1] = ["bisected"];

/// The engines that are built in.
const ENGINES: &[Engine] = &[
    Engine::Interpreter,
    Engine::Cranelift,
    #[cfg(feature = "llvm")]
    Engine::Llvm,
    #[cfg(feature = "mlir")]
    Engine::Mlir,
];

/// The numbers that a function gives at [`AT`], by the values of the session.
fn numbers(function: Function, engine: Engine, request: Request, args: &[Arg<'_>]) -> Vec<f64> {
    let compiled = function.engine(engine).compile(request).unwrap();
    let mut session = compiled.session();
    let results = session.call(args).unwrap();
    let all = (0..).map_while(|k| results.value(k));
    all.flat_map(|value| match value {
        Value::F64(x) => vec![x],
        Value::F64s(array) => array.data,
        other => panic!("{other:?} is no number"),
    })
    .collect()
}

fn bits(numbers: &[f64]) -> Vec<u64> {
    numbers.iter().map(|x| x.to_bits()).collect()
}

/// All nestings agree with each other and with differences of the gradient, and all engines in value, gradient and second derivatives.
pub(crate) fn nested(
    name: &str,
    gradient: fn(&[f64]) -> jut::Result<Vec<f64>>,
    text: fn() -> jut::Result<String>,
) {
    let text = text().unwrap();
    let last = text.rsplit("def ").next().and_then(|rest| rest.split(['(', '[']).next()).unwrap();
    let model = Model::from_text(&format!("{text}{}", NESTINGS.replace('F', last)))
        .unwrap_or_else(|e| panic!("{name}: {e}"));
    let both = [Arg::from(&AT), Arg::from(&ALONG)];
    let at = |function: &str, engine: Engine| {
        numbers(model.function(function).unwrap(), engine, Request::Value, &both)
    };
    let second = at("nested_jr", Engine::Interpreter);
    let h = 1e-5;
    let moved = |by: f64| {
        let x: Vec<f64> = AT.iter().zip(ALONG).map(|(x, d)| x + by * d).collect();
        gradient(&x).unwrap()
    };
    let size = second.iter().fold(1.0_f64, |s, v| s.max(v.abs()));
    let near = |a: &[f64], b: &[f64], within: f64, what: &str| {
        assert_eq!(a.len(), b.len(), "{name}: {what}");
        for (a, b) in a.iter().zip(b) {
            assert!((a - b).abs() <= within * size, "{name}, {what}: {a} for {b}");
        }
    };
    let differences: Vec<f64> =
        moved(h).iter().zip(moved(-h)).map(|(a, b)| (a - b) / (2.0 * h)).collect();
    if !JUMPS.contains(&name) {
        near(&second, &differences, 1e-4, "differences");
    }
    near(&at("nested_rj", Engine::Interpreter), &second, 1e-10, "reverse over forward");
    near(&at("nested_rr", Engine::Interpreter), &second, 1e-10, "reverse over reverse");
    let twice: f64 = second.iter().zip(ALONG).map(|(h, d)| h * d).sum();
    near(&at("nested_jj", Engine::Interpreter), &[twice], 1e-9, "forward over forward");
    let first = |engine: Engine| {
        numbers(model.function(last).unwrap(), engine, Request::ValueAndGradient, &both[..1])
    };
    let by_interpreter = bits(&first(ENGINES[0]));
    assert_eq!(bits(&first(Engine::Cranelift)), by_interpreter, "{name} by Cranelift");
    for &engine in &ENGINES[1..] {
        assert_eq!(bits(&at("nested_jr", engine)), bits(&second), "{name} by {engine:?}");
    }
}

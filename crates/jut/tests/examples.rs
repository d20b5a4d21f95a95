//! The example programs, against values that were not computed by automatic differentiation.

use jut::{Arg, Compiled, Engine, Model, Request, Value};
use serde_json::{Map, Value as Json};
use std::path::PathBuf;

const PROGRAMS: [&str; 11] = [
    "sin",
    "power",
    "rosenbrock",
    "neighbours",
    "logsumexp",
    "logistic",
    "mlp",
    "rnn",
    "stencil",
    "lennard_jones",
    "network",
];

fn examples() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("examples")
}

fn json(path: &str) -> Map<String, Json> {
    let text = std::fs::read_to_string(examples().join(path)).expect(path);
    serde_json::from_str(&text).expect(path)
}

/// The function of an example that has reference values, with the parameters to differentiate.
fn function(stem: &str) -> (jut::Function, Map<String, Json>) {
    let reference = json(&format!("reference/{stem}.json"));
    let model = Model::from_file(examples().join(format!("{stem}.jut"))).expect(stem);
    let wrt: Vec<&str> =
        reference["wrt"].as_array().expect("a list").iter().filter_map(Json::as_str).collect();
    let name = reference["function"].as_str().expect("a name");
    let function = model.function(name).and_then(|f| f.wrt(&wrt)).expect(stem);
    (function, reference)
}

fn arguments(compiled: &Compiled, stem: &str) -> Vec<Value> {
    let given = json(&format!("data/{stem}.json"));
    let names: Vec<String> = compiled.inputs().map(|i| i.name.to_string()).collect();
    let mut known = given.clone();
    known.retain(|key, _| names.contains(key));
    compiled.read_json(&known).expect(stem)
}

fn call(compiled: &Compiled, args: &[Value]) -> Vec<Value> {
    let args: Vec<Arg<'_>> = args.iter().map(Arg::from).collect();
    compiled.call(&args).unwrap_or_else(|e| panic!("{e}"))
}

/// All numbers in nested lists, in order.
fn flat(json: &Json) -> Vec<f64> {
    match json {
        Json::Array(items) => items.iter().flat_map(flat).collect(),
        other => vec![other.as_f64().expect("a number")],
    }
}

fn distance(have: &[f64], want: &[f64]) -> f64 {
    assert_eq!(have.len(), want.len());
    let scale = want.iter().fold(0.0f64, |m, w| m.max(w.abs()));
    let worst = have.iter().zip(want).fold(0.0f64, |m, (h, w)| m.max((h - w).abs()));
    worst / scale.max(f64::MIN_POSITIVE)
}

#[test]
fn values_and_gradients_agree_with_the_reference_to_1e_12() {
    for engine in [Engine::Interpreter, Engine::Cranelift] {
        for policy in [jut::Policy::Default, jut::Policy::StoreAll] {
            for stem in PROGRAMS {
                let (function, reference) = function(stem);
                let compiled = function
                    .engine(engine)
                    .policy(policy)
                    .value_and_gradient()
                    .unwrap_or_else(|e| panic!("{stem}: {e}"));
                let results = call(&compiled, &arguments(&compiled, stem));
                for (output, value) in compiled.outputs().zip(&results) {
                    let want = match output.role {
                        jut::Role::Value => flat(&reference["value"]),
                        jut::Role::Derivative => flat(&reference["gradient"][output.name]),
                    };
                    let off = distance(&value.floats(), &want);
                    assert!(off <= 1e-12, "{stem} {}: off by {off:e} ({engine:?})", output.name);
                }
            }
        }
    }
}

#[test]
fn native_code_and_the_interpreter_give_the_same_bits() {
    for stem in PROGRAMS {
        for product in [
            Request::Value,
            Request::Gradient,
            Request::ValueAndGradient,
            Request::Jvp,
            Request::Vjp,
        ] {
            let (function, _) = function(stem);
            let native = function.compile(product).unwrap_or_else(|e| panic!("{stem}: {e}"));
            let slow = function.engine(Engine::Interpreter).compile(product).expect(stem);
            let mut args = json(&format!("data/{stem}.json"));
            // Tangents and cotangents: some numbers in the shape of the values.
            for input in native.inputs().filter(|i| i.role == jut::Role::Derivative) {
                let of = args.get(input.name.trim_end_matches('\''));
                let direction = of.map_or(Json::from(0.75), perturbed);
                args.insert(input.name.to_string(), direction);
            }
            let args = native.read_json(&args).unwrap_or_else(|e| panic!("{stem}: {e}"));
            let (fast, slow) = (call(&native, &args), call(&slow, &args));
            assert_eq!(fast.len(), slow.len());
            for ((a, b), output) in fast.iter().zip(&slow).zip(native.outputs()) {
                assert!(a.same_bits(b), "{stem} {product:?} {}: {a:?} {b:?}", output.name);
            }
        }
    }
}

fn perturbed(json: &Json) -> Json {
    match json {
        Json::Array(items) => items.iter().map(perturbed).collect(),
        other => Json::from(0.5 - 0.3 * other.as_f64().unwrap_or(0.0)),
    }
}

#[test]
fn a_gradient_is_the_transpose_of_the_derivative_of_every_example() {
    for stem in PROGRAMS {
        let (function, _) = function(stem);
        let (jvp, vjp) = (function.jvp().expect(stem), function.vjp().expect(stem));
        let mut args = json(&format!("data/{stem}.json"));
        let mut tangents = Vec::new();
        for input in jvp.inputs().filter(|i| i.role == jut::Role::Derivative) {
            let tangent = perturbed(&args[input.name.trim_end_matches('\'')]);
            tangents.extend(flat(&tangent));
            args.insert(input.name.to_string(), tangent);
        }
        let forward = call(&jvp, &jvp.read_json(&args).expect(stem));
        args.retain(|key, _| !key.ends_with('\''));
        let cotangent = vjp.inputs().find(|i| i.role == jut::Role::Derivative).expect(stem);
        args.insert(cotangent.name.to_string(), Json::from(0.75));
        let reverse = call(&vjp, &vjp.read_json(&args).expect(stem));
        let forward = 0.75 * forward[1].floats()[0];
        let reverse: Vec<f64> = reverse[1..].iter().flat_map(Value::floats).collect();
        let reverse: f64 = reverse.iter().zip(&tangents).map(|(g, t)| g * t).sum();
        let scale = forward.abs().max(1e-3);
        assert!((forward - reverse).abs() <= 1e-12 * scale, "{stem}: {forward} {reverse}");
    }
}

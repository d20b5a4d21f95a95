//! Functions as people write them, taken from where derivatives are wanted: optimisation, physics, robots, finance, statistics,
//! pharmacokinetics. The plain call and the compiled value agree (to the bit where the system's functions are not called), and
//! gradients are those of a formula or of central differences.
#![cfg(feature = "macros")]
// The functions are written in every way that Rust allows.
#![allow(clippy::all, dead_code)]

mod finance;
mod optimisation;
mod physics;
mod robots;
mod single;
mod solvers;
mod statistics;

/// Central differences of a function of many numbers.
fn differences(f: impl Fn(&[f64]) -> f64, x: &[f64]) -> Vec<f64> {
    crate::central::differences(f, x, 1e-2)
}

/// The numbers are near each other, as far as differences tell.
#[track_caller]
fn close(a: &[f64], b: &[f64], what: &str) {
    assert_eq!(a.len(), b.len(), "{what}");
    let scale = a.iter().chain(b).fold(1.0_f64, |s, v| s.max(v.abs()));
    for (x, y) in a.iter().zip(b) {
        assert!((x - y).abs() <= 1e-5 * scale, "{what}: {a:?} and {b:?}");
    }
}

/// The same but for the last places, in which the system's functions and jut's may differ.
#[track_caller]
fn near(a: f64, b: f64, what: &str) {
    assert!((a - b).abs() <= 1e-12 * (1.0 + b.abs()), "{what}: {a:?} and {b:?}");
}

/// Value, gradient and second derivatives have the same bits, whatever runs them.
#[track_caller]
fn on_every_engine(function: &jut::Function, x: &[f64]) {
    for request in [jut::Request::ValueAndGradient, jut::Request::Hessian] {
        let on = |engine: jut::Engine| {
            let compiled = function.clone().engine(engine).compile(request).expect(function.name());
            compiled.call(&[x.into()]).expect(function.name())
        };
        let meant = on(jut::Engine::Interpreter);
        for engine in jut::Engine::all().filter(|engine| engine.is_built_in()) {
            let same = on(engine).iter().zip(&meant).all(|(a, b)| a.same_bits(b));
            assert!(same, "{} by {}", function.name(), engine.name());
        }
    }
}

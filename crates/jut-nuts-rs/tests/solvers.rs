//! The example, draws by name, and what goes wrong.

use jut_nuts_rs::{Draw, LogDensity};
use nuts_rs::rand::{SeedableRng, rngs::StdRng};
use nuts_rs::{Chain, CpuLogpFunc, CpuMath, DiagNutsSettings, HasDims, LogpError, Model};
use nuts_rs::{Settings, Storable, Value};
use std::error::Error;

#[path = "../examples/posterior.rs"]
mod posterior;

#[test]
fn four_chains_find_a_line() {
    posterior::main().unwrap();
}

#[jut::differentiable(wrt(mean, scales))]
fn shaped(mean: f64, scales: &[f64; 2], limit: f64) -> f64 {
    assert!(mean < limit, "beyond the limit");
    -0.5 * (mean * mean + scales[0] * scales[0] + 4.0 * scales[1] * scales[1])
}

#[test]
fn draws_are_stored_by_the_names_of_parameters() {
    let density = LogDensity::new(shaped::flat(0.5, &[1.0, 2.0], 9.0).unwrap());
    assert_eq!(density.dim(), 3);
    let dims = density.dim_sizes();
    assert_eq!((dims["scales"], dims["unconstrained_parameter"]), (2, 3));
    assert_eq!(Draw::names(&density), ["mean", "scales"]);
    assert_eq!(Draw::dims(&density, "mean"), [] as [&str; 0]);
    assert_eq!(Draw::dims(&density, "scales"), ["scales"]);
    let mut draw = Draw(vec![1.0, 2.0, 3.0]);
    let stored = draw.get_all(&density);
    assert_eq!(stored[0], ("mean", Some(Value::ScalarF64(1.0))));
    assert_eq!(stored[1], ("scales", Some(Value::F64(vec![2.0, 3.0]))));
}

#[test]
fn chains_begin_around_the_start() {
    let mut random = StdRng::seed_from_u64(1);
    let density = LogDensity::new(shaped::flat(0.5, &[1.0, 2.0], 9.0).unwrap());
    let mut at = [0.0; 3];
    density.init_position(&mut random, 0, &mut at).unwrap();
    assert_eq!(at, [0.5, 1.0, 2.0]);
    let spread = density.spread(0.25);
    for _ in 0..100 {
        spread.init_position(&mut random, 0, &mut at).unwrap();
        assert!(at.iter().zip([0.5, 1.0, 2.0]).all(|(x, start)| (x - start).abs() <= 0.25));
    }
    assert_ne!(at, [0.5, 1.0, 2.0]);
}

/// Where an assertion fails the step is a divergence, and the chain goes on.
#[test]
fn a_point_that_is_refused_is_a_divergence() {
    let density = LogDensity::new(shaped::flat(0.05, &[0.1, 0.1], 0.1).unwrap());
    let failure = density.clone().logp(&[1.0, 0.0, 0.0], &mut [0.0; 3]).unwrap_err();
    assert!(failure.is_recoverable());
    assert!(failure.to_string().contains("beyond the limit at"), "{failure}");
    let mut random = StdRng::seed_from_u64(3);
    let settings = DiagNutsSettings::default();
    let mut chain = settings.new_chain(0, CpuMath::new(density), &mut random).unwrap();
    chain.set_position(&[0.05, 0.1, 0.1]).unwrap();
    for _ in 0..200 {
        let (draw, _) = chain.draw().unwrap();
        assert!(draw[0] < 0.1);
    }
}

#[jut::differentiable(wrt(x))]
fn wrong(x: f64, table: &[f64]) -> f64 {
    let k = if x > 0.5 { table.len() } else { 0 };
    -x * x * table[k]
}

/// Any other error ends the chain.
#[test]
fn a_mistake_ends_the_chain() {
    let density = LogDensity::new(wrong::flat(0.0, &[1.0]).unwrap());
    let failure = density.clone().logp(&[1.0], &mut [0.0]).unwrap_err();
    assert!(!failure.is_recoverable());
    assert!(failure.source().is_some_and(|source| source.to_string().starts_with("R01")));
    let mut random = StdRng::seed_from_u64(1);
    let settings = DiagNutsSettings::default();
    let mut chain = settings.new_chain(0, CpuMath::new(density), &mut random).unwrap();
    assert!((0..200).any(|_| chain.draw().is_err()) || chain.set_position(&[1.0]).is_err());
}

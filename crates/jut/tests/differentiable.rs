//! Ordinary Rust functions with the attribute `differentiable`: the plain call and the compiled value have the same
//! bits, gradients are those of central differences, and what panics in Rust is an error.
#![cfg(feature = "macros")]
// The functions are written in every way that Rust allows.
#![allow(clippy::all)]

/// Functions of a slice at some: values as Rust has them, gradients as differences.
macro_rules! agree {
    ($($f:ident at $($x:expr),+;)*) => {$($({
        let x: &[f64] = &$x;
        $crate::same($f::value(x).unwrap(), $f(x));
        $crate::close(&$f::gradient(x).unwrap(), &$crate::differences($f, x));
    })+)*};
}

#[path = "differentiable/asked.rs"]
mod asked;
#[path = "differentiable/calls.rs"]
mod calls;
#[path = "support/differences.rs"]
mod central;
#[path = "differentiable/chains.rs"]
mod chains;
#[path = "differentiable/changed.rs"]
mod changed;
#[path = "differentiable/closures.rs"]
mod closures;
#[path = "differentiable/early.rs"]
mod early;
#[path = "differentiable/enums.rs"]
mod enums;
#[path = "differentiable/failures.rs"]
mod failures;
#[path = "differentiable/functions.rs"]
mod functions;
#[path = "differentiable/generated.rs"]
mod generated;
#[path = "differentiable/generic.rs"]
mod generic;
#[path = "differentiable/grown.rs"]
mod grown;
#[path = "differentiable/habits.rs"]
mod habits;
#[path = "differentiable/inferred.rs"]
mod inferred;
#[path = "differentiable/kept.rs"]
mod kept;
#[path = "differentiable/lengths.rs"]
mod lengths;
#[path = "differentiable/lists.rs"]
mod lists;
#[path = "differentiable/meaning.rs"]
mod meaning;
#[path = "differentiable/modules.rs"]
mod modules;
#[path = "differentiable/names.rs"]
mod names;
#[path = "differentiable/narrow.rs"]
mod narrow;
#[path = "differentiable/numbers.rs"]
mod numbers;
#[path = "differentiable/options.rs"]
mod options;
#[path = "differentiable/overloaded.rs"]
mod overloaded;
#[path = "differentiable/parameters.rs"]
mod parameters;
#[path = "differentiable/parted.rs"]
mod parted;
#[path = "differentiable/patterns.rs"]
mod patterns;
#[path = "differentiable/relisted.rs"]
mod relisted;
#[path = "differentiable/restated.rs"]
mod restated;
#[path = "differentiable/results.rs"]
mod results;
#[path = "differentiable/rows.rs"]
mod rows;
#[path = "differentiable/sorted.rs"]
mod sorted;
#[path = "differentiable/stacked.rs"]
mod stacked;
#[path = "differentiable/structs.rs"]
mod structs;

/// Central differences of a function of many numbers.
pub fn differences(f: impl Fn(&[f64]) -> f64, x: &[f64]) -> Vec<f64> {
    central::differences(f, x, 1.0)
}

/// The numbers are near each other.
pub fn close(a: &[f64], b: &[f64]) {
    assert_eq!(a.len(), b.len());
    for (x, y) in a.iter().zip(b) {
        assert!((x - y).abs() <= 2e-6 * (1.0 + x.abs().max(y.abs())), "{a:?} and {b:?}");
    }
}

/// The numbers are the same to the bit, NaNs aside.
#[track_caller]
pub fn same(a: f64, b: f64) {
    assert!(a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan()), "{a:?} and {b:?}");
}

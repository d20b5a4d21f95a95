//! Ordinary Rust functions with the attribute `differentiable`: the plain call and the compiled value have the same
//! bits, gradients are those of central differences, and what panics in Rust is an error.
#![cfg(feature = "macros")]
// The functions are written in every way that Rust allows.
#![allow(clippy::all)]

/// Functions of a slice at some: values as Rust has them, gradients as differences.
macro_rules! agree {
    ($($f:ident at $($x:expr),+;)*) => {$($({
        let x: &[f64] = &$x;
        $crate::differentiable::same($f::value(x).unwrap(), $f(x));
        $crate::differentiable::close(&$f::gradient(x).unwrap(), &$crate::differentiable::differences($f, x));
    })+)*};
}

mod asked;
mod at_a_point;
mod calls;
mod chains;
mod changed;
mod chunked;
mod closures;
mod early;
mod enums;
mod failures;
mod few_bits;
mod functions;
mod generated;
mod generic;
mod grown;
mod habits;
mod inferred;
mod integers;
mod into;
mod kept;
mod lengths;
mod lists;
mod meaning;
mod modules;
mod names;
mod narrow;
mod numbers;
mod options;
mod orders;
mod overloaded;
mod parameters;
mod parted;
mod patterns;
mod referred;
mod relisted;
mod restated;
mod results;
mod returned;
mod rows;
mod searches;
mod sorted;
mod stacked;
mod stepped;
mod structs;
mod surely;
mod tables;
mod tuples;
mod typed;
mod uneven;

/// Central differences of a function of many numbers.
pub fn differences(f: impl Fn(&[f64]) -> f64, x: &[f64]) -> Vec<f64> {
    crate::central::differences(f, x, 1.0)
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

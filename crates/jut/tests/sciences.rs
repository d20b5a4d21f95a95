//! Functions as they are written in the sciences: each is accepted as it stands, has its value, and the derivatives of differences. Second
//! derivatives are the same in all nestings of the two modes, and the bits of all engines are.
#![cfg(feature = "macros")]
// The functions are written in every way that Rust allows.
#![allow(clippy::all)]

/// Compares functions of a list with plain Rust.
macro_rules! check {
    ($($name:ident)*) => {
        $(
            crate::sciences::compared(stringify!($name), $name, $name::value_and_gradient);
            crate::sciences::nested(stringify!($name), $name::gradient, $name::text);
        )*
    };
}
use check;
use nested::nested;

mod nested;

mod fields;
mod markets_and_doses;
mod mechanics;
mod signals_and_data;

/// A value and a gradient, by compiled code.
type Compiled = fn(&[f64]) -> jut::Result<(f64, Vec<f64>)>;

const AT: [f64; 6] = [1.3, 0.72, 2.13, -0.41, 0.95, 3.27];

/// The value is that of Rust, but for the last places of functions such as `x.exp()`; the derivatives are near those of differences.
fn compared(name: &str, plain: fn(&[f64]) -> f64, compiled: Compiled) {
    let expected = plain(&AT);
    let (value, gradient) = compiled(&AT).unwrap_or_else(|e| panic!("{name}: {e}"));
    assert!(
        (value - expected).abs() <= 1e-13 * expected.abs().max(1e-3),
        "{name}: {value} for {expected}"
    );
    assert_eq!(gradient.len(), AT.len());
    for (i, derivative) in gradient.iter().enumerate() {
        let h = 1e-5 * AT[i].abs().max(1.0);
        let moved = |by: f64| {
            let mut at = AT;
            at[i] += by;
            plain(&at)
        };
        let expected = (moved(h) - moved(-h)) / (2.0 * h);
        let size = 1.0 + derivative.abs().max(expected.abs());
        assert!(
            (derivative - expected).abs() <= 2e-5 * size,
            "{name}: {derivative} for {expected}"
        );
    }
}

//! The inverse of the error function.
//!
//! **erfinv** starts from a polynomial in `w = -log(1 - x^2)` (or in its root, near the ends) that is
//! right to about seven digits, and makes one step of Halley's method, which triples them. Beyond
//! one half the step works on the complement, whose digits do not cancel.
//!
//! The coefficients are printed by `runtime/tools/coefficients.py`.

use super::gamma::polynomial;

/// erfinv(x) / x in powers of w - 2.5, for w in 0 .. 5.
const MIDDLE: [f64; 9] = [
    1.501409351110792,
    0.2466407662672499,
    -0.004177346517287056,
    -0.001253758884835318,
    0.00021831297984101024,
    -4.38034671412375e-06,
    -3.454779514269784e-06,
    3.4222470899345687e-07,
    2.2605977741170975e-08,
];

/// erfinv(x) / x in powers of sqrt(w) - 4.15, for sqrt(w) in 2.2 .. 6.1.
const TAIL: [f64; 15] = [
    3.991233353230688,
    1.0098164798051,
    0.0009085950743839053,
    -0.000698446333012176,
    0.0002474318486915971,
    -8.349943163492135e-05,
    3.288845796645734e-05,
    -1.2280785680243325e-05,
    7.193695093294188e-06,
    -7.160546384339381e-06,
    3.5079346415684223e-06,
    -8.090541091560817e-08,
    -4.134115347271274e-07,
    7.969608426865007e-08,
    2.9854684906033473e-09,
];

/// Inverse of the error function; infinite at -1 and 1, NaN beyond.
pub fn erfinv(x: f64) -> f64 {
    let a = x.abs();
    if a >= 1.0 || a.is_nan() {
        return if a == 1.0 { x / 0.0 } else { f64::NAN };
    }
    let w = -libm::log((1.0 - a) * (1.0 + a));
    let start = match w {
        w if w < 5.0 => polynomial(&MIDDLE, w - 2.5),
        w => polynomial(&TAIL, libm::sqrt(w) - 4.15),
    };
    let r = start * a;
    let off = if a <= 0.5 { libm::erf(r) - a } else { (1.0 - a) - libm::erfc(r) };
    let step = off / (core::f64::consts::FRAC_2_SQRT_PI * libm::exp(-r * r));
    (r - step / (1.0 + r * step)).copysign(x)
}

//! The derivative of the logarithm of the gamma function.
//!
//! It has a zero at 1.4616.., so on 1 .. 2 it is the distance from that zero times a
//! polynomial over its first two poles; recurrence leads there from below 10, the asymptotic series
//! takes over above, and the reflection formula serves negative arguments.
//!
//! The coefficients are printed by `runtime/tools/coefficients.py`.

use super::logarithm::log;
use super::{in_halves, series};
use crate::math::number::Number;
use core::f64::consts::PI;

/// pi / tan(pi d) for |d| <= 1/2; infinite at 0.
fn pi_cot_pi(d: f64) -> f64 {
    match d.abs() {
        a if a <= 0.25 => PI / libm::tan(PI * d),
        a => (PI * libm::tan(PI * (0.5 - a))).copysign(d),
    }
}

/// The zero of digamma, in two parts.
const ROOT: (f64, f64) = (1.4616321449683622, 9.549995429965697e-17);

/// digamma(x) x (x + 1) / (x - root) on 1 .. 2, in powers of x - 1.5.
const DIGAMMA: [f64; 16] = [
    3.5664595351193733,
    2.2156206743218547,
    0.1585805068089419,
    -0.017975945770502818,
    0.00313050872354027,
    -0.0006580250111822373,
    0.000153318635029903,
    -3.803566875159173e-05,
    9.828215011429511e-06,
    -2.610590046516723e-06,
    7.069415473337133e-07,
    -1.9407794353623878e-07,
    5.366604026726816e-08,
    -1.4989489961443563e-08,
    4.574817662823142e-09,
    -1.2906322738820656e-09,
];

/// From here on it is the asymptotic series.
const LARGE: f64 = 10.0;

/// Numerator and denominator of what it is on 1 .. 2.
#[inline(always)]
fn between<N: Number>(y: N) -> (N, N) {
    let distance = (y - N::of(ROOT.0)) - N::of(ROOT.1);
    (distance * in_halves(y - N::of(1.5), &DIGAMMA), y * (y + N::of(1.0)))
}

/// log(x) - 1/(2x) - sum of B(2j) / (2j x^2j), with the logarithm and the reciprocal.
#[inline(always)]
fn of_large<N: Number>(log: N, t: N) -> N {
    const TERMS: [f64; 8] = [
        1.0 / 12.0,
        -1.0 / 120.0,
        1.0 / 252.0,
        -1.0 / 240.0,
        1.0 / 132.0,
        -691.0 / 32760.0,
        1.0 / 12.0,
        -3617.0 / 8160.0,
    ];
    let u = t * t;
    log - (N::of(0.5) * t + u * series(u, &TERMS))
}

/// digamma x.
#[inline(always)]
pub fn digamma<N: Number>(x: N) -> (N, N::Truth) {
    let (one, two) = (N::of(1.0), N::of(2.0));
    // Down, or up, once, to 1 .. 2.
    let (mut y, mut sum) = (x, N::of(0.0));
    for _ in 0..8 {
        let (above, down) = (y.above(two), y - one);
        sum = N::select(above, sum + one / down, sum);
        y = N::select(above, down, y);
    }
    let below = y.below(one);
    sum = N::select(below, sum - one / y, sum);
    y = N::select(below, y + one, y);
    let (p, q) = between(y);
    let large = x.at_least(N::of(LARGE));
    let quotient = N::select(large, one, p) / N::select(large, x, q);
    let (log, normal) = log(x);
    (N::select(large, of_large(log, quotient), sum + quotient), normal)
}

/// As [`digamma`] for one number, which needs fewer steps.
#[inline(always)]
pub(super) fn one_digamma(x: f64) -> f64 {
    if !(x.at_least(f64::MIN_POSITIVE) & x.at_most(f64::MAX)) {
        return rare_digamma(x);
    }
    if x >= LARGE {
        return of_large(log(x).0, 1.0 / x);
    }
    let (mut y, mut sum) = (x, 0.0);
    while y > 2.0 {
        y -= 1.0;
        sum += 1.0 / y;
    }
    if y < 1.0 {
        sum -= 1.0 / y;
        y += 1.0;
    }
    let (p, q) = between(y);
    sum + p / q
}

/// digamma x of negative numbers and where it is not finite.
#[cold]
fn rare_digamma(x: f64) -> f64 {
    if x == f64::INFINITY {
        return x;
    }
    if x.abs() < f64::MIN_POSITIVE {
        return -1.0 / x;
    }
    let d = x - libm::round(x);
    if x.is_nan() || d == 0.0 || x == f64::NEG_INFINITY {
        return f64::NAN;
    }
    one_digamma(1.0 - x) - pi_cot_pi(d)
}

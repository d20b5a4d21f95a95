//! The gamma function and its relatives.
//!
//! **polygamma** of order k > 0 is `(-1)^(k+1) k! zeta(k+1, x)`: the first terms of Hurwitz' zeta
//! function one by one, the rest by the Euler-Maclaurin formula. Every term has the same sign.
//!
//! **beta** must not go through logarithms, which would lose the digits that cancel. If an argument
//! is large, Stirling's formula gives powers of quotients `a / (a + b)`; what rounding took from a
//! quotient is known and put back as a factor near 1.

use super::straight::each::digamma;

/// Gamma function; infinite at 0 with the sign of the zero, NaN at negative integers.
pub fn gamma(x: f64) -> f64 {
    libm::tgamma(x)
}

/// Sum of c[k] t^k.
pub(super) fn polynomial(coefficients: &[f64], t: f64) -> f64 {
    coefficients.iter().rev().fold(0.0, |sum, c| sum * t + c)
}

/// The k-th derivative of [`digamma`]; NaN for k < 0. At 0 it is infinite, at negative integers
/// infinite if k is odd and NaN if it is even.
pub fn polygamma(k: i64, x: f64) -> f64 {
    if k <= 0 {
        return if k == 0 { digamma(x) } else { f64::NAN };
    }
    let odd = k & 1 == 1;
    let sum = if x > 0.0 {
        zeta(k, x)
    } else if x == 0.0 {
        if odd { f64::INFINITY } else { 1.0 / x }
    } else {
        // The sum over all integers, less the terms of 1 - x and beyond.
        let d = x - libm::round(x);
        if x.is_nan() || x == f64::NEG_INFINITY || (d == 0.0 && !odd) {
            return f64::NAN;
        }
        if d == 0.0 {
            return f64::INFINITY;
        }
        let (below, above) = if d > 0.0 { (d, 1.0 - d) } else { (1.0 + d, -d) };
        let other = zeta(k, above) - zeta(k, 1.0 - x);
        if odd { zeta(k, below) + other } else { zeta(k, below) - other }
    };
    if odd { sum } else { -sum }
}

/// k! zeta(k + 1, x) for k > 0 and x > 0.
fn zeta(k: i64, x: f64) -> f64 {
    /// B(2j) / (2j)!.
    const TERMS: [f64; 10] = [
        8.333333333333333e-2,
        -1.388888888888889e-3,
        3.306878306878307e-5,
        -8.267195767195768e-7,
        2.08767569878681e-8,
        -5.284190138687493e-10,
        1.3382536530684679e-11,
        -3.3896802963225827e-13,
        8.586062056277845e-15,
        -2.174868698558062e-16,
    ];
    if x == f64::INFINITY {
        return 0.0;
    }
    let n = k as f64;
    let s = n + 1.0;
    // Terms over the first one: (x / (x + i))^s.
    let mut sum = 0.0;
    let mut term = 1.0;
    let mut y = x;
    let mut i = 0.0;
    while y < 10.0 + s && term > 1e-18 && i < 100.0 {
        sum += term;
        i += 1.0;
        y = x + i;
        term = libm::pow(x / y, s);
    }
    // From y on. The sum over x, not to overflow before the power of x is multiplied.
    let mut rest = 0.5 / x;
    let mut factor = s / y;
    for (j, c) in TERMS.iter().enumerate() {
        rest += c * factor / x;
        let m = s + 2.0 * j as f64 + 1.0;
        factor *= (m / y) * ((m + 1.0) / y);
    }
    let rest = if term > 1e-18 { term * (y / x / n + rest) } else { 0.0 };
    let sum = sum / x + rest;
    if k > 170 {
        return sum * libm::exp(libm::lgamma(s) - n * libm::log(x));
    }
    let half = libm::floor(0.5 * n);
    libm::tgamma(s) * libm::pow(x, -half) * libm::pow(x, half - n) * sum
}

/// gamma(a) gamma(b) / gamma(a + b), exact for positive arguments; infinite where an argument is 0, NaN where one is a negative
/// integer, 0 where only the sum is one or 0.
pub fn beta(a: f64, b: f64) -> f64 {
    let (a, b) = if a < b { (b, a) } else { (a, b) };
    let c = a + b;
    if b <= 0.0 {
        return beta_of_negative(a, b, c);
    }
    if c == f64::INFINITY {
        return 0.0;
    }
    // What rounding took from the sum.
    let low = (a - (c - (c - a))) + (b - (c - a));
    if c <= 30.0 {
        // The quotient first: it neither overflows nor underflows.
        let product = gamma(a) / gamma(c) * gamma(b);
        return if low == 0.0 { product } else { product - product * (low * digamma(c)) };
    }
    // What it takes from the quotients over the sum.
    let quotient = |x: f64| {
        let h = x / c;
        (h, (libm::fma(-h, c, x) - h * low) / x)
    };
    let (h, lost) = quotient(a);
    let power = libm::pow(h, a - 0.5);
    let correction = lost * (a - 0.5) + stirling(a) - stirling(c);
    if b < 10.0 {
        let correction = correction - b * (low / c);
        return gamma(b) * power * libm::exp(b) * libm::pow(c, -b) * libm::exp(correction);
    }
    const ROOT_OF_TWO_PI: f64 = 2.5066282746310007;
    let (g, lost) = quotient(b);
    let correction = correction + lost * (b - 0.5) + stirling(b);
    ROOT_OF_TWO_PI / libm::sqrt(c) * libm::exp(correction) * power * libm::pow(g, b - 0.5)
}

/// [`beta`] where an argument is not positive; a >= b.
fn beta_of_negative(a: f64, b: f64, c: f64) -> f64 {
    let is_pole = |x: f64| x <= 0.0 && x == libm::floor(x);
    if (is_pole(a) && a != 0.0) || (is_pole(b) && b != 0.0) {
        return f64::NAN;
    }
    if a != 0.0 && b != 0.0 && is_pole(c) {
        return 0.0;
    }
    if a.abs().max(b.abs()).max(c.abs()) <= 170.0 {
        return gamma(a) / gamma(c) * gamma(b);
    }
    let ((x, p), (y, q), (z, r)) = (libm::lgamma_r(a), libm::lgamma_r(b), libm::lgamma_r(c));
    libm::exp(x - z + y) * f64::from(p * q * r)
}

/// What Stirling's formula lacks: lgamma(x) - (x - 1/2) log(x) + x - log(2 pi) / 2, for x >= 10.
fn stirling(x: f64) -> f64 {
    const TERMS: [f64; 8] = [
        1.0 / 12.0,
        -1.0 / 360.0,
        1.0 / 1260.0,
        -1.0 / 1680.0,
        1.0 / 1188.0,
        -691.0 / 360360.0,
        1.0 / 156.0,
        -3617.0 / 122400.0,
    ];
    let t = 1.0 / x;
    t * polynomial(&TERMS, t * t)
}

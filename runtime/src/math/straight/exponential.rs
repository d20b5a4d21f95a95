//! Exponential functions, and what is made of them: hyperbolic functions, sigmoids, the Gaussian.

use super::logarithm::log1p_below_2_to_50;
use super::{LN2_HI, LN2_LO, ROUND, series, upper_half};
use crate::math::number::Number;

/// The multiple of ln 2 that is nearest to x, as a float, and in the low bits of an integer.
#[inline(always)]
fn nearest_ln2<N: Number>(x: N) -> (N, N::Bits) {
    let shifted = x * N::of(core::f64::consts::LOG2_E) + N::of(ROUND);
    (shifted - N::of(ROUND), shifted.to_bits())
}

/// x = k ln 2 + hi - lo: the low bits of the first result are k.
#[inline(always)]
fn by_ln2<N: Number>(x: N) -> (N::Bits, N, N) {
    let (k, bits) = nearest_ln2(x);
    (bits, x - k * N::of(LN2_HI), k * N::of(LN2_LO))
}

/// (e^r - 1 - r) / r^2 for r up to half of ln 2, in powers of r; printed by `runtime/tools/coefficients.py`.
const TERMS: [f64; 11] = [
    0.5,
    0.1666666666666667,
    0.04166666666666667,
    0.008333333333326136,
    0.001388888888888375,
    0.00019841269874815834,
    2.480158732554432e-05,
    2.7557255406285044e-06,
    2.7557273647451087e-07,
    2.5105214474751413e-08,
    2.0914685161418067e-09,
];

/// e^r - 1 - r for r up to half of ln 2, to be added to a number near 1.
#[inline(always)]
pub(in crate::math) fn beyond_linear<N: Number>(r: N) -> N {
    r * r * series(r, &TERMS)
}

/// 2^k e^(hi - lo), for a difference of at most half of ln 2 and a k for which the result is normal.
#[inline(always)]
fn exp_of<N: Number>(k: N::Bits, hi: N, lo: N) -> N {
    let y = N::of(1.0) + (beyond_linear(hi - lo) - lo + hi);
    // Times 2^k: both are normal numbers.
    N::from_bits(y.to_bits() + (k << 52))
}

/// e^x.
#[inline(always)]
pub fn exp<N: Number>(x: N) -> (N, N::Truth) {
    let (k, hi, lo) = by_ln2(x);
    (exp_of(k, hi, lo), x.abs().at_most(N::of(708.0)))
}

/// e^(x + tail) for x from -700 to 700 and a small tail.
#[inline(always)]
pub(super) fn exp_of_sum<N: Number>(x: N, tail: N) -> N {
    let (k, bits) = nearest_ln2(x + tail);
    exp_of(bits, x - k * N::of(LN2_HI), k * N::of(LN2_LO) - tail)
}

/// 2^x.
#[inline(always)]
pub fn exp2<N: Number>(x: N) -> (N, N::Truth) {
    const LN2_UPPER: f64 = f64::from_bits(0x3fe6_2e42_f800_0000);
    const LN2_REST: f64 = core::f64::consts::LN_2 - LN2_UPPER;
    let shifted = x + N::of(ROUND);
    let f = x - (shifted - N::of(ROUND));
    // The product with ln 2, whose first part is exact.
    let high = upper_half(f);
    let low = (high - f) * N::of(core::f64::consts::LN_2) - high * N::of(LN2_REST);
    let usual = x.abs().at_most(N::of(1021.0));
    (exp_of(shifted.to_bits(), high * N::of(LN2_UPPER), low), usual)
}

/// e^x - 1 = 2^k (less + r - e), for x from -700 to 709: r, e, less, which is exact, and 2^k.
#[inline(always)]
fn expm1_parts<N: Number>(x: N) -> (N, N, N, N) {
    let (k, hi, lo) = by_ln2(x);
    let r = hi - lo;
    let c = (hi - r) - lo;
    // The square by itself: what is added to r is then rounded less often.
    let [half, beyond @ ..] = &TERMS;
    let square = r * (r * N::of(*half));
    let e = -(square + (r * r * (r * series(r, beyond)) + (c + r * c)));
    let one = N::of(1.0).to_bits();
    let power = N::from_bits(one + (k << 52));
    let inverse = N::from_bits(one - (k << 52));
    (r, e, N::of(1.0) - inverse, power)
}

/// e^x - 1 for x from -700 to 709; of zeros it is +0.
#[inline(always)]
fn expm1_up_to_709<N: Number>(x: N) -> N {
    let (r, e, less, power) = expm1_parts(x);
    // Where k may be 1 and r far below 0, the sum of the large ones is the exact one.
    let large_first = x.above(N::of(0.0)) & x.below(N::of(0.4431471805599453));
    N::select(large_first, (less + r) - e, less - (e - r)) * power
}

/// e^x - 1.
#[inline(always)]
pub fn expm1<N: Number>(x: N) -> (N, N::Truth) {
    let usual = x.at_least(N::of(-700.0)) & x.at_most(N::of(709.0));
    (expm1_up_to_709(x).copysign(x), usual)
}

/// sinh x.
#[inline(always)]
pub fn sinh<N: Number>(x: N) -> (N, N::Truth) {
    let size = x.abs();
    let small = size.below(N::of(1.0));
    let t = expm1_up_to_709(size);
    let c = N::select(small, t * t, t) / (t + N::of(1.0));
    let twice = N::select(small, N::of(2.0) * t - c, t + c);
    ((N::of(0.5) * twice).copysign(x), size.at_most(N::of(709.0)))
}

/// cosh x.
#[inline(always)]
pub fn cosh<N: Number>(x: N) -> (N, N::Truth) {
    let (e, usual) = exp(x.abs());
    (N::of(0.5) * (e + N::of(1.0) / e), usual)
}

/// tanh x.
#[inline(always)]
pub fn tanh<N: Number>(x: N) -> (N, N::Truth) {
    let size = x.abs();
    let (r, e, less, power) = expm1_parts(N::of(2.0) * size);
    let t = (less - (e - r)) * power;
    ((t / (t + N::of(2.0))).copysign(x), size.at_most(N::of(18.0)))
}

/// 1 / (1 + e^-x).
#[inline(always)]
pub fn sigmoid<N: Number>(x: N) -> (N, N::Truth) {
    let (e, usual) = exp(-x.abs());
    let one = N::of(1.0);
    (N::select(x.at_least(N::of(0.0)), one, e) / (one + e), usual)
}

/// Derivative of the sigmoid function, e^-|x| / (1 + e^-|x|)^2.
#[inline(always)]
pub fn sigmoid_slope<N: Number>(x: N) -> (N, N::Truth) {
    let (e, usual) = exp(-x.abs());
    (over_square_of_one_more(e), usual)
}

/// e / (1 + e)^2 for e from 0 to 1, where only the quotient and its divisor are rounded.
#[inline(always)]
pub(super) fn over_square_of_one_more<N: Number>(e: N) -> N {
    let one = N::of(1.0);
    let high = upper_half(one + e);
    let low = (one - high) + e;
    e / (high * high + low * (high + high + low))
}

/// e^(-x^2).
#[inline(always)]
pub fn gaussian<N: Number>(x: N) -> (N, N::Truth) {
    let high = upper_half(x);
    let (e, usual) = exp(-(high * high));
    (times_decay(e, (x - high) * (x + high)), usual)
}

/// y e^-t for a t that is at most 1e-4.
#[inline(always)]
pub(super) fn times_decay<N: Number>(y: N, t: N) -> N {
    y - y * t * (N::of(1.0) - t * (N::of(0.5) - t * N::of(1.0 / 6.0)))
}

/// log(1 + e^x).
#[inline(always)]
pub fn softplus<N: Number>(x: N) -> (N, N::Truth) {
    let (e, usual) = exp(-x.abs());
    let larger = N::select(x.above(N::of(0.0)), x, N::of(0.0));
    (larger + log1p_below_2_to_50(e), usual)
}

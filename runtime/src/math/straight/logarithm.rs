//! Logarithms.

use super::{LN2_HI, LN2_LO, series, upper_word};
use crate::math::number::Number;

const ONE: u64 = 0x3ff0_0000_0000_0000;

const LG: [f64; 7] = [
    0.6666666666666735,
    0.3999999999940942,
    0.2857142874366239,
    0.22222198432149784,
    0.1818357216161805,
    0.15313837699209373,
    0.14798198605116586,
];

/// x = 2^k (1 + f) with 1 + f between the roots of a half and of 2: k and f.
#[inline(always)]
pub(super) fn by_power_of_two<N: Number>(x: N) -> (N, N) {
    let (k, m) = by_power_of_two_from(x, 0x3fe6_a09e_0000_0000);
    (k, m - N::of(1.0))
}

/// x = 2^k m with m from the number with the bits `low`, which is between a half and 1, to twice that: k and m.
#[inline(always)]
pub(in crate::math) fn by_power_of_two_from<N: Number>(x: N, low: u64) -> (N, N) {
    let shifted = x.to_bits() + N::bits(ONE - low);
    // The exponent as a float, by way of the low bits of a large one.
    let k = N::from_bits((shifted >> 52) | N::bits(0x4330_0000_0000_0000))
        - N::of(4503599627370496.0 + 1023.0);
    let mantissa = (shifted & N::bits(0x000f_ffff_ffff_ffff)) + N::bits(low);
    (k, N::from_bits(mantissa))
}

/// Of log(1 + f), which is f - h + s (h + r): h, s and r.
#[inline(always)]
fn log_parts<N: Number>(f: N) -> (N, N, N) {
    let half_square = N::of(0.5) * f * f;
    let s = f / (N::of(2.0) + f);
    let z = s * s;
    (half_square, s, z * series(z, &LG))
}

/// log(1 + f) + k ln 2 + c, where c is small.
#[inline(always)]
fn log_of<N: Number>(k: N, f: N, c: N) -> N {
    let (half_square, s, r) = log_parts(f);
    s * (half_square + r) + ((k * N::of(LN2_LO) + c) - half_square) + f + k * N::of(LN2_HI)
}

/// Whether a logarithm's argument is a positive normal number.
#[inline(always)]
fn is_normal<N: Number>(x: N) -> N::Truth {
    x.at_least(N::of(f64::MIN_POSITIVE)) & x.at_most(N::of(f64::MAX))
}

/// log x.
#[inline(always)]
pub fn log<N: Number>(x: N) -> (N, N::Truth) {
    let (k, f) = by_power_of_two(x);
    (log_of(k, f, N::of(0.0)), is_normal(x))
}

/// The logarithm whose base has a given number over its natural logarithm, and of which 2 has another
/// logarithm, both in two parts.
#[inline(always)]
fn log_to_base<N: Number>(x: N, over: [f64; 2], of_two: [f64; 2]) -> N {
    let (k, f) = by_power_of_two(x);
    let (half_square, s, r) = log_parts(f);
    let high = upper_word(f - half_square);
    let low = f - high - half_square + s * (half_square + r);
    let value = high * N::of(over[0]);
    let y = k * N::of(of_two[0]);
    let rest = k * N::of(of_two[1]) + (low + high) * N::of(over[1]) + low * N::of(over[0]);
    let sum = y + value;
    (rest + ((y - sum) + value)) + sum
}

/// Logarithm to base 2.
#[inline(always)]
pub fn log2<N: Number>(x: N) -> (N, N::Truth) {
    (log_to_base(x, [1.4426950407214463, 1.6751713164886512e-10], [1.0, 0.0]), is_normal(x))
}

/// Logarithm to base 10.
#[inline(always)]
pub fn log10<N: Number>(x: N) -> (N, N::Truth) {
    const OVER: [f64; 2] = [0.4342944818781689, 2.5082946711645275e-11];
    const OF_TWO: [f64; 2] = [0.30102999566361177, 3.694239077158931e-13];
    (log_to_base(x, OVER, OF_TWO), is_normal(x))
}

/// log(1 + x).
#[inline(always)]
pub fn log1p<N: Number>(x: N) -> (N, N::Truth) {
    // The sign of zero is not kept.
    let usual = x.above(N::of(-0.9999)) & x.below(N::of(1e15)) & x.abs().at_least(N::of(1e-300));
    (log1p_below_2_to_50(x), usual)
}

#[inline(always)]
pub(super) fn log1p_below_2_to_50<N: Number>(x: N) -> N {
    let high = f64::from_bits(0x3fda_827a_0000_0000);
    let low = -f64::from_bits(0x3fd2_bec5_0000_0000);
    let small = x.above(N::of(low)) & x.below(N::of(high));
    let (zero, one) = (N::of(0.0), N::of(1.0));
    let u = one + x;
    let (k, f) = by_power_of_two(u);
    // log(1 + x) - log(u), nearly.
    let c = N::select(k.at_least(N::of(2.0)), one - (u - x), x - (u - one)) / u;
    let select = |a: N, b: N| N::select(small, a, b);
    log_of(select(zero, k), select(x, f), select(zero, c))
}

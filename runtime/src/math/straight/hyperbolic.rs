//! Inverses of the hyperbolic functions: each the logarithm of 1 and something.
//!
//! msun takes log for large arguments, where log1p is as exact; so there is one logarithm.

use super::logarithm::log1p_below_2_to_50;
use crate::math::number::Number;

/// Arguments up to this are usual, so that what the logarithm is taken of has room below 2^50 and squares do not overflow.
const FARTHEST: f64 = 1e14;

/// asinh x = log(1 + |x| + x^2 / (1 + sqrt(1 + x^2))), with the sign of x.
#[inline(always)]
pub fn asinh<N: Number>(x: N) -> (N, N::Truth) {
    let (one, size) = (N::of(1.0), x.abs());
    let square = size * size;
    let value = log1p_below_2_to_50(size + square / ((square + one).sqrt() + one));
    // Below 2^-26 it is x.
    let value = N::select(size.below(N::of(1.4901161193847656e-8)), size, value);
    (value.copysign(x), size.at_most(N::of(FARTHEST)))
}

/// acosh x = log(1 + t + sqrt(t (t + 2))) for t = x - 1.
#[inline(always)]
pub fn acosh<N: Number>(x: N) -> (N, N::Truth) {
    let t = x - N::of(1.0);
    let value = log1p_below_2_to_50(t + (t * t + N::of(2.0) * t).sqrt());
    (value, x.at_least(N::of(1.0)) & x.at_most(N::of(FARTHEST)))
}

/// atanh x = log(1 + 2 |x| / (1 - |x|)) / 2, with the sign of x.
#[inline(always)]
pub fn atanh<N: Number>(x: N) -> (N, N::Truth) {
    let (one, size) = (N::of(1.0), x.abs());
    let double = N::of(2.0) * size;
    // 2 y + 2 y^2 / (1 - y) where the first is the larger part.
    let small = size.below(N::of(0.5));
    let quotient = N::select(small, double * size, size) / (one - size);
    let more = N::select(small, double + quotient, N::of(2.0) * quotient);
    let value = N::of(0.5) * log1p_below_2_to_50(more);
    // Below 2^-32 it is x.
    let value = N::select(size.below(N::of(2.3283064365386963e-10)), size, value);
    (value.copysign(x), size.below(one))
}

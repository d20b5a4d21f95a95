//! Inverses of the trigonometric functions, and the cube root.

use super::logarithm::by_power_of_two;
use super::{ROUND, series, upper_word};
use crate::math::number::Number;
use core::f64::consts::{FRAC_PI_2, FRAC_PI_4};

/// What is missing of pi / 2.
const PIO2_LO: f64 = 6.123233995736766e-17;

/// asin(x) / x - 1 for z = x^2 up to a quarter.
#[inline(always)]
fn asin_ratio<N: Number>(z: N) -> N {
    const P: [f64; 6] = [
        0.16666666666666666,
        -0.3255658186224009,
        0.20121253213486293,
        -0.04005553450067941,
        0.0007915349942898145,
        3.479331075960212e-5,
    ];
    const Q: [f64; 5] =
        [1.0, -2.403394911734414, 2.0209457602335057, -0.6882839716054533, 0.07703815055590194];
    z * series(z, &P) / series(z, &Q)
}

/// The root of z: its upper digits, and the lower ones.
#[inline(always)]
fn root<N: Number>(z: N) -> (N, N, N) {
    let s = z.sqrt();
    let high = upper_word(s);
    (s, high, (z - high * high) / (s + high))
}

/// The angle whose sine is a half or more, from the root of (1 - sine) / 2 and the ratio there.
#[inline(always)]
fn from_a_quarter_turn<N: Number>(z: N, ratio: N) -> N {
    let two = N::of(2.0);
    let (s, high, low) = root(z);
    let rest = two * s * ratio - (N::of(PIO2_LO) - two * low);
    N::of(FRAC_PI_4) - (rest - (N::of(FRAC_PI_4) - two * high))
}

/// asin x: beyond one half by way of the angle that is missing, asin(x) = pi/2 - 2 asin(sqrt((1-x)/2)).
#[inline(always)]
pub fn asin<N: Number>(x: N) -> (N, N::Truth) {
    let (one, half) = (N::of(1.0), N::of(0.5));
    let size = x.abs();
    let small = size.below(half);
    let z = N::select(small, size * size, (one - size) * half);
    let ratio = asin_ratio(z);
    let y = N::select(small, size + size * ratio, from_a_quarter_turn(z, ratio));
    (y.copysign(x), size.below(one))
}

/// As [`asin`] for one number.
#[inline(always)]
pub(super) fn one_asin(x: f64, rare: fn(f64) -> f64) -> f64 {
    let size = x.abs();
    if size < 0.5 {
        return (size + size * asin_ratio(size * size)).copysign(x);
    }
    if !size.below(1.0) {
        return rare(x);
    }
    let z = (1.0 - size) * 0.5;
    from_a_quarter_turn(z, asin_ratio(z)).copysign(x)
}

/// acos x for a size below one half, with the ratio there.
#[inline(always)]
fn acos_near_zero<N: Number>(x: N, ratio: N) -> N {
    N::of(FRAC_PI_2) - (x - (N::of(PIO2_LO) - x * ratio))
}

/// acos x for x from one half, from the root of (1 - x) / 2 and the ratio there.
#[inline(always)]
fn acos_of_positive<N: Number>(z: N, ratio: N) -> N {
    let (s, high, low) = root(z);
    N::of(2.0) * (high + (ratio * s + low))
}

/// acos x for x up to minus one half, from the root of (1 + x) / 2 and the ratio there.
#[inline(always)]
fn acos_of_negative<N: Number>(z: N, ratio: N) -> N {
    let s = z.sqrt();
    N::of(2.0) * (N::of(FRAC_PI_2) - (s + (ratio * s - N::of(PIO2_LO))))
}

/// acos x.
#[inline(always)]
pub fn acos<N: Number>(x: N) -> (N, N::Truth) {
    let (one, half) = (N::of(1.0), N::of(0.5));
    let size = x.abs();
    let small = size.below(half);
    let z = N::select(small, x * x, (one - size) * half);
    let ratio = asin_ratio(z);
    let (positive, negative) = (acos_of_positive(z, ratio), acos_of_negative(z, ratio));
    let beyond = N::select(x.below(N::of(0.0)), negative, positive);
    (N::select(small, acos_near_zero(x, ratio), beyond), size.below(one))
}

/// As [`acos`] for one number.
#[inline(always)]
pub(super) fn one_acos(x: f64, rare: fn(f64) -> f64) -> f64 {
    let size = x.abs();
    if size < 0.5 {
        return acos_near_zero(x, asin_ratio(x * x));
    }
    if !size.below(1.0) {
        return rare(x);
    }
    let z = (1.0 - size) * 0.5;
    let ratio = asin_ratio(z);
    if x < 0.0 { acos_of_negative(z, ratio) } else { acos_of_positive(z, ratio) }
}

/// The limits of the ranges of [`atan`].
const LIMITS: [f64; 4] = [0.4375, 0.6875, 1.1875, 2.4375];

/// The angles from which these ranges are computed: those whose tangents are 0, 1/2, 1, 3/2 and infinite.
const ANGLES: [f64; 5] = [0.0, 0.4636476090008061, FRAC_PI_4, 0.982793723247329, FRAC_PI_2];

/// What these lack.
const TAILS: [f64; 5] =
    [0.0, 2.2698777452961687e-17, 3.061616997868383e-17, 1.3903311031230998e-17, PIO2_LO];

/// Numerators and divisors of the tangents of the angles that are left.
#[inline(always)]
fn tangents_left<N: Number>(size: N) -> [[N; 5]; 2] {
    let (one, two, more) = (N::of(1.0), N::of(2.0), N::of(1.5));
    [
        [size, two * size - one, size - one, size - more, -one],
        [one, two + size, size + one, one + more * size, size],
    ]
}

/// An angle and that whose tangent is y, which is below 7/16.
#[inline(always)]
fn angle_and<N: Number>([angle, tail]: [N; 2], y: N) -> N {
    const AT: [f64; 11] = [
        0.3333333333333293,
        -0.19999999999876483,
        0.14285714272503466,
        -0.11111110405462356,
        0.09090887133436507,
        -0.0769187620504483,
        0.06661073137387531,
        -0.058335701337905735,
        0.049768779946159324,
        -0.036531572744216916,
        0.016285820115365782,
    ];
    let z = y * y;
    angle - (y * (z * series(z, &AT)) - tail - y)
}

/// Up to this size numbers are usual for [`atan`].
const FARTHEST: f64 = 1e19;

/// atan x.
#[inline(always)]
pub fn atan<N: Number>(x: N) -> (N, N::Truth) {
    let size = x.abs();
    // No `map` of arrays: it is called, and a loop with a call is not one for vectors.
    let below = |limit: usize| size.below(N::of(LIMITS[limit]));
    let below = [below(0), below(1), below(2), below(3)];
    let choose = |[first, second, third, fourth, last]: [N; 5]| {
        let upper = N::select(below[2], third, N::select(below[3], fourth, last));
        N::select(below[0], first, N::select(below[1], second, upper))
    };
    let of = N::of;
    let constants = |[a, b, c, d, e]: [f64; 5]| [of(a), of(b), of(c), of(d), of(e)];
    let [numerators, divisors] = tangents_left(size);
    let y = choose(numerators) / choose(divisors);
    let from = [choose(constants(ANGLES)), choose(constants(TAILS))];
    (angle_and(from, y).copysign(x), size.at_most(N::of(FARTHEST)))
}

/// As [`atan`] for one number.
#[inline(always)]
pub(super) fn one_atan(x: f64, rare: fn(f64) -> f64) -> f64 {
    let size = x.abs();
    if !size.at_most(FARTHEST) {
        return rare(x);
    }
    if size < LIMITS[0] {
        return angle_and([ANGLES[0], TAILS[0]], size).copysign(x);
    }
    // Not a table of all five: it would go through memory.
    let (range, n, d) = if size < LIMITS[2] {
        if size < LIMITS[1] {
            (1, 2.0 * size - 1.0, 2.0 + size)
        } else {
            (2, size - 1.0, size + 1.0)
        }
    } else if size < LIMITS[3] {
        (3, size - 1.5, 1.0 + 1.5 * size)
    } else {
        (4, -1.0, size)
    };
    angle_and([ANGLES[range], TAILS[range]], n / d).copysign(x)
}

/// Cube root: a polynomial's, with so few digits that its cube is exact, and four terms of the series of
/// what is missing.
#[inline(always)]
pub fn cbrt<N: Number>(x: N) -> (N, N::Truth) {
    /// The root of 1 + f in powers of f - 0.06066, right to 1.4e-5; printed by `runtime/tools/coefficients.py`.
    const START: [f64; 5] = [
        1.0198243962723335,
        0.3203773548611116,
        -0.10063295462721836,
        0.05661035232192528,
        -0.03600032929524682,
    ];
    const TERMS: [f64; 4] = [1.0 / 3.0, -1.0 / 9.0, 5.0 / 81.0, -10.0 / 243.0];
    let size = x.abs();
    let (k, f) = by_power_of_two(size);
    // A third of the exponent, and what is left: -1, 0 or 1.
    let shifted = k * N::of(1.0 / 3.0) + N::of(ROUND);
    let third = shifted - N::of(ROUND);
    let left = k - N::of(3.0) * third;
    let factor = |one: f64, double: f64, half: f64| {
        let more = N::select(left.above(N::of(0.5)), N::of(double), N::of(one));
        N::select(left.below(N::of(-0.5)), N::of(half), more)
    };
    let number = (N::of(1.0) + f) * factor(1.0, 2.0, 0.5);
    let start = series(f - N::of(0.06066), &START);
    let start = start * factor(1.0, 1.2599210498948732, 0.7937005259840998);
    let t = N::from_bits(start.to_bits() & N::bits(!0 << 36));
    let cube = t * t * t;
    let d = (number - cube) / cube;
    let y = t + t * (d * series(d, &TERMS));
    let y = N::from_bits(y.to_bits() + (shifted.to_bits() << 52));
    let usual = size.at_least(N::of(f64::MIN_POSITIVE)) & size.at_most(N::of(f64::MAX));
    (y.copysign(x), usual)
}

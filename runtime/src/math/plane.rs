//! Angle and distance of a point of the plane, and what is made like them: functions of two floats without branches for
//! usual arguments, as the [functions of one](super::straight).
//!
//! The angle is that whose tangent is the quotient of the coordinates, or what it lacks of a half turn. The distance is the root of
//! a sum of squares that are known to twice their digits, so that it is rounded nearly as if it were exact. Both
//! formulas are those of FreeBSD's msun. Points on the axis of y, and coordinates so large or small that their squares are no normal
//! numbers, are left to `libm`.

use super::number::Number;
use super::straight::{self, each};
use core::f64::consts::{LN_2, PI};

/// What pi lacks.
const PI_LO: f64 = 1.2246467991473532e-16;

/// Quotients up to this have a usual angle.
const FARTHEST: f64 = 1e19;

/// The angle of (x, y) from that of (|x|, |y|).
#[inline(always)]
fn in_its_quadrant<N: Number>(y: N, x: N, angle: N) -> N {
    let left = N::of(PI) - (angle - N::of(PI_LO));
    // A zero has a sign too, but then the quotient is no number or infinite.
    N::select(x.below(N::of(0.0)), left, angle).copysign(y)
}

/// Angle of the point (x, y).
pub fn atan2(y: f64, x: f64) -> f64 {
    let quotient = (y / x).abs();
    match quotient <= FARTHEST && x.is_finite() {
        true => in_its_quadrant(y, x, each::atan(quotient)),
        false => libm::atan2(y, x),
    }
}

/// Angle of the point (x, y), and whether it is usual.
#[inline(always)]
pub fn angle<N: Number>(y: N, x: N) -> (N, N::Truth) {
    let quotient = (y / x).abs();
    let (angle, _) = straight::atan(quotient);
    let usual = quotient.at_most(N::of(FARTHEST)) & x.abs().at_most(N::of(f64::MAX));
    (in_its_quadrant(y, x, angle), usual)
}

/// The square as the sum of two floats.
#[inline(always)]
fn square<N: Number>(x: N) -> (N, N) {
    // 2^27 + 1, which cuts the digits in two halves.
    let cut = x * N::of(134_217_729.0);
    let high = x - cut + cut;
    let low = x - high;
    let square = x * x;
    (square, high * high - square + N::of(2.0) * high * low + low * low)
}

/// Root of x^2 + y^2.
pub fn hypot(x: f64, y: f64) -> f64 {
    match distance(x, y) {
        (distance, true) => distance,
        _ => libm::hypot(x, y),
    }
}

/// Root of x^2 + y^2, and whether it is usual.
#[inline(always)]
pub fn distance<N: Number>(x: N, y: N) -> (N, N::Truth) {
    // From 2^-450 to 2^510.
    let (least, most) = (f64::from_bits(0x23d0 << 48), f64::from_bits(0x5fd0 << 48));
    let (x, y) = (x.abs(), y.abs());
    let first = x.at_least(y);
    let (large, small) = (N::select(first, x, y), N::select(first, y, x));
    let ((large_high, large_low), (small_high, small_low)) = (square(large), square(small));
    let root = (small_low + large_low + small_high + large_high).sqrt();
    // The square of a zero is exact; NaN is not at most anything, wherever it stands.
    let least_square = N::select(small.above(N::of(0.0)), small, large);
    let usual =
        x.at_most(N::of(most)) & y.at_most(N::of(most)) & least_square.at_least(N::of(least));
    (root, usual)
}

/// log(exp(x) + exp(y)). The exponential never overflows.
pub fn logaddexp(x: f64, y: f64) -> f64 {
    if x == y {
        // Also where both are the same infinity.
        return x + LN_2;
    }
    super::maximum(x, y) + each::log1p(each::exp(-(x - y).abs()))
}

/// log(exp(x) + exp(y)), and whether these are usual.
#[inline(always)]
pub fn log_of_sum<N: Number>(x: N, y: N) -> (N, N::Truth) {
    let apart = (x - y).abs();
    let (smaller, _) = straight::exp(-apart);
    let (more, _) = straight::log1p(smaller);
    // Up to there the exponential is usual for the logarithm.
    (N::select(x.above(y), x, y) + more, apart.at_most(N::of(690.0)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::same;

    /// Coordinates of all sizes, and where something ends.
    fn coordinates() -> Vec<f64> {
        let edges = [0.0, 1.0, 1e-300, 1e-310, 5e-324, 1e19, 1e-19, 1e160, 1e-140, 700.0, 690.5];
        let limits = [f64::MAX, f64::INFINITY, f64::NAN, f64::MIN_POSITIVE, FARTHEST];
        let powers = [-450, -451, 510, 511].map(|k| libm::ldexp(1.0, k));
        let mut state = 1u64;
        let numbers = (0..200).map(|k| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            let unit = (state >> 11) as f64 / (1u64 << 53) as f64;
            (unit + 1e-3) * [1.0, 1.0, 30.0, 1e-5, 1e8][k % 5]
        });
        let all = edges.into_iter().chain(limits).chain(powers).chain(numbers);
        all.flat_map(|x| [x, -x, x.next_up()]).collect()
    }

    /// How many floats lie between two of the same sign.
    fn between(a: f64, b: f64) -> u64 {
        if same(a, b) { 0 } else { a.to_bits().abs_diff(b.to_bits()) }
    }

    #[test]
    fn angles_and_distances_are_those_of_libm() {
        for x in coordinates() {
            for y in coordinates() {
                assert!(between(atan2(y, x), libm::atan2(y, x)) <= 1, "atan2({y:e}, {x:e})");
                assert!(between(hypot(x, y), libm::hypot(x, y)) == 0, "hypot({x:e}, {y:e})");
            }
        }
    }

    #[test]
    fn usual_points_have_the_same_without_branches() {
        let mut usual = [0; 3];
        for x in coordinates() {
            for y in coordinates() {
                let results = [
                    (angle(x, y), atan2(x, y)),
                    (distance(x, y), hypot(x, y)),
                    (log_of_sum(x, y), logaddexp(x, y)),
                ];
                for (count, ((value, is_usual), each)) in usual.iter_mut().zip(results) {
                    assert!(!is_usual || same(value, each), "{x:e}, {y:e}");
                    *count += usize::from(is_usual);
                }
            }
        }
        let all = coordinates().len().pow(2);
        assert!(usual.iter().all(|count| *count > all / 2), "{usual:?} of {all}");
    }

    #[test]
    fn points_near_one_and_on_the_axis_of_x_are_usual() {
        for k in 1..1000 {
            let (x, y) = (f64::from(k) / 100.0 - 5.005, 3.0 - f64::from(k) / 77.0);
            assert!(angle(y, x).1 && distance(x, y).1 && log_of_sum(x, y).1, "{x}, {y}");
        }
    }
}

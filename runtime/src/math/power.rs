//! Powers of floats, without branches for usual arguments, as the [functions of one argument](super::straight).
//!
//! `x^y = 2^(y log2 x)`, where the logarithm has to be known to more digits than a float has: an error of it counts y log2 x times. It is the sum
//! of two floats, of which the first has so few digits that its product with half of the digits of y is exact. The formulas are those of
//! FreeBSD's msun, where branches by size are replaced; the error is below 0.9 units in the last place.
//!
//! Powers with exponents 1, -1, 2 and 1/2 are exactly what is multiplied, divided and what `sqrt` gives. What is not the power of a positive
//! normal number or no normal number itself is left to `libm`.

use super::number::Number;
use super::straight::{ROUND, beyond_linear, by_power_of_two_from, series, upper_half};

/// 3/2 (log(1 + s) - log(1 - s)) - 3 s - s^3 in powers of s^2, beginning with s^5.
const L: [f64; 6] = [
    f64::from_bits(0x3fe3_3333_3333_3303),
    f64::from_bits(0x3fdb_6db6_db6f_abff),
    f64::from_bits(0x3fd5_5555_518f_264d),
    f64::from_bits(0x3fd1_7460_a91d_4101),
    f64::from_bits(0x3fcd_864a_93c9_db65),
    f64::from_bits(0x3fca_7e28_4a45_4eef),
];

/// 2 / (3 log 2), and as a sum.
const SCALE: f64 = f64::from_bits(0x3fee_c709_dc3a_03fd);
const SCALE_HI: f64 = f64::from_bits(0x3fee_c709_e000_0000);
const SCALE_LO: f64 = f64::from_bits(0xbe3e_2fe0_145b_01f5);

/// log2(3/2) as a sum.
const OF_3_2_HI: f64 = f64::from_bits(0x3fe2_b803_4000_0000);
const OF_3_2_LO: f64 = f64::from_bits(0x3e4c_fdeb_43cf_d006);

/// log 2 as a sum, of which the first has 21 digits.
const LN2_HI: f64 = f64::from_bits(0x3fe6_2e43_0000_0000);
const LN2_LO: f64 = f64::from_bits(0xbe20_5c61_0ca8_6c39);

/// Exponents for which the power is exactly something else.
const EXACT: [f64; 4] = [1.0, -1.0, 2.0, 0.5];

/// What the power with each of [`EXACT`] is.
#[inline(always)]
fn exactly<N: Number>(x: N) -> [N; 4] {
    [x, N::of(1.0) / x, x * x, x.sqrt()]
}

/// x to the power y.
pub fn pow(x: f64, y: f64) -> f64 {
    match inexact(x, y) {
        (power, true) => match EXACT.iter().position(|exponent| *exponent == y) {
            None => power,
            Some(which) => exactly(x)[which],
        },
        _ => libm::pow(x, y),
    }
}

/// x to the power y, and whether these are usual.
#[inline(always)]
pub fn core<N: Number>(x: N, y: N) -> (N, N::Truth) {
    let (mut power, usual) = inexact(x, y);
    let exact = exactly(x);
    for k in 0..EXACT.len() {
        let this = (y - N::of(EXACT[k])).abs().at_most(N::of(0.0));
        power = N::select(this, exact[k], power);
    }
    (power, usual)
}

/// As [`core`], but for exponents for which the power is exactly something else.
///
/// What is cut off from a number to have half of its digits is added to what it lacks, so that nothing waits for the sum of both.
#[inline(always)]
fn inexact<N: Number>(x: N, y: N) -> (N, N::Truth) {
    let (high, low) = log2(x);
    let half = upper_half(y);
    let less = (y - half) * high + y * low;
    let most = half * high;
    let usual = x.at_least(N::of(f64::MIN_POSITIVE))
        & x.at_most(N::of(f64::MAX))
        & (most + less).abs().at_most(N::of(1020.0));
    (two_to_the(most, less), usual)
}

/// log2 x as the sum of two floats, the first of which has 26 digits.
#[inline(always)]
fn log2<N: Number>(x: N) -> (N, N) {
    // x = 2^k m with m from half the root of 3 to the root of 3, near 1 or near 3/2.
    let (k, m) = by_power_of_two_from(x, 0x3feb_b67a_0000_0000);
    let large = m.above(N::of(f64::from_bits(0x3ff3_988e_1409_212e)));
    let choose = |a: f64, b: f64| N::select(large, N::of(a), N::of(b));
    let near = choose(1.5, 1.0);
    let (near_hi, near_lo) = (choose(OF_3_2_HI, 0.0), choose(OF_3_2_LO, 0.0));

    // s = (m - near) / (m + near), up to 0.11, as a sum.
    let (above, inverse) = (m - near, N::of(1.0) / (m + near));
    let s = above * inverse;
    let s_hi = upper_half(s);
    let below = upper_half(m + near);
    let s_lo = inverse * ((above - s_hi * below) - s_hi * (m - (below - near)));

    // 3/2 (log(1 + s) - log(1 - s)) = s (3 + s^2 + ..), as a sum.
    let square = s * s;
    let rest = square * square * series(square, &L) + s_lo * (s_hi + s);
    let square = s_hi * s_hi;
    let factor = upper_half(N::of(3.0) + square);
    let factor_lo = rest + (square - (factor - N::of(3.0)));
    let (most, less) = (s_hi * factor, s_lo * factor + factor_lo * s);
    let hi = upper_half(most + less);
    let lo = less - (hi - most);

    let scaled = N::of(SCALE_HI) * hi;
    let scaled_lo = (N::of(SCALE_LO) * hi + near_lo) + lo * N::of(SCALE);
    // Exact.
    let near_hi = k + near_hi;
    let high = upper_half(scaled + near_hi);
    (high, scaled_lo + (scaled - (high - near_hi)))
}

/// 2 to the power of a sum of two floats, of which the second is far below 1.
#[inline(always)]
fn two_to_the<N: Number>(most: N, less: N) -> N {
    let shifted = most + N::of(ROUND);
    let most = most - (shifted - N::of(ROUND));
    let t = upper_half(most);
    let hi = t * N::of(LN2_HI);
    let lo = (less + (most - t)) * N::of(core::f64::consts::LN_2) + t * N::of(LN2_LO);
    let z = hi + lo;
    let w = lo - (z - hi);
    let power = N::of(1.0) + (z + (beyond_linear(z) + (w + z * w)));
    N::from_bits(power.to_bits() + (shifted.to_bits() << 52))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::same;

    /// How many floats lie between two.
    fn distance(a: f64, b: f64) -> u64 {
        a.to_bits().abs_diff(b.to_bits())
    }

    /// Numbers from 0 to 1.
    fn units() -> impl Iterator<Item = f64> {
        let mut state = 1u64;
        std::iter::repeat_with(move || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 11) as f64 / (1u64 << 53) as f64
        })
    }

    #[test]
    fn usual_powers_are_those_of_libm_but_for_the_last_digit() {
        let mut units = units();
        let mut next = |scale: f64| units.next().unwrap() * scale;
        let (mut usual, mut exact) = (0, 0);
        for round in 0..200_000 {
            let x = f64::powi(2.0, [0, 1, -1, 20, -40, 1000, -1000][round % 7]) * (1.0 + next(1.0));
            let y = [1.0, 5.0, 40.0, 1e-3, 700.0][round % 5] * (next(2.0) - 1.0);
            let (power, counts) = core(x, y);
            if counts {
                let want = libm::pow(x, y);
                let far = distance(power, want);
                assert!(far <= 1, "{x:e}^{y:e} = {power:e}, {want:e}");
                usual += 1;
                exact += usize::from(far == 0);
            }
            assert!(counts || same(pow(x, y), libm::pow(x, y)));
        }
        assert!(usual > 150_000 && exact > usual * 95 / 100, "{usual} usual, {exact} exact");
    }

    #[test]
    fn square_roots_are_usual() {
        for x in units().take(1000).map(|x| (x + 1e-3) * 1e6) {
            assert_eq!(core(x, 0.5), (x.sqrt(), true), "{x}");
        }
    }

    #[test]
    fn unusual_powers_are_those_of_libm() {
        let edges = [
            0.0,
            -0.0,
            1.0,
            -1.0,
            2.0,
            0.5,
            -0.5,
            3.0,
            -3.0,
            1e-310,
            1e300,
            -1e300,
            f64::MAX,
            f64::INFINITY,
            f64::NEG_INFINITY,
            f64::NAN,
            1.0f64.next_up(),
            1.0f64.next_down(),
            1e-17,
            1023.5,
            -1074.0,
        ];
        for x in edges {
            for y in edges {
                let (power, want) = (pow(x, y), libm::pow(x, y));
                assert!(
                    same(power, want) || distance(power, want) <= 1,
                    "{x:e}^{y:e} = {power:e}, {want:e}"
                );
            }
        }
        for x in [1.5, 0.3, 7.25e200] {
            assert_eq!(
                [pow(x, 1.0), pow(x, -1.0), pow(x, 0.5), pow(x, 0.0)],
                [x, 1.0 / x, x.sqrt(), 1.0]
            );
        }
        assert_eq!(pow(3.3, 2.0), 3.3 * 3.3);
    }
}

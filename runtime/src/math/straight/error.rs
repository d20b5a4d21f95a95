//! The error function and its complement.

use super::exponential::exp_of_sum;
use super::{in_halves, upper_word};
use crate::math::number::Number;

/// Below this size erf(x) is x + x q.
const SMALL: f64 = 0.84375;
/// Below this size erf(x) is [`AT_ONE`] + q, above it erfc(x) is e^(-x^2 - 0.5625 + q) / x.
const NEAR_ONE: f64 = 1.25;
/// Where the quotient for large x changes.
const FAR: f64 = f64::from_bits(0x4006_db6d_0000_0000);
/// The range in which no exponential underflows.
const USUAL: f64 = 26.0;
/// erf(1), nearly.
const AT_ONE: f64 = 0.8450629115104675;

/// Numerator and denominator of q where the size is below [`SMALL`].
#[inline(always)]
fn small<N: Number>(size: N) -> (N, N) {
    const P: [f64; 5] = [
        0.12837916709551256,
        -0.3250421072470015,
        -0.02848174957559851,
        -0.005770270296489442,
        -2.3763016656650163e-05,
    ];
    const Q: [f64; 6] = [
        1.0,
        0.39791722395915535,
        0.0650222499887673,
        0.005081306281875766,
        0.00013249473800432164,
        -3.960228278775368e-06,
    ];
    let z = size * size;
    (in_halves(z, &P), in_halves(z, &Q))
}

/// As [`small`] where it is below [`NEAR_ONE`].
#[inline(always)]
fn near_one<N: Number>(size: N) -> (N, N) {
    const P: [f64; 7] = [
        -0.0023621185607526594,
        0.41485611868374833,
        -0.3722078760357013,
        0.31834661990116175,
        -0.11089469428239668,
        0.035478304325618236,
        -0.002166375594868791,
    ];
    const Q: [f64; 7] = [
        1.0,
        0.10642088040084423,
        0.540397917702171,
        0.07182865441419627,
        0.12617121980876164,
        0.01363708391202905,
        0.011984499846799107,
    ];
    let s = size - N::of(1.0);
    (in_halves(s, &P), in_halves(s, &Q))
}

/// As [`small`] where it is below [`FAR`], from 1 / x^2.
#[inline(always)]
fn middle<N: Number>(s: N) -> (N, N) {
    const P: [f64; 8] = [
        -0.009864944034847148,
        -0.6938585727071818,
        -10.558626225323291,
        -62.375332450326006,
        -162.39666946257347,
        -184.60509290671104,
        -81.2874355063066,
        -9.814329344169145,
    ];
    const Q: [f64; 9] = [
        1.0,
        19.651271667439257,
        137.65775414351904,
        434.56587747522923,
        645.3872717332679,
        429.00814002756783,
        108.63500554177944,
        6.570249770319282,
        -0.0604244152148581,
    ];
    (in_halves(s, &P), in_halves(s, &Q))
}

/// As [`small`] for the rest, from 1 / x^2.
#[inline(always)]
fn far<N: Number>(s: N) -> (N, N) {
    const P: [f64; 7] = [
        -0.0098649429247001,
        -0.799283237680523,
        -17.757954917754752,
        -160.63638485582192,
        -637.5664433683896,
        -1025.0951316110772,
        -483.5191916086514,
    ];
    const Q: [f64; 8] = [
        1.0,
        30.33806074348246,
        325.7925129965739,
        1536.729586084437,
        3199.8582195085955,
        2553.0504064331644,
        474.52854120695537,
        -22.44095244658582,
    ];
    (in_halves(s, &P), in_halves(s, &Q))
}

/// e^(-x^2 - 0.5625 + q) / x: the square of the upper digits is exact.
#[inline(always)]
fn tail<N: Number>(size: N, q: N) -> N {
    let high = upper_word(size);
    let rest = (high - size) * (high + size) + q;
    exp_of_sum(-(high * high) - N::of(0.5625), rest) / size
}

/// The q of each range, by one division.
#[inline(always)]
fn quotient<N: Number>(size: N) -> N {
    let s = N::of(1.0) / (size * size);
    let ranges = [small(size), near_one(size), middle(s), far(s)];
    let below = [SMALL, NEAR_ONE, FAR].map(|limit| size.below(N::of(limit)));
    let choose = |[first, second, third, last]: [N; 4]| {
        let upper = N::select(below[2], third, last);
        N::select(below[0], first, N::select(below[1], second, upper))
    };
    choose(ranges.map(|(p, _)| p)) / choose(ranges.map(|(_, q)| q))
}

/// As [`quotient`] for one number, of whose ranges only one is computed.
#[inline(always)]
fn one_quotient(size: f64) -> f64 {
    let (p, q) = if size < SMALL {
        small(size)
    } else if size < NEAR_ONE {
        near_one(size)
    } else {
        let s = 1.0 / (size * size);
        if size < FAR { middle(s) } else { far(s) }
    };
    p / q
}

/// erf x.
#[inline(always)]
pub fn erf<N: Number>(x: N) -> (N, N::Truth) {
    let size = x.abs();
    let q = quotient(size);
    let large =
        N::select(size.below(N::of(NEAR_ONE)), N::of(AT_ONE) + q, N::of(1.0) - tail(size, q));
    let y = N::select(size.below(N::of(SMALL)), size + size * q, large);
    (y.copysign(x), size.at_most(N::of(USUAL)))
}

/// As [`erf`] for one number.
#[inline(always)]
pub(super) fn one_erf(x: f64, rare: fn(f64) -> f64) -> f64 {
    let size = x.abs();
    if !size.at_most(USUAL) {
        return rare(x);
    }
    let q = one_quotient(size);
    let y = if size < SMALL {
        size + size * q
    } else if size < NEAR_ONE {
        AT_ONE + q
    } else {
        1.0 - tail(size, q)
    };
    y.copysign(x)
}

/// 1 - erf x where it is small, for the two ways in which no digits cancel.
#[inline(always)]
fn complement_of_small<N: Number>(x: N, q: N, above_a_quarter: N::Truth) -> N {
    let (one, half) = (N::of(1.0), N::of(0.5));
    let (from, x_less) =
        (N::select(above_a_quarter, half, one), N::select(above_a_quarter, x - half, x));
    from - (x_less + x * q)
}

/// erfc x.
#[inline(always)]
pub fn erfc<N: Number>(x: N) -> (N, N::Truth) {
    let size = x.abs();
    let q = quotient(size);
    let by_one = N::of(1.0) - N::of(AT_ONE) - q;
    let large = N::select(size.below(N::of(NEAR_ONE)), by_one, tail(size, q));
    let large = N::select(x.below(N::of(0.0)), N::of(2.0) - large, large);
    let close = complement_of_small(x, q, x.at_least(N::of(0.25)));
    (N::select(size.below(N::of(SMALL)), close, large), size.at_most(N::of(USUAL)))
}

/// As [`erfc`] for one number.
#[inline(always)]
pub(super) fn one_erfc(x: f64, rare: fn(f64) -> f64) -> f64 {
    let size = x.abs();
    if !size.at_most(USUAL) {
        return rare(x);
    }
    let q = one_quotient(size);
    if size < SMALL {
        return complement_of_small(x, q, x >= 0.25);
    }
    let large = if size < NEAR_ONE { 1.0 - AT_ONE - q } else { tail(size, q) };
    if x < 0.0 { 2.0 - large } else { large }
}

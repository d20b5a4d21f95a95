//! Sine, cosine and tangent.

use super::{ROUND, series, upper_word};
use crate::math::number::Number;

/// The quarter turns nearest to x (in the low bits), what is left, what is to be subtracted from that, and whether
/// both are exact enough.
#[inline(always)]
fn by_quarter_turns<N: Number>(x: N) -> (N::Bits, N, N, N::Truth) {
    const PIO2_1: f64 = 1.5707963267341256;
    const PIO2_2: f64 = 6.077100506303966e-11;
    const PIO2_2T: f64 = 2.0222662487959506e-21;
    let shifted = x * N::of(core::f64::consts::FRAC_2_PI) + N::of(ROUND);
    let n = shifted - N::of(ROUND);
    let t = x - n * N::of(PIO2_1);
    let w = n * N::of(PIO2_2);
    let y = t - w;
    let lost = n * N::of(PIO2_2T) - ((t - y) - w);
    // Good to 118 bits: enough unless that many cancel.
    let enough = (y.abs() * N::of(281474976710656.0)).at_least(x.abs());
    (shifted.to_bits(), y, lost, x.abs().at_most(N::of(1e5)) & enough)
}

/// Sine of y - lost, at most an eighth of a turn. What is lost is not negative zero: so a zero keeps its sign.
#[inline(always)]
fn sine_of<N: Number>(y: N, lost: N) -> N {
    const S: [f64; 6] = [
        0.16666666666666632,
        -0.00833333333332249,
        0.0001984126982985795,
        -2.7557313707070068e-6,
        2.5050760253406863e-8,
        -1.58969099521155e-10,
    ];
    let z = y * y;
    y - (z * y * series(z, &S) + lost * (N::of(1.0) - N::of(0.5) * z))
}

/// Cosine of y - lost, at most an eighth of a turn.
#[inline(always)]
fn cosine_of<N: Number>(y: N, lost: N) -> N {
    const C: [f64; 6] = [
        0.0416666666666666,
        -0.001388888888887411,
        2.480158728947673e-5,
        -2.7557314351390663e-7,
        2.087572321298175e-9,
        -1.1359647557788195e-11,
    ];
    let z = y * y;
    let half = N::of(0.5) * z;
    let w = N::of(1.0) - half;
    w + (((N::of(1.0) - w) - half + y * lost) + z * z * series(z, &C))
}

/// Minus the number if a bit of the quarter turns says so.
#[inline(always)]
fn signed<N: Number>(value: N, n: N::Bits) -> N {
    N::from_bits(value.to_bits() ^ ((n & N::bits(2)) << 62))
}

/// Sine (or cosine, if one quarter turn more is asked for).
#[inline(always)]
fn sine<N: Number>(x: N, quarter_turns: u64) -> (N, N::Truth) {
    let (n, y, lost, usual) = by_quarter_turns(x);
    let n = n + N::bits(quarter_turns);
    let value = N::select(N::is_odd(n), cosine_of(y, lost), sine_of(y, lost));
    (signed(value, n), usual)
}

/// Numbers up to this are reduced to themselves by zero quarter turns: it is below pi / 4.
const SMALL_ANGLE: f64 = 0.785;

/// As [`sine`] for one number: only the series that is needed, and no reduction of what is small.
/// That changes no bit: what is left out would give zeros.
#[inline(always)]
pub(super) fn one_sine(x: f64, quarter_turns: u64, rare: fn(f64) -> f64) -> f64 {
    if x.abs() <= SMALL_ANGLE {
        return if quarter_turns == 0 { sine_of(x, 0.0) } else { cosine_of(x, 0.0) };
    }
    let (n, y, lost, usual) = by_quarter_turns(x);
    if !usual {
        return rare(x);
    }
    let n = n + f64::bits(quarter_turns);
    signed(if f64::is_odd(n) { cosine_of(y, lost) } else { sine_of(y, lost) }, n)
}

/// Sine and cosine with one reduction; each has the bits that it has alone.
pub fn sin_cos(x: f64) -> (f64, f64) {
    if x.abs() <= SMALL_ANGLE {
        return (sine_of(x, 0.0), cosine_of(x, 0.0));
    }
    let (n, y, lost, usual) = by_quarter_turns(x);
    if !usual {
        return (libm::sin(x), libm::cos(x));
    }
    let (sin, cos) = (sine_of(y, lost), cosine_of(y, lost));
    let (sin, cos) = if f64::is_odd(n) { (cos, sin) } else { (sin, cos) };
    (signed(sin, n), signed(cos, n + f64::bits(1)))
}

/// Sine and cosine with one reduction, without a branch; each has the bits that it has alone.
#[inline(always)]
pub(super) fn both<N: Number>(x: N) -> (N, N, N::Truth) {
    let (n, y, lost, usual) = by_quarter_turns(x);
    let (sine, cosine) = (sine_of(y, lost), cosine_of(y, lost));
    let next = n + N::bits(1);
    let sin = N::select(N::is_odd(n), cosine, sine);
    let cos = N::select(N::is_odd(next), cosine, sine);
    (signed(sin, n), signed(cos, next), usual)
}

/// sin x.
#[inline(always)]
pub fn sin<N: Number>(x: N) -> (N, N::Truth) {
    sine(x, 0)
}

/// cos x.
#[inline(always)]
pub fn cos<N: Number>(x: N) -> (N, N::Truth) {
    sine(x, 1)
}

/// w = tan(x + tail) for x up to 0.68, and w - x.
#[inline(always)]
fn tangent_sum<N: Number>(x: N, tail: N) -> (N, N) {
    const T: [f64; 13] = [
        0.3333333333333341,
        0.13333333333320124,
        0.05396825397622605,
        0.021869488294859542,
        0.0088632398235993,
        0.0035920791075913124,
        0.0014562094543252903,
        0.0005880412408202641,
        0.0002464631348184699,
        7.817944429395571e-5,
        7.140724913826082e-5,
        -1.8558637485527546e-5,
        2.590730518636337e-5,
    ];
    let z = x * x;
    let r = z * x * series(z, &T) + (tail + z * tail);
    (x + r, r)
}

/// From here on, up to an eighth of a turn, the series is that of what is missing of an eighth.
const NEAR_AN_EIGHTH: f64 = f64::from_bits(0x3fe5_9428_0000_0000);

/// An eighth of a turn without y + tail, both as if y were positive.
#[inline(always)]
fn up_to_an_eighth<N: Number>(y: N, tail: N) -> N {
    const EIGHTH: [f64; 2] = [core::f64::consts::FRAC_PI_4, 3.061616997868383e-17];
    let tail = N::select(y.below(N::of(0.0)), -tail, tail);
    (N::of(EIGHTH[0]) - y.abs()) + (N::of(EIGHTH[1]) - tail)
}

/// The tangent of y, or minus its reciprocal if the sign is -1, from x, which is what y lacks of an
/// eighth of a turn, from r = tan(x) - x, and from tan(x)^2 / (tan(x) + sign).
#[inline(always)]
fn from_an_eighth<N: Number>(y: N, sign: N, x: N, r: N, quotient: N) -> N {
    (sign - N::of(2.0) * (x + (r - quotient))) * N::of(1.0).copysign(y)
}

/// -1 / w for w = x + r, with the digits that the quotient -1 / w lacks.
#[inline(always)]
fn minus_reciprocal<N: Number>(w: N, x: N, r: N, quotient: N) -> N {
    let (w_high, q_high) = (upper_word(w), upper_word(quotient));
    let w_low = r - (w_high - x);
    q_high + quotient * (N::of(1.0) + q_high * w_high + q_high * w_low)
}

/// Tangents of smaller numbers are these; so the sign of a zero is kept.
const TINY: f64 = 1e-8;

/// tan x.
#[inline(always)]
pub fn tan<N: Number>(x: N) -> (N, N::Truth) {
    let (zero, one) = (N::of(0.0), N::of(1.0));
    let (n, y, lost, usual) = by_quarter_turns(x);
    let (odd, tail) = (N::is_odd(n), -lost);
    let far = y.abs().at_least(N::of(NEAR_AN_EIGHTH));
    let start = N::select(far, up_to_an_eighth(y, tail), y);
    let (w, r) = tangent_sum(start, N::select(far, zero, tail));
    let sign = N::select(odd, -one, one);
    // One division for both.
    let quotient = N::select(far, w * w, -one) / N::select(far, w + sign, w);
    let near = N::select(odd, minus_reciprocal(w, start, r, quotient), w);
    let value = N::select(far, from_an_eighth(y, sign, start, r, quotient), near);
    (N::select(x.abs().below(N::of(TINY)), x, value), usual)
}

/// As [`tan`] for one number: only what is needed.
#[inline(always)]
pub(super) fn one_tan(x: f64, rare: fn(f64) -> f64) -> f64 {
    let size = x.abs();
    if size < TINY {
        return x;
    }
    let (odd, y, tail) = if size <= SMALL_ANGLE {
        (false, x, 0.0)
    } else {
        let (n, y, lost, usual) = by_quarter_turns(x);
        if !usual {
            return rare(x);
        }
        (f64::is_odd(n), y, -lost)
    };
    if y.abs() >= NEAR_AN_EIGHTH {
        let start = up_to_an_eighth(y, tail);
        let (w, r) = tangent_sum(start, 0.0);
        let sign = if odd { -1.0 } else { 1.0 };
        return from_an_eighth(y, sign, start, r, w * w / (w + sign));
    }
    let (w, r) = tangent_sum(y, tail);
    if odd { minus_reciprocal(w, y, r, -1.0 / w) } else { w }
}

//! The logarithm of the gamma function.
//!
//! Up to 2 there are three series, around 2, around the minimum and around 1, all of them for numbers
//! below 0.9, too, by lgamma(x) = lgamma(x + 1) - log(x). From 2 to 8 there is a quotient for the fraction, and
//! the logarithm of a product; above it is Stirling's formula.

use super::logarithm::log;
use super::{ROUND, series};
use crate::math::number::Number;

/// Where the minimum lies.
const MINIMUM: f64 = 1.4616321449683622;
/// Below this, log(x) is subtracted.
const LOW: f64 = f64::from_bits(0x3fec_cccd_0000_0000);
/// From here on it is the series around 2, above and below [`LOW`].
const NEAR_TWO: [f64; 2] =
    [f64::from_bits(0x3ffb_b4c3_0000_0000), f64::from_bits(0x3fe7_6944_0000_0000)];
/// From here on it is that around the minimum.
const NEAR_MINIMUM: [f64; 2] =
    [f64::from_bits(0x3ff3_b4c4_0000_0000), f64::from_bits(0x3fcd_a661_0000_0000)];
/// Smaller numbers are minus their logarithms.
const LEAST: f64 = 1e-20;
/// Of larger numbers Stirling's formula has fewer terms.
const MOST: f64 = 1e17;

/// lgamma(2 - y).
#[inline(always)]
fn around_two<N: Number>(y: N) -> N {
    const EVEN: [f64; 6] = [
        0.07721566490153287,
        0.06735230105312927,
        0.007385550860814029,
        0.0011927076318336207,
        0.00022086279071390839,
        2.5214456545125733e-05,
    ];
    const ODD: [f64; 6] = [
        0.3224670334241136,
        0.020580808432516733,
        0.0028905138367341563,
        0.0005100697921535113,
        0.00010801156724758394,
        4.4864094961891516e-05,
    ];
    let z = y * y;
    y * series(z, &EVEN) + z * series(z, &ODD) - N::of(0.5) * y
}

/// lgamma([`MINIMUM`] + y).
#[inline(always)]
fn around_minimum<N: Number>(y: N) -> N {
    const VALUE: f64 = -0.12148629053584961;
    const TAIL: f64 = -3.638676997039505e-18;
    const FIRST: [f64; 5] = [
        0.48383612272381005,
        -0.032788541075985965,
        0.006100538702462913,
        -0.0014034646998923284,
        0.00031563207090362595,
    ];
    const SECOND: [f64; 5] = [
        -0.1475877229945939,
        0.01797067508118204,
        -0.0036845201678113826,
        0.000881081882437654,
        -0.00031275416837512086,
    ];
    const THIRD: [f64; 5] = [
        0.06462494023913339,
        -0.010314224129834144,
        0.0022596478090061247,
        -0.0005385953053567405,
        0.0003355291926355191,
    ];
    let z = y * y;
    let w = z * y;
    let rest = series(w, &SECOND) + y * series(w, &THIRD);
    N::of(VALUE) + (z * series(w, &FIRST) - (N::of(TAIL) - w * rest))
}

/// Numerator and denominator of lgamma(1 + y) + y / 2.
#[inline(always)]
fn around_one<N: Number>(y: N) -> (N, N) {
    const U: [f64; 6] = [
        -0.07721566490153287,
        0.6328270640250934,
        1.4549225013723477,
        0.9777175279633727,
        0.22896372806469245,
        0.013381091853678766,
    ];
    const V: [f64; 6] = [
        1.0,
        2.4559779371304113,
        2.128489763798934,
        0.7692851504566728,
        0.10422264559336913,
        0.003217092422824239,
    ];
    (y * series(y, &U), series(y, &V))
}

/// Numerator and denominator of lgamma(2 + y) - y / 2.
#[inline(always)]
fn around_more<N: Number>(y: N) -> (N, N) {
    const S: [f64; 7] = [
        -0.07721566490153287,
        0.21498241596060885,
        0.325778796408931,
        0.14635047265246445,
        0.02664227030336386,
        0.0018402845140733772,
        3.194753265841009e-05,
    ];
    const R: [f64; 7] = [
        1.0,
        1.3920053346762105,
        0.7219355475671381,
        0.17193386563280308,
        0.01864591917156529,
        0.0007779424963818936,
        7.326684307446256e-06,
    ];
    (y * series(y, &S), series(y, &R))
}

/// The largest integer that is not above.
#[inline(always)]
fn floor<N: Number>(x: N) -> N {
    let nearest = (x + N::of(ROUND)) - N::of(ROUND);
    N::select(nearest.above(x), nearest - N::of(1.0), nearest)
}

/// (y + 6) (y + 5) .. of the factors that x from 2 to 8 has, with y its fraction.
#[inline(always)]
fn product<N: Number>(x: N, y: N) -> N {
    let one = N::of(1.0);
    let factor = |k: f64| N::select(x.at_least(N::of(k + 1.0)), y + N::of(k), one);
    factor(6.0) * factor(5.0) * factor(4.0) * factor(3.0) * factor(2.0)
}

/// For x from 8 on, with its logarithm and its reciprocal.
#[inline(always)]
fn stirling<N: Number>(x: N, log: N, z: N) -> N {
    const W: [f64; 6] = [
        0.08333333333333297,
        -0.0027777777772877554,
        0.0007936505586430196,
        -0.00059518755745034,
        0.0008363399189962821,
        -0.0016309293409657527,
    ];
    let y = z * z;
    let w = N::of(0.4189385332046727) + z * series(y, &W);
    (x - N::of(0.5)) * (log - N::of(1.0)) + w
}

/// lgamma x.
#[inline(always)]
pub fn lgamma<N: Number>(x: N) -> (N, N::Truth) {
    let (one, half) = (N::of(1.0), N::of(0.5));
    let [low, below_two, below_eight] = [LOW, 2.0, 8.0].map(|limit| x.below(N::of(limit)));
    let either = |[above, below]: [f64; 2]| N::select(low, N::of(below), N::of(above));
    let y = x - floor(x);
    let (log, _) = log(N::select(low, x, N::select(below_eight, product(x, y), x)));
    // One division for all ranges.
    let close = x - either([1.0, 0.0]);
    let ((p, q), (r, s)) = (around_one(close), around_more(y));
    let first = N::select(below_two, p, N::select(below_eight, r, one));
    let second = N::select(below_two, q, N::select(below_eight, s, x));
    let quotient = first / second;
    let small = N::select(
        x.at_least(either(NEAR_TWO)),
        around_two(either([2.0, 1.0]) - x),
        N::select(
            x.at_least(either(NEAR_MINIMUM)),
            around_minimum(x - either([MINIMUM, MINIMUM - 1.0])),
            quotient - half * close,
        ),
    );
    let small = N::select(low, -log, N::of(0.0)) + small;
    let large = N::select(below_eight, half * y + quotient + log, stirling(x, log, quotient));
    let usual = x.at_least(N::of(LEAST)) & x.at_most(N::of(MOST));
    (N::select(below_two, small, large), usual)
}

/// As [`lgamma`] for one number, of whose ranges only one is computed.
#[inline(always)]
pub(super) fn one_lgamma(x: f64, rare: fn(f64) -> f64) -> f64 {
    if !(x.at_least(LEAST) & x.at_most(MOST)) {
        return rare(x);
    }
    if x >= 8.0 {
        return stirling(x, log(x).0, 1.0 / x);
    }
    if x >= 2.0 {
        let y = x - floor(x);
        let (p, q) = around_more(y);
        return 0.5 * y + p / q + log(product(x, y)).0;
    }
    let low = x < LOW;
    let either = |[above, below]: [f64; 2]| if low { below } else { above };
    let small = if x >= either(NEAR_TWO) {
        around_two(either([2.0, 1.0]) - x)
    } else if x >= either(NEAR_MINIMUM) {
        around_minimum(x - either([MINIMUM, MINIMUM - 1.0]))
    } else {
        let close = x - either([1.0, 0.0]);
        let (p, q) = around_one(close);
        p / q - 0.5 * close
    };
    let from = if low { -log(x).0 } else { 0.0 };
    from + small
}

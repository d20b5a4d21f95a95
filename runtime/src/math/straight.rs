//! Mathematical functions whose usual path has no branch, so that several arguments can be taken at
//! once with the bits of one at a time.
//!
//! Each function here is a *core* that computes the result and whether the argument is usual; for the
//! others (NaN, infinities, overflow, subnormal numbers, huge angles) the `libm` crate has the branches.
//! [`many`] applies a core to several arguments, which the compiler makes vectors of, and goes back to
//! one at a time if one of them is unusual. Rust contracts and reorders no float operation, so the
//! bits are the same whatever the vector length.
//!
//! The formulas are those of FreeBSD's msun (as in `libm`), where branches by size are replaced:
//! exp always reduces by the nearest multiple of ln 2, sin and cos always take the second
//! round of reduction, tanh is always expm1(2|x|) / (expm1(2|x|) + 2).
//!
//! A core computes with any [`Number`]: with a float it computes the result, and with a value of a
//! program that is being written it writes what computes the result. So a compiler can have the
//! functions in its own code, and there is still one implementation of each.

use super::number::Number;

/// One result: by the core, or by the function for unusual arguments.
#[inline(always)]
fn one(x: f64, core: impl Fn(f64) -> (f64, bool), rare: fn(f64) -> f64) -> f64 {
    let (y, usual) = core(x);
    if usual { y } else { rare(x) }
}

/// Results for many arguments, with the bits of one at a time.
#[inline(always)]
pub fn many(x: &[f64], y: &mut [f64], core: impl Fn(f64) -> (f64, bool), each: fn(f64) -> f64) {
    let mut all_usual = true;
    for (x, y) in x.iter().zip(&mut *y) {
        let (value, usual) = core(*x);
        *y = value;
        all_usual &= usual;
    }
    if !all_usual {
        for (x, y) in x.iter().zip(y) {
            *y = each(*x);
        }
    }
}

/// Numbers that [`in_place`] takes at once.
const TOGETHER: usize = 8;

/// Eight results in place of arguments. Always inlined, like everything here: only then is it compiled
/// for the vectors that its caller is compiled for.
#[inline(always)]
fn eight(x: &mut [f64; TOGETHER], core: impl Fn(f64) -> (f64, bool), each: fn(f64) -> f64) {
    let args = *x;
    let mut all_usual = true;
    for k in 0..TOGETHER {
        let (value, usual) = core(args[k]);
        x[k] = value;
        all_usual &= usual;
    }
    if !all_usual {
        for k in 0..TOGETHER {
            x[k] = each(args[k]);
        }
    }
}

/// As [`many`], with the results in place of the arguments, eight at a time.
#[inline(always)]
pub fn in_place(x: &mut [f64], core: impl Fn(f64) -> (f64, bool), each: fn(f64) -> f64) {
    let (blocks, rest) = x.as_chunks_mut::<TOGETHER>();
    for block in blocks {
        eight(block, &core, each);
    }
    if let [x] = rest {
        *x = each(*x);
    } else if !rest.is_empty() {
        // Filled up with a number that is usual for all functions.
        let mut last = [0.5; TOGETHER];
        last[..rest.len()].copy_from_slice(rest);
        eight(&mut last, &core, each);
        rest.copy_from_slice(&last[..rest.len()]);
    }
}

/// Adding this to a number far below it, and taking it away again, rounds to the nearest integer;
/// the integer stands in the low bits of the sum.
pub(super) const ROUND: f64 = 6755399441055744.0;

/// x - 2 + 2 x / (e^x - 1) in powers of x^2, beginning with x^2.
pub(super) const EXPONENTIAL: [f64; 5] = [
    0.16666666666666602,
    -0.0027777777777015593,
    6.613756321437934e-5,
    -1.6533902205465252e-6,
    4.1381367970572385e-8,
];

const LN2_HI: f64 = f64::from_bits(0x3fe6_2e42_fee0_0000);
const LN2_LO: f64 = f64::from_bits(0x3dea_39ef_3579_3c76);
const ONE: u64 = 0x3ff0_0000_0000_0000;

/// c[0] + x (c[1] + x (c[2] + ..)).
#[inline(always)]
pub(super) fn series<N: Number>(x: N, c: &[f64]) -> N {
    let mut rest = c.iter().rev();
    let mut sum = N::of(rest.next().copied().unwrap_or_default());
    for c in rest {
        sum = N::of(*c) + x * sum;
    }
    sum
}

/// x = k ln 2 + hi - lo: the low bits of the first result are k.
#[inline(always)]
fn by_ln2<N: Number>(x: N) -> (N::Bits, N, N) {
    let shifted = x * N::of(core::f64::consts::LOG2_E) + N::of(ROUND);
    let k = shifted - N::of(ROUND);
    (shifted.to_bits(), x - k * N::of(LN2_HI), k * N::of(LN2_LO))
}

/// e^x.
#[inline(always)]
pub fn exp<N: Number>(x: N) -> (N, N::Truth) {
    let (k, hi, lo) = by_ln2(x);
    let r = hi - lo;
    let rr = r * r;
    let c = r - rr * series(rr, &EXPONENTIAL);
    let y = N::of(1.0) + (r * c / (N::of(2.0) - c) - lo + hi);
    // Times 2^k: both are normal numbers.
    (N::from_bits(y.to_bits() + (k << 52)), x.abs().at_most(N::of(708.0)))
}

/// e^x - 1 for x from 0 to 36.
#[inline(always)]
fn expm1_up_to_36<N: Number>(x: N) -> N {
    const Q: [f64; 6] = [
        1.0,
        -0.03333333333333313,
        0.0015873015872548146,
        -7.93650757867488e-5,
        4.008217827329362e-6,
        -2.0109921818362437e-7,
    ];
    let (k, hi, lo) = by_ln2(x);
    let r = hi - lo;
    let c = (hi - r) - lo;
    let half = N::of(0.5) * r;
    let square = r * half;
    let r1 = series(square, &Q);
    let t = N::of(3.0) - r1 * half;
    let e = square * ((r1 - t) / (N::of(6.0) - r * t));
    let e = (r * (e - c) - c) - square;
    // 2^k ((1 - 2^-k) + r - e); the first two are exact.
    let one = N::of(1.0).to_bits();
    let power = N::from_bits(one + (k << 52));
    let inverse = N::from_bits(one - (k << 52));
    ((N::of(1.0) - inverse) - (e - r)) * power
}

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
fn by_power_of_two<N: Number>(x: N) -> (N, N) {
    let low = 0x3fe6_a09e_0000_0000;
    let shifted = x.to_bits() + N::bits(ONE - low);
    // The exponent as a float, by way of the low bits of a large one.
    let k = N::from_bits((shifted >> 52) | N::bits(0x4330_0000_0000_0000))
        - N::of(4503599627370496.0 + 1023.0);
    let mantissa = (shifted & N::bits(0x000f_ffff_ffff_ffff)) + N::bits(low);
    (k, N::from_bits(mantissa) - N::of(1.0))
}

/// log(1 + f) + k ln 2 + c, where c is small.
#[inline(always)]
fn log_of<N: Number>(k: N, f: N, c: N) -> N {
    let half_square = N::of(0.5) * f * f;
    let s = f / (N::of(2.0) + f);
    let z = s * s;
    let w = z * z;
    let t1 = w * series(w, &[LG[1], LG[3], LG[5]]);
    let t2 = z * series(w, &[LG[0], LG[2], LG[4], LG[6]]);
    s * (half_square + (t2 + t1)) + (k * N::of(LN2_LO) + c) - half_square + f + k * N::of(LN2_HI)
}

/// log x.
#[inline(always)]
pub fn log<N: Number>(x: N) -> (N, N::Truth) {
    let (k, f) = by_power_of_two(x);
    let usual = x.at_least(N::of(f64::MIN_POSITIVE)) & x.at_most(N::of(f64::MAX));
    (log_of(k, f, N::of(0.0)), usual)
}

/// log(1 + x).
#[inline(always)]
pub fn log1p<N: Number>(x: N) -> (N, N::Truth) {
    // The sign of zero is not kept.
    let usual = x.above(N::of(-0.9999)) & x.below(N::of(1e15)) & x.abs().at_least(N::of(1e-300));
    (log1p_below_2_to_50(x), usual)
}

#[inline(always)]
fn log1p_below_2_to_50<N: Number>(x: N) -> N {
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

/// The quarter turns nearest to x (in the low bits), what is left in two parts, and whether that is
/// exact enough.
#[inline(always)]
fn by_quarter_turns<N: Number>(x: N) -> (N::Bits, N, N, N::Truth) {
    const PIO2_1: f64 = 1.5707963267341256;
    const PIO2_2: f64 = 6.077100506303966e-11;
    const PIO2_2T: f64 = 2.0222662487959506e-21;
    let shifted = x * N::of(core::f64::consts::FRAC_2_PI) + N::of(ROUND);
    let n = shifted - N::of(ROUND);
    let t = x - n * N::of(PIO2_1);
    let w = n * N::of(PIO2_2);
    let r = t - w;
    let w = n * N::of(PIO2_2T) - ((t - r) - w);
    let y0 = r - w;
    let y1 = (r - y0) - w;
    // Good to 118 bits: enough unless that many cancel.
    let enough = (y0.abs() * N::of(281474976710656.0)).at_least(x.abs());
    (shifted.to_bits(), y0, y1, x.abs().at_most(N::of(1e5)) & enough)
}

/// Sine of y + tail, at most an eighth of a turn.
#[inline(always)]
fn sine_of<N: Number>(y: N, tail: N) -> N {
    const S: [f64; 6] = [
        -0.16666666666666632,
        0.00833333333332249,
        -0.0001984126982985795,
        2.7557313707070068e-6,
        -2.5050760253406863e-8,
        1.58969099521155e-10,
    ];
    let z = y * y;
    let w = z * z;
    let r = series(z, &S[1..4]) + z * w * series(z, &S[4..]);
    let v = z * y;
    y - ((z * (N::of(0.5) * tail - v * r) - tail) - v * N::of(S[0]))
}

/// Cosine of y + tail, at most an eighth of a turn.
#[inline(always)]
fn cosine_of<N: Number>(y: N, tail: N) -> N {
    const C: [f64; 6] = [
        0.0416666666666666,
        -0.001388888888887411,
        2.480158728947673e-5,
        -2.7557314351390663e-7,
        2.087572321298175e-9,
        -1.1359647557788195e-11,
    ];
    let z = y * y;
    let w = z * z;
    let r = z * series(z, &C[..3]) + w * w * series(z, &C[3..]);
    let hz = N::of(0.5) * z;
    let w = N::of(1.0) - hz;
    w + (((N::of(1.0) - w) - hz) + (z * r - y * tail))
}

/// Minus the number if a bit of the quarter turns says so.
#[inline(always)]
fn signed<N: Number>(value: N, n: N::Bits) -> N {
    N::from_bits(value.to_bits() ^ ((n & N::bits(2)) << 62))
}

/// Sine (or cosine, if one quarter turn more is asked for).
#[inline(always)]
fn sine<N: Number>(x: N, quarter_turns: u64) -> (N, N::Truth) {
    let (n, y, tail, usual) = by_quarter_turns(x);
    let n = n + N::bits(quarter_turns);
    let value = N::select(N::is_odd(n), cosine_of(y, tail), sine_of(y, tail));
    (signed(value, n), usual)
}

/// Numbers up to this are reduced to themselves by zero quarter turns: it is below pi / 4.
const SMALL_ANGLE: f64 = 0.785;

/// As [`sine`] for one number: only the series that is needed, and no reduction of what is small.
/// That changes no bit: what is left out would give zeros.
#[inline(always)]
fn one_sine(x: f64, quarter_turns: u64, rare: fn(f64) -> f64) -> f64 {
    if x.abs() <= SMALL_ANGLE {
        return if quarter_turns == 0 { sine_of(x, 0.0) } else { cosine_of(x, 0.0) };
    }
    let (n, y, tail, usual) = by_quarter_turns(x);
    if !usual {
        return rare(x);
    }
    let n = n + f64::bits(quarter_turns);
    signed(if f64::is_odd(n) { cosine_of(y, tail) } else { sine_of(y, tail) }, n)
}

/// Sine and cosine with one reduction; each has the bits that it has alone.
pub fn sin_cos(x: f64) -> (f64, f64) {
    if x.abs() <= SMALL_ANGLE {
        return (sine_of(x, 0.0), cosine_of(x, 0.0));
    }
    let (n, y, tail, usual) = by_quarter_turns(x);
    if !usual {
        return (libm::sin(x), libm::cos(x));
    }
    let (sin, cos) = (sine_of(y, tail), cosine_of(y, tail));
    let (sin, cos) = if f64::is_odd(n) { (cos, sin) } else { (sin, cos) };
    (signed(sin, n), signed(cos, n + f64::bits(1)))
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

/// tanh x.
#[inline(always)]
pub fn tanh<N: Number>(x: N) -> (N, N::Truth) {
    let size = x.abs();
    let t = expm1_up_to_36(N::of(2.0) * size);
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

/// The number with the lower half of its digits cut off, so that its square is exact.
#[inline(always)]
pub(super) fn upper_half<N: Number>(x: N) -> N {
    N::from_bits(x.to_bits() & N::bits(!0 << 27))
}

/// e / (1 + e)^2 for e from 0 to 1, where only the quotient and its divisor are rounded.
#[inline(always)]
fn over_square_of_one_more<N: Number>(e: N) -> N {
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
fn times_decay<N: Number>(y: N, t: N) -> N {
    y - y * t * (N::of(1.0) - t * (N::of(0.5) - t * N::of(1.0 / 6.0)))
}

/// log(1 + e^x).
#[inline(always)]
pub fn softplus<N: Number>(x: N) -> (N, N::Truth) {
    let (e, usual) = exp(-x.abs());
    let larger = N::select(x.above(N::of(0.0)), x, N::of(0.0));
    (larger + log1p_below_2_to_50(e), usual)
}

/// The functions one at a time, by name, with the cores; sine and cosine have short cuts.
macro_rules! functions {
    ($($(#[$doc:meta])* $name:ident, $rare:expr;)*) => {
        /// One result each.
        pub mod each {
            $($(#[$doc])* pub fn $name(x: f64) -> f64 { super::one(x, super::$name, $rare) })*

            /// Sine.
            pub fn sin(x: f64) -> f64 {
                super::one_sine(x, 0, libm::sin)
            }

            /// Cosine.
            pub fn cos(x: f64) -> f64 {
                super::one_sine(x, 1, libm::cos)
            }
        }

        /// The core of the function with a name.
        pub fn core<N: Number>(name: &str) -> Option<fn(N) -> (N, N::Truth)> {
            match name {
                $(stringify!($name) => Some($name::<N>),)*
                "sin" => Some(sin::<N>),
                "cos" => Some(cos::<N>),
                _ => None,
            }
        }
    };
}

functions! {
    /// Exponential.
    exp, libm::exp;
    /// Natural logarithm.
    log, libm::log;
    /// log(1 + x).
    log1p, libm::log1p;
    /// Hyperbolic tangent.
    tanh, libm::tanh;
    /// 1 / (1 + exp(-x)). The exponential never overflows.
    sigmoid, |x| {
        let e = libm::exp(-x.abs());
        if x >= 0.0 { 1.0 / (1.0 + e) } else { e / (1.0 + e) }
    };
    /// Derivative of the sigmoid function.
    sigmoid_slope, |x| super::over_square_of_one_more(libm::exp(-x.abs()));
    /// exp(-x^2).
    gaussian, |x| {
        if x.abs() > 30.0 {
            return 0.0;
        }
        let high = super::upper_half(x);
        super::times_decay(libm::exp(-(high * high)), (x - high) * (x + high))
    };
    /// log(1 + exp(x)). The exponential never overflows.
    softplus, |x| super::super::maximum(x, 0.0) + libm::log1p(libm::exp(-x.abs()));
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The result, and whether it counts.
    type Core = fn(f64) -> (f64, bool);
    type One = fn(f64) -> f64;

    /// Name, core, one at a time, and the function of `libm` whose formulas these are.
    const ALL: [(&str, Core, One, One); 6] = [
        ("exp", exp, each::exp, libm::exp),
        ("log", log, each::log, libm::log),
        ("log1p", log1p, each::log1p, libm::log1p),
        ("sin", sin, each::sin, libm::sin),
        ("cos", cos, each::cos, libm::cos),
        ("tanh", tanh, each::tanh, libm::tanh),
    ];

    const EDGES: [f64; 20] = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        f64::NAN,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::MAX,
        f64::MIN,
        f64::MIN_POSITIVE,
        5e-324,
        1e-310,
        708.0,
        -708.5,
        709.9,
        -745.2,
        core::f64::consts::PI,
        1e5,
        1e22,
        -1e-17,
    ];

    /// Numbers of all sizes, from a linear congruence.
    fn numbers(count: usize) -> impl Iterator<Item = f64> {
        let mut state = 1u64;
        (0..count).map(move |_| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            let unit = (state >> 11) as f64 / (1u64 << 53) as f64;
            let scale = [1e-12, 1e-3, 1.0, 10.0, 700.0, 1e6][(state >> 3) as usize % 6];
            (unit * 2.0 - 1.0) * scale
        })
    }

    fn distance(a: f64, b: f64) -> u64 {
        let order = |x: f64| match x.to_bits() as i64 {
            bits @ 0.. => bits,
            bits => i64::MIN.wrapping_sub(bits),
        };
        if a.is_nan() && b.is_nan() { 0 } else { order(a).abs_diff(order(b)) }
    }

    #[test]
    fn several_at_once_have_the_bits_of_one_at_a_time() {
        let xs: Vec<f64> = EDGES.into_iter().chain(numbers(100_000)).collect();
        for (name, core, each, _) in ALL {
            // Whole eights, and rests of every length.
            let lengths = (1..=17).cycle();
            let mut left = &xs[..];
            for length in lengths {
                let Some((x, rest)) = left.split_at_checked(length) else { break };
                left = rest;
                let mut y = vec![0.0; x.len()];
                many(x, &mut y, core, each);
                let mut replaced = x.to_vec();
                in_place(&mut replaced, core, each);
                for ((x, y), z) in x.iter().zip(y).zip(replaced) {
                    assert_eq!(distance(y, each(*x)), 0, "{name}({x:e})");
                    assert_eq!(distance(z, each(*x)), 0, "{name}({x:e}) in place");
                }
            }
        }
    }

    #[test]
    fn sine_and_cosine_together_have_the_bits_of_each_alone() {
        let near = |x: f64| [x.next_down(), x, x.next_up()];
        let edges = [0.785, core::f64::consts::FRAC_PI_4, 1e5, 2.3, 5.5].map(near);
        let edges = edges.into_iter().flatten().flat_map(|x| [x, -x]);
        for x in EDGES.into_iter().chain(edges).chain(numbers(100_000)) {
            let (s, c) = sin_cos(x);
            let want = [each::sin(x), each::cos(x)];
            assert_eq!([distance(s, want[0]), distance(c, want[1])], [0, 0], "{x:e}");
            // And without the short cuts.
            for (y, core) in [(s, sin as Core), (c, cos)] {
                let (value, usual) = core(x);
                assert!(!usual || distance(value, y) == 0, "{x:e}");
            }
        }
    }

    #[test]
    fn one_at_a_time_they_are_as_near_as_those_of_libm() {
        for (name, _, each, libm) in ALL {
            for x in EDGES.into_iter().chain(numbers(100_000)) {
                let (y, want) = (each(x), libm(x));
                let far = if name == "tanh" { 3 } else { 1 };
                assert!(distance(y, want) <= far, "{name}({x:e}) = {y:e}, {want:e}");
                assert_eq!(
                    y == 0.0 && y.is_sign_negative(),
                    want == 0.0 && want.is_sign_negative(),
                    "{name}({x:e})"
                );
            }
        }
    }
}

//! Mathematical functions whose usual path has no branch, so that several arguments can be taken at
//! once with the bits of one at a time.
//!
//! Each function here is a *core* that computes the result and whether the argument is usual; for the
//! others (NaN, infinities, overflow, subnormal numbers, huge angles) the `libm` crate has the branches.
//! [`many`] applies a core to several arguments, which the compiler makes vectors of, and goes back to
//! one at a time where one of a vector is unusual. Rust contracts and reorders no float operation, so the
//! bits are the same whatever the vector length.
//!
//! The formulas are those of FreeBSD's msun (as in `libm`), where branches by size are replaced:
//! exp always reduces by the nearest multiple of ln 2, sin and cos always take the second
//! round of reduction, tanh is always expm1(2|x|) / (expm1(2|x|) + 2). exp and expm1 have a polynomial of their own in place
//! of a quotient, and polynomials are summed by Estrin's scheme: what is waited for is shorter, alone and for eight numbers
//! at once. Functions that have a formula for each of several
//! ranges (tan, asin, acos, atan, erf, erfc, lgamma) compute all of them and select one, with one division
//! for what they divide; one at a time they compute the one that is selected, which has the same bits. erfc takes
//! one exponential of a sum instead of two, exp2 is that of x ln 2 in two parts. cbrt and digamma are not msun's.
//!
//! A core computes with any [`Number`]: with a float it computes the result, and with a value of a
//! program that is being written it writes what computes the result. So a compiler can have the
//! functions in its own code, and there is still one implementation of each.

mod angles;
mod digamma;
mod error;
mod exponential;
mod gamma;
mod hyperbolic;
mod inverse;
mod logarithm;

use super::number::Number;

pub use angles::{cos, sin, sin_cos, tan};
pub use digamma::digamma;
pub use error::{erf, erfc};
pub(in crate::math) use exponential::beyond_linear;
pub use exponential::{
    cosh, exp, exp2, expm1, gaussian, sigmoid, sigmoid_slope, sinh, softplus, tanh,
};
pub use gamma::lgamma;
pub use hyperbolic::{acosh, asinh, atanh};
pub use inverse::{acos, asin, atan, cbrt};
pub(in crate::math) use logarithm::by_power_of_two_from;
pub use logarithm::{log, log1p, log2, log10};

/// A function of one float. It is a type, so that its core is compiled into the loop over many arguments
/// however long it is: a function that is handed over would be called if it is long.
pub trait Function {
    /// The result, and whether the argument is usual.
    fn core(x: f64) -> (f64, bool);
    /// The result for any argument.
    fn each(x: f64) -> f64;
}

/// One result: by the core, or by the function for unusual arguments.
#[inline(always)]
fn one(x: f64, core: impl Fn(f64) -> (f64, bool), rare: fn(f64) -> f64) -> f64 {
    let (y, usual) = core(x);
    if usual { y } else { rare(x) }
}

/// Numbers that are taken at once. Everything that takes them is always inlined: only then is it compiled for the vectors that its caller is compiled for.
pub(super) const TOGETHER: usize = 8;

/// Results of so many arguments, or none if one of these is unusual.
#[inline(always)]
fn block<F: Function, const N: usize>(x: &[f64; N]) -> Option<[f64; N]> {
    let (mut results, mut all_usual) = ([0.0; N], true);
    for k in 0..N {
        let (value, usual) = F::core(x[k]);
        results[k] = value;
        all_usual &= usual;
    }
    all_usual.then_some(results)
}

/// Results in place of the arguments, one by one. It is called: so what is usual needs no places for what is rare.
#[cold]
#[inline(never)]
fn one_by_one<F: Function>(x: &mut [f64]) {
    for x in x {
        *x = F::each(*x);
    }
}

/// Results for many arguments, with the bits of one at a time, eight at a time; as many as both have.
#[inline(always)]
pub fn many<F: Function>(x: &[f64], y: &mut [f64]) {
    let len = x.len().min(y.len());
    let (args, last) = x[..len].as_chunks::<TOGETHER>();
    let (blocks, rest) = y[..len].as_chunks_mut::<TOGETHER>();
    for (args, results) in args.iter().zip(blocks) {
        match block::<F, TOGETHER>(args) {
            Some(usual) => *results = usual,
            None => {
                *results = *args;
                one_by_one::<F>(results);
            }
        }
    }
    rest.copy_from_slice(last);
    fewer_than_eight::<F>(rest);
}

/// As [`many`], with the results in place of the arguments.
#[inline(always)]
pub fn in_place<F: Function>(x: &mut [f64]) {
    let (blocks, rest) = x.as_chunks_mut::<TOGETHER>();
    for results in blocks {
        match block::<F, TOGETHER>(results) {
            Some(usual) => *results = usual,
            None => one_by_one::<F>(results),
        }
    }
    fewer_than_eight::<F>(rest);
}

/// What is left of many: at most four at a time, and a single one by itself.
#[inline(always)]
fn fewer_than_eight<F: Function>(mut rest: &mut [f64]) {
    while let [_, _, ..] = rest {
        let (some, others) = rest.split_at_mut(rest.len().min(4));
        match block::<F, 4>(&up_to_four(some)) {
            Some(usual) => put(usual, some),
            None => one_by_one::<F>(some),
        }
        rest = others;
    }
    if let [x] = rest {
        *x = F::each(*x);
    }
}

/// Up to four numbers, filled up with one that is usual for all functions. They are loaded one by one: a vector of what has just been stored in pieces would
/// wait until that is in the cache.
#[inline(always)]
pub(super) fn up_to_four(x: &[f64]) -> [f64; 4] {
    core::array::from_fn(|k| x.get(k).copied().unwrap_or(0.5))
}

/// Puts as many of four numbers as there are places.
#[inline(always)]
pub(super) fn put(four: [f64; 4], places: &mut [f64]) {
    match places {
        [a, b, c, d] => [*a, *b, *c, *d] = four,
        [a, b, c] => [*a, *b, *c, _] = four,
        [a, b] => [*a, *b, _, _] = four,
        _ => {}
    }
}

/// Sines in place of arguments, and cosines of them, eight at a time; as many as both have.
#[inline(always)]
pub fn sines_and_cosines(x: &mut [f64], cosines: &mut [f64]) {
    #[inline(always)]
    fn block<const N: usize>(x: &[f64; N]) -> Option<([f64; N], [f64; N])> {
        let (mut sines, mut cosines, mut all_usual) = ([0.0; N], [0.0; N], true);
        for k in 0..N {
            let usual;
            (sines[k], cosines[k], usual) = angles::both(x[k]);
            all_usual &= usual;
        }
        all_usual.then_some((sines, cosines))
    }
    #[cold]
    #[inline(never)]
    fn one_by_one(x: &mut [f64], cosines: &mut [f64]) {
        for (x, cosine) in x.iter_mut().zip(cosines) {
            (*x, *cosine) = sin_cos(*x);
        }
    }
    let len = x.len().min(cosines.len());
    let (blocks, mut rest) = x[..len].as_chunks_mut::<TOGETHER>();
    let (cosine_blocks, mut cosine_rest) = cosines[..len].as_chunks_mut::<TOGETHER>();
    for (results, cosines) in blocks.iter_mut().zip(cosine_blocks) {
        match block(results) {
            Some(usual) => (*results, *cosines) = usual,
            None => one_by_one(results, cosines),
        }
    }
    while let [_, _, ..] = rest {
        let (some, others) = rest.split_at_mut(rest.len().min(4));
        let (some_cosines, other_cosines) = cosine_rest.split_at_mut(some.len());
        match block(&up_to_four(some)) {
            Some((sines, cosines)) => {
                put(sines, some);
                put(cosines, some_cosines);
            }
            None => one_by_one(some, some_cosines),
        }
        (rest, cosine_rest) = (others, other_cosines);
    }
    if let ([x], [cosine]) = (rest, cosine_rest) {
        (*x, *cosine) = sin_cos(*x);
    }
}

/// Adding this to a number far below it, and taking it away again, rounds to the nearest integer;
/// the integer stands in the low bits of the sum.
pub(super) const ROUND: f64 = 6755399441055744.0;

const LN2_HI: f64 = f64::from_bits(0x3fe6_2e42_fee0_0000);
const LN2_LO: f64 = f64::from_bits(0x3dea_39ef_3579_3c76);

/// c[0] + c[1] x + c[2] x^2 + .., of up to 16 coefficients, by Estrin's scheme: neighbours are added, then
/// neighbours among these sums, and so on. So a long polynomial is a short chain of operations.
#[inline(always)]
pub(super) fn series<N: Number, const L: usize>(x: N, c: &[f64; L]) -> N {
    const { assert!(L <= 16) };
    // Powers that are not needed are not written down.
    let second = if L > 2 { x * x } else { x };
    let fourth = if L > 4 { second * second } else { x };
    let first = eight(c, 0, [x, second, fourth]);
    if L <= 8 {
        return first;
    }
    first + fourth * fourth * eight(c, 8, [x, second, fourth])
}

/// As [`series`], of any number of coefficients, by Horner's scheme for the even and for the odd powers: the chain is
/// longer. It is for the error function and digamma, which are less exact by the other scheme.
#[inline(always)]
fn in_halves<N: Number, const L: usize>(x: N, c: &[f64; L]) -> N {
    let z = x * x;
    let half = |first: usize| {
        let mut rest = (first..L).step_by(2).rev().map(|k| N::of(c[k]));
        let last = rest.next().unwrap_or(N::of(0.0));
        rest.fold(last, |sum, c| c + z * sum)
    };
    half(0) + x * half(1)
}

/// The terms of eight coefficients from one on, or of as many as there are.
#[inline(always)]
fn eight<N: Number, const L: usize>(c: &[f64; L], k: usize, powers: [N; 3]) -> N {
    let first = four(c, k, powers);
    if k + 4 < L { first + powers[2] * four(c, k + 4, powers) } else { first }
}

/// The terms of four.
#[inline(always)]
fn four<N: Number, const L: usize>(c: &[f64; L], k: usize, powers: [N; 3]) -> N {
    let first = two(c, k, powers[0]);
    if k + 2 < L { first + powers[1] * two(c, k + 2, powers[0]) } else { first }
}

/// The terms of two.
#[inline(always)]
fn two<N: Number, const L: usize>(c: &[f64; L], k: usize, x: N) -> N {
    let first = N::of(c[k]);
    if k + 1 < L { first + x * N::of(c[k + 1]) } else { first }
}

/// The number with the lower half of its digits cut off, so that its square is exact.
#[inline(always)]
pub(super) fn upper_half<N: Number>(x: N) -> N {
    N::from_bits(x.to_bits() & N::bits(!0 << 27))
}

/// The number without its lower 32 bits.
#[inline(always)]
fn upper_word<N: Number>(x: N) -> N {
    N::from_bits(x.to_bits() & N::bits(!0 << 32))
}

/// The functions one at a time, by name, with the cores. Of those behind `short` one number needs less: it
/// computes the same, but only what its range asks for.
macro_rules! functions {
    (type $name:ident $(#[$doc:meta])*) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        pub struct $name;

        impl super::Function for $name {
            #[inline(always)]
            fn core(x: f64) -> (f64, bool) {
                super::$name(x)
            }
            #[inline(always)]
            fn each(x: f64) -> f64 {
                super::each::$name(x)
            }
        }
    };
    (
        whole { $($(#[$doc:meta])* $name:ident, $rare:expr;)* }
        short { $($(#[$short_doc:meta])* $short:ident, $one:expr;)* }
    ) => {
        /// One result each.
        pub mod each {
            $($(#[$doc])* pub fn $name(x: f64) -> f64 { super::one(x, super::$name, $rare) })*
            $($(#[$short_doc])* pub fn $short(x: f64) -> f64 { $one(x) })*
        }

        /// The functions as types, by name.
        #[allow(non_camel_case_types)]
        pub mod functions {
            $(functions!(type $name $(#[$doc])*);)*
            $(functions!(type $short $(#[$short_doc])*);)*
        }

        /// The core of the function with a name.
        pub fn core<N: Number>(name: &str) -> Option<fn(N) -> (N, N::Truth)> {
            match name {
                $(stringify!($name) => Some($name::<N>),)*
                $(stringify!($short) => Some($short::<N>),)*
                _ => None,
            }
        }
    };
}

functions! {
    whole {
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
        sigmoid_slope, |x| super::exponential::over_square_of_one_more(libm::exp(-x.abs()));
        /// exp(-x^2).
        gaussian, |x| {
            if x.abs() > 30.0 {
                return 0.0;
            }
            let high = super::upper_half(x);
            super::exponential::times_decay(libm::exp(-(high * high)), (x - high) * (x + high))
        };
        /// log(1 + exp(x)). The exponential never overflows.
        softplus, |x| super::super::maximum(x, 0.0) + libm::log1p(libm::exp(-x.abs()));
        /// 2 to the power x.
        exp2, libm::exp2;
        /// exp(x) - 1.
        expm1, libm::expm1;
        /// Hyperbolic sine.
        sinh, libm::sinh;
        /// Hyperbolic cosine.
        cosh, libm::cosh;
        /// Inverse of the hyperbolic sine.
        asinh, libm::asinh;
        /// Inverse of the hyperbolic cosine; NaN below 1.
        acosh, libm::acosh;
        /// Inverse of the hyperbolic tangent; infinite at -1 and 1, NaN beyond.
        atanh, libm::atanh;
        /// Logarithm to base 2.
        log2, libm::log2;
        /// Logarithm to base 10.
        log10, libm::log10;
        /// Cube root.
        cbrt, libm::cbrt;
    }
    short {
        /// Sine.
        sin, |x| super::angles::one_sine(x, 0, libm::sin);
        /// Cosine.
        cos, |x| super::angles::one_sine(x, 1, libm::cos);
        /// Tangent.
        tan, |x| super::angles::one_tan(x, libm::tan);
        /// Angle with the given sine.
        asin, |x| super::inverse::one_asin(x, libm::asin);
        /// Angle with the given cosine.
        acos, |x| super::inverse::one_acos(x, libm::acos);
        /// Angle with the given tangent.
        atan, |x| super::inverse::one_atan(x, libm::atan);
        /// Error function: 2 / sqrt(pi) times the integral of exp(-t^2) from 0 to x.
        erf, |x| super::error::one_erf(x, libm::erf);
        /// 1 - erf(x), exact where erf(x) is near 1.
        erfc, |x| super::error::one_erfc(x, libm::erfc);
        /// Logarithm of the absolute value of the gamma function.
        lgamma, |x| super::gamma::one_lgamma(x, libm::lgamma);
        /// Derivative of [`lgamma`]; at 0 infinite with the sign opposite to the zero's, NaN at negative
        /// integers and at -inf.
        digamma, super::digamma::one_digamma;
    }
}

#[cfg(test)]
mod tests;

//! Functions of two arguments for several pairs at once, with the bits of one at a time: as [`many`](super::straight::many) for those of one.

use super::number::Number;
use super::straight::{TOGETHER, put, up_to_four};
use super::{plane, power};

/// A core: the result, and whether the pair is usual.
pub type Core<N> = fn(N, N) -> (N, <N as Number>::Truth);

/// A function of two floats: a type, as [`Function`](super::straight::Function) is one of one.
pub trait Pair {
    /// The result, and whether the pair is usual.
    fn core(x: f64, y: f64) -> (f64, bool);
    /// The result for any pair.
    fn each(x: f64, y: f64) -> f64;
}

/// The functions as types, with the core of each and the function for any pair; and the cores by name.
macro_rules! pairs {
    ($($(#[$doc:meta])* $ty:ident $name:literal $core:path, $each:path;)*) => {
        $(
            $(#[$doc])*
            #[derive(Clone, Copy, Debug)]
            pub struct $ty;

            impl Pair for $ty {
                #[inline(always)]
                fn core(x: f64, y: f64) -> (f64, bool) {
                    $core(x, y)
                }
                #[inline(always)]
                fn each(x: f64, y: f64) -> f64 {
                    $each(x, y)
                }
            }
        )*

        /// The core of the function with a name.
        pub fn core<N: Number>(name: &str) -> Option<Core<N>> {
            match name {
                $($name => Some($core),)*
                _ => None,
            }
        }
    };
}

pairs! {
    /// x to the power y.
    Pow "pow" power::core, power::pow;
    /// Angle of a point, whose second coordinate comes first.
    Atan2 "atan2" plane::angle, plane::atan2;
    /// Root of x^2 + y^2.
    Hypot "hypot" plane::distance, plane::hypot;
    /// log(exp(x) + exp(y)).
    Logaddexp "logaddexp" plane::log_of_sum, plane::logaddexp;
}

/// Results of so many pairs, or none if one of these is unusual.
#[inline(always)]
fn block<P: Pair, const N: usize>(x: &[f64; N], y: &[f64; N]) -> Option<[f64; N]> {
    let (mut results, mut all_usual) = ([0.0; N], true);
    for k in 0..N {
        let (value, usual) = P::core(x[k], y[k]);
        results[k] = value;
        all_usual &= usual;
    }
    all_usual.then_some(results)
}

/// Results in place of the first arguments, one by one.
#[cold]
#[inline(never)]
fn one_by_one<P: Pair>(x: &mut [f64], y: &[f64]) {
    for (x, y) in x.iter_mut().zip(y) {
        *x = P::each(*x, *y);
    }
}

/// Results in place of the first arguments, eight at a time; as many as both have.
#[inline(always)]
pub fn in_place<P: Pair>(x: &mut [f64], y: &[f64]) {
    let len = x.len().min(y.len());
    let (blocks, mut rest) = x[..len].as_chunks_mut::<TOGETHER>();
    let (others, mut other_rest) = y[..len].as_chunks::<TOGETHER>();
    for (results, other) in blocks.iter_mut().zip(others) {
        match block::<P, TOGETHER>(results, other) {
            Some(usual) => *results = usual,
            None => one_by_one::<P>(results, other),
        }
    }
    while let [_, _, ..] = rest {
        let (some, last) = rest.split_at_mut(rest.len().min(4));
        let (some_others, last_others) = other_rest.split_at(some.len());
        match block::<P, 4>(&up_to_four(some), &up_to_four(some_others)) {
            Some(usual) => put(usual, some),
            None => one_by_one::<P>(some, some_others),
        }
        (rest, other_rest) = (last, last_others);
    }
    if let ([x], [y]) = (rest, other_rest) {
        *x = P::each(*x, *y);
    }
}

//! Functions of two arguments for several pairs at once, with the bits of one at a time: as [`many`](super::straight::many) for those of one.

use super::number::Number;
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

/// Pairs that are taken at once.
const TOGETHER: usize = 8;

/// Eight results in place of the first arguments.
#[inline(always)]
fn eight<P: Pair>(x: &mut [f64; TOGETHER], y: &[f64; TOGETHER]) {
    let (args, others) = (*x, *y);
    let mut all_usual = true;
    for k in 0..TOGETHER {
        let (value, usual) = P::core(args[k], others[k]);
        x[k] = value;
        all_usual &= usual;
    }
    if !all_usual {
        for k in 0..TOGETHER {
            x[k] = P::each(args[k], others[k]);
        }
    }
}

/// Results in place of the first arguments, eight at a time.
#[inline(always)]
pub fn in_place<P: Pair>(x: &mut [f64], y: &[f64]) {
    let (blocks, rest) = x.as_chunks_mut::<TOGETHER>();
    let (others, other_rest) = y.as_chunks::<TOGETHER>();
    for (block, other) in blocks.iter_mut().zip(others) {
        eight::<P>(block, other);
    }
    for (x, y) in rest.iter_mut().zip(other_rest) {
        *x = P::each(*x, *y);
    }
}

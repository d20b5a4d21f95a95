//! Functions of two arguments for several pairs at once, with the bits of one at a time: as [`many`](super::straight::many) for those of one.

use super::number::Number;
use super::power;

/// A core: the result, and whether the pair is usual.
pub type Core<N> = fn(N, N) -> (N, <N as Number>::Truth);

/// The core of the function with a name.
pub fn core<N: Number>(name: &str) -> Option<Core<N>> {
    match name {
        "pow" => Some(power::core::<N>),
        _ => None,
    }
}

/// Pairs that are taken at once.
const TOGETHER: usize = 8;

/// The result of a pair, and whether it is usual.
type Usual = (f64, bool);

/// Eight results in place of the first arguments.
#[inline(always)]
fn eight(
    x: &mut [f64; TOGETHER],
    y: &[f64; TOGETHER],
    core: impl Fn(f64, f64) -> Usual + Copy,
    each: fn(f64, f64) -> f64,
) {
    let (args, others) = (*x, *y);
    let mut all_usual = true;
    for k in 0..TOGETHER {
        let (value, usual) = core(args[k], others[k]);
        x[k] = value;
        all_usual &= usual;
    }
    if !all_usual {
        for k in 0..TOGETHER {
            x[k] = each(args[k], others[k]);
        }
    }
}

/// Results in place of the first arguments, eight at a time.
#[inline(always)]
pub fn in_place(
    x: &mut [f64],
    y: &[f64],
    core: impl Fn(f64, f64) -> Usual + Copy,
    each: fn(f64, f64) -> f64,
) {
    let (blocks, rest) = x.as_chunks_mut::<TOGETHER>();
    let (others, other_rest) = y.as_chunks::<TOGETHER>();
    for (block, other) in blocks.iter_mut().zip(others) {
        eight(block, other, core, each);
    }
    for (x, y) in rest.iter_mut().zip(other_rest) {
        *x = each(*x, *y);
    }
}

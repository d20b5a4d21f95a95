//! Functions of a vector. The gradient is gathered: each element is written once, in one pass with
//! the value.

use super::{LANES, exp, fold};
use crate::machine::wide;

wide! {
    /// Rosenbrock's function. Element i of the gradient has a part from term i - 1 and one from
    /// term i; value and gradient go over blocks that stay in the first cache.
    pub fn rosenbrock(x: &[f64], dx: &mut [f64]) -> f64 {
        const BLOCK: usize = 1024;
        let Some(m) = x.len().checked_sub(1) else { return 0.0 };
        let mut value = 0.0;
        for start in (0..m).step_by(BLOCK) {
            let end = (start + BLOCK).min(m);
            value += terms(&x[start..end], &x[start + 1..=end]);
            let first = start.max(1);
            let near = x[first - 1..end - 1].iter().zip(&x[first..end]).zip(&x[first + 1..=end]);
            for (out, ((l, m), r)) in dx[first..end].iter_mut().zip(near) {
                let (before, rise) = (m - l * l, r - m * m);
                *out = 200.0 * before - 400.0 * rise * m - 2.0 * (1.0 - m);
            }
        }
        if m == 0 {
            dx[0] = 0.0;
            return 0.0;
        }
        dx[0] = -400.0 * (x[1] - x[0] * x[0]) * x[0] - 2.0 * (1.0 - x[0]);
        dx[m] = 200.0 * (x[m] - x[m - 1] * x[m - 1]);
        value
    }
}

/// The terms of Rosenbrock's function of elements and their successors, added up.
#[inline(always)]
fn terms(x: &[f64], after: &[f64]) -> f64 {
    let term = |x: f64, after: f64| {
        let (rise, walk) = (after - x * x, 1.0 - x);
        100.0 * rise * rise + walk * walk
    };
    let mut lanes = [0.0; LANES];
    let (x, x_rest) = x.as_chunks::<LANES>();
    let (after, after_rest) = after.as_chunks::<LANES>();
    for (x, after) in x.iter().zip(after) {
        for k in 0..LANES {
            lanes[k] += term(x[k], after[k]);
        }
    }
    fold(lanes) + x_rest.iter().zip(after_rest).map(|(x, after)| term(*x, *after)).sum::<f64>()
}

wide! {
    /// The sum of products of neighbours.
    pub fn neighbours(x: &[f64], dx: &mut [f64]) -> f64 {
        let Some(m) = x.len().checked_sub(1) else { return 0.0 };
        if m == 0 {
            dx[0] = 0.0;
            return 0.0;
        }
        for (out, pair) in dx[1..m].iter_mut().zip(x.windows(3)) {
            *out = pair[0] + pair[2];
        }
        (dx[0], dx[m]) = (x[1], x[m - 1]);
        super::dot(&x[..m], &x[1..])
    }
}

wide! {
    /// log sum exp.
    pub fn logsumexp(x: &[f64], dx: &mut [f64]) -> f64 {
        let larger = |a: f64, b: f64| if b > a { b } else { a };
        let mut tops = [f64::NEG_INFINITY; LANES];
        let (blocks, rest) = x.as_chunks::<LANES>();
        for block in blocks {
            for k in 0..LANES {
                tops[k] = larger(tops[k], block[k]);
            }
        }
        let m = tops.iter().chain(rest).copied().fold(f64::NEG_INFINITY, larger);
        let mut lanes = [0.0; LANES];
        let (outs, outs_rest) = dx.as_chunks_mut::<LANES>();
        for (out, block) in outs.iter_mut().zip(blocks) {
            for k in 0..LANES {
                out[k] = exp(block[k] - m);
                lanes[k] += out[k];
            }
        }
        let mut sum = fold(lanes);
        for (out, x) in outs_rest.iter_mut().zip(rest) {
            *out = exp(x - m);
            sum += *out;
        }
        let scale = 1.0 / sum;
        for dx in dx.iter_mut() {
            *dx *= scale;
        }
        m + sum.ln()
    }
}

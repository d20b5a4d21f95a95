//! Functions of a vector. The gradient is gathered: each element is written once, in one pass with
//! the value.

use super::{LANES, exp, fold};
use crate::machine::wide;

wide! {
    /// Rosenbrock's function.
    pub fn rosenbrock(x: &[f64], dx: &mut [f64]) -> f64 {
        let Some(m) = x.len().checked_sub(1) else { return 0.0 };
        let dx = &mut dx[..=m];
        let mut lanes = [0.0; 8];
        let mut value = 0.0;
        // Element i has a part from term i - 1 and one from term i.
        let term = |x: f64, after: f64| {
            let (rise, walk) = (after - x * x, 1.0 - x);
            (100.0 * rise * rise + walk * walk, -400.0 * rise * x - 2.0 * walk)
        };
        if m == 0 {
            dx[0] = 0.0;
            return 0.0;
        }
        (value, dx[0]) = { let (v, d) = term(x[0], x[1]); (value + v, d) };
        let inner = m - 1;
        let (blocks, rest) = dx[1..m].as_chunks_mut::<8>();
        for (k, out) in blocks.iter_mut().enumerate() {
            let here = &x[8 * k..8 * k + 10];
            for l in 0..8 {
                let (v, d) = term(here[l + 1], here[l + 2]);
                lanes[l] += v;
                out[l] = d + 200.0 * (here[l + 1] - here[l] * here[l]);
            }
        }
        let start = 1 + inner - rest.len();
        for (i, out) in (start..).zip(rest) {
            let (v, d) = term(x[i], x[i + 1]);
            value += v;
            *out = d + 200.0 * (x[i] - x[i - 1] * x[i - 1]);
        }
        dx[m] = 200.0 * (x[m] - x[m - 1] * x[m - 1]);
        value + fold(lanes)
    }
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

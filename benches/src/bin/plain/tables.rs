//! Functions of lists and tables that stay what they are.
#![allow(clippy::needless_range_loop)] // As people write it.

use jut::differentiable;
use jut::math::{erfc, exp, log};
use std::f64::consts::SQRT_2;

/// A mixture of Gaussians: the log-likelihood of points.
#[differentiable]
pub fn mixture(alphas: &[f64], means: &[f64], icf: &[f64], x: &[f64], d: usize) -> f64 {
    let k = alphas.len();
    let n = x.len() / d;
    let mut total = 0.0;
    let mut terms = vec![0.0; k];
    for i in 0..n {
        let xi = &x[i * d..(i + 1) * d];
        for c in 0..k {
            let mu = &means[c * d..(c + 1) * d];
            let q = &icf[c * d..(c + 1) * d];
            let mut sq = 0.0;
            let mut log_determinant = 0.0;
            for j in 0..d {
                let v = exp(q[j]) * (xi[j] - mu[j]);
                sq += v * v;
                log_determinant += q[j];
            }
            terms[c] = alphas[c] + log_determinant - 0.5 * sq;
        }
        let mut m = terms[0];
        for &t in &terms {
            m = m.max(t);
        }
        let s: f64 = terms.iter().map(|t| exp(t - m)).sum();
        total += m + log(s);
    }
    total
}

/// A network of two layers with a list for each row of weights.
#[differentiable]
pub fn network(w1: &[Vec<f64>], w2: &[Vec<f64>], x: &[f64]) -> f64 {
    let hidden: Vec<f64> =
        w1.iter().map(|row| row.iter().zip(x).map(|(w, v)| w * v).sum::<f64>().max(0.0)).collect();
    let out: Vec<f64> =
        w2.iter().map(|row| row.iter().zip(&hidden).map(|(w, v)| w * v).sum()).collect();
    let m = out.iter().fold(f64::NEG_INFINITY, |a, b| a.max(*b));
    let s: f64 = out.iter().map(|o| exp(o - m)).sum();
    m + log(s) - out[0]
}

/// The logarithm of a determinant by a Cholesky factor in place.
#[differentiable]
pub fn log_determinant(a: &[f64], n: usize) -> f64 {
    let mut l = a.to_vec();
    for j in 0..n {
        let mut d = l[j * n + j];
        for k in 0..j {
            d -= l[j * n + k] * l[j * n + k];
        }
        let d = d.sqrt();
        l[j * n + j] = d;
        for i in j + 1..n {
            let mut s = l[i * n + j];
            for k in 0..j {
                s -= l[i * n + k] * l[j * n + k];
            }
            l[i * n + j] = s / d;
        }
    }
    let mut r = 0.0;
    for j in 0..n {
        r += 2.0 * log(l[j * n + j]);
    }
    r
}

/// The values of options by a chain of iterators.
#[differentiable]
pub fn cdf(x: f64) -> f64 {
    0.5 * erfc(-x / SQRT_2)
}
#[differentiable]
pub fn options(spot: &[f64], strike: &[f64], vol: &[f64], rate: f64, t: f64) -> f64 {
    spot.iter()
        .zip(strike)
        .zip(vol)
        .map(|((s, k), v)| {
            let sq = v * t.sqrt();
            let d1 = (log(s / k) + (rate + 0.5 * v * v) * t) / sq;
            s * cdf(d1) - k * exp(-rate * t) * cdf(d1 - sq)
        })
        .sum()
}

/// Logistic regression by rows of a table.
#[differentiable]
pub fn logistic(w: &[f64], x: &[f64], y: &[f64]) -> f64 {
    let mut loss = 0.0;
    for (row, &t) in x.chunks_exact(w.len()).zip(y) {
        let z: f64 = row.iter().zip(w).map(|(a, b)| a * b).sum();
        loss += log(1.0 + exp(-t * z));
    }
    loss / y.len() as f64
}

/// A tridiagonal system, eliminated and solved.
#[differentiable]
pub fn tridiagonal(a: &[f64], b: &[f64], c: &[f64], d: &[f64]) -> f64 {
    let n = b.len();
    let mut cp = vec![0.0; n];
    let mut dp = vec![0.0; n];
    cp[0] = c[0] / b[0];
    dp[0] = d[0] / b[0];
    for i in 1..n {
        let m = b[i] - a[i] * cp[i - 1];
        cp[i] = c[i] / m;
        dp[i] = (d[i] - a[i] * dp[i - 1]) / m;
    }
    let mut x = dp.clone();
    for i in (0..n - 1).rev() {
        x[i] = dp[i] - cp[i] * x[i + 1];
    }
    x.iter().map(|v| v * v).sum()
}

/// A convolution of a picture.
#[differentiable]
pub fn convolution(img: &[f64], ker: &[f64; 9], w: usize) -> f64 {
    let h = img.len() / w;
    let mut e = 0.0;
    for y in 1..h - 1 {
        for x in 1..w - 1 {
            let mut s = 0.0;
            for dy in 0..3 {
                for dx in 0..3 {
                    s += ker[dy * 3 + dx] * img[(y + dy - 1) * w + x + dx - 1];
                }
            }
            e += s * s;
        }
    }
    e
}

/// A hidden Markov model, whose states are a new list in each step.
#[differentiable]
pub fn hidden_markov(start: &[f64], trans: &[Vec<f64>], emit: &[Vec<f64>], obs: &[usize]) -> f64 {
    let k = start.len();
    let mut alpha: Vec<f64> = (0..k).map(|s| start[s] * emit[s][obs[0]]).collect();
    let mut ll = 0.0;
    for &o in &obs[1..] {
        let z: f64 = alpha.iter().sum();
        ll += log(z);
        let mut next = vec![0.0; k];
        for t in 0..k {
            let mut a = 0.0;
            for s in 0..k {
                a += alpha[s] / z * trans[s][t];
            }
            next[t] = a * emit[t][o];
        }
        alpha = next;
    }
    ll + log(alpha.iter().sum::<f64>())
}

/// A cubic between the knots that a search finds.
#[differentiable]
pub fn spline(knots: &[f64], values: &[f64], at: &[f64]) -> f64 {
    let mut s = 0.0;
    for &x in at {
        let i = knots.partition_point(|k| *k <= x).clamp(1, knots.len() - 1) - 1;
        let t = (x - knots[i]) / (knots[i + 1] - knots[i]);
        let y = values[i] * (1.0 - t) * (1.0 - t) * (1.0 + 2.0 * t)
            + values[i + 1] * t * t * (3.0 - 2.0 * t);
        s += y * y;
    }
    s
}

//! Filters, spectra, estimates, small networks.

use jut::differentiable;
use jut::math::{cos, exp, log, sin};
use std::f64::consts::PI;

#[differentiable]
fn dft_power(x: &[f64]) -> f64 {
    let n = x.len();
    let mut power = Vec::with_capacity(n);
    for k in 0..n {
        let (mut re, mut im) = (0.0, 0.0);
        for (t, v) in x.iter().enumerate() {
            let phase = -2.0 * PI * (k * t) as f64 / n as f64;
            re += v * cos(phase);
            im += v * sin(phase);
        }
        power.push(re * re + im * im);
    }
    let total: f64 = power.iter().sum();
    power.iter().filter(|p| **p > 1e-9).map(|p| p / total).map(|q| -q * log(q)).sum()
}

#[differentiable]
fn biquad(x: &[f64]) -> f64 {
    let (b, a) = ([0.2, 0.4, 0.2], [1.0, -0.5, 0.25]);
    let mut z = [0.0; 2];
    let mut energy = 0.0;
    for &s in x {
        let y = b[0] * s + z[0];
        z[0] = b[1] * s - a[1] * y + z[1];
        z[1] = b[2] * s - a[2] * y;
        energy += y * y;
    }
    energy
}

#[differentiable]
fn convolve_full(x: &[f64]) -> f64 {
    let kernel = [0.25, 0.5, 0.25];
    let mut out = vec![0.0; x.len() + kernel.len() - 1];
    for (i, a) in x.iter().enumerate() {
        for (j, b) in kernel.iter().enumerate() {
            out[i + j] += a * b;
        }
    }
    out.iter().zip(out.iter().skip(1)).map(|(a, b)| (b - a).abs()).sum()
}

#[differentiable]
fn goertzel(x: &[f64]) -> f64 {
    let w = 2.0 * cos(2.0 * PI / x.len() as f64);
    let (s1, s2) = x.iter().fold((0.0, 0.0), |(s1, s2), v| (v + w * s1 - s2, s1));
    s1 * s1 + s2 * s2 - w * s1 * s2
}

#[differentiable]
fn hann_rms(x: &[f64]) -> f64 {
    let n = x.len();
    let window = |i: usize| 0.5 - 0.5 * cos(2.0 * PI * i as f64 / (n - 1) as f64);
    let sum: f64 = (0..n).map(|i| (window(i) * x[i]).powi(2)).sum();
    (sum / n as f64).sqrt()
}

#[differentiable]
fn autocorrelation(x: &[f64]) -> f64 {
    let mean = x.iter().sum::<f64>() / x.len() as f64;
    let c =
        |lag: usize| -> f64 { x.iter().zip(&x[lag..]).map(|(a, b)| (a - mean) * (b - mean)).sum() };
    (1..x.len() / 2).map(|k| c(k) / c(0)).sum()
}

#[differentiable]
fn kalman_1d(x: &[f64]) -> f64 {
    let (mut m, mut p) = (0.0, 1.0);
    let (q, r) = (0.01, 0.1 + x[0].abs() * 0.01);
    let mut ll = 0.0;
    for z in &x[1..] {
        p += q;
        let s = p + r;
        let innovation = z - m;
        ll -= 0.5 * (innovation * innovation / s + log(s) + log(2.0 * PI));
        let gain = p / s;
        m += gain * innovation;
        p *= 1.0 - gain;
    }
    ll
}

#[differentiable]
fn mlp(x: &[f64]) -> f64 {
    let w1: [[f64; 2]; 3] =
        std::array::from_fn(|i| std::array::from_fn(|j| x[(2 * i + j) % x.len()]));
    let b1 = [0.1, -0.1, 0.2];
    let w2 = [0.5, -0.25, 1.0];
    let mut loss = 0.0;
    for (input, target) in [([0.0, 1.0], 1.0), ([1.0, 0.0], 0.0), ([1.0, 1.0], 0.5)] {
        let hidden: Vec<f64> = w1
            .iter()
            .zip(b1.iter())
            .map(|(row, b)| {
                (row.iter().zip(input.iter()).map(|(w, i)| w * i).sum::<f64>() + b).tanh()
            })
            .collect();
        let out: f64 = hidden.iter().zip(&w2).map(|(h, w)| h * w).sum();
        let p = 1.0 / (1.0 + (-out).exp());
        loss += (p - target).powi(2);
    }
    loss
}

#[differentiable]
fn attention(x: &[f64]) -> f64 {
    let n = 3;
    let scores: Vec<f64> = (0..n).flat_map(|i| (0..n).map(move |j| x[i] * x[n + j])).collect();
    let mut out = 0.0;
    for row in scores.chunks_exact(n) {
        let m = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let e: Vec<f64> = row.iter().map(|s| (s - m).exp()).collect();
        let z: f64 = e.iter().sum();
        out += e.iter().zip(x).map(|(p, v)| p / z * v).sum::<f64>();
    }
    out
}

#[differentiable]
fn batch_norm(x: &[f64]) -> f64 {
    let (gamma, beta, eps) = (1.5, 0.1, 1e-5);
    let n = x.len() as f64;
    let mu = x.iter().sum::<f64>() / n;
    let var = x.iter().map(|v| (v - mu).powi(2)).sum::<f64>() / n;
    let y: Vec<_> = x.iter().map(|v| gamma * (v - mu) / (var + eps).sqrt() + beta).collect();
    y.iter().map(|v| v.max(0.0)).sum()
}

#[differentiable]
fn logistic_regression(x: &[f64]) -> f64 {
    let data = [([1.0, 0.5], true), ([1.0, -1.0], false), ([1.0, 2.0], true)];
    let mut nll = 0.0;
    for (features, label) in &data {
        let z = features[0] * x[0] + features[1] * x[1];
        let softplus = if z > 0.0 { z + (-z).exp().ln_1p() } else { z.exp().ln_1p() };
        nll += softplus - if *label { z } else { 0.0 };
    }
    nll + 0.01 * (x[0].powi(2) + x[1].powi(2))
}

#[differentiable]
fn kmeans_loss(x: &[f64]) -> f64 {
    let centres = [x[0], x[1], x[2]];
    [0.1, 0.9, 2.2, 3.0, -0.5]
        .iter()
        .map(|p: &f64| centres.iter().map(|c| (p - c).powi(2)).fold(f64::INFINITY, f64::min))
        .sum()
}

#[differentiable]
fn gp_cholesky(x: &[f64]) -> f64 {
    let n = 3;
    let mut a = vec![vec![0.0; n]; n];
    for i in 0..n {
        for j in 0..n {
            let d = (i as f64 - j as f64) / (1.0 + x[0].abs());
            a[i][j] = exp(-0.5 * d * d) + if i == j { 0.1 } else { 0.0 };
        }
    }
    let mut l = vec![vec![0.0; n]; n];
    for i in 0..n {
        for j in 0..=i {
            let mut s = a[i][j];
            for k in 0..j {
                s -= l[i][k] * l[j][k];
            }
            l[i][j] = if i == j { s.sqrt() } else { s / l[j][j] };
        }
    }
    let mut z = vec![0.0; n];
    for i in 0..n {
        let mut s = x[i + 1];
        for k in 0..i {
            s -= l[i][k] * z[k];
        }
        z[i] = s / l[i][i];
    }
    let quad: f64 = z.iter().map(|v| v * v).sum();
    let logdet: f64 = (0..n).map(|i| l[i][i].ln()).sum::<f64>() * 2.0;
    -0.5 * (quad + logdet)
}

#[differentiable]
fn welch_t(x: &[f64]) -> f64 {
    let (a, b) = x.split_at(x.len() / 2);
    let stats = |v: &[f64]| {
        let n = v.len() as f64;
        let m = v.iter().sum::<f64>() / n;
        (m, v.iter().map(|a| (a - m) * (a - m)).sum::<f64>() / (n - 1.0) / n)
    };
    let ((ma, va), (mb, vb)) = (stats(a), stats(b));
    (ma - mb) / (va + vb).sqrt()
}

#[differentiable]
fn quantile(x: &[f64]) -> f64 {
    let mut s = x.to_vec();
    s.sort_by(|a, b| a.partial_cmp(b).expect("no NaN"));
    let q = 0.3 * (s.len() - 1) as f64;
    let (lo, frac) = (q.floor() as usize, q.fract());
    s[lo] + frac * (s.get(lo + 1).unwrap_or(&s[lo]) - s[lo])
}

#[differentiable]
fn kendall(x: &[f64]) -> f64 {
    let mut s = 0.0;
    for (i, a) in x.iter().enumerate() {
        for b in x.iter().skip(i + 1) {
            s += ((b - a) * 3.0).tanh();
        }
    }
    let n = x.len();
    s / ((n * (n - 1) / 2) as f64)
}

#[differentiable]
fn ar1_likelihood(x: &[f64]) -> f64 {
    let phi = 0.5_f64;
    x.windows(2).map(|w| w[1] - phi * w[0]).map(|r| -0.5 * r * r).sum()
}

#[differentiable]
fn histogram_soft(x: &[f64]) -> f64 {
    let edges = [-1.0, 0.0, 1.0, 2.0];
    let mut counts = [0.0; 3];
    for v in x {
        for (k, pair) in edges.windows(2).enumerate() {
            let centre = (pair[0] + pair[1]) / 2.0;
            counts[k] += exp(-(v - centre).powi(2));
        }
    }
    let total: f64 = counts.iter().sum();
    counts.iter().map(|c| c / total).map(|p| p * p).sum()
}

#[differentiable]
fn viterbi_soft(x: &[f64]) -> f64 {
    let trans = [[0.7, 0.3], [0.4, 0.6]];
    let mut alpha = [0.5, 0.5];
    let mut ll = 0.0;
    for obs in x {
        let emit = [exp(-0.5 * obs * obs), exp(-0.5 * (obs - 1.0).powi(2))];
        let mut next = [0.0; 2];
        for (j, n) in next.iter_mut().enumerate() {
            *n = (0..2).map(|i| alpha[i] * trans[i][j]).sum::<f64>() * emit[j];
        }
        let z = next[0] + next[1];
        ll += z.ln();
        alpha = next.map(|a| a / z);
    }
    ll
}

#[differentiable]
fn moving_median(x: &[f64]) -> f64 {
    x.windows(3)
        .map(|w| {
            let mut v = [w[0], w[1], w[2]];
            v.sort_by(f64::total_cmp);
            v[1]
        })
        .sum()
}

#[differentiable]
fn outliers_removed(x: &[f64]) -> f64 {
    let mut v = x.to_vec();
    let mean = v.iter().sum::<f64>() / v.len() as f64;
    v.retain(|a| (a - mean).abs() < 2.0);
    let n = v.len() as f64;
    v.iter().sum::<f64>() / n
}

#[test]
fn values_and_gradients() {
    super::check!(dft_power biquad convolve_full goertzel hann_rms autocorrelation kalman_1d mlp attention batch_norm logistic_regression kmeans_loss gp_cholesky welch_t quantile kendall ar1_likelihood histogram_soft viterbi_soft moving_median outliers_removed);
}

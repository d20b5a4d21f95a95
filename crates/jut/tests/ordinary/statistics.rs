//! Statistics: likelihoods, regressions, filters.

use super::{close, differences, near};
use jut::differentiable;
use jut::math::lgamma;

#[differentiable]
fn normal_log_likelihood(x: &[f64], mu: f64, log_sigma: f64) -> f64 {
    let sigma = log_sigma.exp();
    let n = x.len() as f64;
    -0.5 * n * (2.0 * std::f64::consts::PI).ln()
        - n * log_sigma
        - x.iter().map(|xi| ((xi - mu) / sigma).powi(2)).sum::<f64>() / 2.0
}

#[differentiable]
fn logistic_loss(w: &[f64], x: &[f64], y: &[bool]) -> f64 {
    let d = w.len();
    let mut loss = 0.0;
    for (row, &label) in x.chunks_exact(d).zip(y) {
        let z: f64 = row.iter().zip(w).map(|(a, b)| a * b).sum();
        loss += if label { (-z).exp().ln_1p() } else { z.exp().ln_1p() };
    }
    loss / y.len() as f64
}

#[differentiable]
fn log_sum_exp(x: &[f64]) -> f64 {
    let m = x.iter().cloned().fold(f64::NEG_INFINITY, f64::max);
    m + x.iter().map(|v| (v - m).exp()).sum::<f64>().ln()
}

#[differentiable]
fn softmax(x: &[f64]) -> Vec<f64> {
    let m = x.iter().copied().fold(f64::MIN, f64::max);
    let e: Vec<f64> = x.iter().map(|v| (v - m).exp()).collect();
    let s: f64 = e.iter().sum();
    e.into_iter().map(|v| v / s).collect()
}

#[differentiable]
fn cross_entropy(logits: &[f64], target: usize) -> f64 {
    -softmax(logits)[target].ln()
}

#[differentiable]
fn poisson_glm(beta: &[f64; 2], x: &[f64], counts: &[i64]) -> f64 {
    let mut ll = 0.0;
    for i in 0..x.len() {
        let eta = beta[0] + beta[1] * x[i];
        ll += counts[i] as f64 * eta - eta.exp() - lgamma(counts[i] as f64 + 1.0);
    }
    ll
}

#[differentiable]
fn ar1(x: &[f64], phi: f64, sigma: f64) -> f64 {
    x.windows(2).map(|w| -((w[1] - phi * w[0]) / sigma).powi(2) / 2.0 - sigma.ln()).sum()
}

#[differentiable]
fn kalman(z: &[f64], q: f64, r: f64) -> f64 {
    let (mut x, mut p, mut ll) = (0.0, 1.0, 0.0);
    for &obs in z {
        p += q;
        let s = p + r;
        let innovation = obs - x;
        ll -= 0.5 * (innovation * innovation / s + s.ln());
        let gain = p / s;
        x += gain * innovation;
        p *= 1.0 - gain;
    }
    ll
}

#[differentiable]
fn gaussian_mixture(x: &[f64], weights: &[f64; 3], means: &[f64; 3], sigmas: &[f64; 3]) -> f64 {
    x.iter()
        .map(|xi| {
            (0..3)
                .map(|k| {
                    weights[k] * (-0.5 * ((xi - means[k]) / sigmas[k]).powi(2)).exp() / sigmas[k]
                })
                .sum::<f64>()
                .ln()
        })
        .sum()
}

#[differentiable]
fn kernel_regression(x: &[f64], y: &[f64], at: f64, h: f64) -> f64 {
    let (num, den) = x.iter().zip(y).fold((0.0, 0.0), |(num, den), (xi, yi)| {
        let w = (-((xi - at) / h).powi(2) / 2.0).exp();
        (num + w * yi, den + w)
    });
    num / den
}

#[differentiable]
fn correlation(x: &[f64], y: &[f64]) -> f64 {
    let n = x.len().min(y.len()) as f64;
    let mx = x.iter().sum::<f64>() / n;
    let my = y.iter().sum::<f64>() / n;
    let (mut sxy, mut sxx, mut syy) = (0.0, 0.0, 0.0);
    for (a, b) in x.iter().zip(y.iter()) {
        sxy += (a - mx) * (b - my);
        sxx += (a - mx).powi(2);
        syy += (b - my).powi(2);
    }
    sxy / (sxx * syy).sqrt()
}

#[differentiable]
fn moving_average(x: &[f64], k: usize) -> Vec<f64> {
    x.windows(k).map(|w| w.iter().sum::<f64>() / k as f64).collect()
}

#[differentiable]
fn cumulative(x: &[f64]) -> Vec<f64> {
    let mut total = 0.0;
    x.iter()
        .map(|v| {
            total += v;
            total
        })
        .collect()
}

#[differentiable]
fn cumulative_scan(x: &[f64]) -> Vec<f64> {
    x.iter()
        .scan(0.0, |s, v| {
            *s += v;
            Some(*s)
        })
        .collect()
}

#[differentiable]
fn entropy(p: &[f64]) -> f64 {
    -p.iter().filter(|&&v| v > 0.0).map(|&v| v * v.ln()).sum::<f64>()
}

#[differentiable]
fn soft_threshold(x: &[f64], lambda: f64) -> Vec<f64> {
    x.iter().map(|v| v.signum() * (v.abs() - lambda).max(0.0)).collect()
}

/// A function of a list and of some other arguments.
macro_rules! of_list {
    ($($name:ident $x:expr $(, $other:expr)*;)*) => {$({
        let x = $x;
        let value = $name::value(&x $(, $other)*).unwrap();
        near(value, $name(&x $(, $other)*), stringify!($name));
        let (_, by) = $name::vjp(&x $(, $other)*, &1.0).unwrap();
        let plain = |x: &[f64]| $name(x.try_into().unwrap() $(, $other)*);
        close(&First::first(by), &differences(plain, &x), stringify!($name));
    })*};
}

/// The first of several derivatives.
trait First {
    fn first(self) -> Vec<f64>;
}

impl First for Vec<f64> {
    fn first(self) -> Vec<f64> {
        self
    }
}

impl<const N: usize> First for ([f64; N], Vec<f64>) {
    fn first(self) -> Vec<f64> {
        self.0.to_vec()
    }
}

macro_rules! first {
    ($($($other:ty),*;)*) => {$(
        impl First for (Vec<f64>, $($other),*) {
            fn first(self) -> Vec<f64> {
                self.0
            }
        }
    )*};
}

first! {
    Vec<f64>;
    f64, f64;
    Vec<f64>, f64, f64;
    [f64; 3], [f64; 3], [f64; 3];
}

#[test]
fn values_and_gradients() {
    let x = [0.5, -1.25, 2.0, 0.75];
    let y = [1.0, 0.25, -0.5, 2.5];
    let rows = [1.0, 0.5, -0.25, 2.0, 1.5, -1.0, 0.75, 0.25];
    let (weights, means, sigmas) = ([0.5, 0.3, 0.2], [-1.0, 0.5, 2.0], [0.5, 1.0, 0.75]);
    of_list! {
        normal_log_likelihood x, 0.25, -0.5;
        logistic_loss [0.5, -0.75], &rows, &[true, false, true, true];
        log_sum_exp x;
        cross_entropy x, 2;
        poisson_glm [0.25, 0.5], &x, &[1, 0, 3, 2];
        ar1 x, 0.5, 1.5;
        kalman x, 0.1, 0.5;
        gaussian_mixture x, &weights, &means, &sigmas;
        kernel_regression x, &y, 0.25, 0.75;
        correlation x, &y;
        entropy [0.25, 0.5, 0.125];
    }
    // What is 0 is left out.
    assert_eq!(entropy::gradient(&[0.0, 1.0]).unwrap(), [0.0, -1.0]);
    assert_eq!(entropy::value(&[]).unwrap(), entropy(&[]));
}

#[test]
fn lists() {
    let x = [0.5, -1.25, 2.0, 0.75];
    assert_eq!(cumulative::value(&x).unwrap(), cumulative(&x));
    assert_eq!(cumulative_scan::value(&x).unwrap(), cumulative(&x));
    let (_, by) = cumulative_scan::vjp(&x, &vec![1.0, 2.0, 3.0, 4.0]).unwrap();
    assert_eq!(by, [10.0, 9.0, 7.0, 4.0]);
    for k in 1..6 {
        assert_eq!(moving_average::value(&x, k).unwrap(), moving_average(&x, k));
    }
    assert!(moving_average::value(&x, 0).is_err());
    let (_, by) = moving_average::vjp(&x, 2, &vec![1.0, 2.0, 4.0]).unwrap();
    assert_eq!(by, [0.5, 1.5, 3.0, 2.0]);
    assert_eq!(soft_threshold::value(&x, 0.6).unwrap(), soft_threshold(&x, 0.6));
    let soft = softmax::value(&x).unwrap();
    for (a, b) in soft.iter().zip(softmax(&x)) {
        near(*a, b, "softmax");
    }
    // Derivatives by a logit: the probabilities, less 1 at the target.
    let mut expected = soft;
    expected[2] -= 1.0;
    close(&cross_entropy::gradient(&x, 2).unwrap(), &expected, "cross_entropy");
}

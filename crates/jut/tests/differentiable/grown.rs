//! Lists that a loop reads while it makes them longer.

use super::{close, differences, same};
use jut::differentiable;

#[differentiable]
fn cumulative(x: &[f64]) -> f64 {
    let mut sums = vec![0.0];
    for i in 1..x.len() {
        let last = sums[i - 1];
        sums.push(last + 0.5 * (x[i] + x[i - 1]));
    }
    sums.iter().sum()
}

#[differentiable]
fn recurrence(x: &[f64]) -> f64 {
    let mut y: Vec<f64> = Vec::new();
    let mut k = vec![1];
    for v in x {
        let before = y.last().copied().unwrap_or(0.25);
        y.push(0.5 * before + v * v);
        k.push(k[k.len() - 1] * 2 + y.len());
    }
    y.iter().zip(&k).map(|(a, b)| a * *b as f64).sum()
}

#[differentiable]
fn history(x: &[f64]) -> f64 {
    let mut h = vec![x[0]];
    for (i, v) in x.iter().enumerate().skip(1) {
        let mean = h.iter().sum::<f64>() / h.len() as f64;
        let pairs: f64 = h.windows(2).map(|w| w[0] * w[1]).sum();
        let first = if h.len() > 2 { h[h.len() - 2] } else { h[0] };
        let mut far = 0.0;
        for j in 0..i {
            if h[j] > 1.0 {
                far += h[j];
            }
        }
        h.push(v - mean + 0.1 * pairs * first + far);
    }
    h[h.len() - 1] * h[1]
}

#[differentiable]
fn beyond(x: &[f64], ahead: usize) -> f64 {
    let mut v = vec![1.0];
    for a in x {
        v.push(v[v.len() - 1 + ahead] * a);
    }
    v[x.len()]
}

/// The loop begins again with another list.
#[differentiable]
fn in_a_loop(x: &[f64]) -> f64 {
    let mut s = 0.0;
    for a in x.iter().map(|v| 0.01 * v) {
        let mut p = vec![1.0, a];
        for k in 2..6 {
            p.push(((2 * k - 1) as f64 * a * p[k - 1] - (k - 1) as f64 * p[k - 2]) / k as f64);
        }
        s += p.iter().sum::<f64>() * p[p.len() - 1];
    }
    s
}

macro_rules! all {
    ($($name:ident)*) => {
        [$((stringify!($name), $name as fn(&[f64]) -> f64, $name::value_and_gradient as Compiled)),*]
    };
}

type Compiled = fn(&[f64]) -> jut::Result<(f64, Vec<f64>)>;

#[test]
fn what_is_there_is_read() {
    let starts: [&[f64]; 3] = [&[1.3, 0.7, 2.1, -0.4, 0.95], &[2.5, 20.0, 90.0, 0.5], &[0.5, 4.25]];
    for (name, plain, compiled) in all! { cumulative recurrence history in_a_loop } {
        for x in starts {
            let (value, gradient) = compiled(x).unwrap_or_else(|e| panic!("{name}: {e}"));
            same(value, plain(x));
            close(&gradient, &differences(plain, x));
        }
    }
}

#[test]
fn what_is_not_there_is_out_of_range() {
    let x = [1.5, 2.0, -0.5];
    same(beyond::value(&x, 0).unwrap(), beyond(&x, 0));
    close(&beyond::gradient(&x, 0).unwrap(), &differences(|x| beyond(x, 0), &x));
    // There is memory for it already.
    assert_eq!(beyond::value(&x, 1).unwrap_err().code(), Some("R01"));
    same(beyond::value(&[], 1).unwrap(), 1.0);
}

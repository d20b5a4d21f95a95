//! Iterators under a name, which are gone through later.

use super::{close, differences, same};
use jut::differentiable;

#[differentiable]
fn gone_through(x: &[f64]) -> f64 {
    let weighted = x[1..].iter().enumerate().map(|(i, v)| (i as f64 + 1.0, 5.0 + v));
    let (mut price, mut sum) = (0.0, 0.0);
    for (t, c) in weighted {
        let value = c * (1.0 + x[0]).powi(-2);
        price += value;
        sum += t * value;
    }
    sum / price
}

#[differentiable]
fn ended(x: &[f64]) -> f64 {
    let differences = x.windows(2).map(|w| w[1] - 0.5 * w[0]);
    let scale = x.len() as f64;
    differences.map(|r| -0.5 * r * r).sum::<f64>() / scale
}

#[differentiable]
fn joined(x: &[f64]) -> f64 {
    let n = x.len() / 2;
    let pairs = x[..n].iter().zip(&x[n..]);
    let large = pairs.filter(|(a, _)| **a > 0.0);
    let range = 1..n;
    let mut s: f64 = large.map(|(a, b)| a * b).sum();
    for i in range {
        s += x[i] * x[i - 1];
    }
    s
}

/// What it begins with is computed where it stands.
#[differentiable]
fn begun(x: &[f64], k: usize) -> f64 {
    let mut at = k;
    let last = x[at..].iter().map(|v| 2.0 * v);
    at += 1;
    if at == 2 {
        return 0.5;
    }
    last.sum::<f64>() * at as f64
}

macro_rules! all {
    ($($name:ident)*) => {
        [$((stringify!($name), $name as fn(&[f64]) -> f64, $name::value_and_gradient as Compiled)),*]
    };
}

type Compiled = fn(&[f64]) -> jut::Result<(f64, Vec<f64>)>;

#[test]
fn iterators_have_names() {
    let starts: [&[f64]; 2] = [&[1.3, 0.7, 2.1, -0.4, 0.95, 3.2], &[0.5, 4.25, 1.5]];
    for (name, plain, compiled) in all! { gone_through ended joined } {
        for x in starts {
            let (value, gradient) = compiled(x).unwrap_or_else(|e| panic!("{name}: {e}"));
            same(value, plain(x));
            close(&gradient, &differences(plain, x));
        }
    }
}

#[test]
fn what_fails_fails_where_rust_does() {
    let x = [1.5, 2.0, -0.5];
    for k in [0, 1, 2, 3] {
        same(begun::value(&x, k).unwrap(), begun(&x, k));
    }
    assert_eq!(begun::value(&x, 4).unwrap_err().code(), Some("R02"));
    assert_eq!(begun::value(&[], 1).unwrap_err().code(), Some("R02"));
}

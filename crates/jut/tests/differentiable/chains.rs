//! Chains of iterators.

use super::{close, differences, same};
use jut::differentiable;
use jut::math::exp;

#[differentiable]
fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

#[differentiable]
fn sums(x: &[f64], n: usize) -> [f64; 6] {
    let m = x.iter().sum::<f64>() / x.len() as f64;
    let shift = 0.5;
    [
        x.iter().map(|v| (v - m).powi(2)).sum::<f64>(),
        x.iter().copied().filter(|v| *v > shift).product::<f64>(),
        (1..=n).map(|k| 1.0 / k as f64).sum(),
        x.iter().rev().enumerate().map(|(i, v)| i as f64 * v).sum(),
        x.iter().skip(1).zip(x.iter()).map(|(a, b)| a - b).sum(),
        x.iter().take(n).zip(x.iter().rev()).fold(1.0, |s, (a, b)| 0.5 * s + a * b),
    ]
}

#[differentiable]
fn largest(x: &[f64]) -> f64 {
    x.iter().copied().fold(f64::NEG_INFINITY, f64::max)
}

#[differentiable]
fn weight(x: f64) -> f64 {
    exp(-x * x)
}

#[differentiable]
fn weights(x: &[f64]) -> Vec<f64> {
    let all: Vec<f64> = x.iter().copied().map(weight).collect();
    let total: f64 = all.iter().sum();
    all.iter().map(|w| w / total).collect()
}

#[differentiable]
fn tests(x: &[f64], k: &[usize]) -> (bool, bool, usize) {
    let n = x.len();
    (
        k.iter().all(|i| *i < n && x[*i] > 0.0),
        k.iter().any(|i| x[*i] < 0.0),
        k.iter().map(|i| i + 1).sum(),
    )
}

#[differentiable]
fn counted(x: &[f64]) -> f64 {
    let mut seen = 0.0;
    let s: f64 = x
        .iter()
        .map(|v| {
            seen += 1.0;
            v * seen
        })
        .sum();
    s + 100.0 * seen
}

#[test]
fn chains_are_loops_in_rusts_order() {
    for x in [&[][..], &[0.7][..], &[1.0, -2.0, 0.3, 4.0][..]] {
        same(dot::value(x, &[3.0, 0.5, 2.0]).unwrap(), dot(x, &[3.0, 0.5, 2.0]));
        same(largest::value(x).unwrap(), largest(x));
        same(counted::value(x).unwrap(), counted(x));
        assert_eq!(weights::value(x).unwrap(), weights(x));
        for n in 0..6 {
            for (a, b) in sums::value(x, n).unwrap().into_iter().zip(sums(x, n)) {
                same(a, b);
            }
        }
    }
    let x = [1.0, -2.0, 0.3];
    close(&dot::gradient(&x, &[3.0, 0.5, 2.0]).unwrap().0, &[3.0, 0.5, 2.0]);
    close(&largest::gradient(&x).unwrap(), &[1.0, 0.0, 0.0]);
    let (_, back) = weights::vjp(&x, &vec![1.0, 2.0, -1.0]).unwrap();
    let of = |x: &[f64]| weights(x).iter().zip([1.0, 2.0, -1.0]).map(|(a, b)| a * b).sum::<f64>();
    close(&back, &differences(of, &x));
    for k in [&[][..], &[0, 2][..], &[0, 1, 2][..], &[0, 5][..], &[1, 9][..]] {
        let plain = std::panic::catch_unwind(|| tests(&x, k));
        match tests::value(&x, k) {
            Ok(value) => assert_eq!(value, plain.unwrap()),
            Err(error) => assert!(plain.is_err() && error.code() == Some("R01"), "{error}"),
        }
    }
}

/// Lists that grow: before a loop, in one whose range may be empty or run backwards, behind it.
#[differentiable]
fn grown(x: &[f64], from: usize, to: usize) -> Vec<f64> {
    let mut list = Vec::with_capacity(8);
    let mut others = Vec::new();
    list.push(0.5);
    for i in from..to {
        let v = x[i] * 2.0;
        list.push(v);
        others.push(i as f64);
    }
    for i in (from..=to).rev() {
        list.push(i as f64 * x[0]);
    }
    for v in x.iter().skip(1) {
        list.push(v * v);
    }
    list.extend(x.windows(2).map(|w| w[0] - w[1]));
    list.extend_from_slice(&others);
    list[0] += others.len() as f64;
    list
}

#[test]
fn lists_grow() {
    let x = [1.5, -2.0, 0.25];
    for (from, to) in [(0, 3), (1, 2), (2, 2), (3, 0)] {
        let plain = grown(&x, from, to);
        assert_eq!(grown::value(&x, from, to).unwrap(), plain);
        let weights: Vec<f64> = (0..plain.len()).map(|k| 1.0 + k as f64).collect();
        let (_, by) = grown::vjp(&x, from, to, &weights).unwrap();
        let total =
            |x: &[f64]| grown(x, from, to).iter().zip(&weights).map(|(a, b)| a * b).sum::<f64>();
        super::close(&by, &super::differences(total, &x));
    }
    assert!(grown::value(&x, 0, 4).is_err());
}

/// Chains that end early, that go on with another list, and loops over what there is.
#[differentiable]
fn until(x: &[f64], limit: f64) -> f64 {
    let first = x.iter().take_while(|v| **v < limit).map(|v| v * v).sum::<f64>();
    let both =
        x.iter().chain(&[limit, 2.0]).copied().rev().map(|v| v * 0.5).fold(1.0, |a, b| a * b);
    let (mut i, mut s) = (0, 0.0);
    while let Some(v) = x.get(i)
        && *v < limit
    {
        i += 1;
        if *v < 0.0 {
            continue;
        }
        s += v * i as f64;
    }
    let count = (0..x.len()).take_while(|i| x[*i] < limit).count();
    first + both * s + count as f64
}

#[test]
fn chains_that_end_early() {
    let x = [0.5, -1.25, 1.5, 3.0, 0.25];
    for limit in [-2.0, 0.75, 2.0, 9.0] {
        for n in 0..6 {
            let (value, (by, _)) = until::value_and_gradient(&x[..n], limit).unwrap();
            same(value, until(&x[..n], limit));
            close(&by, &differences(|x| until(x, limit), &x[..n]));
        }
    }
}

/// Two halves of a list.
#[differentiable]
fn halves(x: &[f64], k: usize) -> f64 {
    let (left, right) = x.split_at(k);
    let (_, last) = right.split_at(right.len() / 2);
    left.iter().sum::<f64>() * right.iter().map(|v| v * v).sum::<f64>() + last.len() as f64
}

#[test]
fn a_list_in_two_halves() {
    let x = [0.5, -1.25, 1.5, 3.0];
    for k in 0..5 {
        let (value, by) = halves::value_and_gradient(&x, k).unwrap();
        same(value, halves(&x, k));
        close(&by, &differences(|x| halves(x, k), &x));
    }
    let error = halves::value(&x, 5).unwrap_err().to_string();
    assert!(error.contains("R02"), "{error}");
}

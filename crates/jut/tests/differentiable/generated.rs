//! Iterators that a closure makes: `successors` and `from_fn`.

use jut::differentiable;
use jut::math::{exp, sin};

#[differentiable]
fn cube_root(x: &[f64]) -> f64 {
    std::iter::successors(Some(1.0), |y| Some(y - (y * y * y - x[0]) / (3.0 * y * y)))
        .take(25)
        .last()
        .unwrap()
}

/// The closure decides when it is over; the last element counts.
#[differentiable]
fn halved(x: &[f64]) -> f64 {
    std::iter::successors(Some(x[0]), |&y| if y > 0.1 { Some(y / 2.0) } else { None })
        .map(|y| exp(y) - 1.0)
        .sum()
}

/// A state of two numbers, and an end that is asked for behind it.
#[differentiable]
fn fibonacci(x: &[f64]) -> f64 {
    let terms = std::iter::successors(Some((x[0], x[1])), |&(a, b)| Some((b, a + b)))
        .map(|(a, _)| a)
        .take_while(|a| *a < 50.0);
    terms.map(|a| a * a).sum()
}

/// Statements in the closure, a `match`, elements kept in a list, a loop over them.
#[differentiable]
fn kept(x: &[f64]) -> f64 {
    let all: Vec<f64> = std::iter::successors(Some(x[0]), |y| {
        let next = 0.5 * y + x[1];
        match next {
            n if n < 0.01 => None,
            n => Some(n - 0.01 * n * n),
        }
    })
    .take(9)
    .collect();
    let (mut s, mut k) = (0.0, 0.0);
    for v in std::iter::successors(Some(1.0), |w| Some(w * x[1])).take(3) {
        s += v * k;
        k += 1.0;
    }
    s + all.iter().map(|v| v * v).sum::<f64>() * all.len() as f64
}

#[differentiable]
fn pairs(x: &[f64]) -> f64 {
    let mut i = 0;
    core::iter::from_fn(|| {
        i += 2;
        if i < x.len() { Some(x[i] * x[i - 1]) } else { None }
    })
    .sum()
}

/// What it changes is there behind it.
#[differentiable]
fn drawn(x: &[f64]) -> f64 {
    let (mut state, mut k) = (x[0], 0);
    let total: f64 = std::iter::from_fn(|| {
        k += 1;
        state = sin(3.0 * state) + 0.1 * x[1];
        if k < 40 { Some(state) } else { None }
    })
    .take(7)
    .sum();
    total * state + k as f64
}

#[test]
fn made_by_closures() {
    agree! {
        cube_root at [2.0], [0.3];
        halved at [3.0], [0.05];
        fibonacci at [0.5, 0.75], [60.0, 1.0];
        kept at [1.0, 0.5], [0.001, 0.002], [3.0, 0.004];
        pairs at [1.0, 2.0, 3.0, 4.0, 5.0], [1.0], [2.0, 3.0, 0.5];
        drawn at [0.4, 0.6];
    }
}

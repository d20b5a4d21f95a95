//! What is said by other Rust: `matches!`, `contains`, `is_sorted`, `partition_point`, `rfind`, `std::mem::swap`.

use super::{close, differences, same};
use jut::{Data, differentiable};

#[differentiable]
fn interpolated(x: &[f64], y: &[f64], at: f64) -> f64 {
    let i = x.partition_point(|v| *v < at).clamp(1, x.len() - 1);
    let t = (at - x[i - 1]) / (x[i] - x[i - 1]);
    y[i - 1] + t * (y[i] - y[i - 1])
}

#[differentiable]
fn place(x: &[f64], at: f64) -> usize {
    x.partition_point(|v| *v <= at)
}

#[differentiable]
fn asked(x: &[f64], n: i64, all: &[i64]) -> f64 {
    let mut y = if matches!(n, 1 | 3..=5) { x[0] } else { -x[0] };
    if all.contains(&(n + 1)) {
        y *= 2.0;
    }
    if x.is_sorted() {
        y += x[1];
    }
    let first = x.first();
    if matches!(first, Some(v) if *v > 1.0) { y * y } else { y }
}

#[derive(Data, Clone, Copy)]
enum Kind {
    Plain,
    Scaled(f64),
}

#[differentiable]
fn kinds(all: &[Kind]) -> usize {
    all.iter().filter(|k| matches!(k, Kind::Scaled(by) if *by > 0.5)).count()
}

#[test]
fn searches_by_halves() {
    let (x, y) = ([0.0, 1.0, 2.5, 4.0], [1.0, 3.0, 2.0, 5.0]);
    for at in [-1.0, 0.0, 0.5, 1.0, 2.0, 2.5, 3.0, 4.0, 5.0] {
        same(interpolated::value(&x, &y, at).unwrap(), interpolated(&x, &y, at));
        for n in 0..=4 {
            assert_eq!(place::value(&x[..n], at).unwrap(), place(&x[..n], at));
        }
    }
    let (_, by_y, by_at) = interpolated::gradient(&x, &y, 2.0).unwrap();
    close(&by_y, &differences(|y| interpolated(&x, y, 2.0), &y));
    close(&[by_at], &differences(|at| interpolated(&x, &y, at[0]), &[2.0]));
}

#[test]
fn questions_are_those_of_rust() {
    for x in [[0.5, 2.0], [2.0, 0.5], [2.0, f64::NAN], [3.0, 3.0]] {
        for n in 0..7 {
            for all in [&[][..], &[2, 4], &[n]] {
                same(asked::value(&x, n, all).unwrap(), asked(&x, n, all));
            }
        }
    }
    assert_eq!(asked::gradient(&[2.0, 3.0], 3, &[4]).unwrap(), [28.0, 14.0]);
    let all = [Kind::Scaled(0.75), Kind::Plain, Kind::Scaled(0.25)];
    assert_eq!(kinds::value(&all).unwrap(), kinds(&all));
}

#[differentiable]
fn last_below(x: &[f64], at: f64) -> f64 {
    let found = x.iter().rfind(|v| **v < at).copied().unwrap_or(0.5);
    match (0..x.len()).rfind(|i| x[*i] > at) {
        Some(i) => found * x[i],
        None => found,
    }
}

/// Sweeps of a relaxation between two lists, and elements and components that change places.
#[differentiable]
fn sweeps(u: &[f64], f: f64, times: usize) -> f64 {
    let (mut a, mut b) = (u.to_vec(), u.to_vec());
    for _ in 0..times {
        for i in 1..a.len() - 1 {
            b[i] = 0.5 * (a[i - 1] + a[i + 1] + f);
        }
        std::mem::swap(&mut a, &mut b);
    }
    let mut pair = (a[1], f);
    if pair.0 > pair.1 {
        std::mem::swap(&mut pair.0, &mut pair.1);
    }
    exchange(&mut a, &mut pair.0);
    a.iter().map(|v| v * v).sum::<f64>() + 3.0 * pair.0 + pair.1
}

#[differentiable]
fn exchange(x: &mut [f64], y: &mut f64) {
    let mut own = *y;
    std::mem::swap(&mut x[0], &mut own);
    std::mem::swap(y, &mut own);
}

#[test]
fn searches_from_behind_and_swaps() {
    let x = [1.0, -2.0, 3.0, 0.25, 4.0];
    for at in [-3.0, 0.0, 0.5, 3.5, 9.0] {
        let (value, (by_x, _)) = last_below::value_and_gradient(&x, at).unwrap();
        same(value, last_below(&x, at));
        close(&by_x, &differences(|x| last_below(x, at), &x));
    }
    for times in 0..4 {
        let (value, (by_u, by_f)) = sweeps::value_and_gradient(&x, 0.75, times).unwrap();
        same(value, sweeps(&x, 0.75, times));
        close(&by_u, &differences(|u| sweeps(u, 0.75, times), &x));
        close(&[by_f], &differences(|f| sweeps(&x, f[0], times), &[0.75]));
    }
}

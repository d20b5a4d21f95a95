//! Orders in which what has none counts as equal, lists that begin again, and lists of lists in one.

use super::same;
use jut::differentiable;
use std::cmp::Ordering;

#[differentiable]
fn area(x: &[f64]) -> f64 {
    let points: Vec<[f64; 2]> = x.chunks_exact(2).map(|c| [c[0], c[1]]).collect();
    let twice: f64 = points
        .iter()
        .zip(points.iter().cycle().skip(1))
        .map(|(p, q)| p[0] * q[1] - q[0] * p[1])
        .sum();
    let weights: f64 = x.iter().cycle().take(7).zip(0..).map(|(v, k)| v * k as f64).sum();
    0.5 * twice + weights
}

#[differentiable]
fn median(x: &[f64]) -> f64 {
    let mut down = x.to_vec();
    down.sort_by(|a, b| b.partial_cmp(a).unwrap_or(Ordering::Equal));
    let top = x.iter().copied().max_by(|a, b| a.partial_cmp(b).unwrap_or(Ordering::Equal)).unwrap();
    down[down.len() / 2] * top
}

#[differentiable]
fn ends(x: &[f64]) -> f64 {
    let least = x.iter().min_by(|a, b| a.partial_cmp(b).unwrap_or(std::cmp::Ordering::Equal));
    let most = x.iter().max_by(|a, b| a.partial_cmp(b).unwrap_or(std::cmp::Ordering::Equal));
    least.unwrap() - 2.0 * most.unwrap()
}

#[differentiable]
fn transposed(x: &[f64]) -> f64 {
    let m: Vec<Vec<f64>> = (0..2).map(|i| (0..3).map(|j| x[i] * x[j]).collect()).collect();
    let t: Vec<Vec<f64>> = (0..3).map(|j| m.iter().map(|row| row[j]).collect()).collect();
    t.concat().iter().zip(m.concat()).enumerate().map(|(k, (a, b))| a * b * k as f64).sum()
}

#[test]
fn lists_begin_again_and_orders_may_be_partial() {
    agree! {
        area at [0.0, 0.5, 2.0, 0.25, 1.5, 1.75], [0.5];
        median at [0.5, 2.0, -1.0, 0.25];
        ends at [0.5, 2.0, -1.0, 0.25];
        transposed at [0.5, 2.0, -1.0];
    }
    same(area::value(&[]).unwrap(), area(&[]));
    for x in [[f64::NAN, 1.0, 2.0], [1.0, f64::NAN, 0.5], [2.0, 1.0, f64::NAN]] {
        same(ends::value(&x).unwrap(), ends(&x));
    }
}

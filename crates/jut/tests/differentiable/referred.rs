//! Functions that give a reference into what they are given: the derivatives are those of what it refers to.

use super::{close, differences, same};
use jut::{Data, differentiable};

#[differentiable]
fn tail(x: &[f64], from: usize) -> &[f64] {
    &x[from..]
}

#[differentiable]
fn longer<'a>(a: &'a [f64], b: &'a [f64]) -> &'a [f64] {
    if a.len() > b.len() { a } else { b }
}

#[derive(Data, Clone, Copy, Debug, PartialEq)]
struct Point {
    x: f64,
    y: f64,
}

#[differentiable]
fn nearest(points: &[Point], to: f64) -> &Point {
    let mut best = &points[0];
    for p in points {
        if (p.x - to).abs() < (best.x - to).abs() {
            best = p;
        }
    }
    best
}

#[differentiable]
fn largest(x: &[f64]) -> &f64 {
    let mut at = 0;
    for i in 1..x.len() {
        if x[i] > x[at] {
            at = i;
        }
    }
    &x[at]
}

#[derive(Data, Clone, Debug, PartialEq)]
struct Series {
    values: Vec<f64>,
}

#[differentiable]
impl Series {
    fn last(&self, n: usize) -> &[f64] {
        &self.values[self.values.len() - n..]
    }
}

#[differentiable]
fn all(x: &[f64]) -> f64 {
    let points = [Point { x: x[0], y: x[1] }, Point { x: x[1], y: x[2] }];
    let near = nearest(&points, 2.0);
    let series = Series { values: x.to_vec() };
    let last: f64 = series.last(2).iter().sum();
    let part: f64 = tail(x, 1).iter().map(|v| v * v).sum();
    near.x * near.y + part * *largest(x) + last * nearest(&points, 0.0).y
}

#[test]
fn what_is_referred_to_is_the_result() {
    let (x, y) = ([1.5, -2.0, 3.0, 0.25], [1.0, 2.0]);
    assert_eq!(tail::value(&x, 2).unwrap(), tail(&x, 2));
    assert_eq!(
        tail::vjp(&x, 2, &vec![1.0, 2.0]).unwrap(),
        (vec![3.0, 0.25], vec![0.0, 0.0, 1.0, 2.0])
    );
    assert!(tail::value(&x, 5).is_err());
    let points = [Point { x: 1.0, y: 2.0 }, Point { x: 3.0, y: -1.0 }];
    assert_eq!(nearest::value(&points, 2.5).unwrap(), *nearest(&points, 2.5));
    same(largest::value(&x).unwrap(), *largest(&x));
    assert_eq!(largest::gradient(&x).unwrap(), [0.0, 0.0, 1.0, 0.0]);
    let series = Series { values: x.to_vec() };
    assert_eq!(Series_last::value(&series, 3).unwrap(), series.last(3));
    for x in [&x[..], &[0.5, 1.5, -1.0]] {
        same(all::value(x).unwrap(), all(x));
        close(&all::gradient(x).unwrap(), &differences(all, x));
    }
    assert_eq!(longer(&x, &y), x);
}

use jut::{Data, differentiable};
use std::iter::Sum;

#[derive(Data, Clone, Copy)]
struct Point {
    x: f64,
}

impl Sum for Point {
    fn sum<I: Iterator<Item = Point>>(points: I) -> Point {
        points.fold(Point { x: 0.0 }, |a, b| Point { x: a.x + b.x })
    }
}

#[differentiable]
fn f(points: &[Point]) -> f64 {
    let all: Point = points.iter().copied().sum();
    all.x
}

fn main() {}

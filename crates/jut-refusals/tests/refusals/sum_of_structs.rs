use jut::{Data, differentiable};
use std::iter::Sum;
use std::ops::Add;

#[derive(Data, Clone, Copy)]
struct Point {
    x: f64,
}

#[differentiable]
impl Add for Point {
    type Output = Point;
    fn add(self, other: Point) -> Point {
        Point { x: self.x + other.x }
    }
}

impl Sum for Point {
    fn sum<I: Iterator<Item = Point>>(points: I) -> Point {
        points.fold(Point { x: 0.0 }, Add::add)
    }
}

#[differentiable]
fn f(points: &[Point]) -> f64 {
    let all: Point = points.iter().copied().sum();
    all.x
}

fn main() {}

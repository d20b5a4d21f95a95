use jut::{Data, differentiable};
use std::ops::Add;

#[derive(Data, Clone, Copy)]
struct Point {
    x: f64,
}

impl Add for Point {
    type Output = Point;
    fn add(self, other: Point) -> Point {
        Point { x: self.x + other.x }
    }
}

#[differentiable]
fn f(p: Point, q: Point) -> f64 {
    let sum = p + q;
    sum.x
}

fn main() {}

use jut::differentiable;

#[derive(jut::Data)]
struct Point {
    x: f64,
}

impl Point {
    fn new(x: f64) -> Point {
        Point { x }
    }
}

#[differentiable]
fn f(x: f64) -> f64 {
    Point::new(x).x
}

fn main() {}

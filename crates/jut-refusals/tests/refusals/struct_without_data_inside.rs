use jut::differentiable;

struct Point {
    x: f64,
}

#[differentiable]
fn f(x: f64) -> f64 {
    let p = Point { x };
    p.x * p.x
}

fn main() {}

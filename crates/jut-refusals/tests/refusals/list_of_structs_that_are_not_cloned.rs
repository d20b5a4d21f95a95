use jut::differentiable;

#[derive(jut::Data)]
struct Point {
    x: f64,
}

#[differentiable]
fn f(all: &[Point]) -> f64 {
    all[0].x
}

fn main() {}

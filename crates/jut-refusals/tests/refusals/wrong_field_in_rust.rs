use jut::differentiable;

#[derive(jut::Data)]
struct Point {
    x: f64,
}

#[differentiable]
fn f(p: &Point) -> f64 {
    p.y
}

fn main() {}

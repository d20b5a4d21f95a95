use jut::differentiable;

#[differentiable]
fn f(x: f64, n: u16) -> f64 {
    x * n as f64
}

fn main() {}

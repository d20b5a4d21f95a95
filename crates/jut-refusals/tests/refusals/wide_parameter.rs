use jut::differentiable;

#[differentiable]
fn f(x: f64, n: u128) -> f64 {
    x * n as f64
}

fn main() {}

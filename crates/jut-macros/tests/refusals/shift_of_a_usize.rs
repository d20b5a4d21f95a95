use jut::differentiable;

#[differentiable]
fn f(x: f64, n: usize) -> f64 {
    x * (1 << n) as f64
}

fn main() {}

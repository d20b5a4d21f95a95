use jut::differentiable;

#[differentiable]
fn f(x: f64) -> f64 {
    let n: usize = x;
    n as f64
}

fn main() {}

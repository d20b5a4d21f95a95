use jut::differentiable;

const N: u8 = 3;

#[differentiable]
fn f(x: f64) -> f64 {
    x * N as f64
}

fn main() {}

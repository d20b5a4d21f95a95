use jut::differentiable;

const N: char = 'a';

#[differentiable]
fn f(x: f64) -> f64 {
    x * N as u32 as f64
}

fn main() {}

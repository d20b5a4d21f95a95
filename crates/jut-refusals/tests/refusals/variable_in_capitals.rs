#![allow(non_snake_case, unused_variables)]
use jut::differentiable;

#[differentiable]
fn f(x: f64, n: usize) -> f64 {
    let N = n / 2;
    match n {
        0 => x,
        N => x * N as f64,
    }
}

fn main() {}

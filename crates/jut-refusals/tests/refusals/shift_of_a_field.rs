use jut::{Data, differentiable};

#[derive(Data)]
struct S {
    n: i64,
}

#[differentiable]
fn f(x: f64, s: &S, k: u32) -> f64 {
    x * (s.n << k) as f64
}

fn main() {}

use jut::{Data, differentiable};

#[derive(Data)]
struct S {
    n: i64,
}

#[differentiable]
fn f(x: f64, s: &S) -> f64 {
    x * (s.n << 2) as f64
}

fn main() {}

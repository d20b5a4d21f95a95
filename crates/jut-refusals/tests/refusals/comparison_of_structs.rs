use jut::{Data, differentiable};

#[derive(Data, Clone, Copy, PartialEq, PartialOrd)]
struct Key {
    major: f64,
    minor: f64,
}

#[differentiable]
fn least(a: Key, b: Key) -> f64 {
    if a < b { a.major } else { b.minor }
}

fn main() {}

use jut::{Data, differentiable};

#[derive(Data, Clone, Copy)]
struct Reading {
    value: f64,
    valid: bool,
}

#[differentiable]
impl Reading {
    fn new(value: f64) -> Self {
        Reading { value, valid: true }
    }
    fn unwrap_or(self, other: f64) -> f64 {
        if self.valid { self.value } else { other }
    }
}

#[differentiable]
fn f(x: f64) -> f64 {
    let read = Reading::new(x);
    let known: Reading = read;
    known.unwrap_or(1.0) + read.unwrap_or(2.0)
}

fn main() {}

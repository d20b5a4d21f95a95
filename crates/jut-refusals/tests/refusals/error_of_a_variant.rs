use jut::{Data, differentiable};

#[derive(Data, Clone, Copy)]
enum Fail {
    Negative,
    Zero,
}

#[differentiable]
fn root(x: f64) -> Result<f64, Fail> {
    if x < 0.0 {
        Err(Fail::Negative)
    } else if x == 0.0 {
        Err(Fail::Zero)
    } else {
        Ok(x.sqrt())
    }
}

#[differentiable]
fn f(x: f64) -> f64 {
    match root(x) {
        Ok(y) => y,
        Err(Fail::Zero) => 0.0,
        Err(Fail::Negative) => -x,
    }
}

fn main() {}

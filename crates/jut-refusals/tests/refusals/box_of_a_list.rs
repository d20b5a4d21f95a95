use jut::differentiable;

#[differentiable]
fn f(x: Box<[f64]>) -> f64 {
    x[0]
}

fn main() {}

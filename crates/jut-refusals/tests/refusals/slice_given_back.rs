use jut::differentiable;

#[differentiable]
fn f(x: &[f64]) -> &[f64] {
    x
}

fn main() {}

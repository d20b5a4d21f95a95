use jut::differentiable;

#[differentiable]
fn f(x: &mut [f64]) -> &mut [f64] {
    x
}

fn main() {}

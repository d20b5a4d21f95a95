use jut::differentiable;

#[differentiable]
fn f(x: &[f64]) -> f64 {
    x[0]
}

fn main() {
    let _ = f::gradient(1.0);
}

use jut::differentiable;

#[differentiable]
fn f(x: &[f64]) -> Vec<f64> {
    x.to_vec()
}

fn main() {
    let _ = f::gradient(&[1.0]);
}

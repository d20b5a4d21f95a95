use jut::differentiable;

#[differentiable]
fn f(x: &[f64]) -> f64 {
    let all = x.iter();
    let again = all.clone();
    all.sum::<f64>() * again.sum::<f64>()
}

fn main() {}

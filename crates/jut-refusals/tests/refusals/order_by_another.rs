use jut::differentiable;

#[differentiable]
fn f(x: &[(f64, f64)]) -> f64 {
    let mut a = x.to_vec();
    a.sort_by(|a, b| a.0.total_cmp(&b.1));
    a[0].0
}

fn main() {}

use jut::differentiable;

#[differentiable]
fn f(x: &[f64]) -> f64 {
    let mut a = x.to_vec();
    if x[0] > 0.0 {
        a.truncate(2);
    }
    a[0]
}

fn main() {}

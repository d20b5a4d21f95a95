use jut::differentiable;

#[differentiable]
fn f(x: &[f64]) -> f64 {
    let mut all = x.iter();
    *all.next().unwrap_or(&0.0)
}

fn main() {}

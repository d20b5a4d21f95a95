use jut::differentiable;

#[differentiable]
fn f(x: &[f64]) -> f64 {
    x.iter().map(|v| { for k in 0..3 { if *v > k as f64 { return 1.0; } } *v }).sum()
}

fn main() {}

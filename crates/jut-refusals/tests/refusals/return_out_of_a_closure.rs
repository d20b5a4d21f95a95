use jut::differentiable;

#[differentiable]
fn f(x: &[f64]) -> f64 {
    x.iter().map(|v| { if *v > 0.0 { return 1.0; } *v }).sum()
}

fn main() {}

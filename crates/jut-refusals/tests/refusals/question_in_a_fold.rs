use jut::differentiable;

#[differentiable]
fn root(v: f64) -> Option<f64> {
    if v < 0.0 { None } else { Some(v.sqrt()) }
}

#[differentiable]
fn f(x: &[f64]) -> f64 {
    x.iter().try_fold(0.0, |s, v| Some(s + root(*v)?)).unwrap_or(1.0)
}

fn main() {}

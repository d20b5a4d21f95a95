use jut::differentiable;

#[differentiable]
fn f(x: f64) -> f64 {
    let g = || -> Option<f64> { Some(Some(x)? * 2.0) };
    g().unwrap_or(0.0)
}

fn main() {}

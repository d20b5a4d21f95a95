use jut::differentiable;

#[differentiable]
fn root(x: f64) -> Result<f64, f64> {
    if x < 0.0 { Err(x) } else { Ok(x.sqrt()) }
}

#[differentiable]
fn f(x: f64) -> f64 {
    match root(x) {
        Ok(y) => y,
        Err(below) => below,
    }
}

fn main() {}

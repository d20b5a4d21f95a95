use jut::differentiable;

#[differentiable]
fn steps(x: &[f64]) -> Result<Vec<f64>, String> {
    if x.is_empty() {
        return Err("none".to_string());
    }
    Ok(x.to_vec())
}

#[differentiable]
fn total(x: &[f64]) -> f64 {
    match steps(x) {
        Ok(list) => list.iter().sum(),
        Err(_) => 0.0,
    }
}

fn main() {}

use jut::differentiable;

#[differentiable]
fn f(x: &[f64]) -> f64 {
    let rows: Vec<Vec<f64>> = x.chunks(3).map(|c| c.to_vec()).collect();
    rows[0][0]
}

fn main() {}

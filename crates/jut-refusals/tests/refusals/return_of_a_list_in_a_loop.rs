use jut::differentiable;

#[differentiable]
fn f(x: &[Vec<f64>]) -> Vec<Vec<f64>> {
    for row in x {
        if row[0] > 0.0 {
            return vec![row.clone()];
        }
    }
    x.to_vec()
}

fn main() {}

use jut::differentiable;

#[differentiable]
fn f(x: &[f64]) -> Vec<f64> {
    for i in 0..3 {
        if x[i] > 0.0 {
            return vec![1.0];
        }
    }
    vec![2.0]
}

fn main() {}

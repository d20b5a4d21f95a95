use jut::differentiable;

#[differentiable]
fn f(x: f64) -> f64 {
    let all = Vec::<f64>::new();
    x + all.len() as f64
}

fn main() {}

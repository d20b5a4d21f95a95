use jut::differentiable;

#[differentiable]
fn f(x: f64, name: String) -> f64 {
    x + name.len() as f64
}

fn main() {}

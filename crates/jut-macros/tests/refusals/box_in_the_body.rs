use jut::differentiable;

#[differentiable]
fn f(x: f64) -> f64 {
    let b = Box::new(x);
    *b
}

fn main() {}

use jut::differentiable;

#[differentiable(lanes)]
fn f(x: f64) -> f64 {
    x
}

fn main() {}

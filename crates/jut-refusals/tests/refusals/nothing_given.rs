use jut::differentiable;

#[differentiable]
fn f(x: f64) {
    let _ = x;
}

fn main() {}

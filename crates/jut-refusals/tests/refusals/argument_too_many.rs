use jut::differentiable;

#[differentiable]
fn f(x: f64) -> f64 {
    x * x
}

fn main() {
    let _ = f::gradient(1.0, 2.0);
}

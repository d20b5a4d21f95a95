use jut::differentiable;

#[differentiable]
fn f(n: usize) -> f64 {
    n as f64
}

fn main() {
    let _ = f::gradient(1);
}

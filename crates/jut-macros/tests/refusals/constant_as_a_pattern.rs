use jut::differentiable;

#[differentiable]
fn f(x: f64, n: usize) -> f64 {
    match n {
        usize::MAX => x,
        _ => 2.0 * x,
    }
}

fn main() {}

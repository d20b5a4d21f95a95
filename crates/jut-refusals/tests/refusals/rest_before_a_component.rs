use jut::differentiable;

#[differentiable]
fn f(x: f64, y: f64) -> f64 {
    match (x, y) {
        (.., 0.0) => x,
        _ => 2.0 * y,
    }
}

fn main() {}

use jut::differentiable;

#[differentiable]
fn f(x: f64) -> f64 {
    struct Pair(f64, f64);
    let p = Pair(x, x);
    p.0 * p.1
}

fn main() {}

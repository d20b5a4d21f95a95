use jut::differentiable;

#[differentiable]
fn f(x: f64) -> f64 {
    let mut s = 0.0;
    let y = call(|y| { s += y; y }, x);
    y + s
}

fn call(mut g: impl FnMut(f64) -> f64, x: f64) -> f64 {
    g(x)
}

fn main() {}

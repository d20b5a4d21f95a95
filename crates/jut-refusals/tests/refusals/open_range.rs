use jut::differentiable;

#[differentiable]
fn f(x: f64) -> f64 {
    let mut s = x;
    for i in 0.. {
        s *= x + i as f64;
    }
    s
}

fn main() {}

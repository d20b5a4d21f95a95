use jut::differentiable;

#[differentiable]
unsafe fn f(x: f64) -> f64 {
    x
}

fn main() {}

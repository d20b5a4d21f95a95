use jut::differentiable;

#[differentiable]
fn f<P: Default>(x: f64) -> f64 {
    let _ = P::default();
    x
}

fn main() {}

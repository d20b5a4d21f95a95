use jut::differentiable;
use std::rc::Rc;

#[differentiable]
fn f(x: f64) -> f64 {
    let b = Rc::new(x);
    *b
}

fn main() {}

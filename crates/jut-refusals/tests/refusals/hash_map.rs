use jut::differentiable;

use std::collections::HashMap;

#[differentiable]
fn f(x: HashMap<usize, f64>) -> f64 {
    x[&0]
}

fn main() {}

use jut::differentiable;
use std::collections::VecDeque;

#[differentiable]
fn f(x: &[f64]) -> f64 {
    let mut queue = VecDeque::new();
    for v in x {
        queue.push_back(*v);
    }
    queue[0]
}

fn main() {}

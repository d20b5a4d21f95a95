use jut::differentiable;

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

static STATE: AtomicUsize = AtomicUsize::new(0);

#[differentiable]
fn f(x: f64) -> f64 {
    STATE.store(1, Relaxed);
    x
}

fn main() {}

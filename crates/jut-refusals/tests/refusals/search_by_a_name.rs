use jut::differentiable;
use std::cmp::Ordering;

fn to_one(v: &f64) -> Ordering {
    v.total_cmp(&1.0)
}

#[differentiable]
fn f(x: &[f64]) -> f64 {
    x.binary_search_by(to_one).unwrap_or_else(|i| i) as f64
}

fn main() {}

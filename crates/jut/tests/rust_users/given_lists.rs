//! Lists that functions give, which change their length under names without types; own types with methods of such names beside them.

use jut::{Data, differentiable};
#[derive(Data, Clone, Copy, Debug, PartialEq)]
struct P {
    a: f64,
    k: u16,
}
#[differentiable]
fn made(x: &[f64]) -> Vec<P> {
    x.iter().enumerate().map(|(i, &a)| P { a, k: i as u16 }).collect()
}
#[differentiable]
fn halves(x: &[f64]) -> Vec<f64> {
    x.iter().map(|v| v * 0.5).collect()
}
#[differentiable]
fn grown(x: &[f64]) -> f64 {
    let mut y = halves(x);
    y.push(x[0]);
    while y.len() > 3 {
        let last = y.pop().unwrap();
        y[0] += last;
    }
    let mut all = made(&y);
    for v in y.iter().rev() {
        if *v > 0.3 {
            all.push(P { a: v * v, k: 7 });
        }
    }
    all.retain(|p| p.k != 1);
    all.iter().map(|p| p.a * p.k as f64).sum::<f64>() + y[0]
}
#[derive(Data, Clone, Debug, PartialEq)]
struct S {
    v: Vec<f64>,
}
#[differentiable]
impl S {
    fn push(&mut self, x: f64) {
        self.v[0] += x;
    }
    fn len(&self) -> usize {
        self.v.len()
    }
}
#[differentiable]
fn s_of(x: &[f64]) -> S {
    S { v: x.to_vec() }
}
#[differentiable]
fn own(x: &[f64]) -> f64 {
    let mut s = s_of(x);
    s.push(2.0);
    s.v[0] * x[0]
}
#[differentiable]
fn moving(x: &[f64]) -> f64 {
    let mut y = halves(x);
    for _ in 0..2 {
        y = y.windows(2).map(|w| w[0] * w[1]).collect();
        y.insert(0, 1.5);
        y.extend_from_slice(&x[..1]);
    }
    y.sort_by_key(|v| std::cmp::Reverse((*v * 100.0) as i64));
    y.dedup();
    y.iter().enumerate().map(|(i, v)| i as f64 * v).sum()
}
#[test]
fn what_a_function_gives_changes_its_length_where_no_type_is_written() {
    everywhere! { grown at [1.0, 2.0, 0.5, 0.9], [1.0]; own at [1.0, 2.0]; moving at [1.0, 2.0, 0.5, 0.9], [0.8]; }
}

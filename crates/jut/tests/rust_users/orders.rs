//! Orders, tables and comparisons of what is made of several numbers.

use jut::{Data, differentiable};
use std::cmp::Reverse;
#[derive(Data, Clone, Copy, Debug, PartialEq)]
struct Item {
    kind: u8,
    rank: i32,
    w: f64,
}
/// Orders by several keys, of patterns, and turned round.
#[differentiable]
fn orders(x: &[f64]) -> f64 {
    let mut items: Vec<Item> = x
        .iter()
        .enumerate()
        .map(|(i, &w)| Item { kind: (i % 2) as u8, rank: (i as i32 * 7) % 5, w })
        .collect();
    items.sort_unstable_by_key(|p| (p.kind, Reverse(p.rank)));
    let a: f64 = items.iter().enumerate().map(|(i, p)| i as f64 * p.w).sum();
    let mut pairs: Vec<(f64, usize)> = x.iter().map(|v| v.abs()).zip(0..).collect();
    pairs.sort_by(|(a, _), (b, _)| b.partial_cmp(a).unwrap());
    let b: f64 = pairs.iter().enumerate().map(|(i, (v, _))| i as f64 * v).sum();
    pairs.sort_by_key(|&(_, k)| Reverse(k));
    a + b * pairs[0].0
}
/// Tables of a module and of a type, with rows of different lengths.
const STEPS: [&[(usize, f64)]; 3] = [&[(0, 1.0)], &[(0, 0.5), (1, 0.5)], &[]];
struct Rules;
#[differentiable]
impl Rules {
    const NODES: [&'static [f64]; 2] = [&[0.0], &[-0.5, 0.5]];
    fn at(k: usize, x: f64) -> f64 {
        Rules::NODES[k].iter().map(|n| (x + n).powi(2)).sum::<f64>() / Self::NODES[k].len() as f64
    }
}
#[differentiable]
fn tabled(x: &[f64]) -> f64 {
    let mut s = 0.0;
    for (k, row) in STEPS.iter().enumerate() {
        for &(j, w) in *row {
            s += w * x[j] * (k + 1) as f64;
        }
    }
    s + STEPS[1].iter().map(|(_, w)| w).sum::<f64>() * x[0]
        + Rules::at(1, x[1]) * Rules::at(0, x[0])
}
/// Tuples and options that are compared.
#[differentiable]
fn compares(x: &[f64]) -> f64 {
    let best = x.iter().position(|v| *v > 1.0);
    let mut at = None;
    let mut s = 0.0;
    for (i, v) in x.iter().enumerate() {
        if best == Some(i) || at != None {
            s += v * v;
        }
        if (i % 2, i / 2) == (1, 0) {
            at = Some((i, 1));
        }
        if at == Some((i, 1)) {
            s += 3.0 * v;
        }
        if best != at.map(|(k, _)| k) && (x[0], *v) != (1.5, 0.0) {
            s -= v * 0.5;
        }
    }
    s
}
#[test]
fn orders_tables_and_comparisons() {
    everywhere! { orders at [1.0, 2.0, 3.0, -0.5, 0.7]; tabled at [1.0, 2.0]; compares at [1.5, 0.3, 2.0, 0.9], [0.5, 0.3, 2.0, 0.9]; }
}

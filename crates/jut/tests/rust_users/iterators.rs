//! Chains of iterators of every kind: drained, taken by reference, peeked, grouped, summed as `Option`s and `Result`s.

use jut::differentiable;
use jut::math::{exp, log, sin};
use std::cmp::Ordering;

#[differentiable]
fn header_then_rest(x: &[f64]) -> f64 {
    let mut it = x.iter().copied();
    let n = it.next().unwrap_or(0.0);
    let head: Vec<f64> = it.by_ref().take(2).collect();
    let rest: f64 = it.map(|v| v * n).sum();
    head.iter().product::<f64>() + rest
}
#[differentiable]
fn drained(x: &[f64]) -> f64 {
    let mut queue: Vec<f64> = x.to_vec();
    let first: f64 = queue.drain(..2).map(|v| v * v).sum();
    let all: Vec<f64> = queue.drain(..).rev().collect();
    assert!(queue.is_empty());
    first + all.iter().enumerate().map(|(i, v)| i as f64 * v).sum::<f64>()
}
#[differentiable]
fn checked_root(v: f64) -> Option<f64> {
    if v < 0.0 { None } else { Some(v.sqrt()) }
}
#[differentiable]
fn sum_of_options(x: &[f64]) -> f64 {
    let total: Option<f64> = x.iter().map(|&v| checked_root(v)).sum();
    match total {
        Some(t) => t * t,
        None => -1.0,
    }
}
#[differentiable]
fn positive(v: f64) -> Result<f64, String> {
    if v > 0.0 { Ok(log(v)) } else { Err(format!("not positive")) }
}
#[differentiable]
fn sum_of_results(x: &[f64]) -> Result<f64, String> {
    let s = x.iter().map(|&v| positive(v)).sum::<Result<f64, String>>()?;
    let p: f64 = x.iter().map(|&v| positive(v + 1.0)).product::<Result<_, String>>()?;
    Ok(s + p)
}
#[differentiable]
fn results_outer(x: &[f64]) -> f64 {
    sum_of_results(x).unwrap()
}

#[differentiable]
fn scans(x: &[f64]) -> f64 {
    let ema: Vec<f64> = x
        .iter()
        .scan(x[0], |state, &v| {
            *state = 0.7 * *state + 0.3 * v;
            Some(*state)
        })
        .collect();
    let (up, down): (Vec<f64>, Vec<f64>) =
        ema.windows(2).map(|w| w[1] - w[0]).partition(|d| *d > 0.0);
    let gain = up.iter().sum::<f64>() / up.len().max(1) as f64;
    let loss = -down.iter().sum::<f64>() / down.len().max(1) as f64;
    100.0 - 100.0 / (1.0 + gain / (loss + 0.1))
}
#[differentiable]
fn three_zips(x: &[f64]) -> f64 {
    let n = x.len() / 3;
    let (a, rest) = x.split_at(n);
    let (b, c) = rest.split_at(n);
    let dot = a.iter().zip(b.iter()).zip(c.iter()).map(|((a, b), c)| a * b * c).sum::<f64>();
    let back = a
        .iter()
        .rev()
        .zip(b)
        .zip(c.iter().skip(1).step_by(2))
        .map(|((x, y), z)| x - y * z)
        .fold(1.0, |p, v| p * v);
    dot + back
}
#[differentiable]
fn tried(x: &[f64]) -> f64 {
    let stopped = x.iter().try_fold(1.0, |acc: f64, &v| {
        let next = acc * v;
        if next.abs() > 100.0 { None } else { Some(next) }
    });
    stopped.map_or(-x[0], |v| v.abs().sqrt())
}
#[differentiable]
fn extremes(x: &[f64]) -> f64 {
    let (imax, max) =
        x.iter().enumerate().max_by(|(_, a), (_, b)| a.partial_cmp(b).unwrap()).unwrap();
    let (imin, min) =
        x.iter().copied().enumerate().min_by(|a, b| a.1.total_cmp(&b.1)).expect("numbers");
    let near = x
        .iter()
        .min_by(|a, b| (*a - 1.0).abs().partial_cmp(&(*b - 1.0).abs()).unwrap_or(Ordering::Equal))
        .unwrap();
    max * min + near * (imax as f64 - imin as f64)
}
#[differentiable]
fn changed_extreme(x: &[f64]) -> f64 {
    let mut w = x.to_vec();
    if let Some(m) = w.iter_mut().max_by(|a, b| a.total_cmp(b)) {
        *m *= 2.0;
    }
    if let Some(last) = w.last_mut() {
        *last += 1.0;
    }
    w.iter().map(|v| v * v).sum()
}
#[differentiable]
fn peeks(x: &[f64]) -> f64 {
    let mut it = x.iter().peekable();
    let mut runs = Vec::new();
    while let Some(&v) = it.next() {
        let mut sum = v;
        while let Some(&&next) = it.peek() {
            if next * v <= 0.0 {
                break;
            }
            sum += next;
            it.next();
        }
        runs.push(sum);
    }
    runs.iter().map(|r| r * r).sum::<f64>() / runs.len() as f64
}
#[differentiable]
fn grouped(x: &[f64]) -> f64 {
    let mut groups: Vec<(usize, f64)> = Vec::new();
    for &v in x {
        let bin = v.abs().floor() as usize;
        match groups.iter_mut().find(|(b, _)| *b == bin) {
            Some((_, s)) => *s += v,
            None => groups.push((bin, v)),
        }
    }
    groups.sort_by_key(|g| g.0);
    groups.iter().map(|&(b, s)| (b as f64 + 1.0) * s * s).sum()
}
#[differentiable]
fn flat(x: &[f64]) -> f64 {
    let n = x.len();
    let pairs = (0..n).flat_map(|i| (i + 1..n).map(move |j| (i, j)));
    let e: f64 = pairs
        .map(|(i, j)| {
            let d = x[i] - x[j];
            exp(-d * d)
        })
        .sum();
    let k = (0..n).flat_map(|i| std::iter::repeat(x[i]).take(i % 3)).last().unwrap_or(0.5);
    e + k
}
#[differentiable]
fn nth_last(x: &[f64]) -> f64 {
    let second = x.iter().filter(|v| **v > 0.0).nth(1).copied().unwrap_or(7.0);
    let last = x.iter().take_while(|&&v| v < 3.0).last().map(|v| v * 2.0).unwrap_or_default();
    let after: f64 = x.iter().skip_while(|v| **v < 1.0).map(|v| sin(*v)).sum();
    let max = x.iter().cloned().fold(f64::NEG_INFINITY, f64::max);
    let min = x.iter().copied().reduce(f64::min).unwrap();
    second * last + after + max * min
}
#[differentiable]
fn unzipped(x: &[f64]) -> f64 {
    let (s, c): (Vec<f64>, Vec<f64>) = x.iter().map(|v| (sin(*v), jut::math::cos(*v))).unzip();
    let best = s.iter().zip(&c).map(|(a, b)| a * b).max_by(f64::total_cmp).unwrap();
    let worst = s
        .iter()
        .zip(c.iter())
        .map(|(a, b)| a + b)
        .min_by(|a, b| a.partial_cmp(b).unwrap())
        .unwrap();
    best - worst
}
#[differentiable]
fn chunked(x: &[f64]) -> f64 {
    let mut it = x.chunks_exact(3);
    let mut s = 0.0;
    for c in &mut it {
        if let [a, b, c] = c {
            s += a * b - c;
        }
    }
    let rest = it.remainder();
    s + match rest {
        [] => 0.0,
        [a] => a * 3.0,
        [a, b] => a / b,
        _ => unreachable!(),
    }
}
#[differentiable]
fn chunked2(x: &[f64]) -> f64 {
    let it = x.chunks_exact(3);
    let rest = it.remainder();
    let s: f64 = it
        .map(|c| match *c {
            [a, b, c] => a * b - c,
            _ => unreachable!(),
        })
        .sum();
    s + match rest {
        [] => 0.0,
        [a] => a * 3.0,
        [a, b] => a / b,
        _ => unreachable!(),
    }
}
#[differentiable]
fn sorted_median(x: &[f64]) -> f64 {
    let mut s: Vec<f64> = x.to_vec();
    s.sort_by(|a, b| b.partial_cmp(a).unwrap());
    let mid = s.len() / 2;
    let median = if s.len() % 2 == 1 { s[mid] } else { (s[mid - 1] + s[mid]) / 2.0 };
    let mut dev: Vec<_> = s.iter().map(|v| (v - median).abs()).collect();
    dev.sort_unstable_by(f64::total_cmp);
    let k = dev.binary_search_by(|v| v.total_cmp(&0.5)).unwrap_or_else(|i| i);
    median + dev[dev.len() / 2] * 1.4826 + k as f64
}
#[differentiable]
fn extended(x: &[f64]) -> f64 {
    let mut padded = vec![x[0]; 2];
    padded.extend_from_slice(x);
    padded.extend(std::iter::repeat(x[x.len() - 1]).take(2));
    padded.extend(x.iter().rev().map(|v| 0.5 * v));
    let kernel = [0.25, 0.5, 0.25];
    padded
        .windows(3)
        .map(|w| w.iter().zip(kernel).map(|(a, k)| a * k).sum::<f64>())
        .map(|v| v * v)
        .sum()
}

#[test]
fn they_are_as_the_plain_calls_on_every_engine() {
    everywhere! {
        header_then_rest at [2.0, 1.3, 0.4, 1.0, 2.0], [2.0, 1.3], [], [1.0];
        drained at [2.0, 1.3, 0.4, 1.0, 2.0], [2.0, 1.3], [1.0];
        sum_of_options at [2.0, 1.3, 0.4, 1.0, 2.0], [2.0, -1.3], [];
        results_outer at [2.0, 1.3, 0.4, 1.0, 2.0], [2.0, -1.3], [];
        scans at [2.0, 1.3, 0.4, 1.0, 2.0], [2.0, -1.3], [];
        three_zips at [2.0, 1.3, 0.4, 1.0, 2.0, -0.2, 0.3, 0.9, 1.4], [2.0, -1.3], [];
        tried at [2.0, 1.3, 0.4, 1.0, 2.0], [200.0, -1.3], [];
        extremes at [2.0, 1.3, 0.4, 1.0, 2.1], [200.0, -1.3], [], [1.0, f64::NAN];
        changed_extreme at [2.0, 1.3, 0.4, 1.0, 2.1], [200.0, -1.3], [];
        peeks at [2.0, 1.3, -0.4, -1.0, 2.1], [200.0, -1.3], [];
        grouped at [2.3, 1.3, -0.4, -1.1, 2.1, 2.7], [];
        flat at [2.3, 1.3, -0.4, -1.1, 2.1, 2.7], [200.2, -1.3], [];
        nth_last at [0.3, 1.3, -0.4, -1.1, 2.1, 2.7], [200.2, -1.3], [];
        unzipped at [0.3, 1.3, -0.4, -1.1, 2.1, 2.7], [200.2, -1.3], [];
        chunked at [0.3, 1.3, -0.4, -1.1, 2.1, 2.7], [200.2, -1.3], [], [1.0, 2.0, 3.0, 4.0];
        chunked2 at [0.3, 1.3, -0.4, -1.1, 2.1, 2.7], [200.2, -1.3], [], [1.0, 2.0, 3.0, 4.0];
        sorted_median at [0.3, 1.35, -0.42, -1.1, 2.1, 2.7], [200.2, -1.3, 4.0], [];
        extended at [0.3, 1.3, -0.4, -1.1, 2.1, 2.7], [200.2, -1.3, 4.0], [];
    }
}

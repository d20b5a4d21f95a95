//! Lists of different lengths that change places, or are given away: `mem::swap`, `mem::replace`, `mem::take` and tuples, in branches, loops and
//! closures.

use jut::differentiable;
use std::mem;

/// Two lists of different lengths, at an even and at an odd round.
#[differentiable]
fn swapped_in_a_for(x: &[f64]) -> f64 {
    let mut a = x.to_vec();
    let mut b: Vec<f64> = x[..1].iter().map(|v| v * v).collect();
    let mut s = 0.0;
    for k in 0..3 {
        std::mem::swap(&mut a, &mut b);
        s += a.iter().sum::<f64>() * (k + 1) as f64 - b[0];
    }
    s + a.len() as f64
}

#[differentiable]
fn swapped_in_a_closure(x: &[f64]) -> f64 {
    let mut a = x.to_vec();
    let mut b = vec![0.5, x[0]];
    let mut turn = |k: f64| {
        mem::swap(&mut a, &mut b);
        a.iter().map(|v| v * k).sum::<f64>()
    };
    let first = turn(2.0);
    let second = turn(3.0);
    first * second + b.len() as f64 + a.iter().product::<f64>()
}

#[differentiable]
fn swapped_where_it_is_so(x: &[f64]) -> f64 {
    let mut a = vec![x[0]];
    let mut b = vec![x[0], 2.0 * x[0], 1.0];
    if x[0] > 0.5 {
        mem::swap(&mut a, &mut b);
    }
    match x.len() {
        1 => mem::swap(&mut a, &mut b),
        2 => (a, b) = (b, a),
        _ => {}
    }
    let mut k = 0;
    while k < x.len() {
        (b, a) = (a, b);
        k += 1;
    }
    a.iter().fold(1.0, |p, v| p * (v + 0.5)) + b[0]
}

#[differentiable]
fn replaced_and_taken(x: &[f64]) -> f64 {
    use std::mem::{replace, take};
    let mut bag: Vec<f64> = Vec::new();
    let mut done = vec![1.0];
    let mut s = 0.0;
    for v in x {
        bag.push(*v);
        match bag.len() {
            3 => {
                let full = take(&mut bag);
                s += full.iter().product::<f64>();
            }
            2 if *v > 1.0 => {
                let before = replace(&mut done, bag.clone());
                s += before.iter().sum::<f64>();
            }
            _ => {}
        }
    }
    let mut rounds = 0;
    while !done.is_empty() && rounds < 3 {
        let mut close = || mem::take(&mut bag);
        let rest = close();
        s += rest.iter().sum::<f64>() + done[0];
        bag = mem::replace(&mut done, Vec::new());
        rounds += 1;
    }
    s + bag.len() as f64
}

/// Two buffers that are filled in turn keep their lengths.
#[differentiable]
fn buffers(x: &[f64]) -> f64 {
    let mut old = x.to_vec();
    let mut new = vec![0.0; x.len()];
    for _ in 0..3 {
        for i in 0..old.len() {
            new[i] = 0.5 * (old[i] + old[(i + 1) % old.len()] * old[i]);
        }
        std::mem::swap(&mut old, &mut new);
    }
    old.iter().sum::<f64>() + new[0]
}

/// So do those that are filled and have different lengths, where they change places in a branch.
#[differentiable]
fn filled_and_swapped(x: &[f64]) -> f64 {
    let mut a = x.to_vec();
    let mut b = Vec::new();
    for v in x {
        b.push(v * v);
        if b.len() > a.len() / 2 {
            b[0] += 1.0;
            mem::swap(&mut a, &mut b);
            b.truncate(1);
        }
        a[0] *= 0.5;
    }
    a.iter().sum::<f64>() + 10.0 * b.iter().sum::<f64>()
}

#[test]
fn lists_of_different_lengths_change_places() {
    everywhere! {
        swapped_in_a_for at [0.3, 1.2, 0.7], [0.3], [];
        swapped_in_a_closure at [0.3, 1.2, 0.7], [0.3], [];
        swapped_where_it_is_so at [0.7], [0.7, 1.0], [0.3], [0.3, 0.2, 0.1], [];
        replaced_and_taken at [0.7, 1.2, 0.4, 0.8, 1.5], [0.3], [];
        buffers at [0.7, 1.2, 0.4], [];
        filled_and_swapped at [0.7, 1.2, 0.4, 0.9], [0.5], [];
    }
}

/// Buffers of which a function fills one.
#[differentiable]
fn stepped(x: &[f64]) -> f64 {
    let mut old = x.to_vec();
    let mut new = old.clone();
    for k in 0..3 {
        step(&old, &mut new, 0.1 * k as f64);
        mem::swap(&mut old, &mut new);
    }
    old.iter().map(|v| v * v).sum()
}

#[differentiable]
fn step(from: &[f64], to: &mut [f64], by: f64) {
    for i in 1..from.len() {
        to[i] = from[i] + by * (from[i - 1] - from[i]);
    }
}

/// Three of them.
#[differentiable]
fn wave(x: &[f64]) -> f64 {
    let mut before = x.to_vec();
    let mut now = x.to_vec();
    let mut next = vec![0.0; x.len()];
    for _ in 0..4 {
        for i in 1..x.len() {
            next[i] = 1.5 * now[i] - before[i] + 0.25 * now[i - 1];
        }
        (before, now, next) = (now, next, before);
    }
    now.iter().sum::<f64>() + before[0]
}

#[test]
fn buffers_that_are_filled_in_turn_are_arrays() {
    everywhere! {
        stepped at [0.7, 1.2, 0.4], [0.3];
        wave at [0.7, 1.2, 0.4, -0.5], [0.3];
    }
    // A list that measures itself is copied wherever it is read.
    for text in [buffers::text(), stepped::text(), wave::text()] {
        let text = text.unwrap();
        assert!(!text.contains("data "), "{text}");
    }
}

//! Where what is written could be taken for something near it: closures that move what they take, patterns of several cases with a guard, numbers of
//! variants, parts of lists that are not there, buffers that are filled in part.

use jut::{Data, differentiable};

/// What a closure moves is what it was when the closure was made, also in one that another gives.
#[differentiable]
fn moved(x: &[f64]) -> f64 {
    let mut a = x[0];
    let make = move |k: f64| move |v: f64| a * k + v;
    a += 5.0;
    let twice = make(2.0);
    a *= x[0];
    let thrice = make(a);
    twice(x[0]) * thrice(1.0) + a
}

/// A closure for each round, of what the round computes once.
#[differentiable]
fn each_round(x: &[f64]) -> f64 {
    let power = |k: usize| {
        let exponent = k as i32 + 1;
        move |v: f64| v.powi(exponent)
    };
    let mut s = 0.0;
    for k in 0..x.len() {
        let own = power(k);
        let mut part = own(x[k]);
        if k % 2 == 1 {
            let other = power(k + 1);
            part += other(part) - own(0.5);
        }
        s += part;
    }
    s
}

#[derive(Data, Clone, Copy, PartialEq)]
enum Shape {
    Round(f64),
    Ring(f64, f64),
    Flat,
}

/// The guard is asked of each case.
#[differentiable]
fn guarded(x: &[f64]) -> f64 {
    let mut s = 0.0;
    for k in 0..x.len() {
        let first = if k % 2 == 0 { Shape::Round(x[k]) } else { Shape::Ring(x[k], 2.0) };
        let second = if k % 3 == 0 { Shape::Flat } else { Shape::Round(0.5 * x[k]) };
        s += match (first, second) {
            (Shape::Round(r) | Shape::Ring(r, _), Shape::Flat) if r > 0.5 => r * r,
            (Shape::Ring(_, r) | Shape::Round(r), Shape::Round(q) | Shape::Ring(q, _)) => r * q,
            (a, _) => 10.0 + a.size(),
        };
    }
    s
}

#[differentiable]
impl Shape {
    fn size(self) -> f64 {
        match self {
            Shape::Round(r) | Shape::Ring(r, _) => r,
            Shape::Flat => 0.0,
        }
    }
}

#[derive(Data, Clone, Copy, PartialEq)]
enum Level {
    Low = -2,
    Middle,
    High = 40,
}

#[differentiable]
fn numbered(x: &[f64]) -> f64 {
    let level = |v: f64| {
        if v < 0.0 {
            Level::Low
        } else if v < 1.0 {
            Level::Middle
        } else {
            Level::High
        }
    };
    x.iter().map(|v| v * (level(*v) as i32) as f64 + (level(*v) as i64 + 3) as f64).sum()
}

/// A part that is not there panics.
#[differentiable]
fn halves(x: &[f64]) -> f64 {
    let parts = x.split_at(2);
    let rest = parts.1.split_at(1);
    parts.0.iter().sum::<f64>() * rest.0[0] + rest.1.len() as f64 * parts.0[1]
}

/// Cells that are not filled hold what they held two steps ago.
#[differentiable]
fn filled_in_part(x: &[f64]) -> f64 {
    let mut old = x.to_vec();
    let mut new = vec![0.25; x.len()];
    for k in 0..5 {
        for i in 0..x.len() {
            if (i + k) % 3 != 0 {
                new[i] = 0.5 * old[i] * old[(i + 1) % x.len()] + old[i];
            }
        }
        std::mem::swap(&mut old, &mut new);
    }
    old.iter().sum::<f64>() - new[0]
}

/// The same where whether a cell is filled is said by the numbers.
#[differentiable]
fn filled_where_large(x: &[f64]) -> f64 {
    let (mut old, mut new) = (x.to_vec(), x.to_vec());
    for _ in 0..4 {
        for i in 1..x.len() - 1 {
            if old[i] > 0.4 {
                new[i] = old[i] + 0.25 * (old[i - 1] - 2.0 * old[i] + old[i + 1]);
            }
        }
        std::mem::swap(&mut new, &mut old);
    }
    old.iter().zip(&new).map(|(a, b)| a * a - 0.5 * b).sum()
}

#[test]
fn nothing_is_taken_for_what_is_near_it() {
    everywhere! {
        moved at [0.7], [-1.5];
        each_round at [0.7, 1.2, 0.4, -0.5], [0.3], [];
        guarded at [0.7, 1.2, 0.4, 0.9, 0.2, 0.6, 0.3], [];
        numbered at [0.7, -1.2, 1.4], [];
        halves at [0.7, 1.2, 0.4, 0.9], [0.7, 1.2, 0.4], [0.7, 1.2], [0.7], [];
        filled_in_part at [0.7, 1.2, 0.4, -0.5, 0.8], [0.3];
        filled_where_large at [0.7, 1.2, 0.35, -0.5, 0.8, 0.6, 0.1], [0.3, 0.5], [0.3];
    }
}

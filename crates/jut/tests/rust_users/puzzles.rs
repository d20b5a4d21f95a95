//! Knapsacks, cards, courses and small programs, as people write them for a puzzle.

use jut::math::{atan2, cos, exp, log, sin, tanh};
use jut::{Data, differentiable};

/// A soft knapsack, over whole weights.
#[differentiable]
fn knapsack(x: &[f64]) -> f64 {
    let weights = [3_u32, 1, 4, 2];
    let capacity = 6_u32;
    let mut table = vec![0.0; capacity as usize + 1];
    for (w, v) in weights.iter().zip(x) {
        for c in (*w..=capacity).rev() {
            let with = table[(c - w) as usize] + v;
            let without = table[c as usize];
            let top = if with > without { with } else { without };
            table[c as usize] = top + log(exp(with - top) + exp(without - top));
        }
    }
    *table.last().unwrap()
}

/// Two sides that choose each other.
#[differentiable]
fn matched(x: &[f64]) -> f64 {
    const N: usize = 3;
    let like = |a: usize, b: usize| tanh(x[a * N + b]);
    let mut partner: [Option<usize>; N] = [None; N];
    let mut asked = [0_usize; N];
    let mut free: Vec<usize> = (0..N).rev().collect();
    while let Some(a) = free.pop() {
        let mut order: Vec<usize> = (0..N).collect();
        order.sort_by(|p, q| like(a, *q).total_cmp(&like(a, *p)));
        let b = order[asked[a]];
        asked[a] += 1;
        match partner[b] {
            None => partner[b] = Some(a),
            Some(old) if like(a, b) * (a + 1) as f64 > like(old, b) * (old + 1) as f64 => {
                partner[b] = Some(a);
                free.push(old);
            }
            Some(_) => free.push(a),
        }
    }
    partner.iter().enumerate().filter_map(|(b, a)| a.map(|a| like(a, b))).sum()
}

/// The course of a boat against the wind.
#[differentiable]
fn sailed(x: &[f64]) -> f64 {
    let polar = |angle: f64| match angle.abs() {
        a if a < 0.5 => 0.1 * a,
        a @ 0.5..=2.2 => 0.05 + 1.3 * (a - 0.5) * exp(-0.4 * a),
        _ => 0.9,
    };
    let (mut east, mut north, mut time) = (0.0_f64, 0.0_f64, 0.0);
    for leg in x.windows(2).step_by(2) {
        let [heading, length] = *leg else { continue };
        let speed = polar(heading - 0.2);
        time += length / speed;
        east += length * sin(heading);
        north += length * cos(heading);
    }
    time + 0.2 * atan2(east, north) + east.hypot(north)
}

/// Cards that are cut and shuffled, and what the hand is worth.
#[differentiable]
fn hand(x: &[f64]) -> f64 {
    let mut deck: Vec<f64> = x.to_vec();
    let mut seed = 12_345_u32;
    let mut next = |below: usize| {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (seed >> 16) as usize % below
    };
    for i in (1..deck.len()).rev() {
        let j = next(i + 1);
        deck.swap(i, j);
    }
    let cut = deck.split_off(deck.len() / 3);
    deck.extend(cut.iter().rev());
    let kept: Vec<f64> = deck.drain(..2.min(deck.len())).collect();
    let worth = match kept[..] {
        [a, b] if a > b => a * 2.0 + b,
        [a, b] => a + b * b,
        [a] => a,
        _ => 0.0,
    };
    worth + deck.first().map_or(0.0, |v| 0.1 * v)
}

/// A line that keeps only the points that matter.
#[differentiable]
fn simplified(x: &[f64], tolerance: f64) -> Vec<f64> {
    fn far(x: &[f64]) -> (usize, f64) {
        let n = x.len() - 1;
        let mut worst = (0, 0.0);
        for i in 1..n {
            let t = i as f64 / n as f64;
            let d = (x[i] - ((1.0 - t) * x[0] + t * x[n])).abs();
            if d > worst.1 {
                worst = (i, d);
            }
        }
        worst
    }
    if x.len() < 3 {
        return x.to_vec();
    }
    let (at, distance) = far(x);
    if distance <= tolerance {
        return vec![x[0], x[x.len() - 1]];
    }
    let mut left: Vec<f64> = simplified(&x[..=at], tolerance);
    let right = simplified(&x[at..], tolerance);
    left.pop();
    left.extend_from_slice(&right);
    left
}

#[differentiable]
fn sketched(x: &[f64]) -> f64 {
    let line = simplified(x, 0.3);
    line.iter().map(|v| v * v).sum::<f64>() * line.len() as f64
}

/// Codes by their runs.
#[differentiable]
fn run_lengths(x: &[f64]) -> f64 {
    let mut runs: Vec<(f64, usize)> = vec![];
    for v in x.iter().map(|v| (v * 2.0).round() / 2.0) {
        match runs.last_mut() {
            Some((value, count)) if *value == v => *count += 1,
            _ => runs.push((v, 1)),
        }
    }
    let longest = runs.iter().map(|r| r.1).max().unwrap_or(0);
    let error: f64 = runs
        .iter()
        .flat_map(|&(v, n)| std::iter::repeat(v).take(n))
        .zip(x)
        .map(|(code, v)| (v - code).powi(2))
        .sum();
    error + longest as f64
}

/// A robot that follows letters of a program.
#[derive(Data, Clone, Copy, Debug, PartialEq)]
enum Step {
    Forward(f64),
    Turn(f64),
    Repeat { times: u32, back: usize },
    Stop,
}

#[differentiable]
fn walked(x: &[f64]) -> f64 {
    let program = [
        Step::Forward(x[0]),
        Step::Turn(x[1]),
        Step::Repeat { times: 3, back: 2 },
        Step::Forward(x[2]),
        Step::Stop,
        Step::Forward(100.0),
    ];
    let (mut at, mut heading, mut counter, mut line) = ((0.0, 0.0), 0.0_f64, 0_u32, 0_usize);
    while let Some(step) = program.get(line) {
        line += 1;
        match *step {
            Step::Forward(d) => {
                at.0 += d * cos(heading);
                at.1 += d * sin(heading);
            }
            Step::Turn(a) => heading += a,
            Step::Repeat { times, back } if counter < times => {
                counter += 1;
                line -= back + 1;
            }
            Step::Repeat { .. } => counter = 0,
            Step::Stop => break,
        }
    }
    let (east, north) = at;
    east * east + 0.5 * north
}

#[test]
fn puzzles() {
    everywhere! {
        knapsack at [1.0, 0.3, 1.7, 0.6], [];
        matched at [0.3, 0.9, -0.2, 0.5, 0.1, 0.8, 0.7, 0.6, 0.2], [0.1, 0.5];
        sailed at [0.9, 2.0, 0.6, 1.3, -1.2, 1.0], [0.9];
        hand at [0.3, 1.2, -0.5, 2.0, 0.9, 1.7, 0.1], [1.0, 2.0], [];
        sketched at [0.0, 1.0, 0.4, 2.0, 1.9, 0.3], [1.0], [0.0, 0.5, 1.0, 1.5];
        run_lengths at [0.45, 0.52, 1.1, 0.93, 1.04, 0.1], [];
        walked at [1.0, 0.4, 0.7], [1.0];
    }
}

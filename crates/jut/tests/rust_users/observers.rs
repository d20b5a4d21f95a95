//! Observers: calibrations, tides, moons, choirs and clocks, by people who look at rows of numbers.

use jut::math::{cos, exp, log, sin};
use jut::{Data, differentiable};
use std::cmp::Ordering;
use std::mem;

// Chebyshev by Clenshaw, with two lists that change places.
#[differentiable]
fn moons(x: &[f64]) -> f64 {
    let mut previous: Vec<f64> = vec![1.0; x.len()];
    let mut current: Vec<f64> = x.to_vec();
    let mut total = 0.0;
    for order in 2..6 {
        let next: Vec<f64> =
            current.iter().zip(&previous).zip(x).map(|((c, p), t)| 2.0 * t * c - p).collect();
        mem::swap(&mut previous, &mut current);
        let old = mem::replace(&mut current, next);
        total += old.iter().sum::<f64>() / order as f64;
    }
    total + current.iter().zip(&previous).map(|(a, b)| a * b).sum::<f64>()
}

// Two generations of different lengths, that change places in a loop.
#[differentiable]
fn generations(x: &[f64]) -> f64 {
    let mut front = x.to_vec();
    let mut back: Vec<f64> = Vec::new();
    let mut rounds = 0;
    while front.len() > 1 {
        back.clear();
        for pair in front.chunks(2) {
            match pair {
                [a, b] => back.push(a * b + 0.5 * a),
                [a] => back.push(sin(*a)),
                _ => unreachable!(),
            }
        }
        std::mem::swap(&mut front, &mut back);
        rounds += 1;
    }
    front.first().copied().unwrap_or(0.0) * rounds as f64
}

// Tides: constituents in a table, an optional argument, an early return.

/// The first is M2, the others are S2 and K1.
const CONSTITUENTS: [(u8, f64); 3] = [(2, 0.5059), (2, 0.5236), (1, 0.2625)];

#[differentiable]
fn tide(t: f64, amp: &[f64], phase: Option<&[f64]>) -> f64 {
    let Some(phase) = phase else {
        return CONSTITUENTS.iter().zip(amp).map(|((_, w), a)| a * cos(w * t)).sum();
    };
    CONSTITUENTS
        .iter()
        .zip(amp.iter().zip(phase))
        .map(|(&(_, w), (a, p))| a * cos(w * t - p))
        .sum::<f64>()
}

#[differentiable]
fn harbour(x: &[f64]) -> f64 {
    let (amp, phase) = x.split_at(3);
    let heights: Vec<f64> = (0..24).step_by(3).map(|h| tide(h as f64, amp, Some(phase))).collect();
    let still = tide(12.0, amp, None);
    let mut sorted = heights.clone();
    sorted.sort_by(|a, b| b.partial_cmp(a).unwrap_or(Ordering::Equal));
    let high: f64 = sorted.iter().take(2).sum();
    let turns = heights.windows(3).filter(|w| (w[1] - w[0]) * (w[2] - w[1]) < 0.0).count();
    high + still * 0.1 + turns as f64
}

// An actuary: a multi-state table, with `Index` by an enum.
#[derive(Data, Clone, Copy, Debug, PartialEq)]
enum Health {
    Well,
    Ill,
    Dead,
}

#[derive(Data, Clone, Copy, Debug, PartialEq)]
struct Occupancy {
    p: [f64; 3],
}

#[differentiable]
impl std::ops::Index<Health> for Occupancy {
    type Output = f64;
    fn index(&self, h: Health) -> &f64 {
        &self.p[h as usize]
    }
}

#[differentiable]
impl Occupancy {
    fn advance(&self, onset: f64, recovery: f64, force: [f64; 2]) -> Self {
        use Health::*;
        let well = self[Well] * (1.0 - onset - force[0]) + self[Ill] * recovery;
        let ill = self[Ill] * (1.0 - recovery - force[1]) + self[Well] * onset;
        let p = [well, ill, 1.0 - well - ill];
        Occupancy { p }
    }
}

#[differentiable]
fn disability(x: &[f64]) -> f64 {
    let mut state = Occupancy { p: [1.0, 0.0, 0.0] };
    let mut reserve = 0.0;
    let discount = 1.0 / (1.0 + x[0]);
    let mut v = 1.0;
    for year in 0..20u32 {
        let ageing = exp(0.05 * f64::from(year));
        state = state.advance(x[1] * ageing, x[2], [0.002 * ageing, 0.01 * ageing]);
        v *= discount;
        reserve += v * (state[Health::Ill] - x[3] * state[Health::Well]);
    }
    reserve + v * state[Health::Dead]
}

// A functional programmer: a list is parted by a key, rows and columns in turn.
#[differentiable]
fn choir(x: &[f64]) -> f64 {
    let voices = 3;
    let parts: Vec<Vec<f64>> =
        (0..voices).map(|v| x.iter().skip(v).step_by(voices).cloned().collect()).collect();
    let loudest = (0..parts.len())
        .max_by(|&a, &b| parts[a].iter().sum::<f64>().total_cmp(&parts[b].iter().sum::<f64>()))
        .unwrap_or(0);
    let lead = &parts[loudest];
    let harmony = parts
        .iter()
        .enumerate()
        .filter(|&(i, _)| i != loudest)
        .flat_map(|(_, p)| p.iter())
        .fold(0.0, |acc, v| acc + v * lead[0]);
    let pairs = lead.iter().zip(lead.iter().cycle().skip(1)).map(|(a, b)| a * b).sum::<f64>();
    harmony + pairs
}

// A controller of temperature: integral with a limit, states with fields, `&mut self`.
#[derive(Data, Clone, Debug, PartialEq)]
enum Mode {
    Heating { since: u32 },
    Cooling { since: u32, boost: f64 },
    Off,
}

#[derive(Data, Clone, Debug, PartialEq)]
#[data(twin)]
struct Thermostat {
    mode: Mode,
    integral: f64,
    limits: (f64, f64),
}

#[differentiable]
impl Thermostat {
    fn tick(&mut self, error: f64, step: u32) -> f64 {
        let (low, high) = self.limits;
        self.integral = (self.integral + 0.1 * error).clamp(low, high);
        let next = match &self.mode {
            Mode::Off if error > 0.2 => Mode::Heating { since: step },
            Mode::Off if error < -0.2 => Mode::Cooling { since: step, boost: 0.5 },
            Mode::Heating { since } if step - since > 3 => Mode::Off,
            Mode::Cooling { since, .. } if step - since > 2 => Mode::Off,
            Mode::Cooling { since, boost } => Mode::Cooling { since: *since, boost: boost * 1.5 },
            other => other.clone(),
        };
        self.mode = next;
        match self.mode {
            Mode::Heating { .. } => 1.0 + self.integral,
            Mode::Cooling { boost, .. } => -boost,
            Mode::Off => 0.0,
        }
    }
}

#[differentiable]
fn oven(x: &[f64]) -> f64 {
    let mut unit = Thermostat { mode: Mode::Off, integral: 0.0, limits: (-0.5, 0.5) };
    let (mut temp, mut cost) = (x[0], 0.0);
    for step in 0..15u32 {
        let power = unit.tick(x[1] - temp, step);
        temp += 0.2 * power - x[2] * (temp - 0.1);
        cost += power * power * 0.01 + (x[1] - temp).powi(2);
    }
    cost
}

// Ordinal logits: cumulative thresholds with a running sum, `scan` and `chain`.

#[differentiable]
mod survey {
    pub fn thresholds(raw: &[f64]) -> Vec<f64> {
        raw.iter()
            .scan(0.0, |sum, v| {
                *sum += jut::math::exp(*v);
                Some(*sum)
            })
            .collect()
    }

    pub fn likelihood(cuts: &[f64], eta: f64, answer: usize) -> f64 {
        let cdf = |k: usize| {
            if k == 0 {
                0.0
            } else if k > cuts.len() {
                1.0
            } else {
                1.0 / (1.0 + jut::math::exp(eta - cuts[k - 1]))
            }
        };
        cdf(answer + 1) - cdf(answer)
    }
}

#[differentiable]
fn ratings(x: &[f64]) -> f64 {
    let [ref raw @ .., slope] = *x else { return 0.0 };
    let cuts = survey::thresholds(raw);
    let answers = [(0usize, -1.0), (1, 0.2), (2, 0.9), (1, -0.3)];
    answers
        .iter()
        .filter(|(a, _)| *a <= cuts.len())
        .map(|&(answer, z)| log(survey::likelihood(&cuts, slope * z, answer)))
        .sum()
}

// A network of clocks: entries by pairs, edges removed as they are met.
#[differentiable]
fn clocks(x: &[f64]) -> f64 {
    let n = x.len();
    let mut edges: Vec<(usize, usize, f64)> = Vec::new();
    for i in 0..n {
        for j in (i + 1)..n {
            edges.push((i, j, (x[i] - x[j]).abs()));
        }
    }
    edges.sort_by(|a, b| a.2.partial_cmp(&b.2).unwrap());
    let mut parent: Vec<usize> = (0..n).collect();
    let mut tree = 0.0;
    while let Some((i, j, w)) = edges.pop() {
        let (mut a, mut b) = (i, j);
        while parent[a] != a {
            a = parent[a];
        }
        while parent[b] != b {
            b = parent[b];
        }
        if a == b {
            continue;
        }
        parent[a] = b;
        tree += w * w;
        edges.retain(|&(p, q, _)| !(p == i && q == j));
    }
    tree
}

#[test]
fn tides_states_and_voices() {
    everywhere! {
        moons at [0.3, -0.4, 0.7], [0.2], [];
        generations at [0.5, 1.2, 0.7, 1.1, 0.4], [0.3], [];
        harbour at [1.0, 0.4, 0.3, 0.2, 1.1, 0.5], [1.0, 0.4];
        disability at [0.03, 0.02, 0.3, 0.05];
        choir at [0.4, 1.1, 0.3, 0.8, 1.6, 0.2, 0.5], [];
        oven at [0.2, 1.0, 0.05], [1.6, 0.4, 0.02];
        ratings at [0.1, -0.2, 0.7], [0.4];
        clocks at [0.3, 1.4, 2.9, 0.9], [];
    }
}

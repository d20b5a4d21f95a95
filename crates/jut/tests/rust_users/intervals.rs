//! Own types with methods of every name: probabilities that may be missing, intervals, money, layers, rings.

use jut::math::exp;
use jut::{Data, differentiable};

/// An interval with the arithmetic of bounds.
#[derive(Data, Clone, Copy, Debug, PartialEq)]
struct Interval {
    lo: f64,
    hi: f64,
}

#[differentiable]
impl Interval {
    fn point(v: f64) -> Self {
        Self { lo: v, hi: v }
    }
    fn widened(self, by: f64) -> Self {
        Interval { lo: self.lo - by, hi: self.hi + by }
    }
    fn map(self, f: impl Fn(f64) -> f64) -> Self {
        let (a, b) = (f(self.lo), f(self.hi));
        if a <= b { Self { lo: a, hi: b } } else { Self { lo: b, hi: a } }
    }
    fn width(&self) -> f64 {
        self.hi - self.lo
    }
    fn and_then(self, other: Interval) -> Option<Interval> {
        let (lo, hi) = (self.lo.max(other.lo), self.hi.min(other.hi));
        (lo <= hi).then_some(Interval { lo, hi })
    }
    fn is_none(&self) -> bool {
        self.width() <= 0.0
    }
}

#[differentiable]
impl std::ops::Add for Interval {
    type Output = Self;
    fn add(self, o: Self) -> Self {
        Self { lo: self.lo + o.lo, hi: self.hi + o.hi }
    }
}

#[differentiable]
impl std::ops::Neg for Interval {
    type Output = Self;
    fn neg(self) -> Self {
        Self { lo: -self.hi, hi: -self.lo }
    }
}

#[differentiable]
fn bounded_by(x: &[f64]) -> f64 {
    let a: Interval = Interval::point(x[0]).widened(x[1]);
    let b: Interval = Interval::map(a + -Interval::point(x[2]), |v| exp(-v));
    let both = a.and_then(b);
    if a.is_none() {
        return 0.0;
    }
    match both {
        Some(i) if i.width() > 1e-3 => i.width() * b.hi,
        Some(_) => b.width(),
        None => -b.lo,
    }
}

/// A reading that may be missing, as a struct of one's own.
#[derive(Data, Clone, Copy, Debug, PartialEq)]
struct Reading {
    value: f64,
    valid: bool,
}

#[differentiable]
impl Reading {
    const MISSING: Reading = Reading { value: 0.0, valid: false };
    fn some(value: f64) -> Self {
        Reading { value, valid: true }
    }
    fn is_some(&self) -> bool {
        self.valid
    }
    fn unwrap_or(&self, other: f64) -> f64 {
        if self.valid { self.value } else { other }
    }
    fn or(self, other: Reading) -> Reading {
        if self.is_some() { self } else { other }
    }
}

#[differentiable]
fn readings(x: &[f64]) -> f64 {
    let all: Vec<Reading> =
        x.iter().map(|&v| if v > 0.0 { Reading::some(v.ln()) } else { Reading::MISSING }).collect();
    let there = all.iter().filter(|r| r.is_some()).count();
    let mut last: Reading = Reading::MISSING;
    let mut s = 0.0;
    for r in &all {
        last = r.or(last);
        s += last.unwrap_or(-1.0) * 0.5;
    }
    s + there as f64 * all[0].unwrap_or(0.25)
}

/// Layers of ground with a vector of parameters each.
#[derive(Data, Clone, Debug, PartialEq)]
struct Layer {
    depth: f64,
    speeds: [f64; 2],
}

#[derive(Data, Clone, Debug, PartialEq)]
struct Ground {
    layers: Vec<Layer>,
    wet: Option<usize>,
}

#[differentiable]
impl Ground {
    fn top(&self, i: usize) -> f64 {
        self.layers[..i].iter().map(|l| l.depth).sum()
    }
    fn speed(&self, z: f64) -> f64 {
        let mut left = z;
        for (i, Layer { depth, speeds: [v, k] }) in self.layers.iter().enumerate() {
            if left < *depth {
                let wet = if self.wet == Some(i) { 0.9 } else { 1.0 };
                return wet * (v + k * left);
            }
            left -= depth;
        }
        self.layers.last().map_or(1.0, |l| l.speeds[0])
    }
}

#[differentiable]
fn travel_time(x: &[f64]) -> f64 {
    let layers: Vec<Layer> =
        x.chunks_exact(3).map(|c| Layer { depth: c[0], speeds: [c[1], c[2]] }).collect();
    let n = layers.len();
    let ground = Ground { layers, wet: if n > 1 { Some(1) } else { None } };
    let bottom = ground.top(n);
    let step = bottom / 8.0;
    (0..8).map(|k| (k as f64 + 0.5) * step).map(|z| step / ground.speed(z)).sum()
}

/// An order that is checked step by step, with errors of one's own.
#[derive(Debug, Clone, PartialEq)]
enum Fault {
    Empty,
    Negative(usize),
    TooMuch { limit: f64 },
}

#[differentiable]
fn checked_line(k: usize, v: f64) -> Result<f64, Fault> {
    if v < 0.0 {
        return Err(Fault::Negative(k));
    }
    Ok(v * (1.0 + 0.1 * k as f64))
}

#[differentiable]
fn checked_order(lines: &[f64], limit: f64) -> Result<f64, Fault> {
    if lines.is_empty() {
        return Err(Fault::Empty);
    }
    let mut sum = 0.0;
    for (k, &v) in lines.iter().enumerate() {
        sum += checked_line(k, v)?;
        if sum > limit {
            return Err(Fault::TooMuch { limit });
        }
    }
    Ok(sum)
}

#[differentiable]
fn ordered_goods(x: &[f64]) -> f64 {
    let (limit, lines) = x.split_last().expect("a limit");
    let sum = checked_order(lines, *limit).unwrap();
    let discount = match lines.len() {
        0 | 1 => 0.0,
        n @ 2..=3 => 0.05 * n as f64,
        _ => 0.2,
    };
    sum * (1.0 - discount)
}

/// A tank with a controller as a machine of states that hold numbers.
#[derive(Data, Clone, Copy, Debug, PartialEq)]
enum Mode {
    Idle,
    Filling { rate: f64, left: u32 },
    Draining(f64),
}

#[differentiable]
impl Mode {
    fn next(self, level: f64) -> Mode {
        match self {
            Mode::Idle if level < 0.5 => Mode::Filling { rate: 0.4, left: 3 },
            Mode::Idle => Mode::Idle,
            Mode::Filling { left: 0, .. } => Mode::Draining(0.3),
            Mode::Filling { rate, left } => Mode::Filling { rate: rate * 0.9, left: left - 1 },
            Mode::Draining(r) if level < 0.2 || r < 0.05 => Mode::Idle,
            Mode::Draining(r) => Mode::Draining(r * 0.7),
        }
    }
}

#[differentiable]
fn tank(x: &[f64]) -> f64 {
    let mut mode = Mode::Idle;
    let mut level = x[0];
    let mut history = [0.0; 8];
    for slot in history.iter_mut() {
        level += match mode {
            Mode::Idle => 0.0,
            Mode::Filling { rate, .. } => rate * x[1],
            Mode::Draining(r) => -r * level,
        };
        *slot = level;
        mode = mode.next(level);
    }
    let busy = matches!(mode, Mode::Filling { left, .. } if left > 1);
    history.iter().sum::<f64>() + if busy { 1.0 } else { 0.0 }
}

#[test]
fn intervals_and_readings() {
    everywhere! {
        bounded_by at [0.5, 0.4, 0.3], [2.5, 0.1, 0.3], [0.5, -0.2, 0.3];
        readings at [0.5, -1.0, 2.0], [-1.0, 0.7];
        travel_time at [1.0, 2.0, 0.1, 0.5, 3.0, 0.2], [1.0, 2.0, 0.1];
    }
}

#[test]
fn rings_orders_and_tanks() {
    everywhere! {
        ordered_goods at [1.0, 2.0, 0.5, 5.0], [1.0, -2.0, 5.0], [5.0], [], [4.0, 3.0, 5.0];
        tank at [0.4, 0.8], [0.9, 0.8];
    }
}

//! Personal styles: folds and closures of functional programmers, states of machines in devices, games with small vectors.

use jut::math::{exp, log};
use jut::{Data, differentiable};
use std::ops::{Add, AddAssign, Index, IndexMut, Mul, Neg, Sub};

// A Haskell programmer: everything is a fold. Yields by Nelson and Siegel against quotes.
#[differentiable]
fn nelson_siegel(x: &[f64]) -> f64 {
    let (&[b0, b1, b2, tau], quotes) = (&[x[0], x[1], x[2], x[3]], &x[4..]);
    let loading = |t: f64| (1.0 - exp(-t / tau)) / (t / tau);
    let curve = |t: f64| b0 + b1 * loading(t) + b2 * (loading(t) - exp(-t / tau));
    let (sse, n) = quotes
        .iter()
        .zip([0.25, 1.0, 2.0, 5.0, 10.0, 30.0].iter())
        .map(|(q, &t)| q - curve(t))
        .fold((0.0, 0), |(s, n), r| (s + r * r, n + 1));
    sse / n as f64
}

// A Haskell programmer: evidence of a chain of hidden states by scan, early end by try_fold.
#[differentiable]
fn forward_until(x: &[f64]) -> f64 {
    let step = |(a, b): (f64, f64), obs: f64| {
        let (ea, eb) = (exp(-obs * obs), exp(-(obs - 1.0) * (obs - 1.0)));
        ((0.9 * a + 0.2 * b) * ea, (0.1 * a + 0.8 * b) * eb)
    };
    let outcome = x.iter().copied().try_fold((0.5, 0.5), |acc, obs| {
        if obs > 5.0 { Err("an outlier") } else { Ok(step(acc, obs)) }
    });
    match outcome {
        Ok((a, b)) => log(a + b),
        Err(_) => -1.0,
    }
}

// A standard-library author: adapters, `array::from_fn`, `chunks_exact`, remainders. Simpson's rule with a tail.
#[differentiable]
fn simpson_with_tail(y: &[f64]) -> f64 {
    let parts = y.chunks_exact(2);
    let tail = parts.remainder();
    let body: f64 = y
        .windows(3)
        .step_by(2)
        .map(|w| match w {
            [a, b, c] => (a + 4.0 * b + c) / 3.0,
            _ => unreachable!(),
        })
        .sum();
    let correction = match tail {
        [] => {
            let [.., a, b] = y else { return 0.0 };
            0.5 * (a + b)
        }
        [last] => 0.1 * last,
        _ => unreachable!(),
    };
    let rising = y.iter().zip(y.iter().skip(1)).take_while(|(a, b)| b > a).count();
    let from = y.iter().rposition(|v| *v < 0.0).map_or(0, |i| i + 1);
    body + correction
        + y[from..].iter().rev().skip_while(|v| **v > 2.0).sum::<f64>() * rising as f64
}

// De Boor's spline, by recursion and by a triangle that is overwritten.
#[differentiable]
fn basis(knots: &[f64], i: usize, k: usize, t: f64) -> f64 {
    if k == 0 {
        return if knots[i] <= t && t < knots[i + 1] { 1.0 } else { 0.0 };
    }
    let ratio = |num: f64, den: f64| if den == 0.0 { 0.0 } else { num / den };
    ratio(t - knots[i], knots[i + k] - knots[i]) * basis(knots, i, k - 1, t)
        + ratio(knots[i + k + 1] - t, knots[i + k + 1] - knots[i + 1])
            * basis(knots, i + 1, k - 1, t)
}

#[differentiable]
fn de_boor(knots: &[f64], control: &[f64], degree: usize, t: f64) -> f64 {
    let span = (degree..control.len()).rev().find(|&s| knots[s] <= t).unwrap_or(degree);
    let mut d: Vec<f64> = control[span - degree..=span].to_vec();
    for r in 1..=degree {
        for j in (r..=degree).rev() {
            let i = j + span - degree;
            let alpha = (t - knots[i]) / (knots[i + degree + 1 - r] - knots[i]);
            d[j] = (1.0 - alpha) * d[j - 1] + alpha * d[j];
        }
    }
    *d.last().unwrap()
}

#[differentiable]
fn spline(x: &[f64]) -> f64 {
    let (t, control) = x.split_first().unwrap();
    let degree = 2;
    let interior = control.len() - degree - 1;
    let knots: Vec<f64> = std::iter::repeat(0.0)
        .take(degree + 1)
        .chain((1..=interior).map(|k| k as f64))
        .chain(std::iter::repeat((interior + 1) as f64).take(degree + 1))
        .collect();
    let by_sum: f64 =
        control.iter().enumerate().map(|(i, c)| c * basis(&knots, i, degree, *t)).sum();
    de_boor(&knots, control, degree, *t) * 0.5 + by_sum
}

// A game programmer: operators, a rope of springs, a sphere that is hit.
#[derive(Data, Clone, Copy, Debug, Default, PartialEq)]
struct Vec2 {
    x: f64,
    y: f64,
}

#[differentiable]
impl Add for Vec2 {
    type Output = Self;
    fn add(self, o: Self) -> Self {
        Self { x: self.x + o.x, y: self.y + o.y }
    }
}
#[differentiable]
impl Sub for Vec2 {
    type Output = Self;
    fn sub(self, o: Self) -> Self {
        Self { x: self.x - o.x, y: self.y - o.y }
    }
}
#[differentiable]
impl Mul<f64> for Vec2 {
    type Output = Self;
    fn mul(self, k: f64) -> Self {
        Self { x: self.x * k, y: self.y * k }
    }
}
#[differentiable]
impl Neg for Vec2 {
    type Output = Self;
    fn neg(self) -> Self {
        Vec2 { x: -self.x, y: -self.y }
    }
}
#[differentiable]
impl AddAssign for Vec2 {
    fn add_assign(&mut self, o: Self) {
        *self = *self + o;
    }
}
#[differentiable]
impl Vec2 {
    const ZERO: Vec2 = Vec2 { x: 0.0, y: 0.0 };
    const fn new(x: f64, y: f64) -> Self {
        Self { x, y }
    }
    fn dot(self, o: Self) -> f64 {
        self.x * o.x + self.y * o.y
    }
    fn length(self) -> f64 {
        self.dot(self).sqrt()
    }
    fn normalize_or_zero(self) -> Self {
        let l = self.length();
        if l > 1e-9 { self * (1.0 / l) } else { Self::ZERO }
    }
}

#[derive(Data, Clone, Copy, Debug, PartialEq)]
struct Node {
    pos: Vec2,
    prev: Vec2,
    pinned: bool,
}

#[derive(Data, Clone, Debug, PartialEq)]
#[data(twin)]
struct Rope {
    nodes: Vec<Node>,
    rest: f64,
}

#[differentiable]
impl Rope {
    fn new(n: usize, rest: f64) -> Self {
        let nodes = (0..n)
            .map(|i| {
                let p = Vec2::new(i as f64 * rest, 0.0);
                Node { pos: p, prev: p, pinned: i == 0 }
            })
            .collect();
        Self { nodes, rest }
    }
    fn integrate(&mut self, gravity: Vec2, dt: f64) {
        for n in self.nodes.iter_mut().filter(|n| !n.pinned) {
            let vel = n.pos - n.prev;
            n.prev = n.pos;
            n.pos += vel * 0.99 + gravity * (dt * dt);
        }
    }
    fn relax(&mut self) {
        for i in 0..self.nodes.len() - 1 {
            let (a, b) = (self.nodes[i], self.nodes[i + 1]);
            let delta = b.pos - a.pos;
            let fix = delta.normalize_or_zero() * (0.5 * (delta.length() - self.rest));
            match (a.pinned, b.pinned) {
                (true, true) => {}
                (true, false) => self.nodes[i + 1].pos += -fix * 2.0,
                (false, true) => self.nodes[i].pos += fix * 2.0,
                (false, false) => {
                    self.nodes[i].pos += fix;
                    self.nodes[i + 1].pos += -fix;
                }
            }
        }
    }
}

#[differentiable]
fn rope(x: &[f64]) -> f64 {
    let mut rope = Rope::new(4, x[0]);
    let gravity = Vec2::new(0.0, -x[1]);
    for _ in 0..5 {
        rope.integrate(gravity, 0.1);
        (0..3).for_each(|_| rope.relax());
    }
    let Some(end) = rope.nodes.last() else { return 0.0 };
    end.pos.dot(Vec2 { x: 1.0, ..Default::default() }) - 2.0 * end.pos.y
}

// An embedded engineer: a charger as a machine of states, and a ring of samples of fixed size.
#[derive(Data, Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Precharge,
    ConstantCurrent,
    ConstantVoltage { ticks: u16 },
    Done,
}

#[derive(Data, Clone, Copy, Debug, PartialEq)]
#[data(twin)]
struct Charger<const N: usize> {
    phase: Phase,
    ring: [f64; N],
    idx: u8,
}

#[differentiable]
impl<const N: usize> Charger<N> {
    fn filtered(&mut self, v: f64) -> f64 {
        self.ring[self.idx as usize] = v;
        self.idx = (self.idx + 1) % N as u8;
        self.ring.iter().sum::<f64>() / N as f64
    }
    fn step(&mut self, v: f64, limit: f64) -> f64 {
        let v = self.filtered(v);
        let (next, current) = match self.phase {
            Phase::Precharge if v > 3.0 => (Phase::ConstantCurrent, 0.2),
            Phase::Precharge => (Phase::Precharge, 0.1),
            Phase::ConstantCurrent if v >= limit => (Phase::ConstantVoltage { ticks: 0 }, 0.8),
            Phase::ConstantCurrent => (Phase::ConstantCurrent, 1.0),
            Phase::ConstantVoltage { ticks: t @ 3.. } if t > 3 => (Phase::Done, 0.0),
            Phase::ConstantVoltage { ticks } => {
                (Phase::ConstantVoltage { ticks: ticks + 1 }, (limit - v + 0.1).max(0.0))
            }
            Phase::Done => (Phase::Done, 0.0),
        };
        self.phase = next;
        current
    }
}

#[differentiable]
fn charging(x: &[f64]) -> f64 {
    let mut c = Charger::<4> { phase: Phase::Precharge, ring: [x[0]; 4], idx: 0 };
    let (mut v, mut heat, mut n) = (x[0], 0.0, 0u32);
    while c.phase != Phase::Done && n < 60 {
        let i = c.step(v, x[2]);
        v += x[1] * i;
        heat += i * i * 0.05;
        n += 1;
    }
    heat + v * v
}

// Cox's partial likelihood, as a student writes it.
#[differentiable]
fn cox(x: &[f64]) -> f64 {
    let beta = x[0];
    let mut patients: Vec<(f64, bool, f64)> = Vec::new();
    for i in 0..(x.len() - 1) / 2 {
        let time = x[1 + 2 * i];
        let z = x[2 + 2 * i];
        patients.push((time, i % 3 != 1, z));
    }
    patients.sort_by(|a, b| a.0.partial_cmp(&b.0).unwrap());
    let mut ll = 0.0;
    for (i, &(_, event, z)) in patients.iter().enumerate() {
        if !event {
            continue;
        }
        let mut risk = 0.0;
        for j in i..patients.len() {
            risk += exp(beta * patients[j].2);
        }
        ll = ll + beta * z - log(risk);
    }
    -ll
}

// A matrix of one's own with `Index`, QR by Householder.
#[derive(Data, Clone, Debug, PartialEq)]
#[data(twin)]
struct Mat {
    rows: usize,
    cols: usize,
    data: Vec<f64>,
}

#[differentiable]
impl Index<(usize, usize)> for Mat {
    type Output = f64;
    fn index(&self, (i, j): (usize, usize)) -> &f64 {
        &self.data[i * self.cols + j]
    }
}
#[differentiable]
impl IndexMut<(usize, usize)> for Mat {
    fn index_mut(&mut self, (i, j): (usize, usize)) -> &mut f64 {
        &mut self.data[i * self.cols + j]
    }
}
#[differentiable]
impl Mat {
    fn vandermonde(t: &[f64], cols: usize) -> Mat {
        let data = t.iter().flat_map(|&t| (0..cols).map(move |k| t.powi(k as i32))).collect();
        Mat { rows: t.len(), cols, data }
    }
    fn column(&self, j: usize, from: usize) -> Vec<f64> {
        (from..self.rows).map(|i| self[(i, j)]).collect()
    }
    fn least_squares(mut self, y: &mut Vec<f64>) -> Vec<f64> {
        for k in 0..self.cols {
            let norm = self.column(k, k).iter().map(|c| c.powi(2)).sum::<f64>().sqrt();
            let alpha = if self[(k, k)] > 0.0 { -norm } else { norm };
            let mut v = self.column(k, k);
            v[0] -= alpha;
            let vv: f64 = v.iter().map(|c| c * c).sum();
            for j in k..self.cols {
                let s =
                    2.0 * v.iter().enumerate().map(|(i, c)| c * self[(i + k, j)]).sum::<f64>() / vv;
                for (i, c) in v.iter().enumerate() {
                    self[(i + k, j)] -= s * c;
                }
            }
            let s = 2.0 * v.iter().zip(&y[k..]).map(|(a, b)| a * b).sum::<f64>() / vv;
            y[k..].iter_mut().zip(v.iter()).for_each(|(yi, vi)| *yi -= s * vi);
        }
        let mut coef = vec![0.0; self.cols];
        for i in (0..self.cols).rev() {
            let tail: f64 = (i + 1..self.cols).map(|j| self[(i, j)] * coef[j]).sum();
            coef[i] = (y[i] - tail) / self[(i, i)];
        }
        coef
    }
}

#[differentiable]
fn tide(x: &[f64]) -> f64 {
    let (t, y) = x.split_at(x.len() / 2);
    let coef = Mat::vandermonde(t, 3).least_squares(&mut y.to_vec());
    coef.iter().rev().fold(0.0, |acc, c| acc * 0.7 + c)
}

#[test]
fn personal_styles() {
    everywhere! {
        nelson_siegel at [0.04, -0.02, 0.01, 1.8, 0.02, 0.022, 0.025, 0.031, 0.035, 0.04];
        forward_until at [0.1, 0.8, 1.2], [0.2, 6.0, 0.3];
        simpson_with_tail at [0.5, 1.0, 1.8, 1.2, 0.7, 1.4], [-0.5, 1.0, -0.2, 1.2, 2.7];
        spline at [1.3, 0.2, 0.8, -0.4, 1.1, 0.6];
        rope at [0.5, 9.0];
        charging at [2.8, 0.12, 4.1];
        cox at [0.4, 3.0, 0.2, 1.0, -0.5, 2.0, 0.9, 5.0, 0.1];
        tide at [0.0, 0.5, 1.0, 1.5, 2.1, 0.3, 0.8, 0.9, 0.2, -0.4];
    }
}

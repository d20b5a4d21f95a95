//! What is written at desks: markets by Euler's method, learners by hand, tables of actuaries, networks of pipes and power.

use jut::math::{cos, exp, log, sin, tanh};
use jut::{Data, differentiable};
use std::cmp::Ordering;

// A quantitative analyst: Heston's model by Euler's method, builder and newtypes.
#[derive(Data, Clone, Copy, Debug, PartialEq)]
struct Heston {
    kappa: f64,
    theta: f64,
    sigma: f64,
    rho: f64,
    v0: f64,
}

impl Default for Heston {
    fn default() -> Self {
        Heston { kappa: 1.5, theta: 0.04, sigma: 0.3, rho: -0.7, v0: 0.04 }
    }
}

#[derive(Data, Clone, Copy, Debug, PartialEq)]
enum Payoff {
    Call(f64),
    Put(f64),
    Digital { strike: f64, width: f64 },
}

#[differentiable]
impl Payoff {
    fn at(&self, s: f64) -> f64 {
        match *self {
            Self::Call(k) => (s - k).max(0.0),
            Self::Put(k) => f64::max(k - s, 0.0),
            Self::Digital { strike, width } => 0.5 * (1.0 + tanh((s - strike) / width)),
        }
    }
}

#[differentiable]
impl Heston {
    fn with_vol_of_vol(self, sigma: f64) -> Self {
        Self { sigma, ..self }
    }
    fn with_rho(mut self, rho: f64) -> Self {
        self.rho = rho;
        self
    }
    fn path(&self, s0: f64, dt: f64, normals: &[(f64, f64)]) -> (f64, f64) {
        normals.iter().fold((s0, self.v0), |(s, v), &(z1, z2)| {
            let vp = v.max(0.0);
            let zv = self.rho * z1 + (1.0 - self.rho * self.rho).sqrt() * z2;
            let s = s * exp(-0.5 * vp * dt + (vp * dt).sqrt() * z1);
            let v = v + self.kappa * (self.theta - vp) * dt + self.sigma * (vp * dt).sqrt() * zv;
            (s, v)
        })
    }
}

#[differentiable]
fn heston(x: &[f64]) -> f64 {
    let model = Heston::default().with_vol_of_vol(x[1]).with_rho(x[2]);
    let mut seed: u64 = 42;
    let mut uniform = || {
        seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (seed >> 11) as f64 / (1u64 << 53) as f64
    };
    let payoffs =
        [Payoff::Call(1.0), Payoff::Put(0.95), Payoff::Digital { strike: 1.1, width: 0.1 }];
    let mut totals = [0.0; 3];
    let n_paths = 8;
    for _ in 0..n_paths {
        let normals: Vec<(f64, f64)> = (0..6)
            .map(|_| {
                let (u1, u2) = (uniform(), uniform());
                let r = (-2.0 * log(1.0 - u1)).sqrt();
                (r * cos(6.283 * u2), r * sin(6.283 * u2))
            })
            .collect();
        let (s, _) = model.path(x[0], 0.1, &normals);
        for (t, p) in totals.iter_mut().zip(payoffs.iter()) {
            *t += p.at(s);
        }
    }
    totals.map(|t| t / n_paths as f64).iter().sum()
}

// A quantitative analyst: GARCH with a leverage, validated parameters and errors of one's own.
#[derive(Debug, Clone, PartialEq)]
enum FitError {
    Explosive(f64),
    TooShort { needed: usize },
}

#[derive(Data, Clone, Copy, Debug, PartialEq)]
struct Garch {
    omega: f64,
    alpha: f64,
    gamma: f64,
    beta: f64,
}

#[differentiable]
impl Garch {
    fn new(p: &[f64]) -> Result<Self, FitError> {
        let [omega, alpha, gamma, beta] = *p else {
            return Err(FitError::TooShort { needed: 4 });
        };
        let persistence = alpha + 0.5 * gamma + beta;
        if persistence >= 1.0 {
            return Err(FitError::Explosive(persistence));
        }
        Ok(Self { omega, alpha, gamma, beta })
    }
    fn variances(&self, r: &[f64]) -> Result<Vec<f64>, FitError> {
        if r.len() < 2 {
            return Err(FitError::TooShort { needed: 2 });
        }
        let long_run = self.omega / (1.0 - self.alpha - 0.5 * self.gamma - self.beta);
        let h = r
            .iter()
            .scan(long_run, |h, &r| {
                let now = *h;
                let leverage = if r < 0.0 { self.gamma } else { 0.0 };
                *h = self.omega + (self.alpha + leverage) * r * r + self.beta * now;
                Some(now)
            })
            .collect();
        Ok(h)
    }
}

#[differentiable]
fn garch_nll(x: &[f64]) -> f64 {
    let (params, returns) = x.split_at(4);
    let model = match Garch::new(params) {
        Ok(m) => m,
        Err(_) => return 1e6,
    };
    if returns.len() < 2 {
        return f64::INFINITY;
    }
    let h = model.variances(returns).unwrap();
    h.iter().zip(returns).map(|(h, r)| 0.5 * (log(*h) + r * r / h)).sum()
}

// Python: an LSTM cell over a sequence, weights in lists of lists, gates by names.
#[differentiable]
fn sigmoid(v: f64) -> f64 {
    1.0 / (1.0 + exp(-v))
}

#[differentiable]
fn linear(w: &[Vec<f64>], x: &[f64], b: &[f64]) -> Vec<f64> {
    assert_eq!(w.len(), b.len());
    w.iter()
        .zip(b.iter())
        .map(|(row, b)| b + row.iter().zip(x).map(|(w, x)| w * x).sum::<f64>())
        .collect()
}

#[differentiable]
fn lstm_step(w: &[Vec<f64>], b: &[f64], xt: f64, h: &[f64], c: &[f64]) -> (Vec<f64>, Vec<f64>) {
    let hidden = h.len();
    let mut inp = h.to_vec();
    inp.push(xt);
    let z = linear(w, &inp, b);
    let i_gate: Vec<f64> = z[..hidden].iter().map(|&v| sigmoid(v)).collect();
    let f_gate: Vec<f64> = z[hidden..2 * hidden].iter().map(|&v| sigmoid(v)).collect();
    let o_gate: Vec<f64> = z[2 * hidden..3 * hidden].iter().map(|&v| sigmoid(v)).collect();
    let g_gate: Vec<f64> = z[3 * hidden..].iter().map(|&v| tanh(v)).collect();
    let c_new: Vec<f64> = (0..hidden).map(|k| f_gate[k] * c[k] + i_gate[k] * g_gate[k]).collect();
    let h_new = c_new.iter().zip(o_gate).map(|(c, o)| o * tanh(*c)).collect::<Vec<_>>();
    (h_new, c_new)
}

#[differentiable]
fn lstm(x: &[f64]) -> f64 {
    let hidden = 2;
    let n_w = 4 * hidden * (hidden + 1);
    let w: Vec<Vec<f64>> = (0..4 * hidden)
        .map(|i| (0..=hidden).map(|j| sin((i * 3 + j) as f64) * x[0]).collect())
        .collect();
    let b = vec![x[1]; 4 * hidden];
    let (mut h, mut c) = (vec![0.0; hidden], vec![0.0; hidden]);
    for &xt in x.iter().skip(2) {
        (h, c) = lstm_step(&w, &b, xt, &h, &c);
    }
    h.iter().chain(c.iter()).sum::<f64>() / n_w as f64
}

// An actuary: a table by code of state, reserves backwards, with entries that end early.
#[differentiable]
fn reserve(x: &[f64]) -> f64 {
    #[derive(Data, Clone, Copy, PartialEq)]
    struct Row {
        age: u32,
        qx: f64,
        benefit: f64,
    }
    let (rate, premium) = (x[0], x[1]);
    let table: Vec<Row> = x[2..]
        .iter()
        .enumerate()
        .map(|(k, q)| Row {
            age: 60 + k as u32,
            qx: q.clamp(0.0, 1.0),
            benefit: if k < 3 { 10.0 } else { 6.0 },
        })
        .collect();
    let v = 1.0 / (1.0 + rate);
    let mut reserves: Vec<(u32, f64)> = Vec::new();
    let mut next = 1.0;
    for row in table.iter().rev() {
        let now = v * (row.qx * row.benefit + (1.0 - row.qx) * next) - premium;
        reserves.insert(0, (row.age, now));
        next = now;
    }
    reserves.iter().filter(|(age, _)| age % 2 == 0).map(|(_, r)| r).sum()
}

// Hardy Cross: loops of pipes with signs, Newton's corrections until nothing moves.
#[differentiable]
fn hardy_cross(x: &[f64]) -> f64 {
    let resistance = &x[..5];
    const LOOPS: [&[(usize, f64)]; 2] =
        [&[(0, 1.0), (2, 1.0), (1, -1.0)], &[(2, -1.0), (3, 1.0), (4, -1.0)]];
    let mut q = vec![0.6 * x[5], 0.4 * x[5], 0.1 * x[5], 0.5 * x[5], 0.5 * x[5]];
    let mut sweeps = 0;
    while sweeps < 12 {
        let mut largest: f64 = 0.0;
        for pipes in LOOPS.iter() {
            let (num, den) = pipes.iter().fold((0.0, 0.0), |(n, d), &(p, sign)| {
                let flow = q[p];
                (n + sign * resistance[p] * flow * flow.abs(), d + 2.0 * resistance[p] * flow.abs())
            });
            let dq = -num / den;
            for &(p, sign) in *pipes {
                q[p] += sign * dq;
            }
            largest = largest.max(dq.abs());
        }
        sweeps += 1;
        if largest < 1e-14 {
            break;
        }
    }
    q.iter().zip(resistance).map(|(q, r)| r * q.abs().powi(3)).sum()
}

// Flow of power: admittances as own complex numbers, Gauss-Seidel over buses of kinds.
#[derive(Data, Clone, Copy, Debug, PartialEq)]
struct C(f64, f64);

#[differentiable]
impl std::ops::Mul for C {
    type Output = C;
    fn mul(self, C(c, d): C) -> C {
        let C(a, b) = self;
        C(a * c - b * d, a * d + b * c)
    }
}
#[differentiable]
impl std::ops::Add for C {
    type Output = C;
    fn add(self, o: C) -> C {
        C(self.0 + o.0, self.1 + o.1)
    }
}
#[differentiable]
impl C {
    fn conj(self) -> C {
        C(self.0, -self.1)
    }
    fn inv(self) -> C {
        let n = self.0 * self.0 + self.1 * self.1;
        C(self.0 / n, -self.1 / n)
    }
    fn scale(self, k: f64) -> C {
        C(k * self.0, k * self.1)
    }
}

#[derive(Data, Clone, Copy, Debug, PartialEq)]
enum Bus {
    Slack(C),
    Load { p: f64, q: f64 },
}

#[differentiable]
fn power_flow(x: &[f64]) -> f64 {
    let line = C(x[0], x[1]).inv();
    let buses = vec![
        Bus::Slack(C(1.0, 0.0)),
        Bus::Load { p: -x[2], q: -0.1 },
        Bus::Load { p: -0.2, q: -x[3] },
    ];
    let neighbours: Vec<Vec<usize>> = vec![vec![1, 2], vec![0], vec![0]];
    let mut v: Vec<C> =
        buses.iter().map(|b| if let Bus::Slack(v) = b { *v } else { C(1.0, 0.0) }).collect();
    for _ in 0..10 {
        for (k, bus) in buses.iter().enumerate() {
            let Bus::Load { p, q } = *bus else { continue };
            let yii = line.scale(neighbours[k].len() as f64);
            let inflow = neighbours[k].iter().fold(C(0.0, 0.0), |s, &j| s + line * v[j]);
            let injected = C(p, q).conj() * v[k].conj().inv();
            v[k] = (injected + inflow) * yii.inv();
        }
    }
    v.iter().map(|&C(re, im)| (re * re + im * im).sqrt()).sum::<f64>() + v[2].1
}

// Item response: ability by Newton inside, items sorted by difficulty, deduplicated.
#[differentiable]
fn ability(items: &[(f64, f64)], answers: &[bool]) -> Option<f64> {
    if answers.iter().all(|a| *a) || !answers.iter().any(|&a| a) {
        return None;
    }
    let mut theta = 0.0;
    for _ in 0..20 {
        let (grad, info) = items
            .iter()
            .zip(answers)
            .map(|(&(a, b), &right)| {
                let p = 1.0 / (1.0 + exp(-a * (theta - b)));
                (a * (if right { 1.0 } else { 0.0 } - p), a * a * p * (1.0 - p))
            })
            .fold((-theta, 1.0), |(g, i), (dg, di)| (g + dg, i + di));
        theta += grad / info;
    }
    Some(theta)
}

#[differentiable]
fn irt(x: &[f64]) -> f64 {
    let mut items: Vec<(f64, f64)> = x.chunks_exact(2).map(|c| (c[0], c[1])).collect();
    items.sort_by(|(_, b1), (_, b2)| b1.partial_cmp(b2).unwrap_or(Ordering::Equal));
    items.retain(|(a, _)| *a > 0.2);
    items.dedup_by(|p, q| (p.1 - q.1).abs() < 1e-6);
    let patterns = [[true, true, false], [true, false, false], [true, true, true]];
    patterns.iter().filter_map(|answers| ability(&items, answers)).map(|t| t * t + t).sum()
}

// Epidemics: compartments as an array, interventions as closures in a list, midpoint steps.
#[differentiable]
fn seir(x: &[f64]) -> f64 {
    const S: usize = 0;
    const E: usize = 1;
    const I: usize = 2;
    const R: usize = 3;
    let (r0, gamma, sigma) = (x[0], x[1], x[2]);
    let lockdowns = [(4.0, 8.0, x[3]), (12.0, 15.0, 0.5 * x[3])];
    let contact = |t: f64| -> f64 {
        lockdowns
            .iter()
            .find(|(from, to, _)| (*from..*to).contains(&t))
            .map(|&(_, _, cut)| 1.0 - cut)
            .unwrap_or(1.0)
    };
    let rhs = |t: f64, y: [f64; 4]| {
        let infection = r0 * gamma * contact(t) * y[S] * y[I];
        let mut d = [0.0; 4];
        d[S] = -infection;
        d[E] = infection - sigma * y[E];
        d[I] = sigma * y[E] - gamma * y[I];
        d[R] = gamma * y[I];
        d
    };
    let axpy =
        |a: f64, k: [f64; 4], y: [f64; 4]| -> [f64; 4] { std::array::from_fn(|i| y[i] + a * k[i]) };
    let (mut y, mut t, dt) = ([0.99, 0.0, 0.01, 0.0], 0.0, 0.5);
    let mut peak = (0.0, y[I]);
    while t < 20.0 {
        let k1 = rhs(t, y);
        let k2 = rhs(t + 0.5 * dt, axpy(0.5 * dt, k1, y));
        y = axpy(dt, k2, y);
        t += dt;
        if y[I] > peak.1 {
            peak = (t, y[I]);
        }
    }
    peak.1 + 0.01 * peak.0 + y[R]
}

#[test]
fn what_is_written_at_desks() {
    everywhere! {
        heston at [1.02, 0.35, -0.5];
        garch_nll at [0.02, 0.1, 0.05, 0.8, 0.3, -0.5, 0.2, -0.9], [0.5, 0.5, 0.2, 0.8, 0.1], [0.02, 0.1, 0.05, 0.8, 0.3];
        lstm at [0.7, 0.1, 0.5, -0.3, 0.9];
        reserve at [0.03, 0.2, 0.1, 0.15, 0.2, 0.3];
        hardy_cross at [1.0, 2.0, 1.5, 0.8, 1.2, 2.0];
        power_flow at [0.05, 0.2, 0.4, 0.1];
        irt at [1.0, 0.5, 0.8, -0.3, 1.4, 0.9];
        seir at [2.5, 0.4, 0.5, 0.6];
    }
}

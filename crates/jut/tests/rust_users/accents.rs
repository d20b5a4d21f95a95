//! Accents: monoids, benefits, neighbourhoods, surfaces of solids, clocks, recurrences, ratings, queues of events and nerves.

use super::agree;
use std::cmp::Ordering;
use std::ops::{Index, IndexMut};

use jut::math::{cos, erf, exp, hypot, log, pow, sigmoid, sin, tanh};
use jut::{Data, differentiable};

// As the standard library would say it: what is put together in any grouping.
#[differentiable]
trait Monoid {
    fn empty() -> Self;
    fn combine(self, other: Self) -> Self;
}

#[derive(Data, Clone, Copy, Debug, PartialEq)]
struct Moments {
    n: f64,
    mean: f64,
    m2: f64,
}

#[differentiable]
impl Monoid for Moments {
    fn empty() -> Self {
        Self { n: 0.0, mean: 0.0, m2: 0.0 }
    }
    fn combine(self, other: Self) -> Self {
        let n = self.n + other.n;
        if n == 0.0 {
            return Self::empty();
        }
        let delta = other.mean - self.mean;
        Self {
            n,
            mean: self.mean + delta * other.n / n,
            m2: self.m2 + other.m2 + delta * delta * self.n * other.n / n,
        }
    }
}

#[derive(Data, Clone, Copy, Debug, PartialEq)]
struct SoftMax(f64);

#[differentiable]
impl Monoid for SoftMax {
    fn empty() -> Self {
        SoftMax(-50.0)
    }
    fn combine(self, other: Self) -> Self {
        let top = self.0.max(other.0);
        SoftMax(top + log(exp(self.0 - top) + exp(other.0 - top)))
    }
}

#[differentiable]
fn fold_all<M: Monoid + Copy>(items: &[M]) -> M {
    let mut all: M = M::empty();
    for item in items {
        all = all.combine(*item);
    }
    all
}

#[differentiable]
fn gathered_moments(x: &[f64]) -> f64 {
    let (first, second) = x.split_at(x.len() / 2);
    let lift = |v: &f64| Moments { n: 1.0, mean: *v, m2: 0.0 };
    let left: Vec<Moments> = first.iter().map(lift).collect();
    let right: Vec<Moments> = second.iter().map(lift).collect();
    let all = fold_all(&left).combine(fold_all(&right));
    let tops: Vec<SoftMax> = x.iter().map(|&v| SoftMax(v)).collect();
    let SoftMax(top) = fold_all(&tops);
    top + if all.n > 1.0 { all.m2 / (all.n - 1.0) } else { 0.0 }
}

// An actuary: reserves backwards in time, over the states of an insured life.
#[derive(Data, Clone, Copy, Debug, PartialEq, Eq)]
enum Health {
    Active,
    Disabled,
    Dead,
}

const STATES: [Health; 3] = [Health::Active, Health::Disabled, Health::Dead];

#[derive(Data, Clone, Debug, PartialEq)]
struct Policy {
    premium: f64,
    annuity: f64,
    sum_at_death: f64,
}

#[differentiable]
fn intensity(from: Health, to: Health, age: f64, sick: f64) -> f64 {
    match (from, to) {
        (Health::Active, Health::Disabled) => sick + 1e-4 * exp(0.06 * age),
        (Health::Active, Health::Dead) => 5e-4 + 7.6e-5 * pow(10.0, 0.038 * age - 4.12 + 4.0),
        (Health::Disabled, Health::Dead) => {
            1.5 * intensity(Health::Active, Health::Dead, age, sick)
        }
        (Health::Disabled, Health::Active) if age < 60.0 => 0.02,
        _ => 0.0,
    }
}

#[differentiable]
impl Policy {
    fn paid(&self, state: Health) -> f64 {
        match state {
            Health::Active => -self.premium,
            Health::Disabled => self.annuity,
            Health::Dead => 0.0,
        }
    }

    fn reserve(&self, interest: f64, sick: f64) -> [f64; 3] {
        let mut v = [0.0f64; 3];
        let h = 1.0;
        for year in (30..65).rev() {
            let age = year as f64;
            let mut next = v;
            for (i, &from) in STATES.iter().enumerate() {
                let mut slope = self.paid(from) - interest * v[i];
                for (j, &to) in STATES.iter().enumerate() {
                    if i == j {
                        continue;
                    }
                    let benefit = if to == Health::Dead { self.sum_at_death } else { 0.0 };
                    slope += intensity(from, to, age, sick) * (benefit + v[j] - v[i]);
                }
                next[i] = v[i] + h * slope;
            }
            v = next;
        }
        v
    }
}

#[differentiable]
fn reserves_of_a_life(x: &[f64]) -> f64 {
    let policy = Policy { premium: x[0], annuity: x[1], sum_at_death: 2.0 };
    let v = policy.reserve(0.03, x[2]);
    v[0] + 0.1 * v[1] + v[2]
}

// A statistician's smooth line by near points.
#[differentiable]
fn tricube(u: f64) -> f64 {
    if u.abs() >= 1.0 { 0.0 } else { (1.0 - u.abs().powi(3)).powi(3) }
}

#[differentiable]
fn local_line(points: &[(f64, f64)], at: f64, span: usize) -> Option<f64> {
    let mut near: Vec<(f64, f64, f64)> =
        points.iter().map(|&(x, y)| ((x - at).abs(), x, y)).collect();
    near.sort_by(|a, b| a.0.partial_cmp(&b.0).unwrap());
    near.truncate(span);
    let &(reach, ..) = near.last()?;
    near.retain(|p| p.0 < reach);
    if near.len() < 2 {
        return None;
    }
    let (mut s0, mut s1, mut s2, mut t0, mut t1) = (0.0, 0.0, 0.0, 0.0, 0.0);
    for (d, x, y) in near {
        let w = tricube(d / reach);
        s0 += w;
        s1 += w * (x - at);
        s2 += w * (x - at) * (x - at);
        t0 += w * y;
        t1 += w * y * (x - at);
    }
    let det = s0 * s2 - s1 * s1;
    (det.abs() > 1e-12).then(|| (s2 * t0 - s1 * t1) / det)
}

#[differentiable]
fn loess(x: &[f64]) -> f64 {
    let points: Vec<_> =
        x.iter().enumerate().map(|(i, &y)| (0.3 * i as f64 + 0.1 * sin(i as f64), y)).collect();
    let fitted: Vec<f64> = points.iter().filter_map(|&(t, _)| local_line(&points, t, 5)).collect();
    fitted.iter().zip(x).map(|(f, y)| (f - y) * (f - y)).sum::<f64>() + fitted.len() as f64
}

// Searches by a process of Gauss: rows of a triangle, and what one may hope for.
#[differentiable]
fn triangle_rows(k: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let mut l: Vec<Vec<f64>> = Vec::with_capacity(k.len());
    for (i, row) in k.iter().enumerate() {
        let mut new_row = Vec::with_capacity(i + 1);
        for j in 0..i {
            let dot: f64 = l[j].iter().zip(new_row.iter()).take(j).map(|(a, b)| a * b).sum();
            new_row.push((row[j] - dot) / l[j][j]);
        }
        let squares: f64 = new_row.iter().map(|v: &f64| v * v).sum();
        new_row.push(f64::sqrt(row[i] - squares));
        l.push(new_row);
    }
    l
}

#[differentiable]
fn hoped_improvement(x: &[f64]) -> f64 {
    let (length, at) = (x[0], x[1]);
    let sites = [0.0, 0.4, 0.9, 1.3];
    let seen = &x[2..6];
    let kernel = |a: f64, b: f64| exp(-0.5 * ((a - b) / length).powi(2));
    let k: Vec<Vec<f64>> = sites
        .iter()
        .enumerate()
        .map(|(i, a)| {
            sites
                .iter()
                .enumerate()
                .map(|(j, b)| kernel(*a, *b) + if i == j { 1e-3 } else { 0.0 })
                .collect()
        })
        .collect();
    let l = triangle_rows(&k);
    let forward = |b: &[f64]| {
        let mut y: Vec<f64> = vec![];
        for (i, row) in l.iter().enumerate() {
            let s: f64 = row[..i].iter().zip(&y).map(|(a, b)| a * b).sum();
            y.push((b[i] - s) / row[i]);
        }
        y
    };
    let cross: Vec<f64> = sites.iter().map(|s| kernel(*s, at)).collect();
    let (v, w) = (forward(&cross), forward(seen));
    let mean: f64 = v.iter().zip(&w).map(|(a, b)| a * b).sum();
    let sigma = (1.0 - v.iter().map(|a| a * a).sum::<f64>()).max(1e-12).sqrt();
    let best = seen.iter().copied().fold(f64::MAX, f64::min);
    let z = (best - mean) / sigma;
    let cdf = 0.5 * (1.0 + erf(z / std::f64::consts::SQRT_2));
    (best - mean) * cdf + sigma * exp(-0.5 * z * z) / (2.0 * std::f64::consts::PI).sqrt()
}

// Two phases on a torus, on a flat array.
#[differentiable]
fn two_phases(x: &[f64]) -> f64 {
    const W: isize = 4;
    const H: isize = 3;
    let at = |i: isize, j: isize| (i.rem_euclid(H) * W + j.rem_euclid(W)) as usize;
    let (mobility, epsilon) = (x[0], x[1]);
    let mut phi: Vec<f64> =
        (0..W * H).map(|k| x[2] * sin(k as f64) + 0.1 * (k % 3) as f64).collect();
    for _step in 0..6 {
        let lap = |i, j| {
            phi[at(i - 1, j)] + phi[at(i + 1, j)] + phi[at(i, j - 1)] + phi[at(i, j + 1)]
                - 4.0 * phi[at(i, j)]
        };
        let next: Vec<f64> = (0..H)
            .flat_map(|i| (0..W).map(move |j| (i, j)))
            .map(|(i, j)| {
                let p = phi[at(i, j)];
                p + 0.1 * mobility * (epsilon * epsilon * lap(i, j) - p * (p * p - 1.0))
            })
            .collect();
        phi = next;
    }
    phi.iter().map(|p| (1.0 - p * p) * (1.0 - p * p)).sum()
}

// Solids by their distances, put together as a tree.
#[derive(Data, Clone, Debug, PartialEq)]
enum Solid {
    Sphere { center: [f64; 3], radius: f64 },
    Slab(f64),
    Blend(Box<Solid>, Box<Solid>, f64),
    Without(Box<Solid>, Box<Solid>),
}

#[differentiable]
impl Solid {
    fn distance(&self, p: [f64; 3]) -> f64 {
        match self {
            Self::Sphere { center: [cx, cy, cz], radius } => {
                let (dx, dy, dz) = (p[0] - cx, p[1] - cy, p[2] - cz);
                (dx * dx + dy * dy + dz * dz).sqrt() - radius
            }
            Self::Slab(half) => p[1].abs() - half,
            Self::Blend(a, b, k) => {
                let (a, b) = (a.distance(p), b.distance(p));
                let h = (0.5 + 0.5 * (b - a) / k).clamp(0.0, 1.0);
                b + (a - b) * h - k * h * (1.0 - h)
            }
            Self::Without(a, b) => a.distance(p).max(-b.distance(p)),
        }
    }
}

#[differentiable]
fn carved_depth(x: &[f64]) -> f64 {
    let ball = |cx: f64, r: f64| Solid::Sphere { center: [cx, 0.2, 3.0], radius: r };
    let scene = Solid::Without(
        Box::new(Solid::Blend(Box::new(ball(0.0, x[0])), Box::new(ball(x[1], 0.8)), x[2])),
        Box::new(Solid::Slab(0.05)),
    );
    let dir = [0.1, 0.08, 1.0];
    let len = f64::sqrt(dir.iter().map(|d| d * d).sum());
    let mut depth = 0.0;
    for _ in 0..24 {
        let p = dir.map(|d| d / len * depth);
        let d = scene.distance(p);
        depth += d;
        if d < 1e-9 {
            return depth;
        }
    }
    -depth
}

// Where a clock is, by what it heard of others: Gauss and Newton, with a matrix of its own.
#[derive(Data, Clone, Copy, Debug, PartialEq)]
struct Mat<const N: usize>([[f64; N]; N]);

#[differentiable]
impl Index<(usize, usize)> for Mat<3> {
    type Output = f64;
    fn index(&self, (i, j): (usize, usize)) -> &f64 {
        &self.0[i][j]
    }
}

#[differentiable]
impl IndexMut<(usize, usize)> for Mat<3> {
    fn index_mut(&mut self, (i, j): (usize, usize)) -> &mut f64 {
        &mut self.0[i][j]
    }
}

#[differentiable]
impl Mat<3> {
    fn det(&self) -> f64 {
        let m = self;
        m[(0, 0)] * (m[(1, 1)] * m[(2, 2)] - m[(1, 2)] * m[(2, 1)])
            - m[(0, 1)] * (m[(1, 0)] * m[(2, 2)] - m[(1, 2)] * m[(2, 0)])
            + m[(0, 2)] * (m[(1, 0)] * m[(2, 1)] - m[(1, 1)] * m[(2, 0)])
    }

    fn with_column(mut self, j: usize, c: &[f64; 3]) -> Self {
        for i in 0..3 {
            self[(i, j)] = c[i];
        }
        self
    }

    fn solve(self, rhs: [f64; 3]) -> [f64; 3] {
        let det = self.det();
        [0, 1, 2].map(|j| self.with_column(j, &rhs).det() / det)
    }
}

#[differentiable]
fn clock_fix(x: &[f64]) -> f64 {
    let beacons = [[0.0, 0.0], [10.0, 0.5], [4.0, 9.0], [-3.0, 6.0], [7.0, 8.0]];
    let mut state: [f64; 3] = [3.0, 3.0, 0.0];
    for _ in 0..8 {
        let mut normal = Mat::<3>([[0.0; 3]; 3]);
        let mut rhs = [0.0; 3];
        for (b, &range) in beacons.iter().zip(x) {
            let (dx, dy) = (state[0] - b[0], state[1] - b[1]);
            let r = hypot(dx, dy);
            let row = [dx / r, dy / r, 1.0];
            let residual = range - r - state[2];
            for i in 0..3 {
                rhs[i] += row[i] * residual;
                for j in 0..3 {
                    normal[(i, j)] += row[i] * row[j];
                }
            }
        }
        let delta = normal.solve(rhs);
        state.iter_mut().zip(delta).for_each(|(s, d)| *s += d);
        if delta.iter().all(|d| d.abs() < 1e-14) {
            break;
        }
    }
    state[0] + 2.0 * state[1] + 0.5 * state[2]
}

// Contacts between ages: how many each infects, and how many are left.
#[differentiable]
fn left_of_ages(x: &[f64]) -> f64 {
    type Ages = [f64; 3];
    let contacts: [Ages; 3] = [[7.0, 2.0, x[1]], [2.0, 5.0, 1.0], [x[1], 1.0, 1.5]];
    let susceptible: Ages = [0.3, 0.5, 0.2];
    let ngm = |v: Ages| -> Ages {
        std::array::from_fn(|i| {
            susceptible[i] * x[0] * contacts[i].iter().zip(v).map(|(c, v)| c * v).sum::<f64>()
        })
    };
    let norm = |v: Ages| v.iter().map(|v| v * v).sum::<f64>().sqrt();
    let mut v = [1.0; 3];
    let r0 = loop {
        let w = ngm(v);
        let n = norm(w);
        let w = w.map(|c| c / n);
        let moved = w
            .iter()
            .zip(&v)
            .map(|(a, b)| (a - b).abs())
            .max_by(|a, b| a.total_cmp(b))
            .unwrap_or(0.0);
        v = w;
        if moved < 1e-13 {
            break norm(ngm(v));
        }
    };
    let mut attack: Ages = [0.5; 3];
    for _ in 0..200 {
        let force = ngm(attack);
        attack = std::array::from_fn(|i| 1.0 - exp(-force[i] / susceptible[i]));
    }
    r0 + attack.iter().zip(susceptible).map(|(a, s)| a * s).sum::<f64>()
}

// Letters through a gated unit.
#[differentiable]
fn letters_read(x: &[f64]) -> f64 {
    const H: usize = 2;
    let word = b"adaba";
    let gate = |k: usize, input: f64, h: &[f64; H], i: usize| {
        let p = &x[k * 8 + i * 4..][..4];
        p[0] + p[1] * input + p[2] * h[0] + p[3] * h[1]
    };
    let mut h = [0.0; H];
    let mut nll = 0.0;
    for pair in word.windows(2) {
        let input = (pair[0] - b'a') as f64 / 3.0;
        let r: [f64; H] = core::array::from_fn(|i| sigmoid(gate(0, input, &h, i)));
        let z: [f64; H] = core::array::from_fn(|i| sigmoid(gate(1, input, &h, i)));
        let rh = [r[0] * h[0], r[1] * h[1]];
        for i in 0..H {
            let n = tanh(gate(2, input, &rh, i));
            h[i] = (1.0 - z[i]) * n + z[i] * h[i];
        }
        let p = sigmoid(h[0] - h[1]);
        nll -= match pair[1] {
            b'a' => log(p),
            b'b'..=b'z' => log(1.0 - p),
            _ => unreachable!("no letter"),
        };
    }
    nll
}

// Ratings whose volatility is a root.
#[derive(Data, Clone, Copy, Debug, PartialEq)]
struct Rating {
    mu: f64,
    phi: f64,
    sigma: f64,
}

#[differentiable]
fn impact(phi: f64) -> f64 {
    1.0 / f64::sqrt(1.0 + 3.0 * phi * phi / (std::f64::consts::PI * std::f64::consts::PI))
}

#[differentiable]
impl Rating {
    fn expected(&self, other: &Rating) -> f64 {
        sigmoid(impact(other.phi) * (self.mu - other.mu))
    }

    fn new_sigma(&self, delta: f64, v: f64) -> f64 {
        const TAU: f64 = 0.5;
        let a = log(self.sigma * self.sigma);
        let f = |x: f64| {
            let ex = exp(x);
            let d = self.phi * self.phi + v + ex;
            ex * (delta * delta - d) / (2.0 * d * d) - (x - a) / (TAU * TAU)
        };
        let mut lower = a;
        let mut upper = if delta * delta > self.phi * self.phi + v {
            log(delta * delta - self.phi * self.phi - v)
        } else {
            let mut k = 1;
            while f(a - k as f64 * TAU) < 0.0 {
                k += 1;
            }
            a - k as f64 * TAU
        };
        let (mut f_lower, mut f_upper) = (f(lower), f(upper));
        while (upper - lower).abs() > 1e-12 {
            let c = lower + (lower - upper) * f_lower / (f_upper - f_lower);
            let fc = f(c);
            if fc * f_upper <= 0.0 {
                (lower, f_lower) = (upper, f_upper);
            } else {
                f_lower /= 2.0;
            }
            (upper, f_upper) = (c, fc);
        }
        exp(lower / 2.0)
    }

    fn after(self, games: &[(Rating, f64)]) -> Rating {
        let (precision, score) = games.iter().fold((0.0, 0.0), |(p, s), (other, outcome)| {
            let (g, e) = (impact(other.phi), self.expected(other));
            (p + g * g * e * (1.0 - e), s + g * (outcome - e))
        });
        let v = 1.0 / precision;
        let sigma = self.new_sigma(v * score, v);
        let wide = self.phi * self.phi + sigma * sigma;
        let phi = 1.0 / f64::sqrt(1.0 / wide + precision);
        Rating { mu: self.mu + phi * phi * score, phi, sigma }
    }
}

#[differentiable]
fn rated(x: &[f64]) -> f64 {
    let me = Rating { mu: x[0], phi: x[1], sigma: 0.06 };
    let games = [
        (Rating { mu: -0.5, phi: 0.17, sigma: 0.06 }, 1.0),
        (Rating { mu: x[2], phi: 0.57, sigma: 0.06 }, 0.0),
        (Rating { mu: 1.15, phi: 1.73, sigma: 0.06 }, 0.0),
    ];
    let after = me.after(&games);
    after.mu + after.phi + 10.0 * after.sigma
}

// Doses as a queue of events, the last one first.
#[derive(Data, Clone, Copy, Debug, PartialEq)]
enum Action {
    Give(f64),
    Repeat { amount: f64, every: f64, left: u32 },
    Measure,
}

#[derive(Data, Clone, Copy, Debug, PartialEq)]
#[data(twin)]
struct Event {
    at: f64,
    action: Action,
}

#[differentiable]
fn queue_of_doses(x: &[f64]) -> f64 {
    let mut queue = vec![
        Event { at: 0.5, action: Action::Give(x[0]) },
        Event { at: 1.0, action: Action::Repeat { amount: x[1], every: 2.0, left: 3 } },
    ];
    for k in 1..=4 {
        queue.push(Event { at: 1.7 * k as f64, action: Action::Measure });
    }
    let (mut amount, mut now, mut seen) = (0.0, 0.0, Vec::new());
    while !queue.is_empty() {
        queue.sort_by(|a, b| b.at.partial_cmp(&a.at).unwrap_or(Ordering::Equal));
        let Some(Event { at, action }) = queue.pop() else { break };
        amount *= exp(-x[2] * (at - now));
        now = at;
        match action {
            Action::Give(dose) => amount += dose,
            Action::Repeat { amount: dose, every, left } => {
                amount += dose;
                if left > 1 {
                    queue.push(Event {
                        at: at + every,
                        action: Action::Repeat { amount: dose, every, left: left - 1 },
                    });
                }
            }
            Action::Measure => seen.push(amount),
        }
    }
    seen.iter().enumerate().map(|(k, c)| c * c / (k + 1) as f64).sum()
}

// Reactions: what each takes and makes.
const TAKES: [&[(usize, i32)]; 3] = [&[(0, 1)], &[(1, 2)], &[(1, 1), (2, 1)]];
const MAKES: [&[(usize, f64)]; 3] = [&[(1, 1.0)], &[(2, 1.0), (1, 1.0)], &[(0, 1.0), (2, 1.0)]];

#[differentiable]
fn robertson(x: &[f64]) -> f64 {
    let rate_constants = &x[..TAKES.len()];
    let mut c = [1.0, 0.3, 0.1];
    for _ in 0..20 {
        let mut dc = [0.0; 3];
        for ((takes, makes), k) in TAKES.iter().zip(MAKES).zip(rate_constants) {
            let rate = takes.iter().fold(*k, |rate, &(i, order)| rate * f64::powi(c[i], order));
            for &(i, n) in *takes {
                dc[i] -= n as f64 * rate;
            }
            for &(i, n) in makes {
                dc[i] += n * rate;
            }
        }
        c.iter_mut().zip(dc).for_each(|(c, d)| *c += 0.05 * d);
    }
    c[0] + 2.0 * c[1] * c[2]
}

// A nerve, by a step of Runge and Kutta for any number of unknowns.
#[differentiable]
fn rk4<const N: usize>(f: impl Fn(&[f64; N]) -> [f64; N], y: &[f64; N], h: f64) -> [f64; N] {
    let along = |k: &[f64; N], s: f64| -> [f64; N] { std::array::from_fn(|i| y[i] + s * k[i]) };
    let k1 = f(y);
    let k2 = f(&along(&k1, h / 2.0));
    let k3 = f(&along(&k2, h / 2.0));
    let k4 = f(&along(&k3, h));
    std::array::from_fn(|i| y[i] + h / 6.0 * (k1[i] + 2.0 * k2[i] + 2.0 * k3[i] + k4[i]))
}

#[differentiable]
fn nerve(x: &[f64]) -> f64 {
    let &[current, g_na, g_k] = x else { panic!("three numbers") };
    let ratio = |v: f64| if v.abs() < 1e-6 { 1.0 + v / 2.0 } else { v / (1.0 - exp(-v)) };
    let rates = |y: &[f64; 4]| {
        let [v, m, h, n] = *y;
        let (am, bm) = (ratio((v - 25.0) / 10.0), 4.0 * exp(-v / 18.0));
        let (ah, bh) = (0.07 * exp(-v / 20.0), 1.0 / (exp((30.0 - v) / 10.0) + 1.0));
        let (an, bn) = (0.1 * ratio((v - 10.0) / 10.0), 0.125 * exp(-v / 80.0));
        let flow =
            g_na * m.powi(3) * h * (v - 115.0) + g_k * n.powi(4) * (v + 12.0) + 0.3 * (v - 10.6);
        [current - flow, am * (1.0 - m) - bm * m, ah * (1.0 - h) - bh * h, an * (1.0 - n) - bn * n]
    };
    let mut y = [0.0, 0.05, 0.6, 0.32];
    let mut peak = f64::NEG_INFINITY;
    for _ in 0..100 {
        y = rk4(&rates, &y, 0.05);
        peak = peak.max(y[0]);
    }
    0.01 * peak + y[3] + cos(0.1 * y[0])
}

#[test]
fn groupings_lives_and_lines() {
    everywhere! {
        gathered_moments at [0.5, 1.5, -0.3, 0.9], [2.0], [];
        reserves_of_a_life at [0.02, 0.3, 0.01], [0.05, 0.5, 0.003], [0.1];
        loess at [0.5, 0.9, 0.2, -0.4, 0.3, 0.8, 1.1], [0.5, 0.9], [];
        two_phases at [0.8, 0.5, 0.6], [1.0, 0.2, -0.9], [1.0];
    }
}

#[test]
fn rows_of_a_triangle_are_given() {
    // What the function that makes them is called by is known with their lengths: by a second program.
    holds!(hoped_improvement at [0.6, 0.7, 0.3, -0.2, 0.1, 0.4], [0.3, 0.2, 1.0, 0.0, 0.5, 0.4]);
}

#[test]
fn solids_clocks_and_ages() {
    everywhere! {
        carved_depth at [0.9, 0.4, 0.3], [0.5, -0.6, 0.2], [0.5];
        clock_fix at [5.1, 8.2, 6.3, 6.9, 7.0], [4.0, 7.0, 6.5, 6.0, 6.2], [5.1, 8.2, 6.3];
        left_of_ages at [0.6, 0.8], [0.9, 0.1], [0.6];
        letters_read at [
            0.1, 0.2, -0.1, 0.3, 0.0, -0.4, 0.2, 0.1, 0.3, 0.1, 0.2, -0.2, 0.4, 0.0, 0.1, 0.1, -0.3, 0.8, 0.5, -0.5, 0.2, -0.7, 0.3, 0.6
        ], [0.1];
    }
}

#[test]
fn ratings_queues_and_nerves() {
    everywhere! {
        rated at [0.0, 1.15, 0.3], [1.2, 0.4, -0.8], [0.5];
        robertson at [0.4, 1.2, 0.7], [0.1, 0.2];
        queue_of_doses at [1.0, 0.5, 0.3], [0.3, 2.0, 0.8], [1.0];
        nerve at [10.0, 120.0, 36.0], [3.0, 100.0, 30.0], [1.0];
    }
}

//! Temperaments: a predictor and corrector out of an old library, smiles of options, ropes, compositions, classes, ages and filters, as people of
//! different trades write them.

use jut::math::{cos, exp, log, pow, sin};
use jut::{Data, differentiable};

// A physicist's port of a subroutine: work arrays, flags, labels.
const NEQ: usize = 2;

#[differentiable]
fn fcn(t: f64, y: &[f64; NEQ], par: &[f64], dy: &mut [f64; NEQ]) {
    dy[0] = y[1];
    dy[1] = par[0] * (1.0 - y[0] * y[0]) * y[1] - y[0] + par[1] * cos(t);
}

#[differentiable]
fn abmstp(
    t: &mut f64,
    h: f64,
    y: &mut [f64; NEQ],
    par: &[f64],
    work: &mut [[f64; NEQ]; 4],
    ifail: &mut i32,
) {
    let mut yp = [0.0; NEQ];
    let mut f = [0.0; NEQ];
    *ifail = 0;
    for i in 0..NEQ {
        yp[i] = y[i]
            + h / 24.0
                * (55.0 * work[3][i] - 59.0 * work[2][i] + 37.0 * work[1][i] - 9.0 * work[0][i]);
    }
    fcn(*t + h, &yp, par, &mut f);
    let mut err = 0.0f64;
    for i in 0..NEQ {
        let yc = y[i] + h / 24.0 * (9.0 * f[i] + 19.0 * work[3][i] - 5.0 * work[2][i] + work[1][i]);
        err = err.max((yc - yp[i]).abs());
        y[i] = yc;
    }
    if err > 1.0 {
        *ifail = 1;
        return;
    }
    for j in 0..3 {
        work[j] = work[j + 1];
    }
    *t += h;
    fcn(*t, y, par, &mut work[3]);
}

#[differentiable]
fn abm(x: &[f64]) -> f64 {
    let par = &x[0..2];
    let h = 0.05;
    let mut y = [x[2], x[3]];
    let mut t = 0.0;
    let mut work = [[0.0; NEQ]; 4];
    let mut ifail: i32 = 0;
    fcn(t, &y, par, &mut work[0]);
    for k in 1..4 {
        let d = work[k - 1];
        let mut ymid = y;
        for i in 0..NEQ {
            ymid[i] += 0.5 * h * d[i];
        }
        let mut dmid = [0.0; NEQ];
        fcn(t + 0.5 * h, &ymid, par, &mut dmid);
        for i in 0..NEQ {
            y[i] += h * dmid[i];
        }
        t += h;
        fcn(t, &y, par, &mut work[k]);
    }
    let mut nstep = 0;
    loop {
        if nstep >= 30 {
            break;
        }
        abmstp(&mut t, h, &mut y, par, &mut work, &mut ifail);
        if ifail != 0 {
            return -1.0;
        }
        nstep += 1;
    }
    y[0] * y[0] + t * y[1]
}

// A quantitative analyst: a smile, calibrated with weights.
#[derive(Data, Clone, Copy, Debug, PartialEq)]
struct Sabr {
    alpha: f64,
    beta: f64,
    rho: f64,
    nu: f64,
}

impl Default for Sabr {
    fn default() -> Self {
        Sabr { alpha: 0.2, beta: 0.5, rho: 0.0, nu: 0.4 }
    }
}

#[derive(Data, Clone, Copy, Debug, PartialEq)]
struct Quote {
    strike: f64,
    vol: f64,
    weight: f64,
}

#[differentiable]
impl Sabr {
    fn with_beta(mut self, beta: f64) -> Self {
        self.beta = beta;
        self
    }

    fn with_skew(self, rho: f64, nu: f64) -> Self {
        Self { rho, nu, ..self }
    }

    fn vol(&self, fwd: f64, k: f64, t: f64) -> f64 {
        let Self { alpha: a, beta: b, rho: r, nu: v } = *self;
        let fk = pow(fwd * k, (1.0 - b) / 2.0);
        let lnfk = log(fwd / k);
        let z = v / a * fk * lnfk;
        let x_over_z = if z.abs() < 1e-8 {
            1.0
        } else {
            let chi = log((f64::sqrt(1.0 - 2.0 * r * z + z * z) + z - r) / (1.0 - r));
            z / chi
        };
        let correction = 1.0
            + ((1.0 - b).powi(2) / 24.0 * a * a / (fk * fk)
                + 0.25 * r * b * v * a / fk
                + (2.0 - 3.0 * r * r) / 24.0 * v * v)
                * t;
        let denominator = fk
            * (1.0
                + (1.0 - b).powi(2) / 24.0 * lnfk.powi(2)
                + (1.0 - b).powi(4) / 1920.0 * lnfk.powi(4));
        a / denominator * x_over_z * correction
    }
}

#[differentiable]
fn smile(x: &[f64]) -> f64 {
    let (fwd, expiry) = (0.03, 2.0);
    let quotes: Vec<Quote> =
        [(-0.01, 0.31), (-0.005, 0.27), (0.0, 0.25), (0.01, 0.24), (0.02, 0.26)]
            .iter()
            .map(|&(moneyness, vol)| Quote {
                strike: fwd + moneyness,
                vol,
                weight: exp(-50.0 * f64::abs(moneyness)),
            })
            .collect();
    let model = Sabr { alpha: x[0], ..Default::default() }.with_beta(0.6).with_skew(x[1], x[2]);
    let total_weight: f64 = quotes.iter().map(|q| q.weight).sum();
    let sse = quotes
        .iter()
        .map(|q| q.weight * (model.vol(fwd, q.strike, expiry) - q.vol).powi(2))
        .sum::<f64>();
    1e4 * sse / total_weight
}

// A programmer of games: a rope that hangs over things.
#[derive(Data, Clone, Copy, Debug, PartialEq)]
struct Node {
    pos: [f64; 2],
    prev: [f64; 2],
    pinned: bool,
}

#[derive(Data, Clone, Copy, Debug, PartialEq)]
enum Collider {
    Ball { at: [f64; 2], radius: f64 },
    Floor(f64),
}

#[differentiable]
impl Collider {
    fn push_out(&self, p: [f64; 2]) -> [f64; 2] {
        match self {
            Collider::Ball { at, radius } => {
                let d = [p[0] - at[0], p[1] - at[1]];
                let len = (d[0] * d[0] + d[1] * d[1]).sqrt();
                if len >= *radius || len == 0.0 {
                    return p;
                }
                let s = radius / len;
                [at[0] + d[0] * s, at[1] + d[1] * s]
            }
            Collider::Floor(y) => [p[0], p[1].max(*y)],
        }
    }
}

#[differentiable]
fn rope_over(x: &[f64]) -> f64 {
    let mut nodes: Vec<Node> = (0..6)
        .map(|i| {
            let pos = [i as f64 * 0.2, 1.0];
            Node { pos, prev: pos, pinned: i == 0 }
        })
        .collect();
    let world = [Collider::Ball { at: [x[0], 0.5], radius: x[1] }, Collider::Floor(-0.1)];
    for _frame in 0..12 {
        for n in nodes.iter_mut().filter(|n| !n.pinned) {
            let old = n.pos;
            n.pos[0] += (n.pos[0] - n.prev[0]) * 0.98;
            n.pos[1] += (n.pos[1] - n.prev[1]) * 0.98 - x[2] * 0.01;
            n.prev = old;
        }
        for _ in 0..3 {
            for i in 1..nodes.len() {
                let (a, b) = (nodes[i - 1], nodes[i]);
                let dx = b.pos[0] - a.pos[0];
                let dy = b.pos[1] - a.pos[1];
                let len = (dx * dx + dy * dy).sqrt();
                let corr = (len - 0.2) / len * 0.5;
                if !a.pinned {
                    nodes[i - 1].pos[0] += dx * corr;
                    nodes[i - 1].pos[1] += dy * corr;
                }
                nodes[i].pos[0] -= dx * corr;
                nodes[i].pos[1] -= dy * corr;
            }
            for n in &mut nodes {
                for c in world.iter() {
                    n.pos = c.push_out(n.pos);
                }
            }
        }
    }
    let tip = nodes.last().unwrap();
    tip.pos[0] + 2.0 * tip.pos[1]
}

// One who thinks in functions: partial application, iteration, unfolding.
#[differentiable]
fn iterate(n: usize, f: impl Fn(f64) -> f64, x0: f64) -> Vec<f64> {
    std::iter::successors(Some(x0), |&x| Some(f(x))).take(n).collect()
}

#[differentiable]
fn zip_with(f: impl Fn(f64, f64) -> f64, a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(&p, &q)| f(p, q)).collect()
}

#[differentiable]
fn composed_maps(x: &[f64]) -> f64 {
    let logistic = |r: f64, y: f64| r * y * (1.0 - y);
    let step = |y: f64| logistic(x[0], y);
    let shift = |c: f64, y: f64| y + c;
    let orbit = iterate(8, |y| step(y), x[1]);
    let other = iterate(8, |y| shift(0.01, step(y)), x[1]);
    let gaps = zip_with(|a, b| (a - b) * (a - b), &orbit, &other);
    let (total, largest) =
        gaps.iter().fold((0.0, f64::NEG_INFINITY), |(s, m), &g| (s + g, f64::max(m, g)));
    let running: Vec<f64> = orbit
        .iter()
        .scan(1.0, |p, &y| {
            *p *= 1.0 + y;
            Some(*p)
        })
        .take_while(|p| *p < 50.0)
        .collect();
    total + largest + running.iter().rev().step_by(2).sum::<f64>()
}

// One who comes from arrays: many temporaries, broadcasting by hand.
#[differentiable]
fn class_weights(x: &[f64]) -> f64 {
    let (n, d, k) = (5, 2, 3);
    let data = [[1.0, 0.5], [0.2, -1.0], [-0.7, 0.3], [1.5, 1.1], [0.0, 0.4]];
    let labels = [0, 2, 1, 0, 1];
    let w: Vec<Vec<f64>> = (0..d).map(|i| x[i * k..(i + 1) * k].to_vec()).collect();
    let b = &x[d * k..];
    let mut logits = vec![vec![0.0; k]; n];
    for i in 0..n {
        for c in 0..k {
            logits[i][c] = (0..d).map(|j| data[i][j] * w[j][c]).sum::<f64>() + b[c];
        }
    }
    let row_max: Vec<f64> =
        logits.iter().map(|r| r.iter().cloned().fold(f64::NEG_INFINITY, f64::max)).collect();
    let shifted: Vec<Vec<f64>> =
        logits.iter().zip(&row_max).map(|(r, m)| r.iter().map(|v| v - m).collect()).collect();
    let exps: Vec<Vec<f64>> = shifted.iter().map(|r| r.iter().map(|v| exp(*v)).collect()).collect();
    let sums: Vec<f64> = exps.iter().map(|r| r.iter().sum()).collect();
    let probs: Vec<Vec<f64>> =
        exps.iter().zip(sums.iter()).map(|(r, s)| r.iter().map(|v| v / s).collect()).collect();
    let one_hot: Vec<Vec<f64>> =
        labels.iter().map(|&l| (0..k).map(|c| if c == l { 1.0 } else { 0.0 }).collect()).collect();
    let counts = (0..k).map(|c| one_hot.iter().map(|row| row[c]).sum::<f64>()).collect::<Vec<_>>();
    let class_weight: Vec<f64> = counts.iter().map(|c| n as f64 / (k as f64 * c)).collect();
    let mut loss = 0.0;
    for (p, o) in probs.iter().zip(&one_hot) {
        for ((pi, oi), cw) in p.iter().zip(o).zip(&class_weight) {
            loss -= cw * oi * log(*pi);
        }
    }
    let l2 = 0.5 * w.iter().flatten().map(|v| v * v).sum::<f64>();
    loss / n as f64 + 1e-2 * l2
}

// A student: ages of a population, the dominant growth by repeated products.
#[differentiable]
fn mat_vec(m: &Vec<Vec<f64>>, v: &Vec<f64>) -> Vec<f64> {
    let mut result = Vec::new();
    for row in m.iter() {
        let mut sum = 0.0;
        for i in 0..row.len() {
            sum = sum + row[i] * v[i];
        }
        result.push(sum);
    }
    result
}

#[differentiable]
fn leslie(x: &[f64]) -> f64 {
    let n = x.len() / 2;
    let mut m = vec![vec![0.0; n]; n];
    for i in 0..n {
        m[0][i] = x[i];
    }
    for i in 1..n {
        m[i][i - 1] = x[n + i - 1];
    }
    let mut v = vec![1.0; n];
    let mut lambda = 0.0;
    let mut old_lambda = 1.0e9f64;
    let mut count = 0;
    while (lambda - old_lambda).abs() > 1e-12 && count < 500 {
        old_lambda = lambda;
        let w = mat_vec(&m, &v);
        let biggest = w.iter().fold(0.0, |a: f64, b| a.max(*b));
        lambda = biggest;
        v = w.iter().map(|value| value / biggest).collect();
        count += 1;
    }
    let total: f64 = v.iter().sum();
    lambda + v[n - 1] / total
}

// An engineer of small devices: a ring of samples of fixed size, sections of a filter.
#[derive(Data, Clone, Copy, Debug, PartialEq)]
struct Ring<const N: usize> {
    buf: [f64; N],
    head: u8,
}

#[differentiable]
impl<const N: usize> Ring<N> {
    fn push(&mut self, v: f64) -> f64 {
        let i = self.head as usize;
        let out = self.buf[i];
        self.buf[i] = v;
        self.head = (self.head + 1) % N as u8;
        out
    }

    fn mean(&self) -> f64 {
        self.buf.iter().sum::<f64>() / N as f64
    }
}

#[derive(Data, Clone, Copy, Debug, PartialEq, Default)]
struct Section {
    b: [f64; 3],
    a: [f64; 2],
    z: [f64; 2],
}

#[differentiable]
impl Section {
    fn low_pass(w0: f64, q: f64) -> Self {
        let alpha = sin(w0) / (2.0 * q);
        let c = cos(w0);
        let a0 = 1.0 + alpha;
        Section {
            b: [(1.0 - c) / 2.0 / a0, (1.0 - c) / a0, (1.0 - c) / 2.0 / a0],
            a: [-2.0 * c / a0, (1.0 - alpha) / a0],
            ..Section::default()
        }
    }

    fn run(&mut self, x: f64) -> f64 {
        let y = self.b[0] * x + self.z[0];
        self.z[0] = self.b[1] * x - self.a[0] * y + self.z[1];
        self.z[1] = self.b[2] * x - self.a[1] * y;
        y
    }
}

#[differentiable]
fn sampled_filter(x: &[f64]) -> f64 {
    let mut cascade = [Section::low_pass(x[0], 0.54), Section::low_pass(x[0], x[1])];
    let mut ring = Ring::<4> { buf: [0.0; 4], head: 0 };
    let mut energy = 0.0;
    for n in 0u32..24 {
        let input = if n & 4 == 0 { x[2] } else { -x[2] };
        let mut v = input;
        for s in cascade.iter_mut() {
            v = s.run(v);
        }
        let oldest = ring.push(v);
        if n >= 8 {
            energy += (ring.mean() - oldest) * (ring.mean() - oldest);
        }
    }
    energy
}

#[test]
fn steps_smiles_ropes_and_compositions() {
    everywhere! {
        abm at [0.8, 0.3, 1.0, 0.2], [0.5, 0.0, 0.3, -0.4], [60.0, 0.3, 3.0, 9.0], [1.0];
        smile at [0.09, -0.2, 0.5], [0.05, 0.1, 0.3], [0.1, 0.2];
        rope_over at [0.4, 0.25, 1.0], [0.71, 0.33, 0.7], [0.2];
        composed_maps at [3.3, 0.2], [2.5, 0.6];
    }
}

#[test]
fn classes_ages_and_samples() {
    everywhere! {
        class_weights at [0.1, -0.2, 0.4, 0.3, 0.5, -0.6, 0.0, 0.1, -0.1], [0.1];
        leslie at [0.2, 1.1, 0.8, 0.6, 0.5, 0.0], [1.0, 1.2, 0.7, 0.1];
        sampled_filter at [0.6, 1.3, 1.0], [1.1, 0.7, 0.4], [0.6];
    }
}

//! Doses and subjects, arms of robots, curves of rates, splines.

use jut::math::{atan2, cos, exp, sin};
use jut::{Data, differentiable};

// traits with associated const and generics: explicit Runge-Kutta with tableau
#[derive(Data, Clone, Debug, PartialEq)]
struct Params {
    ka: f64,
    cl: f64,
    v: f64,
    f: f64,
}
#[derive(Data, Clone, Debug, PartialEq)]
struct Dose {
    time: f64,
    amount: f64,
    compartment: usize,
}
#[derive(Data, Clone, Debug, PartialEq)]
#[data(twin)]
struct Subject {
    doses: Vec<Dose>,
    times: Vec<f64>,
    conc: Vec<f64>,
    weight: f64,
}
#[differentiable]
impl Params {
    fn scaled(&self, weight: f64) -> Self {
        let s = weight / 70.0;
        Params { cl: self.cl * jut::math::pow(s, 0.75), v: self.v * s, ..self.clone() }
    }
    fn rhs(&self, y: &[f64; 2]) -> [f64; 2] {
        let &[depot, central] = y;
        let absorbed = self.ka * depot;
        [-absorbed, absorbed - self.cl / self.v * central]
    }
    fn step(&self, y: &mut [f64; 2], h: f64) {
        let k1 = self.rhs(y);
        let mid = [y[0] + 0.5 * h * k1[0], y[1] + 0.5 * h * k1[1]];
        let k2 = self.rhs(&mid);
        for (y, k) in y.iter_mut().zip(&k2) {
            *y += h * k;
        }
    }
}
#[differentiable]
impl Subject {
    fn predict(&self, p: &Params) -> Vec<f64> {
        let p = p.scaled(self.weight);
        let mut state = [0.0, 0.0];
        let mut t = 0.0;
        let mut pending = self.doses.iter().peekable();
        let mut out = Vec::with_capacity(self.times.len());
        for &sample in &self.times {
            while let Some(dose) = pending.peek() {
                if dose.time > sample {
                    break;
                }
                advance(&p, &mut state, t, dose.time);
                t = dose.time;
                state[dose.compartment] += match dose.compartment {
                    0 => p.f * dose.amount,
                    _ => dose.amount,
                };
                pending.next();
            }
            advance(&p, &mut state, t, sample);
            t = sample;
            out.push(state[1] / p.v);
        }
        out
    }
    fn sse(&self, p: &Params) -> f64 {
        self.predict(p).iter().zip(self.conc.iter()).map(|(a, b)| (a - b).powi(2)).sum()
    }
}
#[differentiable]
fn advance(p: &Params, y: &mut [f64; 2], from: f64, to: f64) {
    let n = ((to - from) / 0.5).ceil() as usize;
    if n == 0 {
        return;
    }
    let h = (to - from) / n as f64;
    for _ in 0..n {
        p.step(y, h);
    }
}
#[differentiable]
fn population(x: &[f64]) -> f64 {
    let p = Params { ka: x[0], cl: x[1], v: x[2], f: 0.8 };
    let mut total = 0.0;
    for (k, weight) in [60.0, 80.0].iter().enumerate() {
        let mut doses = vec![Dose { time: 0.5 * k as f64, amount: 10.0, compartment: 0 }];
        if k == 0 {
            doses.push(Dose { time: 2.0, amount: 5.0, compartment: 1 });
        }
        let s = Subject {
            doses: doses.clone(),
            times: vec![1.0, 2.0, 4.0],
            conc: vec![0.3, 0.5, 0.4],
            weight: *weight,
        };
        total += s.sse(&p);
    }
    total
}

// robotics: DH chain, SE3 as own type
type Mat4 = [[f64; 4]; 4];
#[derive(Data, Clone, Copy, Debug, PartialEq)]
enum Joint {
    Revolute { a: f64, alpha: f64, d: f64 },
    Prismatic { axis: usize },
    Fixed,
}
const EYE: Mat4 =
    [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0]];
#[differentiable]
impl Joint {
    fn transform(&self, q: f64) -> Mat4 {
        match *self {
            Self::Revolute { a, alpha, d } => {
                let ((st, ct), (sa, ca)) = ((sin(q), cos(q)), (sin(alpha), cos(alpha)));
                [
                    [ct, -st * ca, st * sa, a * ct],
                    [st, ct * ca, -ct * sa, a * st],
                    [0.0, sa, ca, d],
                    [0.0, 0.0, 0.0, 1.0],
                ]
            }
            Self::Prismatic { axis } if axis < 3 => {
                let mut t = EYE;
                t[axis][3] = q;
                t
            }
            Self::Prismatic { .. } => panic!("no such axis"),
            Self::Fixed => EYE,
        }
    }
    fn moves(&self) -> bool {
        !matches!(self, Joint::Fixed)
    }
}
#[differentiable]
fn compose(a: &Mat4, b: &Mat4) -> Mat4 {
    let mut c = [[0.0; 4]; 4];
    for (ci, ai) in c.iter_mut().zip(a) {
        for (j, cij) in ci.iter_mut().enumerate() {
            *cij = ai.iter().zip(b.iter()).map(|(x, row)| x * row[j]).sum();
        }
    }
    c
}
#[differentiable]
fn reach(x: &[f64]) -> f64 {
    let arm = [
        Joint::Revolute { a: 0.4, alpha: 0.3, d: 0.1 },
        Joint::Fixed,
        Joint::Prismatic { axis: 2 },
        Joint::Revolute { a: 0.3, alpha: 0.0, d: 0.0 },
    ];
    let mut q = x.iter();
    let mut t = EYE;
    for joint in arm.iter() {
        let angle = if joint.moves() { *q.next().unwrap() } else { 0.0 };
        t = compose(&t, &joint.transform(angle));
    }
    let pose: Vec<[f64; 3]> = (0..4).map(|j| [t[0][j], t[1][j], t[2][j]]).collect();
    let &[px, py, pz] = pose.last().unwrap();
    ((px - 0.5).powi(2) + (py - 0.2).powi(2)).sqrt() + pz * atan2(pose[0][1], pose[0][0])
}

// finance: American option by binomial tree with enum of payoffs, Heston path, bond curve by bisect
#[derive(Data, Clone, Copy, Debug, PartialEq)]
enum Payoff {
    Call(f64),
    Put(f64),
    Straddle { strike: f64, ratio: f64 },
}
#[differentiable]
impl Payoff {
    fn at(&self, s: f64) -> f64 {
        match self {
            &Payoff::Call(k) => (s - k).max(0.0),
            Payoff::Put(k) => (k - s).max(0.0),
            Payoff::Straddle { strike: k, ratio } => {
                let m = (s - *k).abs();
                ratio * m
            }
        }
    }
}
#[derive(Data, Clone, Copy, Debug, PartialEq)]
struct Market {
    spot: f64,
    rate: f64,
    vol: f64,
}
#[differentiable]
fn tree(m: &Market, p: Payoff, years: f64, steps: usize, american: bool) -> f64 {
    let dt = years / steps as f64;
    let u = exp(m.vol * dt.sqrt());
    let d = 1.0 / u;
    let disc = exp(-m.rate * dt);
    let pu = ((1.0 / disc) - d) / (u - d);
    let mut values: Vec<f64> =
        (0..=steps).map(|i| p.at(m.spot * u.powi(2 * i as i32 - steps as i32))).collect();
    for step in (0..steps).rev() {
        for i in 0..=step {
            let hold = disc * (pu * values[i + 1] + (1.0 - pu) * values[i]);
            values[i] = if american {
                hold.max(p.at(m.spot * u.powi(2 * i as i32 - step as i32)))
            } else {
                hold
            };
        }
        values.truncate(step + 1);
    }
    values[0]
}
#[derive(Data, Clone, Debug, PartialEq)]
struct Curve {
    tenors: Vec<f64>,
    zeros: Vec<f64>,
}
#[differentiable]
impl Curve {
    fn zero(&self, t: f64) -> f64 {
        let n = self.tenors.len();
        match self.tenors.binary_search_by(|v| v.partial_cmp(&t).unwrap()) {
            Ok(i) => self.zeros[i],
            Err(0) => self.zeros[0],
            Err(i) if i == n => self.zeros[n - 1],
            Err(i) => {
                let (t0, t1) = (self.tenors[i - 1], self.tenors[i]);
                let w = (t - t0) / (t1 - t0);
                self.zeros[i - 1] * (1.0 - w) + w * self.zeros[i]
            }
        }
    }
    fn df(&self, t: f64) -> f64 {
        exp(-self.zero(t) * t)
    }
}
#[differentiable]
fn bond(x: &[f64]) -> f64 {
    let curve = Curve { tenors: vec![0.5, 1.0, 2.0, 5.0], zeros: x.to_vec() };
    let coupon = 0.04;
    let flows: Vec<(f64, f64)> = (1..=6)
        .map(|i| (i as f64 * 0.5, if i == 6 { 1.0 + coupon / 2.0 } else { coupon / 2.0 }))
        .collect();
    let pv = flows.iter().map(|(t, c)| c * curve.df(*t)).sum::<f64>();
    let dur = flows.iter().map(|&(t, c)| t * c * curve.df(t)).sum::<f64>() / pv;
    pv + 0.1 * dur + curve.zero(9.0)
}
// statistics: online Welford as struct with methods &mut self, generic trait accumulate
#[derive(Data, Clone, Copy, Debug, PartialEq, Default)]
struct Welford {
    n: u64,
    mean: f64,
    m2: f64,
}
#[differentiable]
impl Welford {
    fn new() -> Self {
        Self::default()
    }
    fn push(&mut self, x: f64) {
        self.n += 1;
        let d = x - self.mean;
        self.mean += d / self.n as f64;
        self.m2 += d * (x - self.mean);
    }
    fn variance(&self) -> Option<f64> {
        (self.n > 1).then(|| self.m2 / (self.n - 1) as f64)
    }
}
#[differentiable]
fn welford(x: &[f64]) -> f64 {
    let mut w = Welford::new();
    for &v in x {
        w.push(v);
    }
    w.mean + w.variance().unwrap_or(-1.0)
}
// AddAssign, Sum by fold, Sub, generic function over T: Copy + Mul
// Levenberg damping with loops that break with value, tuples, shadows
#[differentiable]
fn damped(x: &[f64]) -> f64 {
    let x: Vec<f64> = x.iter().map(|x| x * 0.9).collect();
    let f = |p: f64| {
        let r = p * p - x[0];
        (r, 2.0 * p)
    };
    let mut lambda = 1e-2;
    let mut p = x[1];
    let result = loop {
        let (r, j) = f(p);
        let step = -j * r / (j * j + lambda);
        let (trial, _) = f(p + step);
        if trial * trial < r * r {
            p += step;
            lambda *= 0.3;
            if step.abs() < 1e-3 {
                break p;
            }
        } else {
            lambda *= 5.0;
        }
        if lambda > 1e6 {
            break f64::NAN;
        }
    };
    let result = result * x[2];
    let result = {
        let y = result + 1.0;
        y * y
    };
    result
}
// cubic spline with Vec<[f64;4]>
#[differentiable]
fn spline(x: &[f64]) -> f64 {
    let n = x.len();
    assert!(n >= 3, "a spline needs {} points, not {n}", 3);
    let h = vec![1.0; n - 1];
    let mut alpha = vec![0.0; n];
    for i in 1..n - 1 {
        alpha[i] = 3.0 * ((x[i + 1] - x[i]) / h[i] - (x[i] - x[i - 1]) / h[i - 1]);
    }
    let (mut l, mut mu, mut z) = (vec![1.0; n], vec![0.0; n], vec![0.0; n]);
    for i in 1..n - 1 {
        l[i] = 2.0 * (h[i - 1] + h[i]) - h[i - 1] * mu[i - 1];
        mu[i] = h[i] / l[i];
        z[i] = (alpha[i] - h[i - 1] * z[i - 1]) / l[i];
    }
    let mut c = 0.0;
    let mut pieces: Vec<[f64; 4]> = Vec::new();
    for j in (0..n - 1).rev() {
        let next = c;
        c = z[j] - mu[j] * next;
        let b = (x[j + 1] - x[j]) / h[j] - h[j] * (next + 2.0 * c) / 3.0;
        pieces.push([x[j], b, c, (next - c) / (3.0 * h[j])]);
    }
    pieces.reverse();
    let eval = |t: f64| -> f64 {
        let i = (t.floor() as usize).min(pieces.len() - 1);
        let d = t - i as f64;
        let [a, b, c, e] = pieces[i];
        a + d * (b + d * (c + d * e))
    };
    [0.3, 1.5, 1.9].iter().copied().map(eval).sum::<f64>()
}

#[test]
fn they_are_as_the_plain_calls_on_every_engine() {
    everywhere! {
        population at [1.1, 0.5, 8.0];
        reach at [0.3, 0.2, 0.9], [0.3, 0.1];
        bond at [0.02, 0.025, 0.03, 0.035], [0.02, 0.03];
        welford at [0.02, 0.025, 0.03, 0.035], [0.02], [];
        damped at [1.7, 1.0, 0.5], [0.02];
        spline at [1.7, 1.0, 0.5, 0.9], [0.02];
    }
}

//! Objects with state: filters, flow sheets, delays, buckets of a grid, machines of states, lists in fields that grow.

use jut::math::{log, sin};
use jut::{Data, differentiable};
use std::ops::{Add, Mul};

// An attitude by gyroscope and gravity, after Madgwick.
#[derive(Data, Clone, Copy, Debug, PartialEq)]
struct Quat {
    w: f64,
    v: [f64; 3],
}

impl Default for Quat {
    fn default() -> Self {
        Quat { w: 1.0, v: [0.0; 3] }
    }
}

#[differentiable]
impl Mul for Quat {
    type Output = Quat;
    fn mul(self, o: Quat) -> Quat {
        let (a, b) = (self.v, o.v);
        let cross =
            [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
        Quat {
            w: self.w * o.w - a.iter().zip(&b).map(|(x, y)| x * y).sum::<f64>(),
            v: std::array::from_fn(|i| self.w * b[i] + o.w * a[i] + cross[i]),
        }
    }
}

#[differentiable]
impl Quat {
    fn conj(self) -> Self {
        Self { v: self.v.map(|c| -c), ..self }
    }
    fn normalized(self) -> Self {
        let n = (self.w * self.w + self.v.iter().map(|c| c * c).sum::<f64>()).sqrt();
        Self { w: self.w / n, v: self.v.map(|c| c / n) }
    }
    fn rotate(self, p: [f64; 3]) -> [f64; 3] {
        (self * Quat { w: 0.0, v: p } * self.conj()).v
    }
}

#[derive(Data, Clone, Debug, PartialEq)]
struct Filter {
    attitude: Quat,
    gain: f64,
    bias: [f64; 3],
}

#[differentiable]
impl Filter {
    fn new(gain: f64) -> Self {
        Filter { attitude: Quat::default(), gain, bias: [0.0; 3] }
    }
    fn update(&mut self, gyro: &[f64; 3], accel: &[f64; 3], dt: f64) {
        let up = self.attitude.conj().rotate([0.0, 0.0, 1.0]);
        let err = [
            accel[1] * up[2] - accel[2] * up[1],
            accel[2] * up[0] - accel[0] * up[2],
            accel[0] * up[1] - accel[1] * up[0],
        ];
        let mut rate = [0.0; 3];
        for ((r, g), (e, b)) in rate.iter_mut().zip(gyro).zip(err.iter().zip(self.bias.iter_mut()))
        {
            *b += 0.1 * e * dt;
            *r = g + self.gain * e + *b;
        }
        let half = Quat { w: 1.0, v: rate.map(|r| 0.5 * r * dt) };
        self.attitude = (self.attitude * half).normalized();
    }
}

#[differentiable]
fn tilt(x: &[f64]) -> f64 {
    let mut filter = Filter::new(x[0]);
    for sample in x[1..].chunks_exact(6) {
        let gyro = [sample[0], sample[1], sample[2]];
        let accel: [f64; 3] = sample[3..].try_into().unwrap();
        filter.update(&gyro, &accel, 0.1);
    }
    let z = filter.attitude.rotate([0.0, 0.0, 1.0]);
    z[0] + 2.0 * z[1] * z[2]
}

// An unscented filter, of a number of states that is open.
#[derive(Data, Clone, Copy, Debug, PartialEq)]
struct Gaussian<const N: usize> {
    mean: [f64; N],
    cov: [[f64; N]; N],
}

#[differentiable]
impl<const N: usize> Gaussian<N> {
    fn cholesky(&self) -> [[f64; N]; N] {
        let mut l = [[0.0; N]; N];
        for i in 0..N {
            for j in 0..=i {
                let s: f64 = (0..j).map(|k| l[i][k] * l[j][k]).sum();
                l[i][j] = if i == j {
                    (self.cov[i][i] - s).sqrt()
                } else {
                    (self.cov[i][j] - s) / l[j][j]
                };
            }
        }
        l
    }
    fn sigma_points(&self) -> Vec<[f64; N]> {
        let l = self.cholesky();
        let spread = (N as f64).sqrt();
        let mut points = Vec::with_capacity(2 * N);
        for sign in [1.0, -1.0] {
            for j in 0..N {
                let point: [f64; N] =
                    std::array::from_fn(|i| self.mean[i] + sign * spread * l[i][j]);
                points.push(point);
            }
        }
        points
    }
}

#[differentiable]
fn pushed_through(g: &Gaussian<2>, dt: f64) -> Gaussian<2> {
    let points: Vec<[f64; 2]> =
        g.sigma_points().iter().map(|p| [p[0] + dt * p[1], p[1] - dt * sin(p[0])]).collect();
    let w = 1.0 / points.len() as f64;
    let mut mean = [0.0; 2];
    for p in &points {
        for (m, c) in mean.iter_mut().zip(p) {
            *m += w * c;
        }
    }
    let mut cov = [[1e-3, 0.0], [0.0, 1e-3]];
    for p in points.iter() {
        let d = [p[0] - mean[0], p[1] - mean[1]];
        for (row, di) in cov.iter_mut().zip(d) {
            for (c, dj) in row.iter_mut().zip(d) {
                *c += w * di * dj;
            }
        }
    }
    Gaussian { mean, cov }
}

#[differentiable]
fn unscented(x: &[f64]) -> f64 {
    let mut g = Gaussian::<2> { mean: [x[0], x[1]], cov: [[x[2], 0.1], [0.1, x[2]]] };
    let mut nll = 0.0;
    for z in &x[3..] {
        g = pushed_through(&g, 0.2);
        let s = g.cov[0][0] + 0.05;
        let nu = z - g.mean[0];
        nll += 0.5 * (log(s) + nu * nu / s);
        let k = [g.cov[0][0] / s, g.cov[1][0] / s];
        for i in 0..2 {
            g.mean[i] += k[i] * nu;
        }
        let top = g.cov[0];
        for i in 0..2 {
            for j in 0..2 {
                g.cov[i][j] -= k[i] * top[j];
            }
        }
    }
    nll
}

// A flow sheet: streams that are added, units of several kinds, a list of them in a plant that a builder makes.
#[derive(Data, Clone, Copy, Debug, Default, PartialEq)]
struct Stream {
    flow: f64,
    a: f64,
    b: f64,
}

#[differentiable]
impl Add for Stream {
    type Output = Stream;
    fn add(self, rhs: Stream) -> Stream {
        let flow = self.flow + rhs.flow;
        Stream {
            flow,
            a: (self.flow * self.a + rhs.flow * rhs.a) / flow,
            b: (self.flow * self.b + rhs.flow * rhs.b) / flow,
        }
    }
}

#[derive(Data, Clone, Copy, Debug, PartialEq)]
enum Unit {
    Stirred { volume: f64 },
    Plug { volume: f64, cells: usize },
    Feed(Stream),
    Bypass,
}

#[derive(Data, Clone, Debug, PartialEq)]
#[data(twin, ragged)]
struct Plant {
    rate: f64,
    units: Vec<Unit>,
}

#[differentiable]
impl Plant {
    fn new(rate: f64) -> Self {
        Plant { rate, units: Vec::new() }
    }
    fn with(mut self, unit: Unit) -> Self {
        self.units.push(unit);
        self
    }
    fn stirred(&self, s: Stream, volume: f64) -> Stream {
        let k = self.rate * volume / s.flow;
        let a = s.a / (1.0 + k);
        Stream { a, b: s.b + s.a - a, ..s }
    }
    fn run(&self, feed: Stream) -> Stream {
        let mut s = feed;
        for unit in &self.units {
            s = match *unit {
                Unit::Stirred { volume } => self.stirred(s, volume),
                Unit::Plug { volume, cells } => {
                    (0..cells).fold(s, |s, _| self.stirred(s, volume / cells as f64))
                }
                Unit::Feed(other) => s + other,
                Unit::Bypass => continue,
            };
        }
        s
    }
}

#[differentiable]
fn conversion(x: &[f64]) -> f64 {
    let plant = Plant::new(x[0])
        .with(Unit::Stirred { volume: x[1] })
        .with(Unit::Bypass)
        .with(Unit::Feed(Stream { flow: x[2], a: 1.0, ..Stream::default() }))
        .with(Unit::Plug { volume: x[3], cells: 4 });
    let out = plant.run(Stream { flow: 1.0, a: 2.0, b: 0.0 });
    out.flow * out.b
}

// A delay in a loop of control: a ring in a field.
#[derive(Data, Clone, Debug, PartialEq)]
struct DelayLine {
    samples: Vec<f64>,
    head: usize,
}

#[differentiable]
impl DelayLine {
    fn with_delay(n: usize) -> DelayLine {
        DelayLine { samples: vec![0.0; n], head: 0 }
    }
    fn push(&mut self, v: f64) -> f64 {
        let out = std::mem::replace(&mut self.samples[self.head], v);
        self.head = (self.head + 1) % self.samples.len();
        out
    }
}

#[derive(Data, Clone, Debug, PartialEq)]
#[data(twin, ragged)]
struct SmithPredictor {
    line: DelayLine,
    model: f64,
    integral: f64,
    history: Vec<f64>,
}

#[differentiable]
impl SmithPredictor {
    fn act(&mut self, error: f64, gains: (f64, f64)) -> f64 {
        let (kp, ki) = gains;
        let delayed = self.line.push(self.model);
        let e = error - (self.model - delayed);
        self.integral += 0.1 * e;
        let u = (kp * e + ki * self.integral).clamp(-5.0, 5.0);
        self.model += 0.1 * (u - self.model);
        self.history.push(u);
        u
    }
}

#[differentiable]
fn smith(x: &[f64]) -> f64 {
    let mut c = SmithPredictor {
        line: DelayLine::with_delay(3),
        model: 0.0,
        integral: 0.0,
        history: vec![],
    };
    let mut plant_delay = DelayLine::with_delay(3);
    let (mut y, mut cost) = (0.0, 0.0);
    for _ in 0..20 {
        let u = c.act(1.0 - y, (x[0], x[1]));
        y += 0.1 * (plant_delay.push(u) - x[2] * y);
        cost += (1.0 - y) * (1.0 - y);
    }
    cost + 0.01 * c.history.windows(2).map(|w| (w[1] - w[0]).powi(2)).sum::<f64>()
}

// Particles of a fluid in buckets of a grid.
#[derive(Data, Clone, Copy, Debug, PartialEq)]
struct Particle {
    at: (f64, f64),
    mass: f64,
}

#[derive(Data, Clone, Debug, PartialEq)]
struct Buckets {
    #[data(ragged)]
    cells: Vec<Vec<usize>>,
    width: f64,
    across: usize,
}

#[differentiable]
impl Buckets {
    fn of(particles: &[Particle], width: f64, across: usize) -> Self {
        let mut cells: Vec<Vec<usize>> = vec![Vec::new(); across * across];
        for (k, p) in particles.iter().enumerate() {
            let i = (p.at.0 / width).floor() as usize;
            let j = (p.at.1 / width).floor() as usize;
            cells[i * across + j].push(k);
        }
        Buckets { cells, width, across }
    }
    fn near(&self, p: &Particle) -> Vec<usize> {
        let i = (p.at.0 / self.width) as i32;
        let j = (p.at.1 / self.width) as i32;
        let n = self.across as i32;
        let mut found = vec![];
        for di in -1..=1 {
            for dj in -1..=1 {
                let (a, b) = (i + di, j + dj);
                if a < 0 || b < 0 || a >= n || b >= n {
                    continue;
                }
                for &k in &self.cells[(a * n + b) as usize] {
                    found.push(k);
                }
            }
        }
        found
    }
}

#[differentiable]
fn pressure(x: &[f64]) -> f64 {
    let particles: Vec<Particle> =
        x.chunks(3).map(|c| Particle { at: (c[0], c[1]), mass: c[2] }).collect();
    let buckets = Buckets::of(&particles, 1.0, 3);
    let mut p = 0.0;
    for a in &particles {
        let density: f64 = buckets
            .near(a)
            .iter()
            .map(|&k| &particles[k])
            .map(|b| {
                let (dx, dy) = (a.at.0 - b.at.0, a.at.1 - b.at.1);
                let q = 1.0 - dx * dx - dy * dy;
                if q > 0.0 { b.mass * q * q * q } else { 0.0 }
            })
            .sum();
        p += (density - 1.0).max(0.0) * a.mass;
    }
    p
}

#[test]
fn filters_plants_and_fluids() {
    everywhere! {
        tilt at [0.8, 0.1, -0.2, 0.05, 0.1, 0.2, 0.95, 0.2, 0.1, 0.0, 0.05, 0.3, 0.9], [0.5];
        unscented at [0.3, 0.1, 0.5, 0.35, 0.4, 0.2];
        conversion at [0.7, 1.5, 0.4, 2.0];
        smith at [1.2, 0.6, 1.0];
        pressure at [0.3, 0.4, 1.0, 0.8, 0.9, 1.2, 1.2, 0.7, 0.9, 2.5, 2.2, 1.0];
    }
}

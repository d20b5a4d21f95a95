//! Codes of cosmology, control, sparse matrices, alignment, networks, calendars and units.

use jut::math::{exp, log, sin, tanh};
use jut::{Data, differentiable};
use std::ops::*;

// Distances of cosmology, by an integral of a closure.
const C_KM: f64 = 299792.458;
#[derive(Data, Clone, Copy, Debug, PartialEq)]
struct Cosmo {
    h0: f64,
    om: f64,
    ol: f64,
    w: f64,
}
#[differentiable]
impl Default for Cosmo {
    fn default() -> Self {
        Cosmo { h0: 70.0, om: 0.3, ol: 0.7, w: -1.0 }
    }
}
#[differentiable]
impl Cosmo {
    fn e(&self, z: f64) -> f64 {
        let a = 1.0 + z;
        (self.om * a.powi(3) + self.ok() * a * a + self.ol * exp(3.0 * (1.0 + self.w) * log(a)))
            .sqrt()
    }
    fn ok(&self) -> f64 {
        1.0 - self.om - self.ol
    }
    fn comoving(&self, z: f64) -> f64 {
        C_KM / self.h0 * simpson(|t| 1.0 / self.e(t), 0.0, z, 8)
    }
    fn transverse(&self, z: f64) -> f64 {
        let dh = C_KM / self.h0;
        let x = self.comoving(z) / dh;
        match self.ok() {
            k if k > 1e-8 => dh / k.sqrt() * jut::math::sinh(k.sqrt() * x),
            k if k < -1e-8 => {
                let r = (-k).sqrt();
                dh / r * sin(r * x)
            }
            _ => dh * x,
        }
    }
}
#[differentiable]
fn simpson<F>(f: F, a: f64, b: f64, n: usize) -> f64
where
    F: Fn(f64) -> f64,
{
    assert!(n % 2 == 0 && n > 0, "n is even");
    let h = (b - a) / n as f64;
    let inner: f64 = (1..n)
        .map(|i| {
            let w = if i % 2 == 0 { 2.0 } else { 4.0 };
            w * f(a + i as f64 * h)
        })
        .sum();
    h / 3.0 * (f(a) + inner + f(b))
}
#[differentiable]
fn distance_modulus(x: &[f64]) -> f64 {
    let c = Cosmo { om: x[0], ol: x[1], ..Default::default() };
    let mut chi2 = 0.0;
    for (i, z) in [0.1, 0.5, 0.9].into_iter().enumerate() {
        let mu = 5.0 * jut::math::log10(c.transverse(z) * (1.0 + z)) + 25.0;
        let d = mu - (38.0 + 2.0 * i as f64);
        chi2 += d * d;
    }
    chi2
}
// statrs style trait with two generics
#[differentiable]
trait Continuous {
    fn pdf(&self, x: f64) -> f64;
    fn ln_pdf(&self, x: f64) -> f64;
}
#[differentiable]
trait Bounded {
    fn lo(&self) -> f64;
    fn hi(&self) -> f64;
}
#[derive(Data, Clone, Copy, Debug, PartialEq)]
struct Beta {
    a: i32,
    b: f64,
}
#[differentiable]
impl Continuous for Beta {
    fn pdf(&self, x: f64) -> f64 {
        if !(0.0..=1.0).contains(&x) {
            return 0.0;
        }
        x.powi(self.a - 1) * jut::math::pow(1.0 - x, self.b - 1.0)
    }
    fn ln_pdf(&self, x: f64) -> f64 {
        let p = self.pdf(x);
        if p > 0.0 { log(p) } else { f64::NEG_INFINITY }
    }
}
#[differentiable]
impl Bounded for Beta {
    fn lo(&self) -> f64 {
        0.0
    }
    fn hi(&self) -> f64 {
        1.0
    }
}
#[differentiable]
fn expectation<D: Continuous + Bounded, F: Fn(f64) -> f64>(d: &D, f: F, n: usize) -> f64 {
    let h = (d.hi() - d.lo()) / n as f64;
    let grid = (0..n).map(|i| d.lo() + (i as f64 + 0.5) * h);
    let (num, den) = grid.fold((0.0, 0.0), |(s, w), t| (s + f(t) * d.pdf(t), w + d.pdf(t)));
    num / den
}
#[differentiable]
fn beta_mean(x: &[f64]) -> f64 {
    let d = Beta { a: 2, b: x[0] };
    let shift = x[1];
    expectation(&d, |t| (t - shift) * (t - shift), 9) + d.ln_pdf(x[1])
}
// robotics PID with history VecDeque-like, clamps, struct update with method chaining by value
#[derive(Data, Clone, Copy, Debug, PartialEq)]
struct Pid {
    kp: f64,
    ki: f64,
    kd: f64,
    integral: f64,
    last: Option<f64>,
    limit: (f64, f64),
}
#[differentiable]
impl Pid {
    fn with_gains(mut self, kp: f64, ki: f64) -> Self {
        self.kp = kp;
        self.ki = ki;
        self
    }
    fn update(&mut self, error: f64, dt: f64) -> f64 {
        let d = self.last.map_or(0.0, |l| (error - l) / dt);
        self.integral = (self.integral + error * dt).clamp(self.limit.0, self.limit.1);
        self.last = Some(error);
        self.kp * error + self.ki * self.integral + self.kd * d
    }
}
#[differentiable]
fn pid(x: &[f64]) -> f64 {
    let mut c = Pid { kp: 0.0, ki: 0.0, kd: 0.05, integral: 0.0, last: None, limit: (-0.5, 0.5) }
        .with_gains(x[0], x[1]);
    let (mut y, mut cost) = (0.0, 0.0);
    for k in 0..12 {
        let target = if k < 6 { 1.0 } else { -0.5 };
        let u = c.update(target - y, 0.1);
        y += 0.1 * (-y + u);
        cost += (target - y).powi(2) * if k % 3 == 0 { 2.0 } else { 1.0 };
    }
    cost + c.last.unwrap_or(9.0)
}
// sparse matrix CSR: struct with usize vecs, spmv as Mul<&[f64]>, conjugate gradient
#[derive(Data, Clone, Debug, PartialEq)]
#[data(twin)]
struct Csr {
    ptr: Vec<usize>,
    col: Vec<usize>,
    val: Vec<f64>,
}
#[differentiable]
impl Csr {
    fn from_triplets(n: usize, triplets: &[(usize, usize, f64)]) -> Csr {
        let mut ptr = vec![0; n + 1];
        for &(i, _, _) in triplets {
            ptr[i + 1] += 1;
        }
        for i in 0..n {
            ptr[i + 1] += ptr[i];
        }
        let mut at = ptr.clone();
        let mut col = vec![0usize; triplets.len()];
        let mut val = vec![0.0; triplets.len()];
        for &(i, j, v) in triplets.iter() {
            let k = at[i];
            col[k] = j;
            val[k] = v;
            at[i] += 1;
        }
        Csr { ptr, col, val }
    }
    fn times(&self, x: &[f64]) -> Vec<f64> {
        self.ptr
            .windows(2)
            .map(|w| (w[0]..w[1]).map(|k| self.val[k] * x[self.col[k]]).sum())
            .collect()
    }
}
#[differentiable]
fn conjugate(a: &Csr, b: &[f64], tol: f64) -> Result<Vec<f64>, String> {
    let dot = |u: &[f64], v: &[f64]| -> f64 { u.iter().zip(v).map(|(a, b)| a * b).sum() };
    let mut x = vec![0.0; b.len()];
    let mut r = b.to_vec();
    let mut p = r.clone();
    let mut rr = dot(&r, &r);
    for _ in 0..2 * b.len() {
        if rr.sqrt() < tol {
            return Ok(x);
        }
        let ap = a.times(&p);
        let pap = dot(&p, &ap);
        if pap <= 0.0 {
            return Err(format!("not positive: {pap}"));
        }
        let alpha = rr / pap;
        x.iter_mut().zip(&p).for_each(|(x, p)| *x += alpha * p);
        r.iter_mut().zip(&ap).for_each(|(r, q)| *r -= alpha * q);
        let next = dot(&r, &r);
        let beta = next / rr;
        for (p, r) in p.iter_mut().zip(r.iter()) {
            *p = r + beta * *p;
        }
        rr = next;
    }
    if rr.sqrt() < 1e-3 { Ok(x) } else { Err("no convergence".into()) }
}
#[differentiable]
fn sparse(x: &[f64]) -> f64 {
    let n = x.len();
    let mut t: Vec<(usize, usize, f64)> = Vec::new();
    for i in 0..n {
        t.push((i, i, 2.0 + x[i]));
        if i + 1 < n {
            t.push((i, i + 1, -0.5));
            t.push((i + 1, i, -0.5));
        }
    }
    let a = Csr::from_triplets(n, &t);
    let u = conjugate(&a, x, 1e-30).unwrap();
    u.iter().map(|v| v * v).sum()
}
// dynamic programming with 2D vec and three-way min, backtrack with while and match on tuple
#[differentiable]
fn dtw(x: &[f64]) -> f64 {
    let (a, b) = x.split_at(x.len() / 2);
    let (n, m) = (a.len(), b.len());
    let mut d = vec![vec![f64::INFINITY; m + 1]; n + 1];
    d[0][0] = 0.0;
    for i in 1..=n {
        for j in 1..=m {
            let cost = (a[i - 1] - b[j - 1]).abs();
            d[i][j] = cost
                + [d[i - 1][j], d[i][j - 1], d[i - 1][j - 1]]
                    .into_iter()
                    .fold(f64::INFINITY, f64::min);
        }
    }
    let (mut i, mut j, mut len) = (n, m, 0usize);
    while i > 0 && j > 0 {
        len += 1;
        match (d[i - 1][j - 1], d[i - 1][j], d[i][j - 1]) {
            (diag, up, left) if diag <= up && diag <= left => {
                i -= 1;
                j -= 1;
            }
            (_, up, left) if up <= left => i -= 1,
            _ => j -= 1,
        }
    }
    d[n][m] / len.max(1) as f64
}
// neural net with struct of layers: Vec of struct with fixed arrays, enum activation, fold over layers
#[derive(Data, Clone, Copy, Debug, PartialEq)]
enum Act {
    Relu,
    Tanh,
    Leaky(f64),
}
#[derive(Data, Clone, Copy, Debug, PartialEq)]
#[data(twin)]
struct Layer {
    w: [[f64; 2]; 2],
    b: [f64; 2],
    act: Act,
}
#[differentiable]
impl Act {
    fn of(self, z: f64) -> f64 {
        match self {
            Act::Relu => z.max(0.0),
            Act::Tanh => tanh(z),
            Act::Leaky(s) => {
                if z > 0.0 {
                    z
                } else {
                    s * z
                }
            }
        }
    }
}
#[differentiable]
impl Layer {
    fn forward(&self, x: [f64; 2]) -> [f64; 2] {
        let mut y = self.b;
        for (yi, row) in y.iter_mut().zip(&self.w) {
            *yi += row.iter().zip(&x).map(|(w, x)| w * x).sum::<f64>();
        }
        y.map(|z| self.act.of(z))
    }
}
#[differentiable]
fn network(x: &[f64]) -> f64 {
    let layers: Vec<Layer> = x
        .chunks_exact(6)
        .zip([Act::Tanh, Act::Leaky(0.1), Act::Relu].iter().cycle())
        .map(|(p, &act)| Layer { w: [[p[0], p[1]], [p[2], p[3]]], b: [p[4], p[5]], act })
        .collect();
    let data = [([0.1, 0.9], 1.0), ([0.8, -0.3], 0.2)];
    data.iter()
        .map(|(input, want)| {
            let out = layers.iter().fold(*input, |h, l| l.forward(h));
            let [a, b] = out;
            (a + b - want).powi(2)
        })
        .sum::<f64>()
        / data.len() as f64
}
// shadowed generic closure returning tuple, early return from nested if, i64 arithmetic, negative modulo, saturating_sub
#[differentiable]
fn calendar(x: &[f64]) -> f64 {
    let days = |y: i64, m: i64, d: i64| -> i64 {
        let y = if m <= 2 { y - 1 } else { y };
        let era = y.div_euclid(400);
        let yoe = y - era * 400;
        let mp = (m + 9) % 12;
        let doy = (153 * mp + 2) / 5 + d - 1;
        era * 146097 + yoe * 365 + yoe / 4 - yoe / 100 + doy
    };
    let base = days(2024, 2, 29);
    let dates = [(2024, 8, 31), (2025, 2, 28), (2025, 8, 31)];
    let mut pv = 0.0;
    for (k, &(y, m, d)) in dates.iter().enumerate() {
        let t = (days(y, m, d) - base) as f64 / 365.25;
        let rate = x.get(k).or(x.last()).copied().unwrap_or(0.01);
        pv += jut::math::pow(1.0 + rate, -t) * x[k.saturating_sub(1)];
    }
    pv
}
// tuple struct newtypes with units and operators of two types, consts of newtype
#[derive(Data, Clone, Copy, Debug, PartialEq)]
struct Metres(f64);
#[derive(Data, Clone, Copy, Debug, PartialEq)]
struct Seconds(f64);
#[derive(Data, Clone, Copy, Debug, PartialEq)]
struct Speed(f64);
#[differentiable]
impl Div<Seconds> for Metres {
    type Output = Speed;
    fn div(self, t: Seconds) -> Speed {
        Speed(self.0 / t.0)
    }
}
#[differentiable]
impl Mul<Seconds> for Speed {
    type Output = Metres;
    fn mul(self, t: Seconds) -> Metres {
        Metres(self.0 * t.0)
    }
}
#[differentiable]
impl Add for Metres {
    type Output = Metres;
    fn add(self, o: Metres) -> Metres {
        Metres(self.0 + o.0)
    }
}
#[differentiable]
impl SubAssign for Speed {
    fn sub_assign(&mut self, o: Speed) {
        self.0 -= o.0;
    }
}
const STEP: Seconds = Seconds(0.25);
#[differentiable]
fn units(x: &[f64]) -> f64 {
    let mut v = Metres(x[0]) / Seconds(x[1]);
    let mut at = Metres(0.0);
    for _ in 0..5 {
        at = at + v * STEP;
        v -= Speed(0.1 * v.0);
    }
    let Metres(m) = at;
    m * m + v.0
}
// f32 function with f32 params
#[differentiable]
fn saxpy(a: f32, x: &[f32], y: &mut [f32]) {
    for (y, &x) in y.iter_mut().zip(x) {
        *y = a * x + *y;
    }
}
#[differentiable]
fn narrow(x: &[f64]) -> f64 {
    let xs = [1.5f32, -2.25, 0.125];
    let mut ys = [0.5f32; 3];
    saxpy(3.0, &xs, &mut ys);
    let s: f32 = ys.iter().sum();
    let m = ys.iter().copied().fold(f32::MAX, f32::min);
    x[0] * f64::from(s) + x[1] * (m as f64)
}
// out-parameters of all kinds, &mut of tuple and struct fields
#[differentiable]
fn moments(x: &[f64], mean: &mut f64, out: &mut [f64; 3], seen: &mut usize) -> bool {
    if x.is_empty() {
        *seen = 0;
        return false;
    }
    *mean = x.iter().sum::<f64>() / x.len() as f64;
    for v in x {
        let d = v - *mean;
        let mut p = d;
        for o in out.iter_mut() {
            *o += p;
            p *= d;
        }
        *seen += 1;
    }
    true
}
#[differentiable]
fn outs(x: &[f64]) -> f64 {
    let (mut mean, mut out, mut seen) = (0.0, [0.0; 3], 0);
    if !moments(x, &mut mean, &mut out, &mut seen) {
        return -1.0;
    }
    let again = moments(&x[1..], &mut mean, &mut out, &mut seen);
    mean + out[1] * out[2] / seen as f64 + if again { 1.0 } else { 0.0 }
}

#[test]
fn they_are_as_the_plain_calls_on_every_engine() {
    everywhere! {
        distance_modulus at [0.3, 0.6], [0.3, 0.9], [0.3];
        beta_mean at [3.0, 0.6], [0.3];
        pid at [3.0, 0.6], [0.3];
        sparse at [3.0, 0.6, 1.0, 2.0], [0.3], [-1.0, -9.0];
        dtw at [3.0, 0.6, 1.0, 2.0], [0.3, 0.9, -0.2], [];
        network at [0.3, 0.6, 0.1, 0.2, -0.7, 0.3, -0.2, 0.1, 0.9, 0.8, 0.7, 0.4], [];
        calendar at [0.03, 0.06], [0.03], [];
        units at [3.0, 0.6], [0.3];
        narrow at [3.0, 0.6], [0.3];
        outs at [3.0, 0.6, 1.2, 0.3], [0.3], [];
    }
}

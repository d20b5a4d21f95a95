//! Workshops: springs of a balance, tides, wells, sails, looms and kilns, in the manners of old libraries, of classes and of folds.

use super::agree;
use jut::math::{atan2, cos, exp, log, pow, sin, tanh};
use jut::{Data, differentiable};

// A physicist's port of Fortran 77: a common block, work arrays, an exit by a flag.
#[derive(Data, Clone, Debug, PartialEq)]
struct Common {
    xk: [f64; 6],
    work: [[f64; 6]; 6],
    ierr: i32,
}

#[differentiable]
fn decomp(c: &mut Common, n: usize, ipvt: &mut [usize; 6]) {
    for k in 0..n {
        let mut m = k;
        for i in k + 1..n {
            if c.work[i][k].abs() > c.work[m][k].abs() {
                m = i;
            }
        }
        ipvt[k] = m;
        if c.work[m][k] == 0.0 {
            c.ierr = k as i32 + 1;
            return;
        }
        if m != k {
            c.work.swap(m, k);
            c.xk.swap(m, k);
        }
        for i in k + 1..n {
            let t = c.work[i][k] / c.work[k][k];
            for j in k..n {
                c.work[i][j] -= t * c.work[k][j];
            }
            c.xk[i] -= t * c.xk[k];
        }
    }
}

#[differentiable]
fn seepage(x: &[f64]) -> f64 {
    let n = x.len().min(6);
    let mut c = Common { xk: [0.0; 6], work: [[0.0; 6]; 6], ierr: 0 };
    let mut ipvt = [0usize; 6];
    for i in 0..n {
        c.work[i][(i + 1) % n] += 3.0 + x[i] * x[i];
        c.work[i][i] -= 0.5;
        if i > 0 {
            c.work[i][i - 1] -= x[i - 1];
        }
        c.xk[i] = sin(x[i]) + i as f64;
    }
    decomp(&mut c, n, &mut ipvt);
    if c.ierr != 0 {
        return -1.0;
    }
    for k in (0..n).rev() {
        let mut s = c.xk[k];
        for j in k + 1..n {
            s -= c.work[k][j] * c.xk[j];
        }
        c.xk[k] = s / c.work[k][k];
    }
    c.xk[..n].iter().zip(&ipvt[..n]).map(|(v, p)| v * (1 + p) as f64).sum()
}

// A Haskell programmer: closures that make closures, folds with tuples, composition.
#[differentiable]
fn loom(x: &[f64]) -> f64 {
    let scaled = |k: f64| move |v: f64| k * v;
    let shifted = |b: f64| move |v: f64| v + b;
    let (double, raise) = (scaled(2.0), shifted(0.25));
    let weave = |v: f64| tanh(raise(double(v)));
    let (sum, product, _) = x.iter().fold((0.0, 1.0, 1.0), |(s, p, sign), &v| {
        (s + sign * weave(v), p * (1.0 + weave(v) * weave(v)), -sign)
    });
    let tail = x
        .iter()
        .skip_while(|v| **v < 0.5)
        .scan(1.0, |acc, v| {
            *acc *= v;
            Some(*acc)
        })
        .take_while(|p| *p < 10.0)
        .last()
        .unwrap_or_default();
    sum / product + tail
}

// A game programmer: sails as an enum, with the variants by their bare names.
#[derive(Data, Clone, Copy, Debug, PartialEq)]
enum Sail {
    Furled,
    Jib { area: f64, sheet: f64 },
    Spinnaker(f64),
}

mod deck {
    use super::*;

    #[differentiable]
    pub(super) fn thrust(sail: &Sail, wind: f64) -> f64 {
        use super::Sail::*;
        match *sail {
            Furled => 0.0,
            Jib { area, sheet } if sheet > 0.1 => area * wind * wind * sin(sheet),
            Jib { area, .. } => 0.1 * area * wind,
            Spinnaker(area) => area * tanh(wind) * 2.0,
        }
    }
}

#[differentiable]
fn regatta(x: &[f64]) -> f64 {
    use Sail::*;
    let sails =
        [Jib { area: x[0], sheet: x[1] }, Spinnaker(x[2]), Furled, Jib { area: x[2], sheet: 0.05 }];
    let mut speed = 0.5;
    let mut way = 0.0;
    for (k, wind) in x[3..].iter().enumerate() {
        let force = deck::thrust(&sails[k % sails.len()], *wind - 0.3 * speed);
        speed += 0.2 * (force - 0.1 * speed * speed);
        way += speed * 0.2;
    }
    let bonus = match &sails[0] {
        Jib { area: a, .. } | Spinnaker(a) => 0.01 * a * a,
        Furled => 0.0,
    };
    way + bonus
}

// A quantitative analyst: a two-factor short rate, by a builder, a trait with defaults, `From`.
#[derive(Data, Clone, Copy, Debug, PartialEq, Default)]
struct Factor {
    level: f64,
    reversion: f64,
    vol: f64,
}

impl From<(f64, f64, f64)> for Factor {
    fn from((level, reversion, vol): (f64, f64, f64)) -> Self {
        Factor { level, reversion, vol }
    }
}

#[differentiable]
trait Affine {
    fn reversion(&self) -> f64;
    fn vol(&self) -> f64;
    fn b(&self, t: f64) -> f64 {
        let k = self.reversion();
        if k.abs() < 1e-9 { t } else { (1.0 - exp(-k * t)) / k }
    }
    fn convexity(&self, t: f64) -> f64 {
        0.5 * (self.vol() * self.b(t)).powi(2)
    }
}

#[differentiable]
impl Affine for Factor {
    fn reversion(&self) -> f64 {
        self.reversion
    }
    fn vol(&self) -> f64 {
        self.vol
    }
}

#[differentiable]
fn discount<F: Affine>(factor: &F, level: f64, t: f64) -> f64 {
    exp(-level * factor.b(t) + factor.convexity(t))
}

#[differentiable]
fn swaption_strip(x: &[f64]) -> f64 {
    let fast: Factor = Factor { level: x[0], reversion: x[1], vol: x[2] };
    let slow = Factor { vol: x[3], ..fast };
    let tenors = [0.5, 1.0, 2.0, 5.0, 10.0];
    let curve =
        tenors.map(|t| discount(&fast, fast.level, t) * discount(&slow, 0.5 * slow.level, t));
    let annuity: f64 = tenors.windows(2).zip(&curve[1..]).map(|(t, p)| (t[1] - t[0]) * p).sum();
    let (first, last) = match curve {
        [first, .., last] => (first, last),
    };
    (first - last) / annuity
}

// A Python programmer: NumPy by hand, a lot of small helpers and temporaries.
#[differentiable]
fn outer(a: &[f64], b: &[f64]) -> Vec<Vec<f64>> {
    a.iter().map(|x| b.iter().map(|y| x * y).collect()).collect()
}

#[differentiable]
fn mean_axis0(m: &[Vec<f64>]) -> Vec<f64> {
    let mut out = vec![0.0; m[0].len()];
    for row in m {
        for (o, v) in out.iter_mut().zip(row) {
            *o += v / m.len() as f64;
        }
    }
    out
}

#[differentiable]
fn kiln(x: &[f64]) -> f64 {
    let halves = x.split_at(x.len() / 2);
    let heat = outer(halves.0, halves.1);
    let mean = mean_axis0(&heat);
    let centred: Vec<Vec<f64>> =
        heat.iter().map(|row| row.iter().zip(mean.iter()).map(|(v, m)| v - m).collect()).collect();
    let var: Vec<f64> =
        (0..mean.len()).map(|j| centred.iter().map(|r| r[j].powi(2)).sum::<f64>()).collect();
    let glaze = var.iter().map(|v| log(1.0 + v)).fold(f64::NEG_INFINITY, f64::max);
    let hottest = heat.iter().flatten().copied().fold(f64::MIN, |a, b| if b > a { b } else { a });
    glaze + hottest * 0.1
}

// A student: bisection and recursion, with too many variables.
#[differentiable]
fn simpson_adaptive(f: &dyn Fn(f64) -> f64, a: f64, b: f64, whole: f64, depth: u32) -> f64 {
    let m = (a + b) / 2.0;
    let rule = |lo: f64, hi: f64| (hi - lo) / 6.0 * (f(lo) + 4.0 * f((lo + hi) / 2.0) + f(hi));
    let left = rule(a, m);
    let right = rule(m, b);
    let delta = left + right - whole;
    if depth == 0 || delta.abs() < 1e-4 {
        return left + right + delta / 15.0;
    }
    simpson_adaptive(f, a, m, left, depth - 1) + simpson_adaptive(f, m, b, right, depth - 1)
}

#[differentiable]
fn pendulum_period(x: &[f64]) -> f64 {
    let k = sin(x[0] / 2.0);
    let g = |phi: f64| 1.0 / (1.0 - k * k * sin(phi) * sin(phi)).sqrt();
    let end = std::f64::consts::FRAC_PI_2;
    let quarter = simpson_adaptive(&g, 0.0, end, 0.5 * end, 6);
    4.0 * (x[1] / 9.81).sqrt() * quarter
}

#[test]
fn wells_looms_and_sails() {
    everywhere! {
        seepage at [0.3, 1.2, -0.4, 0.8], [0.5, 0.2, 0.1, 0.9, 1.4, -0.3];
        loom at [0.2, 0.6, 1.4, 0.9, 2.2], [0.1];
        regatta at [2.0, 0.4, 1.5, 1.0, 2.0, 1.5, 2.5, 0.7], [2.0, 0.05, 1.5, 1.0], [1.0];
        swaption_strip at [0.03, 0.4, 0.02, 0.01];
        kiln at [0.4, 1.2, 0.7, 2.0, 0.3, 1.9], [];
        pendulum_period at [1.1, 2.0], [0.4];
    }
}

// An embedded engineer: fixed buffers, bytes of a frame, states by an enum, no allocation.
#[derive(Data, Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Idle,
    Header,
    Body { left: u8 },
    Done,
}

#[differentiable]
impl Phase {
    fn next(self, byte: u8) -> Phase {
        use Phase::*;
        match (self, byte) {
            (Idle, b'$') => Header,
            (Idle, _) => Idle,
            (Header, n) if n.is_ascii_digit() => Body { left: n - b'0' },
            (Header, _) => Idle,
            (Body { left: 0 | 1 }, _) => Done,
            (Body { left }, _) => Body { left: left - 1 },
            (Done, _) => Done,
        }
    }
}

const FRAME: &[u8] = b"xx$4aB7z!";

#[differentiable]
fn telemetry(x: &[f64]) -> f64 {
    let mut phase = Phase::Idle;
    let mut level = x[0];
    for &byte in FRAME {
        let before = phase;
        phase = phase.next(byte);
        if let Phase::Body { left } = before {
            level = if byte.is_ascii_lowercase() {
                level * x[1] + left as f64
            } else if byte.is_ascii_uppercase() {
                level - x[1] * x[1]
            } else {
                level + (byte & 0x0f) as f64 * x[0]
            };
        }
        if matches!(phase, Phase::Done) {
            break;
        }
    }
    level
}

// An author of std: const generics, newtypes with operators, `array::from_fn`.
#[derive(Data, Clone, Copy, Debug, PartialEq)]
struct Series<const N: usize>([f64; N]);

#[differentiable]
impl<const N: usize> std::ops::Mul for Series<N> {
    type Output = Self;
    fn mul(self, rhs: Self) -> Self {
        Self(std::array::from_fn(|k| (0..=k).map(|i| self.0[i] * rhs.0[k - i]).sum()))
    }
}

#[differentiable]
impl Series<5> {
    fn variable(at: f64) -> Self {
        let mut c = [0.0; 5];
        c[0] = at;
        c[1] = 1.0;
        Self(c)
    }
}

#[differentiable]
impl<const N: usize> Series<N> {
    fn exp(self) -> Self {
        let mut out = [0.0; N];
        out[0] = exp(self.0[0]);
        for k in 1..N {
            out[k] = (1..=k).map(|i| i as f64 * self.0[i] * out[k - i]).sum::<f64>() / k as f64;
        }
        Self(out)
    }
}

#[differentiable]
fn taylor(x: &[f64]) -> f64 {
    let t = Series::<5>::variable(x[0]);
    let y = (t * t).exp() * t;
    y.0.iter().rev().fold(0.0, |s, c| s * x[1] + c)
        + atan2(y.0[0], x[1])
        + pow(x[1], 0.5) * cos(x[0])
}

#[test]
fn frames_and_series() {
    everywhere! {
        telemetry at [0.4, 1.3], [1.0];
        taylor at [0.3, 0.2], [];
    }
    agree("telemetry", &[0.5, 0.5], |x| telemetry(x), |x| telemetry::value_and_gradient(x));
}

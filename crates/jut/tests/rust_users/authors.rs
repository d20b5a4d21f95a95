//! Larger functions in the styles of other crates' authors: traits of systems, operators of vectors, filters, trees of prices, machines of states.

use super::agree;
use jut::math::{cos, exp, log, sin};
use jut::{Data, differentiable};
use std::ops::{Add, AddAssign, Div, Mul, Neg, Sub};

#[derive(Data, Clone, Copy, Debug, PartialEq, Default)]
struct V3 {
    x: f64,
    y: f64,
    z: f64,
}
#[differentiable]
impl V3 {
    const ZERO: V3 = V3 { x: 0.0, y: 0.0, z: 0.0 };
    const fn new(x: f64, y: f64, z: f64) -> Self {
        Self { x, y, z }
    }
    fn dot(self, o: V3) -> f64 {
        self.x * o.x + self.y * o.y + self.z * o.z
    }
    fn cross(self, o: Self) -> Self {
        Self::new(
            self.y * o.z - self.z * o.y,
            self.z * o.x - self.x * o.z,
            self.x * o.y - self.y * o.x,
        )
    }
    fn norm(self) -> f64 {
        self.dot(self).sqrt()
    }
    fn normalized(self) -> Option<Self> {
        let n = self.norm();
        if n > 1e-12 { Some(self / n) } else { None }
    }
}
#[differentiable]
impl Add for V3 {
    type Output = V3;
    fn add(self, o: V3) -> V3 {
        V3::new(self.x + o.x, self.y + o.y, self.z + o.z)
    }
}
#[differentiable]
impl Sub for V3 {
    type Output = V3;
    fn sub(self, o: V3) -> V3 {
        V3::new(self.x - o.x, self.y - o.y, self.z - o.z)
    }
}
#[differentiable]
impl Mul<f64> for V3 {
    type Output = V3;
    fn mul(self, s: f64) -> V3 {
        V3::new(self.x * s, self.y * s, self.z * s)
    }
}
#[differentiable]
impl Mul<V3> for f64 {
    type Output = V3;
    fn mul(self, v: V3) -> V3 {
        v * self
    }
}
#[differentiable]
impl Div<f64> for V3 {
    type Output = V3;
    fn div(self, s: f64) -> V3 {
        V3::new(self.x / s, self.y / s, self.z / s)
    }
}
#[differentiable]
impl Neg for V3 {
    type Output = V3;
    fn neg(self) -> V3 {
        V3::new(-self.x, -self.y, -self.z)
    }
}
#[differentiable]
impl AddAssign for V3 {
    fn add_assign(&mut self, o: V3) {
        self.x += o.x;
        self.y += o.y;
        self.z += o.z;
    }
}
#[differentiable]
impl From<[f64; 3]> for V3 {
    fn from(a: [f64; 3]) -> V3 {
        V3 { x: a[0], y: a[1], z: a[2] }
    }
}

// A rigid body by Rodrigues, torque and energy.
#[differentiable]
fn rotate(v: V3, axis: V3, angle: f64) -> V3 {
    let k = match axis.normalized() {
        Some(k) => k,
        None => return v,
    };
    let (s, c) = (sin(angle), cos(angle));
    v * c + k.cross(v) * s + k * (k.dot(v) * (1.0 - c))
}
#[differentiable]
fn nbody_v3(x: &[f64]) -> f64 {
    let n = x.len() / 3;
    let mut pos: Vec<V3> = x.chunks_exact(3).map(|c| V3::new(c[0], c[1], c[2])).collect();
    let mut vel = vec![V3::ZERO; n];
    for _ in 0..4 {
        let mut acc = vec![V3::default(); n];
        for i in 0..n {
            for j in (i + 1)..n {
                let d = pos[j] - pos[i];
                let r2 = d.dot(d) + 0.01;
                let f = d / (r2 * r2.sqrt());
                acc[i] += f;
                acc[j] += -f;
            }
        }
        for (v, a) in vel.iter_mut().zip(&acc) {
            *v += 0.1 * *a;
        }
        for (p, v) in pos.iter_mut().zip(vel.iter()) {
            *p = *p + *v * 0.1;
        }
    }
    let kinetic: f64 = vel.iter().map(|v| 0.5 * v.dot(*v)).sum();
    let centre = pos.iter().fold(V3::ZERO, |a, p| a + *p) / n as f64;
    kinetic + pos.iter().map(|p| (*p - centre).norm()).sum::<f64>()
}
#[differentiable]
fn rodrigues(x: &[f64]) -> f64 {
    let v = V3::from([x[0], x[1], x[2]]);
    let axis = V3::new(x[3], x[4], x[5]);
    let r = rotate(v, axis, x[6]);
    let back = rotate(r, axis, -x[6]);
    let err = back - v;
    r.x * 2.0 + r.y - r.z * r.x + err.dot(err)
}
#[differentiable]
fn counted(x: &[f64]) -> f64 {
    let n = x.len();
    let a = n.saturating_sub(9) + n.wrapping_add(2) + n.abs_diff(7) + n.pow(2) + n.rem_euclid(3);
    let b: i64 = -7i64;
    let c = b.rem_euclid(3) + b.div_euclid(3) + b.abs() + b.signum() + b.pow(2) + (b % 3) + (b / 2);
    let d = n.checked_sub(1).unwrap_or(0) + n.min(2) + n.max(9);
    let e = (x[0] * 10.0) as usize;
    x[0] * a as f64 + x[1] * c as f64 + x[2] * d as f64 + x[3] * e as f64
}
#[differentiable]
fn checked(x: &[f64]) -> f64 {
    let n = x.len();
    let d = n.checked_add(2).unwrap_or(0) + n.checked_mul(2).map_or(1, |v| v + 1);
    x[0] * d as f64
}
#[differentiable]
fn rounded(x: &[f64]) -> f64 {
    let n = x.len();
    let e = n.div_ceil(2) + n.next_multiple_of(3) + n.isqrt() + n.is_power_of_two() as usize;
    x[0] * e as f64
}
#[differentiable]
fn chains(x: &[f64]) -> f64 {
    let a: f64 = x.windows(3).map(|w| w[0] - 2.0 * w[1] + w[2]).map(|d| d * d).sum();
    let b = x.iter().zip(x.iter().skip(1)).map(|(a, b)| a * b).fold(0.0, |s, v| s + v);
    let c: f64 = x.chunks(2).map(|c| c.iter().product::<f64>()).sum();
    let d: f64 = x.iter().rev().step_by(2).enumerate().map(|(i, v)| v / (i + 1) as f64).sum();
    let e: f64 = x
        .iter()
        .scan(1.0, |p, v| {
            *p *= 1.0 + v;
            Some(*p)
        })
        .take_while(|p| *p < 10.0)
        .sum();
    let f: f64 = x.iter().skip_while(|v| **v < 0.2).map(|v| v * v).sum();
    let g: f64 = x.iter().map_while(|v| if *v < 0.9 { Some(v * 3.0) } else { None }).sum();
    let h: f64 = (0..3).flat_map(|k| x.iter().map(move |v| v * k as f64)).sum();
    let i = x.iter().position(|v| *v > 0.3).map_or(0.0, |i| x[i] * i as f64);
    let j =
        x.iter().try_fold(0.0, |s, v| if *v > -5.0 { Some(s + v) } else { None }).unwrap_or(0.0);
    let (lo, hi): (Vec<f64>, Vec<f64>) = x.iter().partition(|v| **v < 0.3);
    let k: f64 = lo.iter().sum::<f64>() * hi.iter().sum::<f64>();
    let (u, v): (Vec<f64>, Vec<f64>) = x.iter().map(|v| (v * 2.0, v * v)).unzip();
    let l: f64 = u.iter().zip(v.iter()).map(|(a, b)| a * b).sum();
    let m = x.iter().last().unwrap() * x.iter().nth(1).unwrap();
    let o = x.iter().cloned().max_by(|a, b| a.total_cmp(b)).unwrap();
    let p = *x.iter().min_by(|a, b| a.partial_cmp(b).unwrap()).unwrap();
    a + b + c + d + e + f + g + h + i + j + k + l + m + o * p
}
#[differentiable]
fn more_chains(x: &[f64]) -> f64 {
    let mean = x.iter().sum::<f64>() / x.len() as f64;
    let var = x.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (x.len() - 1) as f64;
    let ranks: Vec<usize> = {
        let mut idx: Vec<usize> = (0..x.len()).collect();
        idx.sort_unstable_by(|&a, &b| x[a].partial_cmp(&x[b]).unwrap());
        idx
    };
    let weighted: f64 = ranks.iter().enumerate().map(|(r, &i)| (r as f64 + 0.5) * x[i]).sum();
    let mut sorted = x.to_vec();
    sorted.sort_by(|a, b| b.partial_cmp(a).unwrap());
    let median = if sorted.len() % 2 == 0 {
        0.5 * (sorted[sorted.len() / 2 - 1] + sorted[sorted.len() / 2])
    } else {
        sorted[sorted.len() / 2]
    };
    let mad = {
        let mut d: Vec<f64> = x.iter().map(|v| (v - median).abs()).collect();
        d.sort_by(f64::total_cmp);
        d[d.len() / 2]
    };
    var.sqrt() + weighted + median * mad
}
#[differentiable]
fn peeks(x: &[f64]) -> f64 {
    let mut it = x.iter().peekable();
    let mut s = 0.0;
    while let Some(v) = it.next() {
        if let Some(&&w) = it.peek() {
            s += v * w;
        } else {
            s += v * v;
        }
    }
    s
}
#[differentiable]
fn slices(x: &[f64]) -> f64 {
    let (head, tail) = x.split_at(2);
    let first = match x {
        [a, b, ..] => a * b,
        [a] => *a,
        [] => 0.0,
    };
    let mut y = x.to_vec();
    y.swap(0, 1);
    y[2..4].copy_from_slice(&x[0..2]);
    y.iter_mut().enumerate().for_each(|(i, v)| *v *= i as f64 + 1.0);
    for (a, b) in y.iter_mut().zip(x.iter().rev()) {
        *a += b * b;
    }
    let last =
        if let Some((l, rest)) = x.split_last() { l * rest.iter().sum::<f64>() } else { 0.0 };
    let mut z = y.clone();
    z.retain(|v| *v > 0.5);
    z.truncate(3);
    z.dedup();
    let mut w = Vec::with_capacity(4);
    w.extend_from_slice(&z);
    w.insert(0, x[1]);
    w.extend(tail.iter().map(|v| v * 0.5));
    let popped = w.pop().unwrap_or_default();
    let mut a = x[0];
    let mut b = x[1] * 2.0;
    std::mem::swap(&mut a, &mut b);
    let old = std::mem::replace(&mut a, x[2]);
    let tk = std::mem::take(&mut b);
    first
        + last
        + head.iter().sum::<f64>() * popped
        + w.iter().map(|v| v * v).sum::<f64>()
        + a * b
        + old * tk
}
#[differentiable]
fn options(x: &[f64]) -> f64 {
    let a = x.first().copied();
    let b = x.get(1).cloned();
    let s = a.zip(b).map(|(p, q)| p * q).unwrap_or(0.0);
    let t = a.filter(|v| *v > 0.0).and_then(|v| b.map(|w| v / w)).unwrap_or(1.0);
    let u = a.xor(None).or(b).map_or_else(|| 0.0, |v| v * 3.0);
    let v = if let (Some(p), Some(q)) = (a, b) { p - q } else { 0.0 };
    let w = a.is_some_and(|v| v > 0.1) as i32 as f64;
    s + t + u + v * w
}
#[differentiable]
fn bfgs_like(x: &[f64]) -> f64 {
    // a few steps of gradient descent with backtracking on a quadratic, values only
    let f = |p: &[f64]| p.iter().enumerate().map(|(i, v)| (i as f64 + 1.0) * v * v).sum::<f64>();
    let mut p = x.to_vec();
    for _ in 0..3 {
        let g: Vec<f64> = p.iter().enumerate().map(|(i, v)| 2.0 * (i as f64 + 1.0) * v).collect();
        let mut alpha = 1.0;
        let fx = f(&p);
        let gg: f64 = g.iter().map(|v| v * v).sum();
        let mut q: Vec<f64>;
        loop {
            q = p.iter().zip(&g).map(|(a, b)| a - alpha * b).collect();
            if f(&q) <= fx - 1e-4 * alpha * gg || alpha < 1e-8 {
                break;
            }
            alpha *= 0.5;
        }
        p = q;
    }
    f(&p)
}
// tuple struct newtypes & From/Into
#[derive(Data, Clone, Copy, Debug, PartialEq, PartialOrd)]
struct Metres(f64);
#[derive(Data, Clone, Copy, Debug, PartialEq)]
struct Feet(f64);
#[differentiable]
impl From<Feet> for Metres {
    fn from(f: Feet) -> Metres {
        Metres(f.0 * 0.3048)
    }
}
#[differentiable]
fn units(x: &[f64]) -> f64 {
    let m: Metres = Feet(x[0]).into();
    let n = Metres::from(Feet(x[1]));
    let big = if m.0 > n.0 { m } else { n };
    m.0 * n.0 + big.0
}
// HMM forward
#[differentiable]
fn hmm(x: &[f64]) -> f64 {
    let obs = [0usize, 1, 1, 0, 1];
    let sig = |v: f64| 1.0 / (1.0 + exp(-v));
    let a = [[sig(x[0]), 1.0 - sig(x[0])], [1.0 - sig(x[1]), sig(x[1])]];
    let b = [[sig(x[2]), 1.0 - sig(x[2])], [1.0 - sig(x[3]), sig(x[3])]];
    let mut alpha = [0.5 * b[0][obs[0]], 0.5 * b[1][obs[0]]];
    let mut ll = 0.0;
    for &o in obs.iter().skip(1) {
        let c: f64 = alpha.iter().sum();
        ll += log(c);
        alpha = alpha.map(|v| v / c);
        alpha = std::array::from_fn(|j| (0..2).map(|i| alpha[i] * a[i][j]).sum::<f64>() * b[j][o]);
    }
    ll + log(alpha.iter().sum::<f64>())
}
// tokens / RPN machine
#[derive(Data, Clone, Copy, Debug, PartialEq)]
enum Op {
    Push(f64),
    Var(usize),
    Add,
    Mul,
    Sin,
    Neg,
    Dup,
}
#[differentiable]
fn rpn(program: &[Op], x: &[f64]) -> f64 {
    let mut stack: Vec<f64> = Vec::with_capacity(8);
    for op in program {
        match op {
            Op::Push(v) => stack.push(*v),
            Op::Var(i) => stack.push(x[*i]),
            Op::Add => {
                let b = stack.pop().unwrap();
                let a = stack.pop().unwrap();
                stack.push(a + b);
            }
            Op::Mul => {
                let (b, a) = (stack.pop().expect("two"), stack.pop().expect("two"));
                stack.push(a * b);
            }
            Op::Sin => {
                let a = stack.pop().unwrap();
                stack.push(sin(a));
            }
            Op::Neg => {
                if let Some(t) = stack.last_mut() {
                    *t = -*t;
                }
            }
            Op::Dup => {
                let t = *stack.last().unwrap();
                stack.push(t);
            }
        }
    }
    stack.pop().unwrap_or(0.0)
}
#[differentiable]
fn run_rpn(x: &[f64]) -> f64 {
    let p = [
        Op::Var(0),
        Op::Dup,
        Op::Mul,
        Op::Var(1),
        Op::Sin,
        Op::Neg,
        Op::Add,
        Op::Push(0.5),
        Op::Mul,
    ];
    rpn(&p, x)
}
// Matching state machine with guards & ranges
#[derive(Data, Clone, Copy, Debug, PartialEq)]
enum Phase {
    Idle,
    Ramp { rate: f64, since: usize },
    Hold(f64),
}
#[differentiable]
fn controller(x: &[f64]) -> f64 {
    let mut phase = Phase::Idle;
    let mut out = 0.0;
    let mut level = 0.0;
    for (t, &u) in x.iter().enumerate() {
        phase = match phase {
            Phase::Idle if u > 0.5 => Phase::Ramp { rate: u, since: t },
            Phase::Idle => Phase::Idle,
            Phase::Ramp { rate, since } if t - since >= 2 => Phase::Hold(rate * 2.0 + level),
            Phase::Ramp { rate, since } => {
                level += rate;
                Phase::Ramp { rate: rate * 0.9, since }
            }
            Phase::Hold(v) if v > 100.0 => Phase::Idle,
            hold @ Phase::Hold(_) => hold,
        };
        out += match phase {
            Phase::Idle => 0.0,
            Phase::Ramp { rate, .. } => rate * level,
            Phase::Hold(v) => v * u,
        };
        out += match t {
            0 => 0.1 * u,
            1..=2 => 0.2 * u,
            n if n % 2 == 0 => 0.3 * u,
            _ => 0.0,
        };
    }
    out
}
// Simpson adaptive, recursive, closure argument
#[differentiable]
fn simpson(f: &impl Fn(f64) -> f64, a: f64, b: f64, eps: f64, depth: usize) -> f64 {
    let m = 0.5 * (a + b);
    let whole = (b - a) / 6.0 * (f(a) + 4.0 * f(m) + f(b));
    let left = (m - a) / 6.0 * (f(a) + 4.0 * f(0.5 * (a + m)) + f(m));
    let right = (b - m) / 6.0 * (f(m) + 4.0 * f(0.5 * (m + b)) + f(b));
    if depth == 0 || (left + right - whole).abs() < 15.0 * eps {
        return left + right + (left + right - whole) / 15.0;
    }
    simpson(f, a, m, eps / 2.0, depth - 1) + simpson(f, m, b, eps / 2.0, depth - 1)
}
#[differentiable]
fn integral(x: &[f64]) -> f64 {
    let f = |t: f64| exp(-x[0] * t * t) * (1.0 + x[1] * t);
    simpson(&f, 0.0, x[2], 1e-4, 6)
}

#[test]
fn functions_of_other_authors_are_what_they_are_and_have_their_gradients() {
    holds!(nbody_v3 at [0.0, 0.1, 0.2, 1.0, 0.3, -0.4, -0.7, 0.9, 0.5]);
    holds!(rodrigues at [0.3, -0.5, 0.8, 1.0, 0.2, -0.3, 0.7]);
    holds!(counted at [0.33, 0.8, 1.1, 0.7]);
    holds!(checked at [0.3, 0.4]);
    holds!(rounded at [0.3, 0.4, 0.5]);
    holds!(chains at [0.1, 0.35, 0.7, 0.25, 0.5], [0.1, 0.35, 0.7, 0.95, 0.5]);
    holds!(more_chains at [0.1, 0.35, 0.7, 0.95, 0.5], [0.9, 0.35, 0.7, 0.95]);
    holds!(peeks at [0.4], [0.4, 0.6, 0.8]);
    holds!(slices at [0.4, 0.7, 0.9, 1.2, 0.3]);
    holds!(options at [0.4, 0.7], [-0.4]);
    holds!(bfgs_like at [0.3, 0.7, 1.2]);
    holds!(units at [1.0, 2.0]);
    holds!(hmm at [0.3, -0.2, 0.7, 0.1]);
    holds!(run_rpn at [0.7, 0.4]);
    holds!(controller at [0.1, 0.7, 0.3, 0.9, 0.4, 0.6, 0.2]);
    holds!(integral at [0.7, 0.3, 1.5]);
}

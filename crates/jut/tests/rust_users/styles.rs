//! Styles of numerical crates: lengths as parameters, costs as traits, phases, errors, pivots, complex numbers.

use jut::math::{cos, exp, log, sin};
use jut::{Data, differentiable};
use std::ops::*;

// 1. nalgebra style: free functions over const generic arrays, Gram-Schmidt
#[differentiable]
fn dot<const N: usize>(a: &[f64; N], b: &[f64; N]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}
#[differentiable]
fn axpy<const N: usize>(a: f64, x: &[f64; N], y: &mut [f64; N]) {
    for (y, x) in y.iter_mut().zip(x.iter()) {
        *y += a * *x;
    }
}
#[differentiable]
fn gram_schmidt(x: &[f64]) -> f64 {
    let mut basis: Vec<[f64; 3]> = Vec::with_capacity(3);
    for chunk in x.chunks_exact(3) {
        let mut v: [f64; 3] = chunk.try_into().unwrap();
        for b in &basis {
            let c = dot(b, &v);
            axpy(-c, b, &mut v);
        }
        let n = dot(&v, &v).sqrt();
        if n < 1e-9 {
            continue;
        }
        basis.push(v.map(|t| t / n));
    }
    basis.iter().map(|b| b[0] + 2.0 * b[1] * b[2]).sum::<f64>() + basis.len() as f64
}
// 2. argmin style: struct of problem with trait CostFunction and associated consts; line search with closures capturing
#[derive(Data, Clone, Debug, PartialEq)]
struct Problem {
    a: f64,
    b: f64,
    centre: Vec<f64>,
}
#[differentiable]
trait Cost {
    const SCALE: f64;
    fn cost(&self, p: &[f64]) -> f64;
    fn penalty(&self, p: &[f64], w: f64) -> f64 {
        w * Self::SCALE * p.iter().map(|v| v.abs()).sum::<f64>()
    }
}
#[differentiable]
impl Cost for Problem {
    const SCALE: f64 = 0.1;
    fn cost(&self, p: &[f64]) -> f64 {
        p.windows(2).zip(&self.centre).fold(0.0, |acc, (w, c)| {
            let (x, y) = (w[0] - c, w[1]);
            acc + (self.a - x).powi(2) + self.b * (y - x * x).powi(2)
        })
    }
}
#[differentiable]
fn minimised<C: Cost>(problem: &C, start: &[f64], steps: usize) -> f64 {
    let mut p = start.to_vec();
    let mut best = problem.cost(&p);
    let h = 1e-2;
    for k in 0..steps {
        let i = k % p.len();
        let keep = p[i];
        p[i] = keep + h;
        let up = problem.cost(&p);
        if up < best {
            best = up;
            continue;
        }
        p[i] = keep - h;
        match problem.cost(&p) {
            down if down < best => best = down,
            _ => p[i] = keep,
        }
    }
    best + problem.penalty(&p, 2.0)
}
#[differentiable]
fn searched(x: &[f64]) -> f64 {
    let problem = Problem { a: 1.0, b: x[0], centre: vec![0.1; x.len()] };
    minimised(&problem, &x[1..], 5)
}
// 3. state machine with enum state carrying data, mem::replace, matches!, while let with tuple
#[derive(Data, Clone, Copy, Debug, PartialEq)]
enum Phase {
    Coast(f64),
    Burn { thrust: f64, left: f64 },
    Landed,
}
#[differentiable]
impl Phase {
    fn next(self, height: f64, dt: f64) -> Phase {
        match self {
            Phase::Coast(_) if height < 0.0 => Phase::Landed,
            Phase::Coast(t) if t + dt > 0.3 => Phase::Burn { thrust: 12.0, left: 0.4 },
            Phase::Coast(t) => Phase::Coast(t + dt),
            Phase::Burn { left, .. } if left <= dt => Phase::Coast(0.0),
            Phase::Burn { thrust, left } => Phase::Burn { thrust: thrust * 0.98, left: left - dt },
            Phase::Landed => Phase::Landed,
        }
    }
}
#[differentiable]
fn lander(x: &[f64]) -> f64 {
    let &[mut h, mut v, mass, ..] = x else { return f64::NAN };
    let mut phase = Phase::Coast(0.0);
    let mut fuel = 0.0;
    let mut steps = 0u32;
    while !matches!(phase, Phase::Landed) && steps < 40 {
        let a = if let Phase::Burn { thrust, .. } = &phase {
            fuel += 0.1 * thrust;
            thrust / mass
        } else {
            0.0
        } - 9.81;
        v += a * 0.05;
        h += v * 0.05;
        phase = phase.next(h, 0.05);
        steps += 1;
    }
    if phase == Phase::Landed { v * v + fuel } else { h + fuel }
}
// 4. recursion with slices, fft-like even/odd, step_by collect
#[differentiable]
fn haar(x: &[f64]) -> Vec<f64> {
    if x.len() < 2 {
        return x.to_vec();
    }
    let (a, d): (Vec<f64>, Vec<f64>) =
        x.chunks_exact(2).map(|c| ((c[0] + c[1]) * 0.5, (c[0] - c[1]) * 0.5)).unzip();
    let mut out: Vec<f64> = haar(&a);
    out.extend(d);
    out
}
#[differentiable]
fn wavelet(x: &[f64]) -> f64 {
    let n = x.len().next_power_of_two();
    let mut padded = x.to_vec();
    padded.resize(n, 0.25);
    let w = haar(&padded);
    let (even, odd) =
        (w.iter().step_by(2).sum::<f64>(), w.iter().skip(1).step_by(2).product::<f64>());
    even * odd + w.iter().rev().take(2).map(|v| v.powi(3)).sum::<f64>()
}
// 5. Result pipeline with custom error enum and From, ? in helper functions, and_then, ok_or_else
#[derive(Debug, Clone, PartialEq)]
enum FitError {
    Empty,
    Singular { det: f64 },
    Domain(String),
}
impl From<String> for FitError {
    fn from(s: String) -> Self {
        FitError::Domain(s)
    }
}
#[differentiable]
fn logs(x: &[f64]) -> Result<Vec<f64>, FitError> {
    x.iter()
        .map(|&v| {
            if v > 0.0 {
                Ok(log(v))
            } else {
                Err(FitError::Domain("log of what is not positive".to_string()))
            }
        })
        .collect()
}
#[differentiable]
fn line_fit(t: &[f64], y: &[f64]) -> Result<(f64, f64), FitError> {
    let n = t.len();
    if n == 0 {
        return Err(FitError::Empty);
    }
    let (st, sy) = (t.iter().sum::<f64>(), y.iter().sum::<f64>());
    let (stt, sty) = t.iter().zip(y).fold((0.0, 0.0), |(a, b), (t, y)| (a + t * t, b + t * y));
    let det = n as f64 * stt - st * st;
    if det.abs() < 1e-12 {
        return Err(FitError::Singular { det });
    }
    Ok(((n as f64 * sty - st * sy) / det, (sy * stt - st * sty) / det))
}
#[differentiable]
fn power_law(x: &[f64]) -> Result<f64, FitError> {
    let y = logs(x)?;
    let t: Vec<f64> = (0..x.len()).map(|i| log(i as f64 + 1.0)).collect();
    let (slope, offset) = line_fit(&t, &y)?;
    Ok(exp(offset) * slope)
}
#[differentiable]
fn fitted_surely(x: &[f64]) -> f64 {
    power_law(x).expect("a fit")
}
// 6. matrix as Vec<Vec<f64>>: LU with partial pivot and swap of rows, permutation vector
#[differentiable]
fn lu_solve(x: &[f64]) -> f64 {
    let n = 3;
    let mut a: Vec<Vec<f64>> = (0..n)
        .map(|i| {
            (0..n).map(|j| x[(i * n + j) % x.len()] + if i == j { 2.0 } else { 0.0 }).collect()
        })
        .collect();
    let mut b: Vec<f64> = x.iter().take(n).cloned().collect();
    let mut perm: Vec<usize> = (0..n).collect();
    for k in 0..n {
        let mut p = k;
        for i in k + 1..n {
            if a[i][k].abs() > a[p][k].abs() {
                p = i;
            }
        }
        a.swap(k, p);
        perm.swap(k, p);
        b.swap(k, p);
        for i in (k + 1)..n {
            a[i][k] /= a[k][k];
            let f = a[i][k];
            for j in (k + 1)..n {
                let s = a[k][j];
                a[i][j] -= f * s;
            }
            b[i] -= f * b[k];
        }
    }
    for i in (0..n).rev() {
        let s: f64 = (i + 1..n).map(|j| a[i][j] * b[j]).sum();
        b[i] = (b[i] - s) / a[i][i];
    }
    b.iter().zip(perm.iter()).map(|(v, &p)| v * (p + 1) as f64).sum()
}
// 7. own complex with operators by reference, AddAssign, Mul, Neg, From<f64>
#[derive(Data, Clone, Copy, Debug, PartialEq)]
struct C64 {
    re: f64,
    im: f64,
}
#[differentiable]
impl C64 {
    fn conj(&self) -> C64 {
        C64 { im: -self.im, ..*self }
    }
    fn norm_sqr(&self) -> f64 {
        self.re * self.re + self.im * self.im
    }
    fn cis(t: f64) -> C64 {
        C64 { re: cos(t), im: sin(t) }
    }
}
#[differentiable]
impl<'a> Mul<&'a C64> for &'a C64 {
    type Output = C64;
    fn mul(self, o: &C64) -> C64 {
        C64 { re: self.re * o.re - self.im * o.im, im: self.re * o.im + self.im * o.re }
    }
}
#[differentiable]
impl Sub for C64 {
    type Output = Self;
    fn sub(self, o: Self) -> Self {
        Self { re: self.re - o.re, im: self.im - o.im }
    }
}
#[differentiable]
impl AddAssign for C64 {
    fn add_assign(&mut self, o: Self) {
        self.re += o.re;
        self.im += o.im;
    }
}
#[differentiable]
impl MulAssign<f64> for C64 {
    fn mul_assign(&mut self, k: f64) {
        self.re *= k;
        self.im *= k;
    }
}
#[differentiable]
impl From<f64> for C64 {
    fn from(re: f64) -> C64 {
        C64 { re, im: 0.0 }
    }
}
#[differentiable]
fn dft(x: &[f64]) -> f64 {
    let n = x.len();
    let mut spectrum = vec![C64::from(0.0); n];
    for (k, s) in spectrum.iter_mut().enumerate() {
        for (t, &v) in x.iter().enumerate() {
            let mut w = C64::cis(-std::f64::consts::TAU * (k * t) as f64 / n as f64);
            w *= v;
            *s += w;
        }
    }
    let q = &spectrum[1 % n] * &spectrum[0].conj();
    let r: C64 = q - C64::from(x[0]);
    r.norm_sqr() + spectrum.iter().skip(1).map(C64::norm_sqr).fold(0.0, f64::max)
}
// 8. chained comparisons, integers of all kinds, checked arithmetic, casts, shifts
#[differentiable]
fn bits(x: &[f64]) -> f64 {
    let mut acc = 0.0;
    let n = x.len() as u32;
    for i in 0..n {
        let gray = i ^ (i >> 1);
        let ones = gray.count_ones() as i32;
        let sign = if ones % 2 == 0 { 1 } else { -1 };
        let k: usize = (gray as usize).min(x.len() - 1);
        let m = (i as i64 - 2).rem_euclid(n as i64) as usize;
        let c = i.checked_sub(2).map_or(0.5, |d| d as f64);
        acc += sign as f64 * x[k] * x[m] + c;
    }
    acc
}
// 9. early-exit search with labelled loops and break values
#[differentiable]
fn pairs(x: &[f64]) -> f64 {
    let found = 'outer: {
        for (i, a) in x.iter().enumerate() {
            for b in &x[i + 1..] {
                if a * b < 0.0 {
                    break 'outer Some((a - b, i));
                }
            }
        }
        None
    };
    let Some((gap, at)) = found else { return x.iter().sum() };
    let mut count = 0;
    let r = 'rows: loop {
        for v in x.iter().skip(at) {
            count += 1;
            if count > 4 {
                break 'rows v * gap;
            }
            if *v > 10.0 {
                continue 'rows;
            }
        }
        if count == 0 {
            break 0.0;
        }
    };
    r + count as f64
}
// 10. group by adjacent runs with indices and sub-slices, windows with position, rposition, split_first
#[differentiable]
fn runs(x: &[f64]) -> f64 {
    let mut rest = x;
    let mut total = 0.0;
    while let Some((first, tail)) = rest.split_first() {
        let n = tail.iter().position(|v| (v - first).abs() > 1.0).unwrap_or(tail.len());
        let (run, later) = tail.split_at(n);
        let mean = (first + run.iter().sum::<f64>()) / (n + 1) as f64;
        total += mean * mean;
        rest = later;
    }
    total + x.iter().rposition(|v| *v < 1.0).map_or(0.0, |i| x[i])
}
// 11. 3D grid in flat vec with closures for index, swap buffers, ghost cells
#[differentiable]
fn heat(x: &[f64]) -> f64 {
    const NX: usize = 4;
    const NY: usize = 3;
    let idx = |i: usize, j: usize| j * NX + i;
    let mut u = [0.0; NX * NY];
    for (k, c) in u.iter_mut().enumerate() {
        *c = x[k % x.len()];
    }
    let mut next = u;
    for _step in 0..3 {
        for j in 1..NY - 1 {
            for i in 1..NX - 1 {
                let lap = u[idx(i - 1, j)] + u[idx(i + 1, j)] + u[idx(i, j - 1)] + u[idx(i, j + 1)]
                    - 4.0 * u[idx(i, j)];
                next[idx(i, j)] = u[idx(i, j)] + 0.1 * lap * (1.0 + u[idx(i, j)]);
            }
        }
        (u, next) = (next, u);
    }
    u.iter().enumerate().filter(|(k, _)| k % 2 == 1).map(|(_, v)| v * v).sum()
}
// 12. f32 throughout
#[differentiable]
fn kahan(x: &[f64]) -> f64 {
    let (mut sum, mut c) = (0.0_f64, 0.0_f64);
    for &v in x {
        let y = v - c;
        let t = sum + y;
        c = (t - sum) - y;
        sum = t;
    }
    let x32: [f32; 3] = [x[0] as f32, 2.5, -1.0];
    let narrow: f64 = x32.iter().map(|v| f64::from(*v)).sum();
    sum * 1.5 + narrow * 0.0 + (sum as f32 as f64 - sum).abs().min(0.0)
}
// 13. interpolation table of tuples sorted, partition_point, clamp
#[differentiable]
fn table2(x: &[f64]) -> f64 {
    let mut points: Vec<(f64, f64)> =
        x.iter().enumerate().map(|(i, &y)| (((i * 7) % 5) as f64 + 0.1 * i as f64, y)).collect();
    points.sort_by(|a, b| a.0.partial_cmp(&b.0).unwrap());
    let at = |q: f64| -> f64 {
        let k = points.partition_point(|p| p.0 < q).clamp(1, points.len() - 1);
        let ((x0, y0), (x1, y1)) = (points[k - 1], points[k]);
        y0 + (y1 - y0) * (q - x0) / (x1 - x0)
    };
    at(0.5) * at(2.25) + at(-1.0)
}
// 14. nested Option/struct, if let chains else if let
#[derive(Data, Clone, Copy, Debug, PartialEq)]
struct Limits {
    low: Option<f64>,
    high: Option<f64>,
}
#[differentiable]
impl Limits {
    fn apply(&self, v: f64) -> f64 {
        if let Some(lo) = self.low
            && v < lo
        {
            lo + 0.1 * (v - lo)
        } else if let Some(hi) = self.high {
            if v > hi {
                return hi + 0.1 * (v - hi);
            }
            v
        } else {
            v
        }
    }
    fn both(&self) -> Option<(f64, f64)> {
        self.low.zip(self.high)
    }
}
#[differentiable]
fn limited(x: &[f64]) -> f64 {
    let l = Limits { low: Some(x[0]), high: (x.len() > 2).then(|| x[1]) };
    let width = l.both().map(|(a, b)| b - a).unwrap_or(1.0);
    x.iter().map(|&v| l.apply(v)).map(|v| v * v).sum::<f64>() * width
}

#[test]
fn they_are_as_the_plain_calls_on_every_engine() {
    everywhere! {
        gram_schmidt at [1.0, 0.3, 0.2, 0.4, 1.2, 0.1], [];
        searched at [10.0, 0.3, 0.2, 0.4], [1.0];
        lander at [5.0, -1.0, 1.0], [0.4, -3.0, 1.1], [1.0];
        wavelet at [5.0, -1.0, 1.0], [0.4, -3.0, 1.1, 0.3], [1.0];
        fitted_surely at [5.0, 1.5, 1.0], [0.4, -3.0, 1.1, 0.3], [1.0], [];
        lu_solve at [5.0, 1.5, 1.0, 0.4, 0.2, -0.3, 0.7], [0.1], [];
        dft at [5.0, 1.5, 1.0, 0.4], [0.5], [];
        bits at [5.0, 1.5, 1.0, 0.4, 0.3], [0.5], [];
        pairs at [5.0, 1.5, -1.0, 0.4, 0.3], [0.5], [], [12.0, -1.0];
        runs at [5.0, 5.5, -1.0, 0.4, 0.3], [0.5], [];
        heat at [5.0, 5.5, -1.0, 0.4, 0.3], [0.5], [];
        kahan at [5.0, 5.5, -1.0, 0.4, 0.3], [0.5], [];
        table2 at [5.0, 5.5, -1.0, 0.4, 0.3], [0.5], [];
        limited at [0.5, 1.5, -1.0, 2.4, 0.8], [0.5, 0.7], [];
    }
}

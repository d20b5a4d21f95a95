//! Functions of equations in space, light, chemistry, learning, control and pictures, with lists in lists, parts of lists and constants as lengths.

use jut::math::{cos, exp, log, sin};
use jut::{Data, differentiable};
use std::ops::{Add, Mul};

// Equations in space.

/// The residual of Poisson's equation in the plane, on a grid that is one list.
#[differentiable]
fn poisson(x: &[f64]) -> f64 {
    const N: usize = 4;
    let at = |i: usize, j: usize| -> f64 {
        if i == 0 || j == 0 || i > N || j > N { 0.0 } else { x[(i - 1) * N + (j - 1)] }
    };
    let h2 = (1.0 / (N + 1) as f64).powi(2);
    let mut sum = 0.0;
    for i in 1..=N {
        for j in 1..=N {
            let lap = at(i + 1, j) + at(i - 1, j) + at(i, j + 1) + at(i, j - 1) - 4.0 * at(i, j);
            let r = lap / h2 + 1.0;
            sum += r * r;
        }
    }
    (sum / (N * N) as f64).sqrt()
}

/// A row by windows, its ends by hand, two buffers that are swapped.
#[differentiable]
fn heat(x: &[f64]) -> f64 {
    let mut now = x.to_vec();
    let mut next = vec![0.0; x.len()];
    for _ in 0..5 {
        for (cell, w) in next[1..].iter_mut().zip(now.windows(3)) {
            *cell = w[1] + 0.2 * (w[0] - 2.0 * w[1] + w[2]);
        }
        next[0] = now[0];
        *next.last_mut().unwrap() = now[now.len() - 1];
        std::mem::swap(&mut now, &mut next);
    }
    now.iter().map(|v| v * v).sum::<f64>()
}

/// Burgers' equation with a limiter.
#[differentiable]
fn burgers(x: &[f64]) -> f64 {
    fn minmod(a: f64, b: f64) -> f64 {
        if a * b <= 0.0 {
            0.0
        } else if a.abs() < b.abs() {
            a
        } else {
            b
        }
    }
    let n = x.len();
    let mut u = x.to_vec();
    for _step in 0..4 {
        let slope: Vec<f64> =
            (0..n).map(|i| minmod(u[i] - u[(i + n - 1) % n], u[(i + 1) % n] - u[i])).collect();
        let flux: Vec<f64> = (0..n)
            .map(|i| {
                let left = u[i] + 0.5 * slope[i];
                let right = u[(i + 1) % n] - 0.5 * slope[(i + 1) % n];
                let top = left.max(0.0);
                let low = right.min(0.0);
                (0.5 * top * top).max(0.5 * low * low)
            })
            .collect();
        u = u
            .iter()
            .enumerate()
            .map(|(i, v)| v - 0.1 * (flux[i] - flux[if i == 0 { n - 1 } else { i - 1 }]))
            .collect();
    }
    u.iter().fold(0.0, |s, v| v.mul_add(*v, s))
}

/// Waves on a grid of rows, by three layers.
#[differentiable]
fn waves(x: &[f64]) -> f64 {
    let rows: Vec<Vec<f64>> = x.chunks(3).map(<[f64]>::to_vec).collect();
    let (m, n) = (rows.len(), rows[0].len());
    let mut old = rows.clone();
    let mut now = rows;
    for _ in 0..3 {
        let mut new = vec![vec![0.0; n]; m];
        for i in 0..m {
            for j in 0..n {
                let mut lap = -4.0 * now[i][j];
                for (di, dj) in [(0_i64, 1_i64), (1, 0), (0, -1), (-1, 0)] {
                    let (a, b) = (i as i64 + di, j as i64 + dj);
                    if a < 0 || b < 0 || a >= m as i64 || b >= n as i64 {
                        continue;
                    }
                    lap += now[a as usize][b as usize];
                }
                new[i][j] = 2.0 * now[i][j] - old[i][j] + 0.1 * lap;
            }
        }
        old = now;
        now = new;
    }
    now.iter().zip(&old).flat_map(|(a, b)| a.iter().zip(b)).map(|(a, b)| (a - b).powi(2)).sum()
}

// Light.

#[derive(Data, Clone, Copy, Debug, PartialEq)]
struct Complex {
    re: f64,
    im: f64,
}

#[differentiable]
impl Add for Complex {
    type Output = Complex;
    fn add(self, o: Complex) -> Complex {
        Complex { re: self.re + o.re, im: self.im + o.im }
    }
}

#[differentiable]
impl Mul for Complex {
    type Output = Complex;
    fn mul(self, o: Complex) -> Complex {
        Complex { re: self.re * o.re - self.im * o.im, im: self.re * o.im + self.im * o.re }
    }
}

#[differentiable]
impl Complex {
    const ONE: Complex = Complex { re: 1.0, im: 0.0 };
    fn cis(phi: f64) -> Complex {
        Complex { re: cos(phi), im: sin(phi) }
    }
    fn norm_sqr(&self) -> f64 {
        self.re * self.re + self.im * self.im
    }
    fn scaled(self, s: f64) -> Self {
        Complex { re: self.re * s, im: self.im * s }
    }
}

/// Layers of a mirror: thickness and index in turn.
#[differentiable]
fn mirror(x: &[f64]) -> f64 {
    let wave = 2.0 * std::f64::consts::PI / 0.55;
    let mut m =
        [[Complex::ONE, Complex::ONE.scaled(0.0)], [Complex::ONE.scaled(0.0), Complex::ONE]];
    for layer in x.chunks_exact(2) {
        let (d, n) = (layer[0], layer[1]);
        let delta = wave * n * d;
        let i = Complex { re: 0.0, im: 1.0 };
        let own = [
            [Complex::ONE.scaled(cos(delta)), i.scaled(sin(delta) / n)],
            [i.scaled(n * sin(delta)), Complex::ONE.scaled(cos(delta))],
        ];
        let mut product = m;
        for r in 0..2 {
            for c in 0..2 {
                product[r][c] = m[r][0] * own[0][c] + m[r][1] * own[1][c];
            }
        }
        m = product;
    }
    let b = m[0][0] + m[0][1].scaled(1.5);
    let c = m[1][0] + m[1][1].scaled(1.5);
    let (sum, difference) = (b + c, b + c.scaled(-1.0));
    difference.norm_sqr() / sum.norm_sqr()
}

/// Slits.
#[differentiable]
fn slits(x: &[f64]) -> f64 {
    let (angles, places) = x.split_at(2);
    let amplitude = |angle: &f64| {
        places
            .iter()
            .map(|p| Complex::cis(10.0 * p * sin(*angle)))
            .fold(Complex { re: 0.0, im: 0.0 }, |a, b| a + b)
    };
    angles.iter().map(amplitude).map(|a| a.norm_sqr()).sum::<f64>() / places.len() as f64
}

/// A ray through surfaces by Snell's law; none gets through when it is reflected.
#[differentiable]
fn refracted(height: f64, angle: f64, surfaces: &[(f64, f64)]) -> Option<f64> {
    let (mut y, mut s) = (height, sin(angle));
    let mut index = 1.0;
    for &(distance, next) in surfaces {
        let c2 = 1.0 - s * s;
        if c2 <= 0.0 {
            return None;
        }
        y += distance * s / c2.sqrt();
        s *= index / next;
        index = next;
        if s.abs() >= 1.0 {
            return None;
        }
    }
    Some(y)
}

#[differentiable]
fn lens(x: &[f64]) -> f64 {
    let surfaces: Vec<(f64, f64)> = x[2..].chunks(2).map(|c| (c[0], c[1])).collect();
    match refracted(x[0], x[1], &surfaces) {
        Some(y) if y > 0.0 => y * y,
        Some(y) => -y,
        None => 100.0 * x[1],
    }
}

// Chemistry.

const ORDERS: [[i32; 3]; 2] = [[1, 0, 0], [0, 2, 1]];
const CHANGES: [[f64; 3]; 2] = [[-1.0, 1.0, 0.0], [1.0, -2.0, 1.0]];

#[differentiable]
fn kinetics(x: &[f64]) -> f64 {
    let (k, c0) = x.split_at(2);
    let mut c = [c0[0], c0[1], c0[2]];
    for _ in 0..10 {
        let rates: [f64; 2] = std::array::from_fn(|r| {
            k[r] * c.iter().zip(ORDERS[r].iter()).map(|(c, &n)| c.powi(n)).product::<f64>()
        });
        for (species, c) in c.iter_mut().enumerate() {
            *c += 0.05
                * rates.iter().zip(&CHANGES).map(|(r, change)| r * change[species]).sum::<f64>();
            *c = c.max(0.0);
        }
    }
    c[2] + 0.5 * c[0]
}

#[differentiable]
fn equilibrium(x: &[f64]) -> f64 {
    let [total, ka, kw] = *x else { return -1.0 };
    let charge = |h: f64| h - kw / h - total * ka / (ka + h);
    let (mut lo, mut hi) = (1e-3, 10.0);
    for _ in 0..20 {
        let mid = 0.5 * (lo + hi);
        if charge(mid).is_sign_negative() { lo = mid } else { hi = mid }
    }
    let mut h = 0.5 * (lo + hi);
    for _ in 0..3 {
        let slope = 1.0 + kw / (h * h) + total * ka / (ka + h).powi(2);
        h -= charge(h) / slope;
    }
    -log(h) / std::f64::consts::LN_10
}

#[differentiable]
fn antoine<const N: usize>(a: &[[f64; 3]; N], x: &[f64; N], t: f64) -> [f64; N] {
    let mut p = [0.0; N];
    for (i, (row, share)) in a.iter().zip(x).enumerate() {
        let &[a, b, c] = row;
        p[i] = share * exp(a - b / (t + c));
    }
    p
}

#[differentiable]
fn vapour(x: &[f64]) -> f64 {
    let table = [[4.0, 1.2, x[0]], [3.5, 1.0, x[1]], [5.0, 2.0, 0.5]];
    let parts = antoine(&table, &[0.2, 0.3, 0.5], x[2]);
    let total: f64 = parts.iter().sum();
    parts.iter().map(|p| p / total).map(|y| -y * log(y)).sum()
}

#[test]
fn equations_in_space() {
    everywhere! {
        poisson at [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6];
        heat at [1.0, 0.5, -0.5, 2.0, 1.5], [1.0, 2.0, 3.0], [];
        burgers at [1.0, 0.5, -0.5, 2.0, 1.5, 0.25];
        waves at [1.0, 0.5, -0.5, 2.0, 1.5, 0.25];
    }
}

#[test]
fn light() {
    everywhere! {
        mirror at [0.1, 1.38, 0.07, 2.3], [];
        slits at [0.1, 0.2, 0.5, 1.0, 1.5];
        lens at [0.1, 0.2, 0.5, 1.5, 0.3, 1.0], [-0.9, 0.2, 0.5, 1.5, 0.3, 1.0], [0.1, 1.2, 0.5, 1.5, 0.3, 0.5];
    }
}

#[test]
fn chemistry() {
    everywhere! {
        kinetics at [0.5, 0.25, 1.0, 0.5, 0.1];
        equilibrium at [1.0, 0.5, 0.01], [1.0];
        vapour at [0.5, 0.25, 1.0];
    }
}

//! Factors, spectra and stiff equations, and arms: rotations until a matrix has no more beside its diagonal, transforms by halves, implicit steps.

use jut::math::{atan2, cos, exp, log, sin};
use jut::{Data, differentiable};

type Matrix<const M: usize, const N: usize> = [[f64; N]; M];

/// Singular values, by rotations of columns.
#[differentiable]
fn singular_values<const M: usize, const N: usize>(mut a: [[f64; N]; M]) -> [f64; N] {
    for _sweep in 0..12 {
        let mut off = 0.0_f64;
        for p in 0..N - 1 {
            for q in p + 1..N {
                let (mut alpha, mut beta, mut gamma) = (0.0, 0.0, 0.0);
                for row in a.iter() {
                    alpha += row[p] * row[p];
                    beta += row[q] * row[q];
                    gamma += row[p] * row[q];
                }
                off = off.max(gamma.abs());
                if gamma.abs() < 1e-15 {
                    continue;
                }
                let zeta = (beta - alpha) / (2.0 * gamma);
                let t = zeta.signum() / (zeta.abs() + (1.0 + zeta * zeta).sqrt());
                let c = 1.0 / (1.0 + t * t).sqrt();
                let s = c * t;
                for row in a.iter_mut() {
                    let (u, v) = (row[p], row[q]);
                    row[p] = c * u - s * v;
                    row[q] = s * u + c * v;
                }
            }
        }
        if off < 1e-14 {
            break;
        }
    }
    let mut sigma = [0.0; N];
    for (j, s) in sigma.iter_mut().enumerate() {
        *s = a.iter().map(|row| row[j] * row[j]).sum::<f64>().sqrt();
    }
    sigma.sort_by(|x, y| y.partial_cmp(x).unwrap());
    sigma
}

#[differentiable]
fn condition(x: &[f64]) -> f64 {
    let a: Matrix<3, 2> = [[x[0], x[1]], [x[2], x[3]], [x[4], x[5]]];
    let [largest, least] = singular_values(a);
    log(largest / least) + 0.1 * (largest + least)
}

/// The slowest of all ways to a spectrum: powers, and what is left.
#[differentiable]
fn dominant(a: &[Vec<f64>], tol: f64) -> (f64, Vec<f64>) {
    let n = a.len();
    let mut v = vec![1.0 / (n as f64).sqrt(); n];
    let mut lambda = 0.0;
    let mut rounds = 0usize;
    while rounds < 400 {
        let w: Vec<f64> =
            a.iter().map(|row| row.iter().zip(&v).map(|(p, q)| p * q).sum()).collect();
        let next: f64 = w.iter().zip(&v).map(|(p, q)| p * q).sum();
        let norm = w.iter().fold(0.0, |s, p| s + p * p).sqrt();
        v = w.into_iter().map(|p| p / norm).collect();
        let done = (next - lambda).abs() < tol;
        lambda = next;
        rounds += 1;
        if done {
            break;
        }
    }
    (lambda, v)
}

#[differentiable]
fn deflated(x: &[f64]) -> f64 {
    let n = 3;
    let mut a = vec![vec![0.0; n]; n];
    let mut entries = x.iter();
    for i in 0..n {
        for j in i..n {
            if let Some(&e) = entries.next() {
                a[i][j] = e;
                a[j][i] = e;
            }
        }
    }
    let mut spectrum = Vec::new();
    for _ in 0..2 {
        let (lambda, v) = dominant(&a, 1e-15);
        for (i, row) in a.iter_mut().enumerate() {
            for (j, e) in row.iter_mut().enumerate() {
                *e -= lambda * v[i] * v[j];
            }
        }
        spectrum.push(lambda);
    }
    spectrum[0] - 0.5 * spectrum[1]
}

/// Fourier's transform by halves.
#[derive(Data, Clone, Copy, Debug, PartialEq)]
struct C64(f64, f64);

#[differentiable]
impl std::ops::Add for C64 {
    type Output = C64;
    fn add(self, C64(re, im): C64) -> C64 {
        C64(self.0 + re, self.1 + im)
    }
}

#[differentiable]
impl std::ops::Sub for C64 {
    type Output = C64;
    fn sub(self, other: C64) -> C64 {
        C64(self.0 - other.0, self.1 - other.1)
    }
}

#[differentiable]
impl std::ops::Mul for C64 {
    type Output = C64;
    fn mul(self, other: C64) -> C64 {
        C64(self.0 * other.0 - self.1 * other.1, self.0 * other.1 + self.1 * other.0)
    }
}

#[differentiable]
fn fft_by_halves(x: &[C64]) -> Vec<C64> {
    let n = x.len();
    if n <= 1 {
        return x.to_vec();
    }
    let even: Vec<C64> = x.iter().step_by(2).copied().collect();
    let odd: Vec<C64> = x.iter().skip(1).step_by(2).copied().collect();
    let (e, o) = (fft_by_halves(&even), fft_by_halves(&odd));
    let turned: Vec<C64> = o
        .iter()
        .enumerate()
        .map(|(k, &z)| {
            let angle = -std::f64::consts::TAU * k as f64 / n as f64;
            C64(cos(angle), sin(angle)) * z
        })
        .collect();
    let mut out: Vec<C64> = e.iter().zip(&turned).map(|(&a, &b)| a + b).collect();
    out.extend(e.iter().zip(&turned).map(|(&a, &b)| a - b));
    out
}

#[differentiable]
fn roughness(x: &[f64]) -> f64 {
    let n = x.len().next_power_of_two();
    let mut padded: Vec<C64> = x.iter().map(|&v| C64(v, 0.0)).collect();
    padded.resize(n, C64(0.0, 0.0));
    fft_by_halves(&padded)
        .iter()
        .take(n / 2 + 1)
        .enumerate()
        .map(|(k, C64(re, im))| k as f64 * (re * re + im * im))
        .sum()
}

/// Lanczos, and how many eigenvalues are below a bound, by Sturm.
#[differentiable]
fn lanczos(diagonal: &[f64], coupling: f64, steps: usize) -> (Vec<f64>, Vec<f64>) {
    let n = diagonal.len();
    let apply = |v: &[f64]| -> Vec<f64> {
        (0..n)
            .map(|i| {
                let left = if i > 0 { v[i - 1] } else { 0.0 };
                let right = v.get(i + 1).copied().unwrap_or(0.0);
                diagonal[i] * v[i] + coupling * (left + right)
            })
            .collect()
    };
    let mut basis: Vec<Vec<f64>> = vec![vec![1.0 / (n as f64).sqrt(); n]];
    let (mut alphas, mut betas) = (vec![], vec![]);
    for k in 0..steps {
        let q = basis[k].clone();
        let mut w = apply(&q);
        let alpha: f64 = w.iter().zip(&q).map(|(a, b)| a * b).sum();
        alphas.push(alpha);
        for other in &basis {
            let overlap: f64 = w.iter().zip(other).map(|(a, b)| a * b).sum();
            w.iter_mut().zip(other).for_each(|(a, b)| *a -= overlap * b);
        }
        let beta = w.iter().map(|a| a * a).sum::<f64>().sqrt();
        if k + 1 == steps || beta < 1e-12 {
            break;
        }
        betas.push(beta);
        basis.push(w.into_iter().map(|a| a / beta).collect());
    }
    (alphas, betas)
}

#[differentiable]
fn ground_state(x: &[f64]) -> f64 {
    let (coupling, diagonal) = x.split_first().unwrap();
    let (alphas, betas) = lanczos(diagonal, *coupling, 3.min(diagonal.len()));
    let characteristic = |e: f64| {
        let (mut before, mut now) = (1.0, alphas[0] - e);
        for (a, b) in alphas[1..].iter().zip(&betas) {
            (before, now) = (now, (a - e) * now - b * b * before);
        }
        now
    };
    let mut e = alphas.iter().cloned().fold(f64::INFINITY, f64::min)
        - betas.iter().map(|b| b.abs()).sum::<f64>()
        - 1.0;
    for _ in 0..60 {
        let slope = (characteristic(e + 1e-6) - characteristic(e - 1e-6)) / 2e-6;
        let step = characteristic(e) / slope;
        e -= step;
        if step.abs() < 1e-12 {
            break;
        }
    }
    e
}

/// Stiff equations, by implicit steps with Newton inside.
#[derive(Data, Clone, Copy, Debug, PartialEq)]
struct VanDerPol {
    mu: f64,
}

#[differentiable]
impl VanDerPol {
    fn rhs(&self, &[u, v]: &[f64; 2]) -> [f64; 2] {
        [v, self.mu * (1.0 - u * u) * v - u]
    }
    fn jacobian(&self, &[u, v]: &[f64; 2]) -> [[f64; 2]; 2] {
        [[0.0, 1.0], [-2.0 * self.mu * u * v - 1.0, self.mu * (1.0 - u * u)]]
    }
}

#[differentiable]
fn solve2([[a, b], [c, d]]: [[f64; 2]; 2], [p, q]: [f64; 2]) -> [f64; 2] {
    let det = a * d - b * c;
    [(d * p - b * q) / det, (a * q - c * p) / det]
}

#[differentiable]
fn stiff_steps(x: &[f64]) -> f64 {
    let system = VanDerPol { mu: x[0] };
    let h = 0.05;
    let mut history = vec![[x[1], x[2]]];
    while history.len() < 12 {
        let y = *history.last().unwrap();
        // The first step is Euler's; then those of two steps back.
        let (base, weight) = if history.len() < 2 {
            (y, 1.0)
        } else {
            let older = history[history.len() - 2];
            let mut base = [0.0; 2];
            for ((b, now), old) in base.iter_mut().zip(y).zip(older) {
                *b = (4.0 * now - old) / 3.0;
            }
            (base, 2.0 / 3.0)
        };
        let mut next = y;
        'newton: for _ in 0..10 {
            let f = system.rhs(&next);
            let residual: [f64; 2] = std::array::from_fn(|k| next[k] - base[k] - weight * h * f[k]);
            let mut m = system.jacobian(&next);
            for (i, row) in m.iter_mut().enumerate() {
                for (j, e) in row.iter_mut().enumerate() {
                    *e = f64::from(u8::from(i == j)) - weight * h * *e;
                }
            }
            let step = solve2(m, residual);
            next.iter_mut().zip(step).for_each(|(n, s)| *n -= s);
            if step.iter().all(|s| s.abs() < 1e-14) {
                break 'newton;
            }
        }
        history.push(next);
    }
    history.iter().map(|[u, v]| u * u + 0.1 * v).sum::<f64>() * h
}

/// Integrals to a line of its ends, by sums that are sharpened in a table.
#[differentiable]
fn romberg(f: &dyn Fn(f64) -> f64, a: f64, b: f64, levels: usize) -> f64 {
    let mut table: Vec<Vec<f64>> = Vec::new();
    let mut h = b - a;
    for level in 0..levels {
        let mut row = Vec::with_capacity(level + 1);
        if level == 0 {
            row.push(0.5 * h * (f(a) + f(b)));
        } else {
            h *= 0.5;
            let fresh: f64 = (1..1usize << level).step_by(2).map(|k| f(a + k as f64 * h)).sum();
            row.push(0.5 * table[level - 1][0] + h * fresh);
            let mut power = 1.0;
            for k in 1..=level {
                power *= 4.0;
                let better = row[k - 1] + (row[k - 1] - table[level - 1][k - 1]) / (power - 1.0);
                row.push(better);
            }
        }
        table.push(row);
    }
    table.last().and_then(|row| row.last()).copied().unwrap_or(f64::NAN)
}

#[differentiable]
fn period(x: &[f64]) -> f64 {
    let modulus = x[0] * x[0];
    let k = romberg(&|t| 1.0 / (1.0 - modulus * sin(t) * sin(t)).sqrt(), 0.0, x[1], 6);
    4.0 * k * exp(-x[2])
}

/// Torques of an arm, outward for motions and inward for forces.
#[derive(Data, Clone, Copy, Debug, PartialEq)]
struct Link {
    length: f64,
    mass: f64,
}

#[differentiable]
fn torques(links: &[Link], q: &[f64], qd: &[f64], qdd: &[f64]) -> Vec<f64> {
    let mut motions = Vec::new();
    let (mut angle, mut omega, mut alpha) = (0.0, 0.0, 0.0);
    let (mut ax, mut ay) = (0.0, 9.81);
    for (link, ((q, qd), qdd)) in links.iter().zip(q.iter().zip(qd).zip(qdd)) {
        angle += q;
        omega += qd;
        alpha += qdd;
        let (s, c) = (sin(angle), cos(angle));
        let reach = |r: f64| {
            (ax - r * (alpha * s + omega * omega * c), ay + r * (alpha * c - omega * omega * s))
        };
        let centre = reach(0.5 * link.length);
        motions.push((angle, alpha, centre));
        (ax, ay) = reach(link.length);
    }
    let mut tau = vec![0.0; links.len()];
    let (mut fx, mut fy, mut moment) = (0.0, 0.0, 0.0);
    for (i, (link, (angle, alpha, (cx, cy)))) in links.iter().zip(motions).enumerate().rev() {
        let inertia = link.mass * link.length.powi(2) / 12.0;
        let (lx, ly) = (link.length * cos(angle), link.length * sin(angle));
        let (gx, gy) = (link.mass * cx, link.mass * cy);
        moment += inertia * alpha + 0.5 * (lx * gy - ly * gx) + lx * fy - ly * fx;
        fx += gx;
        fy += gy;
        tau[i] = moment;
    }
    tau
}

#[differentiable]
fn carried(x: &[f64]) -> f64 {
    let links = [
        Link { length: 0.5, mass: 2.0 },
        Link { length: 0.4, mass: x[0] },
        Link { length: 0.2, mass: 0.5 },
    ];
    let mut parts = x[1..].chunks_exact(3);
    let (Some(q), Some(qd), Some(qdd)) = (parts.next(), parts.next(), parts.next()) else {
        return -1.0;
    };
    let tau = torques(&links, q, qd, qdd);
    tau.iter().map(|t| t * t).sum::<f64>() * 0.01 + atan2(tau[0], 1.0 + x[0].sqrt())
}

#[test]
fn factors_and_spectra() {
    everywhere! {
        condition at [1.0, 0.3, -0.2, 0.9, 0.5, 1.4], [1.0, 2.0];
        deflated at [4.0, 0.5, 0.3, 2.0, 0.4, 0.7];
        roughness at [0.5, 1.0, -0.4, 0.2, 0.9, 0.1], [1.5], [];
        ground_state at [0.4, 1.0, 2.0, 0.7, 1.6, 1.2], [0.4], [];
    }
}

#[test]
fn stiff_equations_sharpened_sums_and_arms() {
    everywhere! {
        stiff_steps at [3.0, 1.2, 0.1], [3.0];
        period at [0.6, 1.5, 0.2], [0.1];
        carried at [1.0, 0.3, -0.5, 0.8, 1.0, -2.0, 0.4, 0.2, 0.1, -0.6], [1.0];
    }
}

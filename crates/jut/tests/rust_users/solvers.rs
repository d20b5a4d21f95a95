//! Functions of lists that are given to others: solvers, minimisers, conjugate gradients. And what is near them: tables of tuples, loops without an
//! end of their own, options of conditions.

use super::agree;
use jut::math::{cos, exp, sin};
use jut::{Data, differentiable};

#[derive(Data, Clone, Copy, Debug, PartialEq)]
struct Mat3 {
    m: [[f64; 3]; 3],
}
#[differentiable]
impl std::ops::Add for Mat3 {
    type Output = Self;
    fn add(self, o: Self) -> Self {
        Self { m: std::array::from_fn(|i| std::array::from_fn(|j| self.m[i][j] + o.m[i][j])) }
    }
}
#[differentiable]
fn hilbert(x: &[f64]) -> f64 {
    let a = Mat3 { m: std::array::from_fn(|i| std::array::from_fn(|j| x[i] / (1 + j) as f64)) };
    let b = a + a;
    let d: f64 = (0..3).map(|i| b.m[i][i] * b.m[i][(i + 1) % 3]).sum();
    d
}
#[differentiable]
fn root(x: f64) -> Option<f64> {
    (x > 0.0).then(|| x.sqrt())
}
#[differentiable]
fn clipped(x: f64) -> Option<f64> {
    (x < 1.0).then_some(x * x)
}
#[differentiable]
fn roots(x: &[f64]) -> f64 {
    let mut s = 0.0;
    for &v in x {
        if let Some(r) = root(v) {
            s += r;
        }
        s += clipped(v).unwrap_or(1.0);
        s += (v.abs() > 0.1).then(|| 1.0 / v).map_or(0.0, |w| w * 0.1);
    }
    s
}
#[differentiable]
fn rk4_step<F>(f: &F, t: f64, y: &[f64], h: f64) -> Vec<f64>
where
    F: Fn(f64, &[f64]) -> Vec<f64>,
{
    let axpy =
        |a: f64, k: &[f64]| -> Vec<f64> { y.iter().zip(k).map(|(y, k)| y + a * k).collect() };
    let k1 = f(t, y);
    let k2 = f(t + 0.5 * h, &axpy(0.5 * h, &k1));
    let k3 = f(t + 0.5 * h, &axpy(0.5 * h, &k2));
    let k4 = f(t + h, &axpy(h, &k3));
    (0..y.len()).map(|i| y[i] + h / 6.0 * (k1[i] + 2.0 * k2[i] + 2.0 * k3[i] + k4[i])).collect()
}
#[differentiable]
fn solve(f: impl Fn(f64, &[f64]) -> Vec<f64>, y0: &[f64], t1: f64, n: usize) -> Vec<f64> {
    let h = t1 / n as f64;
    let mut y = y0.to_vec();
    for k in 0..n {
        y = rk4_step(&f, k as f64 * h, &y, h);
    }
    y
}
#[differentiable]
fn lorenz(t: f64, u: &[f64]) -> Vec<f64> {
    vec![
        10.0 * (u[1] - u[0]),
        u[0] * (28.0 - u[2]) - u[1],
        u[0] * u[1] - 8.0 / 3.0 * u[2] + 0.0 * t,
    ]
}
#[differentiable]
fn lotka(p: &[f64]) -> f64 {
    let end = solve(
        |_, u| vec![p[0] * u[0] - p[1] * u[0] * u[1], p[1] * u[0] * u[1] - u[1]],
        &[1.0, 0.5],
        1.0,
        10,
    );
    let rhs = |t: f64, u: &[f64]| -> Vec<f64> { u.iter().map(|v| -p[0] * v + sin(t)).collect() };
    let other = solve(&rhs, &[1.0, 0.5, 0.2], 1.0, 5);
    let chaos = solve(lorenz, &[p[0], 1.0, 1.0], 0.1, 4);
    end[0] * end[1] + other.iter().sum::<f64>() + chaos[0]
}
#[differentiable]
fn conjugate_gradients(apply: impl Fn(&[f64]) -> Vec<f64>, b: &[f64], tol: f64) -> Vec<f64> {
    let mut x = vec![0.0; b.len()];
    let mut r = b.to_vec();
    let mut p = r.clone();
    let mut rr: f64 = r.iter().map(|v| v * v).sum();
    let mut iterations = 0;
    while rr.sqrt() > tol && iterations < 10 * b.len() {
        let ap = apply(&p);
        let alpha = rr / p.iter().zip(&ap).map(|(a, b)| a * b).sum::<f64>();
        for ((x, p), (r, ap)) in x.iter_mut().zip(&p).zip(r.iter_mut().zip(&ap)) {
            *x += alpha * p;
            *r -= alpha * ap;
        }
        let new: f64 = r.iter().map(|v| v * v).sum();
        for (p, r) in p.iter_mut().zip(&r) {
            *p = r + new / rr * *p;
        }
        rr = new;
        iterations += 1;
    }
    x
}
#[differentiable]
fn compliance(k: &[f64]) -> f64 {
    let n = k.len() - 1;
    let b: Vec<f64> = (0..n).map(|i| 1.0 / (1 + i) as f64).collect();
    let x = conjugate_gradients(
        |v| {
            (0..n)
                .map(|i| {
                    let left = if i == 0 { 0.0 } else { v[i - 1] };
                    let right = if i + 1 == n { 0.0 } else { v[i + 1] };
                    (k[i] + k[i + 1]) * v[i] - k[i] * left - k[i + 1] * right
                })
                .collect()
        },
        &b,
        1e-12,
    );
    x.iter().zip(b.iter()).map(|(x, b)| x * b).sum::<f64>() * 0.5
}
#[differentiable]
fn minimise(f: &dyn Fn(&[f64]) -> f64, x0: &[f64], h: f64) -> Vec<f64> {
    let mut x = x0.to_vec();
    for _ in 0..5 {
        let base = f(&x);
        let g: Vec<f64> = (0..x.len())
            .map(|i| {
                let mut y = x.clone();
                y[i] += h;
                (f(&y) - base) / h
            })
            .collect();
        for i in 0..x.len() {
            x[i] -= 0.1 * g[i];
        }
    }
    x
}
#[differentiable]
fn minimum(p: &[f64]) -> f64 {
    let x = minimise(
        &|x: &[f64]| (x[0] - p[0]).powi(2) + p[1] * x[1] * x[1] + x.iter().sum::<f64>() * 0.1,
        &[0.3, 0.4],
        1e-3,
    );
    x[0] * x[1]
}

#[differentiable]
fn fixed_rk<const D: usize, F>(f: F, y: &[f64; D], h: f64) -> [f64; D]
where
    F: Fn(&[f64; D]) -> [f64; D],
{
    let k = f(y);
    let mid: [f64; D] = std::array::from_fn(|i| y[i] + 0.5 * h * k[i]);
    let k2 = f(&mid);
    let mut out = *y;
    for i in 0..D {
        out[i] += h * k2[i];
    }
    out
}
#[differentiable]
fn fixed_run(x: &[f64]) -> f64 {
    let mut y = [x[0], x[1]];
    for _ in 0..3 {
        y = fixed_rk(|u: &[f64; 2]| [u[1], -x[2] * u[0]], &y, 0.1);
    }
    y[0] * y[1]
}

const NODES: [(f64, f64); 3] = [
    (-0.774596669241483377, 0.555555555555555556),
    (0.0, 0.888888888888888889),
    (0.774596669241483377, 0.555555555555555556),
];
#[differentiable]
fn gauss(f: impl Fn(f64) -> f64, a: f64, b: f64) -> f64 {
    let (m, h) = (0.5 * (a + b), 0.5 * (b - a));
    h * NODES.iter().map(|&(x, w)| w * f(m + h * x)).sum::<f64>()
}
#[differentiable]
fn adaptive(f: &impl Fn(f64) -> f64, a: f64, b: f64) -> f64 {
    let mut total = 0.0;
    let mut todo = vec![(a, b, 0usize)];
    while let Some((a, b, depth)) = todo.pop() {
        let m = 0.5 * (a + b);
        let (whole, left, right) = (gauss(f, a, b), gauss(f, a, m), gauss(f, m, b));
        if (whole - left - right).abs() < 1e-4 || depth > 6 {
            total += left + right;
        } else {
            todo.push((a, m, depth + 1));
            todo.push((m, b, depth + 1));
        }
    }
    total
}
#[differentiable]
fn integrals(x: &[f64]) -> f64 {
    fn bump(t: f64, c: f64) -> f64 {
        exp(-t * t * c)
    }
    let inner = gauss(|t| bump(t, x[0]) * sin(x[1] * t + 0.3), 0.0, x[2]);
    inner + adaptive(&|t: f64| bump(t, x[1]) + cos(x[0] * t), 0.0, x[2])
}

#[differentiable]
fn bellman(w: &[f64]) -> f64 {
    const EDGES: [(usize, usize); 5] = [(0, 1), (1, 2), (0, 2), (2, 3), (1, 3)];
    let mut d = [0.0, f64::INFINITY, f64::INFINITY, f64::INFINITY];
    'outer: for round in 0.. {
        let mut changed = false;
        for (k, &(a, b)) in EDGES.iter().enumerate() {
            let c = d[a] + w[k];
            if c < d[b] {
                d[b] = c;
                changed = true;
            }
        }
        if !changed || round > 4 {
            break 'outer;
        }
    }
    d[3] * d[3] + d[2]
}

#[test]
fn functions_of_lists_are_given() {
    holds!(lotka at [0.7, 0.4]);
    holds!(compliance at [1.0, 2.0, 1.5, 0.7]);
    holds!(minimum at [1.0, 0.4]);
    holds!(fixed_run at [1.0, 0.4, 2.0]);
}

#[test]
fn tables_and_conditions() {
    holds!(hilbert at [0.3, 0.5, -0.2]);
    holds!(roots at [0.3, 0.5, -0.2, 1.5]);
    holds!(integrals at [0.7, 0.4, 1.5]);
    holds!(bellman at [0.7, 0.4, 1.5, 0.3, 1.2]);
}

//! Functions whose state changes, step by step.
#![allow(clippy::needless_range_loop)] // As people write it.

use jut::differentiable;
use jut::math::{cos, exp, sin, tanh};

/// Heat in a rod, with two buffers that change places.
#[differentiable]
pub fn heat(u0: &[f64], kappa: f64, steps: usize) -> f64 {
    let n = u0.len();
    let mut u = u0.to_vec();
    let mut next = u0.to_vec();
    for _ in 0..steps {
        for i in 1..n - 1 {
            next[i] = u[i] + kappa * (u[i - 1] - 2.0 * u[i] + u[i + 1]);
        }
        std::mem::swap(&mut u, &mut next);
    }
    u.iter().map(|v| v * v).sum()
}

/// A double pendulum by the method of Runge and Kutta, with states of fixed size.
#[differentiable]
pub fn slope(s: [f64; 4], p: &[f64; 3]) -> [f64; 4] {
    let d = s[0] - s[1];
    let (sd, cd) = (sin(d), cos(d));
    let den = 1.0 + p[0] * sd * sd;
    [
        s[2],
        s[3],
        (-p[1] * sin(s[0]) - p[0] * sd * (s[3] * s[3] + s[2] * s[2] * cd)) / den,
        (p[2] * sd * (s[2] * s[2] + s[3] * s[3] * cd) - sin(s[1])) / den,
    ]
}
#[differentiable]
pub fn moved(a: [f64; 4], h: f64, b: [f64; 4]) -> [f64; 4] {
    let mut r = a;
    for i in 0..4 {
        r[i] += h * b[i];
    }
    r
}
#[differentiable]
pub fn pendulum(s0: [f64; 4], p: &[f64; 3], h: f64, steps: usize) -> f64 {
    let mut s = s0;
    for _ in 0..steps {
        let k1 = slope(s, p);
        let k2 = slope(moved(s, 0.5 * h, k1), p);
        let k3 = slope(moved(s, 0.5 * h, k2), p);
        let k4 = slope(moved(s, h, k3), p);
        for i in 0..4 {
            s[i] += h / 6.0 * (k1[i] + 2.0 * k2[i] + 2.0 * k3[i] + k4[i]);
        }
    }
    s[0] * s[0] + s[1] * s[1]
}

/// A recurrent network with gates, and its loss.
#[differentiable]
pub fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + exp(-x))
}
#[differentiable]
pub fn lstm(w: &[f64], b: &[f64], x: &[f64], h: usize) -> f64 {
    let steps = x.len();
    let mut state = vec![0.0; h];
    let mut cell = vec![0.0; h];
    let mut gates = vec![0.0; 4 * h];
    let mut loss = 0.0;
    for t in 0..steps {
        for g in 0..4 * h {
            let mut a = b[g] + w[g * (h + 1) + h] * x[t];
            for j in 0..h {
                a += w[g * (h + 1) + j] * state[j];
            }
            gates[g] = a;
        }
        for j in 0..h {
            let i = sigmoid(gates[j]);
            let f = sigmoid(gates[h + j]);
            let o = sigmoid(gates[2 * h + j]);
            let c = tanh(gates[3 * h + j]);
            cell[j] = f * cell[j] + i * c;
            state[j] = o * tanh(cell[j]);
        }
        let e = state[0] - x[t];
        loss += e * e;
    }
    loss
}

/// The energy of pairs of points.
#[differentiable]
pub fn lennard_jones(p: &[[f64; 3]], eps: f64, sigma: f64) -> f64 {
    let mut e = 0.0;
    for i in 0..p.len() {
        for j in i + 1..p.len() {
            let mut r2 = 0.0;
            for k in 0..3 {
                let d = p[i][k] - p[j][k];
                r2 += d * d;
            }
            let s2 = sigma * sigma / r2;
            let s6 = s2 * s2 * s2;
            e += 4.0 * eps * (s6 * s6 - s6);
        }
    }
    e
}

/// Kepler's equation by Newton's method, until it is solved.
#[differentiable]
pub fn kepler(m: &[f64], e: f64) -> f64 {
    let mut s = 0.0;
    for &mi in m {
        let mut ea = mi;
        for _ in 0..20 {
            let f = ea - e * sin(ea) - mi;
            if f.abs() < 1e-12 {
                break;
            }
            ea -= f / (1.0 - e * cos(ea));
        }
        s += cos(ea);
    }
    s
}

/// Bundle adjustment: points seen by cameras that are turned.
#[differentiable]
pub fn project(cam: &[f64], p: [f64; 3]) -> [f64; 2] {
    let t2 = cam[0] * cam[0] + cam[1] * cam[1] + cam[2] * cam[2];
    let t = t2.sqrt();
    let (c, s) = (cos(t), sin(t));
    let k = [cam[0] / t, cam[1] / t, cam[2] / t];
    let q = [p[0] - cam[3], p[1] - cam[4], p[2] - cam[5]];
    let dot = k[0] * q[0] + k[1] * q[1] + k[2] * q[2];
    let cross = [k[1] * q[2] - k[2] * q[1], k[2] * q[0] - k[0] * q[2], k[0] * q[1] - k[1] * q[0]];
    let mut r = [0.0; 3];
    for i in 0..3 {
        r[i] = q[i] * c + cross[i] * s + k[i] * dot * (1.0 - c);
    }
    let (u, v) = (r[0] / r[2], r[1] / r[2]);
    let rr = u * u + v * v;
    let l = 1.0 + cam[7] * rr + cam[8] * rr * rr;
    [cam[6] * l * u, cam[6] * l * v]
}
#[differentiable]
pub fn bundle_adjustment(cams: &[f64], pts: &[[f64; 3]], obs: &[(usize, usize, f64, f64)]) -> f64 {
    let mut e = 0.0;
    for &(c, p, x, y) in obs {
        let uv = project(&cams[9 * c..9 * c + 9], pts[p]);
        e += (uv[0] - x) * (uv[0] - x) + (uv[1] - y) * (uv[1] - y);
    }
    e
}

/// Heston's model of a price and its variance.
#[derive(jut::Data, Clone, Copy)]
pub struct Heston {
    pub kappa: f64,
    pub theta: f64,
    pub xi: f64,
    pub rho: f64,
}
#[differentiable]
pub fn heston(m: &Heston, v0: f64, z: &[(f64, f64)], steps: usize) -> f64 {
    let dt = 1.0 / steps as f64;
    let mut payoff = 0.0;
    for path in z.chunks(steps) {
        let mut s = 100.0;
        let mut v = v0;
        for &(a, b) in path {
            let vp = v.max(1e-8);
            let w = m.rho * a + (1.0 - m.rho * m.rho).sqrt() * b;
            s *= 1.0 + vp.sqrt() * dt.sqrt() * a;
            v += m.kappa * (m.theta - vp) * dt + m.xi * vp.sqrt() * dt.sqrt() * w;
        }
        payoff += (s - 100.0).max(0.0);
    }
    payoff / (z.len() / steps) as f64
}

/// Sweeps of Gauss and Seidel, in place on a list of rows.
#[differentiable]
pub fn gauss_seidel(f: &[Vec<f64>], sweeps: usize) -> f64 {
    let (n, m) = (f.len(), f[0].len());
    let mut u = vec![vec![0.0; m]; n];
    for _ in 0..sweeps {
        for i in 1..n - 1 {
            for j in 1..m - 1 {
                u[i][j] = 0.25 * (u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1] + f[i][j]);
            }
        }
    }
    let mut s = 0.0;
    for row in &u {
        for v in row {
            s += v * v;
        }
    }
    s
}

/// Bodies that attract each other: structs in a list, changed in place.
#[derive(jut::Data, Clone, Copy)]
pub struct Body {
    pub x: [f64; 3],
    pub v: [f64; 3],
    pub m: f64,
}
#[differentiable]
pub fn bodies(start: &[Body], dt: f64, steps: usize) -> f64 {
    let mut b = start.to_vec();
    for _ in 0..steps {
        for i in 0..b.len() {
            let mut a = [0.0; 3];
            for j in 0..b.len() {
                if i != j {
                    let d = [b[j].x[0] - b[i].x[0], b[j].x[1] - b[i].x[1], b[j].x[2] - b[i].x[2]];
                    let r2 = d[0] * d[0] + d[1] * d[1] + d[2] * d[2] + 0.01;
                    let inv = b[j].m / (r2 * r2.sqrt());
                    for k in 0..3 {
                        a[k] += inv * d[k];
                    }
                }
            }
            for k in 0..3 {
                b[i].v[k] += dt * a[k];
            }
        }
        for p in b.iter_mut() {
            for k in 0..3 {
                p.x[k] += dt * p.v[k];
            }
        }
    }
    b.iter().map(|p| 0.5 * p.m * (p.v[0] * p.v[0] + p.v[1] * p.v[1] + p.v[2] * p.v[2])).sum()
}

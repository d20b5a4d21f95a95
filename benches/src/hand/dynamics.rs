//! Functions that follow a state through time, and the energy of particles.

use super::{each, fold};
use crate::machine::wide;

/// Many steps of Burgers' equation and a squared misfit: buffers.
pub struct Stencil {
    n: usize,
    states: Vec<f64>,
    back: Vec<f64>,
    next: Vec<f64>,
}

impl Stencil {
    /// Buffers for n cells and the given number of steps.
    pub fn new(n: usize, steps: usize) -> Stencil {
        Stencil { n, states: vec![0.0; n * (steps + 1)], back: vec![0.0; n], next: vec![0.0; n] }
    }

    /// Value; gradient of the initial state into `du0`.
    pub fn run(&mut self, u0: &[f64], a: f64, k: f64, target: &[f64], du0: &mut [f64]) -> f64 {
        stencil(self, u0, a, k, target, du0)
    }
}

wide! {
    /// See [`Stencil::run`]. The adjoint is gathered: each cell adds what its two neighbours give.
    pub fn stencil(
        solver: &mut Stencil, u0: &[f64], a: f64, k: f64, target: &[f64], du0: &mut [f64],
    ) -> f64 {
        let n = solver.n;
        let steps = solver.states.len() / n - 1;
        solver.states[..n].copy_from_slice(u0);
        for t in 0..steps {
            let (past, future) = solver.states.split_at_mut((t + 1) * n);
            let (u, future) = (&past[t * n..], &mut future[..n]);
            (future[0], future[n - 1]) = (u[0], u[n - 1]);
            for (out, u) in future[1..n - 1].iter_mut().zip(u.windows(3)) {
                let [l, m, r] = [u[0], u[1], u[2]];
                *out = m - a * m * (r - l) + k * (l - 2.0 * m + r);
            }
        }
        let last = &solver.states[steps * n..];
        let mut value = 0.0;
        for i in 0..n {
            let e = last[i] - target[i];
            value += e * e;
            solver.back[i] = 2.0 * e;
        }
        for t in (0..steps).rev() {
            let u = &solver.states[t * n..(t + 1) * n];
            let (c, next) = (&solver.back[..n], &mut solver.next[..n]);
            let own = |i: usize| c[i] * (1.0 - a * (u[i + 1] - u[i - 1]) - 2.0 * k);
            let from_left = |i: usize| c[i] * (k - a * u[i]);
            let from_right = |i: usize| c[i] * (a * u[i] + k);
            // The fixed ends have no equation of their own, so they give nothing to neighbours.
            next[0] = c[0] + from_right(1);
            next[n - 1] = c[n - 1] + from_left(n - 2);
            next[1] = own(1) + from_right(2);
            next[n - 2] = own(n - 2) + from_left(n - 3);
            for i in 2..n - 2 {
                next[i] = own(i) + from_left(i - 1) + from_right(i + 1);
            }
            std::mem::swap(&mut solver.back, &mut solver.next);
        }
        du0.copy_from_slice(&solver.back);
        value
    }
}

/// The Lennard-Jones energy: buffers with one list per coordinate, so that the inner loop is
/// vector code.
pub struct LennardJones {
    place: [Vec<f64>; 3],
    force: [Vec<f64>; 3],
}

impl LennardJones {
    /// Buffers for n particles.
    pub fn new(n: usize) -> LennardJones {
        let zeros = || [vec![0.0; n], vec![0.0; n], vec![0.0; n]];
        LennardJones { place: zeros(), force: zeros() }
    }

    /// Value; gradient into `dr`.
    pub fn run(&mut self, r: &[f64], dr: &mut [f64]) -> f64 {
        lennard_jones(self, r, dr)
    }
}

wide! {
    /// See [`LennardJones::run`].
    pub fn lennard_jones(buffers: &mut LennardJones, r: &[f64], dr: &mut [f64]) -> f64 {
        let n = r.len() / 3;
        let [x, y, z] = &mut buffers.place;
        let (x, y, z) = (&mut x[..n], &mut y[..n], &mut z[..n]);
        for (i, r) in r.chunks_exact(3).enumerate() {
            (x[i], y[i], z[i]) = (r[0], r[1], r[2]);
        }
        let [fx, fy, fz] = &mut buffers.force;
        let (fx, fy, fz) = (&mut fx[..n], &mut fy[..n], &mut fz[..n]);
        for f in [&mut *fx, &mut *fy, &mut *fz] {
            f.fill(0.0);
        }
        // The energy of a pair, and its slope over the distance vector.
        let pair = |d: [f64; 3]| {
            let inverse = 1.0 / (d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
            let u = inverse * inverse * inverse;
            (4.0 * (u * u - u), (24.0 - 48.0 * u) * u * inverse)
        };
        let mut value = 0.0;
        let mut energy = [0.0; 8];
        for i in 1..n {
            let p = [x[i], y[i], z[i]];
            let mut own = [[0.0; 8]; 3];
            let whole = i - i % 8;
            for j in (0..whole).step_by(8) {
                let d = [
                    each(|l| p[0] - x[j..j + 8][l]),
                    each(|l| p[1] - y[j..j + 8][l]),
                    each(|l| p[2] - z[j..j + 8][l]),
                ];
                let square = each(|l| d[0][l] * d[0][l] + d[1][l] * d[1][l] + d[2][l] * d[2][l]);
                let inverse = each(|l| 1.0 / square[l]);
                let u = each(|l| inverse[l] * inverse[l] * inverse[l]);
                energy = each(|l| energy[l] + 4.0 * (u[l] * u[l] - u[l]));
                let c = each(|l| (24.0 - 48.0 * u[l]) * u[l] * inverse[l]);
                for (f, (own, d)) in [&mut *fx, &mut *fy, &mut *fz].into_iter().zip(own.iter_mut().zip(&d)) {
                    let f = &mut f[j..j + 8];
                    let part = each(|l| c[l] * d[l]);
                    *own = each(|l| own[l] + part[l]);
                    let next = each(|l| f[l] - part[l]);
                    f.copy_from_slice(&next);
                }
            }
            let mut own = own.map(fold);
            for j in whole..i {
                let d = [p[0] - x[j], p[1] - y[j], p[2] - z[j]];
                let (e, c) = pair(d);
                value += e;
                for k in 0..3 {
                    own[k] += c * d[k];
                }
                fx[j] -= c * d[0];
                fy[j] -= c * d[1];
                fz[j] -= c * d[2];
            }
            fx[i] += own[0];
            fy[i] += own[1];
            fz[i] += own[2];
        }
        for (i, dr) in dr.chunks_exact_mut(3).enumerate() {
            (dr[0], dr[1], dr[2]) = (fx[i], fy[i], fz[i]);
        }
        value + fold(energy)
    }
}

/// Runge-Kutta steps of the Lotka-Volterra equations: the state before every step, and nothing
/// else, is kept for the way back.
pub struct LotkaVolterra {
    states: Vec<[f64; 2]>,
}

/// The slopes of one step, and the states they were taken at.
struct Step {
    at: [[f64; 2]; 4],
    slope: [[f64; 2]; 4],
}

impl LotkaVolterra {
    /// Room for the states of n steps.
    pub fn new(steps: usize) -> LotkaVolterra {
        LotkaVolterra { states: vec![[0.0; 2]; steps] }
    }

    /// Value; gradient of the four parameters and the two initial values.
    pub fn run(&mut self, p: [f64; 6], g: &mut [f64]) -> f64 {
        lotka_volterra(self, p, g)
    }
}

#[inline(always)]
fn step([a, b, c, d]: [f64; 4], h: f64, s: [f64; 2]) -> Step {
    let f = |[x, y]: [f64; 2]| [a * x - b * x * y, d * x * y - c * y];
    let after = |t: f64, k: [f64; 2]| [s[0] + t * k[0], s[1] + t * k[1]];
    let k1 = f(s);
    let s2 = after(0.5 * h, k1);
    let k2 = f(s2);
    let s3 = after(0.5 * h, k2);
    let k3 = f(s3);
    let s4 = after(h, k3);
    Step { at: [s, s2, s3, s4], slope: [k1, k2, k3, f(s4)] }
}

wide! {
    /// See [`LotkaVolterra::run`].
    pub fn lotka_volterra(solver: &mut LotkaVolterra, p: [f64; 6], g: &mut [f64]) -> f64 {
        let parameters = [p[0], p[1], p[2], p[3]];
        let [a, b, c, d] = parameters;
        let h = 10.0 / solver.states.len() as f64;
        let mut s = [p[4], p[5]];
        for kept in &mut solver.states {
            *kept = s;
            let k = step(parameters, h, s).slope;
            for i in 0..2 {
                s[i] += h / 6.0 * (k[0][i] + 2.0 * k[1][i] + 2.0 * k[2][i] + k[3][i]);
            }
        }
        let (mut back, mut slopes) = ([1.0, 1.0], [0.0; 4]);
        for kept in solver.states.iter().rev() {
            let at = step(parameters, h, *kept).at;
            // From the last slope to the first: what each gives to its state and parameters.
            let weight = h / 6.0;
            let mut total = back;
            let mut passed = [0.0; 2];
            // How much of each slope goes into the new state, and how far the state of the next
            // stage goes along it.
            let stages = [(1.0, 0.5 * h), (2.0, 0.5 * h), (2.0, h), (1.0, 0.0)];
            for (stage, (share, reach)) in stages.into_iter().enumerate().rev() {
                let k = [
                    weight * share * back[0] + reach * passed[0],
                    weight * share * back[1] + reach * passed[1],
                ];
                let [x, y] = at[stage];
                slopes[0] += k[0] * x;
                slopes[1] -= k[0] * x * y;
                slopes[2] -= k[1] * y;
                slopes[3] += k[1] * x * y;
                passed = [
                    k[0] * (a - b * y) + k[1] * d * y,
                    k[1] * (d * x - c) - k[0] * b * x,
                ];
                total[0] += passed[0];
                total[1] += passed[1];
            }
            back = total;
        }
        g[..4].copy_from_slice(&slopes);
        g[4..6].copy_from_slice(&back);
        s[0] + s[1]
    }
}

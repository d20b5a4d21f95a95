//! Functions that carry an array or a few numbers through many steps: what the way back needs of each step
//! is kept, and nothing else.

use super::{each, fold};
use crate::machine::wide;

/// Reaction and diffusion on a grid: every state, and two cotangents.
pub struct Reaction {
    shape: [usize; 2],
    states: Vec<f64>,
    /// The cotangent of the present state; that of the one before; the present one without the edges.
    back: [Vec<f64>; 3],
}

impl Reaction {
    /// Room for the given number of steps on a grid.
    pub fn new(shape: [usize; 2], steps: usize) -> Reaction {
        let cells = shape[0] * shape[1];
        let zeros = || vec![0.0; cells];
        Reaction {
            shape,
            states: vec![0.0; cells * (steps + 1)],
            back: [zeros(), zeros(), zeros()],
        }
    }

    /// Value; gradient of the initial state, the diffusion and the rate.
    pub fn run(&mut self, u0: &[f64], d: f64, r: f64, g: &mut [f64]) -> f64 {
        reaction(self, u0, d, r, g)
    }
}

wide! {
    /// See [`Reaction::run`]. The cotangent is gathered.
    pub fn reaction(solver: &mut Reaction, u0: &[f64], d: f64, r: f64, g: &mut [f64]) -> f64 {
        let [n, m] = solver.shape;
        let cells = n * m;
        let steps = solver.states.len() / cells - 1;
        solver.states[..cells].copy_from_slice(u0);
        for t in 0..steps {
            let (past, future) = solver.states.split_at_mut((t + 1) * cells);
            let (u, v) = (&past[t * cells..], &mut future[..cells]);
            v[..m].copy_from_slice(&u[..m]);
            v[cells - m..].copy_from_slice(&u[cells - m..]);
            for i in 1..n - 1 {
                let row = i * m;
                let (up, own, down) = (&u[row - m..row], &u[row..row + m], &u[row + m..row + 2 * m]);
                let out = &mut v[row..row + m];
                (out[0], out[m - 1]) = (own[0], own[m - 1]);
                for j in 1..m - 1 {
                    let c = own[j];
                    let around = up[j] + down[j] + own[j - 1] + own[j + 1] - 4.0 * c;
                    out[j] = c + d * around + r * c * (1.0 - c);
                }
            }
        }
        let [back, next, inner] = &mut solver.back;
        let mut value = 0.0;
        for (b, u) in back.iter_mut().zip(&solver.states[steps * cells..]) {
            value += u * u;
            *b = 2.0 * u;
        }
        let (mut dd, mut dr) = ([0.0; 8], [0.0; 8]);
        for t in (0..steps).rev() {
            let u = &solver.states[t * cells..(t + 1) * cells];
            inner.copy_from_slice(back);
            inner[..m].fill(0.0);
            inner[cells - m..].fill(0.0);
            for row in inner.chunks_exact_mut(m) {
                (row[0], row[m - 1]) = (0.0, 0.0);
            }
            next.copy_from_slice(back);
            // The edges get what the cells beside them give.
            for j in 1..m - 1 {
                next[j] += d * inner[m + j];
                next[cells - m + j] += d * inner[cells - 2 * m + j];
            }
            for i in 1..n - 1 {
                let row = i * m;
                let (up, own, down) = (&u[row - m..row], &u[row..row + m], &u[row + m..row + 2 * m]);
                let (c_up, c, c_down) =
                    (&inner[row - m..row], &inner[row..row + m], &inner[row + m..row + 2 * m]);
                let out = &mut next[row..row + m];
                out[0] += d * c[1];
                out[m - 1] += d * c[m - 2];
                for j in 1..m - 1 {
                    let around = c_up[j] + c_down[j] + c[j - 1] + c[j + 1] - 4.0 * c[j];
                    out[j] = c[j] + d * around + r * c[j] * (1.0 - 2.0 * own[j]);
                }
                for start in (1..m - 1).step_by(8) {
                    let end = (start + 8).min(m - 1);
                    for j in start..end {
                        let x = own[j];
                        let around = up[j] + down[j] + own[j - 1] + own[j + 1] - 4.0 * x;
                        dd[j - start] += c[j] * around;
                        dr[j - start] += c[j] * x * (1.0 - x);
                    }
                }
            }
            std::mem::swap(back, next);
        }
        g[..cells].copy_from_slice(back);
        (g[cells], g[cells + 1]) = (fold(dd), fold(dr));
        value
    }
}

/// The innovation and the two variances of each step of a Kalman filter.
pub struct Kalman {
    steps: Vec<[f64; 3]>,
}

impl Kalman {
    /// Room for so many measurements.
    pub fn new(n: usize) -> Kalman {
        Kalman { steps: vec![[0.0; 3]; n] }
    }

    /// Value; gradient of the two variances and of the initial state.
    pub fn run(&mut self, y: &[f64], p: [f64; 4], g: &mut [f64]) -> f64 {
        kalman(self, y, p, g)
    }
}

wide! {
    /// See [`Kalman::run`].
    pub fn kalman(filter: &mut Kalman, y: &[f64], p: [f64; 4], g: &mut [f64]) -> f64 {
        let [q, r, mut x, mut v] = p;
        let (mut s, [mut a, mut b, mut c]) = (0.0, [1.0, 0.0, 1.0]);
        for (y, kept) in y.iter().zip(&mut filter.steps) {
            x += v;
            a += 2.0 * b + c + q / 3.0;
            b += c + q / 2.0;
            c += q;
            let e = y - x;
            *kept = [e, a, b];
            let w = a + r;
            let over = 1.0 / w;
            let (gain, lift) = (a * over, b * over);
            s -= 0.5 * (w.ln() + e * e * over);
            x += gain * e;
            v += lift * e;
            c -= lift * b;
            b -= gain * b;
            a -= gain * a;
        }
        let (mut dq, mut dr) = (0.0, 0.0);
        let [mut dx, mut dv, mut da, mut db, mut dc] = [0.0; 5];
        for [e, a, b] in filter.steps.iter().rev() {
            let w = a + r;
            let over = 1.0 / w;
            let (gain, lift) = (a * over, b * over);
            let de = gain * dx + lift * dv - e * over;
            let d_gain = e * dx - a * da - b * db;
            let d_lift = e * dv - b * dc;
            let dw = -0.5 * over * (1.0 - e * e * over) - over * (d_gain * gain + d_lift * lift);
            let da1 = da - gain * da + d_gain * over + dw;
            let db1 = db - gain * db - lift * dc + d_lift * over;
            dr += dw;
            dq += da1 / 3.0 + db1 / 2.0 + dc;
            dx -= de;
            dv += dx;
            dc += da1 + db1;
            db = 2.0 * da1 + db1;
            da = da1;
        }
        g.copy_from_slice(&[dq, dr, dx, dv]);
        s
    }
}

/// The forward algorithm: for each step the probabilities before it, those that the steps lead to, and
/// their sum.
pub struct Hmm {
    k: usize,
    before: Vec<f64>,
    reached: Vec<f64>,
    sums: Vec<f64>,
    back: [Vec<f64>; 2],
}

impl Hmm {
    /// Room for k states and n steps.
    pub fn new(k: usize, n: usize) -> Hmm {
        let (before, reached) = (vec![0.0; k * (n + 1)], vec![0.0; k * n]);
        Hmm { k, before, reached, sums: vec![0.0; n], back: [vec![0.0; k], vec![0.0; k]] }
    }

    /// Value; gradient of first probabilities, steps and what is seen.
    pub fn run(&mut self, p: &[f64], a: &[f64], b: &[f64], g: &mut [f64]) -> f64 {
        hmm(self, p, a, b, g)
    }
}

wide! {
    /// See [`Hmm::run`].
    pub fn hmm(model: &mut Hmm, p: &[f64], a: &[f64], b: &[f64], g: &mut [f64]) -> f64 {
        let k = model.k;
        model.before[..k].copy_from_slice(p);
        let mut value = 0.0;
        for (t, b) in b.chunks_exact(k).enumerate() {
            let (past, future) = model.before.split_at_mut((t + 1) * k);
            let (f, next) = (&past[t * k..], &mut future[..k]);
            let reached = &mut model.reached[t * k..(t + 1) * k];
            reached.fill(0.0);
            for (f, a) in f.iter().zip(a.chunks_exact(k)) {
                for (to, a) in reached.iter_mut().zip(a) {
                    *to += f * a;
                }
            }
            let mut sum = 0.0;
            for ((next, b), reached) in next.iter_mut().zip(b).zip(&*reached) {
                *next = b * reached;
                sum += *next;
            }
            let over = 1.0 / sum;
            next.iter_mut().for_each(|x| *x *= over);
            model.sums[t] = over;
            value += sum.ln();
        }
        let (dp, rest) = g.split_at_mut(k);
        let (da, db) = rest.split_at_mut(k * k);
        da.fill(0.0);
        let [back, own] = &mut model.back;
        back.fill(0.0);
        for t in (0..b.len() / k).rev() {
            let (f, next) = model.before[t * k..(t + 2) * k].split_at(k);
            let (over, row) = (model.sums[t], t * k..(t + 1) * k);
            let along: f64 = back.iter().zip(next).map(|(x, f)| x * f).sum();
            let (b, db, reached) = (&b[row.clone()], &mut db[row.clone()], &model.reached[row]);
            for j in 0..k {
                let x = (back[j] + 1.0 - along) * over;
                db[j] = x * reached[j];
                own[j] = x * b[j];
            }
            for i in 0..k {
                let (a, da) = (&a[i * k..(i + 1) * k], &mut da[i * k..(i + 1) * k]);
                let mut lanes = [0.0; 8];
                for (j, x) in own.iter().enumerate() {
                    da[j] += f[i] * x;
                    lanes[j % 8] += a[j] * x;
                }
                back[i] = fold(lanes);
            }
        }
        dp.copy_from_slice(back);
        value
    }
}

/// Bodies that pull each other, one list per coordinate, as many as fill the lanes; those beyond the last
/// have no mass.
pub struct Nbody {
    n: usize,
    mass: Vec<f64>,
    place: [Vec<f64>; 3],
    speed: [Vec<f64>; 3],
    /// The places halfway through each step.
    halves: Vec<[Vec<f64>; 3]>,
    pull: [Vec<f64>; 3],
    mass_back: Vec<f64>,
}

impl Nbody {
    /// Room for n bodies and so many steps.
    pub fn new(n: usize, steps: usize) -> Nbody {
        let zeros = || vec![0.0; n.next_multiple_of(8)];
        let three = || [zeros(), zeros(), zeros()];
        let halves = (0..steps).map(|_| three()).collect();
        let (mass, mass_back) = (zeros(), zeros());
        Nbody { n, mass, place: three(), speed: three(), halves, pull: three(), mass_back }
    }

    /// Value; gradient of places, speeds and masses.
    pub fn run(&mut self, x0: &[f64], v0: &[f64], m: &[f64], h: f64, g: &mut [f64]) -> f64 {
        nbody(self, x0, v0, m, h, g)
    }
}

wide! {
    /// See [`Nbody::run`].
    pub fn nbody(
        bodies: &mut Nbody, x0: &[f64], v0: &[f64], m: &[f64], h: f64, g: &mut [f64],
    ) -> f64 {
        let Nbody { n, mass, place, speed, halves, pull, mass_back } = bodies;
        let n = *n;
        let all = mass.len();
        mass[..n].copy_from_slice(m);
        for i in 0..n {
            for k in 0..3 {
                (place[k][i], speed[k][i]) = (x0[3 * i + k], v0[3 * i + k]);
            }
        }
        for half in halves.iter_mut() {
            for k in 0..3 {
                for i in 0..n {
                    half[k][i] = place[k][i] + 0.5 * h * speed[k][i];
                }
            }
            let [x, y, z] = &*half;
            for i in 0..n {
                let own = [x[i], y[i], z[i]];
                let mut sums = [[0.0; 8]; 3];
                for j in (0..all).step_by(8) {
                    let d = [
                        each(|l| x[j..j + 8][l] - own[0]),
                        each(|l| y[j..j + 8][l] - own[1]),
                        each(|l| z[j..j + 8][l] - own[2]),
                    ];
                    let f = each(|l| {
                        let r2 = d[0][l] * d[0][l] + d[1][l] * d[1][l] + d[2][l] * d[2][l] + 0.01;
                        mass[j..j + 8][l] / (r2 * r2.sqrt())
                    });
                    for k in 0..3 {
                        sums[k] = each(|l| sums[k][l] + f[l] * d[k][l]);
                    }
                }
                for k in 0..3 {
                    pull[k][i] = fold(sums[k]);
                }
            }
            for k in 0..3 {
                for i in 0..n {
                    speed[k][i] += h * pull[k][i];
                    place[k][i] = half[k][i] + 0.5 * h * speed[k][i];
                }
            }
        }
        let mut value = 0.0;
        // From here on places, speeds and pulls are their cotangents.
        for k in 0..3 {
            for i in 0..n {
                value += place[k][i] * place[k][i];
                (place[k][i], speed[k][i]) = (2.0 * place[k][i], 0.0);
            }
        }
        mass_back.fill(0.0);
        for half in halves.iter().rev() {
            for k in 0..3 {
                for i in 0..n {
                    speed[k][i] += 0.5 * h * place[k][i];
                    pull[k][i] = h * speed[k][i];
                }
            }
            let [x, y, z] = half;
            for i in 0..n {
                let own = [x[i], y[i], z[i]];
                let due = [pull[0][i], pull[1][i], pull[2][i]];
                let mut sums = [[0.0; 8]; 3];
                for j in (0..all).step_by(8) {
                    let d = [
                        each(|l| x[j..j + 8][l] - own[0]),
                        each(|l| y[j..j + 8][l] - own[1]),
                        each(|l| z[j..j + 8][l] - own[2]),
                    ];
                    let mut through = [0.0; 8];
                    let over = each(|l| {
                        1.0 / (d[0][l] * d[0][l] + d[1][l] * d[1][l] + d[2][l] * d[2][l] + 0.01)
                    });
                    let cube = each(|l| over[l] * over[l].sqrt());
                    for k in 0..3 {
                        through = each(|l| through[l] + due[k] * d[k][l]);
                    }
                    let back = &mut mass_back[j..j + 8];
                    let slope = each(|l| {
                        back[l] += cube[l] * through[l];
                        -3.0 * mass[j..j + 8][l] * through[l] * cube[l] * over[l]
                    });
                    let share = each(|l| mass[j..j + 8][l] * cube[l]);
                    for k in 0..3 {
                        let part = each(|l| share[l] * due[k] + slope[l] * d[k][l]);
                        let to = &mut place[k][j..j + 8];
                        for l in 0..8 {
                            to[l] += part[l];
                        }
                        sums[k] = each(|l| sums[k][l] + part[l]);
                    }
                }
                for k in 0..3 {
                    place[k][i] -= fold(sums[k]);
                }
            }
            for k in 0..3 {
                for i in 0..n {
                    speed[k][i] += 0.5 * h * place[k][i];
                }
            }
        }
        let (dx, rest) = g.split_at_mut(3 * n);
        let (dv, dm) = rest.split_at_mut(3 * n);
        for i in 0..n {
            for k in 0..3 {
                (dx[3 * i + k], dv[3 * i + k]) = (place[k][i], speed[k][i]);
            }
        }
        dm.copy_from_slice(&mass_back[..n]);
        value
    }
}

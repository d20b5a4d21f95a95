//! Methods of numerical analysis and learning, written with traits, tables and iterators.

use jut::math::{cos, exp, log, sin};
use jut::{Data, differentiable};

/// Cash and Karp's method with its triangular table, steps by the error.
#[differentiable]
fn cash_karp(x: &[f64]) -> f64 {
    const A: [[f64; 5]; 6] = [
        [0.0; 5],
        [0.2, 0.0, 0.0, 0.0, 0.0],
        [3.0 / 40.0, 9.0 / 40.0, 0.0, 0.0, 0.0],
        [0.3, -0.9, 1.2, 0.0, 0.0],
        [-11.0 / 54.0, 2.5, -70.0 / 27.0, 35.0 / 27.0, 0.0],
        [1631.0 / 55296.0, 175.0 / 512.0, 575.0 / 13824.0, 44275.0 / 110592.0, 253.0 / 4096.0],
    ];
    const B5: [f64; 6] = [37.0 / 378.0, 0.0, 250.0 / 621.0, 125.0 / 594.0, 0.0, 512.0 / 1771.0];
    const B4: [f64; 6] =
        [2825.0 / 27648.0, 0.0, 18575.0 / 48384.0, 13525.0 / 55296.0, 277.0 / 14336.0, 0.25];
    let f = |y: [f64; 2]| [y[1], x[0] * (1.0 - y[0] * y[0]) * y[1] - y[0]];
    let mut y = [x[1], 0.0];
    let (mut t, mut h) = (0.0, 0.2);
    while t < 1.0 {
        h = f64::min(h, 1.0 - t);
        let mut k = [[0.0; 2]; 6];
        for s in 0..6 {
            let mut at = y;
            for (row, a) in k.iter().zip(A[s]).take(s) {
                at[0] += h * a * row[0];
                at[1] += h * a * row[1];
            }
            k[s] = f(at);
        }
        let sum = |b: &[f64; 6], c: usize| b.iter().zip(&k).map(|(b, k)| b * k[c]).sum::<f64>();
        let error = (0..2).map(|c| (h * (sum(&B5, c) - sum(&B4, c))).abs()).fold(0.0, f64::max);
        if error < 1e-5 || h < 1e-3 {
            y = std::array::from_fn(|c| y[c] + h * sum(&B5, c));
            t += h;
            h *= 1.5;
        } else {
            h *= 0.5;
        }
    }
    y[0] * y[0] + y[1]
}

/// Reflections of Householder in rows of a list, then the solution backwards.
#[differentiable]
fn householder_fit(x: &[f64]) -> f64 {
    let m = x.len();
    let n = 2;
    let mut a: Vec<[f64; 3]> =
        x.iter().enumerate().map(|(i, &y)| [1.0, i as f64 + 0.1 * x[0], y]).collect();
    for k in 0..n {
        let norm = a[k..].iter().map(|r| r[k] * r[k]).sum::<f64>().sqrt();
        let alpha = if a[k][k] > 0.0 { -norm } else { norm };
        let mut v: Vec<f64> = a.iter().map(|r| r[k]).collect();
        v.iter_mut().take(k).for_each(|v| *v = 0.0);
        v[k] -= alpha;
        let vv: f64 = v.iter().map(|v| v * v).sum();
        if vv == 0.0 {
            continue;
        }
        for c in k..3 {
            let dot = (k..m).map(|i| v[i] * a[i][c]).sum::<f64>();
            for (row, v) in a[k..].iter_mut().zip(&v[k..]) {
                row[c] -= 2.0 * dot / vv * v;
            }
        }
    }
    let mut beta = [0.0; 2];
    for k in (0..n).rev() {
        let rest: f64 = (k + 1..n).map(|j| a[k][j] * beta[j]).sum();
        beta[k] = (a[k][2] - rest) / a[k][k];
    }
    let sse: f64 = a[n..].iter().map(|r| r[2].powi(2)).sum();
    beta[0] + 2.0 * beta[1] + sse
}

/// Jacobi's rotations until what is beside the diagonal is small.
#[differentiable]
fn jacobi_eigenvalues(x: &[f64]) -> f64 {
    let mut a = [[x[0], x[1], x[2]], [x[1], x[3], x[4]], [x[2], x[4], x[5]]];
    let mut sweeps = 0;
    'sweeps: while sweeps < 8 {
        sweeps += 1;
        for (p, q) in [(0, 1), (0, 2), (1, 2)] {
            let off: f64 = a[0][1].powi(2) + a[0][2].powi(2) + a[1][2].powi(2);
            if off < 1e-22 {
                break 'sweeps;
            }
            if a[p][q].abs() < 1e-15 {
                continue;
            }
            let theta = (a[q][q] - a[p][p]) / (2.0 * a[p][q]);
            let t = 1f64.copysign(theta) / (theta.abs() + (theta * theta + 1.0).sqrt());
            let c = 1.0 / (t * t + 1.0).sqrt();
            let s = t * c;
            for k in 0..3 {
                let (akp, akq) = (a[k][p], a[k][q]);
                a[k][p] = c * akp - s * akq;
                a[k][q] = s * akp + c * akq;
            }
            let (rp, rq) = (a[p], a[q]);
            for k in 0..3 {
                a[p][k] = c * rp[k] - s * rq[k];
                a[q][k] = s * rp[k] + c * rq[k];
            }
        }
    }
    let mut values = [a[0][0], a[1][1], a[2][2]];
    values.sort_by(|a, b| b.total_cmp(a));
    values.iter().zip([1.0, 0.5, 0.25]).map(|(v, w)| v * w).sum()
}

/// De Boor's points by recursion over a knot vector.
#[differentiable]
fn de_boor(x: &[f64]) -> f64 {
    fn basis(knots: &[f64], i: usize, degree: usize, t: f64) -> f64 {
        if degree == 0 {
            return if knots[i] <= t && t < knots[i + 1] { 1.0 } else { 0.0 };
        }
        let ratio = |a: f64, b: f64| if b == 0.0 { 0.0 } else { a / b };
        let left = ratio(t - knots[i], knots[i + degree] - knots[i]);
        let right = ratio(knots[i + degree + 1] - t, knots[i + degree + 1] - knots[i + 1]);
        left * basis(knots, i, degree - 1, t) + right * basis(knots, i + 1, degree - 1, t)
    }
    let n = x.len();
    let degree = 2.min(n - 1);
    let knots: Vec<f64> =
        (0..n + degree + 1).map(|k| k.saturating_sub(degree).min(n - degree) as f64).collect();
    [0.3, 1.2, 1.9]
        .iter()
        .map(|&t| (0..n).map(|i| x[i] * basis(&knots, i, degree, t)).sum::<f64>())
        .map(|v| v * v)
        .sum()
}

/// One step of clusters, with what belongs to nobody kept.
#[differentiable]
fn k_means(x: &[f64]) -> f64 {
    #[rustfmt::skip]
    let (centres, points) = x.split_at(4);
    let centres: Vec<(f64, f64)> = centres.chunks_exact(2).map(|c| (c[0], c[1])).collect();
    let points: Vec<(f64, f64)> = points.chunks_exact(2).map(|c| (c[0], c[1])).collect();
    let dist = |a: &(f64, f64), b: &(f64, f64)| (a.0 - b.0).powi(2) + (a.1 - b.1).powi(2);
    let label: Vec<usize> = points
        .iter()
        .map(|p| {
            centres
                .iter()
                .enumerate()
                .min_by(|(_, a), (_, b)| dist(p, a).partial_cmp(&dist(p, b)).unwrap())
                .map(|(k, _)| k)
                .unwrap()
        })
        .collect();
    let moved: Vec<(f64, f64)> = centres
        .iter()
        .enumerate()
        .map(|(k, old)| {
            let (sx, sy, n) = points
                .iter()
                .zip(&label)
                .filter(|&(_, &l)| l == k)
                .fold((0.0, 0.0, 0usize), |(sx, sy, n), (p, _)| (sx + p.0, sy + p.1, n + 1));
            if n == 0 { *old } else { (sx / n as f64, sy / n as f64) }
        })
        .collect();
    points.iter().zip(&label).map(|(p, &l)| dist(p, &moved[l])).sum::<f64>()
        + moved.iter().map(|&(a, b)| a * b).sum::<f64>()
}

/// Heston's paths with correlated numbers, full truncation.
#[differentiable]
fn heston(x: &[f64]) -> f64 {
    const PATHS: usize = 6;
    let (paths, steps) = (PATHS, PATHS / 2);
    let &[kappa, theta, xi, rho, v0] = x else { panic!("five parameters") };
    let dt = 1.0 / steps as f64;
    let mut state = 12345u64;
    let mut next = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        ((state >> 33) as f64 + 0.5) / (1u64 << 31) as f64
    };
    let mut payoff = 0.0;
    for _ in 0..paths {
        let (mut s, mut v) = (1.0f64, v0);
        for _ in 0..steps {
            let (u1, u2) = (next(), next());
            let r = (-2.0 * log(u1)).sqrt();
            let angle = 2.0 * std::f64::consts::PI * u2;
            let z1 = r * cos(angle);
            let z2 = rho * z1 + (1.0 - rho * rho).sqrt() * r * sin(angle);
            let vp = v.max(0.0);
            s *= exp(-0.5 * vp * dt + (vp * dt).sqrt() * z1);
            v += kappa * (theta - vp) * dt + xi * (vp * dt).sqrt() * z2;
        }
        payoff += f64::max(s - 0.95, 0.0);
    }
    payoff / paths as f64
}

/// Logistic regression by Newton's steps with a line search that halves.
#[differentiable]
fn irls(x: &[f64]) -> f64 {
    let n = x.len() / 2;
    let (z, y) = (&x[..n], &x[n..]);
    let loss = |b: &[f64; 2]| -> f64 {
        z.iter()
            .zip(y)
            .map(|(z, y)| {
                let eta = b[0] + b[1] * z;
                log(1.0 + exp(-eta.abs())) + eta.max(0.0) - y * eta
            })
            .sum::<f64>()
            + 0.1 * (b[0] * b[0] + b[1] * b[1])
    };
    let mut b = [0.0, 0.0];
    for _ in 0..4 {
        let (mut g, mut h) = ([0.2 * b[0], 0.2 * b[1]], [[0.2, 0.0], [0.0, 0.2]]);
        for (&z, &y) in z.iter().zip(y) {
            let p = 1.0 / (1.0 + exp(-(b[0] + b[1] * z)));
            let row = [1.0, z];
            for i in 0..2 {
                g[i] += (p - y) * row[i];
                for j in 0..2 {
                    h[i][j] += p * (1.0 - p) * row[i] * row[j];
                }
            }
        }
        let det = h[0][0] * h[1][1] - h[0][1] * h[1][0];
        let d = [(h[1][1] * g[0] - h[0][1] * g[1]) / det, (h[0][0] * g[1] - h[1][0] * g[0]) / det];
        let before = loss(&b);
        let mut step = 1.0;
        b = loop {
            let tried = [b[0] - step * d[0], b[1] - step * d[1]];
            if loss(&tried) <= before || step < 1e-3 {
                break tried;
            }
            step *= 0.5;
        };
    }
    b[0] - b[1] + loss(&b)
}

/// A trait with a constant and a provided method, types that have it, and functions over both.
#[differentiable]
trait Kernel {
    const SCALE: f64;
    fn of(&self, r2: f64) -> f64;
    fn matrix(&self, x: &[f64], jitter: f64) -> Vec<f64> {
        let n = x.len();
        let mut k = vec![0.0; n * n];
        for i in 0..n {
            for j in 0..n {
                k[i * n + j] = Self::SCALE * self.of((x[i] - x[j]).powi(2));
            }
            k[i * n + i] += jitter;
        }
        k
    }
}

#[derive(Data, Clone, Copy, Debug, PartialEq)]
struct Rbf {
    length: f64,
}
#[derive(Data, Clone, Copy, Debug, PartialEq)]
struct Rational {
    length: f64,
    alpha: f64,
}

#[differentiable]
impl Kernel for Rbf {
    const SCALE: f64 = 1.5;
    fn of(&self, r2: f64) -> f64 {
        exp(-0.5 * r2 / (self.length * self.length))
    }
}
#[differentiable]
impl Kernel for Rational {
    const SCALE: f64 = 0.5;
    fn of(&self, r2: f64) -> f64 {
        let base = 1.0 + r2 / (2.0 * self.alpha * self.length.powi(2));
        exp(-self.alpha * log(base))
    }
}

#[differentiable]
fn evidence<K: Kernel>(kernel: &K, x: &[f64], y: &[f64]) -> f64 {
    let n = x.len();
    let k = kernel.matrix(x, 0.3);
    let mut l = vec![0.0; n * n];
    for i in 0..n {
        for j in 0..=i {
            let dot: f64 = (0..j).map(|p| l[i * n + p] * l[j * n + p]).sum();
            l[i * n + j] = if i == j {
                (k[i * n + i] - dot).sqrt()
            } else {
                (k[i * n + j] - dot) / l[j * n + j]
            };
        }
    }
    let mut z = y.to_vec();
    for i in 0..n {
        for j in 0..i {
            z[i] -= l[i * n + j] * z[j];
        }
        z[i] /= l[i * n + i];
    }
    0.5 * z.iter().map(|v| v * v).sum::<f64>() + (0..n).map(|i| log(l[i * n + i])).sum::<f64>()
}

#[differentiable]
fn evidences(x: &[f64]) -> f64 {
    let (at, y) = ([0.0, 0.7, 1.1], [0.2, -0.3, 0.9]);
    let rbf = Rbf { length: x[0] };
    let rational = Rational { length: x[0], alpha: x[1] };
    evidence(&rbf, &at, &y) + evidence(&rational, &at, &y) + rbf.matrix(&at, x[1])[1]
}

/// A sparse matrix by rows, and steps of Gauss and Seidel with over-relaxation.
#[derive(Data, Clone, Debug, PartialEq)]
struct Csr {
    starts: Vec<usize>,
    columns: Vec<usize>,
    values: Vec<f64>,
}

#[differentiable]
impl Csr {
    fn residual(&self, u: &[f64], f: &[f64]) -> f64 {
        (0..f.len())
            .map(|i| {
                let (a, b) = (self.starts[i], self.starts[i + 1]);
                let au: f64 =
                    self.columns[a..b].iter().zip(&self.values[a..b]).map(|(&j, v)| v * u[j]).sum();
                (f[i] - au).powi(2)
            })
            .sum()
    }
    fn sor(&self, f: &[f64], omega: f64, sweeps: usize) -> Vec<f64> {
        let n = f.len();
        let mut u = vec![0.0; n];
        for _ in 0..sweeps {
            for i in 0..n {
                let (mut sum, mut diagonal) = (f[i], None);
                for k in self.starts[i]..self.starts[i + 1] {
                    match self.columns[k] {
                        j if j == i => diagonal = Some(self.values[k]),
                        j => sum -= self.values[k] * u[j],
                    }
                }
                let Some(d) = diagonal else { continue };
                u[i] = (1.0 - omega) * u[i] + omega * sum / d;
            }
        }
        u
    }
}

#[differentiable]
fn relaxed(x: &[f64]) -> f64 {
    let a = Csr {
        starts: vec![0, 2, 5, 7],
        columns: vec![0, 1, 0, 1, 2, 1, 2],
        values: vec![4.0, x[0], x[0], 3.0 + x[1], -1.0, -1.0, 5.0],
    };
    let f = [1.0, x[1], -2.0];
    let u = a.sor(&f, x[2], 4);
    a.residual(&u, &f) * 1e3 + u.iter().map(|u| u * u).sum::<f64>()
}

/// Viterbi's path with pointers back, its score taken along the path again.
#[differentiable]
fn viterbi_path(x: &[f64]) -> f64 {
    let trans = [[log(0.7), log(0.3)], [log(0.4), log(0.6)]];
    let emit = |s: usize, y: f64| -0.5 * (y - [x[0], x[1]][s]).powi(2);
    let obs = &x[2..];
    let mut score = [emit(0, obs[0]), emit(1, obs[0])];
    let mut back: Vec<[usize; 2]> = vec![[0; 2]; obs.len()];
    for (t, &y) in obs.iter().enumerate().skip(1) {
        let mut next = [f64::NEG_INFINITY; 2];
        for (s, best) in next.iter_mut().enumerate() {
            for (from, old) in score.iter().enumerate() {
                let here = old + trans[from][s];
                if here > *best {
                    *best = here;
                    back[t][s] = from;
                }
            }
            *best += emit(s, y);
        }
        score = next;
    }
    let mut s = if score[1] > score[0] { 1 } else { 0 };
    let mut path = vec![s];
    for t in (1..obs.len()).rev() {
        s = back[t][s];
        path.push(s);
    }
    path.reverse();
    let again: f64 = path.iter().zip(obs).map(|(&s, &y)| emit(s, y)).sum();
    again + 0.1 * path.iter().filter(|&&s| s == 1).count() as f64 * x[1] + score[0].max(score[1])
}

#[test]
fn solvers() {
    everywhere! {
        cash_karp at [1.2, 2.0];
        householder_fit at [0.3, 1.2, 1.9, 3.3];
        jacobi_eigenvalues at [2.0, 0.3, -0.4, 1.0, 0.2, -0.5];
        de_boor at [1.0, -0.5, 2.0, 0.7];
        relaxed at [0.5, 1.0, 1.1];
    }
}

#[test]
fn learning_and_paths() {
    everywhere! {
        k_means at [0.0, 0.1, 2.0, 2.1, 0.2, 0.3, 1.8, 2.5, -0.3, 0.4];
        heston at [1.5, 0.04, 0.3, -0.6, 0.05], [1.0];
        irls at [0.5, -1.0, 2.0, 1.0, 0.0, 1.0];
        evidences at [0.8, 1.3];
        viterbi_path at [0.0, 2.0, 0.3, 1.8, 2.2, -0.5];
    }
}

const RAGGED: [&[f64]; 2] = [&[], &[0.5]];

#[differentiable]
fn of_a_ragged_constant(x: &[f64]) -> f64 {
    RAGGED[1].iter().zip(x).map(|(a, x)| a * x).sum()
}

static NEIGHBOURS: &[&[usize]] = &[&[1, 2], &[0], &[], &[2]];

/// A step over edges, from a table of a module.
#[differentiable]
fn of_neighbours(x: &[f64]) -> f64 {
    let mut s = 0.0;
    for (i, row) in NEIGHBOURS.iter().enumerate() {
        for &j in row.iter() {
            s += (x[i] - x[j]).powi(2);
        }
        s += x[i] * row.len() as f64;
    }
    let last = NEIGHBOURS.iter().rposition(|row| !row.is_empty()).unwrap_or(0);
    s * x[last] + x[NEIGHBOURS[0][1]] + NEIGHBOURS.len() as f64 * x[NEIGHBOURS[x.len() - 4][0]]
}

#[test]
fn constants_of_a_module_have_rows_of_different_lengths() {
    everywhere! {
        of_a_ragged_constant at [2.0];
        of_neighbours at [1.0, -0.5, 2.0, 0.7], [1.0, 2.0], [1.0, -0.5, 2.0, 0.7, 1.0, 1.0];
    }
}

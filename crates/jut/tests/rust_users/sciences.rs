//! Functions of filters, splines, graphs, polynomials and machines with states.
use jut::math::{atan2, exp, log};
use jut::{Data, differentiable};

/// Extended Kalman filter with a struct of matrices.
#[derive(Data, Clone, Copy, Debug, PartialEq)]
struct Filter {
    x: [f64; 2],
    p: [[f64; 2]; 2],
}

#[differentiable]
impl Filter {
    fn predict(&self, dt: f64, q: f64) -> Self {
        let [pos, vel] = self.x;
        let f = [[1.0, dt], [0.0, 1.0]];
        let mut p = [[0.0; 2]; 2];
        for i in 0..2 {
            for j in 0..2 {
                for k in 0..2 {
                    for l in 0..2 {
                        p[i][j] += f[i][k] * self.p[k][l] * f[j][l];
                    }
                }
                if i == j {
                    p[i][j] += q;
                }
            }
        }
        Filter { x: [pos + dt * vel, vel], p }
    }
    fn update(&mut self, z: f64, r: f64) -> f64 {
        let s = self.p[0][0] + r;
        let k = [self.p[0][0] / s, self.p[1][0] / s];
        let y = z - self.x[0];
        self.x.iter_mut().zip(k.iter()).for_each(|(x, k)| *x += k * y);
        let row = self.p[0];
        for (p, k) in self.p.iter_mut().zip(&k) {
            for (p, r) in p.iter_mut().zip(&row) {
                *p -= k * r;
            }
        }
        -0.5 * (y * y / s + log(s))
    }
}

#[differentiable]
fn kalman(x: &[f64]) -> f64 {
    let mut f = Filter { x: [0.0, x[0]], p: [[1.0, 0.0], [0.0, 1.0]] };
    let mut ll = 0.0;
    for &z in &x[2..] {
        f = f.predict(0.1, x[1]);
        ll += f.update(z, 0.3);
    }
    ll
}

/// Rosenbrock by Nelder-Mead-like simplex: sorting structs.
#[derive(Data, Clone, Copy, Debug, PartialEq)]
struct Vertex {
    at: [f64; 2],
    cost: f64,
}

#[differentiable]
fn simplex(x: &[f64]) -> f64 {
    let cost = |p: [f64; 2]| (1.0 - p[0]).powi(2) + 5.0 * (p[1] - p[0] * p[0]).powi(2);
    let mut all: Vec<Vertex> = x
        .chunks_exact(2)
        .map(|c| {
            let at = [c[0], c[1]];
            Vertex { at, cost: cost(at) }
        })
        .collect();
    for _ in 0..3 {
        all.sort_by(|a, b| a.cost.partial_cmp(&b.cost).unwrap());
        let worst = all[all.len() - 1];
        let n = (all.len() - 1) as f64;
        let mut centre = [0.0; 2];
        for v in all.iter().take(all.len() - 1) {
            centre[0] += v.at[0] / n;
            centre[1] += v.at[1] / n;
        }
        let mirrored = [2.0 * centre[0] - worst.at[0], 2.0 * centre[1] - worst.at[1]];
        let c = cost(mirrored);
        if c < worst.cost {
            if let Some(last) = all.last_mut() {
                *last = Vertex { at: mirrored, cost: c };
            }
        } else {
            for v in all.iter_mut().skip(1) {
                v.at = [0.5 * (v.at[0] + centre[0]), 0.5 * (v.at[1] + centre[1])];
                v.cost = cost(v.at);
            }
        }
    }
    all.iter().map(|v| v.cost).fold(f64::INFINITY, f64::min)
}

/// Hidden Markov model, forward.
#[differentiable]
fn hmm(x: &[f64]) -> f64 {
    const K: usize = 2;
    let (stay, obs) = (x[0], &x[1..]);
    let t = [[stay, 1.0 - stay], [1.0 - stay, stay]];
    let emit = |k: usize, o: f64| exp(-0.5 * (o - k as f64).powi(2));
    let mut a: [f64; K] = std::array::from_fn(|k| 0.5 * emit(k, obs[0]));
    let mut ll = 0.0;
    for o in obs.iter().skip(1) {
        let norm: f64 = a.iter().sum();
        ll += log(norm);
        let mut next = [0.0; K];
        for (j, n) in next.iter_mut().enumerate() {
            *n = a.iter().enumerate().map(|(i, a)| a / norm * t[i][j]).sum::<f64>() * emit(j, *o);
        }
        a = next;
    }
    ll + log(a.iter().sum())
}

/// Linear programming-ish penalty with filter_map/any/all.
#[differentiable]
fn penalties(x: &[f64]) -> f64 {
    let bounds = [(0.0, 1.0), (-1.0, 2.0), (0.5, 0.75)];
    let inside = x.iter().zip(bounds.iter()).all(|(v, (lo, hi))| (lo..=hi).contains(&v));
    let violation: f64 = x
        .iter()
        .zip(&bounds)
        .filter_map(|(&v, &(lo, hi))| {
            if v < lo {
                Some((lo - v).powi(2))
            } else if v > hi {
                Some((v - hi).powi(2))
            } else {
                None
            }
        })
        .sum();
    if inside { x.iter().map(|v| v * v).sum::<f64>() } else { 10.0 * violation }
}

/// Cubic spline: tridiagonal, `windows`, `rev`, tuples out of a fold.
#[derive(Data, Clone, Debug, PartialEq)]
struct Spline {
    x: Vec<f64>,
    y: Vec<f64>,
    m: Vec<f64>,
}

#[differentiable]
impl Spline {
    fn new(y: &[f64]) -> Spline {
        let n = y.len();
        let x: Vec<f64> = (0..n).map(|i| i as f64).collect();
        let mut c = vec![0.0; n];
        let mut m = vec![0.0; n];
        for i in 1..n - 1 {
            let d = 6.0 * (y[i + 1] - 2.0 * y[i] + y[i - 1]);
            let w = 4.0 - c[i - 1];
            c[i] = 1.0 / w;
            m[i] = (d - m[i - 1]) / w;
        }
        for i in (1..n - 1).rev() {
            m[i] -= c[i] * m[i + 1];
        }
        Spline { x, y: y.to_vec(), m }
    }
    fn at(&self, t: f64) -> f64 {
        let last = self.x.len() - 2;
        let i = self.x.iter().rposition(|&x| x <= t).unwrap_or(0).min(last);
        let (a, b) = (self.x[i + 1] - t, t - self.x[i]);
        (self.m[i] * a.powi(3) + self.m[i + 1] * b.powi(3)) / 6.0
            + (self.y[i] - self.m[i] / 6.0) * a
            + (self.y[i + 1] - self.m[i + 1] / 6.0) * b
    }
}

#[differentiable]
fn splined(x: &[f64]) -> f64 {
    let (t, y) = x.split_first().unwrap();
    let s = Spline::new(y);
    s.at(*t) + 0.5 * s.at(t * 0.5) + s.m.iter().map(|v| v.abs()).sum::<f64>()
}

/// Graph: edges with tuples, shortest paths by relaxation, a while with a flag.
#[differentiable]
fn shortest(x: &[f64]) -> f64 {
    let edges: [(usize, usize); 5] = [(0, 1), (1, 2), (0, 2), (2, 3), (1, 3)];
    let mut dist = [f64::INFINITY; 4];
    dist[0] = 0.0;
    let mut changed = true;
    while changed {
        changed = false;
        for (&(a, b), w) in edges.iter().zip(x) {
            let through = dist[a] + w;
            if through < dist[b] {
                dist[b] = through;
                changed = true;
            }
        }
    }
    dist[3]
}

/// Histogram matching by cumulative sums, two cursors.
#[differentiable]
fn wasserstein(x: &[f64]) -> f64 {
    let (a, b) = x.split_at(x.len() / 2);
    let (mut a, mut b) = (a.to_vec(), b.to_vec());
    a.sort_unstable_by(|p, q| p.total_cmp(q));
    b.sort_unstable_by(|p, q| q.total_cmp(p));
    b.reverse();
    let (mut i, mut j) = (0, 0);
    let (mut left, mut right) = (1.0 / a.len() as f64, 1.0 / b.len() as f64);
    let mut cost = 0.0;
    while i < a.len() && j < b.len() {
        let moved = f64::min(left, right);
        cost += moved * (a[i] - b[j]).abs();
        left -= moved;
        right -= moved;
        if left <= 1e-12 {
            i += 1;
            left = 1.0 / a.len() as f64;
        }
        if right <= 1e-12 {
            j += 1;
            right = 1.0 / b.len() as f64;
        }
    }
    cost
}

/// Polynomials: nested closures, zip of ranges, pow of integers, binomials.
#[differentiable]
fn bernstein(x: &[f64]) -> f64 {
    fn binomial(n: u32, k: u32) -> u32 {
        (1..=k).fold(1, |acc, i| acc * (n - k + i) / i)
    }
    let [t, coefficients @ ..] = x else { return 0.0 };
    let n = coefficients.len() as u32 - 1;
    (0..=n)
        .zip(coefficients)
        .map(|(k, c)| {
            c * f64::from(binomial(n, k)) * t.powi(k as i32) * (1.0 - t).powi((n - k) as i32)
        })
        .sum()
}

/// Options chained with `?`.
#[differentiable]
fn quadratic(a: f64, b: f64, c: f64) -> Option<(f64, f64)> {
    let d = b.mul_add(b, -4.0 * a * c);
    if d < 0.0 || a == 0.0 {
        return None;
    }
    let q = -0.5 * (b + d.sqrt().copysign(b));
    let (r, s) = (q / a, c / q);
    Some(if r < s { (r, s) } else { (s, r) })
}

#[differentiable]
fn roots(x: &[f64]) -> f64 {
    let first = quadratic(x[0], x[1], x[2]).map(|(r, s)| s - r);
    let second =
        quadratic(x[2], x[1], x[0]).and_then(|(r, _)| if r > 0.0 { Some(r) } else { None });
    first.unwrap_or(-1.0) + second.map_or(x[1], |v| v * v)
}

/// Angles.
#[differentiable]
fn bearings(x: &[f64]) -> f64 {
    let mut previous: Option<f64> = None;
    let mut turned = 0.0;
    for w in x.chunks_exact(2).collect::<Vec<_>>().windows(2) {
        let (a, b) = (w[0], w[1]);
        let angle = atan2(b[1] - a[1], b[0] - a[0]);
        if let Some(p) = previous {
            let d = (angle - p + 180_f64.to_radians()).rem_euclid(std::f64::consts::TAU)
                - std::f64::consts::PI;
            turned += d.abs();
        }
        previous = Some(angle);
    }
    turned
}

/// Simple automatic gain with state machine enum.
#[derive(Data, Clone, Copy, Debug, PartialEq)]
enum Mode {
    Idle,
    Rising { since: f64 },
    Falling(f64, i32),
}

#[differentiable]
fn machine(x: &[f64]) -> f64 {
    let mut mode = Mode::Idle;
    let mut out = 0.0;
    for (k, &v) in x.iter().enumerate() {
        mode = match mode {
            Mode::Idle if v > 0.5 => Mode::Rising { since: v },
            Mode::Idle => Mode::Idle,
            Mode::Rising { since } if v > since => Mode::Rising { since: 0.5 * (since + v) },
            Mode::Rising { since } => Mode::Falling(since - v, k as i32),
            Mode::Falling(drop, n) if n > 3 || drop > 1.0 => Mode::Idle,
            Mode::Falling(drop, n) => Mode::Falling(drop * 0.5 + v, n + 1),
        };
        out += match mode {
            Mode::Idle => 0.1 * v,
            Mode::Rising { since } => since * v,
            Mode::Falling(drop, n) => drop.powi(n.min(2)) - v,
        };
    }
    out
}

/// A trait object free strategy: generic with const and closure returning closures' results.
#[differentiable]
fn newton<const N: usize, F: Fn(f64) -> (f64, f64)>(f: F, starts: &[f64; N]) -> f64 {
    let mut best = f64::MAX;
    'starts: for &s in starts {
        let mut x = s;
        for _ in 0..20 {
            let (v, d) = f(x);
            if d.abs() < 1e-9 {
                continue 'starts;
            }
            let step = v / d;
            x -= step;
            if step.abs() < 1e-13 {
                best = best.min(x);
                continue 'starts;
            }
        }
    }
    best
}

#[differentiable]
fn lowest_root(x: &[f64]) -> f64 {
    let (a, b) = (x[0], x[1]);
    newton(|t| (t * t * t - a * t + b, 3.0 * t * t - a), &[-2.0, 0.1, 2.0])
}

#[test]
fn values_and_gradients() {
    everywhere! {
        kalman at [1.0, 0.1, 0.1, 0.25, 0.3, 0.5];
        simplex at [0.0, 0.0, 1.5, 0.2, 0.3, 1.1], [-1.0, 0.5, -0.8, 0.9, -1.2, 0.1];
        hmm at [0.8, 0.1, 0.9, 1.2, -0.3];
        penalties at [0.5, 0.5, 0.6], [1.5, -1.5, 0.6];
        splined at [1.7, 0.0, 1.0, 0.5, 2.0, 1.0], [0.2, 1.0, 3.0, 2.0];
        shortest at [1.0, 2.0, 2.5, 1.0, 4.0], [1.0, 2.0, 3.5, 1.0, 1.2];
        wasserstein at [1.0, 3.0, 2.0, 0.5, 2.5, 4.0], [1.0, 0.0];
        bernstein at [0.3, 1.0, 2.0, 0.5, 4.0], [0.4, 2.0];
        roots at [1.0, -3.0, 1.5], [1.0, 0.5, 2.0], [2.0, 5.0, 1.0];
        bearings at [0.0, 0.0, 1.0, 0.2, 1.5, 1.0, 0.5, 1.5], [0.0, 0.0];
        machine at [0.2, 0.7, 0.9, 0.85, 0.4, 0.3, 0.2, 0.6];
        lowest_root at [2.0, 0.5];
    }
}

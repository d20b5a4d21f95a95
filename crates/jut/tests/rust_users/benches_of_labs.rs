//! From laboratories: rays and signed distances, transforms by recursion, minimisers inside, radial bases, walls and moving bodies.

use jut::math::{cos, exp, log, sin};
use jut::{Data, differentiable};

// A game programmer: signed distances by a trait with default methods, marched by a sphere.
#[differentiable]
trait Shape {
    fn distance(&self, p: [f64; 3]) -> f64;
    fn normal(&self, p: [f64; 3]) -> [f64; 3] {
        let h = 1e-3;
        let mut n = [0.0; 3];
        for (i, c) in n.iter_mut().enumerate() {
            let (mut a, mut b) = (p, p);
            a[i] += h;
            b[i] -= h;
            *c = (self.distance(a) - self.distance(b)) / (2.0 * h);
        }
        let len = n.iter().map(|c| c * c).sum::<f64>().sqrt();
        n.map(|c| c / len)
    }
    fn march(&self, from: [f64; 3], dir: [f64; 3]) -> Option<f64> {
        let mut t = 0.0;
        for _ in 0..40 {
            let at: [f64; 3] = std::array::from_fn(|i| from[i] + t * dir[i]);
            let d = self.distance(at);
            if d < 1e-9 {
                return Some(t);
            }
            t += d;
        }
        None
    }
}

#[derive(Data, Clone, Copy, Debug, PartialEq)]
struct Ball {
    centre: [f64; 3],
    radius: f64,
}

#[differentiable]
impl Shape for Ball {
    fn distance(&self, p: [f64; 3]) -> f64 {
        let q: [f64; 3] = std::array::from_fn(|i| p[i] - self.centre[i]);
        (q[0] * q[0] + q[1] * q[1] + q[2] * q[2]).sqrt() - self.radius
    }
}

#[differentiable]
fn shade<S: Shape>(shape: &S, rays: &[[f64; 3]], light: [f64; 3]) -> f64 {
    rays.iter()
        .filter_map(|&dir| shape.march([0.0; 3], dir).map(|t| (dir, t)))
        .map(|(dir, t)| {
            let n = shape.normal(dir.map(|c| c * t));
            let lambert: f64 = n.iter().zip(&light).map(|(a, b)| a * b).sum();
            lambert.max(0.0) * exp(-0.1 * t)
        })
        .sum()
}

#[differentiable]
fn render(x: &[f64]) -> f64 {
    let ball = Ball { centre: [x[0], x[1], 5.0], radius: x[2] };
    let mut rays = Vec::with_capacity(9);
    for i in -1..=1 {
        for j in -1..=1 {
            let (u, v) = (0.1 * i as f64, 0.1 * j as f64);
            let n = (u * u + v * v + 1.0).sqrt();
            rays.push([u / n, v / n, 1.0 / n]);
        }
    }
    shade(&ball, &rays, [0.0, 0.6, -0.8])
}

// A student: a Fourier transform by recursion on lists of pairs.
#[differentiable]
fn fft(a: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let n = a.len();
    if n == 1 {
        return a.to_vec();
    }
    let even: Vec<(f64, f64)> = a.iter().step_by(2).copied().collect();
    let odd: Vec<(f64, f64)> = a.iter().skip(1).step_by(2).copied().collect();
    let (e, o) = (fft(&even), fft(&odd));
    let mut out = vec![(0.0, 0.0); n];
    for k in 0..n / 2 {
        let ang = -2.0 * std::f64::consts::PI * k as f64 / n as f64;
        let (c, s) = (cos(ang), sin(ang));
        let t = (c * o[k].0 - s * o[k].1, c * o[k].1 + s * o[k].0);
        out[k] = (e[k].0 + t.0, e[k].1 + t.1);
        out[k + n / 2] = (e[k].0 - t.0, e[k].1 - t.1);
    }
    out
}

#[differentiable]
fn spectrum(x: &[f64]) -> f64 {
    let windowed: Vec<(f64, f64)> =
        x.iter().enumerate().map(|(i, v)| (v * (0.5 - 0.5 * cos(0.7 * i as f64)), 0.0)).collect();
    let bins = fft(&windowed);
    bins.iter()
        .take(x.len() / 2)
        .enumerate()
        .map(|(k, (re, im))| k as f64 * (re * re + im * im))
        .sum()
}

// A Haskell programmer: Simpson's rule that divides itself, closures that make closures.
#[differentiable]
fn adaptive(f: &dyn Fn(f64) -> f64, a: f64, b: f64, tol: f64, depth: u32) -> f64 {
    let simpson = |a: f64, b: f64| (b - a) / 6.0 * (f(a) + 4.0 * f(0.5 * (a + b)) + f(b));
    let m = 0.5 * (a + b);
    let (whole, left, right) = (simpson(a, b), simpson(a, m), simpson(m, b));
    let delta = left + right - whole;
    if depth == 0 || delta.abs() <= 15.0 * tol {
        left + right + delta / 15.0
    } else {
        adaptive(f, a, m, tol / 2.0, depth - 1) + adaptive(f, m, b, tol / 2.0, depth - 1)
    }
}

#[differentiable]
fn wave(x: &[f64]) -> f64 {
    let k = x[0];
    let damped = |t: f64| exp(-k * t) * sin(3.0 * t);
    adaptive(&damped, 0.0, x[1], 1e-6, 6)
}

// Radial bases: conjugate gradients inside, kernels as values of an enum, dense rows.
#[derive(Data, Clone, Copy, Debug, PartialEq)]
enum Kernel {
    Gaussian { width: f64 },
    Multiquadric { c: f64 },
    Linear,
}

#[differentiable]
impl Kernel {
    fn eval(self, r: f64) -> f64 {
        match self {
            Kernel::Gaussian { width } => exp(-(r / width).powi(2)),
            Kernel::Multiquadric { c } => (r * r + c * c).sqrt(),
            Kernel::Linear => r,
        }
    }
}

#[differentiable]
fn cg(a: impl Fn(&[f64]) -> Vec<f64>, b: &[f64], tol: f64) -> Vec<f64> {
    let dot = |u: &[f64], v: &[f64]| u.iter().zip(v).map(|(a, b)| a * b).sum::<f64>();
    let mut x = vec![0.0; b.len()];
    let mut r = b.to_vec();
    let mut p = r.clone();
    let mut rs = dot(&r, &r);
    for _ in 0..2 * b.len() {
        if rs < tol {
            break;
        }
        let ap = a(&p);
        let alpha = rs / dot(&p, &ap);
        for i in 0..x.len() {
            x[i] += alpha * p[i];
            r[i] -= alpha * ap[i];
        }
        let rs_new = dot(&r, &r);
        p = r.iter().zip(&p).map(|(r, p)| r + rs_new / rs * p).collect();
        rs = rs_new;
    }
    x
}

#[differentiable]
fn interpolate(x: &[f64]) -> f64 {
    let kernel = Kernel::Gaussian { width: x[0] };
    let sites = [[0.0, 0.0], [1.0, 0.2], [0.3, 1.1], [0.9, 0.8]];
    let dist = |a: &[f64; 2], b: &[f64; 2]| ((a[0] - b[0]).powi(2) + (a[1] - b[1]).powi(2)).sqrt();
    let gram: Vec<Vec<f64>> = sites
        .iter()
        .enumerate()
        .map(|(i, p)| {
            sites
                .iter()
                .enumerate()
                .map(|(j, q)| kernel.eval(dist(p, q)) + if i == j { 0.1 } else { 0.0 })
                .collect()
        })
        .collect();
    let matvec = |v: &[f64]| -> Vec<f64> {
        gram.iter().map(|row| row.iter().zip(v).map(|(a, b)| a * b).sum()).collect()
    };
    let w = cg(matvec, &x[1..], 1e-24);
    let trend = Kernel::Linear.eval(0.5) + Kernel::Multiquadric { c: x[0] }.eval(0.5);
    trend + w.iter().zip(&sites).map(|(w, s)| w * kernel.eval(dist(s, &[0.5, 0.5]))).sum::<f64>()
}

// An arm: angles by damped least squares, a small generic matrix of constant size.
#[derive(Data, Clone, Copy, Debug, PartialEq)]
struct Link {
    length: f64,
    angle: f64,
}

#[differentiable]
fn forward(links: &[Link]) -> (f64, f64, Vec<(f64, f64)>) {
    let mut joints = vec![(0.0, 0.0)];
    let mut heading = 0.0;
    for link in links {
        heading += link.angle;
        let &(px, py) = joints.last().unwrap();
        joints.push((px + link.length * cos(heading), py + link.length * sin(heading)));
    }
    let (ex, ey) = joints.pop().unwrap();
    (ex, ey, joints)
}

#[differentiable]
fn reach(x: &[f64]) -> f64 {
    let mut links: Vec<Link> = x[2..].iter().map(|&length| Link { length, angle: 0.3 }).collect();
    let (target, lambda2) = ((x[0], x[1]), 0.05);
    let mut error = f64::INFINITY;
    for _ in 0..15 {
        let (ex, ey, joints) = forward(&links);
        let (dx, dy) = (target.0 - ex, target.1 - ey);
        error = dx.hypot(dy);
        let jac: Vec<[f64; 2]> = joints.iter().map(|&(jx, jy)| [-(ey - jy), ex - jx]).collect();
        let mut m = [[lambda2, 0.0], [0.0, lambda2]];
        for col in &jac {
            for (r, row) in m.iter_mut().enumerate() {
                for c in 0..2 {
                    row[c] += col[r] * col[c];
                }
            }
        }
        let det = m[0][0] * m[1][1] - m[0][1] * m[1][0];
        let f = [(m[1][1] * dx - m[0][1] * dy) / det, (m[0][0] * dy - m[1][0] * dx) / det];
        for (link, col) in links.iter_mut().zip(jac.into_iter()) {
            link.angle += (col[0] * f[0] + col[1] * f[1]).clamp(-0.5, 0.5);
        }
    }
    error + links.iter().map(|l| l.angle * l.angle).sum::<f64>()
}

// Doses in two compartments: an agenda of events, which is drained as time goes.
#[derive(Data, Clone, Copy, Debug, PartialEq)]
enum Event {
    Dose { at: f64, amount: f64 },
    Sample { at: f64, seen: f64 },
}

#[differentiable]
impl Event {
    fn at(&self) -> f64 {
        match self {
            Event::Dose { at, .. } | Event::Sample { at, .. } => *at,
        }
    }
}

#[differentiable]
fn doses(x: &[f64]) -> f64 {
    let (ke, k12, k21, dose) = (x[0], x[1], x[2], x[3]);
    let mut agenda = vec![
        Event::Dose { at: 0.0, amount: dose },
        Event::Sample { at: 1.0, seen: 0.6 },
        Event::Sample { at: 2.5, seen: 0.7 },
        Event::Dose { at: 2.0, amount: 0.5 * dose },
    ];
    agenda.sort_by(|a, b| a.at().partial_cmp(&b.at()).unwrap());
    let (mut central, mut peripheral, mut now, mut sse) = (0.0, 0.0, 0.0, 0.0);
    for event in agenda.drain(..) {
        while now < event.at() - 1e-9 {
            let dt = f64::min(0.25, event.at() - now);
            let flux = k12 * central - k21 * peripheral;
            central -= dt * (ke * central + flux);
            peripheral += dt * flux;
            now += dt;
        }
        match event {
            Event::Dose { amount, .. } => central += amount,
            Event::Sample { seen, .. } => sse += (central - seen) * (central - seen),
        }
    }
    sse
}

// Soft Viterbi: a lattice of scores, back pointers beside it.
#[differentiable]
fn log_sum_exp(v: &[f64]) -> f64 {
    let m = v.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    m + log(v.iter().map(|x| exp(x - m)).sum())
}

#[differentiable]
fn crf(x: &[f64]) -> f64 {
    const TAGS: usize = 3;
    let (trans, emit) = x.split_at(TAGS * TAGS);
    let steps = emit.len() / TAGS;
    let mut alpha = emit[..TAGS].to_vec();
    let mut best = vec![alpha.clone()];
    let mut back: Vec<[usize; TAGS]> = Vec::new();
    for t in 1..steps {
        let row = &emit[t * TAGS..(t + 1) * TAGS];
        let prev = best.last().unwrap().clone();
        let mut scores = vec![f64::NEG_INFINITY; TAGS];
        let mut from = [0; TAGS];
        for (to, e) in row.iter().enumerate() {
            for k in 0..TAGS {
                let s = prev[k] + trans[k * TAGS + to] + e;
                if s > scores[to] {
                    (scores[to], from[to]) = (s, k);
                }
            }
        }
        best.push(scores);
        back.push(from);
        alpha = (0..TAGS)
            .map(|to| {
                let into: Vec<f64> =
                    alpha.iter().enumerate().map(|(k, a)| a + trans[k * TAGS + to]).collect();
                row[to] + log_sum_exp(&into)
            })
            .collect();
    }
    let mut tag =
        (0..TAGS).max_by(|&a, &b| best[steps - 1][a].total_cmp(&best[steps - 1][b])).unwrap();
    let mut path = vec![tag];
    while let Some(from) = back.pop() {
        tag = from[tag];
        path.push(tag);
    }
    path.reverse();
    log_sum_exp(&alpha) - best[steps - 1].iter().cloned().fold(f64::MIN, f64::max)
        + path.iter().enumerate().map(|(t, &k)| 0.1 * emit[t * TAGS + k]).sum::<f64>()
}

// Level set: upwind differences, borders by a closure over signed indices.
#[differentiable]
fn level_set(x: &[f64]) -> f64 {
    let n = 5usize;
    let mut phi: Vec<Vec<f64>> = (0..n)
        .map(|i| {
            (0..n)
                .map(|j| ((i as f64 - x[0]).powi(2) + (j as f64 - x[1]).powi(2)).sqrt() - x[2])
                .collect()
        })
        .collect();
    for _step in 0..3 {
        let old = phi.clone();
        let at = |i: isize, j: isize| -> f64 {
            let clip = |k: isize| k.max(0).min(n as isize - 1) as usize;
            old[clip(i)][clip(j)]
        };
        for (i, row) in phi.iter_mut().enumerate() {
            for (j, cell) in row.iter_mut().enumerate() {
                let (i, j) = (i as isize, j as isize);
                let dxm = at(i, j) - at(i - 1, j);
                let dxp = at(i + 1, j) - at(i, j);
                let dym = at(i, j) - at(i, j - 1);
                let dyp = at(i, j + 1) - at(i, j);
                let g = [dxm.max(0.0), dxp.min(0.0), dym.max(0.0), dyp.min(0.0)];
                *cell -= 0.2 * g.iter().map(|v| v * v).sum::<f64>().sqrt();
            }
        }
    }
    phi.concat().into_iter().map(|p| 1.0 / (1.0 + exp(4.0 * p))).sum()
}

// Rows of pressure at depth: layers of soil, settlement as a fold that stops.
#[differentiable]
fn settlement(x: &[f64]) -> f64 {
    let layers = x[1..].chunks(2).map(|c| (c[0], c[1]));
    let (mut depth, mut total) = (0.0, 0.0);
    for (thickness, modulus) in layers {
        let mid = depth + 0.5 * thickness;
        let stress = x[0] / (1.0 + mid).powi(2);
        if stress < 0.05 * x[0] {
            break;
        }
        total += stress * thickness / modulus;
        depth += thickness;
    }
    total
}

#[test]
fn from_laboratories() {
    everywhere! {
        render at [0.1, -0.2, 1.0];
        spectrum at [0.3, 0.9, -0.4, 1.2, 0.5, -0.8, 0.1, 0.7];
        wave at [0.5, 2.0];
        interpolate at [0.8, 1.0, 0.5, -0.3, 0.7];
        reach at [1.2, 1.0, 1.0, 0.8, 0.5];
        doses at [0.3, 0.2, 0.1, 1.0];
        crf at [0.1, -0.2, 0.3, 0.4, 0.0, -0.5, 0.2, 0.3, -0.1, 1.0, 0.2, 0.5, 0.3, 0.9, 0.1, 0.2, 0.4, 0.8];
        level_set at [1.8, 2.3, 1.2];
        settlement at [100.0, 1.0, 20.0, 1.5, 35.0, 4.0, 50.0];
    }
}

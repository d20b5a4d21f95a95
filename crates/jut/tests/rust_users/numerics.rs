//! Functions as numerical programmers write them: what is minimised to test optimisers, mechanics, statistics, filters, networks, tables, errors.

use super::slopes;
use jut::{Data, differentiable};

/// The value is that of the plain call but for the system's functions, and the gradient that of differences.
#[track_caller]
fn agree(
    what: &str,
    x: &[f64],
    f: impl Fn(&[f64]) -> f64,
    derived: impl Fn(&[f64]) -> jut::Result<(f64, Vec<f64>)>,
) {
    let (value, gradient) = derived(x).unwrap();
    super::near(what, &[value], &[f(x)]);
    super::near(what, &gradient, &slopes(f, x));
}

macro_rules! holds {
    ($($f:ident at $($x:expr),+;)*) => {$($(
        agree(stringify!($f), &$x, |x| $f(x), |x| $f::value_and_gradient(x));
    )+)*};
}

#[differentiable]
fn ackley(x: &[f64]) -> f64 {
    let n = x.len() as f64;
    let (sq, cs) = x
        .iter()
        .fold((0.0, 0.0), |(s, c), &v| (s + v * v, c + (2.0 * std::f64::consts::PI * v).cos()));
    -20.0 * (-0.2 * (sq / n).sqrt()).exp() - (cs / n).exp() + 20.0 + std::f64::consts::E
}

#[differentiable]
fn levy(x: &[f64]) -> f64 {
    let w = |v: f64| 1.0 + (v - 1.0) / 4.0;
    let pi = std::f64::consts::PI;
    let [first, .., last] = x else { return 0.0 };
    let mut s = (pi * w(*first)).sin().powi(2);
    for &v in &x[..x.len() - 1] {
        let wi = w(v);
        s += (wi - 1.0).powi(2) * (1.0 + 10.0 * (pi * wi + 1.0).sin().powi(2));
    }
    s + (w(*last) - 1.0).powi(2) * (1.0 + (2.0 * pi * w(*last)).sin().powi(2))
}

#[differentiable]
fn styblinski(x: &[f64]) -> f64 {
    0.5 * x.iter().map(|&v| v.powi(4) - 16.0 * v.powi(2) + 5.0 * v).sum::<f64>()
}

#[derive(Data, Clone, Copy, Debug, PartialEq)]
struct Body {
    mass: f64,
    pos: [f64; 3],
    vel: [f64; 3],
}

#[differentiable]
fn nbody_energy(bodies: &[Body]) -> f64 {
    let kinetic: f64 =
        bodies.iter().map(|b| 0.5 * b.mass * b.vel.iter().map(|v| v * v).sum::<f64>()).sum();
    let mut potential = 0.0;
    for (i, a) in bodies.iter().enumerate() {
        for b in bodies.iter().skip(i + 1) {
            let d2: f64 = a.pos.iter().zip(&b.pos).map(|(p, q)| (p - q).powi(2)).sum();
            potential -= a.mass * b.mass / d2.sqrt();
        }
    }
    kinetic + potential
}

#[derive(Data, Clone, Debug, PartialEq)]
enum Force {
    Spring { k: f64, rest: f64 },
    Drag(f64),
    Gravity,
}

#[differentiable]
fn simulate(forces: &[Force; 3], x0: f64, steps: usize) -> f64 {
    let (mut x, mut v) = (x0, 0.0);
    let dt = 0.01;
    for _ in 0..steps {
        let mut a = 0.0;
        for f in forces {
            a += match f {
                Force::Spring { k, rest } => -k * (x - rest),
                Force::Drag(c) if v != 0.0 => -c * v * v.abs(),
                Force::Drag(_) => 0.0,
                Force::Gravity => -9.81,
            };
        }
        v += a * dt;
        x += v * dt;
    }
    x
}

#[differentiable]
fn cumulative(x: &[f64]) -> Vec<f64> {
    x.iter()
        .scan(0.0, |acc, &v| {
            *acc += v;
            Some(*acc)
        })
        .collect()
}

#[differentiable]
fn bisect(a: f64, b: f64, c: f64) -> f64 {
    let f = |x: f64| x * x * x - c;
    let (mut lo, mut hi) = (a, b);
    let mut iterations = 0;
    while hi - lo > 1e-10 {
        let mid = 0.5 * (lo + hi);
        if f(mid).signum() == f(lo).signum() {
            lo = mid
        } else {
            hi = mid
        }
        iterations += 1;
        if iterations > 200 {
            break;
        }
    }
    let mut x = 0.5 * (lo + hi);
    x -= f(x) / (3.0 * x * x);
    x
}

#[differentiable]
fn search(m: &[[f64; 4]], limit: f64) -> f64 {
    let mut found = -1.0;
    'rows: for (i, row) in m.iter().enumerate() {
        for (j, &v) in row.iter().enumerate().rev() {
            if v > limit {
                found = v * (i + 1) as f64 + j as f64;
                break 'rows;
            }
            if v < 0.0 {
                continue 'rows;
            }
        }
    }
    found
}

#[differentiable]
fn simpson<F: Fn(f64) -> f64>(f: F, a: f64, b: f64, n: usize) -> f64 {
    let h = (b - a) / n as f64;
    let odd: f64 = (1..n).step_by(2).map(|i| f(a + i as f64 * h)).sum();
    let even: f64 = (2..n).step_by(2).map(|i| f(a + i as f64 * h)).sum();
    h / 3.0 * (f(a) + 4.0 * odd + 2.0 * even + f(b))
}

#[differentiable]
fn integral(p: &[f64; 2]) -> f64 {
    simpson(|x| p[0] * x * x + p[1] * x.sin(), 0.0, 1.0, 10)
}

#[differentiable]
fn horner<const N: usize>(c: &[f64; N], x: f64) -> f64 {
    c.iter().rev().copied().fold(0.0, |acc, k| acc * x + k)
}

#[differentiable]
fn thomas(a: &[f64], b: &[f64], c: &[f64], d: &[f64]) -> Vec<f64> {
    let n = d.len();
    let mut cp = vec![0.0; n];
    let mut dp = vec![0.0; n];
    cp[0] = c[0] / b[0];
    dp[0] = d[0] / b[0];
    for i in 1..n {
        let m = b[i] - a[i] * cp[i - 1];
        cp[i] = if i < n - 1 { c[i] / m } else { 0.0 };
        dp[i] = (d[i] - a[i] * dp[i - 1]) / m;
    }
    let mut x = dp.clone();
    for i in (0..n - 1).rev() {
        x[i] -= cp[i] * x[i + 1];
    }
    x
}

#[differentiable]
fn bspline(t: f64, knots: &[f64], i: usize, k: usize) -> f64 {
    if k == 0 {
        return if knots[i] <= t && t < knots[i + 1] { 1.0 } else { 0.0 };
    }
    let left = match knots[i + k] - knots[i] {
        d if d != 0.0 => (t - knots[i]) / d * bspline(t, knots, i, k - 1),
        _ => 0.0,
    };
    let d = knots[i + k + 1] - knots[i + 1];
    let right =
        if d != 0.0 { (knots[i + k + 1] - t) / d * bspline(t, knots, i + 1, k - 1) } else { 0.0 };
    left + right
}

#[differentiable]
fn interpolate(xs: &[f64], ys: &[f64], x: f64) -> f64 {
    let i = match xs.iter().position(|&v| v > x) {
        Some(0) => return ys[0],
        None => return ys[ys.len() - 1],
        Some(i) => i,
    };
    let t = (x - xs[i - 1]) / (xs[i] - xs[i - 1]);
    ys[i - 1] * (1.0 - t) + ys[i] * t
}

#[differentiable]
fn softmax_cross_entropy(logits: &[Vec<f64>], labels: &[usize]) -> f64 {
    let mut loss = 0.0;
    for (row, &label) in logits.iter().zip(labels.iter()) {
        let m = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let z: f64 = row.iter().map(|v| (v - m).exp()).sum();
        loss += m + z.ln() - row[label];
    }
    loss / labels.len() as f64
}

#[differentiable]
fn attention(q: &[Vec<f64>], k: &[Vec<f64>], v: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let scale = 1.0 / (q[0].len() as f64).sqrt();
    q.iter()
        .map(|qi| {
            let scores: Vec<f64> = k
                .iter()
                .map(|kj| qi.iter().zip(kj).map(|(a, b)| a * b).sum::<f64>() * scale)
                .collect();
            let m = scores.iter().cloned().fold(f64::MIN, f64::max);
            let e: Vec<f64> = scores.iter().map(|s| (s - m).exp()).collect();
            let z: f64 = e.iter().sum();
            (0..v[0].len()).map(|c| e.iter().zip(v).map(|(w, row)| w / z * row[c]).sum()).collect()
        })
        .collect()
}

#[differentiable]
fn dft_power(x: &[f64]) -> Vec<f64> {
    let n = x.len();
    (0..n / 2 + 1)
        .map(|k| {
            let (re, im) = x.iter().enumerate().fold((0.0, 0.0), |(re, im), (t, &v)| {
                let w = -2.0 * std::f64::consts::PI * (k * t % n) as f64 / n as f64;
                (re + v * w.cos(), im + v * w.sin())
            });
            re * re + im * im
        })
        .collect()
}

#[differentiable]
fn convolve(x: &[f64], kernel: &[f64]) -> Vec<f64> {
    x.windows(kernel.len())
        .map(|w| w.iter().zip(kernel.iter().rev()).map(|(a, b)| a * b).sum())
        .collect()
}

#[differentiable]
fn pooled(x: &[f64], k: usize) -> Vec<f64> {
    x.chunks(k).map(|c| c.iter().copied().fold(f64::NEG_INFINITY, f64::max)).collect()
}

#[derive(Data, Clone, Debug, PartialEq)]
struct Layer {
    w: Vec<Vec<f64>>,
    b: Vec<f64>,
}

#[differentiable]
impl Layer {
    fn forward(&self, x: &[f64]) -> Vec<f64> {
        self.w
            .iter()
            .zip(&self.b)
            .map(|(row, b)| (row.iter().zip(x).map(|(w, v)| w * v).sum::<f64>() + b).tanh())
            .collect()
    }
}

#[derive(Data, Clone, Debug, PartialEq)]
struct Net {
    first: Layer,
    second: Layer,
}

#[differentiable]
fn net_loss(net: &Net, x: &[f64], y: &[f64]) -> f64 {
    let out = net.second.forward(&net.first.forward(x));
    out.iter().zip(y).map(|(a, b)| (a - b).powi(2)).sum::<f64>() / y.len() as f64
}

#[differentiable]
fn kalman(z: &[f64], q: f64, r: f64) -> f64 {
    let mut x = 0.0;
    let mut p = 1.0;
    let mut ll = 0.0;
    for &z in z {
        p += q;
        let s = p + r;
        let innovation = z - x;
        ll -= 0.5 * (s.ln() + innovation * innovation / s);
        let k = p / s;
        x += k * innovation;
        p *= 1.0 - k;
    }
    ll
}

#[differentiable]
fn viterbi(obs: &[usize], start: &[f64], trans: &[Vec<f64>], emit: &[Vec<f64>]) -> f64 {
    let n = start.len();
    let mut score: Vec<f64> = (0..n).map(|s| start[s] + emit[s][obs[0]]).collect();
    for &o in &obs[1..] {
        score = (0..n)
            .map(|to| {
                let best = (0..n)
                    .map(|from| score[from] + trans[from][to])
                    .fold(f64::NEG_INFINITY, f64::max);
                best + emit[to][o]
            })
            .collect();
    }
    score.into_iter().fold(f64::NEG_INFINITY, f64::max)
}

#[differentiable]
fn edit_distance(a: &[f64], b: &[f64]) -> f64 {
    let (n, m) = (a.len(), b.len());
    let mut d = vec![vec![0.0; m + 1]; n + 1];
    for i in 0..=n {
        d[i][0] = i as f64;
    }
    for j in 0..=m {
        d[0][j] = j as f64;
    }
    for i in 1..=n {
        for j in 1..=m {
            let cost = (a[i - 1] - b[j - 1]).abs();
            d[i][j] = (d[i - 1][j] + 1.0).min(d[i][j - 1] + 1.0).min(d[i - 1][j - 1] + cost);
        }
    }
    d[n][m]
}

#[differentiable]
fn weighted_median(x: &[f64], w: &[f64]) -> f64 {
    let mut pairs: Vec<(f64, f64)> = x.iter().copied().zip(w.iter().copied()).collect();
    pairs.sort_by(|a, b| a.0.partial_cmp(&b.0).unwrap());
    let half = w.iter().sum::<f64>() / 2.0;
    let mut acc = 0.0;
    for (v, w) in pairs {
        acc += w;
        if acc >= half {
            return v;
        }
    }
    f64::NAN
}

#[differentiable]
fn polygon_area(points: &[(f64, f64)]) -> f64 {
    let n = points.len();
    let mut twice = 0.0;
    for i in 0..n {
        let (x0, y0) = points[i];
        let (x1, y1) = points[(i + 1) % n];
        twice += x0 * y1 - x1 * y0;
    }
    twice.abs() / 2.0
}

#[differentiable]
fn quaternion_rotate(q: [f64; 4], v: [f64; 3]) -> [f64; 3] {
    let [w, x, y, z] = q;
    let [a, b, c] = v;
    let t = [2.0 * (y * c - z * b), 2.0 * (z * a - x * c), 2.0 * (x * b - y * a)];
    [
        a + w * t[0] + y * t[2] - z * t[1],
        b + w * t[1] + z * t[0] - x * t[2],
        c + w * t[2] + x * t[1] - y * t[0],
    ]
}

#[differentiable]
trait Kernel {
    fn eval(&self, a: &[f64], b: &[f64]) -> f64;
}
#[derive(Data, Clone, Copy, Debug, PartialEq)]
struct Rbf {
    scale: f64,
}
#[differentiable]
impl Kernel for Rbf {
    fn eval(&self, a: &[f64], b: &[f64]) -> f64 {
        let d: f64 = a.iter().zip(b).map(|(x, y)| (x - y).powi(2)).sum();
        (-d / (2.0 * self.scale * self.scale)).exp()
    }
}
#[differentiable]
fn mmd<K: Kernel>(k: &K, x: &[Vec<f64>], y: &[Vec<f64>]) -> f64 {
    let mean = |p: &[Vec<f64>], q: &[Vec<f64>]| -> f64 {
        let mut s = 0.0;
        for a in p {
            for b in q {
                s += k.eval(a, b);
            }
        }
        s / (p.len() * q.len()) as f64
    };
    mean(x, x) + mean(y, y) - 2.0 * mean(x, y)
}

#[differentiable]
fn rank_pairs(x: &[f64]) -> f64 {
    let mut order: Vec<usize> = (0..x.len()).collect();
    order.sort_by(|&a, &b| x[a].partial_cmp(&x[b]).unwrap());
    order.iter().enumerate().map(|(rank, &i)| (rank + 1) as f64 * x[i]).sum()
}

#[differentiable]
fn argmin_line(x: &[f64], d: &[f64], steps: &[f64]) -> f64 {
    let best = steps
        .iter()
        .map(|&t| (t, styblinski(&x.iter().zip(d).map(|(a, b)| a + t * b).collect::<Vec<_>>())))
        .min_by(|a, b| a.1.partial_cmp(&b.1).unwrap());
    match best {
        Some((t, value)) if value.is_finite() => value + 0.1 * t * t,
        _ => 0.0,
    }
}

#[differentiable]
fn gram_schmidt(vectors: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let mut basis: Vec<Vec<f64>> = Vec::with_capacity(vectors.len());
    for v in vectors {
        let mut w = v.clone();
        for b in &basis {
            let proj: f64 = w.iter().zip(b).map(|(x, y)| x * y).sum();
            for (wi, bi) in w.iter_mut().zip(b) {
                *wi -= proj * bi;
            }
        }
        let norm = w.iter().map(|x| x * x).sum::<f64>().sqrt();
        if norm > 1e-10 {
            basis.push(w.iter().map(|x| x / norm).collect());
        }
    }
    basis
}

#[differentiable]
fn is_small(x: &[f64]) -> f64 {
    if matches!(x, [a, b] if a + b < 1.0) { x[0] * x[1] } else { x.iter().product() }
}

#[differentiable]
fn count_above(x: &[f64], t: f64) -> usize {
    x.iter().filter(|v| **v > t).count()
}

#[differentiable]
fn newton_system(guess: [f64; 2], a: f64) -> Option<[f64; 2]> {
    let mut x = guess;
    for _ in 0..50 {
        let f = [x[0] * x[0] + x[1] * x[1] - a, x[0] - x[1]];
        if f.iter().map(|v| v.abs()).fold(0.0, f64::max) < 1e-12 {
            return Some(x);
        }
        let j = [[2.0 * x[0], 2.0 * x[1]], [1.0, -1.0]];
        let det = j[0][0] * j[1][1] - j[0][1] * j[1][0];
        if det == 0.0 {
            return None;
        }
        x[0] -= (f[0] * j[1][1] - j[0][1] * f[1]) / det;
        x[1] -= (j[0][0] * f[1] - f[0] * j[1][0]) / det;
    }
    None
}

// Of lists of numbers, for the test.
#[differentiable]
fn of_bodies(x: &[f64]) -> f64 {
    let bodies: Vec<Body> = x
        .chunks_exact(7)
        .map(|c| Body { mass: c[0], pos: [c[1], c[2], c[3]], vel: [c[4], c[5], c[6]] })
        .collect();
    nbody_energy(&bodies)
}

#[differentiable]
fn of_solver(x: &[f64]) -> f64 {
    let n = x.len() / 4;
    let y = thomas(&x[..n], &x[n..2 * n], &x[2 * n..3 * n], &x[3 * n..]);
    y.iter().map(|v| v * v).sum()
}

#[differentiable]
fn of_network(x: &[f64]) -> f64 {
    let first = Layer {
        w: vec![vec![x[0], x[1]], vec![x[2], x[3]], vec![x[4], x[5]]],
        b: vec![x[6], x[7], x[8]],
    };
    let second = Layer { w: vec![vec![x[9], x[10], x[11]]], b: vec![x[12]] };
    net_loss(&Net { first, second }, &[0.5, -1.0], &[0.25])
}

#[differentiable]
fn of_rotation(x: &[f64]) -> f64 {
    let [a, b, c] = quaternion_rotate([x[0], x[1], x[2], x[3]], [x[4], x[5], x[6]]);
    a + 2.0 * b * c
}

#[differentiable]
fn of_spectrum(x: &[f64]) -> f64 {
    let p = dft_power(x);
    let c = cumulative(&convolve(x, &[0.25, 0.5, 0.25]));
    p.iter().enumerate().map(|(k, v)| v * (k + 1) as f64).sum::<f64>()
        + c.iter().sum::<f64>()
        + pooled(x, 2).iter().sum::<f64>()
}

#[differentiable]
fn of_splines(x: &[f64]) -> f64 {
    let knots = [0.0, 0.0, 0.0, 1.0, 2.0, 3.0, 3.0, 3.0];
    (0..5).map(|i| bspline(x[0], &knots, i, 2) * x[i % x.len()]).sum()
}

#[differentiable]
fn of_attention(x: &[f64]) -> f64 {
    let rows: Vec<Vec<f64>> = x.chunks_exact(2).map(|c| c.to_vec()).collect();
    let out = attention(&rows, &rows, &rows);
    let loss = softmax_cross_entropy(&rows, &[0, 1, 1]);
    out.iter().flatten().map(|v| v * v).sum::<f64>() + loss
}

#[differentiable]
fn of_kernels(x: &[f64]) -> f64 {
    let rows: Vec<Vec<f64>> = x.chunks_exact(2).map(|c| c.to_vec()).collect();
    mmd(&Rbf { scale: x[0] }, &rows[..1], &rows[1..])
}

#[differentiable]
fn of_orthogonal(x: &[f64]) -> f64 {
    let rows: Vec<Vec<f64>> = x.chunks_exact(3).map(|c| c.to_vec()).collect();
    gram_schmidt(&rows).iter().map(|row| row[0] * row[1] + row[2]).sum()
}

#[differentiable]
fn of_polygon(x: &[f64]) -> f64 {
    let points: Vec<(f64, f64)> = x.chunks_exact(2).map(|c| (c[0], c[1])).collect();
    polygon_area(&points) + edit_distance(&x[..2], &x[2..])
}

#[differentiable]
fn of_filter(x: &[f64]) -> f64 {
    kalman(x, 0.1, 0.5) + weighted_median(x, &[1.0, 2.0, 1.0, 1.0]) + rank_pairs(x)
}

#[differentiable]
fn of_search(x: &[f64]) -> f64 {
    let m = [[x[0], x[1], x[2], x[3]], [x[3], x[2], x[1], x[0]]];
    search(&m, 1.0)
        + bisect(0.0, 4.0, x[0])
        + integral(&[x[0], x[1]])
        + horner(&[x[0], x[1], x[2]], x[3])
}

#[differentiable]
fn of_line(x: &[f64]) -> f64 {
    argmin_line(x, &[-1.0, 0.5], &[0.0, 0.5, 1.0])
        + interpolate(&[0.0, 1.0, 2.0], &[x[0], x[1], 3.0], x[0])
        + is_small(x)
}

#[differentiable]
fn of_path(x: &[f64]) -> f64 {
    let trans = vec![vec![x[0], x[1]], vec![x[2], x[3]]];
    let emit = vec![vec![x[1], x[2], 0.5], vec![x[3], -0.5, x[0]]];
    viterbi(&[0, 2, 1, 1], &[x[0], x[1]], &trans, &emit)
}

// Lists at several ends of a function, of different lengths.
#[differentiable]
fn guarded(x: &[f64]) -> (Vec<f64>, f64) {
    if x.len() < 2 {
        return (vec![], 0.0);
    }
    (x.windows(2).map(|w| w[1] - w[0]).collect(), x[0])
}

#[differentiable]
fn split(x: &[f64]) -> (Vec<f64>, Vec<f64>) {
    if x.len() < 3 {
        return (x.to_vec(), vec![1.0; 3]);
    }
    let (mut small, mut large) = (Vec::new(), Vec::new());
    for &v in x {
        if v < 1.0 { small.push(v * v) } else { large.push(v) }
    }
    (small, large)
}

#[differentiable]
fn either(x: &[f64]) -> Vec<f64> {
    if x[0] > 0.0 { x.iter().map(|v| 2.0 * v).collect() } else { x[1..].to_vec() }
}

#[differentiable]
fn of_ends(x: &[f64]) -> f64 {
    let (d, first) = guarded(x);
    let (small, large) = split(x);
    let e = either(x);
    d.iter().map(|v| v * v).sum::<f64>()
        + first
        + small.iter().sum::<f64>() * 2.0
        + large.iter().sum::<f64>()
        + e.iter().sum::<f64>()
}

// Errors that are given on.
#[derive(Debug, PartialEq)]
enum Wrong {
    Empty,
    Inner(Box<Wrong>),
    Negative { at: f64, name: String },
}

#[differentiable]
fn positive(x: f64) -> Result<f64, Wrong> {
    if x < 0.0 {
        return Err(Wrong::Negative { at: x, name: String::from("x") });
    }
    Ok(x.sqrt())
}

#[differentiable]
fn given_on(x: &[f64]) -> Result<f64, Wrong> {
    let first = x.first().copied().ok_or(Wrong::Empty)?;
    let r = match positive(first) {
        Ok(v) => v,
        Err(e) => return Err(e),
    };
    let s = positive(r - 1.0).map_err(|e| Wrong::Inner(Box::new(e)))?;
    match positive(s) {
        Err(e) => Err(Wrong::Inner(Box::new(e))),
        Ok(v) => Ok(v * first),
    }
}

#[differentiable]
fn place(x: &[f64], at: f64) -> f64 {
    let k = match x.iter().position(|v| *v > at) {
        None => return x[0],
        Some(0) => return -1.0,
        Some(k) => k,
    };
    x[k] * x[k - 1]
}

#[test]
fn what_is_minimised_and_searched() {
    holds! {
        ackley at [0.5, -1.0, 2.0];
        levy at [0.5, -1.0, 2.0], [];
        styblinski at [0.5, -1.0];
        of_search at [0.5, 1.5, -0.25, 0.75], [2.0, 0.5, 0.25, 0.125];
        of_line at [0.5, 0.25], [1.5, -2.0];
        of_polygon at [0.0, 0.5, 2.0, 0.25, 1.5, 3.0];
        of_splines at [1.25, 0.5, 2.0];
    }
}

#[test]
fn mechanics_and_signals() {
    holds! {
        of_bodies at [1.0, 0.0, 0.5, 1.0, 0.1, 0.2, 0.3, 2.0, 1.0, -0.5, 0.5, 0.0, 0.4, -0.1];
        of_solver at [0.0, 0.5, 0.25, 4.0, 3.0, 5.0, 1.0, 0.5, 0.0, 1.0, 2.0, 3.0];
        of_rotation at [0.5, 0.5, -0.5, 0.5, 1.0, 2.0, 3.0];
        of_spectrum at [1.0, 0.5, -0.25, 2.0, 0.75];
        of_filter at [1.0, 2.5, 0.5, 1.75];
        of_path at [0.1, 0.2, -0.3, 0.4];
    }
    let forces = [Force::Spring { k: 2.0, rest: 0.5 }, Force::Drag(0.3), Force::Gravity];
    let (by_forces, by_x) = simulate::gradient(&forces, 1.0, 20).unwrap();
    let of = |p: &[f64]| {
        let forces = [Force::Spring { k: p[0], rest: p[1] }, Force::Drag(p[2]), Force::Gravity];
        simulate(&forces, p[3], 20)
    };
    let own = [by_forces[0].spring_k, by_forces[0].spring_rest, by_forces[1].drag, by_x];
    super::near("simulate", &own, &slopes(of, &[2.0, 0.5, 0.3, 1.0]));
}

#[test]
fn networks_and_kernels() {
    holds! {
        of_network at [0.1, 0.2, -0.3, 0.4, 0.5, -0.6, 0.7, 0.8, -0.9, 0.3, 0.2, 0.1, 0.05];
        of_attention at [0.5, -1.0, 0.25, 0.75, 1.5, 0.1];
        of_kernels at [0.5, -1.0, 0.25, 0.75, 1.5, 0.1];
        of_orthogonal at [1.0, 0.5, 0.25, -0.5, 2.0, 1.0];
    }
    assert_eq!(count_above::value(&[1.0, 2.0, 3.0], 1.5).unwrap(), 2);
    let root = newton_system::value([1.0, 2.0], 2.0).unwrap();
    assert_eq!(root, newton_system([1.0, 2.0], 2.0));
}

#[test]
fn ends_and_errors() {
    holds! {
        of_ends at [0.5, 2.0, 0.25, 3.0], [-0.5, 2.0, 0.25], [0.5, 2.0];
    }
    for x in [vec![], vec![1.0], vec![0.5, 2.0, 0.75]] {
        assert_eq!(guarded::value(&x).unwrap(), guarded(&x));
        assert_eq!(split::value(&x).unwrap(), split(&x));
    }
    let x = [9.0];
    super::near("given_on", &[given_on::value(&x).unwrap()], &[given_on(&x).unwrap()]);
    super::near(
        "given_on",
        &given_on::gradient(&x).unwrap(),
        &slopes(|x| given_on(x).unwrap(), &x),
    );
    for x in [vec![], vec![-1.0], vec![0.25]] {
        let plain = given_on(&x).unwrap_err();
        let error = given_on::gradient(&x).unwrap_err();
        // What a closure makes of an error is said as it is written.
        let said = match plain {
            Wrong::Empty => "Empty",
            Wrong::Inner(_) => "Inner",
            Wrong::Negative { .. } => "Negative",
        };
        assert!(error.to_string().contains(said), "{error}");
    }
    for at in [0.1, 0.6, 5.0] {
        let x = [0.5, 1.0, 2.0];
        assert_eq!(place::value(&x, at).unwrap(), place(&x, at));
    }
}

//! Functions of fields, light, reactions, learning machines and steering, in which many ways of writing meet.

use jut::math::{cos, exp, log, sin, tanh};
use jut::{Data, differentiable};

// Equations in space.

/// A grid with ghosts that has its own index.
#[derive(Data, Clone, Debug, PartialEq)]
struct Grid {
    nx: usize,
    ny: usize,
    cells: Vec<f64>,
}

#[differentiable]
impl Grid {
    fn at(&self, i: isize, j: isize) -> f64 {
        let i = i.clamp(0, self.nx as isize - 1) as usize;
        let j = j.rem_euclid(self.ny as isize) as usize;
        self.cells[i * self.ny + j]
    }
    fn laplacian(&self, i: usize, j: usize) -> f64 {
        let (i, j) = (i as isize, j as isize);
        [(1, 0), (-1, 0), (0, 1), (0, -1)]
            .iter()
            .map(|&(di, dj)| self.at(i + di, j + dj))
            .sum::<f64>()
            - 4.0 * self.at(i, j)
    }
}

/// Gray and Scott's reaction on a cylinder; two grids are changed in turn.
#[differentiable]
fn gray_scott(x: &[f64]) -> f64 {
    let (feed, kill) = (x[0], x[1]);
    let (nx, ny) = (3usize, 2usize);
    let mut u = Grid { nx, ny, cells: vec![1.0; nx * ny] };
    let mut v = Grid { nx, ny, cells: x[2..2 + nx * ny].to_vec() };
    for _ in 0..3 {
        let (mut nu, mut nv) = (u.clone(), v.clone());
        for i in 0..nx {
            for j in 0..ny {
                let k = i * ny + j;
                let (a, b) = (u.cells[k], v.cells[k]);
                let reaction = a * b * b;
                nu.cells[k] += 0.16 * u.laplacian(i, j) - reaction + feed * (1.0 - a);
                nv.cells[k] += 0.08 * v.laplacian(i, j) + reaction - (feed + kill) * b;
            }
        }
        u = nu;
        v = nv;
    }
    u.cells.iter().zip(&v.cells).map(|(a, b)| a * b).sum::<f64>() + v.at(-1, -1)
}

/// Crank and Nicolson for a diffusion whose coefficient depends on the place, with a solver of its own.
#[differentiable]
fn crank_nicolson(x: &[f64]) -> f64 {
    fn tridiagonal(lower: &[f64], diag: &[f64], upper: &[f64], rhs: Vec<f64>) -> Vec<f64> {
        let n = rhs.len();
        let (mut d, mut b) = (diag.to_vec(), rhs);
        for i in 1..n {
            let w = lower[i - 1] / d[i - 1];
            d[i] -= w * upper[i - 1];
            b[i] -= w * b[i - 1];
        }
        b[n - 1] /= d[n - 1];
        for i in (0..n - 1).rev() {
            b[i] = (b[i] - upper[i] * b[i + 1]) / d[i];
        }
        b
    }
    let n = x.len() - 1;
    let kappa = |i: usize| 1.0 + x[n] * (i as f64 / n as f64).powi(2);
    let r = 0.3;
    let mut u = x[..n].to_vec();
    for _ in 0..3 {
        let flux = |i: usize| if i == 0 || i == n { 0.0 } else { kappa(i) * (u[i] - u[i - 1]) };
        let rhs: Vec<f64> = (0..n).map(|i| u[i] + r * (flux(i + 1) - flux(i))).collect();
        let off: Vec<f64> = (1..n).map(|i| -r * kappa(i)).collect();
        let diag: Vec<f64> = (0..n)
            .map(|i| {
                let left = if i > 0 { kappa(i) } else { 0.0 };
                let right = if i + 1 < n { kappa(i + 1) } else { 0.0 };
                1.0 + r * (left + right)
            })
            .collect();
        u = tridiagonal(&off, &diag, &off, rhs);
    }
    u.iter().rev().enumerate().fold(0.0, |s, (i, v)| s + v * v / (1.0 + i as f64))
}

/// Shallow water in one dimension by the fluxes of Lax and Friedrichs, pairs as cells.
#[differentiable]
fn shallow_water(x: &[f64]) -> f64 {
    const G: f64 = 9.81;
    let flux = |(h, q): (f64, f64)| -> (f64, f64) { (q, q * q / h + 0.5 * G * h * h) };
    let mut cells: Vec<(f64, f64)> = x.iter().map(|&h| (h, 0.0)).collect();
    let dt = 0.02;
    for _ in 0..4 {
        let speed = cells
            .iter()
            .map(|&(h, q)| (q / h).abs() + (G * h).sqrt())
            .fold(f64::NEG_INFINITY, f64::max);
        let mut faces: Vec<(f64, f64)> = Vec::with_capacity(cells.len() + 1);
        faces.push((0.0, flux(cells[0]).1));
        for w in cells.windows(2) {
            let [l, r] = [w[0], w[1]];
            let (fl, fr) = (flux(l), flux(r));
            faces.push((
                0.5 * (fl.0 + fr.0) - 0.5 * speed * (r.0 - l.0),
                0.5 * (fl.1 + fr.1) - 0.5 * speed * (r.1 - l.1),
            ));
        }
        faces.push((0.0, flux(*cells.last().unwrap()).1));
        for (i, cell) in cells.iter_mut().enumerate() {
            cell.0 -= dt * (faces[i + 1].0 - faces[i].0);
            cell.1 -= dt * (faces[i + 1].1 - faces[i].1);
        }
    }
    cells.iter().map(|c| c.0.powi(2) + 0.3 * c.1).sum()
}

// Light.

/// Sellmeier's glass, and an achromat: a nested module with its constants.
#[differentiable]
mod glass {
    pub const BK7: [(f64, f64); 3] =
        [(1.03961212, 0.00600069867), (0.231792344, 0.0200179144), (1.01046945, 103.560653)];
    pub fn index(terms: &[(f64, f64); 3], wave: f64) -> f64 {
        let w2 = wave * wave;
        let n2 = terms.iter().fold(1.0, |s, (b, c)| s + b * w2 / (w2 - c));
        n2.sqrt()
    }
    pub mod lens {
        pub fn power(n: f64, r1: f64, r2: f64, d: f64) -> f64 {
            (n - 1.0) * (1.0 / r1 - 1.0 / r2 + (n - 1.0) * d / (n * r1 * r2))
        }
    }
}

#[differentiable]
fn chromatic(x: &[f64]) -> f64 {
    use glass::lens::power;
    let &[r1, r2, r3, d] = x else { return 0.0 };
    let mut focal = [0.0; 3];
    for (f, wave) in focal.iter_mut().zip([0.4861, 0.5876, 0.6563]) {
        let crown = power(glass::index(&glass::BK7, wave), r1, r2, d);
        let flint =
            power(1.2 + 0.3 * glass::index(&glass::BK7, wave).powi(2) / 1.5, r2, r3, 0.5 * d);
        *f = (crown + flint - 0.1 * crown * flint).recip();
    }
    let mean = focal.iter().sum::<f64>() / focal.len() as f64;
    focal.iter().map(|f| (f - mean).powi(2)).sum::<f64>().sqrt() * 1e3 + mean
}

/// Snell's law through a stack until total reflection.
#[differentiable]
fn refracted_or_reflected(x: &[f64]) -> f64 {
    let (&angle, indices) = match x.split_first() {
        Some(parts) => parts,
        None => return -1.0,
    };
    let mut s = sin(angle) * indices[0];
    let mut path = 0.0;
    let mut turned: Option<usize> = None;
    for (k, pair) in indices.windows(2).enumerate() {
        let t = s / pair[1];
        if t.abs() >= 1.0 {
            turned = Some(k);
            break;
        }
        path += pair[1] / (1.0 - t * t).sqrt();
        s += 0.001 * pair[0];
    }
    if let Some(k) = turned
        && k > 0
        && path > 1.0
    {
        return -path * (k as f64 + 1.0);
    }
    path + s
}

// Reactions.

/// Oregonator by implicit Euler with a Newton in each step, elimination with pivots on arrays.
#[differentiable]
fn oregonator(x: &[f64]) -> f64 {
    fn solve<const N: usize>(mut a: [[f64; N]; N], mut b: [f64; N]) -> [f64; N] {
        for k in 0..N {
            let mut p = k;
            for i in k + 1..N {
                if a[i][k].abs() > a[p][k].abs() {
                    p = i;
                }
            }
            (a[k], a[p]) = (a[p], a[k]);
            b.swap(k, p);
            for i in k + 1..N {
                let f = a[i][k] / a[k][k];
                for j in k..N {
                    a[i][j] -= f * a[k][j];
                }
                b[i] -= f * b[k];
            }
        }
        for k in (0..N).rev() {
            for j in k + 1..N {
                b[k] -= a[k][j] * b[j];
            }
            b[k] /= a[k][k];
        }
        b
    }
    let (s, w, q) = (x[0], x[1], x[2]);
    let f = |y: &[f64; 3]| {
        [
            s * (y[1] + y[0] * (1.0 - q * y[0] - y[1])),
            (y[2] - (1.0 + y[0]) * y[1]) / s,
            w * (y[0] - y[2]),
        ]
    };
    let mut y = [1.0, 2.0, 3.0];
    let h = 0.05;
    for _ in 0..3 {
        let old = y;
        for _ in 0..4 {
            let fy = f(&y);
            let residual: [f64; 3] = std::array::from_fn(|i| y[i] - old[i] - h * fy[i]);
            let jac = [
                [1.0 - h * s * (1.0 - 2.0 * q * y[0] - y[1]), -h * s * (1.0 - y[0]), 0.0],
                [h * y[1] / s, 1.0 + h * (1.0 + y[0]) / s, -h / s],
                [-h * w, 0.0, 1.0 + h * w],
            ];
            let step = solve(jac, residual);
            y.iter_mut().zip(step).for_each(|(y, d)| *y -= d);
        }
    }
    y[0] + 0.5 * y[1] * y[2]
}

/// A reaction network as a list of records with lists.
#[derive(Data, Clone, Debug, PartialEq)]
#[data(ragged)]
struct Reaction {
    reactants: Vec<usize>,
    products: Vec<usize>,
    rate: f64,
}

#[differentiable]
fn network_rates(reactions: &[Reaction], c: &[f64]) -> Vec<f64> {
    let mut d = vec![0.0; c.len()];
    for r in reactions {
        let v = r.reactants.iter().fold(r.rate, |v, &i| v * c[i]);
        for &i in &r.reactants {
            d[i] -= v;
        }
        for &i in r.products.iter() {
            d[i] += v;
        }
    }
    d
}

#[differentiable]
fn network_kinetics(x: &[f64]) -> f64 {
    let reactions = vec![
        Reaction { reactants: vec![0, 1], products: vec![2], rate: x[0] },
        Reaction { reactants: vec![2], products: vec![0, 1], rate: x[1] },
        Reaction { reactants: vec![2, 2, 0], products: vec![3], rate: x[2] },
    ];
    let mut c = vec![1.0, 0.8, 0.0, 0.0];
    for _ in 0..5 {
        let k1 = network_rates(&reactions, &c);
        let mid: Vec<f64> = c.iter().zip(&k1).map(|(c, k)| c + 0.1 * k).collect();
        let k2 = network_rates(&reactions, &mid);
        for (c, k) in c.iter_mut().zip(k2) {
            *c += 0.2 * k;
        }
    }
    c.iter().enumerate().map(|(i, v)| (i + 1) as f64 * v).sum()
}

// Learning.

/// An LSTM with gates in one matrix, the state in a struct.
#[derive(Data, Clone, Debug, PartialEq)]
struct Cell {
    h: Vec<f64>,
    c: Vec<f64>,
}

#[differentiable]
impl Cell {
    fn zeros(n: usize) -> Self {
        Cell { h: vec![0.0; n], c: vec![0.0; n] }
    }
    fn step(self, w: &[f64], x: f64) -> Self {
        let n = self.h.len();
        let gate = |g: usize, i: usize| -> f64 {
            let row = &w[(g * n + i) * (n + 2)..][..n + 2];
            let (first, rest) = row.split_at(2);
            first[0]
                + first[1] * x
                + rest.iter().zip(self.h.iter()).map(|(w, h)| w * h).sum::<f64>()
        };
        let sigma = |z: f64| 1.0 / (1.0 + exp(-z));
        let c: Vec<f64> = (0..n)
            .map(|i| sigma(gate(0, i)) * self.c[i] + sigma(gate(1, i)) * tanh(gate(2, i)))
            .collect();
        let h = c.iter().enumerate().map(|(i, c)| sigma(gate(3, i)) * tanh(*c)).collect();
        Cell { h, c }
    }
}

#[differentiable]
fn lstm_loss(w: &[f64]) -> f64 {
    let series = [0.5, -0.2, 0.9, 0.4];
    let mut cell = Cell::zeros(1);
    let mut loss = 0.0;
    for pair in series.windows(2) {
        cell = cell.step(w, pair[0]);
        let e = pair[1] - cell.h.iter().sum::<f64>();
        loss += e * e;
    }
    loss
}

/// Attention with a causal mask over rows of pairs.
#[differentiable]
fn causal_attention(x: &[f64]) -> f64 {
    let tokens: Vec<[f64; 2]> = x.chunks_exact(2).map(|c| [c[0], c[1]]).collect();
    let rotate = |t: &[f64; 2], k: usize| {
        let a = 0.5 * k as f64;
        [t[0] * cos(a) - t[1] * sin(a), t[0] * sin(a) + t[1] * cos(a)]
    };
    let mut out = 0.0;
    for (i, q) in tokens.iter().enumerate() {
        let q = rotate(q, i);
        let scores: Vec<f64> = tokens[..=i]
            .iter()
            .enumerate()
            .map(|(j, k)| {
                let k = rotate(k, j);
                q.iter().zip(&k).map(|(a, b)| a * b).sum::<f64>() / 2f64.sqrt()
            })
            .collect();
        let top = scores.iter().copied().reduce(f64::max).unwrap();
        let weights: Vec<f64> = scores.iter().map(|s| exp(s - top)).collect();
        let total: f64 = weights.iter().sum();
        let mixed = weights
            .iter()
            .zip(&tokens)
            .fold([0.0; 2], |acc, (w, t)| [acc[0] + w * t[0] / total, acc[1] + w * t[1] / total]);
        out += mixed[0] * mixed[1] + log(total);
    }
    out
}

/// A decision tree in an array of nodes, softened.
#[derive(Data, Clone, Copy, Debug, PartialEq)]
enum Node {
    Leaf(f64),
    Split { feature: usize, at: f64, left: usize, right: usize },
}

#[differentiable]
fn soft_tree(x: &[f64]) -> f64 {
    let nodes = [
        Node::Split { feature: 0, at: x[2], left: 1, right: 2 },
        Node::Leaf(x[3]),
        Node::Split { feature: 1, at: 0.4, left: 3, right: 4 },
        Node::Leaf(-1.5),
        Node::Leaf(x[2] * x[3]),
    ];
    let mut open = vec![(0usize, 1.0f64)];
    let mut value = 0.0;
    while let Some((k, weight)) = open.pop() {
        match nodes[k] {
            Node::Leaf(v) => value += weight * v,
            Node::Split { feature, at, left, right } => {
                let p = 1.0 / (1.0 + exp(-4.0 * (x[feature] - at)));
                open.push((left, weight * (1.0 - p)));
                open.push((right, weight * p));
            }
        }
    }
    value
}

// Steering.

/// Shooting by a costate, Newton on the free initial value, its slope by a difference of a fixed step.
#[differentiable]
fn shooting(x: &[f64]) -> f64 {
    let run = |p0: f64| -> (f64, f64) {
        let (mut s, mut p, mut cost) = (x[0], p0, 0.0);
        let h = 0.1;
        for _ in 0..10 {
            let u = -p / x[1];
            cost += h * 0.5 * (s * s + x[1] * u * u);
            let ds = x[2] * s + u;
            let dp = -s - x[2] * p;
            s += h * ds;
            p += h * dp;
        }
        (p, cost)
    };
    let mut p0 = 0.5;
    for _ in 0..4 {
        let (f, _) = run(p0);
        let slope = (run(p0 + 1e-2).0 - f) / 1e-2;
        p0 -= f / slope;
    }
    let (_, cost) = run(p0);
    cost + 0.1 * p0
}

/// Value iteration on a chain; the best action by `max_by`.
#[differentiable]
fn value_iteration(x: &[f64]) -> f64 {
    #[rustfmt::skip]
    const MOVES: [(i64, f64); 3] = [(-1, 0.1), (0, 0.0), (1, 0.15)];
    let n = x.len() - 1;
    let gamma = x[n].clamp(0.0, 0.99);
    let mut v = vec![0.0; n];
    let mut policy = vec![0i64; n];
    let mut sweeps = 0;
    loop {
        let old = v.clone();
        for s in 0..n {
            let (m, best) = MOVES
                .iter()
                .map(|&(m, cost)| {
                    let to = (s as i64 + m).max(0).min(n as i64 - 1) as usize;
                    (m, x[to] - cost + gamma * old[to])
                })
                .max_by(|a, b| a.1.total_cmp(&b.1))
                .unwrap();
            v[s] = best;
            policy[s] = m;
        }
        sweeps += 1;
        let change = v.iter().zip(&old).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        if change < 1e-3 || sweeps >= 15 {
            break;
        }
    }
    v.iter().zip(&policy).map(|(v, &m)| v * (1.0 + 0.1 * m as f64)).sum()
}

#[test]
fn equations_in_space() {
    everywhere! {
        gray_scott at [0.04, 0.06, 0.1, 0.2, 0.3, 0.25, 0.5, 0.05];
        crank_nicolson at [1.0, 2.0, 0.5, 0.3, 0.7];
        shallow_water at [1.0, 1.2, 0.9, 1.1];
    }
}

#[test]
fn light() {
    everywhere! {
        chromatic at [10.0, -12.0, -30.0, 0.4], [1.0];
        refracted_or_reflected at [0.3, 1.5, 1.4, 1.2, 1.0], [1.2, 1.5, 1.45, 1.0], [];
    }
}

#[test]
fn reactions() {
    everywhere! {
        oregonator at [7.0, 0.2, 0.01];
        network_kinetics at [1.0, 0.3, 0.5];
    }
}

#[test]
fn learning_and_steering() {
    everywhere! {
        lstm_loss at [0.1, 0.5, -0.3, 0.2, 0.4, 0.3, 0.7, -0.6, 0.2, 0.3, 0.8, 0.1];
        causal_attention at [1.0, 0.2, -0.3, 0.8, 0.5, 0.5];
        soft_tree at [0.3, 0.6, 0.5, 2.0];
        shooting at [1.0, 0.5, -0.3];
        value_iteration at [0.1, 0.5, 0.2, 1.0, 0.8];
    }
}

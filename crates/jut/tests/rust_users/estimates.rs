//! Estimates and likenesses: filters by points, fields of features, near neighbours, transports, mixtures, convolutions, trees of splits.

use jut::math::{cos, exp, log, sigmoid, sin, tanh};
use jut::{Data, differentiable};

/// A state that is followed by sigma points.
#[derive(Data, Clone, Copy, Debug, PartialEq)]
struct Gaussian<const N: usize> {
    mean: [f64; N],
    cov: [[f64; N]; N],
}

#[differentiable]
fn cholesky<const N: usize>(a: &[[f64; N]; N]) -> [[f64; N]; N] {
    let mut l = [[0.0; N]; N];
    for i in 0..N {
        for j in 0..=i {
            let s: f64 = l[i][..j].iter().zip(&l[j][..j]).map(|(p, q)| p * q).sum();
            l[i][j] = if i == j { (a[i][i] - s).sqrt() } else { (a[i][j] - s) / l[j][j] };
        }
    }
    l
}

#[differentiable]
impl<const N: usize> Gaussian<N> {
    fn sigma_points(&self, kappa: f64) -> Vec<([f64; N], f64)> {
        let n = N as f64;
        let root = cholesky(&self.cov);
        let spread = (n + kappa).sqrt();
        let mut points = vec![(self.mean, kappa / (n + kappa))];
        for j in 0..N {
            for sign in [1.0, -1.0] {
                let mut p = self.mean;
                for i in 0..N {
                    p[i] += sign * spread * root[i][j];
                }
                points.push((p, 0.5 / (n + kappa)));
            }
        }
        points
    }
}

#[differentiable]
fn pendulum([angle, speed]: [f64; 2], dt: f64) -> [f64; 2] {
    [angle + dt * speed, speed - dt * 9.81 * sin(angle)]
}

#[differentiable]
fn followed_pendulum(x: &[f64]) -> f64 {
    let (noise, measured) = (exp(x[0]), &x[1..]);
    let mut belief = Gaussian::<2> { mean: [0.3, 0.0], cov: [[0.1, 0.0], [0.0, 0.2]] };
    let mut loglik = 0.0;
    for z in measured {
        let moved: Vec<([f64; 2], f64)> =
            belief.sigma_points(1.0).into_iter().map(|(p, w)| (pendulum(p, 0.05), w)).collect();
        let mut mean = [0.0; 2];
        for (p, w) in &moved {
            mean[0] += w * p[0];
            mean[1] += w * p[1];
        }
        let mut cov = [[0.01, 0.0], [0.0, 0.01]];
        for (p, w) in &moved {
            let d = [p[0] - mean[0], p[1] - mean[1]];
            for (i, row) in cov.iter_mut().enumerate() {
                for (j, c) in row.iter_mut().enumerate() {
                    *c += w * d[i] * d[j];
                }
            }
        }
        let s = cov[0][0] + noise;
        let gain = [cov[0][0] / s, cov[1][0] / s];
        let innovation = z - mean[0];
        loglik -= 0.5 * (log(s) + innovation * innovation / s);
        belief = Gaussian::<2> {
            mean: [mean[0] + gain[0] * innovation, mean[1] + gain[1] * innovation],
            cov: std::array::from_fn(|i| {
                std::array::from_fn(|j| cov[i][j] - gain[i] * gain[j] * s)
            }),
        };
    }
    loglik
}

/// Pairs of features, each with a vector per field.
#[differentiable]
fn pairs_of_features(x: &[f64]) -> f64 {
    const ROWS: [&[(usize, usize, f64)]; 3] =
        [&[(0, 0, 1.0), (2, 1, 0.5)], &[(1, 0, 1.0), (3, 1, 2.0), (4, 1, -1.0)], &[(0, 0, 0.3)]];
    let k = 2;
    let linear = &x[..5];
    let latent = &x[5..];
    let at =
        |index: usize, field: usize, f: usize| latent[((index * 2 + field) * k + f) % latent.len()];
    ROWS.iter()
        .zip([1.0, -1.0, 1.0])
        .map(|(row, label)| {
            let mut score: f64 = row.iter().map(|&(i, _, v)| linear[i] * v).sum();
            for (a, &(i, fi, vi)) in row.iter().enumerate() {
                for &(j, fj, vj) in row.iter().skip(a + 1) {
                    let inner: f64 = (0..k).map(|f| at(i, fj, f) * at(j, fi, f)).sum();
                    score += inner * vi * vj;
                }
            }
            log(1.0 + exp(-label * score))
        })
        .sum()
}

/// Points in a plane, near as they were in space.
#[differentiable]
fn affinities(d2: &[f64], own: usize, perplexity: f64) -> Vec<f64> {
    let target = log(perplexity);
    let (mut lo, mut hi) = (1e-3, 1e3);
    let mut beta = 1.0;
    let mut p = vec![0.0; d2.len()];
    for _ in 0..60 {
        for (j, (pj, d)) in p.iter_mut().zip(d2).enumerate() {
            *pj = if j == own { 0.0 } else { exp(-d * beta) };
        }
        let z: f64 = p.iter().sum();
        p.iter_mut().for_each(|v| *v /= z);
        let entropy = -p.iter().filter(|v| **v > 1e-300).map(|v| v * log(*v)).sum::<f64>();
        if (entropy - target).abs() < 1e-10 {
            break;
        }
        if entropy > target {
            lo = beta
        } else {
            hi = beta
        }
        beta = sqrt_of(lo * hi);
    }
    p
}

#[differentiable]
fn sqrt_of(v: f64) -> f64 {
    v.sqrt()
}

#[differentiable]
fn near_neighbours(y: &[f64]) -> f64 {
    const SPACE: [[f64; 3]; 4] =
        [[0.0, 0.1, 0.3], [1.0, 0.2, -0.4], [0.9, 1.1, 0.0], [-0.5, 0.7, 0.8]];
    let flat: Vec<(f64, f64)> = y.chunks_exact(2).map(|c| (c[0], c[1])).collect();
    let n = flat.len();
    let p: Vec<Vec<f64>> = SPACE[..n]
        .iter()
        .enumerate()
        .map(|(i, a)| {
            let d2: Vec<f64> = SPACE[..n]
                .iter()
                .map(|b| a.iter().zip(b).map(|(u, v)| (u - v) * (u - v)).sum())
                .collect();
            affinities(&d2, i, 1.8)
        })
        .collect();
    let near = |i: usize, j: usize| {
        let ((ax, ay), (bx, by)) = (flat[i], flat[j]);
        1.0 / (1.0 + (ax - bx).powi(2) + (ay - by).powi(2))
    };
    let mut z = 0.0;
    for i in 0..n {
        for j in (0..n).filter(|&j| j != i) {
            z += near(i, j);
        }
    }
    let mut kl = 0.0;
    for i in 0..n {
        for j in 0..i {
            let pij = (p[i][j] + p[j][i]) / (2 * n) as f64;
            kl += 2.0 * pij * (log(pij) - log(near(i, j) / z));
        }
    }
    kl
}

/// Earth that is moved at least cost, by Sinkhorn.
#[differentiable]
fn transported(x: &[f64]) -> f64 {
    let half = x.len() / 2;
    let (from, to) = (&x[..half], &x[half..]);
    let cost: Vec<Vec<f64>> =
        from.iter().map(|a| to.iter().map(|b| (a - b).powi(2)).collect()).collect();
    let kernel: Vec<Vec<f64>> =
        cost.iter().map(|row| row.iter().map(|c| exp(-c / 0.5)).collect()).collect();
    let (mut u, mut v) = (vec![1.0; half], vec![1.0; to.len()]);
    let mass = 1.0 / half as f64;
    let mut rounds = 0;
    loop {
        let before = u.clone();
        for (ui, row) in u.iter_mut().zip(&kernel) {
            *ui = mass / row.iter().zip(&v).map(|(k, w)| k * w).sum::<f64>();
        }
        for (j, vj) in v.iter_mut().enumerate() {
            *vj = mass / kernel.iter().zip(&u).map(|(row, w)| row[j] * w).sum::<f64>();
        }
        rounds += 1;
        let moved = u.iter().zip(&before).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        if moved < 1e-13 || rounds == 200 {
            break;
        }
    }
    let mut total = 0.0;
    for ((ui, costs), ks) in u.iter().zip(cost.iter()).zip(kernel.iter()) {
        for ((c, k), vj) in costs.iter().zip(ks).zip(v.iter()) {
            total += c * ui * k * vj;
        }
    }
    total
}

/// Mixtures from several beginnings, of which the best is kept.
#[derive(Data, Clone, Copy, Debug, PartialEq)]
struct Part {
    weight: f64,
    mean: f64,
    var: f64,
}

#[derive(Data, Clone, Debug, PartialEq)]
#[data(ragged)]
struct Fit {
    ll: f64,
    parts: Vec<Part>,
}

#[differentiable]
impl Part {
    fn density(&self, x: f64) -> f64 {
        let z = x - self.mean;
        self.weight * exp(-0.5 * z * z / self.var) / (std::f64::consts::TAU * self.var).sqrt()
    }
}

#[differentiable]
fn expected_step(parts: &[Part], data: &[f64]) -> Vec<Part> {
    let shares: Vec<Vec<f64>> = data
        .iter()
        .map(|&x| {
            let d: Vec<f64> = parts.iter().map(|p| p.density(x)).collect();
            let total: f64 = d.iter().sum();
            d.into_iter().map(|v| v / total).collect()
        })
        .collect();
    (0..parts.len())
        .map(|k| {
            let n: f64 = shares.iter().map(|s| s[k]).sum();
            let mean = shares.iter().zip(data).map(|(s, x)| s[k] * x).sum::<f64>() / n;
            let var =
                shares.iter().zip(data).map(|(s, x)| s[k] * (x - mean).powi(2)).sum::<f64>() / n;
            Part { weight: n / data.len() as f64, mean, var: var + 1e-3 }
        })
        .collect()
}

#[differentiable]
fn best_mixture(data: &[f64]) -> f64 {
    let starts = [[-1.0, 1.0], [0.0, 3.0], [2.0, 2.5]];
    let fits: Vec<Fit> = starts
        .iter()
        .map(|means| {
            let mut parts: Vec<Part> =
                means.iter().map(|&mean| Part { weight: 0.5, mean, var: 1.0 }).collect();
            for _ in 0..4 {
                parts = expected_step(&parts, data);
            }
            let ll =
                data.iter().map(|&x| log(parts.iter().map(|p| p.density(x)).sum::<f64>())).sum();
            Fit { ll, parts }
        })
        .collect();
    let Fit { ll: best, parts } =
        fits.into_iter().max_by(|a, b| a.ll.partial_cmp(&b.ll).unwrap()).unwrap();
    let widest = parts.iter().max_by(|a, b| a.var.total_cmp(&b.var)).unwrap();
    best + 0.1 * widest.mean
}

/// Convolutions in time with holes, and a way around them.
#[differentiable]
fn dilated(x: &[f64], taps: &[f64; 3], dilation: usize) -> Vec<f64> {
    (0..x.len())
        .map(|t| {
            taps.iter()
                .enumerate()
                .filter_map(|(k, w)| t.checked_sub(k * dilation).map(|s| w * x[s]))
                .sum()
        })
        .collect()
}

#[differentiable]
fn causal_tower(x: &[f64]) -> f64 {
    let (weights, signal) = x.split_at(6);
    let mut h = signal.to_vec();
    for (level, pair) in weights.chunks(3).enumerate() {
        let taps: &[f64; 3] = pair.try_into().unwrap();
        let filtered = dilated(&h, taps, 1_usize << level);
        h = h.iter().zip(filtered).map(|(skip, f)| skip + tanh(f) * sigmoid(f)).collect();
    }
    match h.as_slice() {
        [.., before, last] => (last - before) * (last - before) + cos(*last),
        [only] => *only,
        [] => 0.0,
    }
}

/// A regression by splits that are found by the data.
#[differentiable]
fn split_gain(points: &[(f64, f64)], at: usize) -> f64 {
    let spread = |part: &[(f64, f64)]| {
        let n = part.len() as f64;
        let mean = part.iter().map(|p| p.1).sum::<f64>() / n;
        part.iter().map(|p| (p.1 - mean).powi(2)).sum::<f64>()
    };
    spread(points) - spread(&points[..at]) - spread(&points[at..])
}

#[differentiable]
fn grown(points: &[(f64, f64)], depth: u32) -> f64 {
    let n = points.len();
    if depth == 0 || n < 2 {
        let mean = points.iter().map(|p| p.1).sum::<f64>() / n.max(1) as f64;
        return points.iter().map(|&(_, y)| (y - mean).powi(2)).sum();
    }
    let (at, gain) = (1..n)
        .map(|at| (at, split_gain(points, at)))
        .fold((0, 0.0), |best, now| if now.1 > best.1 { now } else { best });
    if gain < 1e-3 {
        return grown(points, 0);
    }
    let (left, right) = points.split_at(at);
    grown(left, depth - 1) + grown(right, depth - 1)
}

#[differentiable]
fn regression_splits(y: &[f64]) -> f64 {
    let mut points: Vec<(f64, f64)> =
        y.iter().enumerate().map(|(k, &v)| ((7 * k % 5) as f64, v)).collect();
    points.sort_unstable_by(|(a, _), (b, _)| a.partial_cmp(b).unwrap());
    grown(&points, 2)
}

#[test]
fn filters_features_and_neighbours() {
    everywhere! {
        followed_pendulum at [-2.0, 0.28, 0.2, 0.15, -0.1, -0.3], [-1.0];
        pairs_of_features at [0.1, -0.2, 0.3, 0.5, 0.2, 0.6, -0.7, 0.4, 0.9, -0.3, 0.2, 0.1], [0.1, 0.2, 0.3, 0.4, 0.5];
        near_neighbours at [0.0, 0.1, 0.9, 0.3, 0.8, 1.2, -0.4, 0.5], [];
    }
}

#[test]
fn transports_mixtures_and_splits() {
    everywhere! {
        transported at [0.0, 0.5, 1.1, 0.2, 0.9, 1.6], [0.3, 0.4], [];
        best_mixture at [-1.2, -0.8, 0.1, 1.9, 2.4, 2.2], [0.5];
        causal_tower at [0.5, -0.2, 0.1, 0.3, 0.4, -0.6, 1.0, 0.2, -0.7, 0.5], [0.1, 0.2, 0.3, 0.4, 0.5, 0.6], [0.1];
        regression_splits at [1.0, 1.2, 3.0, 0.9, 2.7, 1.1, 3.2], [], [2.0];
    }
}

//! Numerical methods, called as parts of functions: nodes by Newton, roots in brackets, polynomials, curves, factors, transforms, stiff steps.

use jut::math::{cos, exp, pow, sin};
use jut::{Data, differentiable};

/// Nodes and weights of Gauss and Legendre, found where they are needed.
#[differentiable]
fn legendre(n: usize, x: f64) -> (f64, f64) {
    let (mut p0, mut p1) = (1.0, x);
    for k in 2..=n {
        let k = k as f64;
        (p0, p1) = (p1, ((2.0 * k - 1.0) * x * p1 - (k - 1.0) * p0) / k);
    }
    (p1, n as f64 * (x * p1 - p0) / (x * x - 1.0))
}

#[differentiable]
fn gauss_legendre(n: usize) -> Vec<(f64, f64)> {
    let mut rule = Vec::new();
    for i in 1..=n {
        let mut x = cos(std::f64::consts::PI * (i as f64 - 0.25) / (n as f64 + 0.5));
        let slope = loop {
            let (p, dp) = legendre(n, x);
            let step = p / dp;
            x -= step;
            if step.abs() < 1e-14 {
                break legendre(n, x).1;
            }
        };
        rule.push((x, 2.0 / ((1.0 - x * x) * slope * slope)));
    }
    rule
}

#[differentiable]
fn integrated(x: &[f64]) -> f64 {
    let (a, b) = (x[0], x[1]);
    let (mid, half) = (0.5 * (a + b), 0.5 * (b - a));
    gauss_legendre(6)
        .into_iter()
        .map(|(node, weight)| {
            let t = mid + half * node;
            half * weight * x[2..].iter().rev().fold(0.0, |acc, c| acc * t + c) * exp(-t)
        })
        .sum()
}

/// Brent's way to a root.
#[derive(Debug)]
enum RootError {
    NotBracketed,
    TooManySteps,
}

#[differentiable]
fn brent(f: impl Fn(f64) -> f64, mut a: f64, mut b: f64, tol: f64) -> Result<f64, RootError> {
    let (mut fa, mut fb) = (f(a), f(b));
    if fa * fb > 0.0 {
        return Err(RootError::NotBracketed);
    }
    if fa.abs() < fb.abs() {
        std::mem::swap(&mut a, &mut b);
        std::mem::swap(&mut fa, &mut fb);
    }
    let (mut c, mut fc, mut d) = (a, fa, b - a);
    let mut bisected = true;
    for _ in 0..80 {
        if fb == 0.0 || (b - a).abs() < tol {
            return Ok(b);
        }
        let mut s = if fa != fc && fb != fc {
            a * fb * fc / ((fa - fb) * (fa - fc))
                + b * fa * fc / ((fb - fa) * (fb - fc))
                + c * fa * fb / ((fc - fa) * (fc - fb))
        } else {
            b - fb * (b - a) / (fb - fa)
        };
        let quarter = (3.0 * a + b) / 4.0;
        let outside = !(quarter.min(b)..=quarter.max(b)).contains(&s);
        let last = if bisected { (b - c).abs() } else { (c - d).abs() };
        bisected = outside || (s - b).abs() >= last / 2.0 || last < tol;
        if bisected {
            s = 0.5 * (a + b);
        }
        let fs = f(s);
        d = c;
        (c, fc) = (b, fb);
        if fa * fs < 0.0 {
            (b, fb) = (s, fs);
        } else {
            (a, fa) = (s, fs);
        }
        if fa.abs() < fb.abs() {
            (a, b) = (b, a);
            (fa, fb) = (fb, fa);
        }
    }
    Err(RootError::TooManySteps)
}

#[differentiable]
fn saturation(x: &[f64]) -> f64 {
    let flows = &x[2..];
    let worth = |rate: f64| -> f64 {
        flows.iter().enumerate().map(|(k, c)| c / pow(1.0 + rate, (k + 1) as f64)).sum::<f64>()
            - x[0]
    };
    let root = brent(worth, -0.5, x[1], 1e-15).expect("a root between both");
    // One step of Newton, so that the derivative is that of the root.
    let slope = (worth(root + 1e-5) - worth(root - 1e-5)) / 2e-5;
    root - worth(root) / slope
}

/// A function by polynomials of Chebyshev, added up from behind.
#[derive(Data, Clone, Debug, PartialEq)]
struct Chebyshev {
    coefficients: Vec<f64>,
    domain: (f64, f64),
}

#[differentiable]
impl Chebyshev {
    fn fit<F: Fn(f64) -> f64>(f: F, n: usize, domain: (f64, f64)) -> Self {
        let (a, b) = domain;
        let nodes = (0..n).map(|k| cos(std::f64::consts::PI * (k as f64 + 0.5) / n as f64));
        let values: Vec<f64> = nodes.map(|t| f(0.5 * (a + b) + 0.5 * (b - a) * t)).collect();
        let coefficients = (0..n)
            .map(|j| {
                let s: f64 = values
                    .iter()
                    .enumerate()
                    .map(|(k, v)| {
                        v * cos(std::f64::consts::PI * j as f64 * (k as f64 + 0.5) / n as f64)
                    })
                    .sum();
                s * if j == 0 { 1.0 } else { 2.0 } / n as f64
            })
            .collect();
        Chebyshev { coefficients, domain }
    }

    fn eval(&self, x: f64) -> f64 {
        let (a, b) = self.domain;
        let t = (2.0 * x - a - b) / (b - a);
        let (first, rest) = self.coefficients.split_first().expect("at least one");
        let (b1, b2) =
            rest.iter().rev().fold((0.0, 0.0), |(b1, b2), c| (2.0 * t * b1 - b2 + c, b1));
        first + t * b1 - b2
    }

    fn derivative(&self) -> Chebyshev {
        let n = self.coefficients.len();
        let mut d = vec![0.0; n + 1];
        for k in (1..n).rev() {
            d[k - 1] = d[k + 1] + 2.0 * k as f64 * self.coefficients[k];
        }
        d[0] *= 0.5;
        d.truncate((n - 1).max(1));
        let scale = 2.0 / (self.domain.1 - self.domain.0);
        d.iter_mut().for_each(|c| *c *= scale);
        Chebyshev { coefficients: d, domain: self.domain }
    }
}

#[differentiable]
fn approximated(x: &[f64]) -> f64 {
    let wave = |t: f64| x[0] * sin(x[1] * t) + exp(-x[2] * t * t);
    let series = Chebyshev::fit(wave, 9, (-1.0, x[3]));
    let slope = series.derivative();
    let worst =
        [-0.4, 0.1, 0.7].into_iter().map(|t| (series.eval(t) - wave(t)).powi(2)).sum::<f64>();
    series.eval(0.3) + 0.5 * slope.eval(0.3) + worst
}

/// Lagrange's polynomial by weights of barycentres.
#[differentiable]
fn barycentric(nodes: &[f64], values: &[f64], x: f64) -> f64 {
    let mut w = vec![1.0; nodes.len()];
    for (j, wj) in w.iter_mut().enumerate() {
        for (k, node) in nodes.iter().enumerate() {
            if k != j {
                *wj /= nodes[j] - node;
            }
        }
    }
    let (mut above, mut below) = (0.0, 0.0);
    for ((node, value), weight) in nodes.iter().zip(values).zip(&w) {
        let d = x - node;
        if d == 0.0 {
            return *value;
        }
        above += weight / d * value;
        below += weight / d;
    }
    above / below
}

#[differentiable]
fn extrapolated(x: &[f64]) -> f64 {
    let (at, table) = match x {
        [] => return 0.0,
        [at, table @ ..] => (*at, table),
    };
    let nodes: Vec<f64> = table.iter().step_by(2).copied().collect();
    let values: Vec<f64> = table.iter().skip(1).step_by(2).copied().collect();
    barycentric(&nodes[..values.len()], &values, at)
}

/// Curves with weights and knots.
#[derive(Data, Clone, Copy, Debug, PartialEq)]
struct ControlPoint {
    x: f64,
    y: f64,
    w: f64,
}

#[differentiable]
fn basis_of_knots(knots: &[f64], i: usize, p: usize, u: f64) -> f64 {
    if p == 0 {
        return if knots[i] <= u && u < knots[i + 1] { 1.0 } else { 0.0 };
    }
    let ratio = |above: f64, below: f64| if below == 0.0 { 0.0 } else { above / below };
    let left = ratio(u - knots[i], knots[i + p] - knots[i]);
    let right = ratio(knots[i + p + 1] - u, knots[i + p + 1] - knots[i + 1]);
    left * basis_of_knots(knots, i, p - 1, u) + right * basis_of_knots(knots, i + 1, p - 1, u)
}

#[differentiable]
fn nurbs(points: &[ControlPoint], degree: usize, u: f64) -> Option<(f64, f64)> {
    if points.len() <= degree {
        return None;
    }
    let inner = points.len() - degree;
    let knots: Vec<f64> = std::iter::repeat(0.0)
        .take(degree)
        .chain((0..=inner).map(|k| k as f64 / inner as f64))
        .chain(std::iter::repeat(1.0).take(degree))
        .collect();
    let (mut x, mut y, mut w) = (0.0, 0.0, 0.0);
    for (i, p) in points.iter().enumerate() {
        let b = basis_of_knots(&knots, i, degree, u) * p.w;
        x += b * p.x;
        y += b * p.y;
        w += b;
    }
    Some((x / w, y / w))
}

#[differentiable]
fn curve_length(x: &[f64]) -> f64 {
    let points: Vec<ControlPoint> =
        x.chunks_exact(3).map(|c| ControlPoint { x: c[0], y: c[1], w: exp(c[2]) }).collect();
    let mut places = Vec::new();
    for k in 0..8 {
        let Some(place) = nurbs(&points, 2, k as f64 / 8.0) else { return -1.0 };
        places.push(place);
    }
    places
        .windows(2)
        .map(|w| {
            let (dx, dy) = (w[1].0 - w[0].0, w[1].1 - w[0].1);
            (dx * dx + dy * dy).sqrt()
        })
        .sum()
}

/// A surface through points, by factors with pivots.
#[derive(Debug)]
struct Singular;

#[differentiable]
fn lu_in_place(a: &mut [Vec<f64>]) -> Result<Vec<usize>, Singular> {
    let n = a.len();
    let mut order: Vec<usize> = (0..n).collect();
    for k in 0..n {
        let pivot =
            (k..n).max_by(|&p, &q| a[p][k].abs().partial_cmp(&a[q][k].abs()).unwrap()).unwrap();
        if a[pivot][k].abs() < 1e-12 {
            return Err(Singular);
        }
        a.swap(k, pivot);
        order.swap(k, pivot);
        let (done, below) = a.split_at_mut(k + 1);
        let top = &done[k];
        for row in below {
            let factor = row[k] / top[k];
            row[k] = factor;
            for j in k + 1..n {
                row[j] -= factor * top[j];
            }
        }
    }
    Ok(order)
}

#[differentiable]
fn lu_solve_with(lu: &[Vec<f64>], order: &[usize], b: &[f64]) -> Vec<f64> {
    let mut x: Vec<f64> = order.iter().map(|&k| b[k]).collect();
    for i in 1..x.len() {
        let known: f64 = lu[i].iter().zip(&x).take(i).map(|(l, v)| l * v).sum();
        x[i] -= known;
    }
    for i in (0..x.len()).rev() {
        let known: f64 = lu[i][i + 1..].iter().zip(&x[i + 1..]).map(|(u, v)| u * v).sum();
        x[i] = (x[i] - known) / lu[i][i];
    }
    x
}

#[differentiable]
fn surface(x: &[f64]) -> f64 {
    const SITES: [(f64, f64); 4] = [(0.0, 0.0), (1.0, 0.2), (0.3, 0.9), (1.1, 1.2)];
    let shape = x[0];
    let phi = |(ax, ay): (f64, f64), (bx, by): (f64, f64)| {
        let r2 = (ax - bx).powi(2) + (ay - by).powi(2);
        (1.0 + shape * r2).sqrt()
    };
    let n = SITES.len().min(x.len() - 1);
    let mut a: Vec<Vec<f64>> =
        SITES[..n].iter().map(|&p| SITES[..n].iter().map(|&q| phi(p, q)).collect()).collect();
    let order = lu_in_place(&mut a).expect("factors");
    let weights = lu_solve_with(&a, &order, &x[1..]);
    weights.iter().zip(SITES).map(|(w, site)| w * phi(site, (0.5, 0.4))).sum()
}

#[test]
fn integrals_roots_and_polynomials() {
    everywhere! {
        integrated at [0.2, 1.7, 1.0, -0.5, 0.3], [0.0, 1.0];
        saturation at [9.0, 1.0, 1.0, 2.0, 3.0, 4.0, 5.0], [9.0, 0.1, 1.0];
        approximated at [0.7, 1.3, 0.6, 1.2];
        extrapolated at [0.35, 0.0, 1.0, 0.5, 0.4, 1.0, 0.9, 1.6, -0.2], [0.25, 0.0, 1.0, 0.5, 0.4, 1.0], [];
    }
}

#[test]
fn curves_and_surfaces() {
    everywhere! {
        curve_length at [0.0, 0.0, 0.1, 1.0, 0.5, -0.2, 1.5, -0.3, 0.3, 2.0, 1.0, 0.0, 2.6, 0.9, 0.2], [0.0, 1.0, 2.0], [];
        surface at [0.8, 1.0, 2.0, 0.5, 1.5], [0.8, 1.0], [];
    }
}

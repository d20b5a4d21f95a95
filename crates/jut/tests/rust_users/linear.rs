//! Matrices of own types, factors, filters, fits and kernels, as authors of small linear algebra write them.

use jut::math::{exp, log};
use jut::{Data, differentiable};
use std::f64::consts::PI;
use std::ops::{Add, AddAssign, Index, IndexMut, Mul, Sub};

#[derive(Data, Clone, Debug, PartialEq)]
struct Matrix {
    rows: usize,
    cols: usize,
    data: Vec<f64>,
}

#[derive(Data, Clone, Debug, PartialEq)]
struct Lu {
    lu: Matrix,
    perm: Vec<usize>,
    sign: f64,
}

#[differentiable]
impl Index<(usize, usize)> for Matrix {
    type Output = f64;
    fn index(&self, (r, c): (usize, usize)) -> &f64 {
        debug_assert!(r < self.rows && c < self.cols);
        &self.data[r * self.cols + c]
    }
}

#[differentiable]
impl IndexMut<(usize, usize)> for Matrix {
    fn index_mut(&mut self, (r, c): (usize, usize)) -> &mut f64 {
        debug_assert!(r < self.rows && c < self.cols);
        &mut self.data[r * self.cols + c]
    }
}

#[differentiable]
impl Mul<&Matrix> for &Matrix {
    type Output = Matrix;
    fn mul(self, rhs: &Matrix) -> Matrix {
        assert_eq!(self.cols, rhs.rows, "dimension mismatch");
        let mut out = Matrix::new(self.rows, rhs.cols);
        for i in 0..self.rows {
            for j in 0..rhs.cols {
                out[(i, j)] = (0..self.cols).map(|k| self[(i, k)] * rhs[(k, j)]).sum();
            }
        }
        out
    }
}

#[differentiable]
impl Add<&Matrix> for &Matrix {
    type Output = Matrix;
    fn add(self, rhs: &Matrix) -> Matrix {
        let data = self.data.iter().zip(&rhs.data).map(|(a, b)| a + b).collect();
        Matrix { data, ..*self }
    }
}

#[differentiable]
impl Sub<&Matrix> for &Matrix {
    type Output = Matrix;
    fn sub(self, rhs: &Matrix) -> Matrix {
        let data = self.data.iter().zip(&rhs.data).map(|(a, b)| a - b).collect();
        Matrix { rows: self.rows, cols: self.cols, data }
    }
}

#[differentiable]
impl AddAssign<&Matrix> for Matrix {
    fn add_assign(&mut self, rhs: &Matrix) {
        self.data.iter_mut().zip(rhs.data.iter()).for_each(|(a, b)| *a += b);
    }
}

#[differentiable]
impl Matrix {
    fn new(rows: usize, cols: usize) -> Self {
        Self { rows, cols, data: vec![0.0; rows * cols] }
    }
    fn identity(n: usize) -> Self {
        Self::from_fn(n, n, |i, j| if i == j { 1.0 } else { 0.0 })
    }
    fn from_fn(rows: usize, cols: usize, f: impl Fn(usize, usize) -> f64) -> Self {
        let mut m = Self::new(rows, cols);
        for i in 0..rows {
            for j in 0..cols {
                m[(i, j)] = f(i, j);
            }
        }
        m
    }
    fn column(v: &[f64]) -> Self {
        Self { rows: v.len(), cols: 1, data: v.to_vec() }
    }
    fn t(&self) -> Self {
        Self::from_fn(self.cols, self.rows, |i, j| self[(j, i)])
    }
    fn scale(mut self, s: f64) -> Self {
        for v in &mut self.data {
            *v *= s;
        }
        self
    }
    fn swap_rows(&mut self, a: usize, b: usize) {
        if a == b {
            return;
        }
        for c in 0..self.cols {
            self.data.swap(a * self.cols + c, b * self.cols + c);
        }
    }
    fn lu(&self) -> Lu {
        let n = self.rows;
        let mut lu = self.clone();
        let mut perm: Vec<usize> = (0..n).collect();
        let mut sign = 1.0;
        for k in 0..n {
            let (p, largest) =
                (k..n).map(|i| (i, lu[(i, k)].abs())).max_by(|a, b| a.1.total_cmp(&b.1)).unwrap();
            assert!(largest >= 1e-14, "the matrix is singular");
            if p != k {
                lu.swap_rows(p, k);
                perm.swap(p, k);
                sign = -sign;
            }
            for i in k + 1..n {
                let f = lu[(i, k)] / lu[(k, k)];
                lu[(i, k)] = f;
                for j in k + 1..n {
                    let d = f * lu[(k, j)];
                    lu[(i, j)] -= d;
                }
            }
        }
        Lu { lu, perm, sign }
    }
    fn inverse(&self) -> Matrix {
        let lu = self.lu();
        let n = self.rows;
        let mut inv = Matrix::new(n, n);
        for j in 0..n {
            let mut e = vec![0.0; n];
            e[j] = 1.0;
            for (i, v) in lu.solve(&e).into_iter().enumerate() {
                inv[(i, j)] = v;
            }
        }
        inv
    }
    fn trace(&self) -> f64 {
        (0..self.rows.min(self.cols)).map(|i| self[(i, i)]).sum()
    }
}

#[differentiable]
impl Lu {
    fn det(&self) -> f64 {
        self.sign * (0..self.lu.rows).map(|i| self.lu[(i, i)]).product::<f64>()
    }
    fn solve(&self, b: &[f64]) -> Vec<f64> {
        let n = self.lu.rows;
        let mut x: Vec<f64> = self.perm.iter().map(|&p| b[p]).collect();
        for i in 0..n {
            for j in 0..i {
                x[i] -= self.lu[(i, j)] * x[j];
            }
        }
        for i in (0..n).rev() {
            for j in i + 1..n {
                x[i] -= self.lu[(i, j)] * x[j];
            }
            x[i] /= self.lu[(i, i)];
        }
        x
    }
}

/// The log-likelihood of a Gaussian with a full covariance, by LU.
#[differentiable]
fn gaussian_log_likelihood(x: &[f64]) -> f64 {
    let (mean, rest) = x.split_at(3);
    let cov = Matrix::from_fn(3, 3, |i, j| {
        let (a, b) = if i < j { (i, j) } else { (j, i) };
        rest[a] * rest[b] * 0.2 + if i == j { 1.0 + rest[i].abs() } else { 0.0 }
    });
    let lu = cov.lu();
    let samples = [[0.1, -0.4, 1.0], [1.5, 0.3, 0.2], [-0.7, 0.0, 0.9]];
    let mut ll = 0.0;
    for s in samples.iter() {
        let d: Vec<f64> = s.iter().zip(mean).map(|(a, b)| a - b).collect();
        let w = lu.solve(&d);
        ll -= 0.5 * d.iter().zip(w.iter()).map(|(a, b)| a * b).sum::<f64>();
    }
    ll - 0.5 * samples.len() as f64 * (log(lu.det()) + 3.0 * log(2.0 * PI))
}

/// A regulator by iterating Riccati's equation, its cost from a start.
#[differentiable]
fn riccati_regulator(x: &[f64]) -> f64 {
    let dt = 0.1;
    let a = Matrix { rows: 2, cols: 2, data: vec![1.0, dt, -x[0] * dt, 1.0 - x[1] * dt] };
    let b = Matrix::column(&[0.0, dt * x[2]]);
    let q = Matrix::identity(2);
    let r = Matrix::identity(1).scale(0.1);
    let mut p = q.clone();
    for _ in 0..8 {
        let bt_p = &b.t() * &p;
        let s = &r + &(&bt_p * &b);
        let k = &s.inverse() * &(&bt_p * &a);
        let closed = &a - &(&b * &k);
        p = &q + &(&(&a.t() * &p) * &closed);
    }
    let start = Matrix::column(&[1.0, -0.5]);
    (&(&start.t() * &p) * &start).trace()
}

/// A smoother of Rauch, Tung and Striebel over a filter of Kalman.
#[differentiable]
fn rts_smoother(x: &[f64]) -> f64 {
    let [q, r, zs @ ..] = x else { panic!("no noise is given") };
    let f = Matrix { rows: 2, cols: 2, data: vec![1.0, 1.0, 0.0, 1.0] };
    let h = Matrix { rows: 1, cols: 2, data: vec![1.0, 0.0] };
    let noise = Matrix { rows: 2, cols: 2, data: vec![q / 3.0, q / 2.0, q / 2.0, *q] };
    let mut m = Matrix::new(2, 1);
    let mut p = Matrix::identity(2).scale(4.0);
    let mut filtered: Vec<(f64, f64)> = Vec::new();
    let mut gains: Vec<[f64; 4]> = vec![];
    let mut predicted: Vec<[f64; 2]> = vec![];
    for z in zs {
        let m_pred = &f * &m;
        let p_pred = &(&(&f * &p) * &f.t()) + &noise;
        let gain = &(&p * &f.t()) * &p_pred.inverse();
        gains.push([gain[(0, 0)], gain[(0, 1)], gain[(1, 0)], gain[(1, 1)]]);
        predicted.push([m_pred[(0, 0)], m_pred[(1, 0)]]);
        let s = (&(&h * &p_pred) * &h.t())[(0, 0)] + r;
        let k = (&p_pred * &h.t()).scale(1.0 / s);
        m = &m_pred + &k.clone().scale(z - m_pred[(0, 0)]);
        p = &p_pred - &(&(&k * &h) * &p_pred);
        filtered.push((m[(0, 0)], m[(1, 0)]));
    }
    let (mut level, mut slope) = *filtered.last().expect("at least one measurement");
    let mut total = level * level;
    for t in (0..filtered.len() - 1).rev() {
        let [a, b, c, d] = gains[t + 1];
        let [pl, ps] = predicted[t + 1];
        let (dl, ds) = (level - pl, slope - ps);
        (level, slope) = (filtered[t].0 + a * dl + b * ds, filtered[t].1 + c * dl + d * ds);
        total += level * level + 0.1 * slope;
    }
    total
}

#[derive(Data, Clone, Debug, PartialEq)]
struct Kernel {
    variance: f64,
    lengths: Vec<f64>,
    noise: f64,
}

#[differentiable]
impl Kernel {
    fn eval(&self, a: &[f64], b: &[f64]) -> f64 {
        let r2: f64 = a
            .iter()
            .zip(b)
            .zip(&self.lengths)
            .map(|((a, b), l)| {
                let d = (a - b) / l;
                d * d
            })
            .sum();
        let r = (5.0 * r2 + 1e-12).sqrt();
        self.variance * (1.0 + r + r * r / 3.0) * exp(-r)
    }
    fn gram(&self, xs: &[[f64; 2]]) -> Matrix {
        let mut k = Matrix::from_fn(xs.len(), xs.len(), |i, j| self.eval(&xs[i], &xs[j]));
        for i in 0..xs.len() {
            k[(i, i)] += self.noise;
        }
        k
    }
}

/// The evidence and a prediction of a Gaussian process with a length for each input.
#[differentiable]
fn gp_with_lengths(x: &[f64]) -> f64 {
    let kernel = Kernel { variance: x[0], lengths: x[1..3].to_vec(), noise: 0.1 + x[3] * x[3] };
    let xs = [[0.0, 0.5], [1.0, 0.1], [0.4, -0.7], [1.6, 1.2]];
    let ys = [0.3, 1.1, -0.2, 0.9];
    let lu = kernel.gram(&xs).lu();
    let alpha = lu.solve(&ys);
    let fit: f64 = alpha.iter().zip(&ys).map(|(a, y)| a * y).sum();
    let at = [0.8, 0.2];
    let prediction: f64 =
        xs.iter().map(|p| kernel.eval(p, &at)).zip(alpha).map(|(k, a)| k * a).sum();
    -0.5 * fit - 0.5 * log(lu.det()) + prediction
}

/// Levenberg and Marquardt on an exponential with an offset; what is left.
#[differentiable]
fn levenberg_marquardt(y: &[f64]) -> f64 {
    const PARAMS: usize = 3;
    let model = |p: &[f64; PARAMS], t: f64| p[0] * exp(-p[1] * t) + p[2];
    let sse = |p: &[f64; PARAMS]| -> f64 {
        y.iter().enumerate().map(|(i, y)| (y - model(p, i as f64 * 0.5)).powi(2)).sum()
    };
    let mut p = [1.0, 0.5, 0.0];
    let mut lambda = 1e-2;
    let mut cost = sse(&p);
    for _iteration in 0..6 {
        let mut jtj = Matrix::new(PARAMS, PARAMS);
        let mut jtr = [0.0; PARAMS];
        for (i, y) in y.iter().enumerate() {
            let t = i as f64 * 0.5;
            let e = exp(-p[1] * t);
            let row = [e, -p[0] * t * e, 1.0];
            let residual = y - model(&p, t);
            for r in 0..PARAMS {
                for c in 0..PARAMS {
                    jtj[(r, c)] += row[r] * row[c];
                }
                jtr[r] += row[r] * residual;
            }
        }
        let mut damped = jtj.clone();
        damped += &Matrix::identity(PARAMS).scale(lambda);
        let delta = damped.lu().solve(&jtr);
        let trial: [f64; PARAMS] = std::array::from_fn(|i| p[i] + delta[i]);
        let new_cost = sse(&trial);
        if new_cost < cost {
            p = trial;
            cost = new_cost;
            lambda *= 0.3;
        } else {
            lambda *= 4.0;
        }
    }
    let [a, b, c] = p;
    a + 2.0 * b - c + cost
}

#[test]
fn factors_and_likelihoods() {
    everywhere! {
        gaussian_log_likelihood at [0.2, 0.1, -0.3, 0.9, -0.5, 1.3];
        gp_with_lengths at [1.2, 0.8, 1.5, 0.2];
        levenberg_marquardt at [2.1, 1.5, 1.1, 0.9, 0.7, 0.65];
    }
}

#[test]
fn regulators_and_smoothers() {
    everywhere! {
        riccati_regulator at [1.0, 0.3, 1.5];
        rts_smoother at [0.3, 0.5, 1.0, 1.8, 3.3, 3.9], [0.3], [];
    }
}

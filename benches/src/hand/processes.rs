//! A Gaussian process with the factorisation, solutions and inverse of faer, and the adjoint by hand.

use super::exp;
use crate::machine::wide;
use faer::Spec;
use faer::dyn_stack::{MemBuffer, MemStack, StackReq};
use faer::linalg::cholesky::llt;
use faer::linalg::triangular_solve::{
    solve_lower_triangular_in_place, solve_upper_triangular_in_place,
};
use faer::{Mat, Par};

/// What a call works in.
pub struct Process {
    n: usize,
    /// The kernel's values, the lower triangle by columns.
    kernel: Mat<f64>,
    factor: Mat<f64>,
    inverse: Mat<f64>,
    /// inverse(L) y, then inverse(K) y.
    alpha: Mat<f64>,
    memory: MemBuffer,
}

impl Process {
    /// Room for n points.
    pub fn new(n: usize) -> Process {
        let square = || Mat::<f64>::zeros(n, n);
        let factor = llt::factor::cholesky_in_place_scratch::<f64>(n, Par::Seq, Spec::default());
        let inverse = llt::inverse::inverse_scratch::<f64>(n, Par::Seq);
        let memory = MemBuffer::new(StackReq::any_of(&[factor, inverse]));
        let alpha = Mat::zeros(n, 1);
        Process { n, kernel: square(), factor: square(), inverse: square(), alpha, memory }
    }

    /// Value; gradient of x, y, the scale and the noise.
    pub fn run(&mut self, x: &[f64], y: &[f64], scale: f64, noise: f64, g: &mut [f64]) -> f64 {
        let n = self.n;
        for j in 0..n {
            kernel(self.kernel.col_as_slice_mut(j), x, j, scale);
        }
        self.factor.copy_from(&self.kernel);
        for i in 0..n {
            self.factor[(i, i)] += noise * noise;
        }
        let stack = MemStack::new(&mut self.memory);
        let done = llt::factor::cholesky_in_place(
            self.factor.as_mut(),
            Default::default(),
            Par::Seq,
            stack,
            Spec::default(),
        );
        if done.is_err() {
            return f64::NAN;
        }
        let l = self.factor.as_ref();
        self.alpha.col_as_slice_mut(0).copy_from_slice(y);
        solve_lower_triangular_in_place(l, self.alpha.as_mut(), Par::Seq);
        let z = self.alpha.col_as_slice(0);
        let square: f64 = z.iter().map(|z| z * z).sum();
        let logs: f64 = (0..n).map(|i| l[(i, i)].ln()).sum();
        let value = -0.5 * square - logs - 0.5 * n as f64 * (2.0 * std::f64::consts::PI).ln();
        solve_upper_triangular_in_place(l.transpose(), self.alpha.as_mut(), Par::Seq);
        let stack = MemStack::new(&mut self.memory);
        llt::inverse::inverse(self.inverse.as_mut(), l, Par::Seq, stack);
        let (dx, rest) = g.split_at_mut(n);
        let (dy, rest) = rest.split_at_mut(n);
        let alpha = self.alpha.col_as_slice(0);
        dx.fill(0.0);
        let (mut dscale, mut dnoise) = (0.0, 0.0);
        for j in 0..n {
            dy[j] = -alpha[j];
            dnoise += (alpha[j] * alpha[j] - self.inverse[(j, j)]) * noise;
            let (e, inverse) = (self.kernel.col_as_slice(j), self.inverse.col_as_slice(j));
            dscale += back(dx, x, alpha, e, inverse, j, scale);
        }
        (rest[0], rest[1]) = (dscale, dnoise);
        value
    }
}

wide! {
    /// Column j of the kernel, from the diagonal on.
    pub fn kernel(column: &mut [f64], x: &[f64], j: usize, scale: f64) {
        let (own, inverse) = (x[j], 1.0 / scale);
        for (k, x) in column[j..].iter_mut().zip(&x[j..]) {
            let r = (x - own) * inverse;
            *k = exp(-0.5 * r * r);
        }
    }
}

wide! {
    /// What column j below the diagonal adds to the gradient: of x to `dx`; the scale's is returned.
    pub fn back(dx: &mut [f64], x: &[f64], alpha: &[f64], e: &[f64], inverse: &[f64], j: usize, scale: f64) -> f64 {
        let n = x.len();
        let (own, a, step) = (x[j], alpha[j], 1.0 / scale);
        let (mut total, mut along) = ([0.0; 32], [0.0; 32]);
        for i in j + 1..n {
            let r = (x[i] - own) * step;
            let w = (alpha[i] * a - inverse[i]) * e[i] * r * step;
            dx[i] -= w;
            total[i % 32] += w;
            along[i % 32] += w * r;
        }
        dx[j] += total.iter().sum::<f64>();
        along.iter().sum()
    }
}

//! Products of matrices by the crate that most Rust programs use for them (`matrixmultiply`, by way of
//! `ndarray`), results straight into the caller's buffers.

use ndarray::linalg::general_mat_mul;
use ndarray::{ArrayView2, ArrayViewMut2};

/// The sum of squares of the product of two n by n matrices, with its gradient.
#[derive(Debug)]
pub struct Product {
    n: usize,
    c: Vec<f64>,
}

impl Product {
    /// For matrices of n rows.
    pub fn new(n: usize) -> Product {
        Product { n, c: vec![0.0; n * n] }
    }

    /// The value; the gradient with respect to `a`, then `b`, goes to `out`.
    pub fn run(&mut self, a: &[f64], b: &[f64], out: &mut [f64]) -> f64 {
        let shape = (self.n, self.n);
        let (da, db) = out.split_at_mut(self.n * self.n);
        let views = (ArrayView2::from_shape(shape, a), ArrayView2::from_shape(shape, b));
        let gradients =
            (ArrayViewMut2::from_shape(shape, da), ArrayViewMut2::from_shape(shape, db));
        let c = ArrayViewMut2::from_shape(shape, &mut self.c);
        let ((Ok(a), Ok(b)), (Ok(mut da), Ok(mut db)), Ok(mut c)) = (views, gradients, c) else {
            return f64::NAN;
        };
        general_mat_mul(1.0, &a, &b, 0.0, &mut c);
        let value = c.iter().map(|x| x * x).sum();
        general_mat_mul(2.0, &c, &b.t(), 0.0, &mut da);
        general_mat_mul(2.0, &a.t(), &c, 0.0, &mut db);
        value
    }
}

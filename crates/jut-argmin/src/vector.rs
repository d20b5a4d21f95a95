//! What solvers take for a vector.

use std::borrow::Cow;

/// A vector of numbers that solvers know, and the matrix that goes with it.
pub trait Vector {
    /// What Hessians and Jacobians are.
    type Matrix;

    /// The numbers, where they lie if they are neighbours.
    fn numbers(&self) -> Cow<'_, [f64]>;

    /// A vector of these numbers.
    fn from_numbers(numbers: Vec<f64>) -> Self;

    /// A matrix of so many rows and columns; its numbers come row by row, as many as these say.
    fn matrix(rows: usize, columns: usize, numbers: Vec<f64>) -> Self::Matrix;
}

impl Vector for Vec<f64> {
    type Matrix = Vec<Vec<f64>>;

    fn numbers(&self) -> Cow<'_, [f64]> {
        Cow::Borrowed(self)
    }

    fn from_numbers(numbers: Vec<f64>) -> Self {
        numbers
    }

    fn matrix(rows: usize, columns: usize, numbers: Vec<f64>) -> Vec<Vec<f64>> {
        match columns {
            0 => vec![Vec::new(); rows],
            _ => numbers.chunks(columns).map(<[f64]>::to_vec).collect(),
        }
    }
}

#[cfg(feature = "nalgebra")]
impl Vector for nalgebra::DVector<f64> {
    type Matrix = nalgebra::DMatrix<f64>;

    fn numbers(&self) -> Cow<'_, [f64]> {
        Cow::Borrowed(self.as_slice())
    }

    fn from_numbers(numbers: Vec<f64>) -> Self {
        numbers.into()
    }

    fn matrix(rows: usize, columns: usize, numbers: Vec<f64>) -> Self::Matrix {
        Self::Matrix::from_row_iterator(rows, columns, numbers)
    }
}

#[cfg(feature = "ndarray")]
impl Vector for ndarray::Array1<f64> {
    type Matrix = ndarray::Array2<f64>;

    fn numbers(&self) -> Cow<'_, [f64]> {
        match self.as_slice() {
            Some(numbers) => Cow::Borrowed(numbers),
            None => Cow::Owned(self.to_vec()),
        }
    }

    fn from_numbers(numbers: Vec<f64>) -> Self {
        numbers.into()
    }

    fn matrix(rows: usize, columns: usize, numbers: Vec<f64>) -> Self::Matrix {
        let mut numbers = numbers.into_iter();
        Self::Matrix::from_shape_simple_fn((rows, columns), || numbers.next().unwrap_or(f64::NAN))
    }
}

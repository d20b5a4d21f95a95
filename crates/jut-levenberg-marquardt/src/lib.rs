//! Least squares of [`levenberg_marquardt`] 0.15 on functions of [`jut`].
//!
//! [`LeastSquares`] are residuals as a function of one vector, a [`Flat`]: an annotated Rust function with its arguments, `f::flat(..)`,
//! or a function of a text, [`flat`](jut::Function::flat). What it gives are numbers, arrays, records of these; the arguments that are
//! differentiated (`wrt`) are where the solver starts, the others are data. The Jacobian is exact.
//!
//! ```
//! use jut_levenberg_marquardt::LeastSquares;
//! use levenberg_marquardt::LevenbergMarquardt;
//!
//! #[jut::differentiable(wrt(p))]
//! fn residuals(p: &[f64; 2], t: &[f64], y: &[f64]) -> Vec<f64> {
//!     t.iter().zip(y).map(|(t, y)| p[0] * (-p[1] * t).exp() - y).collect()
//! }
//!
//! # fn main() -> jut::Result<()> {
//! let problem = LeastSquares::new(residuals::flat(&[1.0, 1.0], &[0.0, 1.0, 2.0], &[8.0, 2.0, 0.5])?);
//! let (solved, report) = problem.minimize(&LevenbergMarquardt::new())?;
//! assert!(report.termination.was_successful());
//! assert!((solved.point()[0] - 8.0).abs() < 1e-9 && (solved.point()[1] - 4f64.ln()).abs() < 1e-9);
//! # Ok(())
//! # }
//! ```

use jut::Flat;
use levenberg_marquardt::{LeastSquaresProblem, LevenbergMarquardt, MinimizationReport};
use nalgebra::{DMatrix, DVector, Dyn, Owned};
use std::cell::RefCell;

/// Residuals at a point. See the [crate's page](crate).
pub struct LeastSquares {
    flat: Flat,
    point: DVector<f64>,
    /// Why the residuals or the Jacobian could not be computed: the solver's trait has no place for it.
    failure: RefCell<Option<jut::Error>>,
}

impl LeastSquares {
    /// Residuals as a function of a vector, at its start.
    pub fn new(residuals: Flat) -> LeastSquares {
        let point = DVector::from_column_slice(residuals.start());
        LeastSquares { flat: residuals, point, failure: RefCell::new(None) }
    }

    /// Runs a solver from the point where it is. What it gives is at the point that was found.
    ///
    /// # Errors
    /// What went wrong in the function, where that ended the run.
    pub fn minimize(
        self,
        solver: &LevenbergMarquardt<f64>,
    ) -> jut::Result<(LeastSquares, MinimizationReport<f64>)> {
        let (solved, report) = solver.minimize(self);
        match solved.failure() {
            Some(error) => Err(error),
            None => Ok((solved, report)),
        }
    }

    /// Where it is: the start, then what a solver has set.
    pub fn point(&self) -> &[f64] {
        self.point.as_slice()
    }

    /// The function, also to write a point as arguments: [`Flat::arguments`].
    pub fn flat(&self) -> &Flat {
        &self.flat
    }

    /// Takes what went wrong in the function, for a solver that was run by itself and reports a termination by the user.
    pub fn failure(&self) -> Option<jut::Error> {
        self.failure.take()
    }

    /// Gives numbers, or keeps what went wrong.
    fn kept(
        &self,
        count: usize,
        fill: impl FnOnce(&mut [f64]) -> jut::Result<()>,
    ) -> Option<Vec<f64>> {
        let mut numbers = vec![0.0; count];
        match fill(&mut numbers) {
            Ok(()) => Some(numbers),
            Err(error) => {
                self.failure.replace(Some(error));
                None
            }
        }
    }
}

impl LeastSquaresProblem<f64, Dyn, Dyn> for LeastSquares {
    type ParameterStorage = Owned<f64, Dyn>;
    type ResidualStorage = Owned<f64, Dyn>;
    type JacobianStorage = Owned<f64, Dyn, Dyn>;

    fn set_params(&mut self, point: &DVector<f64>) {
        self.point.clone_from(point);
    }

    fn params(&self) -> DVector<f64> {
        self.point.clone()
    }

    fn residuals(&self) -> Option<DVector<f64>> {
        let numbers = self.kept(self.flat.results(), |to| self.flat.values_into(self.point(), to));
        numbers.map(DVector::from_vec)
    }

    fn jacobian(&self) -> Option<DMatrix<f64>> {
        let (rows, columns) = (self.flat.results(), self.flat.tangents());
        let numbers = self.kept(rows * columns, |to| self.flat.jacobian_into(self.point(), to));
        numbers.map(|numbers| DMatrix::from_row_iterator(rows, columns, numbers))
    }
}

//! Minimisers of [`argmin`] 0.11 on functions of [`jut`].
//!
//! A [`Problem`] is a function of one vector, a [`Flat`]: an annotated Rust function with its arguments, `f::flat(..)`, or a function of a
//! text, [`flat`](jut::Function::flat). The arguments that are differentiated (`wrt`) are where a solver starts, the others are data. It has every trait that solvers ask for, through `&self`, so that one problem serves them all:
//!
//! | trait | of a function that gives | is |
//! |---|---|---|
//! | [`CostFunction`] | a number | its value |
//! | [`Gradient`] | a number | its gradient |
//! | [`Hessian`] | a number | its Hessian |
//! | [`Operator`] | numbers and arrays | all of them |
//! | [`Jacobian`] | numbers and arrays | the partial derivatives of all of them |
//!
//! The point is a `Vec<f64>` unless it is said to be another [`Vector`]: with the features `nalgebra` (0.34) and `ndarray` (0.16), whose
//! versions are those of `argmin-math` 0.5, it is a vector of these, and matrices are theirs.
//!
//! ```
//! use argmin::core::{Executor, State};
//! use argmin::solver::trustregion::{Steihaug, TrustRegion};
//!
//! #[jut::differentiable(wrt(x))]
//! fn valley(x: &[f64], steepness: f64) -> f64 {
//!     x.windows(2).map(|p| steepness * (p[1] - p[0] * p[0]).powi(2) + (1.0 - p[0]).powi(2)).sum()
//! }
//!
//! # fn main() -> Result<(), argmin::core::Error> {
//! let problem = jut_argmin::Problem::<Vec<f64>>::new(valley::flat(&[-1.2, 1.0, -1.2, 1.0], 100.0)?);
//! let start = problem.start();
//! let solver = TrustRegion::new(Steihaug::new().with_max_iters(20)); // by the exact Hessian
//! let run = Executor::new(problem, solver).configure(|state| state.param(start).max_iters(100)).run()?;
//! assert!(run.state().get_best_cost() < 1e-12);
//! # Ok(())
//! # }
//! ```
//!
//! Gauss and Newton's method for residuals, with matrices of nalgebra:
//!
//! ```
//! # #[cfg(feature = "nalgebra")] {
//! use argmin::core::{Executor, State};
//! use argmin::solver::gaussnewton::GaussNewton;
//! use nalgebra::DVector;
//!
//! #[jut::differentiable(wrt(p))]
//! fn residuals(p: &[f64; 2], t: &[f64], y: &[f64]) -> Vec<f64> {
//!     t.iter().zip(y).map(|(t, y)| p[0] * (-p[1] * t).exp() - y).collect()
//! }
//!
//! # fn main() -> Result<(), argmin::core::Error> {
//! let flat = residuals::flat(&[1.0, 1.0], &[0.0, 1.0, 2.0], &[8.0, 2.0, 0.5])?;
//! let problem = jut_argmin::Problem::<DVector<f64>>::new(flat);
//! let start = problem.start();
//! let run = Executor::new(problem, GaussNewton::new()).configure(|s| s.param(start).max_iters(50)).run()?;
//! let found = run.state().get_best_param().expect("a point");
//! assert!((found[0] - 8.0).abs() < 1e-6 && (found[1] - 4f64.ln()).abs() < 1e-6);
//! # Ok(())
//! # }
//! # main().unwrap();
//! # }
//! ```
//!
//! An error of the function (an index out of range, an `assert!` that fails) ends the run, and comes out of `run()` as the
//! [`jut::Error`] that it is; so does R07, if something ends the calls ([`Flat::set_cancellation`]). Of an error in its line search `LBFGS`
//! makes a termination status with its text.

mod vector;

use argmin::core::{CostFunction, Error, Gradient, Hessian, Jacobian, Operator};
use jut::Flat;
use std::marker::PhantomData;
pub use vector::Vector;

/// A function with its arguments, as solvers want it. See the [crate's page](crate).
pub struct Problem<V = Vec<f64>> {
    flat: Flat,
    vector: PhantomData<fn() -> V>,
}

impl<V: Vector> Problem<V> {
    /// A function of a vector, for solvers.
    pub fn new(flat: Flat) -> Problem<V> {
        Problem { flat, vector: PhantomData }
    }

    /// The point where a solver may start: that of the arguments.
    pub fn start(&self) -> V {
        V::from_numbers(self.flat.start().to_vec())
    }

    /// The function: for what has no trait in `argmin`, and to write a point as arguments ([`Flat::arguments`]).
    pub fn flat(&self) -> &Flat {
        &self.flat
    }
}

impl<V: Vector> CostFunction for Problem<V> {
    type Param = V;
    type Output = f64;

    fn cost(&self, x: &V) -> Result<f64, Error> {
        Ok(self.flat.value(&x.numbers())?)
    }
}

impl<V: Vector> Gradient for Problem<V> {
    type Param = V;
    type Gradient = V;

    fn gradient(&self, x: &V) -> Result<V, Error> {
        let mut gradient = vec![0.0; self.flat.tangents()];
        self.flat.gradient_into(&x.numbers(), &mut gradient)?;
        Ok(V::from_numbers(gradient))
    }
}

impl<V: Vector> Hessian for Problem<V> {
    type Param = V;
    type Hessian = V::Matrix;

    fn hessian(&self, x: &V) -> Result<V::Matrix, Error> {
        let count = self.flat.tangents();
        let mut hessian = vec![0.0; count * count];
        self.flat.hessian_into(&x.numbers(), &mut hessian)?;
        Ok(V::matrix(count, count, hessian))
    }
}

impl<V: Vector> Operator for Problem<V> {
    type Param = V;
    type Output = V;

    fn apply(&self, x: &V) -> Result<V, Error> {
        let mut values = vec![0.0; self.flat.results()];
        self.flat.values_into(&x.numbers(), &mut values)?;
        Ok(V::from_numbers(values))
    }
}

impl<V: Vector> Jacobian for Problem<V> {
    type Param = V;
    type Jacobian = V::Matrix;

    fn jacobian(&self, x: &V) -> Result<V::Matrix, Error> {
        let (rows, columns) = (self.flat.results(), self.flat.tangents());
        let mut jacobian = vec![0.0; rows * columns];
        self.flat.jacobian_into(&x.numbers(), &mut jacobian)?;
        Ok(V::matrix(rows, columns, jacobian))
    }
}

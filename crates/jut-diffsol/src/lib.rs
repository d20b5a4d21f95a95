//! Differential equations of [`diffsol`] 0.18 with derivatives of functions of [`jut`].
//!
//! [`Equations`] are a function `f(y, p)` or `f(y, p, t)` of a state, parameters and the time: a right-hand side, outputs, roots. It is a
//! [`Flat`]: an annotated Rust function with its arguments, `f::flat(..)`, or a function of a text, [`flat`](jut::Function::flat), where
//! the arguments that are differentiated (`wrt`) are these two or three, in this order; others are data. A state and parameters are a number, an
//! array or a record. [`Initial`] is a function `g(p)` that gives the state at the beginning. Their methods are what
//! [`OdeBuilder`](diffsol::OdeBuilder) takes:
//!
//! | builder | what it takes |
//! |---|---|
//! | `rhs_implicit`, `out_implicit`, `reset_implicit` | [`value`](Equations::value), [`jacobian`](Equations::jacobian) |
//! | `rhs_sens_implicit`, `out_..`, `root_..`, `reset_..` | [`value`](Equations::value), [`jacobian`](Equations::jacobian), [`sensitivity`](Equations::sensitivity) |
//! | `rhs_adjoint_implicit`, `out_..`, `root_..`, `reset_..` | [`value`](Equations::value), [`jacobian`](Equations::jacobian), [`adjoint`](Equations::adjoint), [`sensitivity_adjoint`](Equations::sensitivity_adjoint) |
//! | `init`, `init_sens`, `init_adjoint` | [`value`](Initial::value); [`sensitivity`](Initial::sensitivity); [`adjoint`](Initial::adjoint) |
//!
//! The transposes that `diffsol` takes are negative, which its builder does not say; these are.
//!
//! ```
//! use diffsol::{NalgebraLU, NalgebraMat, OdeBuilder, OdeSolverMethod};
//! use jut_diffsol::Equations;
//!
//! #[jut::differentiable]
//! fn oscillator(y: &[f64; 2], stiffness: f64) -> [f64; 2] {
//!     [y[1], -stiffness * y[0]]
//! }
//!
//! # fn main() -> Result<(), jut_diffsol::Error> {
//! let f = Equations::new(oscillator::flat(&[1.0, 0.0], 4.0)?)?;
//! let problem = OdeBuilder::<NalgebraMat<f64>>::new()
//!     .p([4.0])
//!     .rhs_implicit(f.value(), f.jacobian())
//!     .init(|_, _, y| y.copy_from_slice(&[1.0, 0.0]), 2)
//!     .build()?;
//! let solved = problem.bdf::<NalgebraLU<f64>>().and_then(|mut solver| {
//!     let (y, t, _) = solver.solve(1.0)?;
//!     Ok((y.inner()[(0, t.len() - 1)], t.len()))
//! });
//! # use diffsol::MatrixCommon;
//! let (end, _) = f.explain(solved)?;
//! assert!((end - 2f64.cos()).abs() < 1e-3);
//! # Ok(())
//! # }
//! ```
//!
//! **Errors.** `diffsol` has no place for an error of a function: it gets numbers that are NaN, and gives up. [`Equations::explain`] says what went wrong.

mod error;
mod initial;
mod kept;

use diffsol::DiffsolError;
pub use error::Error;
pub use initial::Initial;
use jut::{Flat, Result};
use kept::Kept;

/// A function of a state, parameters and the time. See the [crate's page](crate).
#[derive(Clone)]
pub struct Equations {
    kept: Kept,
}

impl Equations {
    /// A function of a vector that is made of the state, the parameters and, if there is a third one, the time.
    ///
    /// # Errors
    /// Another number of parameters ([`jut::Error::Request`]).
    pub fn new(flat: Flat) -> Result<Equations> {
        Ok(Equations {
            kept: Kept::new(flat, &[2, 3], "a state, parameters and perhaps the time")?,
        })
    }

    /// The value `f(y, p, t)`.
    pub fn value(&self) -> impl Fn(&[f64], &[f64], f64, &mut [f64]) + Clone + use<> {
        let kept = self.kept.clone();
        move |y, p, t, to| kept.at(&[y, p, &[t]], to, |all, x, to| all.whole.values_into(x, to))
    }

    /// The derivative by the state, times a tangent of it.
    pub fn jacobian(&self) -> impl Fn(&[f64], &[f64], f64, &[f64], &mut [f64]) + Clone + use<> {
        let kept = self.kept.clone();
        move |y, p, t, v, to| {
            kept.at(&[y, p, &[t]], to, |all, x, to| all.by(0).jvp_into(x, v, to));
        }
    }

    /// The derivative by the parameters, times a tangent of these.
    pub fn sensitivity(&self) -> impl Fn(&[f64], &[f64], f64, &[f64], &mut [f64]) + Clone + use<> {
        let kept = self.kept.clone();
        move |y, p, t, v, to| {
            kept.at(&[y, p, &[t]], to, |all, x, to| all.by(1).jvp_into(x, v, to));
        }
    }

    /// The negative transpose of the derivative by the state, times a cotangent of the result.
    pub fn adjoint(&self) -> impl Fn(&[f64], &[f64], f64, &[f64], &mut [f64]) + Clone + use<> {
        let kept = self.kept.clone();
        move |y, p, t, v, to| {
            kept.at(&[y, p, &[t]], to, |all, x, to| all.by(0).vjp_into(x, v, to));
            kept::negate(to);
        }
    }

    /// The negative transpose of the derivative by the parameters, times a cotangent of the result.
    pub fn sensitivity_adjoint(
        &self,
    ) -> impl Fn(&[f64], &[f64], f64, &[f64], &mut [f64]) + Clone + use<> {
        let kept = self.kept.clone();
        move |y, p, t, v, to| {
            kept.at(&[y, p, &[t]], to, |all, x, to| all.by(1).vjp_into(x, v, to));
            kept::negate(to);
        }
    }

    /// How many floats the function gives.
    pub fn results(&self) -> usize {
        self.kept.results()
    }

    /// Takes what went wrong first in the function since this was last asked.
    pub fn failure(&self) -> Option<jut::Error> {
        self.kept.failure()
    }

    /// What a solver has given: where it gave up, what went wrong in the function, if anything did.
    ///
    /// # Errors
    /// That, or the solver's error.
    pub fn explain<T>(
        &self,
        solved: std::result::Result<T, DiffsolError>,
    ) -> std::result::Result<T, Error> {
        match (solved, self.failure()) {
            (Ok(solved), _) => Ok(solved),
            (Err(_), Some(error)) => Err(Error::Function(error)),
            (Err(error), None) => Err(Error::Solver(error)),
        }
    }
}

//! The state at the beginning.

use crate::kept::{self, Kept};
use jut::{Flat, Result};

/// A function of the parameters that gives the state at the beginning.
///
/// ```
/// #[jut::differentiable]
/// fn filled(p: &[f64; 2]) -> [f64; 2] {
///     [p[0] * p[1], 0.0]
/// }
///
/// # fn main() -> jut::Result<()> {
/// let initial = jut_diffsol::Initial::new(filled::flat(&[2.0, 3.0])?)?;
/// let mut by_parameters = [0.0; 2];
/// initial.adjoint()(&[2.0, 3.0], 0.0, &[1.0, 0.0], &mut by_parameters);
/// assert_eq!(by_parameters, [-3.0, -2.0]); // negative, as `diffsol` takes it
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Initial {
    kept: Kept,
}

impl Initial {
    /// A function of a vector that is made of the parameters.
    ///
    /// # Errors
    /// Several parameters ([`jut::Error::Request`]).
    pub fn new(flat: Flat) -> Result<Initial> {
        Ok(Initial { kept: Kept::new(flat, &[1], "the parameters")? })
    }

    /// The state.
    pub fn value(&self) -> impl Fn(&[f64], f64, &mut [f64]) + Clone + use<> {
        let kept = self.kept.clone();
        move |p, _, to| kept.at(&[p], to, |all, x, to| all.whole.values_into(x, to))
    }

    /// Its derivative, times a tangent of the parameters.
    pub fn sensitivity(&self) -> impl Fn(&[f64], f64, &[f64], &mut [f64]) + Clone + use<> {
        let kept = self.kept.clone();
        move |p, _, v, to| kept.at(&[p], to, |all, x, to| all.whole.jvp_into(x, v, to))
    }

    /// The negative transpose of that, times a cotangent of the state.
    pub fn adjoint(&self) -> impl Fn(&[f64], f64, &[f64], &mut [f64]) + Clone + use<> {
        let kept = self.kept.clone();
        move |p, _, v, to| {
            kept.at(&[p], to, |all, x, to| all.whole.vjp_into(x, v, to));
            kept::negate(to);
        }
    }

    /// How many numbers the state has.
    pub fn results(&self) -> usize {
        self.kept.results()
    }

    /// Takes what went wrong first in the function since this was last asked.
    pub fn failure(&self) -> Option<jut::Error> {
        self.kept.failure()
    }
}

//! Hamiltonian Monte Carlo of [`nuts_rs`] 0.19 on densities of [`jut`].
//!
//! A [`LogDensity`] is the logarithm of a density as a function of one vector, a [`Flat`]: an annotated Rust function with its
//! arguments, `f::flat(..)`, or a function of a text, [`flat`](jut::Function::flat). The arguments that are differentiated (`wrt`) are
//! where chains start, the others are data. One density serves any number of chains, on any number of threads.
//!
//! A chain by hand:
//!
//! ```
//! use jut_nuts_rs::LogDensity;
//! use nuts_rs::{Chain, CpuMath, DiagNutsSettings, Settings, rand::SeedableRng, rand::rngs::StdRng};
//!
//! #[jut::differentiable(wrt(mean))]
//! fn log_density(mean: f64, measured: &[f64]) -> f64 {
//!     measured.iter().map(|y| -0.5 * (y - mean).powi(2)).sum()
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let density = LogDensity::new(log_density::flat(0.0, &[1.0, 2.0, 3.0])?);
//! let start = density.flat().start().to_vec();
//! let mut chain = DiagNutsSettings::default().new_chain(0, CpuMath::new(density), &mut StdRng::seed_from_u64(1))?;
//! chain.set_position(&start)?;
//! let mut sum = 0.0;
//! for k in 0..1500 {
//!     let (draw, _) = chain.draw()?;
//!     sum += if k < 500 { 0.0 } else { draw[0] };
//! }
//! assert!((sum / 1000.0 - 2.0).abs() < 0.1);
//! # Ok(())
//! # }
//! ```
//!
//! It is a [`Model`] as well, for `nuts_rs::Sampler`, which runs chains on several threads and stores the draws: each parameter by its name, an
//! array with a dimension of that name.
//!
//! **Errors.** Where an `assert!` of the function fails, or a result has to be finite and is not ([`finite`](jut::Function::finite)), the density is
//! zero for the sampler: the step is a divergence, as with Stan. Any other error of the function ends the chain; it is the source of what the
//! sampler reports.

mod draws;

use anyhow::Result;
pub use draws::Draw;
use jut::Flat;
use nuts_rs::rand::{Rng, RngExt};
use nuts_rs::{CpuLogpFunc, CpuMath, CpuMathError, HasDims, InitPositionError, LogpError, Model};
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

/// The logarithm of a density, for the samplers of `nuts-rs`. See the [crate's page](crate).
#[derive(Clone)]
pub struct LogDensity {
    flat: Arc<Flat>,
    spread: f64,
}

impl LogDensity {
    /// A density whose logarithm is a number that a function of a vector gives.
    pub fn new(flat: Flat) -> LogDensity {
        LogDensity { flat: Arc::new(flat), spread: 0.0 }
    }

    /// The same where a sampler begins its chains, each number of the start moved by at most this much to either side. Without this, all
    /// begin at the start.
    #[must_use]
    pub fn spread(self, spread: f64) -> LogDensity {
        LogDensity { spread, ..self }
    }

    /// The function, also to write a draw as arguments: [`Flat::arguments`].
    pub fn flat(&self) -> &Flat {
        &self.flat
    }
}

/// What went wrong in the function.
#[derive(Debug)]
pub struct Failure(pub jut::Error);

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for Failure {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.0)
    }
}

impl LogpError for Failure {
    /// An assertion that fails (R12), and a number that is not finite (R10), are about the point, and not about the program.
    fn is_recoverable(&self) -> bool {
        matches!(self.0.code(), Some("R10" | "R12"))
    }
}

impl HasDims for LogDensity {
    fn dim_sizes(&self) -> HashMap<String, u64> {
        let all = ("unconstrained_parameter", self.flat.start().len());
        let own = self.flat.parameters().map(|(name, place, _)| (name, place.len()));
        own.chain([all]).map(|(name, size)| (name.to_string(), size as u64)).collect()
    }
}

impl CpuLogpFunc for LogDensity {
    type LogpError = Failure;
    type ExpandedVector = Draw;
    type FlowParameters = ();

    fn dim(&self) -> usize {
        self.flat.start().len()
    }

    fn logp(&mut self, position: &[f64], gradient: &mut [f64]) -> Result<f64, Failure> {
        self.flat.gradient_into(position, gradient).map_err(Failure)
    }

    fn expand_vector<R: Rng + ?Sized>(
        &mut self,
        _: &mut R,
        position: &[f64],
    ) -> Result<Draw, CpuMathError> {
        Ok(Draw(position.to_vec()))
    }
}

impl Model for LogDensity {
    type Math = CpuMath<LogDensity>;

    fn math<R: Rng + ?Sized>(self: Arc<Self>, _: &mut R) -> Result<Self::Math> {
        Ok(CpuMath::new((*self).clone()))
    }

    fn init_position<R: Rng + ?Sized>(
        &self,
        random: &mut R,
        _: u64,
        position: &mut [f64],
    ) -> Result<(), InitPositionError> {
        for (to, start) in position.iter_mut().zip(self.flat.start()) {
            *to = start + self.spread * (2.0 * random.random::<f64>() - 1.0);
        }
        Ok(())
    }
}

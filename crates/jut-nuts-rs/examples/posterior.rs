//! How far and how certain: slope, intercept and noise of a line by Hamiltonian Monte Carlo of `nuts-rs`.
use nuts_rs::{Chain, CpuLogpFunc, CpuMath, CpuMathError, DiagNutsSettings, HasDims, LogpError};
use nuts_rs::{Settings, rand::SeedableRng, rand::rngs::StdRng};
use std::{collections::HashMap, fmt};

/// The logarithm of the posterior density, with the logarithm of the noise as the third number.
#[jut::differentiable(wrt(q))]
fn log_density(q: &[f64], x: &[f64], y: &[f64]) -> f64 {
    let mut s = -0.5 * (q[0] * q[0] + q[1] * q[1]) / 100.0 - 0.5 * q[2] * q[2];
    for i in 0..x.len() {
        s -= 0.5 * ((y[i] - q[0] * x[i] - q[1]) * (-q[2]).exp()).powi(2) + q[2];
    }
    s
}

struct Line([f64; 6], [f64; 6]);
#[derive(Debug)]
struct Failed(jut::Error);
impl fmt::Display for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
impl std::error::Error for Failed {}
impl LogpError for Failed {
    fn is_recoverable(&self) -> bool {
        false
    }
}
impl HasDims for Line {
    fn dim_sizes(&self) -> HashMap<String, u64> {
        HashMap::from([("unconstrained_parameter".to_string(), 3)])
    }
}
impl CpuLogpFunc for Line {
    type LogpError = Failed;
    type ExpandedVector = Vec<f64>;
    type FlowParameters = ();
    fn dim(&self) -> usize {
        3
    }
    fn logp(&mut self, q: &[f64], gradient: &mut [f64]) -> Result<f64, Failed> {
        let (value, by_q) = log_density::value_and_gradient(q, &self.0, &self.1).map_err(Failed)?;
        gradient.copy_from_slice(&by_q);
        Ok(value)
    }
    fn expand_vector<R: nuts_rs::rand::Rng + ?Sized>(
        &mut self,
        _: &mut R,
        q: &[f64],
    ) -> Result<Vec<f64>, CpuMathError> {
        Ok(q.to_vec())
    }
}

/// Solves it.
pub fn main() -> Result<(), Box<dyn std::error::Error>> {
    let line = Line([0.0, 1.0, 2.0, 3.0, 4.0, 5.0], [1.1, 2.9, 5.2, 6.8, 9.1, 10.9]);
    let settings = DiagNutsSettings { num_tune: 500, ..Default::default() };
    let mut rng = StdRng::seed_from_u64(1);
    let mut chain = settings.new_chain(0, CpuMath::new(line), &mut rng)?;
    chain.set_position(&[0.0; 3])?;
    let mut draws = Vec::new();
    for _ in 0..2500 {
        draws.push(chain.draw()?.0);
    }
    let mean = |k: usize| draws[500..].iter().map(|q| q[k]).sum::<f64>() / 2000.0;
    println!("slope {:.3}, intercept {:.3}, log noise {:.3}", mean(0), mean(1), mean(2));
    assert!((mean(0) - 1.97).abs() < 0.05 && (mean(1) - 1.08).abs() < 0.1);
    Ok(())
}

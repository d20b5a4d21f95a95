//! How far and how certain: slope, intercept and noise of a line by Hamiltonian Monte Carlo of `nuts-rs`, four chains at once.
use jut_nuts_rs::LogDensity;
use nuts_rs::{DiagNutsSettings, HashMapConfig, HashMapValue, Sampler, SamplerWaitResult};
use std::sync::Arc;
use std::time::Duration;

/// The logarithm of the posterior density, with the logarithm of the noise.
#[jut::differentiable(wrt(line, noise))]
fn log_density(line: &[f64; 2], noise: f64, x: &[f64], y: &[f64]) -> f64 {
    let mut s = -0.5 * (line[0] * line[0] + line[1] * line[1]) / 100.0 - 0.5 * noise * noise;
    for i in 0..x.len() {
        s -= 0.5 * ((y[i] - line[0] * x[i] - line[1]) * (-noise).exp()).powi(2) + noise;
    }
    s
}

/// Solves it.
pub fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (x, y) = ([0.0, 1.0, 2.0, 3.0, 4.0, 5.0], [1.1, 2.9, 5.2, 6.8, 9.1, 10.9]);
    let density = LogDensity::new(log_density::flat(&[0.0; 2], 0.0, &x, &y)?).spread(1.0);
    let settings = DiagNutsSettings { num_tune: 500, num_chains: 4, ..Default::default() };
    let mut sampler = Sampler::new(Arc::new(density), settings, HashMapConfig::new(), 2, None)?;
    let chains = loop {
        match sampler.wait_timeout(Duration::from_secs(1)) {
            SamplerWaitResult::Trace(chains) => break chains,
            SamplerWaitResult::Timeout(again) => sampler = again,
            SamplerWaitResult::Err(error, _) => return Err(error.into()),
        }
    };
    let mut mean = [0.0; 2];
    for chain in &chains {
        let Some(HashMapValue::F64(line)) = chain.draws.get("line") else {
            return Err("no draws".into());
        };
        line[1000..].chunks(2).for_each(|line| (0..2).for_each(|k| mean[k] += line[k] / 4000.0));
    }
    println!("slope {:.3}, intercept {:.3}", mean[0], mean[1]);
    assert!((mean[0] - 1.97).abs() < 0.05 && (mean[1] - 1.08).abs() < 0.1);
    Ok(())
}

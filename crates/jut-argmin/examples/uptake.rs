//! How fast a body takes up a drug and clears it, from measured concentrations: BFGS of `argmin`.
use argmin::core::{CostFunction, Error, Executor, Gradient, State};
use argmin::solver::{linesearch::MoreThuenteLineSearch, quasinewton::LBFGS};

/// Squared distance of Bateman's function from what was measured, by logarithms of the rates.
#[jut::differentiable(wrt(rates))]
fn misfit(rates: &[f64], times: &[f64], measured: &[f64]) -> f64 {
    let (uptake, clearance) = (rates[0].exp(), rates[1].exp());
    let mut s = 0.0;
    for (t, c) in times.iter().zip(measured) {
        let left = (-clearance * t).exp() - (-uptake * t).exp();
        s += (10.0 * uptake / (uptake - clearance) * left - c).powi(2);
    }
    s
}

struct Patient([f64; 5], [f64; 5]);
impl CostFunction for Patient {
    type Param = Vec<f64>;
    type Output = f64;
    fn cost(&self, rates: &Vec<f64>) -> Result<f64, Error> {
        Ok(misfit(rates, &self.0, &self.1)) // the function itself
    }
}
impl Gradient for Patient {
    type Param = Vec<f64>;
    type Gradient = Vec<f64>;
    fn gradient(&self, rates: &Vec<f64>) -> Result<Vec<f64>, Error> {
        Ok(misfit::gradient(rates, &self.0, &self.1)?)
    }
}
fn main() -> Result<(), Error> {
    let patient = Patient([0.5, 1.0, 2.0, 4.0, 8.0], [3.729, 5.636, 6.687, 5.388, 2.520]);
    let solver = LBFGS::new(MoreThuenteLineSearch::new(), 5);
    let run = Executor::new(patient, solver).configure(|s| s.param(vec![0.5, -1.0]).max_iters(60));
    let state = run.run()?.state().clone();
    println!("logarithms {:.3?}, misfit {:.1e}", state.get_best_param(), state.get_best_cost());
    assert!(state.get_best_cost() < 1e-4);
    Ok(())
}

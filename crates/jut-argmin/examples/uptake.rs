//! How fast a body takes up a drug and clears it, from measured concentrations: BFGS of `argmin`, then Newton's method.
use argmin::core::{Error, Executor, State};
use argmin::solver::trustregion::{Steihaug, TrustRegion};
use argmin::solver::{linesearch::MoreThuenteLineSearch, quasinewton::LBFGS};
use jut_argmin::Problem;

/// Squared distance of Bateman's function from what was measured, by logarithms of the rates.
#[jut::differentiable(wrt(rates))]
fn misfit(rates: &[f64; 2], times: &[f64], measured: &[f64]) -> f64 {
    let (uptake, clearance) = (rates[0].exp(), rates[1].exp());
    let mut s = 0.0;
    for (t, c) in times.iter().zip(measured) {
        let left = (-clearance * t).exp() - (-uptake * t).exp();
        s += (10.0 * uptake / (uptake - clearance) * left - c).powi(2);
    }
    s
}

/// Solves it.
pub fn main() -> Result<(), Error> {
    let (times, measured) = ([0.5, 1.0, 2.0, 4.0, 8.0], [3.729, 5.636, 6.687, 5.388, 2.520]);
    let patient = || misfit::flat(&[0.5, -1.0], &times, &measured).map(Problem::<Vec<f64>>::new);
    let start = patient()?.start();

    let solver = LBFGS::new(MoreThuenteLineSearch::new(), 5);
    let run = Executor::new(patient()?, solver).configure(|s| s.param(start.clone()).max_iters(60));
    let by_gradients = run.run()?.state().clone();
    println!("logarithms {:.3?}", by_gradients.get_best_param());

    let solver = TrustRegion::new(Steihaug::new().with_max_iters(10));
    let run = Executor::new(patient()?, solver).configure(|s| s.param(start).max_iters(60));
    let by_hessians = run.run()?.state().clone();
    println!("by the Hessian {:.3?}", by_hessians.get_best_param());
    assert!(by_gradients.get_best_cost() < 1e-4 && by_hessians.get_best_cost() < 1e-4);
    Ok(())
}

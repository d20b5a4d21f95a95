//! Robertson's stiff reactions, with the sensitivities to all rates: `diffsol`, with products with the exact Jacobian.
use diffsol::{MatrixCommon, NalgebraLU, NalgebraMat, OdeBuilder, SensitivitiesOdeSolverMethod};
use jut_diffsol::{Equations, Error};

/// How fast three substances change.
#[jut::differentiable]
fn reactions(y: &[f64; 3], k: &[f64; 3]) -> [f64; 3] {
    let (slow, back, fast) = (k[0] * y[0], k[1] * y[1] * y[2], k[2] * y[1] * y[1]);
    [back - slow, slow - back - fast, fast]
}

/// Solves it.
pub fn main() -> Result<(), Error> {
    let (start, rates) = ([1.0, 0.0, 0.0], [0.04, 1e4, 3e7]);
    let f = Equations::new(reactions::flat(&start, &rates)?)?;
    let problem = OdeBuilder::<NalgebraMat<f64>>::new()
        .p(rates)
        .rtol(1e-6)
        .atol([1e-8, 1e-10, 1e-8])
        .rhs_sens_implicit(f.value(), f.jacobian(), f.sensitivity())
        .init_sens(move |_, _, y| y.copy_from_slice(&start), |_, _, _, to| to.fill(0.0), 3)
        .build()?;
    let mut solver = problem.bdf_sens::<NalgebraLU<f64>>()?;
    let (y, by_rates, _) = f.explain(solver.solve_dense_sensitivities(&[0.4, 4.0, 40.0]))?;
    for (k, last) in by_rates.iter().enumerate() {
        println!("at 40, by rate {k}: {:?}", last.inner().column(2).as_slice());
    }
    assert!((y.inner()[(0, 2)] - 0.7158).abs() < 1e-3);
    assert!((by_rates[0].inner()[(0, 2)] + 4.2475).abs() < 1e-2);
    Ok(())
}

//! Robertson's stiff reactions, with the sensitivities to all rates: `diffsol`, with products with the exact Jacobian.
use diffsol::{MatrixCommon, NalgebraLU, NalgebraMat, OdeBuilder, SensitivitiesOdeSolverMethod};

/// How fast three substances change.
#[jut::differentiable]
fn reactions(y: &[f64; 3], k: &[f64; 3]) -> [f64; 3] {
    let (slow, back, fast) = (k[0] * y[0], k[1] * y[1] * y[2], k[2] * y[1] * y[1]);
    [back - slow, slow - back - fast, fast]
}

fn three(x: &[f64]) -> &[f64; 3] {
    x.try_into().expect("three numbers")
}

/// The change of that along tangents.
fn along(y: &[f64], k: &[f64], d_y: &[f64], d_k: &[f64], to: &mut [f64]) {
    let product = reactions::jvp(three(y), three(k), three(d_y), three(d_k));
    to.copy_from_slice(&product.map_or([f64::NAN; 3], |(_, tangent)| tangent));
}

/// Solves it.
pub fn main() -> Result<(), diffsol::error::DiffsolError> {
    let problem = OdeBuilder::<NalgebraMat<f64>>::new()
        .p([0.04, 1e4, 3e7])
        .rtol(1e-6)
        .atol([1e-8, 1e-10, 1e-8])
        .rhs_sens_implicit(
            |y, k, _, to| to.copy_from_slice(&reactions(three(y), three(k))), // the function itself
            |y, k, _, d_y, to| along(y, k, d_y, &[0.0; 3], to),
            |y, k, _, d_k, to| along(y, k, &[0.0; 3], d_k, to),
        )
        .init_sens(|_, _, y| y.copy_from_slice(&[1.0, 0.0, 0.0]), |_, _, _, to| to.fill(0.0), 3)
        .build()?;
    let mut solver = problem.bdf_sens::<NalgebraLU<f64>>()?;
    let (y, by_rates, _) = solver.solve_dense_sensitivities(&[0.4, 4.0, 40.0])?;
    for (k, last) in by_rates.iter().enumerate() {
        println!("at 40, by rate {k}: {:?}", last.inner().column(2).as_slice());
    }
    assert!((y.inner()[(0, 2)] - 0.7158).abs() < 1e-3);
    assert!((by_rates[0].inner()[(0, 2)] + 4.2475).abs() < 1e-2);
    Ok(())
}

//! The best force on a mass that shall come to rest: gradients of a cost by the adjoint equations of `diffsol`.
use diffsol::*;
use jut_diffsol::{Equations, Error};

/// Place and speed of a mass that a force pulls back, by its gains.
#[jut::differentiable]
fn moves(y: &[f64; 2], gains: &[f64; 2]) -> [f64; 2] {
    [y[1], -gains[0] * y[0] - gains[1] * y[1]]
}

/// What distance and force cost, for each second.
#[jut::differentiable]
fn costs(y: &[f64; 2], gains: &[f64; 2]) -> f64 {
    y[0].powi(2) + 0.25 * (gains[0] * y[0] + gains[1] * y[1]).powi(2)
}

/// Solves it.
pub fn main() -> Result<(), Error> {
    let (start, mut gains) = ([1.0, 0.0], [1.0, 1.0]);
    let f = Equations::new(moves::flat(&start, &gains)?)?;
    let c = Equations::new(costs::flat(&start, &gains)?)?;
    for _ in 0..60 {
        let problem = OdeBuilder::<NalgebraMat<f64>>::new()
            .p(gains)
            .rhs_adjoint_implicit(f.value(), f.jacobian(), f.adjoint(), f.sensitivity_adjoint())
            .init_adjoint(|_, _, y| y.copy_from_slice(&start), |_, _, _, to| to.fill(0.0), 2)
            .out_adjoint_implicit(c.value(), c.jacobian(), c.adjoint(), c.sensitivity_adjoint(), 1)
            .integrate_out(true)
            .build()?;
        let mut there = problem.bdf::<NalgebraLU<f64>>()?;
        let (path, ..) = f.explain(there.solve_with_checkpointing(20.0, None))?;
        let back = problem.bdf_solver_adjoint::<NalgebraLU<f64>, _>(path, Some(there), None)?;
        let (end, _) = f.explain(back.solve_adjoint_backwards_pass(&[], &[]))?;
        let slopes = end.as_ref().sg.batch_as_slice(0);
        gains.iter_mut().zip(slopes).for_each(|(x, slope)| *x -= 3.0 * slope);
    }
    println!("gains {gains:.3?}; the Riccati equation says 2 and 2");
    assert!(gains.iter().all(|x| (x - 2.0).abs() < 1e-2));
    Ok(())
}

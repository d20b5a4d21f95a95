//! The examples, the conventions of `diffsol`, and what goes wrong.

use diffsol::MatrixCommon;
use diffsol::{NalgebraLU, NalgebraMat, OdeBuilder, OdeSolverMethod, SensitivitiesOdeSolverMethod};
use jut_diffsol::{Equations, Error, Initial};

#[path = "../examples/control.rs"]
mod control;
#[path = "../examples/kinetics.rs"]
mod kinetics;

#[test]
fn stiff_kinetics_with_sensitivities() {
    kinetics::main().unwrap();
}

#[test]
fn a_force_by_adjoint_equations() {
    control::main().unwrap();
}

/// The state and the parameters are records.
#[derive(jut::Data, Clone)]
struct Ball {
    height: f64,
    speed: f64,
}

#[jut::differentiable(wrt(ball, p, t))]
fn thrown(ball: &Ball, p: (f64, f64), t: f64, wind: &[f64]) -> (f64, f64) {
    (ball.speed, -p.0 - p.1 * ball.speed * ball.speed + wind[0] * t.sin())
}

#[test]
fn products_are_those_of_the_jacobian_and_transposes_are_negative() {
    let start = Ball { height: 2.0, speed: 3.0 };
    let f = Equations::new(thrown::flat(&start, (9.8, 0.1), 0.0, &[0.5]).unwrap()).unwrap();
    let (y, p, t) = ([2.0, 3.0], [9.8, 0.1], 0.25);
    let mut to = [0.0; 2];
    f.value()(&y, &p, t, &mut to);
    assert_eq!(to, [3.0, -9.8 - 0.1 * 3.0 * 3.0 + 0.5 * 0.25f64.sin()]);
    f.jacobian()(&y, &p, t, &[1.0, 2.0], &mut to);
    assert!((to[0] - 2.0).abs() < 1e-15 && (to[1] + 1.2).abs() < 1e-15);
    f.sensitivity()(&y, &p, t, &[1.0, 2.0], &mut to);
    assert!(to[0] == 0.0 && (to[1] + 19.0).abs() < 1e-14);
    f.adjoint()(&y, &p, t, &[1.0, 2.0], &mut to);
    assert!(to[0] == 0.0 && (to[1] - 0.2).abs() < 1e-14, "{to:?}");
    f.sensitivity_adjoint()(&y, &p, t, &[1.0, 2.0], &mut to);
    assert!((to[0] - 2.0).abs() < 1e-14 && (to[1] - 18.0).abs() < 1e-14, "{to:?}");
    assert_eq!((f.results(), f.failure().is_none()), (2, true));
}

#[jut::differentiable]
fn decays(y: &[f64; 1], p: &[f64; 2]) -> [f64; 1] {
    [-p[0] * y[0]]
}

#[jut::differentiable]
fn begins(p: &[f64; 2]) -> [f64; 1] {
    [p[1] * p[1]]
}

/// A state at the beginning that depends on the parameters: y = p1² exp(-p0 t).
#[test]
fn sensitivities_begin_where_the_state_does() {
    let p = [0.5, 3.0];
    let f = Equations::new(decays::flat(&[9.0], &p).unwrap()).unwrap();
    let first = Initial::new(begins::flat(&p).unwrap()).unwrap();
    let problem = OdeBuilder::<NalgebraMat<f64>>::new()
        .p(p)
        .rtol(1e-8)
        .atol([1e-10])
        .rhs_sens_implicit(f.value(), f.jacobian(), f.sensitivity())
        .init_sens(first.value(), first.sensitivity(), first.results())
        .build()
        .unwrap();
    let mut solver = problem.bdf_sens::<NalgebraLU<f64>>().unwrap();
    let (y, by_p, _) = solver.solve_dense_sensitivities(&[1.0]).unwrap();
    let end = 9.0 * (-0.5f64).exp();
    assert!((y.inner()[(0, 0)] - end).abs() < 1e-5);
    assert!((by_p[0].inner()[(0, 0)] + end).abs() < 1e-4);
    assert!((by_p[1].inner()[(0, 0)] - 2.0 / 3.0 * end).abs() < 1e-4);
    assert!(first.failure().is_none());
}

#[jut::differentiable]
fn empties(y: &[f64; 1], p: &[f64; 1]) -> [f64; 1] {
    assert!(y[0] > 0.5, "nearly empty");
    [-p[0]]
}

/// The solver says that steps are too small; the function knows why.
#[test]
fn an_error_of_the_function_is_what_comes_out() {
    let f = Equations::new(empties::flat(&[1.0], &[1.0]).unwrap()).unwrap();
    let problem = OdeBuilder::<NalgebraMat<f64>>::new()
        .p([1.0])
        .rhs_implicit(f.value(), f.jacobian())
        .init(|_, _, y| y[0] = 1.0, 1)
        .build()
        .unwrap();
    let mut solver = problem.bdf::<NalgebraLU<f64>>().unwrap();
    let error = f.explain(solver.solve(2.0)).err().unwrap();
    let Error::Function(error) = error else { panic!("{error}") };
    assert_eq!(error.code(), Some("R12"));
    assert!(error.to_string().contains("nearly empty at"), "{error}");
    assert!(solver.state().t <= 0.6);
    assert!(f.failure().is_none());
}

#[test]
fn the_vector_has_two_or_three_parts() {
    let said = |error: jut::Error| error.to_string();
    let one = Equations::new(begins::flat(&[1.0, 2.0]).unwrap()).map(drop).map_err(said);
    assert!(one.is_err_and(|said| said.contains("made of p: say by `wrt`")));
    let two = Initial::new(decays::flat(&[1.0], &[1.0, 2.0]).unwrap()).map(drop).map_err(said);
    assert!(two.is_err_and(|said| said.contains("made of y, p: say by `wrt`")));
}

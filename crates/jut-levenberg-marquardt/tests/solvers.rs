//! The example, and what goes wrong.

use jut_levenberg_marquardt::LeastSquares;
use levenberg_marquardt::{LeastSquaresProblem, LevenbergMarquardt, differentiate_numerically};

#[path = "../examples/calibration.rs"]
mod calibration;

#[test]
fn a_decay_is_calibrated() {
    calibration::main().unwrap();
}

/// Rosenbrock's valley, with a wall.
#[jut::differentiable(wrt(x))]
fn valley(x: &[f64; 2], wall: f64) -> (f64, [f64; 1]) {
    assert!(x[0] < wall, "behind the wall");
    (10.0 * (x[1] - x[0] * x[0]), [1.0 - x[0]])
}

#[test]
fn the_jacobian_is_that_of_differences() {
    let mut problem = LeastSquares::new(valley::flat(&[-1.2, 1.0], 2.0).unwrap());
    let exact = problem.jacobian().unwrap();
    let near = differentiate_numerically(&mut problem).unwrap();
    assert!((exact - near).norm() < 1e-6);
    assert_eq!(problem.residuals().unwrap().as_slice(), [10.0 * (1.0 - 1.44), 2.2]);
}

#[test]
fn it_goes_down_the_valley() {
    let problem = LeastSquares::new(valley::flat(&[-1.2, 1.0], 2.0).unwrap());
    let (solved, report) = problem.minimize(&LevenbergMarquardt::new()).unwrap();
    assert!(report.termination.was_successful() && report.objective_function < 1e-20);
    assert_eq!(solved.flat().arguments(solved.point()).unwrap()[1], jut::Value::F64(2.0));
}

/// The solver only knows that there was no number; the problem knows why.
#[test]
fn an_error_of_the_function_is_what_comes_out() {
    let start = || LeastSquares::new(valley::flat(&[-1.2, 1.0], 0.5).unwrap());
    let error = start().minimize(&LevenbergMarquardt::new()).err().unwrap();
    assert_eq!(error.code(), Some("R12"));
    assert!(error.to_string().contains("behind the wall at"), "{error}");
    let (stopped, report) = LevenbergMarquardt::new().minimize(start());
    assert!(!report.termination.was_successful());
    assert_eq!(stopped.failure().and_then(|error| error.code()), Some("R12"));
    assert!(stopped.failure().is_none());
}

//! The example, vectors of every library, and what goes wrong.

use argmin::core::{CostFunction, Executor, Gradient, Hessian, Jacobian, Operator, State};
use argmin::solver::trustregion::{Steihaug, TrustRegion};
use argmin::solver::{linesearch::MoreThuenteLineSearch, quasinewton::LBFGS};
use jut_argmin::{Problem, Vector};

#[path = "../examples/uptake.rs"]
mod uptake;

#[test]
fn a_drug_is_taken_up() {
    uptake::main().unwrap();
}

#[jut::differentiable(wrt(x, a))]
fn energy(x: &[f64], a: f64, weights: &[f64]) -> f64 {
    x.iter().zip(weights).map(|(x, w)| w * x * x * a).sum()
}

#[jut::differentiable(wrt(x, a))]
fn forces(x: &[f64], a: f64) -> Vec<f64> {
    x.iter().map(|x| a * x.powi(3)).collect()
}

/// All that solvers ask for, by one kind of vector; matrices row by row.
fn all<V: Vector>(rows: impl Fn(V::Matrix) -> Vec<f64>) -> [Vec<f64>; 4] {
    let energy = Problem::<V>::new(energy::flat(&[1.0, 2.0], 3.0, &[1.0, 0.5]).unwrap());
    let forces = Problem::<V>::new(forces::flat(&[1.0, 2.0], 3.0).unwrap());
    let x = energy.start();
    assert_eq!(*x.numbers(), [1.0, 2.0, 3.0]);
    assert_eq!(energy.cost(&x).unwrap(), 9.0);
    [
        energy.gradient(&x).unwrap().numbers().to_vec(),
        rows(energy.hessian(&x).unwrap()),
        forces.apply(&x).unwrap().numbers().to_vec(),
        rows(forces.jacobian(&x).unwrap()),
    ]
}

#[test]
fn every_trait_by_every_vector() {
    let expected = [
        vec![6.0, 6.0, 3.0],
        vec![6.0, 0.0, 2.0, 0.0, 3.0, 2.0, 2.0, 2.0, 0.0],
        vec![3.0, 24.0],
        vec![9.0, 0.0, 1.0, 0.0, 36.0, 8.0],
    ];
    assert_eq!(all::<Vec<f64>>(|rows| rows.concat()), expected);
    #[cfg(feature = "nalgebra")]
    {
        use nalgebra::DVector;
        assert_eq!(all::<DVector<f64>>(|m| m.transpose().as_slice().to_vec()), expected);
    }
    #[cfg(feature = "ndarray")]
    {
        use ndarray::{Array1, Axis};
        assert_eq!(all::<Array1<f64>>(|m| m.iter().copied().collect()), expected);
        // What does not lie side by side is read in order.
        let mut reversed = Array1::from(vec![1.0, 2.0]);
        reversed.invert_axis(Axis(0));
        assert_eq!(*reversed.numbers(), [2.0, 1.0]);
    }
    assert_eq!(<Vec<f64> as Vector>::matrix(2, 0, Vec::new()), [[], []] as [[f64; 0]; 2]);
}

#[jut::differentiable]
fn guarded(x: &[f64; 1]) -> f64 {
    assert!(x[0] > 0.5, "too small");
    x[0] * x[0]
}

/// An error of the function is what `run` gives, with its place; or what a line search says in its status.
#[test]
fn an_error_of_the_function_ends_the_run() {
    let problem = || Problem::<Vec<f64>>::new(guarded::flat(&[2.0]).unwrap());
    let solver = TrustRegion::new(Steihaug::new().with_max_iters(9));
    let run =
        Executor::new(problem(), solver).configure(|s| s.param(vec![2.0]).max_iters(50)).run();
    let error = run.err().expect("the minimum is outside");
    let error = error.downcast_ref::<jut::Error>().expect("it is jut's");
    assert_eq!(error.code(), Some("R12"));
    assert!(error.to_string().contains("too small at"), "{error}");
    assert!(error.to_string().contains("solvers.rs:"), "{error}");

    let solver = LBFGS::new(MoreThuenteLineSearch::new(), 5);
    let run =
        Executor::new(problem(), solver).configure(|s| s.param(vec![2.0]).max_iters(50)).run();
    let status = run.unwrap().state().get_termination_status().to_string();
    assert!(status.contains("R12: too small at"), "{status}");
}

/// A problem of several threads at once: solvers may ask for many points in parallel.
#[test]
fn it_is_shared_by_threads() {
    fn shared<T: Send + Sync>(_: &T) {}
    let problem = Problem::<Vec<f64>>::new(guarded::flat(&[2.0]).unwrap());
    shared(&problem);
    let run = Executor::new(problem, LBFGS::new(MoreThuenteLineSearch::new(), 5));
    let state = run.configure(|s| s.param(vec![0.75]).max_iters(0)).run().unwrap();
    assert_eq!(state.state().get_iter(), 0);
}

//! The examples that hand derivatives to other crates, as they stand there.

#[path = "../examples/calibration.rs"]
mod calibration;
#[path = "../examples/kinetics.rs"]
mod kinetics;
#[path = "../examples/posterior.rs"]
mod posterior;

#[test]
fn a_fit_by_least_squares() {
    calibration::main();
}

#[test]
fn stiff_kinetics_with_sensitivities() {
    kinetics::main().unwrap();
}

#[test]
fn a_posterior_by_hamiltonian_monte_carlo() {
    posterior::main().unwrap();
}

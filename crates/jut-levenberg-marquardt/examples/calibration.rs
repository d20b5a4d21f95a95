//! Amplitude, rate and background of a decay from counts: `levenberg-marquardt`, with the exact Jacobian.
use levenberg_marquardt::{LeastSquaresProblem, LevenbergMarquardt};
use nalgebra_of_solvers::{DVector, Dyn, OMatrix, Owned, U3, Vector3};

/// How far a model is from the counts, in units of their errors.
#[jut::differentiable(wrt(p))]
fn residuals(p: &[f64; 3], times: &[f64], counts: &[f64]) -> Vec<f64> {
    let mut r = vec![0.0; times.len()];
    for (r, (t, n)) in r.iter_mut().zip(times.iter().zip(counts)) {
        *r = (p[0] * (-p[1] * t).exp() + p[2] - n) / n.sqrt();
    }
    r
}

struct Decay(Vector3<f64>, [f64; 6], [f64; 6]);
impl LeastSquaresProblem<f64, Dyn, U3> for Decay {
    type ParameterStorage = Owned<f64, U3>;
    type ResidualStorage = Owned<f64, Dyn>;
    type JacobianStorage = Owned<f64, Dyn, U3>;
    fn set_params(&mut self, p: &Vector3<f64>) {
        self.0 = *p;
    }
    fn params(&self) -> Vector3<f64> {
        self.0
    }
    fn residuals(&self) -> Option<DVector<f64>> {
        Some(residuals(self.0.as_ref(), &self.1, &self.2).into()) // the function itself
    }
    fn jacobian(&self) -> Option<OMatrix<f64, Dyn, U3>> {
        let rows = residuals::jacobian(self.0.as_ref(), &self.1, &self.2).ok()?;
        Some(OMatrix::<f64, Dyn, U3>::from_row_slice(&rows.data))
    }
}

/// Solves it.
pub fn main() {
    let counts = [1050.0, 655.0, 421.0, 207.0, 73.0, 51.0];
    let decay = Decay(Vector3::new(500.0, 1.0, 10.0), [0.0, 1.0, 2.0, 4.0, 8.0, 16.0], counts);
    let (decay, report) = LevenbergMarquardt::new().minimize(decay);
    println!("{:.3?}, chi squared {:.2}", decay.0.as_slice(), 2.0 * report.objective_function);
    assert!(report.termination.was_successful() && report.objective_function < 1.0);
}

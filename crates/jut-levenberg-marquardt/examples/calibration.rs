//! Amplitude, rate and background of a decay from counts: `levenberg-marquardt`, with the exact Jacobian.
use jut_levenberg_marquardt::LeastSquares;
use levenberg_marquardt::LevenbergMarquardt;

/// What is sought.
#[derive(jut::Data, Clone)]
struct Decay {
    amplitude: f64,
    rate: f64,
    background: f64,
}

/// How far a model is from the counts, in units of their errors.
#[jut::differentiable(wrt(decay))]
fn residuals(decay: &Decay, times: &[f64], counts: &[f64]) -> Vec<f64> {
    let mut r = vec![0.0; times.len()];
    for (r, (t, n)) in r.iter_mut().zip(times.iter().zip(counts)) {
        *r = (decay.amplitude * (-decay.rate * t).exp() + decay.background - n) / n.sqrt();
    }
    r
}

/// Solves it.
pub fn main() -> jut::Result<()> {
    let counts = [1050.0, 655.0, 421.0, 207.0, 73.0, 51.0];
    let times = [0.0, 1.0, 2.0, 4.0, 8.0, 16.0];
    let start = Decay { amplitude: 500.0, rate: 1.0, background: 10.0 };
    let decay = LeastSquares::new(residuals::flat(&start, &times, &counts)?);
    let (decay, report) = decay.minimize(&LevenbergMarquardt::new())?;
    println!("{:.3?}, chi squared {:.2}", decay.point(), 2.0 * report.objective_function);
    assert!(report.termination.was_successful() && report.objective_function < 1.0);
    Ok(())
}

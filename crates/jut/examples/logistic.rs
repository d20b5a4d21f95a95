//! Logistic regression on real data, with a compiled gradient.
//!
//! ```text
//! cargo run --release -p jut --example logistic
//! ```
//!
//! Reads the Wisconsin breast cancer data (569 tumours, 30 features), standardises the features,
//! compiles value and gradient of `logistic.jut` once, and fits the 30 weights and the intercept with
//! L-BFGS from the `argmin` crate. Newton's method with jut's own Hessian then finds the same optimum
//! from the start, in a few steps. The fitted loss is compared with one that Newton's method found
//! with 50 digits (`reference/reference.py`).

use argmin::core::observers::{Observe, ObserverMode};
use argmin::core::{CostFunction, Error, Executor, Gradient, IterState, KV, State};
use argmin::solver::linesearch::MoreThuenteLineSearch;
use argmin::solver::quasinewton::LBFGS;
use indicatif::{ProgressBar, ProgressStyle};
use jut::{Arg, Compiled, Engine, Function, Model, Session};
use nalgebra::{DMatrix, DVector};
use std::cell::RefCell;
use std::path::Path;
use std::time::{Duration, Instant};

type Params = Vec<f64>;
type Failure = Box<dyn std::error::Error>;

/// The features row by row, standardised, and the labels.
struct Data {
    x: Vec<f64>,
    y: Vec<f64>,
    features: usize,
}

impl Data {
    fn read(path: &Path) -> Result<Data, Failure> {
        let mut rows: Vec<Vec<f64>> = Vec::new();
        for record in csv::Reader::from_path(path)?.deserialize() {
            rows.push(record?);
        }
        let features = rows.first().map_or(0, |row| row.len().saturating_sub(1));
        let n = rows.len() as f64;
        let mut data = Data { x: Vec::new(), y: Vec::new(), features };
        let mut moments = Vec::new();
        for j in 0..features {
            let mean = rows.iter().map(|row| row[j]).sum::<f64>() / n;
            let variance = rows.iter().map(|row| (row[j] - mean).powi(2)).sum::<f64>() / n;
            moments.push((mean, variance.sqrt()));
        }
        for row in &rows {
            let standard = row.iter().zip(&moments).map(|(v, (mean, dev))| (v - mean) / dev);
            data.x.extend(standard);
            data.y.push(row[features]);
        }
        Ok(data)
    }

    /// The arguments of `loss`, in order; the last parameter is the intercept.
    fn arguments<'a>(&'a self, params: &'a [f64], l2: f64) -> [Arg<'a>; 5] {
        let (w, b) = params.split_at(self.features);
        [w.into(), b[0].into(), (&self.x).into(), (&self.y).into(), l2.into()]
    }

    /// How many samples the model puts on the right side.
    fn classified_right(&self, params: &[f64]) -> usize {
        let (w, b) = params.split_at(self.features);
        let score = |row: &[f64]| b[0] + w.iter().zip(row).map(|(w, x)| w * x).sum::<f64>();
        let rows = self.x.chunks_exact(self.features);
        rows.zip(&self.y).filter(|(row, y)| (score(row) > 0.0) == (**y > 0.5)).count()
    }
}

/// The problem as argmin sees it. Value and gradient come from one call; the last one is kept,
/// because a line search asks for both at the same point.
struct Problem<'a> {
    data: &'a Data,
    l2: f64,
    last: RefCell<(Session, Params, f64, Params)>,
}

impl Problem<'_> {
    fn evaluate<T>(&self, at: &[f64], use_it: impl Fn(f64, &Params) -> T) -> Result<T, Error> {
        let (session, point, value, gradient) = &mut *self.last.borrow_mut();
        if point != at {
            let results = session.call(&self.data.arguments(at, self.l2))?;
            *value = results.f64("value")?;
            gradient.clear();
            gradient.extend_from_slice(results.f64s("w")?);
            gradient.push(results.f64("b")?);
            *point = at.to_vec();
        }
        Ok(use_it(*value, gradient))
    }
}

impl CostFunction for Problem<'_> {
    type Param = Params;
    type Output = f64;

    fn cost(&self, at: &Params) -> Result<f64, Error> {
        self.evaluate(at, |value, _| value)
    }
}

impl Gradient for Problem<'_> {
    type Param = Params;
    type Gradient = Params;

    fn gradient(&self, at: &Params) -> Result<Params, Error> {
        self.evaluate(at, |_, gradient| gradient.clone())
    }
}

/// Shows how the fit goes on.
struct Progress(ProgressBar);

impl Observe<IterState<Params, Params, (), (), (), f64>> for Progress {
    fn observe_iter(
        &mut self,
        state: &IterState<Params, Params, (), (), (), f64>,
        _: &KV,
    ) -> Result<(), Error> {
        self.0.set_position(state.get_iter());
        self.0.set_message(format!("loss {:.12}", state.get_best_cost()));
        Ok(())
    }
}

/// What Newton's method found.
struct Optimum {
    params: DVector<f64>,
    loss: f64,
    steps: usize,
    /// The length of the gradient there.
    slope: f64,
}

/// Newton's method with plain steps: all second derivatives at each point, as a matrix of the blocks of
/// weights and intercept, which must be positive definite. It does not start at zero, where every
/// argument of `softplus` is at the kink of `abs`: a second derivative there is that of neither side.
fn newton(loss: &Function, data: &Data, l2: f64) -> Result<Optimum, Failure> {
    let mut gradient = loss.value_and_gradient()?.session();
    let mut hessian = loss.hessian()?.session();
    let d = data.features;
    let mut params = DVector::repeat(d + 1, 0.01);
    for steps in 0..50 {
        let args = data.arguments(params.as_slice(), l2);
        let results = gradient.call(&args)?;
        let mut g = DVector::zeros(d + 1);
        g.rows_mut(0, d).copy_from_slice(results.f64s("w")?);
        g[d] = results.f64("b")?;
        if g.norm() < 1e-14 {
            return Ok(Optimum { loss: results.f64("value")?, steps, slope: g.norm(), params });
        }
        let results = hessian.call(&args)?;
        let mut h = DMatrix::zeros(d + 1, d + 1);
        let row_major = DMatrix::from_row_slice(d, d, results.f64s("w,w")?);
        h.view_mut((0, 0), (d, d)).copy_from(&row_major);
        h.view_mut((0, d), (d, 1)).copy_from_slice(results.f64s("w,b")?);
        h.view_mut((d, 0), (1, d)).copy_from_slice(results.f64s("b,w")?);
        h[(d, d)] = results.f64("b,b")?;
        let asymmetry = (&h - h.transpose()).norm() / h.norm();
        if asymmetry > 1e-14 {
            return Err(format!("the Hessian is not symmetric: {asymmetry:e}").into());
        }
        let factors = h.cholesky().ok_or("the Hessian is not positive definite")?;
        params -= factors.solve(&g);
    }
    Err("Newton's method does not come to rest".into())
}

/// The time of one call, as the best of several rounds.
fn time_per_call(
    compiled: &Compiled,
    args: &[Arg<'_>],
    rounds: usize,
) -> Result<Duration, Failure> {
    let mut session = compiled.session();
    let mut best = Duration::MAX;
    for _ in 0..rounds {
        let start = Instant::now();
        session.call(args)?;
        best = best.min(start.elapsed());
    }
    Ok(best)
}

fn main() -> Result<(), Failure> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    let data = Data::read(&here.join("data/breast_cancer.csv"))?;
    let reference: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(here.join("reference/logistic_fit.json"))?)?;
    let number = |key: &str| reference[key].as_f64().ok_or(format!("no `{key}` in the reference"));
    let l2 = number("l2")?;
    let text = std::fs::read_to_string(here.join("logistic.jut"))?;
    println!("data       {} samples, {} features", data.y.len(), data.features);

    // From the text to the first gradient.
    let start = Params::from_iter((0..=data.features).map(|_| 0.0));
    let clock = Instant::now();
    let model = Model::from_named_text("logistic.jut", &text)?;
    let loss = model.function("loss")?.wrt(&["w", "b"])?;
    let gradient = loss.value_and_gradient()?;
    let mut session = gradient.session();
    session.call(&data.arguments(&start, l2))?;
    println!("compile    first gradient from the text after {:.2?}", clock.elapsed());

    // The fit.
    let clock = Instant::now();
    let last = RefCell::new((session, Vec::new(), 0.0, Vec::new()));
    let problem = Problem { data: &data, l2, last };
    let solver = LBFGS::new(MoreThuenteLineSearch::new(), 10).with_tolerance_grad(1e-9)?;
    let bar = ProgressBar::new(200).with_style(ProgressStyle::with_template(
        "fit        {bar:30} {pos:>3} iterations, {msg}",
    )?);
    let run = Executor::new(problem, solver)
        .configure(|state| state.param(start).max_iters(200))
        .add_observer(Progress(bar.clone()), ObserverMode::Always)
        .run()?;
    bar.finish_and_clear();
    let state = run.state();
    let fitted = state.get_best_param().ok_or("no parameters")?;
    let right = data.classified_right(fitted);
    println!("fit        {} iterations of L-BFGS, {:.2?}", state.get_iter(), clock.elapsed());
    println!("loss       {:.15}", state.get_best_cost());
    let expected = number("loss")?;
    let off = (state.get_best_cost() - expected).abs();
    println!("reference  {expected:.15} (by Newton's method with 50 digits), {off:.1e} away");
    let share = 100.0 * right as f64 / data.y.len() as f64;
    println!("accuracy   {right} of {} on the training data, {share:.1} %", data.y.len());

    // The same optimum by second derivatives.
    let clock = Instant::now();
    let optimum = newton(&loss, &data, l2)?;
    let elapsed = clock.elapsed();
    let away = (&optimum.params - DVector::from_column_slice(fitted)).amax();
    println!(
        "newton     {} steps with jut's Hessian, {elapsed:.2?}: loss {:.15}, gradient {:.0e}, \
         parameters {away:.0e} from those of L-BFGS",
        optimum.steps, optimum.loss, optimum.slope
    );
    let newton_off = (optimum.loss - expected).abs();
    if newton_off > 1e-15 || away > 1e-5 {
        return Err(format!("Newton's method ends elsewhere: {newton_off:e}, {away:e}").into());
    }

    // What compiling is worth.
    let args = data.arguments(fitted, l2);
    let native = time_per_call(&gradient, &args, 200)?;
    let interpreted = loss.engine(Engine::Interpreter).value_and_gradient()?;
    let slow = time_per_call(&interpreted, &args, 5)?;
    let ratio = slow.as_secs_f64() / native.as_secs_f64();
    println!("gradient   native {native:.1?}, interpreted {slow:.1?}: {ratio:.0} times");
    if off > 1e-8 {
        return Err(format!("the fitted loss is {off:e} away from the reference").into());
    }
    Ok(())
}

//! `cargo run --release -p jut-benches --features llvm --bin plain -- --engine llvm`: plain Rust functions with
//! `#[jut::differentiable]`, as people write them, against what rustc makes of them. Nobody tuned these functions; their calls go
//! the typed way, with lists and structs as arguments and results. Every time is the least over several rounds, in which the
//! three ways take turns; the value has the bits of the plain call, or the run fails.

mod states;
mod tables;

use clap::Parser;
use jut::Engine;
use jut_benches::measure::{Way, geometric_mean, in_turns};
use states::{Body, Heston};
use std::hint::black_box;
use std::time::{Duration, Instant};

/// Measures plain Rust functions, their compiled values and their gradients.
#[derive(Parser)]
#[command(version)]
struct Options {
    /// Only functions whose name contains this.
    #[arg(default_value = "")]
    only: String,
    /// Seconds to measure each.
    #[arg(long, default_value_t = 1.0)]
    seconds: f64,
    /// The engine that compiles.
    #[arg(long, default_value = "cranelift")]
    engine: String,
}

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// How often the plain time compiled value and gradient take.
type Ratios = Vec<[f64; 2]>;

/// Numbers between two others, the same in each run.
fn numbers(count: usize, low: f64, high: f64) -> Vec<f64> {
    let mut random = fastrand::Rng::with_seed(count as u64);
    (0..count).map(|_| low + (high - low) * random.f64()).collect()
}

/// Rows of numbers.
fn rows(count: usize, width: usize, low: f64, high: f64) -> Vec<Vec<f64>> {
    numbers(count * width, low, high).chunks(width).map(<[f64]>::to_vec).collect()
}

/// Measures a function at arguments, and prints a line of the table.
macro_rules! row {
    ($options:expr, $engine:expr, $ratios:expr, $module:ident::$function:ident($($argument:expr),*)) => {
        if stringify!($function).contains(&$options.only) {
            use $module::$function;
            let engine = $engine;
            $function::configure(move |f| f.engine(engine).parallel(false))?;
            let start = Instant::now();
            let (value, _) = $function::value_and_gradient($($argument),*)?;
            let first = start.elapsed().as_secs_f64();
            $function::value($($argument),*)?;
            if value.to_bits() != $function($($argument),*).to_bits() {
                return Err(format!("{}: not the bits of the plain call", stringify!($function)).into());
            }
            let mut ways: Vec<Way<'_>> = vec![
                Box::new(|| {
                    black_box($function($(black_box($argument)),*));
                }),
                Box::new(|| {
                    let _ = black_box($function::value($(black_box($argument)),*));
                }),
                Box::new(|| {
                    let _ = black_box($function::value_and_gradient($(black_box($argument)),*));
                }),
            ];
            let times = in_turns(&mut ways, Duration::try_from_secs_f64($options.seconds)?);
            let [plain, value, gradient] = times[..] else { return Err("a way has no time".into()) };
            println!(
                "| {:17} | {:>9.2} us | {:>14.2} | {:>17.2} | {:>17.2} | {:>6.1} ms |",
                stringify!($function),
                plain * 1e6,
                value / plain,
                gradient / plain,
                gradient / value,
                first * 1e3
            );
            $ratios.push([value / plain, gradient / plain]);
        }
    };
}

fn main() -> Result<()> {
    let options = Options::parse();
    let engines = jut::BACKENDS.iter().map(|(engine, _)| *engine);
    let engine = engines.filter(|engine| engine.is_built_in());
    let Some(engine) = engine.into_iter().find(|engine| engine.name() == options.engine) else {
        return Err(format!("there is no engine `{}` in this build", options.engine).into());
    };
    println!(
        "| function          | plain        | value / plain  | gradient / plain  | gradient / value  | first     |\n\
         |-------------------|--------------|----------------|-------------------|-------------------|-----------|"
    );
    let mut ratios = Vec::new();
    of_tables(&options, engine, &mut ratios)?;
    of_states(&options, engine, &mut ratios)?;
    let mean = |k: usize| geometric_mean(ratios.iter().map(|ratio| ratio[k]));
    println!("\n- {}: geometric means {:.2} and {:.2} x plain", options.engine, mean(0), mean(1));
    Ok(())
}

fn of_tables(o: &Options, e: Engine, ratios: &mut Ratios) -> Result<()> {
    let (scales, points) = (numbers(40, -0.5, 0.5), numbers(800, -1.0, 1.0));
    row!(
        o,
        e,
        ratios,
        tables::mixture(&numbers(10, -1.0, 0.0), &numbers(41, -1.0, 1.0)[1..], &scales, &points, 4)
    );
    let (first, second) = (rows(32, 784, -0.1, 0.1), rows(10, 32, -0.1, 0.1));
    row!(o, e, ratios, tables::network(&first, &second, &numbers(784, 0.0, 1.0)));
    let n = 40;
    let mut matrix = numbers(n * n, -0.5, 0.5);
    for i in 0..n {
        for j in 0..i {
            matrix[j * n + i] = matrix[i * n + j];
        }
        matrix[i * n + i] = n as f64;
    }
    row!(o, e, ratios, tables::log_determinant(&matrix, n));
    let (strikes, volatilities) = (numbers(1000, 90.0, 110.0), numbers(1000, 0.1, 0.4));
    row!(
        o,
        e,
        ratios,
        tables::options(&numbers(1000, 80.0, 120.0), &strikes, &volatilities, 0.03, 1.5)
    );
    let (table, targets) = (numbers(569 * 30, -1.0, 1.0), numbers(569, -1.0, 1.0));
    row!(o, e, ratios, tables::logistic(&numbers(30, -0.3, 0.3), &table, &targets));
    let (below, on) = (numbers(1000, 0.1, 0.3), numbers(1000, 2.0, 3.0));
    row!(o, e, ratios, tables::tridiagonal(&below, &on, &below, &numbers(1000, -1.0, 1.0)));
    let kernel = [0.1, -0.2, 0.3, 0.4, 0.5, 0.1, 0.2, -0.3, 0.2];
    row!(o, e, ratios, tables::convolution(&numbers(64 * 64, 0.0, 1.0), &kernel, 64));
    let (moves, signs) = (rows(16, 16, 0.01, 0.2), rows(16, 12, 0.01, 0.2));
    let seen: Vec<usize> = (0..100).map(|i| (i * 7 + i * i) % 12).collect();
    row!(o, e, ratios, tables::hidden_markov(&numbers(16, 0.01, 0.1), &moves, &signs, &seen));
    let mut knots = numbers(50, 0.0, 10.0);
    knots.sort_by(f64::total_cmp);
    row!(o, e, ratios, tables::spline(&knots, &numbers(50, -1.0, 1.0), &numbers(1000, 0.0, 10.0)));
    Ok(())
}

fn of_states(o: &Options, e: Engine, ratios: &mut Ratios) -> Result<()> {
    row!(o, e, ratios, states::heat(&numbers(200, 0.0, 1.0), 0.2, 100));
    row!(o, e, ratios, states::pendulum([1.0, 0.5, 0.0, 0.1], &[0.5, 2.0, 1.0], 0.01, 1000));
    let weights = numbers(4 * 16 * 17, -0.3, 0.3);
    row!(
        o,
        e,
        ratios,
        states::lstm(&weights, &numbers(64, -0.1, 0.1), &numbers(50, -1.0, 1.0), 16)
    );
    let noise = numbers(64, 0.0, 0.1);
    let place = |i: usize| [i % 4, i / 4 % 4, i / 16].map(|k| k as f64 * 1.1 + noise[i]);
    let points: Vec<[f64; 3]> = (0..64).map(place).collect();
    row!(o, e, ratios, states::lennard_jones(&points, 1.0, 1.0));
    row!(o, e, ratios, states::kepler(&numbers(500, 0.0, 6.0), 0.3));
    let turned = |camera: Vec<f64>| [&camera[..5], &[-5.0, 500.0, 0.01, 0.001]].concat();
    let cameras: Vec<f64> = rows(20, 5, 0.1, 0.3).into_iter().flat_map(turned).collect();
    let seen = |i: usize| (i % 20, i * 3 % 64, (i % 13) as f64, (i % 7) as f64);
    let observations: Vec<_> = (0..400).map(seen).collect();
    row!(o, e, ratios, states::bundle_adjustment(&cameras, &points, &observations));
    let model = Heston { kappa: 1.5, theta: 0.04, xi: 0.3, rho: -0.6 };
    let (one, other) = (numbers(200 * 50, -1.5, 1.5), numbers(200 * 50 + 1, -1.5, 1.5));
    let steps: Vec<(f64, f64)> = one.into_iter().zip(other).collect();
    row!(o, e, ratios, states::heston(&model, 0.04, &steps, 50));
    row!(o, e, ratios, states::gauss_seidel(&rows(32, 32, -0.1, 0.1), 30));
    let body = |i: usize| Body { x: points[i], v: [0.1, 0.0, -0.1], m: 1.0 + 0.1 * i as f64 };
    let start: Vec<Body> = (0..16).map(body).collect();
    row!(o, e, ratios, states::bodies(&start, 0.01, 20));
    Ok(())
}

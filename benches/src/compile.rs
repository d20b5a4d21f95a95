//! Compile times: of longer and longer programs, and of one program for small and large data.

use crate::measure::{Watch, median};
use jut::{Engine, Model};
use serde::Serialize;
use std::fmt::Write;
use std::hint::black_box;

/// A straight-line program of some length.
#[derive(Clone, Debug, Serialize)]
pub struct Length {
    /// Statements.
    pub statements: usize,
    /// Seconds from the text to a gradient that can be called.
    pub compile: f64,
}

/// One program for arrays of some length.
#[derive(Clone, Debug, Serialize)]
pub struct Size {
    /// Elements.
    pub n: usize,
    /// Seconds from the text to a gradient that can be called.
    pub compile: f64,
    /// Seconds of the first call after that.
    pub first_call: f64,
}

/// A straight-line function with the given number of statements, each of one or two operations on
/// what came before.
pub fn straight_line(statements: usize) -> String {
    let mut text = String::from("def straight(x: f64, y: f64) -> f64 = {\n  a0 = x * y\n");
    for k in 1..statements {
        let before = k - 1;
        // Writing to a string does not fail.
        let _ = match k % 8 {
            0 => writeln!(text, "  a{k} = sin(a{before})"),
            1 | 4 => writeln!(text, "  a{k} = a{before} + 0.5 * x"),
            2 | 6 => writeln!(text, "  a{k} = a{before} * y"),
            3 => writeln!(text, "  a{k} = a{before} - a{}", k - 3),
            _ => writeln!(text, "  a{k} = 0.25 * a{before} + y"),
        };
    }
    let _ = writeln!(text, "  a{}\n}}", statements - 1);
    text
}

/// Compiles straight-line programs of growing length.
///
/// # Errors
/// A program is refused.
pub fn lengths(statements: &[usize], compilations: usize) -> jut::Result<Vec<Length>> {
    let measure = |n: &usize| {
        let text = straight_line(*n);
        let mut times = Vec::new();
        // The longest ones take long enough to be measured a few times only, or once.
        let least = if *n < 100_000 { 3 } else { 1 };
        for _ in 0..compilations.min((100_000 / n).max(least)) {
            let watch = Watch::start();
            let straight = Model::from_text(&text)?.function("straight")?;
            black_box(straight.engine(Engine::Cranelift).value_and_gradient()?);
            times.push(watch.seconds());
        }
        Ok(Length { statements: *n, compile: median(&mut times) })
    };
    statements.iter().map(measure).collect()
}

/// Compiles one program (Rosenbrock's function) and calls it with arrays of the given lengths.
///
/// # Errors
/// The program is refused or fails.
pub fn sizes(lengths: &[usize], compilations: usize) -> jut::Result<Vec<Size>> {
    let text = include_str!("../programs/examples/rosenbrock.jut");
    let (mut compiles, mut calls) =
        (vec![Vec::new(); lengths.len()], vec![Vec::new(); lengths.len()]);
    for _ in 0..compilations {
        // In turns, so that what the machine does besides falls on all lengths alike.
        for (k, n) in lengths.iter().enumerate() {
            let x = vec![0.5; *n];
            let watch = Watch::start();
            let rosenbrock = Model::from_text(text)?.function("rosenbrock")?;
            let compiled = rosenbrock.engine(Engine::Cranelift).value_and_gradient()?;
            compiles[k].push(watch.seconds());
            let watch = Watch::start();
            black_box(compiled.session().call(&[(&x).into()])?);
            calls[k].push(watch.seconds());
        }
    }
    let median = |k: usize| (median(&mut compiles[k]), median(&mut calls[k]));
    let times: Vec<(f64, f64)> = (0..lengths.len()).map(median).collect();
    let size =
        |(n, (compile, first_call)): (&usize, (f64, f64))| Size { n: *n, compile, first_call };
    Ok(lengths.iter().zip(times).map(size).collect())
}

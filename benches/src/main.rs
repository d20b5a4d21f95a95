//! `cargo run --release -p jut-benches`: the gradients of the example programs by the interpreter,
//! by Cranelift and by hand, in one run, as ratios.

use clap::Parser;
use comfy_table::{CellAlignment, Table};
use indicatif::{ProgressBar, ProgressStyle};
use jut::{Arg, Compiled, Engine, Model, Value};
use jut_benches::cases::{self, Case};
use jut_benches::measure::{Way, geometric_mean, in_turns, median};
use serde::Serialize;
use std::hint::black_box;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Measures native gradients against hand-written and interpreted ones.
#[derive(Parser)]
#[command(version)]
struct Options {
    /// Only programs whose name contains this.
    #[arg(default_value = "")]
    only: String,
    /// Seconds to measure each program at each size.
    #[arg(long, default_value_t = 1.0)]
    seconds: f64,
    /// Write all numbers to this file.
    #[arg(long)]
    json: Option<PathBuf>,
}

/// What was measured of one program at one size. Times are in seconds.
#[derive(Serialize)]
struct Row {
    name: &'static str,
    size: String,
    /// From text to a gradient that can be called.
    compile: f64,
    hand: f64,
    native: f64,
    primal: f64,
    interpreted: f64,
    native_to_hand: f64,
    gradient_to_primal: f64,
    interpreted_to_native: f64,
    /// Largest relative difference of value and gradient from the hand-written ones.
    difference: f64,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let options = Options::parse();
    let selected: Vec<Case> =
        cases::all().into_iter().filter(|c| c.name.contains(&options.only)).collect();
    let style = ProgressStyle::with_template("{bar:30} {pos}/{len} {msg}")?;
    let progress = ProgressBar::new(selected.len() as u64).with_style(style);
    let mut rows = Vec::new();
    for mut case in selected {
        progress.set_message(format!("{} {}", case.name, case.size));
        rows.push(measure(&mut case, Duration::from_secs_f64(options.seconds))?);
        progress.inc(1);
    }
    progress.finish_and_clear();
    println!("{}", table(&rows));
    println!("{}", summary(&rows));
    if let Some(path) = options.json {
        std::fs::write(path, serde_json::to_string_pretty(&rows)?)?;
    }
    Ok(())
}

fn compile(case: &Case, engine: Engine) -> jut::Result<Compiled> {
    let function = Model::from_text(case.text)?.function(case.function)?.wrt(case.wrt)?;
    function.engine(engine).value_and_gradient()
}

fn measure(case: &mut Case, budget: Duration) -> Result<Row, Box<dyn std::error::Error>> {
    let mut compile_times = Vec::new();
    for _ in 0..9 {
        let start = Instant::now();
        drop(compile(case, Engine::Cranelift)?);
        compile_times.push(start.elapsed().as_secs_f64());
    }
    let native = compile(case, Engine::Cranelift)?;
    let interpreted = compile(case, Engine::Interpreter)?;
    let primal = Model::from_text(case.text)?.function(case.function)?.value()?;

    let args: Vec<Arg<'_>> = case.args.iter().map(Arg::from).collect();
    let mut by_hand = Vec::with_capacity(1);
    (case.hand)(&mut by_hand);
    let difference = largest_difference(&native.call(&args)?, &by_hand);
    if difference > 1e-9 {
        let (name, size) = (case.name, &case.size);
        return Err(format!("{name} {size}: hand-written gradient differs by {difference}").into());
    }

    let (mut gradient, mut value) = (native.session(), primal.session());
    let (mut slow, mut out) = (interpreted.session(), Vec::new());
    let hand = &mut case.hand;
    let mut ways: Vec<Way<'_>> = vec![
        Box::new(|| {
            hand(&mut out);
            black_box(&mut out).clear();
        }),
        Box::new(|| drop(black_box(gradient.call(&args)))),
        Box::new(|| drop(black_box(value.call(&args)))),
        Box::new(|| drop(black_box(slow.call(&args)))),
    ];
    let times = in_turns(&mut ways, budget);
    drop(ways);
    Ok(Row {
        name: case.name,
        size: case.size.clone(),
        compile: median(&mut compile_times),
        hand: times[0],
        native: times[1],
        primal: times[2],
        interpreted: times[3],
        native_to_hand: times[1] / times[0],
        gradient_to_primal: times[1] / times[2],
        interpreted_to_native: times[3] / times[1],
        difference,
    })
}

fn largest_difference(values: &[Value], by_hand: &[f64]) -> f64 {
    let ours: Vec<f64> = values.iter().flat_map(Value::floats).collect();
    if ours.len() != by_hand.len() {
        return f64::INFINITY;
    }
    let scale = by_hand.iter().fold(1.0, |m: f64, x| m.max(x.abs()));
    ours.iter().zip(by_hand).fold(0.0, |m, (a, b)| m.max((a - b).abs() / scale))
}

/// A time with three digits and a unit.
fn show(seconds: f64) -> String {
    match seconds {
        s if s < 1e-6 => format!("{:.1} ns", s * 1e9),
        s if s < 1e-3 => format!("{:.2} us", s * 1e6),
        s => format!("{:.2} ms", s * 1e3),
    }
}

fn table(rows: &[Row]) -> Table {
    let mut table = Table::new();
    table.load_preset(comfy_table::presets::ASCII_MARKDOWN);
    table.set_header([
        "program",
        "size",
        "compile",
        "by hand",
        "gradient",
        "/ hand",
        "/ primal",
        "interpreter /",
    ]);
    for row in rows {
        table.add_row([
            row.name.to_string(),
            row.size.clone(),
            show(row.compile),
            show(row.hand),
            show(row.native),
            format!("{:.2}", row.native_to_hand),
            format!("{:.2}", row.gradient_to_primal),
            format!("{:.0}", row.interpreted_to_native),
        ]);
    }
    for column in table.column_iter_mut().skip(2) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}

fn summary(rows: &[Row]) -> String {
    let mean = |ratio: fn(&Row) -> f64| geometric_mean(&rows.iter().map(ratio).collect::<Vec<_>>());
    let slowest = rows.iter().map(|r| r.compile).fold(0.0, f64::max);
    format!(
        "geometric means: gradient {:.2} x by hand, {:.2} x primal; interpreter {:.0} x native; \
         slowest compilation {}",
        mean(|r| r.native_to_hand),
        mean(|r| r.gradient_to_primal),
        mean(|r| r.interpreted_to_native),
        show(slowest),
    )
}

//! `cargo run --release -p jut-benches`: the gradients of all programs by the interpreter, by
//! Cranelift, by hand and by other means, in one run, as ratios.

use clap::Parser;
use indicatif::{ProgressBar, ProgressStyle};
use jut_benches::calls;
use jut_benches::cases::{self, Case};
use jut_benches::compile;
use jut_benches::machine::Counting;
use jut_benches::report::{Report, docs, page, table};
use jut_benches::run::{self, Effort, Extent};
use jut_benches::threads;
use std::path::{Path, PathBuf};
use std::time::Duration;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Measures compiled gradients against hand-written ones and other ways to them.
#[derive(Parser)]
#[command(version)]
struct Options {
    /// Only programs whose name contains this.
    #[arg(default_value = "")]
    only: String,
    /// Seconds to measure each program at each size; 0.3 in a quick run.
    #[arg(long)]
    seconds: Option<f64>,
    /// Less than two minutes: every program at every size by hand and by the engines, without the slow
    /// ways to a gradient and the long programs.
    #[arg(long)]
    quick: bool,
    /// The smallest size of each program, measured hardly at all: to see that everything works.
    #[arg(long, conflicts_with = "quick")]
    smoke: bool,
    /// Write all numbers to this file.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Write a page with charts to this file.
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Leave `docs/performance.html` and the table in `docs/performance.md` as they are, which a full or
    /// quick run of all programs renews.
    #[arg(long)]
    keep: bool,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let options = Options::parse();
    let extent = match (options.smoke, options.quick) {
        (true, _) => Extent::Smoke,
        (_, true) => Extent::Quick,
        _ => Extent::Full,
    };
    let mut effort = Effort::of(extent);
    if let Some(seconds) = options.seconds {
        effort.budget = Duration::try_from_secs_f64(seconds)?;
    }
    let selected: Vec<Case> = cases::all(options.smoke)
        .into_iter()
        .filter(|case| case.name.contains(&options.only))
        .collect();
    let style = ProgressStyle::with_template("{bar:30} {pos}/{len} {msg}")?;
    let progress = ProgressBar::new(selected.len() as u64 + 1).with_style(style);

    let mut rows = Vec::new();
    for mut case in selected {
        progress.set_message(format!("{} {}", case.name, case.size));
        rows.push(run::measure(&mut case, effort)?);
        progress.inc(1);
    }
    progress.set_message("calls");
    let calls = calls::measure(effort.budget)?;
    progress.set_message("compile times");
    // A few programs are asked for to see their rows: then only the short texts are compiled.
    let (lengths, sizes): (&[usize], &[usize]) = match (extent, options.only.is_empty()) {
        (Extent::Full, true) => (&[10, 100, 1000, 10_000, 100_000], &[100, 1_000_000]),
        (Extent::Quick, true) => (&[10, 100, 1000], &[100, 1_000_000]),
        _ => (&[10, 100], &[100, 1000]),
    };
    let lengths = compile::lengths(lengths, effort.compilations)?;
    let sizes = compile::sizes(sizes, effort.compilations)?;
    progress.set_message("threads");
    let threads = threads::measure(effort.budget, extent == Extent::Smoke)?;
    progress.finish_and_clear();

    let report = Report::new(rows, calls, threads, (lengths, sizes));
    print!("{}", table::print(&report));
    if let Some(path) = options.json {
        std::fs::write(path, serde_json::to_string_pretty(&report)?)?;
    }
    if let Some(path) = options.html {
        std::fs::write(path, page::page(&report)?)?;
    }
    if options.only.is_empty() && extent != Extent::Smoke && !options.keep {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs");
        docs::write(&report, Path::new(folder))?;
    }
    Ok(())
}

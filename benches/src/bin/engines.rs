//! `cargo run --release -p jut-benches --features llvm,mlir --bin engines`: the engines that are built
//! in, against each other and against hand-written code on all programs, and against clang on loops
//! over arrays, in one run. Every time is the least over several rounds.

use clap::Parser;
use jut_benches::cases::{self, Case};
use jut_benches::loops;
use jut_benches::measure::{Way, in_turns, median};
use jut_benches::report::engines::{EngineReport, EngineRow};
use jut_benches::report::{Setting, docs};
use jut_benches::run;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Measures the engines that are built in against each other and against clang.
#[derive(Parser)]
#[command(version)]
struct Options {
    /// Only programs and loops whose name contains this.
    #[arg(default_value = "")]
    only: String,
    /// Seconds to measure each.
    #[arg(long, default_value_t = 1.0)]
    seconds: f64,
    /// The smallest sizes only.
    #[arg(long)]
    quick: bool,
    /// Write all numbers to this file.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Leave the tables in `docs/performance.md` as they are, which a run of all programs with all
    /// engines renews.
    #[arg(long)]
    keep: bool,
}

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

fn program(case: &mut Case, budget: Duration) -> Result<EngineRow> {
    let (mut sessions, mut compile) = (Vec::new(), Vec::new());
    for (name, engine) in loops::engines() {
        let mut times = Vec::new();
        let mut compiled = None;
        for _ in 0..3 {
            let start = Instant::now();
            compiled = Some(run::compile(case, engine)?);
            times.push(start.elapsed().as_secs_f64());
        }
        compile.push((name, median(&mut times)));
        if let Some(compiled) = compiled {
            sessions.push((name, compiled.session()));
        }
    }
    let interpreted = run::compile(case, jut::Engine::Interpreter)?;
    let mut out = vec![0.0; 1 + case.inputs()];
    let args: Vec<_> = case.args.iter().map(jut::Arg::from).collect();
    let names: Vec<&'static str> = sessions.iter().map(|(name, _)| *name).collect();
    let hand = &mut case.hand;
    let mut slow = interpreted.session();
    let slow_args = &args;
    let mut ways: Vec<Way<'_>> = vec![
        Box::new(|| {
            hand(&mut out);
            black_box(&out);
        }),
        Box::new(move || drop(black_box(slow.call(slow_args)))),
    ];
    for (_, session) in &mut sessions {
        session.call(&args)?;
        let args = &args;
        ways.push(Box::new(move || {
            let _ = black_box(session.call(black_box(args)).is_ok());
        }));
    }
    let times = in_turns(&mut ways, budget);
    drop(ways);
    Ok(EngineRow {
        name: case.name,
        size: case.size.clone(),
        hand: times.first().copied().unwrap_or_default(),
        interpreter: times.get(1).copied().unwrap_or_default(),
        run: names.into_iter().zip(times.into_iter().skip(2)).collect(),
        compile,
    })
}

fn main() -> Result<()> {
    let options = Options::parse();
    let budget = Duration::try_from_secs_f64(options.seconds)?;
    let mut programs = Vec::new();
    for mut case in cases::all(options.quick) {
        if case.name.contains(&options.only) {
            programs.push(program(&mut case, budget)?);
        }
    }
    let sizes: &[usize] = if options.quick { &[1000] } else { &[100, 1000, 10_000, 1_000_000] };
    let loops = match loops::clang() {
        Some(_) => loops::measure(&options.only, sizes, budget)?,
        None => Vec::new(),
    };
    let engines: Vec<&'static str> = loops::engines().into_iter().map(|(name, _)| name).collect();
    let whole =
        options.only.is_empty() && !options.quick && engines.len() == 3 && !loops.is_empty();
    let report = EngineReport { setting: Setting::here(), engines, programs, loops };
    print!("{}", report.markdown());
    if let Some(path) = options.json {
        std::fs::write(path, serde_json::to_string_pretty(&report)?)?;
    }
    if whole && !options.keep {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs");
        docs::write_engines(&report, Path::new(folder))?;
    }
    Ok(())
}

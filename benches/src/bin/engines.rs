//! `cargo run --release -p jut-benches --features llvm,mlir --bin engines`: the engines that are built
//! in, against each other and against hand-written code on all programs, and against clang on loops
//! over arrays, in one run. Every time is the least over several rounds.

use clap::Parser;
use comfy_table::{Table, presets};
use jut_benches::cases::{self, Case};
use jut_benches::loops::{self, LoopRow};
use jut_benches::measure::{Way, geometric_mean, in_turns, median};
use jut_benches::run;
use serde::Serialize;
use std::hint::black_box;
use std::path::PathBuf;
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
}

/// One program at one size: seconds for value and gradient, and from text to code, by engine.
#[derive(Serialize)]
struct Row {
    name: &'static str,
    size: String,
    hand: f64,
    interpreter: f64,
    run: Vec<(&'static str, f64)>,
    compile: Vec<(&'static str, f64)>,
}

#[derive(Serialize)]
struct Report {
    programs: Vec<Row>,
    loops: Vec<LoopRow>,
}

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

fn program(case: &mut Case, budget: Duration) -> Result<Row> {
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
    Ok(Row {
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
    let report = Report { programs, loops };
    print(&report);
    if let Some(path) = options.json {
        std::fs::write(path, serde_json::to_string_pretty(&report)?)?;
    }
    Ok(())
}

fn ratio(a: f64, b: f64) -> String {
    format!("{:.2}", a / b)
}

fn print(report: &Report) {
    let names: Vec<&str> = loops::engines().iter().map(|(name, _)| *name).collect();
    let mut table = Table::new();
    table.load_preset(presets::NOTHING);
    let mut head = vec!["gradient".to_owned(), "size".to_owned(), "hand us".to_owned()];
    head.extend(names.iter().map(|name| format!("{name} / hand")));
    head.extend(names.iter().skip(1).map(|name| format!("cranelift / {name}")));
    head.push("interpreter / cranelift".to_owned());
    head.extend(names.iter().map(|name| format!("{name} compile ms")));
    table.set_header(head);
    for row in &report.programs {
        let Some((_, first)) = row.run.first() else { continue };
        let mut cells =
            vec![row.name.to_owned(), row.size.clone(), format!("{:.3}", row.hand * 1e6)];
        cells.extend(row.run.iter().map(|(_, time)| ratio(*time, row.hand)));
        cells.extend(row.run.iter().skip(1).map(|(_, time)| ratio(*first, *time)));
        cells.push(format!("{:.1}", row.interpreter / first));
        cells.extend(row.compile.iter().map(|(_, time)| format!("{:.1}", time * 1e3)));
        table.add_row(cells);
    }
    println!("Value and gradient, time over that of hand-written code:\n{table}\n");
    for (k, name) in names.iter().enumerate() {
        let of = |over: &dyn Fn(&Row) -> f64| {
            geometric_mean(report.programs.iter().map(|row| row.run[k].1 / over(row)))
        };
        let (hand, cranelift) = (of(&|row| row.hand), of(&|row| row.run[0].1));
        println!("geometric means: {name} / hand {hand:.2}, {name} / cranelift {cranelift:.2}");
    }
    if report.loops.is_empty() {
        return println!("no clang: no comparison with C");
    }
    let mut table = Table::new();
    table.load_preset(presets::NOTHING);
    let mut head = vec!["loop".to_owned(), "size".to_owned(), "clang us".to_owned()];
    head.push("contracted / clang".to_owned());
    head.extend(names.iter().map(|name| format!("{name} / clang")));
    table.set_header(head);
    for row in &report.loops {
        let mut cells =
            vec![row.name.to_owned(), row.size.to_string(), format!("{:.2}", row.clang * 1e6)];
        cells.push(ratio(row.contracted, row.clang));
        cells.extend(row.engines.iter().map(|(_, time)| ratio(*time, row.clang)));
        table.add_row(cells);
    }
    println!(
        "\nLoops over arrays, time over that of clang -O3 -march=native -ffp-contract=off:\n{table}"
    );
}

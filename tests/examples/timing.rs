//! What each step of the compiler takes for long programs, in processor time and in memory, and whether
//! the gradient is right: `cargo run --release -p jut-tests --example timing -- 10000 100000 straight`.
//!
//! Numbers are lengths, other words shapes of programs (`jut_tests::shapes`, all of them if none is named)
//! or backends (Cranelift if none is named), `rounds=5` takes the least of five runs. Each run is a
//! process of its own.

use jut_ad::{Derivatives, Mask, compose};
use jut_eval::{Interpreter, Value};
use jut_ir::Program;
use jut_native::{Arg, Backend, Checked, Returned};
use jut_runtime::Workspace;
use jut_tests::engines::backends;
use jut_tests::pipeline::compile;
use jut_tests::shapes::SHAPES;
use std::process::Command;

type Res<T> = Result<T, String>;

/// One run: the rows of the table, and what is said below it.
struct Run {
    /// Name, statements, milliseconds, megabytes.
    rows: Vec<(String, usize, f64, f64)>,
    verdict: String,
}

fn main() -> Res<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if let [one, shape, n, backend] = words.as_slice()
        && one == "one"
    {
        return run_here(shape, n.parse().map_err(|_| "a length")?, backend);
    }
    let (mut lengths, mut shapes, mut rounds, mut backend) = (Vec::new(), Vec::new(), 1, None);
    for word in &words {
        if let Ok(n) = word.parse::<usize>() {
            lengths.push(n);
        } else if let Some(n) = word.strip_prefix("rounds=") {
            rounds = n.parse().map_err(|_| format!("rounds: {n}"))?;
        } else if let Some((name, _)) = backends().find(|(name, _)| name == word) {
            backend = Some(name);
        } else if let Some((name, _)) = SHAPES.iter().find(|(name, _)| name == word) {
            shapes.push(*name);
        } else {
            return Err(format!("neither a length nor a shape nor a backend: {word}"));
        }
    }
    if lengths.is_empty() {
        lengths = vec![10_000, 20_000];
    }
    if shapes.is_empty() {
        shapes = SHAPES.iter().map(|(name, _)| *name).collect();
    }
    for shape in shapes {
        let runs: Res<Vec<Run>> = lengths
            .iter()
            .map(|n| least_of(rounds, shape, *n, backend.unwrap_or("Cranelift")))
            .collect();
        match runs {
            Ok(runs) => table(shape, &lengths, &runs),
            Err(reason) => println!("{shape}: {reason}"),
        }
    }
    Ok(())
}

/// The least of some runs, stage by stage.
fn least_of(rounds: usize, shape: &str, n: usize, backend: &str) -> Res<Run> {
    let mut best = in_a_process(shape, n, backend)?;
    for _ in 1..rounds {
        let next = in_a_process(shape, n, backend)?;
        for (best, next) in best.rows.iter_mut().zip(next.rows) {
            best.2 = best.2.min(next.2);
            best.3 = best.3.min(next.3);
        }
    }
    Ok(best)
}

fn in_a_process(shape: &str, n: usize, backend: &str) -> Res<Run> {
    let program = std::env::current_exe().map_err(|e| e.to_string())?;
    let output = Command::new(program)
        .args(["one", shape, &n.to_string(), backend])
        .output()
        .map_err(|e| e.to_string())?;
    let text = String::from_utf8_lossy(&output.stdout);
    if !output.status.success() {
        let error = String::from_utf8_lossy(&output.stderr);
        return Err(format!("{n} parts: {} {text}{error}", output.status));
    }
    let mut run = Run { rows: Vec::new(), verdict: String::new() };
    for line in text.lines() {
        let parts: Vec<&str> = line.split('\t').collect();
        match parts.as_slice() {
            [name, count, time, peak] => run.rows.push((
                name.to_string(),
                count.parse().map_err(|_| line)?,
                time.parse().map_err(|_| line)?,
                peak.parse().map_err(|_| line)?,
            )),
            _ => run.verdict = line.to_string(),
        }
    }
    Ok(run)
}

fn table(shape: &str, lengths: &[usize], runs: &[Run]) {
    println!("{shape}");
    print!("| step |");
    for n in lengths {
        print!(" {n} parts: statements | ms | MB |");
    }
    println!();
    println!("|---|{}", "---|---|---|".repeat(runs.len()));
    let count = runs.iter().map(|run| run.rows.len()).min().unwrap_or(0);
    for k in 0..count {
        print!("| {} |", runs[0].rows[k].0);
        for run in runs {
            let (_, statements, ms, mb) = &run.rows[k];
            print!(" {statements} | {ms:.0} | {mb:.0} |");
        }
        println!();
    }
    print!("| all |");
    for (run, n) in runs.iter().zip(lengths) {
        let ms: f64 = run.rows.iter().map(|row| row.2).sum();
        let mb = run.rows.iter().map(|row| row.3).fold(0.0, f64::max);
        print!(" {:.1} us each | {ms:.0} | {mb:.0} |", ms * 1e3 / *n as f64);
    }
    println!();
    for (run, n) in runs.iter().zip(lengths) {
        println!("{n}: {}", run.verdict);
    }
    println!();
}

/// Compiles and runs one program in this process.
fn run_here(shape: &str, n: usize, backend: &str) -> Res<()> {
    let (_, make) = SHAPES.iter().find(|(name, _)| *name == shape).ok_or("no such shape")?;
    let (_, backend): (_, Backend) =
        backends().find(|(name, _)| *name == backend).ok_or("no such backend")?;
    let text = make(n);
    let (stages, code) = compile(&text, backend)?;
    for stage in stages {
        let (ms, mb) = (stage.time.as_secs_f64() * 1e3, stage.peak.unwrap_or(0) as f64 / 1e3);
        println!("{}\t{}\t{ms}\t{mb}", stage.name, stage.statements);
    }
    let verdict = match shape {
        "chain" => "not run: that takes exponential time".to_string(),
        _ => verdict(&text, &code)?,
    };
    println!("{verdict}, {} bytes of code", code.compiled().bytes());
    Ok(())
}

/// Compares the gradient with derivatives in the directions of the parameters, which the interpreter
/// computes forwards, without tape and transposition.
fn verdict(text: &str, code: &Checked) -> Res<String> {
    let program: Program = jut_tests::laws::load(text)?;
    let (func, f) = program.funcs.last().ok_or("an empty program")?;
    if f.params.iter().any(|p| !f.nvars[*p].ty.is_float()) {
        return Ok("not run: it takes arrays".into());
    }
    let point: Vec<f64> = (0..f.params.len()).map(|k| 0.7 - 0.1 * k as f64).collect();
    let mask = Mask::full(&program, func);
    let count = point.len();
    let mut d = Derivatives::once(program);
    let direction = compose::directional(&mut d, func, &mask).map_err(|e| e.to_string())?;
    let program = jut_opt::optimise_last(d.program, direction, true);
    let interpreter = Interpreter::new(&program);
    let mut args: Vec<Arg<'_>> = point.iter().map(|x| Arg::F64(*x)).collect();
    let (mut workspace, mut words) = (Workspace::new(), Vec::new());
    let results = code.call(&mut workspace, &mut args, &mut words).map_err(|e| e.to_string())?;
    let mut worst = 0.0f64;
    for k in 0..count {
        let mut values: Vec<Value> = point.iter().map(|x| Value::F64(*x)).collect();
        values.extend((0..count).map(|j| Value::F64(if j == k { 1.0 } else { 0.0 })));
        let outcome = interpreter.call(direction, &values, &[], &[]).map_err(|e| e.to_string())?;
        let (Some(Value::F64(forward)), Some(Returned::F64(backward))) =
            (outcome.results.first(), results.get(k + 1))
        else {
            return Err("not one number per parameter".into());
        };
        let error = (forward - backward).abs() / forward.abs().max(1e-300);
        worst = if error.is_nan() { f64::INFINITY } else { worst.max(error) };
    }
    Ok(format!("gradient and forward derivatives differ by {worst:.1e}"))
}

//! MLIR's own `mlir-opt`, where it is installed, accepts the text of every program, verifies it after
//! every pass of the lowering, and leaves no cast behind.

use jut_ad::{Derivatives, Mask, Policy, compose, erase};
use jut_ir::{FuncId, Program};
use jut_loop::opt::for_target;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Where `mlir-opt` is, if it is anywhere.
fn mlir_opt() -> Option<&'static str> {
    let places = ["/usr/lib/llvm-22/bin/mlir-opt", "mlir-opt-22"];
    places.into_iter().find(|place| {
        let version = Command::new(place).arg("--version").stdout(Stdio::null()).status();
        version.is_ok_and(|status| status.success())
    })
}

fn files() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let programs = root.join("../../tests/programs");
    ["../jut/examples", "../../tests/programs", "../../tests/worked"]
        .iter()
        .flat_map(|folder| jut_tests::programs::files(&root.join(folder)))
        .filter(|file| !file.to_string_lossy().ends_with(".stages.jut"))
        // Wrong programs have no MLIR.
        .filter(|file| !file.starts_with(programs.join("check")))
        .collect()
}

/// A function as MLIR, erased, forward or in reverse: one of the three in turn, for each is lowered by the same rules, and
/// `mlir-opt` takes long.
fn text(program: &Program, func: FuncId, turn: usize) -> Option<String> {
    let mut d = Derivatives::new(program.clone());
    let mask = Mask::full(program, func);
    let root = match turn % 3 {
        1 if !mask.is_empty() => compose::jvp(&mut d, func, &mask),
        2 if !mask.is_empty() => compose::vjp(&mut d, func, &mask, Policy::Default),
        _ => erase::erase(&mut d, func),
    };
    let root = root.or_else(|_| erase::erase(&mut d, func)).ok()?;
    let lowered = jut_loop::lower(&jut_opt::optimise(&d.program, root, true), root).ok()?;
    let program = for_target(&lowered.program, &(jut_mlir::BACKEND.target)());
    Some(jut_mlir::text(&program).unwrap_or_else(|e| panic!("{e}")))
}

/// Programs through `mlir-opt`; what it prints.
fn accepted(mlir_opt: &str, texts: &[String]) -> String {
    let mut command = Command::new(mlir_opt);
    command.args(["--split-input-file", "--verify-each", "--mlir-disable-threading"]);
    command.arg(format!("--pass-pipeline={}", jut_mlir::PIPELINE));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("mlir-opt starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    let all = texts.join("\n// -----\n");
    let writer = std::thread::spawn(move || {
        // An error is seen in what mlir-opt says.
        let _ = stdin.write_all(all.as_bytes());
    });
    let output = child.wait_with_output().expect("mlir-opt ends");
    writer.join().expect("the writer ends");
    let message = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        let bad = texts.iter().find(|text| {
            let out = Command::new(mlir_opt)
                .args(["-", "-o", "/dev/null"])
                .arg(format!("--pass-pipeline={}", jut_mlir::PIPELINE))
                .stdin(Stdio::piped())
                .stderr(Stdio::null())
                .spawn();
            let mut child = out.expect("mlir-opt starts");
            let _ = child.stdin.take().expect("a pipe").write_all(text.as_bytes());
            !child.wait().expect("mlir-opt ends").success()
        });
        panic!("{message}\n{}", bad.map_or("", String::as_str));
    }
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// All functions of these programs through `mlir-opt`, some programs at a time, on all processors. How many texts there
/// were.
fn all_accepted(mlir_opt: &str, programs: &[Program]) -> usize {
    let functions = programs.iter().flat_map(|p| p.funcs.keys().map(move |func| (p, func)));
    let functions: Vec<(usize, (&Program, FuncId))> = functions.enumerate().collect();
    let parts: Vec<_> = functions.chunks(32).collect();
    let counts = jut_tests::in_parallel(&parts, |part| {
        let texts: Vec<String> =
            part.iter().filter_map(|(turn, (p, func))| text(p, *func, *turn)).collect();
        let lowered = accepted(mlir_opt, &texts);
        match lowered.contains("unrealized_conversion_cast") {
            true => Err(lowered),
            false => Ok(texts.len()),
        }
    });
    counts.unwrap_or_else(|e| panic!("{e}")).iter().sum()
}

#[test]
fn mlir_opt_accepts_and_lowers_every_example() {
    let Some(mlir_opt) = mlir_opt() else { return };
    let texts = files().into_iter().map(|file| std::fs::read_to_string(file).expect("readable"));
    let programs: Vec<Program> =
        texts.filter_map(|text| jut_tests::laws::load(&text).ok()).collect();
    let count = all_accepted(mlir_opt, &programs);
    assert!(count > 100, "{count}");
}

#[test]
fn mlir_opt_accepts_and_lowers_random_programs() {
    let Some(mlir_opt) = mlir_opt() else { return };
    let texts = (0..40).map(|seed| jut_tests::generate::generate(seed).text);
    let programs: Vec<Program> =
        texts.map(|text| jut_tests::laws::load(&text).expect("a valid program")).collect();
    all_accepted(mlir_opt, &programs);
}

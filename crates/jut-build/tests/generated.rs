//! Generated modules, compiled by the Rust compiler with all warnings denied and run: the bits of
//! code in memory, checked lengths, errors as values.

use jut::{Model, Session, Value};
use jut_build::{Build, Error, MathLibrary, Request};
use std::path::{Path, PathBuf};
use std::process::Command;

fn host() -> String {
    jut::Triple::host().to_string()
}

/// A program with everything that a signature can have.
const PROGRAM: &str = "
data Pair = Pair(left: f64, right: f64)

def plain(x: f64, k: i64) -> f64 = if k > 0 { exp(x) } else { x * x }

def table[v, n](type: [v, n]f64, words: [v]i64, keep: [n]bool, scale: f64) -> f64 =
  sum (i < v) { sum (j < n) { select(keep[j], scale * sin(type[words[i], j]), 0.0) } }

def several[n](x: [n]f64, p: Pair) -> (f64, y: [n]f64, q: Pair, positive: bool) =
  (p.left * x[0], build (i < n) { tanh(x[i]) * p.right }, Pair(p.right, x[0]), x[0] > 0.0)

def half[d](x: [d]f64) -> (m: i64, y: [m]f64) = {
  m = d / 2
  y = build (i < m) { sin(x[i]) * 1.5 }
  (m, y)
}
";

const MAIN: &str = r#"
#![deny(warnings)]
mod all { include!("all.rs"); }
use all::*;
fn bits(x: &[f64]) { for x in x { print!("{:016x} ", x.to_bits()); } println!(); }
fn main() -> Result<(), Error> {
    let mut w = Workspace::new();
    bits(&[plain_value(0.3, 1, &mut w)?]);
    let r: PlainValueGrad = plain_value_grad(0.3, 1, &mut w)?;
    bits(&[r.value, r.grad_x]);
    let table: Vec<f64> = (0..6).map(|i| 0.25 * f64::from(i) - 0.5).collect();
    let mut grad = [0.0; 6];
    let r = table_value_grad(&table, &[2, 0, 1], &[true, false], 1.5, &mut grad, &mut w)?;
    bits(&[r.value, r.grad_scale]);
    bits(&grad);
    // Sizes are checked before anything is called, errors of the program come back with their place.
    let error = table_value_grad(&table[1..], &[2, 0, 1], &[true, false], 1.5, &mut grad, &mut w);
    println!("{}", error.map(|_| ()).unwrap_err());
    let error = table_value_grad(&table, &[3, 0, 1], &[true, false], 1.5, &mut grad, &mut w);
    match error {
        Err(Error::Run { status: 1, line: 7, numbers, .. }) => println!("{numbers:?}"),
        _ => println!("{:?}", error.map(|_| ())),
    }
    let mut y = [0.0; 3];
    let r = several_value(&[0.5, -1.0, 2.0], 2.0, 0.125, &mut y, &mut w)?;
    println!("{}", r.positive);
    bits(&[r.result_0, r.q_left, r.q_right]);
    bits(&y);
    let r = half_value(&[0.1, 0.2, 0.3, 0.4, 0.5], &mut w)?;
    println!("{}", r.m);
    bits(r.y);
    // Workspaces go to other threads.
    let other = std::thread::spawn(move || half_value(&[1.0, 2.0], &mut w).map(|r| r.m));
    println!("{:?}", other.join().map_err(|_| "a panic"));
    Ok(())
}
"#;

fn directory(name: &str) -> PathBuf {
    let at = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("generated").join(name);
    std::fs::create_dir_all(&at).expect("writable");
    at
}

fn generate(at: &Path, math: MathLibrary) {
    std::fs::write(at.join("all.jut"), PROGRAM).expect("writable");
    let made = Build::new(at.join("all.jut"))
        .math(math)
        .function("plain", &[], &[Request::Value, Request::ValueAndGradient])
        .function("table", &[], &[Request::ValueAndGradient])
        .function("several", &[], &[Request::Value])
        .function("half", &[], &[Request::Value])
        .generate("a-package_1.0", &host())
        .unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(made.library, "jut_a_package_1_0_all");
    assert_eq!(made.files, [at.join("all.jut")]);
    std::fs::write(at.join("all.rs"), &made.module).expect("writable");
    std::fs::write(at.join(format!("lib{}.a", made.library)), &made.archive).expect("writable");
    std::fs::write(at.join("main.rs"), MAIN).expect("writable");
}

fn printed(at: &Path, more: &[&str]) -> String {
    let run = |program: &Path, args: &[&str]| {
        let output = Command::new(program).args(args).current_dir(at).output();
        let output = output.unwrap_or_else(|e| panic!("{}: {e}", program.display()));
        let err = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success() && err.is_empty(), "{}: {err}", program.display());
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let rustc = std::env::var("RUSTC").unwrap_or("rustc".to_owned());
    let args = ["--edition", "2021", "main.rs", "-L", ".", "-l", "static=jut_a_package_1_0_all"];
    run(Path::new(&rustc), &[&args[..], more].concat());
    run(&at.join("main"), &[])
}

fn bits(values: &[f64]) -> String {
    values.iter().map(|x| format!("{:016x} ", x.to_bits())).collect::<String>() + "\n"
}

/// What the program prints, computed in memory.
fn expected() -> String {
    let model = Model::from_text(PROGRAM).expect("it checks");
    let session = |name: &str, request: Request| -> Session {
        let function = model.function(name).expect("it is there");
        function.compile(request).expect("it compiles").session()
    };
    let mut text = String::new();
    let mut plain = session("plain", Request::ValueAndGradient);
    let results = plain.call(&[0.3.into(), 1i64.into()]).expect("it runs");
    let value = results.f64("value").expect("a float");
    text += &bits(&[value]);
    text += &bits(&[value, results.f64("x").expect("a float")]);
    let cells: Vec<f64> = (0..6).map(|i| 0.25 * f64::from(i) - 0.5).collect();
    let keep = [true, false];
    let mut table = session("table", Request::ValueAndGradient);
    let args = [(&cells, &[3, 2]).into(), (&[2i64, 0, 1]).into(), (&keep).into(), 1.5.into()];
    let results = table.call(&args).expect("it runs");
    text +=
        &bits(&[results.f64("value").expect("a float"), results.f64("scale").expect("a float")]);
    text += &bits(results.f64s("type").expect("floats"));
    text += "`type_` has 5 cells, not 6\n[3, 3]\ntrue\n";
    text += &bits(&[1.0, 0.125, 0.5]);
    text += &bits(&[0.5f64, -1.0, 2.0].map(|x| jut_tanh(x) * 0.125));
    let mut half = session("half", Request::Value);
    let results = half.call(&[(&[0.1, 0.2, 0.3, 0.4, 0.5]).into()]).expect("it runs");
    text += "2\n";
    text += &bits(results.f64s("y").expect("floats"));
    text + "Ok(Ok(1))\n"
}

fn jut_tanh(x: f64) -> f64 {
    let model = Model::from_text("def t(x: f64) -> f64 = tanh(x)").expect("it checks");
    let mut session = model.function("t").and_then(|f| f.value()).expect("it compiles").session();
    match session.call(&[x.into()]).expect("it runs").values().pop() {
        Some(Value::F64(y)) => y,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_generated_module_compiles_without_warnings_and_gives_the_bits_of_code_in_memory() {
    let at = directory("runtime");
    generate(&at, MathLibrary::Jut);
    assert_eq!(printed(&at, &[]), expected());
}

#[test]
fn with_the_systems_mathematics_there_is_no_runtime() {
    let at = directory("system");
    generate(&at, MathLibrary::System);
    let (have, want) = (printed(&at, &["-l", "m"]), expected());
    // Bits may differ in the last places, everything else is the same.
    let words = |text: &str| text.split_whitespace().map(str::len).collect::<Vec<_>>();
    assert_eq!(words(&have), words(&want), "{have}");
    let number = |word: &str| u64::from_str_radix(word, 16).ok().filter(|_| word.len() == 16);
    for (a, b) in have.split_whitespace().zip(want.split_whitespace()) {
        match (number(a), number(b)) {
            (Some(a), Some(b)) => assert!(a.abs_diff(b) <= 4, "{a:x} {b:x}"),
            _ => assert_eq!(a, b),
        }
    }
}

#[test]
fn what_is_wrong_is_said_with_the_compilers_diagnostics() {
    let at = directory("wrong");
    let file = at.join("wrong.jut");
    std::fs::write(&file, "def f(x: f64) -> f64 = y\n").expect("writable");
    let build = Build::new(&file).function("f", &[], &[Request::ValueAndGradient]);
    let error = build.generate("p", &host()).expect_err("y is not known");
    let shown = error.render(false);
    assert!(shown.contains("J010") && shown.contains("wrong.jut:1:24"), "{shown}");

    std::fs::write(&file, "def f(x: f64) -> f64 = erfinv(x)\n").expect("writable");
    assert!(build.generate("p", &host()).is_ok());
    let error = build.clone().math(MathLibrary::System).generate("p", &host());
    assert!(error.is_err_and(|e| e.to_string().contains("jut's runtime has it")));
    let twice =
        build.clone().function("f", &[], &[Request::ValueAndGradient]).generate("p", &host());
    assert!(matches!(twice, Err(Error::Request(_))));
    let nowhere = build.generate("p", "no-such-machine");
    assert!(matches!(nowhere, Err(Error::Request(_))));
    let missing = Build::new(at.join("nothing.jut")).generate("p", &host());
    assert!(matches!(missing, Err(Error::File(..))));
}

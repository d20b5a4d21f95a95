//! Objects made ahead of time, called by programs of the system's compilers.

mod externs;
mod foreign;
mod mathematics;
mod matrices;
mod memory;
mod printing;
mod programs;
mod recursive;
mod sums;
mod systems;
mod targets;

use jut::{Engine, Function, Model, Object};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

fn examples() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("examples")
}

/// The engines that write objects and are built in.
fn engines() -> Vec<Engine> {
    let llvm = jut::Engine::Llvm.is_built_in();
    let mut engines = vec![Engine::Cranelift];
    engines.extend(llvm.then_some(Engine::Llvm));
    engines
}

/// A directory of its own for a test.
fn directory(name: &str) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("ahead_of_time").join(name);
    std::fs::create_dir_all(&path).expect("writable");
    path
}

fn sequence() -> Function {
    let text = std::fs::read_to_string(examples().join("ffi/sequence.jut")).expect("it is there");
    let model = Model::from_named_text("sequence.jut", &text).expect("it checks");
    model.function("loss").and_then(|f| f.wrt(&["table", "decay"])).expect("it is there")
}

/// Numbers without pattern for its table.
fn table() -> Vec<f64> {
    (0..15).map(|i| f64::from(i * 7 % 11) / 8.0 - 0.5).collect()
}

/// The object, its header and the runtime, written out.
fn write(object: &Object, at: &Path, stem: &str) {
    std::fs::write(at.join(format!("{stem}.o")), object.bytes()).expect("writable");
    std::fs::write(at.join(format!("{stem}.h")), object.header()).expect("writable");
    if let Some(runtime) = object.runtime().expect("there is a runtime for this machine") {
        std::fs::write(at.join("libjut_runtime.a"), runtime).expect("writable");
    }
}

fn run(program: &str, args: &[&str], at: &Path) -> String {
    let output = Command::new(program).args(args).current_dir(at).output();
    let output = output.unwrap_or_else(|e| panic!("{program}: {e}"));
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success(), "{program} {args:?}: {}\n{out}{err}", output.status);
    assert_eq!(err, "", "{program} {args:?}");
    out
}

/// Whether a program can be started. Without a C compiler there is no Rust, so `cc` always can.
fn present(program: &str) -> bool {
    let there = starts(program);
    if !there {
        not_run(&format!("there is no {program} on this machine"));
    }
    there
}

fn starts(program: &str) -> bool {
    Command::new(program).arg("--version").output().is_ok_and(|o| o.status.success())
}

/// Says what a test leaves out. Not captured: whoever runs the tests is to see it.
fn not_run(reason: &str) {
    let _ = writeln!(std::io::stderr(), "NOT RUN: {reason}");
}

//! Compiles the runtime once more, for objects made ahead of time.
//!
//! The compiler that builds jut builds the runtime too, from the same sources, wherever cargo has
//! them (the build script of `jut-runtime` says where), and with the same version of `libm`, of which
//! the runtime's manifest allows just one: so its bits agree with those of code in memory, and whoever
//! runs `jut` later needs neither Rust nor cargo. Link-time optimisation leaves one object of a few
//! hundred kilobytes that needs only `malloc`, `free`, `abort`, `write`, `memcpy`, `memmove` and `memset`.
//!
//! It is built from a crate of its own in `OUT_DIR`, which does nothing but depend on the runtime: so
//! nothing is written where the sources are, and neither a workspace nor a lock file around them plays
//! a part.
//!
//! Further targets, whose standard library must be installed, are named by the environment variable
//! `JUT_RUNTIME_TARGETS` (triples, separated by commas). A target that does not build is left out,
//! and `jut build` says why: nothing else in jut needs it.

use std::env;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    let variable = |name: &str| env::var(name).unwrap_or_default();
    let out = PathBuf::from(variable("OUT_DIR"));
    let runtime = variable("DEP_JUT_RUNTIME_FOLDER");
    println!("cargo::rerun-if-env-changed=JUT_RUNTIME_TARGETS");
    println!("cargo::rerun-if-changed=build.rs");
    for path in ["src", "Cargo.toml"] {
        println!("cargo::rerun-if-changed={}", Path::new(&runtime).join(path).display());
    }
    if let Err(error) = write_crate(&out, &runtime) {
        println!("cargo::error=cannot write the crate that builds the runtime: {error}");
        return;
    }
    let mut targets = vec![variable("TARGET")];
    for target in variable("JUT_RUNTIME_TARGETS").split(',').map(str::trim) {
        if !target.is_empty() && !targets.iter().any(|t| t == target) {
            targets.push(target.to_owned());
        }
    }
    let mut rows = String::new();
    for target in targets {
        let object = out.join(format!("jut_runtime-{target}.o"));
        // From the network only if the packages are not there, and they are: jut needs them too.
        let built = compile(&target, &object, &out, true)
            .or_else(|_| compile(&target, &object, &out, false));
        rows += &match built {
            Ok(()) => format!("({target:?}, Ok(include_bytes!({object:?}))),\n"),
            Err(reason) => {
                println!("cargo::warning=no static runtime for {target}");
                format!("({target:?}, Err({reason:?})),\n")
            }
        };
    }
    let table = format!("static RUNTIMES: &[(&str, Result<&[u8], &str>)] = &[\n{rows}];\n");
    if let Err(error) = fs::write(out.join("runtimes.rs"), table) {
        println!("cargo::error=cannot write the table of runtimes: {error}");
    }
}

/// Writes the crate that is the runtime.
fn write_crate(out: &Path, runtime: &str) -> io::Result<()> {
    let manifest = format!(
        "[package]\nname = \"jut-runtime-object\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\
         [lib]\npath = \"lib.rs\"\n[dependencies]\njut-runtime = {{ path = {runtime:?} }}\n[workspace]\n"
    );
    fs::write(out.join("Cargo.toml"), manifest)?;
    fs::write(out.join("lib.rs"), "#![no_std]\npub use jut_runtime;\n")
}

fn compile(target: &str, object: &Path, out: &Path, offline: bool) -> Result<(), String> {
    // A nested build that is up to date writes nothing: without its object it has to start anew.
    if !object.exists() {
        let _ = fs::remove_dir_all(out.join("target"));
    }
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(["rustc", "--lib", "--release", "--crate-type", "staticlib", "--quiet"]);
    if offline {
        cargo.arg("--offline");
    }
    cargo.current_dir(out);
    cargo.args(["--target", target, "--target-dir"]).arg(out.join("target"));
    cargo.args(["--", &format!("--emit=obj={}", object.display())]);
    for (name, value) in [
        ("LTO", "fat"),
        ("CODEGEN_UNITS", "1"),
        ("PANIC", "abort"),
        ("DEBUG", "false"),
        ("OPT_LEVEL", "3"),
        ("INCREMENTAL", "false"),
    ] {
        cargo.env(format!("CARGO_PROFILE_RELEASE_{name}"), value);
    }
    // Coverage, sanitizers and checkers of the build around this one are not for the runtime.
    for name in ["CARGO_ENCODED_RUSTFLAGS", "RUSTC_WRAPPER", "RUSTC_WORKSPACE_WRAPPER"] {
        cargo.env_remove(name);
    }
    cargo.env("RUSTFLAGS", "--cfg jut_freestanding");
    let output = cargo.output().map_err(|error| format!("cargo does not start: {error}"))?;
    let complaint = String::from_utf8_lossy(&output.stderr);
    match (output.status.success(), object.exists()) {
        (true, true) => Ok(()),
        (true, false) => Err("the compiler wrote no object".to_owned()),
        (false, _) => Err(complaint.trim().lines().take(12).collect::<Vec<_>>().join("\n")),
    }
}

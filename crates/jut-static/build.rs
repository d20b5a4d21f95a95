//! Compiles the runtime once more, for objects made ahead of time.
//!
//! The compiler that builds jut builds the runtime too, from the same sources and with the same
//! locked version of `libm`: so its bits agree with those of code in memory, and whoever runs `jut`
//! later needs neither Rust nor cargo. Link-time optimisation leaves one object of a few hundred
//! kilobytes that needs only `malloc`, `free`, `abort`, `memcpy`, `memmove` and `memset`.
//!
//! Further targets, whose standard library must be installed, are named by the environment variable
//! `JUT_RUNTIME_TARGETS` (triples, separated by commas). A target that does not build is left out,
//! and `jut build` says why: nothing else in jut needs it.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    let variable = |name: &str| env::var(name).unwrap_or_default();
    let out = PathBuf::from(variable("OUT_DIR"));
    let runtime = Path::new(&variable("CARGO_MANIFEST_DIR")).join("../../runtime");
    println!("cargo::rerun-if-env-changed=JUT_RUNTIME_TARGETS");
    for path in ["build.rs", "../../runtime/src", "../../runtime/Cargo.toml", "../../Cargo.lock"] {
        println!("cargo::rerun-if-changed={path}");
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
        // From the network only if the packages are not there: the lock file may be another one
        // than that of whoever builds jut.
        let built = compile(&runtime, &target, &object, &out, true)
            .or_else(|_| compile(&runtime, &target, &object, &out, false));
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

fn compile(
    runtime: &Path,
    target: &str,
    object: &Path,
    out: &Path,
    frozen: bool,
) -> Result<(), String> {
    // A nested build that is up to date writes nothing: without its object it has to start anew.
    if !object.exists() {
        let _ = fs::remove_dir_all(out.join("target"));
    }
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(["rustc", "--lib", "--release", "--crate-type", "staticlib", "--quiet"]);
    if frozen {
        cargo.arg("--frozen");
    }
    cargo.arg("--manifest-path").arg(runtime.join("Cargo.toml"));
    cargo.args(["--target", target, "--target-dir"]).arg(out.join("target"));
    cargo.args(["--", "--cfg", "jut_freestanding"]);
    cargo.arg(format!("--emit=obj={}", object.display()));
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
    for name in ["CARGO_ENCODED_RUSTFLAGS", "RUSTFLAGS", "RUSTC_WRAPPER", "RUSTC_WORKSPACE_WRAPPER"]
    {
        cargo.env_remove(name);
    }
    let output = cargo.output().map_err(|error| format!("cargo does not start: {error}"))?;
    let complaint = String::from_utf8_lossy(&output.stderr);
    match (output.status.success(), object.exists()) {
        (true, true) => Ok(()),
        (true, false) => Err("the compiler wrote no object".to_owned()),
        (false, _) => Err(complaint.trim().lines().take(12).collect::<Vec<_>>().join("\n")),
    }
}

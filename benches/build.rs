//! Tells the harness how it was built: the compiler, its flags and the target.

use std::process::Command;

fn main() {
    let rustc = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".into());
    let version = Command::new(rustc).arg("--version").output();
    let version = version.map(|out| String::from_utf8_lossy(&out.stdout).trim().to_string());
    println!("cargo::rustc-env=BENCH_RUSTC={}", version.unwrap_or_default());
    let flags = std::env::var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default();
    let level = std::env::var("OPT_LEVEL").unwrap_or_default();
    let flags = format!("-C opt-level={level} {}", flags.replace('\u{1f}', " "));
    println!("cargo::rustc-env=BENCH_FLAGS={}", flags.trim());
    let target = std::env::var("TARGET").unwrap_or_default();
    println!("cargo::rustc-env=BENCH_TARGET={target}");
    println!("cargo::rerun-if-changed=build.rs");
}

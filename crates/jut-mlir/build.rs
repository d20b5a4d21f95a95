//! Says what to install when the feature `mlir` is on and MLIR is not there.
//!
//! The bindings look for MLIR themselves, and end with the name of a program that does not run. This
//! looks first, because it needs nothing compiled before it, and says what to do. LLVM, on which MLIR
//! stands, is looked for by `jut-llvm` in the same way.

use std::path::{Path, PathBuf};

/// Where the bindings look, and the table generator that they use.
const PREFIXES: [&str; 2] = ["MLIR_SYS_220_PREFIX", "TABLEGEN_220_PREFIX"];

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    for variable in PREFIXES.into_iter().chain(["LIBCLANG_PATH"]) {
        println!("cargo::rerun-if-env-changed={variable}");
    }
    if std::env::var_os("CARGO_FEATURE_MLIR").is_none() {
        return;
    }
    for reason in PREFIXES.into_iter().filter_map(missing).chain(clang()).take(1) {
        println!(
            "cargo::error=the feature `mlir` needs MLIR 22: {reason}. Install it (Debian: `apt-get \
             install gcc g++ llvm-22-dev libmlir-22-dev mlir-22-tools libpolly-22-dev libclang1-22 \
             libclang-common-22-dev libzstd-dev zlib1g-dev`), or name its folder in the environment \
             variables LLVM_SYS_221_PREFIX, {} and {}, or build without the feature; `jut doctor` \
             says what is there",
            PREFIXES[0], PREFIXES[1]
        );
    }
}

/// What the folder that a variable names lacks, if anything.
fn missing(variable: &str) -> Option<String> {
    let prefix = std::env::var_os(variable).filter(|prefix| !prefix.is_empty());
    let Some(prefix) = prefix.map(PathBuf::from) else {
        return Some(format!("the environment variable {variable} does not name its folder"));
    };
    let file = match variable {
        "MLIR_SYS_220_PREFIX" => "include/mlir-c/IR.h",
        _ => "bin/llvm-config",
    };
    (!prefix.join(file).exists()).then(|| format!("{} has no {file}", prefix.display()))
}

/// What the generator of bindings lacks, if it is told where to look.
fn clang() -> Option<String> {
    let folder = std::env::var_os("LIBCLANG_PATH")?;
    let found = Path::new(&folder).read_dir().is_ok_and(|mut entries| {
        entries.any(|entry| {
            entry.is_ok_and(|entry| entry.file_name().to_string_lossy().starts_with("libclang"))
        })
    });
    (!found).then(|| format!("{} has no libclang", folder.to_string_lossy()))
}

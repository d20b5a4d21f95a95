//! With `MLIR_SYS_LINK_SHARED=1` programs use the shared libraries of LLVM and MLIR, so that a hundred
//! test programs are not a hundred copies of them. Debian's shared library of MLIR lacks the functions
//! for C, which are a few megabytes: those are taken from their archives.
//!
//! Whether MLIR is there at all is found out by `jut-llvm`, whose build script runs earlier.

use std::path::{Path, PathBuf};
use std::{env, fs, io};

const SHARED: &str = "MLIR_SYS_LINK_SHARED";
const PREFIX: &str = "MLIR_SYS_220_PREFIX";

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    for variable in [SHARED, PREFIX] {
        println!("cargo::rerun-if-env-changed={variable}");
    }
    let shared = env::var(SHARED).is_ok_and(|value| value == "1");
    if shared
        && env::var_os("CARGO_FEATURE_MLIR").is_some()
        && let Err(reason) = functions_for_c()
    {
        println!("cargo::error={SHARED}: {reason}");
    }
}

/// Where there is no `libMLIR-C.so`, for which the bindings ask: a linker script of this name, which
/// takes the functions for C from their archives and all else from the shared libraries.
fn functions_for_c() -> io::Result<()> {
    let folder = Path::new(&env::var_os(PREFIX).unwrap_or_default()).join("lib");
    if folder.join("libMLIR-C.so").exists() {
        return Ok(());
    }
    let mut files = Vec::new();
    for entry in fs::read_dir(&folder)? {
        let name = entry?.file_name();
        let name = name.to_string_lossy();
        // The last one is for MLIR's own way to run programs, which is not in the shared library.
        if name.starts_with("libMLIRCAPI") && name.ends_with(".a") && !name.contains("Execution") {
            files.push(folder.join(&*name));
        }
    }
    files.sort();
    files.extend(["libMLIR.so", "libLLVM.so"].map(|name| folder.join(name)));
    let files: Vec<String> = files.iter().map(|file| format!("\"{}\"", file.display())).collect();
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
    fs::write(out.join("libMLIR-C.so"), format!("INPUT({})\n", files.join("\n")))?;
    println!("cargo::rustc-link-search=native={}", out.display());
    Ok(())
}

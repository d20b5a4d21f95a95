//! Finds and links LLVM when the feature `llvm` is on; says what to install when it is not there.
//!
//! The same for MLIR, when `jut-mlir` turns the feature `mlir` on: the build script of that crate would
//! run after the bindings to MLIR have failed with the name of a program that does not run.
//!
//! The bindings that jut uses are told not to link (`no-llvm-linking`), so that a machine without
//! LLVM gets this message and not a page of errors from somewhere below.

use std::path::{Path, PathBuf};
use std::process::Command;

const PREFIX: &str = "LLVM_SYS_221_PREFIX";
const MAJOR: &str = "22.";

/// Where Debian has it.
const FOLDER: &str = "/usr/lib/llvm-22";

/// LLVM becomes part of the program, unless this variable is 1. It is that of the bindings to MLIR: a
/// program has one LLVM, so both are linked in the same way.
const SHARED: &str = "MLIR_SYS_LINK_SHARED";

/// Where the bindings to MLIR look, and the table generator that they use.
const MLIR: [&str; 2] = ["MLIR_SYS_220_PREFIX", "TABLEGEN_220_PREFIX"];

/// What jut uses of LLVM.
const COMPONENTS: &[&str] = &["x86", "aarch64", "passes", "orcjit", "irreader"];

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    for variable in [PREFIX, SHARED] {
        println!("cargo::rerun-if-env-changed={variable}");
    }
    if std::env::var_os("CARGO_FEATURE_MLIR").is_some() {
        for variable in MLIR.into_iter().chain(["LIBCLANG_PATH"]) {
            println!("cargo::rerun-if-env-changed={variable}");
        }
        if let Some(reason) = MLIR.into_iter().find_map(missing).or_else(clang) {
            println!(
                "cargo::error=the feature `mlir` needs MLIR 22: {reason}. Install it (Debian: `apt-get \
                 install gcc g++ llvm-22-dev libmlir-22-dev mlir-22-tools libpolly-22-dev \
                 libclang1-22 libclang-common-22-dev libzstd-dev zlib1g-dev`), and name its folder in \
                 the environment variables {PREFIX}, {0} and {1} ({FOLDER}, if it is Debian's: `export \
                 {0}={FOLDER} {1}={FOLDER}`), or build without the feature; `jut doctor` says what is \
                 there",
                MLIR[0], MLIR[1]
            );
            return;
        }
    }
    if std::env::var_os("CARGO_FEATURE_LLVM").is_none() {
        return;
    }
    if let Err(reason) = link() {
        println!(
            "cargo::error=the feature `llvm` needs LLVM 22: {reason}. Install it (Debian: `apt-get \
             install gcc g++ llvm-22-dev libpolly-22-dev libzstd-dev zlib1g-dev`), or name its \
             folder in the environment variable {PREFIX}, or build without the feature; `jut doctor` \
             says what is there"
        );
    }
}

fn link() -> Result<(), String> {
    let tool = find()?;
    let ask = |flags: &[&str]| run(&tool, flags);
    let folder = ask(&["--libdir"])?;
    println!("cargo::rustc-link-search=native={folder}");
    if std::env::var(SHARED).is_ok_and(|value| value == "1") {
        for name in ask(&["--link-shared", "--libnames"])?.split_whitespace() {
            let (name, _) = name.trim_start_matches("lib").split_once('.').unwrap_or((name, ""));
            println!("cargo::rustc-link-lib=dylib={name}");
        }
        return Ok(());
    }
    let libraries = ask(&[&["--link-static", "--libnames"][..], COMPONENTS].concat())?;
    for file in libraries.split_whitespace() {
        if !Path::new(&folder).join(file).exists() {
            return Err(format!("{folder} has no {file}"));
        }
        let name = file.trim_start_matches("lib").trim_end_matches(".a").trim_end_matches(".lib");
        println!("cargo::rustc-link-lib=static:-bundle={name}");
    }
    let system = ask(&[&["--link-static", "--system-libs"][..], COMPONENTS].concat())?;
    for flag in system.split_whitespace() {
        let path = Path::new(flag);
        match (flag.strip_prefix("-l"), path.parent(), path.file_stem()) {
            (Some(name), _, _) => println!("cargo::rustc-link-lib=dylib={name}"),
            (None, Some(folder), Some(stem)) if path.is_absolute() => {
                let stem = stem.to_string_lossy();
                println!("cargo::rustc-link-search=native={}", folder.display());
                println!("cargo::rustc-link-lib=dylib={}", stem.trim_start_matches("lib"));
            }
            _ => println!("cargo::rustc-link-lib=dylib={}", flag.trim_end_matches(".lib")),
        }
    }
    match std::env::var("CARGO_CFG_TARGET_OS").as_deref() {
        Ok("macos") => println!("cargo::rustc-link-lib=dylib=c++"),
        Ok("windows") => {}
        _ => println!("cargo::rustc-link-lib=dylib=stdc++"),
    }
    Ok(())
}

/// The program that knows where LLVM is: in the folder that the variable names, or else on the path or
/// in the usual folder.
fn find() -> Result<PathBuf, String> {
    if let Some(prefix) = std::env::var_os(PREFIX).filter(|prefix| !prefix.is_empty()) {
        return of_version(PathBuf::from(prefix).join("bin").join("llvm-config"));
    }
    let usual = Path::new(FOLDER).join("bin").join("llvm-config");
    of_version("llvm-config-22".into()).or_else(|_| of_version(usual))
}

/// The program, if it is that of LLVM 22.
fn of_version(tool: PathBuf) -> Result<PathBuf, String> {
    let version = run(&tool, &["--version"])?;
    match version.starts_with(MAJOR) {
        true => Ok(tool),
        false => Err(format!("{} is of version {version}", tool.display())),
    }
}

fn run(tool: &Path, flags: &[&str]) -> Result<String, String> {
    let output = Command::new(tool).args(flags).output();
    let output = output.map_err(|e| format!("{} does not run ({e})", tool.display()))?;
    if !output.status.success() {
        let reason = String::from_utf8_lossy(&output.stderr);
        return Err(format!("{} says: {}", tool.display(), reason.trim()));
    }
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// What the folder that a variable names lacks, if anything.
fn missing(variable: &str) -> Option<String> {
    let prefix = std::env::var_os(variable).filter(|prefix| !prefix.is_empty());
    let Some(prefix) = prefix.map(PathBuf::from) else {
        // Then the bindings ask the program on the path, whatever version it has.
        return of_version("llvm-config".into())
            .err()
            .map(|_| format!("the environment variable {variable} does not name its folder"));
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

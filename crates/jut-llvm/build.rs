//! Finds and links LLVM when the feature `llvm` is on; says what to install when it is not there.
//!
//! The bindings that jut uses are told not to link (`no-llvm-linking`), so that a machine without
//! LLVM gets this message and not a page of errors from somewhere below.

use std::path::{Path, PathBuf};
use std::process::Command;

const PREFIX: &str = "LLVM_SYS_221_PREFIX";
const MAJOR: &str = "22.";

/// What jut uses of LLVM.
const COMPONENTS: &[&str] = &["x86", "aarch64", "passes", "orcjit", "irreader"];

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed={PREFIX}");
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

/// The program that knows where LLVM is: in the folder that the variable names, or on the path.
fn find() -> Result<PathBuf, String> {
    let tool = match std::env::var_os(PREFIX) {
        Some(prefix) if !prefix.is_empty() => PathBuf::from(prefix).join("bin").join("llvm-config"),
        _ => PathBuf::from("llvm-config-22"),
    };
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

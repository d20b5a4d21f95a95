//! `jut doctor`.

use assert_cmd::Command;
use serde_json::Value as Json;

/// Whether this build has LLVM.
fn has_llvm() -> bool {
    jut::Engine::Llvm.is_built_in()
}

fn doctor(prefix: &str, arguments: &[&str]) -> String {
    let mut command = Command::cargo_bin("jut").expect("jut is built");
    let command = command.arg("doctor").args(arguments).env("LLVM_SYS_221_PREFIX", prefix);
    let command = command.env_remove("JUT_CACHE");
    let output = command.output().expect("jut runs");
    assert!(output.status.success());
    String::from_utf8(output.stdout).expect("text")
}

#[test]
fn every_backend_is_there_or_comes_with_what_to_install() {
    let report: Json = serde_json::from_str(&doctor("", &["--format", "json"])).expect("JSON");
    let rows = report["backends"].as_array().expect("backends");
    let names: Vec<&str> = rows.iter().filter_map(|row| row["name"].as_str()).collect();
    assert_eq!(names, ["cranelift", "llvm", "mlir", "cc"]);
    assert_eq!(rows[0]["available"], true);
    for row in rows {
        let steps = row["steps"].as_array().expect("steps");
        assert_eq!(row["available"].as_bool(), Some(steps.is_empty()), "{row}");
        assert_eq!(row["available"].as_bool(), Some(row["version"].is_string()), "{row}");
    }
    assert_eq!(rows[1]["available"], has_llvm());
}

#[test]
fn a_missing_llvm_is_named_with_its_packages_and_its_feature() {
    let text = doctor("/nowhere", &[]);
    assert!(text.contains("cranelift  built in, version "), "{text}");
    if !has_llvm() {
        assert!(text.contains("there is no LLVM in /nowhere"), "{text}");
        assert!(text.contains("apt-get install gcc g++ libc6-dev llvm-22-dev"), "{text}");
        assert!(text.contains("--features llvm"), "{text}");
    }
}

/// Standard output of a command with a folder for code in the environment.
fn with_cache(folder: &std::path::Path, arguments: &[&str]) -> String {
    let mut command = Command::cargo_bin("jut").expect("jut is built");
    let output = command.args(arguments).env("JUT_CACHE", folder).output().expect("jut runs");
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).expect("text")
}

#[test]
fn the_folder_that_the_environment_names_keeps_code() {
    let above = crate::support::directory("code kept");
    let folder = above.join("code");
    assert!(doctor("", &[]).contains("cache      not in use; name a folder of yours in JUT_CACHE"));
    let said = with_cache(&folder, &["doctor", "--format", "json"]);
    let report: Json = serde_json::from_str(&said).expect("JSON");
    assert_eq!(report["cache"]["folder"].as_str(), folder.to_str(), "{report}");
    assert!(report["cache"]["refused"].is_null());
    // A file is no folder.
    let file = above.join("file");
    std::fs::write(&file, "").expect("a file");
    assert!(with_cache(&file, &["doctor"]).contains("cache      refused: "));
    if has_llvm() {
        let program = above.join("f.jut");
        std::fs::write(&program, "def f(x: f64) -> f64 = sin(x)\n").expect("a program");
        let program = program.to_str().expect("a path");
        let grad = ["grad", program, "f", "--engine", "llvm", "--arg", "x=0.5"];
        let found = with_cache(&folder, &grad);
        let files = || std::fs::read_dir(&folder).expect("files").count();
        assert_eq!(files(), 1);
        assert_eq!((with_cache(&folder, &grad), files()), (found, 1));
    }
}

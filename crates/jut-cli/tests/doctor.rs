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

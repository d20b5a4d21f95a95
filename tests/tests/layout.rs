//! The crates depend on each other only as ARCHITECTURE.md says, and no file of tests is forgotten.

use jut_tests::programs::files_of;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Which of jut's crates each crate may use (development dependencies aside).
const ALLOWED: &[(&str, &[&str])] = &[
    ("jut-runtime", &[]),
    ("jut-ir", &["jut-runtime"]),
    ("jut-text", &["jut-ad", "jut-ir"]),
    ("jut-opt", &["jut-ir"]),
    ("jut-ad", &["jut-ir", "jut-opt"]),
    ("jut-eval", &["jut-ir", "jut-runtime"]),
    ("jut-loop", &["jut-ir", "jut-runtime"]),
    ("jut-native", &["jut-ir", "jut-loop", "jut-runtime"]),
    ("jut-cranelift", &["jut-ir", "jut-loop", "jut-native", "jut-runtime"]),
    ("jut-llvm", &["jut-ir", "jut-loop", "jut-native", "jut-runtime"]),
    ("jut-mlir", &["jut-ir", "jut-llvm", "jut-loop", "jut-native", "jut-runtime"]),
    ("jut-static", &["jut-runtime"]),
    ("jut-rust", &[]),
    ("jut-macros", &["jut-rust"]),
    ("jut-program", &["jut-ir", "jut-rust", "jut-text"]),
    (
        "jut",
        &[
            "jut-ir",
            "jut-text",
            "jut-opt",
            "jut-ad",
            "jut-eval",
            "jut-loop",
            "jut-native",
            "jut-cranelift",
            "jut-llvm",
            "jut-mlir",
            "jut-runtime",
            "jut-static",
            "jut-macros",
            "jut-program",
        ],
    ),
    ("jut-build", &["jut", "jut-rust"]),
    ("jut-argmin", &["jut"]),
    ("jut-levenberg-marquardt", &["jut"]),
    ("jut-nuts-rs", &["jut"]),
    ("jut-diffsol", &["jut"]),
    ("jut-cli", &["jut", "jut-build"]),
];

#[test]
fn dependencies_point_downwards_only() {
    let cargo = std::env::var("CARGO").unwrap_or("cargo".into());
    let output = Command::new(cargo)
        .args(["metadata", "--format-version", "1", "--no-deps", "--offline"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo runs");
    let metadata: serde_json::Value =
        serde_json::from_slice(&output.stdout).expect("metadata is JSON");
    let allowed: BTreeMap<_, _> = ALLOWED.iter().copied().collect();
    let mut seen = 0;
    for package in metadata["packages"].as_array().expect("packages") {
        let name = package["name"].as_str().expect("name");
        let Some(allowed) = allowed.get(name) else {
            assert!(
                ["jut-tests", "jut-benches", "jut-refusals"].contains(&name),
                "{name} is not in the table"
            );
            continue;
        };
        seen += 1;
        for dependency in package["dependencies"].as_array().expect("dependencies") {
            let on = dependency["name"].as_str().expect("name");
            let development = dependency["kind"].as_str() == Some("dev");
            if on.starts_with("jut") && !development {
                assert!(allowed.contains(&on), "{name} must not depend on {on}");
            }
        }
    }
    assert_eq!(seen, ALLOWED.len(), "every crate of the table exists");
}

/// The folders of the crates that are published, and their manifests.
fn crates() -> Vec<(PathBuf, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace");
    let crates = std::fs::read_dir(root.join("crates")).expect("crates");
    let folders = crates.map(|entry| entry.expect("a crate").path());
    let manifest = |of: &Path| std::fs::read_to_string(of.join("Cargo.toml")).expect("a manifest");
    folders.map(|of| (of.clone(), manifest(&of))).collect()
}

#[test]
fn every_file_of_tests_is_compiled() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let own = std::fs::read_to_string(here.join("Cargo.toml")).expect("a manifest");
    let mut seen = 0;
    for (of, manifest) in crates().into_iter().chain([(here.to_path_buf(), own)]) {
        if !manifest.contains("autotests = false") {
            continue;
        }
        // What is a program is named in the manifest, and what is not in one of the programs.
        let mut named = manifest;
        for program in ["main.rs", "rust.rs"] {
            named += &std::fs::read_to_string(of.join("tests").join(program)).unwrap_or_default();
        }
        for entry in std::fs::read_dir(of.join("tests")).expect("tests") {
            let path = entry.expect("a file").path();
            let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
            if path.extension().is_none_or(|kind| kind != "rs") || name == "main" {
                continue;
            }
            seen += 1;
            let (module, program) = (format!("mod {name};"), format!("name = \"{name}\""));
            assert!(named.contains(&module) || named.contains(&program), "{}", path.display());
        }
    }
    assert!(seen > 100, "{seen} files");
}

#[test]
fn a_library_that_is_not_compiled_for_tests_has_none() {
    let without = |manifest: &str| manifest.contains("\ntest = false");
    let all: Vec<_> = crates().into_iter().filter(|(_, manifest)| without(manifest)).collect();
    assert!(all.len() > 3, "{all:?}");
    for path in all.iter().flat_map(|(of, _)| files_of(&of.join("src"), "rs")) {
        let text = std::fs::read_to_string(&path).expect("a file");
        assert!(!text.contains("#[test]"), "{}", path.display());
    }
}

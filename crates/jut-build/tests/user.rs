//! A crate that uses jut-build, built by cargo: it depends on nothing of jut, runs, and is built again
//! when the program or a module of it changes.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("writable");
    for entry in std::fs::read_dir(from).expect("readable").flatten() {
        let (path, target) = (entry.path(), to.join(entry.file_name()));
        match path.is_dir() {
            true => copy(&path, &target),
            false => drop(std::fs::copy(&path, &target).expect("writable")),
        }
    }
}

/// The example, copied, with the versions and the profiles of this workspace: what this build has compiled of other people's
/// packages serves here too.
fn user() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let at = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("user");
    copy(&here.join("examples/newton"), &at);
    let read = |path: PathBuf| std::fs::read_to_string(path).expect("readable");
    let mut manifest = read(at.join("Cargo.toml"));
    manifest = manifest.replace("path = \"../..\"", &format!("path = {here:?}"));
    let workspace = read(here.join("../../Cargo.toml"));
    let profiles = workspace.find("[profile.").map_or("", |at| &workspace[at..]);
    std::fs::write(at.join("Cargo.toml"), manifest + "\n" + profiles).expect("writable");
    std::fs::copy(here.join("../../Cargo.lock"), at.join("Cargo.lock")).expect("writable");
    at
}

/// Runs cargo as the user would.
fn cargo(at: &Path, args: &[&str]) -> Output {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or("cargo".into()));
    cargo.args(args).args(["--offline", "--quiet"]).current_dir(at);
    let target =
        Path::new(env!("CARGO_TARGET_TMPDIR")).parent().expect("in the folder for targets");
    cargo.env("CARGO_TARGET_DIR", target).env("NO_COLOR", "1").env_remove("JUT_RUNTIME_TARGETS");
    cargo.output().expect("cargo starts")
}

fn printed(output: &Output) -> String {
    let err = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{err}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn a_crate_with_a_build_script_needs_nothing_of_jut_when_it_runs() {
    let at = user();
    let tree = printed(&cargo(&at, &["tree", "--edges", "normal"]));
    assert_eq!(tree.lines().count(), 1, "{tree}");

    let run = printed(&cargo(&at, &["run"]));
    let lines: Vec<&str> = run.lines().collect();
    assert!(lines[0].ends_with("where the gradient is below 1e-10: true"), "{run}");
    assert_eq!(lines[1], "x = [1.000000, 1.000000, 1.000000, 1.000000, 1.000000]");
    assert_eq!(lines[2], "`grad_x` has 3 cells, not 5");

    // A module changes: the lowest point is elsewhere.
    let module = at.join("src/shape.jut");
    let text = std::fs::read_to_string(&module).expect("readable");
    let bowl = text.replace("here^2", "here").replace("1.0 - here", "2.0 - here");
    std::fs::write(&module, bowl).expect("writable");
    let run = printed(&cargo(&at, &["run"]));
    assert!(
        run.contains("true\nx = [2.000000, 2.000000, 2.000000, 2.000000, 2.000000]\n"),
        "{run}"
    );

    // A mistake is shown as the compiler shows it.
    std::fs::write(&module, text.replace("next - here^2", "next - there^2")).expect("writable");
    let output = cargo(&at, &["build"]);
    let err = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success(), "it must not build");
    assert!(err.contains("J010") && err.contains("src/shape.jut:1:"), "{err}");
}

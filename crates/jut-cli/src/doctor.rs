//! `jut doctor`: which backends are built in, and how to get the others.
//!
//! For each backend one line, and if it is missing, what to install, whether that is there already,
//! and which cargo feature to turn on. The C compiler stands last: nothing in jut needs one, but
//! whoever links objects that `jut build` makes does.

use crate::output::{print, print_json};
use jut::{BACKENDS, Backend, cache};
use serde_json::{Value as Json, json};
use std::env;
use std::path::Path;
use std::process::Command;

/// A part of the report.
struct Finding {
    name: &'static str,
    what: &'static str,
    /// The version, if it is there.
    version: Option<String>,
    /// What to do otherwise, a step a line.
    steps: Vec<String>,
}

/// Prints the report.
pub fn doctor(json: bool) {
    let mut findings: Vec<Finding> =
        BACKENDS.iter().map(|(_, backend)| of_backend(backend)).collect();
    findings.push(of_compiler());
    if json {
        let rows: Vec<Json> = findings
            .iter()
            .map(|f| {
                json!({
                    "name": f.name, "what": f.what, "version": f.version,
                    "available": f.version.is_some(), "steps": f.steps,
                })
            })
            .collect();
        let cache = json!({ "folder": cache::folder(), "refused": cache::refusal() });
        return print_json(
            &json!({ "jut": env!("CARGO_PKG_VERSION"), "backends": rows, "cache": cache }),
        );
    }
    let mut text = format!("jut {}\n", env!("CARGO_PKG_VERSION"));
    for Finding { name, what, version, steps } in findings {
        let state = match (&version, name) {
            (Some(version), "cc") => version.clone(),
            (Some(version), _) => format!("built in, version {version}"),
            (None, "cc") => "not found".to_owned(),
            (None, _) => "not built in".to_owned(),
        };
        text += &format!("\n{name:<10} {state}\n           {what}\n");
        for (k, step) in steps.iter().enumerate() {
            text += &format!("           {}. {step}\n", k + 1);
        }
    }
    let state = match (cache::folder(), cache::refusal()) {
        (Some(folder), _) => folder.display().to_string(),
        (None, Some(refusal)) => format!("refused: {refusal}"),
        (None, None) => format!("not in use; name a folder of yours in {}", cache::VARIABLE),
    };
    text += &format!("\ncache      {state}\n           LLVM's code from one process to the next\n");
    print(&text);
}

fn of_backend(backend: &Backend) -> Finding {
    let (name, what, version) = (backend.name, backend.about, (backend.version)());
    let mut steps = Vec::new();
    if let (None, Some(need)) = (&version, backend.requirement) {
        let folder = env::var(need.variable).ok().filter(|folder| !folder.is_empty());
        let folder = folder.unwrap_or_else(|| need.folder.to_owned());
        let tool = Path::new(&folder).join("bin/llvm-config");
        steps.push(match output(Command::new(&tool).arg("--version")) {
            Some(found) if found.starts_with("22.") => {
                format!("LLVM {found} is in {folder}; see that all packages are there:")
            }
            Some(found) => format!("{folder} has LLVM {found}, but version 22 is needed:"),
            None => format!("there is no LLVM in {folder}; install version 22:"),
        });
        if let Some(step) = steps.last_mut() {
            let packages = need.packages.join(" ");
            step.push_str(&format!("\n              apt-get install {packages}"));
        }
        steps.push(format!("if it is elsewhere, name its folder: export {}=..", need.variable));
        steps.push(format!(
            "build with the feature: cargo install --path crates/jut-cli --features {0} (for a \
             program of yours: jut = {{ .., features = [\"{0}\"] }})",
            need.feature
        ));
    }
    Finding { name, what, version, steps }
}

fn of_compiler() -> Finding {
    let what = "the system's C compiler, to link objects that `jut build` makes; jut needs none";
    let version = output(Command::new("cc").arg("--version"));
    let steps = match &version {
        Some(_) => Vec::new(),
        None => vec!["install one: apt-get install gcc libc6-dev".to_owned()],
    };
    Finding { name: "cc", what, version, steps }
}

/// The first line that a command prints, if it runs.
fn output(command: &mut Command) -> Option<String> {
    let output = command.output().ok().filter(|output| output.status.success())?;
    let text = String::from_utf8_lossy(&output.stdout);
    text.lines().next().map(|line| line.trim().to_owned())
}

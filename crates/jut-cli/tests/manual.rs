//! Completions and manual pages know every command and every option.

use crate::support::{directory, jut};

const COMMANDS: [&str; 10] =
    ["check", "run", "grad", "jvp", "vjp", "explain", "show", "build", "completions", "man"];

#[test]
fn every_shell_has_completions_with_every_command() {
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let (code, out, err) = jut(&["completions", shell]);
        assert_eq!((code, err.as_str()), (0, ""), "{shell}");
        for command in COMMANDS {
            assert!(out.contains(command), "{command} is missing for {shell}");
        }
        for option in ["wrt", "time-passes", "out-dir"] {
            assert!(out.contains(option), "--{option} is missing for {shell}");
        }
    }
    assert_eq!(jut(&["completions", "cobol"]).0, 2);
}

#[test]
fn bash_understands_its_completions() {
    let Ok(found) = std::process::Command::new("bash").arg("--version").output() else { return };
    assert!(found.status.success());
    let script = format!(
        "set -e\n{}\nCOMP_WORDS=(jut gr); COMP_CWORD=1; _jut jut gr jut; echo \"${{COMPREPLY[*]}}\"",
        jut(&["completions", "bash"]).1
    );
    let output =
        std::process::Command::new("bash").args(["-c", &script]).output().expect("it starts");
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(text.trim(), "grad", "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn every_command_has_a_manual_page() {
    let d = directory("man");
    let (code, out, err) = jut(&["man", &d.display().to_string()]);
    assert_eq!((code, err.as_str()), (0, ""));
    let page = |name: &str| {
        let text = std::fs::read_to_string(d.join(format!("{name}.1")));
        text.unwrap_or_else(|e| panic!("{name}: {e}; {out}"))
    };
    let root = page("jut");
    assert!(root.contains(".TH jut 1") && root.contains("Exit codes"), "{root}");
    for command in COMMANDS {
        assert!(root.contains(&format!("jut\\-{command}(1)")), "{command} in jut.1");
        let text = page(&format!("jut-{command}"));
        assert!(text.contains(".SH SYNOPSIS") && text.contains(".SH DESCRIPTION"), "{text}");
    }
    assert!(page("jut-grad").contains("\\-\\-memory\\-limit"));
    assert!(page("jut-explain-cost").contains("jut explain cost"));
    assert_eq!(jut(&["man", "/dev/null/here"]).0, 2);
}

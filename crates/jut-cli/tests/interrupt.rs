//! Ctrl-C ends a long call with an error value.
#![cfg(unix)]

use std::io::Read;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// Starts a call that takes hours.
fn start(engine: &str) -> Child {
    let text = "def f(n: i64) -> f64 = for (i < n) carry (s = 0.5) { sin(s) + 0.1 }";
    let file = crate::support::write(
        &crate::support::directory(&format!("interrupt-{engine}")),
        "f.jut",
        text,
    );
    Command::new(env!("CARGO_BIN_EXE_jut"))
        .args(["run", &file, "f", "--engine", engine, "--arg", "n=9000000000000000000"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts")
}

fn interrupt(child: &Child) {
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(sent.expect("kill").success());
}

/// How it ends, if it does so soon.
fn end(child: &mut Child) -> Option<ExitStatus> {
    let begin = Instant::now();
    while begin.elapsed() < Duration::from_secs(20) {
        if let Some(status) = child.try_wait().expect("it can be waited for") {
            return Some(status);
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    None
}

#[test]
fn ctrl_c_is_the_error_r07() {
    for engine in ["cranelift", "interp"] {
        let mut child = start(engine);
        // Until the call runs, Ctrl-C ends the command at once.
        std::thread::sleep(Duration::from_secs(3));
        interrupt(&child);
        let status = end(&mut child);
        child.kill().expect("it is gone");
        let mut said = String::new();
        child.stderr.take().expect("piped").read_to_string(&mut said).expect("text");
        assert_eq!(status.and_then(|s| s.code()), Some(3), "{engine}: {said}");
        assert!(said.contains("R07"), "{engine}: {said}");
    }
}

//! The command in a process with limits of its own: reaching one is R06, whatever the engine, and not
//! the end of the process by the system.
#![cfg(target_os = "linux")]

use std::process::Command;

/// Twenty results of n floats each.
fn program() -> String {
    let names: Vec<String> = (0..20).map(|k| format!("y{k}")).collect();
    let body: String =
        names.iter().map(|y| format!("  {y} = build (i < n) {{ f64(i) + 1.0 }}\n")).collect();
    let types = vec!["[n]f64"; 20].join(", ");
    format!("def f(n: i64) -> ({types}) = {{\n  check n >= 0\n{body}  ({})\n}}\n", names.join(", "))
}

#[test]
fn limits_of_the_process_are_errors() {
    let file = crate::support::write(&crate::support::directory("limits"), "f.jut", &program());
    let jut = env!("CARGO_BIN_EXE_jut");
    // 800 MB of address space: a result has 120 MB, twice as much as all, or more than there is.
    let sizes = [(15_000_000i64, 3), (200_000_000, 3), (1 << 50, 3), (10, 0)];
    // The interpreter would take its time for the first.
    for (engine, sizes) in [("cranelift", &sizes[..]), ("interp", &sizes[1..])] {
        for (n, code) in sizes.iter().copied() {
            let limited = format!(
                "ulimit -v 800000 && exec {jut} run {file} f --engine {engine} --arg n={n}"
            );
            let output = Command::new("sh").arg("-c").arg(&limited).output().expect("a shell");
            let said = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(code), "{engine} n = {n}: {said}");
            assert_eq!(said.contains("R06"), code == 3, "{engine} n = {n}: {said}");
        }
    }
}

//! Programs that are compiled and dropped leave nothing behind. This test is alone in its process,
//! because it looks at the memory of the whole process. `JUT_CYCLES=10000` makes it a soak.
#![cfg(all(feature = "mlir", target_os = "linux"))]

use jut_loop::read::read_program;

/// Bytes of the process that are in memory.
fn resident() -> usize {
    let text = std::fs::read_to_string("/proc/self/statm").expect("statm");
    4096 * text.split(' ').nth(1).and_then(|n| n.parse::<usize>().ok()).expect("a number")
}

#[test]
fn memory_returns_when_programs_are_dropped() {
    let text = "loop def f(n: i64, x: in f64[n]) -> (f64) = {\n  (s) = lanes (i in 0 .. n) carry (l) \
                {\n    t = x[i]\n    e = exp(t)\n    k = l + e\n    (k)\n  }\n  (s)\n}\n";
    let program = read_program(0, text).expect("a program");
    let cycles = |n: usize| {
        for _ in 0..n {
            drop(jut_mlir::compile(&program).expect("compiled"));
        }
    };
    let count = std::env::var("JUT_CYCLES").ok().and_then(|n| n.parse().ok()).unwrap_or(60);
    // Allocators keep something for further use: the first programs show how much.
    cycles(20);
    let before = resident();
    cycles(count);
    let after = resident();
    // One program takes far more than this while it is compiled.
    assert!(after < before + (8 << 20), "{before} bytes, then {after}");
}

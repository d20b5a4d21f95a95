//! Executable memory is given back. This test is alone in its process, because it looks at the
//! memory of the whole process. `JUT_DROPS=10000` drops as many programs.
#![cfg(all(feature = "llvm", target_os = "linux"))]

mod support;

use support::lowered_gradient;

/// Kilobytes of memory that the process has, and of address space.
fn memory() -> [u64; 2] {
    let text = std::fs::read_to_string("/proc/self/status").expect("the system says");
    ["VmRSS:", "VmSize:"].map(|name| {
        let line = text.lines().find_map(|line| line.strip_prefix(name)).expect(name);
        line.trim().trim_end_matches(" kB").parse().expect("a number")
    })
}

#[test]
fn dropped_programs_give_their_memory_back() {
    let drops = std::env::var("JUT_DROPS").ok().and_then(|n| n.parse().ok()).unwrap_or(300);
    let source = "def f[n](x: [n]f64) -> f64 = sum (i < n) { exp(x[i]) * x[i] }";
    let program = lowered_gradient(source, "f");
    let churn = |count: usize| {
        for _ in 0..count {
            drop(jut_llvm::compile(&program).expect("compiles"));
        }
    };
    churn(drops / 3);
    let before = memory();
    churn(drops);
    let after = memory();
    println!("{drops} programs: {before:?} kB before, {after:?} kB after");
    // What the allocator keeps in pieces varies a little; a kilobyte left by each would show.
    let most = 200 + drops as u64 / 2;
    assert!(after[0] < before[0] + most && after[1] < before[1] + 8 * most, "{before:?} {after:?}");
}

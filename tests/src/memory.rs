//! Memory that programs leave behind which were compiled and dropped.
//!
//! *Requires*: nothing else runs in the process, because the memory of all of it is looked at, and a
//! system that tells (`/proc`). *Cost*: as many compilations as asked for, and a third of them first.

use crate::pipeline::core_stages;
use jut_ad::Policy;
use jut_loop::form::LoopProgram;
use jut_loop::lower;
use jut_native::Backend;

/// Kilobytes that the process has at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Memory {
    /// In main memory.
    pub resident: u64,
    /// Of address space.
    pub mapped: u64,
}

impl Memory {
    /// What the process has now; `None` where the system does not say.
    pub fn now() -> Option<Memory> {
        let text = std::fs::read_to_string("/proc/self/status").ok()?;
        let number = |name: &str| {
            let line = text.lines().find_map(|line| line.strip_prefix(name))?;
            line.trim().trim_end_matches(" kB").parse().ok()
        };
        Some(Memory { resident: number("VmRSS:")?, mapped: number("VmSize:")? })
    }
}

/// The most kilobytes that the process has had in main memory since [`forget_peak`]; `None` where the
/// system does not say.
pub fn peak() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().trim_end_matches(" kB").parse().ok()
}

/// Lets [`peak`] start from what the process has now; whether the system can do that.
pub fn forget_peak() -> bool {
    // Linux: 5 resets the peak, and nothing else.
    std::fs::write("/proc/self/clear_refs", "5").is_ok()
}

/// A sum, a product of matrices, and branches with tapes.
const SOURCES: [&str; 3] = [
    "def f[n](x: [n]f64) -> f64 = sum (i < n) { exp(x[i]) * x[i] }",
    "def f[n](x: [n, n]f64) -> f64 = { y = matmul(x, x); sum (i < n, j < n) { y[i, j] } }",
    "def f[n](x: [n]f64) -> f64 =
       for (i < n) carry (a = 1.0) { if x[i] > 0.0 { sin(a) * x[i] } else { a / (1.0 + a * a) } }",
];

/// Compiles and drops programs, after a third as many whose memory allocators may keep for further
/// use; the memory before and after.
///
/// # Errors
/// A program that does not compile, or a system that does not say how much memory there is.
pub fn compile_and_drop(backend: Backend, count: usize) -> Result<[Memory; 2], String> {
    let lowered = |source: &&str| {
        let core = core_stages(source, Policy::Default)?;
        Ok(lower(&core.program, core.root).map_err(|e| e.to_string())?.program)
    };
    let programs: Vec<LoopProgram> = SOURCES.iter().map(lowered).collect::<Result<_, String>>()?;
    let cycles = |count: usize| {
        for program in programs.iter().cycle().take(count) {
            drop(backend.compile(program).map_err(|e| e.to_string())?);
        }
        Memory::now().ok_or_else(|| "the system does not say how much memory there is".to_string())
    };
    Ok([cycles(count / 3)?, cycles(count)?])
}

/// Whether memory is where it was. What allocators keep in pieces varies by some hundred kilobytes; a
/// page of code that is left by each of 150 programs would show, and so would address space.
pub fn returned([before, after]: [Memory; 2], count: usize) -> bool {
    let count = count as u64;
    after.resident < before.resident + 384 + count
        && after.mapped < before.mapped + 8 * (1024 + count)
}

//! Memory that programs leave behind which were compiled and dropped.
//!
//! *Requires*: nothing else runs in the process, because the memory of all of it is looked at, and a
//! system that tells. *Cost*: as many compilations as asked for, and a third of them first.

use crate::memory::Memory;
use crate::pipeline::core_stages;
use jut_ad::Policy;
use jut_loop::form::LoopProgram;
use jut_loop::lower;
use jut_native::Backend;

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

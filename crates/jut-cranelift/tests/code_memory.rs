//! Executable memory is given back. This test is alone in its process, because it looks at the
//! memory of the whole process.

mod support;

use jut_cranelift::compile;
use jut_ir::prim;
use jut_loop::form::*;
use support::*;

#[cfg(target_os = "linux")]
fn pages() -> usize {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap();
    text.split(' ').next().unwrap().parse().unwrap()
}

#[cfg(target_os = "linux")]
#[test]
fn a_dropped_program_gives_its_code_back() {
    let mut w = Writer::new("f");
    let x = w.input(Kind::F64);
    let y = w.prim(prim::EXP, &[x.into()]);
    let source = program(w.finish(&[y.into()]));
    let churn = |n| {
        for _ in 0..n {
            drop(compile(&source).unwrap());
        }
    };
    churn(10);
    let before = pages();
    churn(1000);
    // Each reserves at least 256 pages of address space.
    assert!(pages() < before + 10_000, "{before} {}", pages());
}

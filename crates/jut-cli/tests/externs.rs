//! `--library`: functions of other languages from a shared library.

use crate::support::{directory, jut, write};
use std::process::Command;

const PROGRAM: &str = "
extern def twice.each(n: i64; x': [n]f64) -> (; [n]f64) transpose twice.each
def f[n](x: [n]f64) -> f64 = sum (y <- twice.each(n, sin(x))) { y^2 }
";

const C: &str = "
#include <stdint.h>
void twice_each(double *results, const double *floats, const int64_t *integers, double *failed,
                int64_t result_count, int64_t float_count, int64_t integer_count, int64_t number) {
  (void)float_count; (void)integer_count; (void)number;
  if (integers[0] == 3) { *failed = 1.0; return; }
  for (int64_t i = 0; i < result_count; i++) results[i] = 2.0 * floats[i];
}
";

#[test]
fn a_library_has_what_a_program_declares() {
    let at = directory("externs");
    let program = write(&at, "program.jut", PROGRAM);
    let c = write(&at, "twice.c", C);
    let library = at.join("libtwice.so").display().to_string();
    let made = Command::new("cc").args(["-shared", "-fPIC", "-o", &library, &c]).status();
    assert!(made.is_ok_and(|status| status.success()), "cc makes a library");
    let call = |x: &str, more: &[&str]| jut(&[&["grad", &program, "f", "--arg", x], more].concat());

    let (code, out, err) = call("x=[0.5, 1.0]", &["--library", &library, "--check"]);
    assert_eq!(code, 0, "{out}{err}");
    let slope = 8.0 * 0.5f64.sin() * 0.5f64.cos();
    assert!(out.contains(&format!("{slope:.10}")[..10]), "{out}");
    assert!(out.contains("the same bits"), "{out}{err}");

    let (code, _, err) = call("x=[0.5, 1.0, 2.0]", &["--library", &library]);
    assert_eq!(code, 3, "{err}");
    assert!(err.contains("R09") && err.contains("`twice.each` failed"), "{err}");

    let (code, _, err) = call("x=[0.5, 1.0]", &[]);
    assert_eq!(code, 2, "{err}");
    assert!(err.contains("`twice.each`") && err.contains("--library"), "{err}");

    let (code, _, err) = call("x=[0.5, 1.0]", &["--library", &c]);
    assert_eq!(code, 2, "{err}");
    assert!(err.contains("twice.c"), "{err}");

    // What is only shown needs none.
    let (code, out, err) = jut(&["show", &program, "f", "--stage", "transpose"]);
    assert_eq!(code, 0, "{err}");
    assert!(out.contains("twice.each(n; "), "{out}");
    let (code, out, err) = jut(&["check", &program]);
    assert_eq!((code, out.contains("2 definitions")), (0, true), "{out}{err}");
}

//! Arrays with other parts: what is in place stores the part, and copies no array.

use crate::support::{func, load};
use jut_loop::form::{Block, LoopFunction, Stmt};
use jut_loop::lower;

/// How many arrays are copied in loops, and how many outside, by the function `f`.
fn copies(source: &str) -> [usize; 2] {
    fn count(block: &Block, inside: usize, found: &mut [usize; 2]) {
        for stmt in &block.stmts {
            match stmt {
                Stmt::CopyCells { .. } => found[1 - inside] += 1,
                Stmt::For(l) => count(&l.body, 1, found),
                Stmt::Lanes(l) => count(&l.body, 1, found),
                Stmt::If { then, other, .. } => {
                    count(then, inside, found);
                    count(other, inside, found);
                }
                _ => {}
            }
        }
    }
    let program = load(source);
    let lowered = lower(&program, func(&program, "f")).expect("is lowered");
    let entry: &LoopFunction = lowered.program.funcs.values().next_back().expect("an entry");
    let mut found = [0, 0];
    count(&entry.body, 0, &mut found);
    found
}

#[test]
fn a_loop_that_changes_its_array_copies_the_first_one_only() {
    for body in [
        "a with [i] = a[i] + a[0]",
        "b = a with [i] = a[i] + a[0]; b with [0] = b[i]",
        "u = a[i]; b = a with [i] = a[0]; b with [0] = u",
        "if a[i] > 0.0 { a with [i] = 1.0 } else { a }",
        "if a[i] > 0.0 { a } else { a with [i] = 1.0 }",
        "b = a with [i] = 2.0; if b[0] > 0.0 { b } else { b with [0] = 1.0 }",
        "for (j < n) carry (a = a) { a with [j] = a[i] * a[j] }",
        "acc r: [n]f64 = (a with [i] = 2.0) { r[0] += 1.0 }",
    ] {
        let source = format!(
            "def f[n](x: [n]f64) -> [n]f64 = {{ check 0 < n; for (i < n) carry (a = x) {{ {body} }} }}"
        );
        assert_eq!(copies(&source), [0, 1], "{source}");
    }
}

#[test]
fn arrays_that_change_places_are_not_copied_in_the_loop() {
    for next in [
        "(b with [i] = a[i] * b[0], a)",
        "(b, a with [i] = a[i] * b[0])",
        "(build (j < n) { a[j] - b[n - 1 - j] }, a)",
        "(b, build (j < n) { a[j] - b[n - 1 - j] })",
    ] {
        let source = format!(
            "def f[n](x: [n]f64) -> ([n]f64, [n]f64) = {{ check 0 < n; for (i < n) carry (a = x, b = x) {{ {next} }} }}"
        );
        assert_eq!(copies(&source)[0], 0, "{source}");
    }
    // What two carries hold is copied for one of them.
    let source = "def f[n](x: [n]f64) -> ([n]f64, [n]f64) = {
  for (i < n) carry (a = x, b = x) { (b, b) }
}";
    assert_eq!(copies(source)[0], 1);
}

#[test]
fn an_array_that_is_made_here_is_not_copied_at_all() {
    let source = "def f[n](x: [n]f64) -> [n]f64 = {
  y = build (i < n) { 2.0 * x[i] }
  for (i < n) carry (a = y) { a with [i] = a[i] * a[i] }
}";
    assert_eq!(copies(source), [0, 0]);
}

#[test]
fn what_is_read_afterwards_is_copied_once_for_each_update() {
    // The parameter is the caller's, and so is what its rows are rows of.
    assert_eq!(copies("def f[n](x: [n]f64, i: i64) -> [n]f64 = x with [i] = 1.0"), [0, 1]);
    let old = "def f[n](x: [n]f64) -> ([n]f64, [n]f64) = {
  y = build (i < n) { 2.0 * x[i] }
  check 0 < n
  z = y with [0] = 1.0
  (y, z)
}";
    assert_eq!(copies(old), [0, 1]);
    let outside = "def f[n](x: [n]f64) -> f64 = {
  y = build (i < n) { 2.0 * x[i] }
  sum (i < n) { z = y with [i] = 1.0; sum (v <- z) { v * v } }
}";
    assert_eq!(copies(outside), [1, 0]);
}

#[test]
fn a_row_that_is_read_after_the_array_has_changed_has_cells_of_its_own() {
    let source = "def f[n, m](x: [n, m]f64) -> [n, m]f64 = {
  check 0 < n
  for (i < n) carry (a = x) { r = a[i]; b = a with [i] = a[0]; b with [0] = r }
}";
    // Of each row one copy to the side and one to its place, and the first array.
    assert_eq!(copies(source), [4, 1]);
    // A pair's number is read where it is bound.
    let pairs = source.replace("[n, m]f64", "[n]#(f64, [m]f64)");
    assert_eq!(copies(&pairs), [4, 2], "{pairs}");
    let numbers = source.replace("[n, m]f64", "[n]#(f64, f64)").replace("[n, m]", "[n]");
    assert_eq!(copies(&numbers), [0, 2], "{numbers}");
}

//! What U and T make, as text: T of T, what is on the tape, what is refused, and how long it takes.

use crate::common::{POLICIES, parse, passes, stages};
use jut_ad::{Derivatives, Policy, transpose, unzip};
use jut_ir::alpha::{canonical_data_text, canonical_text};
use jut_ir::*;
use std::fmt::Write;

/// The form in which T of T is compared with the original.
fn normal_form(program: &Program, id: FuncId) -> String {
    jut_ir::normal::normal_text(program, id, &|name| name.replace(".linTT", ".lin"))
}

const WORKED: &[(&str, &str)] = &[
    (include_str!("../../../tests/worked/sine.jut"), "f"),
    (include_str!("../../../tests/worked/power.jut"), "power"),
    (include_str!("../../../tests/worked/neighbours.jut"), "nb"),
    (include_str!("../../../tests/worked/triangle.jut"), "pairs"),
    (include_str!("../../../tests/worked/branch.jut"), "br"),
    (include_str!("../../../tests/worked/rnn.jut"), "rnn"),
    (include_str!("../../../tests/worked/half.jut"), "usehalf"),
    (include_str!("../../../tests/worked/rows.jut"), "rows"),
    (include_str!("../../../tests/worked/polar.jut"), "polar"),
    (include_str!("../../../tests/worked/choose.jut"), "choose"),
    (include_str!("../../../tests/worked/nested.jut"), "brw"),
];

#[test]
fn transposing_twice_gives_the_function_up_to_names_and_order() {
    for (text, name) in WORKED {
        for policy in POLICIES {
            let stages = stages(&parse(text), name, policy);
            let program = stages.program();
            let [once, twice] = [stages.halves.lin, stages.twice].map(|f| normal_form(program, f));
            assert_eq!(once, twice, "{name} {policy:?}");
        }
    }
}

/// The tape of a function under the default policy, with canonical field names.
fn tape(text: &str, name: &str) -> Option<String> {
    tape_under(Policy::Default, text, name)
}

fn tape_under(policy: Policy, text: &str, name: &str) -> Option<String> {
    let stages = stages(&parse(text), name, policy);
    stages.halves.tape.map(|data| canonical_data_text(stages.program(), data).trim().to_string())
}

#[test]
fn what_does_not_depend_on_the_iteration_is_stored_once() {
    let text = "def f(a: f64, n: i64) -> f64 = sum (i < n) { sin(a) * f64(i) }";
    assert_eq!(tape(text, "f").as_deref(), Some("data f.tape = f.tape(f0: f64)"));
}

#[test]
fn what_is_cheap_or_given_is_not_stored() {
    let text = "
def f[n](x: [n]f64, ix: [n]i64, a: f64) -> f64 = sum (i < n) {
  j = ix[i]
  (x[i] + a) * (x[j] * x[j] - 1.0) * select(x[i] > a, x[j], a)
}";
    assert_eq!(tape(text, "f"), None);
}

#[test]
fn logistic_regression_needs_two_numbers_per_row() {
    // The margin z, and exp(-|z|): the slopes of max, abs and log1p follow from them.
    let text = "
def loss[n, d](w: [d]f64, x: [n, d]f64, y: [n]f64) -> f64 = sum (i < n) {
  z = sum (j < d) { w[j] * x[i, j] }
  max(z, 0.0) + log1p(exp(-abs(z))) - y[i] * z
}";
    let two = "data loss.tape = loss.tape(f0: i64, f1: [f0]f64, f2: [f0]f64)";
    assert_eq!(tape_under(Policy::Minimal, text, "loss").as_deref(), Some(two));
    // The slope of log1p is a quotient, and stored where time counts.
    assert_eq!(tape(text, "loss").unwrap().matches("[f0]").count(), 3);
}

#[test]
fn a_report_says_what_is_stored_how_much_and_why() {
    let text = "
def f[n, m](x: [n]f64, k: [m]i64) -> f64 = sum (i < n) {
  s = sum (j < i) { exp(x[j]) }
  t = for (q < k[i]) carry (c = s) { c * c }
  t * x[i]
}";
    let stages = stages(&parse(text), "f", Policy::Minimal);
    let report = unzip::explain(&stages.derivatives, stages.jvp, Policy::Minimal).unwrap();
    let line = |span: Span| {
        let before = text.get(..span.start as usize)?;
        Some(format!("line {}", before.matches('\n').count()))
    };
    let expected = "\
tape of f: 24 n + 8 + (sum over i < n of 8 i) + (sum over i < n of 8 max(t_2, 0)) bytes
  n    i64  8                                  in f.tape   for t_6_2' (line 4): the size of a stored value (line 1)
  t_4  f64  8 n                                in f.tape   for t_6_2' (line 4): made by a loop (line 3)
  i    i64  8 n                                in f.tape1  for t_1' (line 2): the size of a stored value (line 1)
  t_8  i64  8 n                                in f.tape1  for t_3_1' (line 3): the size of a stored value (line 3)
  t_1  f64  (sum over i < n of 8 i)            in f.tape1  for t_1' (line 2): `exp` is expensive (line 2)
  c    f64  (sum over i < n of 8 max(t_2, 0))  in f.tape1  for t_3_1' (line 3): carried from iteration to iteration (line 3)
not stored:
  n    an input (line 1)
  m    an input (line 1)
  x    an input (line 1)
  k    an input (line 1)
  t_2  computed again by an index of k (line 3)
  t_8  computed again by `max` (line 3)
  t_5  computed again by an index of x (line 4)
";
    assert_eq!(report.text(&line), expected);
}

#[test]
fn one_value_is_stored_instead_of_the_many_that_follow_from_it() {
    let text = "
def f(a: f64, b: f64, n: i64) -> f64 = for (i < n) carry (c = a) {
  p = c * c
  q = p - b
  sin(p) * q + q * q * c
}";
    let stored = |policy| tape_under(policy, text, "f").unwrap().matches("]f64").count();
    // Of c, cos(p), sin(p), q only c and the two of p are not to be had from others.
    assert_eq!(stored(Policy::Minimal), 3);
    assert_eq!(stored(Policy::Default), 3);
    assert!(stored(Policy::StoreAll) > 3);
}

#[test]
fn what_is_expensive_and_long_chains_of_what_is_cheap_are_stored() {
    let mut chain = "t0 = exp(a)\n".to_string();
    for k in 0..30 {
        writeln!(chain, "  t{} = t{k} * b + {k}.0", k + 1).unwrap();
    }
    let text = format!("def f(a: f64, b: f64) -> f64 = {{\n  {chain}  sin(t30)\n}}");
    let stages = stages(&parse(&text), "f", Policy::Minimal);
    let program = stages.program();
    let lin = &program.funcs[stages.halves.lin];
    let functions = [prim::EXP, prim::SIN, prim::COS];
    let recomputed: Vec<prim::Prim> = lin
        .body
        .stmts
        .iter()
        .filter_map(|s| match &s.rhs {
            Rhs::Prim(p, _) => Some(*p),
            _ => None,
        })
        .collect();
    assert!(!recomputed.iter().any(|p| functions.contains(p)));
    let bytes = 8 * program.datas[stages.halves.tape.unwrap()].constructors[0].fields.len();
    assert!(recomputed.len() <= 33 * 8 - bytes, "{recomputed:?}");
}

#[test]
fn no_expression_is_computed_twice() {
    let text = "def f(a: f64, n: i64) -> f64 = {
  s = sin(a) * sin(a)
  s + sum (i < n) { sin(a) * f64(i) }
}";
    let stages = stages(&parse(text), "f", Policy::Minimal);
    let nonlin = print::print_function(stages.program(), stages.halves.nonlin);
    assert_eq!(nonlin.matches("sin(").count(), 1, "{nonlin}");
    assert_eq!(nonlin.matches("cos(").count(), 1, "{nonlin}");
}

#[test]
fn a_branch_that_stores_nothing_is_taken_again() {
    let text = "def f(x: f64) -> f64 = if x > 0.0 { x * x } else { -x }";
    assert_eq!(tape(text, "f"), None);
}

#[test]
fn loops_in_loops_store_rectangles_also_if_a_bound_may_be_negative() {
    let nest = "
def f(a: f64, k: i64) -> f64 = for (i < k) carry (c = a) {
  tanh(c + (for (j < k) carry (e = a) { tanh(e) }))
}";
    let inside = "
def f[n](x: [n]f64, k: i64) -> f64 = sum (i < n) {
  y = build (j < k - 1) { exp(x[i] * f64(j)) }
  sum (v <- y) { v * v }
}";
    // Both loops of the nest run equally often, which is stored once.
    for (text, rectangle) in [(nest, "[f0, f0]f64"), (inside, "[f0, f1]f64")] {
        let tape = tape(text, "f").unwrap();
        assert!(!tape.contains("tape1") && tape.contains(rectangle), "{tape}");
    }
}

#[test]
fn a_linear_function_of_the_user_is_transposed_as_it_is() {
    let text = "
core def g(x: f64; y': f64, z': f64) -> (; f64) = {
  s = x * x
  a' = s * y'
  b' = a' + z'
  (; b')
}
core def g.T(x: f64; b'': f64) -> (; f64, f64) = {
  s = x * x
  (; a'', z'') = dup b''
  y'' = s * a''
  (; y'', z'')
}";
    let (given, _) = text.split_once("core def g.T").unwrap();
    let (given, expected) = (parse(given), parse(text));
    let mut derivatives = Derivatives::new(given);
    let g = derivatives.program.find_func("g").unwrap();
    let transposed = transpose::transpose(&mut derivatives, g).unwrap();
    let wanted = expected.find_func("g.T").unwrap();
    let actual = canonical_text(&derivatives.program, transposed);
    assert_eq!(actual, canonical_text(&expected, wanted));
}

#[test]
fn a_selection_is_transposed_into_a_branch_that_costs_nothing() {
    let text = "
core def g(b: bool; x': f64, y': f64) -> (; f64) = {
  z' = select(b, x', y')
  (; z')
}
core def g.T(b: bool; z'': f64) -> (; f64, f64) = {
  (; x'', y'') = case b {
    true -> { y'' = zero f64; (; z'', y'') }
    false -> { x'' = zero f64; (; x'', z'') }
  }
  (; x'', y'')
}";
    let expected = parse(text);
    let mut derivatives = Derivatives::new(parse(text.split_once("core def g.T").unwrap().0));
    let g = derivatives.program.find_func("g").unwrap();
    let transposed = transpose::transpose(&mut derivatives, g).unwrap();
    let actual = canonical_text(&derivatives.program, transposed);
    assert_eq!(actual, canonical_text(&expected, expected.find_func("g.T").unwrap()));
}

#[test]
fn what_is_not_linear_has_no_transpose() {
    let texts = [
        "def g(x: f64) -> f64 = x * x",
        "def g(x: f64; y': f64) -> (f64; f64) = {\n  (x; y')\n}",
        "
core def h(x: f64; y': f64) -> (f64; f64) = { (x; y') }
core def g(x: f64; y': f64) -> (; f64) = { (a; b') = h(x; y'); c' = a * b'; (; c') }",
    ];
    for text in texts {
        let mut derivatives = Derivatives::new(parse(text));
        let g = derivatives.program.find_func("g").unwrap();
        let refused = transpose::transpose(&mut derivatives, g).unwrap_err();
        assert_eq!(refused.code, "J801", "{text}");
    }
}

/// Quadratic passes would need minutes for these.
#[test]
fn long_functions_and_long_chains_of_calls_take_linear_time() {
    let mut long = String::from("def f(a: f64) -> f64 = {\n  x0 = a\n");
    for k in 0..10_000 {
        writeln!(long, "  x{} = sin(x{k}) * a", k + 1).unwrap();
    }
    long.push_str("  x10000\n}\n");
    for policy in [Policy::Default, Policy::Minimal] {
        let stages = passes(&parse(&long), "f", policy);
        assert_eq!(check::check_program(stages.program()), Ok(()));
        let tape = &stages.program().datas[stages.halves.tape.unwrap()];
        assert_eq!(tape.constructors[0].fields.len(), 20_000);
    }

    // One component of the cut's network, far too large to be solved.
    let mut cheap = String::from("def f(a: f64) -> f64 = {\n  x0 = sin(a)\n");
    for k in 0..10_000 {
        writeln!(cheap, "  x{} = x{k} * x{k} - a", k + 1).unwrap();
    }
    cheap.push_str("  x10000\n}\n");
    passes(&parse(&cheap), "f", Policy::Minimal);

    let mut chain = String::from("def g0(a: f64) -> f64 = sin(a)\n");
    for k in 0..3_000 {
        writeln!(chain, "def g{}(a: f64) -> f64 = g{k}(a * 0.5)", k + 1).unwrap();
    }
    passes(&parse(&chain), "g3000", Policy::Default);
}

#[test]
fn deep_nesting_takes_linear_time() {
    let depth = 60;
    let mut text = String::from("def f[n](x: [n]f64, a: f64) -> f64 = {\n  s = a\n");
    for k in 0..depth {
        writeln!(text, "  for (i{k} < 1) carry (c{k} = s) {{\n  s = sin(c{k}) * a").unwrap();
    }
    text.push_str("  sum (i < n) { x[i] * s }\n");
    text.push_str(&"}\n".repeat(depth + 1));
    for policy in [Policy::Default, Policy::Minimal] {
        let stages = passes(&parse(&text), "f", policy);
        assert_eq!(check::check_program(stages.program()), Ok(()));
    }
}

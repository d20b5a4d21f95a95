//! Cells of arrays that loops change in place: what has its last value when it is read is not stored but read again in
//! the array that the loop ends with, what is changed later is stored, and derivatives have the same bits in any case.

use crate::common::{parse, stages};
use jut_ad::{Derivatives, Mask, Policy, compose, unzip};
use jut_eval::{Interpreter, Value};

/// Value and gradient of `f`, as bits.
fn gradient(text: &str, args: &[Value], policy: Policy) -> Vec<u64> {
    let program = parse(text);
    let f = program.find_func("f").unwrap();
    let mut d = Derivatives::new(program);
    let mask = Mask::full(&d.program, f);
    let root = compose::value_and_grad(&mut d, f, &mask, policy).unwrap();
    let interpreter = Interpreter::new(&d.program);
    let all = interpreter.with_sizes(root, args).unwrap();
    let outcome = interpreter.call(root, &all, &[], &[]).unwrap_or_else(|e| panic!("{e}"));
    let mut bits = Vec::new();
    outcome.results.iter().for_each(|v| v.for_each_f64(&mut |x| bits.push(x.to_bits())));
    bits
}

/// What the report says is read again in an array that is no parameter, once all policies have been seen to agree.
fn read_again(text: &str, args: &[Value]) -> Vec<String> {
    let reference = gradient(text, args, Policy::StoreAll);
    for policy in [Policy::Default, Policy::Minimal] {
        stages(&parse(text), "f", policy);
        assert_eq!(gradient(text, args, policy), reference, "{policy:?} of {text}");
    }
    let stages = stages(&parse(text), "f", Policy::Default);
    let jvp = &stages.program().funcs[stages.jvp];
    let is_parameter = |name: &str| jvp.params.iter().any(|p| jvp.nvars[*p].name == name);
    let report = unzip::explain(&stages.derivatives, stages.jvp, Policy::Default).unwrap();
    let mut found = Vec::new();
    for value in report.avoided {
        let array = value.how.strip_prefix("computed again by an index of ");
        if array.is_some_and(|array| !is_parameter(array)) {
            found.push(value.name);
        }
    }
    found
}

/// A matrix with a dominant diagonal, symmetric if asked for.
fn matrix(n: usize, symmetric: bool) -> Value {
    let cell = |i: usize, j: usize| ((3 * i + 7 * j) % 11) as f64 / 11.0 + 0.1;
    let at = |i: usize, j: usize| {
        let cell = if symmetric { cell(i.min(j), i.max(j)) } else { cell(i, j) };
        if i == j { n as f64 + cell } else { cell }
    };
    Value::matrix(n, n, (0..n * n).map(|k| at(k / n, k % n)).collect::<Vec<_>>()).unwrap()
}

fn vector(n: usize) -> Value {
    Value::floats((0..n).map(|k| 0.3 + (k * k % 5) as f64 * 0.2).collect::<Vec<_>>())
}

const CHOLESKY: &str = "
def f[n](a: [n, n]f64) -> f64 = {
  var l = a
  for (j < n) {
    for (k < j) { for (j <= i < n) { l[i, j] -= l[i, k] * l[j, k] } }
    d = sqrt(l[j, j])
    for (j <= i < n) { l[i, j] /= d }
  }
  sum (i < n) { log(l[i, i]) }
}";

#[test]
fn both_factors_of_a_product_in_a_cholesky_factorisation() {
    for n in [1, 2, 5] {
        assert_eq!(read_again(CHOLESKY, &[matrix(n, true)]), ["t", "t_1", "t_7"]);
    }
}

#[test]
fn multipliers_and_pivots_of_an_elimination() {
    let text = "
def f[n](a: [n, n]f64) -> f64 = {
  var u = a
  for (k < n) {
    for (k + 1 <= i < n) {
      u[i, k] = u[i, k] / u[k, k]
      for (k + 1 <= j < n) { u[i, j] -= u[i, k] * u[k, j] }
    }
  }
  sum (i < n) { sum (j < n) { sin(u[i, j]) * f64(i + 2 * j) } }
}";
    for n in [1, 2, 5] {
        assert_eq!(read_again(text, &[matrix(n, false)]), ["t_3", "t_5", "t_6"]);
    }
}

#[test]
fn substitution_from_either_end() {
    let forwards = "
def f[n](l: [n, n]f64, b: [n]f64) -> f64 = {
  var x = b
  for (i < n) {
    for (k < i) { x[i] -= l[i, k] * x[k] }
    x[i] /= l[i, i]
  }
  sum (i < n) { x[i]^3 }
}";
    let downwards = "
def f[n](l: [n, n]f64, b: [n]f64) -> f64 = {
  var x = b
  for (n > i >= 0) {
    for (i + 1 <= k < n) { x[i] -= l[i, k] * x[k] }
    x[i] /= l[i, i]
  }
  sum (i < n) { x[i]^3 }
}";
    for n in [1, 4] {
        let args = [matrix(n, false), vector(n)];
        assert!(!read_again(forwards, &args).is_empty());
        assert!(!read_again(downwards, &args).is_empty());
    }
}

#[test]
fn what_a_step_writes_is_what_later_steps_have_read() {
    // What `exp` has for a slope is the number that it writes.
    let text = "
def f[n](a: f64, x0: [n]f64) -> f64 = {
  var x = x0
  for (1 <= i < n) { x[i] = exp(a * x[i - 1]) - x[i] }
  sum (i < n) { x[i]^2 }
}";
    assert!(!read_again(text, &[Value::F64(0.3), vector(5)]).is_empty());
    let text = text.replace("- x[i]", "");
    let stored = read_again(&text, &[Value::F64(0.3), vector(5)]);
    assert_eq!(stored.len(), 2, "the cell before, and the one that is written: {stored:?}");
}

#[test]
fn what_is_changed_later_is_stored() {
    let sweeps = "
def f[n](x0: [n]f64) -> f64 = {
  var x = x0
  for (t < n) { for (1 <= i < n) { x[i] = x[i] * x[i - 1] + 0.1 } }
  sum (i < n) { x[i]^2 }
}";
    let ahead = "
def f[n](x0: [n]f64) -> f64 = {
  var x = x0
  for (i < n - 1) { x[i] = x[i] * x[i + 1] }
  sum (i < n) { x[i]^2 }
}";
    let same_column = "
def f[n](a: [n, n]f64) -> f64 = {
  var l = a
  for (j < n) { for (k <= j) { for (i < n) { l[i, j] = l[i, j] - l[i, k] * l[j, k] } } }
  sum (i < n) { l[i, i]^2 }
}";
    let behind = "
def f[n](a: [n, n]f64) -> f64 = {
  var l = a
  for (j < n) {
    for (k < j) { for (i < n) { l[i, j] -= l[i, k] * l[j, k] } }
    for (i < n) { l[j, i] = l[j, i] * 0.5 }
  }
  sum (i < n) { l[i, i]^2 }
}";
    let at_data = "
def f[n](x0: [n]f64, at: [n]i64) -> f64 = {
  var x = x0
  for (i < n) { x[at[i]] = x[i] * x[i] }
  sum (i < n) { x[i]^2 }
}";
    assert_eq!(read_again(sweeps, &[vector(4)]), [""; 0]);
    assert_eq!(read_again(ahead, &[vector(4)]), [""; 0]);
    assert_eq!(read_again(same_column, &[matrix(4, true)]), [""; 0]);
    assert_eq!(read_again(behind, &[matrix(4, true)]), [""; 0]);
    let at = Value::ints(vec![2, 0, 1, 1]);
    let found = read_again(at_data, &[vector(4), at]);
    assert!(found.iter().all(|name| !name.starts_with("t_")), "{found:?}");
}

#[test]
fn a_branch_may_make_the_next_version_and_one_that_makes_another_array_ends_the_chain() {
    let text = |other: &str| {
        format!(
            "
def f[n](l: [n, n]f64, b: [n]f64) -> f64 = {{
  x = for (i < n) carry (x = b) {{
    y = for (k < i) carry (x = x) {{ x with [i] = x[i] - l[i, k] * x[k] }}
    if l[i, i] > 0.5 {{ y with [i] = y[i] / l[i, i] }} else {{ {other} }}
  }}
  sum (i < n) {{ x[i]^3 }}
}}"
        )
    };
    let args = [matrix(4, false), vector(4)];
    assert!(!read_again(&text("y"), &args).is_empty());
    let before = read_again(&text("b"), &args);
    assert_eq!(before, [""; 0], "an array from elsewhere has other cells");
    // A cell of the version before: what the update wrote is not what the loop ends with.
    assert_eq!(read_again(&text("x"), &args), [""; 0]);
}

#[test]
fn few_cells_of_a_large_array_are_stored() {
    let text = "
def f[n](x0: [n]f64) -> f64 = {
  var x = x0
  for (i < 3) { x[i + 1] = sin(x[i]) * x[i] }
  sum (i < n) { x[i]^2 }
}";
    assert_eq!(read_again(text, &[vector(6)]), [""; 0]);
}

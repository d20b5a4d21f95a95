//! Large records are boxed: what a chain of functions keeps for its derivatives does not double from
//! one to the next, and what boxes hold comes back as it was.

use crate::support::{agree, agree_on_derivatives, func, load};
use jut_ad::{Derivatives, Mask, Policy, compose};
use jut_eval::Value;
use jut_loop::{lower, print};

/// `f0(x)`, then functions that call the one before twice, with bodies too large to be inlined.
fn chain(k: usize) -> String {
    let mut text = "def f0(x: f64) -> f64 = sin(x) * x\n".to_string();
    for i in 1..=k {
        text += &format!(
            "def f{i}(x: f64) -> f64 = {{\n  a = f{p}(sin(x))\n  b = f{p}(cos(a) - x)\n  \
             exp(-(a * b)^2) + tanh(b)\n}}\n",
            p = i - 1
        );
    }
    text
}

/// The size of the text of the loop form of the gradient, without any inlining.
fn loop_text(k: usize) -> usize {
    let program = load(&chain(k));
    let id = func(&program, &format!("f{k}"));
    let mask = Mask::full(&program, id);
    let mut d = Derivatives::new(program);
    let root = compose::value_and_grad(&mut d, id, &mask, Policy::Default).unwrap();
    let lowered = lower(&d.program, root).unwrap();
    print::print_program(&lowered.program).len()
}

#[test]
fn a_chain_of_calls_comes_back_through_boxes() {
    let text = chain(6);
    assert!(print::print_program(&lowered(&text, "f6")).contains("word["), "there are boxes");
    agree_on_derivatives(&text, "f6", &[Value::F64(0.3)]);
}

fn lowered(text: &str, name: &str) -> jut_loop::form::LoopProgram {
    let program = load(text);
    let id = func(&program, name);
    let mask = Mask::full(&program, id);
    let mut d = Derivatives::new(program);
    let root = compose::value_and_grad(&mut d, id, &mask, Policy::Default).unwrap();
    lower(&d.program, root).unwrap().program
}

#[test]
fn the_loop_form_of_a_chain_grows_linearly_with_its_length() {
    let [a, b, c] = [10, 20, 40].map(loop_text);
    assert!(b < 5 * a / 2 && c < 5 * b / 2, "{a}, {b}, {c} bytes");
}

/// A record of 20 floats, an array and its size, in a loop, a branch and an array of records.
const LARGE: &str = "
data Small = Small(p: f64, m: i64, v: [m]f64)
data Large = Large(a: f64, b: f64, c: f64, d: f64, e: f64, f: f64, g: f64, h: f64, i: f64, j: f64,
  k: f64, l: f64, m: f64, n: f64, t: bool, q: i64, w: [q]f64, s: Small)
data Either = Left(l: Large) | Right(x: f64, r: Large) | Neither

def large(x: f64, n: i64) -> Large = {
  w = build (k < n) { x + f64(k) }
  v = build (k < n) { x * f64(k) }
  Large(x, 2.0 * x, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0, 13.0, sin(x), x > 0.5, n, w,
    Small(x, n, v))
}

def weight(g: Large) -> f64 = {
  Large(a, b, c, d, e, f, g, h, i, j, k, l, m, n, t, q, w, s) = g
  Small(p, r, v) = s
  sign = if t { 1.0 } else { -1.0 }
  sign * (a + b * n) + sum (k < q) { w[k] } + sum (k < r) { v[k] * p }
}

def either(x: f64, n: i64) -> Either =
  if n == 0 { Neither() } else if n % 2 == 0 { Left(large(x, n)) } else { Right(x, large(-x, n)) }

def measure(e: Either) -> f64 = case e {
  Left(l) -> weight(l)
  Right(x, r) -> x - weight(r)
  Neither -> 0.125
}
";

#[test]
fn boxes_hold_records_sums_arrays_and_truth_values() {
    let text = format!(
        "{LARGE}
def all(x: f64, n: i64) -> f64 = {{
  es = build (k < n) {{ either(x + f64(k), k) }}
  last = for (k < n) carry (e = Neither()) {{ either(x / f64(k + 1), k + 1) }}
  sum (e <- es) {{ measure(e) }} + measure(last)
}}"
    );
    let program = load(&text);
    for n in [0, 1, 2, 7] {
        for x in [0.3, 0.7] {
            agree(&program, "all", &[Value::F64(x), Value::I64(n)]).unwrap();
        }
    }
}

#[test]
fn a_large_record_stays_flat_where_callers_see_it() {
    let program = load(&format!("{LARGE}\ndef f(g: Large) -> f64 = weight(g)"));
    let signature = lower(&program, func(&program, "f")).unwrap().signature;
    assert_eq!(signature.params[0].components.len(), 20);
}

#[test]
fn the_tape_of_a_branch_in_a_loop_may_be_boxed() {
    let mut body = String::from("y = sin(x[i])\n");
    for k in 0..12 {
        body += &format!("    y = exp(-y * x[i]) + sin(y * {k}.5)\n");
    }
    let text = format!(
        "def f[n](x: [n]f64) -> f64 = sum (i < n) {{\n  if x[i] > 0.0 {{\n    {body}    y\n  }} \
         else {{ if x[i] < -0.5 {{ x[i]^3 }} else {{ sum (j < i) {{ cos(x[j] * x[i]) }} }} }}\n}}"
    );
    let x = Value::floats(vec![0.5, -0.25, -0.75, 0.125, -0.3]);
    agree_on_derivatives(&text, "f", &[x]);
    agree_on_derivatives(&text, "f", &[Value::floats(vec![])]);
}

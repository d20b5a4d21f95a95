//! Derivatives of values of sum types: the tangent of a sum is the tuple of the tangents of all its
//! constructors. First and second order, in every nesting, against differences.

use crate::common::{call, parse};
use jut_ad::{Derivatives, Mask, Policy, compose};
use jut_eval::{Interpreter, Value};
use jut_ir::Program;
use jut_ir::check::check_program;

const SHAPES: &str = "
data Inner = P(u: f64, v: [2]f64) | Q
data Figure = Circle(r: f64) | Box(w: f64, k: i64, h: f64) | Empty | Deep(i: Inner, t: #(f64, bool))

def make(kind: i64, a: f64, b: f64) -> Figure =
  if kind == 0 { Circle(a * b) }
  else if kind == 1 { Box(sin(a), 3, b + a) }
  else if kind == 2 { Empty() }
  else { Deep(if a > 0.0 { P(a, [b, a * a]) } else { Q() }, #(b, true)) }

def area(s: Figure, f: f64) -> f64 = case s {
  Circle(r) -> f * r * r
  Box(w, k, h) -> w * h * f64(k) + f
  Empty -> 0.25 * f
  Deep(i, t) -> {
    inner = case i { P(u, v) -> { u * v[0] + exp(v[1]) }; Q -> 1.5 }
    inner * t.0 + f
  }
}
";

fn program(body: &str) -> Program {
    parse(&format!("{SHAPES}{body}"))
}

fn agrees(body: &str, before: &[Value], x: &[f64]) {
    crate::common::derivatives_agree(&format!("{SHAPES}{body}"), before, x);
}

#[test]
fn a_sum_made_and_taken_apart() {
    let body = "def f[n](kind: i64, x: [n]f64) -> f64 = area(make(kind, x[0], x[1]), x[2])";
    for kind in 0..4 {
        for a in [0.75, -0.5] {
            agrees(body, &[Value::I64(kind)], &[a, 0.3, -1.25]);
        }
    }
}

#[test]
fn arrays_of_sums() {
    let body = "def f[n](k: i64, x: [n]f64) -> f64 = {
      shapes = build (i < n) { make((i + k) % 4, x[i], x[0]) }
      twice = sum (s <- shapes) { area(s, x[1]) }
      twice * twice + sum (i < n - 1) { area(shapes[i + 1], x[i]) }
    }";
    for k in 0..4 {
        agrees(body, &[Value::I64(k)], &[0.75, -0.5, 0.3, 1.25, -0.2]);
    }
}

#[test]
fn a_sum_that_a_loop_carries() {
    let body = "def f[n](k: i64, x: [n]f64) -> f64 = {
      last = for (i < k) carry (s = Empty()) {
        a = area(s, x[0])
        make((i * 3 + 1) % 4, a, x[i % n])
      }
      area(last, x[1])
    }";
    for k in [0, 1, 2, 5] {
        agrees(body, &[Value::I64(k)], &[0.75, -0.5, 0.3]);
    }
}

#[test]
fn a_sum_that_is_a_parameter_has_the_gradients_of_all_its_parts() {
    let source = program("def g(s: Figure) -> f64 = area(s, 2.0)");
    let g = source.find_func("g").unwrap();
    let shape = match source.find_func("make") {
        Some(make) => {
            let args = [Value::I64(1), Value::F64(0.5), Value::F64(0.25)];
            Interpreter::new(&source).call(make, &args, &[], &[]).unwrap().results
        }
        None => Vec::new(),
    };
    let mut d = Derivatives::new(source);
    let mask = Mask::full(&d.program, g);
    let gradient = compose::grad(&mut d, g, &mask, Policy::Default).unwrap();
    check_program(&d.program).unwrap();
    let found = call(&d.program, gradient, &shape);
    // Of Box(w, 3, h) it is 3 h and 3 w, for all others 0.
    let (w, h) = (0.5f64.sin(), 0.75);
    assert_eq!(found, [0.0, 3.0 * h, 3.0 * w, 0.0, 0.0, 0.0, 0.0]);
}

#[test]
fn the_tape_of_a_branch_has_a_derivative() {
    let body = "def f[n](k: i64, x: [n]f64) -> f64 = sum (i < n) {
      if x[i] > 0.5 { exp(x[i]) * sin(x[0]) } else if i == k { x[i]^3 } else { cos(x[i] * x[1]) }
    }";
    agrees(body, &[Value::I64(1)], &[0.75, -0.5, 0.3, 1.25]);
}

//! Derivatives of values of sum types: the tangent of a sum is the tuple of the tangents of all its
//! constructors. First and second order, in every nesting, against differences.

mod common;

use common::{parse, run, stages};
use jut_ad::{Derivatives, Mask, Policy, compose};
use jut_eval::{Interpreter, Value};
use jut_ir::check::check_program;
use jut_ir::print::print_program;
use jut_ir::{FuncId, Program};

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

fn call(program: &Program, func: FuncId, args: &[Value]) -> Vec<f64> {
    let interpreter = Interpreter::new(program);
    let all = interpreter.with_sizes(func, args).unwrap();
    let outcome = interpreter.call(func, &all, &[], &[]).unwrap_or_else(|e| panic!("{e}"));
    let mut floats = Vec::new();
    outcome.results.iter().for_each(|v| v.for_each_f64(&mut |x| floats.push(x)));
    floats
}

/// Derivatives with respect to `x: [n]f64`, the last argument, of a function of one result.
fn agrees(body: &str, before: &[Value], x: &[f64]) {
    let source = program(body);
    let f = source.find_func("f").unwrap();
    for policy in Policy::ALL {
        let stages = stages(&source, "f", policy);
        let mut all = before.to_vec();
        all.push(Value::floats(x.to_vec()));
        let all = Interpreter::new(&source).with_sizes(f, &all).unwrap();
        let run = run(&stages, &all, &mut fastrand::Rng::with_seed(7));
        let (left, _) = common::dot(&run.lin.linear, &run.cotangents);
        let mut inputs = run.tangents.clone();
        inputs.extend(run.reads.clone());
        let mut outputs = run.transposed.linear.clone();
        outputs.extend(run.transposed.buffers.clone());
        let (right, size) = common::dot(&outputs, &inputs);
        assert!((left - right).abs() <= 1e-12 * (1.0 + size), "{left} {right}");
    }
    let mut d = Derivatives::new(source);
    let mask = Mask::full(&d.program, f);
    let value = compose::value_and_grad(&mut d, f, &mask, Policy::Default).unwrap();
    let gradient = compose::grad(&mut d, f, &mask, Policy::Default).unwrap();
    let arguments = |x: &[f64]| {
        let mut all = before.to_vec();
        all.push(Value::floats(x.to_vec()));
        all
    };
    let differences = |program: &Program, of: FuncId, k: usize| {
        let moved = |by: f64| {
            let mut x = x.to_vec();
            x[k] += by;
            call(program, of, &arguments(&x))
        };
        let h = 1e-5;
        let ends: Vec<f64> =
            moved(h).iter().zip(moved(-h)).map(|(a, b)| (a - b) / (2.0 * h)).collect();
        ends
    };
    let close = |a: f64, b: f64| (a - b).abs() <= 1e-6 * (1.0 + a.abs().max(b.abs()));
    let found = call(&d.program, value, &arguments(x));
    assert_eq!(found[0], call(&d.program, f, &arguments(x))[0]);
    for k in 0..x.len() {
        let expected = differences(&d.program, f, k)[0];
        assert!(close(found[1 + k], expected), "{k}: {} is not {expected}", found[1 + k]);
    }
    // Second order: reverse over forward, forward over reverse.
    let direction: Vec<f64> = (0..x.len()).map(|k| ((k * 7 + 3) % 5) as f64 - 1.5).collect();
    let mut expected = vec![0.0; x.len()];
    for (k, along) in direction.iter().enumerate() {
        for (sum, row) in expected.iter_mut().zip(differences(&d.program, gradient, k)) {
            *sum += along * row;
        }
    }
    let product = compose::hessian_product(&mut d, f, &mask, Policy::Default).unwrap();
    let mut all = arguments(x);
    all.push(Value::floats(direction.clone()));
    let reverse_over_forward = call(&d.program, product, &all);
    let plain = jut_opt::optimise(&d.program, gradient, false);
    let mut d2 = Derivatives::new(plain);
    let mask = Mask::full(&d2.program, gradient);
    let over = compose::jvp(&mut d2, gradient, &mask).unwrap();
    if let Err(errors) = check_program(&d2.program) {
        panic!("{errors:#?}\n{}", print_program(&d2.program));
    }
    let forward_over_reverse = call(&d2.program, over, &all);
    let forward_over_reverse = &forward_over_reverse[x.len()..];
    for k in 0..x.len() {
        assert!(close(reverse_over_forward[k], expected[k]), "reverse over forward, {k}");
        assert!(close(forward_over_reverse[k], expected[k]), "forward over reverse, {k}");
    }
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

//! Tape policies in the text: every stage is one that the checker accepts, values and derivatives have the bits that they
//! have without, and the tape holds what is asked for.

use crate::common::{parse, stages};
use jut_ad::{Derivatives, Mask, Policy, compose, unzip};
use jut_eval::{Interpreter, Value};
use jut_ir::check::check_program;

/// Value and gradient of `f` at some arguments (sizes included), as bits.
fn gradient(text: &str, args: &[Value], policy: Policy) -> Vec<u64> {
    let program = parse(text);
    let f = program.find_func("f").unwrap();
    let mask = Mask::full(&program, f);
    let mut d = Derivatives::new(program);
    let root = compose::value_and_grad(&mut d, f, &mask, policy).unwrap();
    check_program(&d.program).unwrap_or_else(|e| panic!("{e:?}"));
    let interpreter = Interpreter::new(&d.program);
    let outcome = interpreter.call(root, args, &[], &[]).unwrap_or_else(|e| panic!("{e}"));
    let mut bits = Vec::new();
    outcome.results.iter().for_each(|v| v.for_each_f64(&mut |x| bits.push(x.to_bits())));
    bits
}

/// The text with a policy in the place of `POLICY`.
fn under(text: &str, policy: &str) -> String {
    text.replace("POLICY", policy)
}

/// Everything holds under some policies, and the bits are those without.
fn same(text: &str, policies: &[&str], args: &[Value]) {
    let plain = under(text, "");
    for policy in policies {
        let with = under(text, policy);
        for global in [Policy::Default, Policy::Minimal] {
            stages(&parse(&with), "f", global);
            assert_eq!(
                gradient(&with, args, global),
                gradient(&plain, args, global),
                "{policy} {global:?}"
            );
        }
    }
}

const SCHEDULES: [&str; 6] =
    ["@segment(1)", "@segment(4)", "@segment(100)", "@levels(1)", "@levels(2)", "@levels(3)"];

#[test]
fn a_loop_in_segments_has_the_bits_of_the_loop() {
    let text = "
def f(n: i64, a: f64, b: f64, y0: f64) -> f64 = {
  (x, y) = POLICY for (i < n) carry (x = 1.0, y = y0) {
    t = f64(i) * 0.1
    (x + 0.01 * (a * x - b * x * y + t), y + 0.01 * (x * y - sin(y)))
  }
  x * y
}";
    for n in [-3, 0, 1, 4, 5, 23] {
        let args = [Value::I64(n), Value::F64(1.1), Value::F64(0.4), Value::F64(0.7)];
        same(text, &SCHEDULES, &args);
    }
}

#[test]
fn arrays_captured_and_carried_and_loops_and_branches_in_the_body() {
    let text = "
def f[n](m: i64, x: [n]f64, w: [n]f64) -> f64 = {
  s = sum (i < n) { w[i] * w[i] }
  (u, e) = POLICY for (m > k >= 0) carry (u = x, e = 1.0) {
    v = build (i < n) { u[i] + 0.1 * sin(u[i] * w[i]) * s }
    inner = for (j < k) carry (a = e) { a * 0.9 + 0.01 * exp(a) }
    g = if inner > 0.5 { inner * x[0] } else { sin(inner) }
    (v, g)
  }
  e * sum (i < n) { u[i] }
}";
    let x = Value::floats(vec![0.3, -0.4, 0.9]);
    let w = Value::floats(vec![1.3, 0.2, -0.7]);
    for m in [0, 1, 7] {
        same(text, &SCHEDULES, &[Value::I64(3), Value::I64(m), x.clone(), w.clone()]);
    }
}

#[test]
fn what_a_segment_adds_to_sums_is_added_once() {
    let text = "
def f(n: i64, a: f64) -> f64 = {
  (x, total) = acc s: f64 {
    x = POLICY for (i < n) carry (x = a) { s += x * x; x - 0.1 * sin(x) }
    x
  }
  x + total
}";
    same(text, &SCHEDULES, &[Value::I64(9), Value::F64(0.8)]);
}

#[test]
fn a_variable_that_a_loop_assigns_is_what_it_carries() {
    let text = "
def f(n: i64, a: f64) -> f64 = {
  var x = a
  POLICY for (i < n) { x = x - 0.1 * sin(x) }
  x
}";
    same(text, &SCHEDULES, &[Value::I64(9), Value::F64(0.8)]);
}

#[test]
fn loops_sums_branches_and_calls_are_run_again() {
    let text = "
def g(x: f64, y: f64) -> f64 = sin(x * y) * exp(x)
def f[n](x: [n]f64, a: f64) -> f64 = {
  s = POLICY sum (i < n) { sin(x[i] * a) }
  y = POLICY build (i < n) { exp(x[i] * s) }
  t = POLICY if s > 0.0 { sin(s) * y[0] } else { s }
  z = POLICY g(t, a)
  z + for (i < n) carry (c = z) { c * y[i] }
}";
    same(
        text,
        &["@recompute", "@store"],
        &[Value::I64(2), Value::floats(vec![0.3, 0.8]), Value::F64(0.8)],
    );
}

fn tape(text: &str) -> Vec<String> {
    let stages = stages(&parse(text), "f", Policy::Default);
    let Some(data) = stages.halves.tape else { return Vec::new() };
    let fields = &stages.program().datas[data].constructors[0].fields;
    fields.iter().map(|f| f.name.to_string()).collect()
}

#[test]
fn values_are_stored_or_computed_again_as_the_text_says() {
    let text = |c: &str, d: &str| {
        format!("def f(x: f64) -> f64 = {{ c = {c} exp(x); d = {d} c * x; sin(d) * d }}")
    };
    assert!(tape(&text("", "")).contains(&"c".to_string()));
    // What `sin` has for a slope is not in the expression.
    assert_eq!(tape(&text("@recompute", "")), ["c_1", "t"]);
    assert!(tape(&text("", "@store")).contains(&"d".to_string()));
    let all = "def f(x: f64) -> f64 = { c = @recompute exp(x); @recompute sin(c) * c }";
    assert_eq!(tape(all), Vec::<String>::new());
}

#[test]
fn the_tape_of_a_loop_in_segments_holds_the_state_at_their_starts() {
    let text = "
def f(n: i64, a: f64) -> f64 = @segment(10) for (i < n) carry (x = a) { sin(x) * exp(x) }";
    let stages = stages(&parse(text), "f", Policy::Default);
    let data = stages.halves.tape.unwrap();
    let fields = &stages.program().datas[data].constructors[0].fields;
    assert_eq!(fields.iter().filter(|f| !f.ty.is_scalar()).count(), 1, "{}", stages.text());
}

#[test]
fn the_report_says_what_is_run_again_and_what_that_takes_at_most() {
    let text = "
def f(n: i64, a: f64) -> f64 = POLICY for (i < n) carry (x = a) { sin(x) * exp(x) }";
    let peak = |policy: &str| {
        let stages = stages(&parse(&under(text, policy)), "f", Policy::Default);
        let report = unzip::explain(&stages.derivatives, stages.jvp, Policy::Default).unwrap();
        assert_eq!(report.to_string().contains("run again"), !policy.is_empty());
        report.peak(&|_| Some(1_000_000)).unwrap()
    };
    let whole = peak("");
    // The states of a thousand segments, and the tape of one of a thousand iterations.
    assert!(peak("@segment(1000)") < whole / 200, "{} {whole}", peak("@segment(1000)"));
    assert_eq!(
        peak("@levels(2)"),
        peak("@segment(1000)") + 16,
        "the length of a segment is stored too, and how many fit: a division by what is not written down"
    );
    assert!(peak("@levels(3)") < whole / 1000, "{} {whole}", peak("@levels(3)"));
}

#[test]
fn a_loop_that_is_computed_again_adds_in_the_same_order_however_many_numbers_it_reads() {
    for count in [1, 12, 13, 40] {
        let names: Vec<String> = (0..count).map(|k| format!("a{k}")).collect();
        let parameters: Vec<String> = names.iter().map(|a| format!("{a}: f64")).collect();
        let terms: Vec<String> =
            names.iter().map(|a| format!("cos({a} * f64(i) * 0.37)")).collect();
        let (parameters, terms) = (parameters.join(", "), terms.join(" + "));
        let mut args = vec![Value::I64(37)];
        args.extend((0..count).map(|k| Value::F64(0.3 + 0.11 * f64::from(k))));
        let alone = format!("POLICY sum (i < n) {{ exp(0.1 * ({terms})) }}");
        let bodies = [
            alone.clone(),
            format!("s = {alone}\n s * s"),
            format!("y = POLICY build (i < n) {{ sin({terms}) }}\n sum (v <- y) {{ v * v }}"),
        ];
        for body in bodies {
            let text = format!("def f(n: i64, {parameters}) -> f64 = {{\n {body}\n}}");
            same(&text, &["@recompute"], &args);
        }
    }
}

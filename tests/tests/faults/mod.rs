//! The laws notice: faults of the kinds that passes, optimiser and lowering could have, put into what
//! they make, one at a time; each is caught, and by the law that the table says.
//!
//! A fault is an edit of one statement of a stage: the first statement of the stage that it applies
//! to. No product code knows of them. That the same programs obey all laws without a fault is tested
//! first.

mod edits;
mod memory;

use edits::*;
use jut_eval::Value;
use jut_ir::{FuncId, Program};
use jut_loop::form::LoopProgram;
use jut_tests::engines::{agree, agree_with, backends};
use jut_tests::laws::{Options, Pass, verify, verify_with};
use memory::*;
use std::cell::Cell;

const PROGRAMS: &[(&str, &str)] = &[
    (
        "scores",
        "def f[n](w: [n]f64, x: [n]f64) -> f64 = {
  s = dot(w, x)
  t = sum (i < n) { x[i] * x[i] - w[i] }
  exp(s * 0.1) * t - s * s
}",
    ),
    ("scalar", "def f(x: f64, y: f64) -> f64 = { z = x * y; sin(z) * x - z / y - cos(x) }"),
    ("branch", "def f(x: f64, y: f64) -> f64 = if x > 0.0 { sin(x) * y } else { cos(y) + x }"),
    (
        "power",
        "def f(x: f64, y: f64) -> f64 = for (i < 6) carry (a = y) { sin(a) * x + a * f64(i) }",
    ),
    ("start", "def f(x: f64, y: f64) -> f64 = for (i < 6) carry (a = 1.0) { a * x + y }"),
    ("gather", "def f[n, m](x: [n]f64, ix: [m]i64) -> f64 = sum (i < m) { x[ix[i]] * x[0] }"),
    (
        "scatter",
        "def f[n, m](x: [n]f64, ix: [m]i64) -> f64 = sum (i < m) { sin(x[ix[i]]) * f64(i) }",
    ),
    (
        "update",
        "def f[n, m](x: [n]f64, ix: [m]i64) -> f64 = {
  a = for (i < m) carry (a = x) { k = ix[i]; a with [k] = sin(a[k]) * a[0] }
  a[0] * a[3] + a[7]
}",
    ),
    (
        "elimination",
        "def f[n](x: [n]f64) -> f64 = {
  var y = x
  for (i < n) { for (k < i) { y[i] -= 0.5 * y[k] * y[k] } }
  sum (i < n) { y[i] * y[i] }
}",
    ),
    ("wrong index", "def f[n, m](x: [n]f64, ix: [m]i64) -> f64 = sum (i < m) { x[ix[i]] }"),
    ("sum", "def f[n](x: [n]f64) -> f64 = sum (i < n - 1) { sin(x[i]) * x[i + 1] - x[i] }"),
    (
        "recursion",
        "def f(x: f64, y: f64) -> f64 = if x + y > 3.0 { x - y } else { sin(x) * f(x + 0.5, y + 0.75) - x * y }",
    ),
    (
        "list",
        "data List = Nil | Cons(head: i64, tail: List)
def grown(k: i64) -> List = if k == 0 { Nil() } else { Cons(k, grown(k - 1)) }
def total(l: List, x: f64) -> f64 = case l {
  Nil -> x
  Cons(k, rest) -> x * f64(k) - total(rest, x * x)
}
def f(x: f64, y: f64) -> f64 = total(grown(3), x * y) - total(grown(2), y) * x",
    ),
    (
        "tree",
        "data Tree = Leaf(x: f64) | Node(l: Tree, r: Tree)
def total(t: Tree) -> f64 = case t { Leaf(x) -> sin(x); Node(l, r) -> total(l) - total(r) * 0.5 }
def f(x: f64, y: f64) -> f64 = {
  t = Node(Leaf(x * y), Node(Leaf(y), Leaf(x)))
  case t {
    Leaf(a) -> a
    Node(l, r) -> { a = total(l); b = total(r); a * a - b }
  }
}",
    ),
    (
        "while",
        "def f(x: f64, y: f64) -> f64 = {
  var a = x
  while a * a > 0.02 { a = sin(a) * (y * 0.5 - x) }
  a - y * x
}",
    ),
    (
        "rule",
        "def g(x: f64, y: f64) -> f64 = sin(x) * y
def g_tangent(x: f64, y: f64, dx: f64, dy: f64) -> f64 = cos(x) * y * dx + sin(x) * dy
rule jvp g = g_tangent
def f(x: f64, y: f64) -> f64 = g(x * y, y) - g(y, x)",
    ),
    (
        "pullback",
        "def g[n](v: [n]f64) -> f64 = sqrt(sum (e <- v) { e * e })
def g_pullback[n](v: [n]f64, dy: f64) -> [n]f64 = { r = g(v); for (e <- v) { dy * e / r } }
rule vjp g = g_pullback
def f(x: f64, y: f64) -> f64 = g([x, y, x * y]) - x",
    ),
    (
        "derivative",
        "def f(x: f64, y: f64) -> f64 = {
  d = grad(fn (z) -> sin(z * y) * z - z)(x)
  d * x - y
}",
    ),
    (
        "states",
        "def f[n](x: [n]f64) -> f64 = {
  u = for (t < 9) carry (u = x) { build (i < n) { if i == 0 { u[0] } else { u[i] - sin(u[i - 1]) } } }
  sum (v <- u) { v * v }
}",
    ),
    (
        "edges",
        "def f[n](x: [n]f64) -> f64 = {
  u = build (i < 3) { build (j < n) { if i == 1 || j == 0 { x[j] } else { sin(x[j - 1]) * f64(i) } } }
  sum (r <- u) { sum (v <- r) { v * v } }
}",
    ),
    (
        "ordered",
        "def f(x: f64, y: f64) -> f64 = for (i < 30) carry (s = x) { s + (sin(y * f64(i)) * 3.0 - y) * x }",
    ),
    (
        "lent",
        "def f[n](x: [n]f64) -> f64 = {
  (s, v) = for (i < n) carry (s = 0.0, v = x) {
    w = if i == 2 { build (j < n) { v[j] * sin(v[j]) } } else { v }
    (s + v[i], w)
  }
  s * v[1] + v[0]
}",
    ),
    (
        "recurrence",
        "def f[n](x: [n]f64) -> f64 = {
  y = for (i < n) { if i == 0 { sin(x[0]) } else { x[i] - 0.5 * y[i - 1] * x[0] } }
  y[n - 1] * y[2] - y[4]
}",
    ),
    (
        "segments",
        "def f(x: f64, y: f64) -> f64 = @segment(4) for (i < 10) carry (a = y) { sin(a) * x - a * f64(i) * 0.1 }",
    ),
    (
        "checkpoints",
        "def f(x: f64, y: f64) -> f64 = @revolve(2) for (i < 10) carry (a = y) { sin(a) * x - a * f64(i) * 0.1 }",
    ),
    (
        "along",
        "def f[n](x: [n]f64) -> f64 = {
  (s, ys) = @segment(4) scan up (i < n) carry (s = x[0]) slice (e <- x) { (sin(s) * e - 0.1 * s, s * e) }
  s * ys[3] - ys[5]
}",
    ),
    (
        "ends early",
        "def f(x: f64, y: f64) -> f64 = @online(2) for (i < 9) while carry (a = x) a > -2.0 { sin(a) * y - a * f64(i) * 0.1 }",
    ),
    (
        "single",
        "def f(x: f64, y: f64) -> f64 = {
  a = f32(x)
  b = f32(y)
  f64(sin(a * b) - a * exp(b))
}",
    ),
    (
        "pairs",
        "def f(x: f64, y: f64) -> f64 = sum (i < 29) {
  sum (j < 7) { t = sin(x * f64(i) - y * f64(j)); t * t * exp(x) }
}",
    ),
    ("weights", "def f[n](x: [n]f64) -> f64 = sum (i < n) { sum (j < n) { x[i] * exp(x[j]) } }"),
    (
        "rnn",
        "def f[n](x: [n]f64, w: [n, n]f64) -> f64 = {
  h = for (t < 3) carry (h = x) { build (i < n) { tanh(x[i] + sum (j < n) { w[i, j] * h[j] }) } }
  sum (v <- h) { v * v }
}",
    ),
];

fn arguments(program: &str) -> Vec<Value> {
    if program == "scores" {
        let x =
            |phase: f64| -> Vec<f64> { (0..11).map(|k| (f64::from(k) + phase).sin()).collect() };
        return vec![Value::floats(x(0.2)), Value::floats(x(1.7))];
    }
    let x: Vec<f64> = (0..11).map(|k| (k as f64 * 0.7 + 0.2).sin()).collect();
    match program {
        "gather" => vec![Value::floats(x), Value::ints(vec![3, 0, 3, 7])],
        "update" => vec![Value::floats(x), Value::ints(vec![3, 0, 3, 7])],
        "scatter" => vec![Value::floats(x), Value::ints(vec![3, 0, 3, 3, 7, 3, 3])],
        "wrong index" => vec![Value::floats(x), Value::ints(vec![3, 11])],
        "sum" | "states" | "edges" | "lent" | "recurrence" | "along" | "elimination"
        | "weights" => {
            vec![Value::floats(x)]
        }
        "rnn" => vec![
            Value::floats([0.3, -0.4]),
            Value::matrix(2, 2, [0.1, -0.7, 0.4, 0.9]).expect("a matrix"),
        ],
        _ => vec![Value::F64(0.7), Value::F64(-0.4)],
    }
}

fn text(program: &str) -> &'static str {
    PROGRAMS.iter().find(|(name, _)| *name == program).map(|(_, text)| *text).expect("a program")
}

/// Pass, fault, program, and the law that notices first.
const FAULTS: &[(Pass, Edit, &str, &str)] = &[
    (Pass::Forward, drop_a_term, "scalar", "P4"),
    (Pass::Forward, wrong_sign, "scalar", "P4"),
    (Pass::Forward, wrong_factor, "scalar", "P4"),
    (Pass::Forward, lost_tangent, "scalar", "P4"),
    (Pass::Forward, wrong_read, "sum", "P4"),
    (Pass::Forward, lost_part, "update", "P4"),
    (Pass::Forward, no_update, "update", "P4"),
    (Pass::Forward, wrong_part, "update", "P2"),
    (Pass::Forward, half_a_dup, "scalar", "P1"),
    (Pass::Forward, used_twice, "scalar", "P1"),
    (Pass::Forward, missing_check, "gather", "P1"),
    (Pass::Forward, swapped_operands, "scalar", "P2"),
    (Pass::Forward, wrong_function, "scalar", "P2"),
    (Pass::Forward, swapped_arms, "branch", "P2"),
    (Pass::Forward, wrong_direction, "power", "P2"),
    (Pass::Forward, needless_partials, "scalar", "P5"),
    (Pass::Linear, primal_work, "scalar", "P7"),
    (Pass::Twice, lost_tangent, "scalar", "P11"),
    (Pass::Twice, wrong_sign, "scalar", "P11"),
    (Pass::Twice, wrong_direction, "power", "P11"),
    (Pass::NonLinear, stale_tape, "scalar", "P6"),
    (Pass::NonLinear, swapped_tape, "scalar", "P6"),
    (Pass::NonLinear, wrong_function, "scalar", "P6"),
    (Pass::NonLinear, wrong_direction, "power", "P6"),
    (Pass::NonLinear, wrong_element, "gather", "P6"),
    (Pass::NonLinear, missing_check, "gather", "P1"),
    (Pass::NonLinear, wrong_element, "wrong index", "errors"),
    (Pass::NonLinear, wrong_part, "update", "P6"),
    (Pass::Linear, lost_part, "update", "P6"),
    (Pass::Linear, wrong_element, "elimination", "P6"),
    (Pass::Linear, drop_a_term, "scalar", "P6"),
    (Pass::Linear, wrong_sign, "scalar", "P6"),
    (Pass::Linear, wrong_direction, "power", "P6"),
    (Pass::Linear, wrong_read, "rnn", "P6"),
    (Pass::Linear, needless_addition, "scalar", "P6"),
    (Pass::Linear, used_twice, "scalar", "P1"),
    (Pass::Transpose, drop_a_term, "scalar", "P9"),
    (Pass::Transpose, wrong_sign, "scalar", "P9"),
    (Pass::Transpose, wrong_factor, "scalar", "P9"),
    (Pass::Transpose, lost_tangent, "scalar", "P9"),
    (Pass::Transpose, part_not_zero, "update", "P9"),
    (Pass::Transpose, missing_accumulate, "sum", "P9"),
    (Pass::Transpose, accumulated_twice, "sum", "P9"),
    (Pass::Transpose, wrong_place, "sum", "P9"),
    (Pass::Transpose, wrong_direction, "power", "P9"),
    (Pass::Transpose, swapped_results, "scalar", "P9"),
    (Pass::Transpose, needless_addition, "scalar", "P10"),
    (Pass::Transpose, missing_drop, "start", "P1"),
    (Pass::Transpose, half_a_dup, "scalar", "P1"),
    (Pass::Erase, wrong_direction, "power", "P12"),
    (Pass::Erase, wrong_part, "update", "P12"),
    (Pass::Erase, missing_term, "sum", "P12"),
    (Pass::Erase, swapped_operands, "scalar", "P12"),
    (Pass::Erase, wrong_element, "sum", "P12"),
    (Pass::Optimise, wrong_order, "sum", "P15"),
    (Pass::Optimise, wrong_part, "update", "P15"),
    (Pass::Optimise, missing_term, "sum", "P15"),
    (Pass::Optimise, wrong_direction, "power", "P15"),
    (Pass::Optimise, swapped_operands, "scalar", "P15"),
    (Pass::Optimise, needless_work, "sum", "P15"),
    // The two loops of value and gradient, which are one.
    (Pass::Optimise, missing_term, "pairs", "P15"),
    (Pass::Optimise, swapped_sums, "pairs", "P15"),
    (Pass::Optimise, swapped_slices, "pairs", "P15"),
    // The loop of the table that the weights become.
    (Pass::Optimise, wrong_element, "weights", "P15"),
    (Pass::Forward, swapped_arguments, "recursion", "P2"),
    (Pass::Forward, swapped_tangents, "recursion", "P4"),
    (Pass::Forward, call_without_tangent, "recursion", "P4"),
    (Pass::Forward, call_turned_round, "recursion", "P4"),
    (Pass::Forward, swapped_arms, "recursion", "P2"),
    (Pass::NonLinear, swapped_arguments, "recursion", "P6"),
    (Pass::NonLinear, stale_tape, "recursion", "P6"),
    (Pass::Linear, call_without_tangent, "recursion", "P6"),
    (Pass::Transpose, call_turned_round, "recursion", "P9"),
    (Pass::Transpose, call_without_tangent, "recursion", "P9"),
    (Pass::Twice, call_turned_round, "recursion", "P11"),
    (Pass::Erase, swapped_arguments, "recursion", "P12"),
    (Pass::Forward, call_without_tangent, "list", "P4"),
    (Pass::Linear, call_turned_round, "list", "P6"),
    (Pass::Transpose, call_turned_round, "list", "P9"),
    (Pass::Forward, swapped_subtrees, "tree", "P4"),
    (Pass::Linear, swapped_subtrees, "tree", "P6"),
    (Pass::Transpose, swapped_subtrees, "tree", "P9"),
    (Pass::Twice, swapped_subtrees, "tree", "P11"),
    (Pass::Erase, swapped_fields, "tree", "P12"),
    (Pass::Forward, one_round_only, "while", "P2"),
    (Pass::Forward, lost_tangent, "while", "P4"),
    (Pass::NonLinear, one_round_only, "while", "P6"),
    (Pass::Linear, wrong_direction, "while", "P6"),
    (Pass::Linear, one_iteration, "while", "P1"),
    (Pass::Transpose, wrong_direction, "while", "P9"),
    (Pass::Erase, one_round_only, "while", "P12"),
    (Pass::Optimise, one_round_only, "while", "P15"),
    (Pass::Forward, swapped_tangents, "rule", "P4"),
    (Pass::Linear, call_turned_round, "rule", "P6"),
    (Pass::Transpose, call_turned_round, "rule", "P9"),
    (Pass::Erase, swapped_arguments, "rule", "P12"),
    (Pass::Linear, call_turned_round, "pullback", "P6"),
    (Pass::Transpose, call_without_tangent, "pullback", "P9"),
    (Pass::Forward, wrong_factor, "derivative", "P4"),
    (Pass::Forward, swapped_operands, "derivative", "P2"),
    (Pass::Transpose, lost_tangent, "derivative", "P9"),
    (Pass::Erase, swapped_operands, "derivative", "P12"),
    (Pass::Forward, lost_start, "lent", "P4"),
    (Pass::Forward, nothing_given_back, "lent", "P4"),
    (Pass::Linear, nothing_given_back, "lent", "P6"),
    (Pass::Transpose, lost_start, "lent", "P9"),
    (Pass::Twice, nothing_given_back, "lent", "P11"),
    (Pass::Forward, no_update, "recurrence", "P4"),
    (Pass::NonLinear, wrong_part, "recurrence", "P6"),
    (Pass::Linear, lost_part, "recurrence", "P6"),
    (Pass::Transpose, part_not_zero, "recurrence", "P10"),
    (Pass::Optimise, wrong_part, "recurrence", "P15"),
    (Pass::NonLinear, longer_segment, "segments", "P6"),
    (Pass::NonLinear, from_zero, "segments", "P6"),
    (Pass::Linear, from_zero, "segments", "P6"),
    (Pass::Linear, swapped_arguments, "segments", "P6"),
    (Pass::Transpose, wrong_direction, "segments", "P9"),
    (Pass::Linear, call_without_tangent, "checkpoints", "P6"),
    (Pass::Linear, lost_start, "along", "P6"),
    (Pass::Transpose, call_without_tangent, "ends early", "P9"),
    (Pass::Forward, lost_conversion, "single", "P4"),
    (Pass::Linear, lost_conversion, "single", "P6"),
    (Pass::Transpose, lost_conversion, "single", "P9"),
    (Pass::Erase, rounded, "scalar", "P12"),
    (Pass::Optimise, rounded, "scalar", "P15"),
    (Pass::Batch, swapped_operands, "scalar", "P18"),
    (Pass::Batch, wrong_function, "scalar", "P18"),
    (Pass::Batch, swapped_arms, "branch", "P18"),
    (Pass::Batch, wrong_direction, "power", "P18"),
    (Pass::Batch, wrong_element, "gather", "P18"),
    (Pass::Batch, wrong_element, "wrong index", "P18"),
    (Pass::Batch, missing_check, "gather", "P1"),
    (Pass::Batch, missing_term, "sum", "P18"),
    (Pass::Batch, wrong_part, "update", "P18"),
    (Pass::Batch, swapped_slices, "scores", "P18"),
    (Pass::Batch, another_order, "scores", "P18"),
    (Pass::Batch, needless_work, "scores", "P18"),
];

/// Faults in what U makes of a loop that is run again: pass, function, fault, program, law.
const PART_FAULTS: &[(Pass, &str, Edit, &str, &str)] = &[
    (Pass::Linear, "f.part1.again.lin", call_without_tangent, "segments", "P6"),
    (Pass::Linear, "f.part1.nonlin", from_zero, "segments", "P6"),
    (Pass::Linear, "f.part1.lin", lost_tangent, "segments", "P6"),
    (Pass::NonLinear, "f.part1.values", wrong_function, "segments", "P6"),
    (Pass::Linear, "f.part1.ahead.lin", from_zero, "checkpoints", "P6"),
    (Pass::Linear, "f.part1.ahead.lin", swapped_arguments, "checkpoints", "P6"),
    (Pass::Linear, "f.part1.revolve.lin", call_without_tangent, "checkpoints", "P6"),
    (Pass::Linear, "f.part2.lin", first_place, "along", "P6"),
    (Pass::Linear, "f.part2.ahead.lin", from_zero, "ends early", "P6"),
    (Pass::NonLinear, "f.part1.values", one_round_only, "ends early", "P6"),
];

/// Faults of lowering; P16 notices all of them.
const LOOP_FAULTS: &[(&str, LoopEdit, &str)] = &[
    ("wrong direction", loop_direction, "power"),
    ("missing store", loop_without_store, "rnn"),
    ("missing update", loop_without_store, "update"),
    ("updates in any order", loop_made_parallel, "update"),
    ("missing check", loop_without_check, "wrong index"),
    ("missing zeros", loop_without_fill, "sum"),
    ("one lane", loop_with_one_lane, "sum"),
    ("one trip short", loop_one_trip_short, "sum"),
    ("wrong cell", loop_cell_zero, "sum"),
    ("swapped operands", loop_operands, "scalar"),
    ("swapped arms", loop_arms, "branch"),
    ("made parallel", loop_made_parallel, "scatter"),
    ("buffers that keep their places", loop_without_exchange, "states"),
    ("swapped loops of a branch that has left them", loop_arms, "edges"),
    ("terms added from the end", loop_direction, "ordered"),
    ("swapped operands of a call's function", loop_operands, "recursion"),
    ("swapped arms", loop_arms, "recursion"),
    ("swapped arms of a list", loop_arms, "list"),
    ("elements that are written in any order", loop_made_parallel, "recurrence"),
    ("segments from the end", loop_direction, "along"),
];

const OPTIONS: Options = Options { smooth: Some(1e-6) };

#[test]
fn the_programs_obey_all_laws_without_a_fault() {
    for (name, text) in PROGRAMS {
        let verified = verify(text, "f", &arguments(name), OPTIONS);
        let verified = verified.unwrap_or_else(|e| panic!("{name}: {e}"));
        let fast = jut_opt::optimise(&verified.program, verified.value_and_grad, true);
        let run = agree(&fast, verified.value_and_grad, &verified.args);
        run.unwrap_or_else(|e| panic!("{name}: {e}")).ok();
    }
}

/// What is wrong if a fault of a pass is not caught by the law: in the function that the pass has made, or in the one with a name.
fn missed(
    (pass, part, edit): (Pass, Option<&str>, Edit),
    program: &str,
    law: &str,
) -> Option<String> {
    let applied = Cell::new(false);
    let fault = |at: Pass, program: &mut Program, func: FuncId| {
        let func = part.map_or(Some(func), |name| program.find_func(name));
        if let (true, Some(func)) = (at == pass, func) {
            let found = edit_first(&mut program.funcs[func], edit);
            applied.set(applied.get() | found);
        }
    };
    match verify_with(text(program), "f", &arguments(program), OPTIONS, &fault) {
        _ if !applied.get() => Some("nothing to change".to_string()),
        Ok(_) => Some("not noticed".to_string()),
        Err(message) => {
            let said = message.split_once(": ").map_or("", |(_, rest)| rest);
            let caught = said.starts_with(&format!("{law}:"));
            (!caught).then(|| message.chars().take(160).collect())
        }
    }
}

#[test]
fn each_fault_of_a_pass_is_caught_by_its_law() {
    let mut wrong = Vec::new();
    for (k, (pass, edit, program, law)) in FAULTS.iter().enumerate() {
        let missed = missed((*pass, None, *edit), program, law);
        wrong.extend(missed.map(|e| format!("fault {k} ({pass:?}, {program}, {law}): {e}")));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn each_fault_of_what_is_run_again_is_caught_by_its_law() {
    let mut wrong = Vec::new();
    for (pass, part, edit, program, law) in PART_FAULTS {
        let missed = missed((*pass, Some(part), *edit), program, law);
        wrong.extend(missed.map(|e| format!("{part} ({pass:?}, {program}, {law}): {e}")));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn each_fault_of_lowering_is_caught_by_the_comparison_of_engines() {
    let mut wrong = Vec::new();
    let everywhere: Vec<_> = backends().collect();
    for (name, edit, program) in LOOP_FAULTS {
        let verified = verify(text(program), "f", &arguments(program), OPTIONS);
        let verified = verified.unwrap_or_else(|e| panic!("{program}: {e}"));
        let fast = jut_opt::optimise(&verified.program, verified.value_and_grad, true);
        let applied = Cell::new(false);
        let fault = |program: &mut LoopProgram| {
            for func in program.funcs.values_mut() {
                if !applied.get() {
                    applied.set(edit_first_loop(func, *edit));
                }
            }
        };
        let (func, args) = (verified.value_and_grad, &verified.args);
        let outcome = agree_with(&fast, func, args, &fault, &everywhere);
        match outcome {
            _ if !applied.get() => wrong.push(format!("{name}: nothing to change")),
            Ok(_) => wrong.push(format!("{name}: not noticed")),
            Err(message) if message.starts_with("P16") => {}
            Err(message) => {
                wrong.push(format!("{name}: {}", message.chars().take(160).collect::<String>()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

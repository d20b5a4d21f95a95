//! The laws of U and T, numerically, on programs that force their rules: the two halves are the
//! whole (Theorem 6.2), the transpose law and the work bound (Theorem 7.1), T of T (Corollary 7.2).

use crate::common::{POLICIES, Run, dot, parse, run, scalars, stages, value};
use fastrand::Rng;
use jut_ad::{Policy, unzip};
use jut_eval::{Interpreter, Value, cost};
use jut_ir::Program;
use std::collections::HashMap;

/// Text, function, and argument lists; sizes first.
struct Subject {
    text: &'static str,
    name: &'static str,
    /// Values of the i64 and bool parameters, in order; floats are random.
    discrete: &'static [&'static [i64]],
}

const SUBJECTS: &[Subject] = &[
    Subject { text: include_str!("../../../tests/worked/sine.jut"), name: "f", discrete: &[&[]] },
    Subject {
        text: include_str!("../../../tests/worked/power.jut"),
        name: "power",
        discrete: &[&[5], &[0], &[-3], &[1]],
    },
    Subject {
        text: include_str!("../../../tests/worked/neighbours.jut"),
        name: "nb",
        discrete: &[&[6], &[1], &[0]],
    },
    Subject {
        text: include_str!("../../../tests/worked/triangle.jut"),
        name: "pairs",
        discrete: &[&[5], &[1], &[0]],
    },
    Subject {
        text: include_str!("../../../tests/worked/branch.jut"),
        name: "br",
        discrete: &[&[7], &[0]],
    },
    Subject {
        text: include_str!("../../../tests/worked/rnn.jut"),
        name: "rnn",
        discrete: &[&[3, 4], &[3, 0], &[0, 2]],
    },
    Subject {
        text: include_str!("../../../tests/worked/half.jut"),
        name: "firsthalf",
        discrete: &[&[7], &[1]],
    },
    Subject {
        text: include_str!("../../../tests/worked/half.jut"),
        name: "usehalf",
        discrete: &[&[7], &[1], &[0]],
    },
    Subject {
        text: include_str!("../../../tests/worked/rows.jut"),
        name: "rows",
        discrete: &[&[3, 2], &[0, 2]],
    },
    Subject {
        text: include_str!("../../../tests/worked/polar.jut"),
        name: "usepolar",
        discrete: &[&[]],
    },
    Subject {
        text: include_str!("../../../tests/worked/polar.jut"),
        name: "polar",
        discrete: &[&[]],
    },
    Subject {
        text: include_str!("../../../tests/worked/choose.jut"),
        name: "choose",
        discrete: &[&[6, 0], &[6, 1], &[1, 0]],
    },
    Subject {
        text: include_str!("../../../tests/worked/nested.jut"),
        name: "brw",
        discrete: &[&[5], &[0]],
    },
    // Sizes that the residual computes only after the tape is open, in bodies and in arms.
    Subject {
        text: "
def count(n: i64) -> i64 = n / 2 + 1
def late[n](x: [n]f64, a: f64, k: i64) -> f64 = {
  m = count(k)
  s = for (i < m) carry (s = a) { sin(s) * a }
  u = if a > 0.0 {
    p = count(m)
    for (j < p) carry (t = s) { exp(-t * s) }
  } else { s }
  u + sum (v <- x) { v * u }
}",
        name: "late",
        discrete: &[&[3, 5], &[0, -9], &[2, 0]],
    },
    // Values of local size in accumulators, loops and arms.
    Subject {
        text: "
def ragged[n](x: [n]f64, c: [n]i64) -> f64 = sum (i < n) {
  m = max(c[i], 0) + 1
  y = build (j < m) { exp(x[i] * f64(j)) }
  z = if x[i] > 0.0 { sum (v <- y) { v * v } } else {
    w = build (j < m) { y[j] * x[i] }
    sum (v <- w) { sin(v) }
  }
  z * y[0]
}",
        name: "ragged",
        discrete: &[&[4], &[0], &[1]],
    },
    // Stacks inside stacks, the inner size negative: no iteration, no error.
    Subject {
        text: "
def nest(a: f64, k: i64) -> f64 = for (i < k) carry (c = a) {
  tanh(0.5 * c + (for (j < k) carry (e = a) { tanh(e * c) }))
}",
        name: "nest",
        discrete: &[&[3], &[0], &[-1]],
    },
    Subject {
        text: "
def hollow[n](x: [n]f64, k: i64) -> f64 = sum (i < n) {
  y = build (j < k) { exp(x[i] * f64(j)) }
  z = build (j < k - 1) { y[j] * x[i] }
  sum (v <- y) { v * v } + sum (v <- z) { v * x[i] }
}",
        name: "hollow",
        discrete: &[&[3, 2], &[0, -1], &[0, 0], &[2, 1]],
    },
    // Data: a sum that decides, a record with a size, opened in a loop.
    Subject {
        text: "
data Step = Scale(k: i64) | Turn(m: i64, ix: [m]i64) | Skip
data Row = Row(m: i64, w: [m]i64)
def steps[n](x: [n]f64, k: i64) -> f64 = {
  step = if k > 2 { Scale(k) } else { if k > 0 { ix = build (i < k) { i }; Turn(k, ix) } else { Skip() } }
  row = { w = build (i < 3) { i + k }; Row(3, w) }
  sum (i < n) {
    t = case step {
      Scale(j) -> for (q < j) carry (a = x[i]) { sin(a) * x[i] }
      Turn(m, ix) -> sum (q <- ix) { exp(x[i] * f64(q)) }
      Skip -> x[i] * x[i]
    }
    Row(m, w) = row
    u = sum (q < m) { t * sin(f64(w[q]) * t) }
    t * u
  }
}",
        name: "steps",
        discrete: &[&[3, 4], &[3, 2], &[3, 0], &[0, 4], &[2, -1]],
    },
    // An accumulator that is a parameter.
    Subject {
        text: "
core def add(n: i64, x: [n]f64; ; acc r: f64) -> () = {
  scan par (i < n) { t = x[i]; e = exp(t); r += e }
}
core def total(n: i64, x: [n]f64) -> f64 = {
  s = acc r: f64 { add(n, x; ; r); add(n, x; ; r) }
  t = s * s
  t
}",
        name: "total",
        discrete: &[&[4], &[0]],
    },
    // An invariant of a loop, and a check whose array is not in the residual.
    Subject {
        text: "
def gather[n, m](x: [n]f64, ix: [m]i64, a: f64) -> f64 = sum (i < m) {
  j = ix[i]
  exp(a) * x[j] * x[j]
}",
        name: "gather",
        discrete: &[&[3, 5], &[3, 0]],
    },
    // A linear function of the user, with both kinds of results.
    Subject {
        text: "def g(x: f64; y': f64) -> (f64; f64) = {\n  z = exp(x)\n  (z; z * y')\n}",
        name: "g",
        discrete: &[&[]],
    },
    // Extrema and selections.
    Subject {
        text: "
def kinks[n](x: [n]f64, a: f64) -> f64 = {
  m = max (i < n) { x[i] * a }
  s = sum (i < n) { max(x[i], a) + abs(x[i]) * select(x[i] > a, x[i], a * a) }
  if m > a { s * m } else { a }
}",
        name: "kinks",
        discrete: &[&[4], &[1]],
    },
];

fn arguments(program: &Program, name: &str, discrete: &[i64], rng: &mut Rng) -> Vec<Value> {
    let func = &program.funcs[program.find_func(name).unwrap()];
    let mut given = discrete.iter();
    let mut sizes = HashMap::new();
    let mut args = Vec::new();
    for p in &func.params {
        let arg = match &func.nvars[*p].ty {
            jut_ir::Type::I64 => Value::I64(*given.next().unwrap()),
            jut_ir::Type::Bool => Value::Bool(*given.next().unwrap() != 0),
            ty => value(program, ty, &sizes, rng),
        };
        if let Some(n) = arg.as_i64() {
            sizes.insert(*p, n);
        }
        args.push(arg);
    }
    args
}

fn each_run(check: impl Fn(&str, Policy, &Run)) {
    let mut rng = Rng::with_seed(7);
    for subject in SUBJECTS {
        let program = parse(subject.text);
        for policy in POLICIES {
            let stages = stages(&program, subject.name, policy);
            for discrete in subject.discrete {
                for _ in 0..3 {
                    let args = arguments(&program, subject.name, discrete, &mut rng);
                    check(subject.name, policy, &run(&stages, &args, &mut rng));
                }
            }
        }
    }
}

#[test]
fn the_two_halves_compute_what_the_whole_computes_bit_for_bit() {
    each_run(|name, policy, run| {
        assert_eq!(run.nonlin.results, run.jvp.results, "{name} {policy:?}");
        assert_eq!(run.lin.linear, run.jvp.linear, "{name} {policy:?}");
    });
}

#[test]
fn storing_everything_repeats_no_work_but_integer_arithmetic() {
    let exact = ["f", "pairs", "br", "rnn", "rows", "polar", "usepolar", "g"];
    each_run(|name, policy, run| {
        let halves = run.nonlin.counters.work + run.lin.counters.work;
        assert!(policy != Policy::StoreAll || halves >= run.jvp.counters.work, "{name}");
        if policy == Policy::StoreAll && exact.contains(&name) {
            assert_eq!(halves, run.jvp.counters.work, "{name}");
        }
    });
}

#[test]
fn a_policy_that_stores_less_has_no_larger_tape() {
    let mut rng = Rng::with_seed(7);
    for subject in SUBJECTS {
        let program = parse(subject.text);
        let all = POLICIES.map(|policy| stages(&program, subject.name, policy));
        for discrete in subject.discrete {
            let args = arguments(&program, subject.name, discrete, &mut rng);
            let bytes = all.each_ref().map(|s| run(s, &args, &mut rng).nonlin.counters.tape);
            assert!(bytes.is_sorted_by(|a, b| a >= b), "{} {discrete:?}: {bytes:?}", subject.name);
        }
    }
}

#[test]
fn the_formula_of_the_report_is_what_a_run_measures() {
    let mut rng = Rng::with_seed(11);
    let mut without: Vec<&str> = Vec::new();
    for subject in SUBJECTS {
        let program = parse(subject.text);
        for policy in POLICIES {
            let stages = stages(&program, subject.name, policy);
            let report = unzip::explain(&stages.derivatives, stages.jvp, policy).unwrap();
            for discrete in subject.discrete {
                for _ in 0..3 {
                    let mut discrete = discrete.to_vec();
                    // Sizes of arrays that the program may index with 0 or 1.
                    if let Some(n @ 3..) = discrete.first_mut() {
                        *n = rng.i64(3..12);
                    }
                    let args = arguments(&program, subject.name, &discrete, &mut rng);
                    let Some(bytes) = report.bytes(&|k| args[k].as_i64()) else {
                        without.push(subject.name);
                        continue;
                    };
                    let run = run(&stages, &args, &mut rng);
                    // Data of the program itself is no tape.
                    let measured = run.nonlin.counters.tape - run.jvp.counters.tape;
                    assert_eq!(bytes as u64, measured, "{} {policy:?}\n{report}", subject.name);
                }
            }
        }
    }
    // Branches, sizes that are read from arrays, and sizes that a callee computes.
    without.dedup();
    let open = ["br", "usehalf", "choose", "brw", "late", "ragged", "steps"];
    assert_eq!(without, open);
}

#[test]
fn the_report_on_costs_shows_that_the_bounds_of_the_paper_hold() {
    let exact = ["f", "pairs", "br", "rnn", "rows", "polar", "usepolar", "g"];
    let mut rng = Rng::with_seed(5);
    for subject in SUBJECTS {
        let program = parse(subject.text);
        for policy in POLICIES {
            let stages = stages(&program, subject.name, policy);
            let halves = &stages.halves;
            let of = cost::Stages {
                func: stages.source,
                jvp: stages.jvp,
                nonlin: halves.nonlin,
                lin: halves.lin,
                transposed: stages.transposed,
                forwarded: halves.forwarded.clone(),
                result_sizes: halves.result_sizes.clone(),
                has_tape: halves.tape.is_some(),
            };
            let interpreter = Interpreter::new(stages.program());
            for discrete in subject.discrete {
                let args = arguments(&program, subject.name, discrete, &mut rng);
                let report = interpreter.costs(stages.program(), &of, &args, &mut rng).unwrap();
                let [forward, unzip, transpose, all] = report.bounds();
                assert!(forward.holds() && transpose.holds() && all.holds(), "{report}");
                assert!(
                    policy != Policy::StoreAll || !exact.contains(&subject.name) || unzip.holds(),
                    "{report}"
                );
            }
        }
    }
}

#[test]
fn a_transpose_is_the_transposed_matrix() {
    each_run(|name, policy, run| {
        let (forward, size) = dot(&run.cotangents, &run.lin.linear);
        let (mut back, more) = dot(&run.transposed.linear, &run.tangents);
        let (buffers, most) = dot(&run.transposed.buffers, &run.reads);
        back += buffers;
        let tolerance = 1e-12 * (1.0 + size + more + most);
        assert!((forward - back).abs() <= tolerance, "{name} {policy:?}: {forward} and {back}");
    });
}

#[test]
fn a_transpose_does_no_more_work_up_to_its_inputs_and_outputs() {
    each_run(|name, policy, run| {
        let forward = run.lin.counters.work + scalars(&run.lin.linear);
        let back = run.transposed.counters.work + scalars(&run.tangents);
        assert!(back <= forward, "{name} {policy:?}: {back} > {forward}");
    });
}

#[test]
fn transposing_twice_gives_the_same_map() {
    each_run(|name, policy, run| {
        for (a, b) in run.twice.linear.iter().zip(&run.lin.linear) {
            let (mut x, mut y) = (Vec::new(), Vec::new());
            a.for_each_f64(&mut |v| x.push(v));
            b.for_each_f64(&mut |v| y.push(v));
            for (x, y) in x.iter().zip(&y) {
                assert!((x - y).abs() <= 1e-12 * (1.0 + y.abs()), "{name} {policy:?}");
            }
        }
        assert_eq!(run.twice.linear.len(), run.lin.linear.len());
    });
}

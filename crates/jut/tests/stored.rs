//! What the default policy stores: the formulas of `jut explain tape`.

use jut::{Model, Policy};

/// The bytes of the tape of a function's gradient, under all policies in the order of [`Policy::ALL`].
fn bytes(text: &str, name: &str) -> [String; 3] {
    let function = Model::from_text(text).and_then(|m| m.function(name)).expect("a function");
    Policy::ALL.map(|policy| {
        let report = function.clone().policy(policy).tape_report().expect("a report");
        report.formula()
    })
}

fn default(text: &str, name: &str) -> String {
    let [_, default, _] = bytes(text, name);
    default
}

#[test]
fn a_step_of_runge_kutta_stores_its_state_and_nothing_else() {
    let text = include_str!("../../../benches/programs/lotka_volterra.jut");
    // Two numbers per step; besides them the number of steps, and two multiples of the length of a step.
    assert_eq!(default(text, "lotka_volterra"), "16 max(n, 0) + 24");
}

#[test]
fn a_sum_of_arithmetic_over_elements_stores_nothing() {
    let text = include_str!("../examples/rosenbrock.jut");
    assert_eq!(default(text, "rosenbrock"), "0");
    let springs = "def springs[n](r: [n, 3]f64, k: f64) -> f64 = sum (i < n) { sum (j < i) {
      d2 = sum (c < 3) { (r[i, c] - r[j, c])^2 }
      k * (d2 - 1.0)^2
    } }";
    assert_eq!(default(springs, "springs"), "0");
}

#[test]
fn divisions_are_stored_unless_memory_is_scarcer_than_time() {
    let text = include_str!("../examples/lennard_jones.jut");
    let [_, default, minimal] = bytes(text, "energy");
    assert_eq!(minimal, "0");
    // The quotient of each pair and its slope.
    let pairs = "(sum over i < n of 8 i)";
    assert_eq!(default, format!("8 n + 8 + {pairs} + {pairs}"));
}

#[test]
fn a_stencil_stores_its_states() {
    let text = include_str!("../examples/stencil.jut");
    assert_eq!(default(text, "misfit"), "8 n max(steps, 0) + 8 n + 16");
}

#[test]
fn what_several_values_follow_from_is_stored_once() {
    // exp(c), its sine and cosine, and c itself; the difference and the products are not stored.
    let text = "def f(a: f64, b: f64, n: i64) -> f64 = for (i < n) carry (c = a) {
      p = exp(c)
      q = p - b
      sin(p) * q + q * q * c
    }";
    assert_eq!(default(text, "f"), "32 max(n, 0) + 8");
}

#[test]
fn the_report_says_what_other_policies_would_store() {
    let text = include_str!("../examples/lennard_jones.jut");
    let function = Model::from_text(text).and_then(|m| m.function("energy")).expect("a function");
    let report = function.explain_tape().expect("a report");
    let (_, others) = report.split_once("other policies:\n").expect("a part about them");
    let lines: Vec<&str> = others.lines().map(str::trim).collect();
    let [store_all, minimal] = lines[..] else { panic!("{others}") };
    assert!(store_all.starts_with("store_all  ") && store_all.ends_with(" bytes"), "{others}");
    assert_eq!(minimal, "minimal    0 bytes");
}

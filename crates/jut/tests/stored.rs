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
    // The quotient of each pair, of which its slope follows.
    assert_eq!(default, "8 n + 8 + (sum over i < n of 8 i)");
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
    assert_eq!(minimal.split_whitespace().collect::<Vec<_>>(), ["minimal", "0", "bytes"]);
}

#[test]
fn loops_get_as_few_levels_of_segments_as_keep_the_tape_within_its_memory() {
    let text =
        "def f(n: i64, a: f64) -> f64 = for (i < n) carry (x = a) { x - 0.001 * sin(x) * exp(x) }";
    let function = Model::from_text(text).and_then(|m| m.function("f")).expect("a function");
    let given = [1_000_000.into(), 0.3.into()];
    let within = |bytes| function.clone().tape_within(bytes, &given);
    let peak = |f: &jut::Function| {
        let report = f.tape_report().expect("a report");
        report.peak(&|k| (k == 0).then_some(1_000_000)).expect("a number")
    };
    let results = |f: &jut::Function| {
        let mut session = f.value_and_gradient().expect("a gradient").session();
        let results = session.call(&given).expect("a call");
        ["value", "a"].map(|name| results.f64(name).expect("a number").to_bits())
    };
    let whole = peak(&function);
    for bytes in [1_000_000_000, 10_000_000, 100_000, 10_000] {
        let chosen = within(bytes).expect("a schedule");
        assert!(peak(&chosen) <= bytes as i64);
        assert_eq!(
            peak(&chosen) == whole,
            bytes as i64 >= whole,
            "no segments where they are not needed"
        );
        assert_eq!(results(&chosen), results(&function));
    }
    let refused = within(100).err().expect("an error").to_string();
    assert!(refused.contains("J808") && refused.contains("at least"), "{refused}");
}

//! What schedules of loops promise (`@segment`, `@levels`, `@revolve`, `@online`, a limit of memory): the bits of the loop without a
//! schedule, and no more memory than `jut explain tape` says, counted by the allocator.

use jut::{Function, Model};

const STEPS: i64 = 1_000_000;

/// Steps of an equation of motion, of numbers, of arrays, along an array with what is collected, and until a limit.
fn program(policy: &str) -> String {
    let early = if policy.starts_with("@online") { policy } else { "" };
    format!(
        "
def orbit(n: i64, k: f64) -> f64 = {{
  (q, p) = {policy} for (i < n) carry (q = 1.0, p = 0.0) {{
    v = p - 0.001 * k * sin(q)
    (q + 0.001 * v, v)
  }}
  q * q + p
}}
def chain(n: i64, k: f64) -> f64 = {{
  x = build (j < 16) {{ f64(j) * 0.1 }}
  y = {policy} for (i < n) carry (y = x) {{
    build (j < 16) {{ y[j] - 0.0001 * k * sin(y[j]) * y[(j + 1) % 16] }}
  }}
  sum(y * y)
}}
def path(n: i64, k: f64) -> f64 = {{
  check n >= 0
  force = build (i < n) {{ f64(i % 7 - 3) }}
  (y, distance) = {policy} scan up (i < n) carry (y = 1.0) slice (e <- force) {{
    z = y - 0.001 * sin(y) * exp(k * e)
    (z, z - y)
  }}
  y * sum(distance * force)
}}
def until(n: i64, k: f64) -> f64 = {{
  (y, t) = {early} while carry (y = 1.0, t = 0.0) t < f64(n) {{
    (y - 0.0001 * k * sin(y) * exp(y), t + 1.0)
  }}
  y * t
}}
"
    )
}

fn function(policy: &str, name: &str) -> Function {
    let text = program(policy);
    Model::from_text(&text).and_then(|m| m.function(name)).unwrap_or_else(|e| panic!("{e}"))
}

/// The bits of value and gradient, and the most bytes that the call held at one moment.
fn measured(f: &Function, steps: i64) -> ([u64; 2], u64) {
    let gradient = f.value_and_gradient().unwrap_or_else(|e| panic!("{e}"));
    let mut bits = [0; 2];
    let memory = allocation_counter::measure(|| {
        let mut session = gradient.session();
        let results = session.call(&[steps.into(), 0.5.into()]).expect("a call");
        bits = ["value", "k"].map(|name| results.f64(name).expect("a number").to_bits());
    });
    (bits, memory.bytes_max)
}

/// What `explain tape` says of the most bytes at one moment.
fn said(f: &Function, steps: i64) -> u64 {
    let report = f.tape_report().expect("a report");
    let peak = report.peak(&|k| (k == 0).then_some(steps)).expect("a number");
    u64::try_from(peak).expect("not negative")
}

/// Memory beside tapes: the session's own, arrays of one iteration, and what the arena asks for at once.
const BESIDE: u64 = 128 << 10;

/// What may be taken where so much is said: the arena takes an eighth more than it needs, at most.
fn at_most(said: u64) -> u64 {
    said + said / 8 + BESIDE
}

/// Of a tree of calls `@recompute` has the tapes of one branch at a time.
#[test]
fn a_tree_of_calls_that_are_computed_again_takes_the_memory_of_a_branch() {
    let tree = |word: &str| {
        let text = format!(
            "
def half(lo: i64, hi: i64, k: f64) -> f64 = if hi - lo == 1 {{ sin(k * f64(lo)) }} else {{
  m = (lo + hi) / 2
  a = {word} half(lo, m, k)
  b = {word} half(m, hi, k)
  sin(a) + b
}}
def tree(n: i64, k: f64) -> f64 = half(0, n, k)
"
        );
        Model::from_text(&text).and_then(|m| m.function("tree")).unwrap_or_else(|e| panic!("{e}"))
    };
    // A recursion runs on a stack of its own, so its memory is not counted here, but limited.
    let run = |word: &str, limit: usize| {
        let gradient = tree(word).memory_limit(limit).value_and_gradient().expect("compiles");
        let values = gradient.call(&[(1_i64 << 15).into(), 0.3.into()]);
        values.map(|values| values.iter().flat_map(jut::Value::floats).map(f64::to_bits).collect())
    };
    let stored: Vec<u64> = run("", 64 << 20).expect("enough memory");
    assert_eq!(run("@recompute", 256 << 10).expect("enough for a branch"), stored);
    assert_eq!(run("", 1 << 20).expect_err("too little for all").code(), Some("R06"));
}

#[test]
fn a_million_steps_take_the_memory_that_is_said_under_every_policy() {
    for (name, steps) in [("orbit", STEPS), ("chain", STEPS / 10)] {
        let (bits, whole) = measured(&function("", name), steps);
        let all = said(&function("", name), steps);
        assert!(whole >= all && whole <= at_most(all), "{name}: {whole} bytes, {all} said");
        for policy in ["@segment(1000)", "@levels(3)", "@revolve(20)", "@online(20)"] {
            let f = function(policy, name);
            let (own, bytes) = measured(&f, steps);
            assert_eq!(own, bits, "{name} {policy}");
            let said = said(&f, steps);
            assert!(bytes <= at_most(said), "{name} {policy}: {bytes} bytes, {said} said");
            assert!(said < all / 20, "{name} {policy}: {said} bytes said, {all} without");
        }
        for limit in [10_000_000, 1 << 20] {
            let chosen = function("", name).tape_within(limit, &[steps.into(), 0.5.into()]);
            let chosen = chosen.expect("a schedule");
            let (own, bytes) = measured(&chosen, steps);
            assert!(own == bits && bytes <= at_most(limit as u64), "{name}: {bytes} bytes");
        }
        let refused = function("", name).tape_within(50, &[steps.into(), 0.5.into()]);
        assert!(refused.is_err_and(|e| e.to_string().contains("J808")), "{name}");
    }
}

/// The arrays are there whatever the policy; what is collected is made by a run of its own.
#[test]
fn loops_along_arrays_keep_their_bits_and_take_what_is_said_beside_their_arrays() {
    let (name, steps) = ("path", STEPS / 4);
    let (bits, _) = measured(&function("", name), steps);
    // Forces and distances, the cotangent of the distances, and what the product of arrays takes.
    let arrays = 5 * 8 * steps as u64;
    for policy in ["@segment(500)", "@levels(3)", "@revolve(20)", "@online(20)"] {
        let f = function(policy, name);
        let (own, bytes) = measured(&f, steps);
        assert_eq!(own, bits, "{policy}");
        let said = said(&f, steps);
        assert!(bytes <= at_most(said + arrays), "{policy}: {bytes} bytes, {said} said");
    }
}

/// How often it runs is not known before, and nothing that is kept depends on it.
#[test]
fn a_loop_that_may_end_early_takes_what_is_said() {
    let steps = STEPS / 4;
    let (bits, whole) = measured(&function("", "until"), steps);
    let f = function("@online(20)", "until");
    let (own, bytes) = measured(&f, steps);
    assert_eq!(own, bits);
    let said = said(&f, steps);
    assert!(
        said < 2000 && bytes <= at_most(said) && bytes < whole / 10,
        "{bytes} bytes, {said} said, {whole} without"
    );
    let chosen = function("", "until").tape_within(10_000, &[steps.into(), 0.5.into()]);
    let (own, bytes) = measured(&chosen.expect("a schedule"), steps);
    assert!(own == bits && bytes <= at_most(10_000), "{bytes} bytes");
}

/// A limit that segments cannot keep, and checkpoints in binomial order can.
#[test]
fn the_least_memory_is_that_of_checkpoints() {
    let f = function("", "chain");
    let given = [STEPS.into(), 0.5.into()];
    let refused = f.clone().tape_within(1, &given).err().expect("no schedule").to_string();
    let least = refused.split("at least ").nth(1).and_then(|rest| rest.split(' ').next());
    let least: usize = least.and_then(|bytes| bytes.parse().ok()).expect("a number of bytes");
    let chosen = f.tape_within(least, &given).expect("a schedule");
    assert_eq!(said(&chosen, STEPS), least as u64);
    // States of 128 bytes: 16 of them, that at the start, and the tape of one iteration.
    assert!(least < 16 * 128 + 1024, "{least}");
}

#[test]
fn a_report_says_how_many_checkpoints_there_are_and_what_they_cost() {
    let text = function("@revolve(20)", "chain").explain_tape().expect("a report");
    assert!(text.contains("up to 20 times 128 bytes of checkpoints"), "{text}");
    assert!(text.contains("(20 + t)! / (20! t!)"), "{text}");
}

/// The number of iterations and the length of a segment are more than an integer together.
#[test]
fn a_loop_to_the_largest_integer_fails_where_it_does_without_a_schedule() {
    // With checkpoints in binomial order there is a tape of the loop, of one iteration at a time: no tape has as many.
    let (out, large) = ("index 5 is out of range", "no array has 9223372036854775807 elements");
    let cases = [
        ("@levels(3)", i64::MAX, out),
        ("@levels(4)", i64::MAX, out),
        ("@revolve(20)", (1 << 48) - 1, out),
        ("@revolve(20)", i64::MAX, large),
    ];
    for (policy, count, expected) in cases {
        let text = format!(
            "def f(x: [5]f64, b: i64) -> f64 = {policy} for (i < b) carry (s = 0.5) {{ sin(s) * exp(x[i]) }}"
        );
        let f = Model::from_text(&text).and_then(|m| m.function("f"));
        let gradient = f.and_then(|f| f.value_and_gradient()).unwrap_or_else(|e| panic!("{e}"));
        let x = [0.5, -0.3, 0.7, 1.1, 0.2];
        let mut session = gradient.session();
        let error = session.call(&[(&x).into(), count.into()]).err().map(|e| e.to_string());
        assert!(error.as_ref().is_some_and(|e| e.contains(expected)), "{policy}: {error:?}");
    }
}

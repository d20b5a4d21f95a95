//! What schedules of loops promise (`@segment`, `@levels`, `@revolve`, `@online`, a limit of memory): the bits of the loop without a
//! schedule, and no more memory than `jut explain tape` says, counted by the allocator.

use jut::{Function, Model};

const STEPS: i64 = 1_000_000;

/// Steps of an equation of motion, of numbers or of arrays, behind a policy.
fn program(policy: &str) -> String {
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
const BESIDE: u64 = 256 << 10;

#[test]
fn a_million_steps_take_the_memory_that_is_said_under_every_policy() {
    for (name, steps) in [("orbit", STEPS), ("chain", STEPS / 10)] {
        let (bits, whole) = measured(&function("", name), steps);
        let all = said(&function("", name), steps);
        assert!(whole >= all && whole <= 2 * all + BESIDE, "{name}: {whole} bytes, {all} said");
        for policy in ["@segment(1000)", "@levels(3)", "@revolve(20)", "@online(20)"] {
            let f = function(policy, name);
            let (own, bytes) = measured(&f, steps);
            assert_eq!(own, bits, "{name} {policy}");
            let said = said(&f, steps);
            assert!(bytes <= 2 * said + BESIDE, "{name} {policy}: {bytes} bytes, {said} said");
            assert!(said < all / 20, "{name} {policy}: {said} bytes said, {all} without");
        }
        let chosen = function("", name).tape_within(1 << 20, &[steps.into(), 0.5.into()]);
        let chosen = chosen.expect("a schedule");
        let (own, bytes) = measured(&chosen, steps);
        assert!(own == bits && bytes <= 2 * (1 << 20) + BESIDE, "{name}: {bytes} bytes");
        let refused = function("", name).tape_within(50, &[steps.into(), 0.5.into()]);
        assert!(refused.is_err_and(|e| e.to_string().contains("J808")), "{name}");
    }
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

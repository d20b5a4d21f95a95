//! Loops of one step over time, of which one leaves something for the other only, are one loop.

use crate::support::loops::STEPS;
use crate::support::tidied::{sums_run_alike, tidy};
use jut_loop::signature::{Cells, Flat};

fn numbers(n: i64) -> Vec<Flat> {
    let m = n.rem_euclid(5);
    let int = |k: i64| Flat::Scalar(jut_ir::Literal::I64(k));
    let cells = |n: i64, by: f64| {
        let numbers = (0..n.max(0)).map(|k| (1.0 + k as f64 * by).sin());
        Flat::Buffer(Cells::F64(numbers.collect()))
    };
    vec![int(n), int(m), cells(n, 0.3), cells(n, 0.7), cells(m, 1.1), cells(n, 0.2), cells(m, 0.9)]
}

/// How many loops there are in a step.
fn loops(text: &str) -> usize {
    let made = tidy(text);
    let (_, step) = made.split_once("for up (t in").expect("steps");
    let (step, _) = step.split_once("(w, u)").expect("arrays that change places");
    step.matches("for par (").count() + step.matches("lanes (").count()
}

#[test]
fn what_one_loop_of_a_step_leaves_for_the_next_one_only_is_not_stored() {
    let made = tidy(STEPS);
    assert_eq!(loops(STEPS), 2, "{made}");
    assert!(!made.contains("f[") && !made.contains("f = alloc"), "{made}");
    sums_run_alike(STEPS, numbers);
    // What somebody else reads is stored, in a loop of its own.
    let tape = STEPS.replace("c_3 = w[l]", "c_4 = w[l]\n c_5 = f[l]\n c_3 = c_4 + c_5");
    assert_eq!(loops(&tape), 3, "{}", tidy(&tape));
    sums_run_alike(&tape, numbers);
}

#[test]
fn loops_of_a_step_that_depend_on_each_other_stay() {
    let last = "last = n - 1\n back = last - j\n";
    for (old, new, left) in [
        // The second reads what later iterations of the first store, or stores what they read.
        ("a = f[j]", format!("{last} a = f[back]"), 3),
        ("w[j] = z", format!("w[j] = z\n {last} o_1 = x[back]\n y[j] = o_1"), 2),
        ("d = k[i]", "last = n - 1\n back = last - i\n d = y[back]".to_string(), 2),
    ] {
        let text = STEPS.replace(old, &new);
        assert_ne!(text, STEPS);
        assert_eq!(loops(&text), left, "{old}\n{}", tidy(&text));
        sums_run_alike(&text, numbers);
    }
    // Both: the first reads backwards what the second stores.
    let text = STEPS.replace("d = k[i]", "last = n - 1\n back = last - i\n d = y[back]");
    let text = text.replace("w[j] = z", "w[j] = z\n y[j] = z");
    assert_eq!(loops(&text), 3, "{}", tidy(&text));
    sums_run_alike(&text, numbers);
    // One that can fail, one that calls a function, and one over another range.
    for (old, new) in [
        ("d = k[i]", "check i < 7 @0:1..2\n d = k[i]"),
        ("d = k[i]", "d_1 = k[i]\n d = exp(d_1)"),
        ("(i in 0 .. n)", "(i in 1 .. n)"),
    ] {
        let text = STEPS.replace(old, new);
        assert_eq!(loops(&text), 3, "{}", tidy(&text));
        sums_run_alike(&text, numbers);
    }
}

#[test]
fn iterations_that_wait_for_nothing_keep_their_loops() {
    let alone = STEPS
        .replace(
            "(p, q) = for up (t in 0 .. m) carry (u = first, w = second)",
            "for up (t in 0 .. m)",
        )
        .replace("    (w, u)\n", "")
        .replace("w[", "second[")
        .replace("u[", "first[")
        .replace("p[", "first[");
    let made = tidy(&alone);
    let inner = made.matches("for par (").count() + made.matches("lanes (").count();
    assert!(inner > 3, "{made}");
    sums_run_alike(&alone, numbers);
}

//! Loops of one step over time are one loop, and what is only handed from one to the other is not stored.

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
fn a_step_is_one_loop() {
    let made = tidy(STEPS);
    assert_eq!(loops(STEPS), 1, "{made}");
    // What one has stored for the other only is gone, with its array.
    assert!(!made.contains("f[") && !made.contains("f = alloc"), "{made}");
    assert!(made.contains("g[t] = r"), "{made}");
    sums_run_alike(STEPS, numbers);
}

#[test]
fn what_is_stored_twice_is_stored_once() {
    let twice = STEPS.replace("z = c_1 + o", "z_1 = w[j]\n z_2 = c_1 + o\n z = z_2 * z_1");
    let twice = twice.replace("f[i] = e", "f[i] = e\n w[i] = d");
    let made = tidy(&twice);
    assert_eq!(loops(&twice), 1, "{made}");
    assert_eq!(made.matches("w[i] = ").count(), 1, "{made}");
    sums_run_alike(&twice, numbers);
    // Each of the two has its own use for a cell.
    let changed = STEPS.replace("f[i] = e", "f[i] = e\n o_2 = x[i]\n o_1 = o_2 + e\n y[i] = o_1");
    let changed = changed.replace("w[j] = z", "w[j] = z\n q_3 = y[j]\n q_1 = q_3 * z\n y[j] = q_1");
    let made = tidy(&changed);
    assert_eq!(loops(&changed), 1, "{made}");
    assert_eq!(made.matches("y[i] = ").count(), 1, "{made}");
    sums_run_alike(&changed, numbers);
}

#[test]
fn loops_of_a_step_that_depend_on_each_other_stay() {
    let last = "last = n - 1\n back = last - j\n";
    for (old, new, left) in [
        // The second reads what later iterations of the first store, or stores what they read.
        ("a = f[j]", format!("{last} a = f[back]"), 2),
        ("w[j] = z", format!("w[j] = z\n {last} o_1 = x[back]\n y[j] = o_1"), 1),
        ("d = k[i]", "last = n - 1\n back = last - i\n d = y[back]".to_string(), 1),
        // It needs the sums.
        ("c_3 = w[l]", "c_2 = w[l]\n c_3 = c_2 * 2.0".to_string(), 1),
    ] {
        let text = STEPS.replace(old, &new);
        assert_ne!(text, STEPS);
        assert_eq!(loops(&text), left, "{old}\n{}", tidy(&text));
        sums_run_alike(&text, numbers);
    }
    // Both: the first reads backwards what the second stores.
    let text = STEPS.replace("d = k[i]", "last = n - 1\n back = last - i\n d = y[back]");
    let text = text.replace("w[j] = z", "w[j] = z\n y[j] = z");
    assert_eq!(loops(&text), 2, "{}", tidy(&text));
    sums_run_alike(&text, numbers);
    // One that can fail, one that calls a function, and one over another range.
    for (old, new) in [
        ("d = k[i]", "check i < 7 @0:1..2\n d = k[i]"),
        ("d = k[i]", "d_1 = k[i]\n d = exp(d_1)"),
        ("(i in 0 .. n)", "(i in 1 .. n)"),
    ] {
        let text = STEPS.replace(old, new);
        assert_eq!(loops(&text), 2, "{}", tidy(&text));
        sums_run_alike(&text, numbers);
    }
    // What is stored of a sum is read by a loop behind.
    let text = STEPS.replace("    (w, u)", "    for par (a_1 in 0 .. n) {\n v_3 = g[t]\n o_3 = w[a_1]\n o_1 = o_3 * v_3\n y[a_1] = o_1\n }\n    (w, u)");
    assert_eq!(loops(&text), 2, "{}", tidy(&text));
    sums_run_alike(&text, numbers);
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

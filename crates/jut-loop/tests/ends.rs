//! Loops of sums leave out ends that add nothing: the same sums, bit for bit, whatever the length.

use crate::support::loops::MIDDLE;
use crate::support::tidied::{sums_run_alike, tidy};
use jut_loop::form::LoopFuncId;
use jut_loop::signature::{Cells, Flat};
use jut_loop::{eval, read};

fn numbers(n: i64) -> Vec<Flat> {
    let cells = |by: f64| Flat::Buffer(Cells::F64((0..n).map(|k| (k as f64 * by).sin()).collect()));
    vec![Flat::Scalar(jut_ir::Literal::I64(n)), cells(1.3), cells(0.7)]
}

/// Whether the ends are left out.
fn has_no_ends(text: &str) -> bool {
    tidy(text).contains("for up (block in 0 .. blocks")
}

#[test]
fn ends_that_add_nothing_are_left_out() {
    let made = tidy(MIDDLE);
    assert!(has_no_ends(MIDDLE) && !made.contains("if "), "{made}");
    sums_run_alike(MIDDLE, numbers);
    // As many numbers as nobody knows may be so many that what is added to them wraps.
    let unknown = MIDDLE.replace("f64[n]", "f64[]");
    let made = tidy(&unknown);
    let (_, without) = made.split_once("= if near {").expect("two ways");
    let (without, whole) = without.split_once("} else {").expect("two ways");
    assert!(without.contains("lanes (") && !without.contains("if "), "{made}");
    assert!(whole.contains("if edge {"), "{made}");
    sums_run_alike(&unknown, numbers);
    // One end only, and a range that does not begin with zero.
    for text in [
        MIDDLE
            .replace("edge = begins || ends", "edge = begins || begins")
            .replace("k = i + 1", "k = i + 0"),
        MIDDLE
            .replace("edge = begins || ends", "edge = ends || ends")
            .replace("j = i - 1", "j = i - 0"),
        MIDDLE
            .replace("begins = i == 0", "begins = i < 3")
            .replace("(i in 0 .. n)", "(i in 2 .. n)"),
    ] {
        assert_ne!(text, MIDDLE);
        assert!(has_no_ends(&text), "{}", tidy(&text));
        sums_run_alike(&text, numbers);
    }
}

#[test]
fn blocks_stay_where_they_are() {
    let run = |text: &str, n: i64| {
        let program = read::read_program(0, text).expect("a program");
        format!("{:?}", eval::run(&program, LoopFuncId::from_u32(0), &numbers(n)))
    };
    let made = tidy(MIDDLE);
    let later = made.replace("max(offset, 1)", "offset + 1");
    assert_ne!(made, later);
    let mut differs = false;
    for n in [1023, 1024, 1025, 1026, 2047, 2048, 2049, 2050, 3073, 5000] {
        assert_eq!(run(MIDDLE, n), run(&made, n), "{n}");
        differs |= run(MIDDLE, n) != run(&later, n);
    }
    assert!(differs, "it matters");
}

#[test]
fn ends_that_count_stay() {
    for (old, new) in [
        // Something is added there, to one sum or to both.
        (
            "        (s_1, r_1)\n      } else {",
            "        s_5 = s_1 + d\n        (s_5, r_1)\n      } else {",
        ),
        ("        (s_1, r_1)\n      } else {", "        (s_1, 0.0)\n      } else {"),
        // They may fail.
        ("(s_2, r_2) = if edge {\n", "(s_2, r_2) = if edge {\n        check t < 1 @0:1..2\n"),
        ("d = c[i]", "check i < 5 @0:1..2\n      d = c[i]"),
    ] {
        let text = MIDDLE.replace(old, new);
        assert_ne!(text, MIDDLE, "{old}");
        assert!(!has_no_ends(&text), "{new}: {}", tidy(&text));
    }
    // A sum that stands alone may go by shares.
    let alone = MIDDLE
        .replace("  (total, other) = for up (t in 0 .. 2) carry (s_0 = 0.25, r_0 = 0.0) {\n", "")
        .replace(
            "    s_4 = s_0 + s\n    r_4 = r_0 + r\n    (s_4, r_4)\n  }\n  (total, other)",
            "  (s, r)",
        );
    assert!(!has_no_ends(&alone), "{}", tidy(&alone));
}

//! Loops that change places: the same cells, bit for bit, or else they stay. And sums with 0.0 that are left out.

use crate::support::loops::{ELIMINATION, FACTOR};
use crate::support::tidied::{body, runs_alike, tidy};
use jut_ir::Literal;
use jut_loop::form::LoopFuncId;
use jut_loop::opt::for_target;
use jut_loop::signature::{Cells, Flat};
use jut_loop::target::{Target, Vectors};
use jut_loop::{eval, print, read};

fn arguments(n: i64) -> Vec<Flat> {
    let n = n.max(0);
    let number = |k: i64| ((k * k % 61 * 7) % 37) as f64 / 7.0 - 2.0;
    let numbers = |by: i64| Flat::Buffer(Cells::F64((0..n * n).map(|k| number(k + by)).collect()));
    vec![Flat::Scalar(Literal::I64(n)), numbers(1), numbers(5)]
}

/// The loops of a text, tidied up, outermost first; what they compute is compared.
fn loops(text: &str) -> Vec<String> {
    runs_alike(text, arguments);
    let index = |line: &str| Some(line.strip_prefix("for ")?.split_once(" {")?.0.to_string());
    body(text).iter().filter_map(|line| index(line)).collect()
}

#[test]
fn loops_by_columns_change_places_with_those_along_rows() {
    // The first iteration, whose rows are one, stands by itself.
    assert_eq!(
        loops(ELIMINATION),
        ["up (j in 0 .. n)", "down (i_3 in 1 .. m)", "par (k_2 in 0 .. j)", "par (k_1 in 0 .. j)"]
    );
    let up = ELIMINATION.replace("down (i", "up (i");
    assert_eq!(
        loops(&up),
        ["up (j in 0 .. n)", "par (k_1 in 0 .. j)", "up (i_3 in 1 .. m)", "par (k_2 in 0 .. j)"]
    );
    // Rows behind the row.
    let behind = ELIMINATION.replace("i in 0", "i in 1");
    assert_eq!(loops(&behind), ["up (j in 0 .. n)", "down (i_2 in 1 .. m)", "par (k_1 in 0 .. j)"]);
}

#[test]
fn loops_whose_iterations_could_tell_do_not_change_places() {
    for (old, new) in [
        // Cells of a row that the other iterations write.
        ("c = other[j]", "c = own[i]"),
        ("t = from[k]", "q = k + 1\n t = other[q]"),
        // A diagonal.
        ("b_1 = b + v\n        other[k] = b_1", "q = i_1 - k\n b_1 = b - v\n own[q] = b_1"),
        // The column j is one of the columns k.
        ("k in 0 .. j", "k in 0 .. n"),
        // What is before the inner loop reads what that writes.
        ("f = source[k]", "f = own[k]"),
        // As many accesses along rows.
        ("row_1 = i_1 * n", "row_1 = k * n"),
        // The inner loop depends on the outer one.
        ("i in 0 .. m", "i in k .. m"),
        // A check.
        ("f = source[k]", "f = source[0]\n n_1 = n - 1\n check k < n_1 @0:1..2"),
        // Something behind the inner loop.
        ("other[k] = b_1\n      }", "other[k] = b_1\n      }\n      own[j] = f"),
    ] {
        let text = ELIMINATION.replace(old, new);
        assert_ne!(text, ELIMINATION, "{old}");
        // What runs out of range is not run.
        let made = tidy(&text);
        let at = |index: &str| made.find(&format!("({index}")).unwrap_or(usize::MAX);
        assert!(at("k") < at("i"), "{made}");
    }
}

#[test]
fn a_sum_with_zero_goes_where_there_is_no_negative_zero() {
    let made = tidy(ELIMINATION);
    assert!(!made.contains("0.0 +"), "{made}");
    for (old, new) in [
        // An array that may hold one, from what it is filled with, or what is stored, or copied.
        ("fill g[size] = 0.5", "fill g[size] = -0.0"),
        ("fill g[size] = 0.5", "copy g[size] = l"),
        ("other[k] = b_1", "other[k] = v"),
        ("b_1 = b + v", "b_1 = v - b"),
    ] {
        let text = ELIMINATION.replace(old, new);
        assert_ne!(text, ELIMINATION, "{old}");
        let made = tidy(&text);
        assert!(made.contains("0.0 +"), "{made}");
        runs_alike(&text, arguments);
    }
    // Negative zeros become zeros.
    let negative = "
loop def f(n: i64, l: in f64[n*n], g: out f64[n*n]) = {
  size = n * n
  for par (k in 0 .. size) {
    a = l[k]
    b = a * -0.0
    c = 0.0 + b
    g[k] = c
  }
}";
    assert!(tidy(negative).contains("0.0 +"));
    runs_alike(negative, arguments);
    // Squares and the like are none.
    for never in ["b = a * a", "b = abs(a)", "b = exp(a)"] {
        let text = negative.replace("b = a * -0.0", never);
        assert!(!tidy(&text).contains("0.0 +"), "{never}");
        runs_alike(&text, arguments);
    }
}

/// The program for a target that takes iterations of a loop together round another one; what it computes is compared.
fn for_nests(text: &str) -> String {
    let plain = read::read_program(0, text).unwrap_or_else(|e| panic!("{e} {:?}", e.span));
    let target = Target { vectors: Some(Vectors::EVERYTHING), ..Target::default() };
    let made = print::print_program(&for_target(&plain, &target));
    let again = read::read_program(0, &made).unwrap();
    for n in 0..20 {
        let run = |p| format!("{:?}", eval::run(p, LoopFuncId::from_u32(0), &arguments(n)));
        assert_eq!(run(&plain), run(&again), "{n}\n{made}");
    }
    made
}

#[test]
fn sums_down_columns_become_sums_along_rows_where_eight_rows_are_taken_together() {
    let made = for_nests(FACTOR);
    assert!(made.contains("for par vector 8 masked (i_2 in 0 .. m)"), "{made}");
    assert!(made.contains("for up (k_1 in 0 .. j) carry"), "{made}");
    assert!(!tidy(FACTOR).contains("carry"));
    for (old, new) in [
        // The row of the factors has one of the sums, or the sum is another one's factor.
        ("k in 0 .. j", "k in 0 .. n"),
        ("b = own[k]", "q = m - 1\n q_1 = q - i\n b = own[q_1]"),
        // Cells that are stored to one by one beside it, and a sum that is looked at behind the store.
        ("b = own[k]", "r = l[row ..]\n b = r[k]\n o = a + 0.5\n t[k] = o"),
        ("d = t[j]\n        e = d - c\n        t[j] = e", "t[j] = c\n        d = t[j]"),
        ("t[j] = e", "t[j] = e\n        o = t[j]\n        t[j] = o"),
    ] {
        let made = for_nests(&FACTOR.replace(old, new));
        assert!(!made.contains("carry"), "{made}");
    }
}

//! Sums in the order of a loop, several iterations at once: what is added is computed together.

use crate::support::loops::SUMS_IN_ORDER;
use crate::vector::{floats, int, ints, marked, of, program};
use jut_loop::opt::for_target;
use jut_loop::target::{Target, Vectors};
use jut_loop::{print, read};

fn sums_in_order(order: &str, change: (&str, &str)) -> String {
    SUMS_IN_ORDER.replace("ORDER", order).replace(change.0, change.1)
}

fn of_sums(order: &str, change: (&str, &str)) -> String {
    let arguments = |n: i64| vec![int(n), floats(n), floats(2 * n + 3), ints(n)];
    let text = sums_in_order(order, change);
    marked(&text, Vectors::EVERYTHING, &arguments)
}

#[test]
fn what_a_loop_adds_in_order_is_computed_together() {
    for order in ["up", "down"] {
        let made = of_sums(order, ("", ""));
        assert!(made.contains(&format!("for {order} vector 8 (i in 0 .. n)")), "{made}");
    }
}

#[test]
fn a_loop_that_carries_more_than_sums_is_taken_one_by_one() {
    for change in [
        // A term depends on a sum.
        ("z = sin(x_4)", "z = sin(t)"),
        // So does what is stored.
        ("y_1[1] = u_1", "y_1[1] = s_1"),
        // A carried value that is neither a sum nor the same.
        ("(s_1, t_1, r)", "(s_1, t_1, x_1)"),
        // The cells that are loaded and those that are stored to lie in other distances.
        ("u = y_1[1]", "u = y[i]"),
        // The next iteration loads what one has stored.
        ("y_1[1] = u_1", "y_1[3] = u_1"),
        // Hardly anything to compute.
        ("z = sin(x_4)\n    w = z * r\n    v = w - x_2", "v = x[0]"),
        // Nothing moves before a check.
        ("x_1 = x[i]", "check i < n @0:0..1\n    x_1 = x[i]"),
    ] {
        let made = of_sums("up", change);
        assert!(made.contains("for up (i in 0 .. n)"), "{change:?} {made}");
    }
    let text = sums_in_order("up", ("", ""));
    for vectors in [
        Vectors { in_order: false, ..Vectors::EVERYTHING },
        Vectors { function: |_| false, ..Vectors::EVERYTHING },
    ] {
        let target = Target { vectors: Some(vectors), ..Target::default() };
        let made = print::print_program(&for_target(&program(&text), &target));
        assert!(made.contains("for up (i in 0 .. n)"), "{made}");
    }
}

#[test]
fn cells_of_an_array_that_a_loop_adds_to_are_sums_in_order() {
    let text = |second: &str| {
        let body = "
  for up (i in 0 .. n) {
    a = x[i]
    b = sin(a)
    c = b * a
    d = c - b
    e = d * c
    g = e - a
    s = y[0]
    s_1 = s + e
    y[0] = s_1
    t = y[SECOND]
    t_1 = t + g
    y[SECOND] = t_1
  }";
        of("inout", &body.replace("SECOND", second))
    };
    let made = text("1");
    assert!(made.contains("for up vector 8 (i in 0 .. n) carry (s = "), "{made}");
    assert!(made.contains(", t = "), "{made}");
    // They may be one cell, or one that another iteration adds to.
    for second in ["n", "i"] {
        let made = text(second);
        assert!(made.contains("for up (i in 0 .. n) {"), "{made}");
    }
}

#[test]
fn a_mark_on_a_loop_that_carries_more_than_sums_is_not_read() {
    let text = sums_in_order("up", ("for up", "for up vector 8"));
    assert!(read::read_program(0, &text).is_ok());
    for change in [("s_1 = s + x_4", "s_1 = s * x_4"), ("carry (s = 0.5", "carry (s = 5")] {
        assert!(read::read_program(0, &text.replace(change.0, change.1)).is_err());
    }
}

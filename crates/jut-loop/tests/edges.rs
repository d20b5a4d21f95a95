//! Loops that choose their neighbours, on a ring or with the ends doubled: away from the ends nothing is chosen, and nothing changes.

use crate::support::loops::{CHOSEN, CHOSEN_ROWS, DOUBLED};
use crate::support::tidied::{runs_alike, sums_run_alike, tidy};
use jut_loop::opt::for_target;
use jut_loop::signature::{Cells, Flat};
use jut_loop::target::{Target, Vectors};
use jut_loop::{print, read};

fn int(k: i64) -> Flat {
    Flat::Scalar(jut_ir::Literal::I64(k))
}

fn floats(n: i64, by: f64) -> Flat {
    Flat::Buffer(Cells::F64((0..n.max(0)).map(|k| (1.0 + k as f64 * by).sin()).collect()))
}

/// A loop that reads its neighbours at `left` and `right`, by the statements that say which these are.
fn chooses(how: &str) -> String {
    format!(
        "
loop def f(n: i64, x: in f64[n], y: inout f64[n]) = {{
  last = n - 1
  for up (i in 0 .. n) {{
    {how}
    check left < n @0:0..1
    b = x[left]
    check right < n @0:1..2
    c = x[right]
    d = b - c
    y[i] = d
  }}
}}"
    )
}

/// The innermost loop away from the ends.
fn middle(text: &str) -> Option<String> {
    let tidy = tidy(text);
    let start = tidy.find("in 1 .. ")?;
    let end = tidy[start..].find("}\n").unwrap_or(tidy.len() - start);
    Some(tidy[start..start + end].to_string())
}

const DIVIDED: &str =
    "p = i + n\n t = p - 1\n check n != 0 @0:2..3\n left = t % n\n u = i + 1\n right = u % n";

#[test]
fn away_from_the_ends_of_a_loop_no_neighbour_is_chosen() {
    for how in [
        DOUBLED.to_string(),
        DIVIDED.to_string(),
        "t = i - 1\n s = t + n\n left = s % n\n u = 1 + i\n right = u % n".to_string(),
        "s = n + i\n t = s + -1\n left = t % n\n p = i == last\n u = i + 1\n right = select(p, 0, u)".into(),
        // Within two bounds, one choice after the other.
        "t = i - 1\n s = max(t, 0)\n left = min(s, last)\n u = i + 1\n v = min(u, last)\n right = max(v, 0)".into(),
        // What comes of the index itself.
        "l = i - 1\n left = max(l, 0)\n v = i % n\n u = v + 1\n right = min(u, last)".to_string(),
    ] {
        let text = chooses(&how);
        let middle = middle(&text).unwrap_or_else(|| panic!("{}", tidy(&text)));
        for chosen in ["max(", "min(", "select(", "%", "check"] {
            assert!(!middle.contains(chosen), "{chosen}\n{}", tidy(&text));
        }
        runs_alike(&text, |n| vec![int(n), floats(n, 0.7), floats(n, 0.3)]);
    }
}

#[test]
fn a_ring_of_a_length_that_is_written_down_is_one_as_well() {
    for (by, decided) in [(6, true), (9, true), (4, false)] {
        let how = format!("s = i + {}\n left = s % {by}\n u = i + 1\n right = u % {by}", by - 1);
        let text =
            chooses(&how).replace("0 .. n", "0 .. 6").replace("last = n - 1", "last = n - 0");
        // A shorter ring than the loop has iterations is gone round more than once.
        let is_one = middle(&text).is_some_and(|middle| !middle.contains('%'));
        assert_eq!(is_one, decided, "{}", tidy(&text));
        runs_alike(&text, |n| vec![int(n), floats(n, 0.7), floats(n.max(6), 0.3)]);
    }
}

#[test]
fn what_is_not_decided_is_chosen_in_each_iteration() {
    for how in [
        // Neighbours two cells away, and none.
        "u = i + 2\n left = u % n\n t = i + 3\n right = t % n",
        "t = 2 * i\n left = t % n\n u = n - i\n right = u % n",
        // On a ring of another length.
        "u = i + 1\n left = u % last\n right = last % n",
    ] {
        let text = chooses(how);
        let made = tidy(&text);
        assert!(made.contains("for up (i in 0 .. n)"), "{made}");
        runs_alike(&text, |n| vec![int(n), floats(n, 0.7), floats(n, 0.3)]);
    }
}

#[test]
fn terms_of_a_sum_are_computed_first_and_then_added_in_the_lanes_that_they_have() {
    for how in [DOUBLED, DIVIDED] {
        let text = CHOSEN.replace("CHOICE", how);
        let made = tidy(&text);
        let (before, sums) = made.split_once("= lanes (").expect("a loop of sums");
        assert!(
            before.contains("for par (") && !sums.contains("select") && !sums.contains("x["),
            "{made}"
        );
        sums_run_alike(&text, |n| vec![int(n), floats(n, 0.7), floats(n, 0.3)]);
        // One that can fail does so as before.
        let fails = text.replace("check left < n", "check left < 6");
        sums_run_alike(&fails, |n| vec![int(n), floats(n, 0.7), floats(n, 0.3)]);
    }
    // Terms that need the sum, what else is done to it, and a loop that begins elsewhere.
    let text = CHOSEN.replace("CHOICE", DOUBLED);
    for (old, new) in [
        ("s_2 = s_1 + d", "d_1 = d * s_1\n s_2 = s_1 + d_1"),
        ("s_2 = s_1 + d", "s_2 = s_1 * d"),
        ("(s_2)", "(d)"),
        ("i in 0 ..", "i in 1 .."),
    ] {
        let other = text.replace(old, new);
        assert_ne!(text, other);
        assert!(!tidy(&other).contains("alloc"), "{}", tidy(&other));
        sums_run_alike(&other, |n| vec![int(n), floats(n, 0.7), floats(n, 0.3)]);
    }
}

#[test]
fn a_sum_that_another_one_is_made_of_has_no_terms_first() {
    let text = CHOSEN.replace("CHOICE", DOUBLED);
    let two = text
        .replace("(s) = lanes", "(s, r_0) = lanes")
        .replace("carry (s_1)", "carry (s_1, r_1)")
        .replace("(s_2)", "e = s_2 * 0.5\n r_2 = r_1 + e\n (s_2, r_2)");
    assert!(!tidy(&two).contains("alloc"), "{}", tidy(&two));
    sums_run_alike(&two, |n| vec![int(n), floats(n, 0.7), floats(n, 0.3)]);
}

#[test]
fn terms_take_no_more_memory_than_an_array_that_is_there() {
    let text = CHOSEN.replace("CHOICE", DOUBLED).replace("64[n]", "64[]");
    assert!(!tidy(&text).contains("alloc"), "{}", tidy(&text));
    let own = text.replace("d = b - c", "a = y[i]\n d_1 = b - c\n d = d_1 * a");
    assert!(tidy(&own).contains("terms = alloc"), "{}", tidy(&own));
    for text in [&text, &own] {
        sums_run_alike(text, |n| vec![int(n), floats(n, 0.7), floats(n, 0.3)]);
    }
    for (many, has) in [("60000", true), ("3000000000", false)] {
        let text = text.replace("0 .. n", &format!("0 .. {many}"));
        let text = text.replace("n - 1", &format!("{many} - 1"));
        assert_eq!(tidy(&text).contains("terms = alloc"), has, "{}", tidy(&text));
    }
}

#[test]
fn no_target_adds_memory_for_terms() {
    // A body that only long vectors take without its ends.
    let factors: Vec<String> = (0..80).map(|k| format!("d{} = d{k} * d\n", k + 1)).collect();
    let long = format!("d0 = d + 1.0\n{} s_2 = s_1 + d80", factors.concat());
    let text = CHOSEN.replace("CHOICE", DOUBLED).replace("s_2 = s_1 + d", &long);
    let tidied = tidy(&text);
    assert!(!tidied.contains("alloc"), "{tidied}");
    let program = read::read_program(0, &tidied).expect("what is printed reads back");
    let target = Target { vectors: Some(Vectors::EVERYTHING), ..Target::default() };
    let taken = print::print_program(&for_target(&program, &target));
    assert!(!taken.contains("alloc"), "{taken}");
}

#[test]
fn rows_in_the_middle_of_a_grid_have_neighbours_that_are_others() {
    let grids = |m: i64| move |n: i64| vec![int(n), int(m), floats(n * m, 0.7), floats(n * m, 0.3)];
    for (how, most) in [
        (DOUBLED, "max("),
        (
            "p = i == 0\n above = i - 1\n left = select(p, last, above)\n q = i == last\n down = i + 1\n right = select(q, 0, down)",
            "select(",
        ),
    ] {
        let text = CHOSEN_ROWS.replace("CHOICE", how);
        let made = tidy(&text);
        let (_, inside) = made.split_once("if inside").expect("two ways");
        let (inside, edge) = inside.split_once("} else {").expect("two ways");
        assert!(!inside.contains(most) && edge.contains(most), "{made}");
        for m in [0, 1, 2, 7] {
            sums_run_alike(&text, |n| grids(m)(n.min(30)));
        }
        // A body of many statements stays.
        let many: Vec<String> = (0..130).map(|k| format!("d{} = d{k} + c\n", k + 1)).collect();
        let long =
            text.replace("d = b + c", &format!("d0 = b + c\n {} d = d130 * 0.5", many.concat()));
        assert!(!tidy(&long).contains("if inside"), "{}", tidy(&long));
    }
}

#[test]
fn an_end_that_may_wrap_is_asked_for() {
    let text = CHOSEN_ROWS.replace("CHOICE", DOUBLED).replace("64[n*m]", "64[]");
    let made = tidy(&text.replace("check n < 100 @0:0..1", ""));
    assert!(made.contains("near = ") && made.contains("near && "), "{made}");
    assert!(!tidy(&text).contains("near"), "{}", tidy(&text));
}

//! Loops of sums in order, some of them at a time: what becomes of the text, and that no bit changes.

use jut_loop::form::LoopFuncId;
use jut_loop::opt::for_target;
use jut_loop::signature::{Cells, Flat};
use jut_loop::target::{Target, Vectors};
use jut_loop::{eval, print, read};

use crate::support::loops::SUMS_OF_ROWS;
use crate::support::tidied::tidy;

/// What a target makes of a text: four at a time if it takes sums in order, else two.
fn made(text: &str, in_order: bool) -> String {
    let vectors = Some(Vectors { in_order, ..Vectors::EVERYTHING });
    let tidied = read::read_program(0, &tidy(text)).unwrap_or_else(|e| panic!("{e}\n{text}"));
    print::print_program(&for_target(&tidied, &Target { vectors, ..Target::default() }))
}

fn arguments(n: i64, m: i64) -> Vec<Flat> {
    let floats = |count: i64, by: f64| {
        let cells = (0..count.max(0)).map(|k| by * (1.5 + k as f64).sin());
        Flat::Buffer(Cells::F64(cells.collect()))
    };
    let cells = n.max(0) * m.max(0);
    let mut all: Vec<Flat> = [n, m].map(|k| Flat::Scalar(jut_ir::Literal::I64(k))).into();
    all.extend(
        [(cells, 1.0), (m, 0.7), (cells, 0.0), (m, 0.0), (n, 0.0)].map(|(k, by)| floats(k, by)),
    );
    all
}

fn of(order: &str, (from, to): (&str, &str)) -> String {
    SUMS_OF_ROWS.replace("ORDER", order).replace(from, to)
}

#[test]
fn four_iterations_have_their_sums_in_one_loop() {
    for order in ["up", "down"] {
        let text = of(order, ("", ""));
        let four = made(&text, true);
        assert!(four.contains(&format!("for {order} (part in 0 .. parts)")), "{four}");
        let sums = four
            .lines()
            .filter(|line| line.contains("for up") && line.contains("(j"))
            .map(|line| line.matches(" = b").count());
        assert_eq!(sums.collect::<Vec<_>>(), [4, 1], "{four}");
        // The row that is the same for all is loaded and stored to once.
        let (together, _) = four
            .split_once("(s_1")
            .map(|(_, rest)| rest.split_once("k[").unwrap_or_default())
            .unwrap_or_default();
        assert_eq!(
            (together.matches("= h[").count(), together.matches("] = ").count()),
            (1, 5),
            "{four}"
        );
        let two = made(&text, false);
        assert!(two.contains(&format!("for {order} (part in 0 .. parts)")), "{two}");
    }
}

#[test]
fn iterations_that_notice_each_other_stay_one_after_the_other() {
    for change in [
        // The next iteration of the inner loop, of another one around, looks at what one has stored.
        ("l = h[j]", "j_1 = j + 1\n      l = h[j_1]"),
        ("h[j] = t", "h[0] = t"),
        // Behind the inner loop something is stored that it loads, and before it something loaded that is stored behind.
        ("k[i] = u", "h[0] = u"),
        ("b = a[0]", "b = k[i]"),
        ("b = a[0]", "b = h[0]"),
        // Rows of another length overlap, and so do those beyond which columns are.
        ("r = g[row ..]", "rows = i * n\n    r = g[rows ..]"),
        ("for up (j in 0 .. m)", "for up (j in 0 .. n)"),
        // Each has a range of its own.
        ("for up (j in 0 .. m)", "for up (j in 0 .. i)"),
        // Something fails.
        ("c = a[j]", "check j < m @0:0..1\n      c = a[j]"),
        // More than a sum goes round.
        ("s_2 = s_1 + p", "s_2 = s_1 * p"),
        ("row = i * m", "row = i * m\n    h[0] = 1.0"),
    ] {
        for in_order in [true, false] {
            let made = made(&of("up", change), in_order);
            assert!(!made.contains("(part in"), "{change:?}\n{made}");
        }
    }
}

#[test]
fn sums_at_a_time_are_the_same_bit_for_bit() {
    let changes = [
        ("", ""),
        ("for up (j in 0 .. m)", "for down (j in 0 .. m)"),
        ("(s_1 = b)", "(s_1 = 0.25)"),
        ("for ORDER (i in 0 .. n)", "high = n - 1\n  for ORDER (i in 1 .. high)"),
        ("h[j] = t", "v[j] = t"),
    ];
    for change in changes {
        for order in ["up", "down"] {
            let text = SUMS_OF_ROWS.replace(change.0, change.1).replace("ORDER", order);
            let plain = read::read_program(0, &text).unwrap_or_else(|e| panic!("{e}\n{text}"));
            for in_order in [true, false] {
                let made = made(&text, in_order);
                assert!(made.contains("(part in"), "{made}");
                let program =
                    read::read_program(0, &made).unwrap_or_else(|e| panic!("{e}\n{made}"));
                for (n, m) in (-1..11).flat_map(|n| (1..10).map(move |m| (n, m))) {
                    let run = |p| {
                        format!("{:?}", eval::run(p, LoopFuncId::from_u32(0), &arguments(n, m)))
                    };
                    assert_eq!(run(&plain), run(&program), "{n} {m}\n{made}");
                }
            }
        }
    }
}

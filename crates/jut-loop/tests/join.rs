//! A loop of sums and what stands behind it over the same range are one loop.

use crate::support::tidied::{body, sums_run_alike, tidy};
use jut_loop::form::LoopFuncId;
use jut_loop::opt;
use jut_loop::signature::{Cells, Flat};
use jut_loop::{eval, print, read};

/// The sum of roots, which leaves each of them, and its gradient.
const ROOTS: &str = "
loop def f(n: i64, x: in f64[n], y: out f64[n]) -> (f64, f64) = {
  t = alloc f64[n] @0:0..1
  (s) = lanes (i in 0 .. n) carry (c) {
    a = x[i]
    p = a * a
    q = p + 1.0
    r = sqrt(q)
    t[i] = r
    c_1 = c + r
    (c_1)
  }
  h = s * 0.5
  for par (k in 0 .. n) {
    b = x[k]
    u = t[k]
    d = b / u
    y[k] = d
  }
  l = log(h)
  (s, l)
}";

/// The sums of a regression, and of their derivatives.
const LINE: &str = "
loop def f(n: i64, x: in f64[n], y: out f64[n]) -> (f64, f64) = {
  fill y[n] = 0.0
  (s) = lanes (i in 0 .. n) carry (c) {
    a = x[i]
    b = a * 0.3
    d = b - 0.7
    p = d * d
    c_1 = c + p
    (c_1)
  }
  (g) = lanes (k in 0 .. n) carry (e) {
    u = x[k]
    v = u * 0.3
    w = v - 0.7
    z = w * u
    e_1 = e + z
    (e_1)
  }
  (s, g)
}";

fn numbers(n: i64) -> Vec<Flat> {
    let special = |k: i64| match k % 11 {
        4 => f64::INFINITY,
        7 => f64::NAN,
        _ => (1.3 * k as f64).sin(),
    };
    let of = |f: &dyn Fn(i64) -> f64| Flat::Buffer(Cells::F64((0..n.max(0)).map(f).collect()));
    let x = if n % 3 == 2 { of(&special) } else { of(&|k| (1.3 * k as f64).sin()) };
    vec![Flat::Scalar(jut_ir::Literal::I64(n)), x, of(&|_| 0.0)]
}

fn loops(text: &str) -> usize {
    body(text).iter().filter(|l| l.contains("lanes (") || l.contains("for ")).count()
}

#[test]
fn a_sum_and_its_gradient_are_one_loop_without_what_one_leaves_for_the_other() {
    let tidied = body(ROOTS);
    assert_eq!(
        tidied,
        [
            "(s) = lanes (i in 0 .. n) carry (c) {",
            "a = x[i]",
            "p = a * a",
            "q = p + 1.0",
            "r = sqrt(q)",
            "c_1 = c + r",
            "d = a / r",
            "y[i] = d",
            "(c_1)",
            "h = s * 0.5",
            "l = log(h)",
            "(s, l)",
        ],
        "{tidied:#?}"
    );
    sums_run_alike(ROOTS, numbers);
}

#[test]
fn sums_of_the_same_numbers_are_one_loop() {
    let tidied = tidy(LINE);
    assert!(tidied.contains("(s, g) = lanes (i in 0 .. n) carry (c, e)"), "{tidied}");
    assert_eq!(tidied.matches("x[i]").count(), 1, "{tidied}");
    sums_run_alike(LINE, numbers);
}

#[test]
fn what_somebody_else_reads_is_stored() {
    let read = ROOTS.replace("l = log(h)", "l = t[0]");
    let tidied = tidy(&read);
    assert!(tidied.contains("t[i] = r"), "{tidied}");
    assert_eq!(loops(&read), 1, "{tidied}");
    // What is the caller's.
    let result = ROOTS
        .replace("    y[k] = d", "    z[k] = d")
        .replace("t[", "y[")
        .replace("  t = alloc f64[n] @0:0..1", "  z = alloc f64[n] @0:0..1");
    assert!(tidy(&result).contains("y[i] = r"), "{}", tidy(&result));
    sums_run_alike(&result, numbers);
}

#[test]
fn loops_that_depend_on_each_other_stay_apart() {
    let cases = [
        // The second needs the sum, itself or by way of something else.
        ROOTS.replace("d = b / u", "v = b / u\n    d = v * s"),
        ROOTS.replace("d = b / u", "v = b / u\n    d = v * h"),
        // Another range, or another element.
        ROOTS.replace("(k in 0 .. n)", "(k in 1 .. n)"),
        ROOTS.replace("u = t[k]", "j = n - k\n    j_1 = j - 1\n    u = t[j_1]"),
        // They have nothing in common.
        LINE.replace("u = x[k]", "u = y[k]"),
        // What the first reads is changed in between, or by the second.
        ROOTS
            .replace("  h = s * 0.5\n", "  h = s * 0.5\n  fill z[n] = 2.0\n")
            .replace("  t = alloc", "  z = alloc f64[n] @0:0..1\n  copy z[n] = x\n  t = alloc")
            .replace("a = x[i]", "a = z[i]"),
        ROOTS
            .replace("    y[k] = d", "    z[k] = d\n    y[k] = d")
            .replace("  t = alloc", "  z = alloc f64[n] @0:0..1\n  copy z[n] = x\n  t = alloc")
            .replace("x[", "z["),
        // It stores to another element: others may have read it already.
        ROOTS.replace("y[k] = d", "j = n - k\n    j_1 = j - 1\n    y[j_1] = d"),
        // One of them may fail.
        ROOTS.replace("    p = a * a", "    check i < n @0:0..1\n    p = a * a"),
        ROOTS.replace("    d = b / u", "    check k < n @0:0..1\n    d = b / u"),
        // Inside of a loop.
        LINE.replace(
            "  (s) = lanes",
            "  (s, g) = for up (o in 0 .. 2) carry (s0 = 0.0, g0 = 0.0) {\n  (s1) = lanes",
        )
        .replace("  (g) = lanes", "  (g1) = lanes")
        .replace("  (s, g)\n}", "  (s1, g1)\n  }\n  (s, g)\n}"),
    ];
    for text in cases {
        let count = 2 + text.matches("for up").count();
        assert_eq!(loops(&text), count, "{}", tidy(&text));
        sums_run_alike(&text, numbers);
    }
}

#[test]
fn many_sums_stay_apart() {
    let three = LINE.replace("carry (e) {", "carry (e, e2) {").replace("(g) =", "(g, g2) =");
    let three = three.replace("(e_1)\n", "e3 = e2 + w\n    (e_1, e3)\n");
    assert_eq!(loops(&three), 1, "{}", tidy(&three));
    let four = three.replace("carry (c) {", "carry (c, c2) {").replace("(s) =", "(s, s2) =");
    let four = four.replace("(c_1)\n", "c3 = c2 + d\n    (c_1, c3)\n");
    assert_eq!(loops(&four), 2, "{}", tidy(&four));
    sums_run_alike(&three, numbers);
    sums_run_alike(&four, numbers);
}

/// What the first loop has left is read in between, by a function that finds it in another array.
const HANDED_ON: &str = "
loop def g(rows: in buffer[1]) -> (f64) = {
  row: f64[] = rows[0]
  a = row[0]
  (a)
}
loop def f(n: i64, x: in f64[n], y: out f64[n]) -> (f64, f64) = {
  t = alloc f64[n] @0:0..1
  rows = alloc buffer[1] @0:0..1
  HERE
  (s) = lanes (i in 0 .. n) carry (c) {
    a = x[i]
    p = a * a
    t[i] = p
    c_1 = c + p
    (c_1)
  }
  THERE
  (v) = call g(rows)
  for par (k in 0 .. n) {
    b = x[k]
    u = t[k]
    d = b * u
    y[k] = d
  }
  (s, v)
}";

#[test]
fn what_somebody_has_a_pointer_to_is_there_before_he_is_called() {
    for (here, there) in [("rows[0] = t", ""), ("", "rows[0] = t")] {
        let text = HANDED_ON.replace("  HERE\n", &format!("  {here}\n"));
        let text = text.replace("  THERE\n", &format!("  {there}\n"));
        let plain = read::read_program(0, &text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        let f = LoopFuncId::from_u32(1);
        let run = |p| format!("{:?}", eval::run(p, f, &numbers(9)));
        let (expected, mut program) = (run(&plain), plain.clone());
        program.funcs.values_mut().for_each(opt::optimise);
        let tidied = print::print_program(&program);
        assert_eq!(expected, run(&program), "{tidied}");
        let (before, after) = tidied.split_once("call g").expect("a call");
        assert!(before.contains("lanes (") && after.contains("for par"), "{tidied}");
    }
}

//! What every iteration of a loop allocates is allocated once, where that is no more and fails no sooner.

use jut_ir::Literal;
use jut_loop::form::{LoopFuncId, LoopProgram};
use jut_loop::opt::for_target;
use jut_loop::signature::{Cells, Flat};
use jut_loop::target::Target;
use jut_loop::{eval, print, read};

fn program(text: &str) -> LoopProgram {
    read::read_program(0, text).unwrap_or_else(|e| panic!("{e} {:?}\n{text}", e.span))
}

/// The text for a backend that takes one iteration at a time, after having compared what comes out of it.
fn homed(text: &str) -> String {
    let plain = program(text);
    let text = print::print_program(&for_target(&plain, &Target::default()));
    let again = program(&text);
    for (n, m) in [(0, 0), (0, 3), (1, 1), (2, 5), (5, 2), (3, 0), (4, 4)] {
        let x = Flat::Buffer(Cells::F64((0..n * m).map(|k| (k * k) as f64 - 7.5).collect()));
        let sizes = [n, m].map(|k| Flat::Scalar(Literal::I64(k)));
        let arguments = [sizes[0].clone(), sizes[1].clone(), x];
        let run = |p| format!("{:?}", eval::run(p, LoopFuncId::from_u32(0), &arguments));
        assert_eq!(run(&plain), run(&again), "{n} {m}: {text}");
    }
    text
}

/// A loop with a buffer of `len` cells in each iteration, which is filled and summed.
fn sums(head: &str, before: &str, len: &str) -> String {
    format!(
        "loop def f(n: i64, m: i64, x: in f64[n*m]) -> (f64) = {{
  (s) = {head} {{
    top = mark
{before}    t = alloc f64[{len}] @0:0..1
    fill t[{len}] = 1.5
    for up (j in 0 .. {len}) {{
      a = t[j]
      b = f64(i)
      c = a + b
      t[j] = c
    }}
    (r) = for up (k in 0 .. {len}) carry (r_1 = s_1) {{
      d = t[k]
      r_2 = r_1 + d
      (r_2)
    }}
    release top
    (r)
  }}
  (s)
}}"
    )
}

const UP: &str = "for up (i in 0 .. n) carry (s_1 = 0.0)";

/// The lines up to the first loop.
fn before_the_loop(text: &str) -> Vec<&str> {
    text.lines().map(str::trim).take_while(|line| !line.contains("(i in")).collect()
}

#[test]
fn a_length_that_is_known_outside_is_asked_for_once() {
    let text = homed(&sums(UP, "", "m"));
    let expected = [
        "loop def f(n: i64, m: i64, x: in f64[n*m]) -> (f64) = {",
        "top_1 = mark",
        "runs = 0 < n",
        "len = select(runs, m, 0)",
        "t = alloc f64[len] @0:0..1",
    ];
    assert_eq!(before_the_loop(&text), expected, "{text}");
    assert_eq!(text.matches("= mark").count(), 1, "{text}");
    assert_eq!(text.matches("release").count(), 1, "{text}");
}

#[test]
fn a_length_that_grows_with_the_index_is_that_of_the_last_iteration() {
    for head in [UP, "for down (i in 0 .. n) carry (s_1 = 0.0)"] {
        let text = homed(&sums(head, "", "i"));
        assert!(before_the_loop(&text).contains(&"most = n - 1"), "{text}");
    }
}

#[test]
fn nothing_is_asked_for_before_what_can_fail_first() {
    let text = homed(&sums(UP, "    check R01 i < m @0:0..1\n", "m"));
    assert!(!before_the_loop(&text).iter().any(|line| line.contains("alloc")), "{text}");
}

#[test]
fn memory_that_was_not_there_at_the_same_time_still_is_not() {
    let early = "    early = mark
    big = alloc f64[m] @0:0..1
    release early
";
    let text = homed(&sums(UP, early, "m"));
    assert!(!before_the_loop(&text).iter().any(|line| line.contains("alloc")), "{text}");
}

#[test]
fn a_length_that_an_iteration_computes_stays_in_it() {
    let text = homed(&sums(UP, "    l = i * m\n", "l"));
    assert!(!before_the_loop(&text).iter().any(|line| line.contains("alloc")), "{text}");
}

#[test]
fn iterations_that_may_run_in_any_order_keep_their_own() {
    let text = homed(
        "loop def f(n: i64, m: i64, x: in f64[n*m]) -> (f64) = {
  y = alloc f64[n] @0:0..1
  for par (i in 0 .. n) {
    top = mark
    t = alloc f64[m] @0:0..1
    fill t[m] = 1.5
    (r) = for up (k in 0 .. m) carry (r_1 = 0.0) {
      d = t[k]
      r_2 = r_1 + d
      (r_2)
    }
    y[i] = r
    release top
  }
  (s) = lanes (i_1 in 0 .. n) carry (s_1) {
    e = y[i_1]
    s_2 = s_1 + e
    (s_2)
  }
  (s)
}",
    );
    assert!(!before_the_loop(&text).iter().any(|line| line.contains("t = alloc")), "{text}");
}

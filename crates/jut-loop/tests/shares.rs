//! Loops in shares: which loops become functions of a range, what those are, and that a loop whose iterations meet stays.
//! The evaluator runs the parts of a range out of order, so iterations that meet would show.

use jut_ir::Literal;
use jut_loop::form::LoopProgram;
use jut_loop::opt::for_target;
use jut_loop::signature::{Cells, Flat};
use jut_loop::target::Target;
use jut_loop::{eval, print, read};

fn program(text: &str) -> LoopProgram {
    read::read_program(0, text).unwrap_or_else(|e| panic!("{e} {:?}\n{text}", e.span))
}

fn run(program: &LoopProgram, args: &[Flat]) -> String {
    let (entry, _) = program.funcs.last().expect("a function");
    format!("{:?}", eval::run(program, entry, args))
}

fn arguments(n: i64, m: i64) -> Vec<Flat> {
    let floats =
        |n: i64, by: f64| Flat::Buffer(Cells::F64((0..n).map(|k| (k as f64 * by).sin()).collect()));
    let int = |n| Flat::Scalar(Literal::I64(n));
    let places = Flat::Buffer(Cells::I64((0..n).map(|k| k * 5 % n.max(1)).collect()));
    vec![int(n), int(m), floats(n * m, 0.37), floats(n * m, 1.3), floats(2, 0.7), places]
}

/// A function with this body, for targets that can run shares, after having compared what comes out of it.
fn shared(body: &str, role: &str) -> String {
    let plain = whole(body, role);
    let text = in_shares(&plain);
    let (plain, again) = (program(&plain), program(&text));
    assert_eq!(print::print_program(&again), text, "it reads back");
    for (n, m) in [(0, 3), (1, 1), (2, 5), (5, 2), (7, 4), (23, 3)] {
        assert_eq!(run(&plain, &arguments(n, m)), run(&again, &arguments(n, m)), "{n} {m}\n{text}");
    }
    text
}

fn in_shares(text: &str) -> String {
    let target = Target { shares: Some(2), ..Target::default() };
    print::print_program(&for_target(&program(text), &target))
}

fn whole(body: &str, role: &str) -> String {
    format!(
        "loop def f(n: i64, m: i64, x: in f64[n*m], y: {role} f64[n*m], c: inout f64[2], p: in i64[n]) -> (f64) = {{\n{body}\n}}"
    )
}

/// Whether a loop becomes a function, of a program that nobody runs.
fn is_stated(body: &str) -> bool {
    in_shares(&whole(body, "out")).contains(" shares 2")
}

fn is_shared(body: &str) -> bool {
    shared(body, "out").contains(" shares 2")
}

/// A sum, rows of an array, a cell that is added to, and memory of an iteration.
const ALL: &str = "
  (s) = lanes (i in 0 .. n) carry (a) {
    top = mark
    row = i * m
    xs = x[row ..]
    ys = y[row ..]
    t = alloc f64[m] @0:0..1
    for up (j in 0 .. m) {
      u = xs[j]
      v = u * u
      t[j] = v
    }
    (r) = for up (j_1 in 0 .. m) carry (b = 1.5) {
      w = t[j_1]
      ys[j_1] = w
      b_1 = b + w
      (b_1)
    }
    k = c[1]
    k_1 = k + r
    c[1] = k_1
    release top
    a_1 = a + r
    (a_1)
  }
  (s)";

/// What becomes of it.
const SHARED: &str = "\
loop def f.share0(m: i64, x: in f64[], y: out f64[], terms: out f64[], terms_1: out f64[], first: i64, from: i64, to: i64) = {
  for par (i in from .. to) {
    top = mark
    row = i * m
    xs = x[row ..]
    ys = y[row ..]
    t = alloc f64[m] @0:0..1
    for up (j in 0 .. m) {
      u = xs[j]
      v = u * u
      t[j] = v
    }
    (r) = for up (j_1 in 0 .. m) carry (b = 1.5) {
      w = t[j_1]
      ys[j_1] = w
      b_1 = b + w
      (b_1)
    }
    release top
    number = i - first
    terms[number] = r
    terms_1[number] = r
  }
}

loop def f(n: i64, m: i64, x: in f64[n*m], y: out f64[n*m], c: inout f64[2], p: in i64[n]) -> (f64) = {
  runs = 0 < n
  (s) = if runs {
    top_1 = mark
    trips = max(n, 0)
    len = min(trips, 65536)
    terms_2 = alloc f64[len] @0:0..1
    terms_3 = alloc f64[len] @0:0..1
    less = trips - 1
    rounds = shr(less, 16)
    rounds_1 = rounds + 1
    first_1 = c[1]
    (s_1, k_4) = for up (round in 0 .. rounds_1) carry (a_2 = 0.0, k_2 = first_1) {
      begin = shl(round, 16)
      start = 0 + begin
      left = trips - begin
      taken = min(left, 65536)
      end = start + taken
      call f.share0(m, x, y, terms_2, terms_3, start, start, end) shares 2
      less_1 = taken - 1
      blocks = shr(less_1, 10)
      blocks_1 = blocks + 1
      (a_5) = for up (block in 0 .. blocks_1) carry (a_4 = a_2) {
        offset = shl(block, 10)
        low = start + offset
        behind = low + 1024
        high = min(behind, end)
        (a_3) = lanes (i in low .. high) carry (a) {
          number_1 = i - start
          term = terms_2[number_1]
          a_1 = a + term
          (a_1)
        }
        s_2 = a_4 + a_3
        (s_2)
      }
      (k_3) = for up (i_1 in start .. end) carry (k = k_2) {
        number_2 = i_1 - start
        term_1 = terms_3[number_2]
        k_1 = k + term_1
        (k_1)
      }
      (a_5, k_3)
    }
    c[1] = k_4
    release top_1
    (s_1)
  } else {
    (0.0)
  }
  (s)
}
";

#[test]
fn a_loop_becomes_a_function_of_a_range_and_its_sums_loops_behind_it() {
    assert!(is_shared(ALL));
    assert_eq!(shared(ALL, "out"), SHARED);
    // Bounds as far apart as integers are.
    let sum = "
  (s) = lanes (i in m .. n) carry (a) {
    (r) = lanes (j in 0 .. 3) carry (b) {
      u = f64(i)
      b_1 = b + u
      (b_1)
    }
    a_1 = a + r
    (a_1)
  }
  (s)";
    let plain = whole(sum, "out");
    let cut = in_shares(&plain);
    assert!(cut.contains(" shares 2"));
    for (n, m) in [(i64::MIN, 1), (i64::MIN, 0), (i64::MIN + 1, i64::MAX), (3, -2), (5, 1)] {
        let mut arguments = arguments(0, 0);
        arguments[..2].clone_from_slice(&[n, m].map(|k| Flat::Scalar(Literal::I64(k))));
        assert_eq!(run(&program(&plain), &arguments), run(&program(&cut), &arguments), "{n} {m}");
    }
    // More iterations than a round has.
    for order in ["lanes (i in 0 .. n) carry (a)", "for down (i in 3 .. n) carry (a = 0.5)"] {
        let plain = whole(&ALL.replace("lanes (i in 0 .. n) carry (a)", order), "out");
        let arguments = arguments(70_000, 1);
        assert_eq!(
            run(&program(&plain), &arguments),
            run(&program(&in_shares(&plain)), &arguments)
        );
    }
}

#[test]
fn any_loop_whose_iterations_do_not_meet() {
    // Of any order, from another index on, and with its bound from a sum of others.
    for (from, to) in [
        ("lanes (i in 0 .. n) carry (a)", "for up (i in 0 .. n) carry (a = 0.5)"),
        ("lanes (i in 0 .. n) carry (a)", "for down (i in 0 .. n) carry (a = 0.5)"),
        ("lanes (i in 0 .. n)", "lanes (i in 1 .. n)"),
        // The rest of a row, and one cell of it.
        ("for up (j_1 in 0 .. m)", "for up (j_1 in 1 .. m)"),
        ("ys[j_1] = w", "ys[0] = w"),
        // A branch, and nothing that is added to a cell.
        ("c[1] = k_1", "() = if false {\n ys[0] = r\n } else {\n}\n c[1] = k_1"),
        ("k = c[1]\n    k_1 = k + r\n    c[1] = k_1", ""),
        // What the loop reads may be anywhere.
        ("u = xs[j]", "q = p[i]\n u = x[q]"),
    ] {
        assert!(ALL.contains(from), "{from}");
        assert!(is_shared(&ALL.replace(from, to)), "{to}");
    }
    let filled = "
  for par (i in 0 .. n) {
    row = i * m
    ys = y[row ..]
    fill ys[m] = 1.0
    copy ys[m] = ys
    for up (j in 0 .. m) {
      k = c[0]
      ys[j] = k
    }
  }
  (0.0)";
    assert!(is_shared(filled));
    let in_blocks = "
  size = m * 2
  g = alloc f64[0] @0:0..1
  for par (i in 0 .. 0) {
    begin = i * size
    gs = g[begin ..]
    for up (j in 0 .. m) {
      pair = j * 2
      gs_1 = gs[pair ..]
      gs_1[1] = 2.0
      fill gs_1[2] = 0.0
    }
  }
  (0.0)";
    assert!(is_shared(
        &in_blocks
            .replace("0 .. 0", "0 .. n")
            .replace("f64[0]", "f64[len]")
            .replace("  g = alloc", "  len = n * size\n  g = alloc")
    ));
    assert!(!is_shared(in_blocks), "a loop without an iteration");
}

#[test]
fn a_loop_whose_iterations_meet_stays() {
    for (from, to) in [
        // Another row, the next one's first cell, a cell that is looked up, the same cell in all.
        ("ys = y[row ..]", "back = n - 1\n o = back - i\n other = o * m\n ys = y[other ..]"),
        ("(r) = for up (j_1 in 0 .. m)", "rest = max(m, 0)\n (r) = for up (j_1 in 0 .. rest)"),
        ("ys[j_1] = w", "q = p[i]\n y[q] = w"),
        ("ys[j_1] = w", "y[0] = w"),
        // A cell that is more than added to.
        ("k_1 = k + r", "k_1 = k * r"),
        ("a_1 = a + r", "a_1 = a + k"),
        ("c[1] = k_1", "c[1] = k_1\n l = c[0]\n c[1] = l"),
        ("c[1] = k_1", "c[0] = k_1"),
        // A sum that is looked at on the way.
        ("a_1 = a + r", "a_2 = a * r\n a_1 = a + a_2"),
        // What it leaves on the tape.
        ("top = mark", "top = mark\n left = alloc tape f64[1] @0:0..1"),
    ] {
        assert!(ALL.contains(from), "{from}");
        assert!(!is_shared(&ALL.replace(from, to)), "{to}");
    }
    // Two accumulators of the caller's may be the same memory; one may be read in its own row only.
    let without = ALL.replace("    k = c[1]\n    k_1 = k + r\n    c[1] = k_1\n", "");
    assert!(!shared(ALL, "inout").contains(" shares "));
    assert!(shared(&without, "inout").contains(" shares 2"));
    for (to, stays) in [("u = ys[j]", false), ("q = p[i]\n u = y[q]", true)] {
        let text = shared(&without.replace("u = xs[j]", to), "inout");
        assert_eq!(!text.contains(" shares "), stays, "{to}");
    }
    // Rows whose length is another one in each iteration lie across each other.
    let uneven = without
        .replace("row = i * m", "q = p[i]\n row = i * q")
        .replace("j_1 in 0 .. m", "j_1 in 0 .. q")
        .replace("t = alloc f64[m]", "t = alloc f64[q]")
        .replace("j in 0 .. m", "j in 0 .. q");
    assert!(!is_stated(&uneven), "{uneven}");
    // A factor that is no length of rows of the array may be 0, or so large that products with it wrap.
    let stretched = without
        .replace("ys[j_1] = w", "ys[0] = w")
        .replace("row = i * m", "row = i * k")
        .replace("top = mark", "k = n / m\n top = mark");
    assert!(!is_stated(&stretched), "{stretched}");
    assert!(is_stated(&stretched.replace("row = i * k", "row = i * m")), "{stretched}");
    // A buffer of outside under another name, which a loop hands on.
    let handed_on = without
        .replace(
            "(r) = for up (j_1 in 0 .. m) carry (b = 1.5)",
            "(r, z) = for up (j_1 in 0 .. m) carry (b = 1.5, y_1 = y)",
        )
        .replace("ys[j_1] = w", "y_1[0] = w")
        .replace("(b_1)", "(b_1, y_1)");
    assert!(!is_stated(&handed_on), "{handed_on}");
    // From the last to the first, another iteration would be the first that fails.
    let down = ALL
        .replace("lanes (i in 0 .. n) carry (a)", "for down (i in 0 .. n) carry (a = 0.5)")
        .replace("top = mark", "top = mark\n check i < 3 @0:0..1");
    assert!(!shared(&down, "out").contains(" shares "));
    let up = without.replace("top = mark", "top = mark\n check i < 3 @0:0..1");
    assert!(is_shared(&up), "the first that fails is the first in its share");
    // A check may be what says that the cell is there.
    let checked = ALL.replace("    k = c[1]\n", "    check i < 3 @0:0..1\n    k = c[1]\n");
    assert!(!is_stated(&checked), "{checked}");
}

#[test]
fn loops_in_loops_and_in_functions_that_loops_call_stay() {
    let inner = "
  for up (t in 0 .. 3) {
    for par (i in 0 .. n) {
      row = i * m
      ys = y[row ..]
      for up (j in 0 .. m) {
        ys[j] = 1.0
      }
    }
  }
  (0.0)";
    assert!(!shared(inner, "inout").contains(" shares "));
    let called = |body: &str| {
        let text = format!(
            "loop def g(n: i64, m: i64, y: out f64[n*m]) = {{
  for par (i in 0 .. n) {{
    row = i * m
    ys = y[row ..]
    for up (j in 0 .. m) {{
      ys[j] = 1.0
    }}
  }}
}}
loop def f(n: i64, m: i64, y: out f64[n*m]) = {{
  {body}
}}"
        );
        let target = Target { shares: Some(2), ..Target::default() };
        print::print_program(&for_target(&program(&text), &target)).contains(" shares ")
    };
    assert!(called("call g(n, m, y)"));
    assert!(!called("for up (k in 0 .. 3) {\n call g(n, m, y)\n }"));
}

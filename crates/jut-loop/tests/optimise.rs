//! What tidying up does to the text, on functions written in the text form.

use crate::support::loops::{BEHIND, ROWS_APART, SWITCHED};
use crate::support::tidied::{body, runs_alike, tidy};
use jut_loop::form::LoopFuncId;
use jut_loop::signature::{Cells, Flat};
use jut_loop::{eval, read};

#[test]
fn a_cell_that_a_loop_adds_to_is_a_register() {
    let text = "
loop def f(n: i64, k: i64, x: in f64[n], g: inout f64[n]) = {
  for up (i in 0 .. n) {
    a = x[i]
    c = g[k]
    d = c + a
    g[k] = d
  }
}";
    assert_eq!(
        body(text),
        [
            "runs = 0 < n",
            "if runs {",
            "c_1 = g[k]",
            "(c_2) = for up (i in 0 .. n) carry (c = c_1) {",
            "a = x[i]",
            "d = c + a",
            "(d)",
            "g[k] = c_2",
            "} else {",
        ]
    );
}

#[test]
fn accumulators_that_may_be_the_same_memory_stay_in_memory() {
    let text = "
loop def f(n: i64, x: in f64[n], g: inout f64[n], h: inout f64[n]) = {
  for up (i in 0 .. n) {
    c = g[0]
    d = c + 1.0
    g[0] = d
    e = h[i]
    z = e + 1.0
    h[i] = z
  }
}";
    assert!(tidy(text).contains("g[0] = d"));
    // Two allocations are different memory.
    let text = text
        .replace(
            ", g: inout f64[n], h: inout f64[n]) = {",
            ") = {\n  g = alloc f64[n]\n  h = alloc f64[n]",
        )
        .replace("for up", "fill g[n] = 0.0\n  fill h[n] = 0.0\n  for up");
    assert!(!tidy(&text).contains("g[0] = d"));
}

#[test]
fn cells_that_are_only_loaded_take_no_register_from_another_buffer() {
    let loads: String = (0..18).map(|k| format!("    a{k} = h[{k}]\n")).collect();
    let text = format!(
        "
loop def f(n: i64) -> (f64) = {{
  g = alloc f64[1]
  fill g[1] = 0.0
  h = alloc f64[18]
  fill h[18] = 1.0
  for up (i in 0 .. n) {{
{loads}    c = g[0]
    d = c + a17
    g[0] = d
  }}
  r = g[0]
  (r)
}}"
    );
    assert!(!tidy(&text).contains("g[0] = d"), "{}", tidy(&text));
}

#[test]
fn stores_that_nobody_sees_go_and_loads_of_known_cells_too() {
    let text = "
loop def f(n: i64, i: i64, j: i64, x: inout f64[n]) = {
  a = x[i]
  b = a + 1.0
  x[i] = b
  c = x[i]
  d = c + 2.0
  x[i] = d
  e = x[j]
  x[i] = e
}";
    assert_eq!(
        body(text),
        ["a = x[i]", "b = a + 1.0", "d = b + 2.0", "x[i] = d", "e = x[j]", "x[i] = e"]
    );
}

#[test]
fn what_may_be_out_of_range_moves_only_where_the_loop_runs() {
    let text = "
loop def f(n: i64, k: i64, m: i64, x: in f64[n]) -> (f64) = {
  (s) = for up (i in 0 .. m) carry (t = 0.0) {
    check k < n @0:1..2
    a = x[k]
    b = sin(a)
    c = t + b
    (c)
  }
  (s)
}";
    assert_eq!(
        body(text),
        [
            "runs = 0 < m",
            "(a) = if runs {",
            "check k < n @0:1..2",
            "a_1 = x[k]",
            "(a_1)",
            "} else {",
            "(0.0)",
            "b = sin(a)",
            "(s) = for up (i in 0 .. m) carry (t = 0.0) {",
            "c = t + b",
            "(c)",
            "(s)",
        ]
    );
    // With a bad index and no iteration, nothing is loaded and nothing fails.
    let program = read::read_program(0, &tidy(text)).unwrap();
    let args = |m| {
        let int = |k| Flat::Scalar(jut_ir::Literal::I64(k));
        [int(2), int(7), int(m), Flat::Buffer(Cells::F64(vec![1.0, 2.0]))]
    };
    let run = |m| eval::run(&program, LoopFuncId::from_u32(0), &args(m));
    assert!(run(0).is_ok());
    assert!(matches!(run(1), Err(eval::Fault::Runtime(_))));
}

#[test]
fn a_check_does_not_overtake_another() {
    let text = "
loop def f(n: i64, k: i64, x: in i64[n]) = {
  for up (i in 0 .. n) {
    a = x[i]
    check a < n @0:1..2
    check k < n @0:3..4
  }
}";
    let tidy = body(text);
    assert_eq!(tidy[3], "check k < n @0:3..4");
}

#[test]
fn rows_and_repeated_expressions_are_computed_once() {
    let text = "
loop def f(n: i64, d: i64, x: in f64[n*d], y: out f64[n*d]) = {
  for up (i in 0 .. n) {
    for up (j in 0 .. d) {
      r = i * d
      a = x[r ..]
      b = a[j]
      q = i * d
      c = y[q ..]
      u = b * b
      v = b * b
      w = u + v
      c[j] = w
    }
  }
}";
    assert_eq!(
        body(text),
        [
            "for up (i in 0 .. n) {",
            "r = i * d",
            "a = x[r ..]",
            "c = y[r ..]",
            "for par (j in 0 .. d) {",
            "b = a[j]",
            "u = b * b",
            "w = u + u",
            "c[j] = w",
        ]
    );
}

/// The reverse of a step in time: the next cotangent is gathered from the present one, and then they change
/// places.
const STATES: &str = "
loop def f(n: i64, steps: i64, x: in f64[n], y: out f64[n]) = {
  a = alloc f64[n]
  b = alloc f64[n]
  copy a[n] = x
  m = n - 1
  (c, d) = for down (t in 0 .. steps) carry (u = a, v = b) {
    fill v[n] = 0.0
    for up (i in 0 .. m) {
      e = u[i]
      j = i + 1
      g = v[i]
      h = g + e
      v[i] = h
      k = e * 0.5
      l = v[j]
      o = l + k
      v[j] = o
    }
    (v, u)
  }
  copy y[n] = c
}";

#[test]
fn buffers_that_change_places_are_different_memory_in_each_iteration() {
    let gathered = |text: &str| body(text).iter().any(|l| l.starts_with("for par"));
    assert!(gathered(STATES), "{}", tidy(STATES));
    // Both are the same buffer from the second iteration on.
    assert!(!gathered(&STATES.replace("(v, u)", "(v, v)")));
    assert!(!gathered(&STATES.replace("v = b)", "v = a)")));
    // One of them is what the loop began with, and that is another.
    assert!(gathered(&STATES.replace("(v, u)", "(u, v)")));
    // Which of the two a third one is, is not known.
    let third = STATES.replace("(c, d) =", "(c, d, q) =").replace("v = b)", "v = b, w = b)");
    let third = third.replace("(v, u)", "(v, u, u)").replace("e = u[i]", "e = w[i]");
    assert!(!gathered(&third), "{}", tidy(&third));
}

#[test]
fn loops_over_buffers_that_change_places_do_the_same() {
    let back = STATES.replace("copy y[n] = c", "copy y[n] = d");
    let twice = STATES.replace(
        "  copy y[n] = c",
        "  (p, q) = for up (t_1 in 0 .. steps) carry (r = d, s = c) {
    for up (i_1 in 0 .. m) {
      e_1 = r[i_1]
      j_1 = i_1 + 1
      l_1 = s[j_1]
      o_1 = l_1 + e_1
      s[j_1] = o_1
      z_1 = c[i_1]
      w_1 = s[i_1]
      x_1 = w_1 + z_1
      s[i_1] = x_1
    }
    (s, r)
  }
  copy y[n] = p",
    );
    for text in [STATES, &back, &twice] {
        runs_alike(text, |steps| {
            let n = 11;
            let x = (0..n).map(|k| 0.1 + 1.0 / (1.0 + k as f64)).collect();
            let [n, steps] = [n, steps].map(|k| Flat::Scalar(jut_ir::Literal::I64(k)));
            let y = Flat::Buffer(Cells::F64(vec![0.0; 11]));
            vec![n, steps, Flat::Buffer(Cells::F64(x)), y]
        });
    }
}

#[test]
fn a_branch_on_what_is_the_same_in_all_iterations_leaves_the_loop() {
    let tidy = body(SWITCHED);
    let position = |line: &str| tidy.iter().position(|l| l == line);
    let start = position("(s) = if edge {").unwrap_or_else(|| panic!("{tidy:?}"));
    assert_eq!(
        tidy[start..start + 6],
        [
            "(s) = if edge {",
            "(s_1) = for up (i_1 in 0 .. n) carry (t_1 = 0.5) {",
            "a_1 = x[i_1]",
            "y[i_1] = a_1",
            "(t_1)",
            "(s_1)"
        ],
        "{tidy:?}"
    );
    // The other loop is peeled: neither its middle nor its end has a branch.
    assert!(!tidy.iter().any(|l| l.contains("||")), "{tidy:?}");
    let peeled = position("(s_2) = if runs {").unwrap_or_else(|| panic!("{tidy:?}"));
    let whole = tidy[peeled..].iter().position(|l| l == "} else {").unwrap_or_default();
    assert!(!tidy[peeled..peeled + whole].iter().any(|l| l.contains("if first")), "{tidy:?}");
    let denied = SWITCHED.replace("edge || first", "edge && first");
    for text in [SWITCHED, &denied] {
        for edge in [false, true] {
            runs_alike(text, |n| {
                let x: Vec<f64> = (0..9).map(|k| 0.1 + 1.0 / (1.0 + k as f64)).collect();
                let y = Flat::Buffer(Cells::F64(vec![0.0; 9]));
                let [n, edge] = [jut_ir::Literal::I64(n), jut_ir::Literal::Bool(edge)];
                vec![Flat::Scalar(n), Flat::Scalar(edge), Flat::Buffer(Cells::F64(x)), y]
            });
        }
    }
}

#[test]
fn several_branches_on_what_is_the_same_leave_a_loop_one_after_the_other() {
    let text = SWITCHED
        .replace("edge || first", "edge && first")
        .replace("at_edge = ", "low = n > 3\n    both = ")
        .replace("edge && first", "edge && first\n    at_edge = both && low");
    let tidy = body(&text);
    let ifs = tidy.iter().filter(|l| l.contains("if edge {") || l.contains("if low {"));
    assert_eq!(ifs.count(), 2, "{tidy:#?}");
    for edge in [false, true] {
        runs_alike(&text, |n| {
            let x: Vec<f64> = (0..9).map(|k| 0.1 + 1.0 / (1.0 + k as f64)).collect();
            let y = Flat::Buffer(Cells::F64(vec![0.0; 9]));
            let [n, edge] = [jut_ir::Literal::I64(n), jut_ir::Literal::Bool(edge)];
            vec![Flat::Scalar(n), Flat::Scalar(edge), Flat::Buffer(Cells::F64(x)), y]
        });
    }
}

#[test]
fn a_branch_leaves_a_loop_of_sums_by_lanes_if_nothing_else_decides_it() {
    let text = "
loop def f(n: i64, edge: bool, x: in f64[n], y: inout f64[n]) -> (f64) = {
  (s) = lanes (i in 0 .. n) carry (t) {
    first = i == 0
    (b) = if edge {
      a = x[i]
      (a)
    } else {
      (0.5)
    }
    u = t + b
    y[i] = u
    (u)
  }
  (s)
}";
    let with_first = text.replace("first = i == 0", "first = i == 0\n    at_edge = edge || first");
    let with_first = with_first.replace("if edge", "if at_edge");
    let sums = |text: &str| tidy(text).matches("lanes (").count();
    assert_eq!((sums(text), sums(&with_first)), (2, 1), "{}", tidy(text));
    for (text, edge) in [(text, false), (text, true), (&with_first, false)] {
        runs_alike(text, |n| {
            let x: Vec<f64> = (0..9).map(|k| 0.1 + 1.0 / (1.0 + k as f64)).collect();
            let y = Flat::Buffer(Cells::F64(vec![0.0; 9]));
            let [n, edge] = [jut_ir::Literal::I64(n), jut_ir::Literal::Bool(edge)];
            vec![Flat::Scalar(n), Flat::Scalar(edge), Flat::Buffer(Cells::F64(x)), y]
        });
    }
}

#[test]
fn integers_that_are_the_same_sum_have_one_name() {
    let text = "
loop def f(n: i64, k: i64, x: inout f64[n]) = {
  t = k + 1
  for up (j in 0 .. n) {
    p = t + j
    q = k + j
    r = q + 1
    s = 2 * j
    u = s + k
    v = r + j
    w = v - 1
    a = x[p]
    b = x[w]
    c = a + b
    x[r] = c
    d = x[u]
    e = d * 2.0
    x[u] = e
  }
}";
    let tidy = body(text);
    for line in ["a = x[p]", "x[p] = c", "b = x[u]", "x[u] = e"] {
        assert!(tidy.iter().any(|l| l == line), "{line} {tidy:?}");
    }
    let wraps = text.replace("2 * j", "9223372036854775807 * j");
    assert!(!body(&wraps).iter().any(|l| l == "b = x[u]"), "{wraps}");
}

/// A stencil that treats the ends of its grid otherwise.
const ENDS: &str = "
loop def f(n: i64, a: f64, x: in f64[n], y: inout f64[n]) -> (f64) = {
  last = n - 1
  (s) = for up (i in 0 .. n) carry (t = a) {
    first = i == 0
    ends = i == last
    at_end = first || ends
    (z, u) = if at_end {
      b = x[i]
      (b, t)
    } else {
      j = i - 1
      check j < n @0:1..2
      c = x[j]
      k = i + 1
      check k < n @0:1..2
      d = x[k]
      e = c + d
      v = t + e
      (e, v)
    }
    y[i] = z
    (u)
  }
  (s)
}";

#[test]
fn the_middle_of_a_loop_has_neither_the_branches_nor_the_checks_of_its_ends() {
    let tidy = body(ENDS);
    let start = tidy.iter().position(|l| l.contains("in 1 .. last")).unwrap();
    assert_eq!(
        tidy[start..start + 9],
        [
            "(t_2) = for up (i_1 in 1 .. last) carry (t_1 = a) {",
            "j_1 = i_1 - 1",
            "c_1 = x[j_1]",
            "k_1 = i_1 + 1",
            "d_1 = x[k_1]",
            "e_1 = c_1 + d_1",
            "v_1 = t_1 + e_1",
            "y[i_1] = e_1",
            "(v_1)",
        ],
        "{tidy:#?}"
    );
    // Nor have the ends a branch that is decided there.
    assert!(!tidy.iter().any(|l| l.contains("if at_end {")), "{tidy:#?}");
    // Nobody knows that an integer is not so large that a constant added to it wraps, unless an array is as long.
    let unknown = ENDS.replace("f64[n]", "f64[]");
    let tidy = body(&unknown);
    assert_eq!(tidy.iter().filter(|l| l.contains("if at_end {")).count(), 1, "{tidy:#?}");
}

#[test]
fn loops_without_their_ends_do_the_same_in_the_same_order() {
    let variants = [
        ENDS.to_string(),
        ENDS.replace("for up", "for down"),
        // One end only, other comparisons, and what is decided nowhere.
        ENDS.replace("ends = i == last", "ends = false || first"),
        ENDS.replace("first = i == 0", "first = i < 1").replace("i == last", "i >= last"),
        ENDS.replace("first = i == 0", "first = i != 0"),
        ENDS.replace("first = i == 0", "first = i == 2"),
        // An access that fails in the middle.
        ENDS.replace("k = i + 1", "k = i + 2"),
    ];
    for text in variants {
        runs_alike(&text, |n| {
            let numbers = |scale: f64| {
                let numbers = (0..n.max(0)).map(|k| scale / (1.0 + k as f64));
                Flat::Buffer(Cells::F64(numbers.collect()))
            };
            let scalars = [jut_ir::Literal::I64(n), jut_ir::Literal::F64(0.5)];
            let [n, a] = scalars.map(Flat::Scalar);
            vec![n, a, numbers(1.0), numbers(1e9)]
        });
    }
}

/// Neighbours on a ring.
const RING: &str = "
loop def f(n: i64, a: f64, x: in f64[n], y: out f64[n]) = {
  last = n - 1
  for up (i in 0 .. n) {
    first = i == 0
    l = i - 1
    left = select(first, last, l)
    end = i == last
    r = i + 1
    right = select(end, 0, r)
    check left < n @0:0..1
    b = x[left]
    check right < n @0:1..2
    c = x[right]
    d = b + c
    e = d * a
    y[i] = e
  }
}";

#[test]
fn the_middle_of_a_ring_selects_no_neighbours() {
    let tidy = body(RING);
    let start = tidy.iter().position(|l| l.contains("in 1 .. last")).unwrap();
    let end = tidy[start..].iter().position(|l| l.starts_with("y[")).unwrap();
    let middle = &tidy[start..start + end];
    assert!(!middle.iter().any(|l| l.contains("select") || l.contains("check")), "{tidy:#?}");
    // Where the index goes one further, it is out of range in the middle as well.
    let too_far = RING.replace("l = i - 1", "l = i + 3");
    let beyond = RING.replace("check left < n", "check left < last");
    for text in [RING, &too_far, &beyond] {
        runs_alike(text, |n| {
            let numbers = |scale: f64| {
                let numbers = (0..n.max(0)).map(|k| scale / (1.0 + k as f64));
                Flat::Buffer(Cells::F64(numbers.collect()))
            };
            let scalars = [jut_ir::Literal::I64(n), jut_ir::Literal::F64(0.5)];
            let [n, a] = scalars.map(Flat::Scalar);
            vec![n, a, numbers(1.0), numbers(1e9)]
        });
    }
}

#[test]
fn texts_that_are_no_loop_programs_are_refused_with_a_place() {
    for (text, code) in [
        ("loop def f(a: f64) = { b = a + 1 }", "J012"),
        ("loop def f(a: f64) = { b = c + a }", "J010"),
        ("loop def f(a: f64) = { a = 1.0 }", "J011"),
        ("loop def f(a: f64) -> (i64) = { (a) }", "J214"),
        ("loop def f(a: f64) = { call g(a) }", "J014"),
        ("loop def f(x: in f64[2]) = { x[1.0] = 2.0 }", "J202"),
        ("loop def f(x: in f64[2]) = { x[1] = 2 }", "J202"),
        ("loop def f(a: f64) = { for up (i in 0 .. 3) carry (b = a) { (i) } }", "J213"),
        ("loop def f(a: f64) = { ? }", "J001"),
        ("loop def f(a: f64) = { if true { }", "J002"),
        ("loop def f(a: f64", "J002"),
    ] {
        let error = read::read_program(3, text).unwrap_err();
        assert_eq!((error.code, error.span.file), (code, 3), "{text}: {error}");
    }
    let deep = "loop def f() = {".to_string() + &"if true {".repeat(100_000);
    assert_eq!(read::read_program(0, &deep).unwrap_err().code, "J002");
}

#[test]
fn a_maximum_compares_once_while_it_stays() {
    let text = "
loop def f(n: i64, x: in f64[n]) -> (f64, i64) = {
  t_9 = inf()
  t_10 = -t_9
  (v_1, k_1) = for up (i in 0 .. n) carry (v = t_10, k = 0) {
    t = x[i]
    t_2 = t > v
    t_3 = t != t
    t_4 = v == v
    t_5 = t_3 && t_4
    t_6 = t_2 || t_5
    t_7 = select(t_6, t, v)
    t_8 = select(t_6, i, k)
    (t_7, t_8)
  }
  (v_1, k_1)
}";
    let lines = body(text);
    let position = |line: &str| lines.iter().position(|l| l == line).expect(line);
    assert_eq!(lines[position("t = x[i]") + 1], "calm = t <= v", "{lines:?}");
    assert!(position("t_2 = t > v") > position("calm = t <= v"), "{lines:?}");
    let nan = f64::NAN;
    let inf = f64::INFINITY;
    for xs in [
        vec![],
        vec![-inf, -inf],
        vec![1.0, 3.0, 3.0, 2.0],
        vec![-0.0, 0.0],
        vec![0.0, -0.0, nan, 5.0, nan],
        vec![nan, inf],
    ] {
        let run = |text: &str| {
            let program = read::read_program(0, text).unwrap();
            let n = Flat::Scalar(jut_ir::Literal::I64(xs.len() as i64));
            let args = [n, Flat::Buffer(Cells::F64(xs.clone()))];
            format!("{:?}", eval::run(&program, LoopFuncId::from_u32(0), &args).unwrap().results)
        };
        assert_eq!(run(text), run(&tidy(text)), "{xs:?}");
    }
}

/// A check that stays in the body may be what says that the cell is there: nothing passes it.
#[test]
fn no_load_or_store_leaves_a_loop_past_a_check_or_call() {
    let guards = [
        "j = ix[i]\n    check j < n @0:1..2",
        "for up (t in 0 .. 2) {\n      j = ix[i]\n      check j < n @0:1..2\n    }",
        "j = ix[i]\n    call inner(j, n)",
    ];
    for guard in guards {
        let text = |access: &str| {
            format!(
                "
loop def inner(j: i64, n: i64) = {{
  check j < n @0:1..2
}}

loop def f(n: i64, k: i64, ix: in i64[n], x: in f64[n], g: inout f64[n]) = {{
  for up (i in 0 .. n) {{
    {guard}
    {access}
  }}
}}"
            )
        };
        for access in ["a = x[k]\n    g[i] = a", "c = g[k]\n    d = c + 1.0\n    g[k] = d"] {
            let tidy = tidy(&text(access));
            let (_, body) = tidy.split_once("for up (i").expect("a loop");
            for line in access.lines().map(str::trim) {
                assert!(body.contains(line), "{line}:\n{tidy}");
            }
        }
    }
}

#[test]
fn a_store_that_another_name_of_the_memory_reads_stays() {
    let text = "
loop def f(x: out f64[4], y: out f64[1]) = {
  x[1] = 1.0
  r = x[1 ..]
  a = r[0]
  x[1] = 2.0
  y[0] = a
}";
    assert!(tidy(text).contains("x[1] = 1.0"), "{}", tidy(text));
}

#[test]
fn what_a_cell_holds_is_known_in_branches_and_beside_stores_to_neighbours() {
    let text = "
loop def f(i: i64, c: bool, e: f64, x: out f64[9]) = {
  j = i + 1
  x[i] = e
  x[j] = 2.0
  if c {
    a = x[i]
    x[8] = a
  } else {
    k = j - 1
    b = x[k]
    x[7] = b
  }
}";
    assert_eq!(
        body(text),
        ["j = i + 1", "x[i] = e", "x[j] = 2.0", "if c {", "x[8] = e", "} else {", "x[7] = e"]
    );
}

#[test]
fn a_pointer_from_memory_is_to_what_was_handed_on() {
    let text = "
loop def f(n: i64, i: i64, y: out f64[n]) -> (f64) = {
  t = alloc buffer[n] @0:0..1
  a = alloc tape f64[n] @0:0..1
  t[0] = a
  SEEN[0] = 1.0
  b: f64[] = t[i]
  b[0] = 2.0
  c = SEEN[0]
  (c)
}";
    // Nobody put y where b comes from.
    let kept = body(&text.replace("SEEN", "y"));
    assert_eq!(kept.last().map(String::as_str), Some("(1.0)"), "{kept:?}");
    // b may be a.
    let loaded = body(&text.replace("SEEN", "a"));
    assert!(loaded.contains(&"c = a[0]".to_owned()), "{loaded:?}");
    for shown in ["(p) = if i < n {\n(y)\n} else {\n(a)\n}\nt[0] = p", "t[1] = y"] {
        let shown = shown.replace("if i < n", "if q").replace("(p)", "q = i < n\n(p)");
        let loaded = body(&text.replace("SEEN", "y").replace("t[0] = a", &shown));
        assert!(loaded.contains(&"c = y[0]".to_owned()), "{loaded:?}");
    }
}

#[test]
fn a_cell_is_a_register_in_the_rows_behind_its_own() {
    let stores = |text: &str| tidy(text).matches("r[k] = ").count();
    // The whole loop, its last iteration, and once behind the others.
    assert_eq!(
        (stores(BEHIND), tidy(BEHIND).matches("carry (c").count()),
        (3, 1),
        "{}",
        tidy(BEHIND)
    );
    let others = [
        // Rows that end elsewhere, begin before, or are not rows of this length.
        BEHIND.replace("high = n - p", "high = n - 1"),
        BEHIND.replace("q = p + i", "q = p - i"),
        BEHIND.replace("begin = q * m", "begin = q * n"),
        BEHIND.replace("size = n * m\n  g = alloc f64[size]", "size = n * m\n  g = alloc f64[n]"),
        // Columns that may be beyond the row, or before it.
        BEHIND.replace("for up (k in 0 .. m)", "for up (k in 0 .. n)"),
        BEHIND.replace("v = s[0]", "v = s[-1]").replace("s[0] = w", "s[-1] = w"),
        // Another name of the row.
        BEHIND.replace("v = s[0]", "v = g[first]"),
    ];
    for text in others {
        assert!(!tidy(&text).contains("carry (c"), "{}", tidy(&text));
    }
}

#[test]
fn cells_in_registers_beside_rows_behind_do_the_same() {
    for text in [
        BEHIND.to_string(),
        BEHIND.replace("for down (i", "for up (i"),
        BEHIND.replace("s[0]", "s[k]"),
    ] {
        for m in 1..4 {
            runs_alike(&text, |n| {
                let cells = (n.max(0) * m) as usize;
                let a = (0..cells).map(|k| 1.0 / (1.5 + k as f64)).collect();
                let [n, m] = [n, m].map(|k| Flat::Scalar(jut_ir::Literal::I64(k)));
                vec![n, m, Flat::Buffer(Cells::F64(a)), Flat::Buffer(Cells::F64(vec![0.0; cells]))]
            });
        }
    }
}

#[test]
fn what_a_cell_holds_is_known_beside_stores_to_other_rows() {
    let accesses = |text: &str| {
        let tidy = tidy(text);
        (tidy.matches("own[p] = ").count(), tidy.matches("= own[p]").count())
    };
    assert_eq!(accesses(ROWS_APART), (1, 1), "{}", tidy(ROWS_APART));
    let others = [
        // A row of which nothing is known, and rows of different lengths.
        ROWS_APART.replace("k = 1 + i", "k = i * i"),
        ROWS_APART.replace("k_row = k * m", "k_row = k * n"),
        // Columns beyond a row.
        ROWS_APART.replace("for up (j in 0 .. last)", "for up (j in 0 .. end)"),
    ];
    for text in others {
        assert_eq!(accesses(&text), (2, 2), "{}", tidy(&text));
    }
}

#[test]
fn cells_that_are_known_beside_other_rows_are_the_same() {
    for text in [ROWS_APART.to_string(), ROWS_APART.replace("for up", "for down")] {
        for m in 1..12 {
            runs_alike(&text, |n| {
                let cells = (n.max(0) * m) as usize;
                let a = |by: f64| (0..cells.max(1)).map(|k| by / (1.5 + k as f64)).collect();
                let [n, m] = [n, m].map(|k| Flat::Scalar(jut_ir::Literal::I64(k)));
                vec![n, m, Flat::Buffer(Cells::F64(a(1.0))), Flat::Buffer(Cells::F64(a(0.7)))]
            });
        }
    }
}

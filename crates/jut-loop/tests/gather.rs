//! Loops that add to neighbours: each iteration gathers what its own cell is given.

use crate::support::tidied::{body, runs_alike, tidy};
use jut_loop::form::LoopFuncId;
use jut_loop::opt::for_target;
use jut_loop::signature::{Cells, Flat};
use jut_loop::target::{Target, Vectors};
use jut_loop::{eval, print, read};

/// A loop that adds to two neighbours, over `0 .. m`.
const NEIGHBOURS: &str = "
loop def f(n: i64, m: i64, x: in f64[n], g: inout f64[n]) = {
  for up (i in 0 .. m) {
    a = x[i]
    b = g[i]
    c = b + a
    g[i] = c
    j = i + 1
    d = g[j]
    e = a * 2.0
    h = d + e
    g[j] = h
  }
}";

#[test]
fn a_loop_that_adds_to_neighbours_gathers_instead() {
    let tidy = body(NEIGHBOURS);
    let start = tidy.iter().position(|l| l.starts_with("for par")).unwrap();
    assert_eq!(
        tidy[start..start + 10],
        [
            "for par (i_1 in 1 .. m) {",
            "d_1 = g[i_1]",
            "j_1 = i_1 + -1",
            "a_1 = x[j_1]",
            "e_1 = a_1 * 2.0",
            "h_1 = d_1 + e_1",
            "a_2 = x[i_1]",
            "c_1 = h_1 + a_2",
            "g[i_1] = c_1",
            "} else {",
        ]
    );
}

/// A loop that takes what stands in the cells of an array, leaves zeros there, and adds to two neighbours of another.
const TAKEN: &str = "
loop def f(n: i64, m: i64, x: in f64[n], g: inout f64[n]) = {
  h = alloc f64[n] @0:0..1
  copy h[n] = x
  for down (i in 0 .. m) {
    a = h[i]
    h[i] = 0.0
    b = g[i]
    c = b + a
    g[i] = c
    j = i + 1
    d = g[j]
    e = a * 2.0
    p = d + e
    g[j] = p
  }
  for up (k in 0 .. n) {
    q = h[k]
    r = g[k]
    s = q + r
    g[k] = s
  }
}";

fn numbers(m: i64) -> Vec<Flat> {
    let n = 12;
    let x = (0..n).map(|k| 0.1 + 1.0 / (k as f64)).collect();
    let g = (0..n).map(|k| 1e15 / (1.0 + k as f64)).collect();
    let [n, m] = [n, m].map(|k| Flat::Scalar(jut_ir::Literal::I64(k)));
    vec![n, m, Flat::Buffer(Cells::F64(x)), Flat::Buffer(Cells::F64(g))]
}

#[test]
fn cells_that_are_taken_are_cleared_behind_the_loop_that_gathers() {
    let tidy = body(TAKEN);
    let loops: Vec<usize> = (0..tidy.len()).filter(|k| tidy[*k].starts_with("for par")).collect();
    let [gathers, clears, ..] = loops[..] else { panic!("{tidy:?}") };
    let within =
        |at: usize, line: &str| tidy[at..].iter().take_while(|l| *l != "}").any(|l| l == line);
    assert!(within(gathers, "a_1 = h[j_1]") || within(gathers, "a_1 = h[i_1]"), "{tidy:?}");
    assert_eq!(tidy[clears + 1], "h[i_2] = 0.0", "{tidy:?}");
    runs_alike(TAKEN, numbers);
}

#[test]
fn cells_that_more_than_one_iteration_comes_to_are_not_taken() {
    let cases = [
        // The next iteration finds what this one has stored.
        TAKEN
            .replace("h[i] = 0.0", "h[i_1] = 0.0")
            .replace("a = h[i]", "a = h[i]\n    i_1 = i - 1"),
        // The cell of the next iteration is loaded as well.
        TAKEN
            .replace("d = g[j]", "z = h[j]\n    y = g[j]\n    d = y + z")
            .replace("0 .. m", "0 .. l")
            .replace("  h = alloc", "  l = m - 1\n  h = alloc"),
        // What is stored belongs to the iteration.
        TAKEN
            .replace("h[i] = 0.0", "h[i] = b")
            .replace("    a = h[i]", "    b = x[i]\n    a = h[i]")
            .replace("    b = g[i]\n    c = b", "    z = g[i]\n    c = z"),
        // The array may be the one that is added to.
        TAKEN.replace("h = alloc f64[n] @0:0..1\n  copy h[n] = x", "h = g[0 ..]"),
    ];
    for text in cases {
        let tidied = tidy(&text);
        assert!(!tidied.contains("gathers"), "{tidied}");
        if !text.contains("i_1 = i - 1") {
            runs_alike(&text, numbers);
        }
    }
}

#[test]
fn gathering_gives_the_same_bits_for_every_number_of_iterations() {
    let wide = NEIGHBOURS.replace("j = i + 1", "j = i + 3");
    let down = NEIGHBOURS.replace("for up", "for down");
    let shifted = NEIGHBOURS
        .replace("in 0 .. m", "in 1 .. m")
        .replace("g[i]", "g[k]")
        .replace("    a = x[i]\n", "    a = x[i]\n    k = i - 1\n");
    let summed = NEIGHBOURS
        .replace(") = {", ") -> (f64) = {")
        .replace("  for up (i in 0 .. m) {", "  (s) = for up (i in 0 .. m) carry (t = 0.5) {");
    let summed =
        summed.replace("    g[j] = h\n  }", "    g[j] = h\n    u = t * a\n    (u)\n  }\n  (s)");
    assert!(tidy(&summed).contains("for par"), "{}", tidy(&summed));
    let by_lanes = summed
        .replace("for up (i in 0 .. m) carry (t = 0.5)", "lanes (i in 0 .. m) carry (t)")
        .replace("u = t * a", "u = t + a");
    let tidied = tidy(&by_lanes);
    // The sum with what is gathered, and the loop as it is for few iterations.
    assert_eq!(
        (tidied.matches("previous").count(), tidied.matches("lanes (").count()),
        (1, 2),
        "{tidied}"
    );
    let overwritten = NEIGHBOURS.replace("    c = b + a\n    g[i] = c", "    g[i] = a");
    for text in [NEIGHBOURS, &wide, &down, &shifted, &summed, &by_lanes, &overwritten] {
        runs_alike(text, numbers);
    }
}

#[test]
fn a_loop_whose_iterations_own_their_cells_is_parallel() {
    let text = NEIGHBOURS.replace("j = i + 1", "j = i + 0");
    assert!(tidy(&text).contains("for par (i in 0 .. m)"), "{}", tidy(&text));
}

#[test]
fn what_a_loop_reads_of_the_memory_that_it_writes_is_not_gathered() {
    // The sum runs through the elements.
    let text = NEIGHBOURS.replace("h = d + e", "h = c + e");
    assert!(tidy(&text).contains("for up"), "{}", tidy(&text));
}

/// The reverse of a step on a grid: each cell adds to four neighbours and to itself, unless it lies on an edge.
const GRID: &str = "
loop def f(n: i64, m: i64, x: in f64[n*m], g: inout f64[n*m]) -> (f64) = {
  low_row = n - 1
  low_column = m - 1
  (s) = for up (i in 0 .. n) carry (t = 0.5) {
    first = i == 0
    last = i == low_row
    edge = first || last
    own_row = i * m
    own = g[own_row ..]
    source = x[own_row ..]
    k = i - 1
    k_row = k * m
    above = g[k_row ..]
    l = i + 1
    l_row = l * m
    below = g[l_row ..]
    (z) = for up (j in 0 .. m) carry (y = t) {
      left = j == 0
      right = j == low_column
      ends = left || right
      outer = edge || ends
      c = source[j]
      y_1 = y + c
      if outer {
        a = own[j]
        b = a + c
        own[j] = b
      } else {
        d = c * 0.25
        e = own[j]
        e_1 = e + c
        own[j] = e_1
        p = j + 1
        o = own[p]
        o_1 = o + d
        own[p] = o_1
        q = j - 1
        r = own[q]
        r_1 = r + d
        own[q] = r_1
        u = above[j]
        u_1 = u + d
        above[j] = u_1
        v = below[j]
        v_1 = v + d
        below[j] = v_1
      }
      (y_1)
    }
    (z)
  }
  (s)
}";

#[test]
fn neighbours_on_a_grid_are_gathered_row_by_row() {
    let loops = |text: &str| body(text).iter().filter(|l| l.starts_with("for par")).count();
    assert_eq!(loops(GRID), 3, "{}", tidy(GRID));
    // The rows are not known to be apart: they overlap where the loop leaves a row, or differ by a cell.
    assert_eq!(loops(&GRID.replace("j in 0 .. m", "j in 0 .. n")), 0);
    assert_eq!(loops(&GRID.replace("k = i - 1", "k = i - n")), 0);
    // Two names of one row are one buffer, which is gathered, too.
    let same = GRID.replace("k = i - 1", "k = i - 0");
    assert_eq!(loops(&same), 2, "{}", tidy(&same));
    assert_eq!(loops(&GRID.replace("k_row = k * m", "k_row = k * n")), 0);
    let wide = GRID.replace("p = j + 1", "p = j + 2");
    assert_eq!(loops(&wide), 0, "{}", tidy(&wide));
    let down = GRID.replace("for up", "for down");
    let sides = GRID.replace("        r_1 = r + d\n", "        r_1 = r + c\n");
    for text in [GRID, &down, &sides, &same] {
        for m in 0..7 {
            runs_alike(text, |n| {
                let cells = (n.max(0) * m) as usize;
                let x = (0..cells).map(|k| 0.1 + 1.0 / (1.0 + k as f64)).collect();
                let g = (0..cells).map(|k| 1e15 / (1.0 + k as f64)).collect();
                let [n, m] = [n, m].map(|k| Flat::Scalar(jut_ir::Literal::I64(k)));
                vec![n, m, Flat::Buffer(Cells::F64(x)), Flat::Buffer(Cells::F64(g))]
            });
        }
    }
}

#[test]
fn neighbours_on_a_grid_are_gathered_beside_sums_by_lanes() {
    // What is added to the sum is not added on an edge, as of the derivative by a coefficient.
    let sums = GRID
        .replace("(z) = for up (j in 0 .. m) carry (y = t)", "(z) = lanes (j in 0 .. m) carry (y)")
        .replace("      y_1 = y + c\n      if outer {", "      (y_1) = if outer {")
        .replace("        own[j] = b\n", "        own[j] = b\n        (y)\n")
        .replace(
            "        below[j] = v_1\n",
            "        below[j] = v_1\n        y_2 = y + d\n        (y_2)\n",
        )
        .replace("    (z)\n  }\n  (s)", "    t_1 = t + z\n    (t_1)\n  }\n  (s)");
    let tidied = tidy(&sums);
    let gathered = tidied.lines().filter(|l| l.trim_start().starts_with("for par")).count();
    assert!(gathered >= 3 && tidied.contains("gathers"), "{tidied}");
    // Of rows on an edge no loop asks for the ends.
    let rows = tidied.split("if edge {").nth(1).and_then(|rest| rest.split("} else {").next());
    assert!(rows.is_some_and(|rows| !rows.contains("left")), "{tidied}");
    for m in 0..19 {
        runs_alike(&sums, |n| {
            let cells = (n.max(0) * m) as usize;
            let x = (0..cells).map(|k| 0.1 + 1.0 / (1.0 + k as f64)).collect();
            let g = (0..cells).map(|k| 1e15 / (1.0 + k as f64)).collect();
            let [n, m] = [n, m].map(|k| Flat::Scalar(jut_ir::Literal::I64(k)));
            vec![n, m, Flat::Buffer(Cells::F64(x)), Flat::Buffer(Cells::F64(g))]
        });
    }
}

/// A loop that adds to a cell, the one beside it, and the one below, with bounds that are no sizes where there are no cells.
const BELOW: &str = "
loop def f(n: i64, m: i64, x: in f64[n*m], g: inout f64[n*m]) = {
  w = m - 1
  high = max(w, 0)
  v = n - 1
  rows = max(v, 0)
  for up (i in 0 .. rows) {
    row = i * m
    own = g[row ..]
    source = x[row ..]
    k = i + 1
    k_row = k * m
    below = g[k_row ..]
    for up (j in 0 .. high) {
      c = source[j]
      a = own[j]
      a_1 = a + c
      own[j] = a_1
      p = j + 1
      b = own[p]
      b_1 = b + c
      own[p] = b_1
      d = below[j]
      d_1 = d + c
      below[j] = d_1
    }
  }
}";

#[test]
fn a_bound_that_is_not_negative_leaves_a_loop_within_its_row() {
    let loops = |text: &str| body(text).iter().filter(|l| l.starts_with("for par")).count();
    assert_eq!(loops(BELOW), 2, "{}", tidy(BELOW));
    // It may run once in a row without cells, or where a row ends.
    assert_eq!(loops(&BELOW.replace("max(w, 0)", "max(w, 1)")), 0);
    assert_eq!(loops(&BELOW.replace("j in 0 ..", "j in -1 ..")), 0);
    assert_eq!(loops(&BELOW.replace("w = m - 1", "w = m - 0")), 0);
    for m in 0..7 {
        runs_alike(BELOW, |n| {
            let cells = (n.max(0) * m) as usize;
            let x = (0..cells).map(|k| 0.1 + 1.0 / (1.0 + k as f64)).collect();
            let g = (0..cells).map(|k| 1e15 / (1.0 + k as f64)).collect();
            let [n, m] = [n, m].map(|k| Flat::Scalar(jut_ir::Literal::I64(k)));
            vec![n, m, Flat::Buffer(Cells::F64(x)), Flat::Buffer(Cells::F64(g))]
        });
    }
}

/// Springs between points in space, whose coordinates lie side by side.
const SPRINGS: &str = "
loop def f(n: i64, m: i64, x: in f64[3*n], g: inout f64[3*n]) -> (f64) = {
  (s) = for up (i in 0 .. m) carry (t = 0.5) {
    row = i * 3
    a = x[row ..]
    j = i + 1
    row_1 = j * 3
    b = x[row_1 ..]
    u = a[0]
    v = b[0]
    d = v - u
    u_1 = a[1]
    v_1 = b[1]
    d_1 = v_1 - u_1
    p = d * d
    q = d_1 * d_1
    r = p + q
    e = r * d
    f = r * d_1
    t_1 = t + r
    ga = g[row ..]
    k = ga[0]
    k_1 = k - e
    ga[0] = k_1
    gb = g[row_1 ..]
    l = gb[0]
    l_1 = l + e
    gb[0] = l_1
    o = ga[1]
    o_1 = o - f
    ga[1] = o_1
    w = gb[1]
    w_1 = w + f
    gb[1] = w_1
    (t_1)
  }
  (s)
}";

#[test]
fn points_are_neighbours_whose_coordinates_lie_side_by_side() {
    let vectors = |text: &str| {
        let plain = read::read_program(0, text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        let target = Target { vectors: Some(Vectors::EVERYTHING), ..Target::default() };
        let made = print::print_program(&for_target(&plain, &target));
        let again = read::read_program(0, &made).unwrap();
        for m in [0, 1, 2, 7, 8, 9, 17] {
            let numbers = |by: f64| {
                let number = |k: i64| (k as f64 * by).sin();
                Flat::Buffer(Cells::F64((0..60).map(number).collect()))
            };
            let [n, m] = [20, m].map(|k| Flat::Scalar(jut_ir::Literal::I64(k)));
            let arguments = [n, m, numbers(0.7), numbers(1.3)];
            let run = |p| format!("{:?}", eval::run(p, LoopFuncId::from_u32(0), &arguments));
            assert_eq!(run(&plain), run(&again), "{made}");
        }
        made.contains("vector 8")
    };
    assert!(vectors(SPRINGS));
    assert!(vectors(&SPRINGS.replace("for up", "for down")));
    let by_lanes =
        SPRINGS.replace("for up (i in 0 .. m) carry (t = 0.5)", "lanes (i in 0 .. m) carry (t)");
    assert!(vectors(&by_lanes));
    // Points that run backwards.
    let back = SPRINGS
        .replace("row = i * 3", "b_i = 18 - i\n row = b_i * 3")
        .replace("j = i + 1", "j = b_i + 1");
    assert!(vectors(&back));
    // What is added to one point is read at the next, and a cell that all points share.
    assert!(!vectors(&SPRINGS.replace("u_1 = a[1]", "h = g[row_1 ..]\n u_1 = h[2]")));
    assert!(!vectors(&SPRINGS.replace("gb = g[row_1 ..]", "gb = g[0 ..]")));
}

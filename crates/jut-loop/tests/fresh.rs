//! Arrays of zeros that a loop adds to are not filled first: what the text becomes, and that it
//! does the same.

use crate::support::loops::POINTS;
use crate::support::tidied::tidy;
use jut_ir::Literal;
use jut_loop::form::LoopFuncId;
use jut_loop::signature::{Cells, Flat};
use jut_loop::{eval, read};

/// Runs a function of sizes n and m, n times m numbers and a result, before and after tidying up.
/// The memory of the result holds something before.
fn runs_alike(text: &str, cells: impl Fn(i64, i64) -> i64) {
    let plain = read::read_program(0, text).unwrap();
    let tidied = read::read_program(0, &tidy(text)).unwrap();
    for (n, m) in [(0, 0), (0, 3), (1, 1), (2, 1), (3, 2), (4, 5), (5, 0)] {
        let x = (0..n * m).map(|k| if k == 0 { -0.0 } else { k as f64 }).collect();
        let g = vec![7.0; usize::try_from(cells(n, m)).unwrap()];
        let arguments = vec![
            Flat::Scalar(Literal::I64(n)),
            Flat::Scalar(Literal::I64(m)),
            Flat::Buffer(Cells::F64(x)),
            Flat::Buffer(Cells::F64(g)),
        ];
        let run = |p| format!("{:?}", eval::run(p, LoopFuncId::from_u32(0), &arguments));
        assert_eq!(run(&plain), run(&tidied), "{n} {m}: {text}");
    }
}

const KERNELS: &str = "
loop def f(n: i64, m: i64, x: in f64[n*m], g: out f64[n*m]) = {
  size = n * m
  fill g[size] = 0.0
  ones = alloc f64[n] @0:1..2
  fill ones[n] = 1.0
  back = alloc f64[m] @0:1..2
  fill back[m] = 0.0
  kernel matvec(back, x, ones, m, n, 5)
  kernel outer(g, ones, back, n, m, 4)
}";

#[test]
fn a_kernel_that_adds_to_zeros_does_without_them() {
    let text = tidy(KERNELS);
    let ones = text.matches("fill ones[n] = 1.0").count();
    assert_eq!(text.matches("fill").count(), ones, "{text}");
    assert!(text.contains("kernel matvec(back, x, ones, m, n, 1)"), "{text}");
    assert!(text.contains("kernel outer(g, ones, back, n, m, 8)"), "{text}");
    // Another number of cells, something that reads them before, other cells, and no zeros.
    for (found, instead) in [
        ("outer(g, ones, back, n, m, 4)", "outer(g, ones, back, n, 1, 4)"),
        ("kernel outer", "a = g[0]\n  ones[0] = a\n  kernel outer"),
        ("fill g[size] = 0.0", "fill g[size] = -0.0"),
        ("fill g[size]", "fill g[n]"),
        ("n, m, 4)", "n, m, 0)"),
    ] {
        let other = KERNELS.replace(found, instead);
        assert_ne!(other, KERNELS);
        assert!(tidy(&other).contains("fill g["), "{found}: {}", tidy(&other));
    }
    runs_alike(KERNELS, |n, m| n * m);
    // Products that are negative zeros.
    runs_alike(
        &KERNELS.replace("[n] = 1.0", "[n] = -1.0").replace("[m] = 0.0", "[m] = 5.0"),
        |n, m| n * m,
    );
    runs_alike(&KERNELS.replace("[n] = 1.0", "[n] = -0.0"), |n, m| n * m);
}

const ELEMENTS: &str = "
loop def f(n: i64, m: i64, x: in f64[n*m], g: out f64[n*m]) = {
  size = n * m
  fill g[size] = 0.0
  for up (i in 0 .. size) {
    a = x[i]
    b = g[i]
    c = b + a
    g[i] = c
  }
}";

const ROWS: &str = "
loop def f(n: i64, m: i64, x: in f64[n*m], g: out f64[n*m]) = {
  size = n * m
  fill g[size] = 0.0
  for down (i in 0 .. n) {
    begin = i * m
    row = g[begin ..]
    y = x[begin ..]
    for up (j in 0 .. m) {
      a = y[j]
      b = row[j]
      c = b + a
      row[j] = c
    }
  }
}";

const NEIGHBOURS: &str = "
loop def f(n: i64, m: i64, x: in f64[n*m], g: out f64[n*m + 1]) = {
  size = n * m
  last = size + 1
  fill g[last] = 0.0
  for up (i in 0 .. size) {
    a = x[i]
    b = g[i]
    c = b + a
    g[i] = c
    j = i + 1
    d = g[j]
    e = d - a
    g[j] = e
  }
}";

/// Neighbours but at the ends: single cells, and then a loop that gathers.
const ENDS: &str = "
loop def f(n: i64, m: i64, x: in f64[n*m], g: out f64[n*m]) = {
  size = n * m
  last = size - 1
  fill g[size] = 0.0
  for up (i in 0 .. size) {
    a = x[i]
    first = i == 0
    end = i == last
    either = first || end
    if either {
      b = g[i]
      c = b + a
      g[i] = c
    } else {
      j = i - 1
      d = g[j]
      e = d - a
      g[j] = e
      k = i + 1
      o = g[k]
      p = o + a
      g[k] = p
    }
  }
}";

/// Cells before a branch whose arms cover the rest, and do not.
const CELLS: &str = "
loop def f(n: i64, m: i64, x: in f64[n*m], g: out f64[2]) = {
  size = n * m
  fill g[2] = 0.0
  a = f64(size)
  b = g[0]
  c = b - a
  g[0] = c
  some = 3 < size
  if some {
    d = g[1]
    e = d + a
    p = g[0]
    q = p + e
    g[1] = q
  } else {
  }
}";

#[test]
fn a_loop_over_all_cells_begins_with_zeros() {
    let tidy = tidy(ELEMENTS);
    assert!(!tidy.contains("fill"), "{tidy}");
    // The sum with zero stays: it is not the number itself for minus zero.
    assert!(tidy.contains("c = 0.0 + a"), "{tidy}");
    runs_alike(ELEMENTS, |n, m| n * m);
}

#[test]
fn zeros_of_32_bits_are_those_of_their_kind() {
    let text = |zero: &str| {
        format!(
            "loop def f(n: i64, m: i64, x: in f32[n*m], g: out f32[n]) = {{
  fill g[n] = {zero}
  for par (i in 0 .. n) {{
    a = g[i]
    b = f64(a)
    c = b + 1.5
    d = f32(c)
    g[i] = d
  }}
}}"
        )
    };
    let tidied = tidy(&text("0.0f32"));
    assert!(!tidied.contains("fill") && !tidied.contains("= g[i]"), "{tidied}");
    assert!(tidied.contains("f64(0.0f32)") || tidied.contains("0.0 + 1.5"), "{tidied}");
    assert!(tidy(&text("-0.0f32")).contains("fill"));
}

#[test]
fn a_loop_over_all_rows_begins_with_zeros() {
    assert!(!tidy(ROWS).contains("fill"), "{}", tidy(ROWS));
    runs_alike(ROWS, |n, m| n * m);
}

#[test]
fn single_cells_wait_for_the_loop_over_all_cells() {
    let tidied = tidy(POINTS);
    assert!(!tidied.contains("fill"), "{tidied}");
    assert!(tidied.contains("h = 0.0 + u"), "{tidied}");
    let (_, behind) = tidied.split_once("g[i] = h").expect("a loop");
    assert_eq!(behind.matches("= g[").count(), 2, "{tidied}");
    runs_alike(POINTS, |n, _| n);
    // One cell, the same cell twice, something that is subtracted.
    let one = POINTS.replace("    c = g[l]\n    d = p + c\n    g[l] = d\n", "");
    for text in [
        one,
        POINTS.replace("l = last - k", "l = k + 0"),
        POINTS.replace("h = e + u", "h = e - u"),
        POINTS.replace("b = a + 1e16", "b = a - 1e16"),
    ] {
        assert_ne!(text, POINTS);
        assert!(!tidy(&text).contains("fill"), "{}", tidy(&text));
        runs_alike(&text, |n, _| n);
    }
    for (old, new) in [
        // A second term of each cell, or one that depends on what is there.
        ("g[i] = h", "h_1 = h + t\n      g[i] = h_1\n      y = h_1 * 2.0\n      x_1 = y + e"),
        ("h = e + u", "h_1 = e + u\n      h = h_1 + t"),
        ("h = e + u", "h = u - e"),
        ("h = e + u", "h = e * u"),
        // Not all cells, and something that looks at one before.
        ("(i in 0 .. n)", "(i in 0 .. last)"),
        ("    p = f64(n)", "    p = g[0]"),
        // What is stored is no sum.
        ("b = a + 1e16", "b = a * 2.0"),
        ("d = p + c", "d = p * c"),
        // The cells do not hold zeros, but minus zeros.
        ("fill g[n] = 0.0", "fill g[n] = -0.0"),
    ] {
        let text = POINTS.replace(old, new);
        assert_ne!(text, POINTS, "{old}");
        assert!(tidy(&text).contains("fill"), "{new}: {}", tidy(&text));
        runs_alike(&text, |n, _| n);
    }
}

#[test]
fn what_gathers_begins_with_zeros_and_what_does_not_fills() {
    let tidy = tidy(NEIGHBOURS);
    let (gathers, otherwise) = tidy.split_once("} else {").expect("two ways");
    assert!(!gathers.contains("fill") && !gathers.contains("= g["), "{tidy}");
    assert!(otherwise.contains("fill g[last] = 0.0"), "{tidy}");
    runs_alike(NEIGHBOURS, |n, m| n * m + 1);
}

#[test]
fn what_gathers_behind_single_cells_begins_with_zeros() {
    let tidy = tidy(ENDS);
    // The loop as it was, with and without its ends: both are for very few cells or very many.
    assert_eq!(tidy.matches("fill g[size] = 0.0").count(), 2, "{tidy}");
    let (ends, rest) = tidy.split_once("if gathers {").expect("two ways");
    assert!(!ends.contains("fill") && !ends.contains("= g["), "{tidy}");
    let (gathers, otherwise) = rest.split_once("} else {").expect("two ways");
    assert!(!gathers.contains("fill"), "{tidy}");
    // What the first cell holds is stored again.
    let behind = otherwise.split_once("fill g[size] = 0.0").expect("zeros").1;
    assert!(behind.trim_start().starts_with("g[0] = "), "{tidy}");
    runs_alike(ENDS, |n, m| n * m);
}

#[test]
fn cells_before_a_branch_are_stored_again_where_zeros_are() {
    let tidied = tidy(CELLS);
    let (then, other) = tidied.split_once("} else {").expect("two ways");
    assert!(!then.contains("fill") && then.contains("e = 0.0 + a"), "{tidied}");
    assert!(other.contains("fill g[2] = 0.0\n    g[0] = c"), "{tidied}");
    runs_alike(CELLS, |_, _| 2);
    // The last value is the one that is there.
    runs_alike(&CELLS.replace("g[0] = c\n", "g[0] = a\n  g[0] = c\n"), |_, _| 2);
    let others = [
        // Cells that may be the same one, of which the second would be loaded as it was before the first.
        CELLS.replace("g[0] = c\n", "g[0] = c\n  z = min(n, 0)\n  y = g[z]\n  g[z] = a\n"),
        // A cell that is loaded and not stored before the branch.
        CELLS
            .replace("g[0] = c\n", "g[0] = c\n  y = g[1]\n  x[0] = y\n")
            .replace("x: in", "x: inout"),
        // The arm leaves a cell alone, or something behind the branch would be needed.
        CELLS.replace("g[1] = q", "g[0] = q").replace("= g[1]", "= g[0]"),
    ];
    for text in others {
        let tidy = tidy(&text);
        let zeros = tidy.find("fill g[2]").expect("zeros");
        assert!(zeros < tidy.find("if some").expect("a branch"), "{tidy}");
    }
}

#[test]
fn zeros_that_may_be_seen_are_stored() {
    let others = [
        // Not all cells.
        ELEMENTS.replace("in 0 .. size", "in 0 .. n").replace("x[i]", "x[0]"),
        ELEMENTS.replace("in 0 .. size", "in 1 .. size"),
        // Not zeros, and the other zero.
        ELEMENTS.replace("= 0.0", "= 1.0"),
        ELEMENTS.replace("= 0.0", "= -0.0"),
        // Something reads a cell before.
        ELEMENTS.replace("  for up", "  z = g[0]\n  g[1] = z\n  for up"),
        // A cell twice.
        ELEMENTS.replace("b = g[i]", "k = i / 2\n    b = g[k]").replace("g[i] =", "g[k] ="),
        // Some cells only.
        ELEMENTS.replace(
            "    b = g[i]\n    c = b + a\n    g[i] = c\n",
            "    p = a > 1.0\n    if p {\n      b = g[i]\n      c = b + a\n      g[i] = c\n    } else {\n    }\n",
        ),
        // Rows that are not all of the array, and the same row again and again.
        ROWS.replace("in 0 .. m", "in 1 .. m"),
        ROWS.replace("in 0 .. n", "in 1 .. n"),
        ROWS.replace("row = g[begin ..]", "row = g[0 ..]"),
    ];
    for text in others {
        assert!(tidy(&text).contains("fill"), "{text}\n{}", tidy(&text));
    }
}

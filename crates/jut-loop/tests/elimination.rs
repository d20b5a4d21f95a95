//! Elimination in place, forwards and back: what is the same for a whole row is a register, though the rest of the row is stored to.

use jut_loop::signature::{Cells, Flat};

use crate::support::tidied::{runs_alike, tidy};

/// A step of an elimination: a multiple of row k is taken from the rows behind it, which begin with that multiple.
const FORWARDS: &str = "
loop def f(n: i64, x: in f64[n*n], y: out f64[n*n]) = {
  size = n * n
  a = alloc f64[size]
  copy a[size] = x
  for up (k in 0 .. n) {
    next = k + 1
    m = n - next
    row = k * n
    p = a[row ..]
    for up (i in 0 .. m) {
      r = next + i
      begin = r * n
      q = a[begin ..]
      for up (j in 0 .. m) {
        column = next + j
        t = q[k]
        u = p[column]
        v = t * u
        w = q[column]
        z = w - v
        q[column] = z
      }
    }
  }
  copy y[size] = a
}";

/// Its transposition: row k gets what the rows behind it are due, and the first cell of each what its other cells are.
const BACK: &str = "
loop def f(n: i64, x: in f64[n*n], y: out f64[n*n]) = {
  size = n * n
  g = alloc f64[size]
  copy g[size] = x
  for down (k in 0 .. n) {
    next = k + 1
    m = n - next
    row = k * n
    p = g[row ..]
    for down (i in 0 .. m) {
      r = next + i
      begin = r * n
      q = g[begin ..]
      for down (j in 0 .. m) {
        column = next + j
        t = q[column]
        u = 0.5 * t
        a = p[column]
        b = a + u
        p[column] = b
        c = q[k]
        d = c - u
        q[k] = d
      }
    }
  }
  copy y[size] = g
}";

fn square(n: i64) -> Vec<Flat> {
    let cells = usize::try_from(n.max(0)).map_or(0, |n| n * n);
    let x = (0..cells).map(|k| 1.0 / (1.5 + k as f64)).collect();
    let n = Flat::Scalar(jut_ir::Literal::I64(n));
    vec![n, Flat::Buffer(Cells::F64(x)), Flat::Buffer(Cells::F64(vec![0.0; cells]))]
}

#[test]
fn a_cell_is_loaded_before_a_loop_that_stores_to_the_cells_beyond_it() {
    let loaded = |text: &str| {
        let tidy = tidy(text);
        let before = tidy.split("for up (j").next().map(str::trim_end).unwrap_or_default();
        before.ends_with("[k]")
    };
    assert!(loaded(FORWARDS), "{}", tidy(FORWARDS));
    let others = [
        // Columns from the cell on, before it, or of which nothing is known.
        FORWARDS.replace("column = next + j", "column = k + j"),
        FORWARDS.replace("column = next + j", "column = k - j"),
        FORWARDS.replace("column = next + j", "column = j * j"),
        // Integers that wrap.
        FORWARDS.replace("column = next + j", "far = j * 2\n        column = next + far"),
        // A cell of a row that may be the one that is stored to.
        FORWARDS.replace("t = q[k]", "t = p[k]").replace("r = next + i", "r = k + i"),
    ];
    for text in others {
        assert!(!loaded(&text), "{}", tidy(&text));
    }
    let row_before = FORWARDS.replace("t = q[k]", "t = p[k]");
    assert!(loaded(&row_before), "{}", tidy(&row_before));
    // Where nothing of the array is stored to there is no need.
    let apart = FORWARDS.replace("q[column] = z", "y[column] = z");
    assert!(!loaded(&apart), "{}", tidy(&apart));
}

#[test]
fn a_cell_is_a_register_beside_a_row_before_its_own_and_the_cells_beyond_it() {
    let is_carried = |text: &str| tidy(text).contains("carry (c");
    assert!(is_carried(BACK), "{}", tidy(BACK));
    let others = [
        BACK.replace("column = next + j", "column = k + j"),
        // The same row, rows of another length, and columns beyond the row.
        BACK.replace("r = next + i", "r = k + i"),
        BACK.replace("row = k * n", "row = k * m"),
        BACK.replace("for down (j in 0 .. m)", "for down (j in 0 .. n)"),
        BACK.replace("m = n - next", "m = n - 0"),
    ];
    for text in others {
        assert!(!is_carried(&text), "{}", tidy(&text));
    }
}

#[test]
fn eliminations_do_the_same() {
    let all = [FORWARDS.to_owned(), BACK.to_owned(), BACK.replace("for down (j", "for up (j")];
    for text in all {
        runs_alike(&text, square);
    }
}

//! Faults that the passes over loops could have are noticed: what a pass makes is changed in one place as a
//! mistake of it would change it, and the evaluator then gives another outcome. Without the change it gives the
//! same.

use crate::support::loops::{
    BEHIND, CHAIN, CHOSEN, CHOSEN_ROWS, DOUBLED, ELIMINATION, FACTOR, MIDDLE, POINTS, PRICES,
    ROWS_APART, STEPS, SUMS_IN_ORDER, SUMS_OF_ROWS, SWITCHED,
};
use jut_loop::opt::{self, for_target};
use jut_loop::signature::{Cells, Flat};
use jut_loop::target::{Loops, StripMine, Target, Vectors};
use jut_loop::{eval, print, read};

/// A loop along the columns of a grid that adds to the rows above and below.
const ROWS: &str = "
loop def f(n: i64, m: i64, x: in f64[n*m], g: inout f64[n*m]) = {
  end = n - 1
  low_column = m - 1
  for up (i in 1 .. end) {
    own_row = i * m
    own = g[own_row ..]
    source = x[own_row ..]
    k = i - 1
    k_row = k * m
    above = g[k_row ..]
    for up (j in 1 .. low_column) {
      c = source[j]
      d = c * 0.25
      o = own[j]
      o_1 = o + c
      own[j] = o_1
      p = j + 1
      e = own[p]
      e_1 = e + d
      own[p] = e_1
      u = above[p]
      u_1 = u + d
      above[p] = u_1
    }
  }
}";

/// Rows of an array, sums of them in order, and a cell that they are added to.
const SHARED: &str = "
loop def f(n: i64, m: i64, x: in f64[n*m], g: inout f64[n*m]) -> (f64, f64) = {
  cell = alloc f64[2] @0:0..1
  fill cell[2] = 0.25
  (s) = for up (i in 1 .. n) carry (a = 0.5) {
    row = i * m
    xs = x[row ..]
    gs = g[row ..]
    (r) = for up (j in 0 .. m) carry (b = 1.5) {
      u = xs[j]
      v = gs[j]
      w = u * v
      gs[j] = w
      b_1 = b + w
      (b_1)
    }
    c = cell[1]
    c_1 = c + r
    cell[1] = c_1
    a_1 = a + r
    (a_1)
  }
  d = cell[1]
  (s, d)
}";

/// The gradient of a row times a matrix, in a loop by columns that adds up something itself.
const COLUMNS: &str = "
loop def f(n: i64, m: i64, x: in f64[n*m], g: inout f64[n*m]) -> (f64) = {
  sums = alloc f64[n] @0:0..1
  fill sums[n] = 0.25
  (t) = lanes (j in 0 .. m) carry (t_1) {
    u = x[j]
    t_2 = t_1 + u
    for up (i in 0 .. n) {
      row = i * m
      xs = x[row ..]
      v = xs[j]
      w = v * u
      a = sums[i]
      a_1 = a + w
      sums[i] = a_1
      gs = g[row ..]
      b = gs[j]
      b_1 = b + v
      gs[j] = b_1
    }
    (t_2)
  }
  (s) = for up (i_1 in 0 .. n) carry (s_1 = t) {
    c = sums[i_1]
    s_2 = s_1 * c
    (s_2)
  }
  (s)
}";

/// A loop that adds to the first cells of rows, which may be of no length.
const FIRST: &str = "
loop def f(n: i64, m: i64, x: in f64[n], g: inout f64[n]) = {
  for up (i in 0 .. n) {
    row = i * m
    gs = g[row ..]
    a = x[i]
    b = gs[0]
    c = b + a
    gs[0] = c
  }
}";

const NUMBERS: usize = 1500;

fn floats(n: usize) -> Flat {
    Flat::Buffer(Cells::F64((0..n).map(|k| (k * k % 37) as f64 / 7.0 - 2.0).collect()))
}

/// Numbers of which it matters what is added first.
fn irregular(by: f64) -> Flat {
    Flat::Buffer(Cells::F64((0..NUMBERS).map(|k| (k as f64 * by).sin()).collect()))
}

fn int(n: usize) -> Flat {
    Flat::Scalar(jut_ir::Literal::I64(n as i64))
}

fn float(x: f64) -> Flat {
    Flat::Scalar(jut_ir::Literal::F64(x))
}

fn arguments(text: &str) -> Vec<Flat> {
    let n = NUMBERS;
    match text {
        SWITCHED => {
            let no = Flat::Scalar(jut_ir::Literal::Bool(false));
            vec![int(n), no, floats(n), floats(n)]
        }
        // More columns than are taken at once.
        COLUMNS => vec![int(5), int(n / 5), irregular(0.37), irregular(1.3)],
        ROWS | ROWS_APART | BEHIND | SHARED => {
            vec![int(20), int(n / 20), irregular(0.37), irregular(1.3)]
        }
        ELIMINATION | FACTOR => vec![int(7), irregular(0.37), irregular(1.3)],
        CHAIN => {
            let m = int(n - 4);
            vec![int(n), m, irregular(0.37), irregular(1.3), irregular(0.7)]
        }
        STEPS => {
            let [x, k, y] = [0.3, 0.7, 1.3].map(irregular);
            vec![int(n), int(3), x, k, floats(3), y, floats(3)]
        }
        CHOSEN_ROWS => vec![int(20), int(n / 20), irregular(0.37), irregular(1.3)],
        MIDDLE | CHOSEN => vec![int(n), irregular(0.37), irregular(1.3)],
        POINTS => vec![int(9), int(4), floats(36), floats(9)],
        SUMS_OF_ROWS => {
            let (x, z) = (irregular(0.37), irregular(1.3));
            vec![int(20), int(n / 20), x, z, floats(n), floats(n / 20), floats(20)]
        }
        FIRST => vec![int(n), int(0), irregular(0.37), irregular(1.3)],
        PRICES => vec![int(n), float(0.03), floats(n), floats(n)],
        _ => {
            let indices = Flat::Buffer(Cells::I64((0..n as i64).collect()));
            vec![int(n), irregular(0.37), floats(2 * n + 3), indices]
        }
    }
}

/// What makes the text that is changed.
#[derive(Clone, Copy, Debug)]
enum Pass {
    Tidy,
    Kernels,
    Loops,
    Vectors,
    Shares,
}

fn made(pass: Pass, text: &str) -> String {
    let mut program = read::read_program(0, text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let loops = if let Pass::Loops = pass { Loops::CallsAndProducts } else { Loops::All };
    let strip_mine = match pass {
        Pass::Kernels => StripMine::Kernels,
        Pass::Loops => StripMine::Loops,
        Pass::Tidy | Pass::Vectors | Pass::Shares => StripMine::No,
    };
    let shares = matches!(pass, Pass::Shares).then_some(2);
    let vectors = shares.is_none().then_some(Vectors { loops, ..Vectors::EVERYTHING });
    match pass {
        Pass::Tidy => program.funcs.values_mut().for_each(opt::optimise),
        _ => program = for_target(&program, &Target { strip_mine, vectors, shares }),
    }
    print::print_program(&program)
}

fn outcome(text: &str, args: &[Flat]) -> String {
    let program = read::read_program(0, text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let entry = program.funcs.last().map(|(id, _)| id).expect("a function");
    format!("{:?}", eval::run(&program, entry, args))
}

type Change = (&'static str, &'static str);

const NOTHING: Change = ("", "");

/// Fault, pass, function, what is changed before the pass would have to see it and is not, and what in
/// what the pass has made.
const FAULTS: &[(&str, Pass, &str, Change, Change)] = &[
    (
        "unswitch: always the loop for true",
        Pass::Tidy,
        SWITCHED,
        NOTHING,
        ("if edge {", "if true {"),
    ),
    (
        "unswitch: an arm with what the other carries",
        Pass::Tidy,
        SWITCHED,
        NOTHING,
        ("(v_1)", "(t_2)"),
    ),
    (
        "rows: a row and itself are taken for two",
        Pass::Tidy,
        ROWS,
        ("k = i - 1", "k = i - 0"),
        ("k = i - 1", "k = i - 0"),
    ),
    (
        "cells: a row and itself are taken for two",
        Pass::Tidy,
        ROWS_APART,
        ("k = 1 + i", "k = 0 + i"),
        ("k = 1 + i", "k = 0 + i"),
    ),
    (
        "later rows: the row of a cell is taken for one behind it",
        Pass::Tidy,
        BEHIND,
        ("q = p + i", "q = p + 0"),
        ("= p + i_1\n", "= p + 0\n"),
    ),
    (
        "jam: a sum of another row",
        Pass::Vectors,
        SUMS_OF_ROWS,
        NOTHING,
        ("i_3 = first + 2", "i_3 = first + 1"),
    ),
    (
        "jam: what all store to is due to them in another order",
        Pass::Vectors,
        SUMS_OF_ROWS,
        NOTHING,
        ("t_2 = t_1 + p_2", "t_2 = l_1 + p_2"),
    ),
    (
        "strip_mine: blocks in the wrong order",
        Pass::Kernels,
        PRICES,
        NOTHING,
        ("for down (block", "for up (block"),
    ),
    (
        "strip_mine: iterations in the wrong order",
        Pass::Loops,
        PRICES,
        NOTHING,
        ("for down (j in", "for up (j in"),
    ),
    (
        "strip_mine: every block begins anew",
        Pass::Kernels,
        PRICES,
        NOTHING,
        ("carry (p_1 = p_3,", "carry (p_1 = s,"),
    ),
    (
        "strip_mine: the cell of another block",
        Pass::Loops,
        PRICES,
        NOTHING,
        ("cell_1 = j - start", "cell_1 = j - block"),
    ),
    (
        "vector: terms from the wrong end",
        Pass::Vectors,
        SUMS_IN_ORDER,
        NOTHING,
        ("for up", "for down"),
    ),
    (
        "vector: a cell that another iteration stores to",
        Pass::Vectors,
        SUMS_IN_ORDER,
        ("y_1[1] = u_1", "y_1[3] = u_1"),
        ("y_1[1] = u_1", "y_1[3] = u_1"),
    ),
    (
        "interchange: every block begins anew",
        Pass::Vectors,
        COLUMNS,
        NOTHING,
        ("carry (a_3 = a_2)", "carry (a_3 = 0.25)"),
    ),
    (
        "interchange: terms from the wrong end",
        Pass::Vectors,
        COLUMNS,
        NOTHING,
        ("for up (number_1", "for down (number_1"),
    ),
    (
        "interchange: the cells of the first block",
        Pass::Vectors,
        COLUMNS,
        NOTHING,
        ("gs_2 = gs_1[start ..]", "gs_2 = gs_1[0 ..]"),
    ),
    (
        "interchange: a sum of the outer loop without its first terms",
        Pass::Vectors,
        COLUMNS,
        NOTHING,
        (
            "(t) = lanes vector 8 masked (j_1 in 0 .. m)",
            "(t) = lanes vector 8 masked (j_1 in 2 .. m)",
        ),
    ),
    (
        "vector: rows are taken for apart, but have no length",
        Pass::Vectors,
        FIRST,
        NOTHING,
        ("for up (i in 0 .. n)", "for up vector 8 masked (i in 0 .. n)"),
    ),
    (
        "shares: what is added to a cell begins at nothing",
        Pass::Shares,
        SHARED,
        NOTHING,
        ("c_2 = first_1", "c_2 = 0.0"),
    ),
    (
        "shares: terms from the wrong end",
        Pass::Shares,
        SHARED,
        NOTHING,
        ("for up (i_1 in start", "for down (i_1 in start"),
    ),
    (
        "shares: a term of another sum",
        Pass::Shares,
        SHARED,
        NOTHING,
        ("terms_1[number] = r", "terms[number] = r"),
    ),
    (
        "shares: rows that the iterations of other shares write",
        Pass::Shares,
        SHARED,
        ("gs = g[row ..]", "gs = g[m ..]"),
        ("gs = g[row ..]", "gs = g[m ..]"),
    ),
    (
        "swap: rows in the other order",
        Pass::Tidy,
        ELIMINATION,
        NOTHING,
        ("for down (i_3 in 1 .. m)", "for up (i_3 in 1 .. m)"),
    ),
    (
        "swap: the first row twice",
        Pass::Tidy,
        ELIMINATION,
        NOTHING,
        ("(i_3 in 1 .. m)", "(i_3 in 0 .. m)"),
    ),
    (
        "swap: a sum that is a factor of others",
        Pass::Vectors,
        FACTOR,
        ("k in 0 .. j", "k in 0 .. n"),
        ("k_1 in 0 .. j", "k_1 in 0 .. n"),
    ),
    (
        "sweep: an element is due what its own iteration has computed, twice",
        Pass::Tidy,
        CHAIN,
        NOTHING,
        ("before = previous p_1 else -0.0", "before = p_1"),
    ),
    (
        "sweep: the first element is due something of an iteration that there is not",
        Pass::Tidy,
        CHAIN,
        NOTHING,
        ("else -0.0", "else 1.0"),
    ),
    (
        "sweep: the last element is not due anything",
        Pass::Tidy,
        CHAIN,
        NOTHING,
        ("g[m] = z_2", "g[m] = w_2"),
    ),
    (
        "peel: an iteration that adds something is left out of a loop of sums",
        Pass::Tidy,
        MIDDLE,
        NOTHING,
        ("max(offset, 1)", "max(offset, 2)"),
    ),
    (
        "peel: blocks of a loop of sums begin one later",
        Pass::Tidy,
        MIDDLE,
        NOTHING,
        ("behind = offset + 1024", "behind = offset + 1025"),
    ),
    (
        "peel: the row above the first is its own neighbour no more",
        Pass::Tidy,
        CHOSEN_ROWS,
        NOTHING,
        ("inside = 1 <= i", "inside = 0 <= i"),
    ),
    (
        "peel: the row below is that above",
        Pass::Tidy,
        CHOSEN_ROWS,
        NOTHING,
        ("second_1 = r_1 * m", "second_1 = l_1 * m"),
    ),
    (
        "peel: the first term is not computed",
        Pass::Tidy,
        CHOSEN,
        NOTHING,
        ("terms[0] = d_1", "terms[1] = d_1"),
    ),
    (
        "peel: terms are added that another sum has left",
        Pass::Tidy,
        CHOSEN,
        NOTHING,
        ("term = terms[i_1]", "term = terms[0]"),
    ),
    (
        "join: a step that goes by the state that it makes",
        Pass::Tidy,
        STEPS,
        NOTHING,
        ("z = c + o", "z = e + o"),
    ),
    (
        "points: two cells that are one",
        Pass::Tidy,
        POINTS,
        NOTHING,
        ("select(same, b, 0.0)", "select(same, 0.0, 0.0)"),
    ),
    (
        "points: the second cell is loaded when the first has been stored to",
        Pass::Tidy,
        POINTS,
        NOTHING,
        ("sum_1 = d + c_1", "sum_1 = d + sum"),
    ),
    (
        "cells: a negative zero and zero",
        Pass::Tidy,
        ELIMINATION,
        ("fill g[size] = 0.5", "fill g[size] = -0.0"),
        ("fill g[size] = 0.5", "fill g[size] = -0.0"),
    ),
];

#[test]
fn each_fault_of_a_pass_over_loops_shows() {
    let mut wrong = Vec::new();
    for (name, pass, text, before, after) in FAULTS {
        let args = arguments(text);
        // Of a loop of one order, the change is the other.
        let order = after.0.strip_prefix("for ").and_then(|o| o.split(' ').next()).unwrap_or("up");
        let text = text.replace("ORDER", order).replace("CHOICE", DOUBLED);
        let whole = made(*pass, &text);
        assert_eq!(
            outcome(&text, &args),
            outcome(&whole, &args),
            "{name}: without a fault\n{whole}"
        );
        let plain = text.replace(before.0, before.1);
        if made(*pass, &plain) == whole.replace(after.0, after.1) && *before != NOTHING {
            wrong.push(format!("{name}: the pass makes this fault"));
        }
        if !whole.contains(after.0) {
            wrong.push(format!("{name}: nothing to change in\n{whole}"));
        } else if outcome(&plain, &args) == outcome(&whole.replace(after.0, after.1), &args) {
            wrong.push(format!("{name}: not noticed in\n{whole}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

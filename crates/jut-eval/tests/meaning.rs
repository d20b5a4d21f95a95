//! What programs mean: values of every kind, loops and branches, linear code and places.

use crate::support::{floats, load, result, results};
use jut_eval::{Interpreter, Value};

fn matrix(rows: usize, columns: usize, cells: &[f64]) -> Value {
    Value::matrix(rows, columns, cells.to_vec()).expect("the number of cells fits")
}

#[test]
fn scalars_arrays_tuples_and_records_are_computed() {
    assert_eq!(result("def f(x: f64) -> f64 = x^2 + 1.0", &[3.0.into()]), Value::F64(10.0));
    let text = "def f[n](x: [n]f64) -> [n]f64 = build (i < n) { x[i] * 2.0 }";
    assert_eq!(result(text, &[floats(&[1.0, 2.0])]), floats(&[2.0, 4.0]));
    let text =
        "def f[n, m](x: [n, m]f64) -> [m, n]f64 = build (j < m) { build (i < n) { x[i, j] } }";
    let transposed = result(text, &[matrix(2, 3, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])]);
    assert_eq!(transposed, matrix(3, 2, &[1.0, 4.0, 2.0, 5.0, 3.0, 6.0]));
    let text = "data P = P(r: f64, k: i64)
        def make(x: f64) -> P = P(x * 2.0, 7)
        def f(x: f64) -> #(f64, i64) = { p = make(x); #(p.r, p.k) }";
    assert_eq!(result(text, &[1.5.into()]), Value::tuple(vec![3.0.into(), 7i64.into()]));
}

#[test]
fn loops_run_up_down_and_not_at_all() {
    let text = "def f(n: i64) -> i64 = for (i < n) carry (a = 1) { 2 * a + i }";
    assert_eq!(result(text, &[4i64.into()]), Value::I64(27));
    assert_eq!(result(text, &[(-3i64).into()]), Value::I64(1));
    let down = "core def f(n: i64, x: [n]i64) -> (i64, [n]i64) = {
        (a1, ys) = scan down (i < n) carry (a = 1) slice (b <- x) { t = a * b; u = t + i; (u, a) }
        (a1, ys) }";
    let outcome = results(down, &[3i64.into(), Value::ints([5, 7, 9])]);
    // i = 2: 1 * 9 + 2 = 11; i = 1: 11 * 7 + 1 = 78; i = 0: 78 * 5 = 390.
    assert_eq!(outcome, [Value::I64(390), Value::ints([78, 11, 1])]);
}

#[test]
fn a_loop_downwards_stacks_rows_in_the_order_of_the_index() {
    let text = "core def f(n: i64, x: [n][2]i64) -> [n][2]i64 = {
        ys = scan down (i < n) slice (b <- x) { b }
        ys }";
    let x = Value::array(vec![Value::ints([1, 2]), Value::ints([3, 4]), Value::ints([5, 6])]);
    let x = x.expect("equal rows");
    assert_eq!(result(text, &[3i64.into(), x.clone()]), x);
}

#[test]
fn swapped_carries_are_assigned_at_once() {
    let text = "def f[n](x: [n]f64, y: [n]f64, k: i64) -> ([n]f64, [n]f64) =
        for (i < k) carry (a = x, b = y) { (b, a) }";
    let (x, y) = (floats(&[1.0]), floats(&[2.0]));
    assert_eq!(results(text, &[x.clone(), y.clone(), 3i64.into()]), [y, x]);
}

#[test]
fn the_branch_not_taken_does_not_run() {
    let text = "def f(b: bool, k: i64) -> i64 = if b { 10 / k } else { 0 }";
    assert_eq!(result(text, &[false.into(), 0i64.into()]), Value::I64(0));
}

#[test]
fn rows_and_slices_are_views_at_any_depth() {
    let text = "def f[n, m](x: [n, m]f64, i: i64) -> f64 = {
        check i < n
        r = x[i]
        check 1 ..+ 2 <= m
        s = r[1 ..+ 2]
        s[0] * 10.0 + s[1] }";
    let x = matrix(2, 3, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    assert_eq!(result(text, &[x, 1i64.into()]), Value::F64(56.0));
}

#[test]
fn arrays_of_ragged_records_keep_each_row() {
    let text = "data Row = Row(m: i64, w: [m]f64)
        def f(n: i64) -> f64 = {
          rows = build (i < n) { w = build (j < i) { f64(i) }; Row(i, w) }
          sum (r <- rows) { Row(m, w) = r; sum (v <- w) { v } }
        }";
    assert_eq!(result(text, &[4i64.into()]), Value::F64(1.0 + 4.0 + 9.0));
}

#[test]
fn empty_arrays_keep_their_other_dimensions() {
    let text =
        "def f[n, m](x: [n, m]f64) -> [n, m]f64 = build (i < n) { build (j < m) { x[i, j] } }";
    let empty = matrix(0, 3, &[]);
    assert_eq!(empty.dims(), [0, 3]);
    assert_eq!(result(text, std::slice::from_ref(&empty)), empty);
}

#[test]
fn equality_is_of_bits_and_all_nans_are_equal() {
    assert_ne!(Value::F64(0.0), Value::F64(-0.0));
    assert_eq!(Value::F64(f64::NAN), Value::F64(-f64::NAN));
    assert_ne!(floats(&[0.0]), floats(&[-0.0]));
    let a = Value::array(vec![floats(&[1.0, 2.0]), floats(&[3.0, 4.0])]).expect("equal rows");
    assert_eq!(a.as_array().and_then(|a| a.get(1)), Some(floats(&[3.0, 4.0])));
    assert_eq!(Value::array(vec![floats(&[1.0]), floats(&[])]), None);
}

#[test]
fn linear_code_runs_with_capabilities_given_from_outside() {
    let text = "core def f(n: i64, x: [n]f64; y': f64; wr dx: [n]f64) -> () = {
        rd r = y' { scan par (i < n) { t = x[i]; s' = rd r; u' = t * s'; dx[i] += u' } } }";
    let program = load(text);
    let f = program.find_func("f").expect("f");
    let outcome = Interpreter::new(&program)
        .call(f, &[2i64.into(), floats(&[3.0, 5.0])], &[2.0.into()], &[floats(&[1.0, -0.0])])
        .expect("runs");
    assert!(outcome.results.is_empty() && outcome.linear.is_empty());
    assert_eq!(outcome.buffers, [floats(&[7.0, 10.0])]);
}

#[test]
fn places_go_through_tuples_rows_slices_and_calls() {
    let text = "core def g(m: i64; a': f64; wr c: [m]#(f64, [2]f64)) -> () = {
            (; b', d') = dup a'
            check 1 < m
            c[1].0 += b'
            check 0 < m
            c[0].1[1] += d'
        }
        core def f(n: i64; a': f64) -> (; [n][n]#(f64, [2]f64)) = {
            check n >= 0
            check 1 < n
            check 1 ..+ 2 <= n
            t' = wr c: [n][n]#(f64, [2]f64) { g(2; a'; c[1][1 ..+ 2]) }
            (; t')
        }";
    let program = load(text);
    let f = program.find_func("f").expect("f");
    let outcome =
        Interpreter::new(&program).call(f, &[3i64.into()], &[2.5.into()], &[]).expect("runs");
    let cell = |a: f64, b: f64| Value::tuple(vec![a.into(), floats(&[0.0, b])]);
    let row = |k: usize| {
        let cells = (0..3).map(|j| match (k, j) {
            (1, 1) => cell(0.0, 2.5),
            (1, 2) => cell(2.5, 0.0),
            _ => cell(0.0, 0.0),
        });
        Value::array(cells.collect()).expect("equal kinds")
    };
    let expected = Value::array((0..3).map(row).collect()).expect("equal kinds");
    assert_eq!(outcome.linear, [expected]);
}

#[test]
fn sliced_capabilities_and_null_places_work() {
    let text = "core def g(; a': f64; wr c: f64) -> () = { c += a' }
        core def f(n: i64; x': [n]f64) -> (; [n]f64) = {
            t' = wr c: [n]f64 {
                scan par (i < n) slice (; a' <- x'; ci <- c) {
                    (; b', d') = dup a'
                    g(; b'; ci)
                    g(; d'; null)
                }
            }
            (; t')
        }";
    let program = load(text);
    let f = program.find_func("f").expect("f");
    let x = floats(&[1.0, -2.0, 4.0]);
    let arguments = ([3i64.into()], [x.clone()]);
    let outcome =
        Interpreter::new(&program).call(f, &arguments.0, &arguments.1, &[]).expect("runs");
    assert_eq!(outcome.linear, [x]);
}

#[test]
fn long_chains_of_calls_and_deep_nesting_do_not_overflow_the_stack() {
    let mut text = String::from("def g0(x: f64) -> f64 = x + 1.0\n");
    for k in 1..3000 {
        text.push_str(&format!("def g{k}(x: f64) -> f64 = g{}(x) + 1.0\n", k - 1));
    }
    assert_eq!(result(&text, &[0.0.into()]), Value::F64(3000.0));
    let mut body = "a + 1.0".to_string();
    for k in 0..40 {
        body = format!("for (i{k} < n) carry (a = a) {{ if b {{ {body} }} else {{ a }} }}");
    }
    let text = format!("def f(n: i64, b: bool, a: f64) -> f64 = {body}");
    assert_eq!(result(&text, &[1i64.into(), true.into(), 0.0.into()]), Value::F64(1.0));
}

#[test]
fn long_straight_line_functions_run() {
    let mut text = String::from("def f(x: f64) -> f64 = {\n  a = x\n");
    (0..10_000).for_each(|_| text.push_str("  a = a + 1.0\n"));
    text.push_str("  a\n}");
    assert_eq!(result(&text, &[0.0.into()]), Value::F64(10_000.0));
}

//! Sizes whose arithmetic wraps: accesses without a test at run time rest on sizes, so a size that is
//! not what its polynomial says is an error before anything is read. The function, its gradient and its
//! forward derivative fail alike, by the interpreter and by the loop form (whose evaluator reports
//! every access out of range as broken).

use crate::support::{agree, agree_on_derivatives, load};
use jut_eval::Value;
use jut_ir::RuntimeErrorKind::{self as Kind, *};

const BIG: i64 = 1 << 32;

fn int(k: i64) -> Value {
    Value::I64(k)
}

fn one() -> Value {
    Value::F64(1.5)
}

/// The kind of the error, if there is one; derivatives agree on it.
fn fails(source: &str, args: &[Value]) -> Option<Kind> {
    agree_on_derivatives(source, "f", args);
    agree(&load(source), "f", args).err().map(|error| error.kind)
}

/// Sums a matrix that is given as a vector.
const INNER: &str = "
def inner(n: i64, m: i64, x: [n*m]f64) -> f64 = sum (i < n) { sum (j < m) { x[i*m + j] } }
";

#[test]
fn an_array_of_a_wrapped_product_is_not_passed_on() {
    let source = format!(
        "{INNER}
def f(n: i64, m: i64, c: f64) -> f64 = {{
  k = n * m
  x = build (i < k) {{ c * f64(i) }}
  inner(n, m, x)
}}"
    );
    assert_eq!(fails(&source, &[int(2), int(3), one()]), None);
    assert_eq!(fails(&source, &[int(0), int(i64::MAX), one()]), None);
    assert_eq!(fails(&source, &[int(-1), int(0), one()]), None);
    assert_eq!(fails(&source, &[int(BIG), int(BIG), one()]), Some(Memory));
    assert_eq!(fails(&source, &[int(3 << 62), int(4), one()]), Some(Memory));
    assert_eq!(fails(&source, &[int(-BIG), int(BIG), one()]), Some(Memory));
    assert_eq!(fails(&source, &[int(-2), int(3), one()]), Some(NegativeSize));
    // The product of two negative sizes is a size; the loops run no time.
    assert_eq!(fails(&source, &[int(-2), int(-3), one()]), None);
}

#[test]
fn a_cast_to_a_wrapped_product_fails() {
    let source = format!(
        "{INNER}
def f[k](x: [k]f64, n: i64, m: i64) -> f64 = {{
  y = cast x : [n * m]f64
  inner(n, m, y)
}}"
    );
    let empty = Value::floats(vec![]);
    assert_eq!(fails(&source, &[empty.clone(), int(0), int(7)]), None);
    assert_eq!(fails(&source, &[empty.clone(), int(BIG), int(BIG)]), Some(Memory));
    assert_eq!(fails(&source, &[empty, int(BIG), int(3)]), Some(SizeMismatch));
}

#[test]
fn a_slice_of_a_wrapped_length_fails() {
    let source = format!(
        "{INNER}
def f[k](x: [k]f64, n: i64, m: i64) -> f64 = {{
  y = x[1 ..+ n * m]
  inner(n, m, y)
}}"
    );
    let x = Value::floats(vec![0.5, 1.5, 2.5]);
    assert_eq!(fails(&source, &[x.clone(), int(2), int(1)]), None);
    assert_eq!(fails(&source, &[x.clone(), int(BIG), int(BIG)]), Some(Memory));
    assert_eq!(fails(&source, &[x, int(2), int(2)]), Some(Slice));
}

#[test]
fn records_and_sums_hold_no_wrapped_array() {
    let source = "
data Grid = Flat(n: i64, m: i64, x: [n * m]f64) | Point(x: f64)
data Bag = Bag(n: i64, x: [n * n]f64)
def area(g: Grid) -> f64 = case g {
  Flat(n, m, x) -> sum (i < n) { sum (j < m) { x[i*m + j] } }
  Point(x) -> x
}
def weight(b: Bag) -> f64 = {
  Bag(n, x) = b
  sum (i < n) { sum (j < i) { x[i*n + j] } }
}
def f(n: i64, m: i64, c: f64) -> f64 = {
  k = n * m
  s = n * n
  x = build (i < k) { f64(i) }
  y = build (i < s) { f64(i) }
  g = if m > 1 { Flat(n, m, x) } else { Point(2.0) }
  c * (area(g) + weight(Bag(n, y)))
}";
    assert_eq!(fails(source, &[int(3), int(2), one()]), None);
    assert_eq!(fails(source, &[int(BIG), int(BIG), one()]), Some(Memory));
    assert_eq!(fails(source, &[int(BIG), int(0), one()]), Some(Memory));
}

#[test]
fn results_that_are_wrapped_products_fail_where_they_are_made() {
    let source = "
def make(n: i64, m: i64, c: f64) -> (k: i64, x: [k * k]f64) = {
  k = n / m
  x = build (i < k * k) { c }
  (k, x)
}
def f(n: i64, m: i64, c: f64) -> f64 = {
  (k, x) = make(n, m, c)
  sum (i < k) { sum (j < k) { x[i*k + j] } }
}";
    assert_eq!(fails(source, &[int(7), int(2), one()]), None);
    assert_eq!(fails(source, &[int(BIG), int(1), one()]), Some(Memory));
    assert_eq!(fails(source, &[int(-3), int(1), one()]), None);
}

#[test]
fn products_of_three_are_exact_step_by_step() {
    let source = "
def inner(n: i64, m: i64, p: i64, x: [n*m*p]f64) -> f64 =
  sum (i < n) { sum (j < m) { sum (k < p) { x[(i*m + j)*p + k] } } }
def f(n: i64, m: i64, p: i64, c: f64) -> f64 = {
  k = n * m * p
  x = build (i < k) { c * f64(i) }
  inner(n, m, p, x)
}";
    assert_eq!(fails(source, &[int(2), int(3), int(2), one()]), None);
    assert_eq!(fails(source, &[int(1 << 30), int(1 << 30), int(16), one()]), Some(Memory));
    assert_eq!(fails(source, &[int(BIG), int(BIG), int(0), one()]), Some(Memory));
}

#[test]
fn a_loop_bound_that_wraps_upwards_covers_nothing() {
    let source = "
def f[n](x: [n]f64, k: i64) -> f64 = {
  m = max(k, 0)
  sum (i < n - 2 * m) { x[i] }
}";
    let [empty, three] = [vec![], vec![0.5, 1.0, 2.0]].map(Value::floats);
    assert_eq!(fails(source, &[three.clone(), int(1)]), None);
    assert_eq!(fails(source, &[empty.clone(), int((1 << 62) + 1)]), Some(Index));
    assert_eq!(fails(source, &[three.clone(), int((1 << 62) + 1)]), None);
    assert_eq!(fails(source, &[three, int((1 << 62) + 3)]), Some(Index));
    let source = "
def f[n](x: [n]f64, k: i64, l: i64) -> f64 = {
  m = max(k, 0)
  p = max(l, 0)
  sum (i < n - m * p) { x[i] }
}";
    let args = [empty, int(7 << 31), int(1 << 31)];
    assert_eq!(fails(source, &args), Some(Index));
}

#[test]
fn constants_near_the_largest_integer_are_tested() {
    let source = "
def f[n](x: [n]f64) -> f64 = sum (i < n + 5) { x[i + 9223372036854775807] }";
    assert_eq!(fails(source, &[Value::floats(vec![1.0])]), Some(Index));
    let source = "
def f[n](x: [n]f64, m: i64) -> f64 = {
  y = build (i < m + 1) { x[0] }
  sum (i < m + 1) { y[i] * y[m - i] }
}";
    let x = Value::floats(vec![1.5]);
    assert_eq!(fails(source, &[x.clone(), int(3)]), None);
    assert_eq!(fails(source, &[x.clone(), int(-1)]), None);
    assert_eq!(fails(source, &[x.clone(), int(i64::MAX)]), Some(NegativeSize));
    assert_eq!(fails(source, &[x, int(-2)]), Some(NegativeSize));
}

#[test]
fn a_bound_that_falls_with_an_outer_index_is_tested() {
    // Five rows of b + a*i cells, c apart: with a below 0 the first is the longest.
    let source = "
def f(n: i64, a: i64, c: i64, b: i64, x: [a*n - a + c*n - c + b]f64) -> f64 =
  sum (k < c) { sum (i < n) { sum (j < a*i + b) { x[j + c*i] } } }";
    let x = |n: usize| Value::floats((0..n).map(|k| k as f64 + 0.5).collect::<Vec<_>>());
    assert_eq!(fails(source, &[int(2), int(1), int(2), int(3), x(6)]), None);
    assert_eq!(fails(source, &[int(2), int(-5), int(1), int(10), x(6)]), Some(Index));
}

#[test]
fn no_array_of_no_rows_has_rows_of_a_negative_size() {
    let source = "
def f[m](x: [m]f64, k: i64, n: i64) -> f64 = {
  z = build (i < k) { build (j < n) { x[0] } }
  w = sum (i < m - n) { x[i + n] }
  w + sum (i < k) { sum (j < n) { z[i, j] } }
}";
    let x = Value::floats(vec![0.5, 1.0, 2.0]);
    assert_eq!(fails(source, &[x.clone(), int(2), int(1)]), None);
    assert_eq!(fails(source, &[x.clone(), int(0), int(1)]), None);
    assert_eq!(fails(source, &[x.clone(), int(0), int(-5)]), Some(NegativeSize));
    assert_eq!(fails(source, &[x, int(2), int(-5)]), Some(NegativeSize));
}

#[test]
fn views_and_whole_array_functions_have_true_sizes() {
    let source = "
def f(n: i64, m: i64, c: f64) -> f64 = {
  x = build (i < n * m) { c * f64(i) }
  a = unflatten(x, n, m)
  sum (i < n) { sum (j < m) { a[i, j] } }
}";
    assert_eq!(fails(source, &[int(2), int(3), one()]), None);
    assert_eq!(fails(source, &[int(BIG), int(BIG), one()]), Some(Memory));
    assert_eq!(fails(source, &[int(-2), int(-3), one()]), Some(NegativeSize));
    let source = "
def f[m](x: [m]f64, n: i64) -> f64 = {
  a = repeat_row(x, n)
  y = flatten(a)
  sum (i < n) { sum (j < m) { y[i*m + j] } }
}";
    let x = Value::floats(vec![0.5, 1.0]);
    assert_eq!(fails(source, &[x.clone(), int(3)]), None);
    assert_eq!(fails(source, &[x.clone(), int(1 << 62)]), Some(Memory));
    assert_eq!(fails(source, &[x, int(-1)]), Some(NegativeSize));
}

#[test]
fn rows_of_a_constant_length_are_counted_too() {
    let source = "
def f(k: i64, c: f64) -> f64 = {
  x = build (i < k) { [c, 1.0, c, 2.0] }
  sum (i < k) { x[i, 2] }
}";
    assert_eq!(fails(source, &[int(3), one()]), None);
    for k in [1 << 62, (1 << 62) + 1, 1 << 61, (1 << 60) + 1, i64::MAX] {
        let program = load(source);
        let lowered = jut_loop::lower(&program, crate::support::func(&program, "f")).unwrap();
        let outcome = crate::support::run_loop(
            &program,
            &lowered.program,
            &lowered.signature,
            &[int(k), one()],
            &[],
        );
        assert_eq!(outcome.map_err(|e| e.kind).err(), Some(Memory), "{k}");
    }
    let source = "
def f(c: f64) -> f64 = {
  x = build (i < 4294967296) { build (j < 4294967296) { c } }
  x[1, 2]
}";
    let program = load(source);
    let lowered = jut_loop::lower(&program, crate::support::func(&program, "f")).unwrap();
    let run =
        crate::support::run_loop(&program, &lowered.program, &lowered.signature, &[one()], &[]);
    assert_eq!(run.map_err(|e| e.kind).err(), Some(Memory));
}

#[test]
fn carried_and_collected_arrays_keep_true_sizes() {
    let source = "
def f(n: i64, m: i64, c: f64) -> f64 = {
  k = n * m
  x = build (i < k) { c }
  y = for (t < 3) carry (a = x) { build (i < k) { a[i] * c } }
  sum (i < n) { sum (j < m) { y[i*m + j] } }
}";
    assert_eq!(fails(source, &[int(2), int(3), one()]), None);
    assert_eq!(fails(source, &[int(BIG), int(BIG), one()]), Some(Memory));
}

#[test]
fn names_that_a_call_makes_wrap_do_not_escape_the_check() {
    // Inside `inner` n is the value of a*b, which has wrapped; the polynomial is that of the caller.
    let source = format!(
        "{INNER}
def f(a: i64, b: i64, m: i64, c: f64) -> f64 = {{
  x = build (i < a * b * m) {{ c }}
  inner(a * b, m, x)
}}"
    );
    assert_eq!(fails(&source, &[int(2), int(2), int(3), one()]), None);
    assert_eq!(fails(&source, &[int(BIG), int(BIG), int(2), one()]), Some(Memory));
    assert_eq!(fails(&source, &[int(BIG), int(BIG), int(0), one()]), Some(Memory));
}

#[test]
fn extreme_sizes_never_lead_outside_of_an_array() {
    let programs = [
        format!(
            "{INNER}
def f(n: i64, m: i64, c: f64) -> f64 = {{
  k = n * m
  x = if -1 < k && k < 99 {{ k }} else {{ 0 }}
  y = build (i < x) {{ c }}
  x = cast y : [n * m]f64
  if n < 99 || m > 0 {{ inner(n, m, x) }} else {{ 0.0 }}
}}"
        ),
        "def f(n: i64, m: i64, c: f64) -> f64 = {
  k = n - m
  l = if k < 99 { k } else { 0 }
  y = build (i < l) { c }
  x = cast y : [n - m]f64
  a = sum (i < n - m) { x[i] }
  p = max(m, 0)
  a + sum (i < n - m - p) { x[i + p] }
}"
        .to_string(),
        "def f(n: i64, m: i64, c: f64) -> f64 = {
  k = n + m + 1
  l = if k < 99 { k } else { 0 }
  x = cast (build (i < l) { c }) : [n + m + 1]f64
  p = max(n, 0)
  q = max(m, 0)
  a = if n < 99 && m < 99 { sum (i < n) { sum (j < m) { x[i + j + 1] } } } else { 0.0 }
  a + sum (i < p) { x[i] } + sum (i < q) { x[i] }
}"
        .to_string(),
        "def f(n: i64, m: i64, c: f64) -> f64 = {
  k = 3 * n - m * m + 2
  l = if k < 99 { k } else { 0 }
  x = cast (build (i < l) { c }) : [3 * n - m * m + 2]f64
  p = max(n, 0)
  a = sum (i < k) { x[i] } + sum (i < 2 * n - m * m) { x[i + p] }
  a + sum (i < 3 * n + 2) { x[i] }
}"
        .to_string(),
    ];
    let extremes = [
        i64::MIN,
        i64::MIN + 1,
        -(1 << 62),
        -BIG,
        -3,
        -1,
        0,
        1,
        2,
        3,
        5,
        BIG - 1,
        BIG,
        BIG + 1,
        3 << 31,
        1 << 61,
        1 << 62,
        (1 << 62) + 1,
        3 << 61,
        i64::MAX / 3,
        i64::MAX / 3 + 1,
        i64::MAX - 1,
        i64::MAX,
    ];
    let mut failed = std::collections::HashMap::new();
    for source in &programs {
        let program = load(source);
        for n in extremes {
            for m in extremes {
                let outcome = agree(&program, "f", &[int(n), int(m), one()]);
                *failed.entry(outcome.err().map(|e| e.kind.code())).or_insert(0) += 1;
            }
        }
    }
    for code in [None, Some("R01"), Some("R03"), Some("R04"), Some("R06")] {
        assert!(failed.get(&code).is_some_and(|n| *n > 20), "{code:?} in {failed:?}");
    }
}

#[test]
fn how_often_a_loop_ran_that_may_end_early_is_a_length() {
    let source = "
def f[p](m: i64, x: [p]f64) -> f64 = {
  (k, ones) = while carry (k = 0) k < m { (k + 1, 1.0) }
  q = size(ones)
  y = cast x : [4 * q]f64
  sum (i < q) { y[i] }
}
def g(m: i64) -> i64 = while carry (k = 0) k < m { k + 1 }";
    let x = Value::floats([1.5; 4]);
    assert_eq!(fails(source, &[int(1), x.clone()]), None);
    assert_eq!(fails(source, &[int(2), x]), Some(SizeMismatch));
    let program = load(source);
    let optimised = |name| {
        let id = crate::support::func(&program, name);
        let program = jut_opt::optimise(&program, id, true);
        jut_loop::print::print_program(&jut_loop::lower(&program, id).unwrap().program)
    };
    let check = "check R06 done_1 < 281474976710656";
    assert!(optimised("f").contains(check), "nobody asks for the memory of `ones`");
    assert!(!optimised("g").contains("R06"), "nobody reads how often it ran");
}

/// A caller in C may say that an array without elements has any number of them.
#[test]
fn dimensions_that_come_from_outside_are_compared_with_memory() {
    let source = "
data Grid = Grid(n: i64, m: i64, z: [n, m]f64)
data Perhaps = None | Some(grid: Grid)
def f[p, n](z: [0, n]f64, x: [p]f64) -> f64 = {
  y = cast x : [4 * n]f64
  sum (i < n) { y[i] }
}
def g(grid: Grid) -> f64 = case grid { Grid(n, m, z) -> f64(m) }
def h[n](x: [n]f64) -> f64 = sum(x)
def k(grid: Perhaps) -> f64 = case grid { None -> 0.0; Some(grid) -> g(grid) }";
    let program = load(source);
    let printed = |name| {
        let id = crate::support::func(&program, name);
        jut_loop::print::print_program(&jut_loop::lower(&program, id).unwrap().program)
    };
    let comparisons = |name| printed(name).matches(" < 281474976710656").count();
    assert_eq!(["f", "g", "h", "k"].map(comparisons), [1, 2, 0, 2]);
    assert!(printed("k").contains("taken = grid_tag == 1"), "{}", printed("k"));
}

//! What becomes a table in front of a loop, and what does not.

use crate::load;
use jut_eval::{Interpreter, Value};
use jut_ir::Program;
use jut_opt::optimise;

/// The optimised text of `f`, which the checker accepts.
fn optimised(text: &str) -> String {
    let program = load(text);
    let root = program.find_func("f").expect("the function exists");
    let fast = optimise(&program, root, false);
    jut_ir::check::check_program(&fast).expect("the checker accepts it");
    jut_ir::print::print_program(&fast)
}

/// In how many loops each line with a word stands.
fn depths(text: &str, word: &str) -> Vec<usize> {
    let mut open: Vec<bool> = Vec::new();
    let mut found = Vec::new();
    for line in text.lines() {
        if line.contains(word) {
            found.push(open.iter().filter(|is_loop| **is_loop).count());
        }
        for c in line.chars() {
            match c {
                '{' => open.push(line.contains("scan ")),
                '}' => drop(open.pop()),
                _ => {}
            }
        }
    }
    found
}

#[test]
fn what_an_inner_loop_repeats_is_a_table() {
    let text = "def f[n, m](w: [m]f64, z: f64, a: [n, m]f64) -> [n]f64 =
                  build (i < n) { var s = 0.0\n for (j < m) { s += w[j] / z * a[i, j] }\n s }";
    let expected = "core def f(n: i64, m: i64, w: [m]f64, z: f64, a: [n, m]f64) -> [n]f64 = {
  t_7 = scan par (j_1 < m) {
    t_5 = w[j_1]
    t_6 = t_5 / z
    t_6
  }
  t_4 = scan par (i < n) {
    s_2 = scan up (j < m) carry (s = 0.0) {
      t_1 = t_7[j]
      t_2 = a[i, j]
      t_3 = t_1 * t_2
      s_1 = s + t_3
      s_1
    }
    s_2
  }
  t_4
}";
    assert_eq!(optimised(text).trim(), expected);
}

#[test]
fn a_table_has_the_indices_that_matter() {
    // The spread of each component in each direction, in a loop over points: two indices, and the logarithm one.
    let text = "def f[n, k, d](x: [n, d]f64, m: [k, d]f64, q: [k, d]f64, w: [k]f64) -> f64 =
                  sum (i < n) { sum (c < k) { log(w[c]) + sum (j < d) { exp(q[c, j]) * (x[i, j] - m[c, j]) } } }";
    let fast = optimised(text);
    assert_eq!(depths(&fast, "exp("), [2], "{fast}");
    assert_eq!(depths(&fast, "log("), [1], "{fast}");
}

#[test]
fn what_is_computed_of_tables_only_is_one() {
    // Of the two expensive operations the last is read by the loop, the first by the last alone.
    let text = "def f[n, m](w: [m]f64, a: [n]f64) -> f64 = sum (i < n) { sum (j < m) { a[i] / (1.0 + exp(-w[j])) } }";
    let other = "def f[n, m](w: [m]f64, a: [n]f64) -> f64 = sum (i < n) { sum (j < m) { a[i] * (1.0 / (1.0 + exp(-w[j]))) } }";
    let fast = optimised(text);
    assert_eq!((depths(&fast, "exp("), depths(&fast, " / ")), (vec![1], vec![2]), "{fast}");
    let fast = optimised(other);
    assert_eq!((depths(&fast, "exp("), depths(&fast, " / ")), (vec![1], vec![1]), "{fast}");
    assert_eq!(fast.matches("scan").count(), 3, "{fast}");
}

#[test]
fn a_loop_that_ends_when_it_is_done_repeats_as_well() {
    // Weights that are scaled until they add up: the kernel is the same in each round.
    let text = "def f[n, m](c: [n, m]f64, e: f64, v0: [m]f64) -> f64 = {
                  var v = v0
                  var s = 2.0
                  while s > 1.5 {
                    var t = 0.0
                    w = v
                    for (i < n) { for (j < m) { t += exp(-c[i, j] / e) * w[j] } }
                    v = build (j < m) { w[j] / t }
                    s = t
                  }
                  s
                }";
    assert_eq!(depths(&optimised(text), "exp("), [2]);
}

/// Something expensive stays in as many loops as it was written in.
fn stays(text: &str, depth: usize) {
    let fast = optimised(text);
    assert_eq!(depths(&fast, "exp("), [depth], "{fast}");
}

#[test]
fn what_the_outer_loop_matters_to_stays() {
    stays(
        "def f[n, m](w: [m]f64, a: [n]f64) -> f64 = sum (i < n) { sum (j < m) { exp(w[j] * a[i]) } }",
        2,
    );
    stays(
        "def f[m](w: [m]f64, n: i64) -> f64 = { (s, _) = for (i < n) carry (s = 0.0, h = 1.0) {
           (s + sum (j < m) { exp(w[j] * h) }, h * 0.5) }
         s }",
        2,
    );
    // As many values as the triangle has.
    stays("def f[n](w: [n]f64) -> f64 = sum (i < n) { sum (j < i) { exp(w[j]) } }", 2);
}

#[test]
fn a_table_is_not_larger_than_an_array_that_is_there() {
    // Without an array no memory was needed; none is now.
    stays(
        "def f(h: f64, n: i64, m: i64) -> f64 = sum (i < n) { sum (j < m) { exp(h * f64(j)) } }",
        2,
    );
    // Sums of elements of two arrays have as many values as a matrix has elements.
    stays(
        "def f[n, m](w: [m]f64, u: [m]f64, k: i64) -> f64 =
           sum (i < k) { sum (a < m) { sum (b < m) { exp(w[a] * u[b]) } } }",
        3,
    );
    // Another index than the loop's own.
    stays(
        "def f[m](w: [m]f64, n: i64) -> f64 = sum (i < n) { sum (j < m - 1) { exp(w[j + 1] * f64(j)) } }",
        2,
    );
}

#[test]
fn what_may_not_be_reached_stays() {
    // A branch, and a loop that may end before.
    stays(
        "def f[n, m](w: [m]f64, a: [n]f64) -> f64 =
           sum (i < n) { sum (j < m) { if a[i] > 0.0 { exp(w[j]) } else { 0.0 } } }",
        2,
    );
    stays(
        "def f[n, m](w: [m]f64, a: [n]f64) -> f64 = {
           var s = 0.0
           for (i < n) { for (j < m) { if s > 10.0 { break }\n s += exp(w[j]) + a[i] } }
           s
         }",
        2,
    );
    // An access that a check in the loop guards.
    stays(
        "def f[m](w: [m]f64, n: i64, k: i64) -> f64 = sum (i < n) { sum (j < k) { exp(w[j]) } }",
        2,
    );
}

#[test]
fn tables_have_the_bits_of_what_they_replace() {
    let text = "def f[n, m](w: [m]f64, z: f64, a: [n, m]f64) -> f64 = {
                  var s = 0.0
                  for (i < n) { for (j < m) { s += (exp(w[j]) / z + sqrt(w[j])) * a[i, j] } }
                  s
                }";
    let program = load(text);
    let root = program.find_func("f").expect("the function exists");
    let fast = optimise(&program, root, true);
    let run = |program: &Program, n: usize, m: usize| {
        let interpreter = Interpreter::new(program);
        let w: Vec<f64> = (0..m).map(|k| (k as f64 * 1.3).sin().abs()).collect();
        let a: Vec<f64> = (0..n * m).map(|k| (k as f64 * 0.7).cos()).collect();
        let a = Value::matrix(n, m, a).expect("a matrix");
        let args = interpreter
            .with_sizes(root, &[Value::floats(w), Value::F64(0.3), a])
            .expect("arguments fit");
        interpreter.call(root, &args, &[], &[]).expect("it runs")
    };
    for (n, m) in [(0, 0), (0, 3), (3, 0), (1, 4), (5, 7)] {
        let (slow, fast) = (run(&program, n, m), run(&fast, n, m));
        assert_eq!(format!("{:?}", slow.results), format!("{:?}", fast.results));
        assert!(n < 2 || fast.counters.w() <= slow.counters.w(), "{n} x {m}");
    }
}

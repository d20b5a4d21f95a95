//! Structured primitives in the loop form: kernels and loops with the bits of the interpreter, and
//! gradients that are added where they belong without a copy.

mod support;

use jut_ad::{Derivatives, Mask, Policy, compose};
use jut_eval::Value;
use jut_loop::{lower, print};
use support::{agree_on_derivatives, func, load};

fn grid(n: usize, m: usize) -> Value {
    let cell = |k: usize| (1.3 * k as f64).sin();
    Value::matrix(n, m, (0..n * m).map(cell).collect::<Vec<_>>()).unwrap()
}

/// The text of the compiled gradient.
fn gradient(source: &str) -> String {
    let program = load(source);
    let id = func(&program, "f");
    let mask = Mask::full(&program, id);
    let mut d = Derivatives::new(program);
    let composed = compose::value_and_grad(&mut d, id, &mask, Policy::Default).unwrap();
    let optimised = jut_opt::optimise(&d.program, composed, true);
    let entry = optimised.find_func(&d.program.funcs[composed].name).unwrap();
    print::print_program(&lower(&optimised, entry).unwrap().program)
}

const PRODUCT: &str = "
def f[n, k, m](a: [n, k]f64, b: [k, m]f64) -> f64 = {
  c = matmul(a, b)
  sum (i < n) { sum (j < m) { c[i, j] * c[i, j] } }
}";

#[test]
fn products_have_the_bits_of_the_interpreter_beyond_one_block_too() {
    for (n, k, m) in [(0, 2, 3), (2, 0, 3), (2, 3, 0), (1, 1, 1), (5, 7, 30), (3, 300, 2)] {
        agree_on_derivatives(PRODUCT, "f", &[grid(n, k), grid(k, m)]);
    }
}

/// The gradient of a weight matrix is one product, added to the caller's buffer.
#[test]
fn gradients_of_matrices_are_added_in_place() {
    let text = gradient(PRODUCT);
    let kernels: Vec<&str> = text.lines().filter(|l| l.contains("kernel matmul")).collect();
    let [forward, backward @ ..] = &kernels[..] else { panic!("{text}") };
    assert!(forward.ends_with(", 0)"), "{text}");
    let flags: Vec<&str> =
        backward.iter().map(|l| l.trim_end_matches(')').rsplit(' ').next().unwrap()).collect();
    assert_eq!(flags, ["5", "6"], "a'' += c'' b^T and b'' += a^T c'', in some order\n{text}");
    let copies = text.lines().filter(|l| l.trim_start().starts_with("copy")).count();
    assert_eq!(copies, 0, "{text}");
    let arrays = text.lines().filter(|l| l.contains("alloc") && !l.contains("scratch"));
    assert_eq!(arrays.count(), 2, "the product and its cotangent alone\n{text}");
}

#[test]
fn a_weight_that_is_used_in_every_iteration_has_one_gradient_matrix() {
    let text = gradient(
        "
def f[n, d](w: [d, d]f64, h: [n, d]f64, steps: i64) -> f64 = {
  last = for (t < steps) carry (h = h) { matmul(h, w) }
  sum (i < n) { sum (j < d) { last[i, j] } }
}",
    );
    let adds = text.lines().filter(|l| l.contains("kernel matmul") && l.ends_with(", 5)"));
    assert_eq!(adds.count(), 1, "{text}");
}

#[test]
fn every_row_has_the_bits_of_the_interpreter() {
    let source = "
def f[n, m](a: [n, m]f64, b: [n, m]f64, x: [m]f64, y: [n]f64) -> f64 = {
  p = matmul(transposed(a), b)
  q = matmul(a, transposed(b))
  r = matmul(transposed(a), transposed(q))
  s = scale(dot(x, sum_rows(b)), cumsum(reverse(matvec(a, x))))
  t = outer(matvec(transposed(b), y), cumsum_from_end(x))
  u = matmul(repeat_row(y, m), repeat_column(sum_columns(b), m))
  v = transposed(matmul(matmul(p, t), matmul(u, r)))
  dot(matvec(v, x), s) + sum (i < n) { v[i, 0] * s[i] }
}";
    for (n, m) in [(3, 3), (1, 1)] {
        let vector = |n: usize| Value::floats((0..n).map(|k| 0.3 - k as f64).collect::<Vec<_>>());
        agree_on_derivatives(source, "f", &[grid(n, m), grid(n, m), vector(m), vector(n)]);
    }
}

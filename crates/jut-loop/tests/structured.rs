//! Structured primitives in the loop form: kernels and loops with the bits of the interpreter, and
//! gradients that are added where they belong without a copy.

use crate::support::{agree_on_derivatives, func, load};
use jut_ad::{Derivatives, Mask, Policy, compose};
use jut_eval::{Array, Cells, Value};
use jut_loop::{lower, print};

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

/// Conjugate gradients: their cotangents begin as those of the step behind, in whose place they are added up.
#[test]
fn products_are_added_at_once_where_another_array_changes_in_place() {
    let source = "
def f[n](a: [n, n]f64, b: [n]f64) -> f64 = {
  z = build (i < n) { 0.0 }
  (x, r, p) = for (k < 10) carry (x = z, r = b, p = b) {
    w = matvec(a, p)
    s = dot(r, r) / (1.0 + dot(p, w))
    q = build (i < n) { r[i] - s * w[i] }
    (build (i < n) { x[i] + s * p[i] }, q, build (i < n) { q[i] + s * p[i] })
  }
  dot(x, x)
}";
    let text = gradient(source);
    assert!(text.contains("for down"), "{text}");
    for (kernel, end) in [("kernel outer", ", 4)"), ("kernel matvec", ", 5)")] {
        let last = text.lines().rfind(|l| l.contains(kernel));
        assert!(last.is_some_and(|l| l.ends_with(end)), "{kernel}\n{text}");
    }
    for n in [0, 1, 5] {
        let b = Value::floats((0..n).map(|k| (0.7 * k as f64).cos()).collect::<Vec<_>>());
        agree_on_derivatives(source, "f", &[grid(n, n), b]);
    }
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

#[test]
fn triangular_matrices_have_the_bits_of_the_interpreter_beyond_one_block_too() {
    let source = "
def f[n, m](a: [n, n]f64, b: [n, m]f64) -> f64 = {
  s = symmetric_sum(0.1 * lower_triangle(a))
  p = fold_lower(mirror_lower(s) + build (i < n, j < n) { select(i == j, 9.0, 0.0) })
  l = cholesky(p)
  x = triangular_solve(l, b)
  y = triangular_solve_t(l, x)
  t = cholesky_cotangent(l, cholesky_tangent(l, matmul_nt(x, y)))
  sum (i < n) { sum (j <= i) { t[i, j]^2 } } + sum (i < n, j < m) { sin(x[i, j]) * y[i, j] }
}";
    for (n, m) in [(0, 2), (1, 1), (3, 0), (5, 2), (40, 3)] {
        agree_on_derivatives(source, "f", &[grid(n, n), grid(n, m)]);
    }
}

#[test]
fn convolutions_batches_and_joins_have_the_bits_of_the_interpreter() {
    let cells = |n: usize, seed: f64| (0..n).map(|k| (seed * k as f64).sin()).collect::<Vec<_>>();
    let array = |dims: &[usize], seed| {
        let cells = Cells::F64(cells(dims.iter().product(), seed));
        Value::Array(Array::new(dims.to_vec(), cells).unwrap())
    };
    let source = "
def f[c, p, o, s](x: [c, p]f64, k: [o, c, s]f64) -> f64 = {
  y = conv1d(x, k)
  z = conv1d_input(y, k)
  g = conv1d_kernel(x, y)
  sum (i < c) { sum (j < p) { z[i, j] * x[i, j] } } + sum (i < o) { sum (j < c) { sum (l < s) { g[i, j, l]^2 } } }
}";
    for (c, p, o, s) in [(1, 3, 1, 3), (3, 30, 5, 4), (2, 5, 1, 1), (1, 1, 2, 2)] {
        agree_on_derivatives(source, "f", &[array(&[c, p], 1.3), array(&[o, c, s], 0.7)]);
    }
    let source = "
def f[c, h, w, o, u, v](x: [c, h, w]f64, k: [o, c, u, v]f64) -> f64 = {
  y = conv2d(x, k)
  z = conv2d_input(y, k)
  g = conv2d_kernel(z, y)
  t = flatten4(permute_1023(g))
  dot(t, flatten4(k)) + dot(flatten3(x), flatten3(z))
}";
    for (c, h, w, o, u, v) in [(2, 4, 12, 5, 3, 4), (1, 2, 2, 1, 2, 2), (5, 3, 9, 2, 1, 5)] {
        agree_on_derivatives(source, "f", &[array(&[c, h, w], 1.3), array(&[o, c, u, v], 0.7)]);
    }
    let source = "
def f[n, m](a: [n, m, m]f64, b: [n, m, m]f64, x: [m]f64) -> f64 = {
  c = batch_matmul(permute_021(a), b)
  d = batch_matmul(c, permute_021(b))
  v = concat(flatten3(batch_matmul(permute_021(d), permute_021(c))), x, flatten3(a))
  dot(v, pad(hadamard(x, repeat(sum_all(x), m)), n * m * m, n * m * m))
}";
    for (n, m) in [(2, 3), (1, 40), (0, 2)] {
        let (a, b) = (array(&[n, m, m], 1.3), array(&[n, m, m], 0.7));
        agree_on_derivatives(source, "f", &[a, b, Value::floats(cells(m, 0.4))]);
    }
}

/// The gradient of a kernel that is used for every image is added into one array.
#[test]
fn gradients_of_kernels_are_added_in_place() {
    let text = gradient(
        "
def f[n, c, p, o, s](x: [n, c, p]f64, k: [o, c, s]f64, w: [o]f64) -> f64 = {
  m = p - s + 1
  sum (e < n) {
    y = conv1d(x[e], k)
    sum (i < m) { matvec(transposed(y), w)[i]^2 }
  }
}",
    );
    for (kernel, add) in [("conv_kernel", 1), ("conv_input", 1), ("matvec", 1), ("outer", 1)] {
        let calls = |end: fn(&str) -> bool| {
            let start = format!("kernel {kernel}(");
            text.lines().filter(|l| l.contains(&start) && end(l)).count()
        };
        assert_eq!(calls(|l| l.ends_with(", 4)")), add, "{kernel}\n{text}");
    }
}

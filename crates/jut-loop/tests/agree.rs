//! The loop form computes what the interpreter of Linear A computes, bit for bit: values,
//! gradients under both tape policies, forward derivatives, and errors.

use crate::support::{agree, agree_on_derivatives, load};
use jut_eval::Value;

/// Numbers without pattern, in -1 .. 1.
fn floats(n: usize, seed: u64) -> Vec<f64> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    (0..n)
        .map(|_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 11) as f64 / (1u64 << 52) as f64 - 1.0
        })
        .collect()
}

fn vector(n: usize, seed: u64) -> Value {
    Value::floats(floats(n, seed))
}

fn matrix(n: usize, m: usize, seed: u64) -> Value {
    Value::matrix(n, m, floats(n * m, seed)).unwrap()
}

fn ints(values: &[i64]) -> Value {
    Value::ints(values.to_vec())
}

#[test]
fn scalar_functions() {
    let f = "def f(u: f64) -> f64 = { v = sin(u)\n -v }";
    agree_on_derivatives(f, "f", &[Value::F64(0.7)]);
    let power = "def power(x: f64, n: i64) -> f64 = for (i < n) carry (a = 1.0) { a * x }";
    for n in [-2, 0, 1, 7] {
        agree_on_derivatives(power, "power", &[Value::F64(1.1), Value::I64(n)]);
    }
}

#[test]
fn sums_over_overlapping_elements() {
    let nb = "def nb[n](x: [n]f64) -> f64 = sum (i < n - 1) { x[i] * x[i + 1] }";
    for n in [0, 1, 2, 9, 2500] {
        agree_on_derivatives(nb, "nb", &[vector(n, 3)]);
    }
}

#[test]
fn triangular_loops_and_their_ragged_tapes() {
    let pairs = "
def pairs[n](x: [n]f64) -> f64 = sum (i < n) {
  sum (j < i) {
    d = x[i] - x[j]
    exp(d)
  }
}
def tri[n](x: [n]f64) -> f64 = sum (i < n) { for (j < i) carry (a = 1.0) { a * x[j] } }
def nested[n](x: [n]f64) -> f64 = sum (i < n) {
  sum (j < i) { for (k < j) carry (a = x[i]) { a * x[k] } }
}";
    for name in ["pairs", "tri", "nested"] {
        for n in [0, 1, 7, 40] {
            agree_on_derivatives(pairs, name, &[vector(n, 5)]);
        }
    }
}

#[test]
fn branches_in_loops_and_loops_in_branches() {
    let source = "
def br[n](x: [n]f64) -> f64 = sum (i < n) {
  y = if x[i] > 0.0 { for (k < i) carry (a = 1.0) { a * x[k] } } else { x[i] * x[i] }
  sin(y)
}
def brw[n](x: [n]f64, c: [n]i64) -> f64 = sum (i < n) {
  if x[i] > 0.5 {
    if x[i] > 0.8 { for (q < c[i]) carry (a = x[i]) { sin(a * x[i]) } } else { exp(x[i]) }
  } else { for (q < i) carry (a = 1.0) { for (r < q) carry (b = a) { b * x[r] } } }
}";
    for n in [0, 1, 12] {
        agree_on_derivatives(source, "br", &[vector(n, 8)]);
        let counts: Vec<i64> = (0..n as i64).map(|i| i % 4 - 1).collect();
        agree_on_derivatives(source, "brw", &[vector(n, 8), ints(&counts)]);
    }
}

#[test]
fn array_carries_and_captured_matrices() {
    let rnn = "
def rnn[n, T](w: [n, n]f64, h0: [n]f64, x: [T, n]f64) -> f64 = {
  h = for (t < T) carry (h = h0) {
    build (i < n) {
      g = sum (j < n) { w[i, j] * h[j] }
      tanh(g + x[t, i])
    }
  }
  sum (v <- h) { v * v }
}";
    for (n, t) in [(3, 4), (1, 1), (4, 0), (0, 3)] {
        agree_on_derivatives(rnn, "rnn", &[matrix(n, n, 1), vector(n, 2), matrix(t, n, 3)]);
    }
}

#[test]
fn sizes_computed_inside() {
    let source = "
def firsthalf[n](x: [n]f64) -> (m: i64, y: [m]f64) = {
  m = n / 2
  y = build (i < m) { exp(x[i]) }
  (m, y)
}
def usehalf[n](x: [n]f64) -> f64 = {
  (m, y) = firsthalf(x)
  sum (v <- y) { v * v }
}
def same[n](x: [n]f64) -> (m: i64, y: [m]f64) = {
  y = build (i < n) { exp(x[i]) }
  (n, y)
}
def odd[n](x: [n]f64) -> (m: i64, y: [m]f64) = {
  k = n - 1
  y = build (i < k) { x[i] * x[i + 1] }
  (k, y)
}
def useodd[n](x: [n]f64, b: bool) -> f64 = {
  (m: i64, y: [m]f64) = if b { (p, a) = odd(x); (p, a) } else { (q, c) = same(x); (q, c) }
  sum (v <- y) { v * v }
}
def choose[n](x: [n]f64, b: bool) -> f64 = {
  (m: i64, y: [m]f64) = if b {
    k = n / 2
    y1 = build (i < k) { exp(x[i]) }
    (k, y1)
  } else {
    l = n - 1
    y2 = build (i < l) { x[i] * x[i + 1] }
    (l, y2)
  }
  sum (v <- y) { v * v }
}";
    let program = load(source);
    agree(&program, "firsthalf", &[vector(7, 1)]).unwrap();
    agree_on_derivatives(source, "usehalf", &[vector(7, 1)]);
    for n in [1, 6] {
        for b in [true, false] {
            for name in ["useodd", "choose"] {
                agree_on_derivatives(source, name, &[vector(n, 2), Value::Bool(b)]);
            }
        }
    }
    // A negative size is the same error everywhere.
    assert!(agree(&program, "odd", &[vector(0, 1)]).is_err());
}

#[test]
fn rows_through_calls() {
    let source = "
def norm2[d](v: [d]f64) -> f64 = sum (a <- v) { a * a }
def rows[n, d](x: [n, d]f64) -> f64 = sum (i < n) { exp(norm2(x[i])) }
def two[n](a: [n]f64, b: [n]f64) -> f64 = sum (i < n) { a[i] * sin(b[i]) }
def twice[n](x: [n]f64) -> f64 = two(x, x)
def inner[d](v: [d]f64, k: i64) -> f64 = v[k] * v[0]
def outer[d](v: [d]f64) -> f64 = sum (k < d) { inner(v, k) }
def rowrow[n, d](x: [n, d]f64) -> f64 = sum (i < n) { outer(x[i]) * x[0, 0] }";
    agree_on_derivatives(source, "rows", &[matrix(5, 3, 1)]);
    agree_on_derivatives(source, "twice", &[vector(6, 1)]);
    agree_on_derivatives(source, "rowrow", &[matrix(4, 3, 1)]);
}

#[test]
fn records_tuples_and_sums() {
    let source = "
data Polar = Polar(r: f64, a: f64)
data Shape2 = Circle(r: f64) | Poly(m: i64, xs: [m]f64) | Point
def polar(x: f64, y: f64) -> Polar = {
  r = sqrt(x * x + y * y)
  Polar(r, y / r)
}
def usepolar(x: f64, y: f64) -> f64 = {
  p = polar(x, y)
  p.r * p.a
}
def cloud[n](x: [n]f64, y: [n]f64) -> [n]Polar = build (i < n) { polar(x[i], y[i]) }
def usecloud[n](x: [n]f64, y: [n]f64) -> f64 = {
  ps = cloud(x, y)
  sum (p <- ps) { p.r * p.a }
}
def pairs2[n](x: [n]f64) -> #([n]f64, [n]#(f64, i64)) = {
  a = build (i < n) { x[i] * 2.0 }
  b = build (i < n) { #(x[i], i) }
  #(a, b)
}";
    let program = load(source);
    agree_on_derivatives(source, "usepolar", &[Value::F64(0.3), Value::F64(0.4)]);
    agree_on_derivatives(source, "usecloud", &[vector(5, 1), vector(5, 2)]);
    agree(&program, "cloud", &[vector(3, 1), vector(3, 2)]).unwrap();
    agree(&program, "pairs2", &[vector(3, 1)]).unwrap();
}

#[test]
fn sums_of_arrays_and_gathers() {
    let source = "
def hist[n, m](x: [n]f64, w: [m]f64) -> f64 = {
  h = sum (i < n) { build (j < m) { x[i] * w[j] } }
  sum (v <- h) { v * v }
}
def gather[n, m](x: [n]f64, ix: [m]i64) -> f64 = sum (i < m) { x[ix[i]] }
def ragged2[n](x: [n]f64, c: [n]i64) -> f64 = sum (i < n) {
  k = c[i]
  sum (j < k) { for (q < j) carry (a = x[i]) { sin(a * x[q]) } }
}
def arrcase[n](x: [n]f64, b: bool) -> f64 = {
  y = if b { x } else { build (i < n) { x[i] * x[i] } }
  sum (v <- y) { v * v }
}
def late[n](x: [n]f64, z: f64) -> f64 = {
  (a, b) = for (i < n) carry (a = 1.0, b = 2.0) { (a * b + z, x[i]) }
  a * b
}
def badinv[n](x: [n]f64, k: i64, m: i64) -> f64 = for (i < m) carry (a = 1.0) { a * x[k] }";
    agree_on_derivatives(source, "hist", &[vector(6, 1), vector(3, 2)]);
    agree_on_derivatives(source, "gather", &[vector(4, 1), ints(&[3, 0, 3])]);
    agree_on_derivatives(source, "gather", &[vector(4, 1), ints(&[3, 4, 3])]);
    agree_on_derivatives(source, "ragged2", &[vector(4, 1), ints(&[3, 0, -1, 2])]);
    agree_on_derivatives(source, "arrcase", &[vector(4, 1), Value::Bool(true)]);
    agree_on_derivatives(source, "arrcase", &[vector(4, 1), Value::Bool(false)]);
    agree_on_derivatives(source, "late", &[vector(4, 1), Value::F64(0.3)]);
    for (k, m) in [(2, 3), (9, 0), (9, 2), (-1, 1)] {
        let args = [vector(4, 1), Value::I64(k), Value::I64(m)];
        agree_on_derivatives(source, "badinv", &args);
    }
}

#[test]
fn sums_in_blocks_of_lanes() {
    let source = "
def mean[n](x: [n]f64) -> f64 = sum (v <- x) { v } / f64(n)
def two[n](x: [n]f64) -> (f64, f64) = {
  a = sum (v <- x) { v }
  b = sum (v <- x) { v * v }
  (a, b)
}
core def into(n: i64, x: [n]f64; ; acc lanes s: f64) -> () = {
  scan par (i < n) slice (v <- x) {
    s += v
  }
}
core def from(n: i64, x: [n]f64) -> f64 = {
  t = acc lanes s: f64 {
    s += 0.1
    scan par (i < n) slice (v <- x) {
      s += v
    }
    into(n, x; ; s)
    scan par (i < n) slice (v <- x) {
      s += v
      s += 1.0
    }
  }
  t
}";
    let program = load(source);
    for n in [0, 1, 8, 1023, 1024, 1025, 5000] {
        agree(&program, "mean", &[vector(n, 9)]).unwrap();
        agree(&program, "two", &[vector(n, 9)]).unwrap();
        agree(&program, "from", &[Value::I64(n as i64), vector(n, 9)]).unwrap();
    }
}

#[test]
fn sums_by_lanes_with_other_additions_around_their_loops() {
    let source = "
def around[n](x: [n]f64, a: f64) -> f64 = {
  s = acc lanes r: f64 {
    r += a
    scan par (i < n) { v = x[i]\n r += v }
    r += a
    scan par (j < n) { w = x[j]\n r += w }
  }
  s
}
def captured[n](x: [n]f64, a: f64) -> f64 = { b = exp(a)\n b + sum (i < n) { sin(b * x[i]) } }";
    for n in [0, 1, 9, 1024, 3000] {
        for name in ["around", "captured"] {
            agree_on_derivatives(source, name, &[vector(n, 11), Value::F64(0.3)]);
        }
    }
}

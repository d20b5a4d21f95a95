//! The standard library against exact values: every row of `exact.txt` is an expression of x, which is called with its
//! derivative in forward and in reverse mode.

use jut::{Arg, Compiled, Model};

/// Functions with several results, of which the table needs one.
const BESIDE: &str = "
use std.special
use std.stats
use std.linalg
use std.interp
use std.quad
use std.ode
use std.optim
use std.nn
use std.complex
def qr_r[n, m](a: [n, m]f64) -> [m, m]f64 = { (q, r) = std.linalg.qr(a); r }
def qr_q[n, m](a: [n, m]f64) -> [n, m]f64 = { (q, r) = std.linalg.qr(a); q }
def eigen_values[n](a: [n, n]f64) -> [n]f64 = { (w, v) = std.linalg.symmetric_eigen(a); w }
def eigen_vectors[n](a: [n, n]f64) -> [n, n]f64 = { (w, v) = std.linalg.symmetric_eigen(a); v }
def rk45_value[d](f: fn(f64, [d]f64) -> [d]f64, y0: [d]f64, t0: f64, t1: f64, tolerance: f64) -> [d]f64 = {
  (y, steps) = std.ode.rk45(f, y0, t0, t1, tolerance, 10000)
  y
}
def leapfrog_position[d](f: fn([d]f64) -> [d]f64, q0: [d]f64, v0: [d]f64, t1: f64, steps: i64) -> [d]f64 = {
  (q, v) = std.ode.leapfrog(f, q0, v0, t1, steps)
  q
}
def adjoint_by_parameters[d, p](
  f: fn(f64, [d]f64, [p]f64) -> [d]f64, y1: [d]f64, q: [p]f64, by: [d]f64, t0: f64, t1: f64
) -> [p]f64 = {
  (by_y0, by_p) = std.ode.adjoint(f, y1, q, by, t0, t1, 1e-12, 10000)
  by_p
}
def adjoint_by_values[d, p](
  f: fn(f64, [d]f64, [p]f64) -> [d]f64, y1: [d]f64, q: [p]f64, by: [d]f64, t0: f64, t1: f64
) -> [d]f64 = {
  (by_y0, by_p) = std.ode.adjoint(f, y1, q, by, t0, t1, 1e-12, 10000)
  by_y0
}
def lstm_output[n, d, m](
  x: [n, d]f64, h: [n, m]f64, c: [n, m]f64, w: [d, 4 * m]f64, u: [m, 4 * m]f64, b: [4 * m]f64
) -> [n, m]f64 = {
  (y, cells) = std.nn.lstm_cell(x, h, c, w, u, b)
  y
}
def batch_normed[n, d](x: [n, d]f64, stretch: [d]f64, move: [d]f64, small: f64) -> [n, d]f64 = {
  (y, mean, variance) = std.nn.batch_norm(x, stretch, move, small)
  y
}
";

/// A row of the table: the expression, x, the value and the derivative there, and how exact they are.
fn rows() -> Vec<(&'static str, [f64; 4])> {
    let lines = include_str!("exact.txt").lines().filter(|line| !line.starts_with('#'));
    let row = |line: &'static str| {
        let mut parts = line.split(" | ");
        let expression = parts.next().expect(line);
        (expression, std::array::from_fn(|_| parts.next().expect(line).parse().expect(line)))
    };
    lines.map(row).collect()
}

fn numbers(compiled: &Compiled, args: &[Arg<'_>]) -> [f64; 2] {
    let results = compiled.call(args).expect("it runs");
    [0, 1].map(|k| results[k].floats()[0])
}

#[test]
fn values_and_derivatives_are_those_of_the_table() {
    let rows = rows();
    assert!(rows.len() > 230);
    let mut text = BESIDE.to_string();
    for (k, (expression, _)) in rows.iter().enumerate() {
        text += &format!("def row{k}(x: f64) -> f64 = {expression}\n");
    }
    let model = Model::from_text(&text).unwrap_or_else(|e| panic!("{e}"));
    let mut wrong = Vec::new();
    for (k, (expression, [x, value, derivative, tolerance])) in rows.into_iter().enumerate() {
        let function = model.function(&format!("row{k}")).expect("a function");
        let reverse = numbers(&function.value_and_gradient().expect("compiles"), &[x.into()]);
        let forward = numbers(&function.jvp().expect("compiles"), &[x.into(), 1.0.into()]);
        for (mode, found) in [("reverse", reverse), ("forward", forward)] {
            for (what, found, exact) in
                [("value", found[0], value), ("derivative", found[1], derivative)]
            {
                let error = (found - exact).abs() / exact.abs().max(1e-300);
                // A derivative that is 0 may be what is left of numbers near 1.
                if !(error <= tolerance || exact == 0.0 && found.abs() <= tolerance) {
                    wrong.push(format!(
                        "{expression} at {x}, {mode} {what}: {found}, not {exact} ({error:.1e})"
                    ));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

/// What a gradient of a factorisation stores grows with the square of the size, and not with the work.
#[test]
fn tapes_of_factorisations_grow_with_the_square() {
    let text = "
use std.linalg as la
def matrix(n: i64, s: f64) -> [n, n]f64 = build (i < n, j < n) { gaussian(s * f64(i - j)) }
def by_cholesky(n: i64, s: f64) -> f64 = {
  l = la.cholesky(matrix(n, s))
  la.cholesky_logdet(l) + sum(la.cholesky_solve(l, build (i < n) { s * f64(i) }))
}
def determinant(n: i64, s: f64) -> f64 = la.logdet(matrix(n, s))
def solution(n: i64, s: f64) -> f64 = sum(la.solve(matrix(n, s), build (i < n) { s * f64(i) }))
def inverse(n: i64, s: f64) -> f64 = sum(la.inverse(matrix(n, s)))
def qr(n: i64, s: f64) -> f64 = { (q, r) = la.qr(matrix(n, s)); sum(q) + sum(r) }
def eigen(n: i64, s: f64) -> f64 = { (w, v) = la.symmetric_eigen(matrix(n, s)); sum(w * w) + sum(v * v * v) }
";
    let model = Model::from_text(text).unwrap_or_else(|e| panic!("{e}"));
    for name in ["by_cholesky", "determinant", "solution", "inverse", "qr", "eigen"] {
        let linearized = model.function(name).expect(name).linearize().expect(name);
        let bytes =
            |n: i64| linearized.at(&[n.into(), 1.5.into()]).expect("it runs").bytes() as f64;
        let growth = bytes(96) / bytes(24);
        assert!(growth < 24.0, "{name}: {growth} times as much for 4 times the size");
        assert!(bytes(96) < 8.0 * 12.0 * 96.0 * 96.0, "{name}: {} bytes", bytes(96));
    }
}

/// At the border a complex number is a record, and a gradient the record of the two partial derivatives.
#[test]
fn complex_numbers_are_records_outside() {
    let text = "
def f(z: c64, w: [2]c64) -> f64 = re(z^2) + sum (v <- w) { abs2(z * v) }
def holomorphic(z: c64) -> c64 = exp(z) * z
";
    let model = Model::from_text(text).unwrap_or_else(|e| panic!("{e}"));
    let number =
        |re: f64, im: f64| jut::Value::Tuple(vec![jut::Value::F64(re), jut::Value::F64(im)]);
    let array = |x: [f64; 2]| jut::Value::F64s(jut::Array { shape: vec![2], data: x.to_vec() });
    let w = jut::Value::Tuple(vec![array([1.0, -0.25]), array([0.5, 2.0])]);
    let gradient = model.function("f").expect("f").gradient().expect("compiles");
    let mut session = gradient.session();
    let z = number(1.5, -0.5);
    let results = session.call(&[(&z).into(), (&w).into()]).expect("it runs");
    // d/dx and d/dy of x^2 - y^2 + (x^2 + y^2) (1.25 + 4.0625).
    let weight = 1.25 + 4.0625;
    let exact = [2.0 * 1.5 * (1.0 + weight), 2.0 * -0.5 * (weight - 1.0)];
    assert_eq!(results.f64("z.re").expect("a part"), exact[0]);
    assert_eq!(results.f64("z.im").expect("a part"), exact[1]);
    // The Cauchy-Riemann equations, and f' = exp(z) (z + 1), in forward mode.
    let jvp = model.function("holomorphic").expect("a function").jvp().expect("compiles");
    let along = |re: f64, im: f64| {
        let results =
            jvp.call(&[(&number(0.5, 1.0)).into(), (&number(re, im)).into()]).expect("it runs");
        let Some(jut::Value::Tuple(parts)) = results.get(1).cloned() else { panic!("{results:?}") };
        let [jut::Value::F64(a), jut::Value::F64(b)] = parts[..] else { panic!("{parts:?}") };
        [a, b]
    };
    let (right, up) = (along(1.0, 0.0), along(0.0, 1.0));
    let near = |a: [f64; 2], b: [f64; 2]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-14);
    assert!(near(right, [up[1], -up[0]]), "{right:?}, {up:?}");
    let (e, c, s) = (0.5f64.exp(), 1.0f64.cos(), 1.0f64.sin());
    let slope = [e * (1.5 * c - s), e * (1.5 * s + c)];
    assert!(near(right, slope), "{right:?}, {slope:?}");
}

//! Parameters that are `&mut`: what they are in the end are results, and calls hand them on.

use super::{differences, same};
use jut::differentiable;

/// A step of Jacobi's method on a rod.
#[differentiable]
fn relax(u: &mut [f64], source: &[f64], weight: f64) {
    let old = u.to_vec();
    for i in 1..u.len() - 1 {
        u[i] += weight * (0.5 * (old[i - 1] + old[i + 1] + source[i]) - old[i]);
    }
}

#[differentiable]
fn relaxed(u: &[f64], source: &[f64], weight: f64) -> f64 {
    let mut u = u.to_vec();
    for _ in 0..5 {
        relax(&mut u, source, weight);
    }
    let mut s = 0.0;
    for v in &u {
        s += v * v;
    }
    s
}

#[test]
fn final_contents_are_results() {
    let (u, source) = ([1.0, 0.0, 2.0, -1.0], [0.5, 0.25, -0.5, 1.0]);
    let mut plain = u;
    relax(&mut plain, &source, 0.7);
    assert_eq!(relax::value(&u, &source, 0.7).unwrap(), plain);
    let (value, tangent) =
        relax::jvp(&u, &source, 0.7, &[0.0, 1.0, 0.0, 0.0], &[0.0; 4], 0.0).unwrap();
    assert_eq!(value, plain);
    assert!((tangent[1] - 0.3).abs() < 1e-15 && (tangent[2] - 0.35).abs() < 1e-15);
    let (_, (by_u, _, by_weight)) =
        relax::vjp(&u, &source, 0.7, &vec![0.0, 1.0, 0.0, 0.0]).unwrap();
    assert!((by_u[1] - 0.3).abs() < 1e-15 && (by_weight - 1.625).abs() < 1e-15);
}

#[test]
fn calls_change_their_arguments() {
    let (u, source) = ([1.0, 0.0, 2.0, -1.0], [0.5, 0.25, -0.5, 1.0]);
    let (value, (by_u, by_source, by_weight)) =
        relaxed::value_and_gradient(&u, &source, 0.7).unwrap();
    same(value, relaxed(&u, &source, 0.7));
    super::close(&by_u, &differences(|u| relaxed(u, &source, 0.7), &u));
    super::close(&by_source, &differences(|s| relaxed(&u, s, 0.7), &source));
    super::close(&[by_weight], &differences(|w| relaxed(&u, &source, w[0]), &[0.7]));
}

/// A result, a number that is changed, and a slice that is changed, of which it returns early.
#[differentiable]
fn normalize(x: &mut [f64], scale: &mut f64, n: usize) -> f64 {
    let mut s = 0.0;
    for v in x.iter() {
        s += v * v;
    }
    if s == 0.0 {
        *scale = 0.0;
        return -1.0;
    }
    let length = s.sqrt();
    for v in x.iter_mut() {
        *v /= length;
    }
    *scale *= length;
    length + n as f64
}

/// Handed on: references, parts, elements, fields of tuples, and where a function takes `&`.
#[differentiable]
fn handed_on(x: &mut [f64], pair: &mut [f64; 2]) -> f64 {
    let mut t = (2.0, 1.0);
    let a = normalize(x, &mut t.0, 1);
    let b = normalize(&mut x[1..], &mut pair[0], x_len());
    let mut scratch = vec![0.0; 3];
    scratch[1..].copy_from_slice(&x[..2]);
    scratch[..1].fill(b);
    shifted(&mut scratch, 1);
    swap_ends(&mut scratch);
    let c = plain_sum(&mut scratch);
    let zero = normalize(&mut [0.0, 0.0], &mut t.1, 0);
    a * t.0 + b + c * pair[0] + zero * t.1 + scratch[0]
}

#[differentiable]
fn x_len() -> usize {
    7
}

#[differentiable]
fn plain_sum(x: &[f64]) -> f64 {
    x.iter().sum()
}

/// Gives back early, in a loop.
#[differentiable]
fn shifted(x: &mut [f64], by: usize) {
    for i in 0..x.len() {
        if i + by >= x.len() {
            return;
        }
        x[i] = x[i + by] + x[i];
    }
}

#[differentiable]
fn swap_ends(x: &mut [f64]) {
    let n = x.len();
    if n < 2 {
        return;
    }
    x.swap(0, n - 1);
}

#[test]
fn references_are_handed_on() {
    for (x, pair) in
        [([1.0, 2.0, 3.0], [0.5, 2.0]), ([0.0; 3], [1.0, 1.0]), ([3.0, 0.0, 0.0], [1.0; 2])]
    {
        let (mut y, mut p) = (x, pair);
        let plain = handed_on(&mut y, &mut p);
        let (value, changed, both) = handed_on::value(&x, &pair).unwrap();
        same(value, plain);
        assert_eq!((changed, both), (y.to_vec(), p));
    }
    let (x, pair) = ([1.0, 2.0, 3.0], [0.5, 2.0]);
    let ((value, _, _), (by_x, by_pair)) = handed_on::value_and_gradient(&x, &pair).unwrap();
    same(value, handed_on(&mut x.clone(), &mut pair.clone()));
    let f = |x: &[f64]| handed_on(&mut x.to_vec(), &mut pair.clone());
    super::close(&by_x, &differences(f, &x));
    let f = |p: &[f64]| handed_on(&mut x.clone(), &mut [p[0], p[1]]);
    super::close(&by_pair, &differences(f, &pair));
    let error = normalize::value(&[], &2.0, 3).unwrap();
    assert_eq!(error, (-1.0, vec![], 0.0));
    // The gradient is that of the result, also beside a number that is changed.
    let (by_x, by_scale) = normalize::gradient(&[3.0, 4.0], &1.0, 2).unwrap();
    super::close(&by_x, &[0.6, 0.8]);
    assert_eq!(by_scale, 0.0);
    let along = |x: &[f64], h: f64| [x[0] + h, x[1] - h, x[2]];
    let (seconds, _) = handed_on::hvp(&x, &pair, &[1.0, -1.0, 0.0], &[0.0; 2]).unwrap();
    let slope = |h: f64| handed_on::gradient(&along(&x, h), &pair).unwrap().0;
    let (up, down) = (slope(1e-6), slope(-1e-6));
    let differences: Vec<f64> = up.iter().zip(&down).map(|(u, d)| (u - d) / 2e-6).collect();
    super::close(&seconds, &differences);
}

/// Rows, in place; references of a loop over several at once.
#[differentiable]
fn rotated(points: &mut [[f64; 2]], angles: &[f64]) {
    for (p, a) in points.iter_mut().zip(angles) {
        let (s, c) = a.sin_cos();
        *p = [c * p[0] - s * p[1], s * p[0] + c * p[1]];
        p[0] += 1.0;
    }
    for (k, p) in points[1..].iter_mut().enumerate() {
        p[1] *= k as f64;
    }
    scaled_row(&mut points[0]);
}

#[differentiable]
fn scaled_row(row: &mut [f64; 2]) {
    for v in &mut *row {
        *v *= 2.0;
    }
}

#[test]
fn rows_are_changed() {
    let (points, angles) = ([[1.0, 2.0], [3.0, 4.0], [-1.0, 0.5]], [0.0, 0.5, 1.5]);
    let mut plain = points;
    rotated(&mut plain, &angles);
    let value = rotated::value(&points, &angles).unwrap();
    for (a, b) in plain.as_flattened().iter().zip(value.as_flattened()) {
        assert!((a - b).abs() < 1e-15);
    }
    assert_eq!(value[0], [4.0, 4.0]);
}

/// What it gives is a number that it changes.
#[differentiable]
fn squared(x: &mut f64) {
    *x *= *x;
}

#[differentiable]
fn fourth(x: f64) -> f64 {
    let mut y = x;
    for _ in 0..2 {
        squared(&mut y);
    }
    y
}

#[test]
fn one_number_is_changed() {
    assert_eq!(squared::value_and_gradient(&3.0).unwrap(), (9.0, 6.0));
    assert_eq!(fourth::value_and_gradient(2.0).unwrap(), (16.0, 32.0));
    assert_eq!(fourth::hessian(2.0).unwrap(), 48.0);
}

/// What fails in it fails where it stands, and what is too long is found at once.
#[differentiable]
fn copied(x: &mut [f64], y: &[f64], from: usize) -> f64 {
    x[from..].copy_from_slice(y);
    x[0]
}

#[test]
fn what_panics_is_an_error() {
    assert_eq!(copied::value(&[1.0, 2.0, 3.0], &[4.0, 5.0], 1).unwrap().1, [1.0, 4.0, 5.0]);
    for (y, from, code) in [(&[1.0][..], 1, "R12"), (&[][..], 4, "R02")] {
        let error = copied::value(&[1.0, 2.0, 3.0], y, from).unwrap_err();
        assert!(error.to_string().contains(code), "{error}");
        let plain = std::panic::catch_unwind(|| copied(&mut [1.0, 2.0, 3.0], y, from));
        assert!(plain.is_err());
        assert!(copied::gradient(&[1.0, 2.0, 3.0], y, from).is_err());
    }
}

//! Functions of arrays of any fixed length, `const N: usize`: one text for all lengths.

use super::{close, differences, same};
use jut::differentiable;
use jut::math::sin;

/// A length among sizes, indices, bounds and new arrays.
#[differentiable]
fn chained<const N: usize>(x: &[f64; N]) -> f64 {
    let mut y = [0.0; N];
    for i in 0..N {
        y[i] = x[i] * x[N - 1 - i] + i as f64 / N as f64;
    }
    let mut total = 0.0;
    for v in y {
        total += sin(v);
    }
    total
}

/// Two lengths, one of rows, and an array as the result.
#[differentiable]
fn affine<const M: usize, const N: usize>(
    a: &[[f64; N]; M],
    x: [f64; N],
    b: &[f64; M],
) -> [f64; M] {
    let mut y = *b;
    for i in 0..M {
        for j in 0..N {
            y[i] += a[i][j] * x[j];
        }
    }
    y
}

/// A call with lengths of its own, and one with those of this function.
#[differentiable]
fn network<const N: usize>(w: &[[f64; N]; 3], x: [f64; N]) -> f64 {
    let first = affine(w, x, &[0.1, 0.2, 0.3]);
    let second = affine::<1, 3>(&[[1.0, -1.0, 2.0]], first, &[0.5]);
    let scaled = doubled::<N>(&x);
    second[0] * chained(&first) + scaled[N - 1]
}

#[differentiable]
fn doubled<const N: usize>(x: &[f64; N]) -> [f64; N] {
    let mut y = [0.0; N];
    for (to, v) in y.iter_mut().zip(x) {
        *to = 2.0 * v;
    }
    y
}

/// What is changed has a length too, and a result out of a loop.
#[differentiable]
fn smooth<const N: usize>(u: &mut [f64; N], weight: f64) -> f64 {
    for i in 1..N {
        if u[i] > 100.0 {
            return u[i];
        }
        u[i] = weight * u[i] + (1.0 - weight) * u[i - 1];
    }
    u[N - 1]
}

fn of_length<const N: usize>(x: [f64; N]) {
    same(chained::value(&x).unwrap(), chained(&x));
    let (value, gradient) = chained::value_and_gradient(&x).unwrap();
    same(value, chained(&x));
    let expected = differences(|x| chained::<N>(x.try_into().unwrap()), &x);
    close(&gradient, &expected);
    let hessian: [[f64; N]; N] = chained::hessian(&x).unwrap();
    for i in 0..N {
        let row = differences(|x| chained::gradient::<N>(x.try_into().unwrap()).unwrap()[i], &x);
        close(&hessian[i], &row);
    }
}

#[test]
fn one_function_has_derivatives_at_every_length() {
    of_length([]);
    of_length([0.5]);
    of_length([0.5, -1.5]);
    of_length([0.1, 0.2, 0.3, 0.4, 0.5]);
}

#[test]
fn lengths_of_calls_are_those_of_their_arguments() {
    let (w, x) = ([[0.5, -0.25], [1.0, 2.0], [-1.0, 0.75]], [0.3, 0.7]);
    let y: [f64; 3] = affine::value(&w, x, &[1.0, 2.0, 3.0]).unwrap();
    assert_eq!(y, affine(&w, x, &[1.0, 2.0, 3.0]));
    same(network::value(&w, x).unwrap(), network(&w, x));
    let (by_w, by_x) = network::gradient(&w, x).unwrap();
    let of_x = differences(|x| network(&w, [x[0], x[1]]), &x);
    close(&by_x, &of_x);
    let flat = [0.5, -0.25, 1.0, 2.0, -1.0, 0.75];
    let of_w = differences(|w| network(&[[w[0], w[1]], [w[2], w[3]], [w[4], w[5]]], x), &flat);
    close(by_w.as_flattened(), &of_w);
    let (mut u, weight) = ([1.0, 3.0, 2.0, 5.0], 0.25);
    let (value, after) = smooth::value(&u, weight).unwrap();
    same(value, smooth(&mut u, weight));
    assert_eq!(after, u);
}

/// Rows without elements are as many as they are.
#[differentiable]
fn rows<const N: usize>(x: &[[f64; N]]) -> Vec<[f64; N]> {
    let mut y = vec![[0.0; N]; x.len()];
    for (to, row) in y.iter_mut().zip(x) {
        *to = doubled(row);
    }
    y
}

#[test]
fn rows_without_elements_are_counted() {
    assert_eq!(rows::value(&[[], [], []]).unwrap(), [[0.0; 0]; 3]);
    assert_eq!(rows::value(&[[1.0, 2.0], [3.0, 4.0]]).unwrap(), [[2.0, 4.0], [6.0, 8.0]]);
    assert_eq!(rows::<2>(&[]), rows::value::<2>(&[]).unwrap());
}

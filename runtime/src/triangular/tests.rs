//! What the functions are, said plainly, against what is computed.

use super::*;
use crate::cancel::ASKED;
use crate::matrix::tests::{bits, numbers};

const SIZES: [usize; 9] = [0, 1, 2, 7, 31, 32, 33, 70, 129];

fn room(n: usize, m: usize) -> Vec<f64> {
    vec![f64::NAN; scratch(n as i64, m as i64) as usize]
}

/// A lower triangular matrix with moderate pivots and NaN above.
fn factor(n: usize, seed: u64) -> Vec<f64> {
    let mut l = numbers(n * n, seed);
    for i in 0..n {
        for j in 0..n {
            let x = &mut l[i * n + j];
            *x = match i.cmp(&j) {
                core::cmp::Ordering::Less => f64::NAN,
                core::cmp::Ordering::Equal => 1.5 + x.abs(),
                core::cmp::Ordering::Greater => *x / (n as f64).sqrt(),
            };
        }
    }
    l
}

/// l l^T with NaN above the diagonal.
fn square(l: &[f64], n: usize) -> Vec<f64> {
    let cell = |i: usize, j: usize| (0..=j).map(|k| l[i * n + k] * l[j * n + k]).sum();
    (0..n * n).map(|c| if c % n <= c / n { cell(c / n, c % n) } else { f64::NAN }).collect()
}

fn near(found: &[f64], expected: &[f64], what: &str) {
    assert_eq!(found.len(), expected.len());
    for (k, (x, y)) in found.iter().zip(expected).enumerate() {
        assert!((x - y).abs() <= 1e-11 * (1.0 + y.abs()), "{what}, cell {k}: {x} {y}");
    }
}

/// The sum of the products of the lower triangles.
fn paired(x: &[f64], y: &[f64], n: usize) -> f64 {
    (0..n * n).filter(|c| c % n <= c / n).map(|c| x[c] * y[c]).sum()
}

#[test]
fn a_solution_times_the_matrix_is_what_was_given() {
    for n in SIZES {
        for m in [0, 1, 2, 5, 33, 70] {
            let (l, expected) = (factor(n, 1), numbers(n * m, 2));
            for flags in [0, A_TRANSPOSED] {
                let mut b = vec![0.0; n * m];
                for (i, k) in (0..n).flat_map(|i| (0..=i).map(move |k| (i, k))) {
                    let (to, by) = if flags == 0 { (i, k) } else { (k, i) };
                    for j in 0..m {
                        b[to * m + j] += l[i * n + k] * expected[by * m + j];
                    }
                }
                let mut x = vec![f64::NAN; n * m];
                assert!(solve(&mut x, &l, &b, &mut room(n, m), [n as i64, m as i64], flags));
                near(&x, &expected, &format!("{n} by {m}, {flags}"));
            }
        }
    }
}

#[test]
fn the_factor_of_a_square_is_what_was_squared() {
    for n in SIZES {
        let l = factor(n, 3);
        let mut c = vec![f64::NAN; n * n];
        assert!(cholesky(&mut c, &square(&l, n), &mut room(n, n), n as i64));
        let expected: Vec<f64> = l.iter().map(|x| if x.is_nan() { 0.0 } else { *x }).collect();
        near(&c, &expected, &format!("{n}"));
    }
}

#[test]
fn tangents_are_those_of_a_square_and_cotangents_their_transpose() {
    for n in SIZES {
        let (l, d) = (factor(n, 4), factor(n, 5));
        // The tangent of l l^T along d.
        let s: Vec<f64> = (0..n * n)
            .map(|c| {
                let (i, j) = (c / n, c % n);
                let term = |k: usize| d[i * n + k] * l[j * n + k] + l[i * n + k] * d[j * n + k];
                if j <= i { (0..=j).map(term).sum() } else { f64::NAN }
            })
            .collect();
        let mut t = vec![f64::NAN; n * n];
        assert!(tangent(&mut t, &l, &s, &mut room(n, n), n as i64));
        let expected: Vec<f64> = d.iter().map(|x| if x.is_nan() { 0.0 } else { *x }).collect();
        near(&t, &expected, &format!("{n}"));
        let g = factor(n, 6);
        let mut c = vec![f64::NAN; n * n];
        assert!(cotangent(&mut c, &l, &g, &mut room(n, n), n as i64));
        assert!((0..n * n).all(|k| k % n <= k / n || c[k] == 0.0));
        let (there, back) = (paired(&t, &g, n), paired(&s, &c, n));
        assert!((there - back).abs() <= 1e-11 * (1.0 + there.abs()), "{n}: {there} {back}");
    }
}

#[test]
fn what_is_not_positive_definite_has_nan_from_that_pivot_on() {
    let n = 40;
    let mut a = square(&factor(n, 7), n);
    a[35 * n + 35] = -1.0;
    let mut c = vec![0.0; n * n];
    assert!(cholesky(&mut c, &a, &mut room(n, n), n as i64));
    for i in 0..n {
        for j in 0..=i {
            assert_eq!(c[i * n + j].is_nan(), j >= 35, "{i} {j}");
        }
    }
}

#[test]
fn all_vectors_give_the_same_bits() {
    for n in [1usize, 3, 8, 9, 31, 32] {
        for width in [n, n + 1, n + 9, n + 45] {
            let (l, p) = (factor(n, 8), numbers(n * width, 9));
            let clean: Vec<f64> = l.iter().map(|x| if x.is_nan() { 0.0 } else { *x }).collect();
            let mut turned = clean.clone();
            (0..n * n).for_each(|c| turned[c % n * n + c / n] = clean[c]);
            let all: Vec<[Vec<u64>; 5]> = (substitute::all().zip(factorise::all()))
                .zip(tangents::all().zip(cotangents::all()))
                .map(|((substitute, factorise), (tangents, cotangents))| {
                    let mut x = [p.clone(), p.clone(), p.clone(), p.clone(), clean.clone()];
                    let a = square(&l, n);
                    (0..n * n).for_each(|c| {
                        let (i, j) = (c / n, c % n);
                        x[2][j * width + i] = if j <= i { a[c] } else { 0.0 };
                    });
                    // SAFETY: the machine has these vectors; the sizes agree.
                    unsafe {
                        substitute(&mut x[0], width, &clean, [n, 1], n, false);
                        substitute(&mut x[1], width, &clean, [1, n], n, true);
                        factorise(&mut x[2], width, n);
                        tangents(&mut x[3], width, &turned, n);
                        cotangents(&mut x[4], &clean, n, n);
                    }
                    x.map(|x| bits(&x))
                })
                .collect();
            assert!(!all.is_empty() && all.windows(2).all(|w| w[0] == w[1]), "{n} {width}");
        }
    }
}

#[test]
fn short_buffers_and_negative_sizes_are_no_work() {
    let (l, mut x) = (factor(5, 1), vec![7.0; 25]);
    assert!(!solve(&mut x, &l[..24], &l, &mut room(5, 5), [5, 5], 0));
    assert!(!cholesky(&mut x, &l, &mut [], 5));
    assert!(!tangent(&mut x[..3], &l, &l, &mut room(5, 5), 5));
    assert!(!cotangent(&mut x, &l, &l[..3], &mut room(5, 5), 5));
    assert!(cholesky(&mut x, &l, &mut room(5, 5), -5));
    assert!(solve(&mut x, &l, &l, &mut [], [-1, 5], 0));
    assert!(x.iter().all(|x| *x == 7.0));
}

#[test]
fn cancelled_calls_end_before_the_next_block() {
    let cancelled = crate::Cancellation::new();
    cancelled.cancel();
    let (l, mut x) = (factor(40, 1), vec![7.0; 1600]);
    let before = ASKED.get();
    crate::cancel::during(&cancelled, || {
        assert!(cholesky(&mut x, &square(&l, 40), &mut room(40, 40), 40));
        assert!(solve(&mut x, &l, &l, &mut room(40, 40), [40, 40], 0));
    });
    assert!(ASKED.get() > before && x.iter().all(|x| *x == 7.0));
}

//! What the products are, said plainly, against what is computed with all kinds of vectors.

use super::*;
use crate::cancel::ASKED;
use crate::lanes::fold;
use crate::matrix::tests::{bits, numbers};

/// The sum by lanes.
fn by_lanes(terms: &[f64]) -> f64 {
    let mut sum = 0.0;
    for block in terms.chunks(BLOCK as usize) {
        let mut lanes = [0.0; LANES];
        for (k, term) in block.iter().enumerate() {
            lanes[k % LANES] += term;
        }
        sum += fold(lanes);
    }
    sum
}

fn put(cell: &mut f64, value: f64, add: bool) {
    *cell = if add { *cell + value } else { value };
}

#[test]
fn products_with_a_matrix_have_the_order_that_the_language_says() {
    for m in [0, 1, 3, 4, 9, 33] {
        for n in [0, 1, 7, 8, 9, 35, 1024, 1030, 2100] {
            let (a, x, z) = (numbers(m * n, 1), numbers(n, 2), numbers(m, 3));
            for add in [false, true] {
                let mut expected = numbers(m, 4);
                for (i, y) in expected.iter_mut().enumerate() {
                    let terms: Vec<f64> = (0..n).map(|l| a[i * n + l] * x[l]).collect();
                    put(y, by_lanes(&terms), add);
                }
                let mut back = numbers(n, 5);
                for (j, y) in back.iter_mut().enumerate() {
                    put(y, (0..m).fold(0.0, |sum, l| sum + a[l * n + j] * z[l]), add);
                }
                for run in rows::all() {
                    let mut y = numbers(m, 4);
                    // SAFETY: the machine has these vectors; the sizes agree.
                    unsafe { run(&mut y, &a, &x, add) };
                    assert_eq!(bits(&y), bits(&expected), "{m} {n} {add}");
                }
                for run in columns::all() {
                    let mut y = numbers(n, 5);
                    // SAFETY: as above.
                    unsafe { run(&mut y, &a, &z, add) };
                    assert_eq!(bits(&y), bits(&back), "{m} {n} {add}");
                }
            }
        }
    }
}

#[test]
fn inner_and_outer_products_have_the_order_that_the_language_says() {
    for n in [0, 1, 7, 8, 1024, 1031, 4096, 4099, 9000] {
        let (x, y) = (numbers(n, 1), numbers(n, 2));
        let terms: Vec<f64> = x.iter().zip(&y).map(|(x, y)| x * y).collect();
        for add in [false, true] {
            let mut expected = [0.25];
            put(&mut expected[0], by_lanes(&terms), add);
            for run in inner::all() {
                let mut c = [0.25];
                // SAFETY: the machine has these vectors; the sizes agree.
                unsafe { run(&mut c, &x, &y, add) };
                assert_eq!(bits(&c), bits(&expected), "{n} {add}");
            }
        }
    }
    for (m, n) in [(0, 3), (3, 0), (1, 1), (3, 8), (5, 21)] {
        let (x, y) = (numbers(m, 1), numbers(n, 2));
        for add in [false, true] {
            let mut expected = numbers(m * n, 3);
            for (k, c) in expected.iter_mut().enumerate() {
                put(c, x[k / n] * y[k % n], add);
            }
            for run in products::all() {
                let mut c = numbers(m * n, 3);
                // SAFETY: as above.
                unsafe { run(&mut c, &x, &y, add, false) };
                assert_eq!(bits(&c), bits(&expected), "{m} {n} {add}");
            }
        }
    }
}

#[test]
fn what_is_added_to_zeros_is_what_they_would_become() {
    let (x, mut y) = (numbers(5, 1), numbers(21, 2));
    for k in (0..21).step_by(4) {
        y[k] = [0.0, -0.0, f64::MIN_POSITIVE, -f64::MIN_POSITIVE][k / 4 % 4];
    }
    let x: Vec<f64> = x.into_iter().chain([-0.0, -1e-200]).collect();
    let sizes = [7, 21];
    let (mut zeros, mut afresh) = (vec![0.0; 147], vec![3.0; 147]);
    assert!(outer(&mut zeros, &x, &y, sizes, ADD));
    assert!(outer(&mut afresh, &x, &y, sizes, FROM_ZERO));
    assert_eq!(bits(&afresh), bits(&zeros));
    assert!(outer(&mut afresh, &x, &y, sizes, 0));
    assert_ne!(bits(&afresh), bits(&zeros), "some products are negative zeros");
}

#[test]
fn not_a_number_spreads_and_short_buffers_are_refused() {
    let mut y = [0.0; 2];
    let a = [1.0, f64::INFINITY, 2.0, 3.0];
    assert!(matvec(&mut y, &a, &[1.0, 0.0], [2, 2], 0));
    assert!(y[0].is_nan() && y[1] == 2.0);
    assert!(!matvec(&mut y, &a, &[1.0, 0.0], [2, 3], 0));
    assert!(!outer(&mut y, &a, &a, [2, 2], 0));
    assert!(!dot(&mut [], &a, &a, 2, 0));
    assert!(matvec(&mut y, &[], &[], [2, 0], 0), "sums over nothing");
    assert_eq!(y, [0.0; 2]);
    assert!(matvec(&mut y, &[], &[], [2, -1], A_TRANSPOSED));
}

/// What one question is worth at least: so many multiplications, some tenths of a millisecond.
const BETWEEN: usize = 1 << 21;

/// How often work asks if it is cancelled.
fn asked(work: impl FnOnce() -> bool) -> usize {
    let before = ASKED.get();
    assert!(work());
    (ASKED.get() - before) as usize
}

/// Long work asks often enough, whatever its shape; short work never does.
fn asks(what: &str, multiplications: usize, work: impl FnOnce() -> bool) {
    let asked = asked(work);
    if multiplications < 1000 {
        assert_eq!(asked, 0, "{what}");
    } else {
        assert!(asked * BETWEEN >= multiplications, "{what}: {asked} for {multiplications}");
        assert!(asked > 0, "{what}");
    }
}

#[test]
fn long_products_ask_whatever_their_shape() {
    let long = (1 << 20) + 5;
    for (m, n) in [(long, 1), (1, long), (7, long), (long, 7), (1 << 10, 1 << 10), (5, 9)] {
        let (a, x) = (vec![1.0; m * n], vec![1.0; m.max(n)]);
        let (mut y, mut c) = (vec![0.0; m.max(n)], vec![0.0; m * n]);
        let sizes = [m as i64, n as i64];
        asks(&format!("a x, {m} x {n}"), m * n, || matvec(&mut y, &a, &x, sizes, 0));
        let (shape, transposed) = (format!("a^T x, {m} x {n}"), A_TRANSPOSED);
        asks(&shape, m * n, || matvec(&mut y, &a, &x, [n as i64, m as i64], transposed));
        let y = &x;
        asks(&format!("x y^T, {m} x {n}"), m * n, || outer(&mut c, &x[..m], &y[..n], sizes, 0));
    }
    let x = vec![1.0; long];
    asks("x . y", long, || dot(&mut [0.0], &x, &x, long as i64, 0));
    let inner = 1 << 20;
    for (m, n, k) in [(1, 1, inner), (inner, 1, 2), (1, inner, 2), (130, 130, 130)] {
        let (a, b, mut c) = (vec![1.0; m * k], vec![1.0; k * n], vec![0.0; m * n]);
        let [m, n, k] = [m as i64, n as i64, k as i64];
        let mut space = vec![0.0; crate::matrix::scratch(m, n, k, 0) as usize];
        let work = (m * n * k) as usize;
        asks(&format!("a b, {m} x {n} x {k}"), work, || {
            crate::matrix::product(&mut c, &a, &b, &mut space, [m, n, k], 0)
        });
    }
}

#[test]
fn long_convolutions_ask_whatever_their_shape() {
    use crate::conv;
    let long = 1 << 20;
    for shape in [
        [long, 1, 1, 1, 1, 1],
        [1, long, 1, 1, 1, 1],
        [1, 1, long, 1, 1, 1],
        [1, 1, 1, long, 1, 1],
        [1, 1, 1, 1, long, 1],
        [1, 1, 1, 1, 1, long],
        [1, 1, 1, 100_000, 1, 50],
        [1, 1, 1, 50, 1, 100_000],
        [3, 3, 70, 70, 9, 9],
        [2, 2, 2, 3, 2, 2],
    ] {
        let [o, c, i, j, u, v] = shape.map(|n: i64| n as usize);
        let [of_x, of_y] = [c * (i + u - 1) * (j + v - 1), o * i * j];
        let (mut x, mut y, mut k) = (vec![1.0; of_x], vec![1.0; of_y], vec![1.0; o * c * u * v]);
        let work = o * c * i * j * u * v;
        asks(&format!("y, {shape:?}"), work, || conv::output(&mut y, &x, &k, shape, 0));
        asks(&format!("x, {shape:?}"), work, || conv::input(&mut x, &y, &k, shape, 0));
        asks(&format!("k, {shape:?}"), work, || conv::kernel(&mut k, &x, &y, shape, 0));
    }
}

#[test]
fn what_is_cancelled_stops_early() {
    let cancelled = crate::Cancellation::new();
    cancelled.cancel();
    let n = 1 << 20;
    let (x, mut c) = (vec![1.0; n], vec![0.0; 4 * n]);
    crate::cancel::during(&cancelled, || outer(&mut c, &x[..4], &x, [4, n as i64], 0));
    let done = c.iter().filter(|c| **c != 0.0).count();
    assert!(done <= BETWEEN / 2, "{done} of {}", c.len());
}

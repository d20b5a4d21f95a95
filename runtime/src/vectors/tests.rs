//! What the products are, said plainly, against what is computed with all kinds of vectors.

use super::*;
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
                unsafe { run(&mut c, &x, &y, add) };
                assert_eq!(bits(&c), bits(&expected), "{m} {n} {add}");
            }
        }
    }
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

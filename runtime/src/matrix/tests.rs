//! What a product is, said plainly, against what is computed.

use super::*;

/// The chain of every cell.
fn chains(c: &mut [f64], a: &[f64], b: &[f64], [m, n, k]: [usize; 3], flags: i64) {
    for i in 0..m {
        for j in 0..n {
            let chain = (0..k).fold(0.0, |sum, l| {
                let x = if flags & A_TRANSPOSED == 0 { a[i * k + l] } else { a[l * m + i] };
                let y = if flags & B_TRANSPOSED == 0 { b[l * n + j] } else { b[j * k + l] };
                f64::mul_add(x, y, sum)
            });
            let cell = &mut c[i * n + j];
            *cell = if flags & ADD == 0 { chain } else { *cell + chain };
        }
    }
}

/// Numbers with all kinds of digits.
pub(crate) fn numbers(count: usize, seed: u64) -> Vec<f64> {
    let mut state = seed.wrapping_mul(0x9e3779b97f4a7c15) | 1;
    let next = |_| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    };
    (0..count).map(next).collect()
}

pub(crate) fn bits(x: &[f64]) -> Vec<u64> {
    x.iter().map(|x| crate::math::bits(*x)).collect()
}

/// A product as it is chosen, by tiles, and from where the cells are, with each kind of vectors.
fn compare(tiles: &Tiles, sizes: [usize; 3], flags: i64, a: &[f64], b: &[f64]) {
    let [m, n, k] = sizes;
    let mut expected = numbers(m * n, 3);
    let begin = expected.clone();
    chains(&mut expected, a, b, sizes, flags);
    let agrees = |way: &str, found: &[f64]| {
        assert_eq!(
            bits(found),
            bits(&expected),
            "{way}, {sizes:?}, flags {flags}, {} lanes",
            tiles.lanes
        );
    };
    let wide = sizes.map(|s| s as i64);
    let mut space = vec![f64::NAN; scratch(m as i64, n as i64, k as i64, flags) as usize];
    let mut found = begin.clone();
    assert!(product_with(tiles, &mut found, a, b, &mut space, wide, flags));
    agrees("as chosen", &found);
    if m == 0 || n == 0 {
        return;
    }
    let operands = [
        Strided::new(a, m, k, flags & A_TRANSPOSED != 0),
        Strided::new(b, k, n, flags & B_TRANSPOSED != 0),
    ];
    let mut found = begin.clone();
    tiled(tiles, &mut found, n, operands, &mut space, sizes, flags & ADD != 0);
    agrees("by tiles", &found);
    if operands[1].column == 1 {
        for run in direct::by_rows::all() {
            let mut found = [&begin[..], &[7.0; 8]].concat();
            // SAFETY: the machine has these vectors; the cells are there.
            unsafe { run(&mut found, n, operands[0], operands[1], sizes, flags & ADD != 0) };
            let (found, behind) = found.split_at(m * n);
            agrees("from where the cells are", found);
            assert_eq!(behind, [7.0; 8], "{sizes:?}");
        }
    }
}

#[test]
fn every_cell_is_one_chain_whatever_the_sizes_and_the_vectors() {
    let edges = [0, 1, 2, 3, 5, 8, 9, 25];
    for tiles in Tiles::all() {
        for m in edges {
            for n in edges {
                for k in [0, 1, 2, 7, 16] {
                    let (a, b) = (numbers(m * k, 1), numbers(k * n, 2));
                    (0..8).for_each(|flags| compare(tiles, [m, n, k], flags, &a, &b));
                }
            }
        }
    }
}

#[test]
fn blocks_do_not_show_in_the_bits() {
    for tiles in Tiles::all() {
        for [m, n, k] in [[100, 30, 300], [9, 250, 520], [200, 260, 20], [97, 241, 257]] {
            let (a, b) = (numbers(m * k, 4), numbers(k * n, 5));
            for flags in [0, ADD, A_TRANSPOSED, B_TRANSPOSED | ADD] {
                compare(tiles, [m, n, k], flags, &a, &b);
            }
        }
    }
}

#[test]
fn infinity_and_nan_spread_to_their_rows_and_columns_alone() {
    for tiles in Tiles::all() {
        for odd in [f64::INFINITY, f64::NAN, -0.0] {
            let (mut a, mut b) = (numbers(11 * 6, 6), numbers(6 * 13, 7));
            a[4 * 6 + 2] = odd;
            b[3 * 13 + 9] = odd;
            (0..8).for_each(|flags| {
                let a = if flags & A_TRANSPOSED == 0 { a.clone() } else { transposed(&a, 11, 6) };
                let b = if flags & B_TRANSPOSED == 0 { b.clone() } else { transposed(&b, 6, 13) };
                compare(tiles, [11, 13, 6], flags, &a, &b);
            });
        }
    }
}

fn transposed(a: &[f64], rows: usize, columns: usize) -> Vec<f64> {
    (0..columns).flat_map(|j| (0..rows).map(move |i| a[i * columns + j])).collect()
}

#[test]
fn buffers_that_are_too_short_are_refused() {
    let mut c = [0.0; 4];
    let (a, mut space) = ([1.0; 4], vec![0.0; scratch(2, 2, 2, 0) as usize]);
    assert!(product(&mut c, &a, &a, &mut space, [2, 2, 2], 0));
    assert!(!product(&mut c, &a, &a[1..], &mut space, [2, 2, 2], 0));
    assert!(!product(&mut c[1..], &a, &a, &mut space, [2, 2, 2], 0));
    assert!(!product(&mut c, &a, &a, &mut space[1..], [2, 2, 2], 0));
    assert!(!product(&mut c, &a, &a, &mut [], [i64::MAX, i64::MAX, 2], 0));
    assert!(product(&mut c, &a, &a, &mut space, [-1, 2, 2], 0));
}

#[test]
fn rows_in_parts_have_the_same_cells() {
    for (parts, [m, n, k]) in
        [(2, [64, 5, 3]), (3, [71, 9, 300]), (5, [33, 1, 1]), (7, [20, 30, 0])]
    {
        let (a, b) = (numbers(m * k, 1), numbers(k * n, 2));
        for flags in 0..8 {
            let mut expected = numbers(m * n, 3);
            let mut found = expected.clone();
            chains(&mut expected, &a, &b, [m, n, k], flags);
            let a = Strided::new(&a, m, k, flags & A_TRANSPOSED != 0);
            let b = Strided::new(&b, k, n, flags & B_TRANSPOSED != 0);
            let tiles = Tiles::of_this_machine();
            assert!(in_parts(tiles, &mut found, [a, b], [m, n, k], flags & ADD != 0, parts));
            assert_eq!(bits(&found), bits(&expected), "{m} {n} {k}, flags {flags}, {parts} parts");
        }
    }
}

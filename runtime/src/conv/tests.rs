//! What a convolution is, said plainly, against what is computed with all kinds of vectors.

use super::*;
use crate::lanes::fold;
use crate::matrix::tests::{bits, numbers};

/// All sixfold indices of a product, o, c, i, j, u, v.
fn each(s: Sizes, mut visit: impl FnMut([usize; 6], [usize; 3])) {
    for o in 0..s.o {
        for c in 0..s.c {
            for i in 0..s.i {
                for j in 0..s.j {
                    for u in 0..s.u {
                        for v in 0..s.v {
                            let y = (o * s.i + i) * s.j + j;
                            let x = (c * s.h() + i + u) * s.w() + j + v;
                            let k = ((o * s.c + c) * s.u + u) * s.v + v;
                            visit([o, c, i, j, u, v], [y, x, k]);
                        }
                    }
                }
            }
        }
    }
}

/// Each cell from its products, sorted into the order that the language says.
fn plainly(result: &mut [f64], a: &[f64], b: &[f64], s: Sizes, which: usize, add: bool) {
    let mut terms: Vec<Vec<([usize; 4], f64, f64)>> = vec![Vec::new(); result.len()];
    each(s, |[o, c, i, j, u, v], [y, x, k]| match which {
        0 => terms[y].push(([c, u, v, 0], b[k], a[x])),
        1 => terms[x].push(([o, u, v, 0], b[k], a[y])),
        _ => terms[k].push(([i, j, 0, j % LANES], b[y], a[x])),
    });
    for (cell, mut terms) in result.iter_mut().zip(terms) {
        terms.sort_by_key(|(order, _, _)| *order);
        let mut chains = [0.0; LANES];
        for ([.., lane], p, q) in terms {
            chains[lane] = f64::mul_add(p, q, chains[lane]);
        }
        let sum = if which == 2 { fold(chains) } else { chains[0] };
        *cell = if add { *cell + sum } else { sum };
    }
}

#[test]
fn every_cell_has_the_order_that_the_language_says() {
    let shapes = [
        [1, 1, 1, 3, 1, 2],
        [4, 2, 3, 8, 3, 3],
        [5, 4, 2, 27, 2, 5],
        [9, 5, 3, 33, 3, 4],
        [2, 1, 1, 40, 1, 9],
        [1, 3, 4, 1, 2, 11],
        [3, 6, 1, 1, 1, 1],
        // Two channels, or two more than four, and rows of x with vectors inside: three, two and one, and at the end.
        [7, 6, 3, 34, 3, 3],
        [6, 3, 2, 25, 2, 2],
        [3, 2, 2, 50, 1, 3],
        [6, 7, 2, 24, 1, 1],
        [0, 2, 3, 3, 2, 2],
        [2, 0, 3, 3, 2, 2],
        [2, 2, 0, 3, 2, 2],
        [2, 2, 3, 0, 2, 2],
        [2, 2, 3, 3, 0, 2],
        [2, 2, 3, 3, 2, 0],
        [2, 2, 3, 8, 2, 0],
        [2, 2, 0, 0, 0, 0],
    ];
    for sizes in shapes {
        let s = Sizes::new(sizes);
        let [ny, nx, nk] = s.cells();
        let (y, x, k) = (numbers(ny, 1), numbers(nx, 2), numbers(nk, 3));
        for add in [false, true] {
            type Run = unsafe fn(&mut [f64], &[f64], &[f64], Sizes, bool);
            type Side<'a> = (Vec<Run>, &'a [f64], &'a [f64], usize);
            let sides: [Side<'_>; 3] = [
                (for_y::all().collect(), &x, &k, ny),
                (for_x::all().collect(), &y, &k, nx),
                (for_k::all().collect(), &x, &y, nk),
            ];
            for (which, (runs, a, b, cells)) in sides.into_iter().enumerate() {
                let mut expected = numbers(cells, 4);
                plainly(&mut expected, a, b, s, which, add);
                for run in runs {
                    // What is behind the result stays as it is.
                    let mut found = [numbers(cells, 4), vec![7.0; LANES]].concat();
                    // SAFETY: the machine has these vectors; the buffers fit the sizes.
                    unsafe { run(&mut found[..cells], a, b, s, add) };
                    let (found, behind) = found.split_at(cells);
                    assert_eq!(bits(found), bits(&expected), "{sizes:?}, side {which}, {add}");
                    assert_eq!(behind, [7.0; LANES], "{sizes:?}, side {which}, {add}");
                }
            }
        }
    }
}

#[test]
fn an_infinite_weight_makes_no_number_where_there_is_no_product() {
    let (y, k) = ([1.0, 0.0], [1.0, f64::INFINITY]);
    let mut x = [f64::NAN; 3];
    assert!(input(&mut x, &y, &k, [1, 1, 1, 2, 1, 2], 0));
    assert!(x[0] == 1.0 && x[1] == f64::INFINITY && x[2].is_nan(), "{x:?}");
}

#[test]
fn short_buffers_are_refused() {
    let (mut a, b) = ([0.0; 3], [0.0; 3]);
    for function in [output, input, kernel] {
        assert!(!function(&mut a, &b, &b, [1, 1, 2, 2, 1, 2], 0));
        assert!(!function(&mut a, &b, &b, [i64::MAX, i64::MAX, 2, 2, 1, 2], 0));
        assert!(function(&mut a, &b, &b, [-1, -1, -2, -2, -1, -2], 0));
    }
}

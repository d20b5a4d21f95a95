//! Products of few rows and columns: from where the cells are, without laying them out first, which for an 8 by 8 product takes longer than the product.
//!
//! Some rows of `a` share the vectors of a row of `b`; each cell is the one chain of [`super`].

use super::Strided;
use crate::eight::{Eight, kernels, most, tile, together};
use crate::lanes::LANES;

/// Multiplications up to which it takes less time.
pub(super) const FEW: usize = 1 << 18;

kernels! {
    /// A product with a factor `b` by rows.
    by_rows = body(c: &mut [f64], stride: usize, a: Strided<'_>, b: Strided<'_>, sizes: [usize; 3], add: bool);
}

/// # Safety
/// The machine has the vectors; the cells are there, those of `b` by rows, here and below.
#[inline(always)]
unsafe fn body<E: Eight>(
    c: &mut [f64],
    stride: usize,
    a: Strided<'_>,
    b: Strided<'_>,
    [m, n, k]: [usize; 3],
    add: bool,
) {
    let mut i = 0;
    while i < m {
        let rows = together(m - i);
        let mut j = 0;
        while j < n {
            let width = (n - j).min(most::<E>(rows) * LANES);
            // SAFETY: these rows and columns are there.
            unsafe {
                let c = c.as_mut_ptr().add(i * stride + j);
                let (a, steps) = (a.cells.as_ptr().wrapping_add(i * a.row), [a.row, a.column]);
                let (b, vectors) =
                    ((b.cells.as_ptr().wrapping_add(j), b.row), width.div_ceil(LANES));
                tile!(cells, rows, vectors, ((c, stride), (a, steps), b, k, width, add));
            }
            j += width;
        }
        i += rows;
    }
}

/// Neighbouring cells of some rows: at most `N` vectors.
///
/// # Safety
/// As of the body.
#[inline(always)]
unsafe fn cells<E: Eight, const ROWS: usize, const N: usize>(
    (c, stride): (*mut f64, usize),
    (a, [row, column]): (*const f64, [usize; 2]),
    (b, b_row): (*const f64, usize),
    k: usize,
    width: usize,
    add: bool,
) {
    let last = width - (N - 1) * LANES;
    // SAFETY: as required of the caller.
    unsafe {
        let mut sums = [[E::splat(0.0); N]; ROWS];
        for l in 0..k {
            let mut right = [E::splat(0.0); N];
            for (n, cells) in right.iter_mut().enumerate() {
                let from = b.add(l * b_row + n * LANES);
                *cells = match n + 1 == N && last < LANES {
                    true => E::load_part(from, 0, last),
                    false => E::load(from),
                };
            }
            for (i, sums) in sums.iter_mut().enumerate() {
                let factor = E::splat(*a.add(i * row + l * column));
                for (sum, cells) in sums.iter_mut().zip(right) {
                    *sum = factor.fused(cells, *sum);
                }
            }
        }
        for (i, sums) in sums.into_iter().enumerate() {
            let c = c.add(i * stride);
            for (n, sum) in sums.into_iter().enumerate() {
                let count = if n + 1 == N { last } else { LANES };
                sum.put(c.add(n * LANES), count, add);
            }
        }
    }
}

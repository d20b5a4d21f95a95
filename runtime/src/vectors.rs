//! Products with vectors: `y = a x`, `y = a^T x`, `c = x y^T` and `x . y`, or added to what is there.
//!
//! # The order of operations
//!
//! It belongs to the language. Products are rounded, then added:
//!
//! - the cells of `a x`, and `x . y`, by [lanes](crate::lanes), like a `sum` over one loop;
//! - the cells of `a^T x` in the order of the rows of `a`, from 0.0.
//!
//! What is added to `y` or `c` is computed first. The interpreter, which walks cell by cell, is the
//! definition.
//!
//! # How
//!
//! Several cells at a time, so that no sum waits for itself: four rows of `a x`, 32 columns of `a^T x`,
//! four blocks of `x . y`. Nothing is allocated.
//!
//! Requires: the buffers are as long as the sizes say; the result overlaps nothing. Ensures: a size
//! of 0, or a negative one, gives sums over nothing, or no cells. Cost: one multiplication and one
//! addition for each cell of the matrix; each is read once.

use crate::cancel::Patience;
use crate::eight::{Eight, kernels};
use crate::lanes::{BLOCK, LANES};
use crate::matrix::{A_TRANSPOSED, ADD, cells, cells_mut};

/// Flag of [`outer`]: the products are added to zeros, so that none is a negative zero.
pub const FROM_ZERO: i64 = 8;

kernels! {
    /// `y = a x`.
    rows = rows_body(y: &mut [f64], a: &[f64], x: &[f64], add: bool);
    /// `y = a^T x`.
    columns = columns_body(y: &mut [f64], a: &[f64], x: &[f64], add: bool);
    /// `c = x y^T`.
    products = products_body(c: &mut [f64], x: &[f64], y: &[f64], add: bool, from_zero: bool);
    /// `x . y` to the one cell of `c`.
    inner = inner_body(c: &mut [f64], x: &[f64], y: &[f64], add: bool);
}

/// One block of the sums of products of rows of `a`, `stride` cells apart, and of `x`, `x_stride`
/// apart: for each the sum of its lanes.
///
/// # Safety
/// Each row has `len` cells; the machine has the vectors.
#[inline(always)]
unsafe fn block<E: Eight, const ROWS: usize>(
    a: *const f64,
    stride: usize,
    x: *const f64,
    x_stride: usize,
    len: usize,
) -> [f64; ROWS] {
    // SAFETY: as required of the caller.
    unsafe {
        let mut sums = [E::splat(0.0); ROWS];
        let mut at = 0;
        while at + LANES <= len {
            for (row, sum) in sums.iter_mut().enumerate() {
                let x = E::load(x.add(row * x_stride + at));
                *sum = sum.add(E::load(a.add(row * stride + at)).mul(x));
            }
            at += LANES;
        }
        if at < len {
            // A lane that has no product here gets a zero, which changes no bit: none is a negative zero.
            for (row, sum) in sums.iter_mut().enumerate() {
                let x = E::load_part(x.add(row * x_stride + at), 0, len - at);
                let a = E::load_part(a.add(row * stride + at), 0, len - at);
                *sum = sum.add(a.mul(x));
            }
        }
        sums.map(|sum| sum.fold())
    }
}

/// # Safety
/// The machine has the vectors; `a` has as many rows as `y` cells, each as long as `x`.
#[inline(always)]
unsafe fn rows_body<E: Eight>(y: &mut [f64], a: &[f64], x: &[f64], add: bool) {
    const STEP: usize = 4;
    let n = x.len();
    let mut patience = Patience::new();
    let put = |y: &mut f64, sum: f64| *y = if add { *y + sum } else { sum };
    let whole = y.len() / STEP * STEP;
    let (most, rest) = y.split_at_mut(whole);
    for (k, y) in most.chunks_exact_mut(STEP).enumerate() {
        if patience.is_over(1) {
            return;
        }
        let mut sums = [0.0; STEP];
        for start in (0..n).step_by(BLOCK as usize) {
            let len = (n - start).min(BLOCK as usize);
            if patience.is_over(STEP * len / LANES) {
                return;
            }
            let a = a[k * STEP * n + start..].as_ptr();
            // SAFETY: the rows are there, and this part of them.
            let part = unsafe { block::<E, STEP>(a, n, x[start..].as_ptr(), 0, len) };
            sums.iter_mut().zip(part).for_each(|(sum, part)| *sum += part);
        }
        y.iter_mut().zip(sums).for_each(|(y, sum)| put(y, sum));
    }
    for (k, y) in rest.iter_mut().enumerate() {
        let mut sum = 0.0;
        for start in (0..n).step_by(BLOCK as usize) {
            let len = (n - start).min(BLOCK as usize);
            if patience.is_over(len / LANES) {
                return;
            }
            let a = a[(whole + k) * n + start..].as_ptr();
            // SAFETY: the row is there, and this part of it.
            let [part] = unsafe { block::<E, 1>(a, n, x[start..].as_ptr(), 0, len) };
            sum += part;
        }
        put(y, sum);
    }
}

/// # Safety
/// The machine has the vectors; `x` and `y` are equally long, `c` has a cell.
#[inline(always)]
unsafe fn inner_body<E: Eight>(c: &mut [f64], x: &[f64], y: &[f64], add: bool) {
    const BLOCKS: usize = 4;
    let size = BLOCK as usize;
    let (n, mut at, mut sum) = (x.len(), 0, 0.0);
    let mut patience = Patience::new();
    while n - at >= BLOCKS * size {
        if patience.is_over(BLOCKS * size / LANES) {
            return;
        }
        let (x, y) = (x[at..].as_ptr(), y[at..].as_ptr());
        // SAFETY: four blocks lie one after another.
        let parts = unsafe { block::<E, BLOCKS>(x, size, y, size, size) };
        parts.into_iter().for_each(|part| sum += part);
        at += BLOCKS * size;
    }
    while at < n {
        let len = (n - at).min(size);
        // SAFETY: so many cells are left.
        let [part] = unsafe { block::<E, 1>(x[at..].as_ptr(), 0, y[at..].as_ptr(), 0, len) };
        sum += part;
        at += len;
    }
    c[0] = if add { c[0] + sum } else { sum };
}

/// Some vectors of columns, summed over all rows.
///
/// # Safety
/// Each row of `a`, `stride` cells apart, has the columns, `y` too; the last vector has `last`; the
/// machine has the vectors.
#[inline(always)]
unsafe fn panel<E: Eight, const VECTORS: usize>(
    y: *mut f64,
    a: *const f64,
    stride: usize,
    x: &[f64],
    last: usize,
    add: bool,
    patience: &mut Patience,
) {
    // SAFETY: as required of the caller.
    unsafe {
        let mut sums = [E::splat(0.0); VECTORS];
        for (block, x) in x.chunks(BLOCK as usize).enumerate() {
            if patience.is_over(x.len() * VECTORS) {
                return;
            }
            let a = a.add(block * BLOCK as usize * stride);
            for (l, x) in x.iter().enumerate() {
                let x = E::splat(*x);
                for (k, sum) in sums.iter_mut().enumerate() {
                    let from = a.add(l * stride + k * LANES);
                    let cells = match k + 1 == VECTORS && last < LANES {
                        true => E::load_part(from, 0, last),
                        false => E::load(from),
                    };
                    *sum = sum.add(cells.mul(x));
                }
            }
        }
        for (k, sum) in sums.into_iter().enumerate() {
            let count = if k + 1 == VECTORS { last } else { LANES };
            sum.put(y.add(k * LANES), count, add);
        }
    }
}

/// # Safety
/// The machine has the vectors; `a` has as many rows as `x` cells, each as long as `y`.
#[inline(always)]
unsafe fn columns_body<E: Eight>(y: &mut [f64], a: &[f64], x: &[f64], add: bool) {
    const VECTORS: usize = 4;
    let n = y.len();
    let mut patience = Patience::new();
    let mut at = 0;
    while at < n {
        if patience.is_over(1) {
            return;
        }
        let width = (n - at).min(VECTORS * LANES);
        let p = &mut patience;
        let y = y[at..].as_mut_ptr();
        // Without rows nothing is read.
        let a = a.as_ptr().wrapping_add(at);
        // SAFETY: these columns are there in every row.
        unsafe {
            match width.div_ceil(LANES) {
                1 => panel::<E, 1>(y, a, n, x, width, add, p),
                2 => panel::<E, 2>(y, a, n, x, width - LANES, add, p),
                3 => panel::<E, 3>(y, a, n, x, width - 2 * LANES, add, p),
                _ => panel::<E, 4>(y, a, n, x, width - 3 * LANES, add, p),
            }
        }
        at += width;
    }
}

/// # Safety
/// The machine has the vectors; `c` has as many rows as `x` cells, each as long as `y`.
#[inline(always)]
unsafe fn products_body<E: Eight>(c: &mut [f64], x: &[f64], y: &[f64], add: bool, from_zero: bool) {
    if y.is_empty() {
        return;
    }
    let mut patience = Patience::new();
    for (c, x) in c.chunks_exact_mut(y.len()).zip(x) {
        if patience.is_over(1) {
            return;
        }
        for (c, y) in c.chunks_mut(BLOCK as usize).zip(y.chunks(BLOCK as usize)) {
            if patience.is_over(y.len() / LANES) {
                return;
            }
            let mut at = 0;
            while at < y.len() {
                let count = (y.len() - at).min(LANES);
                // SAFETY: so many cells are left in both.
                unsafe {
                    let cells = match count {
                        LANES => E::load(y[at..].as_ptr()),
                        _ => E::load_part(y[at..].as_ptr(), 0, count),
                    };
                    let mut product = E::splat(*x).mul(cells);
                    if from_zero {
                        product = E::splat(0.0).add(product);
                    }
                    product.put(c[at..].as_mut_ptr(), count, add);
                }
                at += count;
            }
        }
    }
}

fn size(n: i64) -> usize {
    usize::try_from(n).unwrap_or(0)
}

/// `y = a x` for a matrix of m rows and n columns, or with [`A_TRANSPOSED`] `y = a^T x` for one of n
/// rows and m columns; with [`ADD`] it is added to `y`, which has m cells. Says whether the buffers
/// were long enough; if not, nothing is done.
///
/// ```
/// use jut_runtime::{matrix::A_TRANSPOSED, vectors::matvec};
/// let (a, mut y) = ([1.0, 2.0, 3.0, 4.0], [0.0; 2]);
/// assert!(matvec(&mut y, &a, &[1.0, 10.0], [2, 2], 0));
/// assert_eq!(y, [21.0, 43.0]);
/// assert!(matvec(&mut y, &a, &[1.0, 10.0], [2, 2], A_TRANSPOSED));
/// assert_eq!(y, [31.0, 42.0]);
/// ```
pub fn matvec(y: &mut [f64], a: &[f64], x: &[f64], sizes: [i64; 2], flags: i64) -> bool {
    let [m, n] = sizes.map(size);
    let cells = m.saturating_mul(n);
    let (Some(y), Some(a), Some(x)) = (y.get_mut(..m), a.get(..cells), x.get(..n)) else {
        return false;
    };
    let add = flags & ADD != 0;
    // SAFETY: the sizes agree.
    unsafe {
        match flags & A_TRANSPOSED {
            0 => rows::run(y, a, x, add),
            _ => columns::run(y, a, x, add),
        }
    }
    true
}

/// `c = x y^T`, m by n; with [`ADD`] it is added to `c`, with [`FROM_ZERO`] to zeros. Says whether the buffers were long enough; if
/// not, nothing is done.
pub fn outer(c: &mut [f64], x: &[f64], y: &[f64], sizes: [i64; 2], flags: i64) -> bool {
    let [m, n] = sizes.map(size);
    let cells = m.saturating_mul(n);
    let (Some(c), Some(x), Some(y)) = (c.get_mut(..cells), x.get(..m), y.get(..n)) else {
        return false;
    };
    // SAFETY: the sizes agree.
    unsafe { products::run(c, x, y, flags & ADD != 0, flags & FROM_ZERO != 0) };
    true
}

/// The sum of the products of n elements, to the first cell of `c`; with [`ADD`] it is added there.
/// Says whether the buffers were long enough; if not, nothing is done.
pub fn dot(c: &mut [f64], x: &[f64], y: &[f64], n: i64, flags: i64) -> bool {
    let n = size(n);
    let (Some(c), Some(x), Some(y)) = (c.get_mut(..1), x.get(..n), y.get(..n)) else {
        return false;
    };
    // SAFETY: the sizes agree.
    unsafe { inner::run(c, x, y, flags & ADD != 0) };
    true
}

/// For compiled code: see [`matvec`].
///
/// # Safety
/// The buffers have as many cells as the sizes say; nothing else uses `y` meanwhile or writes the
/// others.
#[cfg_attr(jut_freestanding, unsafe(no_mangle))]
pub unsafe extern "C" fn jut_matvec(
    y: *mut f64,
    a: *const f64,
    x: *const f64,
    m: i64,
    n: i64,
    flags: i64,
) {
    // SAFETY: as required of the caller.
    let (y, a, x) = unsafe {
        let all = size(m).wrapping_mul(size(n));
        (cells_mut(y, size(m)), cells(a, all), cells(x, size(n)))
    };
    matvec(y, a, x, [m, n], flags);
}

/// For compiled code: see [`outer`].
///
/// # Safety
/// As of [`jut_matvec`].
#[cfg_attr(jut_freestanding, unsafe(no_mangle))]
pub unsafe extern "C" fn jut_outer(
    c: *mut f64,
    x: *const f64,
    y: *const f64,
    m: i64,
    n: i64,
    flags: i64,
) {
    // SAFETY: as required of the caller.
    let (c, x, y) = unsafe {
        (cells_mut(c, size(m).wrapping_mul(size(n))), cells(x, size(m)), cells(y, size(n)))
    };
    outer(c, x, y, [m, n], flags);
}

/// For compiled code: see [`dot`].
///
/// # Safety
/// As of [`jut_matvec`].
#[cfg_attr(jut_freestanding, unsafe(no_mangle))]
pub unsafe extern "C" fn jut_dot(c: *mut f64, x: *const f64, y: *const f64, n: i64, flags: i64) {
    // SAFETY: as required of the caller.
    let (c, x, y) = unsafe { (cells_mut(c, 1), cells(x, size(n)), cells(y, size(n))) };
    dot(c, x, y, n, flags);
}

#[cfg(test)]
mod tests;

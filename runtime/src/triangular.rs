//! Triangular matrices: solutions of linear equations, the Cholesky factorisation, and what transports tangents
//! and cotangents through it.
//!
//! Of a lower triangular operand, and of a symmetric one, the upper triangle is not read. Triangular results have
//! zeros there.
//!
//! # The order of operations
//!
//! It is that of this file, on every machine. Rows and columns are taken in blocks of [`BLOCK`]. What earlier blocks
//! have to do with a block is a [product of matrices](crate::matrix), each cell one chain of fused multiply-adds from
//! 0.0, and is subtracted from what is given; within a block a cell goes on by one fused multiply-add after the other,
//! then it is divided by its pivot.
//!
//! # How
//!
//! [`cholesky`] looks to the left: a block of columns is made when it is needed. [`cotangent`] goes the same way
//! backwards (Murray: Differentiation of the Cholesky decomposition, 2016), so it costs two factorisations. Panels
//! of columns are worked on transposed, so that what belongs to a column lies in one piece. Nothing is allocated.
//!
//! Requires: the buffers are as long as the sizes say; result and scratch overlap nothing. Ensures: a matrix that is
//! not positive definite has NaN in its factor from the first pivot on that is not positive (a pivot of 0 infinities too);
//! a size of 0, or a negative one, is no work. Cost: n² m / 2 multiply-adds for a solution, n³ / 6 for a factorisation, twice
//! that for tangents and cotangents.

use crate::cancel;
use crate::eight::{Eight, kernels};
use crate::matrix::{A_TRANSPOSED, ADD, Strided, cells, cells_mut, part};

/// Rows and columns of a block.
pub const BLOCK: usize = 32;

/// How many cells of scratch memory any function of this module needs for n rows and m right-hand sides; for those without
/// right-hand sides m is n.
///
/// ```
/// assert!(jut_runtime::triangular::scratch(1, 1) < 1000);
/// assert!(jut_runtime::triangular::scratch(10_000, 10_000) < 1 << 20);
/// ```
pub fn scratch(n: i64, m: i64) -> i64 {
    let (n, m) = (n.max(0), m.max(0));
    let block = n.min(BLOCK as i64);
    let both = n.saturating_add(m);
    let own = block.saturating_mul(both.saturating_add(2 * block));
    own.saturating_add(crate::matrix::scratch(n, both, n, ADD))
}

kernels! {
    /// Solves with a triangular block.
    substitute = substitute_body(p: &mut [f64], stride: usize, d: &[f64], step: [usize; 2], size: usize, down: bool);
    /// Factorises a block.
    factorise = factorise_body(p: &mut [f64], stride: usize, size: usize);
    /// The tangents of a block.
    tangents = tangents_body(p: &mut [f64], stride: usize, d: &[f64], size: usize);
    /// The cotangents of a block.
    cotangents = cotangents_body(r: &mut [f64], d: &[f64], stride: usize, size: usize);
}

/// `y += c x`, fused, for as many cells as both have.
///
/// # Safety
/// The machine has the vectors.
#[inline(always)]
unsafe fn add_scaled<E: Eight>(y: &mut [f64], c: f64, x: &[f64]) {
    let len = y.len().min(x.len());
    let (y, x) = (y.as_mut_ptr(), x.as_ptr());
    // SAFETY: both have so many cells.
    unsafe {
        let c = E::splat(c);
        let mut at = 0;
        while at + 8 <= len {
            c.fused(E::load(x.add(at)), E::load(y.add(at))).store(y.add(at));
            at += 8;
        }
        if at < len {
            let rest = len - at;
            let old = E::load_part(y.add(at), 0, rest);
            c.fused(E::load_part(x.add(at), 0, rest), old).put(y.add(at), rest, false);
        }
    }
}

/// Columns of `p` that are worked on at a time, in vectors.
const AT_ONCE: usize = 4;

/// Solves D x = p in place, for all columns of p, which has `size` rows `stride` cells apart; D has cell (i, k) at
/// `i * step[0] + k * step[1]`. It is lower triangular, or upper triangular if it goes `down` from the last row.
///
/// # Safety
/// The machine has the vectors; the cells are there.
#[inline(always)]
unsafe fn substitute_body<E: Eight>(
    p: &mut [f64],
    stride: usize,
    d: &[f64],
    step: [usize; 2],
    size: usize,
    down: bool,
) {
    let width = if size == 0 { 0 } else { p.len().saturating_sub((size - 1) * stride).min(stride) };
    let at = |i: usize, k: usize| i * step[0] + k * step[1];
    let mut left = 0;
    while left < width {
        let wide = width - left >= 8 * AT_ONCE;
        let here = if wide { 8 * AT_ONCE } else { (width - left).min(8) };
        for turn in 0..size {
            let i = if down { size - 1 - turn } else { turn };
            let pivot = d[at(i, i)];
            let all = p.as_mut_ptr();
            // SAFETY: row i has these cells, and so have those before it, which are others.
            unsafe {
                let row = all.add(i * stride + left);
                if wide {
                    let mut sums = [E::splat(0.0); AT_ONCE];
                    for (c, sum) in sums.iter_mut().enumerate() {
                        *sum = E::load(row.add(8 * c));
                    }
                    for earlier in 0..turn {
                        let k = if down { size - 1 - earlier } else { earlier };
                        let factor = E::splat(-d[at(i, k)]);
                        let other = all.add(k * stride + left);
                        for (c, sum) in sums.iter_mut().enumerate() {
                            *sum = factor.fused(E::load(other.add(8 * c)), *sum);
                        }
                    }
                    for (c, sum) in sums.into_iter().enumerate() {
                        sum.store(row.add(8 * c));
                    }
                } else {
                    let mut sum = E::load_part(row, 0, here);
                    for earlier in 0..turn {
                        let k = if down { size - 1 - earlier } else { earlier };
                        let factor = E::splat(-d[at(i, k)]);
                        let other = E::load_part(all.add(k * stride + left), 0, here);
                        sum = factor.fused(other, sum);
                    }
                    sum.put(row, here, false);
                }
            }
            p[i * stride + left..][..here].iter_mut().for_each(|x| *x /= pivot);
        }
        left += here;
    }
}

/// The factor of a block, both transposed: of the rows of `p` the cells from the diagonal on.
///
/// # Safety
/// The machine has the vectors; the cells are there.
#[inline(always)]
unsafe fn factorise_body<E: Eight>(p: &mut [f64], stride: usize, size: usize) {
    for j in 0..size {
        let (before, own) = p.split_at_mut(j * stride);
        let own = &mut own[j..size];
        for k in 0..j {
            let x = &before[k * stride + j..][..size - j];
            // SAFETY: the machine has the vectors.
            unsafe { add_scaled::<E>(own, -x[0], x) };
        }
        let pivot = libm::sqrt(own[0]);
        own.iter_mut().for_each(|x| *x /= pivot);
        own[0] = pivot;
    }
}

/// The tangents of a factor's block, transposed like the factor `d`, whose rows are `size` cells apart.
///
/// # Safety
/// The machine has the vectors; the cells are there.
#[inline(always)]
unsafe fn tangents_body<E: Eight>(p: &mut [f64], stride: usize, d: &[f64], size: usize) {
    for j in 0..size {
        let (before, own) = p.split_at_mut(j * stride);
        let own = &mut own[j..size];
        for k in 0..j {
            let x = &before[k * stride + j..][..size - j];
            let z = &d[k * size + j..][..size - j];
            // SAFETY: the machine has the vectors.
            unsafe {
                add_scaled::<E>(own, -z[0], x);
                add_scaled::<E>(own, -x[0], z);
            }
        }
        let pivot = d[j * size + j];
        let first = own[0] / (2.0 * pivot);
        // SAFETY: as above.
        unsafe { add_scaled::<E>(own, -first, &d[j * size + j..][..size - j]) };
        own.iter_mut().for_each(|x| *x /= pivot);
        own[0] = first;
    }
}

/// Cotangents of a factor's block `d` become those of what was factorised, in place. `r` has rows of `size` cells.
///
/// # Safety
/// The machine has the vectors; the cells are there.
#[inline(always)]
unsafe fn cotangents_body<E: Eight>(r: &mut [f64], d: &[f64], stride: usize, size: usize) {
    for k in (0..size).rev() {
        let pivot = d[k * stride + k];
        let mut own = r[k * size + k];
        for i in k + 1..size {
            let x = r[i * size + k] / pivot;
            r[i * size + k] = x;
            own -= x * d[i * stride + k];
        }
        own /= pivot;
        r[k * size + k] = own;
        for i in k..size {
            let factor = -r[i * size + k];
            // SAFETY: the machine has the vectors.
            unsafe {
                add_scaled::<E>(&mut r[k * size..][..k], factor, &d[i * stride..][..k]);
                if i > k {
                    add_scaled::<E>(&mut r[i * size..][..k], factor, &d[k * stride..][..k]);
                }
            }
        }
        r[k * size + k] = own / 2.0;
    }
}

fn size(x: i64) -> usize {
    usize::try_from(x).unwrap_or(0)
}

/// The first index and the length of each block.
fn blocks(n: usize) -> impl DoubleEndedIterator<Item = (usize, usize)> {
    (0..n.div_ceil(BLOCK)).map(move |b| (b * BLOCK, BLOCK.min(n - b * BLOCK)))
}

/// Cells of a matrix from (i, k) on, whose rows are `stride` cells apart.
fn from(a: &[f64], stride: usize, i: usize, k: usize) -> Strided<'_> {
    Strided { cells: a.get(i * stride + k..).unwrap_or_default(), row: stride, column: 1 }
}

impl Strided<'_> {
    fn transposed(self) -> Self {
        Strided { cells: self.cells, row: self.column, column: self.row }
    }
}

/// x with l x = b, or with [`A_TRANSPOSED`] l^T x = b: l is lower triangular, n by n, b and x are n by m.
/// Says whether the buffers were long enough; if not, nothing is done.
///
/// ```
/// use jut_runtime::triangular::{scratch, solve};
/// let (l, b) = ([2.0, f64::NAN, 1.0, 4.0], [6.0, 11.0]);
/// let (mut x, mut space) = ([0.0; 2], vec![0.0; scratch(2, 1) as usize]);
/// assert!(solve(&mut x, &l, &b, &mut space, [2, 1], 0));
/// assert_eq!(x, [3.0, 2.0]);
/// ```
pub fn solve(
    x: &mut [f64],
    l: &[f64],
    b: &[f64],
    scratch: &mut [f64],
    [n, m]: [i64; 2],
    flags: i64,
) -> bool {
    let needed = self::scratch(n, m);
    let (n, m) = (size(n), size(m));
    let all = n.saturating_mul(m);
    if l.len() < n.saturating_mul(n)
        || x.len() < all
        || b.len() < all
        || scratch.len() < size(needed)
    {
        return false;
    }
    if all == 0 {
        return true;
    }
    let down = flags & A_TRANSPOSED != 0;
    let (part_of, space) = scratch.split_at_mut(n.min(BLOCK) * m);
    let last = n.div_ceil(BLOCK) - 1;
    for turn in 0..=last {
        if cancel::is_requested() {
            return true;
        }
        let start = BLOCK * if down { last - turn } else { turn };
        let height = BLOCK.min(n - start);
        let end = start + height;
        let known = match down {
            false => part(
                part_of,
                m,
                [from(l, n, start, 0), from(x, m, 0, 0)],
                space,
                [height, m, start],
                false,
            ),
            true => {
                let coefficients = from(l, n, end, start).transposed();
                part(
                    part_of,
                    m,
                    [coefficients, from(x, m, end, 0)],
                    space,
                    [height, m, n - end],
                    false,
                )
            }
        };
        debug_assert!(known);
        let own = &mut x[start * m..end * m];
        for ((x, b), t) in own.iter_mut().zip(&b[start * m..end * m]).zip(&*part_of) {
            *x = b - t;
        }
        let step = if down { [1, n] } else { [n, 1] };
        // SAFETY: the cells are there, see above.
        unsafe { substitute::run(own, m, &l[start * n + start..], step, height, down) };
    }
    true
}

/// The lower triangular c with c c^T = a, for a symmetric a; both are n by n.
/// Says whether the buffers were long enough; if not, nothing is done.
///
/// ```
/// use jut_runtime::triangular::{cholesky, scratch};
/// let (mut c, mut space) = ([0.0; 4], vec![0.0; scratch(2, 2) as usize]);
/// assert!(cholesky(&mut c, &[4.0, f64::NAN, 2.0, 10.0], &mut space, 2));
/// assert_eq!(c, [2.0, 0.0, 1.0, 3.0]);
/// ```
pub fn cholesky(c: &mut [f64], a: &[f64], scratch: &mut [f64], n: i64) -> bool {
    let needed = self::scratch(n, n);
    let n = size(n);
    let all = n.saturating_mul(n);
    if c.len() < all || a.len() < all || scratch.len() < size(needed) {
        return false;
    }
    let (panel, space) = scratch.split_at_mut(n.min(BLOCK) * n);
    for (start, height) in blocks(n) {
        if cancel::is_requested() {
            return true;
        }
        // Row j of the panel is column j of the block, from its first row on.
        let width = n - start;
        let panel = &mut panel[..height * width];
        let rows = from(c, n, start, 0);
        part(panel, width, [rows, rows.transposed()], space, [height, width, start], false);
        for (i, row) in a[start * n..all].chunks_exact(n).enumerate() {
            for j in 0..height.min(i + 1) {
                panel[j * width + i] = row[start + j] - panel[j * width + i];
            }
        }
        // SAFETY: a square of the panel, and what is right of it.
        unsafe { factorise::run(panel, width, height) };
        below(panel, width, height);
        put_panel(c, panel, n, start, height);
    }
    true
}

/// What is below a block's square is divided by the square's factor, which the panel itself has in its first columns.
fn below(panel: &mut [f64], width: usize, height: usize) {
    let mut square = [0.0; BLOCK * BLOCK];
    for j in 0..height {
        square[j * height..][..height].copy_from_slice(&panel[j * width..][..height]);
    }
    divide(panel, width, height, &square);
}

/// The panel from its column `height` on is divided by a triangular square, which is given transposed.
fn divide(panel: &mut [f64], width: usize, height: usize, square: &[f64]) {
    if width > height {
        let rest = &mut panel[height..];
        // SAFETY: all rows but for the columns before; the square has its own rows.
        unsafe { substitute::run(rest, width, square, [1, height], height, false) };
    }
}

/// A panel, transposed, as columns of a lower triangular matrix.
fn put_panel(c: &mut [f64], panel: &[f64], n: usize, start: usize, height: usize) {
    let width = n - start;
    for (i, row) in c[start * n..].chunks_exact_mut(n).take(width).enumerate() {
        for (j, cell) in row[start..start + height].iter_mut().enumerate() {
            *cell = if j <= i { panel[j * width + i] } else { 0.0 };
        }
        if i < height {
            row[start + height..].fill(0.0);
        }
    }
}

/// The tangent of [`cholesky`]: l is the factor, s the tangent of what was factorised, symmetric; all are n by n.
/// Says whether the buffers were long enough; if not, nothing is done.
///
/// ```
/// use jut_runtime::triangular::{scratch, tangent};
/// let (mut c, mut space) = ([0.0; 1], vec![0.0; scratch(1, 1) as usize]);
/// assert!(tangent(&mut c, &[3.0], &[6.0], &mut space, 1));
/// assert_eq!(c, [1.0]);
/// ```
pub fn tangent(c: &mut [f64], l: &[f64], s: &[f64], scratch: &mut [f64], n: i64) -> bool {
    let needed = self::scratch(n, n);
    let n = size(n);
    let all = n.saturating_mul(n);
    if c.len() < all || l.len() < all || s.len() < all || scratch.len() < size(needed) {
        return false;
    }
    let block = n.min(BLOCK);
    let (panel, rest) = scratch.split_at_mut(block * n);
    let (square, rest) = rest.split_at_mut(block * block);
    let (negative, space) = rest.split_at_mut(block * block);
    for (start, height) in blocks(n) {
        if cancel::is_requested() {
            return true;
        }
        let width = n - start;
        let panel = &mut panel[..height * width];
        let (old, new) = (from(l, n, start, 0), from(c, n, start, 0));
        let sizes = [height, width, start];
        part(panel, width, [old, new.transposed()], space, sizes, false);
        part(panel, width, [new, old.transposed()], space, sizes, true);
        for (i, row) in s[start * n..all].chunks_exact(n).enumerate() {
            for j in 0..height.min(i + 1) {
                panel[j * width + i] = row[start + j] - panel[j * width + i];
            }
        }
        let square = &mut square[..height * height];
        for j in 0..height {
            for i in 0..height {
                square[j * height + i] = l[(start + i) * n + start + j];
            }
        }
        // SAFETY: a square of the panel, and one as large.
        unsafe { tangents::run(panel, width, square, height) };
        if width > height {
            // The tangents of the square, negated, times what is below in the factor.
            for j in 0..height {
                for k in 0..height {
                    negative[j * height + k] = if k <= j { -panel[k * width + j] } else { 0.0 };
                }
            }
            let factors =
                [from(negative, height, 0, 0), from(l, n, start + height, start).transposed()];
            part(
                &mut panel[height..],
                width,
                factors,
                space,
                [height, width - height, height],
                true,
            );
            divide(panel, width, height, square);
        }
        put_panel(c, panel, n, start, height);
    }
    true
}

/// The transpose of [`tangent`] for the same factor l: the cotangent of the lower triangle of what was factorised, from
/// the cotangent g of the factor. Says whether the buffers were long enough; if not, nothing is done.
///
/// ```
/// use jut_runtime::triangular::{cotangent, scratch};
/// let (mut c, mut space) = ([0.0; 1], vec![0.0; scratch(1, 1) as usize]);
/// assert!(cotangent(&mut c, &[3.0], &[6.0], &mut space, 1));
/// assert_eq!(c, [1.0]);
/// ```
pub fn cotangent(c: &mut [f64], l: &[f64], g: &[f64], scratch: &mut [f64], n: i64) -> bool {
    let needed = self::scratch(n, n);
    let n = size(n);
    let all = n.saturating_mul(n);
    if c.len() < all || l.len() < all || g.len() < all || scratch.len() < size(needed) {
        return false;
    }
    for i in 0..n {
        let (row, own) = (&mut c[i * n..][..n], &g[i * n..][..n]);
        row[..=i].copy_from_slice(&own[..=i]);
        row[i + 1..].fill(0.0);
    }
    let block = n.min(BLOCK);
    let (panel, rest) = scratch.split_at_mut(block * n);
    let (square, rest) = rest.split_at_mut(block * block);
    let (both, space) = rest.split_at_mut(block * block);
    for (start, height) in blocks(n).rev() {
        if cancel::is_requested() {
            return true;
        }
        let end = start + height;
        let width = n - end;
        // What is below the square, divided by it, negated.
        let panel = &mut panel[..height * width];
        for i in 0..width {
            for j in 0..height {
                panel[j * width + i] = c[(end + i) * n + start + j];
            }
        }
        let own = &l[start * n + start..];
        if width > 0 {
            // SAFETY: a panel of these sizes, and a square of the factor.
            unsafe { substitute::run(panel, width, own, [1, n], height, true) };
        }
        for i in 0..width {
            for j in 0..height {
                let x = panel[j * width + i];
                c[(end + i) * n + start + j] = x;
                panel[j * width + i] = -x;
            }
        }
        let panel = Strided { cells: panel, row: width.max(1), column: 1 };
        let left = from(l, n, start, 0);
        // Below, to the left.
        part(
            c.get_mut(end * n..).unwrap_or_default(),
            n,
            [panel.transposed(), left],
            space,
            [width, start, height],
            true,
        );
        // The square.
        let square = &mut square[..height * height];
        for i in 0..height {
            square[i * height..][..height].copy_from_slice(&c[(start + i) * n + start..][..height]);
        }
        part(square, height, [panel, from(l, n, end, start)], space, [height, height, width], true);
        // SAFETY: two squares.
        unsafe { cotangents::run(square, own, n, height) };
        for i in 0..height {
            for j in 0..height {
                let (low, high) = (i.max(j), i.min(j));
                both[i * height + j] = match i == j {
                    true => -2.0 * square[i * height + i],
                    false => -square[low * height + high],
                };
            }
            c[(start + i) * n + start..][..=i].copy_from_slice(&square[i * height..][..=i]);
        }
        // To the left of the square.
        let target = &mut c[start * n..];
        part(target, n, [panel, from(l, n, end, 0)], space, [height, start, width], true);
        part(target, n, [from(both, height, 0, 0), left], space, [height, start, height], true);
    }
    true
}

/// For compiled code: see [`solve`].
///
/// # Safety
/// The buffers have as many cells as the sizes say ([`scratch`]); nothing else uses `x` and `scratch` meanwhile or
/// writes the others.
#[cfg_attr(jut_freestanding, unsafe(no_mangle))]
pub unsafe extern "C" fn jut_triangular_solve(
    x: *mut f64,
    l: *const f64,
    b: *const f64,
    scratch: *mut f64,
    n: i64,
    m: i64,
    flags: i64,
) {
    let (square, all) = (size(n).wrapping_mul(size(n)), size(n).wrapping_mul(size(m)));
    // SAFETY: as required of the caller.
    let (x, l, b, scratch) = unsafe {
        (
            cells_mut(x, all),
            cells(l, square),
            cells(b, all),
            cells_mut(scratch, size(self::scratch(n, m))),
        )
    };
    solve(x, l, b, scratch, [n, m], flags);
}

/// For compiled code: see [`cholesky`].
///
/// # Safety
/// As of [`jut_triangular_solve`].
#[cfg_attr(jut_freestanding, unsafe(no_mangle))]
pub unsafe extern "C" fn jut_cholesky(
    c: *mut f64,
    a: *const f64,
    scratch: *mut f64,
    n: i64,
    _: i64,
    _: i64,
) {
    let all = size(n).wrapping_mul(size(n));
    // SAFETY: as required of the caller.
    let (c, a, scratch) = unsafe {
        (cells_mut(c, all), cells(a, all), cells_mut(scratch, size(self::scratch(n, n))))
    };
    cholesky(c, a, scratch, n);
}

/// For compiled code: [`tangent`], or with flag 1 [`cotangent`].
///
/// # Safety
/// As of [`jut_triangular_solve`].
#[cfg_attr(jut_freestanding, unsafe(no_mangle))]
pub unsafe extern "C" fn jut_cholesky_linear(
    c: *mut f64,
    l: *const f64,
    x: *const f64,
    scratch: *mut f64,
    n: i64,
    _: i64,
    flags: i64,
) {
    let all = size(n).wrapping_mul(size(n));
    // SAFETY: as required of the caller.
    let (c, l, x, scratch) = unsafe {
        (
            cells_mut(c, all),
            cells(l, all),
            cells(x, all),
            cells_mut(scratch, size(self::scratch(n, n))),
        )
    };
    match flags & A_TRANSPOSED == 0 {
        true => tangent(c, l, x, scratch, n),
        false => cotangent(c, l, x, scratch, n),
    };
}

#[cfg(test)]
mod tests;

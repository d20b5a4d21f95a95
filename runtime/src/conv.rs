//! Convolutions with channels: `y[o, i, j] = the sum of x[c, i + u, j + v] k[o, c, u, v]`, and both
//! transposes. With one row in `y` and `k` they are those of one direction.
//!
//! # The order of operations
//!
//! It belongs to the language, and the interpreter, which walks cell by cell, is its definition.
//! Every multiply-add is fused, and begins from 0.0:
//!
//! - a cell of `y` is one chain over c, then u, then v;
//! - a cell of `x` is one chain over o, then u, then v, of those products that there are;
//! - a cell of `k` is eight chains over i, then j, column j in chain j mod 8; then the chains are
//!   added in pairs, as [`crate::lanes::fold`] says.
//!
//! What is added to a result is computed first. So the bits are the same on every machine; one
//! without fused multiply-add computes them in software, slowly.
//!
//! # How
//!
//! Directly, from where the cells are: neighbouring cells of a row are neighbours in a vector, and
//! several channels (or places of the kernel) share what is loaded: twelve sums at a time where the registers suffice, of
//! which no one waits for another. Nothing is allocated or copied.
//!
//! Requires: the buffers are as long as the sizes say; the result overlaps nothing. Ensures: a size
//! of 0, or a negative one, gives sums over nothing, or no cells. Cost: `o c i j u v` multiply-adds.

use crate::cancel::Patience;
use crate::eight::{Eight, VECTORS, kernels, most, tile, together};
use crate::lanes::LANES;
use crate::matrix::{ADD, cells, cells_mut};

/// The sizes of a convolution.
#[derive(Clone, Copy, Debug)]
pub struct Sizes {
    /// Channels of `y`.
    pub o: usize,
    /// Channels of `x`.
    pub c: usize,
    /// Rows of `y`.
    pub i: usize,
    /// Columns of `y`.
    pub j: usize,
    /// Rows of `k`.
    pub u: usize,
    /// Columns of `k`.
    pub v: usize,
}

impl Sizes {
    /// From integers in the order o, c, i, j, u, v; negative ones are 0.
    pub fn new(sizes: [i64; 6]) -> Sizes {
        let [o, c, i, j, u, v] = sizes.map(|size| usize::try_from(size).unwrap_or(0));
        Sizes { o, c, i, j, u, v }
    }

    /// Rows of `x`.
    pub fn h(self) -> usize {
        self.i.saturating_add(self.u).saturating_sub(1)
    }

    /// Columns of `x`.
    pub fn w(self) -> usize {
        self.j.saturating_add(self.v).saturating_sub(1)
    }

    /// How many cells `y`, `x` and `k` have.
    pub fn cells(self) -> [usize; 3] {
        let cells = |n: usize, m: usize, k: usize| n.saturating_mul(m).saturating_mul(k);
        let y = cells(self.o, self.i, self.j);
        let x = cells(self.c, self.h(), self.w());
        [y, x, cells(self.o, self.c, self.u).saturating_mul(self.v)]
    }
}

kernels! {
    /// `y` from `x` and `k`.
    for_y = output_body(y: &mut [f64], x: &[f64], k: &[f64], s: Sizes, add: bool);
    /// `x` from `y` and `k`.
    for_x = input_body(x: &mut [f64], y: &[f64], k: &[f64], s: Sizes, add: bool);
    /// `k` from `x` and `y`.
    for_k = kernel_body(k: &mut [f64], x: &[f64], y: &[f64], s: Sizes, add: bool);
}

/// # Safety
/// The machine has the vectors; the buffers have the cells that the sizes say, here and below.
#[inline(always)]
unsafe fn output_body<E: Eight>(y: &mut [f64], x: &[f64], k: &[f64], s: Sizes, add: bool) {
    let mut patience = Patience::new();
    let mut o = 0;
    while o < s.o {
        // Copies for two channels take registers from those for four, where there are few.
        let channels = match together(s.o - o) {
            2 if !E::TWELVE => 1,
            channels => channels,
        };
        for i in 0..s.i {
            let mut j = 0;
            while j < s.j {
                if patience.is_over(1) {
                    return;
                }
                let p = &mut patience;
                let width = (s.j - j).min(VECTORS * LANES);
                let (x, k) = (x.as_ptr(), k.as_ptr());
                let y = y.as_mut_ptr();
                let at = [o, i, j, width];
                // SAFETY: these channels and columns are there.
                unsafe {
                    tile!(output_tile, channels, width.div_ceil(LANES), (y, x, k, s, at, add, p));
                }
                j += width;
            }
        }
        o += channels;
    }
}

/// `width` neighbouring cells of a row of `y`, in some channels: at most `N` vectors.
///
/// # Safety
/// As of the body; the cells are there.
#[inline(always)]
unsafe fn output_tile<E: Eight, const CHANNELS: usize, const N: usize>(
    y: *mut f64,
    x: *const f64,
    k: *const f64,
    s: Sizes,
    [o, i, j, width]: [usize; 4],
    add: bool,
    patience: &mut Patience,
) {
    let (h, w) = (s.h(), s.w());
    let last = width - (N - 1) * LANES;
    // SAFETY: as required of the caller: row i + u of x has the columns j + v .. j + v + width.
    unsafe {
        let mut sums = [[E::splat(0.0); N]; CHANNELS];
        for c in 0..s.c {
            for u in 0..s.u {
                if patience.is_over(s.v * CHANNELS * N) {
                    return;
                }
                let row = x.add((c * h + i + u) * w + j);
                let k = k.add(((o * s.c + c) * s.u + u) * s.v);
                for v in 0..s.v {
                    let mut right = [E::splat(0.0); N];
                    for (n, cells) in right.iter_mut().enumerate() {
                        let from = row.add(v + n * LANES);
                        *cells = match n + 1 == N && last < LANES {
                            true => E::load_part(from, 0, last),
                            false => E::load(from),
                        };
                    }
                    for (channel, sums) in sums.iter_mut().enumerate() {
                        let factor = E::splat(*k.add(channel * s.c * s.u * s.v + v));
                        for (sum, cells) in sums.iter_mut().zip(right) {
                            *sum = factor.fused(cells, *sum);
                        }
                    }
                }
            }
        }
        for (channel, sums) in sums.into_iter().enumerate() {
            let y = y.add(((o + channel) * s.i + i) * s.j + j);
            for (n, sum) in sums.into_iter().enumerate() {
                let count = if n + 1 == N { last } else { LANES };
                sum.put(y.add(n * LANES), count, add);
            }
        }
    }
}

/// # Safety
/// As of `output_body`.
#[inline(always)]
unsafe fn input_body<E: Eight>(x: &mut [f64], y: &[f64], k: &[f64], s: Sizes, add: bool) {
    let (h, w) = (s.h(), s.w());
    let mut patience = Patience::new();
    let mut c = 0;
    while c < s.c {
        let channels = together(s.c - c);
        for row in 0..h {
            let mut column = 0;
            while column < w {
                if patience.is_over(1) {
                    return;
                }
                let p = &mut patience;
                let (y, k) = (y.as_ptr(), k.as_ptr());
                let x = x.as_mut_ptr();
                // Vectors of which each lane has a column of y for every v.
                let inside = match column + 1 >= s.v {
                    true => (s.j.min(w).saturating_sub(column) / LANES).min(most::<E>(channels)),
                    false => 0,
                };
                let at = [c, row, column];
                // SAFETY: these channels are there, and the row from this column on.
                unsafe {
                    match (channels, inside) {
                        (4, 0) => edge_tile::<E, 4>(x, y, k, s, at, add, p),
                        (2, 0) => edge_tile::<E, 2>(x, y, k, s, at, add, p),
                        (_, 0) => edge_tile::<E, 1>(x, y, k, s, at, add, p),
                        _ => tile!(inner_tile, channels, inside, (x, y, k, s, at, add, p)),
                    }
                }
                column += inside.max(1) * LANES;
            }
        }
        c += channels;
    }
}

/// The rows of the kernel that a row of `x` meets a row of `y` in.
#[inline(always)]
fn rows_of_kernel(s: Sizes, row: usize) -> core::ops::Range<usize> {
    (row + 1).saturating_sub(s.i)..s.u.min(row + 1)
}

/// `N` vectors of neighbouring cells of a row of `x`, in some channels, where every place of the kernel has a column of `y` for each.
///
/// # Safety
/// As of `input_body`; the cells are there, and these columns.
#[inline(always)]
unsafe fn inner_tile<E: Eight, const CHANNELS: usize, const N: usize>(
    x: *mut f64,
    y: *const f64,
    k: *const f64,
    s: Sizes,
    [c, row, column]: [usize; 3],
    add: bool,
    patience: &mut Patience,
) {
    let (h, w) = (s.h(), s.w());
    let place = s.u * s.v;
    // SAFETY: as required of the caller: row - u is a row of y.
    unsafe {
        let mut sums = [[E::splat(0.0); N]; CHANNELS];
        for o in 0..s.o {
            for u in rows_of_kernel(s, row) {
                if patience.is_over(s.v * CHANNELS * N) {
                    return;
                }
                let cells = y.add((o * s.i + row - u) * s.j + column);
                let k = k.add((o * s.c + c) * place + u * s.v);
                for v in 0..s.v {
                    let mut right = [E::splat(0.0); N];
                    for (n, right) in right.iter_mut().enumerate() {
                        *right = E::load(cells.add(n * LANES).sub(v));
                    }
                    for (channel, sums) in sums.iter_mut().enumerate() {
                        let factor = E::splat(*k.add(channel * place + v));
                        for (sum, cells) in sums.iter_mut().zip(right) {
                            *sum = factor.fused(cells, *sum);
                        }
                    }
                }
            }
        }
        for (channel, sums) in sums.into_iter().enumerate() {
            let x = x.add(((c + channel) * h + row) * w + column);
            for (n, sum) in sums.into_iter().enumerate() {
                sum.put(x.add(n * LANES), LANES, add);
            }
        }
    }
}

/// Up to eight neighbouring cells of a row of `x`, in some channels, of which some places of the kernel have no column of `y`.
///
/// # Safety
/// As of `input_body`; the first cell is there.
#[inline(always)]
unsafe fn edge_tile<E: Eight, const CHANNELS: usize>(
    x: *mut f64,
    y: *const f64,
    k: *const f64,
    s: Sizes,
    [c, row, column]: [usize; 3],
    add: bool,
    patience: &mut Patience,
) {
    let (h, w) = (s.h(), s.w());
    let count = (w - column).min(LANES);
    let place = s.u * s.v;
    // SAFETY: as required of the caller: row - u is a row of y, and only its columns are read.
    unsafe {
        let mut sums = [E::splat(0.0); CHANNELS];
        for o in 0..s.o {
            for u in rows_of_kernel(s, row) {
                // Those v for which a lane has a column of y.
                let last = s.v.min(column + LANES);
                let first = (column + 1).saturating_sub(s.j).min(last);
                if patience.is_over((last - first) * CHANNELS) {
                    return;
                }
                let cells = y.add((o * s.i + row - u) * s.j);
                let k = k.add((o * s.c + c) * place + u * s.v);
                for v in first..last {
                    // Lane l has column + l - v, if that is a column of y.
                    let low = v.saturating_sub(column).min(LANES);
                    let high = (s.j + v).saturating_sub(column).min(LANES);
                    let from = cells.wrapping_add(column).wrapping_sub(v);
                    if (low, high) == (0, LANES) {
                        let cells = E::load(from);
                        for (channel, sum) in sums.iter_mut().enumerate() {
                            *sum = E::splat(*k.add(channel * place + v)).fused(cells, *sum);
                        }
                    } else if low < high {
                        let cells = E::load_part(from, low, high);
                        for (channel, sum) in sums.iter_mut().enumerate() {
                            let more = E::splat(*k.add(channel * place + v)).fused(cells, *sum);
                            *sum = E::select(low, high, more, *sum);
                        }
                    }
                }
            }
        }
        for (channel, sum) in sums.into_iter().enumerate() {
            sum.put(x.add(((c + channel) * h + row) * w + column), count, add);
        }
    }
}

/// # Safety
/// As of `output_body`.
#[inline(always)]
unsafe fn kernel_body<E: Eight>(k: &mut [f64], x: &[f64], y: &[f64], s: Sizes, add: bool) {
    let mut patience = Patience::new();
    let mut o = 0;
    while o < s.o {
        // Where rows are parts of vectors, to load them is most of the work.
        let some = if E::TWELVE || s.j >= LANES { s.o - o } else { (s.o - o).min(2) };
        let channels = together(some);
        for c in 0..s.c {
            for u in 0..s.u {
                let mut v = 0;
                while v < s.v {
                    if patience.is_over(1) {
                        return;
                    }
                    let p = &mut patience;
                    let places = (s.v - v).min(most::<E>(channels));
                    let (x, y) = (x.as_ptr(), y.as_ptr());
                    let (k, at) = (k.as_mut_ptr(), [o, c, u, v]);
                    // SAFETY: these channels and places are there.
                    unsafe {
                        tile!(kernel_tile, channels, places, (k, x, y, s, at, add, p));
                    }
                    v += places;
                }
            }
        }
        o += channels;
    }
}

/// Some neighbouring cells of a row of `k`, in some channels of `y`.
///
/// # Safety
/// As of `kernel_body`; the cells are there.
#[inline(always)]
unsafe fn kernel_tile<E: Eight, const CHANNELS: usize, const PLACES: usize>(
    k: *mut f64,
    x: *const f64,
    y: *const f64,
    s: Sizes,
    [o, c, u, v]: [usize; 4],
    add: bool,
    patience: &mut Patience,
) {
    let (h, w) = (s.h(), s.w());
    // SAFETY: as required of the caller: row i + u of x has the columns j + v .. j + v + PLACES.
    unsafe {
        let mut sums = [[E::splat(0.0); PLACES]; CHANNELS];
        for i in 0..s.i {
            if patience.is_over(s.j.div_ceil(LANES) * CHANNELS * PLACES) {
                return;
            }
            let row = x.add((c * h + i + u) * w + v);
            let y = y.add((o * s.i + i) * s.j);
            let mut j = 0;
            while j < s.j {
                let count = (s.j - j).min(LANES);
                let mut right = [E::splat(0.0); PLACES];
                for (place, cells) in right.iter_mut().enumerate() {
                    let from = row.add(j + place);
                    *cells = match count {
                        LANES => E::load(from),
                        _ => E::load_part(from, 0, count),
                    };
                }
                for (channel, sums) in sums.iter_mut().enumerate() {
                    let from = y.add(channel * s.i * s.j + j);
                    let left = match count {
                        LANES => E::load(from),
                        _ => E::load_part(from, 0, count),
                    };
                    // The lanes beyond the row: what they are is kept, not added to.
                    for (sum, cells) in sums.iter_mut().zip(right) {
                        let more = left.fused(cells, *sum);
                        *sum = match count {
                            LANES => more,
                            _ => E::select(0, count, more, *sum),
                        };
                    }
                }
                j += count;
            }
        }
        for (channel, sums) in sums.into_iter().enumerate() {
            for (place, sum) in sums.into_iter().enumerate() {
                let to = k.add((((o + channel) * s.c + c) * s.u + u) * s.v + v + place);
                let sum = sum.fold();
                *to = if add { *to + sum } else { sum };
            }
        }
    }
}

/// `y` from `x` and `k`; with [`ADD`] it is added to `y`. The sizes are o, c, i, j, u, v. Says whether
/// the buffers were long enough; if not, nothing is done.
///
/// ```
/// let (x, k, mut y) = ([1.0, 2.0, 4.0, 8.0], [1.0, 10.0], [0.0; 3]);
/// assert!(jut_runtime::conv::output(&mut y, &x, &k, [1, 1, 1, 3, 1, 2], 0));
/// assert_eq!(y, [21.0, 42.0, 84.0]);
/// ```
pub fn output(y: &mut [f64], x: &[f64], k: &[f64], sizes: [i64; 6], flags: i64) -> bool {
    let s = Sizes::new(sizes);
    let there = s.cells();
    let fits = [y.len(), x.len(), k.len()].iter().zip(there).all(|(len, cells)| *len >= cells);
    if fits {
        // SAFETY: all cells are there.
        unsafe { for_y::run(y, x, k, s, flags & ADD != 0) };
    }
    fits
}

/// `x` from `y` and `k`, see [`output`].
pub fn input(x: &mut [f64], y: &[f64], k: &[f64], sizes: [i64; 6], flags: i64) -> bool {
    let s = Sizes::new(sizes);
    let there = s.cells();
    let fits = [y.len(), x.len(), k.len()].iter().zip(there).all(|(len, cells)| *len >= cells);
    if fits {
        // SAFETY: all cells are there.
        unsafe { for_x::run(x, y, k, s, flags & ADD != 0) };
    }
    fits
}

/// `k` from `x` and `y`, see [`output`].
pub fn kernel(k: &mut [f64], x: &[f64], y: &[f64], sizes: [i64; 6], flags: i64) -> bool {
    let s = Sizes::new(sizes);
    let there = s.cells();
    let fits = [y.len(), x.len(), k.len()].iter().zip(there).all(|(len, cells)| *len >= cells);
    if fits {
        // SAFETY: all cells are there.
        unsafe { for_k::run(k, x, y, s, flags & ADD != 0) };
    }
    fits
}

/// The three functions for compiled code.
macro_rules! calls {
    ($($(#[$about:meta])* $symbol:ident $function:ident: $result:ident, $a:ident, $b:ident;)*) => {$(
        $(#[$about])*
        ///
        /// # Safety
        /// The buffers have as many cells as the sizes say; nothing else uses the first meanwhile or
        /// writes the others.
        #[cfg_attr(jut_freestanding, unsafe(no_mangle))]
        #[allow(clippy::too_many_arguments)]
        pub unsafe extern "C" fn $symbol(
            $result: *mut f64,
            $a: *const f64,
            $b: *const f64,
            channels: i64,
            of_x: i64,
            rows: i64,
            columns: i64,
            window_rows: i64,
            window_columns: i64,
            flags: i64,
        ) {
            let sizes = [channels, of_x, rows, columns, window_rows, window_columns];
            let [y_cells, x_cells, k_cells] = Sizes::new(sizes).cells();
            let len = |name: &str| match name {
                "y" => y_cells,
                "x" => x_cells,
                _ => k_cells,
            };
            // SAFETY: as required of the caller.
            let (result, a, b) = unsafe {
                (
                    cells_mut($result, len(stringify!($result))),
                    cells($a, len(stringify!($a))),
                    cells($b, len(stringify!($b))),
                )
            };
            $function(result, a, b, sizes, flags);
        }
    )*};
}

calls! {
    /// For compiled code: see [`output`].
    jut_conv output: y, x, k;
    /// For compiled code: see [`input`].
    jut_conv_input input: x, y, k;
    /// For compiled code: see [`kernel`].
    jut_conv_kernel kernel: k, x, y;
}

#[cfg(test)]
mod tests;

//! Products of matrices: `c = a b` and `c += a b`, operands transposed on request.
//!
//! # The order of operations
//!
//! It belongs to the language, not to a machine: every cell of a product is one chain of fused
//! multiply-adds in the order of the inner index, from 0.0,
//!
//! ```text
//! c[i, j] = fma(a[i, k-1], b[k-1, j], .. fma(a[i, 1], b[1, j], fma(a[i, 0], b[0, j], 0.0)) ..)
//! ```
//!
//! and `c += a b` adds that to the cell. So the bits are the same on every machine and in every
//! engine, for any blocking: cells are independent, and where the inner index is cut, the chain
//! goes on from where it was. Only the vector width differs ([`tiles`]). A machine without fused
//! multiply-add computes them in software, slowly.
//!
//! # How
//!
//! The usual blocking (Goto, van de Geijn: Anatomy of High-Performance Matrix Multiplication, 2008).
//! A block of `b` ([`INNER`] by [`COLUMNS`]) and one of `a` ([`ROWS`] by [`INNER`]) are packed into
//! the caller's scratch memory so that a tile of `c` is computed in registers from two contiguous
//! streams. Products of few rows and columns are computed from where the cells are ([`direct`]). Nothing is allocated.
//!
//! Requires: the buffers are as long as the sizes say; `c` and `scratch` overlap nothing.
//! Ensures: NaN and infinity spread as in the chain; an inner size of 0 gives zeros; an outer size
//! of 0, or a negative one, is no work. Cost: `m n k` multiply-adds.

mod direct;
mod tiles;

use crate::cancel;
#[cfg(not(jut_freestanding))]
use crate::shares;
use core::slice;
use tiles::{Tile, Tiles};

/// Flag: `a` is given transposed, k by m.
pub const A_TRANSPOSED: i64 = 1;
/// Flag: `b` is given transposed, n by k.
pub const B_TRANSPOSED: i64 = 2;
/// Flag: the product is added to `c`.
pub const ADD: i64 = 4;

/// Rows of a packed block of `a`.
pub const ROWS: usize = 96;
/// The part of the inner index that is packed at a time.
pub const INNER: usize = 256;
/// Columns of a packed block of `b`.
pub const COLUMNS: usize = 240;

/// Rows that the last panel of a packed block may need beyond those of the block.
pub const SPARE_ROWS: usize = 8;
/// Columns that the last panel of a packed block may need beyond those of the block.
pub const SPARE_COLUMNS: usize = 24;

/// How many cells of scratch memory a product of an m by k and a k by n matrix needs, at most.
///
/// ```
/// assert!(jut_runtime::matrix::scratch(2, 2, 2, 0) < 100);
/// assert!(jut_runtime::matrix::scratch(10_000, 10_000, 10_000, 4) < 1 << 18);
/// ```
pub fn scratch(m: i64, n: i64, k: i64, flags: i64) -> i64 {
    if m <= 0 || n <= 0 || k <= 0 {
        return 0;
    }
    let rows = m.min(ROWS as i64);
    let columns = n.min(COLUMNS as i64) + SPARE_COLUMNS as i64;
    let sums = if flags & ADD == 0 { 0 } else { rows };
    k.min(INNER as i64) * (rows + columns + SPARE_ROWS as i64) + sums * columns
}

/// How many floats the vectors of this machine have, of those that kernels are compiled for.
pub(crate) fn vector_lanes() -> usize {
    Tiles::of_this_machine().lanes
}

/// The same for all vectors that it has.
#[cfg(test)]
pub(crate) fn all_vector_lanes() -> impl Iterator<Item = usize> {
    Tiles::all().map(|tiles| tiles.lanes)
}

/// A matrix in memory: cell (i, j) is cell `i * row + j * column` of the buffer.
#[derive(Clone, Copy)]
pub(crate) struct Strided<'a> {
    pub cells: &'a [f64],
    pub row: usize,
    pub column: usize,
}

impl<'a> Strided<'a> {
    /// A matrix of `columns` columns by rows, or the transpose of one.
    fn new(cells: &'a [f64], rows: usize, columns: usize, transposed: bool) -> Strided<'a> {
        match transposed {
            false => Strided { cells, row: columns, column: 1 },
            true => Strided { cells, row: 1, column: rows },
        }
    }
}

/// `c = a b`, or with [`ADD`] `c += a b`: c is m by n, a is m by k, b is k by n, all by rows.
/// Says whether the buffers were long enough; if not, nothing is done.
///
/// ```
/// use jut_runtime::matrix::{B_TRANSPOSED, product, scratch};
/// let (a, b) = ([1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]);
/// let mut c = [0.0; 4];
/// let mut space = vec![0.0; scratch(2, 2, 2, B_TRANSPOSED) as usize];
/// assert!(product(&mut c, &a, &b, &mut space, [2, 2, 2], B_TRANSPOSED));
/// assert_eq!(c, [17.0, 23.0, 39.0, 53.0]);
/// ```
pub fn product(
    c: &mut [f64],
    a: &[f64],
    b: &[f64],
    scratch: &mut [f64],
    sizes: [i64; 3],
    flags: i64,
) -> bool {
    product_with(Tiles::of_this_machine(), c, a, b, scratch, sizes, flags)
}

fn product_with(
    tiles: &Tiles,
    c: &mut [f64],
    a: &[f64],
    b: &[f64],
    scratch: &mut [f64],
    [m, n, k]: [i64; 3],
    flags: i64,
) -> bool {
    let needed = self::scratch(m, n, k, flags) as usize;
    let [m, n, k] = [m, n, k].map(|size| usize::try_from(size).unwrap_or(0));
    let cells = |x: usize, y: usize| x.saturating_mul(y);
    if c.len() < cells(m, n) || a.len() < cells(m, k) || b.len() < cells(k, n) {
        return false;
    }
    if scratch.len() < needed {
        return false;
    }
    let a = Strided::new(a, m, k, flags & A_TRANSPOSED != 0);
    let b = Strided::new(b, k, n, flags & B_TRANSPOSED != 0);
    #[cfg(not(jut_freestanding))]
    if let parts @ 2.. = shares::parts(cells(m, n).saturating_mul(k), m) {
        return in_parts(tiles, c, [a, b], [m, n, k], flags & ADD != 0, parts);
    }
    strided(tiles, c, n, [a, b], scratch, [m, n, k], flags & ADD != 0)
}

/// The rows of a product in parts, on several threads: a cell is one chain, whatever rows there are beside it. Each thread has
/// scratch memory of its own. Requires: the cells are there.
#[cfg(not(jut_freestanding))]
fn in_parts(
    tiles: &Tiles,
    c: &mut [f64],
    [a, b]: [Strided<'_>; 2],
    [m, n, k]: [usize; 3],
    add: bool,
    parts: usize,
) -> bool {
    std::thread_local! {
        static SCRATCH: core::cell::Cell<alloc::vec::Vec<f64>> = const { core::cell::Cell::new(alloc::vec::Vec::new()) };
    }
    struct Cells(*mut f64);
    // SAFETY: each part has cells of its own.
    unsafe impl Sync for Cells {}
    // Whole tiles, but for the last ones.
    let height = m.div_ceil(parts).next_multiple_of(tiles.rows);
    let cells = Cells(c[..m * n].as_mut_ptr());
    let cells = &cells;
    shares::run_parts(m.div_ceil(height), &move |part| {
        let first = part * height;
        let m = height.min(m - first);
        // SAFETY: the rows of a part are within the matrix, and no other part has them.
        let c = unsafe { slice::from_raw_parts_mut(cells.0.add(first * n), m * n) };
        let a = Strided { cells: a.cells.get(first * a.row..).unwrap_or_default(), ..a };
        let mut scratch = SCRATCH.take();
        let flags = if add { ADD } else { 0 };
        let needed = self::scratch(m as i64, n as i64, k as i64, flags) as usize;
        scratch.resize(needed.max(scratch.len()), 0.0);
        strided(tiles, c, n, [a, b], &mut scratch, [m, n, k], add);
        SCRATCH.set(scratch);
    });
    true
}

/// The product of parts of matrices, into a part of one whose rows are `stride` cells apart. Says whether the
/// cells are there; if not, nothing is done.
pub(crate) fn part(
    c: &mut [f64],
    stride: usize,
    operands: [Strided<'_>; 2],
    scratch: &mut [f64],
    sizes: [usize; 3],
    add: bool,
) -> bool {
    strided(Tiles::of_this_machine(), c, stride, operands, scratch, sizes, add)
}

fn strided(
    tiles: &Tiles,
    c: &mut [f64],
    stride: usize,
    [a, b]: [Strided<'_>; 2],
    scratch: &mut [f64],
    [m, n, k]: [usize; 3],
    add: bool,
) -> bool {
    if m == 0 || n == 0 {
        return true;
    }
    let reach = |rows: usize, row: usize, columns: usize, column: usize| match (rows, columns) {
        (0, _) | (_, 0) => 0,
        _ => (rows - 1)
            .saturating_mul(row)
            .saturating_add((columns - 1).saturating_mul(column))
            .saturating_add(1),
    };
    let flags = if add { ADD } else { 0 };
    if stride < n
        || c.len() < reach(m, stride, n, 1)
        || a.cells.len() < reach(m, a.row, k, a.column)
        || b.cells.len() < reach(k, b.row, n, b.column)
        || scratch.len() < self::scratch(m as i64, n as i64, k as i64, flags) as usize
    {
        return false;
    }
    // Without vectors, the lanes beyond the last column would be computed one by one, too.
    let few = tiles.lanes > 1 && m.saturating_mul(n).saturating_mul(k) <= direct::FEW;
    if few && (b.column == 1 || (k <= INNER && n <= COLUMNS)) {
        let mut rows = b;
        if b.column != 1 {
            let copy = &mut scratch[..n * k];
            interleave(copy, n, n, k, b.cells, [b.column, b.row]);
            rows = Strided { cells: copy, row: n, column: 1 };
        }
        // SAFETY: all cells are there.
        unsafe { direct::by_rows::run(c, stride, a, rows, [m, n, k], add) };
        return true;
    }
    tiled(tiles, c, stride, [a, b], scratch, [m, n, k], add);
    true
}

/// A product by tiles. Requires: all cells are there, and the scratch memory.
fn tiled(
    tiles: &Tiles,
    c: &mut [f64],
    stride: usize,
    [a, b]: [Strided<'_>; 2],
    scratch: &mut [f64],
    [m, n, k]: [usize; 3],
    add: bool,
) {
    let columns = n.min(COLUMNS) + SPARE_COLUMNS;
    let (packed_b, rest) = scratch.split_at_mut(k.min(INNER) * columns);
    let (packed_a, sums) = rest.split_at_mut(k.min(INNER) * (m.min(ROWS) + SPARE_ROWS));
    // A chain that is cut cannot wait in `c` if it is to be added there at the end: it waits in
    // `sums`, which has room for one block of rows, so then the blocks of `a` are outermost.
    let cut = add && k > INNER;
    let step = if cut { ROWS } else { m };
    for top in (0..m).step_by(step) {
        let bottom = m.min(top + step);
        for left in (0..n).step_by(COLUMNS) {
            let width = COLUMNS.min(n - left);
            let mut from = 0;
            loop {
                let depth = INNER.min(k - from);
                pack_columns(tiles, packed_b, b, from, depth, left, width);
                for first in (top..bottom).step_by(ROWS) {
                    if cancel::is_requested() {
                        return;
                    }
                    let height = ROWS.min(bottom - first);
                    pack_rows(tiles, packed_a, a, first, height, from, depth);
                    let block = Block {
                        tiles,
                        a: packed_a,
                        b: packed_b,
                        height,
                        width,
                        depth,
                        begin: from == 0,
                        end: from + depth == k,
                        add,
                    };
                    let target = &mut c[first * stride + left..];
                    match cut {
                        true => block.run(target, stride, sums, columns),
                        false => block.run_in(target, stride),
                    }
                }
                from += depth;
                if from >= k {
                    break;
                }
            }
        }
    }
}

/// Panels of columns: of each row of the block as many neighbouring cells as a tile is wide. The
/// last panel is filled up with zeros to a whole number of vectors.
fn pack_columns(
    tiles: &Tiles,
    out: &mut [f64],
    b: Strided<'_>,
    from: usize,
    depth: usize,
    left: usize,
    width: usize,
) {
    if depth == 0 {
        return;
    }
    let mut at = 0;
    for (start, used) in pieces(width, tiles.columns()) {
        let panel = used.next_multiple_of(tiles.lanes);
        let out = &mut out[at..at + panel * depth];
        let first = from * b.row + (left + start) * b.column;
        if b.column == 1 {
            for l in 0..depth {
                let source = &b.cells[first + l * b.row..][..used];
                let target = &mut out[l * panel..][..panel];
                target[..used].copy_from_slice(source);
                target[used..].fill(0.0);
            }
        } else {
            if used < panel {
                out.fill(0.0);
            }
            interleave(out, panel, used, depth, &b.cells[first..], [b.column, b.row]);
        }
        at += panel * depth;
    }
}

/// Panels of rows: of each column of the block as many neighbouring cells as a tile is high.
fn pack_rows(
    tiles: &Tiles,
    out: &mut [f64],
    a: Strided<'_>,
    first: usize,
    height: usize,
    from: usize,
    depth: usize,
) {
    if depth == 0 {
        return;
    }
    let mut at = 0;
    for (start, used) in pieces(height, tiles.rows) {
        let panel = used.next_power_of_two();
        let out = &mut out[at..at + panel * depth];
        if used < panel {
            out.fill(0.0);
        }
        if a.row == 1 {
            for l in 0..depth {
                let source = &a.cells[first + start + (from + l) * a.column..][..used];
                out[l * panel..][..used].copy_from_slice(source);
            }
        } else {
            let source = &a.cells[(first + start) * a.row + from * a.column..];
            interleave(out, panel, used, depth, source, [a.row, a.column]);
        }
        at += panel * depth;
    }
}

/// Puts cell l of `used` rows beside each other, for each l, `panel` cells behind the last ones. Rows lie `row` cells apart, cells of a row `column`.
fn interleave(
    out: &mut [f64],
    panel: usize,
    used: usize,
    depth: usize,
    source: &[f64],
    [row, column]: [usize; 2],
) {
    if depth == 0 {
        return;
    }
    let pairs = if column == 1 { used - used % 2 } else { 0 };
    // Two rows at a time: two neighbours are stored at once.
    for i in (0..pairs).step_by(2) {
        let (first, second) = (&source[i * row..][..depth], &source[(i + 1) * row..][..depth]);
        let cells = out[i..].chunks_mut(panel);
        for ((cells, first), second) in cells.zip(first).zip(second) {
            cells[..2].copy_from_slice(&[*first, *second]);
        }
    }
    for i in pairs..used {
        let source = source[i * row..].iter().step_by(column);
        for (cells, cell) in out[i..].chunks_mut(panel).zip(source.take(depth)) {
            cells[0] = *cell;
        }
    }
}

/// 0 .. size in pieces of at most `step`: first element and length of each.
fn pieces(size: usize, step: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..size).step_by(step).map(move |start| (start, step.min(size - start)))
}

/// One packed block of `a` times one packed block of `b`.
struct Block<'a> {
    tiles: &'a Tiles,
    a: &'a [f64],
    b: &'a [f64],
    height: usize,
    width: usize,
    depth: usize,
    /// Whether the chains begin here, and end here.
    begin: bool,
    end: bool,
    add: bool,
}

impl Block<'_> {
    /// Unfinished chains wait in `c` itself.
    fn run_in(&self, c: &mut [f64], c_row: usize) {
        self.each(|tile, i, j, rows, columns| {
            let place = &mut c[i * c_row + j..];
            // SAFETY: `place` has `rows` rows of `columns` cells with this stride, the block being
            // inside `c`; what is added to is not what a chain goes on from.
            unsafe { self.tile(tile, (place.as_mut_ptr(), c_row), None, rows, columns) };
        });
    }

    /// Unfinished chains wait in `sums`.
    fn run(&self, c: &mut [f64], c_row: usize, sums: &mut [f64], sums_row: usize) {
        self.each(|tile, i, j, rows, columns| {
            let place = (c[i * c_row + j..].as_mut_ptr(), c_row);
            let wait = (sums[i * sums_row + j..].as_mut_ptr(), sums_row);
            // SAFETY: as above; `sums` has room for the rows of a block and the columns of one.
            unsafe { self.tile(tile, place, Some(wait), rows, columns) };
        });
    }

    fn each(&self, mut visit: impl FnMut(Tile, usize, usize, usize, usize)) {
        let mut b_at = 0;
        for (j, columns) in pieces(self.width, self.tiles.columns()) {
            let b_panel = columns.next_multiple_of(self.tiles.lanes);
            let mut a_at = 0;
            for (i, rows) in pieces(self.height, self.tiles.rows) {
                let a_panel = rows.next_power_of_two();
                let a = &self.a[a_at..a_at + a_panel * self.depth];
                let b = &self.b[b_at..b_at + b_panel * self.depth];
                let (a, b) = (a.as_ptr(), b.as_ptr());
                let tile = Tile { a, b, depth: self.depth, rows: a_panel, columns: b_panel };
                visit(tile, i, j, rows, columns);
                a_at += a_panel * self.depth;
            }
            b_at += b_panel * self.depth;
        }
    }

    /// One tile: reads where the chains wait, and writes there, or at the end to `c`.
    ///
    /// # Safety
    /// `c` (and `wait`) point to `rows` rows of `columns` cells with the given strides.
    unsafe fn tile(
        &self,
        tile: Tile,
        c: (*mut f64, usize),
        wait: Option<(*mut f64, usize)>,
        rows: usize,
        columns: usize,
    ) {
        let add = self.add && self.end;
        let chains = wait.unwrap_or(c);
        let target = if self.end { c } else { chains };
        if (rows, columns) == (tile.rows, tile.columns) {
            let from = (!self.begin).then_some(chains);
            // SAFETY: the panels have `depth` times as many cells as the tile is high and wide, and
            // all cells of the tile are there.
            return unsafe { self.tiles.run(&tile, from, target, add) };
        }
        // A part of a tile, by way of a whole one.
        let mut whole = [0.0; SPARE_ROWS * SPARE_COLUMNS];
        let row = tile.columns;
        // SAFETY: the rows and columns that are there, see above.
        let part = |(cells, stride): (*mut f64, usize), i: usize| unsafe {
            slice::from_raw_parts_mut(cells.add(i * stride), columns)
        };
        if !self.begin {
            for i in 0..rows {
                whole[i * row..][..columns].copy_from_slice(part(chains, i));
            }
        }
        let own = (whole.as_mut_ptr(), row);
        // SAFETY: the panels as above; a tile is at most 8 by 24.
        unsafe { self.tiles.run(&tile, (!self.begin).then_some(own), own, false) };
        for i in 0..rows {
            let source = &whole[i * row..][..columns];
            let target = part(target, i);
            match add {
                true => target.iter_mut().zip(source).for_each(|(c, x)| *c += x),
                false => target.copy_from_slice(source),
            }
        }
    }
}

/// A product, for compiled code: see [`product`].
///
/// # Safety
/// `c`, `a`, `b` and `scratch` point to as many cells as the sizes say ([`scratch`]); nothing else
/// uses `c` and `scratch` meanwhile, or writes the others.
#[cfg_attr(jut_freestanding, unsafe(no_mangle))]
pub unsafe extern "C" fn jut_matmul(
    c: *mut f64,
    a: *const f64,
    b: *const f64,
    scratch: *mut f64,
    m: i64,
    n: i64,
    k: i64,
    flags: i64,
) {
    let [rows, columns, inner] = [m, n, k].map(|size| usize::try_from(size).unwrap_or(0));
    let space = self::scratch(m, n, k, flags) as usize;
    // SAFETY: as required of the caller; buffers without cells have no address to rely on.
    let (c, a, b, scratch) = unsafe {
        (
            cells_mut(c, rows.wrapping_mul(columns)),
            cells(a, rows.wrapping_mul(inner)),
            cells(b, inner.wrapping_mul(columns)),
            cells_mut(scratch, space),
        )
    };
    product(c, a, b, scratch, [m, n, k], flags);
}

/// # Safety
/// The pointer is to that many cells, or there are none.
pub(crate) unsafe fn cells<'a>(cells: *const f64, len: usize) -> &'a [f64] {
    if len == 0 {
        return &[];
    }
    // SAFETY: as required of the caller.
    unsafe { slice::from_raw_parts(cells, len) }
}

/// # Safety
/// The pointer is to that many cells that nothing else uses, or there are none.
pub(crate) unsafe fn cells_mut<'a>(cells: *mut f64, len: usize) -> &'a mut [f64] {
    if len == 0 {
        return &mut [];
    }
    // SAFETY: as required of the caller.
    unsafe { slice::from_raw_parts_mut(cells, len) }
}

#[cfg(test)]
pub(crate) mod tests;

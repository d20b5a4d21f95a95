//! Tiles of a matrix product, in registers.
//!
//! A tile is `rows` by `columns` cells; each step of the inner index adds the product of one packed
//! column of `a` and one packed row of `b`, cell by cell by a fused multiply-add. The same program
//! is compiled for each width of vectors, and the machine is asked once which it has.

use core::sync::atomic::{AtomicU8, Ordering};

/// The operands of one tile.
pub(super) struct Tile {
    /// `depth` packed columns of `rows` cells.
    pub a: *const f64,
    /// `depth` packed rows of `columns` cells.
    pub b: *const f64,
    pub depth: usize,
    /// 1, 2, 4 or 8, at most those of [`Tiles`].
    pub rows: usize,
    /// A multiple of the lanes, at most [`Tiles::columns`].
    pub columns: usize,
}

/// Cells with a stride between rows.
type Cells = (*mut f64, usize);

/// The tiles of a machine.
pub(super) struct Tiles {
    /// Floats in a vector.
    pub lanes: usize,
    /// Rows of a tile, at most.
    pub rows: usize,
    /// Vectors in a row of a tile, at most.
    vectors: usize,
    run: unsafe fn(&Tile, Option<Cells>, Cells, bool),
}

impl Tiles {
    /// Columns of a tile, at most.
    pub fn columns(&self) -> usize {
        self.lanes * self.vectors
    }

    /// Computes a tile: the chains start from 0.0 or go on from `from`; what they come to is
    /// written to `to`, or added there.
    ///
    /// # Safety
    /// The panels have `depth` times `rows` and `columns` cells; `from` and `to` have all cells of
    /// the tile, aligned like floats; the machine has these tiles.
    pub unsafe fn run(&self, tile: &Tile, from: Option<Cells>, to: Cells, add: bool) {
        // SAFETY: as required of the caller.
        unsafe { (self.run)(tile, from, to, add) }
    }

    /// The widest tiles that the machine has.
    pub fn of_this_machine() -> &'static Tiles {
        static KNOWN: AtomicU8 = AtomicU8::new(u8::MAX);
        let known = KNOWN.load(Ordering::Relaxed);
        if let Some((_, tiles)) = TILES.get(usize::from(known)) {
            return tiles;
        }
        let best = TILES.iter().position(|(there, _)| there());
        // The last ones are everywhere.
        let best = best.unwrap_or(TILES.len() - 1);
        KNOWN.store(best as u8, Ordering::Relaxed);
        &TILES[best].1
    }

    /// All tiles that the machine has.
    #[cfg(test)]
    pub fn all() -> impl Iterator<Item = &'static Tiles> {
        TILES.iter().filter(|(there, _)| there()).map(|(_, tiles)| tiles)
    }
}

/// A kind of tiles: whether the machine has it.
type Known = (fn() -> bool, Tiles);

/// The tiles for one kind of vectors.
macro_rules! tiles {
    (
        $(#[$about:meta])* $name:ident $([$feature:literal])?, $vector:ty, lanes $lanes:literal,
        rows [$($rows:literal),*], vectors $most:literal,
        $zero:expr, $load:expr, $splat:expr, $fma:expr, $add:expr, $store:expr
    ) => {
        mod $name {
            use super::*;

            $(#[$about])*
            ///
            /// # Safety
            /// As [`Tiles::run`].
            pub unsafe fn run(tile: &Tile, from: Option<Cells>, to: Cells, add: bool) {
                // SAFETY: as required of the caller.
                unsafe {
                    match (tile.rows, tile.columns / $lanes) {
                        $(
                            ($rows, 1) => rows::<$rows, 1>(tile, from, to, add),
                            ($rows, 2) => rows::<$rows, 2>(tile, from, to, add),
                            ($rows, _) => rows::<$rows, 3>(tile, from, to, add),
                        )*
                        _ => {}
                    }
                }
            }

            $(#[target_feature(enable = $feature)])?
            unsafe fn rows<const ROWS: usize, const VECTORS: usize>(
                tile: &Tile,
                from: Option<Cells>,
                (to, to_row): Cells,
                add: bool,
            ) {
                let mut sums: [[$vector; VECTORS]; ROWS] = [[$zero; VECTORS]; ROWS];
                if let Some((from, from_row)) = from {
                    for (i, row) in sums.iter_mut().enumerate() {
                        for (j, sum) in row.iter_mut().enumerate() {
                            // SAFETY: a cell of the tile.
                            *sum = unsafe { $load(from.add(i * from_row + j * $lanes)) };
                        }
                    }
                }
                let (mut a, mut b) = (tile.a, tile.b);
                for _ in 0..tile.depth {
                    // SAFETY: the panels have `depth` columns and rows of this size.
                    unsafe {
                        let mut right = [$zero; VECTORS];
                        for (j, x) in right.iter_mut().enumerate() {
                            *x = $load(b.add(j * $lanes));
                        }
                        for (i, row) in sums.iter_mut().enumerate() {
                            let left = $splat(*a.add(i));
                            for (sum, x) in row.iter_mut().zip(right) {
                                *sum = $fma(left, x, *sum);
                            }
                        }
                        a = a.add(ROWS);
                        b = b.add(VECTORS * $lanes);
                    }
                }
                for (i, row) in sums.iter().enumerate() {
                    for (j, sum) in row.iter().enumerate() {
                        // SAFETY: a cell of the tile.
                        unsafe {
                            let place = to.add(i * to_row + j * $lanes);
                            let value = if add { $add($load(place), *sum) } else { *sum };
                            $store(place, value);
                        }
                    }
                }
            }
        }
    };
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::*;
    use core::arch::x86_64::*;

    tiles!(
        /// Vectors of 512 bits.
        wide["avx512f"], __m512d, lanes 8, rows [1, 2, 4, 8], vectors 3,
        _mm512_setzero_pd(), _mm512_loadu_pd, _mm512_set1_pd, _mm512_fmadd_pd, _mm512_add_pd,
        _mm512_storeu_pd
    );
    tiles!(
        /// Vectors of 256 bits.
        usual["avx,fma"], __m256d, lanes 4, rows [1, 2, 4], vectors 3,
        _mm256_setzero_pd(), _mm256_loadu_pd, _mm256_set1_pd, _mm256_fmadd_pd, _mm256_add_pd,
        _mm256_storeu_pd
    );

    pub const WIDE: Known = (has_wide, Tiles { lanes: 8, rows: 8, vectors: 3, run: wide::run });
    // With three vectors a step would need all sixteen registers, and compilers put one aside.
    pub const USUAL: Known = (has_usual, Tiles { lanes: 4, rows: 4, vectors: 2, run: usual::run });

    /// The processor's answer, and what the system keeps of its registers.
    fn features() -> (CpuidResult, CpuidResult, u64) {
        let first = __cpuid(1);
        let more = if __cpuid(0).eax >= 7 { __cpuid_count(7, 0) } else { __cpuid(0) };
        // SAFETY: the bit says that there is the instruction.
        let kept = if first.ecx & (1 << 27) == 0 { 0 } else { unsafe { _xgetbv(0) } };
        (first, more, kept)
    }

    fn has_usual() -> bool {
        let (first, _, kept) = features();
        let (fma, avx) = (first.ecx & (1 << 12) != 0, first.ecx & (1 << 28) != 0);
        fma && avx && kept & 0x6 == 0x6
    }

    fn has_wide() -> bool {
        let (_, more, kept) = features();
        has_usual() && __cpuid(0).eax >= 7 && more.ebx & (1 << 16) != 0 && kept & 0xe6 == 0xe6
    }
}

#[cfg(target_arch = "aarch64")]
mod arm {
    use super::*;
    use core::arch::aarch64::*;

    /// The sum comes first there.
    #[inline(always)]
    unsafe fn fma(x: float64x2_t, y: float64x2_t, sum: float64x2_t) -> float64x2_t {
        // SAFETY: every such processor has it.
        unsafe { vfmaq_f64(sum, x, y) }
    }

    tiles!(
        /// Vectors of 128 bits.
        usual["neon"], float64x2_t, lanes 2, rows [1, 2, 4, 8], vectors 3,
        vdupq_n_f64(0.0), vld1q_f64, vdupq_n_f64, fma, vaddq_f64, vst1q_f64
    );

    pub const USUAL: Known = (|| true, Tiles { lanes: 2, rows: 8, vectors: 3, run: usual::run });
}

tiles!(
    /// One float at a time, for machines without any of these.
    plain, f64, lanes 1, rows [1, 2, 4], vectors 3,
    0.0, load, core::convert::identity, libm::fma, core::ops::Add::add, store
);

unsafe fn load(place: *const f64) -> f64 {
    // SAFETY: as required of the caller.
    unsafe { *place }
}

unsafe fn store(place: *mut f64, value: f64) {
    // SAFETY: as required of the caller.
    unsafe { *place = value }
}

/// The best first.
static TILES: &[Known] = &[
    #[cfg(target_arch = "x86_64")]
    x86::WIDE,
    #[cfg(target_arch = "x86_64")]
    x86::USUAL,
    #[cfg(target_arch = "aarch64")]
    arm::USUAL,
    (|| true, Tiles { lanes: 1, rows: 4, vectors: 3, run: plain::run }),
];

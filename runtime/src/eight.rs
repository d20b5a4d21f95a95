//! Eight floats at once, for kernels: the same operations on every machine, in the vectors it has.
//!
//! A kernel is written once over [`Eight`] and compiled for each kind of vectors ([`kernels!`]); the
//! machine is asked once which it has, as for the [tiles](crate::matrix) of products of matrices.
//! Every operation works on each lane by itself and rounds once, so the bits are the same whatever
//! the vectors are.

/// Eight floats.
///
/// # Safety
/// Of all functions: the machine has these vectors; pointers are to the lanes that are read or
/// written, aligned like floats.
pub(crate) trait Eight: Copy {
    /// Whether there are registers for twelve and what is computed with them; else for six.
    const TWELVE: bool;

    /// Eight times the same.
    unsafe fn splat(x: f64) -> Self;
    /// All lanes from memory.
    unsafe fn load(from: *const f64) -> Self;
    /// The lanes `low .. high` from memory, the others 0.0. The pointer is to where lane 0 would be.
    unsafe fn load_part(from: *const f64, low: usize, high: usize) -> Self;
    /// All lanes to memory.
    unsafe fn store(self, to: *mut f64);
    /// The first lanes to memory, fewer than all.
    unsafe fn store_part(self, to: *mut f64, count: usize);
    /// Lane by lane.
    unsafe fn add(self, other: Self) -> Self;
    /// Lane by lane.
    unsafe fn mul(self, other: Self) -> Self;
    /// `self * other + sum`, rounded once.
    unsafe fn fused(self, other: Self, sum: Self) -> Self;
    /// The lanes `low .. high` of the first, the others of the second.
    unsafe fn select(low: usize, high: usize, inside: Self, outside: Self) -> Self;

    /// The lanes as floats.
    #[inline(always)]
    unsafe fn lanes(self) -> [f64; 8] {
        let mut lanes = [0.0; 8];
        // SAFETY: eight floats.
        unsafe { self.store(lanes.as_mut_ptr()) };
        lanes
    }

    /// The sum of the lanes in the order of [`crate::lanes::fold`].
    #[inline(always)]
    unsafe fn fold(self) -> f64 {
        // SAFETY: as required of the caller.
        crate::lanes::fold(unsafe { self.lanes() })
    }

    /// The first lanes to memory, or added there.
    #[inline(always)]
    unsafe fn put(self, to: *mut f64, count: usize, add: bool) {
        // SAFETY: as required of the caller.
        unsafe {
            if count >= 8 {
                let sum = if add { Self::load(to).add(self) } else { self };
                return sum.store(to);
            }
            let sum = if add { Self::load_part(to, 0, count).add(self) } else { self };
            sum.store_part(to, count);
        }
    }
}

impl Eight for [f64; 8] {
    const TWELVE: bool = false;

    #[inline(always)]
    unsafe fn splat(x: f64) -> Self {
        [x; 8]
    }

    #[inline(always)]
    unsafe fn load(from: *const f64) -> Self {
        // SAFETY: as required of the caller.
        core::array::from_fn(|k| unsafe { *from.add(k) })
    }

    #[inline(always)]
    unsafe fn load_part(from: *const f64, low: usize, high: usize) -> Self {
        core::array::from_fn(|k| match (low..high).contains(&k) {
            // SAFETY: as required of the caller; the pointer may lie in front of the buffer.
            true => unsafe { *from.wrapping_add(k) },
            false => 0.0,
        })
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut f64) {
        for (k, x) in self.into_iter().enumerate() {
            // SAFETY: as required of the caller.
            unsafe { *to.add(k) = x };
        }
    }

    #[inline(always)]
    unsafe fn store_part(self, to: *mut f64, count: usize) {
        for (k, x) in self.into_iter().enumerate().take(count) {
            // SAFETY: as required of the caller.
            unsafe { *to.add(k) = x };
        }
    }

    #[inline(always)]
    unsafe fn add(self, other: Self) -> Self {
        core::array::from_fn(|k| self[k] + other[k])
    }

    #[inline(always)]
    unsafe fn mul(self, other: Self) -> Self {
        core::array::from_fn(|k| self[k] * other[k])
    }

    #[inline(always)]
    unsafe fn fused(self, other: Self, sum: Self) -> Self {
        core::array::from_fn(|k| libm::fma(self[k], other[k], sum[k]))
    }

    #[inline(always)]
    unsafe fn select(low: usize, high: usize, inside: Self, outside: Self) -> Self {
        core::array::from_fn(|k| if (low..high).contains(&k) { inside[k] } else { outside[k] })
    }
}

#[cfg(target_arch = "x86_64")]
pub(crate) mod x86 {
    use super::Eight;
    use core::arch::x86_64::*;

    /// The bits of the lanes `low .. high`.
    #[inline(always)]
    fn mask(low: usize, high: usize) -> u8 {
        let below = |k: usize| (1u16 << k.min(8)).wrapping_sub(1);
        (below(high) & !below(low)) as u8
    }

    /// The sum of eight lanes: the upper half is added to the lower one, three times.
    ///
    /// # Safety
    /// The machine has these vectors.
    #[inline(always)]
    unsafe fn fold(low: __m256d, high: __m256d) -> f64 {
        // SAFETY: as required of the caller.
        unsafe {
            let four = _mm256_add_pd(low, high);
            let two = _mm_add_pd(_mm256_castpd256_pd128(four), _mm256_extractf128_pd::<1>(four));
            _mm_cvtsd_f64(_mm_add_sd(two, _mm_unpackhi_pd(two, two)))
        }
    }

    impl Eight for __m512d {
        const TWELVE: bool = true;

        #[inline(always)]
        unsafe fn splat(x: f64) -> Self {
            // SAFETY: the machine has it, as for all of these.
            unsafe { _mm512_set1_pd(x) }
        }

        #[inline(always)]
        unsafe fn load(from: *const f64) -> Self {
            // SAFETY: as required of the caller.
            unsafe { _mm512_loadu_pd(from) }
        }

        #[inline(always)]
        unsafe fn load_part(from: *const f64, low: usize, high: usize) -> Self {
            // SAFETY: only the lanes of the mask are read.
            unsafe { _mm512_maskz_loadu_pd(mask(low, high), from) }
        }

        #[inline(always)]
        unsafe fn store(self, to: *mut f64) {
            // SAFETY: as required of the caller.
            unsafe { _mm512_storeu_pd(to, self) }
        }

        #[inline(always)]
        unsafe fn store_part(self, to: *mut f64, count: usize) {
            // SAFETY: only the lanes of the mask are written.
            unsafe { _mm512_mask_storeu_pd(to, mask(0, count), self) }
        }

        #[inline(always)]
        unsafe fn fold(self) -> f64 {
            // SAFETY: see `splat`.
            unsafe { fold(_mm512_castpd512_pd256(self), _mm512_extractf64x4_pd::<1>(self)) }
        }

        #[inline(always)]
        unsafe fn add(self, other: Self) -> Self {
            // SAFETY: see `splat`.
            unsafe { _mm512_add_pd(self, other) }
        }

        #[inline(always)]
        unsafe fn mul(self, other: Self) -> Self {
            // SAFETY: see `splat`.
            unsafe { _mm512_mul_pd(self, other) }
        }

        #[inline(always)]
        unsafe fn fused(self, other: Self, sum: Self) -> Self {
            // SAFETY: see `splat`.
            unsafe { _mm512_fmadd_pd(self, other, sum) }
        }

        #[inline(always)]
        unsafe fn select(low: usize, high: usize, inside: Self, outside: Self) -> Self {
            // SAFETY: see `splat`.
            unsafe { _mm512_mask_blend_pd(mask(low, high), outside, inside) }
        }
    }

    /// Two vectors of 256 bits.
    #[derive(Clone, Copy)]
    pub(crate) struct Two(__m256d, __m256d);

    impl Two {
        /// All bits of the lanes `low .. high`.
        ///
        /// # Safety
        /// The machine has these vectors.
        #[inline(always)]
        unsafe fn mask(low: usize, high: usize) -> [__m256d; 2] {
            // SAFETY: as required of the caller.
            unsafe {
                let (low, high) = (_mm256_set1_pd(low as f64), _mm256_set1_pd(high as f64));
                let lanes =
                    [_mm256_setr_pd(0.0, 1.0, 2.0, 3.0), _mm256_setr_pd(4.0, 5.0, 6.0, 7.0)];
                lanes.map(|lane| {
                    let from = _mm256_cmp_pd::<_CMP_GE_OQ>(lane, low);
                    _mm256_and_pd(from, _mm256_cmp_pd::<_CMP_LT_OQ>(lane, high))
                })
            }
        }
    }

    impl Eight for Two {
        const TWELVE: bool = false;

        #[inline(always)]
        unsafe fn splat(x: f64) -> Self {
            // SAFETY: the machine has it, as for all of these.
            unsafe { Two(_mm256_set1_pd(x), _mm256_set1_pd(x)) }
        }

        #[inline(always)]
        unsafe fn load(from: *const f64) -> Self {
            // SAFETY: as required of the caller.
            unsafe { Two(_mm256_loadu_pd(from), _mm256_loadu_pd(from.add(4))) }
        }

        #[inline(always)]
        unsafe fn load_part(from: *const f64, low: usize, high: usize) -> Self {
            // SAFETY: only the lanes of the masks are read.
            unsafe {
                let [a, b] = Two::mask(low, high);
                Two(
                    _mm256_maskload_pd(from, _mm256_castpd_si256(a)),
                    _mm256_maskload_pd(from.wrapping_add(4), _mm256_castpd_si256(b)),
                )
            }
        }

        #[inline(always)]
        unsafe fn store(self, to: *mut f64) {
            // SAFETY: as required of the caller.
            unsafe {
                _mm256_storeu_pd(to, self.0);
                _mm256_storeu_pd(to.add(4), self.1);
            }
        }

        #[inline(always)]
        unsafe fn store_part(self, to: *mut f64, count: usize) {
            // SAFETY: only the lanes of the masks are written.
            unsafe {
                let [a, b] = Two::mask(0, count);
                _mm256_maskstore_pd(to, _mm256_castpd_si256(a), self.0);
                _mm256_maskstore_pd(to.wrapping_add(4), _mm256_castpd_si256(b), self.1);
            }
        }

        #[inline(always)]
        unsafe fn fold(self) -> f64 {
            // SAFETY: see `splat`.
            unsafe { fold(self.0, self.1) }
        }

        #[inline(always)]
        unsafe fn add(self, other: Self) -> Self {
            // SAFETY: see `splat`.
            unsafe { Two(_mm256_add_pd(self.0, other.0), _mm256_add_pd(self.1, other.1)) }
        }

        #[inline(always)]
        unsafe fn mul(self, other: Self) -> Self {
            // SAFETY: see `splat`.
            unsafe { Two(_mm256_mul_pd(self.0, other.0), _mm256_mul_pd(self.1, other.1)) }
        }

        #[inline(always)]
        unsafe fn fused(self, other: Self, sum: Self) -> Self {
            // SAFETY: see `splat`.
            unsafe {
                Two(
                    _mm256_fmadd_pd(self.0, other.0, sum.0),
                    _mm256_fmadd_pd(self.1, other.1, sum.1),
                )
            }
        }

        #[inline(always)]
        unsafe fn select(low: usize, high: usize, inside: Self, outside: Self) -> Self {
            // SAFETY: see `splat`.
            unsafe {
                let [a, b] = Two::mask(low, high);
                Two(
                    _mm256_blendv_pd(outside.0, inside.0, a),
                    _mm256_blendv_pd(outside.1, inside.1, b),
                )
            }
        }
    }
}

#[cfg(target_arch = "aarch64")]
pub(crate) mod arm {
    use super::Eight;
    use core::arch::aarch64::*;
    use core::array::from_fn;

    /// Four vectors of 128 bits.
    #[derive(Clone, Copy)]
    pub(crate) struct Four([float64x2_t; 4]);

    impl Eight for Four {
        const TWELVE: bool = false;

        #[inline(always)]
        unsafe fn splat(x: f64) -> Self {
            // SAFETY: every such processor has it, as for all of these.
            unsafe { Four([vdupq_n_f64(x); 4]) }
        }

        #[inline(always)]
        unsafe fn load(from: *const f64) -> Self {
            // SAFETY: as required of the caller.
            Four(from_fn(|k| unsafe { vld1q_f64(from.add(2 * k)) }))
        }

        #[inline(always)]
        unsafe fn load_part(from: *const f64, low: usize, high: usize) -> Self {
            // SAFETY: as required of the caller.
            unsafe { Self::load(<[f64; 8]>::load_part(from, low, high).as_ptr()) }
        }

        #[inline(always)]
        unsafe fn store(self, to: *mut f64) {
            for (k, x) in self.0.into_iter().enumerate() {
                // SAFETY: as required of the caller.
                unsafe { vst1q_f64(to.add(2 * k), x) };
            }
        }

        #[inline(always)]
        unsafe fn store_part(self, to: *mut f64, count: usize) {
            // SAFETY: as required of the caller.
            unsafe { self.lanes().store_part(to, count) };
        }

        #[inline(always)]
        unsafe fn add(self, other: Self) -> Self {
            // SAFETY: see `splat`.
            Four(from_fn(|k| unsafe { vaddq_f64(self.0[k], other.0[k]) }))
        }

        #[inline(always)]
        unsafe fn mul(self, other: Self) -> Self {
            // SAFETY: see `splat`.
            Four(from_fn(|k| unsafe { vmulq_f64(self.0[k], other.0[k]) }))
        }

        #[inline(always)]
        unsafe fn fused(self, other: Self, sum: Self) -> Self {
            // SAFETY: see `splat`.
            Four(from_fn(|k| unsafe { vfmaq_f64(sum.0[k], self.0[k], other.0[k]) }))
        }

        #[inline(always)]
        unsafe fn select(low: usize, high: usize, inside: Self, outside: Self) -> Self {
            // SAFETY: arrays of eight floats.
            unsafe {
                let lanes = <[f64; 8]>::select(low, high, inside.lanes(), outside.lanes());
                Self::load(lanes.as_ptr())
            }
        }
    }
}

/// Vectors of neighbouring cells at a time, at most.
pub(crate) const VECTORS: usize = 3;

/// How many of so many rows (or channels) share what is loaded.
#[inline(always)]
pub(crate) fn together(left: usize) -> usize {
    match left {
        4.. => 4,
        2.. => 2,
        _ => 1,
    }
}

/// Sums at a time for each of so many rows, at most.
#[inline(always)]
pub(crate) fn most<E: Eight>(rows: usize) -> usize {
    match rows {
        4 if !E::TWELVE => 1,
        _ => VECTORS,
    }
}

/// Calls a function for so many rows and vectors, with a copy for each number.
macro_rules! tile {
    ($function:ident, $rows:expr, $vectors:expr, ($($arg:expr),*)) => {
        match ($rows, $vectors) {
            (4, 1) => $function::<E, 4, 1>($($arg),*),
            (4, 2) => $function::<E, 4, 2>($($arg),*),
            (4, _) => $function::<E, 4, 3>($($arg),*),
            (2, 1) => $function::<E, 2, 1>($($arg),*),
            (2, 2) => $function::<E, 2, 2>($($arg),*),
            (2, _) => $function::<E, 2, 3>($($arg),*),
            (_, 1) => $function::<E, 1, 1>($($arg),*),
            (_, 2) => $function::<E, 1, 2>($($arg),*),
            _ => $function::<E, 1, 3>($($arg),*),
        }
    };
}
pub(crate) use tile;

/// Compiles the function `body` for each kind of vectors, and makes one that takes the best that the
/// machine has; `all` is the list of all that it has.
macro_rules! kernels {
    ($(
        $(#[$about:meta])*
        $name:ident = $body:ident($($arg:ident: $ty:ty),* $(,)?);
    )*) => {
        $(pub(crate) mod $name {
            use super::*;

            /// # Safety
            /// As of the body; the machine has the vectors.
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx512f")]
            unsafe fn wide($($arg: $ty),*) {
                // SAFETY: as required of the caller.
                unsafe { $body::<core::arch::x86_64::__m512d>($($arg),*) }
            }

            /// # Safety
            /// As of the body; the machine has the vectors.
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx,fma")]
            unsafe fn usual($($arg: $ty),*) {
                // SAFETY: as required of the caller.
                unsafe { $body::<$crate::eight::x86::Two>($($arg),*) }
            }

            /// # Safety
            /// As of the body.
            #[cfg(target_arch = "aarch64")]
            unsafe fn usual($($arg: $ty),*) {
                // SAFETY: as required of the caller.
                unsafe { $body::<$crate::eight::arm::Four>($($arg),*) }
            }

            /// # Safety
            /// As of the body.
            unsafe fn plain($($arg: $ty),*) {
                // SAFETY: as required of the caller.
                unsafe { $body::<[f64; 8]>($($arg),*) }
            }

            type Run = unsafe fn($($ty),*);

            /// The one for a number of floats in a vector.
            fn of(lanes: usize) -> Run {
                match lanes {
                    #[cfg(target_arch = "x86_64")]
                    8 => wide,
                    #[cfg(target_arch = "x86_64")]
                    4 => usual,
                    #[cfg(target_arch = "aarch64")]
                    2 => usual,
                    _ => plain,
                }
            }

            $(#[$about])*
            ///
            /// # Safety
            /// As of the body.
            pub(crate) unsafe fn run($($arg: $ty),*) {
                let run = of($crate::matrix::vector_lanes());
                // SAFETY: the machine has these vectors; the rest is as required of the caller.
                unsafe { run($($arg),*) }
            }

            /// With each kind of vectors that the machine has.
            #[cfg(test)]
            pub(crate) fn all() -> impl Iterator<Item = Run> {
                $crate::matrix::all_vector_lanes().map(of)
            }
        })*
    };
}
pub(crate) use kernels;

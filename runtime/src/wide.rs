//! Mathematical functions of several arguments at once, for engines whose code computes in vectors.
//!
//! Each has the bits of its function of one argument ([`crate::math::straight`]), and is compiled for
//! the vector registers of several processors; which one is used is decided when code is loaded.
//! Arguments and results are in memory, so the calling convention is the same everywhere.

use crate::math::{pairs, straight};

/// A function of several arguments.
#[derive(Clone, Copy, Debug)]
pub struct Form {
    /// The symbol of the function of one argument, or of one pair.
    pub scalar: &'static str,
    /// How many arguments a result has: one or two.
    pub params: usize,
    /// The symbol of this one: `void f(const double *x, double *y, uint64_t n)`, or `void f(const double *x, const double *y, double *z, uint64_t n)`.
    pub symbol: &'static str,
    /// Where the one for this processor lies.
    pub address: fn() -> *const u8,
    /// The symbol of the one that puts results in place of arguments, of the first if there are two:
    /// `void f(double *x, uint64_t n)`, or `void f(double *x, const double *y, uint64_t n)`.
    pub symbol_in_place: &'static str,
    /// Where that one lies.
    pub address_in_place: fn() -> *const u8,
}

/// The function of several arguments that goes with one of one argument.
pub fn form(scalar: &str) -> Option<&'static Form> {
    FORMS.iter().find(|form| form.scalar == scalar)
}

/// A function compiled for several processors, from a body of that name in the same module, and which
/// of them is used.
macro_rules! processors {
    ($place:ident $symbol:literal $body:ident($($arg:ident: $ty:ty),*)) => {
        pub(super) mod $place {
            use super::$body;

            /// # Safety
            /// As the body.
            #[cfg_attr(jut_freestanding, unsafe(export_name = $symbol))]
            unsafe extern "C" fn usual($($arg: $ty),*) {
                // SAFETY: as required of the caller.
                unsafe { $body($($arg),*) }
            }

            /// # Safety
            /// As the body.
            #[cfg(all(target_arch = "x86_64", not(jut_freestanding)))]
            #[target_feature(enable = "avx2")]
            unsafe extern "C" fn avx2($($arg: $ty),*) {
                // SAFETY: as required of the caller.
                unsafe { $body($($arg),*) }
            }

            /// # Safety
            /// As the body.
            #[cfg(all(target_arch = "x86_64", not(jut_freestanding)))]
            #[target_feature(enable = "avx512f,avx512dq,avx512bw,avx512vl")]
            unsafe extern "C" fn avx512($($arg: $ty),*) {
                // SAFETY: as required of the caller.
                unsafe { $body($($arg),*) }
            }

            pub fn address() -> *const u8 {
                #[cfg(all(target_arch = "x86_64", not(jut_freestanding)))]
                {
                    if is_x86_feature_detected!("avx512dq")
                        && is_x86_feature_detected!("avx512bw")
                        && is_x86_feature_detected!("avx512vl")
                    {
                        return avx512 as *const u8;
                    }
                    if is_x86_feature_detected!("avx2") {
                        return avx2 as *const u8;
                    }
                }
                usual as *const u8
            }
        }
    };
}

macro_rules! forms {
    (
        $($scalar:literal $symbol:literal $symbol_in_place:literal $name:ident;)*
        of pairs $($pair:literal $pair_symbol:literal $pair_in_place:literal $of:ident $pair_of:ident;)*
    ) => {
        $(mod $name {
            use super::straight;
            use core::slice;

            /// # Safety
            /// Both point to `n` floats, which do not overlap.
            #[inline(always)]
            unsafe fn apart(x: *const f64, y: *mut f64, n: u64) {
                // SAFETY: as required of the caller.
                let (x, y) = unsafe {
                    (slice::from_raw_parts(x, n as usize), slice::from_raw_parts_mut(y, n as usize))
                };
                straight::many::<straight::functions::$name>(x, y);
            }

            /// # Safety
            /// It points to `n` floats.
            #[inline(always)]
            unsafe fn replace(x: *mut f64, n: u64) {
                // SAFETY: as required of the caller.
                let x = unsafe { slice::from_raw_parts_mut(x, n as usize) };
                straight::in_place::<straight::functions::$name>(x);
            }

            processors!(other $symbol apart(x: *const f64, y: *mut f64, n: u64));
            processors!(same $symbol_in_place replace(x: *mut f64, n: u64));
        })*

        $(mod $of {
            use super::pairs;
            use core::slice;

            /// # Safety
            /// All point to `n` floats; the last ones overlap with none of the others.
            #[inline(always)]
            unsafe fn apart(x: *const f64, y: *const f64, z: *mut f64, n: u64) {
                // SAFETY: as required of the caller.
                unsafe {
                    core::ptr::copy_nonoverlapping(x, z, n as usize);
                    replace(z, y, n);
                }
            }

            /// # Safety
            /// Both point to `n` floats, which do not overlap.
            #[inline(always)]
            unsafe fn replace(x: *mut f64, y: *const f64, n: u64) {
                // SAFETY: as required of the caller.
                let (x, y) = unsafe {
                    (slice::from_raw_parts_mut(x, n as usize), slice::from_raw_parts(y, n as usize))
                };
                pairs::in_place::<pairs::$pair_of>(x, y);
            }

            processors!(other $pair_symbol apart(x: *const f64, y: *const f64, z: *mut f64, n: u64));
            processors!(same $pair_in_place replace(x: *mut f64, y: *const f64, n: u64));
        })*

        /// All of them.
        pub static FORMS: &[Form] = &[
            $(Form {
                scalar: $scalar,
                params: 1,
                symbol: $symbol,
                address: $name::other::address,
                symbol_in_place: $symbol_in_place,
                address_in_place: $name::same::address,
            },)*
            $(Form {
                scalar: $pair,
                params: 2,
                symbol: $pair_symbol,
                address: $of::other::address,
                symbol_in_place: $pair_in_place,
                address_in_place: $of::same::address,
            }),*
        ];
    };
}

forms! {
    "jut_exp" "jut_exp_n" "jut_exp_all" exp;
    "jut_log" "jut_log_n" "jut_log_all" log;
    "jut_log1p" "jut_log1p_n" "jut_log1p_all" log1p;
    "jut_sin" "jut_sin_n" "jut_sin_all" sin;
    "jut_cos" "jut_cos_n" "jut_cos_all" cos;
    "jut_tanh" "jut_tanh_n" "jut_tanh_all" tanh;
    "jut_sigmoid" "jut_sigmoid_n" "jut_sigmoid_all" sigmoid;
    "jut_sigmoid_slope" "jut_sigmoid_slope_n" "jut_sigmoid_slope_all" sigmoid_slope;
    "jut_softplus" "jut_softplus_n" "jut_softplus_all" softplus;
    "jut_expm1" "jut_expm1_n" "jut_expm1_all" expm1;
    "jut_erf" "jut_erf_n" "jut_erf_all" erf;
    "jut_erfc" "jut_erfc_n" "jut_erfc_all" erfc;
    "jut_atan" "jut_atan_n" "jut_atan_all" atan;
    "jut_tan" "jut_tan_n" "jut_tan_all" tan;
    "jut_asin" "jut_asin_n" "jut_asin_all" asin;
    "jut_acos" "jut_acos_n" "jut_acos_all" acos;
    "jut_cbrt" "jut_cbrt_n" "jut_cbrt_all" cbrt;
    "jut_sinh" "jut_sinh_n" "jut_sinh_all" sinh;
    "jut_cosh" "jut_cosh_n" "jut_cosh_all" cosh;
    "jut_log2" "jut_log2_n" "jut_log2_all" log2;
    "jut_log10" "jut_log10_n" "jut_log10_all" log10;
    "jut_exp2" "jut_exp2_n" "jut_exp2_all" exp2;
    "jut_lgamma" "jut_lgamma_n" "jut_lgamma_all" lgamma;
    "jut_digamma" "jut_digamma_n" "jut_digamma_all" digamma;
    "jut_asinh" "jut_asinh_n" "jut_asinh_all" asinh;
    "jut_acosh" "jut_acosh_n" "jut_acosh_all" acosh;
    "jut_atanh" "jut_atanh_n" "jut_atanh_all" atanh;
    of pairs
    "jut_pow" "jut_pow_n" "jut_pow_all" pow Pow;
    "jut_atan2" "jut_atan2_n" "jut_atan2_all" atan2 Atan2;
    "jut_hypot" "jut_hypot_n" "jut_hypot_all" hypot Hypot;
    "jut_logaddexp" "jut_logaddexp_n" "jut_logaddexp_all" logaddexp Logaddexp;
}

mod both {
    use super::straight;
    use core::slice;

    /// # Safety
    /// Both point to `n` floats, which do not overlap.
    #[inline(always)]
    unsafe fn replace(x: *mut f64, y: *mut f64, n: u64) {
        // SAFETY: as required of the caller.
        let (x, y) = unsafe {
            (slice::from_raw_parts_mut(x, n as usize), slice::from_raw_parts_mut(y, n as usize))
        };
        straight::sines_and_cosines(x, y);
    }

    processors!(same "jut_sin_cos_all" replace(x: *mut f64, y: *mut f64, n: u64));
}

/// The symbol of `void f(double *x, double *y, uint64_t n)`, which puts sines in place of arguments, and their cosines beside them.
pub const SIN_COS: &str = "jut_sin_cos_all";

/// Where that one lies.
pub fn sin_cos() -> *const u8 {
    both::same::address()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::symbols::{Math, math};

    #[test]
    fn every_form_has_the_bits_of_its_function_on_this_processor() {
        let xs = [0.0, -0.0, 1.5, -2.25, 700.0, 1e-9, 3.0e4, f64::NAN, f64::INFINITY, -1e300];
        for form in FORMS.iter().filter(|form| form.params == 1) {
            let Some(Math::Unary(scalar)) = math(form.scalar) else { panic!("{}", form.scalar) };
            // SAFETY: the address is that of a function of this type.
            let wide: unsafe extern "C" fn(*const f64, *mut f64, u64) =
                unsafe { core::mem::transmute((form.address)()) };
            for start in 0..xs.len() {
                let x: [f64; 8] = core::array::from_fn(|k| xs[(start + k) % xs.len()] * 0.75);
                let mut y = [0.0; 8];
                // SAFETY: both are eight floats.
                unsafe { wide(x.as_ptr(), y.as_mut_ptr(), 8) };
                // SAFETY: the address is that of a function of this type.
                let in_place: unsafe extern "C" fn(*mut f64, u64) =
                    unsafe { core::mem::transmute((form.address_in_place)()) };
                let mut z = x;
                // SAFETY: it is eight floats.
                unsafe { in_place(z.as_mut_ptr(), 8) };
                assert_eq!(
                    y.map(crate::math::bits),
                    z.map(crate::math::bits),
                    "{}",
                    form.symbol_in_place
                );
                for (x, y) in x.into_iter().zip(y) {
                    let want = scalar(x);
                    assert!(crate::math::same(y, want), "{}({x:e}) = {y:e}, {want:e}", form.symbol);
                }
            }
        }
    }

    #[test]
    fn every_form_has_the_bits_of_its_function_for_any_number_of_arguments() {
        let numbers = |len: usize, from: f64| -> Vec<f64> {
            (0..len).map(|k| (from + k as f64 * 0.37) % 2.0 - 0.5).collect()
        };
        for (form, len) in FORMS.iter().flat_map(|form| (0..20).map(move |len| (form, len))) {
            let (x, y) = (numbers(len, 0.3), numbers(len, 1.1));
            let (mut apart, mut same) = (vec![7.0; len], x.clone());
            let (wide, in_place) = ((form.address)(), (form.address_in_place)());
            let want: Vec<f64> = match math(form.scalar) {
                Some(Math::Unary(f)) => {
                    // SAFETY: these are the types of functions of one argument, and all are as long as is said.
                    unsafe {
                        let wide: unsafe extern "C" fn(*const f64, *mut f64, u64) =
                            core::mem::transmute(wide);
                        wide(x.as_ptr(), apart.as_mut_ptr(), len as u64);
                        let in_place: unsafe extern "C" fn(*mut f64, u64) =
                            core::mem::transmute(in_place);
                        in_place(same.as_mut_ptr(), len as u64);
                    }
                    x.iter().map(|x| f(*x)).collect()
                }
                Some(Math::Binary(f)) => {
                    // SAFETY: as above, of pairs.
                    unsafe {
                        let wide: unsafe extern "C" fn(*const f64, *const f64, *mut f64, u64) =
                            core::mem::transmute(wide);
                        wide(x.as_ptr(), y.as_ptr(), apart.as_mut_ptr(), len as u64);
                        let in_place: unsafe extern "C" fn(*mut f64, *const f64, u64) =
                            core::mem::transmute(in_place);
                        in_place(same.as_mut_ptr(), y.as_ptr(), len as u64);
                    }
                    x.iter().zip(&y).map(|(x, y)| f(*x, *y)).collect()
                }
                _ => panic!("{}", form.scalar),
            };
            for found in [apart, same] {
                let equal = found.iter().zip(&want).all(|(a, b)| crate::math::same(*a, *b));
                assert!(equal, "{} of {len}: {found:?}, {want:?}", form.symbol);
            }
        }
    }

    #[test]
    fn sines_and_cosines_have_the_bits_of_each_alone_on_this_processor() {
        // SAFETY: the address is that of a function of this type.
        let both: unsafe extern "C" fn(*mut f64, *mut f64, u64) =
            unsafe { core::mem::transmute(sin_cos()) };
        let special = [0.0, -0.0, 1e-9, 3.0e4, f64::NAN, f64::INFINITY, -1e300, 0.785, 1e5];
        for n in 0..40 {
            for place in 0..=n {
                let mut args: Vec<f64> = (0..n).map(|k| f64::from(k) * 0.7 - 9.0).collect();
                if let Some(arg) = args.get_mut(place as usize) {
                    *arg = special[(n + place) as usize % special.len()];
                }
                let (mut sines, mut cosines) = (args.clone(), vec![7.0; args.len()]);
                // SAFETY: both are as long as is said.
                unsafe { both(sines.as_mut_ptr(), cosines.as_mut_ptr(), args.len() as u64) };
                for ((x, sin), cos) in args.iter().zip(sines).zip(cosines) {
                    let [want_sin, want_cos] = [crate::math::sin(*x), crate::math::cos(*x)];
                    let ok = crate::math::same(sin, want_sin) && crate::math::same(cos, want_cos);
                    assert!(ok, "{x:e}: {sin:e} {cos:e}, {want_sin:e} {want_cos:e}");
                }
            }
        }
    }

    #[test]
    fn every_form_of_pairs_has_the_bits_of_its_function_on_this_processor() {
        let xs =
            [0.0, -0.0, 1.5, 2.25, 700.0, 1e-9, 3.0e4, f64::NAN, f64::INFINITY, -1e300, 0.7, 12.0];
        for form in FORMS.iter().filter(|form| form.params == 2) {
            let Some(Math::Binary(scalar)) = math(form.scalar) else { panic!("{}", form.scalar) };
            // SAFETY: the address is that of a function of this type.
            let wide: unsafe extern "C" fn(*const f64, *const f64, *mut f64, u64) =
                unsafe { core::mem::transmute((form.address)()) };
            // SAFETY: as above.
            let in_place: unsafe extern "C" fn(*mut f64, *const f64, u64) =
                unsafe { core::mem::transmute((form.address_in_place)()) };
            for (start, far) in
                (0..xs.len()).flat_map(|start| (0..xs.len()).map(move |far| (start, far)))
            {
                let x: [f64; 11] = core::array::from_fn(|k| xs[(start + k) % xs.len()]);
                let y: [f64; 11] = core::array::from_fn(|k| xs[(start + far * k) % xs.len()] * 0.3);
                let (mut apart, mut same) = ([0.0; 11], x);
                // SAFETY: all are eleven floats.
                unsafe { wide(x.as_ptr(), y.as_ptr(), apart.as_mut_ptr(), 11) };
                // SAFETY: as above.
                unsafe { in_place(same.as_mut_ptr(), y.as_ptr(), 11) };
                for k in 0..11 {
                    let want = scalar(x[k], y[k]);
                    let ok = crate::math::same(apart[k], want) && crate::math::same(same[k], want);
                    assert!(
                        ok,
                        "{}({:e}, {:e}): {:e}, {:e}, {want:e}",
                        form.scalar, x[k], y[k], apart[k], same[k]
                    );
                }
            }
        }
    }
}

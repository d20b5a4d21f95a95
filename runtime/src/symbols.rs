//! The runtime by name: what a program compiled in memory is linked with.
//!
//! A mathematical function takes one, two or three floats (or a float and an integer, in either order) by
//! value and returns a float; its type says which. The other functions belong to the
//! [workspace](crate::workspace).

use crate::conv::{jut_conv, jut_conv_input, jut_conv_kernel};
use crate::math;
use crate::matrix::jut_matmul;
use crate::print::{jut_print, jut_print_float};
use crate::triangular::{jut_cholesky, jut_cholesky_linear, jut_triangular_solve};
use crate::vectors::{jut_dot, jut_matvec, jut_outer};
use crate::wide;
use crate::workspace::{
    jut_alloc_tape, jut_alloc_temp, jut_copy, jut_fill_bytes, jut_fill_halves, jut_fill_words,
    jut_mark, jut_release, jut_release_tape,
};

/// A mathematical function as compiled code calls it.
#[derive(Clone, Copy, Debug)]
pub enum Math {
    /// Of one float.
    Unary(extern "C" fn(f64) -> f64),
    /// Of two floats.
    Binary(extern "C" fn(f64, f64) -> f64),
    /// Of three floats.
    Ternary(extern "C" fn(f64, f64, f64) -> f64),
    /// Of a float and an integer.
    Integer(extern "C" fn(f64, i64) -> f64),
    /// Of an integer and a float.
    Order(extern "C" fn(i64, f64) -> f64),
}

impl Math {
    /// Where it lies.
    pub fn address(self) -> *const u8 {
        match self {
            Math::Unary(f) => f as *const u8,
            Math::Binary(f) => f as *const u8,
            Math::Ternary(f) => f as *const u8,
            Math::Integer(f) => f as *const u8,
            Math::Order(f) => f as *const u8,
        }
    }
}

/// For each function of [`math`] one that compiled code can call, and all of them by symbol. In the
/// static library the functions go by their symbols; in a Rust program they have no name outside.
macro_rules! functions {
    ($($symbol:literal $kind:ident $name:ident ($($arg:ident: $ty:ty),*);)*) => {
        $(
            #[cfg_attr(jut_freestanding, unsafe(export_name = $symbol))]
            extern "C" fn $name($($arg: $ty),*) -> f64 {
                math::$name($($arg),*)
            }
        )*

        /// The mathematical functions.
        pub static MATH: &[(&str, Math)] = &[$(($symbol, Math::$kind($name))),*];
    };
}

functions! {
    "jut_exp" Unary exp(x: f64);
    "jut_exp2" Unary exp2(x: f64);
    "jut_expm1" Unary expm1(x: f64);
    "jut_log" Unary log(x: f64);
    "jut_log2" Unary log2(x: f64);
    "jut_log10" Unary log10(x: f64);
    "jut_log1p" Unary log1p(x: f64);
    "jut_cbrt" Unary cbrt(x: f64);
    "jut_hypot" Binary hypot(x: f64, y: f64);
    "jut_fmod" Binary fmod(x: f64, y: f64);
    "jut_fma" Ternary fma(x: f64, y: f64, z: f64);
    "jut_pow" Binary pow(x: f64, y: f64);
    "jut_powi" Integer powi(x: f64, n: i64);
    "jut_sin" Unary sin(x: f64);
    "jut_cos" Unary cos(x: f64);
    "jut_tan" Unary tan(x: f64);
    "jut_asin" Unary asin(x: f64);
    "jut_acos" Unary acos(x: f64);
    "jut_atan" Unary atan(x: f64);
    "jut_atan2" Binary atan2(y: f64, x: f64);
    "jut_sinh" Unary sinh(x: f64);
    "jut_cosh" Unary cosh(x: f64);
    "jut_tanh" Unary tanh(x: f64);
    "jut_asinh" Unary asinh(x: f64);
    "jut_acosh" Unary acosh(x: f64);
    "jut_atanh" Unary atanh(x: f64);
    "jut_erf" Unary erf(x: f64);
    "jut_erfc" Unary erfc(x: f64);
    "jut_erfinv" Unary erfinv(x: f64);
    "jut_gamma" Unary gamma(x: f64);
    "jut_lgamma" Unary lgamma(x: f64);
    "jut_digamma" Unary digamma(x: f64);
    "jut_polygamma" Order polygamma(k: i64, x: f64);
    "jut_beta" Binary beta(x: f64, y: f64);
    "jut_floor" Unary floor(x: f64);
    "jut_ceil" Unary ceil(x: f64);
    "jut_trunc" Unary trunc(x: f64);
    "jut_sigmoid" Unary sigmoid(x: f64);
    "jut_sigmoid_slope" Unary sigmoid_slope(x: f64);
    "jut_gaussian" Unary gaussian(x: f64);
    "jut_softplus" Unary softplus(x: f64);
    "jut_logaddexp" Binary logaddexp(x: f64, y: f64);
}

/// Sine, and cosine into memory.
///
/// # Safety
/// The memory is that of a float.
#[cfg_attr(jut_freestanding, unsafe(export_name = "jut_sin_cos"))]
unsafe extern "C" fn jut_sin_cos(x: f64, cos: *mut f64) -> f64 {
    let (s, c) = math::sin_cos(x);
    // SAFETY: as required of the caller.
    unsafe { cos.write(c) };
    s
}

/// The mathematical function of a name.
pub fn math(name: &str) -> Option<Math> {
    MATH.iter().find(|(symbol, _)| *symbol == name).map(|(_, function)| *function)
}

/// A function's name, and where it lies.
type Named = (&'static str, fn() -> *const u8);

/// What works on memory and on arrays, by name.
static MEMORY: &[Named] = &[
    ("jut_alloc_temp", || jut_alloc_temp as *const u8),
    ("jut_alloc_tape", || jut_alloc_tape as *const u8),
    ("jut_mark", || jut_mark as *const u8),
    ("jut_release", || jut_release as *const u8),
    ("jut_release_tape", || jut_release_tape as *const u8),
    ("jut_fill_words", || jut_fill_words as *const u8),
    ("jut_fill_halves", || jut_fill_halves as *const u8),
    ("jut_fill_bytes", || jut_fill_bytes as *const u8),
    ("jut_copy", || jut_copy as *const u8),
    ("jut_matmul", || jut_matmul as *const u8),
    ("jut_matvec", || jut_matvec as *const u8),
    ("jut_outer", || jut_outer as *const u8),
    ("jut_dot", || jut_dot as *const u8),
    ("jut_conv", || jut_conv as *const u8),
    ("jut_conv_input", || jut_conv_input as *const u8),
    ("jut_conv_kernel", || jut_conv_kernel as *const u8),
    ("jut_print", || jut_print as *const u8),
    ("jut_print_float", || jut_print_float as *const u8),
    ("jut_triangular_solve", || jut_triangular_solve as *const u8),
    ("jut_cholesky", || jut_cholesky as *const u8),
    ("jut_cholesky_linear", || jut_cholesky_linear as *const u8),
    ("jut_sin_cos", || jut_sin_cos as *const u8),
    (wide::SIN_COS, wide::sin_cos),
    #[cfg(not(jut_freestanding))]
    ("jut_foreign", || crate::foreign::jut_foreign as *const u8),
    #[cfg(not(jut_freestanding))]
    ("jut_shares", || crate::shares::jut_shares as *const u8),
];

/// Where the function of a name lies.
pub fn address(name: &str) -> Option<*const u8> {
    all().find(|(symbol, _)| *symbol == name).map(|(_, address)| address)
}

/// All functions that compiled code may call: name and place.
pub fn all() -> impl Iterator<Item = (&'static str, *const u8)> {
    let memory = MEMORY.iter().map(|(name, address)| (*name, address()));
    let wide = wide::FORMS.iter().flat_map(|form| {
        [(form.symbol, (form.address)()), (form.symbol_in_place, (form.address_in_place)())]
    });
    memory.chain(wide).chain(MATH.iter().map(|(name, function)| (*name, function.address())))
}

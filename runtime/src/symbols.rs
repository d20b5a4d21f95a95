//! The runtime by name: what a program compiled in memory is linked with.
//!
//! A mathematical function takes one or two floats (or a float and an integer, or nothing) by value
//! and returns a float; its type says which. The other functions belong to the
//! [workspace](crate::workspace).

use crate::math;
use crate::workspace::{
    jut_alloc_tape, jut_alloc_temp, jut_copy, jut_fill_bytes, jut_fill_words, jut_mark,
    jut_release, jut_release_tape,
};

/// A mathematical function as compiled code calls it.
#[derive(Clone, Copy, Debug)]
pub enum Math {
    /// A constant.
    Nullary(extern "C" fn() -> f64),
    /// Of one float.
    Unary(extern "C" fn(f64) -> f64),
    /// Of two floats.
    Binary(extern "C" fn(f64, f64) -> f64),
    /// Of a float and an integer.
    Integer(extern "C" fn(f64, i64) -> f64),
}

impl Math {
    /// Where it lies.
    pub fn address(self) -> *const u8 {
        match self {
            Math::Nullary(f) => f as *const u8,
            Math::Unary(f) => f as *const u8,
            Math::Binary(f) => f as *const u8,
            Math::Integer(f) => f as *const u8,
        }
    }
}

extern "C" fn sign(x: f64) -> f64 {
    math::sign(x)
}
extern "C" fn exp(x: f64) -> f64 {
    math::exp(x)
}
extern "C" fn expm1(x: f64) -> f64 {
    math::expm1(x)
}
extern "C" fn log(x: f64) -> f64 {
    math::log(x)
}
extern "C" fn log1p(x: f64) -> f64 {
    math::log1p(x)
}
extern "C" fn sin(x: f64) -> f64 {
    math::sin(x)
}
extern "C" fn cos(x: f64) -> f64 {
    math::cos(x)
}
extern "C" fn tan(x: f64) -> f64 {
    math::tan(x)
}
extern "C" fn tanh(x: f64) -> f64 {
    math::tanh(x)
}
extern "C" fn asin(x: f64) -> f64 {
    math::asin(x)
}
extern "C" fn acos(x: f64) -> f64 {
    math::acos(x)
}
extern "C" fn atan(x: f64) -> f64 {
    math::atan(x)
}
extern "C" fn sinh(x: f64) -> f64 {
    math::sinh(x)
}
extern "C" fn cosh(x: f64) -> f64 {
    math::cosh(x)
}
extern "C" fn round(x: f64) -> f64 {
    math::round(x)
}
extern "C" fn hypot(x: f64, y: f64) -> f64 {
    math::hypot(x, y)
}
extern "C" fn floor(x: f64) -> f64 {
    x.floor()
}
extern "C" fn ceil(x: f64) -> f64 {
    x.ceil()
}
extern "C" fn trunc(x: f64) -> f64 {
    x.trunc()
}
extern "C" fn atan2(y: f64, x: f64) -> f64 {
    math::atan2(y, x)
}
extern "C" fn pow(x: f64, y: f64) -> f64 {
    math::pow(x, y)
}
extern "C" fn powi(x: f64, n: i64) -> f64 {
    math::powi(x, n)
}
extern "C" fn inf() -> f64 {
    f64::INFINITY
}
extern "C" fn nan() -> f64 {
    f64::NAN
}

/// The mathematical functions.
pub static MATH: &[(&str, Math)] = &[
    ("jut_sign", Math::Unary(sign)),
    ("jut_exp", Math::Unary(exp)),
    ("jut_expm1", Math::Unary(expm1)),
    ("jut_log", Math::Unary(log)),
    ("jut_log1p", Math::Unary(log1p)),
    ("jut_sin", Math::Unary(sin)),
    ("jut_cos", Math::Unary(cos)),
    ("jut_tan", Math::Unary(tan)),
    ("jut_tanh", Math::Unary(tanh)),
    ("jut_asin", Math::Unary(asin)),
    ("jut_acos", Math::Unary(acos)),
    ("jut_atan", Math::Unary(atan)),
    ("jut_sinh", Math::Unary(sinh)),
    ("jut_cosh", Math::Unary(cosh)),
    ("jut_round", Math::Unary(round)),
    ("jut_hypot", Math::Binary(hypot)),
    ("jut_floor", Math::Unary(floor)),
    ("jut_ceil", Math::Unary(ceil)),
    ("jut_trunc", Math::Unary(trunc)),
    ("jut_atan2", Math::Binary(atan2)),
    ("jut_pow", Math::Binary(pow)),
    ("jut_powi", Math::Integer(powi)),
    ("jut_inf", Math::Nullary(inf)),
    ("jut_nan", Math::Nullary(nan)),
];

/// The mathematical function of a name.
pub fn math(name: &str) -> Option<Math> {
    MATH.iter().find(|(symbol, _)| *symbol == name).map(|(_, function)| *function)
}

/// Where the function of a name lies.
pub fn address(name: &str) -> Option<*const u8> {
    let address = match name {
        "jut_alloc_temp" => jut_alloc_temp as *const u8,
        "jut_alloc_tape" => jut_alloc_tape as *const u8,
        "jut_mark" => jut_mark as *const u8,
        "jut_release" => jut_release as *const u8,
        "jut_release_tape" => jut_release_tape as *const u8,
        "jut_fill_words" => jut_fill_words as *const u8,
        "jut_fill_bytes" => jut_fill_bytes as *const u8,
        "jut_copy" => jut_copy as *const u8,
        _ => return math(name).map(Math::address),
    };
    Some(address)
}

//! The methods of numbers, and what they are in the text.
//!
//! `S` stands for the receiver, `A` and `B` for the arguments. The names with `rust_` are definitions that
//! the linker puts before a text which uses them (`jut::rust`): they mean what Rust means, where a primitive of the text means
//! something else.

/// A method of f64: its name, how many arguments it has, its text.
pub(crate) const F64: &[(&str, usize, &str)] = &[
    ("abs", 0, "prim.abs(S)"),
    ("acos", 0, "prim.acos(S)"),
    ("acosh", 0, "prim.acosh(S)"),
    ("asin", 0, "prim.asin(S)"),
    ("asinh", 0, "prim.asinh(S)"),
    ("atan", 0, "prim.atan(S)"),
    ("atan2", 1, "prim.atan2(S, A)"),
    ("atanh", 0, "prim.atanh(S)"),
    ("cbrt", 0, "prim.cbrt(S)"),
    ("ceil", 0, "prim.ceil(S)"),
    ("clamp", 2, "rust_clamp(S, A, B)"),
    ("copysign", 1, "rust_copysign(S, A)"),
    ("cos", 0, "prim.cos(S)"),
    ("cosh", 0, "prim.cosh(S)"),
    ("div_euclid", 1, "rust_div_euclid(S, A)"),
    ("exp", 0, "prim.exp(S)"),
    ("exp2", 0, "prim.exp2(S)"),
    ("exp_m1", 0, "prim.expm1(S)"),
    ("floor", 0, "prim.floor(S)"),
    ("fract", 0, "rust_fract(S)"),
    ("hypot", 1, "prim.hypot(S, A)"),
    ("ln", 0, "prim.log(S)"),
    ("ln_1p", 0, "prim.log1p(S)"),
    ("log", 1, "rust_log(S, A)"),
    ("log10", 0, "prim.log10(S)"),
    ("log2", 0, "prim.log2(S)"),
    ("max", 1, "rust_max(S, A)"),
    ("min", 1, "rust_min(S, A)"),
    ("mul_add", 2, "prim.fma(S, A, B)"),
    ("powf", 1, "prim.pow(S, A)"),
    ("powi", 1, "prim.powi(S, A)"),
    ("recip", 0, "rust_recip(S)"),
    ("rem_euclid", 1, "rust_rem_euclid(S, A)"),
    ("round", 0, "prim.round(S)"),
    ("round_ties_even", 0, "rust_round_ties_even(S)"),
    ("signum", 0, "rust_signum(S)"),
    ("sin", 0, "prim.sin(S)"),
    ("sin_cos", 0, "rust_sin_cos(S)"),
    ("sinh", 0, "prim.sinh(S)"),
    ("sqrt", 0, "prim.sqrt(S)"),
    ("tan", 0, "prim.tan(S)"),
    ("tanh", 0, "prim.tanh(S)"),
    ("to_degrees", 0, "rust_to_degrees(S)"),
    ("to_radians", 0, "rust_to_radians(S)"),
    ("trunc", 0, "prim.trunc(S)"),
    ("is_nan", 0, "rust_is_nan(S)"),
    ("is_finite", 0, "rust_is_finite(S)"),
    ("is_infinite", 0, "rust_is_infinite(S)"),
    ("is_sign_negative", 0, "rust_is_sign_negative(S)"),
    ("is_sign_positive", 0, "rust_is_sign_positive(S)"),
];

/// The text of a method of f64 as that of f32.
pub(crate) fn short(name: &str, text: &str) -> String {
    match (name, text.split_once('(')) {
        // Of 32 bits each product is rounded.
        ("powi", _) => "rust_powi_f32(S, A)".to_string(),
        (_, Some((own, arguments))) if own.starts_with("rust_") => format!("{own}_f32({arguments}"),
        _ => text.to_string(),
    }
}

/// Those of them that integers have too: the receiver's type must be known.
pub(crate) const SHARED: &[&str] =
    &["abs", "clamp", "div_euclid", "max", "min", "rem_euclid", "signum"];

/// Methods of f64 that are refused, and what to write.
pub(crate) const REFUSED: &[(&str, &str)] = &[
    ("to_bits", "bits have no derivative"),
    ("total_cmp", "it orders in `min_by`, `max_by` and `sort_by`: else write `<` and `==`"),
    ("partial_cmp", "it orders in `min_by`, `max_by` and `sort_by`: else write `<` and `==`"),
    ("is_normal", "write `x.is_finite() && x.abs() >= f64::MIN_POSITIVE`"),
    ("is_subnormal", "write `x != 0.0 && x.abs() < f64::MIN_POSITIVE`"),
    ("classify", "ask for what you need: `is_nan`, `is_finite`, `x == 0.0`"),
    ("next_up", "neighbours of a number have no derivative: add a tolerance"),
    ("next_down", "neighbours of a number have no derivative: subtract a tolerance"),
    ("midpoint", "write `0.5 * (a + b)`"),
];

/// Whether numbers have a method of this name.
pub(crate) fn is_known(name: &str) -> bool {
    F64.iter().any(|(n, _, _)| *n == name)
        || REFUSED.iter().any(|(n, _)| *n == name)
        || crate::integers::METHODS.iter().any(|(n, _)| *n == name)
}

/// Whether a method of numbers of this name has so many arguments.
pub(crate) fn takes(name: &str, count: usize) -> bool {
    F64.iter().find(|(n, _, _)| *n == name).is_none_or(|(_, arguments, _)| *arguments == count)
}

/// Whether own types may have a method of this name too: that of a number gives a number of the same type.
pub(crate) fn may_be_own(name: &str) -> bool {
    name != "sin_cos" && !name.starts_with("is_") && F64.iter().any(|(n, _, _)| *n == name)
}

/// The text of a method with its receiver and arguments.
pub(crate) fn fill(text: &str, receiver: &str, arguments: &[&str]) -> String {
    let (name, parameters) = text.split_once('(').unwrap_or((text, ")"));
    let words: String = parameters
        .chars()
        .map(|c| match c {
            'S' => receiver.to_string(),
            'A' => arguments.first().copied().unwrap_or_default().to_string(),
            'B' => arguments.get(1).copied().unwrap_or_default().to_string(),
            other => other.to_string(),
        })
        .collect();
    format!("{name}({words}")
}

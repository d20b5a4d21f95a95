//! Definitions that stand before a text which uses them: methods of numbers that mean what Rust means, where the
//! primitives of the text mean something else.

/// Definitions that are put before a text which uses them.
pub(crate) const PRELUDE: &[(&str, &str)] = &[
    (
        "rust_max",
        "def rust_max(a: f64, b: f64) -> f64 = select(a != a, b, select(b != b, a, prim.max(a, b)))",
    ),
    (
        "rust_min",
        "def rust_min(a: f64, b: f64) -> f64 = select(a != a, b, select(b != b, a, prim.min(a, b)))",
    ),
    (
        "rust_clamp",
        "def rust_clamp(x: f64, a: f64, b: f64) -> f64 = {\n  \
         y = prim.select(x < a, a, x)\n  prim.select(y > b, b, y)\n}",
    ),
    (
        "rust_copysign",
        "def rust_copysign(x: f64, s: f64) -> f64 = \
         prim.select(s < 0.0 || (s == 0.0 && 1.0 / s < 0.0), -prim.abs(x), prim.abs(x))",
    ),
    (
        "rust_signum",
        "def rust_signum(x: f64) -> f64 = \
         prim.select(x != x, x, prim.select(x < 0.0 || (x == 0.0 && 1.0 / x < 0.0), -1.0, 1.0))",
    ),
    ("rust_fract", "def rust_fract(x: f64) -> f64 = x - prim.trunc(x)"),
    ("rust_log", "def rust_log(x: f64, b: f64) -> f64 = prim.log(x) / prim.log(b)"),
    ("rust_recip", "def rust_recip(x: f64) -> f64 = 1.0 / x"),
    ("rust_sin_cos", "def rust_sin_cos(x: f64) -> #(f64, f64) = #(prim.sin(x), prim.cos(x))"),
    ("rust_to_degrees", "def rust_to_degrees(x: f64) -> f64 = x * 57.29577951308232"),
    ("rust_to_radians", "def rust_to_radians(x: f64) -> f64 = x * 0.017453292519943295"),
    ("rust_is_nan", "def rust_is_nan(x: f64) -> bool = x != x"),
    ("rust_is_finite", "def rust_is_finite(x: f64) -> bool = prim.abs(x) < prim.inf()"),
    ("rust_is_infinite", "def rust_is_infinite(x: f64) -> bool = prim.abs(x) == prim.inf()"),
];

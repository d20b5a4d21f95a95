//! Mathematical functions, one implementation each, in pure Rust (the `libm` crate).

/// Exponential.
pub fn exp(x: f64) -> f64 {
    libm::exp(x)
}

/// exp(x) - 1.
pub fn expm1(x: f64) -> f64 {
    libm::expm1(x)
}

/// Natural logarithm.
pub fn log(x: f64) -> f64 {
    libm::log(x)
}

/// log(1 + x).
pub fn log1p(x: f64) -> f64 {
    libm::log1p(x)
}

/// Sine.
pub fn sin(x: f64) -> f64 {
    libm::sin(x)
}

/// Cosine.
pub fn cos(x: f64) -> f64 {
    libm::cos(x)
}

/// Tangent.
pub fn tan(x: f64) -> f64 {
    libm::tan(x)
}

/// Hyperbolic tangent.
pub fn tanh(x: f64) -> f64 {
    libm::tanh(x)
}

/// Angle of the point (x, y).
pub fn atan2(y: f64, x: f64) -> f64 {
    libm::atan2(y, x)
}

/// x to the power y.
pub fn pow(x: f64, y: f64) -> f64 {
    libm::pow(x, y)
}

/// x to an integer power, by repeated squaring from the lowest bit up; a negative power is the
/// reciprocal of the positive one.
pub fn powi(x: f64, n: i64) -> f64 {
    let mut k = n.unsigned_abs();
    let mut base = x;
    let mut product = 1.0;
    while k > 0 {
        if k & 1 == 1 {
            product *= base;
        }
        k >>= 1;
        if k > 0 {
            base *= base;
        }
    }
    if n < 0 { 1.0 / product } else { product }
}

/// -1, 0 or 1; NaN at NaN.
pub fn sign(x: f64) -> f64 {
    if x > 0.0 {
        1.0
    } else if x < 0.0 {
        -1.0
    } else if x == 0.0 {
        0.0
    } else {
        x
    }
}

/// IEEE 754-2019 minimum: NaN spreads, -0 is less than +0.
pub fn minimum(a: f64, b: f64) -> f64 {
    if a < b || (a == b && a.is_sign_negative()) || a.is_nan() { a } else { b }
}

/// IEEE 754-2019 maximum: NaN spreads, +0 is greater than -0.
pub fn maximum(a: f64, b: f64) -> f64 {
    if a > b || (a == b && a.is_sign_positive()) || a.is_nan() { a } else { b }
}

//! Mathematical functions, one implementation each, in pure Rust: the `libm` crate's, or formulas
//! without branches ([`straight`]) that can take several arguments at once.
//!
//! The interpreter and every engine call these and no others, so a transcendental function has the
//! same bits everywhere: nothing here depends on the operating system's library or on fused
//! operations. What IEEE 754 rounds exactly (`sqrt`, `floor`, `trunc`, ..) is left to the machine.
//! Every function is total: NaN, infinities and the extreme integers have a value. How exact each is
//! stands in the table of primitives and is tested there.

mod error;
mod gamma;
pub mod number;
pub mod pairs;
pub mod plane;
pub mod power;
pub mod straight;

pub use error::erfinv;
pub use gamma::{beta, gamma, polygamma};
pub use plane::{atan2, hypot, logaddexp};
pub use power::pow;
pub use straight::each::{
    acos, acosh, asin, asinh, atan, atanh, cbrt, cos, cosh, digamma, erf, erfc, exp, exp2, expm1,
    gaussian, lgamma, log, log1p, log2, log10, sigmoid, sigmoid_slope, sin, sinh, softplus, tan,
    tanh,
};
pub use straight::sin_cos;

/// The bits of a float, one pattern for all NaNs: which sign and payload a NaN has is left open, and
/// differs between processors, engines and orders of operands.
pub fn bits(x: f64) -> u64 {
    if x.is_nan() { f64::NAN.to_bits() } else { x.to_bits() }
}

/// Whether two floats are the same: in their bits, or as NaNs. All comparisons of engines use it.
pub fn same(x: f64, y: f64) -> bool {
    bits(x) == bits(y)
}

/// Product of a derivative: a factor of zero makes it zero, whatever the other one is.
///
/// That is what the product of a tangent and a partial derivative means where one of them is zero
/// because nothing was asked for or selected, and the other is infinite or no number.
#[inline(always)]
pub fn times(x: f64, y: f64) -> f64 {
    let product = x * y;
    if product.is_nan() && (x == 0.0 || y == 0.0) { 0.0 } else { product }
}

/// x 2^n in wrapping arithmetic: 0 if n is not in 0 .. 63, as all bits are shifted out.
pub fn shl(x: i64, n: i64) -> i64 {
    if (0..64).contains(&n) { x << n } else { 0 }
}

/// x / 2^n rounded down: the sign, 0 or -1, if n is not in 0 .. 63.
pub fn shr(x: i64, n: i64) -> i64 {
    if (0..64).contains(&n) { x >> n } else { x >> 63 }
}

/// Remainder of x / y, exact, with the sign of x; NaN for an infinite x or a y of zero.
pub fn fmod(x: f64, y: f64) -> f64 {
    libm::fmod(x, y)
}

/// x y + z, rounded once.
pub fn fma(x: f64, y: f64, z: f64) -> f64 {
    libm::fma(x, y, z)
}

/// Largest integer not above.
pub fn floor(x: f64) -> f64 {
    libm::floor(x)
}

/// Smallest integer not below.
pub fn ceil(x: f64) -> f64 {
    libm::ceil(x)
}

/// Nearest integer toward zero.
pub fn trunc(x: f64) -> f64 {
    libm::trunc(x)
}

/// Nearest integer, halves away from zero.
pub fn round(x: f64) -> f64 {
    libm::round(x)
}

/// x where it is positive, else +0; NaN at NaN.
pub fn relu(x: f64) -> f64 {
    maximum(x, 0.0)
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
    } else {
        // 0 for either zero, else NaN.
        x + 0.0
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn minimum_and_maximum_spread_nan_and_order_zeros() {
        assert!(minimum(f64::NAN, 1.0).is_nan() && minimum(1.0, f64::NAN).is_nan());
        assert!(maximum(f64::NAN, 1.0).is_nan() && maximum(1.0, f64::NAN).is_nan());
        for (a, b) in [(0.0, -0.0), (-0.0, 0.0)] {
            assert!(minimum(a, b).is_sign_negative());
            assert!(maximum(a, b).is_sign_positive());
        }
    }

    #[test]
    fn integer_powers_have_the_documented_edges() {
        assert_eq!(powi(f64::NAN, 0), 1.0);
        assert_eq!(powi(0.0, -1), f64::INFINITY);
        assert_eq!(powi(-2.0, 3), -8.0);
        assert_eq!(powi(2.0, -2), 0.25);
        assert_eq!(powi(1.0, i64::MIN), 1.0);
        assert_eq!(powi(2.0, i64::MIN), 0.0);
        assert_eq!(powi(-1.0, i64::MAX), -1.0);
    }

    #[test]
    fn rounding_goes_away_from_zero_at_halves() {
        assert_eq!([round(0.5), round(-0.5), round(2.5), round(-2.4)], [1.0, -1.0, 3.0, -2.0]);
    }

    #[test]
    fn relu_keeps_nan_and_has_no_negative_zero() {
        assert!(relu(f64::NAN).is_nan());
        assert_eq!(relu(-0.0).to_bits(), 0.0f64.to_bits());
        assert_eq!((relu(-3.0), relu(3.0)), (0.0, 3.0));
    }
}

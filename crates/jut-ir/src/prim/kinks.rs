//! What the derivatives are where there is none: at kinks, ties, jumps, poles and ends of domains.
//!
//! These values are fixed. The table is printed in `docs/primitives.md`, and tested row by row in every
//! engine and mode.

use super::*;

/// The derivatives of a primitive at one point.
#[derive(Clone, Copy, Debug)]
pub struct Kink {
    /// Which primitive.
    pub prim: Prim,
    /// The operands; integers as floats, truth values as 0 and 1.
    pub at: &'static [f64],
    /// The derivative with respect to each operand that is a float, in order.
    pub partials: &'static [f64],
}

impl Kink {
    /// The operands.
    pub fn operands(&self) -> Vec<Literal> {
        let params = self.prim.row().params.iter();
        let literal = |(x, scalar): (&f64, &Scalar)| match *scalar {
            Scalar::F64 => Literal::F64(*x),
            // No primitive has operands of this width.
            Scalar::F32 => Literal::F32(*x as f32),
            // Small whole numbers only.
            Scalar::I64 => Literal::I64(*x as i64),
            Scalar::I32 => Literal::I32(*x as i32),
            Scalar::Bool => Literal::Bool(*x != 0.0),
        };
        self.at.iter().zip(params).map(literal).collect()
    }

    /// Which operands the derivatives belong to.
    pub fn float_operands(&self) -> Vec<usize> {
        let params = self.prim.row().params;
        (0..params.len()).filter(|k| params[*k].is_float()).collect()
    }
}

const INFINITE: f64 = f64::INFINITY;
const NOT: f64 = f64::NAN;

macro_rules! kinks {
    ($($prim:ident ($($at:expr),*) -> ($($partial:expr),*);)*) => {
        /// The table.
        pub const KINKS: &[Kink] =
            &[$(Kink { prim: $prim, at: &[$($at),*], partials: &[$($partial),*] }),*];
    };
}

kinks! {
    DIV(1.0, 0.0) -> (INFINITE, -INFINITE);
    DIV(0.0, 0.0) -> (INFINITE, NOT);
    MIN(2.0, 2.0) -> (0.5, 0.5);
    MIN(0.0, -0.0) -> (0.5, 0.5);
    MIN(NOT, 1.0) -> (0.0, 0.0);
    MAX(2.0, 2.0) -> (0.5, 0.5);
    MAX(0.0, -0.0) -> (0.5, 0.5);
    MAX(1.0, NOT) -> (0.0, 0.0);
    ABS(0.0) -> (0.0);
    ABS(-0.0) -> (0.0);
    SIGN(0.0) -> (0.0);
    SQRT(0.0) -> (INFINITE);
    SQRT(-1.0) -> (NOT);
    CBRT(0.0) -> (INFINITE);
    CBRT(-0.0) -> (INFINITE);
    LOG(0.0) -> (INFINITE);
    LOG1P(-1.0) -> (INFINITE);
    LOG2(0.0) -> (INFINITE);
    LOG10(0.0) -> (INFINITE);
    ASIN(1.0) -> (INFINITE);
    ASIN(-1.0) -> (INFINITE);
    ASIN(1.5) -> (NOT);
    ACOS(1.0) -> (-INFINITE);
    ACOS(-1.0) -> (-INFINITE);
    ACOS(-1.5) -> (NOT);
    ATAN2(0.0, 0.0) -> (0.0, 0.0);
    ATAN2(INFINITE, 1.0) -> (0.0, NOT);
    HYPOT(0.0, 0.0) -> (0.0, 0.0);
    HYPOT(-0.0, 0.0) -> (0.0, 0.0);
    HYPOT(INFINITE, 1.0) -> (NOT, 0.0);
    REM(0.5, 1.0) -> (1.0, 0.0);
    REM(3.0, 1.5) -> (1.0, -2.0);
    REM(-3.0, 1.5) -> (1.0, 2.0);
    REM(1.0, 0.0) -> (1.0, NOT);
    REM(1.0, INFINITE) -> (1.0, 0.0);
    REM(INFINITE, 1.0) -> (1.0, NOT);
    ACOSH(1.0) -> (INFINITE);
    ACOSH(0.5) -> (NOT);
    ATANH(1.0) -> (INFINITE);
    ATANH(-1.0) -> (INFINITE);
    ERFINV(1.0) -> (INFINITE);
    ERFINV(-1.0) -> (INFINITE);
    ERFINV(1.5) -> (NOT);
    GAMMA(-1.0) -> (NOT);
    LGAMMA(0.0) -> (-INFINITE);
    LGAMMA(-0.0) -> (INFINITE);
    LGAMMA(-3.0) -> (NOT);
    DIGAMMA(0.0) -> (INFINITE);
    DIGAMMA(-2.0) -> (INFINITE);
    POLYGAMMA(1.0, 0.0) -> (-INFINITE);
    RELU(0.0) -> (0.0);
    RELU(-0.0) -> (0.0);
    LOGADDEXP(3.0, 3.0) -> (0.5, 0.5);
    LOGADDEXP(INFINITE, 1.0) -> (1.0, 0.0);
    LOGADDEXP(INFINITE, INFINITE) -> (NOT, NOT);
    POW(0.0, 0.0) -> (0.0, 0.0);
    POW(2.0, 0.0) -> (0.0, core::f64::consts::LN_2);
    POW(0.0, 0.5) -> (INFINITE, 0.0);
    POW(0.0, 1.0) -> (1.0, 0.0);
    POW(0.0, 2.0) -> (0.0, 0.0);
    POW(0.0, -1.0) -> (-INFINITE, 0.0);
    POW(-2.0, 2.0) -> (-4.0, NOT);
    POWI(0.0, 0.0) -> (0.0);
    POWI(0.0, 1.0) -> (1.0);
    POWI(0.0, 2.0) -> (0.0);
    POWI(0.0, -1.0) -> (-INFINITE);
    SELECT(1.0, 1.0, NOT) -> (1.0, 0.0);
    SELECT(0.0, INFINITE, 1.0) -> (0.0, 1.0);
    STOP(1.0) -> (0.0);
    FLOOR(1.0) -> (0.0);
    CEIL(1.0) -> (0.0);
    TRUNC(1.0) -> (0.0);
    ROUND(0.5) -> (0.0);
}

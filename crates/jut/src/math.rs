//! Mathematical functions with the bits that they have in compiled derivatives, on every machine.
//!
//! `x.exp()` of the standard library is the system's function, whose last bits differ between systems. In a
//! function with the attribute [`differentiable`](crate::differentiable) it becomes jut's function; so the plain call and the
//! compiled value may differ in the last place. With these functions they never do.
//!
//! ```
//! # #[cfg(feature = "macros")] {
//! use jut::math::{exp, log1p};
//!
//! #[jut::differentiable]
//! fn softplus(x: f64) -> f64 {
//!     if x > 0.0 { x + log1p(exp(-x)) } else { log1p(exp(x)) }
//! }
//!
//! for x in [-3.0, 0.1, 40.0] {
//!     assert_eq!(softplus::value(x).unwrap(), softplus(x));
//! }
//! # }
//! ```

use crate::rust::{Callee, Cell, Constant, Filled, Linker, Source, Type};
use jut_runtime::math as own;

macro_rules! functions {
    ($($doc:literal $name:ident($($x:ident: $ty:ty),*) = $prim:literal;)*) => {$(
        #[doc = $doc]
        pub fn $name($($x: $ty),*) -> f64 {
            own::$name($($x),*)
        }

        /// What a text calls the function by.
        #[doc(hidden)]
        #[allow(non_camel_case_types)]
        pub struct $name {}

        impl<Arguments> crate::rust::Gives<Arguments, f64> for $name {}

        impl<Arguments> Callee<Arguments> for $name {
            type Function = $name;
        }

        impl crate::rust::Looked for $name {}

        impl Source for $name {
            const NAME: &'static str = concat!("jut::math::", stringify!($name));
            const RESULT: Type = Type::F64;
            fn define(_: &mut Linker) {}
            fn linked() -> &'static Cell {
                static LINKED: Cell = Cell::new();
                &LINKED
            }
            fn link(_: &mut Linker) -> Filled {
                let parameters = &[$(<$ty as Constant>::TYPE),*];
                Filled::plain($prim.to_string(), Type::F64).of(parameters)
            }
        }
    )*};
}

functions! {
    "Exponential." exp(x: f64) = "prim.exp";
    "2 to the power x." exp2(x: f64) = "prim.exp2";
    "exp(x) - 1, exact near 0." expm1(x: f64) = "prim.expm1";
    "Natural logarithm." log(x: f64) = "prim.log";
    "log(1 + x), exact near 0." log1p(x: f64) = "prim.log1p";
    "Logarithm to base 2." log2(x: f64) = "prim.log2";
    "Logarithm to base 10." log10(x: f64) = "prim.log10";
    "Cube root." cbrt(x: f64) = "prim.cbrt";
    "Sine." sin(x: f64) = "prim.sin";
    "Cosine." cos(x: f64) = "prim.cos";
    "Tangent." tan(x: f64) = "prim.tan";
    "Angle in -pi/2 .. pi/2 with the given sine." asin(x: f64) = "prim.asin";
    "Angle in 0 .. pi with the given cosine." acos(x: f64) = "prim.acos";
    "Angle in -pi/2 .. pi/2 with the given tangent." atan(x: f64) = "prim.atan";
    "Angle of the point with ordinate y and abscissa x." atan2(y: f64, x: f64) = "prim.atan2";
    "Hyperbolic sine." sinh(x: f64) = "prim.sinh";
    "Hyperbolic cosine." cosh(x: f64) = "prim.cosh";
    "Hyperbolic tangent." tanh(x: f64) = "prim.tanh";
    "Inverse of the hyperbolic sine." asinh(x: f64) = "prim.asinh";
    "Inverse of the hyperbolic cosine." acosh(x: f64) = "prim.acosh";
    "Inverse of the hyperbolic tangent." atanh(x: f64) = "prim.atanh";
    "Square root of x^2 + y^2, without overflow on the way." hypot(x: f64, y: f64) = "prim.hypot";
    "x to the power y." pow(x: f64, y: f64) = "prim.pow";
    "x to an integer power, by repeated squaring." powi(x: f64, n: i64) = "prim.powi";
    "Error function." erf(x: f64) = "prim.erf";
    "1 - erf(x)." erfc(x: f64) = "prim.erfc";
    "Inverse of erf." erfinv(x: f64) = "prim.erfinv";
    "Gamma function." gamma(x: f64) = "prim.gamma";
    "Logarithm of the absolute value of gamma." lgamma(x: f64) = "prim.lgamma";
    "Derivative of lgamma." digamma(x: f64) = "prim.digamma";
    "gamma(x) gamma(y) / gamma(x + y)." beta(x: f64, y: f64) = "prim.beta";
    "1 / (1 + exp(-x)), without overflow on the way." sigmoid(x: f64) = "prim.sigmoid";
    "log(1 + exp(x)), without overflow on the way." softplus(x: f64) = "prim.softplus";
    "exp(-x^2)." gaussian(x: f64) = "prim.gaussian";
    "log(exp(x) + exp(y)), without overflow on the way." logaddexp(x: f64, y: f64) = "prim.logaddexp";
}

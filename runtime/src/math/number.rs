//! What the [cores](super::straight) compute with.

use core::ops::{Add, BitAnd, BitOr, BitXor, Div, Mul, Neg, Shl, Shr, Sub};

/// A float, or what stands for one in a program that is being written: its operations then write
/// themselves down instead of computing something.
pub trait Number:
    Copy
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
{
    /// 64 bits, whose arithmetic wraps.
    type Bits: Copy
        + Add<Output = Self::Bits>
        + Sub<Output = Self::Bits>
        + BitAnd<Output = Self::Bits>
        + BitOr<Output = Self::Bits>
        + BitXor<Output = Self::Bits>
        + Shl<u32, Output = Self::Bits>
        + Shr<u32, Output = Self::Bits>;
    /// The result of a comparison.
    type Truth: Copy + BitAnd<Output = Self::Truth>;

    /// A constant.
    fn of(x: f64) -> Self;
    /// Constant bits.
    fn bits(x: u64) -> Self::Bits;
    /// Without its sign.
    fn abs(self) -> Self;
    /// Its square root.
    fn sqrt(self) -> Self;
    /// With the sign of another.
    fn copysign(self, sign: Self) -> Self;
    /// Its bits.
    fn to_bits(self) -> Self::Bits;
    /// The float of some bits.
    fn from_bits(bits: Self::Bits) -> Self;
    /// Whether the lowest bit is set.
    fn is_odd(bits: Self::Bits) -> Self::Truth;
    /// Less.
    fn below(self, other: Self) -> Self::Truth;
    /// Greater.
    fn above(self, other: Self) -> Self::Truth;
    /// Less or equal.
    fn at_most(self, other: Self) -> Self::Truth;
    /// Greater or equal.
    fn at_least(self, other: Self) -> Self::Truth;
    /// The first if the condition holds, else the second.
    fn select(condition: Self::Truth, then: Self, other: Self) -> Self;
}

/// 64 bits with arithmetic that wraps.
#[derive(Clone, Copy)]
pub struct Wrapping(u64);

macro_rules! bit_operations {
    ($($trait:ident $method:ident $arg:ty, |$a:ident, $b:ident| $value:expr;)*) => {
        $(impl $trait<$arg> for Wrapping {
            type Output = Wrapping;
            #[inline(always)]
            fn $method(self, other: $arg) -> Wrapping {
                let ($a, $b) = (self, other);
                Wrapping($value)
            }
        })*
    };
}

bit_operations! {
    Add add Wrapping, |a, b| a.0.wrapping_add(b.0);
    Sub sub Wrapping, |a, b| a.0.wrapping_sub(b.0);
    BitAnd bitand Wrapping, |a, b| a.0 & b.0;
    BitOr bitor Wrapping, |a, b| a.0 | b.0;
    BitXor bitxor Wrapping, |a, b| a.0 ^ b.0;
    Shl shl u32, |a, b| a.0 << b;
    Shr shr u32, |a, b| a.0 >> b;
}

impl Number for f64 {
    type Bits = Wrapping;
    type Truth = bool;

    #[inline(always)]
    fn of(x: f64) -> f64 {
        x
    }
    #[inline(always)]
    fn bits(x: u64) -> Wrapping {
        Wrapping(x)
    }
    #[inline(always)]
    fn abs(self) -> f64 {
        f64::abs(self)
    }
    #[inline(always)]
    fn sqrt(self) -> f64 {
        // Both are rounded exactly; only the standard library's is taken for vectors.
        #[cfg(not(jut_freestanding))]
        let root = f64::sqrt(self);
        #[cfg(jut_freestanding)]
        let root = libm::sqrt(self);
        root
    }
    #[inline(always)]
    fn copysign(self, sign: f64) -> f64 {
        f64::copysign(self, sign)
    }
    #[inline(always)]
    fn to_bits(self) -> Wrapping {
        Wrapping(f64::to_bits(self))
    }
    #[inline(always)]
    fn from_bits(bits: Wrapping) -> f64 {
        f64::from_bits(bits.0)
    }
    #[inline(always)]
    fn is_odd(bits: Wrapping) -> bool {
        bits.0 & 1 != 0
    }
    #[inline(always)]
    fn below(self, other: f64) -> bool {
        self < other
    }
    #[inline(always)]
    fn above(self, other: f64) -> bool {
        self > other
    }
    #[inline(always)]
    fn at_most(self, other: f64) -> bool {
        self <= other
    }
    #[inline(always)]
    fn at_least(self, other: f64) -> bool {
        self >= other
    }
    #[inline(always)]
    fn select(condition: bool, then: f64, other: f64) -> f64 {
        if condition { then } else { other }
    }
}

//! The scalars of linear code: floats, or a prime field.
//!
//! What T does to a program is exact algebra: transposing permutes additions and multiplications
//! by the same factors. In floats that algebra is blurred by rounding, so the interpreter can also
//! run linear code over the field of integers modulo p = 2^61 - 1, where the transpose law
//! `<T e (y''), x'> = <y'', e(x')>` holds exactly or not at all. Only the linear scalar changes:
//! non-linear code still runs in f64, and each non-linear factor `c` of `c * x'` is mapped into the
//! field by a fixed function of its bits ([`factor`]), which keeps 0, 1 and -1.
//!
//! A field element is held as [`Value::I64`](crate::Value::I64): no linear type has integers, so
//! the two cannot be confused.

/// What linear code computes with.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum LinearScalar {
    /// IEEE 754 binary64.
    #[default]
    F64,
    /// Integers modulo [`PRIME`], each held as an i64 in 0 .. PRIME.
    Field,
}

/// The Mersenne prime 2^61 - 1.
pub const PRIME: i64 = (1 << 61) - 1;

/// The element that a non-linear factor stands for: 0, 1 and -1 for themselves, any other float a
/// scrambled function of its bits.
pub fn factor(c: f64) -> i64 {
    if c == 0.0 {
        0
    } else if c == 1.0 {
        1
    } else if c == -1.0 {
        PRIME - 1
    } else {
        // The finalizer of SplitMix64: a bijection of 64-bit words.
        let mut z = c.to_bits();
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58476d1ce4e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d049bb133111eb);
        ((z ^ (z >> 31)) % PRIME as u64) as i64
    }
}

/// Sum in the field.
pub fn add(a: i64, b: i64) -> i64 {
    (a + b) % PRIME
}

/// Negation in the field.
pub fn neg(a: i64) -> i64 {
    (PRIME - a) % PRIME
}

/// The inverse in the field, 0 of 0: `a` to the power of the prime less 2.
pub fn inverse(a: i64) -> i64 {
    let (mut power, mut square, mut rest) = (1, a, PRIME - 2);
    while rest > 0 {
        if rest & 1 == 1 {
            power = mul(power, square);
        }
        square = mul(square, square);
        rest >>= 1;
    }
    power
}

/// Product in the field.
pub fn mul(a: i64, b: i64) -> i64 {
    ((i128::from(a) * i128::from(b)) % i128::from(PRIME)) as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_field_is_a_field_on_samples() {
        for k in 0..200 {
            let (a, b, c) =
                (factor(0.3 + k as f64), factor(-7.5 * k as f64), factor(1e9 + k as f64));
            assert!((0..PRIME).contains(&a) && (0..PRIME).contains(&b));
            assert_eq!(add(a, neg(a)), 0);
            assert_eq!(mul(a, add(b, c)), add(mul(a, b), mul(a, c)));
            assert_eq!(mul(mul(a, b), c), mul(a, mul(b, c)));
        }
    }

    #[test]
    fn units_are_kept() {
        assert_eq!([factor(0.0), factor(-0.0), factor(1.0), factor(-1.0)], [0, 0, 1, PRIME - 1]);
    }
}

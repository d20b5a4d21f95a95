//! Intervals of integers, for where a polynomial may lie. Ends beyond 128 bits saturate, far away
//! from every end that is asked for.

/// No array has more elements, whether somebody asks for its memory or not.
pub const MAX_LENGTH: i128 = super::MAX_CELLS as i128 - 1;

/// The integers from `low` to `high`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Interval {
    pub low: i128,
    pub high: i128,
}

impl Interval {
    /// What an i64 may be.
    pub const I64: Interval = Interval { low: i64::MIN as i128, high: i64::MAX as i128 };

    pub fn constant(k: impl Into<i128>) -> Interval {
        let k = k.into();
        Interval { low: k, high: k }
    }

    /// Where both hold.
    pub fn meet(self, other: Interval) -> Interval {
        Interval { low: self.low.max(other.low), high: self.high.min(other.high) }
    }

    /// Whether all of it are i64, so that arithmetic modulo 2^64 gives the polynomial's value.
    pub fn is_i64(self) -> bool {
        self.meet(Interval::I64) == self
    }

    /// Whether nothing of it differs from a length by a multiple of 2^64.
    pub fn is_dimension(self) -> bool {
        self.low > MAX_LENGTH - (1 << 64) && self.high < 1 << 64
    }
}

impl std::ops::Add for Interval {
    type Output = Interval;
    fn add(self, other: Interval) -> Interval {
        Interval {
            low: self.low.saturating_add(other.low),
            high: self.high.saturating_add(other.high),
        }
    }
}

impl std::ops::Mul for Interval {
    type Output = Interval;
    fn mul(self, other: Interval) -> Interval {
        let corners = [self.low, self.high].map(|a| {
            let [b, c] = [other.low, other.high].map(|b| a.saturating_mul(b));
            (b.min(c), b.max(c))
        });
        let [(a, b), (c, d)] = corners;
        Interval { low: a.min(c), high: b.max(d) }
    }
}

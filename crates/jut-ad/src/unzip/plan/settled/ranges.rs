//! Differences of indices: whether they are plainly positive, and do not wrap.
//!
//! A sum of names that are not negative, with coefficients, is at least what it is with each name that is subtracted
//! replaced by the most that it can be: an index by its bound less one, the innermost first, because bounds are made of
//! names further out. `(j + 1 + d) - k` with `k < j` is at least `(j + 1 + d) - (j - 1) = d + 2`. *Requires*: names are added from
//! the outside in, bounds are those of loops that run. *Ensures*: what is found to be positive is at least 1 over the
//! integers. *Cost*: the names, times the terms of the sum.

use jut_ir::entity::EntityRef;
use jut_ir::*;

/// Coefficients and constants are no larger.
const SMALL: i64 = 1 << 20;

/// Names that are not negative, outermost first, with what indices are below.
pub(super) struct Ranges {
    known: Vec<(NVar, Option<Size>)>,
    /// How many names there are, with those made here.
    made: usize,
}

impl Ranges {
    /// Nothing is known; names of this number and above are no program's.
    pub fn new(made: usize) -> Ranges {
        Ranges { known: Vec::new(), made }
    }

    /// A name, inside those that are known.
    pub fn add(&mut self, name: NVar, bound: Option<Size>) {
        self.known.push((name, bound));
    }

    /// A name that no program has.
    pub fn name(&mut self, bound: Option<Size>) -> Size {
        let name = NVar::new(self.made);
        self.made += 1;
        self.add(name, bound);
        Size::var(name)
    }

    /// The sums of the positive and of the negative coefficients, and the constant, of a sum of known names.
    fn parts(&self, sum: &Size) -> Option<(i64, i64, i64)> {
        let (mut plus, mut minus, mut constant) = (0, 0, 0);
        for (names, c) in sum.terms() {
            if !(-SMALL..=SMALL).contains(c) {
                return None;
            }
            match names[..] {
                [] => constant = *c,
                [name] if self.known.iter().any(|(known, _)| *known == name) => {
                    if *c > 0 {
                        plus += c
                    } else {
                        minus -= c
                    }
                }
                _ => return None,
            }
        }
        Some((plus, minus, constant))
    }

    /// Whether a sum lies between -2^64 and 2^64: then arithmetic that wraps makes it 0 only if it is. An index is below
    /// its bound, so at most 2^63 - 2, and so are lengths and how much later an iteration is.
    pub fn fits(&self, sum: &Size) -> bool {
        let most = |names: i64| i128::from(names) * i128::from(i64::MAX - 1);
        self.parts(sum).is_some_and(|(plus, minus, constant)| {
            let constant = i128::from(constant);
            most(plus) + constant < 1 << 64 && constant - most(minus) > -(1 << 64)
        })
    }

    /// Whether a sum is plainly at least 1.
    pub fn is_positive(&self, mut sum: Size) -> bool {
        for (name, bound) in self.known.iter().rev() {
            if self.parts(&sum).is_none() {
                return false;
            }
            let term = sum.terms().iter().find(|(names, _)| names[..] == [*name]);
            if term.is_none_or(|(_, c)| *c > 0) {
                continue;
            }
            let Some(bound) = bound else { return false };
            // An index is below the polynomial of its bound, if that is no less than -2^63.
            let is_upper = |(_, minus, constant)| minus == 0 || minus == 1 && constant >= -1;
            if !self.parts(bound).is_some_and(is_upper) {
                return false;
            }
            let largest = bound.clone() - Size::constant(1);
            sum = sum.subst(&mut |v| (v == *name).then(|| largest.clone()));
        }
        self.parts(&sum).is_some_and(|(_, minus, constant)| minus == 0 && constant >= 1)
    }
}

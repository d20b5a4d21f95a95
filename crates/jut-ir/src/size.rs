//! Sizes: polynomials with integer coefficients over opaque i64 names, always in normal form.
//!
//! Two sizes are equal iff their normal forms are equal, so `==` on [`Size`] is the whole theory
//! of size equality. Arithmetic wraps, as that of `i64` does: equal forms mean equal values.

use crate::entity::{EntityRef, NVar};
use std::collections::BTreeMap;

/// A size in normal form: a sum of monomials, sorted, without zero coefficients.
///
/// ```
/// use jut_ir::{entity::{EntityRef, NVar}, size::Size};
/// let n = Size::var(NVar::new(0));
/// assert_eq!(n.clone() + Size::constant(1) - Size::constant(1), n);
/// assert_eq!(n.clone() * n.clone(), n.clone() * n);
/// ```
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Size {
    /// Sorted list of (sorted names, coefficient).
    terms: Vec<(Vec<NVar>, i64)>,
}

impl Size {
    /// A literal size.
    pub fn constant(value: i64) -> Size {
        Size::from_map(BTreeMap::from([(Vec::new(), value)]))
    }

    /// The size that an opaque name stands for.
    pub fn var(name: NVar) -> Size {
        Size { terms: vec![(vec![name], 1)] }
    }

    /// The product of names.
    pub fn monomial(names: &[NVar]) -> Size {
        Size::from_map(BTreeMap::from([(names.to_vec(), 1)]))
    }

    /// A name that no program has: the range rule's for the length of an array.
    pub(crate) fn length_name() -> NVar {
        NVar::new(FIRST_POSITION - 1)
    }

    /// A placeholder for "the k-th non-linear result of the statement", used between computing the
    /// types of a right-hand side and binding its pattern. See [`Size::position_of`].
    pub fn position(k: usize) -> Size {
        Size::var(position_var(k))
    }

    /// Which result a placeholder name stands for, if it is one.
    pub fn position_of(name: NVar) -> Option<usize> {
        let index = name.index();
        (index >= FIRST_POSITION).then(|| LAST_POSITION - index)
    }

    fn from_map(map: BTreeMap<Vec<NVar>, i64>) -> Size {
        Size { terms: map.into_iter().filter(|(_, c)| *c != 0).collect() }
    }

    /// The monomials: sorted names and coefficient.
    pub fn terms(&self) -> &[(Vec<NVar>, i64)] {
        &self.terms
    }

    /// The value, if no name occurs.
    pub fn as_constant(&self) -> Option<i64> {
        match self.terms.as_slice() {
            [] => Some(0),
            [(names, c)] if names.is_empty() => Some(*c),
            _ => None,
        }
    }

    /// The name, if the size is just one name.
    pub fn as_var(&self) -> Option<NVar> {
        match self.terms.as_slice() {
            [(names, 1)] if names.len() == 1 => Some(names[0]),
            _ => None,
        }
    }

    /// All names that occur, sorted, each once.
    pub fn names(&self) -> Vec<NVar> {
        let mut names: Vec<NVar> =
            self.terms.iter().flat_map(|(names, _)| names.iter().copied()).collect();
        names.sort();
        names.dedup();
        names
    }

    /// Whether a name occurs.
    pub fn mentions(&self, name: NVar) -> bool {
        self.terms.iter().any(|(names, _)| names.contains(&name))
    }

    /// Replaces names by sizes; a name for which `map` gives `None` stays.
    pub fn subst(&self, map: &mut dyn FnMut(NVar) -> Option<Size>) -> Size {
        if self.terms.is_empty() {
            return Size::default();
        }
        let mut sum = Size::default();
        for (names, c) in &self.terms {
            let mut product = Size::constant(*c);
            for name in names {
                product = product * map(*name).unwrap_or_else(|| Size::var(*name));
            }
            sum = sum + product;
        }
        sum
    }

    /// The sum, as the definition of a transparent name; see [`Size::checked_mul`].
    pub fn checked_add(&self, other: &Size) -> Option<Size> {
        (self.terms.len() + other.terms.len() <= MAX_TERMS).then(|| self.clone() + other.clone())
    }

    /// The difference, as the definition of a transparent name; see [`Size::checked_mul`].
    pub fn checked_sub(&self, other: &Size) -> Option<Size> {
        (self.terms.len() + other.terms.len() <= MAX_TERMS).then(|| self.clone() - other.clone())
    }

    /// The product, as the definition of a transparent name. `None` if the normal form might be
    /// too large to carry along (it grows exponentially under repeated squaring): the name is
    /// then opaque, and every statement costs a bounded amount of work.
    pub fn checked_mul(&self, other: &Size) -> Option<Size> {
        (self.terms.len() * other.terms.len() <= MAX_TERMS
            && self.degree() + other.degree() <= MAX_DEGREE)
            .then(|| self.clone() * other.clone())
    }

    /// The largest number of names in one monomial.
    fn degree(&self) -> usize {
        self.terms.iter().map(|(names, _)| names.len()).max().unwrap_or(0)
    }

    /// The value under an assignment of the names (wrapping, like i64 arithmetic).
    pub fn eval(&self, value: &mut dyn FnMut(NVar) -> i64) -> i64 {
        self.terms.iter().fold(0i64, |sum, (names, c)| {
            let product = names.iter().fold(*c, |p, name| p.wrapping_mul(value(*name)));
            sum.wrapping_add(product)
        })
    }

    /// The value under an assignment of the names, as a mathematical integer: `None` if it is not an
    /// i64. What callers from outside say of their arrays is held against this, because covered
    /// accesses rest on products that do not wrap.
    pub fn exact(&self, value: &mut dyn FnMut(NVar) -> i64) -> Option<i64> {
        // Most sizes are a name; 128 bits are slow.
        if let [(names, 1)] = &self.terms[..]
            && let [name] = names[..]
        {
            return Some(value(name));
        }
        let sum = self.terms.iter().try_fold(0i128, |sum, (names, c)| {
            let mut factors = names.iter().map(|name| i128::from(value(*name)));
            sum.checked_add(factors.try_fold(i128::from(*c), |p, n| p.checked_mul(n))?)
        });
        i64::try_from(sum?).ok()
    }
}

/// The most monomials in the definition of a transparent name.
const MAX_TERMS: usize = 32;
/// The most names in one monomial of such a definition.
const MAX_DEGREE: usize = 8;

const LAST_POSITION: usize = u32::MAX as usize - 1;
const FIRST_POSITION: usize = LAST_POSITION - (1 << 20);

fn position_var(k: usize) -> NVar {
    NVar::new(LAST_POSITION - k.min(1 << 20))
}

impl std::ops::Add for Size {
    type Output = Size;
    fn add(self, other: Size) -> Size {
        let mut map: BTreeMap<Vec<NVar>, i64> = self.terms.into_iter().collect();
        for (names, c) in other.terms {
            let entry = map.entry(names).or_insert(0);
            *entry = entry.wrapping_add(c);
        }
        Size::from_map(map)
    }
}

impl std::ops::Neg for Size {
    type Output = Size;
    fn neg(self) -> Size {
        Size { terms: self.terms.into_iter().map(|(n, c)| (n, c.wrapping_neg())).collect() }
    }
}

impl std::ops::Sub for Size {
    type Output = Size;
    fn sub(self, other: Size) -> Size {
        self + -other
    }
}

impl std::ops::Mul for Size {
    type Output = Size;
    fn mul(self, other: Size) -> Size {
        let mut map = BTreeMap::new();
        for (a, c) in &self.terms {
            for (b, d) in &other.terms {
                let mut names: Vec<NVar> = a.iter().chain(b).copied().collect();
                names.sort();
                let entry = map.entry(names).or_insert(0i64);
                *entry = entry.wrapping_add(c.wrapping_mul(*d));
            }
        }
        Size::from_map(map)
    }
}

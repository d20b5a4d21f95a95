//! The range rule: which accesses need no run-time test, which sizes are plainly non-negative.
//! Elaboration asks it where a `check` is needed, the checker whether an access is allowed.
//!
//! An index `a` into an array of size `s` is *covered* iff `check a < s` stands before it, or the
//! *range rule* holds for the normal form e of a:
//!
//! 1. all coefficients of e are positive and its names are non-negative (so 0 <= e);
//! 2. each loop index of e, innermost first, is replaced by `bound - 1` as long as all its
//!    coefficients are positive (so the new e is an upper bound of the old one);
//! 3. `s - 1 - e`, for one of these e, is 0 or has only positive coefficients over non-negative
//!    names (so e < s).
//!
//! *Non-negative names* are loop indices, single-name bounds of the loops around, names that are a
//! whole dimension of a non-linear array in scope, `max(_, 0)`, names with a `check n >= 0`, and the
//! names a and b of a `check a ..+ b <= n`.
//! A bound `n1 = max(n, 0)` counts as n: inside the loop the two are equal.
//!
//! So `x[i]` and `x[i + 1]` under `i < n - 1`, `x[j]` under `j < i`, `i < n`, `x[i*m + j]` with
//! `x: [n*m]` need no test; `x[ix[i]]` needs its `check`.
//!
//! *Requires*: scopes are entered and left like the blocks of the program; sizes are normal forms.
//! *Ensures*: covered accesses are within the array whenever i64 arithmetic does not wrap.
//! *Cost*: learning is constant per fact, leaving a scope undoes only what was learnt in it; a
//! question costs the loop indices that its polynomial mentions.

use crate::entity::NVar;
use crate::hash::{HashMap, HashSet};
use crate::size::Size;

/// A polynomial with more monomials than this is not followed any further: the access then needs
/// a `check`. It bounds the cost of substituting bounds into products of many indices.
const MAX_TERMS: usize = 64;

/// What is known at a point of a program: loop ranges, facts of checks, non-negative names.
/// Scopes nest: [`Facts::enter`] and [`Facts::leave`] bracket a block.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    /// Loop indices around: bound (with `max(n, 0)` read as n) and number, outermost first.
    ranges: HashMap<NVar, Range>,
    /// Names of bounds of loops around that are `max(n, 0)`, with n.
    positive_bounds: HashMap<NVar, Size>,
    /// `name = max(of, 0)`.
    max_zero: HashMap<NVar, Size>,
    /// Names that are known not to be negative.
    non_negative: HashSet<NVar>,
    /// Sizes with a `check s >= 0`.
    checked_sizes: HashSet<Size>,
    /// `check index < size`.
    below: HashSet<(Size, Size)>,
    /// `check lo ..+ len <= size`.
    within: HashSet<(Size, Size, Size)>,
    /// What to take back, newest last.
    undo: Vec<Learnt>,
    /// Length of `undo` at the beginning of each open scope.
    scopes: Vec<usize>,
}

#[derive(Clone, Debug)]
struct Range {
    bound: Size,
    depth: usize,
}

#[derive(Clone, Debug)]
enum Learnt {
    Range(NVar),
    PositiveBound(NVar),
    MaxZero(NVar),
    NonNegative(NVar),
    CheckedSize(Size),
    Below(Size, Size),
    Within(Size, Size, Size),
}

impl Facts {
    /// Opens a scope.
    pub fn enter(&mut self) {
        self.scopes.push(self.undo.len());
    }

    /// Closes the innermost scope: what was learnt in it is forgotten.
    pub fn leave(&mut self) {
        let Some(start) = self.scopes.pop() else { return };
        while self.undo.len() > start {
            match self.undo.pop() {
                Some(Learnt::Range(v)) => drop(self.ranges.remove(&v)),
                Some(Learnt::PositiveBound(v)) => drop(self.positive_bounds.remove(&v)),
                Some(Learnt::MaxZero(v)) => drop(self.max_zero.remove(&v)),
                Some(Learnt::NonNegative(v)) => drop(self.non_negative.remove(&v)),
                Some(Learnt::CheckedSize(s)) => drop(self.checked_sizes.remove(&s)),
                Some(Learnt::Below(a, b)) => drop(self.below.remove(&(a, b))),
                Some(Learnt::Within(a, b, c)) => drop(self.within.remove(&(a, b, c))),
                None => break,
            }
        }
    }

    /// A loop index with its bound; indices added later are inner.
    pub fn add_range(&mut self, index: NVar, bound: Size) {
        self.add_non_negative_name(index);
        let mut upper = bound;
        if let Some(name) = upper.as_var() {
            self.add_non_negative_name(name);
            if let Some(of) = self.max_zero.get(&name).cloned() {
                if self.positive_bounds.insert(name, of.clone()).is_none() {
                    self.undo.push(Learnt::PositiveBound(name));
                }
                if let Some(name) = of.as_var() {
                    self.add_non_negative_name(name);
                }
                upper = of;
            }
        }
        let depth = self.ranges.len();
        if self.ranges.insert(index, Range { bound: upper, depth }).is_none() {
            self.undo.push(Learnt::Range(index));
        }
    }

    /// `name = max(of, 0)`.
    pub fn add_max_zero(&mut self, name: NVar, of: Size) {
        self.add_non_negative_name(name);
        if self.max_zero.insert(name, of).is_none() {
            self.undo.push(Learnt::MaxZero(name));
        }
    }

    /// A non-linear array in scope has this dimension (a single-name dimension is non-negative).
    pub fn add_dimension(&mut self, size: &Size) {
        if let Some(name) = size.as_var() {
            self.add_non_negative_name(name);
        }
    }

    /// `check index < size`.
    pub fn add_below(&mut self, index: Size, size: Size) {
        if self.below.insert((index.clone(), size.clone())) {
            self.undo.push(Learnt::Below(index, size));
        }
    }

    /// `check lo ..+ len <= size`, which also shows that the names `lo` and `len` are not negative.
    pub fn add_within(&mut self, lo: Size, len: Size, size: Size) {
        self.add_dimension(&lo);
        self.add_dimension(&len);
        if self.within.insert((lo.clone(), len.clone(), size.clone())) {
            self.undo.push(Learnt::Within(lo, len, size));
        }
    }

    /// `check size >= 0`.
    pub fn add_non_negative(&mut self, size: Size) {
        if let Some(name) = size.as_var() {
            self.add_non_negative_name(name);
        }
        if self.checked_sizes.insert(size.clone()) {
            self.undo.push(Learnt::CheckedSize(size));
        }
    }

    fn add_non_negative_name(&mut self, name: NVar) {
        if self.non_negative.insert(name) {
            self.undo.push(Learnt::NonNegative(name));
        }
    }

    /// Whether `index` is covered for an array of length `size`.
    pub fn covers(&self, index: &Size, size: &Size) -> bool {
        // The fact first: it is the common case for data-dependent indices.
        if !self.below.is_empty() && self.below.contains(&(index.clone(), size.clone())) {
            return true;
        }
        self.is_sum_of_non_negatives(index) && self.is_below(index, size)
    }

    /// Whether the slice `lo ..+ len` is covered: by a `check`, or because it starts and ends at a
    /// constant distance from the ends of the array and its length is plainly non-negative.
    pub fn covers_slice(&self, lo: &Size, len: &Size, size: &Size) -> bool {
        let fits = |size: Size| size.as_constant().is_some_and(|k| k >= 0);
        self.within.contains(&(lo.clone(), len.clone(), size.clone()))
            || (fits(lo.clone())
                && fits(size.clone() - lo.clone() - len.clone())
                && self.is_plainly_non_negative(len))
    }

    /// Whether a size is plainly non-negative.
    pub fn is_plainly_non_negative(&self, size: &Size) -> bool {
        self.is_sum_of_non_negatives(size) || self.checked_sizes.contains(size)
    }

    /// Whether all coefficients are positive and all names non-negative.
    fn is_sum_of_non_negatives(&self, size: &Size) -> bool {
        size.terms().iter().all(|(names, coefficient)| {
            *coefficient > 0 && names.iter().all(|name| self.non_negative.contains(name))
        })
    }

    /// Whether an upper bound of `index`, made by replacing loop indices by their largest values
    /// from the innermost outwards, is plainly below `size`.
    fn is_below(&self, index: &Size, size: &Size) -> bool {
        let last = size.clone() - Size::constant(1);
        let mut upper = index.clone();
        let mut depth = usize::MAX;
        loop {
            let room = last.clone() - upper.clone();
            if self.is_sum_of_non_negatives(&room)
                || self.is_sum_of_non_negatives(&self.inside_loops(&room))
            {
                return true;
            }
            // The innermost index that is further out than the last one looked at.
            let names = upper.terms().iter().flat_map(|(names, _)| names);
            let candidates = names
                .filter_map(|name| self.ranges.get(name).map(|range| (range, *name)))
                .filter(|(range, _)| range.depth < depth);
            let Some((range, name)) = candidates.max_by_key(|(range, _)| range.depth) else {
                return false;
            };
            depth = range.depth;
            // Replacing it gives an upper bound only if the polynomial grows with it.
            if upper.terms().iter().all(|(names, c)| *c > 0 || !names.contains(&name)) {
                let largest = range.bound.clone() - Size::constant(1);
                if upper.terms().len() * largest.terms().len() > MAX_TERMS {
                    return false;
                }
                upper = upper.subst(&mut |v| (v == name).then(|| largest.clone()));
            }
        }
    }

    /// Replaces names `n1 = max(n, 0)` that bound a loop around by n, which they equal there.
    fn inside_loops(&self, size: &Size) -> Size {
        if self.positive_bounds.is_empty() {
            return size.clone();
        }
        size.subst(&mut |name| self.positive_bounds.get(&name).cloned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entity::EntityRef;

    fn c(value: i64) -> Size {
        Size::constant(value)
    }

    /// The names n, m, i, j, k.
    fn names() -> [NVar; 5] {
        [0, 1, 2, 3, 4].map(NVar::new)
    }

    #[test]
    fn neighbours_under_a_shortened_range_need_no_check() {
        let [n, _, i, ..] = names();
        let (size, index) = (Size::var(n), Size::var(i));
        let mut facts = Facts::default();
        facts.add_dimension(&size);
        facts.add_range(i, size.clone() - c(1));
        assert!(facts.covers(&index, &size));
        assert!(facts.covers(&(index.clone() + c(1)), &size));
        assert!(!facts.covers(&(index.clone() + c(2)), &size));
        assert!(!facts.covers(&(index - c(1)), &size), "may be negative");
    }

    #[test]
    fn an_inner_index_is_replaced_before_the_outer_one_that_bounds_it() {
        let [n, _, i, j, k] = names();
        let mut facts = Facts::default();
        facts.add_range(i, Size::var(n));
        facts.add_range(j, Size::var(i));
        assert!(facts.covers(&Size::var(j), &Size::var(n)));
        assert!(facts.covers(&Size::var(j), &Size::var(i)));
        facts.add_range(k, Size::var(j) + c(1));
        assert!(facts.covers(&Size::var(k), &Size::var(i)));
        assert!(!facts.covers(&Size::var(i), &Size::var(j)));
    }

    #[test]
    fn row_major_indices_are_covered() {
        let [n, m, i, j, _] = names();
        let (rows, columns) = (Size::var(n), Size::var(m));
        let mut facts = Facts::default();
        facts.add_range(i, rows.clone());
        facts.add_range(j, columns.clone());
        let index = Size::var(i) * columns.clone() + Size::var(j);
        assert!(facts.covers(&index, &(rows.clone() * columns.clone())));
        let wrong = Size::var(j) * columns.clone() + Size::var(i);
        assert!(!facts.covers(&wrong, &(rows * columns)));
    }

    #[test]
    fn data_dependent_indices_need_their_check() {
        let [n, _, i, j, _] = names();
        let size = Size::var(n);
        let mut facts = Facts::default();
        facts.add_range(i, size.clone());
        assert!(!facts.covers(&Size::var(j), &size));
        facts.enter();
        facts.add_below(Size::var(j), size.clone());
        assert!(facts.covers(&Size::var(j), &size));
        facts.leave();
        assert!(!facts.covers(&Size::var(j), &size), "the fact ends with its block");
    }

    #[test]
    fn the_first_element_needs_a_check_that_there_is_one() {
        let [n, ..] = names();
        let mut facts = Facts::default();
        facts.add_dimension(&Size::var(n));
        assert!(!facts.covers(&c(0), &Size::var(n)));
        assert!(facts.covers(&c(0), &(Size::var(n) + c(1))));
        assert!(facts.covers(&c(2), &c(3)) && !facts.covers(&c(3), &c(3)));
        facts.add_below(c(0), Size::var(n));
        assert!(facts.covers(&c(0), &Size::var(n)));
    }

    #[test]
    fn a_bound_that_is_a_maximum_with_zero_counts_as_its_operand() {
        let [n, n1, i, j, _] = names();
        let mut facts = Facts::default();
        facts.enter();
        facts.add_max_zero(n1, Size::var(n));
        assert!(facts.is_plainly_non_negative(&Size::var(n1)));
        assert!(!facts.is_plainly_non_negative(&Size::var(n)));
        facts.enter();
        facts.add_range(i, Size::var(n1));
        assert!(facts.covers(&Size::var(i), &Size::var(n)));
        assert!(facts.covers(&Size::var(i), &Size::var(n1)));
        facts.leave();
        facts.enter();
        facts.add_range(j, Size::var(n));
        assert!(facts.covers(&Size::var(j), &Size::var(n)));
        facts.leave();
        facts.leave();
        assert!(!facts.is_plainly_non_negative(&Size::var(n1)));
    }

    #[test]
    fn sizes_are_plainly_non_negative_by_check_or_by_their_names() {
        let [n, m, i, ..] = names();
        let mut facts = Facts::default();
        assert!(facts.is_plainly_non_negative(&c(0)) && facts.is_plainly_non_negative(&c(3)));
        assert!(!facts.is_plainly_non_negative(&c(-1)));
        assert!(!facts.is_plainly_non_negative(&Size::var(n)));
        facts.add_dimension(&Size::var(n));
        facts.add_dimension(&(Size::var(m) + c(1)));
        facts.add_range(i, Size::var(n) - c(1));
        assert!(facts.is_plainly_non_negative(&Size::var(n)));
        assert!(facts.is_plainly_non_negative(&(Size::var(n) * Size::var(i) + c(1))));
        assert!(!facts.is_plainly_non_negative(&Size::var(m)), "m + 1 is not a single name");
        assert!(!facts.is_plainly_non_negative(&(Size::var(n) - c(1))));
        facts.add_non_negative(Size::var(n) - c(1));
        assert!(facts.is_plainly_non_negative(&(Size::var(n) - c(1))));
        facts.add_non_negative(Size::var(m));
        assert!(facts.is_plainly_non_negative(&(Size::var(m) * c(2))));
    }

    #[test]
    fn slices_need_a_check_or_constants_that_fit() {
        let [n, m, i, ..] = names();
        let size = Size::var(n);
        let mut facts = Facts::default();
        assert!(facts.covers_slice(&c(1), &c(2), &c(3)));
        assert!(!facts.covers_slice(&c(2), &c(2), &c(3)));
        assert!(!facts.covers_slice(&c(0), &size, &size), "n may be negative");
        facts.add_dimension(&size);
        assert!(facts.covers_slice(&c(0), &size, &size));
        let shorter = size.clone() - c(1);
        assert!(!facts.covers_slice(&c(1), &shorter, &size), "n may be 0");
        assert!(!facts.covers_slice(&Size::var(i), &Size::var(m), &size));
        facts.add_within(Size::var(i), Size::var(m), size.clone());
        assert!(facts.covers_slice(&Size::var(i), &Size::var(m), &size));
    }

    #[test]
    fn products_of_very_many_indices_are_given_up_quickly() {
        let mut facts = Facts::default();
        let mut index = c(1);
        for k in 0..200 {
            let bound = Size::var(NVar::new(1000 + k)) + c(1);
            facts.add_range(NVar::new(k), bound);
            index = index * Size::var(NVar::new(k));
        }
        assert!(!facts.covers(&(index + Size::var(NVar::new(0))), &Size::var(NVar::new(1000))));
    }
}

//! The range rule: which accesses need no run-time test, which sizes are plainly non-negative.
//! Elaboration asks it where a `check` is needed, the checker whether an access is allowed.
//!
//! An index `a` into an array of size `s` is *covered* iff `check a < s` stands before it, or the
//! *range rule* holds for the normal form e of a:
//!
//! 1. all coefficients of e are positive and its names are non-negative (so 0 <= e);
//! 2. each loop index of e, innermost first, is replaced by `bound - 1` as long as all its
//!    coefficients are positive and the names beside it are non-negative (so the new e is an upper
//!    bound of the old one);
//! 3. `s - 1 - e`, for one of these e, is 0 or has only positive coefficients over non-negative
//!    names (so e < s).
//!
//! *Non-negative names* are loop indices, single-name bounds of the loops around, names that are a
//! whole dimension of a non-linear array in scope, `max(_, 0)`, names with a `check n >= 0`, and the
//! names a and b of a `check a ..+ b <= n`.
//! A bound `n1 = max(n, 0)` counts as n: inside the loop the two are equal.
//! A size is *plainly non-negative* by `check s >= 0`, as a sum of such names, or because s is and it is s plus a
//! constant: `n - 1` behind `check n - 2 >= 0`; of the last two, if neither wraps.
//!
//! So `x[i]` and `x[i + 1]` under `i < n - 1`, `x[j]` under `j < i`, `i < n` need no test;
//! `x[ix[i]]` needs its `check`. `x[i*m + j]` with `x: [n*m]` needs none after `check n * m`.
//!
//! # Why a proof over the integers holds for arithmetic that wraps
//!
//! A size has two values: V, its polynomial over the integers, and W, what the program computes, which is
//! V modulo 2^64. Loops run to W, arrays have W elements; steps 1 to 3 speak of V. If they show
//! 0 <= V(e) < W(s), then V(e) is an i64, so it is W(e), and the access is in range. What is between:
//!
//! - *A bound* b is used only if V(b) >= -2^63. An iteration with index i shows i < W(b), and W(b) > V(b)
//!   only below -2^63, so i <= V(b) - 1. (`n - 2*m` may lie below: it is used after `check 2 * m`.)
//! - *The size* enters step 3 in one of two ways. As one name of its own, the length, which is exact
//!   because it is a length; bounds that differ from s by a constant are then that name plus the
//!   constant. Or as its polynomial, if it is *exact*: V(s) = W(s). Since W(s) is the length of an array
//!   that exists, V(s) can only differ from it by a multiple of 2^64. Lengths are less than 2^48; so V(s) is W(s)
//!   where the ranges of its names leave it between 2^48 - 2^64 and 2^64: in `n`, `n - 1`, `n + m`, but not in `n * m`.
//! - *Lengths are less than 2^48*, whether there is memory for the array or not: a new one has the length of another, or
//!   comes after `check n * 32768`, which fails from 2^48 on ([`shown`]). What is given from outside is compared where it comes in.
//! - For all others a program says `check n * m`, which fails where the product of the two *values*
//!   is no i64. It shows V = W for the polynomial if it is known for both operands. Elaboration puts such
//!   checks where an array gets its name (a parameter, a result, a field), so none stands in the
//!   loops that access it. The check is about the values of its operands, whatever they are called:
//!   it means the same after inlining, in a derivative, or where a name has turned out to be a sum.
//! - *Coefficients* of a proof are kept small enough that they do not wrap.
//!
//! *Requires*: scopes are entered and left like the blocks of the program; sizes are normal forms.
//! *Ensures*: covered accesses are within the array, in i64 arithmetic that wraps.
//! *Cost*: learning is constant per fact, leaving a scope undoes only what was learnt in it; a
//! question costs the loop indices that its polynomial mentions.

pub mod accesses;
mod interval;
pub mod shown;

use crate::entity::NVar;
use crate::hash::{HashMap, HashSet};
use crate::prim::{self, Prim};
use crate::size::Size;
use crate::types::Type;
use interval::Interval;

/// A polynomial with more monomials than this is not followed any further: the access then needs
/// a `check`. It bounds the cost of substituting bounds into products of many indices.
const MAX_TERMS: usize = 64;

/// A size fits into memory if this many times of it are an i64: it is less than 2^48.
pub const FITS: i64 = 1 << 15;

/// 2^48: no array has as many elements.
pub const MAX_CELLS: i64 = i64::MAX / FITS + 1;

/// The sum of the coefficients' magnitudes in a proof: below it nothing wraps.
const MAX_NORM: f64 = (1u64 << 61) as f64;

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
    /// Names that are the length of an array, or have been compared with what fits into memory.
    lengths: HashSet<NVar>,
    /// Other sizes that have been compared with it.
    fitting: HashSet<Size>,
    /// Sizes whose value is not negative: of a `check s >= 0`, or a dimension.
    checked_sizes: HashSet<Size>,
    /// Their constants, of those that are the same without it.
    checked_constants: HashMap<Size, Vec<i64>>,
    /// Sizes whose value is that of their polynomial: of a `check a * b`.
    exact: HashSet<Size>,
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
    /// The bound as it is written, and with `max(n, 0)` read as n.
    written: Size,
    bound: Size,
    depth: usize,
    /// No index is larger than this.
    highest: i128,
}

#[derive(Clone, Debug)]
enum Learnt {
    Range(NVar),
    PositiveBound(NVar),
    MaxZero(NVar),
    NonNegative(NVar),
    Length(NVar),
    Fitting(Size),
    CheckedSize(Size),
    Exact(Size),
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
                Some(Learnt::Length(v)) => drop(self.lengths.remove(&v)),
                Some(Learnt::Fitting(s)) => drop(self.fitting.remove(&s)),
                Some(Learnt::CheckedSize(s)) => {
                    self.checked_sizes.remove(&s);
                    let constants = self.checked_constants.get_mut(&without_constant(&s).0);
                    constants.map(Vec::pop);
                }
                Some(Learnt::Exact(s)) => drop(self.exact.remove(&s)),
                Some(Learnt::Below(a, b)) => drop(self.below.remove(&(a, b))),
                Some(Learnt::Within(a, b, c)) => drop(self.within.remove(&(a, b, c))),
                None => break,
            }
        }
    }

    /// A loop index with its bound; indices added later are inner.
    pub fn add_range(&mut self, index: NVar, bound: Size) {
        self.add_non_negative_name(index);
        let mut upper = bound.clone();
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
        let highest = self.highest_index(&upper).min(self.highest_index(&bound));
        let range = Range { written: bound, bound: upper, depth, highest };
        if self.ranges.insert(index, range).is_none() {
            self.undo.push(Learnt::Range(index));
        }
    }

    /// The largest index of a loop with this bound.
    fn highest_index(&self, bound: &Size) -> i128 {
        let largest = i128::from(i64::MAX) - 1;
        let interval = self.interval(bound);
        if self.is_upper_bound(bound) { largest.min(interval.high - 1) } else { largest }
    }

    /// `name = max(of, 0)`.
    pub fn add_max_zero(&mut self, name: NVar, of: Size) {
        self.add_non_negative_name(name);
        if self.max_zero.insert(name, of).is_none() {
            self.undo.push(Learnt::MaxZero(name));
        }
    }

    /// A non-linear value of this type is in scope: its dimensions are not negative, and fit into memory.
    pub fn add_type(&mut self, ty: &Type) {
        ty.for_each_size(&mut |size| {
            self.add_dimension(size);
            self.add_fitting(size);
        });
    }

    /// This is not negative, whatever it measures.
    fn add_dimension(&mut self, size: &Size) {
        if size.as_constant().is_none() {
            self.add_non_negative(size.clone());
        }
    }

    /// `check index < size`.
    pub fn add_below(&mut self, index: Size, size: Size) {
        if self.below.insert((index.clone(), size.clone())) {
            self.undo.push(Learnt::Below(index, size));
        }
    }

    /// `check lo ..+ len <= size`, which also shows that `lo` and `len` are not negative, and not more than the size.
    pub fn add_within(&mut self, lo: Size, len: Size, size: Size) {
        let fits = self.is_fitting(&size);
        for part in [&lo, &len] {
            self.add_dimension(part);
            if fits {
                self.add_fitting(part);
            }
        }
        if self.within.insert((lo.clone(), len.clone(), size.clone())) {
            self.undo.push(Learnt::Within(lo, len, size));
        }
    }

    /// `check size >= 0`.
    pub fn add_non_negative(&mut self, size: Size) {
        if let Some(name) = size.as_var() {
            self.add_non_negative_name(name);
        } else if !self.checked_sizes.contains(&size) {
            self.checked_sizes.insert(size.clone());
            let (rest, constant) = without_constant(&size);
            self.checked_constants.entry(rest).or_default().push(constant);
            self.undo.push(Learnt::CheckedSize(size));
        }
    }

    /// `check a * b`, `check a + b`, `check a - b`: the operation on the two values does not wrap.
    pub fn add_exact(&mut self, operation: Prim, a: &Size, b: &Size) {
        let product = operation == prim::IMUL;
        for (size, times) in [(a, b), (b, a)] {
            if product && times.as_constant().is_some_and(|times| times >= FITS) {
                self.add_fitting(size);
            }
        }
        let norm = if product { norm(a) * norm(b) } else { norm(a) + norm(b) };
        if norm >= MAX_NORM || a.terms().len() * b.terms().len() > MAX_TERMS {
            return;
        }
        // What is known of a product does not say that its operands did not wrap.
        if !self.is_exact(a) || !self.is_exact(b) {
            return;
        }
        let size = match operation {
            prim::IMUL => a.clone() * b.clone(),
            prim::IADD => a.clone() + b.clone(),
            prim::ISUB => a.clone() - b.clone(),
            _ => return,
        };
        if self.exact.insert(size.clone()) {
            self.undo.push(Learnt::Exact(size));
        }
    }

    /// The value of a size times [`FITS`] is an i64.
    fn add_fitting(&mut self, size: &Size) {
        if let Some(name) = size.as_var() {
            self.add_length(name);
        } else if !self.is_small(size) && self.fitting.insert(size.clone()) {
            self.undo.push(Learnt::Fitting(size.clone()));
        }
    }

    fn is_small(&self, size: &Size) -> bool {
        size.as_constant().is_some_and(|n| i128::from(n) <= interval::MAX_LENGTH)
    }

    fn add_length(&mut self, name: NVar) {
        if self.lengths.insert(name) {
            self.undo.push(Learnt::Length(name));
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
        // Distances that do not wrap together, so that the length and they add up to the size.
        let fits = |size: Size| size.as_constant().is_some_and(|k| (0..1 << 61).contains(&k));
        self.within.contains(&(lo.clone(), len.clone(), size.clone()))
            || (fits(lo.clone())
                && fits(size.clone() - lo.clone() - len.clone())
                && self.is_plainly_non_negative(len))
    }

    /// Whether the value of a size is plainly non-negative: of a `check`, not less than that of such a size from which it
    /// differs by a constant, or a sum of what is not negative.
    pub fn is_plainly_non_negative(&self, size: &Size) -> bool {
        self.checked_sizes.contains(size)
            || self.is_exact(size)
                && (self.is_sum_of_non_negatives(size) || self.is_above_checked(size))
    }

    /// Whether a size is plainly less than 2^48: because it has been compared, or is that of an array, or less than such sizes.
    pub fn is_fitting(&self, size: &Size) -> bool {
        self.fitting.contains(size)
            || self.is_exact(size) && self.interval(size).high <= interval::MAX_LENGTH
    }

    /// Whether a size with a smaller constant, else the same, has been checked, and is the value of its polynomial.
    fn is_above_checked(&self, size: &Size) -> bool {
        let (rest, constant) = without_constant(size);
        let checked = self.checked_constants.get(&rest).into_iter().flatten();
        let Some(least) = checked.min().filter(|least| **least <= constant) else { return false };
        rest.checked_add(&Size::constant(*least)).is_some_and(|checked| self.is_exact(&checked))
    }

    /// Whether all coefficients are positive and all names non-negative.
    fn is_sum_of_non_negatives(&self, size: &Size) -> bool {
        size.terms()
            .iter()
            .all(|(names, coefficient)| *coefficient > 0 && self.are_non_negative(names))
    }

    fn are_non_negative(&self, names: &[NVar]) -> bool {
        names.iter().all(|name| *name == Size::length_name() || self.non_negative.contains(name))
    }

    /// Whether the value of a size is plainly that of its polynomial.
    pub fn is_exact(&self, size: &Size) -> bool {
        size.as_var().is_some() || self.exact.contains(size) || self.interval(size).is_i64()
    }

    /// The same for the size of an array that exists.
    pub fn is_exact_dimension(&self, size: &Size) -> bool {
        size.as_var().is_some() || self.exact.contains(size) || self.interval(size).is_dimension()
    }

    /// Whether an index below the value of a bound is below its polynomial.
    fn is_upper_bound(&self, bound: &Size) -> bool {
        self.exact.contains(bound) || self.interval(bound).low >= i128::from(i64::MIN)
    }

    /// The same for the bound of a loop that is being run.
    fn is_exact_bound(&self, bound: &Size) -> bool {
        self.is_upper_bound(bound) && self.interval(bound).high < 1 << 64
            || self.exact.contains(bound)
    }

    /// Whether an upper bound of `index`, made by replacing loop indices by their largest values
    /// from the innermost outwards, is plainly below `size`: the size as a name of its own, or its
    /// polynomial.
    fn is_below(&self, index: &Size, size: &Size) -> bool {
        let length = Size::var(Size::length_name());
        let of_bound = |range: &Range| {
            let near = |bound: &Size| {
                let k = (bound.clone() - size.clone()).as_constant()?;
                (norm(bound) + norm(size) < MAX_NORM).then(|| length.clone() + Size::constant(k))
            };
            near(&range.written).or_else(|| near(&range.bound)).or_else(|| self.upper(range))
        };
        self.reaches_below(index, &length, &of_bound)
            || self.is_exact_dimension(size)
                && self.reaches_below(index, size, &|range| self.upper(range))
    }

    fn upper(&self, range: &Range) -> Option<Size> {
        [&range.bound, &range.written].into_iter().find(|b| self.is_upper_bound(b)).cloned()
    }

    fn reaches_below(
        &self,
        index: &Size,
        size: &Size,
        of_bound: &dyn Fn(&Range) -> Option<Size>,
    ) -> bool {
        let last = size.clone() - Size::constant(1);
        let mut upper = index.clone();
        let mut depth = usize::MAX;
        loop {
            if norm(&upper) + norm(&last) >= MAX_NORM {
                return false;
            }
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
            let grows = upper
                .terms()
                .iter()
                .all(|(names, c)| !names.contains(&name) || *c > 0 && self.are_non_negative(names));
            if let (true, Some(bound)) = (grows, of_bound(range)) {
                let largest = bound - Size::constant(1);
                if upper.terms().len() * largest.terms().len() > MAX_TERMS
                    || norm_after(&upper, name, &largest) >= MAX_NORM
                {
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
        let of = |name: NVar| {
            self.positive_bounds.get(&name).filter(|of| self.is_exact_bound(of)).cloned()
        };
        let names = size.names();
        let grown = names.iter().filter_map(|n| of(*n).map(|of| norm(&of))).fold(1.0, f64::max);
        let degree = size.terms().iter().map(|(names, _)| names.len()).max().unwrap_or(0);
        if norm(size) * grown.powi(degree as i32) >= MAX_NORM {
            return size.clone();
        }
        size.subst(&mut |name| of(name))
    }

    /// Where the polynomial of a size lies.
    fn interval(&self, size: &Size) -> Interval {
        let mut sum = Interval::constant(0);
        for (names, c) in size.terms() {
            let mut product =
                names.iter().fold(Interval::constant(1), |p, v| p * self.range_of(*v));
            let times = i128::from(*c).abs();
            // What is exact is an i64.
            if names.len() > 1 && self.exact.contains(&Size::monomial(names)) {
                product = product.meet(Interval::I64);
            }
            product = product * Interval::constant(times);
            let whole = Size::monomial(names) * Size::constant(c.saturating_abs());
            if times > 1 && !names.is_empty() && self.exact.contains(&whole) {
                product = product.meet(Interval::I64);
            }
            sum = sum + product * Interval::constant(c.signum());
        }
        sum
    }

    fn range_of(&self, name: NVar) -> Interval {
        let mut range = Interval::I64;
        if self.non_negative.contains(&name) || name == Size::length_name() {
            range.low = 0;
        }
        if self.lengths.contains(&name) {
            range.high = interval::MAX_LENGTH;
        }
        if let Some(bounds) = self.ranges.get(&name) {
            range.high = range.high.min(bounds.highest.max(0));
        }
        range
    }
}

/// The sum of the magnitudes of the coefficients.
fn norm(size: &Size) -> f64 {
    size.terms().iter().map(|(_, c)| (*c as f64).abs()).sum()
}

/// A bound of the norm, and of all numbers in between, when a name is replaced.
fn norm_after(size: &Size, name: NVar, by: &Size) -> f64 {
    let by = norm(by).max(1.0);
    let power = |names: &[NVar]| names.iter().filter(|n| **n == name).count() as i32;
    size.terms().iter().map(|(names, c)| (*c as f64).abs() * by.powi(power(names))).sum()
}

/// A size as one without a constant, and the constant.
fn without_constant(size: &Size) -> (Size, i64) {
    let found = size.terms().iter().find(|(names, _)| names.is_empty());
    let constant = found.map_or(0, |(_, constant)| *constant);
    (size.clone() - Size::constant(constant), constant)
}

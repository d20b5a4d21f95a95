//! How far apart cells of arrays with three dimensions or more are.
//!
//! The loop back through steps of a field in space adds to cells in neighbouring rows and planes:
//!
//! ```text
//! p = x * s; q = y * n                        s = m * n
//! if y > 0 && y < m - 1 {
//!   for down (z in 1 .. n - 1) {
//!     g[p + q + z] += ..                      the row y of the plane x
//!     g[p + q + n + z] += ..                  the row behind it
//!     g[p + s + q + z] += ..                  the row y of the plane behind
//! } }
//! ```
//!
//! The places are polynomials in the dimensions. No two iterations reach one cell if the difference is at least as large as the loop is long: above, of the last two
//! s - n, and the loop has n - 2 iterations. That m is 3 at least and n too is what the branch says, and that the loop runs. A polynomial is no less than zero if it
//! has no negative coefficient where each variable is the least that it can be and something more.
//!
//! Requires: every access is in range, no dimension is negative, and their product, the length of the array, is that of an array in memory.
//! Cost: constant for each question.

use cranelift_entity::EntityRef;
use jut_ir::entity::NVar;
use jut_ir::hash::HashMap;
use jut_ir::{Literal, Size, prim};

use super::Distances;
use super::linear::Linear;
use crate::form::{Atom, Value};

/// Products in products, and conditions in conditions.
const DEEPEST: usize = 4;

/// Coefficients up to this leave a difference far below what an integer holds.
const LARGEST: u64 = 1 << 10;

/// A constant beside a dimension or an index of a loop: such sums do not wrap.
const SMALL: i64 = 16;

/// Rounds in which the least that a variable can be is found from that of others.
const ROUNDS: usize = 3;

impl Distances {
    /// Whether no two iterations of the loop with this index reach one cell of an array, where so much lies between the cells of one iteration, or
    /// `width` more or less.
    pub(super) fn are_planes_apart(
        &self,
        array: Value,
        difference: &Linear,
        index: Value,
        width: i64,
    ) -> bool {
        self.planes_apart(array, difference, index, width).unwrap_or(false)
    }

    fn planes_apart(
        &self,
        array: Value,
        difference: &Linear,
        index: Value,
        width: i64,
    ) -> Option<bool> {
        let dimensions = self.dimensions(array)?;
        let apart = self.polynomial(difference, DEEPEST)?;
        let small = |times: i64| times.unsigned_abs() <= LARGEST;
        let part = |names: &[NVar]| {
            names.iter().all(|name| {
                let count = |of: &[NVar]| of.iter().filter(|n| *n == name).count();
                count(names) <= count(dimensions)
            })
        };
        if !apart.terms().iter().all(|(names, times)| small(*times) && part(names)) {
            return None;
        }
        let trips = dimensions.iter().find_map(|n| self.trips(index, of(*n)))?;
        let least = self.least(dimensions, &trips, index);
        let from = |polynomial: Size| {
            let left = polynomial.checked_sub(&self.polynomial(&trips.and(width), DEEPEST)?)?;
            if !left.names().iter().all(|name| least.contains_key(name)) {
                return None;
            }
            let more = left.subst(&mut |name| {
                Size::var(name).checked_add(&Size::constant(*least.get(&name)?))
            });
            Some(more.terms().iter().all(|(_, times)| *times >= 0))
        };
        let back = Size::constant(0).checked_sub(&apart)?;
        Some(from(apart).unwrap_or(false) || from(back).unwrap_or(false))
    }

    /// A sum with products written out.
    fn polynomial(&self, sum: &Linear, depth: usize) -> Option<Size> {
        let mut all = Size::constant(sum.offset());
        for (v, times) in sum.terms() {
            let term = match self.product(*v) {
                Some([a, b]) if depth > 0 => {
                    let [a, b] = [a, b].map(|x| self.polynomial(&self.sum(x), depth - 1));
                    a?.checked_mul(&b?)?
                }
                _ => Size::var(name(*v)),
            };
            all = all.checked_add(&term.checked_mul(&Size::constant(*times))?)?;
        }
        Some(all)
    }

    /// The dimensions that an integer is the product of.
    pub(super) fn factors(&self, length: Atom) -> Option<Vec<NVar>> {
        match self.polynomial(&self.sum(length), DEEPEST)?.terms() {
            [(names, 1..)] if !names.is_empty() => Some(names.clone()),
            _ => None,
        }
    }

    /// The least that dimensions and indices of loops can be, where the loop with this index has so many iterations, and one at least.
    fn least(&self, dimensions: &[NVar], trips: &Linear, index: Value) -> HashMap<NVar, i64> {
        let mut least: HashMap<NVar, i64> = dimensions.iter().map(|n| (*n, 0)).collect();
        let mut facts = vec![trips.clone()];
        for condition in self.conditions(index) {
            self.facts(*condition, dimensions, &mut facts, DEEPEST);
        }
        for fact in &facts {
            for (v, _) in fact.terms() {
                if let Some(low) = self.lowest(*v) {
                    least.insert(name(*v), low);
                }
            }
        }
        for _ in 0..ROUNDS {
            for fact in &facts {
                for (v, _) in fact.terms().iter().filter(|(_, times)| *times == 1) {
                    // What the others take away.
                    let mut bound = 1i64.checked_sub(fact.offset());
                    for (other, times) in fact.terms().iter().filter(|(other, _)| other != v) {
                        let low = least.get(&name(*other)).filter(|_| *times < 0);
                        let taken = low.and_then(|low| low.checked_mul(-*times));
                        bound = bound.zip(taken).and_then(|(a, b)| a.checked_add(b));
                    }
                    if let (Some(bound), Some(known)) = (bound, least.get_mut(&name(*v))) {
                        *known = bound.max(*known);
                    }
                }
            }
        }
        least
    }

    /// What a condition says is one at least.
    fn facts(&self, condition: Atom, dimensions: &[NVar], facts: &mut Vec<Linear>, depth: usize) {
        let Atom::Value(condition) = condition else { return };
        let (Some((prim, [a, b])), 1..) = (self.test(condition), depth) else { return };
        if prim == prim::AND {
            self.facts(a, dimensions, facts, depth - 1);
            self.facts(b, dimensions, facts, depth - 1);
            return;
        }
        let [x, y] = [a, b].map(|side| self.sum(side));
        let exact = |side: &Linear| match side.terms() {
            [] => side.offset().unsigned_abs() <= LARGEST,
            [(v, 1)] if dimensions.contains(&name(*v)) => side.offset().abs() <= SMALL,
            [(v, 1)] => self.lowest(*v).is_some() && (-SMALL..=0).contains(&side.offset()),
            _ => false,
        };
        if !exact(&x) || !exact(&y) {
            return;
        }
        facts.extend(match prim {
            prim::ILT => Some(y.plus(&x, -1)),
            prim::ILE => Some(y.plus(&x, -1).and(1)),
            prim::IGT => Some(x.plus(&y, -1)),
            prim::IGE => Some(x.plus(&y, -1).and(1)),
            _ => None,
        });
    }

    /// The least that the index of a loop can be, if that is written down and not negative.
    fn lowest(&self, index: Value) -> Option<i64> {
        match self.begin(index)? {
            Atom::Lit(Literal::I64(low @ 0..=SMALL)) => Some(low),
            _ => None,
        }
    }
}

/// A value as a variable.
fn name(value: Value) -> NVar {
    NVar::new(value.index())
}

/// The value that a variable is.
fn of(name: NVar) -> Atom {
    Atom::Value(Value::new(name.index()))
}

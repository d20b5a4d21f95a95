//! Where in an array of rows the iterations of two loops in each other meet.
//!
//! ```text
//! for down (k in 0 .. j) {
//!   for down (i in 0 .. m) {                               m = n - j
//!     a = g[(j + i) n + j]                                 row j + i, column j
//!     g[j n + k] += ..                                     row j,     column k
//!     g[(j + i) n + k] += ..                               row j + i, column k
//! } }
//! ```
//!
//! Two cells are one if their rows are and their columns. Above, two iterations that meet in the row j have one k, and two that meet in a row j + i have
//! one i; the column j is none of the columns k, which are below it. So of any two that meet in a cell one index is the same, and they keep
//! their order if the loops change places.
//!
//! Requires: every access is in range. Cost: constant for each question.

use super::Distances;
use super::linear::Linear;
use crate::form::{Atom, Value};

/// A cell of an array in rows.
#[derive(Clone, Debug)]
pub struct Spot {
    /// The array.
    pub array: Value,
    /// How many cells a row has; none if the array is one row.
    length: Option<Linear>,
    /// Which row it is, and which cell of it.
    pub place: [Linear; 2],
}

impl Distances {
    /// The cell of a buffer at an index, if it is known to be one of a row of an array of so many rows.
    pub fn spot(&self, buffer: Value, index: Atom) -> Option<Spot> {
        let (array, at) = self.place(buffer, index);
        let products = at.terms().iter().filter(|(v, _)| self.product(*v).is_some());
        let mut products = products.copied();
        let row = products.next();
        if products.next().is_some() {
            return None;
        }
        let Some((beginning, times)) = row else {
            return Some(Spot { array, length: None, place: [Linear::default(), at] });
        };
        let column = at.with(beginning, &Linear::default());
        let [a, b] = self.product(beginning).filter(|_| times == 1)?;
        [(a, b), (b, a)].into_iter().find_map(|(row, length)| {
            let row = self.sum(row);
            let long = self.sum(length);
            // As many rows as the array has: places do not wrap.
            let [x, y] = self.grid(array)?;
            let rows = if self.sum(y) == long {
                x
            } else if self.sum(x) == long {
                y
            } else {
                return None;
            };
            let within = |at: &Linear, bound: &Linear, length| {
                self.at_least(at, 0, length) && self.at_least(&bound.plus(at, -1), 1, length)
            };
            let fits = within(&row, &self.sum(rows), length) && within(&column, &long, length);
            fits.then(|| Spot { array, length: Some(long), place: [row, column.clone()] })
        })
    }

    /// Whether two iterations that meet in a cell, one there and one here, have one of these indices in common.
    pub fn meet_in_order(&self, a: &Spot, b: &Spot, indices: [Value; 2]) -> bool {
        self.is_one_of(a, b, |f, g| {
            let both = indices.map(|v| (f.of(v), g.of(v)));
            let apart = f.plus(g, -1);
            match both {
                [(x, y), (0, 0)] | [(0, 0), (x, y)] if x == y && x != 0 => {
                    apart.terms().is_empty() && (apart.offset() == 0 || apart.offset() % x != 0)
                }
                _ => false,
            }
        }) || self.never_meet(a, b, indices)
    }

    /// Whether two iterations that meet in a cell have the second of these indices in common.
    pub fn meet_in_one(&self, a: &Spot, b: &Spot, indices: [Value; 2]) -> bool {
        let [outer, inner] = indices;
        self.is_one_of(a, b, |f, g| f == g && f.of(inner) != 0 && f.of(outer) == 0)
            || self.never_meet(a, b, indices)
    }

    /// Whether no iteration meets another one, or itself, in a cell, one there and one here.
    pub fn never_meet(&self, a: &Spot, b: &Spot, indices: [Value; 2]) -> bool {
        self.is_one_of(a, b, |f, g| {
            let alone = indices.iter().all(|v| f.of(*v) == 0 || g.of(*v) == 0);
            alone && self.differ(a, &f.plus(g, -1))
        })
    }

    /// Whether two rows are different ones in all iterations but the first of a loop with this index, and not known to be in the first.
    pub fn meet_in_first(&self, a: &Spot, b: &Spot, index: Value) -> bool {
        let rows = a.place[0].plus(&b.place[0], -1);
        let later = rows.with(index, &Linear::value(index).and(1));
        a.array == b.array && rows != later && !self.differ(a, &rows) && self.differ(a, &later)
    }

    /// Whether a difference of rows or columns is certain to be none.
    fn differ(&self, of: &Spot, difference: &Linear) -> bool {
        let length = of
            .length
            .as_ref()
            .and_then(Linear::as_atom)
            .unwrap_or(Atom::Lit(jut_ir::Literal::I64(0)));
        let back = Linear::default().plus(difference, -1);
        self.at_least(difference, 1, length) || self.at_least(&back, 1, length)
    }

    /// Whether both are cells of one array in rows of one length, and something holds of the rows or of the columns.
    fn is_one_of(&self, a: &Spot, b: &Spot, holds: impl Fn(&Linear, &Linear) -> bool) -> bool {
        a.array == b.array
            && a.length == b.length
            && a.place.iter().zip(&b.place).any(|(f, g)| holds(f, g))
    }
}

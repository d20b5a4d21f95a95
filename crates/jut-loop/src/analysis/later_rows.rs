//! A cell of one row, and rows behind it that a loop goes through.
//!
//! The loop back through an elimination in place adds to a cell of row p while it goes through the rows from p on:
//!
//! ```text
//! g = alloc f64[size]                              size = n * m
//! first = p * m; r = g[first ..]
//! for down (i in 1 .. high) {                      high = n - p, or no less than 0
//!   q = p + i; begin = q * m; s = g[begin ..]
//!   .. r[k] ..  .. s[k] .. s[j] ..                 k < m, j >= 0
//! }
//! ```
//!
//! From i = 1 on none of the cells of s is `r[k]`: they are i m cells further on, plus j and less k, and k is less than m. With
//! p + i < n this is within the array, so no product wraps. To [`Roots`](super::Roots) both are the same memory.
//!
//! Requires: every access is in range, and lengths of what is allocated are products that do not wrap. Cost: linear, and
//! constant for each question.

use cranelift_entity::SecondaryMap;
use jut_ir::prim::{self, Prim};
use jut_ir::{Literal, hash::HashMap};

use super::shifts::Shifts;
use crate::form::{Atom, LoopFunction, Stmt, Value};

/// Bounds of loops in loops that are followed.
const DEEPEST: usize = 8;

/// What is known of the rows and loops of a function.
#[derive(Default)]
pub struct LaterRows {
    /// The buffer of which a buffer is a part, and the cell where it begins.
    begins: SecondaryMap<Value, Option<(Value, Atom)>>,
    /// The length of what is allocated.
    lengths: SecondaryMap<Value, Option<Atom>>,
    /// Sums, differences, products and maxima of integers.
    definitions: SecondaryMap<Value, Option<(Prim, [Atom; 2])>>,
    /// Where the index of a loop begins and ends.
    loops: HashMap<Value, [Atom; 2]>,
    shifts: Shifts,
}

impl LaterRows {
    /// Looks at a function.
    pub fn of(func: &LoopFunction) -> LaterRows {
        let mut rows = LaterRows::default();
        func.body.for_each(&mut |stmt| {
            rows.shifts.learn(stmt);
            match stmt {
                Stmt::Offset { dst, buffer, index } => {
                    rows.begins[*dst] = Some((*buffer, *index));
                }
                Stmt::Alloc { dst, len, .. } => rows.lengths[*dst] = Some(*len),
                Stmt::For(f) => {
                    rows.loops.insert(f.index, [f.low, f.high]);
                }
                Stmt::Prim { dst, prim, args } => {
                    if let [a, b] = args[..] {
                        rows.definitions[*dst] = Some((*prim, [a, b]));
                    }
                }
                _ => {}
            }
        });
        rows
    }

    /// Whether a buffer is a row that comes behind the row of a cell, by the index of a loop that starts at
    /// `start`, and its cell at `index` is another one once that loop has come so far as 1.
    pub fn is_later(&self, [row, cell]: [Atom; 2], [other, index]: [Atom; 2], start: i64) -> bool {
        let (Atom::Value(row), Atom::Value(other)) = (row, other) else { return false };
        let (Some((of, first)), Some((array, begin))) = (self.begins[row], self.begins[other])
        else {
            return false;
        };
        let Some(size) = self.lengths[of].filter(|_| of == array) else { return false };
        self.parts(first, prim::IMUL).any(|(p, m)| {
            self.parts(begin, prim::IMUL).any(|(q, length)| {
                self.same(m, length)
                    && self
                        .parts(q, prim::IADD)
                        .any(|(a, i)| self.same(a, p) && self.loop_ends_with(i, p, start, size, m))
            })
        }) && self.parts(first, prim::IMUL).any(|(_, m)| self.is_below(cell, m, DEEPEST))
            && self.is_not_negative(index)
    }

    /// Whether `i` is the index of a loop from `start` to n - p, where `size` is n m.
    fn loop_ends_with(&self, i: Atom, p: Atom, start: i64, size: Atom, m: Atom) -> bool {
        let Atom::Value(i) = i else { return false };
        let Some([low, high]) = self.loops.get(&i).copied() else { return false };
        let ends_behind = |high: Atom| {
            self.parts(size, prim::IMUL).any(|(n, length)| {
                let to_the_end = match self.definition(high) {
                    Some((prim::ISUB, [a, b])) => self.same(a, n) && self.same(b, p),
                    _ => false,
                };
                to_the_end && self.same(length, m)
            })
        };
        let zero = |a: Atom| a == Atom::Lit(Literal::I64(0));
        let bound = match self.definition(high) {
            Some((prim::IMAX, [a, b])) if zero(b) => a,
            Some((prim::IMAX, [a, b])) if zero(a) => b,
            _ => high,
        };
        low == Atom::Lit(Literal::I64(start)) && ends_behind(bound) && self.is_not_negative(p)
    }

    fn definition(&self, atom: Atom) -> Option<(Prim, [Atom; 2])> {
        match atom {
            Atom::Value(v) => self.definitions.get(v).copied().flatten(),
            Atom::Lit(_) => None,
        }
    }

    /// The two operands of an operation, either way round.
    fn parts(&self, atom: Atom, operation: Prim) -> impl Iterator<Item = (Atom, Atom)> + use<> {
        let parts = self.definition(atom).filter(|(prim, _)| *prim == operation);
        parts.into_iter().flat_map(|(_, [a, b])| [(a, b), (b, a)])
    }

    fn same(&self, a: Atom, b: Atom) -> bool {
        self.shifts.of(a) == self.shifts.of(b)
    }

    /// Whether an integer is the index of a loop that ends at another, or at such an index.
    fn is_below(&self, a: Atom, bound: Atom, depth: usize) -> bool {
        let Atom::Value(v) = a else { return false };
        let Some([_, high]) = self.loops.get(&v).copied().filter(|_| depth > 0) else {
            return false;
        };
        self.is_not_negative(a) && (self.same(high, bound) || self.is_below(high, bound, depth - 1))
    }

    fn is_not_negative(&self, a: Atom) -> bool {
        match a {
            Atom::Lit(Literal::I64(k)) => k >= 0,
            Atom::Lit(_) => false,
            Atom::Value(v) => {
                matches!(self.loops.get(&v), Some([Atom::Lit(Literal::I64(0..)), _]))
            }
        }
    }
}

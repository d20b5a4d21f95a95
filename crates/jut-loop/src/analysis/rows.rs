//! Rows of one array: buffers that begin a whole number of rows apart.
//!
//! To [`Roots`](super::Roots) the row before and the row behind are the same memory. A loop over the columns of a
//! grid that writes to both does not write to one cell twice, though, as long as it stays within the rows:
//!
//! ```text
//! up = i - 1; down = i + 1
//! r = up * m;   above = g[r ..]
//! s = down * m; below = g[s ..]
//! for up (j in 1 .. last) { .. above[j] .. below[j] .. }        last = m - 1
//! ```
//!
//! Two cells of different rows are `k m` cells apart, plus the difference of their columns, which is less
//! than m: the loop's range and the constants that are added to the index say so.
//!
//! Requires: every access is in range. Cost: linear, and constant for each question.

use cranelift_entity::SecondaryMap;
use jut_ir::Literal;
use jut_ir::prim;

use super::shifts::{Shift, Shifts};
use crate::form::{Atom, LoopFunction, Stmt, Value};

/// Rows further apart than this are not looked at: so no product can wrap.
const FAR: i64 = 16;

/// What is known of the beginnings of a function's buffers.
#[derive(Default)]
pub struct Rows {
    /// The buffer of which a buffer is a part, and the cell where it begins.
    begins: SecondaryMap<Value, Option<(Value, Atom)>>,
    products: SecondaryMap<Value, Option<[Atom; 2]>>,
    /// Of `max(x, k)` x and k.
    at_least: SecondaryMap<Value, Option<(Atom, i64)>>,
    shifts: Shifts,
}

impl Rows {
    /// Looks at a function.
    pub fn of(func: &LoopFunction) -> Rows {
        let mut rows = Rows::default();
        func.body.for_each(&mut |stmt| {
            rows.shifts.learn(stmt);
            match stmt {
                Stmt::Offset { dst, buffer, index } => {
                    rows.begins[*dst] = Some((*buffer, *index));
                }
                Stmt::Prim { dst, prim: prim::IMUL, args } => {
                    if let [a, b] = args[..] {
                        rows.products[*dst] = Some([a, b]);
                    }
                }
                Stmt::Prim { dst, prim: prim::IMAX, args } => {
                    if let [x, Atom::Lit(Literal::I64(k))] | [Atom::Lit(Literal::I64(k)), x] =
                        args[..]
                    {
                        rows.at_least[*dst] = Some((x, k));
                    }
                }
                _ => {}
            }
        });
        rows
    }

    /// Whether a loop with these bounds, which accesses two buffers at its index plus constants that are at most
    /// `width` apart, cannot reach one cell through both: they begin in different rows, and it stays
    /// within a row.
    pub fn are_apart(&self, a: Value, b: Value, [low, high]: [Atom; 2], width: i64) -> bool {
        let (Some((of, a)), Some((other, b))) = (self.begins[a], self.begins[b]) else {
            return false;
        };
        let low = self.shifts.of(low);
        let high = self.shifts.of(self.last_of(low, high));
        of == other
            && self.factors(a).any(|(x, m)| {
                let length = self.shifts.of(m);
                let within = low.base.is_none() && high.base == length.base && {
                    let trips = high.offset.checked_sub(low.offset);
                    let reach = trips.and_then(|trips| trips.checked_add(width));
                    reach.is_some_and(|reach| reach <= length.offset)
                };
                within
                    && self.factors(b).any(|(y, n)| {
                        let (x, y) = (self.shifts.of(x), self.shifts.of(y));
                        let near = x.offset.checked_sub(y.offset).is_some_and(|k| k.abs() < FAR);
                        self.shifts.of(n) == length && near && x.is_apart_from(y)
                    })
            })
    }

    /// The bound of a loop that runs: of `max(x, k)` x, if the loop would not run up to k.
    fn last_of(&self, low: Shift, high: Atom) -> Atom {
        let Atom::Value(v) = high else { return high };
        match self.at_least[v] {
            Some((x, k)) if low.base.is_none() && k <= low.offset => x,
            _ => high,
        }
    }

    /// An integer as a product of two others, either way round.
    fn factors(&self, product: Atom) -> impl Iterator<Item = (Atom, Atom)> {
        let factors = match product {
            Atom::Value(v) => self.products[v],
            Atom::Lit(_) => None,
        };
        factors.into_iter().flat_map(|[a, b]| [(a, b), (b, a)])
    }
}

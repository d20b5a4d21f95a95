//! How far apart two cells are that a loop accesses, from one iteration to another.
//!
//! The loop back through an elimination in place adds to a row of a matrix, and to a row behind it:
//!
//! ```text
//! for down (i in 0 .. m) {                         m = max(n - k - 1, 0)
//!   p = k * n; a = g[p ..]                         row k
//!   l = k + i + 1; q = l * n; b = g[q ..]          a row behind it
//!   for down (j in 0 .. m) { .. a[k + 1 + j] .. b[k + 1 + j] .. }
//! }
//! ```
//!
//! Places are taken apart into the array, what the index is multiplied by, what is the same in all iterations, and a constant. Where
//! all but the last are the same, so many cells lie between the places in every iteration. Of cells in different rows it is known that
//! no two iterations reach the same one, if these are fewer than a row is long: above, row l is i + 1 rows behind row k, and the
//! columns of two iterations differ by less than n - k. Nor is `a[j]`, with j below n, a cell of a row behind it, whatever is reached there.
//!
//! Requires: every access is in range, lengths of rows are not negative, and those of what is allocated do not wrap.
//! Cost: linear, and constant for each question.

use cranelift_entity::{EntityRef, SecondaryMap};
use jut_ir::Literal;
use jut_ir::entity::NVar;
use jut_ir::prim::{self, Prim};

use super::linear::{Linear, Linears};
use crate::form::{Atom, Block, For, LoopFunction, Param, Stmt, Value};

/// Indices of loops in loops that are replaced by their bounds.
const DEEPEST: usize = 8;

/// Rows further apart than this are looked at only in what is allocated: products up to it do not wrap.
const FAR: i64 = 16;

/// What bounds of loops are at least, so that they are what the sums say: no difference of two lengths is less.
const LEAST: i64 = -(1 << 40);

/// A cell that each iteration of a loop accesses.
#[derive(Clone, Debug)]
pub struct Reached {
    array: Value,
    /// By how much it grows from one iteration to the next, what it is without that, and a constant.
    step: i64,
    same: Linear,
    offset: i64,
}

impl Reached {
    /// By how much it grows from one iteration to the next.
    pub fn step(&self) -> i64 {
        self.step
    }

    /// The constant in its place.
    pub fn offset(&self) -> i64 {
        self.offset
    }

    /// Whether another one lies a constant away from it in every iteration.
    pub fn is_beside(&self, other: &Reached) -> bool {
        (self.array, self.step, &self.same) == (other.array, other.step, &other.same)
    }
}

/// What is known of two cells.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Distance {
    /// No two iterations reach one cell.
    Apart,
    /// An iteration reaches the second as the first of the iteration so far behind it.
    Iterations(i64),
    /// Nothing.
    Unknown,
}

/// What is known of the integers, rows and loops of a function.
#[derive(Default)]
pub struct Distances {
    linears: Linears,
    /// The buffer of which a buffer is a part, and the cell where it begins.
    begins: SecondaryMap<Value, Option<(Value, Atom)>>,
    products: SecondaryMap<Value, Option<[Atom; 2]>>,
    /// Of a matrix that is allocated or a parameter its rows and their length, in either order.
    grids: SecondaryMap<Value, Option<[Atom; 2]>>,
    /// Of `max(x, k)` x and k.
    at_least: SecondaryMap<Value, Option<(Atom, i64)>>,
    /// Of `shr(x, k)`, x and 2^k.
    shifted: SecondaryMap<Value, Option<(Value, i64)>>,
    /// Where the index of a loop begins and ends, and how many loops stand before it.
    loops: SecondaryMap<Value, Option<([Atom; 2], usize)>>,
    /// What holds where the loop with this index stands.
    conditions: SecondaryMap<Value, Vec<Atom>>,
    /// Comparisons of integers, and conditions that are both of two.
    tests: SecondaryMap<Value, Option<(Prim, [Atom; 2])>>,
    /// What the length of an array is the product of.
    dimensions: SecondaryMap<Value, Option<Vec<NVar>>>,
}

impl Distances {
    /// Looks at a function.
    pub fn of(func: &LoopFunction) -> Distances {
        let mut known = Distances::default();
        for param in &func.params {
            let all = dimensions(func, param);
            if let Some([a, b]) = all.as_deref() {
                known.grids[param.value] = Some([a, b].map(|n| Atom::Value(Value::new(n.index()))));
            }
            known.dimensions[param.value] = all;
        }
        known.block(&func.body, &mut Vec::new(), &mut 0);
        known
    }

    /// Looks at a block where some conditions hold, in so many loops.
    fn block(&mut self, block: &Block, holds: &mut Vec<Atom>, loops: &mut usize) {
        for stmt in &block.stmts {
            self.learn(stmt, holds, loops);
            if let Stmt::If { cond, then, other, .. } = stmt {
                holds.push(*cond);
                self.block(then, holds, loops);
                holds.pop();
                self.block(other, holds, loops);
            } else {
                stmt.blocks().into_iter().for_each(|block| self.block(block, holds, loops));
            }
        }
    }

    fn learn(&mut self, stmt: &Stmt, holds: &[Atom], loops: &mut usize) {
        self.linears.learn(stmt);
        match stmt {
            Stmt::Offset { dst, buffer, index } => self.begins[*dst] = Some((*buffer, *index)),
            Stmt::Alloc { dst, len, .. } => {
                if let Atom::Value(len) = len {
                    self.grids[*dst] = self.products[*len];
                }
                self.dimensions[*dst] = self.factors(*len);
            }
            Stmt::Prim { dst, prim, args } => match (*prim, args.as_slice()) {
                (prim::IMUL, [a, b]) => self.products[*dst] = Some([*a, *b]),
                (prim::IMAX, [x, Atom::Lit(Literal::I64(k))] | [Atom::Lit(Literal::I64(k)), x]) => {
                    self.at_least[*dst] = Some((*x, *k))
                }
                (prim::SHR, [Atom::Value(x), Atom::Lit(Literal::I64(k @ 1..32))]) => {
                    self.shifted[*dst] = Some((*x, 1 << k));
                }
                (prim::ILT | prim::ILE | prim::IGT | prim::IGE | prim::AND, [a, b]) => {
                    self.tests[*dst] = Some((*prim, [*a, *b]));
                }
                _ => {}
            },
            other => {
                if let Stmt::For(f) = other {
                    self.carried(f);
                }
                if let Some(range) = other.counted() {
                    *loops += 1;
                    self.loops[range.index] = Some(([range.low, range.high], *loops));
                    self.conditions[range.index] = holds.to_vec();
                }
            }
        }
    }

    /// Arrays of the same dimensions that a loop carries, which may change places.
    fn carried(&mut self, f: &For) {
        let of = |atom: &Atom| match atom {
            Atom::Value(v) => self.dimensions[*v].as_ref(),
            Atom::Lit(_) => None,
        };
        let place =
            |result: &Atom| f.carry.iter().position(|(inside, _)| *result == (*inside).into());
        let mut found = Vec::new();
        for (k, (inside, initial)) in f.carry.iter().enumerate() {
            let Some(all) = of(initial) else { continue };
            let next = f.body.results.get(k).and_then(place);
            let same = next.and_then(|next| of(&f.carry[next].1)) == Some(all);
            if !same {
                return;
            }
            found.push((*inside, all.clone()));
            found.extend(f.dst.get(k).map(|last| (*last, all.clone())));
        }
        for (value, all) in found {
            self.dimensions[value] = Some(all);
        }
    }

    /// The cell of a buffer at an index, in a loop with this index; `None` if it does not grow by a constant. `outside` says what is the
    /// same in all iterations.
    pub fn cell(
        &self,
        buffer: Value,
        index: Atom,
        of: Value,
        outside: &dyn Fn(Value) -> bool,
    ) -> Option<Reached> {
        let (array, at) = self.place(buffer, index);
        let (step, offset) = (at.of(of), at.offset());
        let same = at.with(of, &Linear::default()).and(offset.wrapping_neg());
        let fits = outside(array) && same.terms().iter().all(|(value, _)| outside(*value));
        fits.then_some(Reached { array, step, same, offset })
    }

    /// The array that a buffer is a part of, and a place in it.
    pub fn place(&self, buffer: Value, index: Atom) -> (Value, Linear) {
        let mut at = self.linears.of(index);
        let mut array = buffer;
        while let Some((whole, begin)) = self.begins[array] {
            at = at.plus(&self.linears.of(begin), 1);
            array = whole;
        }
        (array, at)
    }

    /// What an integer is the product of.
    pub(super) fn product(&self, integer: Value) -> Option<[Atom; 2]> {
        self.products[integer]
    }

    /// An integer as a sum.
    pub fn sum(&self, integer: Atom) -> Linear {
        self.linears.of(integer)
    }

    /// How many rows an array has and how long these are, in either order.
    pub(super) fn grid(&self, array: Value) -> Option<[Atom; 2]> {
        self.grids[array]
    }

    /// What the length of an array is the product of.
    pub(super) fn dimensions(&self, array: Value) -> Option<&[NVar]> {
        self.dimensions[array].as_deref()
    }

    /// What holds where the loop with this index stands.
    pub(super) fn conditions(&self, index: Value) -> &[Atom] {
        &self.conditions[index]
    }

    /// The operation of a condition, and its operands.
    pub(super) fn test(&self, condition: Value) -> Option<(Prim, [Atom; 2])> {
        self.tests[condition]
    }

    /// Where the index of a loop begins.
    pub(super) fn begin(&self, index: Value) -> Option<Atom> {
        self.loops[index].map(|([low, _], _)| low)
    }

    /// How many iterations the loop with this index has, as a sum that does not wrap, where `length` is not negative.
    pub(super) fn trips(&self, index: Value, length: Atom) -> Option<Linear> {
        let ([low, high], _) = self.loops[index]?;
        let high = self.last_of(low, high, length, DEEPEST)?;
        Some(high.plus(&self.exact(low)?, -1))
    }

    /// Whether a sum is no less than a number, where `length` is not negative and all loops around run.
    pub(super) fn at_least(&self, sum: &Linear, least: i64, length: Atom) -> bool {
        self.is_at_least(sum, least, length, DEEPEST)
    }

    /// How far two cells are apart that a loop with this index accesses.
    pub fn between(&self, a: &Reached, b: &Reached, index: Value) -> Distance {
        if a.array != b.array || a.step != b.step || a.step == 0 {
            return Distance::Unknown;
        }
        let Some(cells) = b.offset.checked_sub(a.offset) else { return Distance::Unknown };
        if a.same != b.same {
            let rest = a.same.plus(&b.same, -1).and(cells.wrapping_neg());
            let apart = a.step == 1
                && (self.are_in_rows_apart(a, b, index)
                    || self.are_planes_apart(a.array, &rest, index, 0));
            return if apart { Distance::Apart } else { Distance::Unknown };
        }
        match cells.checked_rem(a.step) {
            Some(0) => Distance::Iterations(cells / a.step),
            Some(_) => Distance::Apart,
            None => Distance::Unknown,
        }
    }

    /// Whether two cells whose places differ by rows and a constant are different ones, in whatever iterations.
    fn are_in_rows_apart(&self, a: &Reached, b: &Reached, index: Value) -> bool {
        // What is in only one of the places, and the same in both.
        let rest = a.same.plus(&b.same, -1);
        let ([(u, 1), (v, -1)] | [(v, -1), (u, 1)]) = rest.terms()[..] else { return false };
        let width = a.offset.checked_sub(b.offset).and_then(i64::checked_abs);
        width.is_some_and(|width| self.are_rows_apart([u, v], a.array, index, width))
    }

    /// Whether an index is that of a loop up to a length: that is no zero wherever the index is known.
    pub fn is_below(&self, index: Atom, length: Atom) -> bool {
        let Atom::Value(index) = index else { return false };
        matches!(self.loops[index], Some(([Atom::Lit(Literal::I64(0..)), high], _)) if high == length)
    }

    /// Whether a loop with this index, which accesses two buffers at its index plus constants that are at most `width` apart,
    /// cannot reach one cell through both: they begin in different rows of one array, and it stays within a row.
    pub fn are_apart(&self, a: Value, b: Value, index: Value, width: i64) -> bool {
        match (self.begins[a], self.begins[b]) {
            (Some((array, Atom::Value(a))), Some((other, Atom::Value(b)))) => {
                let between = || self.linears.of(a.into()).plus(&self.linears.of(b.into()), -1);
                array == other
                    && (self.are_rows_apart([a, b], array, index, width)
                        || self.are_planes_apart(array, &between(), index, width))
            }
            _ => false,
        }
    }

    /// The same of the beginnings of two rows of an array.
    fn are_rows_apart(
        &self,
        beginnings: [Value; 2],
        array: Value,
        index: Value,
        width: i64,
    ) -> bool {
        self.are_rows(beginnings, |[x, y], m| {
            let behind = |x, y| {
                let rows = self.rows_between(x, y);
                self.is_behind(&rows, &rows, m, array)
            };
            self.is_within(index, width, m) && (behind(x, y) || behind(y, x))
        })
    }

    /// Whether a cell of a row is another one than any that is reached in a second row, because that stands behind the first one:
    /// in all iterations of the loops around, or in all but the first of the loop with this index.
    pub fn is_row_behind(
        &self,
        (row, cell): (Value, Atom),
        (other, index): (Value, Atom),
        but_first: Option<Value>,
    ) -> bool {
        let (Some((array, Atom::Value(first))), Some((whole, Atom::Value(second)))) =
            (self.begins[row], self.begins[other])
        else {
            return false;
        };
        let Some(cell) = self.exact(cell) else { return false };
        let later = |rows: &Linear| match but_first {
            Some(first) => rows.with(first, &Linear::value(first).and(1)),
            None => rows.clone(),
        };
        array == whole
            && self.are_rows([first, second], |[x, y], m| {
                let rows = self.rows_between(y, x);
                self.is_behind(&rows, &later(&rows), m, array)
                    && self.is_at_least(&self.linears.of(m).plus(&cell, -1), 1, m, DEEPEST)
                    && (self.is_in_row(index, m)
                        || self.exact(index).is_some_and(|at| self.is_at_least(&at, 0, m, DEEPEST)))
            })
    }

    /// Whether a cell of a row is another one than that which is reached in a second row, because this stands before the first one.
    pub fn is_row_before(&self, (row, cell): (Value, Atom), (other, index): (Value, Atom)) -> bool {
        let (Some((array, Atom::Value(first))), Some((whole, Atom::Value(second)))) =
            (self.begins[row], self.begins[other])
        else {
            return false;
        };
        let Some(cell) = self.exact(cell) else { return false };
        array == whole
            && self.are_rows([first, second], |[x, y], m| {
                let rows = self.rows_between(x, y);
                self.is_behind(&rows, &rows, m, array)
                    && self.is_at_least(&cell, 0, m, DEEPEST)
                    && self.is_in_row(index, m)
            })
    }

    /// Whether an index is below the length of a row, and not negative: then it does not wrap either.
    fn is_in_row(&self, index: Atom, length: Atom) -> bool {
        let index = self.linears.of(index);
        // Such constants do not wrap where bounds are added to them.
        (LEAST..-LEAST).contains(&index.offset())
            && self.is_at_least(&index, 0, length, DEEPEST)
            && self.is_at_least(&self.linears.of(length).plus(&index, -1), 1, length, DEEPEST)
    }

    /// Whether two cells are different ones in any two iterations, less than [`FAR`] apart, of the loop with this index, because each
    /// iteration has a row of its own. `outside` says what is the same in all iterations.
    pub fn are_in_own_rows(
        &self,
        (row, cell): (Value, Atom),
        (other, index): (Value, Atom),
        of: Value,
        outside: &dyn Fn(Value) -> bool,
    ) -> bool {
        let (Some((array, Atom::Value(first))), Some((whole, Atom::Value(second)))) =
            (self.begins[row], self.begins[other])
        else {
            return false;
        };
        let moves = |x: Atom| {
            let row = self.linears.of(x);
            matches!(row.of(of), 1 | -1)
                && row.terms().iter().all(|(value, _)| *value == of || outside(*value))
        };
        array == whole
            && outside(array)
            && self.are_rows([first, second], |[x, y], m| {
                // The columns differ by less than a row, and fifteen rows do not wrap.
                self.rows_between(x, y) == Linear::default()
                    && moves(x)
                    && matches!(m, Atom::Value(m) if outside(m))
                    && self.is_in_row(cell, m)
                    && self.is_in_row(index, m)
            })
    }

    /// Whether an integer is another one than a second one, because it is that, the index of a loop, and something more.
    pub fn is_beyond(&self, more: Atom, less: Atom) -> bool {
        let between = self.linears.of(more).plus(&self.linears.of(less), -1);
        // One index and little more do not wrap round to zero.
        matches!(between.terms(), [(_, 1)])
            && (-FAR..FAR).contains(&between.offset())
            && self.is_at_least(&between, 1, Atom::Lit(Literal::I64(0)), DEEPEST)
    }

    /// Whether two places are the beginnings of rows of one length of which something holds.
    fn are_rows(&self, [u, v]: [Value; 2], holds: impl Fn([Atom; 2], Atom) -> bool) -> bool {
        let (Some(first), Some(second)) = (self.products[u], self.products[v]) else {
            return false;
        };
        either_way(first).into_iter().any(|(x, m)| {
            either_way(second).into_iter().any(|(y, length)| {
                self.linears.of(m) == self.linears.of(length) && holds([x, y], m)
            })
        })
    }

    /// How many rows a row is behind another one.
    fn rows_between(&self, x: Atom, y: Atom) -> Linear {
        self.linears.of(x).plus(&self.linears.of(y), -1)
    }

    /// Whether the columns that a loop reaches, and those so far beside them, differ by less than the length of a row.
    fn is_within(&self, index: Value, width: i64, length: Atom) -> bool {
        let Some(trips) = self.trips(index, length) else { return false };
        let left = self.linears.of(length).plus(&trips, -1);
        self.is_at_least(&left, width, length, DEEPEST)
    }

    /// Whether a row that is so many rows from another one of an array, and no less than `least`, stands behind it, without wrapping.
    fn is_behind(&self, rows: &Linear, least: &Linear, length: Atom, array: Value) -> bool {
        if rows.terms().is_empty() {
            return (1..FAR).contains(&rows.offset());
        }
        self.is_at_least(least, 1, length, DEEPEST)
            && self.grids[array].is_some_and(|all| {
                either_way(all).into_iter().any(|(number, m)| {
                    let left = self.linears.of(number).plus(rows, -1);
                    self.linears.of(m) == self.linears.of(length)
                        && self.is_at_least(&left, 0, length, DEEPEST)
                })
            })
    }

    /// An integer as a sum that does not wrap.
    fn exact(&self, integer: Atom) -> Option<Linear> {
        Some(self.linears.of(integer)).filter(|sum| sum.as_atom().is_some())
    }

    /// The bound of a loop that runs, as a sum that is no less, because it does not wrap downwards: of `max(x, k)` x, if the loop
    /// would not run up to k.
    fn last_of(&self, low: Atom, high: Atom, length: Atom, depth: usize) -> Option<Linear> {
        let mut last = high;
        if let Atom::Value(v) = high
            && let Some((x, k)) = self.at_least[v]
            && matches!(low, Atom::Lit(Literal::I64(low)) if k <= low)
        {
            last = x;
        }
        let sum = self.linears.of(last);
        let exact = sum.as_atom().is_some()
            || depth > 0 && self.is_at_least(&sum, LEAST, length, depth - 1);
        exact.then_some(sum)
    }

    /// Whether a sum is no less than a number, where `length` is not negative and all loops around run.
    fn is_at_least(&self, sum: &Linear, least: i64, length: Atom, depth: usize) -> bool {
        let bounded = |(v, times): &(Value, i64)| {
            let (range, at) = self.loops[*v]?;
            Some((*v, *times, range, at))
        };
        let inner = sum.terms().iter().filter_map(bounded).max_by_key(|(.., at)| *at);
        let Some((v, times, [low, high], _)) = inner else {
            let positive = |(v, times): &(Value, i64)| Atom::Value(*v) == length && *times > 0;
            return sum.terms().iter().all(positive) && sum.offset() >= least;
        };
        if depth == 0 {
            return false;
        }
        let bound = if times > 0 {
            self.exact(low)
        } else {
            self.last_of(low, high, length, depth).map(|high| high.and(-1))
        };
        bound.is_some_and(|bound| {
            let mut sum = sum.with(v, &bound);
            if let Atom::Lit(Literal::I64(0..)) = low {
                sum = self.without_parts(sum, high, length, depth);
            }
            self.is_at_least(&sum, least, length, depth - 1)
        })
    }

    /// A sum that is no more, in a loop that runs up to `bound`, which is above 0: where this is a part of `x = max(y, 0)`, as
    /// `b = shr(x, 2)` is, 4 b is from x - 3 to x, and x, which is no less than 4, is y.
    fn without_parts(&self, sum: Linear, bound: Atom, length: Atom, depth: usize) -> Linear {
        let Atom::Value(part) = bound else { return sum };
        let Some((mut x, parts)) = self.shifted[part] else { return sum };
        let times = sum.of(part);
        if !matches!(self.at_least[x], Some((_, 0))) || times % parts != 0 {
            return sum;
        }
        let least = if times > 0 { 1 - parts } else { 0 };
        let instead = Linear::value(x).and(least);
        let mut sum = sum.with(part, &Linear::default()).plus(&instead, times / parts);
        while let Some((y, ..=0)) = self.at_least[x] {
            let form = self.linears.of(y);
            // As a sum only if it does not wrap.
            let exact = form.as_atom().is_some()
                || depth > 1 && self.is_at_least(&form, LEAST, length, depth - 1);
            let (Atom::Value(y), true) = (y, exact) else { break };
            sum = sum.with(x, &form);
            x = y;
        }
        sum
    }
}

/// The parameters whose product is the number of cells of another one.
fn dimensions(func: &LoopFunction, param: &Param) -> Option<Vec<NVar>> {
    let [(names, 1..)] = param.len.as_ref()?.terms() else { return None };
    let value = |name: &NVar| Some(NVar::new(func.params.get(name.index())?.value.index()));
    names.iter().map(value).collect()
}

/// The operands of a product, either way round.
fn either_way([a, b]: [Atom; 2]) -> [(Atom, Atom); 2] {
    [(a, b), (b, a)]
}

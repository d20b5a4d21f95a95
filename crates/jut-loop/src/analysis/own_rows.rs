//! Rows that an iteration has for itself.
//!
//! Iterations of a loop may run in any order, on any thread, if what one of them writes no other one touches. An array
//! that a loop fills row by row is like that:
//!
//! ```text
//! for up (i in 0 .. n) {
//!   row = i * m                             m is the same in all iterations
//!   y = ys[row ..]
//!   .. y[j] ..                              0 <= j < m
//!   ys_2[i]                                 a row of one cell
//! }
//! ```
//!
//! A cell is `i m + r`. That r is in the row, `0 <= r < m`, is shown from the ranges of loops, from checks that were passed
//! on the way, and, where m is a product `a b` and r a sum `x b + y`, from x being less than a and y less than b.
//!
//! And m has to be the length of rows that the array consists of: a factor of how many cells it has, or a small number. So m is
//! not 0 where there is a cell, and no product with it wraps: with any other integer two iterations may come to one cell,
//! all of them if m is 0, and every fourth if it is 2^62.
//!
//! Requires: every access is in range; so where m is less than 0 there is no access. Cost: linear, and for each question
//! linear in its terms.

use cranelift_entity::EntityRef;
use jut_ir::hash::HashMap;
use jut_ir::prim::{self, Prim};
use jut_ir::{Literal, NVar};

use super::linear::Linears;
use crate::form::{Atom, Check, LoopFunction, Stmt, Value};

/// Bounds that are followed through products and loops.
const DEEPEST: usize = 8;

/// Factors of a number of cells that are looked at.
const FACTORS: usize = 8;

/// The longest rows of which an array need not consist: a product that wraps would have an index that no loop comes to.
const SHORT: i64 = 1 << 16;

/// What is known of the integers and buffers of a function.
#[derive(Default)]
pub struct OwnRows {
    /// The buffer of which a buffer is a part, and the cell where it begins.
    begins: HashMap<Value, (Value, Atom)>,
    /// Sums, products and minima of integers.
    definitions: HashMap<Value, (Prim, [Atom; 2])>,
    /// Where the index of a loop begins and ends.
    loops: HashMap<Value, [Atom; 2]>,
    /// How many cells a buffer has: the products that are added up, each as its factors.
    cells: HashMap<Value, Vec<Vec<Atom>>>,
    sums: Linears,
}

/// What is touched from a place on.
#[derive(Clone, Copy, Debug)]
pub enum Extent {
    /// The cell with this number.
    Cell(Atom),
    /// So many cells.
    Cells(Atom),
}

/// The checks that hold where an access stands: each index and what it is below.
pub type Passed = Vec<(Atom, Atom)>;

/// What a check says once it is passed.
pub fn passed(check: Check) -> Option<(Atom, Atom)> {
    match check {
        Check::Below(index, length) => Some((index, length)),
        _ => None,
    }
}

const ZERO: Atom = Atom::Lit(Literal::I64(0));

impl OwnRows {
    /// Looks at a function.
    pub fn of(func: &LoopFunction) -> OwnRows {
        let mut rows = OwnRows::default();
        func.body.for_each(&mut |stmt| {
            rows.sums.learn(stmt);
            match stmt {
                Stmt::Offset { dst, buffer, index } => {
                    rows.begins.insert(*dst, (*buffer, *index));
                }
                Stmt::Prim { dst, prim: prim @ (prim::IADD | prim::IMUL | prim::IMIN), args } => {
                    if let [a, b] = args[..] {
                        rows.definitions.insert(*dst, (*prim, [a, b]));
                    }
                }
                _ => {
                    if let Some(counted) = stmt.counted() {
                        rows.loops.insert(counted.index, [counted.low, counted.high]);
                    }
                }
            }
        });
        for param in &func.params {
            let Some(len) = &param.len else { continue };
            let product = |(names, by): &(Vec<NVar>, i64)| {
                let names = names.iter().map(|v| func.params.get(v.index()));
                let names = names.map(|param| Some(Atom::Value(param?.value)));
                let factors: Option<Vec<Atom>> = names.collect();
                Some([factors?, vec![Atom::Lit(Literal::I64(*by))]].concat())
            };
            if let Some(products) = len.terms().iter().map(product).collect() {
                rows.cells.insert(param.value, products);
            }
        }
        func.body.for_each(&mut |stmt| {
            if let Stmt::Alloc { dst, len, .. } = stmt {
                let product = rows.all_factors(*len);
                rows.cells.insert(*dst, vec![product]);
            }
        });
        rows
    }

    /// The factors of a product of products.
    fn all_factors(&self, product: Atom) -> Vec<Atom> {
        let (mut factors, mut open) = (Vec::new(), vec![product]);
        while let Some(next) = open.pop() {
            match self.factors(next).next() {
                Some((a, b)) if factors.len() + open.len() < FACTORS => open.extend([a, b]),
                _ => factors.push(next),
            }
        }
        factors
    }

    /// Whether an array consists of rows of this length, or they are so short that it does not matter.
    fn consists_of(&self, array: Value, length: Atom) -> bool {
        if let Atom::Lit(length) = length {
            return matches!(length, Literal::I64(1..=SHORT));
        }
        let factors = self.all_factors(length);
        let Some(products) = self.cells.get(&array) else { return false };
        products.iter().all(|product| {
            let mut rest = product.clone();
            factors.iter().all(|factor| match rest.iter().position(|other| other == factor) {
                Some(at) => {
                    rest.swap_remove(at);
                    true
                }
                None => false,
            })
        })
    }

    /// The buffer of which this is a part, or a part of a part.
    pub fn origin(&self, mut buffer: Value) -> Value {
        while let Some((whole, _)) = self.begins.get(&buffer) {
            buffer = *whole;
        }
        buffer
    }

    /// Where a part begins in the buffer of which it is a part directly.
    pub fn begin(&self, part: Value) -> Option<(Value, Atom)> {
        self.begins.get(&part).copied()
    }

    /// The length of the rows such that what is touched, from the beginning of `buffer` on, lies in the row of the
    /// iteration with this index, in its [origin](OwnRows::origin); 1 if the row is one cell.
    pub fn row(
        &self,
        buffer: Value,
        extent: Extent,
        index: Value,
        passed: &Passed,
    ) -> Option<Atom> {
        let mut terms = Vec::new();
        let mut part = buffer;
        while let Some((whole, at)) = self.begins.get(&part) {
            terms.push(*at);
            part = *whole;
        }
        let cells = match extent {
            Extent::Cell(at) => {
                terms.push(at);
                None
            }
            Extent::Cells(cells) => Some(cells),
        };
        terms.retain(|term| *term != ZERO);
        let of_index = |term: &Atom| match *term {
            Atom::Value(v) if v == index => Some(Atom::Lit(Literal::I64(1))),
            Atom::Value(v) => match self.definitions.get(&v) {
                Some((prim::IMUL, [Atom::Value(a), m])) if *a == index => Some(*m),
                Some((prim::IMUL, [m, Atom::Value(a)])) if *a == index => Some(*m),
                _ => None,
            },
            Atom::Lit(_) => None,
        };
        let (at, length) =
            terms.iter().enumerate().find_map(|(k, term)| Some((k, of_index(term)?)))?;
        terms.swap_remove(at);
        let of_rows = self.consists_of(part, length);
        (of_rows && self.is_within(&terms, cells, length, passed, DEEPEST)).then_some(length)
    }

    /// Whether the sum of the terms, and as many cells from there on as are given, or one, are in `0 .. length`.
    fn is_within(
        &self,
        terms: &[Atom],
        cells: Option<Atom>,
        length: Atom,
        passed: &Passed,
        depth: usize,
    ) -> bool {
        if depth == 0 {
            return false;
        }
        match (terms, cells) {
            ([], None) => true,
            ([], Some(cells)) => self.is_no_more(cells, length),
            ([term], None) if self.is_below(*term, length, passed, depth) => true,
            _ => self.factors(length).any(|(count, row)| {
                terms.iter().enumerate().any(|(k, term)| {
                    let rest = || {
                        let others = terms.iter().enumerate().filter(|(other, _)| *other != k);
                        others.map(|(_, term)| *term).collect::<Vec<_>>()
                    };
                    self.factors(*term).any(|(x, other)| {
                        other == row
                            && self.is_below(x, count, passed, depth - 1)
                            && self.is_within(&rest(), cells, row, passed, depth - 1)
                    })
                })
            }),
        }
    }

    /// An integer as a product of two others, either way round.
    fn factors(&self, product: Atom) -> impl Iterator<Item = (Atom, Atom)> {
        let factors = match product {
            Atom::Value(v) => match self.definitions.get(&v) {
                Some((prim::IMUL, factors)) => Some(*factors),
                _ => None,
            },
            Atom::Lit(_) => None,
        };
        factors.into_iter().flat_map(|[a, b]| [(a, b), (b, a)])
    }

    fn is_below(&self, x: Atom, length: Atom, passed: &Passed, depth: usize) -> bool {
        if x == ZERO || passed.contains(&(x, length)) {
            return true;
        }
        let (sum, length) = (self.sums.of(x), self.sums.of(length));
        let base = match sum.terms() {
            [] => return length.terms().is_empty() && (0..length.offset()).contains(&sum.offset()),
            [(base, 1)] => base,
            _ => return false,
        };
        let Some([low, high]) = self.loops.get(base) else { return false };
        let end = self.last(*high).any(|high| {
            let high = self.sums.of(high);
            let last = high.offset().checked_add(sum.offset());
            high.terms() == length.terms() && last.is_some_and(|last| last <= length.offset())
        });
        end && self.is_no_less(*low, sum.offset().checked_neg(), depth)
    }

    /// What is certainly no less than the bound: it, and of a minimum both.
    fn last(&self, high: Atom) -> impl Iterator<Item = Atom> {
        let minimum = match high {
            Atom::Value(v) => match self.definitions.get(&v) {
                Some((prim::IMIN, both)) => Some(*both),
                _ => None,
            },
            Atom::Lit(_) => None,
        };
        std::iter::once(high).chain(minimum.into_iter().flatten())
    }

    fn is_no_less(&self, x: Atom, least: Option<i64>, depth: usize) -> bool {
        let (Some(least), Some(depth)) = (least, depth.checked_sub(1)) else { return false };
        let sum = self.sums.of(x);
        match sum.terms() {
            [] => least <= sum.offset(),
            [(base, 1)] => self.loops.get(base).is_some_and(|[low, _]| {
                self.is_no_less(*low, least.checked_sub(sum.offset()), depth)
            }),
            _ => false,
        }
    }

    fn is_no_more(&self, x: Atom, most: Atom) -> bool {
        let (x, most) = (self.sums.of(x), self.sums.of(most));
        x.terms() == most.terms() && x.offset() <= most.offset()
    }
}

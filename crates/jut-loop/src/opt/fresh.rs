//! Arrays that are filled with zeros and then added to, every cell once: the zeros are not stored.
//!
//! A gradient begins as zeros. Where a loop then adds to each of its cells once, filling the array
//! and loading the zeros again is needless traffic:
//!
//! ```text
//! fill g[n] = 0.0                    for par (i in 0 .. n) {
//! for par (i in 0 .. n) {              b = 0.0 + f(i)
//!   a = g[i]                           g[i] = b
//!   b = a + f(i)                     }
//!   g[i] = b
//! }
//! ```
//!
//! The addition stays: `0.0 + -0.0` is not `-0.0`. What is looked for between a fill and the next
//! statement that touches the array:
//!
//! - a loop over all cells;
//! - a loop over rows, whose beginnings are the index times the length of a row, with such a loop (or
//!   again rows) inside;
//! - a kernel that adds to all of its result, and can [do without](crate::kernel::Kernel::afresh) what is there;
//! - what [`super::gather`] makes: single cells and a loop, which together are all cells, under a
//!   condition; where it does not hold, the zeros are stored;
//! - such a loop behind one or two single cells, which [wait for it](points);
//! - such a branch behind single cells, or inside another one, as [`super::peel`] leaves it; where its condition does not hold,
//!   the zeros are stored, and then once more what these cells hold.
//!
//! *Requires*: a well-formed function. *Ensures*: the same cells, bit for bit, unless the function
//! fails: then nobody looks at them. *Cost*: linear in the text, times the depth of nesting.

mod points;

use cranelift_entity::SecondaryMap;
use jut_ir::Literal;
use jut_ir::hash::HashSet;
use jut_ir::prim::{self, Prim};
use jut_runtime::matrix::ADD;

use crate::analysis::Roots;
use crate::analysis::linear::{Linear, Linears};
use crate::form::{Atom, Block, Kind, LoopFunction, Stmt, Value};
use crate::values::Values;
use crate::visit::Counted;

/// Runs the walk; whether it changed anything.
pub(super) fn run(func: &mut LoopFunction) -> bool {
    let mut fresh = Fresh {
        roots: Roots::of(func),
        is_buffer: SecondaryMap::with_capacity(func.values.len()),
        definitions: SecondaryMap::new(),
        sums: Linears::default(),
        changed: false,
    };
    for (value, data) in func.values.iter() {
        fresh.is_buffer[value] = matches!(data.kind, Kind::Buffer(_));
    }
    func.body.for_each(&mut |stmt| {
        fresh.sums.learn(stmt);
        if let Stmt::Prim { dst, prim, args } = stmt
            && let [a, b] = args[..]
        {
            fresh.definitions[*dst] = Some((*prim, [a, b]));
        }
    });
    let mut body = std::mem::take(&mut func.body);
    points::postpone(&fresh, &mut Values::new(&mut func.values), &mut body);
    fresh.block(&mut body);
    func.body = body;
    fresh.changed
}

/// An array that holds zeros.
struct Zeroed {
    /// The position of the fill.
    at: usize,
    buffer: Value,
    len: Atom,
    /// The zero, of the kind of its cells.
    zero: Atom,
}

/// Arrays of zeros that are remembered at once.
const MOST: usize = 16;

/// Statements among which what covers an array of zeros is looked for, once one touches it.
const NEAR: usize = 64;

/// A cell that has been stored to: where it is, also as it is written, and what it holds.
#[derive(Clone)]
struct Single {
    cell: Linear,
    index: Atom,
    value: Atom,
}

/// How statements touch all cells of an array of zeros, so that it need not hold them.
struct Covering {
    /// Loads of zeros.
    zeros: Vec<Value>,
    /// The branch behind which every cell is known, if not all are without one.
    branch: Option<Branch>,
}

/// A branch of which one arm covers an array, and the other one does not.
struct Branch {
    /// Its position.
    at: usize,
    /// What has been stored before it.
    singles: Vec<Single>,
    /// How its first arm covers the rest.
    then: Box<Covering>,
}

impl Covering {
    /// Changes the statements so that the array need not hold zeros.
    fn apply(&self, stmts: &mut [Stmt], zeroed: &Zeroed) {
        let Zeroed { buffer, len, zero, .. } = *zeroed;
        for stmt in &mut *stmts {
            begin_in(stmt, &self.zeros, zero);
        }
        let Some(Branch { at, singles, then: covering }) = &self.branch else { return };
        if let Stmt::If { then, other, .. } = &mut stmts[*at] {
            covering.apply(&mut then.stmts, zeroed);
            let again =
                singles.iter().map(|s| Stmt::Store { buffer, index: s.index, value: s.value });
            let fill = Stmt::Fill { buffer, len, value: zero };
            other.stmts.splice(0..0, std::iter::once(fill).chain(again));
        }
    }
}

struct Fresh {
    roots: Roots,
    is_buffer: SecondaryMap<Value, bool>,
    /// The operations on integers that sizes and indices are made of.
    definitions: SecondaryMap<Value, Option<(Prim, [Atom; 2])>>,
    sums: Linears,
    /// Whether an array is not filled any more.
    changed: bool,
}

impl Fresh {
    fn definition(&self, atom: Atom) -> Option<(Prim, [Atom; 2])> {
        match atom {
            Atom::Value(v) => self.definitions.get(v).copied().flatten(),
            Atom::Lit(_) => None,
        }
    }

    fn sum(&self, atom: Atom) -> Linear {
        self.sums.of(atom)
    }

    fn same(&self, a: Atom, b: Atom) -> bool {
        self.sum(a) == self.sum(b)
    }

    /// Whether an integer is the product of two others.
    fn is_product(&self, whole: Atom, parts: [Atom; 2]) -> bool {
        let Some((prim::IMUL, [a, b])) = self.definition(whole) else { return false };
        let [x, y] = parts;
        self.same(a, x) && self.same(b, y) || self.same(a, y) && self.same(b, x)
    }

    fn overlap(&self, a: Value, b: Value) -> bool {
        a == b || self.roots.may_overlap(a, b) || self.roots.may_overlap(b, a)
    }

    /// The buffers that a statement names, in its blocks too.
    fn named(&self, stmt: &Stmt, found: &mut HashSet<Value>) {
        stmt.atoms(&mut |atom| {
            if let Atom::Value(v) = atom
                && self.is_buffer[v]
            {
                found.insert(v);
            }
        });
    }

    /// Whether a statement may touch what a buffer holds, or make another name for it.
    fn touches(&self, stmt: &Stmt, buffer: Value) -> bool {
        let mut named = HashSet::default();
        self.named(stmt, &mut named);
        named.into_iter().any(|v| self.overlap(v, buffer))
    }

    fn block(&mut self, block: &mut Block) {
        let mut zeroed: Vec<Zeroed> = Vec::new();
        let mut gone: Vec<usize> = Vec::new();
        for at in 0..block.stmts.len() {
            let mut left = Vec::with_capacity(zeroed.len());
            let mut named = HashSet::default();
            if !zeroed.is_empty() {
                self.named(&block.stmts[at], &mut named);
            }
            for z in zeroed {
                if !named.iter().any(|v| self.overlap(*v, z.buffer)) {
                    left.push(z);
                } else if self.begins(&mut block.stmts[at..], &z) {
                    gone.push(z.at);
                }
            }
            zeroed = left;
            if let Stmt::Fill { buffer, len, value } = block.stmts[at]
                && is_zero(value)
                && zeroed.len() < MOST
            {
                zeroed.push(Zeroed { at, buffer, len, zero: value });
            }
            block.stmts[at].blocks_mut().into_iter().for_each(|inner| self.block(inner));
        }
        self.changed |= !gone.is_empty();
        gone.sort_unstable();
        let mut gone = gone.into_iter().peekable();
        let mut at = 0;
        block.stmts.retain(|_| {
            at += 1;
            gone.next_if_eq(&(at - 1)).is_none()
        });
    }

    /// Changes statements, of which the first touches an array of zeros, and which add to all of its cells, so that it need not hold
    /// them; `false` if they cannot be changed.
    fn begins(&self, stmts: &mut [Stmt], zeroed: &Zeroed) -> bool {
        let Zeroed { buffer, len, zero, .. } = *zeroed;
        let near = stmts.len().min(NEAR);
        let stmt = match stmts {
            [Stmt::Load { .. } | Stmt::Store { .. } | Stmt::If { .. }, ..] => {
                let near = &mut stmts[..near];
                let Some(covering) = self.covering(&[], near, &[], (buffer, len)) else {
                    return false;
                };
                covering.apply(near, zeroed);
                return true;
            }
            [stmt, ..] => stmt,
            [] => return false,
        };
        match stmt {
            Stmt::Kernel { kernel, args } => {
                let Some(afresh) = kernel.afresh() else { return false };
                let whole = match afresh.cells {
                    [n] => self.same(args[*n], len),
                    [n, m] => self.is_product(len, [args[*n], args[*m]]),
                    _ => false,
                };
                let [result, .., flags] = &mut args[..] else { return false };
                match flags.integer() {
                    Some(all) if all & ADD != 0 && whole && *result == buffer.into() => {
                        *flags = Atom::Lit(Literal::I64(all & !ADD | afresh.flag));
                        true
                    }
                    _ => false,
                }
            }
            stmt => {
                let covers = self.covers(stmt, buffer, len);
                if covers {
                    self.begin(stmt, buffer, zero);
                }
                covers
            }
        }
    }

    /// Whether a loop touches each of the cells of a buffer in one iteration, and stores to it.
    fn covers(&self, stmt: &Stmt, buffer: Value, len: Atom) -> bool {
        let Some(Counted { index, low, high, go: None, body }) = stmt.counted() else {
            return false;
        };
        if self.sum(low) != Linear::default() {
            return false;
        }
        if self
            .cells(body, buffer)
            .is_some_and(|cells| matches!(cells[..], [i] if i == index.into()))
        {
            return self.same(high, len);
        }
        // Rows: one name for a row, one loop over it.
        let touching: Vec<&Stmt> =
            body.stmts.iter().filter(|stmt| self.touches(stmt, buffer)).collect();
        let [Stmt::Offset { dst: row, buffer: whole, index: begin }, inner] = touching[..] else {
            return false;
        };
        let Some(length) =
            inner.counted().filter(|inner| inner.go.is_none()).map(|inner| inner.high)
        else {
            return false;
        };
        // The loop knows the row by this name only.
        let only = !self.mentions(inner, buffer);
        let row_of =
            |n: Atom| self.is_product(*begin, [index.into(), n]) && self.is_product(len, [high, n]);
        let n = match self.definition(*begin) {
            Some((prim::IMUL, [a, b])) if self.same(a, index.into()) => b,
            Some((prim::IMUL, [a, b])) if self.same(b, index.into()) => a,
            _ => length,
        };
        *whole == buffer && only && row_of(n) && self.covers(inner, *row, n)
    }

    /// Whether a statement names a buffer, in its blocks too.
    fn mentions(&self, stmt: &Stmt, buffer: Value) -> bool {
        let mut named = HashSet::default();
        self.named(stmt, &mut named);
        named.contains(&buffer)
    }

    /// The indices of the cells that a block stores to, if all it does with the buffer is to load
    /// from these cells and store to them.
    fn cells(&self, block: &Block, buffer: Value) -> Option<Vec<Atom>> {
        let (mut stored, mut loaded) = (Vec::new(), Vec::new());
        for stmt in block.stmts.iter().filter(|stmt| self.touches(stmt, buffer)) {
            match stmt {
                Stmt::Store { buffer: b, index, .. } if *b == buffer => stored.push(*index),
                Stmt::Load { buffer: b, index, .. } if *b == buffer => loaded.push(*index),
                _ => return None,
            }
        }
        let same = |a: &Atom, b: &Atom| self.same(*a, *b);
        stored.dedup_by(|a, b| same(a, b));
        let complete = loaded.iter().all(|l| stored.iter().any(|s| same(l, s)));
        complete.then_some(stored)
    }

    /// Takes the zeros for granted in a loop that covers a buffer.
    fn begin(&self, stmt: &mut Stmt, buffer: Value, zero: Atom) {
        for block in stmt.blocks_mut() {
            let row = block.stmts.iter().find_map(|stmt| match stmt {
                Stmt::Offset { dst, buffer: whole, .. } if *whole == buffer => Some(*dst),
                _ => None,
            });
            match row {
                Some(row) => {
                    for inner in &mut block.stmts {
                        if !matches!(inner, Stmt::Offset { .. }) && self.mentions(inner, row) {
                            self.begin(inner, row, zero);
                        }
                    }
                }
                None => {
                    let first = self.first_loads(block, buffer);
                    begin_at(block, &first, zero);
                }
            }
        }
    }

    /// Loads directly in a block from cells that nothing before them in the block has stored to.
    fn first_loads(&self, block: &Block, buffer: Value) -> Vec<Value> {
        let (mut stored, mut first) = (Vec::new(), Vec::new());
        for stmt in &block.stmts {
            match stmt {
                Stmt::Store { buffer: b, index, .. } if *b == buffer => {
                    stored.push(self.sum(*index))
                }
                Stmt::Load { dst, buffer: b, index }
                    if *b == buffer && !stored.contains(&self.sum(*index)) =>
                {
                    first.push(*dst);
                }
                _ => {}
            }
        }
        first
    }

    /// How statements cover an array: single cells and loops over some of them, which together are all cells if the conditions under
    /// which they run say that they are apart, or single cells and then a branch, one arm of which does so with the cells before.
    fn covering(
        &self,
        conds: &[Atom],
        stmts: &[Stmt],
        before: &[Single],
        (buffer, len): (Value, Atom),
    ) -> Option<Covering> {
        let (mut singles, mut ranges, mut zeros) = (before.to_vec(), Vec::new(), Vec::new());
        let mut loaded = Vec::new();
        for (at, stmt) in stmts.iter().enumerate() {
            if !self.touches(stmt, buffer) {
                continue;
            }
            match stmt {
                Stmt::Load { dst, buffer: b, index } if *b == buffer => {
                    let cell = self.sum(*index);
                    if !singles.iter().any(|single| single.cell == cell) {
                        loaded.push(cell);
                        zeros.push(*dst);
                    }
                }
                Stmt::Store { buffer: b, index, value } if *b == buffer => {
                    let cell = self.sum(*index);
                    singles.retain(|single| single.cell != cell);
                    singles.push(Single { cell, index: *index, value: *value });
                }
                Stmt::If { cond, then, .. } => {
                    // The other arm stores the zeros, and then these cells once more: so they have to be different ones whatever
                    // the condition says.
                    let apart = |(k, a): (usize, &Single)| {
                        singles[..k].iter().all(|b| a.cell.is_apart_from(&b.cell))
                    };
                    let known = singles.iter().enumerate().all(apart)
                        && loaded.iter().all(|l| singles.iter().any(|s| s.cell == *l));
                    if !known || !ranges.is_empty() {
                        return None;
                    }
                    let conds = [conds, &[*cond]].concat();
                    let then = self.covering(&conds, &then.stmts, &singles, (buffer, len))?;
                    let branch = Branch { at, singles, then: Box::new(then) };
                    return Some(Covering { zeros, branch: Some(branch) });
                }
                stmt => {
                    let Some(range) = self.range(conds, stmt, buffer) else { break };
                    ranges.push(range);
                    if let Some(counted) = stmt.counted() {
                        zeros.extend(self.first_loads(counted.body, buffer));
                    }
                }
            }
        }
        // One piece begins where another ends, from the first cell to the last.
        ranges.extend(singles.iter().map(|single| (single.cell.clone(), single.cell.and(1))));
        let mut reached = Linear::default();
        while let Some(at) = ranges.iter().position(|(start, _)| *start == reached) {
            reached = ranges.swap_remove(at).1;
        }
        let all = ranges.is_empty() && reached == self.sum(len);
        let stored = loaded.iter().all(|l| singles.iter().any(|s| s.cell == *l));
        (all && stored).then_some(Covering { zeros, branch: None })
    }

    /// The cells that a loop touches, each in one iteration, and stores to, if a condition says that they do not end before they begin.
    fn range(&self, conds: &[Atom], stmt: &Stmt, buffer: Value) -> Option<(Linear, Linear)> {
        let Counted { index, low, high, go: None, body } = stmt.counted()? else { return None };
        let cells = self.cells(body, buffer)?;
        let [cell] = cells[..] else { return None };
        let (cell, index) = (self.sum(cell), self.sum(index.into()));
        let beside = cell.offset().checked_sub(index.offset())?;
        let own = cell.terms() == index.terms();
        let apart = own && conds.iter().any(|cond| self.at_least(*cond, high, low));
        apart.then(|| (self.sum(low).and(beside), self.sum(high).and(beside)))
    }

    /// Whether a condition says that a number is at least a constant.
    fn at_least(&self, cond: Atom, number: Atom, constant: Atom) -> bool {
        let (number, constant) = (self.sum(number), self.sum(constant));
        if !constant.terms().is_empty() {
            return false;
        }
        let is_enough = |least: Atom| {
            let least = self.sum(least);
            least.terms().is_empty() && least.offset() >= constant.offset()
        };
        match self.definition(cond) {
            Some((prim::AND, parts)) => parts.into_iter().any(|part| {
                matches!(self.definition(part), Some((prim::ILE, [least, v]))
                    if is_enough(least) && self.sum(v) == number)
            }),
            _ => false,
        }
    }
}

fn is_zero(atom: Atom) -> bool {
    match atom {
        Atom::Lit(Literal::F64(x)) => x.to_bits() == 0,
        Atom::Lit(Literal::F32(x)) => x.to_bits() == 0,
        _ => false,
    }
}

/// Puts zeros in place of loads, in a block and those inside it.
fn begin_at(block: &mut Block, zeros: &[Value], zero: Atom) {
    block.stmts.iter_mut().for_each(|stmt| begin_in(stmt, zeros, zero));
}

/// The same in a statement.
fn begin_in(stmt: &mut Stmt, zeros: &[Value], zero: Atom) {
    if let Stmt::Load { dst, .. } = *stmt
        && zeros.contains(&dst)
    {
        *stmt = Stmt::Copy { dst, src: zero };
    }
    stmt.blocks_mut().into_iter().for_each(|inner| begin_at(inner, zeros, zero));
}

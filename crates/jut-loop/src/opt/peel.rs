//! Ends of loops that are treated otherwise than the middle.
//!
//! A stencil asks in every iteration whether it stands at an end of the grid:
//!
//! ```text
//! for par (i in 0 .. n) {            if 0 < n {
//!   first = i == 0                     .. the body at 0
//!   (y) = if first { a } else { b }    for par (i in 1 .. n) { y[i] = b }
//!   y[i] = y                         }
//! }
//! ```
//!
//! The first and the last iteration are taken out of a loop if that decides the condition of a branch
//! for all the others. Checks that hold in the middle, since its index keeps away from the ends, go, and so do
//! branches at the ends that are decided there; so do selections of an index, such as that of the neighbour on a ring. No
//! bit changes, nor the order of anything: what is left is a loop without branches, which later
//! walks and backends run several iterations of at once.
//!
//! The first iteration is taken out also of a loop that adds to a cell of one row and goes through that row and those
//! behind it: in the others the cell is no part of the row, and can be a register ([`super::cells`]).
//!
//! A loop of sums by lanes leaves out ends that add nothing ([`sums`]), or becomes two: one for the terms, whose ends are taken out, and one that
//! adds them up ([`terms`]).
//!
//! Requires: nothing. A body qualifies if it is small and has no loop, call or allocation. Cost: linear;
//! a body is written at most three times.

mod decided;
mod rows;
mod sums;
mod terms;

use std::collections::{HashMap, HashSet};

use cranelift_entity::SecondaryMap;
use jut_ir::Literal;
use jut_ir::prim;

use super::distribute;
use crate::analysis::{Distances, Roots};
use crate::form::{Atom, Block, For, Kind, Lanes, LoopFunction, Order, Stmt, Value};
use crate::values::Values;
use decided::{Chosen, Known, Range, Shifted, plus};

/// Runs the walk, for bodies of so many statements; whether it changed anything. `adds` says that there may be more memory.
pub(super) fn run(func: &mut LoopFunction, largest: usize, adds: bool) -> bool {
    let mut edges = HashSet::new();
    let mut changed = false;
    if func.body.any(&mut rows::may_have_edges) {
        let (mut walk, body) = Peel::new(func, largest, adds);
        edges = walk.rows(body);
        changed = walk.changed;
    }
    let (mut walk, body) = Peel::new(func, largest, adds);
    body.rewrite(&mut |stmt, out| {
        walk.learn(&stmt);
        match stmt {
            Stmt::For(source) if !edges.contains(&source.index) => walk.peel(source, out),
            Stmt::Lanes(source) if !edges.contains(&source.index) => walk.distribute(source, out),
            stmt => out.push(stmt),
        }
    });
    changed || walk.changed
}

/// Loops to here or further stay as they are.
const FAR: i64 = 1 << 62;

struct Peel<'a> {
    values: Values<'a>,
    /// If there is a loop of sums that stores something.
    roots: Option<Roots>,
    rows: Distances,
    /// The first results of loops of sums that stand in other loops.
    in_loops: HashSet<Value>,
    /// Integers that are known to be small: arrays have as many elements.
    small: HashSet<Value>,
    /// Integers that are another one plus a constant.
    shifted: SecondaryMap<Value, Option<Shifted>>,
    /// Integers that are the sum of two others and a constant.
    sums: SecondaryMap<Value, Option<([Value; 2], i64)>>,
    /// Statements of a body that is repeated.
    largest: usize,
    /// Whether there may be more memory.
    adds: bool,
    changed: bool,
}

impl<'a> Peel<'a> {
    /// What is known of a function, and its body.
    fn new(func: &'a mut LoopFunction, largest: usize, adds: bool) -> (Peel<'a>, &'a mut Block) {
        let roots = func.body.any(&mut distribute::may_have_two).then(|| Roots::of(func));
        let (rows, small) = (Distances::of(func), decided::small(func));
        let LoopFunction { body, values, .. } = func;
        let walk = Peel {
            values: Values::new(values),
            roots,
            rows,
            in_loops: sums::in_loops(body),
            small,
            shifted: SecondaryMap::new(),
            sums: SecondaryMap::new(),
            largest,
            adds,
            changed: false,
        };
        (walk, body)
    }
}

impl Peel<'_> {
    /// Writes a loop of sums: if it also adds to cells, and that has ends, as two loops.
    fn distribute(&mut self, source: Box<Lanes>, out: &mut Vec<Stmt>) {
        let parts = self
            .roots
            .as_ref()
            .and_then(|roots| distribute::parts(&source, roots, &mut self.values));
        match parts {
            Some((sums, cells)) if self.ends(&cells).is_some() => {
                sums.body.for_each(&mut |stmt| self.learn(stmt));
                self.sums(Box::new(sums), out);
                self.peel(Box::new(cells), out);
            }
            _ => self.sums(source, out),
        }
    }

    /// Which ends of a loop are to be taken out, one of each at most, and where the index is then.
    fn ends(&self, source: &For) -> Option<(i64, i64, Range)> {
        // Nobody knows which iteration is the last.
        if source.may_end_early() {
            return None;
        }
        let (index, body) = (source.index, &source.body);
        let found = self.ends_of(index, [source.low, source.high], body);
        found.or_else(|| {
            let first = self.starts_in_the_row_of_a_cell(source);
            let range = self.range(index, [source.low, source.high], [1, 0])?;
            let fits = repeatable(body).is_some_and(|size| size <= self.largest);
            (first && fits).then_some((1, 0, range))
        })
    }

    /// The same of any loop over a range: the fewest ends that decide the most.
    fn ends_of(&self, index: Value, range: [Atom; 2], body: &Block) -> Option<(i64, i64, Range)> {
        let fits = repeatable(body)? <= self.largest;
        fits.then(|| self.fewest_ends(index, range, body)).flatten()
    }

    /// The same of a body of any length, loops inside aside.
    fn fewest_ends(
        &self,
        index: Value,
        range: [Atom; 2],
        body: &Block,
    ) -> Option<(i64, i64, Range)> {
        let without = |from: i64, to: i64| self.range(index, range, [from, to]);
        let now = self.decided(body, &without(0, 0)?);
        let mut best = (now, None);
        for (from, to) in [(1, 0), (0, 1), (1, 1)] {
            let range = without(from, to)?;
            let then = self.decided(body, &range);
            if then > best.0 {
                best = (then, Some((from, to, range)));
            }
        }
        best.1
    }

    /// Writes a loop, its ends taken out if that helps.
    fn peel(&mut self, mut source: Box<For>, out: &mut Vec<Stmt>) {
        let index = source.index;
        let ends = self.ends(&source);
        let Some((from, to, range)) = ends else {
            out.push(Stmt::For(source));
            return;
        };
        self.changed = true;
        let body = &source.body;
        let initial: Vec<Atom> = source.carry.iter().map(|(_, a)| *a).collect();
        let carried: Vec<Value> = source.carry.iter().map(|(v, _)| *v).collect();
        let results = source.dst.clone();
        let (low, high) = (source.low, source.high);

        let mut stmts = Vec::new();
        let start = match from {
            0 => low,
            _ => self.shift("start", low, 1, &mut stmts),
        };
        let last = self.shift("last", high, -1, &mut stmts);
        let end = if to == 0 { high } else { last };
        let down = source.order == Order::Down;
        // The end that the loop begins with, the middle, the end that it ends with.
        let [begins, ends] = if down { [to, from] } else { [from, to] };
        let [first_end, last_end] = if down { [last, low] } else { [low, last] };
        let mut state = initial.clone();
        if begins == 1 {
            state = self.copied(body, index, first_end, &carried, &state, &mut stmts);
        }
        let mut middle = Copier::new(self, Some(range));
        let middle_index = middle.fresh(index);
        let inside: Vec<Value> = carried.iter().map(|v| middle.fresh(*v)).collect();
        let middle_body = middle.block(body);
        let dst: Vec<Value> = carried.iter().map(|v| self.values.like(*v)).collect();
        stmts.push(Stmt::from(For {
            dst: dst.clone(),
            order: source.order,
            vector: None,
            index: middle_index,
            low: start,
            high: end,
            carry: inside.into_iter().zip(state).collect(),
            body: middle_body,
        }));
        state = dst.into_iter().map(Atom::Value).collect();
        if ends == 1 {
            // With one iteration the first end was the last one too.
            let mut then = Vec::new();
            let after = self.copied(body, index, last_end, &carried, &state, &mut then);
            if begins == 1 {
                let more =
                    self.values.prim("more", Kind::BOOL, prim::ILT, &[low, last], &mut stmts);
                let dst: Vec<Value> = carried.iter().map(|v| self.values.like(*v)).collect();
                stmts.push(Stmt::If {
                    dst: dst.clone(),
                    cond: more,
                    then: Block { stmts: then, results: after },
                    other: Block { stmts: Vec::new(), results: state },
                });
                state = dst.into_iter().map(Atom::Value).collect();
            } else {
                stmts.append(&mut then);
                state = after;
            }
        }
        let runs = self.values.prim("runs", Kind::BOOL, prim::ILT, &[low, high], out);
        let (cond, other) = match self.far_from_wrapping(high, out) {
            // Where it does not run, there is nothing to be done.
            None => (runs, Block { stmts: Vec::new(), results: initial }),
            Some(near) => {
                let cond = self.values.prim("peels", Kind::BOOL, prim::AND, &[runs, near], out);
                source.dst = source.dst.iter().map(|v| self.values.like(*v)).collect();
                let whole = source.dst.iter().map(|v| Atom::Value(*v)).collect();
                (cond, Block { stmts: vec![Stmt::For(source)], results: whole })
            }
        };
        let then = Block { stmts, results: state };
        out.push(Stmt::If { dst: results, cond, then, other });
    }

    /// Writes whether no constant that is added to an end of a loop can have wrapped, unless that is known.
    fn far_from_wrapping(&mut self, high: Atom, out: &mut Vec<Stmt>) -> Option<Atom> {
        let far = Atom::Lit(Literal::I64(FAR));
        let asks = !self.is_small(high);
        asks.then(|| self.values.prim("near", Kind::BOOL, prim::ILT, &[high, far], out))
    }

    /// Whether an integer is written down, or no larger than an array, but for a constant.
    fn is_small(&self, atom: Atom) -> bool {
        let base = self.shifted(atom).map(|(base, _)| base);
        base.is_some_and(|base| base.is_none_or(|v| self.small.contains(&v)))
    }

    /// Whether a loop stores to a cell of a row, and to rows of which only that of the first iteration may have it.
    fn starts_in_the_row_of_a_cell(&self, source: &For) -> bool {
        let stores = || {
            source.body.stmts.iter().filter_map(|stmt| match *stmt {
                Stmt::Store { buffer, index, .. } => Some((buffer, index)),
                _ => None,
            })
        };
        let behind = |cell, other, but_first| self.rows.is_row_behind(cell, other, but_first);
        stores().any(|cell| {
            stores()
                .any(|other| behind(cell, other, Some(source.index)) && !behind(cell, other, None))
        })
    }

    /// The body with the index and the carried values given; its results.
    fn copied(
        &mut self,
        body: &Block,
        index: Value,
        at: Atom,
        carried: &[Value],
        state: &[Atom],
        out: &mut Vec<Stmt>,
    ) -> Vec<Atom> {
        let range = self.shifted(at).map(|at| Range { index, first: at, last: at });
        let mut copier = Copier::new(self, range);
        copier.renamed.insert(index, at);
        copier.renamed.extend(carried.iter().copied().zip(state.iter().copied()));
        let mut block = copier.block(body);
        out.append(&mut block.stmts);
        block.results
    }

    fn shift(&mut self, name: &str, atom: Atom, k: i64, out: &mut Vec<Stmt>) -> Atom {
        if let Atom::Lit(Literal::I64(n)) = atom {
            return Atom::Lit(Literal::I64(n.wrapping_add(k)));
        }
        let moved =
            self.values.prim(name, Kind::I64, prim::IADD, &[atom, Atom::Lit(Literal::I64(k))], out);
        if let Atom::Value(v) = moved {
            self.shifted[v] = self.shifted(atom).and_then(|a| plus(a, k));
        }
        moved
    }
}

/// Copies a body under new names; given a range, without the branches and checks that it decides.
struct Copier<'w, 'a> {
    walk: &'w mut Peel<'a>,
    range: Option<Range>,
    renamed: HashMap<Value, Atom>,
    known: Known,
}

impl<'w, 'a> Copier<'w, 'a> {
    fn new(walk: &'w mut Peel<'a>, range: Option<Range>) -> Copier<'w, 'a> {
        Copier { walk, range, renamed: HashMap::new(), known: Known::default() }
    }

    fn fresh(&mut self, old: Value) -> Value {
        let new = self.walk.values.like(old);
        self.renamed.insert(old, new.into());
        new
    }

    fn block(&mut self, block: &Block) -> Block {
        let mut out = Vec::with_capacity(block.stmts.len());
        self.stmts(block, &mut out);
        let mut results = block.results.clone();
        results.iter_mut().for_each(|a| self.rename(a));
        Block { stmts: out, results }
    }

    fn stmts(&mut self, block: &Block, out: &mut Vec<Stmt>) {
        for stmt in &block.stmts {
            if let Some(range) = self.range {
                match stmt {
                    Stmt::Prim { dst, prim, args } => {
                        let known = &mut self.known;
                        let chosen = self.walk.decide(*dst, *prim, args, &range, known);
                        if let Some(chosen) = chosen {
                            let atom = self.chosen(*dst, chosen, &range, out);
                            self.renamed.insert(*dst, atom);
                            continue;
                        }
                    }
                    Stmt::If { dst, cond, then, other } => {
                        if let Some(truth) = self.known.truth(*cond) {
                            let taken = if truth { then } else { other };
                            self.stmts(taken, out);
                            for (v, result) in dst.iter().zip(&taken.results) {
                                let mut result = *result;
                                self.rename(&mut result);
                                self.renamed.insert(*v, result);
                            }
                            continue;
                        }
                    }
                    Stmt::Check { check, .. } if self.walk.holds(*check, &range, &self.known) => {
                        continue;
                    }
                    _ => {}
                }
            }
            let copied = self.stmt(stmt);
            out.push(copied);
        }
    }

    fn stmt(&mut self, stmt: &Stmt) -> Stmt {
        let mut copied = stmt.clone();
        copied.operands_mut(&mut |a| self.rename(a));
        copied.binders_mut(&mut |v| *v = self.fresh(*v));
        for inner in copied.blocks_mut() {
            *inner = self.block(inner);
        }
        copied
    }

    /// What stands here for an integer that is chosen.
    fn chosen(&mut self, dst: Value, chosen: Chosen, range: &Range, out: &mut Vec<Stmt>) -> Atom {
        let mut atom = match chosen {
            Chosen::Other(atom) => atom,
            Chosen::Index(_) => range.index.into(),
        };
        self.rename(&mut atom);
        match chosen {
            Chosen::Index(k) if k != 0 => {
                let moved = self.walk.values.like(dst);
                let args = vec![atom, Atom::Lit(Literal::I64(k))];
                out.push(Stmt::Prim { dst: moved, prim: prim::IADD, args });
                moved.into()
            }
            _ => atom,
        }
    }

    fn rename(&self, atom: &mut Atom) {
        if let Atom::Value(v) = *atom
            && let Some(new) = self.renamed.get(&v)
        {
            *atom = *new;
        }
    }
}

/// The number of statements of a body that may be written again, branches included.
pub(super) fn repeatable(body: &Block) -> Option<usize> {
    let mut sum = 0;
    for stmt in &body.stmts {
        sum += match stmt {
            Stmt::Prim { .. }
            | Stmt::Copy { .. }
            | Stmt::Load { .. }
            | Stmt::Store { .. }
            | Stmt::Offset { .. }
            | Stmt::Check { .. } => 1,
            Stmt::If { then, other, .. } => 1 + repeatable(then)? + repeatable(other)?,
            _ => return None,
        };
    }
    Some(sum)
}

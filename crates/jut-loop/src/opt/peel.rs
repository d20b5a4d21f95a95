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
//! A loop of sums by lanes leaves out ends that add nothing ([`sums`]).
//!
//! Requires: nothing. A body qualifies if it is small and has no loop, call or allocation. Cost: linear;
//! a body is written at most three times.

mod sums;

use std::collections::{HashMap, HashSet};

use cranelift_entity::SecondaryMap;
use jut_ir::Literal;
use jut_ir::prim::{self, Lowering, Opcode, Prim};

use super::distribute;
use crate::analysis::{Distances, Roots};
use crate::form::{Atom, Block, Check, For, Kind, Lanes, LoopFunction, Order, Stmt, Value};
use crate::values::Values;

/// Runs the walk, for bodies of so many statements; whether it changed anything.
pub(super) fn run(func: &mut LoopFunction, largest: usize) -> bool {
    let rows = Distances::of(func);
    let roots = func.body.any(&mut distribute::may_have_two).then(|| Roots::of(func));
    let in_loops = sums::in_loops(&func.body);
    let values = Values::new(&mut func.values);
    let shifted = SecondaryMap::new();
    let mut walk = Peel { values, roots, rows, in_loops, shifted, largest, changed: false };
    func.body.rewrite(&mut |stmt, out| {
        walk.learn(&stmt);
        match stmt {
            Stmt::For(source) => walk.peel(source, out),
            Stmt::Lanes(source) => walk.distribute(source, out),
            stmt => out.push(stmt),
        }
    });
    walk.changed
}

/// Loops to here or further stay as they are.
const FAR: i64 = 1 << 62;

/// Constants beyond this are not followed.
const SMALL: i64 = 1 << 32;

struct Peel<'a> {
    values: Values<'a>,
    /// If there is a loop of sums that stores something.
    roots: Option<Roots>,
    rows: Distances,
    /// The first results of loops of sums that stand in other loops.
    in_loops: HashSet<Value>,
    /// Integers that are another one plus a constant.
    shifted: SecondaryMap<Value, Option<Shifted>>,
    /// Statements of a body that is repeated.
    largest: usize,
    changed: bool,
}

/// A value, or zero, plus a constant.
type Shifted = (Option<Value>, i64);

/// Where the index of a loop is known to be.
#[derive(Clone, Copy)]
struct Range {
    index: Value,
    /// Not below this.
    first: Shifted,
    /// Not above this.
    last: Shifted,
}

impl Peel<'_> {
    fn learn(&mut self, stmt: &Stmt) {
        let (dst, shifted) = match stmt {
            Stmt::Prim { dst, prim, args } => match (prim.row().lowering, args.as_slice()) {
                (Lowering::Opcode(Opcode::IAdd), [a, Atom::Lit(Literal::I64(k))])
                | (Lowering::Opcode(Opcode::IAdd), [Atom::Lit(Literal::I64(k)), a]) => {
                    (*dst, self.shifted(*a).and_then(|a| plus(a, *k)))
                }
                (Lowering::Opcode(Opcode::ISub), [a, Atom::Lit(Literal::I64(k))]) => {
                    (*dst, self.shifted(*a).and_then(|a| plus(a, k.checked_neg()?)))
                }
                _ => return,
            },
            Stmt::Copy { dst, src } if self.values.kind(*dst) == Kind::I64 => {
                (*dst, self.shifted(*src))
            }
            _ => return,
        };
        self.shifted[dst] = shifted;
    }

    fn shifted(&self, atom: Atom) -> Option<Shifted> {
        match atom {
            Atom::Value(v) => Some(self.shifted.get(v).copied().flatten().unwrap_or((Some(v), 0))),
            Atom::Lit(Literal::I64(k)) => plus((None, 0), k),
            Atom::Lit(_) => None,
        }
    }

    /// Writes a loop of sums: if it also adds to cells, and that has ends, as two loops.
    fn distribute(&mut self, source: Box<Lanes>, out: &mut Vec<Stmt>) {
        let parts = self
            .roots
            .as_ref()
            .and_then(|roots| distribute::parts(&source, roots, &mut self.values));
        match parts {
            Some((sums, cells)) if self.ends(&cells).is_some() => {
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
        if repeatable(body)? > self.largest {
            return None;
        }
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

    /// Where the index of a loop is without so many iterations at its ends.
    fn range(&self, index: Value, [low, high]: [Atom; 2], [from, to]: [i64; 2]) -> Option<Range> {
        let (low, high) = (self.shifted(low)?, self.shifted(high)?);
        if !matches!(low, (None, 0..)) {
            return None;
        }
        Some(Range { index, first: plus(low, from)?, last: plus(high, -1 - to)? })
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
        let cond = self.may_be_peeled([low, high], out);
        source.dst = source.dst.iter().map(|v| self.values.like(*v)).collect();
        let whole = source.dst.iter().map(|v| Atom::Value(*v)).collect();
        out.push(Stmt::If {
            dst: results,
            cond,
            then: Block { stmts, results: state },
            other: Block { stmts: vec![Stmt::For(source)], results: whole },
        });
    }

    /// Whether there are iterations, and no constant that was added can have wrapped.
    fn may_be_peeled(&mut self, [low, high]: [Atom; 2], out: &mut Vec<Stmt>) -> Atom {
        let far = Atom::Lit(Literal::I64(FAR));
        let runs = self.values.prim("runs", Kind::BOOL, prim::ILT, &[low, high], out);
        let near = self.values.prim("near", Kind::BOOL, prim::ILT, &[high, far], out);
        self.values.prim("peels", Kind::BOOL, prim::AND, &[runs, near], out)
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

    /// How many branches and checks of a body are decided by where the index is.
    fn decided(&self, body: &Block, range: &Range) -> usize {
        let mut known = HashMap::new();
        self.count(body, range, &mut known)
    }

    fn count(&self, body: &Block, range: &Range, known: &mut HashMap<Value, bool>) -> usize {
        let mut sum = 0;
        for stmt in &body.stmts {
            match stmt {
                Stmt::Prim { dst, prim, args } => {
                    if let Some(truth) = self.truth(*prim, args, range, known) {
                        known.insert(*dst, truth);
                    }
                    sum += usize::from(self.selected(*dst, *prim, args, known).is_some());
                }
                Stmt::If { cond, then, other, .. } => match truth_of(*cond, known) {
                    Some(truth) => {
                        sum += 1 + self.count(if truth { then } else { other }, range, known);
                    }
                    None => {
                        sum += self.count(then, range, known) + self.count(other, range, known);
                    }
                },
                _ => {}
            }
        }
        sum
    }

    /// The integer that is selected, if that is decided: an index that is the loop's own plus a constant then.
    fn selected(
        &self,
        dst: Value,
        prim: Prim,
        args: &[Atom],
        known: &HashMap<Value, bool>,
    ) -> Option<Atom> {
        match (prim.row().lowering, args) {
            (Lowering::Opcode(Opcode::Select), [cond, then, other])
                if self.values.kind(dst) == Kind::I64 =>
            {
                truth_of(*cond, known).map(|truth| if truth { *then } else { *other })
            }
            _ => None,
        }
    }

    /// Whether an operation on truth values is decided.
    fn truth(
        &self,
        prim: Prim,
        args: &[Atom],
        range: &Range,
        known: &HashMap<Value, bool>,
    ) -> Option<bool> {
        let Lowering::Opcode(op) = prim.row().lowering else { return None };
        match (op, args) {
            (Opcode::Not, [a]) => Some(!truth_of(*a, known)?),
            (Opcode::And, [a, b]) => match (truth_of(*a, known), truth_of(*b, known)) {
                (Some(false), _) | (_, Some(false)) => Some(false),
                (Some(true), Some(true)) => Some(true),
                _ => None,
            },
            (Opcode::Or, [a, b]) => match (truth_of(*a, known), truth_of(*b, known)) {
                (Some(true), _) | (_, Some(true)) => Some(true),
                (Some(false), Some(false)) => Some(false),
                _ => None,
            },
            (Opcode::ILt, [a, b]) => self.less(*a, *b, 0, range),
            (Opcode::ILe, [a, b]) => self.less(*a, *b, 1, range),
            (Opcode::IGt, [a, b]) => self.less(*b, *a, 0, range),
            (Opcode::IGe, [a, b]) => self.less(*b, *a, 1, range),
            (Opcode::IEq | Opcode::INe, [a, b]) => {
                let not_above = [self.less(*a, *b, 1, range), self.less(*b, *a, 1, range)];
                match not_above {
                    [Some(true), Some(true)] => Some(op == Opcode::IEq),
                    [Some(false), _] | [_, Some(false)] => Some(op == Opcode::INe),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// Whether a < b + k, if that is known.
    fn less(&self, a: Atom, b: Atom, k: i64, range: &Range) -> Option<bool> {
        let (a, b) = (self.shifted(a)?, plus(self.shifted(b)?, k)?);
        let index = Some(range.index);
        let followed = |s: Shifted| s.0.is_none() || s.0 == index || s.0 == range.last.0;
        if !followed(a) || !followed(b) {
            return None;
        }
        let bounds = |s: Shifted| match s {
            (Some(v), k) if v == range.index => Some((plus(range.first, k)?, plus(range.last, k)?)),
            fixed => Some((fixed, fixed)),
        };
        let ((least_a, most_a), (least_b, most_b)) = (bounds(a)?, bounds(b)?);
        if most_a.0 == least_b.0 && most_a.1 < least_b.1 {
            return Some(true);
        }
        if least_a.0 == most_b.0 && least_a.1 >= most_b.1 {
            return Some(false);
        }
        None
    }

    /// Whether a check holds wherever the index is. The middle only runs where its ends do not wrap.
    fn holds(&self, check: Check, range: &Range) -> bool {
        match check {
            Check::Below(i, n) => {
                let not_negative = match (self.shifted(i), range.first) {
                    (Some((Some(v), k)), (None, first)) => v == range.index && first + k >= 0,
                    _ => false,
                };
                not_negative && self.less(i, n, 0, range) == Some(true)
            }
            _ => false,
        }
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
    known: HashMap<Value, bool>,
    /// What is selected here, by its name in the body.
    selected: HashMap<Value, Atom>,
}

impl<'w, 'a> Copier<'w, 'a> {
    fn new(walk: &'w mut Peel<'a>, range: Option<Range>) -> Copier<'w, 'a> {
        Copier {
            walk,
            range,
            renamed: HashMap::new(),
            known: HashMap::new(),
            selected: HashMap::new(),
        }
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
                        if let Some(truth) = self.walk.truth(*prim, args, &range, &self.known) {
                            self.known.insert(*dst, truth);
                        }
                        let selected = self.walk.selected(*dst, *prim, args, &self.known);
                        if let Some(mut atom) = selected {
                            self.selected.insert(*dst, atom);
                            self.rename(&mut atom);
                            self.renamed.insert(*dst, atom);
                            continue;
                        }
                    }
                    Stmt::If { dst, cond, then, other } => {
                        if let Some(truth) = truth_of(*cond, &self.known) {
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
                    Stmt::Check { .. } => {
                        let mut here = stmt.clone();
                        here.operands_mut(&mut |a| *a = self.selected_of(*a));
                        if let Stmt::Check { check, .. } = here
                            && self.walk.holds(check, &range)
                        {
                            continue;
                        }
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
        for inner in copied.blocks_mut() {
            *inner = self.block(inner);
        }
        copied.binders_mut(&mut |v| *v = self.fresh(*v));
        copied
    }

    /// An integer of the body, or what it is here if it is selected.
    fn selected_of(&self, atom: Atom) -> Atom {
        match atom {
            Atom::Value(v) => self.selected.get(&v).map_or(atom, |other| self.selected_of(*other)),
            Atom::Lit(_) => atom,
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

fn truth_of(atom: Atom, known: &HashMap<Value, bool>) -> Option<bool> {
    match atom {
        Atom::Lit(Literal::Bool(truth)) => Some(truth),
        Atom::Lit(_) => None,
        Atom::Value(v) => known.get(&v).copied(),
    }
}

fn plus((base, offset): Shifted, k: i64) -> Option<Shifted> {
    let offset = offset.checked_add(k)?;
    (-SMALL..SMALL).contains(&offset).then_some((base, offset))
}

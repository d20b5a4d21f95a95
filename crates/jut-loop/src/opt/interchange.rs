//! Loops in loops that go through memory by columns, turned to go through it by rows.
//!
//! The gradient of `build (j < m) { sum (i < n) { f[i] * a[i, j] } }`, a product of a row and a matrix, comes out as
//!
//! ```text
//! for up (j in 0 .. m) {             for up (block in 0 .. blocks) {
//!   t = p(j)                           for up (j in the block) { t[j] = p(j) }
//!   for up (i in 0 .. n) {             for up (i in 0 .. n) {
//!     da[i m + j] += f[i] t              for up (j in the block) {
//!     df[i] += a[i m + j] t                da[i m + j] += f[i] t[j]
//!   }                                      df[i] += a[i m + j] t[j]
//! }                                    }
//!                                    } }
//! ```
//!
//! On the left each step of the inner loop is a row further; on the right it is a cell further, so the loop is one for vectors, and what it
//! adds to one cell is a register. Each cell gets the same terms in the same order, since iterations (i, j) that touch one
//! cell of what is written have i, or j, or both in common, and those keep their order. So no bit changes.
//!
//! Where a loop of sums may stand in a vector of others, what is added to one cell, `df[i]`, has a pair of loops of its own, in which
//! neighbouring i run together; in one pair with what is stored by j, each of its additions would wait for the one before:
//!
//! ```text
//! for up (i in 0 .. n) {
//!   s = df[i]
//!   (s_1) = for up (j in the block) carry (s_2 = s) { s_2 + a[i m + j] t[j] }
//!   df[i] = s_1
//! }
//! ```
//!
//! What the outer loop carries, such as a sum, stays in a loop of its own before ([`apart`]).
//!
//! Requires: a backend that takes vectors of loops. A pair of loops qualifies if the inner one carries nothing, nothing stands behind the inner one, what is before it
//! and in it are operations, loads and stores that cannot fail, and every access to an array that the inner loop writes has one of the forms
//! `x[i]`, `x[j]`, `x[i m + j]`, `x[j n + i]`, the same for all to one array, in which the row is as long as the loop along it at least. That, and that no index wraps, is
//! asked before, and the loops as they were stand beside. Only if more accesses are by columns than by rows. Cost: linear; the loops are
//! written twice, and a function has a buffer of [`SPILLED`] times [`BLOCK`] floats at most for what the outer loop computes.

mod apart;
mod place;

use jut_ir::Literal;
use jut_ir::hash::{HashMap, HashSet};
use jut_ir::prim::{self, Prim};

use crate::analysis::Roots;
use crate::copy::Copier;
use crate::form::{Arena, Atom, Block, Cell, For, Kind, LoopFunction, Order, Site, Stmt, Value};
use crate::values::Values;
use place::{Known, Place};

/// Iterations of the outer loop for which the inner one runs at once: 2 to this power.
const BLOCK: u32 = 7;

/// Numbers of an outer iteration that the inner loop needs, at most.
const SPILLED: usize = 4;

/// Bytes of the buffer for these.
pub(super) const MOST: u32 = (8 * SPILLED as u32) << BLOCK;

/// Statements of either body that is written again.
const LARGEST: usize = 48;

/// Fewer iterations of the outer loop are no vectors worth while.
const LEAST: i64 = 16;

/// A product of two integers up to this does not wrap.
const FAR: i64 = 1 << 31;

/// Runs the walk; whether it changed anything. `nested` says that a loop of sums may stand in a vector of others.
pub(super) fn run(func: &mut LoopFunction, nested: bool) -> bool {
    let roots = Roots::of(func);
    let mut walk = Walk { values: Values::new(&mut func.values), memory: None };
    let (mut changed, mut most) = (false, 0);
    func.body.rewrite(&mut |stmt, out| {
        let rest = apart::rest(&stmt);
        let outer = match (&stmt, &rest) {
            (_, Some(rest)) => Some(rest),
            (Stmt::For(outer), None) => Some(&**outer),
            _ => None,
        };
        let Some(nest) = outer.and_then(|outer| Nest::of(outer, &roots, &walk.values, nested))
        else {
            out.push(stmt);
            return;
        };
        changed = true;
        most = most.max(nest.spilled.len());
        if rest.is_some() {
            out.push(apart::carried(&stmt, &mut walk.values));
        }
        let turned = walk.turned(&nest, out);
        out.push(turned);
    });
    if let (Some(dst), 1..) = (walk.memory, most) {
        let (len, site) = (int((most as i64) << BLOCK), Site::from_u32(0));
        let alloc = Stmt::Alloc { dst, cell: Cell::F64, len, arena: Arena::Temp, site };
        func.body.stmts.insert(0, alloc);
    }
    changed
}

fn int(k: i64) -> Atom {
    Atom::Lit(Literal::I64(k))
}

/// A pair of loops that qualifies.
struct Nest<'s> {
    outer: &'s For,
    /// What is before the inner loop.
    before: &'s [Stmt],
    inner: &'s For,
    /// The floats from before the inner loop that it needs.
    spilled: Vec<Value>,
    /// What else it needs from there, to be computed again.
    again: Vec<&'s Stmt>,
    /// How long rows must be at least: the bound of the loop along them, and their length.
    long: Vec<(Atom, Atom)>,
    /// Cells of the inner index that many outer iterations add to, which have loops of their own.
    sums: Vec<Sum<'s>>,
    /// The statements of the inner loop that are left.
    left: Vec<&'s Stmt>,
}

/// A cell that many outer iterations add to.
struct Sum<'s> {
    buffer: Value,
    /// What the cell has before an iteration, and after it.
    before: Value,
    after: Atom,
    /// The statements of the inner loop that compute what is after it.
    stmts: Vec<&'s Stmt>,
}

impl<'s> Nest<'s> {
    fn of(outer: &'s For, roots: &Roots, values: &Values, nested: bool) -> Option<Nest<'s>> {
        let (Stmt::For(inner), before) = outer.body.stmts.split_last()? else { return None };
        let plain = |l: &For| {
            let from = matches!(l.low, Atom::Lit(Literal::I64(0..=FAR)));
            from && l.carry.is_empty() && !l.may_end_early()
        };
        let simple = |stmts: &[Stmt]| {
            stmts.len() <= LARGEST
                && stmts.iter().all(|stmt| match stmt {
                    Stmt::Prim { prim, args, .. } => {
                        !prim.can_fail_by(args.last().and_then(|a| a.integer()))
                    }
                    Stmt::Load { dst, .. } => !matches!(values.kind(*dst), Kind::Buffer(_)),
                    Stmt::Copy { .. } | Stmt::Store { .. } | Stmt::Offset { .. } => true,
                    _ => false,
                })
        };
        if !plain(outer) || !plain(inner) || !simple(before) || !simple(&inner.body.stmts) {
            return None;
        }
        let mut known = Known { outer: outer.index, inner: inner.index, made: HashMap::default() };
        for stmt in before.iter().chain(&inner.body.stmts) {
            known.made.extend(stmt.bound().iter().map(|v| (*v, stmt)));
        }
        if !known.is_outside(inner.high) || !known.is_outside(outer.high) {
            return None;
        }
        let mut nest = Nest {
            outer,
            before,
            inner,
            spilled: Vec::new(),
            again: Vec::new(),
            long: Vec::new(),
            sums: Vec::new(),
            left: inner.body.stmts.iter().collect(),
        };
        nest.may_be_turned(&known, roots)?;
        nest.needs(&known, values)?;
        if nested && outer.order == Order::Up {
            nest.find_sums(&known, roots);
        }
        Some(nest)
    }

    /// Finds the cells of the inner index whose sums can have loops of their own, and what is left.
    fn find_sums(&mut self, known: &Known<'s>, roots: &Roots) {
        let stmts = &self.inner.body.stmts;
        let written: Vec<Value> = stmts
            .iter()
            .filter_map(|stmt| match stmt {
                Stmt::Store { buffer, .. } => Some(known.array(*buffer)),
                _ => None,
            })
            .collect();
        // Of each store the statements that it needs, and whether they read anything that is written.
        let needs = |value: Atom, own: Option<Value>| {
            let stmts = Nest::slice(stmts, value, own);
            let reads = |stmt: &&Stmt| match stmt {
                Stmt::Load { buffer, .. } => {
                    let array = known.array(*buffer);
                    written.iter().any(|w| roots.may_overlap(*w, array))
                }
                _ => false,
            };
            let any = stmts.iter().any(reads);
            (stmts, any)
        };
        let mut kept: Vec<&Stmt> = Vec::new();
        for stmt in stmts {
            let Stmt::Store { buffer, index, value } = stmt else { continue };
            let mut loads = stmts.iter().filter_map(|stmt| match stmt {
                Stmt::Load { dst, buffer: from, index } if from == buffer => Some((*dst, *index)),
                _ => None,
            });
            let own = match (loads.next(), loads.next()) {
                (Some((before, from)), None) if from == *index => Some(before),
                _ => None,
            };
            let (slice, reads) = needs(*value, own);
            let same = written.iter().filter(|w| roots.may_overlap(**w, known.array(*buffer)));
            match own {
                Some(before)
                    if !reads
                        && *index == Atom::Value(self.inner.index)
                        && known.is_outside((*buffer).into())
                        && same.count() == 1 =>
                {
                    self.sums.push(Sum { buffer: *buffer, before, after: *value, stmts: slice });
                }
                _ => kept.push(stmt),
            }
        }
        // What stays must not read them.
        let stores: Vec<Vec<&Stmt>> = kept
            .iter()
            .map(|stmt| {
                let mut needed = Vec::new();
                stmt.operands(&mut |a| needed.extend(Nest::slice(stmts, a, None)));
                needed
            })
            .collect();
        let binds = |stmt: &&Stmt, v: Value| stmt.bound().contains(&v);
        if self.sums.iter().any(|sum| stores.iter().flatten().any(|s| binds(s, sum.before))) {
            self.sums.clear();
            return;
        }
        if !self.sums.is_empty() {
            let needed = |stmt: &&Stmt| {
                let is = |other: &&Stmt| std::ptr::eq(*other, *stmt);
                kept.iter().any(is) || stores.iter().flatten().any(is)
            };
            self.left = stmts.iter().filter(needed).collect();
        }
    }

    /// The statements that compute a value, in order, but not the one that gives `own`.
    fn slice(stmts: &'s [Stmt], value: Atom, own: Option<Value>) -> Vec<&'s Stmt> {
        let mut open: HashSet<Value> = HashSet::default();
        let ask = |a: Atom, open: &mut HashSet<Value>| {
            if let Atom::Value(v) = a
                && Some(v) != own
            {
                open.insert(v);
            }
        };
        ask(value, &mut open);
        let mut found = Vec::new();
        for stmt in stmts.iter().rev() {
            if stmt.bound().iter().any(|v| open.contains(v)) {
                stmt.operands(&mut |a| ask(a, &mut open));
                found.push(stmt);
            }
        }
        found.reverse();
        found
    }

    /// Whether no iteration sees another order of what is done to its cells, and there is something in it.
    fn may_be_turned(&mut self, known: &Known, roots: &Roots) -> Option<()> {
        let (mut places, mut written) = (Vec::new(), Vec::new());
        let (mut by_columns, mut by_rows) = (0, 0);
        for stmt in &self.inner.body.stmts {
            let (Stmt::Load { buffer, index, .. } | Stmt::Store { buffer, index, .. }) = stmt
            else {
                continue;
            };
            let (array, place) = known.place(*buffer, *index)?;
            by_columns += usize::from(matches!(place, Place::Columns(_)));
            by_rows += usize::from(matches!(place, Place::Rows(_)));
            if matches!(stmt, Stmt::Store { .. }) {
                written.push((array, place));
            }
            places.push((array, place));
        }
        if by_columns <= by_rows {
            return None;
        }
        for (array, place) in &written {
            if *place == Place::Other {
                return None;
            }
            let others = places.iter().filter(|(other, _)| roots.may_overlap(*array, *other));
            if others.into_iter().any(|other| *other != (*array, *place)) {
                return None;
            }
            match place {
                Place::Columns(length) => self.long.push((self.outer.high, *length)),
                Place::Rows(length) => self.long.push((self.inner.high, *length)),
                _ => {}
            }
        }
        for stmt in self.before {
            let (array, touched) = match stmt {
                Stmt::Load { buffer, .. } => (known.array(*buffer), &written),
                Stmt::Store { buffer, .. } => (known.array(*buffer), &places),
                _ => continue,
            };
            let writes = matches!(stmt, Stmt::Store { .. });
            let meets = |other: Value| match writes {
                true => roots.may_overlap(array, other),
                false => roots.may_overlap(other, array),
            };
            if touched.iter().any(|(other, _)| meets(*other)) {
                return None;
            }
        }
        self.long.dedup();
        Some(())
    }

    /// Finds what the inner loop needs of what is before it.
    fn needs(&mut self, known: &Known<'s>, values: &Values) -> Option<()> {
        let before: HashSet<Value> =
            self.before.iter().flat_map(|stmt| stmt.bound()).copied().collect();
        let mut needed = HashSet::default();
        let mut open = Vec::new();
        let mut ask = |atom: Atom, open: &mut Vec<Value>| {
            if let Atom::Value(v) = atom
                && before.contains(&v)
                && needed.insert(v)
            {
                open.push(v);
            }
        };
        self.inner.body.stmts.iter().for_each(|stmt| stmt.operands(&mut |a| ask(a, &mut open)));
        let mut again = HashSet::default();
        while let Some(v) = open.pop() {
            let stmt = *known.made.get(&v)?;
            match (stmt, values.kind(v)) {
                (_, Kind::F64) => self.spilled.push(v),
                (Stmt::Offset { .. } | Stmt::Copy { .. }, _) | (Stmt::Prim { .. }, Kind::I64) => {
                    again.insert(v);
                    stmt.operands(&mut |a| ask(a, &mut open));
                }
                _ => return None,
            }
        }
        self.spilled.sort_unstable();
        let made_again = |stmt: &&Stmt| stmt.bound().iter().any(|v| again.contains(v));
        self.again = self.before.iter().filter(made_again).collect();
        (self.spilled.len() <= SPILLED).then_some(())
    }
}

struct Walk<'a> {
    values: Values<'a>,
    /// The buffer for what is spilled, if any nest needs it.
    memory: Option<Value>,
}

impl Walk<'_> {
    /// The loops turned, if that may be and is worth while, or as they were.
    fn turned(&mut self, nest: &Nest, out: &mut Vec<Stmt>) -> Stmt {
        let (first, last) = (nest.outer.low, nest.outer.high);
        let mut asked = vec![(int(LEAST), last), (last, int(FAR)), (nest.inner.high, int(FAR))];
        for (bound, length) in &nest.long {
            asked.extend([(*bound, *length), (*length, int(FAR))]);
        }
        let mut cond = Atom::Lit(Literal::Bool(true));
        for (a, b) in asked {
            let holds = self.values.prim("holds", Kind::BOOL, prim::ILE, &[a, b], out);
            cond = self.values.prim("turns", Kind::BOOL, prim::AND, &[cond, holds], out);
        }
        let mut then = Vec::new();
        let memory: Vec<Value> = (0..nest.spilled.len())
            .map(|k| {
                let kind = Kind::Buffer(Cell::F64);
                let values = &mut self.values;
                let buffer = *self.memory.get_or_insert_with(|| values.fresh("spilled", kind));
                let dst = self.values.fresh("part", kind);
                then.push(Stmt::Offset { dst, buffer, index: int((k as i64) << BLOCK) });
                dst
            })
            .collect();
        let trips = self.integer("trips", prim::ISUB, [last, first], &mut then);
        let more = self.integer("more", prim::IADD, [trips, int((1 << BLOCK) - 1)], &mut then);
        let blocks = self.integer("blocks", prim::SHR, [more, int(i64::from(BLOCK))], &mut then);
        let index = self.values.fresh("block", Kind::I64);
        let mut body = Vec::new();
        let start =
            self.integer("start", prim::SHL, [index.into(), int(i64::from(BLOCK))], &mut body);
        let begin = self.integer("begin", prim::IADD, [first, start], &mut body);
        let left = self.integer("left", prim::ISUB, [trips, start], &mut body);
        let len = self.integer("len", prim::IMIN, [left, int(1 << BLOCK)], &mut body);
        self.loops(nest, &memory, [begin, len], &mut body);
        then.push(counted(nest.outer.order, index, int(0), blocks, body));
        let then = Block { stmts: then, results: Vec::new() };
        let other = Block { stmts: vec![nest.outer.clone().into()], results: Vec::new() };
        Stmt::If { dst: Vec::new(), cond, then, other }
    }

    fn integer(&mut self, hint: &str, prim: Prim, args: [Atom; 2], out: &mut Vec<Stmt>) -> Atom {
        self.values.prim(hint, Kind::I64, prim, &args, out)
    }

    /// Both loops for a block of the outer one.
    fn loops(&mut self, nest: &Nest, memory: &[Value], part: [Atom; 2], out: &mut Vec<Stmt>) {
        let [begin, len] = part;
        if !nest.before.is_empty() {
            let mut copier = Again::new(self, nest, begin);
            nest.before.iter().for_each(|stmt| copier.stmt(stmt));
            let spilled = nest.spilled.iter().zip(memory);
            for (v, buffer) in spilled {
                let (buffer, value) = (*buffer, copier.names.atom((*v).into()));
                copier.out.push(Stmt::Store { buffer, index: copier.number.into(), value });
            }
            let Again { number, out: body, .. } = copier;
            out.push(counted(nest.outer.order, number, int(0), len, body));
        }
        let Nest { outer, inner, .. } = nest;
        for sum in &nest.sums {
            let index = self.values.like(inner.index);
            let [before, carried, after] = [0; 3].map(|_| self.values.like(sum.before));
            let mut copier = Again::within(self, nest, memory, [begin, index.into()]);
            copier.names.set(sum.before, carried.into());
            sum.stmts.iter().for_each(|stmt| copier.stmt(stmt));
            let results = vec![copier.names.atom(sum.after)];
            let Again { number, out: stmts, .. } = copier;
            let mut along = counted(outer.order, number, int(0), len, Vec::new());
            if let Stmt::For(along) = &mut along {
                along.dst.push(after);
                along.carry.push((carried, before.into()));
                along.body = Block { stmts, results };
            }
            let buffer = sum.buffer;
            let body = vec![
                Stmt::Load { dst: before, buffer, index: index.into() },
                along,
                Stmt::Store { buffer, index: index.into(), value: after.into() },
            ];
            out.push(counted(inner.order, index, inner.low, inner.high, body));
        }
        if nest.left.is_empty() {
            return;
        }
        let index = self.values.like(inner.index);
        let mut copier = Again::within(self, nest, memory, [begin, index.into()]);
        nest.left.iter().for_each(|stmt| copier.stmt(stmt));
        let Again { number, out: body, .. } = copier;
        let along = counted(outer.order, number, int(0), len, body);
        out.push(counted(inner.order, index, inner.low, inner.high, vec![along]));
    }
}

fn counted(order: Order, index: Value, low: Atom, high: Atom, stmts: Vec<Stmt>) -> Stmt {
    let body = Block { stmts, results: Vec::new() };
    For { dst: Vec::new(), order, vector: None, index, low, high, carry: Vec::new(), body }.into()
}

/// Writes statements of a nest again, in a loop over a block.
struct Again<'w, 'a> {
    walk: &'w mut Walk<'a>,
    names: Copier,
    /// The outer index, and where the block begins.
    outer: Value,
    begin: Atom,
    /// The number of the iteration in the block.
    number: Value,
    out: Vec<Stmt>,
}

impl<'w, 'a> Again<'w, 'a> {
    fn new(walk: &'w mut Walk<'a>, nest: &Nest, begin: Atom) -> Again<'w, 'a> {
        let number = walk.values.fresh("number", Kind::I64);
        let outer = nest.outer.index;
        let mut out = Vec::new();
        let index = walk.values.like(outer);
        out.push(Stmt::Prim { dst: index, prim: prim::IADD, args: vec![begin, number.into()] });
        let names = Copier::with([(outer, index.into())]);
        Again { walk, names, outer, begin, number, out }
    }

    /// For statements of the inner loop, which has this index: what they need of what is before it is there.
    fn within(
        walk: &'w mut Walk<'a>,
        nest: &Nest,
        memory: &[Value],
        [begin, index]: [Atom; 2],
    ) -> Again<'w, 'a> {
        let mut copier = Again::new(walk, nest, begin);
        copier.names.set(nest.inner.index, index);
        nest.again.iter().for_each(|stmt| copier.stmt(stmt));
        for (v, buffer) in nest.spilled.iter().zip(memory) {
            let dst = copier.names.fresh(*v, &mut copier.walk.values);
            copier.out.push(Stmt::Load { dst, buffer: *buffer, index: copier.number.into() });
        }
        copier
    }

    fn stmt(&mut self, stmt: &Stmt) {
        let mut copied = stmt.clone();
        // Cells one after the other, from that of the block's beginning on.
        if let Stmt::Load { buffer, index, .. } | Stmt::Store { buffer, index, .. } = &mut copied
            && *index == Atom::Value(self.outer)
        {
            let dst = self.walk.values.like(*buffer);
            let whole = *buffer;
            *buffer = dst;
            *index = self.number.into();
            let mut part = Stmt::Offset { dst, buffer: whole, index: self.begin };
            part.operands_mut(&mut |a| *a = self.names.atom(*a));
            self.out.push(part);
        }
        let copied = self.names.stmt(&copied, &mut self.walk.values);
        self.out.push(copied);
    }
}

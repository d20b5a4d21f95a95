//! Loops of sums in order, four of them at a time, or two.
//!
//! A sum in the order of a loop waits for itself: an addition begins when the one before has ended. Where the loop around has a sum
//! for each of its iterations, as the gradient of a product of matrices or of an elimination in place has, four of these are one loop
//! with four sums, which do not wait for each other:
//!
//! ```text
//! for up (l in 0 .. m) {                       for up (part in 0 .. parts) {
//!   b = x[l]                                     .. l, l_1, l_2, l_3; b, b_1, b_2, b_3 ..
//!   (s) = for up (j in 0 .. n) carry (s_1 = a) {   (s, t, u, v) = for up (j in 0 .. n) carry (s_1 = a, ..) {
//!     c = y[j]                                     c = y[j]
//!     p = b * c                                    p = b * c
//!     s_2 = s_1 + p                                s_2 = s_1 + p
//!     (s_2)                                        .. and so for the other three ..
//!   }                                              (s_2, t_2, u_2, v_2)
//!   z[l] = s                                     }
//! }                                              z[l] = s; z[l_1] = t; ..
//!                                              }
//!                                              for up (l in after .. m) { .. as it was .. }
//! ```
//!
//! What the inner loop also stores to, all four do in each of its iterations, in their order; what is loaded and computed for that comes
//! first.
//!
//! *Requires*: in the loop around one inner loop, whose range is the same in all iterations, perhaps in a branch that is taken in all or
//! none. Of what two iterations of the loop around access, one of them storing, it is known that it is another cell: another array,
//! another row ([`Distances`]), or, in the inner loop, the same cell in the same iteration of that. *Ensures*: the same sums and
//! cells, bit for bit; nothing can fail in such loops. *Cost*: linear, and the square of the accesses of a loop of [`LARGEST`] statements; the
//! loop stands there five times.

use jut_ir::hash::HashSet;
use jut_ir::{Literal, prim};

use crate::analysis::effects::Access;
use crate::analysis::linear::Linear;
use crate::analysis::{Distance, Distances, Roots, sums_in_order};
use crate::copy::Copier;
use crate::form::{Atom, Block, For, Kind, LoopFunction, Order, Stmt, Value};
use crate::values::{Values, trips};

/// Iterations at a time, for a target that takes sums in order several iterations at a time, too: as many sums as it adds up at once.
pub(super) const FOUR: i64 = 4;

/// For one that has a register for each number.
pub(super) const TWO: i64 = 2;

/// Statements of a loop in a loop, those around the inner loop included.
const LARGEST: usize = 40;

/// Sums of the inner loop at most: for all iterations that are taken together they are in registers.
const SUMS: usize = 2;

/// Runs the walk; whether it changed anything.
pub(super) fn run(func: &mut LoopFunction, together: i64) -> bool {
    if !func.body.any(&mut |stmt| matches!(stmt, Stmt::For(f) if Parts::of(f).is_some())) {
        return false;
    }
    let (roots, rows) = (Roots::of(func), Distances::of(func));
    let values = Values::new(&mut func.values);
    let mut walk = Jam { roots, rows, values, together, changed: false };
    walk.block(&mut func.body);
    walk.changed
}

/// A loop around a loop of sums in order.
struct Parts<'s> {
    /// What stands before the inner loop, and before the branch that it stands in.
    before: [&'s [Stmt]; 2],
    condition: Option<Atom>,
    inner: &'s For,
    /// What stands behind it, and behind the branch.
    behind: [&'s [Stmt]; 2],
}

impl<'s> Parts<'s> {
    fn of(outer: &'s For) -> Option<Parts<'s>> {
        let ordered = matches!(outer.order, Order::Up | Order::Down);
        if !ordered || !outer.carry.is_empty() || outer.vector.is_some() {
            return None;
        }
        let stmts = &outer.body.stmts;
        let at = stmts.iter().position(|stmt| !is_simple(stmt))?;
        let (before, behind) = (&stmts[..at], &stmts[at + 1..]);
        let parts = match &stmts[at] {
            Stmt::For(inner) => {
                Parts { before: [before, &[]], condition: None, inner, behind: [&[], behind] }
            }
            Stmt::If { dst, cond, then, other } if dst.is_empty() && other.stmts.is_empty() => {
                let at = then.stmts.iter().position(|stmt| !is_simple(stmt))?;
                let Stmt::For(inner) = &then.stmts[at] else { return None };
                Parts {
                    before: [before, &then.stmts[..at]],
                    condition: Some(*cond),
                    inner,
                    behind: [&then.stmts[at + 1..], behind],
                }
            }
            _ => return None,
        };
        parts.fits(outer).then_some(parts)
    }

    fn fits(&self, outer: &For) -> bool {
        let Parts { before, inner, behind, condition } = self;
        let own = self.own(outer);
        let outside = |a: &Atom| !matches!(a, Atom::Value(v) if own.contains(v));
        let stores = |stmt: &Stmt| matches!(stmt, Stmt::Store { .. });
        let size = stmts(before).chain(stmts(behind)).chain(&inner.body.stmts).count();
        matches!(inner.order, Order::Up | Order::Down)
            && inner.vector.is_none()
            && (1..=SUMS).contains(&inner.carry.len())
            && sums_in_order(inner).is_some_and(|sums| sums.len() == inner.carry.len())
            && condition.iter().chain([&inner.low, &inner.high]).all(outside)
            && inner.body.stmts.iter().chain(stmts(behind)).all(is_simple)
            && !stmts(before).any(stores)
            && size <= LARGEST
    }

    /// What differs between the iterations of the loop around.
    fn own(&self, outer: &For) -> HashSet<Value> {
        let mut own: HashSet<Value> = HashSet::default();
        own.insert(outer.index);
        own.extend(stmts(&self.before).flat_map(Stmt::bound).copied());
        own.extend(self.inner.dst.iter().copied());
        own.extend(stmts(&self.behind).flat_map(Stmt::bound).copied());
        own
    }
}

fn stmts<'s>(parts: &[&'s [Stmt]; 2]) -> impl Iterator<Item = &'s Stmt> {
    let [first, second] = *parts;
    first.iter().chain(second)
}

/// Whether a statement only computes, loads or stores.
fn is_simple(stmt: &Stmt) -> bool {
    match stmt {
        Stmt::Prim { prim, args, .. } => !prim.can_fail_by(args.last().and_then(|a| a.integer())),
        Stmt::Copy { .. } | Stmt::Load { .. } | Stmt::Offset { .. } | Stmt::Store { .. } => true,
        _ => false,
    }
}

/// Statements once for each iteration that is taken, one iteration after the other.
fn of_each(copies: &mut [Copier], stmts: &[Stmt], values: &mut Values) -> Vec<Stmt> {
    let mut all = Vec::with_capacity(copies.len() * stmts.len());
    for copy in copies {
        all.extend(stmts.iter().map(|stmt| copy.stmt(stmt, values)));
    }
    all
}

/// A cell that is accessed.
#[derive(Clone, Copy)]
struct Accessed {
    buffer: Value,
    index: Atom,
    how: Access,
}

fn accessed<'s>(stmts: impl Iterator<Item = &'s Stmt>) -> Vec<Accessed> {
    let one = |stmt: &Stmt| match *stmt {
        Stmt::Load { buffer, index, .. } => Some(Accessed { buffer, index, how: Access::Read }),
        Stmt::Store { buffer, index, .. } => Some(Accessed { buffer, index, how: Access::Write }),
        _ => None,
    };
    stmts.filter_map(one).collect()
}

/// What two iterations of the loop around have in common.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Common {
    Nothing,
    /// A cell, in one and the same iteration of the inner loop.
    AtOnce,
    Unknown,
}

struct Jam<'a> {
    roots: Roots,
    rows: Distances,
    values: Values<'a>,
    /// How many iterations are taken at a time: a power of two.
    together: i64,
    changed: bool,
}

impl Jam<'_> {
    fn block(&mut self, block: &mut Block) {
        let mut out = Vec::with_capacity(block.stmts.len());
        for mut stmt in std::mem::take(&mut block.stmts) {
            if let Stmt::For(outer) = &stmt
                && let Some(parts) = Parts::of(outer)
            {
                if let Some(alone) = self.may_be_together(outer, &parts) {
                    self.take_together(outer, &parts, alone, &mut out);
                    self.changed = true;
                    continue;
                }
            } else {
                stmt.blocks_mut().into_iter().for_each(|inner| self.block(inner));
            }
            out.push(stmt);
        }
        block.stmts = out;
    }

    /// If no iteration of the loop around notices that others run at once with it, the number of statements at the beginning of
    /// the inner loop that reach nothing which another one stores to.
    fn may_be_together(&self, outer: &For, parts: &Parts<'_>) -> Option<usize> {
        let own = parts.own(outer);
        let inside: HashSet<Value> =
            parts.inner.body.stmts.iter().flat_map(Stmt::bound).copied().collect();
        let common = |a: &Accessed, b: &Accessed| match (a.how, b.how) {
            (Access::Read, Access::Read) => Common::Nothing,
            _ => self.common((a, b), [outer.index, parts.inner.index], &own, &inside),
        };
        let (before, behind) = (accessed(stmts(&parts.before)), accessed(stmts(&parts.behind)));
        let inner = accessed(parts.inner.body.stmts.iter());
        let apart = |xs: &[Accessed], ys: &[Accessed]| {
            xs.iter().all(|x| ys.iter().all(|y| common(x, y) == Common::Nothing))
        };
        // One that comes later has loaded before the inner loop what earlier ones store there and behind it, and what these store
        // behind it comes after its inner loop.
        let may = apart(&before, &inner)
            && apart(&before, &behind)
            && apart(&behind, &inner)
            && inner.iter().all(|x| inner.iter().all(|y| common(x, y) != Common::Unknown));
        let alone = |stmt: &Stmt| apart(&accessed([stmt].into_iter()), &inner);
        let body = &parts.inner.body.stmts;
        may.then(|| body.iter().position(|stmt| !alone(stmt)).unwrap_or(body.len()))
    }

    /// What two accesses have in common in different iterations of the loop around. `own`: what differs between these; `inside`: what
    /// the inner loop computes.
    fn common(
        &self,
        (a, b): (&Accessed, &Accessed),
        [outer, inner]: [Value; 2],
        own: &HashSet<Value>,
        inside: &HashSet<Value>,
    ) -> Common {
        let [x, y] = [a, b].map(|access| (access.buffer, access.index));
        if !self.roots.may_overlap(x.0, y.0) && !self.roots.may_overlap(y.0, x.0) {
            return Common::Nothing;
        }
        let [(array, at), (other, at_other)] =
            [x, y].map(|(buffer, at)| self.rows.place(buffer, at));
        let same = |value: Value| !own.contains(&value) && !inside.contains(&value);
        if array != other || !same(array) {
            return Common::Unknown;
        }
        let terms = || at.terms().iter().chain(at_other.terms()).map(|(value, _)| *value);
        if terms().any(|value| inside.contains(&value)) {
            return Common::Unknown;
        }
        let moves = |at: &Linear| at.terms().iter().any(|(value, _)| own.contains(value));
        if moves(&at) && moves(&at_other) {
            let outside = |value: Value| same(value) && value != inner;
            return match self.rows.are_in_own_rows(x, y, outer, &outside) {
                true => Common::Nothing,
                false => Common::Unknown,
            };
        }
        // What one of them reaches it reaches in all iterations of the loop around, so they are looked at in one.
        let beyond = |more: &Accessed, less: &Accessed| {
            more.buffer == less.buffer
                && self.rows.sum(less.index).of(inner) == 0
                && self.rows.is_beyond(more.index, less.index)
        };
        let rows_apart =
            |x, y| self.rows.is_row_behind(x, y, None) || self.rows.is_row_before(x, y);
        let single = at.of(inner) == 0 && at.is_apart_from(&at_other);
        if single || beyond(a, b) || beyond(b, a) || rows_apart(x, y) || rows_apart(y, x) {
            return Common::Nothing;
        }
        let outside = |value: Value| value != inner && !inside.contains(&value);
        let cell = |(buffer, at)| self.rows.cell(buffer, at, inner, &outside);
        let (Some(first), Some(second)) = (cell(x), cell(y)) else { return Common::Unknown };
        match self.rows.between(&first, &second, inner) {
            Distance::Apart => Common::Nothing,
            Distance::Iterations(0) => Common::AtOnce,
            Distance::Iterations(_) | Distance::Unknown => Common::Unknown,
        }
    }

    /// Writes the loop for several iterations at a time, and for those that are left.
    fn take_together(&mut self, outer: &For, parts: &Parts<'_>, alone: usize, out: &mut Vec<Stmt>) {
        let int = |k: i64| Atom::Lit(Literal::I64(k));
        let values = &mut self.values;
        let trips = trips([outer.low, outer.high], &mut |hint, kind, prim, args| {
            values.prim(hint, kind, prim, args, out)
        });
        let shift = int(i64::from(self.together.trailing_zeros()));
        let number = values.prim("parts", Kind::I64, prim::SHR, &[trips, shift], out);
        let whole = values.prim("whole", Kind::I64, prim::SHL, &[number, shift], out);
        // Those that are left come last: the first ones where the loop runs down.
        let (start, rest) = match outer.order {
            Order::Down => {
                let left = values.prim("left", Kind::I64, prim::ISUB, &[trips, whole], out);
                let start = values.prim("start", Kind::I64, prim::IADD, &[outer.low, left], out);
                (start, [outer.low, start])
            }
            _ => {
                let end = values.prim("end", Kind::I64, prim::IADD, &[outer.low, whole], out);
                (outer.low, [end, outer.high])
            }
        };
        let part = values.fresh("part", Kind::I64);
        let mut body = Vec::new();
        let first = values.prim("first", Kind::I64, prim::SHL, &[part.into(), shift], &mut body);
        let first = values.prim("first", Kind::I64, prim::IADD, &[start, first], &mut body);
        let mut copies: Vec<Copier> = Vec::new();
        for k in 0..self.together {
            let k = if outer.order == Order::Down { self.together - 1 - k } else { k };
            let hint = values.data(outer.index).name.clone();
            let index = values.prim(&hint, Kind::I64, prim::IADD, &[first, int(k)], &mut body);
            copies.push(Copier::with([(outer.index, index)]));
        }
        let [before, in_branch] = parts.before;
        body.extend(of_each(&mut copies, before, values));
        let mut branch = of_each(&mut copies, in_branch, values);
        let inner = self.together(parts.inner, alone, &mut copies);
        branch.push(Stmt::For(Box::new(inner)));
        let values = &mut self.values;
        let [in_branch, behind] = parts.behind;
        branch.extend(of_each(&mut copies, in_branch, values));
        match parts.condition {
            Some(cond) => {
                let then = Block { stmts: branch, results: Vec::new() };
                body.push(Stmt::If { dst: Vec::new(), cond, then, other: Block::default() });
            }
            None => body.extend(branch),
        }
        body.extend(of_each(&mut copies, behind, values));
        let mut of_parts = outer.clone();
        (of_parts.index, of_parts.low, of_parts.high) = (part, int(0), number);
        of_parts.body.stmts = body;
        out.push(Stmt::For(Box::new(of_parts)));
        let mut left = outer.clone();
        [left.low, left.high] = rest;
        out.push(Stmt::For(Box::new(left)));
    }

    /// The inner loop of several iterations; so many statements of its body come first for all of them.
    fn together(&mut self, inner: &For, alone: usize, copies: &mut [Copier]) -> For {
        let values = &mut self.values;
        let (index, body) = (values.like(inner.index), Block::default());
        let mut all = For { index, body, carry: Vec::new(), dst: Vec::new(), ..inner.clone() };
        for copy in &mut *copies {
            for (carried, initial) in &inner.carry {
                let initial = copy.atom(*initial);
                all.carry.push((copy.fresh(*carried, values), initial));
            }
            copy.set(inner.index, index.into());
        }
        let (first, last) = inner.body.stmts.split_at(alone);
        for stmts in [first, last] {
            all.body.stmts.extend(of_each(copies, stmts, values));
        }
        for copy in copies {
            all.body.results.extend(inner.body.results.iter().map(|next| copy.atom(*next)));
            all.dst.extend(inner.dst.iter().map(|dst| copy.fresh(*dst, values)));
        }
        all
    }
}

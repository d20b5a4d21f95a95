//! Two loops in each other change places, where the inner one goes down columns and the outer one along rows.
//!
//! The gradient of an elimination in place goes through a matrix and its cotangent g by columns, a row apart:
//!
//! ```text
//! for down (k in 0 .. j) {                   for down (i in 1 .. m) {
//!   f = l[j n + k]                             c = g[(j + i) n + j]
//!   for down (i in 0 .. m) {                   for down (k in 0 .. j) {
//!     c = g[(j + i) n + j]                       g[j n + k] += c * l[(j + i) n + k]
//!     g[j n + k] += c * l[(j + i) n + k]         g[(j + i) n + k] += c * l[j n + k]
//!     g[(j + i) n + k] += c * f                } }
//! } }                                        .. and the same for i = 0, where both rows are one
//! ```
//!
//! Two iterations that meet in a cell have one index in common ([`Distances::meet_in_order`]), so they keep their order and no bit changes. What the iterations
//! of the new inner loop load from one cell, which none of them writes, is loaded before it. Where two rows are one in the first iteration of the new
//! outer loop alone, that stands by itself, and in the others vectors may take both.
//!
//! Where the target takes eight iterations of a loop together that has another one in it, a cell of a row may also be what the new inner loop adds to:
//!
//! ```text
//! for up (k in 0 .. j) {                     for par (i in 0 .. m) {
//!   for up (i in 0 .. m) {                     for up (k in 0 .. j) {
//!     t[(j + i) n + j] -= ..                     t[(j + i) n + j] -= ..       a register
//! } }                                        } }
//! ```
//!
//! Requires: indices of the inner loop do not depend on the outer one; nothing is carried, and nothing stands behind the inner loop; what is before it and in it are
//! operations that cannot fail, loads and, in it, stores along the outer index. Only if more accesses are by columns than by rows.
//! Ensures: same cells, same order of what is added to each. Cost: linear, but for the accesses of a body, each of which is compared with each store.

use crate::analysis::{Distances, Roots, Spot};
use crate::copy::Copier;
use crate::form::{Atom, Block, For, Kind, LoopFunction, Order, Stmt, Value};
use crate::values::Values;
use jut_ir::hash::HashSet;
use jut_ir::{Literal, prim};

/// Statements of both bodies that are written again.
const LARGEST: usize = 48;

/// Whether there is anything to look at.
pub(super) fn may_run(func: &LoopFunction) -> bool {
    func.body.any(&mut |stmt| matches!(stmt, Stmt::For(outer) if inside(outer).is_some()))
}

/// Runs the walk; whether it changed anything. `sums` says that the new inner loop may add to one cell.
pub(super) fn run(func: &mut LoopFunction, sums: bool) -> bool {
    let (roots, distances) = (Roots::of(func), Distances::of(func));
    let mut values = Values::new(&mut func.values);
    let mut changed = false;
    func.body.rewrite(&mut |stmt, out| {
        let nest = match &stmt {
            Stmt::For(outer) => Nest::of(outer, &roots, &distances, sums),
            _ => None,
        };
        match nest {
            Some(nest) => {
                changed = true;
                nest.write(&mut values, out);
            }
            None => out.push(stmt),
        }
    });
    changed
}

/// The inner loop of a pair of the form that is asked for, and what is before it.
fn inside(outer: &For) -> Option<(&[Stmt], &For)> {
    let (Stmt::For(inner), before) = outer.body.stmts.split_last()? else { return None };
    let plain = |l: &For| l.carry.is_empty() && !l.may_end_early();
    let few = before.len() + inner.body.stmts.len() <= LARGEST;
    let simple = |stmts: &[Stmt], stores: bool| {
        stmts.iter().all(|stmt| match stmt {
            Stmt::Prim { prim, args, .. } => {
                !prim.can_fail_by(args.last().and_then(|a| a.integer()))
            }
            Stmt::Load { .. } | Stmt::Copy { .. } | Stmt::Offset { .. } => true,
            Stmt::Store { .. } => stores,
            _ => false,
        })
    };
    let fits = plain(outer)
        && plain(inner)
        && few
        && simple(before, false)
        && simple(&inner.body.stmts, true);
    fits.then_some((before, inner))
}

/// A pair of loops that change places.
struct Nest<'s> {
    outer: &'s For,
    inner: &'s For,
    /// The statements of both bodies that stand before the new inner loop, and those in it.
    before: Vec<&'s Stmt>,
    within: Vec<&'s Stmt>,
    /// What it adds to a cell: the load and the store of it.
    sums: Vec<[&'s Stmt; 2]>,
    /// The order of the new outer loop, and whether its first iteration stands by itself.
    order: Order,
    first: bool,
}

impl<'s> Nest<'s> {
    fn of(outer: &'s For, roots: &Roots, distances: &Distances, sums: bool) -> Option<Nest<'s>> {
        let (before, inner) = inside(outer)?;
        let bound: HashSet<Value> =
            before.iter().flat_map(|stmt| stmt.bound()).chain([&outer.index]).copied().collect();
        let depends = |a: Atom| matches!(a, Atom::Value(v) if bound.contains(&v));
        if depends(inner.low) || depends(inner.high) {
            return None;
        }
        let indices = [outer.index, inner.index];
        let spot = |stmt: &Stmt| match stmt {
            Stmt::Load { buffer, index, .. } | Stmt::Store { buffer, index, .. } => {
                Some(distances.spot(*buffer, *index))
            }
            _ => None,
        };
        // Where the inner loop comes to, and what it writes of that.
        let (mut reached, mut written) = (Vec::new(), Vec::new());
        for stmt in &inner.body.stmts {
            let (Stmt::Load { buffer, .. } | Stmt::Store { buffer, .. }) = stmt else { continue };
            let spot = spot(stmt)?;
            if let (Stmt::Store { .. }, Some(spot)) = (stmt, &spot) {
                written.push((*buffer, spot.clone()));
            } else if matches!(stmt, Stmt::Store { .. }) {
                return None;
            }
            reached.push((*buffer, spot));
        }
        // A step of the new inner loop is one cell of what is written, or none.
        let steps = |spot: &Spot| {
            let [row, column] = &spot.place;
            match indices.map(|v| (row.of(v), column.of(v))) {
                [(0, step @ 0..=1), (_, 0)] => Some(step),
                _ => None,
            }
        };
        let steps: Option<Vec<i64>> = written.iter().map(|(_, spot)| steps(spot)).collect();
        let steps = steps.filter(|steps| !steps.is_empty())?;
        let along = steps[0] == 1;
        if steps.iter().any(|step| *step != steps[0]) || !along && !sums {
            return None;
        }
        let by_rows = |index: Value| {
            let is = |spot: &&Spot| spot.place[0].of(index) != 0;
            reached.iter().filter_map(|(_, spot)| spot.as_ref()).filter(is).count()
        };
        if by_rows(inner.index) <= by_rows(outer.index) {
            return None;
        }
        let mut first = false;
        for (buffer, store) in &written {
            for (other, spot) in &reached {
                if !roots.may_overlap(*buffer, *other) {
                    continue;
                }
                let spot = spot.as_ref()?;
                if !distances.meet_in_order(store, spot, indices) {
                    return None;
                }
                // Iterations of a loop round a sum have cells of their own, and nothing else comes to these.
                let own = store.array == spot.array && store.place == spot.place;
                let alone = distances.never_meet(store, spot, indices);
                if !(along || alone || own && distances.meet_in_one(store, spot, indices)) {
                    return None;
                }
                first |= !alone && distances.meet_in_first(store, spot, inner.index);
            }
        }
        let order = if along { inner.order } else { Order::Par };
        // What is loaded before the inner loop is loaded in it, or before all of it.
        let disturbed = |stmt: &&Stmt| matches!(stmt, Stmt::Load { buffer, .. } if written.iter().any(|(b, _)| roots.may_overlap(*b, *buffer)));
        if before.iter().any(|stmt| disturbed(&stmt)) {
            return None;
        }
        let mut nest = Nest {
            outer,
            inner,
            before: Vec::new(),
            within: Vec::new(),
            sums: Vec::new(),
            order,
            first,
        };
        let mut varies = HashSet::from_iter([outer.index]);
        for stmt in before.iter().chain(&inner.body.stmts) {
            let mut same = !matches!(stmt, Stmt::Store { .. });
            stmt.operands(&mut |a| same &= !matches!(a, Atom::Value(v) if varies.contains(&v)));
            if same && disturbed(&stmt) {
                let spot = spot(stmt).flatten();
                same = spot.is_some_and(|spot| {
                    written.iter().all(|(b, store)| {
                        !roots.may_overlap(*b, spot.array)
                            || distances.never_meet(store, &spot, indices)
                    })
                });
            }
            if same {
                nest.before.push(stmt);
            } else {
                varies.extend(stmt.bound().iter().copied());
                nest.within.push(stmt);
            }
        }
        if !along {
            nest.find_sums()?;
        }
        Some(nest)
    }

    /// Finds the sums of the new inner loop, which are no loads and stores in it: each cell is loaded once and then stored to once.
    fn find_sums(&mut self) -> Option<()> {
        let cell = |stmt: &Stmt| match stmt {
            Stmt::Load { buffer, index, .. } => Some((false, *buffer, *index)),
            Stmt::Store { buffer, index, .. } => Some((true, *buffer, *index)),
            _ => None,
        };
        let stores: Vec<&Stmt> =
            self.within.iter().copied().filter(|s| matches!(s, Stmt::Store { .. })).collect();
        for store in stores {
            let (_, buffer, index) = cell(store)?;
            let same = |stmt: &&Stmt| cell(stmt).is_some_and(|(_, b, i)| (b, i) == (buffer, index));
            let all: Vec<&Stmt> = self.within.iter().copied().filter(same).collect();
            let [load @ Stmt::Load { .. }, store] = all[..] else { return None };
            self.sums.push([load, store]);
            self.within.retain(|stmt| !same(stmt));
        }
        Some(())
    }

    fn write(&self, values: &mut Values, out: &mut Vec<Stmt>) {
        let Nest { outer, inner, .. } = self;
        let mut stmts = Vec::new();
        let mut low = inner.low;
        let alone = self.first.then(|| {
            let first = low;
            let one = Atom::Lit(Literal::I64(1));
            low = match low {
                Atom::Lit(Literal::I64(k)) => Atom::Lit(Literal::I64(k.wrapping_add(1))),
                low => values.prim("second", Kind::I64, prim::IADD, &[low, one], &mut stmts),
            };
            self.iteration(first, values)
        });
        let index = values.like(inner.index);
        let body = Block { stmts: self.iteration(index.into(), values), results: Vec::new() };
        let rest = For { order: self.order, index, low, body, ..(*inner).clone() };
        let alone = alone.map(|alone| {
            let bounds = [inner.low, inner.high];
            let cond = values.prim("runs", Kind::BOOL, prim::ILT, &bounds, &mut stmts);
            let then = Block { stmts: alone, results: Vec::new() };
            Stmt::If { dst: Vec::new(), cond, then, other: Block::default() }
        });
        match inner.order {
            Order::Down => {
                stmts.push(rest.into());
                stmts.extend(alone);
            }
            _ => {
                stmts.extend(alone);
                stmts.push(rest.into());
            }
        }
        let cond = values.prim("runs", Kind::BOOL, prim::ILT, &[outer.low, outer.high], out);
        let then = Block { stmts, results: Vec::new() };
        out.push(Stmt::If { dst: Vec::new(), cond, then, other: Block::default() });
    }

    /// What the new outer loop does for an index.
    fn iteration(&self, index: Atom, values: &mut Values) -> Vec<Stmt> {
        let Nest { outer, inner, .. } = self;
        let mut copier = Copier::with([(inner.index, index)]);
        let mut stmts: Vec<Stmt> =
            self.before.iter().map(|stmt| copier.stmt(stmt, values)).collect();
        let index = copier.fresh(outer.index, values);
        let (mut dst, mut carry, mut after) = (Vec::new(), Vec::new(), Vec::new());
        for sum in &self.sums {
            let [Stmt::Load { dst: loaded, buffer, index }, Stmt::Store { value, .. }] = *sum
            else {
                continue;
            };
            let [first, last] = [*loaded; 2].map(|v| values.like(v));
            let cell = |a: Atom| copier.atom(a);
            let (Atom::Value(buffer), index) = (cell((*buffer).into()), cell(*index)) else {
                continue;
            };
            stmts.push(Stmt::Load { dst: first, buffer, index });
            after.push((Stmt::Store { buffer, index, value: last.into() }, *value));
            dst.push(last);
            carry.push((copier.fresh(*loaded, values), first.into()));
        }
        let body = self.within.iter().map(|stmt| copier.stmt(stmt, values)).collect();
        let results = after.iter().map(|(_, value)| copier.atom(*value)).collect();
        let body = Block { stmts: body, results };
        stmts.push(For { dst, carry, index, body, ..(*outer).clone() }.into());
        stmts.extend(after.into_iter().map(|(store, _)| store));
        stmts
    }
}

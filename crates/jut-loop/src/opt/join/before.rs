//! A loop before another one that may become one with it.
//!
//! The first loop moves behind everything between the two, but for operations that need its sums, which move behind both. Then iteration i of the
//! first runs just before iteration i of the second, and before all later ones of the first: so what the two do with one cell, if one of them stores it,
//! they do in the same iteration, at its index.
//!
//! *Requires*: a list of statements, and a loop that stands behind them. *Cost*: for each loop, the statements near it.

use super::reads;
use crate::analysis::Roots;
use crate::analysis::effects::{Access, accesses};
use crate::form::{Atom, Block, For, Kind, Lanes, Order, Stmt, Value, ValueData};
use cranelift_entity::PrimaryMap;
use jut_ir::prim::Lowering;

/// Statements among which a loop is looked for.
const NEAR: usize = 48;

/// A loop behind which another one may stand.
pub(in crate::opt) struct Behind<'b> {
    pub range: (Atom, Atom),
    pub index: Value,
    pub body: &'b Block,
    /// With what it begins.
    pub initial: Vec<Atom>,
}

/// A loop among statements, and the operations behind it that need its sums, by their places.
pub(in crate::opt) struct Beside {
    pub sums: usize,
    pub needing: Vec<usize>,
}

/// Where two loops stand that may become one.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Where {
    /// In no other loop: the first is one of sums.
    Outside,
    /// In a loop whose iterations wait for each other.
    InSteps,
}

/// What the first loop may be.
struct Rules {
    /// One of stores alone, too; and each of the two may store to cells that the other one stores or loads in the same iteration.
    stores: bool,
    /// One that calls functions.
    calls: bool,
}

/// A loop of sums among statements that can stand behind all others, with what needs its sums, and become one with a loop over the
/// same range that stores to these buffers. What its iterations store is for the same iterations of that loop.
pub(in crate::opt) fn sums_before(
    out: &[Stmt],
    behind: &Behind<'_>,
    stored: &[Value],
    known: (&Roots, &PrimaryMap<Value, ValueData>),
) -> Option<Beside> {
    before(out, behind, stored, &Rules { stores: false, calls: false }, known)
}

/// A loop among statements that can stand behind all others, with what needs its sums, and become one with a loop over the same range, whose
/// iterations may be taken in any order but for its sums.
pub(super) fn loop_before(
    out: &[Stmt],
    behind: &Behind<'_>,
    place: Where,
    known: (&Roots, &PrimaryMap<Value, ValueData>),
) -> Option<Beside> {
    let in_steps = place == Where::InSteps;
    // Loops that call functions for many numbers have buffers of their own, and are better off alone.
    let rules = Rules { stores: in_steps, calls: !in_steps };
    let calls = |stmt: &Stmt| matches!(stmt, Stmt::Prim { prim, .. } if !matches!(prim.row().lowering, Lowering::Opcode(_)));
    if in_steps && behind.body.stmts.iter().any(calls) {
        return None;
    }
    before(out, behind, &[], &rules, known)
}

fn before(
    out: &[Stmt],
    behind: &Behind<'_>,
    stored: &[Value],
    rules: &Rules,
    (roots, values): (&Roots, &PrimaryMap<Value, ValueData>),
) -> Option<Beside> {
    let is_buffer = |v: Value| matches!(values[v].kind, Kind::Buffer(_));
    let overlap = |all: &[Value], b: Value| all.iter().any(|a| roots.may_overlap(*a, b));
    let (mut read, mut written, mut called) = (Vec::new(), stored.to_vec(), false);
    for (at, stmt) in out.iter().enumerate().rev().take(NEAR) {
        if let Some(first) = First::of(stmt, rules)
            && first.range == behind.range
            && let Some(cells) = first.cells(rules, roots)
        {
            let stored = &cells.stored;
            // Who has a pointer to an array that is to be written may read it, also where it is not given to him: through another one.
            let handed_on = called || out[at + 1..].iter().any(|stmt| reads(stmt, stored));
            let stays = stored.iter().any(|b| overlap(&read, *b) || overlap(&written, *b))
                || cells.loaded.iter().any(|(b, _)| overlap(&written, *b))
                || !stored.is_empty() && handed_on;
            if !stays
                && behind
                    .body
                    .stmts
                    .iter()
                    .all(|stmt| cells.allow(stmt, behind.index, rules, roots))
                && let Some(needing) = needing(&out[at..], first.sums, behind, (roots, &is_buffer))
            {
                let needing = needing.into_iter().map(|k| at + k).collect();
                return Some(Beside { sums: at, needing });
            }
        }
        // Behind it, what has been stored would be gone.
        if stmt.any(&mut |stmt| matches!(stmt, Stmt::Release { .. })) {
            return None;
        }
        stmt.any(&mut |stmt| {
            called |= matches!(stmt, Stmt::Call { .. });
            accesses(stmt, is_buffer, &mut |buffer, access| match access {
                Access::Read => read.push(buffer),
                Access::Write => written.push(buffer),
            });
            false
        });
    }
    None
}

/// The operations and stores behind a loop of sums, the first of these statements, that need its sums, if nothing else does: nobody else comes to
/// the cells that they store to.
fn needing(
    stmts: &[Stmt],
    sums: &[Value],
    behind: &Behind<'_>,
    (roots, is_buffer): (&Roots, &dyn Fn(Value) -> bool),
) -> Option<Vec<usize>> {
    let mut needed = sums.to_vec();
    let (mut needing, mut stored) = (Vec::new(), Vec::new());
    let touches = |stmt: &Stmt, stored: &[Value]| {
        let mut touches = false;
        stmt.any(&mut |stmt| {
            accesses(stmt, is_buffer, &mut |buffer, _| {
                touches |= stored.iter().any(|other| roots.may_overlap(*other, buffer));
            });
            touches |= !stored.is_empty() && matches!(stmt, Stmt::Call { .. });
            false
        });
        touches
    };
    for (at, stmt) in stmts.iter().enumerate().skip(1) {
        if touches(stmt, &stored) {
            return None;
        }
        if reads(stmt, &needed) {
            match stmt {
                Stmt::Prim { dst, .. } | Stmt::Copy { dst, .. } => needed.push(*dst),
                Stmt::Store { buffer, .. } => stored.push(*buffer),
                _ => return None,
            }
            needing.push(at);
        }
    }
    let itself =
        behind.body.stmts.iter().any(|stmt| reads(stmt, &needed) || touches(stmt, &stored))
            || behind.initial.iter().any(|a| matches!(a, Atom::Value(v) if needed.contains(v)));
    (!itself).then_some(needing)
}

/// The first of two loops.
struct First<'s> {
    range: (Atom, Atom),
    index: Value,
    body: &'s Block,
    sums: &'s [Value],
}

impl First<'_> {
    fn of<'s>(stmt: &'s Stmt, rules: &Rules) -> Option<First<'s>> {
        match stmt {
            Stmt::Lanes(l) => {
                let Lanes { dst: sums, index, low, high, body, .. } = &**l;
                Some(First { range: (*low, *high), index: *index, body, sums })
            }
            Stmt::For(f) if rules.stores && f.order == Order::Par && f.carry.is_empty() => {
                let For { index, low, high, body, .. } = &**f;
                Some(First { range: (*low, *high), index: *index, body, sums: &[] })
            }
            _ => None,
        }
    }

    /// The cells that it loads and stores, if it does nothing else, and cannot fail.
    fn cells(&self, rules: &Rules, roots: &Roots) -> Option<Cells> {
        let mut cells = Cells { loaded: Vec::new(), stored: Vec::new() };
        for stmt in &self.body.stmts {
            match stmt {
                Stmt::Prim { prim, args, .. }
                    if (rules.calls || matches!(prim.row().lowering, Lowering::Opcode(_)))
                        && !prim.can_fail_by(args.last().and_then(|a| a.integer())) => {}
                Stmt::Copy { .. } => {}
                Stmt::Load { buffer, index, .. } => {
                    cells.loaded.push((*buffer, *index == self.index.into()));
                }
                Stmt::Store { buffer, index, .. } if *index == self.index.into() => {
                    cells.stored.push(*buffer);
                }
                _ => return None,
            }
        }
        let Cells { loaded, stored } = &cells;
        let alone = |(k, array): (usize, &Value)| {
            let same = |(other, own): &(Value, bool)| rules.stores && *own && other == array;
            let apart = |other: Value| !roots.may_overlap(other, *array);
            loaded.iter().all(|load| apart(load.0) || same(load))
                && stored[..k].iter().all(|other| apart(*other))
        };
        stored.iter().enumerate().all(alone).then_some(cells)
    }
}

/// The buffers that a loop loads from, whether at its own index, and those to whose cells at its index it stores.
struct Cells {
    loaded: Vec<(Value, bool)>,
    stored: Vec<Value>,
}

impl Cells {
    /// Whether a statement of the second loop finds in its iteration what it would find behind the first loop, and leaves what that needs.
    fn allow(&self, stmt: &Stmt, own: Value, rules: &Rules, roots: &Roots) -> bool {
        match stmt {
            Stmt::Load { buffer, index, .. } => self.stored.iter().all(|stored| {
                !roots.may_overlap(*stored, *buffer) || stored == buffer && *index == own.into()
            }),
            Stmt::Store { buffer, index, .. } => {
                let same = rules.stores && *index == own.into();
                let stored = self.stored.iter().map(|stored| (*stored, true));
                self.loaded.iter().copied().chain(stored).all(|(other, at_own)| {
                    !roots.may_overlap(other, *buffer) || same && at_own && other == *buffer
                })
            }
            _ => true,
        }
    }
}

//! A loop of sums that also adds to cells, as two loops: one for the sums, one for the cells.
//!
//! The gradient of a stencil with respect to its coefficients as well as its state adds to neighbours and to sums:
//!
//! ```text
//! (s) = lanes (i in 0 .. n) carry (s_1) {      (s) = lanes (i in 0 .. n) carry (s_1) {
//!   (s_2) = if i == 0 {                          (s_2) = if i == 0 { (s_1) } else { (s_1 + t) }
//!     .. adds to g[i]                            (s_2)
//!     (s_1)                                    }
//!   } else {                                   for up (i in 0 .. n) {
//!     .. adds to g[i - 1] and g[i]               if i == 0 { .. adds to g[i] }
//!     (s_1 + t)                                  else { .. adds to g[i - 1] and g[i] }
//!   }                                          }
//!   (s_2)
//! }
//! ```
//!
//! Sums by lanes begin with the first iteration, so nothing can be taken out of their loop. Of the other one the ends are taken out
//! ([`super::peel`]), and what is left gathers ([`super::gather`]). What both need is computed twice: [`super::peel`] asks for it only
//! where there are ends.
//!
//! *Requires*: a body of operations, accesses, checks and branches. Terms do not depend on what the loop writes, nor what it writes on
//! sums, and it stores to some array more than once. *Ensures*: each sum and each cell gets the same in the same order. Checks stand in both loops; in the second
//! they hold, so the first that fails is the same. *Cost*: linear.

use super::gather::in_order;
use crate::analysis::Roots;
use crate::copy::Copier;
use crate::form::{Atom, Block, For, Lanes, Order, Stmt, Value};
use crate::values::Values;
use jut_ir::hash::HashSet;

/// Whether a statement is a loop that sums and stores in a branch, or to a cell that it chooses.
pub(super) fn may_have_two(stmt: &Stmt) -> bool {
    matches!(stmt, Stmt::Lanes(l) if has_ends(&l.body))
}

fn has_ends(body: &Block) -> bool {
    stores_in_a_branch(body) || stores_where_it_chooses(body)
}

/// Whether the cell that something is stored to is one of two, or what a division leaves.
fn stores_where_it_chooses(body: &Block) -> bool {
    let mut chosen = HashSet::default();
    body.stmts.iter().any(|stmt| {
        chosen.extend(stmt.may_choose().map(Atom::Value));
        matches!(stmt, Stmt::Store { index, .. } if chosen.contains(index))
    })
}

pub(super) fn stores_in_a_branch(body: &Block) -> bool {
    let mut stores = |stmt: &Stmt| matches!(stmt, Stmt::Store { .. });
    let mut branches = body.stmts.iter().filter(|stmt| matches!(stmt, Stmt::If { .. }));
    branches.any(|branch| branch.any(&mut stores))
}

/// The loop of the sums and that of the cells, if there can be two.
pub(super) fn parts(source: &Lanes, roots: &Roots, values: &mut Values) -> Option<(Lanes, For)> {
    if !has_ends(&source.body) {
        return None;
    }
    let mut stored = Vec::new();
    source.body.for_each(&mut |stmt| {
        if let Stmt::Store { buffer, .. } = stmt {
            stored.push(*buffer);
        }
    });
    let twice = (1..stored.len()).any(|k| stored[..k].contains(&stored[k]));
    if source.carry.is_empty() || !twice {
        return None;
    }
    let all = |wanted: bool| vec![wanted; source.body.results.len()];
    let sums = part(&source.body, &mut HashSet::default(), &all(true), false);
    let mut touches = |stmt: &Stmt| matches!(stmt, Stmt::Load { buffer, .. } if stored.iter().any(|w| roots.may_overlap(*w, *buffer)));
    if sums.any(&mut touches) {
        return None;
    }
    let mut live = HashSet::default();
    let cells = part(&source.body, &mut live, &all(false), true);
    if source.carry.iter().any(|sum| live.contains(sum)) {
        return None;
    }
    let mut copier = Copier::default();
    let index = copier.fresh(source.index, values);
    let carry = source.carry.iter().map(|sum| copier.fresh(*sum, values)).collect();
    let body = copier.block(&sums, values);
    let sums = Lanes { index, carry, body, ..source.clone() };
    let cells = For {
        dst: Vec::new(),
        order: Order::Up,
        carry: Vec::new(),
        body: cells,
        ..in_order(source.clone())
    };
    Some((sums, cells))
}

/// What of a block those of its results need that are wanted, and its stores if they are; whatever is needed becomes live.
fn part(block: &Block, live: &mut HashSet<Value>, results: &[bool], stores: bool) -> Block {
    let kept = block.results.iter().zip(results).filter(|(_, w)| **w).map(|(a, _)| *a);
    let mut kept = Block { stmts: Vec::new(), results: kept.collect() };
    let name = |live: &mut HashSet<Value>, a| {
        if let Atom::Value(v) = a {
            live.insert(v);
        }
    };
    kept.results.iter().for_each(|a| name(live, *a));
    for stmt in block.stmts.iter().rev() {
        let stmt = match stmt {
            Stmt::If { dst, cond, then, other } => {
                let results: Vec<bool> = dst.iter().map(|v| live.contains(v)).collect();
                let then = part(then, live, &results, stores);
                let other = part(other, live, &results, stores);
                let dst: Vec<Value> =
                    dst.iter().zip(&results).filter(|(_, w)| **w).map(|(v, _)| *v).collect();
                if dst.is_empty() && then.stmts.is_empty() && other.stmts.is_empty() {
                    continue;
                }
                name(live, *cond);
                Stmt::If { dst, cond: *cond, then, other }
            }
            Stmt::Store { .. } if !stores => continue,
            stmt => {
                let pure = matches!(
                    stmt,
                    Stmt::Prim { .. } | Stmt::Copy { .. } | Stmt::Load { .. } | Stmt::Offset { .. }
                );
                if pure && !stmt.bound().iter().any(|v| live.contains(v)) {
                    continue;
                }
                stmt.operands(&mut |a| name(live, a));
                stmt.clone()
            }
        };
        kept.stmts.push(stmt);
    }
    kept.stmts.reverse();
    kept
}

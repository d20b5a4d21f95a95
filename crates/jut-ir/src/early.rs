//! Cells of an array are read before a branch hands the array on, and before an update makes another one of it.
//!
//! ```text
//! (t, w) = scan up (i < n) carry (s = 0.0, v = x) { u = case c { .. v .. }; a = v[i]; b = s + a; (b, u) }
//!
//! (t, w) = scan up (i < n) carry (s = 0.0, v = x) { a = v[i]; u = case c { .. v .. }; b = s + a; (b, u) }
//!
//! (t, w) = scan up (i < n) carry (s = 0.0, v = x) { u = v with [i] = s; a = v[i]; b = s + a; (b, u) }
//!
//! (t, w) = scan up (i < n) carry (s = 0.0, v = x) { a = v[i]; u = v with [i] = s; b = s + a; (b, u) }
//! ```
//!
//! Behind the branch v is u in one arm, and still needed as v. So J would have to copy its tangent, in each
//! iteration; before the branch, it reads a cell, and the tangent moves into the branch. Before the update v need
//! not be copied, nor its tangent. What moves up is what
//! the reads need: accesses that give a number, arithmetic, and checks, if nothing that they pass can fail. A
//! check that stands before an access moves with it.
//!
//! *Ensures*: the same values, and the same error where there is one. *Cost*: linear in the text of blocks
//! that have such a branch, times the number of arrays that it hands on.

use crate::entity::NVar;
use crate::hash::{HashMap, HashSet};
use crate::ir::*;
use crate::types::Type;
use crate::visit::Use;

/// Moves reads before the branches that hand arrays on, and before updates.
pub fn read_early(func: &mut Function) {
    let mut body = std::mem::take(&mut func.body);
    block(func, &mut body);
    func.body = body;
}

fn block(func: &Function, block: &mut Block) {
    let mut at = 0;
    while at < block.stmts.len() {
        for nested in block.stmts[at].rhs.blocks_mut() {
            self::block(func, nested);
        }
        let mut handed = Vec::new();
        match &block.stmts[at].rhs {
            Rhs::Case(case) => handed_on(func, case, &mut handed),
            Rhs::Update { array, .. } => handed.push(*array),
            _ => {}
        }
        for v in handed {
            if let Some(moving) = reads_behind(func, block, at, v) {
                at += moving.len();
                move_up(block, at - moving.len(), &moving);
            }
        }
        at += 1;
    }
}

/// The arrays that some arm returns as they are.
fn handed_on(func: &Function, case: &Case, out: &mut Vec<NVar>) {
    for arm in &case.arms {
        for stmt in &arm.body.stmts {
            if let Rhs::Case(inner) = &stmt.rhs {
                handed_on(func, inner, out);
            }
        }
        for v in arm.body.nl.iter().filter_map(|a| a.var()) {
            if matches!(func.nvars[v].ty, Type::Array(..)) && !out.contains(&v) {
                out.push(v);
            }
        }
    }
}

/// The statements behind number `at` that have to move before it so that nobody needs v any more; `None` if
/// there are none, or if they cannot.
fn reads_behind(func: &Function, block: &Block, at: usize, v: NVar) -> Option<Vec<usize>> {
    if block.nl.contains(&Atom::Var(v)) {
        return None;
    }
    let behind = at + 1..block.stmts.len();
    let mut bound: HashMap<NVar, usize> = HashMap::default();
    for k in at..block.stmts.len() {
        bound.extend(block.stmts[k].nl.iter().map(|v| (*v, k)));
    }
    let reads = |k: usize| {
        let mut found = false;
        block.stmts[k].for_each_use(func, &mut |name| found |= name == Use::N(v));
        found
    };
    let mut moving: HashSet<usize> = behind.clone().filter(|k| reads(*k)).collect();
    let last = moving.iter().copied().max()?;
    // What guards an access stands somewhere before it.
    moving.extend((at + 1..last).filter(|k| matches!(block.stmts[*k].rhs, Rhs::Check(_))));
    let mut work: Vec<usize> = moving.iter().copied().collect();
    while let Some(k) = work.pop() {
        let stmt = &block.stmts[k];
        if k == at || !may_move(func, stmt) {
            return None;
        }
        stmt.for_each_use(func, &mut |name| {
            if let Use::N(u) = name
                && let Some(k) = bound.get(&u)
                && moving.insert(*k)
            {
                work.push(*k);
            }
        });
    }
    let fails = |k: &usize| can_fail(&block.stmts[*k]);
    let passed = (at..last).filter(|k| !moving.contains(k)).any(|k| fails(&k));
    if passed && moving.iter().any(fails) {
        return None;
    }
    let mut moving: Vec<usize> = moving.into_iter().collect();
    moving.sort_unstable();
    Some(moving)
}

fn may_move(func: &Function, stmt: &Stmt) -> bool {
    let numbers = stmt.nl.iter().all(|v| func.nvars[*v].ty.is_scalar());
    let kind = matches!(
        stmt.rhs,
        Rhs::Atom(_)
            | Rhs::Prim(..)
            | Rhs::Proj(..)
            | Rhs::Size(..)
            | Rhs::Index(..)
            | Rhs::Check(_)
    );
    numbers && kind && stmt.lin.is_empty()
}

fn can_fail(stmt: &Stmt) -> bool {
    let inside = stmt.rhs.blocks();
    stmt.rhs.can_fail(&|_| true) || inside.into_iter().any(|block| block.stmts.iter().any(can_fail))
}

/// Moves statements, given in order, before number `to`.
fn move_up(block: &mut Block, to: usize, moving: &[usize]) {
    let Some(last) = moving.last() else { return };
    let passed: Vec<Stmt> = block.stmts.drain(to..=*last).collect();
    let (mut early, mut late) = (Vec::new(), Vec::new());
    for (k, stmt) in passed.into_iter().enumerate() {
        let list = if moving.binary_search(&(to + k)).is_ok() { &mut early } else { &mut late };
        list.push(stmt);
    }
    block.stmts.splice(to..to, early.into_iter().chain(late));
}

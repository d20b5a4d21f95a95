//! Removing what nobody reads: pure operations and loads without a use, and arrays that are only stored to.
//!
//! One walk to find such arrays, and one backwards. Results of loops and branches stay as they are; checks, calls and all other stores
//! always do.

use cranelift_entity::SecondaryMap;

use crate::form::{Atom, Block, LoopFunction, Stmt, Value};

/// Removes dead statements.
pub(super) fn run(func: &mut LoopFunction) {
    let mut live = SecondaryMap::with_capacity(func.values.len());
    let unread = unread(func);
    block(&mut func.body, &unread, &mut live);
}

/// The arrays of the function itself that are filled and stored to, and nothing else.
fn unread(func: &LoopFunction) -> SecondaryMap<Value, bool> {
    let mut unread = SecondaryMap::new();
    let mut allocated = false;
    func.body.for_each(&mut |stmt| {
        if let Stmt::Alloc { dst, .. } = stmt {
            unread[*dst] = true;
            allocated = true;
        }
    });
    if !allocated {
        return unread;
    }
    let read = |a: Atom, unread: &mut SecondaryMap<Value, bool>| {
        if let Atom::Value(v) = a {
            unread[v] = false;
        }
    };
    func.body.for_each(&mut |stmt| match stmt {
        Stmt::Store { index, value, .. } => {
            [*index, *value].into_iter().for_each(|a| read(a, &mut unread))
        }
        Stmt::Fill { len, value, .. } => {
            [*len, *value].into_iter().for_each(|a| read(a, &mut unread))
        }
        stmt => {
            stmt.operands(&mut |a| read(a, &mut unread));
            let blocks = stmt.blocks().into_iter();
            blocks.flat_map(|inner| &inner.results).for_each(|a| read(*a, &mut unread));
        }
    });
    func.body.results.iter().for_each(|a| read(*a, &mut unread));
    unread
}

fn use_atom(a: Atom, live: &mut SecondaryMap<Value, bool>) {
    if let Atom::Value(v) = a {
        live[v] = true;
    }
}

fn block(b: &mut Block, unread: &SecondaryMap<Value, bool>, live: &mut SecondaryMap<Value, bool>) {
    b.results.iter().for_each(|a| use_atom(*a, live));
    // From the last statement to the first.
    let mut kept = vec![false; b.stmts.len()];
    for (stmt, keep) in b.stmts.iter_mut().zip(&mut kept).rev() {
        let needed = match &*stmt {
            Stmt::Prim { dst, .. }
            | Stmt::Copy { dst, .. }
            | Stmt::Previous { dst, .. }
            | Stmt::Load { dst, .. }
            | Stmt::Offset { dst, .. } => live[*dst],
            Stmt::Alloc { dst: buffer, .. }
            | Stmt::Store { buffer, .. }
            | Stmt::Fill { buffer, .. } => !unread[*buffer],
            _ => true,
        };
        if !needed {
            continue;
        }
        for inner in stmt.blocks_mut() {
            block(inner, unread, live);
        }
        let empty = match &*stmt {
            Stmt::If { dst, then, other, .. } => {
                dst.is_empty() && then.stmts.is_empty() && other.stmts.is_empty()
            }
            stmt => {
                stmt.counted().is_some_and(|l| stmt.bound().is_empty() && l.body.stmts.is_empty())
            }
        };
        if empty {
            continue;
        }
        stmt.operands(&mut |a| use_atom(a, live));
        *keep = true;
    }
    let mut kept = kept.into_iter();
    b.stmts.retain(|_| kept.next().unwrap_or(true));
}

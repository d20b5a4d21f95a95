//! Removing what nobody reads: pure operations, loads and allocations without a use.
//!
//! One walk backwards. Results of loops and branches stay as they are; checks, stores and calls
//! always do.

use cranelift_entity::SecondaryMap;

use crate::form::{Atom, Block, LoopFunction, Stmt, Value};

/// Removes dead statements.
pub(super) fn run(func: &mut LoopFunction) {
    let mut live = SecondaryMap::with_capacity(func.values.len());
    block(&mut func.body, &mut live);
}

fn use_atom(a: Atom, live: &mut SecondaryMap<Value, bool>) {
    if let Atom::Value(v) = a {
        live[v] = true;
    }
}

fn block(b: &mut Block, live: &mut SecondaryMap<Value, bool>) {
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
            _ => true,
        };
        if !needed {
            continue;
        }
        for inner in stmt.blocks_mut() {
            block(inner, live);
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

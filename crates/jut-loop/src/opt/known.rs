//! Branches on what a branch around them has asked already.
//!
//! A loop whose ends are taken out, or that gathers, stands as it was beside what is made of it, for the case that its condition does not hold.
//! A walk that comes once more finds it there, and makes the same of it under the same condition, which is false there:
//!
//! ```text
//! if peels {                         if peels {
//!   ..                                 ..
//! } else {                           } else {
//!   if peels { .. } else { loop }      loop
//! }                                  }
//! ```
//!
//! *Requires*: a well-formed function in which equal expressions have one name ([`super::motion`]). *Ensures*: the same statements
//! run. *Cost*: linear.

use jut_ir::Literal;
use jut_ir::hash::HashMap;

use crate::form::{Atom, Block, LoopFunction, Stmt, Value};

/// Runs the walk.
pub(super) fn run(func: &mut LoopFunction) {
    walk(&mut func.body, &mut HashMap::default());
}

fn walk(block: &mut Block, known: &mut HashMap<Value, bool>) {
    let stmts = std::mem::take(&mut block.stmts);
    block.stmts.reserve(stmts.len());
    for mut stmt in stmts {
        let Stmt::If { dst, cond, then, other } = &mut stmt else {
            stmt.blocks_mut().into_iter().for_each(|inner| walk(inner, known));
            block.stmts.push(stmt);
            continue;
        };
        let truth = match *cond {
            Atom::Value(v) => known.get(&v).copied(),
            Atom::Lit(Literal::Bool(truth)) => Some(truth),
            Atom::Lit(_) => None,
        };
        if let Some(truth) = truth {
            let mut taken = std::mem::take(if truth { then } else { other });
            walk(&mut taken, known);
            block.stmts.append(&mut taken.stmts);
            let results = dst.iter().zip(taken.results);
            block.stmts.extend(results.map(|(dst, src)| Stmt::Copy { dst: *dst, src }));
            continue;
        }
        for (arm, truth) in [(then, true), (other, false)] {
            if let Atom::Value(v) = *cond {
                known.insert(v, truth);
            }
            walk(arm, known);
        }
        if let Atom::Value(v) = *cond {
            known.remove(&v);
        }
        block.stmts.push(stmt);
    }
}

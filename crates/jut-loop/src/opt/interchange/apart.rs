//! What an outer loop carries, apart from the inner loop in it.
//!
//! ```text
//! (s) = lanes (j in 0 .. m) carry (s_1) {      (s) = lanes (j in 0 .. m) carry (s_1) {
//!   t = p(j)                                     t = p(j)
//!   s_2 = s_1 + t                                s_2 = s_1 + t
//!   for up (i in 0 .. n) { .. t .. }             (s_2)
//!   (s_2)                                      }
//! }                                            for up (j in 0 .. m) {
//!                                                t = p(j)
//!                                                for up (i in 0 .. n) { .. t .. }
//!                                              }
//! ```
//!
//! Requires: an inner loop that carries nothing, stands last, and needs nothing of what is carried; before it nothing is stored, so
//! that what is computed twice is the same twice, if the inner loop does not write what is read before it, which whoever asks looks at.

use jut_ir::hash::HashSet;

use crate::copy::Copier;
use crate::form::{Atom, Block, For, Order, Stmt, Value};
use crate::values::Values;

/// The parts of a loop that carries something: what it is, and its body.
fn parts(stmt: &Stmt) -> Option<(Order, Vec<Value>, &Block)> {
    match stmt {
        Stmt::For(f) if !f.carry.is_empty() && !f.may_end_early() => {
            Some((f.order, f.carry.iter().map(|(carried, _)| *carried).collect(), &f.body))
        }
        Stmt::Lanes(l) => Some((Order::Up, l.carry.clone(), &l.body)),
        _ => None,
    }
}

/// The loop without what it carries, if that is apart from the inner loop in it. Names are those of the loop.
pub(super) fn rest(stmt: &Stmt) -> Option<For> {
    let (order, carry, body) = parts(stmt)?;
    let (Stmt::For(inner), before) = body.stmts.split_last()? else { return None };
    if !inner.dst.is_empty() {
        return None;
    }
    let mut carried: HashSet<Value> = carry.into_iter().collect();
    let mut stmts = Vec::with_capacity(body.stmts.len());
    for stmt in before {
        if !matches!(
            stmt,
            Stmt::Prim { .. } | Stmt::Copy { .. } | Stmt::Load { .. } | Stmt::Offset { .. }
        ) {
            return None;
        }
        if reads(stmt, &carried) {
            carried.extend(stmt.bound().iter().copied());
        } else {
            stmts.push(stmt.clone());
        }
    }
    let last = Stmt::For(inner.clone());
    if last.any(&mut |stmt| reads(stmt, &carried)) {
        return None;
    }
    stmts.push(last);
    let (index, low, high) = match stmt {
        Stmt::For(f) => (f.index, f.low, f.high),
        Stmt::Lanes(l) => (l.index, l.low, l.high),
        _ => return None,
    };
    let body = Block { stmts, results: Vec::new() };
    Some(For { dst: Vec::new(), order, vector: None, index, low, high, carry: Vec::new(), body })
}

fn reads(stmt: &Stmt, values: &HashSet<Value>) -> bool {
    let mut any = false;
    stmt.operands(&mut |a| any |= matches!(a, Atom::Value(v) if values.contains(&v)));
    any
}

/// The loop without the inner one, which [`rest`] has, under new names but for what it gives.
pub(super) fn carried(stmt: &Stmt, values: &mut Values) -> Stmt {
    let mut alone = stmt.clone();
    for body in alone.blocks_mut() {
        body.stmts.pop();
    }
    let mut copied = Copier::default().stmt(&alone, values);
    let (mut entered, mut given) = (stmt.entered().len(), stmt.bound().iter());
    copied.binders_mut(&mut |v| {
        if entered > 0 {
            entered -= 1;
        } else if let Some(old) = given.next() {
            *v = *old;
        }
    });
    copied
}

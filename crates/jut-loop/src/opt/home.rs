//! Memory of an iteration that every iteration can have: an allocation whose length is known before a loop leaves it.
//!
//! What an iteration allocates is given back at its end, and the next one asks for it again. If the length is the same in
//! all of them, or is the index, so that the last one needs the most, it is asked for once, and given back behind the
//! loop:
//!
//! ```text
//! for up (i in 0 .. n) {               top = mark
//!   top = mark                         runs = 0 < n
//!   t = alloc f64[m]                   len = select(runs, m, 0)
//!   ..                                 t = alloc f64[len]
//!   release top                        for up (i in 0 .. n) { .. }
//! }                                    release top
//! ```
//!
//! A loop that does not run asks for nothing. Nothing is asked for before what could have failed first: an allocation behind a
//! check or a call stays. So does one behind memory that is given back before the end of the iteration, which would not have been
//! there at the same time, and one in a `par` loop, whose iterations may want to have their own. Fresh memory has no
//! content that anybody could rely on, so that of the iteration before is as good.
//!
//! *Requires*: a well-formed function, on its way to a backend: whether memory is the iteration's own is a question that
//! earlier walks ask. *Ensures*: the same results, and no more memory at any time ([`crate::need`] counts what was there
//! before). *Cost*: linear.

use crate::analysis::effects::is_guard;
use crate::form::{Arena, Atom, Block, Kind, LoopFunction, Order, Stmt, Value};
use crate::values::Values;
use jut_ir::Literal;
use jut_ir::hash::HashSet;
use jut_ir::prim;

/// Runs the walk.
pub(super) fn run(func: &mut LoopFunction) {
    if !func.body.any(&mut |stmt| matches!(stmt, Stmt::Alloc { .. })) {
        return;
    }
    let mut values = Values::new(&mut func.values);
    func.body.rewrite(&mut |mut stmt, out| {
        let homes = match &mut stmt {
            Stmt::For(f) if matches!(f.order, Order::Up | Order::Down) => {
                let own = f.carry.iter().map(|(carried, _)| *carried).collect();
                homes(&mut values, own, f.index, [f.low, f.high], &mut f.body)
            }
            Stmt::Lanes(l) => {
                homes(&mut values, HashSet::default(), l.index, [l.low, l.high], &mut l.body)
            }
            _ => Vec::new(),
        };
        if homes.is_empty() {
            return out.push(stmt);
        }
        let mark = values.fresh("top", Kind::I64);
        out.push(Stmt::Mark { dst: mark, arena: Arena::Temp });
        out.extend(homes);
        out.push(stmt);
        out.push(Stmt::Release { mark, arena: Arena::Temp });
    });
}

/// Takes the allocations out of a body that can leave it; gives what stands before the loop for them. `own` are the values
/// that the loop carries.
fn homes(
    values: &mut Values,
    mut own: HashSet<Value>,
    index: Value,
    [low, high]: [Atom; 2],
    body: &mut Block,
) -> Vec<Stmt> {
    let Some(Stmt::Mark { dst: top, arena: Arena::Temp }) = body.stmts.first() else {
        return Vec::new();
    };
    let released = matches!(body.stmts.last(), Some(Stmt::Release { mark, .. }) if mark == top);
    if !released {
        return Vec::new();
    }
    body.stmts.iter().for_each(|stmt| own.extend(stmt.bound()));
    let is_outside = |len: Atom| matches!(len, Atom::Value(v) if v != index && !own.contains(&v));
    let (mut out, mut runs) = (Vec::new(), None);
    let touches =
        |stmt: &Stmt| matches!(stmt, Stmt::Alloc { .. } | Stmt::Mark { .. } | Stmt::Release { .. });
    let mut first = true;
    let mut stays = false;
    body.stmts.retain(|stmt| {
        if std::mem::take(&mut first) {
            return true;
        }
        let Stmt::Alloc { dst, cell, len, arena: Arena::Temp, site } = stmt else {
            stays |= is_guard(stmt) || stmt.any(&mut { touches });
            return true;
        };
        let last = *len == Atom::Value(index);
        if stays || !(last || is_outside(*len)) {
            return true;
        }
        let runs = *runs.get_or_insert_with(|| {
            values.prim("runs", Kind::BOOL, prim::ILT, &[low, high], &mut out)
        });
        let most = match last {
            true => values.prim("most", Kind::I64, prim::ISUB, &[high, int(1)], &mut out),
            false => *len,
        };
        let len = values.prim("len", Kind::I64, prim::ISELECT, &[runs, most, int(0)], &mut out);
        out.push(Stmt::Alloc { dst: *dst, cell: *cell, len, arena: Arena::Temp, site: *site });
        false
    });
    let allocates = |stmt: &Stmt| matches!(stmt, Stmt::Alloc { .. } | Stmt::Call { .. });
    if !body.stmts.iter().any(|stmt| stmt.any(&mut { allocates })) {
        // There is nothing left to give back.
        body.stmts.pop();
        body.stmts.remove(0);
    }
    out
}

fn int(k: i64) -> Atom {
    Atom::Lit(Literal::I64(k))
}

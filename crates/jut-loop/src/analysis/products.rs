//! Where it shows that a product of derivatives is no number.
//!
//! `times` is a product, but for one that is NaN and has a factor of zero. Backends compute several as
//! plain products, look afterwards whether one of them is NaN, and compute all of it once more if so. A NaN
//! stays one in sums, differences, products and quotients, so it is enough to look at what becomes of the products:
//!
//! ```text
//! p = times(a, b)
//! q = times(c, d)
//! r = e + p
//! s = r - q              if p or q is NaN, so is s
//! x[i] = s
//! ```
//!
//! What shows it may be NaN without any product being so, as a difference of infinities is: then it is computed
//! once more for nothing.
//!
//! *Requires*: statements in the order in which they run. *Cost*: linear.

use jut_ir::hash::HashSet;
use jut_ir::prim::{Lowering, Opcode};

use crate::form::{Atom, Stmt, Value};

/// Whether a statement is a product of derivatives.
pub fn is_product(stmt: &Stmt) -> bool {
    matches!(stmt, Stmt::Prim { prim, .. } if prim.row().lowering == Lowering::Opcode(Opcode::FTimes))
}

/// Whether the result of an operation is NaN if an operand is.
fn hands_on(op: Opcode) -> bool {
    use Opcode::{Copy, FAbs, FAdd, FDiv, FMul, FNeg, FSqrt, FSub, FTimes, FToS, SToF};
    matches!(op, FTimes | FMul | FAdd | FSub | FDiv | FNeg | FAbs | FSqrt | FToS | SToF | Copy)
}

/// Values of which one is NaN if one of the products of derivatives among these statements is, all of which compute one
/// value from others, products as plain ones. None is computed from another one in these ways.
pub fn shown_by<'s>(stmts: impl IntoIterator<Item = &'s Stmt>) -> Vec<Value> {
    // What is NaN if a product before it is, in order, and what of that is an operand of another one.
    let (mut all, mut known, mut used) = (Vec::new(), HashSet::default(), HashSet::default());
    for stmt in stmts {
        let (dst, op, args) = match stmt {
            Stmt::Prim { dst, prim, args } => match prim.row().lowering {
                Lowering::Opcode(op) => (*dst, op, args.as_slice()),
                Lowering::Runtime(_) => continue,
            },
            Stmt::Copy { dst, src } => (*dst, Opcode::Copy, std::slice::from_ref(src)),
            _ => continue,
        };
        if !hands_on(op) {
            continue;
        }
        let before = args.iter().filter_map(|atom| match atom {
            Atom::Value(v) if known.contains(v) => Some(*v),
            _ => None,
        });
        let before: Vec<Value> = before.collect();
        if op == Opcode::FTimes || !before.is_empty() {
            used.extend(before);
            known.insert(dst);
            all.push(dst);
        }
    }
    all.retain(|v| !used.contains(v));
    all
}

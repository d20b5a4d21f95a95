//! Loops for the largest or smallest element: usually nothing changes.
//!
//! A maximum carries its value and its index, and selects both in each iteration, with a condition
//! that thinks of NaN. In nearly all iterations the old ones stay, and one comparison tells:
//!
//! ```text
//! (m, k) = for up (i in 0 .. n)        (m, k) = for up (i in 0 .. n)
//!     carry (v = .., j = 0) {              carry (v = .., j = 0) {
//!   t = x[i]                             t = x[i]
//!   a = t > v                            calm = t <= v
//!   b = t != t                           (v_1, j_1) = if calm { (v, j) } else {
//!   c = v == v                             a = t > v
//!   d = b && c                             ..
//!   e = a || d                             (v_2, j_2)
//!   v_2 = select(e, t, v)                }
//!   j_2 = select(e, i, j)                (v_1, j_1)
//!   (v_2, j_2)                         }
//! }
//! ```
//!
//! If `t <= v`, neither is NaN and `t > v` is false, so the old ones stay: no bit changes.
//!
//! Requires and ensures: a well-formed function. Cost: linear.

use std::collections::HashMap;

use jut_ir::prim::{self, Lowering, Opcode, Prim};

use crate::form::{Atom, Block, For, Kind, LoopFunction, Stmt, Value};
use crate::values::Values;

/// Runs the walk.
pub(super) fn run(func: &mut LoopFunction) {
    let mut walk = Extremes { values: Values::new(&mut func.values) };
    func.body.for_each_mut(&mut |stmt| {
        if let Stmt::For(source) = stmt {
            walk.guard(source);
        }
    });
}

struct Extremes<'a> {
    values: Values<'a>,
}

impl Extremes<'_> {
    fn guard(&mut self, source: &mut For) {
        let Some(Extreme { calm, args, moved }) = extreme(source) else { return };
        let (mut kept, mut other) = (Vec::new(), Vec::new());
        for (k, stmt) in std::mem::take(&mut source.body.stmts).into_iter().enumerate() {
            if moved.contains(&k) { other.push(stmt) } else { kept.push(stmt) }
        }
        let cond = self.values.prim("calm", Kind::BOOL, calm, &args, &mut kept);
        let old = source.carry.iter().map(|(v, _)| (*v).into()).collect();
        let dst: Vec<Value> = source.carry.iter().map(|(v, _)| self.values.like(*v)).collect();
        let results = dst.iter().map(|v| (*v).into()).collect();
        let new = std::mem::replace(&mut source.body.results, results);
        kept.push(Stmt::If {
            dst,
            cond,
            then: Block { stmts: Vec::new(), results: old },
            other: Block { stmts: other, results: new },
        });
        source.body.stmts = kept;
    }
}

/// A loop that looks for an extreme.
struct Extreme {
    /// The comparison that says that nothing changes, and of what.
    calm: Prim,
    args: [Atom; 2],
    /// The statements that matter only otherwise, by position.
    moved: Vec<usize>,
}

fn extreme(source: &For) -> Option<Extreme> {
    let body = &source.body;
    if source.carry.is_empty() || body.results.len() != source.carry.len() {
        return None;
    }
    let mut defined: HashMap<Value, usize> = HashMap::new();
    for (k, stmt) in body.stmts.iter().enumerate() {
        for v in stmt.bound() {
            defined.insert(*v, k);
        }
    }
    let operation = |atom: Atom| -> Option<(usize, Prim, &[Atom])> {
        let Atom::Value(v) = atom else { return None };
        let k = *defined.get(&v)?;
        match &body.stmts[k] {
            Stmt::Prim { prim, args, .. } => Some((k, *prim, args)),
            _ => None,
        }
    };
    let mut moved = Vec::new();
    // All results are selections by one condition, which leaves the old values or takes new ones.
    let mut changes = None;
    for (result, (old, _)) in body.results.iter().zip(&source.carry) {
        let (k, prim, args) = operation(*result)?;
        match *args {
            [cond, _, other] if is_selection(prim) && other == Atom::Value(*old) => {
                if *changes.get_or_insert(cond) != cond {
                    return None;
                }
            }
            _ => return None,
        }
        moved.push(k);
    }
    let both = |atom: Atom, wanted: Prim| match operation(atom)? {
        (k, prim, [a, b]) if prim == wanted => Some((k, *a, *b)),
        _ => None,
    };
    let (k, beyond, nan) = both(changes?, prim::OR)?;
    moved.push(k);
    let (k, is_nan, was_none) = both(nan, prim::AND)?;
    moved.push(k);
    let (k, t, again) = both(is_nan, prim::NE)?;
    moved.push(k);
    let (k, v, same) = both(was_none, prim::EQ)?;
    moved.push(k);
    let (k, prim, operands) = operation(beyond)?;
    moved.push(k);
    let calm = if prim == prim::GT {
        prim::LE
    } else if prim == prim::LT {
        prim::GE
    } else {
        return None;
    };
    let fits = t == again && v == same && *operands == [t, v];
    if !fits || !source.carry.iter().any(|(old, _)| v == Atom::Value(*old)) {
        return None;
    }
    // Nothing else reads what is moved.
    moved.sort_unstable();
    moved.dedup();
    let is_moved =
        |atom| matches!(atom, Atom::Value(v) if defined.get(&v).is_some_and(|k| moved.contains(k)));
    let stays = body.stmts.iter().enumerate().filter(|(k, _)| !moved.contains(k));
    let mut read = false;
    stays.for_each(|(_, stmt)| stmt.atoms(&mut |atom| read |= is_moved(atom)));
    (!read).then_some(Extreme { calm, args: [t, v], moved })
}

fn is_selection(prim: Prim) -> bool {
    matches!(prim.row().lowering, Lowering::Opcode(Opcode::Select))
}

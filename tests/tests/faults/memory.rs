//! Faults of regions with a start, of loops that are run again in segments, and of numbers of 32 bits.

use super::edits::linear_stmt;
use jut_ir::prim;
use jut_ir::*;

/// `lend r = x'` and `wr r: t = x'` start from zero; x' is dropped.
pub fn lost_start(func: &mut Function, block: &mut Block, k: usize) -> bool {
    let Rhs::Region(region) = &mut block.stmts[k].rhs else { return false };
    let Some(Operand::L(start)) = &mut region.start else { return false };
    let data = LinVarData { name: "fault_z'".into(), ..func.lvars[*start].clone() };
    let ty = data.ty.clone();
    let zero = func.lvars.push(data);
    let lost = std::mem::replace(start, zero);
    let like = block.stmts[k].clone();
    block.stmts.insert(k, linear_stmt(&like, vec![zero], Rhs::LZero(ty)));
    block.stmts.insert(k, linear_stmt(&like, Vec::new(), Rhs::Drop(lost)));
    true
}

/// What `lend` gives back is zero; what was in the place is dropped.
pub fn nothing_given_back(func: &mut Function, block: &mut Block, k: usize) -> bool {
    let Rhs::Region(region) = &block.stmts[k].rhs else { return false };
    let (true, Some(back)) = (region.start.is_some() && region.end, block.stmts[k].lin.last())
    else {
        return false;
    };
    let (back, data) = (*back, func.lvars[*back].clone());
    let ty = data.ty.clone();
    let lost = func.lvars.push(LinVarData { name: "fault_x'".into(), ..data });
    if let Some(last) = block.stmts[k].lin.last_mut() {
        *last = lost;
    }
    let like = block.stmts[k].clone();
    block.stmts.insert(k + 1, linear_stmt(&like, vec![back], Rhs::LZero(ty)));
    block.stmts.insert(k + 2, linear_stmt(&like, Vec::new(), Rhs::Drop(lost)));
    true
}

/// The last segment is as long as the others: `min(k, n - lo)` becomes `max(k, n - lo)`.
pub fn longer_segment(_: &mut Function, block: &mut Block, k: usize) -> bool {
    match &mut block.stmts[k].rhs {
        // The number of segments has a minimum too, of what is left and 1.
        Rhs::Prim(p @ prim::IMIN, args) if args.iter().skip(1).all(|a| a.var().is_some()) => {
            *p = prim::IMAX;
            true
        }
        _ => false,
    }
}

/// Where a segment begins, or the index of an iteration in it, is zero: `lo = max(t, 0)` becomes `lo = max(0, 0)`.
pub fn from_zero(func: &mut Function, block: &mut Block, k: usize) -> bool {
    let stmt = &mut block.stmts[k];
    let is_place = |v: &NVar| matches!(func.nvars[*v].name.split('_').next(), Some("lo" | "i"));
    match (&mut stmt.rhs, stmt.nl.first()) {
        (Rhs::Prim(prim::IMAX, args), Some(v)) if is_place(v) && args[0].var().is_some() => {
            args[0] = Atom::Lit(Literal::I64(0));
            true
        }
        _ => false,
    }
}

/// What is collected is added at the first place.
pub fn first_place(_: &mut Function, block: &mut Block, k: usize) -> bool {
    let Rhs::Inc(place, Operand::L(_)) = &mut block.stmts[k].rhs else { return false };
    let Some(Step::Index { index: index @ Atom::Var(_), proved }) = place.path.first_mut() else {
        return false;
    };
    (*index, *proved) = (Atom::Lit(Literal::I64(0)), true);
    true
}

/// The operand of a sine is rounded to 32 bits before.
pub fn rounded(func: &mut Function, block: &mut Block, k: usize) -> bool {
    let stmt = &mut block.stmts[k];
    let Rhs::Prim(prim::SIN, args) = &mut stmt.rhs else { return false };
    let Some(Atom::Var(x)) = args.first().copied() else { return false };
    let mut fresh = |name: &str, ty: Type| {
        func.nvars.push(VarData { name: name.into(), ty, ..func.nvars[x].clone() })
    };
    let (short, long) = (fresh("fault_s", Type::Float(Width::Single)), fresh("fault_l", Type::F64));
    args[0] = Atom::Var(long);
    let like = stmt.clone();
    let made = |v: NVar, rhs: Rhs| Stmt { nl: vec![v], lin: Vec::new(), rhs, ..like.clone() };
    block.stmts.insert(k, made(long, Rhs::Prim(prim::DOUBLE, vec![Atom::Var(short)])));
    block.stmts.insert(k, made(short, Rhs::Prim(prim::SINGLE, vec![Atom::Var(x)])));
    true
}

/// A conversion of a tangent is zero.
pub fn lost_conversion(func: &mut Function, block: &mut Block, k: usize) -> bool {
    let Rhs::LApply { x, .. } = block.stmts[k].rhs else { return false };
    let Some(result) = block.stmts[k].lin.first() else { return false };
    block.stmts[k].rhs = Rhs::LZero(func.lvars[*result].ty.clone());
    let drop = linear_stmt(&block.stmts[k], Vec::new(), Rhs::Drop(x));
    block.stmts.insert(k, drop);
    true
}

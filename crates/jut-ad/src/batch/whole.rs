//! Statements that are done for a batch as a whole.
//!
//! ```text
//! s = dot(w, x)                                s* = matvec(x*, w)
//! c = matmul(x, w)     x: [i, l]               c* = matmul(x* as [b i, l], w) as [b, i, j]: views, nothing is copied
//! y = g(w, x)                                  y* = g{x}.vmap(b, w, x*)
//! ```
//!
//! A call is one of them if something in its function is, and a loop or branch if something in it is (`inside.rs`).
//!
//! *Requires*: a statement that cannot fail, and whose operands are made. *Ensures*: the bits of each element. *Cost*: linear.

use super::batch_of_called;
use super::block::{Batcher, Part};
use crate::Mask;
use jut_ir::build::FunctionBuilder;
use jut_ir::structured::{Batched, FLATTEN, FLATTEN3, FLATTEN4, UNFLATTEN, UNFLATTEN3, UNFLATTEN4};
use jut_ir::*;
use std::collections::HashSet;

impl Batcher<'_> {
    /// Does a statement for the whole batch; gives it back if it goes by element.
    pub(super) fn as_a_whole(&mut self, stmt: Stmt, p: usize, part: &mut Part) -> Option<Stmt> {
        let closes = self.needs_what_is_open(&stmt, part);
        let possible = self.apart
            && stmt.lin.is_empty()
            && !stmt.annotated
            && !self.known.fails(&stmt)
            && (!closes || self.can_close(p, part))
            && self.promises(&stmt, &mut HashSet::new());
        if !possible {
            return Some(stmt);
        }
        let to_close = closes.then_some(p);
        let Stmt { nl, rhs, loc, .. } = stmt;
        let given_back = match rhs {
            Rhs::Structured(op, args, sizes) => self
                .structured(op, &args, (&nl, loc), part, to_close)
                .is_none()
                .then_some(Rhs::Structured(op, args, sizes)),
            Rhs::Call(call) => {
                self.call(&call, (&nl, loc), part, to_close).is_none().then_some(Rhs::Call(call))
            }
            Rhs::Scan(scan) => {
                self.scan(*scan, loc, &nl, part, to_close);
                None
            }
            Rhs::Case(case) => {
                self.case(*case, loc, &nl, part, to_close);
                None
            }
            other => Some(other),
        };
        given_back.map(|rhs| Stmt { nl, lin: Vec::new(), rhs, annotated: false, loc })
    }

    /// Closes the open loop before a statement if it needs that, and gives batches of operands that are the same for all.
    pub(super) fn close_for(
        &mut self,
        part: &mut Part,
        to_close: Option<usize>,
        same: &[Atom],
    ) -> Vec<NVar> {
        if let Some(p) = to_close {
            return self.close(part, p, same);
        }
        let open = std::mem::take(&mut part.open);
        let made = self.close(part, 0, same);
        part.open = open;
        made
    }

    /// The batch of an operand, or the operand itself if it is the same for all.
    pub(super) fn operand(&self, atom: Atom) -> Atom {
        let whole = atom.var().and_then(|v| self.whole[v]);
        whole.map_or(atom, Atom::Var)
    }

    pub(super) fn differs(&self, atom: Atom) -> bool {
        atom.var().is_some_and(|v| self.varies[v])
    }

    pub(super) fn push(&mut self, part: &mut Part, nl: Vec<NVar>, rhs: Rhs, loc: Loc) {
        part.out.push(Stmt { nl, lin: Vec::new(), rhs, annotated: false, loc });
    }

    fn structured(
        &mut self,
        op: Structured,
        args: &[Atom],
        (nl, loc): (&[NVar], Loc),
        part: &mut Part,
        to_close: Option<usize>,
    ) -> Option<()> {
        let [v] = nl[..] else { return None };
        let mapped: Vec<bool> = args.iter().map(|a| self.differs(*a)).collect();
        let found = op.batched(&mapped)?;
        let ty = self.b.func.nvars[v].ty.clone();
        if found == Batched::Merged {
            let types = args.iter().map(|a| self.b.func.type_of(*a));
            let mut types: Vec<Type> =
                types.zip(&mapped).filter(|(_, mapped)| **mapped).map(|(ty, _)| ty).collect();
            types.push(ty.clone());
            if types.iter().any(|ty| self.merged(ty).is_none()) {
                return None;
            }
        }
        self.close_for(part, to_close, &[]);
        self.gains += 1;
        match found {
            Batched::Row(row, order) => {
                let args = order.iter().filter_map(|k| args.get(*k));
                let args = args.map(|a| self.operand(*a)).collect();
                let whole = self.new_whole(v);
                self.push(part, vec![whole], Rhs::Structured(row, args, Vec::new()), loc);
            }
            Batched::Merged => {
                self.know_rows(&ty, part, loc);
                let mut given = Vec::new();
                for (arg, mapped) in args.iter().zip(&mapped) {
                    given.push(match mapped {
                        true => self.merge(*arg, part, loc)?,
                        false => *arg,
                    });
                }
                let merged = self.b.nvar("t", self.merged(&ty)?, loc.span);
                self.push(part, vec![merged], Rhs::Structured(op, given, Vec::new()), loc);
                let whole = self.new_whole(v);
                let to = self.batch_of(ty);
                self.reshape(merged, whole, &to, part, loc)?;
            }
        }
        Some(())
    }

    /// Lets the range rule know how many rows there are. The arrays that have them exist, so the check holds, but for more than
    /// 2^63 rows of no cells.
    fn know_rows(&mut self, ty: &Type, part: &mut Part, loc: Loc) {
        let Some(size) = ty.size() else { return };
        let FunctionBuilder { func, namer } = &mut self.b;
        let rows = sizes::operand(func, namer, size, loc, &mut part.out);
        let check = Check::Exact(prim::IMUL, Atom::Var(self.count), rows);
        self.push(part, Vec::new(), Rhs::Check(check), loc);
    }

    /// The type of a batch whose first two dimensions are one.
    fn merged(&self, ty: &Type) -> Option<Type> {
        let Type::Array(size, element) = ty else { return None };
        let size = Size::var(self.count).checked_mul(size)?;
        let merged = Type::array(size, (**element).clone());
        let all = dimensions(&self.batch_of(ty.clone()));
        (flatten(all.len()).is_some() && product(&all).is_some()).then_some(merged)
    }

    /// The batch of an operand with its first two dimensions as one.
    fn merge(&mut self, arg: Atom, part: &mut Part, loc: Loc) -> Option<Atom> {
        let ty = self.merged(&self.b.func.type_of(arg))?;
        let from = self.operand(arg).var()?;
        let to = self.b.nvar("t", ty.clone(), loc.span);
        self.reshape(from, to, &ty, part, loc)?;
        Some(Atom::Var(to))
    }

    /// The cells of an array as one of another type: a view.
    fn reshape(
        &mut self,
        from: NVar,
        to: NVar,
        ty: &Type,
        part: &mut Part,
        loc: Loc,
    ) -> Option<()> {
        let before = dimensions(&self.b.func.nvars[from].ty);
        let after = dimensions(ty);
        let cells = product(&before)?;
        let view = |op: Structured, x: NVar, sizes: Vec<Size>| {
            Rhs::Structured(op, vec![Atom::Var(x)], sizes)
        };
        let mut row = from;
        if before.len() > 1 {
            row = match after.len() {
                1 => to,
                _ => self.b.nvar("t", Type::array(cells, Type::F64), loc.span),
            };
            let rhs = view(flatten(before.len())?, from, Vec::new());
            self.push(part, vec![row], rhs, loc);
        }
        if after.len() > 1 {
            let rhs = view(unflatten(after.len())?, row, after);
            self.push(part, vec![to], rhs, loc);
        }
        Some(())
    }

    /// A call of a function that has something to do for the batch as a whole.
    fn call(
        &mut self,
        call: &Call,
        (nl, loc): (&[NVar], Loc),
        part: &mut Part,
        to_close: Option<usize>,
    ) -> Option<()> {
        let mapped = Mask(call.args.iter().map(|a| self.differs(*a)).collect());
        if !nl.iter().all(|v| self.is_of_one_size(*v) && !self.sized[*v]) {
            return None;
        }
        let func = batch_of_called(self.d, self.known, call.func, &mapped)?;
        self.close_for(part, to_close, &[]);
        self.gains += 1;
        let args = call.args.iter().map(|a| self.operand(*a));
        let args = [Atom::Var(self.count)].into_iter().chain(args).collect();
        let nl = nl.iter().map(|v| self.new_whole(*v)).collect();
        let call = Call { func, args, lin_args: Vec::new(), places: Vec::new() };
        self.push(part, nl, Rhs::Call(Box::new(call)), loc);
        Some(())
    }

    pub(super) fn is_of_one_size(&self, v: NVar) -> bool {
        self.has_one_size(&self.b.func.nvars[v].ty)
    }
}

pub(super) fn statement(v: NVar, rhs: Rhs, loc: Loc) -> Stmt {
    Stmt { nl: vec![v], lin: Vec::new(), rhs, annotated: false, loc }
}

/// The dimensions of an array.
fn dimensions(ty: &Type) -> Vec<Size> {
    let (mut ty, mut sizes) = (ty, Vec::new());
    while let Type::Array(size, element) = ty {
        sizes.push(size.clone());
        ty = element;
    }
    sizes
}

/// How many cells there are.
fn product(sizes: &[Size]) -> Option<Size> {
    sizes.iter().try_fold(Size::constant(1), |all, size| all.checked_mul(size))
}

/// The view of an array of so many dimensions as a vector.
fn flatten(dimensions: usize) -> Option<Structured> {
    match dimensions {
        2 => Some(FLATTEN),
        3 => Some(FLATTEN3),
        4 => Some(FLATTEN4),
        _ => None,
    }
}

/// The view of a vector as an array of so many dimensions.
fn unflatten(dimensions: usize) -> Option<Structured> {
    match dimensions {
        2 => Some(UNFLATTEN),
        3 => Some(UNFLATTEN3),
        4 => Some(UNFLATTEN4),
        _ => None,
    }
}

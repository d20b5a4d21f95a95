//! The operands of an operation, to be changed: the writing twin of [`Rhs::for_each_own_use`].

use crate::entity::{Cap, LVar, NVar};
use crate::ir::*;
use crate::size::Size;
use crate::tape::TapePolicy;
use crate::types::Type;

/// What becomes of each operand; what is not said stays.
pub trait Mapper {
    /// An operand that may be a literal.
    fn atom(&mut self, atom: &mut Atom) {
        if let Atom::Var(v) = atom {
            self.nvar(v);
        }
    }
    /// An operand that is a name.
    fn nvar(&mut self, _: &mut NVar) {}
    /// A linear operand.
    fn lvar(&mut self, _: &mut LVar) {}
    /// The root of a place.
    fn cap(&mut self, _: &mut Cap) {}
    /// A type that is written.
    fn ty(&mut self, _: &mut Type) {}
    /// A size that is written.
    fn size(&mut self, _: &mut Size) {}
}

fn path(path: &mut [Step], to: &mut dyn Mapper) {
    for step in path {
        match step {
            Step::Index { index, .. } => to.atom(index),
            Step::Slice { lo, len, .. } => {
                to.atom(lo);
                to.atom(len);
            }
            Step::Field(_) => {}
        }
    }
}

fn place(place: &mut Place, to: &mut dyn Mapper) {
    to.cap(&mut place.root);
    path(&mut place.path, to);
}

fn operand(operand: &mut Operand, to: &mut dyn Mapper) {
    match operand {
        Operand::N(a) => to.atom(a),
        Operand::L(x) => to.lvar(x),
    }
}

impl Rhs {
    /// Maps what the operation itself reads, in the order of the text; not what nested blocks read, nor what
    /// is bound.
    pub fn map_own_uses(&mut self, to: &mut dyn Mapper) {
        match self {
            Rhs::Atom(a) => to.atom(a),
            Rhs::Prim(_, args) | Rhs::Tuple(args) | Rhs::Con(_, args) | Rhs::ArrayLit(args) => {
                args.iter_mut().for_each(|a| to.atom(a));
            }
            Rhs::Structured(_, args, sizes) => {
                args.iter_mut().for_each(|a| to.atom(a));
                sizes.iter_mut().for_each(|s| to.size(s));
            }
            Rhs::Untuple(v) | Rhs::Proj(v, _) | Rhs::Size(v, _) => to.nvar(v),
            Rhs::Open { value, eqs, .. } => {
                to.nvar(value);
                eqs.iter_mut().flatten().for_each(|a| to.atom(a));
            }
            Rhs::Index(v, steps) => {
                to.nvar(v);
                path(steps, to);
            }
            Rhs::Update { array, path: steps, value } => {
                to.nvar(array);
                path(steps, to);
                to.atom(value);
            }
            Rhs::Cast { value, ty, .. } => {
                to.nvar(value);
                to.ty(ty);
            }
            Rhs::Check(check) => match check {
                Check::Below(a, b) | Check::Exact(_, a, b) => {
                    to.atom(a);
                    to.atom(b);
                }
                Check::Within { lo, len, size } => {
                    to.atom(lo);
                    to.atom(len);
                    to.atom(size);
                }
                Check::NonNegative(a) | Check::Show(Shown::Value(a) | Shown::Before(a)) => {
                    to.atom(a);
                }
                Check::Show(Shown::Text(_) | Shown::End) => {}
            },
            Rhs::LCopy(x) | Rhs::LNeg(x) | Rhs::Dup(x) | Rhs::Drop(x) | Rhs::LUntuple(x) => {
                to.lvar(x);
            }
            Rhs::LAdd(x, y) => {
                to.lvar(x);
                to.lvar(y);
            }
            Rhs::LScale(a, x) => {
                to.atom(a);
                to.lvar(x);
            }
            Rhs::LSelect(a, x, y) => {
                to.atom(a);
                to.lvar(x);
                to.lvar(y);
            }
            Rhs::LApply { args, sizes, x, .. } => {
                args.iter_mut().for_each(|a| to.atom(a));
                sizes.iter_mut().for_each(|s| to.size(s));
                to.lvar(x);
            }
            Rhs::LZero(ty) => to.ty(ty),
            Rhs::LTuple(items) => items.iter_mut().for_each(|x| to.lvar(x)),
            Rhs::LCon { sizes, fields, .. } => {
                sizes.iter_mut().for_each(|a| to.atom(a));
                fields.iter_mut().for_each(|x| to.lvar(x));
            }
            Rhs::LOpen { sizes, value, .. } => {
                sizes.iter_mut().for_each(|a| to.atom(a));
                to.lvar(value);
            }
            Rhs::LCast { value, ty, .. } => {
                to.lvar(value);
                to.ty(ty);
            }
            Rhs::LUpdate { x, path: steps, value } => {
                to.lvar(x);
                path(steps, to);
                to.lvar(value);
            }
            Rhs::LTake { x, path: steps } => {
                to.lvar(x);
                path(steps, to);
            }
            Rhs::Rd(from) => place(from, to),
            Rhs::Inc(into, value) => {
                place(into, to);
                operand(value, to);
            }
            Rhs::Region(region) => region.start.iter_mut().for_each(|start| operand(start, to)),
            Rhs::Scan(scan) => {
                to.atom(&mut scan.bound);
                scan.carry.iter_mut().for_each(|(_, a)| to.atom(a));
                scan.slices.iter_mut().for_each(|(_, v)| to.nvar(v));
                scan.lin_carry.iter_mut().for_each(|(_, x)| to.lvar(x));
                scan.lin_slices.iter_mut().for_each(|(_, x)| to.lvar(x));
                scan.cap_slices.iter_mut().for_each(|(_, p)| place(p, to));
            }
            Rhs::Case(case) => {
                to.atom(&mut case.scrutinee);
                for field in case.arms.iter_mut().flat_map(|arm| &mut arm.fields) {
                    if let FieldPattern::Eq(a) = field {
                        to.atom(a);
                    }
                }
            }
            Rhs::Call(call) => {
                call.args.iter_mut().for_each(|a| to.atom(a));
                call.lin_args.iter_mut().for_each(|x| to.lvar(x));
                call.places.iter_mut().flatten().for_each(|p| place(p, to));
            }
        }
    }

    /// Whether the operation can end in an error value by itself, given which callees can.
    pub fn can_fail(&self, callee: &dyn Fn(crate::FuncId) -> bool) -> bool {
        match self {
            Rhs::Check(_) | Rhs::Cast { proved: false, .. } => true,
            Rhs::LOpen { sizes, .. } => !sizes.is_empty(),
            Rhs::Open { eqs, proved: false, .. } => eqs.iter().any(Option::is_some),
            Rhs::Case(case) => case.arms.iter().any(Arm::is_tested),
            Rhs::Prim(..) => !self.is_total_prim(),
            Rhs::Call(call) => callee(call.func),
            _ => false,
        }
    }
}

impl Block {
    /// Where there is no tape, or it has been made, nothing is said of it.
    pub fn forget_policies(&mut self) {
        for stmt in &mut self.stmts {
            stmt.loc.tape = TapePolicy::Free;
            stmt.rhs.blocks_mut().into_iter().for_each(Block::forget_policies);
        }
    }
}

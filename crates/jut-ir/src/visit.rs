//! What a statement reads, binds and nests: shared by the passes and the optimiser (the checker
//! has its own walk).

use crate::entity::{Cap, LVar, NVar};
use crate::ir::*;
use crate::size::Size;
use crate::types::Type;

/// One use of a name.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Use {
    /// A non-linear name: an operand, an index, or a size in a type.
    N(NVar),
    /// A linear name: consumed.
    L(LVar),
    /// A capability.
    C(Cap),
}

fn step_uses(path: &[Step], visit: &mut dyn FnMut(Use)) {
    for step in path {
        match step {
            Step::Index { index, .. } => atom_use(*index, visit),
            Step::Slice { lo, len, .. } => {
                atom_use(*lo, visit);
                atom_use(*len, visit);
            }
            Step::Field(_) => {}
        }
    }
}

fn place_uses(place: &Place, visit: &mut dyn FnMut(Use)) {
    visit(Use::C(place.root));
    step_uses(&place.path, visit);
}

fn atom_use(atom: Atom, visit: &mut dyn FnMut(Use)) {
    if let Atom::Var(v) = atom {
        visit(Use::N(v));
    }
}

fn size_uses(size: &Size, visit: &mut dyn FnMut(Use)) {
    size.names().into_iter().for_each(|v| visit(Use::N(v)));
}

fn type_uses(ty: &Type, visit: &mut dyn FnMut(Use)) {
    ty.size_names().into_iter().for_each(|v| visit(Use::N(v)));
}

impl Rhs {
    /// Every name that the operation itself reads, in the order of the text: not what nested
    /// blocks read, but initial carries, slices, bounds, scrutinees, arguments, and the sizes in
    /// types that are written (`zero t`, `cast`). The type of a `wr`/`acc` region is that of its
    /// capability; pass the function to see it through [`Stmt::for_each_use`].
    pub fn for_each_own_use(&self, visit: &mut dyn FnMut(Use)) {
        match self {
            Rhs::Atom(a) => atom_use(*a, visit),
            Rhs::Structured(_, args, sizes) => {
                args.iter().for_each(|a| atom_use(*a, visit));
                sizes.iter().for_each(|s| size_uses(s, visit));
            }
            Rhs::Prim(_, args) | Rhs::Tuple(args) | Rhs::Con(_, args) | Rhs::ArrayLit(args) => {
                args.iter().for_each(|a| atom_use(*a, visit));
            }
            Rhs::Untuple(v) | Rhs::Proj(v, _) | Rhs::Size(v, _) => visit(Use::N(*v)),
            Rhs::Open { value, eqs, .. } => {
                visit(Use::N(*value));
                eqs.iter().flatten().for_each(|a| atom_use(*a, visit));
            }
            Rhs::Index(v, path) => {
                visit(Use::N(*v));
                step_uses(path, visit);
            }
            Rhs::Update { array, path, value } => {
                visit(Use::N(*array));
                step_uses(path, visit);
                atom_use(*value, visit);
            }
            Rhs::Cast { value, ty, .. } => {
                visit(Use::N(*value));
                type_uses(ty, visit);
            }
            Rhs::Check(check) => match check {
                Check::Below(a, b) => {
                    atom_use(*a, visit);
                    atom_use(*b, visit);
                }
                Check::Within { lo, len, size } => {
                    atom_use(*lo, visit);
                    atom_use(*len, visit);
                    atom_use(*size, visit);
                }
                Check::NonNegative(a) => atom_use(*a, visit),
                Check::Exact(_, a, b) => {
                    atom_use(*a, visit);
                    atom_use(*b, visit);
                }
                Check::Show(shown) => {
                    if let Some(a) = shown.operand() {
                        atom_use(a, visit);
                    }
                }
            },
            Rhs::LCopy(x) | Rhs::LNeg(x) | Rhs::Dup(x) | Rhs::Drop(x) | Rhs::LUntuple(x) => {
                visit(Use::L(*x));
            }
            Rhs::LAdd(x, y) => {
                visit(Use::L(*x));
                visit(Use::L(*y));
            }
            Rhs::LScale(a, x) => {
                atom_use(*a, visit);
                visit(Use::L(*x));
            }
            Rhs::LSelect(a, x, y) => {
                atom_use(*a, visit);
                visit(Use::L(*x));
                visit(Use::L(*y));
            }
            Rhs::LApply { args, sizes, x, .. } => {
                args.iter().for_each(|a| atom_use(*a, visit));
                sizes.iter().for_each(|s| size_uses(s, visit));
                visit(Use::L(*x));
            }
            Rhs::LZero(ty) => type_uses(ty, visit),
            Rhs::LTuple(items) => items.iter().for_each(|x| visit(Use::L(*x))),
            Rhs::LCon { sizes, fields, .. } => {
                sizes.iter().for_each(|a| atom_use(*a, visit));
                fields.iter().for_each(|x| visit(Use::L(*x)));
            }
            Rhs::LOpen { sizes, value, .. } => {
                sizes.iter().for_each(|a| atom_use(*a, visit));
                visit(Use::L(*value));
            }
            Rhs::LCast { value, ty, .. } => {
                visit(Use::L(*value));
                type_uses(ty, visit);
            }
            Rhs::LUpdate { x, path, value } => {
                visit(Use::L(*x));
                step_uses(path, visit);
                visit(Use::L(*value));
            }
            Rhs::LTake { x, path } => {
                visit(Use::L(*x));
                step_uses(path, visit);
            }
            Rhs::Rd(place) => place_uses(place, visit),
            Rhs::Inc(place, operand) => {
                place_uses(place, visit);
                match operand {
                    Operand::N(a) => atom_use(*a, visit),
                    Operand::L(x) => visit(Use::L(*x)),
                }
            }
            Rhs::Region(region) => match &region.start {
                Some(Operand::N(a)) => atom_use(*a, visit),
                Some(Operand::L(x)) => visit(Use::L(*x)),
                None => {}
            },
            Rhs::Scan(scan) => {
                atom_use(scan.bound, visit);
                scan.carry.iter().for_each(|(_, a)| atom_use(*a, visit));
                scan.slices.iter().for_each(|(_, v)| visit(Use::N(*v)));
                scan.lin_carry.iter().for_each(|(_, x)| visit(Use::L(*x)));
                scan.lin_slices.iter().for_each(|(_, x)| visit(Use::L(*x)));
                scan.cap_slices.iter().for_each(|(_, p)| place_uses(p, visit));
            }
            Rhs::Case(case) => {
                atom_use(case.scrutinee, visit);
                for arm in &case.arms {
                    for field in &arm.fields {
                        if let FieldPattern::Eq(a) = field {
                            atom_use(*a, visit);
                        }
                    }
                }
            }
            Rhs::Call(call) => {
                call.args.iter().for_each(|a| atom_use(*a, visit));
                call.lin_args.iter().for_each(|x| visit(Use::L(*x)));
                call.places.iter().flatten().for_each(|p| place_uses(p, visit));
            }
        }
    }

    /// The nested blocks, in order.
    pub fn blocks(&self) -> Vec<&Block> {
        match self {
            Rhs::Region(region) => vec![&region.body],
            Rhs::Scan(scan) => vec![&scan.body],
            Rhs::Case(case) => case.arms.iter().map(|arm| &arm.body).collect(),
            _ => Vec::new(),
        }
    }

    /// The nested blocks, to be changed.
    pub fn blocks_mut(&mut self) -> Vec<&mut Block> {
        match self {
            Rhs::Region(region) => vec![&mut region.body],
            Rhs::Scan(scan) => vec![&mut scan.body],
            Rhs::Case(case) => case.arms.iter_mut().map(|arm| &mut arm.body).collect(),
            _ => Vec::new(),
        }
    }

    /// Non-linear and linear names and capabilities that the operation binds inside its nested
    /// blocks: loop indices, carries, slices, arm fields, region capabilities.
    pub fn for_each_inner_binder(&self, visit: &mut dyn FnMut(Use)) {
        match self {
            Rhs::Region(region) => visit(Use::C(region.cap)),
            Rhs::Scan(scan) => {
                visit(Use::N(scan.index));
                scan.carry.iter().for_each(|(v, _)| visit(Use::N(*v)));
                scan.slices.iter().for_each(|(v, _)| visit(Use::N(*v)));
                scan.lin_carry.iter().for_each(|(x, _)| visit(Use::L(*x)));
                scan.lin_slices.iter().for_each(|(x, _)| visit(Use::L(*x)));
                scan.cap_slices.iter().for_each(|(c, _)| visit(Use::C(*c)));
            }
            Rhs::Case(case) => {
                for arm in &case.arms {
                    for field in &arm.fields {
                        if let FieldPattern::Bind(v) = field {
                            visit(Use::N(*v));
                        }
                    }
                }
            }
            _ => {}
        }
    }
}

impl Stmt {
    /// Every name that the statement reads, nested blocks included, also names bound inside: in
    /// the order of the text, repetitions included. Because variables are unique indices, callers
    /// that want *free* names filter by what they know to be outside. Sizes in the types of
    /// linear results, of `wr`/`acc` regions and of annotated patterns count as uses.
    pub fn for_each_use(&self, func: &Function, visit: &mut dyn FnMut(Use)) {
        self.rhs.for_each_own_use(visit);
        if let Rhs::Region(region) = &self.rhs
            && region.mode != Mode::Rd
        {
            type_uses(&func.caps[region.cap].ty, visit);
        }
        for block in self.rhs.blocks() {
            block.for_each_use(func, visit);
        }
        for x in &self.lin {
            type_uses(&func.lvars[*x].ty, visit);
        }
    }
}

impl Block {
    /// Every name that the block reads; see [`Stmt::for_each_use`].
    pub fn for_each_use(&self, func: &Function, visit: &mut dyn FnMut(Use)) {
        for stmt in &self.stmts {
            stmt.for_each_use(func, visit);
        }
        self.nl.iter().for_each(|a| atom_use(*a, visit));
        self.lin.iter().for_each(|x| visit(Use::L(*x)));
    }

    /// Every name that the block binds, nested blocks included.
    pub fn for_each_binder(&self, visit: &mut dyn FnMut(Use)) {
        for stmt in &self.stmts {
            stmt.nl.iter().for_each(|v| visit(Use::N(*v)));
            stmt.lin.iter().for_each(|x| visit(Use::L(*x)));
            stmt.rhs.for_each_inner_binder(visit);
            for block in stmt.rhs.blocks() {
                block.for_each_binder(visit);
            }
        }
    }
}

//! Changing the names that a statement reads.

use jut_ir::entity::{Cap, NVar};
use jut_ir::in_place::InPlace;
use jut_ir::ir::*;
use jut_ir::map::Mapper;
use jut_ir::size::Size;
use jut_ir::span::Loc;
use jut_ir::types::Type;

/// A list of statements to be read and rewritten.
pub fn in_place(stmts: Vec<Stmt>) -> InPlace<Stmt> {
    InPlace::new(stmts, || Stmt {
        nl: Vec::new(),
        lin: Vec::new(),
        rhs: Rhs::Atom(Atom::Lit(Literal::Bool(false))),
        annotated: false,
        loc: Loc::default(),
    })
}

/// What a rewriter says about the names of a statement. Every method leaves its argument alone
/// unless overridden.
pub trait Rewriter {
    /// An operand, index, bound or result.
    fn atom(&mut self, atom: Atom) -> Atom;

    /// A name that must stay a name: an array, tuple or data value.
    fn nvar(&mut self, var: NVar) -> NVar {
        self.atom(Atom::Var(var)).var().unwrap_or(var)
    }

    /// A place: its root, and what stands before its path.
    fn root(&mut self, root: Cap) -> Place {
        Place::root(root)
    }

    /// A step of a path, after its atoms were rewritten.
    fn step(&mut self, step: Step) -> Step {
        step
    }

    /// A type that is written in the statement.
    fn ty(&mut self, ty: &Type) -> Type {
        ty.clone()
    }

    /// A non-linear name that the statement binds.
    fn bind(&mut self, var: NVar) -> NVar {
        var
    }

    /// A capability that the statement binds.
    fn bind_cap(&mut self, cap: Cap) -> Cap {
        cap
    }

    /// The body of an arm is next, of the value that decides; its fields were rewritten.
    fn enter_arm(&mut self, _scrutinee: Atom, _pattern: ArmPattern, _fields: &[FieldPattern]) {}

    /// It is done.
    fn leave_arm(&mut self) {}

    /// A nested block.
    fn block(&mut self, block: Block) -> Block;
}

/// The operands of a right-hand side.
struct Operands<'r>(&'r mut dyn Rewriter);

impl Mapper for Operands<'_> {
    fn atom(&mut self, atom: &mut Atom) {
        *atom = self.0.atom(*atom);
    }

    fn nvar(&mut self, var: &mut NVar) {
        *var = self.0.nvar(*var);
    }

    fn ty(&mut self, ty: &mut Type) {
        *ty = self.0.ty(ty);
    }

    fn size(&mut self, size: &mut Size) {
        let array = self.0.ty(&Type::array(std::mem::take(size), Type::F64));
        if let Type::Array(new, _) = array {
            *size = new;
        }
    }
}

/// Rewrites a right-hand side: first what it reads, then what it binds, then its blocks.
pub fn rhs(rewriter: &mut dyn Rewriter, mut rhs: Rhs) -> Rhs {
    rhs.map_own_uses(&mut Operands(rewriter));
    match &mut rhs {
        Rhs::Index(_, path) | Rhs::Update { path, .. } => {
            path.iter_mut().for_each(|step| *step = rewriter.step(*step));
        }
        Rhs::Inc(to, _) => place(rewriter, to),
        Rhs::Region(region) => {
            region.cap = rewriter.bind_cap(region.cap);
            block(rewriter, &mut region.body);
        }
        Rhs::Scan(scan) => {
            scan.cap_slices.iter_mut().for_each(|(_, p)| place(rewriter, p));
            scan.index = rewriter.bind(scan.index);
            scan.carry.iter_mut().for_each(|(v, _)| *v = rewriter.bind(*v));
            scan.slices.iter_mut().for_each(|(v, _)| *v = rewriter.bind(*v));
            scan.cap_slices.iter_mut().for_each(|(c, _)| *c = rewriter.bind_cap(*c));
            block(rewriter, &mut scan.body);
        }
        Rhs::Case(case) => {
            for arm in &mut case.arms {
                for field in &mut arm.fields {
                    if let FieldPattern::Bind(v) = field {
                        *v = rewriter.bind(*v);
                    }
                }
                rewriter.enter_arm(case.scrutinee, arm.pattern, &arm.fields);
                block(rewriter, &mut arm.body);
                rewriter.leave_arm();
            }
        }
        Rhs::Call(call) => call.places.iter_mut().flatten().for_each(|p| place(rewriter, p)),
        _ => {}
    }
    rhs
}

/// A place, after its atoms were rewritten.
fn place(rewriter: &mut dyn Rewriter, place: &mut Place) {
    let mut new = rewriter.root(place.root);
    new.path.extend(place.path.iter().map(|step| rewriter.step(*step)));
    *place = new;
}

fn block(rewriter: &mut dyn Rewriter, block: &mut Block) {
    *block = rewriter.block(std::mem::take(block));
}

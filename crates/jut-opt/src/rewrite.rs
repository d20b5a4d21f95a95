//! Changing the names that a statement reads.

use jut_ir::entity::{Cap, NVar};
use jut_ir::in_place::InPlace;
use jut_ir::ir::*;
use jut_ir::linear_operation;
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

fn path(rewriter: &mut dyn Rewriter, path: &[Step]) -> Vec<Step> {
    path.iter()
        .map(|step| {
            let step = match *step {
                Step::Index { index, proved } => {
                    Step::Index { index: rewriter.atom(index), proved }
                }
                Step::Slice { lo, len, proved } => {
                    Step::Slice { lo: rewriter.atom(lo), len: rewriter.atom(len), proved }
                }
                Step::Field(k) => Step::Field(k),
            };
            rewriter.step(step)
        })
        .collect()
}

/// Rewrites a place.
pub fn place(rewriter: &mut dyn Rewriter, place: &Place) -> Place {
    let mut new = rewriter.root(place.root);
    new.path.extend(path(rewriter, &place.path));
    new
}

fn atoms(rewriter: &mut dyn Rewriter, mut atoms: Vec<Atom>) -> Vec<Atom> {
    atoms.iter_mut().for_each(|a| *a = rewriter.atom(*a));
    atoms
}

/// Rewrites a right-hand side: first what it reads, then what it binds, then its blocks. Linear
/// operations do not occur in the programs that the optimiser sees and are left as they are.
pub fn rhs(rewriter: &mut dyn Rewriter, rhs: Rhs) -> Rhs {
    match rhs {
        Rhs::Atom(a) => Rhs::Atom(rewriter.atom(a)),
        Rhs::Prim(prim, args) => Rhs::Prim(prim, atoms(rewriter, args)),
        Rhs::Tuple(args) => Rhs::Tuple(atoms(rewriter, args)),
        Rhs::Con(con, args) => Rhs::Con(con, atoms(rewriter, args)),
        Rhs::ArrayLit(args) => Rhs::ArrayLit(atoms(rewriter, args)),
        Rhs::Structured(op, args, sizes) => {
            let args = atoms(rewriter, args);
            let wrapped = |size| Type::array(size, Type::F64);
            let sizes = sizes.into_iter().filter_map(|s| rewriter.ty(&wrapped(s)).size().cloned());
            Rhs::Structured(op, args, sizes.collect())
        }
        Rhs::Untuple(v) => Rhs::Untuple(rewriter.nvar(v)),
        Rhs::Proj(v, k) => Rhs::Proj(rewriter.nvar(v), k),
        Rhs::Size(v, k) => Rhs::Size(rewriter.nvar(v), k),
        Rhs::Open { con, value, eqs, proved } => Rhs::Open {
            con,
            value: rewriter.nvar(value),
            eqs: eqs.into_iter().map(|e| e.map(|a| rewriter.atom(a))).collect(),
            proved,
        },
        Rhs::Index(v, steps) => {
            let v = rewriter.nvar(v);
            Rhs::Index(v, path(rewriter, &steps))
        }
        Rhs::Update { array, path: steps, value } => {
            let array = rewriter.nvar(array);
            let path = path(rewriter, &steps);
            Rhs::Update { array, path, value: rewriter.atom(value) }
        }
        Rhs::Cast { value, ty, proved } => {
            Rhs::Cast { value: rewriter.nvar(value), ty: rewriter.ty(&ty), proved }
        }
        Rhs::Check(check) => Rhs::Check(match check {
            Check::Below(a, b) => Check::Below(rewriter.atom(a), rewriter.atom(b)),
            Check::Within { lo, len, size } => Check::Within {
                lo: rewriter.atom(lo),
                len: rewriter.atom(len),
                size: rewriter.atom(size),
            },
            Check::NonNegative(a) => Check::NonNegative(rewriter.atom(a)),
            Check::Exact(p, a, b) => Check::Exact(p, rewriter.atom(a), rewriter.atom(b)),
            Check::Show(Shown::Value(a)) => Check::Show(Shown::Value(rewriter.atom(a))),
            Check::Show(Shown::Before(i)) => Check::Show(Shown::Before(rewriter.atom(i))),
            Check::Show(shown) => Check::Show(shown),
        }),
        Rhs::Inc(p, Operand::N(a)) => {
            let p = place(rewriter, &p);
            Rhs::Inc(p, Operand::N(rewriter.atom(a)))
        }
        Rhs::Region(region) => {
            let Region { mode, cap, start, end, body } = *region;
            let start = start.map(|start| match start {
                Operand::N(a) => Operand::N(rewriter.atom(a)),
                linear => linear,
            });
            let cap = rewriter.bind_cap(cap);
            let body = rewriter.block(body);
            Rhs::Region(Box::new(Region { mode, cap, start, end, body }))
        }
        Rhs::Scan(scan) => Rhs::Scan(Box::new(self::scan(rewriter, *scan))),
        Rhs::Case(case) => {
            let scrutinee = rewriter.atom(case.scrutinee);
            let arms = case.arms.into_iter().map(|a| arm(rewriter, scrutinee, a)).collect();
            Rhs::Case(Box::new(Case { scrutinee, arms }))
        }
        Rhs::Call(call) => Rhs::Call(Box::new(Call {
            func: call.func,
            args: atoms(rewriter, call.args),
            lin_args: call.lin_args,
            places: call.places.iter().map(|p| p.as_ref().map(|p| place(rewriter, p))).collect(),
        })),
        linear @ (linear_operation!() | Rhs::Inc(..)) => linear,
    }
}

fn arm(rewriter: &mut dyn Rewriter, scrutinee: Atom, arm: Arm) -> Arm {
    let fields = arm.fields.into_iter().map(|field| match field {
        FieldPattern::Bind(v) => FieldPattern::Bind(rewriter.bind(v)),
        FieldPattern::Eq(a) => FieldPattern::Eq(rewriter.atom(a)),
    });
    let fields: Vec<FieldPattern> = fields.collect();
    rewriter.enter_arm(scrutinee, arm.pattern, &fields);
    let body = rewriter.block(arm.body);
    rewriter.leave_arm();
    Arm { pattern: arm.pattern, fields, proved: arm.proved, body }
}

fn scan(rewriter: &mut dyn Rewriter, scan: Scan) -> Scan {
    let bound = rewriter.atom(scan.bound);
    let init: Vec<Atom> = scan.carry.iter().map(|(_, a)| rewriter.atom(*a)).collect();
    let arrays: Vec<NVar> = scan.slices.iter().map(|(_, v)| rewriter.nvar(*v)).collect();
    let places: Vec<Place> = scan.cap_slices.iter().map(|(_, p)| place(rewriter, p)).collect();
    let index = rewriter.bind(scan.index);
    let carry = scan.carry.iter().zip(init).map(|((v, _), a)| (rewriter.bind(*v), a)).collect();
    let slices = scan.slices.iter().zip(arrays).map(|((v, _), a)| (rewriter.bind(*v), a)).collect();
    let cap_slices =
        scan.cap_slices.iter().zip(places).map(|((c, _), p)| (rewriter.bind_cap(*c), p)).collect();
    Scan {
        dir: scan.dir,
        index,
        bound,
        carry,
        lin_carry: scan.lin_carry,
        slices,
        lin_slices: scan.lin_slices,
        cap_slices,
        body: rewriter.block(scan.body),
    }
}

//! Writing the functions of the border: statements, blocks, loops.

use super::Lists;
use jut_ir::build::FunctionBuilder;
use jut_ir::cover::shown::show_sizes;
use jut_ir::prim::{self, Prim};
use jut_ir::*;

/// A function under construction.
pub(super) struct Code<'p> {
    pub program: &'p Program,
    pub b: FunctionBuilder,
    pub stmts: Vec<Stmt>,
    /// The functions that read and write values of each data type.
    pub lists: &'p Lists,
}

/// The literal.
pub(super) fn int(n: i64) -> Atom {
    Atom::Lit(Literal::I64(n))
}

impl<'p> Code<'p> {
    pub fn new(program: &'p Program, lists: &'p Lists, name: String, span: Span) -> Code<'p> {
        let mut b = FunctionBuilder::default();
        (b.func.name, b.func.span) = (name, span);
        Code { program, b, stmts: Vec::new(), lists }
    }

    pub fn var(&mut self, hint: &str, ty: Type) -> NVar {
        let span = self.b.func.span;
        self.b.nvar(hint, ty, span)
    }

    pub fn param(&mut self, hint: &str, ty: Type) -> NVar {
        let v = self.var(hint, ty);
        self.b.func.params.push(v);
        v
    }

    pub fn push(&mut self, nl: Vec<NVar>, rhs: Rhs) {
        let loc = Loc::made(self.b.func.span, Origin::Derived);
        self.stmts.push(Stmt { nl, lin: Vec::new(), rhs, annotated: false, loc });
    }

    /// A variable for an operation.
    pub fn bind(&mut self, hint: &str, ty: Type, rhs: Rhs) -> Atom {
        let v = self.var(hint, ty);
        self.push(vec![v], rhs);
        Atom::Var(v)
    }

    pub fn prim(&mut self, hint: &str, prim: Prim, args: [Atom; 2]) -> Atom {
        let span = self.b.func.span;
        let v = sizes::prim_var(&mut self.b, hint, prim, &args, span);
        self.push(vec![v], Rhs::Prim(prim, args.to_vec()));
        Atom::Var(v)
    }

    /// `at + n`.
    pub fn after(&mut self, at: Atom, n: i64) -> Atom {
        match n {
            0 => at,
            _ => self.prim("i", prim::IADD, [at, int(n)]),
        }
    }

    pub fn check(&mut self, check: Check) {
        self.push(Vec::new(), Rhs::Check(check));
    }

    /// A size as an operand, tested not to be negative.
    pub fn bound(&mut self, size: &Size) -> Atom {
        let loc = Loc::made(self.b.func.span, Origin::Derived);
        let FunctionBuilder { func, namer } = &mut self.b;
        let bound = sizes::operand(func, namer, size, loc, &mut self.stmts);
        if size.as_constant().is_none_or(|n| n < 0) {
            self.check(Check::NonNegative(bound));
        }
        bound
    }

    /// What is written by `make`, as a block with its results.
    pub fn block(&mut self, make: impl FnOnce(&mut Self) -> Vec<Atom>) -> Block {
        let outer = std::mem::take(&mut self.stmts);
        let nl = make(self);
        let stmts = std::mem::replace(&mut self.stmts, outer);
        Block { stmts, nl, lin: Vec::new() }
    }

    /// Variables of the types of what blocks give.
    pub fn results(&mut self, types: &[Type]) -> Vec<NVar> {
        types.iter().map(|ty| self.var("v", ty.clone())).collect()
    }

    /// A branch on a truth value.
    pub fn branch(&mut self, condition: Atom, arms: [Block; 2], types: &[Type]) -> Vec<Atom> {
        let [yes, no] = arms;
        let arms = vec![Arm::of_bool(true, yes), Arm::of_bool(false, no)];
        let bound = self.results(types);
        self.push(bound.clone(), Rhs::Case(Box::new(Case { scrutinee: condition, arms })));
        bound.into_iter().map(Atom::Var).collect()
    }

    /// A loop with carries; `make` gets the index and the carries, and gives the next ones, then what is stacked.
    pub fn scan(
        &mut self,
        dir: Dir,
        bound: Atom,
        carries: &[Atom],
        stacked: &[Type],
        make: impl FnOnce(&mut Self, Atom, &[Atom]) -> Vec<Atom>,
    ) -> Vec<Atom> {
        let index = self.var("r", Type::I64);
        let types: Vec<Type> = carries.iter().map(|a| self.b.func.type_of(*a)).collect();
        let names = self.results(&types);
        let inside: Vec<Atom> = names.iter().map(|v| Atom::Var(*v)).collect();
        let body = self.block(|c| make(c, Atom::Var(index), &inside));
        let size = self.b.func.size_of(bound);
        let stacked = stacked.iter().map(|ty| Type::array(size.clone(), ty.clone()));
        let all: Vec<Type> = types.into_iter().chain(stacked).collect();
        let results = self.results(&all);
        let carry = names.into_iter().zip(carries.iter().copied()).collect();
        let scan = Scan { carry, ..Scan::new(dir, index, bound, body) };
        self.push(results.clone(), Rhs::Scan(Box::new(scan)));
        results.into_iter().map(Atom::Var).collect()
    }

    pub fn call(&mut self, func: FuncId, args: Vec<Atom>, types: &[Type]) -> Vec<Atom> {
        let bound = self.results(types);
        let call = Call { func, args, lin_args: Vec::new(), places: Vec::new() };
        self.push(bound.clone(), Rhs::Call(Box::new(call)));
        bound.into_iter().map(Atom::Var).collect()
    }

    pub fn finish(mut self, results: &[Type], nl: Vec<Atom>) -> Function {
        let func = &mut self.b.func;
        let result = |ty: &Type| ResultDecl { name: None, ty: ty.clone() };
        func.results = results.iter().map(result).collect();
        func.body = Block { stmts: self.stmts, nl, lin: Vec::new() };
        show_sizes(func, Some(&mut self.b.namer), &|func| self.program.funcs[func].is_foreign());
        self.b.func
    }
}

/// The type of a field where those before it are the given operands.
pub(super) fn field_type(func: &Function, fields: &[Atom], ty: &Type) -> Type {
    ty.subst(&mut |v| fields.get(v.as_u32() as usize).map(|a| func.size_of(*a)))
}

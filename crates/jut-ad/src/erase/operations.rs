//! The functions that stand for linear operations at compound types.
//!
//! The paper's L calls a generated function for each type at which `+`, `*`, .. occur; so does
//! ours. A type is described by its shape alone, every dimension being a parameter, so one
//! `add.a_f64(n, x, y)` serves all vectors:
//!
//! ```text
//! core def add.a_f64(n: i64, x: [n]f64, y: [n]f64) -> [n]f64 = {
//!   z = scan par (i < n) slice (a <- x, b <- y) { c = a + b; c }
//!   z
//! }
//! ```
//!
//! Tuples are taken apart, rows and components go to the function of their own type. Those of a declared tangent type
//! ([`jut_ir::tangent`]) call themselves, as deep as what both sides have in common:
//!
//! ```text
//! core def add.List.tan(x: List.tan, y: List.tan) -> List.tan = {
//!   z = case x {
//!     List.tan.none -> { y }
//!     Cons.tan(a, l) -> { z = case y {
//!       List.tan.none -> { x }
//!       Cons.tan(b, m) -> { c = a + b; n = add.List.tan(l, m); z = Cons.tan(c, n); z }
//!     }; z }
//!   }
//!   z
//! }
//! ```

use crate::Derivatives;
use jut_ir::build::FunctionBuilder;
use jut_ir::calls::components;
use jut_ir::prim::{self, Prim};
use jut_ir::*;

/// A linear operation that has work at every scalar of its type.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Operation {
    Add,
    Neg,
    Scale,
}

impl Operation {
    /// The operation on floats.
    pub fn primitive(self) -> Prim {
        match self {
            Operation::Add => prim::ADD,
            Operation::Neg => prim::NEG,
            Operation::Scale => prim::TIMES,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Operation::Add => "add",
            Operation::Neg => "neg",
            Operation::Scale => "scale",
        }
    }

    /// Names of the operands that have the type; `scale` has a factor before them.
    fn operands(self) -> &'static [&'static str] {
        match self {
            Operation::Add => &["x", "y"],
            Operation::Neg | Operation::Scale => &["x"],
        }
    }
}

/// A prefix code for types up to sizes: `a_f64`, `t2_f64_a_a_f64`.
fn code(program: &Program, ty: &Type) -> String {
    match ty {
        Type::Array(_, element) => format!("a_{}", code(program, element)),
        Type::Tuple(items) => {
            let items: Vec<String> = items.iter().map(|ty| code(program, ty)).collect();
            format!("t{}_{}", items.len(), items.join("_"))
        }
        Type::Data(data) => program.datas[*data].name.clone(),
        Type::Float(width) => width.name().to_string(),
        Type::I64 | Type::I32 | Type::Bool => "f64".to_string(),
    }
}

/// The function for an operation at a type, made when first needed. Its parameters are the sizes
/// in the type in order, the factor of `scale`, and the operands.
pub(super) fn function(derivatives: &mut Derivatives, operation: Operation, ty: &Type) -> FuncId {
    let mut new = Vec::new();
    let id = function_among(derivatives, operation, ty, &mut new);
    // Those that call each other stand together, behind what they call, as in any text.
    let root = new.contains(&id).then_some(id);
    for component in components(&derivatives.program, root, &|f| !new.contains(&f)) {
        derivatives.program.order.extend(component.members.into_iter().map(Decl::Func));
    }
    id
}

/// The same; functions that are made for it have no place among the declarations yet.
fn function_among(
    derivatives: &mut Derivatives,
    operation: Operation,
    ty: &Type,
    new: &mut Vec<FuncId>,
) -> FuncId {
    let name = format!("{}.{}", operation.name(), code(&derivatives.program, ty));
    if let Some(known) = derivatives.operations.get(&name) {
        return *known;
    }
    // It is known before it is made: it may call itself.
    let id = derivatives.reserve(&name);
    derivatives.erased.insert(id, id);
    derivatives.operations.insert(name, id);
    new.push(id);
    let mut b = FunctionBuilder::default();
    let mut dims = Vec::new();
    ty.for_each_size(&mut |_| dims.push(b.nvar("n", Type::I64, Span::NONE)));
    let mut next = dims.iter();
    let ty = with_dims(ty, &mut next);
    let factor = (operation == Operation::Scale).then(|| b.nvar("c", Type::F64, Span::NONE));
    let operands: Vec<NVar> =
        operation.operands().iter().map(|x| b.nvar(x, ty.clone(), Span::NONE)).collect();
    b.func.params = dims.iter().copied().chain(factor).chain(operands.iter().copied()).collect();
    let mut stmts = Vec::new();
    let mut maker = Maker { derivatives, new, b, operation, factor };
    let result = match &ty {
        Type::Tuple(items) => {
            let parts: Vec<Vec<NVar>> = operands
                .iter()
                .map(|x| {
                    let parts: Vec<NVar> = items.iter().map(|t| maker.var("a", t)).collect();
                    maker.push(&mut stmts, parts.clone(), Rhs::Untuple(*x));
                    parts
                })
                .collect();
            let made: Vec<Atom> = items
                .iter()
                .enumerate()
                .map(|(k, t)| {
                    let args = parts.iter().map(|p| p[k]).collect();
                    Atom::Var(maker.apply(t, args, &mut stmts))
                })
                .collect();
            let z = maker.var("z", &ty);
            maker.push(&mut stmts, vec![z], Rhs::Tuple(made));
            z
        }
        Type::Array(_, element) => {
            let index = maker.var("i", &Type::I64);
            let elements: Vec<NVar> = operands.iter().map(|_| maker.var("a", element)).collect();
            let mut inner = Vec::new();
            let made = maker.apply(element, elements.clone(), &mut inner);
            let z = maker.var("z", &ty);
            let scan = Scan {
                dir: Dir::Par,
                index,
                bound: dims.first().map_or(Atom::Lit(Literal::I64(0)), |n| Atom::Var(*n)),
                carry: vec![],
                lin_carry: vec![],
                slices: elements.into_iter().zip(operands.iter().copied()).collect(),
                lin_slices: vec![],
                cap_slices: vec![],
                body: Block { stmts: inner, nl: vec![Atom::Var(made)], lin: vec![] },
            };
            maker.push(&mut stmts, vec![z], Rhs::Scan(Box::new(scan)));
            z
        }
        Type::Data(data) => maker.declared(*data, &operands, &mut stmts),
        Type::Float(Width::Single) => {
            // Computed in 64 bits and rounded once, which gives the sum, or the product with an f64, of 32 bits.
            let mut wide = Vec::new();
            for x in &operands {
                wide.push(maker.var("a", &Type::F64));
                let rhs = Rhs::Prim(prim::DOUBLE, vec![Atom::Var(*x)]);
                maker.push(&mut stmts, wide[wide.len() - 1..].to_vec(), rhs);
            }
            let made = maker.apply(&Type::F64, wide, &mut stmts);
            let z = maker.var("z", &ty);
            let rhs = Rhs::Prim(prim::SINGLE, vec![Atom::Var(made)]);
            maker.push(&mut stmts, vec![z], rhs);
            z
        }
        scalar => maker.apply(scalar, operands.clone(), &mut stmts),
    };
    let mut func = maker.b.func;
    func.results = vec![ResultDecl { name: None, ty }];
    func.body = Block { stmts, nl: vec![Atom::Var(result)], lin: vec![] };
    derivatives.fill(id, func)
}

/// The type with each of its sizes replaced by the next parameter.
fn with_dims(ty: &Type, dims: &mut std::slice::Iter<'_, NVar>) -> Type {
    match ty {
        Type::Array(size, element) => {
            let size = dims.next().map_or_else(|| size.clone(), |n| Size::var(*n));
            Type::array(size, with_dims(element, dims))
        }
        Type::Tuple(items) => Type::Tuple(items.iter().map(|t| with_dims(t, dims)).collect()),
        scalar => scalar.clone(),
    }
}

struct Maker<'a> {
    derivatives: &'a mut Derivatives,
    /// The functions that have been made.
    new: &'a mut Vec<FuncId>,
    b: FunctionBuilder,
    operation: Operation,
    factor: Option<NVar>,
}

impl Maker<'_> {
    fn var(&mut self, hint: &str, ty: &Type) -> NVar {
        self.b.nvar(hint, ty.clone(), Span::NONE)
    }

    fn push(&mut self, out: &mut Vec<Stmt>, nl: Vec<NVar>, rhs: Rhs) {
        let loc = Loc::made(Span::NONE, Origin::Erase);
        out.push(Stmt { nl, lin: vec![], rhs, annotated: false, loc });
    }

    /// The operation on tangents of a declared type: by the constructor that made them.
    fn declared(&mut self, data: DataId, operands: &[NVar], out: &mut Vec<Stmt>) -> NVar {
        let ty = Type::Data(data);
        let count = self.derivatives.program.datas[data].constructors.len();
        let Some((&x, rest)) = operands.split_first() else { return self.var("z", &ty) };
        let arms = (0..count as u32).map(|index| {
            let con = ConRef { data, index };
            let (fields, vars) = self.fields(con, &[]);
            let mut stmts = Vec::new();
            let made = match rest.first() {
                Some(y) if index == 0 => *y,
                None if index == 0 => x,
                None => self.rebuilt(con, &[&vars], &mut stmts),
                Some(y) => self.add_to(con, &vars, [x, *y], &mut stmts),
            };
            let body = Block { stmts, nl: vec![Atom::Var(made)], lin: vec![] };
            Arm { pattern: ArmPattern::Con(con), fields, proved: false, body }
        });
        let arms = arms.collect();
        let z = self.var("z", &ty);
        self.push(out, vec![z], Rhs::Case(Box::new(Case { scrutinee: Atom::Var(x), arms })));
        z
    }

    /// What is added to the fields `a` of x, which `con` made: nothing, or what it made too. Anything else is no
    /// tangent of the same value.
    fn add_to(&mut self, con: ConRef, a: &[NVar], [x, y]: [NVar; 2], out: &mut Vec<Stmt>) -> NVar {
        let data = con.data;
        let count = self.derivatives.program.datas[data].constructors.len();
        let arms = (0..count as u32).map(|index| {
            let other = ConRef { data, index };
            let (fields, b) = self.fields(other, if other == con { a } else { &[] });
            let mut stmts = Vec::new();
            let made = match index {
                0 => x,
                _ if other == con => self.rebuilt(con, &[a, &b], &mut stmts),
                _ => {
                    let [k, zero] = [i64::from(index), 0].map(|k| Atom::Lit(Literal::I64(k)));
                    self.push(&mut stmts, vec![], Rhs::Check(Check::Below(k, zero)));
                    x
                }
            };
            let body = Block { stmts, nl: vec![Atom::Var(made)], lin: vec![] };
            Arm { pattern: ArmPattern::Con(other), fields, proved: false, body }
        });
        let arms = arms.collect();
        let z = self.var("z", &Type::Data(data));
        self.push(out, vec![z], Rhs::Case(Box::new(Case { scrutinee: Atom::Var(y), arms })));
        z
    }

    /// A pattern for the fields of a constructor, and what its fields are: of sizes that are stated, what these are.
    fn fields(&mut self, con: ConRef, stated: &[NVar]) -> (Vec<FieldPattern>, Vec<NVar>) {
        let fields = self.derivatives.program.constructor(con).fields.clone();
        let (mut patterns, mut vars): (Vec<FieldPattern>, Vec<NVar>) = (Vec::new(), Vec::new());
        for (k, field) in fields.iter().enumerate() {
            if let (Type::I64, Some(n)) = (&field.ty, stated.get(k)) {
                patterns.push(FieldPattern::Eq(Atom::Var(*n)));
                vars.push(*n);
                continue;
            }
            let ty = field.ty.subst(&mut |v| vars.get(v.as_u32() as usize).map(|v| Size::var(*v)));
            let v = self.var(&field.name, &ty);
            patterns.push(FieldPattern::Bind(v));
            vars.push(v);
        }
        (patterns, vars)
    }

    /// A value of the constructor, of the operation on the fields of the operands.
    fn rebuilt(&mut self, con: ConRef, operands: &[&[NVar]], out: &mut Vec<Stmt>) -> NVar {
        let mut args = Vec::new();
        for (k, first) in operands.first().copied().unwrap_or_default().iter().enumerate() {
            let ty = self.b.func.nvars[*first].ty.clone();
            args.push(Atom::Var(match ty {
                Type::I64 => *first,
                ty => {
                    let parts = operands.iter().filter_map(|fields| fields.get(k).copied());
                    self.apply(&ty, parts.collect(), out)
                }
            }));
        }
        let z = self.var("z", &Type::Data(con.data));
        self.push(out, vec![z], Rhs::Con(con, args));
        z
    }

    /// The operation on parts of the operands.
    fn apply(&mut self, ty: &Type, args: Vec<NVar>, out: &mut Vec<Stmt>) -> NVar {
        let args = self.factor.into_iter().chain(args).map(Atom::Var);
        let rhs = if *ty == Type::F64 {
            Rhs::Prim(self.operation.primitive(), args.collect())
        } else {
            let func = function_among(self.derivatives, self.operation, ty, self.new);
            let (mut all, loc) = (Vec::new(), Loc::made(Span::NONE, Origin::Erase));
            // Those of fields are constants and polynomials, too.
            ty.for_each_size(&mut |size| {
                let FunctionBuilder { func, namer } = &mut self.b;
                all.push(sizes::operand(func, namer, size, loc, out));
            });
            all.extend(args);
            Rhs::Call(Box::new(Call { func, args: all, lin_args: vec![], places: vec![] }))
        };
        let z = self.var("z", ty);
        self.push(out, vec![z], rhs);
        z
    }
}

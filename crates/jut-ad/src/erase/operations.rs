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
//! Tuples are taken apart, rows and components go to the function of their own type.

use crate::Derivatives;
use jut_ir::build::FunctionBuilder;
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
fn code(ty: &Type) -> String {
    match ty {
        Type::Array(_, element) => format!("a_{}", code(element)),
        Type::Tuple(items) => {
            let items: Vec<String> = items.iter().map(code).collect();
            format!("t{}_{}", items.len(), items.join("_"))
        }
        _ => "f64".to_string(),
    }
}

/// The function for an operation at a type, made when first needed. Its parameters are the sizes
/// in the type in order, the factor of `scale`, and the operands.
pub(super) fn function(derivatives: &mut Derivatives, operation: Operation, ty: &Type) -> FuncId {
    let name = format!("{}.{}", operation.name(), code(ty));
    if let Some(known) = derivatives.operations.get(&name) {
        return *known;
    }
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
    let mut maker = Maker { derivatives, b, operation, factor };
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
        scalar => maker.apply(scalar, operands.clone(), &mut stmts),
    };
    let mut func = maker.b.func;
    func.name = name.clone();
    func.results = vec![ResultDecl { name: None, ty }];
    func.body = Block { stmts, nl: vec![Atom::Var(result)], lin: vec![] };
    let id = derivatives.add_func(func);
    derivatives.erased.insert(id, id);
    derivatives.operations.insert(name, id);
    id
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
    b: FunctionBuilder,
    operation: Operation,
    factor: Option<NVar>,
}

impl Maker<'_> {
    fn var(&mut self, hint: &str, ty: &Type) -> NVar {
        self.b.nvar(hint, ty.clone(), Span::NONE)
    }

    fn push(&mut self, out: &mut Vec<Stmt>, nl: Vec<NVar>, rhs: Rhs) {
        let loc = Loc { span: Span::NONE, origin: Origin::Erase };
        out.push(Stmt { nl, lin: vec![], rhs, annotated: false, loc });
    }

    /// The operation on parts of the operands.
    fn apply(&mut self, ty: &Type, args: Vec<NVar>, out: &mut Vec<Stmt>) -> NVar {
        let args = self.factor.into_iter().chain(args).map(Atom::Var);
        let rhs = if ty.is_float() {
            Rhs::Prim(self.operation.primitive(), args.collect())
        } else {
            let func = function(self.derivatives, self.operation, ty);
            let mut all = Vec::new();
            ty.for_each_size(&mut |size| all.extend(size.as_var().map(Atom::Var)));
            all.extend(args);
            Rhs::Call(Box::new(Call { func, args: all, lin_args: vec![], places: vec![] }))
        };
        let z = self.var("z", ty);
        self.push(out, vec![z], rhs);
        z
    }
}

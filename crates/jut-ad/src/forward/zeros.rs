//! Zeros with the shape of a value, as non-linear values of its tangent type: where the derivative of a rule is taken.
//!
//! ```text
//! def List.zero(l: List) -> List.tan = case l {
//!   Nil -> List.tan.none
//!   Cons(x, rest) -> Cons.tan(0.0, List.zero(rest))
//! }
//! ```
//!
//! A rule takes a tangent apart by its constructors, and its derivative at one has the branch of the constructor that is there. So
//! the zero of a declared tangent type, which has no fields, would not do: it is `Cons.tan` where the value is `Cons`. For each
//! data type that holds such tangents there is one definition, made when it is first needed.
//!
//! *Requires*: tangent types that are declared. *Ensures*: a value whose floats are zero and whose constructors are those of the tangents
//! of the value. *Cost*: what the value holds.

use crate::Derivatives;
use crate::erase::has_data;
use jut_ir::build::FunctionBuilder;
use jut_ir::entity::EntityRef;
use jut_ir::tangent::Part;
use jut_ir::*;

/// Makes zeros in a definition.
pub(super) struct Zeros<'d, 'b> {
    pub derivatives: &'d mut Derivatives,
    pub b: &'b mut FunctionBuilder,
    pub loc: Loc,
}

impl Zeros<'_, '_> {
    /// The zero with the shape of a value; nothing where the value has no floats.
    pub fn like(&mut self, value: NVar, out: &mut Vec<Stmt>) -> Option<Atom> {
        let ty = self.b.func.nvars[value].ty.clone();
        let tangent = self.tangent(&ty)?;
        Some(match &ty {
            _ if !has_data(&tangent) => self.numbers(value, &ty, tangent, out),
            Type::Tuple(items) => {
                let parts: Vec<NVar> = items.iter().map(|ty| self.var("part", ty)).collect();
                self.push(parts.clone(), Rhs::Untuple(value), out);
                let parts = parts.into_iter().filter_map(|part| self.like(part, out));
                let made = Rhs::Tuple(parts.collect());
                self.named(&tangent, made, out)
            }
            Type::Array(_, element) => {
                let n = self.size(value, 0, out);
                let (index, element) = (self.var("i", &Type::I64), self.var("part", element));
                let mut stmts = Vec::new();
                let nl = self.like(element, &mut stmts).into_iter().collect();
                let body = Block { stmts, nl, lin: vec![] };
                let scan = Scan::new(Dir::Par, index, Atom::Var(n), body);
                let scan = Scan { slices: vec![(element, value)], ..scan };
                self.named(&tangent, Rhs::Scan(Box::new(scan)), out)
            }
            Type::Data(data) => {
                let func = self.of_data(*data, &tangent);
                let (args, lin_args, places) = (vec![Atom::Var(value)], vec![], vec![]);
                let call = Call { func, args, lin_args, places };
                self.named(&tangent, Rhs::Call(Box::new(call)), out)
            }
            _ => return None,
        })
    }

    fn tangent(&self, ty: &Type) -> Option<Type> {
        ty.tangent(&self.derivatives.program).ok().flatten()
    }

    fn var(&mut self, hint: &str, ty: &Type) -> NVar {
        self.b.nvar(hint, ty.clone(), self.loc.span)
    }

    fn push(&self, nl: Vec<NVar>, rhs: Rhs, out: &mut Vec<Stmt>) {
        out.push(Stmt { nl, lin: vec![], rhs, annotated: false, loc: self.loc });
    }

    fn named(&mut self, ty: &Type, rhs: Rhs, out: &mut Vec<Stmt>) -> Atom {
        let zero = self.var("z", ty);
        self.push(vec![zero], rhs, out);
        Atom::Var(zero)
    }

    /// The size of an array in a dimension.
    fn size(&mut self, array: NVar, dimension: u32, out: &mut Vec<Stmt>) -> NVar {
        let mut ty = &self.b.func.nvars[array].ty;
        let mut size = Size::default();
        for _ in 0..=dimension {
            let Type::Array(n, element) = ty else { break };
            (size, ty) = (n.clone(), element);
        }
        let n = self.b.size_var("n", size, self.loc.span);
        self.push(vec![n], Rhs::Size(array, dimension), out);
        n
    }

    /// A number, an array of arrays of numbers, or else a sum to which nothing is added.
    fn numbers(&mut self, like: NVar, ty: &Type, tangent: Type, out: &mut Vec<Stmt>) -> Atom {
        let (mut inner, mut dimensions) = (ty, 0);
        while let Type::Array(_, element) = inner {
            (inner, dimensions) = (element, dimensions + 1);
        }
        if !inner.is_float() {
            return self.nothing_added(&tangent, out);
        }
        let sizes: Vec<NVar> = (0..dimensions).map(|k| self.size(like, k, out)).collect();
        let (mut element, mut stmts) = (inner.clone(), vec![]);
        let mut result = Atom::Lit(ty.number(0.0));
        for n in sizes.into_iter().rev() {
            let index = self.var("i", &Type::I64);
            element = Type::array(self.b.func.size_of(Atom::Var(n)), element);
            let body = Block { stmts: std::mem::take(&mut stmts), nl: vec![result], lin: vec![] };
            let scan = Scan::new(Dir::Par, index, Atom::Var(n), body);
            result = self.named(&element, Rhs::Scan(Box::new(scan)), &mut stmts);
        }
        out.append(&mut stmts);
        result
    }

    fn nothing_added(&mut self, tangent: &Type, out: &mut Vec<Stmt>) -> Atom {
        let cap = self.b.cap("r", Mode::Acc, false, tangent.clone(), self.loc.span);
        self.named(tangent, Region::sum(Mode::Acc, cap, Block::default()), out)
    }

    /// The zero of a tangent without a value: the part of a constructor that a value does not have. Its arrays have constant sizes.
    fn absent(&mut self, tangent: &Type, out: &mut Vec<Stmt>) -> Atom {
        match tangent {
            Type::Float(_) => Atom::Lit(tangent.number(0.0)),
            Type::Data(data) => self.named(tangent, none(*data), out),
            Type::Tuple(items) if has_data(tangent) => {
                let items = items.iter().map(|ty| self.absent(ty, out));
                let made = Rhs::Tuple(items.collect());
                self.named(tangent, made, out)
            }
            Type::Array(size, element) if has_data(element) => {
                let Some(n) = size.as_constant() else { return self.nothing_added(tangent, out) };
                let (index, mut stmts) = (self.var("i", &Type::I64), Vec::new());
                let nl = vec![self.absent(element, &mut stmts)];
                let body = Block { stmts, nl, lin: vec![] };
                let scan = Scan::new(Dir::Par, index, Atom::Lit(Literal::I64(n)), body);
                self.named(tangent, Rhs::Scan(Box::new(scan)), out)
            }
            _ => self.nothing_added(tangent, out),
        }
    }

    /// The definition for a data type.
    fn of_data(&mut self, data: DataId, tangent: &Type) -> FuncId {
        if let Some(func) = self.derivatives.zeros.get(&data) {
            return *func;
        }
        let func =
            self.derivatives.reserve(&names::zero(&self.derivatives.program.datas[data].name));
        self.derivatives.zeros.insert(data, func);
        let mut b = FunctionBuilder::default();
        let loc = Loc { span: self.derivatives.program.datas[data].span, ..self.loc };
        let mut zeros = Zeros { derivatives: &mut *self.derivatives, b: &mut b, loc };
        let value = zeros.var("x", &Type::Data(data));
        let count = zeros.derivatives.program.datas[data].constructors.len();
        let arms = (0..count as u32).map(|index| zeros.arm(ConRef { data, index }, tangent));
        let case = Case { scrutinee: Atom::Var(value), arms: arms.collect() };
        let mut stmts = Vec::new();
        let zero = zeros.named(tangent, Rhs::Case(Box::new(case)), &mut stmts);
        b.func.params.push(value);
        b.func.results.push(ResultDecl { name: None, ty: tangent.clone() });
        b.func.body = Block { stmts, nl: vec![zero], lin: vec![] };
        let made = Function { span: loc.span, derived: true, ..b.func };
        self.derivatives.complete(func, made)
    }

    /// The zero with the shape of a value that `con` has made.
    fn arm(&mut self, con: ConRef, tangent: &Type) -> Arm {
        let declared = self.derivatives.program.constructor(con).fields.clone();
        let mut fields: Vec<NVar> = Vec::new();
        for field in &declared {
            let at = |v: NVar| fields.get(v.index()).map(|v| Size::var(*v));
            let ty = field.ty.subst(&mut { at });
            fields.push(self.var(&field.name, &ty));
        }
        let mut stmts = Vec::new();
        let rhs = match tangent {
            Type::Data(data) => match self.derivatives.program.tangent_constructor(con) {
                None => none(*data),
                Some(made_by) => {
                    let parts = self.derivatives.program.tangent_parts(con).into_iter();
                    let args = parts.zip(&fields).filter_map(|(part, field)| match part {
                        Part::Absent => None,
                        Part::Size => Some(Atom::Var(*field)),
                        Part::Tangent => self.like(*field, &mut stmts),
                    });
                    Rhs::Con(made_by, args.collect())
                }
            },
            _ => Rhs::Tuple(self.of_all_constructors(con, &fields, &mut stmts)),
        };
        let nl = vec![self.named(tangent, rhs, &mut stmts)];
        let fields = fields.into_iter().map(FieldPattern::Bind).collect();
        let body = Block { stmts, nl, lin: vec![] };
        Arm { pattern: ArmPattern::Con(con), fields, proved: false, body }
    }

    /// What the tangent of a sum has that is written out: parts for all constructors.
    fn of_all_constructors(
        &mut self,
        con: ConRef,
        fields: &[NVar],
        out: &mut Vec<Stmt>,
    ) -> Vec<Atom> {
        let all = self.derivatives.program.datas[con.data].constructors.clone();
        let mut parts = Vec::new();
        for (index, other) in all.iter().enumerate() {
            if index == con.index as usize {
                parts.extend(fields.iter().filter_map(|field| self.like(*field, out)));
                continue;
            }
            for field in &other.fields {
                if let Some(tangent) = self.tangent(&field.ty) {
                    parts.push(self.absent(&tangent, out));
                }
            }
        }
        parts
    }
}

/// Zero, of any shape.
fn none(tangent: DataId) -> Rhs {
    Rhs::Con(ConRef { data: tangent, index: 0 }, Vec::new())
}

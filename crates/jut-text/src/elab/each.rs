//! Operators and functions of numbers, element by element.
//!
//! Where an operand of `+`, `exp`, `<`, .. is an array, the operation is for each element, and numbers beside arrays
//! are the same for all. A whole expression is one loop, however many operations it has:
//!
//! ```text
//! y = 2.0 * exp(x) + z        y = scan par (i < n) slice (v <- x, v_1 <- z) { .. }
//! ```
//!
//! So an operation on arrays is not made at once. It is kept as a program for one element ([`Each`]), which grows with
//! the operations around it, and becomes a loop where something else needs the array. Arrays have equal sizes in all
//! dimensions; a matrix is a loop over rows with a loop over their elements in it.
//!
//! Cost: linear in the expression, and one loop for each dimension.

use super::body::Body;
use super::head::Head;
use super::made::{Each, Elements, Function, Item, Lazy, Made, Operand, Out, Value, Values};
use super::{Res, Stop};
use crate::ast::{ExprId, ExprKind, Name};
use jut_ir::hash::{HashMap, HashSet};
use jut_ir::prim::{Prim, Syntax};
use jut_ir::{Atom, Check, Diagnostic, Dir, NVar, Scan, Size, Span, Type};

impl<'a, 's> Body<'a, 's> {
    // ---- operands

    /// An operand, whose elements are not computed yet if it is an operation on arrays.
    pub(super) fn each_operand(&mut self, e: ExprId) -> Res<Operand<'s>> {
        if self.strict {
            return Ok(Operand::Value(self.operand(e, "t")?));
        }
        let ast = self.ast;
        let expr = ast.expr(e);
        let lazy = match &expr.kind {
            ExprKind::Ops(ops) => self.operators(ops, expr.span)?,
            ExprKind::Call(call) => self.call(call, expr.span)?,
            _ => return Ok(Operand::Value(self.operand(e, "t")?)),
        };
        match lazy {
            Lazy::Each(each) => Ok(Operand::Each(each)),
            Lazy::Made(made) => Ok(Operand::Value(self.one_value(made, "t")?)),
        }
    }

    /// The expression; its loop, if it is for each element.
    pub(super) fn made(&mut self, lazy: Lazy<'s>) -> Res<Made> {
        match lazy {
            Lazy::Made(made) => Ok(made),
            Lazy::Each(each) => Ok(self.spread(&each)?.into()),
        }
    }

    /// The value of an operand; its loop, if it is for each element.
    pub(super) fn forced(&mut self, operand: Operand<'s>) -> Res<Value> {
        match operand {
            Operand::Value(value) => Ok(value),
            Operand::Each(each) => {
                let out = self.spread(&each)?;
                self.bind(out, &[], &[])?.nl.first().map(|a| Value::N(*a)).ok_or(Stop)
            }
        }
    }

    /// Whether an operation on these is for each element.
    pub(super) fn is_for_each(&self, operands: &[(Operand<'s>, Span)]) -> bool {
        let linear = |(o, _): &(Operand, Span)| matches!(o, Operand::Value(Value::L(_)));
        let array = |(o, _): &(Operand, Span)| match o {
            Operand::Each(_) => true,
            Operand::Value(Value::N(a)) => self.is_array_of_scalars(*a),
            Operand::Value(Value::L(_)) => false,
        };
        !self.strict && operands.iter().any(array) && !operands.iter().any(linear)
    }

    fn is_array_of_scalars(&self, atom: Atom) -> bool {
        let ty = self.type_of(atom);
        let mut inner = &ty;
        while let Type::Array(_, element) = inner {
            inner = element;
        }
        matches!(ty, Type::Array(..)) && (inner.is_scalar() || self.is_complex(inner))
    }

    /// A non-linear operand as a program for one element.
    pub(super) fn as_each(&mut self, operand: Operand<'s>, span: Span) -> Res<Each<'s>> {
        let atom = match operand {
            Operand::Each(each) => return Ok(each),
            Operand::Value(Value::N(atom)) => atom,
            Operand::Value(Value::L(_)) => return Err(Stop),
        };
        let (mut dims, mut element) = (Vec::new(), self.type_of(atom));
        while let Type::Array(size, inner) = element {
            dims.push(size);
            element = *inner;
        }
        let item = match atom {
            Atom::Var(v) if !dims.is_empty() => Item::Array(v),
            _ => Item::Scalar(atom),
        };
        Ok(Each { code: vec![item], dims, element, span })
    }

    /// A function of operands, for each element.
    pub(super) fn for_each(
        &mut self,
        function: Function<'s>,
        operands: Vec<(Operand<'s>, Span)>,
        span: Span,
    ) -> Res<Each<'s>> {
        let arity = operands.len();
        let mut parts = Vec::new();
        for (operand, at) in operands {
            parts.push(self.as_each(operand, at)?);
        }
        for narrow in [Type::F32, Type::I32] {
            if parts.iter().any(|part| part.element == narrow) {
                parts.iter_mut().for_each(|part| part.fit(&narrow));
            }
        }
        let types: Vec<Type> = parts.iter().map(|part| part.element.clone()).collect();
        let element = self.element_type(function, &types, span)?;
        let mut parts = parts.into_iter();
        let Some(mut whole) = parts.next() else { return Err(Stop) };
        for part in parts {
            if whole.dims.is_empty() {
                whole.dims = part.dims;
            } else if !part.dims.is_empty() && whole.dims != part.dims {
                return self.other_shape(&whole, &part, function.text());
            }
            whole.code.extend(part.code);
        }
        whole.code.push(Item::Apply(function, arity, span));
        Ok(Each { element, span, ..whole })
    }

    fn element_type(&mut self, function: Function<'s>, types: &[Type], span: Span) -> Res<Type> {
        if let Some(ty) = self.complex_result(function, types) {
            return Ok(ty);
        }
        let found = match (function, types) {
            (Function::Infix("^"), [x, Type::I64 | Type::I32]) => Some(x.clone()),
            (Function::Infix("^"), _) => Prim::resolve("pow", Syntax::Call, types).map(result),
            (Function::Infix(op), _) => Prim::resolve(op, Syntax::Infix, types).map(result),
            (Function::Prefix(op), _) => Prim::resolve(op, Syntax::Prefix, types).map(result),
            (Function::Call(text), _) => Prim::resolve(text, Syntax::Call, types).map(result),
        };
        if let Some(ty) = found.or_else(|| narrow_type(function, types)) {
            return Ok(ty);
        }
        let shown: Vec<String> = types.iter().map(|ty| self.show(ty)).collect();
        let message = format!(
            "`{}` does not work on elements of type {}",
            function.text(),
            shown.join(" and ")
        );
        let integer = |ty: &Type| matches!(ty, Type::I64 | Type::I32);
        let help = match types.iter().any(integer) && types.iter().any(Type::is_float) {
            true => "write `2.0` for `2`, or convert: `f64(k)` works on whole arrays too",
            false => "give it numbers, or arrays of numbers, of the types that it works on",
        };
        self.error("J202", span, message, help)
    }

    fn other_shape<T>(&mut self, a: &Each, b: &Each, what: &str) -> Res<T> {
        let shape =
            |body: &Self, each: &Each| body.show(&array_of(&each.dims, each.element.clone()));
        let (first, second) = (shape(self, a), shape(self, b));
        let message =
            format!("`{what}` of arrays of types {first} and {second}: their sizes differ");
        let help = match a.dims.len() == b.dims.len() {
            true => format!("`cast x : {first}` tests at run time that the sizes are equal"),
            false => {
                "repeat the smaller one, `repeat_row(x, n)`, or write the loop: `build (i < n, j < m) { .. }`"
                    .to_string()
            }
        };
        let error = Diagnostic::error("J209", b.span, message).help(help);
        self.fail(error.label(a.span, "the other one"))
    }

    // ---- loops

    /// The array, by loops.
    fn spread(&mut self, each: &Each<'s>) -> Res<Out> {
        let elements = each.arrays();
        self.spread_rows(each, elements, &each.dims)
    }

    fn spread_rows(&mut self, each: &Each<'s>, outer: Elements, dims: &[Size]) -> Res<Out> {
        let span = each.span;
        let Some((size, inner)) = dims.split_first() else { return Err(Stop) };
        let head = self.head_of(&outer, size, span)?;
        let open = self.enter_loop(None, span);
        let locals = open.locals;
        let result = self.begin(Dir::Par, &head, span).and_then(|scan| {
            let elements = elements_of(&outer, &scan);
            let value = if inner.is_empty() {
                self.element(each, &elements)?
            } else {
                let out = self.spread_rows(each, elements, inner)?;
                self.bind(out, &[], &[])?.nl.first().copied().ok_or(Stop)?
            };
            Ok((scan, Values { nl: vec![value], lin: Vec::new() }))
        });
        let stmts = self.leave(open);
        let (scan, values) = result?;
        if !self.facts.is_plainly_non_negative(size) {
            self.emit(jut_ir::Rhs::Check(Check::NonNegative(head.bound)), span)?;
        }
        self.looped(scan, stmts, values, locals, span, span)
    }

    /// The head of a loop over the elements, or rows, of arrays.
    pub(super) fn head_of(&mut self, arrays: &Elements, size: &Size, span: Span) -> Res<Head<'s>> {
        let bound = self.materialize(size, span)?;
        let mut slices = Vec::new();
        for (_, array) in arrays {
            let Type::Array(_, element) = &self.b.func.nvars[*array].ty else { return Err(Stop) };
            slices.push((Name { text: "v", span }, *array, (**element).clone()));
        }
        let (size, lin_slices) = (size.clone(), Vec::new());
        Ok(Head { index: None, order: Dir::Up, bound, size, slices, lin_slices })
    }

    /// Computes one element.
    pub(super) fn element(&mut self, each: &Each<'s>, elements: &Elements) -> Res<Atom> {
        let at: HashMap<NVar, NVar> = elements.iter().copied().collect();
        let mut stack: Vec<Atom> = Vec::new();
        for item in &each.code {
            let value = match item {
                Item::Scalar(atom) => *atom,
                Item::Array(array) => Atom::Var(at.get(array).copied().ok_or(Stop)?),
                Item::Apply(function, arity, span) => {
                    let args = stack.split_off(stack.len().saturating_sub(*arity));
                    let out = self.apply_to(*function, args, *span)?;
                    self.bind(out, &[], &[])?.nl.first().copied().ok_or(Stop)?
                }
            };
            stack.push(value);
        }
        stack.pop().ok_or(Stop)
    }

    fn apply_to(&mut self, function: Function<'s>, args: Vec<Atom>, span: Span) -> Res<Out> {
        if let Some(out) = self.complex(function, &args, span)? {
            return Ok(out);
        }
        match (function, args.as_slice()) {
            (Function::Infix(op), [a, b]) => self.binary(op, Value::N(*a), Value::N(*b), span),
            (Function::Infix(_), _) => Err(Stop),
            (Function::Prefix(op), _) => self.primitive(op, Syntax::Prefix, args, span),
            (Function::Call(text), _) => self.primitive(text, Syntax::Call, args, span),
        }
    }
}

impl Each<'_> {
    /// A number without a type of its own becomes one of 32 bits.
    fn fit(&mut self, narrow: &Type) {
        if let [Item::Scalar(atom)] = self.code.as_mut_slice() {
            *atom = super::narrow::fitted(*atom, narrow);
            if let Atom::Lit(literal) = atom {
                self.element = literal.ty();
            }
        }
    }

    /// The arrays that it is made of, each once.
    pub fn arrays(&self) -> Elements {
        let mut seen = HashSet::default();
        let arrays = self.code.iter().filter_map(|item| match item {
            Item::Array(v) => Some(*v),
            _ => None,
        });
        arrays.filter(|v| seen.insert(*v)).map(|v| (v, v)).collect()
    }
}

/// What stands for arrays in the body of a loop over their elements.
pub(super) fn elements_of(arrays: &Elements, scan: &Scan) -> Elements {
    arrays.iter().zip(&scan.slices).map(|((array, _), (element, _))| (*array, *element)).collect()
}

/// The type of a function of elements of 32 bits.
fn narrow_type(function: Function<'_>, types: &[Type]) -> Option<Type> {
    match (function, types) {
        (Function::Infix("^"), _) => super::narrow::result("pow", Syntax::Call, types),
        (Function::Infix(op), _) => super::narrow::result(op, Syntax::Infix, types),
        (Function::Prefix(op), _) => super::narrow::result(op, Syntax::Prefix, types),
        (Function::Call(text), _) => super::narrow::result(text, Syntax::Call, types),
    }
}

fn result(p: Prim) -> Type {
    p.row().result.ty()
}

/// An array type of sizes.
pub(super) fn array_of(dims: &[Size], element: Type) -> Type {
    dims.iter().rev().fold(element, |ty, size| Type::array(size.clone(), ty))
}

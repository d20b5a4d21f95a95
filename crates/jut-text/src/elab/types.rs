//! Written types and sizes, and sizes put into types.
//!
//! A size is a polynomial in i64 names; it is evaluated to its normal form over opaque names at
//! once. Polynomials grow when they are put into each other: what gets too long to carry along is
//! refused (J215), so that elaboration never takes more than linear time.

use super::body::Body;
use super::record::sizes_text;
use super::scope::Entity;
use super::{Res, Stop};
use crate::ast::{self, ExprId, ExprKind, Op, Post, TypeKind};
use crate::standard::COMPLEX;
use jut_ir::{Atom, Diagnostic, NVar, Program, Size, Span, Type};
use std::borrow::Cow;

/// When sizes are put into a type: a polynomial with more terms, or a longer product, is refused.
const MAX_TERMS: usize = 256;
const MAX_DEGREE: usize = 64;

impl<'a, 's> Body<'a, 's> {
    /// A type with sizes put in for names. Polynomials that would be too large to handle are
    /// refused (J215).
    pub fn put(&mut self, ty: &Type, map: &dyn Fn(NVar) -> Option<Size>, span: Span) -> Res<Type> {
        let mut fits = true;
        ty.for_each_size(&mut |size| {
            let mut total = 0usize;
            for (names, _) in size.terms() {
                let (mut terms, mut degree) = (1usize, 0usize);
                for name in names {
                    let value = map(*name).unwrap_or_else(|| Size::var(*name));
                    terms = terms.saturating_mul(value.terms().len().max(1));
                    degree += value.terms().iter().map(|(n, _)| n.len()).max().unwrap_or(0);
                }
                total = total.saturating_add(terms);
                fits &= degree <= MAX_DEGREE;
            }
            fits &= total <= MAX_TERMS;
        });
        if fits {
            return Ok(ty.subst(&mut |v| map(v)));
        }
        self.long_size(span)
    }

    fn long_size<T>(&mut self, span: Span) -> Res<T> {
        let message = "a size here is too long a polynomial in the names it is made of";
        let help = "shorten it with a name of its own: a result of a call, or `max(n, 0)`";
        self.fail(Diagnostic::error("J215", span, message).help(help))
    }

    /// A written type.
    pub fn ty(&mut self, ty: &ast::Type<'s>) -> Res<Type> {
        match &ty.kind {
            TypeKind::Name("f64") => Ok(Type::F64),
            TypeKind::Name("f32") => Ok(Type::F32),
            TypeKind::Name("i64") => Ok(Type::I64),
            TypeKind::Name("i32") => Ok(Type::I32),
            TypeKind::Name("bool") => Ok(Type::Bool),
            TypeKind::Name(name) => {
                if self.globals.is_poisoned(name) {
                    return Err(Stop);
                }
                if let Some(alias) = self.globals.alias(name) {
                    return self.alias_type(name, alias, &[], ty.span);
                }
                if let Some(data) = self.globals.data(name) {
                    // Types of data hold each other in any order; a definition needs to know what they are.
                    let known = !self.program.datas[data].name.is_empty();
                    if !known && !self.b.func.name.is_empty() {
                        let message = format!("`{name}` is declared further down");
                        let help = "move the definition up: a type stands before what has it";
                        return self.error("J010", ty.span, message, help);
                    }
                    // In the core the name alone is the type of the mark.
                    if !self.strict
                        && let Some(sizes) = self.globals.sized.get(&data)
                    {
                        let message = format!("the type `{name}` has {sizes} size(s)");
                        let help =
                            format!("give them in brackets: `{name}[{}]`", sizes_text(*sizes));
                        return self.error("J208", ty.span, message, help);
                    }
                    return Ok(Type::Data(data));
                }
                if let ("c64", false, Some(data)) =
                    (*name, self.strict, self.globals.module_data(COMPLEX, name))
                {
                    return Ok(Type::Data(data));
                }
                let known = self.globals.visible_datas();
                let near = super::show::nearest(
                    name,
                    known.chain(["f64", "f32", "i64", "i32", "bool"].map(Cow::Borrowed)),
                );
                let mut error =
                    Diagnostic::error("J010", ty.span, format!("there is no type `{name}`"));
                if let Some(help) = crate::hints::type_name(name) {
                    error = crate::hints::about(error, name, help);
                } else if let Some(near) = near {
                    error = error.did_you_mean(near);
                } else {
                    error = error.help(format!("declare it above: `data {name} = {name}(x: f64)`"));
                }
                self.fail(error)
            }
            TypeKind::Sized(name, sizes) => self.record_type(name, sizes, ty.span),
            TypeKind::Function(..) => {
                let message = "a function is the type of a parameter of a definition alone";
                let help = "give it as an argument: values, fields and results are no functions";
                self.error("J608", ty.span, message, help)
            }
            TypeKind::Tuple(items) => {
                let mut types = Vec::new();
                for item in items {
                    types.push(self.ty(item)?);
                }
                Ok(Type::Tuple(types))
            }
            TypeKind::Array(sizes, element) => {
                let mut list = Vec::new();
                for size in sizes {
                    list.push(self.size(*size)?);
                }
                let element = self.ty(element)?;
                Ok(list.into_iter().rev().fold(element, |t, size| Type::array(size, t)))
            }
        }
    }

    /// A written type of linear values: floats, declared tangent types, tuples and arrays of these.
    pub fn linear_type(&mut self, ty: &ast::Type<'s>) -> Res<Type> {
        fn is_linear(program: &Program, ty: &Type) -> bool {
            match ty {
                Type::Float(_) => true,
                Type::Tuple(items) => items.iter().all(|ty| is_linear(program, ty)),
                Type::Array(_, element) => is_linear(program, element),
                Type::Data(data) => program.is_tangent(*data),
                Type::I64 | Type::I32 | Type::Bool => false,
            }
        }
        let t = self.ty(ty)?;
        if is_linear(self.program, &t) {
            return Ok(t);
        }
        let message = format!("{} is not a type of linear values", self.show(&t));
        let help = "linear values are made of f64, tuples `#(..)` and arrays";
        self.fail(Diagnostic::error("J202", ty.span, message).help(help))
    }

    /// The value of an i64 constant that is known.
    fn integer_constant(&self, name: &str) -> Option<i64> {
        match self.globals.constant(name) {
            Some((_, Some(jut_ir::Literal::I64(k)))) if !self.strict => Some(k),
            _ => None,
        }
    }

    /// What is wrong with a constant that stands in a size and is no known integer.
    fn no_integer<T>(&mut self, name: &str, span: Span) -> Res<T> {
        let declared = self.globals.declared_at(name);
        let func = self.globals.constant(name).map(|(func, _)| func);
        let ty = func.and_then(|func| self.program.funcs[func].results.first());
        let (message, help) = match ty.map(|result| result.ty.clone()) {
            Some(Type::I64) => (
                format!("the constant `{name}` has no value that is known before the program runs"),
                "a constant in a size is a number, or made of numbers with `+`, `-` and `*`",
            ),
            _ => (
                format!("the constant `{name}` is not an i64"),
                "declare it as one: `const n: i64 = 3`",
            ),
        };
        let error = Diagnostic::error("J215", span, message).help(help);
        self.fail(match declared {
            Some(place) => error.label(place, "declared here"),
            None => error,
        })
    }

    /// `geo.n`: a constant of a module, as a size.
    fn size_of_module(&mut self, base: ExprId, steps: &[Post<'s>], span: Span) -> Res<Size> {
        let ast = self.ast;
        let ExprKind::Name(first) = &ast.expr(base).kind else { return self.no_size(span) };
        match self.scope.get(first.text) {
            Some(Entity::Poison) => return Err(Stop),
            Some(_) => return self.no_size(span),
            None if self.strict => return self.no_size(span),
            None => {}
        }
        let mut path = first.text.to_string();
        for step in steps {
            let Post::Field(name) = step else { return self.no_size(span) };
            path = format!("{path}.{}", name.text);
        }
        if self.globals.is_poisoned(&path) {
            return Err(Stop);
        }
        if let Some(n) = self.integer_constant(&path) {
            return Ok(Size::constant(n));
        }
        if self.globals.constant(&path).is_some() {
            return self.no_integer(&path, span);
        }
        let message = format!("the size `{path}` is not in scope");
        let error = Diagnostic::error("J203", span, message);
        let help = match self.globals.module_to_use(&path) {
            Some(help) => help,
            None => format!(
                "declare it there: `const {}: i64 = ..`",
                path.rsplit('.').next().unwrap_or(&path)
            ),
        };
        self.fail(error.help(help))
    }

    /// A written size.
    pub fn size(&mut self, e: ExprId) -> Res<Size> {
        let ast = self.ast;
        let expr = ast.expr(e);
        match &expr.kind {
            ExprKind::Int(n) => match i64::try_from(*n) {
                Ok(n) => Ok(Size::constant(n)),
                Err(_) => {
                    let help = "the largest size is 9223372036854775807";
                    self.error("J215", expr.span, "the size is too large", help)
                }
            },
            ExprKind::Name(name) => match self.scope.get(name.text) {
                Some(Entity::N(a)) => {
                    let known = !matches!(a, Atom::Var(v) if Size::position_of(v).is_some());
                    if known && self.type_of(a) != Type::I64 {
                        let message = format!("the size `{}` is not an i64", name.text);
                        let help = format!(
                            "declare it as one, `{0}: i64`, or in brackets: `def f[{0}](..)`",
                            name.text
                        );
                        return self.error("J201", name.span, message, help);
                    }
                    Ok(self.nf(a))
                }
                Some(Entity::Poison) => Err(Stop),
                None if self.integer_constant(name.text).is_some() => {
                    Ok(Size::constant(self.integer_constant(name.text).unwrap_or_default()))
                }
                None if !self.strict && self.globals.is_poisoned(name.text) => Err(Stop),
                None if !self.strict && self.globals.constant(name.text).is_some() => {
                    self.no_integer(name.text, name.span)
                }
                _ => {
                    let message = format!("the size `{}` is not in scope", name.text);
                    let mut error = Diagnostic::error("J203", name.span, message);
                    if let Some(near) = super::show::nearest(name.text, self.scope.names()) {
                        error = error.did_you_mean(near);
                    } else {
                        error = error.help(format!(
                            "name it in brackets: `def f[{0}](x: [{0}]f64)`",
                            name.text
                        ));
                    }
                    self.fail(error)
                }
            },
            ExprKind::Ops(ops) => self.size_operators(ops, expr.span),
            ExprKind::Post(base, steps) => self.size_of_module(*base, steps, expr.span),
            _ => self.no_size(expr.span),
        }
    }

    fn no_size<T>(&mut self, span: Span) -> Res<T> {
        let message = "a size is made of i64 names and integers with `+`, `-` and `*`";
        let help = "bind the value to a name in the body, `m = ..`, and use `m`; in the lists of a \
                    definition name the size itself: `def f[m](x: [m]f64)`";
        self.fail(Diagnostic::error("J215", span, message).help(help))
    }

    fn size_operators(&mut self, ops: &[Op], span: Span) -> Res<Size> {
        let mut stack: Vec<Size> = Vec::new();
        for op in ops {
            let size = match op {
                Op::Operand(e) => Some(self.size(*e)?),
                Op::Unary("-", _) => Some(-stack.pop().unwrap_or_default()),
                Op::Binary(op @ ("+" | "-" | "*"), _) => {
                    let b: Size = stack.pop().unwrap_or_default();
                    let a: Size = stack.pop().unwrap_or_default();
                    match *op {
                        "+" => a.checked_add(&b),
                        "-" => a.checked_sub(&b),
                        _ => a.checked_mul(&b),
                    }
                }
                Op::Unary(_, at) | Op::Binary(_, at) => return self.no_size(*at),
            };
            match size {
                Some(size) => stack.push(size),
                None => return self.long_size(span),
            }
        }
        Ok(stack.pop().unwrap_or_default())
    }
}

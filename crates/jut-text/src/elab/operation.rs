//! Expressions: operators, primitives, tuples, casts, and the linear operations.
//!
//! A chain of operators arrives in postfix order and is run like a stack machine: operands are
//! elaborated from left to right, every operator but the last is bound to a temporary. The last
//! one is left to whoever asked.
//!
//! **What is linear** is decided one operation at a time, as in the paper's type system: `+`,
//! unary `-`, scaling by a non-linear factor, `select`. `(x' * x') / x'` is therefore refused (J104)
//! although its value is `x'`.

use super::body::Body;
use super::effect;
use super::fit::same_shape;
use super::join::JOINS;
use super::library::LIBRARY;
use super::made::{Annotation, Function, Lazy, Made, Operand, Out, Value, Values};
use super::scope::Entity;
use super::{Res, Stop};
use crate::ast::{self, ExprId, ExprKind, Op};
use jut_ir::prim::{Prim, Syntax};
use jut_ir::{
    Atom, Diagnostic, LVar, Literal, Rhs, Size, Span, Structured, TapePolicy, Type, prim,
};

/// Whether a call of this name is a call of a primitive.
pub(crate) fn is_primitive(name: &str) -> bool {
    name == "size"
        || JOINS.contains(&name)
        || LIBRARY.contains(&name)
        || Structured::find(name).is_some()
        || Prim::all().any(|p| p.row().syntax == Syntax::Call && p.row().text == name)
}

/// How many operands a primitive takes that is called by its name.
pub(super) fn operands_of(name: &str) -> usize {
    let scalar = Prim::overloads(name, Syntax::Call).first().map(|p| p.row().params.len());
    let structured = || Structured::find(name).map(|s| s.row().params.len());
    // Others are of one array.
    scalar.or_else(structured).unwrap_or(1)
}

/// Names of primitives that are called.
pub(crate) fn primitive_names<'x>() -> impl Iterator<Item = &'x str> {
    let prims = Prim::all().filter(|p| p.row().syntax == Syntax::Call).map(|p| p.row().text);
    prims.chain(Structured::all().map(|s| s.row().name)).chain(JOINS).chain(LIBRARY)
}

impl<'a, 's> Body<'a, 's> {
    /// Elaborates an expression up to the last operation. `stated` are the types that the
    /// pattern gives its results.
    pub fn rhs(&mut self, e: ExprId, stated: Option<&Annotation>) -> Res<Made> {
        let around = self.around;
        if effect::has_blocks(&self.ast.expr(e).kind) {
            self.around = Some(e);
        }
        let before = self.stmts.len();
        let mut made = self.rhs_here(e, stated);
        self.around = around;
        let tape = self.ast.expr(e).tape;
        if let (Ok(made), true) = (&mut made, tape != TapePolicy::Free) {
            self.with_policy(tape, made, before, self.span(e))?;
        }
        made
    }

    fn rhs_here(&mut self, e: ExprId, stated: Option<&Annotation>) -> Res<Made> {
        let ast = self.ast;
        let expr = ast.expr(e);
        let span = expr.span;
        match &expr.kind {
            ExprKind::Name(name) => self.name_value(name).map(|v| Made::Values(v.into(), span)),
            ExprKind::Ops(ops) => {
                let lazy = self.operators(ops, span)?;
                self.made(lazy)
            }
            ExprKind::Post(base, steps) => self.post(*base, steps, span),
            ExprKind::Call(call) => {
                let lazy = self.call(call, span)?;
                self.made(lazy)
            }
            ExprKind::Derived(derived) => self.call_derived(derived, span),
            ExprKind::Lambda(_) => self.no_value(span),
            ExprKind::List(nl, lin) => {
                let help = "write one statement for each value";
                self.surface_only(span, "a list of values here", help)?;
                Ok(Made::Values(self.list(nl, lin)?, span))
            }
            ExprKind::Block(_) => {
                self.surface_only(span, "a block as a value", "write its statements one by one")?;
                let (values, span) = self.body(e, stated)?;
                Ok(Made::Values(values, span))
            }
            ExprKind::Tuple(items) => self.tuple(items, span),
            ExprKind::Array(items) => self.array(items, span),
            ExprKind::If(chain) => {
                self.surface_only(span, "`if`", "write `case c { true -> ..; false -> .. }`")?;
                self.if_expr(chain, stated, span)
            }
            ExprKind::Case(scrutinee, arms) => self.case(*scrutinee, arms, stated, span),
            ExprKind::Loop(l) => self.range_loop(l, span),
            ExprKind::Scan(scan) => self.scan(scan, span),
            ExprKind::Hist(hist) => self.histogram(hist, span),
            ExprKind::Read(read) => self.read_region(read, span),
            ExprKind::Total(total) => self.total(total, span),
            ExprKind::Cast { proved, value, ty } => self.cast(*proved, *value, ty, span),
            ExprKind::WithField(record, field, value) => {
                self.with_field(*record, field, *value, span)
            }
            ExprKind::With(with) => self.with(with, span),
            _ => self.leaf(&expr.kind, span),
        }
    }

    /// Literals and the linear operations that have a keyword. (Apart from [`Body::rhs`], which
    /// nested expressions go through again and again: its stack frame should be small.)
    fn leaf(&mut self, kind: &'a ExprKind<'s>, span: Span) -> Res<Made> {
        match kind {
            ExprKind::Int(n) => {
                let atom = self.int(*n, false, span)?;
                Ok(Made::Values(Value::N(atom).into(), span))
            }
            ExprKind::Float(x) => Ok(literal(Literal::F64(*x), span)),
            ExprKind::Single(x) => Ok(literal(Literal::F32(*x), span)),
            ExprKind::Narrow(n) => {
                let atom = self.narrow_int(*n, false, span)?;
                Ok(Made::Values(Value::N(atom).into(), span))
            }
            ExprKind::Bool(x) => Ok(literal(Literal::Bool(*x), span)),
            ExprKind::Rd(target) => {
                let (place, ty, mode) = self.place(*target)?;
                if mode != jut_ir::Mode::Rd {
                    let message = "`rd` needs a capability of mode `rd`";
                    let help = format!(
                        "this is a `{}`: add into it with `+=`; what it collects is the value of its block",
                        mode.keyword()
                    );
                    return self.error("J111", self.span(*target), message, help);
                }
                Ok(Out::linear(Rhs::Rd(place), ty, span).into())
            }
            ExprKind::Dup(value) => {
                let x = self.linear(*value, "t")?;
                let ty = self.lin_type(x);
                Ok(Out { lin: vec![ty; 2], ..Out::none(Rhs::Dup(x), span) }.into())
            }
            ExprKind::Drop(value) => match self.operand(*value, "t")? {
                Value::L(x) => {
                    self.effects += 1;
                    Ok(Out::none(Rhs::Drop(x), span).into())
                }
                Value::N(_) => Ok(Made::Values(Values::default(), span)),
            },
            ExprKind::Take(x, path) => self.take(*x, path, span),
            ExprKind::Zero(ty) => {
                let ty = self.linear_type(ty)?;
                Ok(Out::linear(Rhs::LZero(ty.clone()), ty, span).into())
            }
            _ => Err(Stop),
        }
    }

    /// The value of a name.
    fn name_value(&mut self, name: &ast::Name<'s>) -> Res<Value> {
        match self.lookup(name)? {
            Entity::N(a) => {
                let written = match a {
                    Atom::Var(v) => self.being_written(v),
                    Atom::Lit(_) => None,
                };
                match written {
                    Some(written) => self.written_part(written, name.span).map(Value::N),
                    None => Ok(Value::N(a)),
                }
            }
            Entity::L(x) => {
                if (x.as_u32() as usize) < self.barrier {
                    let message = format!("`{}` is linear, and a loop cannot use it up", name.text);
                    let help = format!(
                        "read it in every iteration: `rd r = {} {{ .. rd r .. }}` around the loop",
                        name.text
                    );
                    return self.fail(Diagnostic::error("J103", name.span, message).help(help));
                }
                Ok(Value::L(x))
            }
            Entity::C(_) => {
                let message = format!("`{}` is a capability, not a value", name.text);
                let help = format!("read from it with `rd {0}`, add with `{0} += ..`", name.text);
                self.fail(Diagnostic::error("J111", name.span, message).help(help))
            }
            Entity::F(_) => self.no_value(name.span),
            Entity::Poison => Err(Stop),
        }
    }

    fn int(&mut self, magnitude: u64, negative: bool, span: Span) -> Res<Atom> {
        let value = if negative {
            0i64.checked_sub_unsigned(magnitude)
        } else {
            i64::try_from(magnitude).ok()
        };
        match value {
            Some(value) => Ok(Atom::Lit(Literal::I64(value))),
            None => {
                let help = "the largest i64 is 9223372036854775807; for an f64 put `.0` behind";
                let error = Diagnostic::error("J001", span, "the number is too large for an i64");
                self.fail(error.help(help))
            }
        }
    }

    fn narrow_int(&mut self, magnitude: u32, negative: bool, span: Span) -> Res<Atom> {
        let value = match negative {
            true => 0i32.checked_sub_unsigned(magnitude),
            false => i32::try_from(magnitude).ok(),
        };
        let Some(value) = value else {
            let help = "the largest i32 is 2147483647; leave the suffix out for an i64";
            let error = Diagnostic::error("J001", span, "the number is too large for an i32");
            return self.fail(error.help(help));
        };
        Ok(Atom::Lit(Literal::I32(value)))
    }

    /// The literal `-x`, if an operand directly before a `-` is one.
    fn negative(&mut self, e: ExprId) -> Res<Option<Atom>> {
        let expr = self.ast.expr(e);
        Ok(match expr.kind {
            ExprKind::Int(n) => Some(self.int(n, true, expr.span)?),
            ExprKind::Float(x) => Some(Atom::Lit(Literal::F64(-x))),
            ExprKind::Single(x) => Some(Atom::Lit(Literal::F32(-x))),
            ExprKind::Narrow(n) => Some(self.narrow_int(n, true, expr.span)?),
            _ => None,
        })
    }

    /// Whether operators are just a literal behind one `-`.
    pub fn negated_literal(&self, ops: &[Op]) -> bool {
        match ops {
            [Op::Operand(e), Op::Unary("-", _)] => {
                matches!(
                    self.ast.expr(*e).kind,
                    ExprKind::Int(_)
                        | ExprKind::Narrow(_)
                        | ExprKind::Float(_)
                        | ExprKind::Single(_)
                )
            }
            _ => false,
        }
    }

    pub(super) fn operators(&mut self, ops: &[Op], span: Span) -> Res<Lazy<'s>> {
        // A sign that becomes part of a literal is no operation.
        let folded = ops.windows(2).filter(|pair| self.negated_literal(pair)).count();
        let count = ops.iter().filter(|op| !matches!(op, Op::Operand(_))).count() - folded;
        if count > 1 {
            let what = "more than one operation in a statement";
            self.surface_only(span, what, "bind every intermediate value to a name")?;
        }
        let mut stack: Vec<(Operand<'s>, Span)> = Vec::new();
        let mut k = 0;
        while k < ops.len() {
            let last = k + 1 == ops.len();
            let lazy = match ops[k] {
                Op::Operand(e) => {
                    let at = self.span(e);
                    if let Some(Op::Unary("-", sign)) = ops.get(k + 1)
                        && let Some(literal) = self.negative(e)?
                    {
                        stack.push((Operand::Value(Value::N(literal)), sign.to(at)));
                        k += 2;
                        continue;
                    }
                    let value = self.each_operand(e)?;
                    stack.push((value, at));
                    k += 1;
                    continue;
                }
                Op::Unary(op, at) => {
                    let Some((value, operand)) = stack.pop() else { return Err(Stop) };
                    self.signed(op, value, at.to(operand))?
                }
                Op::Binary(op, _) => {
                    let (Some((b, right)), Some((a, left))) = (stack.pop(), stack.pop()) else {
                        return Err(Stop);
                    };
                    self.joined(op, (a, left), (b, right))?
                }
            };
            if last {
                return Ok(lazy);
            }
            stack.push(match lazy {
                Lazy::Each(each) => {
                    let at = each.span;
                    (Operand::Each(each), at)
                }
                Lazy::Made(made) => {
                    let (values, at) = self.values(made, "t")?;
                    (Operand::Value(single(&values).ok_or(Stop)?), at)
                }
            });
            k += 1;
        }
        match stack.pop() {
            Some((operand, span)) => {
                let value = self.forced(operand)?;
                Ok(Lazy::Made(Made::Values(value.into(), span)))
            }
            None => Err(Stop),
        }
    }

    /// A prefix operator on a number, an array or a linear value.
    fn signed(&mut self, op: &'static str, value: Operand<'s>, span: Span) -> Res<Lazy<'s>> {
        let operands = [(value, span)];
        if self.is_for_each(&operands) {
            return Ok(Lazy::Each(self.for_each(Function::Prefix(op), operands.into(), span)?));
        }
        let [(value, _)] = operands;
        let value = self.forced(value)?;
        Ok(self.unary(op, value, span)?.into())
    }

    /// An operator between numbers, arrays or linear values.
    pub(super) fn joined(
        &mut self,
        op: &'static str,
        a: (Operand<'s>, Span),
        b: (Operand<'s>, Span),
    ) -> Res<Lazy<'s>> {
        let span = a.1.to(b.1);
        let operands = [a, b];
        if self.is_for_each(&operands) {
            return Ok(Lazy::Each(self.for_each(Function::Infix(op), operands.into(), span)?));
        }
        let [(a, _), (b, _)] = operands;
        let (a, b) = (self.forced(a)?, self.forced(b)?);
        Ok(self.binary(op, a, b, span)?.into())
    }

    fn unary(&mut self, op: &'static str, value: Value, span: Span) -> Res<Out> {
        match value {
            Value::N(a) => match self.complex(Function::Prefix(op), &[a], span)? {
                Some(out) => Ok(out),
                None => self.primitive(op, Syntax::Prefix, vec![a], span),
            },
            Value::L(x) if op == "-" => Ok(Out::linear(Rhs::LNeg(x), self.lin_type(x), span)),
            Value::L(_) => self.not_linear(format!("`{op}` is not a linear operation"), span),
        }
    }

    pub fn binary(&mut self, op: &'static str, a: Value, b: Value, span: Span) -> Res<Out> {
        if let (Value::N(x), Value::N(y)) = (a, b)
            && let Some(out) = self.complex(Function::Infix(op), &[x, y], span)?
        {
            return Ok(out);
        }
        match (op, a, b) {
            ("^", Value::N(x), Value::N(n)) => {
                self.surface_only(span, "`^`", "write `powi(x, n)` or `pow(x, y)`")?;
                let is_integer = |ty| matches!(ty, Type::I64 | Type::I32);
                let integer = is_integer(self.type_of(n));
                let name = if integer { "powi" } else { "pow" };
                if integer && is_integer(self.type_of(x)) {
                    return self.integer_power(x, n, span);
                }
                self.primitive(name, Syntax::Call, vec![x, n], span)
            }
            (_, Value::N(x), Value::N(y)) => {
                self.primitive(op, Syntax::Infix, vec![x, y], span)
            }
            ("+", Value::L(x), Value::L(y)) => {
                let ty = self.same_linear(x, y, span)?;
                Ok(Out::linear(Rhs::LAdd(x, y), ty, span))
            }
            ("-", Value::L(x), Value::L(y)) => {
                let help = "negate first: `z' = -y'`, then `x' + z'`";
                self.surface_only(span, "linear subtraction", help)?;
                let ty = self.same_linear(x, y, span)?;
                let negated = self.bind(Out::linear(Rhs::LNeg(y), ty.clone(), span), &[], &[])?;
                let Some(z) = negated.lin.first() else { return Err(Stop) };
                Ok(Out::linear(Rhs::LAdd(x, *z), ty, span))
            }
            ("*", Value::N(c), Value::L(x)) => self.scale(c, x, span),
            ("*", Value::L(x), Value::N(c)) => {
                let help = "write the factor first: `c * x'`";
                self.surface_only(span, "a linear value before its factor", help)?;
                self.scale(c, x, span)
            }
            ("/", Value::L(x), Value::N(c)) => {
                let help = "scale by the reciprocal: `r = 1.0 / c`, then `r * x'`";
                self.surface_only(span, "division of a linear value", help)?;
                let one = Atom::Lit(Literal::F64(1.0));
                let r = self.primitive("/", Syntax::Infix, vec![one, c], span)?;
                let r = self.bind(r, &[], &[])?;
                let Some(r) = r.nl.first() else { return Err(Stop) };
                self.scale(*r, x, span)
            }
            ("*", Value::L(_), Value::L(_)) => self.not_bilinear(
                "the product of two linear values is not linear: with both doubled it is four times as large",
                span,
            ),
            ("/", _, Value::L(_)) => {
                self.not_bilinear("division by a linear value is not linear", span)
            }
            ("^", _, _) => self.not_bilinear("a power of a linear value is not linear", span),
            ("+" | "-", _, _) => self.not_linear(
                format!(
                    "`{op}` of a linear and a non-linear value is not linear: it is not zero where the linear one is"
                ),
                span,
            ),
            _ => self.not_linear(format!("`{op}` is not a linear operation"), span),
        }
    }

    /// `n^k` of an integer: products, by squaring.
    fn integer_power(&mut self, base: Atom, exponent: Atom, span: Span) -> Res<Out> {
        let exponent = match exponent {
            Atom::Lit(Literal::I64(k)) => u64::try_from(k).ok(),
            Atom::Lit(Literal::I32(k)) => u64::try_from(k).ok(),
            _ => None,
        };
        let Some(exponent) = exponent else {
            let message = "the power of an integer has a literal exponent that is not negative";
            let help = "convert the base, `f64(n)^k`, or multiply in a loop";
            return self.fail(Diagnostic::error("J202", span, message).help(help));
        };
        // From the second bit on: a square, and for a 1 the base once more.
        let bits = (u64::BITS - exponent.leading_zeros()).saturating_sub(1);
        let mut factors = Vec::new();
        for bit in (0..bits).rev() {
            factors.push(None);
            factors.extend((exponent >> bit & 1 == 1).then_some(Some(base)));
        }
        let Some(last) = factors.pop() else {
            let ty = self.type_of(base);
            let one = super::narrow::fitted(Atom::Lit(Literal::I64(1)), &ty);
            let power = if exponent == 0 { one } else { base };
            let def = (ty == Type::I64).then(|| self.nf(power));
            return Ok(Out { def, ..Out::one(Rhs::Atom(power), ty, span) });
        };
        let mut power = base;
        for factor in factors {
            power = self.bound_primitive("*", vec![power, factor.unwrap_or(power)], "t", span)?;
        }
        self.primitive("*", Syntax::Infix, vec![power, last.unwrap_or(power)], span)
    }

    /// J104 for an operation that is never linear.
    pub fn not_linear<T>(&mut self, message: String, span: Span) -> Res<T> {
        let help = "a linear value can be added to a linear one, negated, scaled by a non-linear f64 and selected; \
                    for anything else make it a non-linear parameter, before the `;`";
        self.fail(Diagnostic::error("J104", span, message).help(help))
    }

    /// J104 for products and quotients, which are linear in one argument at a time.
    fn not_bilinear<T>(&mut self, message: &str, span: Span) -> Res<T> {
        let help = "linearity is decided one operation at a time, never by simplifying: `(x' * x') / x'` is refused although it equals `x'`. \
                    Write the linear form, or make one factor a non-linear parameter, before the `;`";
        self.fail(Diagnostic::error("J104", span, message).help(help))
    }

    fn scale(&mut self, c: Atom, x: LVar, span: Span) -> Res<Out> {
        let ty = self.type_of(c);
        if !ty.is_float() {
            let message =
                format!("a linear value is scaled by an f64, and this is {}", self.show(&ty));
            let mut error = Diagnostic::error("J202", span, message);
            error = error.help(match c {
                Atom::Lit(Literal::I64(k)) => format!("write `{k}.0`"),
                _ => super::fit::conversion(&self.show(&ty), "f64"),
            });
            return self.fail(error);
        }
        Ok(Out::linear(Rhs::LScale(c, x), self.lin_type(x), span))
    }

    fn same_linear(&mut self, x: LVar, y: LVar, span: Span) -> Res<Type> {
        let (a, b) = (self.lin_type(x), self.lin_type(y));
        if a == b {
            return Ok(a);
        }
        let (a_text, b_text) = (self.show(&a), self.show(&b));
        let message = format!("these are of types {a_text} and {b_text}");
        let help = if same_shape(&a, &b) {
            format!("`cast y' : {a_text}` tests at run time that the sizes are equal")
        } else {
            "linear values of one type are added: take parts of the larger one, `rd r = x' { rd r[i] }`".to_string()
        };
        self.error("J202", span, message, help)
    }

    // ---- primitives

    /// A primitive on atoms.
    pub fn primitive(
        &mut self,
        text: &str,
        syntax: Syntax,
        args: Vec<Atom>,
        span: Span,
    ) -> Res<Out> {
        let types: Vec<Type> = args.iter().map(|a| self.type_of(*a)).collect();
        let Some(p) = Prim::resolve(text, syntax, &types) else {
            if let Some(out) = self.in_32_bits(text, syntax, &args, span)? {
                return Ok(out);
            }
            return self.no_overload(text, syntax, &args, &types, span);
        };
        let ty = p.row().result.ty();
        if !self.strict
            && let Some(known) = self.opaque.known(p, &args, &self.b.func)
        {
            let def = Some(self.nf(known.into()));
            return Ok(Out { def, ..Out::one(Rhs::Atom(known.into()), ty, span) });
        }
        let def = self.transparent(p, &args);
        Ok(Out { def, ..Out::one(Rhs::Prim(p, args), ty, span) })
    }

    /// The definition of an i64 name that is transparent, unless it is too large to carry along.
    pub(super) fn transparent(&self, p: Prim, args: &[Atom]) -> Option<Size> {
        match (p, args) {
            (prim::IADD, [a, b]) => self.nf(*a).checked_add(&self.nf(*b)),
            (prim::ISUB, [a, b]) => self.nf(*a).checked_sub(&self.nf(*b)),
            (prim::IMUL, [a, b]) => self.nf(*a).checked_mul(&self.nf(*b)),
            (prim::INEG, [a]) => Some(-self.nf(*a)),
            _ => None,
        }
    }

    fn no_overload<T>(
        &mut self,
        text: &str,
        syntax: Syntax,
        args: &[Atom],
        types: &[Type],
        span: Span,
    ) -> Res<T> {
        let overloads = Prim::overloads(text, syntax);
        let mut counts: Vec<usize> = overloads.iter().map(|p| p.row().params.len()).collect();
        counts.dedup();
        if !counts.is_empty() && !counts.contains(&args.len()) {
            let counts: Vec<String> = counts.iter().map(usize::to_string).collect();
            let message =
                format!("`{text}` takes {} argument(s), not {}", counts.join(" or "), args.len());
            let forms: Vec<String> =
                overloads.iter().map(|p| crate::hints::form(text, p.row().params.len())).collect();
            let mut forms = forms;
            forms.dedup();
            return self.error("J208", span, message, format!("write {}", forms.join(" or ")));
        }
        let shown: Vec<String> = types.iter().map(|t| self.show(t)).collect();
        let message = format!("`{text}` does not work on {}", shown.join(" and "));
        let is_integer = |ty: &Type| matches!(ty, Type::I64 | Type::I32);
        let mixed = types.iter().any(is_integer) && types.iter().any(Type::is_float);
        let integer = args.iter().find(|a| is_integer(&self.type_of(**a)));
        let wants_float = mixed
            || overloads.iter().any(|p| p.row().params.iter().all(|s| s.ty().is_float()))
                && types.iter().all(is_integer);
        let help = match integer {
            Some(Atom::Lit(Literal::I64(k))) if wants_float => {
                format!("`{k}` is an i64; write `{k}.0` for an f64")
            }
            Some(_) if wants_float => {
                let name = integer.map_or("n".to_string(), |a| self.show_atom(*a));
                format!("convert the integer: `f64({name})`; jut never converts by itself")
            }
            _ if types.iter().any(|t| t.size().is_some()) => {
                "apply it to the elements, in a `build`".to_string()
            }
            _ => {
                let list: Vec<String> = overloads
                    .iter()
                    .map(|p| {
                        let params: Vec<String> =
                            p.row().params.iter().map(|s| self.show(&s.ty())).collect();
                        format!("({})", params.join(", "))
                    })
                    .collect();
                format!("it works on {}", list.join(", "))
            }
        };
        self.error("J202", span, message, help)
    }

    // ---- tuples, arrays, casts

    fn tuple(&mut self, items: &[ExprId], span: Span) -> Res<Made> {
        let mut values = Values::default();
        for e in items {
            match self.operand(*e, "t")? {
                Value::N(a) => values.nl.push(a),
                Value::L(x) => values.lin.push(x),
            }
        }
        if !values.nl.is_empty() && !values.lin.is_empty() {
            let message = "a tuple is either linear or non-linear, not both";
            return self.error("J101", span, message, "make two tuples, one of the linear values");
        }
        if values.lin.is_empty() {
            let ty = Type::Tuple(values.nl.iter().map(|a| self.type_of(*a)).collect());
            return Ok(Out::one(Rhs::Tuple(values.nl), ty, span).into());
        }
        let ty = Type::Tuple(values.lin.iter().map(|x| self.lin_type(*x)).collect());
        Ok(Out::linear(Rhs::LTuple(values.lin), ty, span).into())
    }

    fn array(&mut self, items: &[ExprId], span: Span) -> Res<Made> {
        let mut atoms = Vec::new();
        for e in items {
            atoms.push(self.atom(*e, "t")?);
        }
        let Some(first) = atoms.first() else {
            let message = "an empty array has no element type";
            let help = "use `build (i < 0) { .. }`";
            return self.fail(Diagnostic::error("J205", span, message).help(help));
        };
        // A number in the text is of the type of the others.
        let narrow =
            |a: &Atom| Some(self.type_of(*a)).filter(|ty| super::narrow::wider(ty).is_some());
        let others = match first {
            Atom::Lit(_) => atoms.iter().find_map(narrow),
            Atom::Var(_) => None,
        };
        let element = others.unwrap_or_else(|| self.type_of(*first));
        let atoms: Vec<Atom> = atoms.iter().map(|a| super::narrow::fitted(*a, &element)).collect();
        for (k, (e, a)) in items.iter().zip(&atoms).enumerate() {
            let ty = self.type_of(*a);
            if ty != element {
                let message = format!(
                    "this element is of type {}, {} of type {}",
                    self.show(&ty),
                    if k == 0 { "another one" } else { "the first one" },
                    self.show(&element)
                );
                let mut error = Diagnostic::error("J202", self.span(*e), message);
                if let (Atom::Lit(Literal::I64(k)), Type::Float(_)) = (a, &element) {
                    error = error
                        .help(format!("write `{k}.0`"))
                        .replace(self.span(*e), format!("{k}.0"));
                } else {
                    let help = super::fit::conversion(&self.show(&ty), &self.show(&element));
                    error = error.help(help);
                }
                return self.fail(error);
            }
        }
        let ty = Type::array(Size::constant(atoms.len() as i64), element);
        Ok(Out::one(Rhs::ArrayLit(atoms), ty, span).into())
    }

    fn cast(
        &mut self,
        marked: bool,
        value: ExprId,
        ty: &'a ast::Type<'s>,
        span: Span,
    ) -> Res<Made> {
        if marked {
            self.mark(span, "proved cast")?;
        }
        let value = self.operand(value, "t")?;
        let new = self.ty(ty)?;
        let old = match value {
            Value::N(a) => self.type_of(a),
            Value::L(x) => self.lin_type(x),
        };
        if !same_shape(&old, &new) {
            let message = format!(
                "a cast changes sizes only, and {} is not {} with other sizes",
                self.show(&new),
                self.show(&old)
            );
            let help = match (&old, &new) {
                (Type::I64, Type::Float(_)) => "convert it: `f64(n)`".to_string(),
                (Type::Float(_), Type::I64) => "convert it: `i64(x)`".to_string(),
                (Type::Array(..), Type::Array(..)) => {
                    "make an array of the other elements: `build (i < n) { .. }`".to_string()
                }
                (Type::Array(..), _) => {
                    "take an element, `x[i]`, or the size, `size(x)`".to_string()
                }
                _ => format!("leave the cast out, or cast to {}", self.show(&old)),
            };
            return self.error("J212", ty.span, message, help);
        }
        match value {
            // Nothing is tested where the sizes are known to be equal.
            Value::N(Atom::Var(value)) if old == new && !self.strict => {
                Ok(Made::Values(Value::N(Atom::Var(value)).into(), span))
            }
            Value::N(Atom::Var(value)) => {
                Ok(Out::one(Rhs::Cast { value, ty: new.clone(), proved: false }, new, span).into())
            }
            Value::N(a) => Ok(Made::Values(Value::N(a).into(), span)),
            Value::L(value) => {
                Ok(Out::linear(Rhs::LCast { value, ty: new.clone(), proved: false }, new, span)
                    .into())
            }
        }
    }

    /// A mark of passes, `!` or `proved`: J601 in a `def`.
    pub fn mark(&mut self, span: Span, what: &str) -> Res<()> {
        self.marked = true;
        if !self.strict {
            let message = format!("`{what}` is allowed in a `core def` only");
            let help = "leave it out: jut tests at run time what it cannot see";
            return self.fail(Diagnostic::error("J601", span, message).help(help));
        }
        Ok(())
    }
}

fn literal(x: Literal, span: Span) -> Made {
    Made::Values(Value::N(Atom::Lit(x)).into(), span)
}

/// The value, if there is just one.
pub(crate) fn single(values: &Values) -> Option<Value> {
    match (values.nl.as_slice(), values.lin.as_slice()) {
        ([a], []) => Some(Value::N(*a)),
        ([], [x]) => Some(Value::L(*x)),
        _ => None,
    }
}

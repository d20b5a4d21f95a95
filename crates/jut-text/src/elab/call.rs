//! Calls: primitives, constructors and definitions.
//!
//! A call of a `def f[n](x: [n]f64)` leaves the sizes out: they are solved from the types of the
//! arguments. `[n]` against `[m - 1]` gives `n := m - 1`; the value is a name in scope, or computed
//! in front of the call.

use super::body::Body;
use super::fit::{conversion, equal_sizes, fields_text};
use super::made::{Function, Lazy, Made, Out, Value};
use super::operation::{is_primitive, primitive_names};
use super::record::Sized;
use super::scope::Entity;
use super::solver::Solver;
use super::{Global, Res, Stop, show};
use crate::ast::{self, ExprId, ExprKind, FieldPattern, Index, Name, Post};
use crate::hints;
use jut_ir::entity::EntityRef;
use jut_ir::prim::{Prim, Syntax};
use jut_ir::{
    Atom, Call, ConRef, Diagnostic, Field, FuncId, LVar, Literal, Mode, NVar, Rhs, Size, Span,
    Structured, Type,
};
use std::borrow::Cow;
use std::collections::HashMap;

impl<'a, 's> Body<'a, 's> {
    /// `f(..)`.
    pub(super) fn call(&mut self, call: &'a ast::Call<'s>, span: Span) -> Res<Lazy<'s>> {
        let name = call.func;
        if !call.sizes.is_empty() {
            self.takes_sizes(&name, span)?;
        }
        if let Some(Entity::F(given)) = self.scope.get(name.text) {
            return Ok(Lazy::Made(self.call_given(given, call, span)?));
        }
        if let Some(made) = self.call_by_name(call, span)? {
            return Ok(Lazy::Made(made));
        }
        match self.globals.global(name.text) {
            Some(Global::Template(k)) => return Ok(Lazy::Made(self.expand(k, call, span)?)),
            Some(Global::Func(f)) => {
                // With a `;` it is the linear one that is called.
                let linear = self.program.declared(f).filter(|_| !call.lin.is_empty());
                let f = linear.map_or(f, |declared| declared.linear);
                return Ok(Lazy::Made(self.call_function(f, call, span)?));
            }
            Some(Global::Con(con)) => {
                self.only_first_section(call, "a constructor")?;
                return Ok(Lazy::Made(self.construct(con, call, span)?));
            }
            None => {}
        }
        if let Some(derived) = self.globals.view().derived.get(name.text) {
            return Ok(Lazy::Made(self.call_made(derived, call, span)?));
        }
        let primitive = name.text.strip_prefix("prim.").unwrap_or(name.text);
        // A definition further down hides the primitive here too: whoever calls `softplus` and
        // defines it means the definition.
        if is_primitive(primitive) && !self.globals.declared.contains_key(name.text) {
            self.only_first_section(call, "a primitive")?;
            if let Some(op) = Structured::find(primitive) {
                return Ok(Lazy::Made(self.structured(op, call, span)?));
            }
            return self.call_primitive(primitive, call, span);
        }
        if !self.globals.declared.contains_key(name.text)
            && let Some(lazy) = self.call_complex(call, span)?
        {
            return Ok(lazy);
        }
        self.unknown_function(name)
    }

    pub fn unknown_function<T>(&mut self, name: Name<'s>) -> Res<T> {
        if self.globals.is_poisoned(name.text)
            || matches!(self.scope.get(name.text), Some(Entity::Poison))
        {
            return Err(Stop);
        }
        if let Some(primitive) = name.text.strip_prefix("prim.") {
            let message = format!("there is no primitive `{primitive}`");
            let error = Diagnostic::error("J012", name.span, message);
            let near = show::nearest(primitive, primitive_names());
            return self.fail(match near {
                Some(near) => error.did_you_mean(format!("prim.{near}")),
                None => {
                    error.help(format!("leave `prim.` out for a definition, `{primitive}(..)`"))
                }
            });
        }
        let message = format!("there is no function `{}` here", name.text);
        let mut error = Diagnostic::error("J014", name.span, message);
        let globals = self.globals;
        let value = name.text.split('.').next().filter(|v| *v != name.text);
        let known = globals.visible().map(|(name, _)| name);
        if let Some(span) = self.globals.declared_at(name.text) {
            error = error
                .help("a name is in scope after its definition: move the definition up")
                .label(span, "defined here");
        } else if self.functions.contains(name.text) {
            let help = "a function that has a name in a block does not call itself: make it a definition, which takes what it captures";
            error = error.help(help);
        } else if value.is_some_and(|value| self.scope.get(value).is_some()) {
            error = error
                .help("values have no methods: write `f(x)`; the size of an array is `size(x)`");
        } else if let Some(help) = name.text.rsplit('.').next().and_then(hints::derivative) {
            error = error.help(help);
        } else if let Some(own) = known_here(name.text) {
            error =
                error.help(format!("write `{own}`, which needs no module")).replace(name.span, own);
        } else if let Some(help) = globals.module_to_use(name.text) {
            error = error.help(help);
        } else if let Some(help) = hints::function(name.text) {
            error = hints::about(error, name.text, help);
        } else if self.scope.get(name.text).is_some() {
            error = error.help("this is a value; index it with `[ ]`, or put an operator between");
        } else if let Some(module) = crate::standard::module_with(name.text) {
            error = error.help(format!("behind `use {module}` it is `{module}.{}`", name.text));
        } else if let Some(near) =
            show::nearest(name.text, known.chain(primitive_names().map(Cow::Borrowed)))
        {
            error = error.did_you_mean(near);
        } else if let Some((module, rest)) = globals.used_module(name.text) {
            error.message = format!("the module `{module}` has no function `{rest}`");
            let others = crate::standard::alternatives(module, rest).unwrap_or_default();
            let others: Vec<String> = others.iter().map(|name| format!("`{name}`")).collect();
            error = error.help(match others.is_empty() {
                true => format!("define it in that module: `def {rest}(x: f64) -> f64 = ..`"),
                false => format!("it has {}; the others stand in `docs/std.md`", others.join(", ")),
            });
        } else {
            error = error.help(format!("define it above: `def {}(x: f64) -> f64 = ..`", name.text));
        }
        self.fail(error)
    }

    pub(super) fn only_first_section(&mut self, call: &ast::Call<'s>, what: &str) -> Res<()> {
        let Some(first) = call.lin.first() else {
            if let Some(place) = call.places.iter().flatten().next() {
                let message = format!("{what} takes no capabilities");
                let help = format!(
                    "leave what stands behind the second `;` out: {what} takes values alone"
                );
                return self.error("J104", self.span(*place), message, help);
            }
            return Ok(());
        };
        let message = format!("{what} takes no linear arguments");
        let help = "give values before the `;`; a linear value can only be added, negated, scaled and passed on";
        self.error("J104", self.span(*first), message, help)
    }

    fn call_primitive(
        &mut self,
        text: &'s str,
        call: &'a ast::Call<'s>,
        span: Span,
    ) -> Res<Lazy<'s>> {
        if let Some(lazy) = self.library(text, call, span)? {
            return Ok(lazy);
        }
        match text {
            "size" => return Ok(Lazy::Made(self.size_of_array(call, span)?)),
            "concat" => return Ok(Lazy::Made(self.concat(call, span)?)),
            "pad" => return Ok(Lazy::Made(self.pad(call, span)?)),
            _ => {}
        }
        let mut operands = Vec::new();
        for e in &call.args {
            operands.push((self.each_operand(*e)?, self.span(*e)));
        }
        let overloads = Prim::overloads(text, Syntax::Call);
        let fits = overloads.iter().any(|p| p.row().params.len() == operands.len());
        if fits && self.is_for_each(&operands) {
            return Ok(Lazy::Each(self.for_each(Function::Call(text), operands, span)?));
        }
        let mut args = Vec::new();
        for (operand, at) in operands {
            args.push((self.forced(operand)?, at));
        }
        if let ("select", [(Value::N(b), _), (Value::L(x), _), (Value::L(y), _)]) =
            (text, args.as_slice())
        {
            let (a, b_ty) = (self.lin_type(*x), self.type_of(*b));
            if b_ty != Type::Bool || a != self.lin_type(*y) {
                let message = "`select` takes a bool and two linear values of one type";
                let (a, b) = (self.show(&a), self.show(&self.lin_type(*y)));
                let help = if b_ty == Type::Bool {
                    format!("the first is of type {a}, the second of type {b}: make them equal")
                } else {
                    "put a condition in front, such as `n > 0`".to_string()
                };
                return self.error("J202", span, message, help);
            }
            return Ok(Out::linear(Rhs::LSelect(*b, *x, *y), a, span).into());
        }
        let mut atoms = Vec::new();
        for (value, at) in args {
            match value {
                Value::N(a) => atoms.push(a),
                Value::L(_) => {
                    let message = format!("`{text}` is not a linear function");
                    return self.not_linear(message, at);
                }
            }
        }
        if let Some(out) = self.complex(Function::Call(text), &atoms, span)? {
            return Ok(out.into());
        }
        Ok(self.primitive(text, Syntax::Call, atoms, span)?.into())
    }

    /// `size(x)`, `size(x, k)`.
    fn size_of_array(&mut self, call: &'a ast::Call<'s>, span: Span) -> Res<Made> {
        let (array, dimension) = match call.args.as_slice() {
            [x] => (*x, 0),
            [x, k] => match self.atom(*k, "t")? {
                Atom::Lit(Literal::I64(k)) if (0..1 << 20).contains(&k) => (*x, k as u32),
                _ => {
                    let message = "the dimension is a literal: 0, 1, ..";
                    return self.error(
                        "J202",
                        self.span(*k),
                        message,
                        "write `size(x, 0)`, `size(x, 1)`, ..",
                    );
                }
            },
            _ => {
                let message = "`size` takes an array and perhaps a dimension";
                return self.error("J208", span, message, "write `size(x)` or `size(x, 1)`");
            }
        };
        let atom = self.atom(array, "t")?;
        let ty = self.type_of(atom);
        let mut inner = &ty;
        for _ in 0..dimension {
            inner = inner.element().unwrap_or(&Type::Bool);
        }
        let (Some(size), Atom::Var(v)) = (inner.size().cloned(), atom) else {
            let message = format!("a value of type {} has no such dimension", self.show(&ty));
            let mut dimensions = 0;
            let mut inner = &ty;
            while let Some(element) = inner.element() {
                (inner, dimensions) = (element, dimensions + 1);
            }
            let help = match dimensions {
                0 => "only arrays have sizes".to_string(),
                1 => "its only dimension is 0: `size(x)`".to_string(),
                n => format!("its dimensions are 0 to {}", n - 1),
            };
            return self.error("J205", self.span(array), message, help);
        };
        let out = Out::one(Rhs::Size(v, dimension), Type::I64, span);
        Ok(Out { def: Some(size), ..out }.into())
    }

    // ---- constructors

    /// J208 for sizes, `f[n](x)`, of what is no constructor of a type with sizes.
    fn takes_sizes(&mut self, name: &Name<'s>, span: Span) -> Res<()> {
        if self.scope.binding(name.text).is_none()
            && let Some(Global::Con(con)) = self.globals.global(name.text)
            && self.program.datas[con.data].record.is_some()
            && !self.strict
        {
            return Ok(());
        }
        let message = format!("sizes are not given to `{}`", name.text);
        let help = format!("they are found from the arguments: `{}(..)`", name.text);
        self.error("J208", span, message, help)
    }

    /// `Empty[n]`: the value of a constructor without fields whose type has sizes; `None` for any other access.
    pub(super) fn sized_alone(
        &mut self,
        base: ExprId,
        steps: &[Post<'s>],
        span: Span,
    ) -> Res<Option<Made>> {
        let (ExprKind::Name(name), [Post::Index(list, _)]) = (&self.ast.expr(base).kind, steps)
        else {
            return Ok(None);
        };
        if self.strict || self.scope.binding(name.text).is_some() {
            return Ok(None);
        }
        let Some(Global::Con(con)) = self.globals.global(name.text) else { return Ok(None) };
        let program = self.program;
        let (Some(record), Some(sizes)) = (
            program.datas[con.data].record.as_deref(),
            list.iter().map(Index::as_size).collect::<Option<Vec<ExprId>>>(),
        ) else {
            return Ok(None);
        };
        self.construct_record(con, record, Sized { sizes, args: &[] }, span).map(Some)
    }

    pub(super) fn construct(
        &mut self,
        con: ConRef,
        call: &'a ast::Call<'s>,
        span: Span,
    ) -> Res<Made> {
        let program = self.program;
        if let (Some(record), false) = (program.datas[con.data].record.as_deref(), self.strict) {
            let call = Sized { sizes: call.sizes.clone(), args: &call.args };
            return self.construct_record(con, record, call, span);
        }
        let constructor = program.constructor(con);
        if call.args.len() != constructor.fields.len() {
            let message = format!(
                "`{}` has {} field(s), and {} are given",
                constructor.name,
                constructor.fields.len(),
                call.args.len()
            );
            let help = match constructor.fields.as_slice() {
                [] => format!("it has none: write `{}()`", constructor.name),
                fields => format!("give every field: `{}`", fields_text(&constructor.name, fields)),
            };
            return self.error("J208", span, message, help);
        }
        if program.is_tangent(con.data) && call.args.iter().any(|e| self.is_linear_name(*e)) {
            return self.tangent(con, call, span);
        }
        let mut args = Vec::new();
        let mut sizes = Vec::new();
        for (e, field) in call.args.iter().zip(&constructor.fields) {
            let atom = self.atom(*e, "t")?;
            let given = self.type_of(atom);
            let wanted = self.put(&field.ty, &|v| sizes.get(v.index()).cloned(), self.span(*e))?;
            let atom = super::narrow::fitted(atom, &wanted);
            let given = if given == Type::F64 { self.type_of(atom) } else { given };
            if given != wanted {
                let message = format!(
                    "the field `{}` is of type {}, and this is of type {}",
                    field.name,
                    self.show(&wanted),
                    self.show(&given)
                );
                let mut error = Diagnostic::error("J202", self.span(*e), message);
                if let (Atom::Lit(Literal::I64(k)), Type::Float(_)) = (atom, &wanted) {
                    error = error
                        .help(format!("write `{k}.0`"))
                        .replace(self.span(*e), format!("{k}.0"));
                } else {
                    error = error.help(conversion(&self.show(&given), &self.show(&wanted)));
                }
                return self.fail(error);
            }
            sizes.push(if given == Type::I64 { self.nf(atom) } else { Size::default() });
            args.push(atom);
        }
        Ok(Out::one(Rhs::Con(con, args), Type::Data(con.data), span).into())
    }

    fn is_linear_name(&self, e: ExprId) -> bool {
        matches!(&self.ast.expr(e).kind, ExprKind::Name(name) if name.is_linear())
    }

    /// `K.tan(n, a')`: a tangent.
    fn tangent(&mut self, con: ConRef, call: &'a ast::Call<'s>, span: Span) -> Res<Made> {
        let program = self.program;
        let (mut sizes, mut fields) = (Vec::new(), Vec::new());
        let mut forms: Vec<Size> = Vec::new();
        for (e, field) in call.args.iter().zip(&program.constructor(con).fields) {
            if field.ty == Type::I64 {
                let n = self.integer(*e, "a size")?;
                forms.push(self.nf(n));
                sizes.push(n);
                continue;
            }
            let wanted = self.put(&field.ty, &|v| forms.get(v.index()).cloned(), self.span(*e))?;
            forms.push(Size::default());
            let x = self.linear(*e, "t'")?;
            if self.lin_type(x) != wanted {
                let (wanted, given) = (self.show(&wanted), self.show(&self.lin_type(x)));
                let message = format!(
                    "the field `{}` is of type {wanted}, and this is of type {given}",
                    field.name
                );
                return self.error("J202", self.span(*e), message, "give its own tangent");
            }
            fields.push(x);
        }
        Ok(Out::linear(Rhs::LCon { con, sizes, fields }, Type::Data(con.data), span).into())
    }

    /// `K.tan(=n, a') = z'`: the operation, and the names that its results get.
    fn open_tangent(
        &mut self,
        con: ConRef,
        name: &Name<'s>,
        patterns: &[FieldPattern<'s>],
        e: ExprId,
        span: Span,
    ) -> Res<(Out, Vec<Name<'s>>)> {
        let value = self.linear(e, "t'")?;
        let program = self.program;
        let ty = self.lin_type(value);
        if ty != Type::Data(con.data) || !program.is_tangent(con.data) || con.index == 0 {
            let message =
                format!("`{}` does not open a value of type {}", name.text, self.show(&ty));
            let help = "a tangent is opened by a constructor of its type that is not zero";
            return self.error("J202", self.span(e), message, help);
        }
        let constructor = program.constructor(con);
        let eqs = self.field_eqs(name, &constructor.fields, patterns)?;
        let (mut sizes, mut forms) = (Vec::new(), Vec::new());
        let (mut types, mut names): (Vec<Type>, Vec<Name<'s>>) = (Vec::new(), Vec::new());
        for ((field, pattern), eq) in constructor.fields.iter().zip(patterns).zip(eqs) {
            match (pattern, eq) {
                (_, Some(n)) => {
                    forms.push(self.nf(n));
                    sizes.push(n);
                }
                (FieldPattern::Bind(name), None) if name.is_linear() && field.ty != Type::I64 => {
                    let form = |v: NVar| forms.get(v.index()).cloned();
                    types.push(self.put(&field.ty, &form, span)?);
                    names.push(*name);
                    forms.push(Size::default());
                }
                _ => {
                    let message = format!("the field `{}` is not opened so", field.name);
                    let help = "a size is stated, `=n`, and a field with floats has a linear name";
                    return self.error("J101", name.span, message, help);
                }
            }
        }
        let rhs = Rhs::LOpen { con, sizes, value };
        Ok((Out { lin: types, ..Out::none(rhs, span) }, names))
    }

    /// The constructor with a name, for a pattern.
    pub fn constructor(&mut self, name: &Name<'s>) -> Res<ConRef> {
        if let Some(Global::Con(con)) = self.globals.global(name.text) {
            return Ok(con);
        }
        if self.globals.is_poisoned(name.text) {
            return Err(Stop);
        }
        let message = format!("there is no constructor `{}`", name.text);
        let mut error = Diagnostic::error("J013", name.span, message);
        let globals = self.globals;
        let known = globals.visible().filter(|(_, g)| matches!(g, Global::Con(_)));
        if let Some(near) = show::nearest(name.text, known.map(|(name, _)| name)) {
            error = error.did_you_mean(near);
        } else {
            error = error.help(format!("declare it: `data D = {} | ..`", name.text));
        }
        self.fail(error)
    }

    /// `K(p, =n) = e`: the operation, and the names that its results get.
    pub fn open(
        &mut self,
        name: &Name<'s>,
        patterns: &[FieldPattern<'s>],
        e: ExprId,
    ) -> Res<(Out, Vec<Name<'s>>)> {
        let con = self.constructor(name)?;
        let program = self.program;
        let span = name.span.to(self.span(e));
        if self.is_linear_name(e) {
            return self.open_tangent(con, name, patterns, e, span);
        }
        if program.datas[con.data].record.is_some() && !self.strict {
            return self.open_record(con, name, patterns, e, span);
        }
        let atom = self.atom(e, "t")?;
        let ty = self.type_of(atom);
        let (true, Atom::Var(value)) = (ty == Type::Data(con.data), atom) else {
            let message =
                format!("`{}` does not open a value of type {}", name.text, self.show(&ty));
            let program = self.program;
            let help = match &ty {
                Type::Data(data) => match program.datas[*data].constructors.as_slice() {
                    [one] => {
                        format!("this one is opened by `{}`", fields_text(&one.name, &one.fields))
                    }
                    _ => "this one is opened by `case`".to_string(),
                },
                Type::Tuple(_) => "a tuple is opened by `#(a, b) = ..`".to_string(),
                _ => format!("give a value of type {}", program.datas[con.data].name),
            };
            return self.error("J202", self.span(e), message, help);
        };
        if program.datas[con.data].constructors.len() != 1 {
            let message = format!("`{}` has several constructors", program.datas[con.data].name);
            let help = "open it with `case`";
            return self.fail(Diagnostic::error("J206", name.span, message).help(help));
        }
        let fields = &program.constructor(con).fields;
        let eqs = self.field_eqs(name, fields, patterns)?;
        let (types, names) = self.bound_fields(fields, patterns, &eqs, span)?;
        let rhs = Rhs::Open { con, value, eqs, proved: false };
        Ok((Out { nl: types, ..Out::none(rhs, span) }, names))
    }

    /// The `=n` of a field list: one entry per field.
    pub fn field_eqs(
        &mut self,
        name: &Name<'s>,
        fields: &[Field],
        patterns: &[FieldPattern<'s>],
    ) -> Res<Vec<Option<Atom>>> {
        if fields.len() != patterns.len() {
            let message = format!(
                "`{}` has {} field(s), and the pattern has {}",
                name.text,
                fields.len(),
                patterns.len()
            );
            let help = format!("bind every field: `{}`", fields_text(name.text, fields));
            return self.error("J208", name.span, message, help);
        }
        let mut eqs = Vec::new();
        for (field, pattern) in fields.iter().zip(patterns) {
            eqs.push(match pattern {
                FieldPattern::Bind(_) => None,
                FieldPattern::Eq(e) => {
                    if field.ty != Type::I64 {
                        let message = format!("the field `{}` is not a size", field.name);
                        let help =
                            format!("bind it to a name, `{0}`, and compare the name", field.name);
                        return self.error("J211", self.span(*e), message, help);
                    }
                    Some(self.integer(*e, "a size")?)
                }
            });
        }
        Ok(eqs)
    }

    /// Types and names of the bound fields of a pattern. An `=n` field stands for `n` in later
    /// types, a bound one for the placeholder of its result.
    pub fn bound_fields(
        &mut self,
        fields: &[Field],
        patterns: &[FieldPattern<'s>],
        eqs: &[Option<Atom>],
        span: Span,
    ) -> Res<(Vec<Type>, Vec<Name<'s>>)> {
        let (mut types, mut names) = (Vec::new(), Vec::new());
        let mut sizes: Vec<Size> = Vec::new();
        for ((field, pattern), eq) in fields.iter().zip(patterns).zip(eqs) {
            match (pattern, eq) {
                (FieldPattern::Bind(name), _) if name.is_linear() => {
                    let what = "this name is linear, and the field is not";
                    return self.other_name("J102", name, what);
                }
                (FieldPattern::Bind(name), _) => {
                    let ty = self.put(&field.ty, &|v| sizes.get(v.index()).cloned(), span)?;
                    sizes.push(Size::position(types.len()));
                    types.push(ty);
                    names.push(*name);
                }
                (_, Some(atom)) => sizes.push(self.nf(*atom)),
                (_, None) => sizes.push(Size::default()),
            }
        }
        Ok((types, names))
    }

    // ---- definitions

    pub fn call_function(
        &mut self,
        func: FuncId,
        call: &'a ast::Call<'s>,
        span: Span,
    ) -> Res<Made> {
        let mut given: Vec<(Atom, Span)> = Vec::new();
        for e in &call.args {
            given.push((self.atom(*e, "t")?, self.span(*e)));
        }
        let mut lin_args: Vec<LVar> = Vec::new();
        for e in &call.lin {
            lin_args.push(self.linear(*e, "t")?);
        }
        self.call_values(func, given, lin_args, (&call.lin, &call.places), span)
    }

    /// The same, of values that are computed already; `texts` are those of linear values, and the places.
    pub fn call_values(
        &mut self,
        func: FuncId,
        given: Vec<(Atom, Span)>,
        lin_args: Vec<LVar>,
        texts: (&'a [ExprId], &'a [Option<ExprId>]),
        span: Span,
    ) -> Res<Made> {
        let program = self.program;
        let callee = &program.funcs[func];
        let declared = program.declared(func).map_or(func, |declared| declared.linear);
        let called = &program.funcs[declared].name;
        let (lin_texts, place_texts) = texts;
        let hidden =
            if self.strict || given.len() == callee.params.len() { 0 } else { callee.size_params };
        let wanted =
            (callee.params.len() - hidden, callee.lin_params.len(), callee.cap_params.len());
        if (given.len(), lin_args.len(), place_texts.len()) != wanted {
            let text = |(nl, lin, caps): (usize, usize, usize)| match (lin, caps) {
                (0, 0) => format!("{nl}"),
                (_, 0) => format!("({nl}; {lin})"),
                _ => format!("({nl}; {lin}; {caps})"),
            };
            let found = (given.len(), lin_args.len(), place_texts.len());
            let message = format!(
                "`{}` takes {} argument(s), and {} are given",
                called,
                text(wanted),
                text(found)
            );
            let names: Vec<&str> =
                callee.params[hidden..].iter().map(|v| callee.nvars[*v].name.as_str()).collect();
            let lin: Vec<&str> =
                callee.lin_params.iter().map(|x| callee.lvars[*x].name.as_str()).collect();
            let caps: Vec<&str> =
                callee.cap_params.iter().map(|c| callee.caps[*c].name.as_str()).collect();
            let mut list = names.join(", ");
            if wanted.1 + wanted.2 > 0 {
                list = format!("{list}; {}", lin.join(", "));
            }
            if wanted.2 > 0 {
                list = format!("{list}; {}", caps.join(", "));
            }
            let error = Diagnostic::error("J208", span, message).label(callee.span, "defined here");
            return self.fail(error.help(format!("give all of them: `{}({list})`", called)));
        }
        let mut map: HashMap<NVar, Size> = HashMap::new();
        let mut args: Vec<Atom> = Vec::new();
        let declared = |v: &NVar| &callee.nvars[*v].ty;
        if hidden > 0 {
            let (sizes, rest) = callee.params.split_at(hidden);
            let mut solver = Solver { unknown: sizes.iter().copied().collect(), map: &mut map };
            for (param, (atom, _)) in rest.iter().zip(&given) {
                solver.types(declared(param), &self.type_of(*atom));
            }
            for (param, x) in callee.lin_params.iter().zip(&lin_args) {
                solver.types(&callee.lvars[*param].ty, &self.lin_type(*x));
            }
            for size in sizes {
                let Some(value) = map.get(size).cloned() else {
                    let name = &callee.nvars[*size].name;
                    let message = format!(
                        "the size `{name}` of `{}` does not follow from the arguments",
                        called
                    );
                    let help = "give all sizes as first arguments";
                    let error = Diagnostic::error("J210", span, message).help(help);
                    return self.fail(error.label(callee.span, "defined here"));
                };
                args.push(self.materialize(&value, span)?);
            }
        }
        for (param, (atom, at)) in callee.params[hidden..].iter().zip(given) {
            let wanted = self.put(declared(param), &|v| map.get(&v).cloned(), at)?;
            let atom = super::narrow::fitted(atom, &wanted);
            let ty = self.type_of(atom);
            if ty != wanted {
                let name = &callee.nvars[*param].name;
                return self.misfitting(name, &ty, &wanted, Some(atom), at);
            }
            if ty == Type::I64 {
                map.insert(*param, self.nf(atom));
            }
            args.push(atom);
        }
        for ((param, x), e) in callee.lin_params.iter().zip(&lin_args).zip(lin_texts) {
            let data = &callee.lvars[*param];
            let ty = self.lin_type(*x);
            let wanted = self.put(&data.ty, &|v| map.get(&v).cloned(), span)?;
            if ty != wanted {
                return self.misfitting(&data.name, &ty, &wanted, None, self.span(*e));
            }
        }
        let mut places = Vec::new();
        for (param, place) in callee.cap_params.iter().zip(place_texts) {
            let data = &callee.caps[*param];
            let wanted = self.put(&data.ty, &|v| map.get(&v).cloned(), span)?;
            let Some(e) = place else {
                if !wanted.is_scalar() {
                    let message = "`null` stands for scalar capabilities only";
                    let help = format!(
                        "give a capability of type {} for `{}`",
                        self.show(&wanted),
                        data.name
                    );
                    return self.error("J115", span, message, help);
                }
                places.push(None);
                continue;
            };
            let (place, ty, mode) = self.place(*e)?;
            if mode != data.mode {
                let text = Mode::keyword;
                let message = format!(
                    "`{}` is a `{}` capability, and this is a `{}`",
                    data.name,
                    text(data.mode),
                    text(mode)
                );
                let help = match data.mode {
                    Mode::Rd => {
                        format!("read a linear value: `rd r = x' {{ {}(..; ; r) }}`", called)
                    }
                    other => format!(
                        "collect into one of that mode: `{} r: f64 {{ {}(..; ; r) }}`",
                        text(other),
                        called
                    ),
                };
                return self.error("J111", self.span(*e), message, help);
            }
            if ty != wanted {
                return self.misfitting(&data.name, &ty, &wanted, None, self.span(*e));
            }
            places.push(Some(place));
        }
        let results: HashMap<NVar, usize> = callee
            .results
            .iter()
            .enumerate()
            .filter_map(|(k, r)| r.name.map(|name| (name, k)))
            .collect();
        let result = |v| match results.get(&v) {
            Some(k) => Some(Size::position(*k)),
            None => map.get(&v).cloned(),
        };
        let (mut nl, mut lin) = (Vec::new(), Vec::new());
        for r in &callee.results {
            nl.push(self.put(&r.ty, &result, span)?);
        }
        for r in &callee.lin_results {
            lin.push(self.put(&r.ty, &result, span)?);
        }
        // What has no result is called for what it does.
        self.effects += usize::from(!places.is_empty() || callee.results.is_empty());
        let rhs = Rhs::Call(Box::new(Call { func, args, lin_args, places }));
        Ok(Out { nl, lin, ..Out::none(rhs, span) }.into())
    }

    pub fn misfitting<T>(
        &mut self,
        name: &str,
        given: &Type,
        wanted: &Type,
        atom: Option<Atom>,
        span: Span,
    ) -> Res<T> {
        let message = format!(
            "the argument is of type {}, and the parameter `{name}` of type {}",
            self.show(given),
            self.show(wanted)
        );
        let mut error = Diagnostic::error("J210", span, message);
        match (atom, given, wanted) {
            (Some(Atom::Lit(Literal::I64(k))), _, Type::Float(_)) => {
                error = error.help(format!("write `{k}.0`")).replace(span, format!("{k}.0"));
            }
            (Some(Atom::Var(v)), Type::I64, Type::Float(_)) => {
                let help = format!("convert it: `f64({})`", self.b.func.nvars[v].name);
                error = error.help(help).wrap("f64(", span, ")");
            }
            _ if super::fit::same_shape(given, wanted) => {
                error = error.help(equal_sizes(&self.show(wanted)));
            }
            _ => {
                error = error.help(conversion(&self.show(given), &self.show(wanted)));
            }
        }
        self.fail(error)
    }
}

/// What a function of a library of another language is here: `sqrt` of `np.sqrt`.
fn known_here(name: &str) -> Option<&str> {
    let (module, own) = name.rsplit_once('.')?;
    let others =
        ["math", "np", "numpy", "jnp", "jax.numpy", "torch", "f64", "std.f64", "Math", "cmath"];
    let known = is_primitive(own) || super::library::LIBRARY.contains(&own);
    (others.contains(&module) && known).then_some(own)
}

//! Blocks, statements and patterns.
//!
//! A block ends in its results: the values of its last expression. A statement that is refused
//! poisons the names it would have bound, and the block goes on, so that every mistake is reported
//! once and only once.

use super::body::{Body, INDEX};
use super::made::{Annotation, Made, Out, Values};
use super::scope::Entity;
use super::{Res, Signature, Stop};
use crate::ast::{self, ExprId, ExprKind, Name, Pattern, StmtKind};
use jut_ir::prim::Syntax;
use jut_ir::{Atom, Block, Check, Diagnostic, Literal, Mode, Operand, Rhs, Size, Span, Type};
use std::collections::HashSet;

impl<'a, 's> Body<'a, 's> {
    /// The whole body of a definition.
    pub fn definition(&mut self, d: &ast::Def<'s>, signature: &Signature) -> Res<Block> {
        let annotation = Annotation { nl: signature.nl.clone(), lin: signature.lin.clone() };
        let stated = (signature.telescoped && !self.strict).then_some(&annotation);
        let func = &self.b.func;
        let nl = func.params.iter().map(|v| func.nvars[*v].ty.clone());
        let lin = func.lin_params.iter().map(|x| func.lvars[*x].ty.clone());
        let caps = func.cap_params.iter().map(|c| func.caps[*c].ty.clone());
        for ty in nl.chain(lin).chain(caps).collect::<Vec<_>>() {
            self.exact_type(&ty, d.head)?;
        }
        let (mut values, span) = self.body(d.body, stated)?;
        let (found, wanted) =
            ((values.nl.len(), values.lin.len()), (annotation.nl.len(), annotation.lin.len()));
        if found != wanted {
            let text = |(nl, lin): (usize, usize)| match lin {
                0 => format!("{nl}"),
                _ => format!("{nl} non-linear and {lin} linear"),
            };
            let message = format!(
                "`{}` declares {} result(s), and its body gives {}",
                d.name.text,
                text(wanted),
                text(found)
            );
            let help =
                format!("end the body with {} value(s), or declare {}", text(wanted), text(found));
            let mut error = Diagnostic::error("J213", span, message).help(help);
            let tuple = values.nl.first().and_then(|a| self.components(&self.type_of(*a)));
            if found == (1, 0) && tuple == Some(wanted.0) {
                error = error.help("a tuple is one value: several are a list, `(x, y)`");
            }
            if found.0 + found.1 == wanted.0 + wanted.1 {
                error = error.help("results behind the `;` are linear, those before it are not");
            }
            return self.fail(error.label(d.head, "declared here"));
        }
        self.conforms(&mut values, &annotation, span, "J214", "declared result")?;
        let stmts = std::mem::take(&mut self.stmts);
        Ok(Block { stmts, nl: values.nl, lin: values.lin })
    }

    /// Whether values have the stated types, placeholders standing for the values themselves.
    pub fn conforms(
        &mut self,
        values: &mut Values,
        stated: &Annotation,
        span: Span,
        code: &'static str,
        what: &str,
    ) -> Res<()> {
        for (value, stated) in values.nl.iter_mut().zip(&stated.nl) {
            *value = super::narrow::fitted(*value, stated);
        }
        let sizes: Vec<Size> = values.nl.iter().map(|a| self.size_if_i64(*a)).collect();
        let result = |v| Size::position_of(v).and_then(|k| sizes.get(k).cloned());
        let given = values.nl.iter().map(|a| self.type_of(*a));
        let given: Vec<Type> = given.chain(values.lin.iter().map(|x| self.lin_type(*x))).collect();
        for (k, (given, stated)) in
            given.iter().zip(stated.nl.iter().chain(&stated.lin)).enumerate()
        {
            let wanted = self.put(stated, &result, span)?;
            if *given != wanted {
                let message = format!(
                    "the value is of type {}, and {what} {} is of type {}",
                    self.show(given),
                    k + 1,
                    self.show(&wanted)
                );
                let help = super::fit::conversion(&self.show(given), &self.show(&wanted));
                let help = match what {
                    _ if super::fit::same_shape(given, &wanted) => {
                        format!(
                            "`cast x : {}` tests at run time that the sizes are equal",
                            self.show(&wanted)
                        )
                    }
                    "name" => format!("{help}, or state {}", self.show(given)),
                    _ => format!("{help}, or declare {}", self.show(given)),
                };
                let mut error = Diagnostic::error(code, span, message).help(help);
                if let (Some(Atom::Lit(jut_ir::Literal::I64(n))), Type::Float(_)) =
                    (values.nl.get(k), &wanted)
                {
                    error = error.help(format!("write `{n}.0`"));
                }
                return self.fail(error);
            }
        }
        Ok(())
    }

    fn size_if_i64(&self, atom: Atom) -> Size {
        if self.type_of(atom) == Type::I64 { self.nf(atom) } else { Size::default() }
    }

    /// Elaborates a block or an expression into the current statements; names bound inside are
    /// forgotten.
    pub fn body(&mut self, e: ExprId, stated: Option<&Annotation>) -> Res<(Values, Span)> {
        let ast = self.ast;
        if let ExprKind::Block(block) = &ast.expr(e).kind {
            let mark = self.scope.mark();
            let result = self.block(block, stated);
            self.scope.restore(mark);
            return result;
        }
        self.tail(e, stated)
    }

    fn block(
        &mut self,
        block: &'a ast::Block<'s>,
        stated: Option<&Annotation>,
    ) -> Res<(Values, Span)> {
        let mut ok = true;
        let mut again = Vec::new();
        let mut result = (Values::default(), block.span);
        for (k, stmt) in block.stmts.iter().enumerate() {
            let rebound = self.rebound(stmt);
            let done = match &stmt.kind {
                StmtKind::Expr(e) if k + 1 == block.stmts.len() => {
                    self.tail(*e, stated).map(|r| result = r)
                }
                _ => self.stmt(stmt),
            };
            let done = done.and_then(|()| match rebound {
                Some(rebound) => self.bound_again(rebound, stmt).map(|bound| again.push(bound)),
                None => Ok(()),
            });
            if done.is_err() {
                ok = false;
                self.poison(stmt);
            }
        }
        if !ok {
            return Err(Stop);
        }
        self.none_lost(&again)?;
        Ok(result)
    }

    /// The results of a block.
    fn tail(&mut self, e: ExprId, stated: Option<&Annotation>) -> Res<(Values, Span)> {
        let span = self.span(e);
        let effects = self.effects;
        let made = match &self.ast.expr(e).kind {
            ExprKind::List(nl, lin) => Made::Values(self.list(nl, lin)?, span),
            _ => self.rhs(e, stated)?,
        };
        if made.count() == 0 {
            self.has_effect(e, effects)?;
        }
        if let (Made::Op(out), true) = (&made, self.strict)
            && (!out.nl.is_empty() || !out.lin.is_empty())
        {
            let message = "a block of a `core def` ends in its results, not in an operation";
            let help = "bind the values and end the block in a result list `(a; a')`";
            return self.fail(Diagnostic::error("J602", span, message).help(help));
        }
        let (values, _) = self.values(made, "t")?;
        Ok((values, span))
    }

    /// `(a, b; c')`.
    pub fn list(&mut self, nl: &[ExprId], lin: &[ExprId]) -> Res<Values> {
        let mut values = Values::default();
        for e in nl {
            values.nl.push(self.atom(*e, "t")?);
        }
        for e in lin {
            values.lin.push(self.linear(*e, "t")?);
        }
        Ok(values)
    }

    /// After an error: the names of the statement are bound, but mean nothing.
    fn poison(&mut self, stmt: &ast::Stmt<'s>) {
        match &stmt.kind {
            StmtKind::Let(pattern, _) | StmtKind::Var(pattern, _) => {
                // A variable keeps its value, which is of the right type.
                let declared = matches!(stmt.kind, StmtKind::Var(..));
                for name in pattern.names() {
                    if declared || self.scope.variable(name.text).is_none() {
                        self.scope.bind(name.text, Entity::Poison);
                    }
                }
            }
            StmtKind::Part(pattern, _) => self.hide(pattern),
            StmtKind::Expr(e) => self.poison_inner(*e),
            _ => {}
        }
    }

    /// What the names of a pattern meant outside they mean no longer.
    fn hide(&mut self, pattern: &Pattern<'s>) {
        for name in pattern.names() {
            self.scope.bind(name.text, Entity::Poison);
        }
    }

    // ---- statements

    fn stmt(&mut self, stmt: &'a ast::Stmt<'s>) -> Res<()> {
        match &stmt.kind {
            StmtKind::Let(pattern, e) => self.bind_pattern(pattern, *e, false),
            StmtKind::Var(pattern, e) => {
                let help = "carry the value through a loop, and bind new names elsewhere";
                self.surface_only(stmt.span, "`var`", help)?;
                self.bind_pattern(pattern, *e, true)
            }
            StmtKind::Part(pattern, e) => {
                self.hide(pattern);
                self.bind_pattern(pattern, *e, false)
            }
            StmtKind::Set(target, op, e) => self.change(*target, *op, *e),
            StmtKind::SetAll(targets, e) => self.change_all(targets, *e, stmt.span),
            StmtKind::Inc(target, e) if self.is_changed(*target) => {
                self.change(*target, Some("+"), *e)
            }
            StmtKind::Expr(e) => self.expr_stmt(*e, stmt.span),
            _ => self.effect(stmt),
        }
    }

    /// An expression whose values nobody needs: it must have none.
    fn expr_stmt(&mut self, e: ExprId, span: Span) -> Res<()> {
        let effects = self.effects;
        let made = self.rhs(e, None)?;
        if made.count() == 0 {
            self.has_effect(e, effects)?;
        } else {
            let message = "the value of this statement is not used";
            let help = match self.ast.text(e).starts_with('-') {
                true => {
                    "a line that begins with `-` is a statement of its own: to go on with the line before, \
                     put the `-` at the end of that"
                }
                false => "bind it: `x = ..`; only the last expression of a block is its result",
            };
            return self.fail(Diagnostic::error("J602", span, message).help(help));
        }
        self.values(made, "t").map(|_| ())
    }

    /// Additions and checks.
    fn effect(&mut self, stmt: &'a ast::Stmt<'s>) -> Res<()> {
        self.effects += 1;
        match &stmt.kind {
            StmtKind::Let(..)
            | StmtKind::Var(..)
            | StmtKind::Part(..)
            | StmtKind::Set(..)
            | StmtKind::SetAll(..)
            | StmtKind::Expr(_) => Err(Stop),
            StmtKind::Inc(target, e) => {
                let (place, ty, mode) = self.place(*target)?;
                let operand = match mode {
                    Mode::Rd => {
                        let message = "`+=` needs a `wr` or an `acc`, and this is a `rd`";
                        let at = self.span(*target);
                        let help = "read it with `rd`, or add into a `wr` of your own: \
                                    `y' = wr s: f64 { s += x' }`";
                        return self.error("J111", at, message, help);
                    }
                    Mode::Wr => Operand::L(self.linear(*e, "t")?),
                    Mode::Acc => Operand::N(super::narrow::fitted(self.atom(*e, "t")?, &ty)),
                };
                let given = match operand {
                    Operand::N(a) => self.type_of(a),
                    Operand::L(x) => self.lin_type(x),
                };
                if given != ty {
                    let (given, ty) = (self.show(&given), self.show(&ty));
                    let message = format!("a value of type {given} is added into a {ty}");
                    let help = match given.as_str() {
                        "i64" if ty == "f64" => "convert it: `f64(n)`".to_string(),
                        _ => format!("add a {ty}, or give the capability the type {given}"),
                    };
                    return self.error("J202", self.span(*e), message, help);
                }
                self.emit(Rhs::Inc(place, operand), stmt.span)
            }
            StmtKind::Below(i, n) => {
                let (i, n) = (self.integer(*i, INDEX)?, self.integer(*n, "a length")?);
                self.emit(Rhs::Check(Check::Below(i, n)), stmt.span)
            }
            StmtKind::Within(lo, len, size) => {
                let lo = self.integer(*lo, "a start")?;
                let len = self.integer(*len, "a length")?;
                let size = self.integer(*size, "a length")?;
                self.emit(Rhs::Check(Check::Within { lo, len, size }), stmt.span)
            }
            StmtKind::NonNegative(n) => {
                let n = self.integer(*n, "a size")?;
                self.emit(Rhs::Check(Check::NonNegative(n)), stmt.span)
            }
            StmtKind::Exact(e) => self.exact_check(*e, stmt.span),
            StmtKind::Assert(e) => self.assertion(*e, stmt.span),
            StmtKind::Print(items) => self.printing(items, stmt.span),
            StmtKind::Show(text, e) => self.showing(text, *e, stmt.span),
        }
    }

    /// `assert c`: a check that a number is not negative, which is -1 where `c` does not hold. Whoever tells of
    /// the error finds by its place that it is an assertion.
    fn assertion(&mut self, condition: ExprId, span: Span) -> Res<()> {
        let help = "choose a number and check it: `t = select(c, 0, -1)`, then `check t >= 0`";
        self.surface_only(span, "`assert`", help)?;
        let holds = self.atom(condition, "t")?;
        let ty = self.type_of(holds);
        if ty != Type::Bool {
            let message =
                format!("a truth value is asserted, and this is of type {}", self.show(&ty));
            let help = match &ty {
                Type::Array(..) => "say of which elements: `assert all(x > 0.0)`",
                _ => "compare it: `assert x > 0.0`",
            };
            return self.error("J202", self.span(condition), message, help);
        }
        let number = |n| Atom::Lit(Literal::I64(n));
        let operands = vec![holds, number(0), number(-1)];
        let out = self.primitive("select", Syntax::Call, operands, span)?;
        let found = self.bind(out, &[], &[])?;
        let t = found.nl.first().copied().ok_or(Stop)?;
        self.emit(Rhs::Check(Check::NonNegative(t)), span)
    }

    /// An i64 operand.
    pub fn integer(&mut self, e: ExprId, what: &str) -> Res<Atom> {
        let hint = if what == INDEX { "j" } else { "t" };
        let atom = self.atom(e, hint)?;
        let ty = self.type_of(atom);
        if ty == Type::I64 {
            return Ok(atom);
        }
        let message = format!("{what} is an i64, and this is of type {}", self.show(&ty));
        let at = self.span(e);
        let error = Diagnostic::error("J201", at, message);
        self.fail(match (atom, &ty) {
            (Atom::Lit(jut_ir::Literal::F64(x)), _) if x.fract() == 0.0 && x.abs() < 1e15 => {
                error.help(format!("write `{}`", x as i64)).replace(at, format!("{}", x as i64))
            }
            (_, Type::Float(_)) => {
                let help =
                    "convert it: `i64(x)` rounds toward zero; or make it an i64 from the start";
                error.help(help).wrap("i64(", at, ")")
            }
            (_, Type::I32) => {
                let help = format!("convert it: `i64(k)`; {what} is of 64 bits");
                error.help(help).wrap("i64(", at, ")")
            }
            (_, Type::Bool) => {
                error.help("choose the number: `select(b, 1, 0)`").wrap("select(", at, ", 1, 0)")
            }
            (_, Type::Array(..)) => {
                error.help("the size of an array is `size(x)`, an element `x[i]`")
            }
            _ => error.help(format!("use an i64: {what} counts")),
        })
    }

    fn bind_pattern(&mut self, pattern: &'a Pattern<'s>, e: ExprId, declared: bool) -> Res<()> {
        match pattern {
            Pattern::Names { nl, lin, span } => self.bind_names(nl, lin, (*span, declared), e),
            Pattern::Tuple(names, span) => {
                let out = self.untuple(names, *span, e)?;
                let (nl, lin): (&[_], &[_]) =
                    if out.lin.is_empty() { (names, &[]) } else { (&[], names) };
                let values = self.bind(out, nl, lin)?;
                self.name_values(nl, lin, &values, declared)
            }
            Pattern::Con(name, fields) => {
                let (out, names) = self.open(name, fields, e)?;
                let (nl, lin): (&[_], &[_]) =
                    if out.lin.is_empty() { (&names, &[]) } else { (&[], &names) };
                let values = self.bind(out, nl, lin)?;
                self.name_values(nl, lin, &values, declared)
            }
        }
    }

    /// Binds the user's names to values.
    pub(super) fn name_values(
        &mut self,
        nl: &[Name<'s>],
        lin: &[Name<'s>],
        values: &Values,
        declared: bool,
    ) -> Res<()> {
        let mut seen = HashSet::new();
        for name in nl.iter().chain(lin) {
            if name.text != "_" && !seen.insert(name.text) {
                let message = format!("`{}` is bound twice in one pattern", name.text);
                let help = format!(
                    "give one of them another name, or `_` if it is not used: `{}2`",
                    name.text.trim_end_matches('\'')
                );
                return self.error("J011", name.span, message, help);
            }
        }
        for (name, atom) in nl.iter().zip(&values.nl) {
            if name.text != "_" || self.strict {
                self.bind_name(*name, *atom, declared)?;
            }
        }
        for (name, x) in lin.iter().zip(&values.lin) {
            self.scope.bind(name.text, Entity::L(*x));
        }
        Ok(())
    }

    fn bind_names(
        &mut self,
        nl: &'a [ast::Item<'s>],
        lin: &'a [ast::Item<'s>],
        (span, declared): (Span, bool),
        e: ExprId,
    ) -> Res<()> {
        if let Some(derived) = self.linearization(e).filter(|_| lin.is_empty()) {
            return self.bind_linearized(nl, derived, span);
        }
        if lin.is_empty() && self.is_function(e) {
            return self.bind_function(nl, declared, e);
        }
        let stated = self.annotation(nl, lin)?;
        let made = match self.writes(nl, e).filter(|_| lin.is_empty() && !declared) {
            Some(l) => {
                let ty = stated.as_ref().and_then(|stated| stated.nl.first()).cloned();
                self.recurrence(&nl[0], ty.as_ref(), l, self.span(e))?
            }
            None => self.rhs(e, stated.as_ref())?,
        };
        let (found_nl, found_lin) = match &made {
            Made::Values(v, _) => (v.nl.len(), v.lin.len()),
            Made::Op(out) => (out.nl.len(), out.lin.len()),
        };
        if (found_nl, found_lin) != (nl.len(), lin.len()) {
            let tuple = match &made {
                Made::Values(v, _) => v.nl.first().map(|atom| self.type_of(*atom)),
                Made::Op(out) => out.nl.first().cloned(),
            };
            let found = (found_nl, found_lin);
            if let (true, Some(ty)) = (lin.is_empty() && found == (1, 0), tuple)
                && self.components(&ty) == Some(nl.len())
            {
                return self.one_tuple(nl, &ty, span);
            }
            return self.misfit((nl.len(), lin.len()), found, span);
        }
        let names = |items: &[ast::Item<'s>]| items.iter().map(|i| i.name).collect::<Vec<_>>();
        let (nl, lin) = (names(nl), names(lin));
        let values = match made {
            Made::Values(mut values, at) => {
                if let Some(stated) = &stated {
                    self.conforms(&mut values, stated, at, "J214", "name")?;
                }
                if self.strict { self.copy(&values, &nl, &lin, at)? } else { values }
            }
            Made::Op(mut out) => {
                if let Some(stated) = &stated {
                    if !out.annotated && (out.nl != stated.nl || out.lin != stated.lin) {
                        let found = out.nl.iter().chain(&out.lin).map(|t| self.show(t));
                        let found: Vec<String> = found.collect();
                        let message = format!(
                            "the pattern states other types than the value has: {}",
                            found.join(", ")
                        );
                        let help = format!("state {}, or leave the types out", found.join(", "));
                        return self.error("J214", span, message, help);
                    }
                    out.annotated |= self.strict;
                }
                self.bind(*out, &nl, &lin)?
            }
        };
        self.name_values(&nl, &lin, &values, declared)
    }

    /// How many components a tuple has.
    fn components(&self, ty: &Type) -> Option<usize> {
        match ty {
            Type::Tuple(items) if self.program.record(items).is_none() => Some(items.len()),
            _ => None,
        }
    }

    /// J213 for a list of names before a value that is a tuple.
    fn one_tuple(&mut self, nl: &[ast::Item<'s>], ty: &Type, span: Span) -> Res<()> {
        let names: Vec<&str> = nl.iter().map(|item| item.name.text).collect();
        let message =
            format!("the value is one tuple of type {}, and no list of values", self.show(ty));
        let pattern = format!("#({})", names.join(", "));
        let help = format!("a tuple is taken apart by `{pattern} = ..`");
        let error = Diagnostic::error("J213", span, message).help(help);
        self.fail(match nl.iter().any(|item| item.ty.is_some()) {
            true => error,
            false => error.replace(span, pattern),
        })
    }

    fn misfit(&mut self, names: (usize, usize), found: (usize, usize), span: Span) -> Res<()> {
        if names == (1, 0) && found == (0, 1) {
            let message = "the value is linear, and the name is not";
            let help = "a linear name ends in `'`";
            return self.fail(Diagnostic::error("J101", span, message).help(help));
        }
        if names == (0, 1) && found == (1, 0) {
            let message = "the name is linear, and the value is not";
            let help = "a linear name ends in `'`; leave it out for a non-linear value";
            return self.fail(Diagnostic::error("J102", span, message).help(help));
        }
        let message = format!(
            "the pattern has {} non-linear and {} linear name(s), the value has {} and {}",
            names.0, names.1, found.0, found.1
        );
        self.error("J213", span, message, format!("bind all of them: `{} = ..`", pattern_of(found)))
    }

    /// `y = x` in a `core def`.
    fn copy(
        &mut self,
        values: &Values,
        nl: &[Name<'s>],
        lin: &[Name<'s>],
        span: Span,
    ) -> Res<Values> {
        let out = match (values.nl.as_slice(), values.lin.as_slice()) {
            ([a], []) => {
                let mut out = Out::one(Rhs::Atom(*a), self.type_of(*a), span);
                out.def = (self.type_of(*a) == Type::I64).then(|| self.nf(*a));
                out
            }
            ([], [x]) => Out::linear(Rhs::LCopy(*x), self.lin_type(*x), span),
            _ => {
                self.surface_only(span, "a list of values", "write one statement for each")?;
                return Err(Stop);
            }
        };
        self.bind(out, nl, lin)
    }

    /// The types that a pattern states.
    fn annotation(
        &mut self,
        nl: &'a [ast::Item<'s>],
        lin: &'a [ast::Item<'s>],
    ) -> Res<Option<Annotation>> {
        if nl.iter().chain(lin).all(|i| i.ty.is_none()) {
            return Ok(None);
        }
        let mark = self.scope.mark();
        let stated = self.annotation_types(nl, lin);
        self.scope.restore(mark);
        stated.map(Some)
    }

    fn annotation_types(
        &mut self,
        nl: &'a [ast::Item<'s>],
        lin: &'a [ast::Item<'s>],
    ) -> Res<Annotation> {
        let mut stated = Annotation::default();
        for (k, item) in nl.iter().chain(lin).enumerate() {
            let Some(ty) = &item.ty else {
                let message = format!("`{}` has no type, and other names have", item.name.text);
                let help = "give every name of the pattern a type, or none";
                return self.fail(Diagnostic::error("J002", item.name.span, message).help(help));
            };
            let ty = self.ty(ty)?;
            if k >= nl.len() {
                stated.lin.push(ty);
                continue;
            }
            if let (Type::I64, Some(v)) = (&ty, Size::position(k).as_var()) {
                self.scope.bind(item.name.text, Entity::N(Atom::Var(v)));
            }
            stated.nl.push(ty);
        }
        Ok(stated)
    }
}

/// A pattern for so many non-linear and linear values.
fn pattern_of((nl, lin): (usize, usize)) -> String {
    let names = |count: usize, tick: &str| -> String {
        (1..=count)
            .map(|k| format!("{}{k}{tick}", if tick.is_empty() { "a" } else { "x" }))
            .collect::<Vec<_>>()
            .join(", ")
    };
    match (nl, lin) {
        (1, 0) => "a".to_string(),
        (0, 1) => "x'".to_string(),
        (_, 0) => format!("({})", names(nl, "")),
        (0, _) => format!("(; {})", names(lin, "'")),
        _ => format!("({}; {})", names(nl, ""), names(lin, "'")),
    }
}

//! One definition: names, blocks, statements and patterns.
//!
//! An expression elaborates either to values that exist already, or to one operation that is not
//! yet bound ([`Made`]); who asked for it chooses the names. So `v = sin(u)` binds `v` directly,
//! and `y = x` in a `def` emits nothing: `y` is another name for `x`.
//!
//! Types of the results of an operation may mention its earlier non-linear results, as placeholders
//! ([`Size::position`]); binding replaces them by the names of the pattern.

use super::scope::{Entity, Scope};
use super::{Global, Globals, Res, Signature, Stop, show};
use crate::ast::{self, Ast, ExprId, ExprKind, Name, Pattern, StmtKind};
use crate::parser::MAX_DEPTH;
use jut_ir::build::FunctionBuilder;
use jut_ir::cover::Facts;
use jut_ir::entity::EntityRef;
use jut_ir::{
    Atom, Block, Cap, CapData, Check, Diagnostic, LVar, LinVarData, Literal, Loc, Mode, NVar,
    Operand, Program, Rhs, Size, Span, Stmt, Type, VarData, prim, print,
};
use std::collections::HashSet;

/// Types that are larger are refused (J003): types are trees, and `t = #(t, t)` doubles one.
const MAX_TYPE: usize = 2000;

/// What an operand is called that is an index.
pub(crate) const INDEX: &str = "an index";

/// One value.
#[derive(Clone, Copy)]
pub(crate) enum Value {
    N(Atom),
    L(LVar),
}

/// Several values, by section.
#[derive(Clone, Default)]
pub(crate) struct Values {
    pub nl: Vec<Atom>,
    pub lin: Vec<LVar>,
}

impl From<Value> for Values {
    fn from(value: Value) -> Values {
        match value {
            Value::N(a) => Values { nl: vec![a], lin: Vec::new() },
            Value::L(x) => Values { nl: Vec::new(), lin: vec![x] },
        }
    }
}

/// An operation that is not bound yet.
pub(crate) struct Out {
    pub rhs: Rhs,
    /// Types of the non-linear results, earlier ones as placeholders.
    pub nl: Vec<Type>,
    pub lin: Vec<Type>,
    /// The definition, if the result is a transparent i64.
    pub def: Option<Size>,
    /// An annotation decided the types.
    pub annotated: bool,
    pub span: Span,
}

impl Out {
    /// One non-linear result.
    pub fn one(rhs: Rhs, ty: Type, span: Span) -> Out {
        Out { rhs, nl: vec![ty], lin: Vec::new(), def: None, annotated: false, span }
    }

    /// One linear result.
    pub fn linear(rhs: Rhs, ty: Type, span: Span) -> Out {
        Out { rhs, nl: Vec::new(), lin: vec![ty], def: None, annotated: false, span }
    }

    /// No result.
    pub fn none(rhs: Rhs, span: Span) -> Out {
        Out { rhs, nl: Vec::new(), lin: Vec::new(), def: None, annotated: false, span }
    }
}

/// What an expression gives.
pub(crate) enum Made {
    Values(Values, Span),
    Op(Box<Out>),
}

impl From<Out> for Made {
    fn from(out: Out) -> Made {
        Made::Op(Box::new(out))
    }
}

/// The types that a pattern or a result list states, names of the pattern as placeholders.
#[derive(Clone, Default)]
pub(crate) struct Annotation {
    pub nl: Vec<Type>,
    pub lin: Vec<Type>,
}

/// The elaborator of one definition.
pub(crate) struct Body<'a, 's> {
    pub ast: &'a Ast<'s>,
    pub program: &'a Program,
    pub globals: &'a Globals<'s>,
    /// The definition's own name: using it is recursion.
    pub this: &'s str,
    /// A `core def`.
    pub strict: bool,
    pub b: FunctionBuilder,
    pub scope: Scope<'s>,
    pub facts: Facts,
    /// The block being made.
    pub stmts: Vec<Stmt>,
    /// Linear variables with a smaller number are outside the innermost loop.
    pub barrier: usize,
    /// How many copies of the text being elaborated there are.
    pub copies: u32,
    pub diagnostics: &'a mut Vec<Diagnostic>,
}

impl<'a, 's> Body<'a, 's> {
    pub fn new(
        ast: &'a Ast<'s>,
        program: &'a Program,
        globals: &'a Globals<'s>,
        this: &'s str,
        strict: bool,
        diagnostics: &'a mut Vec<Diagnostic>,
    ) -> Self {
        Body {
            ast,
            program,
            globals,
            this,
            strict,
            b: FunctionBuilder::default(),
            scope: Scope::default(),
            facts: Facts::default(),
            stmts: Vec::new(),
            barrier: 0,
            copies: 1,
            diagnostics,
        }
    }

    // ---- errors

    pub fn fail<T>(&mut self, diagnostic: Diagnostic) -> Res<T> {
        self.diagnostics.push(diagnostic);
        Err(Stop)
    }

    pub fn error<T>(
        &mut self,
        code: &'static str,
        span: Span,
        message: impl Into<String>,
    ) -> Res<T> {
        self.fail(Diagnostic::error(code, span, message))
    }

    /// J601 in a `core def`.
    pub fn surface_only(&mut self, span: Span, what: &str, help: &str) -> Res<()> {
        if !self.strict {
            return Ok(());
        }
        let message = format!("{what} is not allowed in a `core def`");
        self.fail(Diagnostic::error("J601", span, message).help(help))
    }

    pub fn show(&self, ty: &Type) -> String {
        print::print_type(self.program, &self.b.func, ty)
    }

    pub fn show_size(&self, size: &Size) -> String {
        print::print_size(&self.b.func, size)
    }

    pub fn span(&self, e: ExprId) -> Span {
        self.ast.expr(e).span
    }

    // ---- variables

    /// A non-linear variable with exactly this name.
    fn literal_nvar(&mut self, name: &Name<'s>, ty: Type, def: Option<Size>) -> NVar {
        self.b.namer.reserve(name.text);
        let data = VarData { name: name.text.to_string(), ty, def, span: name.span };
        self.b.func.nvars.push(data)
    }

    pub fn param(&mut self, name: &Name<'s>, ty: Type) -> NVar {
        self.dimensions(&ty);
        let v = self.literal_nvar(name, ty, None);
        self.scope.bind(name.text, Entity::N(Atom::Var(v)));
        v
    }

    /// The name of a result in a signature: in scope for later result types only.
    pub fn result_name(&mut self, name: &Name<'s>, ty: Type) -> NVar {
        let data = VarData { name: name.text.to_string(), ty, def: None, span: name.span };
        let v = self.b.func.nvars.push(data);
        self.scope.bind(name.text, Entity::N(Atom::Var(v)));
        v
    }

    pub fn lin_param(&mut self, name: &Name<'s>, ty: Type) -> LVar {
        self.b.namer.reserve(name.text);
        let data = LinVarData { name: name.text.to_string(), ty, span: name.span };
        let v = self.b.func.lvars.push(data);
        self.scope.bind(name.text, Entity::L(v));
        v
    }

    pub fn cap_param(&mut self, name: &Name<'s>, mode: Mode, lanes: bool, ty: Type) -> Cap {
        self.b.namer.reserve(name.text);
        let text = name.text.to_string();
        let cap = self.b.func.caps.push(CapData { name: text, mode, lanes, ty, span: name.span });
        self.scope.bind(name.text, Entity::C(cap));
        cap
    }

    /// A non-linear variable of the user's: literal in a `core def`, else with a fresh name.
    pub fn nvar(&mut self, name: &Name<'s>, ty: Type) -> NVar {
        if self.strict {
            return self.param(name, ty);
        }
        self.dimensions(&ty);
        let v = self.b.nvar(name.text, ty, name.span);
        self.scope.bind(name.text, Entity::N(Atom::Var(v)));
        v
    }

    /// A linear variable of the user's.
    pub fn lvar(&mut self, name: &Name<'s>, ty: Type) -> LVar {
        if self.strict {
            return self.lin_param(name, ty);
        }
        let v = self.b.lvar(name.text, ty, name.span);
        self.scope.bind(name.text, Entity::L(v));
        v
    }

    /// A capability of the user's.
    pub fn cap(&mut self, name: &Name<'s>, mode: Mode, lanes: bool, ty: Type) -> Cap {
        if self.strict {
            return self.cap_param(name, mode, lanes, ty);
        }
        let cap = self.b.cap(name.text, mode, lanes, ty, name.span);
        self.scope.bind(name.text, Entity::C(cap));
        cap
    }

    /// The dimensions of an array in scope are facts.
    pub fn dimensions(&mut self, ty: &Type) {
        if !self.strict {
            let facts = &mut self.facts;
            ty.for_each_size(&mut |size| facts.add_dimension(size));
        }
    }

    pub fn lookup(&mut self, name: &Name<'s>) -> Res<Entity> {
        match self.scope.get(name.text) {
            Some(Entity::Poison) => Err(Stop),
            Some(entity) => Ok(entity),
            None => {
                let message = format!("there is no name `{}` here", name.text);
                let mut d = Diagnostic::error("J010", name.span, message);
                if let Some(near) = show::nearest(name.text, self.scope.names()) {
                    d = d.help(format!("did you mean `{near}`?"));
                } else if let Some(Global::Con(_)) = self.globals.names.get(name.text) {
                    d = d.help(format!("a constructor needs its brackets: `{}()`", name.text));
                }
                self.fail(d)
            }
        }
    }

    pub fn type_of(&self, atom: Atom) -> Type {
        self.b.func.type_of(atom)
    }

    pub fn lin_type(&self, x: LVar) -> Type {
        self.b.func.lvars[x].ty.clone()
    }

    /// The normal form of an i64 operand, placeholders included.
    pub fn nf(&self, atom: Atom) -> Size {
        match atom {
            Atom::Var(v) if Size::position_of(v).is_some() => Size::var(v),
            _ => self.b.func.size_of(atom),
        }
    }

    // ---- binding

    /// Refuses types that are too large to handle.
    fn bounded(&mut self, ty: &Type, span: Span) -> Res<()> {
        /// Nodes and depth.
        fn measure(ty: &Type) -> (usize, usize) {
            match ty {
                Type::Tuple(items) => {
                    items.iter().map(measure).fold((1, 1), |(n, d), (m, e)| (n + m, d.max(e + 1)))
                }
                Type::Array(size, element) => {
                    let (nodes, depth) = measure(element);
                    (nodes + size.terms().len() + 1, depth + 1)
                }
                _ => (1, 1),
            }
        }
        let (nodes, depth) = measure(ty);
        if nodes <= MAX_TYPE && depth <= MAX_DEPTH as usize {
            return Ok(());
        }
        let message = "the type of this value is too large";
        self.fail(Diagnostic::error("J003", span, message).help("use a data type or an array"))
    }

    /// Makes the variables for the results of an operation and emits the statement.
    /// `nl` and `lin` give the names; missing ones are `t`.
    pub fn bind(&mut self, out: Out, nl: &[Name<'s>], lin: &[Name<'s>]) -> Res<Values> {
        let Out { rhs, nl: nl_types, lin: lin_types, def, annotated, span } = out;
        let mut values = Values::default();
        let mut names: Vec<NVar> = Vec::new();
        for (k, ty) in nl_types.into_iter().enumerate() {
            let ty = place(&ty, &names);
            self.bounded(&ty, span)?;
            self.dimensions(&ty);
            let def = def.clone().filter(|_| ty == Type::I64);
            let v = match nl.get(k) {
                Some(name) if self.strict => self.literal_nvar(name, ty, def),
                name => {
                    let hint = name.map_or("t", |n| if n.text == "_" { "t" } else { n.text });
                    let at = name.map_or(span, |n| n.span);
                    match def {
                        Some(def) => self.b.size_var(hint, def, at),
                        None => self.b.nvar(hint, ty, at),
                    }
                }
            };
            names.push(v);
            values.nl.push(Atom::Var(v));
        }
        for (k, ty) in lin_types.into_iter().enumerate() {
            let ty = place(&ty, &names);
            self.bounded(&ty, span)?;
            let x = match lin.get(k) {
                Some(name) if self.strict => {
                    self.b.namer.reserve(name.text);
                    let name_text = name.text.to_string();
                    self.b.func.lvars.push(LinVarData { name: name_text, ty, span: name.span })
                }
                name => {
                    let hint = name.map_or("t'", |n| n.text);
                    self.b.lvar(hint, ty, name.map_or(span, |n| n.span))
                }
            };
            values.lin.push(x);
        }
        if !self.strict {
            self.learn(&rhs, &names);
        }
        let loc = Loc::source(span);
        self.stmts.push(Stmt { nl: names, lin: values.lin.clone(), rhs, annotated, loc });
        Ok(values)
    }

    /// What a statement lets the range rule know.
    fn learn(&mut self, rhs: &Rhs, names: &[NVar]) {
        match (rhs, names) {
            (Rhs::Check(check), _) => match *check {
                Check::Below(i, n) => self.facts.add_below(self.nf(i), self.nf(n)),
                Check::Within { lo, len, size } => {
                    self.facts.add_within(self.nf(lo), self.nf(len), self.nf(size));
                }
                Check::NonNegative(n) => self.facts.add_non_negative(self.nf(n)),
            },
            (Rhs::Prim(prim::IMAX, args), [v]) => match args.as_slice() {
                [a, Atom::Lit(Literal::I64(0))] | [Atom::Lit(Literal::I64(0)), a] => {
                    self.facts.add_max_zero(*v, self.nf(*a));
                }
                _ => {}
            },
            (_, [v]) => {
                if let Some(def) = self.b.func.nvars[*v].def.clone()
                    && def.as_constant().is_none()
                    && def.as_var().is_none()
                {
                    self.scope.define(&def, *v);
                }
            }
            _ => {}
        }
    }

    /// Emits an operation under temporary names.
    pub fn values(&mut self, made: Made, hint: &'s str) -> Res<(Values, Span)> {
        match made {
            Made::Values(values, span) => Ok((values, span)),
            Made::Op(out) => {
                let span = out.span;
                let nl: Vec<Name> = out.nl.iter().map(|_| Name { text: hint, span }).collect();
                Ok((self.bind(*out, &nl, &[])?, span))
            }
        }
    }

    /// Emits an operation that binds nothing.
    pub fn emit(&mut self, rhs: Rhs, span: Span) -> Res<()> {
        self.bind(Out::none(rhs, span), &[], &[]).map(|_| ())
    }

    /// The one value of an expression.
    pub fn value(&mut self, e: ExprId, hint: &'s str) -> Res<Value> {
        let made = self.rhs(e, None)?;
        let (values, span) = self.values(made, hint)?;
        match (values.nl.as_slice(), values.lin.as_slice()) {
            ([a], []) => Ok(Value::N(*a)),
            ([], [x]) => Ok(Value::L(*x)),
            _ => {
                let count = values.nl.len() + values.lin.len();
                let message = format!("one value is needed here, and this gives {count}");
                let help = "bind the values first: `(a, b) = ..`";
                self.fail(Diagnostic::error("J213", span, message).help(help))
            }
        }
    }

    /// An operand: in a `core def` a name or a literal, otherwise any expression of one value.
    pub fn operand(&mut self, e: ExprId, hint: &'s str) -> Res<Value> {
        if self.strict && !self.is_atom(e) {
            let what = "a nested operand";
            let help = "bind it to a name in a statement of its own";
            self.surface_only(self.span(e), what, help)?;
        }
        self.value(e, hint)
    }

    /// A non-linear operand.
    pub fn atom(&mut self, e: ExprId, hint: &'s str) -> Res<Atom> {
        match self.operand(e, hint)? {
            Value::N(a) => Ok(a),
            Value::L(x) => {
                let name = self.b.func.lvars[x].name.clone();
                let message = format!("`{name}` is linear, and a non-linear value is needed here");
                let help = "a linear value can only be added, negated, scaled and passed on";
                self.fail(Diagnostic::error("J101", self.span(e), message).help(help))
            }
        }
    }

    /// A linear operand.
    pub fn linear(&mut self, e: ExprId, hint: &'s str) -> Res<LVar> {
        match self.operand(e, hint)? {
            Value::L(x) => Ok(x),
            Value::N(a) => {
                let ty = self.show(&self.type_of(a));
                let message =
                    format!("a linear value is needed here, and this is a non-linear {ty}");
                let help = "linear values come from linear parameters and from `zero`";
                self.fail(Diagnostic::error("J102", self.span(e), message).help(help))
            }
        }
    }

    fn is_atom(&self, e: ExprId) -> bool {
        match &self.ast.expr(e).kind {
            ExprKind::Name(_) | ExprKind::Int(_) | ExprKind::Float(_) | ExprKind::Bool(_) => true,
            ExprKind::Ops(ops) => self.negated_literal(ops),
            _ => false,
        }
    }

    // ---- blocks

    /// The whole body of a definition.
    pub fn definition(&mut self, d: &ast::Def<'s>, signature: &Signature) -> Res<Block> {
        let annotation = Annotation { nl: signature.nl.clone(), lin: signature.lin.clone() };
        let stated = (signature.telescoped && !self.strict).then_some(&annotation);
        let (values, span) = self.body(d.body, stated)?;
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
            let mut error = Diagnostic::error("J213", span, message);
            if found.0 + found.1 == wanted.0 + wanted.1 {
                error = error.help("results behind the `;` are linear, those before it are not");
            }
            return self.fail(error.label(d.head, "declared here"));
        }
        self.conforms(&values, &annotation, span, "J214", "declared result")?;
        let stmts = std::mem::take(&mut self.stmts);
        Ok(Block { stmts, nl: values.nl, lin: values.lin })
    }

    /// Whether values have the stated types, placeholders standing for the values themselves.
    pub fn conforms(
        &mut self,
        values: &Values,
        stated: &Annotation,
        span: Span,
        code: &'static str,
        what: &str,
    ) -> Res<()> {
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
                return self.fail(Diagnostic::error(code, span, message));
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
        let mut result = (Values::default(), block.span);
        for (k, stmt) in block.stmts.iter().enumerate() {
            let done = match &stmt.kind {
                StmtKind::Expr(e) if k + 1 == block.stmts.len() => {
                    self.tail(*e, stated).map(|r| result = r)
                }
                _ => self.stmt(stmt),
            };
            if done.is_err() {
                ok = false;
                self.poison(stmt);
            }
        }
        if ok { Ok(result) } else { Err(Stop) }
    }

    /// The results of a block.
    fn tail(&mut self, e: ExprId, stated: Option<&Annotation>) -> Res<(Values, Span)> {
        let span = self.span(e);
        let made = match &self.ast.expr(e).kind {
            ExprKind::List(nl, lin) => Made::Values(self.list(nl, lin)?, span),
            _ => self.rhs(e, stated)?,
        };
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
        let StmtKind::Let(pattern, _) = &stmt.kind else { return };
        let names: Vec<&'s str> = match pattern {
            Pattern::Names { nl, lin, .. } => nl.iter().chain(lin).map(|i| i.name.text).collect(),
            Pattern::Tuple(names, _) => names.iter().map(|n| n.text).collect(),
            Pattern::Con(_, fields) => fields
                .iter()
                .filter_map(|f| match f {
                    ast::FieldPattern::Bind(name) => Some(name.text),
                    ast::FieldPattern::Eq(_) => None,
                })
                .collect(),
        };
        for name in names {
            self.scope.bind(name, Entity::Poison);
        }
    }

    // ---- statements

    fn stmt(&mut self, stmt: &'a ast::Stmt<'s>) -> Res<()> {
        match &stmt.kind {
            StmtKind::Let(pattern, e) => self.bind_pattern(pattern, *e),
            StmtKind::Expr(e) => {
                let made = self.rhs(*e, None)?;
                let (nl, lin) = match &made {
                    Made::Values(v, _) => (v.nl.len(), v.lin.len()),
                    Made::Op(out) => (out.nl.len(), out.lin.len()),
                };
                if nl + lin > 0 {
                    let message = "the value of this statement is not used";
                    let help =
                        "bind it: `x = ..`; only the last expression of a block is its result";
                    return self.fail(Diagnostic::error("J602", stmt.span, message).help(help));
                }
                self.values(made, "t").map(|_| ())
            }
            StmtKind::Inc(target, e) => {
                let (place, ty, mode) = self.place(*target)?;
                let operand = match mode {
                    Mode::Rd => {
                        let message = "`+=` needs a `wr` or an `acc`, and this is a `rd`";
                        let at = self.span(*target);
                        return self.error("J111", at, message);
                    }
                    Mode::Wr => Operand::L(self.linear(*e, "t")?),
                    Mode::Acc => Operand::N(self.atom(*e, "t")?),
                };
                let given = match operand {
                    Operand::N(a) => self.type_of(a),
                    Operand::L(x) => self.lin_type(x),
                };
                if given != ty {
                    let (given, ty) = (self.show(&given), self.show(&ty));
                    let message = format!("a value of type {given} is added into a {ty}");
                    return self.error("J202", self.span(*e), message);
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
        }
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
        self.error("J201", self.span(e), message)
    }

    fn bind_pattern(&mut self, pattern: &'a Pattern<'s>, e: ExprId) -> Res<()> {
        match pattern {
            Pattern::Names { nl, lin, span } => self.bind_names(nl, lin, *span, e),
            Pattern::Tuple(names, span) => {
                let out = self.untuple(names, *span, e)?;
                let (nl, lin): (&[_], &[_]) =
                    if out.lin.is_empty() { (names, &[]) } else { (&[], names) };
                let values = self.bind(out, nl, lin)?;
                self.name_values(nl, lin, &values)
            }
            Pattern::Con(name, fields) => {
                let (out, names) = self.open(name, fields, e)?;
                let values = self.bind(out, &names, &[])?;
                self.name_values(&names, &[], &values)
            }
        }
    }

    /// Binds the user's names to values.
    fn name_values(&mut self, nl: &[Name<'s>], lin: &[Name<'s>], values: &Values) -> Res<()> {
        let mut seen = HashSet::new();
        for name in nl.iter().chain(lin) {
            if name.text != "_" && !seen.insert(name.text) {
                let message = format!("`{}` is bound twice in one pattern", name.text);
                return self.error("J011", name.span, message);
            }
        }
        for (name, atom) in nl.iter().zip(&values.nl) {
            if name.text != "_" || self.strict {
                self.scope.bind(name.text, Entity::N(*atom));
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
        span: Span,
        e: ExprId,
    ) -> Res<()> {
        let stated = self.annotation(nl, lin)?;
        let made = self.rhs(e, stated.as_ref())?;
        let (found_nl, found_lin) = match &made {
            Made::Values(v, _) => (v.nl.len(), v.lin.len()),
            Made::Op(out) => (out.nl.len(), out.lin.len()),
        };
        if (found_nl, found_lin) != (nl.len(), lin.len()) {
            return self.misfit((nl.len(), lin.len()), (found_nl, found_lin), span);
        }
        let names = |items: &[ast::Item<'s>]| items.iter().map(|i| i.name).collect::<Vec<_>>();
        let (nl, lin) = (names(nl), names(lin));
        let values = match made {
            Made::Values(values, at) => {
                if let Some(stated) = &stated {
                    self.conforms(&values, stated, at, "J214", "name")?;
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
                        return self.error("J214", span, message);
                    }
                    out.annotated |= self.strict;
                }
                self.bind(*out, &nl, &lin)?
            }
        };
        self.name_values(&nl, &lin, &values)
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
        self.error("J213", span, message)
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

    /// The types of the results of a block statement, seen from outside: a local opaque size must
    /// be an earlier result, and is replaced by its placeholder. Variables with number `mark` or
    /// more are local.
    pub fn export(&mut self, values: &Values, mark: usize, span: Span) -> Res<Annotation> {
        let mut out = Annotation::default();
        for k in 0..values.nl.len() + values.lin.len() {
            let ty = match values.nl.get(k) {
                Some(a) => self.type_of(*a),
                None => self.lin_type(values.lin[k - values.nl.len()]),
            };
            let earlier = &values.nl[..k.min(values.nl.len())];
            let mut escaped = None;
            let ty = ty.subst(&mut |v| {
                if v.index() < mark || Size::position_of(v).is_some() {
                    return None;
                }
                let position = earlier.iter().position(|a| *a == Atom::Var(v));
                if position.is_none() {
                    escaped = Some(v);
                }
                position.map(Size::position)
            });
            if let Some(v) = escaped {
                let message = format!(
                    "the size `{}` of result {} is known only inside this block",
                    self.b.func.nvars[v].name,
                    k + 1
                );
                let help = "return the size as an earlier result, `(m, y)`; where arms of a branch do, annotate the pattern: `(m: i64, y: [m]f64) = ..`";
                return self.fail(Diagnostic::error("J203", span, message).help(help));
            }
            if k < values.nl.len() { out.nl.push(ty) } else { out.lin.push(ty) }
        }
        Ok(out)
    }
}

/// Replaces placeholders by the variables they stand for.
fn place(ty: &Type, names: &[NVar]) -> Type {
    ty.subst(&mut |v| Size::position_of(v).and_then(|k| names.get(k)).map(|name| Size::var(*name)))
}

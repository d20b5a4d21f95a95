//! One definition: names, blocks, statements and patterns.
//!
//! An expression elaborates either to values that exist already, or to one operation that is not
//! yet bound ([`Made`]); who asked for it chooses the names. So `v = sin(u)` binds `v` directly,
//! and `y = x` in a `def` emits nothing: `y` is another name for `x`.
//!
//! Types of the results of an operation may mention its earlier non-linear results, as placeholders
//! ([`Size::position`]); binding replaces them by the names of the pattern.

use super::given::{Given, Ruling, Specials, Taken, Template};
use super::made::{Annotation, Made, Out, Value, Values};
use super::opaque_sizes::Opaque;
use super::scope::{Entity, Scope};
use super::{Global, Globals, Res, Stop, show};
use crate::ast::{Ast, ExprId, ExprKind, Name};
use crate::parser::MAX_DEPTH;
use jut_ir::build::FunctionBuilder;
use jut_ir::cover::Facts;
use jut_ir::entity::EntityRef;
use jut_ir::{
    Atom, Cap, CapData, Check, Diagnostic, LVar, LinVarData, Literal, Loc, Mode, NVar, Program,
    Rhs, Size, Span, Stmt, Type, VarData, prim, print,
};
use std::collections::{HashMap, HashSet};

/// Types that are larger are refused (J003): types are trees, and `t = #(t, t)` doubles one.
const MAX_TYPE: usize = 2000;

/// What an operand is called that is an index.
pub(crate) const INDEX: &str = "an index";

/// The elaborator of one definition.
pub(crate) struct Body<'a, 's> {
    pub ast: &'a Ast<'s>,
    pub program: &'a Program,
    pub globals: &'a Globals,
    /// The definitions that take functions.
    pub templates: &'a [Template<'a, 's>],
    /// The functions that were given to them.
    pub given: Vec<Given<'a, 's>>,
    /// The names that blocks have given to functions.
    pub functions: HashSet<&'s str>,
    /// How many of them are being written out, in each other, and in all.
    pub expansion: (u32, u32),
    /// Derivatives of functions that are no definitions.
    pub taken: Taken,
    /// Definitions that call themselves, for the functions that they are given.
    pub specials: Specials<'a, 's>,
    /// Definitions with rules that take functions, whose definitions are being read.
    pub rulings: Vec<Ruling<'a, 's>>,
    /// A `core def`.
    pub strict: bool,
    /// Whether an access is marked as proved: see [`super::guard`].
    pub marked: bool,
    pub b: FunctionBuilder,
    pub scope: Scope<'s>,
    pub facts: Facts,
    /// Integers that no polynomial gives.
    pub opaque: Opaque,
    /// Of names that are known to be derivatives: of what type, or by what.
    pub tangents: HashMap<NVar, Type>,
    /// The block being made.
    pub stmts: Vec<Stmt>,
    /// Linear variables with a smaller number are outside the innermost loop.
    pub barrier: usize,
    /// How many copies of the text being elaborated there are.
    pub copies: u32,
    /// How many blocks there are around.
    pub nesting: usize,
    /// How many statements had an effect so far.
    pub effects: usize,
    /// The innermost part around that cannot assign variables of outside.
    pub sealed: Option<Sealed>,
    /// The innermost loop or branch around, as it is written.
    pub around: Option<ExprId>,
    /// Directly in the body of a `for`: how many blocks there are around.
    pub ordered: Option<usize>,
    /// The arrays that loops around are writing.
    pub written: Vec<super::body::Written>,
    pub diagnostics: &'a mut Vec<Diagnostic>,
}

impl<'a, 's> Body<'a, 's> {
    pub fn new(
        ast: &'a Ast<'s>,
        program: &'a Program,
        globals: &'a Globals,
        templates: &'a [Template<'a, 's>],
        strict: bool,
        diagnostics: &'a mut Vec<Diagnostic>,
    ) -> Self {
        Body {
            ast,
            program,
            globals,
            templates,
            given: Vec::new(),
            functions: HashSet::new(),
            expansion: (0, 0),
            taken: Taken::default(),
            specials: Specials::default(),
            rulings: Vec::new(),
            strict,
            marked: false,
            b: FunctionBuilder::default(),
            scope: Scope::default(),
            facts: Facts::default(),
            opaque: Opaque::default(),
            tangents: HashMap::default(),
            stmts: Vec::new(),
            barrier: 0,
            copies: 1,
            nesting: 0,
            effects: 0,
            sealed: None,
            around: None,
            ordered: None,
            written: Vec::new(),
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
        help: impl Into<String>,
    ) -> Res<T> {
        self.fail(Diagnostic::error(code, span, message).help(help))
    }

    /// A name that is linear where its value is not, or the other way round.
    pub fn other_name<T>(&mut self, code: &'static str, name: &Name<'s>, message: &str) -> Res<T> {
        let other = match name.is_linear() {
            true => name.text.trim_end_matches('\'').to_string(),
            false => format!("{}'", name.text),
        };
        let error = Diagnostic::error(code, name.span, message);
        self.fail(error.help(format!("name it `{other}`")).replace(name.span, other))
    }

    /// An operand as the user wrote it.
    pub fn show_atom(&self, atom: Atom) -> String {
        match atom {
            Atom::Var(v) => self.b.func.nvars[v].name.to_string(),
            Atom::Lit(literal) => jut_ir::print::print_literal(literal),
        }
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
        let data = VarData { name: name.text.into(), ty, def, span: name.span };
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
        let data = VarData { name: name.text.into(), ty, def: None, span: name.span };
        let v = self.b.func.nvars.push(data);
        self.scope.bind(name.text, Entity::N(Atom::Var(v)));
        v
    }

    pub fn lin_param(&mut self, name: &Name<'s>, ty: Type) -> LVar {
        self.b.namer.reserve(name.text);
        let data = LinVarData { name: name.text.into(), ty, span: name.span };
        let v = self.b.func.lvars.push(data);
        self.scope.bind(name.text, Entity::L(v));
        v
    }

    pub fn cap_param(&mut self, name: &Name<'s>, mode: Mode, lanes: bool, ty: Type) -> Cap {
        self.b.namer.reserve(name.text);
        let text = name.text.into();
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
        let v = self.b.nvar(name.hint(), ty, name.span);
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
        let cap = self.b.cap(name.hint(), mode, lanes, ty, name.span);
        self.scope.bind(name.text, Entity::C(cap));
        cap
    }

    /// The dimensions of an array in scope are facts.
    pub fn dimensions(&mut self, ty: &Type) {
        if !self.strict {
            self.facts.add_type(ty);
        }
    }

    pub fn lookup(&mut self, name: &Name<'s>) -> Res<Entity> {
        match self.scope.get(name.text) {
            Some(Entity::Poison) => Err(Stop),
            Some(entity) => Ok(entity),
            None if !self.strict && self.globals.is_poisoned(name.text) => Err(Stop),
            None => {
                if let Some(atom) = self.constant(name.text, name.span)? {
                    return Ok(Entity::N(atom));
                }
                if let Some(atom) = self.constructor_alone(name.text, name.span)? {
                    return Ok(Entity::N(atom));
                }
                if !self.strict && self.is_name_of_function(name.text) {
                    let message = format!("`{}` is a function, and a value is needed", name.text);
                    let help = "call it, or give it to a definition that takes one; or bind the name to a value before";
                    return self.error("J608", name.span, message, help);
                }
                let message = format!("there is no name `{}` here", name.text);
                let mut d = Diagnostic::error("J010", name.span, message);
                if let Some(Global::Con(con)) = self.globals.global(name.text) {
                    let constructor = self.program.constructor(con);
                    let call = super::fit::fields_text(name.text, &constructor.fields);
                    d = d.help(format!("a constructor needs its brackets: `{call}`"));
                    if constructor.fields.is_empty() {
                        d = d.wrap("", name.span, "()");
                    }
                } else if let Some(near) = show::nearest(name.text, self.scope.names()) {
                    d = d.did_you_mean(near);
                } else if let Some(help) = crate::hints::name(name.text) {
                    d = crate::hints::about(d, name.text, help);
                } else if let Some(span) = self.globals.declared_at(name.text)
                    && self.globals.global(name.text).is_none()
                {
                    d = d.help("a name is in scope after its definition: move it up");
                    d = d.label(span, "defined here");
                } else {
                    d = d.help(format!(
                        "bind it before, `{0} = ..`, or make it a parameter: `{0}: f64`",
                        name.text
                    ));
                }
                self.fail(d)
            }
        }
    }

    /// The value of a constructor without fields, which needs no brackets; `None` if the name is that of none.
    fn constructor_alone(&mut self, name: &str, span: Span) -> Res<Option<Atom>> {
        let Some(Global::Con(con)) = self.globals.global(name) else { return Ok(None) };
        let record = self.program.datas[con.data].record.is_some();
        if self.strict || record || !self.program.constructor(con).fields.is_empty() {
            return Ok(None);
        }
        let out = Out::one(Rhs::Con(con, Vec::new()), Type::Data(con.data), span);
        Ok(self.bind(out, &[], &[])?.nl.first().copied())
    }

    /// The value of a constant; `None` if there is none with this name.
    pub fn constant(&mut self, name: &str, span: Span) -> Res<Option<Atom>> {
        if self.strict {
            return Ok(None);
        }
        let Some((func, value)) = self.globals.constant(name) else {
            let value = match name {
                "pi" => Some(std::f64::consts::PI),
                "e" => Some(std::f64::consts::E),
                _ => None,
            };
            let value = value.filter(|_| self.globals.declared_at(name).is_none());
            return Ok(value.map(|x| Atom::Lit(Literal::F64(x))));
        };
        if let Some(literal) = value {
            return Ok(Some(Atom::Lit(literal)));
        }
        let nl = self.program.funcs[func].results.iter().map(|r| r.ty.clone()).collect();
        let (args, lin_args, places) = (Vec::new(), Vec::new(), Vec::new());
        let rhs = Rhs::Call(Box::new(jut_ir::Call { func, args, lin_args, places }));
        let values = self.bind(Out { nl, ..Out::none(rhs, span) }, &[], &[])?;
        Ok(values.nl.first().copied())
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
    pub fn bounded(&mut self, ty: &Type, span: Span) -> Res<()> {
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
        let help = "name a part of it by a data type, `data P = P(..)`, or use an array";
        self.error("J003", span, message, help)
    }

    /// Makes the variables for the results of an operation and emits the statement.
    /// `nl` and `lin` give the names; missing ones are `t`.
    pub fn bind(&mut self, out: Out, nl: &[Name<'s>], lin: &[Name<'s>]) -> Res<Values> {
        let Out { rhs, nl: nl_types, lin: lin_types, def, annotated, span, tape } = out;
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
                    let hint = name.map_or("t", |n| if n.text == "_" { "t" } else { n.hint() });
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
                    let name_text = name.text.into();
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
            self.opaque.remember(&rhs, &names, &self.b.func);
            self.label(&rhs, &names);
        }
        let loc = Loc { tape, ..Loc::source(span) };
        self.stmts.push(Stmt { nl: names.clone(), lin: values.lin.clone(), rhs, annotated, loc });
        for v in names {
            let ty = &self.b.func.nvars[v].ty;
            if !ty.is_scalar() {
                self.exact_type(&ty.clone(), span)?;
            }
        }
        for x in &values.lin {
            self.exact_type(&self.lin_type(*x), span)?;
        }
        Ok(values)
    }

    /// What a statement lets the range rule know.
    fn learn(&mut self, rhs: &Rhs, names: &[NVar]) {
        if let Some(trips) = rhs.trips(names) {
            self.facts.add_non_negative(Size::var(trips));
        }
        match (rhs, names) {
            (Rhs::Check(check), _) => match *check {
                Check::Below(i, n) => self.facts.add_below(self.nf(i), self.nf(n)),
                Check::Within { lo, len, size } => {
                    self.facts.add_within(self.nf(lo), self.nf(len), self.nf(size));
                }
                Check::NonNegative(n) => self.facts.add_non_negative(self.nf(n)),
                Check::Exact(p, a, b) => self.facts.add_exact(p, &self.nf(a), &self.nf(b)),
                Check::Show(_) => {}
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
        self.one_value(made, hint)
    }

    /// The one value of what an expression gives.
    pub fn one_value(&mut self, made: Made, hint: &'s str) -> Res<Value> {
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
            ExprKind::Name(_) | ExprKind::Int(_) | ExprKind::Bool(_) => true,
            ExprKind::Float(_) | ExprKind::Single(_) | ExprKind::Narrow(_) => true,
            ExprKind::Ops(ops) => self.negated_literal(ops),
            _ => false,
        }
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

/// A part of the text that cannot assign variables of outside.
#[derive(Clone, Copy)]
pub(crate) struct Sealed {
    /// How many variables are outside.
    pub(super) outside: usize,
    /// What it is: a keyword, or words.
    pub(super) what: &'static str,
    pub(super) span: Span,
}

/// An array that a loop is writing.
#[derive(Clone, Copy)]
pub(crate) struct Written {
    pub(super) array: NVar,
    /// The index of the element that comes next.
    pub(super) index: NVar,
}

/// A function without a name, which reads variables of outside.
pub(super) const FUNCTION: &str = "a function without a name";

/// The condition of a `while`, which is computed before the loop and at the end of its body.
pub(super) const LOOP_CONDITION: &str = "the condition of a `while`";

/// Conditions of a long chain of `else if`, which are computed before any of its blocks.
pub(super) const CONDITION: &str = "a condition of a long `if`";

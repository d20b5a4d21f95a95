//! Definitions, blocks, and the binding of patterns: the frame into which the rules of single
//! statements ([`super::leaf`], [`super::control`], [`super::call`]) hang themselves.

use super::scope::{Linear, Scope};
use crate::cover::Facts;
use crate::diagnostic::Diagnostic;
use crate::entity::{FuncId, LVar, NVar};
use crate::ir::*;
use crate::print::{print_literal, print_size, print_type};
use crate::size::Size;
use crate::span::Span;
use crate::types::Type;

/// The outcome of a rule. Boxed, because failing is rare.
pub(super) type Checked<T> = Result<T, Box<Diagnostic>>;

/// After this many errors a definition is not looked at any further.
const MAX_ERRORS: usize = 20;

/// What must be recorded as the definition of a name.
#[derive(Clone, Debug)]
pub(super) enum Definition {
    /// The name is opaque.
    Opaque,
    /// The name is transparent, with this normal form.
    Transparent(Size),
    /// The result of a block that is known outside to have this normal form: the name may be
    /// opaque or transparent.
    Either(Size),
}

/// The results of a right-hand side. Sizes may be placeholders for earlier non-linear results.
#[derive(Default)]
pub(super) struct Values {
    pub(super) nl: Vec<(Type, Definition)>,
    pub(super) lin: Vec<Type>,
}

impl Values {
    pub(super) fn none() -> Values {
        Values::default()
    }

    /// One opaque non-linear value.
    pub(super) fn one(ty: Type) -> Values {
        Values { nl: vec![(ty, Definition::Opaque)], lin: Vec::new() }
    }

    /// The same types, all names opaque: what is known of two arms together.
    pub(super) fn opaque(mut self) -> Values {
        for (_, definition) in &mut self.nl {
            *definition = Definition::Opaque;
        }
        self
    }

    /// Linear values.
    pub(super) fn linear(lin: Vec<Type>) -> Values {
        Values { nl: Vec::new(), lin }
    }
}

/// The state of the walk over one definition.
pub(super) struct Checker<'a> {
    pub(super) program: &'a Program,
    pub(super) func: &'a Function,
    pub(super) scope: Scope<'a>,
    pub(super) facts: Facts,
    /// Where errors are reported: the statement at hand.
    pub(super) span: Span,
    errors: Vec<Diagnostic>,
}

/// Checks one definition.
pub(super) fn check(program: &Program, id: FuncId) -> Vec<Diagnostic> {
    let func = &program.funcs[id];
    let mut checker = Checker {
        program,
        func,
        scope: Scope::new(func),
        facts: Facts::default(),
        span: func.span,
        errors: Vec::new(),
    };
    if let Err(error) = checker.definition() {
        checker.errors.push(*error);
    }
    checker.errors
}

impl<'a> Checker<'a> {
    // ---- errors

    pub(super) fn error(&self, code: &'static str, message: impl Into<String>) -> Box<Diagnostic> {
        Box::new(Diagnostic::error(code, self.span, message))
    }

    /// An error with what to do about it.
    pub(super) fn error_help(
        &self,
        code: &'static str,
        message: impl Into<String>,
        help: impl Into<String>,
    ) -> Box<Diagnostic> {
        Box::new(Diagnostic::error(code, self.span, message).help(help))
    }

    pub(super) fn require(
        &self,
        condition: bool,
        code: &'static str,
        message: impl FnOnce(&Checker<'a>) -> String,
    ) -> Checked<()> {
        if condition { Ok(()) } else { Err(self.error(code, message(self))) }
    }

    pub(super) fn has_errors(&self) -> bool {
        !self.errors.is_empty()
    }

    pub(super) fn show(&self, ty: &Type) -> String {
        print_type(self.program, self.func, ty)
    }

    pub(super) fn show_size(&self, size: &Size) -> String {
        print_size(self.func, size)
    }

    pub(super) fn show_atom(&self, atom: Atom) -> String {
        match atom {
            Atom::Var(v) => self.func.nvars[v].name.to_string(),
            Atom::Lit(l) => print_literal(l),
        }
    }

    // ---- names and operands

    /// The type of an operand, which must be in scope.
    pub(super) fn atom(&self, atom: Atom) -> Checked<Type> {
        match atom {
            Atom::Var(v) => self.nvar(v).cloned(),
            Atom::Lit(literal) if !literal.is_finite() => Err(self.error_help(
                "J601",
                "an operand is a name or a finite number",
                "`inf()` and `nan()` are operations: bind a name to the result",
            )),
            Atom::Lit(l) => Ok(l.ty()),
        }
    }

    /// The type of a non-linear name, which must be in scope.
    pub(super) fn nvar(&self, v: NVar) -> Checked<&'a Type> {
        let data = &self.func.nvars[v];
        self.require(self.scope.has(v), "J010", |_| {
            format!("`{}` is not in scope here", data.name)
        })?;
        Ok(&data.ty)
    }

    /// The normal form of an operand that must be an i64.
    pub(super) fn size(&self, atom: Atom, what: &str) -> Checked<Size> {
        let ty = self.atom(atom)?;
        self.require(ty == Type::I64, "J201", |c| {
            format!("{what} `{}` has type {}, not i64", c.show_atom(atom), c.show(&ty))
        })?;
        Ok(self.func.size_of(atom))
    }

    /// Uses up a linear name and gives its type.
    pub(super) fn consume(&mut self, x: LVar) -> Checked<Type> {
        let data = &self.func.lvars[x];
        let (reason, help) = match self.scope.consume(x) {
            Ok(()) => return Ok(data.ty.clone()),
            Err(Linear::Available(_)) => (
                "is bound outside of the loop, whose body cannot use it up",
                "pass it as a carry or a slice, or read it through `rd r = x' { .. }`",
            ),
            Err(Linear::Used(_)) => (
                "has been used already",
                "a linear name is used exactly once: copy it with `dup` before",
            ),
            Err(Linear::Unbound | Linear::Gone) => {
                ("is not in scope here", "bind it before, in this block or around it")
            }
        };
        Err(self.error_help("J103", format!("`{}` {reason}", data.name), help))
    }

    // ---- blocks

    pub(super) fn enter(&mut self) {
        self.scope.enter();
        self.facts.enter();
    }

    /// Leaves a block in which every linear name must have been used.
    pub(super) fn leave(&mut self) -> Checked<()> {
        self.facts.leave();
        let unused = self.scope.leave();
        match unused.first() {
            Some(x) if self.errors.is_empty() => {
                let data = &self.func.lvars[*x];
                let span = if data.span == Span::NONE { self.span } else { data.span };
                let message = format!("`{}` is never used", data.name);
                let error = Diagnostic::error("J105", span, message);
                Err(Box::new(error.help(format!("say `drop {}`", data.name))))
            }
            // After another error the use may just not have been reached.
            _ => Ok(()),
        }
    }

    /// Checks the statements of a block. Errors are collected; the names of a faulty statement
    /// are taken to have their recorded types.
    pub(super) fn statements(&mut self, block: &Block) {
        let outer = self.span;
        for stmt in &block.stmts {
            if self.errors.len() >= MAX_ERRORS {
                break;
            }
            self.span = stmt.loc.span;
            let (depth, loops) = (self.scope.depth(), self.scope.loops());
            let outcome = self.rhs(stmt).and_then(|values| {
                self.span = stmt.loc.span;
                self.bind_pattern(stmt, values)
            });
            if let Err(error) = outcome {
                self.errors.push(*error);
                while self.scope.depth() > depth {
                    self.facts.leave();
                    self.scope.leave();
                }
                self.scope.reset_loops(loops);
                self.bind_unchecked(stmt);
            }
        }
        self.span = outer;
    }

    /// After an error: brings the names of the pattern into scope all the same.
    fn bind_unchecked(&mut self, stmt: &Stmt) {
        for v in &stmt.nl {
            // They may be in scope already; that is not another mistake.
            let _ = self.scope.bind(*v);
        }
        for x in &stmt.lin {
            let _ = self.scope.bind_linear(*x);
        }
    }

    /// The rule of a right-hand side.
    fn rhs(&mut self, stmt: &Stmt) -> Checked<Values> {
        match &stmt.rhs {
            Rhs::Region(region) => self.region(stmt, region),
            Rhs::Scan(scan) => self.scan(scan),
            Rhs::Case(case) => self.case(stmt, case),
            Rhs::Call(call) => self.call(call),
            leaf => self.leaf(leaf),
        }
    }

    /// Binds the pattern of a statement to the values of its right-hand side.
    fn bind_pattern(&mut self, stmt: &Stmt, values: Values) -> Checked<()> {
        let (found, wanted) = (counts(&values), (stmt.nl.len(), stmt.lin.len()));
        if found != wanted {
            let (code, what) = if wanted == (0, 0) {
                ("J602", "the values of the statement are not bound".to_string())
            } else {
                ("J213", format!("the pattern binds {} + {} names", wanted.0, wanted.1))
            };
            let message =
                format!("{what}; there are {} non-linear and {} linear", found.0, found.1);
            return Err(self.error(code, message));
        }
        // Results become the names of the pattern: a later type may mention an earlier result.
        let name = &mut |v: NVar| {
            let k = Size::position_of(v)?;
            Some(
                stmt.nl
                    .get(k)
                    .map_or_else(|| Size::var(v), |name| self.func.size_of((*name).into())),
            )
        };
        let nl: Vec<(Type, Definition)> =
            values.nl.into_iter().map(|(ty, def)| (ty.subst(name), def)).collect();
        let lin: Vec<Type> = values.lin.iter().map(|ty| ty.subst(name)).collect();
        for (v, (ty, definition)) in stmt.nl.iter().zip(&nl) {
            self.bind(*v, ty, definition)?;
        }
        for (x, ty) in stmt.lin.iter().zip(&lin) {
            self.bind_linear(*x, ty)?;
        }
        if let (Rhs::Prim(prim, args), [v]) = (&stmt.rhs, stmt.nl.as_slice()) {
            self.learn_maximum(*prim, args, *v);
        }
        if let (Rhs::Scan(scan), Some(trips)) = (&stmt.rhs, stmt.nl.first())
            && scan.dir == Dir::While
        {
            self.facts.add_non_negative(Size::var(*trips));
        }
        Ok(())
    }

    /// `n1 = max(n, 0)` is not negative.
    fn learn_maximum(&mut self, prim: crate::prim::Prim, args: &[Atom], v: NVar) {
        const ZERO: Atom = Atom::Lit(Literal::I64(0));
        if prim == crate::prim::IMAX
            && let [a, b] = args
        {
            if *b == ZERO {
                self.facts.add_max_zero(v, self.func.size_of(*a));
            } else if *a == ZERO {
                self.facts.add_max_zero(v, self.func.size_of(*b));
            }
        }
    }

    // ---- definitions

    fn definition(&mut self) -> Checked<()> {
        let func = self.func;
        self.enter();
        for v in &func.params {
            self.bind_opaque(*v, &func.nvars[*v].ty)?;
        }
        for x in &func.lin_params {
            self.bind_linear(*x, &func.lvars[*x].ty)?;
        }
        for c in &func.cap_params {
            let data = &func.caps[*c];
            self.bind_cap(*c, data.mode, &data.ty)?;
        }
        // There is no body: the rest is asked by `super::foreign`.
        if func.is_foreign() {
            return Ok(());
        }
        self.enter();
        self.statements(&func.body);
        if !self.errors.is_empty() {
            return Ok(());
        }
        let results = self.results(&func.body)?;
        self.span = func.span;
        self.declared_results(&results)?;
        self.leave()?;
        self.leave()
    }
}

fn counts(values: &Values) -> (usize, usize) {
    (values.nl.len(), values.lin.len())
}

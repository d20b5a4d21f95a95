//! Definitions, blocks, and the binding of patterns: the frame into which the rules of single
//! statements ([`super::leaf`], [`super::control`], [`super::call`]) hang themselves.

use super::scope::{Linear, Rebound, Scope};
use crate::cover::Facts;
use crate::diagnostic::Diagnostic;
use crate::entity::{Cap, FuncId, LVar, NVar, SecondaryMap};
use crate::ir::*;
use crate::print::{print_literal, print_size, print_type};
use crate::size::Size;
use crate::span::Span;
use crate::types::Type;
use std::collections::{HashMap, HashSet};

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

/// The results of a block, in terms of the names inside it.
pub(super) struct BlockResults {
    pub(super) nl: Vec<Type>,
    /// Normal forms of the i64 results.
    pub(super) sizes: Vec<Option<Size>>,
    pub(super) lin: Vec<Type>,
}

/// The state of the walk over one definition.
pub(super) struct Checker<'a> {
    pub(super) program: &'a Program,
    pub(super) id: FuncId,
    pub(super) func: &'a Function,
    /// The definitions that may be called.
    pub(super) earlier: &'a SecondaryMap<FuncId, bool>,
    pub(super) scope: Scope<'a>,
    pub(super) facts: Facts,
    /// Where errors are reported: the statement at hand.
    pub(super) span: Span,
    errors: Vec<Diagnostic>,
}

/// Checks one definition.
pub(super) fn check(
    program: &Program,
    id: FuncId,
    earlier: &SecondaryMap<FuncId, bool>,
) -> Vec<Diagnostic> {
    let func = &program.funcs[id];
    let mut checker = Checker {
        program,
        id,
        func,
        earlier,
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
            Atom::Var(v) => self.func.nvars[v].name.clone(),
            Atom::Lit(l) => print_literal(l),
        }
    }

    // ---- names and operands

    /// The type of an operand, which must be in scope.
    pub(super) fn atom(&self, atom: Atom) -> Checked<Type> {
        match atom {
            Atom::Var(v) => self.nvar(v).cloned(),
            Atom::Lit(Literal::F64(x)) if !x.is_finite() => Err(self.error_help(
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

    /// Checks that the sizes in a type are opaque i64 names in scope.
    pub(super) fn sizes_in_scope(&self, ty: &Type) -> Checked<()> {
        let mut outcome = Ok(());
        ty.for_each_size(&mut |size| {
            for (names, _) in size.terms() {
                for name in names {
                    if outcome.is_ok() {
                        outcome = self.size_name(*name, ty);
                    }
                }
            }
        });
        outcome
    }

    fn size_name(&self, name: NVar, ty: &Type) -> Checked<()> {
        let Some(data) = self.func.nvars.get(name) else {
            let message = format!("a size of {} is not a result that can be named", self.show(ty));
            return Err(self.error("J203", message));
        };
        self.require(data.ty == Type::I64 && data.def.is_none(), "J215", |c| {
            format!("`{}` in {} is not an opaque i64 name", data.name, c.show(ty))
        })?;
        self.require(self.scope.has(name), "J203", |c| {
            format!("size `{}` of {} is not in scope here", data.name, c.show(ty))
        })
    }

    /// Checks that a type can be the type of a linear value: floats, tuples and arrays of them.
    pub(super) fn linear_type(&self, ty: &Type) -> Checked<()> {
        self.require(is_linear(ty), "J102", |c| {
            format!("{} is not the type of a linear value, which is made of floats", c.show(ty))
        })
    }

    // ---- binding

    fn rebound(&self, rebound: Rebound, name: &str) -> Box<Diagnostic> {
        let message = match rebound {
            Rebound::Name => format!("`{name}` is bound twice in this scope"),
            Rebound::Variable => format!("variable `{name}` has two binders"),
        };
        self.error_help("J011", message, "give one of them another name")
    }

    /// Binds a non-linear name, whose derived type must be the recorded one.
    pub(super) fn bind(&mut self, v: NVar, ty: &Type, definition: &Definition) -> Checked<()> {
        let data = &self.func.nvars[v];
        let bound = self.scope.bind(v);
        let outer = self.span;
        if data.span != Span::NONE {
            self.span = data.span;
        }
        bound.map_err(|rebound| self.rebound(rebound, &data.name))?;
        self.same_as_recorded(&data.name, ty, &data.ty)?;
        let agrees = match (definition, &data.def) {
            (Definition::Opaque | Definition::Either(_), None) => true,
            (Definition::Opaque, Some(_)) | (Definition::Transparent(_), None) => false,
            (Definition::Transparent(a) | Definition::Either(a), Some(b)) => a == b,
        };
        self.require(agrees, "J214", |c| {
            let recorded = match &data.def {
                Some(size) => format!("`{}`", c.show_size(size)),
                None => "an opaque size".to_string(),
            };
            format!("`{}` is recorded as {recorded}, which its definition is not", data.name)
        })?;
        self.sizes_in_scope(ty)?;
        if let Some(size) = &data.def {
            let as_type = Type::array(size.clone(), Type::I64);
            self.sizes_in_scope(&as_type)?;
        }
        learn_dimensions(&mut self.facts, ty);
        self.span = outer;
        Ok(())
    }

    /// Binds an opaque non-linear name.
    pub(super) fn bind_opaque(&mut self, v: NVar, ty: &Type) -> Checked<()> {
        self.bind(v, ty, &Definition::Opaque)
    }

    /// Binds a linear name, whose derived type must be the recorded one.
    pub(super) fn bind_linear(&mut self, x: LVar, ty: &Type) -> Checked<()> {
        let data = &self.func.lvars[x];
        let bound = self.scope.bind_linear(x);
        let outer = self.span;
        if data.span != Span::NONE {
            self.span = data.span;
        }
        bound.map_err(|rebound| self.rebound(rebound, &data.name))?;
        self.require(data.name.ends_with('\''), "J101", |_| {
            format!("the name `{}` of a linear value does not end in `'`", data.name)
        })?;
        self.same_as_recorded(&data.name, ty, &data.ty)?;
        self.linear_type(ty)?;
        self.sizes_in_scope(ty)?;
        self.span = outer;
        Ok(())
    }

    /// Binds a capability of the given mode and type.
    pub(super) fn bind_cap(&mut self, c: Cap, mode: Mode, ty: &Type) -> Checked<()> {
        let data = &self.func.caps[c];
        let bound = self.scope.bind_cap(c);
        let outer = self.span;
        if data.span != Span::NONE {
            self.span = data.span;
        }
        bound.map_err(|rebound| self.rebound(rebound, &data.name))?;
        self.require(data.mode == mode, "J111", |_| {
            let (recorded, derived) = (data.mode.keyword(), mode.keyword());
            format!("`{}` is recorded as `{recorded}`, but bound as `{derived}`", data.name)
        })?;
        self.require(!data.lanes || (mode != Mode::Rd && ty.is_scalar()), "J601", |_| {
            format!("`lanes` on `{}`: only a scalar is added up by lanes", data.name)
        })?;
        self.same_as_recorded(&data.name, ty, &data.ty)?;
        self.sizes_in_scope(ty)?;
        if mode == Mode::Acc {
            self.require(is_addable(ty), "J202", |c| {
                format!("`{}` has type {}, which cannot be added up", data.name, c.show(ty))
            })?;
        } else {
            self.linear_type(ty)?;
        }
        self.span = outer;
        Ok(())
    }

    fn same_as_recorded(&self, name: &str, derived: &Type, recorded: &Type) -> Checked<()> {
        self.require(derived == recorded, "J214", |c| {
            let (recorded, derived) = (c.show(recorded), c.show(derived));
            format!("`{name}` is declared as {recorded}, but its value has type {derived}")
        })
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
            Rhs::RdRegion { .. } | Rhs::WrRegion { .. } | Rhs::AccRegion { .. } => {
                self.region(stmt)
            }
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

    // ---- results

    /// The results of a block whose statements have been checked and which is still open.
    pub(super) fn results(&mut self, block: &Block) -> Checked<BlockResults> {
        let mut results = BlockResults { nl: Vec::new(), sizes: Vec::new(), lin: Vec::new() };
        for atom in &block.nl {
            let ty = self.atom(*atom)?;
            results.sizes.push((ty == Type::I64).then(|| self.func.size_of(*atom)));
            results.nl.push(ty);
        }
        for x in &block.lin {
            results.lin.push(self.consume(*x)?);
        }
        Ok(results)
    }

    /// The results as seen from outside, at block depth `depth`: a local opaque name that occurs
    /// in a later type is an earlier result, and becomes its placeholder.
    pub(super) fn close(&self, results: BlockResults, depth: usize) -> Checked<Values> {
        let mut position: Vec<(NVar, usize)> = Vec::new();
        for (k, size) in results.sizes.iter().enumerate() {
            if let Some(name) = size.as_ref().and_then(Size::as_var)
                && self.scope.is_local(name, depth)
            {
                position.push((name, k));
            }
        }
        // The first result that returns a name stands for it.
        position.sort();
        position.dedup_by_key(|(name, _)| *name);
        let find = |name: NVar| {
            let k = position.binary_search_by_key(&name, |(name, _)| *name).ok()?;
            Some(position[k].1)
        };
        let seal = |k: usize, ty: &Type| -> Checked<Type> {
            let ty = ty.subst(&mut |name| find(name).filter(|p| *p < k).map(Size::position));
            self.leaves_scope(&ty, depth, "J203", "return the size as an earlier result")?;
            Ok(ty)
        };
        let mut values = Values::none();
        for (k, (ty, size)) in results.nl.iter().zip(&results.sizes).enumerate() {
            let is_outer =
                |size: &&Size| !size.names().iter().any(|v| self.scope.is_local(*v, depth));
            let definition = match size.as_ref().filter(is_outer) {
                Some(size) => Definition::Either(size.clone()),
                None => Definition::Opaque,
            };
            values.nl.push((seal(k, ty)?, definition));
        }
        for ty in &results.lin {
            values.lin.push(seal(usize::MAX, ty)?);
        }
        Ok(values)
    }

    /// Checks that a result type mentions no name bound deeper than `depth`.
    pub(super) fn leaves_scope(
        &self,
        ty: &Type,
        depth: usize,
        code: &'static str,
        help: &str,
    ) -> Checked<()> {
        let mut local = None;
        ty.for_each_size(&mut |size| {
            for (names, _) in size.terms() {
                local = local.or(names.iter().copied().find(|v| self.scope.is_local(*v, depth)));
            }
        });
        let Some(local) = local else { return Ok(()) };
        let name = &self.func.nvars[local].name;
        let message =
            format!("a result has type {}, but `{name}` is local to the block", self.show(ty));
        Err(self.error_help(code, message, help))
    }

    /// The results of a block under a pattern with types: each is checked against its annotation,
    /// in which the pattern's names stand for the block's i64 results. The annotations are the
    /// types of the values.
    pub(super) fn annotated(&self, stmt: &Stmt, results: &BlockResults) -> Checked<Values> {
        let (nl, lin) = (results.nl.len(), results.lin.len());
        self.require(nl <= stmt.nl.len() && lin <= stmt.lin.len(), "J213", |_| {
            format!("the block returns {nl} + {lin} values, more than the pattern binds")
        })?;
        let sizes: HashMap<NVar, &Option<Size>> =
            stmt.nl.iter().copied().zip(&results.sizes).collect();
        let mut value = |name: NVar| sizes.get(&name).and_then(|size| (*size).clone());
        let mut check = |name: &str, ty: &Type, found: &Type| {
            let expected = ty.subst(&mut value);
            self.require(expected == *found, "J214", |c| {
                let (expected, found) = (c.show(&expected), c.show(found));
                format!("`{name}` should be {expected} here, but the block returns {found}")
            })
        };
        let mut values = Values::none();
        for (v, found) in stmt.nl.iter().zip(&results.nl) {
            let data = &self.func.nvars[*v];
            check(&data.name, &data.ty, found)?;
            values.nl.push((data.ty.clone(), Definition::Opaque));
        }
        for (x, found) in stmt.lin.iter().zip(&results.lin) {
            let data = &self.func.lvars[*x];
            check(&data.name, &data.ty, found)?;
            values.lin.push(data.ty.clone());
        }
        Ok(values)
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

    /// The results against the declared types, in which a named i64 result stands for its value.
    fn declared_results(&mut self, results: &BlockResults) -> Checked<()> {
        let func = self.func;
        let found = (results.nl.len(), results.lin.len());
        let wanted = (func.results.len(), func.lin_results.len());
        self.require(found == wanted, "J213", |_| {
            format!(
                "`{}` declares {} non-linear and {} linear results, but its body returns {} and {}",
                func.name, wanted.0, wanted.1, found.0, found.1
            )
        })?;
        let mut telescope = Telescope::default();
        let found = results.nl.iter().zip(&results.sizes);
        for (declared, (ty, size)) in func.results.iter().zip(found) {
            self.declared_result(&declared.ty, ty, &telescope)?;
            let Some(name) = declared.name else { continue };
            let data = &func.nvars[name];
            let is_new = telescope.names.insert(&data.name) && !self.scope.has(name);
            self.require(is_new && data.def.is_none(), "J011", |_| {
                format!("result `{}` is not a name of its own", data.name)
            })?;
            telescope.sizes.extend(size.clone().map(|size| (name, size)));
        }
        for (declared, ty) in func.lin_results.iter().zip(&results.lin) {
            self.linear_type(&declared.ty)?;
            self.declared_result(&declared.ty, ty, &telescope)?;
        }
        Ok(())
    }

    fn declared_result(&self, declared: &Type, found: &Type, telescope: &Telescope) -> Checked<()> {
        for name in declared.size_names() {
            if telescope.sizes.contains_key(&name) {
                continue;
            }
            let text = self.func.nvars.get(name).map_or("?", |data| data.name.as_str());
            let is_param = self.scope.has(name) && !self.scope.is_local(name, PARAMETERS);
            self.require(is_param, "J203", |c| {
                let ty = c.show(declared);
                format!("size `{text}` of result type {ty} is no parameter and no earlier result")
            })?;
            self.require(!telescope.names.contains(text), "J011", |c| {
                let ty = c.show(declared);
                format!("`{text}` in result type {ty} is a parameter and also a result")
            })?;
        }
        let expected = declared.subst(&mut |name| telescope.sizes.get(&name).cloned());
        self.require(expected == *found, "J214", |c| {
            let (expected, found) = (c.show(&expected), c.show(found));
            format!("a result is declared as {expected}, but the body returns {found}")
        })
    }
}

/// The block depth of parameters.
const PARAMETERS: usize = 1;

/// The named results so far of a definition.
#[derive(Default)]
struct Telescope<'a> {
    names: HashSet<&'a str>,
    /// The values that the i64 ones have in the body.
    sizes: HashMap<NVar, Size>,
}

fn counts(values: &Values) -> (usize, usize) {
    (values.nl.len(), values.lin.len())
}

/// Whether a type is its own tangent type: floats, tuples and arrays of them.
fn is_linear(ty: &Type) -> bool {
    match ty {
        Type::F64 => true,
        Type::I64 | Type::Bool | Type::Data(_) => false,
        Type::Tuple(items) => items.iter().all(is_linear),
        Type::Array(_, element) => is_linear(element),
    }
}

/// Whether values of a type can be added: numbers, tuples and arrays of them.
fn is_addable(ty: &Type) -> bool {
    match ty {
        Type::F64 | Type::I64 => true,
        Type::Bool | Type::Data(_) => false,
        Type::Tuple(items) => items.iter().all(is_addable),
        Type::Array(_, element) => is_addable(element),
    }
}

/// The dimensions of an array in scope are not negative.
fn learn_dimensions(facts: &mut Facts, ty: &Type) {
    match ty {
        Type::Array(size, element) => {
            facts.add_dimension(size);
            learn_dimensions(facts, element);
        }
        Type::Tuple(items) => items.iter().for_each(|item| learn_dimensions(facts, item)),
        _ => {}
    }
}

//! Derivatives that the text takes of its own definitions: `grad(f)(x)`, `f.grad(x)`.
//!
//! | surface | core |
//! |---|---|
//! | `grad(f)(x)`, `f.grad(x)` | a call of `f.grad`, which J, U, T and L have made of `f` |
//! | `grad(f, x)(x, y)` | a call of `f{x}.grad`: with respect to `x` alone |
//! | `jvp(grad(f))(x, v)` | a call of what J makes of `f.grad` |
//!
//! They are made before the definition that calls them is elaborated ([`jut_ad::language`]), so to elaboration they
//! are definitions like others. What is made of a definition that the checker refuses is not made: that
//! definition is reported.

use super::body::Body;
use super::given::{Answer, Asked, Asking, Chain, Found, Of, Source, methods};
use super::made;
use super::order::Group;
use super::scope::Entity;
use super::{Global, Globals, Res, Stop};
use crate::ast::{self, Ast, ExprKind};
use jut_ad::language::{self, Deriver};
use jut_ir::check::check_function;
use jut_ir::cover::shown::show_sizes;
use jut_ir::entity::EntityRef;
use jut_ir::{Diagnostic, FuncId, Function, Program, Span};
use std::collections::HashSet;

/// How many may be made one of the other, and of how many parameters: tangents double these.
const LONGEST: usize = 16;
const WIDEST: usize = 256;

/// The derivatives that a program takes.
#[derive(Default)]
pub(super) struct Derivatives {
    deriver: Deriver,
    /// How many definitions are known to be well typed.
    checked: usize,
    /// The definitions of which some were made.
    sources: Vec<FuncId>,
}

impl Derivatives {
    /// Whether the derivative of a definition that calls `func` was made.
    pub fn took(&self, program: &Program, func: FuncId) -> bool {
        let calls = |from: &FuncId| jut_ir::calls::callees_first(program, [*from]).contains(&func);
        self.sources.iter().any(calls)
    }

    /// Declares the tangent type of a data type that needs one.
    pub fn declare_tangent(&mut self, program: &mut Program, data: jut_ir::DataId) {
        self.deriver.declare_tangent(program, data);
    }

    /// Makes what a group of definitions calls.
    pub fn make(&mut self, ast: &Ast, group: &Group, program: &mut Program, globals: &mut Globals) {
        let exprs = group.exprs.iter().flat_map(|range| &ast.exprs[range.clone()]);
        for expr in exprs {
            let (base, chain) = match &expr.kind {
                ExprKind::Derived(derived) => {
                    if derived.lambda.is_some() {
                        continue;
                    }
                    let chain = derived.chain.iter();
                    let chain = chain.map(|(word, wrt)| (*word, texts(wrt)));
                    (derived.call.func.text, chain.collect())
                }
                ExprKind::Call(call) if globals.declared_at(call.func.text).is_none() => {
                    let request = || ast.derived(call).and_then(handed_on);
                    match methods(call.func.text).or_else(request) {
                        Some(found) => found,
                        None => continue,
                    }
                }
                // What is handed on by its name.
                ExprKind::Name(_) | ExprKind::Post(..) => {
                    match methods(ast.text_between(expr.span.start, expr.span.end)) {
                        Some(found) => found,
                        None => continue,
                    }
                }
                _ => continue,
            };
            if let Some(Global::Func(func)) = globals.global(base) {
                self.chain(base, func, chain, program, globals);
            } else if let Some(d) = group.defs.iter().find(|d| d.name.text == base) {
                let mut key = base.to_string();
                for (word, wrt) in chain {
                    extend(&mut key, word, &wrt);
                    let error = in_itself(d);
                    globals.view_mut().derived.entry(key.clone()).or_insert(Err(error));
                }
            }
        }
    }

    fn chain(
        &mut self,
        base: &str,
        mut func: FuncId,
        chain: Chain,
        program: &mut Program,
        globals: &mut Globals,
    ) {
        self.sources.push(func);
        let mut key = base.to_string();
        let long = chain.len() > LONGEST;
        for (word, wrt) in chain {
            extend(&mut key, word, &wrt);
            let source = &program.funcs[func];
            if long || source.params.len() > WIDEST {
                let message = "too many derivatives of each other";
                let help = "write some of them as a `def`, with respect to fewer parameters";
                let error = Diagnostic::error("J003", source.span, message).help(help);
                globals.view_mut().derived.insert(key.clone(), Err(error));
                return;
            }
            if word == language::LINEARIZE {
                if !globals.view().linearized.contains_key(&key) && self.well_typed(program) {
                    let made = language::mask(program, func, word, &wrt, 0)
                        .and_then(|wrt| self.deriver.linear(program, func, &wrt));
                    globals.view_mut().linearized.insert(key, made);
                }
                return;
            }
            let Some(request) = Deriver::request(word) else { return };
            let made = match globals.view().derived.get(&key) {
                Some(made) => made.clone(),
                None if !self.well_typed(program) => return,
                None => language::mask(program, func, word, &wrt, 0)
                    .and_then(|wrt| self.deriver.derive(program, func, request, wrt)),
            };
            globals.view_mut().derived.insert(key.clone(), made.clone());
            match made {
                Ok(made) => {
                    self.label(made, globals);
                    func = made;
                }
                Err(_) => return,
            }
        }
    }

    /// Says what the results of a derivative are derivatives by.
    pub fn label(&self, made: FuncId, globals: &mut Globals) {
        if let Some(of) = self.deriver.sources().get(&made) {
            globals.tangents.insert(made, of.clone());
        }
    }

    /// Makes the derivative of a function that is no definition, where the bodies of some definitions are not known yet. `None` if some
    /// definition is not well typed, which is reported there.
    pub fn satisfy(
        &mut self,
        wanted: Asking,
        unfinished: &[FuncId],
        program: &mut Program,
    ) -> Option<Made> {
        let mut func = match wanted.of {
            Of::Definition(func) => func,
            Of::Block(func) => {
                let func = *self.add(program, vec![*func]).first()?;
                if let Err(errors) = check_function(program, func) {
                    return errors.into_iter().next().map(|error| Made::Answer(Err(error)));
                }
                func
            }
        };
        let reached = jut_ir::calls::reached(program, func);
        if reached.iter().any(|func| unfinished.contains(func)) {
            return Some(Made::InItself);
        }
        if !reached.into_iter().all(|func| self.is_well_typed(program, func)) {
            return None;
        }
        self.sources.push(func);
        for (word, wrt) in &wanted.chain {
            let wrt: Vec<&str> = wrt.iter().map(String::as_str).collect();
            let wrt = language::mask(program, func, word, &wrt, wanted.captured);
            let made = match word.as_str() {
                language::LINEARIZE => {
                    wrt.and_then(|wrt| self.deriver.linear(program, func, &wrt)).map(Found::Linear)
                }
                word => {
                    let request = Deriver::request(word)?;
                    wrt.and_then(|wrt| self.deriver.derive(program, func, request, wrt))
                        .map(Found::Func)
                }
            };
            match made {
                Ok(Found::Func(made)) => func = made,
                // It is the last one.
                Ok(linear) => return Some(Made::Answer(Ok(linear))),
                Err(mut error) => {
                    let own = format!("`{}`", program.funcs[func].name);
                    error.message = error.message.replace(&own, "the function");
                    return Some(Made::Answer(Err(error)));
                }
            }
        }
        Some(Made::Answer(Ok(Found::Func(func))))
    }

    /// Adds definitions that call each other by the numbers that they get.
    pub fn add(&mut self, program: &mut Program, mut funcs: Vec<Function>) -> Vec<FuncId> {
        // What showed the sizes of their arrays may stand where they are called.
        let foreign: HashSet<FuncId> = program.foreign().collect();
        for func in &mut funcs {
            show_sizes(func, None, &|func| foreign.contains(&func));
        }
        funcs.into_iter().map(|func| self.deriver.add(program, func)).collect()
    }

    /// Whether a definition is.
    fn is_well_typed(&mut self, program: &Program, func: FuncId) -> bool {
        func.index() < self.checked || check_function(program, func).is_ok()
    }

    /// Whether all definitions so far are.
    fn well_typed(&mut self, program: &Program) -> bool {
        while self.checked < program.funcs.len() {
            if check_function(program, FuncId::new(self.checked)).is_err() {
                return false;
            }
            self.checked += 1;
        }
        true
    }
}

/// What became of a derivative.
pub(super) enum Made {
    Answer(Answer),
    /// It would be one of a definition that takes it.
    InItself,
}

/// J810 for the derivative of a definition that calls it.
pub(super) fn in_itself(d: &ast::Def) -> Diagnostic {
    let name = d.name.text;
    let message = format!(
        "`{name}` takes a derivative of itself, so that one would take a derivative of itself, and so on without end"
    );
    let help = "the derivative of a definition is made when the definition is complete: call it from another one";
    Diagnostic::error("J810", d.name.span, message).help(help)
}

/// `grad(f)` without arguments: the definition, and what is made of it.
fn handed_on((func, lambda, chain): ast::Chain<'_>) -> Option<(&str, Chain<'_>)> {
    let chain = chain.into_iter().map(|(word, wrt)| (word, texts(&wrt))).collect();
    lambda.is_none().then_some((func.text, chain))
}

fn texts<'s>(names: &[ast::Name<'s>]) -> Vec<&'s str> {
    names.iter().map(|name| name.text).collect()
}

/// One more link of a name.
fn extend(key: &mut String, word: &str, wrt: &[&str]) {
    if !wrt.is_empty() {
        key.push_str(&format!("{{{}}}", wrt.join(",")));
    }
    key.push('.');
    key.push_str(word);
}

impl<'a, 's> Body<'a, 's> {
    /// `grad(f)(x)`.
    pub fn call_derived(&mut self, derived: &'a ast::Derived<'s>, span: Span) -> Res<made::Made> {
        self.surface_only(span, "a derivative", "call a definition that the passes have made")?;
        let name = derived.call.func;
        if derived.chain.iter().any(|(word, _)| *word == language::LINEARIZE) {
            let message = "`linearize` gives the values of a function, and then a function";
            let help =
                "bind both, `(y, l) = linearize(f)(x)`, and call `l(dx)` and `transpose(l)(dy)`";
            return self.error("J608", span, message, help);
        }
        if let Some(source) = self.source(derived) {
            return self.call_sourced(&Asked::of(derived), source, span);
        }
        let mut key = name.text.to_string();
        for (word, wrt) in &derived.chain {
            extend(&mut key, word, &texts(wrt));
            // The first that failed says why.
            if let Some(failed @ Err(_)) = self.globals.view().derived.get(&key) {
                return self.call_made(failed, &derived.call, span);
            }
        }
        match self.globals.view().derived.get(&key) {
            Some(made) => self.call_made(made, &derived.call, span),
            // Refused, or not well typed, which is reported there.
            None if self.globals.global(name.text).is_some() => Err(Stop),
            None if super::operation::is_primitive(name.text) => {
                let message =
                    format!("`{}` is no definition, of which derivatives are made", name.text);
                let help = format!("write one: `def g(x: f64) -> f64 = {}(x)`", name.text);
                self.error("J014", name.span, message, help)
            }
            None => self.unknown_function(name),
        }
    }

    /// A derivative of a definition that is handed on: by its name, `f{x}.grad`, or as `grad(f, x)`.
    pub(super) fn derivative_named(&self, name: &str) -> Option<Result<FuncId, Diagnostic>> {
        let (base, chain) = methods(name)?;
        if self.scope.get(base).is_some() {
            return None;
        }
        let mut key = base.to_string();
        let mut made = None;
        for (word, wrt) in chain {
            extend(&mut key, word, &wrt);
            made = self.globals.view().derived.get(&key);
            if let Some(Err(_)) = made {
                break;
            }
        }
        made.cloned()
    }

    /// The name that a derivative without arguments has, `f{x}.grad` of `grad(f, x)`.
    pub(super) fn name_of_derivative(&self, call: &ast::Call<'s>) -> Option<String> {
        if self.globals.declared_at(call.func.text).is_some() {
            return None;
        }
        let (base, chain) = self.ast.derived(call).and_then(handed_on)?;
        let mut name = base.to_string();
        chain.iter().for_each(|(word, wrt)| extend(&mut name, word, wrt));
        Some(name)
    }

    /// A derivative without arguments, `grad(f)`, of a function that is no definition: whose, and which.
    pub(super) fn derivative_of_given(
        &self,
        call: &ast::Call<'s>,
    ) -> Option<(Source, &'s str, Chain<'s>)> {
        let word = call.func.text;
        if self.globals.declared_at(word).is_some() || self.scope.get(word).is_some() {
            return None;
        }
        let (func, lambda, chain) = self.ast.derived(call)?;
        // What these two give is no function of the same arguments.
        if chain.iter().any(|(word, _)| [language::LINEARIZE, "transpose"].contains(word)) {
            return None;
        }
        let source = match lambda {
            Some(e) => Source::Text(e),
            None => match self.scope.get(func.text) {
                Some(Entity::F(given)) => Source::Given(given),
                _ => return None,
            },
        };
        let chain = chain.into_iter().map(|(word, wrt)| (word, texts(&wrt))).collect();
        Some((source, func.text, chain))
    }

    /// The name of what is made of a definition, if a call of a derivative is of one; or why it could not be made.
    pub(super) fn made_of(&self, derived: &ast::Derived) -> Option<Result<String, Diagnostic>> {
        if self.source(derived).is_some() {
            return None;
        }
        let name = derived.call.func.text;
        let mut key = name.to_string();
        for (word, wrt) in &derived.chain {
            extend(&mut key, word, &texts(wrt));
            if let Some(Err(failed)) = self.globals.view().derived.get(&key) {
                return Some(Err(failed.clone()));
            }
        }
        Some(Ok(key))
    }

    /// The function of a derivative, if it is no definition.
    pub(super) fn source(&self, derived: &ast::Derived) -> Option<Source> {
        derived.lambda.map(Source::Text).or_else(|| self.source_named(derived.call.func.text))
    }

    fn source_named(&self, name: &str) -> Option<Source> {
        match (self.scope.get(name), self.globals.global(name)) {
            (Some(Entity::F(given)), _) => Some(Source::Given(given)),
            (_, Some(Global::Template(number))) => Some(Source::Template(number)),
            _ => None,
        }
    }

    fn call_sourced(
        &mut self,
        asked: &Asked<'a, 's>,
        source: Source,
        span: Span,
    ) -> Res<made::Made> {
        if let Source::Given(given) = source
            && let Some(made) = self.call_turned(given, asked, span)?
        {
            return Ok(made);
        }
        self.call_taken(asked, source, span)
    }

    /// `f.grad(x)` of a function that is no definition.
    pub fn call_by_name(&mut self, call: &'a ast::Call<'s>, span: Span) -> Res<Option<made::Made>> {
        let name = call.func;
        let Some((base, chain)) = methods(name.text) else { return Ok(None) };
        if self.globals.global(name.text).is_some() {
            return Ok(None);
        }
        let Some(source) = self.source_named(base) else { return Ok(None) };
        self.surface_only(span, "a derivative", "call a definition that the passes have made")?;
        let asked = Asked { name: ast::Name { text: base, span: name.span }, chain, call };
        self.call_sourced(&asked, source, span).map(Some)
    }

    /// Calls a derivative, if it could be made.
    pub fn call_made(
        &mut self,
        made: &Result<FuncId, Diagnostic>,
        call: &'a ast::Call<'s>,
        span: Span,
    ) -> Res<made::Made> {
        match made {
            Ok(func) => self.call_function(*func, call, span),
            Err(reason) => self.not_made(reason, span),
        }
    }

    /// Why a derivative could not be made.
    pub(super) fn not_made<T>(&mut self, reason: &Diagnostic, span: Span) -> Res<T> {
        let mut error = reason.clone();
        error.span = span;
        match error.code {
            "J801" if !error.message.contains("transpose") => {
                error.help = "differentiate a definition without linear parts".into()
            }
            "J802" => {
                error.help = "differentiate a definition that gives one number, or take \
                              `jacobian`, `jvp` or `vjp`"
                    .into();
            }
            _ => {}
        }
        if reason.span != Span::NONE {
            error = error.label(reason.span, "because of this");
        }
        self.fail(error)
    }
}

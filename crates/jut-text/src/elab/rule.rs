//! `rule jvp f = g`: the derivative of a definition, stated by another one.

use super::body::Body;
use super::derived::Derivatives;
use super::given::Template;
use super::operation::is_primitive;
use super::{Global, Globals};
use crate::ast;
use jut_ir::check::{check_function, check_rule};
use jut_ir::{Diagnostic, FuncId, Program, Rule, Size, Span, Type};

/// Notes a rule that the checker accepts.
pub(super) fn state(
    rule: &ast::Rule,
    (program, globals, derivatives): (&mut Program, &mut Globals, &mut Derivatives),
    templates: &[Template<'_, '_>],
    diagnostics: &mut Vec<Diagnostic>,
) {
    if let (Some(Global::Template(func)), Some(Global::Template(by))) =
        (globals.global(rule.func.text), globals.global(rule.by.text))
    {
        let calls_itself = templates.get(func).is_some_and(|template| template.is_recursive);
        return of_functions(rule, (func, by), calls_itself, globals, diagnostics);
    }
    let mut find = |name: &ast::Name| definition(name, globals, diagnostics);
    let (Some(func), Some(by)) = (find(&rule.func), find(&rule.by)) else { return };
    let span = rule.func.span;
    let error = |message: String, help: &str| Diagnostic::error("J801", span, message).help(help);
    if program.funcs[func].is_foreign() {
        let message =
            format!("`{}` is an `extern`, which names its derivative itself", rule.func.text);
        diagnostics.push(error(message, "let its declaration end with `derivative g`"));
        return;
    }
    if program.funcs[func].rule.is_some() {
        let message = format!("`{}` has a rule already", rule.func.text);
        diagnostics.push(error(message, "leave one of them out: the other mode follows from it"));
        return;
    }
    if derivatives.took(program, func) {
        let message = format!("a derivative through `{}` was taken above its rule", rule.func.text);
        diagnostics.push(error(message, "put the rule directly behind both definitions"));
        return;
    }
    let stated = if rule.vjp { Rule::Vjp(by) } else { Rule::Jvp(by) };
    let stated = Stated { rule: stated, span: rule.by.span, what: "for this rule" };
    if let Err(error) = put(stated, func, program, derivatives) {
        diagnostics.push(error);
    }
}

/// A rule, and where it is stated or needed.
pub(super) struct Stated {
    pub rule: Rule,
    pub span: Span,
    /// What stands there, in words.
    pub what: &'static str,
}

/// Gives a definition its rule, if the checker accepts that.
pub(super) fn put(
    Stated { rule, span, what }: Stated,
    func: FuncId,
    program: &mut Program,
    derivatives: &mut Derivatives,
) -> Result<(), Diagnostic> {
    // What is wrong with a definition is reported in the end, with everything else.
    if check_function(program, func).is_err() || check_function(program, rule.func()).is_err() {
        return Ok(());
    }
    let f = &program.funcs[func];
    let types = f.params.iter().map(|p| &f.nvars[*p].ty).chain(f.results.iter().map(|r| &r.ty));
    let mut datas = Vec::new();
    types.for_each(|ty| ty.for_each_data(&mut |data| datas.push(data)));
    datas.into_iter().for_each(|data| derivatives.declare_tangent(program, data));
    program.funcs[func].rule = Some(rule);
    check_rule(program, func).map_err(|error| {
        program.funcs[func].rule = None;
        error.label(span, what)
    })
}

/// Notes the rule of a definition that takes functions, which is looked at where that is called.
fn of_functions(
    rule: &ast::Rule,
    (func, by): (usize, usize),
    calls_itself: bool,
    globals: &mut Globals,
    diagnostics: &mut Vec<Diagnostic>,
) {
    let name = rule.func.text;
    let (message, help) = if rule.vjp {
        (
            format!("`{name}` takes functions, whose cotangents are no values"),
            "state the derivative by tangents, `rule jvp`: the other mode follows from it",
        )
    } else if calls_itself {
        (
            format!("`{name}` takes functions and calls itself, directly or not"),
            "give the rule to a definition that calls it and does not call itself",
        )
    } else if globals.rules.contains_key(&func) {
        (format!("`{name}` has a rule already"), "leave one of them out")
    } else if globals.written_out.borrow().contains(&func) {
        (
            format!("`{name}` was called above its rule"),
            "put the rule directly behind both definitions",
        )
    } else {
        globals.rules.insert(func, by);
        return;
    };
    diagnostics.push(Diagnostic::error("J801", rule.func.span, message).help(help));
}

impl<'s> Body<'_, 's> {
    /// Remembers of the tangents and cotangents that a rule takes whose they are, so that parts of them have names, where
    /// the definition that it is for is known by now.
    pub(super) fn label_tangents(&mut self, d: &ast::Def<'s>) {
        let stated = self.ast.decls.iter().find_map(|decl| match decl {
            ast::Decl::Rule(rule) if rule.by.text == d.name.text => Some(rule),
            _ => None,
        });
        let Some(rule) = stated else { return };
        let Some(Global::Func(func)) = self.globals.global(rule.func.text) else { return };
        let (f, own) = (&self.program.funcs[func], &self.b.func.params);
        let size = |v| {
            let k = f.params.iter().position(|p| *p == v)?;
            own.get(k).map(|p| Size::var(*p))
        };
        let of: Vec<Type> = match rule.vjp {
            true => f.results.iter().map(|r| r.ty.clone()).collect(),
            false => f.params.iter().map(|p| f.nvars[*p].ty.clone()).collect(),
        };
        let of = of.iter().filter(|ty| ty.has_float(self.program));
        let of: Vec<Type> = of.map(|ty| ty.subst(&mut |v| size(v))).collect();
        let taken = own.get(f.params.len()..).unwrap_or_default();
        self.tangents.extend(taken.iter().copied().zip(of));
    }
}

/// The definition that a rule names.
fn definition(
    name: &ast::Name,
    globals: &Globals,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<FuncId> {
    let (message, help) = match globals.global(name.text) {
        Some(Global::Func(func)) => return Some(func),
        _ if globals.is_poisoned(name.text) => return None,
        Some(Global::Con(_)) => ("a constructor", "rules are for definitions"),
        Some(Global::Template(_)) => (
            "a definition that takes functions, and the other one takes none",
            "for a function the rule takes its tangent, a function too: `df: fn(f64) -> f64`",
        ),
        None if is_primitive(name.text) => {
            ("a primitive, whose derivative is known", "rules are for definitions")
        }
        None if globals.declared_at(name.text).is_some() => {
            ("declared below", "put the rule behind both definitions")
        }
        None => ("not defined", "a rule stands behind the definitions that it names"),
    };
    let message = format!("`{}` is {message}", name.text);
    diagnostics.push(Diagnostic::error("J010", name.span, message).help(help));
    None
}

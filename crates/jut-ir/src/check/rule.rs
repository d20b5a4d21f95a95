//! Rules: derivatives that a program states.
//!
//! ```text
//! rule jvp f = g        f : (A) -> B      g : (A, A°) -> B°      linear in A°
//! rule vjp f = g        f : (A) -> B      g : (A, B°) -> A°      linear in B°
//! ```
//!
//! A° are the tangents of those of A that have floats, one after another ([`crate::tangent`]). Both have the same sizes in brackets. That `g` is linear is proved
//! ([`super::linear_map`]), so J may take it for the derivative, and T finds its transpose as it finds every other.

use super::linear_map;
use crate::diagnostic::Diagnostic;
use crate::entity::{FuncId, NVar};
use crate::ir::*;
use crate::print::print_type;
use crate::size::Size;
use crate::types::Type;

/// Checks the rule of a definition.
///
/// # Errors
/// `J801` for types that do not fit, `J807` for what is not linear.
pub fn check_rule(program: &Program, func: FuncId) -> Result<(), Diagnostic> {
    let Some(rule) = program.funcs[func].rule else { return Ok(()) };
    let (f, g) = (&program.funcs[func], &program.funcs[rule.func()]);
    fits(program, func, rule)?;
    let linear: Vec<NVar> = g.params[f.params.len()..].to_vec();
    linear_map::prove(program, rule.func(), &linear, func)
}

fn fits(program: &Program, func: FuncId, rule: Rule) -> Result<(), Diagnostic> {
    let (f, g) = (&program.funcs[func], &program.funcs[rule.func()]);
    let error = |message: String, help: String| {
        Err(Diagnostic::error("J801", g.span, message).label(f.span, "defined here").help(help))
    };
    for (h, what) in [(f, "a rule is"), (g, "a rule is made by")] {
        if !h.is_nonlinear() || !h.cap_params.is_empty() {
            let message = format!(
                "{what} a definition without linear parts and accumulators: not `{}`",
                h.name
            );
            return error(
                message,
                "write it with non-linear values alone: tangents are parameters".into(),
            );
        }
    }
    let types =
        |h: &Function| -> Vec<Type> { h.params.iter().map(|p| h.nvars[*p].ty.clone()).collect() };
    let results = |h: &Function| -> Vec<Type> { h.results.iter().map(|r| r.ty.clone()).collect() };
    let tangents_of = |types: Vec<Type>| -> Vec<Type> {
        types.iter().filter_map(|ty| ty.tangent(program).ok().flatten()).collect()
    };
    let (tangents, gives) = match rule {
        Rule::Jvp(_) => (tangents_of(types(f)), tangents_of(results(f))),
        Rule::Vjp(_) => (tangents_of(results(f)), tangents_of(types(f))),
    };
    let takes: Vec<Type> = types(f).into_iter().chain(tangents.clone()).collect();
    // Sizes of `f` by the names of `g`.
    let named = |ty: &Type| {
        ty.subst(&mut |v| {
            let k = f.params.iter().position(|p| *p == v)?;
            g.params.get(k).map(|p| Size::var(*p))
        })
    };
    let same = |wanted: &[Type], found: &[Type]| {
        wanted.len() == found.len() && wanted.iter().zip(found).all(|(w, f)| named(w) == *f)
    };
    if f.size_params == g.size_params && same(&takes, &types(g)) && same(&gives, &results(g)) {
        return Ok(());
    }
    let show = |types: &[Type]| -> Vec<String> {
        types.iter().map(|t| print_type(program, f, t)).collect()
    };
    let own = f
        .params
        .iter()
        .skip(f.size_params)
        .map(|p| format!("{}: {}", f.nvars[*p].name, print_type(program, f, &f.nvars[*p].ty)));
    let of_tangents = match rule {
        Rule::Jvp(_) => f
            .params
            .iter()
            .filter(|p| f.nvars[**p].ty.has_float(program))
            .map(|p| format!("d{}", f.nvars[*p].name))
            .collect::<Vec<_>>(),
        Rule::Vjp(_) => (0..tangents.len())
            .map(|k| if tangents.len() == 1 { "dy".to_string() } else { format!("dy{}", k + 1) })
            .collect(),
    };
    let more = of_tangents.iter().zip(show(&tangents)).map(|(name, ty)| format!("{name}: {ty}"));
    let params: Vec<String> = own.chain(more).collect();
    let sizes: Vec<&str> =
        f.params.iter().take(f.size_params).map(|p| f.nvars[*p].name.as_str()).collect();
    let sizes = if sizes.is_empty() { String::new() } else { format!("[{}]", sizes.join(", ")) };
    let gives = match show(&gives).as_slice() {
        [one] => one.clone(),
        many => format!("({})", many.join(", ")),
    };
    let message = format!("`{}` has not the type of a {} of `{}`", g.name, rule.word(), f.name);
    error(message, format!("write `def {}{sizes}({}) -> {gives} = ..`", g.name, params.join(", ")))
}

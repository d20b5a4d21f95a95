//! Functions of other languages: what may cross, that transposes are transposes of each other, and that nothing is missing
//! which a pass will ask for.

use super::linear_map;
use crate::diagnostic::Diagnostic;
use crate::entity::{FuncId, LVar, NVar};
use crate::foreign::Numbers;
use crate::ir::*;
use crate::print::print_type;
use crate::size::Size;
use crate::types::Type;

/// Checks a declaration of a function of another language, all but the derivative that it names.
///
/// # Errors
/// `J811` for what cannot cross, `J812` for a transpose that is none, `J813` without a derivative that is needed.
pub fn check_foreign(program: &Program, func: FuncId) -> Result<(), Diagnostic> {
    let f = &program.funcs[func];
    let Some(Foreign { form, .. }) = f.foreign else { return Ok(()) };
    let Form::Linear { transpose, derivative, .. } = form else { return is_value(program, func) };
    types(program, f)?;
    let Some(q) = program.funcs.get(transpose).filter(|q| q.is_foreign_linear()) else {
        let message = format!("the transpose of `{}` is no `extern`", f.name);
        let help = "declare it: `extern def q(n: i64; y': [n]f64) -> (; [n]f64) transpose p`";
        return Err(Diagnostic::error("J812", f.span, message).help(help));
    };
    flipped(program, f, q)?;
    if program.declared(transpose).is_none_or(|q| q.transpose != func) {
        let message =
            format!("`{}` is the transpose of `{}`, but not the other way round", q.name, f.name);
        let help = format!("let `{}` end with `transpose {}`", q.name, f.name);
        let error = Diagnostic::error("J812", f.span, message).help(help);
        return Err(error.label(q.span, "declared here"));
    }
    let floats = float_params(f);
    match (floats.first(), derivative) {
        (Some(v), None) => {
            let name = &f.nvars[*v].name;
            let message =
                format!("`{}` is not linear in `{name}`, and names no derivative by it", f.name);
            let help =
                format!("let it end with `derivative r`, and write `{}`", wanted(program, f, "r"));
            Err(Diagnostic::error("J813", f.span, message).help(help))
        }
        (None, Some(_)) => {
            let message =
                format!("`{}` is linear in all its floats: it needs no derivative", f.name);
            let help = "leave `derivative` and the name out";
            Err(Diagnostic::error("J813", f.span, message).help(help))
        }
        _ => Ok(()),
    }
}

/// Checks the derivative that a declaration names: a definition on ordinary values, linear in its last parameters.
///
/// # Errors
/// `J813` for one of another type, `J807` for what is not linear.
pub fn check_foreign_derivative(program: &Program, func: FuncId) -> Result<(), Diagnostic> {
    let Some(declared) = program.declared(func).filter(|d| d.linear == func) else { return Ok(()) };
    let Some(by) = declared.derivative else { return Ok(()) };
    let (f, g) = (&program.funcs[func], &program.funcs[by]);
    let own = f.params.len() + f.lin_params.len();
    let mut wants: Vec<Type> = parameter_types(f);
    wants.extend(float_params(f).iter().map(|v| f.nvars[*v].ty.clone()));
    let gives: Vec<Type> = f.lin_results.iter().map(|r| r.ty.clone()).collect();
    let named = |ty: &Type| renamed(ty, &f.params, &g.params);
    let same = |wanted: &[Type], found: &[Type]| {
        wanted.len() == found.len() && wanted.iter().zip(found).all(|(w, f)| named(w) == *f)
    };
    let takes: Vec<Type> = g.params.iter().map(|p| g.nvars[*p].ty.clone()).collect();
    let results: Vec<Type> = g.results.iter().map(|r| r.ty.clone()).collect();
    if !g.is_nonlinear()
        || !g.cap_params.is_empty()
        || !same(&wants, &takes)
        || !same(&gives, &results)
    {
        let message = format!("`{}` has not the type of a derivative of `{}`", g.name, f.name);
        let help = format!("write `{}`", wanted(program, f, &g.name));
        let error = Diagnostic::error("J813", g.span, message).help(help);
        return Err(error.label(f.span, "declared here"));
    }
    linear_map::prove(program, by, &g.params[own..], declared.value)
}

/// What crosses: integers and floats of 64 bits, and arrays of them; to the linear side floats alone. Sizes are polynomials in earlier parameters.
fn types(program: &Program, f: &Function) -> Result<(), Diagnostic> {
    let error =
        |message: String, help: &str| Err(Diagnostic::error("J811", f.span, message).help(help));
    if !f.results.is_empty()
        || !f.cap_params.is_empty()
        || f.lin_params.is_empty()
        || f.lin_results.is_empty()
    {
        let message = format!(
            "`{}` is no linear function: it takes and gives values behind a `;` alone",
            f.name
        );
        return error(
            message,
            "write `extern def p(n: i64; x': [n]f64) -> (; [n]f64) transpose q`",
        );
    }
    let mut known: Vec<NVar> = Vec::new();
    let lin = f.lin_params.iter().map(|x| (f.lvars[*x].name.to_string(), &f.lvars[*x].ty, true));
    let results = f.lin_results.iter().map(|r| ("a result".to_string(), &r.ty, true));
    let params = f.params.iter().map(|v| (f.nvars[*v].name.to_string(), &f.nvars[*v].ty, false));
    let mut values = f.params.iter();
    for (name, ty, linear) in params.chain(lin).chain(results) {
        let fits = match Numbers::of(ty) {
            Some(Numbers::Floats) => true,
            Some(Numbers::Integers) => !linear,
            None => false,
        };
        if !fits {
            let ty = print_type(program, f, ty);
            let message = format!(
                "`{name}` of `{}` has the type {ty}, which no other language is given",
                f.name
            );
            let help = match linear {
                true => {
                    "behind the `;` there are f64s and arrays of them: convert singles by `f64(x)`"
                }
                false => {
                    "give i64s, f64s and arrays of them: a record by its parts, a truth value as 0 or 1"
                }
            };
            return error(message, help);
        }
        if let Some(size) = ty.size_names().into_iter().find(|size| !known.contains(size)) {
            let message = format!(
                "the size `{}` of `{name}` is no earlier parameter of `{}`",
                f.nvars[size].name, f.name
            );
            return error(message, "sizes are i64 parameters that stand before what has them");
        }
        if let Some(v) = values.next() {
            known.extend(Some(*v).filter(|v| f.nvars[*v].ty == Type::I64));
        }
    }
    Ok(())
}

/// Whether `q` takes what `p` gives and gives what `p` takes.
fn flipped(program: &Program, p: &Function, q: &Function) -> Result<(), Diagnostic> {
    let of_params =
        |f: &Function| -> Vec<Type> { f.params.iter().map(|v| f.nvars[*v].ty.clone()).collect() };
    let takes = |f: &Function| -> Vec<Type> {
        f.lin_params.iter().map(|x| f.lvars[*x].ty.clone()).collect()
    };
    let gives =
        |f: &Function| -> Vec<Type> { f.lin_results.iter().map(|r| r.ty.clone()).collect() };
    let same = |wanted: Vec<Type>, found: Vec<Type>| {
        wanted.len() == found.len()
            && wanted.iter().zip(&found).all(|(w, f)| renamed(w, &p.params, &q.params) == *f)
    };
    if same(of_params(p), of_params(q)) && same(takes(p), gives(q)) && same(gives(p), takes(q)) {
        return Ok(());
    }
    let list = |types: &[Type], with: &dyn Fn(usize) -> Option<String>| -> String {
        let text = types.iter().enumerate().map(|(k, ty)| {
            let ty = print_type(program, p, ty);
            with(k).map_or(ty.clone(), |name| format!("{name}: {ty}"))
        });
        text.collect::<Vec<_>>().join(", ")
    };
    let params = list(&of_params(p), &|k| Some(p.nvars[p.params[k]].name.to_string()));
    let single = gives(p).len() == 1;
    let lin = list(&gives(p), &|k| Some(if single { "y'".into() } else { format!("y{}'", k + 1) }));
    let results = list(&takes(p), &|_| None);
    let message = format!("`{}` has not the type of a transpose of `{}`", q.name, p.name);
    let help = format!(
        "write `extern def {}({params}; {lin}) -> (; {results}) transpose {}`",
        q.name, p.name
    );
    Err(Diagnostic::error("J812", q.span, message).help(help).label(p.span, "of this one"))
}

/// Whether a value is what the declaration is on ordinary values.
fn is_value(program: &Program, func: FuncId) -> Result<(), Diagnostic> {
    let f = &program.funcs[func];
    let of = program.declared(func).filter(|d| d.value == func).map(|d| &program.funcs[d.linear]);
    let fits = of.is_some_and(|p| {
        let takes: Vec<Type> = f.params.iter().map(|v| f.nvars[*v].ty.clone()).collect();
        let named = |ty: &Type| renamed(ty, &p.params, &f.params);
        f.is_nonlinear()
            && f.foreign.map(|v| v.number) == p.foreign.map(|v| v.number)
            && takes == parameter_types(p).iter().map(named).collect::<Vec<_>>()
            && f.results.len() == p.lin_results.len()
            && p.lin_results.iter().zip(&f.results).all(|(r, found)| named(&r.ty) == found.ty)
    });
    match fits {
        true => Ok(()),
        false => {
            Err(Diagnostic::error("J811", f.span, format!("`{}` is declared by nothing", f.name)))
        }
    }
}

/// The types of all parameters, linear ones too.
fn parameter_types(f: &Function) -> Vec<Type> {
    let params = f.params.iter().map(|v: &NVar| f.nvars[*v].ty.clone());
    params.chain(f.lin_params.iter().map(|x: &LVar| f.lvars[*x].ty.clone())).collect()
}

/// The parameters before the `;` that are floats or arrays of floats.
fn float_params(f: &Function) -> Vec<NVar> {
    let floats = |v: &NVar| Numbers::of(&f.nvars[*v].ty) == Some(Numbers::Floats);
    f.params.iter().copied().filter(floats).collect()
}

fn renamed(ty: &Type, from: &[NVar], to: &[NVar]) -> Type {
    ty.subst(&mut |v| {
        let k = from.iter().position(|p| *p == v)?;
        to.get(k).map(|p| Size::var(*p))
    })
}

/// The definition that has to be there: `def r(n: i64, v: [n]f64, x: [n]f64, dv: [n]f64) -> [n]f64 = ..`.
fn wanted(program: &Program, f: &Function, name: &str) -> String {
    let show = |ty: &Type| print_type(program, f, ty);
    let sizes: Vec<&str> =
        f.params.iter().take(f.size_params).map(|v| f.nvars[*v].name.as_str()).collect();
    let sizes = if sizes.is_empty() { String::new() } else { format!("[{}]", sizes.join(", ")) };
    let own = f
        .params
        .iter()
        .skip(f.size_params)
        .map(|v| (f.nvars[*v].name.to_string(), &f.nvars[*v].ty));
    let lin = f
        .lin_params
        .iter()
        .map(|x| (f.lvars[*x].name.trim_end_matches('\'').to_string(), &f.lvars[*x].ty));
    let tangents = float_params(f);
    let tangents = tangents.iter().map(|v| (format!("d{}", f.nvars[*v].name), &f.nvars[*v].ty));
    let params: Vec<String> =
        own.chain(lin).chain(tangents).map(|(name, ty)| format!("{name}: {}", show(ty))).collect();
    let gives: Vec<String> = f.lin_results.iter().map(|r| show(&r.ty)).collect();
    let gives =
        if let [one] = &gives[..] { one.clone() } else { format!("({})", gives.join(", ")) };
    format!("def {name}{sizes}({}) -> {gives} = ..", params.join(", "))
}

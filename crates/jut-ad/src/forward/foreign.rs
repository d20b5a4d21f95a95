//! J of functions of other languages.
//!
//! ```text
//! extern def p(n, v; x') -> (; y') transpose q derivative r
//!
//! p.erased.jvp(n, v, x; ; rd dv, rd dx) = {
//!   y = p.erased(n, v, x)
//!   a' = rd dx;  u' = p(n, v; a')             where a tangent of x is asked for
//!   w' = r.jvp(n, v, x, 0; dv)                where one of v is
//!   (y; u' + w')
//! }
//! ```
//!
//! Of `r`, which is linear in its last parameters, that is the linear function ([`super::custom`] does the same with rules).
//!
//! *Requires*: a declaration that the checker accepts. *Ensures*: the signature that J gives by the types. *Cost*: one call of `p`, and
//! the derivative of `r` if it is needed.

use super::custom::{Maker, Tangent};
use super::{Derivatives, Mask};
use crate::activity::Influence;
use jut_ir::build::FunctionBuilder;
use jut_ir::cover::shown::show_sizes;
use jut_ir::repair::repair;
use jut_ir::*;

/// What the results of a function of another language depend on: on all floats that it is given.
pub(super) fn influence(program: &Program, func: FuncId) -> Option<Influence> {
    let f = &program.funcs[func];
    f.foreign?;
    let row: Vec<bool> = f.params.iter().map(|v| f.nvars[*v].ty.has_float(program)).collect();
    Some(Influence { results: vec![row; f.results.len()], accs: Vec::new() })
}

/// The definition whose derivative is asked for, and with respect to what: the one that is named, by the tangents of the active
/// parameters before the `;`. `None` if there are none of these.
pub(super) fn asked(program: &Program, func: FuncId, mask: &Mask) -> Option<(FuncId, Mask)> {
    let by = program.foreign_derivative(func)?;
    let own = program.funcs[func].params.len();
    let given = floats_before(program, func);
    let active = given.iter().enumerate().filter(|(_, k)| mask.is_active(**k));
    let tangents: Vec<usize> = active.map(|(j, _)| own + j).collect();
    let mask = Mask::only(program, by, &tangents);
    (!mask.is_empty()).then_some((by, mask))
}

/// The positions of the floats in which the function is not linear.
fn floats_before(program: &Program, func: FuncId) -> Vec<usize> {
    let f = &program.funcs[func];
    let before = program.declared(func).map_or(0, |d| program.funcs[d.linear].params.len());
    let floats = f.params.iter().take(before).enumerate();
    floats.filter(|(_, v)| f.nvars[**v].ty.has_float(program)).map(|(k, _)| k).collect()
}

/// The forward derivative of a function of another language, or `None` if it is none. That of the derivative that it names has been made.
///
/// # Errors
/// `J813` if the derivative that is named is not known, because it takes one through the function itself.
pub(super) fn differentiate(
    derivatives: &mut Derivatives,
    func: FuncId,
    mask: &Mask,
) -> Result<Option<Function>, Diagnostic> {
    let Some(declared) = derivatives.program.declared(func) else { return Ok(None) };
    let given = floats_before(&derivatives.program, func);
    let of_given: Vec<bool> = given.iter().map(|k| mask.is_active(*k)).collect();
    let stated = match asked(&derivatives.program, func, mask) {
        Some((by, tangents)) => {
            Some(derivatives.jvp_of(by, &tangents).cloned().ok_or_else(|| {
                crate::internal(Span::NONE, "the derivative of what an `extern` names was not made")
            })?)
        }
        None if of_given.contains(&true) => return Err(too_early(&derivatives.program, declared)),
        None => None,
    };
    let source = &derivatives.program.funcs[func];
    let loc = Loc::source(source.span).by(Origin::Forward);
    let mut maker = Maker::new(FunctionBuilder::from_function(source.signature()), loc);
    let args: Vec<Atom> = maker.b.func.params.iter().map(|p| Atom::Var(*p)).collect();
    let handles = maker.parameters(derivatives, mask);
    let types: Vec<Type> = maker.b.func.results.iter().map(|r| r.ty.clone()).collect();
    for ty in &types {
        maker.b.func.lin_results.push(LinResultDecl { name: None, ty: ty.clone() });
    }
    let values: Vec<NVar> =
        types.iter().map(|ty| maker.b.nvar("y", ty.clone(), loc.span)).collect();
    maker.call(values.clone(), vec![], func, args.clone(), vec![], vec![]);
    let mut handles = handles.into_iter();
    let of_values: Vec<Tangent> = handles.by_ref().take(given.len()).collect();
    let of_linear: Vec<Tangent> = handles.collect();
    let mut sums: Vec<Option<LVar>> = vec![None; types.len()];
    if of_linear.iter().any(Tangent::is_active) {
        let lin_args = of_linear.into_iter().map(|x| maker.whole(x)).collect();
        let given = derivatives.program.funcs[declared.linear].params.len();
        let lin: Vec<LVar> =
            types.iter().map(|ty| maker.b.lvar("y", ty.clone(), loc.span)).collect();
        let before = args.iter().take(given).copied().collect();
        maker.call(vec![], lin.clone(), declared.linear, before, lin_args, vec![]);
        sums = lin.into_iter().map(Some).collect();
    }
    if let Some(jvp) = stated {
        let zeros: Vec<NVar> =
            given.iter().filter_map(|k| maker.b.func.params.get(*k).copied()).collect();
        let made = maker.forward(derivatives, &jvp, args, &zeros, of_values, &types);
        let active = sums.iter_mut().zip(&jvp.results).filter(|(_, active)| **active);
        for ((sum, _), y) in active.zip(made) {
            *sum = Some(match *sum {
                None => y,
                Some(x) => maker.sum(x, y),
            });
        }
    }
    let lin = sums.into_iter().zip(&types).map(|(sum, ty)| match sum {
        Some(y) => y,
        None => maker.zero_of(ty),
    });
    let lin: Vec<LVar> = lin.collect();
    let nl = values.into_iter().map(Atom::Var).collect();
    let mut b = maker.finish(nl, lin);
    repair(&mut b, Origin::Forward);
    // A caller has shown the sizes of what it gets; what is made of this function has to show them once more.
    let foreign = |func| derivatives.program.funcs[func].is_foreign();
    show_sizes(&mut b.func, Some(&mut b.namer), &foreign);
    Ok(Some(b.func))
}

/// The derivative that is named takes a derivative through the function itself.
fn too_early(program: &Program, declared: Declared) -> Diagnostic {
    let f = &program.funcs[declared.linear];
    let message = format!("the derivative of `{0}` takes a derivative through `{0}`", f.name);
    Diagnostic::error("J813", f.span, message)
        .help("state the derivative by functions whose derivatives are known without it")
}

//! Second derivatives, by reverse over forward: J, L, J, U, T, L. The directional derivative of a
//! function has no tape, so the tape of its gradient is all that is kept.

use super::composer::{Composer, in_order, product, sums};
use super::entries::{few_blocks, is_numbers};
use super::jacobian::zeros;
use super::{
    Asked, Composition, Observer, Outcome, Parameter, Passes, Request, compose, definition, domain,
    scalar_result,
};
use crate::{Derivatives, Mask, Policy};
use jut_ir::*;

/// `f.dir{..}.grad: (A, A') -> (gradients)`: the product of the Hessian with the tangents: takes
/// the parameters of `f` and a tangent for each parameter in the mask, gives one gradient for
/// each. Costs a small multiple of `f`. Fails where `f` fails.
///
/// # Errors
/// As [`super::value_and_grad`].
pub fn hessian_product(
    derivatives: &mut Derivatives,
    func: FuncId,
    wrt: &Mask,
    policy: Policy,
) -> Result<FuncId, Diagnostic> {
    definition(derivatives, Request::HessianProduct, func, wrt, None, policy)
}

/// The gradient of the derivative in a direction.
pub(super) fn product_with(
    derivatives: &mut Derivatives,
    asked: &Asked,
    observer: Observer,
) -> Result<Composition, Diagnostic> {
    let (f, wrt) = domain(derivatives, asked.func, &asked.wrt)?;
    scalar_result(&derivatives.program.funcs[f], None)?;
    let (along, primal) = slope(derivatives, f, &wrt, observer)?;
    let (request, of) = (Request::Gradient, None);
    let again = Asked { request, func: along.func, wrt: primal, of, policy: asked.policy };
    let mut made = compose(derivatives, &again, observer)?;
    // In terms of `f`, and not of its derivative in a direction.
    for parameter in &mut made.parameters {
        if let Parameter::Argument(k) = *parameter {
            *parameter = along.parameters[k];
        }
    }
    for result in &mut made.results {
        if let Outcome::Gradient(k) = *result
            && let Parameter::Argument(k) = along.parameters[k]
        {
            *result = Outcome::Gradient(k);
        }
    }
    Ok(made)
}

/// The directional derivative, and the mask that differentiates it again.
fn slope(
    derivatives: &mut Derivatives,
    f: FuncId,
    wrt: &Mask,
    observer: Observer,
) -> Result<(Composition, Mask), Diagnostic> {
    let (request, of, policy) = (Request::Directional, None, Policy::Default);
    let asked = Asked { request, func: f, wrt: wrt.clone(), of, policy };
    let along = compose(derivatives, &asked, observer)?;
    let positions: Vec<usize> = wrt.positions().collect();
    let primal = Mask::only(&derivatives.program, along.func, &positions);
    Ok((along, primal))
}

/// `f.hessian: (A) -> (blocks)`: all second derivatives of the one f64 result of `f`: for each
/// parameter in the mask, for each parameter in the mask, an array with the dimensions of the
/// first, then those of the second. With one parameter `x: [n]f64` that is the symmetric `[n][n]f64`.
/// Of records, tuples and arrays of these a block has the shape of the first one's tangent, with a tangent of the second in
/// the place of each number.
///
/// Costs one product with the Hessian per number in these parameters, each with a unit vector made
/// for it; the gradients are added straight into the rows of the result:
///
/// ```text
/// core def f.hessian(n: i64, x: [n]f64) -> ([n][n]f64) = {
///   dx = acc dx: [n][n]f64 { scan par (i < n) slice (; ; row <- dx) {
///     e = acc e: [n]f64 { e[i] += 1.0 }
///     (slope, tape) = f.dir{x}.nonlin(n, x, e)
///     f.dir{x}.linT.erased(n, x, e, tape, 1.0; ; row) } }
///   dx
/// }
/// ```
///
/// Fails where `f` fails: where there is no entry to be computed, `f` runs alone (a branch that a
/// parameter without dimensions makes unnecessary).
///
/// # Errors
/// As [`super::value_and_grad`]; `J805` for too many blocks.
pub fn hessian(
    derivatives: &mut Derivatives,
    func: FuncId,
    wrt: &Mask,
    policy: Policy,
) -> Result<FuncId, Diagnostic> {
    definition(derivatives, Request::Hessian, func, wrt, None, policy)
}

/// All second derivatives.
pub(super) fn all(
    derivatives: &mut Derivatives,
    asked: &Asked,
    observer: Observer,
) -> Result<Composition, Diagnostic> {
    let policy = asked.policy;
    let (f, wrt) = domain(derivatives, asked.func, &asked.wrt)?;
    scalar_result(&derivatives.program.funcs[f], None)?;
    let inputs = Composer::new(derivatives, f)?.active(&wrt)?;
    let types = || inputs.iter().map(|a| &a.ty);
    few_blocks(&Composer::new(derivatives, f)?, types(), types())?;
    let (Composition { func: along, .. }, primal) = slope(derivatives, f, &wrt, observer)?;
    let differentiated = scalar_result(&derivatives.program.funcs[along], None)?;
    let passes = Passes::apply(derivatives, along, &primal, policy, observer)?;
    let pullback = passes.pullback(derivatives, observer)?;
    let Passes { halves, active, .. } = passes;

    let mut c = Composer::new(derivatives, f)?;
    let inputs = c.active(&wrt)?;
    c.run_where_empty(f, &inputs)?;
    let zeros = zeros(&mut c, inputs.iter().map(|a| &a.ty), inputs.len());
    // What the transposed half takes: the derivative along the k-th parameter is run, and its cotangent is one.
    let cotangent = |c: &mut Composer, k: usize, unit: Atom| {
        let mut args = c.inputs.clone();
        let start = args.len();
        args.extend(&zeros);
        args[start + k] = unit;
        let results = c.call(halves.nonlin, args.clone(), Vec::new());
        let mut saved = c.saved_args(&halves, &args, &results);
        for (k, result) in results.iter().enumerate().take(active.len()) {
            let Some(ty) = c.tangent_of_value(*result)?.filter(|_| active[k]) else { continue };
            saved.push(match k == differentiated {
                true => Atom::Lit(ty.number(1.0)),
                false => c.zero(ty),
            });
        }
        Ok(saved)
    };
    let mut nl = Vec::new();
    for (k, input) in inputs.iter().enumerate() {
        c.declare(inputs.iter().map(|other| {
            let second = Outcome::Second { of: input.position, by: other.position };
            (second, product(&input.ty, &other.ty))
        }));
        if !is_numbers(&input.ty) {
            nl.extend(c.over_entries(&input.ty, &mut Vec::new(), &mut |c, path| {
                let unit = c.unit_at(&input.ty, path)?;
                let saved = cotangent(c, k, unit)?;
                c.pull_back(pullback, saved, &inputs)
            })?);
            continue;
        }
        let dims = c.dims(&input.ty);
        let (stacked, totals) = c.accumulate(sums(&inputs, Some(&input.ty)), |c, caps| {
            c.nest(&dims, caps, &mut |c, indices, rows| {
                let unit = c.unit(&input.ty, indices)?;
                let saved = cotangent(c, k, unit)?;
                let rows = rows.iter().map(|row| Some(Place::root(*row))).collect();
                Ok(c.call(pullback, saved, rows).into_iter().map(Atom::Var).collect())
            })
        })?;
        nl.extend(in_order(&inputs, stacked, totals));
    }
    let name = wrt.name(&c.derivatives.program, f);
    let doc = format!("All second derivatives of `{name}`.");
    Ok(c.finish(asked.name(&name), doc, nl))
}

/// `f.dir2: (A, A') -> (B')`: the second derivatives of the results along a line, vᵀ H v, by
/// forward over forward (J, L, J, L), so that there is no tape at all. Takes a tangent v for each
/// parameter in the mask; gives one second derivative per result with floats, after those sizes of
/// results that `f` computes. Costs a small multiple of `f`. Fails where `f` fails.
///
/// # Errors
/// As [`super::jvp`], and `J804` if no parameter is named.
pub fn second_directional(
    derivatives: &mut Derivatives,
    func: FuncId,
    wrt: &Mask,
) -> Result<FuncId, Diagnostic> {
    let policy = Policy::Default;
    definition(derivatives, Request::SecondDirectional, func, wrt, None, policy)
}

/// The derivative in a direction, twice.
pub(super) fn along_a_line(
    derivatives: &mut Derivatives,
    asked: &Asked,
    observer: Observer,
) -> Result<Composition, Diagnostic> {
    let (f, wrt) = domain(derivatives, asked.func, &asked.wrt)?;
    let (along, primal) = slope(derivatives, f, &wrt, observer)?;
    let (request, of, policy) = (Request::Directional, None, Policy::Default);
    let again = Asked { request, func: along.func, wrt: primal, of, policy };
    let twice = compose(derivatives, &again, observer)?.func;

    let mut c = Composer::new(derivatives, f)?;
    let parameters = c.active(&wrt)?;
    let tangents = c.tangent_params(&parameters);
    let mut args = c.inputs.clone();
    args.extend(&tangents);
    args.extend(&tangents);
    let results = c.call(twice, args, Vec::new());
    let kept: Vec<bool> = (0..c.source().results.len()).map(|k| c.is_size_of_tangent(k)).collect();
    c.declare_values(&kept);
    c.declare_tangents()?;
    let nl = results.into_iter().map(Atom::Var).collect();
    let name = wrt.name(&c.derivatives.program, f);
    let doc = format!("The second derivative of `{name}` along a line.");
    Ok(c.finish(asked.name(&name), doc, nl))
}

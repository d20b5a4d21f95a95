//! Compositions of the passes: what users ask for, as definitions that are ready to run.
//!
//! | composition | made of | signature |
//! |---|---|---|
//! | [`value_and_grad`], `f.value_grad` | J, U, T, L | `(A) -> (B, gradients)` |
//! | [`grad`], `f.grad` | the same | `(A) -> (gradients)` |
//! | [`vjp`], `f.vjp` | the same | `(A, B'') -> (B, gradients)` |
//! | [`jvp`], `f.jvp_value` | J, L | `(A, A') -> (B, B')` |
//! | [`directional`], `f.dir` | J, L | `(A, A') -> (B')` |
//! | [`hessian_product`] | J, L, then J, U, T, L | `(A, A') -> (gradients)` |
//!
//! A are the parameters of `f`, B its results, A' one tangent and "gradients" one gradient per
//! parameter that the mask names, in order; B' one tangent and B'' one cotangent per result with a
//! float, in order (also for those that do not depend on the parameters named: zero, or ignored).
//! With a mask that leaves parameters out, the name has it: `f{w}.grad`. All of them are purely
//! non-linear, so they can be differentiated again: the gradient of `f.dir` is a product with the
//! Hessian.
//!
//! ```text
//! core def f.value_grad(n: i64, x: [n]f64) -> (f64, [n]f64) = {
//!   (y, tape) = f.nonlin(n, x)
//!   g = acc dx: [n]f64 { f.linT.erased(n, x, tape, 1.0; ; dx) }
//!   (y, g)
//! }
//! ```
//!
//! `f.nonlin` stays in a gradient whose value nobody asks for, with all its checks: a gradient
//! fails exactly where its primal fails.
//!
//! A function with linear parameters is erased first; they come after its parameters, and the
//! mask takes them to be active.

mod composer;

use crate::{Derivatives, Jvp, Mask, Passing, Policy, erase, forward, transpose, unzip};
use composer::Composer;
use jut_ir::*;

/// `f.value_grad`: the results of `f`, then its gradient with respect to each parameter in the
/// mask. `f` has exactly one result of type f64, the one that is differentiated.
///
/// # Errors
/// `J802` if `f` has not exactly one f64 result, `J803` if it has accumulators among its
/// parameters, `J804` if no parameter is named, and what the passes report.
pub fn value_and_grad(
    derivatives: &mut Derivatives,
    func: FuncId,
    wrt: &Mask,
    policy: Policy,
) -> Result<FuncId, Diagnostic> {
    reverse(
        derivatives,
        func,
        wrt,
        policy,
        Reverse { kind: "value_grad", values: true, seeds: false },
    )
}

/// `f.grad`: the gradients alone. Fails where `f` fails.
///
/// # Errors
/// As [`value_and_grad`].
pub fn grad(
    derivatives: &mut Derivatives,
    func: FuncId,
    wrt: &Mask,
    policy: Policy,
) -> Result<FuncId, Diagnostic> {
    reverse(derivatives, func, wrt, policy, Reverse { kind: "grad", values: false, seeds: false })
}

/// `f.vjp`: takes a cotangent for each result with a float; gives the results and the gradients.
/// Where the size of a result is computed by `f`, the sizes of its cotangent are further
/// parameters before it, and a different size is the error R04 at run time.
///
/// # Errors
/// As [`value_and_grad`], but for any number of float results.
pub fn vjp(
    derivatives: &mut Derivatives,
    func: FuncId,
    wrt: &Mask,
    policy: Policy,
) -> Result<FuncId, Diagnostic> {
    reverse(derivatives, func, wrt, policy, Reverse { kind: "vjp", values: true, seeds: true })
}

/// `f.jvp_value`: takes a tangent for each parameter in the mask; gives the results of `f` and a
/// tangent for each result with a float.
///
/// # Errors
/// What the passes report.
pub fn jvp(derivatives: &mut Derivatives, func: FuncId, wrt: &Mask) -> Result<FuncId, Diagnostic> {
    forwards(derivatives, func, wrt, "jvp_value", true)
}

/// `f.dir`: the tangents of the results alone, a directional derivative.
///
/// # Errors
/// What the passes report.
pub fn directional(
    derivatives: &mut Derivatives,
    func: FuncId,
    wrt: &Mask,
) -> Result<FuncId, Diagnostic> {
    forwards(derivatives, func, wrt, "dir", false)
}

/// `f.dir{..}.grad`: the product of the Hessian with the tangents, by reverse over forward: takes the
/// parameters of `f` and a tangent for each parameter in the mask, gives one gradient for each.
///
/// # Errors
/// As [`value_and_grad`].
pub fn hessian_product(
    derivatives: &mut Derivatives,
    func: FuncId,
    wrt: &Mask,
    policy: Policy,
) -> Result<FuncId, Diagnostic> {
    scalar_result(&derivatives.program.funcs[func])?;
    let along = directional(derivatives, func, wrt)?;
    let positions: Vec<usize> = wrt.positions().collect();
    let primal = Mask::only(&derivatives.program, along, &positions);
    grad(derivatives, along, &primal, policy)
}

/// Which reverse-mode composition.
struct Reverse {
    kind: &'static str,
    /// Whether the results of `f` are returned.
    values: bool,
    /// Whether cotangents are parameters (else: one for the f64 result).
    seeds: bool,
}

fn reverse(
    derivatives: &mut Derivatives,
    func: FuncId,
    wrt: &Mask,
    policy: Policy,
    what: Reverse,
) -> Result<FuncId, Diagnostic> {
    let key = (what.kind, func, wrt.clone(), policy);
    if let Some(known) = derivatives.compositions.get(&key) {
        return Ok(*known);
    }
    let f = erase::erase(derivatives, func)?;
    let wrt = &derivatives.mask_of_erased(func, f, wrt);
    refuse_accumulators(&derivatives.program.funcs[f])?;
    let differentiated = match what.seeds {
        true => None,
        false => Some(scalar_result(&derivatives.program.funcs[f])?),
    };
    if wrt.is_empty() {
        let message = "a gradient with respect to nothing: no parameter named has a float";
        return Err(Diagnostic::error("J804", derivatives.program.funcs[f].span, message));
    }
    let made = forward::forward(derivatives, f, wrt)?;
    let halves = unzip::unzip(derivatives, made, policy)?;
    let transposed = transpose::transpose(derivatives, halves.lin)?;
    let pullback = erase::erase(derivatives, transposed)?;
    let Some(Jvp { results: active, .. }) = derivatives.jvp_of(f, wrt).cloned() else {
        return Err(Diagnostic::error("J901", Span::NONE, "no derivative was made"));
    };

    let mut c = Composer::new(derivatives, f)?;
    let seeds = match differentiated {
        Some(_) => Vec::new(),
        None => c.seed_params()?,
    };
    let results = c.call(halves.nonlin, c.params.clone(), Vec::new());
    let values = results[..active.len().min(results.len())].to_vec();
    let mut cotangents = Vec::new();
    for (k, active) in active.iter().enumerate() {
        let Some(ty) = active.then(|| c.tangent_of_value(values[k])).transpose()?.flatten() else {
            continue;
        };
        cotangents.push(match (differentiated, seeds.get(k)) {
            (Some(d), _) if d == k => Atom::Lit(Literal::F64(1.0)),
            (None, Some(Some(seed))) => c.fitted(*seed, ty),
            _ => c.zero(ty),
        });
    }
    let gradients = c.pull_back(pullback, &halves, &results, cotangents, wrt)?;
    let mut nl = Vec::new();
    if what.values {
        nl.extend(values.iter().map(|v| Atom::Var(*v)));
        c.declare_values(&vec![true; values.len()]);
    }
    for (ty, gradient) in gradients {
        nl.push(gradient);
        c.b.func.results.push(ResultDecl { name: None, ty });
    }
    let name = wrt.name(&c.derivatives.program, f);
    let doc = match what.kind {
        "grad" => format!("The gradient of `{name}`."),
        "vjp" => format!("The values of `{name}`, and cotangents taken back to its parameters."),
        _ => format!("The value and the gradient of `{name}`."),
    };
    let id = c.finish(names::composition(&name, what.kind), doc, nl);
    derivatives.compositions.insert(key, id);
    Ok(id)
}

fn forwards(
    derivatives: &mut Derivatives,
    func: FuncId,
    wrt: &Mask,
    kind: &'static str,
    values: bool,
) -> Result<FuncId, Diagnostic> {
    let key = (kind, func, wrt.clone(), Policy::Default);
    if let Some(known) = derivatives.compositions.get(&key) {
        return Ok(*known);
    }
    let f = erase::erase(derivatives, func)?;
    let wrt = &derivatives.mask_of_erased(func, f, wrt);
    refuse_accumulators(&derivatives.program.funcs[f])?;
    let made = forward::forward(derivatives, f, wrt)?;
    let erased = erase::erase(derivatives, made)?;
    let Some(Jvp { results: active, .. }) = derivatives.jvp_of(f, wrt).cloned() else {
        return Err(Diagnostic::error("J901", Span::NONE, "no derivative was made"));
    };

    let mut c = Composer::new(derivatives, f)?;
    let tangents = c.tangent_params(wrt)?;
    // The derivative takes tangents by value first, then those by capability.
    let by = |passing: Passing| {
        tangents.iter().filter(move |(p, _)| *p == passing).map(|(_, v)| Atom::Var(*v))
    };
    let mut args = c.params.clone();
    args.extend(by(Passing::Value).chain(by(Passing::Capability)));
    let results = c.call(erased, args, Vec::new());
    let (primal, rest) = results.split_at(active.len().min(results.len()));
    let mut rest = rest.iter();
    let kept: Vec<bool> = (0..primal.len()).map(|k| values || c.is_size_of_tangent(k)).collect();
    c.declare_values(&kept);
    let mut nl: Vec<Atom> =
        primal.iter().zip(&kept).filter(|(_, keep)| **keep).map(|(v, _)| Atom::Var(*v)).collect();
    for (k, v) in primal.iter().enumerate() {
        let Some(declared) = c.declared_tangent(k)? else { continue };
        let tangent = if active[k] { rest.next() } else { None };
        nl.push(match (tangent, c.tangent_of_value(*v)?) {
            (Some(t), _) => Atom::Var(*t),
            (None, Some(ty)) => c.zero(ty),
            (None, None) => continue,
        });
        c.b.func.results.push(ResultDecl { name: None, ty: declared });
    }
    let name = wrt.name(&c.derivatives.program, f);
    let doc = format!("The derivative of `{name}` in a direction.");
    let id = c.finish(names::composition(&name, kind), doc, nl);
    derivatives.compositions.insert(key, id);
    Ok(id)
}

/// Refuses what has no meaning as a composition.
fn refuse_accumulators(f: &Function) -> Result<(), Diagnostic> {
    if f.cap_params.is_empty() {
        return Ok(());
    }
    let message = format!("`{}` adds into accumulators of its caller", f.name);
    Err(Diagnostic::error("J803", f.span, message)
        .help("differentiate a function that has results only"))
}

/// The position of the one result that a gradient is of.
fn scalar_result(f: &Function) -> Result<usize, Diagnostic> {
    let floats: Vec<usize> =
        f.results.iter().enumerate().filter(|(_, r)| r.ty == Type::F64).map(|(k, _)| k).collect();
    match floats.as_slice() {
        [one] => Ok(*one),
        _ => {
            let message = format!(
                "a gradient is that of one number, and `{}` returns {} of type f64",
                f.name,
                floats.len()
            );
            let help = "return exactly one f64, or take the product with the Jacobian (vjp, jvp)";
            Err(Diagnostic::error("J802", f.span, message).help(help))
        }
    }
}

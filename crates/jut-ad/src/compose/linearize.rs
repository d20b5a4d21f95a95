//! Derivatives at a point that are kept and applied many times, and transposes of linear functions.
//!
//! ```text
//! core def f.linearize(n: i64, x: [n]f64) -> (f64, f.tape) = { (y, tape) = f.nonlin(n, x); (y, tape) }
//! core def f.apply(n: i64, tape: f.tape, x_t: [n]f64) -> (f64) = { y_t = f.lin.erased(n, tape, x_t); y_t }
//! core def f.applyT(n: i64, tape: f.tape, y_c: f64) -> ([n]f64) = {
//!   g = acc dx: [n]f64 { f.linT.erased(n, tape, y_c; ; dx) }
//!   g
//! }
//! ```
//!
//! Here the saved values are `n` and the tape: [`Saved::Argument`]`(0)` and [`Saved::Result`]`(1)`.

use super::composer::{Active, Composer};
use super::{
    Asked, Composition, Observer, Outcome, Parameter, Passes, Request, Step, as_j_passes,
    definition, unobserved,
};
use crate::{Derivatives, Mask, Passing, Policy, erase, transpose, unzip};
use jut_ir::*;
use std::collections::BTreeSet;

/// The derivative of a function at a point, as three functions. Run `primal` once; then give
/// `apply` and `apply_transposed` the values that [`saved`](Linearized::saved) picks from its
/// arguments and results, as often as needed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Linearized {
    /// `f.linearize: (A) -> (B, tape)`: the results of `f`, then the tape if there is one, a value
    /// of a data type. Costs as much as `f`. Fails where `f` fails; the other two do not fail.
    pub primal: Composition,
    /// What the other two take first, in order: only those arguments that they read (which the
    /// caller may own or lend), sizes among the results, the tape.
    pub saved: Vec<Saved>,
    /// `f.apply: (saved, A') -> (B')`: a tangent for each parameter in the mask to one for each
    /// result with floats. Costs a small multiple of the arithmetic of `f`, no transcendental
    /// function among it.
    pub apply: Composition,
    /// `f.applyT: (saved, B'') -> (gradients)`: a cotangent for each result with floats to one for
    /// each parameter in the mask. Costs no more than `apply` and the scalars it takes and gives
    /// (Theorem 7.1).
    pub apply_transposed: Composition,
}

/// A value that is kept of a run of [`Linearized::primal`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Saved {
    /// The argument at this position.
    Argument(usize),
    /// The result at this position.
    Result(usize),
}

/// The derivative of `f` with respect to the parameters in the mask, for a tape that is kept.
///
/// # Errors
/// `J803` for accumulators among the parameters, `J804` if no parameter is named, and what the
/// passes report.
pub fn linearize(
    derivatives: &mut Derivatives,
    func: FuncId,
    wrt: &Mask,
    policy: Policy,
) -> Result<Linearized, Diagnostic> {
    let key = (func, wrt.clone(), policy);
    if let Some(known) = derivatives.linearized.get(&key) {
        return Ok(known.clone());
    }
    let passes = Passes::apply(derivatives, func, wrt, policy, &mut unobserved)?;
    let forward = passes.forward(derivatives)?;
    let pullback = passes.pullback(derivatives, &mut unobserved)?;
    let f = passes.f;
    let name = passes.wrt.name(&derivatives.program, f);

    let mut c = Composer::new(derivatives, f)?;
    let args = c.inputs.clone();
    let results = c.call(passes.halves.nonlin, args, Vec::new());
    c.declare_values(&vec![true; passes.active.len()]);
    c.declare(passes.halves.tape.map(|tape| (Outcome::Tape, Type::Data(tape))));
    let nl = results.into_iter().map(Atom::Var).collect();
    let doc = format!("The values of `{name}`, and the tape.");
    let primal = c.finish(names::composition(&name, "linearize"), doc, nl);

    let saved = saved_values(derivatives, &passes)?;
    let apply = {
        let mut c = Composer::over(derivatives, f, &saved, passes.halves.tape);
        let parameters = c.active(&passes.wrt)?;
        let mut args = passes.args(&c, &saved);
        let tangents = c.tangent_params(&parameters);
        args.extend(as_j_passes(&parameters, &tangents));
        let mut made = c.call(forward, args, Vec::new()).into_iter();
        let mut nl = Vec::new();
        for (k, active) in passes.active.iter().enumerate() {
            let Some(ty) = c.result_tangent(k)? else { continue };
            nl.push(match active.then(|| made.next()).flatten() {
                Some(v) => Atom::Var(v),
                None => c.zero(ty),
            });
        }
        c.declare_tangents()?;
        let doc = format!("The derivative of `{name}` at a point, applied to a direction.");
        c.finish(names::composition(&name, "apply"), doc, nl)
    };
    let apply_transposed = {
        let mut c = Composer::over(derivatives, f, &saved, passes.halves.tape);
        let parameters = c.active(&passes.wrt)?;
        let mut args = passes.args(&c, &saved);
        let seeds = c.seed_params()?;
        let live = seeds.iter().zip(&passes.active).filter(|(_, active)| **active);
        args.extend(live.filter_map(|(seed, _)| seed.map(Atom::Var)));
        let nl = c.pull_back(pullback, args, &parameters)?;
        c.declare_gradients(&parameters);
        let doc = format!("The transposed derivative of `{name}` at a point.");
        c.finish(names::composition(&name, "applyT"), doc, nl)
    };
    let made = Linearized { primal, saved, apply, apply_transposed };
    derivatives.linearized.insert(key, made.clone());
    Ok(made)
}

/// What the linear halves read, and the sizes in the types of tangents and cotangents.
fn saved_values(derivatives: &Derivatives, passes: &Passes) -> Result<Vec<Saved>, Diagnostic> {
    let source = &derivatives.program.funcs[passes.f];
    let halves = &passes.halves;
    let mut saved: BTreeSet<Saved> = halves.forwarded.iter().map(|k| Saved::Argument(*k)).collect();
    saved.extend(halves.result_sizes.iter().map(|k| Saved::Result(*k)));
    let mut sizes = BTreeSet::new();
    let read = saved.iter().filter_map(|s| match s {
        Saved::Argument(k) => source.params.get(*k),
        Saved::Result(_) => None,
    });
    let active = passes.wrt.positions().filter_map(|k| source.params.get(k));
    for p in read.chain(active) {
        sizes.extend(source.nvars[*p].ty.size_names());
    }
    for result in source.results.iter().filter(|r| derivatives.kinds.has_float(&r.ty)) {
        sizes.extend(result.ty.size_names());
    }
    let params = source.params.iter().enumerate().filter(|(_, p)| sizes.contains(p));
    saved.extend(params.map(|(k, _)| Saved::Argument(k)));
    let names = source.results.iter().enumerate();
    let results = names.filter(|(_, r)| r.name.is_some_and(|n| sizes.contains(&n)));
    saved.extend(results.map(|(k, _)| Saved::Result(k)));
    saved.extend(halves.tape.map(|_| Saved::Result(passes.active.len())));
    Ok(saved.into_iter().collect())
}

impl Passes {
    /// The arguments of a linear half, among the saved values that a composition starts with.
    fn args(&self, c: &Composer, saved: &[Saved]) -> Vec<Atom> {
        let halves = &self.halves;
        let forwarded = halves.forwarded.iter().map(|k| Saved::Argument(*k));
        let sizes = halves.result_sizes.iter().map(|k| Saved::Result(*k));
        let tape = halves.tape.map(|_| Saved::Result(self.active.len()));
        let position = |wanted| saved.iter().position(|s| *s == wanted);
        let all = forwarded.chain(sizes).chain(tape);
        all.filter_map(|wanted| c.inputs.get(position(wanted)?).copied()).collect()
    }
}

/// `g.transposed: (A, B'') -> (A'')`: the transpose of a function `g: (A; A') -> (B; B')` with linear
/// parameters, as a function to call: takes the non-linear parameters of `g` and a cotangent for
/// each linear result, gives one for each linear parameter. What `g` reads through an `rd`
/// capability counts as a linear parameter after the others, what it adds to through a `wr`
/// capability as a linear result. Where the size of a result is computed by `g`, it is a further
/// parameter before its cotangent, and a different size is the error R04 at run time.
///
/// Costs no more than `g` and the scalars that it takes and gives (Theorem 7.1). Fails where `g`
/// fails.
///
/// # Errors
/// `J801` if nothing about `g` is linear, `J803` if it has accumulators among its parameters.
pub fn transposed(
    derivatives: &mut Derivatives,
    func: FuncId,
    policy: Policy,
) -> Result<FuncId, Diagnostic> {
    definition(derivatives, Request::Transposed, func, &Mask::default(), None, policy)
}

/// The transpose.
pub(super) fn transposition(
    derivatives: &mut Derivatives,
    asked: &Asked,
    observer: Observer,
) -> Result<Composition, Diagnostic> {
    let Asked { func, policy, .. } = *asked;
    let g = &derivatives.program.funcs[func];
    if g.lin_params.is_empty() && g.lin_results.is_empty() && g.cap_params.is_empty() {
        let message = format!("`{}` has no transpose: it is not linear", g.name);
        let help = "only functions with linear parameters have one; linearize others first";
        return Err(Diagnostic::error("J801", g.span, message).help(help));
    }
    if g.cap_params.iter().any(|cap| g.caps[*cap].mode == Mode::Acc) {
        super::refuse_accumulators(g)?;
    }
    let halves = unzip::unzip(derivatives, func, policy)?;
    observer(Step::Unzip, &derivatives.program, &[halves.nonlin, halves.lin]);
    let pullback = transpose::transpose(derivatives, halves.lin)?;
    observer(Step::Transpose, &derivatives.program, &[pullback]);
    let pullback = erase::erase(derivatives, pullback)?;

    let mut c = Composer::new(derivatives, func)?;
    let Function { name, lin_params, lin_results, cap_params, lvars, caps, .. } =
        c.source().clone();
    let cotangent = |name: &str| format!("{}_c", name.trim_end_matches('\''));
    let mut seeds = Vec::new();
    for (k, result) in lin_results.iter().enumerate() {
        let hint = cotangent(&result.name.clone().unwrap_or_else(|| format!("y{k}").into()));
        let seed = c.seed_param(&hint, &result.ty, Parameter::LinearCotangent(k));
        seeds.push((seed, result.ty.clone()));
    }
    for cap in cap_params.iter().filter(|cap| caps[**cap].mode == Mode::Wr) {
        let CapData { name, ty, .. } = &caps[*cap];
        let what = Parameter::LinearCotangent(seeds.len());
        seeds.push((c.seed_param(&cotangent(name), ty, what), ty.clone()));
    }
    let args = c.inputs.clone();
    let results = c.call(halves.nonlin, args.clone(), Vec::new());
    let mut args = c.saved_args(&halves, &args, &results);
    for (seed, ty) in seeds {
        let ty = c.type_after(&results, &ty);
        args.push(c.fitted(seed, ty));
    }
    let mut parameters = Vec::new();
    for x in lin_params {
        let LinVarData { name, ty, span } = &lvars[x];
        let (position, name, ty) = (parameters.len(), cotangent(name), c.type_here(ty));
        parameters.push(Active { position, name, passing: Passing::Value, ty, span: *span });
    }
    for cap in cap_params.into_iter().filter(|cap| caps[*cap].mode == Mode::Rd) {
        let CapData { name, ty, span, .. } = &caps[cap];
        let (position, name, ty) = (parameters.len(), name.to_string(), c.type_here(ty));
        parameters.push(Active { position, name, passing: Passing::Capability, ty, span: *span });
    }
    let nl = c.pull_back(pullback, args, &parameters)?;
    c.declare(parameters.iter().map(|p| (Outcome::LinearGradient(p.position), p.ty.clone())));
    let doc = format!("The transpose of `{name}`.");
    Ok(c.finish(asked.name(&name), doc, nl))
}

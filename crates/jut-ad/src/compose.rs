//! Compositions of the passes: what users ask for, as definitions that are ready to run.
//!
//! | composition | made of | signature | runs |
//! |---|---|---|---|
//! | [`value_and_grad`], `f.value_grad` | J, U, T, L | `(A) -> (B, gradients)` | 1 |
//! | [`grad`], `f.grad` | the same | `(A) -> (gradients)` | 1 |
//! | [`value_and_grad_of`], [`grad_of`], `f.grad1` | the same, of one of several results | as above | 1 |
//! | [`vjp`], `f.vjp` | the same | `(A, B'') -> (B, gradients)` | 1 |
//! | [`jvp`], `f.jvp_value` | J, L | `(A, A') -> (B, B')` | 1 |
//! | [`directional`], `f.dir` | J, L | `(A, A') -> (B')` | 1 |
//! | [`second_directional`], `f.dir2` | J, L, then J, L | `(A, A') -> (B')` | 1 |
//! | [`hessian_product`], `f.dir{..}.grad` | J, L, then J, U, T, L | `(A, A') -> (gradients)` | 1 |
//! | [`hessian`], `f.hessian` | the same | `(A) -> (blocks)` | n |
//! | [`jacobian`], `f.jacobian` | J, U, L or J, U, T, L | `(A) -> (blocks)` | min(n, m) |
//! | [`value_and_jacobian`], `f.value_jacobian` | the same | `(A) -> (B, blocks)` | min(n, m) |
//! | [`linearize`]: `f.linearize` | J, U | `(A) -> (B, tape)` | 1 |
//! | `f.apply` | J, U, L | `(saved, A') -> (B')` | 1 |
//! | `f.applyT` | J, U, T, L | `(saved, B'') -> (gradients)` | 1 |
//! | [`transposed`], `g.transposed` | U, T, L | `(A, B'') -> (A'')` | 1 |
//! | `f.vmap` | L, B | `(b, [b]A) -> ([b]B)` | b |
//!
//! A are the parameters of `f`, B its results, A' one tangent and "gradients" one gradient per
//! parameter that the mask names, in order; B' one tangent and B'' one cotangent per result with a
//! float, in order (also for those that do not depend on the parameters named: zero, or ignored).
//! "Blocks" are arrays of partial derivatives (of records and tuples, the same in the shape of these), "saved" is what [`Linearized`] says. The cost is in
//! runs of `f`, up to a constant factor: n is how many numbers there are in the parameters named, m
//! how many in the results, b how many elements a batch has, of which the mask says which parameters have one.
//! With a mask that leaves parameters out, the name has it: `f{w}.grad`. All of them are purely
//! non-linear, so they can be differentiated again: the gradient of `f.dir` is a product with the
//! Hessian. Forward ones come first and reverse ones last: `f.dir` and `f.dir2` keep no tape and can
//! always be differentiated, a reverse one only if its tape has a tangent (J901 says when not:
//! arrays on the tape). So third derivatives are the gradient or the Jacobian of `f.dir2`.
//!
//! # How to call them
//!
//! Each function takes [`Derivatives`], a definition, a [`Mask`] and a tape [`Policy`], adds
//! definitions to the program, and gives the one that is to be optimised, lowered and run. Its
//! signature is in the program: parameters are those of `f` (`size_params` sizes in brackets
//! first), then tangents or cotangents in the order of the table, each with the dimensions of what
//! it belongs to; where `f` computes the size of a result, that size stands before its cotangent
//! (`vjp`, `transposed`), and among the first results where tangents or blocks have it.
//! For [`linearize`], keep the arguments and results of `primal` that `saved` picks, and pass them
//! before the tangents: the tape is a value like any other. All three functions are to be lowered
//! from one program, so that they agree on its type.
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

mod batched;
mod composer;
mod entries;
mod jacobian;
mod linearize;
mod nest;
mod request;
mod second;

pub use jacobian::{JacobianMode, jacobian, value_and_jacobian};
pub use linearize::{Linearized, Saved, linearize, transposed};
pub use request::{Request, Row, Seeds, Step, TABLE};
pub use second::{hessian, hessian_product, second_directional};

use crate::{Derivatives, Jvp, Mask, Passing, Policy, Unzipped, erase, forward, transpose, unzip};
use composer::{Active, Composer};
use jut_ir::*;

/// A definition that was composed, and what its parameters and results are in terms of the function.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Composition {
    /// The definition.
    pub func: FuncId,
    /// What it takes, in order.
    pub parameters: Vec<Parameter>,
    /// What it gives, in order.
    pub results: Vec<Outcome>,
}

/// A parameter of a composition. Positions count from 0; linear parameters and results come after the
/// others, as in the erased function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Parameter {
    /// The argument at this position.
    Argument(usize),
    /// A value that was kept of a run.
    Saved(Saved),
    /// The tangent of the parameter at this position.
    Tangent(usize),
    /// How many elements a batch has.
    Count,
    /// A size that the function computes, before the cotangents whose types mention it.
    Size,
    /// The cotangent of the result at this position.
    Cotangent(usize),
    /// The cotangent of a linear result, counted among linear ones.
    LinearCotangent(usize),
}

/// A result of a composition; positions as for [`Parameter`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// The result at this position.
    Value(usize),
    /// What later calls read.
    Tape,
    /// The tangent, or second derivative along a line, of the result at this position.
    Tangent(usize),
    /// The gradient or cotangent of the parameter at this position.
    Gradient(usize),
    /// The cotangent of a linear parameter, counted among linear ones.
    LinearGradient(usize),
    /// All partial derivatives of a result by a parameter.
    Partial {
        /// The result.
        of: usize,
        /// The parameter.
        by: usize,
    },
    /// All second derivatives by two parameters.
    Second {
        /// The parameter whose dimensions come first.
        of: usize,
        /// The other one.
        by: usize,
    },
}

/// A request for a derivative of a function.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Asked {
    /// What is made.
    pub request: Request,
    /// The function.
    pub func: FuncId,
    /// With respect to what.
    pub wrt: Mask,
    /// The f64 result that a gradient is of, if one is named.
    pub of: Option<usize>,
    /// What U stores.
    pub policy: Policy,
}

impl Asked {
    /// The name of the definition.
    fn name(&self, of: &str) -> String {
        let number = self.of.map_or(String::new(), |k| k.to_string());
        names::composition(of, &format!("{}{number}", self.request.row().composition))
    }
}

/// Told of every pass that has been called, and of the definitions that it made.
pub type Observer<'o> = &'o mut dyn FnMut(Step, &Program, &[FuncId]);

/// How a request is composed.
type Make = fn(&mut Derivatives, &Asked, Observer) -> Result<Composition, Diagnostic>;

/// Composes what is asked for, or finds it if it has been composed before.
///
/// # Errors
/// `J809` for a batch over nothing, `J801` if a transpose is asked for and nothing about the function is linear, `J802` if a gradient or
/// Hessian is asked for and there is not exactly one f64 result (or the one named is not f64), `J803` for
/// accumulators among the parameters, `J804` if no parameter is named, `J805` if all partial derivatives
/// are asked for and would be more than some thousand arrays, and what the passes report.
pub fn compose(
    derivatives: &mut Derivatives,
    asked: &Asked,
    observer: Observer,
) -> Result<Composition, Diagnostic> {
    if let Some(known) = derivatives.compositions.get(asked) {
        return Ok(known.clone());
    }
    let made = (asked.request.row().make)(derivatives, asked, observer)?;
    derivatives.compositions.insert(asked.clone(), made.clone());
    Ok(made)
}

/// Nobody is told.
fn unobserved(_: Step, _: &Program, _: &[FuncId]) {}

/// The definition that answers a request.
fn definition(
    derivatives: &mut Derivatives,
    request: Request,
    func: FuncId,
    wrt: &Mask,
    of: Option<usize>,
    policy: Policy,
) -> Result<FuncId, Diagnostic> {
    let asked = Asked { request, func, wrt: wrt.clone(), of, policy };
    Ok(compose(derivatives, &asked, &mut unobserved)?.func)
}

/// `f.value_grad: (A) -> (B, gradients)`: the results of `f`, then its gradient with respect to
/// each parameter in the mask. `f` has exactly one result of type f64, the one that is
/// differentiated. Costs a small multiple of `f`, however many parameters there are.
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
    definition(derivatives, Request::ValueAndGradient, func, wrt, None, policy)
}

/// `f.value_grad1: (A) -> (B, gradients)`: the results of `f`, then the gradient of the result at
/// position `of` (counting from 0), which is of type f64. Costs as much as [`value_and_grad`].
///
/// # Errors
/// `J802` if the result is not of type f64, else as [`value_and_grad`].
pub fn value_and_grad_of(
    derivatives: &mut Derivatives,
    func: FuncId,
    wrt: &Mask,
    of: usize,
    policy: Policy,
) -> Result<FuncId, Diagnostic> {
    definition(derivatives, Request::ValueAndGradient, func, wrt, Some(of), policy)
}

/// `f.grad: (A) -> (gradients)`: the gradients alone. Fails where `f` fails.
///
/// # Errors
/// As [`value_and_grad`].
pub fn grad(
    derivatives: &mut Derivatives,
    func: FuncId,
    wrt: &Mask,
    policy: Policy,
) -> Result<FuncId, Diagnostic> {
    definition(derivatives, Request::Gradient, func, wrt, None, policy)
}

/// `f.grad1: (A) -> (gradients)`: the gradients of one of several results, alone.
///
/// # Errors
/// As [`value_and_grad_of`].
pub fn grad_of(
    derivatives: &mut Derivatives,
    func: FuncId,
    wrt: &Mask,
    of: usize,
    policy: Policy,
) -> Result<FuncId, Diagnostic> {
    definition(derivatives, Request::Gradient, func, wrt, Some(of), policy)
}

/// `f.vjp: (A, B'') -> (B, gradients)`: takes a cotangent for each result with a float; gives the
/// results and the gradients. Costs as much as [`value_and_grad`].
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
    definition(derivatives, Request::Vjp, func, wrt, None, policy)
}

/// `f.jvp_value: (A, A') -> (B, B')`: takes a tangent for each parameter in the mask; gives the
/// results of `f` and a tangent for each result with a float. Costs a small multiple of `f`, and
/// keeps no tape.
///
/// # Errors
/// What the passes report.
pub fn jvp(derivatives: &mut Derivatives, func: FuncId, wrt: &Mask) -> Result<FuncId, Diagnostic> {
    definition(derivatives, Request::Jvp, func, wrt, None, Policy::Default)
}

/// `f.dir: (A, A') -> (B')`: the tangents of the results alone, a directional derivative, after
/// those sizes of results that `f` computes. Costs as much as [`jvp`].
///
/// # Errors
/// What the passes report.
pub fn directional(
    derivatives: &mut Derivatives,
    func: FuncId,
    wrt: &Mask,
) -> Result<FuncId, Diagnostic> {
    definition(derivatives, Request::Directional, func, wrt, None, Policy::Default)
}

/// What the passes make of a function, for compositions.
struct Passes {
    /// The function without linear parameters, and the mask for it.
    f: FuncId,
    wrt: Mask,
    /// U of J of it.
    halves: Unzipped,
    /// Which of its results have a tangent.
    active: Vec<bool>,
}

impl Passes {
    /// L, J and U.
    fn apply(
        derivatives: &mut Derivatives,
        func: FuncId,
        wrt: &Mask,
        policy: Policy,
        observer: Observer,
    ) -> Result<Passes, Diagnostic> {
        let (f, wrt) = domain(derivatives, func, wrt)?;
        let made = forward::forward(derivatives, f, &wrt)?;
        observer(Step::Forward, &derivatives.program, &[made]);
        let halves = unzip::unzip(derivatives, made, policy)?;
        observer(Step::Unzip, &derivatives.program, &[halves.nonlin, halves.lin]);
        let Some(Jvp { results: active, .. }) = derivatives.jvp_of(f, &wrt).cloned() else {
            return Err(crate::internal(Span::NONE, "no derivative was made"));
        };
        Ok(Passes { f, wrt, halves, active })
    }

    /// L of the linear half: takes what is saved, then tangents by value, then those of arrays.
    fn forward(&self, derivatives: &mut Derivatives) -> Result<FuncId, Diagnostic> {
        erase::erase(derivatives, self.halves.lin)
    }

    /// L of T of the linear half: takes what is saved, then a cotangent per active result.
    fn pullback(
        &self,
        derivatives: &mut Derivatives,
        observer: Observer,
    ) -> Result<FuncId, Diagnostic> {
        let transposed = transpose::transpose(derivatives, self.halves.lin)?;
        observer(Step::Transpose, &derivatives.program, &[transposed]);
        erase::erase(derivatives, transposed)
    }
}

/// The function without linear parameters and the mask for it, which must name something.
fn domain(
    derivatives: &mut Derivatives,
    func: FuncId,
    wrt: &Mask,
) -> Result<(FuncId, Mask), Diagnostic> {
    let f = erase::erase(derivatives, func)?;
    let wrt = derivatives.mask_of_erased(func, f, wrt);
    let source = &derivatives.program.funcs[f];
    refuse_accumulators(source)?;
    if wrt.is_empty() {
        let message = "a derivative with respect to nothing: no parameter named has a float";
        let name = |v: &NVar| source.nvars[*v].name.as_str();
        let floats =
            source.params.iter().filter(|v| source.nvars[**v].ty.has_float(&derivatives.program));
        let floats: Vec<String> = floats.map(|v| format!("`{}`", name(v))).collect();
        let help = match (floats.is_empty(), source.params.first()) {
            (false, _) => format!("differentiate with respect to {}", floats.join(", ")),
            (true, Some(v)) => format!(
                "integers and truth values have no derivative: make a parameter a float, such as `{}: f64`",
                name(v)
            ),
            (true, None) => {
                format!("make a parameter of what is varied: `def {}(x: f64) -> ..`", source.name)
            }
        };
        return Err(Diagnostic::error("J804", source.span, message).help(help));
    }
    Ok((f, wrt))
}

/// The function itself, without linear parts.
fn value(
    derivatives: &mut Derivatives,
    asked: &Asked,
    _: Observer,
) -> Result<Composition, Diagnostic> {
    let func = erase::erase(derivatives, asked.func)?;
    let f = &derivatives.program.funcs[func];
    Ok(Composition {
        func,
        parameters: (0..f.params.len()).map(Parameter::Argument).collect(),
        results: (0..f.results.len()).map(Outcome::Value).collect(),
    })
}

/// J, U and T: the gradient, alone or behind the value, or the cotangents.
fn reverse(
    derivatives: &mut Derivatives,
    asked: &Asked,
    observer: Observer,
) -> Result<Composition, Diagnostic> {
    let Asked { request, func, ref wrt, of, policy } = *asked;
    let f = erase::erase(derivatives, func)?;
    let differentiated = match request {
        Request::Vjp => None,
        _ => {
            refuse_accumulators(&derivatives.program.funcs[f])?;
            Some(scalar_result(&derivatives.program.funcs[f], of)?)
        }
    };
    let passes = Passes::apply(derivatives, func, wrt, policy, observer)?;
    let pullback = passes.pullback(derivatives, observer)?;
    let Passes { wrt, halves, active, .. } = passes;

    let mut c = Composer::new(derivatives, f)?;
    let seeds = match differentiated {
        Some(_) => Vec::new(),
        None => c.seed_params()?,
    };
    let args = c.inputs.clone();
    let results = c.call(halves.nonlin, args.clone(), Vec::new());
    let values = results[..active.len().min(results.len())].to_vec();
    let mut saved = c.saved_args(&halves, &args, &results);
    for (k, active) in active.iter().enumerate() {
        let Some(ty) = active.then(|| c.tangent_of_value(values[k])).transpose()?.flatten() else {
            continue;
        };
        saved.push(match (differentiated, seeds.get(k)) {
            (Some(d), _) if d == k => Atom::Lit(ty.number(1.0)),
            (None, Some(Some(seed))) => c.fitted(*seed, ty),
            _ => c.zero(ty),
        });
    }
    let parameters = c.active(&wrt)?;
    let gradients = c.pull_back(pullback, saved, &parameters)?;
    let mut nl = Vec::new();
    if request != Request::Gradient {
        nl.extend(values.iter().map(|v| Atom::Var(*v)));
        c.declare_values(&vec![true; values.len()]);
    }
    nl.extend(gradients);
    c.declare_gradients(&parameters);
    let name = wrt.name(&c.derivatives.program, f);
    let doc = match request {
        Request::Gradient => format!("The gradient of `{name}`."),
        Request::Vjp => {
            format!("The values of `{name}`, and cotangents taken back to its parameters.")
        }
        _ => format!("The value and the gradient of `{name}`."),
    };
    Ok(c.finish(asked.name(&name), doc, nl))
}

/// J alone: the tangents of the results, alone or behind the values.
fn forwards(
    derivatives: &mut Derivatives,
    asked: &Asked,
    observer: Observer,
) -> Result<Composition, Diagnostic> {
    let Asked { request, func, ref wrt, .. } = *asked;
    let f = erase::erase(derivatives, func)?;
    let wrt = &derivatives.mask_of_erased(func, f, wrt);
    refuse_accumulators(&derivatives.program.funcs[f])?;
    let made = forward::forward(derivatives, f, wrt)?;
    observer(Step::Forward, &derivatives.program, &[made]);
    derivatives.keep_only(made);
    let erased = erase::erase(derivatives, made)?;
    let Some(Jvp { results: active, .. }) = derivatives.jvp_of(f, wrt).cloned() else {
        return Err(crate::internal(Span::NONE, "no derivative was made"));
    };

    let mut c = Composer::new(derivatives, f)?;
    let parameters = c.active(wrt)?;
    let tangents = c.tangent_params(&parameters);
    let mut args = c.inputs.clone();
    args.extend(as_j_passes(&parameters, &tangents));
    let results = c.call(erased, args, Vec::new());
    let (primal, rest) = results.split_at(active.len().min(results.len()));
    let values = request == Request::Jvp;
    let kept: Vec<bool> = (0..primal.len()).map(|k| values || c.is_size_of_tangent(k)).collect();
    c.declare_values(&kept);
    let mut nl: Vec<Atom> =
        primal.iter().zip(&kept).filter(|(_, keep)| **keep).map(|(v, _)| Atom::Var(*v)).collect();
    let mut rest = rest.iter();
    for (k, v) in primal.iter().enumerate() {
        let tangent = if active[k] { rest.next() } else { None };
        nl.extend(match (tangent, c.tangent_of_value(*v)?) {
            (Some(t), _) => Some(Atom::Var(*t)),
            (None, Some(ty)) => Some(c.zero(ty)),
            (None, None) => None,
        });
    }
    c.declare_tangents()?;
    let name = wrt.name(&c.derivatives.program, f);
    let doc = format!("The derivative of `{name}` in a direction.");
    Ok(c.finish(asked.name(&name), doc, nl))
}

/// Tangents in the order in which J takes them: those by value, then those by capability.
fn as_j_passes(active: &[Active], tangents: &[Atom]) -> Vec<Atom> {
    let by = |passing: Passing| {
        active.iter().zip(tangents).filter(move |(a, _)| a.passing == passing).map(|(_, t)| *t)
    };
    by(Passing::Value).chain(by(Passing::Capability)).collect()
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

/// What there is instead of a gradient.
const ARRAYS: &str = "take the derivatives of everything: all partial derivatives (`jacobian`), or products \
                      with them (`jvp`, `vjp`)";

/// A type in a few words.
fn kind(ty: &Type) -> &'static str {
    match ty {
        Type::Float(_) => "an f64",
        Type::I64 => "an i64",
        Type::I32 => "an i32",
        Type::Bool => "a bool",
        Type::Array(..) => "an array",
        Type::Tuple(_) => "a tuple",
        Type::Data(_) => "a value of a data type",
    }
}

/// The position of the one result that a gradient is of: the one asked for, or the only one.
fn scalar_result(f: &Function, of: Option<usize>) -> Result<usize, Diagnostic> {
    let floats: Vec<usize> =
        f.results.iter().enumerate().filter(|(_, r)| r.ty.is_float()).map(|(k, _)| k).collect();
    match (of, floats.as_slice()) {
        (Some(k), _) if floats.contains(&k) => Ok(k),
        (Some(k), _) => {
            let message = format!(
                "a gradient is that of one number, and result {k} of `{}` is not of type f64",
                f.name
            );
            let help = match floats.as_slice() {
                [] => format!("no result is of type f64; {ARRAYS}"),
                some => {
                    let list: Vec<String> = some.iter().map(usize::to_string).collect();
                    let list = list.join(", ");
                    format!("results of type f64, counted from 0: {list}; {ARRAYS}")
                }
            };
            Err(Diagnostic::error("J802", f.span, message).help(help))
        }
        (None, [one]) => Ok(*one),
        (None, _) => {
            let name = &f.name;
            let returns = match (floats.as_slice(), f.results.as_slice()) {
                ([], []) => "nothing".to_string(),
                ([], [one]) => kind(&one.ty).to_string(),
                ([], some) => format!("{} results, none of them of type f64", some.len()),
                (floats, _) => format!("{} of type f64", floats.len()),
            };
            let message =
                format!("a gradient is that of one number, and `{name}` returns {returns}");
            let help = match floats.as_slice() {
                [] => format!("return one f64, or {ARRAYS}"),
                [first, ..] => format!(
                    "say which result is meant, `--of {first}` or `Function::of` (by number from 0, or \
                     by name), or {ARRAYS}"
                ),
            };
            Err(Diagnostic::error("J802", f.span, message).help(help))
        }
    }
}

//! Compositions of the passes: what users ask for, as definitions that are ready to run.
//!
//! | composition | made of | signature |
//! |---|---|---|
//! | [`value_and_grad`], `f.value_grad` | J, U, T, L | `(A) -> (B, gradients)` |
//! | [`grad`], `f.grad` | the same | `(A) -> (gradients)` |
//! | [`vjp`], `f.vjp` | the same | `(A, B'') -> (B, gradients)` |
//! | [`jvp`], `f.jvp_value` | J, L | `(A, A') -> (B, B')` |
//! | [`directional`], `f.dir` | J, L | `(A, A') -> (B')` |
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

use crate::activity::Kinds;
use crate::{Derivatives, Jvp, Mask, Passing, Policy, Unzipped, erase, forward, transpose, unzip};
use jut_ir::build::FunctionBuilder;
use jut_ir::*;
use std::collections::HashMap;

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

/// A composition under construction.
struct Composer<'a> {
    derivatives: &'a mut Derivatives,
    /// The function that is differentiated.
    f: FuncId,
    b: FunctionBuilder,
    /// The parameters of `f`, here.
    params: Vec<Atom>,
    /// Size names of `f` in terms of names here: parameters, and declared results.
    sizes: HashMap<NVar, Size>,
    stmts: Vec<Stmt>,
    loc: Loc,
}

impl<'a> Composer<'a> {
    fn new(derivatives: &'a mut Derivatives, f: FuncId) -> Result<Composer<'a>, Diagnostic> {
        derivatives.kinds.extend(&derivatives.program);
        let source = derivatives.program.funcs[f].clone();
        let loc = Loc { span: source.span, origin: Origin::Derived };
        let mut b = FunctionBuilder::default();
        b.func.span = source.span;
        b.func.size_params = source.size_params;
        let (mut params, mut sizes) = (Vec::new(), HashMap::new());
        for p in &source.params {
            let data = &source.nvars[*p];
            let ty = in_terms_of(&sizes, &data.ty);
            let v = b.nvar(&data.name, ty, data.span);
            b.func.params.push(v);
            params.push(Atom::Var(v));
            sizes.insert(*p, Size::var(v));
        }
        // The names of results are for their types only.
        for name in source.results.iter().filter_map(|r| r.name) {
            let data = &source.nvars[name];
            let v = b.nvar(&data.name, data.ty.clone(), data.span);
            sizes.insert(name, Size::var(v));
        }
        Ok(Composer { derivatives, f, b, params, sizes, stmts: Vec::new(), loc })
    }

    fn push(&mut self, nl: Vec<NVar>, rhs: Rhs) {
        self.stmts.push(Stmt { nl, lin: Vec::new(), rhs, annotated: false, loc: self.loc });
    }

    fn source(&self) -> &Function {
        &self.derivatives.program.funcs[self.f]
    }

    fn kinds(&self) -> &Kinds {
        &self.derivatives.kinds
    }

    fn tangent_of(&self, ty: &Type, what: &str) -> Result<Option<Type>, Diagnostic> {
        ty.tangent(&self.derivatives.program).map_err(|_| {
            let message = format!("not built yet: the tangent of {what}, a sum with floats");
            Diagnostic::error("J901", self.loc.span, message)
        })
    }

    /// The tangent type of a variable of the composition.
    fn tangent_of_value(&self, v: NVar) -> Result<Option<Type>, Diagnostic> {
        let data = &self.b.func.nvars[v];
        self.tangent_of(&data.ty, &format!("`{}`", data.name))
    }

    /// The tangent type of the k-th result of `f`, as a result of the composition.
    fn declared_tangent(&self, k: usize) -> Result<Option<Type>, Diagnostic> {
        let ty = in_terms_of(&self.sizes, &self.source().results[k].ty);
        self.tangent_of(&ty, "a result")
    }

    /// Whether the k-th result of `f` is a size in the type of a result with floats.
    fn is_size_of_tangent(&self, k: usize) -> bool {
        let results = &self.source().results;
        results[k].name.is_some_and(|name| {
            results
                .iter()
                .any(|r| self.kinds().has_float(&r.ty) && r.ty.size_names().contains(&name))
        })
    }

    /// Declares the results of `f` as results of the composition.
    fn declare_values(&mut self, kept: &[bool]) {
        let results = self.source().results.clone();
        for (result, _) in results.iter().zip(kept).filter(|(_, keep)| **keep) {
            let ty = in_terms_of(&self.sizes, &result.ty);
            let name = result.name.and_then(|n| self.sizes.get(&n)?.as_var());
            self.b.func.results.push(ResultDecl { name, ty });
        }
    }

    /// One tangent parameter per active parameter, with the way in which J passes it.
    fn tangent_params(&mut self, wrt: &Mask) -> Result<Vec<(Passing, NVar)>, Diagnostic> {
        let mut made = Vec::new();
        for k in wrt.positions() {
            let Atom::Var(p) = self.params[k] else { continue };
            let VarData { name, ty, span, .. } = self.b.func.nvars[p].clone();
            if let Some(tangent) = self.tangent_of(&ty, &format!("`{name}`"))? {
                let v = self.b.nvar(&format!("{name}_t"), tangent, span);
                self.b.func.params.push(v);
                made.push((Passing::of(self.kinds(), &ty), v));
            }
        }
        Ok(made)
    }

    /// One cotangent parameter per result with a float. A size that `f` computes is a further
    /// parameter before it.
    fn seed_params(&mut self) -> Result<Vec<Option<NVar>>, Diagnostic> {
        let results = self.source().results.clone();
        let own: Vec<NVar> = results.iter().filter_map(|r| r.name).collect();
        let mut seeds = Vec::new();
        for (k, result) in results.iter().enumerate() {
            let Some(ty) = self.tangent_of(&result.ty, "a result")? else {
                seeds.push(None);
                continue;
            };
            let mut sizes = self.sizes.clone();
            for name in ty.size_names().into_iter().filter(|n| own.contains(n)) {
                let hint = self.source().nvars[name].name.clone();
                let v = self.b.nvar(&hint, Type::I64, self.loc.span);
                self.b.func.params.push(v);
                sizes.insert(name, Size::var(v));
            }
            let hint = match result.name {
                Some(name) => format!("{}_c", self.source().nvars[name].name),
                None if results.len() == 1 => "y_c".to_string(),
                None => format!("y{k}_c"),
            };
            let seed = self.b.nvar(&hint, in_terms_of(&sizes, &ty), self.loc.span);
            self.b.func.params.push(seed);
            seeds.push(Some(seed));
        }
        Ok(seeds)
    }

    /// A cotangent parameter as a value of the given type: a checked cast if sizes differ.
    fn fitted(&mut self, seed: NVar, ty: Type) -> Atom {
        if self.b.func.nvars[seed].ty == ty {
            return Atom::Var(seed);
        }
        let hint = self.b.func.nvars[seed].name.clone();
        let v = self.b.nvar(&hint, ty.clone(), self.loc.span);
        self.push(vec![v], Rhs::Cast { value: seed, ty, proved: false });
        Atom::Var(v)
    }

    /// A zero of any tangent type.
    fn zero(&mut self, ty: Type) -> Atom {
        if ty == Type::F64 {
            return Atom::Lit(Literal::F64(0.0));
        }
        let cap = self.b.cap("r", Mode::Acc, false, ty.clone(), self.loc.span);
        let z = self.b.nvar("z", ty, self.loc.span);
        self.push(vec![z], Rhs::AccRegion { cap, body: Box::default() });
        Atom::Var(z)
    }

    /// Variables for the results of a call.
    fn results_of(&mut self, func: FuncId, args: &[Atom]) -> Vec<NVar> {
        let callee = &self.derivatives.program.funcs[func];
        let mut sizes = HashMap::new();
        for (p, a) in callee.params.iter().zip(args) {
            if callee.nvars[*p].ty == Type::I64 {
                sizes.insert(*p, self.b.func.size_of(*a));
            }
        }
        let mut bound = Vec::new();
        for result in &callee.results {
            let ty = in_terms_of(&sizes, &result.ty);
            let hint = match result.name {
                Some(name) => callee.nvars[name].name.as_str(),
                None if matches!(ty, Type::Data(_)) => "tape",
                None => "y",
            };
            let v = self.b.nvar(hint, ty, self.loc.span);
            if let Some(name) = result.name {
                sizes.insert(name, Size::var(v));
            }
            bound.push(v);
        }
        bound
    }

    /// A call, as the next statement.
    fn call(&mut self, func: FuncId, args: Vec<Atom>, places: Vec<Option<Place>>) -> Vec<NVar> {
        let bound = self.results_of(func, &args);
        let call = Call { func, args, lin_args: Vec::new(), places };
        self.push(bound.clone(), Rhs::Call(Box::new(call)));
        bound
    }

    /// The transposed linear half, in one accumulator per parameter with arrays: type and value of
    /// the gradient for each active parameter, in order.
    fn pull_back(
        &mut self,
        pullback: FuncId,
        halves: &Unzipped,
        results: &[NVar],
        cotangents: Vec<Atom>,
        wrt: &Mask,
    ) -> Result<Vec<(Type, Atom)>, Diagnostic> {
        let mut args: Vec<Atom> = halves.forwarded.iter().map(|k| self.params[*k]).collect();
        args.extend(halves.result_sizes.iter().map(|k| Atom::Var(results[*k])));
        if halves.tape.is_some() {
            args.extend(results.last().map(|v| Atom::Var(*v)));
        }
        args.extend(cotangents);
        let mut accumulators = Vec::new();
        let mut types = Vec::new();
        for k in wrt.positions() {
            let Atom::Var(p) = self.params[k] else { continue };
            let VarData { name, ty, span, .. } = self.b.func.nvars[p].clone();
            let Some(tangent) = self.tangent_of(&ty, &format!("`{name}`"))? else { continue };
            let passing = Passing::of(self.kinds(), &ty);
            if passing == Passing::Capability {
                let hint = format!("d{name}");
                accumulators.push(self.b.cap(&hint, Mode::Acc, false, tangent.clone(), span));
            }
            types.push((passing, tangent));
        }
        let places = accumulators.iter().map(|c| Some(Place::root(*c))).collect();
        let mut bound = self.results_of(pullback, &args);
        let call = Call { func: pullback, args, lin_args: Vec::new(), places };
        let mut rhs = Rhs::Call(Box::new(call));
        for cap in accumulators.into_iter().rev() {
            let stmt =
                Stmt { nl: bound.clone(), lin: vec![], rhs, annotated: false, loc: self.loc };
            let nl: Vec<Atom> = bound.iter().map(|v| Atom::Var(*v)).collect();
            let body = Box::new(Block { stmts: vec![stmt], nl, lin: vec![] });
            rhs = Rhs::AccRegion { cap, body };
            let inner = bound;
            bound = Vec::new();
            for v in inner {
                let VarData { name, ty, span, .. } = self.b.func.nvars[v].clone();
                bound.push(self.b.nvar(&name, ty, span));
            }
            let total = self.b.func.caps[cap].ty.clone();
            bound.push(self.b.nvar("g", total, self.loc.span));
        }
        // Outermost first: values, then the totals of the accumulators, innermost first.
        self.push(bound.clone(), rhs);
        let values = types.iter().filter(|(p, _)| *p == Passing::Value).count();
        let (by_value, totals) = bound.split_at(values.min(bound.len()));
        let (mut by_value, mut totals) = (by_value.iter(), totals.iter().rev());
        let gradient = |(passing, ty): (Passing, Type)| {
            let next = if passing == Passing::Value { by_value.next() } else { totals.next() };
            next.map(|v| (ty, Atom::Var(*v)))
        };
        Ok(types.into_iter().filter_map(gradient).collect())
    }

    fn finish(mut self, name: String, doc: String, nl: Vec<Atom>) -> FuncId {
        self.b.func.name = name;
        self.b.func.doc = doc;
        self.b.func.body = Block { stmts: self.stmts, nl, lin: Vec::new() };
        let id = self.derivatives.add_func(self.b.func);
        self.derivatives.erased.insert(id, id);
        id
    }
}

/// A type with known size names replaced.
fn in_terms_of(sizes: &HashMap<NVar, Size>, ty: &Type) -> Type {
    ty.subst(&mut |n| sizes.get(&n).cloned())
}

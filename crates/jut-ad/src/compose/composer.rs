//! A composition under construction: parameters, calls and accumulators, with sizes translated from
//! the function that is differentiated to the one that is made.

use super::{Composition, Outcome, Parameter, Saved};
use crate::activity::Kinds;
use crate::erase::has_data;
use crate::forward::tangents;
use crate::{Derivatives, Mask, Passing, Unzipped};
use jut_ir::build::FunctionBuilder;
use jut_ir::cover::shown::show_sizes;
use jut_ir::*;
use std::collections::HashMap;

/// A composition under construction.
pub(super) struct Composer<'a> {
    pub derivatives: &'a mut Derivatives,
    /// The function that is differentiated: its signature, whose names are numbered anew.
    source: Function,
    pub b: FunctionBuilder,
    /// What stands for the parameters of `f`, or for what is saved of a run of it.
    pub inputs: Vec<Atom>,
    /// Size names of `f` in terms of names here: parameters, and declared results.
    sizes: HashMap<NVar, Size>,
    pub stmts: Vec<Stmt>,
    pub loc: Loc,
    /// What its parameters and results are.
    parameters: Vec<Parameter>,
    results: Vec<Outcome>,
}

/// A parameter with respect to which `f` is differentiated.
pub(super) struct Active {
    /// Its position in `f`; among linear parameters if it is one.
    pub position: usize,
    /// Its name in `f`.
    pub name: String,
    /// How J passes its tangent.
    pub passing: Passing,
    /// Its tangent type, here.
    pub ty: Type,
    pub span: Span,
}

impl<'a> Composer<'a> {
    /// A composition that starts with the parameters of `f`.
    pub fn new(derivatives: &'a mut Derivatives, f: FuncId) -> Result<Composer<'a>, Diagnostic> {
        let source = derivatives.program.funcs[f].signature();
        let types = source.params.iter().map(|p| &source.nvars[*p].ty);
        let types = types.chain(source.results.iter().map(|r| &r.ty));
        tangents::declare_for(derivatives, types);
        derivatives.kinds.extend(&derivatives.program);
        let loc = Loc::made(source.span, Origin::Derived);
        let mut b = FunctionBuilder::default();
        b.func.span = source.span;
        b.func.size_params = source.size_params;
        let (mut inputs, mut sizes) = (Vec::new(), HashMap::new());
        for p in &source.params {
            let data = &source.nvars[*p];
            let ty = in_terms_of(&sizes, &data.ty);
            let v = b.nvar(&data.name, ty, data.span);
            b.func.params.push(v);
            inputs.push(Atom::Var(v));
            sizes.insert(*p, Size::var(v));
        }
        // The names of results are for their types only.
        for name in source.results.iter().filter_map(|r| r.name) {
            let data = &source.nvars[name];
            let v = b.nvar(&data.name, data.ty.clone(), data.span);
            sizes.insert(name, Size::var(v));
        }
        let parameters = (0..inputs.len()).map(Parameter::Argument).collect();
        let (stmts, results) = (Vec::new(), Vec::new());
        Ok(Composer { derivatives, source, b, inputs, sizes, stmts, loc, parameters, results })
    }

    /// A composition that starts with what is saved of a run of `f`.
    pub fn over(
        derivatives: &'a mut Derivatives,
        f: FuncId,
        saved: &[Saved],
        tape: Option<DataId>,
    ) -> Composer<'a> {
        derivatives.kinds.extend(&derivatives.program);
        let source = derivatives.program.funcs[f].signature();
        let loc = Loc::made(source.span, Origin::Derived);
        let mut b = FunctionBuilder::default();
        b.func.span = source.span;
        let mut sizes = HashMap::new();
        for saved in saved {
            let name = match *saved {
                Saved::Argument(k) => source.params.get(k).copied(),
                Saved::Result(k) => source.results.get(k).and_then(|r| r.name),
            };
            let v = match name {
                Some(name) => {
                    let data = &source.nvars[name];
                    let v = b.nvar(&data.name, in_terms_of(&sizes, &data.ty), data.span);
                    sizes.insert(name, Size::var(v));
                    v
                }
                // What comes after the results of `f`.
                None => b.nvar("tape", tape.map_or(Type::I64, Type::Data), loc.span),
            };
            b.func.params.push(v);
        }
        let inputs = b.func.params.iter().map(|v| Atom::Var(*v)).collect();
        let parameters = saved.iter().map(|saved| Parameter::Saved(*saved)).collect();
        let (stmts, results) = (Vec::new(), Vec::new());
        Composer { derivatives, source, b, inputs, sizes, stmts, loc, parameters, results }
    }

    pub fn push(&mut self, nl: Vec<NVar>, rhs: Rhs) {
        self.stmts.push(Stmt { nl, lin: Vec::new(), rhs, annotated: false, loc: self.loc });
    }

    pub fn source(&self) -> &Function {
        &self.source
    }

    fn kinds(&self) -> &Kinds {
        &self.derivatives.kinds
    }

    /// The tangent type of a type of the composition, or of `f`.
    fn tangent_of(&self, ty: &Type, what: &str) -> Result<Option<Type>, Diagnostic> {
        ty.tangent(&self.derivatives.program).map_err(|data| {
            let name = &self.derivatives.program.datas[data].name;
            let what = format!("`{name}`, in the type of {what}, has no tangent type");
            crate::internal(self.loc.span, &what)
        })
    }

    /// The tangent type of a variable of the composition.
    pub fn tangent_of_value(&self, v: NVar) -> Result<Option<Type>, Diagnostic> {
        let data = &self.b.func.nvars[v];
        self.tangent_of(&data.ty, &format!("`{}`", data.name))
    }

    /// The tangent type of the k-th result of `f`, in terms of declared results.
    pub fn result_tangent(&self, k: usize) -> Result<Option<Type>, Diagnostic> {
        self.tangent_of(&in_terms_of(&self.sizes, &self.source().results[k].ty), "a result")
    }

    /// The results of `f` with floats and their tangent types, in terms of declared results.
    pub fn result_tangents(&self) -> Result<Vec<(usize, Type)>, Diagnostic> {
        let mut all = Vec::new();
        for k in 0..self.source().results.len() {
            all.extend(self.result_tangent(k)?.map(|ty| (k, ty)));
        }
        Ok(all)
    }

    /// Declares a tangent for each result of `f` with a float.
    pub fn declare_tangents(&mut self) -> Result<(), Diagnostic> {
        let tangents = self.result_tangents()?;
        self.declare(tangents.into_iter().map(|(k, ty)| (Outcome::Tangent(k), ty)));
        Ok(())
    }

    /// Declares a gradient for each active parameter.
    pub fn declare_gradients(&mut self, active: &[Active]) {
        self.declare(active.iter().map(|a| (Outcome::Gradient(a.position), a.ty.clone())));
    }

    /// Declares results without a name.
    pub fn declare(&mut self, outcomes: impl IntoIterator<Item = (Outcome, Type)>) {
        for (outcome, ty) in outcomes {
            self.results.push(outcome);
            self.b.func.results.push(ResultDecl { name: None, ty });
        }
    }

    /// Whether the k-th result of `f` is a size in the type of a result with floats.
    pub fn is_size_of_tangent(&self, k: usize) -> bool {
        let results = &self.source().results;
        results[k].name.is_some_and(|name| {
            results
                .iter()
                .any(|r| self.kinds().has_float(&r.ty) && r.ty.size_names().contains(&name))
        })
    }

    /// Declares the results of `f` as results of the composition.
    pub fn declare_values(&mut self, kept: &[bool]) {
        let results = self.source().results.clone();
        for (k, result) in results.iter().enumerate() {
            if kept.get(k) != Some(&true) {
                continue;
            }
            self.results.push(Outcome::Value(k));
            let ty = in_terms_of(&self.sizes, &result.ty);
            let name = result.name.and_then(|n| self.sizes.get(&n)?.as_var());
            self.b.func.results.push(ResultDecl { name, ty });
        }
    }

    /// The parameters of `f` in the mask, in order.
    pub fn active(&self, wrt: &Mask) -> Result<Vec<Active>, Diagnostic> {
        let source = self.source();
        let mut all = Vec::new();
        for k in wrt.positions() {
            let VarData { name, ty, span, .. } = &source.nvars[source.params[k]];
            let ty = in_terms_of(&self.sizes, ty);
            let passing = Passing::of(self.kinds(), &ty);
            if let Some(ty) = self.tangent_of(&ty, &format!("`{name}`"))? {
                all.push(Active { position: k, name: name.to_string(), passing, ty, span: *span });
            }
        }
        Ok(all)
    }

    /// One tangent parameter per active parameter.
    pub fn tangent_params(&mut self, active: &[Active]) -> Vec<Atom> {
        let param = |a: &Active| {
            self.parameters.push(Parameter::Tangent(a.position));
            let v = self.b.nvar(&format!("{}_t", a.name), a.ty.clone(), a.span);
            self.b.func.params.push(v);
            Atom::Var(v)
        };
        active.iter().map(param).collect()
    }

    /// One cotangent parameter per result with a float. A size that `f` computes is a further
    /// parameter before it, unless it is saved.
    pub fn seed_params(&mut self) -> Result<Vec<Option<NVar>>, Diagnostic> {
        let results = self.source().results.clone();
        let mut seeds = Vec::new();
        for (k, result) in results.iter().enumerate() {
            let Some(ty) = self.tangent_of(&result.ty, "a result")? else {
                seeds.push(None);
                continue;
            };
            let hint = match result.name {
                Some(name) => format!("{}_c", self.source().nvars[name].name),
                None if results.len() == 1 => "y_c".to_string(),
                None => format!("y{k}_c"),
            };
            seeds.push(Some(self.seed_param(&hint, &ty, Parameter::Cotangent(k))));
        }
        Ok(seeds)
    }

    /// A parameter whose type is one of `f`, after parameters for the sizes that `f` computes.
    pub fn seed_param(&mut self, hint: &str, ty: &Type, what: Parameter) -> NVar {
        let mut sizes = self.sizes.clone();
        for name in ty.size_names() {
            // The names of results are bound nowhere in a composition.
            let known = sizes.get(&name).and_then(Size::as_var);
            if known.is_some_and(|v| self.b.func.params.contains(&v)) {
                continue;
            }
            let size = self.source().nvars[name].name.clone();
            let v = self.b.nvar(&size, Type::I64, self.loc.span);
            self.b.func.params.push(v);
            self.parameters.push(Parameter::Size);
            sizes.insert(name, Size::var(v));
        }
        let seed = self.b.nvar(hint, in_terms_of(&sizes, ty), self.loc.span);
        self.b.func.params.push(seed);
        self.parameters.push(what);
        seed
    }

    /// A type of `f`, in terms of names here and of the results of a call of `f`.
    pub fn type_after(&self, results: &[NVar], ty: &Type) -> Type {
        let mut sizes = self.sizes.clone();
        for (result, v) in self.source().results.iter().zip(results) {
            sizes.extend(result.name.map(|name| (name, Size::var(*v))));
        }
        in_terms_of(&sizes, ty)
    }

    /// A type of `f` that mentions parameters alone.
    pub fn type_here(&self, ty: &Type) -> Type {
        in_terms_of(&self.sizes, ty)
    }

    /// A cotangent parameter as a value of the given type: a checked cast if sizes differ.
    pub fn fitted(&mut self, seed: NVar, ty: Type) -> Atom {
        if self.b.func.nvars[seed].ty == ty {
            return Atom::Var(seed);
        }
        let hint = self.b.func.nvars[seed].name.clone();
        let v = self.b.nvar(&hint, ty.clone(), self.loc.span);
        self.push(vec![v], Rhs::Cast { value: seed, ty, proved: false });
        Atom::Var(v)
    }

    /// A zero of any tangent type: of a declared one its first constructor, of numbers an empty sum.
    pub fn zero(&mut self, ty: Type) -> Atom {
        let rhs = match &ty {
            Type::Float(width) => return Atom::Lit(width.number(0.0)),
            Type::Data(data) => Rhs::Con(ConRef { data: *data, index: 0 }, Vec::new()),
            Type::Tuple(items) if has_data(&ty) => {
                Rhs::Tuple(items.iter().map(|ty| self.zero(ty.clone())).collect())
            }
            Type::Array(n, element) if has_data(&ty) => {
                let bound = self.size(n);
                let outer = std::mem::take(&mut self.stmts);
                let element = self.zero((**element).clone());
                let stmts = std::mem::replace(&mut self.stmts, outer);
                let index = self.b.nvar("i", Type::I64, self.loc.span);
                let body = Block { stmts, nl: vec![element], lin: Vec::new() };
                Rhs::Scan(Box::new(Scan::new(Dir::Par, index, bound, body)))
            }
            _ => {
                let cap = self.b.cap("r", Mode::Acc, false, ty.clone(), self.loc.span);
                Region::sum(Mode::Acc, cap, Block::default())
            }
        };
        let z = self.b.nvar("z", ty, self.loc.span);
        self.push(vec![z], rhs);
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
    pub fn call(&mut self, func: FuncId, args: Vec<Atom>, places: Vec<Option<Place>>) -> Vec<NVar> {
        let bound = self.results_of(func, &args);
        let call = Call { func, args, lin_args: Vec::new(), places };
        self.push(bound.clone(), Rhs::Call(Box::new(call)));
        bound
    }

    /// Arguments of a linear half: what it needs of the arguments and results of the other half.
    pub fn saved_args(&self, halves: &Unzipped, args: &[Atom], results: &[NVar]) -> Vec<Atom> {
        let mut all: Vec<Atom> = halves.forwarded.iter().map(|k| args[*k]).collect();
        all.extend(halves.result_sizes.iter().map(|k| Atom::Var(results[*k])));
        if halves.tape.is_some() {
            all.extend(results.last().map(|v| Atom::Var(*v)));
        }
        all
    }

    /// The transposed linear half: the gradient for each active parameter, in order. Sums of parameters with
    /// arrays are accumulators; those of declared tangents are values that it takes and gives back, as L makes them.
    pub fn pull_back(
        &mut self,
        pullback: FuncId,
        mut args: Vec<Atom>,
        active: &[Active],
    ) -> Result<Vec<Atom>, Diagnostic> {
        let threaded = |a: &Active| a.passing == Passing::Capability && has_data(&a.ty);
        let zeros = active.iter().filter(|a| threaded(a)).map(|a| a.ty.clone());
        let zeros: Vec<Type> = zeros.collect();
        let by_value = active.iter().filter(|a| a.passing == Passing::Value).count();
        args.extend(zeros.into_iter().map(|ty| self.zero(ty)).collect::<Vec<_>>());
        let (mut values, totals) = self.accumulate(sums(active, None), |c, caps| {
            let places = caps.iter().map(|cap| Some(Place::root(*cap))).collect();
            Ok(c.call(pullback, args, places).into_iter().map(Atom::Var).collect())
        })?;
        let mut given_back = values.split_off(by_value.min(values.len())).into_iter();
        let mut totals = totals.into_iter();
        let in_sums = active.iter().filter(|a| a.passing == Passing::Capability);
        let of_sums = in_sums.filter_map(|a| match threaded(a) {
            true => given_back.next(),
            false => totals.next(),
        });
        Ok(in_order(active, values, of_sums.collect()))
    }

    pub fn finish(mut self, name: String, doc: String, nl: Vec<Atom>) -> Composition {
        self.b.func.name = name;
        self.b.func.doc = doc;
        self.b.func.body = Block { stmts: self.stmts, nl, lin: Vec::new() };
        let foreign = |func| self.derivatives.program.funcs[func].is_foreign();
        show_sizes(&mut self.b.func, Some(&mut self.b.namer), &foreign);
        let func = self.derivatives.add_func(self.b.func);
        self.derivatives.erased.insert(func, func);
        Composition { func, parameters: self.parameters, results: self.results }
    }
}

/// Name and type of the accumulator for each parameter that is passed by capability; with `rows`,
/// of one such array for each entry of an array of that type. Declared tangents have none.
pub(super) fn sums(active: &[Active], rows: Option<&Type>) -> Vec<(String, Type)> {
    let by_capability =
        active.iter().filter(|a| a.passing == Passing::Capability && !has_data(&a.ty));
    let ty = |a: &Active| rows.map_or_else(|| a.ty.clone(), |rows| product(rows, &a.ty));
    by_capability.map(|a| (format!("d{}", a.name), ty(a))).collect()
}

/// One value per parameter in order, from those passed by value and those accumulated.
pub(super) fn in_order(active: &[Active], values: Vec<Atom>, totals: Vec<Atom>) -> Vec<Atom> {
    let (mut values, mut totals) = (values.into_iter(), totals.into_iter());
    let next = |a: &Active| match a.passing {
        Passing::Value => values.next(),
        _ => totals.next(),
    };
    active.iter().filter_map(next).collect()
}

/// The type `outer` with an `inner` in the place of each number.
pub(super) fn product(outer: &Type, inner: &Type) -> Type {
    match outer {
        Type::Array(size, element) => Type::array(size.clone(), product(element, inner)),
        Type::Tuple(items) => Type::Tuple(items.iter().map(|t| product(t, inner)).collect()),
        _ => inner.clone(),
    }
}

/// A type with known size names replaced.
fn in_terms_of(sizes: &HashMap<NVar, Size>, ty: &Type) -> Type {
    ty.subst(&mut |n| sizes.get(&n).cloned())
}

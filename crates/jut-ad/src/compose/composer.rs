//! A composition under construction: parameters, calls and accumulators, with sizes translated from
//! the function that is differentiated to the one that is made.

use crate::activity::Kinds;
use crate::{Derivatives, Mask, Passing, Unzipped};
use jut_ir::build::FunctionBuilder;
use jut_ir::*;
use std::collections::HashMap;

/// A composition under construction.
pub(super) struct Composer<'a> {
    pub derivatives: &'a mut Derivatives,
    /// The function that is differentiated.
    f: FuncId,
    pub b: FunctionBuilder,
    /// The parameters of `f`, here.
    pub params: Vec<Atom>,
    /// Size names of `f` in terms of names here: parameters, and declared results.
    sizes: HashMap<NVar, Size>,
    stmts: Vec<Stmt>,
    loc: Loc,
}

impl<'a> Composer<'a> {
    pub fn new(derivatives: &'a mut Derivatives, f: FuncId) -> Result<Composer<'a>, Diagnostic> {
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
    pub fn tangent_of_value(&self, v: NVar) -> Result<Option<Type>, Diagnostic> {
        let data = &self.b.func.nvars[v];
        self.tangent_of(&data.ty, &format!("`{}`", data.name))
    }

    /// The tangent type of the k-th result of `f`, as a result of the composition.
    pub fn declared_tangent(&self, k: usize) -> Result<Option<Type>, Diagnostic> {
        let ty = in_terms_of(&self.sizes, &self.source().results[k].ty);
        self.tangent_of(&ty, "a result")
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
        for (result, _) in results.iter().zip(kept).filter(|(_, keep)| **keep) {
            let ty = in_terms_of(&self.sizes, &result.ty);
            let name = result.name.and_then(|n| self.sizes.get(&n)?.as_var());
            self.b.func.results.push(ResultDecl { name, ty });
        }
    }

    /// One tangent parameter per active parameter, with the way in which J passes it.
    pub fn tangent_params(&mut self, wrt: &Mask) -> Result<Vec<(Passing, NVar)>, Diagnostic> {
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
    pub fn seed_params(&mut self) -> Result<Vec<Option<NVar>>, Diagnostic> {
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
    pub fn fitted(&mut self, seed: NVar, ty: Type) -> Atom {
        if self.b.func.nvars[seed].ty == ty {
            return Atom::Var(seed);
        }
        let hint = self.b.func.nvars[seed].name.clone();
        let v = self.b.nvar(&hint, ty.clone(), self.loc.span);
        self.push(vec![v], Rhs::Cast { value: seed, ty, proved: false });
        Atom::Var(v)
    }

    /// A zero of any tangent type.
    pub fn zero(&mut self, ty: Type) -> Atom {
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
    pub fn call(&mut self, func: FuncId, args: Vec<Atom>, places: Vec<Option<Place>>) -> Vec<NVar> {
        let bound = self.results_of(func, &args);
        let call = Call { func, args, lin_args: Vec::new(), places };
        self.push(bound.clone(), Rhs::Call(Box::new(call)));
        bound
    }

    /// The transposed linear half, in one accumulator per parameter with arrays: type and value of
    /// the gradient for each active parameter, in order.
    pub fn pull_back(
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

    pub fn finish(mut self, name: String, doc: String, nl: Vec<Atom>) -> FuncId {
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

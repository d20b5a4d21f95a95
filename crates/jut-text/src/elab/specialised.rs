//! Definitions that take functions and call themselves: one definition for each list of functions that they are given.
//!
//! ```text
//! def adapt(f: fn(f64) -> f64, a: f64, b: f64, k: i64) -> f64 =
//!   if k == 0 { f(a) * (b - a) } else { m = 0.5 * (a + b); adapt(f, a, m, k - 1) + adapt(f, m, b, k - 1) }
//! def g(c: f64) -> f64 = adapt(fn (x) -> c * x, 0.0, 1.0, 3)
//!
//! def g.adapt(c, a, b, k) = if k == 0 { c * a * (b - a) } else { ..; g.adapt(c, a, m, k - 1) + g.adapt(c, m, b, k - 1) }
//! def g(c) = g.adapt(c, 0.0, 1.0, 3)
//! ```
//!
//! Its body is written out as a block ([`super::template`]), in which a call of itself with the same functions is a call and no
//! more text. The block becomes a definition ([`jut_ad::outline`]), whose first parameters are what the functions capture: to these
//! each call inside hands on its own. So for the passes it is a definition that calls itself, and nothing else. Definitions that
//! take functions and call each other become so many definitions at once. As for derivatives of functions without a name, the
//! program gets them between two readings of the definition that calls them.
//!
//! A size is what it is at the first call, so that a function may have captured arrays of that size. One that a call inside
//! changes is a parameter instead, and everything is read again ([`super::given::Taken::changing`]).
//!
//! *Cost*: that of the text, once for each list of functions at each call from outside.

use super::body::{Body, FUNCTION};
use super::fit::same_shape;
use super::given::{Argument, Callable, Found, Lambda, Special, Template, Wanted};
use super::made::{Annotation, Out, Values};
use super::scope::{Entity, Names};
use super::solver::Solver;
use super::taken::MOST_TAKEN;
use super::{Res, Stop};
use crate::ast::{Def, ExprId, ExprKind, TypeKind};
use jut_ad::outline::{Part, Together, outline_together};
use jut_ir::entity::EntityRef;
use jut_ir::{Atom, Block, Call, FuncId, NVar, ResultDecl, Rhs, Size, Span, Type};
use std::collections::HashMap;

/// How many of one definition may be read in each other, each for other functions.
const MOST_NESTED: usize = 8;

/// A call of one that has no number yet is one of this and its place among those that are read.
const UNNUMBERED: usize = 1 << 30;

/// A value that is given, and where it stands.
type Given = (Atom, Span);

impl<'a, 's> Body<'a, 's> {
    /// A call of a definition that takes functions and calls itself.
    pub(super) fn specialised(
        &mut self,
        (number, template): (usize, &Template<'a, 's>),
        arguments: Vec<(Argument<'a, 's>, Span)>,
        span: Span,
    ) -> Res<Values> {
        let (mut functions, mut values) = (Vec::new(), Vec::new());
        for (argument, at) in arguments {
            match argument {
                Argument::Function(callable) => functions.push(self.resolved(callable)),
                Argument::Value(atom) => values.push((atom, at)),
            }
        }
        let is = |special: &Special| {
            let pairs = special.functions.iter().zip(&functions);
            special.template == number && pairs.into_iter().all(|(a, b)| a.is(b))
        };
        let is_read = |special: &Special| special.block.is_none() && is(special);
        if self.specials.around.iter().flatten().any(is_read) {
            return self.fail(super::derived::in_itself(template.def));
        }
        // Variables that a function reads may have other values now.
        let variables = self.scope.variables();
        let unchanged = |special: &Special| {
            let now = variables.iter().map(|variable| variable.value);
            special.block.is_none() || special.variables.iter().copied().eq(now)
        };
        let found = self.specials.own.iter().position(|special| is(special) && unchanged(special));
        if let Some(k) = found {
            let args = self.arguments_of(k, template, &values, span)?;
            return self.call_special(k, args, span);
        }
        let nested = |special: &&Special| special.template == number && special.block.is_none();
        if self.specials.own.iter().filter(nested).count() >= MOST_NESTED {
            let name = template.def.name.text;
            let message = format!("`{name}` calls itself with other functions each time");
            let help =
                "hand on the function that it is given, by its name, and what changes as a value";
            return self.error("J003", span, message, help);
        }
        let k = self.specials.own.len();
        let read = self.read((number, template), functions, &values, span);
        let args = read.and_then(|()| self.arguments_of(k, template, &values, span));
        if k > 0 {
            return self.call_special(k, args?, span);
        }
        let parts = std::mem::take(&mut self.specials.own);
        self.make(template, parts, args?, span)
    }

    /// What a function is that was handed on, also in others, or as `fn (x) -> f(x)`.
    pub(super) fn resolved(&self, callable: Callable<'a, 's>) -> Callable<'a, 's> {
        match self.in_the_end(callable) {
            Callable::Lambda(lambda) => match self.only_calls(&lambda) {
                Some(given) => self.resolved(Callable::Given(given)),
                None => Callable::Lambda(lambda),
            },
            Callable::Partial(number, functions) => {
                let functions = functions.into_iter().map(|f| f.map(|f| self.resolved(f)));
                Callable::Partial(number, functions.collect())
            }
            other => other,
        }
    }

    /// The function that was given of which `fn (x) -> f(x)` is nothing but a call.
    fn only_calls(&self, lambda: &Lambda<'a, 's>) -> Option<usize> {
        let ExprKind::Call(call) = &lambda.ast.expr(lambda.lambda.body).kind else { return None };
        let params = lambda.lambda.params.iter().map(|name| name.text);
        let is_param = |(e, param): (&ExprId, &str)| match &lambda.ast.expr(*e).kind {
            ExprKind::Name(name) => name.text == param,
            _ => false,
        };
        let plain = call.lin.is_empty() && call.places.is_empty() && call.sizes.is_empty();
        let same = call.args.len() == params.len();
        let hidden = params.clone().any(|param| param == call.func.text);
        let calls = plain && same && !hidden && call.args.iter().zip(params).all(is_param);
        lambda.names.function(call.func.text).filter(|_| calls)
    }

    /// Reads the body of one.
    fn read(
        &mut self,
        (number, template): (usize, &Template<'a, 's>),
        functions: Vec<Callable<'a, 's>>,
        values: &[Given],
        span: Span,
    ) -> Res<()> {
        self.begin_expansion(template.def.name.text, span)?;
        let place = self.specials.own.len();
        let special = Special {
            template: number,
            functions,
            variables: self.scope.variables().iter().map(|variable| variable.value).collect(),
            number: self.specials.met,
            met: self.taken.met,
            sizes: Vec::new(),
            params: Vec::new(),
            results: Vec::new(),
            gives: Vec::new(),
            block: None,
        };
        self.specials.met += 1;
        let around = self.go_to(template.ast, template.file, Names::default());
        // What is known outside is not known in a definition of its own.
        let facts = std::mem::take(&mut self.facts);
        let open = self.enter_loop(Some(FUNCTION), span);
        let said = self.diagnostics.len();
        let nl = self.signature_of(template.def, special, values, span).and_then(|()| {
            let params = self.specials.own[place].params.clone();
            for param in params {
                let ty = self.b.func.nvars[param].ty.clone();
                self.dimensions(&ty);
                self.exact_type(&ty, template.def.head)?;
            }
            self.results_of(template.def, place, span)
        });
        self.label_written_out(said, span);
        let stmts = self.leave(open);
        self.facts = facts;
        self.come_back(around);
        self.expansion.0 -= 1;
        let nl = nl?;
        self.specials.own[place].block = Some(Block { stmts, nl, lin: Vec::new() });
        Ok(())
    }

    /// Its parameters and the types of its results, in the scope of the definition.
    fn signature_of(
        &mut self,
        d: &'a Def<'s>,
        mut special: Special<'a, 's>,
        values: &[Given],
        span: Span,
    ) -> Res<()> {
        for name in &d.sizes {
            let changing = (special.number, name.text.to_string());
            if self.taken.changing.contains(&changing) {
                let size = self.b.nvar(name.text, Type::I64, name.span);
                special.params.push(size);
                self.scope.bind(name.text, Entity::N(Atom::Var(size)));
            }
        }
        self.sizes_of_values(d, values)?;
        self.all_sizes_bound(d, span)?;
        for name in &d.sizes {
            let value = self.scope.value(name.text).ok_or(Stop)?;
            let own = value.var().is_some_and(|v| special.params.contains(&v));
            special.sizes.push((name.text, (!own).then(|| self.nf(value))));
        }
        let mut functions = special.functions.iter();
        for (name, ty) in &d.params {
            if let TypeKind::Function(takes, gives) = &ty.kind {
                let callable = functions.next().ok_or(Stop)?;
                self.bind_given(name.text, callable.clone(), (takes, gives))?;
                continue;
            }
            let ty = self.ty(ty)?;
            let param = self.b.nvar(name.text, ty, name.span);
            special.params.push(param);
            self.scope.bind(name.text, Entity::N(Atom::Var(param)));
        }
        let mark = self.scope.mark();
        let mut places: HashMap<NVar, usize> = HashMap::new();
        for (k, result) in d.results.iter().enumerate() {
            let ty = self.ty(&result.ty)?;
            let gives = ty.subst(&mut |v| places.get(&v).map(|k| Size::position(*k)));
            special.gives.push(gives);
            let name = result.name.map(|name| {
                let name = self.result_name(&name, ty.clone());
                places.insert(name, k);
                name
            });
            special.results.push(ResultDecl { name, ty });
        }
        self.scope.restore(mark);
        self.specials.own.push(special);
        Ok(())
    }

    /// Binds the sizes of a definition that the types of values say, and that are not bound yet.
    pub(super) fn sizes_of_values(&mut self, d: &'a Def<'s>, values: &[Given]) -> Res<()> {
        let is_value = |ty: &&crate::ast::Type| !matches!(ty.kind, TypeKind::Function(..));
        let types = d.params.iter().map(|(_, ty)| ty).filter(is_value);
        for (ty, (atom, at)) in types.zip(values) {
            let found = self.type_of(*atom);
            self.bind_sizes(d, ty, &found, *at)?;
        }
        Ok(())
    }

    /// Its body, in the scope of its parameters.
    fn results_of(&mut self, d: &'a Def<'s>, place: usize, span: Span) -> Res<Vec<Atom>> {
        let gives = self.specials.own[place].gives.clone();
        let stated = Annotation { nl: gives.clone(), lin: Vec::new() };
        let is_place = |v: NVar| Size::position_of(v).is_some();
        let telescoped = gives.iter().any(|ty| ty.size_names().into_iter().any(is_place));
        let (mut values, _) = self.body(d.body, telescoped.then_some(&stated))?;
        for (value, wanted) in values.nl.iter_mut().zip(&gives) {
            *value = super::narrow::fitted(*value, wanted);
        }
        self.gives(d.name.text, &values, &gives, span)?;
        Ok(values.nl)
    }

    /// What one is called with: sizes that are parameters, and the values.
    fn arguments_of(
        &mut self,
        k: usize,
        template: &Template<'a, 's>,
        values: &[Given],
        span: Span,
    ) -> Res<Vec<Given>> {
        let special = &self.specials.own[k];
        let params = special.params.clone();
        let own = params.len() - values.len().min(params.len());
        let (sizes, params) = params.split_at(own);
        let mut map: HashMap<NVar, Size> = HashMap::new();
        let mut solver = Solver { unknown: sizes.iter().copied().collect(), map: &mut map };
        for (param, (atom, _)) in params.iter().zip(values) {
            solver.types(&self.b.func.nvars[*param].ty, &self.type_of(*atom));
        }
        let mut args = Vec::new();
        for size in sizes {
            let value = map.get(size).cloned().ok_or(Stop)?;
            args.push((self.materialize(&value, span)?, span));
        }
        let is_value = |ty: &TypeKind| !matches!(ty, TypeKind::Function(..));
        let names = template.def.params.iter().filter(|(_, ty)| is_value(&ty.kind));
        let names = names.map(|(name, _)| name.text);
        for ((param, (atom, at)), name) in params.iter().zip(values).zip(names) {
            let declared = self.b.func.nvars[*param].ty.clone();
            let wanted = self.put(&declared, &|v| map.get(&v).cloned(), *at)?;
            let atom = super::narrow::fitted(*atom, &wanted);
            let found = self.type_of(atom);
            if found != wanted {
                if same_shape(&found, &wanted) {
                    self.note_changing(k, template, values)?;
                }
                return self.misfitting(name, &found, &wanted, Some(atom), *at);
            }
            if found == Type::I64 {
                map.insert(*param, self.nf(atom));
            }
            args.push((atom, *at));
        }
        Ok(args)
    }

    /// Reads everything again where a size is another one in this call, as a parameter.
    fn note_changing(
        &mut self,
        k: usize,
        template: &Template<'a, 's>,
        values: &[Given],
    ) -> Res<()> {
        let around = self.go_to(template.ast, template.file, Names::default());
        let bound = self.sizes_of_values(template.def, values);
        let special = &self.specials.own[k];
        let (number, met) = (special.number, special.met);
        let mut changing = Vec::new();
        for (name, size) in &special.sizes {
            let now = self.scope.value(name).map(|atom| self.nf(atom));
            if size.is_some() && now.is_some() && *size != now {
                changing.push((number, name.to_string()));
            }
        }
        self.come_back(around);
        bound?;
        if changing.is_empty() {
            return Ok(());
        }
        if self.taken.wanted.is_none() {
            self.taken.changing.append(&mut changing);
            self.taken.wanted = Some(Wanted::Again(met));
        }
        Err(Stop)
    }

    /// A call of one that is read, or has been.
    fn call_special(&mut self, k: usize, args: Vec<Given>, span: Span) -> Res<Values> {
        let special = &self.specials.own[k];
        let (params, gives) = (special.params.clone(), special.gives.clone());
        let args: Vec<Atom> = args.into_iter().map(|(atom, _)| atom).collect();
        let sizes: HashMap<NVar, Size> =
            params.iter().zip(&args).filter_map(|(p, a)| Some((*p, self.size_of(*a)?))).collect();
        let mut nl = Vec::new();
        for ty in &gives {
            nl.push(self.put(ty, &|v| sizes.get(&v).cloned(), span)?);
        }
        let func = FuncId::new(UNNUMBERED + k);
        let call = Call { func, args, lin_args: Vec::new(), places: Vec::new() };
        let out = Out { nl, ..Out::none(Rhs::Call(Box::new(call)), span) };
        self.bind(out, &[], &[])
    }

    /// The value of an integer, as a size.
    fn size_of(&self, atom: Atom) -> Option<Size> {
        (self.type_of(atom) == Type::I64).then(|| self.nf(atom))
    }

    /// The definitions of those that call each other, of which the first is called.
    fn make(
        &mut self,
        template: &Template<'a, 's>,
        specials: Vec<Special<'a, 's>>,
        args: Vec<Given>,
        span: Span,
    ) -> Res<Values> {
        let mut parts = Vec::new();
        for special in specials {
            let name = self.templates.get(special.template).ok_or(Stop)?.def.name.text;
            let name = format!("{}.{name}", self.b.func.name);
            let (params, results) = (special.params, special.results);
            let block = special.block.ok_or(Stop)?;
            parts.push(Part { block, params, results, name, span: template.def.head });
        }
        let first = FuncId::new(self.program.funcs.len());
        let made = outline_together(&mut self.b, parts, FuncId::new(UNNUMBERED), first);
        let Together { funcs, entry, captured } = match made {
            Ok(made) => made,
            Err(mut error) => {
                error.span = span;
                return self.fail(error);
            }
        };
        let number = self.taken.met;
        self.taken.met += 1;
        if let Some(made) = self.taken.made.get(number) {
            let Ok(Found::Func(func)) = made else { return Err(Stop) };
            let func = *func;
            let captured = captured.into_iter().map(|v| (Atom::Var(v), span));
            let args = captured.chain(args).collect();
            let made = self.call_values(func, args, Vec::new(), (&[], &[]), span)?;
            return Ok(self.values(made, "t")?.0);
        }
        if number >= MOST_TAKEN {
            let message = "too many calls with functions of definitions that call themselves, in one definition";
            let help = "make definitions of some of them";
            return self.error("J003", span, message, help);
        }
        self.taken.wanted.get_or_insert(Wanted::Definitions(funcs, entry));
        Err(Stop)
    }
}

//! Rules of definitions that take functions: `rule jvp solve = solve_tangent`.
//!
//! ```text
//! def solve(f: fn(f64) -> f64, x0: f64) -> f64 = ..
//! def solve_tangent(f: fn(f64) -> f64, x0: f64, df: fn(f64) -> f64, dx0: f64) -> f64 = {
//!   x = solve(f, x0)
//!   df(x) / (1.0 - grad(f)(x))
//! }
//! rule jvp solve = solve_tangent
//! def g(c: f64) -> f64 = solve(fn (x) -> cos(c * x), 1.0)
//!
//! def g.solve(c, x0) = ..                              the body of solve
//! def g.solve_tangent(c, x0, dc, dx0) = ..             that of solve_tangent, where df(x) is the derivative of cos(c * x) along dc
//! rule jvp g.solve = g.solve_tangent
//! def g(c) = g.solve(c, 1.0)
//! ```
//!
//! The tangent of a function is a function: what it takes is held, and what it captures moves along its tangents. So a call
//! of such a definition makes two definitions, of which one states the derivative of the other, and all that passes know of rules
//! holds for them. The derivative along what a function captures is made by the passes, as any other ([`super::taken`]); of a
//! function that captures no floats it is zero.
//!
//! In the second of the two a call of the first one with the same functions is a call; one with other functions in its
//! own text is the body of the first, or there would be no end.
//!
//! *Cost*: that of both texts, once for each call.

use super::body::{Body, FUNCTION};
use super::given::{Argument, Asking, Callable, Found, Of, Ruling, Tangent, Template, Wanted};
use super::made::{Out, Values};
use super::recurrence::counting;
use super::scope::Names;
use super::taken::MOST_TAKEN;
use super::{Res, Stop};
use crate::ast::TypeKind;
use jut_ad::outline::outline_as;
use jut_ir::{Atom, Block, Diagnostic, FuncId, NVar, Rhs, Size, Span, Type};
use std::rc::Rc;

/// What a definition says of a function that it takes.
type Said = (Vec<Type>, Vec<Type>);

impl<'a, 's> Body<'a, 's> {
    /// A call of a definition that takes functions and has a rule; `None` if its body is what is meant.
    pub(super) fn ruled(
        &mut self,
        (number, template): (usize, &Template<'a, 's>),
        by: usize,
        arguments: &[(Argument<'a, 's>, Span)],
        span: Span,
    ) -> Res<Option<Values>> {
        let (mut functions, mut values) = (Vec::new(), Vec::new());
        for (argument, at) in arguments {
            match argument {
                Argument::Function(callable) => functions.push(self.resolved(callable.clone())),
                Argument::Value(atom) => values.push((*atom, *at)),
            }
        }
        let is = |ruling: &&Ruling| {
            let pairs = ruling.functions.iter().zip(&functions);
            ruling.template == number && pairs.into_iter().all(|(a, b)| a.is(b))
        };
        let (func, captured) = match self.rulings.iter().rev().find(is).map(|r| r.made.clone()) {
            Some(None) => return Ok(None),
            Some(Some(made)) => made,
            None if self.is_in_rule(number, by, span) => return Ok(None),
            None => self.rule_for((number, template), by, functions, &values, span)?,
        };
        let captured = captured.into_iter().map(|v| (Atom::Var(v), span));
        let args = captured.chain(values).collect();
        let made = self.call_values(func, args, Vec::new(), (&[], &[]), span)?;
        Ok(Some(self.values(made, "t")?.0))
    }

    /// Whether a call stands in the text of what states the derivative of what it calls, which is being read: as in
    /// `solve(fn (v) -> move + directional(f)(x, v), zero)`, whose derivative is that of the body.
    fn is_in_rule(&self, number: usize, by: usize, span: Span) -> bool {
        let Some(rule) = self.templates.get(by) else { return false };
        let text = rule.ast.expr(rule.def.body).span;
        let stands = text.file == span.file && text.start <= span.start && span.end <= text.end;
        stands && self.rulings.iter().any(|r| r.template == number && r.made.is_some())
    }

    /// The definition that is called, whose derivative is another one's, and what it captures.
    fn rule_for(
        &mut self,
        (number, template): (usize, &Template<'a, 's>),
        by: usize,
        functions: Vec<Callable<'a, 's>>,
        values: &[(Atom, Span)],
        span: Span,
    ) -> Res<(FuncId, Vec<NVar>)> {
        let name = template.def.name.text;
        let said = self.said(template, values, span)?;
        let types: Vec<Type> = values.iter().map(|(atom, _)| self.type_of(*atom)).collect();
        let is_function = |ty: &TypeKind| matches!(ty, TypeKind::Function(..));
        let params: Vec<bool> =
            template.def.params.iter().map(|(_, ty)| is_function(&ty.kind)).collect();
        // The body, as a definition.
        self.rulings.push(Ruling { template: number, functions: functions.clone(), made: None });
        let body = Callable::Partial(number, placed(&params, &functions));
        let named = template.def.params.iter().filter(|(_, ty)| !is_function(&ty.kind));
        let names: Vec<&'s str> = named.map(|(name, _)| name.text).collect();
        let outlined = self.outlined((name, names.clone()), &body, types.clone(), span);
        self.rulings.pop();
        let (Of::Block(mut func), captured, _) = outlined? else { return Err(Stop) };
        func.name = format!("{}.{name}", self.b.func.name);
        let func = match self.made_next(span)? {
            Some(Found::Func(func)) => func,
            Some(Found::Linear(_)) => return Err(Stop),
            None => return self.want(Wanted::Definitions(vec![*func], 0)),
        };
        // What states its derivative.
        let tangent = |body: &Self, ty: &Type| ty.tangent(body.program).ok().flatten();
        let floats: Vec<(NVar, Type)> = captured
            .iter()
            .filter_map(|v| Some((*v, tangent(self, &self.b.func.nvars[*v].ty)?)))
            .collect();
        let facts = std::mem::take(&mut self.facts);
        self.specials.enter();
        let open = self.enter_loop(Some(FUNCTION), span);
        let mut own = Vec::new();
        for (text, ty) in names.iter().zip(&types) {
            self.facts.add_type(ty);
            own.push(self.b.nvar(text, ty.clone(), span));
        }
        let moved = floats.iter().map(|(v, ty)| (self.b.func.nvars[*v].name.clone(), ty.clone()));
        let moved: Vec<_> = moved.collect();
        let moved: Vec<NVar> = moved
            .iter()
            .map(|(name, ty)| self.b.nvar(&format!("d{name}"), ty.clone(), span))
            .collect();
        own.extend(&moved);
        let mut given: Vec<Atom> = own.iter().take(types.len()).map(|v| Atom::Var(*v)).collect();
        for (text, ty) in names.iter().zip(&types) {
            if let Some(ty) = tangent(self, ty) {
                let v = self.b.nvar(&format!("d{text}"), ty, span);
                own.push(v);
                given.push(Atom::Var(v));
            }
        }
        self.rulings.push(Ruling {
            template: number,
            functions: functions.clone(),
            made: Some((func, captured.clone())),
        });
        let along = floats.iter().map(|(v, _)| *v).zip(moved).collect::<Vec<_>>();
        let stated = self.tangents_of(&functions, &said, &along, (template, span));
        let stated = stated.and_then(|tangents| {
            self.stated((number, template, by), (&functions, tangents), given, span)
        });
        self.rulings.pop();
        let stmts = self.leave(open);
        self.specials.leave();
        self.facts = facts;
        let block = Block { stmts, nl: stated?.nl, lin: Vec::new() };
        let params: Vec<NVar> = captured.iter().chain(&own).copied().collect();
        self.gives_tangents(func, (template, by), &params, &block.nl, span)?;
        let text = format!("{}.{name}.rule", self.b.func.name);
        let stated = match outline_as(&mut self.b, block, &captured, own, text, span) {
            Ok(stated) => stated,
            Err(error) => return self.fail(error),
        };
        match self.made_next(span)? {
            Some(_) => Ok((func, captured)),
            None => self.want(Wanted::Rule(func, Box::new(stated), span)),
        }
    }

    /// What a definition says of the functions that it takes, for the sizes of these values.
    fn said(
        &mut self,
        template: &Template<'a, 's>,
        values: &[(Atom, Span)],
        span: Span,
    ) -> Res<Vec<Said>> {
        let around = self.go_to(template.ast, template.file, Names::default());
        let said = self.said_here(template, values, span);
        self.come_back(around);
        said
    }

    fn said_here(
        &mut self,
        template: &Template<'a, 's>,
        values: &[(Atom, Span)],
        span: Span,
    ) -> Res<Vec<Said>> {
        let d = template.def;
        self.sizes_of_values(d, values)?;
        self.all_sizes_bound(d, span)?;
        let mut said = Vec::new();
        for (name, ty) in &d.params {
            let TypeKind::Function(takes, gives) = &ty.kind else { continue };
            if gives.is_empty() {
                let message = format!(
                    "nothing is said of the function `{}`, whose tangent a rule needs",
                    name.text
                );
                let help = format!("say what it takes and gives: `{}: fn(f64) -> f64`", name.text);
                return self.error("J801", name.span, message, help);
            }
            said.push((self.types(takes)?, self.results(gives)?));
        }
        Ok(said)
    }

    /// The tangents of functions, along those of what they capture.
    fn tangents_of(
        &mut self,
        functions: &[Callable<'a, 's>],
        said: &[Said],
        along: &[(NVar, NVar)],
        (template, span): (&Template<'a, 's>, Span),
    ) -> Res<Vec<Callable<'a, 's>>> {
        let mut tangents = Vec::new();
        for (function, (takes, gives)) in functions.iter().zip(said) {
            let gives = gives.iter().filter_map(|ty| ty.tangent(self.program).ok().flatten());
            let zero = |gives: Vec<Type>| Tangent {
                along: None,
                captured: Vec::new(),
                tangents: Vec::new(),
                gives,
            };
            let mut tangent = zero(gives.collect());
            if !matches!(function, Callable::Func(_) | Callable::Primitive(_)) {
                let names = vec!["x"; takes.len()];
                let name = template.def.name.text;
                let (of, captured, _) =
                    self.outlined((name, names), function, takes.clone(), span)?;
                // The derivative takes its tangents in the order of the function's own parameters.
                let along_it = |v| along.iter().find(|(of, _)| of == v);
                let moved: Vec<&(NVar, NVar)> = captured.iter().filter_map(along_it).collect();
                if !moved.is_empty() {
                    let name = |v: &NVar| self.b.func.nvars[*v].name.to_string();
                    let names = moved.iter().map(|(v, _)| name(v)).collect();
                    let chain = vec![("directional".to_string(), names)];
                    let asking = Asking { of, captured: 0, chain };
                    let Some(made) = self.made_next(span)? else {
                        return self.want(Wanted::Derivative(asking));
                    };
                    tangent.along = Some(made.called());
                    tangent.captured = captured;
                    tangent.tangents = moved.iter().map(|(_, moved)| *moved).collect();
                }
            }
            tangents.push(Callable::Tangent(Rc::new(tangent)));
        }
        Ok(tangents)
    }

    /// The body of what states the derivative.
    fn stated(
        &mut self,
        (_, template, by): (usize, &Template<'a, 's>, usize),
        (functions, tangents): (&[Callable<'a, 's>], Vec<Callable<'a, 's>>),
        given: Vec<Atom>,
        span: Span,
    ) -> Res<Values> {
        let Some(rule) = self.templates.get(by).copied() else { return Err(Stop) };
        let is_function = |ty: &TypeKind| matches!(ty, TypeKind::Function(..));
        let params: Vec<bool> =
            rule.def.params.iter().map(|(_, ty)| is_function(&ty.kind)).collect();
        let all: Vec<Callable> = functions.iter().cloned().chain(tangents).collect();
        let count = params.iter().filter(|is| **is).count();
        if count != all.len() || params.len() != all.len() + given.len() {
            let (f, g) = (template.def.name.text, rule.def.name.text);
            let message = format!(
                "`{g}` takes {} functions and {} values, and a rule for `{f}` is given {} and {} here",
                count,
                params.len() - count,
                all.len(),
                given.len()
            );
            let help = "it takes the parameters, then a tangent for each function and for each value with floats: \
                        `df: fn(f64) -> f64` for `f: fn(f64) -> f64`";
            let error = Diagnostic::error("J801", rule.def.head, message).help(help);
            return self.fail(error.label(span, "for this call"));
        }
        let callable = Callable::Partial(by, placed(&params, &all));
        self.applied(rule.def.name.text, &callable, given, span)
    }

    /// J801 unless a rule gives the tangents of the results of the definition, whose parameters are called like this.
    fn gives_tangents(
        &mut self,
        func: FuncId,
        (template, by): (&Template<'a, 's>, usize),
        params: &[NVar],
        given: &[Atom],
        span: Span,
    ) -> Res<()> {
        let (program, f) = (self.program, &self.program.funcs[func]);
        let named = |v| Some(Size::var(*params.get(f.params.iter().position(|p| *p == v)?)?));
        let results = f.results.iter().map(|result| result.ty.subst(&mut |v| named(v)));
        let wanted: Vec<Type> =
            results.filter_map(|ty| ty.tangent(program).ok().flatten()).collect();
        let found: Vec<Type> = given.iter().map(|atom| self.type_of(*atom)).collect();
        if wanted == found {
            return Ok(());
        }
        let Some(rule) = self.templates.get(by) else { return Err(Stop) };
        let list =
            |types: &[Type]| types.iter().map(|ty| self.show(ty)).collect::<Vec<_>>().join(", ");
        let (f, g) = (template.def.name.text, rule.def.name.text);
        let message = format!(
            "`{g}` gives ({}), and the tangents of what `{f}` gives are ({})",
            list(&found),
            list(&wanted)
        );
        let help = "a rule gives a tangent for each result that has floats";
        let error = Diagnostic::error("J801", rule.def.head, message).help(help);
        self.fail(error.label(span, "for this call"))
    }

    /// What the tangent of a function gives.
    pub(super) fn tangent_at(
        &mut self,
        tangent: &Tangent,
        args: Vec<Atom>,
        span: Span,
    ) -> Res<Values> {
        if let Some(func) = tangent.along {
            let var = |v: &NVar| Atom::Var(*v);
            let captured = tangent.captured.iter().map(var);
            let all = captured.chain(args).chain(tangent.tangents.iter().map(var));
            let all = all.map(|atom| (atom, span)).collect();
            let made = self.call_values(func, all, Vec::new(), (&[], &[]), span)?;
            return Ok(self.values(made, "t")?.0);
        }
        let mut nl = Vec::new();
        for ty in &tangent.gives {
            nl.push(self.zero_of(ty, span)?);
        }
        Ok(Values { nl, lin: Vec::new() })
    }

    fn zero_of(&mut self, ty: &Type, span: Span) -> Res<Atom> {
        match ty {
            Type::Array(size, element) if !matches!(**element, Type::Tuple(_) | Type::Data(_)) => {
                let bound = self.materialize(size, span)?;
                self.blank(&counting(bound, size.clone()), element, span)
            }
            Type::Tuple(items) => {
                let items: Res<Vec<Atom>> = items.iter().map(|ty| self.zero_of(ty, span)).collect();
                let out = Out::one(Rhs::Tuple(items?), ty.clone(), span);
                self.bind(out, &[], &[])?.nl.first().copied().ok_or(Stop)
            }
            Type::Float(_) => Ok(Atom::Lit(ty.number(0.0))),
            ty => {
                let message = format!(
                    "a function without floats to move has no tangent of type {}",
                    self.show(ty)
                );
                let help = "let the function give numbers, arrays of them, or tuples of these";
                self.error("J801", span, message, help)
            }
        }
    }

    /// What was made at this place of the text, where it has been read before.
    fn made_next(&mut self, span: Span) -> Res<Option<Found>> {
        let number = self.taken.met;
        self.taken.met += 1;
        match self.taken.made.get(number).cloned() {
            Some(Ok(found)) => Ok(Some(found)),
            Some(Err(failed)) => self.not_made(&failed, span),
            None if number >= MOST_TAKEN => {
                let message = "too many derivatives of functions without a name in one definition";
                let help = "make definitions of some of them";
                self.error("J003", span, message, help)
            }
            None => Ok(None),
        }
    }

    /// Gives this reading up, for what is missing.
    fn want<T>(&mut self, wanted: Wanted) -> Res<T> {
        self.taken.wanted.get_or_insert(wanted);
        Err(Stop)
    }
}

/// Functions in the places of a definition's parameters.
fn placed<'a, 's>(
    params: &[bool],
    functions: &[Callable<'a, 's>],
) -> Vec<Option<Callable<'a, 's>>> {
    let mut functions = functions.iter().cloned();
    params.iter().map(|is_function| if *is_function { functions.next() } else { None }).collect()
}

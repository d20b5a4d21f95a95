//! Derivatives at a point that are kept, and transposes.
//!
//! ```text
//! (y, l) = linearize(f)(x)        (y, tape) = f.linearize(x)
//! dy = l(dx)                      dy = f.apply(tape, dx)
//! dx = transpose(l)(dy)           dx = f.applyT(tape, dy)
//! ```
//!
//! `l` is a function like one that was given ([`super::template`]): a name that is called, handed to definitions that take
//! functions, and no value. So what it keeps of the point, arguments and the tape, are names like any other.

use super::body::Body;
use super::given::{Asked, Callable, Found, Given, Kept};
use super::made::Made;
use super::{Res, Stop};
use crate::ast::{self, ExprId, ExprKind};
use jut_ad::compose::Saved;
use jut_ad::language::LINEARIZE;
use jut_ir::{Atom, Rhs, Span};
use std::rc::Rc;

impl<'a, 's> Body<'a, 's> {
    /// The call in `(y, l) = linearize(f)(x)`, if an expression is one.
    pub(super) fn linearization(&self, e: ExprId) -> Option<&'a ast::Derived<'s>> {
        match &self.ast.expr(e).kind {
            ExprKind::Derived(derived) if derived.chain.last()?.0 == LINEARIZE => Some(derived),
            _ => None,
        }
    }

    /// `(y, l) = linearize(f)(x)`: the results, and a name for the derivative at x.
    pub(super) fn bind_linearized(
        &mut self,
        items: &'a [ast::Item<'s>],
        derived: &'a ast::Derived<'s>,
        span: Span,
    ) -> Res<()> {
        self.surface_only(
            span,
            "a derivative that is kept",
            "call definitions that the passes have made",
        )?;
        let mut given = None;
        let made = match self.made_of(derived) {
            Some(Ok(key)) => self.globals.view().linearized.get(&key).cloned(),
            Some(Err(reason)) => {
                return self.call_made(&Err(reason), &derived.call, span).map(drop);
            }
            None => {
                let source = self.source(derived).ok_or(Stop)?;
                let (found, args) = self.take_derivative(&Asked::of(derived), source, span)?;
                let Found::Linear(linear) = found else { return Err(Stop) };
                given = Some(args);
                Some(Ok(linear))
            }
        };
        let made = match made {
            Some(Ok(made)) => made,
            Some(Err(reason)) => {
                return self.call_made(&Err(reason), &derived.call, span).map(drop);
            }
            // Refused, or not well typed, which is reported there.
            None if self.globals.global(derived.call.func.text).is_some() => return Err(Stop),
            None => return self.unknown_function(derived.call.func),
        };
        let results = made.results;
        let Some(((last, values), true)) =
            items.split_last().map(|split| (split, items.len() == results + 1))
        else {
            let message = format!(
                "`linearize` gives {results} value(s) of the function and then the derivative there, and the pattern has \
                 {} name(s)",
                items.len()
            );
            let names = if results == 1 { "y".to_string() } else { "a, b".to_string() };
            return self.error(
                "J213",
                span,
                message,
                format!("write `({names}, l) = linearize(f)(..)`"),
            );
        };
        if let Some(typed) = items.iter().find(|item| item.ty.is_some()) {
            let message = "no types are stated of what `linearize` gives";
            return self.error("J214", typed.name.span, message, "leave the type out");
        }
        let called = match given {
            Some(args) => self.call_values(made.primal, args, Vec::new(), (&[], &[]), span)?,
            None => self.call_function(made.primal, &derived.call, span)?,
        };
        let Made::Op(out) = called else { return Err(Stop) };
        let Rhs::Call(call) = &out.rhs else { return Err(Stop) };
        let args = call.args.clone();
        let names: Vec<ast::Name<'s>> = values.iter().map(|item| item.name).collect();
        let mut found = self.bind(*out, &names, &[])?;
        let saved = made.saved.iter().map(|saved| match saved {
            Saved::Argument(k) => args.get(*k).copied(),
            Saved::Result(k) => found.nl.get(*k).copied(),
        });
        let saved: Vec<Atom> = saved.collect::<Option<_>>().ok_or(Stop)?;
        found.nl.truncate(results);
        self.name_values(&names, &[], &found, false)?;
        let kept = Kept { apply: made.apply, transposed: made.transposed, saved };
        self.name_function(last.name.text, Given::kept(Rc::new(kept)));
        Ok(())
    }

    /// `l(dx)`, and `transpose(l)(dy)` where `turned`.
    pub(super) fn call_kept(
        &mut self,
        kept: &Kept,
        turned: bool,
        args: Vec<(Atom, Span)>,
        span: Span,
    ) -> Res<Made> {
        let func = if turned { kept.transposed } else { kept.apply };
        let callee = &self.program.funcs[func];
        let count = callee.params.len() - kept.saved.len();
        if args.len() != count {
            let message = format!(
                "this linear function takes {count} argument(s), and {} are given",
                args.len()
            );
            let help = match turned {
                true => "give a cotangent for each result with floats",
                false => "give a tangent for each parameter with floats",
            };
            return self.error("J208", span, message, help);
        }
        let saved = kept.saved.iter().map(|atom| (*atom, span));
        self.call_values(func, saved.chain(args).collect(), Vec::new(), (&[], &[]), span)
    }

    /// `transpose(l)(dy)`, if that is what a call of a derivative of a given function is.
    pub(super) fn call_turned(
        &mut self,
        number: usize,
        asked: &Asked<'a, 's>,
        span: Span,
    ) -> Res<Option<Made>> {
        let Callable::Kept(kept) = self.what_was_given(number) else { return Ok(None) };
        if asked.chain.iter().any(|(word, wrt)| *word != "transpose" || !wrt.is_empty()) {
            return Ok(None);
        }
        let mut args = Vec::new();
        for e in &asked.call.args {
            args.push((self.atom(*e, "t")?, self.span(*e)));
        }
        self.call_kept(&kept, asked.chain.len() % 2 == 1, args, span).map(Some)
    }
}

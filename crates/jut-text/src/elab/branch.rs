//! `if c { .. } else if d { .. } else { .. }`.
//!
//! A short chain becomes `case`s in each other, as it reads. A long one would nest too deeply for
//! whoever walks the program, so it is cut in two, again and again: first the number of the first condition that
//! holds is *found*, each condition being computed only when those before it failed, then the way with
//! that number is *chosen*:
//!
//! ```text
//! find(0, 4):    k = find(0, 2); found = k < 4; case found { true -> k; false -> find(2, 4) }
//! choose(0, 4):  case k <= 2 { true -> choose(0, 2); false -> choose(3, 4) }
//! ```
//!
//! Ensures: a chain of n conditions nests O(log n) deep; the core is linear in the text; what is
//! computed is what the nested form computes, and O(log n) comparisons.

use super::arm::{ArmBody, ArmSpec, Part};
use super::body::{Body, CONDITION};
use super::made::{Annotation, Made, Out, Values};
use super::{Res, Stop};
use crate::ast::{ExprId, If, Name};
use jut_ir::prim::Syntax;
use jut_ir::{Arm, ArmPattern, Atom, Block, Case, Literal, Rhs, Span, Type};

/// Chains with more conditions are cut.
const LONG: usize = 16;

impl<'a, 's> Body<'a, 's> {
    /// An `if` is a `case`, always.
    pub fn if_expr(&mut self, chain: &'a If, stated: Option<&Annotation>, span: Span) -> Res<Made> {
        let count = chain.links.len();
        let subject = chain.subject.map(|e| self.subject(e, span)).transpose()?;
        let mut part = Part { chain, subject, first: 0, last: count, number: None };
        if count > LONG {
            part.number = Some(self.find((chain, subject), 0, count, span)?);
        }
        self.branch(part, stated, span)
    }

    /// A part of a chain as the body of an arm.
    pub fn chain(&mut self, part: Part<'a>, stated: Option<&Annotation>) -> Res<(Values, Span)> {
        let way = match part.chain.links.get(part.first) {
            Some(link) if part.first < part.last => {
                let made = self.branch(part, stated, link.span)?;
                let (values, _) = self.values(made, "t")?;
                return Ok((values, link.span));
            }
            Some(link) => link.then,
            None => match part.chain.other {
                Some(other) => other,
                None => return Ok((Values::default(), self.span(part.chain.links[0].then))),
            },
        };
        let (values, at) = self.body(way, stated)?;
        if part.chain.other.is_none() && values.nl.len() + values.lin.len() > 0 {
            let message = "an `if` without `else` gives no value, and this block gives one";
            let help =
                "say what the value is else: `if c { a } else { b }`; or assign it to a variable";
            return self.error("J504", at, message, help);
        }
        Ok((values, at))
    }

    /// One `case` for a part with several ways.
    fn branch(&mut self, part: Part<'a>, stated: Option<&Annotation>, span: Span) -> Res<Made> {
        let Part { first, last, number, .. } = part;
        let (scrutinee, middle) = match number {
            Some(k) => {
                let middle = first + (last - first) / 2;
                let args = vec![k, integer(middle)];
                (self.bound_primitive("<=", args, "c", span)?, middle)
            }
            None => {
                let Some(link) = part.chain.links.get(first) else { return Err(Stop) };
                (self.condition(part.subject, link.condition)?, first)
            }
        };
        let arm = |value, first, last| ArmSpec {
            pattern: ArmPattern::Bool(value),
            name: Name { text: if value { "true" } else { "false" }, span },
            fields: Some(&[]),
            parts: [].into(),
            body: ArmBody::Chain(Part { first, last, ..part }),
        };
        let arms = vec![arm(true, first, middle), arm(false, middle + 1, last)];
        self.arms(scrutinee, arms, stated, span)
    }

    /// The integer of `case n { 0 -> a; 1 -> b; _ -> c }`, which is a chain of comparisons.
    fn subject(&mut self, e: ExprId, span: Span) -> Res<Atom> {
        let help = "write `c = n == 0`, and `case c { true -> ..; false -> .. }`";
        self.surface_only(span, "`case` on an integer", help)?;
        let subject = self.atom(e, "t")?;
        match self.type_of(subject) {
            Type::I64 => Ok(subject),
            Type::I32 => self.in_64_bits(subject, span),
            ty => {
                let message =
                    format!("these arms are integers, and this is of type {}", self.show(&ty));
                let help = "choose by `if x > 0.0 { .. } else { .. }`, or by the arms of its type";
                self.error("J501", self.span(e), message, help)
            }
        }
    }

    fn condition(&mut self, subject: Option<Atom>, e: ExprId) -> Res<Atom> {
        if let Some(subject) = subject {
            let number = self.integer(e, "an arm")?;
            return self.bound_primitive("==", vec![subject, number], "c", self.span(e));
        }
        let atom = self.atom(e, "t")?;
        let ty = self.type_of(atom);
        if ty == Type::Bool {
            return Ok(atom);
        }
        let message = format!("a condition is a bool, and this is of type {}", self.show(&ty));
        let at = self.span(e);
        let error = jut_ir::Diagnostic::error("J202", at, message);
        self.fail(match ty {
            Type::Float(_) => error.help("compare it: `x > 0.0`").wrap("", at, " != 0.0"),
            Type::I64 | Type::I32 => error.help("compare it: `n != 0`").wrap("", at, " != 0"),
            _ => error.help("a condition is made by `==`, `<`, .. and joined by `&&`, `||`"),
        })
    }

    /// The number of the first condition from `from` to before `to` that holds, or the number of
    /// the `else`.
    fn find(
        &mut self,
        (chain, subject): (&'a If, Option<Atom>),
        from: usize,
        to: usize,
        span: Span,
    ) -> Res<Atom> {
        let none = integer(chain.links.len());
        if to - from <= 1 {
            let Some(link) = chain.links.get(from) else { return Ok(none) };
            let holds = self.condition(subject, link.condition)?;
            let args = vec![holds, integer(from), none];
            let out = self.primitive("select", Syntax::Call, args, link.span)?;
            return self.one_atom(out, link.span);
        }
        let middle = from + (to - from) / 2;
        let first = self.find((chain, subject), from, middle, span)?;
        let found = self.bound_primitive("<", vec![first, none], "found", span)?;
        let open = self.enter();
        self.seal(CONDITION, span);
        let second = self.find((chain, subject), middle, to, span);
        let stmts = self.leave(open);
        let arm =
            |value, stmts, k| Arm::of_bool(value, Block { stmts, nl: vec![k], lin: Vec::new() });
        let arms = vec![arm(true, Vec::new(), first), arm(false, stmts, second?)];
        let rhs = Rhs::Case(Box::new(Case { scrutinee: found, arms }));
        self.one_atom(Out::one(rhs, Type::I64, span), span)
    }

    fn one_atom(&mut self, out: Out, span: Span) -> Res<Atom> {
        self.bind(out, &[Name { text: "k", span }], &[])?.nl.first().copied().ok_or(Stop)
    }
}

fn integer(k: usize) -> Atom {
    Atom::Lit(Literal::I64(k as i64))
}

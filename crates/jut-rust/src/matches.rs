//! `match`: its arms, and whether a pattern fits.
//!
//! The arms are a chain of `if` in the text, of which the last one has no test, since Rust knows that it fits:
//!
//! ```text
//! match k { 0 => a, 1..=3 if c => b, _ => d }       if k == 0 { a } else { if k >= 1 && k <= 3 && c { b } else { d } }
//! ```
//!
//! Requires: a guard does not fail. Operators in one are those of numbers.

use crate::lowering::{Lowering, Tail};
use crate::orderings::apart;
use crate::types::Ty;
use crate::value::{Value, unit};
use crate::{Refusal, refuse};
use syn::Expr;
use syn::spanned::Spanned;

impl Lowering<'_> {
    /// A `match` that has a value.
    pub fn match_value(&mut self, m: &syn::ExprMatch) -> Result<Value, Refusal> {
        self.no_jump(&Expr::Match(m.clone()))?;
        let own = apart(m);
        let m = own.as_ref().unwrap_or(m);
        if let Some(said) = crate::halved::matched(m)? {
            return self.expression(&said);
        }
        let part = crate::parted::matched(m);
        let m = part.as_ref().unwrap_or(m);
        let value = self.taken_apart(&m.expr, m.arms.iter().map(|arm| &arm.pat))?;
        let value = self.named(value, "subject");
        Ok(self.arms(&value, &m.arms, Tail::Value, m)?.unwrap_or_else(unit))
    }

    /// A `match` as a statement.
    pub fn plain_match(&mut self, m: &syn::ExprMatch) -> Result<(), Refusal> {
        self.no_jump(&Expr::Match(m.clone()))?;
        let own = apart(m);
        let m = own.as_ref().unwrap_or(m);
        if let Some(said) = crate::halved::matched(m)? {
            return self.effect(&said);
        }
        let part = crate::parted::matched(m);
        let m = part.as_ref().unwrap_or(m);
        let value = self.taken_apart(&m.expr, m.arms.iter().map(|arm| &arm.pat))?;
        let value = self.named(value, "subject");
        self.arms(&value, &m.arms, Tail::Unit, m).map(|_| ())
    }

    /// Arms of a `match`, as a chain of `if`.
    fn arms(
        &mut self,
        subject: &Value,
        arms: &[syn::Arm],
        tail: Tail,
        m: &syn::ExprMatch,
    ) -> Result<Option<Value>, Refusal> {
        let Some((arm, rest)) = arms.split_first() else {
            return refuse(&m.match_token, "a `match` without an arm");
        };
        // Other arms do not see the names that this one binds.
        self.scopes.push(Default::default());
        let body = [syn::Stmt::Expr((*arm.body).clone(), None)];
        let tested = self.tested(&arm.pat, subject);
        let first = tested.and_then(|tested| {
            let condition = match &arm.guard {
                None => tested,
                Some((_, guard)) => {
                    if let Some(late) = crate::syntax::let_in(guard) {
                        return Err(crate::enums::late(late));
                    }
                    let before = std::mem::replace(&mut self.operators.plain, true);
                    let guard = self.nested(|this| this.operand(guard));
                    self.operators.plain = before;
                    let (lines, guard) = guard?;
                    if !lines.lines.is_empty() || !guard.cheap {
                        // It is computed where the pattern fits, and nowhere else.
                        let no = Value::name("false".to_string(), Ty::Bool, 0);
                        let none = (Default::default(), Some(no));
                        let guarded = self.chosen(tested, (lines, Some(guard)), none);
                        let guarded = guarded.unwrap_or_else(crate::value::unit);
                        self.named(Value { stable: false, ..guarded }, "guarded")
                    } else {
                        let text = format!("{} && {}", tested.within(2), guard.within(3));
                        Value::new(text, Ty::Bool, 2, &[&tested, &guard])
                    }
                }
            };
            // Rustc knows that the last arm is taken where no other is.
            if rest.is_empty() {
                let value = self.statements(&body, tail)?;
                return Ok((condition, (Default::default(), value)));
            }
            Ok((condition, self.nested(|this| this.statements(&body, tail))?))
        });
        self.scopes.pop();
        let (condition, then) = first?;
        if rest.is_empty() {
            return Ok(then.1);
        }
        let other = self.nested(|this| this.arms(subject, rest, tail, m))?;
        let (then, other) = self.same(then, other, &m.match_token)?;
        Ok(self.chosen(condition, then, other))
    }

    /// Whether a pattern fits. A name in it is bound.
    pub fn tested(&mut self, pattern: &syn::Pat, subject: &Value) -> Result<Value, Refusal> {
        use syn::Pat;
        let always = Value::name("true".to_string(), Ty::Bool, 0);
        match pattern {
            Pat::Wild(_) => Ok(always),
            Pat::Paren(inner) => self.tested(&inner.pat, subject),
            Pat::Reference(inner) => self.tested(&inner.pat, subject),
            Pat::Ident(ident)
                if ident.subpat.is_none()
                    && ident.ident.to_string().chars().all(|c| !c.is_uppercase()) =>
            {
                self.pattern(pattern, subject.clone())?;
                Ok(always)
            }
            // `n @ 1..=5`
            Pat::Ident(ident) if let Some((_, inner)) = &ident.subpat => {
                let subject = self.named(subject.clone(), "subject");
                let fits = self.tested(inner, &subject)?;
                let name = Pat::Ident(syn::PatIdent { subpat: None, ..ident.clone() });
                self.pattern(&name, subject)?;
                Ok(fits)
            }
            Pat::Ident(ident) if crate::syntax::is_constant(&ident.ident) => {
                let name = &ident.ident;
                // A variable of this name does not make the pattern a constant: it would be a new name.
                if self.lookup(&name.to_string()).is_some() {
                    return refuse(name, "a name in capitals is a constant here: write it small");
                }
                self.tested_by("==", &syn::parse_quote!(#name), subject)
            }
            Pat::Path(path)
                if path.qself.is_none()
                    && path
                        .path
                        .segments
                        .last()
                        .is_some_and(|s| crate::syntax::is_constant(&s.ident))
                    && crate::syntax::variant_of(&path.path).is_none() =>
            {
                let constant = Expr::Path(path.clone());
                self.tested_by("==", &constant, subject)
            }
            Pat::Lit(constant) => self.tested_by("==", &Expr::Lit(constant.clone()), subject),
            Pat::Range(range) => {
                let op = match range.limits {
                    syn::RangeLimits::HalfOpen(_) => "<",
                    syn::RangeLimits::Closed(_) => "<=",
                };
                match (&range.start, &range.end) {
                    (Some(start), Some(end)) => {
                        let (a, b) = (
                            self.tested_by(">=", start, subject)?,
                            self.tested_by(op, end, subject)?,
                        );
                        let text = format!("{} && {}", a.text, b.text);
                        Ok(Value::new(text, Ty::Bool, 2, &[&a, &b]))
                    }
                    (Some(start), None) => self.tested_by(">=", start, subject),
                    (None, Some(end)) => self.tested_by(op, end, subject),
                    (None, None) => Ok(always),
                }
            }
            Pat::Or(or) => {
                let mut all: Vec<Value> = Vec::new();
                for case in &or.cases {
                    if let Some(name) = crate::syntax::binds(case) {
                        return refuse(
                            name,
                            "a name behind `|` is not built here: write a `match` with an arm for each",
                        );
                    }
                    all.push(self.tested(case, subject)?);
                }
                let texts: Vec<String> = all.iter().map(|v| v.within(2)).collect();
                Ok(Value::new(texts.join(" || "), Ty::Bool, 1, &all.iter().collect::<Vec<_>>()))
            }
            other => self.parts_tested(other, subject),
        }
    }

    fn tested_by(&mut self, op: &str, end: &Expr, subject: &Value) -> Result<Value, Refusal> {
        let end_value = self.expression(end)?;
        self.operation(op, subject.clone(), end_value, end, end.span())
    }
}

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
use crate::types::Ty;
use crate::value::{Value, unit};
use crate::{Refusal, refuse};
use syn::Expr;
use syn::spanned::Spanned;

impl Lowering<'_> {
    /// A `match` that has a value.
    pub fn match_value(&mut self, m: &syn::ExprMatch) -> Result<Value, Refusal> {
        self.no_jump(&Expr::Match(m.clone()))?;
        let part = crate::parted::matched(m);
        let m = part.as_ref().unwrap_or(m);
        let value = self.taken_apart(&m.expr, m.arms.iter().map(|arm| &arm.pat))?;
        let value = self.named(value, "subject");
        Ok(self.arms(&value, &m.arms, Tail::Value, m)?.unwrap_or_else(unit))
    }

    /// A `match` as a statement.
    pub fn plain_match(&mut self, m: &syn::ExprMatch) -> Result<(), Refusal> {
        self.no_jump(&Expr::Match(m.clone()))?;
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
                    let before = std::mem::replace(&mut self.plain_operators, true);
                    let guard = self.nested(|this| this.operand(guard));
                    self.plain_operators = before;
                    let (lines, guard) = guard?;
                    if !lines.lines.is_empty() || !guard.cheap {
                        return refuse(&arm.pat, "this guard can fail: write an `if` in the arm");
                    }
                    let text = format!("{} && {}", tested.within(2), guard.within(3));
                    Value::new(text, Ty::Bool, 2, &[&tested, &guard])
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
            Pat::Lit(constant) => self.tested_by("==", &Expr::Lit(constant.clone()), subject),
            Pat::Range(range) => {
                let (Some(start), Some(end)) = (&range.start, &range.end) else {
                    return refuse(pattern, "write both ends of this range");
                };
                let op = match range.limits {
                    syn::RangeLimits::HalfOpen(_) => "<",
                    syn::RangeLimits::Closed(_) => "<=",
                };
                let (a, b) =
                    (self.tested_by(">=", start, subject)?, self.tested_by(op, end, subject)?);
                let text = format!("{} && {}", a.text, b.text);
                Ok(Value::new(text, Ty::Bool, 2, &[&a, &b]))
            }
            Pat::Or(or) => {
                let mut all: Vec<Value> = Vec::new();
                for case in &or.cases {
                    if let Some(name) = crate::enums::binds(case) {
                        return refuse(
                            name,
                            "a name behind `|` is not built: write an arm for each",
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

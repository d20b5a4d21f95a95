//! Enums: variants are made and taken apart. In the text a value is the tuple of the variant's number and the fields of all
//! variants, of which only its own mean anything.

use crate::lowering::Lowering;
use crate::syntax::{binds, let_in, variant_of};
use crate::template::Hole;
use crate::types::{Step, Ty};
use crate::value::Value;
use crate::{Refusal, refuse};
use std::borrow::Cow;
use syn::{Expr, Member, Pat, Path, Stmt};

/// The name of a field of a variant among those of the enum.
pub(crate) fn field_name(variant: &str, member: &Member) -> String {
    match member {
        Member::Named(name) => format!("{variant}.{}", name.to_string().trim_start_matches("r#")),
        Member::Unnamed(k) => format!("{variant}.{}", k.index),
    }
}

/// A `match` that has jumps in it as a chain of `if let`, behind its subject.
pub(crate) fn as_branches(
    m: &syn::ExprMatch,
    semicolon: Option<syn::Token![;]>,
) -> Result<Vec<Stmt>, Refusal> {
    let apart = crate::orderings::apart(m);
    let m = apart.as_ref().unwrap_or(m);
    if let Some(said) = crate::halved::matched(m)? {
        return Ok(vec![Stmt::Expr(said, semicolon)]);
    }
    // No name of Rust's users.
    let subject = syn::Ident::new(crate::syntax::SUBJECT, m.match_token.span);
    let value = &m.expr;
    let mut chain: Option<Expr> = None;
    for (k, arm) in m.arms.iter().enumerate().rev() {
        let (pattern, body) = (&arm.pat, &arm.body);
        let last = k + 1 == m.arms.len();
        chain = Some(match (chain.take(), &arm.guard) {
            // Rustc knows that the last arm is taken where no other is.
            _ if last && binds(pattern).is_some() => {
                syn::parse_quote!({ let #pattern = #subject; #body })
            }
            _ if last => syn::parse_quote!({ #body }),
            (Some(rest), Some((_, guard))) => {
                if let Some(late_let) = let_in(guard) {
                    return Err(late(late_let));
                }
                syn::parse_quote!(if let #pattern = #subject && (#guard) { #body } else #rest)
            }
            (Some(rest), None) => {
                syn::parse_quote!(if let #pattern = #subject { #body } else #rest)
            }
            (None, _) => return refuse(&m.match_token, "a `match` without an arm"),
        });
    }
    let Some(chain) = chain else { return refuse(&m.match_token, "a `match` without an arm") };
    Ok(vec![syn::parse_quote!(let #subject = #value;), Stmt::Expr(chain, semicolon)])
}

impl Lowering<'_> {
    /// A variant with its fields.
    pub fn variant(
        &mut self,
        owner: &Path,
        variant: &str,
        fields: &[(Member, &Expr)],
    ) -> Result<Value, Refusal> {
        let exprs: Vec<&Expr> = fields.iter().map(|(_, e)| *e).collect();
        let hole = self.data(owner)?;
        let mut names = fields.iter().map(|(member, _)| field_name(variant, member));
        let values = self.in_order(&exprs, |this, value| {
            let name = names.next().unwrap_or_default();
            this.given_to_field(value, hole, Step::Field(name))
        })?;
        let mut text = format!("$variant {hole} {variant}");
        for ((member, _), value) in fields.iter().zip(values) {
            let field = field_name(variant, member);
            let value = self.as_field(value, hole, vec![Step::Field(field.clone())]);
            text.push_str(&self.field_given(&field, value, "part"));
        }
        self.record(text, hole)
    }

    /// A field of what is made, `x=a`. An `Option` is said to be a pair, `x=?a`; of what rustc alone knows the type stands behind it, `x=a@3,y`.
    pub fn field_given(&mut self, field: &str, value: Value, wanted: &str) -> String {
        let (before, from) = match self.resolve(&value.ty) {
            Ty::Option(inner) if *inner == Ty::Never => return format!(" {field}=?"),
            Ty::Option(_) => ("?", String::new()),
            Ty::Of(hole, steps) => {
                let known =
                    matches!(self.parts.holes.get(hole), Some(Hole::Data(_) | Hole::Constant(_)));
                let steps: String = steps.iter().map(|s| format!(",{s}")).collect();
                match known && steps.is_empty() {
                    true => ("", String::new()),
                    false => ("", format!("@{hole}{steps}")),
                }
            }
            _ => ("", String::new()),
        };
        let word = self.settled(value, wanted);
        format!(" {field}={before}{word}{from}")
    }

    /// `let PATTERN = value` in a condition: whether it fits. Names in it are bound.
    pub fn let_condition(&mut self, condition: &syn::ExprLet) -> Result<Value, Refusal> {
        let part = crate::parted::condition(condition);
        let condition = part.as_ref().unwrap_or(condition);
        let value = self.taken_apart(&condition.expr, std::iter::once(&*condition.pat))?;
        let value = self.named(value, "subject");
        self.tested(&condition.pat, &value)
    }

    /// Whether a pattern of several parts fits: a variant, a struct, a tuple.
    pub fn parts_tested(&mut self, pattern: &Pat, subject: &Value) -> Result<Value, Refusal> {
        let mut parts: Vec<(Cow<'_, Pat>, Value)> = Vec::new();
        let mut all = Vec::new();
        match pattern {
            Pat::Path(path) if path.qself.is_none() => {
                let Some((owner, name)) = variant_of(&path.path) else {
                    return refuse(pattern, CONSTANT);
                };
                self.opened(&owner, &name, subject, &mut all)?;
            }
            Pat::TupleStruct(own)
                if (own.path.is_ident("Some") || own.path.is_ident("Ok"))
                    && own.elems.len() == 1 =>
            {
                return self.option_tested(Some(&own.elems[0]), subject, pattern);
            }
            Pat::TupleStruct(own) if own.path.is_ident("Err") && own.elems.len() == 1 => {
                // Any other pattern would be one of some errors alone.
                let all = match &own.elems[0] {
                    Pat::Wild(_) | Pat::Rest(_) => true,
                    Pat::Ident(name) => {
                        name.subpat.is_none() && name.ident.to_string().starts_with('_')
                    }
                    _ => false,
                };
                if !all {
                    return refuse(
                        &own.elems[0],
                        "an error has no value here: write `Err(_)`, or `?` to give it on",
                    );
                }
                return self.option_tested(None, subject, pattern);
            }
            Pat::Ident(ident) if ident.ident == "None" => {
                return self.option_tested(None, subject, pattern);
            }
            Pat::Slice(slice) => {
                let whole = self.named(subject.clone(), "whole");
                let (fits, elements) = self.slice_parts(slice, &whole)?;
                all.extend(fits);
                parts.extend(elements.into_iter().map(|(part, v)| (Cow::Owned(part), v)));
            }
            Pat::TupleStruct(own) if own.qself.is_none() => {
                let elements = before_rest(&own.elems)?;
                let variant = variant_of(&own.path);
                let whole = match &variant {
                    Some((owner, name)) => self.opened(owner, name, subject, &mut all)?,
                    None if known(&own.path) => return refuse(&own.path, OTHERS),
                    None => self.opened(&own.path, "", subject, &mut Vec::new())?,
                };
                for (k, part) in elements.into_iter().enumerate() {
                    let value = match &variant {
                        Some((_, name)) => {
                            self.variant_field(&whole, &field_name(name, &Member::from(k)))
                        }
                        None => self.component(&whole, k),
                    };
                    parts.push((Cow::Borrowed(part), value));
                }
            }
            Pat::Struct(own) if own.qself.is_none() => {
                let variant = variant_of(&own.path);
                let whole = match &variant {
                    Some((owner, name)) => self.opened(owner, name, subject, &mut all)?,
                    None => self.opened(&own.path, "", subject, &mut Vec::new())?,
                };
                for part in &own.fields {
                    let value = match &variant {
                        Some((_, name)) => {
                            self.variant_field(&whole, &field_name(name, &part.member))
                        }
                        None => self.member(&whole, &part.member)?,
                    };
                    parts.push((Cow::Borrowed(&*part.pat), value));
                }
            }
            Pat::Tuple(tuple) => {
                for (k, part) in before_rest(&tuple.elems)?.into_iter().enumerate() {
                    let value = self.component(subject, k);
                    parts.push((Cow::Borrowed(part), value));
                }
            }
            _ => {
                return refuse(
                    pattern,
                    "this pattern is not built: write a literal, a range, a variant, a struct, a tuple, `_` \
                     or a name; a variant has its enum's name before it, `Shape::Flat`, also where a `use` gives it another",
                );
            }
        }
        for (part, value) in parts {
            let fits = self.tested(&part, &value)?;
            if fits.text != "true" {
                all.push(fits);
            }
        }
        Ok(match &all[..] {
            [] => Value::name("true".to_string(), Ty::Bool, 0),
            [one] => one.clone(),
            several => {
                let texts: Vec<String> = several.iter().map(|v| v.within(3)).collect();
                let several: Vec<&Value> = several.iter().collect();
                Value::new(texts.join(" && "), Ty::Bool, 2, &several)
            }
        })
    }

    /// A value as one of a struct or enum; whether it is the variant goes into `all`.
    fn opened(
        &mut self,
        owner: &Path,
        variant: &str,
        subject: &Value,
        all: &mut Vec<Value>,
    ) -> Result<Value, Refusal> {
        let hole = self.data(owner)?;
        self.unify(&subject.ty, &Ty::Of(hole, Vec::new()));
        let mut whole = self.named(subject.clone(), "whole");
        whole.ty = Ty::Of(hole, Vec::new());
        if !variant.is_empty() {
            let text = format!("$is {hole} {variant}${}$which {hole} {variant}$", whole.text);
            all.push(Value::new(text, Ty::Bool, 3, &[&whole]));
        }
        Ok(whole)
    }

    fn variant_field(&mut self, whole: &Value, field: &str) -> Value {
        let Ty::Of(hole, _) = whole.ty else { return whole.clone() };
        let text = format!("$get {hole} {field}${}$got {hole} {field}$", whole.text);
        let ty = Ty::Of(hole, vec![Step::Field(field.to_string())]);
        Value { ty, least: i64::MIN, ..Value::name(text, Ty::Bool, 0) }
    }
}

/// The parts of a pattern before a `..`, which is the last.
pub(crate) fn before_rest<P>(
    elements: &syn::punctuated::Punctuated<Pat, P>,
) -> Result<Vec<&Pat>, Refusal> {
    let rest = elements.iter().position(|p| matches!(p, Pat::Rest(_)));
    match rest {
        Some(k) if k + 1 < elements.len() => {
            refuse(&elements[k], "`..` is the last here: name each component, or write `_`")
        }
        k => Ok(elements.iter().take(k.unwrap_or(elements.len())).collect()),
    }
}

/// Whether a path is that of a variant of std's enums.
fn known(path: &Path) -> bool {
    path.get_ident().is_some_and(|i| matches!(i.to_string().as_str(), "Some" | "Ok" | "Err"))
}

/// What a chain of conditions with `let` in a place that is not built says.
pub(crate) fn late(condition: &syn::ExprLet) -> Refusal {
    crate::spanned(
        &condition.let_token,
        "`let` stands at the beginning of the condition of an `if`: write another `if let` in the first one's block",
    )
}

const CONSTANT: &str = "a constant as a pattern is not built: write `if x == C`";
const OTHERS: &str =
    "`Option` and `Result` are not built: write an enum of your own that derives `jut::Data`";

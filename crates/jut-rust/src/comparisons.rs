//! Comparisons of what are no numbers.
//!
//! `kind == Kind::Upwind`, with a variant without fields, is `matches!(kind, Kind::Upwind)`: what `==` means of an enum that derives `PartialEq`. That
//! it is derived is seen by a pattern with a constant of the type, which rustc takes of no other. What else is compared is numbers and truth
//! values, tuples and `Option`s of these, which rustc knows: of a struct it is refused where it stands, and not when the text is put together. So is a sum of structs.

use crate::lowering::Lowering;
use crate::syntax::unwrapped;
use crate::types::Ty;
use crate::value::Value;
use crate::{Refusal, refuse};
use proc_macro2::{Ident, Span};
use quote::{ToTokens, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{BinOp, Expr, ExprBinary, ExprPath};

/// A variant without fields, by its form.
fn variant(expr: &Expr) -> Option<(&ExprPath, syn::Path)> {
    let Expr::Path(path) = unwrapped(expr) else { return None };
    let (owner, name) = crate::syntax::variant_of(&path.path)?;
    name.contains(char::is_lowercase).then_some((path, owner))
}

impl Lowering<'_> {
    /// What `e as usize` is about, of which rustc alone knows the type: of a variant its number, of anything else itself.
    pub fn number_of(&mut self, value: Value) -> Value {
        let Ty::Of(hole, steps) = self.resolve(&value.ty) else { return value };
        let mut value = self.named(value, "number");
        if value.text.contains(['$', ' ']) {
            let name = self.names.unique("number");
            self.lines.push(format!("{name} = {}", value.text));
            value.text = name;
        }
        let text = format!("$number {} {hole}{}$", value.text, crate::types::words(&steps));
        Value { text, ..value }
    }

    /// `e == Kind::Upwind` and `!=` as a `match`; nothing if it is none.
    pub fn as_match(&mut self, binary: &ExprBinary) -> Result<Option<Expr>, Refusal> {
        let equal = match &binary.op {
            BinOp::Eq(_) => true,
            BinOp::Ne(_) => false,
            _ => return Ok(None),
        };
        let (other, (path, owner)) = match (variant(&binary.left), variant(&binary.right)) {
            (_, Some(right)) => (&binary.left, right),
            (Some(left), None) => (&binary.right, left),
            (None, None) => return Ok(None),
        };
        let owner = self.instance(&owner)?;
        if self.mentions_type(&quote!(#owner)) {
            return refuse(&binary.op, "write this as `matches!(kind, Kind::Upwind)`");
        }
        // This is an error of rustc where `PartialEq` is not derived.
        self.parts.items.push(quote_spanned! {path.span()=>
            const _: () = {
                const __JUT_VARIANT: #owner = #path;
                #[allow(dead_code)]
                fn __jut_is(value: &#owner) -> bool {
                    ::core::matches!(value, &__JUT_VARIANT)
                }
            };
        });
        Ok(Some(match equal {
            true => syn::parse_quote!(match #other { #path => true, _ => false }),
            false => syn::parse_quote!(match #other { #path => false, _ => true }),
        }))
    }

    /// What is added up, is numbers: rustc looks at it where nothing else says so.
    pub fn summed(&mut self, ty: &Ty, span: Span) {
        if self.may_be_struct(ty) {
            self.has_rustc_look("summed", ty, span);
        }
    }

    /// What is compared, is numbers or truth values: rustc looks at it where nothing else says so.
    pub fn compared(&mut self, left: &Ty, right: &Ty, span: Span) {
        if self.may_be_struct(left) && self.may_be_struct(right) {
            self.has_rustc_look("compared", left, span);
        }
    }

    /// What a call gives is an element of a list, and so has no list of another length than the next one: rustc looks at it.
    pub fn stands_in_a_list(&mut self, element: &syn::Expr, ty: &Ty) {
        let ty = self.resolve(ty);
        if matches!(&ty, Ty::Of(_, steps) if steps.is_empty()) && self.is_user_call(element) {
            self.has_rustc_look("gathered", &ty, called(element));
        }
    }

    /// The same of what `CHAIN.map(f).collect()` makes of calls.
    pub fn collected_of_calls(&mut self, end: &syn::ExprMethodCall, ty: &Ty) {
        let syn::Expr::MethodCall(map) = crate::syntax::unwrapped(&end.receiver) else { return };
        let given = map.args.first().filter(|_| map.method == "map").map(crate::syntax::unwrapped);
        let mut last = match given {
            Some(syn::Expr::Closure(closure)) => &*closure.body,
            Some(name @ syn::Expr::Path(_)) => {
                if matches!(self.resolve(ty), Ty::Of(_, steps) if steps.is_empty()) {
                    self.has_rustc_look("gathered", ty, name.span());
                }
                return;
            }
            _ => return,
        };
        while let syn::Expr::Block(block) = crate::syntax::unwrapped(last) {
            let Some(syn::Stmt::Expr(own, None)) = block.block.stmts.last() else { return };
            last = own;
        }
        self.stands_in_a_list(last, ty);
    }

    /// What a method of an `Option` is called on is one: rustc looks at it where nothing else says so.
    pub fn taken_for_option(&mut self, ty: &Ty, span: Span) {
        if self.may_be_struct(ty) {
            self.has_rustc_look("taken_for_option", ty, span);
        }
    }

    /// Has rustc look at a type, by a function of that name whose bound says what it has to be; not at one that has no name here. Gives whether it does.
    pub fn has_rustc_look(&mut self, by: &str, ty: &Ty, span: Span) -> bool {
        let Some(ty) = self.type_by(ty, true) else { return false };
        let ty = crate::syntax::spanned_like(ty, span);
        let by = Ident::new(by, span);
        self.parts.items.push(quote_spanned!(span=> ::jut::rust::#by(#ty);));
        true
    }

    /// `==` and `!=` of tuples, `(i, j) != (0, 0)`, and of `Option`s, `wet == Some(i)`: by their parts; nothing of anything else.
    pub fn equal_parts(
        &mut self,
        op: &str,
        left: &Value,
        right: &Value,
        at: &impl ToTokens,
        span: Span,
    ) -> Result<Option<Value>, Refusal> {
        if !matches!(op, "==" | "!=") {
            return Ok(None);
        }
        let equal = match (self.resolve(&left.ty), self.resolve(&right.ty)) {
            (Ty::Tuple(a), Ty::Tuple(b)) if a.len() == b.len() => {
                let left = self.named(left.clone(), "left");
                let right = self.named(right.clone(), "right");
                let mut all = Vec::new();
                for k in 0..a.len() {
                    let (a, b) = (self.component(&left, k), self.component(&right, k));
                    all.push(self.operation("==", a, b, at, span)?.within(3));
                }
                all.join(" && ")
            }
            (a @ (Ty::Option(_) | Ty::Of(..)), b @ (Ty::Option(_) | Ty::Of(..)))
                if [&a, &b].iter().any(|ty| matches!(ty, Ty::Option(_))) =>
            {
                let none = |ty: &Ty| matches!(ty, Ty::Option(inner) if **inner == Ty::Never);
                let part = |this: &mut Self, value: &Value| {
                    let pair = this.as_pair(value.clone());
                    let pair = this.named(pair, "option");
                    this.option_parts(&pair)
                };
                match (none(&a), none(&b)) {
                    (true, true) => "true".to_string(),
                    (false, true) => format!("!{}", part(self, left).0.text),
                    (true, false) => format!("!{}", part(self, right).0.text),
                    (false, false) => {
                        let (there, a) = part(self, left);
                        let (also, b) = part(self, right);
                        let same = self.operation("==", a, b, at, span)?;
                        // What is in a `None` is any value.
                        format!(
                            "({0} == {1}) && (!{0} || {2})",
                            there.text,
                            also.text,
                            same.within(2)
                        )
                    }
                }
            }
            _ => return Ok(None),
        };
        let text = if op == "==" { format!("({equal})") } else { format!("!({equal})") };
        Ok(Some(Value { stable: false, ..Value::new(text, Ty::Bool, 6, &[left, right]) }))
    }
}

/// The place of the name in a call.
fn called(expr: &syn::Expr) -> Span {
    match crate::syntax::unwrapped(expr) {
        syn::Expr::MethodCall(call) => call.method.span(),
        syn::Expr::Call(call) => match crate::syntax::unwrapped(&call.func) {
            syn::Expr::Path(path) => {
                path.path.segments.last().map_or_else(|| path.span(), |last| last.ident.span())
            }
            func => func.span(),
        },
        other => other.span(),
    }
}

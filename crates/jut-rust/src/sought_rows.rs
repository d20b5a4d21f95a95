//! Searches that give a row of a list of lists, said as the row at the place that is found:
//!
//! | | is |
//! |---|---|
//! | `rows.iter().find(f)` | `rows.get(rows.iter().position(f).unwrap_or(rows.len()))` |
//! | `rows.iter().max_by(f)`, `min_by` | the same with the number that `(0..rows.len()).max_by(..)` gives, which looks at the rows |
//!
//! A loop that keeps the best row would need a variable of its length. Requires: the list is a place, of which the elements are lists, or may be, since
//! it is a constant. Ensures: the test is asked of the same rows in the same order.

use crate::lowering::Lowering;
use crate::syntax::unwrapped;
use crate::types::{Extent, Ty};
use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::{Expr, ExprMethodCall, Pat};

impl Lowering<'_> {
    /// Such a search said by a place; nothing if it is another one.
    pub fn row_by_place(&mut self, end: &ExprMethodCall) -> Option<Expr> {
        let name = end.method.to_string();
        if !matches!(name.as_str(), "find" | "max_by" | "min_by") || end.args.len() != 1 {
            return None;
        }
        let Expr::MethodCall(iterator) = unwrapped(&end.receiver) else { return None };
        let list = &*iterator.receiver;
        let goes = ["iter", "into_iter"].iter().any(|goes| iterator.method == goes);
        if !goes || !iterator.args.is_empty() || !self.has_lists(list) {
            return None;
        }
        let argument = end.args.first()?;
        // A constant is a list of what rustc knows; a part of it is a list for certain.
        let whole: Expr = match self.lookup_list(list) {
            true => syn::parse_quote!(#list),
            false => syn::parse_quote!(&#list[..]),
        };
        if name == "find" {
            return Some(syn::parse_quote!({
                let __jut_rows = #whole;
                __jut_rows.get(#list.iter().position(#argument).unwrap_or(#list.len()))
            }));
        }
        let Expr::Closure(order) = unwrapped(argument) else { return None };
        let inputs: Vec<&Ident> = order.inputs.iter().map(named).collect::<Option<_>>()?;
        let [a, b]: [&Ident; 2] = inputs.try_into().ok()?;
        let (body, method) = (order.body.to_token_stream(), &end.method);
        let body = put(body, a, &quote!((#list[__jut_a])));
        let body: Expr = syn::parse2(put(body, b, &quote!((#list[__jut_b])))).ok()?;
        Some(syn::parse_quote!({
            let __jut_rows = #whole;
            __jut_rows.get(
                (0..#list.len())
                    .#method(|&__jut_a, &__jut_b| #body)
                    .unwrap_or(#list.len())
            )
        }))
    }

    /// Whether a list is one for certain.
    fn lookup_list(&mut self, list: &Expr) -> bool {
        match unwrapped(list) {
            Expr::Path(path) => {
                path.path.get_ident().is_some_and(|name| self.lookup(&name.to_string()).is_some())
            }
            _ => true,
        }
    }

    /// Whether an expression is a place whose elements are lists, or a constant.
    fn has_lists(&mut self, list: &Expr) -> bool {
        match unwrapped(list) {
            Expr::Path(path) => match path.path.get_ident() {
                Some(name) if let Some(local) = self.lookup(&name.to_string()) => {
                    let ty = local.ty.clone();
                    self.elements_are_lists(&ty)
                }
                _ => {
                    let last = path.path.segments.last();
                    last.is_some_and(|last| crate::syntax::is_constant(&last.ident))
                }
            },
            Expr::Field(_) => match self.nested(|this| this.expression(list)) {
                Ok((_, value)) => self.elements_are_lists(&value.ty),
                Err(_) => false,
            },
            _ => false,
        }
    }

    fn elements_are_lists(&self, ty: &Ty) -> bool {
        match self.resolve(ty) {
            Ty::Array(row, _) => {
                matches!(self.resolve(&row), Ty::Array(_, Extent::Slice | Extent::Vec))
                    || self.is_row(&row)
            }
            _ => false,
        }
    }
}

/// The name that a pattern is, but for references.
fn named(pattern: &Pat) -> Option<&Ident> {
    match pattern {
        Pat::Ident(ident) if ident.subpat.is_none() => Some(&ident.ident),
        Pat::Reference(inner) => named(&inner.pat),
        Pat::Paren(inner) => named(&inner.pat),
        _ => None,
    }
}

/// Tokens with others in the place of a name. Where the name is declared anew nothing can be read of what is left.
fn put(tokens: TokenStream, name: &Ident, other: &TokenStream) -> TokenStream {
    let mut behind_dot = false;
    let mut all = TokenStream::new();
    for token in tokens {
        let dot = matches!(&token, TokenTree::Punct(punct) if punct.as_char() == '.');
        match token {
            TokenTree::Ident(ident) if ident == *name && !behind_dot => all.extend(other.clone()),
            TokenTree::Group(group) => {
                let mut within =
                    proc_macro2::Group::new(group.delimiter(), put(group.stream(), name, other));
                within.set_span(group.span());
                all.extend([TokenTree::Group(within)]);
            }
            token => all.extend([token]),
        }
        behind_dot = dot;
    }
    all
}

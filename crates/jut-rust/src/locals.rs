//! What stands in a function beside its statements: a `let` that is said by several statements, or by another one, and types.
//!
//! | | is |
//! |---|---|
//! | `let (a, b) = (&x[i], &mut y[0]);` | `let a = &x[i]; let b = &mut y[0];` |
//! | `let (Some(a), Ok(b)) = (x, y) else { panic!(..) };` | `let Some(a) = x else { panic!(..) }; let Ok(b) = y else { panic!(..) };` |
//! | `let old = std::mem::take(&mut list);` of a list that changes its length | `let old = list.clone(); list.clear();` |
//! | `let rows: [Vec<f64>; 2] = [vec![a], vec![b, c]];` | `let rows: Vec<Vec<f64>> = ..;` |

use crate::lowering::Lowering;
use crate::syntax::{bound, has_word, unwrapped};
use crate::{Refusal, refuse};
use proc_macro2::TokenStream;
use syn::spanned::Spanned;
use syn::{Expr, Item, Local, Pat, Stmt, Type};

impl Lowering<'_> {
    /// The statements that a `let` and those behind it are; nothing of one that is what it says.
    pub fn restated_local(&mut self, local: &Local, rest: &[Stmt]) -> Option<Vec<Stmt>> {
        let first = separate(local)
            .or_else(|| self.taken(local))
            .or_else(|| list_of_rows(local))
            .or_else(|| self.defaulted_list(local))
            .or_else(|| self.sought_element(local));
        if let Some(mut chain) = first {
            chain.extend(rest.iter().cloned());
            return Some(chain);
        }
        self.stepped_iterator(local, rest).or_else(|| self.kept_iterator(local, rest))
    }

    /// The statements of a `let` of several values, of which each fails where its pattern does not match.
    pub fn failing_apart(&self, local: &Local, rest: &[Stmt]) -> Option<Vec<Stmt>> {
        let mut chain = apart(local).filter(|_| self.fails())?;
        chain.extend(rest.iter().cloned());
        Some(chain)
    }

    /// What a list that changes its length was, which has no elements then.
    fn taken(&self, local: &Local) -> Option<Vec<Stmt>> {
        let init = local.init.as_ref().filter(|init| init.diverge.is_none())?;
        let Expr::Call(call) = unwrapped(&init.expr) else { return None };
        let (Expr::Path(name), None) = crate::restated::replaced(call)? else { return None };
        let known = self.lookup(&name.path.get_ident()?.to_string())?;
        known.stack.as_ref()?;
        let pattern = &local.pat;
        Some(vec![
            syn::parse_quote!(let #pattern = #name.clone();),
            syn::parse_quote!(#name.clear();),
        ])
    }
}

/// Names for several places, one after the other: no value is computed with a name that is bound before it.
fn separate(local: &Local) -> Option<Vec<Stmt>> {
    let init = local.init.as_ref().filter(|init| init.diverge.is_none())?;
    let (Pat::Tuple(names), Expr::Tuple(values)) = (&local.pat, unwrapped(&init.expr)) else {
        return None;
    };
    let changes = |value: &Expr| matches!(value, Expr::Reference(r) if r.mutability.is_some());
    if names.elems.len() != values.elems.len() || !values.elems.iter().any(changes) {
        return None;
    }
    one_by_one(names, values, |name, value| syn::parse_quote!(let #name = #value;))
}

/// A statement for each pattern and its value; nothing where a value names what is bound before it.
fn one_by_one(
    patterns: &syn::PatTuple,
    values: &syn::ExprTuple,
    each: impl Fn(&Pat, &Expr) -> Stmt,
) -> Option<Vec<Stmt>> {
    let mut before: Vec<String> = Vec::new();
    let pairs = patterns.elems.iter().zip(&values.elems);
    pairs
        .map(|(pattern, value)| {
            if before.iter().any(|name| has_word(value, name)) {
                return None;
            }
            before.extend(bound(pattern));
            Some(each(pattern, value))
        })
        .collect()
}

/// `let (Some(a), Ok(b)) = (x, y) else { panic!(..) };` one after the other: where nothing but failure follows, it is the same.
fn apart(local: &Local) -> Option<Vec<Stmt>> {
    let init = local.init.as_ref()?;
    let (_, other) = init.diverge.as_ref()?;
    let (Pat::Tuple(patterns), Expr::Tuple(values)) = (&local.pat, unwrapped(&init.expr)) else {
        return None;
    };
    if only_panics(&crate::syntax::block_of(other)).is_none()
        || patterns.elems.len() != values.elems.len()
    {
        return None;
    }
    one_by_one(patterns, values, |pattern, value| match pattern {
        Pat::Ident(_) | Pat::Wild(_) => syn::parse_quote!(let #pattern = #value;),
        _ => syn::parse_quote!(let #pattern = #value else #other;),
    })
}

/// A struct or an enum within a function, which derives `jut::Data`.
pub(crate) fn data(item: &Item) -> Result<TokenStream, Refusal> {
    let attributes = match item {
        Item::Struct(own) => &own.attrs,
        Item::Enum(own) => &own.attrs,
        _ => &Vec::new(),
    };
    match attributes.iter().any(|own| own.path().is_ident("derive") && has_word(own, "Data")) {
        true => Ok(quote::quote!(#[allow(unused_imports, dead_code)] #item)),
        false => refuse(item, "write `#[derive(jut::Data)]` before a type within the function"),
    }
}

/// Where a block panics that does nothing else, and with which text.
pub(crate) fn only_panics(block: &[Stmt]) -> Option<(proc_macro2::Span, String)> {
    let call = match block {
        [Stmt::Expr(Expr::Macro(call), _)] => &call.mac,
        [Stmt::Macro(call)] => &call.mac,
        _ => return None,
    };
    let text = syn::parse2::<syn::LitStr>(call.tokens.clone()).ok()?;
    let panics = crate::syntax::panics(call) && call.path.is_ident("panic");
    panics.then(|| (call.path.span(), text.value()))
}

/// Rows that are written, as a list of lists.
fn list_of_rows(local: &Local) -> Option<Vec<Stmt>> {
    let Pat::Type(typed) = &local.pat else { return None };
    let Type::Array(array) = &*typed.ty else { return None };
    let init = local.init.as_ref()?;
    let rows = crate::types::argument_of(&array.elem, "Vec").is_some();
    if !rows || !matches!(unwrapped(&init.expr), Expr::Array(_)) {
        return None;
    }
    let (mut own, row) = (local.clone(), &array.elem);
    if let Pat::Type(typed) = &mut own.pat {
        *typed.ty = syn::parse_quote!(Vec<#row>);
    }
    Some(vec![Stmt::Local(own)])
}

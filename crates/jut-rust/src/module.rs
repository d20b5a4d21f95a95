//! The attribute before an inline module: it is that of all its functions, `impl` blocks and traits, also in modules within.
//!
//! ```text
//! #[differentiable] mod m { fn f(..) {..}  impl P {..} }     mod m { #[differentiable] fn f(..) {..}  #[differentiable] impl P {..} }
//! ```
//!
//! What has an attribute of its own, `#[differentiable(wrt(x))]`, keeps that, and what is there for tests has none. An `impl` block is
//! one of functions or of an annotated trait; that of a trait of std is left as it is.
//!
//! Names that the module gives to lists, `type Rows = Vec<Vec<f64>>;`, are written out in its items: that rows may have lengths of their own
//! is known of a type that is written as a list of lists.

use crate::syntax::spanned_like;
use proc_macro2::{Group, Ident, Spacing, TokenStream, TokenTree};
use quote::quote;
use syn::{Attribute, Item, ItemMod, Type};

/// Whether the attribute of a module is one of this item.
pub(crate) fn is_taken(item: &Item) -> bool {
    let plain = |attributes: &[Attribute]| {
        !attributes.iter().any(|a| {
            let named = |name: &str| a.path().segments.last().is_some_and(|s| s.ident == name);
            let test = named("cfg") && a.meta.require_list().is_ok_and(|l| is_test(&l.tokens));
            named("differentiable") || named("test") || test
        })
    };
    match item {
        Item::Fn(function) => plain(&function.attrs),
        Item::Trait(block) => plain(&block.attrs),
        Item::Mod(inner) => plain(&inner.attrs) && inner.content.is_some(),
        Item::Impl(block) => {
            let of_std = block.trait_.as_ref().is_some_and(|(_, path, _)| {
                let last = path.segments.last().map(|s| s.ident.to_string()).unwrap_or_default();
                path.segments.len() > 1 && path.segments[0].ident == "std"
                    || matches!(
                        last.as_str(),
                        "Clone"
                            | "Copy"
                            | "Debug"
                            | "Default"
                            | "Display"
                            | "Drop"
                            | "From"
                            | "PartialEq"
                    )
            });
            plain(&block.attrs) && !of_std
        }
        _ => false,
    }
}

fn is_test(tokens: &TokenStream) -> bool {
    tokens.to_string() == "test"
}

/// The module with the derivatives of its functions: `differentiable` is the attribute of an item.
pub(crate) fn of_module(
    module: &ItemMod,
    differentiable: &dyn Fn(TokenStream) -> TokenStream,
) -> TokenStream {
    let ItemMod { attrs, vis, unsafety, mod_token, ident, content, semi } = module;
    let Some((_, items)) = content else {
        let said = "a module in a file of its own is not read here: write the attribute before its functions";
        let error = syn::Error::new(ident.span(), said).to_compile_error();
        return quote!(#(#attrs)* #vis #unsafety #mod_token #ident #semi #error);
    };
    let names = names_of_lists(items);
    let each = items.iter().map(|item| {
        let own = match item {
            // Its name may stand nowhere then.
            Item::Type(own) if names.iter().any(|(name, _)| *name == own.ident) => {
                quote!(#[allow(dead_code)] #own)
            }
            item if may_name(item, &names) => written_out(quote!(#item), &names),
            item => quote!(#item),
        };
        match is_taken(item) {
            true => differentiable(own),
            false => own,
        }
    });
    quote!(#(#attrs)* #vis #unsafety #mod_token #ident { #(#each)* })
}

/// What the names of lists stand for, `type Rows = Vec<Row>;`, also by other such names.
fn names_of_lists(items: &[Item]) -> Vec<(Ident, Type)> {
    let mut all: Vec<(Ident, Type)> = items
        .iter()
        .filter_map(|item| match item {
            Item::Type(own) if own.generics.params.is_empty() => {
                crate::types::argument_of(&own.ty, "Vec")?;
                Some((own.ident.clone(), (*own.ty).clone()))
            }
            _ => None,
        })
        .collect();
    // Each round goes one name further.
    for _ in 1..all.len() {
        let known = all.clone();
        for (_, ty) in &mut all {
            if let Ok(further) = syn::parse2(written_out(quote!(#ty), &known)) {
                *ty = further;
            }
        }
    }
    all
}

/// Tokens in which types stand in the place of such names.
fn written_out(tokens: TokenStream, names: &[(Ident, Type)]) -> TokenStream {
    let (mut all, mut behind_colon) = (Vec::new(), false);
    let mut rest = tokens.into_iter().peekable();
    while let Some(token) = rest.next() {
        let colon = |next: &TokenTree| matches!(next, TokenTree::Punct(p) if p.as_char() == ':' && p.spacing() == Spacing::Joint);
        let whole = !behind_colon && !rest.peek().is_some_and(colon);
        behind_colon = matches!(&token, TokenTree::Punct(p) if p.as_char() == ':')
            && matches!(all.last(), Some(before) if colon(before));
        match token {
            TokenTree::Group(group) => {
                let inner = written_out(group.stream(), names);
                let mut own = Group::new(group.delimiter(), inner);
                own.set_span(group.span());
                all.push(TokenTree::Group(own));
            }
            TokenTree::Ident(ident) => {
                match names.iter().find(|(name, _)| whole && *name == ident) {
                    Some((_, ty)) => all.extend(spanned_like(quote!(#ty), ident.span())),
                    None => all.push(TokenTree::Ident(ident)),
                }
            }
            other => all.push(other),
        }
    }
    all.into_iter().collect()
}

/// Whether an item may use such a name for what the module means by it: one that is declared in it, and those of another module, mean something else.
fn may_name(item: &Item, names: &[(Ident, Type)]) -> bool {
    let tokens = quote!(#item).to_string();
    !names.is_empty()
        && !matches!(item, Item::Mod(_) | Item::Type(_) | Item::Use(_) | Item::Macro(_))
        && names.iter().all(|(name, _)| !tokens.contains(&format!("type {name} ")))
}

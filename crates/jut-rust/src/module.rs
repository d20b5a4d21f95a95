//! The attribute before an inline module: it is that of all its functions, `impl` blocks and traits, also in modules within.
//!
//! ```text
//! #[differentiable] mod m { fn f(..) {..}  impl P {..} }     mod m { #[differentiable] fn f(..) {..}  #[differentiable] impl P {..} }
//! ```
//!
//! What has an attribute of its own, `#[differentiable(wrt(x))]`, keeps that, and what is there for tests has none. An `impl` block is
//! one of functions or of an annotated trait; that of a trait of std is left as it is.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Attribute, Item, ItemMod};

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
    let each = items.iter().map(|item| match is_taken(item) {
        true => differentiable(quote!(#item)),
        false => quote!(#item),
    });
    quote!(#(#attrs)* #vis #unsafety #mod_token #ident { #(#each)* })
}

//! The attribute: what of functions, `impl` blocks, traits and modules stands beside them.

use crate::expand::{Beside, read_beside};
use crate::literals::with_types;
use crate::signature::signature;
use crate::{implementation, module, traits};
use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream};
use syn::{ItemFn, Token};

/// What stands in the brackets of the attribute.
#[derive(Default)]
struct Arguments {
    name: Option<Ident>,
    /// The parameters that derivatives are by, if they are named.
    wrt: Option<Vec<Ident>>,
}

impl Parse for Arguments {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let mut arguments = Arguments::default();
        while !input.is_empty() {
            let key: Ident = input.parse()?;
            if key == "name" {
                input.parse::<Token![=]>()?;
                arguments.name = Some(input.parse()?);
            } else if key == "wrt" {
                let list;
                syn::parenthesized!(list in input);
                let names = list.parse_terminated(Ident::parse_any, Token![,])?;
                arguments.wrt = Some(names.into_iter().collect());
            } else {
                let said = "`name = ..` and `wrt(..)` are what can be said here";
                return Err(syn::Error::new(key.span(), said));
            }
            if !input.is_empty() {
                input.parse::<Token![,]>()?;
            }
        }
        Ok(arguments)
    }
}

/// The parameters that the attribute among these names.
pub(crate) fn wrt(attributes: &[syn::Attribute]) -> Option<Vec<Ident>> {
    let own =
        |a: &&syn::Attribute| a.path().segments.last().is_some_and(|s| s.ident == "differentiable");
    let list = attributes.iter().find(own)?.meta.require_list().ok()?;
    list.parse_args::<Arguments>().ok()?.wrt
}

/// The attribute: the function as it is, and beside it its derivatives; or what cannot be translated.
pub fn differentiable(arguments: TokenStream, item: TokenStream) -> TokenStream {
    let arguments: Arguments = match syn::parse2(arguments) {
        Ok(arguments) => arguments,
        Err(error) => {
            let error = error.to_compile_error();
            return quote!(#item #error);
        }
    };
    if let Ok(block) = syn::parse2::<syn::ItemImpl>(item.clone()) {
        return implementation::methods_of(&block);
    }
    if let Ok(block) = syn::parse2::<syn::ItemTrait>(item.clone()) {
        return traits::trait_of(&block);
    }
    if let Ok(module) = syn::parse2::<syn::ItemMod>(item.clone()) {
        return module::of_module(&module, &|item| differentiable(TokenStream::new(), item));
    }
    let function: ItemFn = match syn::parse2(item.clone()) {
        Ok(function) => function,
        Err(error) => {
            // What is no Rust at all, rustc says itself; what is no function, it does not.
            let whole = syn::parse2::<syn::Item>(item.clone()).is_ok();
            let at = if whole { Span::call_site() } else { error.span() };
            let said = match whole {
                true => "only functions, `impl` blocks, traits and modules are differentiable"
                    .to_string(),
                false => error.to_string(),
            };
            let error = syn::Error::new(at, said).to_compile_error();
            return quote!(#item #error);
        }
    };
    let name = arguments.name.unwrap_or_else(|| function.sig.ident.clone());
    let read = signature(&function, None);
    let read = read.and_then(|signature| match &arguments.wrt {
        Some(names) => signature.by(names),
        None => Ok(signature),
    });
    let Beside { items: twin, integers, .. } = read_beside(&function, &name, read, None, None);
    let function = with_types(quote!(#function), &integers);
    quote!(#function #twin)
}

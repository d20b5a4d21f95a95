//! A trait: beside each method the function that finds its text.

use crate::generic::{link_name, provided_name};
use crate::literals::with_types;
use crate::syntax::named_self;
use crate::{Refusal, spanned};
use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::{ItemFn, ItemTrait, ReturnType, TraitItem, Type};

/// A trait: beside each method the function that finds its text.
pub(crate) fn trait_of(block: &ItemTrait) -> TokenStream {
    match items(block) {
        Ok(all) => all,
        Err(refusal) => {
            let error = refusal.error();
            quote!(#block #error)
        }
    }
}

/// What a provided method gives, if it is found by the type that it is called of: one with parameters of its own is not, nor one whose text
/// may end the whole call.
fn found_by_type(sig: &syn::Signature) -> Option<TokenStream> {
    sig.receiver()?;
    if !sig.generics.params.is_empty() {
        return None;
    }
    match &sig.output {
        ReturnType::Default => Some(quote!(())),
        ReturnType::Type(_, ty)
            if crate::types::success(ty).is_none() && crate::types::list_or_none(ty).is_none() =>
        {
            crate::signature::owned(ty).ok().map(|ty| quote!(#ty))
        }
        ReturnType::Type(..) => None,
    }
}

fn items(block: &ItemTrait) -> Result<TokenStream, Refusal> {
    if !block.generics.params.is_empty() {
        return Err(spanned(
            &block.generics,
            "a generic trait is not built: write it without parameters",
        ));
    }
    let (mut own, mut beside) = (block.clone(), TokenStream::new());
    let mut integers = Vec::new();
    let of = &block.ident;
    for item in &block.items {
        let TraitItem::Fn(method) = item else { continue };
        let plain = method.sig.ident.to_string();
        let plain = plain.trim_start_matches("r#");
        if crate::methods::is_known(plain) {
            let said = "numbers have a method of this name: give this one another name";
            return Err(spanned(&method.sig.ident, said));
        }
        let link = link_name(plain);
        let own_type = format_ident!("Own");
        let Some(body) = &method.default else {
            own.items.push(syn::parse_quote! {
                #[doc(hidden)]
                fn #link(linker: &mut ::jut::rust::Linker) -> ::jut::rust::Filled
                where
                    Self: ::core::marker::Sized,
                {
                    linker.missing(#plain, ::core::any::type_name::<Self>())
                }
            });
            continue;
        };
        let name = format_ident!("{}_{}", of, plain, span = method.sig.ident.span());
        own.items.push(syn::parse_quote! {
            #[doc(hidden)]
            fn #link(linker: &mut ::jut::rust::Linker) -> ::jut::rust::Filled
            where
                Self: ::core::marker::Sized + ::jut::rust::Data + 'static,
            {
                linker.called::<#name<Self>>()
            }
        });
        if let Some(gives) = found_by_type(&method.sig) {
            let found = provided_name(plain);
            own.items.push(syn::parse_quote! {
                #[doc(hidden)]
                fn #found(&self) -> ::jut::rust::Provided<#name<Self>, #gives>
                where
                    Self: ::core::marker::Sized + ::jut::rust::Data + 'static,
                {
                    ::core::unreachable!()
                }
            });
            beside.extend(quote! {
                #[automatically_derived]
                impl<#own_type: #of + ::jut::rust::Data + 'static> ::jut::rust::OfTrait for #name<#own_type> {
                    fn of_trait(linker: &mut ::jut::rust::Linker) -> ::jut::rust::Filled {
                        #own_type::#link(linker)
                    }
                }
            });
        }
        let mut sig = method.sig.clone();
        sig.generics.params.insert(0, syn::parse_quote!(#own_type: #of));
        let (vis, attrs) = (&block.vis, method.attrs.iter().filter(|a| a.path().is_ident("cfg")));
        let owner: Type = syn::parse_quote!(#own_type);
        let tokens = named_self(quote!(#(#attrs)* #vis #sig #body), &owner);
        let function: ItemFn =
            syn::parse2(tokens).map_err(|e| Refusal::new(Some(e.span()), e.to_string()))?;
        let twin = crate::expand::beside(&function, &name, Some(&owner), None);
        beside.extend(twin.items);
        integers.extend(twin.integers);
    }
    let own = with_types(quote!(#own), &integers);
    Ok(quote!(#own #beside))
}

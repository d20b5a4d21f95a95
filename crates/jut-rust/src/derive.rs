//! `#[derive(jut::Data)]`: the items beside a struct, an enum, or one that holds itself.

use crate::{Refusal, enumeration, recursive, spanned};
use proc_macro2::TokenStream;
use quote::quote;

/// The items beside a struct, or what is wrong with it.
pub fn data(item: TokenStream) -> TokenStream {
    match syn::parse2::<syn::DeriveInput>(item) {
        Ok(input) => items(&input).unwrap_or_else(|refusal| {
            let (error, stub) = (refusal.error(), stub(&input));
            quote!(#error #stub)
        }),
        Err(error) => error.to_compile_error(),
    }
}

fn items(input: &syn::DeriveInput) -> Result<TokenStream, Refusal> {
    if recursive::is_recursive(input) {
        return recursive::items(input);
    }
    match &input.data {
        syn::Data::Struct(data) => crate::data::items(input, data),
        syn::Data::Enum(data) => enumeration::items(input, data),
        syn::Data::Union(data) => {
            Err(spanned(&data.union_token, "a union is not built: write a struct"))
        }
    }
}

/// What stands beside a type that is refused, so that functions which take it say nothing more of that: nothing is known of its fields.
fn stub(input: &syn::DeriveInput) -> Option<TokenStream> {
    let own = &input.ident;
    input.generics.params.is_empty().then(|| {
        quote! {
            impl ::jut::rust::Data for #own {
                const TYPE: ::jut::rust::Type = ::jut::rust::Type::Unit;
                type Gradient = ();
            }
            impl<const KEY: u64> ::jut::rust::Field<KEY, ::jut::rust::Nothing> for #own {}
            impl ::jut::rust::Argument for #own {
                fn hold(&self) -> ::jut::Result<::jut::rust::Held<'_>> {
                    ::jut::rust::Argument::hold(&())
                }
                fn words<'a>(&'a self, _: &mut ::jut::rust::Words<'_, '_, 'a>) {}
            }
            impl ::jut::rust::Outcome for #own {
                fn take(_: ::jut::Value) -> ::core::option::Option<Self> {
                    ::core::option::Option::None
                }
            }
        }
    })
}

//! `#[derive(jut::Data)]`: the items beside a struct, an enum, or one that holds itself.

use crate::{Refusal, enumeration, recursive, spanned};
use proc_macro2::TokenStream;

/// The items beside a struct, or what is wrong with it.
pub fn data(item: TokenStream) -> TokenStream {
    match syn::parse2::<syn::DeriveInput>(item) {
        Ok(input) => items(&input).unwrap_or_else(|refusal| refusal.error()),
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

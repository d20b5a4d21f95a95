//! The attribute of jut, as a procedural macro. Use it as `jut::differentiable`; what it does is in
//! the crate `jut-rust`.

use proc_macro::TokenStream;

/// Derivatives of an ordinary Rust function; see the module `jut::rust`.
#[proc_macro_attribute]
pub fn differentiable(arguments: TokenStream, item: TokenStream) -> TokenStream {
    jut_rust::differentiable(arguments.into(), item.into()).into()
}

/// Makes a struct or enum of numbers, arrays, `Vec`s and such structs a type of functions with the attribute
/// [`macro@differentiable`]; see the module `jut::rust`.
#[proc_macro_derive(Data, attributes(data))]
pub fn data(item: TokenStream) -> TokenStream {
    jut_rust::data(item.into()).into()
}

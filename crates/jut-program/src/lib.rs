//! The macro `program!` of jut: a program of the language becomes typed functions of Rust, and is checked when the
//! crate is compiled. Use it as `jut::program`; the module `jut::rust` says what it writes.
//!
//! | module | what it does |
//! |---|---|
//! | `text` | tokens as text, each where it stands in the Rust file |
//! | `check` | the program of a text, or what is wrong with it |
//! | `types` | types of the language as types of Rust |
//! | `items` | what is written: a type for each definition, a struct for each record |

mod check;
mod items;
mod text;
mod types;

#[cfg(test)]
mod tests;

use check::Program;
use proc_macro2::{Literal, Span, TokenStream, TokenTree};
use quote::quote;
use std::path::PathBuf;

/// Typed functions from a program of the language; see the module `jut::rust`.
#[proc_macro]
pub fn program(input: proc_macro::TokenStream) -> proc_macro::TokenStream {
    let input = TokenStream::from(input);
    // Paths are those of the file that the macro stands in, as they are for `include_str!`.
    let place = Span::call_site().local_file();
    let directory = match place.as_ref().and_then(|file| file.parent()) {
        Some(directory) => directory.to_path_buf(),
        None => std::env::var("CARGO_MANIFEST_DIR").map(PathBuf::from).unwrap_or_default(),
    };
    expand(input, &directory).into()
}

/// What the macro writes, or errors at their places.
fn expand(input: TokenStream, directory: &std::path::Path) -> TokenStream {
    if let Some((literal, name)) = file_name(&input) {
        return match check::file(&directory.join(&name), &name) {
            Ok(program) => items::all(&program),
            Err(messages) => {
                let each = messages.iter().map(|m| error(literal.span(), literal.span(), &m.text));
                each.collect()
            }
        };
    }
    let laid = match text::lay_out(input) {
        Ok(laid) => laid,
        Err((span, message)) => return error(span, span, &message),
    };
    match check::text(&laid.text) {
        Ok(program) => items::all(&Program { text: Some(laid.text), ..program }),
        Err(messages) => messages
            .iter()
            .map(|m| {
                let (first, last) = laid.tokens(m.range.clone());
                error(first, last, &m.text)
            })
            .collect(),
    }
}

/// The name in `program!("name")`.
fn file_name(input: &TokenStream) -> Option<(Literal, String)> {
    let mut tokens = input.clone().into_iter();
    let Some(TokenTree::Literal(literal)) = tokens.next() else { return None };
    let name: syn::LitStr = syn::parse2(TokenTree::from(literal.clone()).into()).ok()?;
    let rest: Vec<String> = tokens.map(|t| t.to_string()).collect();
    matches!(&rest[..], [] | [_]).then_some(())?;
    rest.iter().all(|t| t == ",").then(|| (literal, name.value()))
}

/// An error of the compiler from one token to another.
fn error(first: Span, last: Span, message: &str) -> TokenStream {
    let at = |span| TokenTree::from(proc_macro2::Ident::new("at", span));
    let tokens: TokenStream = [at(first), at(last)].into_iter().collect();
    let error = syn::Error::new_spanned(quote!(#tokens), message).to_compile_error();
    quote!(#error)
}

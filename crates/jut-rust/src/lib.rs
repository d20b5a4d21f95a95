//! Ordinary Rust functions as jut text.
//!
//! [`lower`] translates the statements of one function to a *template*: text of jut with holes for all that has a name
//! outside of the function. Syntax is translated here, names are left to rustc: [`differentiable`], which is what the
//! attribute does, writes beside the function items that mention the user's own paths, and these fill the
//! holes when the program runs ([`expand`]).
//!
//! Nothing is guessed: what Rust and jut could mean differently is translated so that they mean the same,
//! or is an error at run time where the text cannot give Rust's value, or is refused here, at the
//! user's token, with what to write instead.
//!
//! | module | what it does |
//! |---|---|
//! | [`types`] | the types of the subset |
//! | [`names`] | one name for each binding |
//! | [`template`] | text with holes and places |
//! | `signature` | what a function takes and gives |
//! | `function` | a whole function: the passes over its body |
//! | `body` | statements; early `return`, `break`, `continue` |
//! | `early` | jumps out of values, `?` |
//! | `bindings` | `let`, and patterns that always fit |
//! | `loops` | `for`, `while`, `loop` |
//! | `expression`, `operators`, `calls`, `macros` | expressions |
//! | `inference`, `literals` | what is known of types; rustc is asked where nothing is |
//! | `grown`, `counted` | lists that grow |
//! | `stacked` | lists whose length changes in branches and loops |
//! | `elements`, `chains`, `staged` | chains of iterators |
//! | `kept` | iterators under a name |
//! | `rearranged` | lists that are sorted, filled, turned round |
//! | `relisted` | lists that become shorter; two lists of a chain |
//! | `restated` | what is said by other Rust, `matches!`, `contains` |
//! | `parted` | parts of lists that methods hand out |
//! | `options` | `Option` in a body |
//! | [`results`] | `Result`, and `?` on one |
//! | `enums` | variants of enums, patterns, `if let` |
//! | `overloaded` | operators of structs |
//! | `functions` | closures, and parameters that are functions |
//! | `matches` | `match`, and whether a pattern fits |
//! | `methods`, `numbers` | the methods of numbers |
//! | `generic` | functions of type parameters, traits |
//! | [`expand`], `module` | the items beside the function; the attribute of a module |
//! | `derivatives` | the functions among them that call derivatives |
//! | [`mod@file`] | a whole file, for those who want to see the text |
//! | [`data`], `enumeration`, `recursive` | the items beside a struct, beside an enum, beside one that holds itself |

mod bindings;
mod body;
mod calls;
mod chains;
mod counted;
pub mod data;
mod derivatives;
mod early;
mod elements;
mod enumeration;
mod enums;
pub mod expand;
mod expression;
pub mod file;
mod function;
mod functions;
mod generic;
mod grown;
mod inference;
mod kept;
mod literals;
mod loops;
mod macros;
mod matches;
mod methods;
mod module;
pub mod names;
mod numbers;
mod operators;
mod options;
mod overloaded;
mod parted;
mod rearranged;
mod recursive;
mod relisted;
mod restated;
mod results;
mod signature;
mod stacked;
mod staged;
pub mod template;
pub mod types;

pub use data::data;
pub use derivatives::{Given, methods};
pub use expand::differentiable;
pub use function::{Lowered, lower};
pub use results::Errors;
pub use signature::{Parameter, Signature, signature};

use proc_macro2::{Span, TokenStream};
use quote::ToTokens;
use syn::spanned::Spanned;

/// Something that cannot be translated: where, and what to write instead.
#[derive(Clone, Debug)]
pub struct Refusal {
    /// Where.
    pub span: Option<Span>,
    /// Why not, and what to do.
    pub message: String,
}

impl Refusal {
    /// As an error of the compiler.
    pub fn error(&self) -> TokenStream {
        syn::Error::new(self.span.unwrap_or_else(Span::call_site), &self.message).to_compile_error()
    }
}

/// A refusal at some tokens.
pub(crate) fn refuse<T>(at: &impl ToTokens, message: impl Into<String>) -> Result<T, Refusal> {
    // Of several tokens the place is the first to the last, which stable Rust has for errors only.
    Err(spanned(at, message))
}

/// See [`refuse`].
pub(crate) fn spanned(at: &impl ToTokens, message: impl Into<String>) -> Refusal {
    Refusal { span: Some(at.span()), message: message.into() }
}

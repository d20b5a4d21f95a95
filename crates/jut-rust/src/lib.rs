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
//! | | **the ground** |
//! | `syntax`, `iterators` | Rust's syntax as far as it needs no types |
//! | [`types`], [`names`] | the types of the subset; one name for each binding |
//! | [`template`] | text with holes and places |
//! | `parameters`, `signature` | what a function takes and gives |
//! | `value`, `lowering` | the text of an expression; the function that is being translated |
//! | | **expressions** |
//! | `expression`, `operators`, `calls`, `macros` | expressions |
//! | `called` | the text of a call |
//! | `overloaded`, `indexed`, `comparisons` | operators of structs, elements of own types; variants that are compared |
//! | `narrow`, `unsigned` | integers of few bits; operations of `u64` |
//! | `methods`, `numbers`, `numeric` | the methods of numbers; those of own types with such names |
//! | `functions`, `curried` | closures; those that closures give |
//! | `letters` | bytes as letters, said by other Rust |
//! | `bounded` | functions that traits give: of std to type parameters, and those that a trait provides |
//! | `inference`, `literals` | what is known of types; rustc is asked where nothing is |
//! | | **statements** |
//! | `body` | statements; early `return`, `break`, `continue` |
//! | `early` | jumps out of values, `?` |
//! | `bindings` | `let`, and patterns that always fit |
//! | `loops` | `for`, `while`, `loop` |
//! | `matches`, `enums` | `match`; variants of enums, patterns, `if let` |
//! | `cases` | arms of several cases, said by an arm for each |
//! | `searched`, `taken` | of what a `None` is one; what the statements behind a `let` say of a call |
//! | `options`, `results` | `Option` in a body; `Result`, and `?` on one |
//! | | **lists** |
//! | `elements`, `chains`, `staged` | chains of iterators |
//! | `ended` | ends of chains that are said by other Rust |
//! | `generated` | iterators that a closure makes, said by other Rust |
//! | `returned` | lists that are returned out of a loop, said by other Rust |
//! | `kept`, `stepped` | iterators under a name; those that are asked for one element after the other |
//! | `grown`, `counted` | lists that grow |
//! | `stacked` | lists whose length changes in branches and loops |
//! | `lengths` | lists that are as long as others: those that are assigned, and rows |
//! | `defaulted` | the list that an `Option` has, or another one |
//! | `outside` | whether a loop makes lists of one length |
//! | `uneven` | rows of different lengths, and the second text of a function that takes them |
//! | `ragged` | fields with such rows |
//! | `rearranged` | lists that are sorted, filled, turned round |
//! | `relisted` | lists that become shorter; two lists of a chain |
//! | `held` | lists in fields that change their length |
//! | `unjumped` | closures that are left before their end, said without jumps |
//! | `unqualified` | variants by bare names, said with their enums |
//! | `propagated` | errors that a `match` gives on |
//! | `halved` | searches by halves, said by other Rust |
//! | `changed` | parts of enums and options that an arm changes, said by other Rust |
//! | `restated`, `parted`, `chunked`, `sought` | what is said by other Rust: `matches!`, `contains`; parts of lists that methods hand out; loops over these; elements that a search refers to |
//! | | **items** |
//! | `function` | a whole function: the passes over its body |
//! | `attribute` | the attribute of a function, an `impl` block (`implementation`), a trait (`traits`), a module (`module`) |
//! | [`expand`], `generic` | the items beside a function, and beside one with type parameters |
//! | `derivatives` | the functions among them that call derivatives |
//! | `derive` | the items beside a struct ([`mod@data`]), an enum (`enumeration`), one that holds itself (`recursive`) |
//! | [`mod@file`] | a whole file, for those who want to see the text |
//!
//! Invariant: no two files import each other, and the ground knows nothing of the rest. What translates statements and
//! expressions, which contain each other, are methods of one type, in a file for each construct.

mod ambiguous;
mod attribute;
mod bindings;
mod body;
mod bounded;
mod called;
mod calls;
mod cases;
mod chains;
mod changed;
mod chunked;
mod comparisons;
mod counted;
mod curried;
pub mod data;
mod defaulted;
mod derivatives;
mod derive;
mod early;
mod elements;
mod ended;
mod enumeration;
mod enums;
pub mod expand;
mod expression;
pub mod file;
mod function;
mod functions;
mod generated;
mod generic;
mod grown;
mod halved;
mod held;
mod implementation;
mod indexed;
mod inference;
mod integers;
mod iterators;
mod kept;
mod lazily;
mod lengths;
mod letters;
mod libraries;
mod literals;
mod locals;
mod loops;
mod lowering;
mod macros;
mod matches;
mod methods;
mod module;
pub mod names;
mod narrow;
mod nones;
mod numbers;
mod numeric;
mod operators;
mod options;
mod orderings;
mod outside;
mod overloaded;
mod parameters;
mod parted;
mod pointers;
mod propagated;
mod ragged;
mod rearranged;
mod recursive;
mod relisted;
mod restated;
mod results;
mod returned;
mod rowwise;
mod searched;
mod signature;
mod sought;
mod sought_rows;
mod stacked;
mod staged;
mod stepped;
mod syntax;
mod tables;
mod taken;
pub mod template;
mod traits;
pub mod types;
mod uneven;
mod unjumped;
mod unqualified;
mod unsigned;
mod untold;
mod value;
mod visited;

pub use attribute::differentiable;
pub use derivatives::{Given, methods};
pub use derive::data;
pub use function::{Lowered, lower};
pub use signature::{Errors, Parameter, Signature, signature};
pub use syntax::{is_of_growing_lists, key};
pub use uneven::row_of_path;

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
    /// What it is about.
    pub kind: Kind,
}

/// What a refusal is about, as far as something else is tried then.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// A list of which no length is known, or no element: a function that gives one may be said by other Rust, in which it keeps that list in
    /// a variable.
    NoLength,
    /// Anything else: that is what is said.
    Other,
}

impl Refusal {
    /// A refusal after which nothing else is tried.
    pub(crate) fn new(span: Option<Span>, message: impl Into<String>) -> Refusal {
        Refusal { span, message: message.into(), kind: Kind::Other }
    }

    /// The same refusal of a list of which no length is known.
    pub(crate) fn no_length(self) -> Refusal {
        Refusal { kind: Kind::NoLength, ..self }
    }

    /// As an error of the compiler.
    pub fn error(&self) -> TokenStream {
        syn::Error::new(self.span.unwrap_or_else(Span::call_site), &self.message).to_compile_error()
    }
}

impl From<syn::Error> for Refusal {
    fn from(error: syn::Error) -> Refusal {
        Refusal::new(Some(error.span()), error.to_string())
    }
}

/// A refusal at some tokens.
pub(crate) fn refuse<T>(at: &impl ToTokens, message: impl Into<String>) -> Result<T, Refusal> {
    // Of several tokens the place is the first to the last, which stable Rust has for errors only.
    Err(spanned(at, message))
}

/// See [`refuse`].
pub(crate) fn spanned(at: &impl ToTokens, message: impl Into<String>) -> Refusal {
    Refusal::new(Some(at.span()), message)
}

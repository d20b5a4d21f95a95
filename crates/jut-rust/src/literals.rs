//! Literals whose type Rust leaves to inference, where the text depends on it.
//!
//! An integer of which nothing says what it is, is an `i32` in Rust: then its range is checked. Whether nothing says so is known to
//! rustc, which sees more than the text of one function; a type that only rustc sees would be another one here, without a word. So such
//! literals are written with the type that they are taken for: the function is the same, or rustc says at its place that it is not.
//!
//! ```text
//! let mut k = 2;                 let mut k = 2i32;
//! k -= 1;                        k -= 1i32;            expected `usize`, found `i32`, if it is one
//! ```
//!
//! Only literals whose operations may leave the range are written so: for others the type makes no difference.

use crate::lowering::Lowering;
use crate::types::Ty;
use proc_macro2::{Group, LineColumn, Span, TokenStream, TokenTree};
use std::collections::HashSet;

/// Where a token stands: its file, and its two ends.
type At = (String, LineColumn, LineColumn);

fn at(span: Span) -> At {
    (span.file(), span.start(), span.end())
}

/// The literals that are taken for `i32`, when nothing more is found out, if the meaning depends on it.
pub(crate) fn taken(lowering: &Lowering<'_>) -> Vec<Span> {
    let known = |ty: &Ty| match lowering.resolve(ty) {
        Ty::Int(k) => !lowering.learned.is_open(k),
        _ => true,
    };
    // What is gone over twice is known if it is known once.
    let known: HashSet<At> = lowering
        .open
        .numbers
        .iter()
        .filter(|(ty, _)| known(ty))
        .map(|(_, span)| at(*span))
        .collect();
    let depends = |ty: &Ty| match lowering.resolve(ty) {
        Ty::Int(k) => lowering.learned.ranged.contains(&k),
        _ => false,
    };
    let spans = lowering.open.numbers.iter().filter(|(ty, _)| depends(ty)).map(|(_, span)| *span);
    spans.filter(|span| !known.contains(&at(*span))).collect()
}

/// A function, or what has functions in it, with the types of these literals.
pub(crate) fn with_types(tokens: TokenStream, integers: &[Span]) -> TokenStream {
    if integers.is_empty() {
        return tokens;
    }
    typed(tokens, &integers.iter().map(|span| at(*span)).collect())
}

fn typed(tokens: TokenStream, integers: &HashSet<At>) -> TokenStream {
    let each = tokens.into_iter().map(|token| match token {
        TokenTree::Group(group) => {
            let mut inner = Group::new(group.delimiter(), typed(group.stream(), integers));
            inner.set_span(group.span());
            TokenTree::from(inner)
        }
        TokenTree::Literal(literal) if integers.contains(&at(literal.span())) => {
            let written = literal.to_string();
            match syn::parse_str::<syn::LitInt>(&format!("{written}i32")) {
                Ok(mut number) if written.starts_with(|c: char| c.is_ascii_digit()) => {
                    number.set_span(literal.span());
                    TokenTree::from(number.token())
                }
                _ => TokenTree::from(literal),
            }
        }
        other => other,
    });
    each.collect()
}

//! Bytes as letters, `b.is_ascii_digit()`, said by other Rust: a `match` of ranges, which is translated in its place.
//!
//! Requires: what is asked is a `u8`. Of a `char` there is nothing here.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Expr, ExprMethodCall};

/// What such a method says of a byte; nothing of another one.
pub(crate) fn told(call: &ExprMethodCall) -> Option<Expr> {
    if !call.args.is_empty() {
        return None;
    }
    let byte = &call.receiver;
    let method = call.method.to_string();
    let changed = |from: TokenStream, to: TokenStream| -> Expr {
        syn::parse_quote!(match #byte { __jut_byte @ #from => #to, __jut_byte => __jut_byte })
    };
    // The classes of the standard library.
    let class = match method.as_str() {
        "to_ascii_uppercase" => {
            return Some(changed(quote!(b'a'..=b'z'), quote!(__jut_byte - 32)));
        }
        "to_ascii_lowercase" => {
            return Some(changed(quote!(b'A'..=b'Z'), quote!(__jut_byte + 32)));
        }
        "is_ascii" => quote!(0u8..=127),
        "is_ascii_alphabetic" => quote!(b'A'..=b'Z' | b'a'..=b'z'),
        "is_ascii_alphanumeric" => quote!(b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z'),
        "is_ascii_control" => quote!(0u8..=31 | 127),
        "is_ascii_digit" => quote!(b'0'..=b'9'),
        "is_ascii_graphic" => quote!(b'!'..=b'~'),
        "is_ascii_hexdigit" => quote!(b'0'..=b'9' | b'A'..=b'F' | b'a'..=b'f'),
        "is_ascii_lowercase" => quote!(b'a'..=b'z'),
        "is_ascii_punctuation" => quote!(b'!'..=b'/' | b':'..=b'@' | b'['..=b'`' | b'{'..=b'~'),
        "is_ascii_uppercase" => quote!(b'A'..=b'Z'),
        "is_ascii_whitespace" => quote!(b'\t' | b'\n' | 12u8 | b'\r' | b' '),
        _ => return None,
    };
    Some(syn::parse_quote!(match #byte { #class => true, _ => false }))
}

//! Lists that are returned out of a loop: `for .. { if done { return v; } }` of a function that gives a `Vec`.
//!
//! What a `return` in a loop gives stands in a variable until the function ends. Before that there is a value of the same type, and a list
//! has none of a length that is known. So such a function is said by another one, whose result is a list that changes its length:
//!
//! ```text
//! for _ in 0..9 {                          let mut result: Vec<f64> = Vec::new();
//!     if small(&u) { return u; }           'function: {
//!     u = step(&u);                            for _ in 0..9 {
//! }                                                if small(&u) { result = u; break 'function; }
//! halves(&u)                                       u = step(&u);
//!                                              }
//!                                              result = halves(&u);
//!                                          }
//!                                          result
//! ```
//!
//! So are functions that give `Vec::new()` somewhere.
//!
//! Requires: no closure, and no function in it, has a `return`.

use crate::generated::each_end;
use crate::syntax::panics;
use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use quote::{ToTokens, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::visit::Visit;
use syn::{Expr, GenericArgument, ItemFn, PathArguments, ReturnType, Stmt, Type};

/// The function with its returns as assignments; nothing if that cannot be said.
pub(crate) fn told(function: &ItemFn) -> Option<ItemFn> {
    let list = list_of(&function.sig.output)?;
    let mut inner = Inner(false);
    inner.visit_block(&function.block);
    if inner.0 {
        return None;
    }
    let mut statements = function.block.stmts.clone();
    if let Some(Stmt::Expr(last, None)) = statements.pop_if(|s| matches!(s, Stmt::Expr(_, None))) {
        let mut last = last;
        let never = each_end(&mut last, &mut |end| {
            let ends = match end {
                Expr::Macro(call) => panics(&call.mac),
                Expr::Return(_) | Expr::Loop(_) | Expr::While(_) | Expr::ForLoop(_) => true,
                _ => false,
            };
            if !ends {
                let value = end.clone();
                *end = match crate::syntax::is_empty(&value) {
                    true => syn::parse_quote_spanned!(value.span()=> __jut_result.clear()),
                    false => syn::parse_quote_spanned!(value.span()=> __jut_result = #value),
                };
            }
            Ok(())
        });
        never.ok()?;
        statements.push(Stmt::Expr(last, Some(Default::default())));
    }
    let body = assigned(quote!(#(#statements)*));
    let span = function.sig.output.span();
    let start = quote_spanned!(span=> let mut __jut_result: #list = Vec::new(););
    let block = syn::parse2(quote!({ #start '__jut_function: { #body } __jut_result })).ok()?;
    Some(ItemFn { block: Box::new(block), ..function.clone() })
}

/// The list that a function gives, also in an `Option` or a `Result`.
fn list_of(output: &ReturnType) -> Option<Type> {
    let ReturnType::Type(_, ty) = output else { return None };
    let Type::Path(path) = &**ty else { return None };
    let last = path.path.segments.last()?;
    match (&*last.ident.to_string(), &last.arguments) {
        ("Vec", _) => Some((**ty).clone()),
        ("Option" | "Result", PathArguments::AngleBracketed(inner)) => {
            let Some(GenericArgument::Type(first)) = inner.args.first() else { return None };
            list_of(&ReturnType::Type(Default::default(), Box::new(first.clone())))
        }
        _ => None,
    }
}

/// Whether something in a function has a `return` of its own.
struct Inner(bool);

impl Visit<'_> for Inner {
    fn visit_expr_closure(&mut self, closure: &syn::ExprClosure) {
        self.0 |= crate::syntax::has_word(&closure.to_token_stream(), "return");
    }
    fn visit_item_fn(&mut self, function: &ItemFn) {
        self.0 |= crate::syntax::has_word(&function.to_token_stream(), "return");
    }
}

/// Tokens with assignments in the place of returns.
fn assigned(tokens: TokenStream) -> TokenStream {
    let mut out: Vec<TokenTree> = Vec::new();
    let mut rest = tokens.into_iter().peekable();
    while let Some(token) = rest.next() {
        match token {
            TokenTree::Ident(word) if word == "return" => {
                // A statement of its own, or a value such as that of an arm.
                let own = match out.last() {
                    None => true,
                    Some(TokenTree::Punct(p)) => p.as_char() == ';',
                    Some(TokenTree::Group(group)) => group.delimiter() == Delimiter::Brace,
                    Some(_) => false,
                };
                let mut value = Vec::new();
                while let Some(next) = rest.peek() {
                    if matches!(next, TokenTree::Punct(p) if [';', ','].contains(&p.as_char())) {
                        break;
                    }
                    value.extend(rest.next());
                }
                let value = assigned(value.into_iter().collect());
                let empty = syn::parse2(value.clone()).is_ok_and(|e| crate::syntax::is_empty(&e));
                let said = match empty {
                    true => quote_spanned!(word.span()=> __jut_result.clear();),
                    false => quote_spanned!(word.span()=> __jut_result = #value;),
                };
                let said = quote_spanned!(word.span()=> #said break '__jut_function;);
                if own {
                    out.extend(said);
                    rest.next_if(|next| matches!(next, TokenTree::Punct(p) if p.as_char() == ';'));
                } else {
                    out.extend(quote!({ #said }));
                }
            }
            TokenTree::Group(group) => {
                let mut other = Group::new(group.delimiter(), assigned(group.stream()));
                other.set_span(group.span());
                out.push(TokenTree::Group(other));
            }
            token => out.push(token),
        }
    }
    out.into_iter().collect()
}

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
//! So are functions that give `Vec::new()` somewhere, or lists at several ends, which may have different lengths. Of a tuple with lists each component
//! has such a variable.
//!
//! Requires: no closure, and no function in it, has a `return`.

use crate::generated::each_end;
use crate::syntax::panics;
use crate::visited::{Node, each};
use proc_macro2::{Delimiter, Group, Ident, TokenStream, TokenTree};
use quote::{ToTokens, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Expr, GenericArgument, ItemFn, PathArguments, ReturnType, Stmt, Type};

/// Whether a function gives lists at several ends.
pub(crate) fn has_several_ends(function: &ItemFn) -> bool {
    let several = match function.block.stmts.last() {
        Some(Stmt::Expr(last, None)) => {
            let mut ends = 0;
            // What is at an end is only counted.
            let _ = each_end(&mut last.clone(), &mut |_| {
                ends += 1;
                Ok(())
            });
            ends > 1
        }
        _ => false,
    };
    let returns = crate::syntax::has_word(&function.block, "return");
    (several || returns) && given_by(&function.sig.output).is_some()
}

/// The function with its returns as assignments; nothing if that cannot be said.
pub(crate) fn told(function: &ItemFn) -> Option<ItemFn> {
    let given = given_by(&function.sig.output)?;
    // What has a `return` of its own in the function.
    let mut inner = false;
    each(&*function.block, &mut |node| match node {
        Node::Expr(closure @ Expr::Closure(_)) => {
            inner |= crate::syntax::has_word(closure, "return");
            false
        }
        Node::Item(function @ syn::Item::Fn(_)) => {
            inner |= crate::syntax::has_word(function, "return");
            false
        }
        _ => true,
    });
    if inner {
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
                let said = given.assigned(end.to_token_stream(), end.span());
                *end = syn::parse_quote_spanned!(end.span()=> { #said });
            }
            Ok(())
        });
        never.ok()?;
        statements.push(Stmt::Expr(last, Some(Default::default())));
    }
    let body = assigned(quote!(#(#statements)*), &given);
    let (start, last) = given.around(function.sig.output.span());
    let block = syn::parse2(quote!({ #start '__jut_function: { #body } #last })).ok()?;
    Some(ItemFn { block: Box::new(block), ..function.clone() })
}

/// What a function gives that has lists in it.
enum Given {
    /// A list.
    List(Box<Type>),
    /// A tuple: the type of each component, and what its variable is before.
    Tuple(Vec<(Type, TokenStream)>),
}

/// What a function gives, also in an `Option` or a `Result`; nothing if no list is in it.
fn given_by(output: &ReturnType) -> Option<Given> {
    let ReturnType::Type(_, ty) = output else { return None };
    match &**ty {
        Type::Path(path) => {
            let last = path.path.segments.last()?;
            match (&*last.ident.to_string(), &last.arguments) {
                ("Vec", _) => Some(Given::List(ty.clone())),
                ("Option" | "Result", PathArguments::AngleBracketed(inner)) => {
                    let Some(GenericArgument::Type(first)) = inner.args.first() else {
                        return None;
                    };
                    given_by(&ReturnType::Type(Default::default(), Box::new(first.clone())))
                }
                _ => None,
            }
        }
        Type::Tuple(tuple) => {
            let is_list = |ty: &Type| crate::types::argument_of(ty, "Vec").is_some();
            let start = |ty: &Type| match ty {
                list if is_list(list) => Some(quote!(Vec::new())),
                Type::Path(path) => {
                    let name = path.path.get_ident()?.to_string();
                    match crate::types::Ty::number(&name) {
                        Some(number) if number.is_float() => Some(quote!(0.0)),
                        Some(_) => Some(quote!(0)),
                        None => (name == "bool").then(|| quote!(false)),
                    }
                }
                _ => None,
            };
            if !tuple.elems.iter().any(is_list) {
                return None;
            }
            let each = tuple.elems.iter().map(|ty| Some((ty.clone(), start(ty)?)));
            each.collect::<Option<Vec<_>>>().map(Given::Tuple)
        }
        _ => None,
    }
}

impl Given {
    /// The names of the variables of a tuple's components.
    fn names(count: usize, span: proc_macro2::Span) -> Vec<Ident> {
        (0..count).map(|k| Ident::new(&format!("__jut_result_{k}"), span)).collect()
    }

    /// The variables before anything is given, and the value of the function.
    fn around(&self, span: proc_macro2::Span) -> (TokenStream, TokenStream) {
        match self {
            Given::List(list) => (
                quote_spanned!(span=> let mut __jut_result: #list = Vec::new();),
                quote_spanned!(span=> __jut_result),
            ),
            Given::Tuple(items) => {
                let names = Given::names(items.len(), span);
                let (types, starts): (Vec<_>, Vec<_>) = items.iter().cloned().unzip();
                (
                    quote_spanned!(span=> #(let mut #names: #types = #starts;)*),
                    quote_spanned!(span=> (#(#names),*)),
                )
            }
        }
    }

    /// The assignment of a value that is given.
    fn assigned(&self, value: TokenStream, span: proc_macro2::Span) -> TokenStream {
        let empty = |value: &TokenStream| {
            syn::parse2(value.clone()).is_ok_and(|e| crate::syntax::is_empty(&e))
        };
        let one = |name: Ident, value: TokenStream| match empty(&value) {
            true => quote_spanned!(span=> #name.clear();),
            false => quote_spanned!(span=> #name = #value;),
        };
        match self {
            Given::List(_) => one(Ident::new("__jut_result", span), value),
            Given::Tuple(items) => {
                let names = Given::names(items.len(), span);
                match syn::parse2::<syn::ExprTuple>(value.clone()) {
                    Ok(tuple) if tuple.elems.len() == names.len() => {
                        let each = names.into_iter().zip(&tuple.elems);
                        each.map(|(name, value)| one(name, value.to_token_stream())).collect()
                    }
                    _ => {
                        let given: Vec<Ident> = (0..names.len())
                            .map(|k| Ident::new(&format!("__jut_given_{k}"), span))
                            .collect();
                        quote_spanned!(span=> let (#(#given),*) = #value; #(#names = #given;)*)
                    }
                }
            }
        }
    }
}

/// Tokens with assignments in the place of returns.
fn assigned(tokens: TokenStream, given: &Given) -> TokenStream {
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
                let value = assigned(value.into_iter().collect(), given);
                let said = given.assigned(value, word.span());
                let said = quote_spanned!(word.span()=> #said break '__jut_function;);
                if own {
                    out.extend(said);
                    rest.next_if(|next| matches!(next, TokenTree::Punct(p) if p.as_char() == ';'));
                } else {
                    out.extend(quote!({ #said }));
                }
            }
            TokenTree::Group(group) => {
                let mut other = Group::new(group.delimiter(), assigned(group.stream(), given));
                other.set_span(group.span());
                out.push(TokenTree::Group(other));
            }
            token => out.push(token),
        }
    }
    out.into_iter().collect()
}

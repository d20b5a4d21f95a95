//! Iterators that a closure makes, which are said by other Rust: that is translated in their place.
//!
//! | | is |
//! |---|---|
//! | `successors(Some(a), \|x\| Some(e))` | `(0..).scan(a, \|s, _\| { let now = *s; *s = { let x = &now; e }; Some(now) })` |
//! | the same with `None` somewhere | the state is `(a, true)`, and `(now, false)` where it is `None`; behind it `.take_while(\|s\| s.1).map(\|s\| s.0)` |
//! | `from_fn(\|\| e)` | `(0..).map_while(\|_\| e)` |
//!
//! Behind each of them a `.take(n)` is the end of the range.
//!
//! Requires: the path has `iter::` in it, the first value is `Some(..)`, and the closure ends with `Some(..)` or `None`.
//! Ensures: Rust's values, in its order; as there, the closure of `successors` runs once more than values are asked for.
//! Cost: that of what is written.

use crate::syntax::called;
use crate::syntax::{has_word, unwrapped};
use crate::{Refusal, spanned};
use proc_macro2::{Delimiter, Group, Ident, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::{Block, Expr, ExprClosure, ItemFn, Pat, Stmt, Token};

/// The function with ranges in the place of such iterators; `None` if it has none.
///
/// # Errors
/// For an iterator that is made in another way.
pub(crate) fn told(function: &ItemFn) -> Result<Option<ItemFn>, Refusal> {
    if !MAKERS.iter().any(|maker| has_word(&function.block, maker)) {
        return Ok(None);
    }
    let block: Block = syn::parse2(written(function.block.to_token_stream())?)
        .map_err(|e| Refusal::new(Some(e.span()), e.to_string()))?;
    let block = with_type_of_result(block, &function.sig.output)?;
    Ok(Some(ItemFn { block: Box::new(block), ..function.clone() }))
}

/// The body in which `std::array::from_fn(..)` at the end of an arm says what it makes, as the function's result does.
fn with_type_of_result(block: Block, result: &syn::ReturnType) -> Result<Block, Refusal> {
    let syn::ReturnType::Type(_, ty) = result else { return Ok(block) };
    let mut body = Expr::Block(syn::parse_quote!(#block));
    each_end(&mut body, &mut |end| {
        if crate::syntax::is_from_fn(end) {
            *end = syn::parse_quote!({ let __jut_array: #ty = #end; __jut_array });
        }
        Ok(())
    })?;
    match body {
        Expr::Block(told) => Ok(told.block),
        _ => Ok(block),
    }
}

/// The functions that make them.
const MAKERS: [&str; 2] = ["successors", "from_fn"];

fn made_by(name: &Ident) -> bool {
    MAKERS.iter().any(|maker| name == maker)
}

/// What stands at the end of what is written so far: `iter ::`, and what may stand before it.
fn path_before(out: &[TokenTree]) -> Option<usize> {
    let colons = |at: usize| {
        let is = |k: usize| matches!(out.get(k), Some(TokenTree::Punct(p)) if p.as_char() == ':');
        at >= 2 && is(at - 1) && is(at - 2)
    };
    let word = |at: usize, words: &[&str]| {
        matches!(out.get(at.checked_sub(1)?), Some(TokenTree::Ident(i)) if words.iter().any(|w| i == w))
            .then_some(at - 1)
    };
    let end = out.len();
    if !colons(end) {
        return None;
    }
    let start = word(end - 2, &["iter"])?;
    match colons(start).then(|| word(start - 2, &["std", "core"])).flatten() {
        Some(first) if colons(first) => Some(first - 2),
        Some(first) => Some(first),
        None => Some(start),
    }
}

fn written(tokens: TokenStream) -> Result<TokenStream, Refusal> {
    let mut out: Vec<TokenTree> = Vec::new();
    let mut rest = tokens.into_iter().peekable();
    while let Some(token) = rest.next() {
        match token {
            TokenTree::Ident(name) if made_by(&name) => {
                let (Some(start), Some(TokenTree::Group(given))) = (path_before(&out), rest.peek())
                else {
                    out.push(TokenTree::Ident(name));
                    continue;
                };
                let given = written(given.stream())?;
                rest.next();
                out.truncate(start);
                let limit = limit(&mut rest)?;
                out.extend(made(&name, given, limit)?);
            }
            TokenTree::Group(group) => {
                let mut inner = Group::new(group.delimiter(), written(group.stream())?);
                inner.set_span(group.span());
                out.push(TokenTree::Group(inner));
            }
            token => out.push(token),
        }
    }
    Ok(out.into_iter().collect())
}

/// What a `.take(n)` that follows says, and else that there is no end.
fn limit(
    rest: &mut std::iter::Peekable<proc_macro2::token_stream::IntoIter>,
) -> Result<TokenStream, Refusal> {
    let mut ahead = rest.clone();
    let dot = matches!(ahead.next(), Some(TokenTree::Punct(p)) if p.as_char() == '.');
    let take = matches!(ahead.next(), Some(TokenTree::Ident(i)) if i == "take");
    match ahead.next() {
        Some(TokenTree::Group(n)) if dot && take && n.delimiter() == Delimiter::Parenthesis => {
            *rest = ahead;
            let n = written(n.stream())?;
            Ok(quote!((#n)))
        }
        _ => Ok(quote!(9223372036854775807_usize)),
    }
}

/// The chain.
fn made(name: &Ident, given: TokenStream, limit: TokenStream) -> Result<TokenStream, Refusal> {
    let parser = syn::punctuated::Punctuated::<Expr, Token![,]>::parse_terminated;
    let given = syn::parse::Parser::parse2(parser, given)
        .map_err(|e| Refusal::new(Some(e.span()), e.to_string()))?;
    let given: Vec<&Expr> = given.iter().collect();
    match given[..] {
        [Expr::Closure(closure)] if name == "from_fn" && closure.inputs.is_empty() => {
            let body = &closure.body;
            Ok(quote!((0_usize..#limit).map_while(|_| #body)))
        }
        [first, Expr::Closure(closure)] if name == "successors" && closure.inputs.len() == 1 => {
            let Some(first) = called(first, "Some") else {
                return Err(spanned(first, "`successors` begins with `Some(..)` here"));
            };
            successors(first, closure, limit)
        }
        _ => Err(spanned(name, format!("`{name}` takes a closure that is written there"))),
    }
}

fn successors(
    first: &Expr,
    closure: &ExprClosure,
    limit: TokenStream,
) -> Result<TokenStream, Refusal> {
    let mut pattern = &closure.inputs[0];
    if let Pat::Type(typed) = pattern {
        pattern = &typed.pat;
    }
    let mut body = (*closure.body).clone();
    let mut ends = false;
    each_end(&mut body, &mut |end| {
        ends |= is_none(end);
        Ok(())
    })?;
    each_end(&mut body, &mut |end| {
        *end = match called(end, "Some") {
            Some(next) if ends => syn::parse_quote!((#next, true)),
            Some(next) => next.clone(),
            None if is_none(end) => syn::parse_quote!((__jut_now.0, false)),
            None => {
                let message = "the closure of `successors` ends with `Some(..)` or `None` here";
                return Err(spanned(end, message));
            }
        };
        Ok(())
    })?;
    let (start, value, behind) = match ends {
        true => (
            quote!((#first, true)),
            quote!(__jut_now.0),
            quote!(.take_while(|__jut_now| __jut_now.1).map(|__jut_now| __jut_now.0)),
        ),
        false => (quote!(#first), quote!(__jut_now), TokenStream::new()),
    };
    Ok(quote! {
        (0_usize..#limit).scan(#start, |__jut_state, _| {
            let __jut_now = *__jut_state;
            *__jut_state = { let #pattern = &#value; #body };
            Some(__jut_now)
        })#behind
    })
}

fn is_none(expr: &Expr) -> bool {
    matches!(unwrapped(expr), Expr::Path(path) if path.path.is_ident("None"))
}

/// The values that an expression may end with.
pub(crate) fn each_end(
    expr: &mut Expr,
    change: &mut dyn FnMut(&mut Expr) -> Result<(), Refusal>,
) -> Result<(), Refusal> {
    let last =
        |block: &mut Block, change: &mut dyn FnMut(&mut Expr) -> Result<(), Refusal>| match block
            .stmts
            .last_mut()
        {
            Some(Stmt::Expr(value, None)) => each_end(value, change),
            _ => Ok(()),
        };
    match expr {
        Expr::Paren(inner) => each_end(&mut inner.expr, change),
        Expr::Group(inner) => each_end(&mut inner.expr, change),
        Expr::Block(block) if block.label.is_none() => last(&mut block.block, change),
        Expr::If(branch) => {
            last(&mut branch.then_branch, change)?;
            match &mut branch.else_branch {
                Some((_, other)) => each_end(other, change),
                None => Ok(()),
            }
        }
        Expr::Match(m) => m.arms.iter_mut().try_for_each(|arm| each_end(&mut arm.body, change)),
        end => change(end),
    }
}

//! Variants by their bare names, where a `use` in the function gives them: `use Health::*;`, `use Health::{Well, Ill};`.
//!
//! ```text
//! use Health::*;                          use Health::*;
//! match h { Well => a, Ill => b }         match h { Health::Well => a, Health::Ill => b }
//! ```
//!
//! Which names a `*` gives, only rustc knows: taken for variants are those that begin with a capital, stand alone and are no types of the
//! function. An item beside it has rustc look for each of them in the enum, so that one which is none is an error at its name. A `use` of the
//! module is not seen by an attribute of a function.
//!
//! Functions of `std::mem`, `use std::mem::{swap, take};`, get their paths in the same way, by which they are known.

use crate::syntax::{has_word, is_constant};
use crate::visited::{Node, all, each};
use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::{ToTokens, quote, quote_spanned};
use syn::{Block, Expr, Item, ItemFn, Pat, Stmt, UseTree};

/// What the `use`s of a function say: the enums whose variants all have bare names, and single variants with their paths.
#[derive(Default)]
struct Uses {
    enums: Vec<TokenStream>,
    variants: Vec<(String, TokenStream)>,
}

fn is_capital(name: &Ident) -> bool {
    name.to_string().starts_with(char::is_uppercase) && !is_constant(name)
}

impl Uses {
    /// Goes down a `use`, behind the path `before`, of which `last` is the last word.
    fn see(&mut self, tree: &UseTree, before: &TokenStream, last: Option<&Ident>) {
        // Of the module `mem` functions are known by their paths.
        let of_enum = last.is_some_and(is_capital);
        let named = of_enum || last.is_some_and(|last| last == "mem");
        match tree {
            UseTree::Path(path) => {
                let ident = &path.ident;
                let longer =
                    if before.is_empty() { quote!(#ident) } else { quote!(#before::#ident) };
                self.see(&path.tree, &longer, Some(ident));
            }
            UseTree::Group(group) => {
                group.items.iter().for_each(|tree| self.see(tree, before, last));
            }
            UseTree::Glob(_) if of_enum => self.enums.push(before.clone()),
            UseTree::Name(own) if named => {
                let ident = &own.ident;
                self.variants.push((ident.to_string(), quote!(#before::#ident)));
            }
            UseTree::Rename(own) if named => {
                let ident = &own.ident;
                self.variants.push((own.rename.to_string(), quote!(#before::#ident)));
            }
            _ => {}
        }
    }
}

/// The function with its variants behind their enums; nothing where no `use` in it gives any.
pub(crate) fn told(function: &ItemFn) -> Option<ItemFn> {
    let mut uses = Uses::default();
    all(&function.block.stmts, &mut |node| {
        if let Node::Item(Item::Use(own)) = node {
            uses.see(&own.tree, &TokenStream::new(), None);
        }
        true
    });
    let mut checks: Vec<Stmt> = Vec::new();
    if let [owner] = &uses.enums[..] {
        for name in names(function) {
            if uses.variants.iter().any(|(known, _)| name == known) {
                continue;
            }
            let at = name.span();
            let check = crate::syntax::spanned_like(quote!(use #owner::#name as _;), at);
            checks.push(syn::parse_quote!(#check));
            uses.variants.push((name.to_string(), quote_spanned!(at=> #owner::#name)));
        }
    }
    if uses.variants.is_empty() {
        return None;
    }
    let mut told = function.clone();
    let statements = told.block.stmts.iter().map(|statement| match statement {
        Stmt::Item(_) => Some(statement.clone()),
        _ => written(statement.to_token_stream(), &uses.variants),
    });
    let statements: Vec<Stmt> = statements.collect::<Option<_>>()?;
    *told.block = syn::parse_quote!({ #(#checks)* #(#statements)* });
    Some(told)
}

fn written(statement: TokenStream, variants: &[(String, TokenStream)]) -> Option<Stmt> {
    let block: Block = syn::parse2({
        let statement = with_owners(statement, variants);
        quote!({ #statement })
    })
    .ok()?;
    block.stmts.into_iter().next()
}

/// Tokens in which such names stand behind their enums.
fn with_owners(tokens: TokenStream, variants: &[(String, TokenStream)]) -> TokenStream {
    let (mut out, mut behind_path) = (Vec::<TokenTree>::new(), false);
    let mut within_use = false;
    for token in tokens {
        let colon = matches!(&token, TokenTree::Punct(p) if p.as_char() == ':');
        let joined = matches!(out.last(), Some(TokenTree::Punct(p)) if p.as_char() == ':');
        // What a `use` in a block says stays.
        match &token {
            TokenTree::Ident(word) if word == "use" => within_use = true,
            TokenTree::Punct(end) if end.as_char() == ';' => within_use = false,
            _ => {}
        }
        match token {
            token if within_use => out.push(token),
            TokenTree::Group(group) => {
                let mut own = proc_macro2::Group::new(
                    group.delimiter(),
                    with_owners(group.stream(), variants),
                );
                own.set_span(group.span());
                out.push(TokenTree::Group(own));
            }
            TokenTree::Ident(ident) => {
                let known = variants.iter().find(|(name, _)| !behind_path && ident == name);
                match known {
                    Some((_, path)) => {
                        out.extend(crate::syntax::spanned_like(path.clone(), ident.span()))
                    }
                    None => out.push(TokenTree::Ident(ident)),
                }
            }
            other => out.push(other),
        }
        behind_path = colon && joined;
    }
    out.into_iter().collect()
}

/// The names of a function that may be variants: patterns of arms and conditions, and values of one word, with a capital. A struct is made by
/// its name too, and taken apart by a `let`: so what has fields is a variant where an arm has it.
fn names(function: &ItemFn) -> Vec<Ident> {
    const STD: &[&str] = &["Some", "None", "Ok", "Err", "Self"];
    let mut found = Vec::<Ident>::new();
    let (mut types, mut called) = (Vec::new(), Vec::new());
    all(&function.block.stmts, &mut |node| {
        match node {
            Node::Item(Item::Struct(own)) => types.push(own.ident.to_string()),
            Node::Item(Item::Enum(own)) => types.push(own.ident.to_string()),
            Node::Item(Item::Use(_)) => return false,
            Node::Type(ty) => {
                types.push(ty.to_token_stream().to_string());
                return false;
            }
            Node::Expr(Expr::Match(m)) => arms(m, &mut found),
            Node::Expr(Expr::Let(own)) => patterns(&own.pat, &mut found),
            Node::Expr(Expr::Call(call)) => called.push(call.func.to_token_stream().to_string()),
            Node::Expr(Expr::Path(own)) => {
                let known = |name: &&Ident| called.iter().all(|other| *name != other);
                found.extend(own.path.get_ident().filter(known).cloned());
            }
            Node::Macro(call) if call.path.is_ident("matches") => {
                if let Ok(Expr::Match(m)) = crate::restated::matched(call.tokens.clone()) {
                    arms(&m, &mut found);
                }
            }
            _ => {}
        }
        true
    });
    let sig = &function.sig;
    let mut once = Vec::<Ident>::new();
    for name in found {
        let other = STD.iter().any(|std| name == std)
            || types.iter().any(|ty| name == ty)
            || has_word(&sig.inputs, &name.to_string())
            || has_word(&sig.output, &name.to_string());
        if is_capital(&name) && !other && !once.contains(&name) {
            once.push(name);
        }
    }
    once
}

fn arms(m: &syn::ExprMatch, found: &mut Vec<Ident>) {
    m.arms.iter().for_each(|arm| patterns(&arm.pat, found));
}

/// The single words of a pattern that may be variants.
fn patterns(pattern: &Pat, found: &mut Vec<Ident>) {
    each(pattern, &mut |node| {
        if let Node::Pat(pattern) = node {
            match pattern {
                Pat::Ident(own) => found.push(own.ident.clone()),
                Pat::TupleStruct(own) => found.extend(own.path.get_ident().cloned()),
                Pat::Struct(own) => found.extend(own.path.get_ident().cloned()),
                _ => {}
            }
        }
        true
    });
}

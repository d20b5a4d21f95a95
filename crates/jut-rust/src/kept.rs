//! Iterators under a name: `let pairs = x.iter().zip(&y).skip(1);`, which is gone through later, once.
//!
//! An iterator computes nothing until it is gone through. So it is put where its name stands, and what it begins with, which is
//! computed at once, gets names of its own:
//!
//! ```text
//! let tail = x[1..].iter().map(|v| v * a);        let part = &x[1..];
//! for t in tail { s += t; }                       for t in part.iter().map(|v| v * a) { s += t; }
//! ```
//!
//! Requires: the name stands once in what follows, which has no other bindings of the names that the iterator reads; of these only lists
//! are `mut`, which Rust lends to it until then. (A number that is assigned meanwhile would be another one.)
//! Ensures: what fails fails where Rust does. What does not meet this is refused as before.

use crate::iterators::STAGES;
use crate::lowering::Lowering;
use crate::syntax::{bound, unwrapped};
use crate::types::{Extent, Ty};
use crate::visited::{Node, all, each};
use proc_macro2::{Group, Ident, TokenStream, TokenTree};
use std::collections::HashSet;
use syn::spanned::Spanned;
use syn::{Expr, Local, Pat, Stmt};

/// Methods that make another iterator of one and compute nothing else, besides those of [stages](STAGES).
const ADAPTORS: &[&str] = &["enumerate", "rev", "zip", "chain", "skip", "take", "step_by"];

impl Lowering<'_> {
    /// The statements instead of such a `let` and what follows it; nothing if it is none.
    pub fn kept_iterator(&mut self, local: &Local, rest: &[Stmt]) -> Option<Vec<Stmt>> {
        let Pat::Ident(ident) = &local.pat else { return None };
        let init = local.init.as_ref().filter(|init| init.diverge.is_none())?;
        let mut iterator = (*init.expr).clone();
        if ident.mutability.is_some() || ident.by_ref.is_some() || ident.subpat.is_some() {
            return None;
        }
        let mut statements = Vec::new();
        self.named_start(&mut iterator, &mut statements)?;
        let names = free(&iterator);
        let lent = |name: &String| match self.lookup(name) {
            Some(local) if local.mutable => {
                matches!(self.resolve(&local.ty), Ty::Array(_, Extent::Slice | Extent::Vec))
            }
            Some(local) => local.closure.is_none(),
            None => true,
        };
        let mut others = HashSet::new();
        all(rest, &mut |node| binds(node, &mut others));
        if !names.iter().all(lent) || names.iter().any(|name| others.contains(name)) {
            return None;
        }
        let name = ident.ident.to_string();
        if others.contains(&name) {
            return None;
        }
        let mut count = 0;
        let put = put(quote::quote!({ #(#rest)* }), &name, &iterator, &mut count);
        // Where the name is that of a field, this is no Rust.
        let block: syn::Block = syn::parse2(put).ok().filter(|_| count == 1)?;
        statements.extend(block.stmts);
        Some(statements)
    }

    /// Gives names to what an iterator computes at once; nothing if it is no iterator.
    fn named_start(&mut self, iterator: &mut Expr, before: &mut Vec<Stmt>) -> Option<()> {
        match iterator {
            Expr::Paren(inner) => self.named_start(&mut inner.expr, before),
            Expr::Range(range) => {
                self.named_part(range.start.as_deref_mut()?, before);
                // One without an end stands beside one that ends.
                if let Some(end) = range.end.as_deref_mut() {
                    self.named_part(end, before);
                }
                Some(())
            }
            Expr::MethodCall(call) => {
                let name = call.method.to_string();
                match name.as_str() {
                    "iter" | "into_iter" if call.args.is_empty() => {
                        self.named_list(&mut call.receiver, before);
                    }
                    "windows" | "chunks" | "chunks_exact" => {
                        // A length of 0 panics at once.
                        if !matches!(call.args.first(), Some(Expr::Lit(_))) {
                            return None;
                        }
                        self.named_list(&mut call.receiver, before);
                    }
                    name if ADAPTORS.contains(&name) || STAGES.contains(&name) => {
                        self.named_start(&mut call.receiver, before)?;
                        for argument in &mut call.args {
                            match argument {
                                Expr::Closure(_) | Expr::Lit(_) => {}
                                _ if name == "step_by" => return None,
                                Expr::MethodCall(_) | Expr::Range(_)
                                    if name != "skip" && name != "take" =>
                                {
                                    self.named_start(argument, before)?;
                                }
                                list if name == "zip" || name == "chain" => {
                                    self.named_list(list, before);
                                }
                                other => self.named_part(other, before),
                            }
                        }
                    }
                    _ => return None,
                }
                Some(())
            }
            _ => None,
        }
    }

    fn named_list(&mut self, list: &mut Expr, before: &mut Vec<Stmt>) {
        match list {
            Expr::Paren(inner) => self.named_list(&mut inner.expr, before),
            Expr::Reference(reference) if reference.mutability.is_none() => {
                self.named_list(&mut reference.expr, before);
            }
            other => self.named_part(other, before),
        }
    }

    fn named_part(&mut self, part: &mut Expr, before: &mut Vec<Stmt>) {
        if matches!(unwrapped(part), Expr::Path(_) | Expr::Lit(_)) {
            return;
        }
        let name = Ident::new(&format!("__jut_{}", self.names.unique("kept")), part.span());
        let value = part.clone();
        before.push(syn::parse_quote!(let #name = #value;));
        *part = syn::parse_quote!(#name);
    }
}

/// The names that an expression reads, but for those of its closures.
fn free(expr: &Expr) -> HashSet<String> {
    let mut names = HashSet::new();
    each(expr, &mut |node| {
        match node {
            Node::Expr(Expr::Path(path)) => {
                names.extend(path.path.get_ident().map(|i| i.to_string()));
            }
            Node::Expr(closure @ Expr::Closure(own)) => {
                let (mut inner, mut bound) = (free(&own.body), HashSet::new());
                each(closure, &mut |node| binds(node, &mut bound));
                inner.retain(|name| !bound.contains(name));
                names.extend(inner);
            }
            // What stands in a macro is not looked at: any name may be meant.
            Node::Macro(call) => words(call.tokens.clone(), &mut names),
            _ => return true,
        }
        false
    });
    names
}

fn words(tokens: TokenStream, found: &mut HashSet<String>) {
    for token in tokens {
        match token {
            TokenTree::Ident(ident) => {
                found.insert(ident.to_string());
            }
            TokenTree::Group(group) => words(group.stream(), found),
            _ => {}
        }
    }
}

/// Collects the names that something binds.
fn binds(node: Node, names: &mut HashSet<String>) -> bool {
    match node {
        Node::Pat(pattern) => names.extend(bound(pattern)),
        Node::Item(syn::Item::Fn(_)) => {}
        _ => return true,
    }
    false
}

/// Tokens with an iterator where its name stands.
fn put(tokens: TokenStream, name: &str, iterator: &Expr, count: &mut usize) -> TokenStream {
    let each = tokens.into_iter().map(|token| match token {
        TokenTree::Ident(ident) if ident == name => {
            *count += 1;
            quote::quote_spanned!(ident.span()=> (#iterator))
        }
        TokenTree::Group(group) => {
            let inner = put(group.stream(), name, iterator, count);
            let mut other = Group::new(group.delimiter(), inner);
            other.set_span(group.span());
            TokenTree::from(other).into()
        }
        other => other.into(),
    });
    each.collect()
}

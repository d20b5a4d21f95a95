//! Elements that a search over `iter_mut` refers to, said by other Rust: that is translated in their place.
//!
//! | | is |
//! |---|---|
//! | `if let Some(v) = x.iter_mut().find(f) { .. }` | `if let Some(at) = x.iter().position(f) { { let v = &mut x[at]; .. } }` |
//! | `match x.iter_mut().find(f) { Some(v) => a, None => b }` | the same with `else` |
//! | `let v = x.iter_mut().find(f).unwrap();` | `let at = x.iter().position(f).unwrap(); let v = &mut x[at];` |
//! | `.max_by(..)`, `.min_by(..)` | `x.iter().enumerate().max_by(..)`, of which the number is taken |
//! | `.last()`, `.nth(k)`, `.next()` | a test of the length |
//!
//! Requires: the list is a place. Cost: that of what is written.

use crate::syntax::unwrapped;
use proc_macro2::Ident;
use syn::spanned::Spanned;
use syn::{Expr, ExprIf, ExprMatch, Local, Pat, Stmt};

/// The list of such a search, and where in it the element is: an `Option`.
fn place(expr: &Expr) -> Option<(&Expr, Expr)> {
    let Expr::MethodCall(end) = unwrapped(expr) else { return None };
    let Expr::MethodCall(iterator) = unwrapped(&end.receiver) else { return None };
    let list = &*iterator.receiver;
    if iterator.method != "iter_mut" || !is_place(list) {
        return None;
    }
    let at: Expr = match (end.method.to_string().as_str(), end.args.first()) {
        ("find", Some(test)) => syn::parse_quote!(#list.iter().position(#test)),
        (name @ ("max_by" | "min_by"), Some(order)) => {
            let name = Ident::new(name, end.method.span());
            let (a, b, body): (Pat, Pat, Expr) = match unwrapped(order) {
                Expr::Closure(closure) if closure.inputs.len() == 2 => {
                    let (a, b) = (closure.inputs[0].clone(), closure.inputs[1].clone());
                    (a, b, (*closure.body).clone())
                }
                Expr::Path(path) => {
                    let method = &path.path.segments.last()?.ident;
                    let names = (syn::parse_quote!(__jut_a), syn::parse_quote!(__jut_b));
                    (names.0, names.1, syn::parse_quote!(__jut_a.#method(__jut_b)))
                }
                _ => return None,
            };
            syn::parse_quote!(
                #list.iter().enumerate().#name(|(_, #a), (_, #b)| #body).map(|(__jut_at, _)| __jut_at)
            )
        }
        ("last", None) => {
            syn::parse_quote!(if #list.len() > 0 { Some(#list.len() - 1) } else { None })
        }
        ("next", None) => syn::parse_quote!(if #list.len() > 0 { Some(0_usize) } else { None }),
        ("nth", Some(k @ (Expr::Path(_) | Expr::Lit(_)))) => {
            syn::parse_quote!(if #list.len() > #k { Some(#k) } else { None })
        }
        _ => return None,
    };
    Some((list, at))
}

/// Whether an expression is a place that may be looked at twice.
fn is_place(expr: &Expr) -> bool {
    match unwrapped(expr) {
        Expr::Path(_) => true,
        Expr::Field(field) => is_place(&field.base),
        _ => false,
    }
}

/// Names for the element at a place, or for its parts.
fn names(pattern: &Pat, place: &Expr) -> Option<Vec<Stmt>> {
    match pattern {
        Pat::Ident(ident) if ident.subpat.is_none() => {
            Some(vec![syn::parse_quote!(let #ident = &mut #place;)])
        }
        Pat::Wild(_) => Some(Vec::new()),
        Pat::Paren(inner) => names(&inner.pat, place),
        Pat::Tuple(parts) => {
            let mut all = Vec::new();
            for (k, part) in parts.elems.iter().enumerate() {
                let k = syn::Index::from(k);
                all.extend(names(part, &syn::parse_quote!(#place.#k))?);
            }
            Some(all)
        }
        _ => None,
    }
}

/// What is in a pattern `Some(p)`.
fn within_some(pattern: &Pat) -> Option<&Pat> {
    match pattern {
        Pat::TupleStruct(own) if own.path.is_ident("Some") => own.elems.first(),
        _ => None,
    }
}

fn branch(subject: &Expr, pattern: &Pat, body: &[Stmt]) -> Option<ExprIf> {
    let (list, at) = place(subject)?;
    let name = Ident::new("__jut_at", subject.span());
    let element: Expr = syn::parse_quote!(#list[#name]);
    let names = names(within_some(pattern)?, &element)?;
    // A block of its own changes elements only, whatever another branch does.
    Some(syn::parse_quote!(if let Some(#name) = #at { { #(#names)* #(#body)* } }))
}

/// `if let Some(v) = x.iter_mut().find(f) { .. }` with an index.
pub(crate) fn changed_if(own: &ExprIf) -> Option<ExprIf> {
    let Expr::Let(condition) = &*own.cond else { return None };
    let told = branch(&condition.expr, &condition.pat, &own.then_branch.stmts)?;
    Some(ExprIf { else_branch: own.else_branch.clone(), ..told })
}

/// `match x.iter_mut().find(f) { Some(v) => a, None => b }` as such a branch.
pub(crate) fn changed_match(m: &ExprMatch) -> Option<ExprIf> {
    let [there, other] = &m.arms[..] else { return None };
    let nothing = match &other.pat {
        Pat::Ident(ident) => ident.ident == "None",
        Pat::Wild(_) => true,
        _ => false,
    };
    if !nothing || there.guard.is_some() || other.guard.is_some() {
        return None;
    }
    let statement = |body: &Expr| match body {
        Expr::Block(block) if block.label.is_none() => block.block.stmts.clone(),
        Expr::Tuple(tuple) if tuple.elems.is_empty() => Vec::new(),
        body => vec![Stmt::Expr(body.clone(), None)],
    };
    let told = branch(&m.expr, &there.pat, &statement(&there.body))?;
    let other = statement(&other.body);
    let other: Expr = syn::parse_quote!({ #(#other)* });
    Some(ExprIf { else_branch: Some((Default::default(), Box::new(other))), ..told })
}

/// `let v = x.iter_mut().find(f).unwrap();` with an index.
pub(crate) fn unwrapped_element(local: &Local, unique: &str) -> Option<Vec<Stmt>> {
    let init = local.init.as_ref().filter(|init| init.diverge.is_none())?;
    let Expr::MethodCall(call) = unwrapped(&init.expr) else { return None };
    if call.method != "unwrap" && call.method != "expect" {
        return None;
    }
    let (list, at) = place(&call.receiver)?;
    let (method, args) = (&call.method, &call.args);
    let name = Ident::new(&format!("__jut_{unique}"), call.method.span());
    let mut all: Vec<Stmt> = vec![syn::parse_quote!(let #name = (#at).#method(#args);)];
    all.extend(names(&local.pat, &syn::parse_quote!(#list[#name]))?);
    Some(all)
}

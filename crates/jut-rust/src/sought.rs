//! Elements that a search over `iter_mut` refers to, said by other Rust: that is translated in their place.
//!
//! | | is |
//! |---|---|
//! | `if let Some(v) = x.iter_mut().find(f) { .. }` | `if let Some(at) = x.iter().position(f) { { let v = &mut x[at]; .. } }` |
//! | `match x.iter_mut().find(f) { Some(v) => a, None => b }` | the same with `else` |
//! | `let v = x.iter_mut().find(f).unwrap();` | `let at = x.iter().position(f).unwrap(); let v = &mut x[at];` |
//! | `.max_by(..)`, `.min_by(..)` | `x.iter().enumerate().max_by(..)`, of which the number is taken |
//! | `.last()`, `.nth(k)`, `.next()`, and `x.last_mut()`, `first_mut`, `get_mut(k)` | a test of the length |
//! | `match x.last_mut() { Some(v) if c => a, _ => b }` | first `if matches!(x.last(), Some(v) if c)` |
//!
//! Requires: the list is a place. Cost: that of what is written.

use crate::syntax::unwrapped;
use proc_macro2::Ident;
use syn::spanned::Spanned;
use syn::{Expr, ExprIf, ExprMatch, Local, Pat, Stmt};

/// The list of such a search, and where in it the element is: an `Option`.
fn place(expr: &Expr) -> Option<(&Expr, Expr)> {
    let Expr::MethodCall(end) = unwrapped(expr) else { return None };
    if let (true, Some(at)) = (is_place(&end.receiver), at_an_end(end)) {
        return Some((&end.receiver, at));
    }
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

/// Where the element of `x.last_mut()`, `x.first_mut()` or `x.get_mut(k)` is.
fn at_an_end(end: &syn::ExprMethodCall) -> Option<Expr> {
    let list = &end.receiver;
    Some(match (end.method.to_string().as_str(), end.args.first()) {
        ("last_mut", None) => {
            syn::parse_quote!(if #list.len() > 0 { Some(#list.len() - 1) } else { None })
        }
        ("first_mut", None) => {
            syn::parse_quote!(if #list.len() > 0 { Some(0_usize) } else { None })
        }
        ("get_mut", Some(k @ (Expr::Path(_) | Expr::Lit(_)))) => {
            syn::parse_quote!(if #list.len() > #k { Some(#k) } else { None })
        }
        _ => return None,
    })
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
    if let Some(told) = guarded(m) {
        return Some(told);
    }
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

/// `match x.last_mut() { Some(v) if c => a, .. }`: first whether that is so.
fn guarded(m: &ExprMatch) -> Option<ExprIf> {
    let [first, rest @ ..] = &m.arms[..] else { return None };
    let (_, guard) = first.guard.as_ref()?;
    let Expr::MethodCall(call) = unwrapped(&m.expr) else { return None };
    let mut read = call.clone();
    read.method = match call.method.to_string().as_str() {
        "last_mut" => Ident::new("last", call.method.span()),
        "first_mut" => Ident::new("first", call.method.span()),
        "get_mut" => Ident::new("get", call.method.span()),
        _ => return None,
    };
    within_some(&first.pat)?;
    let (pattern, body, subject) = (&first.pat, &first.body, &m.expr);
    let other: Expr = match rest {
        [other] if matches!(other.pat, Pat::Wild(_)) => (*other.body).clone(),
        rest => syn::parse_quote!(match #subject { #(#rest)* }),
    };
    Some(syn::parse_quote!(if matches!(#read, #pattern if #guard) {
        match #subject { #pattern => #body, _ => ::core::unreachable!() }
    } else {
        #other
    }))
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

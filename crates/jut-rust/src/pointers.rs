//! Function pointers that have a name, arrays of them, and functions behind `&dyn Fn`, as closures:
//!
//! ```text
//! let f: fn(f64) -> f64 = if c { sq } else { cu };      let which = c;
//!                                                       let f = |a: f64| if which { sq(a) } else { cu(a) };
//! let fs: [fn(f64) -> f64; 2] = [sq, cu];               let fs = |at: usize, a: f64| { assert!(at < 2); match at { 0 => sq(a), _ => cu(a) } };
//! fs[i](x)                                              fs(i, x)
//! let f: &dyn Fn(f64) -> f64 = &g;                      let f = |a: f64| g(a);
//! let f: Box<dyn Fn(f64) -> f64> = Box::new(|x| x * x); let f = |a: f64| { let own = |x| x * x; own(a) };
//! ```
//!
//! Requires: the type is written. A pointer is that of functions with the attribute, and closures.
//! Cost: none; which function it is, is chosen at each call.

use crate::syntax::unwrapped;
use proc_macro2::{Ident, Span};
use syn::{Expr, Pat, PathArguments, Stmt, Type};

/// The statements that such a declaration stands for; nothing if it is none.
pub(crate) fn declared(local: &syn::Local) -> Option<Vec<Stmt>> {
    let (Pat::Type(typed), Some(init)) = (&local.pat, &local.init) else { return None };
    let Pat::Ident(name) = &*typed.pat else { return None };
    let name = &name.ident;
    let mut before = Vec::new();
    let of = pointer(&typed.ty);
    let closure: Expr = match &*typed.ty {
        _ if let Some(of) = of => {
            let (names, types) = parameters(of);
            let body = applied(&init.expr, &names, &mut before)?;
            syn::parse_quote!(|#(#names: #types),*| #body)
        }
        Type::Array(array) => {
            let of = pointer(&array.elem)?;
            let Expr::Array(functions) = unwrapped(&init.expr) else { return None };
            let (names, types) = parameters(of);
            let (last, others) =
                functions.elems.iter().collect::<Vec<_>>().split_last().map(|(last, others)| {
                    ((*last).clone(), others.iter().map(|e| (*e).clone()).collect::<Vec<_>>())
                })?;
            let count = functions.elems.len();
            let at: Vec<usize> = (0..others.len()).collect();
            let others: Option<Vec<Expr>> =
                others.iter().map(|e| applied(e, &names, &mut before)).collect();
            let (others, last) = (others?, applied(&last, &names, &mut before)?);
            syn::parse_quote!(|__jut_at: usize, #(#names: #types),*| {
                assert!(__jut_at < #count, "index out of bounds");
                match __jut_at { #(#at => #others,)* _ => #last }
            })
        }
        _ => return None,
    };
    before.push(syn::parse_quote!(let #name = #closure;));
    Some(before)
}

/// The types of the parameters, if a type is one of a function that is called through it: `fn(f64) -> f64`, `&dyn Fn(f64) -> f64`, or a `Box` of it.
fn pointer(ty: &Type) -> Option<Vec<&Type>> {
    match ty {
        Type::Paren(inner) => pointer(&inner.elem),
        Type::BareFn(of) => Some(of.inputs.iter().map(|input| &input.ty).collect()),
        Type::Reference(reference) => object(&reference.elem),
        other => object(crate::types::argument_of(other, "Box")?),
    }
}

/// The same of `dyn Fn(f64) -> f64`.
fn object(ty: &Type) -> Option<Vec<&Type>> {
    let bounds = match ty {
        Type::Paren(inner) => return object(&inner.elem),
        Type::TraitObject(object) => &object.bounds,
        _ => return None,
    };
    bounds.iter().find_map(|bound| {
        let syn::TypeParamBound::Trait(bound) = bound else { return None };
        let last = bound.path.segments.last()?;
        match &last.arguments {
            PathArguments::Parenthesized(of) if last.ident.to_string().starts_with("Fn") => {
                Some(of.inputs.iter().collect())
            }
            _ => None,
        }
    })
}

/// Names for the parameters of a pointer, and their types.
fn parameters(types: Vec<&Type>) -> (Vec<Ident>, Vec<&Type>) {
    let name = |k: usize| Ident::new(&format!("__jut_given_{k}"), Span::mixed_site());
    ((0..types.len()).map(name).collect(), types)
}

/// A function of some arguments. What chooses it is computed before, once.
fn applied(function: &Expr, names: &[Ident], before: &mut Vec<Stmt>) -> Option<Expr> {
    match unwrapped(function) {
        Expr::Path(path) => Some(syn::parse_quote!(#path(#(#names),*))),
        Expr::Reference(inner) => applied(&inner.expr, names, before),
        Expr::Call(call) if call.args.len() == 1 && is_boxed(&call.func) => {
            applied(&call.args[0], names, before)
        }
        closure @ Expr::Closure(_) => {
            Some(syn::parse_quote!({ let __jut_own = #closure; __jut_own(#(#names),*) }))
        }
        Expr::If(branch) if crate::syntax::let_in(&branch.cond).is_none() => {
            let which = Ident::new(&format!("__jut_which_{}", before.len()), Span::mixed_site());
            let condition = &branch.cond;
            before.push(syn::parse_quote!(let #which = #condition;));
            let (_, other) = branch.else_branch.as_ref()?;
            let [Stmt::Expr(then, None)] = &branch.then_branch.stmts[..] else { return None };
            let other = match &**other {
                Expr::Block(block) => match &block.block.stmts[..] {
                    [Stmt::Expr(other, None)] => other,
                    _ => return None,
                },
                other => other,
            };
            let then = applied(then, names, before)?;
            let other = applied(other, names, before)?;
            Some(syn::parse_quote!(if #which { #then } else { #other }))
        }
        _ => None,
    }
}

/// Whether a function is `Box::new`.
fn is_boxed(function: &Expr) -> bool {
    let Expr::Path(path) = unwrapped(function) else { return false };
    let words: Vec<String> = path.path.segments.iter().map(|s| s.ident.to_string()).collect();
    words.ends_with(&["Box".to_string(), "new".to_string()])
}

/// `fs(i, x)` for `fs[i](x)`, of an array of pointers that has this name.
pub(crate) fn called(call: &syn::ExprCall) -> Option<(Ident, syn::ExprCall)> {
    let Expr::Index(index) = unwrapped(&call.func) else { return None };
    let Expr::Path(path) = unwrapped(&index.expr) else { return None };
    let (name, at, given) = (path.path.get_ident()?, &index.index, call.args.iter());
    Some((name.clone(), syn::parse_quote!(#name(#at, #(#given),*))))
}

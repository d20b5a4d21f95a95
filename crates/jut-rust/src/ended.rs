//! Ends of chains that are said by other Rust: that is translated in their place.
//!
//! | | is |
//! |---|---|
//! | `CHAIN.sum::<Option<f64>>()`, `product`, also of `Result` | a loop that ends at the first `None` or `Err` |
//! | `CHAIN.map(..).nth(k)`, `next()`, also behind `filter` | a loop that counts, and ends at that element |
//! | `CHAIN.flat_map(..).last()`, `min_by`, `max_by`, `reduce`, `min`, `max` | the same of a list of all elements |
//! | `max_by(f64::total_cmp)` | `max_by(\|a, b\| a.total_cmp(b))` |
//!
//! Ensures: Rust's value. Of what stands behind `flat_map` only ends are said so that ask for all elements.
//! Cost: that of what is written.

use crate::iterators::{is_chain, split};
use crate::syntax::unwrapped;
use quote::ToTokens;
use syn::{Expr, ExprMethodCall, GenericArgument, Pat, Type};

/// The first type that a call is given, `sum::<T>()`.
fn given(end: &ExprMethodCall) -> Option<&Type> {
    match end.turbofish.as_ref()?.args.first()? {
        GenericArgument::Type(ty) => Some(ty),
        _ => None,
    }
}

fn is_total(end: &ExprMethodCall) -> bool {
    (end.method == "sum" || end.method == "product") && end.args.is_empty()
}

/// `let total: Option<f64> = CHAIN.sum();` with the type behind `sum`.
pub(crate) fn typed(local: &syn::Local) -> Option<syn::Local> {
    let (Pat::Type(typed), Some(init)) = (&local.pat, &local.init) else { return None };
    let Expr::MethodCall(end) = unwrapped(&init.expr) else { return None };
    if !is_total(end) || end.turbofish.is_some() || !is_chain(end) {
        return None;
    }
    let ty = &*typed.ty;
    crate::types::success(ty).or(crate::types::argument_of(ty, "Option"))?;
    let mut local = local.clone();
    local.pat = (*typed.pat).clone();
    let mut end = end.clone();
    end.turbofish = Some(syn::parse_quote!(::<#ty>));
    if let Some(init) = &mut local.init {
        *init.expr = Expr::MethodCall(end);
    }
    Some(local)
}

/// What such an end is.
pub(crate) fn told(end: &ExprMethodCall) -> Option<Expr> {
    if is_total(end) {
        return total(end);
    }
    let (calls, source) = split(&end.receiver);
    let nested = |call: &&ExprMethodCall| call.method == "flat_map" || call.method == "flatten";
    let staged = !calls.is_empty();
    let chain = &end.receiver;
    match (end.method.to_string().as_str(), &end.args.iter().collect::<Vec<_>>()[..]) {
        ("nth", [at]) if staged => Some(syn::parse_quote!({
            let mut __jut_left: usize = #at;
            let mut __jut_found = None;
            for __jut_one in #chain {
                if __jut_left == 0 {
                    __jut_found = Some(__jut_one);
                    break;
                }
                __jut_left -= 1;
            }
            __jut_found
        })),
        ("next", []) if staged => Some(syn::parse_quote!({
            let mut __jut_found = None;
            for __jut_one in #chain {
                __jut_found = Some(__jut_one);
                break;
            }
            __jut_found
        })),
        ("min_by" | "max_by", [order]) if is_order(order) => {
            let Expr::Path(path) = unwrapped(order) else { return None };
            let name = &path.path.segments.last()?.ident;
            let mut end = end.clone();
            end.args[0] = syn::parse_quote!(|__jut_a, __jut_b| __jut_a.#name(__jut_b));
            Some(Expr::MethodCall(end))
        }
        ("last" | "min_by" | "max_by" | "reduce" | "min" | "max", _)
            if calls.iter().any(nested)
                && !source.to_token_stream().to_string().contains("iter_mut") =>
        {
            let mut end = end.clone();
            *end.receiver = syn::parse_quote!(__jut_all.iter().copied());
            Some(syn::parse_quote!({
                let __jut_all = #chain.collect::<Vec<_>>();
                #end
            }))
        }
        _ => None,
    }
}

/// Whether an order is one by its name.
fn is_order(order: &Expr) -> bool {
    match unwrapped(order) {
        Expr::Path(path) => {
            path.path.segments.last().is_some_and(|s| s.ident == "total_cmp" || s.ident == "cmp")
        }
        _ => false,
    }
}

/// The sum or product of what is in `Option`s or `Result`s.
fn total(end: &ExprMethodCall) -> Option<Expr> {
    let whole = given(end)?;
    let (of, failing) = match crate::types::success(whole) {
        Some(of) => (of, true),
        None => (crate::types::argument_of(whole, "Option")?, false),
    };
    let sum = end.method == "sum";
    let integer = matches!(of, Type::Path(path) if path.path.get_ident().is_some_and(|name| {
        crate::types::Ty::number(&name.to_string()).is_some_and(|number| number.is_integer())
    }));
    let start: Expr = match (integer, sum) {
        (true, true) => syn::parse_quote!(0),
        (true, false) => syn::parse_quote!(1),
        (false, true) => syn::parse_quote!(-0.0),
        (false, false) => syn::parse_quote!(1.0),
    };
    let (there, nothing): (Pat, Pat) = match failing {
        true => (syn::parse_quote!(Ok(__jut_value)), syn::parse_quote!(Err(_))),
        false => (syn::parse_quote!(Some(__jut_value)), syn::parse_quote!(None)),
    };
    let next: Expr = match sum {
        true => syn::parse_quote!(__jut_total + __jut_value),
        false => syn::parse_quote!(__jut_total * __jut_value),
    };
    let chain = &end.receiver;
    let declared: syn::Stmt = match of {
        Type::Infer(_) => syn::parse_quote!(let mut __jut_total = #start;),
        of => syn::parse_quote!(let mut __jut_total: #of = #start;),
    };
    Some(syn::parse_quote!({
        #declared
        let mut __jut_goes = true;
        for __jut_one in #chain {
            match __jut_one {
                #there => { __jut_total = #next; }
                #nothing => {
                    __jut_goes = false;
                    break;
                }
            }
        }
        if __jut_goes { Some(__jut_total) } else { None }
    }))
}

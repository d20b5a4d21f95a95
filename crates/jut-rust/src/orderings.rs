//! A `match` on how two numbers are ordered, as one on a number:
//!
//! ```text
//! match a.partial_cmp(&b) {               match { if a < b { -1 } else if a == b { 0 } else if a > b { 1 } else { 2 } } {
//!     Some(Ordering::Less) => x,              -1 => x,
//!     Some(_) => y,                           -1 | 0 | 1 => y,
//!     None => z,                              2 => z,
//! }                                       }
//! ```
//!
//! Both numbers are computed once, before. Requires: the arms say which order they mean, and give it no name.

use crate::syntax::unwrapped;
use syn::{Expr, ExprMatch, Pat};

/// The number of an order as a pattern.
fn number(pattern: &Pat, partial: bool) -> Option<Pat> {
    let known = |name: &syn::Ident| -> Option<Pat> {
        Some(match name.to_string().as_str() {
            "Less" if !partial => syn::parse_quote!(-1),
            "Equal" if !partial => syn::parse_quote!(0),
            "Greater" if !partial => syn::parse_quote!(1),
            "None" if partial => syn::parse_quote!(2),
            _ => return None,
        })
    };
    match pattern {
        Pat::Wild(_) => Some(pattern.clone()),
        Pat::Paren(inner) => number(&inner.pat, partial),
        Pat::Ident(ident) if ident.subpat.is_none() => known(&ident.ident),
        Pat::Path(path) => known(&path.path.segments.last()?.ident),
        Pat::TupleStruct(some) if partial && some.path.is_ident("Some") => {
            match &some.elems.iter().collect::<Vec<_>>()[..] {
                [Pat::Wild(_)] => Some(syn::Pat::Or(or_of(&[-1, 0, 1]))),
                [inner] => number(inner, false),
                _ => None,
            }
        }
        Pat::Or(or) => {
            let cases: Option<_> = or.cases.iter().map(|case| number(case, partial)).collect();
            Some(Pat::Or(syn::PatOr { cases: cases?, ..or.clone() }))
        }
        _ => None,
    }
}

/// `-1 | 0 | 1`
fn or_of(numbers: &[i32]) -> syn::PatOr {
    let cases = numbers.iter().map(|k| -> Pat { syn::parse_quote!(#k) }).collect();
    syn::PatOr { attrs: Vec::new(), leading_vert: None, cases }
}

/// A `match` on an order as one on its number; nothing for any other.
fn numbered(m: &ExprMatch) -> Option<ExprMatch> {
    let Expr::MethodCall(call) = unwrapped(&m.expr) else { return None };
    let partial = match call.method.to_string().as_str() {
        "partial_cmp" => true,
        "cmp" => false,
        _ => return None,
    };
    let [other] = &call.args.iter().collect::<Vec<_>>()[..] else { return None };
    let arms: Option<Vec<syn::Arm>> = m
        .arms
        .iter()
        .map(|arm| Some(syn::Arm { pat: number(&arm.pat, partial)?, ..arm.clone() }))
        .collect();
    let (left, right): (&Expr, Expr) = match unwrapped(other) {
        Expr::Reference(reference) => (&call.receiver, (*reference.expr).clone()),
        other => (&call.receiver, syn::parse_quote!(*#other)),
    };
    let subject: Expr = syn::parse_quote!({
        let (__jut_left, __jut_right) = (#left, #right);
        if __jut_left < __jut_right {
            -1
        } else if __jut_left == __jut_right {
            0
        } else if __jut_left > __jut_right {
            1
        } else {
            2
        }
    });
    Some(ExprMatch { expr: Box::new(subject), arms: arms?, ..m.clone() })
}

/// A `match` as it is translated: on a number where it is one on an order, and with an arm for each case that binds names.
pub(crate) fn apart(m: &ExprMatch) -> Option<ExprMatch> {
    let numbered = numbered(m);
    match crate::cases::told(numbered.as_ref().unwrap_or(m)) {
        Some(apart) => Some(apart),
        None => numbered,
    }
}

//! `binary_search_by` and its like: a search by halves, in the steps of Rust's, said by other Rust.
//!
//! | | is |
//! |---|---|
//! | `x.binary_search_by(\|p\| p.total_cmp(&k))` | a loop; `Some(at)` where one is equal, and `None` |
//! | `x.binary_search(&k)`, `x.binary_search_by_key(&k, \|p\| p.n)` | the same with `p.cmp(&k)`, `p.n.cmp(&k)` |
//! | `match x.binary_search(&k) { Ok(i) => a, Err(i) => b }` | both arms with the place that the loop finds |
//! | `x.binary_search(&k).unwrap_or_else(\|i\| e)` | the same with `Ok(i) => i, Err(i) => e` |
//!
//! Ensures: Rust's value, also where several are equal, or the list is in no order.
//! Cost: as many comparisons as the length has binary digits, and one.

use crate::options::{Sides, sides};
use crate::syntax::{is_search, unwrapped};
use crate::{Refusal, refuse};
use syn::{Expr, ExprMatch, ExprMethodCall, Pat, Stmt};

/// A search as an `Option`; nothing if it is none.
pub(crate) fn found(call: &ExprMethodCall) -> Result<Option<Expr>, Refusal> {
    let Some(search) = search(call)? else { return Ok(None) };
    Ok(Some(syn::parse_quote!({
        let (__jut_found, __jut_place) = #search;
        if __jut_found { Some(__jut_place) } else { None }
    })))
}

/// `x.binary_search(&k).unwrap_or_else(|i| e)`; nothing if it is none.
pub(crate) fn otherwise(call: &ExprMethodCall) -> Result<Option<Expr>, Refusal> {
    let Expr::MethodCall(inner) = unwrapped(&call.receiver) else { return Ok(None) };
    let Some(Expr::Closure(other)) = call.args.first().map(unwrapped) else { return Ok(None) };
    let (Some(pattern), 1) = (other.inputs.first(), other.inputs.len()) else { return Ok(None) };
    if call.method != "unwrap_or_else" {
        return Ok(None);
    }
    let (Some(search), value) = (search(inner)?, &other.body) else { return Ok(None) };
    Ok(Some(syn::parse_quote!({
        let (__jut_found, __jut_place) = #search;
        if __jut_found { __jut_place } else { let #pattern = __jut_place; #value }
    })))
}

/// A `match` on a search of which an arm looks into the `Err`; nothing if it is none.
pub(crate) fn matched(m: &ExprMatch) -> Result<Option<Expr>, Refusal> {
    let Expr::MethodCall(call) = unwrapped(&m.expr) else { return Ok(None) };
    if !is_search(&call.method.to_string()) {
        return Ok(None);
    }
    let (mut there, mut missing) = (Vec::new(), Vec::new());
    for arm in &m.arms {
        let comma = Some(Default::default());
        let of = |pattern: &Pat| syn::Arm { pat: pattern.clone(), comma, ..arm.clone() };
        match &arm.pat {
            Pat::TupleStruct(inner) if inner.path.is_ident("Ok") && inner.elems.len() == 1 => {
                there.push(of(&inner.elems[0]));
            }
            Pat::TupleStruct(inner) if inner.path.is_ident("Err") && inner.elems.len() == 1 => {
                missing.push(of(&inner.elems[0]));
            }
            Pat::Wild(_) => {
                there.push(of(&arm.pat));
                missing.push(of(&arm.pat));
            }
            other => {
                return refuse(
                    other,
                    "the place that a search finds has a name here: write `Ok(i)` and `Err(i)`",
                );
            }
        }
    }
    let Some(search) = search(call)? else { return Ok(None) };
    Ok(Some(syn::parse_quote!({
        let (__jut_found, __jut_place) = #search;
        if __jut_found {
            match __jut_place { #(#there)* }
        } else {
            match __jut_place { #(#missing)* }
        }
    })))
}

/// The search as a block that gives whether one is equal, and the place.
fn search(call: &ExprMethodCall) -> Result<Option<Expr>, Refusal> {
    let name = call.method.to_string();
    if !is_search(&name) {
        return Ok(None);
    }
    let (one, element): (Pat, Expr) = (syn::parse_quote!(__jut_one), syn::parse_quote!(__jut_one));
    let arguments: Vec<&Expr> = call.args.iter().map(unwrapped).collect();
    let (pattern, wanted, sides) = match (name.as_str(), &arguments[..]) {
        ("binary_search", [wanted]) => {
            (one, Some(wanted), Sides { left: &element, right: wanted, total: false, equal: true })
        }
        ("binary_search_by_key", [wanted, Expr::Closure(key)]) if key.inputs.len() == 1 => {
            let sides = Sides { left: &key.body, right: wanted, total: false, equal: true };
            (key.inputs[0].clone(), Some(wanted), sides)
        }
        ("binary_search_by", [Expr::Closure(order)]) if order.inputs.len() == 1 => {
            (order.inputs[0].clone(), None, sides(&order.body)?)
        }
        _ => return refuse(&call.method, "write the order as `|v| v.total_cmp(&x)` here"),
    };
    let value = |side: &Expr| match unwrapped(side) {
        Expr::Reference(inner) => (*inner.expr).clone(),
        other => other.clone(),
    };
    let (left, right) = (value(sides.left), value(sides.right));
    // What is wanted is computed once, before anything is looked at.
    let first: Option<Stmt> = wanted.map(|wanted| {
        let wanted = value(wanted);
        syn::parse_quote!(let __jut_wanted = #wanted;)
    });
    let right = if first.is_some() { syn::parse_quote!(__jut_wanted) } else { right };
    let ordered: Option<Stmt> = (!sides.total && !sides.equal).then(|| {
        syn::parse_quote!(assert!(
            __jut_left == __jut_left && __jut_right == __jut_right,
            "called `Option::unwrap()` on a `None` value"
        );)
    });
    let less = |a: &Expr, b: &Expr| -> Expr {
        match sides.total {
            true => syn::parse_quote!(
                (#a < #b || !(#a != #a) && #b != #b || #a == #b && #a.is_sign_negative() && !#b.is_sign_negative())
            ),
            false => syn::parse_quote!((#a < #b)),
        }
    };
    let (a, b): (Expr, Expr) = (syn::parse_quote!(__jut_left), syn::parse_quote!(__jut_right));
    let (below, above) = (less(&a, &b), less(&b, &a));
    let list = &call.receiver;
    Ok(Some(syn::parse_quote!({
        #first
        let __jut_list = &#list;
        let __jut_all = __jut_list.len();
        let mut __jut_size = __jut_all;
        let mut __jut_at = 0_usize;
        let mut __jut_equal = false;
        while __jut_size > 1 {
            let __jut_half = __jut_size / 2;
            let __jut_middle = __jut_at + __jut_half;
            let #pattern = &__jut_list[__jut_middle];
            let __jut_left = #left;
            let __jut_right = #right;
            #ordered
            if !#above {
                __jut_at = __jut_middle;
            }
            __jut_size -= __jut_half;
        }
        if __jut_all > 0 {
            let #pattern = &__jut_list[__jut_at];
            let __jut_left = #left;
            let __jut_right = #right;
            #ordered
            if #below {
                __jut_at += 1;
            } else if !#above {
                __jut_equal = true;
            }
        }
        (__jut_equal, __jut_at)
    })))
}

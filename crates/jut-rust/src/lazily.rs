//! Elements that are chosen by a closure which may fail, before `zip`, `take` or `enumerate`: no more of them are computed than Rust asks for.
//!
//! Else they make a list first ([`crate::elements`]), of which all elements are computed. Here they are counted as they come:
//!
//! | | is |
//! |---|---|
//! | `x.iter().filter(f).enumerate()` | `x.iter().filter(f).map(\|v\| { let at = k; k += 1; (at, v) })` |
//! | `x.iter().filter(f).zip(&w)` | `x.iter().filter(f).take_while(\|_\| k < w.len()).map(\|v\| { .. (v, &w[at]) })`: Rust looks for one element more too |
//! | `w.iter().zip(x.iter().filter(f))` | the same with `take_while` before `filter`, as Rust asks for one of `w` first |
//! | `x.iter().filter(f).take(n)` | `take_while` before `filter` as well |
//!
//! So it is in a `for`, and there over places, `m.iter_mut().flatten().zip(&x)`, as well.
//!
//! Requires: the end asks for all elements; what is chosen is so by `filter` and `filter_map`; the other side is a list with a name.

use crate::iterators::{STAGES, is_iterator};
use crate::syntax::unwrapped;
use crate::visited::{Node, each};
use syn::{BinOp, Expr, ExprForLoop, ExprMethodCall, Pat, Stmt};

/// The ends of which this is so.
const ENDS: &[&str] =
    &["sum", "product", "fold", "count", "for_each", "all", "any", "collect", "last"];

/// Methods that do not fail beside those of numbers; an own one may.
const TOTAL: &[&str] = &["is_nan", "is_finite", "is_some", "is_none", "is_empty", "len", "clone"];

/// Such a chain as a block; nothing of any other.
pub(crate) fn told(end: &ExprMethodCall) -> Option<Expr> {
    if !ENDS.iter().any(|name| end.method == name) {
        return None;
    }
    let mut own = end.clone();
    let mut first = None;
    *own.receiver = counted(&end.receiver, &mut first)?;
    Some(syn::parse_quote!({ let mut __jut_k = 0_usize; #first #own }))
}

/// Such a `for` as statements; nothing of any other.
pub(crate) fn looped(l: &ExprForLoop) -> Option<Vec<Stmt>> {
    let mut own = l.clone();
    let mut first = None;
    match flattened(l) {
        Some(told) => own = told,
        None => *own.expr = counted(&l.expr, &mut first)?,
    }
    let counter: Stmt = syn::parse_quote!(let mut __jut_k = 0_usize;);
    let whole = Stmt::Expr(Expr::ForLoop(own), None);
    Some([counter].into_iter().chain(first).chain([whole]).collect())
}

/// Whether a `for` goes over such a chain.
pub(crate) fn is_told(source: &Expr) -> bool {
    counted(source, &mut None).is_some() || of_places(source).is_some()
}

/// `for (p, v) in m.iter_mut().flatten().zip(x)` over the elements of rows, which are places, with a counter for those of `x`; or for their numbers,
/// `enumerate`.
fn flattened(l: &ExprForLoop) -> Option<ExprForLoop> {
    let (places, other) = of_places(&l.expr)?;
    let Pat::Tuple(both) = &*l.pat else { return None };
    let [first, second] = &both.elems.iter().collect::<Vec<_>>()[..] else { return None };
    let body = &l.body;
    let (place, body): (&Pat, syn::Block) = match other {
        Some(list) => {
            let rest = syn::parse_quote!({
                if __jut_k < #list.len() {
                    let #second = &#list[__jut_k];
                    __jut_k += 1;
                    #body
                }
            });
            (first, rest)
        }
        None => (second, syn::parse_quote!({ let #first = __jut_k; __jut_k += 1; #body })),
    };
    let (pat, expr) = (Box::new(place.clone()), Box::new(places.clone()));
    Some(ExprForLoop { pat, expr, body, ..l.clone() })
}

/// The places of `m.iter_mut().flatten().zip(x)`, and the list that they stand beside; that of `enumerate` is none.
fn of_places(source: &Expr) -> Option<(&Expr, Option<&Expr>)> {
    let Expr::MethodCall(call) = unwrapped(source) else { return None };
    let other = match (call.method.to_string().as_str(), call.args.first()) {
        ("zip", Some(other)) => Some(list_of(other)?),
        ("enumerate", None) => None,
        _ => return None,
    };
    let Expr::MethodCall(flat) = unwrapped(&call.receiver) else { return None };
    let Expr::MethodCall(rows) = unwrapped(&flat.receiver) else { return None };
    (flat.method == "flatten" && rows.method == "iter_mut").then_some((&*call.receiver, other))
}

/// The iterator with a counter in the place of the first `zip`, `take` or `enumerate`, and what stands before it.
fn counted(iterator: &Expr, first: &mut Option<Stmt>) -> Option<Expr> {
    let Expr::MethodCall(call) = unwrapped(iterator) else { return None };
    let chosen = is_chosen(&call.receiver);
    let from = &call.receiver;
    match (call.method.to_string().as_str(), call.args.first()) {
        ("enumerate", None) if chosen => Some(syn::parse_quote!(
            #from.map(|__jut_v| { let __jut_at = __jut_k; __jut_k += 1; (__jut_at, __jut_v) })
        )),
        ("take", Some(number)) if chosen => {
            *first = Some(syn::parse_quote!(let __jut_n: usize = #number;));
            let from = ending(from, &syn::parse_quote!(__jut_n));
            Some(syn::parse_quote!(#from.map(|__jut_v| { __jut_k += 1; __jut_v })))
        }
        ("zip", Some(other)) if chosen => {
            let list = list_of(other)?;
            Some(syn::parse_quote!(
                #from.take_while(|_| __jut_k < #list.len()).map(|__jut_v| {
                    let __jut_at = __jut_k;
                    __jut_k += 1;
                    (__jut_v, &#list[__jut_at])
                })
            ))
        }
        ("zip", Some(other)) if is_chosen(other) => {
            let list = list_of(from)?;
            let other = ending(other, &syn::parse_quote!(#list.len()));
            Some(syn::parse_quote!(
                #other.map(|__jut_v| {
                    let __jut_at = __jut_k;
                    __jut_k += 1;
                    (&#list[__jut_at], __jut_v)
                })
            ))
        }
        (name, _) if STAGES.contains(&name) => {
            let mut own = call.clone();
            *own.receiver = counted(&call.receiver, first)?;
            Some(Expr::MethodCall(own))
        }
        _ => None,
    }
}

/// The elements, as long as fewer than so many were counted.
fn ending(iterator: &Expr, number: &Expr) -> Expr {
    match unwrapped(iterator) {
        Expr::MethodCall(call) if is_stage(call) => {
            let mut own = call.clone();
            *own.receiver = ending(&call.receiver, number);
            Expr::MethodCall(own)
        }
        source => syn::parse_quote!((#source).take_while(|_| __jut_k < #number)),
    }
}

fn is_stage(call: &ExprMethodCall) -> bool {
    STAGES.contains(&call.method.to_string().as_str()) && is_iterator(&call.receiver)
}

/// Whether elements are chosen by closures of which one may fail, one by one.
fn is_chosen(iterator: &Expr) -> bool {
    let (mut source, mut chosen, mut fails) = (unwrapped(iterator), false, false);
    while let Expr::MethodCall(call) = source {
        if !is_stage(call) {
            break;
        }
        match call.method.to_string().as_str() {
            "filter" | "filter_map" => chosen = true,
            "map" | "copied" | "cloned" | "inspect" => {}
            _ => return false,
        }
        // A function by its name may.
        fails |= call.args.iter().any(|f| matches!(f, Expr::Path(_)) || may_fail(f));
        source = unwrapped(&call.receiver);
    }
    chosen && fails
}

/// Whether something in a closure may fail, as far as is seen.
fn may_fail(closure: &Expr) -> bool {
    let mut fails = false;
    each(closure, &mut |node| {
        fails |= match node {
            Node::Macro(_) => true,
            Node::Expr(Expr::Index(_)) => true,
            Node::Expr(Expr::Call(call)) => !crate::syntax::is_some(call),
            Node::Expr(Expr::MethodCall(call)) => {
                let name = call.method.to_string();
                !crate::methods::may_be_own(&name) && !TOTAL.contains(&name.as_str())
            }
            Node::Expr(Expr::Binary(binary)) => {
                matches!(binary.op, BinOp::Sub(_) | BinOp::Div(_) | BinOp::Rem(_))
            }
            _ => false,
        };
        true
    });
    fails
}

/// The list that an iterator goes over, if it has a name.
fn list_of(iterator: &Expr) -> Option<&Expr> {
    match unwrapped(iterator) {
        path @ Expr::Path(_) => Some(path),
        Expr::Reference(inner) => list_of(&inner.expr),
        Expr::MethodCall(call) if call.args.is_empty() => {
            let plain = ["iter", "copied", "cloned"].iter().any(|name| call.method == name);
            if plain { list_of(&call.receiver) } else { None }
        }
        _ => None,
    }
}

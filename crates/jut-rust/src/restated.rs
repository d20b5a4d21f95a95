//! Methods of lists, `matches!` and `std::mem::swap`, that are said by other Rust: that is translated in their place.
//!
//! | | is |
//! |---|---|
//! | `matches!(x, P if g)` | `match x { P => g, _ => false }` |
//! | `std::mem::swap(&mut a, &mut b)` | `(a, b) = (b, a)` |
//! | `std::mem::replace(&mut a, e)`, `std::mem::take(&mut a)` | what a was, and `a = e`, where e of `take` is zero, `false`, `None` or a list without elements |
//! | `c.then(\|\| e)`, `c.then_some(e)` | `if c { Some(e) } else { None }` |
//! | `(a..b).contains(&v)` | `a <= v && v < b`, each computed once |
//! | `x.contains(&k)` | `x.iter().any(\|v\| *v == k)`, k computed before |
//! | `x.is_sorted()` | `x.windows(2).all(\|w\| w[0] <= w[1])` |
//! | `x.partition_point(f)` | a search by halves |
//! | `CHAIN.try_fold(s, \|a, v\| e)` | a loop over the chain that ends at the first `None` or `Err` |
//!
//! Ensures: Rust's value. Of a list that f does not part, `partition_point` may give another place than Rust, which leaves open
//! which one that is.
//! Cost: that of what is written.

use crate::lowering::{Local, Lowering};
use crate::syntax::unwrapped;
use crate::types::{Extent, Ty};
use crate::value::Value;
use crate::{Refusal, refuse};
use proc_macro2::TokenStream;
use std::collections::HashMap;
use syn::parse::Parser;
use syn::spanned::Spanned;
use syn::{Expr, ExprCall, ExprMethodCall, Pat, Token};

/// `matches!(x, P if g)`.
pub(crate) fn matched(tokens: TokenStream) -> Result<Expr, Refusal> {
    let parser = |input: syn::parse::ParseStream<'_>| -> syn::Result<Expr> {
        let value: Expr = input.parse()?;
        input.parse::<Token![,]>()?;
        let pattern = Pat::parse_multi_with_leading_vert(input)?;
        let guard = match input.peek(Token![if]) {
            true => {
                input.parse::<Token![if]>()?;
                Some(input.parse::<Expr>()?)
            }
            false => None,
        };
        input.parse::<Option<Token![,]>>()?;
        // Where the guard is false, no other arm is true: so it may stand in the arm, and fail there.
        let fits = guard.unwrap_or_else(|| syn::parse_quote!(true));
        Ok(syn::parse_quote!(match #value { #pattern => #fits, _ => false }))
    };
    parser.parse2(tokens).map_err(|e| Refusal::new(Some(e.span()), e.to_string()))
}

/// `c.then(|| e)` and `c.then_some(e)` as a branch.
pub(crate) fn conditional(call: &ExprMethodCall) -> Option<Expr> {
    let (condition, argument) = (&call.receiver, call.args.first()?);
    match (call.method.to_string().as_str(), unwrapped(argument)) {
        ("then", Expr::Closure(closure)) if closure.inputs.is_empty() => {
            let value = &closure.body;
            Some(syn::parse_quote!(if #condition { Some(#value) } else { None }))
        }
        // The value is computed in any case.
        ("then_some", value) => Some(syn::parse_quote!({
            let __jut_there = #condition;
            let __jut_value = #value;
            if __jut_there { Some(__jut_value) } else { None }
        })),
        _ => None,
    }
}

/// `(a..b).contains(&v)` as comparisons.
pub(crate) fn within(call: &ExprMethodCall) -> Option<Expr> {
    let Expr::Range(range) = unwrapped(&call.receiver) else { return None };
    let asked = call.method == "contains" && call.args.len() == 1;
    let value = call.args.first().filter(|_| asked)?;
    let value = match unwrapped(value) {
        Expr::Reference(inner) => (*inner.expr).clone(),
        other => syn::parse_quote!(*#other),
    };
    // In Rust's order: the ends, then the value.
    let mut before: Vec<syn::Stmt> = Vec::new();
    let mut named = |name: &str, value: &Expr| -> Expr {
        if is_plain(value) {
            return value.clone();
        }
        let name = syn::Ident::new(name, call.method.span());
        before.push(syn::parse_quote!(let #name = #value;));
        syn::parse_quote!(#name)
    };
    let first = range.start.as_ref().map(|e| named("__jut_first", e));
    let last = range.end.as_ref().map(|e| named("__jut_last", e));
    let value = named("__jut_value", &value);
    let low = first.map(|first| -> Expr { syn::parse_quote!(#first <= #value) });
    let high = last.map(|last| -> Expr {
        match range.limits {
            syn::RangeLimits::HalfOpen(_) => syn::parse_quote!(#value < #last),
            syn::RangeLimits::Closed(_) => syn::parse_quote!(#value <= #last),
        }
    });
    let fits: Expr = match (low, high) {
        (Some(low), Some(high)) => syn::parse_quote!(#low && #high),
        (Some(one), None) | (None, Some(one)) => one,
        (None, None) => syn::parse_quote!(true),
    };
    Some(syn::parse_quote!({ #(#before)* #fits }))
}

/// What `try_fold` begins with, and what it does with that and an element: two patterns and a value. Nothing if it has other arguments.
pub(crate) fn steps(end: &ExprMethodCall) -> Option<(&Expr, Pat, Pat, Expr)> {
    let (Some(start), Some(step), 2) = (end.args.first(), end.args.last(), end.args.len()) else {
        return None;
    };
    match unwrapped(step) {
        Expr::Closure(closure) if closure.inputs.len() == 2 => {
            // The type of an element is that of the chain.
            let element = match &closure.inputs[1] {
                Pat::Type(typed) => (*typed.pat).clone(),
                other => other.clone(),
            };
            // What a `return` ends stands in a branch.
            let told = crate::unjumped::told(closure);
            let body = told.map_or_else(|| (*closure.body).clone(), |told| *told.body);
            Some((start, closure.inputs[0].clone(), element, body))
        }
        Expr::Path(path) => {
            let body = syn::parse_quote!(#path(__jut_so_far, __jut_element));
            let named = |name: &str| -> Pat {
                let name = syn::Ident::new(name, end.method.span());
                syn::parse_quote!(#name)
            };
            Some((start, named("__jut_so_far"), named("__jut_element"), body))
        }
        _ => None,
    }
}

/// `CHAIN.try_fold(s, |a, v| e)` as a loop, the value of which is an `Option`.
pub(crate) fn tried(end: &ExprMethodCall) -> Result<Expr, Refusal> {
    let Some((start, so_far, element, body)) = steps(end) else {
        return refuse(&end.method, "write `|so_far, v| ..` here");
    };
    if let Some(span) = crate::iterators::returns_in(&body) {
        return Err(Refusal::new(Some(span), crate::iterators::OUT_OF_A_CLOSURE));
    }
    if let Some(question) = crate::syntax::question(&body) {
        return refuse(
            &question,
            "this ends the closure: put a `?` behind the whole `try_fold(..)`, in a function that gives a `Result`, or write a `for` loop",
        );
    }
    let chain = &end.receiver;
    let failing = ["Ok", "Err"].iter().any(|name| crate::syntax::has_word(&body, name));
    let (there, nothing): (Pat, Pat) = match failing {
        true => (syn::parse_quote!(Ok(__jut_next)), syn::parse_quote!(Err(_))),
        false => (syn::parse_quote!(Some(__jut_next)), syn::parse_quote!(None)),
    };
    Ok(syn::parse_quote!({
        let mut __jut_state = #start;
        let mut __jut_goes = true;
        for #element in #chain {
            let #so_far = __jut_state;
            match #body {
                #there => { __jut_state = __jut_next; }
                #nothing => {
                    __jut_goes = false;
                    break;
                }
            }
        }
        if __jut_goes { Some(__jut_state) } else { None }
    }))
}

/// A literal or a name, which may be looked at more than once.
fn is_plain(value: &Expr) -> bool {
    match unwrapped(value) {
        Expr::Lit(_) | Expr::Path(_) => true,
        Expr::Unary(unary) => is_plain(&unary.expr),
        Expr::Field(field) => is_plain(&field.base),
        _ => false,
    }
}

/// `std::mem::swap(&mut a, &mut b)`, or of names that are `&mut`, as an assignment.
pub(crate) fn swapped(call: &ExprCall) -> Option<syn::ExprAssign> {
    let is_swap = of_memory(call)? == "swap";
    match (is_swap, &call.args.iter().map(referred).collect::<Vec<_>>()[..]) {
        (true, [a, b]) => Some(syn::parse_quote!((#a, #b) = (#b, #a))),
        _ => None,
    }
}

/// The name of a function of `std::mem`, `mem::swap(..)`.
fn of_memory(call: &ExprCall) -> Option<String> {
    let Expr::Path(path) = unwrapped(&call.func) else { return None };
    let mut words = path.path.segments.iter().rev().map(|s| s.ident.to_string());
    let name = words.next()?;
    (words.next()? == "mem").then_some(name)
}

/// The place that a `&mut` is one of.
fn referred(argument: &Expr) -> Expr {
    match unwrapped(argument) {
        Expr::Reference(reference) => (*reference.expr).clone(),
        name => syn::parse_quote!(*#name),
    }
}

/// `std::mem::replace(&mut a, e)` or `std::mem::take(&mut a)`: the place, and the value that it gets, if that is written.
pub(crate) fn replaced(call: &ExprCall) -> Option<(Expr, Option<&Expr>)> {
    match (of_memory(call)?.as_str(), &call.args.iter().collect::<Vec<_>>()[..]) {
        ("replace", [place, value]) => Some((referred(place), Some(value))),
        ("take", [place]) => Some((referred(place), None)),
        _ => None,
    }
}

impl Lowering<'_> {
    /// What a place was, which gets another value.
    pub fn replacement(&mut self, place: &Expr, value: Option<&Expr>) -> Result<Value, Refusal> {
        let value = match value {
            Some(value) if !crate::syntax::is_empty(value) => self.expression(value)?,
            _ => {
                let ty = match self.whole_list(place) {
                    Some(local) => local.ty.clone(),
                    None => self.nested(|this| this.place(place))?.1.ty,
                };
                let ty = self.resolve(&ty);
                if let Ty::Of(..) = ty {
                    let said = "what a struct is by default is written: `std::mem::replace(&mut p, Point::default())`";
                    return refuse(place, said);
                }
                match &ty {
                    Ty::Array(element, Extent::Slice | Extent::Vec) => {
                        let (one, i) = (self.neutral(element, place)?, self.names.unique("i"));
                        Value::name(format!("build ({i} < 0) {{ {one} }}"), ty, i64::MIN)
                    }
                    _ => Value::name(self.neutral(&ty, place)?, ty, i64::MIN),
                }
            }
        };
        let value = self.named(Value { stable: false, ..value }, "new");
        let old = self.expression(place)?;
        let old = self.named(Value { stable: false, ..old }, "old");
        let name = syn::Ident::new("__jut_new", place.span());
        self.scopes.push(HashMap::new());
        self.declare(&name.to_string(), Local::value(value.text, value.ty));
        let done = self.assignment(place, &syn::parse_quote!(#name));
        self.scopes.pop();
        done.map(|()| old)
    }

    /// A method of a list that is said by other Rust, if it is one.
    pub fn restated(
        &mut self,
        receiver: &Value,
        call: &ExprMethodCall,
    ) -> Result<Option<Value>, Refusal> {
        let arguments: Vec<&Expr> = call.args.iter().collect();
        let said: Expr = match (call.method.to_string().as_str(), &arguments[..]) {
            ("contains", [one]) => syn::parse_quote!({
                let __jut_wanted = *(#one);
                __jut_list.iter().any(|__jut_one| *__jut_one == __jut_wanted)
            }),
            ("is_sorted", []) => {
                syn::parse_quote!(
                    __jut_list.windows(2).all(|__jut_two| __jut_two[0] <= __jut_two[1])
                )
            }
            ("partition_point", [test @ Expr::Closure(_)]) => syn::parse_quote!({
                let __jut_test = #test;
                let (mut __jut_low, mut __jut_high) = (0_usize, __jut_list.len());
                while __jut_low < __jut_high {
                    let __jut_middle = __jut_low + (__jut_high - __jut_low) / 2;
                    if __jut_test(&__jut_list[__jut_middle]) {
                        __jut_low = __jut_middle + 1;
                    } else {
                        __jut_high = __jut_middle;
                    }
                }
                __jut_low
            }),
            ("partition_point", [test]) => return refuse(test, "write `|v| ..` here"),
            _ => return Ok(None),
        };
        // No name of Rust's users.
        let list = self.named(receiver.clone(), "list");
        self.scopes.push(HashMap::new());
        self.declare("__jut_list", Local::value(list.text, list.ty));
        let value = self.expression(&said);
        self.scopes.pop();
        value.map(Some)
    }
}

//! Parts of lists that Rust hands out by methods, said by other Rust: that is translated in their place.
//!
//! | | is |
//! |---|---|
//! | `x.split_first()`, `x.split_last()` by patterns | slice patterns, `[first, rest @ ..]` |
//! | `let (a, b) = x.split_first().unwrap();` | `let (a, b) = (&x[0], &x[1..]);` |
//! | `if let Some(v) = x.last_mut() { .. }` | `if x.len() > 0 { let v = &mut x[x.len() - 1]; .. }` |
//! | `*x.last_mut().unwrap() = e;` | `x[x.len() - 1] = e;` |
//! | `let (a, b) = x.split_at_mut(k); ..`, also of `x[a..b]` | two lists, which are put back behind what changes them |
//! | `let row = &mut x[a..b]; ..` | a list, which is put back likewise |
//! | `x.copy_within(a..b, k)` | `let t = x[a..b].to_vec(); x[k..][..t.len()].copy_from_slice(&t)` |
//! | `[a, b].concat()` | a list that is extended |
//!
//! Requires: of `split_at_mut` and of a part with a name, what follows has no jump out of the statements that have it, and binds the list's name to nothing else.
//! Ensures: Rust's values; what panics is an error.
//! Cost: that of what is written; of `split_at_mut` and a part, a copy of these and back.

use crate::lowering::Lowering;
use crate::syntax::{has_word, unwrapped};
use crate::visited::{Node, all};
use crate::{Refusal, refuse};
use quote::quote;
use syn::spanned::Spanned;
use syn::{Expr, ExprIf, ExprMethodCall, Ident, Local, Pat, Stmt};

/// A call of a method without arguments on what may be looked at twice.
fn plain_call<'e>(expr: &'e Expr, names: &[&str]) -> Option<&'e ExprMethodCall> {
    let Expr::MethodCall(call) = unwrapped(expr) else { return None };
    let known = names.iter().any(|name| call.method == name) && is_plain(&call.receiver);
    known.then_some(call)
}

fn is_plain(expr: &Expr) -> bool {
    match unwrapped(expr) {
        Expr::Path(_) => true,
        Expr::Field(field) => is_plain(&field.base),
        Expr::Unary(unary) => matches!(unary.op, syn::UnOp::Deref(_)) && is_plain(&unary.expr),
        _ => false,
    }
}

/// What is in a pattern `Some(p)`.
fn within_some(pattern: &Pat) -> Option<&Pat> {
    match pattern {
        Pat::TupleStruct(own) if own.path.is_ident("Some") && own.elems.len() == 1 => {
            own.elems.first()
        }
        _ => None,
    }
}

/// A pattern of `Some((a, b))` about `x.split_first()` as one of x: `[a, b @ ..]`.
fn of_slice(pattern: &Pat, first: bool) -> Option<Pat> {
    let Pat::Tuple(both) = within_some(pattern)? else { return None };
    let [one, rest] = &both.elems.iter().collect::<Vec<_>>()[..] else { return None };
    let rest = match rest {
        Pat::Ident(name) => quote!(#name @ ..),
        Pat::Wild(_) => quote!(..),
        _ => return None,
    };
    let one = if let Pat::Reference(inner) = one { &inner.pat } else { *one };
    Some(match first {
        true => syn::parse_quote!([#one, #rest]),
        false => syn::parse_quote!([#rest, #one]),
    })
}

const SPLITS: &[&str] = &["split_first", "split_last"];

/// A condition about such a part, said otherwise.
pub(crate) fn condition(own: &syn::ExprLet) -> Option<syn::ExprLet> {
    let call = plain_call(&own.expr, SPLITS)?;
    let pattern = of_slice(&own.pat, call.method == "split_first")?;
    Some(syn::ExprLet { pat: Box::new(pattern), expr: call.receiver.clone(), ..own.clone() })
}

/// A `match` of one.
pub(crate) fn matched(m: &syn::ExprMatch) -> Option<syn::ExprMatch> {
    let call = plain_call(&m.expr, SPLITS)?;
    let mut m = m.clone();
    *m.expr = (*call.receiver).clone();
    for arm in &mut m.arms {
        arm.pat = match &arm.pat {
            Pat::Ident(ident) if ident.ident == "None" => syn::parse_quote!(_),
            Pat::Wild(_) => continue,
            pattern => match within_some(pattern)? {
                // One name for both.
                Pat::Ident(both) if both.subpat.is_none() => {
                    let body = &arm.body;
                    arm.body = syn::parse_quote!({ let #both = (__jut_one, __jut_rest); #body });
                    let pattern = syn::parse_quote!(Some((__jut_one, __jut_rest)));
                    of_slice(&pattern, call.method == "split_first")?
                }
                _ => of_slice(pattern, call.method == "split_first")?,
            },
        };
    }
    Some(m)
}

/// The element that a method refers to, as an index: that of `x.last_mut()`, `x.first_mut()`, `x.get_mut(i)`.
fn element(expr: &Expr) -> Option<(&Expr, Expr)> {
    let call = plain_call(expr, &["last_mut", "first_mut", "get_mut"])?;
    let list = &*call.receiver;
    let at = match (call.method.to_string().as_str(), call.args.first()) {
        ("first_mut", None) => syn::parse_quote!(0),
        ("last_mut", None) => syn::parse_quote!(#list.len() - 1),
        ("get_mut", Some(at)) if matches!(at, Expr::Path(_) | Expr::Lit(_)) => at.clone(),
        _ => return None,
    };
    Some((list, at))
}

/// `if let Some(v) = x.last_mut() { .. }` as a test of the length.
pub(crate) fn changed_if(branch: &ExprIf) -> Option<ExprIf> {
    if let Some(told) = crate::sought::changed_if(branch) {
        return Some(told);
    }
    let Expr::Let(own) = &*branch.cond else { return None };
    let (list, at) = element(&own.expr)?;
    let pattern @ Pat::Ident(_) = within_some(&own.pat)? else { return None };
    let body = &branch.then_branch;
    let there: Expr = match &at {
        Expr::Binary(_) => syn::parse_quote!(#list.len() > 0),
        at => syn::parse_quote!(#list.len() > #at),
    };
    let statements = &body.stmts;
    let mut own = branch.clone();
    *own.cond = there;
    own.then_branch = syn::parse_quote!({ let #pattern = &mut #list[#at]; #(#statements)* });
    Some(own)
}

/// The place of `*x.last_mut().unwrap()`, without the `*`.
pub(crate) fn place(expr: &Expr) -> Option<Expr> {
    let Expr::MethodCall(call) = unwrapped(expr) else { return None };
    if call.method != "unwrap" && call.method != "expect" {
        return None;
    }
    let (list, at) = element(&call.receiver)?;
    Some(syn::parse_quote!(#list[#at]))
}

/// `let v = x.last_mut().unwrap();` and `let (a, b) = x.split_first().unwrap();`.
pub(crate) fn unwrapped_parts(local: &Local) -> Option<Vec<Stmt>> {
    let init = local.init.as_ref().filter(|init| init.diverge.is_none())?;
    let pattern = &local.pat;
    if let Some(place) = place(&init.expr) {
        return Some(vec![syn::parse_quote!(let #pattern = &mut #place;)]);
    }
    let Expr::MethodCall(call) = unwrapped(&init.expr) else { return None };
    if call.method != "unwrap" && call.method != "expect" {
        return None;
    }
    let split = plain_call(&call.receiver, SPLITS)?;
    let list = &split.receiver;
    let Pat::Tuple(both) = pattern else { return None };
    let [one, rest] = &both.elems.iter().collect::<Vec<_>>()[..] else { return None };
    let (value, part): (Expr, Expr) = match split.method == "split_first" {
        true => (syn::parse_quote!(&#list[0]), syn::parse_quote!(&#list[1..])),
        false => (
            syn::parse_quote!(&#list[#list.len() - 1]),
            syn::parse_quote!(&#list[..#list.len() - 1]),
        ),
    };
    Some(vec![syn::parse_quote!(let #one = #value;), syn::parse_quote!(let #rest = #part;)])
}

impl Lowering<'_> {
    /// `x.split_at(k)` where no pattern takes it apart: a pair of lists.
    pub fn both_parts(
        &mut self,
        list: crate::value::Value,
        at: &Expr,
    ) -> Result<crate::value::Value, Refusal> {
        let list = self.named(list, "list");
        self.scopes.push(Default::default());
        self.declare("__jut_parts", crate::lowering::Local::value(list.text, list.ty));
        let pair = self.expression(&syn::parse_quote!({
            let (__jut_left, __jut_right) = __jut_parts.split_at(#at);
            (__jut_left, __jut_right)
        }));
        self.scopes.pop();
        pair
    }
}

/// `[a, b].concat()` of lists that have names.
pub(crate) fn concatenated(call: &ExprMethodCall) -> Option<Expr> {
    let Expr::Array(lists) = unwrapped(&call.receiver) else { return None };
    if call.method != "concat" || !call.args.is_empty() {
        return None;
    }
    let written = |list: &Expr| match unwrapped(list) {
        Expr::Reference(inner) => matches!(unwrapped(&inner.expr), Expr::Array(_)),
        other => matches!(other, Expr::Array(_)),
    };
    let all: Vec<&Expr> = lists.elems.iter().collect();
    let (first, rest) = all.split_first()?;
    (!all.iter().all(|list| written(list))).then(|| {
        let ends = rest.iter().map(|list| quote!(__jut_all.extend_from_slice(#list);));
        syn::parse_quote!({
            let mut __jut_all = (#first).to_vec();
            #(#ends)*
            __jut_all
        })
    })
}

/// `x.copy_within(a..b, k)`.
pub(crate) fn copied_within(call: &ExprMethodCall) -> Option<Vec<Stmt>> {
    let list = &call.receiver;
    let (Some(range), Some(to), "copy_within") =
        (call.args.first(), call.args.get(1), call.method.to_string().as_str())
    else {
        return None;
    };
    Some(vec![
        syn::parse_quote!(let __jut_part = #list[#range].to_vec();),
        syn::parse_quote!(let __jut_to = #to;),
        syn::parse_quote!(#list[__jut_to..__jut_to + __jut_part.len()].copy_from_slice(&__jut_part);),
    ])
}

impl Lowering<'_> {
    /// The statements instead of `let (a, b) = x.split_at_mut(k);` or `let row = &mut x[a..b];` and what follows; nothing if it is neither.
    pub fn parts_with_names(
        &mut self,
        local: &Local,
        rest: &[Stmt],
    ) -> Result<Option<Vec<Stmt>>, Refusal> {
        if let Some(all) = self.part_with_name(local, rest)? {
            return Ok(Some(all));
        }
        let Some(init) = &local.init else { return Ok(None) };
        let Expr::MethodCall(call) = unwrapped(&init.expr) else { return Ok(None) };
        let (list, range) = match unwrapped(&call.receiver) {
            Expr::Index(index) => match unwrapped(&index.index) {
                Expr::Range(range) => (&index.expr, Some(range)),
                _ => return Ok(None),
            },
            _ => (&call.receiver, None),
        };
        if call.method != "split_at_mut" || !is_plain(list) {
            return Ok(None);
        }
        const SAID: &str = "give both parts names of their own, and the list's name to nothing else in this block: `let (a, b) = x.split_at_mut(k);`";
        let Pat::Tuple(both) = &local.pat else { return refuse(&local.pat, SAID) };
        let [Pat::Ident(a), Pat::Ident(b)] = &both.elems.iter().collect::<Vec<_>>()[..] else {
            return refuse(&local.pat, SAID);
        };
        let Some(at) = call.args.first() else {
            return refuse(&call.method, "another number of arguments is expected");
        };
        let (a, b) = (&a.ident, &b.ident);
        if hides(rest, list, &[a, b]) {
            return refuse(&local.pat, SAID);
        }
        // No names of Rust's users.
        let word = |name: &str| Ident::new(name, init.expr.span());
        let n = self.names.unique("split");
        let [k, one, other, from, to] =
            ["", "_a", "_b", "_from", "_to"].map(|what| word(&format!("__jut_{n}{what}")));
        let (start, end) = ends(list, range);
        let first: Vec<Stmt> = vec![
            syn::parse_quote!(let #from = #start;),
            syn::parse_quote!(let #to = #end;),
            syn::parse_quote!(let #k = #from + #at;),
            syn::parse_quote!(assert!(#k <= #to, "mid > len");),
            syn::parse_quote!(let mut #one = #list[#from..#k].to_vec();),
            syn::parse_quote!(let mut #other = #list[#k..#to].to_vec();),
            syn::parse_quote!(let #a = &mut #one;),
            syn::parse_quote!(let #b = &mut #other;),
        ];
        let back: Vec<Stmt> = vec![
            syn::parse_quote!(#list[#from..#k].copy_from_slice(&#one);),
            syn::parse_quote!(#list[#k..#to].copy_from_slice(&#other);),
        ];
        self.put_back(first, rest, back, &[a, b], &call.method, &word(&format!("__jut_{n}_end")))
            .map(Some)
    }

    /// The statements instead of `let row = &mut x[a..b];` and what follows; nothing if it is none.
    fn part_with_name(
        &mut self,
        local: &Local,
        rest: &[Stmt],
    ) -> Result<Option<Vec<Stmt>>, Refusal> {
        let Some(init) = &local.init else { return Ok(None) };
        let Expr::Reference(reference) = unwrapped(&init.expr) else { return Ok(None) };
        let Expr::Index(index) = unwrapped(&reference.expr) else { return Ok(None) };
        let Expr::Range(range) = unwrapped(&index.index) else { return Ok(None) };
        let list = &index.expr;
        if reference.mutability.is_none() || !is_plain_element(list) {
            return Ok(None);
        }
        const SAID: &str = "give this part a name of its own, and the list's name to nothing else in this block: `let row = &mut x[a..b];`";
        let pattern = match &local.pat {
            Pat::Type(typed) => &*typed.pat,
            pattern => pattern,
        };
        let Pat::Ident(name) = pattern else { return refuse(&local.pat, SAID) };
        let name = &name.ident;
        if hides(rest, list, &[name]) {
            return refuse(&local.pat, SAID);
        }
        let word = |name: &str| Ident::new(name, init.expr.span());
        let n = self.names.unique("part");
        let [from, to, own] = ["from", "to", "own"].map(|what| word(&format!("__jut_{n}_{what}")));
        let mut first: Vec<Stmt> = Vec::new();
        let mut places = Vec::new();
        // What the list is an element of stays where it is.
        let list = placed(list, &mut first, &mut places, &n);
        let (start, end) = ends(&list, Some(range));
        first.extend::<[Stmt; 4]>([
            syn::parse_quote!(let #from = #start;),
            syn::parse_quote!(let #to = #end;),
            syn::parse_quote!(let mut #own = #list[#from..#to].to_vec();),
            syn::parse_quote!(let #name = &mut #own;),
        ]);
        let back = vec![syn::parse_quote!(#list[#from..#to].copy_from_slice(&#own);)];
        self.put_back(first, rest, back, &[name], &index.index, &word(&format!("__jut_{n}_end")))
            .map(Some)
    }

    /// Statements, with lists that are put back behind the last of them that has one of these names.
    fn put_back(
        &mut self,
        first: Vec<Stmt>,
        rest: &[Stmt],
        back: Vec<Stmt>,
        names: &[&Ident],
        at: &impl quote::ToTokens,
        end: &Ident,
    ) -> Result<Vec<Stmt>, Refusal> {
        let has = |s: &Stmt| names.iter().any(|name| has_word(s, &name.to_string()));
        let count = rest.iter().rposition(has).map_or(0, |k| k + 1);
        let (with, behind) = rest.split_at(count);
        if !self.jumps_in(with).is_empty() {
            return refuse(
                at,
                "a jump leaves the statements that have these parts: assign by indices, `x[k + i] = ..`",
            );
        }
        let mut all = first;
        match with.split_last() {
            Some((Stmt::Expr(value, None), first))
                if behind.is_empty() && !gives_nothing(value) =>
            {
                all.extend(first.iter().cloned());
                all.push(syn::parse_quote!(let #end = #value;));
                all.extend(back);
                all.push(Stmt::Expr(syn::parse_quote!(#end), None));
            }
            _ => {
                all.extend(with.iter().cloned());
                all.extend(back);
                all.extend(behind.iter().cloned());
            }
        }
        Ok(all)
    }
}

/// Where a part of a list begins and ends; without a range, the whole of it.
fn ends(list: &Expr, range: Option<&syn::ExprRange>) -> (Expr, Expr) {
    let start = match range.and_then(|range| range.start.as_deref()) {
        Some(start) => start.clone(),
        None => syn::parse_quote!(0),
    };
    let end = match range.and_then(|range| Some((range.end.as_deref()?, range.limits))) {
        None => syn::parse_quote!(#list.len()),
        Some((end, syn::RangeLimits::HalfOpen(_))) => end.clone(),
        Some((end, syn::RangeLimits::Closed(_))) => syn::parse_quote!(#end + 1),
    };
    (start, end)
}

/// Whether one of the names that a list is written with is one of these, or is bound again by statements: behind them the list is meant by its
/// own name. (Where they bind one of these again, the part is put back later.)
fn hides(rest: &[Stmt], list: &Expr, names: &[&Ident]) -> bool {
    let mut hides = names.iter().any(|name| has_word(list, &name.to_string()));
    all(rest, &mut |node| {
        if let Node::Pat(Pat::Ident(name)) = node {
            hides |= has_word(list, &name.ident.to_string());
        }
        true
    });
    hides
}

/// Whether an expression at the end of a block has no value, by its form.
fn gives_nothing(expr: &Expr) -> bool {
    const CHANGES: &[&str] = &["for_each", "fill", "swap", "reverse", "copy_from_slice", "push"];
    let block = |block: &syn::Block| match block.stmts.last() {
        Some(Stmt::Expr(value, None)) => gives_nothing(value),
        Some(Stmt::Macro(call)) => call.semi_token.is_some(),
        _ => true,
    };
    match expr {
        Expr::ForLoop(_) | Expr::While(_) | Expr::Assign(_) => true,
        Expr::Binary(binary) => crate::syntax::compound(&binary.op).is_some(),
        Expr::If(branch) => branch.else_branch.is_none() || block(&branch.then_branch),
        Expr::Match(m) => m.arms.first().is_some_and(|arm| gives_nothing(&arm.body)),
        Expr::Block(inner) => block(&inner.block),
        Expr::MethodCall(call) => {
            let method = call.method.to_string();
            CHANGES.contains(&method.as_str()) || method.starts_with("sort")
        }
        _ => false,
    }
}

/// A name, a field, or an element of one.
fn is_plain_element(expr: &Expr) -> bool {
    match unwrapped(expr) {
        Expr::Index(index) => {
            !matches!(unwrapped(&index.index), Expr::Range(_)) && is_plain_element(&index.expr)
        }
        other => is_plain(other),
    }
}

/// A place whose indices have names, which statements before give them.
fn placed(expr: &Expr, first: &mut Vec<Stmt>, names: &mut Vec<Ident>, n: &str) -> Expr {
    let Expr::Index(index) = unwrapped(expr) else { return expr.clone() };
    let base = placed(&index.expr, first, names, n);
    let name = Ident::new(&format!("__jut_{n}_at_{}", names.len()), index.index.span());
    let at = &index.index;
    first.push(syn::parse_quote!(let #name = #at;));
    names.push(name.clone());
    syn::parse_quote!(#base[#name])
}

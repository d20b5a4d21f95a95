//! Methods that change a list in place: `swap`, `fill`, `reverse`, `sort_by` and their like, also of a part of one.
//!
//! Each is an assignment of a list that is made of the old one. An order is one of keys, and says which element stands where:
//!
//! ```text
//! v.sort_by(|a, b| b.r.total_cmp(&a.r));      keys = for (i < size(v)) { v[i].0 }
//!                                             order = rust_order(keys, true, true)
//!                                             v = build (i < size(v)) { old[order[i]] }
//! ```
//!
//! What is sorted keeps its derivatives: those of an element go where it went. Elements that are equal stay in their order, as in Rust.
//!
//! Cost: that of a new list; of an order n log n comparisons of keys, each of which is computed once.

use crate::elements::Item;
use crate::lowering::{Lowering, indented};
use crate::options::{Compared, compared};
use crate::syntax::unwrapped;
use crate::template::What;
use crate::types::Ty;
use crate::value::Value;
use crate::{Refusal, refuse};
use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use syn::spanned::Spanned;
use syn::{Expr, ExprMethodCall, Pat};

impl Lowering<'_> {
    /// One of these methods.
    pub fn changing_method(&mut self, call: &ExprMethodCall) -> Result<(), Refusal> {
        let arguments: Vec<&Expr> = call.args.iter().collect();
        let name = call.method.to_string();
        if let Some(statements) = crate::parted::copied_within(call) {
            return self.inner_block(&syn::parse_quote!({ #(#statements)* }));
        }
        if name.starts_with("sort") {
            return self.sorted(call, arguments.first().copied());
        }
        let values = match name.ends_with("from_slice") {
            false => self.operands(&arguments)?,
            true => self.sequence(&arguments)?,
        };
        let (place, length) = self.part(&call.receiver)?;
        let text = match (&values[..], name.as_str()) {
            ([i, j], "swap") if place.level < 2 => {
                let (i, j) =
                    (self.convert(i.clone(), &Ty::Usize), self.convert(j.clone(), &Ty::Usize));
                let (i, j) = (self.named(i, "at"), self.named(j, "at"));
                let (a, b) =
                    (format!("{}[{}]", place.text, i.text), format!("{}[{}]", place.text, j.text));
                format!("({a}, {b}) = ({b}, {a})")
            }
            ([value], "fill") => {
                let element = self.element(&place.ty);
                let value = self.convert(value.clone(), &element);
                let value = self.named(value, "each");
                let i = self.names.unique("i");
                format!("{} = build ({i} < {length}) {{ {} }}", place.text, value.text)
            }
            ([from], "copy_from_slice" | "clone_from_slice") => {
                let from = self.named(from.clone(), "from");
                let said =
                    "copy_from_slice: source slice length does not match destination slice length";
                let equal = format!("prim.select(size({}) == {length}, 0, -1) >= 0", from.text);
                self.check(call.span(), What::Panic(said.to_string()), &equal);
                let i = self.names.unique("i");
                format!("{} = build ({i} < {length}) {{ {}[{i}] }}", place.text, from.text)
            }
            ([], "reverse") => {
                let (old, n) = self.old(&place, length);
                let i = self.names.unique("i");
                format!("{} = build ({i} < {n}) {{ {old}[{n} - 1 - {i}] }}", place.text)
            }
            ([by], "rotate_left" | "rotate_right") => {
                let by = self.convert(by.clone(), &Ty::Usize);
                let by = self.named(by, "by").text;
                let (old, n) = self.old(&place, length);
                let said = "assertion failed: k <= self.len()".to_string();
                let fits = format!("prim.select({by} <= {n}, 0, -1) >= 0");
                self.check(call.span(), What::Panic(said), &fits);
                let i = self.names.unique("i");
                let from = if name == "rotate_left" { by } else { format!("({n} - {by})") };
                format!("{} = build ({i} < {n}) {{ {old}[({i} + {from}) % {n}] }}", place.text)
            }
            _ => {
                return refuse(
                    &call.method,
                    "this is built for a whole array, with the arguments that it has",
                );
            }
        };
        let line = self.at(call.span(), What::Same, &text);
        self.lines.push(line);
        Ok(())
    }

    /// What is there before, and its length, under names.
    fn old(&mut self, place: &Value, length: String) -> (String, String) {
        let (old, n) = (self.names.unique("old"), self.names.unique("n"));
        self.lines.push(format!("{old} = {}\n{n} = {length}", place.text));
        (old, n)
    }

    fn sorted(&mut self, call: &ExprMethodCall, by: Option<&Expr>) -> Result<(), Refusal> {
        if let Some((first, then)) = by.map(both_orders).transpose()?.flatten() {
            // Elements that are equal stay in their order: so the second order goes before the first one.
            self.sorted(call, Some(&then))?;
            return self.sorted(call, Some(&first));
        }
        let key = call.method.to_string().ends_with("key");
        if let Some(each) = by.filter(|_| key).and_then(keys) {
            return each.iter().rev().try_for_each(|one| self.sorted(call, Some(one)));
        }
        let (place, length) = self.part(&call.receiver)?;
        let (old, n) = self.old(&place, length);
        let (i, ty) = (self.names.unique("i"), self.element(&place.ty));
        let element = Item::One(Value::name(format!("{old}[{i}]"), ty, i64::MIN));
        let turned = by.filter(|_| key).and_then(without_reverse);
        let by = turned.as_ref().or(by);
        let order = by.filter(|_| !key).filter(|by| !is_total(by)).map(compared).transpose()?;
        let (mut total, mut down) = (by.is_some_and(is_total), turned.is_some());
        if let Some(order) = &order {
            let Some(turned) = direction(order) else {
                return refuse(
                    &call.method,
                    "an order compares one thing of both: write `|a, b| a.x.total_cmp(&b.x)`, or `b` and `a` for the \
                     largest first",
                );
            };
            (total, down) = (order.total, turned);
        }
        let (block, value) = self.nested(|this| match (&order, by) {
            (Some(order), _) => {
                this.scopes.push(Default::default());
                let pattern = if down { order.second } else { order.first };
                let bound = this.bind(pattern, element);
                let value = bound.and_then(|()| this.operand(order.left));
                this.scopes.pop();
                value
            }
            (None, Some(function)) if key => this.applied(function, vec![element]),
            _ => this.one(element),
        })?;
        let ty = self.resolve(&value.ty);
        let mut lines = block.lines;
        let turned = format!("prim.bitxor({}, -9223372036854775807 - 1)", value.text);
        lines.push(self.by_sign(&ty, turned, value.text));
        let keys = self.names.unique("keys");
        self.lines.push(format!("{keys} = for ({i} < {n}) {{\n{}\n}}", indented(&lines)));
        let order_of = |name: &str| format!("{name}({keys}, {total}, {down})");
        let whole = order_of("rust_order_i64");
        let text = match &ty {
            t if t.is_integer() => whole,
            Ty::Of(..) => {
                let float =
                    self.by_width(&ty, &order_of("rust_order"), &order_of("rust_order_f32"));
                match self.only("int", &ty) {
                    Some((open, close)) => format!("{float}{open}{whole}{close}"),
                    None => float,
                }
            }
            t if t.is_float() => {
                self.by_width(t, &order_of("rust_order"), &order_of("rust_order_f32"))
            }
            _ => return refuse(&call.method, "an order is one of numbers"),
        };
        if order.as_ref().is_some_and(|order| !order.equal) && !total && !ty.is_integer() {
            // Of two and more, Rust compares each.
            let (fine, k) = (self.names.unique("fine"), self.names.unique("k"));
            self.lines.push(format!(
                "var {fine} = true\nfor ({k} < {n}) {{\n  if {keys}[{k}] != {keys}[{k}] {{ {fine} = {n} < 2 }}\n}}"
            ));
            let said = "called `Option::unwrap()` on a `None` value".to_string();
            let fine = Value::name(fine, Ty::Bool, 0);
            self.asserted(call.span(), &fine, said);
        }
        let (order, k) = (self.names.unique("order"), self.names.unique("k"));
        self.lines.push(format!("{order} = {text}"));
        let line = format!("{} = build ({k} < {n}) {{ {old}[{order}[{k}]] }}", place.text);
        self.lines.push(line);
        Ok(())
    }
}

/// The two orders of `|a, b| P.then(Q)` and `|a, b| P.then_with(|| Q)`.
fn both_orders(order: &Expr) -> Result<Option<(Expr, Expr)>, Refusal> {
    let Expr::Closure(closure) = unwrapped(order) else { return Ok(None) };
    let Expr::MethodCall(call) = unwrapped(&closure.body) else { return Ok(None) };
    let then = match (call.method.to_string().as_str(), call.args.first().map(unwrapped)) {
        ("then", Some(then)) => then,
        ("then_with", Some(Expr::Closure(then))) if then.inputs.is_empty() => {
            // It is asked for only where the first one says that both are equal; but a sort asks for all.
            if !crate::options::sides(&then.body)?.never_fails() {
                return refuse(
                    &call.method,
                    "this order is looked at for all elements here: write `total_cmp`, or `.then(..)`",
                );
            }
            &then.body
        }
        _ => return Ok(None),
    };
    let with = |body: &Expr| {
        Expr::Closure(syn::ExprClosure { body: Box::new(body.clone()), ..closure.clone() })
    };
    Ok(Some((with(&call.receiver), with(then))))
}

/// Whether an order is `f64::total_cmp` by its name.
fn is_total(order: &Expr) -> bool {
    let Expr::Path(path) = unwrapped(order) else { return false };
    path.path.segments.last().is_some_and(|s| s.ident == "total_cmp")
}

/// `|v| (a, b)` as `|v| a` and `|v| b`.
fn keys(key: &Expr) -> Option<Vec<Expr>> {
    let Expr::Closure(closure) = unwrapped(key) else { return None };
    let Expr::Tuple(all) = unwrapped(&closure.body) else { return None };
    let with = |body: &Expr| {
        Expr::Closure(syn::ExprClosure { body: Box::new(body.clone()), ..closure.clone() })
    };
    Some(all.elems.iter().map(with).collect())
}

/// `|v| Reverse(a)` as `|v| a`.
fn without_reverse(key: &Expr) -> Option<Expr> {
    let Expr::Closure(closure) = unwrapped(key) else { return None };
    let Expr::Call(call) = unwrapped(&closure.body) else { return None };
    let Expr::Path(path) = unwrapped(&call.func) else { return None };
    let known = path.path.segments.last()?.ident == "Reverse";
    let inner = call.args.first().filter(|_| known && call.args.len() == 1)?;
    Some(Expr::Closure(syn::ExprClosure { body: Box::new(inner.clone()), ..closure.clone() }))
}

/// Whether an order puts the largest first; nothing if its sides are not the same thing of both.
fn direction(order: &Compared<'_>) -> Option<bool> {
    let (first, second) = (slots(order.first), slots(order.second));
    if first.0 != second.0 {
        return None;
    }
    let side = |expr: &Expr| {
        let (mut which, mut text) = (Vec::new(), String::new());
        let names = [&first.1[..], &second.1[..]];
        written(bare(expr).to_token_stream(), &names, &mut which, &mut text);
        which.dedup();
        (which, text)
    };
    let (left, right) = (side(order.left), side(order.right));
    match (left.1 == right.1, &left.0[..], &right.0[..]) {
        (true, [0], [1]) => Some(false),
        (true, [1], [0]) => Some(true),
        _ => None,
    }
}

/// A pattern without the names in it, and these, one after the other; `_` is one too.
fn slots(pattern: &Pat) -> (String, Vec<String>) {
    fn walk(tokens: TokenStream, names: &[String], text: &mut String, slots: &mut Vec<String>) {
        for token in tokens {
            match token {
                TokenTree::Group(group) => {
                    text.push('(');
                    walk(group.stream(), names, text, slots);
                    text.push(')');
                }
                TokenTree::Ident(ident) if ident == "_" || names.iter().any(|n| ident == n) => {
                    text.push_str("_ ");
                    slots.push(ident.to_string());
                }
                other => text.push_str(&format!("{other} ")),
            }
        }
    }
    let pattern = match pattern {
        Pat::Type(typed) => &typed.pat,
        other => other,
    };
    let (mut text, mut found) = (String::new(), Vec::new());
    let names = crate::syntax::bound(pattern);
    walk(pattern.to_token_stream(), &names, &mut text, &mut found);
    (text.trim_start_matches(['&', ' ']).to_string(), found)
}

/// Without references.
fn bare(expr: &Expr) -> &Expr {
    match unwrapped(expr) {
        Expr::Reference(inner) => bare(&inner.expr),
        Expr::Unary(unary) if matches!(unary.op, syn::UnOp::Deref(_)) => bare(&unary.expr),
        other => other,
    }
}

/// Tokens with one word for the names of both patterns, and of which of these they are.
fn written(tokens: TokenStream, names: &[&[String]], which: &mut Vec<usize>, text: &mut String) {
    for token in tokens {
        match token {
            TokenTree::Group(group) => {
                text.push('(');
                written(group.stream(), names, which, text);
                text.push(')');
            }
            TokenTree::Ident(ident) => {
                let of = |(k, all): (usize, &&[String])| {
                    Some((k, all.iter().position(|name| ident == name)?))
                };
                match names.iter().enumerate().find_map(of) {
                    Some((k, slot)) => {
                        which.push(k);
                        text.push_str(&format!("_{slot} "));
                    }
                    None => text.push_str(&format!("{ident} ")),
                }
            }
            other => text.push_str(&other.to_string()),
        }
    }
}

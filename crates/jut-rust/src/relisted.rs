//! Methods that take elements out of a list, or put some between: `pop`, `remove`, `truncate`, `drain`, `retain` and their like; and
//! `unzip`, `partition`, which make two lists of a chain.
//!
//! A list of the text has one length. So each of the methods makes another list, which has the name from there on:
//!
//! ```text
//! let last = v.pop();             n = size(v)   m = prim.max(n - 1, 0)
//!                                 last = if n > 0 { #(true, v[m]) } else { #(false, 0.0) }
//!                                 var v_1 = v[0 .. m]
//! let (a, b) = x.iter().map(f).unzip();
//!                                 for (p, q) in x.iter().map(f) { a.push(p); b.push(q); }
//! ```
//!
//! Requires: a list changes its length in the block that declares it. `dedup` is that of numbers.
//! Ensures: Rust's list and value; where Rust panics it is an error.
//! Cost: that of the new list.

use crate::lowering::{Local, Lowering};
use crate::syntax::{RELISTING, unwrapped};
use crate::template::What;
use crate::types::{Extent, Ty, array};
use crate::value::{Value, unit};
use crate::{Refusal, refuse};
use quote::quote_spanned;
use syn::spanned::Spanned;
use syn::{Expr, ExprMethodCall, Pat, Stmt};

impl Lowering<'_> {
    /// Whether a call is one of these methods of a list that has a name.
    pub fn is_relisting(&self, call: &ExprMethodCall) -> bool {
        RELISTING.contains(&call.method.to_string().as_str())
            && matches!(unwrapped(&call.receiver), Expr::Path(_))
            && self.is_list(&call.receiver)
    }

    /// One of these methods, and its value.
    pub fn relisted(&mut self, call: &ExprMethodCall) -> Result<Value, Refusal> {
        let found = match unwrapped(&call.receiver) {
            Expr::Path(path) => path.path.get_ident().map(|i| i.to_string()),
            _ => None,
        };
        let local = found.as_ref().and_then(|name| self.lookup(name)).cloned();
        let (Some(name), Some(local)) = (found, local) else { return refuse(&call.method, WHERE) };
        if !self.grows_here(&local) && local.stack.is_none() {
            return refuse(&call.method, WHERE);
        }
        if local.name.is_empty() {
            return refuse(
                &call.receiver,
                "nothing is known of this list: write its type, `let mut x: Vec<f64> = ..`",
            );
        }
        let method = call.method.to_string();
        let arguments: Vec<&Expr> = call.args.iter().collect();
        if let ("dedup_by" | "dedup_by_key", [same]) = (method.as_str(), &arguments[..]) {
            let told = without_repeats(&call.receiver, same, method == "dedup_by_key");
            self.statements(&told, crate::lowering::Tail::Unit)?;
            let list = &call.receiver;
            let value = self.chain(&syn::parse_quote! {
                (0..#list.len()).filter(|jut_at| __jut_keeps[*jut_at]).map(|jut_at| #list[jut_at]).collect()
            })?;
            self.renamed(&name, local, &value.text);
            return Ok(unit());
        }
        if let ("retain" | "dedup", list) = (method.as_str(), &call.receiver) {
            let kept: ExprMethodCall = match (&arguments[..], method.as_str()) {
                ([test], "retain") => {
                    syn::parse_quote!(#list.iter().cloned().filter(#test).collect())
                }
                // That elements which rustc knows are compared, is looked at there.
                ([], "dedup") if !matches!(self.element(&local.ty), Ty::Array(..)) => {
                    syn::parse2(quote_spanned! {call.method.span()=>
                        (0..#list.len())
                            .filter(|jut_at| *jut_at == 0 || #list[*jut_at] != #list[*jut_at - 1])
                            .map(|jut_at| #list[jut_at])
                            .collect()
                    })?
                }
                _ => {
                    return refuse(
                        &call.method,
                        "write `retain(|v| ..)`; `dedup` is that of numbers",
                    );
                }
            };
            let value = self.chain(&kept)?;
            self.renamed(&name, local, &value.text);
            return Ok(unit());
        }
        if let ("drain", [range]) = (method.as_str(), &arguments[..]) {
            return self.drained(&name, local, range, call);
        }
        let values = self.sequence(&arguments)?;
        let old = self.unpacked(&local);
        let element = self.element(&local.ty);
        let (n, j) = (self.names.unique("n"), self.names.unique("i"));
        self.lines.push(format!("{n} = size({old})"));
        let at = match values.first() {
            Some(at) => {
                let at = self.convert(at.clone(), &Ty::Usize);
                self.named(at, "at").text
            }
            None => String::new(),
        };
        let span = call.span();
        let within = |this: &mut Self, said: &str| {
            let fits = format!("prim.select({at} <= {n}, 0, -1) >= 0");
            this.check(span, What::Panic(said.to_string()), &fits);
        };
        let least = if element == Ty::Usize { 0 } else { i64::MIN };
        let (new, value) = match (method.as_str(), &values[..]) {
            ("pop", []) => {
                let (m, option) = (self.names.unique("last"), self.names.unique("option"));
                let other = self.neutral(&self.resolve(&element), &call.method)?;
                self.lines.push(format!("{m} = prim.max({n} - 1, 0)"));
                self.lines.push(format!(
                    "{option} = if {n} > 0 {{ #(true, {old}[{m}]) }} else {{ #(false, {other}) }}"
                ));
                let ty = Ty::Option(Box::new(element));
                (format!("{old}[0 .. {m}]"), Value::name(option, ty, i64::MIN))
            }
            ("clear", []) => (format!("{old}[0 .. 0]"), unit()),
            ("truncate", [_]) => (format!("{old}[0 .. prim.min({at}, {n})]"), unit()),
            ("split_off", [_]) => {
                within(self, "`at` split index should be <= len");
                let rest = self.names.unique("rest");
                self.lines.push(format!("{rest} = {old}[{at} .. {n}]"));
                let rest = Value::name(rest, array(element, Extent::Vec), i64::MIN);
                (format!("{old}[0 .. {at}]"), rest)
            }
            ("remove" | "swap_remove", [_]) => {
                let removed = self.names.unique("removed");
                let text = self.at(span, What::Same, &format!("{old}[{at}]"));
                self.lines.push(format!("{removed} = {text}"));
                let other = match method.as_str() {
                    "remove" => format!("if {j} < {at} {{ {old}[{j}] }} else {{ {old}[{j} + 1] }}"),
                    // There is a last one: this says it where the text knows that there is not.
                    _ => format!(
                        "if {j} == {at} {{ {old}[prim.max({n} - 1, 0)] }} else {{ {old}[{j}] }}"
                    ),
                };
                let new = format!("build ({j} < {n} - 1) {{ {other} }}");
                (new, Value::name(removed, element, least))
            }
            ("insert", [_, value]) => {
                within(self, "insertion index should be <= len");
                let value = self.convert(value.clone(), &element);
                let value = self.named(value, "inserted").text;
                let new = format!(
                    "build ({j} < {n} + 1) {{ if {j} < {at} {{ {old}[{j}] }} else {{ if {j} > {at} {{ {old}[{j} - 1] }} else {{ {value} }} }} }}"
                );
                (new, unit())
            }
            ("resize", [_, value]) => {
                let value = self.convert(value.clone(), &element);
                let value = self.named(value, "each").text;
                let new = format!(
                    "build ({j} < {at}) {{ if {j} < {n} {{ {old}[{j}] }} else {{ {value} }} }}"
                );
                (new, unit())
            }
            _ => return refuse(&call.method, "another number of arguments is expected"),
        };
        self.renamed(&name, local, &new);
        Ok(value)
    }

    /// `v.drain(a..b)`: the elements that are taken out of the list.
    fn drained(
        &mut self,
        name: &str,
        local: Local,
        range: &Expr,
        call: &ExprMethodCall,
    ) -> Result<Value, Refusal> {
        let Expr::Range(range) = unwrapped(range) else {
            return refuse(range, "write which elements are taken: `v.drain(a..b)`");
        };
        let old = self.unpacked(&local);
        let (start, end) = self.ends(range, &old)?;
        let part = self.names.unique("part");
        let text = self.at(call.span(), What::Same, &format!("{old}[{start} .. {end}]"));
        self.lines.push(format!("{part} = {text}"));
        let (n, j) = (self.names.unique("n"), self.names.unique("i"));
        self.lines.push(format!("{n} = size({part})"));
        let new = format!(
            "build ({j} < size({old}) - {n}) {{ if {j} < {start} {{ {old}[{j}] }} else {{ {old}[{j} + {n}] }} }}"
        );
        let part = Value::name(part, array(self.element(&local.ty), Extent::Vec), i64::MIN);
        self.renamed(name, local, &new);
        Ok(part)
    }

    /// Whether a place is a list that may have another length from here on.
    pub fn is_whole_list(&self, place: &Expr) -> bool {
        self.whole_list(place).is_some()
    }

    /// The list that a place is, if it may have another length from here on.
    pub fn whole_list(&self, place: &Expr) -> Option<&Local> {
        let Expr::Path(path) = unwrapped(place) else { return None };
        let local = self.lookup(&path.path.get_ident()?.to_string())?;
        let other = local.stack.is_some() || self.grows_here(local) && !local.name.is_empty();
        other.then_some(local)
    }

    /// Whether a value is a list of a length that is known when it runs.
    pub fn is_of_a_list(&self, value: &Value) -> bool {
        matches!(self.resolve(&value.ty), Ty::Array(_, Extent::Slice | Extent::Vec))
    }

    /// `list = e;`
    pub fn another_list(&mut self, place: &Expr, value: Value) -> Result<(), Refusal> {
        let Expr::Path(path) = unwrapped(place) else { return refuse(place, WHERE) };
        let Some(name) = path.path.get_ident().map(|i| i.to_string()) else {
            return refuse(place, WHERE);
        };
        let Some(local) = self.lookup(&name).cloned() else { return refuse(place, WHERE) };
        let value = self.convert(value, &local.ty);
        self.renamed(&name, local, &value.text);
        Ok(())
    }

    /// A name stands for another list from here on.
    fn renamed(&mut self, name: &str, local: Local, new: &str) {
        if local.stack.is_some() {
            self.packed(&local, new);
            return;
        }
        let text = self.names.unique(name);
        self.lines.push(format!("var {text} = {new}"));
        self.assigned += 1;
        let ty = array(self.element(&local.ty), Extent::Slice);
        let scope = self.scopes.iter_mut().rev().find(|scope| scope.contains_key(name));
        if let Some(scope) = scope {
            scope.insert(name.to_string(), Local { name: text, ty, ..local });
        }
    }

    /// `let (a, b) = CHAIN.unzip();` or `.partition(f)` as a loop that pushes; nothing if it is none.
    pub fn two_lists(&mut self, local: &syn::Local) -> Result<bool, Refusal> {
        let (Some(init), pattern) = (&local.init, &local.pat) else { return Ok(false) };
        let Expr::MethodCall(end) = unwrapped(&init.expr) else { return Ok(false) };
        let known = end.method == "unzip" || end.method == "partition";
        if !known || !crate::iterators::is_iterator(&end.receiver) {
            return Ok(false);
        }
        const NAMES: &str = "give both lists names: `let (a, b): (Vec<_>, Vec<_>) = ..`";
        let (pattern, written) = match pattern {
            Pat::Type(typed) => (&*typed.pat, Some(&*typed.ty)),
            other => (other, None),
        };
        let Pat::Tuple(tuple) = pattern else { return refuse(pattern, NAMES) };
        let [Pat::Ident(first), Pat::Ident(second)] = &tuple.elems.iter().collect::<Vec<_>>()[..]
        else {
            return refuse(pattern, NAMES);
        };
        let source = &end.receiver;
        // What is gone over may have the names of the lists: these become known behind it then.
        let hidden =
            [first, second].iter().any(|own| crate::syntax::has_word(&end, &own.ident.to_string()));
        let mut named = |own: &syn::Ident, other: &str| match hidden {
            true => syn::Ident::new(&format!("__jut_{}", self.names.unique(other)), own.span()),
            false => own.clone(),
        };
        let (one, other) = (named(&first.ident, "first"), named(&second.ident, "second"));
        let types: Vec<Option<&syn::Type>> = match written {
            Some(syn::Type::Tuple(types)) => {
                let plain = |ty| (!crate::syntax::has_infer(ty)).then_some(ty);
                types.elems.iter().map(plain).collect()
            }
            _ => Vec::new(),
        };
        let declared = |name: &syn::Ident, k: usize| -> Stmt {
            match types.get(k) {
                Some(Some(ty)) => syn::parse_quote!(let mut #name: #ty = Vec::new();),
                _ => syn::parse_quote!(let mut #name = Vec::new();),
            }
        };
        let mut restated = Vec::new();
        let each: Expr = match &end.args.iter().collect::<Vec<_>>()[..] {
            [] => syn::parse_quote!(for (jut_first, jut_second) in #source {
                #one.push(jut_first);
                #other.push(jut_second);
            }),
            [test @ Expr::Closure(_)] => {
                restated.push(syn::parse_quote!(let __jut_test = #test;));
                syn::parse_quote!(for jut_one in #source {
                    if __jut_test(&jut_one) { #one.push(jut_one); } else { #other.push(jut_one); }
                })
            }
            _ => return refuse(&end.method, "write `|v| ..` here"),
        };
        restated.extend([
            declared(&one, 0),
            declared(&other, 1),
            Stmt::Expr(each, Some(Default::default())),
        ]);
        if hidden {
            restated.extend(
                [first, second]
                    .into_iter()
                    .zip([&one, &other])
                    .map(|(own, list)| -> Stmt { syn::parse_quote!(let #own = #list;) }),
            );
        }
        self.statements(&restated, crate::lowering::Tail::Unit)?;
        Ok(true)
    }
}

/// What says of each element whether `v.dedup_by(|a, b| ..)` keeps it: Rust compares it with the last one that it keeps.
fn without_repeats(list: &Expr, same: &Expr, key: bool) -> Vec<Stmt> {
    let test: Expr = match key {
        true => syn::parse_quote!(__jut_same(&#list[jut_at]) == __jut_same(&#list[__jut_last])),
        false => syn::parse_quote!(__jut_same(&#list[jut_at], &#list[__jut_last])),
    };
    vec![
        syn::parse_quote!(let __jut_same = #same;),
        syn::parse_quote!(let mut __jut_keeps = vec![true; #list.len()];),
        syn::parse_quote!(let mut __jut_last = 0usize;),
        syn::parse_quote! {
            for jut_at in 1..#list.len() {
                if #test { __jut_keeps[jut_at] = false; } else { __jut_last = jut_at; }
            }
        },
    ]
}

const WHERE: &str = "a list changes its length in the block that declares it: take the part that stays, \
                     `let shorter = x[..n].to_vec();`";

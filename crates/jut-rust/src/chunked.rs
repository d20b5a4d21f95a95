//! Loops over parts of a list that change it, `for row in x.chunks_exact_mut(k) { .. }`, said by other Rust: that is translated in their place.
//!
//! ```text
//! for (i, row) in x.chunks_mut(k).enumerate() { BODY }      for (i, at) in (0..(x.len() + k - 1) / k).enumerate() {
//!                                                               let row = &mut x[at * k..x.len().min(at * k + k)];
//!                                                               BODY
//!                                                           }
//! ```
//!
//! So is `x.chunks_mut(k).for_each(|row| ..)`.
//!
//! Requires: the list has a name or is a field; no jump leaves a statement that has the part ([`parted`](crate::parted)).
//! Ensures: Rust's parts, in its order; a length of 0 is an error, as there.
//! Cost: a copy of each part and back.

use crate::lowering::{Local, Lowering};
use crate::syntax::unwrapped;
use crate::template::What;
use crate::types::Ty;
use crate::value::{Value, literal};
use crate::{Refusal, refuse};
use std::collections::HashMap;
use syn::{Expr, ExprForLoop, ExprMethodCall, Pat};

/// The methods that make such parts.
const PARTS: &[&str] = &["chunks_mut", "chunks_exact_mut"];

/// The methods behind them that say which parts there are, or what stands beside one.
const BESIDE: &[&str] = &["zip", "enumerate", "rev", "skip", "take", "step_by"];

/// The call that makes the parts of an iterator, if it begins with one.
fn maker(iterator: &Expr) -> Option<&ExprMethodCall> {
    let Expr::MethodCall(call) = unwrapped(iterator) else { return None };
    let method = call.method.to_string();
    match PARTS.contains(&method.as_str()) && call.args.len() == 1 {
        true => Some(call),
        false if BESIDE.contains(&method.as_str()) => maker(&call.receiver),
        false => None,
    }
}

/// The iterator over numbers in place of one over parts, and the pattern of it: that of the part is given.
fn numbered(
    iterator: &Expr,
    pattern: &Pat,
    numbers: &Expr,
    number: &syn::Ident,
) -> Result<(Expr, Pat, Pat), Refusal> {
    const SAID: &str = "write the parts of this pattern: `(i, row)`";
    let Expr::MethodCall(call) = unwrapped(iterator) else { return refuse(iterator, SAID) };
    if PARTS.iter().any(|name| call.method == name) {
        return Ok((numbers.clone(), syn::parse_quote!(#number), pattern.clone()));
    }
    let mut call = call.clone();
    let place = match call.method.to_string().as_str() {
        "enumerate" => 1,
        "zip" => 0,
        _ => {
            let (inner, pattern, part) = numbered(&call.receiver, pattern, numbers, number)?;
            *call.receiver = inner;
            return Ok((Expr::MethodCall(call), pattern, part));
        }
    };
    let Pat::Tuple(both) = pattern else { return refuse(pattern, SAID) };
    let mut both = both.clone();
    let Some(own) = both.elems.get(place) else { return refuse(pattern, SAID) };
    let (inner, own, part) = numbered(&call.receiver, own, numbers, number)?;
    both.elems[place] = own;
    *call.receiver = inner;
    Ok((Expr::MethodCall(call), Pat::Tuple(both), part))
}

/// `CHAIN.for_each(|p| e)` over such parts as a loop.
pub(crate) fn each(end: &ExprMethodCall) -> Option<ExprForLoop> {
    let Some(Expr::Closure(closure)) = end.args.first().filter(|_| end.method == "for_each") else {
        return None;
    };
    let (iterator, body) = (&end.receiver, &closure.body);
    maker(iterator)?;
    let [pattern] = &closure.inputs.iter().collect::<Vec<_>>()[..] else { return None };
    Some(match &**body {
        Expr::Block(block) => syn::parse_quote!(for #pattern in #iterator #block),
        value => syn::parse_quote!(for #pattern in #iterator { #value; }),
    })
}

impl Lowering<'_> {
    /// A loop over parts of a list that change it; nothing if it is another one.
    pub fn over_parts(&mut self, l: &ExprForLoop) -> Result<bool, Refusal> {
        let Some(maker) = maker(&l.expr) else { return Ok(false) };
        let list = match unwrapped(&maker.receiver) {
            Expr::Path(_) | Expr::Field(_) => &maker.receiver,
            other => return refuse(other, "give this list a name before: `let x = ..;`"),
        };
        let by = self.operand(&maker.args[0])?;
        let by = self.convert(by, &Ty::Usize);
        let by = self.named(by, "length");
        match literal(&by) {
            Some(0) => return refuse(&maker.args, "a length of 0 panics"),
            _ => {
                let said = "chunk size must be non-zero".to_string();
                let check = format!("prim.select({} > 0, 0, -1) >= 0", by.text);
                self.check(maker.method.span(), What::Panic(said), &check);
            }
        }
        let whole = self.looked_at(list)?.1;
        let exact = maker.method == "chunks_exact_mut";
        let more = if exact { "" } else { " + {k} - 1" }.replace("{k}", by.within(4).as_str());
        let count = self.names.unique("count");
        self.lines.push(format!("{count} = ({whole}{more}) / {}", by.within(6)));
        // Names that no user's program has.
        let span = maker.method.span();
        let own = self.names.unique("chunk");
        let [k, n, at] =
            ["length", "count", "at"].map(|w| syn::Ident::new(&format!("__jut_{own}_{w}"), span));
        let numbers: Expr = syn::parse_quote!((0..#n));
        let (iterator, pattern, part) = numbered(&l.expr, &l.pat, &numbers, &at)?;
        let end: Expr = match exact {
            true => syn::parse_quote!(#at * #k + #k),
            false => syn::parse_quote!((#at * #k + #k).min(#list.len())),
        };
        let (label, body) = (&l.label, &l.body.stmts);
        let told: ExprForLoop = syn::parse_quote! {
            #label for #pattern in #iterator {
                let #part = &mut #list[#at * #k..#end];
                #(#body)*
            }
        };
        let count = Value::name(count, Ty::Usize, 0);
        let local = |value: Value| Local::value(value.text, Ty::Usize);
        self.scopes
            .push(HashMap::from([(k.to_string(), local(by)), (n.to_string(), local(count))]));
        let done = self.for_loop(&told);
        self.scopes.pop();
        done.map(|()| true)
    }
}

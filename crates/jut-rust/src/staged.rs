//! What becomes of an element on its way through a chain: `map`, `filter`, `scan` and their like. Behind the last of them is the end
//! of the chain, or the body of a `for`:
//!
//! ```text
//! for v in x.iter().take_while(|v| **v > 0.0) { s += v; }      var go = true
//!                                                              for (i < size(x)) while go {
//!                                                                if x[i] > 0.0 { s += x[i] } else { go = false }
//!                                                              }
//! ```
//!
//! Requires: a body behind `flat_map` or `flatten`, which is a loop in a loop, is left by no jump.

use crate::chains::{Head, NESTED, Stage, is_nested};
use crate::elements::Item;
use crate::iterators::split;
use crate::lowering::{Lowering, indented};
use crate::syntax::unwrapped;
use crate::types::Ty;
use crate::value::Value;
use crate::{Refusal, refuse};
use syn::{Expr, ExprForLoop};

/// Whether a loop goes over a chain that leaves elements out, or has loops of its own.
pub(crate) fn is_staged(source: &Expr) -> bool {
    split(source).0.iter().any(|call| call.method != "map") || crate::lazily::is_told(source)
}

impl Lowering<'_> {
    /// Such a loop.
    pub fn staged_loop(&mut self, l: &ExprForLoop) -> Result<(), Refusal> {
        if let Some(told) = crate::lazily::looped(l) {
            self.statements(&told, crate::lowering::Tail::Unit)?;
            return Ok(());
        }
        let (_, head, item, stages) = self.chained(&l.expr)?;
        if let Some(inner) = stages.iter().find(|s| is_nested(s))
            && !self.jumps_out_of(l.label.as_ref(), &l.body).is_empty()
        {
            return refuse(&inner.call.method, NESTED);
        }
        let frame = self.frame(l.label.as_ref(), &l.body);
        let stops = self.stops(&frame, &l.body);
        let block = self.round(frame, |this| {
            this.staged(item, &stages, &mut |this, item| {
                this.scopes.push(Default::default());
                let done = this.body(&l.body, Some((&l.pat, item, Vec::new())));
                this.scopes.pop();
                done
            })
        })?;
        let text = head.text(&stops.join(" && "));
        self.lines.push(format!("{text} {{\n{}\n}}", indented(&block.lines)));
        Ok(())
    }

    /// What an element becomes, and what is done with that.
    pub fn staged(
        &mut self,
        item: Item,
        stages: &[Stage<'_>],
        last: &mut dyn FnMut(&mut Self, Item) -> Result<(), Refusal>,
    ) -> Result<(), Refusal> {
        let Some((stage, rest)) = stages.split_first() else { return last(self, item) };
        let call = stage.call;
        if call.method == "flatten" {
            // Places of rows are gone over as those of a name.
            if let Item::Place(_) = item {
                self.scopes.push(Default::default());
                self.bind(&syn::parse_quote!(__jut_row), item)?;
                let elements = self.list_places(&syn::parse_quote!(__jut_row));
                self.scopes.pop();
                let elements = elements?;
                let index = self.names.unique("i");
                let inner = (elements.element)(&index);
                let (block, ()) = self.nested(|this| this.staged(inner, rest, last))?;
                self.loop_of(&Head { index, count: elements.count, goes: Vec::new() }, block);
                return Ok(());
            }
            let list = self.one(item)?;
            if let Ty::Option(_) = self.resolve(&list.ty) {
                let option = self.named(list, "option");
                let (there, value) = self.option_parts(&option);
                let (block, ()) = self.nested(|this| this.staged(Item::One(value), rest, last))?;
                self.guard(&there, block, "");
                return Ok(());
            }
            let elements = self.elements_of(list, &call.receiver)?;
            let index = self.names.unique("i");
            let inner = (elements.element)(&index);
            let (block, ()) = self.nested(|this| this.staged(inner, rest, last))?;
            self.loop_of(&Head { index, count: elements.count, goes: Vec::new() }, block);
            return Ok(());
        }
        let Some(closure) = call.args.last() else {
            return refuse(&call.method, "a closure is expected");
        };
        match (call.method.to_string().as_str(), &stage.kept) {
            ("map", _) => {
                let value = self.applied(closure, vec![item])?;
                let value = self.named(value, "element");
                return self.staged(Item::One(value), rest, last);
            }
            ("scan", Some(kept)) => {
                let given = crate::options::always(closure)?;
                let value = self.applied(&given, vec![Item::Place(kept.clone()), item])?;
                let value = self.named(value, "element");
                return self.staged(Item::One(value), rest, last);
            }
            ("filter_map" | "map_while", go) => {
                if let Expr::Closure(own) = closure {
                    self.expected.optional = crate::options::is_method_of_option(&own.body);
                }
                let option = self.applied(closure, vec![item])?;
                if !matches!(self.resolve(&option.ty), Ty::Option(_) | Ty::Of(..)) {
                    return refuse(
                        closure,
                        "write `Some(..)` or `None` as the value of this closure",
                    );
                }
                let option = self.named(option, "option");
                let (there, value) = self.option_parts(&option);
                let (block, ()) = self.nested(|this| this.staged(Item::One(value), rest, last))?;
                match go {
                    Some(go) => self.ended(&there, block, go),
                    None => self.guard(&there, block, ""),
                }
                return Ok(());
            }
            ("inspect", _) => {
                let (first, second) = self.twice(item)?;
                let value = self.applied(closure, vec![first])?;
                if !value.cheap && value.ty != Ty::Unit {
                    self.named(Value { stable: false, ..value }, "unused");
                }
                return self.staged(second, rest, last);
            }
            ("skip_while", Some(skipping)) => {
                let (first, second) = self.twice(item)?;
                let (mut block, test) = self.nested(|this| this.applied(closure, vec![first]))?;
                block.lines.push(format!("{} = {}", skipping.text, test.text));
                block.effect = true;
                self.guard(skipping, block, "");
                self.assigned += 1;
                self.reach = self.reach.min(self.depth.saturating_sub(1));
                let (block, ()) = self.nested(|this| this.staged(second, rest, last))?;
                let on = Value::name(format!("!{}", skipping.text), Ty::Bool, 0);
                self.guard(&on, block, "");
                return Ok(());
            }
            ("flat_map", _) => return self.inner_chain(closure, item, rest, last),
            ("take_while", Some(go)) => {
                let (first, second) = self.twice(item)?;
                let test = self.applied(closure, vec![first])?;
                let (block, ()) = self.nested(|this| this.staged(second, rest, last))?;
                self.ended(&test, block, go);
                return Ok(());
            }
            _ => {}
        }
        // The element is read by the test and by what follows.
        let (first, second) = self.twice(item)?;
        let test = self.applied(closure, vec![first])?;
        let (block, ()) = self.nested(|this| this.staged(second, rest, last))?;
        self.guard(&test, block, "");
        Ok(())
    }

    /// A test that ends the loop where it fails.
    fn ended(&mut self, test: &Value, block: crate::lowering::Lines, go: &Value) {
        self.guard(test, block, &format!("{} = false", go.text));
        self.assigned += 1;
        self.reach = self.reach.min(self.depth.saturating_sub(1));
    }

    /// `flat_map(|i| CHAIN)`: a loop in the loop.
    fn inner_chain(
        &mut self,
        closure: &Expr,
        item: Item,
        rest: &[Stage<'_>],
        last: &mut dyn FnMut(&mut Self, Item) -> Result<(), Refusal>,
    ) -> Result<(), Refusal> {
        let Expr::Closure(closure) = unwrapped(closure) else {
            return refuse(closure, "a closure that gives an iterator is expected here");
        };
        let [pattern] = &closure.inputs.iter().collect::<Vec<_>>()[..] else {
            return refuse(closure, "a closure of one value is expected here");
        };
        // What follows does not see the closure's names.
        let outside = self.scopes.clone();
        self.scopes.push(Default::default());
        self.bind(pattern, item)?;
        let (_, head, inner, stages) = self.chained(&closure.body)?;
        let (block, ()) = self.nested(|this| {
            this.staged(inner, &stages, &mut |this, item| {
                let item = this.forced(item)?;
                let inside = std::mem::replace(&mut this.scopes, outside.clone());
                let done = this.staged(item, rest, last);
                this.scopes = inside;
                done
            })
        })?;
        self.scopes.pop();
        self.loop_of(&head, block);
        Ok(())
    }

    fn twice(&mut self, item: Item) -> Result<(Item, Item), Refusal> {
        Ok(match self.forced(item)? {
            Item::One(value) => {
                let value = self.named(value, "element");
                (Item::One(value.clone()), Item::One(value))
            }
            other => (other.clone(), other),
        })
    }

    /// A branch whose lines may do nothing that is seen.
    pub fn guard(&mut self, test: &Value, mut block: crate::lowering::Lines, other: &str) {
        if !block.effect && other.is_empty() {
            block.lines.push("check 0 >= 0".to_string());
        }
        let other = if other.is_empty() { String::new() } else { format!(" else {{ {other} }}") };
        self.lines.push(format!("if {} {{\n{}\n}}{other}", test.text, indented(&block.lines)));
    }
}

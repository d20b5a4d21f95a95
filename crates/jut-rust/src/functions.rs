//! Functions as values: parameters such as `impl Fn(f64) -> f64`, and closures.
//!
//! A closure that has a name is written out where it is called: what it captures cannot change meanwhile but by itself. One
//! that is an argument becomes a function without a name of the text, which the called definition is written out with.

use crate::elements::Item;
use crate::lowering::{Closure, Local, Lowering, indented};
use crate::syntax::{unwrapped, words};
use crate::template::{Hole, What};
use crate::types::{Extent, Step, Ty};
use crate::value::Value;
use crate::{Refusal, refuse};
use quote::ToTokens;
use std::collections::HashMap;
use std::rc::Rc;
use syn::spanned::Spanned;
use syn::{Expr, ExprClosure};

impl Lowering<'_> {
    /// `let g = |x| ..;`
    pub fn closure_binding(
        &mut self,
        name: &syn::Ident,
        closure: &ExprClosure,
    ) -> Result<(), Refusal> {
        // A list that gets another length in it is the same one at each call, and behind the last: so it stands in a record.
        let changed = self.relisted_in(closure);
        if closure.capture.is_none() {
            self.in_records(&changed, closure)?;
        }
        let mut scopes = self.scopes.clone();
        if closure.capture.is_some() {
            // What is moved in is the closure's own from here on.
            let mut own = HashMap::new();
            for word in words(&closure.body) {
                let Some(local) = self.lookup(&word).cloned() else { continue };
                if local.mutable && local.closure.is_none() {
                    let name = self.names.unique(&word);
                    self.lines.push(format!("var {name} = {}", local.name));
                    own.insert(word, Local { name, depth: self.depth, ..local });
                }
            }
            scopes.push(own);
            let outside = std::mem::replace(&mut self.scopes, scopes);
            let done = self.in_records(&changed, closure);
            scopes = std::mem::replace(&mut self.scopes, outside);
            done?;
        }
        let closure = Closure { expr: closure.clone(), scopes };
        let ty = Ty::Function(Vec::new(), Box::new(Ty::Unit));
        let local = Local { closure: Some(Rc::new(closure)), ..Local::value(String::new(), ty) };
        self.declare(&name.to_string(), local);
        Ok(())
    }

    /// A call of what a name means in this function: a closure, or a parameter that is a function.
    pub fn local_call(&mut self, local: &Local, call: &syn::ExprCall) -> Result<Value, Refusal> {
        let arguments: Vec<&Expr> = call.args.iter().collect();
        if let Some(closure) = local.closure.clone() {
            let mut own = closure.expr.clone();
            let mut changed = Vec::new();
            for (input, argument) in own.inputs.iter_mut().zip(&arguments) {
                changed.push(self.changed_argument(input, argument)?);
            }
            changed.resize_with(arguments.len(), || None);
            let others = arguments.iter().zip(&changed).filter(|(_, place)| place.is_none());
            let others: Vec<&Expr> = others.map(|(argument, _)| *argument).collect();
            let values = self.sequence(&others)?;
            let named = values.into_iter().map(|v| Item::One(self.named(v, "argument")));
            let mut named = named.collect::<Vec<_>>().into_iter();
            let items = changed.into_iter().filter_map(|place| place.or_else(|| named.next()));
            let items = items.collect();
            let scopes = std::mem::replace(&mut self.scopes, closure.scopes.clone());
            let value = self.applied(&Expr::Closure(own), items);
            self.scopes = scopes;
            return value;
        }
        let Ty::Function(types, result) = self.resolve(&local.ty) else {
            return refuse(&call.func, "this is no function");
        };
        let values = self.sequence(&arguments)?;
        let texts: Vec<String> =
            values.iter().zip(&types).map(|(v, t)| self.convert(v.clone(), t).text).collect();
        let text = format!("{}({})", local.name, texts.join(", "));
        let name = self.names.unique("value");
        // What gives a list gives its length before it.
        let pattern = match matches!(*result, Ty::Array(_, Extent::Slice | Extent::Vec)) {
            true => format!("({}, {name})", self.names.unique("n_value")),
            false => name.clone(),
        };
        let text = self.at(call.span(), What::Same, &text);
        self.lines.push(format!("{pattern} = {text}"));
        let least = if *result == Ty::Usize { 0 } else { i64::MIN };
        Ok(Value::name(name, *result, least))
    }

    /// The place that an argument `&mut x` of a closure refers to, or a name that is a `&mut`; its parameter has no type then.
    fn changed_argument(
        &mut self,
        input: &mut syn::Pat,
        argument: &Expr,
    ) -> Result<Option<Item>, Refusal> {
        let written = match input {
            syn::Pat::Type(typed) => match &*typed.ty {
                syn::Type::Reference(reference) => reference.mutability.is_some(),
                _ => false,
            },
            _ => false,
        };
        let place = match unwrapped(argument) {
            Expr::Reference(reference) if reference.mutability.is_some() => &*reference.expr,
            name if written && self.is_changed(name) => name,
            other if written => return refuse(other, "write `&mut x` here, of a variable"),
            _ => return Ok(None),
        };
        let depth = self.root(place).map_or(0, |local| local.depth) as u8;
        let (value, _) = self.looked_at(place)?;
        if value.level == 2 {
            return refuse(place, "give this part a name before: `let part = &mut x[a..b];`");
        }
        if let syn::Pat::Type(typed) = input {
            let pattern = (*typed.pat).clone();
            *input = pattern;
        }
        Ok(Some(Item::Place(Value { level: depth, stable: false, ..value })))
    }

    /// An argument that is a function: a closure, or a function by its name. `hole` is what is called, and `k` the number of
    /// the argument.
    pub fn function_argument(
        &mut self,
        argument: &Expr,
        hole: usize,
        k: usize,
    ) -> Result<Option<Value>, Refusal> {
        let text = match unwrapped(argument) {
            Expr::Reference(reference) => return self.function_argument(&reference.expr, hole, k),
            Expr::Closure(closure) => self.nameless(closure, hole, k)?,
            Expr::Path(path) => {
                let local =
                    path.path.get_ident().and_then(|i| self.lookup(&i.to_string())).cloned();
                match local {
                    Some(Local { closure: Some(closure), .. }) => {
                        let scopes = std::mem::replace(&mut self.scopes, closure.scopes.clone());
                        let text = self.nameless(&closure.expr, hole, k);
                        self.scopes = scopes;
                        text?
                    }
                    Some(local) if matches!(local.ty, Ty::Function(..)) => local.name,
                    Some(_) => return Ok(None),
                    None => {
                        let last = path.path.segments.last().map(|s| s.ident.to_string());
                        match last.is_some_and(|l| l.chars().all(|c| !c.is_uppercase())) {
                            true => {
                                format!("$c{}$", self.hole(Hole::Function(path.to_token_stream())))
                            }
                            false => return Ok(None),
                        }
                    }
                }
            }
            _ => return Ok(None),
        };
        let ty = Ty::Function(Vec::new(), Box::new(Ty::Unit));
        Ok(Some(Value::name(text, ty, i64::MIN)))
    }

    /// A function without a name.
    fn nameless(
        &mut self,
        closure: &ExprClosure,
        hole: usize,
        k: usize,
    ) -> Result<String, Refusal> {
        let names: Vec<String> =
            closure.inputs.iter().map(|_| self.names.unique("argument")).collect();
        let changed = std::mem::replace(&mut self.changed, usize::MAX);
        let done = self.nested(|this| {
            let items = names
                .iter()
                .enumerate()
                .map(|(j, name)| {
                    let ty = Ty::Of(hole, vec![Step::Argument(k, j)]);
                    Item::One(Value::name(name.clone(), ty, i64::MIN))
                })
                .collect();
            this.applied(&Expr::Closure(closure.clone()), items)
        });
        let own = std::mem::replace(&mut self.changed, changed);
        let (block, value) = done?;
        if own <= self.depth {
            return refuse(
                &closure.or1_token,
                "a closure that is given to a function assigns no variables of outside: let it give the value back",
            );
        }
        let mut lines = block.lines;
        let last = match self.resolve(&value.ty) {
            Ty::Array(_, Extent::Slice | Extent::Vec) => {
                let list = self.names.unique("list");
                lines.push(format!("{list} = {}", value.text));
                format!("(size({list}), {list})")
            }
            // A function may give a list.
            Ty::Of(of, steps) => {
                let steps = crate::types::words(&steps);
                let list = self.names.unique("list");
                lines.push(format!("{list} = {}", value.text));
                format!("($if vec {of}{steps}$size({list}), $end${list})")
            }
            _ => value.text,
        };
        lines.push(last);
        Ok(format!("fn ({}) -> {{\n{}\n}}", names.join(", "), indented(&lines)))
    }
}

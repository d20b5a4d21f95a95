//! `Vec`s that grow by a number of elements that is not known before: in a branch, in a `while`, in a loop of a loop.
//!
//! A list of the text has one length. So such a statement is written twice. The first time it works on copies of the variables, and
//! counts what it pushes; then there is a list of that length, which the second time fills:
//!
//! ```text
//! while t < end {                      var t_1 = t
//!     t += h;                          var count = 0
//!     if t > 1.0 { v.push(t); }        while t_1 < end { t_1 += h   if t_1 > 1.0 { count += 1 } }
//! }                                    var list = build (i < count) { 0.0 }
//!                                      while t < end { t += h   if t > 1.0 { list[at] = t   at += 1 } }
//! ```
//!
//! `x.iter().filter(..).collect()` is such a statement, that pushes to a list without a name in Rust.
//!
//! Requires: the statement does not read the list, and no jump leaves it. What is pushed has a type without sizes of its own.
//!
//! Cost: what decides on how much is pushed is computed twice, and four times where a loop in it has such a list of its own.

use crate::lowering::{Closure, Growing, Local, Lowering};
use crate::syntax::{GROWING, unwrapped, words};
use crate::types::{Extent, Ty, array};
use crate::value::Value;
use crate::visited::{Node, each};
use crate::{Refusal, refuse};
use std::collections::HashMap;
use std::rc::Rc;
use syn::{Expr, ExprMethodCall};

/// What the name of a list stands for while it grows: nothing that can be read.
const OPEN: &str = "\u{5}";

impl Local {
    /// Whether it is a list in a statement that makes it longer.
    pub fn is_open(&self) -> bool {
        self.name == OPEN
    }
}

impl Lowering<'_> {
    /// The lists of this block that a statement makes longer.
    pub fn lists_in(&self, statement: &Expr) -> Vec<String> {
        let mut lists = Vec::new();
        each(statement, &mut |node| {
            if let Node::Expr(Expr::MethodCall(call)) = node
                && let Expr::Path(path) = unwrapped(&call.receiver)
                && let Some(name) = path.path.get_ident().map(|name| name.to_string())
                && GROWING.contains(&call.method.to_string().as_str())
                && !lists.contains(&name)
            {
                lists.push(name);
            }
            true
        });
        lists.retain(|name| self.lookup(name).is_some_and(|local| self.grows_here(local)));
        lists
    }

    /// Whether a list is declared in the block that is being written, and may become longer there.
    pub fn grows_here(&self, local: &Local) -> bool {
        local.mutable
            && !local.reference
            && !local.is_open()
            && local.stack.is_none()
            && local.depth == self.depth
            && matches!(local.ty, Ty::Array(_, Extent::Slice | Extent::Vec))
    }

    /// The lists of the block round this one. All that follows there stands in this one: so they may become longer here.
    pub fn moved_in(&self) -> HashMap<String, Local> {
        let mut lists = HashMap::new();
        for scope in &self.scopes {
            for (name, local) in scope {
                let local = Local { depth: local.depth + 1, ..local.clone() };
                match self.grows_here(&local) {
                    true => lists.insert(name.clone(), local),
                    // Another one of this name.
                    false => lists.remove(name),
                };
            }
        }
        lists
    }

    /// A statement that makes lists longer.
    pub fn counted_and_filled(
        &mut self,
        lists: &[String],
        statement: &Expr,
    ) -> Result<(), Refusal> {
        if !self.jumps_of(statement).is_empty() {
            return refuse(
                statement,
                "a statement in which a list grows is not left by a jump: let a variable say how it ends",
            );
        }
        let outside = self.lists.growing.clone();
        let mut open = HashMap::new();
        for name in lists {
            let Some(local) = self.lookup(name).cloned() else { continue };
            open.insert(name.clone(), Local { name: OPEN.to_string(), ..local });
        }
        // First it is counted. What grows outside of the statement too grows once only.
        let names: Vec<String> = lists.iter().chain(outside.keys()).cloned().collect();
        for name in names {
            let count = self.zero("count");
            let growing = Growing { count, list: None, element: None, depth: self.depth };
            self.lists.growing.insert(name, growing);
        }
        let mut scope = self.copies(statement);
        scope.extend(open.clone());
        self.scopes.push(scope);
        let done = self.effect(statement);
        self.scopes.pop();
        let counted = std::mem::replace(&mut self.lists.growing, outside.clone());
        done?;
        // Then there are lists, which are filled.
        let mut filled = Vec::new();
        for name in lists {
            let (Some(growing), Some(local)) = (counted.get(name), self.lookup(name).cloned())
            else {
                continue;
            };
            let Some(pushed) = &growing.element else { continue };
            let element = match self.element(&local.ty) {
                Ty::Never => pushed.clone(),
                known => self.unify(&known, pushed),
            };
            let element = self.resolve(&element);
            if matches!(element, Ty::Array(_, Extent::Slice | Extent::Vec)) {
                return refuse(
                    statement,
                    "rows of different lengths are not built: push a `[f64; N]`",
                );
            }
            let (number, list) = (self.names.unique("number"), self.names.unique("list"));
            let (i, one) = (self.names.unique("i"), self.neutral(&element, statement)?);
            self.lines.push(format!("{number} = {}", growing.count));
            self.lines.push(format!("var {list} = build ({i} < {number}) {{ {one} }}"));
            let count = self.zero("at");
            let depth = self.depth;
            let growing = Growing { count, list: Some(list.clone()), element: None, depth };
            self.lists.growing.insert(name.clone(), growing);
            filled.push((name, Value::name(list, array(element, Extent::Slice), i64::MIN), number));
        }
        self.scopes.push(open);
        let done = self.effect(statement);
        self.scopes.pop();
        self.lists.growing = outside;
        done?;
        for (name, list, number) in filled {
            let Some(local) = self.lookup(name).cloned() else { continue };
            self.longer(name, &local, list, Some(number))?;
        }
        Ok(())
    }

    /// A variable of the lowering's own.
    fn zero(&mut self, wanted: &str) -> String {
        let name = self.names.unique(wanted);
        self.lines.push(format!("var {name} = 0"));
        name
    }

    /// Copies of the variables that a statement mentions, also by closures.
    fn copies(&mut self, statement: &Expr) -> HashMap<String, Local> {
        let mut copies: HashMap<String, Local> = HashMap::new();
        let mut made: HashMap<String, String> = HashMap::new();
        for word in words(statement) {
            let Some(local) = self.lookup(&word).cloned() else { continue };
            match &local.closure {
                Some(closure) => {
                    let mut own = HashMap::new();
                    for inner in words(&closure.expr.body) {
                        let found = closure.scopes.iter().rev().find_map(|s| s.get(&inner));
                        let Some(found) = found.cloned() else { continue };
                        if let Some(copy) = self.copy(&inner, &found, &mut made) {
                            own.insert(inner, copy);
                        }
                    }
                    let scopes = closure.scopes.iter().cloned().chain([own]).collect();
                    let closure = Closure { expr: closure.expr.clone(), scopes };
                    let local = Local { closure: Some(Rc::new(closure)), ..local };
                    copies.insert(word, local);
                }
                None => {
                    if let Some(copy) = self.copy(&word, &local, &mut made) {
                        copies.insert(word, copy);
                    }
                }
            }
        }
        copies
    }

    fn copy(
        &mut self,
        word: &str,
        local: &Local,
        made: &mut HashMap<String, String>,
    ) -> Option<Local> {
        let nothing = local.name.is_empty() || local.is_open() || local.closure.is_some();
        if !local.mutable || nothing {
            return None;
        }
        let name = match made.get(&local.name) {
            Some(name) => name.clone(),
            None => {
                let name = self.names.unique(word);
                self.lines.push(format!("var {name} = {}", local.name));
                made.insert(local.name.clone(), name.clone());
                name
            }
        };
        Some(Local { name, depth: self.depth, ..local.clone() })
    }

    /// `v.push(e)`, `v.extend(..)` where the list is counted or filled; nothing if it is not.
    pub fn grow_open(&mut self, call: &ExprMethodCall) -> Result<bool, Refusal> {
        let Expr::Path(path) = unwrapped(&call.receiver) else { return Ok(false) };
        let Some(name) = path.path.get_ident().map(|i| i.to_string()) else { return Ok(false) };
        let Some(own) = self.lookup(&name).filter(|own| own.is_open()) else { return Ok(false) };
        let written = own.ty.clone();
        let [argument] = &call.args.iter().collect::<Vec<_>>()[..] else {
            return refuse(&call.method, "one argument is expected here");
        };
        if call.method != "push" {
            let list = &call.receiver;
            let source = match crate::iterators::is_iterator(argument) {
                true => (*argument).clone(),
                false => syn::parse_quote!((#argument).iter()),
            };
            let each: Expr =
                syn::parse_quote!(#source.for_each(|jut_element| #list.push(jut_element)));
            self.effect(&each)?;
            return Ok(true);
        }
        let value = self.expression(argument)?;
        self.stands_in_a_list(argument, &value.ty);
        let value = self.written_row(value, &written);
        let value = self.made_row(value);
        let value = self.untold(value, &written);
        let ty = self.resolve(&value.ty);
        let Some(growing) = self.lists.growing.get(&name).cloned() else { return Ok(false) };
        let element = match &growing.element {
            Some(known) => self.unify(known, &ty),
            None => ty,
        };
        let Growing { count, list, depth, .. } = growing;
        if let Some(list) = list {
            self.lines.push(format!("{list}[{count}] = {}", value.text));
        }
        self.lines.push(format!("{count} += 1"));
        self.assigned += 1;
        self.reach = self.reach.min(depth);
        self.changed = self.changed.min(depth);
        if let Some(growing) = self.lists.growing.get_mut(&name) {
            growing.element = Some(element);
        }
        Ok(true)
    }

    /// `CHAIN.collect()`, where how many elements there are is not known before.
    pub fn gathered(&mut self, end: &ExprMethodCall) -> Result<Value, Refusal> {
        let (iterator, ty) = (&end.receiver, array(Ty::Never, Extent::Slice));
        let list = Local { mutable: true, depth: self.depth, ..Local::value(String::new(), ty) };
        self.scopes.push(HashMap::from([("jut_list".to_string(), list)]));
        let each = syn::parse_quote!(#iterator.for_each(|jut_element| jut_list.push(jut_element)));
        let done = self.counted_and_filled(&["jut_list".to_string()], &each);
        let found = self.scopes.pop().and_then(|mut scope| scope.remove("jut_list"));
        done?;
        match found.filter(|local| !local.name.is_empty()) {
            Some(list) => {
                let value = Value::name(list.name, list.ty, i64::MIN);
                Ok(self.named(Value { stable: false, ..value }, "list"))
            }
            None => refuse(&end.method, "this is not built"),
        }
    }
}

//! `Vec`s that grow: `push`, `extend`.
//!
//! A list of the text has one length. So `v.push(e)` makes a longer list, which has the name from there on; and a loop that pushes
//! once in each iteration collects what it pushes, and the list becomes longer once, behind it:
//!
//! ```text
//! let mut v = Vec::new();            var v = [x[0]]
//! v.push(x[0]);                      list = for (i < n) { y = v_next(i); y }
//! for i in 0..n { v.push(..) }       var v_1 = build (k < size(v) + n) { if k < size(v) { v[k] } else { list[k - size(v)] } }
//! ```
//!
//! A loop that pushes once in each iteration and reads the list, `v.push(v[i - 1] + x[i])`, fills one that is as long as it will be: what is
//! read is the part that is there.
//!
//! Requires: a list grows in the block that declares it, or in a statement of that block. One that pushes in another way than such a
//! loop is written twice (`counted`).
//!
//! Cost: that of the longer list at each `push` outside of a loop; as many elements as are pushed in one.

use crate::lowering::{Local, Lowering, indented};
use crate::syntax::{GROWING, place_of, unwrapped};
use crate::types::{Extent, Ty, array};
use crate::value::Value;
use crate::visited::{Node, each};
use crate::{Refusal, refuse};
use proc_macro2::Span;
use std::collections::HashMap;
use syn::{Expr, ExprForLoop, ExprMethodCall, Stmt};

/// The list that a statement pushes to, and what it pushes.
fn pushed(statement: &Stmt) -> Option<(String, &Expr)> {
    let Stmt::Expr(Expr::MethodCall(call), _) = statement else { return None };
    let Expr::Path(path) = unwrapped(&call.receiver) else { return None };
    let name = path.path.get_ident()?.to_string();
    (call.method == "push" && call.args.len() == 1).then(|| (name, &call.args[0]))
}

/// How often a name stands in something.
fn mentions(name: &str, in_block: &syn::Block) -> usize {
    let mut found = 0;
    each(in_block, &mut |node| {
        found += usize::from(matches!(node, Node::Path(path) if path.is_ident(name)));
        true
    });
    found
}

impl Lowering<'_> {
    /// `let mut v = Vec::new();`
    pub fn empty_list(&mut self, name: &syn::Ident, written: Option<Ty>) -> Result<(), Refusal> {
        let key = place_of(name);
        let known = self.learned.elements.get(&key).cloned();
        let untyped = written.is_none().then_some(key);
        let known = known.map(|found| self.found_before(&found.ty, &found.holes));
        let element = written.or(known).map(|ty| self.resolve(&ty));
        let element = element.map(|ty| self.type_of_rows(&ty).unwrap_or(ty));
        let (text, element) = match element {
            Some(ty) => {
                let (one, i) = (self.neutral(&ty, name)?, self.names.unique("i"));
                let text = self.names.unique(&name.to_string());
                self.lines.push(format!("var {text} = build ({i} < 0) {{ {one} }}"));
                self.lists.empty.insert(text.clone());
                (text, ty)
            }
            None => {
                self.lists.unknown = true;
                (String::new(), Ty::Never)
            }
        };
        let ty = array(element, Extent::Slice);
        let local = Local { mutable: true, depth: self.depth, untyped, ..Local::value(text, ty) };
        self.declare(&name.to_string(), local);
        Ok(())
    }

    /// The list that a method makes longer.
    fn growing(&self, call: &ExprMethodCall) -> Result<(String, Local), Refusal> {
        let found = match unwrapped(&call.receiver) {
            Expr::Path(path) => path.path.get_ident().map(|i| i.to_string()),
            _ => None,
        };
        let local = found.as_ref().and_then(|name| self.lookup(name)).cloned();
        match (found, local) {
            (Some(name), Some(local)) if self.grows_here(&local) || local.stack.is_some() => {
                Ok((name, local))
            }
            _ => refuse(&call.method, WHERE),
        }
    }

    /// A method that makes a list longer.
    pub fn grow(&mut self, call: &ExprMethodCall) -> Result<(), Refusal> {
        if self.grow_open(call)? {
            return Ok(());
        }
        let [argument] = &call.args.iter().collect::<Vec<_>>()[..] else {
            return refuse(&call.method, "one argument is expected here");
        };
        let pushed = match unwrapped(&call.receiver) {
            Expr::Path(path) => path.path.get_ident().map(|i| i.to_string()),
            _ => None,
        };
        if let Some(name) = pushed
            && call.method == "push"
            && self.lists.pushes.last().is_some_and(|p| p.contains_key(&name))
        {
            let value = self.expression(argument)?;
            self.stands_in_a_list(argument, &value.ty);
            let value = self.as_row(value);
            let value = self.named(Value { stable: false, ..value }, "pushed");
            if let Some(pushes) = self.lists.pushes.last_mut() {
                pushes.insert(name, Some(value));
            }
            return Ok(());
        }
        if call.method == "push"
            && let Some((local, n)) = self.partial_list(&call.receiver)
        {
            let value = self.expression(argument)?;
            let value = self.written_row(value, &local.ty);
            let value = match self.is_uneven(&local.ty) {
                true => self.made_row(value),
                false => self.untold(value, &local.ty),
            };
            let value = self.convert(value, &self.element(&local.ty));
            self.lines.push(format!("{}[{n}] = {}\n{n} += 1", local.name, value.text));
            self.assigned += 1;
            self.reach = self.reach.min(local.depth);
            self.changed = self.changed.min(local.depth);
            return Ok(());
        }
        let (name, local) = self.growing(call)?;
        if call.method == "push" {
            let value = self.expression(argument)?;
            self.stands_in_a_list(argument, &value.ty);
            let value = self.written_row(value, &local.ty);
            let value = self.made_row(value);
            let value = match local.stack.is_some() {
                true => self.untold(value, &local.ty),
                false => value,
            };
            return self.longer(&name, &local, value, None);
        }
        let (list, count) = match crate::iterators::is_iterator(argument) {
            true => {
                let chain: ExprMethodCall = syn::parse_quote!(#argument.collect());
                let list = self.chain(&chain)?;
                let count = format!("size({})", list.text);
                (list, count)
            }
            false => {
                let list = self.expression(argument)?;
                let list = self.named(list, "list");
                let count = format!("size({})", list.text);
                (list, count)
            }
        };
        self.longer(&name, &local, list, Some(count))
    }

    /// The list with one more value, or with all elements of another one.
    pub fn longer(
        &mut self,
        name: &str,
        local: &Local,
        value: Value,
        count: Option<String>,
    ) -> Result<(), Refusal> {
        let more = if count.is_some() { self.element(&value.ty) } else { value.ty.clone() };
        let element = match self.element(&local.ty) {
            Ty::Never => more.clone(),
            known => self.unify(&known, &more),
        };
        if local.stack.is_some() {
            self.pushed_to(local, &more);
        }
        let value = match local.stack.is_some() {
            true => self.named(value, "pushed"),
            false => value,
        };
        let (old, text) = (self.unpacked(local), self.names.unique(name));
        let line = match (&count, old.is_empty()) {
            (None, true) => format!("[{}]", value.text),
            (Some(_), true) => value.text,
            (None, false) => {
                let (value, i) = (self.named(value, "pushed"), self.names.unique("i"));
                format!(
                    "build ({i} < size({old}) + 1) {{ if {i} < size({old}) {{ {old}[{i}] }} else {{ {} }} }}",
                    value.text
                )
            }
            (Some(count), false) => {
                let (value, i) = (self.named(value, "list"), self.names.unique("i"));
                let first = self.names.unique("first");
                self.lines.push(format!("{first} = size({old})"));
                format!(
                    "build ({i} < {first} + {count}) {{ if {i} < {first} {{ {old}[{i}] }} else {{ {}[{i} - {first}] }} }}",
                    value.text
                )
            }
        };
        if local.stack.is_some() {
            self.packed(local, &line);
            return Ok(());
        }
        self.lines.push(format!("var {text} = {line}"));
        self.assigned += 1;
        let grown = Local { name: text, ty: array(element, Extent::Slice), ..local.clone() };
        let scope = self.scopes.iter_mut().rev().find(|scope| scope.contains_key(name));
        if let Some(scope) = scope {
            scope.insert(name.to_string(), grown);
        }
        Ok(())
    }

    /// The lists that a loop pushes to once in each iteration, at the top of its body, if that is all it does with lists that are
    /// declared outside of it.
    pub fn pushes_of(&mut self, l: &ExprForLoop) -> Vec<String> {
        self.pushes_that(l, false)
    }

    /// The same of a loop that reads some of them.
    pub fn read_pushes_of(&mut self, l: &ExprForLoop) -> Vec<String> {
        match self.pushes_of(l).is_empty() {
            true => self.pushes_that(l, true),
            false => Vec::new(),
        }
    }

    fn pushes_that(&mut self, l: &ExprForLoop, read: bool) -> Vec<String> {
        let mut lists: Vec<String> = Vec::new();
        for statement in &l.body.stmts {
            let Some((name, _)) = pushed(statement) else { continue };
            let outside = self.lookup(&name).is_some_and(|local| self.grows_here(local));
            let inside = l.body.stmts.iter().any(|s| declares(s, &name));
            if !outside || inside {
                continue;
            }
            let once = match read {
                true => grows(&name, &l.body) == 1 && self.has_elements(&name),
                false => mentions(&name, &l.body) == 1,
            };
            if lists.contains(&name) || !once {
                return Vec::new();
            }
            lists.push(name);
        }
        let all = self.lists_in(&Expr::ForLoop(l.clone())).len() == lists.len();
        let all = all && !crate::staged::is_staged(&l.expr);
        match all && self.jumps_out_of(l.label.as_ref(), &l.body).is_empty() {
            true => lists,
            false => Vec::new(),
        }
    }

    /// Whether a list is one of which something is known.
    fn has_elements(&self, name: &str) -> bool {
        self.lookup(name).is_some_and(|local| !local.name.is_empty())
    }

    /// Lists that a loop of so many iterations fills and reads: they stand in a scope of its own.
    pub fn filled(&mut self, lists: &[String], count: &str) -> HashMap<String, Local> {
        let mut scope = HashMap::new();
        for name in lists {
            let Some(local) = self.lookup(name).cloned() else { continue };
            let (list, n) = (self.names.unique(name), self.names.unique("n"));
            let whole = self.in_rows(Value::name(local.name.clone(), local.ty.clone(), i64::MIN));
            let (old, i) = (whole.text, self.names.unique("i"));
            let element = self.resolve(&self.element(&whole.ty));
            let Ok(one) =
                self.neutral(&element, &syn::Ident::new(name, proc_macro2::Span::call_site()))
            else {
                continue;
            };
            self.lines.push(format!("var {n} = size({old})"));
            self.lines.push(format!(
                "var {list} = build ({i} < size({old}) + {count}) {{ if {i} < size({old}) {{ {old}[{i}] }} else {{ {one} }} }}"
            ));
            self.lists.partial.insert(list.clone(), n);
            scope.insert(name.clone(), Local { name: list, ty: whole.ty, ..local });
        }
        scope
    }

    /// What is there of a list that a loop fills.
    pub fn part_of(&mut self, list: &str, ty: &Ty) -> Option<Value> {
        let n = self.lists.partial.get(list)?.clone();
        let part = self.names.unique("part");
        self.lines.push(format!("{part} = {list}[0 .. {n}]"));
        Some(Value::name(part, array(self.element(ty), Extent::Slice), i64::MIN))
    }

    /// The list of a name that a loop fills, and how many elements there are.
    pub fn partial_list(&self, expr: &Expr) -> Option<(Local, String)> {
        let Expr::Path(path) = unwrapped(expr) else { return None };
        let local = self.lookup(&path.path.get_ident()?.to_string())?;
        Some((local.clone(), self.lists.partial.get(&local.name)?.clone()))
    }

    /// The lists that are pushed to a list, where its type is written and so says that what a call gives is one.
    fn written_rows(&self, list: &Ty) -> Option<Ty> {
        let element = self.resolve(&self.element(list));
        match self.row_of(&element).unwrap_or(element) {
            list @ Ty::Array(_, Extent::Slice | Extent::Vec) => Some(list),
            _ => None,
        }
    }

    /// What a call gives as such a list, and as a row where the list has rows.
    pub fn written_row(&mut self, mut value: Value, list: &Ty) -> Value {
        let Some(row) = self.written_rows(list) else { return value };
        // Of what such a list has in it, the type of the whole says it too.
        if self.is_uneven(list) && self.is_of_a_list(&value) {
            value.ty = self.unify(&value.ty, &row);
        }
        if !matches!(self.resolve(&value.ty), Ty::Of(..)) || self.is_row(&value.ty) {
            return value;
        }
        value.ty = self.unify(&value.ty, &row);
        match self.is_uneven(list) {
            true => self.made_row(value),
            false => value,
        }
    }

    /// A loop whose lines end with what is pushed; whether it does nothing else, and where it is.
    pub fn collected(
        &mut self,
        lists: &[String],
        pushed: HashMap<String, Option<Value>>,
        head: &str,
        mut lines: Vec<String>,
        alone: Option<Span>,
    ) -> Result<(), Refusal> {
        let mut names = Vec::new();
        let mut values = Vec::new();
        for name in lists {
            let Some(Some(value)) = pushed.get(name).cloned() else { continue };
            let index = head.split(' ').next().unwrap_or(head);
            // What is known by the lines alone stays so.
            let local = self.lookup(name).filter(|_| matches!(value.ty, Ty::Of(..)));
            let written = local.and_then(|local| self.written_rows(&local.ty));
            let value = self.row_of_lines(&mut lines, value, index, written.as_ref());
            let list = self.names.unique("list");
            let ty = array(value.ty.clone(), Extent::Slice);
            names.push((name.clone(), Value::name(list, ty, i64::MIN)));
            values.push(value);
        }
        let several = |all: Vec<String>| match &all[..] {
            [one] => one.clone(),
            all => format!("({})", all.join(", ")),
        };
        if lines.last().is_some_and(|line| line == "check 0 >= 0") {
            lines.pop();
        }
        match (&values[..], head.split_once(" < "), alone) {
            // What a call gives may be a list, which is as long as the first.
            ([value], Some(head), Some(span)) if matches!(value.ty, Ty::Of(..)) => {
                self.of_one_length(&mut lines, value, head, span);
            }
            _ => lines.push(several(values.into_iter().map(|value| value.text).collect())),
        }
        let lists = several(names.iter().map(|(_, list)| list.text.clone()).collect());
        self.lines.push(format!("{lists} = for ({head}) {{\n{}\n}}", indented(&lines)));
        for (name, list) in names {
            let Some(local) = self.lookup(&name).cloned() else { continue };
            let count = format!("size({})", list.text);
            self.longer(&name, &local, list, Some(count))?;
        }
        Ok(())
    }
}

/// How often something makes a list longer, or shorter.
fn grows(name: &str, block: &syn::Block) -> usize {
    let is_own = |expr: &Expr| matches!(unwrapped(expr), Expr::Path(p) if p.path.is_ident(name));
    let mut found = 0;
    each(block, &mut |node| {
        match node {
            Node::Expr(Expr::MethodCall(call)) => {
                let method = call.method.to_string();
                let changes = GROWING.contains(&method.as_str())
                    || crate::syntax::RELISTING.contains(&method.as_str());
                found += usize::from(changes && is_own(&call.receiver));
            }
            // Another list is of another length.
            Node::Expr(Expr::Assign(assign)) => found += 2 * usize::from(is_own(&assign.left)),
            _ => {}
        }
        true
    });
    found
}

/// Whether a statement declares this name.
fn declares(statement: &Stmt, name: &str) -> bool {
    let Stmt::Local(local) = statement else { return false };
    let mut pattern = &local.pat;
    if let syn::Pat::Type(typed) = pattern {
        pattern = &typed.pat;
    }
    matches!(pattern, syn::Pat::Ident(ident) if ident.ident == name)
}

const WHERE: &str = "a list grows in the block that declares it, and in statements of that block which no jump leaves: write \
                     `vec![0.0; n]`, and assign its elements";

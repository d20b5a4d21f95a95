//! Lists whose length changes in a branch or a loop: stacks, queues, what is left to do.
//!
//! A list of the text has one length, which a variable keeps. So in a statement that takes elements out of a list, or that reads what it
//! pushes, the list stands in a record that has its length as a field, and is a list again behind the statement:
//!
//! ```text
//! while let Some(v) = stack.pop() {        data f_list_1 = f_list_1(n: i64, items: [n]f64)
//!     if v > 1.0 {                         var stack_1 = f_list_1(size(stack), stack)
//!         stack.push(v - 1.0);             while .. {
//!     }                                        f_list_1(n, items) = stack_1
//! }                                            stack_1 = f_list_1(m, items[0 .. m])
//!                                          ..
//!                                          f_list_1(n, items) = stack_1
//! ```
//!
//! Where such a statement has one in it that assigns elements and leaves the length, that one works on the list.
//!
//! Requires: elements have no sizes of their own. An element is assigned in a statement that does not change the length.
//! Cost: each change of the length is a new list. What only pushes and does not read costs less ([`grown`](crate::grown),
//! [`counted`](crate::counted)), and is not written so.

use crate::lowering::{Found, Local, Lowering};
use crate::syntax::{GROWING, RELISTING, unwrapped};
use crate::types::{Extent, Ty, array};
use crate::value::Value;
use crate::visited::{Node, each};
use crate::{Refusal, refuse};
use quote::ToTokens;
use syn::{Expr, Stmt};

/// What a statement does with a list.
#[derive(Default)]
struct Uses<'a> {
    name: &'a str,
    /// Methods that make it longer.
    grows: usize,
    /// Methods that make it shorter, or new ones under its name.
    relists: usize,
    /// Elements that are assigned.
    assigns: usize,
    /// How often it stands anywhere.
    stands: usize,
}

fn is_named(expr: &Expr, name: &str) -> bool {
    matches!(unwrapped(expr), Expr::Path(path) if path.path.is_ident(name))
}

/// Whether a place is a part of what has a name.
fn is_part(place: &Expr, name: &str) -> bool {
    match unwrapped(place) {
        Expr::Index(index) => is_named(&index.expr, name) || is_part(&index.expr, name),
        Expr::Field(field) => is_part(&field.base, name),
        _ => false,
    }
}

/// The places that are assigned: those of a tuple, or one.
fn targets(left: &Expr) -> impl Iterator<Item = &Expr> {
    let all: Vec<&Expr> = match unwrapped(left) {
        Expr::Tuple(tuple) => tuple.elems.iter().collect(),
        one => vec![one],
    };
    targets_of(all)
}

/// Places, of which `*a` is that of a name that is a `&mut`.
fn targets_of<'e>(all: impl IntoIterator<Item = &'e Expr>) -> impl Iterator<Item = &'e Expr> {
    all.into_iter().map(|place| match unwrapped(place) {
        Expr::Unary(unary) if matches!(unary.op, syn::UnOp::Deref(_)) => &*unary.expr,
        place => place,
    })
}

impl Uses<'_> {
    /// What is assigned.
    fn targets(&mut self, left: &Expr) {
        for target in targets(left) {
            self.relists += usize::from(is_named(target, self.name));
            self.assigns += usize::from(is_part(target, self.name));
        }
    }

    /// Looks at a part; whether its own parts are to be looked at then.
    fn see(&mut self, node: Node) -> bool {
        match node {
            Node::Path(path) => {
                self.stands += usize::from(path.is_ident(self.name));
                return false;
            }
            Node::Macro(call) => {
                self.stands += usize::from(crate::syntax::has_word(&call.tokens, self.name));
                return false;
            }
            Node::Expr(Expr::MethodCall(call)) => {
                let method = call.method.to_string();
                let changes = crate::syntax::CHANGING.contains(&method.as_str());
                if is_named(&call.receiver, self.name) {
                    self.grows += usize::from(GROWING.contains(&method.as_str()));
                    self.relists += usize::from(RELISTING.contains(&method.as_str()));
                    self.assigns += usize::from(changes || method.ends_with("_mut"));
                }
                let part = is_part(&call.receiver, self.name);
                self.assigns += usize::from(part && (changes || method == "iter_mut"));
            }
            Node::Expr(Expr::Call(call)) => {
                if let Some(swapped) = crate::restated::swapped(call) {
                    self.targets(&swapped.left);
                    // Both are computed, and both are assigned.
                    self.stands +=
                        targets(&swapped.left).filter(|t| is_named(t, self.name)).count();
                    return false;
                }
                let Some((place, value)) = crate::restated::replaced(call) else { return true };
                self.relists += usize::from(is_named(&place, self.name));
                self.assigns += usize::from(is_part(&place, self.name));
                self.stands += usize::from(is_named(&place, self.name));
                if let Some(value) = &value {
                    each(*value, &mut |node| self.see(node));
                }
                return false;
            }
            Node::Expr(Expr::Assign(assign)) => self.targets(&assign.left),
            Node::Expr(Expr::Binary(binary)) => {
                let compound = crate::syntax::compound(&binary.op).is_some();
                self.assigns += usize::from(compound && is_part(&binary.left, self.name));
            }
            Node::Expr(Expr::Reference(reference)) => {
                let own =
                    is_named(&reference.expr, self.name) || is_part(&reference.expr, self.name);
                self.assigns += usize::from(own && reference.mutability.is_some());
            }
            _ => {}
        }
        true
    }
}

fn uses<'a>(name: &'a str, expr: &Expr) -> Uses<'a> {
    let mut uses = Uses { name, ..Uses::default() };
    each(expr, &mut |node| uses.see(node));
    uses
}

/// Lists that get the value of another list: those whose length is another one for certain, and those for which it may be.
#[derive(Default)]
struct Others {
    /// It grows, or is made of some elements.
    certain: Vec<String>,
    /// A function gives it, or it is as long as is computed.
    possible: Vec<String>,
}

impl Others {
    /// `(a, b) = (b, a)`. Where the length of one of them changes, so do those of all. Where elements of one are assigned these are buffers that
    /// are filled in turn, of one length; else each may be as long as it was. Others get a list as by `a = b`.
    fn exchange(&mut self, left: &Expr, right: &Expr, expr: &Expr) {
        let name = |place: &Expr| match unwrapped(place) {
            Expr::Path(path) => path.path.get_ident().map(|name| name.to_string()),
            _ => None,
        };
        let Expr::Tuple(right) = unwrapped(right) else { return };
        let pairs: Vec<(String, &Expr)> = targets(left)
            .zip(targets_of(&right.elems))
            .filter_map(|(target, value)| Some((name(target)?, value)))
            .collect();
        let changes = |name: &String| uses(name, expr).grows > 0 || shortens(name, expr);
        let filled = pairs.iter().any(|(target, _)| uses(target, expr).assigns > 0);
        let known = |wanted: &String| !filled && pairs.iter().any(|(target, _)| target == wanted);
        for (target, value) in &pairs {
            let (certain, possible) = match name(value) {
                Some(other) => (changes(&other) || changes(target), known(&other)),
                None => (false, crate::lengths::may_differ(value, expr)),
            };
            if certain {
                self.certain.push(target.clone());
            } else if possible {
                self.possible.push(target.clone());
            }
        }
    }
}

/// The names of parts of lists: of `x.split_at(k)`, `x.split_first()`, and of patterns `[first, rest @ ..]`.
fn parts_of_lists(expr: &Expr) -> Vec<String> {
    let parted = |value: &Expr| {
        matches!(unwrapped(value), Expr::MethodCall(call)
            if ["split_at", "split_first", "split_last"].iter().any(|name| call.method == name))
    };
    let mut found = Vec::new();
    each(expr, &mut |node| {
        match node {
            Node::Local(syn::Local { pat, init: Some(init), .. }) if parted(&init.expr) => {
                found.extend(crate::syntax::bound(pat));
            }
            Node::Expr(Expr::Let(own)) if parted(&own.expr) => {
                found.extend(crate::syntax::bound(&own.pat));
            }
            Node::Pat(syn::Pat::Ident(ident)) => {
                let rest = |(_, inner): &(_, Box<syn::Pat>)| matches!(**inner, syn::Pat::Rest(_));
                if ident.subpat.as_ref().is_some_and(rest) {
                    found.push(ident.ident.to_string());
                }
            }
            _ => {}
        }
        true
    });
    found
}

/// Where rows have lengths of their own, `uneven`, a list that is collected may always have another length.
fn given_others(expr: &Expr, uneven: bool) -> Others {
    let mut others = Others::default();
    each(expr, &mut |node| {
        let assign = match node {
            // What is left behind by `take` has no elements, and by `replace` it may be any list.
            Node::Expr(Expr::Call(call)) => {
                if let Some((Expr::Path(place), _)) = crate::restated::replaced(call)
                    && let Some(name) = place.path.get_ident()
                {
                    others.certain.push(name.to_string());
                }
                if let Some(swapped) = crate::restated::swapped(call) {
                    others.exchange(&swapped.left, &swapped.right, expr);
                }
                return true;
            }
            Node::Expr(Expr::Assign(assign)) if matches!(*assign.left, Expr::Tuple(_)) => {
                others.exchange(&assign.left, &assign.right, expr);
                return true;
            }
            Node::Expr(Expr::Assign(assign)) => assign,
            _ => return true,
        };
        let Expr::Path(path) = unwrapped(&assign.left) else { return true };
        let Some(name) = path.path.get_ident() else { return true };
        let other = match unwrapped(&assign.right) {
            Expr::Path(path) => path.path.get_ident().is_some_and(|other| {
                let other = other.to_string();
                let uses = uses(&other, expr);
                uses.grows > 0 || uses.relists > 0 || parts_of_lists(expr).contains(&other)
            }),
            right @ Expr::MethodCall(call) => {
                let part = ["filter", "take_while", "flat_map", "filter_map", "take", "skip"];
                call.method == "collect"
                    && part.iter().any(|name| crate::syntax::has_word(right, name))
            }
            right => crate::syntax::is_empty(right),
        };
        // Wherever a function ends, it may give another list.
        if other || name.to_string().starts_with(crate::syntax::RESULT) {
            others.certain.push(name.to_string());
        } else if uneven || crate::lengths::may_differ(&assign.right, expr) {
            others.possible.push(name.to_string());
        }
        // What is assigned may be what another list was.
        true
    });
    others
}

/// The names of what methods are called on, or what is assigned.
fn candidates(expr: &Expr) -> Vec<String> {
    let mut names = crate::syntax::words(expr);
    names.dedup();
    names
}

impl Lowering<'_> {
    /// The lists of this block that stand in a record in a statement, or in a value.
    pub fn stacked_in(&mut self, expr: &Expr) -> Vec<String> {
        let body = matches!(
            unwrapped(expr),
            Expr::If(_)
                | Expr::Match(_)
                | Expr::ForLoop(_)
                | Expr::While(_)
                | Expr::Loop(_)
                | Expr::Block(_)
        );
        if !body {
            return Vec::new();
        }
        let others = given_others(expr, !self.signature.rows.is_empty());
        let left = !self.jumps_of(expr).is_empty();
        let plain = match expr {
            Expr::ForLoop(l) => {
                let mut lists = self.pushes_of(l);
                lists.extend(self.read_pushes_of(l));
                lists
            }
            _ => Vec::new(),
        };
        let mut names = candidates(expr);
        names.retain(|name| {
            let Some(local) = self.lookup(name) else { return false };
            let uses = uses(name, expr);
            let pushes = plain.contains(name) && uses.assigns == 0 && uses.relists == 0;
            if !self.grows_here(local) || pushes {
                return false;
            }
            let read = uses.stands > uses.grows;
            let shorter = uses.relists > 0 && shortens(name, expr);
            // What it is assigned has elements, where it has none yet.
            let first = self.lists.empty.contains(&local.name) && uses.relists > 0;
            let other = first
                || others.certain.contains(name)
                || others.possible.contains(name) && uses.assigns == 0;
            shorter || other || uses.grows > 0 && (read || left)
        });
        names
    }

    /// Something that is written while some lists stand in records.
    pub fn with_stacks<T>(
        &mut self,
        names: &[String],
        at: &dyn ToTokens,
        write: impl FnOnce(&mut Self) -> Result<T, Refusal>,
    ) -> Result<T, Refusal> {
        for name in names {
            self.stack(name, at)?;
        }
        let done = write(self)?;
        for name in names {
            self.unstack(name);
        }
        Ok(done)
    }

    /// The lists of this block that a closure gives another length.
    pub fn relisted_in(&self, closure: &syn::ExprClosure) -> Vec<String> {
        let mut names = candidates(&closure.body);
        names.sort();
        names.dedup();
        let own: Vec<String> = closure.inputs.iter().flat_map(crate::syntax::bound).collect();
        names.retain(|name| {
            let uses = uses(name, &closure.body);
            uses.grows + uses.relists > 0
                && !own.contains(name)
                && self.lookup(name).is_some_and(|local| self.grows_here(local))
        });
        names
    }

    /// Lists in records from here on.
    pub fn in_records(&mut self, names: &[String], at: &dyn ToTokens) -> Result<(), Refusal> {
        names.iter().try_for_each(|name| self.stack(name, at))
    }

    /// A list in a record from here on.
    fn stack(&mut self, name: &str, at: &dyn ToTokens) -> Result<(), Refusal> {
        let Some(mut local) = self.lookup(name).cloned() else { return Ok(()) };
        if self.is_rows(&local.ty) && !local.name.is_empty() {
            let rows = self.in_rows(Value::name(local.name, local.ty, i64::MIN));
            (local.name, local.ty) = (rows.text, rows.ty);
        }
        let mut element = self.resolve(&self.element(&local.ty));
        if element == Ty::Never {
            // The next pass knows it, if something is pushed that is not read from the list itself.
            element = Ty::GUESS;
        }
        if matches!(element, Ty::Array(_, Extent::Slice | Extent::Vec)) {
            let first = at.to_token_stream().into_iter().next();
            let span = first.map_or_else(proc_macro2::Span::call_site, |token| token.span());
            let said = "rows of different lengths are not built: push a `[f64; N]`";
            return Err(Refusal::new(Some(span), said));
        }
        let list = match local.name.is_empty() {
            true => {
                let (one, i) = (self.neutral(&element, at)?, self.names.unique("i"));
                let list = self.names.unique(name);
                self.lines.push(format!("{list} = build ({i} < 0) {{ {one} }}"));
                list
            }
            // It has no sizes, which is asked for here.
            false => {
                self.neutral(&element, at)?;
                local.name.clone()
            }
        };
        let ty = array(element, Extent::Slice);
        let record = self.record_of(&ty);
        let text = self.names.unique(name);
        self.lines.push(format!("var {text} = {record}(size({list}), {list})"));
        let stacked = Local { name: text, ty, stack: Some(record), depth: self.depth, ..local };
        self.now(name, stacked);
        Ok(())
    }

    /// A list that stood in a record, by itself again.
    fn unstack(&mut self, name: &str) {
        let Some(local) = self.lookup(name).cloned().filter(|local| local.stack.is_some()) else {
            return;
        };
        let items = self.unpacked(&local);
        let text = self.names.unique(name);
        self.lines.push(format!("var {text} = {items}"));
        self.now(name, Local { name: text, stack: None, ..local });
    }

    /// The name of the record of a list.
    fn record_of(&mut self, ty: &Ty) -> String {
        let text = ty.text(&mut || "n".to_string());
        let k = self.lists.records.iter().position(|known| *known == text).unwrap_or_else(|| {
            self.lists.records.push(text);
            self.lists.records.len() - 1
        });
        format!("$f$_list_{}", k + 1)
    }

    /// The definitions of the records.
    pub fn records_text(&self) -> String {
        let each = self.lists.records.iter().enumerate().map(|(k, ty)| {
            let name = format!("$f$_list_{}", k + 1);
            format!("data {name} = {name}(n: i64, items: {ty})\n\n")
        });
        each.collect()
    }

    /// What a name means from here on.
    fn now(&mut self, name: &str, local: Local) {
        let scope = self.scopes.iter_mut().rev().find(|scope| scope.contains_key(name));
        if let Some(scope) = scope {
            scope.insert(name.to_string(), local);
        }
    }

    /// The name of the list that there is in a record now.
    pub fn unpacked(&mut self, local: &Local) -> String {
        let Some(record) = &local.stack else { return local.name.clone() };
        let (n, items) = (self.names.unique("n"), self.names.unique("items"));
        self.lines.push(format!("{record}({n}, {items}) = {}", local.name));
        items
    }

    /// The list that there is now, as a value.
    pub fn unpacked_value(&mut self, local: &Local) -> Value {
        let items = self.unpacked(local);
        Value::name(items, self.resolve(&local.ty), i64::MIN)
    }

    /// Another list in the record.
    pub fn packed(&mut self, local: &Local, list: &str) {
        let Some(record) = &local.stack else { return };
        let items = self.names.unique("items");
        self.lines.push(format!("{items} = {list}"));
        self.lines.push(format!("{} = {record}(size({items}), {items})", local.name));
        self.assigned += 1;
        self.reach = self.reach.min(local.depth);
        self.changed = self.changed.min(local.depth);
    }

    /// The lists in records of which a statement assigns elements, and leaves the length.
    pub fn assigned_stacks(&mut self, statement: &Expr) -> Vec<String> {
        let mut names = candidates(statement);
        names.retain(|name| {
            let stacked = self.lookup(name).is_some_and(|local| local.stack.is_some());
            let uses = uses(name, statement);
            stacked && uses.assigns > 0 && uses.grows == 0 && uses.relists == 0
        });
        names
    }

    /// Such a statement, on the lists themselves.
    pub fn on_lists(&mut self, names: &[String], statement: &Expr) -> Result<(), Refusal> {
        let mut kept = Vec::new();
        for name in names {
            let Some(local) = self.lookup(name).cloned() else { continue };
            let items = self.unpacked(&local);
            let text = self.names.unique(name);
            self.lines.push(format!("var {text} = {items}"));
            let own = Local { name: text.clone(), stack: None, depth: self.depth, ..local.clone() };
            self.now(name, own);
            kept.push((name, local, text));
        }
        let done = self.effect(statement);
        for (name, local, text) in kept {
            self.packed(&local, &text);
            self.now(name, local);
        }
        done
    }

    /// What is pushed to a list of which nothing was known.
    pub fn pushed_to(&mut self, local: &Local, ty: &Ty) {
        let ty = self.resolve(ty);
        if let (Some(key), false) = (&local.untyped, ty == Ty::Never || ty.has_guess()) {
            let holes = self.parts.holes.clone();
            self.learned.elements.entry(key.clone()).or_insert(Found { ty, holes });
        }
    }

    /// The lists that stand in a record where a statement with a value is written.
    pub fn stacked_in_value(&mut self, statement: &Stmt) -> Vec<String> {
        match statement {
            Stmt::Local(local) => match &local.init {
                Some(init) if init.diverge.is_none() => self.stacked_in(&init.expr),
                _ => Vec::new(),
            },
            _ => Vec::new(),
        }
    }
}

/// Whether a list becomes shorter in a statement, or `v = ..` of what is known to have another length.
fn shortens(name: &str, expr: &Expr) -> bool {
    let mut found = false;
    each(expr, &mut |node| {
        if let Node::Expr(Expr::MethodCall(call)) = node {
            found |= is_named(&call.receiver, name)
                && RELISTING.contains(&call.method.to_string().as_str());
        }
        true
    });
    found
}

/// The list of a method, for what is refused of it.
pub(crate) fn not_here<T>(at: &impl ToTokens) -> Result<T, Refusal> {
    refuse(
        at,
        "an element is assigned here in a statement that changes the length of its list, or keeps a `&mut`: write \
         statements of their own",
    )
}

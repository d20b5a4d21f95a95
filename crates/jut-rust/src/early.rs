//! Jumps out of values: `let y = if c { return 1.0 } else { x };`, `s += match o { Some(v) => v, None => continue };`, and `?` of an
//! `Option`.
//!
//! A jump is a statement of the text. So a statement that has one in a value is restated as several: what Rust computes before the
//! jump gets a name, in Rust's order, and the value with the jump in it becomes a statement of its own.
//!
//! ```text
//! s += x[i] * f(x)?;                let a = x[i];
//!                                   let Some(b) = f(x) else { return None };
//!                                   s += a * b;
//!
//! let y = match o {                 let o_1 = o;
//!     Some(v) => v,                 if let Some(v) = o_1 { let y = v; REST } else { return 0.0; }
//!     None => return 0.0,
//! }; REST
//! ```
//!
//! Where several arms give a value it goes into a variable, `let t; match o { A => t = .., B => t = .., C => return }`. So it does where a
//! name of the only arm with a value would hide one that the rest reads.
//!
//! Requires: the jump is not in a closure, in an argument of a macro, in a guard, or in what a loop with a value computes; where several arms give
//! values they are no lists.
//! Ensures: what is computed, and in which order, is what Rust does: also which of two failures comes first.

use crate::enums::as_branches;
use crate::lowering::Lowering;
use crate::syntax::{JUMP, block_of, bound, has_word, panics, unwrapped};
use crate::types::Ty;
use crate::visited::{Node, each};
use crate::{Refusal, refuse};
use proc_macro2::Ident;
use std::collections::HashSet;
use syn::spanned::Spanned;
use syn::{Block, Expr, Local, Pat, Stmt};

/// What a statement is put as.
pub(crate) enum Restated {
    /// Other statements, and what follows.
    Statements(Vec<Stmt>),
    /// An `if` in which all that follows stands.
    Branch(Box<syn::ExprIf>),
}

impl Lowering<'_> {
    /// A statement with a jump in a value, said otherwise; nothing if there is none.
    pub fn without_early(
        &mut self,
        statement: &Stmt,
        rest: &[Stmt],
    ) -> Result<Option<Restated>, Refusal> {
        let mut before = Vec::new();
        let restated = match statement {
            Stmt::Local(local) => match &local.init {
                Some(init) if !self.jumps_of(&init.expr).is_empty() => {
                    return self.early_binding(local, &init.expr, rest).map(Some);
                }
                _ => return Ok(None),
            },
            Stmt::Expr(expr, semicolon) => {
                if self.jumps_of(expr).is_empty() {
                    return Ok(None);
                }
                let mut expr = expr.clone();
                if let Expr::While(l) = &expr
                    && !self.jumps_of(&l.cond).is_empty()
                {
                    let (label, condition, body) = (&l.label, &l.cond, &l.body);
                    expr = syn::parse_quote!(#label loop { if #condition #body else { break; } });
                } else if let Some(value) = self.early_part(&mut expr) {
                    self.hoisted(value, &mut before)?;
                } else {
                    return Ok(None);
                }
                Stmt::Expr(expr, *semicolon)
            }
            _ => return Ok(None),
        };
        before.push(restated);
        before.extend(rest.iter().cloned());
        Ok(Some(Restated::Statements(before)))
    }

    /// The value in an expression that is a statement, if a jump stands in it that is no statement.
    fn early_part<'e>(&self, expr: &'e mut Expr) -> Option<&'e mut Expr> {
        let part = match expr {
            Expr::If(branch) => &mut *branch.cond,
            Expr::Match(m) => &mut *m.expr,
            Expr::ForLoop(l) => &mut *l.expr,
            Expr::Return(jump) => jump.expr.as_deref_mut()?,
            Expr::Break(jump) => jump.expr.as_deref_mut()?,
            Expr::Continue(_) | Expr::Block(_) | Expr::Loop(_) | Expr::While(_) => return None,
            other => return Some(other),
        };
        (!self.jumps_of(part).is_empty()).then_some(part)
    }

    /// `let P = e;` where e has a jump in it.
    fn early_binding(
        &mut self,
        local: &Local,
        value: &Expr,
        rest: &[Stmt],
    ) -> Result<Restated, Refusal> {
        let mut before = Vec::new();
        let mut value = unwrapped(value).clone();
        if let Expr::Match(m) = &value
            && let Some(told) = crate::parted::matched(m)
        {
            value = Expr::Match(told);
        }
        let otherwise = local.init.as_ref().and_then(|init| init.diverge.as_ref());
        let branches = match &value {
            Expr::If(branch) => self.jumps_of(&branch.cond).is_empty(),
            Expr::Match(m) => self.jumps_of(&m.expr).is_empty(),
            _ => false,
        };
        if branches
            && otherwise.is_none()
            && let Some(placed) = placed(local, &value, rest)?
        {
            return Ok(placed);
        }
        match &mut value {
            Expr::If(_) | Expr::Match(_) if !branches => {
                if let Some(part) = self.early_part(&mut value) {
                    self.hoisted(part, &mut before)?;
                }
            }
            _ => {
                let written = match &local.pat {
                    Pat::Type(typed) if otherwise.is_none() => Some(&*typed.ty),
                    _ => None,
                };
                self.hoisted_as(&mut value, &mut before, written)?;
            }
        }
        let mut local = local.clone();
        if let Some(init) = &mut local.init {
            *init.expr = value;
        }
        before.push(Stmt::Local(local));
        before.extend(rest.iter().cloned());
        Ok(Restated::Statements(before))
    }

    fn hoisted(&mut self, expr: &mut Expr, before: &mut Vec<Stmt>) -> Result<(), Refusal> {
        self.hoisted_as(expr, before, None)
    }

    /// Puts what an expression computes up to its first jump into statements before it, and names in its place.
    fn hoisted_as(
        &mut self,
        expr: &mut Expr,
        before: &mut Vec<Stmt>,
        written: Option<&syn::Type>,
    ) -> Result<(), Refusal> {
        match expr {
            Expr::Paren(inner) => self.hoisted_as(&mut inner.expr, before, written),
            Expr::Group(inner) => self.hoisted_as(&mut inner.expr, before, written),
            Expr::Unary(unary) => self.hoisted(&mut unary.expr, before),
            Expr::Reference(reference) if reference.mutability.is_none() => {
                self.hoisted(&mut reference.expr, before)
            }
            Expr::Cast(cast) => self.hoisted(&mut cast.expr, before),
            Expr::Field(field) => self.hoisted(&mut field.base, before),
            Expr::Let(condition) => self.hoisted(&mut condition.expr, before),
            Expr::Repeat(repeat) => self.hoisted(&mut repeat.expr, before),
            Expr::Return(jump) => match &mut jump.expr {
                Some(value) if !self.jumps_of(value).is_empty() => self.hoisted(value, before),
                _ => self.named_early(expr, before, written),
            },
            Expr::Binary(binary) => match binary.op {
                syn::BinOp::And(_) | syn::BinOp::Or(_)
                    if self.jumps_of(&binary.left).is_empty() =>
                {
                    if crate::syntax::let_in(&binary.left).is_some() {
                        return refuse(unwrapped(&binary.right), JUMP);
                    }
                    let (left, right) = (&binary.left, &binary.right);
                    // The right side is computed only where Rust does.
                    *expr = match binary.op {
                        syn::BinOp::And(_) => {
                            syn::parse_quote!(if #left { #right } else { false })
                        }
                        _ => syn::parse_quote!(if #left { true } else { #right }),
                    };
                    self.hoisted(expr, before)
                }
                syn::BinOp::And(_) | syn::BinOp::Or(_) => self.hoisted(&mut binary.left, before),
                // The right side is computed first.
                op if crate::syntax::compound(&op).is_some() => {
                    self.first_of(&mut [&mut *binary.right, &mut *binary.left], before)
                }
                _ => self.first_of(&mut [&mut *binary.left, &mut *binary.right], before),
            },
            Expr::Assign(assign) => {
                self.first_of(&mut [&mut *assign.right, &mut *assign.left], before)
            }
            Expr::Index(index) => self.first_of(&mut [&mut *index.expr, &mut *index.index], before),
            Expr::Call(call) => {
                self.first_of(&mut call.args.iter_mut().collect::<Vec<_>>(), before)
            }
            Expr::MethodCall(call) => {
                let name = call.method.to_string();
                // What it changes is looked at when it is called.
                let changes = crate::syntax::CHANGING.contains(&name.as_str())
                    || crate::syntax::GROWING.contains(&name.as_str())
                    || self.is_relisting(call);
                let mut parts: Vec<&mut Expr> = Vec::new();
                if !changes {
                    parts.push(&mut call.receiver);
                }
                parts.extend(call.args.iter_mut());
                self.first_of(&mut parts, before)
            }
            Expr::Tuple(tuple) => {
                self.first_of(&mut tuple.elems.iter_mut().collect::<Vec<_>>(), before)
            }
            Expr::Array(list) => {
                self.first_of(&mut list.elems.iter_mut().collect::<Vec<_>>(), before)
            }
            Expr::Range(range) => {
                let ends = [range.start.as_deref_mut(), range.end.as_deref_mut()];
                self.first_of(&mut ends.into_iter().flatten().collect::<Vec<_>>(), before)
            }
            Expr::Struct(literal) => {
                let mut parts: Vec<&mut Expr> =
                    literal.fields.iter_mut().map(|f| &mut f.expr).collect();
                parts.extend(literal.rest.as_deref_mut());
                self.first_of(&mut parts, before)
            }
            Expr::Try(_) | Expr::If(_) | Expr::Match(_) | Expr::Block(_) => {
                self.named_early(expr, before, written)
            }
            other => refuse(other, JUMP),
        }
    }

    /// Of parts that are computed one after the other, those up to the first with a jump.
    fn first_of(&mut self, parts: &mut [&mut Expr], before: &mut Vec<Stmt>) -> Result<(), Refusal> {
        let Some(k) = parts.iter().position(|part| !self.jumps_of(part).is_empty()) else {
            return Ok(());
        };
        let changes = self.may_change(&*parts[k]);
        for part in &mut parts[..k] {
            self.set_aside(part, changes, before)?;
        }
        self.hoisted(&mut *parts[k], before)
    }

    /// Gives a part a name if what follows may change it, or if it may fail.
    fn set_aside(
        &mut self,
        part: &mut Expr,
        changes: bool,
        before: &mut Vec<Stmt>,
    ) -> Result<(), Refusal> {
        match unwrapped(part) {
            Expr::Lit(_) | Expr::Closure(_) => return Ok(()),
            Expr::Reference(reference) if reference.mutability.is_some() => return Ok(()),
            Expr::Path(_) if !changes => return Ok(()),
            Expr::Range(_) => return refuse(part, JUMP),
            iterator if crate::iterators::is_iterator(iterator) => {
                // It computes nothing until it is gone through, where nothing but names stands before that.
                let plain = matches!(crate::iterators::split(iterator).1, Expr::MethodCall(call)
                    if matches!(*call.receiver, Expr::Path(_)) && call.args.is_empty());
                return if plain { Ok(()) } else { refuse(part, JUMP) };
            }
            _ => {}
        }
        let (name, value) = (self.early_name(part), part.clone());
        before.push(syn::parse_quote!(let #name = #value;));
        *part = syn::parse_quote!(#name);
        Ok(())
    }

    /// An expression with a jump as a statement, and a name for its value.
    fn named_early(
        &mut self,
        expr: &mut Expr,
        before: &mut Vec<Stmt>,
        written: Option<&syn::Type>,
    ) -> Result<(), Refusal> {
        let name = self.early_name(expr);
        match &mut *expr {
            Expr::Try(t) => {
                if !matches!(self.signature.result, Ty::Option(_)) {
                    return refuse(&t.question_token, QUESTION);
                }
                if !self.jumps_of(&t.expr).is_empty() {
                    return self.hoisted(&mut t.expr, before);
                }
                let option = &t.expr;
                before.push(syn::parse_quote!(let Some(#name) = (#option) else { return None; };));
            }
            other => {
                let ty = written.filter(|ty| !crate::syntax::has_infer(ty));
                before.push(match ty {
                    Some(ty) => syn::parse_quote!(let #name: #ty;),
                    None => syn::parse_quote!(let #name;),
                });
                before.push(Stmt::Expr(assigned(other, &name)?, Some(Default::default())));
            }
        }
        *expr = syn::parse_quote!(#name);
        Ok(())
    }

    /// No name of Rust's users.
    fn early_name(&mut self, at: &Expr) -> Ident {
        Ident::new(&format!("__jut_{}", self.names.unique("early")), at.span())
    }

    /// Whether an expression may change a variable.
    fn may_change(&self, expr: &Expr) -> bool {
        let mut changes = false;
        each(expr, &mut |node| {
            let Node::Expr(part) = node else { return true };
            changes |= match part {
                Expr::Assign(_) => true,
                Expr::Binary(binary) => crate::syntax::compound(&binary.op).is_some(),
                Expr::Reference(reference) => reference.mutability.is_some(),
                Expr::MethodCall(call) => {
                    let name = call.method.to_string();
                    crate::syntax::CHANGING.contains(&name.as_str())
                        || crate::syntax::GROWING.contains(&name.as_str())
                        || crate::syntax::RELISTING.contains(&name.as_str())
                }
                Expr::Path(path) => {
                    // A closure may assign, and so may a function that gets what is a `&mut`.
                    let local = path.path.get_ident().and_then(|i| self.lookup(&i.to_string()));
                    local.is_some_and(|l| l.closure.is_some() || l.reference)
                }
                _ => false,
            };
            true
        });
        changes
    }
}

/// A branch of which one arm gives a value, with all that follows in that arm.
fn placed(local: &Local, value: &Expr, rest: &[Stmt]) -> Result<Option<Restated>, Refusal> {
    let follows = |own: &[Stmt], names: HashSet<String>| -> Option<Block> {
        let (value, first) = match own.split_last() {
            Some((Stmt::Expr(value, None), first)) => (value, first),
            _ => return None,
        };
        let mut names = names;
        first.iter().for_each(|s| names.extend(declared(s)));
        let own: HashSet<String> = bound(&local.pat).into_iter().collect();
        let hidden = |name: &String| !own.contains(name);
        if names.iter().any(|name| hidden(name) && rest.iter().any(|s| has_word(s, name))) {
            return None;
        }
        let mut local = local.clone();
        if let Some(init) = &mut local.init {
            *init.expr = value.clone();
        }
        let last = Stmt::Local(local);
        Some(syn::parse_quote!({ #(#first)* #last #(#rest)* }))
    };
    match value {
        Expr::If(branch) => {
            let Some((token, other)) = &branch.else_branch else { return Ok(None) };
            let names = bound_in(&branch.cond);
            let other = block_of(other);
            let mut branch = branch.clone();
            match (ends(&branch.then_branch.stmts), ends(&other)) {
                (false, true) => {
                    let Some(then) = follows(&branch.then_branch.stmts, names) else {
                        return Ok(None);
                    };
                    branch.then_branch = then;
                }
                (true, false) => {
                    let Some(block) = follows(&other, HashSet::new()) else { return Ok(None) };
                    branch.else_branch = Some((*token, Box::new(syn::parse_quote!(#block))));
                }
                _ => return Ok(None),
            }
            Ok(Some(Restated::Branch(Box::new(branch))))
        }
        Expr::Match(m) => {
            let mut m = m.clone();
            let mut giving = m.arms.iter_mut().filter(|arm| !ends(&block_of(&arm.body)));
            let (Some(one), None) = (giving.next(), giving.next()) else { return Ok(None) };
            let names = bound(&one.pat).into_iter().collect();
            let Some(block) = follows(&block_of(&one.body), names) else { return Ok(None) };
            *one.body = syn::parse_quote!(#block);
            Ok(Some(Restated::Statements(as_branches(&m, None)?)))
        }
        _ => Ok(None),
    }
}

/// An expression with its value assigned to a variable, in each arm that has one.
fn assigned(expr: &Expr, name: &Ident) -> Result<Expr, Refusal> {
    Ok(match expr {
        Expr::If(branch) => {
            let Some((token, other)) = &branch.else_branch else { return Ok(expr.clone()) };
            let mut branch = branch.clone();
            assigned_last(&mut branch.then_branch, name)?;
            let mut other = assigned(other, name)?;
            if !matches!(other, Expr::If(_) | Expr::Block(_)) {
                other = syn::parse_quote!({ #other });
            }
            branch.else_branch = Some((*token, Box::new(other)));
            Expr::If(branch)
        }
        Expr::Match(m) => {
            let mut m = m.clone();
            for arm in &mut m.arms {
                let body = assigned(&arm.body, name)?;
                *arm.body = match body {
                    Expr::Block(_) => body,
                    other => syn::parse_quote!({ #other; }),
                };
            }
            Expr::Match(m)
        }
        Expr::Block(block) if block.label.is_none() => {
            let mut block = block.clone();
            assigned_last(&mut block.block, name)?;
            Expr::Block(block)
        }
        Expr::Paren(inner) => assigned(&inner.expr, name)?,
        Expr::Return(_) | Expr::Break(_) | Expr::Continue(_) => expr.clone(),
        Expr::Macro(call) if panics(&call.mac) => expr.clone(),
        Expr::Loop(_) | Expr::Block(_) => return refuse(expr, JUMP),
        value => syn::parse_quote!(#name = #value),
    })
}

fn assigned_last(block: &mut Block, name: &Ident) -> Result<(), Refusal> {
    match block.stmts.last_mut() {
        Some(Stmt::Expr(value, semicolon @ None)) => {
            *value = assigned(value, name)?;
            *semicolon = Some(Default::default());
        }
        Some(Stmt::Macro(call)) if call.semi_token.is_none() && !panics(&call.mac) => {
            let value = &call.mac;
            let statement = syn::parse_quote!(#name = #value;);
            block.stmts.pop();
            block.stmts.push(statement);
        }
        _ => {}
    }
    Ok(())
}

/// Whether a block surely gives no value: it ends in a jump or a panic.
fn ends(statements: &[Stmt]) -> bool {
    match statements.last() {
        Some(Stmt::Macro(call)) => panics(&call.mac),
        Some(Stmt::Expr(Expr::Macro(call), _)) => panics(&call.mac),
        Some(Stmt::Expr(Expr::Block(block), _)) => ends(&block.block.stmts),
        _ => crate::syntax::diverges(statements),
    }
}

/// Those of a condition.
fn bound_in(condition: &Expr) -> HashSet<String> {
    let mut names = HashSet::new();
    each(condition, &mut |node| {
        if let Node::Expr(Expr::Let(own)) = node {
            names.extend(bound(&own.pat));
        }
        true
    });
    names
}

/// Those of a statement.
fn declared(statement: &Stmt) -> Vec<String> {
    match statement {
        Stmt::Local(local) => bound(&local.pat),
        _ => Vec::new(),
    }
}

const QUESTION: &str = "`?` is that of an `Option` in a function that gives an `Option`, or a `Result` in one that gives a `Result`: write `let Some(v) = .. else { .. };`";

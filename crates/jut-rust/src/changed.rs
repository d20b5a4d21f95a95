//! Parts of an enum or an `Option` that a pattern refers to and an arm changes, said by other Rust: that is translated in their place.
//!
//! ```text
//! match shape {                                match shape {
//!     Shape::Round(r) => *r *= 2.0,                Shape::Round(r) => {
//!     Shape::Box { w, h } => *w += *h,                 let mut own = r; let r = &mut own;
//! }                                                    *r *= 2.0;
//!                                                      *shape = Shape::Round(own);
//!                                                  }
//!                                                  ..
//! ```
//!
//! So is `if let Some(n) = &mut self.left { n.scale(a); }`, with `self.left.as_mut()` and `if let Some(ref mut n) = self.left` too.
//!
//! Requires: what is taken apart is a `&mut`, or a place behind one of these; the pattern names each part, or leaves it out by `_`; no jump leaves
//! the arm. Cost: a value is made anew where a part of it is changed.

use crate::lowering::Lowering;
use crate::syntax::{bound, unwrapped};
use crate::visited::{Node, all, each};
use proc_macro2::Ident;
use quote::format_ident;
use syn::{Expr, ExprIf, ExprMatch, Pat, Stmt};

impl Lowering<'_> {
    /// A `match` whose arms change what their patterns refer to; nothing of any other. `value` says whether it has a value.
    pub fn changed_match(&self, m: &ExprMatch, value: bool) -> Option<ExprMatch> {
        let place = self.changed_place(&m.expr, m.arms.iter().any(|arm| is_by_place(&arm.pat)))?;
        let (mut told, mut any) = (m.clone(), false);
        told.expr = Box::new(place.clone());
        for arm in &mut told.arms {
            let body = crate::syntax::block_of(&arm.body);
            let value =
                value && !matches!(&*arm.body, Expr::Block(b) if gives_nothing(&b.block.stmts));
            if let Some((pattern, body)) = self.told_arm(&arm.pat, &body, &place, value) {
                (arm.pat, any) = (pattern, true);
                *arm.body = syn::parse_quote!({ #(#body)* });
            }
        }
        any.then_some(told)
    }

    /// The same of an `if let`.
    pub fn changed_if(&self, branch: &ExprIf, value: bool) -> Option<ExprIf> {
        let Expr::Let(own) = &*branch.cond else { return None };
        let place = self.changed_place(&own.expr, is_by_place(&own.pat))?;
        let body = &branch.then_branch.stmts;
        let (pattern, body) = self.told_arm(&own.pat, body, &place, value)?;
        let mut told = branch.clone();
        *told.cond = syn::parse_quote!(let #pattern = #place);
        told.then_branch = syn::parse_quote!({ #(#body)* });
        Some(told)
    }

    /// The place whose parts a pattern refers to, if they may be changed there.
    fn changed_place(&self, subject: &Expr, by_place: bool) -> Option<Expr> {
        let subject = unwrapped(subject);
        let place = match subject {
            Expr::Reference(reference) if reference.mutability.is_some() => &*reference.expr,
            Expr::MethodCall(call)
                if call.args.is_empty()
                    && (call.method == "as_mut" || call.method == "as_deref_mut") =>
            {
                &*call.receiver
            }
            Expr::Path(path) => {
                let local = self.lookup(&path.path.get_ident()?.to_string())?;
                if !(local.reference && local.mutable || by_place) {
                    return None;
                }
                subject
            }
            other if by_place => other,
            _ => return None,
        };
        is_place(place).then(|| place.clone())
    }

    /// An arm that puts back what it changes; nothing if it changes nothing.
    fn told_arm(
        &self,
        pattern: &Pat,
        body: &[Stmt],
        place: &Expr,
        value: bool,
    ) -> Option<(Pat, Vec<Stmt>)> {
        // This is one already.
        if let Some(Stmt::Local(first)) = body.first()
            && bound(&first.pat).iter().any(|name| name.starts_with("__jut_own_"))
        {
            return None;
        }
        let names: Vec<Ident> = bound(pattern).into_iter().map(|n| format_ident!("{n}")).collect();
        let changed: Vec<Ident> = names.into_iter().filter(|name| is_changed(name, body)).collect();
        if changed.is_empty() || !self.jumps_in(body).is_empty() {
            return None;
        }
        let (mut pattern, mut left) = (pattern.clone(), 0);
        let whole = rebuilt(&mut pattern, &changed, &mut left)?;
        let mut all: Vec<Stmt> = Vec::new();
        for name in &changed {
            let own = own_name(name);
            all.push(syn::parse_quote!(let mut #own = #name;));
            all.push(syn::parse_quote!(let #name = &mut #own;));
        }
        let target: Expr = match place {
            Expr::Path(path)
                if path
                    .path
                    .get_ident()
                    .and_then(|name| self.lookup(&name.to_string()))
                    .is_some_and(|local| local.reference) =>
            {
                syn::parse_quote!(*#place)
            }
            place => place.clone(),
        };
        let back: Stmt = syn::parse_quote!(#target = #whole;);
        match body.split_last() {
            Some((Stmt::Expr(last, None), first)) if value => {
                all.extend(first.iter().cloned());
                all.push(syn::parse_quote!(let __jut_end = #last;));
                all.push(back);
                all.push(Stmt::Expr(syn::parse_quote!(__jut_end), None));
            }
            _ => {
                all.extend(body.iter().map(|statement| match statement {
                    Stmt::Expr(last, None) => Stmt::Expr(last.clone(), Some(Default::default())),
                    other => other.clone(),
                }));
                all.push(back);
            }
        }
        Some((pattern, all))
    }
}

/// Whether a block ends without a value.
fn gives_nothing(statements: &[Stmt]) -> bool {
    !matches!(statements.last(), Some(Stmt::Expr(_, None)))
}

/// A place that may be looked at twice.
fn is_place(expr: &Expr) -> bool {
    match unwrapped(expr) {
        Expr::Path(_) => true,
        Expr::Field(field) => is_place(&field.base),
        Expr::Unary(unary) => matches!(unary.op, syn::UnOp::Deref(_)) && is_place(&unary.expr),
        Expr::Index(index) => {
            let plain = matches!(unwrapped(&index.index), Expr::Path(_) | Expr::Lit(_));
            plain && is_place(&index.expr)
        }
        _ => false,
    }
}

/// Whether a pattern has a `ref mut`.
fn is_by_place(pattern: &Pat) -> bool {
    let mut found = false;
    each(pattern, &mut |node| {
        if let Node::Pat(Pat::Ident(ident)) = node {
            found |= ident.by_ref.is_some() && ident.mutability.is_some();
        }
        true
    });
    found
}

/// The name of a part while it is changed.
fn own_name(name: &Ident) -> Ident {
    format_ident!("__jut_own_{}", name.to_string().trim_start_matches("r#"))
}

/// Whether an expression is a place in what a name refers to.
fn is_of(name: &Ident, expr: &Expr) -> bool {
    match unwrapped(expr) {
        Expr::Path(path) => path.path.is_ident(name),
        Expr::Field(field) => is_of(name, &field.base),
        Expr::Index(index) => is_of(name, &index.expr),
        Expr::Unary(unary) => matches!(unary.op, syn::UnOp::Deref(_)) && is_of(name, &unary.expr),
        Expr::MethodCall(call) => {
            let method = call.method.to_string();
            (method.contains("mut") || method == "unwrap") && is_of(name, &call.receiver)
        }
        _ => false,
    }
}

/// Whether statements may change what a name refers to.
fn is_changed(name: &Ident, statements: &[Stmt]) -> bool {
    let mut found = false;
    all(statements, &mut |node| {
        found |= match node {
            // Another name of it may be what changes it.
            Node::Local(local) => {
                let init = local.init.as_ref().map(|init| unwrapped(&init.expr));
                matches!(init, Some(Expr::Path(path)) if path.path.is_ident(name))
            }
            Node::Expr(Expr::Assign(assign)) => is_of(name, &assign.left),
            Node::Expr(Expr::Binary(binary)) => {
                crate::syntax::compound(&binary.op).is_some() && is_of(name, &binary.left)
            }
            Node::Expr(Expr::Call(call)) => call.args.iter().any(|argument| {
                let plain = matches!(unwrapped(argument), Expr::Path(_) | Expr::MethodCall(_));
                plain && is_of(name, argument)
            }),
            Node::Expr(Expr::MethodCall(call)) => {
                // Which methods of its own change it is not known here; those of numbers and lists that change nothing are.
                const SAME: &[&str] =
                    &["iter", "len", "clone", "to_vec", "is_empty", "first", "last", "as_ref"];
                let method = call.method.to_string();
                let own = !crate::methods::is_known(&method) && !SAME.contains(&method.as_str());
                own && is_of(name, &call.receiver)
            }
            Node::Expr(Expr::Reference(reference)) => {
                reference.mutability.is_some() && is_of(name, &reference.expr)
            }
            Node::Expr(Expr::ForLoop(l)) => {
                matches!(unwrapped(&l.expr), Expr::Path(_)) && is_of(name, &l.expr)
            }
            _ => false,
        };
        true
    });
    found
}

/// The value of a pattern with what was changed; what it leaves out gets a name.
fn rebuilt(pattern: &mut Pat, changed: &[Ident], left: &mut usize) -> Option<Expr> {
    let mut each = |parts: &mut dyn Iterator<Item = &mut Pat>| -> Option<Vec<Expr>> {
        parts.map(|part| rebuilt(part, changed, left)).collect()
    };
    match pattern {
        Pat::Ident(ident) if ident.subpat.is_none() => {
            (ident.by_ref, ident.mutability) = (None, None);
            let name = &ident.ident;
            // A name in capitals is a variant or a constant.
            let own = if changed.contains(name) { own_name(name) } else { name.clone() };
            Some(syn::parse_quote!(#own))
        }
        Pat::Wild(_) => {
            *left += 1;
            let name = format_ident!("__jut_left_{left}");
            *pattern = syn::parse_quote!(#name);
            Some(syn::parse_quote!(#name))
        }
        Pat::Path(path) => Some(Expr::Path(path.clone())),
        Pat::Lit(literal) => Some(Expr::Lit(literal.clone())),
        Pat::Paren(inner) => rebuilt(&mut inner.pat, changed, left),
        Pat::TupleStruct(own) => {
            let parts = each(&mut own.elems.iter_mut())?;
            let path = &own.path;
            Some(syn::parse_quote!(#path(#(#parts),*)))
        }
        Pat::Tuple(own) => {
            let parts = each(&mut own.elems.iter_mut())?;
            Some(syn::parse_quote!((#(#parts),*)))
        }
        Pat::Struct(own) if own.rest.is_none() => {
            let members: Vec<syn::Member> = own.fields.iter().map(|f| f.member.clone()).collect();
            for field in &mut own.fields {
                field.colon_token = Some(Default::default());
            }
            let parts = each(&mut own.fields.iter_mut().map(|f| &mut *f.pat))?;
            let path = &own.path;
            Some(syn::parse_quote!(#path { #(#members: #parts),* }))
        }
        _ => None,
    }
}

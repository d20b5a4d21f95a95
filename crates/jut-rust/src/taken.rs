//! What the statements behind a `let` say of what a function gives, where its type is not written: an `Option`, since a method of one is called, or a
//! list, since one of a `Vec` is.
//!
//! ```text
//! let mut runs = runs_of(x);
//! runs.retain(|r| r.len > 1);          `runs` is a list, which changes its length
//! ```
//!
//! So is what a field has, `let mut items = self.items.clone();`. That it is a `Vec` is looked at by rustc: an own type with such methods has its type written.

use crate::lowering::Lowering;
use crate::options::{OWN, is_of_option};
use crate::syntax::{GROWING, OF_OPTIONS, RELISTING, unwrapped};
use crate::types::{Extent, Step, Ty, array};
use crate::value::Value;
use crate::visited::{Node, all};
use proc_macro2::Span;
use syn::{Expr, Pat, Stmt};

/// Methods of a `Vec` that change its length, and that own types seldom have.
const SURE: &[&str] = &[
    "retain",
    "dedup",
    "dedup_by",
    "dedup_by_key",
    "truncate",
    "drain",
    "split_off",
    "swap_remove",
    "resize",
    "extend_from_slice",
];

/// Other methods of a `Vec`: what has more is an own type.
const OTHERS: &[&str] = &[
    "iter",
    "iter_mut",
    "into_iter",
    "len",
    "is_empty",
    "first",
    "last",
    "first_mut",
    "last_mut",
    "get",
    "get_mut",
    "to_vec",
    "clone",
    "as_slice",
    "contains",
    "windows",
    "chunks",
    "chunks_exact",
    "chunks_mut",
    "chunks_exact_mut",
    "split_at",
    "split_at_mut",
    "split_first",
    "split_last",
    "is_sorted",
    "partition_point",
    "binary_search",
    "binary_search_by",
    "binary_search_by_key",
];

impl Lowering<'_> {
    /// What is expected of the value of a `let`, by what stands behind it.
    pub fn expect_of(&mut self, local: &syn::Local, rest: &[Stmt]) {
        self.expected.optional = self.is_kept_option(local, rest);
        self.expected.grown = self.is_kept_list(local, rest);
    }

    /// Whether `let o = f(x).map(g);` is an `Option`: what follows takes it for one.
    fn is_kept_option(&self, local: &syn::Local, rest: &[Stmt]) -> bool {
        let Pat::Ident(name) = &local.pat else { return false };
        let Some(init) = &local.init else { return false };
        let Expr::MethodCall(call) = unwrapped(&init.expr) else { return false };
        if !OF_OPTIONS.contains(&call.method.to_string().as_str())
            || !self.is_user_call(&call.receiver)
        {
            return false;
        }
        is_taken_for_option(&name.ident, rest)
    }

    /// Whether `let mut y = f(x);` is a list that changes its length.
    fn is_kept_list(&self, local: &syn::Local, rest: &[Stmt]) -> bool {
        let Pat::Ident(name) = &local.pat else { return false };
        let Some(init) = &local.init else { return false };
        if name.mutability.is_none() {
            return false;
        }
        // What is there already, or what a function gives.
        let (copied, there) = match unwrapped(&init.expr) {
            Expr::MethodCall(call) if call.args.is_empty() && is_field(&call.receiver) => {
                (call.method == "to_vec", call.method == "clone" || call.method == "to_vec")
            }
            place => (false, is_field(place)),
        };
        if !there && !self.is_user_call(&init.expr) {
            return false;
        }
        let free = match unwrapped(&init.expr) {
            Expr::Call(call) => match unwrapped(&call.func) {
                Expr::Path(path) => {
                    let owner = path.path.segments.iter().rev().nth(1);
                    owner.is_none_or(|o| !o.ident.to_string().starts_with(char::is_uppercase))
                }
                _ => false,
            },
            _ => there,
        };
        let (mut sure, mut changed, mut looked_at, mut own) = (false, false, false, false);
        all(rest, &mut |node| {
            match node {
                Node::Expr(Expr::MethodCall(call)) if is(&name.ident, &call.receiver) => {
                    let method = call.method.to_string();
                    sure |= SURE.contains(&method.as_str());
                    changed |=
                        GROWING.contains(&method.as_str()) || RELISTING.contains(&method.as_str());
                    looked_at |= ["iter", "len", "iter_mut"].contains(&method.as_str());
                    own |= !crate::syntax::CHANGING.contains(&method.as_str())
                        && !GROWING.contains(&method.as_str())
                        && !RELISTING.contains(&method.as_str())
                        && !OTHERS.contains(&method.as_str());
                }
                // A struct for certain, as what has other methods.
                Node::Expr(Expr::Field(field)) => own |= is(&name.ident, &field.base),
                Node::Expr(Expr::Index(index)) => looked_at |= is(&name.ident, &index.expr),
                Node::Expr(Expr::ForLoop(l)) => looked_at |= is(&name.ident, &l.expr),
                _ => {}
            }
            true
        });
        !own && (sure || changed && (copied || free && looked_at))
    }

    /// What a function gives, as a list that changes its length; anything else as it is.
    pub fn as_list_that_grows(&mut self, value: Value, at: Span) -> Value {
        let Ty::Of(hole, steps) = self.resolve(&value.ty) else { return value };
        let plain = steps.iter().all(|step| matches!(step, Step::Field(_)));
        if !plain || self.row_of(&self.element(&value.ty)).is_some() {
            return value;
        }
        if !self.has_rustc_look("taken_for_list", &Ty::Of(hole, steps), at) {
            return value;
        }
        let element = self.element(&value.ty);
        Value { ty: array(element, Extent::Slice), ..value }
    }
}

fn is_field(place: &Expr) -> bool {
    matches!(unwrapped(place), Expr::Field(_))
}

fn is(name: &syn::Ident, expr: &Expr) -> bool {
    match unwrapped(expr) {
        Expr::Path(path) => path.path.is_ident(name),
        Expr::Reference(inner) => is(name, &inner.expr),
        _ => false,
    }
}

/// Whether a name is taken for an `Option` in some statements.
fn is_taken_for_option(name: &syn::Ident, statements: &[Stmt]) -> bool {
    let mut found = false;
    all(statements, &mut |node| {
        found |= match node {
            Node::Expr(Expr::MethodCall(call)) => {
                OWN.contains(&call.method.to_string().as_str()) && is(name, &call.receiver)
            }
            Node::Expr(Expr::Match(m)) => {
                is(name, &m.expr) && m.arms.iter().any(|arm| is_of_option(&arm.pat))
            }
            Node::Expr(Expr::Let(own)) => is(name, &own.expr) && is_of_option(&own.pat),
            Node::Local(local) => {
                let init = local.init.as_ref().filter(|_| is_of_option(&local.pat));
                init.is_some_and(|init| is(name, &init.expr))
            }
            Node::Expr(Expr::Try(question)) => is(name, &question.expr),
            _ => false,
        };
        true
    });
    found
}

//! Closures that are left before their end, said without jumps: the rest stands in a branch.
//!
//! ```text
//! |t| {                                  |t| {
//!     if t < 0.0 { return 0.0; }             if t < 0.0 { 0.0 } else {
//!     let k = place(t)?;                         ..
//!     ..                                     }
//! }                                      }
//! let k = place(t)?; ..                  if let Some(k) = place(t) { .. } else { None }
//! ```
//!
//! Requires: the jumps are statements of the closure's block, at its end or the end of an `if` in it; a `?` is that of an `Option`, and the closure says that it gives
//! one, by its type or its last value. Ensures: the value of the closure. Cost: none.

use crate::syntax::unwrapped;
use syn::{Expr, ExprClosure, ReturnType, Stmt};

/// The closure without jumps; nothing if it has none, or others.
pub(crate) fn told(closure: &ExprClosure) -> Option<ExprClosure> {
    let Expr::Block(block) = unwrapped(&closure.body) else { return None };
    let jumps = |stmts: &[Stmt]| stmts.iter().any(is_left);
    if block.label.is_some() || !jumps(&block.block.stmts) {
        return None;
    }
    let optional = match &closure.output {
        ReturnType::Type(_, ty) => crate::types::argument_of(ty, "Option").is_some(),
        ReturnType::Default => gives_option(block.block.stmts.last()?),
    };
    let told = without(&block.block.stmts, optional)?;
    let mut own = closure.clone();
    *own.body = syn::parse_quote!({ #(#told)* });
    Some(own)
}

/// Whether a statement has a jump out of a closure in it.
fn is_left(statement: &Stmt) -> bool {
    let block: syn::Expr = syn::parse_quote!({ #statement });
    crate::syntax::question(&block).is_some() || crate::iterators::returns_in(&block).is_some()
}

fn gives_option(last: &Stmt) -> bool {
    match last {
        Stmt::Expr(Expr::Path(path), None) => path.path.is_ident("None"),
        Stmt::Expr(value, None) => crate::syntax::called(value, "Some").is_some(),
        _ => false,
    }
}

/// Statements that end with their value.
fn without(statements: &[Stmt], optional: bool) -> Option<Vec<Stmt>> {
    let Some(k) = statements.iter().position(is_left) else { return Some(statements.to_vec()) };
    let (first, rest) = (&statements[..k], &statements[k + 1..]);
    let last: Expr = match &statements[k] {
        Stmt::Expr(Expr::Return(jump), _) => {
            let value = jump.expr.as_ref()?;
            value_of(value)?
        }
        Stmt::Expr(Expr::If(branch), _) if branch.else_branch.is_none() => {
            let (condition, then) = (&branch.cond, returned(&branch.then_branch.stmts)?);
            let rest = without(rest, optional)?;
            syn::parse_quote!(if #condition { #(#then)* } else { #(#rest)* })
        }
        Stmt::Local(local) => {
            let init = local.init.as_ref()?;
            let rest = without(rest, optional)?;
            match (&init.diverge, unwrapped(&init.expr)) {
                (None, Expr::Try(question)) if optional => {
                    let (pattern, value) = (&local.pat, value_of(&question.expr)?);
                    let (pattern, typed) = match pattern {
                        syn::Pat::Type(typed) => (&*typed.pat, Some(&typed.ty)),
                        own => (own, None),
                    };
                    let again = typed.map(|ty| quote::quote!(let #pattern: #ty = #pattern;));
                    syn::parse_quote!(if let Some(#pattern) = (#value) { #again #(#rest)* } else { None })
                }
                (Some((_, other)), _) => {
                    let Expr::Block(block) = &**other else { return None };
                    let (pattern, value) = (&local.pat, value_of(&init.expr)?);
                    let other = returned(&block.block.stmts)?;
                    syn::parse_quote!(if let #pattern = (#value) { #(#rest)* } else { #(#other)* })
                }
                _ => return None,
            }
        }
        _ => return None,
    };
    Some(first.iter().cloned().chain([Stmt::Expr(last, None)]).collect())
}

/// An expression that no jump leaves.
fn value_of(value: &Expr) -> Option<Expr> {
    let stays =
        crate::syntax::question(value).is_none() && crate::iterators::returns_in(value).is_none();
    stays.then(|| value.clone())
}

/// A block that ends with `return v;` as one that ends with `v`.
fn returned(statements: &[Stmt]) -> Option<Vec<Stmt>> {
    let (last, first) = statements.split_last()?;
    let Stmt::Expr(Expr::Return(jump), _) = last else { return None };
    let value = value_of(jump.expr.as_ref()?)?;
    let stays = !first.iter().any(is_left);
    stays.then(|| first.iter().cloned().chain([Stmt::Expr(value, None)]).collect())
}

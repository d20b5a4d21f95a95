//! The list that an `Option` has, or another one, which is of another length: said by a list that changes its length.
//!
//! ```text
//! let w = match weights {              let mut list = Vec::new();
//!     Some(w) => w.to_vec(),           if let Some(w) = weights { list = w.to_vec(); } else { list = vec![1.0; n]; }
//!     None => vec![1.0; n],            let w = list;
//! };
//! ```
//!
//! So are `if let Some(w) = weights { .. } else { .. }`, `weights.unwrap_or(&ones)`, `weights.map_or(ones, |w| ..)` and `map_or_else`.
//!
//! Requires: the `Option` is a name, and one of a list; the value ends as a list by its form.

use crate::lowering::Lowering;
use crate::syntax::unwrapped;
use crate::types::{Extent, Ty};
use syn::spanned::Spanned;
use syn::{Expr, Ident, Local, Pat, Stmt};

/// What is taken apart, the pattern of what is in it, and the two values.
struct Choice {
    option: Expr,
    pattern: Pat,
    list: Expr,
    other: Expr,
}

impl Lowering<'_> {
    /// The statements instead of such a `let`; nothing if it is none.
    pub fn defaulted_list(&mut self, local: &Local) -> Option<Vec<Stmt>> {
        let init = local.init.as_ref().filter(|init| init.diverge.is_none())?;
        let Choice { option, pattern, list, other } = choice(&init.expr)?;
        let Expr::Path(path) = unwrapped(&option) else { return None };
        let Ty::Option(inner) = self.resolve(&self.lookup(&path.path.get_ident()?.to_string())?.ty)
        else {
            return None;
        };
        let Ty::Array(element, Extent::Slice | Extent::Vec) = &*inner else { return None };
        let element = self.written(element).filter(|_| is_list(&list))?;
        let name = format!("__jut_{}", self.names.unique("list"));
        let name = Ident::new(&name, init.expr.span());
        let (list, other, own) = (own(&list), own(&other), &local.pat);
        Some(vec![
            syn::parse_quote!(let mut #name: Vec<#element> = Vec::new();),
            syn::parse_quote!(if let Some(#pattern) = #option { #name = #list; } else { #name = #other; }),
            syn::parse_quote!(let #own = #name;),
        ])
    }
}

/// A choice by whether an `Option` has a value.
fn choice(value: &Expr) -> Option<Choice> {
    match unwrapped(value) {
        Expr::Match(m) => {
            let [first, second] = &m.arms[..] else { return None };
            let (there, none) = match within(&first.pat) {
                Some(_) => (first, second),
                None => (second, first),
            };
            let empty = match &none.pat {
                Pat::Ident(name) => name.ident == "None",
                Pat::Wild(_) => true,
                _ => false,
            };
            let plain = empty && there.guard.is_none() && none.guard.is_none();
            let pattern = within(&there.pat).filter(|_| plain)?.clone();
            let (option, list, other) = ((*m.expr).clone(), last(&there.body)?, last(&none.body)?);
            Some(Choice { option, pattern, list, other })
        }
        Expr::If(branch) => {
            let Expr::Let(own) = &*branch.cond else { return None };
            let pattern = within(&own.pat)?.clone();
            let [Stmt::Expr(list, None)] = &branch.then_branch.stmts[..] else { return None };
            let other = last(&branch.else_branch.as_ref()?.1)?;
            Some(Choice { option: (*own.expr).clone(), pattern, list: list.clone(), other })
        }
        Expr::MethodCall(call) => {
            let name = call.method.to_string();
            let arguments: Vec<&Expr> = call.args.iter().map(unwrapped).collect();
            let option = (*call.receiver).clone();
            match (name.as_str(), &arguments[..]) {
                ("unwrap_or", [other]) => Some(Choice {
                    option,
                    pattern: syn::parse_quote!(__jut_own),
                    list: syn::parse_quote!(__jut_own),
                    other: (*other).clone(),
                }),
                ("map_or", [other, Expr::Closure(function)]) if function.inputs.len() == 1 => {
                    let (pattern, list) = (function.inputs[0].clone(), last(&function.body)?);
                    Some(Choice { option, pattern, list, other: (*other).clone() })
                }
                ("map_or_else", [Expr::Closure(other), Expr::Closure(function)])
                    if function.inputs.len() == 1 && other.inputs.is_empty() =>
                {
                    let (pattern, list) = (function.inputs[0].clone(), last(&function.body)?);
                    Some(Choice { option, pattern, list, other: last(&other.body)? })
                }
                ("unwrap_or_else", [Expr::Closure(other)]) if other.inputs.is_empty() => {
                    let Expr::MethodCall(map) = unwrapped(&call.receiver) else { return None };
                    let Some(Expr::Closure(function)) = map.args.first().map(unwrapped) else {
                        return None;
                    };
                    if map.method != "map" || function.inputs.len() != 1 {
                        return None;
                    }
                    let (pattern, list) = (function.inputs[0].clone(), last(&function.body)?);
                    let option = (*map.receiver).clone();
                    Some(Choice { option, pattern, list, other: last(&other.body)? })
                }
                _ => None,
            }
        }
        _ => None,
    }
}

/// What is in a pattern `Some(p)`.
fn within(pattern: &Pat) -> Option<&Pat> {
    match pattern {
        Pat::TupleStruct(own) if own.path.is_ident("Some") && own.elems.len() == 1 => {
            own.elems.first()
        }
        _ => None,
    }
}

/// The value of a block that has nothing else in it, or an expression.
fn last(expr: &Expr) -> Option<Expr> {
    match unwrapped(expr) {
        Expr::Block(block) => match &block.block.stmts[..] {
            [Stmt::Expr(value, None)] => Some(value.clone()),
            _ => None,
        },
        other => Some(other.clone()),
    }
}

/// Whether an expression is a list by its form, where what it is made of is one.
fn is_list(expr: &Expr) -> bool {
    match unwrapped(expr) {
        Expr::Path(_) => true,
        Expr::Reference(inner) => match unwrapped(&inner.expr) {
            Expr::Index(index) => matches!(unwrapped(&index.index), Expr::Range(_)),
            other => matches!(other, Expr::Path(_)),
        },
        Expr::MethodCall(call) => {
            ["to_vec", "clone", "to_owned", "collect"].iter().any(|name| call.method == name)
        }
        _ => false,
    }
}

/// A list as one of its own.
fn own(list: &Expr) -> Expr {
    match unwrapped(list) {
        Expr::MethodCall(_) | Expr::Macro(_) => list.clone(),
        other => syn::parse_quote!((#other).to_vec()),
    }
}

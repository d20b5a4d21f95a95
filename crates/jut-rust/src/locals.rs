//! A `let` that is said by several statements, or by another one.
//!
//! | | is |
//! |---|---|
//! | `let (a, b) = (&x[i], &mut y[0]);` | `let a = &x[i]; let b = &mut y[0];` |
//! | `let old = std::mem::take(&mut list);` of a list that changes its length | `let old = list.clone(); list.clear();` |
//! | `let rows: [Vec<f64>; 2] = [vec![a], vec![b, c]];` | `let rows: Vec<Vec<f64>> = ..;` |

use crate::lowering::Lowering;
use crate::syntax::{bound, has_word, unwrapped};
use syn::{Expr, Local, Pat, Stmt, Type};

impl Lowering<'_> {
    /// The statements that a `let` and those behind it are; nothing of one that is what it says.
    pub fn restated_local(&mut self, local: &Local, rest: &[Stmt]) -> Option<Vec<Stmt>> {
        let first = separate(local)
            .or_else(|| self.taken(local))
            .or_else(|| list_of_rows(local))
            .or_else(|| self.defaulted_list(local))
            .or_else(|| self.sought_element(local));
        if let Some(mut chain) = first {
            chain.extend(rest.iter().cloned());
            return Some(chain);
        }
        self.stepped_iterator(local, rest).or_else(|| self.kept_iterator(local, rest))
    }

    /// What a list that changes its length was, which has no elements then.
    fn taken(&self, local: &Local) -> Option<Vec<Stmt>> {
        let init = local.init.as_ref().filter(|init| init.diverge.is_none())?;
        let Expr::Call(call) = unwrapped(&init.expr) else { return None };
        let (Expr::Path(name), None) = crate::restated::replaced(call)? else { return None };
        let known = self.lookup(&name.path.get_ident()?.to_string())?;
        known.stack.as_ref()?;
        let pattern = &local.pat;
        Some(vec![
            syn::parse_quote!(let #pattern = #name.clone();),
            syn::parse_quote!(#name.clear();),
        ])
    }
}

/// Names for several places, one after the other: no value is computed with a name that is bound before it.
fn separate(local: &Local) -> Option<Vec<Stmt>> {
    let init = local.init.as_ref().filter(|init| init.diverge.is_none())?;
    let (Pat::Tuple(names), Expr::Tuple(values)) = (&local.pat, unwrapped(&init.expr)) else {
        return None;
    };
    let changes = |value: &Expr| matches!(value, Expr::Reference(r) if r.mutability.is_some());
    if names.elems.len() != values.elems.len() || !values.elems.iter().any(changes) {
        return None;
    }
    let mut before: Vec<String> = Vec::new();
    let mut each = Vec::new();
    for (name, value) in names.elems.iter().zip(&values.elems) {
        if before.iter().any(|name| has_word(value, name)) {
            return None;
        }
        before.extend(bound(name));
        each.push(syn::parse_quote!(let #name = #value;));
    }
    Some(each)
}

/// Rows that are written, as a list of lists.
fn list_of_rows(local: &Local) -> Option<Vec<Stmt>> {
    let Pat::Type(typed) = &local.pat else { return None };
    let Type::Array(array) = &*typed.ty else { return None };
    let init = local.init.as_ref()?;
    let rows = crate::types::argument_of(&array.elem, "Vec").is_some();
    if !rows || !matches!(unwrapped(&init.expr), Expr::Array(_)) {
        return None;
    }
    let (mut own, row) = (local.clone(), &array.elem);
    if let Pat::Type(typed) = &mut own.pat {
        *typed.ty = syn::parse_quote!(Vec<#row>);
    }
    Some(vec![Stmt::Local(own)])
}

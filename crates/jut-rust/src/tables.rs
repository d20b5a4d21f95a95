//! Tables of constants whose rows have different lengths, `const NEEDS: [&[usize]; 3] = [&[], &[0], &[0, 1]];` in a function: said as a list of
//! lists, which may have them.
//!
//! Requires: the table stands in the body of the function, is one of numbers that is written row by row, and no function within names it.

use crate::syntax::{has_word, unwrapped};
use syn::{Expr, Ident, Item, ItemFn, Stmt, Type};

/// The function with such tables as variables; nothing if it has none.
pub(crate) fn told(function: &ItemFn) -> Option<ItemFn> {
    let tables: Vec<Stmt> = function
        .block
        .stmts
        .iter()
        .filter_map(|statement| {
            let (name, element, rows) = table(statement)?;
            let within = |other: &Stmt| {
                matches!(other, Stmt::Item(item) if !matches!(item, Item::Use(_)))
                    && has_word(other, &name.to_string())
            };
            if function.block.stmts.iter().filter(|other| within(other)).count() > 1 {
                return None;
            }
            let rows = rows.iter().map(|row| -> Expr {
                match row.elems.is_empty() {
                    true => {
                        let none = none(element);
                        syn::parse_quote!(vec![#none; 0])
                    }
                    false => {
                        // Of integers the type is written, whatever functions they are given to.
                        let all = row.elems.iter().map(|one| -> Expr {
                            match is_integer(element) {
                                true => syn::parse_quote!((#one) as #element),
                                false => one.clone(),
                            }
                        });
                        syn::parse_quote!(vec![#(#all),*])
                    }
                }
            });
            Some(syn::parse_quote!(let #name: Vec<Vec<#element>> = vec![#(#rows),*];))
        })
        .collect();
    if tables.is_empty() {
        return None;
    }
    let mut told = function.clone();
    told.block.stmts.retain(|statement| table(statement).is_none());
    told.block.stmts.splice(..0, tables);
    Some(told)
}

/// The name of such a table, the type of its elements, and its rows.
fn table(statement: &Stmt) -> Option<(&Ident, &Type, Vec<&syn::ExprArray>)> {
    let (name, ty, value) = match statement {
        Stmt::Item(Item::Const(own)) => (&own.ident, &*own.ty, &*own.expr),
        Stmt::Item(Item::Static(own)) => (&own.ident, &*own.ty, &*own.expr),
        _ => return None,
    };
    let row = match behind(ty) {
        Type::Array(table) => &*table.elem,
        Type::Slice(table) => &*table.elem,
        _ => return None,
    };
    let (Type::Reference(_), Type::Slice(row)) = (row, behind(row)) else { return None };
    let Expr::Array(rows) = pointed(value) else { return None };
    let rows: Option<Vec<&syn::ExprArray>> = rows
        .elems
        .iter()
        .map(|row| match pointed(row) {
            Expr::Array(row) => Some(row),
            _ => None,
        })
        .collect();
    let rows = rows?;
    let first = rows.first()?.elems.len();
    rows.iter().any(|row| row.elems.len() != first).then_some((name, &row.elem, rows))
}

fn is_integer(element: &Type) -> bool {
    const INTEGERS: [&str; 10] =
        ["usize", "isize", "i64", "u64", "i32", "u32", "i16", "u16", "i8", "u8"];
    matches!(element, Type::Path(path) if INTEGERS.iter().any(|name| path.path.is_ident(name)))
}

/// What a row without elements has none of.
fn none(element: &Type) -> Expr {
    match element {
        Type::Tuple(parts) => {
            let parts = parts.elems.iter().map(none);
            syn::parse_quote!((#(#parts),*))
        }
        Type::Path(path) if path.path.is_ident("bool") => syn::parse_quote!(false),
        number => syn::parse_quote!(0 as #number),
    }
}

fn behind(ty: &Type) -> &Type {
    match ty {
        Type::Reference(inner) => behind(&inner.elem),
        own => own,
    }
}

fn pointed(value: &Expr) -> &Expr {
    match unwrapped(value) {
        Expr::Reference(inner) => pointed(&inner.expr),
        own => own,
    }
}

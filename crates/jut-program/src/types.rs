//! Types of the language as types of Rust.
//!
//! | jut | parameter | result |
//! |---|---|---|
//! | `f64`, `f32`, `i64`, `i32`, `bool` | the same | the same |
//! | `[n]t` | `&[T]` | `Vec<T>` |
//! | `[3]t` | `&[T; 3]` | `[T; 3]` |
//! | `[n, 3]t` | `&[[T; 3]]` | `Vec<[T; 3]>` |
//! | `[n, m]t` of numbers | `&jut::Array<T>` | `jut::Array<T>` |
//! | a record of fields without sizes of their own | `&Record` | `Record` |
//! | `#(t, u)` | `(T, U)` of floats | `(T, U)` |

use jut_ir::entity::DataId;
use jut_ir::{Program, Type};
use jut_rust::types::{Extent, Ty, array};
use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;

/// A type of Rust: how it is written, and what the attribute's machinery takes it for.
pub(crate) struct Written {
    /// As a value that is owned.
    pub owned: TokenStream,
    /// As a parameter.
    pub borrowed: TokenStream,
    /// What it is.
    pub ty: Ty,
}

/// The type in Rust, if it has one.
pub(crate) fn written(program: &Program, ty: &Type) -> Option<Written> {
    let plain =
        |tokens: TokenStream, ty: Ty| Some(Written { owned: tokens.clone(), borrowed: tokens, ty });
    match ty {
        Type::Float(width) if width.name() == "f64" => plain(quote!(f64), Ty::F64),
        Type::Float(_) => plain(quote!(f32), Ty::F32),
        Type::I64 => plain(quote!(i64), Ty::I64),
        Type::I32 => plain(quote!(i32), Ty::I32),
        Type::Bool => plain(quote!(bool), Ty::Bool),
        Type::Tuple(items) if !items.is_empty() && items.len() <= 6 => {
            let items: Option<Vec<Written>> = items.iter().map(|t| written(program, t)).collect();
            let items = items?;
            let owned = items.iter().map(|w| &w.owned);
            let owned = quote!((#(#owned,)*));
            plain(owned, Ty::Tuple(items.into_iter().map(|w| w.ty).collect()))
        }
        Type::Data(id) => {
            let name = record(program, *id)?;
            // What has no floats has no derivative.
            let ty = if has_float(program, ty) { Ty::Of(0, Vec::new()) } else { Ty::Bool };
            Some(Written { owned: quote!(#name), borrowed: quote!(&#name), ty })
        }
        Type::Array(..) => an_array(program, ty),
        _ => None,
    }
}

fn an_array(program: &Program, ty: &Type) -> Option<Written> {
    let (mut sizes, mut element) = (Vec::new(), ty);
    while let Type::Array(size, inner) = element {
        let constant = size.as_constant();
        sizes.push(match constant {
            Some(n) => Some(usize::try_from(n).ok()?),
            None => None,
        });
        element = inner;
    }
    let one = match element {
        Type::Tuple(_) => return None,
        element => written(program, element)?,
    };
    let inner_known = sizes[1..].iter().all(Option::is_some);
    if !inner_known {
        // Of numbers only, and in one piece.
        let number = matches!(element, Type::I64 | Type::I32 | Type::Bool) || element.is_float();
        let of = &one.owned;
        return number.then(|| Written {
            owned: quote!(::jut::Array<#of>),
            borrowed: quote!(&::jut::Array<#of>),
            ty: array(one.ty, Extent::Slice),
        });
    }
    if matches!(element, Type::Data(_)) && !is_fixed(program, element) {
        return None;
    }
    // Of `i32` there are at most rows.
    if *element == Type::I32 && sizes.len() > 2 {
        return None;
    }
    let mut inner = one;
    for n in sizes[1..].iter().rev().flatten() {
        let of = &inner.owned;
        inner = Written {
            owned: quote!([#of; #n]),
            borrowed: TokenStream::new(),
            ty: array(inner.ty, Extent::Fixed(n.to_string())),
        };
    }
    let of = &inner.owned;
    Some(match sizes[0] {
        Some(n) => Written {
            owned: quote!([#of; #n]),
            borrowed: quote!(&[#of; #n]),
            ty: array(inner.ty, Extent::Fixed(n.to_string())),
        },
        None => Written {
            owned: quote!(::std::vec::Vec<#of>),
            borrowed: quote!(&[#of]),
            ty: array(inner.ty, Extent::Slice),
        },
    })
}

/// The struct of a record, if it can be one: all its fields have types in Rust, and none a size that the record
/// holds itself.
pub(crate) fn record(program: &Program, id: DataId) -> Option<Ident> {
    record_within(program, id, &mut Vec::new())
}

fn record_within(program: &Program, id: DataId, open: &mut Vec<DataId>) -> Option<Ident> {
    let data = &program.datas[id];
    let [constructor] = &data.constructors[..] else { return None };
    if open.contains(&id) || constructor.fields.is_empty() {
        return None;
    }
    open.push(id);
    let fields = constructor.fields.iter().all(|f| is_field(program, &f.ty, open));
    open.pop();
    fields.then(|| name(&data.name))
}

/// Whether a field has a type in Rust: a number, an array of known sizes, a record.
fn is_field(program: &Program, ty: &Type, open: &mut Vec<DataId>) -> bool {
    match ty {
        Type::Float(width) => width.name() == "f64",
        Type::I64 | Type::I32 | Type::Bool => true,
        // Of `i32` there are lists, and no tables.
        Type::Array(_, row) if matches!(&**row, Type::Array(_, cell) if **cell == Type::I32) => {
            false
        }
        Type::Array(size, element) => {
            size.as_constant().is_some_and(|n| n >= 0) && is_field(program, element, open)
        }
        Type::Data(id) => record_within(program, *id, open).is_some(),
        _ => false,
    }
}

fn is_fixed(program: &Program, ty: &Type) -> bool {
    is_field(program, ty, &mut Vec::new())
}

/// Whether values of a type have floats; of one that is no recursive data.
pub(crate) fn has_float(program: &Program, ty: &Type) -> bool {
    match ty {
        Type::Float(_) => true,
        Type::Array(_, element) => has_float(program, element),
        Type::Tuple(items) => items.iter().any(|t| has_float(program, t)),
        Type::Data(id) => {
            let constructors = program.datas[*id].constructors.iter();
            constructors.flat_map(|c| &c.fields).any(|f| has_float(program, &f.ty))
        }
        _ => false,
    }
}

/// Whether all that a type has is floats.
pub(crate) fn all_floats(program: &Program, ty: &Type) -> bool {
    match ty {
        Type::Float(_) => true,
        Type::Array(_, element) => all_floats(program, element),
        Type::Tuple(items) => items.iter().all(|t| all_floats(program, t)),
        Type::Data(id) => {
            let constructors = program.datas[*id].constructors.iter();
            constructors.flat_map(|c| &c.fields).all(|f| all_floats(program, &f.ty))
        }
        _ => false,
    }
}

/// A name of the language as one of Rust.
pub(crate) fn name(name: &str) -> Ident {
    let word = name.replace('.', "_");
    match word.as_str() {
        "_" | "self" | "Self" | "super" | "crate" => {
            Ident::new(&format!("{word}_"), Span::call_site())
        }
        // The words of Rust that no name is.
        _ => syn::parse_str::<Ident>(&word)
            .unwrap_or_else(|_| Ident::new_raw(&word, Span::call_site())),
    }
}

//! The types of a file's structs, enums and functions, as values that say their text.
//!
//! *Cost*: what they are made of stays for the rest of the process, which is a command or a build script.

use super::known::last;
use jut::rust::{Declared, Type, Variant};
use jut_rust::file::{File, Shape};
use jut_rust::template::Hole;
use jut_rust::types::{Extent, Ty};
use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::OnceLock;

/// A list that stays.
pub(super) fn leaked<T>(list: Vec<T>) -> &'static [T] {
    Box::leak(list.into_boxed_slice())
}

/// The type of the values of a struct or enum.
pub(super) fn data_type(file: &File, data: Hole) -> Type {
    type_of(file, &Ty::Of(0, Vec::new()), &[data], 0)
}

thread_local! {
    /// Types that hold themselves.
    static DECLARED: RefCell<HashMap<String, &'static Declared>> = RefCell::default();
}

/// The type with a name, which is made unless it is there; what is in it may be that type again.
fn declared(name: &str, variants: impl FnOnce() -> Vec<Variant>) -> Type {
    if let Some(found) = DECLARED.with_borrow(|all| all.get(name).copied()) {
        return Type::Declared(found);
    }
    let cell: &'static OnceLock<&'static [Variant]> = Box::leak(Box::default());
    let own: &'static Declared =
        Box::leak(Box::new(Declared::of_file(name.to_string().leak(), cell)));
    DECLARED.with_borrow_mut(|all| all.insert(name.to_string(), own));
    let _ = cell.set(leaked(variants()));
    Type::Declared(own)
}

/// A struct or enum that holds itself.
fn recursive(file: &File, shape: &Shape) -> Type {
    let field = |(name, ty): &(String, Ty)| -> (&'static str, Type) {
        let ty = match ty {
            Ty::Option(inner) => {
                let some = type_of(file, inner, &shape.holes, 0);
                let of =
                    if let Type::Declared(of) = some { of.name() } else { "value".to_string() };
                declared(&format!("{of}__option"), || {
                    let fields = leaked(vec![("1", some)]);
                    let none = Variant { name: "None", words: &[], fields: &[] };
                    vec![none, Variant { name: "Some", words: &["value"], fields }]
                })
            }
            ty => type_of(file, ty, &shape.holes, 0),
        };
        (name.clone().leak(), ty)
    };
    let variant = |name: &str| {
        let before = if name.is_empty() { String::new() } else { format!("{name}.") };
        let own = shape.fields.iter().filter(|(n, _)| n.starts_with(&before));
        let fields: Vec<(&'static str, Type)> = own.map(field).collect();
        let words = fields.iter().map(|(n, _)| {
            let own = n.strip_prefix(&before).unwrap_or(n);
            let number = own.parse::<usize>().is_ok();
            let word = if number { format!("part_{own}") } else { jut_rust::names::word(own) };
            &*word.leak()
        });
        let words = leaked(words.collect());
        Variant { name: name.to_string().leak(), words, fields: leaked(fields) }
    };
    declared(&shape.name, || match &shape.variants {
        None => vec![variant("")],
        Some(names) => names.iter().map(|name| variant(name)).collect(),
    })
}

/// The type of a row that measures itself.
fn row(element: Type) -> Type {
    let values = ("values", Type::Vec(Box::leak(Box::new(element))));
    let letter = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    let of: String = format!("{element:?}").to_lowercase().chars().map(letter).collect();
    declared(&format!("rows_of_{of}"), || {
        vec![Variant { name: "", words: leaked(vec!["values"]), fields: leaked(vec![values]) }]
    })
}

/// The type of a struct or enum.
fn shape_type(file: &File, shape: &Shape, depth: u32) -> Type {
    if depth > 20 {
        return Type::Unit;
    }
    if shape.recursive {
        return recursive(file, shape);
    }
    let field = |(name, ty): &(String, Ty)| -> (&'static str, Type) {
        (name.clone().leak(), type_of(file, ty, &shape.holes, depth))
    };
    let fields: Vec<(&'static str, Type)> = shape.fields.iter().map(field).collect();
    match &shape.variants {
        None => Type::Record(leaked(fields)),
        Some(variants) => {
            let words = variants.iter().map(|v| &*v.clone().leak()).collect();
            let all = [("", Type::I64)].into_iter().chain(fields).collect();
            Type::Enum(leaked(words), leaked(all))
        }
    }
}

/// A type as it is written.
pub(super) fn type_of(file: &File, ty: &Ty, holes: &[Hole], depth: u32) -> Type {
    let one = |ty: &Ty| -> &'static Type { Box::leak(Box::new(type_of(file, ty, holes, depth))) };
    match ty {
        Ty::F64 | Ty::Float(_) => Type::F64,
        Ty::F32 => Type::F32,
        Ty::Bool => Type::Bool,
        Ty::Narrow(of) => match (of.bits, of.signed) {
            (8, true) => Type::I8,
            (8, false) => Type::U8,
            (16, true) => Type::I16,
            (16, false) => Type::U16,
            (_, true) => Type::I32,
            (_, false) => Type::U32,
        },
        Ty::U64 => Type::U64,
        Ty::Usize => Type::Usize,
        Ty::Option(inner) => Type::Tuple(leaked(vec![Type::Bool, *one(inner)])),
        Ty::Unit | Ty::Never => Type::Unit,
        Ty::I64 | Ty::Int(_) => Type::I64,
        Ty::Array(element, Extent::Vec) => Type::Vec(one(element)),
        Ty::Array(element, Extent::Slice) => Type::Array(one(element)),
        Ty::Array(element, Extent::Fixed(n)) => {
            let hole = n.trim_matches(['$', 'k']).parse::<usize>().ok();
            let length = match hole.filter(|_| n.starts_with('$')).and_then(|k| holes.get(k)) {
                Some(Hole::Length(_)) => return Type::Array(one(element)),
                Some(Hole::Constant(value)) => {
                    let name = last(&value.to_string());
                    let of = file.constants.iter().find(|(n, ..)| *n == name);
                    of.map_or("0".to_string(), |(_, _, value)| value.replace('_', ""))
                }
                _ => n.clone(),
            };
            Type::Fixed(one(element), length.parse().unwrap_or_default())
        }
        Ty::Tuple(items) => Type::Tuple(leaked(items.iter().map(|t| *one(t)).collect())),
        Ty::Function(inputs, output) => {
            Type::Function(leaked(inputs.iter().map(|t| *one(t)).collect()), one(output))
        }
        Ty::Of(hole, _) => match holes.get(*hole) {
            Some(Hole::Data(path)) => {
                if let Some((element, holes)) = jut_rust::row_of_path(path) {
                    return row(type_of(file, &element, &holes, depth));
                }
                let name = last(&path.to_string());
                if let Some((_, ty, holes)) = file.names.iter().find(|(n, ..)| *n == name) {
                    return if depth > 20 {
                        Type::Unit
                    } else {
                        type_of(file, ty, holes, depth + 1)
                    };
                }
                let shape = file.data.iter().find(|s| s.name == name);
                shape.map_or(Type::Unit, |shape| shape_type(file, shape, depth + 1))
            }
            _ => Type::Unit,
        },
    }
}

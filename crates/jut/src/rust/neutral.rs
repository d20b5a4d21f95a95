//! Values that nobody reads, for fields that another variant has; and the sizes of values.

use super::Type;
use crate::value::{Array, Value};

/// Some value of a type without sizes of its own, for a field of an enum that another variant has.
pub fn neutral(ty: &Type) -> Value {
    many(ty, &[])
}

/// The same for each place of an array.
pub(super) fn many(ty: &Type, shape: &[usize]) -> Value {
    let count = shape.iter().product();
    let shaped = || shape.to_vec();
    match (ty, shape) {
        (Type::Fixed(element, n), _) => many(element, &[shape, &[*n]].concat()),
        (Type::Vec(element), _) => many(element, &[shape, &[0]].concat()),
        (Type::Matrix(rows, _), _) => many(rows, shape),
        (Type::Record(fields) | Type::Enum(_, fields), _) => {
            Value::Tuple(fields.iter().map(|(_, ty)| many(ty, shape)).collect())
        }
        (Type::Tuple(items), _) => Value::Tuple(items.iter().map(|ty| many(ty, shape)).collect()),
        (Type::Declared(_), []) => declared(ty),
        (Type::Declared(_), [n, rest @ ..]) => {
            Value::List((0..*n).map(|_| many(ty, rest)).collect())
        }
        (Type::F64, []) => Value::F64(0.0),
        (Type::F64, _) => Value::F64s(Array { shape: shaped(), data: vec![0.0; count] }),
        (Type::F32, []) => Value::F32(0.0),
        (Type::F32, _) => Value::F32s(Array { shape: shaped(), data: vec![0.0; count] }),
        (Type::Bool, []) => Value::Bool(false),
        (Type::Bool, _) => Value::Bools(Array { shape: shaped(), data: vec![false; count] }),
        (_, []) => Value::I64(0),
        _ => Value::I64s(Array { shape: shaped(), data: vec![0; count] }),
    }
}

/// Some value of a type that holds itself, which nobody reads.
fn declared(ty: &Type) -> Value {
    let Type::Declared(of) = ty else { return Value::Tuple(Vec::new()) };
    let Some(least) = of.least() else { return Value::Tuple(Vec::new()) };
    let mut items = Vec::new();
    for (_, ty) in least.fields {
        let value = neutral(ty);
        sizes(ty, &value, &mut items);
        items.push(value);
    }
    match of.is_single() {
        true => Value::Tuple(items),
        false => Value::Data(of.constructor(least), items),
    }
}

/// How many elements an array has, or the arrays of its elements' fields.
pub(super) fn length(value: &Value) -> Option<usize> {
    match value {
        Value::List(items) => Some(items.len()),
        Value::F64s(a) => a.shape.first().copied(),
        Value::F32s(a) => a.shape.first().copied(),
        Value::I64s(a) => a.shape.first().copied(),
        Value::Bools(a) => a.shape.first().copied(),
        Value::Tuple(items) => items.iter().find_map(length),
        _ => None,
    }
}

/// How many columns an array has, or the arrays of its elements' fields.
pub(super) fn width(value: &Value) -> Option<usize> {
    match value {
        Value::List(items) => items.first().map_or(Some(0), length),
        Value::F64s(a) => a.shape.get(1).copied(),
        Value::F32s(a) => a.shape.get(1).copied(),
        Value::I64s(a) => a.shape.get(1).copied(),
        Value::Bools(a) => a.shape.get(1).copied(),
        Value::Tuple(items) => items.iter().find_map(width),
        _ => None,
    }
}

/// The sizes of a value of a type.
pub(super) fn sizes(ty: &Type, value: &Value, all: &mut Vec<Value>) {
    let size = |n: Option<usize>| Value::I64(n.and_then(|n| n.try_into().ok()).unwrap_or_default());
    match (ty, value) {
        (Type::Matrix(rows, _), value) => sizes(rows, value, all),
        (Type::Vec(element), value) => {
            all.push(size(length(value)));
            if matches!(element, Type::Vec(_)) {
                all.push(size(width(value)));
            }
        }
        (Type::Record(fields) | Type::Enum(_, fields), Value::Tuple(items)) => {
            for ((_, ty), item) in fields.iter().zip(items) {
                sizes(ty, item, all);
            }
        }
        _ => {}
    }
}

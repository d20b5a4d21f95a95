//! Values as points of their tangent space.

use super::stack;
use crate::value::{Array, Value};
use jut_ir::{DataId, Program, Size, Type};

/// The floats of a value of type `ty`, laid out as its tangent is: integers and truth values are left
/// out, and the floats of constructors that the value does not have are zero. `None` if the type
/// has no float.
pub(crate) fn as_tangent(program: &Program, ty: &Type, value: &Value) -> Option<Value> {
    match (ty, value) {
        (Type::Float(_), _) | (Type::Array(..), Value::F64s(_) | Value::F32s(_)) => {
            Some(value.clone())
        }
        (Type::I64 | Type::I32 | Type::Bool, _) => None,
        // Those of declared tangents are lists.
        (Type::Array(_, element), Value::List(items)) if has_declared(program, element) => {
            let items = items.iter().map(|item| as_tangent(program, element, item));
            items.collect::<Option<_>>().map(Value::List)
        }
        // An array of tuples is the tuple of its arrays; the dimensions are those of the values.
        (Type::Array(_, element), _) => as_tangent(program, element, value),
        (Type::Tuple(types), Value::Tuple(items)) => {
            let parts = types.iter().zip(items);
            present(parts.map(|(ty, item)| as_tangent(program, ty, item)))
        }
        (Type::Data(id), value) if program.needs_tangent(*id) => declared(program, *id, value),
        (Type::Data(_), Value::List(items)) => {
            let mut element = ty.tangent(program).ok()??;
            let mut first = items.first();
            while let Some(Value::List(inner)) = first {
                (element, first) = (Type::array(Size::default(), element), inner.first());
            }
            let items = items.iter().map(|item| as_tangent(program, ty, item));
            stack(program, &element, &items.collect::<Option<Vec<_>>>()?)
        }
        (Type::Data(id), Value::Tuple(items) | Value::Data(_, items)) => {
            let parts = program.datas[*id].constructors.iter().flat_map(|con| {
                let taken = match value {
                    Value::Data(name, _) => con.name == *name,
                    _ => true,
                };
                con.fields.iter().enumerate().map(move |(k, field)| match items.get(k) {
                    Some(item) if taken => as_tangent(program, &field.ty, item),
                    _ => zero(program, &field.ty, &[]),
                })
            });
            present(parts)
        }
        _ => None,
    }
}

/// Of a data type whose tangents are declared: the constructor, and those of its fields that have floats.
fn declared(program: &Program, data: DataId, value: &Value) -> Option<Value> {
    if !Type::Data(data).has_float(program) {
        return None;
    }
    let constructors = &program.datas[data].constructors;
    let (con, items) = match value {
        Value::Tuple(items) => (constructors.first()?, items),
        Value::Data(name, items) => (constructors.iter().find(|con| con.name == *name)?, items),
        // An array of records that are flat is the record of its arrays.
        _ => return None,
    };
    let floats = con.fields.iter().zip(items).filter(|(field, _)| field.ty.has_float(program));
    let parts = floats.map(|(field, item)| as_tangent(program, &field.ty, item));
    let parts = parts.collect::<Option<_>>()?;
    Some(match value {
        Value::Data(name, _) => Value::Data(name.clone(), parts),
        _ => Value::Tuple(parts),
    })
}

/// Whether a data type whose tangents are declared is in a type.
fn has_declared(program: &Program, ty: &Type) -> bool {
    let mut found = false;
    ty.for_each_data(&mut |data| found |= program.needs_tangent(data));
    found
}

/// The tuple of the components that there are.
fn present(parts: impl Iterator<Item = Option<Value>>) -> Option<Value> {
    let parts: Vec<Value> = parts.flatten().collect();
    (!parts.is_empty()).then_some(Value::Tuple(parts))
}

/// The zero tangent of a field that is not there, inside arrays of the given sizes. A size that is
/// a field has no value: such data have no tangent.
fn zero(program: &Program, ty: &Type, around: &[usize]) -> Option<Value> {
    match ty {
        &Type::F32 if around.is_empty() => Some(Value::F32(0.0)),
        &Type::F32 => {
            let cells = around.iter().product();
            Some(Value::F32s(Array { shape: around.to_vec(), data: vec![0.0; cells] }))
        }
        Type::Float(_) if around.is_empty() => Some(Value::F64(0.0)),
        Type::Float(_) => {
            let cells = around.iter().product();
            Some(Value::F64s(Array { shape: around.to_vec(), data: vec![0.0; cells] }))
        }
        Type::I64 | Type::I32 | Type::Bool => None,
        Type::Array(size, element) => {
            let size = size.as_constant().and_then(|n| usize::try_from(n).ok()).unwrap_or(0);
            zero(program, element, &[around, &[size]].concat())
        }
        Type::Tuple(items) => present(items.iter().map(|ty| zero(program, ty, around))),
        Type::Data(id) => {
            let fields = program.datas[*id].constructors.iter().flat_map(|con| &con.fields);
            present(fields.map(|field| zero(program, &field.ty, around)))
        }
    }
}

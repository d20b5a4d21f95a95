//! Values as JSON, guided by the declared type.
//!
//! | type | JSON |
//! |---|---|
//! | `f64` | a number, or `"NaN"`, `"inf"`, `"-inf"` |
//! | `i64` | a number without fraction |
//! | `bool` | `true`, `false` |
//! | `[n, m]f64` | nested lists; `{"shape": [..], "data": [..]}` (row by row) where a dimension is 0 |
//! | `#(t, u)` | a list of the components |
//! | a record | an object with its fields, or a list of them in order |
//! | a sum | an object with one key, the constructor; its value is as for a record; without fields also its name |
//! | an array of records or of a sum | a list of its elements |
//!
//! Numbers are read to the nearest binary64 and written in the shortest form that reads back to
//! the same bits.

use crate::leaves::{peel, stack};
use crate::value::{Array, Value};
use jut_ir::prim::Scalar;
use jut_ir::{Constructor, Program, Type};
use serde_json::{Map, Number, Value as Json, json};
use std::collections::BTreeMap;

/// An argument by name, before its type is known.
#[derive(Clone, Debug)]
pub enum Given {
    /// To be read as its parameter's type says.
    Json(Json),
    /// A value, such as [`crate::npy::read`] gives.
    Value(Value),
}

/// Arguments by the names of their parameters.
pub type Arguments = BTreeMap<String, Given>;

/// Reads a value of a type.
///
/// # Errors
/// What does not fit, in words.
pub fn read(program: &Program, ty: &Type, json: &Json) -> Result<Value, String> {
    match ty {
        Type::F64 => read_f64(json).map(Value::F64),
        Type::I64 => read_i64(json).map(Value::I64),
        Type::Bool => read_bool(json).map(Value::Bool),
        Type::Tuple(items) => {
            let parts = list(json, items.len())?;
            items
                .iter()
                .zip(parts)
                .map(|(t, j)| read(program, t, j))
                .collect::<Result<_, _>>()
                .map(Value::Tuple)
        }
        Type::Data(id) => match program.datas[*id].constructors.as_slice() {
            [con] => read_fields(program, con, json).map(Value::Tuple),
            cons => {
                let names = || cons.iter().map(|c| c.name.as_str()).collect::<Vec<_>>().join(", ");
                let (name, fields) = match json {
                    Json::String(name) => (name, &Json::Null),
                    Json::Object(map) if map.len() == 1 => match map.iter().next() {
                        Some(entry) => entry,
                        None => return Err(format!("expected one of {}", names())),
                    },
                    _ => return Err(format!("expected an object with one of {}", names())),
                };
                let con = cons.iter().find(|c| c.name == *name);
                let con = con.ok_or_else(|| format!("`{name}` is not one of {}", names()))?;
                let empty = json!([]);
                let fields = if fields.is_null() { &empty } else { fields };
                Ok(Value::Data(con.name.clone(), read_fields(program, con, fields)?))
            }
        },
        Type::Array(..) => {
            let (rank, element) = peel(ty);
            match Scalar::of(element) {
                Some(scalar) => read_block(scalar, rank, json),
                None => {
                    let Type::Array(_, element) = ty else { return Err("not an array".into()) };
                    let Json::Array(items) = json else { return Err(expected("a list", json)) };
                    let items: Result<Vec<Value>, String> =
                        items.iter().map(|j| read(program, element, j)).collect();
                    stack(program, element, &items?)
                        .ok_or_else(|| "elements of different sizes".into())
                }
            }
        }
    }
}

fn expected(what: &str, json: &Json) -> String {
    let mut got = json.to_string();
    if got.chars().count() > 40 {
        got = got.chars().take(37).chain("..".chars()).collect();
    }
    format!("expected {what}, got {got}")
}

fn list(json: &Json, count: usize) -> Result<&[Json], String> {
    match json {
        Json::Array(items) if items.len() == count => Ok(items),
        _ => Err(expected(&format!("a list of {count}"), json)),
    }
}

fn read_f64(json: &Json) -> Result<f64, String> {
    match json {
        Json::Number(n) => n.as_f64().ok_or_else(|| expected("an f64", json)),
        Json::String(s) if s == "NaN" => Ok(f64::NAN),
        Json::String(s) if s == "inf" => Ok(f64::INFINITY),
        Json::String(s) if s == "-inf" => Ok(f64::NEG_INFINITY),
        _ => Err(expected("a number, \"NaN\", \"inf\" or \"-inf\"", json)),
    }
}

fn read_i64(json: &Json) -> Result<i64, String> {
    json.as_i64().ok_or_else(|| expected("an integer", json))
}

fn read_bool(json: &Json) -> Result<bool, String> {
    json.as_bool().ok_or_else(|| expected("true or false", json))
}

fn read_fields(program: &Program, con: &Constructor, json: &Json) -> Result<Vec<Value>, String> {
    let part = |k: usize, name: &str| match json {
        Json::Object(map) => map.get(name).ok_or_else(|| format!("field `{name}` is missing")),
        Json::Array(items) if items.len() == con.fields.len() => Ok(&items[k]),
        _ => Err(expected(&format!("the {} fields of {}", con.fields.len(), con.name), json)),
    };
    if let Json::Object(map) = json
        && let Some(extra) = map.keys().find(|key| con.fields.iter().all(|f| f.name != **key))
    {
        return Err(format!("{} has no field `{extra}`", con.name));
    }
    let read_one = |(k, field): (usize, &jut_ir::Field)| {
        read(program, &field.ty, part(k, &field.name)?).map_err(|e| format!("{}: {e}", field.name))
    };
    con.fields.iter().enumerate().map(read_one).collect()
}

fn read_block(scalar: Scalar, rank: usize, json: &Json) -> Result<Value, String> {
    let mut shape = vec![0; rank];
    let mut cells = Vec::new();
    if let Json::Object(map) = json {
        let (Some(Json::Array(sizes)), Some(Json::Array(data)), 2) =
            (map.get("shape"), map.get("data"), map.len())
        else {
            return Err(expected("nested lists, or an object with shape and data", json));
        };
        if sizes.len() != rank {
            return Err(format!("expected a shape of {rank} sizes, got {}", sizes.len()));
        }
        for (to, from) in shape.iter_mut().zip(sizes) {
            let size = from.as_u64().and_then(|n| usize::try_from(n).ok());
            *to = size.ok_or_else(|| expected("a size", from))?;
        }
        let count = shape.iter().try_fold(1usize, |p, n| p.checked_mul(*n));
        if count != Some(data.len()) {
            return Err(format!("the shape does not fit the {} elements of data", data.len()));
        }
        cells.extend(data);
    } else {
        collect(json, 0, &mut shape, &mut cells)?;
    }
    Ok(match scalar {
        Scalar::F64 => Value::F64s(Array {
            shape,
            data: cells.into_iter().map(read_f64).collect::<Result<_, _>>()?,
        }),
        Scalar::I64 => Value::I64s(Array {
            shape,
            data: cells.into_iter().map(read_i64).collect::<Result<_, _>>()?,
        }),
        Scalar::Bool => Value::Bools(Array {
            shape,
            data: cells.into_iter().map(read_bool).collect::<Result<_, _>>()?,
        }),
    })
}

/// The cells of nested lists, which must be rectangular.
fn collect<'j>(
    json: &'j Json,
    depth: usize,
    shape: &mut [usize],
    cells: &mut Vec<&'j Json>,
) -> Result<(), String> {
    if depth == shape.len() {
        cells.push(json);
        return Ok(());
    }
    let Json::Array(items) = json else {
        return Err(expected(&format!("lists nested {} deep", shape.len()), json));
    };
    let first_of_its_depth = cells.is_empty();
    if first_of_its_depth {
        shape[depth] = items.len();
    } else if shape[depth] != items.len() {
        return Err(format!("rows of different lengths: {} and {}", shape[depth], items.len()));
    }
    for (k, item) in items.iter().enumerate() {
        // Before the first cell, later rows must agree with the first one too.
        if k > 0 && cells.is_empty() && depth + 1 < shape.len() {
            match item {
                Json::Array(row) if row.len() == shape[depth + 1] => {}
                _ => return Err("rows of different lengths".into()),
            }
        }
        collect(item, depth + 1, shape, cells)?;
    }
    Ok(())
}

/// Writes a value of a type.
pub fn write(program: &Program, ty: &Type, value: &Value) -> Json {
    match (ty, value) {
        (_, Value::F64(x)) => write_f64(*x),
        (_, Value::I64(x)) => json!(x),
        (_, Value::Bool(x)) => json!(x),
        (_, Value::F64s(a)) => write_block(a, |x| write_f64(*x)),
        (_, Value::I64s(a)) => write_block(a, |x| json!(x)),
        (_, Value::Bools(a)) => write_block(a, |x| json!(x)),
        (Type::Tuple(types), Value::Tuple(items)) => {
            types.iter().zip(items).map(|(t, v)| write(program, t, v)).collect()
        }
        (Type::Data(id), Value::Tuple(items)) => program.datas[*id]
            .constructors
            .first()
            .map_or(Json::Null, |con| write_fields(program, con, items)),
        (Type::Data(id), Value::Data(name, items)) => {
            let con = program.datas[*id].constructors.iter().find(|c| c.name == *name);
            let fields = con.map_or(Json::Null, |con| write_fields(program, con, items));
            Json::Object(Map::from_iter([(name.clone(), fields)]))
        }
        // An array of tuples is kept as the tuple of its arrays, and written element by element.
        (Type::Array(_, element), Value::Tuple(_) | Value::List(_)) => {
            let count = value.first_size().unwrap_or(0);
            (0..count).filter_map(|k| Some(write(program, element, &value.element(k)?))).collect()
        }
        (_, Value::Tuple(items) | Value::Data(_, items) | Value::List(items)) => {
            items.iter().map(|v| write(program, ty, v)).collect()
        }
    }
}

fn write_f64(x: f64) -> Json {
    match Number::from_f64(x) {
        Some(number) => Json::Number(number),
        None if x.is_nan() => json!("NaN"),
        None => json!(if x > 0.0 { "inf" } else { "-inf" }),
    }
}

fn write_fields(program: &Program, con: &Constructor, items: &[Value]) -> Json {
    let fields = con.fields.iter().zip(items);
    Json::Object(fields.map(|(f, v)| (f.name.to_string(), write(program, &f.ty, v))).collect())
}

fn write_block<T>(array: &Array<T>, one: impl Fn(&T) -> Json) -> Json {
    fn nest<T>(shape: &[usize], data: &[T], one: &impl Fn(&T) -> Json) -> Json {
        match shape {
            [] => data.first().map_or(Json::Null, one),
            [_, inner @ ..] => {
                let stride = inner.iter().product::<usize>().max(1);
                data.chunks(stride).map(|part| nest(inner, part, one)).collect()
            }
        }
    }
    if array.shape.contains(&0) {
        return json!({ "shape": array.shape, "data": [] });
    }
    nest(&array.shape, &array.data, &one)
}

#[cfg(test)]
mod tests {
    use super::*;
    use jut_ir::entity::EntityRef;
    use jut_ir::{Data, DataId, Field, NVar, Size, Span};

    fn n() -> Size {
        Size::var(NVar::new(0))
    }

    fn matrix() -> Type {
        Type::array(n(), Type::array(n(), Type::F64))
    }

    fn read_text(ty: &Type, text: &str) -> Result<Value, String> {
        read(&Program::default(), ty, &serde_json::from_str(text).map_err(|e| e.to_string())?)
    }

    #[test]
    fn nested_lists_become_rectangular_arrays_and_go_back() {
        let value = read_text(&matrix(), "[[1, 2.5], [\"NaN\", \"-inf\"], [-0.0, 1e300]]");
        let Ok(Value::F64s(a)) = &value else { panic!("{value:?}") };
        assert_eq!(a.shape, [3, 2]);
        assert_eq!(a.data[4].to_bits(), (-0.0f64).to_bits());
        let text = write(&Program::default(), &matrix(), &Value::F64s(a.clone())).to_string();
        assert_eq!(text, "[[1.0,2.5],[\"NaN\",\"-inf\"],[-0.0,1e+300]]");
    }

    #[test]
    fn an_array_with_a_dimension_of_zero_keeps_its_shape() {
        let value = read_text(&matrix(), "{\"shape\": [0, 3], \"data\": []}").unwrap();
        assert_eq!(value, Value::F64s(Array { shape: vec![0, 3], data: vec![] }));
        let text = write(&Program::default(), &matrix(), &value).to_string();
        assert_eq!(text, "{\"data\":[],\"shape\":[0,3]}");
    }

    #[test]
    fn what_does_not_fit_is_refused_with_a_reason() {
        for (ty, text) in [
            (Type::F64, "\"infinity\""),
            (Type::F64, "[1]"),
            (Type::I64, "1.5"),
            (Type::I64, "9223372036854775808"),
            (Type::Bool, "1"),
            (matrix(), "[1, 2]"),
            (matrix(), "[[1], [2, 3]]"),
            (matrix(), "[[], [2]]"),
            (matrix(), "[[[1]]]"),
            (matrix(), "{\"shape\": [2], \"data\": [1, 2]}"),
            (matrix(), "{\"shape\": [2, 2], \"data\": [1, 2]}"),
            (matrix(), "{\"shape\": [2, -1], \"data\": [1, 2]}"),
            (matrix(), "{\"shape\": [1, 2], \"data\": [1, 2], \"order\": 1}"),
            (Type::Tuple(vec![Type::F64, Type::I64]), "[1.0]"),
        ] {
            assert!(read_text(&ty, text).is_err(), "{text} as {ty:?}");
        }
    }

    #[test]
    fn numbers_read_to_the_nearest_float() {
        let text = "0.30000000000000004";
        assert_eq!(read_text(&Type::F64, text), Ok(Value::F64(0.1 + 0.2)));
        assert_eq!(read_text(&Type::I64, "-9223372036854775808"), Ok(Value::I64(i64::MIN)));
    }

    fn data(constructors: &[(&str, &[(&str, Type)])]) -> (Program, DataId) {
        let mut program = Program::default();
        let constructors = constructors
            .iter()
            .map(|(name, fields)| Constructor {
                name: name.to_string(),
                fields: fields
                    .iter()
                    .map(|(name, ty)| Field { name: (*name).into(), ty: ty.clone() })
                    .collect(),
            })
            .collect();
        let id = program.add_data(Data {
            name: "D".into(),
            constructors,
            doc: String::new(),
            span: Span::NONE,
        });
        (program, id)
    }

    #[test]
    fn an_array_of_records_is_read_row_by_row_and_kept_column_by_column() {
        let (program, id) = data(&[("P", &[("x", Type::F64), ("k", Type::I64)])]);
        let json = json!([{"x": 1.5, "k": 2}, {"k": 4, "x": 3.5}, [5.5, 6]]);
        let value = read(&program, &Type::array(n(), Type::Data(id)), &json).unwrap();
        let x = Value::F64s(Array { shape: vec![3], data: vec![1.5, 3.5, 5.5] });
        let k = Value::I64s(Array { shape: vec![3], data: vec![2, 4, 6] });
        assert_eq!(value, Value::Tuple(vec![x, k]));
        let ty = Type::array(n(), Type::Data(id));
        let back = json!([{"x": 1.5, "k": 2}, {"x": 3.5, "k": 4}, {"x": 5.5, "k": 6}]);
        assert_eq!(write(&program, &ty, &value), back);
        assert!(read(&program, &Type::Data(id), &json!({"x": 1.5, "k": 2, "z": 0})).is_err());
    }

    #[test]
    fn a_sum_is_an_object_with_its_constructor() {
        let (program, id) = data(&[("A", &[("r", Type::F64)]), ("B", &[])]);
        let ty = Type::Data(id);
        let value = read(&program, &ty, &json!({"A": {"r": 2.0}})).unwrap();
        assert_eq!(value, Value::Data("A".into(), vec![Value::F64(2.0)]));
        assert_eq!(write(&program, &ty, &value), json!({"A": {"r": 2.0}}));
        assert_eq!(read(&program, &ty, &json!("B")), Ok(Value::Data("B".into(), vec![])));
        assert!(read(&program, &ty, &json!("C")).is_err());
    }
}

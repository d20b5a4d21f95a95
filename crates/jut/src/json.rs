//! Values as JSON, guided by the declared type.
//!
//! | type | JSON |
//! |---|---|
//! | `f64` | a number, or `"NaN"`, `"inf"`, `"-inf"`; [`parse`] also reads `NaN`, `Infinity` and `-Infinity` as Python writes them |
//! | `i64` | a number without fraction |
//! | `bool` | `true`, `false` |
//! | `[n, m]f64` | nested lists; `{"shape": [..], "data": [..]}` (row by row) where a dimension is 0 |
//! | `#(t, u)` | a list of the components |
//! | a record | an object with its fields, or a list of them in order |
//! | a sum | an object with one key, the constructor; its value is as for a record; without fields also its name |
//! | a derivative of a record or sum, or with respect to one | an object with those of its fields that have floats, or a list of them in order; of a sum under `Constructor.field` |
//! | a derivative of recursive data, or of a record that measures its arrays | as the value, with those of the fields that have floats |
//! | an array of records or of a sum | a list of its elements |
//!
//! Numbers are read to the nearest binary64 and written in the shortest form that reads back to
//! the same bits.

use crate::border::{LEVELS, ZERO, has_room, too_deep};
use crate::layout::{Labels, peel, stack};
use crate::value::{self, Array, Value};
use jut_ir::{ConRef, Constructor, DataId, Field, Program, Scalar, Type, Width};
use serde::Deserialize;
use serde_json::{Value as Json, json};
use std::collections::BTreeMap;

mod sum;
mod write;

pub use write::{View, write};

/// Parses JSON, in which numbers may also be `NaN`, `Infinity` and `-Infinity`, as Python writes them.
///
/// # Errors
/// What is not JSON, with line and column.
///
/// ```
/// # fn main() -> Result<(), serde_json::Error> {
/// let json = jut::json::parse("[1.5, NaN, -Infinity]")?;
/// assert_eq!(json, serde_json::json!([1.5, "NaN", "-inf"]));
/// # Ok(())
/// # }
/// ```
pub fn parse(text: &str) -> serde_json::Result<Json> {
    if levels(text) <= DEEP {
        return parsed(text);
    }
    // What is deeper than any value is refused by serde itself, and so is what is left of a thread's stack.
    if levels(text) > 3 * LEVELS + DEEP {
        return serde_json::from_str(text);
    }
    std::thread::scope(|scope| {
        let builder = std::thread::Builder::new().stack_size(STACK);
        let own = builder.spawn_scoped(scope, || parsed(text)).ok();
        own.and_then(|thread| thread.join().ok()).unwrap_or_else(|| serde_json::from_str(text))
    })
}

/// Text with fewer levels is read on the stack of the caller.
const DEEP: usize = 100;

/// The stack on which deeper text is read: some 10 KiB for a level.
const STACK: usize = 32 << 20;

fn parsed(text: &str) -> serde_json::Result<Json> {
    fn read(text: &str) -> serde_json::Result<Json> {
        let mut reader = serde_json::Deserializer::from_str(text);
        reader.disable_recursion_limit();
        let json = Json::deserialize(&mut reader)?;
        reader.end()?;
        Ok(json)
    }
    read(text).or_else(|error| match with_special_numbers(text) {
        Some(text) => read(&text),
        None => Err(error),
    })
}

/// How many lists and objects are in each other, at most.
fn levels(text: &str) -> usize {
    let (mut level, mut most) = (0usize, 0);
    let (mut in_string, mut escaped) = (false, false);
    for byte in text.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            _ if in_string => {}
            b'[' | b'{' => {
                level += 1;
                most = most.max(level);
            }
            b']' | b'}' => level = level.saturating_sub(1),
            _ => {}
        }
    }
    most
}

/// The text with the words for special numbers as strings; `None` if it has none.
fn with_special_numbers(text: &str) -> Option<String> {
    const WORDS: [(&str, &str); 3] =
        [("NaN", "\"NaN\""), ("-Infinity", "\"-inf\""), ("Infinity", "\"inf\"")];
    let (mut out, mut done, mut at) = (String::new(), 0, 0);
    let bytes = text.as_bytes();
    let in_word = |at: usize| {
        bytes.get(at).is_some_and(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.'))
    };
    while at < bytes.len() {
        if bytes[at] == b'"' {
            at += 1;
            while at < bytes.len() && bytes[at] != b'"' {
                at += if bytes[at] == b'\\' { 2 } else { 1 };
            }
            at += 1;
        } else if in_word(at) {
            let start = at;
            while in_word(at) {
                at += 1;
            }
            if let Some((_, string)) = WORDS.iter().find(|(word, _)| text[start..at] == **word) {
                out.push_str(&text[done..start]);
                out.push_str(string);
                done = at;
            }
        } else {
            at += 1;
        }
    }
    (done > 0).then(|| out + &text[done..])
}

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

/// A number, or an array of numbers, of a file, in the width that a type has.
pub(crate) fn fitted(ty: &Type, value: Value) -> Value {
    match (peel(ty).1, value) {
        (&Type::F32, Value::F64(x)) => Value::F32(x as f32),
        (&Type::F32, Value::F64s(Array { shape, data })) => {
            Value::F32s(Array { shape, data: data.into_iter().map(|x| x as f32).collect() })
        }
        (Type::I32, Value::I64(x)) => i32::try_from(x).map_or(Value::I64(x), Value::I32),
        (Type::I32, Value::I64s(Array { shape, data })) => {
            // What does not fit is refused as what it is.
            match data.iter().map(|x| i32::try_from(*x)).collect() {
                Ok(data) => Value::I32s(Array { shape, data }),
                Err(_) => Value::I64s(Array { shape, data }),
            }
        }
        (_, value) => value,
    }
}

/// Reads a value of a type.
///
/// # Errors
/// What does not fit, in words.
pub fn read(program: &Program, ty: &Type, json: &Json) -> Result<Value, String> {
    match ty {
        Type::Float(Width::Single) => read_f32(json).map(Value::F32),
        Type::Float(Width::Double) => read_f64(json).map(Value::F64),
        Type::I64 => read_i64(json).map(Value::I64),
        Type::I32 => read_i32(json).map(Value::I32),
        Type::Bool => read_bool(json).map(Value::Bool),
        Type::Tuple(items)
            if let Some((_, data, record)) = program.record(items)
                && record.is_sum() =>
        {
            sum::read(program, data, record, json)
        }
        Type::Tuple(items) if let Some((_, data, record)) = program.record(items) => {
            read_fields(program, &data.name, &record.fields, json).map(Value::Tuple)
        }
        Type::Tuple(items) => {
            let parts = list(json, items.len())?;
            items
                .iter()
                .zip(parts)
                .map(|(t, j)| read(program, t, j))
                .collect::<Result<_, _>>()
                .map(Value::Tuple)
        }
        Type::Data(id) if program.is_tangent(*id) => read_tangent(program, *id, json),
        Type::Data(id) => match program.datas[*id].constructors.as_slice() {
            [con] => read_fields(program, &con.name, &con.fields, json).map(Value::Tuple),
            cons => {
                let names = || cons.iter().map(|c| c.name.as_str()).collect::<Vec<_>>().join(", ");
                let (name, fields) = constructor(json)
                    .ok_or_else(|| format!("expected an object with one of {}", names()))?;
                let con = cons.iter().find(|c| c.name == *name);
                let con = con.ok_or_else(|| format!("`{name}` is not one of {}", names()))?;
                let empty = json!([]);
                let fields = if fields.is_null() { &empty } else { fields };
                let fields = read_fields(program, &con.name, &con.fields, fields)?;
                Ok(Value::Data(con.name.clone(), fields))
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

/// The constructor that is written, and its fields.
fn constructor(json: &Json) -> Option<(&String, &Json)> {
    match json {
        Json::String(name) => Some((name, &Json::Null)),
        Json::Object(map) if map.len() == 1 => map.iter().next(),
        _ => None,
    }
}

/// The tangent of a value of a data type: its constructor, and those of its fields that have floats.
fn read_tangent(program: &Program, tangent: DataId, json: &Json) -> Result<Value, String> {
    let source = program.tangent_of(tangent).ok_or("not a tangent")?;
    let constructors = &program.datas[source].constructors;
    if json == ZERO && constructors.iter().all(|con| con.name != ZERO) {
        return Ok(Value::Data(ZERO.into(), Vec::new()));
    }
    let (index, fields) = match constructors.as_slice() {
        [_] => (0, json),
        cons => {
            let names = || cons.iter().map(|c| c.name.as_str()).collect::<Vec<_>>().join(", ");
            let (name, fields) = constructor(json)
                .ok_or_else(|| format!("expected an object with one of {}", names()))?;
            let index = cons.iter().position(|con| con.name == *name);
            (index.ok_or_else(|| format!("`{name}` is not one of {}", names()))?, fields)
        }
    };
    let con = ConRef { data: source, index: index as u32 };
    let declared = program.tangent_constructor(con).map(|con| program.constructor(con));
    let floats = declared.into_iter().flat_map(|con| &con.fields).filter(|f| f.ty != Type::I64);
    // As those of a constructor with these fields alone.
    let with_floats = Constructor {
        name: program.constructor(con).name.clone(),
        fields: floats.cloned().collect(),
    };
    let empty = json!([]);
    let fields = if fields.is_null() { &empty } else { fields };
    let fields = read_fields(program, &with_floats.name, &with_floats.fields, fields)?;
    Ok(match constructors.len() {
        1 => Value::Tuple(fields),
        _ => Value::Data(with_floats.name, fields),
    })
}

/// Reads a tangent, whose components may be given by their names.
pub(crate) fn read_named(
    program: &Program,
    (ty, labels): (&Type, &Labels),
    json: &Json,
) -> Result<Value, String> {
    match (ty, json) {
        (Type::Tuple(items), Json::Object(map)) => {
            let Some(names) = labels.fields(items.len()) else { return read(program, ty, json) };
            if let Some(extra) = map.keys().find(|key| names.iter().all(|(name, _)| name != *key)) {
                return Err(format!("there is no component `{extra}`"));
            }
            let one = |((name, inner), item): (&(String, Labels), &Type)| {
                let json = map.get(name).ok_or_else(|| format!("component `{name}` is missing"))?;
                read_named(program, (item, inner), json).map_err(|e| format!("{name}: {e}"))
            };
            names.iter().zip(items).map(one).collect::<Result<_, _>>().map(Value::Tuple)
        }
        (Type::Tuple(items), Json::Array(parts)) if parts.len() == items.len() => {
            let none = Labels::default();
            let one = |(k, (item, json)): (usize, (&Type, &Json))| {
                let inner = labels.component(k).map_or(&none, |(_, inner)| inner);
                read_named(program, (item, inner), json)
            };
            let parts = items.iter().zip(parts).enumerate();
            parts.map(one).collect::<Result<_, _>>().map(Value::Tuple)
        }
        (Type::Array(_, element), Json::Array(items)) if Scalar::of(peel(ty).1).is_none() => {
            let items: Result<Vec<Value>, String> =
                items.iter().map(|j| read_named(program, (element, labels), j)).collect();
            stack(program, element, &items?).ok_or_else(|| "elements of different sizes".into())
        }
        _ => read(program, ty, json),
    }
}

/// How a value of a type is written, in a few words.
pub(crate) fn how_to_write(program: &Program, ty: &Type) -> &'static str {
    match ty {
        Type::Float(_) => "write a number, \"NaN\", \"inf\" or \"-inf\"",
        Type::I64 => "write a number without fraction",
        Type::I32 => "write a number without fraction, from -2147483648 to 2147483647",
        Type::Bool => "write true or false",
        Type::Array(..) => match peel(ty).1 {
            Type::Data(_) | Type::Tuple(_) => "write a list of the elements",
            _ => {
                "write nested lists, or {\"shape\": [..], \"data\": [..]} with the elements row by row"
            }
        },
        Type::Tuple(items) if program.record(items).is_some_and(|(.., r)| r.is_sum()) => {
            "write an object with the constructor: {\"Box\": {\"w\": 2, \"h\": 3}}"
        }
        Type::Tuple(items) if program.record(items).is_some() => {
            "write an object with the fields, or a list of them in order"
        }
        Type::Tuple(_) => "write a list of the components",
        Type::Data(id) => match program.datas[*id].constructors.as_slice() {
            [_] => "write an object with the fields, or a list of them in order",
            _ => "write an object with the constructor: {\"Box\": {\"w\": 2, \"h\": 3}}",
        },
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
        Json::String(s) if s == "inf" || s == "Infinity" => Ok(f64::INFINITY),
        Json::String(s) if s == "-inf" || s == "-Infinity" => Ok(f64::NEG_INFINITY),
        _ => Err(expected("a number, \"NaN\", \"inf\" or \"-inf\"", json)),
    }
}

/// The nearest number of 32 bits.
fn read_f32(json: &Json) -> Result<f32, String> {
    let x = read_f64(json)?;
    match x as f32 {
        near if x.is_finite() && near.is_infinite() => {
            Err(format!("{json} is larger than any f32"))
        }
        near => Ok(near),
    }
}

fn read_i64(json: &Json) -> Result<i64, String> {
    json.as_i64().ok_or_else(|| expected("an integer", json))
}

fn read_i32(json: &Json) -> Result<i32, String> {
    let n = read_i64(json)?;
    i32::try_from(n).map_err(|_| format!("expected an integer of 32 bits, got {n}"))
}

fn read_bool(json: &Json) -> Result<bool, String> {
    json.as_bool().ok_or_else(|| expected("true or false", json))
}

fn read_fields(
    program: &Program,
    of: &str,
    fields: &[Field],
    json: &Json,
) -> Result<Vec<Value>, String> {
    if !has_room(0) {
        return Err(too_deep());
    }
    let part = |k: usize, name: &str| match json {
        Json::Object(map) => map.get(name).ok_or_else(|| format!("field `{name}` is missing")),
        Json::Array(items) if items.len() == fields.len() => Ok(&items[k]),
        _ => match fields {
            [one] => Err(expected(&format!("the field `{}` of {of}", one.name), json)),
            _ => Err(expected(&format!("the {} fields of {of}", fields.len()), json)),
        },
    };
    if let Json::Object(map) = json
        && let Some(extra) = map.keys().find(|key| fields.iter().all(|f| f.name != **key))
    {
        return Err(format!("{of} has no field `{extra}`"));
    }
    let read_one = |(k, field): (usize, &Field)| {
        let value = read(program, &field.ty, part(k, &field.name)?);
        // Of paths through many levels the end is enough.
        value.map_err(|e| if e.len() > 200 { e } else { format!("{}: {e}", field.name) })
    };
    fields.iter().enumerate().map(read_one).collect()
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
        match value::cells(&shape) {
            Some(count) if count == data.len() => {}
            Some(count) => {
                return Err(format!("the shape has {count} elements, data has {}", data.len()));
            }
            None => return Err("no array has a shape as large".into()),
        }
        cells.extend(data);
    } else {
        collect(json, 0, &mut shape, &mut cells)?;
    }
    fn array<T>(
        shape: Vec<usize>,
        cells: Vec<&Json>,
        read: impl Fn(&Json) -> Result<T, String>,
    ) -> Result<Array<T>, String> {
        Ok(Array { shape, data: cells.into_iter().map(read).collect::<Result<_, _>>()? })
    }
    Ok(match scalar {
        Scalar::F64 => Value::F64s(array(shape, cells, read_f64)?),
        Scalar::F32 => Value::F32s(array(shape, cells, read_f32)?),
        Scalar::I64 => Value::I64s(array(shape, cells, read_i64)?),
        Scalar::I32 => Value::I32s(array(shape, cells, read_i32)?),
        Scalar::Bool => Value::Bools(array(shape, cells, read_bool)?),
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

#[cfg(test)]
mod tests {
    use super::*;
    use jut_ir::entity::EntityRef;
    use jut_ir::{Constructor, Data, DataId, NVar, Size, Span};

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
        let text =
            write(&Program::default(), &matrix(), &Value::F64s(a.clone())).unwrap().to_string();
        assert_eq!(text, "[[1.0,2.5],[\"NaN\",\"-inf\"],[-0.0,1e+300]]");
    }

    #[test]
    fn an_array_with_a_dimension_of_zero_keeps_its_shape() {
        let value = read_text(&matrix(), "{\"shape\": [0, 3], \"data\": []}").unwrap();
        assert_eq!(value, Value::F64s(Array { shape: vec![0, 3], data: vec![] }));
        let text = write(&Program::default(), &matrix(), &value).unwrap().to_string();
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
            tangent: None,
            record: None,
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
        assert_eq!(write(&program, &ty, &value), Ok(back));
        assert!(read(&program, &Type::Data(id), &json!({"x": 1.5, "k": 2, "z": 0})).is_err());
    }

    #[test]
    fn a_sum_is_an_object_with_its_constructor() {
        let (program, id) = data(&[("A", &[("r", Type::F64)]), ("B", &[])]);
        let ty = Type::Data(id);
        let value = read(&program, &ty, &json!({"A": {"r": 2.0}})).unwrap();
        assert_eq!(value, Value::Data("A".into(), vec![Value::F64(2.0)]));
        assert_eq!(write(&program, &ty, &value), Ok(json!({"A": {"r": 2.0}})));
        assert_eq!(read(&program, &ty, &json!("B")), Ok(Value::Data("B".into(), vec![])));
        assert!(read(&program, &ty, &json!("C")).is_err());
    }
    #[test]
    fn numbers_as_python_writes_them_are_read() {
        let text = "{\"a\": NaN, \"NaN\": [Infinity,-Infinity], \"c\\\"NaN, Infinity\": -1.5e-3}";
        let wanted = json!({"a": "NaN", "NaN": ["inf", "-inf"], "c\"NaN, Infinity": -1.5e-3});
        assert_eq!(parse(text).unwrap(), wanted);
        let back = read_text(&Type::F64, "-Infinity");
        assert!(back.is_err(), "serde_json alone reads no such numbers");
        assert_eq!(
            read(&Program::default(), &Type::F64, &parse("-Infinity").unwrap()),
            Ok(Value::F64(f64::NEG_INFINITY))
        );
        for wrong in ["[NaN", "nan", "[-NaN]", "[Infinity1]", "[1.NaN]", "\"NaN", "\"\\", "[é NaN]"]
        {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_shape_that_no_array_has_is_refused_at_once() {
        for shape in
            ["[9223372036854775807, 0]", "[0, 9223372036854775807]", "[4294967296, 4294967296]"]
        {
            let text = format!("{{\"shape\": {shape}, \"data\": []}}");
            assert!(read_text(&matrix(), &text).is_err(), "{shape}");
        }
        assert!(read_text(&matrix(), "{\"shape\": [1000, 0], \"data\": []}").is_ok());
    }

    #[test]
    fn a_value_that_is_not_consistent_is_refused_at_once() {
        let (program, id) = data(&[("P", &[("x", Type::F64), ("k", Type::I64)])]);
        let floats = |shape: &[usize], count| {
            Value::F64s(Array { shape: shape.to_vec(), data: vec![1.0; count] })
        };
        let points = Type::array(n(), Type::Data(id));
        let huge = floats(&[usize::MAX, 0], 0);
        for (ty, value) in [
            (matrix(), floats(&[2, 3], 5)),
            (matrix(), floats(&[2, 3], 7)),
            (matrix(), floats(&[2, 0], 1)),
            (matrix(), floats(&[6], 6)),
            (matrix(), floats(&[usize::MAX, usize::MAX], 1)),
            (matrix(), huge.clone()),
            (points.clone(), Value::Tuple(vec![floats(&[2], 2), floats(&[2], 2)])),
            (points.clone(), Value::Tuple(vec![floats(&[2], 2)])),
            (points.clone(), Value::Tuple(vec![huge.clone(), huge])),
            (points, Value::Tuple(vec![floats(&[2], 2), Value::I64s(Array::default())])),
            (Type::F64, Value::I64(1)),
            (Type::Data(id), Value::Tuple(vec![Value::F64(1.0)])),
        ] {
            assert!(write(&program, &ty, &value).is_err(), "{value:?} as {ty:?}");
        }
    }
}

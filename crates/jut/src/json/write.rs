//! Writing: a [`View`] of a value is what serde writes, to a text or to a stream; nothing is made of all
//! of it.

use super::sum;
use crate::border::{ZERO, has_room, too_deep};
use crate::layout::{Labels, peel};
use crate::value::{Array, Value, numbers};
use jut_ir::{ConRef, DataId, Field, Program, Type};
use serde::ser::{Error as _, SerializeMap, SerializeSeq};
use serde::{Serialize, Serializer};
use serde_json::Value as Json;

/// A value of a type as JSON, for [serde's writers](serde_json::to_writer). Keys are sorted.
///
/// Writing it fails, besides for the writer, for a value that is not of the type and for an array whose
/// elements are not those of its shape.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let model = jut::Model::from_text("def f[n](x: [n]f64) -> [n]f64 = build (i < n) { x[i] / 2.0 }")?;
/// let f = model.function("f")?.value()?;
/// let results = f.call(&[(&[1.0, 3.0]).into()])?;
/// let mut out = Vec::new();
/// serde_json::to_writer(&mut out, &f.view_json(0, &results[0])?)?;
/// assert_eq!(out, b"[0.5,1.5]");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy)]
pub struct View<'a> {
    program: &'a Program,
    ty: &'a Type,
    value: &'a Value,
    /// The names of the components of a tangent.
    labels: Option<&'a Labels>,
}

impl std::fmt::Debug for View<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.value.fmt(f)
    }
}

/// Writes a value of a type.
///
/// # Errors
/// A value that is not of the type, or an array whose elements are not those of its shape, in words.
pub fn write(program: &Program, ty: &Type, value: &Value) -> Result<Json, String> {
    serde_json::to_value(View::new(program, ty, value)).map_err(|reason| reason.to_string())
}

const INCONSISTENT: &str = "an array whose elements are not those of its shape";

impl<'a> View<'a> {
    /// A value of a type of the program.
    pub fn new(program: &'a Program, ty: &'a Type, value: &'a Value) -> View<'a> {
        View { program, ty, value, labels: None }
    }

    /// A tangent whose components have names.
    pub(crate) fn named(
        program: &'a Program,
        (ty, labels): (&'a Type, &'a Labels),
        value: &'a Value,
    ) -> View<'a> {
        View { program, ty, value, labels: Some(labels) }
    }

    fn of(self, ty: &'a Type, value: &'a Value) -> View<'a> {
        View { ty, value, labels: None, ..self }
    }

    /// A component of a tuple.
    fn component(self, number: usize, ty: &'a Type, value: &'a Value) -> View<'a> {
        let labels = self.labels.and_then(|labels| labels.component(number));
        View { ty, value, labels: labels.map(|(_, inner)| inner), ..self }
    }

    fn misfit<S: Serializer>(self) -> Result<S::Ok, S::Error> {
        Err(S::Error::custom(format_args!("{} is not of the result's type", self.value.describe())))
    }

    /// The tangent of a value of a data type, with those of its fields that have floats.
    fn tangent<S: Serializer>(
        self,
        tangent: DataId,
        value: &'a Value,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let program = self.program;
        let Some(source) = program.tangent_of(tangent) else { return self.misfit::<S>() };
        let constructors = &program.datas[source].constructors;
        let (index, items) = match (constructors.as_slice(), value) {
            ([_], Value::Tuple(items)) => (Some(0), items),
            (cons, Value::Data(name, items)) => {
                (cons.iter().position(|con| con.name == *name), items)
            }
            _ => return self.misfit::<S>(),
        };
        let Some(index) = index else { return ZERO.serialize(serializer) };
        let con = ConRef { data: source, index: index as u32 };
        let declared = program.tangent_constructor(con).map(|con| program.constructor(con));
        let floats = declared.into_iter().flat_map(|con| &con.fields);
        let fields: Vec<&Field> = floats.filter(|f| f.ty != Type::I64).collect();
        let fields = Parts { around: self, fields, items, sizes: &[] };
        match value {
            Value::Data(name, _) => serializer.collect_map([(name, fields)]),
            _ => fields.serialize(serializer),
        }
    }

    /// The elements of an array that is kept as the tuple of its arrays, one after another.
    fn elements<S: Serializer>(self, element: &'a Type, serializer: S) -> Result<S::Ok, S::Error> {
        let count = count(self.value).map_err(S::Error::custom)?;
        let mut list = serializer.serialize_seq(Some(count))?;
        for k in 0..count {
            let value = self.value.element(k).ok_or_else(|| S::Error::custom(INCONSISTENT))?;
            let (program, labels) = (self.program, self.labels);
            list.serialize_element(&View { program, ty: element, value: &value, labels })?;
        }
        list.end()
    }
}

impl Serialize for View<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let program = self.program;
        match (self.ty, self.value) {
            (&Type::F64, Value::F64(x)) => Float(*x).serialize(serializer),
            (&Type::F32, Value::F32(x)) => Single(*x).serialize(serializer),
            (Type::I32, Value::I32(x)) => x.serialize(serializer),
            (Type::I64, Value::I64(x)) => x.serialize(serializer),
            (Type::Bool, Value::Bool(x)) => x.serialize(serializer),
            (Type::Tuple(types), Value::Tuple(items))
                if let Some((_, data, record)) = program.record(types)
                    && record.is_sum() =>
            {
                let Some(chosen) = sum::chosen(program, data, record, items) else {
                    return self.misfit::<S>();
                };
                let sum::Chosen { index, sizes, fields: items } = chosen;
                let fields: Vec<&Field> = record.fields_of(index).iter().collect();
                let name = &data.constructors[index].name;
                let parts = Parts { around: *self, fields, items, sizes: &sizes };
                serializer.collect_map([(name, parts)])
            }
            (Type::Tuple(types), Value::Tuple(items))
                if let Some((.., record)) = program.record(types) =>
            {
                let fields = &record.fields;
                Fields { around: *self, fields, items }.serialize(serializer)
            }
            (Type::Tuple(types), Value::Tuple(items)) if types.len() == items.len() => {
                let parts = types.iter().zip(items).enumerate();
                let mut parts = parts.map(|(k, (ty, value))| self.component(k, ty, value));
                match self.labels.and_then(|labels| labels.fields(types.len())) {
                    None => serializer.collect_seq(parts),
                    Some(names) => {
                        let mut named: Vec<(&str, View)> = names
                            .iter()
                            .map(|(name, _)| name.as_str())
                            .zip(parts.by_ref())
                            .collect();
                        named.sort_by_key(|(name, _)| *name);
                        serializer.collect_map(named)
                    }
                }
            }
            (Type::Data(id), value) if program.is_tangent(*id) => {
                self.tangent(*id, value, serializer)
            }
            (Type::Data(id), Value::Tuple(items)) => {
                match program.datas[*id].constructors.as_slice() {
                    [con] => {
                        let fields = &con.fields;
                        Fields { around: *self, fields, items }.serialize(serializer)
                    }
                    _ => {
                        let name = &program.datas[*id].name;
                        let what = format_args!("expected one of the constructors of {name}");
                        Err(S::Error::custom(what))
                    }
                }
            }
            (Type::Data(id), Value::Data(name, items)) => {
                let con = program.datas[*id].constructors.iter().find(|c| c.name == *name);
                let Some(con) = con else {
                    return Err(S::Error::custom(format_args!("`{name}` is no constructor")));
                };
                let fields = &con.fields;
                serializer.collect_map([(name, Fields { around: *self, fields, items })])
            }
            (Type::Array(_, element), value) => match (peel(self.ty), value) {
                ((rank, &Type::F64), Value::F64s(a)) => {
                    write_block(a, rank, &|x| Float(*x), serializer)
                }
                ((rank, &Type::F32), Value::F32s(a)) => {
                    write_block(a, rank, &|x| Single(*x), serializer)
                }
                ((rank, Type::I64), Value::I64s(a)) => write_block(a, rank, &|x| *x, serializer),
                ((rank, Type::I32), Value::I32s(a)) => write_block(a, rank, &|x| *x, serializer),
                ((rank, Type::Bool), Value::Bools(a)) => write_block(a, rank, &|x| *x, serializer),
                // An array of tuples is kept as the tuple of its arrays, and written element by element.
                (_, Value::Tuple(_) | Value::List(_)) => self.elements(element, serializer),
                _ => self.misfit::<S>(),
            },
            _ => self.misfit::<S>(),
        }
    }
}

/// The number of elements of an array of any kind, whose parts must have as many and be whole.
fn count(value: &Value) -> Result<usize, String> {
    let whole = numbers!(Value, value;
        _ => true,
        [a] => a.is_consistent(),
        Value::Tuple(items) => {
            let counts: Vec<usize> = items.iter().map(count).collect::<Result<_, _>>()?;
            counts.windows(2).all(|pair| pair[0] == pair[1])
        }
        _ => true,
    );
    match whole {
        true => Ok(value.first_size().unwrap_or(0)),
        false => Err(INCONSISTENT.into()),
    }
}

/// A number; JSON has none for what is not finite.
struct Float(f64);

impl Serialize for Float {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            x if x.is_finite() => serializer.serialize_f64(x),
            x if x.is_nan() => serializer.serialize_str("NaN"),
            x => serializer.serialize_str(if x > 0.0 { "inf" } else { "-inf" }),
        }
    }
}

/// A number of 32 bits: the shortest digits that read back to it.
struct Single(f32);

impl Serialize for Single {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            x if x.is_finite() => serializer.serialize_f32(x),
            x => Float(f64::from(x)).serialize(serializer),
        }
    }
}

/// The fields of a record or of a constructor.
struct Fields<'a> {
    around: View<'a>,
    fields: &'a [Field],
    items: &'a [Value],
}

impl Serialize for Fields<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Fields { around, fields, items } = *self;
        Parts { around, fields: fields.iter().collect(), items, sizes: &[] }.serialize(serializer)
    }
}

/// Some fields, with as many values.
struct Parts<'a> {
    around: View<'a>,
    fields: Vec<&'a Field>,
    items: &'a [Value],
    /// Sizes that do not follow from these fields.
    sizes: &'a [(String, i64)],
}

impl Serialize for Parts<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Parts { around, fields, items, sizes } = self;
        if !has_room(0) {
            return Err(S::Error::custom(too_deep()));
        }
        if items.len() != fields.len() {
            let (has, found) = (fields.len(), items.len());
            return Err(S::Error::custom(format_args!("there are {has} fields, not {found}")));
        }
        let mut fields: Vec<_> = fields.iter().copied().zip(*items).collect();
        fields.sort_by_key(|(field, _)| field.name.as_str());
        let mut map = serializer.serialize_map(Some(fields.len() + sizes.len()))?;
        for (field, value) in fields {
            map.serialize_entry(field.name.as_str(), &around.of(&field.ty, value))?;
        }
        for (name, size) in *sizes {
            map.serialize_entry(name, size)?;
        }
        map.end()
    }
}

/// Lists in lists; a shape beside no elements where a dimension is 0.
fn write_block<T, J: Serialize, S: Serializer>(
    array: &Array<T>,
    rank: usize,
    one: &impl Fn(&T) -> J,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    if array.shape.len() != rank || !array.is_consistent() {
        return Err(S::Error::custom(INCONSISTENT));
    }
    if array.shape.contains(&0) {
        let mut map = serializer.serialize_map(Some(2))?;
        map.serialize_entry("data", &[(); 0])?;
        map.serialize_entry("shape", &array.shape)?;
        return map.end();
    }
    Nested { shape: &array.shape, data: &array.data, one }.serialize(serializer)
}

/// A part of an array that has elements.
struct Nested<'a, T, F> {
    shape: &'a [usize],
    data: &'a [T],
    one: &'a F,
}

impl<T, J: Serialize, F: Fn(&T) -> J> Serialize for Nested<'_, T, F> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let one = self.one;
        match self.shape {
            [] | [_] => serializer.collect_seq(self.data.iter().map(one)),
            [_, inner @ ..] => {
                let stride = inner.iter().product::<usize>().max(1);
                let parts = self.data.chunks(stride);
                serializer.collect_seq(parts.map(|data| Nested { shape: inner, data, one }))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jut_ir::Size;
    use std::io::{Error, Write};

    /// Remembers how much it got at once, and has room for so much.
    struct Narrow {
        largest: usize,
        all: usize,
        room: usize,
    }

    impl Write for Narrow {
        fn write(&mut self, text: &[u8]) -> Result<usize, Error> {
            self.largest = self.largest.max(text.len());
            self.all += text.len();
            match self.all <= self.room {
                true => Ok(text.len()),
                false => Err(Error::other("full")),
            }
        }

        fn flush(&mut self) -> Result<(), Error> {
            Ok(())
        }
    }

    #[test]
    fn large_values_are_written_number_by_number() {
        let size = || Size::constant(1);
        let program = Program::default();
        let floats = Array { shape: vec![1000, 1000], data: vec![-1.0 / 3.0; 1_000_000] };
        let ints = Array { shape: vec![1000], data: vec![7; 1000] };
        let matrix = Type::array(size(), Type::array(size(), Type::F64));
        let pairs = Type::Tuple(vec![Type::array(size(), Type::F64), Type::I64]);
        let pairs = Type::array(size(), pairs);
        let both = Value::Tuple(vec![Value::F64s(floats.clone()), Value::I64s(ints)]);
        for (ty, value) in [(matrix, Value::F64s(floats)), (pairs, both)] {
            let view = View::new(&program, &ty, &value);
            let mut narrow = Narrow { largest: 0, all: 0, room: usize::MAX };
            serde_json::to_writer(&mut narrow, &view).expect("it has room");
            assert!(narrow.all > 15_000_000, "{}", narrow.all);
            assert!(narrow.largest <= 32, "{}", narrow.largest);
            let mut narrow = Narrow { largest: 0, all: 0, room: 1000 };
            assert!(serde_json::to_writer(&mut narrow, &view).expect_err("it is full").is_io());
            assert!(narrow.all < 1100, "it stops there: {}", narrow.all);
        }
    }
}

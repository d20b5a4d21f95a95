//! Sums with sizes as parameters ([`jut_ir::record`]) in JSON: written as other sums are, with the fields of their own
//! constructor.
//!
//! ```text
//! data Shape[n] = Ball(c: [n]f64, r: f64) | Box(low: [n]f64, high: [n]f64) | Nothing
//! {"Ball": {"c": [1, 2], "r": 3}}     Tuple([[1, 2], 3, [0, 0], [0, 0], Data("Ball", [])])
//! {"Nothing": {"n": 2}}               Tuple([[0, 0], 0, [0, 0], [0, 0], Data("Nothing", [])])
//! ```
//!
//! A size that no field of the constructor has stands beside the fields. *Cost*: linear in the cells of all fields.

use super::{constructor, read_fields, read_i64};
use crate::layout::is_flat;
use crate::value::{Array, Number, Value, cells, of_kind};
use jut_ir::entity::EntityRef;
use jut_ir::parameter;
use jut_ir::{Data, NVar, Program, Record, Scalar, Size, Type};
use serde_json::{Map, Value as Json};

/// Reads a value.
///
/// # Errors
/// What does not fit, in words.
pub(super) fn read(
    program: &Program,
    data: &Data,
    record: &Record,
    json: &Json,
) -> Result<Value, String> {
    let names = || data.constructors.iter().map(|c| c.name.as_str()).collect::<Vec<_>>().join(", ");
    let (name, fields) =
        constructor(json).ok_or_else(|| format!("expected an object with one of {}", names()))?;
    let index = data.constructors.iter().position(|con| con.name == *name);
    let index = index.ok_or_else(|| format!("`{name}` is not one of {}", names()))?;
    let own = record.fields_of(index);
    let (mut sizes, mut rest) = (vec![None; record.params.len()], fields.clone());
    match &mut rest {
        Json::Object(map) => {
            for (size, name) in sizes.iter_mut().zip(&record.params) {
                if let Some(json) = map.remove(name.as_str()) {
                    *size = Some(read_i64(&json).map_err(|e| format!("{name}: {e}"))?);
                }
            }
        }
        Json::Null => rest = Json::Object(Map::new()),
        _ => {}
    }
    let mut given = read_fields(program, name, own, &rest)?.into_iter();
    for (field, value) in own.iter().zip(given.as_slice()) {
        find_sizes(program, &field.ty, value, &mut sizes);
    }
    if let Some(k) = sizes.iter().position(Option::is_none) {
        let size = &record.params[k];
        return Err(format!(
            "no field of `{name}` says what `{size}` is: give it beside them, {{\"{name}\": {{\"{size}\": 3}}}}"
        ));
    }
    let mut items = Vec::with_capacity(record.fields.len() + 1);
    for (k, field) in record.fields.iter().enumerate() {
        items.push(match record.of_constructor(index).contains(&k) {
            true => given.next().ok_or("too few fields")?,
            false => absent(program, &field.ty, &[], &sizes)
                .ok_or_else(|| format!("no array is as large as `{}` would be", field.name))?,
        });
    }
    items.push(Value::Data(name.clone(), Vec::new()));
    Ok(Value::Tuple(items))
}

/// What is written of a value.
pub(super) struct Chosen<'v> {
    /// The number of its constructor.
    pub index: usize,
    /// The sizes that do not follow from its own fields.
    pub sizes: Vec<(String, i64)>,
    /// Its own fields.
    pub fields: &'v [Value],
}

/// The constructor of a value and its own fields; `None` if it is no value of the type.
pub(super) fn chosen<'v>(
    program: &Program,
    data: &Data,
    record: &Record,
    items: &'v [Value],
) -> Option<Chosen<'v>> {
    let Some((Value::Data(name, _), parts)) = items.split_last() else { return None };
    let index = data.constructors.iter().position(|con| con.name == *name)?;
    let own = record.of_constructor(index);
    let (mut by_own, mut by_all) =
        (vec![None; record.params.len()], vec![None; record.params.len()]);
    for (k, (field, value)) in record.fields.iter().zip(parts).enumerate() {
        if own.contains(&k) {
            find_sizes(program, &field.ty, value, &mut by_own);
        }
        find_sizes(program, &field.ty, value, &mut by_all);
    }
    let open = record.params.iter().zip(by_own).zip(by_all);
    let open = open.filter(|((_, own), _)| own.is_none());
    let more = open.filter_map(|((name, _), size)| Some((name.to_string(), size?)));
    Some(Chosen { index, sizes: more.collect(), fields: parts.get(own)? })
}

/// Finds parameters by the arrays of a field.
fn find_sizes(program: &Program, ty: &Type, value: &Value, sizes: &mut [Option<i64>]) {
    match ty {
        Type::Array(..) => {
            let mut ty = ty;
            let mut value = Some(value.clone());
            while let Type::Array(size, element) = ty {
                let Some(here) = value.take() else { return };
                let Some(n) = here.first_size() else { return };
                if let Some((name, more)) = parameter(size)
                    && let (Some(place), Some(more)) =
                        (sizes.get_mut(name.index()), more.as_constant())
                    && let Ok(n) = i64::try_from(n)
                {
                    place.get_or_insert(n.saturating_sub(more));
                }
                let inner = dims_below(&here);
                value = inner.or_else(|| here.element(0));
                ty = element;
            }
            if let Some(value) = value {
                find_sizes(program, ty, &value, sizes);
            }
        }
        Type::Tuple(types) => {
            let Value::Tuple(items) = value else { return };
            for (ty, value) in program.components(types).iter().zip(items) {
                find_sizes(program, ty, value, sizes);
            }
        }
        _ => {}
    }
}

/// An array of one dimension less with the sizes of the rows of another one, also of one without rows.
fn dims_below(value: &Value) -> Option<Value> {
    let (_, below) = value.shape()?.split_first()?;
    (!below.is_empty()).then(|| Value::F64s(Array { shape: below.to_vec(), data: Vec::new() }))
}

/// The value of a field that a value does not have: zeros. `dims` are the dimensions of the arrays around. `None` for more
/// cells than there can be.
fn absent(program: &Program, ty: &Type, dims: &[usize], sizes: &[Option<i64>]) -> Option<Value> {
    fn filled<T: Number>(dims: &[usize]) -> Option<Array<T>> {
        Some(Array { shape: dims.to_vec(), data: vec![T::default(); cells(dims)?] })
    }
    fn nested(dims: &[usize], element: &Value) -> Value {
        match dims.split_first() {
            None => element.clone(),
            Some((n, rest)) => Value::List(vec![nested(rest, element); *n]),
        }
    }
    if let Some(scalar) = Scalar::of(ty) {
        return of_kind!(scalar, T => match dims {
            [] => Some(T::default().value()),
            dims => filled(dims).map(T::values),
        });
    }
    let all = |types: &mut dyn Iterator<Item = &Type>, sizes: &[Option<i64>]| {
        let parts = types.map(|ty| absent(program, ty, dims, sizes));
        parts.collect::<Option<Vec<Value>>>()
    };
    match ty {
        Type::Array(size, element) => {
            let at = |v: NVar| sizes.get(v.index()).copied().flatten().unwrap_or_default();
            let n = usize::try_from(size.exact(&mut { at })?).ok()?;
            let dims: Vec<usize> = dims.iter().copied().chain([n]).collect();
            absent(program, element, &dims, sizes)
        }
        Type::Tuple(items) => all(&mut program.components(items).iter(), sizes).map(Value::Tuple),
        Type::Data(id) => {
            let data = &program.datas[*id];
            let index = program.plainest(*id)?;
            let con = data.constructors.get(index)?;
            let none = vec![Some(0); con.fields.len()];
            let columns = !dims.is_empty()
                && data.constructors.len() == 1
                && is_flat(program, &Type::array(Size::default(), ty.clone()));
            if columns {
                return all(&mut con.fields.iter().map(|f| &f.ty), &none).map(Value::Tuple);
            }
            let fields = con.fields.iter().map(|f| absent(program, &f.ty, &[], &none));
            let fields: Vec<Value> = fields.collect::<Option<_>>()?;
            let element = match data.constructors.len() {
                1 => Value::Tuple(fields),
                _ => Value::Data(con.name.clone(), fields),
            };
            Some(nested(dims, &element))
        }
        _ => None,
    }
}

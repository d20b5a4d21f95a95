//! The leaves of a type: the scalars and flat arrays that its values are made of at the border
//! between a Rust program and an engine.
//!
//! | type | leaves |
//! |---|---|
//! | `f64`, `i64`, `bool` | one scalar |
//! | `#(t, ..)`, a record | the leaves of its fields, in order |
//! | a sum | the number of the constructor, then the fields of every constructor; zero or empty for the absent ones |
//! | `[n]t` | the leaves of `t`, each with one more dimension in front |
//!
//! This is the layout that lowering gives to parameters and results. Recursive data, arrays of records whose fields have
//! sizes of their own, and arrays of sums that have arrays, are not made of flat arrays; they cross the border in lists
//! ([`crate::border`]).
//!
//! At the border an array of a sum is a list of its elements; [`columns`] and [`rebuild`] go between that
//! and its leaves.

use crate::border::is_flat;
use crate::value::{Array, Value};
use jut_ir::Scalar;
use jut_ir::entity::EntityRef;
use jut_ir::{NVar, Program, Size, Type};

/// A leaf of a type.
#[derive(Clone, PartialEq, Debug)]
pub struct Leaf {
    /// What it is made of.
    pub scalar: Scalar,
    /// Its dimensions, outermost first; none for a scalar.
    pub dims: Vec<Size>,
    /// If the names in the dimensions are fields: the leaf that the k-th field is, among those of
    /// the whole value. Otherwise the names are those of the function.
    pub fields: Option<Vec<usize>>,
}

impl Leaf {
    /// An empty value for the leaf.
    pub fn blank(&self) -> Value {
        match (self.scalar, self.dims.is_empty()) {
            (Scalar::F64, true) => Value::F64(0.0),
            (Scalar::F32, true) => Value::F32(0.0),
            (Scalar::I32, true) => Value::I32(0),
            (Scalar::I64, true) => Value::I64(0),
            (Scalar::Bool, true) => Value::Bool(false),
            (Scalar::F64, false) => Value::F64s(Array::default()),
            (Scalar::F32, false) => Value::F32s(Array::default()),
            (Scalar::I32, false) => Value::I32s(Array::default()),
            (Scalar::I64, false) => Value::I64s(Array::default()),
            (Scalar::Bool, false) => Value::Bools(Array::default()),
        }
    }

    /// The value of a dimension, given the values of the function's names and of the leaves of the
    /// same value by number.
    pub fn eval(
        &self,
        dim: &Size,
        name: &dyn Fn(NVar) -> Option<i64>,
        leaf: &dyn Fn(usize) -> Option<i64>,
    ) -> Result<i64, NoSize> {
        let mut known = true;
        let value = dim.exact(&mut |v| {
            let value = match &self.fields {
                None => name(v),
                Some(fields) => fields.get(v.index()).and_then(|k| leaf(*k)),
            };
            known &= value.is_some();
            value.unwrap_or_default()
        });
        if known { value.ok_or(NoSize::TooLarge) } else { Err(NoSize::Unknown) }
    }
}

/// Why a dimension has no value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NoSize {
    /// One of its names has none.
    Unknown,
    /// It is no i64. Covered accesses rest on sizes that do not wrap.
    TooLarge,
}

/// The leaves of a type.
///
/// # Errors
/// The type whose values do not cross the border, in words.
pub fn leaves(program: &Program, ty: &Type) -> Result<Vec<Leaf>, String> {
    match ty {
        Type::Float(_) | Type::I64 | Type::I32 | Type::Bool => {
            let scalar = Scalar::of(ty).unwrap_or(Scalar::F64);
            Ok(vec![Leaf { scalar, dims: Vec::new(), fields: None }])
        }
        Type::Tuple(items) => {
            let mut all = Vec::new();
            for item in items {
                append(&mut all, leaves(program, item)?);
            }
            Ok(all)
        }
        Type::Array(size, element) => {
            let mut all = leaves(program, element)?;
            if let Some(name) = ragged(program, element) {
                return Err(format!("an array of `{name}` is not made of flat arrays"));
            }
            all.iter_mut().for_each(|leaf| leaf.dims.insert(0, size.clone()));
            Ok(all)
        }
        Type::Data(id) => {
            let data = &program.datas[*id];
            let mut all = Vec::new();
            if data.constructors.len() != 1 {
                append(&mut all, leaves(program, &Type::I64)?);
            }
            for con in &data.constructors {
                let mut starts = Vec::new();
                for field in &con.fields {
                    let start = all.len();
                    let first = append(&mut all, leaves(program, &field.ty)?);
                    for leaf in all.iter_mut().skip(first) {
                        let named = leaf.dims.iter().any(|d| d.as_constant().is_none());
                        if leaf.fields.is_none() && named {
                            leaf.fields = Some(starts.clone());
                        }
                    }
                    starts.push(start);
                }
            }
            Ok(all)
        }
    }
}

/// Appends the leaves of a component; gives where they begin.
fn append(all: &mut Vec<Leaf>, component: Vec<Leaf>) -> usize {
    let start = all.len();
    for mut leaf in component {
        leaf.fields.iter_mut().flatten().for_each(|k| *k += start);
        all.push(leaf);
    }
    start
}

/// A data type in the type that makes arrays of it ragged.
fn ragged<'p>(program: &'p Program, ty: &Type) -> Option<&'p str> {
    match ty {
        Type::Float(_) | Type::I64 | Type::I32 | Type::Bool => None,
        Type::Array(_, element) => ragged(program, element),
        Type::Tuple(items) => items.iter().find_map(|t| ragged(program, t)),
        Type::Data(id) => {
            let data = &program.datas[*id];
            match data.constructors.as_slice() {
                [con] if con.fields.iter().all(|f| f.ty.size_names().is_empty()) => {
                    con.fields.iter().find_map(|f| ragged(program, &f.ty))
                }
                [_] => Some(&data.name),
                _ => ty.has_array(program).then_some(&data.name),
            }
        }
    }
}

/// Makes a value of its leaves.
pub fn rebuild(
    program: &Program,
    ty: &Type,
    leaves: &mut dyn Iterator<Item = &Value>,
) -> Option<Value> {
    rebuild_in(program, ty, false, leaves)
}

/// The same of a part of arrays, if so: an array of tuples is the tuple of its arrays.
fn rebuild_in(
    program: &Program,
    ty: &Type,
    in_array: bool,
    leaves: &mut dyn Iterator<Item = &Value>,
) -> Option<Value> {
    match ty {
        Type::Float(_) | Type::I64 | Type::I32 | Type::Bool => leaves.next().cloned(),
        Type::Array(_, element) => rebuild_in(program, element, true, leaves),
        Type::Tuple(items) => {
            let items = program.components(items).iter();
            let items = items.map(|t| rebuild_in(program, t, in_array, leaves));
            items.collect::<Option<_>>().map(Value::Tuple)
        }
        Type::Data(id) => {
            let constructors = &program.datas[*id].constructors;
            if in_array && constructors.len() != 1 {
                let count = self::leaves(program, ty).ok()?.len();
                let columns: Vec<&Value> = leaves.take(count).collect();
                return list(program, ty, &columns);
            }
            let tag = match constructors.as_slice() {
                [_] => None,
                _ => match leaves.next() {
                    Some(Value::I64(tag)) => Some(*tag),
                    _ => return None,
                },
            };
            let mut chosen = None;
            for (number, con) in constructors.iter().enumerate() {
                let fields =
                    con.fields.iter().map(|f| rebuild_in(program, &f.ty, in_array, leaves));
                let fields: Option<Vec<Value>> = fields.collect();
                if tag.is_none() {
                    chosen = fields.map(Value::Tuple);
                } else if i64::try_from(number).ok() == tag {
                    chosen = fields.map(|fields| Value::Data(con.name.clone(), fields));
                }
            }
            chosen
        }
    }
}

/// The elements of an array of a sum, of its leaves: one array for each leaf of the sum.
fn list(program: &Program, sum: &Type, columns: &[&Value]) -> Option<Value> {
    let Some(Value::I64s(tags)) = columns.first() else { return None };
    fn cell(column: &Value, k: usize) -> Option<Value> {
        match column {
            Value::F64s(a) => a.data.get(k).map(|x| Value::F64(*x)),
            Value::F32s(a) => a.data.get(k).map(|x| Value::F32(*x)),
            Value::I32s(a) => a.data.get(k).map(|x| Value::I32(*x)),
            Value::I64s(a) => a.data.get(k).map(|x| Value::I64(*x)),
            Value::Bools(a) => a.data.get(k).map(|x| Value::Bool(*x)),
            _ => None,
        }
    }
    let element = |k: usize| {
        let cells: Option<Vec<Value>> = columns.iter().map(|column| cell(column, k)).collect();
        rebuild(program, sum, &mut cells?.iter())
    };
    let mut items: Vec<Value> = (0..tags.data.len()).map(element).collect::<Option<_>>()?;
    for axis in (1..tags.shape.len()).rev() {
        let (outer, size) = (tags.shape[..axis].iter().product(), tags.shape[axis]);
        let mut cells = items.into_iter();
        items = (0..outer).map(|_| Value::List(cells.by_ref().take(size).collect())).collect();
    }
    Some(Value::List(items))
}

/// The leaves of an array of a sum: for each leaf of the sum the array of its cells, which are zero where
/// the element has another constructor. `take_apart` gives the leaves of an element.
///
/// # Errors
/// What does not fit, in words.
pub fn columns<'a>(
    program: &Program,
    sum: &Type,
    rank: usize,
    items: &'a [Value],
    mut take_apart: impl FnMut(&'a Value) -> Result<Vec<Value>, String>,
) -> Result<Vec<Value>, String> {
    let mut elements: Vec<&Value> = items.iter().collect();
    let mut shape = vec![items.len()];
    for _ in 1..rank {
        let mut size = None;
        let mut inner = Vec::new();
        for element in elements {
            let Value::List(row) = element else {
                return Err(format!("lists of lists are needed, {rank} deep"));
            };
            if *size.get_or_insert(row.len()) != row.len() {
                return Err("the lists in it have different lengths".to_string());
            }
            inner.extend(row);
        }
        shape.push(size.unwrap_or(0));
        elements = inner;
    }
    let leaves = leaves(program, sum)?;
    let blank = |leaf: &Leaf| match leaf.scalar {
        Scalar::F64 => Value::F64s(Array { shape: shape.clone(), data: Vec::new() }),
        Scalar::F32 => Value::F32s(Array { shape: shape.clone(), data: Vec::new() }),
        Scalar::I32 => Value::I32s(Array { shape: shape.clone(), data: Vec::new() }),
        Scalar::I64 => Value::I64s(Array { shape: shape.clone(), data: Vec::new() }),
        Scalar::Bool => Value::Bools(Array { shape: shape.clone(), data: Vec::new() }),
    };
    let mut columns: Vec<Value> = leaves.iter().map(blank).collect();
    for (k, element) in elements.into_iter().enumerate() {
        let cells = take_apart(element).map_err(|e| format!("element {k}: {e}"))?;
        for (column, cell) in columns.iter_mut().zip(cells) {
            match (column, cell) {
                (Value::F64s(a), Value::F64(x)) => a.data.push(x),
                (Value::F32s(a), Value::F32(x)) => a.data.push(x),
                (Value::I32s(a), Value::I32(x)) => a.data.push(x),
                (Value::I64s(a), Value::I64(x)) => a.data.push(x),
                (Value::Bools(a), Value::Bool(x)) => a.data.push(x),
                (_, other) => {
                    return Err(format!("element {k}: a field is {}", other.describe()));
                }
            }
        }
    }
    Ok(columns)
}

/// Number of dimensions, and what is under them.
pub fn peel(ty: &Type) -> (usize, &Type) {
    let (mut rank, mut element) = (0, ty);
    while let Type::Array(_, inner) = element {
        (rank, element) = (rank + 1, inner);
    }
    (rank, element)
}

/// Elements of one type become an array: a flat one, a tuple of such, or a list. `None` if their sizes
/// differ.
pub fn stack(program: &Program, element: &Type, items: &[Value]) -> Option<Value> {
    let (rank, base) = peel(element);
    let parts: Vec<&Type> = match base {
        &Type::F32 => return block(items, rank, singles).map(Value::F32s),
        Type::I32 => return block(items, rank, narrow).map(Value::I32s),
        Type::Float(_) => return block(items, rank, floats).map(Value::F64s),
        Type::I64 => return block(items, rank, ints).map(Value::I64s),
        Type::Bool => return block(items, rank, bools).map(Value::Bools),
        Type::Array(..) => return None,
        Type::Tuple(parts) => program.components(parts).iter().collect(),
        Type::Data(id) => match program.datas[*id].constructors.as_slice() {
            [con] if is_flat(program, &Type::array(Size::default(), base.clone())) => {
                con.fields.iter().map(|f| &f.ty).collect()
            }
            _ => return Some(Value::List(items.to_vec())),
        },
    };
    let column = |(k, part): (usize, &&Type)| {
        // The dimensions of the element stand round each of its parts.
        let around = (0..rank).fold((*part).clone(), |ty, _| Type::array(Default::default(), ty));
        let field = |item: &Value| match item {
            Value::Tuple(fields) => fields.get(k).cloned(),
            _ => None,
        };
        let column: Option<Vec<Value>> = items.iter().map(field).collect();
        stack(program, &around, &column?)
    };
    parts.iter().enumerate().map(column).collect::<Option<_>>().map(Value::Tuple)
}

fn floats(value: &Value) -> Option<(&[usize], &[f64])> {
    match value {
        Value::F64(x) => Some((&[], std::slice::from_ref(x))),
        Value::F64s(a) => Some((&a.shape, &a.data)),
        _ => None,
    }
}

fn singles(value: &Value) -> Option<(&[usize], &[f32])> {
    match value {
        Value::F32(x) => Some((&[], std::slice::from_ref(x))),
        Value::F32s(a) => Some((&a.shape, &a.data)),
        _ => None,
    }
}

fn ints(value: &Value) -> Option<(&[usize], &[i64])> {
    match value {
        Value::I64(x) => Some((&[], std::slice::from_ref(x))),
        Value::I64s(a) => Some((&a.shape, &a.data)),
        _ => None,
    }
}

fn narrow(value: &Value) -> Option<(&[usize], &[i32])> {
    match value {
        Value::I32(x) => Some((&[], std::slice::from_ref(x))),
        Value::I32s(a) => Some((&a.shape, &a.data)),
        _ => None,
    }
}

fn bools(value: &Value) -> Option<(&[usize], &[bool])> {
    match value {
        Value::Bool(x) => Some((&[], std::slice::from_ref(x))),
        Value::Bools(a) => Some((&a.shape, &a.data)),
        _ => None,
    }
}

/// The shape and the cells of a value of one scalar type.
type View<T> = fn(&Value) -> Option<(&[usize], &[T])>;

/// Scalars or arrays of one shape, one after the other.
fn block<T: Clone>(items: &[Value], rank: usize, view: View<T>) -> Option<Array<T>> {
    let mut shape = vec![0; rank];
    let mut data = Vec::new();
    for (k, item) in items.iter().enumerate() {
        let (inner, cells) = view(item)?;
        if k == 0 {
            shape = inner.to_vec();
        } else if shape != inner {
            return None;
        }
        data.extend_from_slice(cells);
    }
    shape.insert(0, items.len());
    Some(Array { shape, data })
}

//! Values: scalars, tuples, dense arrays and data values.
//!
//! An array is one rectangular block in row-major order, shared by reference counting; a row
//! `x[i]` and a slice `x[lo ..+ m]` are views: an offset and a length into the same block, O(1).
//! Blocks of f64, f32, i64 and bool are flat; any other element (tuples, data values, of which arrays
//! may be ragged inside) is one [`Value`] per element.
//!
//! Equality is equality of bits, so 0.0 differs from -0.0; only NaNs are all equal, because
//! IEEE 754 leaves their bits open.

use jut_ir::ir::{ConRef, Literal};
use jut_runtime::math;
use std::fmt;
use std::sync::Arc;

mod array;

pub use array::{Array, Cells, View};
pub(crate) use array::{Choice, Part, slice_range};

/// A value of any type of the language, non-linear or linear.
#[derive(Clone, Debug)]
pub enum Value {
    /// A float of 64 bits.
    F64(f64),
    /// A float of 32 bits.
    F32(f32),
    /// An integer of 64 bits.
    I64(i64),
    /// An integer of 32 bits.
    I32(i32),
    /// A truth value.
    Bool(bool),
    /// A tuple `#(a, ..)`.
    Tuple(Items),
    /// An array.
    Array(Array),
    /// A data value: constructor and fields.
    Data(ConRef, Items),
}

/// The parts of a tuple or record. Values may be nested as deeply as a program recurses, so they are dropped one
/// after the other, and not each in the drop of what holds it.
#[derive(Clone, Debug)]
pub struct Items(Arc<[Value]>);

impl Drop for Items {
    fn drop(&mut self) {
        let mut work = Vec::new();
        take_nested(&mut self.0, &mut work);
        while let Some(mut items) = work.pop() {
            take_nested(&mut items, &mut work);
        }
    }
}

/// Takes the parts of the parts out, if nobody else has them.
fn take_nested(items: &mut Arc<[Value]>, work: &mut Vec<Arc<[Value]>>) {
    for item in Arc::get_mut(items).into_iter().flatten() {
        if let Value::Tuple(inner) | Value::Data(_, inner) = item {
            work.push(std::mem::take(&mut inner.0));
        }
    }
}

impl Items {
    /// The parts, to change them, if nobody else has them.
    pub(crate) fn get_mut(&mut self) -> Option<&mut [Value]> {
        Arc::get_mut(&mut self.0)
    }

    /// The parts, to change them: made anew if others have them.
    pub(crate) fn own(&mut self) -> &mut [Value] {
        Arc::make_mut(&mut self.0)
    }
}

impl std::ops::Deref for Items {
    type Target = [Value];

    fn deref(&self) -> &[Value] {
        &self.0
    }
}

impl From<Vec<Value>> for Items {
    fn from(items: Vec<Value>) -> Items {
        Items(items.into())
    }
}

impl<const N: usize> From<[Value; N]> for Items {
    fn from(items: [Value; N]) -> Items {
        Items(items.into())
    }
}

impl FromIterator<Value> for Items {
    fn from_iter<I: IntoIterator<Item = Value>>(items: I) -> Items {
        Items(items.into_iter().collect())
    }
}

impl Value {
    /// `[a, b, ..]` of floats.
    pub fn floats(cells: impl Into<Vec<f64>>) -> Value {
        let cells = cells.into();
        Value::Array(Array::flat(Cells::F64(cells)))
    }

    /// `[a, b, ..]` of integers.
    pub fn ints(cells: impl Into<Vec<i64>>) -> Value {
        let cells = cells.into();
        Value::Array(Array::flat(Cells::I64(cells)))
    }

    /// `[a, b, ..]` of truth values.
    pub fn bools(cells: impl Into<Vec<bool>>) -> Value {
        let cells = cells.into();
        Value::Array(Array::flat(Cells::Bool(cells)))
    }

    /// A matrix of floats by rows; `None` if the number of cells is not `rows * columns`.
    pub fn matrix(rows: usize, columns: usize, cells: impl Into<Vec<f64>>) -> Option<Value> {
        Array::new(vec![rows, columns], Cells::F64(cells.into())).map(Value::Array)
    }

    /// An array of the given elements: scalars and equally shaped arrays become one flat block.
    /// `None` if their kinds or shapes differ; no elements give an empty array of floats.
    pub fn array(elements: Vec<Value>) -> Option<Value> {
        let Some(first) = elements.first() else {
            return Some(Value::floats(Vec::new()));
        };
        let mut dims = vec![elements.len()];
        let inner = first.dims();
        let mut cells = Cells::empty_like(first);
        for element in elements {
            if element.dims() != inner || !cells.append(element) {
                return None;
            }
        }
        dims.extend(inner);
        Array::new(dims, cells).map(Value::Array)
    }

    /// A tuple.
    pub fn tuple(items: Vec<Value>) -> Value {
        Value::Tuple(items.into())
    }

    /// A data value.
    pub fn data(con: ConRef, fields: Vec<Value>) -> Value {
        Value::Data(con, fields.into())
    }

    /// The dimensions of an array; none for anything else.
    pub fn dims(&self) -> Vec<usize> {
        self.as_array().map(Array::dims).unwrap_or_default()
    }

    /// The float.
    pub fn as_f64(&self) -> Option<f64> {
        match self {
            Value::F64(x) => Some(*x),
            _ => None,
        }
    }

    /// The integer.
    pub fn as_i64(&self) -> Option<i64> {
        match self {
            Value::I64(x) => Some(*x),
            _ => None,
        }
    }

    /// The truth value.
    pub fn as_bool(&self) -> Option<bool> {
        match self {
            Value::Bool(x) => Some(*x),
            _ => None,
        }
    }

    /// The array.
    pub fn as_array(&self) -> Option<&Array> {
        match self {
            Value::Array(a) => Some(a),
            _ => None,
        }
    }

    /// The components of a tuple or the fields of a data value.
    pub fn items(&self) -> Option<&[Value]> {
        match self {
            Value::Tuple(items) | Value::Data(_, items) => Some(items),
            _ => None,
        }
    }

    /// The scalar as a literal.
    pub fn literal(&self) -> Option<Literal> {
        match self {
            Value::F64(x) => Some(Literal::F64(*x)),
            Value::F32(x) => Some(Literal::F32(*x)),
            Value::I32(x) => Some(Literal::I32(*x)),
            Value::I64(x) => Some(Literal::I64(*x)),
            Value::Bool(x) => Some(Literal::Bool(*x)),
            _ => None,
        }
    }

    /// Number of scalars inside: |v| of the cost model.
    pub fn scalars(&self) -> u64 {
        match self {
            Value::F64(_) | Value::F32(_) | Value::I64(_) | Value::I32(_) | Value::Bool(_) => 1,
            Value::Tuple(items) | Value::Data(_, items) => items.iter().map(Value::scalars).sum(),
            Value::Array(a) => match a.view() {
                View::F64(v) => v.len() as u64,
                View::F32(v) => v.len() as u64,
                View::I32(v) => v.len() as u64,
                View::I64(v) => v.len() as u64,
                View::Bool(v) => v.len() as u64,
                View::Items(v) => v.iter().map(Value::scalars).sum(),
            },
        }
    }

    /// What dropping a linear value costs: 1 per scalar, but nothing for a tangent of a declared type, of which a
    /// zero holds no scalars.
    pub(crate) fn scalars_dropped(&self) -> u64 {
        match self {
            Value::Data(..) => 0,
            Value::Tuple(items) => items.iter().map(Value::scalars_dropped).sum(),
            Value::Array(a) => match a.view() {
                View::Items(v) => v.iter().map(Value::scalars_dropped).sum(),
                _ => self.scalars(),
            },
            _ => self.scalars(),
        }
    }

    /// Bytes of all scalars inside: 8 per number, 4 per number of 32 bits, 1 per truth value.
    pub fn bytes(&self) -> u64 {
        match self {
            Value::F64(_) | Value::I64(_) => 8,
            Value::F32(_) | Value::I32(_) => 4,
            Value::Bool(_) => 1,
            Value::Tuple(items) | Value::Data(_, items) => items.iter().map(Value::bytes).sum(),
            Value::Array(a) => match a.view() {
                View::F64(v) => 8 * v.len() as u64,
                View::F32(v) => 4 * v.len() as u64,
                View::I32(v) => 4 * v.len() as u64,
                View::I64(v) => 8 * v.len() as u64,
                View::Bool(v) => v.len() as u64,
                View::Items(v) => v.iter().map(Value::bytes).sum(),
            },
        }
    }

    /// Bytes of the lists behind a tuple or data value, without the arrays among them, which have
    /// been counted where they were made.
    pub(crate) fn bytes_of_lists(&self) -> u64 {
        match self {
            Value::F64(_) | Value::F32(_) | Value::I64(_) | Value::I32(_) => 0,
            Value::Bool(_) | Value::Array(_) => 0,
            Value::Tuple(items) | Value::Data(_, items) => {
                // The two counters of shared memory stand before the items.
                let own = 2 * size_of::<usize>() + size_of_val(&**items);
                own as u64 + items.iter().map(Value::bytes_of_lists).sum::<u64>()
            }
        }
    }

    /// Calls `visit` with every float inside, in order.
    pub fn for_each_f64(&self, visit: &mut dyn FnMut(f64)) {
        match self {
            Value::F64(x) => visit(*x),
            Value::F32(x) => visit(f64::from(*x)),
            Value::I64(_) | Value::I32(_) | Value::Bool(_) => {}
            Value::Tuple(items) | Value::Data(_, items) => {
                items.iter().for_each(|v| v.for_each_f64(visit));
            }
            Value::Array(a) => match a.view() {
                View::F64(v) => v.iter().for_each(|x| visit(*x)),
                View::F32(v) => v.iter().for_each(|x| visit(f64::from(*x))),
                View::I64(_) | View::I32(_) | View::Bool(_) => {}
                View::Items(v) => v.iter().for_each(|v| v.for_each_f64(visit)),
            },
        }
    }

    /// The same value with every float replaced, in order; those of 32 bits by the nearest.
    pub fn map_f64(&self, map: &mut dyn FnMut(f64) -> f64) -> Value {
        match self {
            Value::F64(x) => Value::F64(map(*x)),
            Value::F32(x) => Value::F32(map(f64::from(*x)) as f32),
            Value::I64(_) | Value::I32(_) | Value::Bool(_) => self.clone(),
            Value::Tuple(items) => Value::Tuple(items.iter().map(|v| v.map_f64(map)).collect()),
            Value::Data(con, items) => {
                Value::Data(*con, items.iter().map(|v| v.map_f64(map)).collect())
            }
            Value::Array(a) => {
                let cells = match a.view() {
                    View::F64(v) => Cells::F64(v.iter().map(|x| map(*x)).collect()),
                    View::F32(v) => {
                        Cells::F32(v.iter().map(|x| map(f64::from(*x)) as f32).collect())
                    }
                    View::I64(_) | View::I32(_) | View::Bool(_) => return self.clone(),
                    View::Items(v) => Cells::Items(v.iter().map(|v| v.map_f64(map)).collect()),
                };
                Array::new(a.dims(), cells).map_or_else(|| self.clone(), Value::Array)
            }
        }
    }
}

impl From<Literal> for Value {
    fn from(literal: Literal) -> Value {
        match literal {
            Literal::F64(x) => Value::F64(x),
            Literal::F32(x) => Value::F32(x),
            Literal::I32(x) => Value::I32(x),
            Literal::I64(x) => Value::I64(x),
            Literal::Bool(x) => Value::Bool(x),
        }
    }
}

impl From<f64> for Value {
    fn from(x: f64) -> Value {
        Value::F64(x)
    }
}

impl From<i64> for Value {
    fn from(x: i64) -> Value {
        Value::I64(x)
    }
}

impl From<bool> for Value {
    fn from(x: bool) -> Value {
        Value::Bool(x)
    }
}

impl PartialEq for Value {
    fn eq(&self, other: &Value) -> bool {
        match (self, other) {
            (Value::F64(a), Value::F64(b)) => math::same(*a, *b),
            (Value::F32(a), Value::F32(b)) => same_f32(*a, *b),
            (Value::I64(a), Value::I64(b)) => a == b,
            (Value::I32(a), Value::I32(b)) => a == b,
            (Value::Bool(a), Value::Bool(b)) => a == b,
            (Value::Tuple(a), Value::Tuple(b)) => a[..] == b[..],
            (Value::Array(a), Value::Array(b)) => a == b,
            (Value::Data(c, a), Value::Data(d, b)) => c == d && a[..] == b[..],
            _ => false,
        }
    }
}

/// Whether the bits are the same, or both are NaN.
fn same_f32(a: f32, b: f32) -> bool {
    a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan())
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fn list(f: &mut fmt::Formatter<'_>, items: &[Value]) -> fmt::Result {
            for (k, item) in items.iter().enumerate() {
                write!(f, "{}{item}", if k == 0 { "" } else { ", " })?;
            }
            Ok(())
        }
        match self {
            Value::F64(x) => write!(f, "{x:?}"),
            Value::F32(x) => write!(f, "{x:?}"),
            Value::I32(x) => write!(f, "{x}"),
            Value::I64(x) => write!(f, "{x}"),
            Value::Bool(x) => write!(f, "{x}"),
            Value::Tuple(items) => {
                f.write_str("#(")?;
                list(f, items)?;
                f.write_str(")")
            }
            Value::Data(con, items) => {
                write!(f, "{:?}.{}(", con.data, con.index)?;
                list(f, items)?;
                f.write_str(")")
            }
            Value::Array(a) => {
                f.write_str("[")?;
                for k in 0..a.len() {
                    if k > 0 {
                        f.write_str(", ")?;
                    }
                    if let Some(element) = a.get(k) {
                        write!(f, "{element}")?;
                    }
                }
                f.write_str("]")
            }
        }
    }
}

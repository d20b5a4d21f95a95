//! Values as vectors: the operations of linear code on whole scalars, tuples and arrays, for the
//! interpreter and for the laws of tests.
//!
//! Shapes are those of the operands; operands of different shapes give `None`, and so does a call that
//! is cancelled.

use crate::pieces;
use crate::scalar::{self, LinearScalar};
use crate::value::{Array, Cells, Value, View};
use jut_ir::types::Type;
use jut_ir::{ConRef, Size, Width};
use jut_runtime::math;

/// The zero of a type under an assignment of its size names: 0.0, 0, false, and so on inside.
/// `None` for data types, negative sizes, and arrays too large to address.
pub fn zero(ty: &Type, size: &mut dyn FnMut(&Size) -> i64) -> Option<Value> {
    fill(ty, size, &mut |scalar| match scalar {
        Type::Float(width) => Value::from(width.number(0.0)),
        Type::I64 => Value::I64(0),
        Type::I32 => Value::I32(0),
        _ => Value::Bool(false),
    })
}

/// A random value of a type: floats in -1 .. 1, integers 0 .. 10. `None` as for [`zero`].
pub fn random(
    ty: &Type,
    size: &mut dyn FnMut(&Size) -> i64,
    rng: &mut fastrand::Rng,
) -> Option<Value> {
    fill(ty, size, &mut |scalar| match scalar {
        Type::Float(width) => Value::from(width.number(2.0 * rng.f64() - 1.0)),
        Type::I64 => Value::I64(rng.i64(0..10)),
        Type::I32 => Value::I32(rng.i32(0..10)),
        _ => Value::Bool(rng.bool()),
    })
}

/// A random value of the shape of `like`: floats in -1 .. 1; integers and truth values stay.
pub fn random_like(like: &Value, rng: &mut fastrand::Rng) -> Value {
    like.map_f64(&mut |_| 2.0 * rng.f64() - 1.0)
}

/// The zero of the shape of `like`; integers and truth values stay.
pub fn zero_like(like: &Value) -> Value {
    like.map_f64(&mut |_| 0.0)
}

/// A value of a type with the given scalars, in row-major order.
fn fill(
    ty: &Type,
    size: &mut dyn FnMut(&Size) -> i64,
    scalar: &mut dyn FnMut(&Type) -> Value,
) -> Option<Value> {
    match ty {
        Type::Float(_) | Type::I64 | Type::I32 | Type::Bool => Some(scalar(ty)),
        Type::Tuple(items) => {
            let items: Option<Vec<Value>> = items.iter().map(|t| fill(t, size, scalar)).collect();
            items.map(Value::tuple)
        }
        Type::Data(_) => None,
        Type::Array(..) => {
            let (dims, element) = dims_of(ty, size)?;
            let total = dims.iter().try_fold(1usize, |n, d| n.checked_mul(*d))?;
            let mut cells = match element {
                Type::Float(Width::Single) => Cells::F32(Vec::new()),
                Type::Float(Width::Double) => Cells::F64(Vec::new()),
                Type::I64 => Cells::I64(Vec::new()),
                Type::I32 => Cells::I32(Vec::new()),
                Type::Bool => Cells::Bool(Vec::new()),
                _ => Cells::Items(Vec::new()),
            };
            for _ in 0..total {
                if !cells.append(fill(element, size, scalar)?) {
                    return None;
                }
            }
            Array::new(dims, cells).map(Value::Array)
        }
    }
}

/// The dimensions of an array type, and what is inside all of them; `None` if one is negative.
pub(crate) fn dims_of<'t>(
    mut ty: &'t Type,
    size: &mut dyn FnMut(&Size) -> i64,
) -> Option<(Vec<usize>, &'t Type)> {
    let mut dims = Vec::new();
    while let Type::Array(n, element) = ty {
        dims.push(usize::try_from(size(n)).ok()?);
        ty = element;
    }
    Some((dims, ty))
}

/// a + b. Re-uses the storage of `a` if nobody else holds it.
pub fn add(a: Value, b: &Value, linear: LinearScalar) -> Option<Value> {
    let field = linear == LinearScalar::Field;
    Some(match (a, b) {
        (Value::F64(a), Value::F64(b)) => Value::F64(a + b),
        (Value::F32(a), Value::F32(b)) => Value::F32(a + b),
        (Value::I32(a), Value::I32(b)) => Value::I32(a.wrapping_add(*b)),
        (Value::I64(a), Value::I64(b)) => Value::I64(add_i64(a, *b, field)),
        (Value::Tuple(a), Value::Tuple(b)) if a.len() == b.len() => {
            let items: Option<Vec<Value>> =
                a.iter().zip(b.iter()).map(|(a, b)| add(a.clone(), b, linear)).collect();
            Value::tuple(items?)
        }
        // The first constructor of tangents is zero.
        (a, Value::Data(con, _)) if con.index == 0 => a,
        (Value::Data(con, _), b) if con.index == 0 => b.clone(),
        (Value::Data(con, a), Value::Data(other, b)) if con == *other && a.len() == b.len() => {
            let fields = a.iter().zip(b.iter()).map(|(a, b)| match (a, b) {
                // Sizes, which linear code does without, where L has made them fields.
                (Value::I64(a), Value::I64(b)) if !field => (a == b).then_some(Value::I64(*a)),
                _ => add(a.clone(), b, linear),
            });
            let fields: Option<Vec<Value>> = fields.collect();
            Value::data(con, fields?)
        }
        (Value::Array(mut a), Value::Array(b)) if a.dims() == b.dims() => {
            if let Some(cells) = a.cells_mut() {
                add_cells(cells, 0, b.view(), linear).then_some(())?;
                return Some(Value::Array(a));
            }
            let mut cells = cells_of(a.view())?;
            add_cells(&mut cells, 0, b.view(), linear).then_some(())?;
            Value::Array(Array::new(a.dims(), cells)?)
        }
        _ => return None,
    })
}

/// What adding two values costs: 1 per scalar that both have.
pub(crate) fn additions(a: &Value, b: &Value) -> u64 {
    match (a, b) {
        (Value::Data(con, a), Value::Data(other, b)) if con == other => {
            a.iter().zip(b.iter()).map(|(a, b)| additions(a, b)).sum()
        }
        (Value::Data(..), Value::Data(..)) => 0,
        (Value::Tuple(a), Value::Tuple(b)) => {
            a.iter().zip(b.iter()).map(|(a, b)| additions(a, b)).sum()
        }
        (Value::Array(x), Value::Array(y)) => match (x.view(), y.view()) {
            (View::Items(x), View::Items(y)) => x.iter().zip(y).map(|(a, b)| additions(a, b)).sum(),
            _ => a.scalars(),
        },
        _ => a.scalars(),
    }
}

/// Why tangents cannot be added.
pub(crate) enum Unlike {
    /// They are of arrays of different sizes.
    Sizes(i64, i64),
    /// They are of values that different constructors made: the number of the second.
    Constructors(u32),
}

/// The first difference between tangents that cannot be added.
pub(crate) fn unlike(a: &Value, b: &Value, linear: LinearScalar) -> Option<Unlike> {
    match (a, b) {
        (Value::Data(con, _), Value::Data(other, _)) if con.index == 0 || other.index == 0 => None,
        (Value::Data(con, _), Value::Data(other, _)) if con != other => {
            Some(Unlike::Constructors(other.index))
        }
        (Value::Data(_, a), Value::Data(_, b)) => {
            a.iter().zip(b.iter()).find_map(|(a, b)| match (a, b) {
                (Value::I64(a), Value::I64(b)) if linear == LinearScalar::F64 && a != b => {
                    Some(Unlike::Sizes(*b, *a))
                }
                (a, b) => unlike(a, b, linear),
            })
        }
        (Value::Tuple(a), Value::Tuple(b)) => {
            a.iter().zip(b.iter()).find_map(|(a, b)| unlike(a, b, linear))
        }
        (Value::Array(a), Value::Array(b)) => {
            let (m, n) = (a.dims(), b.dims());
            if let Some((m, n)) = m.iter().zip(&n).find(|(m, n)| m != n) {
                return Some(Unlike::Sizes(*n as i64, *m as i64));
            }
            match (a.view(), b.view()) {
                (View::Items(a), View::Items(b)) => {
                    a.iter().zip(b).find_map(|(a, b)| unlike(a, b, linear))
                }
                _ => None,
            }
        }
        _ => None,
    }
}

pub(crate) fn add_i64(a: i64, b: i64, field: bool) -> i64 {
    if field { scalar::add(a, b) } else { a.wrapping_add(b) }
}

/// Adds the cells of a view to cells from `at` on; false if they do not fit, or the call is cancelled.
pub(crate) fn add_cells(
    cells: &mut Cells,
    at: usize,
    other: View<'_>,
    linear: LinearScalar,
) -> bool {
    match (cells, other) {
        (Cells::F64(a), View::F64(b)) => {
            let Some(a) = a.get_mut(at..at + b.len()) else { return false };
            return pieces::zip(a, b, |a, b| *a += b).is_some();
        }
        (Cells::F32(a), View::F32(b)) => {
            let Some(a) = a.get_mut(at..at + b.len()) else { return false };
            return pieces::zip(a, b, |a, b| *a += b).is_some();
        }
        (Cells::I64(a), View::I64(b)) => {
            let Some(a) = a.get_mut(at..at + b.len()) else { return false };
            let field = linear == LinearScalar::Field;
            return pieces::zip(a, b, |a, b| *a = add_i64(*a, *b, field)).is_some();
        }
        (Cells::I32(a), View::I32(b)) => {
            let Some(a) = a.get_mut(at..at + b.len()) else { return false };
            return pieces::zip(a, b, |a, b| *a = a.wrapping_add(*b)).is_some();
        }
        (Cells::Items(a), View::Items(b)) => {
            let Some(a) = a.get_mut(at..at + b.len()) else { return false };
            for (a, b) in a.iter_mut().zip(b) {
                match add(a.clone(), b, linear) {
                    Some(sum) => *a = sum,
                    None => return false,
                }
            }
        }
        (_, view) if view.is_empty() => {}
        _ => return false,
    }
    true
}

fn cells_of(view: View<'_>) -> Option<Cells> {
    Some(match view {
        View::F64(v) => Cells::F64(pieces::copy(v)?),
        View::F32(v) => Cells::F32(pieces::copy(v)?),
        View::I32(v) => Cells::I32(pieces::copy(v)?),
        View::I64(v) => Cells::I64(pieces::copy(v)?),
        View::Bool(v) => Cells::Bool(pieces::copy(v)?),
        View::Items(v) => Cells::Items(pieces::copy(v)?),
    })
}

/// -a.
pub fn neg(a: Value) -> Option<Value> {
    map(a, &mut |x| -x, &mut scalar::neg)
}

/// c * a, in floats or, where `a` holds field elements, in the field.
pub fn scale(c: f64, a: Value) -> Option<Value> {
    let k = scalar::factor(c);
    map(a, &mut |x| math::times(c, x), &mut |x| scalar::mul(k, x))
}

/// The zero in the place of a value that was taken out: of tangents of data types that of any constructor, since what
/// comes there next is the tangent of another value.
pub(crate) fn nothing(value: &Value) -> Option<Value> {
    Some(match value {
        Value::Data(con, _) => Value::data(ConRef { index: 0, ..*con }, Vec::new()),
        Value::Tuple(items) => {
            let items: Option<Vec<Value>> = items.iter().map(nothing).collect();
            Value::tuple(items?)
        }
        Value::Array(array) => match array.view() {
            View::Items(items) => {
                let items: Option<Vec<Value>> = items.iter().map(nothing).collect();
                Value::Array(Array::new(array.dims(), Cells::Items(items?))?)
            }
            _ => return map(value.clone(), &mut |_| 0.0, &mut |_| 0),
        },
        scalar => return map(scalar.clone(), &mut |_| 0.0, &mut |_| 0),
    })
}

/// Applies one function to every float and another to every integer, in place where possible.
pub(crate) fn map(
    a: Value,
    float: &mut dyn FnMut(f64) -> f64,
    field: &mut dyn FnMut(i64) -> i64,
) -> Option<Value> {
    Some(match a {
        Value::F64(x) => Value::F64(float(x)),
        Value::F32(x) => Value::F32(float(f64::from(x)) as f32),
        Value::I64(x) => Value::I64(field(x)),
        Value::Tuple(items) => {
            let items: Option<Vec<Value>> =
                items.iter().map(|v| map(v.clone(), float, field)).collect();
            Value::tuple(items?)
        }
        Value::Array(mut a) => {
            if let Some(cells) = a.cells_mut() {
                map_cells(cells, float, field).then_some(())?;
                return Some(Value::Array(a));
            }
            let mut cells = cells_of(a.view())?;
            map_cells(&mut cells, float, field).then_some(())?;
            Value::Array(Array::new(a.dims(), cells)?)
        }
        Value::Data(con, fields) => {
            let fields: Option<Vec<Value>> =
                fields.iter().map(|v| map(v.clone(), float, field)).collect();
            Value::data(con, fields?)
        }
        Value::I32(_) | Value::Bool(_) => return None,
    })
}

fn map_cells(
    cells: &mut Cells,
    float: &mut dyn FnMut(f64) -> f64,
    field: &mut dyn FnMut(i64) -> i64,
) -> bool {
    match cells {
        Cells::F64(v) => {
            return pieces::in_pieces(v.len(), |range| {
                v[range].iter_mut().for_each(|x| *x = float(*x));
            })
            .is_some();
        }
        Cells::F32(v) => {
            return pieces::in_pieces(v.len(), |range| {
                v[range].iter_mut().for_each(|x| *x = float(f64::from(*x)) as f32);
            })
            .is_some();
        }
        Cells::I64(v) => {
            return pieces::in_pieces(v.len(), |range| {
                v[range].iter_mut().for_each(|x| *x = field(*x));
            })
            .is_some();
        }
        Cells::I32(_) | Cells::Bool(_) => return false,
        Cells::Items(v) => {
            for x in v.iter_mut() {
                match map(x.clone(), float, field) {
                    Some(y) => *x = y,
                    None => return false,
                }
            }
        }
    }
    true
}

/// The inner product of two values of one shape: the sum of products of floats, left to right.
/// `None` if they do not have the same number of floats.
pub fn dot(a: &Value, b: &Value) -> Option<f64> {
    let (mut x, mut y) = (Vec::new(), Vec::new());
    a.for_each_f64(&mut |v| x.push(v));
    b.for_each_f64(&mut |v| y.push(v));
    (x.len() == y.len()).then(|| x.iter().zip(&y).map(|(x, y)| x * y).sum())
}

/// The inner product of two vectors of field elements. `None` if their sizes differ.
pub fn dot_field(a: &Value, b: &Value) -> Option<i64> {
    fn elements(v: &Value, out: &mut Vec<i64>) {
        match v {
            Value::I64(x) => out.push(*x),
            Value::Tuple(items) => items.iter().for_each(|v| elements(v, out)),
            Value::Array(a) => match a.view() {
                View::I64(v) => out.extend_from_slice(v),
                View::Items(v) => v.iter().for_each(|v| elements(v, out)),
                View::F64(_) | View::F32(_) | View::I32(_) | View::Bool(_) => {}
            },
            Value::F64(_) | Value::F32(_) | Value::I32(_) | Value::Bool(_) | Value::Data(..) => {}
        }
    }
    let (mut x, mut y) = (Vec::new(), Vec::new());
    elements(a, &mut x);
    elements(b, &mut y);
    (x.len() == y.len())
        .then(|| x.iter().zip(&y).fold(0, |sum, (x, y)| scalar::add(sum, scalar::mul(*x, *y))))
}

/// The vector of field elements that stands for a vector of floats: every float by
/// [`scalar::factor`].
pub fn to_field(a: &Value) -> Value {
    match a {
        Value::F64(x) => Value::I64(scalar::factor(*x)),
        Value::F32(x) => Value::I64(scalar::factor(f64::from(*x))),
        Value::I64(_) | Value::I32(_) | Value::Bool(_) | Value::Data(..) => a.clone(),
        Value::Tuple(items) => Value::Tuple(items.iter().map(to_field).collect()),
        Value::Array(array) => {
            let cells = match array.view() {
                View::F64(v) => Cells::I64(v.iter().map(|x| scalar::factor(*x)).collect()),
                View::F32(v) => {
                    Cells::I64(v.iter().map(|x| scalar::factor(f64::from(*x))).collect())
                }
                View::I64(v) => Cells::I64(v.to_vec()),
                View::I32(v) => Cells::I32(v.to_vec()),
                View::Bool(v) => Cells::Bool(v.to_vec()),
                View::Items(v) => Cells::Items(v.iter().map(to_field).collect()),
            };
            Array::new(array.dims(), cells).map_or_else(|| a.clone(), Value::Array)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jut_ir::DataId;
    use jut_ir::entity::EntityRef;

    #[test]
    fn what_is_taken_out_leaves_a_zero_of_any_constructor() {
        let con = |index: u32| ConRef { data: DataId::new(0), index };
        let tree = Value::data(con(2), vec![Value::F64(1.5)]);
        let other = Value::data(con(1), vec![Value::F64(0.5), Value::F64(2.0)]);
        let cells = Cells::Items(vec![tree.clone(), other.clone()]);
        let array = Value::Array(Array::new(vec![2], cells).expect("an array"));
        let value = Value::tuple(vec![array, Value::F64(3.0)]);
        let zero = nothing(&value).expect("a vector");
        assert_eq!(zero.scalars(), 1);
        for next in [tree, other] {
            let zero = nothing(&next).expect("a vector");
            assert_eq!(add(zero, &next, LinearScalar::F64), Some(next));
        }
    }
}

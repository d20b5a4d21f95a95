//! Numbers of a vector, and those of values: written, read, and counted.

use crate::value::Value;
use std::slice::from_ref;

/// Puts a block of partial derivatives into a matrix from a cell on: those of each part of a result by each part of a parameter, one
/// after the other. Says whether there are as many.
pub fn spread(
    block: &[Value],
    (of, by): (&[usize], &[usize]),
    (start, width): (usize, usize),
    to: &mut [f64],
) -> bool {
    let mut floats = block.iter().flat_map(plain);
    let (mut row, mut fits) = (start, true);
    for height in of {
        let mut column = row;
        for part in by {
            for line in (column..).step_by(width.max(1)).take(*height) {
                for cell in line..line + part {
                    match (floats.next(), to.get_mut(cell)) {
                        (Some(x), Some(to)) => *to = x,
                        _ => fits = false,
                    }
                }
            }
            column += part;
        }
        row += height * width;
    }
    fits && floats.next().is_none()
}

/// The floats of a number or an array.
fn plain(value: &Value) -> impl Iterator<Item = f64> {
    let (doubles, singles): (&[f64], &[f32]) = match value {
        Value::F64(x) => (from_ref(x), &[]),
        Value::F32(x) => (&[], from_ref(x)),
        Value::F64s(a) => (&a.data, &[]),
        Value::F32s(a) => (&[], &a.data),
        _ => (&[], &[]),
    };
    doubles.iter().copied().chain(singles.iter().map(|x| f64::from(*x)))
}

/// How many numbers there are in each part of a value.
pub fn parts(value: &Value) -> Vec<usize> {
    match value {
        Value::Tuple(items) | Value::Data(_, items) | Value::List(items) => {
            items.iter().flat_map(parts).collect()
        }
        Value::F64(_) | Value::F32(_) => vec![1],
        Value::F64s(a) => vec![a.data.len()],
        Value::F32s(a) => vec![a.data.len()],
        _ => Vec::new(),
    }
}

/// Writes the floats of a value, one after the other; those of 32 bits are rounded.
pub fn fill(value: &mut Value, from: &mut &[f64]) {
    match value {
        Value::Tuple(items) | Value::Data(_, items) | Value::List(items) => {
            items.iter_mut().for_each(|item| fill(item, from));
        }
        Value::F64(x) => *x = from.split_off_first().copied().unwrap_or(*x),
        Value::F32(x) => *x = from.split_off_first().map_or(*x, |new| *new as f32),
        Value::F64s(a) => {
            if let Some(new) = from.split_off(..a.data.len()) {
                a.data.copy_from_slice(new);
            }
        }
        Value::F32s(a) => {
            let new = from.split_off(..a.data.len()).unwrap_or_default();
            a.data.iter_mut().zip(new).for_each(|(x, new)| *x = *new as f32);
        }
        _ => {}
    }
}

/// Copies the floats of a value, one after the other; says whether there was room.
pub fn copy(value: &Value, to: &mut &mut [f64]) -> bool {
    match value {
        Value::Tuple(items) | Value::Data(_, items) | Value::List(items) => {
            items.iter().all(|item| copy(item, to))
        }
        Value::F64(x) => to.split_off_first_mut().map(|to| *to = *x).is_some(),
        Value::F32(x) => to.split_off_first_mut().map(|to| *to = f64::from(*x)).is_some(),
        Value::F64s(a) => {
            to.split_off_mut(..a.data.len()).map(|to| to.copy_from_slice(&a.data)).is_some()
        }
        Value::F32s(a) => {
            let to = to.split_off_mut(..a.data.len());
            let each =
                |to: &mut [f64]| to.iter_mut().zip(&a.data).for_each(|(to, x)| *to = f64::from(*x));
            to.map(each).is_some()
        }
        _ => true,
    }
}

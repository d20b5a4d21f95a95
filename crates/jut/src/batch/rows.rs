//! Where the results of a batch go: values with one more dimension in front, made when the first element is known, and parts of
//! their rows, which several threads fill at once.

use crate::error::{ArgumentError, Result};
use crate::interface::Results;
use crate::value::{Array, Number, Out, Value, cells, numbers};
use std::borrow::Cow;

/// The results of the first element, each with one more dimension in front and room for so many elements.
///
/// # Errors
/// There is not so much memory (A03).
pub(super) fn with_room(first: &Results<'_>, count: usize) -> Result<Vec<Value>> {
    first.values().into_iter().map(|one| room(one, count)).collect()
}

fn room(first: Value, count: usize) -> Result<Value> {
    fn rows<T: Number>(mut shape: Vec<usize>, mut data: Vec<T>, count: usize) -> Result<Value> {
        shape.insert(0, count);
        grow(&mut data, count, T::default())?;
        Ok(Number::values(Array { shape, data }))
    }
    numbers!(Value, first;
        x => rows(Vec::new(), vec![x], count),
        [array] => rows(array.shape, array.data, count),
        Value::Tuple(items) => {
            let items: Result<_> = items.into_iter().map(|item| room(item, count)).collect();
            items.map(Value::Tuple)
        }
        other => {
            let mut items = vec![other];
            grow(&mut items, count, Value::Bool(false))?;
            Ok(Value::List(items))
        }
    )
}

/// Makes a list so many times as long.
fn grow<T: Clone>(data: &mut Vec<T>, count: usize, with: T) -> Result<()> {
    let all = data.len().checked_mul(count);
    match all.filter(|all| data.try_reserve_exact(all - data.len()).is_ok()) {
        Some(all) => {
            data.resize(all, with);
            Ok(())
        }
        None => {
            let reason = format!("there is no memory for the results of {count} elements");
            let help = "give fewer elements at a time";
            Err(ArgumentError::new("A03", "batch", reason, help).into())
        }
    }
}

/// The rows of a result that belong to elements beside each other.
pub(super) enum Rows<'r> {
    /// Numbers, and the shape of an element.
    Cells(Out<'r>, &'r [usize]),
    Tuple(Vec<Rows<'r>>),
    List(&'r mut [Value]),
}

impl<'r> Rows<'r> {
    /// All rows of a value [with room](with_room).
    pub fn of(value: &'r mut Value) -> Rows<'r> {
        fn cells<T: Number>(array: &mut Array<T>) -> Rows<'_> {
            let inner = array.shape.get(1..).unwrap_or_default();
            Rows::Cells(Number::outs(&mut array.data), inner)
        }
        numbers!(Value, value;
            _ => Rows::Tuple(Vec::new()),
            [array] => cells(array),
            Value::Tuple(items) => Rows::Tuple(items.iter_mut().map(Rows::of).collect()),
            Value::List(items) => Rows::List(items),
            Value::Data(..) => Rows::Tuple(Vec::new()),
        )
    }

    /// Those of so many elements at the beginning, which are no longer in these.
    pub fn take(&mut self, count: usize) -> Rows<'r> {
        fn first<'r, T>(all: &mut &'r mut [T], count: usize) -> &'r mut [T] {
            let count = count.min(all.len());
            let (first, rest) = std::mem::take(all).split_at_mut(count);
            *all = rest;
            first
        }
        match self {
            Rows::Cells(out, inner) => {
                let count = cells(inner).unwrap_or(0).saturating_mul(count);
                let first = numbers!(Out, out;
                    _ => Out::Bools(&mut []),
                    [all] => Number::outs(first(all, count)),
                );
                Rows::Cells(first, inner)
            }
            Rows::Tuple(items) => {
                Rows::Tuple(items.iter_mut().map(|rows| rows.take(count)).collect())
            }
            Rows::List(all) => Rows::List(first(all, count)),
        }
    }

    /// Puts the result of an element where it belongs.
    ///
    /// # Errors
    /// It has other sizes than the first one (A03).
    pub fn put(&mut self, at: usize, one: Cow<'_, Value>) -> Result<()> {
        fn row<T: Number>(all: &mut [T], inner: &[usize], at: usize, one: &Value) -> Result<()> {
            let Some((shape, data)) = T::cells(one) else { return Ok(()) };
            if shape != inner {
                let reason = format!("a result has the sizes {shape:?}, one before {inner:?}");
                let help = "give elements of one size, or call the function for each";
                return Err(ArgumentError::new("A03", "batch", reason, help).into());
            }
            let start = at * data.len();
            if let Some(row) = all.get_mut(start..start + data.len()) {
                row.copy_from_slice(data);
            }
            Ok(())
        }
        match self {
            Rows::Cells(out, inner) => {
                numbers!(Out, out; _ => Ok(()), [all] => row(all, inner, at, &one))
            }
            Rows::Tuple(rows) => match one.into_owned() {
                Value::Tuple(items) => {
                    let mut parts = rows.iter_mut().zip(items);
                    parts.try_for_each(|(rows, item)| rows.put(at, Cow::Owned(item)))
                }
                _ => Ok(()),
            },
            Rows::List(all) => {
                if let Some(to) = all.get_mut(at) {
                    *to = one.into_owned();
                }
                Ok(())
            }
        }
    }
}

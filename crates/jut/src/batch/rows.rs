//! Where the results of a batch go: values with one more dimension in front, made when the first element is known, or memory of
//! the caller; and parts of their rows, which several threads fill at once.

use crate::error::{ArgumentError, Result};
use crate::interface::Results;
use crate::value::{Array, Number, Out, Value, cells, numbers};
use std::borrow::Cow;

/// Where they go.
pub(super) enum Room<'r> {
    /// Values of jut's own, which there are not yet.
    Made(&'r mut Vec<Value>),
    /// Memory of the caller for each, and the shapes of an element's results, which are not known yet.
    Given(Vec<Out<'r>>, &'r mut Vec<Vec<usize>>),
}

impl<'r> Room<'r> {
    /// The rows of so many elements, with the first ones written.
    ///
    /// # Errors
    /// There is not so much memory (A03), or that of the caller does not fit (A05).
    pub fn with_first(self, first: &Results<'_>, count: usize) -> Result<Vec<Rows<'r>>> {
        match self {
            Room::Made(all) => {
                *all = first
                    .values()
                    .into_iter()
                    .map(|one| room(one, count))
                    .collect::<Result<_>>()?;
                Ok(all.iter_mut().map(Rows::of).collect())
            }
            Room::Given(outs, shapes) => {
                let first = first.values();
                *shapes =
                    first.iter().map(|one| one.shape().cloned().unwrap_or_default()).collect();
                let (shapes, mut all) = (&*shapes, Vec::with_capacity(outs.len()));
                for (k, (out, one)) in outs.into_iter().zip(first).enumerate() {
                    let shape = shapes.get(k).map_or(&[][..], Vec::as_slice);
                    let mut rows = Rows::Cells(given(out, &one, (k, count))?, shape);
                    rows.put(0, Cow::Owned(one))?;
                    all.push(rows);
                }
                Ok(all)
            }
        }
    }
}

/// Memory of the caller for result k as an array, if so many elements like the first one fit it.
///
/// # Errors
/// They do not (A05).
fn given<'r>(out: Out<'r>, first: &Value, (k, count): (usize, usize)) -> Result<Out<'r>> {
    fn many<'r, T: Number>(
        all: &'r mut [T],
        first: &Value,
        (k, count): (usize, usize),
    ) -> Result<Out<'r>> {
        let all_cells = T::cells(first).map(|(_, cells)| cells.len().checked_mul(count));
        let reason = match all_cells {
            Some(Some(needed)) if needed == all.len() => return Ok(Number::outs(all)),
            Some(Some(needed)) => format!("it has {} cells, not {needed}", all.len()),
            Some(None) => "there cannot be so much".to_owned(),
            None => format!("it is for another type, {}", T::SCALAR.name()),
        };
        let reason = format!("memory for result {k}, counted from 0, does not fit: {reason}");
        let help = "give as much as all elements have, of the same type; `call_batch` makes it";
        Err(ArgumentError::new("A05", "batch", reason, help).into())
    }
    numbers!(Out, out;
        one => many(std::slice::from_mut(one), first, (k, count)),
        [all] => many(all, first, (k, count)),
    )
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
    /// All rows of a value that has room for them.
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
            // One by one: to compare the memory of lists takes longer, most of all of empty ones, which have none.
            if !shape.iter().eq(inner) {
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

//! Paths: indices, slices and components, one after the other, from a place in a region or from a value.

use super::{Frame, Run, UNGUARDED, unchecked};
use crate::code::PathStep;
use crate::region::{Cursor, Misfit, Region};
use crate::value::{Value, slice_range};

/// Follows a path from a place in a region.
pub(super) fn steps<'a>(
    region: &Region,
    mut cursor: Cursor<'a>,
    path: &[PathStep],
    frame: &Frame,
) -> Run<Cursor<'a>> {
    for step in path {
        cursor = match step {
            PathStep::Index(i) => region.index(cursor, frame.int(i)?),
            PathStep::Slice(lo, count) => region.slice(cursor, frame.int(lo)?, frame.int(count)?),
            PathStep::Field(k) => cursor.field(*k as usize).ok_or(Misfit::Shape),
        }
        .or_else(Misfit::fault)?;
    }
    Ok(cursor)
}

/// Follows a path into a value: O(1) per step, nothing is copied but the scalar at the end.
pub(super) fn walk(value: &Value, path: &[PathStep], frame: &Frame) -> Run<Value> {
    let Some((first, rest)) = path.split_first() else {
        return Ok(value.clone());
    };
    match (first, value) {
        (PathStep::Index(i), Value::Array(array)) => {
            let i = frame.int(i)?;
            let Some(k) = usize::try_from(i).ok().filter(|k| *k < array.len()) else {
                return unchecked(UNGUARDED);
            };
            // The common case of several indices in a row needs no view in between.
            if let (Some(PathStep::Index(j)), Some(columns)) = (rest.first(), array.dim(1)) {
                let j = frame.int(j)?;
                let Some(l) = usize::try_from(j).ok().filter(|l| *l < columns) else {
                    return unchecked(UNGUARDED);
                };
                return match array.get2(k, l) {
                    Some(element) if rest.len() > 1 => walk(&element, &rest[1..], frame),
                    Some(element) => Ok(element),
                    None => unchecked("an index of something that is not an array"),
                };
            }
            match array.get(k) {
                Some(element) if !rest.is_empty() => walk(&element, rest, frame),
                Some(element) => Ok(element),
                None => unchecked("an index of something that is not an array"),
            }
        }
        (PathStep::Slice(lo, count), Value::Array(array)) => {
            let (lo, count) = (frame.int(lo)?, frame.int(count)?);
            let view =
                slice_range(lo, count, array.len()).and_then(|(lo, count)| array.slice(lo, count));
            match view {
                Some(view) => walk(&Value::Array(view), rest, frame),
                None => unchecked(UNGUARDED),
            }
        }
        (PathStep::Field(k), Value::Tuple(items)) => match items.get(*k as usize) {
            Some(item) => walk(item, rest, frame),
            None => unchecked("a component that a tuple does not have"),
        },
        _ => unchecked("a step into something that is not an array or tuple"),
    }
}

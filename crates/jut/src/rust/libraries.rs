//! Arrays of other libraries as parameters, results and fields: in the text a vector is an array, and a matrix an array of its rows, whatever the order in
//! which the library keeps its elements.
//!
//! What is translated is what has one meaning in all of them: an element by its index, how many there are, and iterators, which give the elements of a
//! matrix in the order of its library ([`Type::Matrix`](super::Type::Matrix)). Methods are found as those of the user's types are, by rustc.

#[cfg(feature = "nalgebra")]
mod nalgebra;
#[cfg(feature = "ndarray")]
mod ndarray;

use super::{Block, Data, Filled, Held, Type};
use crate::error::Result;

/// A definition that stands before the text: see `prelude`.
fn definition(name: &str, of: Type, ty: Type) -> Filled {
    let text = match of {
        Type::F32 => format!("{name}_f32"),
        _ => name.to_string(),
    };
    Filled::plain(text, ty)
}

/// A pair of sizes.
const SIZES: Type = Type::Tuple(&[Type::Usize, Type::Usize]);

/// The elements of a matrix, one row after the other.
fn rows<T: Block + Data>(elements: Vec<T>, rows: usize, columns: usize) -> Result<Held<'static>> {
    Ok(T::own(elements)?.in_rows(rows, columns))
}

/// The elements of a matrix, one row after the other, and its sizes.
fn taken<T: Block>(value: crate::value::Value) -> Option<(Vec<T>, usize, usize)> {
    let (rows, columns) = (super::neutral::length(&value)?, super::neutral::width(&value)?);
    Some((T::split(value, rows.checked_mul(columns)?)?, rows, columns))
}

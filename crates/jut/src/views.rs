//! Arrays of other libraries as arguments and results.
//!
//! With the feature `ndarray`, `nalgebra` or `faer`, a reference to an array or view of that library
//! converts into an [`Arg`] like a slice, with its shape:
//!
//! | feature | argument | is a |
//! |---|---|---|
//! | `ndarray` | `&ArrayBase` of any rank: arrays, views, slices of views | array of that rank |
//! | `nalgebra` | `&DVector`, `&SVector`, `&RowDVector`, views of one static column or row | vector |
//! | | `&DMatrix`, `&SMatrix`, views of them | matrix |
//! | `faer` | `&Col`, `&ColRef`, `&Row`, `&RowRef` | vector |
//! | | `&Mat`, `&MatRef` | matrix |
//!
//! **What is copied.** jut's arrays lie row by row without gaps. What lies so is borrowed: ndarray's
//! arrays in standard layout and such views; vectors of nalgebra (but views) and faer whose elements
//! are neighbours. Everything else (column-major matrices, so all of nalgebra's and faer's; transposed,
//! strided or reversed views) is copied element by element into memory that the session keeps, so that
//! further calls allocate nothing. A column-major matrix costs no copy if the program takes its
//! transpose: pass its slice with the shape `&[columns, rows]`.
//!
//! Results lie row by row in the session. They are borrowed as `ndarray::ArrayView`, as
//! `nalgebra::DMatrixView` and `DVectorView`, as `faer::MatRef` and `ColRef`, without a copy (the strides
//! say how they lie); each library makes owned ones of these.

#[cfg(any(feature = "ndarray", feature = "nalgebra", feature = "faer"))]
use crate::error::Error;
use crate::error::Result;
use crate::interface::Results;
pub use crate::value::{Element, View};

#[cfg(feature = "faer")]
mod faer;
#[cfg(feature = "nalgebra")]
mod nalgebra;
#[cfg(feature = "ndarray")]
mod ndarray;

impl Results<'_> {
    /// An array of any rank by name: its shape, and its elements row by row.
    ///
    /// ```
    /// # fn main() -> jut::Result<()> {
    /// let model = jut::Model::from_text("def f[n](x: [n]f64) -> [n, n]f64 =
    ///   build (i < n) { build (j < n) { x[i] * x[j] } }")?;
    /// let mut session = model.function("f")?.value()?.session();
    /// let results = session.call(&[(&[1.0, 2.0]).into()])?;
    /// assert_eq!(results.array::<f64>("value")?, (&[2, 2][..], &[1.0, 2.0, 2.0, 4.0][..]));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Error::Request`](crate::Error::Request) if there is no result of this name and type.
    pub fn array<T: Element>(&self, name: &str) -> Result<(&[usize], &[T])> {
        let array = self.leaf(name).and_then(T::array);
        let array =
            array.ok_or_else(|| self.no_result(name, &format!("an array of {}", T::NAME)))?;
        Ok((&array.shape, &array.data))
    }

    /// The same for an array of a certain rank.
    #[cfg(any(feature = "nalgebra", feature = "faer"))]
    fn array_of_rank<T: Element, const R: usize>(&self, name: &str) -> Result<([usize; R], &[T])> {
        let (shape, data) = self.array(name)?;
        match <[usize; R]>::try_from(shape) {
            Ok(shape) => Ok((shape, data)),
            Err(_) => Err(wrong_rank(name, shape, &format!("{R} dimensions"))),
        }
    }
}

/// A result is asked for with another number of dimensions.
#[cfg(any(feature = "ndarray", feature = "nalgebra", feature = "faer"))]
fn wrong_rank(name: &str, shape: &[usize], wanted: &str) -> Error {
    Error::Request(format!(
        "the result `{name}` has {} dimensions, {shape:?}, and is asked for with {wanted}",
        shape.len()
    ))
}

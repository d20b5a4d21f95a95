//! `ndarray`: arrays and views of any rank and layout.
//!
//! ```
//! use ndarray::{Array2, ArrayView1, array};
//!
//! # fn main() -> jut::Result<()> {
//! let model = jut::Model::from_text(
//!     "def loss[n, d](w: [d]f64, x: [n, d]f64) -> f64 = sum (i < n) { sum (j < d) { w[j] * x[i, j]^2 } }",
//! )?;
//! let gradient = model.function("loss")?.gradient()?;
//! let mut session = gradient.session();
//! let (w, x): (_, Array2<f64>) = (array![1.0, 2.0], array![[1.0, 3.0], [2.0, 5.0]]);
//! let results = session.call(&[(&w).into(), (&x.t()).into()])?; // the transposed view is copied
//! let dw: ArrayView1<f64> = results.ndarray("w")?;
//! assert_eq!(dw, array![10.0, 29.0]);
//! let owned: Array2<f64> = results.ndarray::<f64, ndarray::Ix2>("x")?.to_owned();
//! assert_eq!(owned.column(1), array![8.0, 20.0]);
//! # Ok(())
//! # }
//! ```
//!
//! Functions of Rust read them by element, and have derivatives of their types:
//!
//! ```
//! use ndarray::{Array1, Array2, array};
//!
//! #[jut::differentiable]
//! fn form(a: &Array2<f64>, x: &Array1<f64>) -> f64 {
//!     let mut s = 0.0;
//!     for i in 0..a.nrows() {
//!         for j in 0..a.ncols() {
//!             s += x[i] * a[[i, j]] * x[j];
//!         }
//!     }
//!     s
//! }
//!
//! # fn main() -> jut::Result<()> {
//! let (by_a, by_x) = form::gradient(&array![[2.0, 0.0], [1.0, 3.0]], &array![1.0, 2.0])?;
//! assert_eq!((by_a, by_x), (array![[1.0, 2.0], [2.0, 4.0]], array![6.0, 13.0]));
//! # Ok(())
//! # }
//! ```

use super::{Element, View, wrong_rank};
use crate::error::{Error, Result};
use crate::interface::Results;
use crate::value::{Arg, Array};
use ndarray::{ArrayBase, ArrayD, ArrayView, Data, Dimension, IxDyn, RawData};

impl<S, D> View<S::Elem> for ArrayBase<S, D>
where
    S: Data,
    S::Elem: Element,
    D: Dimension,
    ArrayBase<S, D>: Sync,
{
    fn sizes(&self, to: &mut Vec<usize>) {
        to.extend_from_slice(self.shape());
    }

    fn row_major(&self) -> Option<&[S::Elem]> {
        self.as_slice()
    }

    fn copy(&self, to: &mut Vec<S::Elem>) {
        to.extend(self.iter().copied());
    }
}

impl<'a, S, D> From<&'a ArrayBase<S, D>> for Arg<'a>
where
    S: Data,
    <S as RawData>::Elem: Element,
    D: Dimension,
    ArrayBase<S, D>: Sync,
{
    /// An array or view of any rank; copied unless it is in standard layout.
    fn from(array: &'a ArrayBase<S, D>) -> Arg<'a> {
        <S::Elem as Element>::view(array)
    }
}

/// The array itself: nothing is copied.
///
/// # Errors
/// [`Error::Request`] if the shape is not that of as many elements.
impl<T> TryFrom<Array<T>> for ArrayD<T> {
    type Error = Error;

    fn try_from(array: Array<T>) -> Result<ArrayD<T>> {
        ArrayD::from_shape_vec(IxDyn(&array.shape), array.data)
            .map_err(|e| Error::Request(format!("an array of shape {:?}: {e}", array.shape)))
    }
}

impl Results<'_> {
    /// An array by name, borrowed, with the rank of the view that is asked for (`ArrayViewD` for
    /// any). `to_owned` makes an array of it.
    ///
    /// # Errors
    /// [`Error::Request`] if there is no such array, or it has another rank.
    pub fn ndarray<T: Element, D: Dimension>(&self, name: &str) -> Result<ArrayView<'_, T, D>> {
        let (shape, data) = self.array(name)?;
        let view = ArrayView::from_shape(IxDyn(shape), data);
        let view = view.map_err(|e| Error::Request(format!("the result `{name}`: {e}")))?;
        let rank = || wrong_rank(name, shape, &format!("{} of them", D::NDIM.unwrap_or_default()));
        view.into_dimensionality().map_err(|_| rank())
    }
}

//! `nalgebra`: vectors, and matrices, which are column-major and therefore copied.
//!
//! ```
//! use nalgebra::{DMatrix, DVector, Matrix2};
//!
//! # fn main() -> jut::Result<()> {
//! let model = jut::Model::from_text(
//!     "def f[n](a: [n, n]f64, x: [n]f64) -> f64 = sum (i < n) { sum (j < n) { x[i] * a[i, j] * x[j] } }",
//! )?;
//! let hessian = model.function("f")?.wrt(&["x"])?.hessian()?;
//! let mut session = hessian.session();
//! let (a, x) = (Matrix2::new(1.0, 2.0, 0.0, 3.0), DVector::from_vec(vec![0.0, 0.0]));
//! let results = session.call(&[(&a).into(), (&x).into()])?;
//! let h: DMatrix<f64> = results.nalgebra::<f64>("x,x")?.into_owned();
//! assert_eq!(h, &a + a.transpose());
//! # Ok(())
//! # }
//! ```

use super::{Element, View};
use crate::error::Result;
use crate::interface::Results;
use crate::value::Arg;
use nalgebra::{
    ArrayStorage, Const, DMatrixView, DVectorView, Dim, Dyn, Matrix, RawStorage, Scalar, U1,
    VecStorage, ViewStorage,
};

/// The sizes of a matrix: one for what is statically a column or a row.
fn sizes<R: Dim, C: Dim>((rows, columns): (usize, usize), to: &mut Vec<usize>) {
    match (R::is::<U1>(), C::is::<U1>()) {
        (_, true) => to.push(rows),
        (true, false) => to.push(columns),
        (false, false) => to.extend([rows, columns]),
    }
}

fn copy<T: Element + Scalar, R: Dim, C: Dim, S: RawStorage<T, R, C>>(
    matrix: &Matrix<T, R, C, S>,
    to: &mut Vec<T>,
) {
    for i in 0..matrix.nrows() {
        to.extend(matrix.row(i).iter().copied());
    }
}

macro_rules! view {
    ([$($life:lifetime)?], [$($generics:tt)*], $rows:ty, $columns:ty, $storage:ty, $contiguous:expr) => {
        impl<$($life,)? T: Element + Scalar, $($generics)*> View<T> for Matrix<T, $rows, $columns, $storage> {
            fn sizes(&self, to: &mut Vec<usize>) {
                sizes::<$rows, $columns>(self.shape(), to);
            }

            fn row_major(&self) -> Option<&[T]> {
                let contiguous: fn(&Self) -> Option<&[T]> = $contiguous;
                contiguous(self)
            }

            fn copy(&self, to: &mut Vec<T>) {
                copy(self, to);
            }
        }

        impl<'m, $($life,)? T: Element + Scalar, $($generics)*> From<&'m Matrix<T, $rows, $columns, $storage>>
            for Arg<'m>
        {
            /// A vector, borrowed, or a matrix, copied row by row unless it has one row or column.
            fn from(matrix: &'m Matrix<T, $rows, $columns, $storage>) -> Arg<'m> {
                T::view(matrix)
            }
        }
    };
}

view!([], [C: Dim], Dyn, C, VecStorage<T, Dyn, C>, |m| {
    (m.nrows() <= 1 || m.ncols() <= 1).then(|| m.as_slice())
});
view!([], [const R: usize], Const<R>, Dyn, VecStorage<T, Const<R>, Dyn>, |m| {
    (R <= 1 || m.ncols() <= 1).then(|| m.as_slice())
});
view!([], [const R: usize, const C: usize], Const<R>, Const<C>, ArrayStorage<T, R, C>, |m| {
    (R <= 1 || C <= 1).then(|| m.as_slice())
});
// Whether the elements of a view are neighbours is not known without looking behind its interface.
view!(['v], [R: Dim, C: Dim, RS: Dim, CS: Dim], R, C, ViewStorage<'v, T, R, C, RS, CS>, |_| None);

impl Results<'_> {
    /// A matrix by name, borrowed: a view with row-major strides. `into_owned` makes a `DMatrix` of
    /// it.
    ///
    /// # Errors
    /// [`Error::Request`](crate::Error::Request) if there is no such array of rank two.
    pub fn nalgebra<T: Element + Scalar>(&self, name: &str) -> Result<DMatrixView<'_, T, Dyn, U1>> {
        let ([rows, columns], data) = self.array_of_rank::<T, 2>(name)?;
        let (shape, strides) = ((Dyn(rows), Dyn(columns)), (Dyn(columns), Const::<1>));
        Ok(DMatrixView::from_slice_with_strides_generic(
            data, shape.0, shape.1, strides.0, strides.1,
        ))
    }

    /// A vector by name, borrowed. `into_owned` makes a `DVector` of it.
    ///
    /// # Errors
    /// [`Error::Request`](crate::Error::Request) if there is no such array of rank one.
    pub fn nalgebra_vector<T: Element + Scalar>(&self, name: &str) -> Result<DVectorView<'_, T>> {
        let ([size], data) = self.array_of_rank::<T, 1>(name)?;
        Ok(DVectorView::from_slice(data, size))
    }
}

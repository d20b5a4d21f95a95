//! `faer`: vectors, and matrices, which are column-major and therefore copied.
//!
//! ```
//! use faer::{Mat, col, mat};
//!
//! # fn main() -> jut::Result<()> {
//! let model = jut::Model::from_text(
//!     "def f[n, m](a: [n, m]f64, x: [m]f64) -> [n]f64 = build (i < n) { sin(sum (j < m) { a[i, j] * x[j] }) }",
//! )?;
//! let jacobian = model.function("f")?.wrt(&["x"])?.jacobian(jut::JacobianMode::Auto)?;
//! let mut session = jacobian.session();
//! let (a, x) = (mat![[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], col![0.0, 0.0, 0.0]);
//! let results = session.call(&[(&a).into(), (&x).into()])?;
//! let j: Mat<f64> = results.faer::<f64>("value,x")?.to_owned();
//! assert_eq!(j, a);
//! # Ok(())
//! # }
//! ```

use super::{Element, View};
use crate::error::Result;
use crate::interface::Results;
use crate::value::Arg;
use faer::{Col, ColRef, Mat, MatRef, Row, RowRef};

/// The elements of a matrix of one row or column, if they are neighbours.
fn matrix<'a, T>(view: MatRef<'a, T>) -> Option<&'a [T]> {
    match view.shape() {
        (1, _) => row(view.row(0)),
        (_, 1) => column(view.col(0)),
        _ => None,
    }
}

/// The elements of a column, if they are neighbours.
fn column<'a, T>(view: ColRef<'a, T>) -> Option<&'a [T]> {
    view.try_as_col_major().map(|column| column.as_slice())
}

/// The elements of a row, if they are neighbours.
fn row<'a, T>(view: RowRef<'a, T>) -> Option<&'a [T]> {
    view.try_as_row_major().map(|row| row.as_slice())
}

impl<T: Element> View<T> for MatRef<'_, T> {
    fn sizes(&self, to: &mut Vec<usize>) {
        to.extend([self.nrows(), self.ncols()]);
    }

    fn row_major(&self) -> Option<&[T]> {
        matrix(*self)
    }

    fn copy(&self, to: &mut Vec<T>) {
        for i in 0..self.nrows() {
            to.extend((0..self.ncols()).map(|j| self[(i, j)]));
        }
    }
}

impl<T: Element> View<T> for ColRef<'_, T> {
    fn sizes(&self, to: &mut Vec<usize>) {
        to.push(self.nrows());
    }

    fn row_major(&self) -> Option<&[T]> {
        column(*self)
    }

    fn copy(&self, to: &mut Vec<T>) {
        to.extend((0..self.nrows()).map(|i| self[i]));
    }
}

impl<T: Element> View<T> for RowRef<'_, T> {
    fn sizes(&self, to: &mut Vec<usize>) {
        to.push(self.ncols());
    }

    fn row_major(&self) -> Option<&[T]> {
        row(*self)
    }

    fn copy(&self, to: &mut Vec<T>) {
        to.extend((0..self.ncols()).map(|j| self[j]));
    }
}

macro_rules! owned {
    ($owned:ty, $row_major:path) => {
        impl<T: Element> View<T> for $owned {
            fn sizes(&self, to: &mut Vec<usize>) {
                self.as_ref().sizes(to);
            }

            fn row_major(&self) -> Option<&[T]> {
                $row_major(self.as_ref())
            }

            fn copy(&self, to: &mut Vec<T>) {
                self.as_ref().copy(to);
            }
        }
    };
}

owned!(Mat<T>, matrix);
owned!(Col<T>, column);
owned!(Row<T>, row);

macro_rules! argument {
    ($array:ty) => {
        impl<'a, T: Element> From<&'a $array> for Arg<'a> {
            /// A vector, borrowed where its elements are neighbours, or a matrix, copied row by row
            /// unless it has one row or column.
            fn from(array: &'a $array) -> Arg<'a> {
                T::view(array)
            }
        }
    };
}

argument!(Mat<T>);
argument!(Col<T>);
argument!(Row<T>);
argument!(MatRef<'_, T>);
argument!(ColRef<'_, T>);
argument!(RowRef<'_, T>);

impl Results<'_> {
    /// A matrix by name, borrowed: a view with row-major strides. `to_owned` makes a `Mat` of it.
    ///
    /// # Errors
    /// [`Error::Request`](crate::Error::Request) if there is no such array of rank two.
    pub fn faer<T: Element>(&self, name: &str) -> Result<MatRef<'_, T>> {
        let ([rows, columns], data) = self.array_of_rank::<T, 2>(name)?;
        Ok(MatRef::from_row_major_slice(data, rows, columns))
    }

    /// A vector by name, borrowed. `to_owned` makes a `Col` of it.
    ///
    /// # Errors
    /// [`Error::Request`](crate::Error::Request) if there is no such array of rank one.
    pub fn faer_col<T: Element>(&self, name: &str) -> Result<ColRef<'_, T>> {
        let ([_], data) = self.array_of_rank::<T, 1>(name)?;
        Ok(ColRef::from_slice(data))
    }
}

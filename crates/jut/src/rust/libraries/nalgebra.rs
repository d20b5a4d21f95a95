//! `nalgebra`: vectors and matrices. What has one column is a vector here.

use super::super::data::{Elements, Gradient, Method, key};
use super::super::{Argument, Block, Data, Filled, Held, Linker, Outcome, Type, Words};
use crate::error::Result;
use crate::value::Value;
use nalgebra::{ArrayStorage, Const, DMatrix, DVector, Dim, Matrix, RawStorage, SMatrix, Scalar};

impl<T: Data + 'static> Data for DVector<T> {
    const TYPE: Type = Type::Vec(&T::TYPE);
    type Gradient = DVector<Gradient<T>>;
}

impl<T: Data + 'static> Data for DMatrix<T> {
    const TYPE: Type = Type::Matrix(&Type::Vec(&Type::Vec(&T::TYPE)), true);
    type Gradient = DMatrix<Gradient<T>>;
}

/// Types of matrices of fixed sizes, for references that stay.
struct Fixed<T, const R: usize, const C: usize>(std::marker::PhantomData<T>);

impl<T: Data + 'static, const R: usize, const C: usize> Fixed<T, R, C> {
    const ROW: Type = Type::Fixed(&T::TYPE, C);
    const ROWS: Type = Type::Fixed(&Self::ROW, R);
    const TYPE: Type = match C {
        1 => Type::Fixed(&T::TYPE, R),
        _ => Type::Matrix(&Self::ROWS, true),
    };
}

impl<T: Data + 'static, const R: usize, const C: usize> Data for SMatrix<T, R, C> {
    const TYPE: Type = Fixed::<T, R, C>::TYPE;
    type Gradient = SMatrix<Gradient<T>, R, C>;
}

impl<T, R: Dim, C: Dim, S: RawStorage<T, R, C>> Elements for Matrix<T, R, C, S> {
    type Element = T;
}

/// The elements, one row after the other.
fn by_rows<T: Scalar, R: Dim, C: Dim, S: RawStorage<T, R, C>>(m: &Matrix<T, R, C, S>) -> Vec<T> {
    (0..m.nrows()).flat_map(|i| (0..m.ncols()).map(move |j| m[(i, j)].clone())).collect()
}

impl<T: Block> Argument for DVector<T> {
    fn hold(&self) -> Result<Held<'_>> {
        T::many(self.data.as_vec())
    }
    #[inline(always)]
    fn words<'a>(&'a self, words: &mut Words<'_, '_, 'a>) {
        T::words(self.data.as_vec(), words);
    }
}

impl<T: Block + Data + Scalar> Argument for DMatrix<T> {
    fn hold(&self) -> Result<Held<'_>> {
        super::rows(by_rows(self), self.nrows(), self.ncols())
    }
}

impl<T: Block + Data + Scalar, const R: usize, const C: usize> Argument for SMatrix<T, R, C> {
    fn hold(&self) -> Result<Held<'_>> {
        match C {
            1 => T::own(self.data.0.concat()),
            _ => super::rows(by_rows(self), R, C),
        }
    }
    #[inline(always)]
    fn words<'a>(&'a self, words: &mut Words<'_, '_, 'a>) {
        // Of others the text has the elements in another order.
        match C {
            1 => T::words(self.data.0.as_flattened(), words),
            _ => words.refuse(),
        }
    }
}

impl<T: Block> Outcome for DVector<T>
where
    T: Scalar,
{
    fn take(value: Value) -> Option<DVector<T>> {
        Vec::take(value).map(DVector::from_vec)
    }
}

impl<T: Block + Scalar> Outcome for DMatrix<T> {
    fn take(value: Value) -> Option<DMatrix<T>> {
        let (elements, rows, columns) = super::taken(value)?;
        Some(DMatrix::from_row_slice(rows, columns, &elements))
    }
}

impl<T: Block + Scalar, const R: usize, const C: usize> Outcome for SMatrix<T, R, C> {
    fn take(value: Value) -> Option<SMatrix<T, R, C>> {
        let elements = T::split(value, R.checked_mul(C)?)?;
        let whole = elements.len() == R * C;
        whole.then(|| SMatrix::from_row_slice(&elements))
    }
}

macro_rules! sizes {
    ($([$($generics:tt)*] $matrix:ty, $one:expr;)*) => {$(
        impl<T: Data, $($generics)*> Method<{ key("nrows") }, usize> for $matrix {
            type Looks = crate::rust::Always;
            fn link(_: &mut Linker) -> Filled {
                super::definition(if $one { "rust_size" } else { "rust_rows" }, T::TYPE, Type::Usize)
            }
        }

        impl<T: Data, $($generics)*> Method<{ key("ncols") }, usize> for $matrix {
            type Looks = crate::rust::Always;
            fn link(_: &mut Linker) -> Filled {
                super::definition(if $one { "rust_one" } else { "rust_columns" }, T::TYPE, Type::Usize)
            }
        }

        impl<T: Data, $($generics)*> Method<{ key("shape") }, (usize, usize)> for $matrix {
            type Looks = crate::rust::Always;
            fn link(_: &mut Linker) -> Filled {
                super::definition(if $one { "rust_height" } else { "rust_sizes" }, T::TYPE, super::SIZES)
            }
        }
    )*};
}

sizes! {
    [] DVector<T>, true;
    [] DMatrix<T>, false;
    [const R: usize, const C: usize] Matrix<T, Const<R>, Const<C>, ArrayStorage<T, R, C>>, C == 1;
}

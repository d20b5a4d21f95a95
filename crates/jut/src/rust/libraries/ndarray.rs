//! `ndarray`: vectors and matrices, also views of them. A derivative by a view is an array of its own.

use super::super::data::{Elements, Gradient, Method, key};
use super::super::{Argument, Block, Data, Filled, Held, Linker, Outcome, Type, Words};
use crate::error::Result;
use crate::value::Value;
use ndarray::{Array1, Array2, ArrayView1, ArrayView2};

impl<T: Data + 'static> Data for Array1<T> {
    const TYPE: Type = Type::Vec(&T::TYPE);
    type Gradient = Array1<Gradient<T>>;
}

impl<T: Data + 'static> Data for Array2<T> {
    const TYPE: Type = Type::Matrix(&Type::Vec(&Type::Vec(&T::TYPE)), false);
    type Gradient = Array2<Gradient<T>>;
}

impl<T: Data + 'static> Data for ArrayView1<'_, T> {
    const TYPE: Type = Type::Vec(&T::TYPE);
    type Gradient = Array1<Gradient<T>>;
}

impl<T: Data + 'static> Data for ArrayView2<'_, T> {
    const TYPE: Type = Type::Matrix(&Type::Vec(&Type::Vec(&T::TYPE)), false);
    type Gradient = Array2<Gradient<T>>;
}

macro_rules! arrays {
    ($($vector:ty, $matrix:ty;)*) => {$(
        impl<T> Elements for $vector {
            type Element = T;
        }

        impl<T> Elements for $matrix {
            type Element = T;
        }

        impl<T: Block> Argument for $vector {
            fn hold(&self) -> Result<Held<'_>> {
                match self.as_slice() {
                    Some(elements) => T::many(elements),
                    None => T::own(self.iter().cloned().collect()),
                }
            }
            #[inline(always)]
            fn words<'a>(&'a self, words: &mut Words<'_, '_, 'a>) {
                match self.as_slice() {
                    Some(elements) => T::words(elements, words),
                    None => words.refuse(),
                }
            }
        }

        impl<T: Block + Data> Argument for $matrix {
            fn hold(&self) -> Result<Held<'_>> {
                super::rows(self.iter().cloned().collect(), self.nrows(), self.ncols())
            }
        }

        impl<T: Data> Method<{ key("nrows") }, usize> for $matrix {
            type Looks = crate::rust::Always;
            fn link(_: &mut Linker) -> Filled {
                super::definition("rust_rows", T::TYPE, Type::Usize)
            }
        }

        impl<T: Data> Method<{ key("ncols") }, usize> for $matrix {
            type Looks = crate::rust::Always;
            fn link(_: &mut Linker) -> Filled {
                super::definition("rust_columns", T::TYPE, Type::Usize)
            }
        }

        impl<T: Data> Method<{ key("dim") }, (usize, usize)> for $matrix {
            type Looks = crate::rust::Always;
            fn link(_: &mut Linker) -> Filled {
                super::definition("rust_sizes", T::TYPE, super::SIZES)
            }
        }

        impl<T: Data> Method<{ key("dim") }, usize> for $vector {
            type Looks = crate::rust::Always;
            fn link(_: &mut Linker) -> Filled {
                super::definition("rust_size", T::TYPE, Type::Usize)
            }
        }
    )*};
}

arrays! {
    Array1<T>, Array2<T>;
    ArrayView1<'_, T>, ArrayView2<'_, T>;
}

impl<T: Block> Outcome for Array1<T> {
    fn take(value: Value) -> Option<Array1<T>> {
        Vec::take(value).map(Array1::from_vec)
    }
}

impl<T: Block> Outcome for Array2<T> {
    fn take(value: Value) -> Option<Array2<T>> {
        let (elements, rows, columns) = super::taken(value)?;
        Array2::from_shape_vec((rows, columns), elements).ok()
    }
}

//! The kinds of numbers, of which truth values are one: what is the same for all of them is written once.

use super::{Arg, Array, Out, Value};
use jut_ir::Scalar;
use jut_native::Arg as Word;

/// A kind of numbers. Values, arguments, memory for results and words of calls have a variant for it, and one for its arrays.
pub(crate) trait Number: Copy + Default {
    /// Which it is.
    const SCALAR: Scalar;

    /// A number as an argument.
    fn arg<'a>(self) -> Arg<'a>;

    /// An array as an argument.
    fn args<'a>(data: &'a [Self], shape: Option<&'a [usize]>) -> Arg<'a>;

    /// Memory for an array.
    fn outs<'a>(data: &'a mut [Self]) -> Out<'a>;

    /// A number as a value.
    fn value(self) -> Value;

    /// An array as a value.
    fn values(array: Array<Self>) -> Value;

    /// The shape and the cells of a number or an array, if they are of this kind.
    fn cells(value: &Value) -> Option<(&[usize], &[Self])>;

    /// A number as a word of a call.
    fn word<'a>(self) -> Word<'a>;

    /// Cells that are read.
    fn words<'a>(data: &'a [Self]) -> Word<'a>;

    /// Cells that are written.
    fn words_mut<'a>(data: &'a mut [Self]) -> Word<'a>;
}

macro_rules! number {
    ($number:ty, $one:ident, $many:ident, $written:ident) => {
        impl Number for $number {
            const SCALAR: Scalar = Scalar::$one;

            #[inline]
            fn arg<'a>(self) -> Arg<'a> {
                Arg::$one(self)
            }

            #[inline]
            fn args<'a>(data: &'a [Self], shape: Option<&'a [usize]>) -> Arg<'a> {
                Arg::$many(data, shape)
            }

            fn outs<'a>(data: &'a mut [Self]) -> Out<'a> {
                Out::$many(data)
            }

            fn value(self) -> Value {
                Value::$one(self)
            }

            fn values(array: Array<Self>) -> Value {
                Value::$many(array)
            }

            fn cells(value: &Value) -> Option<(&[usize], &[Self])> {
                match value {
                    Value::$one(x) => Some((&[], std::slice::from_ref(x))),
                    Value::$many(a) => Some((&a.shape, &a.data)),
                    _ => None,
                }
            }

            #[inline]
            fn word<'a>(self) -> Word<'a> {
                Word::$one(self)
            }

            #[inline]
            fn words<'a>(data: &'a [Self]) -> Word<'a> {
                Word::$many(data)
            }

            #[inline]
            fn words_mut<'a>(data: &'a mut [Self]) -> Word<'a> {
                Word::$written(data)
            }
        }
    };
}

number!(f64, F64, F64s, F64sMut);
number!(f32, F32, F32s, F32sMut);
number!(i64, I64, I64s, I64sMut);
number!(i32, I32, I32s, I32sMut);
number!(bool, Bool, Bools, BoolsMut);

/// A `match` in which all kinds of numbers are one case, and all kinds of arrays of them another one; further cases stand behind.
macro_rules! numbers {
    ($of:ident, $value:expr; $x:pat => $one:expr, [$($a:pat),+] => $many:expr $(, $($rest:tt)*)?) => {
        match $value {
            $of::F64($x) => $one,
            $of::F32($x) => $one,
            $of::I64($x) => $one,
            $of::I32($x) => $one,
            $of::Bool($x) => $one,
            $of::F64s($($a),+) => $many,
            $of::F32s($($a),+) => $many,
            $of::I64s($($a),+) => $many,
            $of::I32s($($a),+) => $many,
            $of::Bools($($a),+) => $many,
            $($($rest)*)?
        }
    };
}

/// What is made of a kind of numbers, which is a type there.
macro_rules! of_kind {
    ($scalar:expr, $number:ident => $made:expr) => {
        match $scalar {
            jut_ir::Scalar::F64 => {
                type $number = f64;
                $made
            }
            jut_ir::Scalar::F32 => {
                type $number = f32;
                $made
            }
            jut_ir::Scalar::I64 => {
                type $number = i64;
                $made
            }
            jut_ir::Scalar::I32 => {
                type $number = i32;
                $made
            }
            jut_ir::Scalar::Bool => {
                type $number = bool;
                $made
            }
        }
    };
}

pub(crate) use {numbers, of_kind};

/// How many elements an array has, and its shape, if that is given.
pub(crate) type Extent<'a> = (usize, Option<&'a [usize]>);

impl<'a> Arg<'a> {
    /// Which numbers it consists of, and the extent of an array; none of what is no number and no slice.
    #[inline]
    pub(crate) fn plain(&self) -> Option<(Scalar, Option<Extent<'a>>)> {
        fn of<T: Number>(_: &[T]) -> Scalar {
            T::SCALAR
        }
        numbers!(Arg, *self;
            x => Some((of(&[x]), None)),
            [data, shape] => Some((of(data), Some((data.len(), shape)))),
            _ => None,
        )
    }

    /// The extent of an array.
    #[inline]
    pub(crate) fn extent(&self) -> Option<Extent<'a>> {
        self.plain()?.1
    }
}

impl Value {
    /// The shape of an array of numbers.
    pub(crate) fn shape(&self) -> Option<&Vec<usize>> {
        numbers!(Value, self; _ => None, [a] => Some(&a.shape), _ => None)
    }

    /// The shape of an array of numbers, to be changed.
    pub(crate) fn shape_mut(&mut self) -> Option<&mut Vec<usize>> {
        numbers!(Value, self; _ => None, [a] => Some(&mut a.shape), _ => None)
    }
}

//! Values at the border between a Rust program and a jut function: borrowed arguments and owned
//! values.

mod number;
mod view;

use jut_ir::Scalar;
use jut_runtime::math;
pub(crate) use number::{Number, numbers, of_kind};
pub(crate) use view::Copied;
pub use view::{Element, View};

/// An argument of a call: a scalar, or a borrowed array.
///
/// Arrays are contiguous, row by row. A slice is enough for an array of rank one, and for one of higher
/// rank whose sizes follow from other arguments; otherwise give the shape with it.
///
/// ```
/// use jut::Arg;
/// let x = vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
/// let row: Arg = (&x).into();
/// let matrix: Arg = (&x, &[2, 3]).into();
/// let scalar: Arg = 0.5.into();
/// # let _ = (row, matrix, scalar);
/// ```
#[derive(Clone, Copy, Debug)]
pub enum Arg<'a> {
    /// A float of 64 bits.
    F64(f64),
    /// A float of 32 bits. It is written out, `Arg::F32(x)`: with an `into()` of its own numbers without a type,
    /// `0.5.into()`, would have two meanings.
    F32(f32),
    /// An integer of 64 bits.
    I64(i64),
    /// An integer of 32 bits. It is written out, `Arg::I32(k)`, like a float of 32 bits.
    I32(i32),
    /// A truth value.
    Bool(bool),
    /// An array of floats, and its shape if given.
    F64s(&'a [f64], Option<&'a [usize]>),
    /// An array of floats of 32 bits.
    F32s(&'a [f32], Option<&'a [usize]>),
    /// An array of integers.
    I64s(&'a [i64], Option<&'a [usize]>),
    /// An array of integers of 32 bits.
    I32s(&'a [i32], Option<&'a [usize]>),
    /// An array of truth values.
    Bools(&'a [bool], Option<&'a [usize]>),
    /// A tuple or record: its components in order. An array of tuples is the tuple of its arrays.
    Tuple(&'a [Arg<'a>]),
    /// A tuple or record of owned values.
    Values(&'a [Value]),
    /// A value of a data type with several constructors: the constructor's name and the fields.
    Data(&'a str, &'a [Value]),
    /// An array of a data type with several constructors: its elements, which are lists again where the
    /// array has more dimensions.
    List(&'a [Value]),
    /// An array of floats of another library; see [`crate::views`].
    F64View(&'a dyn View<f64>),
    /// An array of integers of another library.
    I64View(&'a dyn View<i64>),
    /// An array of truth values of another library.
    BoolView(&'a dyn View<bool>),
}

impl Arg<'_> {
    /// A size or an index. There is no `From<usize>`: with it a literal without a type, `3.into()`, would have two meanings, as with
    /// [`Arg::I32`]. What is more than `i64::MAX`, which no array has, is that.
    ///
    /// ```
    /// # fn main() -> jut::Result<()> {
    /// let model = jut::Model::from_text("def f(x: f64, n: i64) -> f64 = sum (i < n) { x ^ i }")?;
    /// let steps = [0.1, 0.2, 0.3];
    /// let values = model.function("f")?.value()?.call(&[2.0.into(), jut::Arg::size(steps.len())])?;
    /// assert_eq!(values[0].floats(), [7.0]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn size(n: usize) -> Self {
        Arg::I64(i64::try_from(n).unwrap_or(i64::MAX))
    }
}

macro_rules! arg_from {
    ($scalar:ty, $one:ident, $many:ident) => {
        impl From<$scalar> for Arg<'_> {
            fn from(value: $scalar) -> Self {
                Arg::$one(value)
            }
        }

        impl<'a> From<&'a [$scalar]> for Arg<'a> {
            fn from(data: &'a [$scalar]) -> Self {
                Arg::$many(data, None)
            }
        }

        impl<'a> From<&'a Vec<$scalar>> for Arg<'a> {
            fn from(data: &'a Vec<$scalar>) -> Self {
                Arg::$many(data, None)
            }
        }

        impl<'a, const N: usize> From<&'a [$scalar; N]> for Arg<'a> {
            fn from(data: &'a [$scalar; N]) -> Self {
                Arg::$many(data, None)
            }
        }

        impl<'a, const R: usize> From<(&'a [$scalar], &'a [usize; R])> for Arg<'a> {
            fn from((data, shape): (&'a [$scalar], &'a [usize; R])) -> Self {
                Arg::$many(data, Some(shape))
            }
        }

        impl<'a, const R: usize> From<(&'a Vec<$scalar>, &'a [usize; R])> for Arg<'a> {
            fn from((data, shape): (&'a Vec<$scalar>, &'a [usize; R])) -> Self {
                Arg::$many(data, Some(shape))
            }
        }
    };
}

arg_from!(f64, F64, F64s);
arg_from!(i64, I64, I64s);
arg_from!(bool, Bool, Bools);

impl<'a> From<&'a Value> for Arg<'a> {
    fn from(value: &'a Value) -> Self {
        numbers!(Value, value;
            x => x.arg(),
            [a] => Number::args(&a.data, Some(&a.shape)),
            Value::Tuple(items) => Arg::Values(items),
            Value::Data(name, fields) => Arg::Data(name, fields),
            Value::List(items) => Arg::List(items),
        )
    }
}

/// Memory of the caller for a result.
#[derive(Debug)]
pub enum Out<'a> {
    /// A float of 64 bits.
    F64(&'a mut f64),
    /// A float of 32 bits.
    F32(&'a mut f32),
    /// An integer of 64 bits.
    I64(&'a mut i64),
    /// An integer of 32 bits.
    I32(&'a mut i32),
    /// A truth value.
    Bool(&'a mut bool),
    /// An array of floats, row by row, as long as the result.
    F64s(&'a mut [f64]),
    /// An array of floats of 32 bits.
    F32s(&'a mut [f32]),
    /// An array of integers.
    I64s(&'a mut [i64]),
    /// An array of integers of 32 bits.
    I32s(&'a mut [i32]),
    /// An array of truth values.
    Bools(&'a mut [bool]),
}

impl Out<'_> {
    /// The same memory, for a shorter time.
    pub(crate) fn again(&mut self) -> Out<'_> {
        match self {
            Out::F64(x) => Out::F64(x),
            Out::F32(x) => Out::F32(x),
            Out::I64(x) => Out::I64(x),
            Out::I32(x) => Out::I32(x),
            Out::Bool(x) => Out::Bool(x),
            Out::F64s(all) => Out::F64s(all),
            Out::F32s(all) => Out::F32s(all),
            Out::I64s(all) => Out::I64s(all),
            Out::I32s(all) => Out::I32s(all),
            Out::Bools(all) => Out::Bools(all),
        }
    }
}

macro_rules! out_from {
    ($scalar:ty, $one:ident, $many:ident) => {
        impl<'a> From<&'a mut $scalar> for Out<'a> {
            fn from(x: &'a mut $scalar) -> Self {
                Out::$one(x)
            }
        }

        impl<'a> From<&'a mut [$scalar]> for Out<'a> {
            fn from(x: &'a mut [$scalar]) -> Self {
                Out::$many(x)
            }
        }

        impl<'a> From<&'a mut Vec<$scalar>> for Out<'a> {
            fn from(x: &'a mut Vec<$scalar>) -> Self {
                Out::$many(x)
            }
        }

        impl<'a, const N: usize> From<&'a mut [$scalar; N]> for Out<'a> {
            fn from(x: &'a mut [$scalar; N]) -> Self {
                Out::$many(x)
            }
        }
    };
}

out_from!(f64, F64, F64s);
out_from!(i64, I64, I64s);
out_from!(bool, Bool, Bools);

/// An array that owns its elements: a shape, and the elements row by row.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Array<T> {
    /// One size per dimension.
    pub shape: Vec<usize>,
    /// As many elements as the product of the sizes.
    pub data: Vec<T>,
}

impl<T> Array<T> {
    /// Whether there are as many elements as the shape says, and arrays of this shape can be.
    pub(crate) fn is_consistent(&self) -> bool {
        cells(&self.shape) == Some(self.data.len())
    }
}

/// No dimension is as large, also of an array without elements: so what is computed of a few dimensions is an i64.
pub(crate) const MAX_DIMENSION: usize = jut_ir::cover::MAX_CELLS as usize;

/// The number of elements of a shape. `None` if no array has it: a dimension is [`MAX_DIMENSION`] or more, or without the dimensions
/// of size zero it has more bytes than can be addressed, so that no loop over any dimension could have made it.
pub(crate) fn cells(shape: &[usize]) -> Option<usize> {
    if shape.iter().any(|n| *n >= MAX_DIMENSION) {
        return None;
    }
    let others = shape.iter().filter(|n| **n != 0).try_fold(1usize, |p, n| p.checked_mul(*n))?;
    let fits = others.checked_mul(8).is_some_and(|bytes| bytes <= isize::MAX as usize);
    fits.then_some(if shape.contains(&0) { 0 } else { others })
}

/// A value that owns what it is made of.
#[derive(Clone, PartialEq, Debug)]
pub enum Value {
    /// A float of 64 bits.
    F64(f64),
    /// A float of 32 bits.
    F32(f32),
    /// An integer of 64 bits.
    I64(i64),
    /// An integer of 32 bits. It is written out, `Arg::I32(k)`, like a float of 32 bits.
    I32(i32),
    /// A truth value.
    Bool(bool),
    /// An array of floats.
    F64s(Array<f64>),
    /// An array of floats of 32 bits.
    F32s(Array<f32>),
    /// An array of integers.
    I64s(Array<i64>),
    /// An array of integers of 32 bits.
    I32s(Array<i32>),
    /// An array of truth values.
    Bools(Array<bool>),
    /// A tuple, or a record: its components in order. An array of tuples is the tuple of its
    /// arrays.
    Tuple(Vec<Value>),
    /// A value of a data type with several constructors: the constructor's name and the fields.
    Data(String, Vec<Value>),
    /// An array of a data type with several constructors: its elements, which are lists again where the
    /// array has more dimensions.
    List(Vec<Value>),
}

impl Value {
    /// Bytes that it holds for its arrays, used or not.
    pub(crate) fn held(&self) -> usize {
        fn bytes<T>(data: &Vec<T>) -> usize {
            size_of::<T>() * data.capacity()
        }
        numbers!(Value, self;
            _ => 0,
            [a] => bytes(&a.data),
            Value::Tuple(items) | Value::Data(_, items) | Value::List(items) => {
                items.iter().map(Value::held).sum()
            }
        )
    }

    /// Gives the memory of its arrays back to the system; they are empty then.
    pub(crate) fn release(&mut self) {
        numbers!(Value, self;
            _ => {},
            [a] => a.data = Vec::new(),
            Value::Tuple(items) | Value::Data(_, items) | Value::List(items) => {
                items.iter_mut().for_each(Value::release);
            }
        )
    }

    /// Gives its arrays the shapes of as many elements, leaf by leaf; lists keep theirs.
    pub(crate) fn reshape(&mut self, shapes: &mut impl Iterator<Item = Vec<usize>>) {
        fn one<T>(array: &mut Array<T>, shape: Option<Vec<usize>>) {
            array.shape = match shape {
                Some(shape) if cells(&shape) == Some(array.data.len()) => shape,
                _ => return,
            };
        }
        numbers!(Value, self;
            _ => drop(shapes.next()),
            [a] => one(a, shapes.next()),
            Value::Tuple(items) => items.iter_mut().for_each(|item| item.reshape(shapes)),
            Value::Data(..) | Value::List(_) => {},
        )
    }

    /// What kind of value this is, in a few words, for messages.
    pub fn describe(&self) -> String {
        Arg::from(self).describe()
    }

    /// All floats of the value, in order; those of 32 bits as the same numbers in 64.
    pub fn floats(&self) -> Vec<f64> {
        match self {
            Value::F64(x) => vec![*x],
            Value::F32(x) => vec![f64::from(*x)],
            Value::F64s(a) => a.data.clone(),
            Value::F32s(a) => a.data.iter().map(|x| f64::from(*x)).collect(),
            Value::Tuple(items) | Value::Data(_, items) | Value::List(items) => {
                items.iter().flat_map(Value::floats).collect()
            }
            Value::I64(_) | Value::I32(_) | Value::Bool(_) => Vec::new(),
            Value::I64s(_) | Value::I32s(_) | Value::Bools(_) => Vec::new(),
        }
    }

    /// The same value with the floats changed one after the other; those of 32 bits are rounded.
    pub fn map_floats(&self, change: &mut dyn FnMut(f64) -> f64) -> Value {
        match self {
            Value::F64(x) => Value::F64(change(*x)),
            Value::F32(x) => Value::F32(change(f64::from(*x)) as f32),
            Value::F32s(a) => Value::F32s(Array {
                shape: a.shape.clone(),
                data: a.data.iter().map(|x| change(f64::from(*x)) as f32).collect(),
            }),
            Value::F64s(a) => Value::F64s(Array {
                shape: a.shape.clone(),
                data: a.data.iter().map(|x| change(*x)).collect(),
            }),
            Value::Tuple(items) => {
                Value::Tuple(items.iter().map(|v| v.map_floats(change)).collect())
            }
            Value::Data(name, items) => {
                Value::Data(name.clone(), items.iter().map(|v| v.map_floats(change)).collect())
            }
            Value::List(items) => Value::List(items.iter().map(|v| v.map_floats(change)).collect()),
            Value::I64(_) | Value::I32(_) | Value::Bool(_) => self.clone(),
            Value::I64s(_) | Value::I32s(_) | Value::Bools(_) => self.clone(),
        }
    }

    /// The number of elements of an array.
    pub fn first_size(&self) -> Option<usize> {
        match self {
            Value::Tuple(items) => items.first()?.first_size(),
            Value::List(items) => Some(items.len()),
            array => array.shape()?.first().copied(),
        }
    }

    /// An element of an array.
    pub fn element(&self, index: usize) -> Option<Value> {
        fn part<T: Number>(a: &Array<T>, index: usize) -> Option<Value> {
            let (first, inner) = a.shape.split_first()?;
            let stride = cells(inner)?;
            if index >= *first {
                return None;
            }
            let start = index.checked_mul(stride)?;
            let part = a.data.get(start..start.checked_add(stride)?)?;
            match (inner, part) {
                ([], [x]) => Some(x.value()),
                ([], _) => None,
                _ => Some(Number::values(Array { shape: inner.to_vec(), data: part.to_vec() })),
            }
        }
        numbers!(Value, self;
            _ => None,
            [a] => part(a, index),
            Value::Tuple(items) => {
                items.iter().map(|v| v.element(index)).collect::<Option<_>>().map(Value::Tuple)
            }
            Value::List(items) => items.get(index).cloned(),
            Value::Data(..) => None,
        )
    }

    /// Whether two values are the same bit for bit: 0.0 is not -0.0, and any NaN is like any other, for
    /// what sign and payload a NaN has is left open.
    pub fn same_bits(&self, other: &Value) -> bool {
        match (self, other) {
            (Value::F64(a), Value::F64(b)) => math::same(*a, *b),
            (Value::F32(a), Value::F32(b)) => same_single(*a, *b),
            (Value::F32s(a), Value::F32s(b)) => {
                a.shape == b.shape && a.data.iter().zip(&b.data).all(|(x, y)| same_single(*x, *y))
            }
            (Value::F64s(a), Value::F64s(b)) => {
                a.shape == b.shape && a.data.iter().zip(&b.data).all(|(x, y)| math::same(*x, *y))
            }
            (Value::Tuple(a), Value::Tuple(b)) => {
                a.len() == b.len() && a.iter().zip(b).all(|(x, y)| x.same_bits(y))
            }
            (Value::Data(m, a), Value::Data(n, b)) => {
                m == n && a.len() == b.len() && a.iter().zip(b).all(|(x, y)| x.same_bits(y))
            }
            (Value::List(a), Value::List(b)) => {
                a.len() == b.len() && a.iter().zip(b).all(|(x, y)| x.same_bits(y))
            }
            _ => self == other,
        }
    }
}

fn same_single(a: f32, b: f32) -> bool {
    math::same(f64::from(a), f64::from(b))
}

impl Arg<'_> {
    /// What kind of argument this is, in a few words, for messages.
    pub fn describe(&self) -> String {
        fn one<T: Number>(_: T) -> String {
            let article = if T::SCALAR == Scalar::Bool { "a" } else { "an" };
            format!("{article} {}", T::SCALAR.name())
        }
        fn array<T: Number>(data: &[T], shape: Option<&[usize]>) -> String {
            let (len, scalar) = (data.len(), T::SCALAR.name());
            match shape {
                Some(shape) => {
                    let sizes: Vec<String> = shape.iter().map(|n| n.to_string()).collect();
                    format!("an array [{}]{scalar}", sizes.join(", "))
                }
                None => format!("a slice of {len} {scalar}"),
            }
        }
        numbers!(Arg, self;
            x => one(*x),
            [data, shape] => array(data, *shape),
            Arg::Tuple(items) => format!("a tuple of {}", items.len()),
            Arg::Values(items) => format!("a tuple of {}", items.len()),
            Arg::Data(name, _) => format!("a value {name}(..)"),
            Arg::List(items) => format!("a list of {}", items.len()),
            Arg::F64View(view) => format!("an array {view:?}"),
            Arg::I64View(view) => format!("an array {view:?}"),
            Arg::BoolView(view) => format!("an array {view:?}"),
        )
    }
}

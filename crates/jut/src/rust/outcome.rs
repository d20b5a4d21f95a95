//! Results of Rust's types.

use super::argument::Block;
use crate::error::{Error, Result};
use crate::interface::Results;
use crate::value::{Array, Value};

/// The results of a call, one after the other. They lie in the session, so a number or an array of fixed size
/// is read without memory of its own.
pub struct Taken<'s> {
    results: Results<'s>,
    /// The positions of those that are wanted and were not taken yet.
    wanted: std::slice::Iter<'s, usize>,
}

impl<'s> Taken<'s> {
    pub(crate) fn new(results: Results<'s>, wanted: &'s [usize]) -> Taken<'s> {
        Taken { results, wanted: wanted.iter() }
    }

    /// The next one as a value of its own.
    fn value(&mut self) -> Option<Value> {
        self.results.value(*self.wanted.next()?)
    }

    /// Reads the next one where it lies, if it is a number or an array of numbers; what gives nothing takes nothing.
    fn read<T>(&mut self, read: impl FnOnce(&Value) -> Option<T>) -> Option<T> {
        let position = *self.wanted.as_slice().first()?;
        let read = read(self.results.plain(position)?)?;
        self.wanted.next();
        Some(read)
    }

    /// The next one.
    ///
    /// # Errors
    /// If it is of another type, which is a mistake of the attribute.
    #[allow(clippy::should_implement_trait)]
    pub fn next<T: Outcome>(&mut self) -> Result<T> {
        T::result(self).ok_or_else(|| {
            Error::Request(
                "a result is of another type than the function's: a mistake in jut".to_string(),
            )
        })
    }
}

/// What can be a result.
pub trait Outcome: Sized {
    /// Takes the value, if it is of this type.
    fn take(value: Value) -> Option<Self>;
    /// Takes the next value, if it is of this type.
    fn next(values: &mut std::vec::IntoIter<Value>) -> Option<Self> {
        Self::take(values.next()?)
    }
    /// Takes the next result of a call, if it is of this type.
    fn result(results: &mut Taken<'_>) -> Option<Self> {
        Self::take(results.value()?)
    }
}

/// A derivative with respect to what has no floats, which is no value.
impl Outcome for () {
    fn take(_: Value) -> Option<()> {
        None
    }
    fn next(_: &mut std::vec::IntoIter<Value>) -> Option<()> {
        Some(())
    }
    fn result(_: &mut Taken<'_>) -> Option<()> {
        Some(())
    }
}

impl Outcome for f64 {
    fn take(value: Value) -> Option<f64> {
        match value {
            Value::F64(x) => Some(x),
            // The second derivative by one number.
            Value::F64s(a) if a.data.len() == 1 => a.data.first().copied(),
            _ => None,
        }
    }
}

impl Outcome for f32 {
    fn take(value: Value) -> Option<f32> {
        match value {
            Value::F32(x) => Some(x),
            Value::F32s(a) if a.data.len() == 1 => a.data.first().copied(),
            _ => None,
        }
    }
}

impl Outcome for i64 {
    fn take(value: Value) -> Option<i64> {
        match value {
            Value::I64(x) => Some(x),
            _ => None,
        }
    }
}

impl Outcome for i32 {
    fn take(value: Value) -> Option<i32> {
        i64::take(value).and_then(|x| x.try_into().ok())
    }
}

impl Outcome for usize {
    fn take(value: Value) -> Option<usize> {
        i64::take(value).and_then(|x| x.try_into().ok())
    }
}

impl Outcome for bool {
    fn take(value: Value) -> Option<bool> {
        match value {
            Value::Bool(x) => Some(x),
            _ => None,
        }
    }
}

/// How many elements an array has, or the arrays of its elements' fields.
fn length(value: &Value) -> Option<usize> {
    match value {
        Value::F64s(a) => a.shape.first().copied(),
        Value::F32s(a) => a.shape.first().copied(),
        Value::I64s(a) => a.shape.first().copied(),
        Value::Bools(a) => a.shape.first().copied(),
        Value::Tuple(items) => items.iter().find_map(length),
        _ => None,
    }
}

impl<B: Block> Outcome for Vec<B> {
    fn take(value: Value) -> Option<Vec<B>> {
        let count = length(&value)?;
        B::split(value, count)
    }
}

impl<B: Block, const N: usize> Outcome for [B; N] {
    fn take(value: Value) -> Option<[B; N]> {
        B::split(value, N)?.try_into().ok()
    }
    fn result(results: &mut Taken<'_>) -> Option<[B; N]> {
        match results.read(|value| <[B; N]>::at(value, 0)) {
            Some(array) => Some(array),
            None => Self::take(results.value()?),
        }
    }
}

macro_rules! whole {
    ($($ty:ident $many:ident;)*) => {$(
        impl Outcome for Array<$ty> {
            fn take(value: Value) -> Option<Array<$ty>> {
                match value {
                    Value::$many(array) => Some(array),
                    _ => None,
                }
            }
        }
    )*};
}

whole! {
    f64 F64s;
    f32 F32s;
    i64 I64s;
    bool Bools;
}

macro_rules! tuple {
    ($($name:ident),*) => {
        impl<$($name: Outcome),*> Outcome for ($($name,)*) {
            fn take(value: Value) -> Option<($($name,)*)> {
                let Value::Tuple(items) = value else { return None };
                let mut items = items.into_iter();
                Some(($($name::take(items.next()?)?,)*))
            }
        }
    };
}

tuple!(A);
tuple!(A, B);
tuple!(A, B, C);
tuple!(A, B, C, D);
tuple!(A, B, C, D, E);
tuple!(A, B, C, D, E, F);

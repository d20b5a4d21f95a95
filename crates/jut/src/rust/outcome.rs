//! Results of Rust's types.

use super::argument::Block;
use super::neutral::{length, width};
use crate::error::{Error, Result};
use crate::interface::Results;
use crate::value::{Array, Value};

/// The results of a call, one after the other. They lie in the session, so a number or an array of fixed size
/// is read without memory of its own.
pub struct Taken<'s> {
    results: Results<'s>,
    /// Those that are wanted and were not taken yet.
    wanted: std::slice::Iter<'s, Wanted>,
    /// The leaves themselves, if they are floats of a call that the session has not taken; else empty.
    words: &'s [u64],
}

/// A result that is wanted.
pub(crate) struct Wanted {
    /// Its position.
    pub output: usize,
    /// The leaf that it is, if it is a number or an array of numbers.
    pub leaf: Option<usize>,
}

impl<'s> Taken<'s> {
    pub(crate) fn new(results: Results<'s>, wanted: &'s [Wanted]) -> Taken<'s> {
        Taken { results, wanted: wanted.iter(), words: &[] }
    }

    /// With leaves that are floats and that the session has not taken.
    #[inline(always)]
    pub(super) fn of_words(self, words: &'s [u64]) -> Taken<'s> {
        Taken { words, ..self }
    }

    /// The next one as a value of its own.
    fn value(&mut self) -> Option<Value> {
        let wanted = self.wanted.next()?;
        match self.words {
            [] => self.results.value(wanted.output).map(widened),
            words => words.get(wanted.leaf?).map(|word| Value::F64(f64::from_bits(*word))),
        }
    }

    /// Reads the next one where it lies, if it is a number or an array of numbers; what gives nothing takes nothing.
    #[inline]
    pub(super) fn read<T>(&mut self, read: impl FnOnce(&Value) -> Option<T>) -> Option<T> {
        if !self.words.is_empty() {
            return None;
        }
        let leaf = self.wanted.as_slice().first()?.leaf?;
        let read = read(self.results.at(leaf)?)?;
        self.wanted.next();
        Some(read)
    }

    /// The next one, if it is a float that the session has not taken.
    #[inline(always)]
    fn float(&mut self) -> Option<f64> {
        let word = *self.words.get(self.wanted.as_slice().first()?.leaf?)?;
        self.wanted.next();
        Some(f64::from_bits(word))
    }

    /// The next one.
    ///
    /// # Errors
    /// If it is of another type, which is a mistake of the attribute.
    #[allow(clippy::should_implement_trait)]
    #[inline]
    pub fn next<T: Outcome>(&mut self) -> Result<T> {
        T::result(self).ok_or_else(mistaken)
    }

    /// The next one, in the place of another one.
    ///
    /// # Errors
    /// As [`next`](Self::next).
    #[inline]
    pub(super) fn renew<T: Outcome>(&mut self, place: &mut T) -> Result<()> {
        place.renew(self).ok_or_else(mistaken)
    }
}

#[cold]
fn mistaken() -> Error {
    let text = "a result is of another type than the function's: a mistake in jut";
    Error::Request(text.to_string())
}

/// Integers of 32 bits as those of 64: what they are in the end Rust's type says.
fn widened(value: Value) -> Value {
    match value {
        Value::I32(x) => Value::I64(x.into()),
        Value::I32s(Array { shape, data }) => {
            Value::I64s(Array { shape, data: data.into_iter().map(i64::from).collect() })
        }
        Value::Tuple(items) => Value::Tuple(items.into_iter().map(widened).collect()),
        value => value,
    }
}

/// What can be a result.
pub trait Outcome: Sized {
    /// Whether nothing is given for it: a derivative with respect to what has no floats, or a struct of such alone.
    const NOTHING: bool = false;
    /// Takes the value, if it is of this type.
    fn take(value: Value) -> Option<Self>;
    /// Takes the next value, if it is of this type.
    fn next(values: &mut std::vec::IntoIter<Value>) -> Option<Self> {
        match Self::NOTHING {
            true => Self::take(Value::Tuple(Vec::new())),
            false => Self::take(values.next()?),
        }
    }
    /// Takes the next result of a call, if it is of this type.
    fn result(results: &mut Taken<'_>) -> Option<Self> {
        match Self::NOTHING {
            true => Self::take(Value::Tuple(Vec::new())),
            false => Self::take(results.value()?),
        }
    }
    /// Takes the next result of a call in the place of this one, in whose memory it may lie.
    #[inline]
    fn renew(&mut self, results: &mut Taken<'_>) -> Option<()> {
        *self = Self::result(results)?;
        Some(())
    }
}

/// A derivative with respect to what has no floats, which is no value.
impl Outcome for () {
    const NOTHING: bool = true;
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

/// The next result where it is no number that lies in the session.
#[cold]
#[inline(never)]
fn otherwise<T: Outcome>(results: &mut Taken<'_>) -> Option<T> {
    T::take(results.value()?)
}

macro_rules! number {
    ($($ty:ident $one:ident $many:ident $word:expr;)*) => {$(
        impl Outcome for $ty {
            fn take(value: Value) -> Option<$ty> {
                match value {
                    Value::$one(x) => Some(x),
                    // The second derivative by one number.
                    Value::$many(a) if a.data.len() == 1 => a.data.first().copied(),
                    _ => None,
                }
            }
            #[inline]
            fn result(results: &mut Taken<'_>) -> Option<$ty> {
                let word: fn(&mut Taken<'_>) -> Option<$ty> = $word;
                if let Some(x) = word(results) {
                    return Some(x);
                }
                let here = results.read(|value| match value {
                    Value::$one(x) => Some(*x),
                    _ => None,
                });
                here.or_else(|| otherwise(results))
            }
        }
    )*};
}

number! {
    f64 F64 F64s |taken| taken.float();
    f32 F32 F32s |_| None;
    i64 I64 I64s |_| None;
}

macro_rules! narrow {
    ($($ty:ident)*) => {$(
        impl Outcome for $ty {
            fn take(value: Value) -> Option<$ty> {
                i64::take(value).and_then(|x| x.try_into().ok())
            }
        }
    )*};
}

narrow! { i32 u32 i16 u16 i8 u8 isize usize }

impl Outcome for u64 {
    fn take(value: Value) -> Option<u64> {
        i64::take(value).map(i64::cast_unsigned)
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

impl<B: Block> Outcome for Vec<B> {
    const NOTHING: bool = B::NONE.is_some();
    fn take(value: Value) -> Option<Vec<B>> {
        let count = length(&value)?;
        B::split(value, count)
    }
    fn next(values: &mut std::vec::IntoIter<Value>) -> Option<Vec<B>> {
        match B::NONE {
            Some(_) => Some(Vec::new()),
            None => Self::take(values.next()?),
        }
    }
    fn result(results: &mut Taken<'_>) -> Option<Vec<B>> {
        match B::NONE {
            Some(_) => Some(Vec::new()),
            None => Self::take(results.value()?),
        }
    }
    fn renew(&mut self, results: &mut Taken<'_>) -> Option<()> {
        let count = self.len();
        let copied = results.read(|value| {
            let fits = B::NONE.is_none() && length(value)? == count;
            fits.then(|| B::copy(value, self)).flatten()
        });
        if copied.is_none() {
            *self = Self::result(results)?;
        }
        Some(())
    }
}

impl<T: Outcome> Outcome for Option<T> {
    fn take(value: Value) -> Option<Option<T>> {
        let mut parts = match value {
            Value::Tuple(parts) => parts.into_iter(),
            // In a type that holds itself; behind the sizes of the value is the value.
            Value::Data(_, mut fields) => {
                return match fields.pop() {
                    Some(value) => T::take(value).map(Some),
                    None => Some(None),
                };
            }
            _ => return None,
        };
        let (there, value) = (bool::take(parts.next()?)?, T::take(parts.next()?)?);
        Some(there.then_some(value))
    }
}

/// A row that measures itself, or its derivative.
fn row<B: Block>(value: Value) -> Option<Vec<B>> {
    let Value::Tuple(mut parts) = value else { return None };
    let values = parts.pop()?;
    let count = length(&values)?;
    B::split(values, count)
}

impl<B: Block> Outcome for Vec<Vec<B>> {
    fn take(value: Value) -> Option<Vec<Vec<B>>> {
        if let Value::List(rows) = value {
            return rows.into_iter().map(row).collect();
        }
        let (rows, width) = (length(&value)?, width(&value)?);
        if width == 0 {
            return Some(vec![Vec::new(); rows]);
        }
        let all = B::split(value, rows.checked_mul(width)?)?;
        Some(all.chunks(width).map(<[B]>::to_vec).collect())
    }
}

impl<B: Block, const N: usize> Outcome for [B; N] {
    const NOTHING: bool = B::NONE.is_some();
    fn take(value: Value) -> Option<[B; N]> {
        B::split(value, N)?.try_into().ok()
    }
    fn next(values: &mut std::vec::IntoIter<Value>) -> Option<[B; N]> {
        match B::NONE {
            Some(none) => vec![none()?; N].try_into().ok(),
            None => Self::take(values.next()?),
        }
    }
    #[inline]
    fn result(results: &mut Taken<'_>) -> Option<[B; N]> {
        if let Some(none) = B::NONE {
            return vec![none()?; N].try_into().ok();
        }
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

impl Outcome for Array<i32> {
    fn take(value: Value) -> Option<Array<i32>> {
        let Value::I64s(Array { shape, data }) = value else { return None };
        let data = data.into_iter().map(|x| x.try_into().ok()).collect::<Option<_>>()?;
        Some(Array { shape, data })
    }
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

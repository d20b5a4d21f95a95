//! Arguments of Rust's types.

use super::Words;
use super::neutral::{many, neutral};
use crate::error::{ArgumentError, Result};
use crate::value::{Arg, Array, Value};
use jut_native::Arg as Word;
use std::borrow::Cow;

/// How many arguments are handed over without a list of them.
const FEW: usize = 12;

/// An argument that is ready for a call: borrowed where it can be.
#[derive(Debug)]
pub struct Held<'a> {
    data: Data<'a>,
    shape: [usize; 4],
    rank: usize,
}

#[derive(Debug)]
enum Data<'a> {
    F64(f64),
    F32(f32),
    I64(i64),
    I32(i32),
    Bool(bool),
    F64s(Cow<'a, [f64]>),
    F32s(Cow<'a, [f32]>),
    I64s(Cow<'a, [i64]>),
    I32s(Cow<'a, [i32]>),
    Bools(Cow<'a, [bool]>),
    Tuple(Vec<Held<'a>>),
    /// A value of its own, of a type that holds itself.
    Whole(Value),
    /// No value: the derivative with respect to what has no floats.
    Nothing,
}

impl<'a> Held<'a> {
    fn scalar(data: Data<'a>) -> Held<'a> {
        Held { data, shape: [0; 4], rank: 0 }
    }

    /// A tuple or record of components.
    pub fn tuple(mut components: Vec<Held<'a>>) -> Held<'a> {
        let some = !components.is_empty();
        components.retain(|c| !matches!(c.data, Data::Nothing));
        match some && components.is_empty() {
            // A derivative with respect to what has no floats.
            true => Held::nothing(),
            false => Held::scalar(Data::Tuple(components)),
        }
    }

    /// An integer of 32 bits that is one in the text, too.
    pub(super) fn narrow(number: i32) -> Held<'a> {
        Held::scalar(Data::I32(number))
    }

    /// Integers of 32 bits that are such in the text, too.
    pub(super) fn narrow_cells(cells: &'a [i32]) -> Held<'a> {
        Held { data: Data::I32s(Cow::Borrowed(cells)), shape: [cells.len(), 0, 0, 0], rank: 1 }
    }

    /// A value of a type that holds itself.
    pub(super) fn whole(value: Value) -> Held<'a> {
        Held::scalar(Data::Whole(value))
    }

    /// No value.
    pub(super) fn nothing() -> Held<'a> {
        Held::scalar(Data::Nothing)
    }

    /// Whether it is no value.
    pub(super) fn is_nothing(&self) -> bool {
        matches!(self.data, Data::Nothing)
    }

    /// Many arrays of n elements, which are one array here.
    pub(super) fn in_rows(mut self, count: usize, n: usize) -> Held<'a> {
        if let Data::Whole(Value::List(items)) = self.data {
            let mut items = items.into_iter();
            let rows = (0..count).map(|_| Value::List(items.by_ref().take(n).collect()));
            return Held::whole(Value::List(rows.collect()));
        }
        if let Data::Tuple(items) = self.data {
            let items = items.into_iter().map(|item| item.in_rows(count, n)).collect();
            return Held::tuple(items);
        }
        let last = self.rank.min(3);
        self.shape.copy_within(1..last.max(1), 2);
        self.shape[0] = count;
        self.shape[1] = n;
        self.rank = last + 1;
        self
    }
}

impl Held<'_> {
    /// Hands it to a call.
    pub(crate) fn with<R>(held: &[Held<'_>], call: &mut dyn FnMut(&[Arg<'_>]) -> R) -> R {
        let there = || held.iter().filter(|h| !matches!(h.data, Data::Nothing));
        // A few numbers and arrays need no memory.
        let mut few = [Arg::Bool(false); FEW];
        let plain = !held.iter().any(|h| matches!(h.data, Data::Tuple(_)));
        if let Some(few) = few.get_mut(..there().count()).filter(|_| plain) {
            few.iter_mut().zip(there()).for_each(|(arg, h)| *arg = h.arg(&[]));
            return call(few);
        }
        // Components of records need a place of their own.
        let parts: Vec<Vec<Value>> = there()
            .map(|h| match &h.data {
                Data::Tuple(items) => items.iter().map(Held::value).collect(),
                _ => Vec::new(),
            })
            .collect();
        let args: Vec<Arg<'_>> = there().zip(&parts).map(|(h, parts)| h.arg(parts)).collect();
        call(&args)
    }

    /// The value, of its own.
    pub(super) fn into_value(self) -> Value {
        let shape = self.shape[..self.rank].to_vec();
        match self.data {
            Data::F64s(x) => Value::F64s(Array { shape, data: x.into_owned() }),
            Data::F32s(x) => Value::F32s(Array { shape, data: x.into_owned() }),
            Data::I64s(x) => Value::I64s(Array { shape, data: x.into_owned() }),
            Data::I32s(x) => Value::I32s(Array { shape, data: x.into_owned() }),
            Data::Bools(x) => Value::Bools(Array { shape, data: x.into_owned() }),
            Data::Tuple(items) => Value::Tuple(items.into_iter().map(Held::into_value).collect()),
            Data::Whole(value) => value,
            Data::F64(_) | Data::F32(_) | Data::I64(_) | Data::I32(_) | Data::Bool(_) => {
                self.value()
            }
            Data::Nothing => self.value(),
        }
    }

    /// The same, of what is kept.
    fn value(&self) -> Value {
        let shape = self.shape[..self.rank].to_vec();
        match &self.data {
            Data::Whole(value) => value.clone(),
            Data::F64(x) => Value::F64(*x),
            Data::F32(x) => Value::F32(*x),
            Data::I64(x) => Value::I64(*x),
            Data::I32(x) => Value::I32(*x),
            Data::Bool(x) => Value::Bool(*x),
            Data::F64s(x) => Value::F64s(Array { shape, data: x.to_vec() }),
            Data::F32s(x) => Value::F32s(Array { shape, data: x.to_vec() }),
            Data::I64s(x) => Value::I64s(Array { shape, data: x.to_vec() }),
            Data::I32s(x) => Value::I32s(Array { shape, data: x.to_vec() }),
            Data::Bools(x) => Value::Bools(Array { shape, data: x.to_vec() }),
            Data::Tuple(items) => Value::Tuple(items.iter().map(Held::value).collect()),
            Data::Nothing => Value::Tuple(Vec::new()),
        }
    }

    fn arg<'s>(&'s self, parts: &'s [Value]) -> Arg<'s> {
        let shape = Some(&self.shape[..self.rank]);
        match &self.data {
            Data::F64(x) => Arg::F64(*x),
            Data::F32(x) => Arg::F32(*x),
            Data::I64(x) => Arg::I64(*x),
            Data::I32(x) => Arg::I32(*x),
            Data::Bool(x) => Arg::Bool(*x),
            Data::F64s(x) => Arg::F64s(x, shape),
            Data::F32s(x) => Arg::F32s(x, shape),
            Data::I64s(x) => Arg::I64s(x, shape),
            Data::I32s(x) => Arg::I32s(x, shape),
            Data::Bools(x) => Arg::Bools(x, shape),
            Data::Whole(value) => value.into(),
            Data::Tuple(_) | Data::Nothing => Arg::Values(parts),
        }
    }
}

/// What can be an argument.
pub trait Argument {
    /// The argument, ready for a call.
    ///
    /// # Errors
    /// A `usize` that is larger than `i64::MAX`.
    fn hold(&self) -> Result<Held<'_>>;

    /// Whether all rows in it have one length.
    #[inline]
    fn is_even(&self) -> bool {
        true
    }

    /// The argument for a text in which each row measures itself.
    ///
    /// # Errors
    /// As [`hold`](Argument::hold).
    fn hold_uneven(&self) -> Result<Held<'_>> {
        self.hold()
    }

    /// The argument word by word, if it is made of numbers and slices as compiled code has them.
    #[inline(always)]
    fn words<'a>(&'a self, words: &mut Words<'_, '_, 'a>) {
        words.refuse();
    }
}

impl Held<'static> {
    /// A value of its own.
    pub fn owned(value: Value) -> Held<'static> {
        let array = |shape: Vec<usize>, data| {
            let mut sizes = [0; 4];
            let rank = shape.len().min(4);
            sizes[..rank].copy_from_slice(&shape[..rank]);
            Held { data, shape: sizes, rank }
        };
        match value {
            Value::F64(x) => Held::scalar(Data::F64(x)),
            Value::F32(x) => Held::scalar(Data::F32(x)),
            Value::I64(x) => Held::scalar(Data::I64(x)),
            Value::I32(x) => Held::narrow(x),
            Value::Bool(x) => Held::scalar(Data::Bool(x)),
            Value::F64s(a) => array(a.shape, Data::F64s(Cow::Owned(a.data))),
            Value::F32s(a) => array(a.shape, Data::F32s(Cow::Owned(a.data))),
            Value::I64s(a) => array(a.shape, Data::I64s(Cow::Owned(a.data))),
            Value::I32s(a) => array(a.shape, Data::I32s(Cow::Owned(a.data))),
            Value::Bools(a) => array(a.shape, Data::Bools(Cow::Owned(a.data))),
            Value::Tuple(items) => Held::tuple(items.into_iter().map(Held::owned).collect()),
            own @ (Value::Data(..) | Value::List(_)) => Held::whole(own),
        }
    }
}

/// A derivative with respect to what has no floats, which is no argument.
impl Argument for () {
    fn hold(&self) -> Result<Held<'_>> {
        Ok(Held::scalar(Data::Nothing))
    }
    fn words<'a>(&'a self, _: &mut Words<'_, '_, 'a>) {}
}

/// Derivatives with respect to the elements of a list, an enum without floats in them, are no argument.
impl Block for () {
    const NONE: Option<fn() -> Option<()>> = Some(|| Some(()));
    fn many(_: &[()]) -> Result<Held<'_>> {
        Ok(Held::scalar(Data::Nothing))
    }
    fn own(_: Vec<()>) -> Result<Held<'static>> {
        Ok(Held::scalar(Data::Nothing))
    }
    fn split(_: Value, count: usize) -> Option<Vec<()>> {
        Some(vec![(); count])
    }
    fn words<'a>(_: &'a [()], _: &mut Words<'_, '_, 'a>) {}
}

fn signed<N: Copy + std::fmt::Display + TryInto<i64>>(n: N) -> Result<i64> {
    n.try_into().map_err(|_| {
        let reason = format!("{n} is larger than `i64::MAX`, which is no integer of jut");
        ArgumentError::new("A02", "an integer", reason, "give a smaller number").into()
    })
}

/// What may be an element of an array: a number or truth value, an array of such elements, or a struct of them.
#[diagnostic::on_unimplemented(
    message = "an array of `{Self}` is not built: the elements of an array have no `Vec` in them",
    note = "a struct that derives `jut::Data` can be an element if all its fields have a fixed size, or with `#[data(ragged)]` before it"
)]
pub trait Block: Clone + Sized {
    /// What makes one of a list of which there is no value: a derivative with respect to what has no floats.
    const NONE: Option<fn() -> Option<Self>> = None;

    /// Many of them as one array, or as the arrays of their fields.
    ///
    /// # Errors
    /// As [`Argument::hold`].
    fn many(all: &[Self]) -> Result<Held<'_>>;

    /// The same of a list that is not kept.
    ///
    /// # Errors
    /// As [`Argument::hold`].
    fn own(all: Vec<Self>) -> Result<Held<'static>>;

    /// So many of them from such a value.
    fn split(value: Value, count: usize) -> Option<Vec<Self>>;

    /// So many of them from the next value, if there is one of them.
    fn next(values: &mut std::vec::IntoIter<Value>, count: usize) -> Option<Vec<Self>> {
        match Self::NONE {
            Some(none) => Some(vec![none()?; count]),
            None => Self::split(values.next()?, count),
        }
    }

    /// Many of them as one slice of the numbers of compiled code, if they are that.
    #[inline(always)]
    fn words<'a>(_: &'a [Self], words: &mut Words<'_, '_, 'a>) {
        words.refuse();
    }

    /// The one at a position of a value that is one array of numbers, or one number.
    fn at(_: &Value, _: usize) -> Option<Self> {
        None
    }

    /// Some of such a value, from a position on.
    #[inline]
    fn row<const N: usize>(value: &Value, first: usize) -> Option<[Self; N]> {
        let one = Self::at(value, first)?;
        let mut row = [const { None }; N].map(|_: Option<Self>| one.clone());
        for (k, element) in row.iter_mut().enumerate().skip(1) {
            *element = Self::at(value, first + k)?;
        }
        Some(row)
    }

    /// The first ones of such a value, in the place of others.
    fn copy(value: &Value, to: &mut [Self]) -> Option<()> {
        to.iter_mut().enumerate().try_for_each(|(k, one)| {
            *one = Self::at(value, k)?;
            Some(())
        })
    }
}

/// All elements of a list, each converted; the list itself, where they are stored as what they are.
macro_rules! converted {
    (same $wrap:ident, $all:expr, $one:expr) => {
        $wrap($all)
    };
    (other $wrap:ident, $all:expr, $one:expr) => {
        $all.into_iter().map($one).collect()
    };
}

macro_rules! scalar {
    ($($ty:ident $one:ident $many:ident $kind:ident $stored:ty: $hold:expr, $borrow:expr, $slice:expr, $back:expr;)*) => {$(
        impl Argument for $ty {
            fn hold(&self) -> Result<Held<'_>> {
                let hold: fn($ty) -> Result<$stored> = $hold;
                Ok(Held::scalar(Data::$one(hold(*self)?)))
            }
            #[inline(always)]
            fn words<'a>(&'a self, words: &mut Words<'_, '_, 'a>) {
                let hold: fn($ty) -> Result<$stored> = $hold;
                // As an option: an error that there cannot be would be dropped by a call.
                match hold(*self).ok() {
                    Some(number) => words.push(Word::$one(number)),
                    None => words.refuse(),
                }
            }
        }

        impl Block for $ty {
            fn many(all: &[$ty]) -> Result<Held<'_>> {
                let borrow: fn(&[$ty]) -> Result<Cow<'_, [$stored]>> = $borrow;
                Ok(Held { data: Data::$many(borrow(all)?), shape: [all.len(), 0, 0, 0], rank: 1 })
            }
            fn own(all: Vec<$ty>) -> Result<Held<'static>> {
                let n = all.len();
                let all: Result<Vec<$stored>> = converted!($kind Ok, all, $hold);
                Ok(Held { data: Data::$many(Cow::Owned(all?)), shape: [n, 0, 0, 0], rank: 1 })
            }
            #[inline(always)]
            fn words<'a>(all: &'a [$ty], words: &mut Words<'_, '_, 'a>) {
                let slice: for<'s> fn(&'s [$ty]) -> Option<Word<'s>> = $slice;
                match slice(all) {
                    Some(slice) => words.push(slice),
                    None => words.refuse(),
                }
            }
            fn split(value: Value, _: usize) -> Option<Vec<$ty>> {
                match value {
                    Value::$many(array) => converted!($kind Some, array.data, $back),
                    _ => None,
                }
            }
            fn at(value: &Value, position: usize) -> Option<$ty> {
                let back: fn($stored) -> Option<$ty> = $back;
                match value {
                    Value::$one(x) if position == 0 => back(*x),
                    Value::$many(array) => back(*array.data.get(position)?),
                    _ => None,
                }
            }
            #[inline(always)]
            fn row<const N: usize>(value: &Value, first: usize) -> Option<[$ty; N]> {
                let back: fn($stored) -> Option<$ty> = $back;
                let Value::$many(array) = value else {
                    return Self::at(value, first).filter(|_| N == 1).map(|one| [one; N]);
                };
                let from = array.data.get(first..)?.first_chunk::<N>()?;
                let row = from.map(back);
                let all = row.iter().all(Option::is_some);
                all.then(|| row.map(Option::unwrap_or_default))
            }
            fn copy(value: &Value, to: &mut [$ty]) -> Option<()> {
                let back: fn($stored) -> Option<$ty> = $back;
                let Value::$many(array) = value else { return None };
                let from = array.data.get(..to.len())?;
                to.iter_mut().zip(from).try_for_each(|(to, from)| {
                    *to = back(*from)?;
                    Some(())
                })
            }
        }
    )*};
}

scalar! {
    f64 F64 F64s same f64: Ok, |all| Ok(Cow::Borrowed(all)), |all| Some(Word::F64s(all)), Some;
    f32 F32 F32s same f32: Ok, |all| Ok(Cow::Borrowed(all)), |all| Some(Word::F32s(all)), Some;
    i64 I64 I64s same i64: Ok, |all| Ok(Cow::Borrowed(all)), |all| Some(Word::I64s(all)), Some;
    bool Bool Bools same bool: Ok, |all| Ok(Cow::Borrowed(all)), |all| Some(Word::Bools(all)), Some;
    i32 I64 I64s other i64: |n| Ok(i64::from(n)), |all| Ok(all.iter().map(|n| i64::from(*n)).collect()), |_| None, |x| x.try_into().ok();
    u32 I64 I64s other i64: |n| Ok(i64::from(n)), |all| Ok(all.iter().map(|n| i64::from(*n)).collect()), |_| None, |x| x.try_into().ok();
    i16 I64 I64s other i64: |n| Ok(i64::from(n)), |all| Ok(all.iter().map(|n| i64::from(*n)).collect()), |_| None, |x| x.try_into().ok();
    u16 I64 I64s other i64: |n| Ok(i64::from(n)), |all| Ok(all.iter().map(|n| i64::from(*n)).collect()), |_| None, |x| x.try_into().ok();
    i8 I64 I64s other i64: |n| Ok(i64::from(n)), |all| Ok(all.iter().map(|n| i64::from(*n)).collect()), |_| None, |x| x.try_into().ok();
    u8 I64 I64s other i64: |n| Ok(i64::from(n)), |all| Ok(all.iter().map(|n| i64::from(*n)).collect()), |_| None, |x| x.try_into().ok();
    isize I64 I64s other i64: |n| Ok(n as i64), |all| Ok(all.iter().map(|n| *n as i64).collect()), |_| None, |x| x.try_into().ok();
    usize I64 I64s other i64: signed, |all| all.iter().map(|n| signed(*n)).collect(), |_| None, |x| x.try_into().ok();
    u64 I64 I64s other i64: |n| Ok(n.cast_signed()), |all| Ok(all.iter().map(|n| n.cast_signed()).collect()), |_| None, |x| Some(x.cast_unsigned());
}

impl<B: Block, const N: usize> Block for [B; N] {
    const NONE: Option<fn() -> Option<[B; N]>> = match B::NONE {
        Some(_) => Some(|| vec![B::NONE?()?; N].try_into().ok()),
        None => None,
    };
    fn many(all: &[[B; N]]) -> Result<Held<'_>> {
        Ok(B::many(all.as_flattened())?.in_rows(all.len(), N))
    }
    #[inline(always)]
    fn words<'a>(all: &'a [[B; N]], words: &mut Words<'_, '_, 'a>) {
        // Of arrays without elements the number of cells does not say how many they are.
        match N {
            0 => words.refuse(),
            _ => B::words(all.as_flattened(), words),
        }
    }
    fn own(all: Vec<[B; N]>) -> Result<Held<'static>> {
        let rows = all.len();
        Ok(B::own(all.into_iter().flatten().collect())?.in_rows(rows, N))
    }
    fn split(value: Value, count: usize) -> Option<Vec<[B; N]>> {
        let all = B::split(value, count.checked_mul(N)?)?;
        if all.len() != count.checked_mul(N)? {
            return None;
        }
        let row = |k: usize| <&[B; N]>::try_from(all.get(k * N..(k + 1) * N)?).ok().cloned();
        (0..count).map(row).collect()
    }
    fn copy(value: &Value, to: &mut [[B; N]]) -> Option<()> {
        B::copy(value, to.as_flattened_mut())
    }
    fn at(value: &Value, position: usize) -> Option<[B; N]> {
        B::row(value, position.checked_mul(N)?)
    }
}

impl<B: Block> Argument for [B] {
    fn hold(&self) -> Result<Held<'_>> {
        B::many(self)
    }
    #[inline(always)]
    fn words<'a>(&'a self, words: &mut Words<'_, '_, 'a>) {
        B::words(self, words);
    }
}

impl<B: Block, const N: usize> Argument for [B; N] {
    fn hold(&self) -> Result<Held<'_>> {
        B::many(self)
    }
    #[inline(always)]
    fn words<'a>(&'a self, words: &mut Words<'_, '_, 'a>) {
        B::words(self, words);
    }
}

impl<B: Block> Argument for Vec<B> {
    fn hold(&self) -> Result<Held<'_>> {
        B::many(self)
    }
    #[inline(always)]
    fn words<'a>(&'a self, words: &mut Words<'_, '_, 'a>) {
        B::words(self, words);
    }
}

/// What is in an `Option`, or some other value of its type.
#[derive(Debug)]
pub struct Content<'a, T>(pub Option<&'a T>);

impl<T: Argument + super::Data> Argument for Content<'_, T> {
    fn hold(&self) -> Result<Held<'_>> {
        match self.0 {
            Some(value) => value.hold(),
            None => Ok(Held::owned(neutral(&T::TYPE))),
        }
    }
}

/// The list in an `Option`, or one without elements.
#[derive(Debug)]
pub struct ListContent<'a, T>(pub Option<&'a [T]>);

impl<T: Block> Argument for ListContent<'_, T> {
    fn hold(&self) -> Result<Held<'_>> {
        T::many(self.0.unwrap_or_default())
    }
    #[inline(always)]
    fn words<'a>(&'a self, words: &mut Words<'_, '_, 'a>) {
        T::words(self.0.unwrap_or_default(), words);
    }
}

/// A field that is an `Option`: whether there is a value, and that value or some other.
///
/// # Errors
/// As [`Argument::hold`].
pub fn optional<T: Argument + super::Data>(field: &Option<T>) -> Result<Held<'_>> {
    let value = match field {
        Some(value) => value.hold()?,
        None => Held::owned(neutral(&T::TYPE)),
    };
    Ok(Held::tuple(vec![Held::scalar(Data::Bool(field.is_some())), value]))
}

/// Fields of many structs that are an `Option`.
impl<T: Block + super::Data> Block for Option<T> {
    fn many(all: &[Option<T>]) -> Result<Held<'_>> {
        Self::own(all.to_vec())
    }
    fn own(all: Vec<Option<T>>) -> Result<Held<'static>> {
        let there = bool::own(all.iter().map(Option::is_some).collect())?;
        let other = T::split(many(&T::TYPE, &[1]), 1).and_then(|mut one| one.pop());
        let values = all.into_iter().filter_map(|one| one.or_else(|| other.clone()));
        Ok(Held::tuple(vec![there, T::own(values.collect())?]))
    }
    fn split(value: Value, count: usize) -> Option<Vec<Option<T>>> {
        let mut components = super::components(value)?;
        let there = bool::split(components.next()?, count)?;
        let values = T::split(components.next()?, count)?;
        Some(there.into_iter().zip(values).map(|(there, value)| there.then_some(value)).collect())
    }
}

/// Rows, which are of one length.
impl<B: Block> Argument for [Vec<B>] {
    fn hold(&self) -> Result<Held<'_>> {
        let width = self.first().map_or(0, Vec::len);
        if let Some((k, row)) = self.iter().enumerate().find(|(_, row)| row.len() != width) {
            let reason = format!("row {k} has {} elements, and the first one {width}", row.len());
            let help = "give rows of one length, or a list of structs that have them, `#[derive(jut::Data)] #[data(ragged)] struct Row { values: Vec<f64> }`; where the \
                        type stands behind a name, `type Rows = Vec<Vec<f64>>`, write it out in the function, or put the attribute before the module of both";
            return Err(ArgumentError::new("A03", "rows", reason, help).into());
        }
        Ok(B::own(self.concat())?.in_rows(self.len(), width))
    }
    fn is_even(&self) -> bool {
        self.windows(2).all(|pair| pair[0].len() == pair[1].len())
    }
    fn hold_uneven(&self) -> Result<Held<'_>> {
        let each = self.iter().map(|row| {
            let length = Value::I64(signed(row.len())?);
            Ok(Value::Tuple(vec![length, B::many(row)?.into_value()]))
        });
        Ok(Held::whole(Value::List(each.collect::<Result<_>>()?)))
    }
}

impl<B: Block> Argument for Vec<Vec<B>> {
    fn hold(&self) -> Result<Held<'_>> {
        self.as_slice().hold()
    }
    fn is_even(&self) -> bool {
        self.as_slice().is_even()
    }
    fn hold_uneven(&self) -> Result<Held<'_>> {
        self.as_slice().hold_uneven()
    }
}

impl<A: Argument + ?Sized> Argument for &A {
    fn hold(&self) -> Result<Held<'_>> {
        (**self).hold()
    }
    fn is_even(&self) -> bool {
        (**self).is_even()
    }
    fn hold_uneven(&self) -> Result<Held<'_>> {
        (**self).hold_uneven()
    }
    #[inline(always)]
    fn words<'a>(&'a self, words: &mut Words<'_, '_, 'a>) {
        (**self).words(words);
    }
}

macro_rules! whole {
    ($($ty:ident $many:ident;)*) => {$(
        impl Argument for Array<$ty> {
            fn hold(&self) -> Result<Held<'_>> {
                let mut shape = [0; 4];
                let Some(sizes) = shape.get_mut(..self.shape.len()) else {
                    let reason = format!("{} dimensions are more than an array has", self.shape.len());
                    return Err(ArgumentError::new("A03", "array", reason, "give an array of at most 4").into());
                };
                sizes.copy_from_slice(&self.shape);
                Ok(Held { data: Data::$many(Cow::Borrowed(&self.data)), shape, rank: self.shape.len() })
            }
        }
    )*};
}

whole! {
    f64 F64s;
    f32 F32s;
    i64 I64s;
    i32 I32s;
    bool Bools;
}

macro_rules! tuple {
    ($($name:ident $k:tt),*) => {
        impl<$($name: Argument),*> Argument for ($($name,)*) {
            fn hold(&self) -> Result<Held<'_>> {
                Ok(Held::tuple(vec![$(self.$k.hold()?),*]))
            }
            #[inline(always)]
            fn words<'a>(&'a self, words: &mut Words<'_, '_, 'a>) {
                $(self.$k.words(words);)*
            }
        }
    };
}

tuple!(A 0);
tuple!(A 0, B 1);
tuple!(A 0, B 1, C 2);
tuple!(A 0, B 1, C 2, D 3);
tuple!(A 0, B 1, C 2, D 3, E 4);
tuple!(A 0, B 1, C 2, D 3, E 4, F 5);

/// Tuples as elements of arrays: in the text, and here, an array for each component.
macro_rules! elements {
    ($($name:ident $k:tt $list:ident),*) => {
        impl<$($name: Block),*> Block for ($($name,)*) {
            fn many(all: &[Self]) -> Result<Held<'_>> {
                Ok(Held::tuple(vec![$($name::own(all.iter().map(|one| one.$k.clone()).collect())?),*]))
            }
            fn own(all: Vec<Self>) -> Result<Held<'static>> {
                Ok(Held::tuple(vec![$($name::own(all.iter().map(|one| one.$k.clone()).collect())?),*]))
            }
            fn split(value: Value, count: usize) -> Option<Vec<Self>> {
                let mut components = super::components(value)?;
                $(let mut $list = $name::split(components.next()?, count)?.into_iter();)*
                (0..count).map(|_| Some(($($list.next()?,)*))).collect()
            }
        }
    };
}

// A derivative by a tuple with one float.
elements!(A 0 a);
elements!(A 0 a, B 1 b);
elements!(A 0 a, B 1 b, C 2 c);
elements!(A 0 a, B 1 b, C 2 c, D 3 d);

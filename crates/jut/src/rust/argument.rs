//! Arguments of Rust's types.

use crate::error::{ArgumentError, Result};
use crate::value::{Arg, Array, Value};
use std::borrow::Cow;

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
    I64(i64),
    Bool(bool),
    F64s(Cow<'a, [f64]>),
    I64s(Cow<'a, [i64]>),
    Bools(Cow<'a, [bool]>),
    Tuple(Vec<Held<'a>>),
}

impl<'a> Held<'a> {
    fn scalar(data: Data<'a>) -> Held<'a> {
        Held { data, shape: [0; 4], rank: 0 }
    }

    /// A tuple or record of components.
    pub fn tuple(components: Vec<Held<'a>>) -> Held<'a> {
        Held::scalar(Data::Tuple(components))
    }

    /// Many arrays of n elements, which are one array here.
    fn in_rows(mut self, count: usize, n: usize) -> Held<'a> {
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
        // Components of records need a place of their own.
        let parts: Vec<Vec<Value>> = held
            .iter()
            .map(|h| match &h.data {
                Data::Tuple(items) => items.iter().map(Held::value).collect(),
                _ => Vec::new(),
            })
            .collect();
        let args: Vec<Arg<'_>> = held.iter().zip(&parts).map(|(h, parts)| h.arg(parts)).collect();
        call(&args)
    }

    /// The value, of its own.
    fn value(&self) -> Value {
        let shape = self.shape[..self.rank].to_vec();
        match &self.data {
            Data::F64(x) => Value::F64(*x),
            Data::I64(x) => Value::I64(*x),
            Data::Bool(x) => Value::Bool(*x),
            Data::F64s(x) => Value::F64s(Array { shape, data: x.to_vec() }),
            Data::I64s(x) => Value::I64s(Array { shape, data: x.to_vec() }),
            Data::Bools(x) => Value::Bools(Array { shape, data: x.to_vec() }),
            Data::Tuple(items) => Value::Tuple(items.iter().map(Held::value).collect()),
        }
    }

    fn arg<'s>(&'s self, parts: &'s [Value]) -> Arg<'s> {
        let shape = Some(&self.shape[..self.rank]);
        match &self.data {
            Data::F64(x) => Arg::F64(*x),
            Data::I64(x) => Arg::I64(*x),
            Data::Bool(x) => Arg::Bool(*x),
            Data::F64s(x) => Arg::F64s(x, shape),
            Data::I64s(x) => Arg::I64s(x, shape),
            Data::Bools(x) => Arg::Bools(x, shape),
            Data::Tuple(_) => Arg::Values(parts),
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
}

fn signed(n: usize) -> Result<i64> {
    i64::try_from(n).map_err(|_| {
        let reason = format!("{n} is larger than `i64::MAX`, which is no integer of jut");
        ArgumentError::new("A02", "usize", reason, "give a smaller number").into()
    })
}

/// What may be an element of an array: a number or truth value, an array of such elements, or a struct of them.
#[diagnostic::on_unimplemented(
    message = "an array of `{Self}` is not built: the elements of an array have no `Vec` in them",
    note = "a struct that derives `jut::Data` can be an element if all its fields have a fixed size"
)]
pub trait Block: Clone + Sized {
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

    /// Many of them from such a value.
    fn split(value: Value) -> Option<Vec<Self>>;
}

macro_rules! scalar {
    ($($ty:ident $one:ident $many:ident $stored:ty: $hold:expr, $borrow:expr;)*) => {$(
        impl Argument for $ty {
            fn hold(&self) -> Result<Held<'_>> {
                let hold: fn($ty) -> Result<$stored> = $hold;
                Ok(Held::scalar(Data::$one(hold(*self)?)))
            }
        }

        impl Block for $ty {
            fn many(all: &[$ty]) -> Result<Held<'_>> {
                let borrow: fn(&[$ty]) -> Result<Cow<'_, [$stored]>> = $borrow;
                Ok(Held { data: Data::$many(borrow(all)?), shape: [all.len(), 0, 0, 0], rank: 1 })
            }
            fn own(all: Vec<$ty>) -> Result<Held<'static>> {
                let n = all.len();
                let hold: fn($ty) -> Result<$stored> = $hold;
                let all: Result<Vec<$stored>> = all.into_iter().map(hold).collect();
                Ok(Held { data: Data::$many(Cow::Owned(all?)), shape: [n, 0, 0, 0], rank: 1 })
            }
            fn split(value: Value) -> Option<Vec<$ty>> {
                match value {
                    Value::$many(array) => {
                        array.data.into_iter().map(|x| x.try_into().ok()).collect()
                    }
                    _ => None,
                }
            }
        }
    )*};
}

scalar! {
    f64 F64 F64s f64: Ok, |all| Ok(Cow::Borrowed(all));
    i64 I64 I64s i64: Ok, |all| Ok(Cow::Borrowed(all));
    bool Bool Bools bool: Ok, |all| Ok(Cow::Borrowed(all));
    i32 I64 I64s i64: |n| Ok(i64::from(n)), |all| Ok(all.iter().map(|n| i64::from(*n)).collect());
    usize I64 I64s i64: signed, |all| all.iter().map(|n| signed(*n)).collect();
}

impl<B: Block, const N: usize> Block for [B; N] {
    fn many(all: &[[B; N]]) -> Result<Held<'_>> {
        Ok(B::many(all.as_flattened())?.in_rows(all.len(), N))
    }
    fn own(all: Vec<[B; N]>) -> Result<Held<'static>> {
        let rows = all.len();
        Ok(B::own(all.into_iter().flatten().collect())?.in_rows(rows, N))
    }
    fn split(value: Value) -> Option<Vec<[B; N]>> {
        let all = B::split(value)?;
        let (rows, rest) = all.as_chunks::<N>();
        rest.is_empty().then(|| rows.to_vec())
    }
}

impl<B: Block> Argument for [B] {
    fn hold(&self) -> Result<Held<'_>> {
        B::many(self)
    }
}

impl<B: Block, const N: usize> Argument for [B; N] {
    fn hold(&self) -> Result<Held<'_>> {
        B::many(self)
    }
}

impl<B: Block> Argument for Vec<B> {
    fn hold(&self) -> Result<Held<'_>> {
        B::many(self)
    }
}

impl<A: Argument + ?Sized> Argument for &A {
    fn hold(&self) -> Result<Held<'_>> {
        (**self).hold()
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
    i64 I64s;
    bool Bools;
}

macro_rules! tuple {
    ($($name:ident $k:tt),*) => {
        impl<$($name: Argument),*> Argument for ($($name,)*) {
            fn hold(&self) -> Result<Held<'_>> {
                Ok(Held::tuple(vec![$(self.$k.hold()?),*]))
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

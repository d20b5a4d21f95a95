//! Arguments of Rust's types.

use crate::error::{ArgumentError, Result};
use crate::value::Arg;
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
    F64s(&'a [f64]),
    I64s(Cow<'a, [i64]>),
    Bools(&'a [bool]),
    Tuple(Vec<Held<'a>>),
}

impl Held<'_> {
    fn scalar(data: Data<'_>) -> Held<'_> {
        Held { data, shape: [0; 4], rank: 0 }
    }

    /// Hands it to a call.
    pub(crate) fn with<R>(held: &[Held<'_>], call: &mut dyn FnMut(&[Arg<'_>]) -> R) -> R {
        // Tuples first, whose arguments need a place of their own.
        let parts: Vec<Vec<Arg<'_>>> = held
            .iter()
            .map(|h| match &h.data {
                Data::Tuple(items) => items.iter().map(|i| i.arg(&[])).collect(),
                _ => Vec::new(),
            })
            .collect();
        let args: Vec<Arg<'_>> = held.iter().zip(&parts).map(|(h, parts)| h.arg(parts)).collect();
        call(&args)
    }

    fn arg<'s>(&'s self, parts: &'s [Arg<'s>]) -> Arg<'s> {
        let shape = Some(&self.shape[..self.rank]);
        match &self.data {
            Data::F64(x) => Arg::F64(*x),
            Data::I64(x) => Arg::I64(*x),
            Data::Bool(x) => Arg::Bool(*x),
            Data::F64s(x) => Arg::F64s(x, shape),
            Data::I64s(x) => Arg::I64s(x, shape),
            Data::Bools(x) => Arg::Bools(x, shape),
            Data::Tuple(_) => Arg::Tuple(parts),
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

/// A number or truth value.
pub trait Scalar: Copy + Sized {
    /// One of them.
    ///
    /// # Errors
    /// As [`Argument::hold`].
    fn one(self) -> Result<Held<'static>>;
    /// Many of them.
    ///
    /// # Errors
    /// As [`Argument::hold`].
    fn many(all: &[Self]) -> Result<Held<'_>>;
}

fn array(data: Data<'_>, n: usize) -> Held<'_> {
    Held { data, shape: [n, 0, 0, 0], rank: 1 }
}

impl Scalar for f64 {
    fn one(self) -> Result<Held<'static>> {
        Ok(Held::scalar(Data::F64(self)))
    }
    fn many(all: &[f64]) -> Result<Held<'_>> {
        Ok(array(Data::F64s(all), all.len()))
    }
}

impl Scalar for i64 {
    fn one(self) -> Result<Held<'static>> {
        Ok(Held::scalar(Data::I64(self)))
    }
    fn many(all: &[i64]) -> Result<Held<'_>> {
        Ok(array(Data::I64s(Cow::Borrowed(all)), all.len()))
    }
}

impl Scalar for i32 {
    fn one(self) -> Result<Held<'static>> {
        i64::from(self).one()
    }
    fn many(all: &[i32]) -> Result<Held<'_>> {
        let all: Vec<i64> = all.iter().map(|n| i64::from(*n)).collect();
        let n = all.len();
        Ok(array(Data::I64s(Cow::Owned(all)), n))
    }
}

impl Scalar for usize {
    fn one(self) -> Result<Held<'static>> {
        signed(self)?.one()
    }
    fn many(all: &[usize]) -> Result<Held<'_>> {
        let all: Result<Vec<i64>> = all.iter().map(|n| signed(*n)).collect();
        let all = all?;
        let n = all.len();
        Ok(array(Data::I64s(Cow::Owned(all)), n))
    }
}

impl Scalar for bool {
    fn one(self) -> Result<Held<'static>> {
        Ok(Held::scalar(Data::Bool(self)))
    }
    fn many(all: &[bool]) -> Result<Held<'_>> {
        Ok(array(Data::Bools(all), all.len()))
    }
}

fn signed(n: usize) -> Result<i64> {
    i64::try_from(n).map_err(|_| {
        let reason = format!("{n} is larger than `i64::MAX`, which is no integer of jut");
        ArgumentError::new("A02", "usize", reason, "give a smaller number").into()
    })
}

/// A number or truth value, or an array of them whose sizes are part of the type.
pub trait Block: Copy + Sized {
    /// What is in it.
    type Scalar: Scalar;
    /// Its sizes.
    const SIZES: &'static [usize];
    /// Many of them as one array.
    fn flat(all: &[Self]) -> &[Self::Scalar];
    /// Many of them from one array.
    fn split(all: Vec<Self::Scalar>) -> Option<Vec<Self>>;
}

macro_rules! scalar {
    ($($ty:ty),*) => {$(
        impl Argument for $ty {
            fn hold(&self) -> Result<Held<'_>> {
                self.one()
            }
        }

        impl Block for $ty {
            type Scalar = $ty;
            const SIZES: &'static [usize] = &[];
            fn flat(all: &[$ty]) -> &[$ty] {
                all
            }
            fn split(all: Vec<$ty>) -> Option<Vec<$ty>> {
                Some(all)
            }
        }

        impl<const N: usize> Block for [$ty; N] {
            type Scalar = $ty;
            const SIZES: &'static [usize] = &[N];
            fn flat(all: &[[$ty; N]]) -> &[$ty] {
                all.as_flattened()
            }
            fn split(all: Vec<$ty>) -> Option<Vec<[$ty; N]>> {
                let (rows, rest) = all.as_chunks::<N>();
                rest.is_empty().then(|| rows.to_vec())
            }
        }

        impl<const N: usize, const M: usize> Block for [[$ty; M]; N] {
            type Scalar = $ty;
            const SIZES: &'static [usize] = &[N, M];
            fn flat(all: &[[[$ty; M]; N]]) -> &[$ty] {
                all.as_flattened().as_flattened()
            }
            fn split(all: Vec<$ty>) -> Option<Vec<[[$ty; M]; N]>> {
                let (rows, rest) = all.as_chunks::<M>();
                let (blocks, more) = rows.as_chunks::<N>();
                (rest.is_empty() && more.is_empty()).then(|| blocks.to_vec())
            }
        }
    )*};
}

scalar!(f64, i64, i32, usize, bool);

impl<B: Block> Argument for [B] {
    fn hold(&self) -> Result<Held<'_>> {
        let mut held = B::Scalar::many(B::flat(self))?;
        held.shape[0] = self.len();
        held.shape[1..=B::SIZES.len()].copy_from_slice(B::SIZES);
        held.rank = 1 + B::SIZES.len();
        Ok(held)
    }
}

impl<B: Block, const N: usize> Argument for [B; N] {
    fn hold(&self) -> Result<Held<'_>> {
        self.as_slice().hold()
    }
}

impl<B: Block> Argument for Vec<B> {
    fn hold(&self) -> Result<Held<'_>> {
        self.as_slice().hold()
    }
}

impl<A: Argument + ?Sized> Argument for &A {
    fn hold(&self) -> Result<Held<'_>> {
        (**self).hold()
    }
}

macro_rules! tuple {
    ($($name:ident $k:tt),*) => {
        impl<$($name: Argument),*> Argument for ($($name,)*) {
            fn hold(&self) -> Result<Held<'_>> {
                Ok(Held::scalar(Data::Tuple(vec![$(self.$k.hold()?),*])))
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

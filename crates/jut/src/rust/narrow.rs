//! Integers of 32 bits of a program.
//!
//! In the text of an annotated function an `i32` of Rust is an `i64` whose range is tested, so that is what `i32` is as an
//! argument. In `jut::program!` it is what the text says, an `i32`: such arguments come in a [`Narrow`].

use super::{Argument, Held, Words};
use crate::error::Result;
use crate::value::{Array, Value};
use jut_native::Arg as Word;

/// An argument of integers that are `i32` in the text.
#[derive(Debug)]
pub struct Narrow<T>(pub T);

/// A field of a record of a program, of integers that are `i32` in the text.
pub trait NarrowField: Sized {
    /// The argument, ready for a call: see [`Argument::hold`].
    fn held(&self) -> Held<'_>;
    /// Those of many records as one array.
    fn many(all: Vec<Self>) -> Held<'static>;
    /// The argument word by word: see [`Argument::words`].
    fn words<'a>(&'a self, words: &mut Words<'_, '_, 'a>);
}

impl NarrowField for i32 {
    fn held(&self) -> Held<'_> {
        Held::narrow(*self)
    }
    fn many(all: Vec<i32>) -> Held<'static> {
        Held::owned(Value::I32s(Array { shape: vec![all.len()], data: all }))
    }
    #[inline(always)]
    fn words<'a>(&'a self, words: &mut Words<'_, '_, 'a>) {
        words.push(Word::I32(*self));
    }
}

impl<const N: usize> NarrowField for [i32; N] {
    fn held(&self) -> Held<'_> {
        Held::narrow_cells(self)
    }
    fn many(all: Vec<[i32; N]>) -> Held<'static> {
        let shape = vec![all.len(), N];
        Held::owned(Value::I32s(Array { shape, data: all.as_flattened().to_vec() }))
    }
    #[inline(always)]
    fn words<'a>(&'a self, words: &mut Words<'_, '_, 'a>) {
        words.push(Word::I32s(self));
    }
}

impl Argument for Narrow<i32> {
    fn hold(&self) -> Result<Held<'_>> {
        Ok(Held::narrow(self.0))
    }
    #[inline(always)]
    fn words<'a>(&'a self, words: &mut Words<'_, '_, 'a>) {
        words.push(Word::I32(self.0));
    }
}

impl Argument for Narrow<&[i32]> {
    fn hold(&self) -> Result<Held<'_>> {
        Ok(Held::narrow_cells(self.0))
    }
    #[inline(always)]
    fn words<'a>(&'a self, words: &mut Words<'_, '_, 'a>) {
        words.push(Word::I32s(self.0));
    }
}

impl<const N: usize> Argument for Narrow<&[i32; N]> {
    fn hold(&self) -> Result<Held<'_>> {
        Ok(Held::narrow_cells(self.0))
    }
    #[inline(always)]
    fn words<'a>(&'a self, words: &mut Words<'_, '_, 'a>) {
        words.push(Word::I32s(self.0));
    }
}

impl<const N: usize> Argument for Narrow<&[[i32; N]]> {
    fn hold(&self) -> Result<Held<'_>> {
        Ok(Held::narrow_cells(self.0.as_flattened()).in_rows(self.0.len(), N))
    }
    #[inline(always)]
    fn words<'a>(&'a self, words: &mut Words<'_, '_, 'a>) {
        // Of arrays without elements the number of cells does not say how many they are.
        match N {
            0 => words.refuse(),
            _ => words.push(Word::I32s(self.0.as_flattened())),
        }
    }
}

impl<const N: usize, const M: usize> Argument for Narrow<&[[i32; N]; M]> {
    fn hold(&self) -> Result<Held<'_>> {
        Ok(Held::narrow_cells(self.0.as_flattened()).in_rows(M, N))
    }
}

impl Argument for Narrow<&Array<i32>> {
    fn hold(&self) -> Result<Held<'_>> {
        self.0.hold()
    }
}

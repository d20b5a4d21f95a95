//! The arguments of a typed call together: references to each of them, in a tuple.
//!
//! What the attribute writes for a derivative is one call with such a tuple. That all of it is here, and nothing of it in the user's crate, is what keeps
//! `cargo check` of that crate short.

use super::{Argument, Held, Words};
use crate::error::Result;

/// How many arguments are held without a list of them.
const FEW: usize = 12;

/// Arguments that are ready for a call.
pub struct Holding<'a> {
    few: [Held<'a>; FEW],
    count: usize,
    /// All of them, where they are more.
    all: Vec<Held<'a>>,
}

impl<'a> Holding<'a> {
    pub(super) fn new() -> Holding<'a> {
        Holding { few: std::array::from_fn(|_| Held::nothing()), count: 0, all: Vec::new() }
    }

    fn push(&mut self, held: Held<'a>) {
        match self.few.get_mut(self.count) {
            Some(place) => *place = held,
            None => {
                if self.all.is_empty() {
                    self.all
                        .extend(self.few.iter_mut().map(|h| std::mem::replace(h, Held::nothing())));
                }
                self.all.push(held);
            }
        }
        self.count += 1;
    }

    pub(super) fn as_slice(&self) -> &[Held<'a>] {
        match self.all.is_empty() {
            true => &self.few[..self.count],
            false => &self.all,
        }
    }
}

/// The arguments of a call: a reference to one, or a tuple of such.
pub trait Arguments<'a> {
    /// All of them word by word: see [`Argument::words`].
    fn words(&self, words: &mut Words<'_, '_, 'a>);

    /// All of them, ready for a call.
    ///
    /// # Errors
    /// As [`Argument::hold`].
    fn hold(&self, held: &mut Holding<'a>) -> Result<()>;
}

impl<'a, A: Argument> Arguments<'a> for &'a A {
    #[inline(always)]
    fn words(&self, words: &mut Words<'_, '_, 'a>) {
        A::words(self, words);
    }
    fn hold(&self, held: &mut Holding<'a>) -> Result<()> {
        held.push(A::hold(self)?);
        Ok(())
    }
}

impl<'a> Arguments<'a> for () {
    #[inline(always)]
    fn words(&self, _: &mut Words<'_, '_, 'a>) {}
    fn hold(&self, _: &mut Holding<'a>) -> Result<()> {
        Ok(())
    }
}

macro_rules! tuples {
    ($(($($name:ident $k:tt)*))*) => {$(
        impl<'a, $($name: Arguments<'a>),*> Arguments<'a> for ($($name,)*) {
            #[inline(always)]
            fn words(&self, words: &mut Words<'_, '_, 'a>) {
                $(self.$k.words(words);)*
            }
            fn hold(&self, held: &mut Holding<'a>) -> Result<()> {
                $(self.$k.hold(held)?;)*
                Ok(())
            }
        }
    )*};
}

// More of them stand in tuples of tuples.
tuples! {
    (A 0)
    (A 0 B 1)
    (A 0 B 1 C 2)
    (A 0 B 1 C 2 D 3)
    (A 0 B 1 C 2 D 3 E 4)
    (A 0 B 1 C 2 D 3 E 4 F 5)
    (A 0 B 1 C 2 D 3 E 4 F 5 G 6)
    (A 0 B 1 C 2 D 3 E 4 F 5 G 6 H 7)
}

/// An argument. What is wrong with its type is said here, in the same words for all derivatives of a function: so it is said once.
#[inline(always)]
pub fn argument<'a, A: Argument>(argument: &'a A) -> impl Arguments<'a> {
    argument
}

/// The same for a text whose rows have lengths of their own.
pub fn in_rows<'a, A: Argument>(argument: &'a A) -> impl Arguments<'a> {
    InRows(argument)
}

struct InRows<'a, A>(&'a A);

impl<'a, A: Argument> Arguments<'a> for InRows<'a, A> {
    fn words(&self, words: &mut Words<'_, '_, 'a>) {
        words.refuse();
    }
    fn hold(&self, held: &mut Holding<'a>) -> Result<()> {
        held.push(self.0.hold_uneven()?);
        Ok(())
    }
}

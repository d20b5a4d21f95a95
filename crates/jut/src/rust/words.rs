//! The direct entry: arguments as words of the machine code, without a value in between.
//!
//! A typed call knows from the types of its arguments what each of them is, so nothing has to be looked at but the lengths of
//! slices. What a call does is: take the session that the thread keeps, write a word for each number and slice, compare each
//! length with that of the last call, run the code, read the results where they lie.
//!
//! *Requires*: a call before it by values ([`Held`](super::Held)), which has found the sizes.
//! *Ensures*: the results and errors of that way. An argument that is not made of numbers and slices of the code's own
//! numbers (an enum, an array of structs, a slice of `usize`), or that has another length than the last time, leaves everything as it
//! was, and the call goes by values.
//! *Cost*: a few nanoseconds besides the machine code (the table of calls in `docs/performance.md`); nothing is allocated.

use jut_native::{Arg as Word, Beginning};

/// The words of a call's arguments, those before and those to come.
pub struct Words<'w, 'b, 'a> {
    call: &'w mut Beginning<'b, 'a>,
    plain: bool,
}

impl<'w, 'b, 'a> Words<'w, 'b, 'a> {
    #[inline(always)]
    pub(super) fn new(call: &'w mut Beginning<'b, 'a>) -> Words<'w, 'b, 'a> {
        Words { call, plain: true }
    }

    #[inline(always)]
    pub(super) fn push(&mut self, word: Word<'a>) {
        self.call.push(word);
    }

    /// Says that an argument is not made of words.
    #[inline(always)]
    pub fn refuse(&mut self) {
        self.plain = false;
    }

    /// Whether all arguments were.
    #[inline(always)]
    pub(super) fn are_all(&self) -> bool {
        self.plain
    }
}

//! What calls give that stands in a list: of a struct that measures no lists, each call may give lists of other lengths, and the elements of a list have one.

use super::argument::Block;
use std::marker::PhantomData;

/// What a call gives that may be an element of a list: what has no `Vec`, or measures those that it has; or a list, which is a row.
#[diagnostic::on_unimplemented(
    message = "each call may give a `{Self}` with lists of other lengths, and the elements of a list have one",
    note = "write `#[data(ragged)]` before the struct that has the `Vec`: then it measures its lists"
)]
pub trait Gathered {}

#[diagnostic::do_not_recommend]
impl<T: Block> Gathered for T {}

#[diagnostic::do_not_recommend]
impl<T> Gathered for Vec<T> {}

#[diagnostic::do_not_recommend]
impl<T> Gathered for super::Row<T> {}

/// Says that what a call gives stands in a list.
pub fn gathered<T: Gathered>(_: PhantomData<T>) {}

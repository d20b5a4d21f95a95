//! The results of a typed call together: how they are read, one after the other.

use super::{Outcome, Taken};
use crate::error::Result;

macro_rules! several {
    ($($several:ident $count:literal $($name:ident)*;)*) => {$(
        #[doc = concat!("Takes the next ", $count, " results.")]
        ///
        /// # Errors
        /// As [`Taken::next`].
        #[inline]
        pub fn $several<$($name: Outcome),*>(results: &mut Taken<'_>) -> Result<($($name),*)> {
            Ok(($(results.next::<$name>()?),*))
        }
    )*};
}

several! {
    two "two" A B;
    three "three" A B C;
    four "four" A B C D;
    five "five" A B C D E;
    six "six" A B C D E F;
}

/// Takes the next result.
///
/// # Errors
/// As [`Taken::next`].
#[inline]
pub fn one<A: Outcome>(results: &mut Taken<'_>) -> Result<A> {
    results.next()
}

/// Takes what the one gives and then what the other does: a value, and derivatives.
#[inline]
pub fn both<A, B>(
    mut first: impl FnMut(&mut Taken<'_>) -> Result<A>,
    mut second: impl FnMut(&mut Taken<'_>) -> Result<B>,
) -> impl FnMut(&mut Taken<'_>) -> Result<(A, B)> {
    move |results| Ok((first(results)?, second(results)?))
}

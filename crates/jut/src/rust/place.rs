//! Memory of the caller that a typed gradient is written to: that of `f::gradient_into(.., &mut g)`.

use super::argument::Block;
use super::neutral::length;
use super::outcome::{Outcome, Taken};
use crate::error::{ArgumentError, Result};

/// What a derivative of type `T` can be written to: a `T`, or the elements of a list if it is one.
///
/// ```
/// # fn main() -> jut::Result<()> {
/// #[jut::differentiable]
/// fn squares(x: &[f64]) -> f64 {
///     x.iter().map(|v| v * v).sum()
/// }
///
/// let mut slice = [0.0; 2];
/// squares::gradient_into(&[3.0, 1.0], &mut slice[..])?;
/// let mut list = Vec::new();
/// squares::gradient_into(&[3.0, 1.0], &mut list)?;
/// assert_eq!((slice, list), ([6.0, 2.0], vec![6.0, 2.0]));
/// # Ok(())
/// # }
/// ```
pub trait Place<T> {
    /// Writes the next result there.
    ///
    /// # Errors
    /// If it is of another type, which is a mistake of the attribute, or does not fit (`A06`): then nothing is written here, but places before
    /// this one have what is theirs.
    fn put(&mut self, results: &mut Taken<'_>) -> Result<()>;
}

impl<T: Outcome> Place<T> for T {
    #[inline]
    fn put(&mut self, results: &mut Taken<'_>) -> Result<()> {
        results.renew(self)
    }
}

impl<B: Block> Place<Vec<B>> for [B] {
    fn put(&mut self, results: &mut Taken<'_>) -> Result<()> {
        let own = self.len();
        let copied = results.read(|value| {
            let fits = B::NONE.is_none() && length(value)? == own;
            fits.then(|| B::copy(value, self)).flatten()
        });
        if copied.is_some() {
            return Ok(());
        }
        let all: Vec<B> = results.next()?;
        if all.len() != own {
            let reason =
                format!("the derivative has {} elements, and the memory for it {own}", all.len());
            let help = "give memory of the length of the argument, or a `Vec`, which takes any";
            return Err(ArgumentError::new("A06", "gradient", reason, help).into());
        }
        self.clone_from_slice(&all);
        Ok(())
    }
}

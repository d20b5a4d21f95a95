//! Methods that a trait provides, called of a type of its own: `h.shifted(r)`, where `impl Potential for Harmonic` says nothing of `shifted`.
//!
//! Which trait has such a method, rustc knows where it is called. A trait with the attribute has beside each method that it provides a function
//! `text_of_shifted(&self) -> Provided<..>`, and a function that calls a method of this name declares a trait that has the same function for
//! references to all types:
//!
//! ```text
//! looked_up(of::<Harmonic>(), |this| this.text_of_shifted())     Provided<Potential_shifted<Harmonic>, f64>
//! looked_up(of::<Spring>(), |this| this.text_of_force())         Spring: the method of an `impl`
//! ```
//!
//! Rust looks for a method of a value before it looks for one of a reference to it: so what a trait provides goes before. Nothing of this runs.

use super::{Filled, Linker, Method};
use std::marker::PhantomData;

/// A method that no trait provides: it is looked for in the type itself.
pub struct NotProvided;

/// A method that a trait provides: the type beside it, and that of its result.
pub struct Provided<S, R>(PhantomData<(S, R)>);

/// What is found where a method of a type is looked for, and where its text is.
pub trait Found<T> {
    /// What has the method.
    type Of;
}

impl<T> Found<T> for NotProvided {
    type Of = T;
}

impl<T, S, R> Found<T> for Provided<S, R> {
    type Of = Provided<S, R>;
}

/// The type beside a method that a trait provides.
pub trait OfTrait {
    /// What a text calls it by: the method of the trait, or the one in its place that the `impl` has.
    fn of_trait(linker: &mut Linker) -> Filled;
}

/// What has the method that is looked for in a type.
pub fn looked_up<T, F: Found<T>>(_: PhantomData<T>, _: impl Fn(&T) -> F) -> PhantomData<F::Of> {
    PhantomData
}

#[diagnostic::do_not_recommend]
impl<const KEY: u64, S: OfTrait, R> Method<KEY, R> for Provided<S, R> {
    type Looks = super::Always;
    fn link(linker: &mut Linker) -> Filled {
        S::of_trait(linker)
    }
}

/// What a function of a type parameter makes, which is taken for that parameter: it has its methods.
#[diagnostic::on_unimplemented(
    message = "this gives a `{Self}`, where a `{T}` was taken for what it gives",
    label = "of another type than the parameter",
    note = "bind it to a name with its type before: `let made: Ruler = S::unit();`"
)]
pub trait OfParameter<T> {}

#[diagnostic::do_not_recommend]
impl<T> OfParameter<T> for T {}

/// Says that a function makes what it was taken for.
pub fn of_parameter<T, R: OfParameter<T>>(_: fn() -> R) {}

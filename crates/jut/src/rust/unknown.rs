//! A struct that does not derive `jut::Data`: rustc says so where the struct is made. What the same function does with its fields has no type
//! then, and nothing more is said of it.

use super::{Data, Elements, Field, Filled, Linker, Method, Operator, Type};
use std::marker::PhantomData;

/// A type of which it is asked whether it is known.
pub struct Asked<T>(PhantomData<T>);

/// A type of which it is asked whether it is known.
pub fn asked<T>() -> Asked<T> {
    Asked(PhantomData)
}

/// A type that derives `jut::Data`. Rust looks for a method of a value before it looks for one of a reference to it: so this goes before
/// [`Unknown`].
pub trait Known {
    /// The type.
    type Itself;
    /// What stands for it.
    fn of(&self) -> PhantomData<Self::Itself> {
        PhantomData
    }
}

impl<T: Data> Known for Asked<T> {
    type Itself = T;
}

/// Any other type.
pub trait Unknown {
    /// What stands for it.
    fn of(&self) -> PhantomData<Nothing> {
        PhantomData
    }
}

impl<T> Unknown for &Asked<T> {}

/// A type that nothing is known of: whatever is asked of it is of the same type.
pub struct Nothing;

const NOTHING: Filled = Filled::plain(String::new(), Type::Unit);

#[diagnostic::do_not_recommend]
impl<const KEY: u64> Field<KEY, Nothing> for Nothing {}

impl Elements for Nothing {
    type Element = Nothing;
}

#[diagnostic::do_not_recommend]
impl<const KEY: u64> Method<KEY, Nothing> for Nothing {
    type Looks = super::Always;
    fn link(_: &mut Linker) -> Filled {
        NOTHING
    }
}

#[diagnostic::do_not_recommend]
impl<const KEY: u64, Right> Operator<KEY, Right, Nothing> for Nothing {
    fn link(_: &mut Linker) -> Filled {
        NOTHING
    }
}

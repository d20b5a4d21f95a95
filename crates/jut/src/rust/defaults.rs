//! `Point::default()` in a body: by an `impl Default` with the attribute, whose text is called; of any other, such as a derived one, the value
//! that it gives when the texts are put together.

use super::data::key;
use super::{Constant, Filled, Linker, Method};
use std::marker::PhantomData;

/// A type of which a default is made.
pub struct Made<T>(PhantomData<T>);

/// A type of which a default is made.
pub fn made<T>() -> Made<T> {
    Made(PhantomData)
}

/// The default by the text of an `impl`. Rust looks for a method of a value before it looks for one of a reference to it: so this goes
/// before [`DefaultValue`].
pub trait DefaultText {
    /// What the text has for it.
    fn default_of(&self, linker: &mut Linker) -> Filled;
}

impl<T: Method<{ key("default") }, T>> DefaultText for Made<T> {
    fn default_of(&self, linker: &mut Linker) -> Filled {
        let mut function = T::link(linker);
        function.text.push_str("()");
        function
    }
}

/// The default as a value.
pub trait DefaultValue {
    /// What the text has for it.
    fn default_of(&self, linker: &mut Linker) -> Filled;
}

impl<T: Default + Constant> DefaultValue for &Made<T> {
    fn default_of(&self, linker: &mut Linker) -> Filled {
        linker.constant(&T::default())
    }
}

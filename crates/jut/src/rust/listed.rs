//! Methods that lists have and own types may have too: of a list the text writes them itself, of a struct they are functions by an `impl` with
//! the attribute.

use super::data::key;
use super::{Data, Elements, Filled, Linker, Type};
use std::marker::PhantomData;

/// Such a method, found by the number of its name, and the type of what it gives.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no list, and has no method of this name with derivatives that gives a `{Output}`",
    note = "write `#[jut::differentiable]` before its `impl` block; there `len` gives a `usize`, and `is_empty` a `bool`"
)]
pub trait Listed<const KEY: u64, Output> {
    /// What a text calls it by; nothing where it is one of lists.
    fn link(linker: &mut Linker) -> Filled;
}

/// Types that are made of that of an element.
struct Of<T>(PhantomData<T>);

impl<T: Data> Of<T> {
    const OPTION: Type = Type::Tuple(&[Type::Bool, T::TYPE]);
    const LIST: Type = Type::Vec(&T::TYPE);
}

macro_rules! methods {
    ($($name:literal $output:ty = $ty:expr;)*) => {$(
        #[diagnostic::do_not_recommend]
        impl<A: Elements> Listed<{ key($name) }, $output> for A
        where
            A::Element: Data,
        {
            fn link(_: &mut Linker) -> Filled {
                Filled::plain(String::new(), $ty)
            }
        }
    )*};
}

methods! {
    "len" usize = Type::Usize;
    "is_empty" bool = Type::Bool;
    "first" Option<A::Element> = Of::<A::Element>::OPTION;
    "last" Option<A::Element> = Of::<A::Element>::OPTION;
    "first.unwrap" A::Element = A::Element::TYPE;
    "last.unwrap" A::Element = A::Element::TYPE;
    "get" Option<A::Element> = Of::<A::Element>::OPTION;
    "to_vec" Vec<A::Element> = Of::<A::Element>::LIST;
    "as_slice" Vec<A::Element> = Of::<A::Element>::LIST;
    "swap" () = Type::Unit;
    "fill" () = Type::Unit;
    "reverse" () = Type::Unit;
    "rotate_left" () = Type::Unit;
    "rotate_right" () = Type::Unit;
    "sort" () = Type::Unit;
    "sort_unstable" () = Type::Unit;
    "copy_from_slice" () = Type::Unit;
}

impl Linker {
    /// Such a method that the text uses, and the type of what it gives.
    pub fn listed<const KEY: u64, S: Listed<KEY, O>, O>(
        &mut self,
        _: PhantomData<S>,
    ) -> (Filled, PhantomData<O>) {
        (S::link(self), PhantomData)
    }
}

//! Lists in fields that change their length: which of them do, and how their owner is made anew.
//!
//! A struct that measures its lists is declared data in the text: a list of another length is a field of another value of it. Of any other struct
//! the lengths are part of its type.

use super::data::key;
use super::{Data, Filled, Linker, Type};
use std::fmt::Write as _;
use std::marker::PhantomData;

/// A method that changes the length of a list, found by the number of its name, of what stands in a field of `Owner`; and the type of what it gives. An own type
/// may have a method of this name.
#[diagnostic::on_unimplemented(
    message = "this is no method with derivatives of `{Self}`",
    note = "write `#[jut::differentiable]` before its `impl` block"
)]
pub trait Relisted<const KEY: u64, Owner, Output> {
    /// What has to measure its lists: the owner of a list, and [`Always`](super::Always) of an own type.
    type Measures;
    /// What a text calls it by; nothing where it is one of lists.
    fn link(linker: &mut Linker) -> Filled;
}

/// A struct or enum that measures its lists.
#[diagnostic::on_unimplemented(
    message = "a `Vec` in a field of `{Self}` keeps its length",
    label = "this list would get another length",
    note = "write `#[data(ragged)]` before the struct: then it measures its lists, and its fields have names",
    note = "or make the list that is longer or shorter, `let mut list: Vec<f64> = self.list.clone();`, and a new value with it"
)]
pub trait Measured {}

#[diagnostic::do_not_recommend]
impl Measured for super::Always {}

/// An `Option` of an element.
struct Of<T>(PhantomData<T>);

impl<T: Data> Of<T> {
    const OPTION: Type = Type::Tuple(&[Type::Bool, T::TYPE]);
}

macro_rules! methods {
    ($($name:literal $output:ty = $ty:expr;)*) => {$(
        #[diagnostic::do_not_recommend]
        impl<T: Data, Owner> Relisted<{ key($name) }, Owner, $output> for Vec<T> {
            type Measures = Owner;
            fn link(_: &mut Linker) -> Filled {
                Filled::plain(String::new(), $ty)
            }
        }
    )*};
}

methods! {
    "push" () = Type::Unit;
    "extend" () = Type::Unit;
    "extend_from_slice" () = Type::Unit;
    "pop" Option<T> = Of::<T>::OPTION;
    "truncate" () = Type::Unit;
    "insert" () = Type::Unit;
    "remove" T = T::TYPE;
    "swap_remove" T = T::TYPE;
    "clear" () = Type::Unit;
    "resize" () = Type::Unit;
    "retain" () = Type::Unit;
    "dedup" () = Type::Unit;
}

impl Linker {
    /// Such a method that the text uses, and the type of what it gives.
    pub fn relisted<const KEY: u64, S: Relisted<KEY, W, O>, W, O>(
        &mut self,
        _: PhantomData<S>,
        _: PhantomData<W>,
    ) -> (Filled, PhantomData<O>)
    where
        S::Measures: Measured,
    {
        (S::link(self), PhantomData)
    }
}

impl Filled {
    /// Whether these steps lead to a list that its owner measures.
    pub(super) fn measures<'a>(&self, steps: impl Iterator<Item = &'a str>) -> bool {
        let steps: Vec<&str> = steps.collect();
        let Some((field, owner)) = steps.split_last() else { return false };
        self.walk(owner.iter().copied()).is_some_and(|ty| ty.measures(field))
    }
}

impl Type {
    /// Whether it is a struct that measures its field of this name.
    pub(super) fn measures(&self, field: &str) -> bool {
        match self {
            Type::Declared(of) => {
                of.is_single() && of.field(field).is_some_and(|(_, _, ty)| ty.sizes() > 0)
            }
            _ => false,
        }
    }

    /// The value `of` of such a struct with another list in that field.
    pub(super) fn remade(&self, of: &str, field: &str, list: &str) -> String {
        let Type::Declared(declared) = self else { return String::new() };
        let Some((variant, ..)) = declared.field(field) else { return String::new() };
        let (mut lines, mut values) = (String::new(), Vec::new());
        for (k, ((name, _), word)) in variant.fields.iter().zip(variant.words).enumerate() {
            if *name == field {
                values.push(list.to_string());
                continue;
            }
            let _ = write!(lines, "rest_{k} = {of}.{word}; ");
            values.push(format!("rest_{k}"));
        }
        format!("{{ {lines}{} }}", declared.made(variant, &values))
    }
}

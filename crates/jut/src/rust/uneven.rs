//! Rows of different lengths, `&[Vec<f64>]`: in a text of their own they are records that measure their lists, `rows_of_f64(values__0, values)`, where in
//! the first one they are one array. Which text a call needs, its arguments say ([`Argument::is_even`](super::Argument::is_even)).

use super::declared::{Declared, Recursive, Variant, word};
use super::entry::configure;
use super::{Arguments, Callee, Data, Derivative, Filled, Linker, Method, Reading};
use super::{Source, Taken, Type, called, flat, linearize};
use crate::error::{ArgumentError, Error, Result};
use crate::flat::Flat;
use crate::model::Function;
use crate::request::Request;
use std::any::{TypeId, type_name};
use std::marker::PhantomData;
use std::sync::Arc;

/// A row in such a text. No value of Rust has this type: a row is a `Vec`.
pub struct Row<T>(PhantomData<T>);

impl<T: Data + 'static> Recursive for Row<T> {
    const PATH: &'static str = "";
    const DECLARED: Declared = Declared::new(
        TypeId::of::<Self>,
        || format!("rows_of_{}", word(type_name::<T>())),
        Self::variants,
    );
    fn variants() -> &'static [Variant] {
        const { &[Variant { name: "", words: &["values"], fields: &[("values", Type::Vec(&T::TYPE))] }] }
    }
}

impl<T: Data + 'static> Data for Row<T> {
    const TYPE: Type = Type::Declared(&<Self as Recursive>::DECLARED);
    type Gradient = Row<T::Gradient>;
}

/// A tuple as an element of such a row. No value of Rust has this type, and no row with it goes to or from a call: so its parts may be integers too.
pub struct Parts<T>(PhantomData<T>);

macro_rules! parts {
    ($(($($name:ident)*))*) => {$(
        #[diagnostic::do_not_recommend]
        impl<$($name: Data + 'static),*> Data for Parts<($($name,)*)> {
            const TYPE: Type = Type::Tuple(&[$($name::TYPE),*]);
            type Gradient = Self;
        }
    )*};
}

parts! { (A B) (A B C) (A B C D) }

/// Calls a derivative of a function by its second text.
///
/// # Errors
/// `A03` if there is none, with the reason; else as [`call`](super::call).
pub fn called_unevenly<'a, S: Source, R>(
    request: Request,
    arguments: impl Arguments<'a>,
    read: impl FnMut(&mut Taken<'_>) -> Result<R>,
) -> Result<R> {
    super::description::Description::of::<S>().linked().map_err(|why| not_built(&why))?;
    called::<S, R>(request, arguments, read)
}

/// What a call of a function gives that makes rows: by its second text, if the first one says that they have different lengths.
///
/// # Errors
/// As [`call`](super::call).
pub fn or_unevenly<'a, S: Source, R>(
    first: Result<R>,
    request: Request,
    arguments: impl Arguments<'a>,
    read: impl FnMut(&mut Taken<'_>) -> Result<R>,
) -> Result<R> {
    match first {
        Err(error) if error.code() == Some("R04") => {
            match super::description::Description::of::<S>().linked() {
                Ok(_) => called::<S, R>(request, arguments, read),
                Err(_) => Err(error),
            }
        }
        other => other,
    }
}

/// Does something by a function's first text or, where rows have different lengths, by its second one.
fn by_either<S: Source, R>(
    is_even: bool,
    first: impl FnOnce() -> Result<R>,
    second: impl FnOnce() -> Result<R>,
) -> Result<R> {
    let linked = || super::description::Description::of::<S>().linked();
    if !is_even {
        linked().map_err(|why| not_built(&why))?;
        return second();
    }
    match first() {
        Err(error) if error.code() == Some("R04") && linked().is_ok() => second(),
        other => other,
    }
}

/// As [`linearize`](super::linearize), of a function that takes or makes rows: what its first text is given, then its second one.
///
/// # Errors
/// As [`called_unevenly`].
pub fn linearize_rows<'a, S: Source, Second: Source, V, T, R>(
    is_even: bool,
    (arguments, reading): (impl Arguments<'a>, Reading<V, T, R>),
    (rows, of_rows): (impl Arguments<'a>, Reading<V, T, R>),
) -> Result<Derivative<V, T, R>> {
    let first = || linearize::<S, V, T, R>(arguments, reading);
    by_either::<Second, _>(is_even, first, || linearize::<Second, V, T, R>(rows, of_rows))
}

/// As [`flat`](super::flat()), of such a function. Rows at another point have the lengths that they have here.
///
/// # Errors
/// As [`called_unevenly`].
pub fn flat_of_rows<'a, S: Source, Second: Source>(
    is_even: bool,
    names: &[&str],
    arguments: impl Arguments<'a>,
    rows: impl Arguments<'a>,
) -> Result<Flat> {
    let first = || flat::<S>(names, arguments);
    by_either::<Second, _>(is_even, first, || flat::<Second>(names, rows))
}

#[cold]
fn not_built(why: &Error) -> Error {
    let reason =
        format!("the rows have different lengths, and this function takes rows of one: {why}");
    let help = "give rows of one length, or a list of structs that have them, `#[derive(jut::Data)] #[data(ragged)] struct Row { values: Vec<f64> }`";
    ArgumentError::new("A03", "rows", reason, help).into()
}

/// Says how the code of a function's typed derivatives is made, of both of its texts.
///
/// # Errors
/// [`Error::Request`] if there is some already, or it was said before.
pub fn configure_both<S: Source, Second: Source>(
    choice: impl Fn(Function) -> Function + Send + Sync + 'static,
) -> Result<()> {
    let choice = Arc::new(choice);
    let second = choice.clone();
    configure::<S>(move |function| choice(function))?;
    configure::<Second>(move |function| second(function))
}

impl Linker {
    /// A function that the text calls with rows of different lengths, and fails at an `Err` if that is sure.
    pub fn second_text<S: Source>(&mut self, sure: bool) -> Filled {
        S::second_text(self, sure)
    }

    /// The same of a function that is called with arguments of these types.
    pub fn call_second_text<F: Callee<A>, A>(&mut self, _: A, sure: bool) -> Filled {
        F::Function::second_text(self, sure)
    }

    /// The same of a method.
    pub fn second_text_of_method<const KEY: u64, S: Method<KEY, R>, R>(
        &mut self,
        _: PhantomData<S>,
        sure: bool,
    ) -> Filled {
        S::second_text(self, sure)
    }

    /// A function that the text calls for rows: by the text that says their lengths, if it makes them.
    pub fn making_rows<S: Source>(&mut self, sure: bool) -> Filled {
        match (S::MAKES_ROWS, sure) {
            (true, _) => S::second_text(self, sure),
            (false, true) => S::link(self),
            (false, false) => S::called(self),
        }
    }

    /// The same of a function that is called with arguments of these types.
    pub fn call_making_rows<F: Callee<A>, A>(&mut self, _: A, sure: bool) -> Filled {
        self.making_rows::<F::Function>(sure)
    }

    /// The same of a method.
    pub fn method_making_rows<const KEY: u64, S: Method<KEY, R>, R>(
        &mut self,
        _: PhantomData<S>,
        sure: bool,
    ) -> Filled {
        S::making_rows(self, sure)
    }

    /// A method that the text calls, which may make rows.
    pub fn method_perhaps_rows<const KEY: u64, S: Method<KEY, R>, R>(
        &mut self,
        _: PhantomData<S>,
    ) -> Filled
    where
        S::Looks: super::generic::LookedMethod,
    {
        S::perhaps_rows(self, false)
    }

    /// The same of a method that fails at an `Err`.
    pub fn method_surely_perhaps_rows<const KEY: u64, S: Method<KEY, R>, R>(
        &mut self,
        _: PhantomData<S>,
    ) -> Filled {
        S::perhaps_rows(self, true)
    }

    /// What a call gives as an element of a list of which no type is written: a list of numbers is a row that measures itself.
    pub fn element(&mut self, given: Filled) -> Filled {
        let row = match given.ty {
            Type::Vec(Type::F64) => Row::<f64>::TYPE,
            Type::Vec(Type::F32) => Row::<f32>::TYPE,
            Type::Vec(Type::I64) => Row::<i64>::TYPE,
            Type::Vec(Type::I32) => Row::<i32>::TYPE,
            Type::Vec(Type::U32) => Row::<u32>::TYPE,
            Type::Vec(Type::U8) => Row::<u8>::TYPE,
            Type::Vec(Type::U64) => Row::<u64>::TYPE,
            Type::Vec(Type::Usize) => Row::<usize>::TYPE,
            Type::Vec(Type::Bool) => Row::<bool>::TYPE,
            other => return Filled::plain(String::new(), other),
        };
        self.declare(&row);
        Filled::plain(String::new(), row)
    }

    /// A function that takes rows of one length only, and why.
    pub fn of_one_length(&mut self, why: &str) -> Filled {
        self.refused(why.to_string())
    }
}

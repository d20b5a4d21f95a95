//! Derivatives of ordinary Rust functions: what stands behind the attribute [`differentiable`](crate::differentiable).
//!
//! ```
//! # #[cfg(feature = "macros")] {
//! #[jut::differentiable]
//! fn rosenbrock(x: &[f64]) -> f64 {
//!     let mut s = 0.0;
//!     for i in 1..x.len() {
//!         s += 100.0 * (x[i] - x[i - 1] * x[i - 1]).powi(2) + (1.0 - x[i - 1]).powi(2);
//!     }
//!     s
//! }
//!
//! let (value, gradient) = rosenbrock::value_and_gradient(&[1.0, 2.0, 3.0]).unwrap();
//! assert_eq!(value, rosenbrock(&[1.0, 2.0, 3.0])); // the function is what it was
//! assert_eq!(gradient, [-400.0, 1002.0, -200.0]);
//! # }
//! ```
//!
//! The attribute translates the function's statements to text of jut, with holes for what has a name elsewhere: other
//! functions with the attribute, constants. Beside the function it writes a type of the same name, and rustc finds by it what
//! belongs into the holes, also in other modules and crates. When a derivative is first called, a [`Linker`] puts the texts
//! together; that is checked, differentiated and compiled like any program, once per process. `docs/rust.md` says what may
//! stand in such a function; anything else is refused by the compiler, at its place, with what to write instead.
//!
//! For `fn f(x: &[f64], n: usize) -> f64` the type `f` has
//!
//! | function | gives |
//! |---|---|
//! | `f::value(x, n)` | the value, by compiled code |
//! | `f::gradient(x, n)`, `f::value_and_gradient(x, n)` | a `Vec<f64>`; the value before it |
//! | `f::jvp(x, n, d_x)` | the value, and its tangent |
//! | `f::vjp(x, n, &cotangent)` | the value, and the cotangent of `x` |
//! | `f::hvp(x, n, d_x)`, `f::hessian(x, n)` | the second derivatives times `d_x`; all of them |
//! | `f::jacobian(x, n)`, `f::value_and_jacobian(x, n)` | all partial derivatives of a function that gives an array |
//! | `f::compiled(request)` | the code that these call, [`Compiled`](crate::Compiled), to wait for it or to ask which engine runs |
//! | `f::configure(choice)` | before the first of them is called: which engine, how much memory |
//! | `f::function()` | the [`Function`], for everything else |
//! | `f::text()` | the text, to be read |
//!
//! A derivative has the type of what it belongs to: that of a slice is a `Vec<f64>`, that of a `[f64; 3]` is one. Several
//! parameters with floats give a tuple. Integers and truth values have none. Where the function panics these give an
//! [`Error`](crate::Error) with the place in the Rust file.
//!
//! A struct that derives `jut::Data` is the tuple of its fields in the text, an enum that of its variant's number and the fields of all variants; functions of an `impl` block with the attribute have types of
//! their own, `Type_function`.
//!
//! With the feature `program`, `jut::program!("file.jut")` and `jut::program! { .. }` give the same functions from a program of the language, which
//! is checked when the crate is compiled (`docs/programs.md` has the types):
//!
//! ```
//! # #[cfg(feature = "program")] {
//! mod model {
//!     jut::program! {
//!         def scaled[n](x: [n]f64, by: f64) -> f64 = by * sum (v <- x) { v^2 }
//!     }
//! }
//! let (by_x, by_scale) = model::scaled::gradient(&[1.0, 2.0], 3.0).unwrap();
//! assert_eq!((by_x, by_scale), (vec![6.0, 12.0], 5.0));
//! # }
//! ```
//!
//! The items of this module are what the attribute writes, and may change with it; [`crate::math`] has functions whose bits are the same here
//! and there.

mod argument;
mod arguments;
mod cell;
mod constant;
mod data;
mod declared;
mod defaults;
mod derivative;
mod description;
mod entry;
mod flat;
mod gathered;
mod generic;
#[cfg(any(feature = "nalgebra", feature = "ndarray"))]
mod libraries;
mod linker;
mod listed;
mod narrow;
mod neutral;
mod operator;
mod outcome;
mod place;
mod places;
mod prelude;
mod program;
mod provided;
mod recursive;
mod relisted;
mod results;
mod typed;
mod uneven;
mod unknown;
mod words;
mod written;

pub use argument::{Argument, Block, Content, Held, ListContent, optional};
pub use arguments::{Arguments, Holding, argument, in_rows};
pub use cell::Cell;
pub use constant::{Constant, Seen, seen};
pub use data::{
    Data, Elements, Field, Gives, Gradient, Itself, Method, Number, components, element, field,
    given, itself, of, result, succeeded, taken_for_list, taken_for_option,
};
pub use declared::{Declarations, Declared, Recursive, Variant};
pub use defaults::{DefaultText, DefaultValue, Made, made};
pub use derivative::{Derivative, Reading, linearize};
pub use entry::{Locals, call, compiled, configure};
pub use flat::flat;
pub use gathered::{Gathered, gathered};
pub use generic::{Always, Callee, Hidden, List, Looked, called, cell, list};
pub use linker::{Filled, Linker};
#[doc(hidden)]
pub use linker::{filled, with_prelude};
pub use listed::Listed;
pub use narrow::{Narrow, NarrowField};
pub use neutral::neutral;
pub use operator::{Compared, Operator, Summed, compared, of_value, summed};
pub use outcome::{Outcome, Taken};
pub use place::Place;
pub use program::Program;
pub use provided::{Found, NotProvided, OfParameter, OfTrait, Provided, looked_up, of_parameter};
pub use recursive::{many, parts, split, whole};
pub use relisted::{Measured, Relisted};
pub use results::{both, five, four, one, six, three, two};
pub use typed::TypedSession;
pub use uneven::{
    Parts, Row, called_unevenly, configure_both, flat_of_rows, linearize_rows, or_unevenly,
};
pub use unknown::{Asked, Known, Nothing, Unknown, asked};
pub use words::Words;

pub use crate::source::{RustPlace, What};
use crate::{Function, Result};
use description::Description;

/// Why a call has no text for rows of different lengths.
const ONE_LENGTH: &str = "a function that is called with them has no rows among its parameters";

/// A function that has a text: what the type beside it says.
pub trait Source: 'static + Sized {
    /// Its path.
    const NAME: &'static str;
    /// The type of its result.
    const RESULT: Type;
    /// Which of its parameters are `&mut`, if any is: what these are in the end are further results.
    const CHANGED: &'static [bool] = &[];
    /// The types of its parameters, if any is a function, an `Option`, or has integers.
    const PARAMETERS: &'static [Type] = &[];
    /// Whether it gives rows and takes none, so that each call of it may have different lengths.
    const MAKES_ROWS: bool = false;
    /// Whether it takes rows, so that there is a second text for those of different lengths.
    const TAKES_ROWS: bool = false;
    /// The numbers of the parameters that derivatives are by, if not all with floats.
    const WRT: &'static [usize] = &[];
    /// Adds its definition, behind those that it calls.
    fn define(linker: &mut Linker);
    /// Where the program is kept that its text and all that it calls make.
    fn linked() -> &'static Cell;
    /// What the text calls it by.
    fn link(linker: &mut Linker) -> Filled {
        linker.definition(Description::of::<Self>())
    }
    /// What a call of it stands for: where it gives a `Result`, the text that gives an `Option`.
    fn called(linker: &mut Linker) -> Filled {
        Self::link(linker)
    }
    /// What a call of it with rows of different lengths stands for, of which an error is failure if that is sure.
    fn second_text(linker: &mut Linker, _sure: bool) -> Filled {
        linker.of_one_length(ONE_LENGTH)
    }
    /// The program that has it, if it is a definition in one: see `jut::program!`.
    fn program() -> Option<&'static Program> {
        None
    }
}

/// A type, as far as the text depends on it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Type {
    /// `f64`
    F64,
    /// `f32`
    F32,
    /// `i64`
    I64,
    /// `i32`
    I32,
    /// `u32`
    U32,
    /// `i16`
    I16,
    /// `u16`
    U16,
    /// `i8`
    I8,
    /// `u8`
    U8,
    /// `u64`, by its bits.
    U64,
    /// `usize`
    Usize,
    /// `bool`
    Bool,
    /// An array or slice of elements.
    Array(&'static Type),
    /// A `Vec` of elements.
    Vec(&'static Type),
    /// A function: what it takes, and what it gives.
    Function(&'static [Type], &'static Type),
    /// Nothing.
    Unit,
    /// An array whose length is part of its type.
    Fixed(&'static Type, usize),
    /// A matrix: an array of its rows, of which iterators give the elements, one row after the other, or, if that is said, one column
    /// after the other.
    Matrix(&'static Type, bool),
    /// A struct: its fields, in order.
    Record(&'static [(&'static str, Type)]),
    /// A tuple.
    Tuple(&'static [Type]),
    /// An enum: its variants, and the fields of all of them behind the number of the variant. A field is called after
    /// its variant, `Round.radius`.
    Enum(&'static [&'static str], &'static [(&'static str, Type)]),
    /// A struct or enum that holds itself, which the text declares.
    Declared(&'static Declared),
}

/// The function of a type that the attribute wrote.
///
/// # Errors
/// [`Error::Program`](crate::Error::Program) if the texts make no program, [`Error::Request`](crate::Error::Request) if a constant is
/// none of the text.
pub fn function<S: Source>() -> Result<Function> {
    Description::of::<S>().function()
}

/// The text of a function and all that it calls.
///
/// # Errors
/// As [`function`].
pub fn text<S: Source>() -> Result<String> {
    Ok(Description::of::<S>().linked()?.model.source().text.clone())
}

//! Structs whose values go into and come out of compiled functions: what `#[derive(jut::Data)]` writes is an implementation of
//! these traits. In the text such a struct is the tuple of its fields.

use super::{Filled, Linker, Type};
use crate::value::Value;
use std::marker::PhantomData;

/// A struct that derives `jut::Data`: its fields are numbers, truth values, arrays, `Vec`s, and such structs.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no derivatives",
    label = "a type is `f64`, `f32`, an integer such as `i64`, `usize` or `u8`, `bool`, an array, slice or `Vec`, or a struct",
    note = "write `#[derive(jut::Data)]` before the struct"
)]
pub trait Data: Sized {
    /// Its fields.
    const TYPE: Type;
    /// What a derivative with respect to it is: the struct itself, or one of its fields with floats alone.
    type Gradient;
}

/// A float, also under a name of the user's: of it there is a gradient.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no number: a gradient is that of an `f64` or `f32`",
    note = "`vjp` gives the cotangents of the parameters for one of the result"
)]
pub trait Number {}

impl Number for f64 {}
impl Number for f32 {}

macro_rules! plain {
    ($($ty:ident $variant:ident $gradient:ty;)*) => {$(
        impl Data for $ty {
            const TYPE: Type = Type::$variant;
            type Gradient = $gradient;
        }
    )*};
}

// Under a name of the user's, `type Real = f64;`, these are found like structs.
plain! {
    f64 F64 f64;
    f32 F32 f32;
    i64 I64 ();
    i32 I32 ();
    u32 U32 ();
    i16 I16 ();
    u16 U16 ();
    i8 I8 ();
    u8 U8 ();
    isize I64 ();
    usize Usize ();
    u64 U64 ();
    bool Bool ();
}

impl<T: Data + 'static, const N: usize> Data for [T; N] {
    const TYPE: Type = Type::Fixed(&T::TYPE, N);
    type Gradient = [T::Gradient; N];
}

impl<T: Data + 'static> Data for Vec<T> {
    const TYPE: Type = Type::Vec(&T::TYPE);
    type Gradient = Vec<T::Gradient>;
}

/// The type of a derivative with respect to a struct.
pub type Gradient<D> = <D as Data>::Gradient;

/// A field of a struct, found by its name's number, and its type. (An associated type would have to be as visible as the
/// struct.)
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no derivatives, so its fields are not known",
    label = "a struct whose fields are used derives `jut::Data`",
    note = "write `#[derive(jut::Data)]` before the struct"
)]
pub trait Field<const KEY: u64, T> {}

/// What is in an `Option`, which is a pair in the text.
impl<T> Field<{ key("1") }, T> for Option<T> {}

/// The same of a `Result`, of whose error nothing is kept.
impl<T, E> Field<{ key("1") }, T> for std::result::Result<T, E> {}

macro_rules! tuples {
    ($(($($name:ident),*): $($one:ident $key:literal)*;)*) => {$(
        tuples! { @ [$($name),*] $($one $key)* }
    )*};
    (@ $all:tt $($one:ident $key:literal)*) => {$( tuples! { # $all $one $key } )*};
    (# [$($name:ident),*] $one:ident $key:literal) => {
        impl<$($name),*> Field<{ key($key) }, $one> for ($($name,)*) {}
    };
}

// Components of tuples.
tuples! {
    (A, B): A "0" B "1";
    (A, B, C): A "0" B "1" C "2";
    (A, B, C, D): A "0" B "1" C "2" D "3";
    (A, B, C, D, E): A "0" B "1" C "2" D "3" E "4";
    (A, B, C, D, E, F): A "0" B "1" C "2" D "3" E "4" F "5";
}

macro_rules! of_floats {
    ($(($($name:ident),*))*) => {$(
        /// Tuples of floats, whose derivatives are such tuples.
        impl<$($name: Data<Gradient = $name> + 'static),*> Data for ($($name,)*) {
            const TYPE: Type = Type::Tuple(&[$($name::TYPE),*]);
            type Gradient = ($($name,)*);
        }
    )*};
}

of_floats! { (A, B) (A, B, C) (A, B, C, D) }

/// A derivative that is of the type of what it belongs to.
#[diagnostic::on_unimplemented(
    message = "the derivative by this field is a `{Self}`, so that by the whole needs a type of its own too",
    label = "has a twin",
    note = "write `#[data(twin)]` before the type that has this field"
)]
pub trait Itself<T> {}

#[diagnostic::do_not_recommend]
impl<T> Itself<T> for T {}

/// Says that a derivative is of this type.
pub fn itself<D: Itself<T>, T>() {}

/// The number of a field's name, as the attribute makes it.
pub(super) const fn key(name: &str) -> u64 {
    let (mut key, mut k) = (0xcbf2_9ce4_8422_2325_u64, 0);
    while k < name.len() {
        key = (key ^ name.as_bytes()[k] as u64).wrapping_mul(0x100_0000_01b3);
        k += 1;
    }
    key
}

/// A method of a type, or a function of it, found by its name's number, and the type of its result.
#[diagnostic::on_unimplemented(
    message = "this is no function with derivatives of `{Self}`",
    note = "write `#[jut::differentiable]` before the `impl` block",
    note = "what a trait provides is found where the trait has the attribute, unless it gives a `Result` or has type parameters of its own",
    note = "of an array of another library the elements are read, by an index or an iterator",
    note = "a `Vec` that a pattern refers to, or a row of a field, keeps its length where it is: make the list that is longer or shorter, and a new value with it; such a list has its type written, `let mut list: Vec<f64> = flows.clone();`, then `*self = Bond::Paying {{ flows: list }};`, of a type that says `#[data(ragged)]`"
)]
pub trait Method<const KEY: u64, R> {
    /// Whether a caller may look at its `Err` or `None`: [`Always`](super::Always), or [`Hidden`](super::Hidden).
    type Looks;
    /// What a text calls it by: where it gives a `Result`, the text that gives an `Option`.
    fn link(linker: &mut Linker) -> Filled;
    /// The text that fails at an `Err`.
    fn sure(linker: &mut Linker) -> Filled {
        Self::link(linker)
    }
    /// The text that says how long the rows are that it makes, if it makes some.
    fn making_rows(linker: &mut Linker, sure: bool) -> Filled {
        if sure { Self::sure(linker) } else { Self::link(linker) }
    }
    /// The same where nothing says that it makes rows.
    fn perhaps_rows(linker: &mut Linker, sure: bool) -> Filled {
        if sure { Self::sure(linker) } else { Self::link(linker) }
    }
    /// The text for rows of different lengths.
    fn second_text(linker: &mut Linker, _sure: bool) -> Filled {
        linker.of_one_length(super::ONE_LENGTH)
    }
}

/// A function that is called with arguments of some types, and the type of its result.
pub trait Gives<A, R> {}

/// An array's element.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no list: it has no elements here",
    note = "go over a field of it, `for v in &ring.values`, or write a method that gives a `Vec`; an own method `map` is called by its path, `{Self}::map(a, f)`"
)]
pub trait Elements {
    /// Its type.
    type Element;
}

impl<T> Elements for Vec<T> {
    type Element = T;
}

impl<T, const N: usize> Elements for [T; N] {
    type Element = T;
}

/// A constant that is a list.
impl<T> Elements for &[T] {
    type Element = T;
}

impl<T, const N: usize> Elements for &[T; N] {
    type Element = T;
}

/// A type.
pub fn of<T>() -> PhantomData<T> {
    PhantomData
}

/// The type of a field.
pub fn field<const KEY: u64, S: Field<KEY, T>, T>(_: PhantomData<S>) -> PhantomData<T> {
    PhantomData
}

/// The type of an array's elements.
pub fn element<A: Elements>(_: PhantomData<A>) -> PhantomData<A::Element> {
    PhantomData
}

/// The type of a function's result.
pub fn given<F: Gives<A, R>, A, R>(_: A) -> PhantomData<R> {
    PhantomData
}

/// The type of a method's result.
pub fn result<const KEY: u64, S: Method<KEY, R>, R>(_: PhantomData<S>) -> PhantomData<R> {
    PhantomData
}

/// What may be a value or none: an `Option`, a `Result`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no `Option` or `Result`",
    note = "`?`, `unwrap` and `expect` are of these"
)]
pub trait Possible {
    /// The value.
    type Value;
}

impl<T> Possible for Option<T> {
    type Value = T;
}

impl<T, E> Possible for std::result::Result<T, E> {
    type Value = T;
}

/// What has the methods of an `Option`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no `Option` or `Result`: this is taken for a method of these",
    note = "a method of your own is called by a name with its type, `let a: {Self} = ..;`, or by its path"
)]
pub trait Optional {}

impl<T> Optional for Option<T> {}

impl<T, E> Optional for std::result::Result<T, E> {}

/// Says that values of a type have the methods of an `Option`.
pub fn taken_for_option<O: Optional>(_: PhantomData<O>) {}

/// A list that changes its length.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no `Vec` of numbers or structs: this is taken for one that changes its length",
    note = "write its type where it is declared: `let mut y: {Self} = f(x);`"
)]
pub trait Grown {}

impl<T: Data + 'static> Grown for Vec<T> {}

/// Says that values of a type are lists, whose elements have no lists.
pub fn taken_for_list<L: Grown + Data>(_: PhantomData<L>) {
    const {
        assert!(
            L::TYPE.sizes() == 1,
            "a list of lists has its type written where it changes its length: `let mut rows: Vec<Vec<f64>> = f(x);`"
        );
    }
}

/// The type of what is in an `Ok` or `Some`.
pub fn succeeded<P: Possible>(_: PhantomData<P>) -> PhantomData<P::Value> {
    PhantomData
}

impl Linker {
    /// A method that the text calls.
    pub fn method<const KEY: u64, S: Method<KEY, R>, R>(&mut self, _: PhantomData<S>) -> Filled {
        S::link(self)
    }

    /// The same of a method at whose `Err` or `None` the caller may look.
    pub fn method_looked_at<const KEY: u64, S: Method<KEY, R>, R>(
        &mut self,
        _: PhantomData<S>,
    ) -> Filled
    where
        S::Looks: super::generic::LookedMethod,
    {
        S::link(self)
    }

    /// The same of a method that fails at an `Err`.
    pub fn method_surely<const KEY: u64, S: Method<KEY, R>, R>(
        &mut self,
        _: PhantomData<S>,
    ) -> Filled {
        S::sure(self)
    }

    /// A struct that the text uses.
    pub fn data<D: Data>(&mut self) -> Filled {
        self.declare(&D::TYPE);
        Filled::plain(String::new(), D::TYPE)
    }
}

/// The components of a value, of which each is taken once.
pub fn components(value: Value) -> Option<std::vec::IntoIter<Value>> {
    match value {
        Value::Tuple(items) => Some(items.into_iter()),
        _ => None,
    }
}

impl Type {
    /// The least and the largest number of an integer of few bits.
    pub(super) fn limits(self) -> Option<(i64, i64)> {
        Some(match self {
            Type::I32 => (i32::MIN.into(), i32::MAX.into()),
            Type::U32 => (0, u32::MAX.into()),
            Type::I16 => (i16::MIN.into(), i16::MAX.into()),
            Type::U16 => (0, u16::MAX.into()),
            Type::I8 => (i8::MIN.into(), i8::MAX.into()),
            Type::U8 => (0, u8::MAX.into()),
            _ => return None,
        })
    }

    /// Whether it is an integer.
    pub(super) fn is_integer(self) -> bool {
        matches!(self, Type::Usize | Type::I64 | Type::U64) || self.limits().is_some()
    }

    /// How many sizes a value has that are known only when it is there.
    pub const fn sizes(&self) -> usize {
        match self {
            Type::Vec(element) => 1 + element.sizes(),
            Type::Array(element) | Type::Fixed(element, _) | Type::Matrix(element, _) => {
                element.sizes()
            }
            Type::Record(fields) | Type::Enum(_, fields) => {
                let (mut sum, mut k) = (0, 0);
                while k < fields.len() {
                    sum += fields[k].1.sizes();
                    k += 1;
                }
                sum
            }
            Type::Tuple(items) => {
                let (mut sum, mut k) = (0, 0);
                while k < items.len() {
                    sum += items[k].sizes();
                    k += 1;
                }
                sum
            }
            _ => 0,
        }
    }

    /// Whether it has a float.
    pub const fn has_float(&self) -> bool {
        match self {
            // Whether one that holds itself has, is not known here.
            Type::F64 | Type::F32 | Type::Declared(_) => true,
            Type::Vec(element)
            | Type::Array(element)
            | Type::Fixed(element, _)
            | Type::Matrix(element, _) => element.has_float(),
            Type::Record(fields) | Type::Enum(_, fields) => {
                let mut k = 0;
                while k < fields.len() {
                    if fields[k].1.has_float() {
                        return true;
                    }
                    k += 1;
                }
                false
            }
            Type::Tuple(items) => {
                let mut k = 0;
                while k < items.len() {
                    if items[k].has_float() {
                        return true;
                    }
                    k += 1;
                }
                false
            }
            _ => false,
        }
    }

    /// Whether a value is declared data in the text, which has names for its fields.
    pub(super) fn is_declared(&self) -> bool {
        matches!(self, Type::Declared(_))
    }

    /// In the text. The sizes have names that begin with `prefix`.
    pub(super) fn text(&self, prefix: &str, count: &mut usize) -> String {
        match self {
            Type::F64 => "f64".to_string(),
            Type::F32 => "f32".to_string(),
            Type::Bool => "bool".to_string(),
            Type::Record(fields) | Type::Enum(_, fields) => {
                let items: Vec<String> =
                    fields.iter().map(|(_, t)| t.text(prefix, count)).collect();
                format!("#({})", items.join(", "))
            }
            Type::Tuple(items) => {
                let items: Vec<String> = items.iter().map(|t| t.text(prefix, count)).collect();
                format!("#({})", items.join(", "))
            }
            Type::Vec(_) | Type::Array(_) | Type::Fixed(..) | Type::Matrix(..) => {
                let (mut sizes, mut ty) = (Vec::new(), self);
                loop {
                    ty = match ty {
                        Type::Fixed(element, n) => {
                            sizes.push(n.to_string());
                            element
                        }
                        Type::Vec(element) | Type::Array(element) => {
                            sizes.push(format!("{prefix}__{count}"));
                            *count += 1;
                            element
                        }
                        Type::Matrix(rows, _) => rows,
                        _ => break,
                    }
                }
                format!("[{}]{}", sizes.join(", "), ty.text(prefix, count))
            }
            Type::Declared(of) => of.name(),
            _ => "i64".to_string(),
        }
    }

    /// The sizes of a value in the text, in the order of their names.
    pub(super) fn lengths(&self, of: &str, lengths: &mut Vec<String>) {
        match self {
            Type::Matrix(rows, _) => rows.lengths(of, lengths),
            Type::Vec(element) => {
                lengths.push(format!("size({of})"));
                if matches!(element, Type::Vec(_)) {
                    lengths.push(format!("size({of}, 1)"));
                }
            }
            Type::Record(fields) | Type::Enum(_, fields) => {
                for (k, (_, ty)) in fields.iter().enumerate() {
                    ty.lengths(&format!("{of}.{k}"), lengths);
                }
            }
            Type::Tuple(items) => {
                for (k, ty) in items.iter().enumerate() {
                    ty.lengths(&format!("{of}.{k}"), lengths);
                }
            }
            _ => {}
        }
    }

    /// Some value, for what is never read; of lists those without elements.
    pub fn neutral(&self) -> String {
        match self {
            Type::F64 => "0.0".to_string(),
            Type::F32 => "0.0f32".to_string(),
            Type::Bool => "false".to_string(),
            Type::Record(fields) | Type::Enum(_, fields) => {
                let items: Vec<String> = fields.iter().map(|(_, t)| t.neutral()).collect();
                format!("#({})", items.join(", "))
            }
            Type::Tuple(items) => {
                let items: Vec<String> = items.iter().map(Type::neutral).collect();
                format!("#({})", items.join(", "))
            }
            Type::Fixed(element, n) => format!("build (i < {n}) {{ {} }}", element.neutral()),
            Type::Vec(element) | Type::Array(element) => {
                format!("build (i < 0) {{ {} }}", element.neutral())
            }
            // The text measures an array of rows by the first of them: of one without rows the width is written.
            Type::Matrix(Type::Vec(Type::Vec(element)), _) => {
                format!("build (i < 0, j < 0) {{ {} }}", element.neutral())
            }
            Type::Matrix(rows, _) => rows.neutral(),
            Type::Declared(of) => format!("{}__neutral()", of.name()),
            _ => "0".to_string(),
        }
    }

    /// What a step leads to: an element, a component, or a field.
    pub(super) fn step(self, step: &str) -> Option<Type> {
        match (self, step) {
            (Type::Matrix(rows, _), "e" | "r") => rows.step("e")?.step("e"),
            // A field may be named as a step into a list is.
            (Type::Record(_) | Type::Enum(..), name) => self.field(name).map(|(_, ty)| ty),
            (Type::Declared(of), name) => of.field(name).map(|(_, _, ty)| ty),
            // What is in a row, where the element is one.
            (list, "r") => match list.step("e")? {
                Type::Declared(row) if row.is_row() => row.field("values").map(|(_, _, ty)| ty),
                element => Some(element),
            },
            (Type::Array(element) | Type::Vec(element) | Type::Fixed(element, _), "e") => {
                Some(*element)
            }
            (Type::Tuple(items), k) => items.get(k.parse::<usize>().ok()?).copied(),
            _ => None,
        }
    }

    /// What stands behind the point for a field: its number, or its name in the text.
    pub(super) fn member(self, name: &str) -> Option<String> {
        match self {
            Type::Declared(of) => {
                let (variant, k, _) = of.field(name)?;
                variant.words.get(k).map(|word| word.to_string())
            }
            _ => self.field(name).map(|(number, _)| number.to_string()),
        }
    }

    /// A field by its name: its number, and its type.
    pub(super) fn field(self, name: &str) -> Option<(usize, Type)> {
        let (Type::Record(fields) | Type::Enum(_, fields)) = self else { return None };
        let k = fields.iter().position(|(n, _)| *n == name)?;
        Some((k, fields[k].1))
    }
}

/// Items of a list that goes on.
pub(super) fn after(items: Vec<String>) -> String {
    items.iter().map(|i| format!("{i}, ")).collect()
}

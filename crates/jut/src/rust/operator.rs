//! Operators, found by the types of their operands: those of numbers, which a text writes itself, and those of structs, which are functions by
//! `impl Add for V3` with the attribute.

use super::{Data, Elements, Filled, Linker, Type};
use std::marker::PhantomData;

/// An operator, found by the number of its method's name and by its right operand, and the type of its result.
#[diagnostic::on_unimplemented(
    message = "this is no operator with derivatives of `{Self}` and `{Right}`",
    note = "write `#[jut::differentiable]` before the `impl` of the operator"
)]
pub trait Operator<const KEY: u64, Right, Output> {
    /// What a text calls it by; nothing where it is one of numbers.
    fn link(linker: &mut Linker) -> Filled;
}

macro_rules! numbers {
    ($($ty:ident $variant:ident)*) => {$(
        numbers! { $ty $variant: "add" $ty, "sub" $ty, "mul" $ty, "div" $ty, "add_assign" (), "sub_assign" (), "mul_assign" (), "div_assign" () }
        #[diagnostic::do_not_recommend]
        impl Operator<{ super::data::key("neg") }, (), $ty> for $ty {
            fn link(_: &mut Linker) -> Filled {
                Filled::plain(String::new(), Type::$variant).of(&[Type::$variant])
            }
        }
    )*};
    ($ty:ident $variant:ident: $($name:literal $output:ty),*) => {$(
        #[diagnostic::do_not_recommend]
        impl Operator<{ super::data::key($name) }, $ty, $output> for $ty {
            fn link(_: &mut Linker) -> Filled {
                let parameters = &[Type::$variant, Type::$variant];
                Filled::plain(String::new(), Type::$variant).of(parameters)
            }
        }
    )*};
}

/// The methods of numbers that own types may have too: of a number they give one of the same type.
macro_rules! methods {
    ($($ty:ident $variant:ident: $($name:literal)*;)*) => {$($(
        #[diagnostic::do_not_recommend]
        impl Operator<{ super::data::key($name) }, (), $ty> for $ty {
            fn link(_: &mut Linker) -> Filled {
                Filled::plain(String::new(), Type::$variant)
            }
        }
    )*)*};
}

macro_rules! float_methods {
    ($($ty:ident $variant:ident)*) => { methods! {$(
        $ty $variant: "abs" "acos" "acosh" "asin" "asinh" "atan" "atan2" "atanh" "cbrt" "ceil" "clamp" "copysign" "cos" "cosh"
            "div_euclid" "exp" "exp2" "exp_m1" "floor" "fract" "hypot" "ln" "ln_1p" "log" "log10" "log2" "max" "min" "mul_add" "powf"
            "powi" "recip" "rem_euclid" "round" "round_ties_even" "signum" "sin" "sinh" "sqrt" "tan" "tanh" "to_degrees" "to_radians"
            "trunc";
    )*} };
}

macro_rules! integer_methods {
    ($($ty:ident $variant:ident)*) => { methods! {$(
        $ty $variant: "abs" "clamp" "div_euclid" "max" "min" "rem_euclid" "signum";
    )*} };
}

float_methods! { f64 F64 f32 F32 }
integer_methods! { i64 I64 i32 I32 u32 U32 i16 I16 u16 U16 i8 I8 u8 U8 isize I64 usize Usize u64 U64 }

numbers! { f64 F64 f32 F32 i64 I64 i32 I32 u32 U32 i16 I16 u16 U16 i8 I8 u8 U8 isize I64 usize Usize u64 U64 }

/// An element of an array by its number, or by those of its row and column: the text writes it itself.
#[diagnostic::do_not_recommend]
impl<A: Elements> Operator<{ super::data::key("index") }, usize, A::Element> for A
where
    A::Element: Data,
{
    fn link(_: &mut Linker) -> Filled {
        Filled::plain(String::new(), A::Element::TYPE)
    }
}

/// By the numbers of its row and column, as one of a matrix of another library has them.
macro_rules! by_several {
    ($($right:ty)*) => {$(
        #[diagnostic::do_not_recommend]
        impl<A: Elements> Operator<{ super::data::key("index") }, $right, A::Element> for A
        where
            A::Element: Data,
        {
            fn link(_: &mut Linker) -> Filled {
                Filled::plain(String::new(), A::Element::TYPE)
            }
        }

        #[diagnostic::do_not_recommend]
        impl<A: Elements> Operator<{ super::data::key("index_mut") }, $right, ()> for A {
            fn link(_: &mut Linker) -> Filled {
                Filled::plain(String::new(), Type::Unit)
            }
        }
    )*};
}

by_several! { (usize, usize) [usize; 1] [usize; 2] [usize; 3] }

#[diagnostic::do_not_recommend]
impl<A: Elements> Operator<{ super::data::key("index_mut") }, usize, ()> for A {
    fn link(_: &mut Linker) -> Filled {
        Filled::plain(String::new(), Type::Unit)
    }
}

/// What is compared by `==`, `<` and their like: numbers and truth values.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no number: what is compared here is numbers and truth values",
    note = "compare the fields, `a.x == b.x && a.y == b.y`; which variant it is says `matches!(..)`"
)]
pub trait Compared {}

macro_rules! compared {
    ($($ty:ident)*) => {$(
        #[diagnostic::do_not_recommend]
        impl Compared for $ty {}
    )*};
}

compared! { f64 f32 i64 i32 u32 i16 u16 i8 u8 isize usize u64 bool }

/// Says that values of a type are compared.
pub fn compared<T: Compared>(_: PhantomData<T>) {}

/// What `sum` and `product` of an iterator are of: numbers.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no number: a sum is of numbers here",
    note = "write a `fold`: `.fold(V3::default(), |a, b| a + b)`"
)]
pub trait Summed {}

macro_rules! summed {
    ($($ty:ident)*) => {$(
        #[diagnostic::do_not_recommend]
        impl Summed for $ty {}
    )*};
}

summed! { f64 f32 i64 i32 u32 i16 u16 i8 u8 isize usize u64 }

/// Says that values of a type are added up or multiplied.
pub fn summed<T: Summed>(_: PhantomData<T>) {}

/// The type of a value.
pub fn of_value<T>(_: &T) -> PhantomData<T> {
    PhantomData
}

impl Linker {
    /// An operator that the text uses, and the type of its result.
    pub fn operator<const KEY: u64, L: Operator<KEY, R, O>, R, O>(
        &mut self,
        _: PhantomData<L>,
        _: PhantomData<R>,
    ) -> (Filled, PhantomData<O>) {
        (L::link(self), PhantomData)
    }
}

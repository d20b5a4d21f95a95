//! Operators, found by the types of their operands: those of numbers, which a text writes itself, and those of structs, which are functions by
//! `impl Add for V3` with the attribute.

use super::{Filled, Linker, Type};
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
                Filled { text: String::new(), ty: Type::$variant, changed: &[], parameters: &[Type::$variant] }
            }
        }
    )*};
    ($ty:ident $variant:ident: $($name:literal $output:ty),*) => {$(
        #[diagnostic::do_not_recommend]
        impl Operator<{ super::data::key($name) }, $ty, $output> for $ty {
            fn link(_: &mut Linker) -> Filled {
                let parameters = &[Type::$variant, Type::$variant];
                Filled { text: String::new(), ty: Type::$variant, changed: &[], parameters }
            }
        }
    )*};
}

numbers! { f64 F64 f32 F32 i64 I64 i32 I32 u32 U32 isize I64 usize Usize }

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

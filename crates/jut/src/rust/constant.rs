//! Constants of Rust as they stand in a text.

use super::{Declared, Type, Variant};
use std::any::{TypeId, type_name};
use std::fmt::Write as _;

/// A value that stands in the text as it is.
#[diagnostic::on_unimplemented(
    message = "a constant of the type `{Self}` is not built",
    label = "a constant is a number, a truth value, an array of these, or a struct",
    note = "write its value where it is used, or `#[derive(jut::Data)]` before a struct"
)]
pub trait Constant {
    /// Its type.
    const TYPE: Type;
    /// Writes it; false if it is none of the text.
    fn write(&self, text: &mut String) -> bool;
    /// Adds its sizes, from outside to inside.
    fn sizes(&self, _: &mut Vec<usize>) {}
    /// Whether all lists in it that stand beside each other have one length.
    fn is_even(&self) -> bool {
        true
    }
    /// The type of a row with it in it, if it is a list of numbers.
    const ROW: Option<Type> = None;
    /// The type of a list of such rows, if it is one.
    const ROWS: Option<Type> = None;
    /// What is in the rows, if it is a list of rows.
    fn rows(&self) -> Option<Vec<String>> {
        None
    }
    /// Whether it is a slice, or an array of some.
    const IS_SLICE: bool = false;
    /// Whether it is a tuple with a slice in it: the text of a list has no size for such an element.
    const IS_OPEN: bool = false;
    /// Whether it is a list of such tuples.
    const HAS_OPEN: bool = false;
    /// Fails where the text has no type for it.
    const CHECKED: () = assert!(
        !Self::HAS_OPEN,
        "a list of tuples with slices in them is no constant: write a list for each part"
    );
}

/// A constant that was looked at. What is asked of it behind that has no bound of its own: so a value that is none is one error, wherever it is
/// looked at.
pub struct Seen<'a, C: ?Sized> {
    value: &'a C,
    link: fn(&mut super::Linker, &C) -> super::Filled,
    /// Whether it is a list of tuples with slices in them.
    pub is_open: bool,
}

/// Looks at a constant.
pub const fn seen<C: Constant + ?Sized>(value: &C) -> Seen<'_, C> {
    Seen { value, link: super::Linker::constant::<C>, is_open: C::HAS_OPEN }
}

impl super::Linker {
    /// A constant that was looked at.
    pub fn seen<C: ?Sized>(&mut self, constant: Seen<'_, C>) -> super::Filled {
        (constant.link)(self, constant.value)
    }
}

/// A row of a list whose rows have different lengths.
struct RowOf<C>(std::marker::PhantomData<C>);

impl<C: Constant + 'static> RowOf<C> {
    const DECLARED: Declared = Declared::new(
        TypeId::of::<super::Row<C>>,
        || format!("rows_of_{}", super::declared::word(type_name::<C>())),
        || {
            const {
                &[Variant {
                    name: "",
                    words: &["values"],
                    fields: &[("values", Type::Vec(&C::TYPE))],
                }]
            }
        },
    );
}

impl Constant for f64 {
    const TYPE: Type = Type::F64;
    fn write(&self, text: &mut String) -> bool {
        let sign = if self.is_sign_negative() && !self.is_nan() { "-" } else { "" };
        let _ = match (self.is_nan(), self.is_infinite()) {
            (true, _) => write!(text, "prim.nan()"),
            (_, true) => write!(text, "({sign}prim.inf())"),
            _ if sign.is_empty() => write!(text, "{self:?}"),
            _ => write!(text, "({self:?})"),
        };
        true
    }
}

impl Constant for f32 {
    const TYPE: Type = Type::F32;
    fn write(&self, text: &mut String) -> bool {
        let sign = if self.is_sign_negative() && !self.is_nan() { "-" } else { "" };
        let _ = match (self.is_nan(), self.is_infinite()) {
            (true, _) => write!(text, "f32(prim.nan())"),
            (_, true) => write!(text, "f32({sign}prim.inf())"),
            _ if sign.is_empty() => write!(text, "{self:?}f32"),
            _ => write!(text, "({self:?}f32)"),
        };
        true
    }
}

impl Constant for bool {
    const TYPE: Type = Type::Bool;
    fn write(&self, text: &mut String) -> bool {
        write!(text, "{self}").is_ok()
    }
}

impl Constant for i64 {
    const TYPE: Type = Type::I64;
    fn write(&self, text: &mut String) -> bool {
        let _ = match *self {
            i64::MIN => write!(text, "(-9223372036854775807 - 1)"),
            n if n < 0 => write!(text, "({n})"),
            n => write!(text, "{n}"),
        };
        true
    }
}

macro_rules! narrow {
    ($($ty:ident $variant:ident)*) => {$(
        impl Constant for $ty {
            const TYPE: Type = Type::$variant;
            fn write(&self, text: &mut String) -> bool {
                i64::from(*self).write(text)
            }
        }
    )*};
}

narrow! { i32 I32 u32 U32 i16 I16 u16 U16 i8 I8 u8 U8 }

impl Constant for isize {
    const TYPE: Type = Type::I64;
    fn write(&self, text: &mut String) -> bool {
        (*self as i64).write(text)
    }
}

impl Constant for usize {
    const TYPE: Type = Type::Usize;
    fn write(&self, text: &mut String) -> bool {
        write!(text, "{self}").is_ok() && i64::try_from(*self).is_ok()
    }
}

impl Constant for u64 {
    const TYPE: Type = Type::U64;
    fn write(&self, text: &mut String) -> bool {
        self.cast_signed().write(text)
    }
}

macro_rules! tuples {
    ($(($($name:ident $k:tt),*))*) => {$(
        impl<$($name: Constant + 'static),*> Constant for ($($name,)*) {
            const TYPE: Type = Type::Tuple(&[$($name::TYPE),*]);
            const IS_OPEN: bool = false $(|| $name::IS_SLICE || $name::IS_OPEN)*;
            fn write(&self, text: &mut String) -> bool {
                text.push_str("#(");
                let mut fits = true;
                $(
                    text.push_str(if $k > 0 { ", " } else { "" });
                    fits &= self.$k.write(text);
                )*
                text.push(')');
                fits
            }
        }
    )*};
}

tuples! { (A 0, B 1) (A 0, B 1, C 2) (A 0, B 1, C 2, D 3) }

impl<C: Constant + 'static> Constant for Option<C> {
    const TYPE: Type = Type::Tuple(&[Type::Bool, C::TYPE]);
    fn write(&self, text: &mut String) -> bool {
        let _ = write!(text, "#({}, ", self.is_some());
        let fits = match self {
            Some(value) => value.write(text),
            None => {
                text.push_str(&C::TYPE.neutral());
                true
            }
        };
        text.push(')');
        fits
    }
}

impl<C: Constant + 'static> Constant for [C] {
    const TYPE: Type = Type::Array(&C::TYPE);
    const IS_SLICE: bool = true;
    const HAS_OPEN: bool = C::IS_OPEN || C::HAS_OPEN;
    fn write(&self, text: &mut String) -> bool {
        text.push('[');
        let mut fits = true;
        for (k, item) in self.iter().enumerate() {
            text.push_str(if k > 0 { ", " } else { "" });
            fits &= item.write(text);
        }
        text.push(']');
        fits
    }
    fn sizes(&self, sizes: &mut Vec<usize>) {
        sizes.push(self.len());
        if let Some(first) = self.first() {
            first.sizes(sizes);
        }
    }
    fn is_even(&self) -> bool {
        let sizes = |one: &C| {
            let mut sizes = Vec::new();
            one.sizes(&mut sizes);
            sizes
        };
        self.windows(2).all(|pair| sizes(&pair[0]) == sizes(&pair[1]))
            && self.iter().all(C::is_even)
    }
    const ROW: Option<Type> = match C::TYPE.sizes() {
        0 => Some(Type::Declared(&RowOf::<C>::DECLARED)),
        _ => None,
    };
    const ROWS: Option<Type> = match &C::ROW {
        Some(row) => Some(Type::Vec(row)),
        None => None,
    };
    fn rows(&self) -> Option<Vec<String>> {
        let Some(Type::Declared(row)) = C::ROW else { return None };
        let [variant] = row.variants() else { return None };
        let each = self.iter().map(|list| {
            let (mut text, mut sizes) = (String::new(), Vec::new());
            list.sizes(&mut sizes);
            list.write(&mut text);
            if sizes.first() == Some(&0)
                && let [(_, Type::Vec(element))] = variant.fields
            {
                text = format!("build (i < 0) {{ {} }}", element.neutral());
            }
            row.made(variant, &[text])
        });
        Some(each.collect())
    }
}

impl<C: Constant + 'static, const N: usize> Constant for [C; N] {
    const TYPE: Type = Type::Fixed(&C::TYPE, N);
    const IS_SLICE: bool = C::IS_SLICE;
    const HAS_OPEN: bool = C::IS_OPEN || C::HAS_OPEN;
    fn write(&self, text: &mut String) -> bool {
        self.as_slice().write(text)
    }
    fn sizes(&self, sizes: &mut Vec<usize>) {
        self.as_slice().sizes(sizes);
    }
    fn is_even(&self) -> bool {
        self.as_slice().is_even()
    }
    const ROW: Option<Type> = <[C]>::ROW;
    const ROWS: Option<Type> = <[C]>::ROWS;
    fn rows(&self) -> Option<Vec<String>> {
        self.as_slice().rows()
    }
}

impl<C: Constant + ?Sized> Constant for &C {
    const TYPE: Type = C::TYPE;
    const IS_SLICE: bool = C::IS_SLICE;
    const IS_OPEN: bool = C::IS_OPEN;
    const HAS_OPEN: bool = C::HAS_OPEN;
    fn write(&self, text: &mut String) -> bool {
        (**self).write(text)
    }
    fn sizes(&self, sizes: &mut Vec<usize>) {
        (**self).sizes(sizes);
    }
    fn is_even(&self) -> bool {
        (**self).is_even()
    }
    const ROW: Option<Type> = <C>::ROW;
    const ROWS: Option<Type> = <C>::ROWS;
    fn rows(&self) -> Option<Vec<String>> {
        (**self).rows()
    }
}

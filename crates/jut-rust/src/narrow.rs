//! Integers of a type, which in the text have 64 bits and a sign: what leaves their range, and what is left of it in few bits.
//!
//! The limits of `i32`, `u32`, `i16`, `u16`, `i8` and `u8` stand in the text as numbers; of an integer whose type only rustc knows they are holes,
//! `$least 3 e$` and `$most 3 e$`, so that the text of all of them is one.

use crate::lowering::Lowering;
use crate::template::What;
use crate::types::{Narrow, Ty, words};
use crate::value::Value;
use proc_macro2::Span;

/// What an integer of a type is in the text.
pub enum Whole {
    /// `usize`
    Usize,
    /// `u64`
    U64,
    /// `i64`
    I64,
    /// One of few bits.
    Narrow(Limits),
}

/// The limits of integers of few bits, as the text writes them.
pub struct Limits {
    /// The least.
    pub least: String,
    /// The largest.
    pub most: String,
    /// The last bit for each that there is.
    pub bits: String,
    /// How many bits there are.
    pub count: String,
    /// How many numbers there are.
    size: String,
    /// What stands behind a number for how far it is above the least.
    above: String,
}

impl Limits {
    fn of(narrow: Narrow) -> Limits {
        let least = match narrow.least() {
            0 => "0".to_string(),
            n => format!("({n})"),
        };
        let above = match narrow.least() {
            0 => String::new(),
            n => format!(" + {}", -n),
        };
        Limits {
            above,
            least,
            most: narrow.most().to_string(),
            bits: ((1_i64 << narrow.bits) - 1).to_string(),
            count: narrow.bits.to_string(),
            size: (1_i64 << narrow.bits).to_string(),
        }
    }

    /// The bits of an integer that a number of this type has.
    pub fn wrapped(&self, value: &str) -> String {
        let Limits { least, bits, above, .. } = self;
        match above.is_empty() {
            true => format!("prim.bitand({value}, {bits})"),
            false => format!("(prim.bitand(({value}){above}, {bits}) + {least})"),
        }
    }
}

impl Lowering<'_> {
    /// The limits of a type, if it is one of few bits, or may be one.
    pub fn limits(&self, ty: &Ty) -> Option<Limits> {
        match self.resolve(ty) {
            Ty::Narrow(narrow) => Some(Limits::of(narrow)),
            Ty::Of(hole, steps) => {
                let tag = |word: &str| format!("${word} {hole}{}$", words(&steps));
                Some(Limits {
                    above: format!(" - {}", tag("least")),
                    least: tag("least"),
                    most: tag("most"),
                    bits: tag("bits"),
                    count: tag("width"),
                    size: format!("{} + 1", tag("bits")),
                })
            }
            _ => None,
        }
    }

    /// A text that depends on which integer a type is: of what only rustc knows, all of them, of which the linker takes one.
    pub fn by_integer(&self, ty: &Ty, text: impl Fn(Whole) -> String) -> String {
        let narrow = |ty: &Ty| self.limits(ty).map(Whole::Narrow);
        match self.resolve(ty) {
            Ty::Usize => text(Whole::Usize),
            Ty::U64 => text(Whole::U64),
            Ty::I64 => text(Whole::I64),
            of @ Ty::Of(..) => {
                let all = [
                    ("usize", Some(Whole::Usize)),
                    ("narrow", narrow(&of)),
                    ("u64", Some(Whole::U64)),
                    ("i64", Some(Whole::I64)),
                ];
                let each = all.into_iter().filter_map(|(name, whole)| {
                    let (open, close) = self.only(name, &of)?;
                    Some(format!("{open}{}{close}", text(whole?)))
                });
                each.collect()
            }
            // What nothing says is an `i32`.
            of => text(narrow(&of).unwrap_or_else(|| Whole::Narrow(Limits::of(Narrow::I32)))),
        }
    }

    /// The value, which is checked to be in the range of its type if that is one of few bits. (The product of two that are a `u32` is below zero
    /// here if it is no `i64`.)
    pub fn in_range(&mut self, value: Value, span: Span, operation: &'static str) -> Value {
        self.depends(&value.ty);
        let Some(Limits { above, size, .. }) = self.limits(&value.ty) else { return value };
        let inside = |v: &str| format!("{v}{above} < {size}");
        self.checked("narrow", value, inside, span, operation)
    }

    /// The value, which is checked not to be negative if its type is `usize`.
    pub fn not_negative(&mut self, value: Value, span: Span, operation: &'static str) -> Value {
        self.checked("usize", value, |v| format!("{v} >= 0"), span, operation)
    }

    fn checked(
        &mut self,
        only: &str,
        value: Value,
        check: impl Fn(&str) -> String,
        span: Span,
        operation: &'static str,
    ) -> Value {
        let Some((open, close)) = self.only(only, &value.ty) else { return value };
        let mut value = self.named(value, "number");
        let text = format!("check {}", check(&value.text));
        let line = self.at(span, What::Overflow(operation), &text);
        self.written_check(&open, &line, &close);
        value.cheap = false;
        value
    }

    /// The number of few bits that is left of an integer, as by `as`.
    pub fn cut(&mut self, value: Value, wanted: Narrow) -> Value {
        let from = self.resolve(&value.ty);
        let inside = match (crate::value::literal(&value), &from) {
            (Some(n), _) => wanted.least() <= n && n <= wanted.most(),
            (_, Ty::Narrow(from)) => wanted.has(*from),
            _ => false,
        };
        let least = if wanted.signed { i64::MIN } else { 0 };
        let ty = Ty::Narrow(wanted);
        match inside {
            true => Value { ty, least: value.least.max(least), ..value },
            false => {
                let text = Limits::of(wanted).wrapped(&value.text);
                Value { least, ..Value::new(text, ty, 9, &[&value]) }
            }
        }
    }
}

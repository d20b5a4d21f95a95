//! Operations of `u64`, whose 64 bits are those of an integer of the text, which has a sign.
//!
//! Sums, differences and products have the same bits for both. Orders, quotients, shifts to the right and conversions to floats do not: they are
//! definitions of their own, `rust_below_u64` (`jut::rust`). Of what only rustc knows the type, the text has both forms, and the linker takes one.
//! Where integers are counted through, one above `i64::MAX` is an error (R11).

use crate::lowering::Lowering;
use crate::narrow::Whole;
use crate::template::What;
use crate::types::Ty;
use crate::value::{Value, literal};
use proc_macro2::Span;

impl Lowering<'_> {
    /// `left op right`, of which one is less.
    pub fn below(&mut self, op: &str, ty: &Ty, left: &Value, right: &Value) -> Value {
        let (l, r) = (&left.text, &right.text);
        let bits = match op {
            "<" => format!("rust_below_u64({l}, {r})"),
            ">" => format!("rust_below_u64({r}, {l})"),
            "<=" => format!("!rust_below_u64({r}, {l})"),
            _ => format!("!rust_below_u64({l}, {r})"),
        };
        let signed = format!("{} {op} {}", left.within(4), right.within(4));
        Value::new(self.by_sign(ty, bits, signed), Ty::Bool, 3, &[left, right])
    }

    /// A quotient or a remainder, which is given as one of integers with a sign. (The division is done where it is written: it may fail.)
    pub fn by_bits(&self, ty: &Ty, signed: Value, op: &str, left: &str, right: &str) -> Value {
        let name = if op == "/" { "div" } else { "rem" };
        let bits = format!("rust_{name}_u64({left}, {right}, rust_shr_u64({left}, 1) / ({right}))");
        let text = self.by_sign(ty, bits, signed.text.clone());
        Value { text, ..signed }
    }

    /// A difference, of which is checked that it is not below zero, if it is one of `u64`.
    pub fn not_below(&mut self, difference: Value, left: &str, right: &str, span: Span) -> Value {
        let Some((open, close)) = self.only("u64", &difference.ty) else { return difference };
        let check = format!("check prim.select(rust_below_u64({left}, {right}), -1, 0) >= 0");
        let line = self.at(span, What::Overflow("subtract"), &check);
        self.written_check(&open, &line, &close);
        difference
    }

    /// An integer that is counted with: of a `u64` is checked that it is no more than `i64::MAX`.
    pub fn in_signed_range(&mut self, value: Value, span: Span) -> Value {
        if literal(&value).is_some_and(|n| n >= 0) {
            return value;
        }
        let Some((open, close)) = self.only("u64", &value.ty) else { return value };
        let value = self.named(value, "number");
        let check = format!("check {} >= 0", value.text);
        let line = self.at(span, What::Overflow("count"), &check);
        self.written_check(&open, &line, &close);
        value
    }

    /// `&`, `|` and `^` of truth values or integers: rustc knows which.
    pub fn bits_of_any(&self, op: &str, ty: Ty, left: &Value, right: &Value) -> Value {
        let (l, r) = (&left.text, &right.text);
        let (truth, bits) = match op {
            "&" => (format!("prim.select({l}, {r}, false)"), "bitand"),
            "|" => (format!("prim.select({l}, true, {r})"), "bitor"),
            _ => (format!("(({l}) != ({r}))"), "bitxor"),
        };
        let bits = format!("prim.{bits}({l}, {r})");
        let each = [("bool", truth), ("int", bits)].into_iter().filter_map(|(name, text)| {
            self.only(name, &ty).map(|(open, close)| format!("{open}{text}{close}"))
        });
        Value::new(each.collect::<String>(), ty.clone(), 9, &[left, right])
    }

    /// A shift by a number of bits that is written, of an integer whose type rustc knows: it refuses more bits than the type has.
    pub fn shift_of_any(
        &mut self,
        op: &str,
        left: Value,
        right: &Value,
        ty: Ty,
        span: Span,
    ) -> Value {
        let left = self.named(left, "shifted");
        let (l, n) = (&left.text, &right.text);
        let text = self.by_integer(&ty, |of| match (op, of) {
            (">>", Whole::U64) => format!("rust_shr_u64({l}, {n})"),
            (">>", _) => format!("prim.shr({l}, {n})"),
            (_, Whole::Narrow(of)) => of.wrapped(&format!("prim.shl({l}, {n})")),
            _ => format!("prim.shl({l}, {n})"),
        });
        let value = Value::new(text, ty, 9, &[&left]);
        match op {
            "<<" => self.not_negative(value, span, "shift left"),
            _ => value,
        }
    }
}

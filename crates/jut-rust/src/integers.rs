//! Methods of integers: what they give in the range of their type, and what leaves it.
//!
//! An integer of the text has 64 bits and a sign. A method that looks whether a result leaves the range of its type asks a definition that is named
//! after the operation and the type, `rust_over_add_u64` (`jut::rust`), or compares with the limits of its type ([`crate::narrow`]). What Rust gives beyond `i64::MAX` as a `usize` is an error, R11.

use crate::lowering::Lowering;
use crate::narrow::Whole;
use crate::template::What;
use crate::types::{Narrow, Ty};
use crate::value::{Value, literal};
use crate::{Refusal, refuse};
use syn::Expr;

/// Methods of integers that floats do not have, and how many arguments they take.
pub(crate) const METHODS: &[(&str, usize)] = &[
    ("abs_diff", 1),
    ("checked_add", 1),
    ("checked_sub", 1),
    ("checked_mul", 1),
    ("checked_div", 1),
    ("checked_rem", 1),
    ("count_ones", 0),
    ("div_ceil", 1),
    ("ilog2", 0),
    ("is_negative", 0),
    ("is_positive", 0),
    ("is_power_of_two", 0),
    ("isqrt", 0),
    ("next_multiple_of", 1),
    ("next_power_of_two", 0),
    ("pow", 1),
    ("saturating_add", 1),
    ("saturating_sub", 1),
    ("saturating_mul", 1),
    ("trailing_zeros", 0),
    ("unsigned_abs", 0),
    ("wrapping_add", 1),
    ("wrapping_sub", 1),
    ("wrapping_mul", 1),
];

/// The operation of a method like `wrapping_add`: its sign, how tightly it binds, and what is said of it where it leaves the range.
fn operation_of(name: &str) -> Option<(&'static str, &'static str, u8, &'static str)> {
    let (kind, operation) = name.split_once('_')?;
    if !["wrapping", "saturating", "checked"].contains(&kind) {
        return None;
    }
    Some(match operation {
        "add" => ("add", "+", 4, "add"),
        "sub" => ("sub", "-", 4, "subtract"),
        "mul" => ("mul", "*", 5, "multiply"),
        _ => return None,
    })
}

/// The type of a size of a number: of as many bits, without a sign.
fn without_sign(ty: Ty) -> Ty {
    match ty {
        Ty::Narrow(of) => Ty::Narrow(Narrow { signed: false, ..of }),
        other => other,
    }
}

impl Lowering<'_> {
    pub fn integer_method(
        &mut self,
        name: &str,
        receiver: Value,
        arguments: &[Value],
        at: &syn::Ident,
    ) -> Result<Value, Refusal> {
        let of: Vec<Value> = [&receiver].into_iter().chain(arguments).cloned().collect();
        let of: Vec<&Value> = of.iter().collect();
        let mut ty = self.resolve(&receiver.ty);
        if name != "pow" {
            for argument in arguments {
                ty = self.unify(&ty, &argument.ty);
            }
        }
        let (a, s) =
            (arguments.first().map(|a| a.text.clone()).unwrap_or_default(), receiver.text.clone());
        let b = arguments.get(1).map(|a| a.text.clone()).unwrap_or_default();
        let unsigned = ty.is_counted() || ty == Ty::U64;
        let (text, level) = match (name, arguments.len()) {
            ("min" | "max", 1) => {
                let text = self.by_sign(
                    &ty,
                    format!("rust_{name}_u64({s}, {a})"),
                    format!("prim.{name}({s}, {a})"),
                );
                (text, 9)
            }
            ("abs", 0) if !unsigned => {
                let value = Value::new(format!("prim.abs({s})"), ty, 9, &of);
                return Ok(self.in_range(value, at.span(), "negate"));
            }
            ("signum", 0) if !unsigned => (format!("prim.sign({s})"), 9),
            ("clamp", 2) => {
                let line = self.by_sign(
                    &ty,
                    format!("prim.select(rust_below_u64({b}, {a}), -1, 0) >= 0"),
                    format!("prim.select({a} <= {b}, 0, -1) >= 0"),
                );
                self.check(
                    at.span(),
                    What::Panic("clamp: the lower bound is above the upper one".to_string()),
                    &line,
                );
                let text = self.by_sign(
                    &ty,
                    format!("rust_min_u64(rust_max_u64({s}, {a}), {b})"),
                    format!("prim.min(prim.max({s}, {a}), {b})"),
                );
                (text, 9)
            }
            ("abs_diff", 1) if ty == Ty::U64 => {
                let (l, r) =
                    (self.named(receiver, "left"), self.named(arguments[0].clone(), "right"));
                let (l, r) = (&l.text, &r.text);
                let text = format!("prim.select(rust_below_u64({l}, {r}), {r} - {l}, {l} - {r})");
                (text, 9)
            }
            ("abs_diff", 1) if !matches!(ty, Ty::I64 | Ty::Of(..)) => {
                ty = without_sign(ty);
                (format!("prim.abs({} - {})", receiver.within(4), arguments[0].within(5)), 9)
            }
            ("unsigned_abs", 0) if !matches!(ty, Ty::I64 | Ty::Of(..)) => {
                ty = without_sign(ty);
                (format!("prim.abs({s})"), 9)
            }
            ("abs_diff" | "unsigned_abs", _) => {
                return refuse(
                    at,
                    format!("`{name}` of an `i64` is a `u64`, which is not built: write `abs()`"),
                );
            }
            (name, 1) if operation_of(name).is_some() => {
                return Ok(self.bounded(name, receiver, arguments[0].clone(), ty, at));
            }
            ("checked_div" | "checked_rem", 1) => {
                let (l, r) =
                    (self.named(receiver, "left"), self.named(arguments[0].clone(), "right"));
                let (l, r) = (&l.text, &r.text);
                let least = |least: &str| format!("{r} != 0 && !({r} == -1 && {l} == {least})");
                let there = self.by_integer(&ty, |of| match of {
                    Whole::I64 => least("-9223372036854775807 - 1"),
                    Whole::Narrow(of) if of.least != "0" => least(&of.least),
                    _ => format!("{r} != 0"),
                });
                let there = Value { stable: false, ..Value::new(there, Ty::Bool, 0, &[]) };
                let there = self.named(there, "there");
                let op = if name == "checked_div" { "/" } else { "%" };
                let by = format!("prim.select({}, {r}, 1)", there.text);
                let value =
                    Value { level: 0, ..Value::name(format!("{l} {op} {by}"), ty.clone(), 0) };
                let value = self.by_bits(&ty, value, op, l, &by);
                return Ok(self.option(there, value));
            }
            ("div_ceil", 1) => {
                let (l, r) =
                    (self.named(receiver, "left"), self.named(arguments[0].clone(), "right"));
                let quotient = self.operation("/", l.clone(), r.clone(), at, at.span())?;
                let rest = self.operation("%", l, r, at, at.span())?;
                let text =
                    format!("{} + prim.select({} == 0, 0, 1)", quotient.within(4), rest.within(4));
                (text, 4)
            }
            ("next_multiple_of", 1) => {
                let (l, r) =
                    (self.named(receiver, "left"), self.named(arguments[0].clone(), "right"));
                let rest = self.operation("%", l.clone(), r.clone(), at, at.span())?;
                let rest = self.named(Value { stable: false, ..rest }, "rest").text;
                let (l, r) = (&l.text, &r.text);
                let text = format!("prim.select({rest} == 0, {l}, {l} + ({r} - {rest}))");
                let value = Value { stable: false, ..Value::new(text, ty, 9, &[]) };
                let value = self.not_negative(value, at.span(), "add");
                return Ok(self.in_range(Value { least: 0, ..value }, at.span(), "add"));
            }
            ("is_power_of_two", 0) => {
                let x = self.in_signed_range(receiver, at.span());
                let x = self.named(x, "number").text;
                let text = format!("{x} > 0 && prim.bitand({x}, {x} - 1) == 0");
                return Ok(Value { stable: false, ..Value::new(text, Ty::Bool, 2, &[]) });
            }
            ("isqrt", 0) => {
                let value = self.in_signed_range(receiver, at.span());
                let value = self.named(value, "number");
                let line = format!("prim.select({} < 0, -1, 0) >= 0", value.text);
                let said = "argument of integer square root cannot be negative";
                self.check(at.span(), What::Panic(said.to_string()), &line);
                let text = format!("rust_isqrt({})", value.text);
                return Ok(Value { least: 0, ..Value::new(text, ty, 9, &[&value]).costly() });
            }
            ("ilog2", 0) => {
                let value = self.in_signed_range(receiver, at.span());
                let value = self.named(value, "number");
                let line = format!("prim.select({} <= 0, -1, 0) >= 0", value.text);
                let said = "argument of integer logarithm must be positive";
                self.check(at.span(), What::Panic(said.to_string()), &line);
                let text = format!("rust_ilog2({})", value.text);
                return Ok(Value { least: 0, ..Value::new(text, Ty::U32, 9, &[&value]).costly() });
            }
            ("next_power_of_two", 0) => {
                let value = self.in_signed_range(receiver, at.span());
                let value = self.named(value, "number");
                let line = format!("4611686018427387904 - {} >= 0", value.text);
                self.check(at.span(), What::Overflow("add"), &line);
                let text = format!("rust_next_power_of_two({})", value.text);
                let value = Value { least: 1, ..Value::new(text, ty, 9, &[&value]).costly() };
                return Ok(self.in_range(value, at.span(), "add"));
            }
            ("rotate_left" | "rotate_right", 1)
                if ty == Ty::U64
                    && arguments
                        .first()
                        .and_then(literal)
                        .is_some_and(|n| (1..64).contains(&n)) =>
            {
                let n = arguments.first().and_then(literal).unwrap_or(1);
                let n = if name == "rotate_left" { n } else { 64 - n };
                let x = self.named(receiver, "number").text;
                let text = format!("prim.bitor(prim.shl({x}, {n}), rust_shr_u64({x}, {}))", 64 - n);
                (text, 9)
            }
            ("count_ones" | "trailing_zeros", 0) => {
                let text = self.by_integer(&ty, |of| match (name, of) {
                    ("count_ones", Whole::Narrow(of)) if of.least != "0" => {
                        format!("rust_count_ones(prim.bitand({s}, {}))", of.bits)
                    }
                    ("count_ones", _) => format!("rust_count_ones({s})"),
                    (_, Whole::Narrow(of)) => format!("rust_trailing_zeros({s}, {})", of.count),
                    _ => format!("rust_trailing_zeros({s}, 64)"),
                });
                return Ok(Value { least: 0, ..Value::new(text, Ty::U32, 9, &of).costly() });
            }
            ("pow", 1) => {
                let known = arguments.first().and_then(literal).filter(|n| (0..=64).contains(n));
                if known.is_none_or(|n| n > 2) {
                    // What is no i64 may be one of 32 bits again.
                    let size = format!("prim.pow(prim.abs(f64({s})), f64({a}))");
                    let inside = format!("prim.select({size} < 9000000000000000000.0, 0, -1) >= 0");
                    if let Some((open, close)) = self.only("narrow", &ty) {
                        let text = format!("check {inside}");
                        let line = self.at(at.span(), What::Overflow("multiply"), &text);
                        self.written_check(&open, &line, &close);
                    }
                }
                let value = match known {
                    Some(n) => Value::new(format!("{}^{n}", receiver.within(9)), ty, 7, &of),
                    None => Value::new(format!("rust_pow({s}, {a})"), ty, 9, &of).costly(),
                };
                return Ok(self.in_range(value, at.span(), "multiply"));
            }
            ("rem_euclid" | "div_euclid", 1) => {
                return self.euclidean(name, receiver, arguments[0].clone(), at);
            }
            ("is_positive", 0) if !unsigned => {
                return Ok(Value::new(format!("{} > 0", receiver.within(4)), Ty::Bool, 3, &of));
            }
            ("is_negative", 0) if !unsigned => {
                return Ok(Value::new(format!("{} < 0", receiver.within(4)), Ty::Bool, 3, &of));
            }
            _ => {
                return refuse(
                    at,
                    format!(
                        "the method `{name}` is not built for integers: write it with operators and `if`"
                    ),
                );
            }
        };
        let least = if unsigned && ty != Ty::U64 { 0 } else { i64::MIN };
        Ok(Value { least, ..Value::new(text, ty, level, &of) })
    }

    /// `l.wrapping_add(r)` and its like: what the operation gives beyond the range of its type is said by the method.
    fn bounded(&mut self, name: &str, left: Value, right: Value, ty: Ty, at: &syn::Ident) -> Value {
        let (kind, sign, level, said) = operation_of(name).unwrap_or(("add", "+", 4, "add"));
        let (left, right) = (self.named(left, "left"), self.named(right, "right"));
        let (l, r) = (&left.text, &right.text);
        let raw = format!("{l} {sign} {r}");
        let over = |of: &Whole| match of {
            Whole::Usize => format!("rust_over_{kind}_usize({l}, {r})"),
            Whole::U64 => format!("rust_over_{kind}_u64({l}, {r})"),
            Whole::I64 => format!("rust_over_{kind}_i64({l}, {r})"),
            Whole::Narrow(of) => format!("rust_is_outside({raw}, {}, {})", of.least, of.most),
        };
        // Beyond the integers of the text no `usize` is one here: what is so is looked at before the value is.
        let inside = match (name, kind) {
            ("saturating_sub" | "checked_sub", _) => None,
            ("saturating_mul", _) => {
                Some("prim.select(rust_is_large_mul(L, R), -1, 0) >= 0".to_string())
            }
            ("checked_mul", _) => Some(
                "prim.select(rust_is_large_mul(L, R) && !rust_over_mul_usize(L, R), -1, 0) >= 0"
                    .to_string(),
            ),
            _ => Some(format!("({raw}) >= 0")),
        };
        if let (Some(inside), Some((open, close))) = (inside, self.only("usize", &ty)) {
            let inside = inside.replace("(L, R)", &format!("({l}, {r})"));
            let line = self.at(at.span(), What::Overflow(said), &format!("check {inside}"));
            self.written_check(&open, &line, &close);
        }
        if name.starts_with("checked_") {
            let there = format!("!{}", self.by_integer(&ty, |of| over(&of)));
            let there = Value { stable: false, ..Value::new(there, Ty::Bool, 6, &[]) };
            let value = Value { level, ..Value::name(raw, ty.clone(), i64::MIN) };
            let least = if ty.is_counted() { 0 } else { i64::MIN };
            return self.option(there, Value { least, ..value });
        }
        let wrapping = name.starts_with("wrapping_");
        // Of which sign it is where it leaves the range.
        let below = match kind {
            "mul" => format!("({l} < 0) != ({r} < 0)"),
            _ => format!("{l} < 0"),
        };
        let text = self.by_integer(&ty, |of| {
            let limit = match &of {
                Whole::Narrow(of) if wrapping => return of.wrapped(&raw),
                _ if wrapping => return format!("({raw})"),
                Whole::Narrow(of) if kind == "sub" => {
                    return format!("prim.min(prim.max({raw}, {}), {})", of.least, of.most);
                }
                Whole::Narrow(of) => format!("prim.select({below}, {}, {})", of.least, of.most),
                Whole::U64 if kind != "sub" => "-1".to_string(),
                Whole::U64 | Whole::Usize => "0".to_string(),
                Whole::I64 => {
                    format!("prim.select({below}, -9223372036854775807 - 1, 9223372036854775807)")
                }
            };
            format!("prim.select({}, {limit}, {raw})", over(&of))
        });
        let least = if ty.is_counted() { 0 } else { i64::MIN };
        Value { least, ..Value::new(text, ty, 9, &[&left, &right]) }
    }

    /// A text for integers of 64 bits without a sign, and one for all others.
    pub fn by_sign(&self, ty: &Ty, bits: String, signed: String) -> String {
        match self.resolve(ty) {
            Ty::U64 => bits,
            of @ Ty::Of(..) => match (self.only("u64", &of), self.only("signed", &of)) {
                (Some(a), Some(b)) => format!("{}{bits}{}{}{signed}{}", a.0, a.1, b.0, b.1),
                _ => signed,
            },
            _ => signed,
        }
    }

    /// The exponent of `x.pow(n)`, which is a `u32`.
    pub fn exponent(&mut self, expr: &Expr) -> Result<Value, Refusal> {
        let value = self.operand(expr)?;
        Ok(self.convert(value, &Ty::U32))
    }

    /// Division of integers with a remainder that is not negative.
    fn euclidean(
        &mut self,
        name: &str,
        left: Value,
        right: Value,
        at: &syn::Ident,
    ) -> Result<Value, Refusal> {
        let (left, right) = (self.named(left, "dividend"), self.named(right, "divisor"));
        let span = at.span();
        let rest = self.operation("%", left.clone(), right.clone(), at, span)?;
        let ty = self.resolve(&rest.ty);
        if ty.is_counted() || ty == Ty::U64 {
            return match name {
                "rem_euclid" => Ok(rest),
                _ => self.operation("/", left, right, at, span),
            };
        }
        let rest = self.named(Value { stable: false, ..rest }, "rest");
        let (r, d) = (&rest.text, &right.text);
        let text = match name {
            "rem_euclid" => format!("prim.select({r} < 0, {r} + prim.abs({d}), {r})"),
            _ => {
                let quotient = self.operation("/", left, right.clone(), at, span)?;
                let q = self.named(Value { stable: false, ..quotient }, "quotient").text;
                format!("prim.select({r} < 0, prim.select({d} > 0, {q} - 1, {q} + 1), {q})")
            }
        };
        Ok(Value::new(text, rest.ty.clone(), 9, &[&rest]))
    }
}

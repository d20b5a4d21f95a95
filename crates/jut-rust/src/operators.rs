//! Operators, conversions and assignments.
//!
//! Integers of the text are i64 and wrap, as in a release build of Rust. What would be another number than
//! Rust's is an error when it runs: a `usize` below zero, an `i32` out of its range, `i64::MIN / -1`.

use crate::lowering::Lowering;
use crate::syntax::{compound, unwrapped};
use crate::template::What;
use crate::types::Ty;
use crate::value::{Value, literal, unit};
use crate::{Refusal, refuse};
use proc_macro2::Span;
use syn::spanned::Spanned;
use syn::{BinOp, Expr, ExprBinary};

fn plain(op: &BinOp) -> &'static str {
    match op {
        BinOp::Add(_) => "+",
        BinOp::Sub(_) => "-",
        BinOp::Mul(_) => "*",
        BinOp::Div(_) => "/",
        BinOp::Rem(_) => "%",
        BinOp::BitAnd(_) => "&",
        BinOp::BitOr(_) => "|",
        BinOp::BitXor(_) => "^",
        BinOp::Shl(_) => "<<",
        BinOp::Shr(_) => ">>",
        BinOp::Eq(_) => "==",
        BinOp::Ne(_) => "!=",
        BinOp::Lt(_) => "<",
        BinOp::Le(_) => "<=",
        BinOp::Gt(_) => ">",
        BinOp::Ge(_) => ">=",
        other => compound(other).unwrap_or("&&"),
    }
}

impl Lowering<'_> {
    /// An operator between two values, or an assignment as an expression.
    pub fn binary(&mut self, binary: &ExprBinary) -> Result<Value, Refusal> {
        match &binary.op {
            BinOp::And(_) | BinOp::Or(_) => self.short_circuit(binary),
            op if compound(op).is_some() => {
                self.compound(binary)?;
                Ok(unit())
            }
            op => {
                if let Some(said) = self.as_match(binary)? {
                    return self.expression(&said);
                }
                let values = self.operands(&[&binary.left, &binary.right])?;
                let [left, right] = &values[..] else { return Ok(unit()) };
                self.operation(plain(op), left.clone(), right.clone(), op, binary.span())
            }
        }
    }

    /// `&&` and `||`: the right side is computed only where Rust computes it, unless it cannot fail.
    fn short_circuit(&mut self, binary: &ExprBinary) -> Result<Value, Refusal> {
        let left = self.operand(&binary.left)?;
        self.joined(left, &binary.right, matches!(binary.op, BinOp::And(_)))
    }

    /// Both, where the first is computed already.
    pub fn both(&mut self, left: Value, right: &Expr) -> Result<Value, Refusal> {
        self.joined(left, right, true)
    }

    fn joined(&mut self, left: Value, right: &Expr, and: bool) -> Result<Value, Refusal> {
        let right_expr = unwrapped(right);
        self.no_jump(right_expr)?;
        let (lines, right) = self.nested(|this| this.operand(right_expr))?;
        if lines.lines.is_empty() && right.cheap {
            let (op, level) = if and { ("&&", 2) } else { ("||", 1) };
            let text = format!("{} {op} {}", left.within(level), right.within(level + 1));
            return Ok(Value::new(text, Ty::Bool, level, &[&left, &right]));
        }
        let known = Value::name((!and).to_string(), Ty::Bool, 0);
        let (then, other) = match and {
            true => ((lines, Some(right)), (Default::default(), Some(known))),
            false => ((Default::default(), Some(known)), (lines, Some(right))),
        };
        Ok(self.chosen(left, then, other).unwrap_or_else(unit))
    }

    /// An operation on two values, which are computed already.
    pub fn operation(
        &mut self,
        op: &str,
        left: Value,
        right: Value,
        at: &impl quote::ToTokens,
        span: Span,
    ) -> Result<Value, Refusal> {
        if matches!(op, "<<" | ">>") {
            return self.shift(op, left, right, at);
        }
        if let Some(value) = self.overloaded(op, &left, &right, at, span)? {
            return Ok(value);
        }
        if let Some(value) = self.equal_parts(op, &left, &right, at, span)? {
            return Ok(value);
        }
        let ty = self.unify(&left.ty, &right.ty);
        if matches!(ty, Ty::Array(..) | Ty::Tuple(_) | Ty::Unit) {
            return refuse(
                at,
                "operators on whole arrays and tuples are not built: write them for the elements",
            );
        }
        let plain = |level: u8, ty: Ty, left: &Value, right: &Value| {
            let text = format!("{} {op} {}", left.within(level), right.within(level + 1));
            Value::new(text, ty, level, &[left, right])
        };
        if matches!(op, "==" | "!=" | "<" | "<=" | ">" | ">=") {
            self.compared(&left.ty, &right.ty, span);
        }
        match op {
            "==" | "!=" => {
                let (left, right) = (Value { level: left.level.max(1), ..left }, right);
                let text = format!("{} {op} {}", left.within(4), right.within(4));
                return Ok(Value::new(text, Ty::Bool, 3, &[&left, &right]));
            }
            "<" | "<=" | ">" | ">=" => {
                if ty == Ty::Bool {
                    return refuse(
                        at,
                        "truth values are not ordered here: write `!a && b` for `a < b`",
                    );
                }
                return Ok(self.below(op, &ty, &left, &right));
            }
            "&" | "|" | "^" => {
                let words = match (&ty, op) {
                    (Ty::Bool, "&") => "prim.select(A, B, false)",
                    (Ty::Bool, "|") => "prim.select(A, true, B)",
                    (Ty::Bool, _) => "(A) != (B)",
                    (t @ Ty::Of(..), op) if self.only("int", t).is_some() => {
                        return Ok(self.bits_of_any(op, ty.clone(), &left, &right));
                    }
                    (t, "&") if t.is_integer() => "prim.bitand(A, B)",
                    (t, "|") if t.is_integer() => "prim.bitor(A, B)",
                    (t, _) if t.is_integer() => "prim.bitxor(A, B)",
                    _ => {
                        return refuse(
                            at,
                            "the types are not known here: write `let a: usize = ..;` before",
                        );
                    }
                };
                let text = words
                    .replace('A', "\u{4}")
                    .replace('B', &right.text)
                    .replace('\u{4}', &left.text);
                let level = if words.starts_with('(') { 3 } else { 9 };
                return Ok(Value::new(text, ty, level, &[&left, &right]));
            }
            _ => {}
        }
        let level = if matches!(op, "+" | "-") { 4 } else { 5 };
        let (left, right) = match (op, &ty) {
            ("/" | "%", Ty::U64) => (self.named(left, "left"), self.named(right, "right")),
            _ => (left, right),
        };
        let (left_text, right_text) = (left.text.clone(), right.text.clone());
        let result = plain(level, ty.clone(), &left, &right);
        if ty.is_float() {
            return Ok(if op == "%" { result.costly() } else { result });
        }
        if ty == Ty::Bool {
            return refuse(at, "this operator has no meaning for truth values");
        }
        let (a, b) = (left.least, literal(&right));
        match op {
            "+" => {
                let sum = self.in_range(result, span, "add");
                let least = a.saturating_add(right.least);
                Ok(Value { least: self.bound(&ty, least), ..sum })
            }
            "*" => {
                let product = self.in_range(result, span, "multiply");
                let least = a.max(0).saturating_mul(right.least.max(0));
                Ok(Value { least: self.bound(&ty, least), ..product })
            }
            "-" if ty == Ty::Usize && b.is_some_and(|b| a >= b) => {
                Ok(Value { least: a - b.unwrap_or(0), ..result })
            }
            "-" => {
                let difference = self.in_range(result, span, "subtract");
                let difference = self.not_negative(difference, span, "subtract");
                let difference = self.not_below(difference, &left_text, &right_text, span);
                Ok(Value { least: self.bound(&ty, 0), ..difference })
            }
            _ => {
                if b.is_none_or(|b| b == -1)
                    && let Some((open, close)) = self.only("i64", &ty)
                {
                    let (left, right) = (left.text.clone(), right.text.clone());
                    let least = "(-9223372036854775807 - 1)";
                    let line = self.at(
                        span,
                        What::Overflow(if op == "/" { "divide" } else { "calculate the remainder" }),
                        &format!(
                            "check prim.select(({right}) == -1, prim.select(({left}) == {least}, -1, 0), 0) >= 0"
                        ),
                    );
                    self.written_check(&open, &line, &close);
                }
                let result = self.by_bits(&ty, result, op, &left_text, &right_text);
                let text = self.at(span, What::Same, &result.text);
                let fails = b.is_none_or(|b| b == 0);
                let result = Value { text, cheap: result.cheap && !fails, ..result };
                let quotient = self.in_range(result, span, "divide");
                Ok(Value { least: self.bound(&ty, 0), ..quotient })
            }
        }
    }

    /// What is known of an integer's least value: of a `usize` only, the others may wrap.
    fn bound(&self, ty: &Ty, least: i64) -> i64 {
        if *ty == Ty::Usize { least.max(0) } else { i64::MIN }
    }

    fn shift(
        &mut self,
        op: &str,
        left: Value,
        right: Value,
        at: &impl quote::ToTokens,
    ) -> Result<Value, Refusal> {
        let ty = self.resolve(&left.ty);
        if let Ty::Of(..) = ty
            && literal(&right).is_some_and(|n| (0..64).contains(&n))
        {
            return Ok(self.shift_of_any(op, left, &right, ty, at.to_token_stream().span()));
        }
        let bits = match &ty {
            Ty::Narrow(narrow) => i64::from(narrow.bits),
            _ => 64,
        };
        let name = match (op, &ty) {
            (_, Ty::Int(_)) => "shl",
            (">>", of) if of.is_integer() => "shr",
            ("<<", of) if of.is_integer() => "shl",
            _ => {
                return refuse(
                    at,
                    "the type of what is shifted is not known here: bind it to a name with its type before, `let n: i64 = ..;`",
                );
            }
        };
        let (left, right) = match literal(&right) {
            Some(n) if (0..bits).contains(&n) => (left, right),
            Some(_) => return refuse(at, "shift by fewer bits than the type has"),
            None => {
                let (left, right) = (self.named(left, "shifted"), self.named(right, "bits"));
                let inside = format!(
                    "prim.select({0} >= 0, prim.select({0} < {bits}, 0, -1), -1) >= 0",
                    right.text
                );
                let operation = if op == "<<" { "shift left" } else { "shift right" };
                self.check(at.to_token_stream().span(), What::Overflow(operation), &inside);
                (left, right)
            }
        };
        let text = format!("prim.{name}({}, {})", left.text, right.text);
        let text = match (self.limits(&ty), name) {
            (Some(limits), "shl") => limits.wrapped(&text),
            (_, "shr") if ty == Ty::U64 => {
                format!("rust_shr_u64({}, {})", left.text, right.text)
            }
            _ => text,
        };
        let least = self.bound(&ty, 0);
        let value = Value::new(text, ty.clone(), 9, &[&left, &right]);
        if (&ty, name) == (&Ty::Usize, "shl") {
            // What has the highest bit is no `usize` here.
            let value = self.named(Value { stable: false, ..value }, "shifted");
            let inside = format!("{} >= 0", value.text);
            self.check(at.to_token_stream().span(), What::Overflow("shift left"), &inside);
            return Ok(Value { least: 0, ..value });
        }
        Ok(Value { least, ..value })
    }

    /// The tags round what is there for one type only; nothing if it is another.
    pub fn only(&self, name: &str, ty: &Ty) -> Option<(String, String)> {
        let known = match self.resolve(ty) {
            Ty::Usize => "usize",
            Ty::I64 => "i64",
            Ty::Narrow(_) => "narrow",
            Ty::U64 => "u64",
            Ty::Of(hole, steps) => {
                let steps = crate::types::words(&steps);
                return Some((format!("$if {name} {hole}{steps}$"), "$end$".to_string()));
            }
            _ => return None,
        };
        (known == name).then(Default::default)
    }

    /// A check that is there for one type only has an effect only if that is known.
    pub fn written_check(&mut self, open: &str, line: &str, close: &str) {
        if open.is_empty() {
            self.reach = 0;
        }
        self.lines.push(format!("{open}{line}{close}"));
    }

    /// `x as T`.
    pub fn cast(&mut self, cast: &syn::ExprCast) -> Result<Value, Refusal> {
        let wanted = crate::types::read(&cast.ty, &mut self.parts.holes)?;
        let value = self.operand(&cast.expr)?;
        let from = self.resolve(&value.ty);
        let span = cast.span();
        let same = |value: Value| Value { ty: wanted.clone(), ..value };
        let call = |text: String, of: &Value| Value::new(text, wanted.clone(), 9, &[of]);
        const LARGE: &str = "convert";
        Ok(match (&from, &wanted) {
            (Ty::Of(hole, steps), Ty::F64 | Ty::F32 | Ty::I64) => {
                let to = wanted.text(&mut String::new);
                let steps = crate::types::words(steps);
                let value = match wanted {
                    Ty::I64 => self.number_of(value),
                    _ => value,
                };
                call(format!("$to {to} {hole}{steps}$({})", value.text), &value)
            }
            (Ty::Of(..), Ty::Narrow(_) | Ty::U64 | Ty::Usize) => {
                let value = self.number_of(value);
                self.cast_of_any(value, &wanted, span)
            }
            (Ty::Of(..), _) => {
                return refuse(
                    &cast.expr,
                    "the type of this is not known here: bind it to a name with its type before, \
                     `let n: usize = ..;`",
                );
            }
            (Ty::F64, Ty::F64) | (Ty::F32, Ty::F32) => value,
            (Ty::F32, Ty::F64) => call(format!("f64({})", value.text), &value),
            (Ty::Float(_), Ty::F64 | Ty::F32) => {
                let to = wanted.text(&mut String::new);
                let converted = format!("{to}({})", value.text);
                let text = match wanted {
                    Ty::F64 => self.by_width(&from, &value.within(9), &converted),
                    _ => self.by_width(&from, &converted, &value.within(9)),
                };
                call(text, &value)
            }
            (Ty::F64, Ty::F32) => call(format!("f32({})", value.text), &value),
            (Ty::I64 | Ty::Narrow(_) | Ty::Usize | Ty::Int(_), Ty::F64) => {
                call(format!("f64({})", value.text), &value)
            }
            (Ty::U64, Ty::F64) => call(format!("rust_u64_to_f64({})", value.text), &value),
            (Ty::U64, Ty::F32) => call(format!("rust_u64_to_f32({})", value.text), &value),
            (Ty::F64, Ty::U64) => call(format!("rust_f64_to_u64({})", value.text), &value),
            (Ty::F32 | Ty::Float(_), Ty::U64) => {
                call(format!("rust_f64_to_u64(f64({}))", value.text), &value)
            }
            // The same bits; of one of 32 bits those of its sign.
            (Ty::I64 | Ty::Narrow(_) | Ty::U64 | Ty::Usize | Ty::Int(_), Ty::U64) => same(value),
            (Ty::U64, Ty::I64) => Value { least: i64::MIN, ..same(value) },
            // By way of 64 bits, a large integer would be rounded twice.
            (Ty::I64 | Ty::Usize, Ty::F32) if literal(&value).is_none() => {
                call(format!("rust_to_f32({})", value.text), &value)
            }
            (Ty::I64 | Ty::Narrow(_) | Ty::Usize | Ty::Int(_), Ty::F32) => {
                call(format!("f32({})", value.text), &value)
            }
            (Ty::F64 | Ty::F32 | Ty::Float(_), Ty::I64) => {
                call(format!("i64({})", value.text), &value)
            }
            (Ty::F64 | Ty::F32 | Ty::Float(_), Ty::Narrow(to)) => {
                let (least, most) = (to.least(), to.most());
                let text = format!("prim.min(prim.max(i64({}), {least}), {most})", value.text);
                Value { least: if to.signed { i64::MIN } else { 0 }, ..call(text, &value) }
            }
            (Ty::F64 | Ty::F32 | Ty::Float(_), Ty::Usize) => {
                // Rust's largest usize is no i64.
                let number = self.named(call(format!("i64({})", value.text), &value), "number");
                let check = format!("{} < 9223372036854775807", number.text);
                let signed = format!("prim.max({}, 0)", number.text);
                let result = self.named(call(signed, &number), "number");
                let check = check.replace(&number.text, &result.text);
                self.check(span, What::Overflow(LARGE), &check);
                Value { least: 0, ..result }.costly()
            }
            (Ty::Bool, Ty::F64 | Ty::F32) => {
                let to = wanted.text(&mut String::new);
                call(format!("{to}({})", value.text), &value)
            }
            (Ty::Bool, to) if to.is_integer() => {
                Value { least: 0, ..call(format!("i64({})", value.text), &value) }
            }
            (Ty::Usize | Ty::Int(_), Ty::Usize) | (Ty::I64, Ty::I64) => same(value),
            (Ty::Narrow(of), Ty::Usize | Ty::I64) if !of.signed => {
                Value { least: value.least.max(0), ..same(value) }
            }
            // The low bits, as in Rust.
            (_, Ty::Narrow(to)) if from.is_integer() => self.cut(value, *to),
            (Ty::I64 | Ty::Narrow(_) | Ty::U64, Ty::Usize) => {
                // A negative one becomes a usize that is no i64.
                let known = literal(&value).is_some_and(|n| n >= 0);
                let value = same(value);
                let value = if known { value } else { self.not_negative(value, span, LARGE) };
                Value { least: value.least.max(0), ..value }
            }
            (Ty::Usize | Ty::Narrow(_) | Ty::Int(_), Ty::I64) => {
                Value { least: i64::MIN, ..same(value) }
            }
            (_, Ty::Bool) => same(value),
            _ => return refuse(cast, "this conversion is not built"),
        })
    }

    /// A number whose type rustc knows as an integer: there is a text for each type.
    fn cast_of_any(&mut self, value: Value, wanted: &Ty, span: Span) -> Value {
        let limits = self.limits(wanted);
        let (low, high) = match (&limits, wanted) {
            (Some(limits), _) => (limits.least.as_str(), limits.most.as_str()),
            (None, Ty::U64) => ("0", "0"),
            _ => ("0", "9223372036854775807"),
        };
        let v = &value.text;
        let rounded = format!("prim.min(prim.max(i64({v}), {low}), {high})");
        let whole = limits.as_ref().map_or(v.clone(), |limits| limits.wrapped(v));
        let wide = *wanted == Ty::U64;
        let rounded = if wide { format!("rust_f64_to_u64(f64({v}))") } else { rounded };
        let truth = format!("i64({v})");
        let mut text = String::new();
        for (name, one) in
            [("f64", &rounded), ("f32", &rounded), ("whole", &whole), ("bool", &truth)]
        {
            if let Some((open, close)) = self.only(name, &value.ty) {
                text.push_str(&format!("{open}{one}{close}"));
            }
        }
        let least = if wanted.is_counted() { 0 } else { i64::MIN };
        let from = value.ty.clone();
        let value = Value { least, ..Value::new(text, wanted.clone(), 9, &[&value]) };
        let value = self.named(Value { stable: false, ..value }, "number");
        match wanted {
            Ty::Usize => {
                let value = self.not_negative(value, span, "convert");
                // Rust's largest usize is no i64.
                for float in ["f64", "f32"] {
                    if let Some((open, close)) = self.only(float, &from) {
                        let check = format!("check {} < 9223372036854775807", value.text);
                        let line = self.at(span, What::Overflow("convert"), &check);
                        self.written_check(&open, &line, &close);
                    }
                }
                value
            }
            _ => value,
        }
    }

    /// `a = e`.
    pub fn assignment(&mut self, left: &Expr, right: &Expr) -> Result<(), Refusal> {
        self.no_jump(right)?;
        match unwrapped(left) {
            Expr::Infer(_) => self.effect(right),
            Expr::Tuple(targets) => {
                let value = self.expression(right)?;
                let whole = self.named(value, "pair");
                for (k, target) in targets.elems.iter().enumerate() {
                    if matches!(target, Expr::Infer(_)) {
                        continue;
                    }
                    let component = self.component(&whole, k);
                    // Two lists that change places need not be of one length.
                    let list = self.is_of_a_list(&component) || matches!(component.ty, Ty::Of(..));
                    match list && self.is_whole_list(target) {
                        true => self.another_list(target, component)?,
                        false => self.assign(target, component)?,
                    }
                }
                Ok(())
            }
            target => {
                self.expected.wanted = match crate::nones::wants_type(right) {
                    true => Some(self.nested(|this| this.place(target))?.1.ty),
                    false => None,
                };
                let value = self.expression(right)?;
                let list = self.is_of_a_list(&value) || matches!(value.ty, Ty::Of(..));
                match list && self.is_whole_list(target) {
                    true => self.another_list(target, value),
                    false => self.assign(target, value),
                }
            }
        }
    }

    fn assign(&mut self, target: &Expr, value: Value) -> Result<(), Refusal> {
        self.put_back_cells(|this| this.assigned_place(target, value))
    }

    fn assigned_place(&mut self, target: &Expr, value: Value) -> Result<(), Refusal> {
        let assigned = self.assigned;
        let place = self.place(target)?;
        if let Some(k) = self.late.get(&place.text) {
            let ty = self.resolve(&value.ty);
            if ty != Ty::Never {
                self.learned.late.insert(*k, ty);
            }
        }
        self.assigned_to_none(&place.text, &value.ty);
        let value = match self.resolve(&place.ty) {
            ty @ Ty::Option(_) => self.with_type(value, &ty, target)?,
            _ => value,
        };
        let list = self.is_of_a_list(&value) || matches!(self.resolve(&value.ty), Ty::Of(..));
        let row = crate::template::split_row(&place.text).filter(|_| list);
        let value = match self.resolve(&place.ty) {
            Ty::Of(hole, steps) if row.is_none() => self.as_field(value, hole, steps),
            _ => value,
        };
        let value = self.convert(value, &place.ty);
        if self.assigned > assigned + 1 {
            return refuse(target, "compute this index before the statement: `let i = ..;`");
        }
        if let Some((row, tag)) = row {
            self.row_of_field(&row, &tag, value, target.span());
            return Ok(());
        }
        let (before, given) = (self.lines.len(), value.clone());
        let (place, value) = match place.text.strip_suffix(".values") {
            // A whole row gets the length of the new one.
            Some(row) if self.is_of_a_list(&value) => {
                (Value { text: row.to_string(), ..place.clone() }, self.made_row(value))
            }
            _ => (place.clone(), self.as_long(&place, value, target.span())),
        };
        let line = format!("{} = {}", place.text, value.text);
        let line = if place.level == 1 { self.at(target.span(), What::Same, &line) } else { line };
        self.lines.push(line);
        match list {
            true => self.given_another_list(target, &place.ty, &given, before),
            false => Ok(()),
        }
    }

    /// `a op= e`.
    pub fn compound(&mut self, binary: &ExprBinary) -> Result<(), Refusal> {
        self.put_back_cells(|this| this.compounded(binary))
    }

    fn compounded(&mut self, binary: &ExprBinary) -> Result<(), Refusal> {
        let op = compound(&binary.op).unwrap_or("+");
        self.no_jump(&binary.right)?;
        let right = self.operand(&binary.right)?;
        let place = self.place(&binary.left)?;
        let ty = self.resolve(&place.ty);
        let text = if ty.is_float() && op != "%" {
            self.unify(&right.ty, &ty);
            format!("{} {op}= {}", place.text, right.text)
        } else {
            // Indices are names, so the place is read and written by the same ones.
            let old = Value { level: 9, stable: false, cheap: true, ..place.clone() };
            let overloaded =
                self.overloaded_assignment(op, &old, &right, &binary.op, binary.span())?;
            if let Some(text) = overloaded {
                let line = format!("{} = {text}", place.text);
                let line = self.at(binary.span(), What::Same, &line);
                self.lines.push(line);
                return Ok(());
            }
            let value = self.operation(op, old, right, &binary.op, binary.span())?;
            let value = self.convert(value, &ty);
            format!("{} = {}", place.text, value.text)
        };
        let line = self.at(binary.span(), What::Same, &text);
        self.lines.push(line);
        Ok(())
    }

    /// A place that is assigned: its text, and its type. The level is 1 where it can be out of range.
    pub fn place(&mut self, target: &Expr) -> Result<Value, Refusal> {
        if let Expr::Path(path) = unwrapped(target)
            && let Some(ident) = path.path.get_ident()
            && self.lookup(&ident.to_string()).is_some_and(|l| l.reference)
        {
            return refuse(path, format!("assign what this refers to: `*{ident} = ..`"));
        }
        self.referred(target)
    }

    /// A place, or what a name refers to that is a `&mut`.
    pub fn referred(&mut self, target: &Expr) -> Result<Value, Refusal> {
        match unwrapped(target) {
            Expr::Path(path) => {
                let found = path.path.get_ident().and_then(|i| self.lookup(&i.to_string()));
                let Some(local) = found.cloned() else {
                    return refuse(path, "only variables of this function can be assigned");
                };
                if local.is_open() || self.lists.partial.contains_key(&local.name) {
                    return refuse(
                        path,
                        "a list is not assigned in the statement in which it grows",
                    );
                }
                if local.stack.is_some() {
                    return crate::stacked::not_here(path);
                }
                if !local.mutable {
                    return refuse(
                        path,
                        "declare this variable with its value, and with `let mut`",
                    );
                }
                self.reach = self.reach.min(local.depth);
                self.changed = self.changed.min(local.depth);
                self.assigned += 1;
                let ty = self.resolve(&local.ty);
                Ok(Value {
                    text: local.name,
                    ty,
                    level: 0,
                    stable: false,
                    cheap: true,
                    least: i64::MIN,
                })
            }
            Expr::Index(index) => {
                if matches!(unwrapped(&index.index), Expr::Range(_)) {
                    return refuse(
                        &index.index,
                        "assign the elements one by one, in a loop, or by `copy_from_slice`",
                    );
                }
                let base = self.referred(&index.expr)?;
                if let Some(place) = self.own_place(&base, index)? {
                    return Ok(place);
                }
                let both = crate::libraries::of_a_matrix(&index.index)
                    .filter(|_| matches!(self.resolve(&base.ty), Ty::Of(..)));
                let indices = both.map_or(vec![&*index.index], |(row, column)| vec![row, column]);
                let mut at = Vec::new();
                for value in self.operands(&indices)? {
                    let value = self.convert(value, &Ty::Usize);
                    at.push(match literal(&value) {
                        Some(_) => value.text,
                        None => self.named(value, "at").text,
                    });
                }
                let at = at.join(", ");
                let ty = self.element(&base.ty);
                let text = crate::template::indexed(&base.text, &at);
                Ok(self.row_place(Value { text, ty, level: 1, ..base }))
            }
            Expr::Field(field) => {
                let base = self.referred(&field.base)?;
                let component = self.member(&base, &field.member)?;
                Ok(Value { level: base.level, ..component })
            }
            Expr::Unary(unary) if matches!(unary.op, syn::UnOp::Deref(_)) => {
                let known = match unwrapped(&unary.expr) {
                    Expr::Path(path) => {
                        path.path.get_ident().and_then(|i| self.lookup(&i.to_string()))
                    }
                    _ => None,
                };
                let part = crate::parted::place(&unary.expr);
                match (known.is_some_and(|l| l.reference), part) {
                    (true, _) => self.referred(&unary.expr),
                    (_, Some(part)) => self.referred(&part),
                    _ => refuse(
                        &unary.op,
                        "`*` stands before a parameter that is a `&mut` here, an element of `iter_mut`, or a part of an enum whose pattern names all parts, `Shape::Box { w, h: _ }`",
                    ),
                }
            }
            other => refuse(
                other,
                "this cannot be assigned here: assign a variable, or an element of one",
            ),
        }
    }

    /// A place, or a part of one, `x[a..b]`: a slice has its text at level 2, and its length with it.
    pub fn part(&mut self, target: &Expr) -> Result<(Value, String), Refusal> {
        let Expr::Index(index) = unwrapped(target) else {
            let place = self.referred(target)?;
            let length = format!("size({})", place.text);
            return Ok((place, length));
        };
        let Expr::Range(range) = unwrapped(&index.index) else {
            let place = self.referred(target)?;
            let length = format!("size({})", place.text);
            return Ok((place, length));
        };
        let base = self.referred(&index.expr)?;
        let (start, end) = self.ends(range, &base.text)?;
        let ty = match self.resolve(&base.ty) {
            Ty::Array(element, _) => crate::types::array(*element, crate::types::Extent::Slice),
            other => other,
        };
        let text = crate::template::indexed(&base.text, &format!("{start} .. {end}"));
        // Rust looks at the ends of the slice before anything is done with it.
        let name = self.names.unique("part");
        let line = self.at(target.span(), What::Same, &format!("{name} = {text}"));
        self.lines.push(line);
        Ok((Value { text, ty, level: 2, ..base }, format!("{end} - {start}")))
    }

    /// The same of a place that is assigned later, if at all.
    pub fn looked_at(&mut self, target: &Expr) -> Result<(Value, String), Refusal> {
        let before = (self.reach, self.changed);
        let found = self.part(target);
        (self.reach, self.changed) = before;
        found
    }

    /// The ends of a slice, as names or literals.
    pub fn ends(&mut self, range: &syn::ExprRange, of: &str) -> Result<(String, String), Refusal> {
        let ends: Vec<&Expr> =
            [&range.start, &range.end].into_iter().flatten().map(|e| &**e).collect();
        let values = self.operands(&ends)?;
        let mut values = values.into_iter().map(|v| {
            let v = self.convert(v, &Ty::Usize);
            if literal(&v).is_some() { v.text } else { self.named(v, "end").text }
        });
        let start =
            range.start.as_ref().and_then(|_| values.next()).unwrap_or_else(|| "0".to_string());
        let last = range.end.as_ref().and_then(|_| values.next());
        let end = match (last, &range.limits) {
            (None, _) => format!("size({of})"),
            (Some(end), syn::RangeLimits::HalfOpen(_)) => end,
            (Some(end), syn::RangeLimits::Closed(_)) => format!("{end} + 1"),
        };
        drop(values);
        let name = self.names.unique("end");
        self.lines.push(format!("{name} = {end}"));
        Ok((start, name))
    }
}

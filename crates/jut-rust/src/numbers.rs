//! Methods of numbers, and what is made of each element of an array.
//!
//! Which methods there are, and their texts, is in `methods`; here is what depends on the receiver's type. Where only rustc knows
//! that (a struct's field), the text has all forms, and the linker takes the one that fits.

use crate::lowering::Lowering;
use crate::methods::{self, fill};
use crate::syntax::is_from_fn;
use crate::template::What;
use crate::types::{Extent, Ty, array};
use crate::value::{Value, literal};
use crate::{Refusal, refuse};
use syn::Expr;

impl Lowering<'_> {
    /// A method of a number with its arguments.
    pub fn number_method(
        &mut self,
        name: &str,
        receiver: Value,
        arguments: &[Value],
        at: &syn::Ident,
    ) -> Result<Value, Refusal> {
        let ty = self.resolve(&receiver.ty);
        let shared = methods::SHARED.contains(&name);
        // In each pass, so that the same floats have the same numbers.
        let float = self.unknown_float();
        if let Ty::Of(..) = ty
            && ["abs", "clamp", "max", "min", "signum"].contains(&name)
            && let Some(integer) = self.only("int", &ty)
            && !arguments.iter().any(|a| {
                let known = self.resolve(&a.ty);
                known.is_float() || known.is_integer() || literal(a).is_some()
            })
        {
            // A float or an integer: rustc knows. What may be assigned before the value is read has a name.
            let bounds = name == "clamp";
            let mut arguments = arguments.to_vec();
            for argument in arguments.iter_mut().filter(|a| bounds || !a.stable) {
                *argument = self.named(argument.clone(), "bound");
            }
            if let [low, high] = &arguments[..] {
                let said = "clamp: the lower bound is above the upper one, or one is NaN";
                let check = format!("prim.select({} <= {}, 0, -1) >= 0", low.text, high.text);
                self.check(at.span(), What::Panic(said.to_string()), &check);
            }
            let texts: Vec<&str> = arguments.iter().map(|a| a.text.as_str()).collect();
            let known = methods::F64.iter().find(|(n, _, _)| *n == name).map_or("", |m| m.2);
            let wide = fill(known, &receiver.text, &texts);
            let short = fill(&methods::short(name, known), &receiver.text, &texts);
            let prim = if name == "signum" { "sign" } else { name };
            let all: Vec<&str> = [receiver.text.as_str()].into_iter().chain(texts).collect();
            let other = match &all[..] {
                [value, low, high] => format!("prim.min(prim.max({value}, {low}), {high})"),
                _ => format!("prim.{prim}({})", all.join(", ")),
            };
            let text = match (self.only("f64", &ty), self.only("f32", &ty)) {
                (Some(a), Some(b)) => format!(
                    "{}{wide}{}{}{short}{}{}{other}{}",
                    a.0, a.1, b.0, b.1, integer.0, integer.1
                ),
                _ => wide,
            };
            let mut of = vec![&receiver];
            of.extend(&arguments);
            let value = Value::new(text, ty, 9, &of);
            return Ok(if name == "abs" {
                self.in_range(value, at.span(), "negate")
            } else {
                value
            });
        }
        // What rustc knows is an integer beside one. (An integer as it is written has what stands beside it as its type.)
        let integer = |a: &Value| self.resolve(&a.ty).is_integer() || literal(a).is_some();
        let integers = ty.is_integer()
            || matches!(ty, Ty::Of(..))
                && (name == "pow" || shared && arguments.iter().any(integer));
        if let Ty::Of(..) = ty
            && shared
            && !integers
            && !arguments.iter().any(|a| self.resolve(&a.ty).is_float())
        {
            return refuse(
                at,
                "the type of this is not known here: bind it to a name with its type before, `let x: f64 = ..;`",
            );
        }
        if integers {
            return self.integer_method(name, receiver, arguments, at);
        }
        if !(ty.is_float() || matches!(ty, Ty::Of(..))) {
            return refuse(at, format!("`{name}` is not built for this type"));
        }
        if let Some((_, help)) = methods::REFUSED.iter().find(|(n, _)| *n == name) {
            return refuse(at, format!("`{name}` is not built: {help}"));
        }
        let Some((_, count, text)) = methods::F64.iter().find(|(n, _, _)| *n == name) else {
            return refuse(
                at,
                format!(
                    "the method `{name}` is not built: call a function that has this attribute"
                ),
            );
        };
        if *count != arguments.len() {
            return refuse(at, "another number of arguments is expected");
        }
        let ty = self.unify(&float, &ty);
        for argument in arguments {
            let wanted = if name == "powi" { Ty::I32 } else { ty.clone() };
            self.unify(&argument.ty, &wanted);
        }
        if name == "mul_add" && self.by_width(&ty, "wide", "short") != "wide" {
            return refuse(
                at,
                "`mul_add` is built for an `f64` that is known to be one: bind it before, `let x: f64 = ..;`, or write \
                 `a * b + c`, which rounds twice",
            );
        }
        let mut arguments = arguments.to_vec();
        if name == "clamp" {
            for argument in &mut arguments {
                *argument = self.named(argument.clone(), "bound");
            }
            let said = "clamp: the lower bound is above the upper one, or one is NaN".to_string();
            let check =
                format!("prim.select({} <= {}, 0, -1) >= 0", arguments[0].text, arguments[1].text);
            self.check(at.span(), What::Panic(said), &check);
        }
        let texts: Vec<&str> = arguments.iter().map(|a| a.text.as_str()).collect();
        let wide = fill(text, &receiver.text, &texts);
        let short = fill(&methods::short(name, text), &receiver.text, &texts);
        let text = self.by_width(&ty, &wide, &short);
        let ty = match name {
            "sin_cos" => Ty::Tuple(vec![ty.clone(), ty]),
            _ if name.starts_with("is_") => Ty::Bool,
            _ => ty,
        };
        let mut of = vec![&receiver];
        of.extend(&arguments);
        let value = Value::new(text, ty, 9, &of);
        let light = ["abs", "max", "min", "floor", "ceil", "trunc"];
        let light = light.contains(&name) || name.starts_with("is_");
        Ok(if light { value } else { value.costly() })
    }

    pub fn integer_method(
        &mut self,
        name: &str,
        receiver: Value,
        arguments: &[Value],
        at: &syn::Ident,
    ) -> Result<Value, Refusal> {
        let mut of = vec![&receiver];
        of.extend(arguments);
        let mut ty = self.resolve(&receiver.ty);
        if name != "pow" {
            for argument in arguments {
                ty = self.unify(&ty, &argument.ty);
            }
        }
        let (a, s) =
            (arguments.first().map(|a| a.text.clone()).unwrap_or_default(), &receiver.text);
        let b = arguments.get(1).map(|a| a.text.clone()).unwrap_or_default();
        let unsigned = matches!(ty, Ty::Usize | Ty::U32);
        let (text, level) = match (name, arguments.len()) {
            ("min" | "max", 1) => (format!("prim.{name}({s}, {a})"), 9),
            ("abs", 0) if !unsigned => {
                let value = Value::new(format!("prim.abs({s})"), ty, 9, &of);
                return Ok(self.in_range(value, at.span(), "negate"));
            }
            ("signum", 0) if !unsigned => (format!("prim.sign({s})"), 9),
            ("clamp", 2) => {
                let line = format!("prim.select({a} <= {b}, 0, -1) >= 0");
                self.check(
                    at.span(),
                    What::Panic("clamp: the lower bound is above the upper one".to_string()),
                    &line,
                );
                (format!("prim.min(prim.max({s}, {a}), {b})"), 9)
            }
            ("checked_sub", 1) if unsigned => {
                let (a, b) = (
                    self.named(receiver.clone(), "left"),
                    self.named(arguments[0].clone(), "right"),
                );
                self.unify(&a.ty, &b.ty);
                let there = Value::name(format!("{} >= {}", a.text, b.text), Ty::Bool, 0);
                let text = format!("prim.max({} - {}, 0)", a.text, b.text);
                let difference = Value { least: 0, ..Value::name(text, ty, 0) };
                return Ok(self.option(there, difference));
            }
            ("saturating_sub", 1) if unsigned => {
                (format!("prim.max({} - {}, 0)", receiver.within(4), arguments[0].within(5)), 9)
            }
            ("abs_diff", 1) if unsigned => {
                (format!("prim.abs({} - {})", receiver.within(4), arguments[0].within(5)), 9)
            }
            ("wrapping_add" | "wrapping_sub" | "wrapping_mul", 1)
                if matches!(ty, Ty::I64 | Ty::U32) =>
            {
                let (op, level) = match name {
                    "wrapping_add" => ("+", 4),
                    "wrapping_sub" => ("-", 4),
                    _ => ("*", 5),
                };
                let (left, right) = (receiver.within(level), arguments[0].within(level + 1));
                match ty {
                    Ty::U32 => (format!("prim.bitand({left} {op} {right}, 4294967295)"), 9),
                    _ => (format!("{left} {op} {right}"), level),
                }
            }
            ("pow", 1) => {
                let known = arguments.first().and_then(literal).filter(|n| (0..=64).contains(n));
                if known.is_none_or(|n| n > 2) {
                    // What is no i64 may be one of 32 bits again.
                    let size = format!("prim.pow(prim.abs(f64({s})), f64({a}))");
                    let inside = format!("prim.select({size} < 9000000000000000000.0, 0, -1) >= 0");
                    for narrow in ["i32", "u32"] {
                        if let Some((open, close)) = self.only(narrow, &ty) {
                            let text = format!("check {inside}");
                            let line = self.at(at.span(), What::Overflow("multiply"), &text);
                            self.written_check(&open, &line, &close);
                        }
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
                        "the method `{name}` is not built for this integer: write it with operators and `if`"
                    ),
                );
            }
        };
        let least = if unsigned { 0 } else { i64::MIN };
        Ok(Value { least, ..Value::new(text, ty, level, &of) })
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
        if matches!(self.resolve(&rest.ty), Ty::Usize | Ty::U32) {
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

    /// `std::array::from_fn(f)`, where the type is known.
    pub fn made_by(&mut self, function: &Expr, n: &str, element: Ty) -> Result<Value, Refusal> {
        let index = self.names.unique("i");
        let item = crate::elements::Item::One(Value::name(index.clone(), Ty::Usize, 0));
        // Rows may be made in the same way.
        let rows = match crate::syntax::unwrapped(function) {
            Expr::Closure(closure) => is_from_fn(&closure.body),
            _ => false,
        };
        let (block, value) = self.nested(|this| {
            this.expected.wanted = rows.then(|| element.clone());
            let value = this.applied(function, vec![item])?;
            Ok(this.convert(value, &element))
        })?;
        let mut lines = block.lines;
        lines.push(value.text);
        let list = self.names.unique("list");
        let body = crate::lowering::indented(&lines);
        self.lines.push(format!("{list} = for ({index} < {n}) {{\n{body}\n}}"));
        Ok(Value::name(list, array(element, Extent::Fixed(n.to_string())), i64::MIN))
    }

    /// `x.map(f)` of an array of fixed size.
    pub fn each(
        &mut self,
        list: Value,
        n: Option<String>,
        function: &Expr,
    ) -> Result<Value, Refusal> {
        let whole = self.named(list, "list");
        let (n, extent) = match n {
            Some(n) => (n.clone(), Extent::Fixed(n)),
            None => (format!("size({})", whole.text), Extent::Slice),
        };
        let index = self.names.unique("i");
        let ty = self.element(&whole.ty);
        let element = Value::name(format!("{}[{index}]", whole.text), ty, i64::MIN);
        let item = crate::elements::Item::One(element);
        let (block, value) = self.nested(|this| this.applied(function, vec![item]))?;
        let mut lines = block.lines;
        lines.push(value.text);
        let list = self.names.unique("list");
        let body = crate::lowering::indented(&lines);
        self.lines.push(format!("{list} = for ({index} < {n}) {{\n{body}\n}}"));
        Ok(Value::name(list, array(value.ty, extent), i64::MIN))
    }
}

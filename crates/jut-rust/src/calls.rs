//! Calls of functions, methods and macros.

use crate::expression::{Value, unit, unwrapped};
use crate::function::Lowering;
use crate::methods::{self, fill};
use crate::operators::literal;
use crate::template::{Hole, What};
use crate::types::{Extent, Ty, array};
use crate::{Refusal, refuse};
use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote};
use syn::parse::Parser;
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{Expr, ExprCall, ExprMethodCall, Lit, Macro, PathArguments, Token};

impl Lowering<'_> {
    /// A call of a function. Where its value is a number or truth value for certain (`inline`), it needs no name.
    pub fn call(&mut self, call: &ExprCall, inline: bool) -> Result<Value, Refusal> {
        let Expr::Path(path) = unwrapped(&call.func) else {
            return refuse(&call.func, "a function is called by its name here");
        };
        if let Some(q) = &path.qself {
            return refuse(
                &q.ty,
                "a path through a trait is not built: call a function by its own path",
            );
        }
        if let Some(ident) = path.path.get_ident()
            && self.lookup(&ident.to_string()).is_some()
        {
            return refuse(
                path,
                "closures are not built yet: call a function that has this attribute",
            );
        }
        let Some(last) = path.path.segments.last() else {
            return refuse(path, "a function is expected here");
        };
        if let PathArguments::AngleBracketed(arguments) = &last.arguments {
            return refuse(
                arguments,
                "generic functions are not built yet: write the function for `f64`",
            );
        }
        let name = last.ident.to_string();
        let arguments: Vec<&Expr> = call.args.iter().collect();
        let before = path.path.segments.iter().rev().nth(1).map(|s| s.ident.to_string());
        match before.as_deref() {
            Some("f64" | "i64" | "i32" | "usize") => {
                let values = self.operands(&arguments)?;
                let Some((receiver, rest)) = values.split_first() else {
                    return refuse(path, format!("`{name}` is not built"));
                };
                let ty = match before.as_deref() {
                    Some("f64") => Ty::F64,
                    Some("i64") => Ty::I64,
                    Some("i32") => Ty::I32,
                    _ => Ty::Usize,
                };
                let receiver = self.convert(receiver.clone(), &ty);
                return self.number_method(&name, receiver, rest, &last.ident);
            }
            Some("Vec") => {
                return refuse(
                    path,
                    "a `Vec` that grows is not built: write `vec![0.0; n]`, and assign its elements",
                );
            }
            Some("Box" | "Rc" | "Arc" | "String" | "Some" | "Option") => {
                return refuse(path, "this is not built: use numbers, arrays and tuples");
            }
            _ => {}
        }
        if matches!(name.as_str(), "Some" | "Ok" | "Err" | "drop") {
            return refuse(path, format!("`{name}` is not built: use numbers, arrays and tuples"));
        }
        let values = self.sequence(&arguments)?;
        let texts: Vec<&str> = values.iter().map(|v| v.text.as_str()).collect();
        let hole = self.hole(Hole::Function(path.to_token_stream()));
        let text = self.at(call.span(), What::Same, &format!("$c{hole}$({})", texts.join(", ")));
        let all: Vec<&Value> = values.iter().collect();
        let value = Value::new(text, Ty::Of(hole, Vec::new()), 9, &all).costly();
        if inline {
            return Ok(value);
        }
        let (size, name) = (self.names.unique("n_value"), self.names.unique("value"));
        self.lines.push(format!(
            "$if vec {hole}$({size}, $end${name}$if vec {hole}$)$end$ = {}",
            value.text
        ));
        Ok(Value::name(name, value.ty, i64::MIN))
    }

    /// A method of a number or an array.
    pub fn method_call(&mut self, call: &ExprMethodCall) -> Result<Value, Refusal> {
        let name = call.method.to_string();
        if crate::chains::is_chain(call) {
            return self.chain(call);
        }
        if let Some(turbofish) = &call.turbofish {
            return refuse(turbofish, "this call with types is not built: write a `for` loop");
        }
        // What a function gives is an array for some methods, and a number for the others.
        let whole = ["len", "is_empty", "to_vec", "clone", "to_owned", "as_slice", "as_ref"];
        let receiver = match whole.contains(&name.as_str()) {
            true => self.expression(&call.receiver)?,
            false => self.operand(&call.receiver)?,
        };
        let ty = self.resolve(&receiver.ty);
        let arguments: Vec<&Expr> = call.args.iter().collect();
        match (&ty, name.as_str()) {
            (Ty::Array(_, Extent::Fixed(n)), "len") => {
                let least = n.parse().unwrap_or(0);
                return Ok(Value::name(n.clone(), Ty::Usize, least));
            }
            (Ty::Array(..) | Ty::Of(..), "len" | "is_empty") => {
                let whole = self.named(receiver, "list");
                let length = Value::name(format!("size({})", whole.text), Ty::Usize, 0);
                return Ok(match name.as_str() {
                    "len" => length,
                    _ => Value::new(format!("{} == 0", length.text), Ty::Bool, 3, &[]),
                });
            }
            (Ty::Array(element, _), "to_vec") => {
                let ty = array((**element).clone(), Extent::Vec);
                return Ok(Value { ty, ..receiver });
            }
            (Ty::Array(..), "clone" | "to_owned" | "as_slice" | "as_ref") => return Ok(receiver),
            (
                Ty::F64 | Ty::I64 | Ty::I32 | Ty::Usize | Ty::Bool | Ty::Of(..),
                "clone" | "to_owned",
            ) => {
                return Ok(receiver);
            }
            (
                Ty::Array(..),
                "iter" | "into_iter" | "iter_mut" | "windows" | "chunks" | "first" | "last",
            ) => {
                return refuse(
                    &call.method,
                    "this use of an iterator is not built: end it by `sum`, `product`, `fold`, `all`, `any` or `collect`, or write a `for` loop",
                );
            }
            (Ty::Array(..), "push" | "pop" | "extend" | "resize" | "insert") => {
                return refuse(
                    &call.method,
                    "an array keeps its length here: write `vec![0.0; n]`, and assign its elements",
                );
            }
            (Ty::Array(..), _) => {
                return refuse(
                    &call.method,
                    format!(
                        "`{name}` of an array is not built: `len`, `is_empty`, `to_vec`, `clone`, `swap` and `fill` are"
                    ),
                );
            }
            _ => {}
        }
        if let Expr::Range(_) = unwrapped(&call.receiver) {
            return refuse(&call.method, "a range stands in a `for` only");
        }
        let assigned = self.assigned;
        let values = self.operands(&arguments)?;
        if self.assigned > assigned && !receiver.stable {
            return refuse(
                &call.receiver,
                "bind this to a name before: its arguments assign variables",
            );
        }
        self.number_method(&name, receiver, &values, &call.method)
    }

    /// A method of a number with its arguments.
    fn number_method(
        &mut self,
        name: &str,
        receiver: Value,
        arguments: &[Value],
        at: &syn::Ident,
    ) -> Result<Value, Refusal> {
        let ty = self.resolve(&receiver.ty);
        let shared = methods::SHARED.contains(&name);
        if let Ty::Of(..) = ty
            && shared
            && !arguments.iter().any(|a| self.resolve(&a.ty) == Ty::F64)
        {
            return refuse(
                at,
                "the type of this is not known here: bind it to a name with its type before, `let x: f64 = ..;`",
            );
        }
        if ty.is_integer() {
            return self.integer_method(name, receiver, arguments, at);
        }
        if !matches!(ty, Ty::F64 | Ty::Of(..)) {
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
        for argument in arguments {
            let wanted = if name == "powi" { Ty::I32 } else { Ty::F64 };
            self.unify(&argument.ty, &wanted);
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
        let text = fill(text, &receiver.text, &texts);
        let ty = match name {
            "sin_cos" => Ty::Tuple(vec![Ty::F64, Ty::F64]),
            "is_nan" | "is_finite" | "is_infinite" => Ty::Bool,
            _ => Ty::F64,
        };
        let mut of = vec![&receiver];
        of.extend(&arguments);
        let value = Value::new(text, ty, 9, &of);
        let light =
            ["abs", "max", "min", "is_nan", "is_finite", "is_infinite", "floor", "ceil", "trunc"];
        Ok(if light.contains(&name) { value } else { value.costly() })
    }

    fn integer_method(
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
        let unsigned = ty == Ty::Usize;
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
            ("saturating_sub", 1) if unsigned => {
                (format!("prim.max({} - {}, 0)", receiver.within(4), arguments[0].within(5)), 9)
            }
            ("abs_diff", 1) if unsigned => {
                (format!("prim.abs({} - {})", receiver.within(4), arguments[0].within(5)), 9)
            }
            ("wrapping_add" | "wrapping_sub" | "wrapping_mul", 1) if ty == Ty::I64 => {
                let (op, level) = match name {
                    "wrapping_add" => ("+", 4),
                    "wrapping_sub" => ("-", 4),
                    _ => ("*", 5),
                };
                (
                    format!("{} {op} {}", receiver.within(level), arguments[0].within(level + 1)),
                    level,
                )
            }
            ("pow", 1) => {
                let Some(n) = arguments.first().and_then(literal).filter(|n| (0..=64).contains(n))
                else {
                    return refuse(at, "the exponent must be a literal here: write a loop");
                };
                let value = Value::new(format!("{}^{n}", receiver.within(9)), ty, 7, &of);
                return Ok(self.in_range(value, at.span(), "multiply"));
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

    /// A macro: `vec!`, and those that assert or give up.
    pub fn macro_call(&mut self, call: &Macro) -> Result<Value, Refusal> {
        let name = call.path.segments.last().map(|s| s.ident.to_string()).unwrap_or_default();
        let arguments = |tokens: TokenStream| -> Result<Vec<Expr>, Refusal> {
            let parser = Punctuated::<Expr, Token![,]>::parse_terminated;
            let list = parser
                .parse2(tokens)
                .map_err(|e| Refusal { span: Some(e.span()), message: e.to_string() })?;
            Ok(list.into_iter().collect())
        };
        match name.as_str() {
            "vec" => {
                let repeat = |input: syn::parse::ParseStream| -> syn::Result<(Expr, Expr)> {
                    let value = input.parse()?;
                    input.parse::<Token![;]>()?;
                    Ok((value, input.parse()?))
                };
                if let Ok((value, length)) = repeat.parse2(call.tokens.clone()) {
                    let length = self.operand(&length)?;
                    let length = self.convert(length, &Ty::Usize);
                    let length = match literal(&length) {
                        Some(_) => length,
                        None => self.named(length, "n"),
                    };
                    return self.repeated(&value, length.text, Extent::Vec);
                }
                let items = arguments(call.tokens.clone())?;
                let items: Vec<&Expr> = items.iter().collect();
                self.list(&items, Extent::Vec, call)
            }
            "assert" | "debug_assert" => {
                let all = arguments(call.tokens.clone())?;
                let Some(condition) = all.first() else {
                    return refuse(call, "a condition is expected");
                };
                let said = match all.get(1) {
                    Some(text) => message_of(text),
                    None => {
                        let written = condition.to_token_stream().to_string();
                        format!("assertion failed: {}", tidy(&written))
                    }
                };
                self.assertion(call.span(), name.starts_with("debug"), said, |this| {
                    this.operand(condition)
                })
            }
            "assert_eq" | "assert_ne" | "debug_assert_eq" | "debug_assert_ne" => {
                let all = arguments(call.tokens.clone())?;
                let [left, right, rest @ ..] = &all[..] else {
                    return refuse(call, "two values are expected");
                };
                let op = if name.ends_with("eq") { "==" } else { "!=" };
                let said = match rest.first() {
                    Some(text) => message_of(text),
                    None => format!("assertion `left {op} right` failed"),
                };
                self.assertion(call.span(), name.starts_with("debug"), said, |this| {
                    let values = this.operands(&[left, right])?;
                    let [a, b] = &values[..] else { return Ok(unit()) };
                    this.operation(op, a.clone(), b.clone(), call, call.span())
                })
            }
            "panic" | "unreachable" | "todo" | "unimplemented" => {
                let all = arguments(call.tokens.clone()).unwrap_or_default();
                let said = all.first().map_or(format!("`{name}!`"), message_of);
                self.check(call.span(), What::Panic(said), "-1 >= 0");
                Ok(Value::name(String::new(), Ty::Never, i64::MIN))
            }
            "println" | "eprintln" | "print" | "eprint" | "dbg" | "format" | "write"
            | "writeln" => refuse(
                &call.path,
                "text is not built: take this line out, or put it where the function is called",
            ),
            _ => refuse(&call.path, "this macro is not built: write what it stands for"),
        }
    }

    /// A check of a condition; of one that is there in debug builds only, if it is one of these.
    fn assertion(
        &mut self,
        span: Span,
        debug: bool,
        said: String,
        condition: impl FnOnce(&mut Self) -> Result<Value, Refusal>,
    ) -> Result<Value, Refusal> {
        if !debug {
            let condition = condition(self)?;
            self.asserted(span, &condition, said);
            return Ok(unit());
        }
        let on = self.constant(quote!(::core::cfg!(debug_assertions)));
        let (block, ()) = self.nested(|this| {
            let condition = condition(this)?;
            this.asserted(span, &condition, said);
            Ok(())
        })?;
        self.chosen(on, (block, None), Default::default());
        Ok(unit())
    }
}

/// The text of a message, as it is written.
fn message_of(expr: &Expr) -> String {
    match expr {
        Expr::Lit(literal) => match &literal.lit {
            Lit::Str(text) => text.value(),
            other => other.to_token_stream().to_string(),
        },
        other => tidy(&other.to_token_stream().to_string()),
    }
}

/// Tokens nearly as they were written.
fn tidy(tokens: &str) -> String {
    let mut text =
        tokens.replace(" . ", ".").replace(" (", "(").replace(" [", "[").replace(" ,", ",");
    for (from, to) in [("( ", "("), (" )", ")"), (" ]", "]"), ("& ", "&"), ("! ", "!")] {
        text = text.replace(from, to);
    }
    text
}

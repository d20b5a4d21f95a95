//! Calls of functions, methods and macros.

use crate::expression::{Value, unit, unwrapped};
use crate::function::{Local, Lowering};
use crate::methods::{self, fill};
use crate::operators::literal;
use crate::template::{Hole, What};
use crate::types::{Extent, Step, Ty, array};
use crate::{Refusal, refuse};
use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::parse::Parser;
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{Expr, ExprCall, ExprMethodCall, GenericArgument, Lit, Macro, PathArguments, Token};

/// Whether what stands in `f::<..>(..)` is a length: a number, or a constant by its name.
fn is_length(argument: &GenericArgument) -> bool {
    match argument {
        GenericArgument::Const(_) => true,
        GenericArgument::Type(syn::Type::Path(path)) => {
            let last = path.path.segments.last().map(|s| s.ident.to_string()).unwrap_or_default();
            last.chars().all(|c| !c.is_lowercase())
        }
        _ => false,
    }
}

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
        let local = path.path.get_ident().and_then(|i| self.lookup(&i.to_string())).cloned();
        if let Some(local) = local {
            return self.local_call(&local, call);
        }
        let Some(last) = path.path.segments.last() else {
            return refuse(path, "a function is expected here");
        };
        let name = last.ident.to_string();
        // The lengths in `f::<3>(..)` are found by the arguments too.
        if let PathArguments::AngleBracketed(arguments) = &last.arguments
            && !arguments.args.iter().all(is_length)
        {
            return refuse(
                arguments,
                "generic functions are not built yet: write the function for `f64`; lengths, `f::<3>(..)`, are built",
            );
        }
        let mut named = path.path.clone();
        if let Some(last) = named.segments.last_mut() {
            last.arguments = PathArguments::None;
        }
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
        if let Some((owner, variant)) = crate::enums::variant_of(&path.path) {
            let fields: Vec<(syn::Member, &Expr)> =
                arguments.iter().enumerate().map(|(k, e)| (syn::Member::from(k), *e)).collect();
            return self.variant(&owner, &variant, &fields);
        }
        if starts_upper(&name) {
            return self.constructed(&path.path, &arguments);
        }
        let function = match path.path.segments.iter().rev().nth(1) {
            // A function of a type is found by the type.
            Some(ty) if starts_upper(&ty.ident.to_string()) => {
                let mut owner = path.path.clone();
                owner.segments.pop();
                owner.segments.pop_punct();
                Hole::Method(
                    quote_spanned!(last.ident.span()=> ::jut::rust::of::<#owner>()),
                    key(&name),
                )
            }
            _ => Hole::Function(named.to_token_stream()),
        };
        let open = self.targets.len();
        let hole = self.hole(function);
        let values = self.arguments(&arguments, hole, 0)?;
        let targets = self.targets.split_off(open);
        self.linked(hole, values, targets, call.span(), inline)
    }

    /// A call of what rustc finds.
    fn linked(
        &mut self,
        hole: usize,
        values: Vec<Value>,
        targets: Vec<Option<String>>,
        span: Span,
        inline: bool,
    ) -> Result<Value, Refusal> {
        let texts: Vec<&str> = values.iter().map(|v| v.text.as_str()).collect();
        let text = self.at(span, What::Same, &format!("$c{hole}$({})", texts.join(", ")));
        let all: Vec<&Value> = values.iter().collect();
        let value = Value::new(text, Ty::Of(hole, Vec::new()), 9, &all).costly();
        let changing = targets.iter().any(Option::is_some);
        if inline && !changing {
            return Ok(value);
        }
        let (size, name) = (self.names.unique("n_value"), self.names.unique("value"));
        if !changing {
            self.lines.push(format!(
                "$if vec {hole}$($names {hole} {size}$$end${name}$if vec {hole}$)$end$ = {}",
                value.text
            ));
            return Ok(Value::name(name, value.ty, i64::MIN));
        }
        // What the function makes of these arguments are results behind its own; whether it does, its type says.
        let mut names = format!("$names {hole} {size}$$if value {hole}${name}, $end$");
        let mut after = Vec::new();
        for (k, target) in targets.iter().enumerate() {
            let Some(place) = target else { continue };
            let changed = self.names.unique("changed");
            names.push_str(&format!("$if changed {hole} {k}${changed}, $end$"));
            if !place.is_empty() {
                after.push(format!("$if changed {hole} {k}${place} = {changed}$end$"));
            }
        }
        self.lines.push(format!("({names}) = {}", value.text));
        self.lines.extend(after);
        self.assigned += 1;
        Ok(Value::name(name, value.ty, i64::MIN))
    }

    /// `Point(x, y)` of a tuple struct.
    fn constructed(&mut self, path: &syn::Path, arguments: &[&Expr]) -> Result<Value, Refusal> {
        let values = self.sequence(arguments)?;
        let hole = self.data(path);
        let mut text = format!("$make {hole}");
        for (k, value) in values.into_iter().enumerate() {
            self.unify(&value.ty, &Ty::Of(hole, vec![Step::Component(k)]));
            let value = self.settled(value, "part");
            text.push_str(&format!(" {k}={value}"));
        }
        self.record(text, hole)
    }

    /// A method of a struct, found by the type of what it is called on; or what that is, if it is no struct.
    fn user_method(&mut self, call: &ExprMethodCall) -> Result<Result<Value, Value>, Refusal> {
        let name = call.method.to_string();
        let open = self.targets.len();
        let (receiver, target) = match self.root(&call.receiver).is_some_and(|l| l.mutable) {
            true => {
                // Most methods change nothing.
                let (place, _) = self.looked_at(&call.receiver)?;
                (Value { level: 9, ..place.clone() }, Some(place.text))
            }
            false => (self.expression(&call.receiver)?, None),
        };
        let Ty::Of(hole, steps) = self.resolve(&receiver.ty) else {
            return Ok(Err(receiver));
        };
        let Some(mut owner) = self.holes.get(hole).and_then(|h| match h {
            Hole::Data(path) => Some(quote!(::jut::rust::of::<#path>())),
            Hole::Function(path) => Some(quote!(::jut::rust::given::<#path, _>())),
            Hole::Method(owner, key) => Some(quote!(::jut::rust::result::<#key, _, _>(#owner))),
            Hole::Constant(_) | Hole::Length(_) => None,
        }) else {
            return refuse(
                &call.receiver,
                "bind this to a name with its type before: `let x: T = ..;`",
            );
        };
        // Errors about the method are at its name.
        let at = call.method.span();
        for step in &steps {
            owner = match step {
                Step::Element => quote!(::jut::rust::element(#owner)),
                Step::Argument(..) => {
                    return refuse(
                        &call.receiver,
                        "write the type of this parameter of the closure: `|x: T| ..`",
                    );
                }
                other => {
                    let key = key(&other.to_string());
                    quote!(::jut::rust::field::<#key, _, _>(#owner))
                }
            };
        }
        let owner = owner
            .into_iter()
            .map(|mut t| {
                t.set_span(at.located_at(t.span()));
                t
            })
            .collect();
        let arguments: Vec<&Expr> = call.args.iter().collect();
        let assigned = self.assigned;
        let hole = self.hole(Hole::Method(owner, key(&name)));
        let rest = self.arguments(&arguments, hole, 1)?;
        if self.assigned > assigned && !receiver.stable && target.is_none() {
            return refuse(
                &call.receiver,
                "bind this to a name before: its arguments assign variables",
            );
        }
        let mut targets = vec![target];
        targets.extend(self.targets.split_off(open));
        let values: Vec<Value> = [receiver].into_iter().chain(rest).collect();
        self.linked(hole, values, targets, call.span(), false).map(Ok)
    }

    /// The variable that a place is in.
    pub fn root(&self, place: &Expr) -> Option<&Local> {
        match unwrapped(place) {
            Expr::Path(path) => path.path.get_ident().and_then(|i| self.lookup(&i.to_string())),
            Expr::Index(index) => self.root(&index.expr),
            Expr::Field(field) => self.root(&field.base),
            Expr::Unary(unary) if matches!(unary.op, syn::UnOp::Deref(_)) => self.root(&unary.expr),
            _ => None,
        }
    }

    /// The arguments of a call. What those refer to that may be changed is left in `targets`, one for each; nothing of what
    /// has no name.
    fn arguments(
        &mut self,
        arguments: &[&Expr],
        hole: usize,
        first: usize,
    ) -> Result<Vec<Value>, Refusal> {
        let open = self.targets.len();
        self.in_order(arguments, |this, argument| {
            let k = first + this.targets.len() - open;
            if let Some(value) = this.function_argument(argument, hole, k)? {
                this.targets.push(None);
                return Ok(value);
            }
            let (value, target) = match unwrapped(argument) {
                Expr::Reference(reference)
                    if reference.mutability.is_some() && is_place(&reference.expr) =>
                {
                    let (place, _) = this.part(&reference.expr)?;
                    let value = Value { level: 9, ..place.clone() };
                    (value, Some(place.text))
                }
                // What nobody can look at afterwards.
                Expr::Reference(reference) if reference.mutability.is_some() => {
                    (this.expression(&reference.expr)?, Some(String::new()))
                }
                Expr::Path(path) => {
                    let found = path.path.get_ident().and_then(|i| this.lookup(&i.to_string()));
                    let target = found.filter(|l| l.reference).map(|l| l.name.clone());
                    (this.expression(argument)?, target)
                }
                _ => (this.expression(argument)?, None),
            };
            this.targets.push(target);
            Ok(value)
        })
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
        let whole = ["len", "is_empty", "to_vec", "clone", "to_owned", "as_slice", "as_ref"];
        let iterates = ["iter", "into_iter", "iter_mut", "windows", "chunks"];
        let receiver = if whole.contains(&name.as_str()) || iterates.contains(&name.as_str()) {
            self.expression(&call.receiver)?
        } else if methods::is_known(&name) {
            // What a function gives is a number here.
            self.operand(&call.receiver)?
        } else {
            match self.user_method(call)? {
                Ok(value) => return Ok(value),
                Err(receiver) => receiver,
            }
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
            && let ("abs" | "max" | "min" | "signum", true) =
                (name, arguments.iter().all(|a| a.stable))
            && let (Some(float), Some(integer)) = (self.only("f64", &ty), self.only("int", &ty))
            && !arguments
                .iter()
                .any(|a| self.resolve(&a.ty) == Ty::F64 || self.resolve(&a.ty).is_integer())
        {
            // A float or an integer: rustc knows.
            let texts: Vec<&str> = arguments.iter().map(|a| a.text.as_str()).collect();
            let known = methods::F64.iter().find(|(n, _, _)| *n == name).map_or("", |m| m.2);
            let text = fill(known, &receiver.text, &texts);
            let prim = if name == "signum" { "sign" } else { name };
            let all: Vec<&str> = [receiver.text.as_str()].into_iter().chain(texts).collect();
            let other = format!("prim.{prim}({})", all.join(", "));
            let text = format!("{}{text}{}{}{other}{}", float.0, float.1, integer.0, integer.1);
            let mut of = vec![&receiver];
            of.extend(arguments);
            let value = Value::new(text, ty, 9, &of);
            return Ok(if name == "abs" {
                self.in_range(value, at.span(), "negate")
            } else {
                value
            });
        }
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

/// Whether a name is that of a type.
fn starts_upper(name: &str) -> bool {
    name.trim_start_matches("r#").starts_with(|c: char| c.is_uppercase())
}

/// The number by which a field or method is found.
pub(crate) fn key(name: &str) -> u64 {
    let name = name.trim_start_matches("r#");
    name.bytes()
        .fold(0xcbf2_9ce4_8422_2325, |k, b| (k ^ u64::from(b)).wrapping_mul(0x100_0000_01b3))
}

/// Whether an expression is a place, of which `&mut` changes what is there.
fn is_place(expr: &Expr) -> bool {
    match unwrapped(expr) {
        Expr::Path(_) | Expr::Unary(_) => true,
        Expr::Index(index) => is_place(&index.expr),
        Expr::Field(field) => is_place(&field.base),
        _ => false,
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

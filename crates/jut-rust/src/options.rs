//! `Option`: what `x.last()`, `x.iter().position(..)` or `Some(v)` give, until it is taken apart.
//!
//! In the text it is a pair, whether there is a value, and that value or some other which nobody reads:
//!
//! ```text
//! let i = t.iter().position(|v| *v > x).unwrap_or(0);      option = #(found, at)
//!                                                          i = if option.0 { option.1 } else { 0 }
//! ```
//!
//! So a value needs a type without sizes of its own, and `None` a type beside it. As a parameter it is two parameters of the text, by the
//! second of which derivatives are; as a result it is the pair.

use crate::elements::Item;
use crate::iterators::is_iterator;
use crate::lowering::Lowering;
use crate::syntax::{OF_OPTIONS, unwrapped};
use crate::template::Hole;
use crate::types::{Extent, Step, Ty};
use crate::value::Value;
use crate::{Refusal, refuse};
use syn::{Expr, ExprMethodCall, Pat, Stmt};

/// Those of them that nothing else has.
pub(crate) const OWN: &[&str] = &[
    "unwrap",
    "expect",
    "unwrap_or",
    "unwrap_or_else",
    "unwrap_or_default",
    "and_then",
    "or_else",
    "map_or",
    "map_or_else",
    "is_some",
    "is_none",
    "is_some_and",
    "is_none_or",
    "as_deref",
];

/// What is said where nothing tells what a `None` is one of.
pub(crate) const NONE: &str = "write of what this is none: `let x: Option<f64> = None;`";

/// An order: the two sides of `|a, b| LEFT.partial_cmp(RIGHT).unwrap()`, and what the closure's parameters are.
pub(crate) struct Compared<'e> {
    pub first: &'e Pat,
    pub second: &'e Pat,
    pub left: &'e Expr,
    pub right: &'e Expr,
    /// Whether it is that of `total_cmp`, which has a place for all floats.
    pub total: bool,
    /// Whether what has no order counts as equal, `.unwrap_or(Ordering::Equal)`.
    pub equal: bool,
}

/// Reads an order.
pub(crate) fn compared(order: &Expr) -> Result<Compared<'_>, Refusal> {
    let Expr::Closure(closure) = unwrapped(order) else { return refuse(order, ORDER) };
    let Sides { left, right, total, equal } = sides(&closure.body)?;
    match &closure.inputs.iter().collect::<Vec<_>>()[..] {
        [first, second] => Ok(Compared { first, second, left, right, total, equal }),
        _ => refuse(&closure.body, ORDER),
    }
}

/// What an order compares: see [`Compared`].
pub(crate) struct Sides<'e> {
    pub left: &'e Expr,
    pub right: &'e Expr,
    pub total: bool,
    pub equal: bool,
}

impl Sides<'_> {
    /// Whether all numbers have this order.
    pub fn never_fails(&self) -> bool {
        self.total || self.equal
    }
}

const ORDER: &str =
    "write the order as `|a, b| a.total_cmp(b)`, or `|a, b| a.partial_cmp(b).unwrap()` here";

/// Reads the two sides of `LEFT.partial_cmp(RIGHT).unwrap()`.
pub(crate) fn sides(body: &Expr) -> Result<Sides<'_>, Refusal> {
    let (whole, mut body, mut equal) = (body, unwrapped(body), false);
    if let Expr::MethodCall(call) = body
        && call.method == "unwrap_or"
        && let Some(Expr::Path(other)) = call.args.first()
        && other.path.segments.last().is_some_and(|s| s.ident == "Equal")
    {
        (body, equal) = (unwrapped(&call.receiver), true);
    }
    if let Expr::MethodCall(call) = body
        && (call.method == "unwrap" || call.method == "expect")
    {
        body = unwrapped(&call.receiver);
    }
    match body {
        Expr::MethodCall(call)
            if ["partial_cmp", "cmp", "total_cmp"].iter().any(|n| call.method == n)
                && call.args.len() == 1 =>
        {
            let (left, right) = (&*call.receiver, &call.args[0]);
            let total = call.method == "total_cmp";
            // Integers always have an order.
            let equal = equal || call.method == "cmp";
            Ok(Sides { left, right, total, equal })
        }
        Expr::MethodCall(call) => refuse(&call.method, ORDER),
        _ => refuse(whole, ORDER),
    }
}

/// A closure without the `Some` round its value: that of a `scan` that goes to the end.
pub(crate) fn always(closure: &Expr) -> Result<Expr, Refusal> {
    const SAID: &str = "the closure of a `scan` ends with `Some(..)` here: write a `for` loop";
    fn inner(expr: &Expr) -> Option<Expr> {
        match expr {
            Expr::Call(call) => match unwrapped(&call.func) {
                Expr::Path(path) if path.path.is_ident("Some") => call.args.first().cloned(),
                _ => None,
            },
            Expr::Block(block) => {
                let mut block = block.clone();
                let Some(Stmt::Expr(last, None)) = block.block.stmts.last_mut() else {
                    return None;
                };
                *last = inner(last)?;
                Some(Expr::Block(block))
            }
            _ => None,
        }
    }
    let Expr::Closure(given) = unwrapped(closure) else { return refuse(closure, SAID) };
    let Some(body) = inner(&given.body) else { return refuse(&given.body, SAID) };
    Ok(Expr::Closure(syn::ExprClosure { body: Box::new(body), ..given.clone() }))
}

impl Lowering<'_> {
    /// An `Option`, under a name.
    pub fn option(&mut self, there: Value, value: Value) -> Value {
        let name = self.names.unique("option");
        self.lines.push(format!("{name} = #({}, {})", there.text, value.text));
        Value::name(name, Ty::Option(Box::new(value.ty)), i64::MIN)
    }

    /// `Some(e)` as an argument, which may be one of a list: what a `None` would be is nobody's question there.
    pub fn some_argument(&mut self, call: &syn::ExprCall) -> Result<Value, Refusal> {
        let value = self.expression(&call.args[0])?;
        if value.ty == Ty::Unit {
            return refuse(&call.args[0], "an `Option` is of numbers, structs and arrays");
        }
        Ok(self.option(Value::name("true".to_string(), Ty::Bool, 0), value))
    }

    /// `Some(e)`.
    pub fn some(&mut self, at: &Expr) -> Result<Value, Refusal> {
        let value = self.expression(at)?;
        if matches!(value.ty, Ty::Array(_, Extent::Slice | Extent::Vec) | Ty::Unit) {
            return refuse(at, "an `Option` is of numbers, structs and arrays of fixed size");
        }
        Ok(self.option(Value::name("true".to_string(), Ty::Bool, 0), value))
    }

    /// What rustc knows to be an `Option` as a pair: in a type that holds itself it is none.
    pub fn as_pair(&self, value: Value) -> Value {
        let Ty::Of(hole, mut steps) = self.resolve(&value.ty) else { return value };
        let path = crate::types::words(&steps);
        let text = format!("$pair {hole}{path}${}$paired {hole}{path}$", value.text);
        steps.push(Step::Component(1));
        let ty = Ty::Option(Box::new(Ty::Of(hole, steps)));
        Value { text, ty, level: 9, least: i64::MIN, ..value }
    }

    /// A pair as what rustc knows to be an `Option`.
    pub fn as_known(&self, value: Value, hole: usize, steps: &[Step]) -> Value {
        let path = crate::types::words(steps);
        let text = match value.text.is_empty() {
            true => format!("$nothing {hole}{path}$"),
            false => format!("$option {hole}{path}${}$optioned {hole}{path}$", value.text),
        };
        Value { text, ty: Ty::Of(hole, steps.to_vec()), level: 9, ..value }
    }

    /// The parts of an `Option` that has a name.
    pub fn option_parts(&self, option: &Value) -> (Value, Value) {
        let option = &self.as_pair(option.clone());
        let ty = match self.resolve(&option.ty) {
            Ty::Option(inner) => *inner,
            other => other,
        };
        let least = if ty == Ty::Usize { 0 } else { i64::MIN };
        let part = |k: usize, ty: Ty, least: i64| Value {
            stable: option.stable,
            ..Value::name(format!("{}.{k}", option.text), ty, least)
        };
        (part(0, Ty::Bool, 0), part(1, ty, least))
    }

    /// `x.first()`, `x.last()`, `x.get(i)` of a list.
    pub fn element_option(&mut self, list: Value, call: &ExprMethodCall) -> Result<Value, Refusal> {
        let list = self.named(list, "list");
        if let (true, Some(Expr::Range(range))) =
            (call.method == "get", call.args.first().map(unwrapped))
        {
            return self.part_option(&list, range);
        }
        let ty = self.element(&list.ty);
        let size = format!("size({})", list.text);
        let (there, at) = match (call.method.to_string().as_str(), call.args.first()) {
            ("first", None) => (format!("{size} > 0"), "0".to_string()),
            // Of what has no elements for certain, the text refuses an index below zero.
            ("last", None) => (format!("{size} > 0"), format!("prim.max({size} - 1, 0)")),
            ("get", Some(at)) => {
                let at = self.operand(at)?;
                let at = self.convert(at, &Ty::Usize);
                let at = self.named(at, "at").text;
                (format!("{at} < {size}"), at)
            }
            _ => return refuse(&call.method, "another number of arguments is expected"),
        };
        let element = Value::name(format!("{}[{at}]", list.text), ty, i64::MIN);
        if self.operators.lists {
            return Ok(self.element_or_none(&list, there, element));
        }
        // A list is there with its length, or without elements.
        let (lines, element) = self.nested(|this| Ok(this.made_row(element)))?;
        let ty = element.ty;
        let other = self.neutral(&ty, &call.method)?;
        let name = self.names.unique("option");
        let lines: String = lines.lines.iter().map(|line| format!("{line}; ")).collect();
        self.lines.push(format!(
            "{name} = if {there} {{ {lines}#(true, {}) }} else {{ #(false, {other}) }}",
            element.text
        ));
        Ok(Value::name(name, Ty::Option(Box::new(ty)), i64::MIN))
    }

    /// `x.get(a..b)`: where the part is not all there, what there is of it, which nobody reads.
    fn part_option(&mut self, list: &Value, range: &syn::ExprRange) -> Result<Value, Refusal> {
        let size = format!("size({})", list.text);
        let end = |this: &mut Self, at: Option<&Expr>, other: &str| -> Result<String, Refusal> {
            match at {
                None => Ok(other.to_string()),
                Some(at) => {
                    let at = this.operand(at)?;
                    let at = this.convert(at, &Ty::Usize);
                    Ok(this.named(at, "at").text)
                }
            }
        };
        let from = end(self, range.start.as_deref(), "0")?;
        let to = end(self, range.end.as_deref(), &size)?;
        let to = match (&range.end, range.limits) {
            (Some(_), syn::RangeLimits::Closed(_)) => format!("{to} + 1"),
            _ => to,
        };
        let [first, last, there, option] =
            ["first", "last", "there", "option"].map(|name| self.names.unique(name));
        self.lines.extend([
            format!("{first} = prim.min({from}, {size})"),
            format!("{last} = prim.max(prim.min({to}, {size}), {first})"),
            format!("{there} = {from} <= {to} && {to} <= {size}"),
            format!("{option} = #({there}, {}[{first} .. {last}])", list.text),
        ]);
        let part = crate::types::array(self.element(&list.ty), Extent::Slice);
        Ok(Value::name(option, Ty::Option(Box::new(part)), i64::MIN))
    }

    /// `rows.last().unwrap()` of a list of lists, of which an `Option` would have no size; nothing if it is none.
    fn element_for_certain(&mut self, call: &ExprMethodCall) -> Result<Option<Value>, Refusal> {
        let Expr::MethodCall(inner) = unwrapped(&call.receiver) else { return Ok(None) };
        let said = match (call.method.to_string().as_str(), call.args.first()) {
            ("unwrap", None) => "called `Option::unwrap()` on a `None` value".to_string(),
            ("expect", Some(Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. }))) => {
                text.value()
            }
            _ => return Ok(None),
        };
        let ends = ["first", "last"].iter().any(|name| inner.method == name);
        let own = self.is_struct(&inner.receiver);
        if !ends || !inner.args.is_empty() || !is_plain(&inner.receiver) || own {
            return Ok(None);
        }
        if self.partial_list(&inner.receiver).is_some() {
            return Ok(None);
        }
        let asked = self.asked_element(inner);
        let before = self.lines.len();
        let list = self.expression(&inner.receiver)?;
        if !matches!(self.resolve(&list.ty), Ty::Array(..) | Ty::Of(..)) {
            return Ok(None);
        }
        let list = self.named(list, "list");
        let ty = self.element(&list.ty);
        let size = format!("size({})", list.text);
        let there = Value::name(format!("{size} > 0"), Ty::Bool, 0);
        self.asserted(call.method.span(), &there, said.clone());
        let at = if inner.method == "first" {
            "0".to_string()
        } else {
            format!("prim.max({size} - 1, 0)")
        };
        let element = Value::name(format!("{}[{at}]", list.text), ty, i64::MIN);
        if let Some(hole) = asked {
            self.of_numbers(hole, before);
            return self.own_element_for_certain(hole, inner, &element, call, said);
        }
        Ok(Some(self.named(Value { stable: list.stable, ..element }, "element")))
    }

    /// A method of an `Option`; nothing if the receiver is none.
    pub fn option_method(
        &mut self,
        call: &ExprMethodCall,
        expected: bool,
    ) -> Result<Option<Value>, Refusal> {
        let name = call.method.to_string();
        let taken = OF_OPTIONS.contains(&name.as_str());
        if !taken && name != "clone" && self.is_option(&call.receiver) {
            return refuse(
                &call.method,
                format!("`{name}` of an `Option` is not built: write `if let Some(v) = ..`"),
            );
        }
        if !taken || is_iterator(&call.receiver) && !ends(&call.receiver) {
            return Ok(None);
        }
        // A struct has methods of its own with such names.
        if self.is_struct(&call.receiver) {
            return Ok(None);
        }
        // What is no `Option` is looked at once more by the caller. What a function gives, or a field, is one if it has such a method.
        let called = matches!(
            unwrapped(&call.receiver),
            Expr::Call(_) | Expr::MethodCall(_) | Expr::Field(_) | Expr::Path(_)
        ) && OWN.contains(&name.as_str());
        if !expected && !called && !self.is_option(&call.receiver) {
            return Ok(None);
        }
        if let Some(element) = self.element_for_certain(call)? {
            return Ok(Some(element));
        }
        let sure = matches!((name.as_str(), call.args.len()), ("unwrap", 0) | ("expect", 1))
            && self.is_user_call(&call.receiver);
        self.expected.sure = sure;
        let option = match sure {
            true => self.expression(&call.receiver),
            false => self.optional(&call.receiver),
        };
        self.expected.sure = false;
        let option = option?;
        if let (true, Ty::Of(hole, steps)) = (sure, self.resolve(&option.ty))
            && steps.is_empty()
            && let Some(Hole::Sure(given)) = self.parts.holes.get(hole).cloned()
        {
            let said = match call.args.first() {
                None => "called `Option::unwrap()` on a `None` value".to_string(),
                Some(Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. })) => text.value(),
                Some(other) => return refuse(other, "write the message as a text"),
            };
            return Ok(Some(self.with_a_value(option, given, call.method.span(), said)));
        }
        // What is behind a reference is taken for what it is by others, such as a box.
        if OWN.contains(&name.as_str()) && name != "as_deref" {
            self.taken_for_option(&option.ty, call.method.span());
        }
        let option = self.as_pair(option);
        let option = self.named(option, "option");
        let (there, value) = self.option_parts(&option);
        let arguments: Vec<&Expr> = call.args.iter().collect();
        Ok(Some(match (name.as_str(), &arguments[..]) {
            ("copied" | "cloned" | "as_ref" | "as_deref", []) => option,
            ("is_some", []) => there,
            ("is_none", []) => Value::new(format!("!{}", there.text), Ty::Bool, 6, &[&there]),
            ("unwrap", []) => {
                let said = "called `Option::unwrap()` on a `None` value".to_string();
                self.asserted(call.method.span(), &there, said);
                value
            }
            ("expect", [said]) => {
                let said = match said {
                    Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. }) => text.value(),
                    other => return refuse(other, "write the message as a text"),
                };
                self.asserted(call.method.span(), &there, said);
                value
            }
            ("unwrap_or", [other]) => {
                let other = self.in_any_case(other)?;
                let ty = self.unify(&value.ty, &other.ty);
                let text =
                    format!("if {} {{ {} }} else {{ {} }}", there.text, value.text, other.text);
                self.named(Value { ty, ..Value::new(text, Ty::Never, 0, &[]) }, "value")
            }
            ("unwrap_or_else", [other]) => {
                let (lines, other) = self.nested(|this| this.applied(other, Vec::new()))?;
                self.branches(there, (Default::default(), value), (lines, other))
            }
            ("unwrap_or_default", []) => {
                let other = self.neutral(&self.resolve(&value.ty), &call.method)?;
                let text = format!("if {} {{ {} }} else {{ {other} }}", there.text, value.text);
                self.named(Value { ty: value.ty, ..Value::new(text, Ty::Never, 0, &[]) }, "value")
            }
            ("filter", [test]) => {
                let no = Value::name("false".to_string(), Ty::Bool, 0);
                let item = vec![Item::One(value.clone())];
                let (lines, kept) = self.nested(|this| this.applied(test, item))?;
                let kept = self.branches(there, (lines, kept), (Default::default(), no));
                self.option(kept, value)
            }
            ("or", [other]) => {
                let other = self.expression(other)?;
                let other = self.with_type(other, &option.ty, arguments[0])?;
                self.branches(there, (Default::default(), option), (Default::default(), other))
            }
            ("xor", [other]) => {
                let other = self.expression(other)?;
                let other = self.with_type(other, &option.ty, arguments[0])?;
                let other = self.named(other, "option");
                let (also, second) = self.option_parts(&other);
                let ty = self.unify(&value.ty, &second.ty);
                let one = format!("{} != {}", there.text, also.text);
                let text =
                    format!("if {} {{ {} }} else {{ {} }}", there.text, value.text, second.text);
                let value =
                    self.named(Value { ty, ..Value::new(text, Ty::Never, 0, &[]) }, "value");
                self.option(Value::new(one, Ty::Bool, 3, &[&there, &also]), value)
            }
            ("zip", [other]) => {
                let other = self.optional(other)?;
                let other = self.as_pair(other);
                let other = self.named(other, "option");
                let (also, second) = self.option_parts(&other);
                let both = format!("{} && {}", there.text, also.text);
                let pair = format!("#({}, {})", value.text, second.text);
                let ty = Ty::Tuple(vec![value.ty.clone(), second.ty.clone()]);
                let pair = Value::new(pair, ty, 9, &[&value, &second]);
                self.option(Value::new(both, Ty::Bool, 2, &[&there, &also]), pair)
            }
            ("map_or_else", [other, function]) => {
                let (no, other) = self.nested(|this| this.applied(other, Vec::new()))?;
                let (lines, value) =
                    self.nested(|this| this.applied(function, vec![Item::One(value)]))?;
                self.branches(there, (lines, value), (no, other))
            }
            ("is_none_or", [function]) => {
                let yes = Value::name("true".to_string(), Ty::Bool, 0);
                let (lines, value) =
                    self.nested(|this| this.applied(function, vec![Item::One(value)]))?;
                self.branches(there, (lines, value), (Default::default(), yes))
            }
            ("or_else", [other]) => {
                let (lines, other) = self.nested(|this| this.applied(other, Vec::new()))?;
                let other = self.with_type(other, &option.ty, arguments[0])?;
                self.branches(there, (Default::default(), option), (lines, other))
            }
            ("and_then", [function]) => {
                let (lines, value) =
                    self.nested(|this| this.applied(function, vec![Item::One(value)]))?;
                let ty = self.resolve(&value.ty);
                let other = self.neutral(&ty, &call.method)?;
                let other = Value::name(other, ty, i64::MIN);
                self.branches(there, (lines, value), (Default::default(), other))
            }
            ("map_or", [other, function]) => {
                let other = self.in_any_case(other)?;
                let (lines, value) =
                    self.nested(|this| this.applied(function, vec![Item::One(value)]))?;
                self.branches(there, (lines, value), (Default::default(), other))
            }
            ("is_some_and", [function]) => {
                let no = Value::name("false".to_string(), Ty::Bool, 0);
                let (lines, value) =
                    self.nested(|this| this.applied(function, vec![Item::One(value)]))?;
                self.branches(there, (lines, value), (Default::default(), no))
            }
            ("map", [function]) => {
                let (mut lines, value) =
                    self.nested(|this| this.applied(function, vec![Item::One(value)]))?;
                let ty = self.resolve(&value.ty);
                let other = self.neutral(&ty, &call.method)?;
                let ty = Ty::Option(Box::new(ty));
                lines.effect = true;
                let some = Value::name(format!("#(true, {})", value.text), ty.clone(), i64::MIN);
                let none = Value::name(format!("#(false, {other})"), ty, i64::MIN);
                self.branches(there, (lines, some), (Default::default(), none))
            }
            _ => {
                return refuse(
                    &call.method,
                    format!(
                        "`{name}` of an `Option` is not built in this form: write `if let Some(v) = ..`"
                    ),
                );
            }
        }))
    }

    /// `last.take()` and `last.replace(v)`: what an `Option` was, which is another one then.
    pub fn option_that_is_replaced(
        &mut self,
        call: &ExprMethodCall,
    ) -> Result<Option<Value>, Refusal> {
        let place = &call.receiver;
        let value: Option<Expr> =
            match (call.method.to_string().as_str(), &call.args.iter().collect::<Vec<_>>()[..]) {
                ("take", []) => None,
                ("replace", [value]) => Some(syn::parse_quote!(Some(#value))),
                _ => return Ok(None),
            };
        match is_plain(place) && self.is_option(place) {
            true => self.replacement(place, value.as_ref()).map(Some),
            false => Ok(None),
        }
    }

    /// A value where an `Option` is expected: `f(x).map(g)` is one of what f gives.
    pub fn optional(&mut self, expr: &Expr) -> Result<Value, Refusal> {
        self.expected.optional = is_method_of_option(expr);
        let value = self.expression(expr);
        self.expected.optional = false;
        value
    }

    /// A value that is taken apart by patterns.
    pub fn taken_apart<'p>(
        &mut self,
        expr: &Expr,
        mut patterns: impl Iterator<Item = &'p Pat>,
    ) -> Result<Value, Refusal> {
        match patterns.any(is_of_option) {
            true => {
                let value = self.optional(expr)?;
                Ok(self.as_pair(value))
            }
            false => self.operand(expr),
        }
    }

    /// An argument, which is computed whether it is needed or not: it may fail.
    fn in_any_case(&mut self, argument: &Expr) -> Result<Value, Refusal> {
        let value = self.expression(argument)?;
        Ok(if value.cheap { value } else { self.named(value, "other") })
    }

    fn branches(
        &mut self,
        there: Value,
        then: (crate::lowering::Lines, Value),
        other: (crate::lowering::Lines, Value),
    ) -> Value {
        let ty = self.unify(&then.1.ty, &other.1.ty);
        let (a, b) = (Value { ty: ty.clone(), ..then.1 }, Value { ty, ..other.1 });
        let value = self.chosen(there, (then.0, Some(a)), (other.0, Some(b)));
        let value = value.unwrap_or_else(crate::value::unit);
        self.named(Value { stable: false, ..value }, "value")
    }

    /// Whether an expression is an `Option`, by its form.
    fn is_option(&self, expr: &Expr) -> bool {
        match unwrapped(expr) {
            Expr::Path(path) => {
                let found = path.path.get_ident().and_then(|i| self.lookup(&i.to_string()));
                found.is_some_and(|local| matches!(local.ty, Ty::Option(_)))
            }
            Expr::Index(index) => match unwrapped(&index.expr) {
                Expr::Path(path) => {
                    let found = path.path.get_ident().and_then(|i| self.lookup(&i.to_string()));
                    found.is_some_and(|local| match self.resolve(&local.ty) {
                        Ty::Array(element, _) => matches!(*element, Ty::Option(_)),
                        _ => false,
                    })
                }
                _ => false,
            },
            Expr::Call(call) => {
                matches!(unwrapped(&call.func), Expr::Path(p)
                    if ["Some", "Ok", "Err"].iter().any(|name| p.path.is_ident(name)))
            }
            Expr::MethodCall(call) => match call.method.to_string().as_str() {
                "first" | "last" if self.is_struct(&call.receiver) => false,
                "first" | "last" | "ok" => call.args.is_empty(),
                "ok_or" | "ok_or_else" | "map_err" => call.args.len() == 1,
                "get" => call.args.len() == 1 && self.is_list(&call.receiver),
                "position" | "rposition" | "find" | "rfind" | "reduce" | "min_by" | "max_by"
                | "try_fold" => true,
                name if crate::syntax::is_search(name) => true,
                name if name.starts_with("checked_") => {
                    crate::integers::METHODS.iter().any(|(n, _)| *n == name)
                }
                "pop" => self.is_relisting(call),
                "nth" | "next" => is_iterator(&call.receiver),
                "min" | "max" => call.args.is_empty(),
                "map" | "copied" | "cloned" | "filter" | "or" | "or_else" | "and_then" | "zip"
                | "xor" => self.is_option(&call.receiver),
                "as_deref" => true,
                // Of a field of a type that holds itself, `self.next.as_ref().map(..)`; or of a list or box.
                "as_ref" => {
                    self.is_option(&call.receiver)
                        || matches!(unwrapped(&call.receiver), Expr::Field(_))
                }
                _ => false,
            },
            _ => false,
        }
    }

    /// Whether an expression is a struct for certain: methods of it are its own, whatever they are called.
    pub fn is_struct(&self, expr: &Expr) -> bool {
        let Expr::Path(path) = unwrapped(expr) else { return false };
        let found = path.path.get_ident().and_then(|i| self.lookup(&i.to_string()));
        match found.map(|local| self.resolve(&local.ty)) {
            Some(Ty::Of(hole, steps)) => {
                steps.is_empty() && matches!(self.parts.holes.get(hole), Some(Hole::Data(_)))
            }
            _ => false,
        }
    }

    /// Whether an expression is a list for certain.
    pub fn is_list(&self, expr: &Expr) -> bool {
        match unwrapped(expr) {
            Expr::Path(path) => {
                let found = path.path.get_ident().and_then(|i| self.lookup(&i.to_string()));
                found.is_some_and(|local| matches!(local.ty, Ty::Array(..)))
            }
            Expr::Reference(inner) => self.is_list(&inner.expr),
            _ => false,
        }
    }

    /// `None`, where the type beside it says of what.
    pub fn none(&self) -> Value {
        let ty = Ty::Option(Box::new(Ty::Never));
        Value::name(String::new(), ty, i64::MIN)
    }

    /// `None` as a value of this type; anything else as it is.
    pub fn with_type(&mut self, value: Value, ty: &Ty, at: &Expr) -> Result<Value, Refusal> {
        let open = matches!(&value.ty, Ty::Option(inner) if **inner == Ty::Never);
        match (open, ty) {
            (true, Ty::Option(inner)) if **inner != Ty::Never => {
                let text = self.neutral(ty, at)?;
                Ok(Value::name(text, ty.clone(), i64::MIN))
            }
            (true, _) => refuse(at, NONE),
            _ => Ok(value),
        }
    }

    /// Whether a pattern `Some(p)` or `None` fits; names in it are bound.
    pub fn option_tested(
        &mut self,
        inner: Option<&Pat>,
        subject: &Value,
        at: &Pat,
    ) -> Result<Value, Refusal> {
        if !matches!(self.resolve(&subject.ty), Ty::Option(_) | Ty::Of(..)) {
            return refuse(
                at,
                "this is no `Option` here: a struct or result of one is not built, write an enum of your own \
                 that derives `jut::Data`",
            );
        }
        let subject = match self.resolve(&subject.ty) {
            Ty::Of(..) => {
                let pair = self.as_pair(subject.clone());
                self.named(pair, "option")
            }
            _ => subject.clone(),
        };
        let (there, value) = self.option_parts(&subject);
        let Some(inner) = inner else {
            return Ok(Value::new(format!("!{}", there.text), Ty::Bool, 6, &[&there]));
        };
        let fits = self.tested(inner, &value)?;
        Ok(match fits.text.as_str() {
            "true" => there,
            _ => {
                let text = format!("{} && {}", there.text, fits.within(3));
                Value::new(text, Ty::Bool, 2, &[&there, &fits])
            }
        })
    }
}

/// Whether a pattern is one of an `Option` or a `Result`.
pub(crate) fn is_of_option(pattern: &Pat) -> bool {
    match pattern {
        Pat::TupleStruct(own) => ["Some", "Ok", "Err"].iter().any(|name| own.path.is_ident(name)),
        Pat::Ident(ident) => ident.ident == "None",
        Pat::Paren(inner) => is_of_option(&inner.pat),
        Pat::Or(or) => or.cases.iter().any(is_of_option),
        _ => false,
    }
}

/// A name, or a field of one.
fn is_plain(expr: &Expr) -> bool {
    match unwrapped(expr) {
        Expr::Path(_) => true,
        Expr::Field(field) => is_plain(&field.base),
        _ => false,
    }
}

/// Whether a method call ends an iterator.
fn ends(expr: &Expr) -> bool {
    matches!(unwrapped(expr), Expr::MethodCall(call) if crate::iterators::is_chain(call))
}

/// Whether an expression is a method that an `Option` has, `o.map(f)`.
pub(crate) fn is_method_of_option(expr: &Expr) -> bool {
    matches!(unwrapped(expr), Expr::MethodCall(call)
        if OF_OPTIONS.contains(&call.method.to_string().as_str()))
}

//! What an iterator gives: how many elements, and each by its index.
//!
//! `x.windows(2).zip(y.iter().map(f)).enumerate()` makes no list. Each of its elements is a text in which the index of the loop
//! stands, so that any of them can be asked for, in any order:
//!
//! ```text
//! #(i, (x[i ..+ 2], f(y[i])))      for i below min(max(size(x) - 2 + 1, 0), size(y))
//! ```
//!
//! A closure of `map` is kept with the names that it sees, and is written out where the element is bound; so it runs once for
//! each element, as in Rust, and also where the element is not used. What would call it for elements that it passes over (`skip`,
//! `step_by`) is refused.

use crate::lowering::{Local, Lowering};
use crate::syntax::unwrapped;
use crate::template::What;
use crate::types::{Extent, Ty, array};
use crate::value::{Value, literal};
use crate::{Refusal, refuse};
use quote::ToTokens;
use std::collections::HashMap;
use std::rc::Rc;
use syn::spanned::Spanned;
use syn::{Expr, ExprMethodCall, ExprRange};

/// What an iterator gives.
#[derive(Clone)]
pub(crate) enum Item {
    One(Value),
    /// An element that may be assigned.
    Place(Value),
    Pair(Box<Item>, Box<Item>),
    /// What a function makes of an element, once it is bound.
    Mapped(Box<Item>, Rc<Mapping>),
}

/// The function of a `map`, and what is in scope where it is written.
pub(crate) struct Mapping {
    pub function: Expr,
    pub scopes: Vec<HashMap<String, Local>>,
}

/// The elements: how many, and each by its index.
pub(crate) struct Elements {
    /// A name or literal.
    pub count: String,
    pub element: Box<dyn Fn(&str) -> Item>,
    /// Whether a function is called for each.
    pub mapped: bool,
}

/// Iterators of Rust that are not built.
const OTHERS: &[&str] = &[
    "peekable",
    "fuse",
    "array_chunks",
    "chunk_by",
    "chunk_by_mut",
    "rchunks",
    "rchunks_exact",
    "split",
    "splitn",
    "drain",
    "split_inclusive",
    "array_windows",
    "map_windows",
    "as_chunks",
    "chars",
    "bytes",
    "keys",
    "values",
    "lines",
    "into_boxed_slice",
    "sorted",
    "tuple_windows",
    "dedup",
    "unique",
];

impl Elements {
    fn new(count: String, element: impl Fn(&str) -> Item + 'static) -> Elements {
        Elements { count, element: Box::new(element), mapped: false }
    }

    /// As many, and others.
    fn with(self, element: impl Fn(&dyn Fn(&str) -> Item, &str) -> Item + 'static) -> Elements {
        let inner = self.element;
        Elements { element: Box::new(move |i| element(&inner, i)), ..self }
    }
}

impl Lowering<'_> {
    /// The elements that a chain begins with.
    pub fn elements(&mut self, source: &Expr) -> Result<Elements, Refusal> {
        match unwrapped(source) {
            Expr::Range(range) => self.range_elements(range),
            Expr::MethodCall(call) => self.adapted(call, source),
            name if self.is_changed(name) => self.list_places(name),
            Expr::Reference(reference) if reference.mutability.is_some() => {
                self.list_places(&reference.expr)
            }
            Expr::Call(call) if let Some((value, count)) = crate::iterators::repeated(call) => {
                let value = self.expression(value)?;
                let value = self.named(value, "each");
                let count = match count {
                    Some(count) => {
                        let count = self.operand(&count)?;
                        let count = self.convert(count, &Ty::Usize);
                        self.atom(count, "count").text
                    }
                    None => i64::MAX.to_string(),
                };
                Ok(Elements::new(count, move |_| Item::One(value.clone())))
            }
            Expr::Call(call) => match crate::iterators::zipped(call) {
                Some((a, b)) => self.elements(&syn::parse_quote!((#a).into_iter().zip(#b))),
                None => self.list_elements(source),
            },
            other => self.list_elements(other),
        }
    }

    /// Whether a name is that of a `&mut`, whose elements may be assigned.
    pub fn is_changed(&self, expr: &Expr) -> bool {
        matches!(expr, Expr::Path(_)) && self.root(expr).is_some_and(|local| local.reference)
    }

    fn range_elements(&mut self, range: &ExprRange) -> Result<Elements, Refusal> {
        if let (Some(start), None) = (&range.start, &range.end) {
            // Something beside it ends it.
            let start = self.operand(start)?;
            let start = self.atom(start, "first");
            let (a, ty, least) = (start.within(4), start.ty.clone(), start.least);
            let count = i64::MAX.to_string();
            return Ok(Elements::new(count, move |i| {
                let text = if a == "0" { i.to_string() } else { format!("{a} + {i}") };
                let level = if a == "0" { 9 } else { 4 };
                Item::One(Value { level, ..Value::name(text, ty.clone(), least) })
            }));
        }
        let (Some(start), Some(end)) = (&range.start, &range.end) else {
            return refuse(range, "write both ends of the range");
        };
        let ends = self.operands(&[start, end])?;
        let [lo, hi] = &ends[..] else {
            return refuse(range, "write both ends of the range");
        };
        let ty = self.unify(&lo.ty, &hi.ty);
        let lo = self.atom(lo.clone(), "first");
        let hi = self.atom(hi.clone(), "last");
        let (lo, hi) =
            (self.in_signed_range(lo, range.span()), self.in_signed_range(hi, range.span()));
        let closed = matches!(range.limits, syn::RangeLimits::Closed(_));
        if closed && literal(&hi).is_none() {
            let check = format!("prim.select({} < 9223372036854775807, 0, -1) >= 0", hi.text);
            self.check(range.span(), What::Overflow("add"), &check);
        }
        let more = if closed { " + 1" } else { "" };
        let count = self.names.unique("count");
        let (a, b) = (lo.within(5), hi.within(5));
        let whole = format!("prim.max({b}{more} - {a}, 0)");
        // A size that is a name or a number is one of other lists too.
        let size = format!("{b}{more}");
        let length = match self.resolve(&ty) {
            _ if a != "0" => whole,
            _ if hi.least >= 0 || literal(&hi).is_some_and(|n| n >= 0) => size,
            Ty::Of(hole, steps) if !closed => {
                let steps = crate::types::words(&steps);
                format!(
                    "$if counted {hole}{steps}${size}$end$$if negative {hole}{steps}${whole}$end$"
                )
            }
            _ => whole,
        };
        self.lines.push(format!("{count} = {length}"));
        let least = lo.least;
        Ok(Elements::new(count, move |i| {
            let (text, level) = match a.as_str() {
                "0" => (i.to_string(), 9),
                _ => (format!("{a} + {i}"), 4),
            };
            Item::One(Value { level, ..Value::name(text, ty.clone(), least) })
        }))
    }

    /// What a method makes of a list, or of other elements.
    fn adapted(&mut self, call: &ExprMethodCall, source: &Expr) -> Result<Elements, Refusal> {
        let name = call.method.to_string();
        let arguments: Vec<&Expr> = call.args.iter().collect();
        let receiver = &call.receiver;
        match (name.as_str(), &arguments[..]) {
            ("iter" | "into_iter", []) if !matches!(unwrapped(receiver), Expr::Range(_)) => {
                match unwrapped(receiver) {
                    Expr::Reference(r) if r.mutability.is_some() => self.list_places(&r.expr),
                    list => self.list_elements(list),
                }
            }
            ("iter_mut", []) => self.list_places(receiver),
            ("drain", [_]) if self.is_relisting(call) => {
                let taken = self.relisted(call)?;
                self.elements_of(taken, source)
            }
            ("windows" | "chunks" | "chunks_exact", [size]) => self.parts(call, size),
            ("copied" | "cloned" | "iter" | "into_iter" | "by_ref", []) => self.elements(receiver),
            ("enumerate", []) => Ok(self.elements(receiver)?.with(|element, i| {
                let number = Value::name(i.to_string(), Ty::Usize, 0);
                Item::Pair(Box::new(Item::One(number)), Box::new(element(i)))
            })),
            ("rev", []) => {
                let elements = self.elements(receiver)?;
                let last = elements.count.clone();
                Ok(elements.with(move |element, i| element(&format!("({last} - 1 - {i})"))))
            }
            ("zip", [other]) => {
                let first = self.elements(receiver)?;
                let second = match unwrapped(other) {
                    Expr::MethodCall(_) | Expr::Range(_) => self.elements(other)?,
                    Expr::Call(call) if crate::iterators::repeated(call).is_some() => {
                        self.elements(other)?
                    }
                    Expr::Reference(reference) if reference.mutability.is_some() => {
                        self.list_places(&reference.expr)?
                    }
                    list if self.is_changed(list) => self.list_places(list)?,
                    list => self.list_elements(list)?,
                };
                let count = self.names.unique("count");
                let both = format!("{count} = prim.min({}, {})", first.count, second.count);
                self.lines.push(both);
                let mapped = first.mapped || second.mapped;
                let element = move |i: &str| {
                    let (a, b) = ((first.element)(i), (second.element)(i));
                    Item::Pair(Box::new(a), Box::new(b))
                };
                Ok(Elements { mapped, ..Elements::new(count, element) })
            }
            ("chain", [other]) => self.joined_elements(call, other),
            ("cycle", []) => {
                let elements = self.elements(receiver)?;
                if elements.mapped {
                    return refuse(&call.method, "`cycle` stands before `map` here");
                }
                let (own, count) = (elements.count.clone(), self.names.unique("count"));
                let endless = i64::MAX;
                self.lines.push(format!("{count} = if {own} > 0 {{ {endless} }} else {{ 0 }}"));
                let again = elements.with(move |element, i| element(&format!("({i} % {own})")));
                Ok(Elements { count, ..again })
            }
            ("skip" | "take" | "step_by", [number]) => self.fewer(call, number),
            ("map", [function]) => {
                let elements = self.elements(receiver)?;
                let mapping =
                    Mapping { function: (*function).clone(), scopes: self.scopes.clone() };
                let mapping = Rc::new(mapping);
                let mapped = elements
                    .with(move |element, i| Item::Mapped(Box::new(element(i)), mapping.clone()));
                Ok(Elements { mapped: true, ..mapped })
            }
            ("clone" | "to_vec", []) => {
                let list = self.expression(receiver)?;
                self.elements_of(list, receiver)
            }
            (
                "filter" | "filter_map" | "flat_map" | "flatten" | "scan" | "take_while"
                | "map_while" | "skip_while",
                _,
            ) if crate::iterators::is_collectable(call) => {
                self.elements(&syn::parse_quote!(#call.collect::<Vec<_>>().into_iter()))
            }
            (
                "filter" | "filter_map" | "flat_map" | "scan" | "flatten" | "inspect"
                | "take_while" | "map_while" | "skip_while",
                _,
            ) => refuse(
                &call.method,
                format!(
                    "`{name}` stands behind `zip`, `enumerate`, `rev`, `skip` and `take` here: collect into a list before"
                ),
            ),
            // What a method of a struct gives is a list.
            _ if !OTHERS.contains(&name.as_str()) => {
                self.list_elements(&Expr::MethodCall(call.clone()))
            }
            _ => refuse(
                &call.method,
                format!("the iterator `{name}` is not built: write a `for` loop over indices"),
            ),
        }
    }

    /// `a.chain(b)`: elements of both, which are values.
    fn joined_elements(
        &mut self,
        call: &ExprMethodCall,
        other: &Expr,
    ) -> Result<Elements, Refusal> {
        let first = self.elements(&call.receiver)?;
        let second = self.elements(other)?;
        let (Item::One(a), Item::One(b)) = ((first.element)("0"), (second.element)("0")) else {
            return refuse(
                &call.method,
                "`chain` stands before `map`, `zip` and `enumerate` here, and joins values",
            );
        };
        let ty = self.unify(&a.ty, &b.ty);
        let (count, n) = (self.names.unique("count"), first.count.clone());
        // What is without end stays so.
        let endless = i64::MAX.to_string();
        let all = match n == endless || second.count == endless {
            true => endless,
            false => format!("{n} + {}", second.count),
        };
        self.lines.push(format!("{count} = {all}"));
        Ok(Elements::new(count, move |i| {
            let text = |item: Item| match item {
                Item::One(value) => value.text,
                _ => String::new(),
            };
            let (a, b) =
                (text((first.element)(i)), text((second.element)(&format!("({i} - {n})"))));
            let both = format!("if {i} < {n} {{ {a} }} else {{ {b} }}");
            let value = Value::name(both, ty.clone(), i64::MIN);
            Item::One(Value { level: 0, cheap: false, ..value })
        }))
    }

    /// `x.windows(k)`, `x.chunks(k)`, `x.chunks_exact(k)`: parts of a list, which are lists.
    fn parts(&mut self, call: &ExprMethodCall, size: &Expr) -> Result<Elements, Refusal> {
        let list = self.expression(&call.receiver)?;
        let element = match self.resolve(&list.ty) {
            Ty::Array(element, _) => *element,
            ty @ Ty::Of(..) => self.element(&ty),
            _ => return refuse(&call.receiver, "an array is expected here"),
        };
        let list = self.named(list, "list").text;
        let size = self.operand(size)?;
        let size = self.convert(size, &Ty::Usize);
        let size = self.atom(size, "length");
        let windows = call.method == "windows";
        match literal(&size) {
            Some(0) => return refuse(&call.args, "a length of 0 panics"),
            Some(_) => {}
            None => {
                let what = if windows { "window" } else { "chunk" };
                let said = format!("{what} size must be non-zero");
                let check = format!("prim.select({} > 0, 0, -1) >= 0", size.text);
                self.check(call.method.span(), What::Panic(said), &check);
            }
        }
        let (count, k) = (self.names.unique("count"), size.text);
        let ty = array(element, Extent::Slice);
        let part = move |text: String| {
            Item::One(Value { cheap: false, ..Value::name(text, ty.clone(), i64::MIN) })
        };
        if windows {
            self.lines.push(format!("{count} = prim.max(size({list}) - {k} + 1, 0)"));
            return Ok(Elements::new(count, move |i| part(format!("{list}[{i} ..+ {k}]"))));
        }
        if call.method == "chunks_exact" {
            self.lines.push(format!("{count} = size({list}) / {k}"));
            return Ok(Elements::new(count, move |i| part(format!("{list}[{i} * {k} ..+ {k}]"))));
        }
        self.lines.push(format!("{count} = (size({list}) + {k} - 1) / {k}"));
        Ok(Elements::new(count, move |i| {
            part(format!("{list}[{i} * {k} .. prim.min({i} * {k} + {k}, size({list}))]"))
        }))
    }

    /// `skip(n)`, `take(n)`, `step_by(n)`.
    fn fewer(&mut self, call: &ExprMethodCall, number: &Expr) -> Result<Elements, Refusal> {
        let elements = self.elements(&call.receiver)?;
        if elements.mapped && call.method != "take" {
            let said = format!("`{}` stands before `map` here", call.method);
            return refuse(&call.method, said);
        }
        let at = number;
        let number = self.operand(number)?;
        let number = self.convert(number, &Ty::Usize);
        let number = self.atom(number, "number");
        let (fewer, count) = (self.names.unique("count"), elements.count.clone());
        if call.method == "take" {
            self.lines.push(format!("{fewer} = prim.min({count}, {})", number.text));
            return Ok(Elements { count: fewer, ..elements });
        }
        if call.method == "skip" {
            self.lines.push(format!("{fewer} = prim.max({count} - {}, 0)", number.within(5)));
            let by = number.within(4);
            let rest = elements.with(move |element, i| element(&format!("({i} + {by})")));
            return Ok(Elements { count: fewer, ..rest });
        }
        match literal(&number) {
            Some(0) => return refuse(at, "a step of 0 panics"),
            Some(_) => {}
            None => {
                let said = "assertion failed: step != 0".to_string();
                let check = format!("prim.select({} > 0, 0, -1) >= 0", number.text);
                self.check(at.span(), What::Panic(said), &check);
            }
        }
        let by = number.within(6);
        self.lines
            .push(format!("{fewer} = if {count} > 0 {{ ({count} - 1) / {by} + 1 }} else {{ 0 }}"));
        let some = elements.with(move |element, i| element(&format!("({i} * {by})")));
        Ok(Elements { count: fewer, ..some })
    }

    /// Elements that may be assigned. A place has the depth of its variable where values have a level.
    pub fn list_places(&mut self, list: &Expr) -> Result<Elements, Refusal> {
        let depth = self.root(list).map_or(0, |local| local.depth) as u8;
        let (place, length) = self.looked_at(list)?;
        let element = self.element(&place.ty);
        let count = self.names.unique("count");
        self.lines.push(format!("{count} = {length}"));
        Ok(Elements::new(count, move |i| {
            let text = match place.text.rsplit_once(" .. ") {
                Some((open, _)) if place.level == 2 => format!("{open} + {i}]"),
                _ => crate::template::indexed(&place.text, i),
            };
            let value = Value::name(text, element.clone(), i64::MIN);
            Item::Place(Value { level: depth, stable: false, ..value })
        }))
    }

    fn list_elements(&mut self, list: &Expr) -> Result<Elements, Refusal> {
        let value = self.expression(list)?;
        self.elements_of(value, list)
    }

    /// The elements of a list.
    pub fn elements_of(&mut self, value: Value, at: &Expr) -> Result<Elements, Refusal> {
        let ty = self.resolve(&value.ty);
        if !matches!(ty, Ty::Array(..) | Ty::Of(..)) {
            return refuse(
                at,
                format!(
                    "an array is expected here, and `{}` is not known to be one",
                    at.to_token_stream()
                ),
            );
        }
        let value = self.named(value, "list");
        let element = self.element(&ty);
        let least = if element == Ty::Usize { 0 } else { i64::MIN };
        let count = self.names.unique("count");
        let all = self.count_of(&value);
        self.lines.push(format!("{count} = {all}"));
        let element_at = self.element_at(&value);
        Ok(Elements::new(count, move |i| {
            Item::One(Value::name(element_at(i), element.clone(), least))
        }))
    }

    /// An element whose functions have been called.
    pub fn forced(&mut self, item: Item) -> Result<Item, Refusal> {
        Ok(match item {
            Item::Mapped(inner, mapping) => {
                let inner = self.forced(*inner)?;
                let scopes = std::mem::replace(&mut self.scopes, mapping.scopes.clone());
                let value = self.applied(&mapping.function, vec![inner]);
                self.scopes = scopes;
                let value = self.named(value?, "element");
                Item::One(value)
            }
            Item::Pair(a, b) => {
                let (a, b) = (self.forced(*a)?, self.forced(*b)?);
                Item::Pair(Box::new(a), Box::new(b))
            }
            other => other,
        })
    }

    /// A literal, or a name that nothing assigns.
    pub fn atom(&mut self, value: Value, wanted: &str) -> Value {
        match literal(&value) {
            Some(_) => value,
            None => self.named(value, wanted),
        }
    }
}

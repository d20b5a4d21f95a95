//! Chains of iterators, `x.iter().zip(y).map(|(a, b)| a * b).sum()`, as one loop.
//!
//! What comes before the first `map` or `filter` decides which elements there are, and in which order; the closures are
//! written into the loop, where they run for one element after the other, as in Rust.

use crate::expression::{Value, unwrapped};
use crate::function::{Local, Lowering, indented};
use crate::operators::literal;
use crate::template::What;
use crate::types::{Extent, Ty, array};
use crate::{Refusal, refuse};
use quote::ToTokens;
use syn::spanned::Spanned;
use syn::visit::Visit;
use syn::{Expr, ExprMethodCall, Pat};

/// What an iterator gives.
pub(crate) enum Item {
    One(Value),
    /// An element that may be assigned.
    Place(Value),
    Pair(Box<Item>, Box<Item>),
}

/// The elements: how many, and each by its index.
pub(crate) struct Elements {
    /// A name or literal.
    pub count: String,
    pub element: Box<dyn Fn(&str) -> Item>,
}

/// The methods that end a chain.
const ENDS: &[&str] = &["sum", "product", "fold", "count", "all", "any", "collect"];

/// The methods that make an iterator of an array.
const STARTS: &[&str] = &["iter", "into_iter"];

/// Whether a method call is the end of a chain over a range or an array's elements.
pub(crate) fn is_chain(call: &ExprMethodCall) -> bool {
    fn starts(expr: &Expr) -> bool {
        match unwrapped(expr) {
            Expr::Range(_) => true,
            Expr::MethodCall(call) => {
                STARTS.contains(&call.method.to_string().as_str()) || starts(&call.receiver)
            }
            _ => false,
        }
    }
    ENDS.contains(&call.method.to_string().as_str()) && starts(&call.receiver)
}

impl Lowering<'_> {
    /// The value of a chain.
    pub fn chain(&mut self, end: &ExprMethodCall) -> Result<Value, Refusal> {
        let mut stages = Vec::new();
        let mut source = unwrapped(&end.receiver);
        while let Expr::MethodCall(call) = source {
            if !matches!(call.method.to_string().as_str(), "map" | "filter") {
                break;
            }
            stages.push(call);
            source = unwrapped(&call.receiver);
        }
        stages.reverse();
        let elements = self.elements(source)?;
        let name = end.method.to_string();
        let arguments: Vec<&Expr> = end.args.iter().collect();
        let index = self.names.unique("i");
        let item = (elements.element)(&index);
        let head = format!("{index} < {}", elements.count);
        match (name.as_str(), &arguments[..]) {
            ("sum" | "product", []) => self.total(end, head, item, &stages),
            ("count", []) if stages.is_empty() => Ok(Value::name(elements.count, Ty::Usize, 0)),
            ("fold", [start, step]) => {
                let start = self.expression(start)?;
                let total = self.variable("total", &start.text);
                let mut ty = start.ty.clone();
                let (block, ()) = self.nested(|this| {
                    this.staged(item, &stages, &mut |this, item| {
                        let old = Value {
                            stable: false,
                            ..Value::name(total.clone(), ty.clone(), i64::MIN)
                        };
                        let value = this.applied(step, vec![Item::One(old), item])?;
                        ty = this.unify(&ty, &value.ty);
                        this.assigned_to(&total, &value.text);
                        Ok(())
                    })
                })?;
                self.lines.push(format!("for ({head}) {{\n{}\n}}", indented(&block.lines)));
                Ok(Value { stable: true, ..Value::name(total, ty, i64::MIN) })
            }
            ("all" | "any", [test]) => {
                let all = name == "all";
                let found = self.variable("found", if all { "true" } else { "false" });
                let (block, ()) = self.nested(|this| {
                    this.staged(item, &stages, &mut |this, item| {
                        let value = this.applied(test, vec![item])?;
                        this.assigned_to(&found, &value.text);
                        Ok(())
                    })
                })?;
                let goes = if all { found.clone() } else { format!("!{found}") };
                self.lines
                    .push(format!("for ({head}) while {goes} {{\n{}\n}}", indented(&block.lines)));
                Ok(Value::name(found, Ty::Bool, 0))
            }
            ("collect", []) => {
                if let Some(filter) = stages.iter().find(|s| s.method == "filter") {
                    return refuse(
                        &filter.method,
                        "`collect` behind a `filter` is not built: the number of elements is not known before",
                    );
                }
                let (block, value) = self.nested(|this| {
                    let mut value = None;
                    this.staged(item, &stages, &mut |this, item| {
                        value = Some(this.one(item));
                        Ok(())
                    })?;
                    Ok(value)
                })?;
                let Some(value) = value else { return refuse(&end.method, "this is not built") };
                let mut lines = block.lines;
                lines.push(value.text);
                let list = self.names.unique("list");
                self.lines.push(format!("{list} = for ({head}) {{\n{}\n}}", indented(&lines)));
                Ok(Value::name(list, array(value.ty, Extent::Slice), i64::MIN))
            }
            _ => refuse(
                &end.method,
                format!("`{name}` of an iterator is not built in this form: write a `for` loop"),
            ),
        }
    }

    /// `sum` and `product`, in order. The sum of no floats is -0.0 in Rust.
    fn total(
        &mut self,
        end: &ExprMethodCall,
        head: String,
        item: Item,
        stages: &[&ExprMethodCall],
    ) -> Result<Value, Refusal> {
        let sum = end.method == "sum";
        let said = match &end.turbofish {
            Some(types) => match types.args.first() {
                Some(syn::GenericArgument::Type(ty)) => {
                    Some(crate::types::read(ty, &mut self.holes)?)
                }
                _ => None,
            },
            None => None,
        };
        let total = self.names.unique("total");
        let at = self.lines.len();
        let mut ty = said;
        let (block, ()) = self.nested(|this| {
            this.staged(item, stages, &mut |this, item| {
                let value = this.one(item);
                let known = ty.clone().unwrap_or_else(|| this.resolve(&value.ty));
                let known = this.unify(&value.ty, &known);
                let old =
                    Value { stable: false, ..Value::name(total.clone(), known.clone(), i64::MIN) };
                let op = if sum { "+" } else { "*" };
                let value = this.operation(op, old, value, &end.method, end.method.span())?;
                this.assigned_to(&total, &value.text);
                ty = Some(known);
                Ok(())
            })
        })?;
        let ty = ty.unwrap_or(Ty::F64);
        let start = match (&ty, sum) {
            (Ty::F64, true) => "-0.0",
            (Ty::F64, false) => "1.0",
            (t, _) if !t.is_integer() => {
                return refuse(
                    &end.method,
                    "the type of this is not known here: write `.sum::<f64>()`",
                );
            }
            (_, true) => "0",
            _ => "1",
        };
        self.lines.insert(at, format!("var {total} = {start}"));
        self.lines.push(format!("for ({head}) {{\n{}\n}}", indented(&block.lines)));
        Ok(Value::name(total, ty, i64::MIN))
    }

    fn variable(&mut self, wanted: &str, start: &str) -> String {
        let name = self.names.unique(wanted);
        self.lines.push(format!("var {name} = {start}"));
        name
    }

    fn assigned_to(&mut self, variable: &str, value: &str) {
        self.lines.push(format!("{variable} = {value}"));
        self.assigned += 1;
        self.reach = self.reach.min(self.depth.saturating_sub(1));
    }

    /// What an element becomes, and what is done with that.
    fn staged(
        &mut self,
        item: Item,
        stages: &[&ExprMethodCall],
        last: &mut dyn FnMut(&mut Self, Item) -> Result<(), Refusal>,
    ) -> Result<(), Refusal> {
        let Some((stage, rest)) = stages.split_first() else { return last(self, item) };
        let Some(closure) = stage.args.first() else {
            return refuse(&stage.method, "a closure is expected");
        };
        if stage.method == "map" {
            let value = self.applied(closure, vec![item])?;
            let value = self.named(value, "element");
            return self.staged(Item::One(value), rest, last);
        }
        // The element is read by the test and by what follows.
        let (first, second) = self.twice(item);
        let test = self.applied(closure, vec![first])?;
        let (block, ()) = self.nested(|this| this.staged(second, rest, last))?;
        self.lines.push(format!("if {} {{\n{}\n}}", test.text, indented(&block.lines)));
        Ok(())
    }

    fn twice(&mut self, item: Item) -> (Item, Item) {
        match item {
            Item::One(value) => {
                let value = self.named(value, "element");
                (Item::One(value.clone()), Item::One(value))
            }
            Item::Place(value) => (Item::Place(value.clone()), Item::Place(value)),
            Item::Pair(a, b) => {
                let ((a, c), (b, d)) = (self.twice(*a), self.twice(*b));
                let pair = |a, b| Item::Pair(Box::new(a), Box::new(b));
                (pair(a, b), pair(c, d))
            }
        }
    }

    /// An element as one value.
    fn one(&mut self, item: Item) -> Value {
        match item {
            Item::One(value) | Item::Place(value) => value,
            Item::Pair(a, b) => {
                let (a, b) = (self.one(*a), self.one(*b));
                let ty = Ty::Tuple(vec![a.ty.clone(), b.ty.clone()]);
                Value::new(format!("#({}, {})", a.text, b.text), ty, 9, &[&a, &b])
            }
        }
    }

    /// A closure, or a function by its name, of some arguments.
    pub fn applied(&mut self, function: &Expr, items: Vec<Item>) -> Result<Value, Refusal> {
        match unwrapped(function) {
            Expr::Closure(closure) => {
                let mut jumps = Returns(None);
                jumps.visit_expr(&closure.body);
                if let Some(span) = jumps.0 {
                    return Err(Refusal {
                        span: Some(span),
                        message:
                            "a `return` out of a closure is not built: write an `if` with a value"
                                .to_string(),
                    });
                }
                self.scopes.push(Default::default());
                let frames = std::mem::take(&mut self.frames);
                let bound = closure.inputs.iter().zip(items);
                let mut done = Ok(());
                for (pattern, item) in bound {
                    done = done.and_then(|()| self.bind(pattern, item));
                }
                let value = done.and_then(|()| self.expression(&closure.body));
                let value = match (&closure.output, value) {
                    (syn::ReturnType::Type(_, ty), Ok(value)) => {
                        let ty = crate::types::read(ty, &mut self.holes);
                        ty.map(|ty| self.convert(value, &ty))
                    }
                    (_, value) => value,
                };
                self.frames = frames;
                self.scopes.pop();
                value
            }
            Expr::Path(_) => {
                let values: Vec<Value> = items.into_iter().map(|i| self.one(i)).collect();
                let names: Vec<syn::Ident> = (0..values.len())
                    .map(|k| syn::Ident::new(&format!("argument_{k}"), function.span()))
                    .collect();
                self.scopes.push(Default::default());
                for (name, value) in names.iter().zip(values) {
                    let value = self.named(value, "argument");
                    let local = Local {
                        name: value.text,
                        ty: value.ty,
                        mutable: false,
                        reference: false,
                        depth: self.depth,
                        least: i64::MIN,
                        closure: None,
                    };
                    self.declare(&name.to_string(), local);
                }
                let call: syn::ExprCall = syn::parse_quote!(#function(#(#names),*));
                let value = self.call(&call, false);
                self.scopes.pop();
                value
            }
            other => refuse(other, "a closure or a function's name is expected here"),
        }
    }

    pub fn bind(&mut self, pattern: &Pat, item: Item) -> Result<(), Refusal> {
        match (pattern, item) {
            (Pat::Reference(inner), item) => self.bind(&inner.pat, item),
            (Pat::Paren(inner), item) => self.bind(&inner.pat, item),
            (Pat::Ident(ident), Item::Place(value)) if ident.subpat.is_none() => {
                let local = Local {
                    name: value.text,
                    ty: value.ty,
                    mutable: true,
                    reference: true,
                    depth: value.level as usize,
                    least: i64::MIN,
                    closure: None,
                };
                self.declare(&ident.ident.to_string(), local);
                Ok(())
            }
            (Pat::Tuple(tuple), Item::Pair(a, b)) if tuple.elems.len() == 2 => {
                self.bind(&tuple.elems[0], *a)?;
                self.bind(&tuple.elems[1], *b)
            }
            (Pat::Type(typed), item) => {
                let ty = crate::types::read(&typed.ty, &mut self.holes)?;
                let value = self.one(item);
                let value = self.convert(value, &ty);
                self.pattern(&typed.pat, value)
            }
            (pattern, item) => {
                let value = self.one(item);
                self.pattern(pattern, value)
            }
        }
    }

    /// The elements that a chain begins with.
    pub fn elements(&mut self, source: &Expr) -> Result<Elements, Refusal> {
        match unwrapped(source) {
            Expr::Range(range) => {
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
                if matches!(range.limits, syn::RangeLimits::Closed(_)) && literal(&hi).is_none() {
                    let check =
                        format!("prim.select({} < 9223372036854775807, 0, -1) >= 0", hi.text);
                    self.check(range.span(), What::Overflow("add"), &check);
                }
                let more = match range.limits {
                    syn::RangeLimits::Closed(_) => " + 1",
                    syn::RangeLimits::HalfOpen(_) => "",
                };
                let count = self.names.unique("count");
                let (a, b) = (lo.within(5), hi.within(5));
                self.lines.push(format!("{count} = prim.max({b}{more} - {a}, 0)"));
                let least = lo.least;
                Ok(Elements {
                    count,
                    element: Box::new(move |i| {
                        let text = if a == "0" { i.to_string() } else { format!("{a} + {i}") };
                        let level = if a == "0" { 9 } else { 4 };
                        Item::One(Value { level, ..Value::name(text, ty.clone(), least) })
                    }),
                })
            }
            Expr::MethodCall(call) => {
                let name = call.method.to_string();
                let arguments: Vec<&Expr> = call.args.iter().collect();
                match (name.as_str(), &arguments[..]) {
                    ("iter" | "into_iter", [])
                        if !matches!(unwrapped(&call.receiver), Expr::Range(_)) =>
                    {
                        self.list_elements(&call.receiver)
                    }

                    ("iter_mut", []) => self.list_places(&call.receiver),
                    ("copied" | "cloned" | "iter" | "into_iter" | "by_ref", []) => {
                        self.elements(&call.receiver)
                    }
                    ("enumerate", []) => {
                        let Elements { count, element } = self.elements(&call.receiver)?;
                        Ok(Elements {
                            count,
                            element: Box::new(move |i| {
                                let number = Value::name(i.to_string(), Ty::Usize, 0);
                                Item::Pair(Box::new(Item::One(number)), Box::new(element(i)))
                            }),
                        })
                    }
                    ("rev", []) => {
                        let Elements { count, element } = self.elements(&call.receiver)?;
                        let last = count.clone();
                        Ok(Elements {
                            count,
                            element: Box::new(move |i| element(&format!("({last} - 1 - {i})"))),
                        })
                    }
                    ("zip", [other]) => {
                        let first = self.elements(&call.receiver)?;
                        let second = match unwrapped(other) {
                            Expr::MethodCall(_) | Expr::Range(_) => self.elements(other)?,
                            list => self.list_elements(list)?,
                        };
                        let count = self.names.unique("count");
                        let both = format!("{count} = prim.min({}, {})", first.count, second.count);
                        self.lines.push(both);
                        Ok(Elements {
                            count,
                            element: Box::new(move |i| {
                                let (a, b) = ((first.element)(i), (second.element)(i));
                                Item::Pair(Box::new(a), Box::new(b))
                            }),
                        })
                    }
                    ("skip" | "take", [number]) => {
                        let Elements { count, element } = self.elements(&call.receiver)?;
                        let number = self.operand(number)?;
                        let number = self.convert(number, &Ty::Usize);
                        let number = self.atom(number, "number");
                        let fewer = self.names.unique("count");
                        if name == "take" {
                            self.lines
                                .push(format!("{fewer} = prim.min({count}, {})", number.text));
                            return Ok(Elements { count: fewer, element });
                        }
                        self.lines
                            .push(format!("{fewer} = prim.max({count} - {}, 0)", number.within(5)));
                        let by = number.within(4);
                        Ok(Elements {
                            count: fewer,
                            element: Box::new(move |i| element(&format!("({i} + {by})"))),
                        })
                    }
                    ("clone" | "to_vec", []) => self.list_elements(source),
                    ("map" | "filter", _) => refuse(
                        &call.method,
                        format!(
                            "`{name}` stands behind `zip`, `enumerate`, `rev`, `skip` and `take` here"
                        ),
                    ),
                    _ => refuse(
                        &call.method,
                        format!(
                            "the iterator `{name}` is not built: write a `for` loop over indices"
                        ),
                    ),
                }
            }
            Expr::Reference(reference) if reference.mutability.is_some() => {
                self.list_places(&reference.expr)
            }
            other => self.list_elements(other),
        }
    }

    /// Elements that may be assigned. A place has the depth of its variable where values have a level.
    fn list_places(&mut self, list: &Expr) -> Result<Elements, Refusal> {
        let depth = self.root(list).map_or(0, |local| local.depth) as u8;
        let (place, length) = self.looked_at(list)?;
        let element = self.element(&place.ty);
        let count = self.names.unique("count");
        self.lines.push(format!("{count} = {length}"));
        Ok(Elements {
            count,
            element: Box::new(move |i| {
                let text = match place.text.rsplit_once(" .. ") {
                    Some((open, _)) if place.level == 2 => format!("{open} + {i}]"),
                    _ => match place.text.strip_suffix(']') {
                        Some(open) => format!("{open}, {i}]"),
                        None => format!("{}[{i}]", place.text),
                    },
                };
                let value = Value::name(text, element.clone(), i64::MIN);
                Item::Place(Value { level: depth, stable: false, ..value })
            }),
        })
    }

    fn list_elements(&mut self, list: &Expr) -> Result<Elements, Refusal> {
        let value = self.expression(list)?;
        let ty = self.resolve(&value.ty);
        if !matches!(ty, Ty::Array(..) | Ty::Of(..)) {
            return refuse(
                list,
                format!(
                    "an array is expected here, and `{}` is not known to be one",
                    list.to_token_stream()
                ),
            );
        }
        let value = self.named(value, "list");
        let element = self.element(&ty);
        let least = if element == Ty::Usize { 0 } else { i64::MIN };
        let count = self.names.unique("count");
        self.lines.push(format!("{count} = size({})", value.text));
        Ok(Elements {
            count,
            element: Box::new(move |i| {
                let text = format!("{}[{i}]", value.text);
                Item::One(Value::name(text, element.clone(), least))
            }),
        })
    }

    /// A literal, or a name that nothing assigns.
    fn atom(&mut self, value: Value, wanted: &str) -> Value {
        match literal(&value) {
            Some(_) => value,
            None => self.named(value, wanted),
        }
    }
}

/// Looks for a `return`.
struct Returns(Option<proc_macro2::Span>);

impl Visit<'_> for Returns {
    fn visit_expr_return(&mut self, jump: &syn::ExprReturn) {
        self.0.get_or_insert(jump.return_token.span);
    }
}

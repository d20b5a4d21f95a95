//! Chains of iterators, `x.iter().zip(y).map(|(a, b)| a * b).sum()`, as one loop.
//!
//! What comes before the last `map`s and `filter`s decides which elements there are, and in which order (`elements`); the closures behind
//! that are written into the loop, where they run for one element after the other, as in Rust:
//!
//! ```text
//! x.iter().filter(|v| **v > 0.0).map(|v| v.ln()).sum()     var total = -0.0
//!                                                          for (i < size(x)) {
//!                                                            element = x[i]
//!                                                            if element > 0.0 { total = total + prim.log(element) }
//!                                                          }
//! ```

use crate::elements::Item;
use crate::iterators::{OUT_OF_A_CLOSURE, returns_in, split};
use crate::lowering::{Local, Lowering, indented};
use crate::syntax::unwrapped;
use crate::types::{Extent, Ty, array};
use crate::value::{Value, unit};
use crate::{Refusal, refuse};
use syn::spanned::Spanned;
use syn::{Expr, ExprMethodCall, Pat};

/// A loop: over how many elements, and while what.
pub(crate) struct Head {
    pub index: String,
    pub count: String,
    pub goes: Vec<String>,
}

impl Head {
    /// Its text, with another condition.
    pub fn text(&self, also: &str) -> String {
        let all = self.goes.iter().map(String::as_str).chain([also]).filter(|w| !w.is_empty());
        let goes: Vec<&str> = all.collect();
        let goes =
            if goes.is_empty() { String::new() } else { format!(" while {}", goes.join(" && ")) };
        format!("for ({} < {}){goes}", self.index, self.count)
    }
}

/// A method that goes on with an element, and the variable that `scan` and `take_while` keep.
pub(crate) struct Stage<'e> {
    pub call: &'e ExprMethodCall,
    pub kept: Option<Value>,
}

/// Whether an element takes the place of the one that is kept (whether there is one, and that), and while what the loop goes on.
type Decide<'d, L> =
    dyn FnMut(&mut L, (&Value, &Value), &Value) -> Result<(Value, String), Refusal> + 'd;

/// The `chunks` of a chain, if it begins with one.
fn chunks_in(chain: &Expr) -> Option<&syn::Ident> {
    match unwrapped(chain) {
        Expr::MethodCall(call) if call.method == "chunks" => Some(&call.method),
        Expr::MethodCall(call) => chunks_in(&call.receiver),
        _ => None,
    }
}

impl Lowering<'_> {
    /// The loop of a chain: its range, the first element, and what goes on with it.
    pub fn chained<'e>(
        &mut self,
        iterator: &'e Expr,
    ) -> Result<(String, Head, Item, Vec<Stage<'e>>), Refusal> {
        let (calls, source) = split(iterator);
        let elements = self.elements(source)?;
        let (mut stages, mut goes) = (Vec::<Stage<'_>>::new(), Vec::new());
        for call in calls {
            if call.method == "skip_while" {
                let kept = self.variable("skipping", "true");
                stages.push(Stage { call, kept: Some(Value::name(kept, Ty::Bool, 0)) });
                continue;
            }
            if call.method == "take_while" || call.method == "map_while" {
                if let Some(inner) = stages.iter().find(|s| is_nested(s)) {
                    return refuse(&inner.call.method, NESTED);
                }
                let go = self.variable("go", "true");
                let kept = Some(Value::name(go.clone(), Ty::Bool, 0));
                goes.push(go);
                stages.push(Stage { call, kept });
                continue;
            }
            let kept = match (call.method == "scan", call.args.first()) {
                (true, Some(start)) => {
                    let start = self.expression(start)?;
                    let name = self.variable("kept", &start.text);
                    let kept = Value::name(name, start.ty, i64::MIN);
                    Some(Value { level: self.depth as u8, stable: false, ..kept })
                }
                _ => None,
            };
            stages.push(Stage { call, kept });
        }
        let index = self.names.unique("i");
        let item = (elements.element)(&index);
        let head = Head { index: index.clone(), count: elements.count, goes };
        Ok((index, head, item, stages))
    }

    /// The value of a chain.
    pub fn chain(&mut self, end: &ExprMethodCall) -> Result<Value, Refusal> {
        let written = self.expected.lists.take();
        if let ("rfind", Some(test)) = (end.method.to_string().as_str(), end.args.first()) {
            let iterator = &end.receiver;
            return self.expression(&syn::parse_quote!(#iterator.rev().find(#test)));
        }
        if end.method == "rfold" {
            let (iterator, arguments) = (&end.receiver, &end.args);
            return self.expression(&syn::parse_quote!(#iterator.rev().fold(#arguments)));
        }
        if let Some(told) = crate::ended::told(end).or_else(|| crate::lazily::told(end)) {
            return self.expression(&told);
        }
        if let Some(told) = self.row_by_place(end) {
            return self.expression(&told);
        }
        if end.method == "try_fold" {
            let told = crate::restated::tried(end)?;
            return self.expression(&told);
        }
        if let Some(told) = crate::chunked::each(end) {
            self.for_loop(&told)?;
            return Ok(unit());
        }
        if crate::iterators::WHOLE.iter().any(|name| end.method == name)
            && let Some((lists, told)) = crate::iterators::joined(&end.receiver)
        {
            let mut end = end.clone();
            *end.receiver = told;
            return self.expression(&syn::parse_quote!({ #(#lists)* #end }));
        }
        let (calls, _) = split(&end.receiver);
        if end.method == "collect" && calls.iter().any(|c| c.method != "map" && c.method != "scan")
        {
            return self.gathered(end);
        }
        let (index, head, item, stages) = self.chained(&end.receiver)?;
        let name = end.method.to_string();
        let arguments: Vec<&Expr> = end.args.iter().collect();
        let count = head.count.clone();
        let each = stages.iter().all(|s| s.call.method == "map" || s.call.method == "scan");
        match (name.as_str(), &arguments[..]) {
            ("sum" | "product", []) => self.total(end, head, item, &stages),
            ("count", []) if stages.is_empty() => Ok(Value::name(count, Ty::Usize, 0)),
            ("count", []) => {
                let total = self.variable("total", "0");
                let (block, ()) = self.nested(|this| {
                    this.staged(item, &stages, &mut |this, item| {
                        this.forced(item)?;
                        this.assigned_to(&total, &format!("{total} + 1"));
                        Ok(())
                    })
                })?;
                self.lines.push(format!("{} {{\n{}\n}}", head.text(""), indented(&block.lines)));
                Ok(Value::name(total, Ty::Usize, 0))
            }
            ("for_each", [step]) => {
                let (block, ()) = self.nested(|this| {
                    this.staged(item, &stages, &mut |this, item| {
                        let value = this.applied(step, vec![item])?;
                        if !value.cheap && value.ty != Ty::Unit {
                            this.named(Value { stable: false, ..value }, "unused");
                        }
                        Ok(())
                    })
                })?;
                self.loop_of(&head, block);
                Ok(unit())
            }
            ("fold", [start, step]) => {
                // Of what a `None` is none, the closure's parameter says.
                let written = match unwrapped(step) {
                    Expr::Closure(own) => match own.inputs.first() {
                        Some(Pat::Type(typed)) => Some(&*typed.ty),
                        _ => None,
                    },
                    _ => None,
                };
                let value = self.expression(start)?;
                let ty = match written {
                    Some(ty) => crate::types::read(ty, &mut self.parts.holes)?,
                    None => Ty::Never,
                };
                let start = self.with_type(value, &ty, start)?;
                let total = self.variable("total", &start.text);
                let mut ty = start.ty.clone();
                let (block, ()) = self.nested(|this| {
                    this.staged(item, &stages, &mut |this, item| {
                        let old = Value {
                            stable: false,
                            ..Value::name(total.clone(), ty.clone(), i64::MIN)
                        };
                        let value = this.applied(step, vec![Item::One(old.clone()), item])?;
                        ty = this.unify(&ty, &value.ty);
                        let value = this.as_long(&old, value, end.method.span());
                        this.assigned_to(&total, &value.text);
                        Ok(())
                    })
                })?;
                self.lines.push(format!("{} {{\n{}\n}}", head.text(""), indented(&block.lines)));
                Ok(Value { stable: true, ..Value::name(total, ty, i64::MIN) })
            }
            ("all" | "any", [test]) => {
                if let Some(inner) = stages.iter().find(|s| is_nested(s)) {
                    return refuse(&inner.call.method, NESTED);
                }
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
                self.lines.push(format!("{} {{\n{}\n}}", head.text(&goes), indented(&block.lines)));
                Ok(Value::name(found, Ty::Bool, 0))
            }
            ("collect", []) => {
                if crate::syntax::collects_into_option(end) {
                    return refuse(&end.method, crate::syntax::COLLECTED);
                }
                let assigned = self.assigned;
                let (block, value) = self.nested(|this| {
                    let mut value = None;
                    this.staged(item, &stages, &mut |this, item| {
                        let one = this.one(item)?;
                        value = Some(this.as_row(one));
                        Ok(())
                    })?;
                    Ok(value)
                })?;
                let Some(value) = value else { return refuse(&end.method, "this is not built") };
                self.collected_of_calls(end, &value.ty);
                let mut lines = block.lines;
                let value = self.row_of_lines(&mut lines, value, &index, written.as_ref());
                let list = matches!(value.ty, Ty::Array(_, Extent::Slice | Extent::Vec));
                if let Some(chunks) = chunks_in(&end.receiver).filter(|_| list) {
                    return refuse(
                        chunks,
                        "the last of these may be shorter, and rows are of one length here: write `chunks_exact(k)`",
                    );
                }
                if self.assigned == assigned {
                    let head = (index.as_str(), count.as_str());
                    self.of_one_length(&mut lines, &value, head, end.method.span());
                } else {
                    lines.push(value.text);
                }
                let list = self.names.unique("list");
                self.lines.push(format!("{list} = {} {{\n{}\n}}", head.text(""), indented(&lines)));
                Ok(Value::name(list, array(value.ty, Extent::Slice), i64::MIN))
            }
            ("nth" | "next", _) if stages.is_empty() && arguments.len() < 2 => {
                let at = match arguments.first() {
                    Some(at) => {
                        let at = self.operand(at)?;
                        self.convert(at, &Ty::Usize).text
                    }
                    None => "0".to_string(),
                };
                self.lines.push(format!("{index} = {at}"));
                let (block, value) = self.nested(|this| this.one(item))?;
                let ty = self.resolve(&value.ty);
                let other = self.neutral(&ty, &end.method)?;
                let mut lines = block.lines;
                lines.push(format!("#(true, {})", value.text));
                let name = self.names.unique("option");
                self.lines.push(format!(
                    "{name} = if {index} < {count} {{\n{}\n}} else {{ #(false, {other}) }}",
                    indented(&lines)
                ));
                Ok(Value::name(name, Ty::Option(Box::new(ty)), i64::MIN))
            }
            ("rposition", [test]) if stages.is_empty() => {
                let from = &end.receiver;
                let option = self.expression(&syn::parse_quote!((#from).rev().position(#test)))?;
                let option = self.named(option, "option");
                let text = format!("#({0}.0, {count} - 1 - {0}.1)", option.text);
                let name = self.names.unique("option");
                self.lines.push(format!("{name} = {text}"));
                Ok(Value::name(name, option.ty, i64::MIN))
            }
            ("position", [test]) if each => {
                let found = self.variable("found", "false");
                let at = self.variable("at", "0");
                let (block, ()) = self.nested(|this| {
                    this.staged(item, &stages, &mut |this, item| {
                        let value = this.applied(test, vec![item])?;
                        this.assigned_to(&found, &value.text);
                        this.assigned_to(&at, &index);
                        Ok(())
                    })
                })?;
                self.lines.push(format!(
                    "{} {{\n{}\n}}",
                    head.text(&format!("!{found}")),
                    indented(&block.lines)
                ));
                let at = Value::name(at, Ty::Usize, 0);
                Ok(self.option(Value::name(found, Ty::Bool, 0), at))
            }
            ("find", [test]) if each => {
                self.kept(end, &head, item, &stages, &mut |this, old, new| {
                    let (found, _) = old;
                    let test = this.applied(test, vec![Item::One(new.clone())])?;
                    Ok((test, format!("!{}", found.text)))
                })
            }
            ("last", []) => self.kept(end, &head, item, &stages, &mut |_, _, _| {
                Ok((Value::name("true".to_string(), Ty::Bool, 0), String::new()))
            }),
            ("min" | "max", []) => {
                let less = name == "min";
                self.kept(end, &head, item, &stages, &mut |this, (found, old), new| {
                    if !(new.ty.is_integer() || matches!(new.ty, Ty::Of(..))) {
                        return refuse(
                            &end.method,
                            format!(
                                "this is for integers: write `.fold(f64::INFINITY, f64::{name})`"
                            ),
                        );
                    }
                    let ty = this.unify(&old.ty, &new.ty);
                    // Of equal ones Rust gives the first least, and the last largest.
                    let op = if less { "<" } else { ">=" };
                    let better = this.below(op, &ty, new, old);
                    let text = format!("!{} || {}", found.text, better.within(2));
                    Ok((Value::new(text, Ty::Bool, 1, &[]), String::new()))
                })
            }
            ("min_by" | "max_by", [order]) => {
                let crate::options::Compared { first, second, left, right, total, equal } =
                    crate::options::compared(order)?;
                let largest = name == "max_by";
                self.kept(end, &head, item, &stages, &mut |this, (found, old), new| {
                    this.scopes.push(Default::default());
                    // Rust compares the one that it has with the next one.
                    let bound = this.bind(first, Item::One(old.clone()));
                    let bound = bound.and_then(|()| this.bind(second, Item::One(new.clone())));
                    let sides = bound.and_then(|()| this.operands(&[left, right]));
                    this.scopes.pop();
                    let sides = sides?;
                    let [a, b] = &sides[..] else {
                        return refuse(order, "two values are expected");
                    };
                    let ty = this.unify(&a.ty, &b.ty);
                    let (a, b) = (this.named(a.clone(), "a"), this.named(b.clone(), "b"));
                    // Of equal ones Rust gives the first least, and the last largest.
                    if total {
                        let not = if largest { "" } else { "!" };
                        let test = |name: &str| format!("{not}{name}({}, {})", a.text, b.text);
                        let text =
                            this.by_width(&ty, &test("rust_in_order"), &test("rust_in_order_f32"));
                        let text = format!("!{} || {text}", found.text);
                        return Ok((Value::new(text, Ty::Bool, 1, &[]), String::new()));
                    }
                    if equal {
                        let not = if largest { "!" } else { "" };
                        let more = this.below(">", &ty, &a, &b).text;
                        let text = format!("!{} || {not}({more})", found.text);
                        return Ok((Value::new(text, Ty::Bool, 1, &[]), String::new()));
                    }
                    let said = "called `Option::unwrap()` on a `None` value".to_string();
                    let ordered = format!(
                        "!{} || {} <= {} || {} >= {}",
                        found.text, a.text, b.text, a.text, b.text
                    );
                    let ordered = Value::new(ordered, Ty::Bool, 1, &[]);
                    this.asserted(order.span(), &ordered, said);
                    let op = if largest { "<=" } else { ">" };
                    let better = this.below(op, &ty, &a, &b);
                    let text = format!("!{} || {}", found.text, better.within(2));
                    Ok((Value::new(text, Ty::Bool, 1, &[]), String::new()))
                })
            }
            ("reduce", [step]) => {
                let ty = self.reduced(&head, item, &stages, step, end)?;
                Ok(ty)
            }
            _ => refuse(
                &end.method,
                format!("`{name}` of an iterator is not built in this form: write a `for` loop"),
            ),
        }
    }

    /// A loop without a value. The language has none without effect.
    pub fn loop_of(&mut self, head: &Head, mut block: crate::lowering::Lines) {
        if !block.effect {
            block.lines.push("check 0 >= 0".to_string());
        }
        self.lines.push(format!("{} {{\n{}\n}}", head.text(""), indented(&block.lines)));
    }

    /// One of the elements, if there are any: `decide` says whether an element takes the place of the one that is kept, and while what
    /// the loop goes on.
    fn kept(
        &mut self,
        end: &ExprMethodCall,
        head: &Head,
        item: Item,
        stages: &[Stage<'_>],
        decide: &mut Decide<'_, Self>,
    ) -> Result<Value, Refusal> {
        if let Some(inner) = stages.iter().find(|s| is_nested(s)) {
            return refuse(&inner.call.method, NESTED);
        }
        let (found, best) = (self.names.unique("found"), self.names.unique("best"));
        let at = self.lines.len();
        let (mut ty, mut goes) = (Ty::Never, String::new());
        let (block, ()) = self.nested(|this| {
            this.staged(item, stages, &mut |this, item| {
                let new = this.one(item)?;
                let new = this.named(new, "element");
                ty = this.resolve(&new.ty);
                let open = |name: &str, ty: Ty| Value {
                    stable: false,
                    ..Value::name(name.to_string(), ty, i64::MIN)
                };
                let old = (&open(&found, Ty::Bool), &open(&best, ty.clone()));
                let (better, while_) = decide(this, old, &new)?;
                goes = while_;
                let (block, ()) = this.nested(|this| {
                    this.assigned_to(&best, &new.text);
                    this.assigned_to(&found, "true");
                    Ok(())
                })?;
                this.lines.push(format!("if {} {{\n{}\n}}", better.text, indented(&block.lines)));
                Ok(())
            })
        })?;
        self.start_kept(at, &found, &best, &ty, end)?;
        self.lines.push(format!("{} {{\n{}\n}}", head.text(&goes), indented(&block.lines)));
        let least = if ty == Ty::Usize { 0 } else { i64::MIN };
        Ok(self.option(Value::name(found, Ty::Bool, 0), Value::name(best, ty, least)))
    }

    fn start_kept(
        &mut self,
        at: usize,
        found: &str,
        best: &str,
        ty: &Ty,
        end: &ExprMethodCall,
    ) -> Result<(), Refusal> {
        let start = self
            .neutral(ty, &end.method)
            .map_err(|refusal| Refusal { message: LISTS.to_string(), ..refusal })?;
        self.lines.insert(at, format!("var {found} = false\nvar {best} = {start}"));
        Ok(())
    }

    /// `reduce`: each element with what there is so far.
    fn reduced(
        &mut self,
        head: &Head,
        item: Item,
        stages: &[Stage<'_>],
        step: &Expr,
        end: &ExprMethodCall,
    ) -> Result<Value, Refusal> {
        let (found, best) = (self.names.unique("found"), self.names.unique("best"));
        let (at, mut ty) = (self.lines.len(), Ty::Never);
        let (block, ()) = self.nested(|this| {
            this.staged(item, stages, &mut |this, item| {
                let new = this.one(item)?;
                let new = this.named(new, "element");
                ty = this.resolve(&new.ty);
                let (first, ()) = this.nested(|this| {
                    this.assigned_to(&best, &new.text);
                    this.assigned_to(&found, "true");
                    Ok(())
                })?;
                let (other, ()) = this.nested(|this| {
                    let old =
                        Value { stable: false, ..Value::name(best.clone(), ty.clone(), i64::MIN) };
                    let value = this.applied(step, vec![Item::One(old), Item::One(new)])?;
                    ty = this.unify(&ty, &value.ty);
                    this.assigned_to(&best, &value.text);
                    Ok(())
                })?;
                this.lines.push(format!(
                    "if {found} {{\n{}\n}} else {{\n{}\n}}",
                    indented(&other.lines),
                    indented(&first.lines)
                ));
                Ok(())
            })
        })?;
        self.start_kept(at, &found, &best, &ty, end)?;
        self.lines.push(format!("{} {{\n{}\n}}", head.text(""), indented(&block.lines)));
        Ok(self.option(Value::name(found, Ty::Bool, 0), Value::name(best, ty, i64::MIN)))
    }

    /// `sum` and `product`, in order. The sum of no floats is -0.0 in Rust.
    fn total(
        &mut self,
        end: &ExprMethodCall,
        head: Head,
        item: Item,
        stages: &[Stage<'_>],
    ) -> Result<Value, Refusal> {
        let sum = end.method == "sum";
        let said = match &end.turbofish {
            Some(types) => match types.args.first() {
                Some(syn::GenericArgument::Type(ty)) => {
                    Some(crate::types::read(ty, &mut self.parts.holes)?)
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
                let value = this.one(item)?;
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
        self.summed(&ty, end.method.span());
        let (float, integer) = if sum { ("-0.0", "0") } else { ("1.0", "1") };
        let start = match &ty {
            float_type if float_type.is_float() => self.float(float, float_type),
            integer_type if integer_type.is_integer() => integer.to_string(),
            // A float or an integer: rustc knows.
            of @ Ty::Of(..) => match self.only("int", of) {
                Some((open, close)) => {
                    format!("{}{open}{integer}{close}", self.either(of, float))
                }
                None => float.to_string(),
            },
            _ => return refuse(&end.method, "a sum is of numbers"),
        };
        self.lines.insert(at, format!("var {total} = {start}"));
        self.lines.push(format!("{} {{\n{}\n}}", head.text(""), indented(&block.lines)));
        Ok(Value::name(total, ty, i64::MIN))
    }

    /// A number as the text of a float, if it is one.
    fn either(&self, ty: &Ty, digits: &str) -> String {
        match (self.only("f64", ty), self.only("f32", ty)) {
            (Some(a), Some(b)) => format!("{}{digits}{}{}{digits}f32{}", a.0, a.1, b.0, b.1),
            _ => digits.to_string(),
        }
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

    /// An element as one value.
    pub fn one(&mut self, item: Item) -> Result<Value, Refusal> {
        Ok(match self.forced(item)? {
            Item::One(value) | Item::Place(value) => self.row(value),
            Item::Pair(a, b) => {
                let (a, b) = (self.one(*a)?, self.one(*b)?);
                let ty = Ty::Tuple(vec![a.ty.clone(), b.ty.clone()]);
                Value::new(format!("#({}, {})", a.text, b.text), ty, 9, &[&a, &b])
            }
            Item::Mapped(inner, _) => self.one(*inner)?,
        })
    }

    /// A closure, or a function by its name, of some arguments.
    pub fn applied(&mut self, function: &Expr, items: Vec<Item>) -> Result<Value, Refusal> {
        match unwrapped(function) {
            Expr::Closure(closure) => {
                let told = crate::unjumped::told(closure);
                let closure = told.as_ref().unwrap_or(closure);
                if let Some(span) = returns_in(&closure.body) {
                    let message = OUT_OF_A_CLOSURE.to_string();
                    return Err(Refusal::new(Some(span), message));
                }
                if self.fails()
                    && !self.expected.failing_closures
                    && let Some(token) = crate::syntax::question(&closure.body)
                {
                    return refuse(&token, crate::syntax::WITHIN);
                }
                let failing = std::mem::take(&mut self.expected.failing_closures);
                self.scopes.push(Default::default());
                let frames = std::mem::take(&mut self.loops.frames);
                let bound = closure.inputs.iter().zip(items);
                let mut done = Ok(());
                for (pattern, item) in bound {
                    done = done.and_then(|()| self.bind(pattern, item));
                }
                let value = done.and_then(|()| match &closure.output {
                    syn::ReturnType::Type(_, ty) => self.expression_of(&closure.body, ty),
                    syn::ReturnType::Default => self.expression(&closure.body),
                });
                self.expected.failing_closures = failing;
                self.loops.frames = frames;
                self.scopes.pop();
                value
            }
            Expr::Path(path) => {
                let values: Result<Vec<Value>, Refusal> =
                    items.into_iter().map(|i| self.one(i)).collect();
                let values = values?;
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
                        stack: None,
                        untyped: None,
                    };
                    self.declare(&name.to_string(), local);
                }
                let value = match (method_of_list(path), names.split_first()) {
                    (Some(method), Some((list, rest))) => {
                        self.expression(&syn::parse_quote!(#list.#method(#(#rest),*)))
                    }
                    _ => self.call(&syn::parse_quote!(#function(#(#names),*)), false),
                };
                self.scopes.pop();
                value
            }
            other => refuse(
                other,
                "a closure or a function's name is expected here: a closure that another one gives has a name, `let g = scaled(2.0);`",
            ),
        }
    }

    /// Whether a pattern takes a place apart into all of its parts.
    fn has_parts(&self, pattern: &Pat, place: &Value) -> bool {
        match (pattern, self.resolve(&place.ty)) {
            (Pat::Tuple(tuple), Ty::Tuple(items)) => tuple.elems.len() == items.len(),
            (Pat::Tuple(tuple), Ty::Of(..)) => {
                !tuple.elems.iter().any(|p| matches!(p, Pat::Rest(_)))
            }
            (Pat::Struct(_), Ty::Of(..)) => true,
            _ => false,
        }
    }

    /// Names for the parts of a place: what is assigned to them is assigned there.
    fn bind_parts(&mut self, pattern: &Pat, place: &Value) -> Result<(), Refusal> {
        let fields: Vec<(syn::Member, &Pat)> = match pattern {
            Pat::Tuple(tuple) => {
                tuple.elems.iter().enumerate().map(|(k, p)| (syn::Member::from(k), p)).collect()
            }
            Pat::Struct(of) => of.fields.iter().map(|f| (f.member.clone(), &*f.pat)).collect(),
            _ => Vec::new(),
        };
        for (member, pattern) in fields {
            let part = self.member(place, &member)?;
            self.bind(pattern, Item::Place(Value { level: place.level, ..part }))?;
        }
        Ok(())
    }

    /// The value of a closure's body, which is of the type that is written.
    fn expression_of(&mut self, body: &Expr, written: &syn::Type) -> Result<Value, Refusal> {
        let ty = crate::types::read(written, &mut self.parts.holes)?;
        let mut last = unwrapped(body);
        while let Expr::Block(block) = last
            && let [syn::Stmt::Expr(inner, None)] = &block.block.stmts[..]
        {
            last = unwrapped(inner);
        }
        if crate::syntax::is_from_fn(last) {
            self.expected.wanted = Some(ty.clone());
        }
        // So it is at the end of a block.
        if let Expr::Block(block) = last
            && let Some((syn::Stmt::Expr(end, None), before)) = block.block.stmts.split_last()
            && (crate::syntax::is_from_fn(end) || crate::syntax::into_array(end).is_some())
        {
            let told =
                syn::parse_quote!({ #(#before)* let __jut_made: #written = #end; __jut_made });
            return self.expression(&told);
        }
        let value = self.expression(last)?;
        Ok(self.convert(value, &ty))
    }

    pub fn bind(&mut self, pattern: &Pat, item: Item) -> Result<(), Refusal> {
        match (pattern, item) {
            // What is copied is no place.
            (Pat::Reference(inner), Item::Place(value)) if inner.mutability.is_some() => {
                self.bind(&inner.pat, Item::One(Value { stable: false, ..value }))
            }
            (Pat::Reference(inner), item) => self.bind(&inner.pat, item),
            (Pat::Paren(inner), item) => self.bind(&inner.pat, item),
            (pattern, item @ Item::Mapped(..)) => {
                let item = self.forced(item)?;
                self.bind(pattern, item)
            }
            (Pat::Ident(ident), Item::Place(value)) if ident.subpat.is_none() => {
                let value = self.row_place(value);
                let local = Local {
                    name: value.text,
                    ty: value.ty,
                    mutable: true,
                    reference: true,
                    depth: value.level as usize,
                    least: i64::MIN,
                    closure: None,
                    stack: None,
                    untyped: None,
                };
                self.declare(&ident.ident.to_string(), local);
                Ok(())
            }
            (Pat::Tuple(tuple), Item::Pair(a, b)) if tuple.elems.len() == 2 => {
                self.bind(&tuple.elems[0], *a)?;
                self.bind(&tuple.elems[1], *b)
            }
            // Parts of a place are places.
            (pattern @ (Pat::Tuple(_) | Pat::Struct(_)), Item::Place(value))
                if self.has_parts(pattern, &value) =>
            {
                self.bind_parts(pattern, &value)
            }
            (Pat::Type(typed), item) => {
                let ty = crate::types::read(&typed.ty, &mut self.parts.holes)?;
                let value = self.one(item)?;
                let value =
                    if self.is_uneven(&value.ty) { value } else { self.convert(value, &ty) };
                self.pattern(&typed.pat, value)
            }
            (pattern, item) => {
                let value = self.one(item)?;
                self.pattern(pattern, value)
            }
        }
    }
}

/// Whether a method goes over elements of an element.
pub(crate) fn is_nested(stage: &Stage<'_>) -> bool {
    stage.call.method == "flat_map" || stage.call.method == "flatten"
}

pub(crate) const NESTED: &str =
    "this is not built before a method that ends early or keeps one: write a `for` loop";

/// The method that a path names of lists: `<[f64]>::to_vec`, `Vec::len`.
fn method_of_list(path: &syn::ExprPath) -> Option<&syn::Ident> {
    let last = &path.path.segments.last()?.ident;
    let of_slice = path.qself.as_ref().is_some_and(|of| matches!(*of.ty, syn::Type::Slice(_)));
    let owner = path.path.segments.iter().rev().nth(1);
    let of_vec = path.qself.is_none() && owner.is_some_and(|owner| owner.ident == "Vec");
    (of_slice || of_vec && last != "new" && last != "from" && last != "with_capacity")
        .then_some(last)
}

/// What is said of a search whose elements have lists in them.
const LISTS: &str =
    "these elements have lists in them: search the place, `(0..rows.len()).max_by(|&i, &k| ..)`";

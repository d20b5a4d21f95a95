//! Functions of whole arrays that are loops: `sum(x)`, `mean(x)`, `argmax(x)`, `softmax(x)`, ..
//!
//! | call | what it is |
//! |---|---|
//! | `sum(x)`, `mean(x)` | `sum (v <- x) v`, over all dimensions; by the number of elements |
//! | `prod(x)`, `any(b)`, `all(b)` | `for (v <- x) carry (p = 1.0) { p * v }`, and with `\|\|`, `&&` |
//! | `max(x)`, `min(x)` | `max (v <- x) v` |
//! | `argmax(x)`, `argmin(x)` | the index that `max` and `min` find |
//! | `cumprod(x)` | running products |
//! | `logsumexp(x)`, `softmax(x)` | of `x` less its largest element, where that is finite |
//!
//! An argument that is an operation for each element is part of the loop: `sum(x * y)` makes no array.

use super::body::Body;
use super::each::elements_of;
use super::head::Sum;
use super::made::{Each, Elements, Function, Lazy, Made, Operand, Out, Value, Values};
use super::{Res, Stop};
use crate::ast::{self, LoopKind};
use jut_ir::prim::Syntax;
use jut_ir::{
    Atom, Check, Diagnostic, Dir, Literal, Mode, Operand as Added, Place, Rhs, Size, Span, Type,
};

/// The functions of this file that are nothing else; `max` and `min` are functions of two numbers as well.
pub(super) const LIBRARY: [&str; 10] =
    ["sum", "mean", "prod", "any", "all", "argmax", "argmin", "cumprod", "logsumexp", "softmax"];

impl<'a, 's> Body<'a, 's> {
    /// A call of a function of this file; `None` if it is none.
    pub(super) fn library(
        &mut self,
        text: &'s str,
        call: &'a ast::Call<'s>,
        span: Span,
    ) -> Res<Option<Lazy<'s>>> {
        let extremum = matches!(text, "max" | "min") && call.args.len() == 1;
        if !LIBRARY.contains(&text) && !extremum {
            return Ok(None);
        }
        self.surface_only(span, &format!("`{text}` of an array"), "write the loop, `scan`")?;
        let [e] = call.args.as_slice() else {
            let message = format!("`{text}` takes one array, not {} arguments", call.args.len());
            let help = match (text, call.args.len()) {
                ("sum", 2) => {
                    "of all dimensions it is `sum(x)`; the sum of the rows of a matrix is `sum_rows(x)`, that of its \
                     columns `sum_columns(x)`"
                        .to_string()
                }
                (_, 2) => format!(
                    "of all dimensions it is `{text}(x)`; of each row, `build (i < size(x)) {{ {text}(x[i]) }}`"
                ),
                _ => format!("write `{text}(x)`"),
            };
            return self.error("J208", span, message, help);
        };
        let at = self.span(*e);
        let operands = [(self.each_operand(*e)?, at)];
        if !self.is_for_each(&operands) {
            let [(operand, _)] = operands;
            let shown = match self.forced(operand)? {
                Value::N(a) => self.show(&self.type_of(a)),
                Value::L(x) => self.show(&self.lin_type(x)),
            };
            let message =
                format!("`{text}` takes an array of numbers, and this is of type {shown}");
            let help = match text {
                "max" | "min" => format!("of two numbers, write `{text}(a, b)`"),
                "sum" => "loop over it: `sum (i < n) { x[i].a }`".to_string(),
                _ => format!("give an array: `{text}(x)`"),
            };
            return self.error("J205", at, message, help);
        }
        let [(operand, _)] = operands;
        let each = self.as_each(operand, at)?;
        Ok(Some(self.of_array(text, each, span)?))
    }

    fn of_array(&mut self, text: &'s str, each: Each<'s>, span: Span) -> Res<Lazy<'s>> {
        Ok(match text {
            "sum" => self.summed(each, span)?.into(),
            "mean" => self.mean(&each, span)?.into(),
            "prod" => self.folded(&each, "*", span)?,
            "any" => self.folded(&each, "||", span)?,
            "all" => self.folded(&each, "&&", span)?,
            "cumprod" => self.running_product(&each, span)?,
            "argmax" | "argmin" => {
                let k = self.place_of_extremum(&each, text, span)?;
                values(k, span)
            }
            "max" | "min" => {
                let k = self.place_of_extremum(&each, text, span)?;
                values(self.element_at(&each, k, span)?, span)
            }
            "logsumexp" => {
                let (shift, exps) = self.shifted(each, text, span)?;
                let sum = self.summed(exps, span)?;
                let sum = self.one(sum)?;
                let log = self.primitive("log", Syntax::Call, vec![sum], span)?;
                let log = self.one(log)?;
                self.primitive("+", Syntax::Infix, vec![shift, log], span)?.into()
            }
            _ => {
                let (_, exps) = self.shifted(each, text, span)?;
                let exps = self.forced(Operand::Each(exps))?;
                let whole = self.as_each(Operand::Value(exps), span)?;
                let sum = self.summed(whole.clone(), span)?;
                let sum = Operand::Value(Value::N(self.one(sum)?));
                let parts = vec![(Operand::Each(whole), span), (sum, span)];
                Lazy::Each(self.for_each(Function::Infix("/"), parts, span)?)
            }
        })
    }

    /// The one result of an operation, bound to a temporary.
    fn one(&mut self, out: Out) -> Res<Atom> {
        self.bind(out, &[], &[])?.nl.first().copied().ok_or(Stop)
    }

    /// The sum of all elements. Those of 32 bits are added in 64 bits, and their sum is converted.
    fn summed(&mut self, each: Each<'s>, span: Span) -> Res<Out> {
        let narrow = each.element.clone();
        let each = self.widened_each(each, span)?;
        let sum = self.summed_rows(&each, each.arrays(), &each.dims, span)?;
        if each.element == narrow {
            return Ok(sum);
        }
        let sum = self.one(sum)?;
        Ok(self.converted_to(sum, &narrow, span))
    }

    /// Elements of 32 bits in 64.
    fn widened_each(&mut self, each: Each<'s>, span: Span) -> Res<Each<'s>> {
        let text = match each.element {
            Type::F32 => "f64",
            Type::I32 => "i64",
            _ => return Ok(each),
        };
        self.for_each(Function::Call(text), vec![(Operand::Each(each), span)], span)
    }

    fn summed_rows(
        &mut self,
        each: &Each<'s>,
        outer: Elements,
        dims: &[Size],
        span: Span,
    ) -> Res<Out> {
        let Some((size, inner)) = dims.split_first() else { return Err(Stop) };
        if each.element == Type::Bool {
            let help = "count them: `sum(select(b, 1, 0))`";
            return self.error("J202", each.span, "truth values cannot be added", help);
        }
        let head = self.head_of(&outer, size, span)?;
        let open = self.enter_loop(None, span);
        let result = self.begin(Dir::Par, &head, span).and_then(|scan| {
            let elements = elements_of(&outer, &scan);
            let value = if inner.is_empty() {
                self.element(each, &elements)?
            } else {
                let out = self.summed_rows(each, elements, inner, span)?;
                self.one(out)?
            };
            let ty = each.element.clone();
            if self.is_complex(&ty) {
                return Ok((scan, Sum::Complex(self.add_complex(value, span)?), ty));
            }
            let cap = self.b.cap("s", Mode::Acc, true, ty.clone(), span);
            self.emit(Rhs::Inc(Place::root(cap), Added::N(value)), span)?;
            Ok((scan, Sum::One(cap), ty))
        });
        let stmts = self.leave(open);
        let (scan, sum, ty) = result?;
        self.summed_up(scan, stmts, sum, ty, span)
    }

    fn mean(&mut self, each: &Each<'s>, span: Span) -> Res<Out> {
        // The mean of integers is an f64, of which no sum leaves 32 bits.
        let each = &match each.element {
            Type::I32 => self.widened_each(each.clone(), span)?,
            _ => each.clone(),
        };
        let sum = self.summed(each.clone(), span)?;
        let mut sum = self.one(sum)?;
        if each.element == Type::I64 {
            let out = self.primitive("f64", Syntax::Call, vec![sum], span)?;
            sum = self.one(out)?;
        }
        let mut count: Option<Atom> = None;
        for size in &each.dims {
            let n = self.materialize(size, span)?;
            count = Some(match count {
                None => n,
                Some(m) => self.bound_primitive("*", vec![m, n], "t", span)?,
            });
        }
        let count = self.primitive("f64", Syntax::Call, vec![count.ok_or(Stop)?], span)?;
        let mut count = self.one(count)?;
        if each.element == Type::F32 {
            let out = self.primitive("f32", Syntax::Call, vec![count], span)?;
            count = self.one(out)?;
        }
        self.binary("/", Value::N(sum), Value::N(count), span)
    }

    /// All elements joined by an operator, in order.
    fn folded(&mut self, each: &Each<'s>, op: &'static str, span: Span) -> Res<Lazy<'s>> {
        if op == "*" && self.is_complex(&each.element) {
            let [one, zero] = [1.0, 0.0].map(|x| Atom::Lit(Literal::F64(x)));
            let start = self.complex_of(one, zero, &each.element, span)?;
            let start = self.one(start)?;
            let end = self.folded_rows(each, each.arrays(), &each.dims, (op, start), span)?;
            return Ok(values(end, span));
        }
        let start = match (op, &each.element) {
            ("*", ty @ Type::Float(_)) => ty.number(1.0),
            ("*", Type::I64) => Literal::I64(1),
            ("*", Type::I32) => Literal::I32(1),
            ("||", Type::Bool) => Literal::Bool(false),
            ("&&", Type::Bool) => Literal::Bool(true),
            (_, ty) => {
                let message = format!("`{op}` does not join values of type {}", self.show(ty));
                let help = match op {
                    "*" => "give it an array of numbers",
                    _ => "give it an array of truth values, such as `x > 0.0`",
                };
                return self.error("J202", each.span, message, help);
            }
        };
        let end =
            self.folded_rows(each, each.arrays(), &each.dims, (op, Atom::Lit(start)), span)?;
        Ok(values(end, span))
    }

    fn folded_rows(
        &mut self,
        each: &Each<'s>,
        outer: Elements,
        dims: &[Size],
        (op, start): (&'static str, Atom),
        span: Span,
    ) -> Res<Atom> {
        let Some((size, inner)) = dims.split_first() else { return Err(Stop) };
        let head = self.head_of(&outer, size, span)?;
        let open = self.enter_loop(None, span);
        let locals = open.locals;
        let result = self.begin(Dir::Up, &head, span).and_then(|mut scan| {
            let elements = elements_of(&outer, &scan);
            let carried = self.b.nvar("p", each.element.clone(), span);
            scan.carry.push((carried, start));
            let carried = Atom::Var(carried);
            let next = if inner.is_empty() {
                let value = self.element(each, &elements)?;
                let out = self.binary(op, Value::N(carried), Value::N(value), span)?;
                self.one(out)?
            } else {
                self.folded_rows(each, elements, inner, (op, carried), span)?
            };
            Ok((scan, Values { nl: vec![next], lin: Vec::new() }))
        });
        let stmts = self.leave(open);
        let (scan, next) = result?;
        let out = self.looped(scan, stmts, next, locals, span, span)?;
        self.one(out)
    }

    fn running_product(&mut self, each: &Each<'s>, span: Span) -> Res<Lazy<'s>> {
        let (size, start) = match (each.dims.as_slice(), &each.element) {
            ([size], ty @ Type::Float(_)) => (size, ty.number(1.0)),
            ([size], Type::I64) => (size, Literal::I64(1)),
            ([size], Type::I32) => (size, Literal::I32(1)),
            _ => return self.no_vector("cumprod", each),
        };
        let arrays = each.arrays();
        let head = self.head_of(&arrays, size, span)?;
        let open = self.enter_loop(None, span);
        let locals = open.locals;
        let result = self.begin(Dir::Up, &head, span).and_then(|mut scan| {
            let elements = elements_of(&arrays, &scan);
            let carried = self.b.nvar("p", each.element.clone(), span);
            scan.carry.push((carried, Atom::Lit(start)));
            let value = self.element(each, &elements)?;
            let out = self.primitive("*", Syntax::Infix, vec![Atom::Var(carried), value], span)?;
            let next = self.one(out)?;
            Ok((scan, Values { nl: vec![next, next], lin: Vec::new() }))
        });
        let stmts = self.leave(open);
        let (scan, next) = result?;
        if !self.facts.is_plainly_non_negative(size) {
            self.emit(Rhs::Check(Check::NonNegative(head.bound)), span)?;
        }
        let out = self.looped(scan, stmts, next, locals, span, span)?;
        let all = self.bind(out, &[], &[])?.nl.get(1).copied().ok_or(Stop)?;
        Ok(values(all, span))
    }

    // ---- extrema

    /// The first place of the largest or smallest element; R01 if there is none.
    fn place_of_extremum(&mut self, each: &Each<'s>, text: &str, span: Span) -> Res<Atom> {
        let ([size], Type::Float(_) | Type::I64 | Type::I32) =
            (each.dims.as_slice(), &each.element)
        else {
            return self.no_vector(text, each);
        };
        let arrays = each.arrays();
        let head = self.head_of(&arrays, size, span)?;
        let kind = if text.ends_with("max") { LoopKind::Max } else { LoopKind::Min };
        let k = self.best_index(&head, kind, span, |body, scan| {
            let elements = elements_of(&arrays, scan);
            Ok((body.element(each, &elements)?, span))
        })?;
        self.emit(Rhs::Check(Check::Below(k, head.bound)), span)?;
        Ok(k)
    }

    /// The element at a place that was tested.
    fn element_at(&mut self, each: &Each<'s>, k: Atom, span: Span) -> Res<Atom> {
        let mut elements = Elements::new();
        for (array, _) in each.arrays() {
            let path = vec![jut_ir::Step::Index { index: k, proved: false }];
            let Type::Array(_, element) = self.b.func.nvars[array].ty.clone() else {
                return Err(Stop);
            };
            let out = Out::one(Rhs::Index(array, path), *element, span);
            let Atom::Var(v) = self.one(out)? else { return Err(Stop) };
            elements.push((array, v));
        }
        self.element(each, &elements)
    }

    /// The largest element if it is finite, else 0, without derivative; and `exp(x - shift)`.
    fn shifted(&mut self, each: Each<'s>, text: &str, span: Span) -> Res<(Atom, Each<'s>)> {
        if each.dims.len() != 1 || !each.element.is_float() {
            return self.no_vector(text, &each);
        }
        let x = self.forced(Operand::Each(each))?;
        let each = self.as_each(Operand::Value(x), span)?;
        let k = self.place_of_extremum(&each, "max", span)?;
        let top = self.element_at(&each, k, span)?;
        let top = self.primitive("stop", Syntax::Call, vec![top], span)?;
        let top = self.one(top)?;
        let zero = Atom::Lit(Literal::F64(0.0));
        let gap = self.bound_primitive("-", vec![top, top], "t", span)?;
        let finite = self.bound_primitive("==", vec![gap, zero], "t", span)?;
        let shift = self.primitive("select", Syntax::Call, vec![finite, top, zero], span)?;
        let shift = self.one(shift)?;
        let parts = vec![(Operand::Each(each), span), (Operand::Value(Value::N(shift)), span)];
        let less = self.for_each(Function::Infix("-"), parts, span)?;
        let exps = vec![(Operand::Each(less), span)];
        Ok((shift, self.for_each(Function::Call("exp"), exps, span)?))
    }

    fn no_vector<T>(&mut self, text: &str, each: &Each<'s>) -> Res<T> {
        let shown = self.show(&super::each::array_of(&each.dims, each.element.clone()));
        let message = format!("`{text}` takes a vector of numbers, and this is of type {shown}");
        let help = format!("take all cells, `{text}(flatten(x))`, or each row: `{text}(x[i])`");
        self.fail(Diagnostic::error("J205", each.span, message).help(help))
    }
}

fn values<'s>(atom: Atom, span: Span) -> Lazy<'s> {
    Lazy::Made(Made::Values(Value::N(atom).into(), span))
}

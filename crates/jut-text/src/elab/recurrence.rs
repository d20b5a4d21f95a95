//! Arrays that are written once, element by element, of elements that are there already:
//! `y = for (i < n) { .. y[j] .. }` with j < i, as solutions of triangular equations, delays and factorisations are.
//!
//! ```text
//! y = for (i < n) { (b[i] - sum (j < i) { l[i, j] * y[j] }) / l[i, i] }
//!
//! y0 = build (i < n) { 0.0 }
//! y = for (i < n) carry (y = y0) { y with [i] = (b[i] - sum (j < i) { l[i, j] * y[j] }) / l[i, i] }
//! ```
//!
//! The name means the array that is being written only where it has no meaning there yet: else it is that value, as
//! everywhere. In the body it is an array of i elements, so that all that is tested of accesses is that: an element which
//! is not there yet is the error R01, and a range that shows `j < i` makes the test needless. The carried array itself
//! has n elements, and changes in place.
//!
//! Elements are numbers, truth values, or arrays of such; what they are is stated where they are no f64,
//! `y: [n, m]f64 = for (i < n) { .. }`.

use super::body::{Body, Written};
use super::head::Head;
use super::made::{Made, Out, Value, Values};
use super::region::is_region;
use super::{Res, Stop, assigned};
use crate::ast::{ExprId, ExprKind, Index, Item, Loop, LoopKind, Range};
use jut_ir::{Atom, Check, Dir, Literal, NVar, Rhs, Size, Span, Step, Type};

impl<'a, 's> Body<'a, 's> {
    /// The loop that writes the array to which a pattern gives a name, if an expression is one.
    pub fn writes(&self, items: &[Item<'s>], e: ExprId) -> Option<&'a Loop<'s>> {
        let ([Item { name, .. }], ExprKind::Loop(l)) = (items, &self.ast.expr(e).kind) else {
            return None;
        };
        let plain = l.kind == LoopKind::For && l.carry.is_empty() && l.lin_carry.is_empty();
        let counts =
            matches!(l.head.as_slice(), [Range::Below(index, _)] if index.text != name.text);
        let fresh = !self.strict && self.scope.binding(name.text).is_none();
        (plain && counts && fresh && assigned::mentions(self.ast, &self.scope, l.body, name.text))
            .then_some(l)
    }

    /// `y = for (i < n) { .. y[j] .. }`.
    pub fn recurrence(
        &mut self,
        item: &'a Item<'s>,
        stated: Option<&Type>,
        l: &'a Loop<'s>,
        span: Span,
    ) -> Res<Made> {
        let element = match stated {
            None => Type::F64,
            Some(Type::Array(_, element)) => (**element).clone(),
            Some(ty) => {
                let message = format!(
                    "the loop makes an array, and `{}` is of type {}",
                    item.name.text,
                    self.show(ty)
                );
                return self.error(
                    "J214",
                    item.name.span,
                    message,
                    "state an array: `y: [n]f64 = ..`",
                );
            }
        };
        let head = self.head(&l.head, span)?;
        let start = self.blank(&head, &element, span)?;
        self.written_once(head, l, (item.name, start, element), span)
    }

    /// An array of zeros, to be written.
    pub(super) fn blank(&mut self, head: &Head<'s>, element: &Type, span: Span) -> Res<Atom> {
        if !self.facts.is_plainly_non_negative(&head.size) {
            self.emit(Rhs::Check(Check::NonNegative(head.bound)), span)?;
        }
        let head = counting(head.bound, head.size.clone());
        let open = self.enter_loop(None, span);
        let locals = open.locals;
        let made = self.begin(Dir::Par, &head, span).and_then(|scan| {
            let zero = match element {
                ty @ Type::Float(_) => Atom::Lit(ty.number(0.0)),
                Type::I64 => Atom::Lit(Literal::I64(0)),
                Type::I32 => Atom::Lit(Literal::I32(0)),
                Type::Bool => Atom::Lit(Literal::Bool(false)),
                Type::Array(size, inner) => {
                    let bound = self.materialize(size, span)?;
                    self.blank(&counting(bound, size.clone()), inner, span)?
                }
                Type::Tuple(_) | Type::Data(_) => {
                    let message =
                        "an array that is written element by element has numbers as elements";
                    let help = "write an array for each component";
                    return self.error("J202", span, message, help);
                }
            };
            Ok((scan, zero))
        });
        let stmts = self.leave(open);
        let (scan, zero) = made?;
        let values = Values { nl: vec![zero], lin: Vec::new() };
        let made = self.looped_with(scan, stmts, Ok((values, span)), locals, (&[], &[]), span)?;
        match self.one_value(made, "none")? {
            Value::N(atom) => Ok(atom),
            Value::L(_) => Err(Stop),
        }
    }

    /// The element that a body gives, put in its place.
    pub fn put_element(
        &mut self,
        written: Written,
        element: &Type,
        (values, at): (Values, Span),
    ) -> Res<(Values, Span)> {
        let (nl, lin) = (values.nl.as_slice(), values.lin.len());
        let [value] = nl else {
            let message = format!(
                "the body gives the next element, and this one gives {} values",
                nl.len() + lin
            );
            return self.error("J213", at, message, "end the body with one value");
        };
        let value = super::narrow::fitted(*value, element);
        let found = self.type_of(value);
        if found != *element {
            let (found, wanted) = (self.show(&found), self.show(element));
            let message = format!("the elements are of type {wanted}, and this is of type {found}");
            let help = "state the type of the array: `y: [n]i64 = for (i < n) { .. }`";
            return self.error("J214", at, message, help);
        }
        let index = Atom::Var(written.index);
        let path = vec![Step::Index { index, proved: false }];
        let ty = self.b.func.nvars[written.array].ty.clone();
        let update = Rhs::Update { array: written.array, path, value };
        Ok((self.bind(Out::one(update, ty, at), &[], &[])?, at))
    }

    /// Notes that a loop that was just entered writes the array which it carries.
    pub fn begin_writing(&mut self, array: NVar, index: NVar) -> Written {
        let written = Written { array, index };
        self.written.push(written);
        written
    }

    /// The array that is being written, if a variable is one.
    pub fn being_written(&self, v: NVar) -> Option<Written> {
        self.written.iter().rev().find(|written| written.array == v).copied()
    }

    /// What there is of an array that is being written: its first elements.
    pub fn written_part(&mut self, written: Written, span: Span) -> Res<Atom> {
        let ty = self.written_type(written);
        let (lo, len) = (Atom::Lit(Literal::I64(0)), Atom::Var(written.index));
        if let Type::Array(size, _) = self.b.func.nvars[written.array].ty.clone() {
            self.check_slice(lo, len, &size, span)?;
        }
        let path = vec![Step::Slice { lo, len, proved: false }];
        let out = Out::one(Rhs::Index(written.array, path), ty, span);
        self.bind(out, &[], &[])?.nl.first().copied().ok_or(Stop)
    }

    /// Elements of an array that is being written, `y[j]`, or a part of what there is of it. What is left over is
    /// read from all of the array, so its place is one there too.
    pub fn read_written(
        &mut self,
        written: Written,
        value: NVar,
        list: &[Index],
        at: Span,
    ) -> Res<Out> {
        if is_region(list) {
            let Atom::Var(part) = self.written_part(written, at)? else { return Err(Stop) };
            return self.region(part, list, at);
        }
        let (path, ty) = self.path(self.written_type(written), list, at)?;
        let Type::Array(size, _) = self.b.func.nvars[written.array].ty.clone() else {
            return Err(Stop);
        };
        match path.first().copied() {
            Some(Step::Index { index, .. }) if !self.facts.covers(&self.nf(index), &size) => {
                let size = self.materialize(&size, at)?;
                self.emit(Rhs::Check(Check::Below(index, size)), at)?;
            }
            Some(Step::Slice { lo, len, .. }) => self.check_slice(lo, len, &size, at)?,
            _ => {}
        }
        Ok(Out::one(Rhs::Index(value, path), ty, at))
    }

    /// Its type.
    pub fn written_type(&self, written: Written) -> Type {
        match &self.b.func.nvars[written.array].ty {
            Type::Array(_, element) => Type::array(Size::var(written.index), (**element).clone()),
            ty => ty.clone(),
        }
    }
}

/// The head of a loop whose index nobody names.
pub(super) fn counting<'s>(bound: Atom, size: Size) -> Head<'s> {
    let (slices, lin_slices) = (Vec::new(), Vec::new());
    Head { index: None, order: Dir::Up, bound, size, slices, lin_slices }
}

//! A part of an array replaced, `x with [i] = v`, or taken out, `take x'[i]`: operations of the core, with a
//! check before them where the range rule does not cover the place. And a field replaced, `p with x = v`.

use super::body::Body;
use super::made::{Made, Out, Value};
use super::region::is_region;
use super::{Res, Stop};
use crate::ast::{ExprId, ExprKind, Index, Name, Post, With};
use jut_ir::{Atom, Diagnostic, Rhs, Span, Step, Type};

/// The indices that a path begins with, which are taken off it: those of several brackets are one list, as far as nothing was
/// sliced before the last, or, in the core, in any case.
pub(super) fn indices(path: &mut &[Post<'_>], sliced: bool) -> Vec<Index> {
    let mut list: Vec<Index> = Vec::new();
    while let Some((Post::Index(more, _), rest)) = path.split_first() {
        if !sliced && !matches!(list.last(), None | Some(Index::At { .. })) {
            break;
        }
        list.extend(more.iter().copied());
        *path = rest;
    }
    list
}

impl<'a, 's> Body<'a, 's> {
    /// `x with [i] = v`.
    pub fn with(&mut self, with: &'a With<'s>, span: Span) -> Res<Made> {
        let array = self.operand(with.array, "t")?;
        let ty = match array {
            Value::N(a) => self.type_of(a),
            Value::L(x) => self.lin_type(x),
        };
        if !matches!(ty, Type::Array(..)) {
            let message = format!("a value of type {} has no elements", self.show(&ty));
            let help = "change an array; a value behind `=` goes on to the end, so several parts need brackets: \
                        `(x with [i] = a) with [j] = b`";
            return self.error("J205", self.span(with.array), message, help);
        }
        if let (Value::N(Atom::Var(array)), false, [Post::Index(list, _)]) =
            (array, self.strict, with.path.as_slice())
            && is_region(list)
        {
            let steps = self.region_steps(array, list, span)?;
            let value = self.atom(with.value, "t")?;
            let part = self.region_type(array, &steps)?;
            self.fits(&part, &self.type_of(value), self.span(with.value))?;
            return Ok(self.put_cells(array, &steps, value, span)?.into());
        }
        let (path, part) = self.part_path(ty.clone(), &with.path, span)?;
        let value = self.operand(with.value, "t")?;
        let at = self.span(with.value);
        match (array, value) {
            (Value::N(Atom::Var(array)), Value::N(value)) => {
                let value = super::narrow::fitted(value, &part);
                self.fits(&part, &self.type_of(value), at)?;
                Ok(Out::one(Rhs::Update { array, path, value }, ty, span).into())
            }
            (Value::L(x), Value::L(value)) => {
                self.fits(&part, &self.lin_type(value), at)?;
                Ok(Out::linear(Rhs::LUpdate { x, path, value }, ty, span).into())
            }
            (Value::N(Atom::Lit(_)), Value::N(_)) => self.plain_number(self.span(with.array)),
            (Value::L(_), Value::N(_)) => {
                let message = "a part of a linear array is linear, and this value is not";
                let help = "linear values come from linear parameters and from `zero`";
                self.fail(Diagnostic::error("J102", at, message).help(help))
            }
            (Value::N(_), Value::L(_)) => {
                let message = "a part of a non-linear array is not linear, and this value is";
                let help = "put it into a linear array: `zero [n]f64 with [i] = v'`";
                self.fail(Diagnostic::error("J101", at, message).help(help))
            }
        }
    }

    /// `p with x = v`: the record taken apart, and made again.
    pub fn with_field(
        &mut self,
        record: ExprId,
        field: &Name<'s>,
        value: ExprId,
        span: Span,
    ) -> Res<Made> {
        let help = "open the record, `P(a, b) = p`, and make a new one: `P(c, b)`";
        self.surface_only(span, "another value for a field", help)?;
        let record = self.accessible(record)?;
        let out = self.field(record, field, span)?;
        let Rhs::Proj(_, number) = out.rhs else { return Err(Stop) };
        let old = self.bind(out, &[], &[])?.nl.first().copied().ok_or(Stop)?;
        let at = self.span(value);
        if let ExprKind::WithField(_, again, _) = &self.ast.expr(value).kind
            && !matches!(self.type_of(old), Type::Tuple(_) | Type::Data(_))
        {
            let message = format!(
                "what is to have another `{}` is the new value of `{}`",
                again.text, field.text
            );
            let help = format!(
                "one field is replaced at a time: `(p with {} = v) with {} = w`",
                field.text, again.text
            );
            return self.error("J204", again.span, message, help);
        }
        let new = super::narrow::fitted(self.atom(value, "t")?, &self.type_of(old));
        self.fits(&self.type_of(old), &self.type_of(new), at)?;
        let new = self.rebuilt(record, number as usize, new, Name { text: "t", span })?;
        Ok(Made::Values(Value::N(new).into(), span))
    }

    /// `take x'[i]`.
    pub fn take(&mut self, e: ExprId, path: &[Post<'s>], span: Span) -> Res<Made> {
        let x = self.linear(e, "t")?;
        let ty = self.lin_type(x);
        let (path, part) = self.part_path(ty.clone(), path, span)?;
        Ok(Out { lin: vec![ty, part], ..Out::none(Rhs::LTake { x, path }, span) }.into())
    }

    /// The path to a part, and its type.
    fn part_path(&mut self, ty: Type, posts: &[Post<'s>], span: Span) -> Res<(Vec<Step>, Type)> {
        let (mut ty, mut path) = (ty, Vec::new());
        let mut rest = posts;
        while let Some(step) = rest.first() {
            let list = indices(&mut rest, true);
            if !list.is_empty() {
                let (steps, part) = self.path(ty, &list, span)?;
                path.extend(steps);
                ty = part;
                continue;
            }
            rest = &rest[1..];
            let (number, items) = self.component_of(ty, step)?;
            path.push(Step::Field(number as u32));
            ty = items;
        }
        Ok((path, ty))
    }

    /// The number and type of a component.
    fn component_of(&mut self, ty: Type, step: &Post<'s>) -> Res<(usize, Type)> {
        let (number, at) = match (step, &ty) {
            (Post::Field(name), Type::Tuple(items)) => {
                let record = self.program.record(items);
                let fields = record.and_then(|(id, ..)| self.globals.fields.get(&id));
                (fields.and_then(|fields| fields.get(name.text)).copied(), name.span)
            }
            (Post::Component(number, at), Type::Tuple(items)) => {
                let named = !self.strict && self.program.record(items).is_some();
                (Some(*number as usize).filter(|_| !named), *at)
            }
            (Post::Component(_, at), _) => (None, *at),
            (Post::Field(name), _) => (None, name.span),
            (Post::Index(_, at), _) => (None, *at),
        };
        match (number, ty) {
            (Some(number), Type::Tuple(mut items)) if number < items.len() => {
                Ok((number, items.swap_remove(number)))
            }
            (_, ty) => {
                let message = format!("a value of type {} has no such component", self.show(&ty));
                let help = "a part of an element is `.0`, `.1`, .. of a tuple, and a field of a record by its name";
                self.error("J204", at, message, help)
            }
        }
    }

    /// J202 unless the new part has the type of the old one.
    fn fits(&mut self, part: &Type, value: &Type, at: Span) -> Res<()> {
        if part == value {
            return Ok(());
        }
        let (part, value) = (self.show(part), self.show(value));
        let message = format!("the part has type {part}, and the new one is {value}");
        let help = super::fit::conversion(&value, &part);
        self.fail(Diagnostic::error("J202", at, message).help(help))
    }
}

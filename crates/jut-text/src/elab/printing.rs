//! `print "text", e`: a line, made piece by piece, arrays by loops in order.
//!
//! ```text
//! print "x =", x
//!
//! show "x = "; show "["; scan up (i < n) slice (v <- x) { show "," i; show "" v }; show "]"; show ""
//! ```

use super::body::Body;
use super::made::Values;
use super::{Res, Stop};
use crate::ast::{ExprId, Printed};
use jut_ir::{Atom, Check, Diagnostic, Dir, Rhs, Shown, Span, Type};

impl<'a, 's> Body<'a, 's> {
    /// `print "text", e, ..`: with spaces between, and the end of the line.
    pub(super) fn printing(&mut self, items: &'a [Printed<'s>], span: Span) -> Res<()> {
        let help = "print its pieces: `show \"x = \"`, `show \"\" x`, and `show \"\"` for the end of the line";
        self.surface_only(span, "`print`", help)?;
        // All values are computed before anything is printed.
        let mut values = Vec::with_capacity(items.len());
        for item in items {
            if let Printed::Value(e) = item {
                let value = self.atom(*e, "t")?;
                self.printable(value, self.span(*e))?;
                values.push(value);
            }
        }
        let mut values = values.into_iter();
        let mut text = String::new();
        for (k, item) in items.iter().enumerate() {
            text.push_str(if k > 0 { " " } else { "" });
            match item {
                Printed::Text(part) => text.push_str(part),
                Printed::Value(_) => {
                    self.show_text(&std::mem::take(&mut text), span)?;
                    let value = values.next().ok_or(Stop)?;
                    self.show_value(value, span)?;
                }
            }
        }
        self.show_text(&text, span)?;
        self.shown(Shown::End, span)
    }

    /// `show "text"`, `show "" e`, `show "," e`, `show ""`.
    pub(super) fn showing(&mut self, text: &str, e: Option<ExprId>, span: Span) -> Res<()> {
        let Some(e) = e else {
            return match text {
                "" => self.shown(Shown::End, span),
                text => self.show_text(text, span),
            };
        };
        match text {
            "" => {
                let value = self.atom(e, "t")?;
                let ty = self.type_of(value);
                if !ty.is_scalar() {
                    let message =
                        format!("a number is shown, and this is of type {}", self.show(&ty));
                    let help = "show its elements, in a loop";
                    return self.error("J202", self.span(e), message, help);
                }
                self.shown(Shown::Value(value), span)
            }
            "," => {
                let i = self.integer(e, "the number of an element")?;
                self.shown(Shown::Before(i), span)
            }
            _ => {
                let message = "a text and a value are two pieces";
                let help = "write `show \"text\"` and `show \"\" x`";
                self.fail(Diagnostic::error("J002", span, message).help(help))
            }
        }
    }

    fn shown(&mut self, shown: Shown, span: Span) -> Res<()> {
        self.emit(Rhs::Check(Check::Show(shown)), span)
    }

    fn show_text(&mut self, text: &str, span: Span) -> Res<()> {
        Shown::pieces(text).into_iter().try_for_each(|piece| self.shown(piece, span))
    }

    /// An error unless a value is a number, a truth value or an array of these.
    fn printable(&mut self, value: Atom, span: Span) -> Res<()> {
        let whole = self.type_of(value);
        let mut ty = &whole;
        while let Type::Array(_, element) = ty {
            ty = element;
        }
        if ty.is_scalar() {
            return Ok(());
        }
        let message = format!(
            "numbers, truth values and arrays of them are printed, and this is of type {}",
            self.show(&whole)
        );
        let help = "print its parts: `print p.x, p.y`";
        self.error("J202", span, message, help)
    }

    fn show_value(&mut self, value: Atom, span: Span) -> Res<()> {
        let Type::Array(size, _) = self.type_of(value) else {
            return self.shown(Shown::Value(value), span);
        };
        let array = value.var().ok_or(Stop)?;
        self.show_text("[", span)?;
        let head = self.head_of(&vec![(array, array)], &size, span)?;
        if !self.facts.is_plainly_non_negative(&size) {
            self.emit(Rhs::Check(Check::NonNegative(head.bound)), span)?;
        }
        let open = self.enter_loop(None, span);
        let locals = open.locals;
        let result = self.begin(Dir::Up, &head, span).and_then(|scan| {
            self.shown(Shown::Before(Atom::Var(scan.index)), span)?;
            let element = scan.slices.first().ok_or(Stop)?.0;
            self.show_value(Atom::Var(element), span)?;
            Ok(scan)
        });
        let stmts = self.leave(open);
        let scan = result?;
        let out = self.looped(scan, stmts, Values::default(), locals, span, span)?;
        self.bind(out, &[], &[])?;
        self.show_text("]", span)
    }
}

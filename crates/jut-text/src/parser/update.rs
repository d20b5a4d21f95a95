//! A part of an array or record replaced, `x with [i] = v`, `p with x = v`, or taken out, `take x'[i]`.

use super::{Parsed, Parser};
use crate::ast::{ExprId, ExprKind, Index, Post, With};
use crate::lex::Kind;
use jut_ir::Diagnostic;

impl<'s> Parser<'s, '_> {
    /// `[i, a .. b]`.
    pub(super) fn indices(&mut self) -> Parsed<Vec<Index>> {
        let open = self.at;
        self.expect("[")?;
        let mut list = vec![self.index()?];
        while self.eat(",") {
            list.push(self.index()?);
        }
        self.expect_close(open, "]")?;
        Ok(list)
    }

    /// The brackets behind what is changed, and `.k` of a tuple behind them: in the core a step behind a slice has
    /// brackets of its own.
    fn part(&mut self, help: &str) -> Parsed<Vec<Post<'s>>> {
        if !self.at("[") {
            return Err(self.expected_helping("`[`", help));
        }
        let mut path = Vec::new();
        loop {
            let at = self.at;
            if self.at("[") {
                let list = self.indices()?;
                path.push(Post::Index(list, self.span_from(at)));
            } else if self.at(".") {
                path.push(self.named_part()?);
            } else {
                return Ok(path);
            }
        }
    }

    /// `.x` or `.0`.
    pub(super) fn named_part(&mut self) -> Parsed<Post<'s>> {
        self.at += 1;
        let token = self.peek();
        let span = self.span(token);
        match token.kind {
            Kind::Name => Ok(Post::Field(self.name("a field")?)),
            Kind::Int => {
                self.bump();
                let Ok(number) = token.text.replace('_', "").parse() else {
                    let message = "there is no component with this number";
                    let error = Diagnostic::error("J204", span, message);
                    return Err(self.fail(error.help("components are `.0`, `.1`, ..")));
                };
                Ok(Post::Component(number, span))
            }
            _ => Err(self.expected("a field name or a number")),
        }
    }

    /// `with [i] = v` or `with x = v`, behind an array or record that begins at `start`.
    pub(super) fn update(&mut self, array: ExprId, start: usize) -> Parsed<ExprId> {
        self.at += 1;
        if self.peek().kind == Kind::Name {
            let field = self.name("a field")?;
            self.expect_helping("=", "a field is replaced by `p with x = v`")?;
            let value = self.expr()?;
            let span = self.span_from(start);
            return Ok(self.add(ExprKind::WithField(array, field, value), span));
        }
        let path = self.part(
            "a part of an array is replaced by `x with [i] = v`; a field of a record by `p with x = v`",
        )?;
        self.expect("=")?;
        let value = self.expr()?;
        let span = self.span_from(start);
        Ok(self.add(ExprKind::With(Box::new(With { array, path, value })), span))
    }

    /// `take x'[i]`.
    pub(super) fn take(&mut self) -> Parsed<ExprKind<'s>> {
        self.at += 1;
        let x = self.primary()?;
        let path = self.part("a part is taken out of an array: `(; y', v') = take x'[i]`")?;
        Ok(ExprKind::Take(x, path))
    }
}

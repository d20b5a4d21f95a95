//! A part of an array or record replaced, `x with [i] = v`, `p with x = v`, or taken out, `take x'[i]`.

use super::{Parsed, Parser};
use crate::ast::{ExprId, ExprKind, Index, With};
use crate::lex::Kind;

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

    /// The brackets behind what is changed: in the core a step behind a slice has its own.
    fn part(&mut self, help: &str) -> Parsed<Vec<Index>> {
        if !self.at("[") {
            return Err(self.expected_helping("`[`", help));
        }
        let mut path = Vec::new();
        while self.at("[") {
            path.extend(self.indices()?);
        }
        Ok(path)
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

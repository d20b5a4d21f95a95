//! Array literals. One that is only a row of another is written where that one is.
//!
//! ```text
//! a = [x, y]; b = [z, x]; m = [a, b]
//! // becomes
//! m = alloc f64[4]; m[0] = x; m[1] = y; m_1 = m[2 ..]; m_1[0] = z; m_1[1] = x
//! ```

use jut_ir::{Atom as Operand, NVar, Span, Stmt, Type};

use super::emit::int;
use super::{Lowering, Res};
use crate::form::Value;

impl Lowering<'_> {
    /// Notes what an array literal is told of by the statements behind it, and what it tells those before it.
    pub(super) fn note_rows(&mut self, v: NVar, items: &[Operand]) {
        if let Some(row) = self.rows.get_mut(&v) {
            *row = Some(items.into());
        }
        for row in items.iter().filter_map(|item| item.var()) {
            if self.uses[row] == 1 && is_of_scalars(&self.src.nvars[row].ty) {
                self.rows.insert(row, None);
            }
        }
    }

    pub(super) fn array_literal(&mut self, stmt: &Stmt, items: &[Operand]) -> Res<()> {
        let span = stmt.loc.span;
        let Some(v) = stmt.nl.first().copied() else {
            return Err(self.bug(span, "an array has no name"));
        };
        if let Some(Some(_)) = self.rows.get(&v) {
            return Ok(());
        }
        let ty = self.type_of(v);
        let Some(element) = ty.element().cloned() else {
            return Err(self.bug(span, "an array is expected"));
        };
        let hint = self.name_of(v);
        let dests = self.take_dests(v);
        let (slots, buffers) = self.array_buffers(&hint, &ty, &dests, span)?;
        self.write_items(&element, &buffers, items, &hint, span)?;
        self.bind(v, slots);
        Ok(())
    }

    fn write_items(
        &mut self,
        element: &Type,
        buffers: &[Value],
        items: &[Operand],
        hint: &str,
        span: Span,
    ) -> Res<()> {
        for (i, item) in items.iter().enumerate() {
            let row = item.var().and_then(|v| self.rows.get(&v)?.clone());
            match (row, element.element(), buffers) {
                (Some(row), Some(inner), [buffer]) => {
                    let components = self.cx.layouts.of(element);
                    let Some(c) = components.first() else {
                        return Err(self.bug(span, "a row has no cells"));
                    };
                    let buffer = self.row(c, *buffer, int(i as i64), hint, span)?;
                    self.write_items(inner, &[buffer], &row, hint, span)?;
                }
                _ => {
                    let value = self.slots(*item, span)?;
                    self.write_element(element, buffers, int(i as i64), &value, hint, span)?;
                }
            }
        }
        Ok(())
    }
}

/// Whether a type is an array of scalars, which is one buffer.
fn is_of_scalars(ty: &Type) -> bool {
    ty.element().is_some_and(|element| element.is_scalar() || is_of_scalars(element))
}

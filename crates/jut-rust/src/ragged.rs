//! Fields of structs whose rows have lengths of their own, `#[data(ragged)] layers: Vec<Vec<f64>>`.
//!
//! Such a field is a list of records that measure their lists, as rows are in the second text of a function (`uneven`), but in every text. Which field is one, rustc
//! knows: the template has tags, which the linker (`jut::rust`) fills by the field's type.
//!
//! ```text
//! net.layers[i]       net.0[i]$row 0 layers e$              a row: what is in it, `.values`; an array: nothing
//! net.layers[i][j]    net.0[i$next 0 layers e$j]            `].values[`; `, `
//! Net { layers }      $if ragged 0 layers$ .. $end$         rows of an array, or an array of rows
//! ```

use crate::lowering::Lowering;
use crate::template::{Hole, What};
use crate::types::{Step, Ty};
use crate::value::Value;
use proc_macro2::Span;

impl Lowering<'_> {
    /// What stands behind a row for what is in it, and the type of that; nothing of what is no row for certain. Whether an element of a list in a
    /// field is one, rustc knows: of others nothing stands there.
    pub fn looked_into(&self, ty: &Ty) -> Option<(String, Ty)> {
        if let Some(list) = self.row_of(ty) {
            return Some((".values".to_string(), list));
        }
        let Ty::Of(hole, mut steps) = self.resolve(ty) else { return None };
        if let Some(given) = self.told_by(ty) {
            return Some((format!("$row {hole}$"), given));
        }
        match &steps[..] {
            [.., Step::Field(_) | Step::Component(_), Step::Element] => {}
            [Step::Element]
                if self.may_give_rows(hole)
                    || matches!(self.parts.holes.get(hole), Some(Hole::Constant(_))) => {}
            _ => return None,
        }
        let tag = format!("$row {hole}{}$", crate::types::words(&steps));
        let last = steps.len() - 1;
        steps[last] = Step::Row;
        Some((tag, Ty::Of(hole, steps)))
    }

    /// A value as a field has it: a list of lists is one of rows where that says `#[data(ragged)]`, which rustc knows, and else an array.
    pub fn as_field(&mut self, value: Value, hole: usize, steps: Vec<Step>) -> Value {
        let field = Ty::Of(hole, steps.clone());
        self.unify(&value.ty, &field);
        let uneven = self.is_uneven(&value.ty);
        if let Some(of) = self.given_by_rows(&value.ty)
            && !self.perhaps_gives_rows(of)
        {
            let (rows, name) = (self.named(value, "rows").text, self.names.unique("field"));
            let outside = std::mem::take(&mut self.lines);
            let span = self.given.get(&of).copied().unwrap_or_else(Span::call_site);
            let even = self.even_result(of, rows.clone(), span);
            let lines = std::mem::replace(&mut self.lines, outside).join("\n");
            let tag = crate::types::words(&steps);
            self.lines.push(format!(
                "$if ragged {hole}{tag}${name} = {rows}$end$$if regular {hole}{tag}${lines}\n{name} = {even}$end$"
            ));
            return Value::name(name, field, i64::MIN);
        }
        if !uneven && !self.is_rows(&value.ty) {
            return value;
        }
        let whole = self.named(value, "rows");
        let (name, tag) = (self.names.unique("field"), crate::types::words(&steps));
        let outside = std::mem::take(&mut self.lines);
        let other = match uneven {
            true => self.evened(whole.clone(), None),
            false => {
                let (i, one) = (self.names.unique("i"), self.names.unique("row"));
                let rows = self.names.unique("rows");
                self.lines.push(format!(
                    "{rows} = for ({i} < size({0})) {{\n  {one} = {0}[{i}]\n  $rowed {one} {hole}{tag} e$\n}}",
                    whole.text
                ));
                Value::name(rows, field.clone(), i64::MIN)
            }
        };
        let others = std::mem::replace(&mut self.lines, outside).join("\n");
        let (same, made) = if uneven { ("ragged", "regular") } else { ("regular", "ragged") };
        self.lines.push(format!(
            "$if {same} {hole}{tag}${name} = {}$end$$if {made} {hole}{tag}${others}\n{name} = {}$end$",
            whole.text, other.text
        ));
        Value::name(name, field, i64::MIN)
    }

    /// `s.rows[i] = list;`: where that is a row with a length of its own, it gets that of the list.
    pub fn row_of_field(&mut self, row: &str, tag: &str, list: Value, span: Span) {
        let list = self.named(Value { stable: false, ..list }, "list");
        let of = tag.rsplit_once(' ').map_or(tag, |(list, _)| list);
        let same = self.at(span, What::Length, &format!("{row} = {}", list.text));
        self.lines.push(format!(
            "$if ragged{of}${row} = $rowed {}{tag}$$end$$if regular{of}${same}$end$",
            list.text
        ));
    }
}

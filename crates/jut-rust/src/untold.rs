//! Elements of a list that nothing tells: `let mut rows = vec![]; if c { rows.push(soft(x)); }`, where rustc alone knows whether `soft` gives a number,
//! a struct, or a list.
//!
//! Where that is a list of numbers it stands in the list as a row that measures itself ([`uneven`](crate::uneven)), since no such call says how long it is;
//! anything else stands there as it is. Which of both it is, says a hole of its own, which the linker fills: the type of the element.
//!
//! ```text
//! rows.push(soft(x));      list[at] = $if untold 1$ $rowed value 1$ $end$ $if told 1$ value $end$
//! rows[i]                  rows[i]$row 1$             a row: what is in it, `.values`; else nothing
//! ```
//!
//! Requires: no type is written of the list. Where a loop pushes once in each iteration rows have one length, unless the text has others besides.

use crate::lowering::Lowering;
use crate::template::Hole;
use crate::types::{Extent, Ty, array};
use crate::value::Value;

impl Lowering<'_> {
    /// What a call gives as an element of a list of this type, of which nothing is written; any other value as it is.
    pub fn untold(&mut self, value: Value, list: &Ty) -> Value {
        let Ty::Of(hole, steps) = self.resolve(&value.ty) else { return value };
        let element = self.resolve(&self.element(list));
        let open = matches!(element, Ty::Never | Ty::GUESS) || self.told_by(&element).is_some();
        let call = self.parts.holes.get(hole).filter(|call| is_call(call)).cloned();
        let (true, true, Some(call)) = (open, steps.is_empty(), call) else { return value };
        let own = self.hole(Hole::Untold(Box::new(call)));
        self.untold_again(own);
        let name = self.named(value, "value").text;
        let text = format!("$if untold {own}$$rowed {name} {own}$$end$$if told {own}${name}$end$");
        Value::name(text, Ty::Of(own, Vec::new()), i64::MIN).costly()
    }

    /// What is known of such a hole, also if the pass before this one made it.
    pub fn untold_again(&mut self, hole: usize) {
        if let Some(Hole::Untold(call)) = self.parts.holes.get(hole).cloned() {
            let call = self.hole(*call);
            self.untold.insert(hole, call);
        }
    }

    /// The type of what a call gives, where this is that of an element which it is.
    pub fn told_by(&self, ty: &Ty) -> Option<Ty> {
        let Ty::Of(hole, steps) = self.resolve(ty) else { return None };
        let call = self.untold.get(&hole).filter(|_| steps.is_empty())?;
        Some(Ty::Of(*call, Vec::new()))
    }

    /// The hole of the elements of a list, if it is one of such.
    pub fn list_of_untold(&self, ty: &Ty) -> Option<usize> {
        let Ty::Array(element, Extent::Slice | Extent::Vec) = self.resolve(ty) else { return None };
        let Ty::Of(hole, _) = self.resolve(&element) else { return None };
        self.told_by(&element).map(|_| hole)
    }

    /// Such a list as one of rows, where a list of lists is wanted; any other value as it is.
    pub fn told_as(&mut self, value: Value, wanted: &Ty) -> Value {
        let Ty::Array(list, _) = wanted else { return value };
        if self.list_of_untold(&value.ty).is_none() {
            return value;
        }
        let row = match self.is_row(list) {
            true => Some((**list).clone()),
            false => self.type_of_rows(list).filter(|_| self.is_rows(wanted)),
        };
        match row {
            Some(row) => Value { ty: array(row, Extent::Slice), ..value },
            None => value,
        }
    }
}

/// Whether rustc alone knows what such a hole gives, and says it by its path or its method.
fn is_call(hole: &Hole) -> bool {
    match hole {
        Hole::Function(_) | Hole::Call(..) | Hole::Method(..) => true,
        Hole::Sure(inner) | Hole::Unwrapped(inner) => is_call(inner),
        _ => false,
    }
}

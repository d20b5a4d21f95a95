//! The text of a call: a hole for the function, its arguments, and names for what it gives.
//!
//! What rustc alone knows is in tags round it: whether the function gives lists with sizes, whether it changes what its arguments refer to, whether rows have
//! lengths of their own.

use crate::Refusal;
use crate::lowering::Lowering;
use crate::template::{Hole, What};
use crate::types::{Step, Ty};
use crate::value::Value;
use proc_macro2::Span;

impl Lowering<'_> {
    /// Whether a hole is that of one call alone, so that what it gives is that of the text that the call has.
    fn is_of_one_call(&self, hole: usize) -> bool {
        let own = match self.parts.holes.get(hole) {
            Some(Hole::Sure(inner)) => Some(&**inner),
            own => own,
        };
        match own {
            Some(Hole::Perhaps(inner)) => !matches!(**inner, Hole::Method(..)),
            own => matches!(own, Some(Hole::Function(_) | Hole::Call(..))),
        }
    }

    /// A call of what rustc finds.
    pub fn linked(
        &mut self,
        hole: usize,
        values: Vec<Value>,
        targets: Vec<Option<String>>,
        span: Span,
        inline: bool,
    ) -> Result<Value, Refusal> {
        let rows = self.expected.rows.take();
        let (mut texts, mut fields) = (Vec::new(), Vec::new());
        let first = hole;
        let (hole, values) = self.unevenly(hole, values);
        let hole = match &rows {
            // Of a function that makes rows, and takes none, the text that says their lengths.
            Some(Ty::Never) if hole == first && !self.is_of_one_call(hole) => hole,
            Some(Ty::Never | Ty::Unit) if hole == first => {
                let own = crate::uneven::perhaps_making_rows(self.parts.holes[hole].clone());
                // A function's is that of this call alone.
                match self.is_of_one_call(hole) {
                    true => {
                        self.parts.holes.push(own);
                        self.parts.holes.len() - 1
                    }
                    false => self.hole(own),
                }
            }
            Some(list) if hole == first && self.type_of_rows(list).is_some() => {
                self.hole(crate::uneven::making_rows(self.parts.holes[hole].clone()))
            }
            _ => hole,
        };
        // The second text takes rows that measure themselves, also such as have one length.
        let values = match self.parts.holes.get(hole) {
            Some(Hole::Perhaps(_)) if hole != first => {
                values.into_iter().map(|value| self.following_rows(value, hole)).collect()
            }
            _ => values,
        };
        let inline = inline && hole == first;
        for (k, value) in values.iter().enumerate() {
            self.said(&value.ty, hole, &[Step::Parameter(k)]);
            match self.resolve(&value.ty) {
                // Of what, the function knows.
                Ty::Option(inner) if *inner == Ty::Never => {
                    texts.push(format!("$none {hole} {k}$"));
                }
                // It is two arguments.
                Ty::Option(_) => {
                    let option = self.named(value.clone(), "option").text;
                    texts.push(format!("{option}.0, {option}.1"));
                }
                // So may be what rustc alone knows.
                Ty::Of(of, steps) if value.cheap && value.stable => {
                    let steps = crate::types::words(&steps);
                    let (pair, text) = (self.as_pair(value.clone()).text, &value.text);
                    texts.push(format!(
                        "$if optional {of}{steps}${pair}.0, {pair}.1$end$$if single {of}{steps}${text}$end$"
                    ));
                }
                _ => texts.push(value.text.clone()),
            }
            // Whether a field has rows with lengths of their own, for which there is another text, is known when the text is put together.
            if let Ty::Of(of, steps) = self.resolve(&value.ty)
                && (matches!(&steps[..], [.., Step::Field(_)])
                    || steps.is_empty() && self.perhaps_gives_rows(of))
            {
                fields.push(format!(" ; {of}{}", crate::types::words(&steps)));
            }
        }
        let own = self.is_of_one_call(hole);
        if own && !fields.is_empty() {
            self.following.insert(hole);
        }
        let callee = match fields.is_empty() {
            true => format!("$c{hole}$"),
            false if own => format!("$follows {hole}{}$", fields.concat()),
            false => format!("$callee {hole}{}$", fields.concat()),
        };
        let text = self.at(span, What::Same, &format!("{callee}({})", texts.join(", ")));
        let all: Vec<&Value> = values.iter().collect();
        let value = Value::new(text, Ty::Of(hole, Vec::new()), 9, &all).costly();
        let changing = targets.iter().any(Option::is_some);
        if inline && !changing {
            return Ok(value);
        }
        let (size, name) = (self.names.unique("n_value"), self.names.unique("value"));
        if !changing {
            self.lines.push(format!(
                "$if vec {hole}$($names {hole} {size}$$end${name}$if vec {hole}$)$end$ = {}",
                value.text
            ));
            if let (true, Some(list)) = (hole != first, rows)
                && let Some(value) = self.rows_of_result(hole, &name, &list)
            {
                return Ok(value);
            }
            self.given.insert(hole, span);
            return Ok(Value::name(name, value.ty, i64::MIN));
        }
        // What the function makes of these arguments are results behind its own; whether it does, its type says.
        let mut names = format!("$names {hole} {size}$$if value {hole}${name}, $end$");
        let mut after = Vec::new();
        for (k, target) in targets.iter().enumerate() {
            let Some(place) = target else { continue };
            let changed = self.names.unique("changed");
            names.push_str(&format!("$if changed {hole} {k}${changed}, $end$"));
            if !place.is_empty() {
                let line = match values.get(k) {
                    Some(value) => self.changed_by_a_call(place, &value.ty, &changed),
                    None => format!("{place} = {changed}"),
                };
                after.push(format!("$if changed {hole} {k}${line}$end$"));
            }
        }
        self.lines.push(format!("({names}) = {}", value.text));
        self.lines.extend(after);
        self.assigned += 1;
        Ok(Value::name(name, value.ty, i64::MIN))
    }
}

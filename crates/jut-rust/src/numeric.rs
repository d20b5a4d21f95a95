//! Methods of own types that are named as those of numbers: `z.exp()` of a complex number, `v.powi(3)` of a dual one, by an `impl` with the attribute.
//!
//! A struct's name may be another one of a number, `type Real = f64`. So rustc is asked, as it is for an operator, and the text has both forms
//! ([`crate::overloaded`]).
//!
//! Requires: the receiver is a name whose type is written, a field or an element of one, or what a method or an operator of a struct gives.

use crate::Refusal;
use crate::lowering::Lowering;
use crate::template::Hole;
use crate::types::{Step, Ty};
use crate::value::Value;
use quote::quote;
use syn::{Expr, ExprMethodCall};

impl Lowering<'_> {
    /// Such a method; nothing of what is a number for certain.
    pub fn numeric_method(
        &mut self,
        receiver: &Value,
        call: &ExprMethodCall,
    ) -> Result<Option<Value>, Refusal> {
        let name = call.method.to_string();
        let Ty::Of(of, steps) = self.resolve(&receiver.ty) else { return Ok(None) };
        let own = match self.parts.holes.get(of) {
            Some(Hole::Data(_) | Hole::Method(..)) => true,
            Some(Hole::Operator(..)) => {
                self.operators.whole.contains(&of) || self.operators.numeric.contains(&of)
            }
            _ => false,
        };
        // So may be a field, or an element, of a struct.
        let part = |step: &Step| matches!(step, Step::Field(_) | Step::Element | Step::Row);
        let parts = match self.parts.holes.get(of) {
            Some(Hole::Data(_)) => steps.iter().all(part),
            _ => steps.is_empty(),
        };
        let asked = own && parts && !self.operators.plain;
        if !asked || !crate::methods::may_be_own(&name) || !self.may_be_struct(&receiver.ty) {
            return Ok(None);
        }
        let Some(left) = self.type_by(&receiver.ty, true) else { return Ok(None) };
        let receiver = self.named(receiver.clone(), "receiver");
        let arguments: Vec<&Expr> = call.args.iter().collect();
        let values = self.operands(&arguments)?;
        let values: Vec<Value> = values.into_iter().map(|v| self.named(v, "argument")).collect();
        let span = call.method.span();
        let hole = self.operator_hole(&name, left, quote!(::jut::rust::of::<()>()), span);
        self.operators.numeric.insert(hole);
        let before = self.lines.len();
        self.operators.plain = true;
        let numbers = self.number_method(&name, receiver.clone(), &values, &call.method);
        self.operators.plain = false;
        self.of_numbers(hole, before);
        let texts = std::iter::once(&receiver).chain(&values).map(|value| value.text.as_str());
        let call = format!("$c{hole}$({})", texts.collect::<Vec<_>>().join(", "));
        Ok(Some(self.one_form(hole, call, numbers?.text, span)))
    }
}

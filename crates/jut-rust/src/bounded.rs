//! What the traits of the standard library give a type parameter: `T::default()` by `T: Default`, `T::from(2.0)` by `T: From<f64>`.
//!
//! A default is the value that it is when the text is put together. What is made of a number is that number: a type parameter with such bounds
//! stands for numbers, since operators by `T: Add<Output = T>` are theirs.

use crate::Refusal;
use crate::lowering::Lowering;
use crate::signature::Signature;
use crate::template::Hole;
use crate::types::Ty;
use crate::value::Value;
use proc_macro2::Ident;
use quote::{ToTokens, quote};
use syn::{Expr, Type, TypeParamBound, WherePredicate};

/// Whether a function says of a type parameter that it has a trait with this name.
pub(crate) fn has_bound(signature: &Signature, parameter: &Ident, name: &str) -> bool {
    let named = |bound: &TypeParamBound| match bound {
        TypeParamBound::Trait(of) => of.path.segments.last().is_some_and(|last| last.ident == name),
        _ => false,
    };
    let own = signature.types.iter().find(|t| t.ident == *parameter);
    own.is_some_and(|own| own.bounds.iter().any(named))
        || signature.bounds.iter().any(|said| match said {
            WherePredicate::Type(of) => {
                matches!(&of.bounded_ty, Type::Path(path) if path.path.is_ident(parameter))
                    && of.bounds.iter().any(named)
            }
            _ => false,
        })
}

impl Lowering<'_> {
    /// A function of a type parameter by such a bound; nothing of any other.
    pub fn of_std_bound(
        &mut self,
        parameter: &Ident,
        name: &str,
        arguments: &[&Expr],
    ) -> Result<Option<Value>, Refusal> {
        match (name, arguments) {
            ("default", []) if has_bound(self.signature, parameter, "Default") => {
                let data = self.hole(Hole::Data(parameter.to_token_stream()));
                let value = quote!(<#parameter as ::core::default::Default>::default());
                let hole = self.hole(Hole::Constant(value));
                let name = self.names.unique("value");
                self.lines.push(format!("{name} = $k{hole}$"));
                Ok(Some(Value::name(name, Ty::Of(data, Vec::new()), i64::MIN)))
            }
            ("from", [number]) if has_bound(self.signature, parameter, "From") => {
                let value = self.operand(number)?;
                let data = self.hole(Hole::Data(parameter.to_token_stream()));
                let ty = Ty::Of(data, Vec::new());
                let from = self.resolve(&value.ty);
                if from.is_float() {
                    self.unify(&from, &Ty::F64);
                    return Ok(Some(Value { ty, ..value }));
                }
                let value = self.named(value, "number");
                let text = format!(
                    "$if int {data}${0}$end$$if f64 {data}$f64({0})$end$$if f32 {data}$f32({0})$end$",
                    value.text
                );
                Ok(Some(Value::new(text, ty, 9, &[&value])))
            }
            _ => Ok(None),
        }
    }
}

//! What traits give: those of the standard library a type parameter, `T::default()` by `T: Default`, `T::from(2.0)` by `T: From<f64>`; those with
//! the attribute a type of its own the methods that they provide. And the types of arguments, by which type parameters are found.
//!
//! A default is the value that it is when the text is put together. What is made of a number is that number: a type parameter with such bounds
//! stands for numbers, since operators by `T: Add<Output = T>` are theirs.

use crate::Refusal;
use crate::generic::provided_name;
use crate::lowering::Lowering;
use crate::template::Hole;
use crate::types::Ty;
use crate::value::Value;
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::Expr;

impl Lowering<'_> {
    /// A function of a type parameter by such a bound; nothing of any other.
    pub fn of_std_bound(
        &mut self,
        parameter: &Ident,
        name: &str,
        arguments: &[&Expr],
    ) -> Result<Option<Value>, Refusal> {
        match (name, arguments) {
            ("default", []) if self.signature.has_bound(parameter, "Default") => {
                let data = self.hole(Hole::Data(parameter.to_token_stream()));
                let value = quote!(<#parameter as ::core::default::Default>::default());
                let hole = self.hole(Hole::Constant(value));
                let name = self.names.unique("value");
                self.lines.push(format!("{name} = $k{hole}$"));
                Ok(Some(Value::name(name, Ty::Of(data, Vec::new()), i64::MIN)))
            }
            ("from", [number]) if self.signature.has_bound(parameter, "From") => {
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

    /// The type of an argument, as an expression that stands for it: that of a number too, which may be what a type parameter is.
    pub fn argument_type(&self, ty: &Ty) -> Option<TokenStream> {
        Some(match self.resolve(ty) {
            Ty::F64 => quote!(::jut::rust::of::<f64>()),
            Ty::F32 => quote!(::jut::rust::of::<f32>()),
            Ty::Float(_) => quote!(::jut::rust::of_value(&0.0)),
            Ty::Array(element, _) => {
                let element = self.argument_type(&element)?;
                quote!(::jut::rust::list(#element))
            }
            other => return self.type_of(&other),
        })
    }

    /// A type as one of which a method with this name is looked for: a trait may provide it.
    pub fn looked_up(&mut self, owner: TokenStream, name: &str, at: Span) -> TokenStream {
        let plain = name.trim_start_matches("r#");
        let (found, other) = (provided_name(plain), quote::format_ident!("__jut_other_{plain}"));
        let item = quote! {
            #[allow(non_camel_case_types, dead_code)]
            trait #other {
                fn #found(&self) -> ::jut::rust::NotProvided {
                    ::jut::rust::NotProvided
                }
            }
            impl<T> #other for &T {}
        };
        let written = item.to_string();
        if !self.parts.items.iter().any(|known| known.to_string() == written) {
            self.parts.items.push(item);
        }
        quote_spanned!(at=> ::jut::rust::looked_up(#owner, |this| this.#found()))
    }
}

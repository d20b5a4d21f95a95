//! Rows of different lengths: a second text of a function that takes a `Vec<Vec<f64>>`.
//!
//! In the first text the rows have one length, and are one array, `x: [n, m]f64`. In the second one they are records that measure their lists:
//!
//! ```text
//! fn total(rows: &[Vec<f64>]) -> f64          data rows_of_f64 = rows_of_f64(values__0: i64, values: [values__0]f64)
//!                                             def total[n](rows: [n]rows_of_f64) -> f64
//! ```
//!
//! A row is what such a record has in it as soon as anything looks at it, `rows[i].values`; so all that is done with lists is done with rows. A list of
//! lists that is collected in this text is one of such records too. Which text runs, each call decides by its arguments
//! (`jut::rust::Uneven`): rows of one length cost nothing more. Where the second text cannot be made, that is said when it is needed.

use crate::Refusal;
use crate::function::{Lowered, lower};
use crate::lowering::Lowering;
use crate::signature::{Errors, Signature};
use crate::template::{Hole, hole_of};
use crate::types::{Extent, Ty, argument_of, array};
use crate::value::Value;
use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{FnArg, ItemFn, Type};

/// The text of a function for rows of different lengths, beside the type of this name.
pub(crate) struct Second {
    pub name: Ident,
    pub signature: Signature,
    /// The text, or why there is none.
    pub lowered: Result<Lowered, Refusal>,
}

/// That of a function that takes rows; of any other there is none.
pub(crate) fn second(function: &ItemFn, name: &Ident, signature: &Signature) -> Option<Second> {
    let rows = with_rows(signature)?;
    let lowered = lower(function, &rows);
    let name = format_ident!("{name}_of_uneven_rows");
    Some(Second { name, signature: rows, lowered })
}

/// The signature with records in the place of rows.
fn with_rows(signature: &Signature) -> Option<Signature> {
    let mut own = signature.clone();
    for k in 0..own.parameters.len() {
        let (ty, written) = (own.parameters[k].ty.clone(), own.parameters[k].written.clone());
        if let Some(rows) = rows_of(&ty, &written, &mut own) {
            own.parameters[k].ty = rows;
        }
    }
    if own.rows.is_empty() {
        return None;
    }
    if let Some(written) = own.written.clone()
        && let Some(rows) = rows_of(&own.result.clone(), &written, &mut own)
    {
        own.result = rows;
    }
    Some(own)
}

/// A list of records for one of rows whose elements have a type that is known here.
fn rows_of(ty: &Ty, written: &Type, own: &mut Signature) -> Option<Ty> {
    let Ty::Array(row, Extent::Slice | Extent::Vec) = ty else { return None };
    let Ty::Array(element, Extent::Slice | Extent::Vec) = &**row else { return None };
    let row = element_of(written)?;
    let one = element_of(row)?;
    let names: Vec<&Ident> = crate::signature::names(own).collect();
    let open = crate::parameters::open_in(ty, &names, &own.lengths).is_some();
    let lengths = own.lengths().any(|(k, _)| element.has_length(&format!("$k{k}$")));
    if open || lengths || matches!(**element, Ty::Tuple(_)) {
        return None;
    }
    let hole = hole_of(Hole::Data(quote!(::jut::rust::Row<#one>)), &mut own.lengths);
    if !own.rows.iter().any(|(k, _)| *k == hole) {
        own.rows.push((hole, (**element).clone()));
    }
    Some(array(Ty::Of(hole, Vec::new()), Extent::Vec))
}

/// The type of the elements of a slice or `Vec`, as it is written.
fn element_of(written: &Type) -> Option<&Type> {
    match written {
        Type::Reference(inner) => element_of(&inner.elem),
        Type::Paren(inner) => element_of(&inner.elem),
        Type::Group(inner) => element_of(&inner.elem),
        Type::Slice(slice) => Some(&slice.elem),
        list => argument_of(list, "Vec"),
    }
}

/// Whether rows may be among the parameters of a method.
pub(crate) fn may_take_rows(function: &ItemFn) -> bool {
    function.sig.inputs.iter().any(|input| match input {
        FnArg::Typed(typed) => element_of(&typed.ty).and_then(element_of).is_some(),
        FnArg::Receiver(_) => false,
    })
}

/// How those who call a function find its second text, if it has one.
pub(crate) fn called(signature: &Signature) -> TokenStream {
    let Some(second) = &signature.uneven else { return TokenStream::new() };
    let named = crate::generic::generics(signature).named;
    let failing = matches!(signature.errors, Errors::Fail | Errors::Missing);
    let text = quote!(linker.function::<#second #named>());
    let text = match failing {
        true => quote! {
            if sure { #text } else { linker.only_surely(<Self as ::jut::rust::Source>::NAME) }
        },
        false => text,
    };
    let unused = (!failing).then(|| quote!(let _ = sure;));
    quote! {
        fn second_text(linker: &mut ::jut::rust::Linker, sure: bool) -> ::jut::rust::Filled {
            #unused
            #text
        }
    }
}

/// The items beside a function of which there is no second text: the type, which says why.
pub(crate) fn missing(function: &ItemFn, second: &Second, refusal: &Refusal) -> TokenStream {
    let (name, why, vis) = (&second.name, &refusal.message, &function.vis);
    let conditions: Vec<_> = function.attrs.iter().filter(|a| a.path().is_ident("cfg")).collect();
    let generics = crate::generic::generics(&second.signature);
    let (open, types, named, source) =
        (&generics.open, &generics.declared, &generics.named, &generics.source);
    let holder = crate::expand::holder(&second.signature);
    quote! {
        #(#conditions)*
        #[allow(non_camel_case_types, dead_code)]
        #[doc(hidden)]
        #vis struct #name #open { #(#holder),* }
        #(#conditions)*
        #[automatically_derived]
        #[allow(private_bounds)]
        impl #types ::jut::rust::Source for #name #named #source {
            const NAME: &'static str = "";
            const RESULT: ::jut::rust::Type = ::jut::rust::Type::Unit;
            fn define(linker: &mut ::jut::rust::Linker) {
                linker.of_one_length(#why);
            }
            fn linked() -> &'static ::jut::rust::Cell {
                ::jut::rust::cell::<Self>()
            }
        }
    }
}

impl Lowering<'_> {
    /// The elements of what a type of rows has in it.
    fn row_of(&self, ty: &Ty) -> Option<Ty> {
        match self.resolve(ty) {
            Ty::Of(hole, steps) if steps.is_empty() => {
                let found = self.signature.rows.iter().find(|(row, _)| *row == hole);
                found.map(|(_, element)| array(element.clone(), Extent::Slice))
            }
            _ => None,
        }
    }

    /// Whether it is the type of a row.
    pub fn is_row(&self, ty: &Ty) -> bool {
        self.row_of(ty).is_some()
    }

    /// Whether it is the type of a list of such rows.
    pub fn is_uneven(&self, ty: &Ty) -> bool {
        matches!(self.resolve(ty), Ty::Array(row, _) if self.row_of(&row).is_some())
    }

    /// What is in a row; any other value as it is.
    pub fn row(&self, value: Value) -> Value {
        match self.row_of(&value.ty) {
            Some(ty) => {
                Value { text: format!("{}.values", value.within(9)), ty, level: 9, ..value }
            }
            None => value,
        }
    }

    /// The place of what is in a row; any other place as it is.
    pub fn row_place(&self, place: Value) -> Value {
        match self.row_of(&place.ty) {
            Some(ty) => Value { text: format!("{}.values", place.text), ty, ..place },
            None => place,
        }
    }

    /// The type of rows of such lists, in a text that has any.
    fn type_of_rows(&self, list: &Ty) -> Option<Ty> {
        let Ty::Array(element, Extent::Slice | Extent::Vec) = self.resolve(list) else {
            return None;
        };
        let same = |known: &Ty| match (&*element, known) {
            (Ty::Int(_), known) => known.is_integer(),
            (Ty::Float(_), known) => known.is_float(),
            (found, known) => found == known,
        };
        let row = self.signature.rows.iter().find(|(_, known)| same(known));
        row.map(|(hole, _)| Ty::Of(*hole, Vec::new()))
    }

    /// A list as a row, in a text that has rows of such lists.
    pub fn as_row(&mut self, list: Value) -> Value {
        let Some(row @ Ty::Of(hole, _)) = self.type_of_rows(&list.ty) else { return list };
        if let Some(known) = self.row_of(&row) {
            self.unify(&list.ty, &known);
        }
        let list = self.named(Value { stable: false, ..list }, "row");
        Value::name(format!("$make {hole} values={}$", list.text), row, i64::MIN).costly()
    }

    /// A list of lists of one length as one of rows; what is no such list as it is.
    pub fn in_rows(&mut self, value: Value) -> Value {
        let Ty::Array(list, Extent::Slice | Extent::Vec) = self.resolve(&value.ty) else {
            return value;
        };
        let Some(row) = self.type_of_rows(&list) else { return value };
        let whole = self.named(value, "rows");
        let index = self.names.unique("i");
        let one = Value::name(format!("{}[{index}]", whole.text), *list, i64::MIN);
        let (lines, one) = {
            let outside = std::mem::take(&mut self.lines);
            let one = self.as_row(one);
            (std::mem::replace(&mut self.lines, outside), one)
        };
        let body = lines.into_iter().chain([one.text]).collect::<Vec<_>>();
        let body = crate::lowering::indented(&body);
        let name = self.names.unique("rows");
        self.lines.push(format!("{name} = for ({index} < size({})) {{\n{body}\n}}", whole.text));
        Value::name(name, array(row, Extent::Slice), i64::MIN)
    }

    /// A call and its arguments, which is one of a function's second text if any of them is of rows: then all of them are.
    pub fn unevenly(&mut self, hole: usize, values: Vec<Value>) -> (usize, Vec<Value>) {
        if !values.iter().any(|value| self.is_uneven(&value.ty)) {
            return (hole, values);
        }
        let second = second_text(self.parts.holes[hole].clone());
        let values = values.into_iter().map(|value| self.in_rows(value)).collect();
        (self.hole(second), values)
    }
}

/// A function's second text in the place of its first.
fn second_text(hole: Hole) -> Hole {
    match hole {
        Hole::Sure(inner) => Hole::Sure(Box::new(second_text(*inner))),
        other => Hole::Uneven(Box::new(other)),
    }
}

/// What fills the hole of such a call.
pub(crate) fn filling(called: &Hole, sure: bool) -> TokenStream {
    match called {
        Hole::Function(path) => quote!(linker.second_text::<#path>(#sure)),
        Hole::Call(path, of) => quote!(linker.call_second_text::<#path, _>(#of, #sure)),
        Hole::Method(owner, key) => {
            let at = Span::call_site().located_at(owner.span());
            quote_spanned!(at=> linker.second_text_of_method::<#key, _, _>(#owner, #sure))
        }
        _ => {
            let why = "a method of a type parameter takes rows of one length";
            quote!(linker.of_one_length(#why))
        }
    }
}

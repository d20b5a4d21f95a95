//! The items that stand beside a function: a type of its name, by which rustc finds the function's text
//! wherever it finds the function, and functions that call the derivatives.
//!
//! The type is a struct with braces, which takes no name that a value could have. So `use a::fit` brings
//! both, and a call of `a::fit(..)` in another function's body is `<a::fit as Source>` in what stands beside that.

use crate::Refusal;
use crate::function::{Lowered, Parameter, Signature, lower, signature};
use crate::template::{Hole, Place, What};
use crate::types::{Extent, Ty};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote};
use syn::parse::{Parse, ParseStream};
use syn::{ItemFn, Token, Type};

/// What stands in the brackets of the attribute.
#[derive(Default)]
struct Arguments {
    name: Option<Ident>,
}

impl Parse for Arguments {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let mut arguments = Arguments::default();
        while !input.is_empty() {
            let key: Ident = input.parse()?;
            if key != "name" {
                return Err(syn::Error::new(key.span(), "`name = ..` is what can be said here"));
            }
            input.parse::<Token![=]>()?;
            arguments.name = Some(input.parse()?);
            if !input.is_empty() {
                input.parse::<Token![,]>()?;
            }
        }
        Ok(arguments)
    }
}

/// The attribute: the function as it is, and beside it its derivatives; or what cannot be translated.
pub fn differentiable(arguments: TokenStream, item: TokenStream) -> TokenStream {
    let arguments: Arguments = match syn::parse2(arguments) {
        Ok(arguments) => arguments,
        Err(error) => {
            let error = error.to_compile_error();
            return quote!(#item #error);
        }
    };
    let function: ItemFn = match syn::parse2(item.clone()) {
        Ok(function) => function,
        Err(error) => {
            // What is no Rust at all, rustc says itself; what is no function, it does not.
            let whole = syn::parse2::<syn::Item>(item.clone()).is_ok();
            let at = if whole { Span::call_site() } else { error.span() };
            let said = match whole {
                true => "only functions are differentiable".to_string(),
                false => error.to_string(),
            };
            let error = syn::Error::new(at, said).to_compile_error();
            return quote!(#item #error);
        }
    };
    let name = arguments.name.unwrap_or_else(|| function.sig.ident.clone());
    let signature = match signature(&function) {
        Ok(signature) => signature,
        Err(refusal) => {
            let error = refusal.error();
            let stub = bare(&function, &name);
            return quote!(#function #stub #error);
        }
    };
    let (lowered, error) = match lower(&function, &signature) {
        Ok(lowered) => (lowered, None),
        Err(refusal) => (Lowered::default(), Some(Refusal::error(&refusal))),
    };
    let twin = twin(&function, &name, &signature, &lowered);
    quote!(#function #twin #error)
}

/// The type alone, for a function whose signature is not built.
fn bare(function: &ItemFn, name: &Ident) -> TokenStream {
    let vis = &function.vis;
    quote! {
        #[allow(non_camel_case_types, dead_code)]
        #[doc(hidden)]
        #vis struct #name {}
        #[automatically_derived]
        impl ::jut::rust::Source for #name {
            const NAME: &'static str = "";
            const RESULT: ::jut::rust::Type = ::jut::rust::Type::Bool;
            fn define(_: &mut ::jut::rust::Linker) {}
            fn linked() -> &'static ::jut::rust::Cell {
                static LINKED: ::jut::rust::Cell = ::jut::rust::Cell::new();
                &LINKED
            }
        }
    }
}

/// The type of the function's name, and what belongs to it.
fn twin(function: &ItemFn, name: &Ident, signature: &Signature, lowered: &Lowered) -> TokenStream {
    let (vis, own) = (&function.vis, &function.sig.ident);
    let plain = own.to_string();
    let plain = plain.strip_prefix("r#").unwrap_or(&plain);
    let about = format!("Derivatives of [`{plain}`](fn@{plain}).");
    let conditions: Vec<_> = function.attrs.iter().filter(|a| a.path().is_ident("cfg")).collect();
    let result = type_value(&signature.result);
    let text = &lowered.text;
    let places = lowered.places.iter().map(place);
    let items = &lowered.items;
    let holes = lowered.holes.iter().map(|hole| match hole {
        Hole::Function(path) => quote!(linker.function::<#path>()),
        Hole::Constant(value) => quote!(linker.constant(&(#value))),
    });
    let methods = methods(signature);
    quote! {
        #(#conditions)*
        #[doc = #about]
        #[allow(non_camel_case_types, dead_code)]
        #vis struct #name {}

        #(#conditions)*
        #[automatically_derived]
        impl ::jut::rust::Source for #name {
            const NAME: &'static str = ::core::concat!(::core::module_path!(), "::", #plain);
            const RESULT: ::jut::rust::Type = #result;
            fn define(linker: &mut ::jut::rust::Linker) {
                #(#items)*
                let _ = #own;
                let holes = ::std::vec![#(#holes),*];
                linker.define::<Self>(#text, ::core::file!(), &[#(#places),*], &holes);
            }
            fn linked() -> &'static ::jut::rust::Cell {
                static LINKED: ::jut::rust::Cell = ::jut::rust::Cell::new();
                &LINKED
            }
        }

        #(#conditions)*
        #[allow(dead_code, clippy::all)]
        #[automatically_derived]
        impl #name {
            #methods
        }
    }
}

/// A place, as a value.
fn place(place: &Place) -> TokenStream {
    let (start, end) = (place.start as u32, place.end as u32);
    let at = place.span.start();
    let (line, column) = (at.line as u32, at.column as u32 + 1);
    let what = match &place.what {
        What::Same => quote!(::jut::rust::What::Same),
        What::Overflow(name) => quote!(::jut::rust::What::Overflow(#name)),
        What::Panic(text) => quote!(::jut::rust::What::Panic(#text)),
    };
    quote!(::jut::rust::Place { start: #start, end: #end, line: #line, column: #column, what: #what })
}

/// A type, as a value.
fn type_value(ty: &Ty) -> TokenStream {
    match ty {
        Ty::F64 => quote!(::jut::rust::Type::F64),
        Ty::I64 => quote!(::jut::rust::Type::I64),
        Ty::I32 => quote!(::jut::rust::Type::I32),
        Ty::Usize => quote!(::jut::rust::Type::Usize),
        Ty::Array(element, Extent::Vec) => {
            let element = type_value(element);
            quote!(::jut::rust::Type::Vec(&#element))
        }
        Ty::Array(element, _) => {
            let element = type_value(element);
            quote!(::jut::rust::Type::Array(&#element))
        }
        Ty::Tuple(items) => {
            let items = items.iter().map(type_value);
            quote!(::jut::rust::Type::Tuple(&[#(#items),*]))
        }
        _ => quote!(::jut::rust::Type::Bool),
    }
}

/// The type of a parameter's tangent as an argument: borrowed where the parameter is.
fn tangent_argument(parameter: &Parameter) -> TokenStream {
    parameter.written.to_token_stream()
}

/// The type of a derivative, as a value that is given back.
fn owned(written: &Type) -> TokenStream {
    match written {
        Type::Reference(inner) => owned(&inner.elem),
        Type::Paren(inner) => owned(&inner.elem),
        Type::Group(inner) => owned(&inner.elem),
        Type::Slice(slice) => {
            let element = owned(&slice.elem);
            quote!(::std::vec::Vec<#element>)
        }
        Type::Array(array) => {
            let (element, length) = (owned(&array.elem), &array.len);
            quote!([#element; #length])
        }
        Type::Tuple(tuple) => {
            let items = tuple.elems.iter().map(owned);
            quote!((#(#items),*))
        }
        Type::Path(path) => match path.path.segments.last() {
            Some(last) if last.ident == "Vec" => {
                let syn::PathArguments::AngleBracketed(arguments) = &last.arguments else {
                    return path.to_token_stream();
                };
                match arguments.args.first() {
                    Some(syn::GenericArgument::Type(element)) => {
                        let element = owned(element);
                        quote!(::std::vec::Vec<#element>)
                    }
                    _ => path.to_token_stream(),
                }
            }
            _ => path.to_token_stream(),
        },
        other => other.to_token_stream(),
    }
}

/// The type of the tangent of a result: that of its floats.
fn result_tangent(written: &Type, ty: &Ty) -> Option<TokenStream> {
    match (written, ty) {
        (Type::Paren(inner), _) => result_tangent(&inner.elem, ty),
        (Type::Group(inner), _) => result_tangent(&inner.elem, ty),
        (Type::Tuple(tuple), Ty::Tuple(items)) => {
            let all = tuple.elems.iter().zip(items);
            let floats: Vec<_> = all.filter_map(|(w, t)| result_tangent(w, t)).collect();
            (!floats.is_empty()).then(|| quote!((#(#floats,)*)))
        }
        (written, ty) => ty.has_float().then(|| owned(written)),
    }
}

/// A name that no parameter has.
fn fresh(signature: &Signature, wanted: &str) -> Ident {
    let mut name = wanted.to_string();
    while signature.parameters.iter().any(|p| p.name == name) {
        name.push('_');
    }
    Ident::new(&name, Span::mixed_site())
}

/// The functions that call the derivatives.
fn methods(signature: &Signature) -> TokenStream {
    let Some(written) = &signature.written else { return TokenStream::new() };
    let names: Vec<Ident> = signature
        .parameters
        .iter()
        .enumerate()
        .map(|(k, p)| match p.name.strip_prefix("r#") {
            Some(raw) => Ident::new_raw(raw, Span::mixed_site()),
            None if p.name == "_" || p.name == "self" => format_ident!("argument_{k}"),
            None => Ident::new(&p.name, Span::mixed_site()),
        })
        .collect();
    let types: Vec<&Type> = signature.parameters.iter().map(|p| &p.written).collect();
    let parameters: Vec<TokenStream> =
        names.iter().zip(&types).map(|(n, t)| quote!(#n: #t)).collect();
    let floats: Vec<usize> = signature
        .parameters
        .iter()
        .enumerate()
        .filter(|(_, p)| p.ty.has_float())
        .map(|(k, _)| k)
        .collect();
    let tangents: Vec<Ident> = floats
        .iter()
        .map(|k| {
            let name = names[*k].to_string();
            fresh(signature, &format!("d_{}", name.trim_start_matches("r#")))
        })
        .collect();
    let tangent_parameters: Vec<TokenStream> = floats
        .iter()
        .zip(&tangents)
        .map(|(k, d)| {
            let ty = tangent_argument(&signature.parameters[*k]);
            quote!(#d: #ty)
        })
        .collect();
    let value = owned(written);
    let gradients: Vec<TokenStream> = floats.iter().map(|k| owned(types[*k])).collect();
    let (gradient, take_gradient) = match &gradients[..] {
        [one] => (quote!(#one), quote!(results.next()?)),
        several => {
            let each = several.iter().map(|_| quote!(results.next()?));
            (quote!((#(#several),*)), quote!((#(#each),*)))
        }
    };
    let method = |name: &str,
                  doc: &str,
                  request: &str,
                  given: &[TokenStream],
                  held: &[Ident],
                  ty: &TokenStream,
                  taken: &TokenStream| {
        let (name, request) = (format_ident!("{name}"), format_ident!("{request}"));
        quote! {
            #[doc = #doc]
            ///
            /// # Errors
            /// An argument that does not fit, or what makes the function panic.
            pub fn #name(#(#given),*) -> ::jut::Result<#ty> {
                static ENTRY: ::jut::rust::Entry = ::jut::rust::Entry::new(::jut::Request::#request);
                ::std::thread_local! {
                    static SESSION: ::jut::rust::Local = const { ::jut::rust::Local::new() };
                }
                let arguments = [#(::jut::rust::Argument::hold(&#held)?),*];
                ENTRY.call::<Self, _>(&SESSION, &arguments, |results| ::jut::Result::Ok(#taken))
            }
        }
    };
    let mut all = vec![
        quote! {
            /// The function, of which everything else can be asked for.
            ///
            /// # Errors
            /// Something that is found out when the text is put together.
            pub fn function() -> ::jut::Result<::jut::Function> {
                ::jut::rust::function::<Self>()
            }

            /// The text that the function becomes, and all that it calls.
            ///
            /// # Errors
            /// As `function`.
            pub fn text() -> ::jut::Result<::std::string::String> {
                ::jut::rust::text::<Self>()
            }
        },
        method(
            "value",
            "The value, by compiled code.",
            "Value",
            &parameters,
            &names,
            &value,
            &quote!(results.next()?),
        ),
    ];
    let result_floats = result_tangent(written, &signature.result);
    if !floats.is_empty()
        && let Some(result_type) = &result_floats
    {
        let both: Vec<TokenStream> =
            parameters.iter().chain(&tangent_parameters).cloned().collect();
        let held: Vec<Ident> = names.iter().chain(&tangents).cloned().collect();
        let cotangent = fresh(signature, "cotangent");
        let mut with_cotangent = parameters.clone();
        with_cotangent.push(quote!(#cotangent: &#result_type));
        let mut held_cotangent = names.clone();
        held_cotangent.push(cotangent);
        let pair = quote!((results.next()?, #take_gradient));
        all.push(method(
            "jvp",
            "The value, and its tangent along the given tangents of the parameters.",
            "Jvp",
            &both,
            &held,
            &quote!((#value, #result_type)),
            &quote!((results.next()?, results.next()?)),
        ));
        all.push(method(
            "vjp",
            "The value, and the cotangents of the parameters for the given one of the value.",
            "Vjp",
            &with_cotangent,
            &held_cotangent,
            &quote!((#value, #gradient)),
            &pair,
        ));
        if signature.result == Ty::F64 {
            all.push(method(
                "gradient",
                "The gradient: one result for each parameter that has floats.",
                "Gradient",
                &parameters,
                &names,
                &gradient,
                &take_gradient,
            ));
            all.push(method(
                "value_and_gradient",
                "The value and the gradient.",
                "ValueAndGradient",
                &parameters,
                &names,
                &quote!((#value, #gradient)),
                &pair,
            ));
            all.push(method(
                "hvp",
                "The second derivatives times the given tangents: one result for each parameter that has floats.",
                "HessianProduct",
                &both,
                &held,
                &gradient,
                &take_gradient,
            ));
            if let [one] = &floats[..]
                && let Some(block) = hessian(types[*one], &signature.parameters[*one].ty)
            {
                all.push(method(
                    "hessian",
                    "All second derivatives.",
                    "Hessian",
                    &parameters,
                    &names,
                    &block,
                    &quote!(results.next()?),
                ));
            }
        }
    }
    quote!(#(#all)*)
}

/// The type of the second derivatives with respect to one parameter.
fn hessian(written: &Type, ty: &Ty) -> Option<TokenStream> {
    match (ty, written) {
        (Ty::F64, _) => Some(quote!(f64)),
        (Ty::Array(element, extent), _) if **element == Ty::F64 => match (extent, written) {
            (Extent::Fixed(_), Type::Array(array)) => {
                let n = &array.len;
                Some(quote!([[f64; #n]; #n]))
            }
            (Extent::Fixed(_), Type::Reference(inner)) => hessian(&inner.elem, ty),
            (Extent::Fixed(_), _) => None,
            _ => Some(quote!(::jut::Array<f64>)),
        },
        _ => None,
    }
}

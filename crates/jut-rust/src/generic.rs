//! Functions of type parameters, and traits.
//!
//! A function such as `fn total<P: Potential>(p: &P, x: &[f64]) -> f64` has one template, and a text for each type. What stands beside it,
//! `struct total<P = ()>`, has the type as a parameter; rustc finds it where the function is called:
//!
//! ```text
//! total::gradient(&morse, &x)          total::<Morse>, by the arguments
//! total(&morse, &x) in a body          linker.call::<total, _>((of::<Morse>(), list(of::<f64>())))
//! p.energy(r) in the body of total     P::derivatives_of_energy(linker), by the bounds of P
//! ```
//!
//! A trait with the attribute has such a function beside each method, `derivatives_of_energy`, and an `impl` with the attribute gives
//! it. One without gives an error when the text is put together. A method that the trait provides is a function of the type
//! that has the trait, `Potential_force`.
//!
//! A method of a generic `impl` is such a function: for `impl<T: Real> Pair<T>` that of `fn norm(&self) -> T` is `Pair_norm<T>`.
//!
//! A length of a struct, `fn energy<const N: usize>(s: &State<N>)`, is a parameter in the same way, `energy<N>`, since it is part of
//! the struct's type; a length of arrays alone is a size of the one text for all lengths.
//!
//! Requires: each type parameter, and each length of a struct, is that of a parameter, of the elements of one, or of a struct that is one.

use crate::parameters::open_in;
use crate::signature::{Signature, names};
use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};

/// The function of a trait that finds a method's text.
pub(crate) fn link_name(method: &str) -> Ident {
    format_ident!("derivatives_of_{}", method.trim_start_matches("r#"))
}

/// The function of a trait by which a method that it provides is found of a type.
pub(crate) fn provided_name(method: &str) -> Ident {
    format_ident!("text_of_{}", method.trim_start_matches("r#"))
}

/// How types of functions are declared and named beside one.
pub(crate) struct Generics {
    /// `<P = ()>`, or nothing.
    pub open: TokenStream,
    /// `<P: Potential>`
    pub declared: TokenStream,
    /// `<P>`
    pub named: TokenStream,
    /// `where ..` of what has a text.
    pub source: TokenStream,
    /// `where ..` of what is called.
    pub called: TokenStream,
}

/// The fields of a type beside a function, which has its type parameters.
pub(crate) fn holder(signature: &Signature) -> Vec<TokenStream> {
    let each = signature.types.iter().map(|t| {
        let (name, field) = (&t.ident, format_ident!("of_{}", t.ident.to_string().to_lowercase()));
        quote!(#field: ::core::marker::PhantomData<fn() -> #name>)
    });
    each.collect()
}

/// The type parameters of a function.
pub(crate) fn generics(signature: &Signature) -> Generics {
    let (types, lengths) = (&signature.types, &signature.own);
    if !signature.is_open() {
        let none = TokenStream::new;
        return Generics {
            open: none(),
            declared: none(),
            named: none(),
            source: none(),
            called: none(),
        };
    }
    let all_names: Vec<&Ident> = names(signature).collect();
    let names: Vec<&Ident> = types.iter().map(|t| &t.ident).collect();
    let bounds = &signature.bounds;
    // What stands in the types of the parameters, and of the result.
    let all = signature.parameters.iter().map(|p| &p.ty).chain([&signature.result]);
    let open: Vec<(TokenStream, usize)> =
        all.filter_map(|ty| open_in(ty, &all_names, &signature.lengths)).collect();
    let own = |path: &TokenStream| types.iter().any(|t| t.ident == path.to_string());
    let lists: Vec<&TokenStream> = open.iter().filter(|o| o.1 > 0).map(|o| &o.0).collect();
    let structs: Vec<&TokenStream> = open.iter().map(|o| &o.0).filter(|o| !own(o)).collect();
    // A default is written as a constant.
    let defaults: Vec<&&Ident> =
        names.iter().filter(|name| signature.has_bound(name, "Default")).collect();
    let source = quote! {
        #(#bounds,)* #(#names: ::jut::rust::Data + 'static,)* #(#defaults: ::jut::rust::Constant,)*
    };
    Generics {
        open: quote!(<#(#names = (),)* #(const #lengths: usize = 0),*>),
        declared: quote!(<#(#types,)* #(const #lengths: usize),*>),
        named: quote!(<#(#all_names),*>),
        called: quote! {
            where
                #source
                #(#names: ::jut::rust::Argument + ::jut::rust::Outcome,)*
                #(::jut::rust::Gradient<#names>: ::jut::rust::Argument + ::jut::rust::Outcome,)*
                #(#structs: ::jut::rust::Argument + ::jut::rust::Outcome,)*
                #(::jut::rust::Gradient<#structs>: ::jut::rust::Argument + ::jut::rust::Outcome,)*
                #(#lists: ::jut::rust::Block,)*
                #(::jut::rust::Gradient<#lists>: ::jut::rust::Block,)*
        },
        source: quote!(where #source),
    }
}

/// The types of the arguments by which a function's own types are found.
struct Arguments {
    /// Parameters for those that say nothing of these.
    free: Vec<Ident>,
    /// What is said of lists.
    lists: Vec<TokenStream>,
    /// All of them.
    types: Vec<TokenStream>,
}

fn arguments_of(signature: &Signature) -> Arguments {
    let others: Vec<Ident> =
        (0..signature.parameters.len()).map(|k| format_ident!("Argument{k}")).collect();
    let all_names: Vec<&Ident> = names(signature).collect();
    let (mut free, mut lists) = (Vec::new(), Vec::new());
    let arguments = signature.parameters.iter().zip(&others).map(|(p, other)| {
        let ty = match open_in(&p.ty, &all_names, &signature.lengths) {
            Some((path, 0)) => path,
            own => {
                free.push(other.clone());
                if let Some((path, depth)) = own {
                    let list = (1..depth).fold(
                        quote!(#other),
                        |ty, _| quote!(<#ty as ::jut::rust::Elements>::Element),
                    );
                    lists.push(quote!(#list: ::jut::rust::Elements<Element = #path>));
                }
                quote!(#other)
            }
        };
        quote!(::core::marker::PhantomData<#ty>)
    });
    let types = arguments.collect();
    Arguments { free, lists, types }
}

/// A type with lists in the place of arrays of some lengths.
fn without_lengths(ty: &mut syn::Type, lengths: &[&Ident]) {
    match ty {
        syn::Type::Array(array) => {
            without_lengths(&mut array.elem, lengths);
            let element = &array.elem;
            if lengths.iter().any(|name| crate::syntax::has_word(&array.len, &name.to_string())) {
                *ty = syn::parse_quote!(::jut::rust::List<#element>);
            }
        }
        syn::Type::Tuple(tuple) => {
            tuple.elems.iter_mut().for_each(|one| without_lengths(one, lengths));
        }
        syn::Type::Paren(inner) => without_lengths(&mut inner.elem, lengths),
        syn::Type::Group(inner) => without_lengths(&mut inner.elem, lengths),
        syn::Type::Path(path) => {
            let Some(last) = path.path.segments.last_mut() else { return };
            let syn::PathArguments::AngleBracketed(of) = &mut last.arguments else { return };
            for argument in &mut of.args {
                if let syn::GenericArgument::Type(one) = argument {
                    without_lengths(one, lengths);
                }
            }
        }
        _ => {}
    }
}

/// What says the type of a function's result to those who call it.
pub(crate) fn gives(
    name: &Ident,
    signature: &Signature,
    result: &syn::Type,
    conditions: &[&syn::Attribute],
) -> TokenStream {
    // Nobody asks how long an array is whose length is a parameter.
    let own = |k: usize| signature.result.has_length(&format!("$k{k}$"));
    let lengths: Vec<&Ident> =
        signature.lengths().filter(|(k, _)| own(*k)).map(|(_, length)| length).collect();
    let mut result = result.clone();
    without_lengths(&mut result, &lengths);
    if !signature.is_open() {
        return quote! {
            #(#conditions)*
            #[automatically_derived]
            impl<Arguments> ::jut::rust::Gives<Arguments, #result> for #name {}
        };
    }
    let Generics { source, .. } = generics(signature);
    let (types, lengths) = (&signature.types, &signature.own);
    let Arguments { free, lists, types: arguments } = arguments_of(signature);
    quote! {
        #(#conditions)*
        #[automatically_derived]
        impl<#(#types,)* #(#free,)* #(const #lengths: usize),*>
            ::jut::rust::Gives<(#(#arguments,)*), #result> for #name
        #source #(#lists,)*
        {}
    }
}

/// How those who call a function find its text by the types of their arguments.
pub(crate) fn callee(
    name: &Ident,
    signature: &Signature,
    conditions: &[&syn::Attribute],
) -> TokenStream {
    let (types, lengths) = (&signature.types, &signature.own);
    if !signature.is_open() {
        return quote! {
            #(#conditions)*
            #[automatically_derived]
            impl<Arguments> ::jut::rust::Callee<Arguments> for #name {
                type Function = #name;
            }
        };
    }
    let Generics { named, source, .. } = generics(signature);
    let Arguments { free, lists, types: arguments } = arguments_of(signature);
    quote! {
        #(#conditions)*
        #[automatically_derived]
        impl<#(#types,)* #(#free,)* #(const #lengths: usize),*> ::jut::rust::Callee<(#(#arguments,)*)> for #name
        #source #(#lists,)*
        {
            type Function = #name #named;
        }
    }
}

/// Whether a trait is one of std's whose methods an `impl` with the attribute gives: they have no functions that find texts.
pub(crate) fn is_std(path: &syn::Path) -> bool {
    path.segments.last().is_some_and(|s| {
        let name = s.ident.to_string();
        crate::overloaded::TRAITS.contains(&name.as_str()) || name == "Default" || name == "From"
    })
}

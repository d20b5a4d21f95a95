//! The functions that stand in the type beside a function, `f::gradient(..)` and its like: what each takes and gives.
//!
//! | for `fn f(x: &[f64], k: usize) -> f64` | |
//! |---|---|
//! | `value(x, k)`, `gradient(x, k)`, `value_and_gradient(x, k)` | the parameters are those of the function |
//! | `gradient_into(x, k, g_x)` | behind them memory for each part of the gradient |
//! | `jvp(x, k, d_x)`, `hvp(x, k, d_x)` | behind them a tangent for each parameter that is asked for |
//! | `vjp(x, k, cotangent)` | behind them a cotangent of the result |
//! | `flat(x, k)` | the function of one vector, for solvers |
//! | `linearize(x, k)` | the value and the derivative there, to be applied to tangents and cotangents |
//! | `compiled(request)`, `configure(choice)` | the code that these call, and how it is made |
//! | `hessian(x, k)`, `jacobian(x, k)`, `value_and_jacobian(x, k)` | of one parameter; of functions that give an array |
//!
//! Asked for are the parameters with floats, or those of them that the attribute names: `differentiable(wrt(x))`.

use crate::signature::Signature;
use crate::types::{Extent, Ty};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote};
use syn::Type;

/// The type of a parameter's tangent as an argument: borrowed where the parameter is.
fn tangent_argument(written: &Type) -> TokenStream {
    match written {
        Type::Reference(reference) => {
            let (lifetime, inner) = (&reference.lifetime, tangent_argument(&reference.elem));
            quote!(& #lifetime #inner)
        }
        Type::Slice(slice) => {
            let inner = element_derivative(&slice.elem);
            quote!([#inner])
        }
        other => match within_option(other) {
            Some(inner) => tangent_argument(inner),
            None => derivative(other),
        },
    }
}

/// The type of a derivative, as a value that is given back.
pub(crate) fn derivative(written: &Type) -> TokenStream {
    if let Some(inner) = within_option(written) {
        return derivative(inner);
    }
    // Of the floats of a tuple, where it has others.
    rebuilt(written, &element_derivative, &|item| !is_integer(item)).unwrap_or_else(
        || match written {
            Type::Path(path) if !known(path) => {
                let path = lasting(path);
                quote!(::jut::rust::Gradient<#path>)
            }
            other => other.to_token_stream(),
        },
    )
}

/// The same of what is in another type: of an `Option` in a list a tuple, as of a pair of which one is no float.
fn element_derivative(written: &Type) -> TokenStream {
    match crate::types::argument_of(written, "Option") {
        Some(inner) => {
            let inner = derivative(inner);
            quote!((#inner,))
        }
        None => derivative(written),
    }
}

/// A type whose lifetimes are those of what stays: a derivative refers to nothing. Those of views need not be written where they are used.
fn lasting(path: &syn::TypePath) -> syn::TypePath {
    let mut path = path.clone();
    let Some(last) = path.path.segments.last_mut() else { return path };
    let view = ["ArrayView1", "ArrayView2"].iter().any(|name| last.ident == name);
    let syn::PathArguments::AngleBracketed(of) = &mut last.arguments else { return path };
    let lasting: syn::GenericArgument = syn::parse_quote!('static);
    let mut written = false;
    for argument in &mut of.args {
        if let syn::GenericArgument::Lifetime(_) = argument {
            (*argument, written) = (lasting.clone(), true);
        }
    }
    if view && !written {
        of.args.insert(0, lasting);
    }
    path
}

/// A type of others without references: of what `of` says of these, where `keeps` keeps them in a tuple. Nothing for any other type.
fn rebuilt(
    written: &Type,
    of: &dyn Fn(&Type) -> TokenStream,
    keeps: &dyn Fn(&Type) -> bool,
) -> Option<TokenStream> {
    Some(match written {
        Type::Reference(inner) => of(&inner.elem),
        Type::Paren(inner) => of(&inner.elem),
        Type::Group(inner) => of(&inner.elem),
        Type::Slice(slice) => {
            let element = of(&slice.elem);
            quote!(::std::vec::Vec<#element>)
        }
        Type::Array(array) => {
            let (element, length) = (of(&array.elem), &array.len);
            quote!([#element; #length])
        }
        Type::Tuple(tuple) => {
            let items = tuple.elems.iter().filter(|item| keeps(item)).map(of);
            quote!((#(#items,)*))
        }
        other => {
            let element = of(crate::types::argument_of(other, "Vec")?);
            quote!(::std::vec::Vec<#element>)
        }
    })
}

/// Whether a type is that of an integer or truth value, or of an array of them.
fn is_integer(written: &Type) -> bool {
    match written {
        Type::Array(array) => is_integer(&array.elem),
        Type::Paren(inner) => is_integer(&inner.elem),
        Type::Group(inner) => is_integer(&inner.elem),
        Type::Path(path) => {
            known(path)
                && !path.path.segments.last().is_some_and(|s| s.ident == "f64" || s.ident == "f32")
        }
        _ => false,
    }
}

/// What an `Option` is of, also behind a reference.
fn within_option(written: &Type) -> Option<&Type> {
    match written {
        Type::Reference(inner) => within_option(&inner.elem),
        other => crate::types::argument_of(other, "Option"),
    }
}

/// Whether a path is that of a number or truth value, or of an array of jut's, which the attribute does not take.
fn known(path: &syn::TypePath) -> bool {
    let last = path.path.segments.last().map(|s| s.ident.to_string()).unwrap_or_default();
    let first = path.path.segments.first().map(|s| s.ident.to_string()).unwrap_or_default();
    last == "bool"
        || Ty::number(&last).is_some()
        || path.path.leading_colon.is_some() && first == "jut" && last == "Array"
}

/// The type of a result, as a value that is given back: without references.
fn owned(written: &Type) -> TokenStream {
    rebuilt(written, &owned, &|_| true).unwrap_or_else(|| written.to_token_stream())
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
        (written, Ty::Option(inner)) => inner.has_float().then(|| {
            let inner = derivative(written);
            quote!((#inner,))
        }),
        (written, ty) => ty.has_float().then(|| derivative(written)),
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

/// A result of the text.
pub struct Given<'a> {
    /// Its type as it is written.
    pub written: &'a Type,
    /// Its type.
    pub ty: &'a Ty,
}

/// What the text gives: the function's result, and what the parameters are in the end that it changes.
pub(crate) fn given(signature: &Signature) -> Vec<Given<'_>> {
    let own = signature.written.iter().map(|written| Given { written, ty: &signature.result });
    let changed = signature.parameters.iter().filter(|p| p.changed);
    own.chain(changed.map(|p| Given { written: &p.written, ty: &p.ty })).collect()
}

/// One type or value, or a tuple of several.
fn tupled(items: &[TokenStream]) -> TokenStream {
    match items {
        [one] => one.clone(),
        several => quote!((#(#several),*)),
    }
}

/// References to arguments as one tuple: many are tuples in a tuple.
fn together(mut all: Vec<TokenStream>) -> TokenStream {
    const MOST: usize = 8;
    while all.len() > MOST {
        all = all.chunks(MOST).map(|few| quote!((#(#few,)*))).collect();
    }
    quote!((#(#all,)*))
}

/// What takes so many results.
fn take(count: usize) -> TokenStream {
    match count {
        1 => quote!(::jut::rust::one),
        2 => quote!(::jut::rust::two),
        3 => quote!(::jut::rust::three),
        4 => quote!(::jut::rust::four),
        5 => quote!(::jut::rust::five),
        6 => quote!(::jut::rust::six),
        _ => {
            let all = vec![quote!(results.next()?); count];
            quote!(|results: &mut ::jut::rust::Taken<'_>| ::jut::Result::Ok((#(#all),*)))
        }
    }
}

/// The lengths that are parameters of the function, as it declares them: those of some numbers.
pub(crate) fn declared(signature: &Signature, is_one: &dyn Fn(usize) -> bool) -> TokenStream {
    let lengths = signature.lengths().filter(|(k, _)| is_one(*k));
    let names: Vec<&Ident> = lengths.map(|(_, name)| name).collect();
    match names.is_empty() {
        true => TokenStream::new(),
        false => quote!(<#(const #names: usize),*>),
    }
}

/// Derivatives that only a number has.
const OF_A_NUMBER: &[&str] = &["gradient", "value_and_gradient", "gradient_into", "hvp", "hessian"];

/// The functions that call the derivatives: of a function with such parameters, whose text gives these results. The
/// signature's own result is that of which there is a gradient, if it is a number.
pub fn methods(signature: &Signature, given: &[Given<'_>]) -> TokenStream {
    let idents: Vec<Ident> = signature
        .parameters
        .iter()
        .enumerate()
        .map(|(k, p)| match p.name.strip_prefix("r#") {
            Some(raw) => Ident::new_raw(raw, Span::mixed_site()),
            None if p.name == "self" => fresh(signature, "this"),
            None if p.name == "_" => format_ident!("argument_{k}"),
            None => Ident::new(&p.name, Span::mixed_site()),
        })
        .collect();
    // An `Option` is two arguments.
    let (mut held_names, mut prepared) = (Vec::new(), Vec::new());
    for (n, p) in idents.iter().zip(&signature.parameters) {
        let name = n.to_string();
        if p.narrow {
            let held = fresh(signature, &format!("held_{}", name.trim_start_matches("r#")));
            prepared.push(quote!(let #held = ::jut::rust::Narrow(#n);));
            held_names.push(quote!(#held));
            continue;
        }
        if !matches!(p.ty, Ty::Option(_)) {
            held_names.push(quote!(#n));
            continue;
        }
        let there = fresh(signature, &format!("has_{}", name.trim_start_matches("r#")));
        let content = fresh(signature, &format!("in_{}", name.trim_start_matches("r#")));
        let whole = match &p.ty {
            Ty::Option(inner) if crate::types::has_sizes(inner) => quote! {
                ::jut::rust::ListContent(::core::option::Option::map(::core::option::Option::as_ref(&#n), |list| &list[..]))
            },
            _ => quote!(::jut::rust::Content(::core::option::Option::as_ref(&#n))),
        };
        prepared.push(quote! {
            let #there = ::core::option::Option::is_some(&#n);
            let #content = #whole;
        });
        held_names.extend([quote!(#there), quote!(#content)]);
    }
    let names: Vec<TokenStream> = idents.iter().map(|n| quote!(#n)).collect();
    let types: Vec<&Type> = signature.parameters.iter().map(|p| &p.written).collect();
    let parameters: Vec<TokenStream> =
        names.iter().zip(&types).map(|(n, t)| quote!(#n: #t)).collect();
    let floats: Vec<usize> = signature
        .parameters
        .iter()
        .enumerate()
        .filter(|(_, p)| p.is_asked())
        .map(|(k, _)| k)
        .collect();
    let tangents: Vec<Ident> = floats
        .iter()
        .map(|k| {
            let name = idents[*k].to_string();
            fresh(signature, &format!("d_{}", name.trim_start_matches("r#")))
        })
        .collect();
    let tangent_parameters: Vec<TokenStream> = floats
        .iter()
        .zip(&tangents)
        .map(|(k, d)| {
            let ty = tangent_argument(&signature.parameters[*k].written);
            quote!(#d: #ty)
        })
        .collect();
    let value = tupled(&given.iter().map(|g| owned(g.written)).collect::<Vec<_>>());
    let take_value = take(given.len());
    let gradients: Vec<TokenStream> = floats.iter().map(|k| derivative(types[*k])).collect();
    let (gradient, take_gradient) = (tupled(&gradients), take(gradients.len()));
    let generics = declared(signature, &|_| true);
    // A gradient is that of the function's result, or of the one number that it changes. Whether a name stands for a
    // number, rustc knows: else the gradient is there, and an error where it is called.
    let of = match given {
        [one] => Some(one),
        _ => given.first().filter(|_| signature.written.is_some()),
    };
    let named = of.filter(|g| matches!(g.ty, Ty::Of(..)));
    let bound = named.map(|g| {
        let written = owned(g.written);
        quote!(where for<'number> #written: ::jut::rust::Number)
    });
    let tangents_of = |k: usize| floats.iter().position(|f| *f == k).map(|at| &tangents[at]);
    let same: Vec<String> = (0..idents.len())
        .filter(|k| matches!(signature.parameters[*k].ty, Ty::Of(..)))
        .flat_map(|k| [Some(&idents[k]), tangents_of(k)].into_iter().flatten())
        .map(Ident::to_string)
        .collect();
    let takes = crate::uneven::takes_rows(signature);
    // What is static in a function of type parameters is one for all types.
    let kept = format_ident!("kept", span = Span::mixed_site());
    let method = |name: &str,
                  doc: &str,
                  request: &str,
                  given: &[TokenStream],
                  held: &[TokenStream],
                  ty: &TokenStream,
                  taken: &TokenStream| {
        let bound = bound.as_ref().filter(|_| OF_A_NUMBER.contains(&name));
        let doc = format!(
            "{doc}\n\n# Errors\nAn argument that does not fit, or what makes the function panic."
        );
        let name = format_ident!("{name}");
        let request: TokenStream = request.parse().unwrap_or_default();
        let arguments =
            together(held.iter().map(|one| quote!(::jut::rust::argument(&#one))).collect());
        // Rows of different lengths are those of the second text.
        // What has rows by another name is the same in both texts.
        let held_unevenly: Vec<TokenStream> = held
            .iter()
            .map(|one| match same.contains(&one.to_string()) {
                true => quote!(::jut::rust::argument(&#one)),
                false => quote!(::jut::rust::in_rows(&#one)),
            })
            .collect();
        let held_unevenly = together(held_unevenly);
        // Of a function that gives rows and takes none, these are those of a cotangent.
        let asked = if takes { &held_names[..] } else { held };
        let uneven = signature.uneven.as_ref().filter(|_| !asked.is_empty()).map(|second| {
            let named = crate::generic::generics(signature).named;
            quote! {
                if !(#(::jut::rust::Argument::is_even(&#asked))&&*) {
                    return ::jut::rust::called_unevenly::<#second #named, _>(
                        ::jut::Request::#request,
                        #held_unevenly,
                        #taken,
                    );
                }
            }
        });
        let called = match signature.is_open() {
            false => quote! {
                ::jut::rust::call::<Self, _>(::jut::Request::#request, Self::#kept(), #arguments, #taken)
            },
            true => quote! {
                ::jut::rust::called::<Self, _>(::jut::Request::#request, #arguments, #taken)
            },
        };
        let called = match signature.uneven.as_ref().filter(|_| !takes) {
            None => called,
            Some(second) => {
                let named = crate::generic::generics(signature).named;
                quote! {
                    ::jut::rust::or_unevenly::<#second #named, _>(
                        #called,
                        ::jut::Request::#request,
                        #held_unevenly,
                        #taken,
                    )
                }
            }
        };
        quote! {
            #[doc = #doc]
            pub fn #name #generics(#(#given),*) -> ::jut::Result<#ty> #bound {
                #(#prepared)*
                #uneven
                #called
            }
        }
    };
    let configured = match &signature.uneven {
        Some(second) => {
            let named = crate::generic::generics(signature).named;
            quote!(::jut::rust::configure_both::<Self, #second #named>)
        }
        None => quote!(::jut::rust::configure::<Self>),
    };
    let shared = (!signature.is_open()).then(|| {
        quote! {
            /// What a thread keeps to call them.
            #[inline]
            fn #kept() -> &'static ::std::thread::LocalKey<::jut::rust::Locals> {
                ::std::thread_local! {
                    static KEPT: ::jut::rust::Locals = const { ::jut::rust::Locals::new() };
                }
                &KEPT
            }
        }
    });
    let mut all = vec![
        quote! {
            #shared

            #[doc = "The function, of which everything else can be asked for.\n\n# Errors\nSomething that is found out when the text is put together."]
            pub fn function() -> ::jut::Result<::jut::Function> {
                ::jut::rust::function::<Self>()
            }

            #[doc = "The code that a derivative of this type calls, made if it is not there yet: that of `gradient` by\n`jut::Request::Gradient`.\n\n# Errors\nA derivative that the function has not."]
            pub fn compiled(request: ::jut::Request) -> ::jut::Result<::jut::Compiled> {
                ::jut::rust::compiled::<Self>(request)
            }

            #[doc = "Says how the derivatives of this type are compiled, `|f| f.engine(jut::Engine::Cranelift)`: once, before the\nfirst of them is called.\n\n# Errors\nSome of them are compiled already, or this was said before."]
            pub fn configure(
                choice: impl ::core::ops::Fn(::jut::Function) -> ::jut::Function
                + ::core::marker::Send
                + ::core::marker::Sync
                + 'static,
            ) -> ::jut::Result<()> {
                #configured(choice)
            }

            #[doc = "The text that the function becomes, and all that it calls.\n\n# Errors\nAs `function`."]
            pub fn text() -> ::jut::Result<::std::string::String> {
                ::jut::rust::text::<Self>()
            }
        },
        method(
            "value",
            "The value, by compiled code.",
            "Value",
            &parameters,
            &held_names,
            &value,
            &take_value,
        ),
    ];
    let result_floats: Vec<TokenStream> =
        given.iter().filter_map(|g| result_tangent(g.written, g.ty)).collect();
    if !floats.is_empty() && !result_floats.is_empty() {
        let result_type = tupled(&result_floats);
        let both: Vec<TokenStream> =
            parameters.iter().chain(&tangent_parameters).cloned().collect();
        let tangents = tangents.iter().map(|n| quote!(#n));
        let held: Vec<TokenStream> = held_names.iter().cloned().chain(tangents).collect();
        let cotangent = fresh(signature, "cotangent");
        let mut with_cotangent = parameters.clone();
        with_cotangent.push(quote!(#cotangent: &#result_type));
        let mut held_cotangent = held_names.clone();
        held_cotangent.extend((0..result_floats.len()).map(|k| match result_floats.len() {
            1 => quote!(#cotangent),
            _ => {
                let k = syn::Index::from(k);
                quote!(#cotangent.#k)
            }
        }));
        let pair = quote!(::jut::rust::both(#take_value, #take_gradient));
        all.push(method(
            "jvp",
            "The value, and its tangent along the given tangents of the parameters.",
            "Jvp",
            &both,
            &held,
            &quote!((#value, #result_type)),
            &{
                let take_tangent = take(result_floats.len());
                quote!(::jut::rust::both(#take_value, #take_tangent))
            },
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
        let whole = |one: &dyn ToTokens| quote!(::jut::rust::argument(&#one));
        let in_rows = |one: &TokenStream| match same.contains(&one.to_string()) {
            true => whole(one),
            false => quote!(::jut::rust::in_rows(&#one)),
        };
        let arguments = together(held_names.iter().map(|one| whole(one)).collect());
        let rows = together(held_names.iter().map(in_rows).collect());
        // What is given to a derivative: one value, or a tuple; of the second text in rows, but for what has them by another name.
        let parts = |count: usize, rows: &dyn Fn(usize) -> bool| {
            let part = |k: usize| {
                let part = match count {
                    1 => quote!(given),
                    _ => {
                        let k = syn::Index::from(k);
                        quote!(&given.#k)
                    }
                };
                match rows(k) {
                    true => quote!(::jut::rust::in_rows(#part)),
                    false => quote!(::jut::rust::argument(#part)),
                }
            };
            together((0..count).map(part).collect())
        };
        let take_result = take(result_floats.len());
        let reading = |tangents: TokenStream, cotangents: TokenStream| {
            quote! {
                ::jut::rust::Reading {
                    value: #take_value,
                    tangents: #take_gradient,
                    results: #take_result,
                    hold_tangents: |given, held| ::jut::rust::Arguments::hold(&#tangents, held),
                    hold_results: |given, held| ::jut::rust::Arguments::hold(&#cotangents, held),
                }
            }
        };
        let (tangents, results) = (floats.len(), result_floats.len());
        let first = reading(parts(tangents, &|_| false), parts(results, &|_| false));
        let asked: Vec<&str> =
            floats.iter().map(|k| signature.parameters[*k].name.trim_start_matches("r#")).collect();
        let (flat, linearized) = match &signature.uneven {
            None => (
                quote!(::jut::rust::flat::<Self>(&[#(#asked),*], #arguments)),
                quote!(::jut::rust::linearize::<Self, _, _, _>(#arguments, #first)),
            ),
            Some(second) => {
                let named = crate::generic::generics(signature).named;
                let by_name = |k: usize| matches!(signature.parameters[floats[k]].ty, Ty::Of(..));
                let other = reading(parts(tangents, &|k| !by_name(k)), parts(results, &|_| true));
                let even = match takes {
                    true => quote!(#(::jut::rust::Argument::is_even(&#held_names))&&*),
                    false => quote!(true),
                };
                (
                    quote! {
                        ::jut::rust::flat_of_rows::<Self, #second #named>(#even, &[#(#asked),*], #arguments, #rows)
                    },
                    quote! {
                        ::jut::rust::linearize_rows::<Self, #second #named, _, _, _>(#even, (#arguments, #first), (#rows, #other))
                    },
                )
            }
        };
        all.push(quote! {
            #[doc = "The function of one vector that solvers want: of the arguments whose derivatives are asked for; the others stay as they are.\n\n# Errors\nAn argument that does not fit, or what makes the function panic."]
            pub fn flat #generics(#(#parameters),*) -> ::jut::Result<::jut::Flat> {
                #(#prepared)*
                #flat
            }

            #[doc = "The value and the derivative there, kept to be applied to tangents and cotangents without running the function again.\n\n# Errors\nAn argument that does not fit, or what makes the function panic."]
            pub fn linearize #generics(
                #(#parameters),*
            ) -> ::jut::Result<::jut::rust::Derivative<#value, #gradient, #result_type>> {
                #(#prepared)*
                #linearized
            }
        });
        if let [one] = given
            && let Some(blocks) = jacobian(one, &floats, signature)
        {
            let blocks = tupled(&blocks);
            all.push(method(
                "jacobian",
                "All partial derivatives: one result for each parameter that is asked for.",
                "Jacobian(::jut::JacobianMode::Auto)",
                &parameters,
                &held_names,
                &blocks,
                &take_gradient,
            ));
            all.push(method(
                "value_and_jacobian",
                "The value and all partial derivatives.",
                "ValueAndJacobian(::jut::JacobianMode::Auto)",
                &parameters,
                &held_names,
                &quote!((#value, #blocks)),
                &pair,
            ));
        }
        if of.is_some_and(|g| g.ty.is_float() || named.is_some()) {
            all.push(method(
                "gradient",
                "The gradient: one result for each parameter that has floats.",
                "Gradient",
                &parameters,
                &held_names,
                &gradient,
                &take_gradient,
            ));
            all.push(method(
                "value_and_gradient",
                "The value and the gradient.",
                "ValueAndGradient",
                &parameters,
                &held_names,
                &quote!((#value, #gradient)),
                &pair,
            ));
            let places: Vec<Ident> = floats
                .iter()
                .map(|k| {
                    let name = idents[*k].to_string();
                    fresh(signature, &format!("g_{}", name.trim_start_matches("r#")))
                })
                .collect();
            let into = places.iter().zip(&gradients);
            let into = into.map(|(place, ty)| {
                quote!(#place: &mut (impl ::jut::rust::Place<#ty> + ?::core::marker::Sized))
            });
            let with_places: Vec<TokenStream> = parameters.iter().cloned().chain(into).collect();
            all.push(method(
                "gradient_into",
                "The value; the gradient is written to what is given for each parameter that has floats: a slice or `Vec` for a list,\nelse what `gradient` gives.",
                "ValueAndGradient",
                &with_places,
                &held_names,
                &value,
                &quote! {
                    |results: &mut ::jut::rust::Taken<'_>| {
                        let value = (#take_value)(results)?;
                        #(::jut::rust::Place::<#gradients>::put(#places, results)?;)*
                        ::jut::Result::Ok(value)
                    }
                },
            ));
            // Second derivatives are not of one number among several.
            let floats_given = given.iter().filter(|g| g.ty.is_float()).count();
            if floats_given > 1 || named.is_some() && given.len() > 1 {
                return quote!(#(#all)*);
            }
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
                    &held_names,
                    &block,
                    &take(1),
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
        (Ty::F32, _) => Some(quote!(f32)),
        (Ty::Array(element, extent), _) if element.is_float() => match (extent, written) {
            (Extent::Fixed(_), Type::Array(array)) => {
                let (n, one) = (&array.len, hessian(&array.elem, element)?);
                Some(quote!([[#one; #n]; #n]))
            }
            (Extent::Fixed(_), Type::Reference(inner)) => hessian(&inner.elem, ty),
            (Extent::Fixed(_), _) => None,
            _ => {
                let one = hessian(written, element)?;
                Some(quote!(::jut::Array<#one>))
            }
        },
        _ => None,
    }
}

/// The types of the partial derivatives of an array of numbers: by a number an array like it, by an array of numbers a row for
/// each of its elements. Lengths that are known only when it runs make it a [`jut::Array`].
fn jacobian(of: &Given<'_>, by: &[usize], signature: &Signature) -> Option<Vec<TokenStream>> {
    let numbers = |ty: &Ty| matches!(ty, Ty::Array(element, _) if **element == Ty::F64);
    if !numbers(of.ty) {
        return None;
    }
    let rows = fixed(of.written, of.ty);
    let block = |k: &usize| {
        let parameter = &signature.parameters[*k];
        match (&parameter.ty, rows, fixed(&parameter.written, &parameter.ty)) {
            (Ty::F64, ..) => Some(owned(of.written)),
            (ty, Some(m), Some(n)) if numbers(ty) => Some(quote!([[f64; #n]; #m])),
            (ty, ..) if numbers(ty) => Some(quote!(::jut::Array<f64>)),
            _ => None,
        }
    };
    by.iter().map(block).collect()
}

/// The length of an array that has one in its type.
fn fixed<'a>(written: &'a Type, ty: &Ty) -> Option<&'a syn::Expr> {
    match (written, ty) {
        (Type::Reference(inner), _) => fixed(&inner.elem, ty),
        (Type::Paren(inner), _) => fixed(&inner.elem, ty),
        (Type::Group(inner), _) => fixed(&inner.elem, ty),
        (Type::Array(array), Ty::Array(_, Extent::Fixed(_))) => Some(&array.len),
        _ => None,
    }
}

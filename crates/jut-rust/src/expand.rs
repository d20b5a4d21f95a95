//! The items that stand beside a function: a type of its name, by which rustc finds the function's text
//! wherever it finds the function, and functions that call the derivatives.
//!
//! The type is a struct with braces, which takes no name that a value could have. So `use a::fit` brings
//! both, and a call of `a::fit(..)` in another function's body is `<a::fit as Source>` in what stands beside that.

use crate::function::{Lowered, Signature, lower, signature};
use crate::template::{Hole, Place, What};
use crate::types::{Extent, Ty};
use crate::{Refusal, spanned};
use proc_macro2::{Group, Ident, Span, TokenStream, TokenTree};
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
    if let Ok(block) = syn::parse2::<syn::ItemImpl>(item.clone()) {
        return methods_of(&block);
    }
    if let Ok(block) = syn::parse2::<syn::ItemTrait>(item.clone()) {
        return crate::generic::trait_of(&block);
    }
    let function: ItemFn = match syn::parse2(item.clone()) {
        Ok(function) => function,
        Err(error) => {
            // What is no Rust at all, rustc says itself; what is no function, it does not.
            let whole = syn::parse2::<syn::Item>(item.clone()).is_ok();
            let at = if whole { Span::call_site() } else { error.span() };
            let said = match whole {
                true => "only functions, `impl` blocks and traits are differentiable".to_string(),
                false => error.to_string(),
            };
            let error = syn::Error::new(at, said).to_compile_error();
            return quote!(#item #error);
        }
    };
    let name = arguments.name.unwrap_or_else(|| function.sig.ident.clone());
    let twin = beside(&function, &name, None, None);
    quote!(#function #twin)
}

/// A function within another one, without attributes that are not of rustc.
pub(crate) fn plain(function: &ItemFn) -> ItemFn {
    let mut plain = function.clone();
    plain.attrs.retain(|a| a.path().is_ident("cfg"));
    plain
}

/// What stands beside a function within another one.
pub(crate) fn within(function: &ItemFn, name: &Ident) -> Result<TokenStream, Refusal> {
    let signature = signature(function, None)?;
    let lowered = lower(function, &signature)?;
    Ok(twin(function, name, &signature, &lowered, None, None))
}

/// What stands beside a function, or beside the `impl` block of a method, which may be that of a trait: its derivatives, or an error.
pub(crate) fn beside(
    function: &ItemFn,
    name: &Ident,
    owner: Option<&Type>,
    of: Option<&syn::Path>,
) -> TokenStream {
    let signature = match signature(function, owner) {
        Ok(signature) => signature,
        Err(refusal) => {
            let error = refusal.error();
            let stub = bare(function, name);
            return quote!(#stub #error);
        }
    };
    let (lowered, error) = match lower(function, &signature) {
        Ok(lowered) => (lowered, None),
        Err(refusal) => (Lowered::default(), Some(Refusal::error(&refusal))),
    };
    let twin = twin(function, name, &signature, &lowered, owner, of);
    quote!(#twin #error)
}

/// The methods and functions of an `impl` block. Each has a type of its own, `Type_method`.
fn methods_of(block: &syn::ItemImpl) -> TokenStream {
    let fail = |refusal: Refusal| {
        let error = refusal.error();
        quote!(#block #error)
    };
    if !block.generics.params.is_empty() {
        return fail(spanned(
            &block.generics,
            "a generic `impl` is not built: write it for a type without parameters",
        ));
    }
    let owner = &*block.self_ty;
    let Type::Path(path) = owner else {
        return fail(spanned(owner, "an `impl` of a struct that derives `jut::Data` is expected"));
    };
    let short = path.path.segments.last().map(|s| s.ident.to_string()).unwrap_or_default();
    let mut all = TokenStream::new();
    for item in &block.items {
        let syn::ImplItem::Fn(method) = item else { continue };
        let (attrs, vis, sig, body) = (&method.attrs, &method.vis, &method.sig, &method.block);
        let conditions = attrs.iter().filter(|a| a.path().is_ident("cfg"));
        let tokens = named_self(quote!(#(#conditions)* #vis #sig #body), owner);
        let plain = sig.ident.to_string();
        if crate::methods::is_known(&plain) {
            let said = "numbers have a method of this name: give this one another name";
            all.extend(spanned(&sig.ident, said).error());
            continue;
        }
        match syn::parse2::<ItemFn>(tokens) {
            Ok(function) => {
                let name = format_ident!(
                    "{}_{}",
                    short,
                    plain.trim_start_matches("r#"),
                    span = sig.ident.span()
                );
                let of = block.trait_.as_ref().map(|(_, path, _)| path);
                all.extend(beside(&function, &name, Some(owner), of));
                let key = crate::calls::key(&plain);
                let conditions = &function.attrs;
                let gives = match &function.sig.output {
                    syn::ReturnType::Type(_, ty) => ty.to_token_stream(),
                    syn::ReturnType::Default => quote!(()),
                };
                all.extend(quote! {
                    #(#conditions)*
                    #[automatically_derived]
                    impl ::jut::rust::Method<#key, #gives> for #owner {
                        fn link(linker: &mut ::jut::rust::Linker) -> ::jut::rust::Filled {
                            linker.function::<#name>()
                        }
                    }
                });
            }
            Err(error) => all.extend(error.to_compile_error()),
        }
    }
    let block = crate::generic::with_links(block, &short);
    quote!(#block #all)
}

/// Tokens at another place.
pub(crate) fn spanned_like(tokens: TokenStream, at: Span) -> TokenStream {
    tokens
        .into_iter()
        .map(|mut token| {
            token.set_span(at);
            token
        })
        .collect()
}

/// Tokens with the type in place of `Self`.
pub(crate) fn named_self(tokens: TokenStream, owner: &Type) -> TokenStream {
    let replaced = |token| match token {
        TokenTree::Ident(ident) if ident == "Self" => {
            // The place is that of `Self`.
            spanned_like(owner.to_token_stream(), ident.span())
        }
        TokenTree::Group(group) => {
            let mut inner = Group::new(group.delimiter(), named_self(group.stream(), owner));
            inner.set_span(group.span());
            TokenTree::from(inner).into()
        }
        other => TokenStream::from(other),
    };
    tokens.into_iter().flat_map(replaced).collect()
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
fn twin(
    function: &ItemFn,
    name: &Ident,
    signature: &Signature,
    lowered: &Lowered,
    owner: Option<&Type>,
    of: Option<&syn::Path>,
) -> TokenStream {
    let (vis, own) = (&function.vis, &function.sig.ident);
    let plain = own.to_string();
    let plain = plain.strip_prefix("r#").unwrap_or(&plain);
    let full = match owner {
        None => plain.to_string(),
        Some(owner) => format!("{}::{plain}", owner.to_token_stream().to_string().replace(' ', "")),
    };
    let about = match owner {
        None => format!("Derivatives of [`{plain}`](fn@{plain})."),
        Some(_) => format!("Derivatives of [`{full}`]."),
    };
    let of = owner.map(|owner| match of {
        Some(of) => quote!(<#owner as #of>::),
        None => quote!(<#owner>::),
    });
    let conditions: Vec<_> = function.attrs.iter().filter(|a| a.path().is_ident("cfg")).collect();
    let result = type_value(&signature.result, &signature.lengths);
    let generics = declared(signature, &|_| true);
    let of_types = crate::generic::generics(signature);
    let (open, types, named, source, called) =
        (&of_types.open, &of_types.declared, &of_types.named, &of_types.source, &of_types.called);
    let open_types = !signature.types.is_empty();
    let marked = match (owner, &signature.written) {
        (None, Some(gives)) if !open_types => {
            let own = declared(signature, &|k| signature.result.has_length(&format!("$k{k}$")));
            quote! {
                #(#conditions)*
                #[automatically_derived]
                impl #own ::jut::rust::Gives<#gives> for #name {}
            }
        }
        _ => TokenStream::new(),
    };
    let parameters = match signature.takes_functions() {
        true => {
            signature.parameters.iter().map(|p| type_value(&p.ty, &signature.lengths)).collect()
        }
        false => Vec::new(),
    };
    let mention = match signature.takes_functions() || !generics.is_empty() || open_types {
        // Its type parameters are open.
        true => TokenStream::new(),
        false => quote!(let _ = #of #own;),
    };
    let changed = signature.parameters.iter().map(|p| p.changed);
    let text = &lowered.text;
    let places = lowered.places.iter().map(place);
    let items = &lowered.items;
    let holes = lowered.holes.iter().map(|hole| match hole {
        Hole::Function(path) => quote!(linker.function::<#path>()),
        Hole::Call(path, of) => quote!(linker.call::<#path, _>(#of)),
        Hole::Bound(ty, name) => {
            let link = crate::generic::link_name(&name.to_string());
            let link = spanned_like(link.to_token_stream(), name.span());
            quote!(#ty::#link(linker))
        }
        Hole::Constant(value) => quote!(linker.constant(&(#value))),
        Hole::Method(owner, key) => quote!(linker.method::<#key, _, _>(#owner)),
        Hole::Data(path) => quote!(linker.data::<#path>()),
        // The text has its name there.
        Hole::Length(_) => quote!(linker.constant(&0_usize)),
    });
    let methods = match signature.takes_functions() {
        true => TokenStream::new(),
        false => methods(signature, &given(signature)),
    };
    let callee = crate::generic::callee(name, signature, &conditions);
    let kept = match open_types {
        true => quote!(::jut::rust::cell::<Self>()),
        false => quote! {
            static LINKED: ::jut::rust::Cell = ::jut::rust::Cell::new();
            &LINKED
        },
    };
    let holder = signature.types.iter().map(|t| {
        let (name, field) = (&t.ident, format_ident!("of_{}", t.ident.to_string().to_lowercase()));
        quote!(#field: ::core::marker::PhantomData<fn() -> #name>)
    });
    quote! {
        #(#conditions)*
        #[doc = #about]
        #[allow(non_camel_case_types, dead_code)]
        #vis struct #name #open { #(#holder),* }

        #(#conditions)*
        #[automatically_derived]
        #[allow(private_bounds)]
        impl #types ::jut::rust::Source for #name #named #source {
            const NAME: &'static str = ::core::concat!(::core::module_path!(), "::", #full);
            const RESULT: ::jut::rust::Type = #result;
            const CHANGED: &'static [bool] = &[#(#changed),*];
            const PARAMETERS: &'static [::jut::rust::Type] = &[#(#parameters),*];
            fn define(linker: &mut ::jut::rust::Linker) {
                #(#items)*
                #mention
                let holes = ::std::vec![#(#holes),*];
                linker.define::<Self>(#text, ::core::file!(), &[#(#places),*], &holes);
            }
            fn linked() -> &'static ::jut::rust::Cell {
                #kept
            }
        }

        #callee
        #marked

        #(#conditions)*
        #[allow(dead_code, private_interfaces, private_bounds, clippy::all)]
        #[automatically_derived]
        impl #types #name #named #called {
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
pub(crate) fn type_value(ty: &Ty, holes: &[Hole]) -> TokenStream {
    match ty {
        Ty::F64 | Ty::Float(_) => quote!(::jut::rust::Type::F64),
        Ty::F32 => quote!(::jut::rust::Type::F32),
        Ty::I64 => quote!(::jut::rust::Type::I64),
        Ty::I32 => quote!(::jut::rust::Type::I32),
        Ty::Usize => quote!(::jut::rust::Type::Usize),
        Ty::Unit => quote!(::jut::rust::Type::Unit),
        Ty::Array(element, Extent::Vec) => {
            let element = type_value(element, holes);
            quote!(::jut::rust::Type::Vec(&#element))
        }
        Ty::Array(element, Extent::Fixed(n)) => {
            let element = type_value(element, holes);
            let hole = n.trim_matches(|c| c == '$' || c == 'k').parse::<usize>();
            let length = match hole.ok().filter(|_| n.starts_with('$')).and_then(|k| holes.get(k)) {
                Some(Hole::Length(_)) => return quote!(::jut::rust::Type::Array(&#element)),
                Some(Hole::Constant(length)) => length.clone(),
                _ => n.parse().unwrap_or_default(),
            };
            quote!(::jut::rust::Type::Fixed(&#element, #length))
        }
        Ty::Array(element, _) => {
            let element = type_value(element, holes);
            quote!(::jut::rust::Type::Array(&#element))
        }
        Ty::Tuple(items) => {
            let items = items.iter().map(|t| type_value(t, holes));
            quote!(::jut::rust::Type::Tuple(&[#(#items),*]))
        }
        Ty::Function(inputs, output) => {
            let inputs = inputs.iter().map(|t| type_value(t, holes));
            let output = type_value(output, holes);
            quote!(::jut::rust::Type::Function(&[#(#inputs),*], &#output))
        }
        Ty::Of(hole, _) => match holes.get(*hole) {
            Some(Hole::Data(path)) => quote!(<#path as ::jut::rust::Data>::TYPE),
            _ => quote!(::jut::rust::Type::Unit),
        },
        _ => quote!(::jut::rust::Type::Bool),
    }
}

/// The type of a parameter's tangent as an argument: borrowed where the parameter is.
fn tangent_argument(written: &Type) -> TokenStream {
    match written {
        Type::Reference(reference) => {
            let (lifetime, inner) = (&reference.lifetime, tangent_argument(&reference.elem));
            quote!(& #lifetime #inner)
        }
        Type::Slice(slice) => {
            let inner = tangent_argument(&slice.elem);
            quote!([#inner])
        }
        other => derivative(other),
    }
}

/// The type of a derivative, as a value that is given back.
pub(crate) fn derivative(written: &Type) -> TokenStream {
    typed(written, &|path| match known(path) {
        true => path.to_token_stream(),
        false => quote!(::jut::rust::Gradient<#path>),
    })
}

/// Whether a path is that of a number or truth value, or of an array of jut's, which the attribute does not take.
fn known(path: &syn::TypePath) -> bool {
    let last = path.path.segments.last().map(|s| s.ident.to_string()).unwrap_or_default();
    let first = path.path.segments.first().map(|s| s.ident.to_string()).unwrap_or_default();
    matches!(last.as_str(), "f64" | "f32" | "i64" | "i32" | "usize" | "bool")
        || path.path.leading_colon.is_some() && first == "jut" && last == "Array"
}

/// The type of a result, as a value that is given back.
fn owned(written: &Type) -> TokenStream {
    typed(written, &|path| path.to_token_stream())
}

/// A type without references, with some other type in place of each struct and number.
fn typed(written: &Type, one: &dyn Fn(&syn::TypePath) -> TokenStream) -> TokenStream {
    let owned = |ty: &Type| typed(ty, one);
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
                    return one(path);
                };
                match arguments.args.first() {
                    Some(syn::GenericArgument::Type(element)) => {
                        let element = owned(element);
                        quote!(::std::vec::Vec<#element>)
                    }
                    _ => one(path),
                }
            }
            _ => one(path),
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
fn given(signature: &Signature) -> Vec<Given<'_>> {
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

/// The lengths that are parameters of the function, as it declares them: those of some numbers.
fn declared(signature: &Signature, is_one: &dyn Fn(usize) -> bool) -> TokenStream {
    let lengths = signature.lengths().filter(|(k, _)| is_one(*k));
    let names: Vec<&Ident> = lengths.map(|(_, name)| name).collect();
    match names.is_empty() {
        true => TokenStream::new(),
        false => quote!(<#(const #names: usize),*>),
    }
}

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
    let names: Vec<TokenStream> = idents.iter().map(|n| quote!(#n)).collect();
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
    let next = |count: usize| tupled(&vec![quote!(results.next()?); count]);
    let take_value = next(given.len());
    let gradients: Vec<TokenStream> = floats.iter().map(|k| derivative(types[*k])).collect();
    let (gradient, take_gradient) = (tupled(&gradients), next(gradients.len()));
    let generics = declared(signature, &|_| true);
    let method = |name: &str,
                  doc: &str,
                  request: &str,
                  given: &[TokenStream],
                  held: &[TokenStream],
                  ty: &TokenStream,
                  taken: &TokenStream| {
        let (name, request) = (format_ident!("{name}"), format_ident!("{request}"));
        // What is static in a function of type parameters is one for all types.
        let called = match signature.types.is_empty() {
            true => quote! {
                static ENTRY: ::jut::rust::Entry = ::jut::rust::Entry::new(::jut::Request::#request);
                ::std::thread_local! {
                    static SESSION: ::jut::rust::Local = const { ::jut::rust::Local::new() };
                }
                let arguments = [#(::jut::rust::Argument::hold(&#held)?),*];
                ENTRY.call::<Self, _>(&SESSION, &arguments, |results| ::jut::Result::Ok(#taken))
            },
            false => quote! {
                let arguments = [#(::jut::rust::Argument::hold(&#held)?),*];
                let request = ::jut::Request::#request;
                ::jut::rust::called::<Self, _>(request, &arguments, |results| ::jut::Result::Ok(#taken))
            },
        };
        quote! {
            #[doc = #doc]
            ///
            /// # Errors
            /// An argument that does not fit, or what makes the function panic.
            pub fn #name #generics(#(#given),*) -> ::jut::Result<#ty> {
                #called
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
            &take_value,
        ),
    ];
    let result_floats: Vec<TokenStream> =
        given.iter().filter_map(|g| result_tangent(g.written, g.ty)).collect();
    if !floats.is_empty() && !result_floats.is_empty() {
        let result_type = tupled(&result_floats);
        let both: Vec<TokenStream> =
            parameters.iter().chain(&tangent_parameters).cloned().collect();
        let held: Vec<TokenStream> = idents.iter().chain(&tangents).map(|n| quote!(#n)).collect();
        let cotangent = fresh(signature, "cotangent");
        let mut with_cotangent = parameters.clone();
        with_cotangent.push(quote!(#cotangent: &#result_type));
        let mut held_cotangent = names.clone();
        held_cotangent.extend((0..result_floats.len()).map(|k| match result_floats.len() {
            1 => quote!(#cotangent),
            _ => {
                let k = syn::Index::from(k);
                quote!(#cotangent.#k)
            }
        }));
        let pair = quote!((#take_value, #take_gradient));
        all.push(method(
            "jvp",
            "The value, and its tangent along the given tangents of the parameters.",
            "Jvp",
            &both,
            &held,
            &quote!((#value, #result_type)),
            &{
                let take_tangent = next(result_floats.len());
                quote!((#take_value, #take_tangent))
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
        // A gradient is that of the function's result, or of the one number that it changes.
        let number = match given {
            [one] => one.ty.is_float(),
            _ => signature.result.is_float(),
        };
        if number {
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
            // Second derivatives are not of one number among several.
            if given.iter().filter(|g| g.ty.is_float()).count() > 1 {
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

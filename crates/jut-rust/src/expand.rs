//! The items that stand beside a function: a type of its name, by which rustc finds the function's text
//! wherever it finds the function, and functions that call the derivatives.
//!
//! The type is a struct with braces, which takes no name that a value could have. So `use a::fit` brings
//! both, and a call of `a::fit(..)` in another function's body is `<a::fit as Source>` in what stands beside that.

use crate::derivatives::{declared, given, methods};
use crate::function::{Lowered, lower};
use crate::signature::{Signature, signature};
use crate::template::{Hole, Place, What};
use crate::types::{Extent, Ty};
use crate::{Refusal, spanned};
use proc_macro2::{Group, Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream};
use syn::spanned::Spanned;
use syn::{ItemFn, Token, Type};

/// What stands in the brackets of the attribute.
#[derive(Default)]
struct Arguments {
    name: Option<Ident>,
    /// The parameters that derivatives are by, if they are named.
    wrt: Option<Vec<Ident>>,
}

impl Parse for Arguments {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let mut arguments = Arguments::default();
        while !input.is_empty() {
            let key: Ident = input.parse()?;
            if key == "name" {
                input.parse::<Token![=]>()?;
                arguments.name = Some(input.parse()?);
            } else if key == "wrt" {
                let list;
                syn::parenthesized!(list in input);
                let names = list.parse_terminated(Ident::parse_any, Token![,])?;
                arguments.wrt = Some(names.into_iter().collect());
            } else {
                let said = "`name = ..` and `wrt(..)` are what can be said here";
                return Err(syn::Error::new(key.span(), said));
            }
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
    if let Ok(module) = syn::parse2::<syn::ItemMod>(item.clone()) {
        return crate::module::of_module(&module);
    }
    let function: ItemFn = match syn::parse2(item.clone()) {
        Ok(function) => function,
        Err(error) => {
            // What is no Rust at all, rustc says itself; what is no function, it does not.
            let whole = syn::parse2::<syn::Item>(item.clone()).is_ok();
            let at = if whole { Span::call_site() } else { error.span() };
            let said = match whole {
                true => "only functions, `impl` blocks, traits and modules are differentiable"
                    .to_string(),
                false => error.to_string(),
            };
            let error = syn::Error::new(at, said).to_compile_error();
            return quote!(#item #error);
        }
    };
    let name = arguments.name.unwrap_or_else(|| function.sig.ident.clone());
    let read = signature(&function, None);
    let read = read.and_then(|signature| match &arguments.wrt {
        Some(names) => signature.by(names),
        None => Ok(signature),
    });
    let (twin, integers) = read_beside(&function, &name, read, None, None);
    let function = crate::literals::with_types(quote!(#function), &integers);
    quote!(#function #twin)
}

/// A function within another one, without attributes that are not of rustc.
pub(crate) fn plain(function: &ItemFn) -> ItemFn {
    let mut plain = function.clone();
    plain.attrs.retain(|a| a.path().is_ident("cfg"));
    plain
}

/// What stands beside a function, and the literals in it that are taken for `i32`.
type Beside = (TokenStream, Vec<Span>);

/// What stands beside a function within another one.
pub(crate) fn within(function: &ItemFn, name: &Ident) -> Result<Beside, Refusal> {
    let signature = signature(function, None)?;
    let lowered = lower(function, &signature)?;
    let given = given_text(function, name, &signature);
    let twin = twin(function, name, &signature, &lowered, None, None, given.as_ref());
    Ok((twin, lowered.integers))
}

/// Of a function that gives a `Result` the text that gives an `Option`, under a name of its own; nothing if there is none.
fn given_text(
    function: &ItemFn,
    name: &Ident,
    signature: &Signature,
) -> Option<(Ident, Signature, Lowered)> {
    let signature = signature.given()?;
    let lowered = lower(function, &signature).ok()?;
    Some((format_ident!("{name}_or_none"), signature, lowered))
}

/// What stands beside a function, or beside the `impl` block of a method, which may be that of a trait: its derivatives, or an error.
pub(crate) fn beside(
    function: &ItemFn,
    name: &Ident,
    owner: Option<&Type>,
    of: Option<&syn::Path>,
) -> Beside {
    read_beside(function, name, signature(function, owner), owner, of)
}

/// The same, of a signature that was read.
fn read_beside(
    function: &ItemFn,
    name: &Ident,
    signature: Result<Signature, Refusal>,
    owner: Option<&Type>,
    of: Option<&syn::Path>,
) -> Beside {
    let signature = match signature {
        Ok(signature) => signature,
        Err(refusal) => {
            let error = refusal.error();
            let stub = bare(function, name);
            return (quote!(#stub #error), Vec::new());
        }
    };
    let (lowered, error) = match lower(function, &signature) {
        Ok(lowered) => (lowered, None),
        Err(refusal) => (Lowered::default(), Some(Refusal::error(&refusal))),
    };
    let given = given_text(function, name, &signature).filter(|_| error.is_none());
    let twin = twin(function, name, &signature, &lowered, owner, of, given.as_ref());
    (quote!(#twin #error), lowered.integers)
}

/// The methods and functions of an `impl` block. Each has a type of its own, `Type_method`.
fn methods_of(block: &syn::ItemImpl) -> TokenStream {
    let fail = |refusal: Refusal| {
        let error = refusal.error();
        quote!(#block #error)
    };
    if let Err(refusal) = open_impl(block) {
        return fail(refusal);
    }
    let operator = crate::overloaded::operator_of(block);
    let owner = match &operator {
        Some(_) => crate::overloaded::without_reference(&block.self_ty),
        None => &*block.self_ty,
    };
    let output = block.items.iter().find_map(|item| match item {
        syn::ImplItem::Type(own) if own.ident == "Output" => Some(&own.ty),
        _ => None,
    });
    let Type::Path(path) = owner else {
        return fail(spanned(owner, "an `impl` of a struct that derives `jut::Data` is expected"));
    };
    let short = path.path.segments.last().map(|s| s.ident.to_string()).unwrap_or_default();
    let (mut all, mut integers) = (TokenStream::new(), Vec::new());
    for item in &block.items {
        let syn::ImplItem::Fn(method) = item else { continue };
        let (attrs, vis, sig, body) = (&method.attrs, &method.vis, &method.sig, &method.block);
        let conditions = attrs.iter().filter(|a| a.path().is_ident("cfg"));
        let mut sig = sig.clone();
        with_parameters(&mut sig.generics, &block.generics);
        let tokens = quote!(#(#conditions)* #vis #sig #body);
        let tokens = crate::overloaded::with_output(tokens, output.filter(|_| operator.is_some()));
        let tokens = named_self(tokens, owner);
        let plain = sig.ident.to_string();
        if crate::methods::is_known(&plain) {
            let said = "numbers have a method of this name: give this one another name";
            all.extend(spanned(&sig.ident, said).error());
            continue;
        }
        match syn::parse2::<ItemFn>(tokens) {
            Ok(function) => {
                let method = plain.trim_start_matches("r#");
                // There may be several for different right operands.
                let right = match &operator {
                    Some(own) if own.written => format!("_{}", crate::overloaded::word(&own.right)),
                    _ => String::new(),
                };
                let name = format_ident!("{short}_{method}{right}", span = sig.ident.span());
                let of = block.trait_.as_ref().map(|(_, path, _)| path);
                let (twin, taken) = beside(&function, &name, Some(owner), of);
                all.extend(twin);
                integers.extend(taken);
                let key = crate::calls::key(&plain);
                let conditions = &function.attrs;
                let gives = match &function.sig.output {
                    syn::ReturnType::Type(_, ty) => ty.to_token_stream(),
                    syn::ReturnType::Default => quote!(()),
                };
                let mut generics = block.generics.clone();
                for ty in generics.type_params_mut() {
                    ty.bounds.extend::<[syn::TypeParamBound; 2]>([
                        syn::parse_quote!(::jut::rust::Data),
                        syn::parse_quote!('static),
                    ]);
                }
                let (declared, named, said) = generics.split_for_impl();
                if let Some(operator) = &operator {
                    let right = named_self(operator.right.to_token_stream(), owner);
                    all.extend(quote! {
                        #(#conditions)*
                        #[automatically_derived]
                        impl #declared ::jut::rust::Operator<#key, #right, #gives> for #owner #said {
                            fn link(linker: &mut ::jut::rust::Linker) -> ::jut::rust::Filled {
                                linker.called::<#name #named>()
                            }
                        }
                    });
                    if operator.written {
                        continue;
                    }
                }
                all.extend(quote! {
                    #(#conditions)*
                    #[automatically_derived]
                    impl #declared ::jut::rust::Method<#key, #gives> for #owner #said {
                        fn link(linker: &mut ::jut::rust::Linker) -> ::jut::rust::Filled {
                            linker.called::<#name #named>()
                        }
                        fn sure(linker: &mut ::jut::rust::Linker) -> ::jut::rust::Filled {
                            linker.function::<#name #named>()
                        }
                    }
                });
            }
            Err(error) => all.extend(error.to_compile_error()),
        }
    }
    let block = crate::generic::with_links(block, &short);
    let block = crate::literals::with_types(quote!(#block), &integers);
    quote!(#block #all)
}

/// Whether the parameters of an `impl` block are built.
fn open_impl(block: &syn::ItemImpl) -> Result<(), Refusal> {
    for parameter in &block.generics.params {
        let said = match (parameter, &block.trait_) {
            (syn::GenericParam::Lifetime(_), _) => {
                "a type that derives `jut::Data` borrows nothing"
            }
            (_, Some((_, path, _))) if !crate::generic::is_std(path) => {
                "a trait is had by a type without open parameters here: write `impl Trait for Pair<f64>`, `for State<3>`"
            }
            _ => continue,
        };
        return Err(spanned(parameter, said));
    }
    Ok(())
}

/// Parameters of a method with those of its `impl` block before them.
fn with_parameters(own: &mut syn::Generics, block: &syn::Generics) {
    let inner = std::mem::take(&mut own.params);
    own.params.extend(block.params.iter().cloned().chain(inner));
    if let Some(said) = &block.where_clause {
        own.make_where_clause().predicates.extend(said.predicates.clone());
    }
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

/// A type as it may stand in values too: `Point::<f64>`.
fn in_values(ty: &Type) -> TokenStream {
    let mut ty = ty.clone();
    if let Type::Path(path) = &mut ty
        && let Some(last) = path.path.segments.last_mut()
        && let syn::PathArguments::AngleBracketed(arguments) = &mut last.arguments
    {
        arguments.colon2_token = Some(Default::default());
    }
    ty.to_token_stream()
}

/// Tokens with the type in place of `Self`.
pub(crate) fn named_self(tokens: TokenStream, owner: &Type) -> TokenStream {
    let replaced = |token| match token {
        TokenTree::Ident(ident) if ident == "Self" => {
            // The place is that of `Self`.
            spanned_like(in_values(owner), ident.span())
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
    given_text: Option<&(Ident, Signature, Lowered)>,
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
    let open_types = signature.is_open();
    let marked = match (owner, &function.sig.output) {
        (None, syn::ReturnType::Type(_, gives))
            if !open_types && signature.errors != crate::results::Errors::Given =>
        {
            let own = declared(signature, &|k| signature.result.has_length(&format!("$k{k}$")));
            quote! {
                #(#conditions)*
                #[automatically_derived]
                impl #own ::jut::rust::Gives<#gives> for #name {}
            }
        }
        _ => TokenStream::new(),
    };
    let options = signature.parameters.iter().any(|p| matches!(p.ty, Ty::Option(_)));
    let integers = signature.parameters.iter().any(|p| p.ty.has_integer());
    let parameters = match signature.takes_functions() || options || integers {
        true => {
            signature.parameters.iter().map(|p| type_value(&p.ty, &signature.lengths)).collect()
        }
        false => Vec::new(),
    };
    let of_trait = of.is_some() && owner.is_some();
    let mention =
        match signature.takes_functions() || !generics.is_empty() || open_types || of_trait {
            // Its type parameters are open, or nobody asks whether it is used.
            true => TokenStream::new(),
            false => quote!(let _ = #of #own;),
        };
    let changed = signature.parameters.iter().map(|p| p.changed);
    let wrt = signature.named().into_iter().flatten();
    let text = &lowered.text;
    let places = lowered.places.iter().map(place);
    let items = &lowered.items;
    let holes = lowered.holes.iter().enumerate().map(|(k, hole)| filling(k, hole));
    let methods = match signature.takes_functions() {
        true => TokenStream::new(),
        false => methods(signature, &given(signature)),
    };
    // The text that gives an `Option` has no derivatives, and is called in place of this one.
    let is_given = signature.errors == crate::results::Errors::Given;
    let methods = if is_given { TokenStream::new() } else { methods };
    let (called_as, given_twin) = match (signature.errors, given_text) {
        (crate::results::Errors::Fail, Some((other, given, lowered))) => {
            let twin = twin(function, other, given, lowered, owner, None, None);
            let called = quote! {
                fn called(linker: &mut ::jut::rust::Linker) -> ::jut::rust::Filled {
                    linker.function::<#other #named>()
                }
            };
            (called, twin)
        }
        (crate::results::Errors::Fail, None) => {
            let called = quote! {
                fn called(linker: &mut ::jut::rust::Linker) -> ::jut::rust::Filled {
                    linker.only_surely(<Self as ::jut::rust::Source>::NAME)
                }
            };
            (called, TokenStream::new())
        }
        _ => (TokenStream::new(), TokenStream::new()),
    };
    let callee = match is_given {
        true => TokenStream::new(),
        false => crate::generic::callee(name, signature, &conditions),
    };
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
            const WRT: &'static [usize] = &[#(#wrt),*];
            fn define(linker: &mut ::jut::rust::Linker) {
                #(#items)*
                #mention
                let holes = ::std::vec![#(#holes),*];
                linker.define::<Self>(#text, ::core::file!(), &[#(#places),*], &holes);
            }
            fn linked() -> &'static ::jut::rust::Cell {
                #kept
            }
            #called_as
        }

        #given_twin
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

/// What fills a hole.
fn filling(number: usize, hole: &Hole) -> TokenStream {
    match hole {
        Hole::Function(path) => quote!(linker.called::<#path>()),
        Hole::Call(path, of) => quote!(linker.call::<#path, _>(#of)),
        Hole::Bound(ty, name) => {
            let link = crate::generic::link_name(&name.to_string());
            let link = spanned_like(link.to_token_stream(), name.span());
            quote!(#ty::#link(linker))
        }
        // What is wrong with a constant or a method is at its name.
        Hole::Constant(value) => {
            let at = Span::call_site().located_at(value.span());
            quote_spanned!(at=> linker.constant(&(#value)))
        }
        Hole::Method(owner, key) => {
            let at = Span::call_site().located_at(owner.span());
            quote_spanned!(at=> linker.method::<#key, _, _>(#owner))
        }
        Hole::Data(path) => quote!(linker.data::<#path>()),
        Hole::Default(path) => quote! {{
            #[allow(unused_imports)]
            use ::jut::rust::{DefaultText as _, DefaultValue as _};
            (&::jut::rust::made::<#path>()).default_of(linker)
        }},
        // The text has its name there.
        Hole::Length(_) => quote!(linker.constant(&0_usize)),
        Hole::Operator(..) => crate::overloaded::filled_name(number).to_token_stream(),
        Hole::Sure(inner) => match &**inner {
            Hole::Function(path) => quote!(linker.function::<#path>()),
            Hole::Call(path, of) => quote!(linker.call_surely::<#path, _>(#of)),
            Hole::Method(owner, key) => {
                let at = Span::call_site().located_at(owner.span());
                quote_spanned!(at=> linker.method_surely::<#key, _, _>(#owner))
            }
            other => filling(number, other),
        },
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
        Ty::U32 => quote!(::jut::rust::Type::U32),
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
        Ty::Option(inner) => {
            let inner = type_value(inner, holes);
            quote!(::jut::rust::Type::Tuple(&[::jut::rust::Type::Bool, #inner]))
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

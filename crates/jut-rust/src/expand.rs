//! The items that stand beside a function: a type of its name, by which rustc finds the function's text
//! wherever it finds the function, and functions that call the derivatives.
//!
//! The type is a struct with braces, which takes no name that a value could have. So `use a::fit` brings
//! both, and a call of `a::fit(..)` in another function's body is `<a::fit as Source>` in what stands beside that.

use crate::Refusal;
use crate::derivatives::{declared, given, methods};
use crate::function::{Lowered, lower};
use crate::signature::{Signature, signature};
use crate::syntax::spanned_like;
use crate::template::{Hole, Place, What};
use crate::types::{Extent, Ty};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{ItemFn, Type};

/// A function within another one, without attributes that are not of rustc.
pub(crate) fn plain(function: &ItemFn) -> ItemFn {
    let mut plain = function.clone();
    plain.attrs.retain(|a| a.path().is_ident("cfg"));
    plain
}

/// What stands beside a function, and the literals in it that are taken for `i32`.
pub(crate) struct Beside {
    pub items: TokenStream,
    pub integers: Vec<Span>,
    /// Whether a caller may look at its `Err` or `None`, or it gives neither.
    pub looked: bool,
}

/// What stands beside a function within another one.
pub(crate) fn within(function: &ItemFn, name: &Ident) -> Result<Beside, Refusal> {
    let signature = signature(function, None)?;
    let lowered = lower(function, &signature)?;
    let given = given_text(function, name, &signature);
    let (signature, second) = with_second(function, name, signature, None, None);
    let twin = twin(function, name, &signature, &lowered, None, None, given.as_ref());
    let looked = !is_hidden(&signature, given.is_some());
    Ok(Beside { items: quote!(#twin #second), integers: lowered.integers, looked })
}

/// The signature that names the type of the text for rows of different lengths, where the function takes rows, and that type.
fn with_second(
    function: &ItemFn,
    name: &Ident,
    signature: Signature,
    owner: Option<&Type>,
    of: Option<&syn::Path>,
) -> (Signature, Option<TokenStream>) {
    let Some(second) = crate::uneven::second(function, name, &signature) else {
        return (signature, None);
    };
    let items = match &second.lowered {
        Ok(lowered) => {
            let (name, signature) = (&second.name, &second.signature);
            twin(function, name, signature, lowered, owner, of, None)
        }
        Err(refusal) => crate::uneven::missing(function, &second, refusal),
    };
    (Signature { uneven: Some(second.name), ..signature }, Some(items))
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

/// Whether no caller may look at its `Err` or `None`: there is no text that gives an `Option`.
fn is_hidden(signature: &Signature, has_given: bool) -> bool {
    match signature.errors {
        crate::signature::Errors::Fail => !has_given,
        other => other == crate::signature::Errors::Missing,
    }
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
pub(crate) fn read_beside(
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
            let stub = bare(function, name, owner);
            return Beside { items: quote!(#stub #error), integers: Vec::new(), looked: true };
        }
    };
    let (lowered, error) = match lower(function, &signature) {
        Ok(lowered) => (lowered, None),
        Err(refusal) => (Lowered::default(), Some(Refusal::error(&refusal))),
    };
    let given = given_text(function, name, &signature).filter(|_| error.is_none());
    let (signature, second) = match error {
        None => with_second(function, name, signature, owner, of),
        Some(_) => (signature, None),
    };
    let twin = twin(function, name, &signature, &lowered, owner, of, given.as_ref());
    let looked = error.is_some() || !is_hidden(&signature, given.is_some());
    Beside { items: quote!(#twin #second #error), integers: lowered.integers, looked }
}

/// The type alone, for a function whose signature is not built.
fn bare(function: &ItemFn, name: &Ident, owner: Option<&Type>) -> TokenStream {
    let vis = &function.vis;
    // The lengths of the struct that it is a method of.
    let mut generics = function.sig.generics.clone();
    generics.where_clause = None;
    let of_owner = |p: &syn::GenericParam| match p {
        syn::GenericParam::Const(own) => {
            owner.is_some_and(|ty| crate::syntax::has_word(ty, &own.ident.to_string()))
        }
        _ => false,
    };
    generics.params = generics.params.into_iter().filter(of_owner).collect();
    let (declared, named, _) = generics.split_for_impl();
    quote! {
        #[allow(non_camel_case_types, dead_code)]
        #[doc(hidden)]
        #vis struct #name #declared {}
        #[automatically_derived]
        impl #declared ::jut::rust::Looked for #name #named {}
        impl #declared ::jut::rust::Source for #name #named {
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
            if signature.errors != crate::signature::Errors::Given && signature.rows.is_empty() =>
        {
            let gives = crate::signature::owned(gives).unwrap_or_else(|_| (**gives).clone());
            crate::generic::gives(name, signature, &gives, &conditions)
        }
        _ => TokenStream::new(),
    };
    let options = signature.parameters.iter().any(|p| matches!(p.ty, Ty::Option(_)));
    let integers = signature.parameters.iter().any(|p| p.ty.has_integer());
    let parameters: Vec<TokenStream> = match signature.takes_functions() || options || integers {
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
    // What is nothing is not said.
    let rows = match (signature.uneven.is_some(), crate::uneven::takes_rows(signature)) {
        (true, true) => quote!(
            const TAKES_ROWS: bool = true;
        ),
        (true, false) => quote!(
            const MAKES_ROWS: bool = true;
        ),
        (false, _) => TokenStream::new(),
    };
    let changed = signature.parameters.iter().any(|p| p.changed).then(|| {
        let changed = signature.parameters.iter().map(|p| p.changed);
        quote!(const CHANGED: &'static [bool] = &[#(#changed),*];)
    });
    let parameters = (!parameters.is_empty())
        .then(|| quote!(const PARAMETERS: &'static [::jut::rust::Type] = &[#(#parameters),*];));
    let wrt = signature.named().filter(|wrt| !wrt.is_empty());
    let wrt = wrt.map(|wrt| quote!(const WRT: &'static [usize] = &[#(#wrt),*];));
    let text = &lowered.text;
    let places = places(&lowered.places);
    let items = &lowered.items;
    let count = lowered.holes.len();
    let (checked, checked_within) = checked(lowered, signature);
    let checked = checked.into_iter().map(|one| quote!(#(#conditions)* #one));
    // Whether anybody asks for the text that gives an `Option` is not known here.
    let optional = signature.errors == crate::signature::Errors::Given;
    let holes = lowered.holes.iter().enumerate().map(|(k, hole)| match hole {
        Hole::Function(path) if optional => quote!(linker.called::<#path>()),
        Hole::Call(path, of) if optional => quote!(linker.call::<#path, _>(#of)),
        Hole::Method(owner, key) if optional => quote!(linker.method::<#key, _, _>(#owner)),
        hole => filling(k, hole),
    });
    let methods = match signature.takes_functions() {
        true => TokenStream::new(),
        false => methods(signature, &given(signature)),
    };
    // The text that gives an `Option` has no derivatives, and is called in place of this one.
    let is_given =
        signature.errors == crate::signature::Errors::Given || !signature.rows.is_empty();
    let methods = if is_given { TokenStream::new() } else { methods };
    let hidden = is_hidden(signature, given_text.is_some());
    let looked = (!hidden).then(|| {
        quote! {
            #(#conditions)*
            #[automatically_derived]
            #[allow(private_bounds)]
            impl #types ::jut::rust::Looked for #name #named #source {}
        }
    });
    let (called_as, given_twin) = match (signature.errors, given_text) {
        (crate::signature::Errors::Fail, Some((other, given, lowered))) => {
            let twin = twin(function, other, given, lowered, owner, None, None);
            let called = quote! {
                fn called(linker: &mut ::jut::rust::Linker) -> ::jut::rust::Filled {
                    linker.function::<#other #named>()
                }
            };
            (called, twin)
        }
        (crate::signature::Errors::Fail | crate::signature::Errors::Missing, None) => {
            let called = quote! {
                fn called(linker: &mut ::jut::rust::Linker) -> ::jut::rust::Filled {
                    linker.only_surely(<Self as ::jut::rust::Source>::NAME)
                }
            };
            (called, TokenStream::new())
        }
        _ => (TokenStream::new(), TokenStream::new()),
    };
    let second_text = crate::uneven::called(signature);
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
    let holder = crate::generic::holder(signature);
    // In a function of the same name: an error says where it is found.
    let checked_within = (!checked_within.is_empty()).then(|| {
        let own = &function.sig.ident;
        // Those that are the function's own: others are statements that ask rustc something.
        let is_own = |item: &&TokenStream| syn::parse2::<syn::File>((*item).clone()).is_ok();
        let items = lowered.items.iter().filter(is_own);
        quote! {
            #(#conditions)*
            const _: () = {
                #[allow(dead_code)]
                fn #own() {
                    #(#items)*
                    #(#checked_within)*
                }
            };
        }
    });
    quote! {
        #(#conditions)*
        #[doc = #about]
        #[allow(non_camel_case_types, dead_code)]
        #vis struct #name #open { #(#holder),* }

        #looked
        #(#checked)*
        #checked_within
        #(#conditions)*
        #[automatically_derived]
        #[allow(private_bounds)]
        impl #types ::jut::rust::Source for #name #named #source {
            const NAME: &'static str = ::core::concat!(::core::module_path!(), "::", #full);
            const RESULT: ::jut::rust::Type = #result;
            #rows
            #changed
            #parameters
            #wrt
            fn define(linker: &mut ::jut::rust::Linker) {
                #(#items)*
                #mention
                let holes: [::jut::rust::Filled; #count] = [#(#holes),*];
                linker.define::<Self>(#text, ::core::file!(), #places, &holes);
            }
            fn linked() -> &'static ::jut::rust::Cell {
                #kept
            }
            #called_as
            #second_text
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

/// Constants are looked at when the crate is checked: one of a module beside the function, so that an error there names nothing of it; one of the function
/// itself, and one by its path, within, where its name is seen. One of a type that is open is looked at when the crate is built.
fn checked(lowered: &Lowered, signature: &Signature) -> (Vec<TokenStream>, Vec<TokenStream>) {
    let plain = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
    let open =
        |name: &str| name == "Self" || crate::signature::names(signature).any(|open| open == name);
    let (mut beside, mut within) = (Vec::new(), Vec::new());
    for hole in &lowered.holes {
        let Hole::Constant(value) = hole else { continue };
        let path = value.to_string().replace(' ', "");
        let words: Vec<&str> = path.split("::").collect();
        let [first, .., last] = &words[..] else {
            let [name] = &words[..] else { continue };
            if name.len() < 2 || !name.chars().all(plain) {
                continue;
            }
            let own = lowered.items.iter().any(|item| crate::syntax::has_word(item, name));
            if own {
                within.push(look(value))
            } else {
                beside.push(look(value))
            }
            continue;
        };
        let named = |word: &&str| word.chars().all(|c| c.is_alphanumeric() || c == '_');
        let constant = last.len() > 1 && last.chars().all(plain) && words.iter().all(named);
        if constant && !open(first) && !crate::overloaded::is_of_std(value) {
            within.push(look(value));
        }
    }
    (beside, within)
}

/// Has rustc look at a constant.
fn look(value: &TokenStream) -> TokenStream {
    let at = Span::call_site().located_at(value.span());
    quote_spanned! {at=>
        const _: () = assert!(
            !::jut::rust::seen(&#value).is_open,
            "a list of tuples with slices in them is no constant here: write a list for each part"
        );
    }
}

/// What fills a hole.
fn filling(number: usize, hole: &Hole) -> TokenStream {
    match hole {
        Hole::Function(path) => quote!(linker.looked_at::<#path>()),
        Hole::Call(path, of) => quote!(linker.call_looked_at::<#path, _>(#of)),
        Hole::Bound(ty, name) => {
            let link = crate::generic::link_name(&name.to_string());
            let link = spanned_like(link.to_token_stream(), name.span());
            quote!(#ty::#link(linker))
        }
        Hole::Maker(ty, name, itself) => {
            let plain = filling(number, &Hole::Bound(ty.clone(), name.clone()));
            let at = Span::call_site().located_at(name.span());
            // That it gives what it was taken for, rustc says at its name.
            let itself = itself
                .then(|| quote_spanned!(at=> ::jut::rust::of_parameter::<#ty, _>(#ty::#name);));
            quote!({ #itself #plain })
        }
        // What is wrong with a constant or a method is at its name.
        Hole::Constant(value) => {
            let at = Span::call_site().located_at(value.span());
            quote_spanned!(at=> linker.seen(::jut::rust::seen(&(#value))))
        }
        Hole::Method(owner, key) => {
            let at = Span::call_site().located_at(owner.span());
            quote_spanned!(at=> linker.method_looked_at::<#key, _, _>(#owner))
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
        Hole::Uneven(inner) => crate::uneven::filling(inner, false),
        Hole::Making(inner) => crate::uneven::filling_of_makers(inner, false),
        Hole::Perhaps(inner) => crate::uneven::filling_of_some(inner, false),
        Hole::Following(inner, of) => following(number, inner, of, false),
        Hole::Untold(inner) => {
            let given = filling(number, inner);
            quote!({
                let given = #given;
                linker.element(given)
            })
        }
        Hole::Sure(inner) => match &**inner {
            Hole::Uneven(inner) => crate::uneven::filling(inner, true),
            Hole::Making(inner) => crate::uneven::filling_of_makers(inner, true),
            Hole::Perhaps(inner) => crate::uneven::filling_of_some(inner, true),
            Hole::Following(inner, of) => following(number, inner, of, true),
            Hole::Function(path) => quote!(linker.function::<#path>()),
            Hole::Call(path, of) => quote!(linker.call_surely::<#path, _>(#of)),
            Hole::Method(owner, key) => {
                let at = Span::call_site().located_at(owner.span());
                quote_spanned!(at=> linker.method_surely::<#key, _, _>(#owner))
            }
            other => filling(number, other),
        },
        Hole::Unwrapped(inner) => {
            let call = filling(number, &Hole::Sure(inner.clone()));
            quote!(#call.unwrapped())
        }
    }
}

/// What fills the hole of a call whose argument is what another call gives.
fn following(number: usize, called: &Hole, of: &Hole, sure: bool) -> TokenStream {
    let (given, second) = (filling(number, of), crate::uneven::filling(called, sure));
    let first = match sure {
        true => filling(number, &Hole::Sure(Box::new(called.clone()))),
        false => filling(number, called),
    };
    quote!(if #given.gives_rows() { #second } else { #first })
}

/// The places of a text, as one text: `jut::rust` has what it means.
pub fn places(places: &[Place]) -> String {
    let mut all = String::new();
    for place in places {
        let at = place.span.start();
        let numbers = [place.start, place.end - place.start, at.line, at.column + 1];
        all.extend(numbers.iter().flat_map(|n| [n.to_string(), " ".to_string()]));
        let said = |kind: char, text: &str| format!("{kind}{} {text}", text.len());
        match &place.what {
            What::Same => all.push('s'),
            What::Length => all.push('l'),
            What::Overflow(name) => all.push_str(&said('o', name)),
            What::Panic(text) => all.push_str(&said('p', text)),
        }
    }
    all
}

/// A type, as a value.
pub(crate) fn type_value(ty: &Ty, holes: &[Hole]) -> TokenStream {
    match ty {
        Ty::F64 | Ty::Float(_) => quote!(::jut::rust::Type::F64),
        Ty::F32 => quote!(::jut::rust::Type::F32),
        Ty::I64 => quote!(::jut::rust::Type::I64),
        Ty::Narrow(of) => {
            let name = format_ident!("{}", of.name().to_uppercase());
            quote!(::jut::rust::Type::#name)
        }
        Ty::U64 => quote!(::jut::rust::Type::U64),
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

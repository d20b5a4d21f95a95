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

use crate::expand::{named_self, spanned_like};
use crate::signature::Signature;
use crate::template::Hole;
use crate::types::Ty;
use crate::{Refusal, refuse, spanned};
use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote};
use syn::{ItemFn, ItemTrait, TraitItem, Type, TypeParam, WherePredicate};

/// The function of a trait that finds a method's text.
pub(crate) fn link_name(method: &str) -> Ident {
    format_ident!("derivatives_of_{}", method.trim_start_matches("r#"))
}

/// The types that an argument's type is made of.
fn inner(ty: &mut Type) -> Option<&mut Type> {
    match ty {
        Type::Reference(reference) => Some(&mut reference.elem),
        Type::Slice(slice) => Some(&mut slice.elem),
        Type::Array(array) => Some(&mut array.elem),
        Type::Paren(paren) => Some(&mut paren.elem),
        Type::Group(group) => Some(&mut group.elem),
        Type::Path(path) => {
            let last = path.path.segments.last_mut()?;
            match (&mut last.arguments, last.ident == "Vec") {
                (syn::PathArguments::AngleBracketed(arguments), true) => {
                    match arguments.args.first_mut()? {
                        syn::GenericArgument::Type(ty) => Some(ty),
                        _ => None,
                    }
                }
                _ => None,
            }
        }
        _ => None,
    }
}

/// Gives `impl Potential` in a parameter's type a name, and takes the lifetimes out.
pub(crate) fn named(ty: &mut Type, types: &mut Vec<TypeParam>) {
    if let Type::ImplTrait(of) = ty {
        let name = format_ident!("Type{}", types.len() + 1);
        let bounds = &of.bounds;
        types.push(syn::parse_quote!(#name: #bounds));
        *ty = syn::parse_quote!(#name);
        return;
    }
    if let Type::Reference(reference) = ty {
        reference.lifetime = None;
    }
    if let Some(inner) = inner(ty) {
        named(inner, types);
    }
}

/// What a function says of its type parameters behind `where`.
pub(crate) fn bounds(generics: &syn::Generics, types: &[TypeParam]) -> Vec<WherePredicate> {
    let of_types = |predicate: &&WherePredicate| match predicate {
        WherePredicate::Type(of) => match &of.bounded_ty {
            Type::Path(path) => types.iter().any(|t| path.path.is_ident(&t.ident)),
            _ => false,
        },
        _ => false,
    };
    let all = generics.where_clause.iter().flat_map(|w| &w.predicates);
    all.filter(of_types).cloned().collect()
}

/// What stands in a type, as itself or in so many lists: a type parameter, or a struct of some parameters with these names.
fn open_in(ty: &Ty, names: &[&Ident], holes: &[Hole]) -> Option<(TokenStream, usize)> {
    match ty {
        Ty::Of(hole, steps) if steps.is_empty() => match holes.get(*hole) {
            Some(Hole::Data(path)) if names.iter().any(|name| mentions(path, name)) => {
                Some((path.clone(), 0))
            }
            _ => None,
        },
        Ty::Array(element, _) => {
            let (path, depth) = open_in(element, names, holes)?;
            Some((path, depth + 1))
        }
        _ => None,
    }
}

/// Whether a name stands in some tokens.
fn mentions(tokens: &TokenStream, name: &Ident) -> bool {
    tokens.clone().into_iter().any(|token| match token {
        TokenTree::Ident(ident) => ident == *name,
        TokenTree::Group(group) => mentions(&group.stream(), name),
        _ => false,
    })
}

/// Lengths that structs have are constants of the text: their names.
pub(crate) fn lengths_of_structs(holes: &mut [Hole]) -> Vec<Ident> {
    let structs: Vec<TokenStream> = holes
        .iter()
        .filter_map(|hole| match hole {
            Hole::Data(path) => Some(path.clone()),
            _ => None,
        })
        .collect();
    let mut own = Vec::new();
    for hole in holes {
        if let Hole::Length(name) = hole
            && structs.iter().any(|path| mentions(path, name))
        {
            own.push(name.clone());
            let name = own[own.len() - 1].to_token_stream();
            *hole = Hole::Constant(quote!(#name as usize));
        }
    }
    own
}

/// Whether the arguments of a call say what each type parameter is, and each length of a struct.
pub(crate) fn found(signature: &Signature) -> Result<(), Refusal> {
    for name in names(signature) {
        let named = |ty: &Ty| open_in(ty, &[name], &signature.lengths).is_some();
        if !signature.parameters.iter().any(|p| named(&p.ty)) {
            let said = match signature.own.contains(name) {
                false => {
                    "a type parameter is the type of a parameter here, of its elements, or of a struct that is one: `p: &P`, \
                     `p: &[P]`, `p: &Pair<P>`"
                }
                true => {
                    "a struct's length is that of a parameter here, or of its elements: `s: &State<N>`, `s: &[State<N>]`"
                }
            };
            return refuse(name, said);
        }
    }
    Ok(())
}

/// The names of the parameters for each choice of which there is a text.
fn names(signature: &Signature) -> impl Iterator<Item = &Ident> {
    signature.types.iter().map(|t| &t.ident).chain(&signature.own)
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
    let source = quote!(#(#bounds,)* #(#names: ::jut::rust::Data + 'static,)*);
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

/// How those who call a function find its text by the types of their arguments.
pub(crate) fn callee(
    name: &Ident,
    signature: &Signature,
    conditions: &[&syn::Attribute],
) -> TokenStream {
    let others: Vec<Ident> =
        (0..signature.parameters.len()).map(|k| format_ident!("Argument{k}")).collect();
    let Generics { named, source, .. } = generics(signature);
    let (types, lengths) = (&signature.types, &signature.own);
    let all_names: Vec<&Ident> = names(signature).collect();
    if !signature.is_open() {
        return quote! {
            #(#conditions)*
            #[automatically_derived]
            impl<Arguments> ::jut::rust::Callee<Arguments> for #name {
                fn link(linker: &mut ::jut::rust::Linker) -> ::jut::rust::Filled {
                    linker.called::<#name>()
                }
                fn sure(linker: &mut ::jut::rust::Linker) -> ::jut::rust::Filled {
                    linker.function::<#name>()
                }
            }
        };
    }
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
    let arguments: Vec<TokenStream> = arguments.collect();
    quote! {
        #(#conditions)*
        #[automatically_derived]
        impl<#(#types,)* #(#free,)* #(const #lengths: usize),*> ::jut::rust::Callee<(#(#arguments,)*)> for #name
        #source #(#lists,)*
        {
            fn link(linker: &mut ::jut::rust::Linker) -> ::jut::rust::Filled {
                linker.called::<#name #named>()
            }
            fn sure(linker: &mut ::jut::rust::Linker) -> ::jut::rust::Filled {
                linker.function::<#name #named>()
            }
        }
    }
}

/// A trait: beside each method the function that finds its text.
pub(crate) fn trait_of(block: &ItemTrait) -> TokenStream {
    match items(block) {
        Ok(all) => all,
        Err(refusal) => {
            let error = refusal.error();
            quote!(#block #error)
        }
    }
}

fn items(block: &ItemTrait) -> Result<TokenStream, Refusal> {
    if !block.generics.params.is_empty() {
        return Err(spanned(
            &block.generics,
            "a generic trait is not built: write it without parameters",
        ));
    }
    let (mut own, mut beside) = (block.clone(), TokenStream::new());
    let mut integers = Vec::new();
    let of = &block.ident;
    for item in &block.items {
        let TraitItem::Fn(method) = item else { continue };
        let plain = method.sig.ident.to_string();
        let plain = plain.trim_start_matches("r#");
        if crate::methods::is_known(plain) {
            let said = "numbers have a method of this name: give this one another name";
            return Err(spanned(&method.sig.ident, said));
        }
        let link = link_name(plain);
        let own_type = format_ident!("Own");
        let Some(body) = &method.default else {
            own.items.push(syn::parse_quote! {
                #[doc(hidden)]
                fn #link(linker: &mut ::jut::rust::Linker) -> ::jut::rust::Filled
                where
                    Self: ::core::marker::Sized,
                {
                    linker.missing(#plain, ::core::any::type_name::<Self>())
                }
            });
            continue;
        };
        let name = format_ident!("{}_{}", of, plain, span = method.sig.ident.span());
        own.items.push(syn::parse_quote! {
            #[doc(hidden)]
            fn #link(linker: &mut ::jut::rust::Linker) -> ::jut::rust::Filled
            where
                Self: ::core::marker::Sized + ::jut::rust::Data + 'static,
            {
                linker.called::<#name<Self>>()
            }
        });
        let mut sig = method.sig.clone();
        sig.generics.params.insert(0, syn::parse_quote!(#own_type: #of));
        let (vis, attrs) = (&block.vis, method.attrs.iter().filter(|a| a.path().is_ident("cfg")));
        let owner: Type = syn::parse_quote!(#own_type);
        let tokens = named_self(quote!(#(#attrs)* #vis #sig #body), &owner);
        let function: ItemFn = syn::parse2(tokens)
            .map_err(|e| Refusal { span: Some(e.span()), message: e.to_string() })?;
        let (twin, taken) = crate::expand::beside(&function, &name, Some(&owner), None);
        beside.extend(twin);
        integers.extend(taken);
    }
    let own = crate::literals::with_types(quote!(#own), &integers);
    Ok(quote!(#own #beside))
}

/// Traits of std whose methods an `impl` with the attribute gives: they have no functions that find texts.
const STD: &[&str] = &[
    "Add",
    "Sub",
    "Mul",
    "Div",
    "Neg",
    "AddAssign",
    "SubAssign",
    "MulAssign",
    "DivAssign",
    "Default",
    "From",
];

/// Whether a trait is one of these.
pub(crate) fn is_std(path: &syn::Path) -> bool {
    path.segments.last().is_some_and(|s| STD.contains(&s.ident.to_string().as_str()))
}

/// An `impl` of a trait, with the functions that find the texts of its methods.
pub(crate) fn with_links(block: &syn::ItemImpl, short: &str) -> syn::ItemImpl {
    let mut own = block.clone();
    let Some((_, path, _)) = &block.trait_ else { return own };
    if is_std(path) {
        return own;
    }
    for item in &block.items {
        let syn::ImplItem::Fn(method) = item else { continue };
        let plain = method.sig.ident.to_string();
        let plain = plain.trim_start_matches("r#");
        // An error about it is at the method.
        let link = spanned_like(link_name(plain).to_token_stream(), method.sig.ident.span());
        let name = format_ident!("{}_{}", short, plain);
        own.items.push(syn::parse_quote! {
            #[doc(hidden)]
            fn #link(linker: &mut ::jut::rust::Linker) -> ::jut::rust::Filled {
                linker.called::<#name>()
            }
        });
    }
    own
}

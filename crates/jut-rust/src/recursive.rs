//! What `#[derive(jut::Data)]` writes beside a struct or enum that holds itself, `enum Tree { Leaf(f64), Node(Box<Tree>, Box<Tree>) }`: one with
//! a `Box`, or with itself in a `Vec`; or one that is an element of lists and has lists of its own lengths, `#[data(ragged)]`.
//!
//! In the text it is declared data, whose derivatives have the shape of their values. So a derivative with respect to it is that type itself where all
//! fields have floats, else a twin: `TreeGrad` with the same variants, of the fields with floats. Fields that hold the type again have floats if
//! any other has.

use crate::data::{no_tuple, said};
use crate::derivatives::derivative;
use crate::enums::field_name;
use crate::expand::type_value;
use crate::syntax::{has_word, key};
use crate::template::Hole;
use crate::types::{Ty, read, read_outside};
use crate::{Refusal, spanned};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Fields, GenericArgument, Member, PathArguments, Type};

/// A variant; a struct is one without a name.
struct Variant<'a> {
    name: Option<&'a Ident>,
    fields: Vec<Part>,
}

struct Part {
    member: Member,
    /// What it is called among all.
    name: String,
    vis: syn::Visibility,
    written: Type,
    ty: Ty,
    /// Whether it holds the type again, and nothing else.
    again: bool,
}

/// Whether a struct or enum holds itself, so that the text declares it: a field has a `Box` of something, or the type; or it says that it is ragged.
pub(crate) fn is_recursive(input: &syn::DeriveInput) -> bool {
    if said(&input.attrs).is_ok_and(|said| said.ragged) {
        return true;
    }
    let all: Vec<&Fields> = match &input.data {
        syn::Data::Struct(data) => vec![&data.fields],
        syn::Data::Enum(data) => data.variants.iter().map(|v| &v.fields).collect(),
        syn::Data::Union(_) => Vec::new(),
    };
    let name = input.ident.to_string();
    let own = |ty: &Type| boxes(ty) || [&name, "Self"].iter().any(|word| has_word(ty, word));
    all.iter().flat_map(|fields| fields.iter()).any(|field| own(&field.ty))
}

/// Whether a type has a box of a struct or enum.
fn boxes(ty: &Type) -> bool {
    let Type::Path(path) = ty else { return false };
    let Some(last) = path.path.segments.last() else { return false };
    let PathArguments::AngleBracketed(of) = &last.arguments else { return false };
    of.args.iter().any(|argument| match argument {
        GenericArgument::Type(inner @ Type::Path(one)) => {
            let plain = crate::types::plain(&one.path).to_token_stream().to_string();
            let number = plain == "bool" || crate::types::Ty::number(&plain).is_some();
            last.ident == "Box" && !number || boxes(inner)
        }
        _ => false,
    })
}

/// What a `Box`, `Option` or `Vec` is of.
fn within<'a>(ty: &'a Type, names: &[&str]) -> Option<&'a Type> {
    let Type::Path(path) = ty else { return None };
    let last = path.path.segments.last()?;
    let PathArguments::AngleBracketed(of) = &last.arguments else { return None };
    match of.args.first() {
        Some(GenericArgument::Type(inner)) if names.iter().any(|name| last.ident == name) => {
            Some(inner)
        }
        _ => None,
    }
}

/// A type without boxes, as texts know it.
fn unboxed(ty: &Type) -> TokenStream {
    if let Some(inner) = within(ty, &["Box"]) {
        return unboxed(inner);
    }
    for (name, path) in
        [("Option", quote!(::core::option::Option)), ("Vec", quote!(::std::vec::Vec))]
    {
        if let Some(inner) = within(ty, &[name]) {
            let inner = unboxed(inner);
            return quote!(#path<#inner>);
        }
    }
    ty.to_token_stream()
}

/// The items beside it.
pub(crate) fn items(input: &syn::DeriveInput) -> Result<TokenStream, Refusal> {
    let own = &input.ident;
    if !input.generics.params.is_empty() {
        return Err(spanned(
            &input.generics,
            "a type that holds itself, or is ragged, has no parameters here: write it for `f64`",
        ));
    }
    let mut holes = Vec::new();
    let mut variants: Vec<Variant<'_>> = Vec::new();
    match &input.data {
        syn::Data::Struct(data) => {
            if let Fields::Unnamed(fields) = &data.fields {
                return Err(spanned(
                    fields,
                    "the fields of a struct that holds itself, or is ragged, have names here: `{ x: f64, next: .. }`",
                ));
            }
            let fields = parts(own, None, &data.fields, &mut holes)?;
            variants.push(Variant { name: None, fields });
        }
        syn::Data::Enum(data) => {
            for variant in &data.variants {
                let fields = parts(own, Some(&variant.ident), &variant.fields, &mut holes)?;
                variants.push(Variant { name: Some(&variant.ident), fields });
            }
        }
        syn::Data::Union(_) => {}
    }
    let ends = |v: &Variant<'_>| {
        v.fields.iter().all(|f| !f.again || within(&f.written, &["Option", "Vec"]).is_some())
    };
    if !variants.iter().any(ends) {
        let said = "each value of this type would hold another one: write a variant without it, or `Option<Box<_>>`";
        return Err(spanned(own, said));
    }
    let said = said(&input.attrs)?.twin;
    let all = || variants.iter().flat_map(|v| &v.fields);
    let floats = all().any(|f| f.ty.has_float() && !f.again);
    let twin = said || all().any(|f| !f.ty.has_float());
    let described = variants.iter().map(|v| {
        let name = v.name.map(|n| n.to_string()).unwrap_or_default();
        let words = v.fields.iter().map(|f| {
            crate::names::word(&match &f.member {
                Member::Named(name) => name.to_string(),
                Member::Unnamed(k) => format!("part_{}", k.index),
            })
        });
        let fields = v.fields.iter().map(|f| {
            let (name, ty) = (&f.name, field_type(f, &holes));
            quote!((#name, #ty))
        });
        quote!(::jut::rust::Variant { name: #name, words: &[#(#words),*], fields: &[#(#fields),*] })
    });
    let found = all().map(|f| {
        let (key, ty) = (key(&f.name), unboxed(&f.written));
        quote!(impl ::jut::rust::Field<#key, #ty> for #own {})
    });
    let whole: Vec<Made<'_>> = variants
        .iter()
        .map(|v| Made {
            name: v.name,
            members: v.fields.iter().map(|f| f.member.clone()).collect(),
        })
        .collect();
    let crossing = crossing(own, &whole);
    let (gradient, beside) = match (floats, twin) {
        (false, _) => (quote!(()), TokenStream::new()),
        (true, false) => {
            let same = all().filter(|f| !f.again && has_struct(&f.ty)).map(|f| {
                let (written, derived) = (&f.written, field_derivative(&f.written));
                let derived = crate::syntax::spanned_like(derived, f.written.span());
                quote_spanned!(f.written.span()=> const _: fn() = ::jut::rust::itself::<#derived, #written>;)
            });
            (own.to_token_stream(), quote!(#(#same)*))
        }
        (true, true) => {
            let name = format_ident!("{}Grad", own);
            let beside = declared(input, &name, &variants);
            (name.to_token_stream(), beside)
        }
    };
    let path = own.to_string();
    Ok(quote! {
        #[automatically_derived]
        impl ::jut::rust::Recursive for #own {
            const PATH: &'static str = ::core::concat!(::core::module_path!(), "::", #path);
            fn variants() -> &'static [::jut::rust::Variant] {
                const { &[#(#described),*] }
            }
        }
        impl ::jut::rust::Data for #own {
            const TYPE: ::jut::rust::Type =
                ::jut::rust::Type::Declared(&<#own as ::jut::rust::Recursive>::DECLARED);
            type Gradient = #gradient;
        }
        impl ::jut::rust::Measured for #own {}
        #(#found)*
        #crossing
        #beside
    })
}

/// The type of a field, as a value.
fn field_type(field: &Part, holes: &[Hole]) -> TokenStream {
    match &field.ty {
        // It is declared beside the type.
        Ty::Option(_) => {
            let written = &field.written;
            quote!(<#written as ::jut::rust::Data>::TYPE)
        }
        ty => type_value(ty, holes),
    }
}

/// The type of a derivative with respect to a field. That of an `Option` is there where its value is.
fn field_derivative(written: &Type) -> TokenStream {
    match within(written, &["Option"]) {
        Some(_) => quote!(::jut::rust::Gradient<#written>),
        None => derivative(written),
    }
}

fn has_struct(ty: &Ty) -> bool {
    match ty {
        Ty::Of(..) => true,
        Ty::Array(element, _) | Ty::Option(element) => has_struct(element),
        _ => false,
    }
}

fn parts(
    own: &Ident,
    variant: Option<&Ident>,
    fields: &Fields,
    holes: &mut Vec<Hole>,
) -> Result<Vec<Part>, Refusal> {
    let mut all = Vec::new();
    for (k, field) in fields.iter().enumerate() {
        if let Type::Reference(reference) = &field.ty {
            return Err(spanned(
                reference,
                "a type owns what it has: write `Box<..>` or `Vec<..>`",
            ));
        }
        let boxed =
            within(&field.ty, &["Option"]).is_some_and(|inner| within(inner, &["Box"]).is_some());
        let ty = match boxed {
            true => read(&field.ty, holes)?,
            false => read_outside(&field.ty, holes)?,
        };
        no_tuple(&ty, &field.ty)?;
        let member = match &field.ident {
            Some(name) => Member::Named(name.clone()),
            None => Member::from(k),
        };
        let name = match variant {
            Some(variant) => field_name(&variant.to_string(), &member),
            None => member.to_token_stream().to_string().trim_start_matches("r#").to_string(),
        };
        let mut inner = &field.ty;
        while let Some(next) = within(inner, &["Box", "Option", "Vec"]) {
            inner = next;
        }
        let again = matches!(inner, Type::Path(path) if path.path.is_ident(own) || path.path.is_ident("Self"));
        if matches!(&field.ty, Type::Path(path) if path.path.is_ident("Self")) {
            return Err(spanned(&field.ty, "a value within itself has no end: write `Box<Self>`"));
        }
        all.push(Part {
            member,
            name,
            vis: field.vis.clone(),
            written: with_name(&field.ty, own),
            ty,
            again,
        });
    }
    Ok(all)
}

/// A type with the name in place of `Self`.
fn with_name(ty: &Type, own: &Ident) -> Type {
    let owner: Type = syn::parse_quote!(#own);
    syn::parse2(crate::syntax::named_self(ty.to_token_stream(), &owner))
        .unwrap_or_else(|_| ty.clone())
}

/// The twin: the same variants, of the fields with floats.
fn declared(input: &syn::DeriveInput, name: &Ident, variants: &[Variant<'_>]) -> TokenStream {
    let (vis, own) = (&input.vis, &input.ident);
    let about = format!("A derivative with respect to a [`{own}`]: its fields with floats.");
    let is_enum = matches!(input.data, syn::Data::Enum(_));
    let mut made = Vec::new();
    let mut bodies = Vec::new();
    for variant in variants {
        let floats: Vec<&Part> = variant.fields.iter().filter(|f| f.ty.has_float()).collect();
        let named = floats.first().is_some_and(|f| matches!(f.member, Member::Named(_)));
        let fields = floats.iter().map(|f| {
            let ty = field_derivative(&f.written);
            let vis = (!is_enum).then_some(&f.vis);
            match &f.member {
                Member::Named(name) => {
                    let about = format!("By the field `{}`.", f.name);
                    quote!(#[doc = #about] #vis #name: #ty)
                }
                Member::Unnamed(_) => quote!(#ty),
            }
        });
        let about = variant.name.map(|v| format!("By a [`{own}::{v}`]."));
        let body = match (floats.is_empty(), named) {
            (true, _) => TokenStream::new(),
            (_, true) => quote!({ #(#fields),* }),
            (_, false) => quote!((#(#fields),*)),
        };
        bodies.push(match (variant.name, about) {
            (Some(variant), Some(about)) => quote!(#[doc = #about] #variant #body),
            _ => body,
        });
        let members = floats.iter().enumerate().map(|(k, f)| match &f.member {
            Member::Named(name) => Member::Named(name.clone()),
            Member::Unnamed(_) => Member::from(k),
        });
        made.push(Made { name: variant.name, members: members.collect() });
    }
    let crossing = crossing(name, &made);
    let item = match is_enum {
        true => quote!(#vis enum #name { #(#bodies),* }),
        false => quote!(#vis struct #name #(#bodies)*),
    };
    quote! {
        #[doc = #about]
        #[derive(Clone, Debug, PartialEq)]
        #item
        impl ::jut::rust::Data for #name {
            const TYPE: ::jut::rust::Type = <#own as ::jut::rust::Data>::TYPE;
            type Gradient = #name;
        }
        #crossing
    }
}

/// A variant as it is made and taken apart.
struct Made<'a> {
    name: Option<&'a Ident>,
    members: Vec<Member>,
}

/// How values go in and come out.
fn crossing(own: &Ident, variants: &[Made<'_>]) -> TokenStream {
    let ty = quote!(&<Self as ::jut::rust::Data>::TYPE);
    let path = |v: &Made<'_>| match v.name {
        Some(name) => quote!(#own::#name),
        None => quote!(#own),
    };
    let held = variants.iter().enumerate().map(|(number, v)| {
        let (path, members) = (path(v), &v.members);
        let names: Vec<Ident> = (0..members.len())
            .map(|k| Ident::new(&format!("field_{k}"), Span::mixed_site()))
            .collect();
        quote! {
            #path { #(#members: #names),* } => ::jut::rust::whole(#ty, #number, || {
                ::jut::Result::Ok(::std::vec![#(::jut::rust::Argument::hold(#names)?),*])
            })
        }
    });
    let taken = variants.iter().enumerate().map(|(number, v)| {
        let (path, members) = (path(v), &v.members);
        quote! {
            #number => ::core::option::Option::Some(#path {
                #(#members: ::jut::rust::Outcome::next(&mut fields)?),*
            })
        }
    });
    quote! {
        #[automatically_derived]
        impl ::jut::rust::Argument for #own {
            fn hold(&self) -> ::jut::Result<::jut::rust::Held<'_>> {
                match self { #(#held),* }
            }
        }

        #[automatically_derived]
        #[allow(unused_mut, unused_variables)]
        impl ::jut::rust::Outcome for #own {
            fn take(value: ::jut::Value) -> ::core::option::Option<Self> {
                let (number, mut fields) = ::jut::rust::parts(#ty, value)?;
                match number {
                    #(#taken,)*
                    _ => ::core::option::Option::None,
                }
            }
        }

        #[automatically_derived]
        impl ::jut::rust::Block for #own
        where
            for<'fixed> #own: ::core::clone::Clone,
        {
            fn many(all: &[Self]) -> ::jut::Result<::jut::rust::Held<'_>> {
                ::jut::rust::many(all)
            }
            fn own(all: ::std::vec::Vec<Self>) -> ::jut::Result<::jut::rust::Held<'static>> {
                ::jut::rust::many(&all)
            }
            fn split(value: ::jut::Value, count: usize) -> ::core::option::Option<::std::vec::Vec<Self>> {
                ::jut::rust::split(value, count)
            }
        }
    }
}

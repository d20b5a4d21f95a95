//! What `#[derive(jut::Data)]` writes beside a struct: how its values go into and come out of compiled code, what its fields
//! are, and the type of a derivative with respect to it.
//!
//! That type is the struct itself where all its fields are made of floats. Where some are integers or truth values it is a *twin*, `PointGrad`,
//! of the other fields. Whether a field's own struct has a twin only rustc knows: one that has says so by `#[data(twin)]` on the struct that
//! holds it, which gives that a twin too.
//!
//! A struct of type parameters, `Point<T>`, is one of floats, and a derivative with respect to it is that struct of derivatives,
//! `Point<Gradient<T>>`. Lengths, `const N: usize`, are those of its arrays, and part of the type.

use crate::derivatives::derivative;
use crate::expand::type_value;
use crate::syntax::key;
use crate::types::{Ty, read_field};
use crate::{Refusal, spanned};
use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Fields, GenericParam, Type};

/// A field: what it is called, its type as written, its type, and whether it is public.
pub(crate) struct Field {
    pub member: syn::Member,
    pub name: String,
    pub vis: syn::Visibility,
    pub written: Type,
    pub ty: Ty,
    /// The elements of its rows, which have lengths of their own.
    pub rows: Option<Type>,
    /// Whether its integers are such of 32 bits in the text, too: `jut::program!` says so.
    pub narrow: bool,
}

/// The items beside a struct that does not hold itself.
pub(crate) fn items(
    input: &syn::DeriveInput,
    data: &syn::DataStruct,
) -> Result<TokenStream, Refusal> {
    let generics = parameters(&input.generics)?;
    let twin = said(&input.attrs)?.twin;
    let mut holes = Vec::new();
    let mut fields = Vec::new();
    for (k, field) in data.fields.iter().enumerate() {
        if let Type::Reference(reference) = &field.ty {
            return Err(spanned(
                reference,
                "a struct owns what it has: write `Vec<f64>` or `[f64; N]`",
            ));
        }
        let ty = read_field(&field.ty, &mut holes)?;
        no_mixed(&ty, &field.ty)?;
        let member = match &field.ident {
            Some(name) => syn::Member::Named(name.clone()),
            None => syn::Member::Unnamed(syn::Index::from(k)),
        };
        let name = member.to_token_stream().to_string().trim_start_matches("r#").to_string();
        let (rows, narrow) = (rows_of(field, &ty)?, said(&field.attrs)?.narrow);
        fields.push(Field {
            member,
            name,
            vis: field.vis.clone(),
            written: field.ty.clone(),
            ty,
            rows,
            narrow,
        });
    }
    if fields.is_empty() {
        return Err(spanned(&input.ident, "a struct without fields has no derivative"));
    }
    let own = &input.ident;
    let (declared_for, named, bounds) = generics.split_for_impl();
    let of_data = bounded(&generics, &quote!(::jut::rust::Data + 'static));
    let (of_data, _, _) = of_data.split_for_impl();
    let of_constants =
        bounded(&generics, &quote!(::jut::rust::Data + ::jut::rust::Constant + 'static));
    let (of_constants, _, _) = of_constants.split_for_impl();
    let types = fields.iter().map(|f| {
        let name = &f.name;
        let ty = match &f.rows {
            Some(one) => quote! {
                ::jut::rust::Type::Vec(&<::jut::rust::Row<#one> as ::jut::rust::Data>::TYPE)
            },
            None => type_value(&f.ty, &holes),
        };
        quote!((#name, #ty))
    });
    let found = fields.iter().map(|f| {
        let (key, ty) = (key(&f.name), &f.written);
        quote!(impl #declared_for ::jut::rust::Field<#key, #ty> for #own #named #bounds {})
    });
    let floats: Vec<&Field> = fields.iter().filter(|f| f.ty.has_float()).collect();
    let options = fields.iter().any(|f| matches!(f.ty, Ty::Option(_)));
    let twin = twin || options || floats.len() < fields.len();
    let all: Vec<&Field> = fields.iter().collect();
    let values = values(own, &generics, &all, &|f| f.written.to_token_stream());
    if twin && let Some(parameter) = generics.type_params().next() {
        let said = "a struct of type parameters is one of floats: give its integers and truth values as parameters of their own";
        return Err(spanned(parameter, said));
    }
    let (gradient, beside) = if floats.is_empty() {
        (quote!(()), TokenStream::new())
    } else if twin {
        let name = format_ident!("{}Grad", own);
        let declared = declared(input, data, &name, &floats);
        let able = able(&name, &generics, &floats, &|f| field_derivative(&f.written));
        let values =
            crate::data::values(&name, &generics, &floats, &|f| field_derivative(&f.written));
        let same = quote! {
            impl #of_data ::jut::rust::Data for #name #named #bounds {
                const TYPE: ::jut::rust::Type = <#own #named as ::jut::rust::Data>::TYPE;
                type Gradient = #name #named;
            }
        };
        (quote!(#name #named), quote!(#declared #able #values #same))
    } else {
        // Else a field's struct has a twin, and this one needs one too.
        let open = |f: &&&Field| mentions(f.written.to_token_stream(), &generics);
        let same = floats.iter().filter(|f| has_struct(&f.ty) && !open(f)).map(|f| {
            let (written, derived) = (&f.written, derivative(&f.written));
            let derived = crate::syntax::spanned_like(derived, f.written.span());
            quote_spanned!(f.written.span()=> const _: fn() = ::jut::rust::itself::<#derived, #written>;)
        });
        let each = generics.params.iter().map(|parameter| match parameter {
            GenericParam::Type(ty) => {
                let ty = &ty.ident;
                quote!(::jut::rust::Gradient<#ty>)
            }
            GenericParam::Const(length) => length.ident.to_token_stream(),
            GenericParam::Lifetime(lifetime) => lifetime.to_token_stream(),
        });
        let each: Vec<TokenStream> = each.collect();
        let arguments = (!each.is_empty()).then(|| quote!(<#(#each),*>));
        (quote!(#own #arguments), quote!(#(#same)*))
    };
    let (members, written): (Vec<&syn::Member>, Vec<&Type>) =
        fields.iter().map(|f| (&f.member, &f.written)).unzip();
    let first = (0..fields.len()).map(|k| k == 0);
    Ok(quote! {
        impl #of_data ::jut::rust::Data for #own #named #bounds {
            const TYPE: ::jut::rust::Type = ::jut::rust::Type::Record(&[#(#types),*]);
            type Gradient = #gradient;
        }
        #[automatically_derived]
        impl #of_constants ::jut::rust::Constant for #own #named
        where
            #(for<'fixed> #written: ::jut::rust::Constant,)*
        {
            const TYPE: ::jut::rust::Type = <#own #named as ::jut::rust::Data>::TYPE;
            fn write(&self, text: &mut ::std::string::String) -> bool {
                let mut fits = true;
                text.push_str("#(");
                #(
                    text.push_str(if #first { "" } else { ", " });
                    fits &= ::jut::rust::Constant::write(&self.#members, text);
                )*
                text.push(')');
                fits
            }
        }
        #(#found)*
        #values
        #beside
    })
}

/// The elements of the rows of a field with `#[data(ragged)]`.
fn rows_of(field: &syn::Field, ty: &Ty) -> Result<Option<Type>, Refusal> {
    let said = said(&field.attrs)?;
    if said.twin {
        return Err(spanned(&field.ty, "`#[data(twin)]` stands before the struct"));
    }
    let element = |ty: &Type| crate::types::argument_of(ty, "Vec").cloned();
    let one = element(&field.ty).and_then(|row| element(&row));
    match (said.ragged, one) {
        (false, _) => Ok(None),
        (true, Some(one)) if !ty.has_tuples() => Ok(Some(one)),
        _ => Err(spanned(
            &field.ty,
            "`#[data(ragged)]` stands before a field `Vec<Vec<f64>>`, whose rows have lengths of their own then, or before a struct",
        )),
    }
}

/// What `#[data(twin, ragged)]` says.
#[derive(Default)]
pub(crate) struct Said {
    /// A derivative is a twin.
    pub twin: bool,
    /// As an element of a list each value has lists of its own lengths.
    pub ragged: bool,
    /// Integers are such of 32 bits in the text: of fields of what `jut::program!` writes.
    pub narrow: bool,
}

/// What is said of a type.
pub(crate) fn said(attributes: &[syn::Attribute]) -> Result<Said, Refusal> {
    const WORDS: &str = "`#[data(twin)]` and `#[data(ragged)]` are what can be said here";
    let mut said = Said::default();
    for attribute in attributes.iter().filter(|a| a.path().is_ident("data")) {
        let words = attribute
            .parse_args_with(syn::punctuated::Punctuated::<Ident, syn::Token![,]>::parse_terminated)
            .map_err(|e| Refusal::new(Some(e.span()), WORDS))?;
        for word in words {
            match word.to_string().as_str() {
                "twin" => said.twin = true,
                "ragged" => said.ragged = true,
                "narrow" => said.narrow = true,
                _ => return Err(spanned(&word, WORDS)),
            }
        }
    }
    Ok(said)
}

/// The parameters of a struct, without what a declaration alone says of them: types, and lengths.
pub(crate) fn parameters(declared: &syn::Generics) -> Result<syn::Generics, Refusal> {
    let mut generics = declared.clone();
    for parameter in &mut generics.params {
        let said = match parameter {
            GenericParam::Lifetime(_) => {
                "a struct owns what it has: write `Vec<f64>` or `[f64; N]`"
            }
            GenericParam::Type(ty) if ty.bounds.is_empty() => {
                (ty.eq_token, ty.default) = (None, None);
                continue;
            }
            GenericParam::Type(_) => {
                "say this of the type at the `impl` blocks and functions that need it"
            }
            GenericParam::Const(length) => {
                (length.eq_token, length.default) = (None, None);
                continue;
            }
        };
        return Err(spanned(parameter, said));
    }
    match &generics.where_clause {
        Some(said) => Err(spanned(
            said,
            "say this of the type at the `impl` blocks and functions that need it",
        )),
        None => Ok(generics),
    }
}

/// The same, of types of which something is so.
pub(crate) fn bounded(generics: &syn::Generics, bound: &TokenStream) -> syn::Generics {
    let mut generics = generics.clone();
    for ty in generics.type_params_mut() {
        ty.bounds = syn::parse_quote!(#bound);
    }
    generics
}

/// Whether a parameter of the struct stands in some tokens.
pub(crate) fn mentions(tokens: TokenStream, generics: &syn::Generics) -> bool {
    let named = |ident: &Ident| match () {
        () if generics.type_params().any(|t| t.ident == *ident) => true,
        () => generics.const_params().any(|c| c.ident == *ident),
    };
    tokens.into_iter().any(|token| match token {
        TokenTree::Ident(ident) => named(&ident),
        TokenTree::Group(group) => mentions(group.stream(), generics),
        _ => false,
    })
}

fn has_struct(ty: &Ty) -> bool {
    match ty {
        Ty::Of(..) => true,
        Ty::Array(element, _) => has_struct(element),
        _ => false,
    }
}

/// The twin: the fields with floats.
fn declared(
    input: &syn::DeriveInput,
    data: &syn::DataStruct,
    name: &Ident,
    floats: &[&Field],
) -> TokenStream {
    let (vis, own) = (&input.vis, input.ident.to_string());
    let about = format!("A derivative with respect to a [`{own}`]: its fields with floats.");
    let fields = floats.iter().map(|f| {
        let (vis, ty) = (&f.vis, field_derivative(&f.written));
        match &f.member {
            syn::Member::Named(name) => {
                let about = format!("By the field `{}`.", f.name);
                quote!(#[doc = #about] #vis #name: #ty)
            }
            syn::Member::Unnamed(_) => quote!(#vis #ty),
        }
    });
    let body = match data.fields {
        Fields::Named(_) => quote!({ #(#fields),* }),
        _ => quote!((#(#fields),*);),
    };
    // The lengths that are parameters.
    let lengths = &input.generics.params;
    let lengths = (!lengths.is_empty()).then(|| quote!(<#lengths>));
    quote! {
        #[doc = #about]
        #vis struct #name #lengths #body
    }
}

/// Members of a twin: those of a tuple struct are counted anew.
fn numbered(fields: &[&Field]) -> Vec<syn::Member> {
    let member = |(k, f): (usize, &&Field)| match &f.member {
        syn::Member::Named(name) => syn::Member::Named(name.clone()),
        syn::Member::Unnamed(_) => syn::Member::Unnamed(syn::Index::from(k)),
    };
    fields.iter().enumerate().map(member).collect()
}

/// `Clone`, `Debug` and `PartialEq` of a twin, where all its fields have them: what a struct in it does not have, it need not get for this.
pub(crate) fn able(
    own: &Ident,
    generics: &syn::Generics,
    fields: &[&Field],
    ty: &dyn Fn(&Field) -> TokenStream,
) -> TokenStream {
    let (declared, named, _) = generics.split_for_impl();
    let types: Vec<TokenStream> = fields.iter().map(|f| ty(f)).collect();
    let members = numbered(fields);
    let written = own.to_string();
    let (builder, each) = match members.first() {
        Some(syn::Member::Unnamed(_)) => {
            (quote!(debug_tuple), members.iter().map(|m| quote!(&self.#m)).collect::<Vec<_>>())
        }
        _ => {
            let each = members.iter().map(|m| {
                let name = m.to_token_stream().to_string();
                let name = name.trim_start_matches("r#");
                quote!(#name, &self.#m)
            });
            (quote!(debug_struct), each.collect())
        }
    };
    // Such a bound is looked at where the trait is asked for, and not here.
    quote! {
        #[automatically_derived]
        impl #declared ::core::clone::Clone for #own #named
        where #(for<'fixed> #types: ::core::clone::Clone,)*
        {
            fn clone(&self) -> Self {
                #own { #(#members: ::core::clone::Clone::clone(&self.#members)),* }
            }
        }

        #[automatically_derived]
        impl #declared ::core::fmt::Debug for #own #named
        where #(for<'fixed> #types: ::core::fmt::Debug,)*
        {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                f.#builder(#written)#(.field(#each))*.finish()
            }
        }

        #[automatically_derived]
        impl #declared ::core::cmp::PartialEq for #own #named
        where #(for<'fixed> #types: ::core::cmp::PartialEq,)*
        {
            fn eq(&self, other: &Self) -> bool {
                #(self.#members == other.#members)&&*
            }
        }
    }
}

/// How values of a struct go in and come out.
pub(crate) fn values(
    own: &Ident,
    generics: &syn::Generics,
    fields: &[&Field],
    ty: &dyn Fn(&Field) -> TokenStream,
) -> TokenStream {
    let (declared, named, _) = generics.split_for_impl();
    let types: Vec<TokenStream> = fields.iter().map(|f| ty(f)).collect();
    let numbered = numbered(fields);
    let names: Vec<Ident> =
        (0..fields.len()).map(|k| Ident::new(&format!("field_{k}"), Span::mixed_site())).collect();
    // Of a struct without parameters rustc knows what its fields are.
    let bounded = |types: &[&TokenStream], of: TokenStream| {
        (!generics.params.is_empty()).then(|| quote!(where #(#types: #of),*))
    };
    // An `Option` is an argument as a field only: as a parameter it is two.
    let optional: Vec<bool> = fields
        .iter()
        .zip(&types)
        .map(|(f, ty)| {
            matches!(f.ty, Ty::Option(_))
                && ty.to_string() == f.written.to_token_stream().to_string()
        })
        .collect();
    let whole: Vec<&TokenStream> =
        types.iter().zip(&optional).filter(|(_, optional)| !**optional).map(|(ty, _)| ty).collect();
    let arguments = bounded(&whole, quote!(::jut::rust::Argument));
    let outcomes = bounded(&types.iter().collect::<Vec<_>>(), quote!(::jut::rust::Outcome));
    let held = fields.iter().zip(&numbered).zip(&optional).map(|((f, member), optional)| {
        match (optional, f.rows.is_some()) {
            _ if f.narrow => quote!(::jut::rust::NarrowField::held(&self.#member)),
            (true, _) => quote!(::jut::rust::optional(&self.#member)?),
            (_, true) => quote!(::jut::rust::Argument::hold_uneven(&self.#member)?),
            _ => quote!(::jut::rust::Argument::hold(&self.#member)?),
        }
    });
    let words =
        fields.iter().zip(&numbered).zip(&optional).map(|((f, member), optional)| match optional {
            _ if f.narrow => quote!(::jut::rust::NarrowField::words(&self.#member, words);),
            true => quote!(words.refuse();),
            false => quote!(::jut::rust::Argument::words(&self.#member, words);),
        });
    // What has no number of its own may have no float at all: rustc knows.
    let numbers = fields.iter().any(|f| !has_struct(&f.ty));
    let nothing = (!numbers).then(
        || quote!(const NOTHING: bool = true #(&& <#types as ::jut::rust::Outcome>::NOTHING)*;),
    );
    let none = (!numbers).then(|| {
        quote! {
            const NONE: ::core::option::Option<fn() -> ::core::option::Option<Self>> =
                match true #(&& <#types as ::jut::rust::Block>::NONE.is_some())* {
                    true => ::core::option::Option::Some(|| ::core::option::Option::Some(#own {
                        #(#numbered: <#types as ::jut::rust::Block>::NONE?()?),*
                    })),
                    false => ::core::option::Option::None,
                };
        }
    });
    let lists: Vec<TokenStream> = fields
        .iter()
        .zip(&numbered)
        .zip(&types)
        .map(|((f, member), ty)| {
            let each = quote!(all.iter().map(|one| ::core::clone::Clone::clone(&one.#member)));
            match f.narrow {
                true => quote!(<#ty as ::jut::rust::NarrowField>::many(#each.collect())),
                false => quote!(<#ty as ::jut::rust::Block>::own(#each.collect())?),
            }
        })
        .collect();
    quote! {
        #[automatically_derived]
        impl #declared ::jut::rust::Argument for #own #named #arguments {
            fn hold(&self) -> ::jut::Result<::jut::rust::Held<'_>> {
                ::jut::Result::Ok(::jut::rust::Held::tuple(::std::vec![
                    #(#held),*
                ]))
            }

            #[inline]
            fn words<'argument>(&'argument self, words: &mut ::jut::rust::Words<'_, '_, 'argument>) {
                #(#words)*
            }
        }

        #[automatically_derived]
        impl #declared ::jut::rust::Outcome for #own #named #outcomes {
            #nothing
            fn take(value: ::jut::Value) -> ::core::option::Option<Self> {
                let mut components = ::jut::rust::components(value)?;
                ::core::option::Option::Some(#own {
                    #(#numbered: <#types as ::jut::rust::Outcome>::next(&mut components)?),*
                })
            }
        }

        #[automatically_derived]
        impl #declared ::jut::rust::Block for #own #named
        where
            #(for<'fixed> #types: ::jut::rust::Block,)*
            for<'fixed> #own #named: ::core::clone::Clone,
        {
            #none
            fn many(all: &[Self]) -> ::jut::Result<::jut::rust::Held<'_>> {
                ::jut::Result::Ok(::jut::rust::Held::tuple(::std::vec![
                    #(#lists),*
                ]))
            }

            fn own(all: ::std::vec::Vec<Self>) -> ::jut::Result<::jut::rust::Held<'static>> {
                ::jut::Result::Ok(::jut::rust::Held::tuple(::std::vec![
                    #(#lists),*
                ]))
            }

            fn split(value: ::jut::Value, count: usize) -> ::core::option::Option<::std::vec::Vec<Self>> {
                let mut components = ::jut::rust::components(value)?;
                #(let mut #names = <#types as ::jut::rust::Block>::next(&mut components, count)?.into_iter();)*
                let mut all = ::std::vec::Vec::new();
                loop {
                    let one = match (#(#names.next(),)*) {
                        (#(::core::option::Option::Some(#names),)*) => #own { #(#numbered: #names),* },
                        _ => return ::core::option::Option::Some(all),
                    };
                    all.push(one);
                }
            }
        }
    }
}

/// The type of a derivative by a field: by an `Option` a tuple of the derivative by what is in it, zero of a `None`.
fn field_derivative(written: &Type) -> TokenStream {
    let inner = derivative(written);
    match crate::types::argument_of(written, "Option") {
        Some(_) => quote!((#inner,)),
        None => inner,
    }
}

/// Refuses a field with tuples that are not of floats.
pub(crate) fn no_mixed(ty: &Ty, written: &Type) -> Result<(), Refusal> {
    fn is_of_floats(ty: &Ty) -> bool {
        match ty {
            Ty::Tuple(items) => (2..=4).contains(&items.len()) && items.iter().all(Ty::is_float),
            Ty::Array(element, _) => is_of_floats(element),
            other => *other != Ty::Unit,
        }
    }
    match is_of_floats(ty) {
        true => Ok(()),
        false => Err(spanned(
            written,
            "a tuple in a field is one of floats here: write its components as fields, or a struct that derives `jut::Data`",
        )),
    }
}

/// Refuses a field with tuples.
pub(crate) fn no_tuple(ty: &Ty, written: &Type) -> Result<(), Refusal> {
    if !matches!(ty, Ty::Tuple(_) | Ty::Unit) && !ty.has_tuples() {
        return Ok(());
    }
    Err(spanned(written, "a tuple as a field is not built: write its components as fields"))
}

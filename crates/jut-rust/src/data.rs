//! What `#[derive(jut::Data)]` writes beside a struct: how its values go into and come out of compiled code, what its fields
//! are, and the type of a derivative with respect to it.
//!
//! That type is the struct itself where all its fields are made of floats. Where some are integers or truth values it is a *twin*, `PointGrad`,
//! of the other fields. Whether a field's own struct has a twin only rustc knows: one that has says so by `#[data(twin)]` on the struct that
//! holds it, which gives that a twin too.

use crate::calls::key;
use crate::derivatives::derivative;
use crate::expand::type_value;
use crate::types::{Ty, read_outside};
use crate::{Refusal, spanned};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Fields, Type};

/// A field: what it is called, its type as written, its type, and whether it is public.
pub(crate) struct Field {
    pub member: syn::Member,
    pub name: String,
    pub vis: syn::Visibility,
    pub written: Type,
    pub ty: Ty,
}

/// The items beside a struct, or what is wrong with it.
pub fn data(item: TokenStream) -> TokenStream {
    match syn::parse2::<syn::DeriveInput>(item) {
        Ok(input) => items(&input).unwrap_or_else(|refusal| refusal.error()),
        Err(error) => error.to_compile_error(),
    }
}

fn items(input: &syn::DeriveInput) -> Result<TokenStream, Refusal> {
    let data = match &input.data {
        syn::Data::Struct(data) => data,
        syn::Data::Enum(data) => return crate::enumeration::items(input, data),
        syn::Data::Union(data) => {
            return Err(spanned(&data.union_token, "a union is not built: write a struct"));
        }
    };
    if !input.generics.params.is_empty() {
        return Err(spanned(&input.generics, "a generic struct is not built: write it for `f64`"));
    }
    let mut twin = false;
    for attribute in input.attrs.iter().filter(|a| a.path().is_ident("data")) {
        let word: Ident = attribute.parse_args().map_err(|e| Refusal {
            span: Some(e.span()),
            message: "`#[data(twin)]` is what can be said here".into(),
        })?;
        if word != "twin" {
            return Err(spanned(&word, "`#[data(twin)]` is what can be said here"));
        }
        twin = true;
    }
    let mut holes = Vec::new();
    let mut fields = Vec::new();
    for (k, field) in data.fields.iter().enumerate() {
        if let Type::Reference(reference) = &field.ty {
            return Err(spanned(
                reference,
                "a struct owns what it has: write `Vec<f64>` or `[f64; N]`",
            ));
        }
        let ty = read_outside(&field.ty, &mut holes)?;
        if matches!(ty, Ty::Tuple(_) | Ty::Unit) || ty.has_tuples() {
            return Err(spanned(
                &field.ty,
                "a tuple as a field is not built: write its components as fields",
            ));
        }
        let member = match &field.ident {
            Some(name) => syn::Member::Named(name.clone()),
            None => syn::Member::Unnamed(syn::Index::from(k)),
        };
        let name = member.to_token_stream().to_string().trim_start_matches("r#").to_string();
        fields.push(Field { member, name, vis: field.vis.clone(), written: field.ty.clone(), ty });
    }
    if fields.is_empty() {
        return Err(spanned(&input.ident, "a struct without fields has no derivative"));
    }
    let own = &input.ident;
    let types = fields.iter().map(|f| {
        let (name, ty) = (&f.name, type_value(&f.ty, &holes));
        quote!((#name, #ty))
    });
    let found = fields.iter().map(|f| {
        let (key, ty) = (key(&f.name), &f.written);
        quote!(impl ::jut::rust::Field<#key, #ty> for #own {})
    });
    let floats: Vec<&Field> = fields.iter().filter(|f| f.ty.has_float()).collect();
    let twin = twin || floats.len() < fields.len();
    let all: Vec<&Field> = fields.iter().collect();
    let values = values(own, &all, &|f| f.written.to_token_stream());
    let (gradient, beside) = if floats.is_empty() {
        (quote!(()), TokenStream::new())
    } else if twin {
        let name = format_ident!("{}Grad", own);
        let declared = declared(input, data, &name, &floats);
        let values = crate::data::values(&name, &floats, &|f| derivative(&f.written));
        let same = quote! {
            impl ::jut::rust::Data for #name {
                const TYPE: ::jut::rust::Type = <#own as ::jut::rust::Data>::TYPE;
                type Gradient = #name;
            }
        };
        (quote!(#name), quote!(#declared #values #same))
    } else {
        // Else a field's struct has a twin, and this one needs one too.
        let same = floats.iter().filter(|f| has_struct(&f.ty)).map(|f| {
            let (written, derived) = (&f.written, derivative(&f.written));
            quote_spanned!(f.written.span()=> const _: fn(#derived) -> #written = |same| same;)
        });
        (quote!(#own), quote!(#(#same)*))
    };
    let (members, written): (Vec<&syn::Member>, Vec<&Type>) =
        fields.iter().map(|f| (&f.member, &f.written)).unzip();
    let first = (0..fields.len()).map(|k| k == 0);
    Ok(quote! {
        impl ::jut::rust::Data for #own {
            const TYPE: ::jut::rust::Type = ::jut::rust::Type::Record(&[#(#types),*]);
            type Gradient = #gradient;
        }
        #[automatically_derived]
        impl ::jut::rust::Constant for #own
        where
            #(for<'fixed> #written: ::jut::rust::Constant,)*
        {
            const TYPE: ::jut::rust::Type = <#own as ::jut::rust::Data>::TYPE;
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
        let (vis, ty) = (&f.vis, derivative(&f.written));
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
    quote! {
        #[doc = #about]
        #[derive(Clone, Debug, PartialEq)]
        #vis struct #name #body
    }
}

/// How values of a struct go in and come out.
pub(crate) fn values(
    own: &Ident,
    fields: &[&Field],
    ty: &dyn Fn(&Field) -> TokenStream,
) -> TokenStream {
    let types: Vec<TokenStream> = fields.iter().map(|f| ty(f)).collect();
    let members: Vec<&syn::Member> = fields.iter().map(|f| &f.member).collect();
    let numbered: Vec<syn::Member> = (0..fields.len())
        .map(|k| match members[k] {
            syn::Member::Named(name) => syn::Member::Named(name.clone()),
            syn::Member::Unnamed(_) => syn::Member::Unnamed(syn::Index::from(k)),
        })
        .collect();
    let names: Vec<Ident> =
        (0..fields.len()).map(|k| Ident::new(&format!("field_{k}"), Span::mixed_site())).collect();
    quote! {
        #[automatically_derived]
        impl ::jut::rust::Argument for #own {
            fn hold(&self) -> ::jut::Result<::jut::rust::Held<'_>> {
                ::jut::Result::Ok(::jut::rust::Held::tuple(::std::vec![
                    #(::jut::rust::Argument::hold(&self.#numbered)?),*
                ]))
            }

            #[inline]
            fn words<'argument>(&'argument self, words: &mut ::jut::rust::Words<'_, '_, 'argument>) {
                #(::jut::rust::Argument::words(&self.#numbered, words);)*
            }
        }

        #[automatically_derived]
        impl ::jut::rust::Outcome for #own {
            fn take(value: ::jut::Value) -> ::core::option::Option<Self> {
                let mut components = ::jut::rust::components(value)?;
                ::core::option::Option::Some(#own {
                    #(#numbered: <#types as ::jut::rust::Outcome>::next(&mut components)?),*
                })
            }
        }

        #[automatically_derived]
        impl ::jut::rust::Block for #own
        where
            #(for<'fixed> #types: ::jut::rust::Block,)*
            for<'fixed> #own: ::core::clone::Clone,
        {
            fn many(all: &[Self]) -> ::jut::Result<::jut::rust::Held<'_>> {
                ::jut::Result::Ok(::jut::rust::Held::tuple(::std::vec![
                    #(<#types as ::jut::rust::Block>::own(
                        all.iter().map(|one| ::core::clone::Clone::clone(&one.#numbered)).collect()
                    )?),*
                ]))
            }

            fn own(all: ::std::vec::Vec<Self>) -> ::jut::Result<::jut::rust::Held<'static>> {
                ::jut::Result::Ok(::jut::rust::Held::tuple(::std::vec![
                    #(<#types as ::jut::rust::Block>::own(
                        all.iter().map(|one| ::core::clone::Clone::clone(&one.#numbered)).collect()
                    )?),*
                ]))
            }

            fn split(value: ::jut::Value, count: usize) -> ::core::option::Option<::std::vec::Vec<Self>> {
                let mut components = ::jut::rust::components(value)?;
                #(let mut #names = <#types as ::jut::rust::Block>::split(components.next()?, count)?.into_iter();)*
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

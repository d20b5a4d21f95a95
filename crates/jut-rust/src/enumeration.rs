//! What `#[derive(jut::Data)]` writes beside an enum. In the text a value is the tuple of the variant's number and the fields
//! of all variants; those of others than its own have some value that nobody reads, a `Vec` no elements.
//!
//! A derivative with respect to an enum is a struct of all fields with floats, `ShapeGrad { round_radius, .. }`: those of the variant that
//! the value is, and zero for the others. So derivatives add up whatever the variants are.

use crate::data::{Field, bounded, mentions, no_tuple, values};
use crate::derivatives::derivative;
use crate::enums::field_name;
use crate::expand::type_value;
use crate::syntax::key;
use crate::template::Hole;
use crate::types::{Ty, has_sizes, read_outside};
use crate::{Refusal, spanned};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote};
use syn::{GenericParam, Member, Type};

/// A variant, and where its fields stand among all.
struct Variant {
    name: Ident,
    members: Vec<Member>,
    first: usize,
}

/// A field of a variant.
struct Part {
    variant: usize,
    member: Member,
    name: String,
    written: Type,
    ty: Ty,
    /// What it is called in a derivative.
    short: Ident,
}

/// The items beside an enum.
pub(crate) fn items(
    input: &syn::DeriveInput,
    data: &syn::DataEnum,
) -> Result<TokenStream, Refusal> {
    let generics = crate::data::parameters(&input.generics)?;
    if data.variants.is_empty() {
        return Err(spanned(&input.ident, "an enum without variants has no values"));
    }
    let (mut holes, mut variants, mut parts) = (Vec::new(), Vec::new(), Vec::<Part>::new());
    for variant in &data.variants {
        let first = parts.len();
        for (k, field) in variant.fields.iter().enumerate() {
            parts.push(part(variants.len(), variant, k, field, &mut holes)?);
        }
        let members = parts[first..].iter().map(|p| p.member.clone()).collect();
        variants.push(Variant { name: variant.ident.clone(), members, first });
    }
    let own = &input.ident;
    let words = variants.iter().map(|v| v.name.to_string());
    let types = parts.iter().map(|p| {
        let (name, ty) = (&p.name, type_value(&p.ty, &holes));
        quote!((#name, #ty))
    });
    let numbers = numbers(data)?;
    let (declared_for, named, _) = generics.split_for_impl();
    let of_data = bounded(&generics, &quote!(::jut::rust::Data + 'static));
    let (of_data, _, _) = of_data.split_for_impl();
    let found = parts.iter().map(|p| {
        let (key, ty) = (key(&p.name), &p.written);
        quote!(impl #declared_for ::jut::rust::Field<#key, #ty> for #own #named {})
    });
    let floats: Vec<Field> = parts
        .iter()
        .filter(|p| p.ty.has_float())
        .map(|p| Field {
            member: Member::Named(p.short.clone()),
            name: p.name.clone(),
            vis: input.vis.clone(),
            written: p.written.clone(),
            ty: p.ty.clone(),
            rows: None,
            narrow: false,
        })
        .collect();
    let (gradient, beside) = match floats.is_empty() {
        true => (quote!(()), TokenStream::new()),
        false => twin(input, &generics, &floats),
    };
    let crossing = crossing(own, &generics, &variants, &parts, &holes);
    let constant = constant(own, &generics, &variants, &parts, &holes);
    Ok(quote! {
        impl #of_data ::jut::rust::Data for #own #named {
            const TYPE: ::jut::rust::Type = ::jut::rust::Type::Enum(
                &[#(#words),*],
                &[(#numbers, ::jut::rust::Type::I64), #(#types),*],
            );
            type Gradient = #gradient;
        }
        #(#found)*
        #crossing
        #constant
        #beside
    })
}

fn part(
    number: usize,
    variant: &syn::Variant,
    k: usize,
    field: &syn::Field,
    holes: &mut Vec<Hole>,
) -> Result<Part, Refusal> {
    if let Type::Reference(reference) = &field.ty {
        return Err(spanned(reference, "an enum owns what it has: write `f64` or `[f64; N]`"));
    }
    let ty = read_outside(&field.ty, holes)?;
    no_tuple(&ty, &field.ty)?;
    let member = match &field.ident {
        Some(name) => Member::Named(name.clone()),
        None => Member::from(k),
    };
    let before = snake(&variant.ident.to_string());
    let short = match (&field.ident, variant.fields.len()) {
        (Some(name), _) => format!("{before}_{}", name.to_string().trim_start_matches("r#")),
        (None, 1) => before,
        (None, _) => format!("{before}_{k}"),
    };
    Ok(Part {
        variant: number,
        name: field_name(&variant.ident.to_string(), &member),
        member,
        written: field.ty.clone(),
        ty,
        short: word(&short),
    })
}

/// The numbers of the variants, `kind as usize`, where they are not those of their places: `"1,2,10"`, else nothing.
fn numbers(data: &syn::DataEnum) -> Result<String, Refusal> {
    let (mut all, mut next) = (Vec::new(), 0_i64);
    for variant in &data.variants {
        if let Some((_, written)) = &variant.discriminant {
            let (negative, literal) = match written {
                syn::Expr::Unary(unary) if matches!(unary.op, syn::UnOp::Neg(_)) => {
                    (true, &*unary.expr)
                }
                other => (false, other),
            };
            let number = match literal {
                syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Int(number), .. }) => {
                    number.base10_parse::<i64>().ok()
                }
                _ => None,
            };
            let Some(number) = number else {
                return Err(spanned(written, "write this number as it is: `Kind = 3`"));
            };
            next = if negative { -number } else { number };
        }
        all.push(next);
        next = next.wrapping_add(1);
    }
    let plain = all.iter().zip(0..).all(|(number, place)| *number == place);
    let words: Vec<String> = all.iter().map(i64::to_string).collect();
    Ok(if plain { String::new() } else { words.join(",") })
}

/// `TwoWords` as `two_words`.
fn snake(name: &str) -> String {
    let mut out = String::new();
    let mut small = false;
    for c in name.trim_start_matches("r#").chars() {
        if c.is_uppercase() && small {
            out.push('_');
        }
        small = !c.is_uppercase();
        out.extend(c.to_lowercase());
    }
    out
}

fn word(name: &str) -> Ident {
    match name {
        "self" | "super" | "crate" | "_" => format_ident!("{name}_"),
        _ => syn::parse_str(name).unwrap_or_else(|_| Ident::new_raw(name, Span::call_site())),
    }
}

/// The type of a derivative.
fn twin(
    input: &syn::DeriveInput,
    generics: &syn::Generics,
    floats: &[Field],
) -> (TokenStream, TokenStream) {
    let (vis, own) = (&input.vis, &input.ident);
    let (declared_for, named, _) = generics.split_for_impl();
    let of_data = bounded(generics, &quote!(::jut::rust::Data + 'static));
    let (of_data, _, _) = of_data.split_for_impl();
    // The twin of types is one of derivatives by these.
    let ty = |f: &Field| match mentions(f.written.to_token_stream(), generics) {
        true => f.written.to_token_stream(),
        false => derivative(&f.written),
    };
    let each: Vec<TokenStream> = generics
        .params
        .iter()
        .map(|parameter| match parameter {
            GenericParam::Type(ty) => {
                let ty = &ty.ident;
                quote!(::jut::rust::Gradient<#ty>)
            }
            GenericParam::Const(length) => length.ident.to_token_stream(),
            GenericParam::Lifetime(lifetime) => lifetime.to_token_stream(),
        })
        .collect();
    let arguments = (!each.is_empty()).then(|| quote!(<#(#each),*>));
    let name = format_ident!("{}Grad", own);
    let about = format!("A derivative with respect to a [`{own}`]: by the fields of all variants.");
    let fields = floats.iter().map(|f| {
        let (member, ty) = (&f.member, ty(f));
        let about = format!("By the field `{}`.", f.name);
        quote!(#[doc = #about] #vis #member: #ty)
    });
    let all: Vec<&Field> = floats.iter().collect();
    let values = values(&name, generics, &all, &ty);
    let able = crate::data::able(&name, generics, &all, &ty);
    let beside = quote! {
        #[doc = #about]
        #vis struct #name #declared_for { #(#fields),* }
        #able
        #values
        impl #of_data ::jut::rust::Data for #name #named {
            const TYPE: ::jut::rust::Type = <#own #named as ::jut::rust::Data>::TYPE;
            type Gradient = #name #named;
        }
    };
    (quote!(#name #arguments), beside)
}

/// Names for the fields of a value that is taken apart.
fn names(count: usize) -> Vec<Ident> {
    (0..count).map(|k| Ident::new(&format!("field_{k}"), Span::mixed_site())).collect()
}

/// How values go in and come out.
fn crossing(
    own: &Ident,
    generics: &syn::Generics,
    variants: &[Variant],
    parts: &[Part],
    holes: &[Hole],
) -> TokenStream {
    let of_data = bounded(generics, &quote!(::jut::rust::Data + 'static));
    let (of_data, named, _) = of_data.split_for_impl();
    let (plain, _, _) = generics.split_for_impl();
    let types: Vec<&Type> = parts.iter().map(|p| &p.written).collect();
    let neutral: Vec<TokenStream> = parts
        .iter()
        .map(|p| {
            let ty = type_value(&p.ty, holes);
            quote!(::jut::rust::neutral(&#ty))
        })
        .collect();
    let numbers: Vec<i64> = (0..variants.len() as i64).collect();
    let held = variants.iter().zip(&numbers).map(|(v, number)| {
        let (name, members, names) = (&v.name, &v.members, names(v.members.len()));
        let each =
            (0..parts.len()).map(|k| match k.checked_sub(v.first).and_then(|k| names.get(k)) {
                Some(name) => quote!(::jut::rust::Argument::hold(#name)?),
                None => {
                    let neutral = &neutral[k];
                    quote!(::jut::rust::Held::owned(#neutral))
                }
            });
        quote! {
            #own::#name { #(#members: #names),* } => ::std::vec![
                ::jut::rust::Held::owned(::jut::Value::I64(#number)), #(#each),*
            ]
        }
    });
    let taken = variants.iter().zip(&numbers).map(|(v, number)| {
        let (name, members) = (&v.name, &v.members);
        let each = (v.first..).zip(members).map(|(k, _)| {
            let ty = types[k];
            quote!(<#ty as ::jut::rust::Outcome>::take(all.get_mut(#k)?.take()?)?)
        });
        quote!(#number => ::core::option::Option::Some(#own::#name { #(#members: #each),* }))
    });
    let all_names = variants.iter().map(|v| &v.name);
    let columns: Vec<TokenStream> = parts
        .iter()
        .zip(&neutral)
        .map(|(p, neutral)| {
            let (name, member, ty) = (&variants[p.variant].name, &p.member, &p.written);
            quote! {
                <#ty as ::jut::rust::Block>::own(
                    all.iter()
                        .map(|one| match one {
                            #own::#name { #member: field, .. } => {
                                ::core::option::Option::Some(::core::clone::Clone::clone(field))
                            }
                            _ => <#ty as ::jut::rust::Outcome>::take(#neutral),
                        })
                        .collect::<::core::option::Option<::std::vec::Vec<#ty>>>()
                        .ok_or_else(|| ::jut::Error::Request(::std::string::String::from(
                            "a field of an enum has no neutral value: a mistake in jut",
                        )))?
                )?
            }
        })
        .collect();
    let many = quote! {
        ::jut::Result::Ok(::jut::rust::Held::tuple(::std::vec![
            <i64 as ::jut::rust::Block>::own(
                all.iter().map(|one| match one { #(#own::#all_names { .. } => #numbers),* }).collect()
            )?,
            #(#columns),*
        ]))
    };
    let names = names(parts.len());
    let split = variants.iter().zip(&numbers).map(|(v, number)| {
        let (name, members) = (&v.name, &v.members);
        let each = (v.first..).zip(members).map(|(k, _)| {
            let k = syn::Index::from(k);
            quote!(one.#k)
        });
        quote!(#number => ::core::option::Option::Some(#own::#name { #(#members: #each),* }))
    });
    // What has lists is no element of one.
    let block = match parts.iter().any(|p| has_sizes(&p.ty)) {
        true => TokenStream::new(),
        false => quote! {
        #[automatically_derived]
        #[allow(unused_mut, unused_variables, unreachable_patterns)]
        impl #of_data ::jut::rust::Block for #own #named
        where
            #(for<'fixed> #types: ::jut::rust::Block,)*
            #(for<'fixed> #types: ::jut::rust::Outcome,)*
            for<'fixed> #own #named: ::core::clone::Clone,
        {
            fn many(all: &[Self]) -> ::jut::Result<::jut::rust::Held<'_>> {
                #many
            }

            fn own(all: ::std::vec::Vec<Self>) -> ::jut::Result<::jut::rust::Held<'static>> {
                #many
            }

            fn split(value: ::jut::Value, count: usize) -> ::core::option::Option<::std::vec::Vec<Self>> {
                let mut components = ::jut::rust::components(value)?;
                let numbers = <i64 as ::jut::rust::Block>::split(components.next()?, count)?;
                #(let mut #names = <#types as ::jut::rust::Block>::split(components.next()?, count)?.into_iter();)*
                numbers
                    .into_iter()
                    .map(|number| {
                        let one = (#(#names.next()?,)*);
                        match number {
                            #(#split,)*
                            _ => ::core::option::Option::None,
                        }
                    })
                    .collect()
            }
        }
        },
    };
    // Of an enum without parameters rustc knows what its fields are.
    let all =
        |of: TokenStream| (!generics.params.is_empty()).then(|| quote!(where #(#types: #of),*));
    let (arguments, outcomes) =
        (all(quote!(::jut::rust::Argument)), all(quote!(::jut::rust::Outcome)));
    quote! {
        #[automatically_derived]
        impl #of_data ::jut::rust::Argument for #own #named #arguments {
            fn hold(&self) -> ::jut::Result<::jut::rust::Held<'_>> {
                ::jut::Result::Ok(::jut::rust::Held::tuple(match self { #(#held),* }))
            }
        }

        #[automatically_derived]
        #[allow(unused_mut, unused_variables)]
        impl #plain ::jut::rust::Outcome for #own #named #outcomes {
            fn take(value: ::jut::Value) -> ::core::option::Option<Self> {
                let mut components = ::jut::rust::components(value)?;
                let number = <i64 as ::jut::rust::Outcome>::next(&mut components)?;
                let mut all: ::std::vec::Vec<::core::option::Option<::jut::Value>> =
                    components.map(::core::option::Option::Some).collect();
                match number {
                    #(#taken,)*
                    _ => ::core::option::Option::None,
                }
            }
        }

        #block
    }
}

/// A value that stands in the text as it is: `Shape::Flat`, or a constant.
fn constant(
    own: &Ident,
    generics: &syn::Generics,
    variants: &[Variant],
    parts: &[Part],
    holes: &[Hole],
) -> TokenStream {
    let of_data = bounded(generics, &quote!(::jut::rust::Data + ::jut::rust::Constant + 'static));
    let (of_data, named, _) = of_data.split_for_impl();
    let types = parts.iter().map(|p| &p.written);
    let arms = variants.iter().enumerate().map(|(number, v)| {
        let (name, members, names) = (&v.name, &v.members, names(v.members.len()));
        let start = format!("#({number}");
        let each = parts.iter().enumerate().map(|(k, p)| {
            match k.checked_sub(v.first).and_then(|k| names.get(k)) {
                Some(name) => quote!(fits &= ::jut::rust::Constant::write(#name, text);),
                None => {
                    let ty = type_value(&p.ty, holes);
                    quote!(text.push_str(&#ty.neutral());)
                }
            }
        });
        quote! {
            #own::#name { #(#members: #names),* } => {
                text.push_str(#start);
                #(text.push_str(", "); #each)*
            }
        }
    });
    quote! {
        #[automatically_derived]
        #[allow(unused_mut)]
        impl #of_data ::jut::rust::Constant for #own #named
        where
            #(for<'fixed> #types: ::jut::rust::Constant,)*
        {
            const TYPE: ::jut::rust::Type = <#own #named as ::jut::rust::Data>::TYPE;
            fn write(&self, text: &mut ::std::string::String) -> bool {
                let mut fits = true;
                match self { #(#arms),* }
                text.push(')');
                fits
            }
        }
    }
}

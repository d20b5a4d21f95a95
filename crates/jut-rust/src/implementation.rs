//! The methods and functions of an `impl` block, and what stands beside them.

use crate::expand::beside;
use crate::generic::{is_std, link_name};
use crate::literals::with_types;
use crate::overloaded::{operator_of, with_output, without_reference, word};
use crate::syntax::{key, named_self, spanned_like};
use crate::{Refusal, methods, spanned};
use proc_macro2::{TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote};
use syn::{ItemFn, Type};

/// The methods and functions of an `impl` block. Each has a type of its own, `Type_method`.
pub(crate) fn methods_of(written: &syn::ItemImpl) -> TokenStream {
    let plain = without_lifetimes(written);
    let block = &plain;
    let fail = |refusal: Refusal| {
        let error = refusal.error();
        quote!(#written #error)
    };
    if let Err(refusal) = open_impl(block) {
        return fail(refusal);
    }
    let operator = operator_of(block);
    let owner = match &operator {
        Some(_) => without_reference(&block.self_ty),
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
        let tokens = with_output(tokens, output.filter(|_| operator.is_some()));
        let tokens = named_self(tokens, owner);
        let plain = sig.ident.to_string();
        let numeric = block.trait_.is_none() && methods::may_be_own(&plain);
        if methods::is_known(&plain) && !numeric {
            let said = "numbers have a method of this name: give this one another name";
            all.extend(spanned(&sig.ident, said).error());
            continue;
        }
        let parsed = syn::parse2::<ItemFn>(tokens);
        let parsed = match (parsed, &operator) {
            (Ok(function), Some(own)) if crate::indexed::is_method(&function) => {
                let right = named_self(own.right.to_token_stream(), owner);
                let right: Result<Type, _> = syn::parse2(right);
                let told = right
                    .map_err(Refusal::from)
                    .and_then(|right| crate::indexed::function(&function, owner, &right));
                match told {
                    Ok(function) => Ok(function),
                    Err(refusal) => {
                        all.extend(refusal.error());
                        continue;
                    }
                }
            }
            (parsed, _) => parsed,
        };
        match parsed {
            Ok(function) => {
                let method = plain.trim_start_matches("r#");
                // There may be several for different right operands.
                let right = match &operator {
                    Some(own) if own.written => format!("_{}", word(&own.right)),
                    _ => String::new(),
                };
                let name = format_ident!("{short}_{method}{right}", span = sig.ident.span());
                let of = block.trait_.as_ref().map(|(_, path, _)| path);
                let twin = beside(&function, &name, Some(owner), of);
                all.extend(twin.items);
                integers.extend(twin.integers);
                let looks = match twin.looked {
                    true => quote!(::jut::rust::Always),
                    false => quote!(::jut::rust::Hidden),
                };
                let key = key(&plain);
                let conditions = &function.attrs;
                let gives = match &function.sig.output {
                    syn::ReturnType::Type(_, ty) => match crate::signature::owned(ty) {
                        Ok(own) => own.to_token_stream(),
                        Err(_) => ty.to_token_stream(),
                    },
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
                let second = crate::uneven::may_take_rows(&function).then(|| quote! {
                    fn second_text(linker: &mut ::jut::rust::Linker, sure: bool) -> ::jut::rust::Filled {
                        linker.second_text::<#name #named>(sure)
                    }
                });
                let makes = crate::uneven::may_make_rows(&function).then(|| quote! {
                    fn making_rows(linker: &mut ::jut::rust::Linker, sure: bool) -> ::jut::rust::Filled {
                        linker.making_rows::<#name #named>(sure)
                    }
                    fn perhaps_rows(linker: &mut ::jut::rust::Linker, sure: bool) -> ::jut::rust::Filled {
                        linker.perhaps_rows::<#name #named>(sure)
                    }
                });
                if numeric && function.sig.receiver().is_some() {
                    all.extend(quote! {
                        #(#conditions)*
                        #[automatically_derived]
                        impl #declared ::jut::rust::Operator<#key, (), #gives> for #owner #said {
                            fn link(linker: &mut ::jut::rust::Linker) -> ::jut::rust::Filled {
                                linker.called::<#name #named>()
                            }
                        }
                    });
                }
                if crate::ambiguous::METHODS.contains(&plain.as_str())
                    && block.trait_.is_none()
                    && function.sig.receiver().is_some()
                {
                    let inner = match &function.sig.output {
                        syn::ReturnType::Type(_, ty) if matches!(&plain[..], "first" | "last") => {
                            crate::types::argument_of(ty, "Option")
                        }
                        _ => None,
                    };
                    let unwrapped = inner.map(|inner| {
                        let key = crate::syntax::key(&crate::ambiguous::unwrapped_name(&plain));
                        quote! {
                            #(#conditions)*
                            #[automatically_derived]
                            impl #declared ::jut::rust::Listed<#key, #inner> for #owner #said {
                                fn link(linker: &mut ::jut::rust::Linker) -> ::jut::rust::Filled {
                                    linker.called::<#name #named>().unwrapped()
                                }
                            }
                        }
                    });
                    all.extend(quote! {
                        #(#conditions)*
                        #[automatically_derived]
                        impl #declared ::jut::rust::Listed<#key, #gives> for #owner #said {
                            fn link(linker: &mut ::jut::rust::Linker) -> ::jut::rust::Filled {
                                linker.called::<#name #named>()
                            }
                        }
                        #unwrapped
                    });
                }
                if crate::held::is_method(&plain) && function.sig.receiver().is_some() {
                    let mut of_any = generics.clone();
                    of_any.params.push(syn::parse_quote!(JutOwner));
                    let (declared, _, said) = of_any.split_for_impl();
                    all.extend(quote! {
                        #(#conditions)*
                        #[automatically_derived]
                        impl #declared ::jut::rust::Relisted<#key, JutOwner, #gives> for #owner #said {
                            type Measures = ::jut::rust::Always;
                            fn link(linker: &mut ::jut::rust::Linker) -> ::jut::rust::Filled {
                                linker.called::<#name #named>()
                            }
                        }
                    });
                }
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
                        type Looks = #looks;
                        fn link(linker: &mut ::jut::rust::Linker) -> ::jut::rust::Filled {
                            linker.called::<#name #named>()
                        }
                        fn sure(linker: &mut ::jut::rust::Linker) -> ::jut::rust::Filled {
                            linker.function::<#name #named>()
                        }
                        #second
                        #makes
                    }
                });
            }
            Err(error) => all.extend(error.to_compile_error()),
        }
    }
    let block = with_links(written, &short);
    let block = with_types(quote!(#block), &integers);
    quote!(#block #all)
}

/// `impl Mul<&V3> for &V3` for `impl<'a> Mul<&'a V3> for &'a V3`: the functions beside it borrow nothing for longer than they run.
fn without_lifetimes(block: &syn::ItemImpl) -> syn::ItemImpl {
    let names: Vec<String> =
        block.generics.lifetimes().map(|own| own.lifetime.ident.to_string()).collect();
    if names.is_empty() {
        return block.clone();
    }
    let mut plain = block.clone();
    let kept = plain.generics.params.into_iter();
    plain.generics.params =
        kept.filter(|own| !matches!(own, syn::GenericParam::Lifetime(_))).collect();
    let told = elided(plain.to_token_stream(), &names);
    // A type with a lifetime of its own is refused where it stands.
    match has_lifetime(&told, &names) {
        true => block.clone(),
        false => syn::parse2(told).unwrap_or_else(|_| block.clone()),
    }
}

/// Whether one of these lifetimes stands anywhere.
fn has_lifetime(tokens: &TokenStream, names: &[String]) -> bool {
    let all: Vec<TokenTree> = tokens.clone().into_iter().collect();
    all.iter().enumerate().any(|(k, token)| match (token, all.get(k + 1)) {
        (TokenTree::Punct(mark), Some(TokenTree::Ident(name))) => {
            mark.as_char() == '\'' && names.iter().any(|own| name == own)
        }
        (TokenTree::Group(group), _) => has_lifetime(&group.stream(), names),
        _ => false,
    })
}

/// Tokens without these lifetimes behind a `&`.
fn elided(tokens: TokenStream, names: &[String]) -> TokenStream {
    let all: Vec<TokenTree> = tokens.into_iter().collect();
    let is = |k: usize, mark: char| matches!(all.get(k), Some(TokenTree::Punct(p)) if p.as_char() == mark);
    let (mut out, mut k) = (TokenStream::new(), 0);
    while k < all.len() {
        let named = matches!(all.get(k + 1), Some(TokenTree::Ident(name)) if names.iter().any(|own| name == own));
        if k > 0 && is(k - 1, '&') && is(k, '\'') && named {
            k += 2;
            continue;
        }
        match &all[k] {
            TokenTree::Group(group) => {
                let inner = elided(group.stream(), names);
                let mut inner = proc_macro2::Group::new(group.delimiter(), inner);
                inner.set_span(group.span());
                out.extend([TokenTree::from(inner)]);
            }
            other => out.extend([other.clone()]),
        }
        k += 1;
    }
    out
}

/// Whether the parameters of an `impl` block are built.
fn open_impl(block: &syn::ItemImpl) -> Result<(), Refusal> {
    for parameter in &block.generics.params {
        let said = match (parameter, &block.trait_) {
            (syn::GenericParam::Lifetime(_), _) => {
                "a type that derives `jut::Data` borrows nothing"
            }
            (_, Some((_, path, _))) if !is_std(path) => {
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

/// An `impl` of a trait, with the functions that find the texts of its methods.
fn with_links(block: &syn::ItemImpl, short: &str) -> syn::ItemImpl {
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

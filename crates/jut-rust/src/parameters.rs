//! Parameters that are functions, `impl Fn(f64) -> f64`, and the type parameters of a function and of its structs.

use crate::syntax::has_word;
use crate::template::Hole;
use crate::types::{Ty, has_sizes, read_outside};
use crate::{Refusal, refuse};
use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, format_ident, quote};
use std::collections::HashMap;
use syn::{Type, TypeParam, TypeParamBound, WherePredicate};

/// The type parameters of a function: those that are functions, `F: Fn(f64) -> f64`, and the others. Lengths, `const N: usize`,
/// become holes.
pub(crate) fn parameters(
    generics: &syn::Generics,
    holes: &mut Vec<Hole>,
) -> Result<(HashMap<String, Ty>, Vec<TypeParam>), Refusal> {
    let (mut found, mut types) = (HashMap::new(), Vec::new());
    // The types of functions may have lengths in them.
    for parameter in generics.const_params() {
        if !matches!(&parameter.ty, Type::Path(p) if p.path.is_ident("usize")) {
            return refuse(
                &parameter.ty,
                "a parameter of the type is a length: write `const N: usize`",
            );
        }
        holes.push(Hole::Length(parameter.ident.clone()));
    }
    for parameter in generics.type_params() {
        let mut bounds: Vec<&TypeParamBound> = parameter.bounds.iter().collect();
        for predicate in generics.where_clause.iter().flat_map(|w| &w.predicates) {
            if let syn::WherePredicate::Type(of) = predicate
                && matches!(&of.bounded_ty, Type::Path(p) if p.path.is_ident(&parameter.ident))
            {
                bounds.extend(&of.bounds);
            }
        }
        match bound(bounds.into_iter(), holes)? {
            Some(ty) => found.insert(parameter.ident.to_string(), ty),
            None => {
                types.push(parameter.clone());
                None
            }
        };
    }
    Ok((found, types))
}

/// The type of a parameter that is a function.
pub(crate) fn function_type(
    ty: &Type,
    known: &HashMap<String, Ty>,
    holes: &mut Vec<Hole>,
) -> Result<Option<Ty>, Refusal> {
    match ty {
        Type::Reference(inner) => function_type(&inner.elem, known, holes),
        Type::Paren(inner) => function_type(&inner.elem, known, holes),
        Type::ImplTrait(bounds) => bound(bounds.bounds.iter(), holes),
        Type::TraitObject(bounds) => bound(bounds.bounds.iter(), holes),
        Type::BareFn(bare) => {
            signature(bare.inputs.iter().map(|i| &i.ty), &bare.output, holes).map(Some)
        }
        Type::Path(path) => {
            Ok(path.path.get_ident().and_then(|i| known.get(&i.to_string())).cloned())
        }
        _ => Ok(None),
    }
}

fn bound<'a>(
    bounds: impl Iterator<Item = &'a TypeParamBound>,
    holes: &mut Vec<Hole>,
) -> Result<Option<Ty>, Refusal> {
    for bound in bounds {
        let TypeParamBound::Trait(bound) = bound else { continue };
        let Some(last) = bound.path.segments.last() else { continue };
        if let syn::PathArguments::Parenthesized(inner) = &last.arguments {
            return signature(inner.inputs.iter(), &inner.output, holes).map(Some);
        }
    }
    Ok(None)
}

fn signature<'a>(
    inputs: impl Iterator<Item = &'a Type>,
    output: &syn::ReturnType,
    holes: &mut Vec<Hole>,
) -> Result<Ty, Refusal> {
    let inputs: Result<Vec<Ty>, Refusal> = inputs.map(|ty| read_outside(ty, holes)).collect();
    let syn::ReturnType::Type(_, ty) = output else {
        return refuse(output, "a function that is given gives a value: write `-> f64`");
    };
    let found = read_outside(ty, holes)?;
    let rows = match &found {
        Ty::Array(element, _) => has_sizes(element),
        other => has_sizes(other),
    };
    match rows {
        true => refuse(
            ty,
            "a function that is given gives one list here: write `Vec<f64>` or `[f64; N]`",
        ),
        false => Ok(Ty::Function(inputs?, Box::new(found))),
    }
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
pub(crate) fn open_in(ty: &Ty, names: &[&Ident], holes: &[Hole]) -> Option<(TokenStream, usize)> {
    match ty {
        Ty::Of(hole, steps) if steps.is_empty() => match holes.get(*hole) {
            Some(Hole::Data(path))
                if names.iter().any(|name| has_word(path, &name.to_string())) =>
            {
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
            && structs.iter().any(|path| has_word(path, &name.to_string()))
        {
            own.push(name.clone());
            let name = own[own.len() - 1].to_token_stream();
            *hole = Hole::Constant(quote!(#name as usize));
        }
    }
    own
}

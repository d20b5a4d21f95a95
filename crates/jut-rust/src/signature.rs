//! The signature of a function: what it takes and gives, and by what its derivatives are.
//!
//! A parameter is a name of the text. One that is taken apart, `Point { x, y }: Point`, gets a name, and a `let` in the body:
//!
//! ```text
//! fn f(&(x, y): &(f64, f64)) -> f64 { x * y }       fn f(parameter_1: &(f64, f64)) -> f64 { let &(x, y) = parameter_1; x * y }
//! ```
//!
//! Requires: types of the subset. What is a `&mut` is a result too; a `Result` is what is in its `Ok` ([`Errors`]).

use crate::template::Hole;
use crate::types::{Ty, has_sizes, read_outside, read_parameter, read_signature};
use crate::{Refusal, refuse};
use proc_macro2::{Ident, Span};
use syn::spanned::Spanned;
use syn::{FnArg, ItemFn, Pat, ReturnType, Type, TypeParam, TypeParamBound, WherePredicate};

/// A parameter of the function.
#[derive(Clone)]
pub struct Parameter {
    /// Its name in Rust.
    pub name: String,
    /// Whether it is declared `mut`.
    pub mutable: bool,
    /// Its type, as it is written; that of a `&mut T` without the `mut`.
    pub written: Type,
    /// Its type.
    pub ty: Ty,
    /// Whether it is a `&mut T`: what it is in the end is a result.
    pub changed: bool,
    /// Whether it is integers of 32 bits that are such in the text, too: that of an annotated function has `i64`.
    pub narrow: bool,
    /// Whether it is among those that derivatives are by, where these are named.
    pub wrt: Option<bool>,
    /// Where its name stands.
    pub span: Span,
}

/// What the function takes and gives.
#[derive(Clone)]
pub struct Signature {
    /// Parameters, in order.
    pub parameters: Vec<Parameter>,
    /// The result's type.
    pub result: Ty,
    /// The result's type as it is written.
    pub written: Option<Type>,
    /// The types that are its parameters, with what is said of them.
    pub types: Vec<TypeParam>,
    /// The lengths of structs that are its parameters: like for types, there is a text for each.
    pub own: Vec<Ident>,
    /// What else is said of them.
    pub bounds: Vec<syn::WherePredicate>,
    /// Constants and structs that stand in its types, and first the lengths that are its parameters.
    pub lengths: Vec<Hole>,
    /// What its text does where it gives an `Err`. The result is what is in an `Ok`.
    pub errors: Errors,
    /// In the text for rows of different lengths, the holes of such rows, each with the type of its elements.
    pub rows: Vec<(usize, Ty)>,
    /// The type beside the function that has that text, if there is one.
    pub uneven: Option<Ident>,
}

impl Parameter {
    /// Whether derivatives are by it.
    pub fn is_asked(&self) -> bool {
        self.ty.has_float() && self.wrt != Some(false)
    }
}

impl Signature {
    /// The same with derivatives by some of the parameters.
    ///
    /// # Errors
    /// A name that no parameter has, or one without floats; or no name.
    pub fn by(mut self, names: &[Ident]) -> Result<Signature, Refusal> {
        self.parameters.iter_mut().for_each(|p| p.wrt = Some(false));
        for name in names {
            let found = self.parameters.iter_mut().find(|p| name == p.name.as_str());
            match found {
                None => return refuse(name, "no parameter has this name"),
                Some(parameter) if !parameter.ty.has_float() => {
                    return refuse(name, "this parameter has no floats: no derivative is by it");
                }
                Some(parameter) => parameter.wrt = Some(true),
            }
        }
        match self.parameters.iter().any(|p| p.wrt == Some(true)) {
            true => Ok(self),
            false => Err(Refusal::new(None, "name a parameter: `wrt(x)`")),
        }
    }

    /// The numbers of the parameters that derivatives are by, where these are named: in the text, where an `Option` is two.
    pub(crate) fn named(&self) -> Option<Vec<usize>> {
        let two = |p: &Parameter| usize::from(matches!(p.ty, Ty::Option(_)));
        let mut at = 0;
        let mut asked = Vec::new();
        for p in &self.parameters {
            if p.wrt == Some(true) {
                asked.push(at + two(p));
            }
            at += 1 + two(p);
        }
        let asked = asked.into_iter();
        self.parameters.iter().any(|p| p.wrt.is_some()).then(|| asked.collect())
    }

    /// Whether it takes functions. Such a function has no derivatives of its own.
    pub fn takes_functions(&self) -> bool {
        self.parameters.iter().any(|p| matches!(p.ty, Ty::Function(..)))
    }

    /// Whether it says of a type parameter that it has a trait with this name.
    pub(crate) fn has_bound(&self, parameter: &Ident, name: &str) -> bool {
        let named = |bound: &TypeParamBound| match bound {
            TypeParamBound::Trait(of) => of.path.segments.last().is_some_and(|l| l.ident == name),
            _ => false,
        };
        let own = self.types.iter().find(|t| t.ident == *parameter);
        own.is_some_and(|own| own.bounds.iter().any(named))
            || self.bounds.iter().any(|said| match said {
                WherePredicate::Type(of) => {
                    matches!(&of.bounded_ty, Type::Path(path) if path.path.is_ident(parameter))
                        && of.bounds.iter().any(named)
                }
                _ => false,
            })
    }

    /// Whether there is a text for each choice of its types and of its structs' lengths.
    pub fn is_open(&self) -> bool {
        !self.types.is_empty() || !self.own.is_empty()
    }

    /// The lengths that are its parameters and of arrays alone, in order: the number of the hole, and the name.
    pub fn lengths(&self) -> impl Iterator<Item = (usize, &Ident)> {
        self.lengths.iter().enumerate().filter_map(|(k, hole)| match hole {
            Hole::Length(name) => Some((k, name)),
            _ => None,
        })
    }
}

/// Reads the signature of a function, or of a method of a type.
///
/// # Errors
/// What is not in the subset.
pub fn signature(function: &ItemFn, owner: Option<&Type>) -> Result<Signature, Refusal> {
    let sig = &function.sig;
    if let Some(token) = &sig.asyncness {
        return refuse(token, "an `async fn` is not differentiable: write a plain function");
    }
    if let Some(token) = &sig.unsafety {
        return refuse(token, "an `unsafe fn` is not differentiable: write a safe function");
    }
    let mut lengths = Vec::new();
    let (functions, mut types) = crate::parameters::parameters(&sig.generics, &mut lengths)?;
    let mut parameters = Vec::new();
    for input in &sig.inputs {
        let typed = match (input, owner) {
            (FnArg::Typed(typed), _) => typed,
            (FnArg::Receiver(receiver), Some(owner)) if receiver.colon_token.is_none() => {
                let shared: Type = match receiver.reference {
                    Some(_) => syn::parse_quote!(&#owner),
                    None => owner.clone(),
                };
                parameters.push(Parameter {
                    name: "self".to_string(),
                    mutable: receiver.reference.is_none() && receiver.mutability.is_some(),
                    ty: read_outside(&shared, &mut lengths)?,
                    written: shared,
                    changed: receiver.reference.is_some() && receiver.mutability.is_some(),
                    narrow: false,
                    wrt: None,
                    span: receiver.self_token.span,
                });
                continue;
            }
            (FnArg::Receiver(receiver), _) => {
                return refuse(
                    receiver,
                    "write the attribute before the `impl` block of this method",
                );
            }
        };
        let own = parameter_name(&typed.pat, parameters.len());
        let ident = match (&*typed.pat, &own) {
            (Pat::Ident(ident), _) => ident,
            (_, Some(own)) => own,
            _ => {
                return refuse(
                    &typed.pat,
                    "write a name here, and take the value apart in the body",
                );
            }
        };
        let mut written = (*typed.ty).clone();
        let changed = match &mut written {
            Type::Reference(reference) => reference.mutability.take().is_some(),
            _ => false,
        };
        let given = crate::parameters::function_type(&typed.ty, &functions, &mut lengths)?;
        let changed = changed && given.is_none();
        if given.is_none() {
            crate::parameters::named(&mut written, &mut types);
        }
        parameters.push(Parameter {
            name: ident.ident.to_string(),
            mutable: ident.mutability.is_some(),
            ty: match given {
                Some(ty) => ty,
                None => read_parameter(&written, &mut lengths)?,
            },
            written,
            changed,
            narrow: false,
            wrt: None,
            span: ident.ident.span(),
        });
        let ty = &parameters[parameters.len() - 1].ty;
        if let (true, Ty::Option(_)) = (changed, ty) {
            return refuse(
                &typed.ty,
                "an `Option` is not changed in place here: give the new one back",
            );
        }
        let mixed = match ty {
            Ty::Tuple(items) => items.iter().any(|t| !t.has_float() || has_sizes(t)),
            other => *other == Ty::Unit,
        };
        if mixed {
            return refuse(
                &typed.ty,
                "a tuple as a parameter is one of floats and arrays of fixed size: write its components",
            );
        }
    }
    let changes = parameters.iter().any(|p: &Parameter| p.changed);
    let (output, errors) = match &sig.output {
        ReturnType::Type(arrow, ty) => match crate::types::success(ty) {
            Some(Type::Tuple(none)) if none.elems.is_empty() => (ReturnType::Default, Errors::Fail),
            Some(inner) => (ReturnType::Type(*arrow, Box::new(inner.clone())), Errors::Fail),
            None => match crate::types::list_or_none(ty) {
                Some(list) => (ReturnType::Type(*arrow, Box::new(list.clone())), Errors::Missing),
                None => (sig.output.clone(), Errors::Absent),
            },
        },
        ReturnType::Default => (ReturnType::Default, Errors::Absent),
    };
    let (result, written) = match &output {
        ReturnType::Default if changes => (Ty::Unit, None),
        ReturnType::Default => {
            return refuse(
                &sig.ident,
                "the function gives nothing: a derivative is that of a result",
            );
        }
        ReturnType::Type(_, ty) => {
            let ty = match (&**ty, errors) {
                (Type::Reference(_), Errors::Fail | Errors::Missing) => {
                    return refuse(
                        ty,
                        "what is in a `Result` or an `Option` is a value of its own here: write `Vec<f64>` or `[f64; N]`",
                    );
                }
                _ => owned(ty)?,
            };
            let read = if errors == Errors::Absent { read_signature } else { read_outside };
            (read(&ty, &mut lengths)?, Some(ty))
        }
    };
    let inner = |t: &Ty| matches!(t, Ty::Tuple(_) | Ty::Unit);
    match (&result, &output) {
        (Ty::Unit, ReturnType::Type(..)) => {
            refuse(&sig.output, "the function gives nothing: a derivative is that of a result")
        }
        (Ty::Tuple(items), _) if items.iter().any(inner) => refuse(
            &sig.output,
            "a tuple with a tuple in it is not built as a result: write one tuple",
        ),
        _ => {
            let bounds = crate::parameters::bounds(&sig.generics, &types);
            let own = crate::parameters::lengths_of_structs(&mut lengths);
            let (rows, uneven) = (Vec::new(), None);
            let signature = Signature {
                parameters,
                result,
                written,
                types,
                own,
                bounds,
                lengths,
                errors,
                rows,
                uneven,
            };
            found(&signature)?;
            for (k, name) in signature.lengths() {
                let length = format!("$k{k}$");
                if !signature.parameters.iter().any(|p| p.ty.has_length(&length)) {
                    return refuse(
                        name,
                        "a length is that of a parameter: write one of type `[f64; N]`, or give the length as a `usize`",
                    );
                }
            }
            Ok(signature)
        }
    }
}

/// The type of a result as that of a value of its own: what it refers to, and of a slice a `Vec`.
///
/// # Errors
/// For a `&mut`.
pub(crate) fn owned(ty: &Type) -> Result<Type, Refusal> {
    let Type::Reference(reference) = ty else { return Ok(ty.clone()) };
    if reference.mutability.is_some() {
        return refuse(
            ty,
            "a place that is changed is no result here: give where it is, `-> usize`, or change it in this function",
        );
    }
    let mut inner = &*reference.elem;
    while let Type::Paren(syn::TypeParen { elem, .. }) | Type::Group(syn::TypeGroup { elem, .. }) =
        inner
    {
        inner = elem;
    }
    Ok(match inner {
        Type::Slice(slice) => {
            let element = &slice.elem;
            syn::parse_quote!(::std::vec::Vec<#element>)
        }
        other => other.clone(),
    })
}

/// The name of a parameter that is taken apart, `Point { x, y }: Point`, if its pattern is one that always fits.
fn parameter_name(pattern: &Pat, k: usize) -> Option<syn::PatIdent> {
    let apart = match pattern {
        Pat::Reference(inner) => parameter_name(&inner.pat, k).is_some(),
        Pat::Tuple(_) | Pat::TupleStruct(_) | Pat::Struct(_) | Pat::Slice(_) | Pat::Wild(_) => true,
        _ => false,
    };
    apart.then(|| syn::PatIdent {
        attrs: Vec::new(),
        by_ref: None,
        mutability: None,
        ident: Ident::new(&format!("parameter_{}", k + 1), pattern.span()),
        subpat: None,
    })
}

/// A function that takes its parameters apart in its body.
pub(crate) fn with_names(function: &ItemFn) -> Option<ItemFn> {
    let mut own = function.clone();
    let mut first: Vec<syn::Stmt> = Vec::new();
    for (k, input) in function.sig.inputs.iter().enumerate() {
        let FnArg::Typed(typed) = input else { continue };
        if let Some(name) = parameter_name(&typed.pat, k) {
            let pattern = &typed.pat;
            first.push(syn::parse_quote!(let #pattern = #name;));
        }
    }
    own.block.stmts.splice(..0, first.iter().cloned());
    (!first.is_empty()).then_some(own)
}

/// What a text does where its function gives an `Err`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Errors {
    /// The function gives no `Result`.
    #[default]
    Absent,
    /// It fails.
    Fail,
    /// It gives a `None`.
    Given,
    /// The function gives an `Option` of a list: it fails where that is `None`.
    Missing,
}

/// Whether the arguments of a call say what each type parameter is, and each length of a struct.
fn found(signature: &Signature) -> Result<(), Refusal> {
    for name in names(signature) {
        let named = |ty: &Ty| crate::parameters::open_in(ty, &[name], &signature.lengths).is_some();
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
pub(crate) fn names(signature: &Signature) -> impl Iterator<Item = &Ident> {
    signature.types.iter().map(|t| &t.ident).chain(&signature.own)
}

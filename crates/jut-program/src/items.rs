//! What is written for a program: the program itself, a struct for each record that its functions take or give, and
//! for each definition a type that has its derivatives.

use crate::check::Program;
use crate::types::{Written, all_floats, has_float, name, record, written};
use jut_ir::entity::DataId;
use jut_ir::{Function, Type};
use jut_rust::types::Ty;
use jut_rust::{Given, Parameter, Signature, methods};
use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote};
use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash, Hasher};

/// All items.
pub(crate) fn all(program: &Program) -> TokenStream {
    let mut hash = DefaultHasher::new();
    (&program.text, &program.files).hash(&mut hash);
    // A name that no other program of the same module has.
    let program_name = format_ident!("JUT_PROGRAM_{:016X}", hash.finish());
    let texts = match &program.text {
        // Places are those of the Rust file.
        Some(text) => quote!((::core::file!(), #text)),
        None => {
            let each = program.files.iter().map(|(name, path)| {
                let path = path.canonicalize().unwrap_or_else(|_| path.clone());
                let path = path.display().to_string();
                quote!((#name, ::core::include_str!(#path)))
            });
            quote!(#(#each),*)
        }
    };
    let mut records = BTreeSet::new();
    let functions: TokenStream = program
        .ir
        .funcs
        .values()
        .filter(|f| f.span.file == 0 && !f.derived && !f.name.contains('.'))
        .map(|f| function(program, f, &program_name, &mut records))
        .collect();
    let structs: TokenStream =
        records.iter().map(|id| structure(program, DataId::from_u32(*id))).collect();
    quote! {
        #[doc(hidden)]
        static #program_name: ::jut::rust::Program = ::jut::rust::Program::new(&[#texts]);
        #structs
        #functions
    }
}

/// A struct that derives `jut::Data`.
fn structure(program: &Program, id: DataId) -> TokenStream {
    let data = &program.ir.datas[id];
    let own = name(&data.name);
    let about = match data.doc.as_str() {
        "" => format!("The record `{}`.", data.name),
        text => text.to_string(),
    };
    let fields: Vec<TokenStream> = data
        .constructors
        .iter()
        .flat_map(|c| &c.fields)
        .filter_map(|f| {
            let (field, ty) = (name(&f.name), written(&program.ir, &f.ty)?.owned);
            let about = format!("The field `{}`.", f.name);
            // In the text they have 32 bits, too.
            let narrow = (innermost(&f.ty) == &Type::I32).then(|| quote!(#[data(narrow)]));
            Some(quote!(#[doc = #about] #narrow pub #field: #ty))
        })
        .collect();
    let twin = (has_float(&program.ir, &Type::Data(id))
        && !all_floats(&program.ir, &Type::Data(id)))
    .then(|| quote!(#[data(twin)]));
    quote! {
        #[doc = #about]
        #[derive(::jut::Data, Clone, Debug, PartialEq)]
        #twin
        #[allow(non_camel_case_types, dead_code)]
        pub struct #own { #(#fields),* }
    }
}

/// Why a definition has no typed functions.
type Untyped = String;

fn function(
    program: &Program,
    f: &Function,
    program_name: &proc_macro2::Ident,
    records: &mut BTreeSet<u32>,
) -> TokenStream {
    let (own, plain) = (name(&f.name), &f.name);
    let (about, functions) = match typed(program, f, records) {
        Ok(functions) => (String::new(), functions),
        Err(why) => (
            format!("\n\nIt has no typed functions: {why}. `function` gives all that there is."),
            quote! {
                /// The function, of which everything can be asked for.
                ///
                /// # Errors
                /// None, unless the program was made by another version of jut.
                pub fn function() -> ::jut::Result<::jut::Function> {
                    ::jut::rust::function::<Self>()
                }
            },
        ),
    };
    let doc = match f.doc.as_str() {
        "" => format!("Derivatives of `{plain}`.{about}"),
        text => format!("{text}\n\nDerivatives of `{plain}`.{about}"),
    };
    quote! {
        #[doc = #doc]
        #[allow(non_camel_case_types, dead_code)]
        pub struct #own {}

        #[automatically_derived]
        impl ::jut::rust::Source for #own {
            const NAME: &'static str = #plain;
            const RESULT: ::jut::rust::Type = ::jut::rust::Type::Unit;
            fn define(_: &mut ::jut::rust::Linker) {}
            fn linked() -> &'static ::jut::rust::Cell {
                static LINKED: ::jut::rust::Cell = ::jut::rust::Cell::new();
                &LINKED
            }
            fn program() -> ::core::option::Option<&'static ::jut::rust::Program> {
                ::core::option::Option::Some(&#program_name)
            }
        }

        #[allow(dead_code, private_interfaces, clippy::all)]
        #[automatically_derived]
        impl #own { #functions }
    }
}

/// The functions that call the derivatives.
fn typed(
    program: &Program,
    f: &Function,
    records: &mut BTreeSet<u32>,
) -> Result<TokenStream, Untyped> {
    let ir = &program.ir;
    if !f.lin_params.is_empty() || !f.cap_params.is_empty() || !f.lin_results.is_empty() {
        return Err("it has linear parameters or results, or accumulators".to_string());
    }
    let mut parameters = Vec::new();
    let mut used = Vec::new();
    for var in f.params.iter().skip(f.size_params) {
        let data = &f.nvars[*var];
        let refused = || format!("the parameter `{}` has a type that Rust has not", data.name);
        let Written { borrowed, ty, .. } = written(ir, &data.ty).ok_or_else(refused)?;
        if matches!(data.ty, Type::Tuple(_)) && !all_floats(ir, &data.ty) {
            return Err(format!("the parameter `{}` is a tuple with integers", data.name));
        }
        used.push(&data.ty);
        parameters.push(Parameter {
            name: plain_name(&data.name),
            mutable: false,
            written: parsed(borrowed)?,
            ty,
            changed: false,
            narrow: innermost(&data.ty) == &Type::I32,
            wrt: None,
            span: Span::call_site(),
        });
    }
    let mut results = Vec::new();
    for (k, result) in f.results.iter().enumerate() {
        let refused = || format!("result {k} has a type that Rust has not");
        let Written { owned, ty, .. } = written(ir, &result.ty).ok_or_else(refused)?;
        used.push(&result.ty);
        results.push((parsed(owned)?, ty));
    }
    if results.is_empty() {
        return Err("it gives nothing".to_string());
    }
    used.iter().for_each(|ty| mentioned(program, ty, records));
    let result = match &results[..] {
        [(_, ty)] => ty.clone(),
        _ => Ty::Unit,
    };
    let given: Vec<Given> = results.iter().map(|(written, ty)| Given { written, ty }).collect();
    let signature = Signature {
        parameters,
        result,
        written: None,
        types: Vec::new(),
        own: Vec::new(),
        bounds: Vec::new(),
        lengths: Vec::new(),
        errors: jut_rust::Errors::Absent,
        rows: Vec::new(),
        uneven: None,
    };
    Ok(methods(&signature, &given))
}

/// What the elements of an array are, and their elements; else the type itself.
fn innermost(ty: &Type) -> &Type {
    match ty {
        Type::Array(_, element) => innermost(element),
        other => other,
    }
}

/// The records of a type, and those that they have.
fn mentioned(program: &Program, ty: &Type, records: &mut BTreeSet<u32>) {
    match ty {
        Type::Array(_, element) => mentioned(program, element, records),
        Type::Tuple(items) => items.iter().for_each(|t| mentioned(program, t, records)),
        Type::Data(id) => {
            if record(&program.ir, *id).is_none() || !records.insert(id.as_u32()) {
                return;
            }
            for field in program.ir.datas[*id].constructors.iter().flat_map(|c| &c.fields) {
                mentioned(program, &field.ty, records);
            }
        }
        _ => {}
    }
}

fn plain_name(of: &str) -> String {
    name(of).to_string()
}

fn parsed(tokens: TokenStream) -> Result<syn::Type, Untyped> {
    syn::parse2(tokens).map_err(|e| e.to_string())
}

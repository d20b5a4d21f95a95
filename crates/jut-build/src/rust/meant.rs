//! The types that the attribute leaves to rustc as expressions, as far as a file tells.
//!
//! ```text
//! ::jut::rust::given::<weight, _, _>(..)        what the function `weight` gives
//! ::jut::rust::field::<KEY, _, _>(of::<Ball>()) the type of a field of `Ball`
//! ```

use super::known::Names;
use super::types::{data_type, type_of};
use jut::rust::Type;
use jut_rust::file::Function;
use jut_rust::template::Hole;
use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::{Expr, ExprCall, GenericArgument, Lit, PathArguments};

/// The type that an expression stands for; none if the file does not tell.
pub(super) fn meant(names: &Names<'_>, expression: &TokenStream) -> Option<Type> {
    of(names, &syn::parse2(expression.clone()).ok()?)
}

/// The name of the type whose method is looked up.
pub(super) fn owner(expression: &TokenStream) -> Option<String> {
    let parsed = syn::parse2(expression.clone()).ok()?;
    match &parsed {
        Expr::Call(call) if called(call)?.0 == "looked_up" => named(call.args.first()?),
        other => named(other),
    }
}

/// The name of a function that is called, and the first argument in angle brackets.
fn called(call: &ExprCall) -> Option<(String, Option<&GenericArgument>)> {
    let Expr::Path(callee) = &*call.func else { return None };
    let last = callee.path.segments.last()?;
    let generic = match &last.arguments {
        PathArguments::AngleBracketed(all) => all.args.first(),
        _ => None,
    };
    Some((last.ident.to_string(), generic))
}

/// The name of a type that stands for itself: `of::<T>()`, or what asks rustc whether it is known, `{ use ..; (&asked::<T>()).of() }`.
fn named(expression: &Expr) -> Option<String> {
    match expression {
        Expr::Block(block) => match block.block.stmts.last()? {
            syn::Stmt::Expr(last, None) => named(last),
            _ => None,
        },
        Expr::MethodCall(call) if call.method == "of" => named(&call.receiver),
        Expr::Paren(inner) => named(&inner.expr),
        Expr::Reference(inner) => named(&inner.expr),
        Expr::Call(call) => match called(call)? {
            (name, Some(generic)) if name == "of" || name == "asked" => Some(word(Some(generic))),
            _ => None,
        },
        _ => None,
    }
}

fn of(names: &Names<'_>, expression: &Expr) -> Option<Type> {
    if let Some(name) = named(expression) {
        return written(names, &name);
    }
    let call = match expression {
        Expr::Path(path) => {
            let name = path.path.get_ident()?.to_string();
            let hole: usize = name.strip_prefix("__jut_type_")?.parse().ok()?;
            return names.types.borrow().get(hole).copied();
        }
        Expr::Call(call) => call,
        _ => return None,
    };
    let (function, generic) = called(call)?;
    let first = call.args.first();
    match function.as_str() {
        "of_value" => {
            let Expr::Reference(value) = first? else { return None };
            match &*value.expr {
                Expr::Lit(literal) => matches!(literal.lit, Lit::Float(_)).then_some(Type::F64),
                Expr::Paren(inner) => {
                    names.constant_type(&inner.expr.to_token_stream().to_string())
                }
                _ => None,
            }
        }
        "given" => names.result_of(|f| f.name == word(generic)),
        "result" => {
            let key = number(generic)?;
            let owner = owner(&first?.to_token_stream())?;
            let is = |f: &Function| f.key == key && f.name.split('_').next() == Some(&*owner);
            names.result_of(is)
        }
        "list" => Some(Type::Vec(Box::leak(Box::new(of(names, first?)?)))),
        "element" => match of(names, first?)? {
            Type::Vec(element) | Type::Array(element) | Type::Fixed(element, _) => Some(*element),
            _ => None,
        },
        "field" => {
            let key: u64 =
                generic?.to_token_stream().to_string().trim_end_matches("u64").parse().ok()?;
            let Type::Record(fields) = of(names, first?)? else { return None };
            fields.iter().find(|(name, _)| jut_rust::key(name) == key).map(|(_, ty)| *ty)
        }
        _ => None,
    }
}

/// The function that a first argument in angle brackets names.
fn word(generic: Option<&GenericArgument>) -> String {
    generic.map(|of| of.to_token_stream().to_string().replace(' ', "")).unwrap_or_default()
}

/// The number of a name that a first argument in angle brackets is.
fn number(generic: Option<&GenericArgument>) -> Option<u64> {
    word(generic).trim_end_matches("u64").parse().ok()
}

/// A type by its name: a number's, or that of a struct of the file.
fn written(names: &Names<'_>, name: &str) -> Option<Type> {
    match name {
        "f64" => Some(Type::F64),
        "f32" => Some(Type::F32),
        "i64" => Some(Type::I64),
        "usize" => Some(Type::Usize),
        "bool" => Some(Type::Bool),
        _ => {
            let shapes = names.file.data.iter().filter(|shape| shape.name == name).count();
            let path: TokenStream = name.parse().ok()?;
            (shapes == 1).then(|| data_type(names.file, Hole::Data(path)))
        }
    }
}

impl Names<'_> {
    /// What the one function gives that is meant.
    fn result_of(&self, is: impl Fn(&Function) -> bool) -> Option<Type> {
        let mut all = self.file.functions.iter().filter(|f| is(f));
        let (Some(function), None) = (all.next(), all.next()) else { return None };
        let (signature, _) = function.lowered.as_ref().ok()?;
        let plain = signature.errors == jut_rust::Errors::Absent && !signature.is_open();
        plain.then(|| type_of(self.file, &signature.result, &signature.lengths, 0))
    }

    /// The type of the one constant with a name.
    fn constant_type(&self, name: &str) -> Option<Type> {
        let mut all = self.file.constants.iter().filter(|(n, ..)| n == name);
        let (Some((_, ty, _)), None) = (all.next(), all.next()) else { return None };
        Some(type_of(self.file, ty, &[], 0))
    }
}

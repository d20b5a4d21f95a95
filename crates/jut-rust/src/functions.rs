//! Functions as values: parameters such as `impl Fn(f64) -> f64`, and closures.
//!
//! A closure that has a name is written out where it is called: what it captures cannot change meanwhile but by itself. One
//! that is an argument becomes a function without a name of the text, which the called definition is written out with.

use crate::elements::Item;
use crate::expression::{Value, unwrapped};
use crate::function::{Local, Lowering, indented};
use crate::signature::has_sizes;
use crate::template::Hole;
use crate::types::{Step, Ty, read_outside};
use crate::{Refusal, refuse};
use quote::ToTokens;
use std::collections::HashMap;
use std::rc::Rc;
use syn::visit::Visit;
use syn::{Expr, ExprClosure, Type, TypeParam, TypeParamBound};

/// A closure, and what is in scope where it is written.
pub(crate) struct Closure {
    pub expr: ExprClosure,
    pub scopes: Vec<HashMap<String, Local>>,
}

/// The type parameters of a function: those that are functions, `F: Fn(f64) -> f64`, and the others. Lengths, `const N: usize`,
/// become holes.
pub(crate) fn parameters(
    generics: &syn::Generics,
    holes: &mut Vec<Hole>,
) -> Result<(HashMap<String, Ty>, Vec<TypeParam>), Refusal> {
    let (mut found, mut types) = (HashMap::new(), Vec::new());
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
    for parameter in generics.const_params() {
        if !matches!(&parameter.ty, Type::Path(p) if p.path.is_ident("usize")) {
            return refuse(
                &parameter.ty,
                "a parameter of the type is a length: write `const N: usize`",
            );
        }
        holes.push(Hole::Length(parameter.ident.clone()));
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
    let mut each = |ty: &Type| {
        let found = read_outside(ty, holes)?;
        match has_sizes(&found) {
            true => refuse(
                ty,
                "a function that is given takes and gives values of fixed sizes: write `[f64; N]`",
            ),
            false => Ok(found),
        }
    };
    let inputs: Result<Vec<Ty>, Refusal> = inputs.map(&mut each).collect();
    match output {
        syn::ReturnType::Type(_, ty) => Ok(Ty::Function(inputs?, Box::new(each(ty)?))),
        syn::ReturnType::Default => {
            refuse(output, "a function that is given gives a value: write `-> f64`")
        }
    }
}

impl Lowering<'_> {
    /// `let g = |x| ..;`
    pub fn closure_binding(&mut self, name: &syn::Ident, closure: &ExprClosure) {
        let mut scopes = self.scopes.clone();
        if closure.capture.is_some() {
            // What is moved in is the closure's own from here on.
            let mut own = HashMap::new();
            for word in words(&closure.body) {
                let Some(local) = self.lookup(&word).cloned() else { continue };
                if local.mutable && local.closure.is_none() {
                    let name = self.names.unique(&word);
                    self.lines.push(format!("var {name} = {}", local.name));
                    own.insert(word, Local { name, depth: self.depth, ..local });
                }
            }
            scopes.push(own);
        }
        let closure = Closure { expr: closure.clone(), scopes };
        let ty = Ty::Function(Vec::new(), Box::new(Ty::Unit));
        let local = Local { closure: Some(Rc::new(closure)), ..Local::value(String::new(), ty) };
        self.declare(&name.to_string(), local);
    }

    /// A call of what a name means in this function: a closure, or a parameter that is a function.
    pub fn local_call(&mut self, local: &Local, call: &syn::ExprCall) -> Result<Value, Refusal> {
        let arguments: Vec<&Expr> = call.args.iter().collect();
        if let Some(closure) = local.closure.clone() {
            let values = self.sequence(&arguments)?;
            let items = values.into_iter().map(|v| Item::One(self.named(v, "argument"))).collect();
            let scopes = std::mem::replace(&mut self.scopes, closure.scopes.clone());
            let value = self.applied(&Expr::Closure(closure.expr.clone()), items);
            self.scopes = scopes;
            return value;
        }
        let Ty::Function(types, result) = self.resolve(&local.ty) else {
            return refuse(&call.func, "this is no function");
        };
        let values = self.sequence(&arguments)?;
        let texts: Vec<String> =
            values.iter().zip(&types).map(|(v, t)| self.convert(v.clone(), t).text).collect();
        let text = format!("{}({})", local.name, texts.join(", "));
        let name = self.names.unique("value");
        self.lines.push(format!("{name} = {text}"));
        let least = if *result == Ty::Usize { 0 } else { i64::MIN };
        Ok(Value::name(name, *result, least))
    }

    /// An argument that is a function: a closure, or a function by its name. `hole` is what is called, and `k` the number of
    /// the argument.
    pub fn function_argument(
        &mut self,
        argument: &Expr,
        hole: usize,
        k: usize,
    ) -> Result<Option<Value>, Refusal> {
        let text = match unwrapped(argument) {
            Expr::Reference(reference) => return self.function_argument(&reference.expr, hole, k),
            Expr::Closure(closure) => self.nameless(closure, hole, k)?,
            Expr::Path(path) => {
                let local =
                    path.path.get_ident().and_then(|i| self.lookup(&i.to_string())).cloned();
                match local {
                    Some(Local { closure: Some(closure), .. }) => {
                        let scopes = std::mem::replace(&mut self.scopes, closure.scopes.clone());
                        let text = self.nameless(&closure.expr, hole, k);
                        self.scopes = scopes;
                        text?
                    }
                    Some(local) if matches!(local.ty, Ty::Function(..)) => local.name,
                    Some(_) => return Ok(None),
                    None => {
                        let last = path.path.segments.last().map(|s| s.ident.to_string());
                        match last.is_some_and(|l| l.chars().all(|c| !c.is_uppercase())) {
                            true => {
                                format!("$c{}$", self.hole(Hole::Function(path.to_token_stream())))
                            }
                            false => return Ok(None),
                        }
                    }
                }
            }
            _ => return Ok(None),
        };
        let ty = Ty::Function(Vec::new(), Box::new(Ty::Unit));
        Ok(Some(Value::name(text, ty, i64::MIN)))
    }

    /// A function without a name.
    fn nameless(
        &mut self,
        closure: &ExprClosure,
        hole: usize,
        k: usize,
    ) -> Result<String, Refusal> {
        let names: Vec<String> =
            closure.inputs.iter().map(|_| self.names.unique("argument")).collect();
        let changed = std::mem::replace(&mut self.changed, usize::MAX);
        let done = self.nested(|this| {
            let items = names
                .iter()
                .enumerate()
                .map(|(j, name)| {
                    let ty = Ty::Of(hole, vec![Step::Argument(k, j)]);
                    Item::One(Value::name(name.clone(), ty, i64::MIN))
                })
                .collect();
            this.applied(&Expr::Closure(closure.clone()), items)
        });
        let own = std::mem::replace(&mut self.changed, changed);
        let (block, value) = done?;
        if own <= self.depth {
            return refuse(
                &closure.or1_token,
                "a closure that is given to a function assigns no variables of outside: let it give the value back",
            );
        }
        let mut lines = block.lines;
        lines.push(value.text);
        Ok(format!("fn ({}) -> {{\n{}\n}}", names.join(", "), indented(&lines)))
    }
}

/// The words in an expression that may be names.
pub(crate) fn words(expr: &Expr) -> Vec<String> {
    struct Words(Vec<String>);
    impl Visit<'_> for Words {
        fn visit_path(&mut self, path: &syn::Path) {
            if let Some(ident) = path.get_ident() {
                let name = ident.to_string();
                if !self.0.contains(&name) {
                    self.0.push(name);
                }
            }
        }
    }
    let mut found = Words(Vec::new());
    found.visit_expr(expr);
    found.0
}

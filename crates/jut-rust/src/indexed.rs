//! Elements of own types: `m[(i, j)]` by `impl Index<(usize, usize)> for Matrix` and `impl IndexMut` with the attribute.
//!
//! `index` is a function that gives the element. `index_mut` is one that takes the new element as a last parameter, and puts it where the
//! method's value refers to:
//!
//! ```text
//! fn index_mut(&mut self, (i, j): (usize, usize)) -> &mut f64 {        fn index_mut(&mut self, i: usize, j: usize, new: f64) {
//!     &mut self.data[i * self.columns + j]                                 self.data[i * self.columns + j] = new;
//! }                                                                    }
//! m[(i, j)] += x;                                                      var cell = index(m, i, j); cell += x; m = index_mut(m, i, j, cell)
//! ```
//!
//! Whether a type has such an `impl` or is another name of an array, rustc knows: the text has both forms, as that of an operator does
//! ([`crate::overloaded`]).
//!
//! Requires: what `index_mut` gives is `&mut` of a place, at each of its ends; the elements of the type that is indexed have no `Vec`.
//! Cost: of arrays, none; of own types, that of the calls.

use crate::lowering::Lowering;
use crate::syntax::unwrapped;
use crate::template::{Hole, What};
use crate::types::{Step, Ty};
use crate::value::Value;
use crate::{Refusal, refuse};
use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::spanned::Spanned;
use syn::{Expr, ExprIndex, FnArg, ItemFn, Pat, Stmt, Type};

/// Types that are those of other libraries by their names: of these nobody has to ask.
const LIBRARIES: &[&str] =
    &["Array", "DVector", "DMatrix", "SVector", "SMatrix", "Vector", "Matrix"];

/// Whether a method is one of `Index` or `IndexMut`, by its name.
pub(crate) fn is_method(function: &ItemFn) -> bool {
    function.sig.ident == "index" || function.sig.ident == "index_mut"
}

/// The method of an `impl Index` or `IndexMut` as a function with the parts of its index as parameters, and with the new element.
///
/// # Errors
/// If an end of `index_mut` is no `&mut` of a place.
pub(crate) fn function(method: &ItemFn, owner: &Type, right: &Type) -> Result<ItemFn, Refusal> {
    let mut own = method.clone();
    let mut first: Vec<Stmt> = Vec::new();
    if let Some(FnArg::Typed(typed)) = method.sig.inputs.iter().nth(1)
        && let Some(types) = parts_of(&typed.ty)
    {
        let names: Vec<syn::Ident> =
            (0..types.len()).map(|k| format_ident!("__jut_at_{k}")).collect();
        let pattern = &typed.pat;
        first.push(match &*typed.ty {
            Type::Array(_) => syn::parse_quote!(let #pattern = [#(#names),*];),
            _ => syn::parse_quote!(let #pattern = (#(#names),*);),
        });
        own.sig.inputs = own.sig.inputs.into_iter().take(1).collect();
        own.sig.inputs.extend(
            names.iter().zip(types).map(|(name, ty)| -> FnArg { syn::parse_quote!(#name: #ty) }),
        );
        // Parts that have names are parameters of these names.
        let parts = match &*typed.pat {
            Pat::Tuple(parts) => Some(&parts.elems),
            Pat::Slice(parts) => Some(&parts.elems),
            _ => None,
        };
        if let Some(parts) = parts.filter(|p| p.iter().all(|part| matches!(part, Pat::Ident(_)))) {
            first.clear();
            for (input, part) in own.sig.inputs.iter_mut().skip(1).zip(parts) {
                if let FnArg::Typed(input) = input {
                    *input.pat = part.clone();
                }
            }
        }
    }
    if own.sig.ident == "index_mut" {
        let syn::ReturnType::Type(_, given) = &own.sig.output else {
            return refuse(&own.sig.ident, "this gives a `&mut` of an element");
        };
        let element: Type = match &**given {
            Type::Reference(reference) => match &*reference.elem {
                Type::Path(path)
                    if path.path.segments.last().is_some_and(|s| s.ident == "Output") =>
                {
                    syn::parse_quote!(<#owner as ::core::ops::Index<#right>>::Output)
                }
                written => written.clone(),
            },
            other => return refuse(other, "this gives a `&mut` of an element"),
        };
        own.sig.inputs.push(syn::parse_quote!(__jut_new: #element));
        own.sig.output = syn::ReturnType::Default;
        let block = &own.block;
        let mut body = Expr::Block(syn::parse_quote!(#block));
        crate::generated::each_end(&mut body, &mut |end| match unwrapped(end) {
            Expr::Reference(reference) if reference.mutability.is_some() => {
                let place = &reference.expr;
                *end = syn::parse_quote!(#place = __jut_new);
                Ok(())
            }
            Expr::Macro(call) if crate::syntax::panics(&call.mac) => Ok(()),
            other => refuse(
                other,
                "write `&mut` of a field or of an element of one here: `&mut self.data[k]`",
            ),
        })?;
        if let Expr::Block(block) = body {
            *own.block = block.block;
        }
    }
    own.block.stmts.splice(..0, first);
    Ok(own)
}

/// The types of the parts of an index: of a tuple, or of an array, `[usize; 2]`.
fn parts_of(ty: &Type) -> Option<Vec<&Type>> {
    match ty {
        Type::Tuple(types) => Some(types.elems.iter().collect()),
        Type::Array(array) => match &array.len {
            Expr::Lit(syn::ExprLit { lit: syn::Lit::Int(n), .. }) => {
                Some(vec![&*array.elem; n.base10_parse().ok()?])
            }
            _ => None,
        },
        _ => None,
    }
}

/// The parts of an index that has several.
fn several(index: &Expr) -> Option<Vec<&Expr>> {
    match unwrapped(index) {
        Expr::Tuple(tuple) => Some(tuple.elems.iter().collect()),
        Expr::Array(array) => Some(array.elems.iter().collect()),
        _ => None,
    }
}

/// What is asked of rustc about an index, and what it is.
pub(crate) struct Asked {
    /// The hole of the function that gives the element.
    pub hole: usize,
    /// The hole of the one that assigns it.
    pub assigns: Option<usize>,
    /// The texts of the parts of the index.
    pub at: String,
}

impl Lowering<'_> {
    /// Whether what is indexed may be of an own type.
    fn may_be_indexed(&self, ty: &Ty, index: &Expr) -> bool {
        let Ty::Of(hole, steps) = self.resolve(ty) else { return false };
        let array = match self.parts.holes.get(hole) {
            Some(Hole::Data(path)) => {
                let path = path.to_string();
                let (name, own) = match path.split_once('<') {
                    Some((name, _)) => (name, false),
                    // Those of libraries name what their elements are.
                    None => (path.as_str(), true),
                };
                let name = name.rsplit("::").next().unwrap_or_default().trim();
                let base = name.trim_end_matches(|c: char| c.is_ascii_digit());
                !own && (LIBRARIES.contains(&base) || name.starts_with("ArrayView"))
            }
            // No array is what an operator gives.
            Some(Hole::Method(..) | Hole::Operator(..)) => false,
            // Of what a function gives, elements by one number are those of a list.
            Some(_) => several(index).is_none(),
            None => true,
        };
        // Only what is no array has an index of several parts.
        let field =
            several(index).is_some() && steps.iter().all(|step| matches!(step, Step::Field(_)));
        (steps.is_empty() || field) && !array && self.may_be_struct(ty)
    }

    /// Asks rustc for the functions of an index; nothing where it is that of an array for certain.
    pub fn asked_index(
        &mut self,
        base: &Ty,
        index: &Expr,
        assigns: bool,
    ) -> Result<Option<Asked>, Refusal> {
        if matches!(unwrapped(index), Expr::Range(_)) || !self.may_be_indexed(base, index) {
            return Ok(None);
        }
        let Some(left) = self.type_by(base, true) else { return Ok(None) };
        let parts = several(index).unwrap_or_else(|| vec![index]);
        let mut array = matches!(unwrapped(index), Expr::Array(_));
        let (mut at, mut types) = (Vec::new(), Vec::new());
        let mut values = self.operands(&parts)?;
        // An index with parts that has a name.
        if let [whole] = &values[..] {
            let (whole, ty) = (whole.clone(), self.resolve(&whole.ty));
            let count = match &ty {
                Ty::Array(_, crate::types::Extent::Fixed(n)) => n.parse().unwrap_or(0),
                Ty::Tuple(items) => items.len(),
                _ => 0,
            };
            if count > 0 {
                array = matches!(ty, Ty::Array(..));
                let whole = self.named(whole, "at");
                let part = |k: usize| match &ty {
                    Ty::Array(element, _) => (format!("{}[{k}]", whole.text), (**element).clone()),
                    Ty::Tuple(items) => (format!("{}.{k}", whole.text), items[k].clone()),
                    other => (whole.text.clone(), other.clone()),
                };
                values = (0..count).map(part).map(|(text, ty)| Value::name(text, ty, 0)).collect();
            }
        }
        let one = values.len() == 1;
        for value in values {
            let own = match self.resolve(&value.ty) {
                Ty::I64 => quote!(::jut::rust::of::<i64>()),
                Ty::Narrow(of) => {
                    let name = format_ident!("{}", of.name());
                    quote!(::jut::rust::of::<#name>())
                }
                Ty::U64 => quote!(::jut::rust::of::<u64>()),
                of @ Ty::Of(..) if one && self.may_be_struct(&of) => {
                    match self.type_by(&of, true) {
                        Some(ty) => ty,
                        None => return Ok(None),
                    }
                }
                _ => quote!(::jut::rust::of::<usize>()),
            };
            let value = match own.to_string().contains("usize") {
                true => self.convert(value, &Ty::Usize),
                false => value,
            };
            at.push(match crate::value::literal(&value) {
                Some(_) => value.text,
                None => self.named(value, "at").text,
            });
            types.push(own);
        }
        let right = match &types[..] {
            all if array => {
                let n = all.len();
                quote!(::jut::rust::of::<[usize; #n]>())
            }
            [one] => one.clone(),
            // Only whole numbers count the parts of a tuple.
            several => {
                let numbers = several.iter().map(|_| quote!(usize));
                quote!(::jut::rust::of::<(#(#numbers),*)>())
            }
        };
        let hole = self.index_hole("index", &left, &right, index);
        let assigns = assigns.then(|| self.index_hole("index_mut", &left, &right, index));
        let at = at.join(", ");
        Ok(Some(Asked { hole, assigns, at }))
    }

    fn index_hole(
        &mut self,
        method: &str,
        left: &TokenStream,
        right: &TokenStream,
        at: &Expr,
    ) -> usize {
        let like = |tokens: &TokenStream| -> TokenStream {
            let each = tokens.clone().into_iter().map(|mut token| {
                token.set_span(token.span().located_at(at.span()));
                token
            });
            each.collect()
        };
        self.operator_hole(method, like(left), like(right), at.span())
    }

    /// An element of what may be of an own type; nothing where it is one of an array for certain.
    pub fn own_element(
        &mut self,
        base: &Value,
        index: &ExprIndex,
    ) -> Result<Option<Value>, Refusal> {
        if !self.may_be_indexed(&base.ty, &index.index) {
            return Ok(None);
        }
        let base = self.named(base.clone(), "whole");
        let Some(Asked { hole, at, .. }) = self.asked_index(&base.ty, &index.index, false)? else {
            return Ok(None);
        };
        let element = self.at(index.span(), What::Same, &format!("{}[{at}]", base.text));
        let call = format!("$c{hole}$({}, {at})", base.text);
        Ok(Some(self.one_form(hole, call, element, index.span())))
    }

    /// The same of rows, `m[i][j]`, of what may be another name of a matrix.
    pub fn own_row_element(&mut self, index: &ExprIndex) -> Result<Option<Value>, Refusal> {
        let Expr::Index(row) = unwrapped(&index.expr) else { return Ok(None) };
        let Expr::Path(path) = unwrapped(&row.expr) else { return Ok(None) };
        let known = path.path.get_ident().and_then(|name| self.lookup(&name.to_string()));
        let Some(local) = known.filter(|local| local.closure.is_none() && local.stack.is_none())
        else {
            return Ok(None);
        };
        let (name, ty) = (local.name.clone(), local.ty.clone());
        if matches!(unwrapped(&index.index), Expr::Range(_))
            || !self.may_be_indexed(&ty, &row.index)
        {
            return Ok(None);
        }
        let Some(Asked { hole, at, .. }) = self.asked_index(&ty, &row.index, false)? else {
            return Ok(None);
        };
        let column = self.operand(&index.index)?;
        let column = self.convert(column, &Ty::Usize);
        let column = self.named(column, "at").text;
        let number = self.at(index.span(), What::Same, &format!("{name}[{at}, {column}]"));
        let own = self.at(index.span(), What::Same, &format!("$c{hole}$({name}, {at})[{column}]"));
        let text = format!("$if operator {hole}${own}$end$$if number {hole}${number}$end$");
        let ty = Ty::Of(hole, vec![Step::Element]);
        let value = Value { stable: false, ..Value::new(text, ty, 9, &[]).costly() };
        Ok(Some(self.named(value, "element")))
    }

    /// The place of an element that is assigned: of an own type it is a variable, which is put back by [`Lowering::put_back_cells`].
    pub fn own_place(&mut self, base: &Value, index: &ExprIndex) -> Result<Option<Value>, Refusal> {
        if self.expected.cells.is_none()
            || !matches!(unwrapped(&index.expr), Expr::Path(_) | Expr::Unary(_) | Expr::Field(_))
        {
            return Ok(None);
        }
        let Some(Asked { hole, assigns: Some(assigns), at }) =
            self.asked_index(&base.ty, &index.index, true)?
        else {
            return Ok(None);
        };
        let (cell, whole) = (self.names.unique("cell"), &base.text);
        let call = self.at(index.span(), What::Same, &format!("$c{hole}$({whole}, {at})"));
        self.lines.push(format!("$if operator {hole}$var {cell} = {call}$end$"));
        let back = self.at(
            index.span(),
            What::Same,
            &format!("{whole} = $c{assigns}$({whole}, {at}, {cell})"),
        );
        if let Some(cells) = &mut self.expected.cells {
            cells.push(format!("$if operator {assigns}${back}$end$"));
        }
        let text = format!("$if operator {hole}${cell}$end$$if number {hole}${whole}[{at}]$end$");
        Ok(Some(Value { text, ty: Ty::Of(hole, Vec::new()), level: 1, ..base.clone() }))
    }

    /// Runs what assigns a place, and puts elements of own types back behind it.
    pub fn put_back_cells(
        &mut self,
        assigns: impl FnOnce(&mut Self) -> Result<(), Refusal>,
    ) -> Result<(), Refusal> {
        let before = self.expected.cells.replace(Vec::new());
        let done = assigns(self);
        let cells = std::mem::replace(&mut self.expected.cells, before).unwrap_or_default();
        self.lines.extend(cells);
        done
    }
}

//! Rows of different lengths: a second text of a function that takes a `Vec<Vec<f64>>`.
//!
//! In the first text the rows have one length, and are one array, `x: [n, m]f64`. In the second one they are records that measure their lists:
//!
//! ```text
//! fn total(rows: &[Vec<f64>]) -> f64          data rows_of_f64 = rows_of_f64(values__0: i64, values: [values__0]f64)
//!                                             def total[n](rows: [n]rows_of_f64) -> f64
//! ```
//!
//! A row is what such a record has in it as soon as anything looks at it, `rows[i].values`; so all that is done with lists is done with rows. A list of
//! lists that is collected in this text is one of such records too; in the first text one is where nothing says that its rows have one length. Which text runs, each call decides by its arguments
//! (`jut::rust::Uneven`): rows of one length cost nothing more. A function that gives rows and takes none is called by the second text where the first one says that they have different lengths. Where the second text cannot be made, that is said when it is needed.

use crate::Refusal;
use crate::function::{Lowered, lower};
use crate::lowering::Lowering;
use crate::signature::{Errors, Signature};
use crate::syntax::unwrapped;
use crate::template::{Hole, What, hole_of};
use crate::types::{Extent, Ty, argument_of, array};
use crate::value::Value;
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Expr, FnArg, ItemFn, Type};

/// The text of a function for rows of different lengths, beside the type of this name.
pub(crate) struct Second {
    pub name: Ident,
    pub signature: Signature,
    /// The text, or why there is none.
    pub lowered: Result<Lowered, Refusal>,
}

/// That of a function that takes rows, or gives some; of any other there is none.
pub(crate) fn second(function: &ItemFn, name: &Ident, signature: &Signature) -> Option<Second> {
    let rows = with_rows(signature)?;
    let lowered = lower(function, &rows);
    let name = format_ident!("{name}_of_uneven_rows");
    Some(Second { name, signature: rows, lowered })
}

/// The signature with records in the place of rows; none if not all rows can be records.
fn with_rows(signature: &Signature) -> Option<Signature> {
    let mut own = signature.clone();
    for k in 0..own.parameters.len() {
        let (ty, written) = (own.parameters[k].ty.clone(), own.parameters[k].written.clone());
        match rows_of(&ty, &written, &mut own) {
            Some(rows) => own.parameters[k].ty = rows,
            // Rows that have one length in both texts, such as those of pairs, are no arguments of the second.
            None if element_of(&written).and_then(element_of).is_some() => return None,
            None => {}
        }
    }
    if let Some(written) = own.written.clone()
        && let Some(rows) = rows_of(&own.result.clone(), &written, &mut own)
    {
        own.result = rows;
    }
    (!own.rows.is_empty()).then_some(own)
}

/// Whether a parameter is a list of lists.
pub(crate) fn takes_rows(signature: &Signature) -> bool {
    let list = |ty: &Ty| match ty {
        Ty::Array(element, Extent::Slice | Extent::Vec) => Some((**element).clone()),
        _ => None,
    };
    signature.parameters.iter().any(|p| list(&p.ty).and_then(|row| list(&row)).is_some())
}

/// A list of records for one of rows whose elements have a type that is known here.
fn rows_of(ty: &Ty, written: &Type, own: &mut Signature) -> Option<Ty> {
    let Ty::Array(row, Extent::Slice | Extent::Vec) = ty else { return None };
    let Ty::Array(element, Extent::Slice | Extent::Vec) = &**row else { return None };
    let row = element_of(written)?;
    let one = element_of(row)?;
    let names: Vec<&Ident> = crate::signature::names(own).collect();
    let open = crate::parameters::open_in(ty, &names, &own.lengths).is_some();
    let lengths = own.lengths().any(|(k, _)| element.has_length(&format!("$k{k}$")));
    if open || lengths || matches!(**element, Ty::Tuple(_)) {
        return None;
    }
    let hole = hole_of(Hole::Data(quote!(::jut::rust::Row<#one>)), &mut own.lengths);
    if !own.rows.iter().any(|(k, _)| *k == hole) {
        own.rows.push((hole, (**element).clone()));
    }
    Some(array(Ty::Of(hole, Vec::new()), Extent::Vec))
}

/// The type of the elements of a slice or `Vec`, as it is written.
fn element_of(written: &Type) -> Option<&Type> {
    match written {
        Type::Reference(inner) => element_of(&inner.elem),
        Type::Paren(inner) => element_of(&inner.elem),
        Type::Group(inner) => element_of(&inner.elem),
        Type::Slice(slice) => Some(&slice.elem),
        list => argument_of(list, "Vec"),
    }
}

/// Whether a method gives rows, and takes none.
pub(crate) fn may_make_rows(function: &ItemFn) -> bool {
    let gives = match &function.sig.output {
        syn::ReturnType::Type(_, ty) => element_of(ty).and_then(element_of).is_some(),
        syn::ReturnType::Default => false,
    };
    gives && !may_take_rows(function)
}

/// Whether rows may be among the parameters of a method.
pub(crate) fn may_take_rows(function: &ItemFn) -> bool {
    function.sig.inputs.iter().any(|input| match input {
        FnArg::Typed(typed) => element_of(&typed.ty).and_then(element_of).is_some(),
        FnArg::Receiver(_) => false,
    })
}

/// How those who call a function find its second text, if it has one.
pub(crate) fn called(signature: &Signature) -> TokenStream {
    let Some(second) = &signature.uneven else { return TokenStream::new() };
    let named = crate::generic::generics(signature).named;
    let failing = matches!(signature.errors, Errors::Fail | Errors::Missing);
    let text = quote!(linker.function::<#second #named>());
    let text = match failing {
        true => quote! {
            if sure { #text } else { linker.only_surely(<Self as ::jut::rust::Source>::NAME) }
        },
        false => text,
    };
    let unused = (!failing).then(|| quote!(let _ = sure;));
    quote! {
        fn second_text(linker: &mut ::jut::rust::Linker, sure: bool) -> ::jut::rust::Filled {
            #unused
            #text
        }
    }
}

/// The items beside a function of which there is no second text: the type, which says why.
pub(crate) fn missing(function: &ItemFn, second: &Second, refusal: &Refusal) -> TokenStream {
    let (name, why, vis) = (&second.name, &refusal.message, &function.vis);
    let conditions: Vec<_> = function.attrs.iter().filter(|a| a.path().is_ident("cfg")).collect();
    let generics = crate::generic::generics(&second.signature);
    let (open, types, named, source) =
        (&generics.open, &generics.declared, &generics.named, &generics.source);
    let holder = crate::generic::holder(&second.signature);
    quote! {
        #(#conditions)*
        #[allow(non_camel_case_types, dead_code)]
        #[doc(hidden)]
        #vis struct #name #open { #(#holder),* }
        #(#conditions)*
        #[allow(private_bounds)]
        impl #types ::jut::rust::Looked for #name #named #source {}
        #(#conditions)*
        #[automatically_derived]
        #[allow(private_bounds)]
        impl #types ::jut::rust::Source for #name #named #source {
            const NAME: &'static str = "";
            const RESULT: ::jut::rust::Type = ::jut::rust::Type::Unit;
            fn define(linker: &mut ::jut::rust::Linker) {
                linker.of_one_length(#why);
            }
            fn linked() -> &'static ::jut::rust::Cell {
                ::jut::rust::cell::<Self>()
            }
        }
    }
}

impl Lowering<'_> {
    /// The elements of what a type of rows has in it.
    pub fn row_of(&self, ty: &Ty) -> Option<Ty> {
        match self.resolve(ty) {
            Ty::Of(hole, steps) if steps.is_empty() => {
                let found = self.rows.iter().find(|(row, _)| *row == hole);
                found.map(|(_, element)| array(element.clone(), Extent::Slice))
            }
            _ => None,
        }
    }

    /// Whether it is the type of a row.
    pub fn is_row(&self, ty: &Ty) -> bool {
        self.row_of(ty).is_some()
    }

    /// Whether it is the type of a list of such rows.
    pub fn is_uneven(&self, ty: &Ty) -> bool {
        matches!(self.resolve(ty), Ty::Array(row, _) if self.row_of(&row).is_some())
    }

    /// Whether it is the type of a list of lists, which have one length.
    pub fn is_rows(&self, ty: &Ty) -> bool {
        let list = |ty: &Ty| matches!(ty, Ty::Array(_, Extent::Slice | Extent::Vec));
        matches!(self.resolve(ty), Ty::Array(row, Extent::Slice | Extent::Vec) if list(&row))
    }

    /// What is in a row; any other value as it is.
    pub fn row(&self, value: Value) -> Value {
        match self.looked_into(&value.ty) {
            Some((tag, ty)) => {
                Value { text: format!("{}{tag}", value.within(9)), ty, level: 9, ..value }
            }
            None => value,
        }
    }

    /// The place of what is in a row; any other place as it is.
    pub fn row_place(&self, place: Value) -> Value {
        match self.looked_into(&place.ty) {
            Some((tag, ty)) => Value { text: format!("{}{tag}", place.text), ty, ..place },
            None => place,
        }
    }

    /// Whether rows have lengths of their own in this text from the beginning.
    pub fn has_uneven_rows(&self) -> bool {
        !self.signature.rows.is_empty()
    }

    /// The type of rows of such lists, which the text has from here on; nothing if it is that of no list whose elements have a type that is known here.
    pub fn type_of_rows(&mut self, list: &Ty) -> Option<Ty> {
        let Ty::Array(element, Extent::Slice | Extent::Vec) = self.resolve(list) else {
            return None;
        };
        if let Some((hole, _)) =
            self.rows.iter().find(|(_, known)| may_be(&element, &self.resolve(known)))
        {
            return Some(Ty::Of(*hole, Vec::new()));
        }
        // Such rows stay within the text: so a tuple in one may be of any numbers.
        let one = match &*element {
            Ty::Tuple(items) if (2..=4).contains(&items.len()) => {
                let items: Option<Vec<TokenStream>> =
                    items.iter().map(|item| self.written(item)).collect();
                let items = items?;
                quote!(::jut::rust::Parts<(#(#items),*)>)
            }
            other => self.written(other)?,
        };
        let hole = self.hole(Hole::Data(quote!(::jut::rust::Row<#one>)));
        self.rows.push((hole, *element));
        Some(Ty::Of(hole, Vec::new()))
    }

    /// A type as Rust writes it, if it is known here.
    pub fn written(&self, ty: &Ty) -> Option<TokenStream> {
        Some(match ty {
            Ty::F64 | Ty::Float(_) => quote!(f64),
            Ty::F32 => quote!(f32),
            Ty::I64 => quote!(i64),
            Ty::Int(_) => quote!(i32),
            Ty::Narrow(of) => format_ident!("{}", of.name()).into_token_stream(),
            Ty::U64 => quote!(u64),
            Ty::Usize => quote!(usize),
            Ty::Bool => quote!(bool),
            Ty::Array(element, Extent::Fixed(n)) => {
                let (element, n) = (self.written(element)?, n.parse::<usize>().ok()?);
                quote!([#element; #n])
            }
            Ty::Of(hole, steps) if steps.is_empty() => match self.parts.holes.get(*hole)? {
                Hole::Data(path) if !self.mentions_type(path) => path.clone(),
                _ => return None,
            },
            _ => return None,
        })
    }

    /// What the pass before this one found of a row is known again.
    pub fn row_again(&mut self, hole: usize) {
        let Some(Hole::Data(path)) = self.parts.holes.get(hole) else { return };
        let Some(element) = written_row(path) else { return };
        if !self.rows.iter().any(|(known, _)| *known == hole)
            && let Ok(element) = crate::types::read(&element, &mut self.parts.holes)
        {
            self.rows.push((hole, element));
        }
    }

    /// A list as a row, in a text whose rows have lengths of their own.
    pub fn as_row(&mut self, list: Value) -> Value {
        match self.has_uneven_rows() {
            true => self.made_row(list),
            false => list,
        }
    }

    /// A list as a row, if rows of such lists are built; any other value as it is.
    pub fn made_row(&mut self, list: Value) -> Value {
        let Some(row @ Ty::Of(hole, _)) = self.type_of_rows(&list.ty) else { return list };
        if let Some(known) = self.row_of(&row) {
            self.unify(&list.ty, &known);
        }
        let list = self.named(Value { stable: false, ..list }, "row");
        Value::name(format!("$make {hole} values={}$", list.text), row, i64::MIN).costly()
    }

    /// Whether something is put at the end of a row, `rows[i].push(v)`.
    pub fn is_longer_row(&self, call: &syn::ExprMethodCall) -> bool {
        let Expr::Index(index) = unwrapped(&call.receiver) else { return false };
        let plain = matches!(unwrapped(&index.expr), Expr::Path(_));
        let rows = self.root(&index.expr);
        call.method == "push"
            && call.args.len() == 1
            && plain
            && rows.is_some_and(|rows| self.is_uneven(&rows.ty) && rows.stack.is_none())
    }

    /// `rows[i].push(v);`: another row.
    pub fn longer_row(&mut self, call: &syn::ExprMethodCall) -> Result<(), Refusal> {
        let value = self.expression(&call.args[0])?;
        let place = self.place(&call.receiver)?;
        let value = self.convert(value, &self.element(&place.ty));
        let value = self.named(Value { stable: false, ..value }, "pushed").text;
        let (old, i, more) =
            (self.names.unique("old"), self.names.unique("i"), self.names.unique("row"));
        let line = self.at(call.receiver.span(), What::Same, &format!("{old} = {}", place.text));
        self.lines.push(line);
        self.lines.push(format!(
            "{more} = build ({i} < size({old}) + 1) {{ if {i} < size({old}) {{ {old}[{i}] }} else {{ {value} }} }}"
        ));
        let row = self.made_row(Value::name(more, place.ty.clone(), i64::MIN));
        let whole = place.text.strip_suffix(".values").unwrap_or(&place.text);
        self.lines.push(format!("{whole} = {}", row.text));
        Ok(())
    }

    /// So many rows without elements; nothing if rows of such lists are not built.
    pub fn empty_rows(&mut self, list: &Ty, count: &Expr) -> Result<Option<Value>, Refusal> {
        let Some(row) = self.type_of_rows(list) else { return Ok(None) };
        let count = self.operand(count)?;
        let count = self.convert(count, &Ty::Usize);
        let count = self.atom(count, "count").text;
        let one = self.neutral(&row, &syn::Ident::new("rows", Span::call_site()))?;
        let (i, name) = (self.names.unique("i"), self.names.unique("rows"));
        self.lines.push(format!("{name} = for ({i} < {count}) {{ {one} }}"));
        Ok(Some(Value::name(name, array(row, Extent::Slice), i64::MIN)))
    }

    /// A list of lists of one length as one of rows; what is no such list as it is.
    pub fn in_rows(&mut self, value: Value) -> Value {
        let Ty::Array(list, Extent::Slice | Extent::Vec) = self.resolve(&value.ty) else {
            return value;
        };
        let Some(row) = self.type_of_rows(&list) else { return value };
        let whole = self.named(value, "rows");
        let index = self.names.unique("i");
        let one = Value::name(format!("{}[{index}]", whole.text), *list, i64::MIN);
        let (lines, one) = {
            let outside = std::mem::take(&mut self.lines);
            let one = self.made_row(one);
            (std::mem::replace(&mut self.lines, outside), one)
        };
        let body = lines.into_iter().chain([one.text]).collect::<Vec<_>>();
        let body = crate::lowering::indented(&body);
        let name = self.names.unique("rows");
        self.lines.push(format!("{name} = for ({index} < size({})) {{\n{body}\n}}", whole.text));
        Value::name(name, array(row, Extent::Slice), i64::MIN)
    }

    /// A list of rows as one of lists, which have one length.
    pub fn evened(&mut self, value: Value, at: Option<Span>) -> Value {
        let Ty::Array(row, _) = self.resolve(&value.ty) else { return value };
        let Some(list @ Ty::Array(..)) = self.row_of(&row) else { return value };
        let whole = self.named(value, "rows").text;
        let (n, i, name) =
            (self.names.unique("n"), self.names.unique("i"), self.names.unique("rows"));
        self.lines
            .push(format!("{n} = if size({whole}) > 0 {{ size({whole}[0].values) }} else {{ 0 }}"));
        let text = format!("cast {whole}[{i}].values : {}", list.text(&mut || n.clone()));
        let text = match at {
            Some(span) => self.at(span, What::Length, &text),
            None => text,
        };
        self.lines.push(format!("{name} = for ({i} < size({whole})) {{ {text} }}"));
        Value::name(name, array(list, Extent::Slice), i64::MIN)
    }

    /// What a call of a second text gives: where that is rows, they have one length for those who call it.
    pub fn even_result(&mut self, hole: usize, name: String, span: Span) -> String {
        let even = self.names.unique("value");
        let (n, i, j) = (self.names.unique("n"), self.names.unique("i"), self.names.unique("j"));
        let (k, unequal) = (self.names.unique("k"), self.names.unique("unequal"));
        let what = "row lengths that differ in what a function gives".to_string();
        let check = self.at(span, What::Panic(what), &format!("check -{unequal} >= 0"));
        self.lines.push(format!(
            "$if uneven {hole}${n} = if size({name}) > 0 {{ size({name}[0].values) }} else {{ 0 }}\n\
             {unequal} = sum ({k} < size({name})) {{ prim.select(size({name}[{k}].values) == {n}, 0, 1) }}\n\
             {check}\n\
             {even} = build ({i} < size({name})) {{ build ({j} < {n}) {{ {name}[{i}].values[{j}] }} }}$end$\
             $if even {hole}${even} = {name}$end$"
        ));
        self.reach = 0;
        even
    }

    /// What a call of a second text gives, where that is known to be a list of such lists: rows that have lengths of their own.
    pub fn rows_of_result(&mut self, hole: usize, name: &str, list: &Ty) -> Option<Value> {
        let row = self.type_of_rows(list)?;
        let Ty::Of(kind, _) = row else { return None };
        let (i, one, rows) =
            (self.names.unique("i"), self.names.unique("row"), self.names.unique("rows"));
        self.lines.push(format!(
            "$if uneven {hole}${rows} = {name}$end$\
             $if even {hole}${rows} = for ({i} < size({name})) {{\n  {one} = {name}[{i}]\n  $make {kind} values={one}$\n}}$end$"
        ));
        Some(Value::name(rows, array(row, Extent::Slice), i64::MIN))
    }

    /// The type of the lists in the list that the function gives, in a text whose rows have lengths of their own.
    pub fn rows_given(&self) -> Option<Ty> {
        match &self.signature.result {
            Ty::Array(row, _) => self.row_of(row),
            _ => None,
        }
    }

    /// What the lines of a loop make, its last value, as a row: unless it is a list of which these lines say that it is as long in each round.
    ///
    /// What is read of rows in a field has lengths of its own where the type of the whole list is written, and that is given; else one length.
    pub fn row_of_lines(
        &mut self,
        lines: &mut Vec<String>,
        value: Value,
        index: &str,
        written: Option<&Ty>,
    ) -> Value {
        let mut value = value;
        // What a call gives is a list where the type of the whole says so.
        if let (Ty::Of(..), Some(list @ Ty::Array(_, Extent::Slice | Extent::Vec))) =
            (self.resolve(&value.ty), written)
        {
            value.ty = self.unify(&value.ty, list);
        }
        // Beside rows of different lengths what a call gives is one that has its own.
        if let (Ty::Of(..), None, false) = (self.resolve(&value.ty), written, self.rows.is_empty())
        {
            let outside = std::mem::replace(&mut self.lines, std::mem::take(lines));
            let value = self.untold(value, &array(Ty::Never, Extent::Slice));
            *lines = std::mem::replace(&mut self.lines, outside);
            return value;
        }
        let list = matches!(self.resolve(&value.ty), Ty::Array(_, Extent::Slice | Extent::Vec));
        if !list || crate::outside::is_list(&value.text, lines, index) {
            return value;
        }
        match written {
            Some(written) => value.ty = self.unify(&value.ty, written),
            None if lines.iter().any(|line| line.contains("$row ")) => return value,
            None => {}
        }
        let outside = std::mem::replace(&mut self.lines, std::mem::take(lines));
        let row = self.made_row(value);
        *lines = std::mem::replace(&mut self.lines, outside);
        row
    }

    /// A call and its arguments, which is one of a function's second text if any of them is of rows: then all of them are. What another such call
    /// gives is rows if its function gives some.
    pub fn unevenly(&mut self, hole: usize, values: Vec<Value>) -> (usize, Vec<Value>) {
        let called = self.parts.holes[hole].clone();
        // A struct's own method, which rustc is asked for, has no rows as its receiver.
        if let Hole::Operator(..) = called {
            return (hole, values);
        }
        if !values.iter().any(|value| self.is_uneven(&value.ty)) {
            let given = values
                .iter()
                .find_map(|value| self.given_by_rows(&value.ty))
                .or_else(|| values.iter().find_map(|value| self.list_of_untold(&value.ty)));
            let Some(of) = given else { return (hole, values) };
            let values = values.into_iter().map(|value| self.following_rows(value, of)).collect();
            if self.perhaps_gives_rows(of) {
                return (hole, values);
            }
            return (self.hole(following(called, self.parts.holes[of].clone())), values);
        }
        let values = values.into_iter().map(|value| self.in_rows(value)).collect();
        (self.hole(second_text(called)), values)
    }

    /// A list of lists as one of rows where another call gives such rows; what is no such list as it is.
    pub fn following_rows(&mut self, value: Value, of: usize) -> Value {
        if !self.is_rows(&value.ty) {
            return value;
        }
        let whole = self.named(value, "rows");
        let name = self.names.unique("rows");
        let outside = std::mem::take(&mut self.lines);
        let rows = self.in_rows(whole.clone()).text;
        let lines = std::mem::replace(&mut self.lines, outside).join("\n");
        self.lines.push(format!(
            "$if uneven {of}${lines}\n{name} = {rows}$end$$if even {of}${name} = {}$end$",
            whole.text
        ));
        Value::name(name, whole.ty, i64::MIN)
    }

    /// The hole of the call that gives a value, if that may be rows of different lengths.
    pub fn given_by_rows(&self, ty: &Ty) -> Option<usize> {
        let Ty::Of(hole, steps) = self.resolve(ty) else { return None };
        (steps.is_empty() && self.may_give_rows(hole)).then_some(hole)
    }

    /// What a call gives that may be rows, where a list of lists is wanted: rows, or an array. So it is in a tuple. Any other value as it is.
    pub fn with_rows(&mut self, value: Value, wanted: &Ty) -> Value {
        let value = self.told_as(value, wanted);
        if let (Ty::Tuple(items), Ty::Tuple(others)) = (self.resolve(&value.ty), wanted)
            && items.len() == others.len()
            && items.iter().any(|item| self.is_uneven(item) || self.given_by_rows(item).is_some())
        {
            let whole = self.named(value, "parts");
            let parts: Vec<Value> = others
                .iter()
                .enumerate()
                .map(|(k, other)| {
                    let part = self.component(&whole, k);
                    self.convert(part, other)
                })
                .collect();
            let texts: Vec<&str> = parts.iter().map(|part| part.text.as_str()).collect();
            let text = format!("#({})", texts.join(", "));
            return Value::new(text, wanted.clone(), 9, &parts.iter().collect::<Vec<_>>());
        }
        let (Some(of), Ty::Array(list, _)) = (self.given_by_rows(&value.ty), wanted) else {
            return value;
        };
        if let Some(list) = self.row_of(list) {
            let name = self.named(value.clone(), "given").text;
            return self.rows_of_result(of, &name, &list).unwrap_or(value);
        }
        if !self.is_rows(wanted) {
            return value;
        }
        let name = self.named(value, "given").text;
        let span = self.given.get(&of).copied().unwrap_or_else(Span::call_site);
        Value::name(self.even_result(of, name, span), wanted.clone(), i64::MIN)
    }

    pub fn may_give_rows(&self, hole: usize) -> bool {
        if self.following.contains(&hole) {
            return true;
        }
        let mut hole = self.parts.holes.get(hole);
        while let Some(Hole::Sure(inner) | Hole::Unwrapped(inner)) = hole {
            hole = Some(&**inner);
        }
        matches!(
            hole,
            Some(Hole::Uneven(_) | Hole::Making(_) | Hole::Perhaps(_) | Hole::Following(..))
        )
    }

    /// Whether nothing but the program that is put together says of a call that it gives rows of different lengths.
    pub fn perhaps_gives_rows(&self, hole: usize) -> bool {
        let own = match self.parts.holes.get(hole) {
            Some(Hole::Sure(inner)) => Some(&**inner),
            own => own,
        };
        self.following.contains(&hole) || matches!(own, Some(Hole::Perhaps(_)))
    }
}

/// Whether elements of a type may be those of a row that is known: where nothing says which integers or floats they are, it is those.
fn may_be(found: &Ty, known: &Ty) -> bool {
    match (found, known) {
        (Ty::Int(_), known) => known.is_integer(),
        (Ty::Float(_), known) => known.is_float(),
        (Ty::Tuple(found), Ty::Tuple(known)) if found.len() == known.len() => {
            found.iter().zip(known).all(|(found, known)| may_be(found, known))
        }
        (found, known) => found == known,
    }
}

/// What stands in the brackets of `::jut::rust::Row<f64>`.
fn written_row(path: &TokenStream) -> Option<Type> {
    let own = path.to_string().replace(' ', "").starts_with("::jut::rust::Row<");
    let row = syn::parse2::<Type>(path.clone()).ok().filter(|_| own)?;
    let element = argument_of(&row, "Row")?;
    Some(argument_of(element, "Parts").unwrap_or(element).clone())
}

/// The type of the elements of a row, if a path is that of rows of different lengths, and what stands in that type.
pub fn row_of_path(path: &TokenStream) -> Option<(Ty, Vec<Hole>)> {
    let mut holes = Vec::new();
    let element = crate::types::read(&written_row(path)?, &mut holes).ok()?;
    Some((element, holes))
}

/// How many there are in `vec![Vec::new(); n]`.
pub(crate) fn empty_rows(expr: &Expr) -> Option<Expr> {
    let Expr::Macro(of) = unwrapped(expr) else { return None };
    let repeated = |input: syn::parse::ParseStream<'_>| -> syn::Result<(Expr, Expr)> {
        let one = input.parse()?;
        input.parse::<syn::Token![;]>()?;
        Ok((one, input.parse()?))
    };
    let tokens = of.mac.path.is_ident("vec").then(|| of.mac.tokens.clone())?;
    let (one, count) = syn::parse::Parser::parse2(repeated, tokens).ok()?;
    crate::syntax::is_empty(&one).then_some(count)
}

/// Whether lists may have different lengths, as far as it is written how long they are: `[vec![a], vec![b, c]]`, `[x[..3].to_vec(), y]`.
pub(crate) fn may_have_several_lengths(lists: &[&Expr]) -> bool {
    // As many elements as are written, or as is said: `vec![v; n]`.
    let length = |list: &&Expr| {
        let Expr::Macro(of) = unwrapped(list) else { return None };
        type Elements = syn::punctuated::Punctuated<Expr, syn::Token![,]>;
        let tokens = of.mac.path.is_ident("vec").then(|| of.mac.tokens.clone())?;
        match syn::parse::Parser::parse2(Elements::parse_terminated, tokens.clone()) {
            Ok(elements) => Some(elements.len().to_string()),
            Err(_) => tokens.to_string().rsplit_once(';').map(|(_, n)| n.trim().to_string()),
        }
    };
    let mut lengths = lists.iter().map(length);
    let first = lengths.next().flatten();
    let word = |list: &Expr| list.to_token_stream().to_string();
    let same = lists.windows(2).all(|pair| word(pair[0]) == word(pair[1]));
    !same && (first.is_none() || lengths.any(|other| other != first))
}

/// A hole for another text of the function of a call, also of one of which an error is failure.
fn other_text(called: Hole, other: impl FnOnce(Hole) -> Hole) -> Hole {
    match called {
        Hole::Sure(inner) => Hole::Sure(Box::new(other_text(*inner, other))),
        own => other(own),
    }
}

/// A function's second text in the place of its first.
fn second_text(called: Hole) -> Hole {
    other_text(called, |own| Hole::Uneven(Box::new(own)))
}

/// A function's second text in the place of its first, if what another hole gives is rows.
fn following(called: Hole, of: Hole) -> Hole {
    other_text(called, |own| Hole::Following(Box::new(own), Box::new(of)))
}

/// The text of a function that says how long the rows are that it makes.
pub(crate) fn making_rows(called: Hole) -> Hole {
    other_text(called, |own| match own {
        Hole::Function(_) | Hole::Call(..) | Hole::Method(..) => Hole::Making(Box::new(own)),
        other => other,
    })
}

/// The same where nothing says that it makes rows.
pub(crate) fn perhaps_making_rows(called: Hole) -> Hole {
    other_text(called, |own| match own {
        Hole::Function(_) | Hole::Call(..) | Hole::Method(..) => Hole::Perhaps(Box::new(own)),
        other => other,
    })
}

/// What fills the hole of such a call.
pub(crate) fn filling_of_some(called: &Hole, sure: bool) -> TokenStream {
    match called {
        Hole::Function(path) => quote!(linker.perhaps_rows::<#path>(#sure)),
        Hole::Call(path, of) => quote!(linker.call_perhaps_rows::<#path, _>(#of, #sure)),
        Hole::Method(owner, key) => {
            let at = Span::call_site().located_at(owner.span());
            match sure {
                true => {
                    quote_spanned!(at=> linker.method_surely_perhaps_rows::<#key, _, _>(#owner))
                }
                false => quote_spanned!(at=> linker.method_perhaps_rows::<#key, _, _>(#owner)),
            }
        }
        other => filling(other, sure),
    }
}

/// What fills the hole of such a call.
pub(crate) fn filling_of_makers(called: &Hole, sure: bool) -> TokenStream {
    match called {
        Hole::Function(path) => quote!(linker.making_rows::<#path>(#sure)),
        Hole::Call(path, of) => quote!(linker.call_making_rows::<#path, _>(#of, #sure)),
        Hole::Method(owner, key) => {
            let at = Span::call_site().located_at(owner.span());
            quote_spanned!(at=> linker.method_making_rows::<#key, _, _>(#owner, #sure))
        }
        other => filling(other, sure),
    }
}

/// What fills the hole of such a call.
pub(crate) fn filling(called: &Hole, sure: bool) -> TokenStream {
    match called {
        Hole::Function(path) => quote!(linker.second_text::<#path>(#sure)),
        Hole::Call(path, of) => quote!(linker.call_second_text::<#path, _>(#of, #sure)),
        Hole::Method(owner, key) => {
            let at = Span::call_site().located_at(owner.span());
            quote_spanned!(at=> linker.second_text_of_method::<#key, _, _>(#owner, #sure))
        }
        _ => {
            let why = "a method of a type parameter takes rows of one length";
            quote!(linker.of_one_length(#why))
        }
    }
}

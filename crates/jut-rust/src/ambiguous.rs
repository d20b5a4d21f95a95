//! Methods that lists have and own types may have too: `ring.len()`, `self.rows.first()`, `grid.swap(i, j)`.
//!
//! Whether what has a name, a field, or what a call gives is a list or a struct, is often known to rustc only. So it is asked, as for an operator
//! ([`crate::overloaded`]), and the text has both forms until it is put together:
//!
//! ```text
//! let n = ring.len();        n = $if operator 3$ Ring_len(ring) $end$ $if number 3$ size(ring) $end$
//! ```
//!
//! Requires: the receiver is a place, or a call; of what the macro knows nobody is asked.
//! Cost: of lists, none; of structs, that of the call.

use crate::Refusal;
use crate::lowering::{Local, Lowering};
use crate::syntax::{key, unwrapped};
use crate::template::Hole;
use crate::types::{Step, Ty};
use crate::value::Value;
use proc_macro2::{Span, TokenStream};
use quote::quote;
use syn::{Expr, ExprMethodCall};

/// These methods.
pub(crate) const METHODS: &[&str] = &[
    "len",
    "is_empty",
    "first",
    "last",
    "get",
    "to_vec",
    "as_slice",
    "swap",
    "fill",
    "reverse",
    "rotate_left",
    "rotate_right",
    "sort",
    "sort_unstable",
    "copy_from_slice",
];

/// What stands for the name of `first` or `last` with an `unwrap` behind it.
pub(crate) fn unwrapped_name(method: &str) -> String {
    format!("{method}.unwrap")
}

fn either(hole: usize, own: &str, list: &str) -> String {
    format!("$if operator {hole}${own}$end$$if number {hole}${list}$end$")
}

impl Lowering<'_> {
    /// A call of such a method, of what may be a list or a struct; nothing of what is known, or is another method.
    pub fn own_or_of_a_list(
        &mut self,
        call: &ExprMethodCall,
        statement: bool,
    ) -> Result<Option<Value>, Refusal> {
        let name = call.method.to_string();
        let changes = crate::syntax::CHANGING.contains(&name.as_str());
        if !METHODS.contains(&name.as_str()) || changes != statement || self.operators.lists {
            return Ok(None);
        }
        if let Some(Expr::Range(_)) = call.args.first().map(unwrapped) {
            return Ok(None);
        }
        let Some(ty) = self.perhaps_struct(&call.receiver) else { return Ok(None) };
        let Some(left) = self.type_by(&ty, true) else { return Ok(None) };
        let (key, span) = (key(&name), call.method.span());
        let given = match name.as_str() {
            "len" => Ty::Usize,
            "is_empty" => Ty::Bool,
            _ => Ty::Never,
        };
        let output = match given {
            Ty::Usize => quote!(usize),
            Ty::Bool => quote!(bool),
            _ => quote!(_),
        };
        let hole = self.listed_hole(key, left, output, span);
        // Arguments that lists do not take are those of a struct's method.
        let (before, lists) =
            (self.lines.len(), std::mem::replace(&mut self.operators.lists, true));
        let of_a_list = match statement {
            true => self.changing_method(call).map(|()| self.none()),
            false => self.method_call(call),
        };
        self.operators.lists = lists;
        let Ok(of_a_list) = of_a_list else {
            self.lines.truncate(before);
            return Ok(self.user_method(call, None)?.ok());
        };
        self.of_numbers(hole, before);
        let before = self.lines.len();
        let Ok(own) = self.user_method(call, Some(hole))? else {
            self.lines.truncate(before);
            return Ok(Some(of_a_list));
        };
        let lines = self.lines.split_off(before);
        self.lines.push(format!("$if operator {hole}${}$end$", lines.join("\n")));
        if statement {
            return Ok(Some(own));
        }
        if given != Ty::Never {
            let text = either(hole, &own.text, &of_a_list.within(8));
            return Ok(Some(Value { ty: given, text, level: 9, ..of_a_list }));
        }
        let list = self.as_pair(of_a_list);
        Ok(Some(self.one_of_both(hole, &own.text, &list.text)))
    }

    /// An element of a field's list, if there is one: a row has the length of its list's rows, or one of its own.
    pub fn element_or_none(&mut self, list: &Value, there: String, element: Value) -> Value {
        let (one, option) = (self.names.unique("element"), self.names.unique("option"));
        let there = self.named(Value::name(there, Ty::Bool, 0).costly(), "there").text;
        let steps = match self.resolve(&element.ty) {
            Ty::Of(hole, steps) => format!("{hole}{}", crate::types::words(&steps)),
            _ => String::new(),
        };
        self.lines.push(format!(
            "{one} = if {there} {{ {} }} else {{ $if list {steps}$build (i < size({}, 1)) {{ $neutral {steps} e$ }}$end$$if unlisted {steps}$$neutral {steps}$$end$ }}",
            element.text, list.text
        ));
        let value = self.row(Value::name(one, element.ty, i64::MIN));
        self.lines.push(format!("{option} = #({there}, {})", value.text));
        Value::name(option, Ty::Option(Box::new(value.ty)), i64::MIN)
    }

    fn listed_hole(
        &mut self,
        key: u64,
        left: TokenStream,
        output: TokenStream,
        span: Span,
    ) -> usize {
        let asks = quote!(linker.listed::<#key, _, #output>(#left));
        self.asked_hole(Hole::Operator(key, left, quote!(::jut::rust::of::<()>())), asks, span)
    }

    /// The value of one of two forms.
    pub fn one_of_both(&mut self, hole: usize, own: &str, list: &str) -> Value {
        let value = self.names.unique("value");
        self.lines.push(format!("{value} = {}", either(hole, own, list)));
        Value::name(value, Ty::Of(hole, Vec::new()), i64::MIN)
    }

    /// The hole of `first` or `last` with an `unwrap` behind it, of what may be a struct.
    pub fn asked_element(&mut self, call: &ExprMethodCall) -> Option<usize> {
        let ty = self.perhaps_struct(&call.receiver)?;
        let left = self.type_by(&ty, true)?;
        let key = key(&unwrapped_name(&call.method.to_string()));
        Some(self.listed_hole(key, left, quote!(_), call.method.span()))
    }

    /// The element that such a call gives, of a list as it is written.
    pub fn own_element_for_certain(
        &mut self,
        hole: usize,
        inner: &ExprMethodCall,
        of_a_list: &Value,
        call: &ExprMethodCall,
        said: String,
    ) -> Result<Option<Value>, Refusal> {
        let before = self.lines.len();
        let Ok(own) = self.user_method(inner, Some(hole))? else { return Ok(None) };
        let there = Value::name(format!("{}.0", own.text), Ty::Bool, 0);
        self.asserted(call.method.span(), &there, said);
        let lines = self.lines.split_off(before);
        self.lines.push(format!("$if operator {hole}${}$end$", lines.join("\n")));
        let of_a_list = self.row(of_a_list.clone());
        Ok(Some(self.one_of_both(hole, &format!("{}.1", own.text), &of_a_list.text)))
    }

    /// The type of a place that may be a struct or a list.
    pub fn perhaps_struct(&mut self, receiver: &Expr) -> Option<Ty> {
        let ty = self.type_of_place(receiver)?;
        let Ty::Of(hole, steps) = &ty else { return None };
        let part = |step: &Step| {
            matches!(step, Step::Field(_) | Step::Component(_) | Step::Element | Step::Row)
        };
        let known = match self.parts.holes.get(*hole) {
            Some(Hole::Constant(_)) => true,
            Some(Hole::Data(path)) => crate::uneven::row_of_path(path).is_some(),
            _ => false,
        };
        (!known && steps.iter().all(part) && self.may_be_struct(&ty)).then_some(ty)
    }

    /// The type of a place, without any line of the text.
    pub fn type_of_place(&mut self, place: &Expr) -> Option<Ty> {
        match unwrapped(place) {
            Expr::Path(path) => {
                let local: &Local = self.lookup(&path.path.get_ident()?.to_string())?;
                if local.closure.is_some() || local.stack.is_some() {
                    return None;
                }
                Some(self.resolve(&local.ty))
            }
            Expr::Field(field) => {
                let base = self.type_of_place(&field.base)?;
                let Ty::Of(hole, mut steps) = base else { return None };
                steps.push(match &field.member {
                    syn::Member::Unnamed(k) => Step::Component(k.index as usize),
                    syn::Member::Named(name) => {
                        Step::Field(name.to_string().trim_start_matches("r#").to_string())
                    }
                });
                Some(Ty::Of(hole, steps))
            }
            Expr::Index(index) if !matches!(unwrapped(&index.index), Expr::Range(_)) => {
                let base = self.type_of_place(&index.expr)?;
                Some(self.element(&base))
            }
            Expr::Reference(inner) => self.type_of_place(&inner.expr),
            Expr::Unary(inner) if matches!(inner.op, syn::UnOp::Deref(_)) => {
                self.type_of_place(&inner.expr)
            }
            _ => None,
        }
    }
}

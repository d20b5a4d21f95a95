//! Lists in fields of structs that change their length: `self.history.push(u)`, `let last = book.asks.pop();`, `self.samples = longer;`, and fields
//! that begin without elements, `Tape { ops: Vec::new() }`.
//!
//! A struct that measures its lists, `#[data(ragged)]`, holds a list of any length; of any other one the lengths are part of its type in the text. So
//! such a method is one of a list of its own, which is assigned to the field:
//!
//! ```text
//! line.history.push(v);       let mut list = line.history; list.push(v); line.history = list;
//! line.history = list         line = Line(size(list), list, line.gain)       a struct that measures its lists
//!                             line.0 = cast (list) : [n]f64                  any other
//! ```
//!
//! Whether what is in the field is a `Vec`, and whether its owner measures it, rustc knows (`jut::rust::Relisted`): an own type may have methods
//! of these names too.
//!
//! Cost: each change of the length is a new list.

use crate::Refusal;
use crate::lowering::{Local, Lowering};
use crate::syntax::{GROWING, RELISTING, key, unwrapped};
use crate::template::Hole;
use crate::types::{Extent, Step, Ty, array};
use crate::value::{Value, unit};
use quote::quote;
use syn::{Expr, ExprMethodCall};

/// Whether it is one of these methods.
pub(crate) fn is_method(name: &str) -> bool {
    GROWING.contains(&name) || RELISTING.contains(&name) && !ELSEWHERE.contains(&name)
}

/// Those of [`RELISTING`] that are not built in a field.
const ELSEWHERE: &[&str] = &["split_off", "drain", "dedup_by", "dedup_by_key"];

impl Lowering<'_> {
    /// A call of such a method of what stands in a field; nothing of any other call.
    pub fn list_in_a_field(
        &mut self,
        call: &ExprMethodCall,
        statement: bool,
    ) -> Result<Option<Value>, Refusal> {
        let name = call.method.to_string();
        let Expr::Field(field) = unwrapped(&call.receiver) else { return Ok(None) };
        if !is_method(&name) {
            return Ok(None);
        }
        let (Some(ty), Some(owner)) =
            (self.perhaps_struct(&call.receiver), self.type_of_place(&field.base))
        else {
            return Ok(None);
        };
        let (Some(left), Some(owner)) = (self.type_by(&ty, true), self.type_by(&owner, true))
        else {
            return Ok(None);
        };
        let (key, span) = (key(&name), call.method.span());
        // What is wrong with the owner is at the method.
        let located = |tokens| crate::syntax::spanned_like(tokens, span);
        let (left, owner) = (located(left), located(owner));
        let asks = quote!(linker.relisted::<#key, _, _, _>(#left, #owner));
        let hole = self.asked_hole(Hole::Operator(key, left, owner), asks, span);
        let before = self.lines.len();
        let listed = self.relisted_field(call, &ty, statement);
        let listed = match listed {
            Ok(listed) => listed,
            // Arguments that lists do not take are those of a struct's method.
            Err(refused) => {
                self.lines.truncate(before);
                return match self.user_method(call, Some(hole))? {
                    Ok(own) => Ok(Some(own)),
                    Err(_) => Err(refused),
                };
            }
        };
        self.of_numbers(hole, before);
        let before = self.lines.len();
        // What is no argument of any function, as an iterator, is one of a list.
        let Ok(Ok(own)) = self.user_method(call, Some(hole)) else {
            self.lines.truncate(before);
            return Ok(Some(listed));
        };
        let lines = self.lines.split_off(before);
        if !lines.is_empty() {
            self.lines.push(format!("$if operator {hole}${}$end$", lines.join("\n")));
        }
        match statement {
            true => Ok(Some(unit())),
            false => Ok(Some(self.one_of_both(hole, &own.text, &listed.text))),
        }
    }

    /// The same of a field that is a list.
    fn relisted_field(
        &mut self,
        call: &ExprMethodCall,
        ty: &Ty,
        statement: bool,
    ) -> Result<Value, Refusal> {
        let list = self.expression(&call.receiver)?;
        let list = self.named(Value { stable: false, ..list }, "list");
        self.scopes.push(Default::default());
        let local = Local {
            name: list.text,
            ty: array(self.element(ty), Extent::Slice),
            mutable: true,
            reference: false,
            depth: self.depth,
            least: i64::MIN,
            closure: None,
            stack: None,
            untyped: None,
        };
        self.declare("__jut_list", local);
        let done = self.changed_by(call, statement);
        self.scopes.pop();
        done
    }

    fn changed_by(&mut self, call: &ExprMethodCall, statement: bool) -> Result<Value, Refusal> {
        let mut own = call.clone();
        *own.receiver = syn::parse_quote!(__jut_list);
        let own = Expr::MethodCall(own);
        let value = match statement {
            true => {
                self.effect(&own)?;
                unit()
            }
            false => {
                let value = self.expression(&own)?;
                let value = self.as_pair(value);
                self.named(value, "value")
            }
        };
        self.assignment(&call.receiver, &syn::parse_quote!(__jut_list))?;
        Ok(value)
    }

    /// What a field is given where it is made: a list without elements is one of the field's type.
    pub fn given_to_field(
        &mut self,
        value: &Expr,
        hole: usize,
        step: Step,
    ) -> Result<Value, Refusal> {
        let steps = vec![step];
        if !crate::syntax::is_empty(value) {
            if crate::syntax::is_from_fn(value) && self.expected.wanted.is_none() {
                self.expected.wanted = Some(Ty::Of(hole, steps));
            }
            return self.expression(value);
        }
        let text = format!("$neutral {hole}{}$", crate::types::words(&steps));
        Ok(Value::name(text, Ty::Of(hole, steps), i64::MIN))
    }

    /// What a call makes of a place: of a field whose owner measures its lists, the owner is made anew.
    pub fn changed_by_a_call(&self, place: &str, ty: &Ty, changed: &str) -> String {
        let plain = format!("{place} = {changed}");
        let Ty::Of(hole, steps) = self.resolve(ty) else { return plain };
        let Some((Step::Field(_), _)) = steps.split_last() else { return plain };
        let tag = format!("{hole}{}", crate::types::words(&steps));
        let Some(base) = place.strip_suffix(&format!(".$field {tag}$")) else { return plain };
        format!(
            "$if measured {tag}${changed}_owner = {base}\n{base} = $remade {changed}_owner {changed} {tag}$$end$$if fitted {tag}${plain}$end$"
        )
    }

    /// `owner.list = e`, of which the lines from `from` are those of an owner that does not measure its lists: of one that does, it is made anew.
    pub fn given_another_list(
        &mut self,
        target: &Expr,
        ty: &Ty,
        value: &Value,
        from: usize,
    ) -> Result<(), Refusal> {
        let Expr::Field(field) = unwrapped(target) else { return Ok(()) };
        let Ty::Of(hole, steps) = self.resolve(ty) else { return Ok(()) };
        let Some((Step::Field(_), _)) = steps.split_last() else { return Ok(()) };
        let tag = format!("{hole}{}", crate::types::words(&steps));
        let others = self.lines.split_off(from).join("\n");
        let base = self.referred(&field.base)?;
        let index =
            self.lines.split_off(from).iter().map(|line| format!("{line}\n")).collect::<String>();
        let (old, list) = (self.names.unique("owner"), self.names.unique("list"));
        self.lines.push(format!(
            "$if measured {tag}${index}{old} = {0}\n{list} = {1}\n{0} = $remade {old} {list} {tag}$$end$$if fitted {tag}${others}$end$",
            base.text, value.text
        ));
        Ok(())
    }
}

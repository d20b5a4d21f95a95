//! Closures that give closures: `let scaled = |k| move |v| k * v; let double = scaled(2.0);`.
//!
//! A closure has no value in the text: its name stands for what is written out where it is called. So a call of one that ends with a
//! closure gives a name to that closure, in whose scope the parameters of the first are the arguments, computed once, where the call is:
//!
//! ```text
//! let double = scaled(2.0);       argument = 2.0
//! double(x) + double(y)           argument * x + argument * y
//! ```
//!
//! Requires: the call stands in a `let` with one name, or is called at once, `scaled(2.0)(x)`, and the first closure has a name.

use crate::lowering::{Closure, Lowering, Tail};
use crate::syntax::unwrapped;
use crate::{Refusal, refuse};
use std::rc::Rc;
use syn::{Expr, ExprCall, ExprClosure, Stmt};

/// What a closure does before it gives another one, and that one.
fn given(closure: &ExprClosure) -> Option<(Vec<Stmt>, &ExprClosure)> {
    let (mut before, mut end) = (Vec::new(), unwrapped(&closure.body));
    loop {
        match end {
            Expr::Closure(inner) => return Some((before, inner)),
            Expr::Block(block) if block.label.is_none() => {
                let (Stmt::Expr(last, None), first) = block.block.stmts.split_last()? else {
                    return None;
                };
                before.extend(first.iter().cloned());
                end = unwrapped(last);
            }
            _ => return None,
        }
    }
}

impl Lowering<'_> {
    /// The closure that is called, if it gives another one.
    fn giver(&self, call: &ExprCall) -> Option<Rc<Closure>> {
        let Expr::Path(path) = unwrapped(&call.func) else { return None };
        let closure = self.lookup(&path.path.get_ident()?.to_string())?.closure.clone()?;
        given(&closure.expr).is_some().then_some(closure)
    }

    /// Whether a value is a call of such a closure.
    pub fn gives_closure(&self, value: &Expr) -> bool {
        matches!(unwrapped(value), Expr::Call(call) if self.giver(call).is_some())
    }

    /// `let double = scaled(2.0);` of such a closure; whether it is one.
    pub fn given_closure(&mut self, name: &syn::Ident, value: &Expr) -> Result<bool, Refusal> {
        let Expr::Call(call) = unwrapped(value) else { return Ok(false) };
        if let Some(call) = self.called_at_once(call)? {
            return self.given_closure(name, &Expr::Call(call));
        }
        let Some(closure) = self.giver(call) else { return Ok(false) };
        let Some((before, inner)) = given(&closure.expr) else { return Ok(false) };
        let arguments: Vec<&Expr> = call.args.iter().collect();
        let values = self.sequence(&arguments)?;
        let mut scopes = closure.scopes.clone();
        scopes.push(Default::default());
        let outside = std::mem::replace(&mut self.scopes, scopes);
        let done = self.closure_within(name, (&closure.expr, values), &before, inner);
        self.scopes = outside;
        let local = done?;
        self.declare(&name.to_string(), local);
        Ok(true)
    }

    fn closure_within(
        &mut self,
        name: &syn::Ident,
        (outer, values): (&ExprClosure, Vec<crate::value::Value>),
        before: &[Stmt],
        inner: &ExprClosure,
    ) -> Result<crate::lowering::Local, Refusal> {
        for (pattern, value) in outer.inputs.iter().zip(values) {
            let value = self.named(value, "argument");
            self.bind(pattern, crate::elements::Item::One(value))?;
        }
        self.statements(before, Tail::Unit)?;
        self.closure_binding(name, inner)?;
        match self.lookup(&name.to_string()) {
            Some(local) => Ok(local.clone()),
            None => refuse(name, GIVEN),
        }
    }

    /// `scaled(2.0)(x)` as a call of a name; nothing of any other call.
    pub fn called_at_once(&mut self, call: &ExprCall) -> Result<Option<ExprCall>, Refusal> {
        let name = syn::Ident::new("__jut_given_closure", proc_macro2::Span::mixed_site());
        if !self.given_closure(&name, &call.func)? {
            return Ok(None);
        }
        let given = call.args.iter();
        Ok(Some(syn::parse_quote!(#name(#(#given),*))))
    }
}

/// What is said of a closure that gives another one where that has no name.
pub(crate) const GIVEN: &str = "a closure is an argument, or has a name: `let g = |x| ..;`; so has one that another gives: \
                                `let double = scaled(2.0);`";

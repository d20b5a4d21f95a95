//! Functions that have a name in a block: `g = fn (x) -> e`, and `slope = grad(f)`.
//!
//! ```text
//! g = fn (x) -> a * x             (nothing)
//! y = g(2.0)                      y = a * 2.0
//! z = grad(g)(y)                  z = f.fn{x}.grad(a, y)
//! ```
//!
//! Such a name is what a parameter that is a function is in the body of a definition ([`super::template`]): it is called,
//! its derivatives are taken, it is handed on, and it is no value. What it captures is what the names mean where it is
//! written; a variable has the value that it has at the call. No types are stated: each call says what it gives, and the
//! body is elaborated for these.
//!
//! *Cost*: that of the text that each call writes out.

use super::body::Body;
use super::given::Given;
use super::scope::Entity;
use super::{Global, Res};
use crate::ast::{self, ExprId, ExprKind};

impl<'a, 's> Body<'a, 's> {
    /// From here on the name is that of a function.
    pub(super) fn name_function(&mut self, name: &'s str, given: Given<'a, 's>) {
        self.given.push(given);
        self.scope.bind(name, Entity::F(self.given.len() - 1));
    }

    /// Whether a name that has no value is that of a definition or a primitive.
    pub(super) fn is_name_of_function(&self, name: &str) -> bool {
        match self.globals.global(name) {
            Some(Global::Func(_) | Global::Template(_)) => true,
            Some(Global::Con(_)) => false,
            None => super::operation::is_primitive(name),
        }
    }

    /// Whether what is bound to a name is a function: `g = fn (x) -> e`, `g = grad(f)`.
    pub(super) fn is_function(&self, e: ExprId) -> bool {
        match &self.ast.expr(e).kind {
            ExprKind::Lambda(_) => true,
            ExprKind::Call(call) => {
                let of_definition = || {
                    let name = self.name_of_derivative(call)?;
                    self.derivative_named(&name)
                };
                self.derivative_of_given(call).is_some() || of_definition().is_some()
            }
            _ => false,
        }
    }

    /// `g = fn (x) -> e`: a name of a function for the rest of the block.
    pub(super) fn bind_function(
        &mut self,
        items: &'a [ast::Item<'s>],
        declared: bool,
        e: ExprId,
    ) -> Res<()> {
        let span = self.span(e);
        self.surface_only(span, "a function without a name", "make it a definition")?;
        let [item] = items else {
            let message = format!("one function, and {} names", items.len());
            let help = "give the function one name: `g = fn (x) -> ..`";
            return self.error("J213", span, message, help);
        };
        if declared {
            let message = "a variable is no function";
            let help = "leave `var` out; another function has another name";
            return self.error("J608", span, message, help);
        }
        if item.ty.is_some() {
            let message = "no type is stated of a function that has a name in a block";
            return self.error("J214", item.name.span, message, "leave the type out");
        }
        self.functions.insert(item.name.text);
        let callable = self.callable(e)?;
        self.name_function(item.name.text, Given { callable, stated: None });
        Ok(())
    }
}

//! Checks that the arithmetic of sizes does not wrap.
//!
//! The range rule proves accesses over the integers, and i64 arithmetic wraps; for a size such as
//! `n * m` the two are the same only after `check n * m` ([`jut_ir::cover`]). In a `def` these checks
//! stand where an array of such a size gets a name: at the head of a function for its parameters, behind
//! the statement that binds it elsewhere. They cost a few operations per array, and none per access.

use super::Res;
use super::body::Body;
use crate::ast::{ExprId, ExprKind, Op};
use jut_ir::prim::{self, Prim};
use jut_ir::{Atom, Check, Diagnostic, Literal, Rhs, Size, Span, Type};

/// An operation whose result nobody has asked for yet.
enum Partial {
    Value(Atom),
    Open(Prim, Atom, Atom),
}

impl<'a, 's> Body<'a, 's> {
    /// Emits what is missing to know the sizes in the type of an array in scope.
    pub fn exact_type(&mut self, ty: &Type, span: Span) -> Res<()> {
        if self.strict {
            return Ok(());
        }
        let mut open: Vec<Size> = Vec::new();
        let facts = &self.facts;
        ty.for_each_size(&mut |size| {
            if !facts.is_exact_dimension(size) && !open.contains(size) {
                open.push(size.clone());
            }
        });
        open.iter().try_for_each(|size| self.exact_size(size, span))
    }

    /// Emits the checks of the operations that compute a size, as far as they are not plain.
    fn exact_size(&mut self, size: &Size, span: Span) -> Res<()> {
        let (constant, named): (Vec<_>, Vec<_>) =
            size.terms().iter().partition(|(names, _)| names.is_empty());
        let mut sum: Option<Partial> = None;
        for (names, c) in named.into_iter().chain(constant) {
            let subtract = sum.is_some() && *c < 0 && *c != i64::MIN;
            let c = if subtract { -*c } else { *c };
            let mut term: Option<Partial> = None;
            for name in names {
                let name = Partial::Value(Atom::Var(*name));
                term = Some(self.exact_step(prim::IMUL, term, name, span)?);
            }
            if c != 1 || term.is_none() {
                let c = Partial::Value(Atom::Lit(Literal::I64(c)));
                term = Some(match term {
                    None => c,
                    Some(term) => self.exact_step(prim::IMUL, Some(c), term, span)?,
                });
            }
            if self.facts.is_exact_dimension(size) {
                return Ok(());
            }
            let operation = if subtract { prim::ISUB } else { prim::IADD };
            if let Some(term) = term {
                sum = Some(self.exact_step(operation, sum, term, span)?);
            }
        }
        Ok(())
    }

    /// One operation, checked unless it is plain; nothing if there is no first operand.
    fn exact_step(
        &mut self,
        operation: Prim,
        a: Option<Partial>,
        b: Partial,
        span: Span,
    ) -> Res<Partial> {
        let Some(a) = a else { return Ok(b) };
        let (a, b) = (self.settled(a, span)?, self.settled(b, span)?);
        let (x, y) = (self.nf(a), self.nf(b));
        let form = match operation {
            prim::IMUL => x.checked_mul(&y),
            prim::ISUB => x.checked_sub(&y),
            _ => x.checked_add(&y),
        };
        if !form.is_some_and(|form| self.facts.is_exact(&form)) {
            self.emit(Rhs::Check(Check::Exact(operation, a, b)), span)?;
        }
        Ok(Partial::Open(operation, a, b))
    }

    /// The value of an operation, bound unless a name in scope has it.
    fn settled(&mut self, partial: Partial, span: Span) -> Res<Atom> {
        let (operation, a, b) = match partial {
            Partial::Value(a) => return Ok(a),
            Partial::Open(operation, a, b) => (operation, a, b),
        };
        let (x, y) = (self.nf(a), self.nf(b));
        let form = match operation {
            prim::IMUL => x.checked_mul(&y),
            prim::ISUB => x.checked_sub(&y),
            _ => x.checked_add(&y),
        };
        if let Some(v) = form.and_then(|form| self.scope.defined(&form)) {
            return Ok(Atom::Var(v));
        }
        self.bound_primitive(operation.row().text, vec![a, b], "t", span)
    }

    /// `check a * b`, as it is written.
    pub fn exact_check(&mut self, e: ExprId, span: Span) -> Res<()> {
        let ast = self.ast;
        if let ExprKind::Ops(ops) = &ast.expr(e).kind
            && let [Op::Operand(a), Op::Operand(b), Op::Binary(sign, _)] = ops[..]
        {
            let operation = match sign {
                "*" => Some(prim::IMUL),
                "+" => Some(prim::IADD),
                "-" => Some(prim::ISUB),
                _ => None,
            };
            if let Some(operation) = operation {
                let (a, b) = (self.integer(a, "an operand")?, self.integer(b, "an operand")?);
                return self.emit(Rhs::Check(Check::Exact(operation, a, b)), span);
            }
        }
        let error = Diagnostic::error("J302", span, "malformed check");
        self.fail(error.help("one operation is checked at a time: `check n * m`"))
    }
}

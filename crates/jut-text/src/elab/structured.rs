//! Calls of structured primitives: `matmul(a, b)`, or `matmul(a, b')` in linear code.
//!
//! At most one operand is linear; which one follows from the names. In a `def` the product of a
//! matrix that is transposed right there, `matmul(transposed(a), b)`, becomes the product with a
//! flag, `matmul_tn(a, b)`: nothing is copied.

use super::Res;
use super::body::Body;
use super::fit::equal_sizes;
use super::made::{Made, Out, Value};
use crate::ast::{self, ExprId, ExprKind};
use jut_ir::structured::{
    BATCH_MATMUL, BATCH_MATMUL_NT, BATCH_MATMUL_TN, BATCH_MATMUL_TT, MATMUL, MATMUL_NT, MATMUL_TN,
    MATMUL_TT, MATVEC, MATVEC_T, Misfit, PERMUTE_021, Param, TRANSPOSED,
};
use jut_ir::{Check, Diagnostic, LVar, Rhs, Size, Span, Structured, Type};

impl<'a, 's> Body<'a, 's> {
    /// `op(..)`.
    pub fn structured(
        &mut self,
        mut op: Structured,
        call: &'a ast::Call<'s>,
        span: Span,
    ) -> Res<Made> {
        let name = op.row().name;
        let mut args = Vec::new();
        let mut linear: Option<(usize, LVar)> = None;
        let mut operands = Vec::new();
        let mut sizes: Vec<Size> = Vec::new();
        for (k, e) in call.args.iter().enumerate() {
            let e = self.without_transposition(&mut op, k, *e);
            let at = self.span(e);
            if op.row().params.get(k).is_some_and(|p| matches!(p, Param::Size(_))) {
                let size = self.size_argument(e)?;
                sizes.push(size.clone());
                operands.push((Type::I64, size, at));
                continue;
            }
            let (ty, size) = match self.operand(e, "t")? {
                Value::N(a) => {
                    args.push(a);
                    (self.type_of(a), Size::default())
                }
                Value::L(x) => {
                    if linear.is_some() {
                        let message = format!(
                            "`{name}` of two linear values is not linear: with both doubled it is four times as large"
                        );
                        return self.not_linear(message, at);
                    }
                    if op.row().params.len() > k && op.transpose(k).is_none() {
                        let message = format!("`{name}` is not linear in argument {}", k + 1);
                        return self.not_linear(message, at);
                    }
                    linear = Some((k, x));
                    (self.lin_type(x), Size::default())
                }
            };
            operands.push((ty, size, at));
        }
        let types: Vec<(Type, Size)> =
            operands.iter().map(|(ty, size, _)| (ty.clone(), size.clone())).collect();
        let ty = match op.result_type(&types) {
            Ok(ty) => ty,
            Err(misfit) => return self.structured_misfit(op, misfit, &operands, call, span),
        };
        // An array has no negative size. (In a `core def` the check is written.)
        let given = operands.iter().filter(|(ty, _, _)| *ty == Type::I64);
        let mut open: Vec<(Size, Span)> = given.map(|(_, size, at)| (size.clone(), *at)).collect();
        let dims = ty.dimensions();
        for size in op.open_results().filter_map(|k| dims.get(k)) {
            // It gets a name in any case, for loops over the result that passes make.
            if linear.is_none() && !self.strict {
                self.materialize(size, span)?;
            }
            open.push((size.clone(), span));
        }
        for (size, at) in open {
            let here = linear.is_none() && !self.strict;
            if here && !self.facts.is_plainly_non_negative(&size) {
                let n = self.materialize(&size, at)?;
                self.emit(Rhs::Check(Check::NonNegative(n)), at)?;
            }
        }
        Ok(match linear {
            None => Out::one(Rhs::Structured(op, args, sizes), ty, span).into(),
            Some((operand, x)) => {
                Out::linear(Rhs::LApply { op, operand, args, sizes, x }, ty, span).into()
            }
        })
    }

    /// The size that an argument is: in a `core def` a polynomial as in a type, elsewhere any
    /// integer expression.
    fn size_argument(&mut self, e: ExprId) -> Res<Size> {
        if self.strict {
            return self.size(e);
        }
        let n = self.integer(e, "a size")?;
        Ok(self.nf(n))
    }

    /// An operand; if it is `transposed(a)` and there is a product that transposes it on the way,
    /// that product, and a.
    fn without_transposition(&self, op: &mut Structured, k: usize, e: ExprId) -> ExprId {
        let ast = self.ast;
        let ExprKind::Call(inner) = &ast.expr(e).kind else { return e };
        let [a] = inner.args.as_slice() else { return e };
        if self.strict || !inner.lin.is_empty() || !inner.places.is_empty() {
            return e;
        }
        let Some(turned) = self.structured_named(inner.func.text) else { return e };
        if turned == PERMUTE_021 {
            let other = match (*op, k) {
                (BATCH_MATMUL, 0) => BATCH_MATMUL_TN,
                (BATCH_MATMUL_TN, 0) => BATCH_MATMUL,
                (BATCH_MATMUL_NT, 0) => BATCH_MATMUL_TT,
                (BATCH_MATMUL_TT, 0) => BATCH_MATMUL_NT,
                (BATCH_MATMUL, 1) => BATCH_MATMUL_NT,
                (BATCH_MATMUL_NT, 1) => BATCH_MATMUL,
                (BATCH_MATMUL_TN, 1) => BATCH_MATMUL_TT,
                (BATCH_MATMUL_TT, 1) => BATCH_MATMUL_TN,
                _ => return e,
            };
            *op = other;
            return *a;
        }
        if turned != TRANSPOSED {
            return e;
        }
        let other = match (*op, k) {
            (MATMUL, 0) => MATMUL_TN,
            (MATMUL_TN, 0) => MATMUL,
            (MATMUL_NT, 0) => MATMUL_TT,
            (MATMUL_TT, 0) => MATMUL_NT,
            (MATMUL, 1) => MATMUL_NT,
            (MATMUL_NT, 1) => MATMUL,
            (MATMUL_TN, 1) => MATMUL_TT,
            (MATMUL_TT, 1) => MATMUL_TN,
            (MATVEC, 0) => MATVEC_T,
            (MATVEC_T, 0) => MATVEC,
            _ => return e,
        };
        *op = other;
        *a
    }

    /// The structured primitive that a call of this name means, if no definition hides it.
    pub fn structured_named(&self, text: &str) -> Option<Structured> {
        let hidden =
            self.globals.global(text).is_some() || self.globals.declared.contains_key(text);
        let name = if hidden { None } else { Some(text.strip_prefix("prim.").unwrap_or(text)) };
        name.and_then(Structured::find)
    }

    fn structured_misfit<T>(
        &mut self,
        op: Structured,
        misfit: Misfit,
        operands: &[(Type, Size, Span)],
        call: &'a ast::Call<'s>,
        span: Span,
    ) -> Res<T> {
        let row = op.row();
        let name = call.func.text;
        match misfit {
            Misfit::Count => {
                let (wanted, given) = (row.params.len(), operands.len());
                let shown: Vec<String> = row.params.iter().map(|p| p.text(op.widths().0)).collect();
                let message = format!("`{name}` takes {wanted} argument(s), not {given}");
                let help = format!("it works on ({})", shown.join(", "));
                self.fail(Diagnostic::error("J208", span, message).help(help))
            }
            Misfit::Kind(k) => {
                let (ty, _, at) = &operands[k];
                let (given, wanted) = (self.show(ty), row.params[k].text(op.widths().0));
                let message =
                    format!("`{name}` takes {wanted} as argument {}, and this is {given}", k + 1);
                let error = Diagnostic::error("J202", *at, message);
                let help = match (name, row.params[k], ty) {
                    ("matmul", Param::Array(_), Type::Array(_, element)) if element.is_float() => {
                        "the product of a matrix and a vector is `matvec(a, x)`, of two vectors `dot(x, y)` or `outer(x, y)`".to_owned()
                    }
                    (_, Param::Array(""), Type::I64) => "convert it: `f64(n)`".to_owned(),
                    _ => {
                        let shown: Vec<String> = row.params.iter().map(|p| p.text(op.widths().0)).collect();
                        format!("it works on ({})", shown.join(", "))
                    }
                };
                self.fail(error.help(help))
            }
            Misfit::Size { operand, earlier, sizes }
                if operand == earlier && op.product().is_none() =>
            {
                let given = self.show(&operands[operand].0);
                let [n, m] = sizes.each_ref().map(|size| self.show_size(size));
                let message = format!("`{name}` takes a square matrix, and this is {given}");
                let help = format!(
                    "if {n} and {m} are equal, `cast x : [{m}, {m}]f64` tests it at run time"
                );
                self.fail(Diagnostic::error("J202", operands[operand].2, message).help(help))
            }
            Misfit::Size { operand, earlier, sizes } if operand == earlier => {
                let [given, wanted] = sizes.each_ref().map(|size| self.show_size(size));
                let message = format!("`{name}` of {given} elements: there have to be {wanted}");
                let help = format!(
                    "take as many: `x[a ..+ {wanted}]`; or `cast x : [{wanted}]f64` tests it at run time"
                );
                self.fail(Diagnostic::error("J202", operands[operand].2, message).help(help))
            }
            Misfit::Size { operand, earlier, sizes } => {
                let show = |k: usize| self.show(&operands[k].0);
                let (a, b) = (show(earlier), show(operand));
                let [given, wanted] = sizes.each_ref().map(|size| self.show_size(size));
                let message = format!(
                    "`{name}` of {a} and {b}: the size {given} of the second has to be {wanted}"
                );
                let types: Vec<(Type, Size)> =
                    operands.iter().map(|(ty, size, _)| (ty.clone(), size.clone())).collect();
                let help = match (self.would_fit(op, &types), fitting(op, &types, operand)) {
                    (Some(help), _) => help,
                    (None, Some(ty)) => equal_sizes(&self.show(&ty)),
                    (None, None) => "make the sizes equal".to_owned(),
                };
                let (first, second) = (operands[earlier].2, operands[operand].2);
                let error = Diagnostic::error("J202", second, message).help(help);
                self.fail(error.label(first, format!("this one is {a}")))
            }
        }
    }

    /// Whether a product fits if one of its matrices is transposed.
    fn would_fit(&self, op: Structured, types: &[(Type, Size)]) -> Option<String> {
        let products = [
            (MATMUL_TN, "matmul(transposed(a), b)"),
            (MATMUL_NT, "matmul(a, transposed(b))"),
            (MATMUL_TT, "matmul(transposed(a), transposed(b))"),
            (MATMUL, "matmul(a, b)"),
        ];
        let vectors = [(MATVEC_T, "matvec(transposed(a), x)"), (MATVEC, "matvec(a, x)")];
        let is_product = products.iter().any(|(p, _)| *p == op);
        let others = if is_product { &products[..] } else { &vectors[..] };
        if !others.iter().any(|(p, _)| *p == op) {
            return None;
        }
        let fits = |p: Structured| p != op && p.result_type(types).is_ok();
        let (_, text) = others.iter().find(|(p, _)| fits(*p))?;
        Some(format!("this fits: `{text}`"))
    }
}

/// The type that an operand would have to have: with the sizes of the operands before it.
fn fitting(op: Structured, types: &[(Type, Size)], operand: usize) -> Option<Type> {
    let mut known: Vec<(char, Size)> = Vec::new();
    for (param, (ty, _)) in op.row().params.iter().zip(types).take(operand + 1) {
        let Param::Array(labels) = param else { continue };
        let mut inner = ty;
        for label in labels.chars() {
            let Type::Array(size, element) = inner else { return None };
            if known.iter().all(|(l, _)| *l != label) {
                known.push((label, size.clone()));
            }
            inner = element;
        }
    }
    let Param::Array(labels) = op.row().params.get(operand)? else { return None };
    let size = |label| known.iter().find(|(l, _)| *l == label).map(|(_, size)| size.clone());
    labels.chars().rev().try_fold(Type::F64, |ty, label| Some(Type::array(size(label)?, ty)))
}

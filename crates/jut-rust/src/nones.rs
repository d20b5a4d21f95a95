//! Lists and tuples with a `None` in them, of what it is none another element says, or the type that is written before:
//!
//! ```text
//! [Some(1.0), None]                                  #(false, 0.0), as its neighbour has it
//! let marks: [[Option<bool>; 2]; 2] = [[None, None], ..];      as the type says
//! (1.0, None)                                        nothing says it: an error at the `None`
//! ```

use crate::Refusal;
use crate::lowering::Lowering;
use crate::syntax::unwrapped;
use crate::types::Ty;
use crate::value::Value;
use syn::Expr;

impl Lowering<'_> {
    /// Elements of a list, and their type.
    pub fn of_one_type(&mut self, items: &[&Expr]) -> Result<(Vec<Value>, Ty), Refusal> {
        let written = match self.expected.wanted.take() {
            Some(Ty::Array(element, _)) => *element,
            _ => Ty::Never,
        };
        let values = self.in_order(items, |this, item| {
            this.expected.wanted = is_list(item).then(|| written.clone());
            let value = this.expression(item);
            this.expected.wanted = None;
            value
        })?;
        let mut ty = Ty::Never;
        for value in &values {
            ty = self.unify(&ty, &value.ty);
        }
        let known = match &ty {
            Ty::Option(inner) if **inner == Ty::Never => &written,
            known => known,
        };
        let known = known.clone();
        let values = self.without_open(values, items, &known)?;
        Ok((values, if ty == known { ty } else { known }))
    }

    /// The values, of which a `None` is one of this type.
    pub fn without_open(
        &mut self,
        values: Vec<Value>,
        items: &[&Expr],
        ty: &Ty,
    ) -> Result<Vec<Value>, Refusal> {
        values.into_iter().zip(items).map(|(value, item)| self.with_type(value, ty, item)).collect()
    }
}

/// Whether an expression is written element by element.
fn is_list(expr: &Expr) -> bool {
    match unwrapped(expr) {
        Expr::Array(_) | Expr::Repeat(_) => true,
        Expr::Macro(of) => of.mac.path.is_ident("vec"),
        _ => false,
    }
}

/// Whether an expression is to be known the type that is wanted: a list with a `None` in it, or one by `from_fn`.
pub(crate) fn wants_type(expr: &Expr) -> bool {
    crate::syntax::is_from_fn(expr) || is_list(expr) && crate::syntax::has_word(expr, "None")
}

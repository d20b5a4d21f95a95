//! Where the first number that is not finite comes from.
//!
//! *Requires*: arguments that are finite. *Ensures*: an operation is named only if its result is not finite and all its operands are: so infinity that a
//! program means, as the start of a smallest number, is none of these.

use crate::value::{Value, View};
use jut_ir::ir::Literal;
use jut_ir::prim::{Row, Syntax};

/// What a primitive says that makes a number which is not finite of numbers that are.
pub(crate) fn primitive(row: &Row, operands: &[Literal], value: Literal) -> Option<String> {
    let is_made = !finite(value) && !operands.is_empty() && operands.iter().all(|x| finite(*x));
    is_made.then(|| {
        let shown: Vec<String> = operands.iter().map(|x| text(*x)).collect();
        let applied = match (row.syntax, shown.as_slice()) {
            (Syntax::Infix, [a, b]) => format!("{a} {} {b}", row.text),
            (Syntax::Prefix, [a]) => format!("{}{a}", row.text),
            _ => format!("{}({})", row.text, shown.join(", ")),
        };
        format!("`{applied}` is {}", text(value))
    })
}

/// Whether all floats of a value are finite.
pub(crate) fn is_finite(value: &Value) -> bool {
    match value {
        Value::F64(x) => x.is_finite(),
        Value::F32(x) => x.is_finite(),
        Value::I64(_) | Value::I32(_) | Value::Bool(_) => true,
        Value::Tuple(items) | Value::Data(_, items) => items.iter().all(is_finite),
        Value::Array(array) => match array.view() {
            View::F64(cells) => cells.iter().all(|x| x.is_finite()),
            View::F32(cells) => cells.iter().all(|x| x.is_finite()),
            View::Items(items) => items.iter().all(is_finite),
            _ => true,
        },
    }
}

fn finite(literal: Literal) -> bool {
    match literal {
        Literal::F64(x) => x.is_finite(),
        Literal::F32(x) => x.is_finite(),
        _ => true,
    }
}

fn text(literal: Literal) -> String {
    match literal {
        Literal::F64(x) => format!("{x:?}"),
        Literal::F32(x) => format!("{x:?}"),
        Literal::I64(k) => k.to_string(),
        Literal::I32(k) => k.to_string(),
        Literal::Bool(b) => b.to_string(),
    }
}

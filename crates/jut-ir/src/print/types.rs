//! The text of types, sizes and literals.

use crate::entity::NVar;
use crate::ir::{Function, Literal, Program};
use crate::size::Size;
use crate::types::Type;

/// Prints a type whose sizes are names of the given function.
pub fn print_type(program: &Program, func: &Function, ty: &Type) -> String {
    let mut out = String::new();
    write_type(&mut out, program, ty, &|v| name_of(func, v));
    out
}

/// Prints a size whose names are names of the given function.
pub fn print_size(func: &Function, size: &Size) -> String {
    let mut out = String::new();
    write_size(&mut out, size, &|v| name_of(func, v));
    out
}

/// Prints a literal: floats in the shortest form that reads back to the same bits.
pub fn print_literal(literal: Literal) -> String {
    match literal {
        Literal::F64(x) if x.is_nan() => "nan()".to_string(),
        Literal::F64(x) if x == f64::INFINITY => "inf()".to_string(),
        Literal::F64(x) if x == f64::NEG_INFINITY => "-inf()".to_string(),
        Literal::F64(x) => format!("{x:?}"),
        Literal::F32(x) if x.is_finite() => format!("{x:?}f32"),
        Literal::F32(x) => format!("f32({})", print_literal(Literal::F64(f64::from(x)))),
        Literal::I64(x) => x.to_string(),
        Literal::I32(x) => format!("{x}i32"),
        Literal::Bool(x) => x.to_string(),
    }
}

/// A name that a function does not have: only in messages about ill-formed functions, where the
/// k-th result of a statement may stand for itself.
pub(super) fn unknown(v: NVar) -> String {
    match Size::position_of(v) {
        Some(k) => format!("<result {k}>"),
        None => format!("<{v:?}>"),
    }
}

pub(super) fn name_of(func: &Function, v: NVar) -> String {
    func.nvars.get(v).map_or_else(|| unknown(v), |data| data.name.to_string())
}

pub(super) fn write_type(
    out: &mut String,
    program: &Program,
    ty: &Type,
    name: &dyn Fn(NVar) -> String,
) {
    match ty {
        Type::Float(width) => out.push_str(width.name()),
        Type::I64 => out.push_str("i64"),
        Type::I32 => out.push_str("i32"),
        Type::Bool => out.push_str("bool"),
        Type::Tuple(items) => {
            if write_record(out, program, items, name) {
                return;
            }
            out.push_str("#(");
            for (k, item) in items.iter().enumerate() {
                if k > 0 {
                    out.push_str(", ");
                }
                write_type(out, program, item, name);
            }
            out.push(')');
        }
        Type::Array(..) => {
            let mut element = ty;
            let mut separator = '[';
            while let Type::Array(size, inner) = element {
                out.push(separator);
                if separator == ',' {
                    out.push(' ');
                }
                write_size(out, size, name);
                separator = ',';
                element = inner;
            }
            out.push(']');
            write_type(out, program, element, name);
        }
        Type::Data(data) => match program.datas.get(*data) {
            Some(data) => out.push_str(&data.name),
            None => out.push_str("<unknown type>"),
        },
    }
}

/// Writes a tuple with the mark of a record as `Net[n, 2 * m]`.
fn write_record(
    out: &mut String,
    program: &Program,
    items: &[Type],
    name: &dyn Fn(NVar) -> String,
) -> bool {
    let Some((_, data, record)) = program.record(items) else { return false };
    let sizes: Option<Vec<Size>> = record.sizes(items).into_iter().collect();
    let components = items.get(..record.fields.len()).unwrap_or_default();
    let Some(sizes) = sizes.filter(|s| record.components(s) == components) else {
        return false;
    };
    out.push_str(&data.name);
    for (k, size) in sizes.iter().enumerate() {
        out.push_str(if k == 0 { "[" } else { ", " });
        write_size(out, size, name);
    }
    out.push(']');
    true
}

/// Monomials in alphabetical order (the numbers of variables, by which a [`Size`] is sorted, are
/// not in the text), the constant last, but a positive one before all negative ones: `n - 1`,
/// `2 * m * n + 3`, `3 - n`.
fn write_size(out: &mut String, size: &Size, name: &dyn Fn(NVar) -> String) {
    let mut terms: Vec<(bool, Vec<String>, i64)> = Vec::new();
    for (names, coefficient) in size.terms() {
        let mut factors: Vec<String> = names.iter().map(|v| name(*v)).collect();
        factors.sort();
        terms.push((names.is_empty(), factors, *coefficient));
    }
    terms.sort();
    if let Some(k) = terms.iter().position(|(_, _, c)| *c > 0) {
        terms[..=k].rotate_right(1);
    }
    if terms.is_empty() {
        out.push('0');
    }
    for (k, (is_constant, mut factors, coefficient)) in terms.into_iter().enumerate() {
        out.push_str(match (k == 0, coefficient < 0) {
            (true, true) => "-",
            (true, false) => "",
            (false, true) => " - ",
            (false, false) => " + ",
        });
        if is_constant || coefficient.unsigned_abs() != 1 {
            factors.insert(0, coefficient.unsigned_abs().to_string());
        }
        out.push_str(&factors.join(" * "));
    }
}

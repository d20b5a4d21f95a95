//! Whether types fit, and what to do where they do not.

use jut_ir::{Field, Type};

/// A constructor with the names of its fields, as a value and as a pattern.
pub(super) fn fields_text(name: &str, fields: &[Field]) -> String {
    let names: Vec<&str> = fields.iter().map(|f| f.name.as_str()).collect();
    format!("{name}({})", names.join(", "))
}

/// What to do about a value of another size.
pub(super) fn equal_sizes(wanted: &str) -> String {
    format!(
        "sizes must be equal as polynomials; `cast x : {wanted}` tests the equality at run time"
    )
}

/// What to do about a value of another type.
pub(super) fn conversion(given: &str, wanted: &str) -> String {
    match (given, wanted) {
        ("i64", "f64") => "convert it: `f64(n)`".to_string(),
        ("f64", "i64") => "convert it: `i64(x)` rounds toward zero".to_string(),
        ("i32", "i64") => "convert it: `i64(k)` is exact".to_string(),
        ("i64", "i32") => "convert it: `i32(n)` keeps the last 32 bits".to_string(),
        ("f64", "bool") => "compare it: `x > 0.0`".to_string(),
        ("i64", "bool") => "compare it: `n != 0`".to_string(),
        ("bool", "f64") => "choose the number: `select(b, 1.0, 0.0)`".to_string(),
        ("bool", "i64") => "choose the number: `select(b, 1, 0)`".to_string(),
        _ if given.starts_with('[') && given.ends_with(&format!("]{wanted}")) => {
            "give one element: `x[i]`".to_string()
        }
        _ if wanted.starts_with('[') && wanted.ends_with(&format!("]{given}")) => {
            format!("make the array: `build (i < n) {{ .. }}`; {wanted} is needed")
        }
        _ => format!("give a value of type {wanted}"),
    }
}

/// What to do where an array is needed to loop over.
pub(super) fn no_elements(ty: &Type) -> &'static str {
    match ty {
        Type::I64 => "to count, write `i < n`; `v <- x` takes the elements of an array",
        Type::Float(_) => "loop over an array, `v <- x`, or count: `i < n`",
        _ => "loop over an array: `v <- x`",
    }
}

/// Whether values of the type can be added.
pub(super) fn is_number(ty: &Type) -> bool {
    match ty {
        Type::Float(_) | Type::I64 | Type::I32 => true,
        Type::Array(_, element) => is_number(element),
        Type::Tuple(items) => items.iter().all(is_number),
        Type::Bool | Type::Data(_) => false,
    }
}

/// Whether two types are equal up to sizes.
pub(super) fn same_shape(a: &Type, b: &Type) -> bool {
    match (a, b) {
        (Type::Array(_, a), Type::Array(_, b)) => same_shape(a, b),
        (Type::Tuple(a), Type::Tuple(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same_shape(a, b))
        }
        _ => a == b,
    }
}

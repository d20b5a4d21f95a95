//! Types in the words of a function: `[n, d]f64`, with the names that its sizes have there.

use jut_ir::{Function, Program, Size, Type};

/// A type in the words of a function.
pub fn show_type(program: &Program, func: &Function, ty: &Type) -> String {
    match ty {
        Type::Float(width) => width.name().into(),
        Type::I64 => "i64".into(),
        Type::I32 => "i32".into(),
        Type::Bool => "bool".into(),
        Type::Data(id) => program.datas[*id].name.clone(),
        Type::Tuple(items) if program.record(items).is_some() => {
            jut_ir::print::print_type(program, func, ty)
        }
        Type::Tuple(items) => {
            let items: Vec<String> = items.iter().map(|t| show_type(program, func, t)).collect();
            format!("#({})", items.join(", "))
        }
        Type::Array(..) => {
            let mut sizes = Vec::new();
            let mut inner = ty;
            while let Type::Array(size, element) = inner {
                sizes.push(show_size(func, size));
                inner = element;
            }
            format!("[{}]{}", sizes.join(", "), show_type(program, func, inner))
        }
    }
}

fn show_size(func: &Function, size: &Size) -> String {
    let mut text = String::new();
    for (names, c) in size.terms() {
        let names: Vec<&str> = names.iter().map(|v| func.nvars[*v].name.as_str()).collect();
        let sign = match (text.is_empty(), *c < 0) {
            (true, true) => "-",
            (true, false) => "",
            (false, true) => " - ",
            (false, false) => " + ",
        };
        text.push_str(sign);
        let magnitude = c.unsigned_abs();
        if magnitude != 1 || names.is_empty() {
            text.push_str(&magnitude.to_string());
            text.push_str(if names.is_empty() { "" } else { " * " });
        }
        text.push_str(&names.join(" * "));
    }
    if text.is_empty() { "0".into() } else { text }
}

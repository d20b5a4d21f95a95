//! Declarations as a whole: names, and the fields of data types.

use crate::diagnostic::Diagnostic;
use crate::entity::EntityRef;
use crate::ir::{Data, Decl, Program};
use crate::types::Type;
use std::collections::HashSet;

/// Checks names and data types of a program: every name is declared once, a field's type mentions
/// earlier i64 fields of its constructor only. Data types may hold each other and themselves.
pub(super) fn check_declarations(program: &Program) -> Vec<Diagnostic> {
    let mut errors = Vec::new();
    let mut names = HashSet::new();
    let mut constructors = HashSet::new();
    for decl in &program.order {
        let (name, span) = match decl {
            Decl::Data(data) => (&program.datas[*data].name, program.datas[*data].span),
            Decl::Func(func) => (&program.funcs[*func].name, program.funcs[*func].span),
        };
        if !names.insert((matches!(decl, Decl::Data(_)), name)) {
            errors.push(Diagnostic::error("J011", span, format!("`{name}` is declared twice")));
        }
        let Decl::Data(data) = decl else { continue };
        for constructor in &program.datas[*data].constructors {
            let name = &constructor.name;
            if !constructors.insert(name) {
                let message = format!("constructor `{name}` is declared twice");
                errors.push(Diagnostic::error("J011", span, message));
            }
        }
        errors.extend(check_data(&program.datas[*data]));
    }
    errors
}

fn check_data(data: &Data) -> Option<Diagnostic> {
    let error = |code, message: String| Some(Diagnostic::error(code, data.span, message));
    if data.constructors.is_empty() {
        return error("J501", format!("`{}` has no constructor", data.name));
    }
    for constructor in &data.constructors {
        let mut names = HashSet::new();
        for (k, field) in constructor.fields.iter().enumerate() {
            let name = &field.name;
            if !names.insert(name) {
                let message = format!("`{}` has two fields called `{name}`", constructor.name);
                return error("J011", message);
            }
            for size in field.ty.size_names() {
                let is_earlier_size = size.index() < k
                    && constructor.fields.get(size.index()).is_some_and(|f| f.ty == Type::I64);
                if !is_earlier_size {
                    let message = format!("a size of field `{name}` is no earlier i64 field");
                    return error("J203", message);
                }
            }
        }
    }
    None
}

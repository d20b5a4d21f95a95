//! Declarations as a whole: names, and the fields of data types.

use crate::diagnostic::Diagnostic;
use crate::entity::{DataId, EntityRef, SecondaryMap};
use crate::ir::{Data, Decl, Program};
use crate::types::Type;
use std::collections::HashSet;

/// Checks names and data types of a program: every name is declared once, a field's type mentions
/// earlier i64 fields of its constructor and earlier data types only.
pub(super) fn check_declarations(program: &Program) -> Vec<Diagnostic> {
    let mut errors = Vec::new();
    let mut names = HashSet::new();
    let mut constructors = HashSet::new();
    let mut earlier = SecondaryMap::new();
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
        errors.extend(check_data(program, &program.datas[*data], &earlier));
        earlier[*data] = true;
    }
    errors
}

fn check_data(
    program: &Program,
    data: &Data,
    earlier: &SecondaryMap<DataId, bool>,
) -> Option<Diagnostic> {
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
            if let Some(other) = later_data(&field.ty, earlier) {
                let other = &program.datas[other].name;
                let message = format!(
                    "not built yet: recursive data; `{other}` is not declared before field `{name}`"
                );
                return error("J901", message);
            }
        }
    }
    None
}

fn later_data(ty: &Type, earlier: &SecondaryMap<DataId, bool>) -> Option<DataId> {
    match ty {
        Type::Float(_) | Type::I64 | Type::Bool => None,
        Type::Tuple(items) => items.iter().find_map(|item| later_data(item, earlier)),
        Type::Array(_, element) => later_data(element, earlier),
        Type::Data(data) => (!earlier[*data]).then_some(*data),
    }
}

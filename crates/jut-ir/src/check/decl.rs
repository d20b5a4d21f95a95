//! Declarations as a whole: names, and the fields of data types.

use super::binding::is_linear;
use crate::data::Record;
use crate::diagnostic::Diagnostic;
use crate::entity::{DataId, EntityRef};
use crate::ir::{Constructor, Data, Decl, Program};
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
        errors.extend(check_tangent(program, *data));
    }
    errors
}

fn check_data(data: &Data) -> Option<Diagnostic> {
    let error = |code, message: String| Some(Diagnostic::error(code, data.span, message));
    if data.constructors.is_empty() {
        return error("J501", format!("`{}` has no constructor", data.name));
    }
    if let Some(record) = &data.record {
        return check_record(data, record);
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

/// The mark of a record with sizes has constructors without fields. The components of each are called differently, and each size
/// stands alone in one of them.
fn check_record(data: &Data, record: &Record) -> Option<Diagnostic> {
    let error = |code, message: String| Some(Diagnostic::error(code, data.span, message));
    let counts = (record.counts.len(), record.counts.iter().sum::<usize>());
    let is_mark = data.constructors.iter().all(|c| c.fields.is_empty());
    if !is_mark || counts != (data.constructors.len(), record.fields.len()) {
        return error("J501", format!("`{}` is no mark of a record", data.name));
    }
    let params = record.params.len();
    for (index, constructor) in data.constructors.iter().enumerate() {
        let mut names = HashSet::new();
        let fields = record.fields_of(index).iter().map(|f| &f.name);
        for name in record.params.iter().chain(fields) {
            if !names.insert(name) {
                let message = format!("`{}` has two parts called `{name}`", constructor.name);
                return error("J011", message);
            }
        }
    }
    for field in &record.fields {
        if field.ty.size_names().iter().any(|v| v.index() >= params) {
            let message = format!("a size of field `{}` is no size of `{}`", field.name, data.name);
            return error("J203", message);
        }
    }
    let types: Vec<Type> = record.fields.iter().map(|f| f.ty.clone()).collect();
    let unknown = record.sizes(&types).iter().position(Option::is_none)?;
    error("J203", format!("no field of `{}` has `{}` as a size", data.name, record.params[unknown]))
}

/// A declared tangent type: a zero, then constructors of sizes and linear values, those of what it is the type of the
/// tangents of.
fn check_tangent(program: &Program, id: DataId) -> Option<Diagnostic> {
    let data = &program.datas[id];
    let error = |message: String| Some(Diagnostic::error("J501", data.span, message));
    let Some(of) = program.tangent_of(id).filter(|_| program.is_tangent(id)) else {
        return match data.tangent {
            Some(other) if !program.is_tangent(other) => error(format!(
                "`{}` is no type of tangents, and that of `{}` is one",
                program.datas[other].name, data.name
            )),
            _ => None,
        };
    };
    let fits = data.constructors.first().is_some_and(|c| c.fields.is_empty());
    let fields = || data.constructors.iter().flat_map(|c| &c.fields).map(|f| &f.ty);
    if !fits || !fields().all(|ty| *ty == Type::I64 || is_linear(program, ty)) {
        return error(format!("`{}` holds what is not linear", data.name));
    }
    let types = |constructors: &[Constructor]| -> Vec<Vec<Type>> {
        let fields = constructors.iter().map(|c| c.fields.iter().map(|f| f.ty.clone()).collect());
        fields.collect()
    };
    if types(&data.constructors) != types(&program.tangent_data(of).constructors) {
        let (data, of) = (&data.name, &program.datas[of].name);
        return error(format!("`{data}` has not the constructors of a tangent of `{of}`"));
    }
    None
}

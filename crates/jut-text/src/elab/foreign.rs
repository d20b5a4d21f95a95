//! Functions of other languages: `extern def p(n: i64; x': [n]f64) -> (; [n]f64) transpose q derivative r`.
//!
//! They are declared before everything else in their file, because transposes name each other and nothing in a declaration
//! needs a definition. The name alone means the function on ordinary values, `p(n, x)`; a call with a `;` is linear. Only
//! the derivative is a definition, which may stand anywhere: it is noted as soon as it is known.

use super::body::Body;
use super::{Global, Globals, Stop, signature, unused};
use crate::ast::{Ast, Decl, Extern, Name};
use jut_ir::check::{check_foreign, check_foreign_derivative, check_function};
use jut_ir::entity::EntityRef;
use jut_ir::{
    Decl as Declared, Diagnostic, Foreign, Form, FuncId, Function, LVar, LinVarData, NVar, Program,
    ResultDecl, VarData, names,
};

/// The declarations of a file whose derivatives are not known yet.
pub(super) struct Externs<'a, 's> {
    waiting: Vec<(FuncId, &'a Name<'s>, &'a Extern<'s>)>,
}

impl<'a, 's> Externs<'a, 's> {
    /// Declares those of a file.
    pub fn declare(
        ast: &'a Ast<'s>,
        program: &mut Program,
        globals: &mut Globals,
        diagnostics: &mut Vec<Diagnostic>,
    ) -> Externs<'a, 's> {
        let mut made: Vec<(FuncId, &'a Extern<'s>)> = Vec::new();
        for decl in &ast.decls {
            let Decl::Extern(p) = decl else { continue };
            match head(ast, p, program, globals, diagnostics) {
                Ok(id) => made.push((id, p)),
                Err(Stop) => globals.poison(p.def.name.text),
            }
        }
        let mut refused = Vec::new();
        for (id, p) in &made {
            match transpose(p, program, globals) {
                Ok(Some(transpose)) => declared_as(program, *id, Some(transpose), None),
                Ok(None) => refused.push((p, None)),
                Err(error) => refused.push((p, Some(error))),
            }
        }
        let mut waiting = Vec::new();
        for (id, p) in &made {
            // Whether one is named is asked here, what it is later.
            let named = p.derivative.as_ref().map(|_| *id);
            declared_as(program, *id, None, named);
            if refused.is_empty()
                && let Err(error) = check_foreign(program, *id)
            {
                refused.push((p, Some(error)));
            }
            declared_as(program, *id, None, None);
            waiting.extend(p.derivative.as_ref().map(|by| (*id, by, *p)));
        }
        for (p, error) in refused {
            diagnostics.extend(error);
            globals.poison(p.def.name.text);
            globals.names.remove(&globals.full(p.def.name.text));
            waiting.retain(|(_, _, other)| !std::ptr::eq(*other, *p));
        }
        Externs { waiting }
    }

    /// Notes the derivatives that are known by now.
    pub fn settle(
        &mut self,
        program: &mut Program,
        globals: &Globals,
        diagnostics: &mut Vec<Diagnostic>,
    ) {
        self.waiting.retain(|(id, name, _)| {
            let Some(Global::Func(by)) = globals.global(name.text) else { return true };
            // What is wrong with the definition is reported in the end, with everything else.
            if check_function(program, by).is_err() {
                return false;
            }
            declared_as(program, *id, None, Some(by));
            if let Err(error) = check_foreign_derivative(program, *id) {
                declared_as(program, *id, None, None);
                diagnostics.push(error.label(name.span, "for this one"));
            }
            false
        });
    }

    /// Refuses what is not known in the end.
    pub fn finish(
        mut self,
        program: &mut Program,
        globals: &Globals,
        diagnostics: &mut Vec<Diagnostic>,
    ) {
        self.settle(program, globals, diagnostics);
        for (_, name, p) in self.waiting {
            if globals.is_poisoned(name.text) {
                continue;
            }
            let message = match globals.global(name.text) {
                Some(_) => format!("`{}` is no definition that can be a derivative", name.text),
                None => format!(
                    "the derivative `{}` of `{}` is not defined",
                    name.text, p.def.name.text
                ),
            };
            let help = "name a definition of this file, or another `extern`";
            diagnostics.push(Diagnostic::error("J010", name.span, message).help(help));
        }
    }
}

/// Declares the two functions of a declaration, whose transpose is not known yet.
fn head<'s>(
    ast: &Ast<'s>,
    p: &Extern<'s>,
    program: &mut Program,
    globals: &mut Globals,
    diagnostics: &mut Vec<Diagnostic>,
) -> Result<FuncId, Stop> {
    let full = globals.full(p.def.name.text);
    unused(globals, &p.def.name, &full, globals.names.contains_key(&full), diagnostics)?;
    let mut body = Body::new(ast, program, globals, &[], false, diagnostics);
    signature(&mut body, &p.def, full.clone())?;
    let func = std::mem::take(&mut body.b.func);
    let linear = FuncId::new(program.funcs.len());
    let value = FuncId::new(program.funcs.len() + 1);
    let number = program.funcs.values().filter(|f| f.is_foreign_linear()).count() as u32;
    let form = Form::Linear { transpose: linear, value, derivative: None };
    let on_values = value_of(&func, Foreign { number, form: Form::Value { of: linear } });
    let name = on_values.name.clone();
    program.funcs.push(Function { foreign: Some(Foreign { number, form }), ..func });
    program.funcs.push(on_values);
    program.order.extend([linear, value].map(Declared::Func));
    globals.names.insert(full, Global::Func(value));
    globals.names.insert(name, Global::Func(value));
    Ok(linear)
}

/// The same function on ordinary values.
fn value_of(p: &Function, foreign: Foreign) -> Function {
    let mut value = p.signature();
    value.name = names::erased(&p.name);
    value.foreign = Some(foreign);
    value.derived = true;
    let linear: Vec<LVar> = std::mem::take(&mut value.lin_params);
    for x in linear {
        let LinVarData { name, ty, span } = value.lvars[x].clone();
        let plain = name.trim_end_matches('\'');
        let taken = |v: &VarData| v.name == plain;
        let name = match value.nvars.values().any(taken) {
            true => format!("{plain}_{}", x.index()).into(),
            false => plain.into(),
        };
        let v: NVar = value.nvars.push(VarData { name, ty, def: None, span });
        value.params.push(v);
    }
    value.lvars.clear();
    let results = std::mem::take(&mut value.lin_results).into_iter();
    value.results = results.map(|r| ResultDecl { name: None, ty: r.ty }).collect();
    value
}

/// Changes what is known of a declaration.
fn declared_as(program: &mut Program, id: FuncId, to: Option<FuncId>, by: Option<FuncId>) {
    if let Some(Foreign { form: Form::Linear { transpose, derivative, .. }, .. }) =
        &mut program.funcs[id].foreign
    {
        *transpose = to.unwrap_or(*transpose);
        *derivative = by;
    }
}

/// The transpose that a declaration names; `None` if that one was refused.
fn transpose(
    p: &Extern,
    program: &Program,
    globals: &Globals,
) -> Result<Option<FuncId>, Diagnostic> {
    let name = &p.transpose;
    if let Some(Global::Func(func)) = globals.global(name.text)
        && let Some(declared) = program.declared(func)
    {
        return Ok(Some(declared.linear));
    }
    if globals.is_poisoned(name.text) {
        return Ok(None);
    }
    let message = match globals.declared_at(name.text) {
        Some(_) => format!("the transpose `{}` of `{}` is no `extern`", name.text, p.def.name.text),
        None => format!("the transpose `{}` of `{}` is not declared", name.text, p.def.name.text),
    };
    let help = format!(
        "declare it beside `{0}`: `extern def {1}(..) -> .. transpose {0}`",
        p.def.name.text, name.text
    );
    Err(Diagnostic::error("J812", name.span, message).help(help))
}

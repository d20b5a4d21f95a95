//! Elaboration: from the syntax tree to [`jut_ir`].
//!
//! One elaborator serves both kinds of definition. A `core def` is taken literally: every
//! statement is one operation on names and literals, every name is kept (J601 for anything else).
//! A `def` is the same grammar without those restrictions; [`sugar`] says what its loops become,
//! [`each`] what operators on arrays do, [`recurrence`] what arrays that are written element by element are, [`access`] where `check`s are put, [`guard`] which of them a `core def` gets, [`jut_ir::repair`] where `dup` and `drop` are.
//!
//! ```text
//! def nb[n](x: [n]f64) -> f64 = sum (i < n - 1) { x[i] * x[i + 1] }
//!
//! core def nb(n: i64, x: [n]f64) -> f64 = {
//!   t = n - 1
//!   t_4 = acc lanes s: f64 { scan par (i < t) { t_1 = x[i]; j = i + 1; t_2 = x[j]; t_3 = t_1 * t_2; s += t_3 } }
//!   t_4
//! }
//! ```
//!
//! Elaboration synthesises the type of every variable, with sizes in normal form, because loops and
//! calls need them; it reports what goes wrong on the way. That the result is well typed,
//! linearity and coverage included, is decided by [`jut_ir::check`] alone, which shares no code with
//! this module.
//!
//! Requires a tree from the parser (bounded nesting). Ensures: no panic; a statement that is refused
//! poisons its names, so that one mistake is reported once. Cost: linear in the text for everything
//! but `_` arms and nested `max`/`min` over ranges, which copy their text (a bounded number of times).

mod access;
mod alias;
mod arm;
mod assigned;
mod block;
mod body;
mod branch;
mod call;
mod complex;
mod control;
mod derived;
mod each;
mod early;
mod effect;
mod exact;
mod fit;
mod foreign;
mod given;
mod globals;
mod guard;
mod head;
mod histogram;
mod join;
mod labels;
mod library;
mod linear;
mod local;
mod local_function;
mod made;
mod narrow;
mod opaque_sizes;
mod operation;
mod order;
mod policy;
mod printing;
mod record;
mod recurrence;
mod region;
mod rule;
mod ruled;
mod scope;
mod show;
mod solver;
mod specialised;
mod structured;
mod sugar;
mod taken;
mod tangents;
mod template;
mod types;
mod update;
mod variable;

use crate::ast::{self, Aliases, Ast, Decl};
use body::Body;
use given::Template;
pub(crate) use globals::{Global, Globals};
use jut_ir::cover::shown::{show_fitting, show_sizes};
use jut_ir::{
    Atom, ConRef, Constructor, Data, Diagnostic, Field, FuncId, Function, LinResultDecl, Literal,
    NVar, Program, ResultDecl, Size, Type,
};
use std::collections::{HashMap, HashSet};

/// An error has been reported; what it is about is given up.
pub(crate) struct Stop;

/// A result whose error has been reported.
pub(crate) type Res<T> = Result<T, Stop>;

/// One file of a program.
pub(crate) struct File<'f, 's> {
    /// The module's name; empty for the file that the user loads.
    pub module: &'f str,
    pub text: &'s str,
    /// What it calls the modules that it uses.
    pub aliases: &'f Aliases,
    pub ast: &'f Ast<'s>,
    /// Names of declarations that did not parse.
    pub failed: &'f [&'s str],
}

/// Elaborates the files of a program: each module after those that it uses, the user's file last.
/// `broken` are the modules that could not be loaded.
pub(crate) fn elaborate(
    files: &[File],
    broken: Vec<String>,
    diagnostics: &mut Vec<Diagnostic>,
) -> Program {
    let mut globals = Globals::default();
    let names = files.iter().map(|file| file.module.to_string());
    globals.modules = names.filter(|name| !name.is_empty()).chain(broken.clone()).collect();
    globals.longest = globals.modules.iter().map(String::len).max().unwrap_or(0);
    globals.broken = broken.into_iter().collect();
    let mut program = Program::default();
    let mut derivatives = derived::Derivatives::default();
    let mut templates = Vec::new();
    for file in files {
        globals.enter(file);
        for decl in &file.ast.decls {
            if let Decl::Alias(a) = decl {
                globals.aliases.entry(globals.full(a.name.text)).or_default();
            }
            if let Decl::Data(d) = decl {
                // Data types are named before they are declared: they hold each other.
                let full = globals.full(d.name.text);
                let unfinished =
                    || program.datas.push(Data { span: d.name.span, ..Data::default() });
                let id = *globals.datas.entry(full).or_insert_with(unfinished);
                if !d.sizes.is_empty() {
                    globals.sized.entry(id).or_insert(d.sizes.len());
                }
            }
        }
        let mut named = tangents::Named::of(file);
        let mut externs =
            foreign::Externs::declare(file.ast, &mut program, &mut globals, diagnostics);
        let order = order::Order::of(file.ast);
        for group in order.groups() {
            for decl in &group.before {
                match decl {
                    Decl::Use(module) => {
                        let alias = module.alias.text;
                        let Some(full) = file.aliases.get(alias) else { continue };
                        let used = &mut globals.view_mut().used;
                        used.insert(alias.to_string(), full.clone());
                        let last = alias.rsplit('.').next().unwrap_or_default();
                        if file.aliases.get(last) == Some(full) {
                            used.insert(last.to_string(), full.clone());
                        }
                    }
                    Decl::Data(d) => {
                        if data(file.ast, d, &mut program, &mut globals, diagnostics).is_err() {
                            for (name, _) in &d.constructors {
                                globals.poison(name.text);
                            }
                            globals.poison(d.name.text);
                        }
                    }
                    Decl::Alias(a) => {
                        if alias::declare(file.ast, a, &program, &mut globals, diagnostics).is_err()
                        {
                            globals.poison(a.name.text);
                        }
                    }
                    Decl::Rule(stated) => {
                        let around = (&mut program, &mut globals, &mut derivatives);
                        rule::state(stated, around, &templates, diagnostics);
                    }
                    Decl::Def(_) | Decl::Extern(_) => {}
                }
            }
            externs.settle(&mut program, &globals, diagnostics);
            named.declare(&mut program, &mut globals, &mut derivatives);
            derivatives.make(file.ast, &group, &mut program, &mut globals);
            let mut defs = Vec::with_capacity(group.defs.len());
            for d in group.defs {
                let made = match d.is_template() {
                    true => {
                        template::declare(d, &mut globals, templates.len(), diagnostics).map(|()| {
                            let circle = group.is_recursive;
                            templates.push(Template::new(file.ast, d, globals.file(), circle));
                        })
                    }
                    false if group.is_recursive && !d.constant => {
                        declare(file.ast, d, &mut program, &mut globals, &templates, diagnostics)
                            .map(|id| defs.push((d, Some(id))))
                    }
                    false => {
                        defs.push((d, None));
                        Ok(())
                    }
                };
                if made.is_err() {
                    globals.poison(d.name.text);
                }
            }
            let own: Vec<FuncId> = defs.iter().filter_map(|(_, id)| *id).collect();
            for (d, id) in defs {
                let id = id.map(|id| (id, own.as_slice()));
                let around = (&mut program, &mut globals, &mut derivatives);
                if def(file.ast, d, id, around, &templates, diagnostics).is_err() {
                    globals.poison(d.name.text);
                }
            }
            behind_their_parts(&mut program, &own);
        }
        externs.finish(&mut program, &globals, diagnostics);
    }
    program
}

/// Definitions that were declared before their bodies stand behind what their bodies have made and call: derivatives of functions
/// without a name, definitions for functions that are given.
fn behind_their_parts(program: &mut Program, own: &[FuncId]) {
    let is_own = |decl: &jut_ir::Decl| matches!(decl, jut_ir::Decl::Func(f) if own.contains(f));
    let first = program.order.iter().position(is_own).unwrap_or(program.order.len());
    let (own, mut others): (Vec<_>, Vec<_>) = program.order.drain(first..).partition(is_own);
    program.order.append(&mut others);
    program.order.extend(own);
}

/// Refuses a second declaration of a name. Primitives may be hidden, so that a new primitive never
/// breaks a program: `prim.tanh(x)` is the primitive in any case.
fn unused(
    globals: &Globals,
    name: &ast::Name,
    full: &str,
    taken: bool,
    diagnostics: &mut Vec<Diagnostic>,
) -> Res<()> {
    let message = if taken {
        format!("`{}` is already defined", name.text)
    } else if globals.modules.contains(full) {
        format!("`{}` is the name of a module", name.text)
    } else if matches!(name.text, "size" | "f64" | "i64" | "bool" | "prim")
        || name.text.starts_with("prim.")
    {
        format!("`{}` is a name of the language", name.text)
    } else {
        return Ok(());
    };
    let mut d = Diagnostic::error("J011", name.span, message)
        .help(format!("choose another name, such as `{}2`", name.text));
    if let Some(span) = globals.declared.get(full).filter(|s| **s != name.span) {
        d = d.label(*span, "also defined here");
    }
    diagnostics.push(d);
    Err(Stop)
}

fn data<'s>(
    ast: &Ast<'s>,
    d: &ast::Data<'s>,
    program: &mut Program,
    globals: &mut Globals,
    diagnostics: &mut Vec<Diagnostic>,
) -> Res<()> {
    let full = globals.full(d.name.text);
    let Some(id) = globals.datas.get(&full).copied() else { return Err(Stop) };
    let taken = globals.fields.contains_key(&id) || matches!(d.name.text, "f64" | "i64" | "bool");
    unused(globals, &d.name, &full, taken, diagnostics)?;
    if !d.sizes.is_empty() {
        return record::declare(ast, d, id, program, globals, diagnostics);
    }
    let mut constructors: Vec<Constructor> = Vec::new();
    let mut seen = HashSet::new();
    for (name, fields) in &d.constructors {
        let con = globals.full(name.text);
        let taken = globals.names.contains_key(&con) || !seen.insert(name.text);
        unused(globals, name, &con, taken, diagnostics)?;
        // Data types that passes make, such as tapes, may hold the mark of a type with sizes.
        let is_made = d.name.text.contains('.');
        let mut body = Body::new(ast, program, globals, &[], is_made, diagnostics);
        let mut typed = Vec::new();
        let mut seen = HashSet::new();
        for (field, ty) in fields {
            let ty = body.ty(ty)?;
            if !seen.insert(field.text) {
                let message = format!("the field `{}` is declared twice", field.text);
                let help = format!("give one of them another name: `{}2`", field.text);
                return body.error("J011", field.span, message, help);
            }
            // The k-th field is the variable with number k: exactly what a field type mentions.
            body.param(field, ty.clone());
            typed.push(Field { name: field.text.into(), ty });
        }
        constructors.push(Constructor { name: con, fields: typed });
    }
    let names: Vec<String> = constructors.iter().map(|c| c.name.clone()).collect();
    let fields = match constructors.as_slice() {
        [one] => one.fields.iter().enumerate().map(|(k, f)| (f.name.to_string(), k)).collect(),
        _ => HashMap::new(),
    };
    let doc = d.doc.clone();
    let mut tangent = program.datas[id].tangent;
    if let Some(of) = &d.of {
        let Some(of) = globals.datas.get(&globals.full(of.text)).copied() else {
            let message = format!("there is no type `{}`", of.text);
            let help = "the type of tangents stands beside that of the values, in one file";
            diagnostics.push(Diagnostic::error("J010", of.span, message).help(help));
            return Err(Stop);
        };
        program.datas[of].tangent = Some(id);
        tangent = Some(id);
    }
    program.datas[id] =
        Data { name: full, constructors, tangent, doc, span: d.name.span, record: None };
    program.order.push(jut_ir::Decl::Data(id));
    globals.fields.insert(id, fields);
    for (index, name) in names.into_iter().enumerate() {
        let con = ConRef { data: id, index: index as u32 };
        globals.names.insert(name, Global::Con(con));
    }
    Ok(())
}

/// Declares a definition whose callees call it: its signature alone.
fn declare<'s>(
    ast: &Ast<'s>,
    d: &ast::Def<'s>,
    program: &mut Program,
    globals: &mut Globals,
    templates: &[Template<'_, 's>],
    diagnostics: &mut Vec<Diagnostic>,
) -> Res<FuncId> {
    let full = globals.full(d.name.text);
    unused(globals, &d.name, &full, globals.names.contains_key(&full), diagnostics)?;
    let mut body = Body::new(ast, program, globals, templates, d.core, diagnostics);
    signature(&mut body, d, full.clone())?;
    let func = std::mem::take(&mut body.b.func);
    let id = program.add_func(func);
    globals.names.insert(full, Global::Func(id));
    Ok(id)
}

/// Elaborates a definition, which has the number `id` if it has been declared, with others that it calls and that call it.
fn def<'s>(
    ast: &Ast<'s>,
    d: &ast::Def<'s>,
    id: Option<(FuncId, &[FuncId])>,
    (program, globals, derivatives): (&mut Program, &mut Globals, &mut derived::Derivatives),
    templates: &[Template<'_, 's>],
    diagnostics: &mut Vec<Diagnostic>,
) -> Res<()> {
    let full = globals.full(d.name.text);
    if id.is_none() {
        unused(globals, &d.name, &full, globals.names.contains_key(&full), diagnostics)?;
    }
    let mut taken = given::Taken::default();
    let reported = diagnostics.len();
    let func = loop {
        let func = elaborated(ast, d, (program, globals, templates), &mut taken, diagnostics);
        let Some(wanted) = taken.wanted.take() else { break func? };
        // Read again, with one derivative more.
        diagnostics.truncate(reported);
        let wanted = match wanted {
            given::Wanted::Derivative(wanted) => wanted,
            given::Wanted::Definitions(funcs, entry) => {
                let added = derivatives.add(program, funcs);
                let entry = added.get(entry).copied().ok_or(Stop)?;
                taken.made.push(Ok(given::Found::Func(entry)));
                continue;
            }
            given::Wanted::Rule(func, stated, span) => {
                let by = derivatives.add(program, vec![*stated]).first().copied().ok_or(Stop)?;
                let what = "for this call";
                let stated = rule::Stated { rule: jut_ir::Rule::Jvp(by), span, what };
                if let Err(error) = rule::put(stated, func, program, derivatives) {
                    diagnostics.push(error);
                    return Err(Stop);
                }
                taken.made.push(Ok(given::Found::Func(func)));
                continue;
            }
            given::Wanted::Again(made) => {
                taken.made.truncate(made);
                continue;
            }
        };
        let unfinished = id.map_or(&[][..], |(_, own)| own);
        let made = match derivatives.satisfy(wanted, unfinished, program).ok_or(Stop)? {
            derived::Made::Answer(made) => made,
            derived::Made::InItself => {
                diagnostics.push(derived::in_itself(d));
                return Err(Stop);
            }
        };
        if let Ok(given::Found::Func(func)) = &made {
            derivatives.label(*func, globals);
        }
        taken.made.push(made);
    };
    // A literal, perhaps by way of i64 arithmetic, is put where the constant is used.
    let value = match func.body.nl.as_slice() {
        [Atom::Lit(literal)] => Some(*literal),
        [atom @ Atom::Var(v)] if func.nvars[*v].def.is_some() => {
            func.size_of(*atom).as_constant().map(Literal::I64)
        }
        _ => None,
    };
    if let Some((id, _)) = id {
        program.funcs[id] = func;
        return Ok(());
    }
    let id = program.add_func(func);
    if d.constant {
        globals.constants.insert(id, value);
    }
    globals.names.insert(full, Global::Func(id));
    Ok(())
}

/// The function of a definition.
fn elaborated<'s>(
    ast: &Ast<'s>,
    d: &ast::Def<'s>,
    (program, globals, templates): (&Program, &Globals, &[Template<'_, 's>]),
    taken: &mut given::Taken,
    diagnostics: &mut Vec<Diagnostic>,
) -> Res<Function> {
    let mut body = Body::new(ast, program, globals, templates, d.core, diagnostics);
    body.taken = given::Taken { met: 0, ..std::mem::take(taken) };
    let func = elaborated_by(&mut body, d, globals.full(d.name.text));
    *taken = std::mem::take(&mut body.taken);
    func
}

fn elaborated_by<'a, 's>(
    body: &mut Body<'a, 's>,
    d: &'a ast::Def<'s>,
    full: String,
) -> Res<Function> {
    let signature = signature(body, d, full)?;
    // The signature stands even if the body is refused: callers are still checked.
    let mut func = Function { body: jut_ir::Block::default(), ..body.b.func.clone() };
    let made = body.definition(d, &signature);
    if made.is_err() && d.constant {
        return Err(Stop);
    }
    if let Ok(block) = made {
        body.b.func.body = block;
        let foreign = |program: &Program, func| program.funcs[func].is_foreign();
        if !d.core {
            jut_ir::repair::repair(&mut body.b, jut_ir::Origin::Source);
            body.never_assigned();
            let foreign = |func| foreign(body.program, func);
            show_sizes(&mut body.b.func, Some(&mut body.b.namer), &foreign);
        } else {
            if body.marked {
                guard::complete(&mut body.b);
            }
            let foreign = |func| foreign(body.program, func);
            show_fitting(&mut body.b.func, &mut body.b.namer, &foreign);
        }
        func = std::mem::take(&mut body.b.func);
    }
    Ok(func)
}

/// The declared results, with the placeholder of a named result in place of its name
/// ([`Size::position`]).
pub(crate) struct Signature {
    pub nl: Vec<Type>,
    pub lin: Vec<Type>,
    /// Whether a result type mentions a result.
    pub telescoped: bool,
}

fn signature<'s>(body: &mut Body<'_, 's>, d: &ast::Def<'s>, full: String) -> Res<Signature> {
    let mut ok = true;
    body.b.func.name = full;
    body.b.func.doc = d.doc.clone();
    body.b.func.span = d.head;
    body.b.func.size_params = d.sizes.len();
    for name in &d.sizes {
        let v = body.param(name, Type::I64);
        body.b.func.params.push(v);
    }
    for (name, ty) in &d.params {
        match body.ty(ty) {
            Ok(ty) => {
                let v = body.param(name, ty);
                body.b.func.params.push(v);
            }
            Err(Stop) => ok = false,
        }
    }
    for (name, ty) in &d.lin_params {
        match body.linear_type(ty) {
            Ok(ty) => {
                let v = body.lin_param(name, ty);
                body.b.func.lin_params.push(v);
            }
            Err(Stop) => ok = false,
        }
    }
    for param in &d.cap_params {
        let acc = param.mode == jut_ir::Mode::Acc;
        match if acc { body.ty(&param.ty) } else { body.linear_type(&param.ty) } {
            Ok(ty) => {
                let c = body.cap_param(&param.name, param.mode, param.lanes, ty);
                body.b.func.cap_params.push(c);
            }
            Err(Stop) => ok = false,
        }
    }
    if !ok {
        return Err(Stop);
    }
    body.label_tangents(d);
    let mut names: HashMap<NVar, usize> = HashMap::new();
    let mark = body.scope.mark();
    let mut results = Vec::new();
    for (k, decl) in d.results.iter().enumerate() {
        let ty = body.ty(&decl.ty)?;
        let name = decl.name.map(|name| {
            // Not reserved: the body may bind the same name, and often does.
            let v = body.result_name(&name, ty.clone());
            names.insert(v, k);
            v
        });
        results.push(ResultDecl { name, ty });
    }
    let mut lin_results = Vec::new();
    for decl in &d.lin_results {
        let ty = body.linear_type(&decl.ty)?;
        lin_results.push(LinResultDecl { name: decl.name.map(|n| n.text.into()), ty });
    }
    body.scope.restore(mark);
    let place = |ty: &Type| ty.subst(&mut |v| names.get(&v).map(|k| Size::position(*k)));
    let nl: Vec<Type> = results.iter().map(|r| place(&r.ty)).collect();
    let lin: Vec<Type> = lin_results.iter().map(|r| place(&r.ty)).collect();
    let telescoped = nl
        .iter()
        .chain(&lin)
        .any(|t| t.size_names().into_iter().any(|v| Size::position_of(v).is_some()));
    body.b.func.results = results;
    body.b.func.lin_results = lin_results;
    Ok(Signature { nl, lin, telescoped })
}

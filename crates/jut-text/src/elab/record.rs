//! Records with sizes as parameters ([`jut_ir::record`]): `data Net[n] = Net(w: [n]f64, b: f64)`.
//!
//! ```text
//! Net[2 * k]            #([2 * k]f64, f64, Net)
//! p = Net(w, b)         mark = Net(); p = #(w, b, mark)
//! Net(w, b) = p         #(w, b, _) = p
//! ```
//!
//! Those with several constructors: `record/sum.rs`.

pub(super) mod sum;

use super::body::Body;
use super::fit::conversion;
use super::made::{Made, Out};
use super::solver::Solver;
use super::{Global, Globals, Res, Stop, unused};
use crate::ast::{self, Ast, ExprId, FieldPattern, Name};
use jut_ir::entity::EntityRef;
use jut_ir::{
    Atom, ConRef, Constructor, Data, DataId, Diagnostic, Field, Literal, NVar, Program, Record,
    Rhs, Size, Span, Type,
};
use std::collections::{HashMap, HashSet};

/// Declares such a record.
pub(super) fn declare<'s>(
    ast: &Ast<'s>,
    d: &ast::Data<'s>,
    id: DataId,
    program: &mut Program,
    globals: &mut Globals,
    diagnostics: &mut Vec<Diagnostic>,
) -> Res<()> {
    let mut declared = HashSet::new();
    for (name, _) in &d.constructors {
        let con = globals.full(name.text);
        let taken = globals.names.contains_key(&con) || !declared.insert(name.text);
        unused(globals, name, &con, taken, diagnostics)?;
    }
    let mut body = Body::new(ast, program, globals, &[], false, diagnostics);
    for (_, fields) in &d.constructors {
        let mut seen = HashSet::new();
        for part in d.sizes.iter().chain(fields.iter().map(|(field, _)| field)) {
            if !seen.insert(part.text) {
                let message = format!("`{}` is declared twice", part.text);
                let help = format!("give one of them another name: `{}2`", part.text);
                return body.error("J011", part.span, message, help);
            }
        }
    }
    // The k-th size is the variable with number k: exactly what a field's type mentions.
    d.sizes.iter().for_each(|size| {
        body.param(size, Type::I64);
    });
    let is_sum = d.constructors.len() != 1;
    let mut typed = Vec::new();
    for (field, written) in d.constructors.iter().flat_map(|(_, fields)| fields) {
        let ty = body.ty(written)?;
        if let (true, Some(data)) = (is_sum, sum::endless(program, &ty)) {
            let message = format!(
                "every `{}` holds others, and there has to be one where `{}` is not meant",
                program.datas[data].name, field.text
            );
            let help = "give it a constructor that holds none, or hold it in a record of its own";
            return body.error("J203", written.span, message, help);
        }
        typed.push(Field { name: field.text.into(), ty });
    }
    let params = d.sizes.iter().map(|size| size.text.into()).collect();
    let counts = d.constructors.iter().map(|(_, fields)| fields.len()).collect();
    let record = Record { params, fields: typed, counts };
    let types: Vec<Type> = record.fields.iter().map(|f| f.ty.clone()).collect();
    for (size, found) in d.sizes.iter().zip(record.sizes(&types)) {
        if found.is_none() {
            let message = format!("no field of `{}` has `{}` as a size", d.name.text, size.text);
            let help =
                format!("have an array of this size, `w: [{}]f64`, or leave it out", size.text);
            return body.error("J203", size.span, message, help);
        }
    }
    let numbers = record.fields.iter().enumerate().map(|(k, field)| (field.name.to_string(), k));
    let numbers = if is_sum { HashMap::new() } else { numbers.collect() };
    globals.fields.insert(id, numbers);
    let names: Vec<String> =
        d.constructors.iter().map(|(name, _)| globals.full(name.text)).collect();
    for (index, name) in (0..).zip(&names) {
        globals.names.insert(name.clone(), Global::Con(ConRef { data: id, index }));
    }
    let constructors = names.into_iter().map(|name| Constructor { name, fields: Vec::new() });
    program.datas[id] = Data {
        name: globals.full(d.name.text),
        constructors: constructors.collect(),
        record: Some(Box::new(record)),
        doc: d.doc.clone(),
        span: d.name.span,
        ..Data::default()
    };
    program.order.push(jut_ir::Decl::Data(id));
    Ok(())
}

/// Names for so many sizes.
pub(super) fn sizes_text(count: usize) -> String {
    let names: Vec<String> = (0..count)
        .map(|k| match k {
            0 => "n".to_string(),
            1 => "m".to_string(),
            k => format!("n{k}"),
        })
        .collect();
    names.join(", ")
}

/// The arguments of a constructor of a type with sizes, and the sizes, if they are given.
pub(super) struct Sized<'a> {
    pub sizes: Vec<ExprId>,
    pub args: &'a [ExprId],
}

impl<'a, 's> Body<'a, 's> {
    /// `Net[n]`, or another name of a type with sizes.
    pub(super) fn record_type(&mut self, name: &str, sizes: &[ExprId], span: Span) -> Res<Type> {
        if self.globals.is_poisoned(name) {
            return Err(Stop);
        }
        if let Some(alias) = self.globals.alias(name) {
            return self.alias_type(name, alias, sizes, span);
        }
        let Some(id) = self.globals.data(name) else {
            let message = format!("there is no type `{name}`");
            let help = format!("declare it: `data {name}[n] = {name}(w: [n]f64)`");
            return self.error("J010", span, message, help);
        };
        let count = self.globals.sized.get(&id).copied().unwrap_or(0);
        if count != sizes.len() {
            let message =
                format!("the type `{name}` has {count} size(s), and {} are given", sizes.len());
            let help = match count {
                0 => format!("write `{name}`; an array of them is `[n]{name}`"),
                _ => format!("give them in brackets: `{name}[{}]`", sizes_text(count)),
            };
            return self.error("J208", span, message, help);
        }
        let program = self.program;
        let Some(record) = program.datas[id].record.as_deref() else {
            let message = format!("`{name}` is declared further down, or holds itself");
            let help = "a record with sizes stands before the types that hold it, and does not hold itself";
            return self.error("J010", span, message, help);
        };
        let mut values = Vec::new();
        for size in sizes {
            values.push(self.size(*size)?);
        }
        let mut items = Vec::new();
        for field in &record.fields {
            items.push(self.put(&field.ty, &|v| values.get(v.index()).cloned(), span)?);
        }
        items.push(Type::Data(id));
        Ok(Type::Tuple(items))
    }

    /// The sizes that a type says, as far as it is that of the named record, or what has the name as another one.
    pub(super) fn sizes_of_named(&self, name: &str, found: &Type) -> Vec<Option<Size>> {
        if let Some(alias) = self.globals.alias(name) {
            return alias.sizes(found);
        }
        let Type::Tuple(items) = found else { return Vec::new() };
        match (self.program.record(items), self.globals.data(name)) {
            (Some((id, _, record)), Some(named)) if id == named => record.sizes(items),
            _ => Vec::new(),
        }
    }

    /// `Net(w, b)`: the sizes follow from the fields. Those that do not are given, `Empty[n]()`.
    pub(super) fn construct_record(
        &mut self,
        con: ConRef,
        record: &'a Record,
        call: Sized<'a>,
        span: Span,
    ) -> Res<Made> {
        let name = &self.program.constructor(con).name;
        let fields = record.fields_of(con.index as usize);
        if call.args.len() != fields.len() {
            let (has, given) = (fields.len(), call.args.len());
            let message = format!("`{name}` has {has} field(s), and {given} are given");
            let fields = super::fit::fields_text(name, fields);
            let help = format!("give every field: `{fields}`");
            return self.error("J208", span, message, help);
        }
        let mut items = Vec::new();
        for e in call.args {
            items.push(self.atom(*e, "t")?);
        }
        let mut map: HashMap<NVar, Size> = HashMap::new();
        if !call.sizes.is_empty() && call.sizes.len() != record.params.len() {
            let (has, given) = (record.params.len(), call.sizes.len());
            let message = format!("`{name}` has {has} size(s), and {given} are given");
            let help = format!("give every size: `{name}[{}]`", sizes_text(has));
            return self.error("J208", span, message, help);
        }
        for (k, size) in call.sizes.into_iter().enumerate() {
            map.insert(NVar::new(k), self.size(size)?);
        }
        let unknown = (0..record.params.len()).map(NVar::new);
        let unknown = unknown.filter(|v| !map.contains_key(v)).collect();
        let mut solver = Solver { unknown, map: &mut map };
        for (field, atom) in fields.iter().zip(&items) {
            solver.types(&field.ty, &self.type_of(*atom));
        }
        for ((field, atom), e) in fields.iter().zip(&items).zip(call.args) {
            let given = self.type_of(*atom);
            let at = self.span(*e);
            let wanted = self.put(&field.ty, &|v| map.get(&v).cloned(), at)?;
            if given == wanted {
                continue;
            }
            let (given_text, wanted_text) = (self.show(&given), self.show(&wanted));
            // A size that does not follow from the fields has no name here.
            let known = field.ty.size_names().iter().all(|v| map.contains_key(v));
            let message = match known {
                true => format!(
                    "the field `{}` of `{name}` is of type {wanted_text}, and this is of type {given_text}",
                    field.name
                ),
                false => format!(
                    "the field `{}` of `{name}` has a size, and this is of type {given_text}",
                    field.name
                ),
            };
            let error = Diagnostic::error("J202", at, message);
            return self.fail(match (atom, &wanted) {
                _ if !known => {
                    let fields = super::fit::fields_text(name, fields);
                    error.help(format!("give the fields in order: `{fields}`"))
                }
                (Atom::Lit(Literal::I64(k)), Type::Float(_)) => {
                    error.help(format!("write `{k}.0`")).replace(at, format!("{k}.0"))
                }
                (_, Type::Array(..)) if matches!(given, Type::Array(..)) => {
                    error.help(super::fit::equal_sizes(&wanted_text))
                }
                _ => error.help(conversion(&given_text, &wanted_text)),
            });
        }
        if let Some(k) = (0..record.params.len()).find(|k| !map.contains_key(&NVar::new(*k))) {
            let message = format!(
                "the size `{}` does not follow from the fields of `{name}`",
                record.params[k]
            );
            let params: Vec<&str> = record.params.iter().map(|size| size.as_str()).collect();
            let help = format!("give the sizes: `{name}[{}]`", params.join(", "));
            return self.error("J203", span, message, help);
        }
        let size = |v: NVar| map.get(&v).cloned();
        let items = self.with_absent(con, items, &size, span)?;
        let mark = Type::Data(con.data);
        let made = self.bind(Out::one(Rhs::Con(con, Vec::new()), mark.clone(), span), &[], &[])?;
        let mut types: Vec<Type> = items.iter().map(|a| self.type_of(*a)).collect();
        types.push(mark);
        let mut items = items;
        items.extend(made.nl);
        Ok(Out::one(Rhs::Tuple(items), Type::Tuple(types), span).into())
    }

    /// `Net(w, b) = p`.
    pub(super) fn open_record(
        &mut self,
        con: ConRef,
        name: &Name<'s>,
        patterns: &[FieldPattern<'s>],
        e: ExprId,
        span: Span,
    ) -> Res<(Out, Vec<Name<'s>>)> {
        let atom = self.atom(e, "t")?;
        let ty = self.type_of(atom);
        let program = self.program;
        if program.datas[con.data].constructors.len() != 1 {
            let message = format!("`{}` has several constructors", program.datas[con.data].name);
            return self.error("J206", name.span, message, "open it with `case`");
        }
        let found = match (&ty, atom) {
            (Type::Tuple(items), Atom::Var(value)) => program
                .record(items)
                .filter(|(id, ..)| *id == con.data)
                .map(|f| (items, value, f.2)),
            _ => None,
        };
        let Some((items, value, record)) = found else {
            let message =
                format!("`{}` does not open a value of type {}", name.text, self.show(&ty));
            let help = format!("give a value of type {}", program.datas[con.data].name);
            return self.error("J202", self.span(e), message, help);
        };
        if record.fields.len() != patterns.len() {
            let (has, given) = (record.fields.len(), patterns.len());
            let message =
                format!("`{}` has {has} field(s), and the pattern has {given}", name.text);
            let fields = super::fit::fields_text(name.text, &record.fields);
            let help = format!("bind every field: `{fields}`");
            return self.error("J208", name.span, message, help);
        }
        let mut names = Vec::new();
        for pattern in patterns {
            names.push(self.field_name(pattern)?);
        }
        names.push(Name { text: "_", span });
        Ok((Out { nl: items.clone(), ..Out::none(Rhs::Untuple(value), span) }, names))
    }

    /// The name that a pattern gives a field of a type with sizes.
    fn field_name(&mut self, pattern: &FieldPattern<'s>) -> Res<Name<'s>> {
        match pattern {
            FieldPattern::Bind(name) if name.is_linear() => {
                let what = "this name is linear, and the field is not";
                self.other_name("J102", name, what)
            }
            FieldPattern::Bind(name) => Ok(*name),
            FieldPattern::Eq(size) => {
                let message = "the sizes of this value are in its type";
                let help = "bind the field to a name, and compare the name";
                self.error("J211", self.span(*size), message, help)
            }
        }
    }
}

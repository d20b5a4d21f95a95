//! Calls: primitives, constructors and definitions.
//!
//! A call of a `def f[n](x: [n]f64)` leaves the sizes out: they are solved from the types of the
//! arguments. `[n]` against `[m - 1]` gives `n := m - 1`; the value is a name in scope, or computed
//! in front of the call.

use super::body::{Body, Made, Out, Value};
use super::operation::{is_primitive, primitive_names};
use super::{Global, Res, Stop, show};
use crate::ast::{self, ExprId, FieldPattern, Name};
use crate::hints;
use jut_ir::entity::EntityRef;
use jut_ir::prim::Syntax;
use jut_ir::{
    Atom, Call, ConRef, Diagnostic, Field, FuncId, LVar, Literal, Mode, NVar, Rhs, Size, Span,
    Structured, Type,
};
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

impl<'a, 's> Body<'a, 's> {
    /// `f(..)`.
    pub fn call(&mut self, call: &'a ast::Call<'s>, span: Span) -> Res<Made> {
        let name = call.func;
        match self.globals.global(name.text) {
            Some(Global::Func(f)) => return self.call_function(f, call, span),
            Some(Global::Con(con)) => {
                self.only_first_section(call, "a constructor")?;
                return self.construct(con, call, span);
            }
            None => {}
        }
        let primitive = name.text.strip_prefix("prim.").unwrap_or(name.text);
        // A definition further down hides the primitive here too: whoever calls `softplus` and
        // defines it means the definition.
        if is_primitive(primitive) && !self.globals.declared.contains_key(name.text) {
            self.only_first_section(call, "a primitive")?;
            if let Some(op) = Structured::find(primitive) {
                return self.structured(op, call, span);
            }
            return self.call_primitive(primitive, call, span);
        }
        self.unknown_function(name)
    }

    fn unknown_function<T>(&mut self, name: Name<'s>) -> Res<T> {
        if self.globals.is_poisoned(name.text) {
            return Err(Stop);
        }
        if name.text == self.this {
            let message = format!("not built yet: recursion (`{}` calls itself)", name.text);
            let help = "write a loop: `for (i < n) carry (a = ..) { .. }`";
            return self.fail(Diagnostic::error("J901", name.span, message).help(help));
        }
        if let Some(primitive) = name.text.strip_prefix("prim.") {
            let message = format!("there is no primitive `{primitive}`");
            let mut error = Diagnostic::error("J012", name.span, message);
            let near = show::nearest(primitive, primitive_names());
            error.help = near.map(|near| format!("did you mean `prim.{near}`?"));
            return self.fail(error);
        }
        let message = format!("there is no function `{}` here", name.text);
        let mut error = Diagnostic::error("J014", name.span, message);
        let globals = self.globals;
        let value = name.text.split('.').next().filter(|v| *v != name.text);
        let known = globals.visible().map(|(name, _)| name);
        if let Some(span) = self.globals.declared_at(name.text) {
            error = error
                .help("a name is in scope after its definition: move the definition up")
                .label(span, "defined here");
        } else if value.is_some_and(|value| self.scope.get(value).is_some()) {
            error = error
                .help("values have no methods: write `f(x)`; the size of an array is `size(x)`");
        } else if let Some(help) = globals.module_to_use(name.text) {
            error = error.help(help);
        } else if let Some(help) = hints::function(name.text) {
            error = error.help(help);
        } else if self.scope.get(name.text).is_some() {
            error = error.help("this is a value; index it with `[ ]`, or put an operator between");
        } else if let Some(near) =
            show::nearest(name.text, known.chain(primitive_names().map(Cow::Borrowed)))
        {
            error = error.help(format!("did you mean `{near}`?"));
        }
        self.fail(error)
    }

    fn only_first_section(&mut self, call: &ast::Call<'s>, what: &str) -> Res<()> {
        let Some(first) = call.lin.first() else {
            if let Some(place) = call.places.iter().flatten().next() {
                let message = format!("{what} takes no capabilities");
                return self.error("J104", self.span(*place), message);
            }
            return Ok(());
        };
        let message = format!("{what} takes no linear arguments");
        self.error("J104", self.span(*first), message)
    }

    fn call_primitive(&mut self, text: &str, call: &'a ast::Call<'s>, span: Span) -> Res<Made> {
        if text == "size" {
            return self.size_of_array(call, span);
        }
        let mut args = Vec::new();
        for e in &call.args {
            args.push((self.operand(*e, "t")?, self.span(*e)));
        }
        if let ("select", [(Value::N(b), _), (Value::L(x), _), (Value::L(y), _)]) =
            (text, args.as_slice())
        {
            let (a, b_ty) = (self.lin_type(*x), self.type_of(*b));
            if b_ty != Type::Bool || a != self.lin_type(*y) {
                let message = "`select` takes a bool and two linear values of one type";
                return self.error("J202", span, message);
            }
            return Ok(Out::linear(Rhs::LSelect(*b, *x, *y), a, span).into());
        }
        let mut atoms = Vec::new();
        for (value, at) in args {
            match value {
                Value::N(a) => atoms.push(a),
                Value::L(_) => {
                    let message = format!("`{text}` is not a linear function");
                    return self.not_linear(message, at);
                }
            }
        }
        Ok(self.primitive(text, Syntax::Call, atoms, span)?.into())
    }

    /// `size(x)`, `size(x, k)`.
    fn size_of_array(&mut self, call: &'a ast::Call<'s>, span: Span) -> Res<Made> {
        let (array, dimension) = match call.args.as_slice() {
            [x] => (*x, 0),
            [x, k] => match self.atom(*k, "t")? {
                Atom::Lit(Literal::I64(k)) if (0..1 << 20).contains(&k) => (*x, k as u32),
                _ => {
                    let message = "the dimension is a literal: 0, 1, ..";
                    return self.error("J202", self.span(*k), message);
                }
            },
            _ => return self.error("J208", span, "`size` takes an array and perhaps a dimension"),
        };
        let atom = self.atom(array, "t")?;
        let ty = self.type_of(atom);
        let mut inner = &ty;
        for _ in 0..dimension {
            inner = inner.element().unwrap_or(&Type::Bool);
        }
        let (Some(size), Atom::Var(v)) = (inner.size().cloned(), atom) else {
            let message = format!("a value of type {} has no such dimension", self.show(&ty));
            return self.error("J205", self.span(array), message);
        };
        let out = Out::one(Rhs::Size(v, dimension), Type::I64, span);
        Ok(Out { def: Some(size), ..out }.into())
    }

    // ---- constructors

    fn construct(&mut self, con: ConRef, call: &'a ast::Call<'s>, span: Span) -> Res<Made> {
        let program = self.program;
        let constructor = program.constructor(con);
        if call.args.len() != constructor.fields.len() {
            let message = format!(
                "`{}` has {} field(s), and {} are given",
                constructor.name,
                constructor.fields.len(),
                call.args.len()
            );
            return self.error("J208", span, message);
        }
        let mut args = Vec::new();
        let mut sizes = Vec::new();
        for (e, field) in call.args.iter().zip(&constructor.fields) {
            let atom = self.atom(*e, "t")?;
            let given = self.type_of(atom);
            let wanted = self.put(&field.ty, &|v| sizes.get(v.index()).cloned(), self.span(*e))?;
            if given != wanted {
                let message = format!(
                    "the field `{}` is of type {}, and this is of type {}",
                    field.name,
                    self.show(&wanted),
                    self.show(&given)
                );
                let mut error = Diagnostic::error("J202", self.span(*e), message);
                if let (Atom::Lit(Literal::I64(k)), Type::F64) = (atom, wanted) {
                    error = error.help(format!("write `{k}.0`"));
                }
                return self.fail(error);
            }
            sizes.push(if given == Type::I64 { self.nf(atom) } else { Size::default() });
            args.push(atom);
        }
        Ok(Out::one(Rhs::Con(con, args), Type::Data(con.data), span).into())
    }

    /// The constructor with a name, for a pattern.
    pub fn constructor(&mut self, name: &Name<'s>) -> Res<ConRef> {
        if let Some(Global::Con(con)) = self.globals.global(name.text) {
            return Ok(con);
        }
        if self.globals.is_poisoned(name.text) {
            return Err(Stop);
        }
        let message = format!("there is no constructor `{}`", name.text);
        let mut error = Diagnostic::error("J013", name.span, message);
        let globals = self.globals;
        let known = globals.visible().filter(|(_, g)| matches!(g, Global::Con(_)));
        if let Some(near) = show::nearest(name.text, known.map(|(name, _)| name)) {
            error = error.help(format!("did you mean `{near}`?"));
        }
        self.fail(error)
    }

    /// `K(p, =n) = e`: the operation, and the names that its results get.
    pub fn open(
        &mut self,
        name: &Name<'s>,
        patterns: &[FieldPattern<'s>],
        e: ExprId,
    ) -> Res<(Out, Vec<Name<'s>>)> {
        let con = self.constructor(name)?;
        let program = self.program;
        let span = name.span.to(self.span(e));
        let atom = self.atom(e, "t")?;
        let ty = self.type_of(atom);
        let (true, Atom::Var(value)) = (ty == Type::Data(con.data), atom) else {
            let message =
                format!("`{}` does not open a value of type {}", name.text, self.show(&ty));
            return self.error("J202", self.span(e), message);
        };
        if program.datas[con.data].constructors.len() != 1 {
            let message = format!("`{}` has several constructors", program.datas[con.data].name);
            let help = "open it with `case`";
            return self.fail(Diagnostic::error("J206", name.span, message).help(help));
        }
        let fields = &program.constructor(con).fields;
        let eqs = self.field_eqs(name, fields, patterns)?;
        let (types, names) = self.bound_fields(fields, patterns, &eqs, span)?;
        Ok((Out { nl: types, ..Out::none(Rhs::Open { con, value, eqs }, span) }, names))
    }

    /// The `=n` of a field list: one entry per field.
    pub fn field_eqs(
        &mut self,
        name: &Name<'s>,
        fields: &[Field],
        patterns: &[FieldPattern<'s>],
    ) -> Res<Vec<Option<Atom>>> {
        if fields.len() != patterns.len() {
            let message = format!(
                "`{}` has {} field(s), and the pattern has {}",
                name.text,
                fields.len(),
                patterns.len()
            );
            return self.error("J208", name.span, message);
        }
        let mut eqs = Vec::new();
        for (field, pattern) in fields.iter().zip(patterns) {
            eqs.push(match pattern {
                FieldPattern::Bind(_) => None,
                FieldPattern::Eq(e) => {
                    if field.ty != Type::I64 {
                        let message = format!("the field `{}` is not a size", field.name);
                        return self.error("J211", self.span(*e), message);
                    }
                    Some(self.integer(*e, "a size")?)
                }
            });
        }
        Ok(eqs)
    }

    /// Types and names of the bound fields of a pattern. An `=n` field stands for `n` in later
    /// types, a bound one for the placeholder of its result.
    pub fn bound_fields(
        &mut self,
        fields: &[Field],
        patterns: &[FieldPattern<'s>],
        eqs: &[Option<Atom>],
        span: Span,
    ) -> Res<(Vec<Type>, Vec<Name<'s>>)> {
        let (mut types, mut names) = (Vec::new(), Vec::new());
        let mut sizes: Vec<Size> = Vec::new();
        for ((field, pattern), eq) in fields.iter().zip(patterns).zip(eqs) {
            match (pattern, eq) {
                (FieldPattern::Bind(name), _) => {
                    let ty = self.put(&field.ty, &|v| sizes.get(v.index()).cloned(), span)?;
                    sizes.push(Size::position(types.len()));
                    types.push(ty);
                    names.push(*name);
                }
                (_, Some(atom)) => sizes.push(self.nf(*atom)),
                (_, None) => sizes.push(Size::default()),
            }
        }
        Ok((types, names))
    }

    // ---- definitions

    fn call_function(&mut self, func: FuncId, call: &'a ast::Call<'s>, span: Span) -> Res<Made> {
        let program = self.program;
        let callee = &program.funcs[func];
        let mut given: Vec<(Atom, Span)> = Vec::new();
        for e in &call.args {
            given.push((self.atom(*e, "t")?, self.span(*e)));
        }
        let mut lin_args: Vec<LVar> = Vec::new();
        for e in &call.lin {
            lin_args.push(self.linear(*e, "t")?);
        }
        let hidden =
            if self.strict || given.len() == callee.params.len() { 0 } else { callee.size_params };
        let wanted =
            (callee.params.len() - hidden, callee.lin_params.len(), callee.cap_params.len());
        if (given.len(), lin_args.len(), call.places.len()) != wanted {
            let text = |(nl, lin, caps): (usize, usize, usize)| match (lin, caps) {
                (0, 0) => format!("{nl}"),
                (_, 0) => format!("({nl}; {lin})"),
                _ => format!("({nl}; {lin}; {caps})"),
            };
            let found = (given.len(), lin_args.len(), call.places.len());
            let message = format!(
                "`{}` takes {} argument(s), and {} are given",
                callee.name,
                text(wanted),
                text(found)
            );
            return self
                .fail(Diagnostic::error("J208", span, message).label(callee.span, "defined here"));
        }
        let mut map: HashMap<NVar, Size> = HashMap::new();
        let mut args: Vec<Atom> = Vec::new();
        let declared = |v: &NVar| &callee.nvars[*v].ty;
        if hidden > 0 {
            let (sizes, rest) = callee.params.split_at(hidden);
            let mut solver = Solver { unknown: sizes.iter().copied().collect(), map: &mut map };
            for (param, (atom, _)) in rest.iter().zip(&given) {
                solver.types(declared(param), &self.type_of(*atom));
            }
            for (param, x) in callee.lin_params.iter().zip(&lin_args) {
                solver.types(&callee.lvars[*param].ty, &self.lin_type(*x));
            }
            for size in sizes {
                let Some(value) = map.get(size).cloned() else {
                    let name = &callee.nvars[*size].name;
                    let message = format!(
                        "the size `{name}` of `{}` does not follow from the arguments",
                        callee.name
                    );
                    let help = "give all sizes as first arguments";
                    let error = Diagnostic::error("J210", span, message).help(help);
                    return self.fail(error.label(callee.span, "defined here"));
                };
                args.push(self.materialize(&value, span)?);
            }
        }
        for (param, (atom, at)) in callee.params[hidden..].iter().zip(given) {
            let wanted = self.put(declared(param), &|v| map.get(&v).cloned(), at)?;
            let ty = self.type_of(atom);
            if ty != wanted {
                let name = &callee.nvars[*param].name;
                return self.misfitting(name, &ty, &wanted, Some(atom), at);
            }
            if ty == Type::I64 {
                map.insert(*param, self.nf(atom));
            }
            args.push(atom);
        }
        for ((param, x), e) in callee.lin_params.iter().zip(&lin_args).zip(&call.lin) {
            let data = &callee.lvars[*param];
            let ty = self.lin_type(*x);
            let wanted = self.put(&data.ty, &|v| map.get(&v).cloned(), span)?;
            if ty != wanted {
                return self.misfitting(&data.name, &ty, &wanted, None, self.span(*e));
            }
        }
        let mut places = Vec::new();
        for (param, place) in callee.cap_params.iter().zip(&call.places) {
            let data = &callee.caps[*param];
            let wanted = self.put(&data.ty, &|v| map.get(&v).cloned(), span)?;
            let Some(e) = place else {
                if !wanted.is_scalar() {
                    let message = "`null` stands for scalar capabilities only";
                    return self.error("J115", span, message);
                }
                places.push(None);
                continue;
            };
            let (place, ty, mode) = self.place(*e)?;
            if mode != data.mode {
                let text = Mode::keyword;
                let message = format!(
                    "`{}` is a `{}` capability, and this is a `{}`",
                    data.name,
                    text(data.mode),
                    text(mode)
                );
                return self.error("J111", self.span(*e), message);
            }
            if ty != wanted {
                return self.misfitting(&data.name, &ty, &wanted, None, self.span(*e));
            }
            places.push(Some(place));
        }
        let results: HashMap<NVar, usize> = callee
            .results
            .iter()
            .enumerate()
            .filter_map(|(k, r)| r.name.map(|name| (name, k)))
            .collect();
        let result = |v| match results.get(&v) {
            Some(k) => Some(Size::position(*k)),
            None => map.get(&v).cloned(),
        };
        let (mut nl, mut lin) = (Vec::new(), Vec::new());
        for r in &callee.results {
            nl.push(self.put(&r.ty, &result, span)?);
        }
        for r in &callee.lin_results {
            lin.push(self.put(&r.ty, &result, span)?);
        }
        let rhs = Rhs::Call(Box::new(Call { func, args, lin_args, places }));
        Ok(Out { nl, lin, ..Out::none(rhs, span) }.into())
    }

    fn misfitting<T>(
        &mut self,
        name: &str,
        given: &Type,
        wanted: &Type,
        atom: Option<Atom>,
        span: Span,
    ) -> Res<T> {
        let message = format!(
            "the argument is of type {}, and the parameter `{name}` of type {}",
            self.show(given),
            self.show(wanted)
        );
        let mut error = Diagnostic::error("J210", span, message);
        match (atom, given, wanted) {
            (Some(Atom::Lit(Literal::I64(k))), _, Type::F64) => {
                error = error.help(format!("write `{k}.0`"));
            }
            (Some(_), Type::I64, Type::F64) => error = error.help("convert it: `f64(n)`"),
            (_, Type::Array(..), Type::Array(..)) => {
                error = error.help("sizes must be equal as polynomials; `cast x : [m]f64` tests the equality at run time");
            }
            _ => {}
        }
        self.fail(error)
    }
}

/// Solves the sizes of a call from pairs of types.
struct Solver<'x> {
    /// Not solved yet.
    unknown: HashSet<NVar>,
    map: &'x mut HashMap<NVar, Size>,
}

impl Solver<'_> {
    fn types(&mut self, declared: &Type, given: &Type) {
        match (declared, given) {
            (Type::Array(s, declared), Type::Array(t, given)) => {
                self.size(s, t);
                self.types(declared, given);
            }
            (Type::Tuple(declared), Type::Tuple(given)) => {
                for (declared, given) in declared.iter().zip(given) {
                    self.types(declared, given);
                }
            }
            _ => {}
        }
    }

    /// Solves `declared = given` where `declared` is an unknown plus a constant: `n + 1`.
    fn size(&mut self, declared: &Size, given: &Size) {
        let mut open = declared.names().into_iter();
        let (Some(v), None) = (open.next(), open.next()) else { return };
        if !self.unknown.contains(&v) {
            return;
        }
        let alone = |(names, c): &(Vec<NVar>, i64)| names.as_slice() == [v] && *c == 1;
        let occurs = declared.terms().iter().filter(|(names, _)| names.contains(&v)).count();
        if occurs == 1 && declared.terms().iter().any(alone) {
            let rest = declared.clone() - Size::var(v);
            if rest.names().is_empty() {
                self.unknown.remove(&v);
                self.map.insert(v, given.clone() - rest);
            }
        }
    }
}

//! Access into arrays, tuples and records: `x[i, j]`, `x[a..b]`, `t.0`, `p.r`, and places.
//!
//! In a `def` an index gets a `check` in front of it exactly where the range rule
//! ([`jut_ir::cover::Facts`]) does not cover it: `x[i]` under `i < n` has none, `x[ix[i]]` becomes
//! `j = ix[i]; check j < n; t = x[j]`.

use super::body::{Body, INDEX};
use super::made::{Made, Out, Value};
use super::region::is_region;
use super::scope::Entity;
use super::{Res, Stop, show};
use crate::ast::{ExprId, ExprKind, Index, Name, Post};
use jut_ir::prim::Syntax;
use jut_ir::{Atom, Check, Diagnostic, Literal, Mode, NVar, Place, Rhs, Size, Span, Step, Type};

impl<'a, 's> Body<'a, 's> {
    /// `x[i, j].r`: every step but the last is bound to a temporary.
    pub fn post(&mut self, base: ExprId, steps: &'a [Post<'s>], span: Span) -> Res<Made> {
        // In the core `x[a ..+ m][j]` is one path.
        let indices = steps.iter().filter(|s| matches!(s, Post::Index(..))).count();
        if steps.len() > 1 && !(self.strict && indices == steps.len()) {
            let help = "bind every intermediate value to a name";
            self.surface_only(span, "more than one access in a statement", help)?;
        }
        if let Some(made) = self.sized_alone(base, steps, span)? {
            return Ok(made);
        }
        let mut at = self.span(base);
        let (mut value, mut k) = match self.constant_of_module(base, steps)? {
            Some((atom, used, here)) => {
                at = here;
                match atom {
                    _ if used == steps.len() => {
                        return Ok(Made::Values(Value::N(atom).into(), at));
                    }
                    Atom::Var(v) => (v, used),
                    Atom::Lit(_) => {
                        return self.plain_number(at);
                    }
                }
            }
            None => (self.accessible(base)?, 0),
        };
        while k < steps.len() {
            let out = match &steps[k] {
                Post::Index(list, here) => {
                    // `x[i][j]` is `x[i, j]`, as long as nothing was sliced.
                    let mut list = list.clone();
                    let mut here = *here;
                    while let Some(Post::Index(more, next)) = steps.get(k + 1) {
                        if !self.strict && !matches!(list.last(), Some(Index::At { .. })) {
                            break;
                        }
                        list.extend(more.iter().copied());
                        here = here.to(*next);
                        k += 1;
                    }
                    at = at.to(here);
                    if let Some(written) = self.being_written(value) {
                        self.read_written(written, value, &list, at)?
                    } else if !self.strict && is_region(&list) {
                        self.region(value, &list, at)?
                    } else {
                        let ty = self.b.func.nvars[value].ty.clone();
                        let (path, ty) = self.path(ty, &list, at)?;
                        Out::one(Rhs::Index(value, path), ty, at)
                    }
                }
                Post::Field(name) => {
                    at = at.to(name.span);
                    match self.measured(value, name) {
                        Some(number) if !self.strict => self.opened(value, number, at)?,
                        _ => self.field(value, name, at)?,
                    }
                }
                Post::Component(number, here) => {
                    at = at.to(*here);
                    self.component(value, *number, *here, at)?
                }
            };
            k += 1;
            if k == steps.len() {
                return Ok(out.into());
            }
            let values = self.bind(out, &[], &[])?;
            let Some(Atom::Var(v)) = values.nl.first() else { return Err(Stop) };
            value = *v;
        }
        Ok(Made::Values(Value::N(Atom::Var(value)).into(), at))
    }

    /// `stats.pi`: a constant of a module, how many steps its name takes, and its place.
    fn constant_of_module(
        &mut self,
        base: ExprId,
        steps: &[Post<'s>],
    ) -> Res<Option<(Atom, usize, Span)>> {
        let ExprKind::Name(first) = &self.ast.expr(base).kind else { return Ok(None) };
        if self.strict || self.scope.get(first.text).is_some() {
            return Ok(None);
        }
        let (mut path, mut span) = (first.text.to_string(), first.span);
        for (k, step) in steps.iter().enumerate() {
            let Post::Field(name) = step else { break };
            path = format!("{path}.{}", name.text);
            span = span.to(name.span);
            if self.globals.is_poisoned(&path) {
                return Err(Stop);
            }
            if let Some(atom) = self.constant(&path, span)? {
                return Ok(Some((atom, k + 1, span)));
            }
        }
        Ok(None)
    }

    /// The variable that is accessed.
    pub fn accessible(&mut self, base: ExprId) -> Res<NVar> {
        let span = self.span(base);
        if let ExprKind::Name(name) = &self.ast.expr(base).kind
            && let Some(Entity::C(_)) = self.scope.get(name.text)
        {
            let message = format!("`{}` is a capability, not a value", name.text);
            let help = format!("read from it with `rd {}[..]`", name.text);
            return self.fail(Diagnostic::error("J111", span, message).help(help));
        }
        if let ExprKind::Name(name) = &self.ast.expr(base).kind
            && let Some(Atom::Var(v)) = self.scope.value(name.text)
            && self.being_written(v).is_some()
        {
            self.lookup(name)?;
            return Ok(v);
        }
        match self.operand(base, "t")? {
            Value::N(Atom::Var(v)) => Ok(v),
            Value::N(Atom::Lit(_)) => self.plain_number(span),
            Value::L(x) => {
                let name = self.b.func.lvars[x].name.clone();
                let message = format!("`{name}` is linear: it is used as a whole, and once");
                let help = format!("read parts of it: `rd r = {name} {{ .. rd r[i] .. }}`");
                self.fail(Diagnostic::error("J101", span, message).help(help))
            }
        }
    }

    /// Index and slice steps into a value of type `ty`; gives the type reached.
    pub fn path(&mut self, mut ty: Type, list: &[Index], span: Span) -> Res<(Vec<Step>, Type)> {
        let mut path = Vec::new();
        for (k, index) in list.iter().enumerate() {
            let Type::Array(size, element) = ty else { return self.no_dimension(&ty, k, span) };
            if k + 1 < list.len() && !matches!(index, Index::At { .. }) {
                let help = "slice the last index only, and loop over the ones before it";
                self.core_only(span, "an index behind the slice of a capability", help)?;
            }
            let step = self.step(index, &size, span)?;
            ty = match step {
                Step::Slice { len, .. } => Type::array(self.nf(len), *element),
                _ => *element,
            };
            path.push(step);
        }
        Ok((path, ty))
    }

    /// J205 for a literal with an index or a field.
    pub fn plain_number<T>(&mut self, span: Span) -> Res<T> {
        let help = "leave `[ ]` or `.` behind it out";
        self.error("J205", span, "a number has no elements and no fields", help)
    }

    /// J205 for the index with number `k`.
    pub fn no_dimension<T>(&mut self, ty: &Type, k: usize, span: Span) -> Res<T> {
        let message = if k == 0 {
            format!("a value of type {} has no elements", self.show(ty))
        } else {
            format!("the array has only {k} dimension(s)")
        };
        let help = match k {
            0 => "leave the index out".to_string(),
            1 => format!("give one index: `{}`", one_of_indices(k)),
            _ => format!("give at most {k} indices: `{}`", one_of_indices(k)),
        };
        self.error("J205", span, message, help)
    }

    /// J601 in a `def`.
    fn core_only(&mut self, span: Span, what: &str, help: &str) -> Res<()> {
        if self.strict {
            return Ok(());
        }
        let message = format!("{what} is allowed in a `core def` only");
        self.fail(Diagnostic::error("J601", span, message).help(help))
    }

    pub fn step(&mut self, index: &Index, size: &Size, span: Span) -> Res<Step> {
        match *index {
            Index::At { index, proved } => {
                if proved {
                    self.mark(self.span(index), "!")?;
                }
                let index = self.integer(index, INDEX)?;
                let position = self.nf(index);
                self.not_before(&position, size, span)?;
                if !self.strict && !self.facts.covers(&position, size) {
                    let size = self.materialize(size, span)?;
                    self.emit(Rhs::Check(Check::Below(index, size)), span)?;
                }
                Ok(Step::Index { index, proved })
            }
            Index::Slice { lo, len, proved } => {
                if proved {
                    self.mark(self.span(lo), "!")?;
                }
                let lo = self.integer(lo, "a start")?;
                let len = self.integer(len, "a length")?;
                self.not_before(&self.nf(lo), size, span)?;
                if !self.strict {
                    self.check_slice(lo, len, size, span)?;
                }
                Ok(Step::Slice { lo, len, proved })
            }
            Index::Range(from, to) => {
                let help = "write `x[lo ..+ len]`";
                self.surface_only(span, "`a..b`", help)?;
                let lo = self.integer(from, "a start")?;
                self.not_before(&self.nf(lo), size, span)?;
                let hi = self.integer(to, "an end")?;
                let len = self.difference(hi, lo, span)?;
                self.check_slice(lo, len, size, span)?;
                Ok(Step::Slice { lo, len, proved: false })
            }
        }
    }

    /// J301 for a place before the first element: no array has it. (In a `core def` nothing covers it.)
    fn not_before(&mut self, place: &Size, size: &Size, span: Span) -> Res<()> {
        let Some(k) = place.as_constant().filter(|k| *k < 0 && !self.strict) else { return Ok(()) };
        let message = format!("{k} is no index: there is nothing before the first element, 0");
        let last = self.show_size(&(size.clone() + Size::constant(k)));
        let help = format!("places are counted from the end by the size: `{last}`");
        self.error("J301", span, message, help)
    }

    /// The check of a slice, unless it is plain.
    pub fn check_slice(&mut self, lo: Atom, len: Atom, size: &Size, span: Span) -> Res<()> {
        if self.facts.covers_slice(&self.nf(lo), &self.nf(len), size) {
            return Ok(());
        }
        let size = self.materialize(size, span)?;
        self.emit(Rhs::Check(Check::Within { lo, len, size }), span)
    }

    /// `b - a`, without an operation where the difference is plain.
    pub fn difference(&mut self, b: Atom, a: Atom, span: Span) -> Res<Atom> {
        if a == Atom::Lit(Literal::I64(0)) {
            return Ok(b);
        }
        if let Some(difference) = self.nf(b).checked_sub(&self.nf(a)) {
            if let Some(k) = difference.as_constant() {
                return Ok(Atom::Lit(Literal::I64(k)));
            }
            if let Some(v) = self.scope.defined(&difference) {
                return Ok(Atom::Var(v));
            }
        }
        self.bound_primitive("-", vec![b, a], "m", span)
    }

    /// An infix i64 operation, bound to a temporary.
    pub fn bound_primitive(
        &mut self,
        op: &str,
        args: Vec<Atom>,
        hint: &'s str,
        span: Span,
    ) -> Res<Atom> {
        let out = self.primitive(op, Syntax::Infix, args, span)?;
        let values = self.bind(out, &[Name { text: hint, span }], &[])?;
        values.nl.first().copied().ok_or(Stop)
    }

    /// A size as an operand: a literal, a name in scope that has this value, or new operations.
    pub fn materialize(&mut self, size: &Size, span: Span) -> Res<Atom> {
        if let Some(k) = size.as_constant() {
            return Ok(Atom::Lit(Literal::I64(k)));
        }
        if let Some(v) = size.as_var().or_else(|| self.scope.defined(size)) {
            return Ok(Atom::Var(v));
        }
        // Constant last: `n - 1`.
        let (constant, named): (Vec<_>, Vec<_>) =
            size.terms().iter().partition(|(names, _)| names.is_empty());
        let mut sum: Option<Atom> = None;
        for (names, c) in named.into_iter().chain(constant) {
            let mut term: Option<Atom> = None;
            for name in names {
                term = Some(match term {
                    None => Atom::Var(*name),
                    Some(t) => self.bound_primitive("*", vec![t, Atom::Var(*name)], "t", span)?,
                });
            }
            let subtract = sum.is_some() && *c < 0 && *c != i64::MIN;
            let c = Atom::Lit(Literal::I64(if subtract { -*c } else { *c }));
            let term = match term {
                None => c,
                Some(t) if c == Atom::Lit(Literal::I64(1)) => t,
                Some(t) => self.bound_primitive("*", vec![c, t], "t", span)?,
            };
            sum = Some(match sum {
                None => term,
                Some(s) => {
                    let op = if subtract { "-" } else { "+" };
                    self.bound_primitive(op, vec![s, term], "t", span)?
                }
            });
        }
        Ok(sum.unwrap_or(Atom::Lit(Literal::I64(0))))
    }

    // ---- fields

    pub fn field(&mut self, value: NVar, name: &Name<'s>, span: Span) -> Res<Out> {
        let ty = self.b.func.nvars[value].ty.clone();
        let program = self.program;
        let of_record = match &ty {
            Type::Tuple(items) => program.record(items).map(|(id, _, record)| (id, items, record)),
            _ => None,
        };
        if let Some((id, items, record)) = of_record {
            let fields = &self.globals.fields;
            let number = fields.get(&id).and_then(|f| f.get(name.text)).copied();
            let Some(number) = number else {
                if record.is_sum() {
                    let message = format!("`{}` has several constructors", program.datas[id].name);
                    return self.error("J206", name.span, message, "open it with `case`");
                }
                let names = record.fields.iter().map(|f| f.name.as_str());
                return self.no_field(&program.datas[id].name, names.collect(), name);
            };
            return Ok(Out::one(Rhs::Proj(value, number as u32), items[number].clone(), span));
        }
        if let Some(out) = self.labelled(value, name, span)? {
            return Ok(out);
        }
        let Type::Data(data) = ty else {
            let message = format!("a value of type {} has no fields", self.show(&ty));
            let help = match &ty {
                Type::Tuple(items) => components(items.len()),
                Type::Array(..) => "elements are `x[i]`; the size is `size(x)`".to_string(),
                _ => format!(
                    "leave `.{}` out, or declare a record: `data P = P({}: f64)`",
                    name.text, name.text
                ),
            };
            return self.error("J204", name.span, message, help);
        };
        let program = self.program;
        let [constructor] = program.datas[data].constructors.as_slice() else {
            let message = format!("`{}` has several constructors", program.datas[data].name);
            let help = "open it with `case`";
            return self.fail(Diagnostic::error("J206", name.span, message).help(help));
        };
        let fields = &constructor.fields;
        let Some(number) = self.globals.fields.get(&data).and_then(|f| f.get(name.text)).copied()
        else {
            let names = fields.iter().map(|f| f.name.as_str()).collect();
            return self.no_field(&program.datas[data].name, names, name);
        };
        let ty = fields[number].ty.clone();
        if !ty.size_names().is_empty() {
            let message = format!("the size of `{}` is another field", name.text);
            let binders: Vec<&str> = fields.iter().map(|f| f.name.as_str()).collect();
            let help =
                format!("open the record: `{}({}) = ..`", constructor.name, binders.join(", "));
            return self.fail(Diagnostic::error("J207", name.span, message).help(help));
        }
        Ok(Out::one(Rhs::Proj(value, number as u32), ty, span))
    }

    /// The number of a field whose sizes are other fields of its record.
    pub(super) fn measured(&self, value: NVar, name: &Name<'s>) -> Option<usize> {
        let Type::Data(data) = self.b.func.nvars[value].ty else { return None };
        let [constructor] = self.program.datas[data].constructors.as_slice() else { return None };
        let number = *self.globals.fields.get(&data)?.get(name.text)?;
        let ty = &constructor.fields[number].ty;
        (!ty.size_names().is_empty()).then_some(number)
    }

    /// A field of a record that is opened for it: its sizes are those of this opening.
    fn opened(&mut self, value: NVar, number: usize, at: Span) -> Res<Out> {
        let parts = self.taken_apart(value, at)?;
        let Some(part) = parts.get(number) else { return Err(Stop) };
        let ty = self.type_of(*part);
        Ok(Out::one(Rhs::Atom(*part), ty, at))
    }

    /// All fields of a record.
    pub fn taken_apart(&mut self, value: NVar, at: Span) -> Res<Vec<Atom>> {
        let Type::Data(data) = self.b.func.nvars[value].ty else { return Err(Stop) };
        let con = jut_ir::ConRef { data, index: 0 };
        let fields = &self.program.constructor(con).fields;
        let place = |v: NVar| Some(Size::position(v.as_u32() as usize));
        let items = fields.iter().map(|field| field.ty.subst(&mut |v| place(v))).collect();
        let rhs = Rhs::Open { con, value, eqs: vec![None; fields.len()], proved: false };
        Ok(self.bind(Out { nl: items, ..Out::none(rhs, at) }, &[], &[])?.nl)
    }

    fn no_field<T>(&mut self, record: &str, names: Vec<&str>, name: &Name<'s>) -> Res<T> {
        let message = format!("`{record}` has no field `{}`", name.text);
        let error = Diagnostic::error("J204", name.span, message);
        let error = match show::nearest(name.text, names.iter().copied()) {
            Some(near) => error.did_you_mean(near),
            None => {
                let names: Vec<String> = names.iter().map(|f| format!("`.{f}`")).collect();
                error.help(format!("it has {}", names.join(", ")))
            }
        };
        self.fail(error)
    }

    pub fn component(&mut self, value: NVar, number: u32, here: Span, span: Span) -> Res<Out> {
        match &self.b.func.nvars[value].ty {
            ty @ Type::Tuple(items) if !self.strict && self.program.record(items).is_some() => {
                let message = format!("a value of type {} is not a tuple", self.show(ty));
                self.error("J204", here, message, "fields of a record have names: `p.x`")
            }
            Type::Tuple(items) => match items.get(number as usize) {
                Some(ty) => {
                    let ty = ty.clone();
                    Ok(Out::one(Rhs::Proj(value, number), ty, span))
                }
                None => {
                    let message = format!("the tuple has {} components", items.len());
                    self.fail(
                        Diagnostic::error("J204", here, message).help(components(items.len())),
                    )
                }
            },
            ty => {
                let message = format!("a value of type {} is not a tuple", self.show(ty));
                let help = match ty {
                    Type::Data(_) => "fields of a record have names: `p.x`",
                    Type::Array(..) => "elements are `x[i]`, counted from 0",
                    _ => "leave the `.` and the number out",
                };
                self.error("J204", here, message, help)
            }
        }
    }

    /// `#(a, b) = e`.
    pub fn untuple(&mut self, names: &[Name<'s>], span: Span, e: ExprId) -> Res<Out> {
        let at = self.span(e);
        let value = self.operand(e, "t")?;
        let ty = match value {
            Value::N(a) => self.type_of(a),
            Value::L(x) => self.lin_type(x),
        };
        let Type::Tuple(items) = ty else {
            let message = format!("a value of type {} is not a tuple", self.show(&ty));
            let help = match &ty {
                Type::Data(data) => {
                    let program = self.program;
                    let data = &program.datas[*data];
                    match data.constructors.as_slice() {
                        [one] => format!("open the record with `{}(..) = ..`", one.name),
                        _ => "open it with `case`".to_string(),
                    }
                }
                _ => "bind it to one name: `y = ..`".to_string(),
            };
            return self.error("J205", at, message, help);
        };
        if let (false, Some((_, data, _))) = (self.strict, self.program.record(&items)) {
            let message = format!("a value of type {} is not a tuple", data.name);
            let help = match data.constructors.as_slice() {
                [one] => format!("open the record with `{}(..) = ..`", one.name),
                _ => "open it with `case`".to_string(),
            };
            return self.error("J205", at, message, help);
        }
        if items.len() != names.len() {
            let message =
                format!("the pattern has {} names, the tuple {}", names.len(), items.len());
            let names: Vec<String> = (0..items.len()).map(|k| format!("a{k}")).collect();
            let help = format!("bind every component: `#({}) = ..`", names.join(", "));
            return self.error("J213", span, message, help);
        }
        let linear = matches!(value, Value::L(_));
        if let Some(name) = names.iter().find(|n| n.is_linear() != linear) {
            let (code, what) = if linear {
                ("J101", "the tuple is linear, and this name is not")
            } else {
                ("J102", "this name is linear, and the tuple is not")
            };
            return self.other_name(code, name, what);
        }
        match value {
            Value::N(Atom::Var(v)) => Ok(Out { nl: items, ..Out::none(Rhs::Untuple(v), at) }),
            Value::L(x) => Ok(Out { lin: items, ..Out::none(Rhs::LUntuple(x), at) }),
            Value::N(Atom::Lit(_)) => Err(Stop),
        }
    }

    // ---- places

    /// A capability with a path into it, the type reached, and the mode.
    pub fn place(&mut self, e: ExprId) -> Res<(Place, Type, Mode)> {
        let ast = self.ast;
        let expr = ast.expr(e);
        let (base, steps): (ExprId, &'a [Post<'s>]) = match &expr.kind {
            ExprKind::Post(base, steps) => (*base, steps),
            _ => (e, &[]),
        };
        let ExprKind::Name(name) = &ast.expr(base).kind else {
            let message = "a capability is needed here";
            let help = "capabilities are the names of `rd`, `wr` and `acc`";
            return self.fail(Diagnostic::error("J110", expr.span, message).help(help));
        };
        let root = match self.scope.get(name.text) {
            Some(Entity::C(cap)) => cap,
            Some(Entity::Poison) => return Err(Stop),
            Some(_) => {
                let message = format!("`{}` is a value, not a capability", name.text);
                let help = format!(
                    "bind it again, `{0} = {0} + ..`; or add into a name of `acc` or `wr`",
                    name.text
                );
                return self.fail(Diagnostic::error("J110", name.span, message).help(help));
            }
            None => {
                let message = format!("there is no capability `{}` here", name.text);
                let mut error = Diagnostic::error("J110", name.span, message);
                let near = show::nearest(name.text, self.scope.names());
                error = match near {
                    Some(near) => error.did_you_mean(near),
                    None => error.help(format!(
                        "open one around it: `wr {0}: f64 {{ .. }}`, `acc {0}: f64 {{ .. }}`, or `rd {0} = x' {{ .. }}`",
                        name.text
                    )),
                };
                return self.fail(error);
            }
        };
        let (mut ty, mode) = (self.b.func.caps[root].ty.clone(), self.b.func.caps[root].mode);
        let mut path = Vec::new();
        for step in steps {
            match step {
                Post::Index(list, _) => {
                    let (steps, reached) = self.path(ty, list, expr.span)?;
                    path.extend(steps);
                    ty = reached;
                }
                Post::Component(number, span) => match ty {
                    Type::Tuple(mut items) if (*number as usize) < items.len() => {
                        ty = items.swap_remove(*number as usize);
                        path.push(Step::Field(*number));
                    }
                    _ => {
                        let message =
                            format!("a value of type {} has no such component", self.show(&ty));
                        let help = match &ty {
                            Type::Tuple(items) => components(items.len()),
                            Type::Array(..) => "elements are `r[i]`, counted from 0".to_string(),
                            _ => "leave the `.` and the number out".to_string(),
                        };
                        return self.error("J204", *span, message, help);
                    }
                },
                Post::Field(name) => {
                    let message = "components of a linear value have numbers, not names";
                    let help = match &ty {
                        Type::Tuple(items) => components(items.len()),
                        _ => format!("leave `.{}` out", name.text),
                    };
                    return self.fail(Diagnostic::error("J204", name.span, message).help(help));
                }
            }
        }
        Ok((Place { root, path }, ty, mode))
    }
}

/// What components a tuple has.
fn components(count: usize) -> String {
    match count {
        0 => "the empty tuple has none: leave it out".to_string(),
        1 => "the only component is `.0`".to_string(),
        _ => format!("components are `.0` to `.{}`", count - 1),
    }
}

/// An access with `k` indices.
fn one_of_indices(k: usize) -> String {
    let names = ["i", "j", "k", "l"];
    let list: Vec<&str> = (0..k).map(|k| names.get(k).copied().unwrap_or("..")).collect();
    format!("x[{}]", list.join(", "))
}

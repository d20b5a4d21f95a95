//! Variables: `var s = e`, and what assigns them.
//!
//! The core has no variables; every name of it means one value. Where a variable stands in the text, its value at
//! that place stands in the core, and where ways meet, the value is a result of what they meet behind:
//!
//! | surface | core |
//! |---|---|
//! | `var s = e`, `s = e`, `s += e` | `s = e`, `s_1 = e`, `s_1 = s + e`: a new name |
//! | `if c { s = e }` | `s_1 = case c { true -> { ..; e }; false -> { s } }` |
//! | `for (i < n) { s = e }` | `s_2 = scan up (i < n) carry (s_1 = s) { ..; e }` |
//! | `while s > 1.0 { s = e }` | `(trips, s_2) = scan while .. carry (go = .., s_1 = s) { ..; (go_1, e) }` |
//! | `x[i] = e`, `x[i] += e` | `x_1 = x with [i] = e`; `t = x[i]; t_1 = t + e; x_1 = x with [i] = t_1` |
//! | `x[i].k[j] = e` | `x_1 = x with [i].k[j] = e`, of tuples and records that are elements |
//! | `p.x = e` | `(x, y) = open p; p_1 = P(e, y)` |
//!
//! Results of variables stand behind the other results of a branch, and behind the other carries of a loop.
//! What a part assigns is known before it is elaborated ([`super::assigned`]).
//!
//! The value is computed first, then what stands in the place (its indices), from left to right; a list of values
//! is computed before the first of them is assigned.
//!
//! Refused are: an assignment where iterations know nothing of each other, to a variable of outside (J605); a value
//! of another type or size (J606); an assignment to what is no variable (J607). A variable that nothing assigns
//! is a warning (J703).

use super::arm::{ArmBody, ArmSpec};
use super::assigned::{Assigned, assigned, root};
use super::body::{Body, CONDITION, FUNCTION, LOOP_CONDITION, Sealed};
use super::made::{Made, Operand, Out, Value};
use super::region::is_region;
use super::scope::{Entity, VarId};
use super::update::indices;
use super::{Res, Stop};
use crate::ast::{ExprId, ExprKind, Name, Post};
use jut_ir::{Atom, Diagnostic, Literal, NVar, Rhs, Scan, Span, Step, Type};

/// What happens to a place.
enum Change<'s> {
    /// It is replaced.
    To(Atom),
    /// It is joined with a value by an operator.
    By(&'static str, Operand<'s>),
}

/// A part of an array that is changed.
struct Part<'a, 's> {
    /// The way to it, as far as it was gone.
    path: Vec<Step>,
    /// The text of the rest.
    rest: &'a [Post<'s>],
    /// Whether it is replaced, and not joined with what it is.
    is_put: bool,
    at: Span,
}

impl Part<'_, '_> {
    /// Whether nobody asks for what the part is.
    fn is_all(&self) -> bool {
        self.is_put && self.rest.is_empty()
    }
}

impl<'a, 's> Body<'a, 's> {
    // ---- declarations and assignments

    /// A name before `=`: a new variable, or a variable that is assigned, or a name that is bound.
    pub fn bind_name(&mut self, name: Name<'s>, atom: Atom, declared: bool) -> Res<()> {
        match self.scope.variable(name.text) {
            _ if declared => {
                let ty = self.type_of(atom);
                self.scope.declare(name.text, name.span, ty, atom);
                Ok(())
            }
            Some(variable) => self.assign(variable, atom, name.span),
            None => {
                self.scope.bind(name.text, Entity::N(atom));
                Ok(())
            }
        }
    }

    fn assign(&mut self, variable: VarId, atom: Atom, at: Span) -> Res<()> {
        self.scope.note_assigned(variable);
        self.assignable(variable, at)?;
        let place = self.scope.place(variable);
        let atom = super::narrow::fitted(atom, &place.ty);
        let ty = self.type_of(atom);
        if ty != place.ty {
            let (name, declared) = (place.name, place.span);
            let (wanted, found) = (self.show(&place.ty), self.show(&ty));
            let shapes = super::fit::same_shape(&ty, &place.ty);
            let message = format!(
                "`{name}` is a variable of type {wanted}, and this value is of type {found}"
            );
            let error = Diagnostic::error("J606", at, message).label(declared, "declared here");
            let help = match (atom, place.value) {
                (Atom::Lit(Literal::I64(k)), _) if place.ty.is_float() => format!("write `{k}.0`"),
                (_, Atom::Lit(Literal::I64(k))) if ty.is_float() => {
                    format!("declare it as a float: `var {name} = {k}.0`")
                }
                _ if shapes => format!(
                    "a variable keeps its size: bind the value to another name, or say that the sizes are equal, \
                     `cast x : {wanted}`"
                ),
                _ => "a variable keeps its type: bind the value to another name, or convert it"
                    .to_string(),
            };
            return self.fail(error.help(help));
        }
        self.scope.set(variable, atom);
        Ok(())
    }

    /// J605 for a variable of outside where it cannot be assigned.
    fn assignable(&mut self, variable: VarId, at: Span) -> Res<()> {
        let Some(sealed) = self.sealed.filter(|sealed| variable.is_before(sealed.outside)) else {
            return Ok(());
        };
        let name = self.scope.place(variable).name;
        let what = sealed.what;
        let message = match what {
            CONDITION | LOOP_CONDITION | FUNCTION => format!("`{name}` is assigned in {what}"),
            _ => format!(
                "`{name}` is declared outside of this `{what}`, whose iterations know nothing of each other"
            ),
        };
        let error = Diagnostic::error("J605", at, message);
        let head = Span { end: sealed.span.start + what.len() as u32, ..sealed.span };
        let error = match what {
            CONDITION => return self.fail(error.help("assign it before the `if`")),
            FUNCTION => return self.fail(error.help("give the value as a result of the function")),
            LOOP_CONDITION => return self.fail(error.help("assign it in the body of the loop")),
            "build" | "map" => error
                .help("write `for`, whose iterations run in order, and which collects as well")
                .replace(head, "for"),
            "sum" => error.help(format!(
                "assign in a `for`, whose iterations run in order, or behind the `sum`: `{name} = {name} + sum (..) {{ .. }}`"
            )),
            "scan par" => error.help("write `scan up`, whose iterations run in order"),
            _ => error.help(format!(
                "assign `{name}` in a `for`, whose iterations run in order: `if {name} < y {{ {name} = y }}`"
            )),
        };
        self.fail(error.label(head, "this loop"))
    }

    /// `x[i] = e`, `s -= e`, `p.x += e`: an assignment to a variable, or to a part of one.
    pub fn change(&mut self, target: ExprId, op: Option<&'static str>, e: ExprId) -> Res<()> {
        let variable = self.target(target)?;
        let change = match op {
            None => Change::To(self.atom(e, "t")?),
            Some(op) => Change::By(op, self.each_operand(e)?),
        };
        self.change_to(target, variable, change)
    }

    /// `(x[i], y) = e`.
    pub fn change_all(&mut self, targets: &'a [ExprId], e: ExprId, span: Span) -> Res<()> {
        let made = self.rhs(e, None)?;
        let (values, _) = self.values(made, "t")?;
        if values.nl.len() != targets.len() || !values.lin.is_empty() {
            let found = values.nl.len() + values.lin.len();
            let message =
                format!("{} places are assigned, and there are {found} values", targets.len());
            return self.error(
                "J213",
                span,
                message,
                "give a value for each place: `(a, b) = (b, a)`",
            );
        }
        for (target, atom) in targets.iter().zip(values.nl) {
            match &self.ast.expr(*target).kind {
                ExprKind::Name(name) => self.bind_name(*name, atom, false)?,
                _ => {
                    let variable = self.target(*target)?;
                    self.change_to(*target, variable, Change::To(atom))?;
                }
            }
        }
        Ok(())
    }

    /// Whether a place belongs to a value, so that `+=` changes it, rather than to a capability.
    pub fn is_changed(&self, target: ExprId) -> bool {
        let name = root(self.ast, target).filter(|_| !self.strict);
        name.is_some_and(|name| self.scope.value(name.text).is_some())
    }

    /// The variable that a place belongs to.
    fn target(&mut self, target: ExprId) -> Res<VarId> {
        let Some(name) = root(self.ast, target) else { return Err(Stop) };
        if let Some(variable) = self.scope.variable(name.text) {
            return Ok(variable);
        }
        let entity = self.lookup(&name)?;
        let text = name.text;
        if let Entity::C(_) = entity {
            let message = format!("`{text}` is a capability, and this is no `+=`");
            let help = format!("parts are only added to a `wr` or `acc`: `{text} += ..`");
            return self.error("J111", name.span, message, help);
        }
        let message = format!("`{text}` is not a variable: its value never changes");
        let mut error = Diagnostic::error("J607", name.span, message);
        if let Entity::N(Atom::Var(v)) = entity {
            error = error.label(self.b.func.nvars[v].span, "bound here");
        }
        self.fail(error.help(format!(
            "declare it, `var {text} = ..`; a variable that begins with this value is `var {text} = {text}`, and what \
             iterations add to in any order is an `acc`"
        )))
    }

    fn change_to(&mut self, target: ExprId, variable: VarId, change: Change<'s>) -> Res<()> {
        let ast = self.ast;
        let at = self.span(target);
        let steps: &'a [Post<'s>] = match &ast.expr(target).kind {
            ExprKind::Post(_, steps) => steps,
            _ => &[],
        };
        self.scope.note_assigned(variable);
        self.assignable(variable, at)?;
        let place = self.scope.place(variable);
        let (name, old) = (place.name, place.value);
        let new = self.changed(old, steps, change, Name { text: name, span: at })?;
        self.assign(variable, new, at)
    }

    /// A value with a part of it changed.
    fn changed(
        &mut self,
        old: Atom,
        steps: &'a [Post<'s>],
        change: Change<'s>,
        name: Name<'s>,
    ) -> Res<Atom> {
        let at = name.span;
        let Some((step, rest)) = steps.split_first() else {
            return match change {
                Change::To(new) => Ok(new),
                Change::By(op, value) => {
                    let old = Operand::Value(Value::N(old));
                    let lazy = self.joined(op, (old, at), (value, at))?;
                    let made = self.made(lazy)?;
                    match self.one_value(made, name.text)? {
                        Value::N(new) => Ok(new),
                        Value::L(_) => Err(Stop),
                    }
                }
            };
        };
        let Atom::Var(value) = old else {
            let help = "leave `[ ]` or `.` behind it out";
            return self.error("J205", at, "a number has no elements and no fields", help);
        };
        // An element of an array that a record measures: the array keeps its size.
        if let (Post::Field(field), Some(Post::Index(..))) = (step, rest.first())
            && let Some(number) = self.measured(value, field)
        {
            return self.remeasured(value, number, rest, change, name);
        }
        let out = match step {
            Post::Index(..) => return self.replaced(value, steps, change, name),
            Post::Field(field) => self.field(value, field, at)?,
            Post::Component(number, here) => self.component(value, *number, *here, at)?,
        };
        let Rhs::Proj(_, number) = out.rhs else { return Err(Stop) };
        let part = self.bind(out, &[], &[])?.nl.first().copied().ok_or(Stop)?;
        let new = self.changed(part, rest, change, Name { text: "t", span: at })?;
        let new = self.same_part(&self.type_of(part), new, at)?;
        self.rebuilt(value, number as usize, new, name)
    }

    /// A record with a part of an array changed that has a field as its size.
    fn remeasured(
        &mut self,
        record: NVar,
        number: usize,
        steps: &'a [Post<'s>],
        change: Change<'s>,
        name: Name<'s>,
    ) -> Res<Atom> {
        let at = name.span;
        let Type::Data(data) = self.b.func.nvars[record].ty else { return Err(Stop) };
        let mut parts = self.taken_apart(record, at)?;
        let Some(part) = parts.get(number).copied() else { return Err(Stop) };
        let new = self.changed(part, steps, change, Name { text: "t", span: at })?;
        let new = self.same_part(&self.type_of(part), new, at)?;
        parts[number] = new;
        let con = jut_ir::ConRef { data, index: 0 };
        let out = Out::one(Rhs::Con(con, parts), Type::Data(data), at);
        self.bind(out, &[name], &[])?.nl.first().copied().ok_or(Stop)
    }

    /// An array with another element, row or slice; its place is computed, and tested, once.
    fn replaced(
        &mut self,
        array: NVar,
        steps: &'a [Post<'s>],
        change: Change<'s>,
        name: Name<'s>,
    ) -> Res<Atom> {
        let at = name.span;
        let mut rest = steps;
        let list = indices(&mut rest, false);
        if is_region(&list) {
            let steps = self.region_steps(array, &list, at)?;
            let value = match change {
                Change::To(new) if rest.is_empty() => new,
                change => {
                    let out = self.cells(array, &steps, at)?;
                    let old = self.bind(out, &[], &[])?.nl.first().copied().ok_or(Stop)?;
                    self.changed(old, rest, change, Name { text: "t", span: at })?
                }
            };
            self.same_part(&self.region_type(array, &steps)?, value, at)?;
            let out = self.put_cells(array, &steps, value, at)?;
            return self.bind(out, &[name], &[])?.nl.first().copied().ok_or(Stop);
        }
        let ty = self.b.func.nvars[array].ty.clone();
        let is_put = matches!(change, Change::To(_));
        let mut part = Part { path: Vec::new(), rest: steps, is_put, at };
        let (old, wanted) = self.element_part(array, &mut part)?;
        let value = match (old, change) {
            (None, Change::To(new)) => new,
            (None, Change::By(..)) => return Err(Stop),
            (Some(old), change) => {
                self.changed(old, part.rest, change, Name { text: "t", span: at })?
            }
        };
        let value = self.same_part(&wanted, value, at)?;
        let out = Out::one(Rhs::Update { array, path: part.path, value }, ty, at);
        self.bind(out, &[name], &[])?.nl.first().copied().ok_or(Stop)
    }

    /// The element, row or slice that a list of indices leads to: what it is, unless it is replaced as a whole, and its type.
    fn element_part(&mut self, array: NVar, part: &mut Part<'a, 's>) -> Res<(Option<Atom>, Type)> {
        let list = indices(&mut part.rest, false);
        let ty = self.b.func.nvars[array].ty.clone();
        let (steps, ty) = self.path(ty, &list, part.at)?;
        part.path.extend(steps.iter().copied());
        if part.is_all() {
            return Ok((None, ty));
        }
        let out = Out::one(Rhs::Index(array, steps), ty.clone(), part.at);
        let old = self.bind(out, &[], &[])?.nl.first().copied().ok_or(Stop)?;
        self.component_part(old, ty, part)
    }

    /// A component of an element is changed where it is, without its neighbours, and so is an element of that.
    fn component_part(
        &mut self,
        old: Atom,
        ty: Type,
        part: &mut Part<'a, 's>,
    ) -> Res<(Option<Atom>, Type)> {
        let (Atom::Var(value), Type::Tuple(_), Some((step, behind))) =
            (old, &ty, part.rest.split_first())
        else {
            return Ok((Some(old), ty));
        };
        let out = match step {
            Post::Index(..) => return Ok((Some(old), ty)),
            Post::Field(field) => self.field(value, field, part.at)?,
            Post::Component(number, here) => self.component(value, *number, *here, part.at)?,
        };
        let (Rhs::Proj(_, number), Some(ty)) = (&out.rhs, out.nl.first().cloned()) else {
            return Err(Stop);
        };
        part.path.push(Step::Field(*number));
        part.rest = behind;
        if part.is_all() {
            return Ok((None, ty));
        }
        let old = self.bind(out, &[], &[])?.nl.first().copied().ok_or(Stop)?;
        let list = indices(&mut { behind }, false);
        match old {
            Atom::Var(array)
                if matches!(ty, Type::Array(..)) && !list.is_empty() && !is_region(&list) =>
            {
                self.element_part(array, part)
            }
            old => self.component_part(old, ty, part),
        }
    }

    /// J606 unless a new part has the type of the old one.
    fn same_part(&mut self, wanted: &Type, new: Atom, at: Span) -> Res<Atom> {
        let new = super::narrow::fitted(new, wanted);
        let found = self.type_of(new);
        if *wanted == found {
            return Ok(new);
        }
        let (wanted, found) = (self.show(wanted), self.show(&found));
        let message = format!("this part is of type {wanted}, and the value of type {found}");
        let help = match new {
            Atom::Lit(Literal::I64(k)) if wanted == "f64" => format!("write `{k}.0`"),
            _ => super::fit::conversion(&found, &wanted),
        };
        self.error("J606", at, message, help)
    }

    /// A record or tuple with another value of the same type in one place.
    pub fn rebuilt(&mut self, value: NVar, number: usize, new: Atom, name: Name<'s>) -> Res<Atom> {
        let at = name.span;
        let ty = self.b.func.nvars[value].ty.clone();
        let program = self.program;
        let (rhs, items) = match &ty {
            Type::Tuple(items) => (Rhs::Untuple(value), items.clone()),
            Type::Data(data) => {
                let con = jut_ir::ConRef { data: *data, index: 0 };
                let fields = &program.constructor(con).fields;
                let size = |field: &jut_ir::Field| {
                    let names = field.ty.size_names();
                    names.iter().any(|v| jut_ir::entity::EntityRef::index(*v) == number)
                };
                if let Some(field) = fields.iter().find(|field| size(field)) {
                    let message = format!(
                        "`{}` is the size of `{}`, and cannot change alone",
                        fields[number].name, field.name
                    );
                    let help =
                        format!("make a new record: `{}(..)`", program.constructor(con).name);
                    return self.error("J207", at, message, help);
                }
                let items = fields
                    .iter()
                    .map(|field| {
                        let place = |v: NVar| Some(jut_ir::Size::position(v.as_u32() as usize));
                        field.ty.subst(&mut |v| place(v))
                    })
                    .collect();
                (Rhs::Open { con, value, eqs: vec![None; fields.len()], proved: false }, items)
            }
            _ => return Err(Stop),
        };
        let out = Out { nl: items, ..Out::none(rhs.clone(), at) };
        let mut parts = self.bind(out, &[], &[])?.nl;
        let Some(part) = parts.get_mut(number) else { return Err(Stop) };
        *part = new;
        let rhs = match rhs {
            Rhs::Open { con, .. } => Rhs::Con(con, parts),
            _ => Rhs::Tuple(parts),
        };
        self.bind(Out::one(rhs, ty, at), &[name], &[])?.nl.first().copied().ok_or(Stop)
    }

    // ---- where ways meet

    /// The values of variables at this place.
    pub fn present(&self, variables: &[VarId]) -> Vec<Atom> {
        variables.iter().map(|v| self.scope.place(*v).value).collect()
    }

    pub fn set_all(&mut self, variables: &[VarId], values: &[Atom]) {
        for (variable, value) in variables.iter().zip(values) {
            self.scope.set(*variable, *value);
        }
    }

    /// Binds an operation whose results from `at` on are the new values of variables; gives its other values.
    pub fn assign_results(&mut self, out: Out, at: usize, variables: &[VarId]) -> Res<Made> {
        if variables.is_empty() {
            return Ok(out.into());
        }
        let span = out.span;
        let mut names = vec![Name { text: "t", span }; at];
        names.extend(variables.iter().map(|v| Name { text: self.scope.place(*v).name, span }));
        let mut values = self.bind(out, &names, &[])?;
        let new: Vec<Atom> = values.nl.drain(at..at + variables.len()).collect();
        self.set_all(variables, &new);
        Ok(Made::Values(values, span))
    }

    /// What the variables carry through a loop that was just opened; in its body they have the carried values.
    pub fn carry_variables(&mut self, scan: &mut Scan, variables: &[VarId], span: Span) {
        for variable in variables {
            let place = self.scope.place(*variable);
            let (name, ty, init) = (place.name, place.ty.clone(), place.value);
            self.dimensions(&ty);
            let v = self.b.nvar(Name { text: name, span }.hint(), ty, span);
            self.label(&Rhs::Atom(init), &[v]);
            scan.carry.push((v, init));
            self.scope.set(*variable, Atom::Var(v));
        }
    }

    /// What the arms of a branch assign.
    pub fn assigned_by_arms(&self, specs: &[ArmSpec<'a, 's>]) -> Vec<VarId> {
        self.assigned(|walk| {
            for spec in specs {
                match spec.body {
                    ArmBody::Expr(body) => walk.arm(spec.fields.unwrap_or_default(), body),
                    ArmBody::Chain(part) => part.walk(walk),
                }
            }
        })
    }

    /// The variables that what `walk` visits assigns.
    pub fn assigned<'b>(&'b self, walk: impl FnOnce(&mut Assigned<'b, 's>)) -> Vec<VarId> {
        assigned(self.ast, &self.scope, walk)
    }

    /// From here on to the end of the block nothing assigns a variable that is declared already.
    pub fn seal(&mut self, what: &'static str, span: Span) {
        self.sealed = Some(Sealed { outside: self.scope.variables().len(), what, span });
    }

    /// J703 for variables of the definition that are never assigned.
    pub fn never_assigned(&mut self) {
        for variable in self.scope.variables().iter().filter(|variable| !variable.assigned) {
            let message = format!("`{}` is declared with `var`, and never assigned", variable.name);
            let warning = Diagnostic::warning("J703", variable.span, message)
                .help(format!("leave `var` out: `{} = ..`", variable.name));
            let start = variable.span.start.saturating_sub(4);
            let word = Span { start, end: variable.span.start, ..variable.span };
            let alone = self.ast.text_between(word.start, word.end) == "var ";
            self.diagnostics.push(if alone { warning.replace(word, "") } else { warning });
        }
    }
}

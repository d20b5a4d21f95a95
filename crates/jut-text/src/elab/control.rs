//! `case`, `scan` and the regions.
//!
//! The types of the results of a block come out of the block ([`Body::export`]): sizes that are
//! known only inside must be results themselves. The arms of a `case` agree, or the pattern says
//! what they are ("annotated", `(m: i64, y: [m]f64) = case b { .. }`).

use super::arm::{ArmBody, ArmSpec};
use super::body::{Body, Sealed};
use super::fit::no_elements;
use super::made::{Annotation, Made, Out, Values};
use super::opaque_sizes::Outside;
use super::scope::VarId;
use super::{Res, Stop};
use crate::ast::{self, ExprId, FieldPattern, Name};
use crate::parser::MAX_DEPTH;
use jut_ir::{
    Arm, ArmPattern, Atom, Block, Cap, Case, Check, Diagnostic, Dir, FieldPattern as IrField, LVar,
    Literal, Mode, NVar, Operand, Region, Rhs, Scan, Size, Span, Stmt, Type,
};
use std::collections::HashMap;
use std::rc::Rc;

/// A loop being made: what is bound for its body.
pub(crate) struct Open {
    pub outer: Vec<Stmt>,
    mark: super::scope::Mark,
    barrier: usize,
    sealed: Option<Sealed>,
    /// Variables with this number or more are local to the loop.
    pub locals: usize,
    opaque: usize,
}

/// How often a text may be copied by nested `_` arms and `max`/`min`.
const MAX_COPIES: u32 = 64;

impl<'a, 's> Body<'a, 's> {
    // ---- case

    /// `case v { .. }`.
    pub fn case(
        &mut self,
        scrutinee: ExprId,
        arms: &'a [ast::Arm<'s>],
        stated: Option<&Annotation>,
        span: Span,
    ) -> Res<Made> {
        let at = self.span(scrutinee);
        let mut scrutinee = self.atom(scrutinee, "t")?;
        let mut ty = self.type_of(scrutinee);
        let mut parts: Rc<[Atom]> = Rc::from([]);
        if !self.strict
            && let Some(opened) = self.open_sum(scrutinee, arms, at)?
        {
            (scrutinee, ty, parts) = (opened.mark, Type::Data(opened.data), opened.parts.into());
        }
        let program = self.program;
        let all: Vec<(ArmPattern, &'a str)> = match &ty {
            Type::Bool => {
                vec![(ArmPattern::Bool(true), "true"), (ArmPattern::Bool(false), "false")]
            }
            Type::Data(data) => program.datas[*data]
                .constructors
                .iter()
                .enumerate()
                .map(|(k, c)| {
                    let con = jut_ir::ConRef { data: *data, index: k as u32 };
                    (ArmPattern::Con(con), c.name.as_str())
                })
                .collect(),
            _ => {
                let message =
                    format!("`case` needs a bool or a data value, not {}", self.show(&ty));
                let help = match &ty {
                    Type::Tuple(items) if program.record(items).is_some() => {
                        "a record has one constructor: open it with `K(a, b) = ..`"
                    }
                    Type::Tuple(_) => "open a tuple with `#(a, b) = ..`",
                    Type::Array(..) => "choose by an element: `if x[i] > 0.0 { .. } else { .. }`",
                    Type::I64 | Type::I32 => {
                        "arms of an integer are numbers: `case n { 0 -> ..; 1 -> ..; _ -> .. }`"
                    }
                    _ => "choose by `if x > 0.0 { .. } else { .. }`",
                };
                return self.error("J501", at, message, help);
            }
        };
        let number: HashMap<ArmPattern, usize> =
            all.iter().enumerate().map(|(k, (pattern, _))| (*pattern, k)).collect();
        let mut missing: Vec<bool> = vec![true; all.len()];
        let mut specs = Vec::new();
        let mut rest = None;
        for arm in arms {
            if let Some(_after) = rest {
                let message = "an arm behind `_` is never reached";
                return self.error(
                    "J502",
                    arm.name.span,
                    message,
                    "put it before the `_`, or leave it out",
                );
            }
            if arm.name.text == "_" {
                self.surface_only(arm.name.span, "`_`", "write an arm for every constructor")?;
                rest = Some(arm);
                continue;
            }
            let pattern = match arm.name.text {
                "true" => ArmPattern::Bool(true),
                "false" => ArmPattern::Bool(false),
                _ => ArmPattern::Con(self.constructor(&arm.name)?),
            };
            let Some(k) = number.get(&pattern).copied() else {
                let message = format!("`{}` is not a value of {}", arm.name.text, self.show(&ty));
                let names: Vec<String> = all.iter().map(|(_, name)| format!("`{name}`")).collect();
                let help = format!("its arms are {}", names.join(", "));
                return self.error("J502", arm.name.span, message, help);
            };
            if !std::mem::take(&mut missing[k]) {
                let message = format!("there are two arms for `{}`", arm.name.text);
                return self.error("J502", arm.name.span, message, "leave one of them out");
            }
            let fields = Some(arm.fields.as_slice());
            let (name, body) = (arm.name, ArmBody::Expr(arm.body));
            specs.push(ArmSpec { pattern, name, fields, parts: parts.clone(), body });
        }
        let missing: Vec<_> =
            all.iter().zip(&missing).filter(|(_, m)| **m).map(|((p, n), _)| (*p, *n)).collect();
        let copies = self.copies;
        match rest {
            None if !missing.is_empty() => {
                let names: Vec<&str> = missing.iter().map(|(_, name)| *name).collect();
                let message = format!("there is no arm for {}", names.join(", "));
                let help = "add the arms; in a `def`, `_ -> ..` stands for all others";
                return self.fail(Diagnostic::error("J502", span, message).help(help));
            }
            None => {}
            Some(arm) => {
                self.copy_text(missing.len(), arm.name.span)?;
                for (pattern, _) in missing {
                    specs.push(ArmSpec {
                        pattern,
                        name: arm.name,
                        fields: None,
                        parts: parts.clone(),
                        body: ArmBody::Expr(arm.body),
                    });
                }
            }
        }
        let made = self.arms(scrutinee, specs, stated, span);
        self.copies = copies;
        made
    }

    /// Accounts for a text that is elaborated several times.
    pub fn copy_text(&mut self, times: usize, span: Span) -> Res<()> {
        let times = u32::try_from(times.max(1)).unwrap_or(u32::MAX);
        self.copies = self.copies.saturating_mul(times);
        if self.copies <= MAX_COPIES {
            return Ok(());
        }
        let message = "nested too deeply: this text would be copied too often";
        let help = "give the inner part a name of its own, as a `def`";
        self.fail(Diagnostic::error("J003", span, message).help(help))
    }

    pub fn arms(
        &mut self,
        scrutinee: Atom,
        specs: Vec<ArmSpec<'a, 's>>,
        stated: Option<&Annotation>,
        span: Span,
    ) -> Res<Made> {
        if self.nesting >= MAX_DEPTH as usize {
            let message = format!("nested too deeply: more than {MAX_DEPTH} blocks");
            let help = "give the inner part a name of its own, as a `def`";
            return self.fail(Diagnostic::error("J003", span, message).help(help));
        }
        let variables = self.assigned_by_arms(&specs);
        let before = self.present(&variables);
        let made = self.arms_here(scrutinee, specs, stated, (&variables, &before), span);
        self.set_all(&variables, &before);
        let out = made?;
        let explicit = out.nl.len().saturating_sub(variables.len());
        self.assign_results(out, explicit, &variables)
    }

    /// The `case`; what its arms assign are its last results.
    fn arms_here(
        &mut self,
        scrutinee: Atom,
        specs: Vec<ArmSpec<'a, 's>>,
        stated: Option<&Annotation>,
        (variables, before): (&[VarId], &[Atom]),
        span: Span,
    ) -> Res<Out> {
        let mut arms = Vec::new();
        let mut types: Vec<(Annotation, Span)> = Vec::new();
        let mut ok = true;
        for spec in specs {
            self.set_all(variables, before);
            match self.arm(spec, stated, variables) {
                Err(Stop) => ok = false,
                Ok((arm, found, at)) => {
                    arms.push(arm);
                    types.extend(found.map(|found| (found, at)));
                }
            }
        }
        self.fit_arms(&mut arms, &mut types);
        self.same_results(&types)?;
        if !ok {
            return Err(Stop);
        }
        let annotated = stated.is_some();
        let found = match stated {
            Some(stated) => stated.clone(),
            None => types.into_iter().next().map(|(types, _)| types).unwrap_or_default(),
        };
        let rhs = Rhs::Case(Box::new(Case { scrutinee, arms }));
        let mut out = Out { nl: found.nl, lin: found.lin, annotated, ..Out::none(rhs, span) };
        out.nl.extend(variables.iter().map(|v| self.scope.place(*v).ty.clone()));
        Ok(out)
    }

    /// J504 unless all arms give the same types.
    fn same_results(&mut self, types: &[(Annotation, Span)]) -> Res<()> {
        let Some(((first, first_at), others)) = types.split_first() else { return Ok(()) };
        let differs =
            |(found, _): &&(Annotation, Span)| (&first.nl, &first.lin) != (&found.nl, &found.lin);
        let Some((found, at)) = others.iter().find(differs) else { return Ok(()) };
        let message = format!(
            "the arms give different results: {} here, {} there",
            self.show_results(found),
            self.show_results(first)
        );
        let sizes_only = found.nl.iter().chain(&found.lin).any(|t| t.size().is_some());
        let help = if sizes_only {
            "where only sizes differ, annotate the pattern: `(m: i64, y: [m]f64) = ..`"
        } else {
            "both ways give the same types: `2` is an i64, `2.0` an f64"
        };
        let error = Diagnostic::error("J504", *at, message).help(help);
        self.fail(error.label(*first_at, "the other arm"))
    }

    fn show_results(&self, types: &Annotation) -> String {
        let list =
            |types: &[Type]| types.iter().map(|t| self.show(t)).collect::<Vec<_>>().join(", ");
        match types.lin.is_empty() {
            true => format!("({})", list(&types.nl)),
            false => format!("({}; {})", list(&types.nl), list(&types.lin)),
        }
    }

    /// One arm, and the types of its results unless they are stated.
    fn arm(
        &mut self,
        spec: ArmSpec<'a, 's>,
        stated: Option<&Annotation>,
        variables: &[VarId],
    ) -> Res<(Arm, Option<Annotation>, Span)> {
        let locals = self.b.func.nvars.len();
        let open = self.enter();
        let result = self.arm_here(&spec, stated);
        let stmts = self.leave(open);
        let (fields, mut values, span) = result?;
        let found = match stated {
            None => Some(self.export(&values, locals, span)?),
            Some(stated) => {
                let counts = (values.nl.len(), values.lin.len());
                if counts != (stated.nl.len(), stated.lin.len()) {
                    let message = "the arm gives another number of values than the pattern has";
                    let help = match (counts.1 + stated.lin.len(), stated.nl.len()) {
                        (0, 1) => format!("end the arm with one value, not {}", counts.0),
                        (0, n) => {
                            format!("end the arm with {n} values, not {}: `(a, b)`", counts.0)
                        }
                        (_, n) => format!(
                            "end the arm with {n} non-linear and {} linear values, not {} and {}",
                            stated.lin.len(),
                            counts.0,
                            counts.1
                        ),
                    };
                    return self.error("J213", span, message, help);
                }
                self.conforms(&mut values, stated, span, "J214", "name")?;
                None
            }
        };
        let mut body = Block { stmts, nl: values.nl, lin: values.lin };
        body.nl.extend(self.present(variables));
        Ok((Arm { pattern: spec.pattern, fields, proved: false, body }, found, span))
    }

    fn arm_here(
        &mut self,
        spec: &ArmSpec<'a, 's>,
        stated: Option<&Annotation>,
    ) -> Res<(Vec<IrField>, Values, Span)> {
        let mut bound = Vec::new();
        if let (ArmPattern::Con(con), [_, ..]) = (spec.pattern, &*spec.parts) {
            self.name_parts(con, &spec.name, spec.fields, &spec.parts)?;
        } else if let ArmPattern::Con(con) = spec.pattern {
            let program = self.program;
            let fields = &program.constructor(con).fields;
            let patterns: Vec<FieldPattern<'s>>;
            let patterns = match spec.fields {
                Some(patterns) => patterns,
                None => {
                    let name = Name { text: "_", span: spec.name.span };
                    patterns = fields.iter().map(|_| FieldPattern::Bind(name)).collect();
                    patterns.as_slice()
                }
            };
            let eqs = self.field_eqs(&spec.name, fields, patterns)?;
            let (types, names) = self.bound_fields(fields, patterns, &eqs, spec.name.span)?;
            let mut vars: Vec<NVar> = Vec::new();
            for (ty, name) in types.iter().zip(names) {
                let ty = ty.subst(&mut |v| {
                    let k = Size::position_of(v)?;
                    vars.get(k).map(|v| Size::var(*v))
                });
                let v = if name.text == "_" && !self.strict {
                    self.dimensions(&ty);
                    self.b.nvar("t", ty, name.span)
                } else {
                    self.nvar(&name, ty)
                };
                vars.push(v);
            }
            for v in &vars {
                self.exact_type(&self.b.func.nvars[*v].ty.clone(), spec.name.span)?;
            }
            let mut vars = vars.into_iter();
            for eq in eqs {
                bound.push(match eq {
                    Some(atom) => IrField::Eq(atom),
                    None => IrField::Bind(vars.next().ok_or(Stop)?),
                });
            }
        } else if spec.fields.is_some_and(|f| !f.is_empty()) {
            let message = format!("`{}` has no fields", spec.name.text);
            return self.error(
                "J208",
                spec.name.span,
                message,
                format!("write `{} -> ..`", spec.name.text),
            );
        }
        let (values, span) = match spec.body {
            ArmBody::Expr(e) => self.body(e, stated)?,
            ArmBody::Chain(chain) => self.chain(chain, stated)?,
        };
        Ok((bound, values, span))
    }

    // ---- nested blocks

    /// Opens a nested block of statements with its own names and facts.
    pub fn enter(&mut self) -> Open {
        self.facts.enter();
        self.nesting += 1;
        self.scope.level = self.nesting;
        Open {
            outer: std::mem::take(&mut self.stmts),
            mark: self.scope.mark(),
            barrier: self.barrier,
            sealed: self.sealed,
            locals: self.b.func.nvars.len(),
            opaque: self.opaque.len(),
        }
    }

    /// Opens the body of a loop: linear names from outside are out of reach, and so are assignments where
    /// iterations know nothing of each other: there it says what they are iterations of.
    pub fn enter_loop(&mut self, parallel: Option<&'static str>, span: Span) -> Open {
        let open = self.enter();
        self.barrier = self.b.func.lvars.len();
        if let Some(what) = parallel {
            self.seal(what, span);
        }
        open
    }

    /// Closes it and gives its statements.
    pub fn leave(&mut self, open: Open) -> Vec<Stmt> {
        self.facts.leave();
        self.nesting = self.nesting.saturating_sub(1);
        self.scope.level = self.nesting;
        self.scope.restore(open.mark);
        self.barrier = open.barrier;
        self.sealed = open.sealed;
        self.opaque.keep(open.opaque);
        std::mem::replace(&mut self.stmts, open.outer)
    }

    // ---- regions

    /// `rd r = x' { .. }`, `lend r = x' { .. }`.
    pub fn read_region(&mut self, read: &'a ast::Read<'s>, span: Span) -> Res<Made> {
        let x = self.linear(read.value, "t")?;
        let ty = self.lin_type(x);
        let assigned = self.assigned(|walk| walk.under([read.name], read.body));
        let open = self.enter();
        let cap = self.cap(&read.name, Mode::Rd, false, ty);
        let head = (Mode::Rd, cap, Some(Operand::L(x)), read.lent);
        self.region_of(head, read.body, assigned, open, span)
    }

    /// The rest of a region: its body, and its results.
    fn region_of(
        &mut self,
        (mode, cap, start, end): (Mode, Cap, Option<Operand>, bool),
        body: ExprId,
        variables: Vec<VarId>,
        open: Open,
        span: Span,
    ) -> Res<Made> {
        let locals = open.locals;
        let before = self.present(&variables);
        let result = self.body(body, None);
        let stmts = self.leave(open);
        let after = self.present(&variables);
        self.set_all(&variables, &before);
        let (values, at) = result?;
        let mut types = self.export(&values, locals, at)?;
        let explicit = types.nl.len();
        let mut body = Block { stmts, nl: values.nl, lin: values.lin };
        body.nl.extend(after);
        types.nl.extend(variables.iter().map(|v| self.scope.place(*v).ty.clone()));
        if end {
            let list = if mode == Mode::Acc { &mut types.nl } else { &mut types.lin };
            list.push(self.b.func.caps[cap].ty.clone());
        }
        let rhs = Rhs::Region(Box::new(Region { mode, cap, start, end, body }));
        let out = Out { nl: types.nl, lin: types.lin, ..Out::none(rhs, span) };
        self.assign_results(out, explicit, &variables)
    }

    /// `wr r: t { .. }`, `acc r: t { .. }`, also with a start: `wr r: t = x' { .. }`.
    pub fn total(&mut self, total: &'a ast::Total<'s>, span: Span) -> Res<Made> {
        let acc = total.mode == Mode::Acc;
        let stated = match &total.ty {
            Some(ty) if acc => Some(self.ty(ty)?),
            Some(ty) => Some(self.linear_type(ty)?),
            None => {
                let help = "write its type: `acc s: f64 = x { .. }`";
                self.surface_only(total.name.span, "an accumulator without a type", help)?;
                None
            }
        };
        if let (true, Some(ty), Some(written)) = (total.lanes, &stated, &total.ty)
            && !matches!(*ty, Type::F64 | Type::I64)
        {
            let message = "`lanes` is for f64s: anything else is summed cell by cell, in order";
            return self.error("J202", written.span, message, "leave `lanes` out");
        }
        let start = total.start.map(|e| self.start(e, total, stated.as_ref())).transpose()?;
        let (start, found) = start.unzip();
        let Some(ty) = stated.or(found) else { return Err(Stop) };
        let assigned = self.assigned(|walk| walk.under([total.name], total.body));
        let open = self.enter();
        let cap = self.cap(&total.name, total.mode, total.lanes, ty);
        self.region_of((total.mode, cap, start, true), total.body, assigned, open, span)
    }

    /// What a sum starts from.
    fn start(
        &mut self,
        e: ExprId,
        total: &'a ast::Total<'s>,
        ty: Option<&Type>,
    ) -> Res<(Operand, Type)> {
        let at = self.span(e);
        if total.lanes {
            let message = "a sum by `lanes` starts from zero";
            return self.error(
                "J202",
                at,
                message,
                "leave `lanes` out, or add to the sum afterwards",
            );
        }
        let (operand, found) = if total.mode == Mode::Acc {
            let atom = self.atom(e, "t")?;
            (Operand::N(atom), self.type_of(atom))
        } else {
            let x = self.linear(e, "t")?;
            (Operand::L(x), self.lin_type(x))
        };
        if let Some(ty) = ty.filter(|ty| **ty != found) {
            let (found, wanted) = (self.show(&found), self.show(ty));
            let message = format!("the start has type {found}, and the sum {wanted}");
            let help = "start from a value of the same type, or `cast` it";
            return self.error("J202", at, message, help);
        }
        if ty.is_none() && !super::fit::is_number(&found) {
            let message = format!("values of type {} cannot be added", self.show(&found));
            let help = "start from a number or an array of numbers";
            return self.error("J202", at, message, help);
        }
        Ok((operand, found))
    }

    // ---- scan

    /// An array that a loop slices: its variable and element type. Its length is `size`.
    pub fn sliced(&mut self, e: ExprId, size: &Size) -> Res<(NVar, Type)> {
        let at = self.span(e);
        let atom = self.atom(e, "t")?;
        let ty = self.type_of(atom);
        let (Atom::Var(v), Type::Array(length, element)) = (atom, &ty) else {
            let message = format!("a value of type {} has no elements", self.show(&ty));
            return self.error("J205", at, message, no_elements(&ty));
        };
        self.same_length(length, element, size, at)?;
        Ok((v, (**element).clone()))
    }

    /// The same for a linear array.
    pub fn lin_sliced(&mut self, e: ExprId, size: &Size) -> Res<(LVar, Type)> {
        let at = self.span(e);
        let x = self.linear(e, "t")?;
        let ty = self.lin_type(x);
        let Type::Array(length, element) = &ty else {
            let message = format!("a value of type {} has no elements", self.show(&ty));
            return self.error("J205", at, message, no_elements(&ty));
        };
        self.same_length(length, element, size, at)?;
        Ok((x, (**element).clone()))
    }

    /// J209 unless an array with these elements is as long as its loop.
    pub fn same_length(
        &mut self,
        length: &Size,
        element: &Type,
        size: &Size,
        span: Span,
    ) -> Res<()> {
        if length == size {
            return Ok(());
        }
        let message = format!(
            "the length is {}, and the loop runs {} times",
            self.show_size(length),
            self.show_size(size)
        );
        let wanted = self.show(&Type::array(size.clone(), element.clone()));
        let help = super::fit::equal_sizes(&wanted);
        self.fail(Diagnostic::error("J209", span, message).help(help))
    }

    /// `scan d (i < n) carry (..) slice (..) { .. }`.
    pub fn scan(&mut self, s: &'a ast::Scan<'s>, span: Span) -> Res<Made> {
        let variables = match s.dir {
            Dir::Par => Vec::new(),
            _ => self.assigned(|walk| walk.scan(s)),
        };
        let (mut scan, open) = self.begin_scan(s, span)?;
        let before = self.present(&variables);
        self.carry_variables(&mut scan, &variables, span);
        let locals = open.locals;
        let result = self.body(s.body, None);
        let stmts = self.leave(open);
        self.looped_with(scan, stmts, result, locals, (&variables, &before), span)
    }

    /// The loop as an operation, given its body, which may have assigned variables.
    pub fn looped_with(
        &mut self,
        scan: Scan,
        stmts: Vec<Stmt>,
        body: Res<(Values, Span)>,
        locals: usize,
        (variables, before): (&[VarId], &[Atom]),
        span: Span,
    ) -> Res<Made> {
        let next = self.present(variables);
        self.set_all(variables, before);
        let (mut values, at) = body?;
        // Their carries stand behind those that are written down.
        let carries = scan.carry.len() - variables.len();
        let explicit = carries.min(values.nl.len());
        values.nl.splice(explicit..explicit, next);
        let out = self.looped(scan, stmts, values, locals, at, span)?;
        self.assign_results(out, carries, variables)
    }

    /// Everything before the body of a `scan`, which is then open.
    fn begin_scan(&mut self, s: &'a ast::Scan<'s>, span: Span) -> Res<(Scan, Open)> {
        let bound = self.integer(s.bound, "a bound")?;
        let size = self.nf(bound);
        let (mut carry, mut lin_carry) = (Vec::new(), Vec::new());
        for (name, e) in &s.carry {
            carry.push((*name, self.atom(*e, "t")?));
        }
        for (name, e) in &s.lin_carry {
            lin_carry.push((*name, self.linear(*e, "t")?));
        }
        let (mut slices, mut lin_slices) = (Vec::new(), Vec::new());
        for (name, e) in &s.slices {
            slices.push((*name, self.sliced(*e, &size)?));
        }
        for (name, e) in &s.lin_slices {
            lin_slices.push((*name, self.lin_sliced(*e, &size)?));
        }
        let mut cap_slices = Vec::new();
        for (name, e) in &s.cap_slices {
            let (place, ty, mode) = self.place(*e)?;
            let Type::Array(length, element) = ty else {
                let message = format!("a capability of type {} has no elements", self.show(&ty));
                let help = "use it in the loop by its own name: only arrays are sliced";
                return self.error("J205", self.span(*e), message, help);
            };
            self.same_length(&length, &element, &size, self.span(*e))?;
            cap_slices.push((*name, place, *element, mode));
        }
        let parallel = (s.dir == Dir::Par).then_some("scan par");
        let open = self.enter_loop(parallel, span);
        let index = self.nvar(&s.index, Type::I64);
        if !self.strict {
            self.facts.add_range(index, size.clone());
        }
        let mut scan = Scan::new(s.dir, index, bound, Block::default());
        self.bind_carries(&mut scan, carry, lin_carry);
        for (name, (array, element)) in slices {
            scan.slices.push((self.nvar(&name, element), array));
        }
        for (name, (array, element)) in lin_slices {
            scan.lin_slices.push((self.lvar(&name, element), array));
        }
        for (name, place, element, mode) in cap_slices {
            scan.cap_slices.push((self.cap(&name, mode, false, element), place));
        }
        Ok((scan, open))
    }

    /// The loop as an operation, given its body: result types are those of the carries, then
    /// arrays of the others.
    pub fn looped(
        &mut self,
        mut scan: Scan,
        mut stmts: Vec<Stmt>,
        values: Values,
        locals: usize,
        at: Span,
        span: Span,
    ) -> Res<Out> {
        if scan.dir == Dir::Par && !(scan.carry.is_empty() && scan.lin_carry.is_empty()) {
            let message = "a `par` loop has no carry: its iterations know nothing of each other";
            let help = "use `scan up`, or add into an `acc`";
            return self.fail(Diagnostic::error("J401", span, message).help(help));
        }
        if values.nl.len() < scan.carry.len() || values.lin.len() < scan.lin_carry.len() {
            let message = format!(
                "the loop carries {} value(s), and its body gives {}",
                scan.carry.len() + scan.lin_carry.len(),
                values.nl.len() + values.lin.len()
            );
            let help = "the body ends in the next value of every carry, in their order";
            return self.fail(Diagnostic::error("J402", at, message).help(help));
        }
        if scan.dir == Dir::While {
            self.may_end_early(&scan, span)?;
        }
        // The sizes of what is stacked are the first result, if the loop may end early.
        let size = if scan.dir == Dir::While { Size::position(0) } else { self.nf(scan.bound) };
        let mut outside = Outside::default();
        if !self.strict {
            let collected = values.nl.iter().skip(scan.carry.len()).map(|a| self.type_of(*a));
            collected.for_each(|ty| outside.take(&mut stmts, &ty, locals));
            self.put_outside(&mut outside);
        }
        let mut out = Annotation::default();
        for (k, value) in values.nl.iter().enumerate() {
            let (ty, init) = (self.type_of(*value), scan.carry.get(k).map(|c| c.1));
            match init {
                Some(init) => {
                    let first = self.type_of(init);
                    self.same_carry(&first, &ty, at, Some(init))?;
                    out.nl.push(first);
                }
                None => {
                    let stacked = self.stacked(&size, ty.clone(), (&outside, locals), at)?;
                    self.not_negative(&ty, at)?;
                    out.nl.push(stacked);
                }
            }
        }
        for (k, value) in values.lin.iter().enumerate() {
            let ty = self.lin_type(*value);
            match scan.lin_carry.get(k).map(|c| c.1) {
                Some(init) => {
                    let first = self.lin_type(init);
                    self.same_carry(&first, &ty, at, None)?;
                    out.lin.push(first);
                }
                None => out.lin.push(self.stacked(&size, ty, (&outside, locals), at)?),
            }
        }
        if let (Dir::While, Some(first)) = (scan.dir, out.nl.first_mut()) {
            *first = Type::I64;
        }
        scan.body = Block { stmts, nl: values.nl, lin: values.lin };
        Ok(Out { nl: out.nl, lin: out.lin, ..Out::none(Rhs::Scan(Box::new(scan)), span) })
    }

    /// What a loop that may end early needs, and may not have.
    fn may_end_early(&mut self, scan: &Scan, span: Span) -> Res<()> {
        let help = "begin with a truth value: `scan while (i < n) carry (go = true, ..)`";
        let first = scan.carry.first().map(|(_, go)| self.type_of(*go));
        if first != Some(Type::Bool) {
            let message = "the first carry of `scan while` says whether it goes on";
            return self.error("J406", span, message, help);
        }
        if scan.slices.len() + scan.lin_slices.len() + scan.cap_slices.len() > 0 {
            let message = "`scan while` slices nothing: it may end before the last element";
            return self.error("J406", span, message, "reach the elements by their index: `x[i]`");
        }
        Ok(())
    }

    /// The sizes in the type of an element are checked where the loop stands: a loop that runs no
    /// time makes an array of such elements, too.
    fn not_negative(&mut self, ty: &Type, span: Span) -> Res<()> {
        if self.strict {
            return Ok(());
        }
        let mut open: Vec<Size> = Vec::new();
        let facts = &self.facts;
        ty.for_each_size(&mut |size| {
            if !facts.is_plainly_non_negative(size) && !open.contains(size) {
                open.push(size.clone());
            }
        });
        for size in open {
            let n = self.materialize(&size, span)?;
            self.emit(Rhs::Check(Check::NonNegative(n)), span)?;
        }
        Ok(())
    }

    fn same_carry(&mut self, first: &Type, next: &Type, at: Span, init: Option<Atom>) -> Res<()> {
        if first == next {
            return Ok(());
        }
        let message =
            format!("the carry starts as {} and goes on as {}", self.show(first), self.show(next));
        let mut error = Diagnostic::error("J403", at, message);
        error = error.help(match (init, next) {
            (Some(Atom::Lit(Literal::I64(k))), Type::Float(_)) => format!("start from `{k}.0`"),
            (Some(Atom::Lit(Literal::F64(x))), &Type::F32) => format!("start from `{x:?}f32`"),
            (Some(Atom::Lit(Literal::I64(k))), Type::I32) => format!("start from `{k}i32`"),
            _ => format!(
                "a carry keeps its type and its size in every iteration: start from a {}, or give a {}",
                self.show(next), self.show(first)
            ),
        });
        self.fail(error)
    }

    /// The type of a stacked result.
    fn stacked(
        &mut self,
        size: &Size,
        ty: Type,
        (outside, locals): (&Outside, usize),
        at: Span,
    ) -> Res<Type> {
        if let Some(v) = outside.missing(&ty, locals) {
            let message = format!(
                "the size of this result, `{}`, is another one in every iteration",
                self.b.func.nvars[v].name
            );
            let help = "put it into a record: `data Row = Row(m: i64, w: [m]f64)`";
            return self.fail(Diagnostic::error("J405", at, message).help(help));
        }
        Ok(Type::array(size.clone(), ty))
    }
}

//! The walk of the planner: what of a body goes to E, and what the residual reads, in the order of its text.
//!
//! It follows the rules that [`crate::unzip::split`] writes by, and writes nothing.

use super::{Carried, How, Joint, LevelKind, Planner, Reader, Record, size_names};
use crate::linearity::{self, BlockInfo, StmtInfo};
use crate::unzip::record::{Opening, value_stmt};
use jut_ir::*;
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

impl<'a> Planner<'a, '_> {
    /// Once E is hoisted out of `rd` and `wr` regions, what such a region returns *is* what its
    /// body returns.
    pub fn regions_are_transparent(&mut self, block: &Block) {
        for stmt in &block.stmts {
            for inner in stmt.rhs.blocks() {
                self.regions_are_transparent(inner);
            }
            if let Rhs::Region(region) = &stmt.rhs
                && region.is_linear()
            {
                for (outside, inside) in stmt.nl.iter().zip(&region.body.nl) {
                    self.plan.same.values[*outside] = Some(self.plan.same.atom(*inside));
                }
            }
        }
    }

    /// A block of the open level.
    pub fn block(&mut self, block: &'a Block, info: &BlockInfo) -> Result<(), Diagnostic> {
        let mut nested = info.nested.iter();
        for stmt in &block.stmts {
            if stmt.rhs.blocks().is_empty() {
                if linearity::is_linear_leaf(&self.derivatives.program, self.func, stmt) {
                    self.leaf(stmt)?;
                } else {
                    self.push(Cow::Borrowed(stmt));
                }
                continue;
            }
            match nested.next() {
                Some(info) if info.linear => self.nested(stmt, info)?,
                _ => self.push(Cow::Borrowed(stmt)),
            }
        }
        Ok(())
    }

    fn leaf(&mut self, stmt: &'a Stmt) -> Result<(), Diagnostic> {
        let position = self.tick();
        self.reads(stmt);
        if let Rhs::Call(call) = &stmt.rhs
            && !self.derivatives.program.funcs[call.func].is_foreign()
        {
            return self.call(stmt, call, position);
        }
        self.need_operands(&stmt.rhs, position);
        self.emitted(&stmt.lin);
        Ok(())
    }

    /// What is recorded from now on is read by a statement.
    fn reads(&mut self, stmt: &Stmt) {
        let tangent = stmt.lin.first().copied();
        self.reader = Some(Reader { tangent, span: stmt.loc.span });
    }

    /// A statement of the residual. Its operands have been recorded; the sizes in the types of
    /// what it binds are uses too.
    fn emitted(&mut self, lin: &[LVar]) {
        let position = self.tick();
        for x in lin {
            let ty = self.func.lvars[*x].ty.clone();
            self.need_sizes(&ty, position);
        }
    }

    /// The k-th linear result of a block is cast to a type if it has another one.
    pub fn cast_result(&mut self, block: &Block, k: usize, ty: &Type) {
        let Some(value) = block.lin.get(k) else { return };
        let data = &self.func.lvars[*value];
        if self.plan.same.ty(self.func, &data.ty) != *ty {
            self.reader = Some(Reader { tangent: Some(*value), span: data.span });
            let position = self.tick();
            self.need_sizes(ty, position);
        }
    }

    fn nested(&mut self, stmt: &'a Stmt, info: &StmtInfo) -> Result<(), Diagnostic> {
        match &stmt.rhs {
            Rhs::Region(region) if region.is_linear() => {
                if region.mode == Mode::Wr {
                    self.reads(stmt);
                    let position = self.tick();
                    let ty = self.func.caps[region.cap].ty.clone();
                    self.need_sizes(&ty, position);
                }
                self.block(&region.body, info.only(stmt.loc.span)?)?;
                self.reads(stmt);
                self.emitted(&stmt.lin);
                Ok(())
            }
            Rhs::Region(region) => self.accumulator(stmt, region, info),
            Rhs::Scan(scan) => self.scan(stmt, scan, info),
            Rhs::Case(case) => self.case(stmt, case, info),
            _ => {
                self.push(Cow::Borrowed(stmt));
                Ok(())
            }
        }
    }

    /// Room for what a statement adds to E, in the order of the text.
    fn joint(&mut self) -> usize {
        self.plan.joints.push(Joint::default());
        self.plan.joints.len() - 1
    }

    /// `(y.., w.., total) = acc r: t { E; (y.., w..) }`, and the residual of the body in place.
    fn accumulator(
        &mut self,
        stmt: &'a Stmt,
        region: &'a Region,
        info: &StmtInfo,
    ) -> Result<(), Diagnostic> {
        let joint = self.joint();
        let head = self.tick();
        self.enter(LevelKind::Accumulator);
        let given = region.body.nl.iter().filter_map(|a| self.plan.same.atom(*a).var());
        let (gives, depth) = (given.collect(), self.depth());
        self.open[depth].gives = gives;
        self.block(&region.body, info.only(stmt.loc.span)?)?;
        let level = self.decide_all(head);
        self.leave();

        let mut returned = HashMap::new();
        for (value, outside) in region.body.nl.iter().zip(&stmt.nl) {
            if let Atom::Var(v) = self.plan.same.atom(*value) {
                returned.entry(v).or_insert(*outside);
            }
        }
        let mut escaping = Vec::new();
        for w in self.plan.levels[level].stored.clone() {
            // Sizes that are local to the body come out before the values that have them.
            let ty = self.plan.outside_ty(&self.type_of(w));
            // What is returned has sizes that are returned too by other names; the residual knows one of each.
            let same = |outside: &&NVar| self.plan.outside_ty(&self.type_of(**outside)) == ty;
            let outside = match returned.get(&w).filter(same) {
                Some(outside) => *outside,
                None => {
                    let data = self.func.nvars[w].clone();
                    let outside = self.func.nvars.push(VarData { ty, ..data });
                    self.plan.joints[joint].results.push((w, outside));
                    outside
                }
            };
            self.plan.escaped[w] = Some(Atom::Var(outside));
            self.plan.carried.insert(outside, Carried::Value(w));
            escaping.push((w, outside));
        }
        self.push(Cow::Borrowed(stmt));
        escaping.iter().for_each(|(_, outside)| self.push_result(*outside));
        for (inside, outside) in escaping {
            // What the residual computes again reads at its head.
            let position = self.needs[inside].map_or(head, |need| need.position());
            self.reader = self.plan.readers[inside];
            self.need(outside, position);
        }
        for (inside, outside) in region.body.lin.iter().zip(&stmt.lin) {
            let ty = self.plan.same.ty(self.func, &self.func.lvars[*outside].ty);
            let own = self.plan.same.ty(self.func, &self.func.lvars[*inside].ty);
            if self.plan.outside_ty(&own) != self.plan.outside_ty(&ty) {
                let span = self.func.lvars[*inside].span;
                self.reader = Some(Reader { tangent: Some(*inside), span });
                let position = self.tick();
                self.need_sizes(&ty, position);
            }
        }
        Ok(())
    }

    /// `(a.., y.., w_s..) = scan .. { E; (a1.., y.., w..) }` and `scan .. slice (w <- w_s) { residual }`.
    fn scan(&mut self, stmt: &'a Stmt, scan: &'a Scan, info: &StmtInfo) -> Result<(), Diagnostic> {
        let joint = self.joint();
        let (own, head) = (self.tick(), self.tick());
        // What is settled inside is read from what the loop ends with.
        let outside = self.depth();
        for v in &stmt.nl {
            if self.settled.ends.contains(v) {
                self.bind(*v, outside, How::Given);
            }
        }
        self.enter(LevelKind::Loop);
        let depth = self.depth();
        self.bind(scan.index, depth, How::Index);
        // Not the bound: a stack that this loop makes inside another one is made even if that one
        // runs zero times.
        self.facts.add_non_negative(Size::var(scan.index));
        for (v, _) in &scan.carry {
            self.bind(*v, depth, How::Given);
            self.learn_dimensions(*v);
        }
        for (v, array) in &scan.slices {
            self.bind(*v, depth, How::Slice { array: *array });
        }
        self.block(&scan.body, info.only(stmt.loc.span)?)?;
        let level = self.decide_all(head);

        // Values whose size depends on the iteration share a record per iteration.
        self.forget();
        let stored = self.plan.levels[level].stored.clone();
        let (mut ragged, mut in_record) = (Vec::new(), HashSet::new());
        for w in &stored {
            let sizes = size_names(&self.type_of(*w));
            if sizes.iter().any(|n| self.plan.sites[*n].level == depth) {
                ragged.push(*w);
                in_record.insert(*w);
                in_record.extend(sizes);
            }
        }
        let mut widths = Vec::new();
        let stacked = stored.into_iter().filter(|w| !in_record.contains(w));
        let mut stacked: Vec<NVar> = stacked.collect();
        for w in &mut stacked {
            *w = self.widened(level, *w, &mut widths, head, stmt.loc);
        }
        if !ragged.is_empty() {
            self.tapes += 1;
            let name = names::inner_tape(&self.plan.base, self.tapes);
            let record = self.record(level, &ragged, head, Opening::AfterHead);
            let data = self.declare(name.clone(), vec![record.constructor(name)]);
            let var = self.fresh("k", Type::Data(data), stmt.loc.span);
            self.bind(var, depth, How::Given);
            let held = Some((ConRef { data, index: 0 }, var));
            self.plan.levels[level].record = Some(Record { held, ..record });
            self.plan.carried.insert(var, Carried::Record { level });
            self.is_read_like(var, ragged[0]);
            stacked.push(var);
        }
        self.leave();

        let mut prelude = Vec::new();
        for (size, width) in widths {
            self.define_width(width, &size, stmt.loc, &mut prelude);
        }
        let has_stacks = scan.body.nl.len() > scan.carry.len();
        let bound = match stmt.rhs.trips(&stmt.nl) {
            Some(trips) => Atom::Var(trips),
            None if stacked.is_empty() || has_stacks => scan.bound,
            None => self.counted(scan, stmt.loc, &mut prelude),
        };
        let count = self.size_of(bound);
        self.push(Cow::Borrowed(stmt));
        let mut results = Vec::new();
        for element in stacked {
            let name = stacked_name(&self.func.nvars[element].name);
            let ty = Type::array(count.clone(), self.type_of(element));
            let array = self.fresh(&name, ty, stmt.loc.span);
            self.push_result(array);
            self.plan.carried.insert(array, Carried::Stack { level, element });
            results.push((element, array));
        }
        self.reads(stmt);
        self.need_atom(bound, own);
        let slices = std::mem::take(&mut self.plan.levels[level].slices);
        // In the order of the loop.
        let mut sliced = scan.slices.clone();
        sliced.retain(|slice| slices.contains(slice));
        for (element, array) in &sliced {
            // An array is read in slices for what the slices are for.
            self.reader = self.plan.readers[*element];
            self.need(*array, own);
        }
        for (element, array) in &results {
            self.reader = self.plan.readers[*element];
            self.need(*array, own);
        }
        self.reads(stmt);
        for (_, place) in &scan.cap_slices {
            if self.func.caps[place.root].mode != Mode::Acc {
                self.need_operands(&Rhs::Rd(place.clone()), own);
            }
        }
        self.plan.levels[level].slices = sliced;
        self.plan.levels[level].times = Some((scan.index, count));
        let (bound, tape) = (Some(bound), None);
        self.plan.joints[joint] = Joint { prelude, bound, results, tape };
        self.emitted(&stmt.lin);
        Ok(())
    }

    fn case(&mut self, stmt: &'a Stmt, case: &'a Case, info: &StmtInfo) -> Result<(), Diagnostic> {
        let joint = self.joint();
        let position = self.tick();
        self.tapes += 1;
        let number = self.tapes;
        let depth = self.depth();
        // Arms may cast to sizes that the pattern binds.
        stmt.nl.iter().for_each(|v| self.bind(*v, depth, How::Given));
        let mut arms = Vec::with_capacity(case.arms.len());
        for (arm, info) in case.arms.iter().zip(&info.blocks) {
            arms.push(self.arm(arm, info, &stmt.lin)?);
        }

        self.reads(stmt);
        if arms.iter().any(|(_, record)| !record.values.is_empty()) {
            let name = names::inner_tape(&self.plan.base, number);
            let arm_name = |pattern: ArmPattern| match pattern {
                ArmPattern::Bool(true) => "true",
                ArmPattern::Bool(false) => "false",
                ArmPattern::Con(con) => &self.derivatives.program.constructor(con).name,
            };
            let constructors = case.arms.iter().zip(&arms).map(|(arm, (_, record))| {
                record.constructor(format!("{name}.{}", arm_name(arm.pattern)))
            });
            let constructors = constructors.collect();
            let data = self.declare(name, constructors);
            let tape = self.fresh("k", Type::Data(data), stmt.loc.span);
            let levels = arms.iter().map(|(level, _)| *level).collect();
            for (index, (level, record)) in arms.into_iter().enumerate() {
                let var = self.fresh("k", Type::Data(data), stmt.loc.span);
                let held = Some((ConRef { data, index: index as u32 }, var));
                self.plan.levels[level].record = Some(Record { held, ..record });
            }
            self.push(Cow::Borrowed(stmt));
            self.push_result(tape);
            self.plan.carried.insert(tape, Carried::Arms { levels });
            self.plan.joints[joint].tape = Some(tape);
            // Fields that are stated to be equal have been recorded with the record.
            self.need(tape, position);
        } else {
            self.push(Cow::Borrowed(stmt));
            self.need_operands(&stmt.rhs, position);
        }
        self.emitted(&stmt.lin);
        Ok(())
    }

    /// An arm; its linear results get the types that the pattern of the `case` says.
    fn arm(
        &mut self,
        arm: &'a Arm,
        info: &BlockInfo,
        pattern: &[LVar],
    ) -> Result<(usize, Record), Diagnostic> {
        self.enter(LevelKind::Arm);
        let depth = self.depth();
        for field in &arm.fields {
            if let FieldPattern::Bind(v) = field {
                self.bind(*v, depth, How::Given);
                self.learn_dimensions(*v);
            }
        }
        let head = self.tick();
        self.block(&arm.body, info)?;
        for (k, x) in pattern.iter().enumerate() {
            let ty = self.plan.same.ty(self.func, &self.func.lvars[*x].ty);
            self.cast_result(&arm.body, k, &ty);
        }
        let level = self.decide_all(head);
        let stored = self.plan.levels[level].stored.clone();
        let record = self.record(level, &stored, head, Opening::InPattern);
        self.leave();
        Ok((level, record))
    }

    /// `(y.., tp) = g.nonlin(a..)`, and `g.lin(forwarded.., sizes.., tp; x'..; places)`.
    fn call(&mut self, stmt: &'a Stmt, call: &'a Call, position: u32) -> Result<(), Diagnostic> {
        let joint = self.joint();
        let Some(halves) = self.derivatives.unzipped.get(&(call.func, self.plan.policy)) else {
            let name = &self.derivatives.program.funcs[call.func].name;
            let what = format!("`{name}` is used before it is unzipped");
            return Err(crate::internal(stmt.loc.span, &what));
        };
        self.push(Cow::Borrowed(stmt));
        halves.forwarded.iter().filter_map(|k| call.args.get(*k)).for_each(|a| {
            self.need_atom(*a, position);
        });
        for v in halves.result_sizes.iter().filter_map(|k| stmt.nl.get(*k)) {
            self.need(*v, position);
        }
        if let Some(tape) = halves.tape {
            let var = self.fresh("tp", Type::Data(tape), stmt.loc.span);
            self.push_result(var);
            let tape = Carried::Tape { callee: call.func, args: call.args.clone() };
            self.plan.carried.insert(var, tape);
            self.plan.joints[joint].tape = Some(var);
            self.need(var, position);
        }
        for place in call.places.iter().flatten() {
            if self.func.caps[place.root].mode != Mode::Acc {
                self.need_operands(&Rhs::Rd(place.clone()), position);
            }
        }
        self.emitted(&stmt.lin);
        Ok(())
    }

    /// The bound of a loop that had no stacks and gets some: not negative.
    fn counted(&mut self, scan: &Scan, loc: Loc, prelude: &mut Vec<Stmt>) -> Atom {
        let count = self.size_of(scan.bound);
        if self.facts.is_plainly_non_negative(&count) {
            return scan.bound;
        }
        let slices = scan.slices.is_empty() && scan.lin_slices.is_empty();
        if slices && scan.cap_slices.is_empty() {
            let hint = match scan.bound {
                Atom::Var(v) => self.func.nvars[v].name.clone(),
                Atom::Lit(_) => "n".into(),
            };
            let var = self.fresh(&hint, Type::I64, loc.span);
            let max = vec![scan.bound, Atom::Lit(Literal::I64(0))];
            self.first(value_stmt(var, Rhs::Prim(prim::IMAX, max), loc), prelude);
            Atom::Var(var)
        } else {
            // What is sliced has that many elements: the check holds, and says so.
            let rhs = Rhs::Check(Check::NonNegative(scan.bound));
            let (nl, lin) = (Vec::new(), Vec::new());
            self.first(Stmt { nl, lin, rhs, annotated: false, loc }, prelude);
            scan.bound
        }
    }

    /// A statement that stands before the one at work.
    pub fn first(&mut self, stmt: Stmt, prelude: &mut Vec<Stmt>) {
        prelude.push(stmt.clone());
        self.push(Cow::Owned(stmt));
    }
}

/// The name of the stack of `w`: `w_s`, but in deep nests names do not grow for ever.
fn stacked_name(name: &str) -> String {
    if name.ends_with("_s_s_s_s") { name.to_string() } else { format!("{name}_s") }
}

//! The walk of U over a body: one statement of the mixed function becomes statements of E and of
//! the residual (the rules ULet .. of Fig. 8, and those for loops, arms, regions).

use super::plan::{How, LevelKind};
use super::record::{Opening, Record, merge};
use super::{Unzipper, value_stmt};
use crate::linearity::{self, BlockInfo, StmtInfo};
use jut_ir::*;
use std::collections::HashMap;

/// What a block becomes: E goes to the open level.
pub(super) struct Halves {
    /// The non-linear results.
    pub values: Vec<Atom>,
    /// The linear statements and results.
    pub residual: Block,
}

/// An arm, unzipped: the arm of E, still without its tape, and that of the residual.
struct ArmHalves {
    pattern: ArmPattern,
    fields: Vec<FieldPattern>,
    proved: bool,
    values: Block,
    record: Record,
    residual: Block,
}

/// A statement without its operation.
pub(super) struct Shell {
    pub nl: Vec<NVar>,
    pub lin: Vec<LVar>,
    pub annotated: bool,
    pub loc: Loc,
}

impl Unzipper<'_> {
    /// Once E is hoisted out of `rd` and `wr` regions, what such a region returns *is* what its
    /// body returns.
    pub(super) fn regions_are_transparent(&mut self, block: &Block) {
        for stmt in &block.stmts {
            for inner in stmt.rhs.blocks() {
                self.regions_are_transparent(inner);
            }
            if let Rhs::Region(region) = &stmt.rhs
                && region.is_linear()
            {
                for (outside, inside) in stmt.nl.iter().zip(&region.body.nl) {
                    self.same.values[*outside] = Some(self.same.atom(*inside));
                }
            }
        }
    }

    /// A block of the open level.
    pub(super) fn block(&mut self, block: Block, info: BlockInfo) -> Result<Halves, Diagnostic> {
        let mut nested = info.nested.into_iter();
        let mut out = Vec::new();
        for stmt in block.stmts {
            if stmt.rhs.blocks().is_empty() {
                self.leaf(stmt, &mut out)?;
                continue;
            }
            match nested.next() {
                Some(info) if info.linear => self.nested(stmt, info, &mut out)?,
                _ => self.push(stmt),
            }
        }
        Ok(Halves {
            values: block.nl,
            residual: Block { stmts: out, nl: Vec::new(), lin: block.lin },
        })
    }

    fn leaf(&mut self, stmt: Stmt, out: &mut Vec<Stmt>) -> Result<(), Diagnostic> {
        if !linearity::is_linear_leaf(&self.derivatives.program, &self.func, &stmt) {
            self.push(stmt);
            return Ok(());
        }
        let position = self.tick();
        if let Rhs::Call(call) = stmt.rhs {
            let Stmt { nl, lin, annotated, loc, .. } = stmt;
            return self.call(Shell { nl, lin, annotated, loc }, *call, position, out);
        }
        self.need_operands(&stmt.rhs, position);
        self.emit(stmt.lin, stmt.rhs, stmt.loc, out);
        Ok(())
    }

    /// A statement of the residual. Its operands have been recorded; the sizes in the types of
    /// what it binds are uses too.
    pub(super) fn emit(&mut self, lin: Vec<LVar>, rhs: Rhs, loc: Loc, out: &mut Vec<Stmt>) {
        let position = self.tick();
        for x in &lin {
            let ty = self.func.lvars[*x].ty.clone();
            self.need_sizes(&ty, position);
        }
        let loc = loc.by(Origin::Unzip);
        out.push(Stmt { nl: Vec::new(), lin, rhs, annotated: false, loc });
    }

    /// The k-th linear result of a block gets the given type, by a cast if it has another one.
    pub(super) fn cast_result(&mut self, block: &mut Block, k: usize, ty: &Type, loc: Loc) {
        let Some(value) = block.lin.get(k).copied() else { return };
        let data = self.func.lvars[value].clone();
        if self.same.ty(&self.func, &data.ty) == *ty {
            return;
        }
        let name = self.namer.fresh(&data.name);
        let cast = LinVarData { name, ty: ty.clone(), span: data.span };
        let cast = self.func.lvars.push(cast);
        block.lin[k] = cast;
        let rhs = Rhs::LCast { value, ty: ty.clone(), proved: true };
        self.emit(vec![cast], rhs, loc, &mut block.stmts);
    }

    fn nested(
        &mut self,
        stmt: Stmt,
        info: StmtInfo,
        out: &mut Vec<Stmt>,
    ) -> Result<(), Diagnostic> {
        let Stmt { nl, lin, rhs, annotated, loc } = stmt;
        let shell = Shell { nl, lin, annotated, loc };
        match rhs {
            Rhs::Region(mut region) if region.is_linear() => {
                if region.mode == Mode::Wr {
                    let position = self.tick();
                    let ty = self.func.caps[region.cap].ty.clone();
                    self.need_sizes(&ty, position);
                }
                region.body = self.block(region.body, first(info))?.residual;
                self.emit(shell.lin, Rhs::Region(region), loc, out);
            }
            Rhs::Region(region) => self.accumulator(shell, *region, info, out)?,
            Rhs::Scan(scan) => self.scan(shell, *scan, info, out)?,
            Rhs::Case(case) => self.case(shell, *case, info, out)?,
            // Nothing else has nested blocks.
            rhs => {
                let Shell { nl, lin, annotated, loc } = shell;
                self.push(Stmt { nl, lin, rhs, annotated, loc });
            }
        }
        Ok(())
    }

    /// `(y.., w.., total) = acc r: t { E; (y.., w..) }`, and the residual of the body in place.
    fn accumulator(
        &mut self,
        shell: Shell,
        mut region: Region,
        info: StmtInfo,
        out: &mut Vec<Stmt>,
    ) -> Result<(), Diagnostic> {
        let Shell { mut nl, lin, annotated, loc } = shell;
        let head = self.tick();
        self.enter(LevelKind::Accumulator);
        let halves = self.block(region.body, first(info))?;
        let plan = self.plan(head);
        let stmts = self.leave().stmts;

        let mut values = halves.values;
        let total = nl.pop();
        let mut returned = HashMap::new();
        for (value, outside) in values.iter().zip(&nl) {
            if let Atom::Var(v) = self.same.atom(*value) {
                returned.entry(v).or_insert(*outside);
            }
        }
        let mut escaping = Vec::new();
        for w in &plan.stored {
            let outside = match returned.get(w) {
                Some(outside) => *outside,
                None => {
                    let data = self.func.nvars[*w].clone();
                    // Sizes that are local to the body come out before the values that have them.
                    let escaped = &self.escaped.values;
                    let ty = self.type_of(*w);
                    let ty = ty.subst(&mut |n| escaped[n].and_then(Atom::var).map(Size::var));
                    let outside = self.func.nvars.push(VarData { ty, ..data });
                    values.push(Atom::Var(*w));
                    nl.push(outside);
                    outside
                }
            };
            self.escaped.values[*w] = Some(Atom::Var(outside));
            escaping.push((*w, outside));
        }
        nl.extend(total);
        region.body = Block { stmts, nl: values, lin: Vec::new() };
        let rhs = Rhs::Region(Box::new(region));
        self.push(Stmt { nl, lin: Vec::new(), rhs, annotated, loc });
        for (inside, outside) in escaping {
            // What the residual computes again reads at its head.
            let position = self.needs[inside].map_or(head, |need| need.position());
            self.need(outside, position);
        }
        out.extend(plan.before);
        out.extend(plan.after);
        out.extend(halves.residual.stmts);
        for (outside, inside) in lin.iter().zip(halves.residual.lin) {
            self.escaped.tangents[*outside] = Some(inside);
        }
        Ok(())
    }

    fn case(
        &mut self,
        shell: Shell,
        case: Case,
        info: StmtInfo,
        out: &mut Vec<Stmt>,
    ) -> Result<(), Diagnostic> {
        let Shell { mut nl, lin, annotated, loc } = shell;
        let position = self.tick();
        self.tapes += 1;
        let number = self.tapes;
        let level = self.depth();
        // Arms may cast to sizes that the pattern binds.
        nl.iter().for_each(|v| self.bind(*v, level, How::Given));
        let mut arms = Vec::with_capacity(case.arms.len());
        for (arm, info) in case.arms.into_iter().zip(info.blocks) {
            arms.push(self.arm(arm, info, &lin, loc)?);
        }

        let scrutinee = case.scrutinee;
        let mut again = scrutinee;
        let mut stored = None;
        if arms.iter().any(|arm| !arm.record.fields.is_empty()) {
            let name = names::inner_tape(&self.base, number);
            let constructors = arms
                .iter_mut()
                .map(|arm| Constructor {
                    name: format!("{name}.{}", self.arm_name(arm.pattern)),
                    fields: std::mem::take(&mut arm.record.fields),
                })
                .collect();
            let data = self.declare(name, constructors);
            let var = self.fresh("k", Type::Data(data), loc.span);
            nl.push(var);
            stored = Some(data);
            again = Atom::Var(var);
        }

        let mut values = Vec::with_capacity(arms.len());
        let mut residuals = Vec::with_capacity(arms.len());
        for (index, mut arm) in arms.into_iter().enumerate() {
            let mut pattern = arm.pattern;
            let mut fields = arm.fields.clone();
            if let Some(data) = stored {
                let con = ConRef { data, index: index as u32 };
                let var = self.fresh("k", Type::Data(data), loc.span);
                let make = Rhs::Con(con, std::mem::take(&mut arm.record.values));
                arm.values.stmts.push(value_stmt(var, make, loc));
                arm.values.nl.push(Atom::Var(var));
                pattern = ArmPattern::Con(con);
                fields = std::mem::take(&mut arm.record.pattern);
            }
            let ArmHalves { proved, values: body, .. } = arm;
            values.push(Arm { pattern: arm.pattern, fields: arm.fields, proved, body });
            residuals.push(Arm { pattern, fields, proved: true, body: arm.residual });
        }
        let has_effect = |arm: &Arm| arm.is_tested() || !arm.body.stmts.is_empty();
        if !nl.is_empty() || values.iter().any(has_effect) {
            let rhs = Rhs::Case(Box::new(Case { scrutinee, arms: values }));
            self.push(Stmt { nl, lin: Vec::new(), rhs, annotated, loc });
        }
        if lin.is_empty() && residuals.iter().all(|arm| arm.body.stmts.is_empty()) {
            return Ok(());
        }
        let rhs = Rhs::Case(Box::new(Case { scrutinee: again, arms: residuals }));
        // Fields that are stated to be equal have been recorded with the record.
        self.need_atom(again, position);
        if stored.is_none() {
            self.need_operands(&rhs, position);
        }
        self.emit(lin, rhs, loc, out);
        Ok(())
    }

    /// An arm; its linear results get the types that the pattern of the `case` says.
    fn arm(
        &mut self,
        arm: Arm,
        info: BlockInfo,
        pattern: &[LVar],
        loc: Loc,
    ) -> Result<ArmHalves, Diagnostic> {
        self.enter(LevelKind::Arm);
        let level = self.depth();
        for field in &arm.fields {
            if let FieldPattern::Bind(v) = field {
                self.bind(*v, level, How::Given);
                self.learn_dimensions(*v);
            }
        }
        let head = self.tick();
        let halves = self.block(arm.body, info)?;
        let mut residual = halves.residual;
        for (k, x) in pattern.iter().enumerate() {
            let ty = self.same.ty(&self.func, &self.func.lvars[*x].ty);
            self.cast_result(&mut residual, k, &ty, loc);
        }
        let mut plan = self.plan(head);
        let mut record = self.record(&plan, &plan.stored, head, Opening::InPattern);
        let mut stmts = std::mem::take(&mut plan.before);
        stmts.extend(merge(plan.after, std::mem::take(&mut record.casts)));
        stmts.append(&mut residual.stmts);
        residual.stmts = stmts;
        let values = Block { stmts: self.leave().stmts, nl: halves.values, lin: Vec::new() };
        let Arm { pattern, fields, proved, .. } = arm;
        Ok(ArmHalves { pattern, fields, proved, values, record, residual })
    }

    fn arm_name(&self, pattern: ArmPattern) -> &str {
        match pattern {
            ArmPattern::Bool(true) => "true",
            ArmPattern::Bool(false) => "false",
            ArmPattern::Con(con) => &self.derivatives.program.constructor(con).name,
        }
    }

    /// `(y.., tp) = g.nonlin(a..)`, and `g.lin(forwarded.., sizes.., tp; x'..; places)`.
    fn call(
        &mut self,
        shell: Shell,
        call: Call,
        position: u32,
        out: &mut Vec<Stmt>,
    ) -> Result<(), Diagnostic> {
        let Shell { mut nl, lin, annotated, loc } = shell;
        let callee = &self.derivatives.program.funcs[call.func];
        let Some(halves) = self.derivatives.unzipped.get(&(call.func, self.policy)).cloned() else {
            let message = format!("`{}` is used before it is unzipped", callee.name);
            return Err(Diagnostic::error("J999", loc.span, message));
        };
        let modes: Vec<Mode> = callee.cap_params.iter().map(|c| callee.caps[*c].mode).collect();
        let mut args: Vec<Atom> =
            halves.forwarded.iter().filter_map(|k| call.args.get(*k).copied()).collect();
        args.extend(halves.result_sizes.iter().filter_map(|k| nl.get(*k).copied().map(Atom::Var)));
        if let Some(tape) = halves.tape {
            let var = self.fresh("tp", Type::Data(tape), loc.span);
            nl.push(var);
            args.push(Atom::Var(var));
        }
        let (mut acc, mut linear) = (Vec::new(), Vec::new());
        for (place, mode) in call.places.into_iter().zip(modes) {
            if mode == Mode::Acc { acc.push(place) } else { linear.push(place) }
        }
        let values =
            Call { func: halves.nonlin, args: call.args, lin_args: Vec::new(), places: acc };
        self.push(Stmt { nl, lin: Vec::new(), rhs: Rhs::Call(Box::new(values)), annotated, loc });
        let residual = Call { func: halves.lin, args, lin_args: call.lin_args, places: linear };
        let rhs = Rhs::Call(Box::new(residual));
        self.need_operands(&rhs, position);
        self.emit(lin, rhs, loc, out);
        Ok(())
    }
}

/// The only nested block.
pub(super) fn first(info: StmtInfo) -> BlockInfo {
    info.blocks.into_iter().next().unwrap_or_default()
}

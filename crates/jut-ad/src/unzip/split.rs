//! The split (Fig. 8 of the paper): one statement of the mixed function becomes statements of E and of
//! the residual. `U(e) = E; e_n; e_l`, where E is a list of non-linear statements, e_n are the
//! non-linear results, and e_l is the residual: the linear statements in their old order.
//!
//! | rule | E | residual |
//! |---|---|---|
//! | a non-linear statement | itself | |
//! | a linear statement | | itself |
//! | `rd`, `wr` region | that of its body: what the body returns *is* what the region returns | the region round that of its body |
//! | `acc` region | the region round that of its body | that of its body, in place |
//! | loop, branch | the same round that of its body | the same round that of its body |
//! | call | `g.nonlin` | `g.lin` |
//!
//! What goes between the halves, and where the statements of E stand, is read off the plan
//! ([`super::plan`]): the statements of the residual that compute values again or take them off the tape
//! stand at the head of the level whose values they are.
//!
//! *Requires*: a plan of the function. *Ensures*: E is non-linear, the residual has linear results only.
//! *Cost*: linear in the text.

use super::plan::{Home, Joint, Level, Plan};
use super::record::merge;
use crate::linearity::{self, BlockInfo, StmtInfo};
use crate::relocate::Relocator;
use crate::{Derivatives, Unzipped};
use jut_ir::cover::shown::show_sizes;
use jut_ir::*;
use std::vec::IntoIter;

/// Writes the halves of a function.
///
/// # Errors
/// `J999` if the plan is not one of the function.
pub(super) fn split(
    derivatives: &mut Derivatives,
    mut func: Function,
    mut plan: Plan,
) -> Result<Unzipped, Diagnostic> {
    let body = std::mem::take(&mut func.body);
    let linear = std::mem::take(&mut plan.linear);
    // The level of the parameters has no text.
    let mut levels = std::mem::take(&mut plan.levels).into_iter();
    levels.next();
    let joints = std::mem::take(&mut plan.joints).into_iter();
    let values = vec![Vec::new()];
    let mut split = Splitter { derivatives, func, plan, levels, joints, values };

    let loc = Loc::made(split.func.span, Origin::Unzip);
    let level = split.enter()?;
    let mut halves = split.block(body, &linear)?;
    for k in 0..split.func.lin_results.len() {
        let ty = split.func.lin_results[k].ty.clone();
        split.cast_result(&mut halves.residual, k, &ty, loc);
    }
    let tape = level.record.as_ref().and_then(|record| record.held);
    split.head(level, true, &mut halves.residual, loc);
    let mut values = Block { stmts: split.leave(), nl: halves.values, lin: Vec::new() };
    values.nl.extend(tape.map(|(_, var)| Atom::Var(var)));
    Ok(split.finish(values, halves.residual, tape.map(|(con, var)| (var, con.data))))
}

/// U at work on one function. Both halves are built over the variables of the function itself, and get
/// their own when they are finished.
struct Splitter<'a> {
    derivatives: &'a mut Derivatives,
    func: Function,
    plan: Plan,
    /// What the plan says of levels and statements that are not reached yet.
    levels: IntoIter<Level>,
    joints: IntoIter<Joint>,
    /// E, by open level, outermost first.
    values: Vec<Vec<Stmt>>,
}

/// What a block becomes: E goes to the open level.
struct Halves {
    /// The non-linear results.
    values: Vec<Atom>,
    /// The linear statements and results.
    residual: Block,
}

/// A statement without its operation.
struct Shell {
    nl: Vec<NVar>,
    lin: Vec<LVar>,
    annotated: bool,
    loc: Loc,
}

impl Shell {
    /// The statement of E.
    fn values(&self, rhs: Rhs) -> Stmt {
        let Shell { nl, annotated, loc, .. } = self;
        Stmt { nl: nl.clone(), lin: Vec::new(), rhs, annotated: *annotated, loc: *loc }
    }

    /// The statement of the residual.
    fn residual(self, rhs: Rhs) -> Stmt {
        linear_stmt(self.lin, rhs, self.loc)
    }
}

/// `lin = rhs`.
fn linear_stmt(lin: Vec<LVar>, rhs: Rhs, loc: Loc) -> Stmt {
    Stmt { nl: Vec::new(), lin, rhs, annotated: false, loc: loc.by(Origin::Unzip) }
}

fn unplanned(loc: Loc) -> Diagnostic {
    crate::internal(loc.span, "U writes what it has not planned")
}

impl Splitter<'_> {
    fn enter(&mut self) -> Result<Level, Diagnostic> {
        self.values.push(Vec::new());
        self.levels.next().ok_or_else(|| unplanned(Loc::source(self.func.span)))
    }

    fn leave(&mut self) -> Vec<Stmt> {
        self.values.pop().unwrap_or_default()
    }

    fn joint(&mut self, loc: Loc) -> Result<Joint, Diagnostic> {
        self.joints.next().ok_or_else(|| unplanned(loc))
    }

    /// A statement of E.
    fn push(&mut self, stmt: Stmt) {
        let home = stmt.nl.first().map(|v| self.plan.homes[*v]).unwrap_or_default();
        let level = match home {
            Home::Here => self.values.len() - 1,
            Home::Outside(level) => level,
            Home::Nowhere => return,
        };
        self.values[level].push(stmt);
    }

    /// The end of a level: what E makes of what is stored, and how the residual begins; if `opens`, with
    /// a statement that opens the record.
    fn head(&mut self, level: Level, opens: bool, residual: &mut Block, loc: Loc) {
        let Level { before, after, widened, record, .. } = level;
        let (in_values, mut head) = widened;
        in_values.into_iter().for_each(|stmt| self.push(stmt));
        head.extend(before);
        match record.and_then(|record| Some((record.held?, record))) {
            Some((held, record)) => {
                self.push(record.make(held, loc));
                head.extend(opens.then(|| record.open(held, loc)));
                head.extend(merge(after, record.casts));
            }
            None => head.extend(after),
        }
        head.append(&mut residual.stmts);
        residual.stmts = head;
    }

    /// A block of the open level.
    fn block(&mut self, block: Block, info: &BlockInfo) -> Result<Halves, Diagnostic> {
        let mut nested = info.nested.iter();
        let mut out = Vec::new();
        for stmt in block.stmts {
            if !stmt.rhs.blocks().is_empty() {
                match nested.next() {
                    Some(info) if info.linear => self.nested(stmt, info, &mut out)?,
                    _ => self.push(stmt),
                }
            } else if linearity::is_linear_leaf(&self.derivatives.program, &self.func, &stmt) {
                match stmt {
                    Stmt { nl, lin, rhs: Rhs::Call(call), annotated, loc }
                        if !self.derivatives.program.funcs[call.func].is_foreign() =>
                    {
                        self.call(Shell { nl, lin, annotated, loc }, *call, &mut out)?;
                    }
                    Stmt { lin, rhs, loc, .. } => out.push(linear_stmt(lin, rhs, loc)),
                }
            } else {
                self.push(stmt);
            }
        }
        let residual = Block { stmts: out, nl: Vec::new(), lin: block.lin };
        Ok(Halves { values: block.nl, residual })
    }

    /// The k-th linear result of a block gets the given type, by a cast if it has another one.
    fn cast_result(&mut self, block: &mut Block, k: usize, ty: &Type, loc: Loc) {
        let Some(value) = block.lin.get(k).copied() else { return };
        let data = self.func.lvars[value].clone();
        if self.plan.same.ty(&self.func, &data.ty) == *ty {
            return;
        }
        let name = self.plan.namer.fresh(&data.name);
        let cast = LinVarData { name, ty: ty.clone(), span: data.span };
        let cast = self.func.lvars.push(cast);
        block.lin[k] = cast;
        let rhs = Rhs::LCast { value, ty: ty.clone(), proved: true };
        block.stmts.push(linear_stmt(vec![cast], rhs, loc));
    }

    fn nested(
        &mut self,
        stmt: Stmt,
        info: &StmtInfo,
        out: &mut Vec<Stmt>,
    ) -> Result<(), Diagnostic> {
        let Stmt { nl, lin, rhs, annotated, loc } = stmt;
        let shell = Shell { nl, lin, annotated, loc };
        match rhs {
            Rhs::Region(mut region) if region.is_linear() => {
                region.body = self.block(region.body, info.only(shell.loc.span)?)?.residual;
                out.push(shell.residual(Rhs::Region(region)));
                Ok(())
            }
            Rhs::Region(region) => self.accumulator(shell, *region, info, out),
            Rhs::Scan(scan) => self.scan(shell, *scan, info, out),
            Rhs::Case(case) => self.case(shell, *case, info, out),
            // Nothing else has nested blocks.
            rhs => {
                self.push(shell.values(rhs));
                Ok(())
            }
        }
    }

    fn accumulator(
        &mut self,
        mut shell: Shell,
        mut region: Region,
        info: &StmtInfo,
        out: &mut Vec<Stmt>,
    ) -> Result<(), Diagnostic> {
        let joint = self.joint(shell.loc)?;
        let level = self.enter()?;
        let Halves { mut values, mut residual } =
            self.block(region.body, info.only(shell.loc.span)?)?;
        self.head(level, false, &mut residual, shell.loc);
        let stmts = self.leave();
        let total = shell.nl.pop();
        for (inside, outside) in joint.results {
            values.push(Atom::Var(inside));
            shell.nl.push(outside);
        }
        shell.nl.extend(total);
        region.body = Block { stmts, nl: values, lin: Vec::new() };
        self.push(shell.values(Rhs::Region(Box::new(region))));
        for (k, outside) in shell.lin.iter().enumerate() {
            let Some(inside) = residual.lin.get(k) else { continue };
            let ty = |x: LVar| self.plan.same.ty(&self.func, &self.func.lvars[x].ty);
            let (own, ty) = (ty(*inside), ty(*outside));
            if self.plan.outside_ty(&own) != self.plan.outside_ty(&ty) {
                self.cast_result(&mut residual, k, &ty, shell.loc);
            }
        }
        out.append(&mut residual.stmts);
        for (outside, inside) in shell.lin.iter().zip(residual.lin) {
            self.plan.same.tangents[*outside] = Some(inside);
        }
        Ok(())
    }

    fn scan(
        &mut self,
        mut shell: Shell,
        scan: Scan,
        info: &StmtInfo,
        out: &mut Vec<Stmt>,
    ) -> Result<(), Diagnostic> {
        let joint = self.joint(shell.loc)?;
        let mut level = self.enter()?;
        let mut slices = std::mem::take(&mut level.slices);
        let Halves { mut values, mut residual } =
            self.block(scan.body, info.only(shell.loc.span)?)?;
        self.head(level, true, &mut residual, shell.loc);
        let stmts = self.leave();
        joint.prelude.into_iter().for_each(|stmt| self.push(stmt));
        let bound = joint.bound.unwrap_or(scan.bound);
        // How often a loop ran that may end early is known when the residual starts.
        let (values_bound, dir) = match scan.dir {
            Dir::While => (scan.bound, Dir::Up),
            dir => (bound, dir),
        };
        for (element, array) in joint.results {
            values.push(Atom::Var(element));
            shell.nl.push(array);
            slices.push((element, array));
        }
        let caps = &self.func.caps;
        let (acc_slices, cap_slices): (Vec<_>, Vec<_>) = (scan.cap_slices.into_iter())
            .partition(|(_, place)| caps[place.root].mode == Mode::Acc);
        if !shell.nl.is_empty() || !stmts.is_empty() {
            let body = Block { stmts, nl: values, lin: Vec::new() };
            self.push(shell.values(Rhs::Scan(Box::new(Scan {
                bound: values_bound,
                carry: scan.carry,
                lin_carry: Vec::new(),
                slices: scan.slices,
                lin_slices: Vec::new(),
                cap_slices: acc_slices,
                body,
                ..scan
            }))));
        }
        out.push(shell.residual(Rhs::Scan(Box::new(Scan {
            dir,
            index: scan.index,
            bound,
            carry: Vec::new(),
            lin_carry: scan.lin_carry,
            slices,
            lin_slices: scan.lin_slices,
            cap_slices,
            body: residual,
        }))));
        Ok(())
    }

    fn case(
        &mut self,
        mut shell: Shell,
        case: Case,
        info: &StmtInfo,
        out: &mut Vec<Stmt>,
    ) -> Result<(), Diagnostic> {
        let tape = self.joint(shell.loc)?.tape;
        let (mut values, mut residuals) = (Vec::new(), Vec::new());
        for (arm, info) in case.arms.into_iter().zip(&info.blocks) {
            let (value, residual) = self.arm(arm, info, &shell)?;
            values.push(value);
            residuals.push(residual);
        }
        shell.nl.extend(tape);
        let has_effect = |arm: &Arm| arm.is_tested() || !arm.body.stmts.is_empty();
        if !shell.nl.is_empty() || values.iter().any(has_effect) {
            let case = Case { scrutinee: case.scrutinee, arms: values };
            self.push(shell.values(Rhs::Case(Box::new(case))));
        }
        let scrutinee = tape.map_or(case.scrutinee, Atom::Var);
        out.push(shell.residual(Rhs::Case(Box::new(Case { scrutinee, arms: residuals }))));
        Ok(())
    }

    /// An arm of E and one of the residual, whose linear results get the types that the pattern of the
    /// `case` says.
    fn arm(&mut self, arm: Arm, info: &BlockInfo, shell: &Shell) -> Result<(Arm, Arm), Diagnostic> {
        let Arm { pattern, fields, proved, body } = arm;
        let mut level = self.enter()?;
        let Halves { mut values, mut residual } = self.block(body, info)?;
        for (k, x) in shell.lin.iter().enumerate() {
            let ty = self.plan.same.ty(&self.func, &self.func.lvars[*x].ty);
            self.cast_result(&mut residual, k, &ty, shell.loc);
        }
        let mut again =
            Arm { pattern, fields: fields.clone(), proved: true, body: Block::default() };
        if let Some(record) = &mut level.record
            && let Some((con, var)) = record.held
        {
            values.push(Atom::Var(var));
            again.pattern = ArmPattern::Con(con);
            again.fields = std::mem::take(&mut record.pattern);
        }
        self.head(level, false, &mut residual, shell.loc);
        let values = Block { stmts: self.leave(), nl: values, lin: Vec::new() };
        Ok((Arm { pattern, fields, proved, body: values }, Arm { body: residual, ..again }))
    }

    /// `(y.., tp) = g.nonlin(a..)`, and `g.lin(forwarded.., sizes.., tp; x'..; places)`.
    fn call(
        &mut self,
        mut shell: Shell,
        call: Call,
        out: &mut Vec<Stmt>,
    ) -> Result<(), Diagnostic> {
        let tape = self.joint(shell.loc)?.tape;
        let callee = &self.derivatives.program.funcs[call.func];
        let key = (call.func, self.plan.policy);
        let Some(halves) = self.derivatives.unzipped.get(&key).cloned() else {
            return Err(unplanned(shell.loc));
        };
        let modes: Vec<Mode> = callee.cap_params.iter().map(|c| callee.caps[*c].mode).collect();
        let forwarded = halves.forwarded.iter().filter_map(|k| call.args.get(*k).copied());
        let sizes = halves.result_sizes.iter().filter_map(|k| shell.nl.get(*k).copied());
        let args = forwarded.chain(sizes.chain(tape).map(Atom::Var)).collect();
        shell.nl.extend(tape);
        let (mut acc, mut linear) = (Vec::new(), Vec::new());
        for (place, mode) in call.places.into_iter().zip(modes) {
            if mode == Mode::Acc { acc.push(place) } else { linear.push(place) }
        }
        let values =
            Call { func: halves.nonlin, args: call.args, lin_args: Vec::new(), places: acc };
        self.push(shell.values(Rhs::Call(Box::new(values))));
        let residual = Call { func: halves.lin, args, lin_args: call.lin_args, places: linear };
        out.push(shell.residual(Rhs::Call(Box::new(residual))));
        Ok(())
    }

    /// Makes the two functions.
    fn finish(self, values: Block, residual: Block, tape: Option<(NVar, DataId)>) -> Unzipped {
        let Splitter { derivatives, func, plan, .. } = self;
        let (acc, linear): (Vec<Cap>, Vec<Cap>) =
            func.cap_params.iter().copied().partition(|c| func.caps[*c].mode == Mode::Acc);

        let mut subst = plan.same;
        let name = names::nonlin(&plan.base);
        let mut nonlin = Relocator::new(&func, &subst, &plan.namer, name);
        nonlin.params(&func.params, &[], &acc);
        nonlin.to.size_params = func.size_params;
        nonlin.body(values);
        for decl in &func.results {
            let ty = nonlin.ty(&decl.ty);
            let name = decl.name.map(|name| nonlin.result_name(name));
            nonlin.to.results.push(ResultDecl { name, ty });
        }
        nonlin.to.results.extend(tape.map(|(_, d)| ResultDecl { name: None, ty: Type::Data(d) }));
        let mut nonlin = nonlin.to;
        nonlin.body.forget_policies();

        for (v, out) in plan.escaped.iter().filter(|(_, out)| out.is_some()) {
            subst.values[v] = *out;
        }
        let forwarded = plan.forwarded.iter().map(|k| func.params[*k]);
        let sizes = plan.sizes.params.iter().copied();
        let params: Vec<NVar> = forwarded.chain(sizes).chain(tape.map(|(var, _)| var)).collect();
        let mut lin = Relocator::new(&func, &subst, &plan.namer, names::lin(&plan.base));
        lin.params(&params, &func.lin_params, &linear);
        lin.body(residual);
        for decl in &func.lin_results {
            let ty = lin.ty(&decl.ty);
            lin.to.lin_results.push(LinResultDecl { name: None, ty });
        }
        let mut lin = lin.to;
        super::marks::prove_accesses(&mut lin);
        lin.body.forget_policies();
        // Tapes are arrays, too.
        for half in [&mut nonlin, &mut lin] {
            show_sizes(half, None, &|func| derivatives.program.funcs[func].is_foreign());
        }

        for data in plan.datas {
            derivatives.add_data(data);
        }
        let (nonlin, lin) = match plan.own {
            Some((own, constructor)) => {
                if let Some(tape) = own.tape {
                    derivatives.program.datas[tape].constructors = vec![constructor];
                }
                (derivatives.fill(own.nonlin, nonlin), derivatives.fill(own.lin, lin))
            }
            None => (derivatives.add_func(nonlin), derivatives.add_func(lin)),
        };
        Unzipped {
            nonlin,
            lin,
            tape: tape.map(|(_, data)| data),
            forwarded: plan.forwarded,
            result_sizes: plan.sizes.positions,
        }
    }
}

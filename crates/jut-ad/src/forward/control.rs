//! J's rules for accumulators, loops, branches and calls.

use super::emit::{components, first_field, tangent_position};
use super::frame::Handle;
use super::needs::BlockNeeds;
use super::rules::{Entry, Rules, refuse_large_sum};
use crate::{Jvp, Passing};
use jut_ir::{
    Arm, ArmPattern, Atom, Block, Call, CapData, Case, Diagnostic, FieldPattern, LVar, Mode, NVar,
    Operand, Region, Rhs, Scan, Span, Step, Stmt,
};
use std::collections::HashSet;

/// A statement of which it is not known what its blocks read.
fn unknown(span: Span) -> Diagnostic {
    crate::internal(span, "forward differentiation does not know what a block reads")
}

impl Rules<'_> {
    /// JAcc: `acc r: t { .. }` becomes `acc r: t { wr dr: Tg t { .. } }`; a start has its tangent.
    pub fn region(
        &mut self,
        stmt: &Stmt,
        region: &Region,
        nested: Vec<BlockNeeds>,
    ) -> Result<(), Diagnostic> {
        let Region { mode, cap, start, end, ref body } = *region;
        let needs = nested.into_iter().next().ok_or_else(|| unknown(stmt.loc.span))?;
        let wanted: Vec<bool> = stmt.nl.iter().map(|v| self.live(*v)).collect();
        let values = body.nl.len();
        let total_live = self.w.activity.is_live_cap(cap);
        let start_tangent = match start {
            Some(Operand::N(Atom::Var(v))) if total_live && self.live(v) => {
                Some(Operand::L(self.w.take(v, stmt.loc)))
            }
            _ => None,
        };
        let captured = self.captured(needs.vars());
        let opened = self.w.open();
        let data = self.w.source.caps[cap].clone();
        let writer = match self.w.tangent_of(&data.ty) {
            Some(ty) if total_live => {
                let hint = format!("d{}", data.name);
                Some(self.w.builder.cap(&hint, Mode::Wr, data.lanes, ty, data.span))
            }
            _ => None,
        };
        self.w.writers[cap] = writer;
        let inner = self.block(
            body,
            needs,
            &wanted[..values.min(wanted.len())],
            captured.clone(),
            stmt.loc,
        )?;
        self.w.handles_are(captured);
        let inner = match writer {
            None => inner,
            Some(writer) => {
                let loc = stmt.loc.by(jut_ir::Origin::Forward);
                let exit = self.w.exit(&inner.nl, &inner.lin, opened, loc);
                let ty = self.w.builder.func.caps[writer].ty.clone();
                let body = exit.block(inner.stmts);
                let linear =
                    Region { mode: Mode::Wr, cap: writer, start: start_tangent, end: true, body };
                let mut sum = exit.stmt(Rhs::Region(Box::new(linear)), loc);
                let mut lin = inner.lin;
                if let Some(total) = stmt.nl.last() {
                    let total = self.w.tangent_var(*total, ty, loc.span);
                    sum.lin.push(total);
                    lin.push(total);
                }
                let mut stmts = vec![sum];
                stmts.extend(exit.after);
                Block { stmts, nl: inner.nl, lin }
            }
        };
        let rhs = Rhs::Region(Box::new(Region { mode, cap, start, end, body: inner }));
        self.bind_results(stmt, rhs);
        Ok(())
    }

    /// JScan: carries and slices in pairs; whatever else the body reads is a place by now, or becomes one of this loop's own:
    ///
    /// ```text
    /// y = scan par (i < n) { .. a .. }   ⟶   (y; y') = rd da = a' { scan par (i < n) { .. a1' = rd da .. } }
    /// ```
    ///
    /// So what the loop is due to add to the cotangent of a number is one sum of this loop, which T makes one by lanes, however
    /// the code around the loop is divided and computed again. (Many numbers are the components of one place, whose sums are in order.)
    pub fn scan(
        &mut self,
        stmt: &Stmt,
        scan: &Scan,
        nested: Vec<BlockNeeds>,
    ) -> Result<(), Diagnostic> {
        let loc = stmt.loc;
        let needs = nested.into_iter().next().ok_or_else(|| unknown(stmt.loc.span))?;
        let mut entry = Entry::new();
        let mut lin_carry = Vec::new();
        let mut lin_slices = Vec::new();
        for (carry, init) in &scan.carry {
            if self.live(*carry) {
                let ty = self.w.tangent_type(*carry);
                let init = self.w.take_or_zero(*init, &ty, loc);
                let inner = self.w.tangent_var(*carry, ty, loc.span);
                lin_carry.push((inner, init));
                entry.push((*carry, Handle::Val(inner)));
            }
        }
        for (element, array) in &scan.slices {
            if !self.live(*element) {
                continue;
            }
            if let Some(Handle::At(place)) = self.w.handles[*array].clone() {
                self.w.served(*array);
                let index = Atom::Var(scan.index);
                let place = place.then(Step::Index { index, proved: false });
                entry.push((*element, Handle::At(place)));
            } else {
                let array = self.w.take(*array, loc);
                let ty = self.w.tangent_type(*element);
                let inner = self.w.tangent_var(*element, ty, loc.span);
                lin_slices.push((inner, array));
                entry.push((*element, Handle::Val(inner)));
            }
        }
        let mut cap_slices = scan.cap_slices.clone();
        for (element, place) in &scan.cap_slices {
            let Some(writer) = self.w.writers[place.root] else { continue };
            let CapData { name, ty, span, .. } = self.w.source.caps[*element].clone();
            if let (true, Some(ty)) =
                (self.w.activity.is_live_cap(*element), self.w.tangent_of(&ty))
            {
                let inner = self.w.builder.cap(&format!("d{name}"), Mode::Wr, false, ty, span);
                self.w.writers[*element] = Some(inner);
                cap_slices.push((inner, self.place_of(writer, place)));
            }
        }
        let own: Vec<(NVar, LVar)> = needs.own.iter().map(|v| (*v, self.w.take(*v, loc))).collect();
        let places: HashSet<NVar> = needs.own.iter().copied().collect();
        needs.vars().filter(|v| !places.contains(v)).for_each(|v| self.w.served(v));
        let outside: Entry =
            own.iter().filter_map(|(v, _)| Some((*v, self.w.handles[*v].clone()?))).collect();
        let regions = self.w.own_regions(&own, needs.together, loc);
        entry.extend(own.iter().filter_map(|(v, _)| Some((*v, self.w.handles[*v].clone()?))));
        let carries = scan.carry.iter().map(|(v, _)| self.live(*v));
        let stacked = stmt.nl.iter().skip(scan.carry.len()).map(|v| self.live(*v));
        let wanted: Vec<bool> = carries.chain(stacked).collect();
        let body = self.block(&scan.body, needs, &wanted, entry, loc)?;
        let rhs = Rhs::Scan(Box::new(Scan {
            dir: scan.dir,
            index: scan.index,
            bound: scan.bound,
            carry: scan.carry.clone(),
            lin_carry,
            slices: scan.slices.clone(),
            lin_slices,
            cap_slices,
            body,
        }));
        let produced: Vec<NVar> =
            stmt.nl.iter().zip(&wanted).filter(|(_, w)| **w).map(|(v, _)| *v).collect();
        self.w.handles_are(outside);
        self.bind_within(stmt, produced, rhs, regions);
        Ok(())
    }

    /// JCase: every arm gets the tangents that any arm needs and drops what it has no use for.
    pub fn case(
        &mut self,
        stmt: &Stmt,
        case: &Case,
        nested: Vec<BlockNeeds>,
    ) -> Result<(), Diagnostic> {
        let loc = stmt.loc;
        let fields_live = case.arms.iter().flat_map(|a| &a.fields).any(|f| match f {
            FieldPattern::Bind(v) => self.live(*v),
            FieldPattern::Eq(_) => false,
        });
        let declared = case.scrutinee.var().is_some_and(|v| self.w.declared(v).is_some());
        if let (Atom::Var(v), true, false) = (case.scrutinee, fields_live, declared) {
            refuse_large_sum(&self.w, v, loc)?;
        }
        let scrutinee = match case.scrutinee {
            Atom::Var(v) if fields_live => match self.w.handles[v].clone() {
                Some(Handle::At(place)) if !declared => {
                    self.w.served(v);
                    Some((v, Handle::At(place)))
                }
                _ => Some((v, Handle::Val(self.w.take(v, loc)))),
            },
            _ => None,
        };
        let mut free: Vec<NVar> = Vec::new();
        let mut seen = HashSet::new();
        for needs in &nested {
            free.extend(needs.vars().filter(|v| seen.insert(*v)));
        }
        let captured = self.captured(free.into_iter());
        let wanted: Vec<bool> = stmt.nl.iter().map(|v| self.live(*v)).collect();
        let mut arms = Vec::new();
        for (arm, needs) in case.arms.iter().zip(nested) {
            let mut entry = captured.clone();
            let mut opening = None;
            let mut of_declared = None;
            if let (true, Some((_, Handle::Val(x))), ArmPattern::Con(con)) =
                (declared, &scrutinee, arm.pattern)
            {
                let fields = arm.fields.iter().map(|f| match f {
                    FieldPattern::Bind(v) => (Some(*v), None),
                    FieldPattern::Eq(a) => (None, Some(*a)),
                });
                of_declared = Some((con, *x, fields.collect::<Vec<_>>()));
            } else if let Some((v, handle)) = &scrutinee {
                let first = match arm.pattern {
                    ArmPattern::Con(con) => first_field(self.w.program, con),
                    ArmPattern::Bool(_) => 0,
                };
                let mut bound: Vec<Option<NVar>> = vec![None; first];
                bound.extend(arm.fields.iter().map(|f| match f {
                    FieldPattern::Bind(v) => Some(*v),
                    FieldPattern::Eq(_) => None,
                }));
                match handle {
                    Handle::At(place) => {
                        let items = components(self.w.program, &self.w.source.nvars[*v].ty);
                        for (k, v) in bound.iter().enumerate() {
                            if let Some(v) = v
                                && self.live(*v)
                            {
                                let k = tangent_position(self.w.kinds, &items, k);
                                entry.push((*v, Handle::At(place.then(Step::Field(k)))));
                            }
                        }
                    }
                    Handle::Val(x) => opening = Some((*v, *x, bound)),
                }
            }
            // The opening is the first statement of the arm.
            self.w.enter(BlockNeeds::default());
            let parts = match (opening, of_declared) {
                (Some((v, x, bound)), _) => self.open_value(v, x, &bound, loc),
                (None, Some((con, x, fields))) => self.open_declared(con, x, &fields, loc),
                (None, None) => Vec::new(),
            };
            let opening = self.w.leave(vec![], vec![]);
            entry.extend(parts.into_iter().map(|(v, x)| (v, Handle::Val(x))));
            let mut body = self.block(&arm.body, needs, &wanted, entry, loc)?;
            body.stmts.splice(0..0, opening.stmts);
            arms.push(Arm { fields: arm.fields.clone(), body, ..*arm });
        }
        self.w.handles_are(captured);
        let rhs = Rhs::Case(Box::new(Case { scrutinee: case.scrutinee, arms }));
        self.bind_results(stmt, rhs);
        Ok(())
    }

    /// JApp: `f{mask}.jvp` with the tangents of the active arguments.
    pub fn call(&mut self, stmt: &Stmt, call: &Call) -> Result<(), Diagnostic> {
        let loc = stmt.loc;
        let asked = self.w.activity.call_mask(call);
        let mask = self.derivatives.widened(call.func, &asked);
        let Some(Jvp { func, results, accs }) = self.derivatives.jvp_of(call.func, mask) else {
            return Err(crate::internal(loc.span, "the derivative of a callee is missing"));
        };
        let callee = &self.w.program.funcs[call.func];
        let mut lin_args = Vec::new();
        let mut reads = Vec::new();
        for k in mask.positions() {
            let Some(a) = call.args.get(k) else { continue };
            let ty = &callee.nvars[callee.params[k]].ty;
            match (Passing::of(self.w.kinds, ty), a) {
                (Passing::Value, _) => {
                    if let Some(ty) = self.w.tangent_of(ty) {
                        lin_args.push(self.w.take_or_zero(*a, &ty, loc));
                    }
                }
                (Passing::Capability, Atom::Var(v)) => {
                    self.w.served(*v);
                    if let Some(Handle::At(place)) = &self.w.handles[*v] {
                        reads.push(Some(place.clone()));
                    }
                }
                _ => {}
            }
        }
        let mut places = call.places.clone();
        places.extend(reads);
        for (place, active) in call.places.iter().zip(accs) {
            if *active {
                let writer = place.as_ref().and_then(|p| {
                    let cap = self.w.writers[p.root]?;
                    Some(self.place_of(cap, p))
                });
                places.push(writer);
            }
        }
        let rhs =
            Rhs::Call(Box::new(Call { func: *func, args: call.args.clone(), lin_args, places }));
        let produced =
            stmt.nl.iter().zip(results).filter(|(_, active)| **active).map(|(v, _)| *v).collect();
        self.bind_some(stmt, produced, rhs);
        Ok(())
    }

    /// The linear tangents among `vars`, which nested blocks use.
    fn captured(&mut self, vars: impl Iterator<Item = NVar>) -> Entry {
        let mut captured = Entry::new();
        for v in vars {
            self.w.served(v);
            if let Some(handle @ Handle::Val(_)) = self.w.handles[v].clone() {
                captured.push((v, handle));
            }
        }
        captured
    }

    /// The statement with its new right-hand side; tangents for the live results.
    fn bind_results(&mut self, stmt: &Stmt, rhs: Rhs) {
        let live = stmt.nl.iter().copied().filter(|v| self.live(*v)).collect();
        self.bind_some(stmt, live, rhs);
    }

    /// The statement with its new right-hand side, which makes tangents for `produced`.
    fn bind_some(&mut self, stmt: &Stmt, produced: Vec<NVar>, rhs: Rhs) {
        self.bind_within(stmt, produced, rhs, Vec::new());
    }

    /// The same in regions of its own.
    fn bind_within(
        &mut self,
        stmt: &Stmt,
        produced: Vec<NVar>,
        rhs: Rhs,
        regions: Vec<super::frame::Region>,
    ) {
        let mut lin = Vec::new();
        for v in &produced {
            let ty = self.w.tangent_of_part(&self.w.source.nvars[*v].ty, stmt.loc);
            lin.push(self.w.part_var(*v, ty, stmt.loc.span));
        }
        self.w.emit_stmt(Stmt {
            nl: stmt.nl.clone(),
            lin: lin.clone(),
            rhs,
            annotated: stmt.annotated,
            loc: stmt.loc,
        });
        self.w.close_own(regions, &stmt.nl, &lin, stmt.loc);
        for (v, x) in produced.into_iter().zip(lin) {
            self.w.bind(v, x, stmt.loc);
        }
    }
}

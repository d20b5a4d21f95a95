//! J's rules, one per construct (Fig. 7 of the paper, extended to arrays, loops and regions).

use super::emit::{Handle, Writer, components, tangent_path, tangent_position};
use super::needs::BlockNeeds;
use super::primitive;
use crate::{Derivatives, Jvp, Passing};
use jut_ir::{
    Arm, Atom, Block, Call, Cap, CapData, Case, Diagnostic, FieldPattern, LVar, Literal, Loc, Mode,
    NVar, Operand, Place, Rhs, Scan, Step, Stmt, Type,
};

/// J at work on one function, with what its callees have become.
pub(super) struct Rules<'a> {
    pub w: Writer<'a>,
    pub derivatives: &'a Derivatives,
}

/// The tangents that a block starts with.
pub(super) type Entry = Vec<(NVar, Handle)>;

impl Rules<'_> {
    /// JLet and JReturn: the statements in order, then the tangents of the wanted results.
    pub fn block(
        &mut self,
        block: &Block,
        mut needs: BlockNeeds,
        wanted: &[bool],
        entry: Entry,
        loc: Loc,
    ) -> Result<Block, Diagnostic> {
        let mut children = std::mem::take(&mut needs.children).into_iter();
        let live = std::mem::take(&mut needs.live);
        self.w.enter(needs);
        for (v, handle) in entry {
            match handle {
                Handle::Val(x) => self.w.bind(v, x, loc),
                Handle::At(place) => self.w.bind_place(v, place, loc),
            }
        }
        self.w.open_regions(block, None);
        for (k, (stmt, live)) in block.stmts.iter().zip(live).enumerate() {
            let nested: Vec<BlockNeeds> = children.by_ref().take(stmt.rhs.blocks().len()).collect();
            if live {
                self.stmt(stmt, nested)?;
                self.w.open_regions(block, Some(k));
                if self.w.depth() > REGIONS {
                    return Err(too_deep(stmt.loc));
                }
            } else {
                self.w.emit_stmt(stmt.clone());
            }
        }
        let mut lin = Vec::new();
        for (a, wanted) in block.nl.iter().zip(wanted) {
            if *wanted {
                let ty = self.w.source.type_of(*a);
                if let Some(ty) = self.w.tangent_of(&ty) {
                    lin.push(self.w.take_or_zero(*a, &ty, loc));
                }
            }
        }
        Ok(self.w.leave(block.nl.clone(), lin))
    }

    fn live(&self, v: NVar) -> bool {
        self.w.activity.is_live(v)
    }

    /// A live statement.
    fn stmt(&mut self, stmt: &Stmt, nested: Vec<BlockNeeds>) -> Result<(), Diagnostic> {
        let loc = stmt.loc;
        match &stmt.rhs {
            Rhs::Scan(scan) => return self.scan(stmt, scan, nested),
            Rhs::Case(case) => return self.case(stmt, case, nested),
            Rhs::Call(call) => return self.call(stmt, call),
            Rhs::AccRegion { cap, body } => return self.acc(stmt, *cap, body, nested),
            _ => self.w.emit_stmt(stmt.clone()),
        }
        match (&stmt.rhs, stmt.nl.as_slice()) {
            (Rhs::Atom(Atom::Var(x)), [y]) => match self.w.handles[*x].clone() {
                Some(Handle::At(place)) => {
                    self.w.served(*x);
                    self.w.bind_place(*y, place, loc);
                }
                _ => {
                    let x = self.w.take(*x, loc);
                    self.w.bind(*y, x, loc);
                }
            },
            (Rhs::Prim(p, args), [y]) => primitive::tangent(&mut self.w, *y, *p, args, loc),
            (Rhs::Tuple(args), [y]) => {
                let types = args.iter().map(|a| self.w.source.type_of(*a)).collect::<Vec<_>>();
                self.tuple(*y, args, &types, loc);
            }
            (Rhs::Con(con, args), [y]) => {
                let fields = &self.w.program.constructor(*con).fields;
                let types = fields.iter().map(|f| f.ty.clone()).collect::<Vec<_>>();
                self.tuple(*y, args, &types, loc);
            }
            (Rhs::ArrayLit(args), [y]) => self.array_literal(*y, args, loc),
            (Rhs::Untuple(x), components) => {
                self.open(*x, components, loc);
            }
            (Rhs::Open { value, eqs, .. }, bound) => {
                let bound = in_order(eqs, bound);
                self.open_fields(*value, &bound, loc);
            }
            (Rhs::Proj(x, k), [y]) => {
                self.w.served(*x);
                if let Some(Handle::At(place)) = self.w.handles[*x].clone() {
                    let items = components(self.w.program, &self.w.source.nvars[*x].ty);
                    let position = tangent_position(self.w.kinds, &items, *k as usize);
                    let place = place.then(Step::Field(position));
                    if self.w.kinds.has_array(&self.w.source.nvars[*y].ty) {
                        self.w.bind_place(*y, place, loc);
                    } else {
                        self.w.bind_read(*y, place, loc);
                    }
                }
            }
            (Rhs::Index(x, path), [y]) => {
                self.w.served(*x);
                if let Some(Handle::At(mut place)) = self.w.handles[*x].clone() {
                    place.path.extend(path);
                    self.w.bind_place(*y, place, loc);
                }
            }
            (Rhs::Cast { value, .. }, [y]) => {
                let x = self.w.take(*value, loc);
                let ty = self.w.tangent_type(*y);
                let out = self.w.tangent_var(*y, ty.clone(), loc.span);
                self.w.emit_linear(out, Rhs::LCast { value: x, ty, proved: true }, loc);
                self.w.bind(*y, out, loc);
            }
            (Rhs::Inc(place, Operand::N(Atom::Var(a))), []) => {
                let x = self.w.take(*a, loc);
                if let Some(cap) = self.w.writers[place.root] {
                    let place = self.place_of(cap, place);
                    self.w.emit(vec![], vec![], Rhs::Inc(place, Operand::L(x)), loc);
                }
            }
            _ => {
                let message = "forward differentiation of linear code: apply L first";
                return Err(Diagnostic::error("J901", loc.span, message));
            }
        }
        Ok(())
    }

    /// The place in the `wr` capability beside a place in an accumulator.
    fn place_of(&self, cap: Cap, place: &Place) -> Place {
        let ty = &self.w.source.caps[place.root].ty;
        let path = tangent_path(self.w.program, self.w.kinds, ty, &place.path);
        Place { root: cap, path }
    }

    /// JTup, JCon: the tuple of the present tangents.
    fn tuple(&mut self, y: NVar, args: &[Atom], types: &[Type], loc: Loc) {
        let mut parts = Vec::new();
        for (a, ty) in args.iter().zip(types) {
            if let Some(ty) = self.w.tangent_of(ty) {
                parts.push(self.w.take_or_zero(*a, &ty, loc));
            }
        }
        let out = self.w.tangent_var(y, self.w.tangent_type(y), loc.span);
        self.w.emit_linear(out, Rhs::LTuple(parts), loc);
        self.w.bind(y, out, loc);
    }

    /// `y = [a, ..]`: a region that adds each tangent at its place.
    fn array_literal(&mut self, y: NVar, args: &[Atom], loc: Loc) {
        let ty = self.w.tangent_type(y);
        let mut adds = Vec::new();
        let cap = self.w.capability(y, Mode::Wr, ty.clone(), loc.span);
        for (k, a) in args.iter().enumerate() {
            if let Atom::Var(v) = a
                && self.live(*v)
            {
                let x = self.w.take(*v, loc);
                let index = Atom::Lit(Literal::I64(k as i64));
                let place = Place::root(cap).then(Step::Index { index, proved: false });
                adds.push(Stmt {
                    nl: vec![],
                    lin: vec![],
                    rhs: Rhs::Inc(place, Operand::L(x)),
                    annotated: false,
                    loc: loc.by(jut_ir::Origin::Forward),
                });
            }
        }
        let body = Box::new(Block { stmts: adds, nl: vec![], lin: vec![] });
        let out = self.w.tangent_var(y, ty, loc.span);
        self.w.emit_linear(out, Rhs::WrRegion { cap, body }, loc);
        self.w.bind(y, out, loc);
    }

    /// JUnpack of a tuple.
    fn open(&mut self, x: NVar, bound: &[NVar], loc: Loc) {
        let bound: Vec<Option<NVar>> = bound.iter().map(|v| Some(*v)).collect();
        self.open_fields(x, &bound, loc);
    }

    /// JUnpack: the components of the tangent, by value or by place.
    fn open_fields(&mut self, x: NVar, bound: &[Option<NVar>], loc: Loc) {
        if let Some(Handle::At(place)) = self.w.handles[x].clone() {
            self.w.served(x);
            self.open_place(x, &place, bound, loc);
        } else {
            let x1 = self.w.take(x, loc);
            for (v, part) in self.open_value(x1, bound, loc) {
                self.w.bind(v, part, loc);
            }
        }
    }

    fn open_place(&mut self, x: NVar, place: &Place, bound: &[Option<NVar>], loc: Loc) {
        let items = components(self.w.program, &self.w.source.nvars[x].ty);
        for (k, v) in bound.iter().enumerate() {
            if let Some(v) = v
                && self.live(*v)
            {
                let position = tangent_position(self.w.kinds, &items, k);
                self.w.bind_place(*v, place.then(Step::Field(position)), loc);
            }
        }
    }

    /// `#(a', ..) = x'`, with the variables that the parts are tangents of; the parts that nobody
    /// needs are dropped.
    fn open_value(&mut self, x: LVar, bound: &[Option<NVar>], loc: Loc) -> Vec<(NVar, LVar)> {
        let types = match &self.w.builder.func.lvars[x].ty {
            Type::Tuple(types) => types.clone(),
            _ => Vec::new(),
        };
        let present: Vec<NVar> = bound
            .iter()
            .flatten()
            .copied()
            .filter(|v| self.w.kinds.has_float(&self.w.source.nvars[*v].ty))
            .collect();
        let parts: Vec<(NVar, LVar)> = present
            .into_iter()
            .zip(types)
            .map(|(v, ty)| (v, self.w.part_var(v, ty, loc.span)))
            .collect();
        let vars = parts.iter().map(|(_, x)| *x).collect();
        self.w.emit(vec![], vars, Rhs::LUntuple(x), loc);
        parts
    }

    /// JAcc: `acc r: t { .. }` becomes `acc r: t { wr dr: Tg t { .. } }`.
    fn acc(
        &mut self,
        stmt: &Stmt,
        cap: Cap,
        body: &Block,
        nested: Vec<BlockNeeds>,
    ) -> Result<(), Diagnostic> {
        let needs = nested.into_iter().next().unwrap_or_default();
        let wanted: Vec<bool> = stmt.nl.iter().map(|v| self.live(*v)).collect();
        let values = body.nl.len();
        let total_live = self.w.activity.is_live_cap(cap);
        let given = self.give(needs.vars().collect(), stmt.loc);
        let entry = given.iter().map(|(v, x, _)| (*v, Handle::Val(*x))).collect();
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
        let inner =
            self.block(body, needs, &wanted[..values.min(wanted.len())], entry, stmt.loc)?;
        self.take_back(given);
        let inner = match writer {
            None => inner,
            Some(writer) => {
                let loc = stmt.loc.by(jut_ir::Origin::Forward);
                let exit = self.w.exit(&inner.nl, &inner.lin, opened, loc);
                let ty = self.w.builder.func.caps[writer].ty.clone();
                let mut lin = exit.lin;
                if let Some(total) = stmt.nl.last() {
                    lin.push(self.w.tangent_var(*total, ty, loc.span));
                }
                let body = Block { stmts: inner.stmts, nl: exit.inside, lin: inner.lin };
                let rhs = Rhs::WrRegion { cap: writer, body: Box::new(body) };
                let region =
                    Stmt { nl: exit.pattern, lin: lin.clone(), rhs, annotated: false, loc };
                let mut stmts = vec![region];
                stmts.extend(exit.after);
                Block { stmts, nl: exit.outside, lin }
            }
        };
        self.bind_results(stmt, Rhs::AccRegion { cap, body: Box::new(inner) });
        Ok(())
    }

    /// JScan: carries and slices in pairs; whatever else the body reads is a place by now.
    fn scan(
        &mut self,
        stmt: &Stmt,
        scan: &Scan,
        nested: Vec<BlockNeeds>,
    ) -> Result<(), Diagnostic> {
        let loc = stmt.loc;
        let needs = nested.into_iter().next().unwrap_or_default();
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
        needs.vars().for_each(|v| self.w.served(v));
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
        self.bind_some(stmt, produced, rhs);
        Ok(())
    }

    /// JCase: every arm gets the tangents that any arm needs and drops what it has no use for.
    fn case(
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
        let scrutinee = match case.scrutinee {
            Atom::Var(v) if fields_live => match self.w.handles[v].clone() {
                Some(Handle::At(place)) => {
                    self.w.served(v);
                    Some((v, Handle::At(place)))
                }
                _ => Some((v, Handle::Val(self.w.take(v, loc)))),
            },
            _ => None,
        };
        let mut free: Vec<NVar> = Vec::new();
        let mut seen = std::collections::HashSet::new();
        for needs in &nested {
            free.extend(needs.vars().filter(|v| seen.insert(*v)));
        }
        let given = self.give(free, loc);
        let wanted: Vec<bool> = stmt.nl.iter().map(|v| self.live(*v)).collect();
        let mut arms = Vec::new();
        for (arm, needs) in case.arms.iter().zip(nested) {
            let mut entry: Entry = given.iter().map(|(v, x, _)| (*v, Handle::Val(*x))).collect();
            let mut opening = None;
            if let Some((v, handle)) = &scrutinee {
                let bound: Vec<Option<NVar>> = arm
                    .fields
                    .iter()
                    .map(|f| match f {
                        FieldPattern::Bind(v) => Some(*v),
                        FieldPattern::Eq(_) => None,
                    })
                    .collect();
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
                    Handle::Val(x) => opening = Some((*x, bound)),
                }
            }
            let body = match opening {
                None => self.block(&arm.body, needs, &wanted, entry, loc)?,
                Some((x, bound)) => {
                    // The opening is the first statement of the arm.
                    self.w.enter(BlockNeeds::default());
                    let parts = self.open_value(x, &bound, loc);
                    let opening = self.w.leave(vec![], vec![]);
                    entry.extend(parts.into_iter().map(|(v, x)| (v, Handle::Val(x))));
                    let mut body = self.block(&arm.body, needs, &wanted, entry, loc)?;
                    body.stmts.splice(0..0, opening.stmts);
                    body
                }
            };
            arms.push(Arm { pattern: arm.pattern, fields: arm.fields.clone(), body });
        }
        self.take_back(given);
        let rhs = Rhs::Case(Box::new(Case { scrutinee: case.scrutinee, arms }));
        self.bind_results(stmt, rhs);
        Ok(())
    }

    /// JApp: `f{mask}.jvp` with the tangents of the active arguments.
    fn call(&mut self, stmt: &Stmt, call: &Call) -> Result<(), Diagnostic> {
        let loc = stmt.loc;
        let asked = self.w.activity.call_mask(call);
        let mask = self.derivatives.widened(call.func, &asked);
        let Some(Jvp { func, results, accs }) = self.derivatives.jvp_of(call.func, mask) else {
            let message = "the derivative of a callee is missing";
            return Err(Diagnostic::error("J901", loc.span, message));
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

    /// Hands the linear tangents among `vars` to nested blocks: variable, what the blocks get, and
    /// what is left outside. Places need no handing over.
    fn give(&mut self, vars: Vec<NVar>, loc: Loc) -> Vec<(NVar, LVar, Option<Handle>)> {
        let mut given = Vec::new();
        for v in vars {
            match &self.w.handles[v] {
                Some(Handle::Val(_)) => {
                    let x = self.w.take(v, loc);
                    given.push((v, x, self.w.handles[v].clone()));
                }
                Some(Handle::At(_)) => self.w.served(v),
                None => {}
            }
        }
        given
    }

    /// The nested blocks are done; what was left outside is valid again.
    fn take_back(&mut self, given: Vec<(NVar, LVar, Option<Handle>)>) {
        for (v, _, rest) in given {
            self.w.handles[v] = rest;
        }
    }

    /// The statement with its new right-hand side; tangents for the live results.
    fn bind_results(&mut self, stmt: &Stmt, rhs: Rhs) {
        let live = stmt.nl.iter().copied().filter(|v| self.live(*v)).collect();
        self.bind_some(stmt, live, rhs);
    }

    /// The statement with its new right-hand side, which makes tangents for `produced`.
    fn bind_some(&mut self, stmt: &Stmt, produced: Vec<NVar>, rhs: Rhs) {
        let mut lin = Vec::new();
        for v in &produced {
            let ty = self.w.tangent_of(&self.w.source.nvars[*v].ty).unwrap_or(Type::F64);
            lin.push(self.w.part_var(*v, ty, stmt.loc.span));
        }
        self.w.emit_stmt(Stmt {
            nl: stmt.nl.clone(),
            lin: lin.clone(),
            rhs,
            annotated: stmt.annotated,
            loc: stmt.loc,
        });
        for (v, x) in produced.into_iter().zip(lin) {
            self.w.bind(v, x, stmt.loc);
        }
    }
}

/// How many regions J opens inside one another. Every one is a level of nesting.
const REGIONS: usize = 200;

fn too_deep(loc: Loc) -> Diagnostic {
    let message = format!(
        "not built yet: more than {REGIONS} arrays or records that are in use at the same time in one function"
    );
    Diagnostic::error("J901", loc.span, message).help("move a part of the function into another")
}

/// For each field of a pattern, the variable that it binds.
fn in_order(eqs: &[Option<Atom>], bound: &[NVar]) -> Vec<Option<NVar>> {
    let mut bound = bound.iter();
    eqs.iter().map(|eq| if eq.is_some() { None } else { bound.next().copied() }).collect()
}

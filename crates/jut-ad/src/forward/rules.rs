//! J's rules, one per construct (Fig. 7 of the paper, extended to arrays): blocks and leaves.
//! Statements with nested blocks and calls are in [`super::control`].

use super::emit::{Writer, components, first_field, tangent_position};
use super::frame::Handle;
use super::needs::BlockNeeds;
use super::primitive;
use crate::Derivatives;
use jut_ir::{
    Atom, Block, Cap, Diagnostic, LVar, Literal, Loc, Mode, NVar, Operand, Place, Region, Rhs,
    Step, Stmt, Type,
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
                self.w.close_before(block, k);
                self.stmt(stmt, nested)?;
                self.w.open_regions(block, Some(k));
                if self.w.depth() > REGIONS {
                    return Err(too_deep(stmt.loc));
                }
            } else {
                self.w.emit_stmt(stmt.clone());
            }
        }
        self.w.close_before(block, block.stmts.len());
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

    pub fn live(&self, v: NVar) -> bool {
        self.w.activity.is_live(v)
    }

    /// A live statement.
    fn stmt(&mut self, stmt: &Stmt, nested: Vec<BlockNeeds>) -> Result<(), Diagnostic> {
        let loc = stmt.loc;
        match &stmt.rhs {
            Rhs::Scan(scan) => return self.scan(stmt, scan, nested),
            Rhs::Case(case) => return self.case(stmt, case, nested),
            Rhs::Call(call) => return self.call(stmt, call),
            Rhs::Region(region) => return self.region(stmt, region, nested),
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
            (Rhs::Structured(op, args, sizes), [y]) => {
                primitive::structured(&mut self.w, *y, *op, args, sizes, loc);
            }
            (Rhs::Tuple(args), [y]) => {
                let types = args.iter().map(|a| self.w.source.type_of(*a)).collect::<Vec<_>>();
                self.tuple(*y, args, &types, loc);
            }
            (Rhs::Con(con, args), [y]) if self.w.declared(*y).is_some() => {
                self.construct_declared(*y, *con, args, loc);
            }
            (Rhs::Con(con, args), [y]) => {
                refuse_large_sum(&self.w, *y, loc)?;
                // The other constructors' parts are zero.
                let items = components(self.w.program, &self.w.source.nvars[*y].ty);
                let types: Vec<Type> = items.into_iter().cloned().collect();
                let mut all = vec![Atom::Lit(Literal::F64(0.0)); types.len()];
                for (to, a) in all.iter_mut().skip(first_field(self.w.program, *con)).zip(args) {
                    *to = *a;
                }
                self.tuple(*y, &all, &types, loc);
            }
            (Rhs::ArrayLit(args), [y]) => self.array_literal(*y, args, loc),
            (Rhs::Untuple(x), components) => {
                self.open(*x, components, loc);
            }
            (Rhs::Open { con, value, eqs, .. }, bound) if self.w.declared(*value).is_some() => {
                let bound = in_order(eqs, bound).into_iter().zip(eqs.iter().copied());
                let fields: Vec<_> = bound.collect();
                let x = self.w.take(*value, loc);
                for (v, part) in self.open_declared(*con, x, &fields, loc) {
                    self.w.bind(v, part, loc);
                }
            }
            (Rhs::Proj(x, k), [y]) if self.w.declared(*x).is_some() => {
                self.project_declared(*y, *x, *k, loc);
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
            (Rhs::Update { array, path, value }, [y]) => {
                let ty = self.w.tangent_type(*y);
                let x = self.w.take_or_zero(Atom::Var(*array), &ty, loc);
                let part = self.w.source.type_of(*value);
                let is_component = path.iter().any(|step| matches!(step, Step::Field(_)));
                // A component may be one without a tangent.
                if is_component && self.w.tangent_of(&part).is_none() {
                    self.w.bind(*y, x, loc);
                    return Ok(());
                }
                let part = self.w.tangent_of_part(&part, loc);
                let value = self.w.take_or_zero(*value, &part, loc);
                let out = self.w.tangent_var(*y, ty, loc.span);
                let path = self.w.tangent_path(&self.w.source.nvars[*array].ty, path);
                self.w.emit_linear(out, Rhs::LUpdate { x, path, value }, loc);
                self.w.bind(*y, out, loc);
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
    pub fn place_of(&self, cap: Cap, place: &Place) -> Place {
        let ty = &self.w.source.caps[place.root].ty;
        let path = self.w.tangent_path(ty, &place.path);
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
        let body = Block { stmts: adds, nl: vec![], lin: vec![] };
        let out = self.w.tangent_var(y, ty, loc.span);
        self.w.emit_linear(out, Region::sum(Mode::Wr, cap, body), loc);
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
            for (v, part) in self.open_value(x, x1, bound, loc) {
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

    /// `#(a', ..) = x'` for the tangent of `of`, with the variables that the parts are tangents of.
    /// `bound` are those of the first components, or of those that follow its empty places; the parts
    /// of other components, which belong to other constructors, are zero.
    pub fn open_value(
        &mut self,
        of: NVar,
        x: LVar,
        bound: &[Option<NVar>],
        loc: Loc,
    ) -> Vec<(NVar, LVar)> {
        let mut types = match &self.w.builder.func.lvars[x].ty {
            Type::Tuple(types) => types.clone(),
            _ => Vec::new(),
        }
        .into_iter();
        let (mut vars, mut parts) = (Vec::new(), Vec::new());
        for (k, item) in components(self.w.program, &self.w.source.nvars[of].ty).iter().enumerate()
        {
            if !self.w.kinds.has_float(item) {
                continue;
            }
            let Some(ty) = types.next() else { break };
            vars.push(match bound.get(k).copied().flatten() {
                Some(v) => {
                    let part = self.w.part_var(v, ty, loc.span);
                    parts.push((v, part));
                    part
                }
                None => self.w.builder.lvar("absent", ty, loc.span),
            });
        }
        self.w.emit(vec![], vars, Rhs::LUntuple(x), loc);
        parts
    }
}

/// How many regions J opens inside one another. Every one is a level of nesting.
const REGIONS: usize = 200;

/// The most tangents that the arms of one `case`, or the constructors of one type, have to name together.
const SUM_TANGENTS: usize = 1 << 16;

/// The tangent of a sum has the parts of all constructors, and each arm of a `case` says of every part that
/// it is zero or what it is. So the cost of a sum grows with the product of both numbers, and a type where
/// that is large is refused before there is any work.
pub(super) fn refuse_large_sum(w: &Writer, of: NVar, loc: Loc) -> Result<(), Diagnostic> {
    let Type::Data(id) = w.source.nvars[of].ty else { return Ok(()) };
    let data = &w.program.datas[id];
    let arms = data.constructors.len();
    let fields = data.constructors.iter().flat_map(|c| &c.fields);
    let parts = fields.filter(|field| w.kinds.has_float(&field.ty)).count();
    if arms < 2 || arms.saturating_mul(parts) <= SUM_TANGENTS {
        return Ok(());
    }
    let message = format!(
        "the sum `{}` has {arms} constructors with {parts} fields of floats: more than \
         {SUM_TANGENTS} if multiplied",
        data.name
    );
    let help = "divide it into sums of sums, `data S = A(a: First) | B(b: Second)`, or keep the floats in \
                an array beside it, and their places in the sum";
    Err(Diagnostic::error("J806", loc.span, message).help(help))
}

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

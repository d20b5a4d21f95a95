//! Handles, frames and regions: how J writes tangents down.
//!
//! Each live variable has a [`Handle`]: a linear variable, to be used up exactly once, or a place of
//! mode `rd`, to be read at will. A [`Frame`] is a block being written. When a linear variable must
//! become a place, the rest of the block moves into a region `rd dx = x' { .. }`; the frame keeps
//! the open regions on a stack and closes them at the end of the block, innermost first.
//!
//! What a region returns keeps its name outside. Two things need care there. An i64 result that is
//! *transparent* (`m = n - 1`) would come out of the region opaque, and `[m]f64` would no longer be
//! `[n - 1]f64`; so it is not returned but computed once more outside. And an opaque size that only
//! the types of the results mention is returned before them.

use super::needs::BlockNeeds;
use crate::activity::{Activity, Kinds};
use crate::{Derivatives, sizes};
use jut_ir::build::FunctionBuilder;
use jut_ir::entity::SecondaryMap;
use jut_ir::prim::Prim;
use jut_ir::visit::Use;
use jut_ir::{
    Atom, Block, Cap, Function, LVar, LinVarData, Loc, Mode, NVar, Origin, Place, Program, Rhs,
    Size, Span, Step, Stmt, Type, VarData,
};
use std::collections::{HashMap, HashSet};

/// How the tangent of a variable is reached.
#[derive(Clone, Debug)]
pub(super) enum Handle {
    /// A linear variable.
    Val(LVar),
    /// A place of mode `rd`.
    At(Place),
}

/// A region that is open in a frame.
struct Region {
    cap: Cap,
    init: LVar,
    /// The statements before the region.
    before: Vec<Stmt>,
    /// The clock when it was opened.
    opened: u32,
    loc: Loc,
}

/// A block being written.
pub(super) struct Frame {
    out: Vec<Stmt>,
    regions: Vec<Region>,
    /// Variables whose linear tangents are to become places.
    opening: Vec<(NVar, Loc)>,
    /// How many open regions there must be before closing some is tried.
    patience: usize,
    /// Variables bound so far, in order.
    bound: Vec<NVar>,
    /// The last statement that uses a variable; found when first needed.
    last_use: Option<HashMap<NVar, usize>>,
    /// What is still needed.
    pub needs: BlockNeeds,
}

/// J at work on one function.
pub(super) struct Writer<'a> {
    pub program: &'a Program,
    pub kinds: &'a Kinds,
    /// The function that is differentiated.
    pub source: &'a Function,
    pub activity: &'a Activity,
    /// The derivative; it keeps the non-linear variables of the source.
    pub builder: FunctionBuilder,
    pub handles: SecondaryMap<NVar, Option<Handle>>,
    /// The `wr` capability beside each live reference.
    pub writers: SecondaryMap<Cap, Option<Cap>>,
    /// Tangent types of live variables.
    pub tangents: SecondaryMap<NVar, Option<Type>>,
    frames: Vec<Frame>,
    /// Counts statements; `born` says when a variable was bound.
    clock: u32,
    born: SecondaryMap<NVar, u32>,
    lin_born: SecondaryMap<LVar, u32>,
    /// Whether some variable is bound a second time, after a region that returns it.
    pub rebound: bool,
}

impl<'a> Writer<'a> {
    pub fn new(
        derivatives: &'a Derivatives,
        source: &'a Function,
        activity: &'a Activity,
    ) -> Writer<'a> {
        let mut derivative = source.clone();
        derivative.body = Block::default();
        let mut builder = FunctionBuilder::from_function(derivative);
        for (v, data) in source.nvars.iter() {
            if activity.is_live(v) {
                builder.namer.reserve(&format!("{}'", data.name));
            }
        }
        Writer {
            program: &derivatives.program,
            kinds: &derivatives.kinds,
            source,
            activity,
            builder,
            handles: SecondaryMap::new(),
            writers: SecondaryMap::new(),
            tangents: SecondaryMap::new(),
            frames: Vec::new(),
            clock: 0,
            born: SecondaryMap::new(),
            lin_born: SecondaryMap::new(),
            rebound: false,
        }
    }

    // ---- frames and statements

    pub fn enter(&mut self, needs: BlockNeeds) {
        self.frames.push(Frame {
            out: Vec::new(),
            regions: Vec::new(),
            opening: Vec::new(),
            patience: CLOSED_AT_ONCE,
            bound: Vec::new(),
            last_use: None,
            needs,
        });
    }

    /// The frame that is being written. There is one from the first `enter` to the last `leave`.
    fn frame(&mut self) -> Option<&mut Frame> {
        self.frames.last_mut()
    }

    /// What the block still needs of a variable.
    fn need(&self, var: NVar) -> super::needs::Need {
        self.frames.last().map(|f| f.needs.of(var)).unwrap_or_default()
    }

    pub fn emit_stmt(&mut self, stmt: Stmt) {
        self.clock += 1;
        stmt.nl.iter().for_each(|v| self.born[*v] = self.clock);
        stmt.lin.iter().for_each(|x| self.lin_born[*x] = self.clock);
        if let Some(frame) = self.frame() {
            frame.bound.extend(&stmt.nl);
            frame.out.push(stmt);
        }
    }

    pub fn emit(&mut self, nl: Vec<NVar>, lin: Vec<LVar>, rhs: Rhs, loc: Loc) {
        let loc = loc.by(Origin::Forward);
        self.emit_stmt(Stmt { nl, lin, rhs, annotated: false, loc });
    }

    /// `y' = rhs`.
    pub fn emit_linear(&mut self, y: LVar, rhs: Rhs, loc: Loc) {
        self.emit(vec![], vec![y], rhs, loc);
    }

    /// Binds a fresh name to a primitive; integer arithmetic stays transparent.
    pub fn emit_prim(&mut self, hint: &str, prim: Prim, args: Vec<Atom>, loc: Loc) -> NVar {
        let var = sizes::prim_var(&mut self.builder, hint, prim, &args, loc.span);
        self.emit(vec![var], vec![], Rhs::Prim(prim, args), loc);
        var
    }

    // ---- tangents

    /// The linear variable called like the variable: `y'`.
    pub fn tangent_var(&mut self, var: NVar, ty: Type, span: Span) -> LVar {
        let name = format!("{}'", self.source.nvars[var].name);
        self.builder.func.lvars.push(LinVarData { name, ty, span })
    }

    /// A further linear variable for the tangent of a variable: `y_1'`, ..
    pub fn aux(&mut self, var: NVar, span: Span) -> LVar {
        let hint = format!("{}_1", self.source.nvars[var].name);
        let ty = self.tangent_type(var);
        self.builder.lvar(&hint, ty, span)
    }

    /// The tangent type of a live variable.
    pub fn tangent_type(&self, var: NVar) -> Type {
        self.tangents[var].clone().unwrap_or(Type::F64)
    }

    /// The tangent type of any type without sums; `None` if absent.
    pub fn tangent_of(&self, ty: &Type) -> Option<Type> {
        ty.tangent(self.program).ok().flatten()
    }

    /// `tan(v)`: the tangent of a live variable, to be consumed.
    pub fn take(&mut self, var: NVar, loc: Loc) -> LVar {
        let left = self.frame().map_or(0, |f| f.needs.serve(var));
        match self.handles[var].clone() {
            Some(Handle::At(place)) => {
                let x = self.aux(var, loc.span);
                self.emit_linear(x, Rhs::Rd(place), loc);
                x
            }
            Some(Handle::Val(x)) if left > 0 => {
                let (a, b) = (self.aux(var, loc.span), self.aux(var, loc.span));
                self.emit(vec![], vec![a, b], Rhs::Dup(x), loc);
                self.handles[var] = Some(Handle::Val(b));
                a
            }
            Some(Handle::Val(x)) => {
                self.handles[var] = None;
                x
            }
            None => self.zero(self.tangent_type(var), loc),
        }
    }

    /// A need has been served by the variable's place.
    pub fn served(&mut self, var: NVar) {
        if let Some(frame) = self.frame() {
            frame.needs.serve(var);
        }
    }

    /// A linear variable for the tangent of `var`: called `y'` if it is live, else fresh.
    pub fn part_var(&mut self, var: NVar, ty: Type, span: Span) -> LVar {
        if self.activity.is_live(var) {
            self.tangent_var(var, ty, span)
        } else {
            let hint = self.source.nvars[var].name.clone();
            self.builder.lvar(&hint, ty, span)
        }
    }

    /// The tangent of an operand; a zero of the given type if it is not live.
    pub fn take_or_zero(&mut self, atom: Atom, ty: &Type, loc: Loc) -> LVar {
        match atom {
            Atom::Var(v) if self.activity.is_live(v) => self.take(v, loc),
            _ => self.zero(ty.clone(), loc),
        }
    }

    pub fn zero(&mut self, ty: Type, loc: Loc) -> LVar {
        let z = self.builder.lvar("z", ty.clone(), loc.span);
        self.emit_linear(z, Rhs::LZero(ty), loc);
        z
    }

    /// Gives a variable its tangent by value: dropped if nothing needs it, a region if some use
    /// needs a place.
    pub fn bind(&mut self, var: NVar, x: LVar, loc: Loc) {
        let need = self.need(var);
        if need.times == 0 {
            self.emit(vec![], vec![], Rhs::Drop(x), loc);
            return;
        }
        self.handles[var] = Some(Handle::Val(x));
        if let (true, Some(frame)) = (need.place, self.frame()) {
            frame.opening.push((var, loc));
        }
    }

    /// After the statement number `done` of a block, or before the first: opens the regions that
    /// its tangents need. Regions that are done with are closed first.
    pub fn open_regions(&mut self, block: &Block, done: Option<usize>) {
        let opening = self.frame().map(|f| std::mem::take(&mut f.opening)).unwrap_or_default();
        if opening.is_empty() {
            return;
        }
        if let Some(done) = done {
            self.settle(block, done);
        }
        for (var, loc) in opening {
            let Some(Handle::Val(init)) = self.handles[var].clone() else { continue };
            let ty = self.tangent_type(var);
            let cap = self.capability(var, Mode::Rd, ty, loc.span);
            let opened = self.open();
            let loc = loc.by(Origin::Forward);
            if let Some(frame) = self.frame() {
                let before = std::mem::take(&mut frame.out);
                frame.regions.push(Region { cap, init, before, opened, loc });
            }
            self.handles[var] = Some(Handle::At(Place::root(cap)));
        }
    }

    /// Gives a variable its tangent by place. A scalar that a loop captures is read at once.
    pub fn bind_place(&mut self, var: NVar, place: Place, loc: Loc) {
        let need = self.need(var);
        if need.times == 0 {
            return;
        }
        if need.place && self.source.nvars[var].ty.is_scalar() {
            self.bind_read(var, place, loc);
        } else {
            self.handles[var] = Some(Handle::At(place));
        }
    }

    /// Reads a place as the tangent of a variable.
    pub fn bind_read(&mut self, var: NVar, place: Place, loc: Loc) {
        if self.need(var).times > 0 {
            let x = self.tangent_var(var, self.tangent_type(var), loc.span);
            self.emit_linear(x, Rhs::Rd(place), loc);
            self.bind(var, x, loc);
        }
    }

    /// `dx`: the capability for the tangent of a variable.
    pub fn capability(&mut self, var: NVar, mode: Mode, ty: Type, span: Span) -> Cap {
        let hint = format!("d{}", self.source.nvars[var].name);
        self.builder.cap(&hint, mode, false, ty, span)
    }

    // ---- the end of blocks and regions

    /// Closes the frame: the block with the given results, out of all its regions.
    pub fn leave(&mut self, nl: Vec<Atom>, lin: Vec<LVar>) -> Block {
        let Some(mut frame) = self.frames.pop() else { return Block::default() };
        let (mut nl, mut lin, mut out) = (nl, lin, frame.out);
        while let Some(region) = frame.regions.pop() {
            let exit = self.exit(&nl, &lin, region.opened, region.loc);
            let body = Block { stmts: out, nl: exit.inside, lin };
            let rhs = Rhs::RdRegion { cap: region.cap, init: region.init, body: Box::new(body) };
            out = region.before;
            out.push(Stmt {
                nl: exit.pattern,
                lin: exit.lin.clone(),
                rhs,
                annotated: false,
                loc: region.loc,
            });
            out.extend(exit.after);
            (nl, lin) = (exit.outside, exit.lin);
        }
        Block { stmts: out, nl, lin }
    }

    /// How many regions are open, in all frames.
    pub fn depth(&self) -> usize {
        self.frames.iter().map(|f| f.regions.len()).sum()
    }

    /// After the statement number `done` of a block: closes the innermost regions that nobody reads
    /// any more if there are many, so that long blocks do not nest without bound. What they
    /// return keeps its index; [`crate::relocate`] sorts that out in the end.
    fn settle(&mut self, block: &Block, done: usize) {
        let Some(frame) = self.frames.last_mut() else { return };
        if frame.regions.len() < frame.patience {
            return;
        }
        let mut read = HashSet::new();
        let mut kept = HashSet::new();
        let mut tangents = Vec::new();
        for v in frame.needs.pending() {
            match &self.handles[v] {
                Some(Handle::At(place)) => {
                    read.insert(place.root);
                    kept.extend(place.path.iter().flat_map(step_names));
                }
                Some(Handle::Val(x)) => tangents.push(*x),
                None => {}
            }
        }
        let idle = frame.regions.iter().rev().take_while(|r| !read.contains(&r.cap)).count();
        frame.patience = frame.regions.len() + CLOSED_AT_ONCE;
        if idle < CLOSED_AT_ONCE {
            return;
        }
        frame.patience -= idle;
        let opened = frame.regions[frame.regions.len() - idle].opened;
        let last_use = frame.last_use.get_or_insert_with(|| last_uses(block, self.source));
        let inside = frame.bound.iter().rev().take_while(|v| self.born[**v] > opened).count();
        let inside = frame.bound.split_off(frame.bound.len() - inside);
        let nvars = &self.builder.func.nvars;
        // Backwards, because types and definitions mention what was bound before.
        let (mut returned, mut rebuilt) = (Vec::new(), Vec::new());
        for v in inside.into_iter().rev() {
            if !kept.contains(&v) && last_use.get(&v).is_none_or(|last| *last <= done) {
                continue;
            }
            match &nvars[v].def {
                Some(def) => {
                    kept.extend(def.names());
                    rebuilt.push(v);
                }
                None => {
                    kept.extend(nvars[v].ty.size_names());
                    returned.push(v);
                }
            }
        }
        returned.reverse();
        rebuilt.reverse();
        tangents.retain(|x| self.lin_born[*x] > opened);
        let mut out = std::mem::take(&mut frame.out);
        let mut loc = Loc::default();
        for region in frame.regions.drain(frame.regions.len() - idle..).rev() {
            let nl = returned.iter().map(|v| Atom::Var(*v)).collect();
            let body = Box::new(Block { stmts: out, nl, lin: tangents.clone() });
            let rhs = Rhs::RdRegion { cap: region.cap, init: region.init, body };
            out = region.before;
            loc = region.loc;
            let (nl, lin) = (returned.clone(), tangents.clone());
            out.push(Stmt { nl, lin, rhs, annotated: false, loc });
        }
        for v in &rebuilt {
            let name = self.builder.func.nvars[*v].name.clone();
            let def = self.builder.func.nvars[*v].def.clone().unwrap_or_default();
            let (func, namer) = (&mut self.builder.func, &mut self.builder.namer);
            sizes::compute_as(func, namer, &name, &def, loc, &mut out);
            if let Some(last) = out.last_mut() {
                last.nl = vec![*v];
            }
        }
        returned.iter().chain(&rebuilt).for_each(|v| self.born[*v] = opened);
        tangents.iter().for_each(|x| self.lin_born[*x] = opened);
        frame.bound.extend(returned.into_iter().chain(rebuilt));
        frame.out = out;
        self.rebound = true;
    }

    /// The time at which a region is opened: later than all that was bound before it.
    pub fn open(&mut self) -> u32 {
        self.clock += 1;
        self.clock
    }

    /// How results leave a region that was opened at the given time.
    pub fn exit(&mut self, nl: &[Atom], lin: &[LVar], opened: u32, loc: Loc) -> Exit {
        let mut returned: Vec<NVar> = Vec::new();
        let mut rebuilt: Vec<NVar> = Vec::new();
        let mut seen: HashMap<NVar, ()> = HashMap::new();
        // Sizes first, so that they precede the types that mention them.
        let mut sizes: Vec<NVar> = Vec::new();
        for v in nl.iter().filter_map(|a| a.var()).filter(|v| self.born[*v] > opened) {
            let data = &self.builder.func.nvars[v];
            match &data.def {
                Some(def) => sizes.extend(def.names()),
                None => sizes.extend(data.ty.size_names()),
            }
        }
        for x in lin {
            sizes.extend(self.builder.func.lvars[*x].ty.size_names());
        }
        let results: Vec<NVar> = nl.iter().filter_map(|a| a.var()).collect();
        let extra = sizes.into_iter().filter(|v| !results.contains(v)).collect::<Vec<_>>();
        for v in extra.into_iter().chain(results) {
            if self.born[v] > opened && seen.insert(v, ()).is_none() {
                if self.builder.func.nvars[v].def.is_some() {
                    rebuilt.push(v);
                } else {
                    returned.push(v);
                }
            }
        }
        let mut outside: HashMap<NVar, NVar> = HashMap::new();
        let mut pattern = Vec::new();
        for v in &returned {
            let VarData { name, ty, span, .. } = self.builder.func.nvars[*v].clone();
            let ty = ty.subst(&mut |n| outside.get(&n).map(|v| Size::var(*v)));
            let new = self.builder.func.nvars.push(VarData { name, ty, def: None, span });
            outside.insert(*v, new);
            pattern.push(new);
        }
        let lin = lin
            .iter()
            .map(|x| {
                let LinVarData { name, ty, span } = self.builder.func.lvars[*x].clone();
                let ty = ty.subst(&mut |n| outside.get(&n).map(|v| Size::var(*v)));
                self.builder.func.lvars.push(LinVarData { name, ty, span })
            })
            .collect();
        let mut after = Vec::new();
        for v in rebuilt {
            let VarData { name, def, .. } = self.builder.func.nvars[v].clone();
            let def = def.unwrap_or_default();
            let def = def.subst(&mut |n| outside.get(&n).map(|v| Size::var(*v)));
            let new = sizes::compute_as(
                &mut self.builder.func,
                &mut self.builder.namer,
                &name,
                &def,
                loc,
                &mut after,
            );
            outside.insert(v, new);
        }
        for v in pattern.iter().chain(after.iter().flat_map(|s| &s.nl)) {
            self.born[*v] = opened;
        }
        let rename = |a: &Atom| match a {
            Atom::Var(v) => Atom::Var(outside.get(v).copied().unwrap_or(*v)),
            Atom::Lit(_) => *a,
        };
        Exit {
            inside: returned.iter().map(|v| Atom::Var(*v)).collect(),
            outside: nl.iter().map(rename).collect(),
            pattern,
            lin,
            after,
        }
    }
}

/// How many regions are closed together before the end of a block.
const CLOSED_AT_ONCE: usize = 8;

/// The names in a step of a path.
fn step_names(step: &Step) -> Vec<NVar> {
    match step {
        Step::Index { index, .. } => index.var().into_iter().collect(),
        Step::Slice { lo, len, .. } => [lo, len].into_iter().filter_map(|a| a.var()).collect(),
        Step::Field(_) => Vec::new(),
    }
}

/// The last statement of a block that uses each name, in types too.
fn last_uses(block: &Block, func: &Function) -> HashMap<NVar, usize> {
    let mut last = HashMap::new();
    for (k, stmt) in block.stmts.iter().enumerate() {
        let mut visit = |name| {
            if let Use::N(v) = name {
                last.insert(v, k);
            }
        };
        stmt.for_each_use(func, &mut visit);
        for v in &stmt.nl {
            func.nvars[*v].ty.size_names().into_iter().for_each(|n| visit(Use::N(n)));
        }
    }
    block.nl.iter().filter_map(|a| a.var()).for_each(|v| {
        last.insert(v, usize::MAX);
    });
    last
}

/// How the results of a block leave a region.
pub(super) struct Exit {
    /// The non-linear results of the region's body.
    pub inside: Vec<Atom>,
    /// What the pattern binds to them.
    pub pattern: Vec<NVar>,
    /// What the pattern binds to the linear results.
    pub lin: Vec<LVar>,
    /// Statements to follow the region: transparent sizes, once more.
    pub after: Vec<Stmt>,
    /// The results of the block, as they are called after the region.
    pub outside: Vec<Atom>,
}

/// A path into a value as a path into its tangent: positions count present components only.
pub(super) fn tangent_path(
    program: &Program,
    kinds: &Kinds,
    ty: &Type,
    path: &[Step],
) -> Vec<Step> {
    let mut ty = ty.clone();
    let mut out = Vec::new();
    for step in path {
        match step {
            Step::Index { .. } => {
                ty = ty.element().cloned().unwrap_or(Type::F64);
                out.push(*step);
            }
            Step::Slice { .. } => out.push(*step),
            Step::Field(k) => {
                let items = components(program, &ty);
                out.push(Step::Field(tangent_position(kinds, &items, *k as usize)));
                ty = items.get(*k as usize).map_or(Type::F64, |t| (*t).clone());
            }
        }
    }
    out
}

/// The components of a tuple or record.
pub(super) fn components<'p>(program: &'p Program, ty: &'p Type) -> Vec<&'p Type> {
    match ty {
        Type::Tuple(items) => items.iter().collect(),
        Type::Data(d) => match program.datas[*d].constructors.as_slice() {
            [constructor] => constructor.fields.iter().map(|f| &f.ty).collect(),
            _ => Vec::new(),
        },
        _ => Vec::new(),
    }
}

/// The position of a component's tangent in the tangent tuple.
pub(super) fn tangent_position(kinds: &Kinds, items: &[&Type], k: usize) -> u32 {
    items.iter().take(k).filter(|t| kinds.has_float(t)).count() as u32
}

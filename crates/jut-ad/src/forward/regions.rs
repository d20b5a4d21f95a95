//! Regions `rd dx = x' { .. }`, in which a linear tangent is a place.
//!
//! When a linear tangent must become a place, the rest of the block moves into a region; a frame
//! keeps its open regions on a stack and closes them at the end of the block, innermost first.
//! In a long block regions that are done with are closed earlier, several at a time, so that
//! nesting stays bounded by the number of tangents in use at the same time.
//!
//! **Lending.** An array that is handed on by the last that needs it ([`super::needs`]) is read in a region
//! that gives it back, `(..; x1') = lend dx = x' { .. }`, and moves on from there: so a carried array of which
//! an iteration reads a cell costs a cell, forward and, where T makes `wr` with a start of it, backward.
//! Regions that are open inside are closed with it; those that are still needed lend, and open again.
//!
//! What a region returns keeps its name outside. Two things need care there. An i64 result that is
//! *transparent* (`m = n - 1`) would come out of the region opaque, and `[m]f64` would no longer be
//! `[n - 1]f64`; so it is not returned but computed once more outside. So is a maximum, `m = max(k, 0)`, by which it is
//! known that m is not negative, and not less than k. And an opaque size that the types of the results mention is
//! returned before them, with an array that is so long, if there is one; of a maximum and of a number of iterations it
//! is said again that it is not negative.

use super::emit::Writer;
use super::frame::{CLOSED_AT_ONCE, Handle, LastUses, Region};
use jut_ir::{
    Atom, Block, Check, LVar, LinVarData, Loc, Mode, NVar, Operand, Origin, Place, Rhs, Size, Step,
    Stmt, TapePolicy, Type, VarData, prim, sizes,
};
use std::collections::{HashMap, HashSet};

impl Writer<'_> {
    /// After the statement number `done` of a block, or before the first: opens the regions that
    /// its tangents need. Regions that are done with are closed first.
    pub fn open_regions(&mut self, block: &Block, done: Option<usize>) {
        let opening = std::mem::take(&mut self.frame.opening);
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
            let before = std::mem::take(&mut self.frame.out);
            self.frame.regions.push(Region { var, cap, init, before, opened, loc });
            self.handles[var] = Some(Handle::At(Place::root(cap)));
        }
    }

    /// Opens regions for one statement, in which tangents that it takes are places. What comes before stays before them.
    /// `together` they are components of one place, so that many of them do not nest.
    pub fn own_regions(&mut self, own: &[(NVar, LVar)], together: bool, loc: Loc) -> Vec<Region> {
        let mut regions = Vec::with_capacity(own.len());
        if let (true, Some((first, _))) = (together, own.first()) {
            let ty = Type::Tuple(own.iter().map(|(v, _)| self.tangent_type(*v)).collect());
            let init = self.builder.lvar("t", ty.clone(), loc.span);
            self.emit_linear(init, Rhs::LTuple(own.iter().map(|(_, x)| *x).collect()), loc);
            let cap = self.builder.cap("dt", Mode::Rd, false, ty, loc.span);
            let opened = self.open();
            let before = std::mem::take(&mut self.frame.out);
            for (k, (v, _)) in (0..).zip(own) {
                self.handles[*v] = Some(Handle::At(Place::root(cap).then(Step::Field(k))));
            }
            let loc = loc.by(Origin::Forward);
            return vec![Region { var: *first, cap, init, before, opened, loc }];
        }
        for &(var, init) in own {
            let cap = self.capability(var, Mode::Rd, self.tangent_type(var), loc.span);
            let opened = self.open();
            let before = std::mem::take(&mut self.frame.out);
            let loc = loc.by(Origin::Forward);
            regions.push(Region { var, cap, init, before, opened, loc });
            self.handles[var] = Some(Handle::At(Place::root(cap)));
        }
        regions
    }

    /// Closes the regions of the statement that was just written, with what it binds. What the text says of its tape is
    /// about all of them.
    pub fn close_own(&mut self, regions: Vec<Region>, nl: &[NVar], lin: &[LVar], loc: Loc) {
        let nl: Vec<Atom> = nl.iter().map(|v| Atom::Var(*v)).collect();
        if let (false, Some(stmt)) = (regions.is_empty(), self.frame.out.last_mut()) {
            stmt.loc.tape = TapePolicy::Free;
        }
        let last = regions.len();
        for (k, region) in regions.into_iter().rev().enumerate() {
            let exit = self.exit(&nl, lin, region.opened, region.loc);
            let tape = if k + 1 == last { loc.tape } else { TapePolicy::Free };
            let body = exit.block(std::mem::take(&mut self.frame.out));
            let rhs = jut_ir::Region::read(region.cap, region.init, body);
            self.frame.out = region.before;
            self.frame.out.push(exit.stmt(rhs, Loc { tape, ..region.loc }));
            self.frame.out.extend(exit.after);
        }
    }

    /// Closes the frame: the block with the given results, out of all its regions.
    pub fn leave(&mut self, nl: Vec<Atom>, lin: Vec<LVar>) -> Block {
        let outer = self.around.pop().unwrap_or_default();
        let mut frame = std::mem::replace(&mut self.frame, outer);
        let mut out = frame.out;
        while let Some(region) = frame.regions.pop() {
            let exit = self.exit(&nl, &lin, region.opened, region.loc);
            let rhs = jut_ir::Region::read(region.cap, region.init, exit.block(out));
            out = region.before;
            out.push(exit.stmt(rhs, region.loc));
            out.extend(exit.after);
        }
        Block { stmts: out, nl, lin }
    }

    /// How many regions are open, in all frames.
    pub fn depth(&self) -> usize {
        self.around.iter().chain([&self.frame]).map(|f| f.regions.len()).sum()
    }

    /// After the statement number `done` of a block: closes the innermost regions that nobody reads
    /// any more if there are many, so that long blocks do not nest without bound. What they
    /// return keeps its index; [`crate::relocate`] sorts that out in the end.
    fn settle(&mut self, block: &Block, done: usize) {
        let frame = &mut self.frame;
        if frame.regions.len() < frame.patience {
            return;
        }
        let mut read = HashSet::new();
        for v in frame.needs.pending() {
            if let Some(Handle::At(place)) = &self.handles[v] {
                read.insert(place.root);
            }
        }
        let idle = frame.regions.iter().rev().take_while(|r| !read.contains(&r.cap)).count();
        frame.patience = frame.regions.len() + CLOSED_AT_ONCE;
        if idle < CLOSED_AT_ONCE {
            return;
        }
        frame.patience -= idle;
        self.close(block, idle, Some(done));
    }

    /// Before the statement number `next` of a block, or before its results: closes the regions of
    /// tangents that are handed on there, if their places are not in use any more.
    pub fn close_before(&mut self, block: &Block, next: usize) {
        let frame = &self.frame;
        let handed = |region: &Region| {
            frame.needs.of(region.var).handed.is_some_and(|handed| handed.at == next)
        };
        let Some(outermost) = frame.regions.iter().position(handed) else { return };
        let closing = &frame.regions[outermost..];
        let places = frame.needs.pending().filter_map(|v| match &self.handles[v] {
            Some(Handle::At(place)) => {
                let region = closing.iter().find(|r| r.cap == place.root)?;
                (v != region.var).then(|| (v, place.clone(), region.loc))
            }
            _ => None,
        });
        let places: Vec<_> = places.collect();
        // Rows are read as values only before an update, which would copy all of the array else.
        let updates = block.stmts.get(next).is_some_and(|s| matches!(s.rhs, Rhs::Update { .. }));
        let numbers = places.iter().all(|(v, ..)| self.source.nvars[*v].ty.is_scalar());
        if !updates && !numbers {
            return;
        }
        let count = closing.len();
        let mut lent: Vec<(NVar, Loc)> = closing.iter().map(|r| (r.var, r.loc)).collect();
        for (v, place, loc) in places {
            let x = self.tangent_var(v, self.tangent_type(v), loc.span);
            self.emit_linear(x, Rhs::Rd(place), loc);
            self.handles[v] = Some(Handle::Val(x));
            if self.need(v).place {
                lent.push((v, loc));
            }
        }
        self.close(block, count, next.checked_sub(1));
        // What is not handed on here is read again.
        for (v, loc) in lent {
            let need = self.need(v);
            let at = need.handed.map(|handed| handed.at);
            if need.times > 0 && at != Some(next) {
                self.frame.opening.push((v, loc));
            }
        }
        self.open_regions(block, next.checked_sub(1));
    }

    /// Closes the `count` innermost regions; the statement number `done` is the last before. Regions of
    /// tangents that are still needed lend them.
    fn close(&mut self, block: &Block, count: usize, done: Option<usize>) {
        let frame = &mut self.frame;
        let mut kept = HashSet::new();
        let mut tangents = Vec::new();
        // A tangent that is a place says its indices wherever it is read.
        let mut indices: HashSet<Size> = HashSet::new();
        for v in frame.needs.pending() {
            match &self.handles[v] {
                Some(Handle::At(place)) => {
                    kept.extend(place.path.iter().flat_map(step_names));
                    let said = place.path.iter().filter_map(first_index);
                    indices.extend(said.map(|at| self.builder.func.size_of(at)));
                }
                Some(Handle::Val(x)) => tangents.push(*x),
                None => {}
            }
        }
        let first = frame.regions.len() - count;
        let opened = frame.regions[first].opened;
        let last_use = frame.last_use.get_or_insert_with(|| LastUses::of(block, self.source));
        let later = |last: &usize| done.is_none_or(|done| *last > done);
        let used_later = |v: NVar| last_use.names.get(&v).is_some_and(later);
        // An access may say the same index by another name, or by a number.
        let is_said_of = |atom: Atom| {
            let index = self.builder.func.size_of(atom);
            atom.var().is_some_and(used_later)
                || last_use.indices.get(&index).is_some_and(later)
                || indices.contains(&index)
        };
        // What a check says is known to the end of its region: those of values that are used later are
        // said again behind it.
        let (mut checks, mut maxima) = (Vec::new(), HashMap::new());
        let closing = frame.regions[first + 1..].iter().flat_map(|region| &region.before);
        for stmt in closing.chain(&frame.out) {
            if let (Rhs::Prim(prim::IMAX, args), [v]) = (&stmt.rhs, stmt.nl.as_slice()) {
                maxima.insert(*v, args.clone());
            }
            if let Some(trips) = stmt.rhs.trips(&stmt.nl).filter(|v| used_later(*v)) {
                let rhs = Rhs::Check(Check::NonNegative(Atom::Var(trips)));
                let loc = stmt.loc.by(Origin::Forward);
                checks.push(Stmt { nl: vec![], lin: vec![], rhs, annotated: false, loc });
            }
            let Rhs::Check(check) = &stmt.rhs else { continue };
            if matches!(check, Check::Show(_)) {
                continue;
            }
            let (about, sizes) = check.operands();
            if about.iter().copied().any(is_said_of) {
                kept.extend(about.into_iter().chain(sizes).filter_map(Atom::var));
                checks.push(stmt.clone());
            }
        }
        let inside = frame.bound.iter().rev().take_while(|v| self.born[**v] > opened).count();
        let inside = frame.bound.split_off(frame.bound.len() - inside);
        let nvars = &self.builder.func.nvars;
        // By an array it is known that its length is not negative, and how long it can be at most.
        let mut arrays: HashMap<NVar, NVar> = HashMap::new();
        for v in &inside {
            if let Type::Array(size, element) = &nvars[*v].ty
                && let (Some(length), true) = (size.as_var(), element.is_scalar())
            {
                arrays.insert(length, *v);
            }
        }
        // Backwards, because types and definitions mention what was bound before.
        let (mut returned, mut rebuilt): (Vec<NVar>, Vec<NVar>) = (Vec::new(), Vec::new());
        let lvars = &self.builder.func.lvars;
        let mut in_types: HashSet<NVar> =
            tangents.iter().flat_map(|x| lvars[*x].ty.size_names()).collect();
        for v in inside.into_iter().rev() {
            if !kept.contains(&v) && !used_later(v) {
                continue;
            }
            match (&nvars[v].def, maxima.get(&v)) {
                (Some(def), _) => {
                    kept.extend(def.names());
                    rebuilt.push(v);
                }
                (None, Some(of)) if !in_types.contains(&v) => {
                    kept.extend(of.iter().filter_map(|a| a.var()));
                    rebuilt.push(v);
                }
                (None, of) => {
                    if let Some(array) = arrays.get(&v).filter(|array| !returned.contains(array)) {
                        returned.push(*array);
                    } else if of.is_some() {
                        let rhs = Rhs::Check(Check::NonNegative(Atom::Var(v)));
                        let loc = Loc::default().by(Origin::Forward);
                        checks.push(Stmt { nl: vec![], lin: vec![], rhs, annotated: false, loc });
                    }
                    kept.extend(nvars[v].ty.size_names());
                    in_types.extend(nvars[v].ty.size_names());
                    returned.push(v);
                }
            }
        }
        returned.reverse();
        rebuilt.reverse();
        let mut seen = HashSet::new();
        tangents.retain(|x| self.lin_born[*x] > opened && seen.insert(*x));
        let mut out = std::mem::take(&mut frame.out);
        let mut loc = Loc::default();
        // What regions inside have given back.
        let mut given: Vec<LVar> = Vec::new();
        for region in frame.regions.drain(first..).rev() {
            // What is from before this region is there outside of it. Returned it would be another name, and
            // its sizes as well; but the types of values keep the sizes that are in scope.
            let nl: Vec<NVar> =
                returned.iter().copied().filter(|v| self.born[*v] > region.opened).collect();
            let own = tangents.iter().copied().filter(|x| self.lin_born[*x] > region.opened);
            let mut lin: Vec<LVar> = own.chain(given.iter().copied()).collect();
            let results = nl.iter().map(|v| Atom::Var(*v)).collect();
            let body = Block { stmts: out, nl: results, lin: lin.clone() };
            let (mode, start) = (Mode::Rd, Some(Operand::L(region.init)));
            let end = frame.needs.of(region.var).times > 0;
            let rhs = jut_ir::Region { mode, cap: region.cap, start, end, body };
            if end {
                let data = self.builder.func.lvars[region.init].clone();
                let name = self.builder.namer.fresh(&data.name);
                let given_back = self.builder.func.lvars.push(LinVarData { name, ..data });
                self.handles[region.var] = Some(Handle::Val(given_back));
                given.push(given_back);
                lin.push(given_back);
            }
            out = region.before;
            loc = region.loc;
            let rhs = Rhs::Region(Box::new(rhs));
            out.push(Stmt { nl, lin, rhs, annotated: false, loc });
        }
        tangents.extend(given);
        out.extend(self.leaves(&returned, &rebuilt, &maxima, &tangents, opened, loc));
        out.extend(checks);
        self.frame.bound.extend(returned.into_iter().chain(rebuilt));
        self.frame.out = out;
    }

    /// The time at which a region is opened: later than all that was bound before it.
    pub fn open(&mut self) -> u32 {
        self.clock += 1;
        self.clock
    }

    /// How results leave a region that was opened at the given time. What is from before needs not leave it.
    pub fn exit(&mut self, nl: &[Atom], lin: &[LVar], opened: u32, loc: Loc) -> Exit {
        let results = || nl.iter().filter_map(|a| a.var());
        // Sizes first, so that they precede the types that mention them.
        let mut names: Vec<NVar> = Vec::new();
        for v in results().filter(|v| self.born[*v] > opened) {
            let data = &self.builder.func.nvars[v];
            match &data.def {
                Some(def) => names.extend(def.names()),
                None => names.extend(data.ty.size_names()),
            }
        }
        for x in lin {
            names.extend(self.builder.func.lvars[*x].ty.size_names());
        }
        names.retain(|v| !results().any(|result| result == *v));
        names.extend(results());
        let mut seen = HashSet::new();
        names.retain(|v| self.born[*v] > opened && seen.insert(*v));
        let mut seen = HashSet::new();
        let inside = |x: &&LVar| self.lin_born[**x] > opened && seen.insert(**x);
        let lin: Vec<LVar> = lin.iter().filter(inside).copied().collect();
        let transparent = |v: &NVar| self.builder.func.nvars[*v].def.is_some();
        let (rebuilt, returned): (Vec<NVar>, Vec<NVar>) = names.into_iter().partition(transparent);
        let after = self.leaves(&returned, &rebuilt, &HashMap::new(), &lin, opened, loc);
        Exit { returned, lin, after }
    }

    /// Names leave a region and are bound again: what is transparent, or a maximum, is computed once more, by the
    /// statements that this gives.
    fn leaves(
        &mut self,
        returned: &[NVar],
        rebuilt: &[NVar],
        maxima: &HashMap<NVar, Vec<Atom>>,
        lin: &[LVar],
        opened: u32,
        loc: Loc,
    ) -> Vec<Stmt> {
        self.rebound |= !(returned.is_empty() && rebuilt.is_empty() && lin.is_empty());
        let mut after = Vec::new();
        for v in rebuilt {
            if let Some(of) = maxima.get(v) {
                let rhs = Rhs::Prim(prim::IMAX, of.clone());
                after.push(Stmt { nl: vec![*v], lin: vec![], rhs, annotated: false, loc });
                continue;
            }
            let VarData { name, def, .. } = self.builder.func.nvars[*v].clone();
            let (func, namer) = (&mut self.builder.func, &mut self.builder.namer);
            sizes::compute_as(func, namer, &name, &def.unwrap_or_default(), loc, &mut after);
            if let Some(last) = after.last_mut() {
                last.nl = vec![*v];
            }
        }
        returned.iter().chain(rebuilt).for_each(|v| self.born[*v] = opened);
        lin.iter().for_each(|x| self.lin_born[*x] = opened);
        after
    }
}

/// The names in a step of a path.
fn step_names(step: &Step) -> Vec<NVar> {
    match step {
        Step::Index { index, .. } => index.var().into_iter().collect(),
        Step::Slice { lo, len, .. } => [lo, len].into_iter().filter_map(|a| a.var()).collect(),
        Step::Field(_) => Vec::new(),
    }
}

/// Where a step into an array begins.
fn first_index(step: &Step) -> Option<Atom> {
    match step {
        Step::Index { index: at, .. } | Step::Slice { lo: at, .. } => Some(*at),
        Step::Field(_) => None,
    }
}

/// How the results of a block leave a region, under the names that they have in it.
pub(super) struct Exit {
    returned: Vec<NVar>,
    lin: Vec<LVar>,
    /// Statements to follow the region: transparent sizes, once more.
    pub after: Vec<Stmt>,
}

impl Exit {
    /// The body of the region.
    pub fn block(&self, stmts: Vec<Stmt>) -> Block {
        let nl = self.returned.iter().map(|v| Atom::Var(*v)).collect();
        Block { stmts, nl, lin: self.lin.clone() }
    }

    /// The statement of the region.
    pub fn stmt(&self, rhs: Rhs, loc: Loc) -> Stmt {
        let (nl, lin) = (self.returned.clone(), self.lin.clone());
        Stmt { nl, lin, rhs, annotated: false, loc }
    }
}

//! Loops with a schedule that go along arrays and collect: what [`super::schedule`] and [`super::revolve`] are given carries a
//! state and nothing else.
//!
//! Such a loop becomes one of elements that are read and written by the index. Values that it collects are made before, by a run of its
//! own, so that what is run again collects nothing:
//!
//! ```text
//! (a, ys; a', ys') = @segment(k) scan up (i < n) carry (a = a0; a' = a0') slice (x <- xs; x' <- xs') { B; (a1, y; a1', y') }
//! ```
//! becomes
//! ```text
//! (a, ys) = f.part1.values(n, xs, a0)
//! z' = zero [n]f64
//! m' = -z'
//! (a', ys', rest') = lend r = xs' {
//!   (a', ys') = wr w: [n]f64 = m' {
//!     (_; a') = @segment(k) scan up (i < n) carry (a = a0; a' = a0') { x = xs[i]; x' = rd r[i]; B; w[i] += y'; (a1; a1') }
//!     (; a')
//!   }
//!   (; a', ys')
//! }
//! t' = -rest'
//! drop t'
//! ```
//!
//! A sum that starts from -0 is its only term, bit for bit: -0 + y is y. So the places give what stacks and slices would. `wr` does so
//! for what is collected; for what is sliced the start of the transposed sum is the cotangent of `rest'`, the negative of zero.
//! A slice of a place is an index more on each place in the body.
//!
//! What the loop adds to sums of outside is added by the run for its values; the other one adds to sums that nobody reads, and
//! prints nothing.
//!
//! *Requires*: a loop with a schedule, which carries something. *Ensures*: the same results, bit for bit, unless the body
//! calls what prints: such a loop stays as it is if it collects or may end early. *Cost*: linear in the body; one more run of the loop
//! if it collects values or may end early, and has segments.

use super::replay::Prepare;
use super::silent;
use jut_ir::entity::SecondaryMap;
use jut_ir::visit::Use;
use jut_ir::*;

/// A region round the loop, of which the body has the capability.
struct Around {
    mode: Mode,
    cap: Cap,
    /// The linear value at the start.
    start: Option<LVar>,
    /// What stands before it.
    before: Vec<Stmt>,
}

impl Prepare<'_> {
    /// The statements in the place of a loop with a schedule, whatever it goes along and collects.
    pub fn along(
        &mut self,
        stmt: Stmt,
        known: &[NVar],
        out: &mut Vec<Stmt>,
    ) -> Result<(), Diagnostic> {
        let Rhs::Scan(scan) = &stmt.rhs else { return Err(no_loop(stmt.loc)) };
        let early = scan.dir == Dir::While;
        let again = early || scan.body.nl.len() > scan.carry.len();
        if stmt.loc.tape == TapePolicy::Levels(1) || again && !self.values(&stmt, known, out)? {
            let loc = Loc { tape: TapePolicy::Free, ..stmt.loc };
            out.push(Stmt { loc, ..stmt });
            return Ok(());
        }
        let Stmt { nl, lin, rhs, annotated, loc } = stmt;
        let Rhs::Scan(mut scan) = rhs else { return Err(no_loop(loc)) };
        let (mut known, mut around, mut results) = (known.to_vec(), Vec::new(), nl);
        if again {
            if let (true, Some(trips)) = (early, results.first()) {
                (scan.dir, scan.bound) = (Dir::Up, Atom::Var(*trips));
                known.push(*trips);
            }
            scan.body.nl.truncate(scan.carry.len());
            silent::silence_own(&mut scan.body);
            self.sums_for_nobody(&mut scan, &mut around);
            results = scan.carry.iter().map(|(v, _)| self.like(*v)).collect();
        }
        let made = loc.by(Origin::Unzip);
        self.collected(&mut scan, &lin, made, &mut around);
        self.sliced(&mut scan, made, &mut around);
        if around.is_empty() {
            let stmt = Stmt { nl: results, lin, rhs: Rhs::Scan(scan), annotated, loc };
            return self.segments(stmt, again, &known, out);
        }

        // Nobody outside reads what a run for the values has given.
        let wanted = if again { Vec::new() } else { results.clone() };
        let mut inside: Vec<NVar> = results.iter().map(|v| self.like(*v)).collect();
        let carried = scan.lin_carry.iter().map(|(x, _)| *x).collect::<Vec<LVar>>();
        let mut tangents: Vec<LVar> = carried.into_iter().map(|x| self.like_linear(x)).collect();
        let (nl, rhs) = (inside.clone(), Rhs::Scan(scan));
        let loop_ = Stmt { nl, lin: tangents.clone(), rhs, annotated, loc };
        let mut stmts = Vec::new();
        self.segments(loop_, again, &known, &mut stmts)?;
        inside.truncate(wanted.len());
        for Around { mode, cap, start, before } in around {
            let values = inside.iter().copied().map(Atom::Var).collect();
            let body = Block { stmts, nl: values, lin: tangents.clone() };
            inside = inside.into_iter().map(|v| self.like(v)).collect();
            tangents = tangents.into_iter().map(|x| self.like_linear(x)).collect();
            let mut nl = inside.clone();
            let CapData { ty, span, .. } = self.builder.func.caps[cap].clone();
            match mode {
                Mode::Acc => nl.push(self.builder.nvar("t", ty, span)),
                Mode::Rd | Mode::Wr => tangents.push(self.builder.lvar("t'", ty, span)),
            }
            let start = start.map(Operand::L);
            let rhs = Rhs::Region(Box::new(Region { mode, cap, start, end: true, body }));
            stmts = before;
            let lin = tangents.clone();
            stmts.push(Stmt { nl, lin, rhs, annotated: false, loc: made });
        }
        // The outermost region binds what the text does; behind that is what is left of what was sliced.
        let left = tangents.split_off(lin.len());
        if let Some(outermost) = stmts.last_mut() {
            outermost.nl.splice(..wanted.len(), wanted);
            outermost.lin.splice(..lin.len(), lin);
        }
        for rest in left {
            let turned = self.like_linear(rest);
            stmts.push(linear(vec![turned], Rhs::LNeg(rest), made));
            stmts.push(linear(Vec::new(), Rhs::Drop(turned), made));
        }
        out.append(&mut stmts);
        Ok(())
    }

    /// Runs a loop for its values; whether that can be done: not if it calls what prints, which must print once.
    fn values(
        &mut self,
        stmt: &Stmt,
        known: &[NVar],
        out: &mut Vec<Stmt>,
    ) -> Result<bool, Diagnostic> {
        let loc = Loc { tape: TapePolicy::Free, ..stmt.loc };
        let whole = self.again(Stmt { loc, ..stmt.clone() }, known)?;
        let lost = || crate::internal(loc.span, "a loop that is run for its values has no halves");
        let Rhs::Call(call) = whole.rhs else { return Err(lost()) };
        let halves = self.derivatives.unzipped.get(&(call.func, self.policy)).ok_or_else(lost)?;
        let func = halves.nonlin;
        let program = &self.derivatives.program;
        if silent::calls_what_prints(program, &program.funcs[func].body) {
            return Ok(false);
        }
        let caps = &self.builder.func.caps;
        let adds = |place: &Option<Place>| {
            place.as_ref().is_none_or(|place| caps[place.root].mode == Mode::Acc)
        };
        let places = call.places.into_iter().filter(adds).collect();
        let rhs = Rhs::Call(Box::new(Call { func, args: call.args, lin_args: Vec::new(), places }));
        let (nl, loc) = (stmt.nl.clone(), loc.by(Origin::Unzip));
        out.push(Stmt { nl, lin: Vec::new(), rhs, annotated: false, loc });
        Ok(true)
    }

    /// What the loop adds to sums of outside goes to others.
    fn sums_for_nobody(&mut self, scan: &mut Scan, around: &mut Vec<Around>) {
        let func = &self.builder.func;
        let mut seen: SecondaryMap<Cap, bool> = SecondaryMap::new();
        scan.body.for_each_binder(&mut |binder| {
            if let Use::C(c) = binder {
                seen[c] = true;
            }
        });
        scan.cap_slices.iter().for_each(|(element, _)| seen[*element] = true);
        let mut sums = Vec::new();
        let mut add = |c: Cap| {
            if !std::mem::replace(&mut seen[c], true) && func.caps[c].mode == Mode::Acc {
                sums.push(c);
            }
        };
        scan.cap_slices.iter().for_each(|(_, place)| add(place.root));
        scan.body.for_each_use(func, &mut |name| {
            if let Use::C(c) = name {
                add(c);
            }
        });
        for from in sums {
            let CapData { name, mode, lanes, ty, span } = self.builder.func.caps[from].clone();
            let cap = self.builder.cap(&name, mode, lanes, ty, span);
            let to = Place::root(cap);
            each_place(&mut scan.body, &mut |place| reroot(place, from, &to));
            scan.cap_slices.iter_mut().for_each(|(_, place)| reroot(place, from, &to));
            around.push(Around { mode, cap, start: None, before: Vec::new() });
        }
    }

    /// Tangents that the loop collects are added to places; `lin` is what the loop binds.
    fn collected(&mut self, scan: &mut Scan, lin: &[LVar], loc: Loc, around: &mut Vec<Around>) {
        let carried = scan.lin_carry.len();
        let elements = scan.body.lin.split_off(carried.min(scan.body.lin.len()));
        for (element, stack) in elements.into_iter().zip(lin.iter().skip(carried)) {
            let LinVarData { name, ty, span } = self.builder.func.lvars[*stack].clone();
            let cap =
                self.builder.cap(name.trim_end_matches('\''), Mode::Wr, false, ty.clone(), span);
            let (zero, start) = (self.like_linear(*stack), self.like_linear(*stack));
            let before = vec![
                linear(vec![zero], Rhs::LZero(ty), loc),
                linear(vec![start], Rhs::LNeg(zero), loc),
            ];
            let rhs = Rhs::Inc(element_of(cap, scan.index), Operand::L(element));
            scan.body.stmts.push(linear(Vec::new(), rhs, loc));
            around.push(Around { mode: Mode::Wr, cap, start: Some(start), before });
        }
    }

    /// What the loop goes along is read by the index.
    fn sliced(&mut self, scan: &mut Scan, loc: Loc, around: &mut Vec<Around>) {
        for (element, place) in std::mem::take(&mut scan.cap_slices) {
            let to = place.then(at(scan.index));
            each_place(&mut scan.body, &mut |place| reroot(place, element, &to));
        }
        let mut first = Vec::new();
        for (element, array) in std::mem::take(&mut scan.slices) {
            let (nl, rhs) = (vec![element], Rhs::Index(array, vec![at(scan.index)]));
            first.push(Stmt { nl, lin: Vec::new(), rhs, annotated: false, loc });
        }
        for (element, array) in std::mem::take(&mut scan.lin_slices) {
            let LinVarData { name, ty, span } = self.builder.func.lvars[array].clone();
            let cap = self.builder.cap(name.trim_end_matches('\''), Mode::Rd, false, ty, span);
            first.push(linear(vec![element], Rhs::Rd(element_of(cap, scan.index)), loc));
            around.push(Around { mode: Mode::Rd, cap, start: Some(array), before: Vec::new() });
        }
        first.append(&mut scan.body.stmts);
        scan.body.stmts = first;
    }

    /// A new name for something of the same kind.
    pub(super) fn like(&mut self, v: NVar) -> NVar {
        let VarData { name, ty, span, .. } = self.builder.func.nvars[v].clone();
        self.builder.nvar(&name, ty, span)
    }

    pub(super) fn like_linear(&mut self, x: LVar) -> LVar {
        let LinVarData { name, ty, span } = self.builder.func.lvars[x].clone();
        self.builder.lvar(&name, ty, span)
    }
}

/// A schedule stands on a loop.
pub(super) fn no_loop(loc: Loc) -> Diagnostic {
    crate::internal(loc.span, "a statement with a schedule is no loop")
}

/// A statement of linear code.
fn linear(lin: Vec<LVar>, rhs: Rhs, loc: Loc) -> Stmt {
    Stmt { nl: Vec::new(), lin, rhs, annotated: false, loc }
}

/// The index of a loop that goes along an array, whose length is the number of iterations.
fn at(index: NVar) -> Step {
    Step::Index { index: Atom::Var(index), proved: true }
}

fn element_of(cap: Cap, index: NVar) -> Place {
    Place { root: cap, path: vec![at(index)] }
}

/// A place in one place is a place in the other.
fn reroot(place: &mut Place, from: Cap, to: &Place) {
    if place.root == from {
        let path = std::mem::take(&mut place.path);
        *place = Place { root: to.root, path: to.path.iter().cloned().chain(path).collect() };
    }
}

/// Every place that the statements of a block mention.
fn each_place(block: &mut Block, visit: &mut dyn FnMut(&mut Place)) {
    for stmt in &mut block.stmts {
        match &mut stmt.rhs {
            Rhs::Rd(place) | Rhs::Inc(place, _) => visit(place),
            Rhs::Call(call) => call.places.iter_mut().flatten().for_each(&mut *visit),
            Rhs::Scan(scan) => scan.cap_slices.iter_mut().for_each(|(_, place)| visit(place)),
            _ => {}
        }
        stmt.rhs.blocks_mut().into_iter().for_each(|inner| each_place(inner, visit));
    }
}

//! Counted loops and sums in the fixed order.
//!
//! A `for` tests its condition at the end: one test before the first iteration, one branch per
//! iteration. In a `for par` without inner loops, calls and allocations every access belongs to a
//! group that says to LLVM that iterations are independent, so that it may take several at once
//! without asking which buffers overlap. Those that are marked, because they call mathematical
//! functions of which there are vector forms, are taken eight iterations at a time here, in the parts
//! 1 to 3 below; those that sum in order, in [`crate::ordered`].
//!
//! A `lanes` loop keeps eight partial sums per sum, as a vector of eight. Iteration i, counted from
//! the first, belongs to lane i mod 8, and blocks of 1024 iterations are summed in order. Three parts
//! stand inside the loop over blocks:
//!
//! 1. if [it is marked](crate::vector), a main loop of eight iterations at a time;
//! 2. if the mark says so, what is left as eight iterations of
//!    which only the first ones count;
//! 3. a loop over what is left (all of it, if the body does not allow more), whose lanes are in
//!    memory: a load, the body, a store;
//! 4. the tree: lane k plus lane k + 4, k plus k + 2, k plus k + 1, and the sum plus that.

use crate::failing::USUALLY;
use crate::function::{Result, Translator, phi, scalar};
use crate::text::{Label, Operand, Scalar, Type};
use crate::vector::Plan;
use jut_loop::form::{Atom, BLOCK, Block, For, LANES, Lanes, Order, Site, Stmt};
use jut_loop::poll::rounds;

/// The iterations of a block, from its begin to its end; given what is carried, gives the same after it.
type OfBlock<'l, T> = &'l mut dyn FnMut(&mut T, [Operand; 2], &[Operand]) -> Result<Vec<Operand>>;

/// How a part of a block is entered: from where, at which index, with which lanes.
type Entered = (Label, Operand, Vec<Operand>);

/// The parts of a block after the main loop, and how each is entered.
struct Parts {
    /// Fewer than eight iterations at once, if the machine can do that.
    tail: Option<(Label, Vec<Entered>)>,
    /// One iteration at a time.
    rest: (Label, Vec<Entered>),
    /// The end of the block: from where, with which lanes.
    combine: (Label, Vec<(Label, Vec<Operand>)>),
}

impl Parts {
    /// Where less than eight iterations go.
    fn short(&mut self) -> &mut (Label, Vec<Entered>) {
        self.tail.as_mut().unwrap_or(&mut self.rest)
    }
}

/// Memory of eight floats, used again by loops of the same depth.
#[derive(Default)]
pub(crate) struct LaneSlots {
    depth: usize,
    by_depth: Vec<Vec<Operand>>,
}

/// The index type.
pub(crate) const INT: Type = Type { scalar: Scalar::I64, wide: false };
pub(crate) const FLOAT: Type = Type { scalar: Scalar::F64, wide: false };
/// Eight floats.
pub(crate) const LANE: Type = Type { scalar: Scalar::F64, wide: true };

impl Translator<'_> {
    pub(crate) fn for_loop(&mut self, source: &For) -> Result<()> {
        let (low, high) = (self.atom(source.low)?, self.atom(source.high)?);
        let mut initial = Vec::with_capacity(source.carry.len());
        for (_, atom) in &source.carry {
            initial.push(self.atom(*atom)?);
        }
        let results = match rounds(&source.body) {
            None => self.iterations(source, [low, high], &initial)?,
            Some((every, site, body)) => {
                let (dst, carry) = (source.dst.clone(), source.carry.clone());
                let bare = For { dst, carry, body, ..*source };
                self.for_rounds(&bare, (every, site), [low, high], &initial)?
            }
        };
        for (value, result) in source.dst.iter().zip(results) {
            self.bind(*value, result);
        }
        Ok(())
    }

    /// A loop that asks between rounds of so many iterations if the call is cancelled; gives its
    /// results.
    fn for_rounds(
        &mut self,
        source: &For,
        (every, site): (u32, Site),
        [low, high]: [Operand; 2],
        initial: &[Operand],
    ) -> Result<Vec<Operand>> {
        let down = source.order == Order::Down;
        let (first, last) = if down { (high, low) } else { (low, high) };
        let before = self.body.current();
        let [start, round] = [self.body.label(), self.body.label()];
        let [asking, done] = [self.body.label(), self.body.label()];
        let any = self.body.value(format_args!("icmp slt i64 {}, {}", low.of(INT), high.of(INT)));
        let any = self.and_goes_on(source, any, initial).of(Scalar::Bool.one());
        self.body.line(format_args!("br i1 {any}, label %{start}, label %{done}"));

        self.body.begin(start);
        self.body.jump(round);

        self.body.begin(round);
        let hole = self.body.hole();
        let at = self.body.temp();
        let types: Vec<_> =
            source.carry.iter().map(|(value, _)| scalar(self.kind(*value)).one()).collect();
        let carried: Vec<Operand> = types.iter().map(|_| self.body.temp()).collect();
        let (at_shown, last_shown) = (at.of(INT).to_string(), last.of(INT).to_string());
        // The distance as an unsigned number is always right.
        let left = match down {
            true => self.body.value(format_args!("sub i64 {at_shown}, {last_shown}")),
            false => self.body.value(format_args!("sub i64 {last_shown}, {at_shown}")),
        };
        let left = left.of(INT);
        let taken =
            self.body.value(format_args!("call i64 @llvm.umin.i64(i64 {left}, i64 {every})"));
        let taken = taken.of(INT);
        let next = match down {
            true => self.body.value(format_args!("sub nsw i64 {at_shown}, {taken}")),
            false => self.body.value(format_args!("add nsw i64 {at_shown}, {taken}")),
        };
        let range = if down { [next, at] } else { [at, next] };
        let results = self.iterations(source, range, &carried)?;
        let more = self.body.value(format_args!("icmp ne i64 {}, {last_shown}", next.of(INT)));
        let more = self.and_goes_on(source, more, &results);
        let (turn, more) = (self.body.current(), more.of(Scalar::Bool.one()));
        self.body.line(format_args!("br i1 {more}, label %{asking}, label %{done}"));

        self.body.begin(asking);
        self.poll(site)?;
        let latch = self.body.current();
        self.body.jump(round);
        let mut fill = |value: Operand, ty, first: Operand, next: Operand| {
            let line = phi(ty, &[(first, start), (next, latch)]);
            self.body.fill(&hole, format_args!("{} = {line}", value.of(ty)));
        };
        fill(at, INT, first, next);
        for (k, ty) in types.iter().enumerate() {
            fill(carried[k], *ty, initial[k], results[k]);
        }

        self.body.begin(done);
        let ends = types.iter().zip(initial).zip(results);
        let ends = ends.map(|((ty, first), result)| phi(*ty, &[(*first, before), (result, turn)]));
        let ends: Vec<String> = ends.collect();
        Ok(ends.into_iter().map(|end| self.body.value(end)).collect())
    }

    /// The iterations from `low` to `high`; gives what they carry at the end.
    pub(crate) fn iterations(
        &mut self,
        source: &For,
        [low, high]: [Operand; 2],
        initial: &[Operand],
    ) -> Result<Vec<Operand>> {
        if source.vector.is_some() && (source.order == Order::Down || !initial.is_empty()) {
            return self.sums_of_eights(source, [low, high], initial);
        }
        if self.for_eights(source, low, high)? {
            return Ok(Vec::new());
        }
        let outside = self.group;
        let independent = source.order == Order::Par && is_simple(&source.body);
        let group = independent.then(|| self.imports.metadata("distinct !{}"));
        let before = self.body.current();
        let [start, body, done] = [self.body.label(), self.body.label(), self.body.label()];
        let (low_shown, high_shown) = (low.of(INT).to_string(), high.of(INT).to_string());
        let any = self.body.value(format_args!("icmp slt i64 {low_shown}, {high_shown}"));
        let any = self.and_goes_on(source, any, initial).of(Scalar::Bool.one());
        self.body.line(format_args!("br i1 {any}, label %{start}, label %{done}"));

        self.body.begin(start);
        let down = source.order == Order::Down;
        let first = match down {
            true => self.body.value(format_args!("add nsw i64 {high_shown}, -1")),
            false => low,
        };
        self.body.jump(body);

        self.body.begin(body);
        let hole = self.body.hole();
        let index = self.body.temp();
        self.bind(source.index, index);
        let mut carried = Vec::new();
        for (value, _) in &source.carry {
            let temp = self.body.temp();
            carried.push((temp, scalar(self.kind(*value)).one()));
            self.bind(*value, temp);
        }
        self.group = group;
        let next = self.block(&source.body);
        self.group = outside;
        let next = next?;
        if next.len() != source.carry.len() || next.len() != source.dst.len() {
            return Err("a loop carries another number of values".to_owned());
        }
        let shown = index.of(INT).to_string();
        let (more, following) = match down {
            true => {
                let more = self.body.value(format_args!("icmp sgt i64 {shown}, {low_shown}"));
                (more, self.body.value(format_args!("add nsw i64 {shown}, -1")))
            }
            false => {
                let following = self.body.value(format_args!("add nsw i64 {shown}, 1"));
                let next = following.of(INT);
                let more = self.body.value(format_args!("icmp slt i64 {next}, {high_shown}"));
                (more, following)
            }
        };
        let more = self.and_goes_on(source, more, &next);
        let (latch, more) = (self.body.current(), more.of(Scalar::Bool.one()));
        let name = match group.map(|group| self.facts(group)) {
            Some(name) => format!(", !llvm.loop !{name}"),
            None => String::new(),
        };
        self.body.line(format_args!("br i1 {more}, label %{body}, label %{done}{name}"));
        let line = |value: Operand, ty, incoming: &[(Operand, Label)]| {
            format!("{} = {}", value.of(ty), phi(ty, incoming))
        };
        let index_line = line(index, INT, &[(first, start), (following, latch)]);
        self.body.fill(&hole, index_line);
        for (k, (temp, ty)) in carried.iter().enumerate() {
            let carry_line = line(*temp, *ty, &[(initial[k], start), (next[k], latch)]);
            self.body.fill(&hole, carry_line);
        }

        self.body.begin(done);
        let mut results = Vec::with_capacity(next.len());
        for (k, (_, ty)) in carried.iter().enumerate() {
            results.push(self.body.value(phi(*ty, &[(initial[k], before), (next[k], latch)])));
        }
        Ok(results)
    }

    /// Whether there is another iteration: of a loop that may end early, only if the first of what it
    /// carries says so, too.
    fn and_goes_on(&mut self, source: &For, more: Operand, carried: &[Operand]) -> Operand {
        let ty = Scalar::Bool.one();
        match carried.first() {
            Some(go) if source.may_end_early() => {
                let line = format!("and i1 {}, {}", more.of(ty), go.of(ty));
                self.body.value(line)
            }
            _ => more,
        }
    }

    /// Writes a loop eight iterations at a time, if it says so.
    fn for_eights(&mut self, source: &For, low: Operand, high: Operand) -> Result<bool> {
        let Some(vector) = source.vector else { return Ok(false) };
        let eights = Lanes {
            dst: Vec::new(),
            vector: Some(vector),
            index: source.index,
            low: source.low,
            high: source.high,
            carry: Vec::new(),
            body: source.body.clone(),
        };
        let outside = self.group.take();
        let [start, done] = [self.body.label(), self.body.label()];
        let any = format_args!("icmp slt i64 {}, {}", low.of(INT), high.of(INT));
        let any = self.body.value(any).of(Scalar::Bool.one());
        self.body.line(format_args!("br i1 {any}, label %{start}, label %{done}"));
        self.body.begin(start);
        self.block_of_eights(&eights, low, high, &[])?;
        self.body.jump(done);
        self.body.begin(done);
        self.group = outside;
        Ok(true)
    }

    /// What LLVM is told of a loop whose iterations are independent.
    fn facts(&mut self, group: u32) -> u32 {
        let fact = format!("!{{!\"llvm.loop.parallel_accesses\", !{group}}}");
        let fact = self.imports.metadata(&fact);
        let this = self.imports.next_metadata();
        self.imports.metadata(&format!("distinct !{{!{this}, !{fact}}}"))
    }

    pub(crate) fn lanes_loop(&mut self, source: &Lanes) -> Result<()> {
        let Some((_, site, body)) = rounds(&source.body) else {
            return self.lanes_rounds(source, None);
        };
        let (dst, carry) = (source.dst.clone(), source.carry.clone());
        self.lanes_rounds(&Lanes { dst, carry, body, ..*source }, Some(site))
    }

    /// A loop of sums, which may ask between its blocks if the call is cancelled.
    fn lanes_rounds(&mut self, source: &Lanes, poll: Option<Site>) -> Result<()> {
        let sums = source.dst.len();
        if source.carry.len() != sums || source.body.results.len() != sums {
            return Err("a lanes loop has another number of sums".to_owned());
        }
        let slots = self.lane_slots(sums);
        let outside = self.group.take();
        let (bounds, zeros) = ([source.low, source.high], vec![Operand::ZERO; sums]);
        let ends =
            self.in_blocks(bounds, (FLOAT, &zeros), poll, &mut |this, [from, end], totals| {
                let lanes = this.block_of_eights(source, from, end, &slots)?;
                let mut next = Vec::with_capacity(sums);
                for (sum, lanes) in totals.iter().zip(lanes) {
                    let lane = this.tree(lanes).of(FLOAT);
                    next.push(
                        this.body.value(format_args!("fadd double {}, {lane}", sum.of(FLOAT))),
                    );
                }
                Ok(next)
            })?;
        for (value, end) in source.dst.iter().zip(ends) {
            self.bind(*value, end);
        }
        self.group = outside;
        Ok(())
    }

    /// Iterations in blocks, between which the call may be cancelled, with numbers of a type that each block is given; gives what is
    /// carried at the end.
    pub(crate) fn in_blocks(
        &mut self,
        [low, high]: [Atom; 2],
        (ty, initial): (Type, &[Operand]),
        poll: Option<Site>,
        block: OfBlock<'_, Self>,
    ) -> Result<Vec<Operand>> {
        let (low, high) = (self.atom(low)?, self.atom(high)?);
        let bool = Scalar::Bool.one();
        let before = self.body.current();
        let [start, outer, done] = [self.body.label(), self.body.label(), self.body.label()];
        let (low_shown, high_shown) = (low.of(INT).to_string(), high.of(INT).to_string());
        let any = self.body.value(format_args!("icmp slt i64 {low_shown}, {high_shown}"));
        self.body.line(format_args!("br i1 {}, label %{start}, label %{done}", any.of(bool)));

        self.body.begin(start);
        // The distance from low to high as an unsigned number is always right.
        let total = self.body.value(format_args!("sub i64 {high_shown}, {low_shown}"));
        self.body.jump(outer);

        self.body.begin(outer);
        let hole = self.body.hole();
        let [from, left] = [self.body.temp(), self.body.temp()];
        let carried: Vec<Operand> = initial.iter().map(|_| self.body.temp()).collect();
        let left_shown = left.of(INT).to_string();
        let taken =
            self.body.value(format_args!("call i64 @llvm.umin.i64(i64 {left_shown}, i64 {BLOCK})"));
        let taken = taken.of(INT).to_string();
        let end = self.body.value(format_args!("add nsw i64 {}, {taken}", from.of(INT)));
        let next = block(self, [from, end], &carried)?;
        let rest = self.body.value(format_args!("sub i64 {left_shown}, {taken}"));
        let more = self.body.value(format_args!("icmp ne i64 {}, 0", rest.of(INT))).of(bool);
        let more = more.to_string();
        let turn = self.body.current();
        let mut latch = turn;
        match poll {
            None => self.body.line(format_args!("br i1 {more}, label %{outer}, label %{done}")),
            Some(site) => {
                let asking = self.body.label();
                self.body.line(format_args!("br i1 {more}, label %{asking}, label %{done}"));
                self.body.begin(asking);
                self.poll(site)?;
                latch = self.body.current();
                self.body.jump(outer);
            }
        }
        let mut fill = |value: Operand, ty, first: Operand, next: Operand| {
            let line = phi(ty, &[(first, start), (next, latch)]);
            self.body.fill(&hole, format_args!("{} = {line}", value.of(ty)));
        };
        fill(from, INT, low, end);
        fill(left, INT, total, rest);
        for ((value, first), next) in carried.iter().zip(initial).zip(&next) {
            fill(*value, ty, *first, *next);
        }

        self.body.begin(done);
        let ends = initial.iter().zip(&next);
        let ends = ends.map(|(first, next)| phi(ty, &[(*first, before), (*next, turn)]));
        let ends: Vec<String> = ends.collect();
        Ok(ends.into_iter().map(|end| self.body.value(end)).collect())
    }

    /// The iterations from `from` to `end`, which are at least one, as the loop says; gives the lanes
    /// of each sum.
    fn block_of_eights(
        &mut self,
        source: &Lanes,
        from: Operand,
        end: Operand,
        slots: &[Operand],
    ) -> Result<Vec<Operand>> {
        let zeros = vec![Operand::ZERO; slots.len()];
        let tail = source.vector.is_some_and(|vector| vector.masked);
        let mut parts = Parts {
            tail: tail.then(|| (self.body.label(), Vec::new())),
            rest: (self.body.label(), Vec::new()),
            combine: (self.body.label(), Vec::new()),
        };
        match source.vector {
            None => {
                parts.rest.1.push((self.body.current(), from, zeros));
                self.body.jump(parts.rest.0);
            }
            Some(_) => {
                let mut plan = Plan::of(source);
                self.main_loop(source, &mut plan, [from, end], zeros, &mut parts)?;
                if let Some((label, entered)) = parts.tail.take() {
                    self.body.begin(label);
                    let (start, starts) = self.enter(&entered, slots.len());
                    self.tail(source, &mut plan, start, end, &starts, &mut parts)?;
                }
            }
        }
        let Parts { rest, combine: (combine, mut complete), .. } = parts;
        // Nothing goes there from a main loop and tail without checks.
        if !rest.1.is_empty() {
            self.body.begin(rest.0);
            let (start, starts) = self.enter(&rest.1, slots.len());
            for (slot, lanes) in slots.iter().zip(starts) {
                let (slot, lanes) = (slot.of(Scalar::Ptr.one()), lanes.of(LANE));
                self.body.line(format_args!("store {LANE} {lanes}, ptr {slot}, align 64"));
            }
            complete.push(self.rest_loop(source, start, end, slots)?);
            self.body.jump(combine);
        }

        self.body.begin(combine);
        let mut lanes = Vec::with_capacity(slots.len());
        for k in 0..slots.len() {
            let incoming: Vec<_> = complete.iter().map(|(label, all)| (all[k], *label)).collect();
            lanes.push(self.body.value(phi(LANE, &incoming)));
        }
        Ok(lanes)
    }

    /// The index and the lanes with which a part is entered.
    fn enter(&mut self, entered: &[Entered], sums: usize) -> (Operand, Vec<Operand>) {
        let incoming: Vec<_> = entered.iter().map(|(label, index, _)| (*index, *label)).collect();
        let start = self.body.value(phi(INT, &incoming));
        let mut lanes = Vec::with_capacity(sums);
        for k in 0..sums {
            let incoming: Vec<_> =
                entered.iter().map(|(label, _, lanes)| (lanes[k], *label)).collect();
            lanes.push(self.body.value(phi(LANE, &incoming)));
        }
        (start, lanes)
    }

    /// Eight iterations at a time, of those from `from` to `end` that make whole eights.
    fn main_loop(
        &mut self,
        source: &Lanes,
        plan: &mut Plan,
        [from, end]: [Operand; 2],
        zeros: Vec<Operand>,
        parts: &mut Parts,
    ) -> Result<()> {
        let (from_shown, end_shown) = (from.of(INT).to_string(), end.of(INT).to_string());
        let [main, after] = [self.body.label(), self.body.label()];
        let count = self.body.value(format_args!("sub i64 {end_shown}, {from_shown}")).of(INT);
        let whole = self.body.value(format_args!("and i64 {count}, -{LANES}")).of(INT).to_string();
        let until = self.body.value(format_args!("add nsw i64 {from_shown}, {whole}"));
        let any = self.body.value(format_args!("icmp ne i64 {whole}, 0"));
        let (before, any) = (self.body.current(), any.of(Scalar::Bool.one()));
        let short = parts.short();
        self.body.line(format_args!("br i1 {any}, label %{main}, label %{}", short.0));
        short.1.push((before, from, zeros.clone()));

        self.body.begin(main);
        let hole = self.body.hole();
        let index = self.body.temp();
        self.bind(source.index, index);
        let lanes: Vec<Operand> = zeros.iter().map(|_| self.body.temp()).collect();
        let results = self.eight_checked(plan, source, index, &lanes, &mut parts.rest)?;
        let shown = index.of(INT).to_string();
        let next = self.body.value(format_args!("add nsw i64 {shown}, {LANES}"));
        let more =
            self.body.value(format_args!("icmp slt i64 {}, {}", next.of(INT), until.of(INT)));
        let (latch, more) = (self.body.current(), more.of(Scalar::Bool.one()));
        self.body.line(format_args!("br i1 {more}, label %{main}, label %{after}"));
        let line = phi(INT, &[(from, before), (next, latch)]);
        self.body.fill(&hole, format_args!("{shown} = {line}"));
        for (lane, result) in lanes.iter().zip(&results) {
            let line = phi(LANE, &[(Operand::ZERO, before), (*result, latch)]);
            self.body.fill(&hole, format_args!("{} = {line}", lane.of(LANE)));
        }

        self.body.begin(after);
        let exact = self.body.value(format_args!("icmp eq i64 {}, {end_shown}", until.of(INT)));
        let exact = exact.of(Scalar::Bool.one());
        let combine = parts.combine.0;
        let short = parts.short();
        self.body.line(format_args!("br i1 {exact}, label %{combine}, label %{}", short.0));
        short.1.push((after, until, results.clone()));
        parts.combine.1.push((after, results));
        Ok(())
    }

    /// Eight iterations; where a check does not hold for all, the loop over single ones begins with
    /// the first of them.
    fn eight_checked(
        &mut self,
        plan: &mut Plan,
        source: &Lanes,
        index: Operand,
        lanes: &[Operand],
        rest: &mut (Label, Vec<Entered>),
    ) -> Result<Vec<Operand>> {
        let (rest, entered) = (rest.0, &mut rest.1);
        self.eight(plan, source, lanes, &mut |this, holds| {
            let ok = this.body.label();
            let holds = holds.of(Scalar::Bool.one());
            this.body.line(format_args!("br i1 {holds}, label %{ok}, label %{rest}, {USUALLY}"));
            entered.push((this.body.current(), index, lanes.to_vec()));
            this.body.begin(ok);
        })
    }

    /// The iterations from `start` to `end`, which are fewer than eight, in the first lanes of a
    /// vector of eight; the other lanes stay as they are.
    fn tail(
        &mut self,
        source: &Lanes,
        plan: &mut Plan,
        start: Operand,
        end: Operand,
        starts: &[Operand],
        parts: &mut Parts,
    ) -> Result<()> {
        let left = self.body.value(format_args!("sub i64 {}, {}", end.of(INT), start.of(INT)));
        plan.count_first(&mut self.body, left);
        self.bind(source.index, start);
        let results = self.eight_checked(plan, source, start, starts, &mut parts.rest)?;
        let mut lanes = Vec::with_capacity(starts.len());
        for (before, after) in starts.iter().zip(results) {
            lanes.push(plan.counted(&mut self.body, LANE, after.of(LANE), before.of(LANE)));
        }
        parts.combine.1.push((self.body.current(), lanes));
        self.body.jump(parts.combine.0);
        Ok(())
    }

    /// One iteration at a time, at least one, whose lanes are in memory; gives them, and the block
    /// that is left.
    fn rest_loop(
        &mut self,
        source: &Lanes,
        from: Operand,
        end: Operand,
        slots: &[Operand],
    ) -> Result<(Label, Vec<Operand>)> {
        let ptr = Scalar::Ptr.one();
        let from_shown = from.of(INT).to_string();
        let before = self.body.current();
        let [body, after] = [self.body.label(), self.body.label()];
        self.body.jump(body);

        self.body.begin(body);
        let hole = self.body.hole();
        let index = self.body.temp();
        self.bind(source.index, index);
        let shown = index.of(INT).to_string();
        // The first one belongs to lane 0: what came before it were whole eights.
        let lane = self.body.value(format_args!("sub i64 {shown}, {from_shown}")).of(INT);
        let lane = self.body.value(format_args!("and i64 {lane}, {}", LANES - 1)).of(INT);
        let mut places = Vec::new();
        for (slot, carry) in slots.iter().zip(&source.carry) {
            let slot = slot.of(ptr);
            let line = format_args!("getelementptr inbounds nuw double, ptr {slot}, i64 {lane}");
            let place = self.body.value(line).of(ptr).to_string();
            let value = self.body.value(format_args!("load double, ptr {place}, align 8"));
            self.bind(*carry, value);
            places.push(place);
        }
        self.lanes.depth += 1;
        let results = self.block(&source.body);
        self.lanes.depth -= 1;
        for (place, result) in places.iter().zip(results?) {
            let result = result.of(FLOAT);
            self.body.line(format_args!("store double {result}, ptr {place}, align 8"));
        }
        let next = self.body.value(format_args!("add nsw i64 {shown}, 1"));
        let more = self.body.value(format_args!("icmp slt i64 {}, {}", next.of(INT), end.of(INT)));
        let (latch, more) = (self.body.current(), more.of(Scalar::Bool.one()));
        self.body.line(format_args!("br i1 {more}, label %{body}, label %{after}"));
        let line = phi(INT, &[(from, before), (next, latch)]);
        self.body.fill(&hole, format_args!("{shown} = {line}"));

        self.body.begin(after);
        let mut lanes = Vec::with_capacity(slots.len());
        for slot in slots {
            let slot = slot.of(ptr);
            lanes.push(self.body.value(format_args!("load {LANE}, ptr {slot}, align 64")));
        }
        Ok((after, lanes))
    }

    /// The lanes of one sum, added in the fixed tree.
    fn tree(&mut self, lanes: Operand) -> Operand {
        let mut width = LANES;
        let mut all = lanes.of(LANE).to_string();
        while let half @ 1.. = width / 2 {
            let numbers = |from: usize| {
                let list: Vec<String> = (from..from + half).map(|k| format!("i32 {k}")).collect();
                format!("<{half} x i32> <{}>", list.join(", "))
            };
            let ty = format!("<{width} x double>");
            let [low, high] = [numbers(0), numbers(half)].map(|mask| {
                let line = format_args!("shufflevector {ty} {all}, {ty} poison, {mask}");
                self.body.value(line).of(LANE).to_string()
            });
            all = self
                .body
                .value(format_args!("fadd <{half} x double> {low}, {high}"))
                .of(LANE)
                .to_string();
            width = half;
        }
        self.body.value(format_args!("extractelement <1 x double> {all}, i64 0"))
    }

    /// Memory for each sum's lanes, for the loops of the current depth.
    fn lane_slots(&mut self, sums: usize) -> Vec<Operand> {
        let depth = self.lanes.depth;
        if self.lanes.by_depth.len() <= depth {
            self.lanes.by_depth.resize(depth + 1, Vec::new());
        }
        while self.lanes.by_depth[depth].len() < sums {
            let slot = self.body.alloca(&LANE.to_string(), 64);
            self.lanes.by_depth[depth].push(slot);
        }
        self.lanes.by_depth[depth][..sums].to_vec()
    }
}

/// Whether LLVM may take several iterations of a loop with this body at once: no inner loops, no
/// calls, no memory that each iteration allocates.
fn is_simple(body: &Block) -> bool {
    body.stmts.iter().all(|stmt| match stmt {
        Stmt::If { then, other, .. } => is_simple(then) && is_simple(other),
        Stmt::Prim { .. }
        | Stmt::Copy { .. }
        | Stmt::Load { .. }
        | Stmt::Store { .. }
        | Stmt::Offset { .. }
        | Stmt::Check { .. } => true,
        _ => false,
    })
}

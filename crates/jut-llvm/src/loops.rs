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
//!
//! Before all of that it is asked whether there are eight terms at most, if they are cheap: these are part 2 and the tree without any loop. Sums over
//! coordinates, of three or four terms, stand in loops over points, and cost less than finding out that there is no main loop.

use crate::function::{Result, Translator};
use crate::text::{BOOL, EIGHT, FLOAT, INT, LANE, Label, Looping, Operand, Type, scalar};
use crate::vector::EightPlan;
use jut_ir::prim::Lowering;
use jut_loop::form::{Atom, BLOCK, Block, For, LANES, Lanes, Order, Site, Stmt};

use jut_loop::poll::rounds;
use std::iter::once;

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
        let [start, round, asking, done] = self.body.labels();
        let any = self.body.int("icmp slt", low, high);
        let any = self.and_goes_on(source, any, initial);
        self.body.branch(any, start, done);

        self.body.begin(start);
        self.body.jump(round);

        let types = self.carried_types(source);
        let firsts = types.iter().copied().zip(initial.iter().copied());
        let looping = self.body.begin_loop(round, (first, start), firsts);
        let at = looping.index;
        // The distance as an unsigned number is always right.
        let left = if down { [at, last] } else { [last, at] };
        let left = self.body.int("sub", left[0], left[1]);
        let taken = self.body.smaller(left, every.into());
        let next = self.body.int(if down { "sub nsw" } else { "add nsw" }, at, taken);
        let range = if down { [next, at] } else { [at, next] };
        let results = self.iterations(source, range, &looping.carried())?;
        let more = self.body.int("icmp ne", next, last);
        let more = self.and_goes_on(source, more, &results);
        let turn = self.body.current();
        self.body.branch(more, asking, done);

        self.body.begin(asking);
        self.poll(site)?;
        let latch = self.body.current();
        self.body.jump(round);
        self.body.end_loop(looping, (next, latch), &results);

        self.body.begin(done);
        Ok(self.either(&types, (initial, before), (&results, turn)))
    }

    /// The types of what a loop carries.
    fn carried_types(&self, source: &For) -> Vec<Type> {
        source.carry.iter().map(|(value, _)| scalar(self.kind(*value)).one()).collect()
    }

    /// Values that are what they were before, or what they have become.
    pub(crate) fn either(
        &mut self,
        types: &[Type],
        (first, before): (&[Operand], Label),
        (next, after): (&[Operand], Label),
    ) -> Vec<Operand> {
        let all = types.iter().zip(first).zip(next);
        all.map(|((ty, first), next)| self.body.join(*ty, &[(*first, before), (*next, after)]))
            .collect()
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
        let [start, body, done] = self.body.labels();
        let any = self.body.int("icmp slt", low, high);
        let any = self.and_goes_on(source, any, initial);
        self.body.branch(any, start, done);

        self.body.begin(start);
        let down = source.order == Order::Down;
        let first = if down { self.body.int("add nsw", high, -1) } else { low };
        self.body.jump(body);

        let types = self.carried_types(source);
        let firsts = types.iter().copied().zip(initial.iter().copied());
        let looping = self.body.begin_loop(body, (first, start), firsts);
        let index = looping.index;
        self.bind(source.index, index);
        for ((value, _), carried) in source.carry.iter().zip(looping.carried()) {
            self.bind(*value, carried);
        }
        self.group = group;
        let next = self.block(&source.body);
        self.group = outside;
        let next = next?;
        if next.len() != source.carry.len() || next.len() != source.dst.len() {
            return Err("a loop carries another number of values".to_owned());
        }
        let (more, following) = match down {
            true => {
                let more = self.body.int("icmp sgt", index, low);
                (more, self.body.int("add nsw", index, -1))
            }
            false => {
                let following = self.body.int("add nsw", index, 1);
                (self.body.int("icmp slt", following, high), following)
            }
        };
        let more = self.and_goes_on(source, more, &next);
        let latch = self.body.current();
        let name = match group.map(|group| self.facts(group)) {
            Some(name) => format!(", !llvm.loop !{name}"),
            None => String::new(),
        };
        self.body.line(format_args!("br i1 {more}, label %{body}, label %{done}{name}"));
        self.body.end_loop(looping, (following, latch), &next);

        self.body.begin(done);
        Ok(self.either(&types, (initial, before), (&next, latch)))
    }

    /// Whether there is another iteration: of a loop that may end early, only if the first of what it
    /// carries says so, too. LLVM does not see what that is made of: where a body ends the loop in its last iteration,
    /// `if k + 1 == n || small { go = false }`, it took the one for the other, and then the limit out of the loop
    /// (LLVM 22, `indvars`), which went on behind its last iteration.
    fn and_goes_on(&mut self, source: &For, more: Operand, carried: &[Operand]) -> Operand {
        match carried.first() {
            Some(go) if source.may_end_early() => {
                let go = self.body.value(format_args!("zext i1 {go} to i64"));
                let go = self.body.value(format_args!("call i64 asm \"\", \"=r,0\"(i64 {go})"));
                let go = self.body.int("icmp ne", go, 0);
                self.body.two("and", BOOL, more, go)
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
        let [start, done] = self.body.labels();
        let any = self.body.int("icmp slt", low, high);
        self.body.branch(any, start, done);
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
        let outside = self.group.take();
        self.begin_before(&source.body)?;
        let ends = match is_often_short(source) {
            true => self.short_or_long(source, poll)?,
            false => self.long_sums(source, poll)?,
        };
        for (value, end) in source.dst.iter().zip(ends) {
            self.bind(*value, end);
        }
        self.group = outside;
        Ok(())
    }

    /// Sums that may be of eight terms at most: these are taken at once, without any loop. Where a check does not hold for all of them nothing has happened, and
    /// the loop begins.
    fn short_or_long(&mut self, source: &Lanes, poll: Option<Site>) -> Result<Vec<Operand>> {
        let (low, high) = (self.atom(source.low)?, self.atom(source.high)?);
        let [short, long, done] = self.body.labels();
        // The distance from low to high as an unsigned number is always right, and a large one if there are no terms.
        let count = self.body.int("sub", high, low);
        let few = self.body.int("icmp ule", count, EIGHT);
        self.body.branch(few, short, long);

        self.body.begin(short);
        let mut plan = EightPlan::of(source);
        plan.count_first(&mut self.body, count);
        // A name of its own: a number that is written down is the same for all.
        let first = self.body.int("add", low, 0);
        self.bind(source.index, first);
        let zeros = vec![Operand::ZERO; source.carry.len()];
        let lanes = self.eight(&mut plan, source, &zeros, &mut |this, holds| {
            let ok = this.body.label();
            this.body.branch_usually(holds, ok, long);
            this.body.begin(ok);
        })?;
        let mut of_few = Vec::with_capacity(lanes.len());
        for lanes in lanes {
            let lanes = plan.counted(&mut self.body, LANE, lanes, Operand::ZERO);
            let all = self.tree(lanes);
            of_few.push(self.body.two("fadd", FLOAT, Operand::ZERO, all));
        }
        let after_short = self.body.current();
        self.body.jump(done);

        self.body.begin(long);
        let of_many = self.long_sums(source, poll)?;
        let after_long = self.body.current();
        self.body.jump(done);

        self.body.begin(done);
        let types = vec![FLOAT; of_few.len()];
        Ok(self.either(&types, (&of_few, after_short), (&of_many, after_long)))
    }

    /// Sums in blocks.
    fn long_sums(&mut self, source: &Lanes, poll: Option<Site>) -> Result<Vec<Operand>> {
        let sums = source.dst.len();
        let body = &mut self.body;
        let slots = self.frame.lanes(sums, || body.alloca(LANE, 64));
        let (bounds, zeros) = ([source.low, source.high], vec![Operand::ZERO; sums]);
        self.in_blocks(bounds, (FLOAT, &zeros), poll, &mut |this, [from, end], totals| {
            let lanes = this.block_of_eights(source, from, end, &slots)?;
            let mut next = Vec::with_capacity(sums);
            for (sum, lanes) in totals.iter().zip(lanes) {
                let lane = this.tree(lanes);
                next.push(this.body.two("fadd", FLOAT, *sum, lane));
            }
            Ok(next)
        })
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
        let before = self.body.current();
        let [start, outer, done] = self.body.labels();
        let any = self.body.int("icmp slt", low, high);
        self.body.branch(any, start, done);

        self.body.begin(start);
        // The distance from low to high as an unsigned number is always right.
        let total = self.body.int("sub", high, low);
        self.body.jump(outer);

        let firsts = initial.iter().map(|first| (ty, *first));
        let firsts = once((INT, total)).chain(firsts);
        let looping = self.body.begin_loop(outer, (low, start), firsts);
        let (from, carried) = (looping.index, looping.carried());
        let (left, carried) = carried.split_first().ok_or("a loop of blocks counts nothing")?;
        let taken = self.body.smaller(*left, BLOCK);
        let end = self.body.int("add nsw", from, taken);
        let next = block(self, [from, end], carried)?;
        let rest = self.body.int("sub", *left, taken);
        let more = self.body.int("icmp ne", rest, 0);
        let turn = self.body.current();
        let mut latch = turn;
        match poll {
            None => self.body.branch(more, outer, done),
            Some(site) => {
                let asking = self.body.label();
                self.body.branch(more, asking, done);
                self.body.begin(asking);
                self.poll(site)?;
                latch = self.body.current();
                self.body.jump(outer);
            }
        }
        self.body.end_loop(looping, (end, latch), &[&[rest][..], &next].concat());

        self.body.begin(done);
        Ok(self.either(&vec![ty; initial.len()], (initial, before), (&next, turn)))
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
                let mut plan = EightPlan::of(source);
                self.main_loop(source, &mut plan, [from, end], zeros, &mut parts)?;
                if let Some((label, entered)) = parts.tail.take() {
                    self.body.begin(label);
                    let (start, starts) = self.enter(&entered, slots.len());
                    // Not counted from the start, so that LLVM sees when it is the same for each iteration of a loop around.
                    let count = self.body.int("sub", end, from);
                    let left = self.body.int("and", count, EIGHT - 1);
                    self.tail(source, &mut plan, (start, left), &starts, &mut parts)?;
                }
            }
        }
        let Parts { rest, combine: (combine, mut complete), .. } = parts;
        // Nothing goes there from a main loop and tail without checks.
        if !rest.1.is_empty() {
            self.body.begin(rest.0);
            let (start, starts) = self.enter(&rest.1, slots.len());
            for (slot, lanes) in slots.iter().zip(starts) {
                self.store_lane(*slot, lanes);
            }
            complete.push(self.rest_loop(source, start, end, slots)?);
            self.body.jump(combine);
        }

        self.body.begin(combine);
        let lane = |k: usize| {
            let incoming: Vec<_> = complete.iter().map(|(label, all)| (all[k], *label)).collect();
            self.body.join(LANE, &incoming)
        };
        Ok((0..slots.len()).map(lane).collect())
    }

    /// The index and the lanes with which a part is entered.
    fn enter(&mut self, entered: &[Entered], sums: usize) -> (Operand, Vec<Operand>) {
        let incoming: Vec<_> = entered.iter().map(|(label, index, _)| (*index, *label)).collect();
        let start = self.body.join(INT, &incoming);
        let lane = |k: usize| {
            let incoming: Vec<_> =
                entered.iter().map(|(label, _, lanes)| (lanes[k], *label)).collect();
            self.body.join(LANE, &incoming)
        };
        (start, (0..sums).map(lane).collect())
    }

    /// Where whole eights of the iterations from `from` to `end` end, and whether there is one.
    pub(crate) fn eights(&mut self, from: Operand, end: Operand) -> [Operand; 2] {
        let count = self.body.int("sub", end, from);
        let whole = self.body.int("and", count, -EIGHT);
        let until = self.body.int("add nsw", from, whole);
        [until, self.body.int("icmp ne", whole, 0)]
    }

    /// The end of a loop's body: on to the next iterations before `end`, or out of it. Gives where this is.
    pub(crate) fn turn(
        &mut self,
        looping: Looping,
        (by, end): (i64, Operand),
        [body, after]: [Label; 2],
        carried: &[Operand],
    ) -> Label {
        let next = self.body.int("add nsw", looping.index, by);
        let more = self.body.int("icmp slt", next, end);
        let latch = self.body.current();
        self.body.branch(more, body, after);
        self.body.end_loop(looping, (next, latch), carried);
        latch
    }

    /// Eight floats in memory.
    pub(crate) fn store_lane(&mut self, place: Operand, lanes: Operand) {
        let lanes = lanes.of(LANE);
        self.body.line(format_args!("store {LANE} {lanes}, ptr {place}, align 64"));
    }

    pub(crate) fn load_lane(&mut self, place: Operand) -> Operand {
        self.body.value(format_args!("load {LANE}, ptr {place}, align 64"))
    }

    /// Eight iterations at a time, of those from `from` to `end` that make whole eights.
    fn main_loop(
        &mut self,
        source: &Lanes,
        plan: &mut EightPlan,
        [from, end]: [Operand; 2],
        zeros: Vec<Operand>,
        parts: &mut Parts,
    ) -> Result<()> {
        let [main, after] = self.body.labels();
        let [until, any] = self.eights(from, end);
        let before = self.body.current();
        let short = parts.short();
        self.body.branch(any, main, short.0);
        short.1.push((before, from, zeros.clone()));

        let firsts = zeros.iter().map(|_| (LANE, Operand::ZERO));
        let looping = self.body.begin_loop(main, (from, before), firsts);
        let index = looping.index;
        self.bind(source.index, index);
        let results =
            self.eight_checked(plan, source, index, &looping.carried(), &mut parts.rest)?;
        self.turn(looping, (EIGHT, until), [main, after], &results);

        self.body.begin(after);
        let exact = self.body.int("icmp eq", until, end);
        let combine = parts.combine.0;
        let short = parts.short();
        self.body.branch(exact, combine, short.0);
        short.1.push((after, until, results.clone()));
        parts.combine.1.push((after, results));
        Ok(())
    }

    /// Eight iterations; where a check does not hold for all, the loop over single ones begins with
    /// the first of them.
    fn eight_checked(
        &mut self,
        plan: &mut EightPlan,
        source: &Lanes,
        index: Operand,
        lanes: &[Operand],
        rest: &mut (Label, Vec<Entered>),
    ) -> Result<Vec<Operand>> {
        let (rest, entered) = (rest.0, &mut rest.1);
        self.eight(plan, source, lanes, &mut |this, holds| {
            let ok = this.body.label();
            this.body.branch_usually(holds, ok, rest);
            entered.push((this.body.current(), index, lanes.to_vec()));
            this.body.begin(ok);
        })
    }

    /// So many iterations, fewer than eight, in the first lanes of a vector of eight; the other lanes stay as they are.
    fn tail(
        &mut self,
        source: &Lanes,
        plan: &mut EightPlan,
        (start, left): (Operand, Operand),
        starts: &[Operand],
        parts: &mut Parts,
    ) -> Result<()> {
        plan.count_first(&mut self.body, left);
        self.bind(source.index, start);
        let results = self.eight_checked(plan, source, start, starts, &mut parts.rest)?;
        let mut lanes = Vec::with_capacity(starts.len());
        for (before, after) in starts.iter().zip(results) {
            lanes.push(plan.counted(&mut self.body, LANE, after, *before));
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
        let before = self.body.current();
        let [body, after] = self.body.labels();
        self.body.jump(body);

        let looping = self.body.begin_loop(body, (from, before), []);
        let index = looping.index;
        self.bind(source.index, index);
        // The first one belongs to lane 0: what came before it were whole eights.
        let lane = self.body.int("sub", index, from);
        let lane = self.body.int("and", lane, EIGHT - 1);
        let mut places = Vec::new();
        for (slot, carry) in slots.iter().zip(&source.carry) {
            let place = self.body.element("inbounds nuw ", FLOAT, slot, lane);
            let value = self.body.value(format_args!("load double, ptr {place}, align 8"));
            self.bind(*carry, value);
            places.push(place);
        }
        self.frame.enter();
        let results = self.block(&source.body);
        self.frame.leave();
        for (place, result) in places.iter().zip(results?) {
            self.body.line(format_args!("store double {result}, ptr {place}, align 8"));
        }
        self.turn(looping, (1, end), [body, after], &[]);

        self.body.begin(after);
        Ok((after, slots.iter().map(|slot| self.load_lane(*slot)).collect()))
    }

    /// The lanes of one sum, added in the fixed tree.
    fn tree(&mut self, lanes: Operand) -> Operand {
        let mut width = LANES;
        let mut all = lanes;
        while let half @ 1.. = width / 2 {
            let numbers = |from: usize| {
                let list: Vec<String> = (from..from + half).map(|k| format!("i32 {k}")).collect();
                format!("<{half} x i32> <{}>", list.join(", "))
            };
            let ty = format!("<{width} x double>");
            let shown = all.of(LANE);
            let [low, high] = [numbers(0), numbers(half)].map(|mask| {
                self.body.value(format_args!("shufflevector {ty} {shown}, {ty} poison, {mask}"))
            });
            all = self.body.value(format_args!("fadd <{half} x double> {low}, {high}"));
            width = half;
        }
        self.body.value(format_args!("extractelement <1 x double> {all}, i64 0"))
    }
}

/// Statements of a body at most that is written once more, for sums of a few terms.
const SHORT: usize = 24;

/// Whether a loop of sums has a form for a few terms: the loop costs as much as those do.
fn is_often_short(source: &Lanes) -> bool {
    let calls = |stmt: &Stmt| match stmt {
        Stmt::Prim { prim, .. } => matches!(prim.row().lowering, Lowering::Runtime(_)),
        _ => stmt.is_loop(),
    };
    source.vector.is_some_and(|vector| vector.masked)
        && source.body.size() <= SHORT
        && !source.body.any(&mut |stmt| calls(stmt))
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

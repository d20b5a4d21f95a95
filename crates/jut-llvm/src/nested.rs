//! Loops of sums in a body of which eight iterations are taken at once.
//!
//! The loop has as many iterations for all eight, so it is one loop, and what it carries is a vector for each sum. In a
//! `for up` the sum is carried from one iteration to the next. A `lanes` loop keeps its eight lanes as eight such vectors, in
//! registers in a main loop of eight iterations, of which each adds to a lane of its own; in what is left the vectors are in memory,
//! because which one is added to is not known before. The tree at the end of a block adds whole vectors.
//!
//! ```text
//! for par vector 8 (j in 0 .. m) {                %s0 .. %s7: eight vectors of eight
//!   (s) = lanes (i in 0 .. n) carry (s_1) {       main: eight times
//!     p = f[i] * a[i m + j]                         %p = fmul <8 x double> %f, %a
//!     s_2 = s_1 + p                                 %s0' = fadd <8 x double> %s0, %p
//!     (s_2)
//!   }                                             ((%s0 + %s4) + (%s2 + %s6)) + ((%s1 + %s5) + (%s3 + %s7))
//! ```
//!
//! Every iteration of the outer loop adds the same numbers in the same order as by itself: no bit changes. Requires: what
//! [the pass that marks](jut_loop::opt) has let through: bounds that are the same for all, floats, nothing that stores. Where a check does not hold for
//! all, the loop around is left as if the check stood there.

use crate::function::{Result, Translator, phi};
use crate::loops::{INT, LANE};
use crate::text::{Label, Operand, Scalar};
use crate::vector::Plan;
use jut_loop::form::{Block, For, LANES, Lanes, Site, Value};
use jut_loop::poll::rounds;

/// What is repeated.
struct Inner {
    index: Value,
    carry: Vec<Value>,
    body: Block,
}

/// Where to go if a check does not hold for all eight.
type Leave<'l, T> = &'l mut dyn FnMut(&mut T, Operand);

/// The lanes of each sum.
type Sums = Vec<Vec<Operand>>;

impl Translator<'_> {
    /// A `lanes` loop, for eight iterations around it.
    pub(crate) fn eight_lanes(
        &mut self,
        plan: &mut Plan,
        source: &Lanes,
        leave: Leave<'_, Self>,
    ) -> Result<()> {
        let (site, body) = bare(&source.body);
        let inner = Inner { index: source.index, carry: source.carry.clone(), body };
        let zeros = vec![Operand::ZERO; inner.carry.len()];
        let bounds = [source.low, source.high];
        let ends =
            self.in_blocks(bounds, (LANE, &zeros), site, &mut |this, [from, end], totals| {
                let lanes = this.eight_by_eight(plan, &inner, [from, end], leave)?;
                let sums = totals.iter().zip(lanes);
                Ok(sums.map(|(total, lanes)| this.plus_tree(*total, lanes)).collect())
            })?;
        for (dst, end) in source.dst.iter().zip(ends) {
            plan.set(*dst, end);
        }
        Ok(())
    }

    /// A `for up` that carries sums, for eight iterations around it.
    pub(crate) fn eight_in_order(
        &mut self,
        plan: &mut Plan,
        source: &For,
        leave: Leave<'_, Self>,
    ) -> Result<()> {
        let (site, body) = bare(&source.body);
        let carry = source.carry.iter().map(|(carried, _)| *carried).collect();
        let inner = Inner { index: source.index, carry, body };
        let mut initial = Vec::with_capacity(source.carry.len());
        for (_, atom) in &source.carry {
            initial.push(self.spread(plan, *atom)?);
        }
        let bounds = [source.low, source.high];
        let ends =
            self.in_blocks(bounds, (LANE, &initial), site, &mut |this, [from, end], totals| {
                this.one_after_the_other(plan, &inner, [from, end], totals, leave)
            })?;
        for (dst, end) in source.dst.iter().zip(ends) {
            plan.set(*dst, end);
        }
        Ok(())
    }

    /// An iteration, given what is carried; gives the same after it.
    fn inner(
        &mut self,
        plan: &mut Plan,
        inner: &Inner,
        index: Operand,
        carried: &[Operand],
        leave: Leave<'_, Self>,
    ) -> Result<Vec<Operand>> {
        self.bind(inner.index, index);
        for (carry, value) in inner.carry.iter().zip(carried) {
            plan.set(*carry, *value);
        }
        for stmt in &inner.body.stmts {
            self.eight_stmt(plan, stmt, leave)?;
        }
        inner.body.results.iter().map(|atom| self.spread(plan, *atom)).collect()
    }

    /// Iterations, at least one, each given what the one before gives.
    fn one_after_the_other(
        &mut self,
        plan: &mut Plan,
        inner: &Inner,
        [from, end]: [Operand; 2],
        initial: &[Operand],
        leave: Leave<'_, Self>,
    ) -> Result<Vec<Operand>> {
        let before = self.body.current();
        let [body, after] = [self.body.label(), self.body.label()];
        self.body.jump(body);

        self.body.begin(body);
        let hole = self.body.hole();
        let index = self.body.temp();
        let carried: Vec<Operand> = initial.iter().map(|_| self.body.temp()).collect();
        let results = self.inner(plan, inner, index, &carried, leave)?;
        let (next, latch) = self.turn(index, 1, end, [body, after]);
        let line = phi(INT, &[(from, before), (next, latch)]);
        self.body.fill(&hole, format_args!("{} = {line}", index.of(INT)));
        for ((value, first), result) in carried.iter().zip(initial).zip(&results) {
            let line = phi(LANE, &[(*first, before), (*result, latch)]);
            self.body.fill(&hole, format_args!("{} = {line}", value.of(LANE)));
        }

        self.body.begin(after);
        Ok(results)
    }

    /// The end of a loop's body: on to the next iterations before `end`, or out of it. Gives the next index, and where this is.
    fn turn(
        &mut self,
        index: Operand,
        step: usize,
        end: Operand,
        [body, after]: [Label; 2],
    ) -> (Operand, Label) {
        let next = self.body.value(format_args!("add nsw i64 {}, {step}", index.of(INT)));
        let more = self.body.value(format_args!("icmp slt i64 {}, {}", next.of(INT), end.of(INT)));
        let latch = self.body.current();
        let more = more.of(Scalar::Bool.one());
        self.body.line(format_args!("br i1 {more}, label %{body}, label %{after}"));
        (next, latch)
    }

    /// The iterations of a block, at least one: eight in a row add to the eight lanes of each sum. Gives these.
    fn eight_by_eight(
        &mut self,
        plan: &mut Plan,
        inner: &Inner,
        [from, end]: [Operand; 2],
        leave: Leave<'_, Self>,
    ) -> Result<Sums> {
        let sums = inner.carry.len();
        let (bool, ptr) = (Scalar::Bool.one(), Scalar::Ptr.one());
        let (from_shown, end_shown) = (from.of(INT).to_string(), end.of(INT).to_string());
        let [main, after] = [self.body.label(), self.body.label()];
        let [short, combine] = [self.body.label(), self.body.label()];
        let count = self.body.value(format_args!("sub i64 {end_shown}, {from_shown}")).of(INT);
        let whole = self.body.value(format_args!("and i64 {count}, -{LANES}")).of(INT).to_string();
        let until = self.body.value(format_args!("add nsw i64 {from_shown}, {whole}"));
        let any = self.body.value(format_args!("icmp ne i64 {whole}, 0"));
        let before = self.body.current();
        self.body.line(format_args!("br i1 {}, label %{main}, label %{short}", any.of(bool)));

        self.body.begin(main);
        let hole = self.body.hole();
        let index = self.body.temp();
        let lanes: Sums =
            (0..sums).map(|_| (0..LANES).map(|_| self.body.temp()).collect()).collect();
        let mut results: Sums = vec![Vec::with_capacity(LANES); sums];
        for lane in 0..LANES {
            let at = self.body.value(format_args!("add nsw i64 {}, {lane}", index.of(INT)));
            let own: Vec<Operand> = lanes.iter().map(|lanes| lanes[lane]).collect();
            let next = self.inner(plan, inner, at, &own, leave)?;
            results.iter_mut().zip(next).for_each(|(all, next)| all.push(next));
        }
        let (next, latch) = self.turn(index, LANES, until, [main, after]);
        let line = phi(INT, &[(from, before), (next, latch)]);
        self.body.fill(&hole, format_args!("{} = {line}", index.of(INT)));
        for (value, result) in lanes.iter().flatten().zip(results.iter().flatten()) {
            let line = phi(LANE, &[(Operand::ZERO, before), (*result, latch)]);
            self.body.fill(&hole, format_args!("{} = {line}", value.of(LANE)));
        }

        self.body.begin(after);
        let exact = self.body.value(format_args!("icmp eq i64 {}, {end_shown}", until.of(INT)));
        self.body.line(format_args!("br i1 {}, label %{combine}, label %{short}", exact.of(bool)));

        // What is left: fewer than eight, of which the first belongs to lane 0.
        self.body.begin(short);
        let entered = |result| phi(LANE, &[(Operand::ZERO, before), (result, after)]);
        let so_far: Vec<Operand> =
            results.iter().flatten().map(|result| self.body.value(entered(*result))).collect();
        let start = self.body.value(phi(INT, &[(from, before), (until, after)]));
        let places = self.nested_slots(sums * LANES);
        for (place, value) in places.iter().zip(&so_far) {
            let (place, value) = (place.of(ptr), value.of(LANE));
            self.body.line(format_args!("store {LANE} {value}, ptr {place}, align 64"));
        }
        let [rest, rested] = [self.body.label(), self.body.label()];
        let entry = self.body.current();
        self.body.jump(rest);

        self.body.begin(rest);
        let hole = self.body.hole();
        let index = self.body.temp();
        let shown = index.of(INT).to_string();
        let lane = self.body.value(format_args!("sub i64 {shown}, {}", start.of(INT)));
        let mut own = Vec::with_capacity(sums);
        for first in places.iter().step_by(LANES) {
            let (first, lane) = (first.of(ptr), lane.of(INT));
            let line = format_args!("getelementptr inbounds nuw {LANE}, ptr {first}, i64 {lane}");
            own.push(self.body.value(line));
        }
        let mut carried = Vec::with_capacity(sums);
        for place in &own {
            let place = place.of(ptr);
            carried.push(self.body.value(format_args!("load {LANE}, ptr {place}, align 64")));
        }
        let next = self.inner(plan, inner, index, &carried, leave)?;
        for (place, value) in own.iter().zip(next) {
            let (place, value) = (place.of(ptr), value.of(LANE));
            self.body.line(format_args!("store {LANE} {value}, ptr {place}, align 64"));
        }
        let (next, latch) = self.turn(index, 1, end, [rest, rested]);
        let line = phi(INT, &[(start, entry), (next, latch)]);
        self.body.fill(&hole, format_args!("{shown} = {line}"));

        self.body.begin(rested);
        let mut complete = Vec::with_capacity(places.len());
        for place in &places {
            let place = place.of(ptr);
            complete.push(self.body.value(format_args!("load {LANE}, ptr {place}, align 64")));
        }
        self.body.jump(combine);

        self.body.begin(combine);
        let ends = results.iter().flatten().zip(&complete);
        let ends = ends.map(|(main, short)| phi(LANE, &[(*main, after), (*short, rested)]));
        let ends: Vec<String> = ends.collect();
        let ends: Vec<Operand> = ends.into_iter().map(|end| self.body.value(end)).collect();
        Ok(ends.chunks(LANES).map(<[Operand]>::to_vec).collect())
    }

    /// A sum, plus its lanes added in the fixed tree.
    fn plus_tree(&mut self, total: Operand, mut lanes: Vec<Operand>) -> Operand {
        while let half @ 1.. = lanes.len() / 2 {
            let (low, high) = lanes.split_at(half);
            let pairs: Vec<(Operand, Operand)> =
                low.iter().copied().zip(high.iter().copied()).collect();
            lanes = pairs.into_iter().map(|(a, b)| self.eight_sums(a, b)).collect();
        }
        match lanes.first() {
            Some(all) => self.eight_sums(total, *all),
            None => total,
        }
    }

    fn eight_sums(&mut self, a: Operand, b: Operand) -> Operand {
        self.body.value(format_args!("fadd {LANE} {}, {}", a.of(LANE), b.of(LANE)))
    }

    /// Memory for so many vectors, one behind the other for the lanes of each sum; loops that stand in others of this kind are
    /// never in one another, so all have the same.
    fn nested_slots(&mut self, count: usize) -> Vec<Operand> {
        while self.nested.len() < count {
            let all = self.body.alloca(&format!("[{LANES} x {LANE}]"), 64);
            for lane in 0..LANES {
                self.nested.push((all, lane));
            }
        }
        let body = &mut self.body;
        let place = |(all, lane): &(Operand, usize)| {
            let all = all.of(Scalar::Ptr.one());
            body.value(format_args!("getelementptr inbounds nuw {LANE}, ptr {all}, i64 {lane}"))
        };
        self.nested[..count].iter().map(place).collect()
    }
}

/// A body without the statement that asks, and where that is.
fn bare(body: &Block) -> (Option<Site>, Block) {
    match rounds(body) {
        Some((_, site, body)) => (Some(site), body),
        None => (None, body.clone()),
    }
}

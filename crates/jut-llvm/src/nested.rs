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
//! [the pass that marks](jut_loop::opt) has let through: bounds that are the same for all, floats, stores only in a loop in order. Where a check does not hold for
//! all, the loop around is left as if the check stood there.

use crate::function::{Result, Translator};
use crate::text::{EIGHT, INT, LANE, Operand};
use crate::vector::EightPlan;
use jut_loop::form::{Block, For, LANES, Lanes, Order, Site, Value};
use jut_loop::poll::rounds;

/// What is repeated.
struct Inner {
    index: Value,
    /// Of a loop that runs down, the sum of its first and last index.
    ends: Option<Operand>,
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
        plan: &mut EightPlan,
        source: &Lanes,
        leave: Leave<'_, Self>,
    ) -> Result<()> {
        let (site, body) = bare(&source.body);
        let inner = Inner { index: source.index, ends: None, carry: source.carry.clone(), body };
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

    /// A `for up` or `for down`, for eight iterations around it.
    pub(crate) fn eight_in_order(
        &mut self,
        plan: &mut EightPlan,
        source: &For,
        leave: Leave<'_, Self>,
    ) -> Result<()> {
        let (site, body) = bare(&source.body);
        let carry = source.carry.iter().map(|(carried, _)| *carried).collect();
        let ends = match source.order {
            Order::Down => {
                let (low, high) = (self.atom(source.low)?, self.atom(source.high)?);
                let last = self.body.int("add", high, -1);
                Some(self.body.int("add", low, last))
            }
            Order::Up | Order::Par | Order::While => None,
        };
        let inner = Inner { index: source.index, ends, carry, body };
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
        plan: &mut EightPlan,
        inner: &Inner,
        index: Operand,
        carried: &[Operand],
        leave: Leave<'_, Self>,
    ) -> Result<Vec<Operand>> {
        let index = inner.ends.map_or(index, |ends| self.body.int("sub", ends, index));
        self.bind(inner.index, index);
        for (carry, value) in inner.carry.iter().zip(carried) {
            plan.set(*carry, *value);
        }
        for stmt in &inner.body.stmts {
            self.eight_stmt(plan, stmt, leave)?;
        }
        self.look(plan)?;
        inner.body.results.iter().map(|atom| self.spread(plan, *atom)).collect()
    }

    /// Iterations, at least one, each given what the one before gives.
    fn one_after_the_other(
        &mut self,
        plan: &mut EightPlan,
        inner: &Inner,
        [from, end]: [Operand; 2],
        initial: &[Operand],
        leave: Leave<'_, Self>,
    ) -> Result<Vec<Operand>> {
        let before = self.body.current();
        let [body, after] = self.body.labels();
        self.body.jump(body);

        let firsts = initial.iter().map(|first| (LANE, *first));
        let looping = self.body.begin_loop(body, (from, before), firsts);
        let results = self.inner(plan, inner, looping.index, &looping.carried(), leave)?;
        self.turn(looping, (1, end), [body, after], &results);

        self.body.begin(after);
        Ok(results)
    }

    /// The iterations of a block, at least one: eight in a row add to the eight lanes of each sum. Gives these.
    fn eight_by_eight(
        &mut self,
        plan: &mut EightPlan,
        inner: &Inner,
        [from, end]: [Operand; 2],
        leave: Leave<'_, Self>,
    ) -> Result<Sums> {
        let count = inner.carry.len() * LANES;
        let [main, after, short, combine] = self.body.labels();
        let [until, any] = self.eights(from, end);
        let before = self.body.current();
        self.body.branch(any, main, short);

        let firsts = std::iter::repeat_n((LANE, Operand::ZERO), count);
        let looping = self.body.begin_loop(main, (from, before), firsts);
        let (index, lanes) = (looping.index, looping.carried());
        let mut results = vec![Operand::ZERO; count];
        for lane in 0..LANES {
            let at = self.body.int("add nsw", index, lane as i64);
            let own: Vec<Operand> = lanes.iter().skip(lane).step_by(LANES).copied().collect();
            let next = self.inner(plan, inner, at, &own, leave)?;
            let all = results.iter_mut().skip(lane).step_by(LANES);
            all.zip(next).for_each(|(result, next)| *result = next);
        }
        self.turn(looping, (EIGHT, until), [main, after], &results);

        self.body.begin(after);
        let exact = self.body.int("icmp eq", until, end);
        self.body.branch(exact, combine, short);

        // What is left: fewer than eight, of which the first belongs to lane 0.
        self.body.begin(short);
        let zeros = vec![Operand::ZERO; count];
        let so_far = self.either(&vec![LANE; count], (&zeros, before), (&results, after));
        let start = self.body.join(INT, &[(from, before), (until, after)]);
        let places = self.nested_slots(count);
        for (place, value) in places.iter().zip(so_far) {
            self.store_lane(*place, value);
        }
        let [rest, rested] = self.body.labels();
        let entry = self.body.current();
        self.body.jump(rest);

        let looping = self.body.begin_loop(rest, (start, entry), []);
        let index = looping.index;
        let lane = self.body.int("sub", index, start);
        let first = places.iter().step_by(LANES);
        let own = first.map(|first| self.body.element("inbounds nuw ", LANE, first, lane));
        let own: Vec<Operand> = own.collect();
        let carried: Vec<Operand> = own.iter().map(|place| self.load_lane(*place)).collect();
        let next = self.inner(plan, inner, index, &carried, leave)?;
        for (place, value) in own.iter().zip(next) {
            self.store_lane(*place, value);
        }
        self.turn(looping, (1, end), [rest, rested], &[]);

        self.body.begin(rested);
        let complete: Vec<Operand> = places.iter().map(|place| self.load_lane(*place)).collect();
        self.body.jump(combine);

        self.body.begin(combine);
        let ends = self.either(&vec![LANE; count], (&results, after), (&complete, rested));
        Ok(ends.chunks(LANES).map(<[Operand]>::to_vec).collect())
    }

    /// A sum, plus its lanes added in the fixed tree.
    fn plus_tree(&mut self, total: Operand, mut lanes: Vec<Operand>) -> Operand {
        while let half @ 1.. = lanes.len() / 2 {
            let (low, high) = lanes.split_at(half);
            let pairs = low.iter().zip(high);
            lanes = pairs.map(|(a, b)| self.body.two("fadd", LANE, *a, *b)).collect();
        }
        match lanes.first() {
            Some(all) => self.body.two("fadd", LANE, total, *all),
            None => total,
        }
    }

    /// Memory for so many vectors, one behind the other for the lanes of each sum; loops that stand in others of this kind are
    /// never in one another, so all have the same.
    fn nested_slots(&mut self, count: usize) -> Vec<Operand> {
        while self.nested.len() < count {
            let all = self.body.alloca(format_args!("[{LANES} x {LANE}]"), 64);
            for lane in 0..LANES {
                self.nested.push((all, lane));
            }
        }
        let body = &mut self.body;
        let place = |(all, lane): &(Operand, usize)| body.element("inbounds nuw ", LANE, all, lane);
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

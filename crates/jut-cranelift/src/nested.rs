//! Loops in the body of a loop of which [pairs of iterations](crate::vector) are taken at once.
//!
//! Such a loop runs as often for all iterations around it, so it is one loop, and what it carries is a register for each pair. The statements around it
//! are written for one pair after the other; so is its own body, in which what is the same for all is computed once:
//!
//! ```text
//! for par vector 4 (i in 0 .. paths) {            two pairs: i, i + 1 and i + 2, i + 3
//!   row = i * n
//!   z_1 = z[row ..]
//!   (v) = for up (j in 0 .. n) carry (v_1 = v0) {   one loop, with two registers
//!     x = z_1[j]                                     two floats of two rows, twice
//!     v_2 = v_1 + x                                  two additions
//!     (v_2)
//! ```
//!
//! A loop of sums by lanes goes through a block four times, for two lanes each time, or there would be more lanes than registers: every eighth iteration adds to the
//! one and that four behind it to the other. The tree at the end of a block begins with the sum of these two.
//!
//! Every iteration of the loop around computes the same in the same order as by itself: no bit changes. *Requires*: what
//! [the pass that marks](jut_loop::opt) has let through: bounds that are the same for all, floats, no checks. *Cost*: linear.

use crate::loops::Counted;
use crate::translate::{Result, Translator, block_args, stack_slot};
use crate::vector::{Carried, Pair, PairPlan, Way};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{self, InstBuilder, MemFlagsData, types};
use jut_loop::form::{Atom, Block, For, LANES, Lanes, Order, Site, Stmt, Value};
use jut_loop::poll::rounds;

/// The floats of a pair.
const PAIR: ir::Type = types::F64X2;

/// How far apart lanes are that the tree adds first.
const HALF: i64 = LANES as i64 / 2;

/// What is repeated for all pairs.
struct Inner<'s> {
    body: Block,
    plan: PairPlan,
    carry: Vec<Value>,
    index: Value,
    /// The first of the iterations around.
    around: ir::Value,
    pairs: &'s [Pair],
}

impl Translator<'_> {
    /// Translates a body for pairs of iterations from `index` on, given what is carried into each; gives the results of each.
    pub(crate) fn some_at_once(
        &mut self,
        body: &Block,
        plan: &PairPlan,
        index: ir::Value,
        carried: &[Carried],
    ) -> Result<Vec<Vec<ir::Value>>> {
        if !plan.nested {
            return self.pairs(body, plan, index, carried);
        }
        let mut pairs: Vec<Pair> = carried.iter().map(|c| c.iter().copied().collect()).collect();
        for stmt in &body.stmts {
            let (dst, ends) = match stmt {
                Stmt::For(inner) => (&inner.dst, self.steps_at_once(inner, plan, index, &pairs)?),
                Stmt::Lanes(inner) => (&inner.dst, self.sums_at_once(inner, plan, index, &pairs)?),
                _ => {
                    for (k, pair) in (0..).step_by(2).zip(&mut pairs) {
                        self.pair_stmt(stmt, plan, (index, k), pair, &mut Way::Direct)?;
                    }
                    continue;
                }
            };
            for (pair, ends) in pairs.iter_mut().zip(ends.chunks(dst.len())) {
                pair.extend(dst.iter().copied().zip(ends.iter().copied()));
            }
        }
        let results = |this: &mut Self, pair: &Pair| -> Result<Vec<ir::Value>> {
            body.results.iter().map(|atom| this.operand(plan, pair, atom)).collect()
        };
        pairs.iter().map(|pair| results(self, pair)).collect()
    }

    /// A loop in order; gives what it carries at the end, one pair behind the other.
    fn steps_at_once(
        &mut self,
        source: &For,
        plan: &PairPlan,
        around: ir::Value,
        pairs: &[Pair],
    ) -> Result<Vec<ir::Value>> {
        let (poll, body) = bare(&source.body);
        let carry: Vec<Value> = source.carry.iter().map(|(carried, _)| *carried).collect();
        let mut initial = Vec::with_capacity(carry.len() * pairs.len());
        for pair in pairs {
            for (_, atom) in &source.carry {
                initial.push(self.operand(plan, pair, atom)?);
            }
        }
        let plan = plan.inside(&body);
        let inner = Inner { body, plan, carry, index: source.index, around, pairs };
        let bounds = self.bounds([source.low, source.high])?;
        let counted = Counted { order: source.order, bounds, poll };
        self.counted(&counted, &initial, &mut |this, index, carried| {
            this.bind(inner.index, index);
            this.inner(&inner, carried)
        })
    }

    /// A loop of sums by lanes; gives the sums, one pair behind the other.
    fn sums_at_once(
        &mut self,
        source: &Lanes,
        plan: &PairPlan,
        around: ir::Value,
        pairs: &[Pair],
    ) -> Result<Vec<ir::Value>> {
        let (poll, body) = bare(&source.body);
        let plan = plan.inside(&body);
        let carry = source.carry.clone();
        let inner = Inner { body, plan, carry, index: source.index, around, pairs };
        let zero = self.float(0.0);
        let zero = self.builder.ins().splat(PAIR, zero);
        let zeros = vec![zero; source.carry.len() * pairs.len()];
        let bounds = self.bounds([source.low, source.high])?;
        let poll = poll.map(|(_, site)| site);
        self.in_blocks(bounds, &zeros, poll, &mut |this, [start, _, end]| {
            this.lanes_at_once(&inner, [start, end], zeros.len())
        })
    }

    /// The iterations of a block, in four rounds, each of which adds to two lanes whose sum is one of the tree; gives the sums of the lanes.
    fn lanes_at_once(
        &mut self,
        inner: &Inner<'_>,
        [from, end]: [ir::Value; 2],
        sums: usize,
    ) -> Result<Vec<ir::Value>> {
        let builder = &mut self.builder;
        let slots = self.frame.lanes(sums, || stack_slot(builder, LANES as u32 * 8));
        let [low, high] = [self.int(0), self.int(HALF)];
        let rounds = Counted { order: Order::Up, bounds: [low, high], poll: None };
        self.counted(&rounds, &[], &mut |this, lane, _| {
            let from = this.builder.ins().iadd(from, lane);
            let lanes = this.two_lanes(inner, [from, end], sums)?;
            let place = this.builder.ins().ishl_imm_u(lane, 4);
            for (slot, lanes) in slots.iter().zip(lanes.chunks(2)) {
                let sum = this.builder.ins().fadd(lanes[0], lanes[1]);
                let slot = this.builder.ins().stack_addr(types::I64, *slot, 0);
                let address = this.builder.ins().iadd(slot, place);
                this.builder.ins().store(MemFlagsData::trusted(), sum, address, 0);
            }
            Ok(Vec::new())
        })?;
        let mut added = Vec::with_capacity(sums);
        for slot in slots {
            let address = self.builder.ins().stack_addr(types::I64, slot, 0);
            let of_round = |this: &mut Self, lane: i32| {
                this.builder.ins().load(PAIR, MemFlagsData::trusted(), address, 16 * lane)
            };
            let rounds = [0, 1, 2, 3].map(|lane| of_round(self, lane));
            added.push(self.tree(&rounds));
        }
        Ok(added)
    }

    /// The iterations of a block that add to the lane of the first of them, and to the lane four behind; gives both lanes of each sum.
    fn two_lanes(
        &mut self,
        inner: &Inner<'_>,
        [from, end]: [ir::Value; 2],
        sums: usize,
    ) -> Result<Vec<ir::Value>> {
        let zero = self.float(0.0);
        let zeros = vec![self.builder.ins().splat(PAIR, zero); 2 * sums];
        let add = |this: &mut Self, lanes: &mut [ir::Value], (index, lane): (ir::Value, usize)| {
            this.bind_shifted(inner.index, index, HALF * lane as i64);
            let own: Vec<ir::Value> = lanes.iter().skip(lane).step_by(2).copied().collect();
            let added = this.inner(inner, &own)?;
            let places = lanes.iter_mut().skip(lane).step_by(2);
            places.zip(added).for_each(|(place, added)| *place = added);
            Result::Ok(())
        };
        // Whether more iterations are left than these: a distance is right where a bound plus a constant has wrapped.
        let is_before_end = |this: &mut Self, index: ir::Value, less: i64| {
            let left = this.builder.ins().isub(end, index);
            this.builder.ins().icmp_imm_s(IntCC::SignedGreaterThan, left, less)
        };
        let [main, rest, last, done] = [(); 4].map(|()| self.block_like(&zeros));
        let [index, left] = [main, rest].map(|b| self.builder.append_block_param(b, types::I64));
        let single = self.builder.append_block_param(last, types::I64);
        let first = block_args(&[&zeros[..], &[from]].concat());
        let any = is_before_end(self, from, HALF);
        self.builder.ins().brif(any, main, &first, rest, &first);

        self.builder.switch_to_block(main);
        let mut lanes = self.builder.block_params(main)[..zeros.len()].to_vec();
        add(self, &mut lanes, (index, 0))?;
        add(self, &mut lanes, (index, 1))?;
        let next = self.builder.ins().iadd_imm_s(index, LANES as i64);
        let more = is_before_end(self, next, HALF);
        let again = block_args(&[&lanes[..], &[next]].concat());
        self.builder.ins().brif(more, main, &again, rest, &again);

        self.builder.switch_to_block(rest);
        let lanes = self.builder.block_params(rest)[..zeros.len()].to_vec();
        let more = is_before_end(self, left, 0);
        let again = block_args(&[&lanes[..], &[left]].concat());
        self.builder.ins().brif(more, last, &again, done, &block_args(&lanes));

        self.builder.switch_to_block(last);
        let mut lanes = self.builder.block_params(last)[..zeros.len()].to_vec();
        add(self, &mut lanes, (single, 0))?;
        self.builder.ins().jump(done, &block_args(&lanes));

        self.builder.switch_to_block(done);
        Ok(self.builder.block_params(done).to_vec())
    }

    /// An iteration for all pairs, given what is carried into each, one pair behind the other; gives the same after it.
    fn inner(&mut self, inner: &Inner<'_>, carried: &[ir::Value]) -> Result<Vec<ir::Value>> {
        let mut given = Vec::with_capacity(inner.pairs.len());
        for (pair, carried) in inner.pairs.iter().zip(carried.chunks(inner.carry.len())) {
            let known = pair.iter().map(|(value, known)| (*value, *known));
            let carried = inner.carry.iter().copied().zip(carried.iter().copied());
            given.push(known.chain(carried).collect());
        }
        let results = self.pairs(&inner.body, &inner.plan, inner.around, &given)?;
        Ok(results.into_iter().flatten().collect())
    }

    fn bounds(&mut self, bounds: [Atom; 2]) -> Result<[ir::Value; 2]> {
        Ok([self.atom(bounds[0])?, self.atom(bounds[1])?])
    }
}

/// A body without the statement that asks, and after how many iterations that is, and where.
fn bare(body: &Block) -> (Option<(u32, Site)>, Block) {
    match rounds(body) {
        Some((every, site, body)) => (Some((every, site)), body),
        None => (None, body.clone()),
    }
}

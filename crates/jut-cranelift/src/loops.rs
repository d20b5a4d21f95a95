//! Counted loops, those that may end early, and sums in the fixed order.
//!
//! A `for` tests its condition at the end: one test before the first iteration, one branch per
//! iteration. If the loop says so, [several of them go at a time](crate::vector), two to a register,
//! and what is left goes one by one.
//!
//! A `lanes` loop keeps eight partial sums per sum. Iteration i, counted from the first, belongs to
//! lane i mod 8, and blocks of 1024 iterations are summed in order. Three parts stand inside the
//! loop over blocks:
//!
//! 1. if the body is small, a main loop of eight iterations at a time, whose lanes are registers, two
//!    to a register where [the loop says so](crate::vector);
//! 2. a loop over what is left (all of it, if the body is large: one pair at a time if it is marked), whose lanes are on the stack:
//!    a load, the body, a store, so that an inner loop or call in the body keeps its registers. The lanes of one sum with a
//!    small body are registers, of which the first is added to and becomes the last;
//! 3. the tree: lane k plus lane k + 4, k plus k + 2, k plus k + 1, and the sum plus that. Lanes that have moved on by one are
//!    added in the same pairs.

use crate::ordered::in_order;
use crate::pairs;
use crate::translate::{Result, Translator, block_args, stack_slot};
use crate::vector::{Carried, PairPlan};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{self, BlockArg, InstBuilder, MemFlagsData, StackSlot, types};
use jut_ir::prim::Lowering;
use jut_loop::form::{BLOCK, Block, For, LANES, Lanes, Order, Site, Stmt};
use jut_loop::poll::rounds;

/// Bodies of at most so many statements are repeated for every lane.
const SMALL: usize = 16;

/// In which order a loop runs, from where to where, and after how many iterations it asks if the call is cancelled.
pub(crate) struct Counted {
    pub(crate) order: Order,
    pub(crate) bounds: [ir::Value; 2],
    pub(crate) poll: Option<(u32, Site)>,
}

/// Translates a body, given the index and what is carried; gives what is carried next.
type BodyOf<'b, T> = &'b mut dyn FnMut(&mut T, ir::Value, &[ir::Value]) -> Result<Vec<ir::Value>>;

/// Translates a block of a loop of sums; gives what it adds to each.
type OfBlock<'b, T> = &'b mut dyn FnMut(&mut T, [ir::Value; 3]) -> Result<Vec<ir::Value>>;

impl Translator<'_> {
    pub(crate) fn for_loop(&mut self, source: &For) -> Result<()> {
        self.literals.enter_loop(&source.body, &mut self.builder);
        let translated = match rounds(&source.body) {
            None => self.for_rounds(source, None),
            Some((every, site, body)) => {
                let (dst, carry) = (source.dst.clone(), source.carry.clone());
                self.for_rounds(&For { dst, carry, body, ..*source }, Some((every, site)))
            }
        };
        self.literals.leave_loop();
        translated
    }

    /// A loop, which may ask between rounds of so many iterations if the call is cancelled.
    fn for_rounds(&mut self, source: &For, poll: Option<(u32, Site)>) -> Result<()> {
        let mut initial = Vec::with_capacity(source.carry.len() + 1);
        for (_, atom) in &source.carry {
            initial.push(self.atom(*atom)?);
        }
        let in_order = source.vector.and_then(|vector| Some((vector, in_order(source)?)));
        if let Some(vector) = source.vector
            && poll.is_none()
            && in_order.is_none()
            && let Some(trips) = self.few_pairs(source)?
        {
            return self.pairs_without_loop(source, vector, trips, &initial);
        }
        let [mut low, mut high] = [self.atom(source.low)?, self.atom(source.high)?];
        if let Some((vector, sums)) = &in_order {
            let bounds = [low, high];
            [low, high] =
                self.pairs_in_order(source, (*vector, sums), bounds, &mut initial, poll)?;
        } else if let Some(vector) = source.vector {
            for together in pairs::at_a_time(source, vector) {
                let bounds = [low, high];
                low = self.pairs_loop(source, (vector, together), bounds, &mut initial, poll)?;
            }
        }
        let counted = Counted { order: source.order, bounds: [low, high], poll };
        let ends = self.counted(&counted, &initial, &mut |this, index, carried| {
            this.bind(source.index, index);
            for ((value, _), carried) in source.carry.iter().zip(carried) {
                this.bind(*value, *carried);
            }
            this.block(&source.body)
        })?;
        if ends.len() != source.dst.len() {
            return Err("a loop has another number of results".to_owned());
        }
        source.dst.iter().zip(ends).for_each(|(dst, end)| self.bind(*dst, end));
        Ok(())
    }

    /// A loop in order whose body is translated from the index and what is carried, and gives what is carried next; gives what is carried at
    /// the end.
    pub(crate) fn counted(
        &mut self,
        counted: &Counted,
        initial: &[ir::Value],
        body_of: BodyOf<'_, Self>,
    ) -> Result<Vec<ir::Value>> {
        let Counted { order, bounds: [low, high], poll } = *counted;
        let body = self.block_like(initial);
        let index = self.builder.append_block_param(body, types::I64);
        let done = self.block_like(initial);

        let any = self.builder.ins().icmp(IntCC::SignedLessThan, low, high);
        let any = self.and_goes_on(order, any, initial);
        let first = match order {
            Order::Down => self.builder.ins().iadd_imm_s(high, -1),
            Order::Up | Order::Par | Order::While => low,
        };
        let none = block_args(initial);
        let given = block_args(&[initial, &[first]].concat());
        let down = order == Order::Down;
        // Where a round begins, and what ends the loop or its current round.
        let mut begin = body;
        let mut bound = if down { low } else { high };
        if let Some((every, _)) = poll {
            begin = self.block_like(initial);
            let from = self.builder.append_block_param(begin, types::I64);
            self.builder.ins().brif(any, begin, &given, done, &none);
            self.builder.switch_to_block(begin);
            let params = self.builder.block_params(begin).to_vec();
            let most = self.int(i64::from(every) - 1);
            bound = match down {
                true => {
                    let left = self.builder.ins().isub(from, low);
                    let more = self.builder.ins().umin(left, most);
                    self.builder.ins().isub(from, more)
                }
                false => {
                    let last = self.builder.ins().iadd_imm_s(high, -1);
                    let left = self.builder.ins().isub(last, from);
                    let more = self.builder.ins().umin(left, most);
                    let last = self.builder.ins().iadd(from, more);
                    self.builder.ins().iadd_imm_s(last, 1)
                }
            };
            self.builder.ins().jump(body, &block_args(&params));
        } else {
            self.builder.ins().brif(any, body, &given, done, &none);
        }

        self.builder.switch_to_block(body);
        let carried = self.builder.block_params(body)[..initial.len()].to_vec();
        let mut next = body_of(self, index, &carried)?;
        if next.len() != initial.len() {
            return Err("a loop carries another number of values".to_owned());
        }
        let (more, following) = match order {
            Order::Down => {
                let more = self.builder.ins().icmp(IntCC::SignedGreaterThan, index, bound);
                (more, self.builder.ins().iadd_imm_s(index, -1))
            }
            Order::Up | Order::Par | Order::While => {
                let following = self.builder.ins().iadd_imm_s(index, 1);
                (self.builder.ins().icmp(IntCC::SignedLessThan, following, bound), following)
            }
        };
        let more = self.and_goes_on(order, more, &next);
        let last = block_args(&next);
        next.push(following);
        if let Some((_, site)) = poll {
            let turn = self.builder.create_block();
            self.builder.ins().brif(more, body, &block_args(&next), turn, &[]);
            self.builder.switch_to_block(turn);
            let more = match down {
                true => self.builder.ins().icmp(IntCC::SignedGreaterThan, index, low),
                false => self.builder.ins().icmp(IntCC::SignedLessThan, following, high),
            };
            let more = self.and_goes_on(order, more, &next);
            self.ask(more, site, (begin, &block_args(&next)), (done, &last));
        } else {
            self.builder.ins().brif(more, body, &block_args(&next), done, &last);
        }
        self.builder.switch_to_block(done);
        let ends = self.builder.block_params(done).to_vec();
        Ok(ends.into_iter().map(|value| self.moved(value)).collect())
    }

    /// A value in another register. The allocation of registers takes what a loop carries and what becomes of it for one, if it can, and puts one
    /// that lives long into memory, also where the loop adds to it.
    fn moved(&mut self, value: ir::Value) -> ir::Value {
        self.builder.ins().band(value, value)
    }

    /// On to the next round, if there is one and the call is not cancelled; else out of the loop.
    pub(crate) fn ask(
        &mut self,
        more: ir::Value,
        site: Site,
        (begin, next): (ir::Block, &[BlockArg]),
        (done, last): (ir::Block, &[BlockArg]),
    ) {
        let asking = self.builder.create_block();
        self.builder.ins().brif(more, asking, &[], done, last);
        self.builder.switch_to_block(asking);
        self.poll(site);
        self.builder.ins().jump(begin, next);
    }

    /// Whether there is another iteration: of a loop that may end early, only if the first of what it
    /// carries says so, too.
    fn and_goes_on(&mut self, order: Order, more: ir::Value, carried: &[ir::Value]) -> ir::Value {
        match carried.first() {
            Some(go) if order == Order::While => self.builder.ins().band(more, *go),
            _ => more,
        }
    }

    pub(crate) fn lanes_loop(&mut self, source: &Lanes) -> Result<()> {
        self.literals.enter_loop(&source.body, &mut self.builder);
        let translated = match rounds(&source.body) {
            None => self.lanes_rounds(source, None),
            Some((_, site, body)) => {
                let (dst, carry) = (source.dst.clone(), source.carry.clone());
                self.lanes_rounds(&Lanes { dst, carry, body, ..*source }, Some(site))
            }
        };
        self.literals.leave_loop();
        translated
    }

    /// A loop of sums, which may ask between its blocks if the call is cancelled.
    fn lanes_rounds(&mut self, source: &Lanes, poll: Option<Site>) -> Result<()> {
        let sums = source.dst.len();
        if source.carry.len() != sums || source.body.results.len() != sums {
            return Err("a lanes loop has another number of sums".to_owned());
        }
        self.begin_before(&source.body, source.vector.is_some())?;
        let bounds = [self.atom(source.low)?, self.atom(source.high)?];
        let zeros = vec![self.float(0.0); sums];
        let ends = self.in_blocks(bounds, &zeros, poll, &mut |this, [start, taken, end]| {
            let [combine, ended] = [sums * LANES, sums].map(|floats| this.block_with(0, floats));
            this.lanes_of_block(source, [start, taken, end], [combine, ended])?;
            this.builder.switch_to_block(combine);
            let lanes = this.builder.block_params(combine).to_vec();
            let added: Vec<_> = lanes.chunks(LANES).map(|lanes| this.tree(lanes)).collect();
            this.builder.ins().jump(ended, &block_args(&added));
            this.builder.switch_to_block(ended);
            Ok(this.builder.block_params(ended).to_vec())
        })?;
        source.dst.iter().zip(ends).for_each(|(dst, end)| self.bind(*dst, end));
        Ok(())
    }

    /// Sums that begin with these zeros, to which each block of iterations adds what it is given: where a block begins, how many iterations it has, and where
    /// it ends. Gives the sums.
    pub(crate) fn in_blocks(
        &mut self,
        [low, high]: [ir::Value; 2],
        zeros: &[ir::Value],
        poll: Option<Site>,
        sums_of: OfBlock<'_, Self>,
    ) -> Result<Vec<ir::Value>> {
        let [outer, done] = [self.block_like(zeros), self.block_like(zeros)];
        let [start, left] = [(); 2].map(|()| self.builder.append_block_param(outer, types::I64));
        let any = self.builder.ins().icmp(IntCC::SignedLessThan, low, high);
        let total = self.builder.ins().isub(high, low);
        let first = block_args(&[zeros, &[low, total]].concat());
        self.builder.ins().brif(any, outer, &first, done, &block_args(zeros));

        self.builder.switch_to_block(outer);
        let totals = self.builder.block_params(outer)[..zeros.len()].to_vec();
        let most = self.int(BLOCK);
        // The distance from low to high as an unsigned number is always right.
        let taken = self.builder.ins().umin(left, most);
        let end = self.builder.ins().iadd(start, taken);
        let sums = sums_of(self, [start, taken, end])?;
        let mut next = Vec::with_capacity(zeros.len() + 2);
        for (total, sum) in totals.iter().zip(sums) {
            next.push(self.builder.ins().fadd(*total, sum));
        }
        let last = block_args(&next);
        let left = self.builder.ins().isub(left, taken);
        next.extend([end, left]);
        let again = block_args(&next);
        match poll {
            None => {
                self.builder.ins().brif(left, outer, &again, done, &last);
            }
            Some(site) => self.ask(left, site, (outer, &again), (done, &last)),
        }
        self.builder.switch_to_block(done);
        Ok(self.builder.block_params(done).to_vec())
    }

    /// The iterations of a block; goes on at `combine` with the lanes, or at `ended` with what they add up to.
    fn lanes_of_block(
        &mut self,
        source: &Lanes,
        [start, taken, end]: [ir::Value; 3],
        [combine, ended]: [ir::Block; 2],
    ) -> Result<()> {
        let sums = source.dst.len();
        let vector = source.vector;
        let plan = vector.map(|v| PairPlan::of(source.index, &source.carry, &source.body, v));
        let plan = match plan {
            Some(plan) if source.body.size() > pairs::LONG && !plan.nested => {
                return self.pairs_in_turn(source, plan, [start, taken, end], combine);
            }
            plan => plan,
        };
        let empty = vec![self.float(0.0); sums * LANES];
        let rest = self.block_with(1, sums * LANES);
        if plan.is_some() || is_small(&source.body) {
            let whole = self.builder.ins().band_imm_s(taken, -(LANES as i64));
            let whole_end = self.builder.ins().iadd(start, whole);
            let blocks = [rest, combine, ended];
            self.main_loop(source, plan, [start, whole_end, end], &empty, blocks)?;
        } else {
            let args = [&[start][..], &empty].concat();
            self.builder.ins().jump(rest, &block_args(&args));
        }
        if sums == 1 && is_small(&source.body) {
            return self.rest_in_turn(source, end, [rest, combine]);
        }
        self.builder.switch_to_block(rest);
        let params = self.builder.block_params(rest).to_vec();
        self.rest_loop(source, [params[0], end], &params[1..], combine)
    }

    /// Eight iterations at a time, of those from `start` to `end` that make whole eights. The lanes
    /// are floats, or pairs of floats if there is a plan for them.
    fn main_loop(
        &mut self,
        source: &Lanes,
        mut plan: Option<PairPlan>,
        [start, whole_end, end]: [ir::Value; 3],
        empty: &[ir::Value],
        [rest, combine, ended]: [ir::Block; 3],
    ) -> Result<()> {
        let (width, ty) = if plan.is_some() { (2, types::F64X2) } else { (1, types::F64) };
        let (sums, count) = (source.dst.len(), LANES / width);
        // What the main loop has in registers is made on the way to it: sums of a few terms have none.
        let enter = self.builder.create_block();
        let any = self.builder.ins().icmp(IntCC::NotEqual, start, whole_end);
        let none = block_args(&[&[start][..], empty].concat());
        self.builder.ins().brif(any, enter, &[], rest, &none);

        self.builder.switch_to_block(enter);
        if let Some(plan) = &mut plan {
            self.spread(&source.body, plan)?;
        }
        let mut initial = vec![start];
        if let (Some(_), Some(zero)) = (&plan, empty.first()) {
            let zeros = self.builder.ins().splat(ty, *zero);
            initial.resize(1 + sums * count, zeros);
        } else {
            initial.extend(empty);
        }
        let main = self.block_with(1, 0);
        for _ in 0..sums * count {
            self.builder.append_block_param(main, ty);
        }
        let after = self.builder.create_block();
        self.builder.ins().jump(main, &block_args(&initial));

        self.builder.switch_to_block(main);
        let params = self.builder.block_params(main).to_vec();
        let (index, mut lanes) = (params[0], params[1..].to_vec());
        let of_lane = |k: usize| {
            let carries = source.carry.iter().enumerate();
            carries.map(|(s, carry)| (*carry, lanes[s * count + k])).collect()
        };
        let carried: Vec<Carried> = (0..count).map(of_lane).collect();
        let results = match &plan {
            Some(plan) => {
                self.bind(source.index, index);
                self.some_at_once(&source.body, plan, index, &carried)?
            }
            None => {
                self.repeating = true;
                let mut results = Vec::with_capacity(count);
                for (k, carried) in carried.iter().enumerate() {
                    self.bind_shifted(source.index, index, k as i64);
                    for (carry, lane) in carried {
                        self.bind(*carry, *lane);
                    }
                    results.push(self.block(&source.body)?);
                }
                (self.repeating, self.stored) = (false, None);
                results
            }
        };
        for (k, results) in results.into_iter().enumerate() {
            for (s, result) in results.into_iter().enumerate() {
                lanes[s * count + k] = result;
            }
        }
        let next = self.builder.ins().iadd_imm_s(index, LANES as i64);
        let more = self.builder.ins().icmp(IntCC::SignedLessThan, next, whole_end);
        let args = block_args(&[&[next][..], &lanes].concat());
        self.builder.ins().brif(more, main, &args, after, &[]);

        self.builder.switch_to_block(after);
        let exact = self.builder.ins().icmp(IntCC::Equal, whole_end, end);
        if plan.is_none() {
            let args = [&[whole_end][..], &lanes].concat();
            self.builder.ins().brif(exact, combine, &block_args(&lanes), rest, &block_args(&args));
            return Ok(());
        }
        self.end_pairs(&source.body)?;
        let [whole, odd] = [(); 2].map(|()| self.builder.create_block());
        self.builder.ins().brif(exact, whole, &[], odd, &[]);

        self.builder.switch_to_block(whole);
        let added: Vec<_> = lanes.chunks(count).map(|pairs| self.tree_of_pairs(pairs)).collect();
        self.builder.ins().jump(ended, &block_args(&added));

        self.builder.switch_to_block(odd);
        let mut args = vec![whole_end];
        for pair in lanes {
            args.extend([0, 1].map(|k| self.builder.ins().extractlane(pair, k)));
        }
        self.builder.ins().jump(rest, &block_args(&args));
        Ok(())
    }

    /// The lanes of one sum, two to a register, added in the fixed tree: lanes that are added stand in the same halves, but for the last two.
    fn tree_of_pairs(&mut self, pairs: &[ir::Value]) -> ir::Value {
        let last = self.tree(pairs);
        let [first, second] = [0, 1].map(|k| self.builder.ins().extractlane(last, k));
        self.builder.ins().fadd(first, second)
    }

    /// One iteration at a time, from the first parameter of the block to `end`, given the lanes of one sum: each adds to the first of
    /// them, which goes behind the others.
    fn rest_in_turn(
        &mut self,
        source: &Lanes,
        end: ir::Value,
        [rest, combine]: [ir::Block; 2],
    ) -> Result<()> {
        self.builder.switch_to_block(rest);
        let params = self.builder.block_params(rest).to_vec();
        let body = self.block_with(1, LANES);
        self.builder.ins().jump(body, &block_args(&params));

        self.builder.switch_to_block(body);
        let params = self.builder.block_params(body).to_vec();
        self.bind(source.index, params[0]);
        self.bind(source.carry[0], params[1]);
        let results = self.block(&source.body)?;
        let next = self.builder.ins().iadd_imm_s(params[0], 1);
        let more = self.builder.ins().icmp(IntCC::SignedLessThan, next, end);
        let lanes = [&params[2..], &results].concat();
        let again = block_args(&[&[next][..], &lanes].concat());
        self.builder.ins().brif(more, body, &again, combine, &block_args(&lanes));
        Ok(())
    }

    /// One iteration at a time, from `start` to `end`; `start` belongs to lane 0.
    fn rest_loop(
        &mut self,
        source: &Lanes,
        [start, end]: [ir::Value; 2],
        lanes: &[ir::Value],
        combine: ir::Block,
    ) -> Result<()> {
        let slots = self.store_lanes(source, lanes);
        let body = self.block_with(2, 0);
        let after = self.builder.create_block();
        let zero = self.int(0);
        self.builder.ins().jump(body, &block_args(&[start, zero]));

        self.builder.switch_to_block(body);
        let params = self.builder.block_params(body).to_vec();
        let (index, lane) = (params[0], params[1]);
        self.one_in_memory(source, &slots, index, lane)?;
        let next = self.builder.ins().iadd_imm_s(index, 1);
        let lane = self.builder.ins().iadd_imm_s(lane, 1);
        let lane = self.builder.ins().band_imm_s(lane, LANES as i64 - 1);
        let more = self.builder.ins().icmp(IntCC::SignedLessThan, next, end);
        self.builder.ins().brif(more, body, &block_args(&[next, lane]), after, &[]);

        self.builder.switch_to_block(after);
        self.load_lanes(&slots, combine);
        Ok(())
    }

    /// The iterations of a block, at least one, two to a register: of a long body one pair at a time, whose lanes are in memory. An odd one goes by
    /// itself.
    fn pairs_in_turn(
        &mut self,
        source: &Lanes,
        mut plan: PairPlan,
        [start, taken, end]: [ir::Value; 3],
        combine: ir::Block,
    ) -> Result<()> {
        let zero = self.float(0.0);
        let slots = self.store_lanes(source, &vec![zero; source.carry.len() * LANES]);
        let whole = self.builder.ins().band_imm_s(taken, -2);
        let whole_end = self.builder.ins().iadd(start, whole);
        self.spread(&source.body, &mut plan)?;
        let main = self.block_with(2, 0);
        let [behind, single, after] = [(); 3].map(|()| self.builder.create_block());
        let zero = self.int(0);
        let any = self.builder.ins().icmp(IntCC::NotEqual, start, whole_end);
        self.builder.ins().brif(any, main, &block_args(&[start, zero]), single, &[]);

        self.builder.switch_to_block(main);
        let params = self.builder.block_params(main).to_vec();
        let (index, lane) = (params[0], params[1]);
        self.bind(source.index, index);
        let places = self.places_of(&slots, lane);
        let mut carried: Carried = Vec::with_capacity(slots.len());
        for (address, carry) in places.iter().zip(&source.carry) {
            let lanes = self.builder.ins().load(types::F64X2, in_frame(), *address, 0);
            carried.push((*carry, lanes));
        }
        let results = self.one_pair(&source.body, &plan, (index, 0), &carried)?;
        let places = self.places_of(&slots, lane);
        for (address, result) in places.into_iter().zip(results) {
            self.builder.ins().store(in_frame(), result, address, 0);
        }
        let next = self.builder.ins().iadd_imm_s(index, 2);
        let lane = self.builder.ins().iadd_imm_s(lane, 2);
        let lane = self.builder.ins().band_imm_s(lane, LANES as i64 - 1);
        let more = self.builder.ins().icmp(IntCC::NotEqual, next, whole_end);
        self.builder.ins().brif(more, main, &block_args(&[next, lane]), behind, &[]);

        self.builder.switch_to_block(behind);
        self.end_pairs(&source.body)?;
        let exact = self.builder.ins().icmp(IntCC::Equal, whole_end, end);
        self.builder.ins().brif(exact, after, &[], single, &[]);

        self.builder.switch_to_block(single);
        let lane = self.builder.ins().band_imm_s(whole, LANES as i64 - 1);
        self.one_in_memory(source, &slots, whole_end, lane)?;
        self.builder.ins().jump(after, &[]);

        self.builder.switch_to_block(after);
        self.load_lanes(&slots, combine);
        Ok(())
    }

    /// Puts the lanes of sums into memory, eight of a sum in each slot.
    fn store_lanes(&mut self, source: &Lanes, lanes: &[ir::Value]) -> Vec<StackSlot> {
        let builder = &mut self.builder;
        let sums = source.carry.len();
        let slots = self.frame.lanes(sums, || stack_slot(builder, LANES as u32 * 8));
        for (slot, lanes) in slots.iter().zip(lanes.chunks(LANES)) {
            let address = self.builder.ins().stack_addr(types::I64, *slot, 0);
            for (k, lane) in lanes.iter().enumerate() {
                self.builder.ins().store(in_frame(), *lane, address, lane_offset(k));
            }
        }
        slots
    }

    /// Goes on with lanes that are in memory.
    fn load_lanes(&mut self, slots: &[StackSlot], combine: ir::Block) {
        let mut lanes = Vec::with_capacity(slots.len() * LANES);
        for slot in slots {
            let address = self.builder.ins().stack_addr(types::I64, *slot, 0);
            for k in 0..LANES {
                let lane = self.builder.ins().load(types::F64, in_frame(), address, lane_offset(k));
                lanes.push(lane);
            }
        }
        self.builder.ins().jump(combine, &block_args(&lanes));
    }

    /// An iteration that adds to a lane in memory.
    fn one_in_memory(
        &mut self,
        source: &Lanes,
        slots: &[StackSlot],
        index: ir::Value,
        lane: ir::Value,
    ) -> Result<()> {
        self.bind(source.index, index);
        let places = self.places_of(slots, lane);
        for (address, carry) in places.into_iter().zip(&source.carry) {
            let value = self.builder.ins().load(types::F64, in_frame(), address, 0);
            self.bind(*carry, value);
        }
        self.frame.enter();
        let results = self.block(&source.body);
        self.frame.leave();
        let places = self.places_of(slots, lane);
        for (address, result) in places.into_iter().zip(results?) {
            self.builder.ins().store(in_frame(), result, address, 0);
        }
        Ok(())
    }

    /// Where a lane of each sum is.
    fn places_of(&mut self, slots: &[StackSlot], lane: ir::Value) -> Vec<ir::Value> {
        let place = self.builder.ins().ishl_imm_u(lane, 3);
        let mut places = Vec::with_capacity(slots.len());
        for slot in slots {
            let base = self.builder.ins().stack_addr(types::I64, *slot, 0);
            places.push(self.builder.ins().iadd(base, place));
        }
        places
    }

    /// The lanes of one sum, added in the fixed tree.
    pub(crate) fn tree(&mut self, lanes: &[ir::Value]) -> ir::Value {
        let mut lanes = lanes.to_vec();
        while let half @ 1.. = lanes.len() / 2 {
            for k in 0..half {
                lanes[k] = self.builder.ins().fadd(lanes[k], lanes[k + half]);
            }
            lanes.truncate(half);
        }
        lanes[0]
    }

    /// A block with parameters of the types of these values.
    pub(crate) fn block_like(&mut self, values: &[ir::Value]) -> ir::Block {
        let block = self.builder.create_block();
        for value in values {
            let ty = self.builder.func.dfg.value_type(*value);
            self.builder.append_block_param(block, ty);
        }
        block
    }

    /// A block with integer parameters followed by float parameters.
    pub(crate) fn block_with(&mut self, ints: usize, floats: usize) -> ir::Block {
        let block = self.builder.create_block();
        for k in 0..ints + floats {
            let ty = if k < ints { types::I64 } else { types::F64 };
            self.builder.append_block_param(block, ty);
        }
        block
    }
}

/// Lanes in memory are aligned.
fn in_frame() -> MemFlagsData {
    MemFlagsData::trusted()
}

fn lane_offset(k: usize) -> i32 {
    (k * 8) as i32
}

/// Whether a body is repeated for every lane, and leaves registers to the lanes of a sum: few statements, no loop, no call.
fn is_small(body: &Block) -> bool {
    let is_large = |stmt: &Stmt| match stmt {
        Stmt::Prim { prim, .. } => matches!(prim.row().lowering, Lowering::Runtime(_)),
        Stmt::Call { .. }
        | Stmt::Kernel { .. }
        | Stmt::Alloc { .. }
        | Stmt::Fill { .. }
        | Stmt::CopyCells { .. } => true,
        stmt => stmt.is_loop(),
    };
    body.size() <= SMALL && !body.any(&mut { is_large })
}
